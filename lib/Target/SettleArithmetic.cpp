//===- SettleArithmetic.cpp - The same bits at all levels -----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fast-math flags let LLVM choose, and what it chooses depends on the passes
// that have run. So the few passes that have a use for them run first, at all
// levels, and the flags are gone behind them.
//
//===----------------------------------------------------------------------===//

#include "LLVMPasses.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Vectorize/LoopVectorize.h"

using namespace llvm;

/// True for a sum or a product whose order is free, but for those that are in
/// vectors already.
static bool isFreeSum(const Instruction &one) {
  return isa<FPMathOperator>(one) && one.hasAllowReassoc() &&
         !one.getType()->isVectorTy() && !isa<CallBase>(one);
}

/// True for a minimum of which the order is free, and with it the zero.
static bool isFreeMinimum(const Instruction &one) {
  auto *call = dyn_cast<IntrinsicInst>(&one);
  return call && !call->getType()->isVectorTy() &&
         is_contained({Intrinsic::minimum, Intrinsic::maximum},
                      call->getIntrinsicID()) &&
         call->hasNoSignedZeros();
}

/// True if the loop of `one` goes on with what it makes: a value, or an element
/// in memory.
static bool isCarried(const Instruction &one, const Loop &loop) {
  return any_of(one.operands(), [&](const Use &use) {
    if (auto *phi = dyn_cast<PHINode>(use))
      return loop.contains(phi);
    auto *load = dyn_cast<LoadInst>(use);
    return load && any_of(one.users(), [&](const User *user) {
             auto *store = dyn_cast<StoreInst>(user);
             return store &&
                    store->getPointerOperand() == load->getPointerOperand();
           });
  });
}

/// True for an elementary function of a constant, which LLVM has simpler forms
/// of that round differently: x^2 is a product.
static bool isOfConstant(const Instruction &one) {
  auto *call = dyn_cast<CallInst>(&one);
  if (!call || !call->getType()->isFPOrFPVectorTy())
    return false;
  Intrinsic::ID which = call->getIntrinsicID();
  bool isElementary =
      which == Intrinsic::not_intrinsic ||
      is_contained(
          {Intrinsic::pow, Intrinsic::powi, Intrinsic::ldexp, Intrinsic::exp,
           Intrinsic::exp2, Intrinsic::exp10, Intrinsic::log, Intrinsic::log2,
           Intrinsic::log10, Intrinsic::sin, Intrinsic::cos, Intrinsic::tan,
           Intrinsic::sinh, Intrinsic::cosh, Intrinsic::tanh, Intrinsic::asin,
           Intrinsic::acos, Intrinsic::atan, Intrinsic::atan2},
          which);
  return isElementary && any_of(call->args(), [](const Use &use) {
           return isa<ConstantFP, ConstantInt, ConstantDataVector>(use);
         });
}

/// True if LLVM's passes may choose between results of `function`.
static bool hasChoice(Function &function, const LoopInfo &loops) {
  return any_of(instructions(function), [&](const Instruction &one) {
    if (isOfConstant(one))
      return true;
    const Loop *loop = loops.getLoopFor(one.getParent());
    return loop &&
           (isFreeSum(one) || (isFreeMinimum(one) && isCarried(one, *loop)));
  });
}

/// Writes out the sum of the elements of a vector, in the order that LLVM's
/// code generators would choose.
static void expandReduction(IntrinsicInst &call) {
  IRBuilder<> b(&call);
  bool isSum = call.getIntrinsicID() == Intrinsic::vector_reduce_fadd;
  unsigned code = isSum ? Instruction::FAdd : Instruction::FMul;
  Value *start = call.getArgOperand(0);
  Value *all =
      getShuffleReduction(b, call.getArgOperand(1), code,
                          TargetTransformInfo::ReductionShuffle::SplitHalf);
  all = b.CreateBinOp(static_cast<Instruction::BinaryOps>(code), start, all);
  call.replaceAllUsesWith(all);
  call.eraseFromParent();
}

/// Expands sums of vectors in free order, and takes the flags away.
static void dropFlags(Function &function) {
  for (Instruction &one : make_early_inc_range(instructions(function))) {
    if (!isa<FPMathOperator>(one))
      continue;
    auto *call = dyn_cast<IntrinsicInst>(&one);
    bool isReduction = call && is_contained({Intrinsic::vector_reduce_fadd,
                                             Intrinsic::vector_reduce_fmul},
                                            call->getIntrinsicID());
    if (isReduction && call->hasAllowReassoc()) {
      auto *type = dyn_cast<FixedVectorType>(call->getArgOperand(1)->getType());
      // One instruction adds up a vector whose length the machine tells, in the
      // order that the machine has; without the flag it would be another.
      if (!type)
        continue;
      // LLVM halves what is a power of two; others it adds in order.
      if (isPowerOf2_32(type->getNumElements())) {
        expandReduction(*call);
        continue;
      }
    }
    one.setHasAllowReassoc(false);
    one.setHasAllowContract(false);
  }
}

void loopc::settleArithmetic(Module &module,
                             FunctionAnalysisManager &analyses) {
  FunctionPassManager passes = buildCleanup();
  passes.addPass(LoopVectorizePass());
  // LLVM 22 says that it keeps them, and takes the check in front of a vector
  // loop in a loop for poison.
  passes.addPass(InvalidateAnalysisPass<ScalarEvolutionAnalysis>());
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    if (!function.hasOptNone() &&
        hasChoice(function, analyses.getResult<LoopAnalysis>(function)))
      analyses.invalidate(function, passes.run(function, analyses));
    dropFlags(function);
    analyses.invalidate(function, PreservedAnalyses::none());
  }
  orderMinMax(module);
}
