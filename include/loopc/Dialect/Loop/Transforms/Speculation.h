//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Speculation: what may run where the program would not have run it (loop_zero,
// loop_order). This is the only place that asks MLIR's isSpeculatable, which
// holds remsi, remui, floordivsi and others for operations that cannot fail;
// utils/check_source.py refuses it elsewhere.

#ifndef LOOPC_DIALECT_LOOP_TRANSFORMS_SPECULATION_H
#define LOOPC_DIALECT_LOOP_TRANSFORMS_SPECULATION_H

#include "mlir/Interfaces/LoopLikeInterface.h"

namespace loopc {

/// True if `op`, and all in it, may run where it would not have run, whatever
/// numbers its operands are: before a loop that has no trips, in lanes that are
/// masked out, on the host before a kernel. It has no effects, it ends, and it
/// can neither trap nor ask for memory that the program might not have asked
/// for:
///
/// - Integer division and remainder (arith, index, LLVM): where the divisor is
///   neither 0 nor, if signed, -1. x86 traps; LLVM takes for granted that the
///   divisor is not 0, and removes the check that says so.
/// - Affine maps: where they divide by positive constants alone, as above.
/// - math.ipowi: never. 0 to a negative power divides by zero.
/// - Other arithmetic, on numbers and vectors: always. Overflow, shifts by too
///   much and conversions out of range give a poison value, which is no error
///   until something branches on it.
/// - tensor.empty, splat, generate, pad: where the extents are computed from
///   extents and constants, and are not negative. Memory of a size that data
///   say may not be there.
/// - Loops and branches: where MLIR knows that they end, and all in them may
///   run.
/// - Reading elements (tensor.extract, linalg and others): where it stands
///   behind the same checks; before them, where `needsNoCheck` holds.
/// - tensor.cast, views, reshapes: as reading elements. They touch none, who
///   reads them does; but one that takes an element of an axis stays where that
///   is known to be there.
/// - What writes memory, lists, calls and checks: never. They have effects.
///
/// The checks in front of `op` must still be there: who moves it before a check
/// asks `mayRunBeforeChecks`.
bool isSafeToSpeculate(mlir::Operation *op);

/// The same where `op` moves before checks (loop.check) that stand in front of
/// it: it also stays within its tensors whether or not they hold.
bool mayRunBeforeChecks(mlir::Operation *op);

/// True if the body of `loop` runs at least once, for all that is known before.
bool runsForSure(mlir::LoopLikeOpInterface loop);

/// True if `tensor` has an element wherever `map` leads to in a space of such
/// extents, whatever the checks before it say.
bool hasElements(mlir::Value tensor, mlir::AffineMap map,
                 llvm::ArrayRef<mlir::OpFoldResult> space);

/// True if `op`, of the body of `loop`, may run before `loop`; `check` is the
/// first check in the body, or null. A loop that runs for sure would have run
/// what stands in front of its checks. Of another one nobody knows that what
/// the body reads is there: a check of it may hold because there is no
/// iteration, and who writes MLIR by hand may have written none.
bool mayRunBeforeLoop(mlir::Operation *op, mlir::LoopLikeOpInterface loop,
                      mlir::Operation *check);

/// True if `size` is computed from constants and extents of what is there, and
/// is not negative: memory of such a size may be asked for where the program
/// would not have asked for it.
bool isSizeOfExtents(mlir::Value size);

} // namespace loopc

#endif // LOOPC_DIALECT_LOOP_TRANSFORMS_SPECULATION_H
