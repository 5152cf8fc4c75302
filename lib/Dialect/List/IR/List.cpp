//===- List.cpp - Lists of tensors and of lists ---------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/List/IR/List.h"
#include "loopc/Support/StoredElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace loopc::list;

#include "loopc/Dialect/List/IR/ListDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "loopc/Dialect/List/IR/ListTypes.cpp.inc"

#define GET_OP_CLASSES
#include "loopc/Dialect/List/IR/ListOps.cpp.inc"

void ListDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "loopc/Dialect/List/IR/ListTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "loopc/Dialect/List/IR/ListOps.cpp.inc"
      >();
}

Operation *ListDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult ListType::verify(function_ref<InFlightDiagnostic()> emitError,
                               Type element) {
  if (TensorType::isValidElementType(element))
    return success();
  return emitError() << "a list has elements of type " << element
                     << ", expected a list or what tensors hold";
}

/// True for a tensor or memref of rank 1 with elements of `element`.
static bool isFlat(Type type, Type element) {
  auto shaped = dyn_cast<ShapedType>(type);
  return isa<RankedTensorType, MemRefType>(type) && shaped.getRank() == 1 &&
         loopc::hasElements(shaped, element);
}

/// `parts`, an element of a list of type `list`: a list, or the elements and
/// the shape of a tensor.
static LogicalResult verifyElement(Operation *op, Type list, TypeRange parts) {
  Type element = cast<ListType>(list).getElement();
  if (isa<ListType>(element)) {
    if (parts.size() == 1 && parts[0] == element)
      return success();
    return op->emitOpError()
           << "element of " << list << " must be one value of type " << element;
  }
  Type i64 = IntegerType::get(op->getContext(), 64);
  if (parts.size() == 2 && isFlat(parts[0], element) && isFlat(parts[1], i64) &&
      isa<TensorType>(parts[0]) == isa<TensorType>(parts[1]))
    return success();
  return op->emitOpError() << "element of " << list
                           << " must be its elements and its shape (i64), two "
                              "tensors or memrefs of rank 1";
}

LogicalResult InsertOp::verify() {
  if (std::optional<StringRef> owner = getElementOwner();
      owner && *owner != "copy" && *owner != "move" && *owner != "share")
    return emitOpError("'element_owner' must be \"copy\", \"move\" or "
                       "\"share\" but is \"")
           << *owner << "\"";
  return verifyElement(*this, getType(), getElement().getTypes());
}

LogicalResult AtOp::verify() {
  return verifyElement(*this, getList().getType(), getElement().getTypes());
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

void InsertOp::getEffects(Effects &effects) {
  for (OpOperand &part : getElementMutable())
    if (isa<MemRefType>(part.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &part);
}

void AtOp::getEffects(Effects &effects) {
  // Each memref is one more owner of what the list has.
  for (OpResult part : getElement())
    if (isa<MemRefType>(part.getType()))
      effects.emplace_back(MemoryEffects::Allocate::get(), part);
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

/// The insertion that made `list`; null where there is none, and behind
/// buffer-place-deallocations, where its operands are gone with it.
static InsertOp getInsertion(Value list) {
  auto insert = list.getDefiningOp<InsertOp>();
  return insert && !insert.getElementOwner() ? insert : InsertOp();
}

/// The length of a list that is made of insertions into the empty one.
OpFoldResult LengthOp::fold(FoldAdaptor) {
  int64_t length = 0;
  Value list = getList();
  while (InsertOp insert = getInsertion(list)) {
    list = insert.getList();
    ++length;
  }
  if (list.getDefiningOp<EmptyOp>())
    return IntegerAttr::get(IndexType::get(getContext()), length);
  return {};
}

/// The element that was inserted at the position.
LogicalResult AtOp::fold(FoldAdaptor adaptor,
                         SmallVectorImpl<OpFoldResult> &results) {
  // Buffers may change behind an insertion, tensors do not.
  if (llvm::any_of(getElement().getTypes(), llvm::IsaPred<MemRefType>))
    return failure();
  auto constant = dyn_cast_or_null<IntegerAttr>(adaptor.getPosition());
  int64_t at = constant ? constant.getInt() : 0;
  Value list = getList();
  while (InsertOp insert = getInsertion(list)) {
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
