//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Positions that count with the iterations of a loop, and the bounds that
// slices hold them within. Where slices begin and end is clamped to the extent
// of what they are taken from, in each iteration; whether that ever changes a
// position is known before the loop, as it changes by a constant from one
// iteration to the next.

#ifndef LOOPC_LIB_DIALECT_LOOP_TRANSFORMS_VERSIONPOSITIONS_H
#define LOOPC_LIB_DIALECT_LOOP_TRANSFORMS_VERSIONPOSITIONS_H

#include "VersionConditions.h"

namespace loopc::loop {

/// In `copy`, the version of a loop, or one in it, `loop`: the minima and
/// maxima that `value`, which an iteration computes, depends on become the
/// positions that they clamp, under conditions that they are these in every
/// iteration. Returns whether there were some.
///
///     %begin = arith.minsi %i * 4, %n
///     ->  %i * 4    // if (trips - 1) * 4 <= %n
bool assumePositionsKept(mlir::RewriterBase &rewriter, LoopOp copy, LoopOp loop,
                         mlir::Value value, VersionConditions &conditions);

} // namespace loopc::loop

#endif // LOOPC_LIB_DIALECT_LOOP_TRANSFORMS_VERSIONPOSITIONS_H
