//===- FlatIndexing.cpp - GatherND and ScatterND on any rank --------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Operators whose indices hold tuples of coordinates. The ranks of data and
// indices and the length of the tuples are independent of one another, so that
// a switch over them has hundreds of cases: here the axes that a tuple names
// become one, and the tuple one position on it.

#include "FlatForms.h"
#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

namespace {
/// What the tuples of a node name.
struct Tuples {
  FlatTensor data, indices;
  Value count; ///< number of tuples
  Value outer; ///< number of leading axes of the indices, those of the tuples
  Value end;   ///< the axis of the data behind those that a tuple names
  Value rows;  ///< product of the data's extents before `end`
  Value inner; ///< and of those behind
  Value positions; ///< tensor<?xi64>: for each tuple one of the rows
};
} // namespace

/// Batch axes are held to be equal, and all shapes to fit the operator, whose
/// tuples have `least` coordinates or more.
static Tuples shapesOfTuples(FlatNode &n, int64_t batch, int64_t least) {
  FlatBuilder &f = n.f;
  Tuples t;
  t.data = n.flat(0);
  t.indices = n.flat(1);
  Value zero = f.index(0), one = f.index(1), first = f.index(batch);
  Value rank = f.rank(t.data), indexRank = f.rank(t.indices);
  StringRef op = n.node.getOpType();
  f.check(f.less(first, f.minimum(rank, indexRank)),
          op + " cannot take data of rank {} and indices of rank {}",
          {rank, indexRank});
  t.outer = f.maximum(f.sub(indexRank, one), zero);
  Value named = f.at(t.indices.shape, t.outer);
  t.end = f.add(first, named);
  f.check(f.both(f.less(f.index(least - 1), named),
                 f.less(t.end, f.add(rank, one))),
          op + " cannot take indices of {} coordinates", named);
  // Pure operations may be hoisted over the check.
  t.end = f.minimum(t.end, rank);
  for (int64_t k = 0; k < batch; ++k) {
    Value own = f.at(t.data.shape, f.index(k));
    Value other = f.at(t.indices.shape, f.index(k));
    f.check(f.equal(own, other),
            "batch axis " + Twine(k) +
                ": the data's extent is {}, the indices' {}",
            {own, other});
  }
  t.count = f.product(t.indices.shape, zero, t.outer);
  t.rows = f.product(t.data.shape, zero, t.end);
  t.inner = f.product(t.data.shape, t.end, rank);
  return t;
}

/// The tuples of `n`, whose data and indices share `batch` leading axes.
static Tuples tuplesOf(FlatNode &n, int64_t batch, int64_t least) {
  FlatBuilder &f = n.f;
  Tuples t = shapesOfTuples(n, batch, least);
  Value zero = f.index(0), one = f.index(1), first = f.index(batch);
  Value named = f.at(t.indices.shape, t.outer);
  Value batches = f.product(t.data.shape, zero, first);
  Value tuplesOfBatch = f.div(t.count, f.maximum(batches, one));
  t.positions = f.makeShape(t.count, [&](Value tuple) {
    Value begin =
        batch == 0 ? zero : f.div(tuple, f.maximum(tuplesOfBatch, one));
    return f.forEach(
        first, t.end, begin,
        [&](Value axis, ValueRange carried) -> SmallVector<Value> {
          Value extent = f.at(t.data.shape, axis);
          Value k = f.add(f.mul(tuple, named), f.sub(axis, first));
          Value raw = f.at(t.indices.elements, k, zero);
          Value place = f.select(f.less(raw, zero), f.add(raw, extent), raw);
          f.check(f.compare(IP::ult, place, extent),
                  "index {} is out of range for an axis of extent {}",
                  {raw, extent});
          return {f.add(f.mul(carried[0], extent), place)};
        })[0];
  });
  return t;
}

/// The shape of what the tuples name: an axis for each of the tuples', then
/// those of the data that no tuple names.
static Value shapeOfNamed(FlatNode &n, const Tuples &t) {
  Value left = n.f.part(t.data.shape, t.end, n.f.rank(t.data));
  return n.f.concat(n.f.part(t.indices.shape, n.f.index(0), t.outer), left);
}

/// The data as matrix and the positions as tuples of one coordinate.
static SmallVector<Value> asMatrix(FlatNode &n, const Tuples &t) {
  return {n.f.expand(t.data.elements, {t.rows, t.inner}),
          n.f.expand(t.positions, {t.count, n.f.index(1)})};
}

static bool gatherND(FlatNode &n) {
  int64_t batch = n.intAttr("batch_dims", 0);
  if (batch < 0)
    return false;
  Tuples t = tuplesOf(n, batch, /*least=*/1);
  onnx::NodeOp made =
      n.make(asMatrix(n, t), {2}, {{"batch_dims", Attribute()}});
  n.setReshaped(0, made.getResult(0), shapeOfNamed(n, t));
  return true;
}

static bool scatterND(FlatNode &n) {
  FlatBuilder &f = n.f;
  Tuples t = tuplesOf(n, /*batch=*/0, /*least=*/0);
  FlatTensor updates = n.flat(2);
  Value wanted = shapeOfNamed(n, t);
  Value rank = f.rank(updates), expected = f.length(wanted);
  f.check(f.equal(rank, expected), "updates of rank {}, expected {}",
          {rank, expected});
  f.check(f.sameShape(updates.shape, wanted),
          "the updates' extents are not those of the indices and the data");
  SmallVector<Value> inputs = asMatrix(n, t);
  inputs.push_back(f.expand(updates.elements, {t.count, t.inner}));
  n.setReshaped(0, n.make(inputs, {2}).getResult(0), t.data.shape);
  return true;
}

void loopc::addFlatIndexing(std::vector<FlatRow> &rows) {
  FlatRow gather{"GatherND", 11, kLatest, gatherND};
  FlatRow scatter{"ScatterND", 11, kLatest, scatterND};
  gather.switchesOverFew = scatter.switchesOverFew = true;
  rows.insert(rows.end(), {gather, scatter});
}
