//===- PinArguments.cpp - Extents that a user fixes -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Models of ONNX, OpenVINO and networks are imported for the shapes that are
// given. A model that is a file of MLIR has its types already: its arguments
// get others, and the types of what follows are inferred anew.

#include "loopc/Frontend/PinArguments.h"
#include "loopc/Dialect/Loopc/IR/Ports.h"
#include "loopc/Support/Diagnostics.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace loopc;

static StringRef getArgumentName(func::FuncOp function, unsigned argument) {
  auto name = function.getArgAttrOfType<StringAttr>(argument, "loopc.name");
  return name ? name.getValue() : StringRef();
}

/// The type of an argument with the extents of `pins`. Failure after an error.
static FailureOr<RankedTensorType>
getPinnedType(func::FuncOp function, unsigned argument, const ShapePins &pins) {
  auto type = cast<TensorType>(function.getArgumentTypes()[argument]);
  StringRef name = getArgumentName(function, argument);
  auto pin = pins.shapes.find(name);
  bool hasShape = pin != pins.shapes.end();
  if (!type.hasRank())
    return RankedTensorType::get(pin->second, type.getElementType());
  SmallVector<int64_t> shape(type.getShape());
  if (hasShape && pin->second.size() != shape.size()) {
    loopc::emitError(function.getLoc(), Diag::ShapeConflict)
        << "the shape given for input '" << name << "' has rank "
        << pin->second.size() << " but the model says " << Type(type);
    return failure();
  }
  for (auto [axis, extent] : llvm::enumerate(shape)) {
    StringRef dim = getDimName(function, argument, axis);
    auto named = pins.dims.find(dim);
    int64_t given = hasShape ? pin->second[axis] : ShapedType::kDynamic;
    // Names whose extents contradict each other fix nothing (fixDim).
    if (ShapedType::isDynamic(given) && named != pins.dims.end())
      given = named->second;
    if (ShapedType::isDynamic(given) || given == extent)
      continue;
    if (ShapedType::isStatic(extent)) {
      loopc::emitError(function.getLoc(), Diag::ShapeConflict)
          << "dimension " << axis << " of input '" << name << "' is " << extent
          << " but the shape given says " << given;
      return failure();
    }
    extent = given;
  }
  return RankedTensorType::get(shape, type.getElementType());
}

/// The name of the extent of an argument; "" where it is a number, or where
/// `pins` say that the name is none.
static StringRef getNameIn(func::FuncOp function, unsigned argument,
                           int64_t axis, RankedTensorType type,
                           const ShapePins &pins) {
  StringRef name = getDimName(function, argument, axis);
  auto pin = pins.dims.find(name);
  bool isNone = pin != pins.dims.end() && ShapedType::isDynamic(pin->second);
  return isNone || !type.isDynamicDim(axis) ? StringRef() : name;
}

/// Gives an argument of the function that has a body the type `type`, and its
/// extents the names that `pins` leave them.
static void setArgument(func::FuncOp function, unsigned argument,
                        RankedTensorType type, const ShapePins &pins) {
  Builder names(function.getContext());
  SmallVector<Attribute> dims;
  bool isChanged = function.getArgumentTypes()[argument] != type;
  for (int64_t axis : llvm::seq(type.getRank())) {
    StringRef name = getNameIn(function, argument, axis, type, pins);
    isChanged |= name != getDimName(function, argument, axis);
    dims.push_back(names.getStringAttr(name));
  }
  if (!isChanged)
    return;
  NamedAttrList attributes(function.getArgAttrDict(argument));
  setDimNames(attributes, type, dims);
  function.setArgAttrs(argument,
                       attributes.getDictionary(function.getContext()));
  Block &entry = function.getBody().front();
  BlockArgument value = entry.getArgument(argument);
  Type before = value.getType();
  if (before == type)
    return;
  value.setType(type);
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  auto cast = tensor::CastOp::create(builder, function.getLoc(), before, value);
  value.replaceAllUsesExcept(cast, cast);
  function.setType(FunctionType::get(function.getContext(),
                                     entry.getArgumentTypes(),
                                     function.getResultTypes()));
}

func::FuncOp loopc::getModelFunction(ModuleOp module) {
  func::FuncOp found;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      found = function;
  return found;
}

LogicalResult loopc::pinArguments(ModuleOp module, const ShapePins &given) {
  if (given.dims.empty() && given.shapes.empty())
    return success();
  func::FuncOp function = getModelFunction(module);
  if (!function)
    return loopc::emitError(module.getLoc(), Diag::BadOption)
           << "shapes can be given to models, not to code that was lowered";
  llvm::StringSet<> inputs, dims;
  ShapePins pins{given.dims, given.shapes};
  SmallVector<unsigned> tensors;
  for (auto [k, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = dyn_cast<TensorType>(type);
    StringRef name = getArgumentName(function, k);
    if (!tensor || (!tensor.hasRank() && !given.shapes.contains(name)))
      continue;
    tensors.push_back(k);
    inputs.insert(name);
    for (int64_t axis : llvm::seq(tensor.hasRank() ? tensor.getRank() : 0)) {
      StringRef dim = getDimName(function, k, axis);
      if (dim.empty())
        continue;
      dims.insert(dim);
      fixDim(pins, name, axis, dim);
    }
  }
  if (failed(checkPins(function.getLoc(), given, inputs, dims, "model")))
    return failure();
  for (unsigned k : tensors) {
    FailureOr<RankedTensorType> type = getPinnedType(function, k, pins);
    if (failed(type))
      return failure();
    setArgument(function, k, *type, given);
  }
  refreshPortTypes(function);
  return success();
}
