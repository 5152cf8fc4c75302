//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementTypes.h"
#include "ShapeUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace loopc;
using FP = arith::CmpFPredicate;
using IP = arith::CmpIPredicate;

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value));
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value ScalarBuilder::constant(Type type, double value) {
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
}

Value ScalarBuilder::integer(Type type, int64_t value) {
  auto bits = APInt(type.getIntOrFloatBitWidth(), value, /*isSigned=*/true,
                    /*implicitTrunc=*/true);
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, bits));
}

Value ScalarBuilder::number(Type type, int64_t value) {
  if (isa<FloatType>(type))
    return constant(type, static_cast<double>(value));
  return integer(type, value);
}

Value ScalarBuilder::lowest(Type type) {
  if (isa<FloatType>(type))
    return constant(type, -std::numeric_limits<double>::infinity());
  unsigned bits = type.getIntOrFloatBitWidth();
  APInt value =
      isUnsigned ? APInt::getMinValue(bits) : APInt::getSignedMinValue(bits);
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

Value ScalarBuilder::highest(Type type) {
  if (isa<FloatType>(type))
    return constant(type, std::numeric_limits<double>::infinity());
  unsigned bits = type.getIntOrFloatBitWidth();
  APInt value =
      isUnsigned ? APInt::getMaxValue(bits) : APInt::getSignedMaxValue(bits);
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value ScalarBuilder::add(Value x, Value y) {
  return isFloat(x) ? make<arith::AddFOp>(x, y) : make<arith::AddIOp>(x, y);
}

Value ScalarBuilder::sub(Value x, Value y) {
  return isFloat(x) ? make<arith::SubFOp>(x, y) : make<arith::SubIOp>(x, y);
}

Value ScalarBuilder::mul(Value x, Value y) {
  return isFloat(x) ? make<arith::MulFOp>(x, y) : make<arith::MulIOp>(x, y);
}

Value ScalarBuilder::div(Value x, Value y) {
  if (isFloat(x))
    return make<arith::DivFOp>(x, y);
  if (isUnsigned)
    return make<arith::DivUIOp>(x, y);
  // x / -1 is -x; dividing by 1 instead keeps INT_MIN / -1 defined.
  Type type = x.getType();
  Value isMinusOne = equal(y, integer(type, -1));
  Value quotient =
      make<arith::DivSIOp>(x, select(isMinusOne, integer(type, 1), y));
  return select(isMinusOne, neg(x), quotient);
}

Value ScalarBuilder::neg(Value x) {
  if (isFloat(x))
    return make<arith::NegFOp>(x);
  return make<arith::SubIOp>(integer(x.getType(), 0), x);
}

Value ScalarBuilder::abs(Value x) {
  if (isFloat(x))
    return make<math::AbsFOp>(x);
  return isUnsigned ? x : make<math::AbsIOp>(x);
}

// Of zeros any (docs/Numerics.md): to tell them apart takes as long as the
// rest.
static constexpr auto kAnyZero = arith::FastMathFlags::nsz;

Value ScalarBuilder::min(Value x, Value y) {
  if (isFloat(x))
    return make<arith::MinimumFOp>(x, y, kAnyZero);
  return isUnsigned ? make<arith::MinUIOp>(x, y) : make<arith::MinSIOp>(x, y);
}

Value ScalarBuilder::max(Value x, Value y) {
  if (isFloat(x))
    return make<arith::MaximumFOp>(x, y, kAnyZero);
  return isUnsigned ? make<arith::MaxUIOp>(x, y) : make<arith::MaxSIOp>(x, y);
}

//===----------------------------------------------------------------------===//
// Comparison and choice
//===----------------------------------------------------------------------===//

Value ScalarBuilder::less(Value x, Value y) {
  if (isFloat(x))
    return make<arith::CmpFOp>(FP::OLT, x, y);
  return make<arith::CmpIOp>(isUnsigned ? IP::ult : IP::slt, x, y);
}

Value ScalarBuilder::lessOrEqual(Value x, Value y) {
  if (isFloat(x))
    return make<arith::CmpFOp>(FP::OLE, x, y);
  return make<arith::CmpIOp>(isUnsigned ? IP::ule : IP::sle, x, y);
}

Value ScalarBuilder::equal(Value x, Value y) {
  if (isFloat(x))
    return make<arith::CmpFOp>(FP::OEQ, x, y);
  return make<arith::CmpIOp>(IP::eq, x, y);
}

Value ScalarBuilder::notEqual(Value x, Value y) {
  if (isFloat(x))
    return make<arith::CmpFOp>(FP::UNE, x, y);
  return make<arith::CmpIOp>(IP::ne, x, y);
}

Value ScalarBuilder::isNaN(Value x) {
  return make<arith::CmpFOp>(FP::UNO, x, x);
}

Value ScalarBuilder::select(Value condition, Value x, Value y) {
  return make<arith::SelectOp>(condition, x, y);
}

Value ScalarBuilder::both(Value x, Value y) {
  return make<arith::AndIOp>(x, y);
}

Value ScalarBuilder::either(Value x, Value y) {
  return make<arith::OrIOp>(x, y);
}

Value ScalarBuilder::invert(Value condition) {
  return make<arith::XOrIOp>(condition, integer(condition.getType(), -1));
}

Value ScalarBuilder::cast(Value value, Type to) {
  return NodeLowering::castScalar(b, loc, value, isUnsigned, to, isUnsigned);
}

//===----------------------------------------------------------------------===//
// What lowerings ask of their inputs
//===----------------------------------------------------------------------===//

bool loopc::isArithmeticType(Type type) {
  return isa<IntegerType, Float16Type, BFloat16Type, Float32Type, Float64Type>(
      type);
}

LogicalResult loopc::requireArithmetic(NodeLowering &l, unsigned i) {
  if (isArithmeticType(l.elementType(i)) && !isSmallFloat(l.declaredType(i)))
    return success();
  std::string type;
  llvm::raw_string_ostream(type) << l.declaredType(i);
  return l.unsupported("element type " + type + " is not supported");
}

LogicalResult loopc::requireArithmetic(NodeLowering &l) {
  for (unsigned i = 0, e = l.numInputs(); i < e; ++i)
    if (l.has(i) && failed(requireArithmetic(l, i)))
      return failure();
  return success();
}

LogicalResult loopc::requireBroadcastsTo(NodeLowering &l, Value value,
                                         ArrayRef<OpFoldResult> target,
                                         StringRef what) {
  Dims own = l.dims(value);
  if (own.size() > target.size())
    return l.refuse(what + " has rank " + Twine(own.size()) +
                    ", more than the " + Twine(target.size()) +
                    " of what it is broadcast to");
  ArrayRef<OpFoldResult> tail = target.take_back(own.size());
  for (auto [extent, wanted] : llvm::zip(own, tail)) {
    if (isConstantIntValue(extent, 1) || sameExtent(extent, wanted))
      continue;
    std::optional<int64_t> from = getConstantIntValue(extent),
                           to = getConstantIntValue(wanted);
    if (from && to)
      return l.refuse(what + " does not broadcast: dimension " + Twine(*from) +
                      " against " + Twine(*to));
    Value fits = either(l, compare(l, IP::eq, extent, wanted),
                        compare(l, IP::eq, extent, l.fold(1)));
    l.check(fits, what + " does not broadcast: dimension {} against {}",
            ValueRange{l.asIndex(extent), l.asIndex(wanted)});
  }
  return success();
}

LogicalResult loopc::lowerElementwise(NodeLowering &l, UnaryScalar fn) {
  Type declared = l.declaredType(0), compute = l.b.getF32Type();
  if (!isSmallFloat(declared)) {
    if (failed(requireArithmetic(l, 0)))
      return failure();
    compute = NodeLowering::computeType(l.elementType(0));
  }
  Type result = l.resultElementType();
  bool isUnsigned = l.isUnsigned(0);
  l.setResult(l.elementwise(
      l.in(0), result, [&](OpBuilder &b, Location loc, ValueRange elements) {
        ScalarBuilder s(b, loc, isUnsigned);
        Value x = isSmallFloat(declared)
                      ? convertElement(s, elements[0], declared, compute)
                      : s.cast(elements[0], compute);
        return s.cast(fn(s, x), result);
      }));
  return success();
}

//===----------------------------------------------------------------------===//
// Spaces
//===----------------------------------------------------------------------===//

SmallVector<int64_t> loopc::allAxes(int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(0, rank));
}

SmallVector<int64_t> loopc::otherAxes(int64_t rank, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> others;
  for (int64_t k = 0; k < rank; ++k)
    if (!llvm::is_contained(axes, k))
      others.push_back(k);
  return others;
}

static AffineMap mapOf(NodeLowering &l, int64_t rank, ArrayRef<int64_t> axes) {
  SmallVector<AffineExpr> exprs;
  for (int64_t axis : axes)
    exprs.push_back(axis < 0 ? l.b.getAffineConstantExpr(0)
                             : l.b.getAffineDimExpr(axis));
  return AffineMap::get(rank, 0, exprs, l.b.getContext());
}

/// The linalg.generic over `dims` that writes `init`, which has the axes
/// `kept`; `body` gets the element of `init` as the last one.
static Value buildGeneric(NodeLowering &l, ArrayRef<SpaceOperand> operands,
                          ArrayRef<OpFoldResult> dims, Value init,
                          ArrayRef<int64_t> kept, ScalarsBody body) {
  int64_t rank = dims.size();
  SmallVector<Value> values;
  SmallVector<AffineMap> maps;
  for (const SpaceOperand &operand : operands) {
    values.push_back(operand.value);
    maps.push_back(mapOf(l, rank, operand.axes));
  }
  maps.push_back(mapOf(l, rank, kept));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::reduction);
  for (int64_t axis : kept)
    iterators[axis] = utils::IteratorType::parallel;
  return linalg::GenericOp::create(
             l.b, init.getType(), values, init, maps, iterators,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               ScalarBuilder s(b, loc);
               SmallVector<Value> elements(args);
               linalg::YieldOp::create(b, loc, body(s, elements));
             })
      .getResult(0);
}

Value loopc::mapSpace(NodeLowering &l, ArrayRef<SpaceOperand> operands,
                      ArrayRef<OpFoldResult> dims, Type type,
                      ScalarsBody body) {
  return buildGeneric(l, operands, dims, l.empty(dims, type),
                      allAxes(dims.size()),
                      [&](ScalarBuilder &s, ArrayRef<Value> elements) {
                        return body(s, elements.drop_back());
                      });
}

Value loopc::identityOf(ScalarBuilder &s, Combiner combiner, Type type) {
  switch (combiner) {
  case Combiner::Sum:
    return s.number(type, 0);
  case Combiner::Prod:
    return s.number(type, 1);
  case Combiner::Max:
    return s.lowest(type);
  case Combiner::Min:
    return s.highest(type);
  }
  llvm_unreachable("a combiner without identity");
}

Value loopc::combineScalars(ScalarBuilder &s, Combiner combiner, Value x,
                            Value accumulated) {
  constexpr auto reassociate = arith::FastMathFlags::reassoc;
  switch (combiner) {
  case Combiner::Sum:
    return isFloat(x) ? s.make<arith::AddFOp>(x, accumulated, reassociate)
                      : s.make<arith::AddIOp>(x, accumulated);
  case Combiner::Prod:
    return isFloat(x) ? s.make<arith::MulFOp>(x, accumulated, reassociate)
                      : s.make<arith::MulIOp>(x, accumulated);
  case Combiner::Max:
    return s.max(x, accumulated);
  case Combiner::Min:
    return s.min(x, accumulated);
  }
  llvm_unreachable("a combiner without operation");
}

/// True where one of the operands has all axes: no product of smaller ones.
static bool isReadOnce(ArrayRef<SpaceOperand> operands, size_t rank) {
  return llvm::any_of(operands, [&](const SpaceOperand &operand) {
    return operand.axes.size() == rank && !llvm::is_contained(operand.axes, -1);
  });
}

/// The last axis first: many rows, which threads share, rather than few long
/// sums.
static Value reduceRowsFirst(NodeLowering &l, ArrayRef<SpaceOperand> operands,
                             ArrayRef<OpFoldResult> dims,
                             ArrayRef<int64_t> reduced, Combiner combiner,
                             Type type, bool isUnsigned, ScalarsBody body) {
  int64_t last = *llvm::max_element(reduced);
  Value rows =
      reduceSpace(l, operands, dims, {last}, combiner, type, isUnsigned, body);
  Dims left(dims);
  left.erase(left.begin() + last);
  SmallVector<int64_t> rest;
  for (int64_t axis : reduced)
    if (axis != last)
      rest.push_back(axis);
  return reduceSpace(l, {{rows, allAxes(left.size())}}, left, rest, combiner,
                     type, isUnsigned,
                     [](ScalarBuilder &, ArrayRef<Value> elements) {
                       return elements.front();
                     });
}

Value loopc::reduceSpace(NodeLowering &l, ArrayRef<SpaceOperand> operands,
                         ArrayRef<OpFoldResult> dims, ArrayRef<int64_t> reduced,
                         Combiner combiner, Type type, bool isUnsigned,
                         ScalarsBody body) {
  if (reduced.empty())
    return mapSpace(l, operands, dims, type, body);
  if (l.forKernels && reduced.size() > 1 && isReadOnce(operands, dims.size()))
    return reduceRowsFirst(l, operands, dims, reduced, combiner, type,
                           isUnsigned, body);
  SmallVector<int64_t> kept = otherAxes(dims.size(), reduced);
  Dims keptDims;
  for (int64_t axis : kept)
    keptDims.push_back(dims[axis]);
  ScalarBuilder outer(l.b, l.b.getLoc(), isUnsigned);
  Value init = l.filled(keptDims, identityOf(outer, combiner, type));
  return buildGeneric(l, operands, dims, init, kept,
                      [&](ScalarBuilder &s, ArrayRef<Value> elements) {
                        s.isUnsigned = isUnsigned;
                        Value element = body(s, elements.drop_back());
                        return combineScalars(s, combiner, element,
                                              elements.back());
                      });
}

Value loopc::countAlong(NodeLowering &l, ArrayRef<OpFoldResult> dims,
                        ArrayRef<int64_t> axes, Type type) {
  OpFoldResult count = l.fold(1);
  for (int64_t axis : axes)
    count = l.mul(count, dims[axis]);
  if (!isa<FloatType>(type))
    count = maxSigned(l, count, l.fold(1));
  ScalarBuilder s(l.b, l.b.getLoc());
  Value number = s.make<arith::IndexCastOp>(l.b.getI64Type(), l.asIndex(count));
  return s.cast(number, type);
}

Value loopc::restoreAxes(NodeLowering &l, Value value, ArrayRef<int64_t> axes) {
  Dims own = l.dims(value), target;
  int64_t rank = own.size() + axes.size();
  unsigned next = 0;
  for (int64_t k = 0; k < rank; ++k)
    target.push_back(llvm::is_contained(axes, k) ? l.fold(1) : own[next++]);
  return reshapeByGroups(l, value, target);
}
