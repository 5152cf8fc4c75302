//===- CompiledModel.h - A model compiled in process ------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_TARGET_COMPILEDMODEL_H
#define LOOPC_TARGET_COMPILEDMODEL_H

#include "loopc/Target/ModelInfo.h"
#include "loopc/Target/TargetOptions.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/Timing.h"

#include <memory>

namespace loopc {

/// A model in the memory of this process: the object that the compiler would
/// write, linked in place. It owns its code and its weights; the context of the
/// module that it was made from may go. Any number may live and run at a time.
class CompiledModel {
public:
  /// Compiles `module`, which is used up: its weights are taken over, not
  /// copied. The target is this machine; `options.triple` must be empty or
  /// this machine's.
  static mlir::FailureOr<std::unique_ptr<CompiledModel>>
  create(mlir::ModuleOp module, const ModelInfo &info,
         const TargetOptions &options, mlir::TimingScope timing = {});

  ~CompiledModel();

  /// The model, for loopc_model_run(). Lives as long as this object.
  const loopc_model *get() const { return model; }

private:
  struct Linked;
  explicit CompiledModel(std::unique_ptr<Linked> linked);

  std::unique_ptr<Linked> linked;
  const loopc_model *model = nullptr;
};

} // namespace loopc

#endif // LOOPC_TARGET_COMPILEDMODEL_H
