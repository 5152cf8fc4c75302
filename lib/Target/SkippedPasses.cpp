//===- SkippedPasses.cpp - Passes that some code is kept from -------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Two of LLVM's passes do not end in reasonable time for some code that is
// otherwise quickly compiled:
//
// - Constant propagation (SCCP) visits the users of a value whenever its range
//   grows, the last one first. Where each of a chain of numbers in a loop is
//   made of two before it, that is once for each path: 1.6^n times.
// - The vectorizer of instructions without a loop (SLP) tries vectors of all
//   the lanes that it finds alike in a block: of hundreds it takes minutes.

#include "LLVMPasses.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"

using namespace llvm;

/// Visits of constant propagation that a function is worth.
static constexpr uint64_t kMaxVisits = 1 << 18;
/// Scalar instructions of a block that are searched for vectors.
static constexpr unsigned kMaxScalars = 256;

/// How often the range of `value` may grow: with each of what it is made of.
static uint64_t countChanges(const Instruction &value,
                             const DenseMap<const Value *, uint64_t> &changes) {
  Type *type = value.getType();
  // Ranges widen at once where values come together, and what memory holds is
  // not known.
  if (!type->isIntOrIntVectorTy() || isa<LoadInst>(value))
    return 0;
  if (isa<PHINode, CallBase>(value))
    return 1;
  uint64_t count = 0;
  for (const Value *operand : value.operands())
    count += isa<Argument>(operand) ? 1 : changes.lookup(operand);
  // A range of few numbers is soon all of them.
  unsigned bits = std::min(type->getScalarSizeInBits(), 30u);
  return std::min(count, uint64_t(2) << bits);
}

/// True if constant propagation visits instructions far more often than there
/// are any.
static bool hasManyPaths(const Function &function) {
  if (function.isDeclaration())
    return false;
  DenseMap<const Value *, uint64_t> changes;
  uint64_t visits = 0;
  for (const BasicBlock *block :
       ReversePostOrderTraversal<const Function *>(&function))
    for (const Instruction &one : *block)
      if (uint64_t count = countChanges(one, changes)) {
        changes[&one] = count;
        visits += count;
        if (visits > kMaxVisits)
          return true;
      }
  return false;
}

/// True if a block has very many instructions that might be lanes.
static bool hasManyScalars(const Function &function) {
  return any_of(function, [](const BasicBlock &block) {
    auto isScalar = [](const Instruction &one) {
      return isa<BinaryOperator, CmpInst, SelectInst, CastInst>(one) &&
             !one.getType()->isVectorTy();
    };
    return block.size() > kMaxScalars &&
           count_if(block, isScalar) > kMaxScalars;
  });
}

void loopc::skipSlowPasses(PassInstrumentationCallbacks &callbacks) {
  callbacks.registerShouldRunOptionalPassCallback([](StringRef pass, Any ir) {
    if (const auto *module = any_cast<const Module *>(&ir))
      return pass != "IPSCCPPass" || none_of(**module, hasManyPaths);
    const auto *function = any_cast<const Function *>(&ir);
    if (!function)
      return true;
    if (pass == "SCCPPass")
      return !hasManyPaths(**function);
    return pass != "SLPVectorizerPass" || !hasManyScalars(**function);
  });
}
