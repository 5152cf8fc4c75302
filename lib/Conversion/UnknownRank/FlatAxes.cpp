//===- FlatAxes.cpp - Operators along one axis of any rank ----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Operators that know one axis: they work on views [before, axis, behind].

#include "FlatForms.h"
#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"

using namespace mlir;
using namespace loopc;

/// Attribute axis = 1, that of the views.
using Attrs = SmallVector<std::pair<StringRef, Attribute>>;
static Attrs middle(FlatNode &n) { return {{"axis", n.intValue(1)}}; }

/// `first`, and all other inputs as they are.
static SmallVector<Value> withRest(FlatNode &n, Value first) {
  SmallVector<Value> inputs{first};
  llvm::append_range(inputs, n.vectorsFrom(1));
  return inputs;
}

//===----------------------------------------------------------------------===//
// The shape stays, or one extent changes
//===----------------------------------------------------------------------===//

/// Softmax and its kin from version 13 on, LpNormalization.
static bool alongAxis(FlatNode &n) {
  FlatTensor x = n.flat(0);
  AxisView at = n.f.viewAt(x.shape, n.axis("axis", -1, x.shape));
  Value done = n.make(n.view(x, at), {3}, middle(n)).getResult(0);
  n.setReshaped(0, done, x.shape);
  return true;
}

/// Up to version 12 all axes from `axis` on are one.
static bool oldSoftmax(FlatNode &n) {
  FlatTensor x = n.flat(0);
  Value axis = n.axis("axis", 1, x.shape), rank = n.f.rank(x);
  Value outer = n.f.product(x.shape, n.f.index(0), axis);
  Value inner = n.f.product(x.shape, axis, rank);
  Value matrix = n.f.expand(x.elements, {outer, inner});
  n.setReshaped(0, n.make(matrix, {2}, middle(n)).getResult(0), x.shape);
  return true;
}

/// CumSum and CumProd: the axis is an input.
static bool cumulative(FlatNode &n) {
  FlatTensor x = n.flat(0);
  Value given = n.flat(1).elements;
  n.f.check(n.f.equal(n.f.length(given), n.f.index(1)),
            "'axis' has {} elements, not 1", n.f.length(given));
  Value axis = n.f.normalizeAxis(n.f.at(given, n.f.index(0)), n.f.rank(x));
  AxisView at = n.f.viewAt(x.shape, axis);
  Value one = n.constantVector(1, n.elementType(1));
  n.setReshaped(0, n.make({n.view(x, at), one}, {3}).getResult(0), x.shape);
  return true;
}

/// TopK, and Split and Compress along an axis: the results have other extents
/// along it.
static bool resized(FlatNode &n, int64_t defaultAxis) {
  FlatTensor x = n.flat(0);
  Value axis = n.axis("axis", defaultAxis, x.shape);
  AxisView at = n.f.viewAt(x.shape, axis);
  SmallVector<int64_t> ranks(n.node.getNumResults(), 3);
  onnx::NodeOp made = n.make(withRest(n, n.view(x, at)), ranks, middle(n));
  for (auto [k, result] : llvm::enumerate(made.getResults()))
    if (n.node.hasOutput(k))
      n.setReshaped(k, result, n.f.withExtent(x.shape, axis, n.dim(result, 1)));
  return true;
}

static bool topK(FlatNode &n) { return resized(n, -1); }
static bool split(FlatNode &n) { return resized(n, 0); }

static bool compress(FlatNode &n) {
  if (n.hasAttr("axis"))
    return resized(n, 0);
  FlatTensor x = n.flat(0);
  n.setResult(0, n.make(withRest(n, x.elements), {1}).getResult(0));
  return true;
}

static bool unique(FlatNode &n) {
  if (n.hasAttr("axis"))
    return false;
  SmallVector<int64_t> ranks(n.node.getNumResults(), 1);
  onnx::NodeOp made = n.make(n.flat(0).elements, ranks);
  for (auto [k, result] : llvm::enumerate(made.getResults()))
    if (n.node.hasOutput(k))
      n.setResult(k, result);
  return true;
}

/// Matrices are the last two axes.
static bool trilu(FlatNode &n) {
  FlatTensor x = n.flat(0);
  Value rank = n.f.rank(x), two = n.f.index(2);
  n.f.check(n.f.less(n.f.index(1), rank), "Trilu of a value of rank {}", rank);
  AxisView at = n.f.viewAt(x.shape, n.f.sub(rank, two));
  onnx::NodeOp made = n.make(withRest(n, n.view(x, at)), {3});
  n.setReshaped(0, made.getResult(0), x.shape);
  return true;
}

//===----------------------------------------------------------------------===//
// Concat, Gather
//===----------------------------------------------------------------------===//

static bool concat(FlatNode &n) {
  FlatBuilder &f = n.f;
  FlatTensor first = n.flat(0);
  Value axis = n.axis("axis", 1, first.shape);
  AxisView at = f.viewAt(first.shape, axis);
  SmallVector<Value> views{n.view(first, at)};
  for (unsigned i = 1; i < n.numInputs(); ++i) {
    FlatTensor other = n.flat(i);
    if (other.shape != first.shape)
      f.check(f.sameBeside(first.shape, other.shape, axis),
              "input " + Twine(i) +
                  " differs from input 0 in rank or beside axis {}",
              axis);
    AxisView own = at;
    own.mid = f.at(other.shape, axis);
    views.push_back(n.view(other, own));
  }
  Value whole = n.make(views, {3}, middle(n)).getResult(0);
  n.setReshaped(0, whole, f.withExtent(first.shape, axis, n.dim(whole, 1)));
  return true;
}

static bool gather(FlatNode &n) {
  FlatTensor x = n.flat(0), indices = n.flat(1);
  Value axis = n.axis("axis", 0, x.shape);
  AxisView at = n.f.viewAt(x.shape, axis);
  onnx::NodeOp made = n.make({n.view(x, at), indices.elements}, {3}, middle(n));
  n.setReshaped(0, made.getResult(0),
                n.f.withAxes(x.shape, axis, indices.shape));
  return true;
}

//===----------------------------------------------------------------------===//
// Normalization, pooling over everything
//===----------------------------------------------------------------------===//

/// The view [batch, channels, all the rest].
static AxisView channels(FlatNode &n, FlatTensor x) {
  n.f.check(n.f.less(n.f.index(1), n.f.rank(x)),
            n.node.getOpType() + " of a value of rank {}", n.f.rank(x));
  return n.f.viewAt(x.shape, n.f.index(1));
}

/// BatchNormalization, InstanceNormalization, GroupNormalization; results
/// behind the first have rank 1.
static bool perChannel(FlatNode &n) {
  FlatTensor x = n.flat(0);
  SmallVector<int64_t> ranks(n.node.getNumResults(), 1);
  ranks[0] = 3;
  onnx::NodeOp made = n.make(withRest(n, n.view(x, channels(n, x))), ranks);
  n.setReshaped(0, made.getResult(0), x.shape);
  for (unsigned k = 1; k < ranks.size(); ++k)
    n.setResult(k, made.getResult(k));
  return true;
}

static bool globalPool(FlatNode &n) {
  FlatBuilder &f = n.f;
  FlatTensor x = n.flat(0);
  Value done = n.make(n.view(x, channels(n, x)), {3}).getResult(0);
  Value shape = f.makeShape(f.rank(x), [&](Value k) {
    return f.select(f.less(k, f.index(2)), f.at(x.shape, k), f.index(1));
  });
  n.setReshaped(0, done, shape);
  return true;
}

/// LayerNormalization and RMSNormalization: scale and bias have the axes from
/// `axis` on, which become one.
static bool layerNormalization(FlatNode &n) {
  FlatBuilder &f = n.f;
  FlatTensor x = n.flat(0);
  Value axis = n.axis("axis", -1, x.shape), rank = f.rank(x);
  Value outer = f.product(x.shape, f.index(0), axis);
  Value inner = f.product(x.shape, axis, rank);
  Value tail = f.part(x.shape, f.minimum(axis, rank), rank);
  SmallVector<Value> inputs{f.expand(x.elements, {outer, inner})};
  for (unsigned i = 1; i < n.numInputs(); ++i) {
    if (!n.has(i)) {
      inputs.push_back(n.node.getInputs()[i]);
      continue;
    }
    FlatTensor own = n.flat(i);
    Value joined = f.broadcastShapes(tail, own.shape);
    f.check(f.sameShape(joined, tail),
            "input " + Twine(i) + " does not broadcast to the normalized axes");
    inputs.push_back(f.broadcastTo(own, tail, inner));
  }
  SmallVector<int64_t> ranks(n.node.getNumResults(), 2);
  onnx::NodeOp made = n.make(inputs, ranks, middle(n));
  n.setReshaped(0, made.getResult(0), x.shape);
  Value reduced = f.makeShape(rank, [&](Value k) {
    return f.select(f.less(k, axis), f.at(x.shape, k), f.index(1));
  });
  for (unsigned k = 1; k < ranks.size(); ++k)
    if (n.node.hasOutput(k))
      n.setReshaped(k, made.getResult(k), reduced);
  return true;
}

//===----------------------------------------------------------------------===//
// The rows
//===----------------------------------------------------------------------===//

void loopc::addFlatAxes(std::vector<FlatRow> &rows) {
  for (StringRef op : {"Softmax", "LogSoftmax", "Hardmax"}) {
    rows.push_back({op, 1, 12, oldSoftmax});
    rows.push_back({op, 13, kLatest, alongAxis});
  }
  for (StringRef op : {"InstanceNormalization", "GroupNormalization"})
    rows.push_back({op, 6, kLatest, perChannel});
  for (StringRef op : {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"})
    rows.push_back({op, 1, kLatest, globalPool});
  rows.insert(rows.end(),
              {
                  {"LpNormalization", 1, kLatest, alongAxis},
                  {"CumSum", 11, kLatest, cumulative},
                  {"CumProd", 26, kLatest, cumulative},
                  {"TopK", 1, kLatest, topK},
                  {"Split", 2, kLatest, split},
                  {"Compress", 9, kLatest, compress},
                  {"Unique", 11, kLatest, unique},
                  {"Trilu", 14, kLatest, trilu},
                  {"Concat", 4, kLatest, concat},
                  {"Gather", 1, kLatest, gather},
                  {"BatchNormalization", 9, kLatest, perChannel},
                  {"LayerNormalization", 17, kLatest, layerNormalization},
                  {"RMSNormalization", 23, kLatest, layerNormalization},
              });
}
