//===- FuseProducts.cpp - Sums of products, rounded once ------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LLVMPasses.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace llvm;

static bool mayContract(const Instruction &one, bool all) {
  return all || one.hasAllowContract();
}

/// The product that `value` is, if only `reader` reads it, in its own block: a
/// sum in a loop shall not compute again what was computed in front of it.
static BinaryOperator *getProduct(Value *value, const Instruction &reader,
                                  bool all) {
  auto *product = dyn_cast<BinaryOperator>(value);
  bool isProduct = product && product->getOpcode() == Instruction::FMul &&
                   product->hasOneUse() &&
                   product->getParent() == reader.getParent() &&
                   mayContract(*product, all);
  return isProduct ? product : nullptr;
}

/// x y + z and x y - z, or z + x y and z - x y.
static void fuse(BinaryOperator &sum, bool all) {
  bool isDifference = sum.getOpcode() == Instruction::FSub;
  unsigned side = 0;
  BinaryOperator *product = getProduct(sum.getOperand(0), sum, all);
  if (!product) {
    side = 1;
    product = getProduct(sum.getOperand(1), sum, all);
  }
  if (!product)
    return;
  IRBuilder<> b(&sum);
  b.setFastMathFlags(sum.getFastMathFlags() & product->getFastMathFlags());
  Value *x = product->getOperand(0), *rest = sum.getOperand(1 - side);
  if (isDifference && side == 0)
    rest = b.CreateFNeg(rest);
  else if (isDifference)
    x = b.CreateFNeg(x);
  Value *fused = b.CreateIntrinsic(Intrinsic::fmuladd, {sum.getType()},
                                   {x, product->getOperand(1), rest});
  sum.replaceAllUsesWith(fused);
  sum.eraseFromParent();
  product->eraseFromParent();
}

void loopc::fuseProducts(Module &module, bool all) {
  for (Function &function : module)
    for (BasicBlock &block : function)
      for (Instruction &one : make_early_inc_range(block)) {
        auto *sum = dyn_cast<BinaryOperator>(&one);
        if (sum &&
            is_contained({Instruction::FAdd, Instruction::FSub},
                         sum->getOpcode()) &&
            mayContract(*sum, all))
          fuse(*sum, all);
      }
}
