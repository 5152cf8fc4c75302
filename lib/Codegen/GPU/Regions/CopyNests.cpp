//===- CopyNests.cpp - Copies, element by element -------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Codegen/GPU/Regions/CopyNests.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace loopc;

scf::ForOp loopc::expandCopy(ImplicitLocOpBuilder &b, memref::CopyOp copy) {
  b.setInsertionPoint(copy);
  auto type = cast<MemRefType>(copy.getTarget().getType());
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  SmallVector<Value> extents;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    extents.push_back(b.createOrFold<memref::DimOp>(copy.getTarget(), axis));
  scf::ForOp outer;
  SmallVector<Value> place;
  for (Value extent : extents) {
    auto loop = scf::ForOp::create(b, zero, extent, one);
    markParallel(loop);
    outer = outer ? outer : loop;
    place.push_back(loop.getInductionVar());
    b.setInsertionPointToStart(loop.getBody());
  }
  Value element = memref::LoadOp::create(b, copy.getSource(), place);
  memref::StoreOp::create(b, element, copy.getTarget(), place);
  copy.erase();
  return outer;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

bool loopc::isResultCast(Operation *op) {
  auto cast = dyn_cast<UnrealizedConversionCastOp>(op);
  return cast && cast.getNumOperands() == 1 &&
         isa<MemRefType>(cast.getOperand(0).getType()) &&
         llvm::all_of(cast->getUsers(), llvm::IsaPred<LLVM::StoreOp>);
}

/// True where `stride` is `size` times `inner`.
static bool isProduct(OpFoldResult stride, OpFoldResult size,
                      OpFoldResult inner) {
  std::optional<int64_t> known = getConstantIntValue(stride),
                         extent = getConstantIntValue(size),
                         step = getConstantIntValue(inner);
  if (extent && step)
    return known == *extent * *step;
  if (step == 1)
    return isEqualConstantIntOrValue(stride, size);
  auto value = dyn_cast<Value>(stride);
  auto product = value ? value.getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  auto is = [&](Value one, Value other) {
    return isEqualConstantIntOrValue(getAsOpFoldResult(one), size) &&
           isEqualConstantIntOrValue(getAsOpFoldResult(other), inner);
  };
  return product && (is(product.getLhs(), product.getRhs()) ||
                     is(product.getRhs(), product.getLhs()));
}

/// True where the elements of `value` certainly lie one behind the other. The
/// type of a result says so of all.
static bool isInOrder(Value value) {
  while (auto cast = value.getDefiningOp<memref::CastOp>())
    value = cast.getSource();
  auto type = cast<MemRefType>(value.getType());
  if (type.getLayout().isIdentity() || type.getRank() == 0)
    return true;
  auto view = value.getDefiningOp<memref::ReinterpretCastOp>();
  if (!view)
    return false;
  SmallVector<OpFoldResult> sizes = view.getMixedSizes();
  SmallVector<OpFoldResult> strides = view.getMixedStrides();
  if (!isConstantIntValue(strides.back(), 1))
    return false;
  for (size_t k = 0; k + 1 < sizes.size(); ++k)
    if (!isProduct(strides[k], sizes[k + 1], strides[k + 1]))
      return false;
  return true;
}

void loopc::copyStridedResults(func::FuncOp function) {
  auto casts = collectOps(function, [&](Operation *op) {
    return isResultCast(op) && !isInOrder(op->getOperand(0));
  });
  for (Operation *cast : casts) {
    ImplicitLocOpBuilder b(cast->getLoc(), cast);
    Value value = cast->getOperand(0);
    auto type = mlir::cast<MemRefType>(value.getType());
    SmallVector<Value> extents;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      if (type.isDynamicDim(axis))
        extents.push_back(memref::DimOp::create(b, value, axis));
    Value made = memref::AllocOp::create(b, type, extents);
    expandCopy(b, memref::CopyOp::create(b, value, made));
    cast->setOperand(0, made);
  }
}
