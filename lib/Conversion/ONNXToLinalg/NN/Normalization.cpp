//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Normalizations: by layer, group, instance, batch, root mean square, p-norm.
// Variances are those of the differences from the mean, in two passes.

#include "Framework/ElementwiseUtils.h"
#include "Framework/ShapeUtils.h"

using namespace mlir;
using namespace loopc;

//===----------------------------------------------------------------------===//
// Moments
//===----------------------------------------------------------------------===//

namespace {
/// What is normalized: `value` over `dims`, along `axes`.
struct Normalized {
  SpaceOperand value;
  Dims dims;
  SmallVector<int64_t> axes, kept;
  Type element, compute;
};
} // namespace

static Normalized normalizedAlong(NodeLowering &l, Value value,
                                  ArrayRef<int64_t> axes) {
  Dims dims = l.dims(value);
  int64_t rank = dims.size();
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  return {{value, allAxes(rank)}, dims,    SmallVector<int64_t>(axes),
          otherAxes(rank, axes),  element, NodeLowering::computeType(element)};
}

/// The mean over the axes of `body` of each element and of the operands `more`.
static Value meanOf(NodeLowering &l, const Normalized &n,
                    ArrayRef<SpaceOperand> more, ScalarsBody body) {
  SmallVector<SpaceOperand> operands = {n.value};
  llvm::append_range(operands, more);
  Value sum = reduceSpace(l, operands, n.dims, n.axes, Combiner::Sum, n.compute,
                          /*isUnsigned=*/false,
                          [&](ScalarBuilder &s, ArrayRef<Value> elements) {
                            SmallVector<Value> cast(elements);
                            cast[0] = s.cast(cast[0], n.compute);
                            return body(s, cast);
                          });
  Value count = countAlong(l, n.dims, n.axes, n.compute);
  return l.elementwise(sum, n.compute,
                       [&](OpBuilder &b, Location loc, ValueRange e) {
                         return ScalarBuilder(b, loc).div(e[0], count);
                       });
}

static Value meanOf(NodeLowering &l, const Normalized &n) {
  return meanOf(l, n, {},
                [](ScalarBuilder &, ArrayRef<Value> e) { return e[0]; });
}

static Value varianceOf(NodeLowering &l, const Normalized &n, Value mean) {
  return meanOf(l, n, SpaceOperand{mean, n.kept},
                [](ScalarBuilder &s, ArrayRef<Value> e) {
                  Value difference = s.sub(e[0], e[1]);
                  return s.mul(difference, difference);
                });
}

/// 1 / sqrt(variance + epsilon).
static Value inverseDeviation(NodeLowering &l, Value variance, double epsilon) {
  Type type = cast<RankedTensorType>(variance.getType()).getElementType();
  return l.elementwise(
      variance, type, [&](OpBuilder &b, Location loc, ValueRange e) {
        ScalarBuilder s(b, loc);
        Value root =
            s.make<math::SqrtOp>(s.add(e[0], s.constant(type, epsilon)));
        return s.div(s.constant(type, 1), root);
      });
}

/// (x - mean) / deviation, in the type that is computed in.
static Value standardize(NodeLowering &l, const Normalized &n, Value mean,
                         Value inverse) {
  return mapSpace(l, {n.value, {mean, n.kept}, {inverse, n.kept}}, n.dims,
                  n.compute, [&](ScalarBuilder &s, ArrayRef<Value> e) {
                    Value x = s.cast(e[0], n.compute);
                    return s.mul(s.sub(x, e[1]), e[2]);
                  });
}

/// x * scale + shift (if any), converted to `type`. The factors broadcast to x
/// and fail after an error where they do not.
static FailureOr<Value> scaleAndShift(NodeLowering &l, Value x, Value scale,
                                      Value shift, Type type) {
  Dims dims = l.dims(x);
  SmallVector<Value> operands = {x, scale};
  if (failed(requireBroadcastsTo(l, scale, dims, "the scale")))
    return failure();
  if (shift) {
    if (failed(requireBroadcastsTo(l, shift, dims, "the bias")))
      return failure();
    operands.push_back(shift);
  }
  Type compute = cast<RankedTensorType>(x.getType()).getElementType();
  return l.elementwise(operands, type,
                       [&](OpBuilder &b, Location loc, ValueRange e) {
                         ScalarBuilder s(b, loc);
                         Value y = s.mul(e[0], s.cast(e[1], compute));
                         if (shift)
                           y = s.add(y, s.cast(e[2], compute));
                         return s.cast(y, type);
                       });
}

/// `value` with elements of `type`.
static Value converted(NodeLowering &l, Value value, Type type) {
  if (cast<RankedTensorType>(value.getType()).getElementType() == type)
    return value;
  return l.elementwise(value, type,
                       [&](OpBuilder &b, Location loc, ValueRange e) {
                         return ScalarBuilder(b, loc).cast(e[0], type);
                       });
}

/// A stash type of f64 asks for more than the operand's precision; others for
/// less or as much as what is computed in anyway.
static void applyStashType(NodeLowering &l, Normalized &n) {
  constexpr int64_t onnxDouble = 11;
  if (l.intAttr("stash_type", 1) == onnxDouble)
    n.compute = l.b.getF64Type();
}

//===----------------------------------------------------------------------===//
// Along the last axes
//===----------------------------------------------------------------------===//

/// The operand, normalized along `axis` and those behind it.
static FailureOr<Normalized> readTrailing(NodeLowering &l) {
  if (failed(requireArithmetic(l)))
    return failure();
  FailureOr<int64_t> axis = l.axisAttr("axis", l.rank(0), -1);
  if (failed(axis))
    return failure();
  Normalized n =
      normalizedAlong(l, l.in(0), llvm::to_vector(llvm::seq(*axis, l.rank(0))));
  applyStashType(l, n);
  return n;
}

static LogicalResult lowerLayerNormalization(NodeLowering &l) {
  FailureOr<Normalized> n = readTrailing(l);
  if (failed(n))
    return failure();
  Value mean = meanOf(l, *n);
  Value inverse = inverseDeviation(l, varianceOf(l, *n, mean),
                                   l.floatAttr("epsilon", 1e-5));
  FailureOr<Value> result =
      scaleAndShift(l, standardize(l, *n, mean, inverse), l.in(1),
                    l.has(2) ? l.in(2) : Value(), n->element);
  if (failed(result))
    return failure();
  l.setResult(0, *result);
  for (auto [k, value] : {std::pair(1u, mean), std::pair(2u, inverse)})
    if (k < l.numResults() && l.hasResult(k))
      l.setResult(k, restoreAxes(l, converted(l, value, l.resultElementType(k)),
                                 n->axes));
  return success();
}

static LogicalResult lowerRMSNormalization(NodeLowering &l) {
  FailureOr<Normalized> n = readTrailing(l);
  if (failed(n))
    return failure();
  Value square = meanOf(l, *n, {}, [](ScalarBuilder &s, ArrayRef<Value> e) {
    return s.mul(e[0], e[0]);
  });
  Value inverse = inverseDeviation(l, square, l.floatAttr("epsilon", 1e-5));
  Value normalized =
      mapSpace(l, {n->value, {inverse, n->kept}}, n->dims, n->compute,
               [&](ScalarBuilder &s, ArrayRef<Value> e) {
                 return s.mul(s.cast(e[0], n->compute), e[1]);
               });
  FailureOr<Value> result =
      scaleAndShift(l, normalized, l.in(1), Value(), l.resultElementType());
  if (failed(result))
    return failure();
  l.setResult(*result);
  return success();
}

//===----------------------------------------------------------------------===//
// By channel
//===----------------------------------------------------------------------===//

/// Input `i` has rank 1 and `extent` elements.
static LogicalResult requireVector(NodeLowering &l, unsigned i,
                                   OpFoldResult extent, StringRef what) {
  if (l.rank(i) == 1 &&
      requireEqual(l, l.dim(l.in(i), 0), extent, "the number of " + what))
    return success();
  return l.refuse("input " + Twine(i) +
                  " has not one element for each of the " + what);
}

/// (x - mean) * inverse * scale + bias, where scale and bias have `axes`.
static Value normalizeChannels(NodeLowering &l, const Normalized &n, Value mean,
                               Value inverse, Value scale, Value bias,
                               ArrayRef<int64_t> axes) {
  SmallVector<int64_t> own(axes);
  return mapSpace(
      l,
      {n.value, {mean, n.kept}, {inverse, n.kept}, {scale, own}, {bias, own}},
      n.dims, n.element, [&](ScalarBuilder &s, ArrayRef<Value> e) {
        Value x = s.sub(s.cast(e[0], n.compute), e[1]);
        Value factor = s.mul(e[2], s.cast(e[3], n.compute));
        Value shift = s.cast(e[4], n.compute);
        return s.cast(s.add(s.mul(x, factor), shift), n.element);
      });
}

static LogicalResult lowerInstanceNormalization(NodeLowering &l) {
  l.ignoreAttr("consumed_inputs");
  if (failed(requireArithmetic(l)))
    return failure();
  if (l.rank(0) < 2)
    return l.refuse("the input has rank " + Twine(l.rank(0)) +
                    ", expected 2 or more");
  Normalized n = normalizedAlong(
      l, l.in(0), llvm::to_vector(llvm::seq<int64_t>(2, l.rank(0))));
  for (unsigned i : {1u, 2u})
    if (failed(requireVector(l, i, n.dims[1], "channels")))
      return failure();
  Value mean = meanOf(l, n);
  Value inverse =
      inverseDeviation(l, varianceOf(l, n, mean), l.floatAttr("epsilon", 1e-5));
  l.setResult(normalizeChannels(l, n, mean, inverse, l.in(1), l.in(2), 1));
  return success();
}

/// The channels become groups and channels of a group. Version 18 scales by
/// group, later ones by channel.
static LogicalResult lowerGroupNormalization(NodeLowering &l) {
  if (failed(requireArithmetic(l)))
    return failure();
  int64_t groups = l.intAttr("num_groups");
  if (l.rank(0) < 2 || groups < 1)
    return l.refuse("expected an input of rank 2 or more and at least 1 group");
  Dims dims = l.dims(l.in(0));
  OpFoldResult channels = dims[1], count = l.fold(groups);
  OpFoldResult size = quotient(l, channels, count);
  if (!requireEqual(l, channels, l.mul(size, count),
                    "the number of channels and of those in whole groups"))
    return l.refuse("the channels do not divide into " + Twine(groups) +
                    " groups");
  bool byGroup = l.node.getSinceVersion() < 21;
  for (unsigned i : {1u, 2u})
    if (failed(requireVector(l, i, byGroup ? count : channels,
                             byGroup ? "groups" : "channels")))
      return failure();
  Dims split = {dims[0], count, size};
  split.append(dims.begin() + 2, dims.end());
  Normalized n =
      normalizedAlong(l, reshapeByGroups(l, l.in(0), split),
                      llvm::to_vector(llvm::seq<int64_t>(2, split.size())));
  applyStashType(l, n);
  Value mean = meanOf(l, n);
  Value inverse =
      inverseDeviation(l, varianceOf(l, n, mean), l.floatAttr("epsilon", 1e-5));
  Value scale = l.in(1), bias = l.in(2);
  SmallVector<int64_t> axes = {1};
  if (!byGroup) {
    axes.push_back(2);
    scale = reshapeByGroups(l, scale, {count, size});
    bias = reshapeByGroups(l, bias, {count, size});
  }
  Value result = normalizeChannels(l, n, mean, inverse, scale, bias, axes);
  l.setResult(reshapeByGroups(l, result, dims));
  return success();
}

//===----------------------------------------------------------------------===//
// BatchNormalization
//===----------------------------------------------------------------------===//

/// Whether the batch's own moments are used.
static bool isTraining(NodeLowering &l) {
  int64_t version = l.node.getSinceVersion();
  if (version < 7)
    return !l.intAttr("is_test", 0);
  if (version >= 14)
    return l.intAttr("training_mode", 0);
  for (unsigned k = 1; k < l.numResults(); ++k)
    if (l.hasResult(k))
      return true;
  return false;
}

/// momentum * old + (1 - momentum) * current.
static Value updated(NodeLowering &l, Value old, Value current, double momentum,
                     Type type) {
  Type compute = cast<RankedTensorType>(current.getType()).getElementType();
  return l.elementwise(
      {old, current}, type, [&](OpBuilder &b, Location loc, ValueRange e) {
        ScalarBuilder s(b, loc);
        Value kept =
            s.mul(s.cast(e[0], compute), s.constant(compute, momentum));
        Value added = s.mul(
            e[1], s.sub(s.constant(compute, 1), s.constant(compute, momentum)));
        return s.cast(s.add(kept, added), type);
      });
}

/// The inputs 1 to 4 (scale, bias, mean, variance), each with the axes `axes`
/// of the operand; of an operand of rank 1 they have one element.
static FailureOr<SmallVector<Value>>
batchParameters(NodeLowering &l, ArrayRef<OpFoldResult> dims,
                ArrayRef<int64_t> axes) {
  Dims target;
  for (int64_t axis : axes)
    target.push_back(axis < 0 ? l.fold(1) : dims[axis]);
  SmallVector<Value> values;
  for (unsigned i = 1; i <= 4; ++i) {
    Value value = l.in(i);
    Dims own = l.dims(value);
    bool fits = own.size() == target.size() || own.size() == 1;
    if (!fits || !requireEqual(l, l.product(own), l.product(target),
                               "the number of parameters and of channels"))
      return l.refuse("input " + Twine(i) +
                      " has not one element for each channel");
    values.push_back(reshapeByGroups(l, value, target));
  }
  return values;
}

static LogicalResult lowerBatchNormalization(NodeLowering &l) {
  l.ignoreAttr("consumed_inputs");
  if (failed(requireArithmetic(l)))
    return failure();
  bool training = isTraining(l), spatial = l.intAttr("spatial", 1);
  double epsilon = l.floatAttr("epsilon", 1e-5);
  double momentum = l.floatAttr("momentum", 0.9);
  int64_t rank = l.rank(0);
  if (rank == 0)
    return l.refuse("the input has rank 0");
  SmallVector<int64_t> axes = {rank == 1 ? -1 : 1};
  for (int64_t k = 2; k < rank && !spatial; ++k)
    axes.push_back(k);
  Normalized n = normalizedAlong(l, l.in(0), otherAxes(rank, axes));
  FailureOr<SmallVector<Value>> given = batchParameters(l, n.dims, axes);
  if (failed(given))
    return failure();
  Value scale = (*given)[0], bias = (*given)[1], mean = (*given)[2],
        variance = (*given)[3];
  if (training) {
    Value batchMean = meanOf(l, n);
    Value batchVariance = varianceOf(l, n, batchMean);
    if (rank == 1) {
      batchMean = restoreAxes(l, batchMean, 0);
      batchVariance = restoreAxes(l, batchVariance, 0);
    }
    auto set = [&](unsigned k, llvm::function_ref<Value(Type)> value) {
      if (k < l.numResults() && l.hasResult(k))
        l.setResult(k, value(l.resultElementType(k)));
    };
    set(1,
        [&](Type type) { return updated(l, mean, batchMean, momentum, type); });
    set(2, [&](Type type) {
      return updated(l, variance, batchVariance, momentum, type);
    });
    set(3, [&](Type type) { return converted(l, batchMean, type); });
    set(4, [&](Type type) { return converted(l, batchVariance, type); });
    mean = batchMean;
    variance = batchVariance;
  }
  Dims channels = l.dims(scale);
  SmallVector<int64_t> all = allAxes(channels.size());
  Value factor =
      mapSpace(l, {{scale, all}, {variance, all}}, channels, n.compute,
               [&](ScalarBuilder &s, ArrayRef<Value> e) {
                 Value v = s.add(s.cast(e[1], n.compute),
                                 s.constant(n.compute, epsilon));
                 return s.div(s.cast(e[0], n.compute), s.make<math::SqrtOp>(v));
               });
  l.setResult(mapSpace(
      l, {n.value, {mean, axes}, {factor, axes}, {bias, axes}}, n.dims,
      n.element, [&](ScalarBuilder &s, ArrayRef<Value> e) {
        auto cast = [&](unsigned k) { return s.cast(e[k], n.compute); };
        Value y = s.add(s.mul(s.sub(cast(0), cast(1)), e[2]), cast(3));
        return s.cast(y, n.element);
      }));
  return success();
}

//===----------------------------------------------------------------------===//
// Without parameters
//===----------------------------------------------------------------------===//

/// (x - mean) / (deviation + 1e-9).
static LogicalResult lowerMeanVarianceNormalization(NodeLowering &l) {
  if (failed(requireArithmetic(l)))
    return failure();
  SmallVector<int64_t> axes;
  for (int64_t given :
       l.intsAttr("axes").value_or(SmallVector<int64_t>{0, 2, 3})) {
    FailureOr<int64_t> axis = l.normalizeAxis(given, l.rank(0));
    if (failed(axis))
      return failure();
    if (!llvm::is_contained(axes, *axis))
      axes.push_back(*axis);
  }
  Normalized n = normalizedAlong(l, l.in(0), axes);
  Value mean = meanOf(l, n);
  Value variance = varianceOf(l, n, mean);
  l.setResult(mapSpace(l, {n.value, {mean, n.kept}, {variance, n.kept}}, n.dims,
                       n.element, [&](ScalarBuilder &s, ArrayRef<Value> e) {
                         Value x = s.sub(s.cast(e[0], n.compute), e[1]);
                         Value deviation = s.add(s.make<math::SqrtOp>(e[2]),
                                                 s.constant(n.compute, 1e-9));
                         return s.cast(s.div(x, deviation), n.element);
                       }));
  return success();
}

/// x / norm, 0 where the norm is 0.
static LogicalResult lowerLpNormalization(NodeLowering &l) {
  if (failed(requireArithmetic(l)))
    return failure();
  FailureOr<int64_t> axis = l.axisAttr("axis", l.rank(0), -1);
  if (failed(axis))
    return failure();
  int64_t p = l.intAttr("p", 2);
  if (p != 1 && p != 2)
    return l.refuse("'p' is " + Twine(p) + ", expected 1 or 2");
  Normalized n = normalizedAlong(l, l.in(0), *axis);
  Value sum = reduceSpace(l, n.value, n.dims, n.axes, Combiner::Sum, n.compute,
                          /*isUnsigned=*/false,
                          [&](ScalarBuilder &s, ArrayRef<Value> e) {
                            Value x = s.cast(e[0], n.compute);
                            return p == 1 ? s.abs(x) : s.mul(x, x);
                          });
  l.setResult(mapSpace(l, {n.value, {sum, n.kept}}, n.dims, n.element,
                       [&](ScalarBuilder &s, ArrayRef<Value> e) {
                         Value norm =
                             p == 1 ? e[1] : s.make<math::SqrtOp>(e[1]);
                         Value zero = s.constant(n.compute, 0);
                         Value quotient = s.div(s.cast(e[0], n.compute), norm);
                         Value result =
                             s.select(s.equal(norm, zero), zero, quotient);
                         return s.cast(result, n.element);
                       }));
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

void loopc::addNormalizationRows(LoweringTable &table) {
  table.add({
      {"", "LayerNormalization", 17, kLatest, lowerLayerNormalization},
      {"", "RMSNormalization", 23, kLatest, lowerRMSNormalization},
      {"", "InstanceNormalization", 1, kLatest, lowerInstanceNormalization},
      {"", "GroupNormalization", 18, kLatest, lowerGroupNormalization},
      {"", "BatchNormalization", 1, kLatest, lowerBatchNormalization},
      {"", "MeanVarianceNormalization", 9, kLatest,
       lowerMeanVarianceNormalization},
      {"", "LpNormalization", 1, kLatest, lowerLpNormalization},
  });
}
