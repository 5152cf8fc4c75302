//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Blocks of space moved into other axes, and the last layers of YOLO.

#include "ImporterImpl.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::openvino;

/// The constant input `k`, one number for each of `rank` axes.
static Ints perAxis(LayerImport &l, unsigned k, StringRef what, int64_t rank) {
  Ints values = l.needConstant(l.in(k), what);
  if (!l.isBad && static_cast<int64_t>(values.size()) != rank)
    l.fail() << what << " has " << values.size() << " elements for rank "
             << rank;
  values.resize(rank, 0);
  return values;
}

/// The block's extent along each axis: at least 1, and 1 along the batch.
static Ints blockOf(LayerImport &l, int64_t rank) {
  Ints block = perAxis(l, 1, "block_shape", rank);
  for (auto [k, extent] : llvm::enumerate(block))
    if (!l.isBad && (extent < 1 || (k == 0 && extent != 1)))
      l.fail() << "block_shape is " << extent << " along axis " << k;
  return block;
}

/// [n, d1, d2] to [b1, b2, n, d1 / b1, d2 / b2], where the first three axes
/// become one, after padding with zeros.
static void importSpaceToBatch(LayerImport &l) {
  Value x = l.in(0);
  int64_t rank = l.rank(x);
  Ints block = blockOf(l, rank), pads = perAxis(l, 2, "pads_begin", rank);
  llvm::append_range(pads, perAxis(l, 3, "pads_end", rank));
  if (l.isBad)
    return;
  if (llvm::any_of(pads, [](int64_t pad) { return pad != 0; }))
    x = l.node("Pad", {x, l.ints(pads)});
  for (int64_t k = 1; k < rank; ++k)
    if (int64_t extent = l.extent(x, k);
        ShapedType::isStatic(extent) && extent % block[k])
      return (void)(l.fail() << "an extent of " << extent
                             << " is not cut into blocks of " << block[k]);
  for (int64_t k = rank; --k > 0;)
    x = l.splitAxis(x, k, block[k]);
  Ints order;
  for (int64_t k = 1; k < rank; ++k)
    order.push_back(2 * k);
  order.push_back(0);
  for (int64_t k = 1; k < rank; ++k)
    order.push_back(2 * k - 1);
  if (l.isBad)
    return;
  x = l.transpose(x, order);
  for (int64_t k = 1; k < rank; ++k)
    x = l.mergeAxes(x, 0);
  l.set(x);
}

/// [b1 * b2 * n, d1, d2] to [n, d1 * b1, d2 * b2], which is cropped.
static void importBatchToSpace(LayerImport &l) {
  Value x = l.in(0);
  int64_t rank = l.rank(x);
  Ints block = blockOf(l, rank), begin = perAxis(l, 2, "crops_begin", rank),
       end = perAxis(l, 3, "crops_end", rank);
  if (l.isBad)
    return;
  int64_t blocks = 1;
  SmallVector<Value> shape;
  for (int64_t k = 1; k < rank; ++k) {
    blocks *= block[k];
    shape.push_back(l.ints({block[k]}));
  }
  if (int64_t batch = l.extent(x, 0);
      ShapedType::isStatic(batch) && batch % blocks)
    return (void)(l.fail() << "a batch of " << batch
                           << " is not made of blocks of " << blocks);
  shape.push_back(l.node("Div", {l.extentOf(x, 0), l.ints({blocks})}));
  Ints order{rank - 1};
  for (int64_t k = 1; k < rank; ++k) {
    shape.push_back(l.extentOf(x, k));
    llvm::append_values(order, rank - 1 + k, k - 1);
  }
  x = l.transpose(l.reshape(x, l.concat(shape)), order);
  for (int64_t k = 1; k < rank && !l.isBad; ++k)
    x = l.mergeAxes(x, k);
  for (int64_t k = 0; k < rank && !l.isBad; ++k)
    if (begin[k] != 0 || end[k] != 0)
      x = l.slice(x, begin[k],
                  end[k] ? -end[k] : std::numeric_limits<int64_t>::max(), k);
  l.set(x);
}

/// Padding along an axis of `extent`, as auto_pad says.
static std::pair<int64_t, int64_t> padsOf(StringRef autoPad, int64_t extent,
                                          int64_t size, int64_t stride,
                                          int64_t rate) {
  if (autoPad == "valid")
    return {0, 0};
  int64_t whole = (size - 1) * rate + 1;
  int64_t last = (llvm::divideCeil(extent, stride) - 1) * stride;
  int64_t total = std::max<int64_t>(last + whole - extent, 0);
  int64_t less = total / 2;
  return autoPad == "same_upper" ? std::pair(less, total - less)
                                 : std::pair(total - less, less);
}

/// The patches become channels: their rows, their columns, their channels.
static void importExtractImagePatches(LayerImport &l) {
  Value x = l.in(0);
  int64_t rank = l.rank(x);
  Ints sizes = l.integers("sizes"), strides = l.integers("strides"),
       rates = l.integers("rates");
  std::string autoPad = l.str("auto_pad", "").lower();
  l.expect("auto_pad", autoPad, {"valid", "same_upper", "same_lower"});
  if (l.isBad)
    return;
  auto isWrong = [](const Ints &list) {
    return list.size() != 2 || list[0] < 1 || list[1] < 1;
  };
  if (rank != 4 || isWrong(sizes) || isWrong(strides) || isWrong(rates))
    return (void)(l.fail() << "sizes, strides and rates must be two positive "
                              "numbers, and the input an image");
  constexpr int64_t kMaxPatches = 1024;
  if (sizes[0] > kMaxPatches || sizes[1] > kMaxPatches / sizes[0])
    return (void)(l.fail(Diag::UnsupportedNode)
                  << "patches have more than " << kMaxPatches << " places");
  Ints pads(8, 0), extents(2);
  for (unsigned k : {0, 1}) {
    int64_t extent = l.extent(x, 2 + k);
    if (ShapedType::isDynamic(extent))
      return (void)(l.fail(Diag::UnsupportedNode)
                    << "height and width must be known when the model is "
                       "compiled");
    auto [begin, end] = padsOf(autoPad, extent, sizes[k], strides[k], rates[k]);
    pads[2 + k] = begin;
    pads[6 + k] = end;
    extents[k] = extent + begin + end;
    if (extents[k] < (sizes[k] - 1) * rates[k] + 1)
      return (void)(l.fail() << "an extent of " << extent << " holds no patch");
  }
  if (llvm::any_of(pads, [](int64_t pad) { return pad != 0; }))
    x = l.node("Pad", {x, l.ints(pads)});
  SmallVector<Value> places;
  for (int64_t i = 0; i < sizes[0]; ++i)
    for (int64_t j = 0; j < sizes[1] && !l.isBad; ++j) {
      Ints begin{i * rates[0], j * rates[1]}, end;
      for (unsigned k : {0, 1})
        end.push_back(extents[k] - (sizes[k] - 1) * rates[k] + begin[k]);
      places.push_back(l.node("Slice", {x, l.ints(begin), l.ints(end),
                                        l.ints({2, 3}), l.ints(strides)}));
    }
  if (!l.isBad)
    l.set(l.concat(places, 1));
}

//===----------------------------------------------------------------------===//
// YOLO
//===----------------------------------------------------------------------===//

/// As Darknet has it: the image is taken for one of [c / s^2, h * s, w * s],
/// whose blocks become channels; the result is called [c * s^2, h / s, w / s].
static void importReorgYolo(LayerImport &l) {
  Value x = l.in(0);
  Ints strides = l.integers("stride");
  int64_t rank = l.rank(x);
  if (l.isBad)
    return;
  int64_t channels = l.extent(x, 1), height = l.extent(x, 2),
          width = l.extent(x, 3);
  if (rank != 4 || strides.empty() || strides[0] < 1 ||
      ShapedType::isDynamic(channels) || ShapedType::isDynamic(height) ||
      ShapedType::isDynamic(width))
    return (void)(l.fail(Diag::UnsupportedNode)
                  << "the input must be an image whose channels, height and "
                     "width are known when the model is compiled");
  int64_t s = strides[0];
  if (channels % (s * s) || height % s || width % s)
    return (void)(l.fail() << "the stride " << s << " does not divide "
                           << l.in(0).getType());
  Value batch = l.extentOf(x, 0);
  auto shaped = [&](Value value, Ints rest) {
    return l.reshape(value, l.concat({batch, l.ints(rest)}));
  };
  x = shaped(x, {channels / (s * s), height, s, width, s});
  x = l.transpose(x, {0, 3, 5, 1, 2, 4});
  l.set(shaped(x, {channels * s * s, height / s, width / s}));
}

/// Of each region's channels (x, y, the other coordinates, how sure it is, the
/// classes) some go through a sigmoid, and the classes through a softmax.
static void importRegionYolo(LayerImport &l) {
  Value x = l.in(0);
  int64_t rank = l.rank(x);
  int64_t coords = l.integer("coords"), classes = l.integer("classes");
  bool isSoftmax = l.boolean("do_softmax", true);
  Ints mask = l.integers("mask", Ints{});
  int64_t regions =
      isSoftmax ? l.integer("num") : static_cast<int64_t>(mask.size());
  int64_t axis = l.axisOf(l.integer("axis", 1), rank),
          last = l.axisOf(l.integer("end_axis", -1), rank);
  if (l.isBad)
    return;
  int64_t channels = regions * (coords + 1 + classes);
  if (rank != 4 || coords < 2 || classes < 1 || regions < 1 || axis > last ||
      (ShapedType::isStatic(l.extent(x, 1)) && l.extent(x, 1) != channels))
    return (void)(l.fail() << l.in(0).getType() << " is no image of "
                           << channels << " channels: " << regions
                           << " regions of " << coords << " coordinates and "
                           << classes << " classes");
  SmallVector<Value> all{l.extentOf(x, 0), l.ints({channels}), l.extentOf(x, 2),
                         l.extentOf(x, 3)};
  Value y =
      l.reshape(x, l.concat({all[0], l.ints({regions, coords + 1 + classes}),
                             all[2], all[3]}));
  auto part = [&](int64_t from, int64_t to) { return l.slice(y, from, to, 2); };
  auto sigmoid = [&](Value value) { return l.node("Sigmoid", {value}); };
  SmallVector<Value> parts{sigmoid(part(0, 2))};
  if (coords > 2)
    parts.push_back(part(2, coords));
  if (isSoftmax) {
    parts.push_back(sigmoid(part(coords, coords + 1)));
    parts.push_back(l.node("Softmax", {part(coords + 1, coords + 1 + classes)},
                           {l.attr("axis", 2)}));
  } else {
    parts.push_back(sigmoid(part(coords, coords + 1 + classes)));
  }
  y = l.concat(parts, 2);
  if (l.isBad)
    return;
  y = l.reshape(y, l.concat(all));
  if (isSoftmax)
    for (int64_t k = axis; k < last && !l.isBad; ++k)
      y = l.mergeAxes(y, axis);
  l.set(y);
}

llvm::ArrayRef<LayerRow> openvino::getSpaceRows() {
  static const LayerRow rows[] = {
      {"SpaceToBatch", opsets({2}), importSpaceToBatch},
      {"BatchToSpace", opsets({2}), importBatchToSpace},
      {"ExtractImagePatches", opsets({3}), importExtractImagePatches},
      {"ReorgYolo", opsets({2}), importReorgYolo},
      {"RegionYolo", opsets({1}), importRegionYolo}};
  return rows;
}
