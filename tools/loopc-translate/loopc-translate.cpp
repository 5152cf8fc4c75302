//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// mlir-translate with --import-onnx and --import-openvino, and all of MLIR's
// own translations.

#include "loopc/Frontend/ONNX/Importer.h"
#include "loopc/Frontend/OpenVINO/Importer.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/OptionParser.h"
#include "mlir/InitAllTranslations.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
namespace cl = llvm::cl;

static cl::OptionCategory category("Import of models");
static cl::list<std::string> dims("dim",
                                  cl::desc("Extent of a named dimension"),
                                  cl::value_desc("name=extent"),
                                  cl::cat(category));
static cl::list<std::string>
    shapes("shape", cl::desc("Shape of an input ('?' leaves a dimension open)"),
           cl::value_desc("input=1x?x3"), cl::cat(category));
static cl::opt<bool>
    ortCompat("ort-compat",
              cl::desc("A Loop with a trip count and without a "
                       "condition stops where its body says so"),
              cl::cat(category));
static cl::opt<bool>
    expandFunctions("expand-functions",
                    cl::desc("Replace every operator that the onnx library "
                             "defines by others with its definition"),
                    cl::cat(category));

/// What --dim and --shape say; false after an error.
static bool readOptions(loopc::ImportOptions &options) {
  std::string wrong;
  for (const std::string &dim : dims)
    wrong = wrong.empty() ? loopc::parseDimOption(dim, options) : wrong;
  for (const std::string &shape : shapes)
    wrong = wrong.empty() ? loopc::parseShapeOption(shape, options) : wrong;
  if (!wrong.empty()) {
    loopc::printError(llvm::errs(), "loopc-translate", loopc::Diag::BadOption,
                      wrong);
    return false;
  }
  options.ortCompat = ortCompat;
  return true;
}

static OwningOpRef<Operation *> importOpenVINO(llvm::SourceMgr &source,
                                               MLIRContext *context) {
  loopc::TextDiagnosticPrinter printer(context);
  loopc::ImportOptions options;
  if (!readOptions(options))
    return {};
  const llvm::MemoryBuffer *buffer =
      source.getMemoryBuffer(source.getMainFileID());
  return loopc::importOpenVINO(buffer->getBufferIdentifier(),
                               buffer->getBuffer(), *context, options);
}

static OwningOpRef<Operation *> importONNX(llvm::SourceMgr &source,
                                           MLIRContext *context) {
  loopc::TextDiagnosticPrinter printer(context);
  loopc::ImportOptions options;
  if (!readOptions(options))
    return {};
  if (expandFunctions)
    options.isLowered = [](StringRef domain, StringRef opType, int64_t since) {
      return loopc::hasSchema(domain, opType) &&
             !loopc::hasFunctionBody(domain, opType, since);
    };
  const llvm::MemoryBuffer *buffer =
      source.getMemoryBuffer(source.getMainFileID());
  // Neither standard input nor a part of a split file can be read again.
  StringRef name = buffer->getBufferIdentifier();
  if (llvm::sys::fs::exists(name))
    return loopc::importONNXFile(name, *context, options);
  return loopc::importONNX(name, buffer->getBuffer(), *context, options);
}

/// Whether an argument may say what to translate. MLIR's own complaint comes
/// once for every translation.
static bool hasAction(ArrayRef<char *> args) {
  return llvm::any_of(args, [](StringRef arg) {
    if (!arg.consume_front("-"))
      return false;
    arg.consume_front("-");
    return !arg.empty() &&
           !llvm::is_contained(
               {"o", "dim", "shape", "ort-compat", "expand-functions"},
               arg.split('=').first);
  });
}

int main(int argc, char **argv) {
  if (!hasAction(ArrayRef(argv, argc).drop_front(argc > 0))) {
    llvm::errs() << "loopc-translate: error: no translation is named: "
                    "--import-onnx, --import-openvino or another that --help "
                    "lists\n";
    return 1;
  }
  llvm::cl::AddExtraVersionPrinter(
      [](llvm::raw_ostream &os) { os << "loopc " LOOPC_VERSION "\n"; });
  TranslateToMLIRRegistration registration(
      "import-onnx", "import an ONNX model", importONNX,
      [](DialectRegistry &registry) {
        loopc::registerImporterDialects(registry);
      });
  TranslateToMLIRRegistration openvino(
      "import-openvino", "import OpenVINO IR", importOpenVINO,
      [](DialectRegistry &registry) {
        loopc::registerImporterDialects(registry);
      });
  registerAllTranslations();
  loopc::ungroupHelp(llvm::MutableArrayRef(argv, argc));
  return failed(mlirTranslateMain(argc, argv, "loopc translation driver\n"));
}
