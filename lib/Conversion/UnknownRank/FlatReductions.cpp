//===- FlatReductions.cpp - Reductions on any rank ------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Reductions over all axes, over one, or over any that are known at run time.

#include "FlatForms.h"
#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace loopc;

/// Node inputs and attributes that reduce `value` over its axis 1.
static Value overMiddle(FlatNode &n, Value value, int64_t rank) {
  SmallVector<Value> inputs{value};
  SmallVector<std::pair<StringRef, Attribute>> attrs{
      {"keepdims", n.intValue(0)}};
  if (n.has(1))
    inputs.push_back(n.constantVector(1, n.f.b.getI64Type()));
  else
    attrs.push_back({"axes", n.intsValue(1)});
  return n.make(inputs, {rank}, attrs).getResult(0);
}

/// `shape` with extents of 1 where `isReduced`.
static Value keptShape(FlatBuilder &f, Value shape,
                       llvm::function_ref<Value(Value k)> isReduced) {
  return f.makeShape(f.length(shape), [&](Value k) {
    return f.select(isReduced(k), f.index(1), f.at(shape, k));
  });
}

static bool reduceAll(FlatNode &n, FlatTensor x, bool keep) {
  FlatBuilder &f = n.f;
  SmallVector<Value> inputs{x.elements};
  Value one =
      n.make(inputs, {0}, {{"keepdims", n.intValue(0)}, {"axes", Attribute()}})
          .getResult(0);
  Value always = arith::ConstantOp::create(f.b, f.b.getBoolAttr(true));
  Value shape = keep ? keptShape(f, x.shape, [&](Value) { return always; })
                     : f.shapeOf({});
  n.setReshaped(0, one, shape);
  return true;
}

static bool reduceOne(FlatNode &n, FlatTensor x, int64_t which, bool keep) {
  FlatBuilder &f = n.f;
  Value axis = f.normalizeAxis(f.index(which), f.rank(x));
  Value reduced = overMiddle(n, n.view(x, f.viewAt(x.shape, axis)), 2);
  n.setReshaped(0, reduced,
                keep ? f.withExtent(x.shape, axis, f.index(1))
                     : f.withoutAxis(x.shape, axis));
  return true;
}

/// The axes in `axes`, at run time: they are moved behind the others first.
static bool reduceSome(FlatNode &n, FlatTensor x, Value axes, bool keep,
                       bool noop) {
  FlatBuilder &f = n.f;
  Value rank = f.rank(x), given = f.length(axes);
  Value zero = f.index(0), one = f.index(1);
  f.forEach(zero, given, {}, [&](Value k, ValueRange) -> SmallVector<Value> {
    f.normalizeAxis(f.at(axes, k), rank);
    return {};
  });
  // None at all stands for all of them, but for `noop_with_empty_axes`.
  Value isAll =
      noop ? Value(arith::ConstantOp::create(f.b, f.b.getBoolAttr(false)))
           : f.equal(given, zero);
  Value mask = f.makeShape(rank, [&](Value k) {
    return f.forEach(zero, given, f.select(isAll, one, zero),
                     [&](Value j, ValueRange carried) -> SmallVector<Value> {
                       Value axis = f.at(axes, j);
                       Value normal = f.select(f.less(axis, zero),
                                               f.add(axis, rank), axis);
                       return {f.select(f.equal(normal, k), one, carried[0])};
                     })[0];
  });
  auto isReduced = [&](Value k) { return f.equal(f.at(mask, k), one); };
  Value kept = f.forEach(
      zero, rank, zero, [&](Value k, ValueRange carried) -> SmallVector<Value> {
        return {f.add(carried[0], f.select(isReduced(k), zero, one))};
      })[0];
  f.check(f.either(f.equal(given, zero), f.equal(f.sub(rank, kept), given)),
          "an axis is repeated");
  Value order = f.makeShape(rank, [&](Value k) { return k; });
  order =
      f.forEach(zero, rank, {order, zero, kept},
                [&](Value k, ValueRange carried) -> SmallVector<Value> {
                  Value here = isReduced(k);
                  Value place = f.select(here, carried[2], carried[1]);
                  Value next = tensor::InsertOp::create(f.b, f.toI64(k),
                                                        carried[0], place);
                  return {next, f.add(carried[1], f.select(here, zero, one)),
                          f.add(carried[2], f.select(here, one, zero))};
                })[0];
  auto ordered = [&](Value values) {
    return f.makeShape(rank,
                       [&](Value k) { return f.at(values, f.at(order, k)); });
  };
  Value moved = ordered(x.shape), strides = ordered(f.stridesOf(x.shape));
  Value copy = f.stridedCopy(x.elements, zero, strides, moved, f.count(x));
  Value outer = f.product(moved, zero, kept);
  Value inner = f.product(moved, kept, rank);
  Value reduced = overMiddle(n, f.expand(copy, {outer, inner}), 1);
  n.setReshaped(0, reduced,
                keep ? keptShape(f, x.shape, isReduced)
                     : f.part(moved, zero, kept));
  return true;
}

static bool reduce(FlatNode &n) {
  bool keep = n.intAttr("keepdims", 1);
  bool noop = n.intAttr("noop_with_empty_axes", 0);
  FlatTensor x = n.flat(0);
  std::optional<SmallVector<int64_t>> known = n.intsAttr("axes");
  if (!known)
    known = n.constantInts(1);
  bool isEmpty = known ? known->empty() : !n.has(1);
  if (isEmpty && !noop)
    return reduceAll(n, x, keep);
  if (isEmpty) {
    // Each element by itself.
    n.setReshaped(0, n.make(x.elements, {1}).getResult(0), x.shape);
    return true;
  }
  if (known && known->size() == 1)
    return reduceOne(n, x, known->front(), keep);
  return reduceSome(n, x, n.integers("axes", 1), keep, noop);
}

static bool argExtremum(FlatNode &n) {
  FlatBuilder &f = n.f;
  FlatTensor x = n.flat(0);
  Value axis = n.axis("axis", 0, x.shape);
  Value view = n.view(x, f.viewAt(x.shape, axis));
  Value found =
      n.make(view, {2}, {{"axis", n.intValue(1)}, {"keepdims", n.intValue(0)}})
          .getResult(0);
  n.setReshaped(0, found,
                n.intAttr("keepdims", 1)
                    ? f.withExtent(x.shape, axis, f.index(1))
                    : f.withoutAxis(x.shape, axis));
  return true;
}

void loopc::addFlatReductions(std::vector<FlatRow> &rows) {
  for (StringRef op :
       {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
        "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
        "ReduceSumSquare"})
    rows.push_back({op, 1, kLatest, reduce, true});
  rows.push_back({"ArgMax", 1, kLatest, argExtremum});
  rows.push_back({"ArgMin", 1, kLatest, argExtremum});
}
