//===- Emitter.cpp - A network as a module ------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loopc/IR/Ports.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::network;

OwningOpRef<ModuleOp>
loopc::network::emitNetwork(const INetworkDefinition &network,
                            MLIRContext &context, const EmitOptions &options) {
  return Emitter(network, context, options).run();
}

OwningOpRef<ModuleOp> Emitter::run() {
  context
      .loadDialect<arith::ArithDialect, func::FuncDialect, loop::LoopDialect,
                   onnx::ONNXDialect, scf::SCFDialect, tensor::TensorDialect>();
  plan = Plan::make(network, [&](const ILayer *layer, Diag diag) {
    return loopc::emitError(layer ? locOf(*layer) : pathLoc(path), diag);
  });
  if (!plan || failed(checkPins()))
    return {};
  module = ModuleOp::create(fileLoc);
  (*module)->setAttr("loopc.model", builder.getStringAttr(network.getName()));
  (*module)->setAttr("loopc.producer", builder.getStringAttr("loopc network"));
  builder.setInsertionPointToEnd(module->getBody());
  if (failed(emitMain()))
    return {};
  if (failed(verifyImported(*module)))
    return {};
  return std::move(module);
}

//===----------------------------------------------------------------------===//
// Inputs and outputs
//===----------------------------------------------------------------------===//

LogicalResult Emitter::checkPins() {
  llvm::StringSet<> inputs, dims;
  for (int32_t k = 0; k < network.getNbInputs(); ++k) {
    const ITensor &tensor = *network.getInput(k);
    inputs.insert(tensor.getName());
    for (int32_t d = 0; d < tensor.getDeclaredDimensions().nbDims; ++d)
      if (*tensor.getDimensionName(d))
        dims.insert(tensor.getDimensionName(d));
  }
  if (failed(loopc::checkPins(pathLoc(path), options, inputs, dims, "network")))
    return failure();
  ShapePins fixed{{}, options.shapes};
  for (int32_t k = 0; k < network.getNbInputs(); ++k) {
    const ITensor &tensor = *network.getInput(k);
    for (int32_t d = 0; d < tensor.getDeclaredDimensions().nbDims; ++d)
      fixDim(fixed, tensor.getName(), d, tensor.getDimensionName(d));
  }
  for (const auto &[name, extent] : fixed.dims)
    if (ShapedType::isStatic(extent))
      options.dims.try_emplace(name, extent);
  return success();
}

FailureOr<Type> Emitter::inputType(const ITensor &tensor,
                                   SmallVectorImpl<mlir::Attribute> &names) {
  auto error = [&](Diag diag) {
    return loopc::emitError(pathLoc(path), diag)
           << "input '" << tensor.getName() << "': ";
  };
  Type element = elementType(tensor.getDeclaredType());
  if (!element)
    return error(Diag::NetworkPort) << "there is no such data type";
  const Dims &dims = tensor.getDeclaredDimensions();
  auto pin = options.shapes.find(tensor.getName());
  bool pinned = pin != options.shapes.end();
  if (dims.nbDims < 0 && !pinned)
    return Type(UnrankedTensorType::get(element));
  int32_t rank = dims.nbDims < 0 ? pin->second.size() : dims.nbDims;
  if (pinned && static_cast<int32_t>(pin->second.size()) != rank)
    return error(Diag::ShapeConflict)
           << "the shape given has rank " << pin->second.size()
           << " but the network says " << rank;
  SmallVector<int64_t> shape;
  for (int32_t k = 0; k < rank; ++k) {
    int64_t extent = dims.nbDims < 0 ? -1 : dims.d[k];
    if (extent < -1)
      return error(Diag::NetworkPort) << "dimension " << k << " is " << extent;
    if (extent < 0)
      extent = ShapedType::kDynamic;
    StringRef name = tensor.getDimensionName(k);
    if (auto it = options.dims.find(name); it != options.dims.end()) {
      extent = it->second;
      if (ShapedType::isDynamic(extent))
        name = "";
    }
    int64_t given = pinned ? pin->second[k] : ShapedType::kDynamic;
    if (ShapedType::isStatic(given)) {
      if (ShapedType::isStatic(extent) && extent != given)
        return error(Diag::ShapeConflict)
               << "dimension " << k << " is " << extent
               << " but the shape given says " << given;
      extent = given;
    }
    shape.push_back(extent);
    names.push_back(builder.getStringAttr(
        ShapedType::isStatic(extent) ? StringRef() : name));
  }
  return Type(RankedTensorType::get(shape, element));
}

LogicalResult Emitter::emitInputs(func::FuncOp func) {
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attrs;
  llvm::StringSet<> names;
  for (int32_t k = 0; k < network.getNbInputs(); ++k) {
    const ITensor &tensor = *network.getInput(k);
    StringRef name = tensor.getName();
    if (name.empty() || !names.insert(name).second)
      return loopc::emitError(pathLoc(path), Diag::NetworkPort)
             << (name.empty() ? "an input has no name"
                              : ("two inputs are called '" + name + "'").str());
    SmallVector<mlir::Attribute> dimNames;
    FailureOr<Type> type = inputType(tensor, dimNames);
    if (failed(type))
      return failure();
    NamedAttrList attributes;
    attributes.set("loopc.name", builder.getStringAttr(name));
    setDimNames(attributes, *type, dimNames);
    types.push_back(*type);
    attrs.push_back(attributes.getDictionary(&context));
  }
  func.setType(builder.getFunctionType(types, {}));
  entryBlock = func.addEntryBlock();
  func.setAllArgAttrs(attrs);
  for (auto [k, argument] : llvm::enumerate(entryBlock->getArguments())) {
    const ITensor *tensor = network.getInput(k);
    argument.setLoc(pathLoc(path + "/input '" + tensor->getName() + "'"));
    bind(tensor, argument);
  }
  return success();
}

LogicalResult Emitter::emitOutputs(func::FuncOp func) {
  Location loc = pathLoc(path);
  if (network.getNbOutputs() == 0)
    return loopc::emitError(loc, Diag::NetworkPort)
           << "the network has no outputs: markOutput() is missing";
  SmallVector<Value> values;
  SmallVector<DictionaryAttr> attrs;
  llvm::StringSet<> names;
  for (int32_t k = 0; k < network.getNbOutputs(); ++k) {
    const ITensor &tensor = *network.getOutput(k);
    StringRef name = tensor.getName();
    if (name.empty() || !names.insert(name).second)
      return loopc::emitError(loc, Diag::NetworkPort)
             << (name.empty()
                     ? "an output has no name"
                     : ("two outputs are called '" + name + "'").str());
    FailureOr<Value> value = get(tensor);
    if (failed(value))
      return failure();
    NamedAttrList attributes;
    attributes.set("loopc.name", builder.getStringAttr(name));
    setDimNames(attributes, value->getType());
    values.push_back(*value);
    attrs.push_back(attributes.getDictionary(&context));
  }
  finishFunction(func, loc, values, attrs);
  return success();
}

LogicalResult Emitter::emitMain() {
  auto func = func::FuncOp::create(builder, pathLoc(path), "main",
                                   builder.getFunctionType({}, {}));
  if (failed(emitInputs(func)))
    return failure();
  builder.setInsertionPointToEnd(entryBlock);
  if (failed(emitItems(plan->getTop().items)) || failed(emitOutputs(func)))
    return failure();
  eraseUnusedConstants();
  return success();
}

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

FailureOr<Value> Emitter::get(const ITensor &tensor) {
  if (Value value = lookup(&tensor))
    return value;
  return loopc::emitError(pathLoc(path), Diag::Internal)
         << "'" << tensor.getName() << "' was not computed before it is used";
}

LogicalResult Emitter::emitItems(ArrayRef<Item> items) {
  for (Item item : items) {
    LogicalResult emitted = isa<const ILayer *>(item)
                                ? emitLayer(*cast<const ILayer *>(item))
                                : emitScope(*cast<const Scope *>(item));
    if (failed(emitted))
      return failure();
  }
  return success();
}

LogicalResult Emitter::emitScope(const Scope &scope) {
  std::string outer = path;
  path += scope.loop
              ? "/Loop '" + std::string(scope.loop->getName()) + "'"
              : "/If '" + std::string(scope.conditional->getName()) + "'";
  LogicalResult emitted = scope.loop ? emitLoop(scope) : emitConditional(scope);
  path = outer;
  return emitted;
}
