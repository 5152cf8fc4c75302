//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Shapes and the order of elements.

#include "ImporterImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::openvino;

/// An integer vector of i64; a scalar becomes one of one element.
static Value vectorOf(LayerImport &l, Value value) {
  Value wide = l.toI64(value);
  return l.isRanked(wide) && l.rank(wide) == 0 ? l.unsqueeze(wide, {0}) : wide;
}

static void importShapeOf(LayerImport &l) {
  StringRef type = l.layer.opset() == 1 ? "i64" : l.str("output_type", "i64");
  Type element = parseElementType(type, *l.builder().getContext());
  if (!element)
    return (void)(l.fail() << "there is no element type '" << type << "'");
  l.set(l.cast(l.shapeOf(l.in(0)), element));
}

/// Zero is the input's own extent where special_zero says so.
static void importReshape(LayerImport &l) {
  Value shape = vectorOf(l, l.in(1));
  l.set(l.node("Reshape", {l.in(0), shape},
               {l.attr("allowzero", int(!l.boolean("special_zero", false)))}));
}

static void importTranspose(LayerImport &l) {
  Value x = l.in(0);
  if (!l.has(1))
    return l.set(l.node("Transpose", {x}));
  Ints order = l.needConstant(l.in(1), "the order of Transpose");
  if (l.isBad)
    return;
  // An empty order reverses.
  if (order.empty())
    return l.set(l.node("Transpose", {x}));
  l.set(l.transpose(x, l.axesOf(order, order.size())));
}

static void importConcat(LayerImport &l) {
  SmallVector<Value> parts(l.inputs);
  l.set(l.node("Concat", parts, {l.attr("axis", l.integer("axis"))}));
}

static void importSplit(LayerImport &l) {
  Ints axis = l.needConstant(l.in(1), "the axis of Split");
  int64_t count = l.integer("num_splits");
  if (l.isBad || axis.size() != 1 || count < 1)
    return (void)(l.fail() << "one axis and at least one split are expected");
  if (static_cast<size_t>(count) < l.layer.outputs.size())
    return (void)(l.fail() << "there are " << count << " splits and "
                           << l.layer.outputs.size() << " outputs");
  Value x = l.in(0);
  int64_t at = l.axisOf(axis[0], l.rank(x)), extent = l.extent(x, at);
  if (ShapedType::isStatic(extent) && extent % count)
    return (void)(l.fail() << "an extent of " << extent << " is not split into "
                           << count << " equal parts");
  l.set(l.nodes("Split", {x},
                {l.attr("axis", at), l.attr("num_outputs", count)}, count));
}

/// A length of -1 is what the others leave.
static void importVariadicSplit(LayerImport &l) {
  Value x = l.in(0);
  Ints axis = l.needConstant(l.in(1), "the axis of VariadicSplit");
  if (l.isBad || axis.size() != 1)
    return (void)(l.fail() << "one axis is expected");
  int64_t at = l.axisOf(axis[0], l.rank(x));
  Value lengths = vectorOf(l, l.in(2));
  std::optional<Ints> known = l.constantOf(lengths);
  unsigned count = l.layer.outputs.size();
  if (known && known->size() != count)
    return (void)(l.fail() << "there are " << known->size() << " lengths and "
                           << count << " outputs");
  bool mayHaveOpen = !known || llvm::is_contained(*known, -1);
  if (mayHaveOpen) {
    // The one that is -1 makes the sum the extent.
    Value minus = l.ints({-1});
    Value isOpen = l.node("Equal", {lengths, minus});
    Value sum =
        l.node("ReduceSum", {lengths, l.ints({0})}, {l.attr("keepdims", 1)});
    Value rest =
        l.node("Sub", {l.extentOf(x, at), l.node("Add", {sum, l.ints({1})})});
    if (known) {
      int64_t others = 0, extent = l.extent(x, at);
      for (int64_t one : *known)
        others += one == -1 ? 0 : one;
      if (ShapedType::isStatic(extent))
        rest = l.ints({extent - others});
      SmallVector<Value> parts;
      for (int64_t one : *known)
        parts.push_back(one == -1 ? rest : l.ints({one}));
      if (ShapedType::isStatic(extent)) {
        Ints fixed;
        for (int64_t one : *known)
          fixed.push_back(one == -1 ? extent - others : one);
        lengths = l.ints(fixed);
      } else {
        lengths = l.concat(parts);
      }
    } else {
      lengths = l.node("Where", {isOpen, rest, lengths});
    }
  }
  l.set(l.nodes("Split", {x, lengths}, {l.attr("axis", at)}, count));
}

static void importSqueeze(LayerImport &l) {
  Value x = l.in(0);
  Value axes = l.has(1) ? vectorOf(l, l.in(1)) : Value();
  std::optional<Ints> known = axes ? l.constantOf(axes) : std::nullopt;
  if (known && known->empty())
    axes = {};
  if (!known || !axes || !l.isRanked(x))
    return l.set(axes ? l.node("Squeeze", {x, axes}) : l.node("Squeeze", {x}));
  // Axes of another extent than 1 stay as they are.
  Ints ones;
  for (int64_t axis : l.axesOf(*known, l.rank(x)))
    if (!llvm::is_contained(ones, axis) &&
        (l.extent(x, axis) == 1 || ShapedType::isDynamic(l.extent(x, axis))))
      ones.push_back(axis);
  l.set(ones.empty() ? x : l.squeeze(x, ones));
}

static void importUnsqueeze(LayerImport &l) {
  Value axes = vectorOf(l, l.in(1));
  if (std::optional<Ints> known = l.constantOf(axes);
      known && l.isRanked(l.in(0))) {
    int64_t rank = l.rank(l.in(0)) + known->size();
    Ints fixed = l.axesOf(*known, rank);
    llvm::sort(fixed);
    fixed.erase(std::unique(fixed.begin(), fixed.end()), fixed.end());
    axes = l.ints(fixed);
  }
  l.set(l.isBad ? l.in(0) : l.node("Unsqueeze", {l.in(0), axes}));
}

/// The input's shape and the one given broadcast to each other
/// ("bidirectional"), or the first to the second.
static void importBroadcast(LayerImport &l) {
  Value x = l.in(0), shape = vectorOf(l, l.in(1));
  std::string mode = l.str("mode", "numpy").lower();
  l.expect("mode", mode,
           {"numpy", "explicit", "none", "bidirectional", "pdpd"});
  // OpenVINO writes version 1's so.
  if (mode == "none")
    mode = "explicit";
  int64_t axis = 0;
  if (mode == "explicit" || mode == "pdpd") {
    Value target = shape;
    int64_t rank = l.extent(target, 0);
    if (ShapedType::isDynamic(rank))
      return (void)(l.fail(Diag::UnsupportedNode)
                    << "the rank of the target shape is not known");
    Ints mapping;
    if (mode == "explicit") {
      mapping = l.needConstant(l.in(2), "the axes mapping of Broadcast");
    } else {
      axis = l.integer("axis", -1);
      axis = axis < 0 ? rank - l.rank(x) : axis;
      for (int64_t k = 0; k < l.rank(x); ++k)
        mapping.push_back(axis + k);
    }
    if (l.isBad)
      return;
    // A scalar has nothing to map.
    if (l.rank(x) == 0)
      mapping.clear();
    mapping = l.axesOf(mapping, rank);
    if (!llvm::is_sorted(mapping) ||
        mapping.size() != static_cast<size_t>(l.rank(x)))
      return (void)(l.fail() << "the axes mapping does not fit the rank, or is "
                                "not in ascending order");
    Ints fresh;
    for (int64_t k = 0; k < rank; ++k)
      if (!llvm::is_contained(mapping, k))
        fresh.push_back(k);
    x = l.unsqueeze(x, fresh);
  }
  l.set(l.node("Expand", {x, shape}));
}

/// Repeats are for the last axes where there are fewer than axes, and make new
/// ones in front where there are more.
static void importTile(LayerImport &l) {
  Value x = l.in(0), repeats = vectorOf(l, l.in(1));
  int64_t count = l.extent(repeats, 0), rank = l.rank(x);
  if (ShapedType::isDynamic(count) || l.isBad)
    return (void)(l.fail(Diag::UnsupportedNode)
                  << "the number of repeats is not known");
  if (count < rank)
    repeats = l.concat({l.ints(Ints(rank - count, 1)), repeats});
  Ints fresh;
  for (int64_t k = rank; k < count; ++k)
    fresh.push_back(k - rank);
  l.set(l.node("Tile", {l.unsqueeze(x, fresh), repeats}));
}

/// Negative pads cut off, also where they are only known at run time.
static void importPad(LayerImport &l) {
  Value x = l.in(0);
  Value begin = vectorOf(l, l.in(1)), end = vectorOf(l, l.in(2));
  StringRef mode = l.str("pad_mode", "constant");
  l.expect("pad_mode", mode, {"constant", "edge", "reflect", "symmetric"});
  std::optional<Ints> low = l.constantOf(begin), high = l.constantOf(end);
  Value pads = low && high ? [&] {
    Ints both(*low);
    llvm::append_range(both, *high);
    return l.ints(both);
  }()
                           : l.concat({begin, end});
  if (mode != "symmetric") {
    Value fill =
        mode == "constant" && l.has(3) ? l.oneElement(l.in(3)) : Value();
    return l.set(l.node("Pad", {x, pads, fill}, {l.attr("mode", mode)}));
  }
  // Mirrored with the border repeated: a gather along each axis.
  if (!low || !high)
    return (void)(l.fail(Diag::UnsupportedNode)
                  << "symmetric pads must be known when the model is compiled");
  int64_t rank = l.rank(x);
  if (static_cast<size_t>(rank) != low->size() || low->size() != high->size())
    return (void)(l.fail() << "the pads do not fit the rank");
  Value y = x;
  for (int64_t k = 0; k < rank; ++k) {
    int64_t before = (*low)[k], after = (*high)[k];
    if (!before && !after)
      continue;
    Value extent = l.oneElement(l.extentOf(x, k));
    Value raw = l.node("Range", {l.scalarInt(-before),
                                 l.node("Add", {extent, l.scalarInt(after)}),
                                 l.scalarInt(1)});
    // -1 - i in front, 2n - 1 - i behind.
    Value front = l.node("Sub", {l.scalarInt(-1), raw});
    Value twice = l.node(
        "Sub", {l.node("Mul", {extent, l.scalarInt(2)}), l.scalarInt(1)});
    Value back = l.node("Sub", {twice, raw});
    Value index =
        l.node("Where", {l.node("Less", {raw, l.scalarInt(0)}), front, raw});
    index = l.node("Where", {l.node("Less", {raw, extent}), index, back});
    y = l.node("Gather", {y, index}, {l.attr("axis", k)});
  }
  l.set(y);
}

static void importSlice(LayerImport &l) {
  SmallVector<Value> inputs{l.in(0)};
  Value steps = vectorOf(l, l.in(3));
  Value starts = vectorOf(l, l.in(1)), stops = vectorOf(l, l.in(2));
  Value axes = l.has(4) ? vectorOf(l, l.in(4)) : Value();
  l.set(l.node("Slice", {l.in(0), starts, stops, axes, steps}));
}

/// A bit of a mask attribute; those that are missing are `otherwise`.
static bool bitOf(ArrayRef<int64_t> mask, size_t k, bool otherwise = false) {
  return k < mask.size() ? mask[k] != 0 : otherwise;
}

/// What Slice takes for an end that is open.
static constexpr int64_t kFar = std::numeric_limits<int64_t>::max();

/// Element `k` of a vector, as a vector.
static Value elementOf(LayerImport &l, Value list, int64_t k) {
  if (std::optional<Ints> known = l.constantOf(list);
      known && k < static_cast<int64_t>(known->size()))
    return l.ints({(*known)[k]});
  return l.slice(list, k, k + 1, 0);
}

/// The end of a slice of one element: behind -1 is no number.
static Value behind(LayerImport &l, Value start) {
  if (std::optional<Ints> known = l.constantOf(start))
    return l.ints({known->front() == -1 ? kFar : known->front() + 1});
  Value stop = l.node("Add", {start, l.ints({1})});
  Value isLast = l.node("Equal", {stop, l.ints({0})});
  return l.node("Where", {isLast, l.ints({kFar}), stop});
}

static void importStridedSlice(LayerImport &l) {
  Value x = l.in(0);
  Value begin = vectorOf(l, l.in(1)), end = vectorOf(l, l.in(2));
  int64_t count = l.extent(begin, 0);
  if (ShapedType::isDynamic(count))
    count = l.extent(end, 0);
  Value strides = l.has(3) ? vectorOf(l, l.in(3)) : Value();
  Ints beginMask = l.integers("begin_mask", Ints{}),
       endMask = l.integers("end_mask", Ints{}),
       newMask = l.integers("new_axis_mask", Ints{}),
       shrinkMask = l.integers("shrink_axis_mask", Ints{}),
       ellipsisMask = l.integers("ellipsis_mask", Ints{});
  if (ShapedType::isDynamic(count))
    count = std::max({beginMask.size(), endMask.size(), newMask.size(),
                      shrinkMask.size(), ellipsisMask.size()});
  int64_t rank = l.rank(x);
  if (l.isBad)
    return;
  std::optional<Ints> knownStrides =
      strides ? l.constantOf(strides) : Ints(count, 1);
  // An entry takes an axis unless it makes a new one; an ellipsis takes those
  // that are left.
  int64_t taken = 0;
  for (int64_t k = 0; k < count; ++k)
    taken += !bitOf(newMask, k) && !bitOf(ellipsisMask, k);
  if (taken > rank)
    return (void)(l.fail() << "there are entries for " << taken
                           << " axes but the rank is " << rank);
  Ints axes, fresh, shrunk;
  SmallVector<Value> starts, stops, steps;
  int64_t axis = 0, outAxis = 0;
  for (int64_t k = 0; k < count; ++k) {
    if (bitOf(ellipsisMask, k)) {
      axis += rank - taken;
      outAxis += rank - taken;
      continue;
    }
    if (bitOf(newMask, k)) {
      fresh.push_back(outAxis++);
      continue;
    }
    if (bitOf(shrinkMask, k)) {
      // One element, whatever the end and the stride are.
      Value start = elementOf(l, begin, k);
      starts.push_back(start);
      stops.push_back(behind(l, start));
      steps.push_back(l.ints({1}));
      shrunk.push_back(axis);
      axes.push_back(axis++);
      continue;
    }
    bool openBegin = bitOf(beginMask, k), openEnd = bitOf(endMask, k);
    if ((openBegin || openEnd) && !knownStrides)
      return (void)(l.fail(Diag::UnsupportedNode)
                    << "strides must be known when the model is compiled where "
                       "masks leave borders open");
    bool isBack = knownStrides &&
                  k < static_cast<int64_t>(knownStrides->size()) &&
                  (*knownStrides)[k] < 0;
    starts.push_back(openBegin ? l.ints({isBack ? kFar : 0})
                               : elementOf(l, begin, k));
    stops.push_back(openEnd ? l.ints({isBack ? -kFar : kFar})
                            : elementOf(l, end, k));
    steps.push_back(strides ? elementOf(l, strides, k) : l.ints({1}));
    axes.push_back(axis++);
    ++outAxis;
  }
  Value y = x;
  if (!axes.empty())
    y = l.node("Slice", {x, l.concat(starts), l.concat(stops), l.ints(axes),
                         l.concat(steps)});
  y = l.squeeze(y, shrunk);
  l.set(l.unsqueeze(y, fresh));
}

static void importRange(LayerImport &l) {
  // Inputs may be of any types; before opset 4 they are of the output's.
  Type type = l.layer.opset() == 1 ? l.element(l.in(0))
                                   : l.elementAttr("output_type", "f32");
  Type work = type;
  bool anyFloat = false;
  for (unsigned k = 0; k < 3; ++k)
    anyFloat |= l.isFloat(l.in(k));
  if (type.isInteger())
    work = anyFloat ? Type(l.builder().getF64Type()) : l.builder().getI64Type();
  else if (!type.isF64())
    work = l.builder().getF32Type();
  SmallVector<Value> bounds;
  for (unsigned k = 0; k < 3; ++k) {
    Value bound = l.oneElement(l.in(k));
    // Each is rounded to the output's type before.
    if (type.isInteger() && l.isFloat(bound))
      bound = l.cast(bound, type);
    bounds.push_back(l.cast(bound, work));
  }
  l.set(l.cast(l.node("Range", bounds), type));
}

/// The flattened input's order, or that of the batch axes' rows.
static void importReverseSequence(LayerImport &l) {
  Value x = l.in(0);
  int64_t rank = l.rank(x);
  int64_t batch = l.axisOf(l.integer("batch_axis", 0), rank);
  int64_t sequence = l.axisOf(l.integer("seq_axis", 1), rank);
  if (l.isBad)
    return;
  // ONNX has time and batch in front.
  Ints order{sequence, batch}, back(rank);
  for (int64_t k = 0; k < rank; ++k)
    if (k != sequence && k != batch)
      order.push_back(k);
  for (int64_t k = 0; k < rank; ++k)
    back[order[k]] = k;
  Value lengths = l.toI64(l.in(1));
  Value y = l.node("ReverseSequence", {l.transpose(x, order), lengths},
                   {l.attr("time_axis", 0), l.attr("batch_axis", 1)});
  l.set(l.transpose(y, back));
}

static void importReverse(LayerImport &l) {
  Value x = l.in(0);
  std::string mode = l.str("mode", "index").lower();
  Ints axes = l.needConstant(l.in(1), "the axes of Reverse");
  if (mode == "mask") {
    Ints chosen;
    for (auto [k, bit] : llvm::enumerate(axes))
      if (bit)
        chosen.push_back(k);
    axes = chosen;
  }
  for (int64_t axis : l.axesOf(axes, l.rank(x)))
    x = l.slice(x, -1, std::numeric_limits<int64_t>::min(), axis, -1);
  l.set(x);
}

static void importRoll(LayerImport &l) {
  Value x = l.in(0), shift = vectorOf(l, l.in(1));
  Ints axes = l.needConstant(l.in(2), "the axes of Roll");
  int64_t rank = l.rank(x);
  if (l.isBad)
    return;
  for (auto [k, axis] : llvm::enumerate(l.axesOf(axes, rank))) {
    // The last `shift` modulo the extent come in front.
    Value by = l.extent(shift, 0) == 1 ? shift : l.slice(shift, k, k + 1, 0);
    Value extent = l.extentOf(x, axis);
    Value index =
        l.node("Range", {l.scalarInt(0), l.oneElement(extent), l.scalarInt(1)});
    Value moved = l.node(
        "Mod",
        {l.node("Sub", {index, by}), l.node("Max", {extent, l.ints({1})})},
        {l.attr("fmod", 0)});
    x = l.node("Gather", {x, moved}, {l.attr("axis", axis)});
  }
  l.set(x);
}

static void importEye(LayerImport &l) {
  Type type = l.elementAttr("output_type", "f32");
  Value rows = l.reshape(l.toI64(l.in(0)), ArrayRef<int64_t>{1});
  Value columns =
      l.has(1) ? l.reshape(l.toI64(l.in(1)), ArrayRef<int64_t>{1}) : rows;
  Value shift = l.has(2) ? l.oneElement(l.toI64(l.in(2))) : l.scalarInt(0);
  auto upTo = [&](Value count) {
    return l.node("Range",
                  {l.scalarInt(0), l.oneElement(count), l.scalarInt(1)});
  };
  Value row = l.unsqueeze(upTo(rows), {1});
  Value isOne = l.node("Equal", {l.node("Add", {row, shift}), upTo(columns)});
  Value eye = l.cast(isOne, type);
  if (l.has(3)) {
    Value shape = l.concat({vectorOf(l, l.in(3)), rows, columns});
    eye = l.node("Expand", {eye, shape});
  }
  l.set(eye);
}

static void importDepthToSpace(LayerImport &l) {
  std::string mode = l.str("mode", "blocks_first").lower();
  l.expect("mode", mode, {"blocks_first", "depth_first"});
  Value x = l.in(0);
  int64_t size = l.integer("block_size", 1), rank = l.rank(x);
  if (rank == 4)
    return l.set(
        l.node("DepthToSpace", {x},
               {l.attr("blocksize", size),
                l.attr("mode", mode == "depth_first" ? "CRD" : "DCR")}));
  l.fail(Diag::UnsupportedNode)
      << "an input of rank " << rank << ", only rank 4 is there";
}

static void importSpaceToDepth(LayerImport &l) {
  std::string mode = l.str("mode", "blocks_first").lower();
  l.expect("mode", mode, {"blocks_first", "depth_first"});
  Value x = l.in(0);
  int64_t size = l.integer("block_size", 1), rank = l.rank(x);
  if (l.isBad || rank < 3 || size < 1)
    return (void)(l.fail() << "the rank is " << rank << " and the block size "
                           << size);
  // N, C, D1 / b, b, ..., Dk / b, b.
  SmallVector<Value> split{l.extentOf(x, 0), l.extentOf(x, 1)};
  Value block = l.ints({size});
  Ints spatial, inner;
  for (int64_t k = 2; k < rank; ++k) {
    spatial.push_back(split.size());
    inner.push_back(split.size() + 1);
    split.push_back(l.node("Div", {l.extentOf(x, k), block}));
    split.push_back(block);
  }
  Ints order{0};
  if (mode == "blocks_first")
    llvm::append_range(order, inner);
  order.push_back(1);
  if (mode == "depth_first")
    llvm::append_range(order, inner);
  llvm::append_range(order, spatial);
  Value depth = split[1];
  for (size_t k = 0; k < inner.size(); ++k)
    depth = l.node("Mul", {depth, block});
  SmallVector<Value> joined{split[0], depth};
  for (int64_t k : spatial)
    joined.push_back(split[k]);
  Value y = l.transpose(l.reshape(x, l.concat(split)), order);
  l.set(l.reshape(y, l.concat(joined)));
}

static void importShuffleChannels(LayerImport &l) {
  Value x = l.in(0);
  int64_t rank = l.rank(x), axis = l.axisOf(l.integer("axis", 1), rank);
  int64_t group = l.integer("group", 1);
  if (l.isBad)
    return;
  // [group, C / group] becomes [C / group, group].
  SmallVector<Value> split;
  Ints order;
  for (int64_t k = 0; k < rank; ++k) {
    int64_t at = split.size();
    if (k != axis) {
      order.push_back(at);
      split.push_back(l.extentOf(x, k));
      continue;
    }
    order.append({at + 1, at});
    split.push_back(l.ints({group}));
    split.push_back(l.node("Div", {l.extentOf(x, k), l.ints({group})}));
  }
  Value y = l.transpose(l.reshape(x, l.concat(split)), order);
  l.set(l.reshape(y, l.shapeOf(x)));
}

llvm::ArrayRef<LayerRow> openvino::getShapeRows() {
  static const LayerRow rows[] = {
      {"ShapeOf", opsets({1, 3}), importShapeOf},
      {"Reshape", opsets({1}), importReshape},
      {"Transpose", opsets({1}), importTranspose},
      {"Concat", opsets({1}), importConcat},
      {"Split", opsets({1}), importSplit},
      {"VariadicSplit", opsets({1}), importVariadicSplit},
      {"Squeeze", opsets({1, 15}), importSqueeze},
      {"Unsqueeze", opsets({1}), importUnsqueeze},
      {"Broadcast", opsets({1, 3}), importBroadcast},
      {"Tile", opsets({1}), importTile},
      {"Pad", opsets({1, 12}), importPad},
      {"Slice", opsets({8}), importSlice},
      {"StridedSlice", opsets({1}), importStridedSlice},
      {"Range", opsets({1, 4}), importRange},
      {"ReverseSequence", opsets({1}), importReverseSequence},
      {"Reverse", opsets({1}), importReverse},
      {"Roll", opsets({7}), importRoll},
      {"Eye", opsets({9}), importEye},
      {"DepthToSpace", opsets({1}), importDepthToSpace},
      {"SpaceToDepth", opsets({1}), importSpaceToDepth},
      {"ShuffleChannels", opsets({1}), importShuffleChannels}};
  return rows;
}
