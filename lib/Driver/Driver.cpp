//===- Driver.cpp - The program loopc -------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Driver/Driver.h"
#include "CommandLine.h"
#include "LoopReport.h"
#include "loopc/Driver/Progress.h"
#include "loopc/Support/CompilerThread.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/OutputFile.h"
#include "loopc/Support/ProgressLine.h"
#include "loopc/Support/ReadFile.h"
#include "loopc/Support/Remarks.h"
#include "loopc/Support/Remedies.h"
#include "loopc/Target/CodeGen.h"

#include "mlir/Support/Timing.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Host.h"

#include <chrono>

using namespace loopc;
using namespace llvm;

namespace {

/// Sees the diagnostics before they are printed: chooses the exit code by the
/// first error, makes room for them, and keeps remarks back.
class DiagnosticWatcher {
public:
  DiagnosticWatcher(mlir::MLIRContext &context, ProgressLine &line)
      : handler(&context, [this, &line](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error &&
              code == ExitOk)
            code = getExitCode(extractCode(diagnostic.str()));
          bool isKept = !isPrinting && diagnostic.getSeverity() ==
                                           mlir::DiagnosticSeverity::Remark;
          if (isKept)
            ++remarks[{
                diagnostic.getLocation(),
                mlir::StringAttr::get(diagnostic.getLocation().getContext(),
                                      diagnostic.str())}];
          else
            line.clear();
          return success(isKept);
        }) {}

  /// Prints the remarks, in their order, each once: passes say the same of each
  /// version of a loop.
  void printRemarks() {
    isPrinting = true;
    for (auto &[remark, count] : remarks)
      mlir::emitRemark(remark.first)
          << remark.second.getValue()
          << (count > 1 ? " (" + std::to_string(count) + " times)" : "");
    isPrinting = false;
  }

  /// What a failure means.
  ExitCode getCode() const { return code == ExitOk ? ExitCompileError : code; }

private:
  static ExitCode getExitCode(StringRef diagnosticCode) {
    auto isOneOf = [&](ArrayRef<Diag> diags) {
      return any_of(diags,
                    [&](Diag d) { return diagnosticCode == getCode(d); });
    };
    if (isOneOf({Diag::CannotRead, Diag::CannotWrite}))
      return ExitFile;
    if (isOneOf({Diag::BadOption, Diag::UnknownDim, Diag::UnknownInput,
                 Diag::ShapeConflict, Diag::UnknownTarget, Diag::UnknownCpu,
                 Diag::UnknownFeature, Diag::BadModelName}))
      return ExitUsage;
    return ExitCompileError;
  }
  static StringRef getCode(Diag diag) { return loopc::getCode(diag); }

  ExitCode code = ExitOk;
  bool isPrinting = false;
  MapVector<std::pair<mlir::Location, mlir::StringAttr>, unsigned> remarks;
  mlir::ScopedDiagnosticHandler handler;
};

/// One run of the program.
class Driver {
public:
  explicit Driver(DriverOptions given)
      : options(std::move(given)), compiler(makeCompilerOptions()),
        printer(&compiler.getContext()), watcher(compiler.getContext(), line) {
    if (options.remarks)
      enableRemarks(compiler.getContext());
    else if (options.explain)
      report.watch(compiler.getContext());
    timer.setEnabled(options.timing);
    bool isWatched = !options.timing && errs().is_displayed();
    scope = isWatched ? progress.getRootScope() : timer.getRootScope();
    compiler.setTiming(scope);
  }

  ExitCode run() {
    ExitCode result = options.explain ? explain() : compile();
    if (options.remarks)
      watcher.printRemarks();
    return result;
  }

private:
  using Clock = std::chrono::steady_clock;

  CompilerOptions makeCompilerOptions();
  ExitCode compile();
  ExitCode explain();
  bool parse();
  bool compileTo(OutputFile &file);
  bool compileShared(OutputFile &file);
  std::optional<OutputFile> open(StringRef path);
  bool keep(OutputFile &file, StringRef path);
  bool cannotWrite(StringRef path, Error error);

  DriverOptions options;
  std::vector<std::string> filesBeside;
  FileRecorder recorder{filesBeside};
  LoopReport report;
  ProgressLine line{"loopc"};
  Clock::time_point begin = Clock::now();
  ProgressManager progress{[this](StringRef phase, double fraction) {
    std::chrono::duration<double> past = Clock::now() - begin;
    line.show(phase, fraction, past.count());
  }};
  mlir::DefaultTimingManager timer;
  mlir::TimingScope scope;
  Compiler compiler;
  TextDiagnosticPrinter printer;
  DiagnosticWatcher watcher;
};

} // namespace

bool Driver::cannotWrite(StringRef path, Error error) {
  loopc::emitError(mlir::UnknownLoc::get(&compiler.getContext()),
                   Diag::CannotWrite)
      << "cannot write '" << path << "': " << toString(std::move(error));
  return false;
}

std::optional<OutputFile> Driver::open(StringRef path) {
  Expected<OutputFile> file = OutputFile::create(path, /*removeOnSignal=*/true);
  if (file)
    return std::move(*file);
  cannotWrite(path, file.takeError());
  return std::nullopt;
}

bool Driver::keep(OutputFile &file, StringRef path) {
  if (Error error = file.keep())
    return cannotWrite(path, std::move(error));
  return true;
}

/// Reads the model. None of what it was read from is written to.
bool Driver::parse() {
  if (failed(compiler.parseFile(options.input)))
    return false;
  SmallVector<NamedFile> read;
  for (const std::string &file : filesBeside)
    read.push_back({"data of the model", file});
  std::string same = findSameFile(read, getWrittenFiles(options));
  if (same.empty())
    return true;
  loopc::emitError(mlir::UnknownLoc::get(&compiler.getContext()),
                   Diag::BadOption)
      << same;
  return false;
}

bool Driver::compileShared(OutputFile &file) {
  if (file.getTemporaryPath().empty())
    return cannotWrite(options.outputPath,
                       createStringError("is not a plain file"));
  return succeeded(compiler.emitShared(
      file.getTemporaryPath(), sys::path::filename(options.outputPath)));
}

bool Driver::compileTo(OutputFile &file) {
  if (options.output == Output::Shared)
    return compileShared(file);
  bool hasWeightsFile =
      options.outputPath != "-" &&
      (options.output == Output::LLVMIR || options.output == Output::Assembly);
  std::string weights = hasWeightsFile ? options.outputPath + ".weights" : "";
  return succeeded(compiler.emit(options.output, file.getStream(), weights));
}

/// The options, with the passes watched for a report.
CompilerOptions Driver::makeCompilerOptions() {
  CompilerOptions made = options.compiler;
  if (options.explain)
    made.configurePasses = [this, configure = options.compiler.configurePasses](
                               mlir::PassManager &passes) {
      report.watch(passes);
      return configure(passes);
    };
  return made;
}

ExitCode Driver::explain() {
  std::optional<OutputFile> picture;
  std::optional<OutputFile> file = open(options.outputPath);
  if (file && !options.svgPath.empty())
    picture = open(options.svgPath);
  raw_null_ostream nowhere;
  if (!file || (!options.svgPath.empty() && !picture) || !parse() ||
      failed(compiler.emit(Output::LLVM, nowhere)))
    return watcher.getCode();
  line.clear();
  std::vector<ReportedLoop> loops = report.takeLoops();
  std::vector<ReportedLoop> gone = report.takeGone();
  printReport(options.input, loops, gone, file->getStream());
  if (picture)
    drawReport(options.input, loops, gone, picture->getStream());
  bool isKept = keep(*file, options.outputPath) &&
                (!picture || keep(*picture, options.svgPath));
  return isKept ? ExitOk : watcher.getCode();
}

ExitCode Driver::compile() {
  // What cannot be written shall not be found after minutes of work.
  std::optional<OutputFile> header;
  std::optional<OutputFile> file = open(options.outputPath);
  if (!file)
    return watcher.getCode();
  if (!options.headerPath.empty()) {
    header = open(options.headerPath);
    if (!header)
      return watcher.getCode();
  }
  if (!parse() || !compileTo(*file))
    return watcher.getCode();
  if (header) {
    writeHeader(compiler.getModelInfo(), header->getStream());
    // The object does not appear without its header.
    if (Error error = header->finish()) {
      cannotWrite(options.headerPath, std::move(error));
      return watcher.getCode();
    }
  }
  if (!keep(*file, options.outputPath) ||
      (header && !keep(*header, options.headerPath)))
    return watcher.getCode();
  // Last of all: who should read it may be gone, which ends the program.
  if (options.verbose) {
    errs() << "loopc: wrote '" << options.outputPath << "'";
    if (options.compiler.target.cpu == "portable" &&
        options.compiler.target.triple.empty())
      errs() << " for " << getPortableCpu(Triple(sys::getProcessTriple()))
             << " and later CPUs (--cpu=native: for this one)";
    errs() << '\n';
    if (header)
      errs() << "loopc: wrote '" << options.headerPath << "'\n";
  }
  return ExitOk;
}

/// "loopc explain LC0303": what the error means.
static bool isCode(StringRef text) {
  return text.size() == 6 && text.starts_with("LC") &&
         all_of(text.drop_front(2), isDigit);
}

/// True for one that is no file here.
static bool isCommandOfPython(StringRef text) {
  return is_contained({"compile", "run", "bench", "doctor"}, text) &&
         !sys::fs::exists(text);
}

/// "loopc explain --help", which has the options of compiling, too.
static void printHelpOfExplain(raw_ostream &os) {
  os << "OVERVIEW: Says what becomes of each loop of a model, and why; or what "
        "an error means.\n\n"
        "USAGE: loopc explain [options] <model>\n"
        "       loopc explain <code>\n\n"
        "For each loop: whether its trips are known, what it carries and "
        "collects and where\nthat lives, what is vectorised, threads, and "
        "what is allocated in an iteration.\n\n"
        "  --svg=<file>  - Draw it, too\n"
        "  -O<level>     - As of compiling, as are --dim, --shape, --cpu and "
        "others: loopc --help\n\n"
        "  loopc explain model.onnx --dim=batch=1 --svg=loops.svg\n"
        "  loopc explain LC0303\n";
}

/// The command that a misspelled word stands for; empty for a model's file.
static StringRef findCommand(StringRef word) {
  constexpr unsigned kTypos = 2;
  if (word.starts_with("-") || sys::fs::exists(word))
    return {};
  for (StringRef command : {"explain", "cache"})
    if (word != command && word.edit_distance(command, true, kTypos) <= kTypos)
      return command;
  return {};
}

int loopc::runDriver(int argc, const char *const *argv) {
  DriverOptions options;
  std::vector<const char *> arguments(argv, argv + argc);
  if (argc > 1 && StringRef(argv[1]) == "explain") {
    if (is_contained(ArrayRef(argv, argc).drop_front(2), StringRef("--help"))) {
      printHelpOfExplain(outs());
      return ExitOk;
    }
    if (argc == 3 && isCode(argv[2])) {
      if (explainCode(argv[2], outs()))
        return ExitOk;
      printError(errs(), "loopc", Diag::BadOption,
                 "there is no error " + Twine(argv[2]));
      return ExitUsage;
    }
    // An option like others.
    arguments[1] = "--explain";
    argv = arguments.data();
  }
  if (argc > 1 && isCommandOfPython(argv[1])) {
    printError(errs(), "loopc", Diag::BadOption,
               "'" + Twine(argv[1]) +
                   "' is a command of 'python -m loopc'; 'loopc MODEL' "
                   "compiles a model, and 'loopc-run MODEL' runs it");
    return ExitUsage;
  }
  if (StringRef command = argc > 1 ? findCommand(argv[1]) : StringRef();
      !command.empty()) {
    printError(errs(), "loopc", Diag::BadOption,
               "there is no command or file '" + Twine(argv[1]) +
                   "': did you mean '" + command + "'?");
    return ExitUsage;
  }
  if (!parseCommandLine(argc, argv, options))
    return ExitUsage;
  ExitCode code = ExitOk;
  callWithStack([&] { code = Driver(std::move(options)).run(); });
  return code;
}
