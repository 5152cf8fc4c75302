//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The language server for .mlir files that hold loopc's dialects. Hovering over
// an operation of theirs shows its documentation.

#include "HoverFilter.h"
#include "loopc/Pipelines/Registration.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  llvm::cl::AddExtraVersionPrinter(
      [](llvm::raw_ostream &os) { os << "loopc " LOOPC_VERSION "\n"; });
  mlir::DialectRegistry registry;
  loopc::registerAllDialects(registry);
  return loopc::serveWithDocumentation([&] {
    return failed(mlir::MlirLspServerMain(argc, argv, registry)) ? 1 : 0;
  });
}
