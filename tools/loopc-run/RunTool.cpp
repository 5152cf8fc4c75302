//===- RunTool.cpp - The program loopc-run --------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunTool.h"

#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/ProgressLine.h"
#include "loopc/Support/StandardStreams.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <link.h>

using namespace llvm;
using namespace loopc::io;
using namespace loopc::run;

//===----------------------------------------------------------------------===//
// Ctrl-C
//===----------------------------------------------------------------------===//

static loopc_cancel_token cancelToken;

/// The first SIGINT ends the compilation or the run; the second the program.
/// A job in the background, which ignores it, goes on to.
static void installInterruptHandler() {
  struct sigaction before = {};
  if (sigaction(SIGINT, nullptr, &before) == 0 && before.sa_handler == SIG_IGN)
    return;
  struct sigaction action = {};
  action.sa_handler = [](int) { loopc_cancel(&cancelToken); };
  action.sa_flags = SA_RESETHAND;
  sigaction(SIGINT, &action, nullptr);
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

static int showProgress(void *line, const loopc_progress *progress) {
  static_cast<loopc::ProgressLine *>(line)->show(
      progress->phase, progress->fraction, progress->seconds);
  return 0;
}

static void printDiagnostics(const loopc_diagnostics *diagnostics) {
  for (size_t i = 0, n = loopc_diagnostics_count(diagnostics); i < n; ++i)
    errs() << loopc_diagnostics_text(diagnostics, i) << "\n";
}

/// Compiles for the device; false after having printed why not.
static bool chooseChip(const Options &options, ExitCode &code) {
  std::string chip = options.chip;
  if (chip.empty()) {
    char text[16];
    loopc_error error = {};
    if (loopc_device_chip(*options.device, text, sizeof(text), &error)) {
      printError(error.message);
      code = ExitRun;
      return false;
    }
    chip = text;
  }
  loopc_compile_options_set_chip(options.compile, chip.c_str());
  return true;
}

/// Compiles or loads; null after having printed why not.
static loopc_session *openModel(const Options &options, ExitCode &code) {
  loopc_session *session = nullptr;
  loopc_diagnostics *diagnostics = nullptr;
  file_magic magic;
  // What is no regular file can be read once.
  bool isShared = sys::fs::is_regular_file(options.model) &&
                  !identify_magic(options.model, magic) &&
                  magic == file_magic::elf_shared_object;
  if (options.device && !isShared && !chooseChip(options, code))
    return nullptr;
  const char *name =
      options.modelName.empty() ? nullptr : options.modelName.c_str();
  loopc::ProgressLine line("loopc-run");
  loopc_compile_options_set_progress(options.compile, &showProgress, &line);
  loopc_compile_options_set_cancel(options.compile, &cancelToken);
  int status = isShared
                   ? loopc_session_load_shared(options.model.c_str(), name,
                                               &session, &diagnostics)
                   : loopc_session_create_from_file(options.model.c_str(),
                                                    options.compile, &session,
                                                    &diagnostics);
  printDiagnostics(diagnostics);
  loopc_diagnostics_destroy(diagnostics);
  code = status == LOOPC_COMPILE_ERROR_FILE        ? ExitFile
         : status == LOOPC_COMPILE_ERROR_ARGUMENT  ? ExitUsage
         : status == LOOPC_COMPILE_ERROR_CANCELLED ? ExitInterrupted
                                                   : ExitModel;
  if (session && isShared && options.device &&
      !loopc_session_uses_device(session)) {
    printError("'" + options.model + "' was compiled for the CPU");
    loopc_session_destroy(session);
    code = ExitUsage;
    return nullptr;
  }
  return session;
}

namespace {

/// One model with its inputs.
class Runner {
public:
  Runner(const loopc_session *session, const Options &options,
         const std::vector<HostValue> &inputs)
      : session(session), model(*loopc_session_model(session)),
        options(options) {
    for (const HostValue &input : inputs)
      views.add(input);
    settings.size = sizeof(settings);
    settings.cancel = &cancelToken;
    settings.timeout_seconds = options.timeoutSeconds;
    settings.num_threads = options.threads;
    settings.memory_limit = options.memoryLimit;
    settings.statistics = &statistics;
    settings.device = options.device.value_or(0);
    if (options.statistics && options.device)
      settings.device_seconds = &deviceSeconds;
    if (options.profile) {
      settings.profile = loopc_profile_add;
      settings.profile_context = profile.get();
    }
  }

  /// Runs once and copies the outputs.
  ExitCode run(std::vector<HostValue> &outputs);

  /// Runs again and again and prints the times.
  ExitCode bench();

  /// Prints where the time went, and writes the trace that is asked for.
  ExitCode reportProfile();

  const loopc_run_statistics &getStatistics() const { return statistics; }
  /// Of the run that ended last, by the GPU's clock.
  double getDeviceSeconds() const { return deviceSeconds; }

private:
  ExitCode runOnce(std::vector<loopc_value> &values);

  const loopc_session *session;
  const loopc_model &model;
  const Options &options;
  ValueViews views;
  loopc_run_options settings = {};
  loopc_run_statistics statistics = {};
  double deviceSeconds = 0;
  std::unique_ptr<loopc_profile, void (*)(loopc_profile *)> profile{
      loopc_profile_create(), &loopc_profile_destroy};
};

} // namespace

ExitCode Runner::runOnce(std::vector<loopc_value> &values) {
  values.assign(model.num_outputs - model.num_states, loopc_value{});
  loopc_error error = {};
  int status = loopc_session_run(session, &settings, views.data(), views.size(),
                                 values.data(), values.size(), &error);
  if (status == LOOPC_OK)
    return ExitOk;
  printError(*error.message ? error.message : loopc_status_name(status));
  switch (status) {
  case LOOPC_ERROR_CANCELLED:
    return ExitInterrupted;
  case LOOPC_ERROR_TIMEOUT:
    return ExitTimeout;
  case LOOPC_ERROR_CPU:
  case LOOPC_ERROR_ABI:
    return ExitModel;
  default:
    return ExitRun;
  }
}

ExitCode Runner::run(std::vector<HostValue> &outputs) {
  std::vector<loopc_value> values;
  if (ExitCode code = runOnce(values))
    return code;
  outputs.clear();
  for (loopc_value &value : values) {
    outputs.push_back(copyValue(value));
    loopc_value_release(&value);
  }
  return ExitOk;
}

/// Seconds in the unit that reads best.
static std::string formatTime(double seconds) {
  static constexpr std::pair<double, const char *> kUnits[] = {
      {1, "s"}, {1e-3, "ms"}, {1e-6, "us"}};
  std::string text;
  raw_string_ostream os(text);
  for (auto [unit, name] : kUnits)
    if (seconds >= unit) {
      os << format("%.3g", seconds / unit) << " " << name;
      return text;
    }
  os << format("%.3g", seconds * 1e9) << " ns";
  return text;
}

ExitCode Runner::bench() {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  std::vector<double> times;
  std::vector<loopc_value> values;
  auto begin = Clock::now();
  while (options.benchRuns
             ? times.size() < options.benchRuns
             : times.empty() || Seconds(Clock::now() - begin).count() <
                                    options.benchSeconds) {
    auto start = Clock::now();
    if (ExitCode code = runOnce(values))
      return code;
    for (loopc_value &value : values)
      loopc_value_release(&value);
    times.push_back(Seconds(Clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  double sum = 0;
  for (double time : times)
    sum += time;
  size_t middle = times.size() / 2;
  double median = times.size() % 2 ? times[middle]
                                   : (times[middle - 1] + times[middle]) / 2;
  outs() << "bench: " << times.size() << (times.size() == 1 ? " run" : " runs")
         << ", min " << formatTime(times.front()) << ", median "
         << formatTime(median) << ", mean "
         << formatTime(sum / static_cast<double>(times.size())) << ", max "
         << formatTime(times.back()) << "\n";
  return ExitOk;
}

ExitCode Runner::reportProfile() {
  outs() << loopc_profile_table(profile.get());
  const std::string &path = options.profilePath;
  if (path.empty() || !loopc_profile_write(profile.get(), path.c_str()))
    return ExitOk;
  printError("cannot write the profile to '" + path +
             "': " + std::strerror(errno));
  return ExitFile;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static void printOutputs(const loopc_model &model,
                         const std::vector<HostValue> &outputs, int64_t limit) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    outs() << model.outputs[i].name << ": " << describe(outputs[i]) << " = ";
    printElements(outputs[i], limit, outs());
    outs() << "\n";
  }
}

static ExitCode compareOutputs(const loopc_model &model,
                               const std::vector<HostValue> &outputs,
                               const Options &options) {
  auto expected =
      readValues(options.expectPath, model.outputs, outputs.size(), "output");
  if (!expected) {
    printError(toString(expected.takeError()));
    return ExitFile;
  }
  size_t compared = 0, different = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!(*expected)[i])
      continue;
    ++compared;
    if (!compareValues(outputs[i], *(*expected)[i], options.tolerance,
                       model.outputs[i].name, outs()))
      ++different;
  }
  if (compared == 0) {
    printError("'" + options.expectPath + "' has a value for none of the " +
               Twine(outputs.size()) + " outputs");
    return ExitFile;
  }
  outs() << "compare: " << compared << " of " << outputs.size()
         << " outputs compared, " << different << " differ\n";
  return different ? ExitDifferent : ExitOk;
}

static void printStatistics(const loopc_run_statistics &statistics) {
  outs() << "stats: " << statistics.allocations << " allocations, "
         << statistics.deallocations << " deallocations, "
         << statistics.peak_bytes << " peak bytes, " << statistics.copied_bytes
         << " copied bytes\n";
}

namespace {
/// What the library around an address takes of memory.
struct Footprint {
  uintptr_t address;
  uint64_t code = 0, others = 0;

  static int visit(dl_phdr_info *library, size_t, void *self) {
    auto &footprint = *static_cast<Footprint *>(self);
    bool isIt = false;
    uint64_t code = 0, others = 0;
    for (const ElfW(Phdr) &part :
         ArrayRef(library->dlpi_phdr, library->dlpi_phnum)) {
      if (part.p_type != PT_LOAD)
        continue;
      uintptr_t begin = library->dlpi_addr + part.p_vaddr;
      isIt |= footprint.address - begin < part.p_memsz;
      (part.p_flags & PF_X ? code : others) += part.p_memsz;
    }
    if (isIt) {
      footprint.code = code;
      footprint.others = others;
    }
    return isIt;
  }
};
} // namespace

/// The bytes of a value of this type; nothing where an extent is open.
static std::optional<uint64_t> sizeOf(const loopc_type &type) {
  uint64_t bits = type.dtype.bits;
  if (type.kind != LOOPC_TENSOR || type.rank < 0)
    return std::nullopt;
  for (int32_t k = 0; k < type.rank; ++k) {
    if (type.dims[k].extent < 0)
      return std::nullopt;
    bits *= static_cast<uint64_t>(type.dims[k].extent);
  }
  return divideCeil(bits, 8);
}

/// What the model takes of memory before it runs. Nothing is known of one that
/// was compiled in this process.
static void printMemory(const loopc_model &model) {
  Footprint footprint{reinterpret_cast<uintptr_t>(&model)};
  if (!dl_iterate_phdr(Footprint::visit, &footprint))
    return;
  outs() << "memory " << footprint.code << " bytes of code, "
         << footprint.others << " of weights and tables";
  std::optional<uint64_t> states = 0;
  for (size_t k = model.num_inputs - model.num_states;
       states && k < model.num_inputs; ++k) {
    std::optional<uint64_t> each = sizeOf(*model.inputs[k].type);
    states = each ? std::optional(*states + *each) : std::nullopt;
  }
  if (states && *states)
    outs() << ", " << *states << " of states";
  outs() << "; --stats tells what a run takes\n";
}

/// "input  x: float32[N, 3]" for each input, output and state of a model.
static ExitCode printModel(const loopc_model &model) {
  outs() << "model  " << model.name << ", compiled by " << model.producer
         << '\n';
  size_t numInputs = model.num_inputs - model.num_states;
  for (size_t k = 0; k < model.num_inputs; ++k) {
    const loopc_port &port = model.inputs[k];
    bool isState = k >= numInputs;
    outs() << (isState ? "state  " : "input  ") << port.name << ": "
           << describe(*port.type);
    const loopc_default *absent = model.defaults && model.defaults[k].ndim >= 0
                                      ? &model.defaults[k]
                                      : nullptr;
    if (isState)
      outs() << (absent->data ? ", begins as the model says"
                              : ", begins as zeros");
    else if (absent)
      outs() << ", may be left out";
    outs() << '\n';
  }
  // What people wrote of the outputs says more than operators do.
  const loopc_port *outputs =
      model.declared_outputs ? model.declared_outputs : model.outputs;
  for (size_t k = 0; k < model.num_outputs - model.num_states; ++k)
    outs() << "output " << outputs[k].name << ": " << describe(*outputs[k].type)
           << '\n';
  for (const loopc_map *map = model.maps; map && map->name; ++map) {
    const loopc_port *ports = map->is_output ? model.outputs : model.inputs;
    outs() << "map    " << map->name << ": from " << ports[map->keys].name
           << " to " << (map->is_sequence ? "each row of " : "")
           << ports[map->keys + 1].name << '\n';
  }
  printMemory(model);
  if (*model.cpu_features)
    outs() << "CPU    needs " << model.cpu_features << '\n';
  return ExitOk;
}

static ExitCode runModel(loopc_session *session, const Options &options) {
  const loopc_model &model = *loopc_session_model(session);
  ExitCode code = ExitOk;
  std::optional<std::vector<HostValue>> inputs =
      makeInputs(model, options, code);
  if (!inputs || !setStates(session, options, code))
    return code;
  Runner runner(session, options, *inputs);
  std::vector<HostValue> outputs;
  for (uint64_t k = 1; k <= options.runs; ++k) {
    if (ExitCode failed = runner.run(outputs))
      return failed;
    if (options.quiet)
      continue;
    if (options.runs > 1)
      outs() << "run " << k << ":\n";
    printOutputs(model, outputs, options.limit);
  }
  if (options.statistics)
    printStatistics(runner.getStatistics());
  if (options.statistics && options.device)
    outs() << "device: " << format("%.3f", runner.getDeviceSeconds() * 1e3)
           << " ms\n";
  if (!options.outputPath.empty())
    if (Error error = writeValues(options.outputPath, model.outputs, outputs)) {
      printError(toString(std::move(error)));
      return ExitFile;
    }
  if (!saveStates(session, options, code))
    return code;
  if (!options.expectPath.empty())
    code = compareOutputs(model, outputs, options);
  // Wrong results are not worth timing.
  if (options.bench && code == ExitOk)
    code = runner.bench();
  if (options.profile && code == ExitOk)
    code = runner.reportProfile();
  return code;
}

/// What the command line asks for, without standard output.
static ExitCode runCommand(int argc, const char *const *argv) {
  Options options;
  options.compile = loopc_compile_options_create();
  // Most of its processes run a model once, or time it.
  if (!std::getenv("LOOPC_TIER"))
    loopc_compile_options_set_tier(options.compile, "off");
  scope_exit freeOptions(
      [&] { loopc_compile_options_destroy(options.compile); });
  if (!parseCommandLine(argc, argv, options))
    return ExitUsage;
  ExitCode code = ExitOk;
  installInterruptHandler();
  loopc_session *session = openModel(options, code);
  if (!session)
    return code;
  code = options.describe ? printModel(*loopc_session_model(session))
                          : runModel(session, options);
  loopc_session_destroy(session);
  return code;
}

int loopc::run::runTool(int argc, const char *const *argv) {
  ExitCode code = runCommand(argc, argv);
  if (std::error_code error = loopc::finishStandardStreams()) {
    printError("cannot write to the standard output: " + error.message());
    return code == ExitOk ? ExitFile : code;
  }
  return code;
}
