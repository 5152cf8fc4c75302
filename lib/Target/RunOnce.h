//===- RunOnce.h - Code that a run passes through once ----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shapes, checks, memory, and the question whether a nest is for threads: a
// quarter to a half of a network's code, of which a run does each instruction
// once.
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_TARGET_RUNONCE_H
#define LOOPC_LIB_TARGET_RUNONCE_H

#include "llvm/ADT/SmallPtrSet.h"

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace loopc {

/// True if control may come to an instruction of `function` twice in a call.
bool hasLoops(const llvm::Function &function);

/// The functions of `module` that a run passes through once. Empty where they
/// are few instructions.
llvm::SmallPtrSet<llvm::Function *, 16> findRunOnce(llvm::Module &module);

/// Marks the functions of `module` that a run passes through once, where they
/// are much: LLVM's passes leave them as they are, and their instructions are
/// selected by its quick way.
void markRunOnce(llvm::Module &module);

} // namespace loopc

#endif // LOOPC_LIB_TARGET_RUNONCE_H
