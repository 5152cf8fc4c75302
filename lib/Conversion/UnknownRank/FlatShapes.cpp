//===- FlatShapes.cpp - Shape operators on any rank -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Operators on shapes, and those that only give elements another place, on
// tensors of any rank; lists of extents and axes may be of any length.

#include "FlatForms.h"
#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Shape, Size
//===----------------------------------------------------------------------===//

static bool shape(FlatNode &n) {
  FlatBuilder &f = n.f;
  FlatTensor x = n.flat(0);
  Value rank = f.rank(x), zero = f.index(0);
  auto bound = [&](StringRef name, Value fallback) {
    if (!n.hasAttr(name))
      return fallback;
    Value given = f.index(n.intAttr(name, 0));
    if (n.intAttr(name, 0) < 0)
      given = f.add(given, rank);
    return f.minimum(f.maximum(given, zero), rank);
  };
  Value begin = bound("start", zero);
  Value end = f.maximum(bound("end", rank), begin);
  n.setResult(0, f.part(x.shape, begin, end));
  return true;
}

static bool size(FlatNode &n) {
  Value count = n.f.toI64(n.f.count(n.flat(0)));
  Value size = tensor::FromElementsOp::create(
      n.f.b, RankedTensorType::get({}, n.f.b.getI64Type()), count);
  n.setResult(0, size);
  return true;
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// For each of `rank` axes 1 if it is one of `axes`, else 0. Axes out of range
/// and repeated ones end the run.
static Value maskOf(FlatBuilder &f, Value axes, Value rank) {
  Value given = f.length(axes), zero = f.index(0), one = f.index(1);
  auto normal = [&](Value axis) {
    return f.select(f.less(axis, zero), f.add(axis, rank), axis);
  };
  f.forEach(zero, given, {}, [&](Value k, ValueRange) -> SmallVector<Value> {
    f.normalizeAxis(f.at(axes, k), rank);
    return {};
  });
  Value mask = f.makeShape(rank, [&](Value axis) {
    return f.forEach(zero, given, zero,
                     [&](Value k, ValueRange carried) -> SmallVector<Value> {
                       Value found = f.equal(normal(f.at(axes, k)), axis);
                       return {f.select(found, one, carried[0])};
                     })[0];
  });
  return mask;
}

static Value sum(FlatBuilder &f, Value values) {
  return f.forEach(f.index(0), f.length(values), f.index(0),
                   [&](Value k, ValueRange carried) -> SmallVector<Value> {
                     return {f.add(carried[0], f.at(values, k))};
                   })[0];
}

/// The extents of `shape` for which `keep` says so (i1), in order.
static Value compacted(FlatBuilder &f, Value shape,
                       llvm::function_ref<Value(Value k)> keep) {
  Value rank = f.length(shape), zero = f.index(0);
  Value init = f.makeShape(rank, [&](Value) { return zero; });
  // What is dropped is written over by what comes next.
  SmallVector<Value> done = f.forEach(
      zero, rank, {init, zero},
      [&](Value k, ValueRange carried) -> SmallVector<Value> {
        Value extent = f.toI64(f.at(shape, k));
        Value next = f.add(carried[1], f.select(keep(k), f.index(1), zero));
        return {tensor::InsertOp::create(f.b, extent, carried[0], carried[1]),
                next};
      });
  return f.part(done[0], zero, done[1]);
}

/// Constant axes in the order that they have in a value of any rank, where that
/// is clear: all counted from the begin, or all from the end.
static std::optional<SmallVector<int64_t>> orderedAxes(FlatNode &n) {
  std::optional<SmallVector<int64_t>> axes = n.intsAttr("axes");
  if (!axes)
    axes = n.constantInts(1);
  if (!axes || axes->empty())
    return std::nullopt;
  llvm::sort(*axes);
  if ((axes->front() < 0) != (axes->back() < 0) ||
      std::adjacent_find(axes->begin(), axes->end()) != axes->end())
    return std::nullopt;
  return axes;
}

/// Squeeze of axes whose order is known: no lists are made.
static void squeezeOrdered(FlatNode &n, ArrayRef<int64_t> axes) {
  FlatBuilder &f = n.f;
  FlatTensor x = n.flat(0);
  Value rank = f.rank(x), one = f.index(1);
  SmallVector<Value> dropped;
  for (int64_t axis : axes) {
    Value at = f.normalizeAxis(f.index(axis), rank), extent = f.at(x.shape, at);
    f.check(f.equal(extent, one),
            "axis {} has extent {}, not 1, and is not squeezed", {at, extent});
    dropped.push_back(at);
  }
  Value left = f.sub(rank, f.index(axes.size()));
  Value shape = f.makeShape(f.maximum(left, f.index(0)), [&](Value k) {
    for (Value axis : dropped)
      k = f.select(f.less(k, axis), k, f.add(k, one));
    return f.at(x.shape, k);
  });
  n.setResult(0, FlatTensor{x.elements, shape});
}

static void unsqueezeOrdered(FlatNode &n, ArrayRef<int64_t> axes) {
  FlatBuilder &f = n.f;
  FlatTensor x = n.flat(0);
  Value one = f.index(1), rank = f.add(f.rank(x), f.index(axes.size()));
  SmallVector<Value> added;
  for (int64_t axis : axes)
    added.push_back(f.normalizeAxis(f.index(axis), rank));
  Value shape = f.makeShape(rank, [&](Value k) {
    Value own = k, isNew = f.equal(k, added.front());
    for (Value axis : added) {
      isNew = f.either(isNew, f.equal(k, axis));
      own = f.select(f.less(axis, k), f.sub(own, one), own);
    }
    return f.select(isNew, one, f.at(x.shape, own));
  });
  n.setResult(0, FlatTensor{x.elements, shape});
}

static bool squeeze(FlatNode &n) {
  if (std::optional<SmallVector<int64_t>> axes = orderedAxes(n)) {
    squeezeOrdered(n, *axes);
    return true;
  }
  FlatBuilder &f = n.f;
  FlatTensor x = n.flat(0);
  Value one = f.index(1), zero = f.index(0);
  Value axes = n.integers("axes", 1);
  if (!axes) {
    Value shape = compacted(f, x.shape, [&](Value k) {
      return f.compare(IP::ne, f.at(x.shape, k), one);
    });
    n.setResult(0, FlatTensor{x.elements, shape});
    return true;
  }
  Value rank = f.rank(x), mask = maskOf(f, axes, rank);
  f.check(f.equal(sum(f, mask), f.length(axes)), "an axis is repeated");
  f.forEach(zero, rank, {}, [&](Value k, ValueRange) -> SmallVector<Value> {
    Value extent = f.at(x.shape, k);
    f.check(f.either(f.equal(f.at(mask, k), zero), f.equal(extent, one)),
            "axis {} has extent {}, not 1, and is not squeezed", {k, extent});
    return {};
  });
  Value shape = compacted(
      f, x.shape, [&](Value k) { return f.equal(f.at(mask, k), zero); });
  n.setResult(0, FlatTensor{x.elements, shape});
  return true;
}

static bool unsqueeze(FlatNode &n) {
  if (std::optional<SmallVector<int64_t>> axes = orderedAxes(n)) {
    unsqueezeOrdered(n, *axes);
    return true;
  }
  FlatBuilder &f = n.f;
  FlatTensor x = n.flat(0);
  Value axes = n.integers("axes", 1);
  if (!axes)
    return false;
  Value zero = f.index(0), one = f.index(1);
  Value rank = f.add(f.rank(x), f.length(axes));
  Value mask = maskOf(f, axes, rank);
  f.check(f.equal(sum(f, mask), f.length(axes)), "an axis is repeated");
  Value shape = f.makeShape(rank, [&](Value k) {
    // Of the axes before this one some are new.
    Value before = f.forEach(
        zero, k, zero, [&](Value j, ValueRange carried) -> SmallVector<Value> {
          return {f.add(carried[0], f.at(mask, j))};
        })[0];
    return f.select(f.equal(f.at(mask, k), one), one,
                    f.at(x.shape, f.sub(k, before)));
  });
  n.setResult(0, FlatTensor{x.elements, shape});
  return true;
}

//===----------------------------------------------------------------------===//
// Reshape, Flatten
//===----------------------------------------------------------------------===//

static bool reshape(FlatNode &n) {
  FlatBuilder &f = n.f;
  FlatTensor x = n.flat(0);
  Value wanted = n.flat(1).elements, zero = f.index(0), one = f.index(1);
  Value rank = f.length(wanted), open = f.index(-1);
  bool allowZero = n.intAttr("allowzero", 0);
  // Whether axis `k`, which `wanted` may not reach, keeps its extent.
  auto isCopied = [&](Value k) {
    return f.equal(allowZero ? one : f.at(wanted, k, one), zero);
  };
  Value copied = f.makeShape(rank, [&](Value k) {
    // Without an axis to copy nothing fits: the count below is wrong.
    return f.select(isCopied(k), f.at(x.shape, k, f.index(-2)),
                    f.at(wanted, k));
  });
  // -1 stands for what is left of the axes that are not copied, so that it is
  // known where one that is copied is empty.
  SmallVector<Value> known = f.forEach(
      zero, rank, {one, zero},
      [&](Value k, ValueRange carried) -> SmallVector<Value> {
        Value extent = f.at(copied, k), isOpen = f.equal(extent, open);
        f.check(f.less(f.index(-2), extent), "extent {} of the new shape is {}",
                {k, f.at(wanted, k)});
        Value factor = f.select(f.either(isOpen, isCopied(k)), one, extent);
        return {f.mul(carried[0], factor),
                f.add(carried[1], f.select(isOpen, one, zero))};
      });
  f.check(f.less(known[1], f.index(2)), "{} extents of the new shape are -1",
          known[1]);
  Value count = f.count(x);
  Value left =
      f.forEach(zero, f.rank(x), one, [&](Value k, ValueRange carried) {
        Value factor = f.select(isCopied(k), one, f.at(x.shape, k));
        return SmallVector<Value>{f.mul(carried[0], factor)};
      })[0];
  Value divisor = f.maximum(known[0], one), rest = f.div(left, divisor);
  f.check(f.either(f.equal(known[1], zero),
                   f.both(f.equal(known[0], divisor),
                          f.equal(f.mul(rest, divisor), left))),
          "cannot reshape: {} elements are not divided evenly by the {} "
          "elements of the given dimensions",
          {left, known[0]});
  Value shape = f.makeShape(rank, [&](Value k) {
    Value extent = f.at(copied, k);
    return f.select(f.equal(extent, open), rest, extent);
  });
  Value made = f.countElements(shape);
  f.check(f.equal(made, count),
          "{} elements do not fit the new shape, which has {}", {count, made});
  n.setResult(0, FlatTensor{x.elements, shape});
  return true;
}

static bool flatten(FlatNode &n) {
  FlatBuilder &f = n.f;
  FlatTensor x = n.flat(0);
  Value axis = f.index(n.intAttr("axis", 1)), rank = f.rank(x);
  if (n.intAttr("axis", 1) < 0)
    axis = f.add(axis, rank);
  f.check(f.compare(IP::ule, axis, rank), "axis {} is out of range for rank {}",
          {axis, rank});
  Value outer = f.product(x.shape, f.index(0), axis);
  Value inner = f.product(x.shape, axis, rank);
  n.setResult(0, f.expand(x.elements, {outer, inner}));
  return true;
}

//===----------------------------------------------------------------------===//
// Expand, Tile, Transpose, ConstantOfShape
//===----------------------------------------------------------------------===//

/// The run ends where an extent is negative.
static void checkExtents(FlatBuilder &f, Value shape, StringRef what) {
  f.forEach(f.index(0), f.length(shape), {},
            [&](Value k, ValueRange) -> SmallVector<Value> {
              Value extent = f.at(shape, k);
              f.check(f.less(f.index(-1), extent),
                      what + " {} is {}, less than 0", {k, extent});
              return {};
            });
}

static bool expand(FlatNode &n) {
  FlatBuilder &f = n.f;
  FlatTensor x = n.flat(0);
  Value wanted = n.flat(1).elements;
  checkExtents(f, wanted, "extent");
  Value shape = f.broadcastShapes(x.shape, wanted);
  n.setResult(
      0, FlatTensor{f.broadcastTo(x, shape, f.countElements(shape)), shape});
  return true;
}

static bool tile(FlatNode &n) {
  FlatBuilder &f = n.f;
  FlatTensor x = n.flat(0);
  Value repeats = n.flat(1).elements, rank = f.rank(x);
  Value given = f.length(repeats), zero = f.index(0), two = f.index(2);
  f.check(f.equal(given, rank), "{} repeats for a value of rank {}",
          {given, rank});
  checkExtents(f, repeats, "repeat");
  // An axis becomes two: the repeats, which stay where they are, and its own.
  Value strides = f.stridesOf(x.shape), all = f.mul(rank, two);
  auto isOwn = [&](Value k) { return f.equal(f.rem(k, two), f.index(1)); };
  Value twice = f.makeShape(all, [&](Value k) {
    Value axis = f.div(k, two);
    return f.select(isOwn(k), f.at(x.shape, axis), f.at(repeats, axis));
  });
  Value steps = f.makeShape(all, [&](Value k) {
    return f.select(isOwn(k), f.at(strides, f.div(k, two)), zero);
  });
  Value shape = f.makeShape(
      rank, [&](Value k) { return f.mul(f.at(x.shape, k), f.at(repeats, k)); });
  Value copy =
      f.stridedCopy(x.elements, zero, steps, twice, f.countElements(twice));
  n.setResult(0, FlatTensor{copy, shape});
  return true;
}

/// Without a permutation the axes are reversed.
static bool transpose(FlatNode &n) {
  FlatBuilder &f = n.f;
  if (n.hasAttr("perm"))
    return false;
  FlatTensor x = n.flat(0);
  Value rank = f.rank(x), last = f.sub(rank, f.index(1));
  auto reversed = [&](Value values) {
    return f.makeShape(rank,
                       [&](Value k) { return f.at(values, f.sub(last, k)); });
  };
  Value shape = reversed(x.shape);
  Value strides = reversed(f.stridesOf(x.shape));
  Value copy =
      f.stridedCopy(x.elements, f.index(0), strides, shape, f.count(x));
  n.setResult(0, FlatTensor{copy, shape});
  return true;
}

static bool constantOfShape(FlatNode &n) {
  FlatBuilder &f = n.f;
  Value shape = n.flat(0).elements;
  checkExtents(f, shape, "extent");
  Value count = f.shapeOf(f.countElements(shape));
  Value filled = n.make(count, {1}).getResult(0);
  n.setResult(0, FlatTensor{filled, shape});
  return true;
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

namespace {
/// What a Slice reads along one axis.
struct SliceOfAxis {
  Value start, step, extent;
};
} // namespace

/// Bounds as NumPy has them: counted from the end where negative, then clamped.
static SliceOfAxis clampSlice(FlatBuilder &f, Value start, Value end,
                              Value step, Value extent) {
  Value zero = f.index(0), one = f.index(1), last = f.sub(extent, one);
  Value isBack = f.less(step, zero);
  f.check(f.compare(IP::ne, step, zero), "a step is 0");
  auto fromEnd = [&](Value v) {
    return f.select(f.less(v, zero), f.add(v, extent), v);
  };
  Value lowest = f.select(isBack, f.index(-1), zero);
  Value highest = f.select(isBack, last, extent);
  Value first = f.maximum(f.minimum(fromEnd(start), highest), zero);
  Value behind = f.maximum(f.minimum(fromEnd(end), highest), lowest);
  Value span = f.select(isBack, f.sub(first, behind), f.sub(behind, first));
  // INT64_MIN as a step is one beyond every extent too.
  Value width =
      f.select(isBack, f.sub(zero, f.maximum(step, f.index(-INT64_MAX))), step);
  width = f.maximum(f.minimum(width, f.maximum(extent, one)), one);
  Value steps = f.add(f.div(f.sub(span, one), width), one);
  Value count = f.select(f.less(zero, span), steps, zero);
  count = f.select(f.less(zero, extent), count, zero);
  return {f.select(f.less(zero, count), first, zero),
          f.select(isBack, f.sub(zero, width), width), count};
}

static bool slice(FlatNode &n) {
  FlatBuilder &f = n.f;
  FlatTensor x = n.flat(0);
  Value starts = n.integers("starts", 1), ends = n.integers("ends", 2);
  if (!starts || !ends)
    return false;
  Value axes = n.integers("axes", 3), steps = n.integers("steps", 4);
  Value given = f.length(starts), rank = f.rank(x), zero = f.index(0);
  auto checkLength = [&](Value list, StringRef name) {
    Value length = list ? f.length(list) : given;
    f.check(f.equal(length, given), "{} starts but {} " + name,
            {given, length});
  };
  checkLength(ends, "ends");
  checkLength(axes, "axes");
  checkLength(steps, "steps");
  f.check(f.compare(IP::sle, given, rank), "{} starts for a value of rank {}",
          {given, rank});
  Value strides = f.stridesOf(x.shape);
  SmallVector<Value> done = f.forEach(
      zero, given, {zero, x.shape, strides},
      [&](Value k, ValueRange carried) -> SmallVector<Value> {
        Value axis = axes ? f.normalizeAxis(f.at(axes, k), rank) : k;
        Value stride = f.at(strides, axis);
        SliceOfAxis part = clampSlice(f, f.at(starts, k), f.at(ends, k),
                                      steps ? f.at(steps, k) : f.index(1),
                                      f.at(x.shape, axis));
        Value base = f.add(carried[0], f.mul(part.start, stride));
        Value extents = tensor::InsertOp::create(f.b, f.toI64(part.extent),
                                                 carried[1], axis);
        Value stepped = tensor::InsertOp::create(
            f.b, f.toI64(f.mul(part.step, stride)), carried[2], axis);
        return {base, extents, stepped};
      });
  Value copy =
      f.stridedCopy(x.elements, done[0], done[2], done[1], f.product(done[1]));
  n.setResult(0, FlatTensor{copy, done[1]});
  return true;
}

//===----------------------------------------------------------------------===//
// NonZero
//===----------------------------------------------------------------------===//

/// The positions of the elements that are not zero, an axis a row.
static bool nonZero(FlatNode &n) {
  FlatBuilder &f = n.f;
  FlatTensor x = n.flat(0);
  Value found = n.make(x.elements, {2}).getResult(0);
  Value positions = f.flatten(found).elements, count = f.length(positions);
  Value strides = f.stridesOf(x.shape), rank = f.rank(x), one = f.index(1);
  Value all = f.makeShape(f.mul(rank, count), [&](Value k) {
    Value axis = f.div(k, f.maximum(count, one));
    Value at = f.at(positions, f.rem(k, f.maximum(count, one)));
    return f.rem(f.div(at, f.maximum(f.at(strides, axis), one)),
                 f.maximum(f.at(x.shape, axis), one));
  });
  n.setResult(0, f.expand(all, {rank, count}));
  return true;
}

//===----------------------------------------------------------------------===//
// The rows
//===----------------------------------------------------------------------===//

void loopc::addFlatShapes(std::vector<FlatRow> &rows) {
  rows.insert(rows.end(),
              {
                  {"Shape", 1, kLatest, shape},
                  {"Size", 1, kLatest, size},
                  {"Squeeze", 1, kLatest, squeeze, true},
                  {"Unsqueeze", 1, kLatest, unsqueeze, true},
                  {"Reshape", 5, kLatest, reshape, true},
                  {"Flatten", 1, kLatest, flatten},
                  {"Expand", 8, kLatest, expand, true},
                  {"Tile", 6, kLatest, tile, true},
                  {"Transpose", 1, kLatest, transpose},
                  {"ConstantOfShape", 9, kLatest, constantOfShape, true},
                  {"Slice", 1, kLatest, slice},
                  {"NonZero", 9, kLatest, nonZero},
              });
}
