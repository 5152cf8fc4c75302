//===- RunTool.h - The program loopc-run ------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_TOOLS_LOOPC_RUN_RUNTOOL_H
#define LOOPC_TOOLS_LOOPC_RUN_RUNTOOL_H

#include "loopc-c/loopc.h"
#include "loopc/ValueIO/HostValue.h"
#include "loopc/ValueIO/Report.h"

#include "llvm/ADT/StringMap.h"

#include <optional>
#include <string>
#include <vector>

namespace loopc::run {

/// What loopc-run returns; fixed.
enum ExitCode : int {
  ExitOk = 0,
  ExitDifferent = 1,    ///< an output differs from what --expect says
  ExitUsage = 2,        ///< an option or its value is wrong
  ExitFile = 3,         ///< a file cannot be read or written
  ExitModel = 4,        ///< the model cannot be compiled or loaded
  ExitRun = 5,          ///< the run failed
  ExitTimeout = 124,    ///< --timeout ended the run
  ExitInterrupted = 130 ///< Ctrl-C ended the run
};

/// What the command line says.
struct Options {
  std::string model;
  std::string modelName; ///< of a shared library; may be empty
  std::vector<std::pair<std::string, std::string>> inputs; ///< name and text
  std::string inputsPath;
  std::vector<std::pair<std::string, std::string>> states; ///< name and text
  std::string statesPath;
  std::string saveStatesPath;
  std::string expectPath;
  std::string outputPath;
  io::Tolerance tolerance;
  llvm::StringMap<int64_t> dims;
  uint64_t seed = 0;
  /// Whether --seed was given.
  bool isSeeded = false;
  uint64_t runs = 1;
  bool bench = false;
  uint64_t benchRuns = 0; ///< 0: as many as benchSeconds holds
  double benchSeconds = 1;
  double timeoutSeconds = 0;
  int threads = 0;
  std::optional<int> device; ///< of CUDA; nothing: the CPU
  std::string chip;          ///< to compile for; empty: that of the device
  uint64_t memoryLimit = 0;
  bool statistics = false;
  bool profile = false;
  std::string profilePath; ///< of the trace; may be empty
  bool describe = false;   ///< the model, in the place of a run
  bool quiet = false;
  int64_t limit = 60;
  loopc_compile_options *compile = nullptr;
};

/// Reads the command line. \returns false after having printed what is wrong.
bool parseCommandLine(int argc, const char *const *argv, Options &options);

/// A value for each input of `model`; prints what is wrong and returns nothing
/// after an error.
std::optional<std::vector<io::HostValue>>
makeInputs(const loopc_model &model, const Options &options, ExitCode &code);

/// Gives the states of `session` the values that the options say; prints what
/// is wrong. \returns whether nothing was.
bool setStates(loopc_session *session, const Options &options, ExitCode &code);

/// Writes the states that are set to where the options say, if anywhere; as
/// above.
bool saveStates(const loopc_session *session, const Options &options,
                ExitCode &code);

/// Reads the values of `ports` from a folder (NAME.npy, NAME.pb, PREFIX_0.pb,
/// ...) or an .npz file. Where one is missing there is nothing.
llvm::Expected<std::vector<std::optional<io::HostValue>>>
readValues(llvm::StringRef path, const loopc_port *ports, size_t count,
           llvm::StringRef prefix);

/// Writes values to a folder, which is made, or an .npz file.
llvm::Error writeValues(llvm::StringRef path, const loopc_port *ports,
                        const std::vector<io::HostValue> &values);

/// The program. \returns an ExitCode.
int runTool(int argc, const char *const *argv);

/// Prints "loopc-run: error: text".
void printError(const llvm::Twine &text);

} // namespace loopc::run

#endif // LOOPC_TOOLS_LOOPC_RUN_RUNTOOL_H
