//===- CommandLine.cpp - The options of loopc-run -------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunTool.h"

#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/OptionParser.h"
#include "loopc/Support/OutputFile.h"

#include "llvm/Support/CommandLine.h"

#include <cmath>

using namespace llvm;
using namespace loopc::run;

static cl::OptionCategory kValues("Values");
static cl::OptionCategory kRunning("Running");
static cl::OptionCategory kCompiling("Compiling (an ONNX or MLIR model)");

namespace {
struct Flags {
  cl::opt<std::string> model{cl::Positional, cl::Required,
                             cl::desc("<model: .onnx, .mlir or .so>"),
                             cl::cat(kRunning)};
  cl::list<std::string> inputs{
      "input", cl::value_desc("name=value"),
      cl::desc("Input by name: a .npy or .pb file, or a value such as 3, "
               "[[1,2],[3,4]], true, \"text\", null; repeatable"),
      cl::cat(kValues)};
  cl::opt<std::string> inputsPath{
      "inputs", cl::value_desc("path"),
      cl::desc(
          "All inputs: an .npz file, or a folder with NAME.npy, NAME.pb or "
          "input_0.pb, input_1.pb, ...; without any of both, inputs are "
          "random"),
      cl::cat(kValues)};
  cl::opt<uint64_t> seed{
      "seed", cl::init(0), cl::value_desc("n"),
      cl::desc("Begin random inputs with this number; with --input, "
               "of those that have no value"),
      cl::cat(kValues)};
  cl::list<std::string> states{
      "set-state", cl::value_desc("name=value"),
      cl::desc("What a state is before the first run, as --input; without it, "
               "the model's initial value; repeatable"),
      cl::cat(kValues)};
  cl::opt<std::string> statesPath{
      "states", cl::value_desc("path"),
      cl::desc(
          "The same from an .npz file or a folder (NAME.npy, ...), such as "
          "--save-states writes"),
      cl::cat(kValues)};
  cl::opt<std::string> saveStates{
      "save-states", cl::value_desc("path"),
      cl::desc("Write what the states are after the last run"),
      cl::cat(kValues)};
  cl::opt<std::string> expect{
      "expect", cl::value_desc("path"),
      cl::desc("Compare with the outputs in an .npz file or a folder "
               "(output_0.pb, ...)"),
      cl::cat(kValues)};
  cl::opt<double> rtol{"rtol", cl::init(1e-3), cl::value_desc("x"),
                       cl::desc("Relative tolerance of floats (1e-3)"),
                       cl::cat(kValues)};
  cl::opt<double> atol{"atol", cl::init(1e-7), cl::value_desc("x"),
                       cl::desc("Absolute tolerance of floats (1e-7)"),
                       cl::cat(kValues)};
  cl::opt<std::string> output{
      "output", cl::value_desc("path"),
      cl::desc("Write the outputs to a folder, or to a file that ends in .npz"),
      cl::cat(kValues)};
  cl::alias outputAlias{"o", cl::aliasopt(output), cl::desc("Same as --output"),
                        cl::cat(kValues)};
  cl::opt<int64_t> limit{
      "limit", cl::init(60), cl::value_desc("n"),
      cl::desc("Abbreviate outputs of more elements; -1: never (60)"),
      cl::cat(kValues)};
  cl::opt<bool> quiet{"quiet", cl::desc("Do not print the outputs"),
                      cl::cat(kValues)};
  cl::alias quietAlias{"q", cl::aliasopt(quiet), cl::desc("Same as --quiet"),
                       cl::cat(kValues)};

  cl::opt<uint64_t> runs{
      "runs", cl::init(1), cl::value_desc("N"),
      cl::desc(
          "Run N times with the same inputs; states go from one run to the "
          "next. Outputs are printed each time, written and compared "
          "after the last"),
      cl::cat(kRunning)};
  cl::opt<std::string> bench{
      "bench", cl::ValueOptional, cl::value_desc("N or seconds"),
      cl::desc("Run N times more, or for so long (\"2s\"; the default is 1s), "
               "and print times of a run"),
      cl::cat(kRunning)};
  cl::opt<double> timeout{"timeout", cl::init(0), cl::value_desc("seconds"),
                          cl::desc("End a run that takes longer"),
                          cl::cat(kRunning)};
  cl::opt<int> threads{"threads", cl::init(0), cl::value_desc("n"),
                       cl::desc("Threads of a run (the cores)"),
                       cl::cat(kRunning)};
  cl::opt<std::string> device{
      "device", cl::init("cpu"), cl::value_desc("cpu or cuda:N"),
      cl::desc("Where to run: an NVIDIA GPU, for which the model is compiled "
               "(cpu)"),
      cl::cat(kRunning)};
  cl::opt<uint64_t> memory{"memory-limit", cl::init(0), cl::value_desc("bytes"),
                           cl::desc("Most memory that a run may hold"),
                           cl::cat(kRunning)};
  cl::opt<bool> statistics{"stats",
                           cl::desc("Print allocations and memory of the run"),
                           cl::cat(kRunning)};
  cl::opt<std::string> profile{
      "profile", cl::ValueOptional, cl::value_desc("file"),
      cl::desc(
          "Print where the time of the runs went, by node and by loop, and "
          "write a trace for Perfetto to <file>, if given. An .so must "
          "have been made by loopc --profile"),
      cl::cat(kRunning)};

  cl::opt<bool> describe{
      "describe",
      cl::desc("Print the model's inputs, outputs and states, and run nothing"),
      cl::cat(kRunning)};

  cl::opt<std::string> optLevel{"O",
                                cl::Prefix,
                                cl::init("3"),
                                cl::value_desc("0-3"),
                                cl::desc("Optimisation level (-O3)"),
                                cl::cat(kCompiling)};
  cl::opt<std::string> cpu{"cpu", cl::value_desc("name"),
                           cl::desc("CPU to compile for (this machine's)"),
                           cl::cat(kCompiling)};
  cl::opt<std::string> features{"features", cl::value_desc("+a,-b"),
                                cl::desc("CPU features to use or not to use"),
                                cl::cat(kCompiling)};
  cl::opt<std::string> chip{
      "chip", cl::value_desc("sm_N"),
      cl::desc("With --device=cuda: the GPU to compile for (that of the "
               "device)"),
      cl::cat(kCompiling)};
  cl::list<std::string> dims{
      "dim", cl::value_desc("N=1"),
      cl::desc(
          "Fix a named dimension (N=?: extents of this name are unrelated); of "
          "random inputs for an .so, where those that stay open are 1; "
          "repeatable"),
      cl::cat(kCompiling)};
  cl::list<std::string> shapes{
      "shape", cl::value_desc("x=1x?x3"),
      cl::desc("Fix the shape of an input, ? is open; repeatable"),
      cl::cat(kCompiling)};
  cl::list<std::string> pairs{
      "state", cl::value_desc("in=out"),
      cl::desc("Make a state: the input is what the output was in the run "
               "before; repeatable"),
      cl::cat(kCompiling)};
  cl::opt<bool> ortCompat{
      "ort-compat",
      cl::desc("Do what ONNX Runtime does where it differs from ONNX"),
      cl::cat(kCompiling)};
  cl::opt<bool> fpContract{
      "contract",
      cl::desc("Round a product and the sum that it goes into once, as C++ "
               "compilers do (default: each once, as ONNX has it)"),
      cl::cat(kCompiling)};
  cl::opt<std::string> weights{
      "weights", cl::value_desc("type"),
      cl::desc(
          "Round constant f32 weights of products of matrices to bf16, f16 "
          "or int8 (default: model, not at all)"),
      cl::cat(kCompiling)};
  cl::opt<bool> verify{"verify",
                       cl::desc("Verify the compiler's work after every pass"),
                       cl::cat(kCompiling)};
  cl::opt<bool> checkAccesses{
      "check-accesses",
      cl::desc("Check each access to a buffer, and run with guarded memory: to "
               "find faults of the compiler"),
      cl::cat(kCompiling)};
  cl::list<std::string> disabledPasses{
      "disable-pass", cl::CommaSeparated, cl::value_desc("pass"),
      cl::desc("Leave out a pass that only optimises (loopc-opt "
               "--print-passes lists them); repeatable"),
      cl::cat(kCompiling)};
  cl::list<std::string> customOps{
      "custom-ops", cl::value_desc("library"),
      cl::desc("A shared library of custom operators (loopc-rt/custom.h); "
               "repeatable"),
      cl::cat(kCompiling)};
  cl::opt<std::string> cache{
      "cache", cl::value_desc("folder"),
      cl::desc("Where compiled models are kept, or off (default: "
               "LOOPC_CACHE_DIR, else ~/.cache/loopc)"),
      cl::cat(kCompiling)};
  cl::opt<std::string> name{"name", cl::value_desc("identifier"),
                            cl::desc("The model of an .so that holds several"),
                            cl::cat(kCompiling)};

  cl::extrahelp exitCodes{"\nEXIT STATUS:\n\n"
                          "    0  success\n"
                          "    1  an output differs from what --expect says\n"
                          "    2  an option or its value is wrong\n"
                          "    3  a file cannot be read or written\n"
                          "    4  the model cannot be compiled or loaded\n"
                          "    5  the run failed\n"
                          "  124  --timeout ended the run\n"
                          "  130  Ctrl-C ended the compilation or the run\n"};
};
} // namespace

void loopc::run::printError(const Twine &text) {
  bool color = mayUseColor(errs());
  errs() << "loopc-run: ";
  if (color)
    errs().changeColor(raw_ostream::RED, /*Bold=*/true);
  errs() << "error: ";
  if (color)
    errs().resetColor();
  errs() << text << "\n";
}

static bool refuse(const Twine &text) {
  printError(text);
  return false;
}

/// "name=rest"; false where there is no name.
static bool splitName(StringRef text, std::pair<StringRef, StringRef> &parts) {
  // Names of values may contain '=', so the first that leaves a name counts.
  parts = text.split('=');
  return !parts.first.empty() && parts.first.size() < text.size();
}

static bool readDims(const Flags &flags, Options &options) {
  for (const std::string &text : flags.dims) {
    std::pair<StringRef, StringRef> parts;
    int64_t extent = -1;
    if (!splitName(text, parts) ||
        (parts.second != "?" &&
         (parts.second.getAsInteger(10, extent) || extent < 0)) ||
        loopc_compile_options_add_dim(options.compile,
                                      parts.first.str().c_str(), extent))
      return refuse("--dim=" + text +
                    ": expected NAME=EXTENT or NAME=?, each name once");
    if (extent >= 0)
      options.dims[parts.first] = extent;
  }
  for (const std::string &text : flags.shapes) {
    std::pair<StringRef, StringRef> parts;
    bool valid = splitName(text, parts);
    SmallVector<StringRef> pieces;
    if (!parts.second.empty())
      parts.second.split(pieces, 'x');
    std::vector<int64_t> extents;
    for (StringRef piece : pieces) {
      int64_t extent = -1;
      if (piece != "?" && (piece.getAsInteger(10, extent) || extent < 0))
        valid = false;
      extents.push_back(extent);
    }
    if (!valid || loopc_compile_options_add_shape(
                      options.compile, parts.first.str().c_str(),
                      extents.data(), extents.size()))
      return refuse("--shape=" + text +
                    ": expected NAME=2x?x3, each name once");
  }
  for (const std::string &text : flags.pairs) {
    std::pair<StringRef, StringRef> parts;
    if (!splitName(text, parts) || parts.second.empty() ||
        loopc_compile_options_add_state(options.compile,
                                        parts.first.str().c_str(),
                                        parts.second.str().c_str()))
      return refuse("--state=" + text +
                    ": expected INPUT=OUTPUT, each input once");
  }
  return true;
}

static bool readBench(const Flags &flags, Options &options) {
  options.bench = flags.bench.getNumOccurrences() > 0;
  StringRef text = flags.bench.getValue();
  if (text.empty())
    return true;
  if (text.consume_back("s")) {
    if (text.getAsDouble(options.benchSeconds) ||
        !std::isfinite(options.benchSeconds) || options.benchSeconds <= 0)
      return refuse("--bench=" + flags.bench.getValue() +
                    ": expected a number of runs or of seconds (\"2s\")");
    return true;
  }
  if (text.getAsInteger(10, options.benchRuns) || options.benchRuns == 0)
    return refuse("--bench=" + flags.bench.getValue() +
                  ": expected a number of runs or of seconds (\"2s\")");
  return true;
}

static bool readDevice(const Flags &flags, Options &options) {
  StringRef text = flags.device;
  options.chip = flags.chip;
  if (text.consume_front("cuda")) {
    int number = 0;
    if (!text.empty() && (!text.consume_front(":") ||
                          text.getAsInteger(10, number) || number < 0))
      return refuse("--device=" + flags.device +
                    ": expected cpu, cuda or cuda:N");
    options.device = number;
    return true;
  }
  if (text != "cpu")
    return refuse("--device=" + flags.device +
                  ": expected cpu, cuda or cuda:N");
  if (!options.chip.empty())
    return refuse("--chip=" + flags.chip + ": goes with --device=cuda");
  return true;
}

/// Files and folders: none without a name, and none written that is read for
/// something else.
static bool readPaths(const Flags &flags, Options &options) {
  for (const cl::opt<std::string> *option :
       {&flags.inputsPath, &flags.statesPath, &flags.saveStates, &flags.expect,
        &flags.output})
    if (option->getNumOccurrences() && option->empty())
      return refuse("--" + option->ArgStr + ": the name is empty");
  SmallVector<loopc::NamedFile> read = {{"model", flags.model},
                                        {"--inputs", flags.inputsPath},
                                        {"--expect", flags.expect}};
  for (const std::string &library : flags.customOps)
    read.push_back({"--custom-ops", library});
  std::string same = loopc::findSameFile(
      read, {{"--output", flags.output},
             // The states of one run are what the next begins with.
             {"--save-states", flags.saveStates},
             {"--profile", flags.profile}});
  return same.empty() || refuse(same);
}

static bool readOptions(const Flags &flags, Options &options) {
  // As the other tools have it; the model of a session is a file.
  options.model = flags.model == "-" ? "/dev/stdin" : flags.model.getValue();
  options.modelName = flags.name;
  options.inputsPath = flags.inputsPath;
  options.statesPath = flags.statesPath;
  options.saveStatesPath = flags.saveStates;
  options.runs = flags.runs;
  options.expectPath = flags.expect;
  options.outputPath = flags.output;
  options.tolerance = {flags.rtol, flags.atol};
  options.seed = flags.seed;
  options.isSeeded = flags.seed.getNumOccurrences() > 0;
  options.timeoutSeconds = flags.timeout;
  options.threads = flags.threads;
  options.memoryLimit = flags.memory;
  options.statistics = flags.statistics;
  options.profile = flags.profile.getNumOccurrences() > 0;
  options.profilePath = flags.profile;
  options.quiet = flags.quiet;
  options.describe = flags.describe;
  options.limit = flags.limit;
  for (const std::string &text : flags.inputs) {
    std::pair<StringRef, StringRef> parts;
    if (!splitName(text, parts))
      return refuse("--input=" + text + ": expected NAME=VALUE");
    if (is_contained(make_first_range(options.inputs), parts.first))
      return refuse("--input=" + text + ": the input has a value already");
    options.inputs.emplace_back(parts.first.str(), parts.second.str());
  }
  for (const std::string &text : flags.states) {
    std::pair<StringRef, StringRef> parts;
    if (!splitName(text, parts))
      return refuse("--set-state=" + text + ": expected NAME=VALUE");
    options.states.emplace_back(parts.first.str(), parts.second.str());
  }
  if (flags.runs == 0)
    return refuse("--runs must not be 0");
  if (!(flags.rtol >= 0) || !(flags.atol >= 0))
    return refuse("--rtol and --atol must not be negative");
  if (!(flags.timeout >= 0) || !std::isfinite(flags.timeout))
    return refuse("--timeout must not be negative");
  if (flags.threads < 0)
    return refuse("--threads must not be negative");
  loopc_compile_options *compile = options.compile;
  int level;
  if (StringRef(flags.optLevel).getAsInteger(10, level) ||
      loopc_compile_options_set_opt_level(compile, level))
    return refuse("-O" + flags.optLevel + ": expected -O0 to -O3");
  loopc_compile_options_set_cpu(compile, flags.cpu.c_str());
  loopc_compile_options_set_features(compile, flags.features.c_str());
  loopc_compile_options_set_ort_compat(compile, flags.ortCompat);
  loopc_compile_options_set_fp_contract(compile, flags.fpContract);
  if (loopc_compile_options_set_weights(compile, flags.weights.c_str()))
    return refuse("--weights=" + flags.weights +
                  ": expected bf16, f16, int8 or model");
  loopc_compile_options_set_verify(compile, flags.verify);
  loopc_compile_options_set_cache(compile, flags.cache.c_str());
  loopc_compile_options_set_check_accesses(compile, flags.checkAccesses);
  loopc_compile_options_set_profile(compile, options.profile);
  for (const std::string &pass : flags.disabledPasses)
    if (loopc_compile_options_disable_pass(compile, pass.c_str()))
      return refuse("--disable-pass: expected the name of a pass");
  for (const std::string &library : flags.customOps)
    if (loopc_compile_options_add_custom_ops(compile, library.c_str()))
      return refuse("--custom-ops: expected the path of a library");
  return readPaths(flags, options) && readDims(flags, options) &&
         readBench(flags, options) && readDevice(flags, options);
}

/// Takes LLVM's own options out of the parser: hundreds of global variables,
/// any of which may have a name that is used here.
static void removeForeignOptions() {
  SmallVector<cl::Option *> foreign;
  for (auto &entry : cl::getRegisteredOptions())
    if (!is_contained({"help", "h", "help-hidden", "help-list",
                       "help-list-hidden", "version"},
                      entry.first))
      foreign.push_back(entry.second);
  for (cl::Option *option : foreign)
    option->removeArgument();
}

bool loopc::run::parseCommandLine(int argc, const char *const *argv,
                                  Options &options) {
  removeForeignOptions();
  static Flags flags;
  cl::HideUnrelatedOptions({&kValues, &kRunning, &kCompiling});
  cl::SetVersionPrinter(
      [](raw_ostream &os) { os << "loopc-run " << loopc_version() << "\n"; });
  if (std::optional<std::string> problem = loopc::parseOptions(
          argc, argv,
          "runs a model: compiles an ONNX model into memory, or loads a shared "
          "library of loopc\n"))
    return refuse(*problem);
  return readOptions(flags, options);
}
