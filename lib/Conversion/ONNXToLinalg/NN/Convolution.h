//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What the lowerings of convolutions share.

#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_NN_CONVOLUTION_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_NN_CONVOLUTION_H

#include "Window.h"

namespace loopc {

/// Loops of a convolution, and axes of what it reads and writes.
enum class ConvolutionAxis {
  Image,
  Group,
  In,        ///< channel of the image
  Out,       ///< channel of the result
  Positions, ///< of the result, along all spatial axes
  Leading,   ///< those but the last
  Last,      ///< the last of them
  Offsets,   ///< in the kernel
  Places,    ///< of the image: what a position reads at an offset
  Point,     ///< in a kernel of one element
};

/// The loops of a convolution in some order, from the outermost one.
class ConvolutionLoops {
public:
  /// There is a loop over groups if there is more than one, and, if
  /// `skipsPoints`, none over kernel axes of one element.
  ConvolutionLoops(NodeLowering &l, const Window &window, int64_t group,
                   llvm::ArrayRef<ConvolutionAxis> order,
                   bool skipsPoints = false);
  /// What a tensor with these axes has at an iteration.
  mlir::AffineMap map(llvm::ArrayRef<ConvolutionAxis> axes) const;

private:
  mlir::MLIRContext *context;
  const Window &window;
  unsigned count = 0;
  mlir::AffineExpr image, group, in, out;
  llvm::SmallVector<mlir::AffineExpr> positions, offsets;
};

/// The convolution of `x`, [N, C, in...], with `w`, [M, C / group, kernel...],
/// in elements of `type`; `bias`, [M], may be null.
mlir::Value convolve(NodeLowering &l, mlir::Value x, mlir::Value w,
                     int64_t group, const Window &window, mlir::Value bias,
                     mlir::Type type);

/// True if `convolve`, given the same, makes vectors along the last axis of the
/// result and not along its channels.
bool runsAlongPositions(NodeLowering &l, mlir::Value x, mlir::Value w,
                        int64_t group, const Window &window);

/// Input `i`, a bias or other value for each of `channels` channels; fails
/// after an error where it cannot be.
llvm::LogicalResult checkPerChannel(NodeLowering &l, unsigned i,
                                    mlir::OpFoldResult channels,
                                    llvm::StringRef name);

/// TransposedConvolution.cpp.
llvm::LogicalResult lowerConvTranspose(NodeLowering &l);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_NN_CONVOLUTION_H
