//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What broadcasting makes of values, once it is known along which axes.

#ifndef LOOPC_LIB_DIALECT_LOOP_TRANSFORMS_REPEATEDVALUES_H
#define LOOPC_LIB_DIALECT_LOOP_TRANSFORMS_REPEATEDVALUES_H

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/IR/PatternMatch.h"

namespace loopc::loop {

/// What is known of the dimension of a value along an axis.
using DimOf =
    llvm::function_ref<mlir::OpFoldResult(mlir::Value value, int64_t axis)>;

/// Branches in `loop` between a value and what it is when it is repeated along
/// the axes in which its extent is 1 become that, where types and `dimOf` tell
/// which axes these are; the branches are left without uses. True if there were
/// some.
bool repeatAlongKnown(mlir::RewriterBase &rewriter, LoopOp loop, DimOf dimOf);

} // namespace loopc::loop

#endif // LOOPC_LIB_DIALECT_LOOP_TRANSFORMS_REPEATEDVALUES_H
