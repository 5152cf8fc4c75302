//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Products of integers of 8 bits with zero points and scales.

#include "Contraction.h"
#include "Framework/DenseConstant.h"
#include "Framework/ElementTypes.h"
#include "Framework/ElementwiseUtils.h"
#include "Framework/ShapeUtils.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace loopc;

//===----------------------------------------------------------------------===//
// Zero points
//===----------------------------------------------------------------------===//

bool loopc::areBytes(Factor lhs, Factor rhs) {
  return getElementTypeOrSelf(lhs.value.getType()).isInteger(8) &&
         getElementTypeOrSelf(rhs.value.getType()).isInteger(8);
}

Value loopc::subtractZeroPoint(NodeLowering &l, Factor value,
                               Factor zeroPoint) {
  // A difference of 8 bits has 9; two products of such fit into 32.
  Type type =
      l.dotBits && areBytes(value, value) ? l.b.getI16Type() : l.b.getI32Type();
  SmallVector<Value> operands{value.value};
  if (zeroPoint.value)
    operands.push_back(zeroPoint.value);
  return l.elementwise(operands, type,
                       [&](OpBuilder &b, Location loc, ValueRange s) {
                         Value x = NodeLowering::castScalar(
                             b, loc, s[0], value.isUnsigned, type, false);
                         if (s.size() == 1)
                           return x;
                         Value zero = NodeLowering::castScalar(
                             b, loc, s[1], zeroPoint.isUnsigned, type, false);
                         return Value(arith::SubIOp::create(b, loc, x, zero));
                       });
}

bool loopc::isOneForAll(NodeLowering &l, Value zeroPoint) {
  return !zeroPoint || llvm::all_of(l.dims(zeroPoint), [](OpFoldResult extent) {
    return isConstantIntValue(extent, 1);
  });
}

/// True if `value` is a constant of which each element is `byte`.
static bool isAll(Value value, uint8_t byte) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
            op))
      break;
    value = op->getOperand(0);
  }
  auto elements = dyn_cast_or_null<DenseIntElementsAttr>(denseConstant(value));
  return elements &&
         llvm::all_of(elements.getValues<APInt>(), [&](const APInt &element) {
           return element.getBitWidth() == 8 && element == byte;
         });
}

/// `value`, integers of 8 bits, moved by 128, which takes away or gives a sign;
/// null is 0.
static Factor flipSign(NodeLowering &l, Factor value) {
  Type i8 = l.b.getI8Type();
  if (!value.value) {
    auto type = RankedTensorType::get({}, i8);
    auto bytes = DenseElementsAttr::get(type, APInt(8, 0x80));
    return {arith::ConstantOp::create(l.b, bytes), !value.isUnsigned};
  }
  Value flipped = l.elementwise(
      value.value, i8, [&](OpBuilder &b, Location loc, ValueRange s) -> Value {
        Value sign =
            arith::ConstantOp::create(b, loc, b.getIntegerAttr(i8, -128));
        return arith::XOrIOp::create(b, loc, s[0], sign);
      });
  return {flipped, !value.isUnsigned};
}

void loopc::makeSignsDiffer(NodeLowering &l, Factor &x, Factor &w,
                            Factor &xZero, Factor &wZero) {
  xZero.isUnsigned = x.isUnsigned;
  wZero.isUnsigned = w.isUnsigned;
  if (l.dotBits == 8 && x.isUnsigned == w.isUnsigned) {
    // One of both becomes unsigned by signed; without a sign, 128 is often the
    // zero point.
    bool flipsRight = w.isUnsigned;
    Factor &value = flipsRight ? w : x, &zero = flipsRight ? wZero : xZero;
    value = flipSign(l, value);
    zero = zero.value && isAll(zero.value, 0x80)
               ? Factor{Value(), value.isUnsigned}
               : flipSign(l, zero);
  }
  for (Factor *zero : {&xZero, &wZero})
    if (zero->value && isAll(zero->value, 0))
      zero->value = Value();
}

/// Sums over axis `axis` of `value`, as i32, with an extent of 1 there.
static Value sumAlong(NodeLowering &l, Factor value, int64_t axis) {
  Dims dims = l.dims(value.value);
  Type i32 = l.b.getI32Type();
  SpaceOperand operand{value.value, allAxes(dims.size())};
  Value sums = reduceSpace(
      l, operand, dims, axis, Combiner::Sum, i32,
      /*isUnsigned=*/false, [&](ScalarBuilder &s, ArrayRef<Value> e) {
        return NodeLowering::castScalar(s.b, s.loc, e[0], value.isUnsigned, i32,
                                        false);
      });
  return restoreAxes(l, sums, axis);
}

/// The zero point of rows (`axis` is the last one) or columns (the last but
/// one) is the same all along the sum.
static bool isAlongSum(NodeLowering &l, Value zeroPoint, int64_t fromEnd) {
  if (!zeroPoint)
    return true;
  Dims dims = l.dims(zeroPoint);
  int64_t rank = dims.size();
  return rank < fromEnd || isConstantIntValue(dims[rank - fromEnd], 1);
}

namespace {
/// A product of bytes as they are, and what their zero points make of it:
///
///     sum of (x - a) (w - b) = sum of x w - b sum of (x - a) - a sum of w
struct BytesProduct {
  NodeLowering &l;
  Factor lhs, rhs, left, right;

  /// Null after an error.
  Value compute();

private:
  Value widen(OpBuilder &b, Location loc, Value value, bool isUnsigned) {
    return NodeLowering::castScalar(b, loc, value, isUnsigned, l.b.getI32Type(),
                                    false);
  }
  /// Minus a sum of w, for each column.
  Value columnTerm();
  /// The sum of (x - a), for each row.
  Value rowSums();
};
} // namespace

Value BytesProduct::columnTerm() {
  Value sums = sumAlong(l, rhs, l.dims(rhs.value).size() - 2);
  return l.elementwise({left.value, sums}, l.b.getI32Type(),
                       [&](OpBuilder &b, Location loc, ValueRange e) {
                         ScalarBuilder s(b, loc);
                         Value product =
                             s.mul(widen(b, loc, e[0], left.isUnsigned), e[1]);
                         return s.sub(s.integer(l.b.getI32Type(), 0), product);
                       });
}

Value BytesProduct::rowSums() {
  int64_t last = l.dims(lhs.value).size() - 1;
  Value sums = sumAlong(l, lhs, last);
  if (!left.value)
    return sums;
  Type i32 = l.b.getI32Type();
  Value count =
      arith::IndexCastOp::create(l.b, i32, l.asIndex(l.dim(lhs.value, last)));
  return l.elementwise(
      {sums, left.value}, i32, [&](OpBuilder &b, Location loc, ValueRange e) {
        ScalarBuilder s(b, loc);
        return s.sub(e[0], s.mul(widen(b, loc, e[1], left.isUnsigned), count));
      });
}

Value BytesProduct::compute() {
  Type i32 = l.b.getI32Type();
  Value columns = left.value ? columnTerm() : Value();
  // The sums begin with it, where that is as good as beginning with 0.
  bool isFirst = l.dotBits != 0;
  Value product = matMul(l, lhs, rhs, i32, isFirst ? columns : Value());
  if (!product)
    return {};
  SmallVector<Value> operands{product};
  if (right.value)
    llvm::append_values(operands, right.value, rowSums());
  if (columns && !isFirst)
    operands.push_back(columns);
  if (operands.size() == 1)
    return product;
  return l.elementwise(
      operands, i32, [&](OpBuilder &b, Location loc, ValueRange e) {
        ScalarBuilder s(b, loc);
        Value sum = e[0];
        if (right.value)
          sum = s.sub(sum, s.mul(widen(b, loc, e[1], right.isUnsigned), e[2]));
        return columns && !isFirst ? s.add(sum, e.back()) : sum;
      });
}

/// True if bytes are better multiplied as they are than less their zero points.
static bool wantsBytes(NodeLowering &l, Factor lhs, Factor rhs, Factor left,
                       Factor right) {
  if (l.dims(lhs.value).size() < 2 || l.dims(rhs.value).size() < 2 ||
      !areBytes(lhs, rhs) || !isAlongSum(l, left.value, 1) ||
      !isAlongSum(l, right.value, 2))
    return false;
  if (l.dotBits == 0)
    return l.forKernels && (left.value || right.value);
  std::optional<int64_t> columns =
      getConstantIntValue(l.dims(rhs.value).back());
  return l.dotBits == 8 && isOneForAll(l, left.value) &&
         (!columns || *columns >= kFewestColumns);
}

/// A scale or zero point broadcasts to what it is of, and not the other way.
static LogicalResult requireFits(NodeLowering &l, Value parameter, Value value,
                                 StringRef what) {
  return parameter ? requireBroadcastsTo(l, parameter, l.dims(value), what)
                   : success();
}

/// The product of `lhs` and `rhs` less their zero points, as i32; null after an
/// error.
static Value multiplyIntegers(NodeLowering &l, Factor lhs, Factor rhs,
                              Factor left, Factor right) {
  if (failed(requireFits(l, left.value, lhs.value, "the zero point of A")) ||
      failed(requireFits(l, right.value, rhs.value, "the zero point of B")))
    return {};
  if (wantsBytes(l, lhs, rhs, left, right)) {
    makeSignsDiffer(l, lhs, rhs, left, right);
    return BytesProduct{l, lhs, rhs, left, right}.compute();
  }
  bool widens = l.dotBits != 0 && areBytes(lhs, rhs);
  if (left.value || widens)
    lhs = {subtractZeroPoint(l, lhs, left), false};
  if (right.value || widens)
    rhs = {subtractZeroPoint(l, rhs, right), false};
  return matMul(l, lhs, rhs, l.b.getI32Type());
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

Value loopc::requantize(NodeLowering &l, Value value, Value x, Value w, Value y,
                        Factor zeroPoint) {
  Type type = getElementTypeOrSelf(zeroPoint.value.getType());
  Type f32 = l.b.getF32Type();
  unsigned bits = type.getIntOrFloatBitWidth();
  double least = zeroPoint.isUnsigned ? 0 : -std::ldexp(1.0, bits - 1);
  double most = least + std::ldexp(1.0, bits) - 1;
  Value scale = l.elementwise(
      {x, w, y}, f32, [&](OpBuilder &b, Location loc, ValueRange e) {
        ScalarBuilder s(b, loc);
        return s.div(s.mul(s.cast(e[0], f32), s.cast(e[1], f32)),
                     s.cast(e[2], f32));
      });
  return l.elementwise(
      {value, scale, zeroPoint.value}, type,
      [&](OpBuilder &b, Location loc, ValueRange e) -> Value {
        ScalarBuilder s(b, loc);
        auto real = [&](Value v, bool isUnsigned = false) {
          return NodeLowering::castScalar(b, loc, v, isUnsigned, f32, false);
        };
        Value sum = s.mul(real(e[0]), e[1]);
        sum = s.make<math::RoundEvenOp>(sum);
        sum = s.add(sum, real(e[2], zeroPoint.isUnsigned));
        // The least wins over NaN, of which there is no integer; vectors have
        // an instruction for each.
        Value low = s.constant(f32, least), high = s.constant(f32, most);
        sum = s.select(s.less(low, sum), sum, low);
        sum = s.select(s.less(sum, high), sum, high);
        Value integer = s.make<arith::FPToSIOp>(b.getI32Type(), sum);
        return s.make<arith::TruncIOp>(type, integer);
      });
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// Input `i`, a scale or zero point: one for all, one for each row of a matrix
/// (or of each matrix) or, as they are written, with all axes. A vector of rows
/// gets the axis that makes it broadcast.
static Value perRow(NodeLowering &l, unsigned i, int64_t rank) {
  if (i >= l.numInputs() || !l.has(i))
    return {};
  Value value = l.in(i);
  if (l.rank(i) != 1 || rank < 2)
    return value;
  return l.reshape(value, {l.dim(value, 0), l.fold(1)});
}

LogicalResult loopc::lowerMatMulInteger(NodeLowering &l) {
  Factor aZero{perRow(l, 2, l.rank(0)), l.isUnsigned(0)};
  Factor bZero{l.numInputs() > 3 && l.has(3) ? l.in(3) : Value(),
               l.isUnsigned(1)};
  Factor lhs{l.in(0), l.isUnsigned(0)}, rhs{l.in(1), l.isUnsigned(1)};
  Value result = multiplyIntegers(l, lhs, rhs, aZero, bZero);
  if (!result)
    return failure();
  l.setResult(result);
  return success();
}

/// That the scales, and the zero point of the result, broadcast to `sum`.
static LogicalResult requireScalesFit(NodeLowering &l, Value sum,
                                      int64_t rank) {
  if (failed(requireFits(l, perRow(l, 1, rank), sum, "the scale of A")) ||
      failed(requireFits(l, l.in(4), sum, "the scale of B")) ||
      failed(requireFits(l, perRow(l, 6, rank), sum, "the scale of Y")))
    return failure();
  return requireFits(l, perRow(l, 7, rank), sum, "the zero point of Y");
}

/// QLinearMatMul where an operand or the result is a float of 8 bits: the sums
/// are f32.
static LogicalResult lowerQLinearMatMulFloat(NodeLowering &l) {
  int64_t rank = l.rank(0);
  Type f32 = l.b.getF32Type();
  auto difference = [&](unsigned i, Value zeroPoint) {
    return l.elementwise({l.in(i), zeroPoint}, f32,
                         [&](OpBuilder &b, Location loc, ValueRange elements) {
                           ScalarBuilder s(b, loc);
                           Type type = l.declaredType(i);
                           return s.sub(
                               convertElement(s, elements[0], type, f32),
                               convertElement(s, elements[1], type, f32));
                         });
  };
  Value left = perRow(l, 2, rank);
  if (failed(requireFits(l, left, l.in(0), "the zero point of A")) ||
      failed(requireFits(l, l.in(5), l.in(3), "the zero point of B")))
    return failure();
  Value x = difference(0, left), w = difference(3, l.in(5));
  Value sum = matMul(l, {x, false}, {w, false}, f32);
  if (!sum || failed(requireScalesFit(l, sum, rank)))
    return failure();
  Type to = l.declaredResultType();
  l.setResult(l.elementwise(
      {sum, perRow(l, 1, rank), l.in(4), perRow(l, 6, rank),
       perRow(l, 7, rank)},
      toSignless(to), [&](OpBuilder &b, Location loc, ValueRange elements) {
        ScalarBuilder s(b, loc);
        auto real = [&](unsigned k) { return s.cast(elements[k], f32); };
        Value scale = s.div(s.mul(real(1), real(2)), real(3));
        return quantizeElement(s, s.mul(elements[0], scale), elements[4], to);
      }));
  return success();
}

LogicalResult loopc::lowerQLinearMatMul(NodeLowering &l) {
  for (unsigned i : {0u, 3u, 7u})
    if (isSmallFloat(l.declaredType(i)))
      return lowerQLinearMatMulFloat(l);
  int64_t rank = l.rank(0);
  Factor lhs{l.in(0), l.isUnsigned(0)}, rhs{l.in(3), l.isUnsigned(3)};
  Value sum =
      multiplyIntegers(l, lhs, rhs, {perRow(l, 2, rank), lhs.isUnsigned},
                       {l.in(5), rhs.isUnsigned});
  if (!sum || failed(requireScalesFit(l, sum, rank)))
    return failure();
  // Rows of A are rows of the result.
  l.setResult(requantize(l, sum, perRow(l, 1, rank), l.in(4),
                         perRow(l, 6, rank),
                         {perRow(l, 7, rank), l.isUnsigned(7)}));
  return success();
}
