//===- CommandLine.cpp - The options of loopc -----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Frontend/ONNX/Importer.h"
#include "loopc/Pipelines/PassTable.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/OptionParser.h"

#include "mlir/IR/AsmState.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace loopc;
using namespace llvm;

namespace {

/// The options as LLVM's parser wants them. In a struct, so that only the
/// program loopc has them, not whatever links the library.
struct Flags {
  cl::OptionCategory general{"Options"};
  cl::OptionCategory target{"Target"};
  cl::OptionCategory model{"Model"};
  cl::OptionCategory debug{"Looking into the compiler"};

  cl::opt<std::string> input{cl::Positional, cl::desc("<model>"), cl::Required,
                             cl::cat(general)};
  cl::opt<std::string> output{
      "o", cl::value_desc("file"),
      cl::desc("Write to <file>; - is standard output (default: the model's "
               "file name with .o or .so; text goes to standard output)"),
      cl::cat(general)};
  cl::opt<std::string> emit{
      "emit", cl::init("obj"), cl::value_desc("stage"),
      cl::desc(
          "Stop at onnx, loop, linalg, memref, scf or llvm (MLIR), "
          "llvm-ir or asm (weights go to <file>.weights), ptx (the code "
          "of the GPU), obj, shared (with the runtime in it; default: what "
          "the ending of <file> says, .so, .s or .ll, else obj); or shapes "
          "(JSON of the outputs' extents), outline (onnx without large "
          "constants)"),
      cl::cat(general)};
  cl::opt<std::string> optLevel{"O",
                                cl::Prefix,
                                cl::init("3"),
                                cl::value_desc("0..3"),
                                cl::desc("Optimisation level (default: -O3)"),
                                cl::cat(general)};
  cl::opt<std::string> header{
      "header", cl::value_desc("file"),
      cl::desc("Write the C header to <file> (default for obj and shared: "
               "beside the output)"),
      cl::cat(general)};
  cl::opt<bool> noHeader{"no-header", cl::desc("Write no C header"),
                         cl::cat(general)};
  cl::opt<bool> debugLines{
      "g",
      cl::desc("Line tables, whose source is a file with a line for each node, "
               "beside the output with the ending .nodes: for gdb and perf"),
      cl::cat(general)};
  cl::opt<bool> verbose{"verbose", cl::desc("Say what is written"),
                        cl::cat(general)};
  cl::alias shortVerbose{"v", cl::aliasopt(verbose),
                         cl::desc("Same as --verbose"), cl::cat(general)};

  cl::opt<std::string> triple{
      "target", cl::value_desc("triple"),
      cl::desc("Machine to compile for: x86_64 or aarch64, as "
               "aarch64-linux-gnu (default: this one); nvptx64: this one with "
               "an NVIDIA GPU"),
      cl::cat(target)};
  cl::opt<std::string> chip{
      "chip", cl::value_desc("sm_N"),
      cl::desc("Run loops and tensors on an NVIDIA GPU, this one or later ones "
               "(with --target=nvptx64: sm_80)"),
      cl::cat(target)};
  cl::opt<unsigned> minKernelWork{
      "min-kernel-work", cl::value_desc("n"), cl::init(2048),
      cl::desc("With --chip: nests of up to <n> operations stay on the CPU "
               "where no kernel works on what they work on (default: 2048)"),
      cl::cat(target)};
  cl::opt<DeviceLoops> deviceLoops{
      "device-loops", cl::init(DeviceLoops::Auto),
      cl::desc("With --chip: what loops become that need nothing of the host"),
      cl::values(clEnumValN(DeviceLoops::Auto, "auto",
                            "A kernel or a graph, whichever seems faster"),
                 clEnumValN(DeviceLoops::Kernel, "kernel", "One kernel"),
                 clEnumValN(DeviceLoops::Cluster, "cluster",
                            "One kernel, of one cluster from sm_90 on"),
                 clEnumValN(DeviceLoops::Graph, "graph",
                            "A CUDA graph of kernels (driver of CUDA 12.4)"),
                 clEnumValN(DeviceLoops::Host, "host", "The host drives them")),
      cl::cat(target)};
  cl::opt<Cublas> cublas{
      "cublas", cl::init(Cublas::Auto),
      cl::desc("With --chip: products of matrices, outside of loops that are "
               "one kernel or graph, that cuBLAS computes where a run finds "
               "it"),
      cl::values(
          clEnumValN(Cublas::Auto, "auto", "Large ones of known extents"),
          clEnumValN(Cublas::On, "on", "All that it can compute"),
          clEnumValN(Cublas::Off, "off", "None")),
      cl::cat(target)};
  cl::opt<bool> allowTf32{
      "allow-tf32",
      cl::desc("With --chip: large products of f32 may round what they "
               "multiply to tf32, for tensor cores"),
      cl::cat(target)};
  cl::opt<std::string> cpu{
      "cpu", cl::value_desc("name"),
      cl::desc(
          "CPU to compile for, by LLVM's name, x86-64-v3, generic, native "
          "(this one), or portable (default): x86-64-v3 on most x86-64 "
          "machines. A CPU that lacks what the code uses is an error at load"),
      cl::cat(target)};
  cl::opt<std::string> features{"features", cl::value_desc("+a,-b"),
                                cl::desc("CPU features to use or not to use"),
                                cl::cat(target)};
  cl::opt<std::string> runtime{"runtime", cl::value_desc("file"),
                               cl::desc("shared: libloopc_rt.a of the target"),
                               cl::cat(target)};
  cl::list<std::string> libraryPaths{
      "library-path", cl::value_desc("folder"),
      cl::desc("shared: where libc and libm of the target are"),
      cl::cat(target)};
  cl::alias shortLibraryPath{"L", cl::Prefix, cl::aliasopt(libraryPaths),
                             cl::desc("Same as --library-path"),
                             cl::cat(target)};

  cl::opt<std::string> name{
      "name", cl::value_desc("NAME"),
      cl::desc("The functions are NAME_model and NAME_run (default: from the "
               "model's name)"),
      cl::cat(model)};
  cl::list<std::string> dims{"dim", cl::value_desc("N=1"),
                             cl::desc("Fix a named dimension (N=?: extents of "
                                      "this name are unrelated); repeatable"),
                             cl::cat(model)};
  cl::list<std::string> shapes{
      "shape", cl::value_desc("x=1x3"),
      cl::desc("Fix the shape of an input, ? is open; repeatable"),
      cl::cat(model)};
  cl::list<std::string> states{
      "state", cl::value_desc("in=out"),
      cl::desc("The input is what the output was in the run before; "
               "repeatable"),
      cl::cat(model)};
  cl::opt<bool> ortCompat{
      "ort-compat",
      cl::desc("A Loop with trip count and without condition stops where its "
               "body yields false, as in onnxruntime"),
      cl::cat(model)};
  cl::opt<bool> fpContract{
      "contract",
      cl::desc("Round a product and the sum that it goes into once, as C++ "
               "compilers do (default: each once, as ONNX has it)"),
      cl::cat(model)};
  cl::opt<WeightType> weights{
      "weights", cl::init(WeightType::Model),
      cl::desc("Round constant f32 weights of products of matrices, which then "
               "take less memory"),
      cl::values(clEnumValN(WeightType::Model, "model", "Not at all (default)"),
                 clEnumValN(WeightType::BF16, "bf16", "To bf16"),
                 clEnumValN(WeightType::F16, "f16", "To f16"),
                 clEnumValN(WeightType::Int8, "int8",
                            "To 8 bits, with a scale for each output channel")),
      cl::cat(model)};
  cl::opt<std::string> externalData{
      "external-data", cl::value_desc("folder"),
      cl::desc("Where the model's external data is (default: beside it)"),
      cl::cat(model)};
  cl::opt<std::string> format{
      "input-format", cl::init("auto"), cl::value_desc("format"),
      cl::desc("onnx, openvino or mlir (default: by name and content)"),
      cl::cat(model)};

  cl::opt<bool> remarks{"remarks",
                        cl::desc("Say what was optimised, or why "
                                 "not"),
                        cl::cat(debug)};
  cl::opt<bool> explain{"explain",
                        cl::desc("Only say what becomes of each loop, and why "
                                 "(loopc explain MODEL)"),
                        cl::cat(debug)};
  cl::opt<std::string> svg{"svg", cl::value_desc("file"),
                           cl::desc("With --explain: draw it, too"),
                           cl::cat(debug)};
  cl::opt<bool> timing{"timing", cl::desc("Show where the time went"),
                       cl::cat(debug)};
  cl::opt<cl::boolOrDefault> verify{
      "verify",
      cl::desc("Verify the IR after every pass (default: where a stage of MLIR "
               "is written; where code is made at the end of each stage)"),
      cl::cat(debug)};
  cl::opt<bool> checkAccesses{
      "check-accesses",
      cl::desc("The model checks each access to a buffer against its extents "
               "and runs with guarded memory: to find faults of the compiler"),
      cl::cat(debug)};
  cl::opt<bool> profile{
      "profile",
      cl::desc("The model measures its nodes and the iterations of its loops "
               "where a run asks for it (loopc-run --profile)"),
      cl::cat(debug)};
  cl::list<std::string> disabledPasses{
      "disable-pass", cl::CommaSeparated, cl::value_desc("pass"),
      cl::desc("Leave out a pass that only optimises (loopc-opt "
               "--print-passes lists them); repeatable"),
      cl::cat(debug)};
  cl::list<std::string> customOps{
      "custom-ops", cl::value_desc("library"),
      cl::desc("A shared library of custom operators (loopc-rt/custom.h); "
               "repeatable"),
      cl::cat(model)};
  cl::opt<bool> printAfterAll{"print-ir-after-all-passes",
                              cl::desc("Print the IR after each of loopc's "
                                       "passes that changed it"),
                              cl::cat(debug)};
  cl::extrahelp more{
      "\nThe model is .onnx, .onnxtxt, .xml or .mlir; - is standard input.\n"
      "loopc cache --help: the models that sessions have compiled and kept.\n"
      "loopc explain MODEL: what becomes of its loops. loopc explain LC0303: "
      "an error.\n"
      "Exit status: 0 success, 1 the model cannot be compiled, 2 an option is "
      "wrong,\n3 a file cannot be read or written.\n"};
};

} // namespace

static void printVersion(raw_ostream &os) {
  os << "loopc " LOOPC_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
}

static bool refuse(const Twine &message) {
  printError(errs(), "loopc", Diag::BadOption, message);
  return false;
}

SmallVector<NamedFile> loopc::getWrittenFiles(const DriverOptions &options) {
  bool hasWeights =
      options.outputPath != "-" &&
      (options.output == Output::LLVMIR || options.output == Output::Assembly);
  return {
      {"output", options.outputPath},
      {"header", options.headerPath},
      {"picture", options.svgPath},
      {"file of nodes", options.compiler.target.nodesFile},
      {"file of weights", hasWeights ? options.outputPath + ".weights" : ""}};
}

/// "model.o" for "dir/model.onnx": what cc does.
static std::string getDefaultOutput(StringRef input, Output output) {
  if (output != Output::Object && output != Output::Shared)
    return "-";
  StringRef stem = input == "-" ? "model" : sys::path::stem(input);
  return (stem + (output == Output::Object ? ".o" : ".so")).str();
}

/// The stages that --emit names, and the formats of --input-format.
static constexpr std::pair<StringLiteral, Output> kStages[] = {
#define LOOPC_OUTPUT(enumerator, name, emit) {name, Output::enumerator},
#include "loopc/Outputs.def"
};
static constexpr std::pair<StringLiteral, InputFormat> kFormats[] = {
    {"auto", InputFormat::Auto},
    {"onnx", InputFormat::ONNX},
    {"openvino", InputFormat::OpenVINO},
    {"mlir", InputFormat::MLIR}};

template <typename T>
static std::optional<T> findNamed(ArrayRef<std::pair<StringLiteral, T>> choices,
                                  StringRef name) {
  for (const auto &[own, value] : choices)
    if (own == name)
      return value;
  return std::nullopt;
}

template <typename T>
static std::string listNames(ArrayRef<std::pair<StringLiteral, T>> choices) {
  return joinNames(llvm::map_to_vector(
      choices, [](const auto &choice) -> StringRef { return choice.first; }));
}

static std::optional<Output> parseOutput(StringRef text) {
  return findNamed(ArrayRef(kStages), text);
}

/// What --emit says, or else the name of the file that is written: .so is a
/// shared library, .s assembly, .ll LLVM's IR, and anything else an object.
static std::optional<Output> chooseOutput(const Flags &flags) {
  if (flags.emit.getNumOccurrences())
    return parseOutput(flags.emit);
  return llvm::StringSwitch<Output>(sys::path::extension(flags.output))
      .Case(".so", Output::Shared)
      .Case(".s", Output::Assembly)
      .Case(".ll", Output::LLVMIR)
      .Default(Output::Object);
}

static bool readPaths(const Flags &flags, DriverOptions &options) {
  options.input = flags.input;
  std::optional<Output> output = chooseOutput(flags);
  if (!output)
    return refuse("--emit: there is no stage '" + flags.emit + "': it is " +
                  listNames(ArrayRef(kStages)));
  options.output = *output;
  options.explain = flags.explain;
  options.svgPath = flags.svg;
  if (options.explain && flags.emit.getNumOccurrences())
    return refuse("--emit and --explain exclude each other");
  if (options.explain)
    options.output = Output::LLVM;
  if (flags.svg.getNumOccurrences() && (!options.explain || flags.svg.empty()))
    return refuse("--svg wants --explain, and a file");
  if (flags.output.getNumOccurrences() && flags.output.empty())
    return refuse("-o: the name of the file is empty");
  options.outputPath = flags.output.empty()
                           ? getDefaultOutput(options.input, options.output)
                           : flags.output.getValue();
  bool isCode =
      options.output == Output::Object || options.output == Output::Shared;
  if (flags.noHeader && flags.header.getNumOccurrences())
    return refuse("--header and --no-header exclude each other");
  if (flags.header.getNumOccurrences()) {
    if (options.output < Output::LLVM)
      return refuse("--header wants --emit=llvm or a later stage");
    options.headerPath = flags.header;
  } else if (isCode && !flags.noHeader && options.outputPath != "-") {
    SmallString<128> path(options.outputPath);
    sys::path::replace_extension(path, ".h");
    options.headerPath = path.str().str();
  }
  if (flags.debugLines) {
    SmallString<128> path(options.outputPath);
    if (options.output < Output::LLVMIR || options.output == Output::PTX ||
        path == "-")
      return refuse("-g wants machine code, and a file for it");
    sys::path::replace_extension(path, ".nodes");
    sys::fs::make_absolute(path);
    options.compiler.target.nodesFile = path.str().str();
  }
  if (options.output == Output::Shared && options.outputPath == "-")
    return refuse("a shared object cannot go to standard output");
  // The files beside the model are known when it has been read.
  SmallVector<NamedFile> read = {{"input", options.input},
                                 {"runtime", flags.runtime}};
  for (const std::string &library : flags.customOps)
    read.push_back({"library of operators", library});
  if (std::string same = findSameFile(read, getWrittenFiles(options));
      !same.empty())
    return refuse(same);
  if (isCode && options.outputPath == "-" && outs().is_displayed())
    return refuse("an object is not written to a terminal");
  return true;
}

static bool readCompilerOptions(const Flags &flags, CompilerOptions &options) {
  StringRef level = flags.optLevel;
  if (level.size() != 1 || level[0] < '0' || level[0] > '3')
    return refuse("-O" + level + ": the levels are -O0 to -O3");
  options.target.optLevel = level[0] - '0';
  options.target.chip = flags.chip;
  options.target.minKernelWork = flags.minKernelWork;
  options.target.allowTf32 = flags.allowTf32;
  options.target.deviceLoops = flags.deviceLoops;
  options.target.cublas = flags.cublas;
  if (isGPUTriple(flags.triple)) {
    if (options.target.chip.empty())
      options.target.chip = kDefaultChip.str();
  } else {
    options.target.triple = flags.triple;
  }
  options.target.cpu = flags.cpu;
  // What is written is for other machines, too.
  if (options.target.cpu.empty())
    options.target.cpu = "portable";
  options.target.features = flags.features;
  options.target.runtimeLibrary = flags.runtime;
  options.target.libraryPaths.assign(flags.libraryPaths.begin(),
                                     flags.libraryPaths.end());
  options.target.name = flags.name;
  if (flags.name.getNumOccurrences() && !isCIdentifier(flags.name))
    return refuse("--name: '" + flags.name + "' is not a C identifier");
  options.ortCompat = flags.ortCompat;
  options.weights = flags.weights;
  options.checkAccesses = flags.checkAccesses;
  options.profile = flags.profile;
  options.disabledPasses.assign(flags.disabledPasses.begin(),
                                flags.disabledPasses.end());
  if (std::string problem = checkDisabledPasses(options.disabledPasses);
      !problem.empty())
    return refuse("--disable-pass: " + problem);
  options.customLibraries.assign(flags.customOps.begin(),
                                 flags.customOps.end());
  options.target.fpContract = flags.fpContract;
  options.externalDataFolder = flags.externalData;
  std::optional<InputFormat> format =
      findNamed(ArrayRef(kFormats), flags.format);
  if (!format)
    return refuse("--input-format: there is no format '" + flags.format +
                  "': it is " + listNames(ArrayRef(kFormats)));
  options.format = *format;
  ImportOptions import;
  for (const std::string &text : flags.dims)
    if (std::string problem = parseDimOption(text, import); !problem.empty())
      return refuse("--dim " + text + ": " + problem);
  for (const std::string &text : flags.shapes)
    if (std::string problem = parseShapeOption(text, import); !problem.empty())
      return refuse("--shape " + text + ": " + problem);
  for (StringRef text : flags.states) {
    auto [input, output] = text.split('=');
    if (input.empty() || output.empty())
      return refuse("--state " + text + ": expected INPUT=OUTPUT");
    options.states.emplace_back(input.str(), output.str());
  }
  options.dims = std::move(import.dims);
  options.shapes = std::move(import.shapes);
  if (flags.verify != cl::BOU_UNSET)
    options.verifyEach = flags.verify == cl::BOU_TRUE;
  else if (chooseOutput(flags).value_or(Output::Object) <= Output::LLVM)
    options.verifyEach = true;
  options.configurePasses =
      [print = bool(flags.printAfterAll)](mlir::PassManager &passes) {
        if (print) {
          // What threads print would mix.
          passes.getContext()->disableMultithreading();
          passes.enableIRPrinting(
              [](mlir::Pass *, mlir::Operation *) { return false; },
              [](mlir::Pass *, mlir::Operation *) { return true; },
              /*printModuleScope=*/true, /*printAfterOnlyOnChange=*/true,
              /*printAfterOnlyOnFailure=*/false, errs());
        }
        return mlir::applyPassManagerCLOptions(passes);
      };
  return true;
}

bool loopc::parseCommandLine(int argc, const char *const *argv,
                             DriverOptions &options) {
  // LLVM keeps pointers to options for good: the linker looks at all of them.
  static Flags flags;
  mlir::registerPassManagerCLOptions();
  mlir::registerAsmPrinterCLOptions();
  cl::HideUnrelatedOptions(
      {&flags.general, &flags.target, &flags.model, &flags.debug});
  cl::SetVersionPrinter(printVersion);
  if (std::optional<std::string> problem = parseOptions(
          argc, argv, "Compiles models with control flow to native code.\n",
          {{"device-loops", &flags.deviceLoops.getParser()},
           {"cublas", &flags.cublas.getParser()},
           {"weights", &flags.weights.getParser()}}))
    return refuse(*problem);
  options.remarks = flags.remarks;
  options.timing = flags.timing;
  options.verbose = flags.verbose;
  return readPaths(flags, options) &&
         readCompilerOptions(flags, options.compiler);
}
