//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Loopc/IR/Ports.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace loopc;

Type loopc::getStoredElement(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element)) {
    unsigned width = integer.getWidth();
    return IntegerType::get(element.getContext(),
                            width == 1 ? 1 : std::max(width, 8u));
  }
  if (auto real = dyn_cast<FloatType>(element); real && real.getWidth() <= 8)
    return IntegerType::get(element.getContext(), 8);
  return element;
}

static bool isElementHeldBy(Type model, Type value) {
  if (model == value || getStoredElement(model) == value)
    return true;
  // Strings are of another dialect.
  auto pair = dyn_cast<ComplexType>(value);
  return !isa<BuiltinDialect>(model.getDialect()) && pair &&
         pair.getElementType().isInteger(64);
}

static SmallVector<Type> getNestedTypes(Type type) {
  SmallVector<Type> nested;
  type.walkImmediateSubElements([](Attribute) {},
                                [&](Type each) { nested.push_back(each); });
  return nested;
}

/// The same of what lists have as elements: those of one list may have several
/// shapes, and lists of all shapes are of one type.
static bool isNestedHeldBy(Type model, Type value) {
  auto from = dyn_cast<TensorType>(model), to = dyn_cast<TensorType>(value);
  if (from && to)
    return isElementHeldBy(from.getElementType(), to.getElementType()) &&
           (!from.hasRank() || !to.hasRank() ||
            succeeded(verifyCompatibleShape(from, to)));
  SmallVector<Type> some = getNestedTypes(model),
                    others = getNestedTypes(value);
  if (model.getTypeID() != value.getTypeID() || some.empty())
    return isElementHeldBy(model, value);
  return llvm::equal(some, others, isNestedHeldBy);
}

bool loopc::isHeldBy(Type model, Type value, bool isFlat) {
  auto tensor = dyn_cast<TensorType>(model);
  auto shaped = dyn_cast<ShapedType>(value);
  if (!tensor || !shaped)
    return model == value ||
           (!tensor && !shaped && isNestedHeldBy(model, value));
  if (!isElementHeldBy(tensor.getElementType(), shaped.getElementType()))
    return false;
  if (isFlat)
    return !tensor.hasRank() && shaped.hasRank() && shaped.getRank() == 1;
  return tensor.hasRank() == shaped.hasRank() &&
         (!tensor.hasRank() || succeeded(verifyCompatibleShape(
                                   tensor.getShape(), shaped.getShape())));
}

bool loopc::isFlatArgument(FunctionOpInterface function, unsigned index) {
  return index + 1 < function.getNumArguments() &&
         function.getArgAttr(index + 1, kShapeOfAttrName);
}

bool loopc::isFlatResult(FunctionOpInterface function, unsigned index) {
  return index + 1 < function.getNumResults() &&
         function.getResultAttr(index + 1, kShapeOfAttrName);
}

/// `known` with the shape of `value`; null where there is nothing to say.
static TypeAttr withShapeOf(TypeAttr known, Type value) {
  auto tensor = known ? dyn_cast<TensorType>(known.getValue()) : TensorType();
  auto now = dyn_cast<TensorType>(value);
  if (!tensor || !now)
    return {};
  Type element = tensor.getElementType();
  return TypeAttr::get(now.hasRank()
                           ? Type(cast<RankedTensorType>(now).clone(element))
                           : UnrankedTensorType::get(element));
}

void loopc::refreshPortTypes(FunctionOpInterface function) {
  for (auto [k, type] : llvm::enumerate(function.getArgumentTypes()))
    if (TypeAttr now = withShapeOf(
            function.getArgAttrOfType<TypeAttr>(k, kPortTypeAttrName), type);
        now && !isFlatArgument(function, k))
      function.setArgAttr(k, kPortTypeAttrName, now);
  for (auto [k, type] : llvm::enumerate(function.getResultTypes()))
    if (TypeAttr now = withShapeOf(
            function.getResultAttrOfType<TypeAttr>(k, kPortTypeAttrName), type);
        now && !isFlatResult(function, k))
      function.setResultAttr(k, kPortTypeAttrName, now);
}
