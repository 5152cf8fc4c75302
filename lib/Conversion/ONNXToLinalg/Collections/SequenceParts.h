//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Elements of sequences that a tensor is split into.

#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_COLLECTIONS_SEQUENCEPARTS_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_COLLECTIONS_SEQUENCEPARTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace loopc {

/// Reads elements of what SplitToSequence makes of slices of one element each
/// from the tensor that is split, and the length from its extent:
///
///   SequenceAt(SplitToSequence(x), i)  ->  Gather(x, i)
///
/// The extents of a sequence's elements are known to nobody, those of a slice
/// are; and a sequence that nothing else reads is not made.
void readPartsInPlace(mlir::func::FuncOp function);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_COLLECTIONS_SEQUENCEPARTS_H
