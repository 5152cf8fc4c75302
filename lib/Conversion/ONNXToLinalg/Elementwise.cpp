//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Arithmetic, comparison, logic, bits, selection and casts.

#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace loopc;

namespace {
using Scalars = ValueRange;

/// What a binary or variadic scalar operation needs to know.
struct ScalarContext {
  OpBuilder &b;
  Location loc;
  bool isUnsigned;

  template <typename OpTy, typename... Args> Value make(Args &&...args) {
    return OpTy::create(b, loc, std::forward<Args>(args)...);
  }
  Value constant(Type type, double value) {
    if (isa<FloatType>(type))
      return make<arith::ConstantOp>(b.getFloatAttr(type, value));
    return make<arith::ConstantOp>(
        b.getIntegerAttr(type, static_cast<int64_t>(value)));
  }
};
using BinaryFn = Value (*)(ScalarContext, Value, Value);
} // namespace

template <typename FloatOp, typename SignedOp, typename UnsignedOp = SignedOp>
static Value arithmetic(ScalarContext c, Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return c.make<FloatOp>(x, y);
  if (c.isUnsigned)
    return c.make<UnsignedOp>(x, y);
  return c.make<SignedOp>(x, y);
}

/// Integer division that cannot trap: the caller has checked for zero;
/// INT_MIN / -1 wraps to INT_MIN.
static Value divide(ScalarContext c, Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return c.make<arith::DivFOp>(x, y);
  if (c.isUnsigned)
    return c.make<arith::DivUIOp>(x, y);
  // x / -1 is -x; dividing by 1 instead keeps INT_MIN / -1 defined.
  Value minusOne = c.constant(x.getType(), -1),
        one = c.constant(x.getType(), 1);
  Value zero = c.constant(x.getType(), 0);
  Value isMinusOne =
      c.make<arith::CmpIOp>(arith::CmpIPredicate::eq, y, minusOne);
  Value divisor = c.make<arith::SelectOp>(isMinusOne, one, y);
  Value negated = c.make<arith::SubIOp>(zero, x);
  Value quotient = c.make<arith::DivSIOp>(x, divisor);
  return c.make<arith::SelectOp>(isMinusOne, negated, quotient);
}

template <arith::CmpFPredicate F, arith::CmpIPredicate S,
          arith::CmpIPredicate U>
static Value compare(ScalarContext c, Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return c.make<arith::CmpFOp>(F, x, y);
  return c.make<arith::CmpIOp>(c.isUnsigned ? U : S, x, y);
}

/// Applies `fn` to the two inputs, in the type that arithmetic is done in.
static LogicalResult binary(NodeLowering &l, Value rhs, BinaryFn fn) {
  Type element = l.elementType(0), result = l.resultElementType();
  Type compute = NodeLowering::computeType(element);
  bool isUnsigned = l.isUnsigned(0);
  l.setResult(l.elementwise(
      {l.in(0), rhs}, result, [&](OpBuilder &b, Location loc, Scalars s) {
        Value x = NodeLowering::castScalar(b, loc, s[0], isUnsigned, compute,
                                           isUnsigned);
        Value y = NodeLowering::castScalar(b, loc, s[1], isUnsigned, compute,
                                           isUnsigned);
        Value value = fn({b, loc, isUnsigned}, x, y);
        if (value.getType() == result)
          return value;
        return NodeLowering::castScalar(b, loc, value, isUnsigned, result,
                                        isUnsigned);
      }));
  return success();
}

/// Up to version 6, `broadcast = 1` and `axis` aligned the second operand with
/// the axes of the first that begin at `axis`; 0 demanded equal shapes.
static LogicalResult alignOldBroadcast(NodeLowering &l, Value &rhs) {
  l.ignoreAttr("consumed_inputs");
  int64_t axisAttr = l.intAttr("axis", std::numeric_limits<int64_t>::max());
  if (!l.intAttr("broadcast", 0))
    return success();
  int64_t lhsRank = l.rank(0);
  auto type = cast<RankedTensorType>(rhs.getType());
  if (axisAttr == std::numeric_limits<int64_t>::max() ||
      type.getRank() >= lhsRank)
    return success();
  FailureOr<int64_t> axis = l.normalizeAxis(axisAttr, lhsRank);
  if (failed(axis))
    return failure();
  int64_t trailing = lhsRank - *axis - type.getRank();
  if (trailing < 0)
    return l.refuse("the second operand does not fit behind axis " +
                    Twine(*axis));
  Dims dims = l.dims(rhs);
  dims.append(trailing, l.fold(1));
  rhs = l.reshape(rhs, dims);
  return success();
}

template <BinaryFn fn> static LogicalResult lowerBinary(NodeLowering &l) {
  return binary(l, l.in(1), fn);
}

template <BinaryFn fn> static LogicalResult lowerOldBinary(NodeLowering &l) {
  Value rhs = l.in(1);
  if (failed(alignOldBroadcast(l, rhs)))
    return failure();
  return binary(l, rhs, fn);
}

/// Integer division by zero is an error of the run (loop_order); it is found
/// before anything is divided.
static void checkNoZero(NodeLowering &l, Value divisor) {
  auto type = cast<RankedTensorType>(divisor.getType());
  DenseElementsAttr constant;
  if (matchPattern(divisor, m_Constant(&constant)) &&
      llvm::none_of(constant.getValues<APInt>(),
                    [](const APInt &v) { return v.isZero(); }))
    return;
  Value zero = l.constantInt(type.getElementType(), 0);
  Value found;
  if (type.getRank() == 0 || type.getNumElements() == 1) {
    Value scalar = l.scalar(divisor);
    found = arith::CmpIOp::create(l.b, arith::CmpIPredicate::ne, scalar, zero);
  } else {
    int64_t rank = type.getRank();
    Value init = tensor::FromElementsOp::create(
        l.b, RankedTensorType::get({}, l.b.getI1Type()),
        ValueRange{l.constantInt(l.b.getI1Type(), 1)});
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::reduction);
    Value all =
        linalg::GenericOp::create(
            l.b, init.getType(), divisor, init,
            ArrayRef<AffineMap>{l.b.getMultiDimIdentityMap(rank),
                                AffineMap::get(rank, 0, l.b.getContext())},
            iterators,
            [&](OpBuilder &b, Location loc, ValueRange args) {
              Value ok = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                               args[0], zero);
              Value both = arith::AndIOp::create(b, loc, ok, args[1]);
              linalg::YieldOp::create(b, loc, both);
            })
            .getResult(0);
    found = tensor::ExtractOp::create(l.b, all, ValueRange());
  }
  l.check(found, "integer division by zero");
}

static LogicalResult lowerDiv(NodeLowering &l) {
  if (!isa<FloatType>(l.elementType(0)))
    checkNoZero(l, l.in(1));
  return binary(l, l.in(1), divide);
}

//===----------------------------------------------------------------------===//
// Cast and Identity
//===----------------------------------------------------------------------===//

static LogicalResult lowerCast(NodeLowering &l) {
  l.attr("to");
  bool from = l.isUnsigned(0), to = l.isResultUnsigned();
  Type type = l.resultElementType();
  l.setResult(
      l.elementwise(l.in(0), type, [&](OpBuilder &b, Location loc, Scalars s) {
        return NodeLowering::castScalar(b, loc, s[0], from, type, to);
      }));
  return success();
}

static LogicalResult lowerIdentity(NodeLowering &l) {
  l.setResult(l.in(0));
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static constexpr BinaryFn addFn = arithmetic<arith::AddFOp, arith::AddIOp>;
static constexpr BinaryFn subFn = arithmetic<arith::SubFOp, arith::SubIOp>;
static constexpr BinaryFn mulFn = arithmetic<arith::MulFOp, arith::MulIOp>;
using FP = arith::CmpFPredicate;
using IP = arith::CmpIPredicate;
static constexpr BinaryFn lessFn = compare<FP::OLT, IP::slt, IP::ult>;
static constexpr BinaryFn greaterFn = compare<FP::OGT, IP::sgt, IP::ugt>;
static constexpr BinaryFn lessEqFn = compare<FP::OLE, IP::sle, IP::ule>;
static constexpr BinaryFn greaterEqFn = compare<FP::OGE, IP::sge, IP::uge>;
static constexpr BinaryFn equalFn = compare<FP::OEQ, IP::eq, IP::eq>;

void loopc::addElementwiseRows(LoweringTable &table) {
  table.add({
      {"", "Add", 1, 6, lowerOldBinary<addFn>},
      {"", "Add", 7, kLatest, lowerBinary<addFn>},
      {"", "Sub", 1, 6, lowerOldBinary<subFn>},
      {"", "Sub", 7, kLatest, lowerBinary<subFn>},
      {"", "Mul", 1, 6, lowerOldBinary<mulFn>},
      {"", "Mul", 7, kLatest, lowerBinary<mulFn>},
      {"", "Div", 7, kLatest, lowerDiv},
      {"", "Less", 7, kLatest, lowerBinary<lessFn>},
      {"", "Greater", 7, kLatest, lowerBinary<greaterFn>},
      {"", "LessOrEqual", 12, kLatest, lowerBinary<lessEqFn>},
      {"", "GreaterOrEqual", 12, kLatest, lowerBinary<greaterEqFn>},
      {"", "Equal", 7, kLatest, lowerBinary<equalFn>},
      {"", "Cast", 6, kLatest, lowerCast},
      {"", "Identity", 1, kLatest, lowerIdentity, true},
  });
}
