//===- Resize.h - What Resize is made of ------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_IMAGE_RESIZE_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_IMAGE_RESIZE_H

#include "Framework/ElementwiseUtils.h"

namespace loopc::resize {

enum class Mode { Nearest, Linear, Cubic };

/// What the attributes of a Resize (or Upsample) say.
struct Options {
  Mode mode = Mode::Nearest;
  std::string coordinates = "asymmetric", nearest = "floor", policy = "stretch";
  double cubicCoefficient = -0.75, extrapolation = 0;
  bool excludesOutside = false, antialiases = false;
  /// Resize-10 rounds up where an axis becomes shorter, as its tests have it.
  bool roundsUpWhereShorter = false;
};

/// One axis on its way.
struct Axis {
  int64_t axis;
  mlir::OpFoldResult from, to; ///< extents
  mlir::Value scale;           ///< f64
  mlir::Value begin, end;      ///< f64, of tf_crop_and_resize; else null
  /// By sizes the scale is rounded, and the extent times it need not be `to`.
  bool isBySize = false;
};

/// Images lie along the last two axes.
inline constexpr int64_t kImageAxes = 2;
/// Elements are repeated up to so many times without a table.
inline constexpr int64_t kMaxRepeats = 1 << 16;

/// An index as f64, and an f64 without a fraction as an index.
mlir::Value realOf(ScalarBuilder &s, mlir::Value index);
mlir::Value indexOf(ScalarBuilder &s, mlir::Value real);
/// The nearest place on an axis of `extent` elements.
mlir::Value clampTo(ScalarBuilder &s, mlir::Value index, mlir::Value extent);
/// The table of the places on the axis, f64.
mlir::Value placeTable(NodeLowering &l, const Options &options,
                       const Axis &axis);
/// True (i1) where a place lies outside of the input (tf_crop_and_resize).
mlir::Value isOutside(ScalarBuilder &s, mlir::Value place, mlir::Value extent);

/// All axes at once: each element of the result is one of the input.
mlir::Value resizeNearest(NodeLowering &l, const Options &options,
                          mlir::Value x, llvm::ArrayRef<Axis> axes);

} // namespace loopc::resize

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_IMAGE_RESIZE_H
