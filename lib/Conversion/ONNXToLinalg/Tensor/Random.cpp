//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Random numbers. A node begins a stream each time it runs (rt.random_stream)
// and computes the number at each position by mixing both, so that the numbers
// depend neither on the order nor on the number of threads.

#include "Random.h"
#include "Framework/ShapeUtils.h"

using namespace mlir;
using namespace loopc;

RandomStream::RandomStream(NodeLowering &l, std::optional<int64_t> seed)
    : stream(rt::RandomStreamOp::create(l.b, l.b.getI64Type(),
                                        seed ? l.b.getI64IntegerAttr(*seed)
                                             : IntegerAttr())) {}

std::optional<int64_t> loopc::floatSeed(NodeLowering &l) {
  if (!l.hasAttr("seed"))
    return std::nullopt;
  return llvm::bit_cast<int64_t>(l.floatAttr("seed"));
}

/// SplitMix64 (Steele, Lea, Flood, 2014) at a position of its sequence.
Value RandomStream::bits(ScalarBuilder &s, Value position) const {
  Type i64 = s.b.getI64Type();
  auto number = [&](uint64_t x) {
    return s.integer(i64, static_cast<int64_t>(x));
  };
  auto shifted = [&](Value x, int count) {
    return s.make<arith::XOrIOp>(x, s.make<arith::ShRUIOp>(x, number(count)));
  };
  Value x = s.add(
      stream, s.mul(s.add(position, number(1)), number(0x9e3779b97f4a7c15)));
  x = s.mul(shifted(x, 30), number(0xbf58476d1ce4e5b9));
  x = s.mul(shifted(x, 27), number(0x94d049bb133111eb));
  return shifted(x, 31);
}

/// As many bits as the type holds, so that 1 is never reached by rounding.
Value RandomStream::uniform(ScalarBuilder &s, Value position, Type type) const {
  auto real = cast<FloatType>(type);
  unsigned precision = real.getFPMantissaWidth();
  Type compute = real.isF64() ? type : Type(s.b.getF32Type());
  Type i64 = s.b.getI64Type();
  Value top =
      s.make<arith::ShRUIOp>(bits(s, position), s.integer(i64, 64 - precision));
  Value value = s.make<arith::SIToFPOp>(compute, top);
  return s.mul(value, s.constant(compute, std::ldexp(1.0, -int(precision))));
}

/// Box and Muller (1958).
Value RandomStream::normal(ScalarBuilder &s, Value position, Type type) const {
  Type compute = type.isF64() ? type : Type(s.b.getF32Type());
  Value first = s.add(position, position);
  Value second = s.add(first, s.integer(s.b.getI64Type(), 1));
  // In (0, 1], which has a logarithm.
  Value u = s.sub(s.constant(compute, 1), uniform(s, first, compute));
  Value radius = s.make<math::SqrtOp>(
      s.mul(s.constant(compute, -2), s.make<math::LogOp>(u)));
  Value angle =
      s.mul(s.constant(compute, 2 * M_PI), uniform(s, second, compute));
  return s.mul(radius, s.make<math::CosOp>(angle));
}

Value loopc::linearPosition(ScalarBuilder &s, ValueRange indices,
                            ArrayRef<Value> extents) {
  Type i64 = s.b.getI64Type();
  Value position = arith::ConstantIndexOp::create(s.b, s.loc, 0);
  for (auto [index, extent] : llvm::zip_equal(indices, extents))
    position = s.add(s.mul(position, extent), index);
  return s.make<arith::IndexCastOp>(i64, position);
}

/// Fills a tensor with `draw(s, position)` scaled and moved.
static LogicalResult
fill(NodeLowering &l, double scale, double offset,
     llvm::function_ref<Value(const RandomStream &, ScalarBuilder &, Value,
                              Type)>
         draw) {
  l.ignoreAttr("dtype");
  Dims dims;
  if (l.numInputs() == 0) {
    SmallVector<int64_t> shape = *l.intsAttr("shape");
    for (int64_t extent : shape)
      if (extent < 0)
        return l.refuse("'shape' holds " + Twine(extent));
      else
        dims.push_back(l.fold(extent));
  } else {
    dims = l.dims(l.in(0));
  }
  auto type = dyn_cast<FloatType>(l.resultElementType());
  if (!type || !isArithmeticType(type))
    return l.unsupported("numbers of this type are not supported");
  RandomStream stream(l, floatSeed(l));
  SmallVector<Value> extents;
  for (OpFoldResult extent : dims)
    extents.push_back(l.asIndex(extent));
  l.setResult(l.generate(
      dims, type, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        ScalarBuilder s(b, loc);
        Value x = draw(stream, s, linearPosition(s, at, extents), type);
        Type compute = x.getType();
        Value scaled = s.mul(x, s.constant(compute, scale));
        return s.cast(s.add(scaled, s.constant(compute, offset)), type);
      }));
  return success();
}

static LogicalResult lowerUniform(NodeLowering &l) {
  double low = l.floatAttr("low", 0), high = l.floatAttr("high", 1);
  return fill(l, high - low, low,
              [](const RandomStream &stream, ScalarBuilder &s, Value position,
                 Type type) { return stream.uniform(s, position, type); });
}

static LogicalResult lowerNormal(NodeLowering &l) {
  return fill(l, l.floatAttr("scale", 1), l.floatAttr("mean", 0),
              [](const RandomStream &stream, ScalarBuilder &s, Value position,
                 Type type) { return stream.normal(s, position, type); });
}

/// The class whose part of the interval from 0 to the sum of all probabilities
/// a uniform number falls into.
static LogicalResult lowerMultinomial(NodeLowering &l) {
  l.ignoreAttr("dtype");
  int64_t samples = l.intAttr("sample_size", 1);
  if (l.rank(0) != 2 || samples < 0)
    return l.refuse("rank " + Twine(l.rank(0)) + " and sample size " +
                    Twine(samples));
  Value x = l.in(0);
  Dims dims = l.dims(x);
  OpFoldResult classes = dims[1];
  l.check(compare(l, arith::CmpIPredicate::ne, classes, l.fold(0)),
          "there are no classes");
  Type f64 = l.b.getF64Type();
  Value most = reduceSpace(
      l, {{x, {0, 1}}}, dims, {1}, Combiner::Max, f64, false,
      [&](ScalarBuilder &s, ArrayRef<Value> e) { return s.cast(e[0], f64); });
  // Sums of the probabilities (not normalised) of the classes up to each.
  Value sums = loopNest(
      l, dims[0], l.empty(dims, f64), [&](ValueRange row, ValueRange carried) {
        return SmallVector<Value>{loopNest(
            l, classes, {carried[0], l.constant(f64, 0)},
            [&](ValueRange k, ValueRange inner) {
              ScalarBuilder s(l.b, l.b.getLoc());
              SmallVector<Value> at = {row[0], k[0]};
              Value log = s.cast(elementAt(l, x, at), f64);
              Value share = s.exp(s.sub(log, elementAt(l, most, row[0])));
              Value sum = s.add(inner[1], share);
              return SmallVector<Value>{
                  tensor::InsertOp::create(l.b, sum, inner[0], at), sum};
            })[0]};
      })[0];
  RandomStream stream(l, floatSeed(l));
  Dims space = {dims[0], l.fold(samples), classes};
  Value count = l.asIndex(classes), width = l.index(samples);
  Type type = l.resultElementType(), i64 = l.b.getI64Type();
  Value numbers = reduceSpace(
      l, {{sums, {0, 2}}}, space, {2}, Combiner::Sum, i64, false,
      [&](ScalarBuilder &s, ArrayRef<Value> e) -> Value {
        Value row = linalg::IndexOp::create(s.b, s.loc, 0),
              sample = linalg::IndexOp::create(s.b, s.loc, 1),
              k = linalg::IndexOp::create(s.b, s.loc, 2);
        Value one = arith::ConstantIndexOp::create(s.b, s.loc, 1);
        Value last = s.sub(count, one);
        Value total =
            tensor::ExtractOp::create(s.b, s.loc, sums, ValueRange{row, last});
        Value position =
            s.make<arith::IndexCastOp>(i64, s.add(s.mul(row, width), sample));
        Value target = s.mul(stream.uniform(s, position, f64), total);
        Value isBelow =
            s.both(s.lessOrEqual(e[0], target),
                   s.make<arith::CmpIOp>(arith::CmpIPredicate::ne, k, last));
        return s.make<arith::ExtUIOp>(i64, isBelow);
      });
  l.setResult(l.elementwise(numbers, type,
                            [&](OpBuilder &b, Location loc, ValueRange e) {
                              return ScalarBuilder(b, loc).cast(e[0], type);
                            }));
  return success();
}

void loopc::addRandomRows(LoweringTable &table) {
  table.add({
      {"", "RandomUniform", 1, kLatest, lowerUniform},
      {"", "RandomUniformLike", 1, kLatest, lowerUniform},
      {"", "RandomNormal", 1, kLatest, lowerNormal},
      {"", "RandomNormalLike", 1, kLatest, lowerNormal},
      {"", "Multinomial", 7, kLatest, lowerMultinomial},
  });
}
