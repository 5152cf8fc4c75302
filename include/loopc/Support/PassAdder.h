//===- PassAdder.h - Pipelines without some of their passes -----*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_SUPPORT_PASSADDER_H
#define LOOPC_SUPPORT_PASSADDER_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"

#include <memory>
#include <string>

namespace loopc {

/// Adds passes to a pass manager, but those that are switched off. Both are
/// referred to.
class PassAdder {
public:
  explicit PassAdder(mlir::OpPassManager &manager,
                     llvm::ArrayRef<std::string> disabled = {})
      : manager(manager), disabled(disabled) {}

  void addPass(std::unique_ptr<mlir::Pass> pass) {
    if (!llvm::is_contained(disabled, pass->getArgument()))
      manager.addPass(std::move(pass));
  }
  template <typename OpT> PassAdder nest() {
    return PassAdder(manager.nest<OpT>(), disabled);
  }
  template <typename OpT> void addNestedPass(std::unique_ptr<mlir::Pass> pass) {
    nest<OpT>().addPass(std::move(pass));
  }

private:
  mlir::OpPassManager &manager;
  llvm::ArrayRef<std::string> disabled;
};

} // namespace loopc

#endif // LOOPC_SUPPORT_PASSADDER_H
