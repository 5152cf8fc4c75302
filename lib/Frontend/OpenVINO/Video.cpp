//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Frames of video, whose colours have half the height and width of their luma.

#include "ImporterImpl.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::openvino;

namespace {
/// A frame: the luma [n, h, w, 1], and both colours [n, h / 2, w / 2, 2].
struct Frame {
  Value luma, colours;
};
} // namespace

/// Both parts of one plane [n, 3 * h / 2, w, 1]. Behind the luma NV12 has a row
/// of pairs for each two rows of the luma, I420 one colour behind the other.
static Frame splitPlane(LayerImport &l, Value plane, bool isI420) {
  Value all = l.extentOf(plane, 1);
  Value height =
      l.node("Div", {l.node("Mul", {all, l.ints({2})}), l.ints({3})});
  Value axis = l.ints({1});
  Value luma = l.node("Slice", {plane, l.ints({0}), height, axis});
  Value rest = l.node("Slice", {plane, height, all, axis});
  if (!isI420)
    return {luma, l.mergeAxes(l.splitAxis(rest, 2, 2), 3)};
  Value half = l.node("Div", {height, l.ints({2})});
  Value width = l.node("Div", {l.extentOf(plane, 2), l.ints({2})});
  Value apart = l.reshape(
      rest, l.concat({l.extentOf(plane, 0), l.ints({2}), half, width}));
  return {luma, l.transpose(apart, {0, 2, 3, 1})};
}

/// BT.601 of a limited range, as OpenVINO's specification has it.
template <bool IsI420, bool IsBGR> static void importVideo(LayerImport &l) {
  Frame frame;
  if (!l.has(1))
    frame = splitPlane(l, l.in(0), IsI420);
  else if (IsI420)
    frame = {l.in(0), l.concat({l.in(1), l.in(2)}, 3)};
  else
    frame = {l.in(0), l.in(1)};
  if (l.isBad)
    return;
  Type given = LayerImport::element(l.in(0));
  Type type = l.builder().getF32Type();
  if (given.isF64())
    type = given;
  auto real = [&](Value value, double less) {
    value = l.cast(value, type);
    return l.node("Sub", {value, l.scalarLike(value, less)});
  };
  Value twice = l.cast(l.ints({2, 2}), l.builder().getF32Type());
  Value colours =
      l.node("Resize", {real(frame.colours, 128), Value(), twice, Value()},
             {l.attr("axes", ArrayRef<int64_t>{1, 2}),
              l.attr("mode", StringRef("nearest")),
              l.attr("coordinate_transformation_mode", StringRef("asymmetric")),
              l.attr("nearest_mode", StringRef("floor"))});
  // What each channel takes of one value.
  auto share = [&](Value value, std::array<double, 3> of) {
    if (IsBGR)
      std::swap(of[0], of[2]);
    SmallVector<Value> each;
    for (double factor : of)
      each.push_back(l.unsqueeze(l.scalar(type, factor), {0}));
    return l.node("Mul", {value, l.concat(each)});
  };
  Value u = l.slice(colours, 0, 1, 3), v = l.slice(colours, 1, 2, 3);
  Value sum = l.node("Add", {share(real(frame.luma, 16), {1.164, 1.164, 1.164}),
                             share(u, {0, -0.391, 2.018})});
  sum = l.node("Add", {sum, share(v, {1.596, -0.813, 0})});
  if (!isa<FloatType>(given))
    sum = l.node("Floor", {l.node("Add", {sum, l.scalarLike(sum, 0.5)})});
  sum = l.node("Clip", {sum, l.scalarLike(sum, 0), l.scalarLike(sum, 255)});
  l.set(l.cast(sum, given));
}

llvm::ArrayRef<LayerRow> openvino::getVideoRows() {
  static const LayerRow rows[] = {
      {"NV12toRGB", opsets({8}), importVideo<false, false>},
      {"NV12toBGR", opsets({8}), importVideo<false, true>},
      {"I420toRGB", opsets({8}), importVideo<true, false>},
      {"I420toBGR", opsets({8}), importVideo<true, true>}};
  return rows;
}
