//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// mlir-opt with loopc's dialects and passes, and all of MLIR's own. With
// --print-operators alone it prints the table of operators, with --print-passes
// alone that of the pipelines' passes, with --print-pipelines alone the phases
// of the pipeline and the passes of each.

#include "loopc/Conversion/ONNXToLinalg/OperatorTable.h"
#include "loopc/Pipelines/PassTable.h"
#include "loopc/Pipelines/Phases.h"
#include "loopc/Pipelines/Registration.h"
#include "loopc/Support/OptionParser.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

/// Takes the options that LLVM's libraries have registered, some thousand, from
/// what --help prints: it is about MLIR's passes. --help-hidden prints them.
static void hideLLVMOptions() {
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (!llvm::StringRef(name).starts_with("help") && name != "version")
      option->setHiddenFlag(llvm::cl::Hidden);
}

int main(int argc, char **argv) {
  if (argc == 2 && llvm::StringRef(argv[1]) == "--print-operators") {
    loopc::printOperatorTable(llvm::outs());
    return 0;
  }
  if (argc == 2 && llvm::StringRef(argv[1]) == "--print-passes") {
    loopc::printPassTable(llvm::outs());
    return 0;
  }
  if (argc == 2 && llvm::StringRef(argv[1]) == "--print-pipelines") {
    loopc::printPipelines(llvm::outs());
    return 0;
  }
  llvm::cl::AddExtraVersionPrinter(
      [](llvm::raw_ostream &os) { os << "loopc " LOOPC_VERSION "\n"; });
  hideLLVMOptions();
  loopc::ungroupHelp(llvm::MutableArrayRef(argv, argc));
  mlir::DialectRegistry registry;
  loopc::registerAllDialects(registry);
  loopc::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "loopc optimizer driver\n", registry));
}
