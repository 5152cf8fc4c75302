//===- Kernel.h - Runs of fused nodes ---------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_ONNXRUNTIME_KERNEL_H
#define LOOPC_LIB_ONNXRUNTIME_KERNEL_H

#include "Context.h"
#include "Runs.h"

namespace loopc::ort {

/// What runs a fused node, on any number of threads at a time.
class Kernel : public OrtNodeComputeInfo {
public:
  /// \p name: what messages call it. \p runs: those of the session, which
  /// outlive the kernel.
  Kernel(const Api &api, const OrtLogger *logger, std::string name,
         CompiledNodes compiled, const Options &options, Runs &runs);

private:
  void run(OrtKernelContext *context) const;

  const Api &api;
  const OrtLogger *logger; ///< null where nobody wants to know of runs
  std::string name;
  CompiledNodes compiled;
  Runs &runs;
  bool borrowsThreads;
  loopc_run_options runOptions = {};
};

} // namespace loopc::ort

#endif // LOOPC_LIB_ONNXRUNTIME_KERNEL_H
