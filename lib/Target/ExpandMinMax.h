//===- ExpandMinMax.h - Minima and maxima that keep NaN ---------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_TARGET_EXPANDMINMAX_H
#define LOOPC_LIB_TARGET_EXPANDMINMAX_H

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace loopc {

/// Writes minima and maxima that are NaN where an operand is, and may give
/// either zero, as x86 computes them: its instructions give the second operand
/// where one is NaN, so that only the first has to be asked.
///
///     %m = call nsz @llvm.minimum(%x, %y)
///     ->  %m = select (fcmp ord %x), (select (fcmp olt %x, %y), %x, %y), %x
///
/// Of vectors, with mask registers, that is a comparison and one minimum, where
/// LLVM takes a move more. What is asked is the operand that a recurrence has
/// not just computed: the test is off its path then.
void expandMinMax(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace loopc

#endif // LOOPC_LIB_TARGET_EXPANDMINMAX_H
