//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Signals: DFT, STFT, MelWeightMatrix.

#include "Framework/ElementwiseUtils.h"
#include "Framework/ShapeUtils.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

namespace {
/// Real and imaginary part; the second is null for a real number.
struct Complex {
  Value re, im;
};

/// Reads the number at `indices`, the last of which is the place in the sum.
using TermReader =
    llvm::function_ref<Complex(ScalarBuilder &s, ArrayRef<Value> indices)>;
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

/// Complex numbers in f64, in which what ought to cancel out does: [dims.., 2].
static Value complexNumbers(NodeLowering &l, Dims dims, TermReader read) {
  dims.push_back(l.fold(2));
  return l.generate(
      dims, l.b.getF64Type(),
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        ScalarBuilder s(b, loc);
        SmallVector<Value> indices(at.drop_back());
        Complex x = read(s, indices);
        Value zero = arith::ConstantIndexOp::create(b, loc, 0);
        Value isRe = s.make<arith::CmpIOp>(IP::eq, at.back(), zero);
        return s.select(isRe, x.re,
                        x.im ? x.im : s.constant(b.getF64Type(), 0));
      });
}

/// The numbers with zeros behind them, `extent` along their last axis.
static Value padTerms(NodeLowering &l, Value numbers, OpFoldResult extent) {
  Dims sizes = l.dims(numbers), dims = sizes;
  dims[dims.size() - 2] = extent;
  if (isEqualConstantIntOrValue(extent, sizes[dims.size() - 2]))
    return numbers;
  ScalarBuilder s(l.b, l.b.getLoc());
  Value zeros = l.filled(dims, s.constant(l.b.getF64Type(), 0));
  return l.insert(numbers, zeros, Dims(dims.size(), l.fold(0)), sizes);
}

static Value fourier(NodeLowering &l, Value numbers, bool inverse) {
  return rt::FourierOp::create(l.b, numbers, inverse).getResult();
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

/// The whole of a spectrum whose upper half mirrors the lower one.
static Value mirrored(NodeLowering &l, Value half, OpFoldResult period) {
  Dims dims = l.dims(half);
  dims.pop_back();
  dims.back() = period;
  Value count = l.asIndex(period);
  return complexNumbers(
      l, dims, [&](ScalarBuilder &s, ArrayRef<Value> indices) -> Complex {
        SmallVector<Value> at(indices);
        Value k = at.back(), back = s.make<arith::SubIOp>(count, k);
        Value isUpper = s.make<arith::CmpIOp>(IP::ugt, k, back);
        at.back() = s.select(isUpper, back, k);
        Complex x = readComplex(s, half, at);
        return {x.re, s.select(isUpper, s.neg(x.im), x.im)};
      });
}

/// The transform runs along the last axis: there is `axis` moved to.
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
  OpFoldResult given = toReal ? half : period;

  Dims terms = dims;
  terms.erase(terms.begin() + axis);
  terms.push_back(minSigned(l, extent, given));
  Value numbers =
      complexNumbers(l, terms, [&](ScalarBuilder &s, ArrayRef<Value> indices) {
        SmallVector<Value> at(indices.drop_back());
        at.insert(at.begin() + axis, indices.back());
        return readComplex(s, x, at);
      });
  numbers = padTerms(l, numbers, given);
  if (toReal)
    numbers = mirrored(l, numbers, period);
  Value sums = fourier(l, numbers, inverse);

  dims[axis] = onesided && !inverse ? half : period;
  dims.push_back(l.fold(toReal ? 1 : 2));
  Value count = l.asIndex(period);
  Type type = l.elementType(0);
  return l.generate(
      dims, type, [&](OpBuilder &b, Location loc, ValueRange indices) -> Value {
        ScalarBuilder s(b, loc);
        SmallVector<Value> at(indices);
        at.erase(at.begin() + axis);
        at.insert(at.end() - 1, indices[axis]);
        Value value = tensor::ExtractOp::create(b, loc, sums, at);
        if (inverse) {
          Value n = s.make<arith::IndexCastOp>(b.getI64Type(), count);
          value = s.div(value, s.make<arith::SIToFPOp>(b.getF64Type(), n));
        }
        return s.cast(value, type);
      });
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
  OpFoldResult bins = l.intAttr("onesided", 1)
                          ? l.add(quotient(l, period, l.fold(2)), l.fold(1))
                          : period;
  OpFoldResult terms = window ? minSigned(l, l.dim(window, 0), period) : period;
  Dims dims = {l.dim(x, 0), l.add(quotient(l, room, step), l.fold(1)), terms};
  Value hop = l.asIndex(step),
        last = l.asIndex(maxSigned(l, l.sub(length, l.fold(1)), l.fold(0)));
  Value frames =
      complexNumbers(l, dims, [&](ScalarBuilder &s, ArrayRef<Value> indices) {
        Value term = indices.back();
        Value at =
            s.make<arith::AddIOp>(s.make<arith::MulIOp>(indices[1], hop), term);
        // What a check has refused is not read.
        at = s.make<arith::MinUIOp>(at, last);
        Complex value = readComplex(s, x, {indices[0], at});
        if (!window)
          return value;
        Value weight =
            s.cast(tensor::ExtractOp::create(s.b, s.loc, window, term),
                   s.b.getF64Type());
        value.re = s.mul(value.re, weight);
        if (value.im)
          value.im = s.mul(value.im, weight);
        return value;
      });
  Value sums = fourier(l, padTerms(l, frames, period), /*inverse=*/false);
  dims.back() = bins;
  dims.push_back(l.fold(2));
  Value half = l.slice(sums, Dims(dims.size(), l.fold(0)), dims);
  l.setResult(convertTensor(l, half, l.elementType(0)));
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
