//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Nest/Analysis/Views.h"

#include "loopc/Support/SubViews.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace loopc;

bool loopc::isViewOp(Operation *op) {
  // memref.transpose is a view without MLIR's interface.
  return isa<ViewLikeOpInterface, memref::TransposeOp>(op) &&
         isa<BaseMemRefType>(op->getOperand(0).getType());
}

Value loopc::getViewSource(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isViewOp(op) && isa<BaseMemRefType>(value.getType())
             ? op->getOperand(0)
             : Value();
}

Value loopc::getViewRoot(Value value) {
  while (Value source = getViewSource(value))
    value = source;
  return value;
}

/// The buffers that `value` may be of: those that branches and selects choose
/// from.
static llvm::SmallPtrSet<Value, 4> findRoots(Value value) {
  llvm::SmallPtrSet<Value, 4> roots;
  llvm::SmallPtrSet<Value, 8> seen;
  SmallVector<Value> open{value};
  while (!open.empty()) {
    Value root = getViewRoot(open.pop_back_val());
    if (!seen.insert(root).second)
      continue;
    Operation *op = root.getDefiningOp();
    if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) {
      open.append({select.getTrueValue(), select.getFalseValue()});
    } else if (isa_and_nonnull<scf::IfOp, scf::IndexSwitchOp>(op)) {
      unsigned number = cast<OpResult>(root).getResultNumber();
      for (Region &region : op->getRegions())
        open.push_back(region.front().getTerminator()->getOperand(number));
    } else {
      roots.insert(root);
    }
  }
  return roots;
}

bool loopc::mayBeOneBuffer(Value one, Value other) {
  llvm::SmallPtrSet<Value, 4> others = findRoots(other);
  return llvm::any_of(findRoots(one),
                      [&](Value root) { return others.contains(root); });
}

std::optional<OpFoldResult> loopc::findExtentOfView(memref::DimOp dim) {
  std::optional<int64_t> axis = dim.getConstantIndex();
  Operation *op = axis ? dim.getSource().getDefiningOp() : nullptr;
  if (auto view = dyn_cast_or_null<memref::ExpandShapeOp>(op))
    return view.getMixedOutputShape()[*axis];
  if (auto view = dyn_cast_or_null<memref::ReinterpretCastOp>(op))
    return view.getMixedSizes()[*axis];
  auto view = dyn_cast_or_null<memref::SubViewOp>(op);
  if (!view)
    return std::nullopt;
  llvm::SmallBitVector dropped = getDroppedAxes(view);
  for (auto [k, size] : llvm::enumerate(view.getMixedSizes()))
    if (!dropped.test(k) && (*axis)-- == 0)
      return size;
  return std::nullopt;
}

bool loopc::allUsesOfViews(Value buffer,
                           function_ref<bool(OpOperand &)> isExpected) {
  SmallVector<Value> open{buffer};
  while (!open.empty())
    for (OpOperand &use : open.pop_back_val().getUses()) {
      bool isView = false;
      for (Value result : use.getOwner()->getResults())
        if (getViewSource(result) == use.get()) {
          open.push_back(result);
          isView = true;
        }
      if (!isView && !isExpected(use))
        return false;
    }
  return true;
}

bool loopc::allUsersOfViews(Value buffer,
                            function_ref<bool(Operation *)> isExpected) {
  return allUsesOfViews(
      buffer, [&](OpOperand &use) { return isExpected(use.getOwner()); });
}
