//===- ExpandMinMax.cpp - Minima and maxima that keep NaN -----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LLVMPasses.h"

#include "llvm/Analysis/SimplifyQuery.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

/// Operations that are looked back through for what a loop carries.
static constexpr unsigned kDepth = 4;

/// True if `value` is computed in its block of what the loop has carried there.
static bool isCarried(const Value *value, const BasicBlock *block,
                      unsigned depth = 0) {
  auto *one = dyn_cast<Instruction>(value);
  if (!one || one->getParent() != block || depth > kDepth)
    return false;
  return isa<PHINode>(one) || (!one->mayReadFromMemory() &&
                               any_of(one->operands(), [&](const Use &use) {
                                 return isCarried(use, block, depth + 1);
                               }));
}

static bool isScalar(const Instruction &one) {
  return !one.getType()->isVectorTy();
}

/// LLVM shall make no branch of it.
static void markUnpredictable(SelectInst &select) {
  select.setMetadata(LLVMContext::MD_unpredictable,
                     MDNode::get(select.getContext(), {}));
}

static bool isMinMax(const IntrinsicInst *call) {
  return call && is_contained({Intrinsic::minimum, Intrinsic::maximum},
                              call->getIntrinsicID());
}

/// Whether the second operand of `call` shall be asked whether it is a number:
/// not what the loop carries, whose next iteration would wait for it.
static bool asksSecond(const IntrinsicInst &call) {
  Value *x = call.getArgOperand(0), *y = call.getArgOperand(1);
  bool xIsCarried = isCarried(x, call.getParent());
  bool yIsCarried = isCarried(y, call.getParent());
  // One by one, what is in memory is there before what is computed. Of two
  // that are carried the second one is the later (nest-shorten-recurrences).
  if (isScalar(call))
    return (xIsCarried && !yIsCarried) ||
           (isa<LoadInst>(y) && !isa<LoadInst>(x));
  // A vector may be read by the instruction itself, as its other operand.
  return xIsCarried || (isa<LoadInst>(x) && !yIsCarried);
}

void loopc::orderMinMax(Module &module) {
  if (!module.getTargetTriple().isX86())
    return;
  for (Function &function : module)
    for (Instruction &one : instructions(function))
      if (auto *call = dyn_cast<IntrinsicInst>(&one);
          isMinMax(call) && call->hasNoSignedZeros() &&
          none_of(call->args(), IsaPred<Constant>) && asksSecond(*call)) {
        Value *first = call->getArgOperand(0);
        call->setArgOperand(0, call->getArgOperand(1));
        call->setArgOperand(1, first);
      }
}

/// The first operand of `call` is asked whether it is a number.
static void expand(IntrinsicInst &call) {
  Value *x = call.getArgOperand(0), *y = call.getArgOperand(1);
  IRBuilder<> b(&call);
  bool isMinimum = call.getIntrinsicID() == Intrinsic::minimum;
  Value *isFirst = isMinimum ? b.CreateFCmpOLT(x, y) : b.CreateFCmpOGT(x, y);
  Value *result = b.CreateSelect(isFirst, x, y), *chosen;
  // A minimum and a maximum of the same numbers ask differently: of one
  // comparison for two moves LLVM makes a flag, and then a mask.
  if (isMinimum)
    chosen = b.CreateSelect(b.CreateFCmpORD(x, x), result, x);
  else
    chosen = b.CreateSelect(b.CreateFCmpUNO(x, x), x, result);
  for (Value *each : {result, chosen})
    if (auto *select = dyn_cast<SelectInst>(each); select && isScalar(call))
      markUnpredictable(*select);
  call.replaceAllUsesWith(chosen);
  call.eraseFromParent();
}

/// Integers, one by one: a comparison and a move that LLVM shall not make a
/// branch of, which recurrences would take by chance. A bound that is constant
/// is mostly kept, and a branch then is none to wait for.
static void expandInteger(MinMaxIntrinsic &call) {
  IRBuilder<> b(&call);
  Value *x = call.getLHS(), *y = call.getRHS();
  Value *chosen = b.CreateSelect(b.CreateICmp(call.getPredicate(), x, y), x, y);
  if (auto *select = dyn_cast<SelectInst>(chosen))
    markUnpredictable(*select);
  call.replaceAllUsesWith(chosen);
  call.eraseFromParent();
}

void loopc::expandMinMax(Module &module, TargetMachine &machine) {
  if (!module.getTargetTriple().isX86())
    return;
  SimplifyQuery query(module.getDataLayout());
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    bool hasMasks =
        machine.getSubtargetImpl(function)->checkFeatures("+avx512vl");
    for (Instruction &one : make_early_inc_range(instructions(function))) {
      if (auto *integer = dyn_cast<MinMaxIntrinsic>(&one);
          integer && isScalar(*integer)) {
        if (none_of(integer->args(), IsaPred<Constant>))
          expandInteger(*integer);
        continue;
      }
      auto *call = dyn_cast<IntrinsicInst>(&one);
      if (!isMinMax(call))
        continue;
      // LLVM asks neither where one is known to be a number.
      Type *type = call->getType()->getScalarType();
      if (hasMasks && call->hasNoSignedZeros() && !call->hasNoNaNs() &&
          (type->isFloatTy() || type->isDoubleTy()) &&
          none_of(call->args(), [&](Value *operand) {
            return isKnownNeverNaN(operand, query);
          }))
        expand(*call);
    }
  }
}
