//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The operations on lists: verifiers, effects and folds.

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/ONNX/IR/ONNX.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace loopc::loop;
using loopc::onnx::OptionalType;
using loopc::onnx::SeqType;

bool loopc::loop::isList(Type type) { return isa<SeqType, OptionalType>(type); }

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

static LogicalResult verifyList(Operation *op, Type type) {
  if (isList(type))
    return success();
  return op->emitOpError() << "list has type " << type
                           << " but must be a sequence or an optional";
}

static Type getListElement(Type list) {
  if (auto seq = dyn_cast<SeqType>(list))
    return seq.getElementType();
  return cast<OptionalType>(list).getElementType();
}

/// True for a tensor or memref of rank 1 with elements of `element`.
static bool isFlat(Type type, Type element) {
  auto shaped = dyn_cast<ShapedType>(type);
  return isa<RankedTensorType, MemRefType>(type) && shaped.getRank() == 1 &&
         shaped.getElementType() == element;
}

/// `parts`, an element of a list of type `list`: a list, or the elements and
/// the shape of a tensor.
static LogicalResult verifyElement(Operation *op, Type list, TypeRange parts) {
  if (failed(verifyList(op, list)))
    return failure();
  Type element = getListElement(list);
  if (isList(element)) {
    if (parts.size() == 1 && parts[0] == element)
      return success();
    return op->emitOpError()
           << "element of " << list << " must be one value of type " << element;
  }
  auto tensor = dyn_cast<TensorType>(element);
  Type i64 = IntegerType::get(op->getContext(), 64);
  if (tensor && parts.size() == 2 &&
      isFlat(parts[0], tensor.getElementType()) && isFlat(parts[1], i64) &&
      isa<TensorType>(parts[0]) == isa<TensorType>(parts[1]))
    return success();
  return op->emitOpError() << "element of " << list
                           << " must be its elements and its shape (i64), two "
                              "tensors or memrefs of rank 1";
}

LogicalResult SeqEmptyOp::verify() { return verifyList(*this, getType()); }
LogicalResult SeqEraseOp::verify() { return verifyList(*this, getType()); }
LogicalResult SeqRetainOp::verify() { return verifyList(*this, getType()); }
LogicalResult SeqReleaseOp::verify() {
  return verifyList(*this, getList().getType());
}
LogicalResult SeqLengthOp::verify() {
  return verifyList(*this, getList().getType());
}

LogicalResult SeqInsertOp::verify() {
  if (std::optional<StringRef> owner = getElementOwner();
      owner && *owner != "copy" && *owner != "move" && *owner != "share")
    return emitOpError("'element_owner' must be \"copy\", \"move\" or "
                       "\"share\" but is \"")
           << *owner << "\"";
  return verifyElement(*this, getType(), getElement().getTypes());
}

LogicalResult SeqAtOp::verify() {
  return verifyElement(*this, getList().getType(), getElement().getTypes());
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

void SeqInsertOp::getEffects(Effects &effects) {
  for (OpOperand &part : getElementMutable())
    if (isa<MemRefType>(part.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &part);
}

void SeqAtOp::getEffects(Effects &effects) {
  // Each memref is one more owner of what the list has.
  for (OpResult part : getElement())
    if (isa<MemRefType>(part.getType()))
      effects.emplace_back(MemoryEffects::Allocate::get(), part);
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

Operation *LoopDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

/// The insertion that made `list`; null where there is none, and behind
/// buffer-place-deallocations, where its operands are gone with it.
static SeqInsertOp getInsertion(Value list) {
  auto insert = list.getDefiningOp<SeqInsertOp>();
  return insert && !insert.getElementOwner() ? insert : SeqInsertOp();
}

/// The length of a list that is made of insertions into the empty one.
OpFoldResult SeqLengthOp::fold(FoldAdaptor) {
  int64_t length = 0;
  Value list = getList();
  while (SeqInsertOp insert = getInsertion(list)) {
    list = insert.getList();
    ++length;
  }
  if (list.getDefiningOp<SeqEmptyOp>())
    return IntegerAttr::get(IndexType::get(getContext()), length);
  return {};
}

/// The element that was inserted at the position.
LogicalResult SeqAtOp::fold(FoldAdaptor adaptor,
                            SmallVectorImpl<OpFoldResult> &results) {
  // Buffers may change behind an insertion, tensors do not.
  if (llvm::any_of(getElement().getTypes(), llvm::IsaPred<MemRefType>))
    return failure();
  auto constant = dyn_cast_or_null<IntegerAttr>(adaptor.getPosition());
  int64_t at = constant ? constant.getInt() : 0;
  Value list = getList();
  while (SeqInsertOp insert = getInsertion(list)) {
    std::optional<int64_t> inserted = getConstantIntValue(insert.getPosition());
    if ((constant && inserted == at) ||
        (list == getList() && insert.getPosition() == getPosition())) {
      if (ValueRange(insert.getElement()).getTypes() != getElement().getTypes())
        return failure();
      llvm::append_range(results, insert.getElement());
      return success();
    }
    if (!constant || !inserted)
      return failure();
    if (*inserted < at)
      --at;
    list = insert.getList();
  }
  return failure();
}
