//===- Export.h - Nodes of onnxruntime's as ONNX models ---------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_ONNXRUNTIME_EXPORT_H
#define LOOPC_LIB_ONNXRUNTIME_EXPORT_H

#include "Options.h"
#include "Proto.h"

#include <string>
#include <vector>

namespace loopc::ort {

/// A model that computes what some nodes of a graph compute.
struct ExportedModel {
  Message message; ///< borrows constants of the graph
  /// Names of its inputs (what nodes read and other nodes, or callers, compute)
  /// and outputs (what is read outside).
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  /// Whether constants of the graph are inputs, and stay onnxruntime's.
  bool sharesConstants = false;
};

/// Writes `nodes` of `graph`, in their order, as a model. What they capture is
/// an input; constants are a part of the model. Where this has more than
/// `mostBytes`, the larger constants of the graph are inputs, too. Throws
/// Error(kNotImplemented) for what ONNX cannot say or loopc cannot be given.
ExportedModel exportNodes(const Api &api, const OrtGraph *graph,
                          const std::vector<const OrtNode *> &nodes,
                          size_t mostBytes);

/// "Loop 'decode'", for messages.
std::string describe(const Api &api, const OrtNode *node);

} // namespace loopc::ort

#endif // LOOPC_LIB_ONNXRUNTIME_EXPORT_H
