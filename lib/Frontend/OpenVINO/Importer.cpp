//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImporterImpl.h"
#include "loopc/Dialect/Loopc/IR/Ports.h"
#include "loopc/Dialect/ONNX/IR/ProtoConversion.h"
#include "loopc/Dialect/ONNX/IR/ShapeHints.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::openvino;

static constexpr StringLiteral kMainPath = "main";

Importer::Importer(File &file, MLIRContext &context,
                   const ImportOptions &options)
    : GraphBuilder(context), file(file), options(options) {}

OwningOpRef<ModuleOp> Importer::run() {
  if (failed(checkSupported()))
    return {};
  module = ModuleOp::create(file.locAt(-1));
  std::string name = options.modelName;
  if (name.empty())
    name = file.name;
  if (name.empty())
    name = llvm::sys::path::stem(file.path).str();
  (*module)->setAttr("loopc.model",
                     builder.getStringAttr(llvm::json::fixUTF8(name)));
  (*module)->setAttr("loopc.ir_version",
                     builder.getI64IntegerAttr(file.version));
  std::string producer = "OpenVINO";
  if (!file.producer.empty())
    producer += " " + file.producer;
  (*module)->setAttr("loopc.producer", builder.getStringAttr(producer));
  builder.setInsertionPointToEnd(module->getBody());
  if (failed(importMain()))
    return {};
  if (failed(verifyImported(*module)))
    return {};
  return std::move(module);
}

//===----------------------------------------------------------------------===//
// Types and names
//===----------------------------------------------------------------------===//

Type openvino::parseElementType(StringRef name, MLIRContext &context) {
  // Numbers are those of ONNX's TensorProto.DataType.
  struct Row {
    StringLiteral name;
    int number;
  };
  static constexpr Row rows[] = {
      {"f32", 1},     {"fp32", 1},    {"u8", 2},    {"i8", 3},
      {"u16", 4},     {"i16", 5},     {"i32", 6},   {"i64", 7},
      {"string", 8},  {"boolean", 9}, {"bool", 9},  {"u1", 9},
      {"bin", 9},     {"f16", 10},    {"fp16", 10}, {"f64", 11},
      {"fp64", 11},   {"u32", 12},    {"u64", 13},  {"bf16", 16},
      {"f8e4m3", 17}, {"f8e5m2", 19}, {"u4", 21},   {"i4", 22},
      {"f4e2m1", 23}, {"f8e8m0", 24}, {"u2", 25},   {"i2", 26},
      {"nf4", 1}};
  std::string lower = name.lower();
  for (const Row &row : rows)
    if (row.name == lower)
      return onnx::importElementType(&context, row.number);
  return {};
}

FailureOr<std::optional<Ints>> openvino::parseShape(StringRef text) {
  text = text.trim();
  text.consume_front("[");
  text.consume_back("]");
  Ints shape;
  if (text == "...")
    return std::optional<Ints>();
  SmallVector<StringRef> parts;
  if (!text.empty())
    text.split(parts, ',');
  for (StringRef part : parts) {
    part = part.trim();
    int64_t extent;
    if (part == "?" || part == "-1" || part.contains(".."))
      shape.push_back(ShapedType::kDynamic);
    else if (part.getAsInteger(10, extent) || extent < 0)
      return failure();
    else
      shape.push_back(extent);
  }
  return std::optional<Ints>(shape);
}

/// The first of names that commas separate; "\," is a comma in a name.
static std::string firstName(StringRef names) {
  std::string name;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == ',')
      break;
    if (names[i] == '\\' && i + 1 < names.size() && names[i + 1] == ',')
      ++i;
    name += names[i];
  }
  return name;
}

/// `own` where it is one of the names or there are none, else the first.
static std::string chooseName(StringRef names, StringRef own) {
  std::string first = firstName(names);
  for (std::string name = first; !names.empty(); name = firstName(names)) {
    if (name == own)
      return name;
    // A comma in a name takes two characters.
    size_t used = name.size() + llvm::count(name, ',');
    names = names.drop_front(std::min(used + 1, names.size()));
  }
  return first.empty() ? own.str() : first;
}

Location Importer::layerLoc(StringRef path, const Layer &layer) {
  std::string text = (path + "/" + layer.type).str();
  if (!layer.name.empty())
    text += " '" + layer.name + "'";
  text += " (" + layer.version + ")";
  return NameLoc::get(builder.getStringAttr(llvm::json::fixUTF8(text)),
                      file.locOf(layer.node));
}

//===----------------------------------------------------------------------===//
// What is supported
//===----------------------------------------------------------------------===//

/// Layers that are no row of a table.
static bool isStructural(StringRef type, unsigned opset) {
  static constexpr std::pair<StringLiteral, uint32_t> kinds[] = {
      {"Parameter", opsets({1})}, {"Const", opsets({1})},
      {"Result", opsets({1})},    {"Loop", opsets({5})},
      {"If", opsets({8})},        {"TensorIterator", opsets({1})},
      {"Assign", opsets({3, 6})}, {"ReadValue", opsets({3, 6})}};
  return llvm::any_of(kinds, [&](const auto &kind) {
    return kind.first == type && opset < 32 && (kind.second >> opset & 1);
  });
}

const LayerRow *openvino::findRow(StringRef type, unsigned opset) {
  static const llvm::StringMap<SmallVector<const LayerRow *>> rows = [] {
    llvm::StringMap<SmallVector<const LayerRow *>> map;
    for (ArrayRef<LayerRow> list :
         {getElementwiseRows(), getActivationRows(), getShapeRows(),
          getIndexingRows(), getReductionRows(), getProductRows(),
          getPoolingRows(), getNormalizationRows(), getRecurrentRows(),
          getImageRows(), getSpaceRows(), getVideoRows(), getDecodingRows()})
      for (const LayerRow &row : list)
        map[row.type].push_back(&row);
    return map;
  }();
  auto it = rows.find(type);
  if (it == rows.end() || opset >= 32)
    return nullptr;
  for (const LayerRow *row : it->second)
    if (row->opsets >> opset & 1)
      return row;
  return nullptr;
}

/// Says all at once which layer types there are that nothing imports.
LogicalResult Importer::checkSupported() {
  struct Missing {
    const Layer *first;
    std::string path;
    SmallVector<std::string> names;
  };
  llvm::MapVector<StringAttr, Missing> missing;
  SmallVector<std::pair<const Graph *, std::string>> open{
      {&file.graph, kMainPath.str()}};
  while (!open.empty()) {
    auto [graph, path] = open.pop_back_val();
    for (const Layer &layer : graph->layers) {
      for (const auto &body : layer.bodies)
        open.push_back(
            {body.get(), path + "/" + layer.type + " '" + layer.name + "'"});
      if (isStructural(layer.type, layer.opset()) ||
          findRow(layer.type, layer.opset()))
        continue;
      StringAttr key = builder.getStringAttr(layer.version + "::" + layer.type);
      auto [it, added] = missing.try_emplace(key, Missing{&layer, path, {}});
      it->second.names.push_back(layer.name);
    }
  }
  for (auto &[key, one] : missing) {
    auto error = loopc::emitError(layerLoc(one.path, *one.first),
                                  Diag::UnsupportedOperator);
    error << "loopc has no layer type '" << one.first->type << "' of '"
          << one.first->version << "'";
    if (one.names.size() > 1)
      error << ", which " << one.names.size() << " layers have: '"
            << llvm::join(ArrayRef(one.names).take_front(5), "', '") << "'"
            << (one.names.size() > 5 ? ", ..." : "");
  }
  return success(missing.empty());
}

//===----------------------------------------------------------------------===//
// The main graph
//===----------------------------------------------------------------------===//

FailureOr<Type> Importer::parameterType(const Layer &layer) {
  auto error = [&]() {
    return loopc::emitError(file.locOf(layer.node), Diag::IRLayer)
           << "Parameter '" << layer.name << "': ";
  };
  StringRef elementName = layer.data.attribute("element_type").value();
  StringRef shapeText = layer.data.attribute("shape").value();
  Type element = parseElementType(elementName, context);
  if (!element)
    return error() << "there is no element type '" << elementName << "'";
  FailureOr<std::optional<Ints>> shape = parseShape(shapeText);
  if (failed(shape))
    return error() << "'" << shapeText << "' is no shape";
  if (!*shape)
    return Type(UnrankedTensorType::get(element));
  return Type(RankedTensorType::get(**shape, element));
}

FailureOr<Type> Importer::pinnedType(const Layer &layer, StringRef name) {
  FailureOr<Type> type = parameterType(layer);
  auto pin = options.shapes.find(name);
  if (failed(type) || pin == options.shapes.end())
    return type;
  auto tensor = cast<TensorType>(*type);
  Location loc = file.locOf(layer.node);
  if (!tensor.hasRank())
    return Type(tensor.clone(ArrayRef(pin->second)));
  if (pin->second.size() != static_cast<size_t>(tensor.getRank()))
    return loopc::emitError(loc, Diag::ShapeConflict)
           << "the shape given for input '" << name << "' has rank "
           << pin->second.size() << " but the model says " << tensor;
  SmallVector<int64_t> shape(tensor.getShape());
  for (auto [k, given] : llvm::enumerate(pin->second)) {
    if (ShapedType::isDynamic(given))
      continue;
    if (ShapedType::isStatic(shape[k]) && shape[k] != given)
      return loopc::emitError(loc, Diag::ShapeConflict)
             << "dimension " << k << " of input '" << name << "' is "
             << shape[k] << " but the shape given says " << given;
    shape[k] = given;
  }
  return Type(tensor.clone(shape));
}

LogicalResult Importer::importInputs(func::FuncOp func, Values &values) {
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attrs;
  SmallVector<unsigned> layers;
  llvm::StringSet<> names;
  for (auto [index, layer] : llvm::enumerate(file.graph.layers)) {
    if (layer.type != "Parameter")
      continue;
    // Of several names the layer's own; it may have none of them.
    std::string name = chooseName(layer.outputs[0].names, layer.name);
    Location loc = file.locOf(layer.node);
    if (name.empty() || !llvm::json::isUTF8(name))
      return loopc::emitError(loc, Diag::BadPort)
             << "the Parameter has no name, or one that is not UTF-8";
    if (!names.insert(name).second)
      return loopc::emitError(loc, Diag::DuplicateName)
             << "the model has two inputs '" << name << "'";
    FailureOr<Type> type = pinnedType(layer, name);
    if (failed(type))
      return failure();
    NamedAttrList attributes;
    attributes.set("loopc.name", builder.getStringAttr(name));
    setDimNames(attributes, *type);
    types.push_back(*type);
    attrs.push_back(attributes.getDictionary(&context));
    layers.push_back(index);
  }
  for (const auto &pin : options.shapes)
    if (!names.contains(pin.getKey()))
      return loopc::emitError(file.locAt(-1), Diag::UnknownInput)
             << "the model has no input '" << pin.getKey() << "'";
  for (const auto &pin : options.dims)
    return loopc::emitError(file.locAt(-1), Diag::UnknownDim)
           << "no input of the model has a dimension '" << pin.getKey()
           << "': dimensions of OpenVINO IR have no names";
  addStateInputs(types, attrs);
  func.setType(builder.getFunctionType(types, {}));
  entryBlock = func.addEntryBlock();
  func.setAllArgAttrs(attrs);
  for (auto [index, argument] : llvm::zip_first(
           layers, entryBlock->getArguments().take_front(layers.size()))) {
    argument.setLoc(layerLoc(kMainPath, file.graph.layers[index]));
    values[index] = {argument};
  }
  return success();
}

/// What the file says of the shape of a port, as a type like that of its value.
/// A port without dimensions may be a scalar or of any rank.
static Type declaredType(const Port &port, Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor || port.dims.empty())
    return type;
  Ints shape(llvm::map_range(port.dims, [](int64_t extent) {
    return extent < 0 ? ShapedType::kDynamic : extent;
  }));
  return RankedTensorType::get(shape, tensor.getElementType());
}

LogicalResult Importer::importOutputs(func::FuncOp func, const Values &values) {
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> attrs;
  llvm::StringSet<> names;
  for (const Layer &layer : file.graph.layers) {
    if (layer.type != "Result")
      continue;
    Source source = layer.sources[0];
    const Layer &from = file.graph.layers[source.layer];
    std::string candidates[] = {
        firstName(layer.node.attribute("output_names").value()),
        firstName(from.outputs[source.port].names), layer.name, from.name,
        "output" + std::to_string(layer.id)};
    std::string name;
    for (const std::string &one : candidates)
      if (name.empty() && !one.empty() && llvm::json::isUTF8(one) &&
          !names.contains(one))
        name = one;
    if (name.empty() || !names.insert(name).second)
      return loopc::emitError(file.locOf(layer.node), Diag::DuplicateName)
             << "Result '" << layer.name << "' has no name of its own";
    Value value = values[source.layer][source.port];
    NamedAttrList attributes;
    attributes.set("loopc.name", builder.getStringAttr(name));
    setDimNames(attributes, value.getType());
    onnx::setDeclared(attributes, value.getType(),
                      declaredType(from.outputs[source.port], value.getType()),
                      {});
    results.push_back(value);
    attrs.push_back(attributes.getDictionary(&context));
  }
  addStateOutputs(results, attrs);
  finishFunction(func, func.getLoc(), results, attrs);
  return success();
}

LogicalResult Importer::importMain() {
  Location loc = NameLoc::get(builder.getStringAttr(kMainPath), file.locAt(-1));
  auto func = func::FuncOp::create(builder, loc, kMainPath,
                                   builder.getFunctionType({}, {}));
  Values values(file.graph.layers.size());
  if (failed(readVariables()) || failed(importInputs(func, values)))
    return failure();
  builder.setInsertionPointToEnd(entryBlock);
  if (failed(importGraph(file.graph, kMainPath, values)) ||
      failed(importOutputs(func, values)))
    return failure();
  eraseUnusedConstants();
  return success();
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

LogicalResult Importer::importGraph(const Graph &graph, StringRef path,
                                    Values &values) {
  for (unsigned index : graph.order)
    if (failed(importLayer(graph, index, path, values)))
      return failure();
  return success();
}

/// What the layer gives must be what its ports say: shapes are hints, element
/// types are not.
LogicalResult Importer::checkOutputs(LayerImport &l) {
  const Layer &layer = l.layer;
  if (l.results.size() < layer.outputs.size())
    return l.fail() << "the layer has " << layer.outputs.size()
                    << " outputs but gives " << l.results.size();
  for (auto [k, port] : llvm::enumerate(layer.outputs)) {
    Type element = parseElementType(port.precision, context);
    if (!element)
      return l.fail() << "output port " << port.id
                      << " has the unknown precision '" << port.precision
                      << "'";
    if (element != l.element(l.results[k]))
      return l.fail() << "output port " << port.id << " is " << element
                      << " but the layer gives " << l.element(l.results[k]);
  }
  return success();
}

LogicalResult Importer::importLayer(const Graph &graph, unsigned index,
                                    StringRef path, Values &values) {
  // Bodies that are imported until their types settle must end some day.
  constexpr uint64_t kMaxLayers = 1 << 19;
  const Layer &layer = graph.layers[index];
  if (layer.type == "Parameter" || layer.type == "Result")
    return success();
  Location loc = layerLoc(path, layer);
  if (++importedLayers > kMaxLayers)
    return loopc::emitError(loc, Diag::ModelTooDeep)
           << "the model expands to more than " << kMaxLayers << " layers";
  LayerImport l(*this, layer, loc,
                (path + "/" + layer.type + " '" + layer.name + "'").str());
  for (Source source : layer.sources)
    l.inputs.push_back(values[source.layer][source.port]);
  if (layer.type == "Const") {
    FailureOr<Value> value = importConst(layer, loc);
    if (failed(value))
      return failure();
    l.set(*value);
  } else if (layer.type == "If") {
    if (failed(importIf(l)))
      return failure();
  } else if (layer.type == "ReadValue") {
    if (failed(importReadValue(l)))
      return failure();
  } else if (layer.type == "Assign") {
    if (failed(importAssign(l)))
      return failure();
  } else if (!layer.bodies.empty()) {
    if (failed(importLoop(l)))
      return failure();
  } else {
    const LayerRow &row = *findRow(layer.type, layer.opset());
    l.op = row.op;
    row.import(l);
  }
  if (l.isBad || failed(checkOutputs(l)))
    return failure();
  values[index] = l.results;
  return success();
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

bool loopc::looksLikeOpenVINO(StringRef name, StringRef bytes) {
  bytes.consume_front("\xef\xbb\xbf");
  StringRef start = bytes.ltrim();
  return llvm::sys::path::extension(name) == ".xml" ||
         start.starts_with("<?xml") || start.starts_with("<net ");
}

OwningOpRef<ModuleOp> loopc::importOpenVINO(StringRef name, StringRef bytes,
                                            MLIRContext &context,
                                            const ImportOptions &options) {
  DialectRegistry registry;
  registerImporterDialects(registry);
  context.appendDialectRegistry(registry);
  for (StringRef dialect : registry.getDialectNames())
    context.getOrLoadDialect(dialect);
  File file(name, bytes, context);
  if (failed(file.read()))
    return {};
  return Importer(file, context, options).run();
}
