//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Maps at the border of a model become tensors, before anything is imported:
//
//   map(string, float) x           string[x.size] x.keys, float[x.size]
//   x.values y = DictVectorizer(x)          y = DictVectorizer(x.keys,
//   x.values) m = ZipMap(z)                  m.keys, m.values = ZipMap(z)
//
// ContribMaps.cpp has the bodies of these operators. Nothing else reads maps.

#include "ImporterImpl.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::importer;

static std::string keysOf(StringRef map) { return (map + ".keys").str(); }
static std::string valuesOf(StringRef map) { return (map + ".values").str(); }

static bool isOfML(const pb::NodeProto &node, StringRef name) {
  return node.domain() == "ai.onnx.ml" && node.op_type() == name;
}

static bool readsMap(const pb::NodeProto &node) {
  return isOfML(node, "DictVectorizer") || isOfML(node, "CastMap");
}

/// A tensor of rank 1 that is part of map `name`.
static void addPart(pb::GraphProto &graph, const std::string &name,
                    int32_t type, const std::string &size) {
  pb::ValueInfoProto &port = *graph.add_input();
  port.set_name(name);
  auto &tensor = *port.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  tensor.mutable_shape()->add_dim()->set_dim_param(size);
}

LogicalResult Importer::splitMapInputs(llvm::StringSet<> &maps) {
  pb::GraphProto &graph = *model->proto.mutable_graph();
  auto isMap = [](const pb::ValueInfoProto &input) {
    return input.type().has_map_type();
  };
  if (llvm::none_of(graph.input(), isMap))
    return success();
  google::protobuf::RepeatedPtrField<pb::ValueInfoProto> inputs;
  inputs.Swap(graph.mutable_input());
  for (pb::ValueInfoProto &input : inputs) {
    if (!isMap(input)) {
      *graph.add_input() = std::move(input);
      continue;
    }
    const auto &type = input.type().map_type();
    if ((type.key_type() != pb::TensorProto::INT64 &&
         type.key_type() != pb::TensorProto::STRING) ||
        !type.value_type().has_tensor_type())
      return loopc::emitError(pathLoc("main"), Diag::UnsupportedType)
             << "input '" << input.name()
             << "' is a map, but not one of int64 or strings to tensors of one "
                "element";
    maps.insert(input.name());
    addPart(graph, keysOf(input.name()), type.key_type(),
            input.name() + ".size");
    addPart(graph, valuesOf(input.name()),
            type.value_type().tensor_type().elem_type(),
            input.name() + ".size");
  }
  return success();
}

LogicalResult Importer::splitMaps() {
  pb::GraphProto &graph = *model->proto.mutable_graph();
  llvm::StringSet<> maps;
  if (failed(splitMapInputs(maps)))
    return failure();
  for (pb::NodeProto &node : *graph.mutable_node())
    if (isOfML(node, "ZipMap") && node.output_size() == 1 &&
        maps.insert(node.output(0)).second) {
      node.add_output(valuesOf(node.output(0)));
      node.set_output(0, keysOf(node.output(0)));
    }
  if (maps.empty())
    return success();
  for (auto [index, node] : llvm::enumerate(*graph.mutable_node()))
    for (auto [k, input] : llvm::enumerate(node.input())) {
      if (!maps.contains(input))
        continue;
      if (!readsMap(node) || node.input_size() != 1)
        return loopc::emitError(nodeLoc("main", index, node, std::nullopt),
                                Diag::UnsupportedType)
               << "input #" << k << " '" << input
               << "' is a map, which only DictVectorizer and CastMap read";
      node.add_input(valuesOf(input));
      node.set_input(0, keysOf(node.input(0)));
      break;
    }
  google::protobuf::RepeatedPtrField<pb::ValueInfoProto> outputs;
  outputs.Swap(graph.mutable_output());
  for (pb::ValueInfoProto &output : outputs) {
    if (!maps.contains(output.name())) {
      *graph.add_output() = std::move(output);
      continue;
    }
    graph.add_output()->set_name(keysOf(output.name()));
    graph.add_output()->set_name(valuesOf(output.name()));
  }
  for (StringRef map : maps.keys()) {
    mapOfPort[keysOf(map)] = map.str();
    mapOfPort[valuesOf(map)] = map.str();
  }
  return success();
}
