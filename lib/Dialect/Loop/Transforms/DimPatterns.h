//===- DimPatterns.h - Simplification of dimensions -------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What loop-hoist-dims and loop-version-shapes simplify copies of loops with.

#ifndef LOOPC_LIB_DIALECT_LOOP_TRANSFORMS_DIMPATTERNS_H
#define LOOPC_LIB_DIALECT_LOOP_TRANSFORMS_DIMPATTERNS_H

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/IR/PatternMatch.h"

namespace loopc::loop {

/// The canonicalisations of what computes dimensions, and those that find the
/// dimensions of results in operands. With `keepPorts`, none that puts another
/// loop.loop in the place of one, or takes one apart: who assumes something of
/// port k of a loop finds it there again.
mlir::FrozenRewritePatternSet getDimPatterns(mlir::MLIRContext *context,
                                             bool keepPorts = false);

/// Simplifies what is in `loop` with them; `listener` hears of it.
void simplifyDims(LoopOp loop, const mlir::FrozenRewritePatternSet &patterns,
                  mlir::RewriterBase::Listener *listener = nullptr);

/// Replaces every `tensor.dim value, axis` by `known`.
void replaceDims(mlir::RewriterBase &rewriter, mlir::Value value, int64_t axis,
                 mlir::OpFoldResult known);

/// What is known of the dimension of a value along an axis.
using DimOf =
    llvm::function_ref<mlir::OpFoldResult(mlir::Value value, int64_t axis)>;

/// Branches in `loop` between a value and what it is when it is repeated along
/// the axes in which its extent is 1 become that, where types and `dimOf` tell
/// which axes these are; the branches are left without uses. True if there were
/// some.
bool repeatAlongKnown(mlir::RewriterBase &rewriter, LoopOp loop, DimOf dimOf);

} // namespace loopc::loop

#endif // LOOPC_LIB_DIALECT_LOOP_TRANSFORMS_DIMPATTERNS_H
