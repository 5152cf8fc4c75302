//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// OpenVINO IR as it stands in its file: layers, ports, edges, port maps.

#ifndef LOOPC_LIB_FRONTEND_OPENVINO_READER_H
#define LOOPC_LIB_FRONTEND_OPENVINO_READER_H

#include "loopc/Support/Diagnostics.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <vector>

namespace loopc::openvino {

using mlir::failure;
using mlir::FailureOr;
using mlir::Location;
using mlir::LogicalResult;
using mlir::success;

/// A port of a layer. The dimensions are what the file says of them; -1 is
/// open.
struct Port {
  int64_t id = 0;
  std::string precision, names;
  llvm::SmallVector<int64_t> dims;
  pugi::xml_node node;
};

/// An <input> or <output> of a port map.
struct MapEntry {
  bool isInput = false;
  int64_t external = 0, internal = 0;
  std::optional<int64_t> axis;
  int64_t start = 0, end = -1, stride = 1, partSize = 1;
  std::string purpose;
  pugi::xml_node node;
};

struct BackEdge {
  int64_t from = 0, to = 0;
  pugi::xml_node node;
};

struct Graph;

/// Where an input comes from.
struct Source {
  unsigned layer = 0, port = 0;
};

struct Layer {
  int64_t id = 0;
  std::string name, type, version;
  pugi::xml_node node, data;
  std::vector<Port> inputs, outputs;
  /// By input.
  std::vector<Source> sources;
  /// Of a Loop or TensorIterator one, of an If two.
  std::vector<std::unique_ptr<Graph>> bodies;
  std::vector<std::vector<MapEntry>> maps;
  std::vector<BackEdge> backEdges;

  /// "opset5" is 5; 0 for what is no opset.
  unsigned opset() const;
};

struct Graph {
  std::vector<Layer> layers;
  llvm::DenseMap<int64_t, unsigned> byId;
  /// Layers in an order in which each comes after what it reads.
  std::vector<unsigned> order;
};

/// A file of IR. Nodes of its XML live as long as it does.
class File {
public:
  File(llvm::StringRef path, llvm::StringRef bytes, mlir::MLIRContext &context)
      : path(path), bytes(bytes), context(context) {}

  /// Reads everything but the weights; emits an error where it cannot.
  LogicalResult read();

  /// The place of `node`.
  Location locOf(pugi::xml_node node) const {
    return locAt(node.offset_debug());
  }
  Location locAt(ptrdiff_t offset) const;

  std::string path;
  std::string name;
  int64_t version = 0;
  std::string producer;
  Graph graph;

private:
  LogicalResult readGraph(pugi::xml_node net, Graph &graph, unsigned depth);
  LogicalResult readLayer(pugi::xml_node node, Layer &layer, unsigned depth);
  LogicalResult readPorts(pugi::xml_node list, std::vector<Port> &ports);
  LogicalResult readMap(pugi::xml_node list, std::vector<MapEntry> &map);
  LogicalResult readEdges(pugi::xml_node list, Graph &graph);
  LogicalResult sort(Graph &graph);
  /// An integer attribute; an error where it is no number, or is missing and
  /// there is no `otherwise`.
  FailureOr<int64_t> integer(pugi::xml_node node, const char *name,
                             std::optional<int64_t> otherwise = {});
  /// Several of them, up to the first that is wrong: one error.
  LogicalResult
  integers(pugi::xml_node node,
           llvm::ArrayRef<std::pair<const char *, int64_t *>> attributes);
  mlir::InFlightDiagnostic error(pugi::xml_node node, Diag diag);

  llvm::StringRef bytes;
  mlir::MLIRContext &context;
  pugi::xml_document document;
  mutable std::vector<size_t> lines;
};

} // namespace loopc::openvino

#endif // LOOPC_LIB_FRONTEND_OPENVINO_READER_H
