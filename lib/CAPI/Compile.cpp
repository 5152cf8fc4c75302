//===- Compile.cpp - The C API's way into the compiler --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interface.h"
#include "WorkerProgress.h"

#include "loopc/Compiler.h"
#include "loopc/Frontend/Network/Network.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/OutputFile.h"
#include "loopc/Support/ReadFile.h"
#include "loopc/Target/CodeGen.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <optional>

using namespace mlir;
using namespace loopc;
using namespace loopc::capi;

//===----------------------------------------------------------------------===//
// Options and diagnostics
//===----------------------------------------------------------------------===//

static CompilerOptions makeOptions(const loopc_compile_options &given) {
  CompilerOptions options;
  options.target.triple = given.target;
  options.target.cpu = given.cpu;
  options.target.features = given.features;
  options.target.chip = given.chip;
  if (given.minKernelWork >= 0)
    options.target.minKernelWork = static_cast<unsigned>(given.minKernelWork);
  if (auto form = parseDeviceLoops(given.deviceLoops))
    options.target.deviceLoops = *form;
  if (auto which = parseCublas(given.cublas))
    options.target.cublas = *which;
  if (auto type = parseWeightType(given.weights))
    options.weights = *type;
  options.target.allowTf32 = given.allowTf32;
  options.target.optLevel = static_cast<unsigned>(given.optLevel);
  options.target.quickCode = given.quickCode;
  options.onlyLongInTiers = given.tier == kAutoTier;
  options.target.name = given.name;
  options.ortCompat = given.ortCompat;
  options.checkAccesses = given.checkAccesses;
  options.profile = given.profile;
  options.disabledPasses = given.disabledPasses;
  options.customLibraries = given.customLibraries;
  options.target.fpContract = given.fpContract;
  options.externalDataFolder = given.baseDirectory;
  for (const auto &[name, extent] : given.dims)
    options.dims[name] = extent < 0 ? ShapedType::kDynamic : extent;
  options.states = given.states;
  for (const auto &[name, extents] : given.shapes) {
    llvm::SmallVector<int64_t> &shape = options.shapes[name];
    for (int64_t extent : extents)
      shape.push_back(extent < 0 ? ShapedType::kDynamic : extent);
  }
  if (given.verify)
    options.verifyEach = true;
  return options;
}

static int32_t severityOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return LOOPC_SEVERITY_ERROR;
  case DiagnosticSeverity::Warning:
    return LOOPC_SEVERITY_WARNING;
  case DiagnosticSeverity::Remark:
    return LOOPC_SEVERITY_REMARK;
  case DiagnosticSeverity::Note:
    return LOOPC_SEVERITY_NOTE;
  }
  llvm_unreachable("a severity that MLIR does not have");
}

static void add(const CollectedDiagnostic &from, loopc_diagnostics &to) {
  // str() has the notes too; they are entries of their own here.
  CollectedDiagnostic alone = from;
  alone.notes.clear();
  to.entries.push_back({severityOf(from.severity), from.code, from.location,
                        from.message,
                        StringRef(alone.str()).rtrim('\n').str()});
  for (const CollectedDiagnostic &note : from.notes)
    add(note, to);
}

/// The status that the first error of `diagnostics` stands for.
static int statusOf(const loopc_diagnostics &diagnostics) {
  for (const loopc_diagnostics::Entry &entry : diagnostics.entries) {
    if (entry.severity != LOOPC_SEVERITY_ERROR)
      continue;
    for (Diag diag : {Diag::CannotRead, Diag::CannotWrite})
      if (entry.code == getCode(diag))
        return LOOPC_COMPILE_ERROR_FILE;
    for (Diag diag :
         {Diag::BadOption, Diag::UnknownDim, Diag::UnknownInput,
          Diag::ShapeConflict, Diag::UnknownTarget, Diag::UnknownCpu,
          Diag::UnknownFeature, Diag::BadModelName})
      if (entry.code == getCode(diag))
        return LOOPC_COMPILE_ERROR_ARGUMENT;
    return entry.code == getCode(Diag::Internal) ? LOOPC_COMPILE_ERROR_INTERNAL
                                                 : LOOPC_COMPILE_ERROR_MODEL;
  }
  return LOOPC_COMPILE_ERROR_INTERNAL;
}

/// Reads the model.
static LogicalResult parse(Compiler &compiler, const Source &source) {
  if (source.network)
    return compiler.importNetwork(*source.network);
  if (source.path.empty() && source.opened.empty())
    return compiler.parseBytes(
        "<bytes>", StringRef(source.bytes.data(), source.bytes.size()));
  StringRef name = source.path.empty()  ? "<bytes>"
                   : source.path == "-" ? "./-"
                                        : StringRef(source.path);
  return compiler.parseFile(name, source.opened);
}

static void addAll(DiagnosticCollector &collector, loopc_diagnostics &to) {
  for (const CollectedDiagnostic &one : collector.get())
    add(one, to);
}

/// Runs `work(compiler, collector)` on the model that was read, and collects
/// what is said.
template <typename Work>
static int withCompiler(const Source &source, CompilerOptions options,
                        loopc_diagnostics &diagnostics, Work work) {
  auto owned = std::make_unique<Compiler>(std::move(options));
  Compiler &compiler = *owned;
  // What is in the memory of a process that ends need not be taken apart.
  if (isWorker())
    (void)owned.release();
  LogicalResult result = failure();
  {
    DiagnosticCollector collector(&compiler.getContext());
    mlir::TimingScope scope = reportProgress();
    if (scope)
      compiler.setTiming(scope);
    result = parse(compiler, source);
    if (succeeded(result))
      result = work(compiler, collector);
    addAll(collector, diagnostics);
    if (failed(result) && collector.getNumErrors() == 0)
      diagnostics.addError(kInternalCode,
                           "the compiler failed without a message");
  }
  return succeeded(result) ? LOOPC_COMPILE_OK : statusOf(diagnostics);
}

namespace {
/// Code that was compiled into this process.
struct CompiledCode : SessionCode {
  explicit CompiledCode(std::unique_ptr<CompiledModel> model)
      : model(std::move(model)) {}
  std::unique_ptr<CompiledModel> model;
};
} // namespace

static int compileInProcess(const Source &source,
                            const loopc_compile_options &options,
                            loopc_session &session,
                            loopc_diagnostics &diagnostics) {
  return withCompiler(
      source, makeOptions(options), diagnostics,
      [&](Compiler &compiler, DiagnosticCollector &) -> LogicalResult {
        FailureOr<std::unique_ptr<CompiledModel>> compiled =
            compiler.compileInProcess();
        if (failed(compiled))
          return failure();
        session.model = (*compiled)->get();
        session.code = std::make_unique<CompiledCode>(std::move(*compiled));
        return success();
      });
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static Output outputOf(int emit) {
  switch (emit) {
#define LOOPC_OUTPUT(enumerator, name, emit)                                   \
  case LOOPC_EMIT_##emit:                                                      \
    return Output::enumerator;
#include "loopc/Outputs.def"
  default:
    return Output::Object;
  }
}

namespace {
/// Writes one model to one file, and its header.
class Writer {
public:
  Writer(Compiler &compiler, Output output, std::string path)
      : compiler(compiler), output(output), path(std::move(path)) {}

  /// `read` are the files that the model was read from.
  LogicalResult write(ArrayRef<NamedFile> read);
  /// The same without the header, into a file that nobody else knows of. With
  /// `next`, and another one where that names one (CompilerInterface).
  LogicalResult writeLibrary(const std::function<std::string()> &next);

private:
  LogicalResult writeShared(OutputFile &file,
                            llvm::function_ref<std::string()> next = nullptr);
  std::optional<OutputFile> open(StringRef path);
  LogicalResult keep(OutputFile &file, StringRef path);
  LogicalResult cannotWrite(StringRef path, llvm::Error error);

  Compiler &compiler;
  Output output;
  std::string path;
};

LogicalResult Writer::cannotWrite(StringRef path, llvm::Error error) {
  return loopc::emitError(UnknownLoc::get(&compiler.getContext()),
                          Diag::CannotWrite)
         << "cannot write '" << path
         << "': " << llvm::toString(std::move(error));
}

std::optional<OutputFile> Writer::open(StringRef path) {
  llvm::Expected<OutputFile> file = OutputFile::create(path, isWorker());
  if (file)
    return std::move(*file);
  (void)cannotWrite(path, file.takeError());
  return std::nullopt;
}

LogicalResult Writer::keep(OutputFile &file, StringRef path) {
  if (llvm::Error error = file.keep())
    return cannotWrite(path, std::move(error));
  return success();
}

LogicalResult Writer::writeShared(OutputFile &file,
                                  llvm::function_ref<std::string()> next) {
  if (file.getTemporaryPath().empty())
    return cannotWrite(path, llvm::createStringError("is not a plain file"));
  return compiler.emitShared(file.getTemporaryPath(),
                             llvm::sys::path::filename(path), next);
}

LogicalResult Writer::writeLibrary(const std::function<std::string()> &next) {
  std::optional<OutputFile> file = open(path);
  if (!file)
    return failure();
  // The first file is whole when the second one is begun.
  auto keepFirst = [&]() -> std::string {
    if (failed(keep(*file, path)))
      return "";
    std::string second = next();
    if (second.empty())
      return "";
    path = second;
    file = open(path);
    return file ? file->getTemporaryPath().str() : "";
  };
  llvm::function_ref<std::string()> goOn = nullptr;
  if (next)
    goOn = keepFirst;
  return success(succeeded(writeShared(*file, goOn)) && file &&
                 succeeded(keep(*file, path)));
}

LogicalResult Writer::write(ArrayRef<NamedFile> read) {
  bool isCode = output == Output::Object || output == Output::Shared;
  bool isText = output == Output::LLVMIR || output == Output::Assembly;
  // What cannot be written shall not be found after minutes of work.
  llvm::SmallString<128> headerPath(path);
  llvm::sys::path::replace_extension(headerPath, "h");
  std::string weights = isText ? path + ".weights" : "";
  if (std::string same =
          findSameFile(read, {{"output", path},
                              {"header", isCode ? headerPath.str().str() : ""},
                              {"file of weights", weights}});
      !same.empty())
    return loopc::emitError(UnknownLoc::get(&compiler.getContext()),
                            Diag::BadOption)
           << same;
  std::optional<OutputFile> file = open(path), header;
  if (!file)
    return failure();
  if (isCode) {
    header = open(headerPath);
    if (!header)
      return failure();
  }
  if (output == Output::Shared) {
    if (failed(writeShared(*file)))
      return failure();
  } else {
    if (failed(compiler.emit(output, file->getStream(), weights)))
      return failure();
  }
  if (header) {
    writeHeader(compiler.getModelInfo(), header->getStream());
    // The object does not appear without its header.
    if (llvm::Error error = header->finish())
      return cannotWrite(headerPath, std::move(error));
  }
  if (failed(keep(*file, path)))
    return failure();
  return header ? keep(*header, headerPath) : success();
}
} // namespace

static int writeFile(const Source &source, int emit, const std::string &output,
                     const loopc_compile_options &options,
                     loopc_diagnostics &diagnostics) {
  CompilerOptions changed = makeOptions(options);
  // What is written is for other machines, too.
  if (changed.target.cpu.empty())
    changed.target.cpu = "portable";
  std::vector<std::string> filesBeside;
  FileRecorder recorder(filesBeside);
  return withCompiler(
      source, std::move(changed), diagnostics,
      [&](Compiler &compiler, DiagnosticCollector &) {
        llvm::SmallVector<NamedFile> read = {{"input", source.path}};
        for (const std::string &file : filesBeside)
          read.push_back({"data of the model", file});
        // "-" is a file like any other.
        std::string path = output == "-" ? "./-" : output;
        return Writer(compiler, outputOf(emit), std::move(path)).write(read);
      });
}

static int compileEntry(const Source &source, const std::string &runtime,
                        const std::string &output,
                        const loopc_compile_options &options, EntryInfo &info,
                        loopc_diagnostics &diagnostics,
                        const std::function<std::string()> &next) {
  FileRecorder recorder(info.files);
  CompilerOptions changed = makeOptions(options);
  changed.target.runtimeLibrary = runtime;
  changed.target.bindsOperators = true;
  return withCompiler(
      source, std::move(changed), diagnostics,
      [&](Compiler &compiler, DiagnosticCollector &collector) {
        std::function<std::string()> tellAndGoOn;
        if (next)
          tellAndGoOn = [&] {
            info.symbol = compiler.getModelInfo().symbol;
            addAll(collector, diagnostics);
            std::string path = next();
            diagnostics.entries.clear(); // all of it comes at the end
            return path;
          };
        LogicalResult written =
            Writer(compiler, Output::Shared, output).writeLibrary(tellAndGoOn);
        info.symbol = compiler.getModelInfo().symbol;
        return written;
      });
}

static int writeNetwork(const Source &source,
                        const loopc_compile_options &options,
                        std::string &bytes, loopc_diagnostics &diagnostics) {
  return withCompiler(
      source, makeOptions(options), diagnostics,
      [&](Compiler &compiler, DiagnosticCollector &) {
        ModuleOp module = compiler.getModule();
        module->setAttr(
            kModelNameAttr,
            StringAttr::get(module.getContext(), source.network->getName()));
        llvm::raw_string_ostream os(bytes);
        return writeBytecodeToFile(module, os);
      });
}

extern "C" const CompilerInterface *loopc_compiler_interface(void) {
  static const CompilerInterface compiler = {
      kInterfaceVersion, LOOPC_VERSION, compileInProcess,           writeFile,
      compileEntry,      writeNetwork,  network::TypeOracle::create};
  return &compiler;
}
