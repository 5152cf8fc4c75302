//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reader.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::openvino;

/// Bodies in bodies.
static constexpr unsigned kDeepest = 64;

unsigned Layer::opset() const {
  llvm::StringRef text = version;
  unsigned number = 0;
  if (!text.consume_front("opset") || text.getAsInteger(10, number))
    return 0;
  return number;
}

Location File::locAt(ptrdiff_t offset) const {
  if (lines.empty()) {
    lines.push_back(0);
    for (size_t at = 0; (at = bytes.find('\n', at)) != llvm::StringRef::npos;)
      lines.push_back(++at);
  }
  if (offset < 0)
    return FileLineColLoc::get(&context, path, 0, 0);
  auto line = std::prev(llvm::upper_bound(lines, static_cast<size_t>(offset)));
  return FileLineColLoc::get(&context, path, line - lines.begin() + 1,
                             offset - *line + 1);
}

InFlightDiagnostic File::error(pugi::xml_node node, Diag diag) {
  return loopc::emitError(locOf(node), diag);
}

FailureOr<int64_t> File::integer(pugi::xml_node node, const char *name,
                                 std::optional<int64_t> otherwise) {
  pugi::xml_attribute attribute = node.attribute(name);
  if (!attribute && otherwise)
    return *otherwise;
  if (!attribute)
    return error(node, Diag::IRNotAModel)
           << "<" << node.name() << "> has no attribute '" << name << "'";
  int64_t value;
  if (llvm::StringRef(attribute.value()).trim().getAsInteger(10, value))
    return error(node, Diag::IRNotAModel)
           << "attribute '" << name << "' of <" << node.name() << "> is '"
           << attribute.value() << "', no integer";
  return value;
}

LogicalResult
File::integers(pugi::xml_node node,
               ArrayRef<std::pair<const char *, int64_t *>> attributes) {
  for (auto [name, value] : attributes) {
    FailureOr<int64_t> read = integer(node, name);
    if (failed(read))
      return failure();
    *value = *read;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

LogicalResult File::readPorts(pugi::xml_node list, std::vector<Port> &ports) {
  for (pugi::xml_node node : list.children("port")) {
    Port port;
    port.node = node;
    port.precision = node.attribute("precision").value();
    port.names = node.attribute("names").value();
    FailureOr<int64_t> id = integer(node, "id");
    if (failed(id))
      return failure();
    port.id = *id;
    for (const Port &other : ports)
      if (other.id == port.id)
        return error(node, Diag::IRNotAModel)
               << "there are two ports " << port.id;
    for (pugi::xml_node dim : node.children("dim")) {
      int64_t extent;
      llvm::StringRef text = llvm::StringRef(dim.child_value()).trim();
      if (text.getAsInteger(10, extent) || extent < -1)
        return error(dim, Diag::IRNotAModel)
               << "dimension '" << text << "' is no extent";
      port.dims.push_back(extent);
    }
    ports.push_back(std::move(port));
  }
  return success();
}

LogicalResult File::readMap(pugi::xml_node list, std::vector<MapEntry> &map) {
  for (pugi::xml_node node : list.children()) {
    if (node.type() != pugi::node_element)
      continue;
    llvm::StringRef kind = node.name();
    if (kind != "input" && kind != "output")
      return error(node, Diag::IRPortMap)
             << "<" << kind << "> in a port map, expected <input> or <output>";
    MapEntry entry;
    entry.isInput = kind == "input";
    entry.node = node;
    entry.purpose = node.attribute("purpose").value();
    struct Field {
      const char *name;
      int64_t &to;
      std::optional<int64_t> otherwise;
    } fields[] = {{"external_port_id", entry.external, {}},
                  {"internal_layer_id", entry.internal, {}},
                  {"start", entry.start, entry.start},
                  {"end", entry.end, entry.end},
                  {"stride", entry.stride, entry.stride},
                  {"part_size", entry.partSize, entry.partSize}};
    for (Field &field : fields) {
      FailureOr<int64_t> value = integer(node, field.name, field.otherwise);
      if (failed(value))
        return failure();
      field.to = *value;
    }
    if (node.attribute("axis")) {
      FailureOr<int64_t> axis = integer(node, "axis");
      if (failed(axis))
        return failure();
      entry.axis = *axis;
    }
    map.push_back(std::move(entry));
  }
  return success();
}

LogicalResult File::readLayer(pugi::xml_node node, Layer &layer,
                              unsigned depth) {
  FailureOr<int64_t> id = integer(node, "id");
  if (failed(id))
    return failure();
  layer.id = *id;
  layer.node = node;
  layer.data = node.child("data");
  layer.name = node.attribute("name").value();
  layer.type = node.attribute("type").value();
  // IR 10 may leave it out.
  layer.version = node.attribute("version").as_string("opset1");
  if (layer.type.empty())
    return error(node, Diag::IRNotAModel) << "a layer has no type";
  if (failed(readPorts(node.child("input"), layer.inputs)) ||
      failed(readPorts(node.child("output"), layer.outputs)))
    return failure();
  size_t inputs = layer.type == "Result" ? 1 : 0, outputs = 1 - inputs;
  if (llvm::is_contained({"Parameter", "Const", "Result"}, layer.type) &&
      (layer.inputs.size() != inputs ||
       (outputs && layer.outputs.size() != outputs)))
    return error(node, Diag::IRNotAModel)
           << layer.type << " '" << layer.name << "' has "
           << layer.inputs.size() << " inputs and " << layer.outputs.size()
           << " outputs, expected " << inputs << " and " << outputs;
  auto add = [&](const char *body, const char *map) -> LogicalResult {
    pugi::xml_node net = node.child(body);
    if (!net)
      return error(node, Diag::IRNotAModel)
             << layer.type << " '" << layer.name << "' has no <" << body << ">";
    layer.bodies.push_back(std::make_unique<Graph>());
    layer.maps.emplace_back();
    return failure(failed(readMap(node.child(map), layer.maps.back())) ||
                   failed(readGraph(net, *layer.bodies.back(), depth + 1)));
  };
  if (layer.type == "If")
    return failure(failed(add("then_body", "then_port_map")) ||
                   failed(add("else_body", "else_port_map")));
  if (layer.type != "Loop" && layer.type != "TensorIterator")
    return success();
  for (pugi::xml_node edge : node.child("back_edges").children("edge")) {
    int64_t from, to;
    if (failed(integers(edge, {{"from-layer", &from}, {"to-layer", &to}})))
      return failure();
    layer.backEdges.push_back({from, to, edge});
  }
  return add("body", "port_map");
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

/// Whether a layer can have that number: the map of layers keeps two of them
/// for itself.
static bool isKey(int64_t id) {
  using Info = llvm::DenseMapInfo<int64_t>;
  return id != Info::getEmptyKey() && id != Info::getTombstoneKey();
}

LogicalResult File::readEdges(pugi::xml_node list, Graph &graph) {
  constexpr unsigned kNone = ~0u;
  for (Layer &layer : graph.layers)
    layer.sources.assign(layer.inputs.size(), {kNone, 0});
  for (pugi::xml_node edge : list.children("edge")) {
    int64_t fromLayer, fromPort, toLayer, toPort;
    if (failed(integers(edge, {{"from-layer", &fromLayer},
                               {"from-port", &fromPort},
                               {"to-layer", &toLayer},
                               {"to-port", &toPort}})))
      return failure();
    auto find = [&](int64_t layer, int64_t port,
                    bool isOutput) -> FailureOr<Source> {
      auto it = isKey(layer) ? graph.byId.find(layer) : graph.byId.end();
      if (it == graph.byId.end())
        return error(edge, Diag::IREdge)
               << "the edge leads " << (isOutput ? "from" : "to") << " layer "
               << layer << ", which does not exist";
      const Layer &found = graph.layers[it->second];
      const std::vector<Port> &ports = isOutput ? found.outputs : found.inputs;
      for (auto [k, one] : llvm::enumerate(ports))
        if (one.id == port)
          return Source{it->second, static_cast<unsigned>(k)};
      return error(edge, Diag::IREdge)
             << "the edge leads " << (isOutput ? "from output" : "to input")
             << " port " << port << " of layer " << layer << ", " << found.type
             << " '" << found.name << "', which does not exist";
    };
    FailureOr<Source> from = find(fromLayer, fromPort, /*isOutput=*/true);
    if (failed(from))
      return failure();
    FailureOr<Source> to = find(toLayer, toPort, /*isOutput=*/false);
    if (failed(to))
      return failure();
    Source &source = graph.layers[to->layer].sources[to->port];
    if (source.layer != kNone)
      return error(edge, Diag::IREdge) << "a second edge leads to input port "
                                       << toPort << " of layer " << toLayer;
    source = *from;
  }
  for (const Layer &layer : graph.layers)
    for (auto [port, source] : llvm::zip(layer.inputs, layer.sources))
      if (source.layer == kNone)
        return error(port.node, Diag::IREdge)
               << "no edge leads to input port " << port.id << " of layer "
               << layer.id << ", " << layer.type << " '" << layer.name << "'";
  return success();
}

LogicalResult File::sort(Graph &graph) {
  // Layers in the order of the file as far as edges allow.
  enum State : char { New, Open, Done };
  std::vector<State> states(graph.layers.size(), New);
  struct Step {
    unsigned layer, input;
  };
  std::vector<Step> stack;
  for (unsigned root = 0; root < graph.layers.size(); ++root) {
    if (states[root] != New)
      continue;
    stack.push_back({root, 0});
    states[root] = Open;
    while (!stack.empty()) {
      Step &step = stack.back();
      const Layer &layer = graph.layers[step.layer];
      if (step.input == layer.sources.size()) {
        states[step.layer] = Done;
        graph.order.push_back(step.layer);
        stack.pop_back();
        continue;
      }
      unsigned next = layer.sources[step.input++].layer;
      if (states[next] == Open)
        return error(layer.node, Diag::IREdge)
               << layer.type << " '" << layer.name << "', layer " << layer.id
               << ", depends on itself: the edges form a cycle";
      if (states[next] == New) {
        states[next] = Open;
        stack.push_back({next, 0});
      }
    }
  }
  return success();
}

LogicalResult File::readGraph(pugi::xml_node net, Graph &graph,
                              unsigned depth) {
  if (depth > kDeepest)
    return error(net, Diag::ModelTooDeep)
           << "bodies are nested more than " << kDeepest << " deep";
  pugi::xml_node layers = net.child("layers");
  if (!layers)
    return error(net, Diag::IRNotAModel)
           << "<" << net.name() << "> has no <layers>";
  for (pugi::xml_node node : layers.children("layer")) {
    Layer layer;
    if (failed(readLayer(node, layer, depth)))
      return failure();
    if (!isKey(layer.id))
      return error(node, Diag::IRNotAModel)
             << "a layer cannot have the number " << layer.id;
    if (!graph.byId.try_emplace(layer.id, graph.layers.size()).second)
      return error(node, Diag::IRNotAModel)
             << "there are two layers " << layer.id;
    graph.layers.push_back(std::move(layer));
  }
  return failure(failed(readEdges(net.child("edges"), graph)) ||
                 failed(sort(graph)));
}

/// pugixml recurses where it frees nothing, but what reads a tree of bodies
/// does; its own parser takes any depth.
LogicalResult File::read() {
  pugi::xml_parse_result result = document.load_buffer(
      bytes.data(), bytes.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!result) {
    llvm::StringRef what = result.description();
    return loopc::emitError(locAt(result.offset), Diag::IRNotAModel)
           << "the XML is damaged: " << what;
  }
  pugi::xml_node net = document.child("net");
  if (!net)
    return loopc::emitError(locAt(0), Diag::IRNotAModel)
           << "this is not OpenVINO IR: there is no <net>";
  FailureOr<int64_t> number = integer(net, "version");
  if (failed(number))
    return failure();
  version = *number;
  if (version != 10 && version != 11)
    return error(net, Diag::IRNotAModel)
           << "this is OpenVINO IR of version " << version
           << ", loopc reads versions 10 and 11";
  name = net.attribute("name").value();
  for (pugi::xml_node info : net.child("rt_info").children())
    if (llvm::StringRef(info.attribute("name").value()) == "OpenVINO Runtime")
      producer = info.attribute("value").value();
  return readGraph(net, graph, 0);
}
