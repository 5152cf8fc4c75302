//===- MergePorts.h - Equal ports of a loop become one ----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_LOOP_TRANSFORMS_MERGEPORTS_H
#define LOOPC_DIALECT_LOOP_TRANSFORMS_MERGEPORTS_H

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/IR/PatternMatch.h"

namespace loopc::loop {

/// Makes one port of those of `loop` that are equal: carried values that begin
/// alike and go on alike, and tensors that collect one value the same way. Adds
/// to `work` how many operations were looked at. \returns true if there were
/// any; `loop` is another operation then.
bool mergeEqualPorts(mlir::RewriterBase &rewriter, LoopOp loop, uint64_t &work);

} // namespace loopc::loop

#endif // LOOPC_DIALECT_LOOP_TRANSFORMS_MERGEPORTS_H
