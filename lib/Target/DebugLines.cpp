//===- DebugLines.cpp - Line tables that name nodes -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Debuggers and profilers know files and lines, and models have none. With -g
// the compiler writes a file with a line for each node that the code comes
// from, and tells LLVM that this is the source: gdb then prints the line of a
// node where it would print one of C++.

#include "DebugLines.h"
#include "loopc/Support/Diagnostics.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

FailureOr<std::vector<std::string>> loopc::numberNodes(ModuleOp module,
                                                       StringRef file) {
  std::vector<std::string> nodes;
  llvm::StringMap<unsigned> lines;
  auto place = [&](Location loc) -> Location {
    std::string path = locationPath(loc);
    auto [entry, isNew] = lines.try_emplace(path, nodes.size() + 1);
    if (isNew)
      nodes.push_back(std::move(path));
    return FileLineColLoc::get(module.getContext(), file, entry->second, 0);
  };
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    op->setLoc(place(op->getLoc()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setLoc(place(argument.getLoc()));
  });
  PassManager passes(module.getContext());
  passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass());
  if (failed(passes.run(module)))
    return failure();
  return nodes;
}
