//===- ReduceStrength.h - Strength reduction where it pays ------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_TARGET_REDUCESTRENGTH_H
#define LOOPC_TARGET_REDUCESTRENGTH_H

#include "llvm/IR/PassManager.h"

namespace loopc {

/// Replaces products and sums that address memory in innermost loops of
/// `module` by induction variables (LLVM's loop strength reduction), where a
/// loop has more of them than addressing modes take in. Code generators then
/// leave it out: see emitCode().
void reduceStrength(llvm::Module &module,
                    llvm::FunctionAnalysisManager &analyses);

} // namespace loopc

#endif // LOOPC_TARGET_REDUCESTRENGTH_H
