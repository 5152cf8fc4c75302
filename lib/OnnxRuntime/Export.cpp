//===- Export.cpp - Nodes of onnxruntime's as ONNX models -----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Export.h"

#include <algorithm>
#include <map>
#include <set>

using namespace loopc::ort;

namespace {

/// Numbers of the fields that are written, from onnx.proto.
namespace field {
enum Model { kIrVersion = 1, kProducer = 2, kGraph = 7, kOperatorSet = 8 };
enum OperatorSet { kSetDomain = 1, kSetVersion = 2 };
enum Graph {
  kNode = 1,
  kGraphName = 2,
  kInitializer = 5,
  kGraphInput = 11,
  kGraphOutput = 12
};
enum Node {
  kInput = 1,
  kOutput = 2,
  kNodeName = 3,
  kOperator = 4,
  kAttribute = 5,
  kDomain = 7
};
enum Attribute {
  kAttributeName = 1,
  kFloatValue = 2,
  kIntValue = 3,
  kStringValue = 4,
  kTensorValue = 5,
  kGraphValue = 6,
  kFloatValues = 7,
  kIntValues = 8,
  kStringValues = 9,
  kAttributeType = 20
};
enum Tensor {
  kExtent = 1,
  kDataType = 2,
  kStringData = 6,
  kTensorName = 8,
  kRawData = 9
};
enum ValueInfo { kValueName = 1, kValueType = 2 };
enum Type { kTensorType = 1, kSequenceType = 4, kOptionalType = 9 };
enum TypeContents { kElementType = 1, kShape = 2 };
enum Shape { kDimension = 1, kDimensionValue = 1 };
} // namespace field

/// Numbers of AttributeProto.AttributeType.
enum AttributeType {
  kOnnxFloat = 1,
  kOnnxInt = 2,
  kOnnxString = 3,
  kOnnxTensor = 4,
  kOnnxGraph = 5,
  kOnnxFloats = 6,
  kOnnxInts = 7,
  kOnnxStrings = 8
};

/// Constants of fewer bytes are copied at once.
constexpr size_t kMinBorrowed = 4096;

class Exporter {
public:
  /// \p sharesConstants: constants that are not small become inputs.
  Exporter(const Api &api, bool sharesConstants)
      : api(api), sharesConstants(sharesConstants) {}

  ExportedModel run(const OrtGraph *graph,
                    const std::vector<const OrtNode *> &nodes);

private:
  Message writeNode(const OrtNode *node);
  Message writeAttribute(const OrtOpAttr *attribute);
  Message writeGraph(const OrtGraph *graph);
  /// \p isOfGraph: the tensor lives as long as the graph.
  Message writeTensor(std::string_view name, const OrtValue *value,
                      bool isOfGraph);
  Message writeType(const OrtTypeInfo *type);
  Message writeTensorType(const OrtTypeInfo *type);
  Message writeValueInfo(const OrtValueInfo *value);
  void writeOperatorSets(const OrtGraph *graph, Message &model);
  void addInputs(const std::vector<const OrtNode *> &nodes, Message &graph,
                 ExportedModel &model);
  void addOutputs(const std::vector<const OrtNode *> &nodes, Message &graph,
                  ExportedModel &model);
  bool isReadOutside(const OrtValueInfo *value,
                     const std::vector<const OrtNode *> &nodes);

  std::string getName(const OrtValueInfo *value) {
    return get<const char *>(api, api.GetValueInfoName, value);
  }

  std::vector<std::string> readStrings(const OrtOpAttr *attribute);
  bool isDefaultOfTwo(const OrtNode *node, const OrtOpAttr *attribute);

  bool isShared(const OrtValue *constant) const {
    return sharesConstants &&
           get<int32_t>(api, api.GetValueType, constant) == kTensor &&
           getElementType(constant) != kString &&
           get<size_t>(api, api.GetTensorSizeInBytes, constant) >= kMinBorrowed;
  }
  int32_t getElementType(const OrtValue *tensor) const;

  const Api &api;
  bool sharesConstants;
  std::set<std::string> domains;
};

[[noreturn]] void refuse(const std::string &message) {
  throw Error(kNotImplemented, message);
}

} // namespace

std::string loopc::ort::describe(const Api &api, const OrtNode *node) {
  std::string name = get<const char *>(api, api.Node_GetName, node);
  std::string type = get<const char *>(api, api.Node_GetOperatorType, node);
  return name.empty() ? type : type + " '" + name + "'";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Names of dimensions are left out: onnxruntime does not hold a model to
/// them, and loopc would.
Message Exporter::writeTensorType(const OrtTypeInfo *type) {
  auto *tensor = get<const OrtTensorTypeAndShapeInfo *>(
      api, api.CastTypeInfoToTensorInfo, type);
  int32_t element = get<int32_t>(api, api.GetTensorElementType, tensor);
  if (element < kFloat || element > kLastWholeType)
    refuse("elements of onnxruntime's type #" + std::to_string(element) +
           " cannot be handed over");
  Message result;
  result.addInt(field::kElementType, element);
  if (!api.TensorTypeAndShape_HasShape(tensor))
    return result;
  std::vector<int64_t> extents(
      get<size_t>(api, api.GetDimensionsCount, tensor));
  if (!extents.empty())
    api.check(api.GetDimensions(tensor, extents.data(), extents.size()));
  Message shape;
  for (int64_t extent : extents) {
    Message dimension;
    if (extent >= 0)
      dimension.addInt(field::kDimensionValue, extent);
    shape.add(field::kDimension, dimension);
  }
  result.add(field::kShape, shape);
  return result;
}

Message Exporter::writeType(const OrtTypeInfo *type) {
  Message result, contents;
  int32_t kind = get<int32_t>(api, api.GetOnnxTypeFromTypeInfo, type);
  OrtTypeInfo *element = nullptr;
  switch (kind) {
  case kTensor:
    result.add(field::kTensorType, writeTensorType(type));
    return result;
  case kSequence:
    api.check(api.GetSequenceElementType(
        get<const OrtSequenceTypeInfo *>(
            api, api.CastTypeInfoToSequenceTypeInfo, type),
        &element));
    break;
  case kOptional:
    api.check(api.GetOptionalContainedTypeInfo(
        get<const OrtOptionalTypeInfo *>(
            api, api.CastTypeInfoToOptionalTypeInfo, type),
        &element));
    break;
  default:
    refuse("a value is neither a tensor, a sequence nor an optional");
  }
  auto owned = own(element, api.ReleaseTypeInfo);
  contents.add(field::kElementType, writeType(element));
  result.add(kind == kSequence ? field::kSequenceType : field::kOptionalType,
             contents);
  return result;
}

Message Exporter::writeValueInfo(const OrtValueInfo *value) {
  Message result;
  result.addBytes(field::kValueName, getName(value));
  if (auto *type =
          get<const OrtTypeInfo *>(api, api.GetValueInfoTypeInfo, value))
    result.add(field::kValueType, writeType(type));
  return result;
}

//===----------------------------------------------------------------------===//
// Constants and attributes
//===----------------------------------------------------------------------===//

int32_t Exporter::getElementType(const OrtValue *tensor) const {
  int32_t type = 0;
  const int64_t *shape = nullptr;
  size_t rank = 0;
  api.check(api.GetTensorElementTypeAndShapeDataReference(tensor, &type, &shape,
                                                          &rank));
  return type;
}

Message Exporter::writeTensor(std::string_view name, const OrtValue *value,
                              bool isOfGraph) {
  int32_t type = 0;
  const int64_t *shape = nullptr;
  size_t rank = 0;
  if (get<int32_t>(api, api.GetValueType, value) != kTensor)
    refuse("the constant '" + std::string(name) + "' is no tensor");
  api.check(api.GetTensorElementTypeAndShapeDataReference(value, &type, &shape,
                                                          &rank));
  if (type < kFloat || type > kLastPackedType)
    refuse("the constant '" + std::string(name) +
           "' has elements of onnxruntime's type #" + std::to_string(type));
  Message result;
  int64_t count = 1;
  for (size_t dim = 0; dim < rank; ++dim) {
    result.addInt(field::kExtent, shape[dim]);
    count *= shape[dim];
  }
  result.addInt(field::kDataType, type);
  if (!name.empty())
    result.addBytes(field::kTensorName, name);
  if (type != kString) {
    auto *data = static_cast<const char *>(
        get<const void *>(api, api.GetTensorData, value));
    size_t bytes = get<size_t>(api, api.GetTensorSizeInBytes, value);
    if (isOfGraph && bytes >= kMinBorrowed)
      result.borrowBytes(field::kRawData, {data, bytes});
    else
      result.addBytes(field::kRawData, {data, bytes});
    return result;
  }
  std::string text(get<size_t>(api, api.GetStringTensorDataLength, value), 0);
  std::vector<size_t> offsets(static_cast<size_t>(count));
  if (!offsets.empty())
    api.check(api.GetStringTensorContent(value, text.data(), text.size(),
                                         offsets.data(), offsets.size()));
  offsets.push_back(text.size());
  for (size_t i = 0; i + 1 < offsets.size(); ++i)
    result.addBytes(
        field::kStringData,
        std::string_view(text).substr(offsets[i], offsets[i + 1] - offsets[i]));
  return result;
}

std::vector<std::string> Exporter::readStrings(const OrtOpAttr *attribute) {
  // They come with their ends: "a\0b\0".
  std::vector<std::string> strings;
  std::vector<char> text =
      readAttribute<char>(api, attribute, kStringsAttribute);
  for (auto begin = text.begin(); begin != text.end();) {
    auto end = std::find(begin, text.end(), '\0');
    strings.emplace_back(begin, end);
    begin = end == text.end() ? end : end + 1;
  }
  return strings;
}

Message Exporter::writeAttribute(const OrtOpAttr *attribute) {
  Message result;
  std::string name = get<const char *>(api, api.OpAttr_GetName, attribute);
  result.addBytes(field::kAttributeName, name);
  auto setType = [&](AttributeType type) {
    result.addInt(field::kAttributeType, type);
  };
  auto kind = get<int32_t>(api, api.OpAttr_GetType, attribute);
  switch (kind) {
  case kIntAttribute:
  case kIntsAttribute:
    setType(kind == kIntAttribute ? kOnnxInt : kOnnxInts);
    for (int64_t value :
         readAttribute<int64_t>(api, attribute, AttributeKind(kind)))
      result.addInt(
          kind == kIntAttribute ? field::kIntValue : field::kIntValues, value);
    return result;
  case kFloatAttribute:
  case kFloatsAttribute:
    setType(kind == kFloatAttribute ? kOnnxFloat : kOnnxFloats);
    for (float value :
         readAttribute<float>(api, attribute, AttributeKind(kind)))
      result.addFloat(kind == kFloatAttribute ? field::kFloatValue
                                              : field::kFloatValues,
                      value);
    return result;
  case kStringAttribute: {
    setType(kOnnxString);
    std::vector<char> text =
        readAttribute<char>(api, attribute, kStringAttribute);
    result.addBytes(field::kStringValue, {text.data(), text.size()});
    return result;
  }
  case kStringsAttribute:
    setType(kOnnxStrings);
    for (const std::string &text : readStrings(attribute))
      result.addBytes(field::kStringValues, text);
    return result;
  case kTensorAttribute: {
    setType(kOnnxTensor);
    auto value =
        own(get<OrtValue *>(api, api.OpAttr_GetTensorAttributeAsOrtValue,
                            attribute),
            api.ReleaseValue);
    result.add(field::kTensorValue,
               writeTensor("", value.get(), /*isOfGraph=*/false));
    return result;
  }
  default:
    refuse("attribute '" + name +
           "' has a type that onnxruntime does not hand out");
  }
}

//===----------------------------------------------------------------------===//
// Nodes and graphs
//===----------------------------------------------------------------------===//

/// onnxruntime gives nodes the defaults of attributes that they do not have.
/// The activations of an RNN are for two directions there, also where it has
/// one.
bool Exporter::isDefaultOfTwo(const OrtNode *node, const OrtOpAttr *attribute) {
  return std::string_view(
             get<const char *>(api, api.Node_GetOperatorType, node)) == "RNN" &&
         std::string_view(get<const char *>(api, api.OpAttr_GetName,
                                            attribute)) == "activations" &&
         readStrings(attribute) == std::vector<std::string>{"Tanh", "Tanh"};
}

Message Exporter::writeNode(const OrtNode *node) {
  Message result;
  for (auto *input : getList<const OrtValueInfo *>(api, api.Node_GetNumInputs,
                                                   api.Node_GetInputs, node))
    result.addBytes(field::kInput, input ? getName(input) : "");
  for (auto *output : getList<const OrtValueInfo *>(api, api.Node_GetNumOutputs,
                                                    api.Node_GetOutputs, node))
    result.addBytes(field::kOutput, output ? getName(output) : "");
  result.addBytes(field::kNodeName,
                  get<const char *>(api, api.Node_GetName, node));
  result.addBytes(field::kOperator,
                  get<const char *>(api, api.Node_GetOperatorType, node));
  std::string domain = get<const char *>(api, api.Node_GetDomain, node);
  result.addBytes(field::kDomain, domain);
  domains.insert(domain);
  std::vector<const OrtGraph *> graphs(
      get<size_t>(api, api.Node_GetNumSubgraphs, node));
  std::vector<const char *> names(graphs.size());
  if (!graphs.empty())
    api.check(api.Node_GetSubgraphs(node, graphs.data(), graphs.size(),
                                    names.data()));
  for (size_t i = 0; i < graphs.size(); ++i) {
    Message attribute;
    attribute.addBytes(field::kAttributeName, names[i]);
    attribute.addInt(field::kAttributeType, kOnnxGraph);
    attribute.add(field::kGraphValue, writeGraph(graphs[i]));
    result.add(field::kAttribute, std::move(attribute));
  }
  for (auto *attribute : getList<const OrtOpAttr *>(
           api, api.Node_GetNumAttributes, api.Node_GetAttributes, node))
    if (get<int32_t>(api, api.OpAttr_GetType, attribute) != kGraphAttribute &&
        !isDefaultOfTwo(node, attribute))
      result.add(field::kAttribute, writeAttribute(attribute));
  return result;
}

Message Exporter::writeGraph(const OrtGraph *graph) {
  Message result;
  result.addBytes(field::kGraphName, "body");
  for (auto *node : getList<const OrtNode *>(api, api.Graph_GetNumNodes,
                                             api.Graph_GetNodes, graph))
    result.add(field::kNode, writeNode(node));
  for (auto *value : getList<const OrtValueInfo *>(
           api, api.Graph_GetNumInitializers, api.Graph_GetInitializers, graph))
    result.add(field::kInitializer,
               writeTensor(getName(value),
                           get<const OrtValue *>(
                               api, api.ValueInfo_GetInitializerValue, value),
                           /*isOfGraph=*/true));
  for (auto *value : getList<const OrtValueInfo *>(api, api.Graph_GetNumInputs,
                                                   api.Graph_GetInputs, graph))
    result.add(field::kGraphInput, writeValueInfo(value));
  for (auto *value : getList<const OrtValueInfo *>(api, api.Graph_GetNumOutputs,
                                                   api.Graph_GetOutputs, graph))
    result.add(field::kGraphOutput, writeValueInfo(value));
  return result;
}

/// What comes from outside of `nodes` becomes inputs and initializers.
void Exporter::addInputs(const std::vector<const OrtNode *> &nodes,
                         Message &graph, ExportedModel &model) {
  std::set<std::string> known;
  for (const OrtNode *node : nodes)
    for (auto *output : getList<const OrtValueInfo *>(
             api, api.Node_GetNumOutputs, api.Node_GetOutputs, node))
      if (output)
        known.insert(getName(output));
  auto add = [&](const OrtValueInfo *value) {
    if (!value || !known.insert(getName(value)).second)
      return;
    if (get<bool>(api, api.ValueInfo_IsConstantInitializer, value)) {
      auto *constant =
          get<const OrtValue *>(api, api.ValueInfo_GetInitializerValue, value);
      if (constant && isShared(constant)) {
        model.sharesConstants = true;
      } else if (constant) {
        graph.add(field::kInitializer,
                  writeTensor(getName(value), constant, /*isOfGraph=*/true));
        return;
      }
    }
    graph.add(field::kGraphInput, writeValueInfo(value));
    model.inputs.push_back(getName(value));
  };
  for (const OrtNode *node : nodes) {
    for (auto *input : getList<const OrtValueInfo *>(api, api.Node_GetNumInputs,
                                                     api.Node_GetInputs, node))
      add(input);
    for (auto *input :
         getList<const OrtValueInfo *>(api, api.Node_GetNumImplicitInputs,
                                       api.Node_GetImplicitInputs, node))
      add(input);
  }
}

bool Exporter::isReadOutside(const OrtValueInfo *value,
                             const std::vector<const OrtNode *> &nodes) {
  // Of an operator whose body is asked for, onnxruntime does not show the
  // graph.
  if (!get<const OrtGraph *>(api, api.Node_GetGraph, nodes.front()) ||
      get<bool>(api, api.ValueInfo_IsGraphOutput, value))
    return true;
  size_t count = get<size_t>(api, api.ValueInfo_GetValueNumConsumers, value);
  std::vector<const OrtNode *> readers(count);
  std::vector<int64_t> places(count);
  if (count != 0)
    api.check(api.ValueInfo_GetValueConsumers(value, readers.data(),
                                              places.data(), count));
  return std::any_of(readers.begin(), readers.end(), [&](auto *reader) {
    return std::find(nodes.begin(), nodes.end(), reader) == nodes.end();
  });
}

void Exporter::addOutputs(const std::vector<const OrtNode *> &nodes,
                          Message &graph, ExportedModel &model) {
  for (const OrtNode *node : nodes)
    for (auto *output : getList<const OrtValueInfo *>(
             api, api.Node_GetNumOutputs, api.Node_GetOutputs, node)) {
      if (!output || getName(output).empty() || !isReadOutside(output, nodes))
        continue;
      graph.add(field::kGraphOutput, writeValueInfo(output));
      model.outputs.push_back(getName(output));
    }
  if (model.outputs.empty())
    refuse("nobody reads what is computed");
}

/// Only of domains that are used: onnxruntime lists all that it knows.
void Exporter::writeOperatorSets(const OrtGraph *graph, Message &model) {
  size_t count = get<size_t>(api, api.Graph_GetNumOperatorSets, graph);
  std::vector<const char *> names(count);
  std::vector<int64_t> versions(count);
  if (count != 0)
    api.check(
        api.Graph_GetOperatorSets(graph, names.data(), versions.data(), count));
  for (size_t i = 0; i < count; ++i) {
    if (!domains.contains(names[i]))
      continue;
    Message set;
    set.addBytes(field::kSetDomain, names[i]);
    set.addInt(field::kSetVersion, versions[i]);
    model.add(field::kOperatorSet, set);
  }
}

ExportedModel Exporter::run(const OrtGraph *graph,
                            const std::vector<const OrtNode *> &nodes) {
  ExportedModel exported;
  Message body, model;
  for (const OrtNode *node : nodes)
    body.add(field::kNode, writeNode(node));
  body.addBytes(field::kGraphName, "main");
  addInputs(nodes, body, exported);
  addOutputs(nodes, body, exported);
  model.addInt(field::kIrVersion,
               get<int64_t>(api, api.Graph_GetOnnxIRVersion, graph));
  model.addBytes(field::kProducer, "loopc");
  writeOperatorSets(graph, model);
  model.add(field::kGraph, std::move(body));
  exported.message = std::move(model);
  return exported;
}

ExportedModel loopc::ort::exportNodes(const Api &api, const OrtGraph *graph,
                                      const std::vector<const OrtNode *> &nodes,
                                      size_t mostBytes) {
  ExportedModel model =
      Exporter(api, /*sharesConstants=*/false).run(graph, nodes);
  if (model.message.getSize() > mostBytes)
    model = Exporter(api, /*sharesConstants=*/true).run(graph, nodes);
  if (size_t size = model.message.getSize(); size > kMaxModelBytes)
    refuse("with its constants it has " + std::to_string(size) +
           " bytes, more than a model may have");
  return model;
}
