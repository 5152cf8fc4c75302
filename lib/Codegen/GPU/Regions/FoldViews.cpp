//===- FoldViews.cpp - Elements of views as elements of buffers -----------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Codegen/GPU/Regions/CopyNests.h"
#include "loopc/Codegen/GPU/Regions/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {
#define GEN_PASS_DEF_FOLDKERNELVIEWS
#include "loopc/Codegen/GPU/Regions/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

namespace {
/// A view whose axes, and whose offset, are those of the buffer.
class RowView {
public:
  explicit RowView(memref::ReinterpretCastOp view)
      : view(view), type(dyn_cast<MemRefType>(view.getSource().getType())) {}

  bool match();
  /// What the element at `place` of the view is in the buffer.
  SmallVector<Value> place(ImplicitLocOpBuilder &b, ValueRange place) const;

private:
  bool matchOffset(OpFoldResult offset);
  bool matchProduct(Value value);
  int findAxis(OpFoldResult stride) const;
  bool isStride(OpFoldResult stride, unsigned axis) const;
  bool isWithin(OpFoldResult size, unsigned axis) const;

  memref::ReinterpretCastOp view;
  MemRefType type;
  SmallVector<int64_t> strides;
  SmallVector<memref::ExtractStridedMetadataOp> descriptions;
  /// Where the view begins, along each axis of the buffer; null: 0.
  SmallVector<Value> begins;
  /// The buffer's axis that each of the view's is; -1: none, its extent is 1.
  SmallVector<int> axes;
};
} // namespace

bool RowView::isStride(OpFoldResult stride, unsigned axis) const {
  if (std::optional<int64_t> known = getConstantIntValue(stride))
    return known == strides[axis];
  return llvm::any_of(
      descriptions, [&](memref::ExtractStridedMetadataOp description) {
        return cast<Value>(stride) == description.getStrides()[axis];
      });
}

/// True where a view of this size along `axis` does not go on into the next
/// row: two places are two elements then.
bool RowView::isWithin(OpFoldResult size, unsigned axis) const {
  std::optional<int64_t> known = getConstantIntValue(size);
  if (known && !type.isDynamicDim(axis))
    return *known <= type.getDimSize(axis);
  Value source = memref::ReinterpretCastOp(view).getSource();
  auto alloc = source.getDefiningOp<memref::AllocOp>();
  if (alloc && isEqualConstantIntOrValue(size, alloc.getMixedSizes()[axis]))
    return true;
  auto value = dyn_cast<Value>(size);
  auto dim = value ? value.getDefiningOp<memref::DimOp>() : memref::DimOp();
  return dim && dim.getSource() == source &&
         dim.getConstantIndex() == static_cast<int64_t>(axis);
}

/// The axis of the buffer, of more than one element, with this stride; -1 where
/// there are none or several.
int RowView::findAxis(OpFoldResult stride) const {
  int found = -1;
  for (unsigned axis = 0; axis < strides.size(); ++axis) {
    if (!isStride(stride, axis) || type.getDimSize(axis) == 1)
      continue;
    if (found >= 0)
      return -1;
    found = axis;
  }
  return found;
}

/// A number times the stride of an axis.
bool RowView::matchProduct(Value value) {
  auto take = [&](Value one, Value other) {
    for (auto [factor, rest] : {std::pair(one, other), std::pair(other, one)})
      for (unsigned axis = 0; axis < strides.size(); ++axis)
        if (!begins[axis] && type.getDimSize(axis) != 1 &&
            isStride(getAsOpFoldResult(rest), axis)) {
          begins[axis] = factor;
          return true;
        }
    return false;
  };
  if (auto product = value.getDefiningOp<arith::MulIOp>())
    return take(product.getLhs(), product.getRhs());
  auto apply = value.getDefiningOp<affine::AffineApplyOp>();
  if (!apply || apply.getNumOperands() != 2 ||
      apply.getMap().getNumSymbols() != 2)
    return false;
  AffineExpr one = getAffineSymbolExpr(0, value.getContext());
  AffineExpr other = getAffineSymbolExpr(1, value.getContext());
  return apply.getMap().getResult(0) == one * other &&
         take(apply.getOperand(0), apply.getOperand(1));
}

bool RowView::matchOffset(OpFoldResult offset) {
  if (isConstantIntValue(offset, 0))
    return true;
  auto value = dyn_cast<Value>(offset);
  if (!value)
    return false;
  if (matchProduct(value))
    return true;
  if (auto sum = value.getDefiningOp<arith::AddIOp>())
    return matchOffset(getAsOpFoldResult(sum.getLhs())) &&
           matchOffset(getAsOpFoldResult(sum.getRhs()));
  return false;
}

bool RowView::match() {
  if (!type || !type.getLayout().isIdentity())
    return false;
  strides = type.getStridesAndOffset().first;
  for (Operation *user : view.getSource().getUsers())
    if (auto description = dyn_cast<memref::ExtractStridedMetadataOp>(user))
      descriptions.push_back(description);
  begins.resize(strides.size());
  if (!matchOffset(view.getMixedOffsets().front()))
    return false;
  int last = -1;
  for (auto [size, stride] :
       llvm::zip_equal(view.getMixedSizes(), view.getMixedStrides())) {
    if (isConstantIntValue(size, 1)) {
      axes.push_back(-1);
      continue;
    }
    int axis = findAxis(stride);
    // Not turned round, and no axis twice.
    if (axis <= last || !isWithin(size, axis))
      return false;
    axes.push_back(axis);
    last = axis;
  }
  return true;
}

SmallVector<Value> RowView::place(ImplicitLocOpBuilder &b,
                                  ValueRange place) const {
  SmallVector<Value> whole = begins;
  for (auto [axis, at] : llvm::zip_equal(axes, place))
    if (axis >= 0)
      whole[axis] =
          whole[axis] ? b.createOrFold<arith::AddIOp>(whole[axis], at) : at;
  for (Value &at : whole)
    if (!at)
      at = arith::ConstantIndexOp::create(b, 0);
  return whole;
}

/// Replaces the extents of memref.reinterpret_cast by what they were made with,
/// and lets loads and stores that are of such a view be of the whole buffer
/// where the view's offset and strides say which axis is which. So an iteration
/// that writes a row of a buffer says which row.
static void foldViews(Operation *root) {
  SmallVector<memref::ReinterpretCastOp> views;
  root->walk([&](memref::ReinterpretCastOp view) { views.push_back(view); });
  for (memref::ReinterpretCastOp op : views) {
    RowView view(op);
    bool isRow = view.match();
    for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
      ImplicitLocOpBuilder b(user->getLoc(), user);
      if (auto dim = dyn_cast<memref::DimOp>(user)) {
        if (std::optional<int64_t> axis = dim.getConstantIndex()) {
          dim.replaceAllUsesWith(getValueOrCreateConstantIndexOp(
              b, dim.getLoc(), op.getMixedSizes()[*axis]));
          dim.erase();
        }
      } else if (auto load = dyn_cast<memref::LoadOp>(user); load && isRow) {
        load.getIndicesMutable().assign(view.place(b, load.getIndices()));
        load.getMemrefMutable().assign(op.getSource());
      } else if (auto store = dyn_cast<memref::StoreOp>(user); store && isRow) {
        store.getIndicesMutable().assign(view.place(b, store.getIndices()));
        store.getMemrefMutable().assign(op.getSource());
      }
    }
    if (op.use_empty())
      op.erase();
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct FoldKernelViews : loopc::impl::FoldKernelViewsBase<FoldKernelViews> {
  using FoldKernelViewsBase::FoldKernelViewsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    foldViews(function);
    copyStridedResults(function);
  }
};
} // namespace
