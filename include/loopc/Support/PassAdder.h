//===- PassAdder.h - Pipelines that say why their passes are there -*- C++
//-*-===//
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
#include <vector>

namespace loopc {

/// A pass at its place in a pipeline.
struct PlacedPass {
  /// The name that loopc-opt knows it by.
  std::string name;
  /// The operation that it runs on: "builtin.module", "func.func".
  std::string anchor;
  /// The summary of its definition.
  std::string summary;
  /// Why it stands there.
  std::string reason;
};

/// Adds passes to a pass manager, but those that are switched off, and lists
/// them where somebody asks for it. All three are referred to.
class PassAdder {
public:
  explicit PassAdder(mlir::OpPassManager &manager,
                     llvm::ArrayRef<std::string> disabled = {},
                     std::vector<PlacedPass> *list = nullptr)
      : manager(manager), disabled(disabled), list(list) {}

  /// `reason` is why the pass stands here: what it needs from the passes before
  /// it, or what it leaves for those behind it.
  void addPass(std::unique_ptr<mlir::Pass> pass, llvm::StringRef reason) {
    if (llvm::is_contained(disabled, pass->getArgument()))
      return;
    if (list)
      list->push_back({pass->getArgument().str(),
                       manager.getOpAnchorName().str(),
                       pass->getDescription().str(), reason.str()});
    manager.addPass(std::move(pass));
  }
  template <typename OpT> PassAdder nest() {
    return PassAdder(manager.nest<OpT>(), disabled, list);
  }

private:
  mlir::OpPassManager &manager;
  llvm::ArrayRef<std::string> disabled;
  std::vector<PlacedPass> *list;
};

} // namespace loopc

#endif // LOOPC_SUPPORT_PASSADDER_H
