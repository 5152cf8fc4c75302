//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Outlining.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace loopc;

void Captures::add(Value value) {
  Operation *def = value.getDefiningOp();
  if (def && def->hasTrait<OpTrait::ConstantLike>() &&
      isa<arith::ArithDialect>(def->getDialect()))
    constants.insert(def);
  else
    values.insert(value);
}

void Captures::addAll(Operation *nest) {
  nest->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!nest->isAncestor(operand.getParentBlock()->getParentOp()))
        add(operand);
  });
}

bool loopc::isPlainOp(Operation *op) {
  return isa<arith::ArithDialect, math::MathDialect, vector::VectorDialect,
             scf::SCFDialect>(op->getDialect()) ||
         isa<memref::LoadOp, memref::StoreOp, memref::SubViewOp,
             memref::ReinterpretCastOp, memref::CastOp,
             memref::ExtractStridedMetadataOp, memref::DimOp,
             affine::AffineApplyOp, affine::AffineDelinearizeIndexOp,
             affine::AffineLinearizeIndexOp>(op);
}

/// The memory that `value` is a view of.
static Value rootOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto view = dyn_cast<ViewLikeOpInterface>(op))
      value = view.getViewSource();
    else if (isa<memref::ReinterpretCastOp, memref::CastOp,
                 memref::ExtractStridedMetadataOp>(op))
      value = op->getOperand(0);
    else
      break;
  }
  return value;
}

// What was allocated here, and is reached through one argument alone, is not
// reached through another. That says something where it is written.
void loopc::markPrivateMemory(func::FuncOp made, unsigned first,
                              ArrayRef<Value> captures, Operation *nest) {
  llvm::SmallPtrSet<Value, 8> written;
  nest->walk([&](Operation *op) {
    if (isa<memref::StoreOp, vector::StoreOp, vector::MaskedStoreOp,
            vector::TransferWriteOp>(op))
      for (Value operand : op->getOperands())
        if (isa<MemRefType>(operand.getType()))
          written.insert(rootOf(operand));
  });
  llvm::DenseMap<Value, unsigned> users;
  for (Value capture : captures)
    if (isa<MemRefType>(capture.getType()))
      ++users[rootOf(capture)];
  for (auto [k, capture] : llvm::enumerate(captures)) {
    if (!isa<MemRefType>(capture.getType()))
      continue;
    Value root = rootOf(capture);
    if (users[root] == 1 && written.contains(root) &&
        root.getDefiningOp<memref::AllocOp>())
      made.setArgAttr(first + k, LLVM::LLVMDialect::getNoAliasAttrName(),
                      UnitAttr::get(made.getContext()));
  }
}

bool loopc::isEqualFunction(func::FuncOp one, func::FuncOp other) {
  return one.getFunctionType() == other.getFunctionType() &&
         one.getArgAttrsAttr() == other.getArgAttrsAttr() &&
         OperationEquivalence::isRegionEquivalentTo(
             &one.getBody(), &other.getBody(),
             OperationEquivalence::IgnoreLocations);
}
