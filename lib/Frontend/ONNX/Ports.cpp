//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Inputs and outputs of the main graph.

#include "loopc/Dialect/Loopc/IR/Ports.h"
#include "ImporterImpl.h"
#include "loopc/Dialect/ONNX/IR/ProtoConversion.h"
#include "loopc/Dialect/ONNX/IR/ShapeHints.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::importer;

static constexpr StringLiteral kMainPath = "main";

/// What a value of the main graph is called at the border.
static constexpr StringLiteral kNameAttr = "loopc.name";
static constexpr StringLiteral kDefaultAttr = "loopc.default";
static constexpr StringLiteral kMapAttr = "loopc.map";

/// The name of a dimension, or "" where what is written there names none:
/// exporters write such texts for every extent that they do not know, and two
/// of them are unrelated. docs/Driver.md lists them.
static StringRef symbolOf(StringRef text) {
  // "?" (Paddle, TVM), "*" (CNTK), "-1": a name has a letter.
  if (llvm::none_of(text, [](char c) {
        return llvm::isAlpha(c) || c == '_' || static_cast<signed char>(c) < 0;
      }))
    return "";
  // "None" (scikit-learn, ML.NET's "None__3"), "unk__12" (TensorFlow, ONNX's
  // own inference), "DynamicDimension.0" (Paddle): numbers only keep them
  // apart within one model, and models are merged.
  static constexpr StringLiteral kUnknown[] = {
      "none",          "null",
      "unk",           "unknown",
      "any",           "undefined",
      "dynamic",       "dynamicdimension",
      "freedimension", "inferreddimension"};
  StringRef word = text.rtrim("0123456789").trim("_.-?# ");
  bool isUnknown = llvm::any_of(kUnknown, [&](StringRef known) {
    return word.equals_insensitive(known);
  });
  return isUnknown ? StringRef() : text;
}

LogicalResult Importer::checkPins(Location loc) {
  llvm::StringSet<> inputs, dims;
  for (const pb::ValueInfoProto &input : model->proto.graph().input()) {
    inputs.insert(input.name());
    for (const auto &dim : input.type().tensor_type().shape().dim())
      if (dim.has_dim_param())
        dims.insert(dim.dim_param());
  }
  if (failed(loopc::checkPins(loc, options, inputs, dims, "model")))
    return failure();
  ShapePins fixed{{}, options.shapes};
  for (const pb::ValueInfoProto &input : model->proto.graph().input())
    for (auto [k, dim] :
         llvm::enumerate(input.type().tensor_type().shape().dim()))
      fixDim(fixed, input.name(), k, symbolOf(dim.dim_param()));
  for (const auto &[name, extent] : fixed.dims)
    if (ShapedType::isStatic(extent))
      options.dims.try_emplace(name, extent);
  return success();
}

/// ", as 'N' is": of an extent whose name is fixed.
static std::string fixedBy(StringRef name) {
  return name.empty() ? "" : (", as '" + name + "' is,").str();
}

FailureOr<Type> Importer::inputType(const pb::ValueInfoProto &input,
                                    SmallVectorImpl<Attribute> &dimNames) {
  Location loc = pathLoc(kMainPath);
  Type type = onnx::importType(&context, input.type());
  if (!type)
    return loopc::emitError(loc, Diag::UnsupportedType)
           << "input '" << input.name()
           << "' has no type that loopc supports: tensors, sequences and "
              "optionals of the element types of ONNX, and maps";
  auto pin = options.shapes.find(input.name());
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor) {
    if (pin != options.shapes.end())
      return loopc::emitError(loc, Diag::ShapeConflict)
             << "a shape is given for input '" << input.name()
             << "', which is no tensor";
    return type;
  }
  if (!tensor.hasRank() && pin == options.shapes.end())
    return type;
  if (!tensor.hasRank())
    tensor = tensor.clone(
        SmallVector<int64_t>(pin->second.size(), ShapedType::kDynamic));
  SmallVector<int64_t> shape(tensor.getShape());
  if (pin != options.shapes.end() && pin->second.size() != shape.size())
    return loopc::emitError(loc, Diag::ShapeConflict)
           << "the shape given for input '" << input.name() << "' has rank "
           << pin->second.size() << " but the model says " << type;
  for (auto [k, extent] : llvm::enumerate(shape)) {
    StringRef name;
    const pb::TensorShapeProto &declared = input.type().tensor_type().shape();
    if (static_cast<int>(k) < declared.dim_size() &&
        declared.dim(k).has_dim_param())
      name = declared.dim(k).dim_param();
    if (auto it = options.dims.find(name); it != options.dims.end()) {
      extent = it->second;
      if (ShapedType::isDynamic(extent))
        name = "";
    }
    int64_t given =
        pin == options.shapes.end() ? ShapedType::kDynamic : pin->second[k];
    if (ShapedType::isStatic(given)) {
      if (ShapedType::isStatic(extent) && extent != given)
        return loopc::emitError(loc, Diag::ShapeConflict)
               << "dimension " << k << " of input '" << input.name() << "' is "
               << extent << fixedBy(name) << " but the shape given says "
               << given;
      extent = given;
    }
    dimNames.push_back(builder.getStringAttr(
        ShapedType::isStatic(extent) ? StringRef() : symbolOf(name)));
  }
  return Type(tensor.clone(shape));
}

FailureOr<ElementsAttr> Importer::defaultOf(Scope &scope, StringRef name) {
  Location loc = pathLoc(kMainPath);
  if (auto it = scope.initializers.find(name); it != scope.initializers.end())
    return tensors.import(*it->second, loc);
  if (auto it = scope.sparseInitializers.find(name);
      it != scope.sparseInitializers.end())
    return tensors.import(*it->second, loc);
  return ElementsAttr();
}

LogicalResult Importer::checkDefault(StringRef name, Type type,
                                     ElementsAttr value) {
  if (!value)
    return success();
  Type own = value.getType();
  if (sameButShape(type, own) && onnx::joinTypes(type, own) == type)
    return success();
  return loopc::emitError(pathLoc(kMainPath), Diag::BadPort)
         << "input '" << name << "' is " << type << " but its initializer is "
         << own;
}

/// Programs give and get the names of a model's ports as C strings.
LogicalResult Importer::checkPortName(StringRef name, StringRef kind) {
  if (name.empty())
    return loopc::emitError(pathLoc(kMainPath), Diag::BadPort)
           << "an " << kind << " of the model has no name";
  if (llvm::json::isUTF8(name) && !name.contains('\0'))
    return success();
  return loopc::emitError(pathLoc(kMainPath), Diag::BadPort)
         << "the name '" << llvm::json::fixUTF8(name.take_until([](char c) {
              return c == '\0';
            }))
         << "' of an " << kind << " is not UTF-8 without null characters";
}

LogicalResult Importer::importInputs(func::FuncOp func, Scope &scope) {
  const pb::GraphProto &graph = model->proto.graph();
  Location loc = pathLoc(kMainPath);
  llvm::StringSet<> names;
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attrs;
  SmallVector<StringRef> argumentNames;
  for (const pb::ValueInfoProto &input : graph.input()) {
    if (failed(checkPortName(input.name(), "input")))
      return failure();
    if (!names.insert(input.name()).second)
      return loopc::emitError(loc, Diag::DuplicateName)
             << "the model has two inputs '" << input.name() << "'";
    // Before IR version 4 every initializer is an input, too, and a constant;
    // later it is what the input is where the caller leaves it out.
    FailureOr<ElementsAttr> absent = defaultOf(scope, input.name());
    if (failed(absent))
      return failure();
    if (*absent && model->proto.ir_version() < 4)
      continue;
    SmallVector<Attribute> dimNames;
    FailureOr<Type> type = inputType(input, dimNames);
    if (failed(type) || failed(checkDefault(input.name(), *type, *absent)))
      return failure();
    NamedAttrList attributes;
    if (*absent)
      attributes.set(kDefaultAttr, *absent);
    attributes.set(kNameAttr, builder.getStringAttr(input.name()));
    if (auto map = mapOfPort.find(input.name()); map != mapOfPort.end())
      attributes.set(kMapAttr, builder.getStringAttr(map->second));
    setDimNames(attributes, *type, dimNames);
    types.push_back(*type);
    attrs.push_back(attributes.getDictionary(&context));
    argumentNames.push_back(input.name());
  }
  func.setType(builder.getFunctionType(types, {}));
  Block *entry = func.addEntryBlock();
  func.setAllArgAttrs(attrs);
  for (auto [name, argument] :
       llvm::zip(argumentNames, entry->getArguments())) {
    argument.setLoc(pathLoc((kMainPath + "/input '" + name + "'").str()));
    scope.values[name] = argument;
  }
  return success();
}

/// The shape of the tensor that a type is, or that its sequences and optionals
/// hold.
static pb::TensorShapeProto *innermostShape(pb::TypeProto &type) {
  if (type.has_sequence_type())
    return innermostShape(*type.mutable_sequence_type()->mutable_elem_type());
  if (type.has_optional_type())
    return innermostShape(*type.mutable_optional_type()->mutable_elem_type());
  return type.has_tensor_type() && type.tensor_type().has_shape()
             ? type.mutable_tensor_type()->mutable_shape()
             : nullptr;
}

/// `type` with the extents that the user gave to names of dimensions, and
/// without the names that are none.
static pb::TypeProto pinnedType(pb::TypeProto type,
                                const llvm::StringMap<int64_t> &pins) {
  if (pb::TensorShapeProto *shape = innermostShape(type))
    for (auto &dim : *shape->mutable_dim())
      if (auto pin = pins.find(dim.dim_param());
          dim.has_dim_param() && pin != pins.end()) {
        if (ShapedType::isStatic(pin->second))
          dim.set_dim_value(pin->second);
        else
          dim.clear_value();
      }
  return type;
}

/// Names of the dimensions of the tensor that a type is or holds, "" where one
/// has none.
static SmallVector<Attribute> dimNamesOf(pb::TypeProto &type,
                                         Builder &builder) {
  SmallVector<Attribute> names;
  if (pb::TensorShapeProto *shape = innermostShape(type))
    for (const auto &dim : shape->dim())
      names.push_back(builder.getStringAttr(symbolOf(dim.dim_param())));
  return names;
}

LogicalResult Importer::importOutputs(func::FuncOp func, Scope &scope) {
  Location loc = pathLoc(kMainPath);
  SmallVector<Value> values;
  SmallVector<DictionaryAttr> attrs;
  // One name may be there twice: it is one value then.
  for (const pb::ValueInfoProto &output : model->proto.graph().output()) {
    if (failed(checkPortName(output.name(), "output")))
      return failure();
    // name_direct: an output may be an input or an initializer.
    FailureOr<Value> value =
        lookup(scope, output.name(), loc, "output of the model");
    if (failed(value))
      return failure();
    pb::TypeProto proto = pinnedType(output.type(), options.dims);
    Type declared = onnx::importType(&context, proto);
    if (declared && !sameButShape(declared, value->getType()))
      return loopc::emitError(loc, Diag::BadPort)
             << "output '" << output.name() << "' is declared as " << declared
             << " but the graph computes " << value->getType();
    NamedAttrList attributes;
    attributes.set(kNameAttr, builder.getStringAttr(output.name()));
    if (auto map = mapOfPort.find(output.name()); map != mapOfPort.end())
      attributes.set(kMapAttr, builder.getStringAttr(map->second));
    SmallVector<Attribute> names = dimNamesOf(proto, builder);
    if (auto type = dyn_cast<RankedTensorType>(value->getType())) {
      SmallVector<Attribute> dimNames(type.getRank(),
                                      builder.getStringAttr(""));
      if (names.size() == dimNames.size())
        for (auto [k, name] : llvm::enumerate(names))
          if (type.isDynamicDim(k))
            dimNames[k] = name;
      setDimNames(attributes, type, dimNames);
    }
    onnx::setDeclared(attributes, value->getType(), declared, names);
    values.push_back(*value);
    attrs.push_back(attributes.getDictionary(&context));
  }
  finishFunction(func, loc, values, attrs);
  return success();
}
