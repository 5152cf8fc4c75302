//===- MaskMoves.cpp - Mask registers that LLVM would lose ----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// LLVM 22's x86-compress-evex makes of
//
//   vpmovq2m %xmm5, %k5
//   kmovd    %k5, %eax          ->   vmovmskpd %xmm5, %eax
//
// and erases the first instruction where it finds no other use of the mask. An
// instruction that reads and writes the mask (`kshiftlb $6, %k5, %k5`) it takes
// for one that only writes it: then the mask is read before it is written. Nor
// does it look whether the vector's register, from 16 on, can be encoded in the
// new instruction, which would read another one. (llvm-project's issues 198197
// and 191304; both are in 22.1.8.)
//
// A use of the mask between the two, which stands for no machine code, keeps
// LLVM from it. The rest of what that pass does is right, and stays.

#include "LLVMPasses.h"

#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

/// LLVM's own -verify-machineinstrs checks after each pass, and complains of
/// what LLVM's passes tell one another of live ranges, which code does not
/// depend on.
static cl::opt<bool> verifyMachineCode(
    "verify-machine-code", cl::Hidden,
    cl::desc("Check machine code before it is written, and stop the process "
             "where it is wrong"));

namespace {
class KeepMaskMoves : public MachineFunctionPass {
public:
  static char ID;
  KeepMaskMoves() : MachineFunctionPass(ID) {}

  StringRef getPassName() const override { return "loopc keep mask moves"; }

  bool runOnMachineFunction(MachineFunction &function) override {
    const TargetInstrInfo &info = *function.getSubtarget().getInstrInfo();
    bool changed = false;
    for (MachineBasicBlock &block : function)
      for (MachineInstr &move : make_early_inc_range(block)) {
        // The target's numbers of instructions are not public; names are.
        StringRef name = info.getName(move.getOpcode());
        if (!name.starts_with("VPMOV") || !name.contains("2MZ") ||
            move.getOperand(0).isDead())
          continue;
        BuildMI(block, std::next(move.getIterator()), move.getDebugLoc(),
                info.get(TargetOpcode::KILL))
            .addReg(move.getOperand(0).getReg(), RegState::Implicit);
        changed = true;
      }
    return changed;
  }
};
} // namespace

char KeepMaskMoves::ID = 0;

void loopc::adaptCodeGenerators() {
  // For all machines of the process, once: threads get here.
  static RegisterTargetPassConfigCallback registered(
      [](TargetMachine &machine, PassManagerBase &, TargetPassConfig *config) {
        // What follows is the target's own, at all levels of optimisation.
        if (machine.getTargetTriple().isX86())
          config->insertPass(&PatchableFunctionID, new KeepMaskMoves());
        // What follows writes.
        if (verifyMachineCode)
          config->insertPass(&StackMapLivenessID,
                             createMachineVerifierPass("After all passes"));
      });
}
