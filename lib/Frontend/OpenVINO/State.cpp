//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// ReadValue and Assign (ov_state). A variable becomes an argument and a result
// of the model's function, behind its inputs and outputs, and an argument that
// says whether the caller gave it:
//
//   %s = onnx.node "ReadValue"(%init)     ==>  %s = scf.if %given { yield
//   %state }
//                                              else { yield %init }
//   onnx.node "Assign"(%next)             ==>  return ..., %next
//
// An initial value that is constant is the argument's default instead.

#include "ImporterImpl.h"
#include "loopc/Dialect/Loopc/IR/Ports.h"
#include "loopc/Frontend/States.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::openvino;

static bool isStateful(const Layer &layer) {
  return layer.type == "ReadValue" || layer.type == "Assign";
}

static StringRef variableOf(const Layer &layer) {
  return layer.data.attribute("variable_id").value();
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

LogicalResult Importer::refuseStateIn(const Graph &graph, StringRef path) {
  for (const Layer &layer : graph.layers) {
    for (const auto &body : layer.bodies)
      if (failed(refuseStateIn(
              *body,
              (path + "/" + layer.type + " '" + layer.name + "'").str())))
        return failure();
    if (isStateful(layer))
      return loopc::emitError(layerLoc(path, layer), Diag::IRLayer)
             << "a body has no state: " << layer.type
             << " must be a layer of the model itself";
  }
  return success();
}

/// What the variable is declared to be, and where the variable itself is not,
/// what the ports of its two layers have in common.
FailureOr<Type> Importer::variableType(const Variable &variable) {
  const Layer &read = *variable.read;
  auto error = [&]() {
    return loopc::emitError(layerLoc("main", read), Diag::IRLayer);
  };
  if (read.outputs.size() != 1)
    return error() << "the layer has " << read.outputs.size()
                   << " outputs, expected one";
  if (variable.assign->inputs.size() != 1)
    return loopc::emitError(layerLoc("main", *variable.assign), Diag::IRLayer)
           << "the layer has " << variable.assign->inputs.size()
           << " inputs, expected one";
  StringRef elementName = read.data.attribute("variable_type").value();
  if (elementName.empty() || elementName == "dynamic")
    elementName = read.outputs[0].precision;
  Type element = parseElementType(elementName, context);
  if (!element)
    return error() << "there is no element type '" << elementName << "'";
  StringRef shapeText = read.data.attribute("variable_shape").value();
  std::optional<Ints> shape;
  if (read.data.attribute("variable_shape")) {
    FailureOr<std::optional<Ints>> parsed = parseShape(shapeText);
    if (failed(parsed))
      return error() << "'" << shapeText << "' is no shape";
    shape = *parsed;
  }
  if (shape)
    return Type(RankedTensorType::get(*shape, element));
  auto typeOf = [&](const Port &port) -> Type {
    Ints dims;
    for (int64_t dim : port.dims)
      dims.push_back(dim < 0 ? ShapedType::kDynamic : dim);
    return RankedTensorType::get(dims, element);
  };
  return onnx::joinTypes(typeOf(read.outputs[0]),
                         typeOf(variable.assign->inputs[0]));
}

/// Finds the pairs of ReadValue and Assign.
LogicalResult Importer::readVariables() {
  for (const Layer &layer : file.graph.layers) {
    for (const auto &body : layer.bodies)
      if (failed(refuseStateIn(*body,
                               "main/" + layer.type + " '" + layer.name + "'")))
        return failure();
    if (!isStateful(layer))
      continue;
    auto error = [&]() {
      return loopc::emitError(layerLoc("main", layer), Diag::IRLayer);
    };
    StringRef id = variableOf(layer);
    if (id.empty() || !llvm::json::isUTF8(id))
      return error() << "attribute 'variable_id' is missing, or no UTF-8";
    Variable &variable = variables[id];
    const Layer *&place =
        layer.type == "ReadValue" ? variable.read : variable.assign;
    if (place)
      return error() << layer.type << " '" << place->name
                     << "' has the variable '" << id << "', too";
    place = &layer;
  }
  for (auto &[id, variable] : variables) {
    const Layer &present = variable.read ? *variable.read : *variable.assign;
    if (!variable.read || !variable.assign)
      return loopc::emitError(layerLoc("main", present), Diag::IRLayer)
             << "no " << (variable.read ? "Assign" : "ReadValue")
             << " has the variable '" << id << "'";
    FailureOr<Type> type = variableType(variable);
    if (failed(type))
      return failure();
    variable.type = *type;
  }
  return success();
}

static NamedAttrList describe(OpBuilder &builder, StringRef id, Type type) {
  NamedAttrList attributes;
  attributes.set("loopc.name", builder.getStringAttr(id));
  attributes.set("loopc.state", builder.getUnitAttr());
  setDimNames(attributes, type);
  return attributes;
}

void Importer::addStateInputs(SmallVectorImpl<Type> &types,
                              SmallVectorImpl<DictionaryAttr> &attrs) {
  for (auto &[id, variable] : variables) {
    variable.argument = types.size();
    types.push_back(variable.type);
    attrs.push_back(
        describe(builder, id, variable.type).getDictionary(&context));
  }
  for (auto &[id, variable] : variables) {
    variable.flag = types.size();
    types.push_back(RankedTensorType::get({}, builder.getI1Type()));
    NamedAttrList attributes;
    attributes.set("loopc.state_flag", builder.getUnitAttr());
    attrs.push_back(attributes.getDictionary(&context));
  }
}

void Importer::addStateOutputs(SmallVectorImpl<Value> &results,
                               SmallVectorImpl<DictionaryAttr> &attrs) {
  for (auto &[id, variable] : variables) {
    results.push_back(variable.next);
    attrs.push_back(
        describe(builder, id, variable.type).getDictionary(&context));
  }
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// `value` as the variable has it: what is known to differ is an error now,
/// what may differ is checked in the run. `what` begins the messages.
Value Importer::fitVariable(LayerImport &l, Value value, Type type,
                            StringRef what) {
  auto wanted = cast<TensorType>(type);
  auto refuse = [&]() {
    l.fail() << what << " is " << value.getType() << ", but the variable '"
             << variableOf(l.layer) << "' is " << type;
    return value;
  };
  if (l.element(value) != wanted.getElementType())
    return refuse();
  if (!wanted.hasRank())
    return castTo(l.loc, value, type);
  if (!l.isRanked(value)) {
    l.checkEqual(l.extract(l.node("Size", {l.shapeOf(value)})),
                 l.extract(l.scalarInt(wanted.getRank())),
                 (what + " has rank {}, the variable {}").str());
    if (l.isBad)
      return value;
    SmallVector<int64_t> open(wanted.getRank(), ShapedType::kDynamic);
    value = castTo(l.loc, value,
                   RankedTensorType::get(open, wanted.getElementType()));
  }
  if (l.rank(value) != wanted.getRank())
    return refuse();
  for (auto [k, extent] : llvm::enumerate(wanted.getShape())) {
    int64_t given = l.extent(value, k);
    if (ShapedType::isDynamic(extent) || given == extent)
      continue;
    if (ShapedType::isStatic(given))
      return refuse();
    l.checkEqual(
        l.extract(l.extentOf(value, k)), l.extract(l.scalarInt(extent)),
        (what + " has extent {} in dimension " + Twine(k) + ", the variable {}")
            .str());
  }
  return l.isBad ? value : castTo(l.loc, value, type);
}

LogicalResult Importer::importReadValue(LayerImport &l) {
  Variable &variable = variables[variableOf(l.layer)];
  auto type = cast<TensorType>(variable.type);
  auto func = cast<func::FuncOp>(entryBlock->getParentOp());
  Value state = entryBlock->getArgument(variable.argument);
  auto setDefault = [&](ElementsAttr value) {
    func.setArgAttr(variable.argument, "loopc.default", value);
  };
  auto setZeros = [&]() { setDefault(makeZeroState(builder, type)); };
  if (!l.has(0)) {
    if (!type.hasRank())
      return l.fail() << "the variable '" << variableOf(l.layer)
                      << "' has neither a rank nor an initial value";
    setZeros();
    l.set(state);
    return success();
  }
  Value init = l.in(0);
  StringRef what = "the initial value";
  if (auto constant = init.getDefiningOp<onnx::ConstantOp>()) {
    fitVariable(l, init, type, what);
    setDefault(constant.getValue());
    l.set(state);
    return failure(l.isBad);
  }
  setZeros();
  // What is computed is looked at in the runs that begin with it only.
  Value given = l.extract(entryBlock->getArgument(variable.flag));
  auto op = scf::IfOp::create(builder, l.loc, TypeRange(type), given,
                              /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(op.thenBlock());
  scf::YieldOp::create(builder, l.loc, state);
  builder.setInsertionPointToEnd(op.elseBlock());
  scf::YieldOp::create(builder, l.loc, fitVariable(l, init, type, what));
  l.set(op.getResult(0));
  return failure(l.isBad);
}

LogicalResult Importer::importAssign(LayerImport &l) {
  Value value = l.in(0);
  Variable &variable = variables[variableOf(l.layer)];
  variable.next = fitVariable(l, value, variable.type, "the assigned value");
  l.set(value);
  return failure(l.isBad);
}
