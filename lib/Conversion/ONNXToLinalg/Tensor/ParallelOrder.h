//===- ParallelOrder.h - The best elements of lines, by threads -*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_TENSOR_PARALLELORDER_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_TENSOR_PARALLELORDER_H

#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"

namespace loopc {

/// What TopK asks for.
struct BestOfLines {
  mlir::Value input; ///< of integers or floats
  bool isUnsigned = false, isLargest = true;
  bool isPacked = false; ///< value and index fit in one number of 64 bits
  int64_t axis = 0;
  /// How many of each line: as the result's extent, and as an index that is no
  /// larger than the line.
  mlir::OpFoldResult count;
  mlir::Value k;
};

/// The positions (i64) along the axis of the best elements of each line, best
/// first, by reductions that threads share, without a heap. Few are found one
/// after the other, as the best of those that are worse than the one before;
/// for many it is counted how many are better than each element, which takes
/// the square of the line's extent. Between two entries the larger (or smaller)
/// value is better, NaN being the largest of all; of equal ones the lower index
/// is. The lines have elements.
mlir::Value findBestOfLines(NodeLowering &l, const BestOfLines &order);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_TENSOR_PARALLELORDER_H
