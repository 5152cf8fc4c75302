//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What convolutions and poolings share: windows that slide over padded axes.

#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_NN_WINDOW_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_NN_WINDOW_H

#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"

namespace loopc {

/// How a window slides along one axis.
struct WindowAxis {
  mlir::OpFoldResult in, kernel;
  int64_t stride = 1, dilation = 1;
  /// Padding, and the extent of the result.
  mlir::OpFoldResult before = {}, after = {}, out = {};

  /// Position in the padded axis that element `k` of window `o` reads.
  mlir::AffineExpr position(mlir::AffineExpr o, mlir::AffineExpr k) const {
    return o * stride + k * dilation;
  }
  /// True if it has no padding: then, unless their number is rounded up,
  /// windows read elements only.
  bool isUnpadded() const {
    return mlir::isConstantIntValue(before, 0) &&
           mlir::isConstantIntValue(after, 0);
  }
};
using Window = llvm::SmallVector<WindowAxis>;

/// Extent of a kernel with its holes.
mlir::OpFoldResult effectiveKernel(NodeLowering &l, const WindowAxis &axis);
/// Reads kernel_shape, strides, dilations and padding of a node whose spatial
/// axes have the extents `in`, and its weights `weights` where there are any;
/// settles the extents of the result. The run ends with an error where a window
/// does not fit.
mlir::FailureOr<Window>
readWindow(NodeLowering &l, llvm::ArrayRef<mlir::OpFoldResult> in,
           llvm::ArrayRef<mlir::OpFoldResult> weights = {});
/// Attribute `name`, with one value for each of `rank` axes, else `fallback`.
/// Fails after an error where it has another number of values.
mlir::FailureOr<llvm::SmallVector<int64_t>>
perAxis(NodeLowering &l, llvm::StringRef name, int64_t rank, int64_t fallback);
/// Attribute kernel_shape, held to the weights' `dims` where these are given.
mlir::FailureOr<Dims> kernelShape(NodeLowering &l, int64_t rank,
                                  llvm::ArrayRef<mlir::OpFoldResult> dims);
/// `value`, [N, C, spatial...] (or with the spatial axes from `first` on), with
/// the padding of `window` holding `filler`, and as much more behind as its
/// windows reach; along axis `only` of the window, where one is given.
mlir::Value padSpatial(NodeLowering &l, mlir::Value value, const Window &window,
                       mlir::Value filler, int64_t first = 2,
                       std::optional<unsigned> only = std::nullopt);
/// The extents of the result along the window's axes.
Dims outExtents(const Window &window);

/// Axis `axis` of `value` as two, of which the first has `parts` elements; no
/// copy. With one part `value` stays as it is.
mlir::Value splitAxis(NodeLowering &l, mlir::Value value, int64_t axis,
                      int64_t parts);
/// Undoes splitAxis on a value whose axis had the extent `extent`.
mlir::Value mergeAxis(NodeLowering &l, mlir::Value value, int64_t axis,
                      int64_t parts, mlir::OpFoldResult extent);
/// What a convolution adds to: `bias` of each channel (axis 1 of `dims`), or 0.
mlir::Value biasOrZero(NodeLowering &l, mlir::Value bias,
                       llvm::ArrayRef<mlir::OpFoldResult> dims,
                       mlir::Type type);
/// DeformConv.cpp.
llvm::LogicalResult lowerDeformConv(NodeLowering &l);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_NN_WINDOW_H
