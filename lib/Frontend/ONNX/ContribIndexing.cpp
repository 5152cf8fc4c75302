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
static constexpr char kGatherND[] = "places = Cast<to = 7>(indices)\n"
                                    "output = GatherND(data, places)";
static constexpr char kSampleOp[] = "Y = Identity(X)";

//===----------------------------------------------------------------------===//
// CropAndResize
//===----------------------------------------------------------------------===//

/// at_A [regions, cells]: where the samples of one axis are, in pixels, and
/// in_A whether that is within the image. The two corners that a region is
/// given by are columns `from` and `to` of rois.
static std::string writeSamples(StringRef axis, int from, int to) {
  return llvm::formatv("from_{0}0 = Constant<value_ints = [{1}]>()\n"
                       "to_{0}0 = Constant<value_ints = [{2}]>()\n"
                       "from_{0} = Gather<axis = 1>(boxes, from_{0}0)\n"
                       "to_{0} = Gather<axis = 1>(boxes, to_{0}0)\n"
                       "part_{0} = Constant<value_ints = [{3}]>()\n"
                       "cells_{0}1 = Gather(sizes, part_{0})\n"
                       "cells_{0} = Squeeze(cells_{0}1, front)\n"
                       "extent_{0}0 = Shape<start = {4}, end = {5}>(X)\n"
                       "last_{0}0 = Sub(extent_{0}0, one1)\n"
                       "last_{0} = CastLike(last_{0}0, boxes)\n"
                       "steps_{0}0 = Range(nought, cells_{0}, one)\n"
                       "steps_{0} = CastLike(steps_{0}0, boxes)\n"
                       "gaps_{0}0 = Sub(cells_{0}, one)\n"
                       "gaps_{0}1 = Max(gaps_{0}0, one)\n"
                       "gaps_{0} = CastLike(gaps_{0}1, boxes)\n"
                       "span_{0} = Sub(to_{0}, from_{0})\n"
                       "length_{0} = Mul(span_{0}, last_{0})\n"
                       "scale_{0} = Div(length_{0}, gaps_{0})\n"
                       "begin_{0} = Mul(from_{0}, last_{0})\n"
                       "way_{0} = Mul(scale_{0}, steps_{0})\n"
                       "several_{0} = Add(begin_{0}, way_{0})\n"
                       // A single cell stands in the middle.
                       "sum_{0} = Add(from_{0}, to_{0})\n"
                       "middle_{0}0 = Mul(sum_{0}, last_{0})\n"
                       "middle_{0} = Mul(middle_{0}0, half)\n"
                       "isOne_{0} = LessOrEqual(cells_{0}, one)\n"
                       "at_{0} = Where(isOne_{0}, middle_{0}, several_{0})\n"
                       "low_{0} = GreaterOrEqual(at_{0}, none)\n"
                       "high_{0} = LessOrEqual(at_{0}, last_{0})\n"
                       "in_{0} = And(low_{0}, high_{0})\n",
                       axis, from, to, axis == "y" ? 0 : 1, axis == "y" ? 2 : 3,
                       axis == "y" ? 3 : 4);
}

/// `to` [regions, rows, columns, channels]: the pixels at `y` and `x`.
static std::string writePixels(StringRef y, StringRef x, StringRef to) {
  return llvm::formatv("{2}_y0 = Where(in_y, {0}, none)\n"
                       "{2}_x0 = Where(in_x, {1}, none)\n"
                       "{2}_y1 = Cast<to = 7>({2}_y0)\n"
                       "{2}_x1 = Cast<to = 7>({2}_x0)\n"
                       "{2}_y2 = Unsqueeze({2}_y1, at23)\n"
                       "{2}_x2 = Unsqueeze({2}_x1, at13)\n"
                       "{2}_y3 = Expand({2}_y2, each)\n"
                       "{2}_x3 = Expand({2}_x2, each)\n"
                       "{2}_b = Expand(images, each)\n"
                       "{2}_places = Concat<axis = 3>({2}_b, {2}_y3, {2}_x3)\n"
                       "{2} = GatherND(pixels, {2}_places)\n",
                       y, x, to);
}

static std::string writeCropAndResize(const ContribCall &call) {
  StringRef mode = call.getString("mode");
  if (!mode.empty() && mode != "bilinear" && mode != "nearest")
    return call.refuse("the mode '" + mode + "' is unknown");
  std::string text = "boxes = Identity(rois)\n"
                     "sizes = Cast<to = 7>(crop_size)\n"
                     "front = Constant<value_ints = [0]>()\n"
                     "one1 = Constant<value_ints = [1]>()\n"
                     "one = Constant<value_int = 1>()\n"
                     "nought = Constant<value_int = 0>()\n"
                     "half0 = Constant<value_float = 0.5>()\n"
                     "half = CastLike(half0, boxes)\n"
                     "none = Sub(half, half)\n"
                     "at13 = Constant<value_ints = [1, 3]>()\n"
                     "at23 = Constant<value_ints = [2, 3]>()\n"
                     "at123 = Constant<value_ints = [1, 2, 3]>()\n"
                     "images0 = Cast<to = 7>(batch_indices)\n"
                     "images = Unsqueeze(images0, at123)\n"
                     "count = Shape(images0)\n"
                     "each = Concat<axis = 0>(count, sizes, one1)\n"
                     "pixels = Transpose<perm = [0, 2, 3, 1]>(X)\n" +
                     writeSamples("y", 0, 2) + writeSamples("x", 1, 3);
  if (mode == "nearest") {
    // Halves go up, as they are not below 0.
    text += "up_y = Add(at_y, half)\nnear_y = Floor(up_y)\n"
            "up_x = Add(at_x, half)\nnear_x = Floor(up_x)\n" +
            writePixels("near_y", "near_x", "found");
  } else {
    text += "top = Floor(at_y)\nbottom = Ceil(at_y)\n"
            "left = Floor(at_x)\nright = Ceil(at_x)\n" +
            writePixels("top", "left", "p00") +
            writePixels("top", "right", "p01") +
            writePixels("bottom", "left", "p10") +
            writePixels("bottom", "right", "p11") +
            "share_y0 = Sub(at_y, top)\n"
            "share_x0 = Sub(at_x, left)\n"
            "share_y = Unsqueeze(share_y0, at23)\n"
            "share_x = Unsqueeze(share_x0, at13)\n"
            "over_top = Sub(p01, p00)\n"
            "over_bottom = Sub(p11, p10)\n"
            "part_top = Mul(over_top, share_x)\n"
            "part_bottom = Mul(over_bottom, share_x)\n"
            "line_top = Add(p00, part_top)\n"
            "line_bottom = Add(p10, part_bottom)\n"
            "over = Sub(line_bottom, line_top)\n"
            "part = Mul(over, share_y)\n"
            "found = Add(line_top, part)\n";
  }
  return text + "rows_in = Unsqueeze(in_y, at23)\n"
                "columns_in = Unsqueeze(in_x, at13)\n"
                "inside = And(rows_in, columns_in)\n"
                "outer0 = Constant<value_float: float = "
                "@extrapolation_value>()\n"
                "outer = CastLike(outer0, X)\n"
                "kept = Where(inside, found, outer)\n"
                "Y = Transpose<perm = [0, 3, 1, 2]>(kept)\n";
}

//===----------------------------------------------------------------------===//
// DynamicTimeWarping
//===----------------------------------------------------------------------===//

/// Least costs row by row: a cell is reached from above and left of it (0),
/// from above (1) or from the left (2). Then back from the last cell to the
/// first.
static constexpr char kTimeWarping[] = R"(
    extents = Shape<start = -2>(input)
    costs = Reshape<allowzero = 1>(input, extents)
    zero = Constant<value_int = 0>()
    one = Constant<value_int = 1>()
    two = Constant<value_int = 2>()
    front = Constant<value_ints = [0]>()
    unit = Constant<value_ints = [1]>()
    height1 = Shape<start = 0, end = 1>(costs)
    width1 = Shape<start = 1, end = 2>(costs)
    height = Squeeze(height1, front)
    width = Squeeze(width1, front)
    never = Constant<value = float {inf}>()
    going = Constant<value = bool {1}>()
    origin = Constant<value_floats = [0.0]>()
    walls = Expand(never, width1)
    start = Concat<axis = 0>(origin, walls)
    last, ways = Loop<body = down (int64 y, bool c, float[] above)
        => (bool c1, float[] row, int64[] turns) {
      c1 = Identity(c)
      cost = Gather<axis = 0>(costs, y)
      end, cells, turns = Loop<body = right (int64 x, bool d, float left)
          => (bool d1, float cell, float out, int64 turn) {
        d1 = Identity(d)
        behind = Add(x, one)
        corner = Gather<axis = 0>(above, x)
        upper = Gather<axis = 0>(above, behind)
        own = Gather<axis = 0>(cost, x)
        a1 = Less(corner, upper)
        a2 = Less(corner, left)
        isCorner = And(a1, a2)
        b1 = Less(upper, corner)
        b2 = Less(upper, left)
        isUpper = And(b1, b2)
        turn0 = Where(isUpper, one, two)
        turn = Where(isCorner, zero, turn0)
        least0 = Where(isUpper, upper, left)
        least = Where(isCorner, corner, least0)
        cell = Add(own, least)
        out = Identity(cell)
      }>(width, going, never)
      wall = Expand(never, unit)
      row = Concat<axis = 0>(wall, cells)
    }>(height, going, start)
    y0 = Sub(height, one)
    x0 = Sub(width, one)
    far = Add(height, width)
    notEmpty0 = Min(height, width)
    notEmpty = Greater(notEmpty0, zero)
    yEnd, xEnd, ys, xs = Loop<body = back (int64 k, bool e, int64 y, int64 x)
        => (bool e1, int64 nextY, int64 nextX, int64 outY, int64 outX) {
      outY = Identity(y)
      outX = Identity(x)
      turns = Gather<axis = 0>(ways, y)
      turn0 = Gather<axis = 0>(turns, x)
      isTop = Equal(y, zero)
      isLeft = Equal(x, zero)
      turn1 = Where(isLeft, one, turn0)
      turn = Where(isTop, two, turn1)
      isLevel = Equal(turn, two)
      isDown = Equal(turn, one)
      lessY = Where(isLevel, zero, one)
      lessX = Where(isDown, zero, one)
      nextY = Sub(y, lessY)
      nextX = Sub(x, lessX)
      atEnd = And(isTop, isLeft)
      e1 = Not(atEnd)
    }>(far, notEmpty, y0, x0)
    all0 = Unsqueeze(ys, front)
    all1 = Unsqueeze(xs, front)
    all = Concat<axis = 0>(all0, all1)
    from = Constant<value_ints = [-1]>()
    most = Constant<value_ints = [-9223372036854775807]>()
    reversed = Slice(all, from, most, unit, from)
    output = Cast<to = 6>(reversed)
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
