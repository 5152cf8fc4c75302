//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Loopc/IR/Ports.h"
#include "loopc/Dialect/List/IR/List.h"
#include "loopc/Dialect/RT/IR/RT.h"
#include "loopc/Support/StoredElements.h"
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
  // A model's string is of the dialect that describes models.
  return !isa<BuiltinDialect>(model.getDialect()) && isa<rt::StringType>(value);
}

/// The same of a collection, which the dialect that describes models has a type
/// for: it has one kind of element.
static bool isListHeldBy(Type model, list::ListType value) {
  SmallVector<Type> nested;
  model.walkImmediateSubElements([](Attribute) {},
                                 [&](Type each) { nested.push_back(each); });
  if (isa<BuiltinDialect>(model.getDialect()) || nested.size() != 1)
    return false;
  if (auto inner = dyn_cast<list::ListType>(value.getElement()))
    return isListHeldBy(nested.front(), inner);
  auto tensor = dyn_cast<TensorType>(nested.front());
  return tensor && isElementHeldBy(tensor.getElementType(), value.getElement());
}

bool loopc::isHeldBy(Type model, Type value, bool isFlat) {
  auto tensor = dyn_cast<TensorType>(model);
  auto shaped = dyn_cast<ShapedType>(value);
  if (!tensor || !shaped) {
    auto list = dyn_cast<list::ListType>(value);
    if (list)
      return model == list || isListHeldBy(model, list);
    // What is neither a tensor nor an element is refused at the border.
    return !tensor && (shaped ? model == value : isElementHeldBy(model, value));
  }
  if (!isElementHeldBy(tensor.getElementType(), shaped.getElementType()) &&
      !hasElements(shaped, tensor.getElementType()))
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

//===----------------------------------------------------------------------===//
// Extents with names
//===----------------------------------------------------------------------===//

void loopc::setDimNames(NamedAttrList &attributes, Type type,
                        ArrayRef<Attribute> names) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return;
  SmallVector<Attribute> all(names);
  all.resize(shaped.getRank(), StringAttr::get(type.getContext()));
  attributes.set(kDimsAttrName, ArrayAttr::get(type.getContext(), all));
}

StringRef loopc::getDimName(FunctionOpInterface function, unsigned argument,
                            int64_t axis) {
  auto names = function.getArgAttrOfType<ArrayAttr>(argument, kDimsAttrName);
  return names && axis < static_cast<int64_t>(names.size())
             ? cast<StringAttr>(names[axis]).getValue()
             : StringRef();
}

/// The axes of `argument`, as many as have a place for a name.
static int64_t countNames(FunctionOpInterface function, unsigned argument) {
  auto names = function.getArgAttrOfType<ArrayAttr>(argument, kDimsAttrName);
  return names ? names.size() : 0;
}

ArgumentAxis loopc::findFirstEqualAxis(FunctionOpInterface function,
                                       ArgumentAxis axis) {
  StringRef name = getDimName(function, axis.argument, axis.axis);
  if (name.empty())
    return axis;
  for (unsigned k = 0; k <= axis.argument; ++k)
    for (int64_t other = 0; other < countNames(function, k); ++other)
      if (getDimName(function, k, other) == name)
        return {k, other};
  return axis;
}

LogicalResult loopc::verifyDimNames(FunctionOpInterface function,
                                    unsigned argument) {
  auto extentOf = [&](ArgumentAxis axis) {
    auto type =
        dyn_cast<ShapedType>(function.getArgumentTypes()[axis.argument]);
    return type && type.hasRank() && axis.axis < type.getRank()
               ? type.getDimSize(axis.axis)
               : ShapedType::kDynamic;
  };
  for (int64_t axis = 0; axis < countNames(function, argument); ++axis) {
    StringRef name = getDimName(function, argument, axis);
    int64_t extent = extentOf({argument, axis});
    if (name.empty() || ShapedType::isDynamic(extent))
      continue;
    for (unsigned k = 0; k <= argument; ++k)
      for (int64_t other = 0; other < countNames(function, k); ++other) {
        int64_t known = extentOf({k, other});
        if (getDimName(function, k, other) == name &&
            ShapedType::isStatic(known) && known != extent)
          return function.emitOpError()
                 << "attribute '" << kDimsAttrName << "' at argument #"
                 << argument << " calls an extent of " << extent << " '" << name
                 << "', and at argument #" << k << " one of " << known;
      }
  }
  return success();
}
