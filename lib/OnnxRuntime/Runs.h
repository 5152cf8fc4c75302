//===- Runs.h - Which runs of a session are going on ------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_ONNXRUNTIME_RUNS_H
#define LOOPC_LIB_ONNXRUNTIME_RUNS_H

#include "Api.h"

#include <loopc-rt/loopc_rt.h>

#include <mutex>
#include <thread>

namespace loopc::ort {

/// The runs of a session, and what ends them. onnxruntime says when a run
/// begins, with its options, and does not say to which run a node belongs.
class Runs {
public:
  void begin(const OrtRunOptions *options);
  /// The run that began last on this thread ends. onnxruntime 1.32 does not
  /// give the same options here as in the beginning.
  void end();

  /// The options of the run that a node which is computed on this thread
  /// belongs to; null where that is not known. It is the last one that began on
  /// this thread, as onnxruntime computes nodes where the run was called, or
  /// the only one, where nodes have threads of their own.
  const OrtRunOptions *find() const;

  /// Set by a dynamic option: ends all runs.
  loopc_cancel_token cancel = {};

private:
  struct Entry {
    std::thread::id thread;
    const OrtRunOptions *options;
  };

  mutable std::mutex mutex;
  std::vector<Entry> active; ///< in the order in which they began
};

} // namespace loopc::ort

#endif // LOOPC_LIB_ONNXRUNTIME_RUNS_H
