//===- Context.h - Compiled nodes in models ---------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a session is asked for it (ep.context_enable), onnxruntime writes a
// model in which each claimed node is an EPContext node: a shared library that
// loopc made, in the node or in a file beside the model. Another session loads
// that without a compiler.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_ONNXRUNTIME_CONTEXT_H
#define LOOPC_LIB_ONNXRUNTIME_CONTEXT_H

#include "Model.h"

namespace loopc::ort {

/// Compiled nodes, and where the ports of the node are that stands for them.
struct CompiledNodes {
  /// Null where this machine cannot run it.
  std::shared_ptr<const Model> model;
  std::string problem; ///< why
  /// Input k of the model is input `inputs[k]` of the node, and so on.
  std::vector<size_t> inputs;
  std::vector<size_t> outputs;
};

/// Whether `node` is an EPContext node of this provider.
bool isContextNode(const Api &api, const OrtNode *node);

/// Loads the library of a node of `graph`. Throws Error.
CompiledNodes loadContextNode(const Api &api, const OrtGraph *graph,
                              const OrtNode *node, const Options &options);

/// Makes a node that holds the shared library with the bytes `library`, or
/// names a file with them, and has the ports of `fused`, for the model that
/// onnxruntime writes, and which then owns the node.
OrtNode *makeContextNode(const Api &api, const OrtGraph *graph,
                         const OrtNode *fused, const std::string &library,
                         const Options &options, const CompiledNodes &places);

} // namespace loopc::ort

#endif // LOOPC_LIB_ONNXRUNTIME_CONTEXT_H
