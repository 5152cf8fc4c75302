//===- BranchOnWraps.h - Indices that count from the end --------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_TARGET_BRANCHONWRAPS_H
#define LOOPC_LIB_TARGET_BRANCHONWRAPS_H

namespace llvm {
class Module;
} // namespace llvm

namespace loopc {

/// Makes a branch of what adds the extent to a negative index that is checked
/// then, one by one:
///
///     %i = select (icmp slt %x, 0), (add %x, %n), %x
///     br (icmp ult %i, %n), ...
///     ->  br (icmp slt %x, 0), %wrap, %next, !prof rarely
///         %i = phi [%x], [(add %x, %n), %wrap]
///
/// Hardly any index is negative. What is looked up in a loop by what was looked
/// up before then waits for the memory alone.
void branchOnWraps(llvm::Module &module);

} // namespace loopc

#endif // LOOPC_LIB_TARGET_BRANCHONWRAPS_H
