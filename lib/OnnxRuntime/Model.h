//===- Model.h - Compiled nodes ---------------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_ONNXRUNTIME_MODEL_H
#define LOOPC_LIB_ONNXRUNTIME_MODEL_H

#include "Options.h"

#include "loopc-c/loopc.h"

#include <memory>
#include <string>
#include <vector>

namespace loopc::ort {

/// Nodes that were compiled, ready to run.
class Model {
public:
  /// Compiles `bytes`, an ONNX model, or takes it from the cache. Throws Error
  /// with what the compiler says.
  Model(const std::string &bytes, const Options &options);

  /// Loads the shared library `path`. Throws Error.
  explicit Model(const std::string &path);

  /// Compiles `bytes`, an ONNX model, into the shared library `path`. Throws
  /// Error.
  static void compile(const std::string &bytes, const Options &options,
                      const std::string &path);

  const loopc_session *getSession() const { return session.get(); }
  const loopc_model &get() const { return *loopc_session_model(getSession()); }

  /// Why onnxruntime's kernels cannot hand over what the model reads or
  /// returns; "" where they can. \p readsSequences: a sequence of tensors may
  /// be an input.
  std::string findUnfitPort(bool readsSequences) const;

private:
  struct Destroyer {
    void operator()(loopc_session *session) const {
      loopc_session_destroy(session);
    }
  };
  std::unique_ptr<loopc_session, Destroyer> session;
};

} // namespace loopc::ort

#endif // LOOPC_LIB_ONNXRUNTIME_MODEL_H
