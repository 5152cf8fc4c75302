//===- Compiler.cpp - The whole way through the compiler ------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Compiler.h"
#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/ONNX/IR/CustomOperators.h"
#include "loopc/Frontend/Network/Emit.h"
#include "loopc/Frontend/Network/Network.h"
#include "loopc/Frontend/ONNX/Importer.h"
#include "loopc/Frontend/OpenVINO/Importer.h"
#include "loopc/Frontend/PinArguments.h"
#include "loopc/Frontend/States.h"
#include "loopc/Outline.h"
#include "loopc/Pipelines/PassTable.h"
#include "loopc/Pipelines/PassTrace.h"
#include "loopc/Pipelines/Pipelines.h"
#include "loopc/Pipelines/Registration.h"
#include "loopc/Pipelines/VerifyOperations.h"
#include "loopc/Support/CompilerThreadPool.h"
#include "loopc/Support/CustomLibrary.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/ReadFile.h"
#include "loopc/Target/CodeGen.h"
#include "loopc/Target/Cuda.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace loopc;

/// Bytecode says how its sections are aligned, as resources want it, and is
/// refused elsewhere. More than a page's is not asked for.
static constexpr uint64_t kBytecodeAlignment = 4096;

/// Operations of the memref stage from which on a model has two tiers: sessions
/// of fewer gain less than 10 ms, and optimised code of fewer than the second
/// number is there after less than a second.
static constexpr unsigned kMinOfTiers = 64, kMinOfLong = 512;

/// Whether the environment asks for the IR to be verified behind every pass, as
/// that of the tests does.
static bool asksForVerification() {
  std::string value =
      llvm::sys::Process::GetEnv("LOOPC_VERIFY_EACH").value_or("");
  return !value.empty() && value != "0";
}

Compiler::Compiler(CompilerOptions givenOptions)
    : options(std::move(givenOptions)) {
  options.target.machines = createMachineStore();
  DialectRegistry registry;
  registerAllDialects(registry);
  registerImporterDialects(registry);
  registerTargetTranslations(registry);
  context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  // Models are one function, of which the nests become functions: threads are
  // started by what works on these.
  if (unsigned cores = llvm::hardware_concurrency().compute_thread_count();
      cores > 1) {
    threads = std::make_unique<CompilerThreadPool>(cores);
    context->setThreadPool(*threads);
  }
  // The message names the node; the operation itself says nothing to a user.
  context->printOpOnDiagnostic(false);
}

Compiler::~Compiler() = default;

ModuleOp Compiler::getModule() { return module.get(); }

static bool looksLikeMLIR(StringRef name, StringRef bytes) {
  StringRef extension = llvm::sys::path::extension(name);
  return extension == ".mlir" || extension == ".mlirbc" ||
         isBytecode(llvm::MemoryBufferRef(bytes, name));
}

/// Whether a model of any format may begin so: text has no zeros.
static bool mayBeModel(StringRef head) {
  return mayBeProtobuf(head) || !head.contains('\0') ||
         isBytecode(llvm::MemoryBufferRef(head, ""));
}

LogicalResult Compiler::parseFile(StringRef path, StringRef opened) {
  TimingScope scope = timing->nest("Read");
  // Models are mapped, not read: their weights may be most of the memory.
  auto file = loopc::readFile(opened.empty() ? path : opened, mayBeModel);
  if (!file)
    return loopc::emitError(UnknownLoc::get(context.get()), Diag::CannotRead)
           << "cannot read '" << path << "': " << file.getError().message();
  buffer = std::move(*file);
  scope.stop();
  return parseBytes(path, buffer->getBuffer());
}

LogicalResult Compiler::loadOperators() {
  Location loc = UnknownLoc::get(context.get());
  auto &known = onnx::CustomOperators::of(context.get());
  llvm::StringSet<> symbols;
  for (const std::string &path : options.customLibraries) {
    if (!llvm::sys::fs::exists(path))
      return loopc::emitError(loc, Diag::CannotRead)
             << "cannot read the library of custom operators '" << path
             << "': there is no such file";
    std::vector<const loopc_custom_op *> operators;
    if (std::string problem = loadCustomLibrary(path, operators);
        !problem.empty())
      return loopc::emitError(loc, Diag::BadOption) << problem;
    for (const loopc_custom_op *op : operators) {
      if (!known.add(*op) || !symbols.insert(op->symbol).second)
        return loopc::emitError(loc, Diag::BadOption)
               << "'" << path << "' has operator '" << op->domain
               << "::" << op->name << "' of version " << op->since_version
               << ", " << op->symbol << ", which is there already";
      options.target.customOperators.emplace_back(op->symbol, op);
    }
  }
  options.target.customLibraries = options.customLibraries;
  known.onLoad = [this](const loopc_custom_op &op, const std::string &path) {
    options.target.customOperators.emplace_back(op.symbol, &op);
    options.target.customLibraries.push_back(path);
  };
  return success();
}

LogicalResult Compiler::parseBytes(StringRef name, StringRef bytes) {
  if (failed(loadOperators()))
    return failure();
  TimingScope scope = timing->nest("Import");
  fileStem = name == "-" ? "" : llvm::sys::path::stem(name).str();
  bool isMLIR =
      options.format == InputFormat::MLIR ||
      (options.format == InputFormat::Auto && looksLikeMLIR(name, bytes));
  if (isMLIR)
    return parseMLIR(name, bytes);
  ImportOptions import;
  import.isLowered = [](StringRef domain, StringRef op, int64_t since) {
    return LoweringTable::get().find(domain, op, since) != nullptr;
  };
  import.dims = options.dims;
  import.shapes = options.shapes;
  import.ortCompat = options.ortCompat;
  import.externalDataFolder = options.externalDataFolder;
  bool isOpenVINO =
      options.format == InputFormat::OpenVINO ||
      (options.format == InputFormat::Auto && looksLikeOpenVINO(name, bytes));
  module = isOpenVINO ? importOpenVINO(name, bytes, *context, import)
                      : importONNX(name, bytes, *context, import);
  return finishImport();
}

LogicalResult Compiler::finishImport() {
  return module ? pairStates(*module, options.states) : failure();
}

LogicalResult
Compiler::importNetwork(const network::INetworkDefinition &network) {
  TimingScope scope = timing->nest("Import");
  fileStem = network.getName();
  network::EmitOptions emit;
  emit.dims = options.dims;
  emit.shapes = options.shapes;
  module = network::emitNetwork(network, *context, emit);
  return finishImport();
}

std::unique_ptr<llvm::MemoryBuffer> Compiler::takeBytecode(StringRef name,
                                                           StringRef bytes) {
  // A mapped file, as pages are aligned.
  if (buffer && bytes.data() == buffer->getBufferStart() &&
      llvm::isAddrAligned(llvm::Align(kBytecodeAlignment), bytes.data()))
    return std::move(buffer);
  auto copy = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(
      bytes.size(), name, llvm::Align(kBytecodeAlignment));
  if (!copy)
    llvm::report_bad_alloc_error("no memory for a model");
  llvm::copy(bytes, copy->getBufferStart());
  return copy;
}

LogicalResult Compiler::parseMLIR(StringRef name, StringRef bytes) {
  // Weights in bytecode are not copied: they keep the sources.
  auto sources = std::make_shared<llvm::SourceMgr>();
  // The parser of text wants a zero at the end.
  bool isBinary = isBytecode(llvm::MemoryBufferRef(bytes, name));
  sources->AddNewSourceBuffer(
      isBinary ? takeBytecode(name, bytes)
               : llvm::MemoryBuffer::getMemBufferCopy(bytes, name),
      llvm::SMLoc());
  ParserConfig config(context.get(), /*verifyAfterParse=*/false);
  module = parseSourceFile<ModuleOp>(sources, config);
  if (module && (failed(verifyRead()) ||
                 failed(pinArguments(*module, {options.dims, options.shapes}))))
    module = nullptr;
  return finishImport();
}

LogicalResult Compiler::verifyRead() {
  std::optional<Diagnostic> first;
  SmallVector<Operation *> impossible =
      verifyOperations(*module, [&](Diagnostic &each) {
        if (!first)
          first = std::move(each);
      });
  if (first) {
    context->getDiagEngine().emit(std::move(*first));
    return failure();
  }
  context->loadDialect<arith::ArithDialect, loop::LoopDialect>();
  for (Operation *view : impossible) {
    ImplicitLocOpBuilder b(view->getLoc(), view);
    loop::CheckOp::create(b, arith::ConstantIntOp::create(b, 0, 1),
                          b.getStringAttr(locationPath(b.getLoc()) + ": '" +
                                          view->getName().getStringRef() +
                                          "' of known extents that contradict "
                                          "each other"),
                          ValueRange(), Value());
  }
  return success();
}

static Stage getStage(Output output) {
  switch (output) {
  case Output::Outline:
  case Output::ONNX:
    return Stage::ONNX;
  case Output::Shapes:
  case Output::Loop:
    return Stage::Loop;
  case Output::Linalg:
    return Stage::Linalg;
  case Output::MemRef:
    return Stage::MemRef;
  case Output::SCF:
    return Stage::SCF;
  default:
    return Stage::LLVM;
  }
}

LogicalResult Compiler::lower(Output output) {
  assert(module && "nothing was read");
  Stage stage = getStage(output);
  // A module that has been lowered before stays as it is.
  bool isLowered = bool(module->lookupSymbol<LLVM::LLVMFuncOp>(kEntryName));
  if (options.checkAccesses && (isLowered || !options.target.chip.empty()))
    return loopc::emitError(module->getLoc(), Diag::BadOption)
           << "--check-accesses: "
           << (isLowered ? "the module is in the LLVM dialect already"
                         : "code for GPUs is not checked");
  if (options.profile && (isLowered || !options.target.chip.empty()))
    return loopc::emitError(module->getLoc(), Diag::BadOption)
           << "--profile: "
           << (isLowered ? "the module is in the LLVM dialect already"
                         : "code for GPUs is not measured; use NVIDIA's nsys");
  if (std::string problem = checkDisabledPasses(options.disabledPasses);
      !problem.empty())
    return loopc::emitError(module->getLoc(), Diag::BadOption)
           << "--disable-pass: " << problem;
  if (!isLowered && stage == Stage::LLVM && options.target.quickCode) {
    FailureOr<OwningOpRef<ModuleOp>> quick = lowerQuickly();
    if (failed(quick))
      return failure();
    module = std::move(*quick);
  } else if (!isLowered && failed(advance(stage))) {
    return failure();
  }
  return stage == Stage::LLVM ? readInfo(*module) : success();
}

LogicalResult Compiler::readInfo(ModuleOp lowered) {
  FailureOr<ModelInfo> read =
      readModelInfo(lowered, options.target.name, fileStem);
  if (failed(read))
    return failure();
  info = std::move(*read);
  return success();
}

LogicalResult Compiler::runPasses(ModuleOp which, std::optional<Stage> from,
                                  Stage until, bool quickCode) {
  TimingScope scope = timing->nest("Passes");
  PassManager passes(context.get());
  PipelineOptions pipeline;
  pipeline.optLevel = static_cast<int>(options.target.optLevel);
  pipeline.checkAccesses = options.checkAccesses;
  pipeline.weights = options.weights;
  pipeline.profile = options.profile;
  pipeline.disabledPasses = options.disabledPasses;
  pipeline.vectors = getVectorUnit(options.target);
  // The code of -O1 is little as it is.
  pipeline.quickCode = quickCode && options.target.optLevel > 1;
  if (!options.target.chip.empty())
    pipeline.gpu = {options.target.chip,        options.target.minKernelWork,
                    options.target.allowTf32,   hasLibdevice(),
                    options.target.deviceLoops, options.target.cublas};
  buildPipeline(passes, pipeline, until, from);
  // The end of each stage is verified by a pass of its own, and what is behind
  // each pass as there: MLIR's verifier is against views that no run reaches.
  passes.enableVerifier(false);
  bool hasFailed = false;
  if (options.verifyEach.value_or(asksForVerification()))
    verifyEachPass(passes, hasFailed);
  if (options.configurePasses && failed(options.configurePasses(passes)))
    return failure();
  tracePasses(passes, which);
  passes.enableTiming(scope);
  return success(succeeded(passes.run(which)) && !hasFailed);
}

LogicalResult Compiler::advance(Stage until) {
  if (reached && *reached >= until)
    return success();
  std::optional<Stage> from = std::exchange(reached, until);
  return runPasses(*module, from, until, /*quickCode=*/false);
}

FailureOr<OwningOpRef<ModuleOp>> Compiler::lowerQuickly() {
  if (failed(advance(Stage::MemRef)))
    return failure();
  OwningOpRef<ModuleOp> quick = module->clone();
  if (failed(runPasses(*quick, Stage::MemRef, Stage::LLVM, /*quickCode=*/true)))
    return failure();
  return quick;
}

LogicalResult Compiler::lowerForTarget(Output output) {
  // A wrong target shall not be found after minutes of work.
  if ((output > Output::LLVM || !options.target.chip.empty()) &&
      failed(checkTarget(options.target, UnknownLoc::get(context.get()))))
    return failure();
  return lower(output);
}

/// Fails where the code would call operators of a library for onnxruntime,
/// which no program can link.
LogicalResult Compiler::checkLinkedOperators() {
  if (options.target.bindsOperators)
    return success();
  auto &known = onnx::CustomOperators::of(context.get());
  WalkResult result = module->walk([&](onnx::NodeOp node) {
    const loopc_custom_op *op = known.find(node);
    if (!op || !(op->flags & LOOPC_CUSTOM_OF_ONNXRUNTIME))
      return WalkResult::advance();
    loopc::emitError(node.getLoc(), Diag::UnsupportedNode)
        << "an operator of a library for onnxruntime is called in sessions "
           "only (loopc-run, InferenceSession): a program cannot link it. "
           "Describe its function with loopc-rt/custom.h to compile ahead of "
           "time";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult Compiler::emit(Output output, llvm::raw_pwrite_stream &os,
                             StringRef weightsFile) {
  assert(output != Output::Shared && "a shared object is a file: emitShared()");
  if (output > Output::LLVM && failed(checkLinkedOperators()))
    return failure();
  if (failed(lowerForTarget(output)))
    return failure();
  if (output <= Output::LLVM) {
    TimingScope scope = timing->nest("Print");
    if (output == Output::Outline) {
      os << makeOutline(*module);
      return success();
    }
    if (output == Output::Shapes) {
      printShapes(*module, os);
      return success();
    }
    // The stage's end is verified; what is not read is not imported. MLIR would
    // write all operations in their generic form for one view that no run
    // reaches.
    module->print(os, OpPrintingFlags().assumeVerified());
    os << '\n';
    return success();
  }
  CodeKind kind = output == Output::LLVMIR     ? CodeKind::LLVMIR
                  : output == Output::PTX      ? CodeKind::PTX
                  : output == Output::Assembly ? CodeKind::Assembly
                                               : CodeKind::Object;
  return generateCode(*module, info, options.target, kind, os, weightsFile,
                      timing->nest("Code generation"));
}

/// True if LLVM's work on `module`, buffers and what is done on them, takes
/// long enough that code is to be made quickly first.
static bool gainsByTwoTiers(ModuleOp module, bool onlyLong) {
  unsigned count = 0;
  module.walk([&](Operation *) { ++count; });
  return count >= (onlyLong ? kMinOfLong : kMinOfTiers);
}

FailureOr<bool> Compiler::emitQuickly(StringRef file, StringRef soname) {
  if (failed(lowerForTarget(Output::MemRef)))
    return failure();
  if (reached != Stage::MemRef ||
      !gainsByTwoTiers(*module, options.onlyLongInTiers))
    return false;
  FailureOr<OwningOpRef<ModuleOp>> quick = lowerQuickly();
  if (failed(quick) || failed(readInfo(**quick)))
    return failure();
  TargetOptions target = options.target;
  target.quickCode = true;
  if (failed(generateShared(**quick, info, target, file, soname,
                            timing->nest("Code generation"))))
    return failure();
  return true;
}

LogicalResult Compiler::emitShared(StringRef file, StringRef soname,
                                   llvm::function_ref<std::string()> next) {
  if (failed(checkLinkedOperators()))
    return failure();
  std::string path = file.str();
  if (next) {
    FailureOr<bool> isMade = emitQuickly(file, soname);
    if (failed(isMade))
      return failure();
    if (*isMade)
      path = next();
    if (path.empty())
      return success();
  }
  if (failed(lowerForTarget(Output::Shared)))
    return failure();
  return generateShared(*module, info, options.target, path, soname,
                        timing->nest("Code generation"));
}

FailureOr<std::unique_ptr<CompiledModel>> Compiler::compileInProcess() {
  if (failed(lowerForTarget(Output::Object)))
    return failure();
  return CompiledModel::create(*module, info, options.target,
                               timing->nest("Code generation"));
}
