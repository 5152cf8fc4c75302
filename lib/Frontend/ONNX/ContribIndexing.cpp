//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Operators of onnxruntime's domain that select: unique elements, slices by
// indices, regions of images, the path of least cost through a matrix.

#include "ContribOperators.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace loopc::importer;

template <const char *text> static std::string write(const ContribCall &) {
  return text;
}

static constexpr char kUnique[] = "y, first, idx, counts = Unique<sorted = 0>"
                                  "(x)";
static constexpr char kGatherND[] = "output = GatherND(data, int64(indices))";
static constexpr char kSampleOp[] = "Y = Identity(X)";

//===----------------------------------------------------------------------===//
// CropAndResize
//===----------------------------------------------------------------------===//

/// at_A [regions, cells]: where the samples of one axis are, in pixels, and
/// in_A whether that is within the image. The two corners that a region is
/// given by are columns `from` and `to` of rois.
static std::string writeSamples(StringRef axis, int from, int to) {
  // A single cell stands in the middle.
  return llvm::formatv(
      "from_{0} = Gather<axis = 1>(boxes, [{1}])\n"
      "to_{0} = Gather<axis = 1>(boxes, [{2}])\n"
      "cells_{0} = Squeeze(Gather(sizes, [{3}]), [0])\n"
      "last_{0} = CastLike(Shape<start = {4}, end = {5}>(X) - [1], boxes)\n"
      "steps_{0} = CastLike(Range(0, cells_{0}, 1), boxes)\n"
      "gaps_{0} = CastLike(Max(cells_{0} - 1, 1), boxes)\n"
      "scale_{0} = (to_{0} - from_{0}) * last_{0} / gaps_{0}\n"
      "several_{0} = from_{0} * last_{0} + scale_{0} * steps_{0}\n"
      "middle_{0} = (from_{0} + to_{0}) * last_{0} * half\n"
      "at_{0} = Where(cells_{0} <= 1, middle_{0}, several_{0})\n"
      "in_{0} = at_{0} >= none & at_{0} <= last_{0}\n",
      axis, from, to, axis == "y" ? 0 : 1, axis == "y" ? 2 : 3,
      axis == "y" ? 3 : 4);
}

/// `to` [regions, rows, columns, channels]: the pixels at `y` and `x`.
static std::string writePixels(StringRef y, StringRef x, StringRef to) {
  return llvm::formatv("{2}_y3 = Expand(Unsqueeze(int64(Where(in_y, {0}, "
                       "none)), [2, 3]), each)\n"
                       "{2}_x3 = Expand(Unsqueeze(int64(Where(in_x, {1}, "
                       "none)), [1, 3]), each)\n"
                       "{2} = GatherND(pixels, Concat<axis = 3>(Expand(images, "
                       "each), {2}_y3, {2}_x3))\n",
                       y, x, to);
}

static std::string writeCropAndResize(const ContribCall &call) {
  StringRef mode = call.getString("mode");
  if (!mode.empty() && mode != "bilinear" && mode != "nearest")
    return call.refuse("the mode '" + mode + "' is unknown");
  std::string text = "boxes = Identity(rois)\n"
                     "sizes = int64(crop_size)\n"
                     "half = CastLike(0.5, boxes)\n"
                     "none = half - half\n"
                     "images0 = int64(batch_indices)\n"
                     "images = Unsqueeze(images0, [1, 2, 3])\n"
                     "each = Concat<axis = 0>(Shape(images0), sizes, [1])\n"
                     "pixels = Transpose<perm = [0, 2, 3, 1]>(X)\n" +
                     writeSamples("y", 0, 2) + writeSamples("x", 1, 3);
  if (mode == "nearest") {
    // Halves go up, as they are not below 0.
    text += "near_y = Floor(at_y + half)\n"
            "near_x = Floor(at_x + half)\n" +
            writePixels("near_y", "near_x", "found");
  } else {
    text += "top = Floor(at_y)\nbottom = Ceil(at_y)\n"
            "left = Floor(at_x)\nright = Ceil(at_x)\n" +
            writePixels("top", "left", "p00") +
            writePixels("top", "right", "p01") +
            writePixels("bottom", "left", "p10") +
            writePixels("bottom", "right", "p11") +
            "share_x = Unsqueeze(at_x - left, [1, 3])\n"
            "line_top = p00 + (p01 - p00) * share_x\n"
            "over = p10 + (p11 - p10) * share_x - line_top\n"
            "found = line_top + over * Unsqueeze(at_y - top, [2, 3])\n";
  }
  return text + "outer = CastLike(@extrapolation_value, X)\n"
                "Y = Transpose<perm = [0, 3, 1, 2]>(Where(Unsqueeze(in_y, [2, "
                "3]) & Unsqueeze(in_x, [1, 3]), found, outer))\n";
}

//===----------------------------------------------------------------------===//
// DynamicTimeWarping
//===----------------------------------------------------------------------===//

/// Least costs row by row: a cell is reached from above and left of it (0),
/// from above (1) or from the left (2). Then back from the last cell to the
/// first.
static constexpr char kTimeWarping[] = R"(
    costs = Reshape<allowzero = 1>(input, Shape<start = -2>(input))
    width1 = Shape<start = 1, end = 2>(costs)
    height = Squeeze(Shape<start = 0, end = 1>(costs), [0])
    width = Squeeze(width1, [0])
    never = Constant<value = float {inf}>()
    going = Constant<value = bool {1}>()
    start = Concat<axis = 0>([0.0], Expand(never, width1))
    last, ways = Loop<body = down (int64 y, bool c, float[] above)
        => (bool c1, float[] row, int64[] turns) {
      c1 = Identity(c)
      cost = Gather<axis = 0>(costs, y)
      end, cells, turns = Loop<body = right (int64 x, bool d, float left)
          => (bool d1, float cell, float out, int64 turn) {
        d1 = Identity(d)
        corner = Gather<axis = 0>(above, x)
        upper = Gather<axis = 0>(above, x + 1)
        isCorner = corner < upper & corner < left
        isUpper = upper < corner & upper < left
        turn0 = Where(isUpper, 1, 2)
        turn = Where(isCorner, 0, turn0)
        cell = Gather<axis = 0>(cost, x) + Where(isCorner, corner, Where(isUpper, upper, left))
        out = Identity(cell)
      }>(width, going, never)
      row = Concat<axis = 0>(Expand(never, [1]), cells)
    }>(height, going, start)
    y0 = height - 1
    x0 = width - 1
    far = height + width
    notEmpty = Min(height, width) > 0
    yEnd, xEnd, ys, xs = Loop<body = back (int64 k, bool e, int64 y, int64 x)
        => (bool e1, int64 nextY, int64 nextX, int64 outY, int64 outX) {
      outY = Identity(y)
      outX = Identity(x)
      turns = Gather<axis = 0>(ways, y)
      turn0 = Gather<axis = 0>(turns, x)
      isTop = y == 0
      isLeft = x == 0
      turn = Where(isTop, 2, Where(isLeft, 1, turn0))
      nextY = y - Where(turn == 2, 0, 1)
      nextX = x - Where(turn == 1, 0, 1)
      e1 = Not(isTop & isLeft)
    }>(far, notEmpty, y0, x0)
    reversed = Slice(Concat<axis = 0>(Unsqueeze(ys, [0]), Unsqueeze(xs, [0])), [-1], [-9223372036854775807], [1], [-1])
    output = int32(reversed)
  )";

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

ArrayRef<ContribOperator> loopc::importer::getContribIndexing() {
  static const ContribOperator operators[] = {
      {kContribDomain, "Unique", "", "x", "y, idx, counts", write<kUnique>},
      {kContribDomain, "GatherND", "", "data, indices", "output",
       write<kGatherND>},
      {kContribDomain, "SampleOp", "", "X", "Y", write<kSampleOp>},
      {kContribDomain, "CropAndResize",
       "mode, extrapolation_value: float = 0.0",
       "X, rois, batch_indices, crop_size", "Y", writeCropAndResize},
      {kContribDomain, "DynamicTimeWarping", "", "input", "output",
       write<kTimeWarping>},
  };
  return operators;
}
