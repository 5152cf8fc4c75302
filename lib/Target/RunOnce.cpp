//===- RunOnce.cpp - Code that a run passes through once ------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LLVMPasses.h"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// Instructions that are worth leaving as they are: a run that passes through
/// so many calls a dozen nests.
static constexpr unsigned kMinInstructions = 500;

bool loopc::hasLoops(const Function &function) {
  SmallVector<std::pair<const BasicBlock *, const BasicBlock *>> edges;
  if (!function.isDeclaration())
    FindFunctionBackedges(function, edges);
  return !edges.empty();
}

namespace {
/// The functions that a run may call any number of times: those that loops
/// call, those that are handed to threads, and what all of these call.
class Repeated {
public:
  explicit Repeated(Module &module);
  bool contains(Function &function) const { return found.contains(&function); }

private:
  void addCode(BasicBlock &block, bool withCalls);
  void add(Constant *constant);

  SmallSetVector<Function *, 16> found;
  SmallPtrSet<const GlobalVariable *, 8> tables; ///< that were looked into
};
} // namespace

/// Adds the functions that `constant` refers to, by way of tables, too.
void Repeated::add(Constant *constant) {
  if (auto *function = dyn_cast<Function>(constant)) {
    if (!function->isDeclaration())
      found.insert(function);
    return;
  }
  if (auto *table = dyn_cast<GlobalVariable>(constant))
    if (!table->hasInitializer() || !tables.insert(table).second)
      return;
  for (Value *operand : constant->operands())
    if (auto *nested = dyn_cast<Constant>(operand))
      add(nested);
}

/// Adds the functions that `block` hands on and, with `withCalls`, those that
/// it calls.
void Repeated::addCode(BasicBlock &block, bool withCalls) {
  for (Instruction &one : block)
    for (Use &operand : one.operands()) {
      auto *call = dyn_cast<CallBase>(&one);
      if (call && call->isCallee(&operand) && !withCalls)
        continue;
      if (auto *constant = dyn_cast<Constant>(operand))
        add(constant);
    }
}

Repeated::Repeated(Module &module) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    for (auto blocks = scc_begin(&function); !blocks.isAtEnd(); ++blocks)
      for (BasicBlock *block : *blocks)
        // What the model's own functions hand to the runtime is the run.
        if (blocks.hasCycle() || function.hasLocalLinkage())
          addCode(*block, /*withCalls=*/blocks.hasCycle());
  }
  for (size_t k = 0; k < found.size(); ++k)
    for (BasicBlock &block : *found[k])
      addCode(block, /*withCalls=*/true);
}

SmallPtrSet<Function *, 16> loopc::findRunOnce(Module &module) {
  Repeated repeated(module);
  SmallPtrSet<Function *, 16> once;
  uint64_t size = 0;
  for (Function &function : module)
    if (!function.isDeclaration() && !repeated.contains(function) &&
        !hasLoops(function)) {
      once.insert(&function);
      size += function.getInstructionCount();
    }
  if (size < kMinInstructions)
    once.clear();
  return once;
}

void loopc::allocateInFrame(Function &function) {
  BasicBlock &entry = function.getEntryBlock();
  for (Instruction &one : make_early_inc_range(instructions(function)))
    if (auto *memory = dyn_cast<AllocaInst>(&one);
        memory && memory->getParent() != &entry &&
        isa<ConstantInt>(memory->getArraySize()))
      memory->moveBefore(entry, entry.getFirstInsertionPt());
}

void loopc::markRunOnce(Module &module) {
  for (Function *function : findRunOnce(module)) {
    allocateInFrame(*function);
    function->addFnAttr(Attribute::OptimizeNone);
    function->addFnAttr(Attribute::NoInline);
  }
}
