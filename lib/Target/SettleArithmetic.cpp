//===- SettleArithmetic.cpp - The same bits at all levels -----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fast-math flags let LLVM choose, and what it chooses depends on the passes
// that have run, and on the code around. So the few passes that have a use for
// them run first, at all levels and on each loop alone, and the flags are gone
// behind them.
//
//===----------------------------------------------------------------------===//

#include "LLVMPasses.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"
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

/// True if LLVM may make vectors of an innermost loop, and thereby choose the
/// order of a sum or the zero that a minimum is.
static bool hasChoice(const Loop &loop) {
  bool isChoice = false;
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &one : *block) {
      if (one.getType()->isVectorTy() ||
          (isa<CallBase>(one) && !isa<IntrinsicInst>(one)))
        return false;
      isChoice |=
          isFreeSum(one) || (isFreeMinimum(one) && isCarried(one, loop));
    }
  return isChoice;
}

/// True for a function in which LLVM's passes would choose: it is simplified
/// when that is done. (Attention over 1,024 positions takes 0.94 of the time.)
static bool leavesChoice(Function &function, const LoopInfo &loops) {
  return any_of(instructions(function), [&](const Instruction &one) {
    if (isOfConstant(one))
      return true;
    const Loop *loop = loops.getLoopFor(one.getParent());
    return loop &&
           (isFreeSum(one) || (isFreeMinimum(one) && isCarried(one, *loop)));
  });
}

/// Makes vectors of a loop, header first, that has a choice. What is chosen
/// shall depend on the loop alone, and not on what the code around it tells of
/// its extents and its memory: the loop is a function of its own meanwhile.
/// False where it cannot be; the sums then stay in their order.
static bool vectorizeAlone(ArrayRef<BasicBlock *> blocks,
                           FunctionPassManager &passes,
                           FunctionAnalysisManager &analyses) {
  CodeExtractorAnalysisCache cache(*blocks.front()->getParent());
  Function *alone = CodeExtractor(blocks).extractCodeRegion(cache);
  if (!alone)
    return false;
  passes.run(*alone, analyses);
  analyses.clear(*alone, alone->getName());
  InlineFunctionInfo info;
  bool isInlined =
      InlineFunction(*cast<CallBase>(alone->user_back()), info).isSuccess();
  if (isInlined)
    alone->eraseFromParent();
  return true;
}

/// Chooses in all loops of `function`.
static void vectorizeChoices(Function &function, FunctionPassManager &passes,
                             FunctionAnalysisManager &analyses) {
  SmallVector<SmallVector<BasicBlock *>> found;
  for (Loop *loop :
       analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
    if (loop->isInnermost() && hasChoice(*loop))
      found.emplace_back(loop->blocks());
  bool isChanged = false;
  for (ArrayRef<BasicBlock *> blocks : found)
    isChanged |= vectorizeAlone(blocks, passes, analyses);
  if (!isChanged)
    return;
  analyses.invalidate(function, PreservedAnalyses::none());
  // What the loops hand on went through memory.
  analyses.invalidate(
      function, SROAPass(SROAOptions::PreserveCFG).run(function, analyses));
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
  FunctionPassManager simplify = buildCleanup(), passes = buildCleanup();
  passes.addPass(LoopVectorizePass());
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    bool isSimplified =
        !function.hasOptNone() &&
        leavesChoice(function, analyses.getResult<LoopAnalysis>(function));
    if (!function.hasOptNone())
      vectorizeChoices(function, passes, analyses);
    dropFlags(function);
    if (isSimplified)
      simplify.run(function, analyses);
    analyses.invalidate(function, PreservedAnalyses::none());
  }
  orderMinMax(module);
}
