//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Gathers, scatters and what gives indices.

#include "ImporterImpl.h"
#include <cmath>

using namespace mlir;
using namespace loopc;
using namespace loopc::openvino;

/// Batch axes are shared by data and indices.
static void importGather(LayerImport &l) {
  Value data = l.in(0), indices = l.toI64(l.in(1));
  Ints given =
      l.has(2) ? l.needConstant(l.in(2), "the axis of Gather") : Ints{0};
  int64_t batch = l.integer("batch_dims", 0);
  if (l.isBad || given.size() != 1)
    return (void)(l.fail() << "one axis is expected");
  if (batch == 0)
    return l.set(l.node("Gather", {data, indices}, {l.attr("axis", given[0])}));
  int64_t rank = l.rank(data), indexRank = l.rank(indices);
  int64_t axis = l.axisOf(given[0], rank);
  batch = batch < 0 ? batch + indexRank : batch;
  if (l.isBad || batch < 0 || batch > axis || batch > indexRank)
    return (void)(l.fail() << "batch_dims does not fit the axis or the ranks");
  // [B, pre, N, post] becomes [B, N, pre, post].
  Ints order;
  for (int64_t k = 0; k < batch; ++k)
    order.push_back(k);
  order.push_back(axis);
  for (int64_t k = batch; k < rank; ++k)
    if (k != axis)
      order.push_back(k);
  Value y =
      l.node("GatherND", {l.transpose(data, order), l.unsqueeze(indices, {-1})},
             {l.attr("batch_dims", batch)});
  // [B, I, pre, post] becomes [B, pre, I, post].
  int64_t pre = axis - batch, own = indexRank - batch;
  Ints back;
  for (int64_t k = 0; k < batch; ++k)
    back.push_back(k);
  for (int64_t k = 0; k < pre; ++k)
    back.push_back(batch + own + k);
  for (int64_t k = 0; k < own; ++k)
    back.push_back(batch + k);
  for (int64_t k = batch + own + pre; k < rank - 1 + own; ++k)
    back.push_back(k);
  l.set(l.transpose(y, back));
}

static void importGatherElements(LayerImport &l) {
  l.set(l.node("GatherElements", {l.in(0), l.toI64(l.in(1))},
               {l.attr("axis", l.integer("axis"))}));
}

/// Version 5 makes all batch axes one. ONNX's indices have a coordinate at
/// least, OpenVINO's may have none: where it is not known they get one more,
/// for an axis of one element behind the batch axes.
static void importGatherND(LayerImport &l) {
  int64_t batch = l.integer("batch_dims", 0);
  Value data = l.in(0), indices = l.toI64(l.in(1));
  int64_t last = l.isRanked(indices) ? l.rank(indices) - 1 : -1;
  if (last >= 0 && l.extent(indices, last) <= 0) {
    data = l.unsqueeze(data, {batch});
    Value tuples = l.node("Shape", {indices}, {l.attr("end", int64_t(-1))});
    Value shape =
        l.node("Concat", {tuples, l.ints({1})}, {l.attr("axis", int64_t(0))});
    Value first = l.node("Expand", {l.ints({0}), shape});
    indices = l.node("Concat", {first, indices}, {l.attr("axis", last)});
  }
  Value y = l.node("GatherND", {data, indices}, {l.attr("batch_dims", batch)});
  if (l.layer.opset() == 5)
    for (int64_t k = 1; k < batch; ++k)
      y = l.mergeAxes(y, 0);
  l.set(y);
}

/// data[.., indices[i], ..] = updates[.., i, ..]
static void importScatterUpdate(LayerImport &l) {
  Value data = l.in(0), indices = l.toI64(l.in(1)), updates = l.in(2);
  Ints given = l.needConstant(l.in(3), "the axis of ScatterUpdate");
  if (l.isBad || given.size() != 1)
    return (void)(l.fail() << "one axis is expected");
  int64_t rank = l.rank(data), own = l.rank(indices);
  int64_t axis = l.axisOf(given[0], rank);
  // The axis, and those of the indices, come in front.
  Ints order{axis}, moved, back(rank);
  for (int64_t k = 0; k < own; ++k)
    moved.push_back(axis + k);
  for (int64_t k = 0; k < rank; ++k) {
    if (k == axis)
      continue;
    order.push_back(k);
    moved.push_back(k < axis ? k : k + own - 1);
  }
  for (int64_t k = 0; k < rank; ++k)
    back[order[k]] = k;
  if (l.isBad)
    return;
  if (axis) {
    data = l.transpose(data, order);
    updates = l.transpose(updates, moved);
  }
  Value y = l.node("ScatterND", {data, l.unsqueeze(indices, {-1}), updates});
  l.set(axis ? l.transpose(y, back) : y);
}

/// What a reduction begins with where the data does not count.
static Value neutral(LayerImport &l, Value like, StringRef reduction) {
  if (reduction == "mul")
    return l.scalarLike(like, 1);
  if (reduction != "min" && reduction != "max")
    return l.scalarLike(like, 0);
  bool isMin = reduction == "min";
  if (l.isFloat(like))
    return l.scalarLike(like, isMin ? INFINITY : -INFINITY);
  auto type = cast<IntegerType>(l.element(like));
  unsigned bits = type.getWidth();
  APInt value = type.isUnsigned() ? (isMin ? APInt::getMaxValue(bits)
                                           : APInt::getMinValue(bits))
                                  : (isMin ? APInt::getSignedMaxValue(bits)
                                           : APInt::getSignedMinValue(bits));
  Attribute elements =
      DenseElementsAttr::get(RankedTensorType::get({}, type), value);
  return l.constant(cast<ElementsAttr>(elements));
}

/// ONNX's name of a reduction. Of booleans, which become integers, the sum is
/// the maximum and the product the minimum.
static StringRef reductionOf(LayerImport &l, StringRef given, Value &data,
                             Value &updates) {
  bool isSum = given == "sum" || given == "sub" || given == "mean";
  if (given == "none")
    return given;
  if (!l.element(data).isInteger(1))
    return isSum ? "add" : given == "prod" ? "mul" : given;
  data = l.cast(data, l.builder().getI32Type());
  updates = l.cast(updates, l.builder().getI32Type());
  return isSum ? "max" : given == "prod" ? "min" : given;
}

static void importScatterElements(LayerImport &l) {
  Value data = l.in(0), indices = l.toI64(l.in(1)), updates = l.in(2);
  Ints axis = l.needConstant(l.in(3), "the axis of ScatterElementsUpdate");
  StringRef given = l.str("reduction", "none");
  l.expect("reduction", given, {"none", "sum", "prod", "min", "max", "mean"});
  bool withData = l.boolean("use_init_val", true);
  if (l.isBad || axis.size() != 1)
    return (void)(l.fail() << "one axis is expected");
  auto scatter = [&](Value to, Value values, StringRef how) {
    return l.node("ScatterElements", {to, indices, values},
                  {l.attr("axis", axis[0]), l.attr("reduction", how)});
  };
  auto everywhere = [&](Value value, Value like) {
    return l.node("Expand", {value, l.shapeOf(like)});
  };
  Type own = l.element(data);
  StringRef reduction = reductionOf(l, given, data, updates);
  if (reduction != "none" && !withData)
    data =
        scatter(data, everywhere(neutral(l, data, reduction), indices), "none");
  Value y = scatter(data, updates, reduction);
  if (given == "mean") {
    Value one = l.scalarLike(y, 1);
    Value count = everywhere(one, data);
    if (!withData)
      count = scatter(count, everywhere(l.scalarLike(y, 0), indices), "none");
    y = l.node("Div", {y, scatter(count, everywhere(one, indices), "add")});
  }
  l.set(l.cast(y, own));
}

static void importScatterND(LayerImport &l) {
  StringRef given = l.str("reduction", "none");
  l.expect("reduction", given, {"none", "sum", "sub", "prod", "min", "max"});
  Value data = l.in(0), updates = l.in(2);
  Type own = l.element(data);
  StringRef reduction = reductionOf(l, given, data, updates);
  if (given == "sub")
    updates = l.node("Sub", {l.scalarLike(updates, 0), updates});
  Value y = l.node("ScatterND", {data, l.toI64(l.in(1)), updates},
                   {l.attr("reduction", reduction)});
  l.set(l.cast(y, own));
}

static void importNonZero(LayerImport &l) {
  Type type = l.elementAttr("output_type", "i64");
  Value x = l.in(0);
  l.set(l.cast(l.node("NonZero", {l.cast(x, l.builder().getI1Type())}), type));
}

/// Indices that are out of range give a row without a one.
static void importOneHot(LayerImport &l) {
  Value indices = l.toI64(l.in(0));
  Value depth = l.toI64(l.oneElement(l.in(1)));
  int64_t rank = l.rank(indices) + 1;
  int64_t axis = l.axisOf(l.integer("axis", -1), rank);
  std::string mode = l.str("negative_indices_mode", "ignore_negative").lower();
  l.expect("negative_indices_mode", mode, {"ignore_negative", "normalize"});
  if (mode == "normalize")
    indices = l.node("Where", {l.node("Less", {indices, l.scalarInt(0)}),
                               l.node("Add", {indices, depth}), indices});
  Value classes = l.node("Range", {l.scalarInt(0), depth, l.scalarInt(1)});
  Ints behind;
  for (int64_t k = axis + 1; k < rank; ++k)
    behind.push_back(k - axis);
  Value hit = l.node(
      "Equal", {l.unsqueeze(indices, {axis}), l.unsqueeze(classes, behind)});
  l.set(l.node("Where", {hit, l.oneElement(l.in(2)), l.oneElement(l.in(3))}));
}

static void importUnique(LayerImport &l) {
  SmallVector<NamedAttribute> attrs{
      l.attr("sorted", int(l.boolean("sorted", true)))};
  if (l.has(1)) {
    Ints axis = l.needConstant(l.in(1), "the axis of Unique");
    if (axis.size() == 1)
      attrs.push_back(l.attr("axis", axis[0]));
  }
  Type index = l.elementAttr("index_element_type", "i64");
  Type count = l.elementAttr("count_element_type", "i64");
  SmallVector<Value> found = l.nodes("Unique", {l.in(0)}, attrs, 4);
  l.set({found[0], l.cast(found[1], index), l.cast(found[2], index),
         l.cast(found[3], count)});
}

/// How many boundaries are below: counted, as boundaries are sorted.
static Value countBelow(LayerImport &l, Value x, Value boundaries, bool orEqual,
                        Type type) {
  Value hit = l.node(orEqual ? "LessOrEqual" : "Less",
                     {boundaries, l.unsqueeze(x, {-1})});
  Value count =
      l.node("ReduceSum", {l.cast(hit, l.builder().getI64Type()), l.ints({-1})},
             {l.attr("keepdims", 0)});
  return l.cast(count, type);
}

static void importBucketize(LayerImport &l) {
  Type type = l.elementAttr("output_type", "i64");
  bool rightBound = l.boolean("with_right_bound", true);
  Value x = l.in(0), buckets = l.in(1);
  Type work = l.isFloat(x) || l.isFloat(buckets)
                  ? Type(l.builder().getF64Type())
                  : Type(l.builder().getI64Type());
  l.set(
      countBelow(l, l.cast(x, work), l.cast(buckets, work), !rightBound, type));
}

static void importSearchSorted(LayerImport &l) {
  Type type = l.elementAttr("output_type", "i64");
  bool right = l.boolean("right_mode", false);
  Value sorted = l.in(0);
  // [.., n] against [.., m, 1]
  if (l.rank(sorted) > 1)
    sorted = l.unsqueeze(sorted, {-2});
  l.set(countBelow(l, l.in(1), sorted, right, type));
}

static void importNonMaxSuppression(LayerImport &l) {
  StringRef encoding = l.str("box_encoding", "corner");
  l.expect("box_encoding", encoding, {"corner", "center"});
  bool descending = l.boolean("sort_result_descending", true);
  Type type = l.elementAttr("output_type", "i64");
  Type f32 = l.builder().getF32Type();
  if (l.has(5)) {
    auto op = l.in(5).getDefiningOp<onnx::ConstantOp>();
    auto dense = op ? dyn_cast<DenseFPElementsAttr>(op.getValue())
                    : DenseFPElementsAttr();
    if (!dense || !llvm::all_of(dense.getValues<APFloat>(),
                                [](const APFloat &v) { return v.isZero(); }))
      return (void)(l.fail(Diag::UnsupportedNode)
                    << "soft suppression (soft_nms_sigma) is not there");
  }
  Value boxes = l.cast(l.in(0), f32), scores = l.cast(l.in(1), f32);
  // Nothing is selected where there is no limit.
  Value most = l.has(2) ? l.reshape(l.toI64(l.in(2)), ArrayRef<int64_t>{1})
                        : l.ints({0});
  auto threshold = [&](unsigned k) {
    return l.has(k) ? l.reshape(l.cast(l.in(k), f32), ArrayRef<int64_t>{1})
                    : l.unsqueeze(l.scalar(f32, 0), {0});
  };
  Value found = l.node("NonMaxSuppression",
                       {boxes, scores, most, threshold(3), threshold(4)},
                       {l.attr("center_point_box", int(encoding == "center"))});
  Value score = l.node("GatherND", {scores, found});
  if (descending) {
    Value count = l.node("Shape", {score});
    SmallVector<Value> sorted = l.nodes("TopK", {score, count}, {}, 2);
    score = sorted[0];
    found = l.node("Gather", {found, sorted[1]}, {l.attr("axis", 0)});
  }
  l.set(l.cast(found, type));
  Value places = l.cast(l.slice(found, 0, 2, 1), f32);
  Value triples = l.concat({places, l.unsqueeze(score, {1})}, 1);
  l.set(triples);
  l.set(l.cast(l.extentOf(found, 0), type));
}

//===----------------------------------------------------------------------===//
// Embeddings
//===----------------------------------------------------------------------===//

/// Rows of the table by `indices`, each times its weight.
static Value embed(LayerImport &l, Value table, Value indices, unsigned k) {
  Value rows = l.node("Gather", {table, l.toI64(indices)}, {l.attr("axis", 0)});
  if (!l.has(k))
    return rows;
  Ints behind;
  for (int64_t axis = l.rank(indices), n = l.rank(rows); axis < n; ++axis)
    behind.push_back(axis);
  return l.node("Mul", {rows, l.unsqueeze(l.in(k), behind)});
}

/// Bags of the same number of rows.
static void importEmbeddingBagPacked(LayerImport &l) {
  std::string reduction = l.str("reduction", "sum").lower();
  l.expect("reduction", reduction, {"sum", "mean"});
  Value rows = embed(l, l.in(0), l.in(1), 2);
  l.set(l.node(reduction == "sum" ? "ReduceSum" : "ReduceMean",
               {rows, l.ints({1})}, {l.attr("keepdims", 0)}));
}

/// Sums (or means) of the rows of each of `count` bags; `bags` says to which
/// one each of the indices belongs. A bag without any is the row
/// `default_index`, or zeros where that is -1 or left out.
static void sumBags(LayerImport &l, Value bags, Value count, unsigned defaultAt,
                    bool isMean) {
  Value table = l.in(0), rows = embed(l, table, l.in(1), defaultAt + 1);
  int64_t rank = l.rank(table);
  if (l.isBad)
    return;
  SmallVector<Value> shape{count};
  for (int64_t axis = 1; axis < rank; ++axis)
    shape.push_back(l.extentOf(table, axis));
  Value places = l.unsqueeze(bags, {-1});
  auto gather = [&](Value zero, ArrayRef<Value> extents, Value updates) {
    Value zeros = l.node("Expand", {zero, l.concat(extents)});
    return l.node("ScatterND", {zeros, places, updates},
                  {l.attr("reduction", "add")});
  };
  Value sums = gather(l.scalarLike(table, 0), shape, rows);
  Value ones = l.node("Expand", {l.scalarLike(table, 1), l.shapeOf(bags)});
  Value counts = gather(l.scalarLike(table, 0), {count}, ones);
  Ints behind;
  for (int64_t axis = 1; axis < rank; ++axis)
    behind.push_back(axis);
  counts = l.unsqueeze(counts, behind);
  Value isEmpty = l.node("Equal", {counts, l.scalarLike(table, 0)});
  if (isMean)
    sums = l.node(
        "Div",
        {sums, l.node("Where", {isEmpty, l.scalarLike(table, 1), counts})});
  if (l.has(defaultAt)) {
    Value index = l.oneElement(l.toI64(l.in(defaultAt)));
    Value row =
        l.node("Gather", {table, l.node("Max", {index, l.scalarInt(0)})},
               {l.attr("axis", 0)});
    Value isNone = l.node("Less", {index, l.scalarInt(0)});
    row = l.node("Where", {isNone, l.scalarLike(table, 0), row});
    sums = l.node("Where", {isEmpty, row, sums});
  }
  l.set(sums);
}

static void importEmbeddingSegments(LayerImport &l) {
  Value count = l.reshape(l.toI64(l.in(3)), ArrayRef<int64_t>{1});
  sumBags(l, l.toI64(l.in(2)), count, 4, /*isMean=*/false);
}

/// Bag k begins at offset k.
static void importEmbeddingOffsets(LayerImport &l) {
  std::string reduction = l.str("reduction", "sum").lower();
  l.expect("reduction", reduction, {"sum", "mean"});
  Value offsets = l.toI64(l.in(2));
  Value length = l.oneElement(l.shapeOf(l.in(1)));
  Value places = l.node("Range", {l.scalarInt(0), length, l.scalarInt(1)});
  Value begun = l.node("LessOrEqual", {offsets, l.unsqueeze(places, {1})});
  Value bags = l.node(
      "Sub", {l.node("ReduceSum",
                     {l.cast(begun, l.builder().getI64Type()), l.ints({1})},
                     {l.attr("keepdims", 0)}),
              l.scalarInt(1)});
  sumBags(l, bags, l.shapeOf(offsets), 3, reduction == "mean");
}

llvm::ArrayRef<LayerRow> openvino::getIndexingRows() {
  static const LayerRow rows[] = {
      {"Gather", opsets({1, 7, 8}), importGather},
      {"GatherElements", opsets({6}), importGatherElements},
      {"GatherND", opsets({5, 8}), importGatherND},
      {"ScatterUpdate", opsets({3}), importScatterUpdate},
      {"ScatterElementsUpdate", opsets({3, 12}), importScatterElements},
      {"ScatterNDUpdate", opsets({3, 4, 15}), importScatterND},
      {"NonZero", opsets({3}), importNonZero},
      {"OneHot", opsets({1, 16}), importOneHot},
      {"Unique", opsets({10}), importUnique},
      {"Bucketize", opsets({3}), importBucketize},
      {"EmbeddingBagPackedSum", opsets({3}), importEmbeddingBagPacked},
      {"EmbeddingBagPacked", opsets({15}), importEmbeddingBagPacked},
      {"EmbeddingBagOffsetsSum", opsets({3}), importEmbeddingOffsets},
      {"EmbeddingBagOffsets", opsets({15}), importEmbeddingOffsets},
      {"EmbeddingSegmentsSum", opsets({3}), importEmbeddingSegments},
      {"SearchSorted", opsets({15}), importSearchSorted},
      {"NonMaxSuppression", opsets({5, 9}), importNonMaxSuppression}};
  return rows;
}
