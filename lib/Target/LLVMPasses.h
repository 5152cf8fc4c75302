//===- LLVMPasses.h - What is done to LLVM's IR beside its passes -*- C++
//-*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Steps from LLVM's IR to machine code that LLVM has not, or does at another
// place, each in the file of its name.

#ifndef LOOPC_LIB_TARGET_LLVMPASSES_H
#define LOOPC_LIB_TARGET_LLVMPASSES_H

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class Function;
class LLVMContext;
class Module;
class PassInstrumentationCallbacks;
class TargetMachine;
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

/// Makes `llvm.fmuladd` of a product and the sum, or difference, that alone
/// reads it, where both may be contracted; of all of them where `all`. The
/// target rounds it once if it has an instruction that does.
///
/// LLVM would do so itself where it selects instructions, but not at all levels
/// of optimisation, and what stands beside one another by then depends on the
/// passes before. So one model has the same bits at all levels.
void fuseProducts(llvm::Module &module, bool all);

/// Chooses what LLVM may choose in the arithmetic of `module`, and takes the
/// leave to choose away: its passes and code generators then make code of the
/// same bits, whichever of them run. To be called before all of them.
///
/// - Sums whose order is free (`reassoc`) become sums of vectors where LLVM's
///   vectorizer makes such of them, and stay in the order that they have then.
/// - Sums of the elements of a vector are sums of its halves.
/// - Products and sums that fuseProducts() has left are rounded each.
/// - Of a minimum of zeros it is chosen which one is returned
///   (orderMinMax()).
/// - Elementary functions of constants are simplified.
void settleArithmetic(llvm::Module &module,
                      llvm::FunctionAnalysisManager &analyses);

/// What functions get first of LLVM's passes.
llvm::FunctionPassManager buildCleanup();

/// Puts the operands of minima and maxima that may give either zero, none of
/// them constant, into the order in which expandMinMax() asks for them.
void orderMinMax(llvm::Module &module);

/// Makes LLVM's code generators keep the instructions that fill mask registers
/// from vectors, and check what they made where --verify-machine-code asks for
/// it. To be called before code is emitted, any number of times.
void adaptCodeGenerators();

/// Code generators leave out, for the modules of `context`, all that they can
/// do without, and select instructions quickly. Registers are allocated as
/// ever: what a loop carries stays in them, which is most of what makes the
/// code of -O0 slow.
void generateQuickly(llvm::LLVMContext &context);

/// Replaces products and sums that address memory in innermost loops of
/// `module` by induction variables (LLVM's loop strength reduction), where a
/// loop has more of them than addressing modes take in. Code generators then
/// leave it out: see emitCode().
void reduceStrength(llvm::Module &module,
                    llvm::FunctionAnalysisManager &analyses);

// Shapes, checks, memory, and the question whether a nest is for threads: a
// quarter to a half of a network's code, of which a run does each instruction
// once.

/// True if control may come to an instruction of `function` twice in a call.
bool hasLoops(const llvm::Function &function);

/// The functions of `module` that a run passes through once. Empty where they
/// are few instructions.
llvm::SmallPtrSet<llvm::Function *, 16> findRunOnce(llvm::Module &module);

/// Makes what `function`, which has no loops, allocates on the stack a part of
/// its frame. Where LLVM leaves it as it is, the vectors that it hands over on
/// the stack are aligned by the frame alone, whatever was allocated since.
void allocateInFrame(llvm::Function &function);

/// Marks the functions of `module` that a run passes through once, where they
/// are much: LLVM's passes leave them as they are, and their instructions are
/// selected by its quick way.
void markRunOnce(llvm::Module &module);

/// Keeps LLVM's passes from functions of shapes that they take far more than
/// linear time for. `callbacks` must outlive the passes.
void skipSlowPasses(llvm::PassInstrumentationCallbacks &callbacks);

} // namespace loopc

#endif // LOOPC_LIB_TARGET_LLVMPASSES_H
