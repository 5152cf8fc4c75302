//===- Kernel.h - Runs of fused nodes ---------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_ONNXRUNTIME_KERNEL_H
#define LOOPC_LIB_ONNXRUNTIME_KERNEL_H

#include "Model.h"

namespace loopc::ort {

/// What runs a fused node, on any number of threads at a time.
class Kernel : public OrtNodeComputeInfo {
public:
  /// Input k of the model is input `inputs[k]` of the node, and so on. `name`
  /// is what messages call the node.
  Kernel(const Api &api, std::shared_ptr<const Model> model, std::string name,
         std::vector<size_t> inputs, std::vector<size_t> outputs,
         const Options &options, loopc_cancel_token &cancel);

private:
  void run(OrtKernelContext *context) const;

  const Api &api;
  std::shared_ptr<const Model> model;
  std::string name;
  std::vector<size_t> inputs;
  std::vector<size_t> outputs;
  loopc_run_options runOptions = {};
};

} // namespace loopc::ort

#endif // LOOPC_LIB_ONNXRUNTIME_KERNEL_H
