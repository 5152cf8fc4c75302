//===- Compiler.h - The whole way through the compiler ----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tools, the C API and Python call: import, passes, code generation.
//
//   loopc::Compiler compiler(options);
//   loopc::DiagnosticCollector diagnostics(&compiler.getContext());
//   if (failed(compiler.parseFile("model.onnx")))
//     return diagnostics.get();
//   auto model = compiler.compileInProcess();
//
// A Compiler compiles one model once and is used by one thread at a time; any
// number of them may work at the same time.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_COMPILER_H
#define LOOPC_COMPILER_H

#include "loopc/Support/WeightType.h"
#include "loopc/Target/CompiledModel.h"
#include "loopc/Target/ModelInfo.h"
#include "loopc/Target/TargetOptions.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/Timing.h"

#include "llvm/ADT/StringMap.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class ThreadPoolInterface;
class raw_pwrite_stream;
} // namespace llvm
namespace mlir {
class PassManager;
} // namespace mlir

namespace loopc {
namespace network {
class INetworkDefinition;
} // namespace network
enum class Stage;

/// Where compilation stops, and what is written. Up to LLVM it is the text of
/// MLIR, but for Shapes (Outline.h).
enum class Output {
#define LOOPC_OUTPUT(enumerator, name, emit) enumerator,
#include "loopc/Outputs.def"
};

/// What is read.
enum class InputFormat {
  Auto,     ///< by magic number, the name's end or the content, else ONNX
  ONNX,     ///< binary or textual
  MLIR,     ///< text or bytecode, of any stage
  OpenVINO, ///< OpenVINO IR, the weights in a file beside it
};

struct CompilerOptions {
  /// Machine, CPU, -O level and the name of the functions.
  TargetOptions target;
  /// A Loop with trip count and without condition stops where its body yields
  /// false, as in onnxruntime.
  bool ortCompat = false;
  /// The code checks each access to a buffer against its extents, and a run
  /// gives each buffer memory of its own between unreadable pages: for finding
  /// faults of the compiler.
  bool checkAccesses = false;
  /// What constant f32 weights of products of matrices are rounded to: results
  /// change.
  WeightType weights = WeightType::Model;
  /// The code measures its parts where a run asks for it: for the CPU.
  bool profile = false;
  /// Passes that only optimise and are left out, by their names (PassTable.h):
  /// for finding faults of the compiler.
  std::vector<std::string> disabledPasses;
  /// Extents of named dimensions.
  llvm::StringMap<int64_t> dims;
  /// Shapes of inputs; ShapedType::kDynamic where it is left open.
  llvm::StringMap<llvm::SmallVector<int64_t>> shapes;
  /// Inputs, and the outputs that they are in the next run.
  std::vector<std::pair<std::string, std::string>> states;
  /// Folder of external data; empty: that of the model's file.
  std::string externalDataFolder;
  /// Libraries of custom operators (loopc-rt/custom.h).
  std::vector<std::string> customLibraries;
  /// Code is made quickly first (Compiler::emitShared()) only where optimised
  /// code takes about a second and more.
  bool onlyLongInTiers = false;
  InputFormat format = InputFormat::Auto;
  /// Whether the IR is verified behind every pass; where nothing is said the
  /// environment decides (LOOPC_VERIFY_EACH).
  std::optional<bool> verifyEach;
  /// Called with the pass manager before it runs: to print, to time.
  std::function<mlir::LogicalResult(mlir::PassManager &)> configurePasses;
};

/// One model on its way. Everything reports to the handlers of getContext().
class Compiler {
public:
  explicit Compiler(CompilerOptions options);
  ~Compiler();
  Compiler(const Compiler &) = delete;
  Compiler &operator=(const Compiler &) = delete;

  mlir::MLIRContext &getContext() { return *context; }

  /// Times what follows below `scope`, which must live as long as this.
  void setTiming(mlir::TimingScope &scope) { timing = &scope; }

  /// Reads a model: a path, "-" for standard input, or bytes, which must live
  /// as long as this object. `name` stands for the file in messages; external
  /// data is looked for beside it. `opened`, where not empty, is opened instead
  /// of `path`, which is the file's name. Once in the life of a Compiler.
  mlir::LogicalResult parseFile(llvm::StringRef path,
                                llvm::StringRef opened = "");
  mlir::LogicalResult parseBytes(llvm::StringRef name, llvm::StringRef bytes);
  /// Instead: takes a network that was built by hand.
  mlir::LogicalResult importNetwork(const network::INetworkDefinition &network);

  /// The module as far as it is. Null before parsing.
  mlir::ModuleOp getModule();

  /// Compiles as far as `output` (not Shared) and writes that to `os`.
  /// `weightsFile`: see generateCode(). Once.
  mlir::LogicalResult emit(Output output, llvm::raw_pwrite_stream &os,
                           llvm::StringRef weightsFile = "");

  /// Compiles to the shared object `file` (generateShared()). Instead of
  /// emit(). With `next` there may be two: `file` has code that is made quickly
  /// (TargetOptions::quickCode), then `next` is called, and the same model
  /// becomes, with all passes, the file that it names, or nothing more where it
  /// names none. Where that would save hardly any time `file` is made with all
  /// passes, and `next` is not called.
  mlir::LogicalResult
  emitShared(llvm::StringRef file, llvm::StringRef soname,
             llvm::function_ref<std::string()> next = nullptr);

  /// Compiles for this process. Instead of emit().
  mlir::FailureOr<std::unique_ptr<CompiledModel>> compileInProcess();

  /// Inputs, outputs and names; after emit() of LLVM or what follows, or
  /// compileInProcess().
  const ModelInfo &getModelInfo() const { return info; }

private:
  /// Loads the libraries of custom operators.
  mlir::LogicalResult loadOperators();
  mlir::LogicalResult checkLinkedOperators();
  /// What is done to every model that was imported.
  mlir::LogicalResult finishImport();
  mlir::LogicalResult parseMLIR(llvm::StringRef name, llvm::StringRef bytes);
  /// Verifies MLIR that was read. A stage that loopc wrote may have views in
  /// code that no run reaches, which MLIR's verifier is against: a check in
  /// front of each holds them to that.
  mlir::LogicalResult verifyRead();
  /// `bytes` at an address that MLIR takes them at: `buffer` itself, or a copy.
  std::unique_ptr<llvm::MemoryBuffer> takeBytecode(llvm::StringRef name,
                                                   llvm::StringRef bytes);
  mlir::LogicalResult lower(Output output);
  /// Runs the passes behind stage `from` (none: all) up to `until` on `which`.
  mlir::LogicalResult runPasses(mlir::ModuleOp which, std::optional<Stage> from,
                                Stage until, bool quickCode);
  /// Lowers the module as far as `until`, from where it is.
  mlir::LogicalResult advance(Stage until);
  /// The module of code that is made quickly, in the LLVM dialect. What it is
  /// made of stays, and is lowered no further than that takes.
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> lowerQuickly();
  /// Sets what getModelInfo() says, by a module in the LLVM dialect.
  mlir::LogicalResult readInfo(mlir::ModuleOp lowered);
  /// Makes `file` quickly, if that is worth it.
  mlir::FailureOr<bool> emitQuickly(llvm::StringRef file,
                                    llvm::StringRef soname);
  /// lower(), after the target was checked where code is made for it.
  mlir::LogicalResult lowerForTarget(Output output);

  CompilerOptions options;
  /// The context's, where there are cores for more than one thread.
  std::unique_ptr<llvm::ThreadPoolInterface> threads;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// What was read by parseFile(); weights may refer to it.
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::string fileStem;
  /// The stage that the module has been lowered to by this object.
  std::optional<Stage> reached;
  ModelInfo info;
  mlir::TimingScope noTiming;
  mlir::TimingScope *timing = &noTiming;
};

} // namespace loopc

#endif // LOOPC_COMPILER_H
