//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Signals: DFT, STFT, MelWeightMatrix. Fourier sums are computed as they are
// written, with a table of the roots of one.

#include "ElementwiseUtils.h"
#include "ShapeUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

namespace {
/// Real and imaginary part; the second is null for a real number.
struct Complex {
  Value re, im;
};

/// Reads term `term` of the sum at `indices` of the result.
using TermReader = llvm::function_ref<Complex(
    ScalarBuilder &s, ArrayRef<Value> indices, Value term)>;

/// Fourier sums over an axis of a result:
///   y[.., k, .., c] = sum of term(m) * e^(sign * 2 pi i k m / period)
struct FourierSum {
  Dims dims;    ///< of the result, without the components
  int64_t axis; ///< the frequencies, among these
  OpFoldResult terms;
  OpFoldResult period; ///< at least 1
  int64_t components;  ///< 2, or 1 for the real part alone
  double sign;
  /// Half a spectrum stands for a whole one, and the sum is divided by the
  /// period.
  bool isHalf = false, divides = false;
};
} // namespace

/// Element `i` of a tensor of complex numbers whose last axis holds 1 (real)
/// or 2 parts.
static Complex readComplex(ScalarBuilder &s, Value x, SmallVector<Value> at) {
  auto type = cast<RankedTensorType>(x.getType());
  int64_t last = type.getRank() - 1;
  Type compute = s.b.getF64Type();
  auto index = [&](int64_t k) {
    return Value(arith::ConstantIndexOp::create(s.b, s.loc, k));
  };
  auto read = [&](Value part) {
    at.push_back(part);
    Value value = tensor::ExtractOp::create(s.b, s.loc, x, at);
    at.pop_back();
    return s.cast(value, compute);
  };
  if (type.getDimSize(last) == 1)
    return {read(index(0)), Value()};
  if (type.getDimSize(last) == 2)
    return {read(index(0)), read(index(1))};
  Value parts = tensor::DimOp::create(s.b, s.loc, x, last);
  Value isReal = s.make<arith::CmpIOp>(IP::ult, parts, index(2));
  Value part = s.select(isReal, index(0), index(1));
  return {read(index(0)), s.select(isReal, s.constant(compute, 0), read(part))};
}

/// cos and sin of 2 pi j / period for all j: [2, period].
static Value rootsOfOne(NodeLowering &l, OpFoldResult period, double sign,
                        Type type) {
  Value count = l.asIndex(period);
  return l.generate(
      {l.fold(2), period}, type,
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        ScalarBuilder s(b, loc);
        Type f64 = b.getF64Type(), i64 = b.getI64Type();
        auto real = [&](Value index) {
          return s.make<arith::SIToFPOp>(
              f64, s.make<arith::IndexCastOp>(i64, index));
        };
        Value turn = s.div(real(at[1]), real(count));
        Value angle = s.mul(turn, s.constant(f64, sign * 2 * M_PI));
        Value isCos = s.make<arith::CmpIOp>(
            IP::eq, at[0], arith::ConstantIndexOp::create(b, loc, 0));
        Value root = s.select(isCos, s.make<math::CosOp>(angle),
                              s.make<math::SinOp>(angle));
        return s.cast(root, type);
      });
}

static Value fourier(NodeLowering &l, const FourierSum &sum, Type compute,
                     TermReader read) {
  Value roots = rootsOfOne(l, sum.period, sum.sign, compute);
  Value period = l.asIndex(sum.period);
  int64_t rank = sum.dims.size();
  Dims space = sum.dims;
  space.push_back(l.fold(sum.components));
  space.push_back(sum.terms);
  // Says how many terms there are; nothing reads it.
  SpaceOperand extent = {l.empty(sum.terms, compute), {rank + 1}};
  return reduceSpace(
      l, extent, space, {rank + 1}, Combiner::Sum, compute,
      /*isUnsigned=*/false, [&](ScalarBuilder &s, ArrayRef<Value>) -> Value {
        SmallVector<Value> at;
        for (int64_t k = 0; k < rank + 2; ++k)
          at.push_back(linalg::IndexOp::create(s.b, s.loc, k));
        Value component = at[rank], term = at[rank + 1];
        Value zero = arith::ConstantIndexOp::create(s.b, s.loc, 0);
        Value one = arith::ConstantIndexOp::create(s.b, s.loc, 1);
        Value phase = s.make<arith::RemUIOp>(
            s.make<arith::MulIOp>(at[sum.axis], term), period);
        auto root = [&](Value which) -> Value {
          return tensor::ExtractOp::create(s.b, s.loc, roots,
                                           ValueRange{which, phase});
        };
        Complex x = read(s, ArrayRef(at).take_front(rank), term);
        // re = x cos - y sin, im = x sin + y cos
        Value isRe = s.make<arith::CmpIOp>(IP::eq, component, zero);
        Value value = s.mul(x.re, root(component));
        if (x.im) {
          Value other =
              s.mul(x.im, root(s.make<arith::SubIOp>(one, component)));
          value = s.add(value, s.select(isRe, s.neg(other), other));
        }
        if (sum.isHalf) {
          // Every frequency but the first and the middle one stands for two.
          Value twice = s.make<arith::AddIOp>(term, term);
          Value single = s.either(s.make<arith::CmpIOp>(IP::eq, term, zero),
                                  s.make<arith::CmpIOp>(IP::eq, twice, period));
          value = s.select(single, value, s.add(value, value));
        }
        if (!sum.divides)
          return value;
        Value count = s.make<arith::IndexCastOp>(s.b.getI64Type(), period);
        return s.div(value, s.make<arith::SIToFPOp>(compute, count));
      });
}

/// `value` in the element type `type`.
static Value convertTensor(NodeLowering &l, Value value, Type type) {
  if (cast<RankedTensorType>(value.getType()).getElementType() == type)
    return value;
  return l.elementwise(value, type,
                       [&](OpBuilder &b, Location loc, ValueRange e) {
                         return ScalarBuilder(b, loc).cast(e[0], type);
                       });
}

/// `value`, at least 1; the run ends with an error where it is not.
static OpFoldResult requirePositive(NodeLowering &l, OpFoldResult value,
                                    StringRef what) {
  l.check(compare(l, IP::sgt, value, l.fold(0)), what + " is {}, less than 1",
          l.asIndex(value));
  return maxSigned(l, value, l.fold(1));
}

static OpFoldResult foldIndex(NodeLowering &l, Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return l.fold(*constant);
  return value;
}

/// The integer scalar input `i`.
static OpFoldResult scalarInput(NodeLowering &l, unsigned i) {
  if (std::optional<SmallVector<int64_t>> values = l.constantInts(i);
      values && values->size() == 1)
    return l.fold(values->front());
  return foldIndex(l, l.toIndex(l.in(i), l.isUnsigned(i)));
}

//===----------------------------------------------------------------------===//
// DFT
//===----------------------------------------------------------------------===//

static Value dftAlong(NodeLowering &l, int64_t axis) {
  Value x = l.in(0);
  bool inverse = l.intAttr("inverse", 0), onesided = l.intAttr("onesided", 0);
  bool toReal = inverse && onesided;
  Dims dims = l.dims(x);
  dims.pop_back();
  OpFoldResult extent = dims[axis];
  OpFoldResult period;
  if (l.has(1))
    period = scalarInput(l, 1);
  else if (toReal)
    period = l.mul(l.fold(2), l.sub(extent, l.fold(1)));
  else
    period = extent;
  period = requirePositive(l, period, "the length of the transform");
  OpFoldResult half = l.add(quotient(l, period, l.fold(2)), l.fold(1));
  FourierSum sum;
  sum.dims = dims;
  sum.dims[axis] = onesided && !inverse ? half : period;
  sum.axis = axis;
  sum.terms = minSigned(l, extent, toReal ? half : period);
  sum.period = period;
  sum.components = toReal ? 1 : 2;
  sum.sign = inverse ? 1 : -1;
  sum.isHalf = toReal;
  sum.divides = inverse;
  // In f64: what ought to cancel out does.
  Type type = l.elementType(0), compute = l.b.getF64Type();
  Value result =
      fourier(l, sum, compute,
              [&](ScalarBuilder &s, ArrayRef<Value> indices, Value term) {
                SmallVector<Value> at(indices);
                at[axis] = term;
                return readComplex(s, x, at);
              });
  return convertTensor(l, result, type);
}

/// The last axis holds one or two parts.
static LogicalResult requireParts(NodeLowering &l, Value x) {
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
  if (rank < 2)
    return l.refuse("the input has rank " + Twine(rank) +
                    ", expected at least 2");
  OpFoldResult parts = l.dim(x, rank - 1);
  if (std::optional<int64_t> known = getConstantIntValue(parts))
    return *known == 1 || *known == 2
               ? success()
               : LogicalResult(l.refuse("the last axis has extent " +
                                        Twine(*known) + ", expected 1 or 2"));
  Value fits = both(l, compare(l, IP::sge, parts, l.fold(1)),
                    compare(l, IP::sle, parts, l.fold(2)));
  l.check(fits, "the last axis has extent {}, expected 1 or 2",
          l.asIndex(parts));
  return success();
}

static LogicalResult lowerDFT(NodeLowering &l) {
  if (failed(requireArithmetic(l, 0)) || failed(requireParts(l, l.in(0))))
    return failure();
  int64_t rank = l.rank(0);
  auto check = [&](int64_t axis) -> FailureOr<int64_t> {
    FailureOr<int64_t> normal = l.normalizeAxis(axis, rank);
    if (succeeded(normal) && *normal == rank - 1)
      return l.refuse("the axis is that of real and imaginary part");
    return normal;
  };
  std::optional<int64_t> given;
  if (l.node.getSinceVersion() < 20)
    given = l.intAttr("axis", 1);
  else if (!l.has(2))
    given = -2;
  else if (std::optional<SmallVector<int64_t>> values = l.constantInts(2);
           values && values->size() == 1)
    given = values->front();
  if (given) {
    FailureOr<int64_t> axis = check(*given);
    if (failed(axis))
      return failure();
    l.setResult(dftAlong(l, *axis));
    return success();
  }
  // One transform for each axis that it may be.
  Value axis = l.asIndex(scalarInput(l, 2));
  Value isNegative = compare(l, IP::slt, axis, l.fold(0));
  axis = l.asIndex(select(l, isNegative, l.add(axis, l.fold(rank)), axis));
  l.check(compare(l, IP::ult, axis, l.fold(rank - 1)),
          "axis {} is out of range", axis);
  auto type = RankedTensorType::get(
      SmallVector<int64_t>(rank, ShapedType::kDynamic), l.elementType(0));
  SmallVector<int64_t> cases = llvm::to_vector(llvm::seq<int64_t>(1, rank - 1));
  auto branch = scf::IndexSwitchOp::create(l.b, TypeRange{type}, axis, cases,
                                           cases.size());
  for (int64_t k = 0; k < rank - 1; ++k) {
    OpBuilder::InsertionGuard guard(l.b);
    Region &region =
        k == 0 ? branch.getDefaultRegion() : branch.getCaseRegions()[k - 1];
    l.b.setInsertionPointToStart(&region.emplaceBlock());
    Value result = l.b.createOrFold<tensor::CastOp>(type, dftAlong(l, k));
    scf::YieldOp::create(l.b, result);
  }
  l.setResult(branch.getResult(0));
  return success();
}

//===----------------------------------------------------------------------===//
// STFT
//===----------------------------------------------------------------------===//

static LogicalResult lowerSTFT(NodeLowering &l) {
  Value x = l.in(0), window = l.in(2);
  if (l.rank(0) == 2) {
    Dims dims = l.dims(x);
    dims.push_back(l.fold(1));
    x = reshapeByGroups(l, x, dims);
  }
  if (failed(requireArithmetic(l, 0)) || failed(requireParts(l, x)))
    return failure();
  if (cast<RankedTensorType>(x.getType()).getRank() != 3)
    return l.refuse("the signal has rank " + Twine(l.rank(0)) + ", expected 3");
  OpFoldResult length = l.dim(x, 1);
  OpFoldResult period = l.has(3) ? scalarInput(l, 3)
                        : window ? l.dim(window, 0)
                                 : length;
  period = requirePositive(l, period, "the length of a frame");
  OpFoldResult step = requirePositive(l, scalarInput(l, 1), "the frame step");
  Value fits = compare(l, IP::sle, period, length);
  l.check(fits, "a frame has length {}, the signal {}",
          {l.asIndex(period), l.asIndex(length)});
  OpFoldResult room = maxSigned(l, l.sub(length, period), l.fold(0));
  FourierSum sum;
  sum.axis = 2;
  sum.period = period;
  sum.terms = window ? minSigned(l, l.dim(window, 0), period) : period;
  sum.components = 2;
  sum.sign = -1;
  OpFoldResult bins = l.intAttr("onesided", 1)
                          ? l.add(quotient(l, period, l.fold(2)), l.fold(1))
                          : period;
  sum.dims = {l.dim(x, 0), l.add(quotient(l, room, step), l.fold(1)), bins};
  // In f64: what ought to cancel out does.
  Type type = l.elementType(0), compute = l.b.getF64Type();
  Value hop = l.asIndex(step),
        last = l.asIndex(maxSigned(l, l.sub(length, l.fold(1)), l.fold(0)));
  Value result = fourier(
      l, sum, compute,
      [&](ScalarBuilder &s, ArrayRef<Value> indices, Value term) {
        Value at =
            s.make<arith::AddIOp>(s.make<arith::MulIOp>(indices[1], hop), term);
        // What a check has refused is not read.
        at = s.make<arith::MinUIOp>(at, last);
        Complex value = readComplex(s, x, {indices[0], at});
        if (!window)
          return value;
        Value weight = s.cast(
            tensor::ExtractOp::create(s.b, s.loc, window, term), compute);
        value.re = s.mul(value.re, weight);
        if (value.im)
          value.im = s.mul(value.im, weight);
        return value;
      });
  l.setResult(convertTensor(l, result, type));
  return success();
}

//===----------------------------------------------------------------------===//
// MelWeightMatrix
//===----------------------------------------------------------------------===//

/// The bin of each edge of the triangles, in f64: [bands + 2].
static Value melEdges(NodeLowering &l, OpFoldResult bands) {
  ScalarBuilder s(l.b, l.b.getLoc());
  Type f64 = l.b.getF64Type();
  auto real = [&](unsigned i) {
    Value value = l.scalar(l.in(i));
    return NodeLowering::castScalar(l.b, l.b.getLoc(), value, l.isUnsigned(i),
                                    f64, false);
  };
  auto mel = [&](Value hertz) {
    Value ratio = s.div(hertz, s.constant(f64, 700));
    return s.div(s.mul(s.constant(f64, 2595), s.make<math::Log1pOp>(ratio)),
                 s.constant(f64, std::log(10.0)));
  };
  Value low = mel(real(3)), high = mel(real(4));
  OpFoldResult count = l.add(bands, l.fold(2));
  Value counted = s.make<arith::SIToFPOp>(
      f64, s.make<arith::IndexCastOp>(l.b.getI64Type(), l.asIndex(count)));
  Value step = s.div(s.sub(high, low), counted);
  Value bins = s.add(real(1), s.constant(f64, 1)), rate = real(2);
  return l.generate(
      count, f64, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        ScalarBuilder s(b, loc);
        Value k = s.make<arith::SIToFPOp>(
            f64, s.make<arith::IndexCastOp>(b.getI64Type(), at[0]));
        Value mels = s.add(s.mul(k, step), low);
        Value exponent = s.mul(s.div(mels, s.constant(f64, 2595)),
                               s.constant(f64, std::log(10.0)));
        Value hertz =
            s.mul(s.constant(f64, 700), s.make<math::ExpM1Op>(exponent));
        return s.make<math::FloorOp>(s.div(s.mul(bins, hertz), rate));
      });
}

static LogicalResult lowerMelWeightMatrix(NodeLowering &l) {
  l.ignoreAttr("output_datatype");
  OpFoldResult bands =
      requireNonNegative(l, scalarInput(l, 0), "the number of bands");
  OpFoldResult length =
      requireNonNegative(l, scalarInput(l, 1), "the length of the transform");
  OpFoldResult bins = l.add(quotient(l, length, l.fold(2)), l.fold(1));
  Value edges = melEdges(l, bands);
  Type type = l.resultElementType(), f64 = l.b.getF64Type();
  bool toUnsigned = l.isResultUnsigned();
  l.setResult(l.generate(
      {bins, bands}, type,
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        ScalarBuilder s(b, loc);
        Value one = arith::ConstantIndexOp::create(b, loc, 1);
        auto edge = [&](Value k) -> Value {
          return tensor::ExtractOp::create(b, loc, edges, k);
        };
        Value next = s.make<arith::AddIOp>(at[1], one);
        Value left = edge(at[1]), center = edge(next),
              right = edge(s.make<arith::AddIOp>(next, one));
        Value bin = s.make<arith::SIToFPOp>(
            f64, s.make<arith::IndexCastOp>(b.getI64Type(), at[0]));
        Value zero = s.constant(f64, 0), unit = s.constant(f64, 1);
        Value isPoint = s.equal(left, center);
        Value rise = s.select(isPoint, unit,
                              s.div(s.sub(bin, left), s.sub(center, left)));
        Value rises =
            s.both(s.lessOrEqual(left, bin), s.lessOrEqual(bin, center));
        Value falls = s.both(s.lessOrEqual(center, bin), s.less(bin, right));
        Value fall = s.div(s.sub(right, bin), s.sub(right, center));
        Value value = s.select(falls, fall, s.select(rises, rise, zero));
        return NodeLowering::castScalar(b, loc, value, false, type, toUnsigned);
      }));
  return success();
}

void loopc::addSignalRows(LoweringTable &table) {
  table.add({
      {"", "DFT", 17, kLatest, lowerDFT},
      {"", "STFT", 17, kLatest, lowerSTFT},
      {"", "MelWeightMatrix", 17, kLatest, lowerMelWeightMatrix},
  });
}
