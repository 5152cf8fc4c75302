//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Reductions, cumulative sums, sorting.

#include "ImporterImpl.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::openvino;

static void importReduce(LayerImport &l) {
  Value x = l.in(0);
  Value axes = l.toI64(l.in(1));
  if (l.isRanked(axes) && l.rank(axes) == 0)
    axes = l.unsqueeze(axes, {0});
  Type own = l.element(x), work = own;
  // What ONNX's reductions take.
  auto integer = dyn_cast<IntegerType>(own);
  bool isMinMax = l.op == "ReduceMax" || l.op == "ReduceMin";
  if (integer && integer.getWidth() < 32 &&
      !(isMinMax && integer.getWidth() == 8))
    work = l.builder().getI32Type();
  // No axes reduce nothing.
  Value y = l.node(l.op, {l.cast(x, work), axes},
                   {l.attr("keepdims", int(l.boolean("keep_dims", false))),
                    l.attr("noop_with_empty_axes", 1)});
  if (std::optional<Ints> known = l.constantOf(axes);
      known && known->empty() && (l.op == "ReduceL1" || l.op == "ReduceL2"))
    y = l.node("Abs", {l.cast(x, work)});
  l.set(l.cast(y, own));
}

static void importLogicalReduce(LayerImport &l) {
  Value axes = l.toI64(l.in(1));
  if (l.isRanked(axes) && l.rank(axes) == 0)
    axes = l.unsqueeze(axes, {0});
  Value x = l.in(0);
  // Truth values, and no numbers: the largest of no elements is false.
  Value y = l.node(l.op, {l.cast(x, l.builder().getI1Type()), axes},
                   {l.attr("keepdims", int(l.boolean("keep_dims", false))),
                    l.attr("noop_with_empty_axes", 1)});
  l.set(l.cast(y, l.element(x)));
}

static void importCumSum(LayerImport &l) {
  Value x = l.in(0);
  Value axis = l.has(1) ? l.toI64(l.oneElement(l.in(1))) : l.scalarInt(0);
  Type own = l.element(x), work = own;
  if (own.isInteger() && own.getIntOrFloatBitWidth() < 32)
    work = l.builder().getI32Type();
  Value y = l.node("CumSum", {l.cast(x, work), axis},
                   {l.attr("exclusive", int(l.boolean("exclusive", false))),
                    l.attr("reverse", int(l.boolean("reverse", false)))});
  l.set(l.cast(y, own));
}

/// Sorted by value, or by index: then the indices are sorted and the values
/// taken by them.
static void importTopK(LayerImport &l) {
  Value x = l.in(0);
  Value k = l.reshape(l.toI64(l.in(1)), ArrayRef<int64_t>{1});
  int64_t axis = l.axisOf(l.integer("axis"), l.rank(x));
  StringRef mode = l.str("mode", "max"), sort = l.str("sort", "value");
  l.expect("mode", mode, {"max", "min"});
  l.expect("sort", sort, {"value", "index", "none"});
  Type indexType = l.elementAttr("index_element_type", "i32");
  Type own = l.element(x), work = own;
  if (auto integer = dyn_cast<IntegerType>(own);
      integer && integer.getWidth() < 8)
    work = l.builder().getI32Type();
  SmallVector<Value> found =
      l.nodes("TopK", {l.cast(x, work), k},
              {l.attr("axis", axis), l.attr("largest", int(mode == "max")),
               l.attr("sorted", 1)},
              2);
  Value values = l.cast(found[0], own), indices = found[1];
  if (sort == "index") {
    indices = l.nodes(
        "TopK", {indices, k},
        {l.attr("axis", axis), l.attr("largest", 0), l.attr("sorted", 1)},
        2)[0];
    values = l.node("GatherElements", {x, indices}, {l.attr("axis", axis)});
  }
  l.set(values);
  l.set(l.cast(indices, indexType));
}

llvm::ArrayRef<LayerRow> openvino::getReductionRows() {
  static const LayerRow rows[] = {
      {"ReduceSum", opsets({1}), importReduce, "ReduceSum"},
      {"ReduceMean", opsets({1}), importReduce, "ReduceMean"},
      {"ReduceMax", opsets({1}), importReduce, "ReduceMax"},
      {"ReduceMin", opsets({1}), importReduce, "ReduceMin"},
      {"ReduceProd", opsets({1}), importReduce, "ReduceProd"},
      {"ReduceL1", opsets({4}), importReduce, "ReduceL1"},
      {"ReduceL2", opsets({4}), importReduce, "ReduceL2"},
      {"ReduceLogicalAnd", opsets({1}), importLogicalReduce, "ReduceMin"},
      {"ReduceLogicalOr", opsets({1}), importLogicalReduce, "ReduceMax"},
      {"CumSum", opsets({3}), importCumSum},
      {"TopK", opsets({1, 3, 11}), importTopK}};
  return rows;
}
