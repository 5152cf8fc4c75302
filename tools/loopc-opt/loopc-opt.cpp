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
#include "loopc/Support/ReadFile.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

/// Takes the options that LLVM's libraries have registered, some thousand, from
/// what --help prints: it is about MLIR's passes. --help-hidden prints them.
static void hideLLVMOptions() {
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (!llvm::StringRef(name).starts_with("help") && name != "version")
      option->setHiddenFlag(llvm::cl::Hidden);
}

/// What a file is that begins so and is no MLIR; or empty.
static llvm::StringRef findOtherFormat(llvm::StringRef head) {
  if (head.starts_with("<"))
    return head.contains("ir_version") ? "a model of ONNX as text"
                                       : "a model of OpenVINO";
  // Text does not begin with a control character, and protobufs of ONNX begin
  // with the tag of ir_version.
  bool isText = head.empty() || head[0] >= ' ' || llvm::isSpace(head[0]);
  return !isText && loopc::mayBeProtobuf(head) ? "a model of ONNX" : "";
}

/// True after an error if the input is a model of another format: what MLIR's
/// parser says of its bytes helps nobody.
static bool refuseModel(llvm::StringRef path) {
  if (path == "-")
    return false;
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return false;
  llvm::StringRef format =
      findOtherFormat((*file)->getBuffer().take_front(4096));
  if (format.empty())
    return false;
  llvm::errs() << "loopc-opt: error: '" << path << "' is " << format
               << ", and loopc-opt reads MLIR: loopc --emit=onnx '" << path
               << "' writes that of a model, and loopc -o compiles it\n";
  return true;
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
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "loopc optimizer driver\n", registry);
  if (refuseModel(input))
    return EXIT_FAILURE;
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, input, output, registry));
}
