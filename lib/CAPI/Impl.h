//===- Impl.h - What the handles of the C API are ---------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without MLIR's headers: Api.cpp, which catches exceptions, includes it too.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_CAPI_IMPL_H
#define LOOPC_LIB_CAPI_IMPL_H

#include "loopc-c/network.h"
#include "loopc-rt/custom.h"
#include "loopc/Frontend/Network/Network.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct loopc_diagnostics {
  struct Entry {
    int32_t severity;
    std::string code;
    std::string location;
    std::string message;
    std::string text;
  };
  std::vector<Entry> entries;

  /// Appends an error, or a warning, that has no location.
  void addError(std::string_view code, std::string_view message);
  void addWarning(std::string_view code, std::string_view message);
};

struct loopc_compile_options {
  std::string target;
  std::string cpu;
  std::string features;
  std::string chip;
  std::string deviceLoops;
  std::string cublas;
  std::string weights;
  std::string name;
  std::string baseDirectory;
  int minKernelWork = -1; ///< -1: the default
  bool allowTf32 = false;
  int optLevel = 3;
  bool ortCompat = false;
  bool fpContract = false;
  bool verify = false;
  bool checkAccesses = false;
  bool profile = false;
  std::vector<std::string> disabledPasses;
  std::vector<std::string> customLibraries; ///< absolute paths
  std::vector<std::pair<std::string, int64_t>> dims;
  std::vector<std::pair<std::string, std::vector<int64_t>>> shapes;
  /// Inputs, and the outputs that they are in the next run.
  std::vector<std::pair<std::string, std::string>> states;
  /// LLVM's part is that of -O1, with the same bits.
  bool quickCode = false;

  // What the code does not depend on.
  /// Where compiled models are kept: a folder, "" for the user's, or "off".
  std::string cache = "off";
  /// Whether models are read to be recognised, whatever their files' times say.
  bool strictCache = false;
  /// "auto", "off", "background" or "quick" (findTier()); "" for the
  /// environment's LOOPC_TIER, or "off".
  std::string tier;
  double timeoutSeconds = 0; ///< 0: none
  const loopc_cancel_token *cancel = nullptr;
  loopc_progress_function progress = nullptr;
  void *progressContext = nullptr;
};

namespace loopc::capi {
/// Code in the memory of this process. Whoever destroys it takes it from there.
struct SessionCode {
  virtual ~SessionCode() = default;
};
class Successor;
} // namespace loopc::capi

struct loopc_session {
  using RunFunction = int (*)(const loopc_run_options *, const loopc_value *,
                              size_t, loopc_value *, size_t, loopc_error *);

  loopc_session();
  ~loopc_session();

  const loopc_model *model = nullptr;
  /// A model of this process.
  std::unique_ptr<loopc::capi::SessionCode> code;
  /// Or one of a shared library, and its NAME_run where it brings a runtime of
  /// its own.
  void *library = nullptr;
  RunFunction run = nullptr;
  /// Optimised code that takes the library's place when it is there; null: the
  /// library has it.
  std::unique_ptr<loopc::capi::Successor> successor;

  /// What the states are, once set. Runs that use them hold the mutex, and so
  /// does whoever reads or changes them.
  mutable std::vector<loopc_value> states;
  mutable std::timed_mutex statesMutex;
};

struct loopc_network {
  loopc::network::INetworkDefinition network;
  std::string text;
  std::string error;
};

namespace loopc::capi {

/// Where a model is read from.
struct Source {
  /// A file, where not empty.
  std::string path;
  /// Otherwise bytes.
  std::string_view bytes;
  /// Instead of both a network.
  const network::INetworkDefinition *network = nullptr;
  /// Where not empty, what is opened instead of `path`, which messages name.
  std::string opened = "";
};

/// Codes of errors that begin here; those of Diagnostics.def.
inline constexpr std::string_view kInternalCode = "LC0100";
inline constexpr std::string_view kBadOptionCode = "LC0101";
inline constexpr std::string_view kCannotReadCode = "LC0102";
inline constexpr std::string_view kCannotWriteCode = "LC0103";
inline constexpr std::string_view kCancelledCode = "LC0108";
inline constexpr std::string_view kTimeoutCode = "LC0109";
inline constexpr std::string_view kCacheCode = "LC0110";
inline constexpr std::string_view kLinkFailedCode = "LC0607";

/// Puts the name `to` in the place of `from`, where places in a model begin
/// with it.
void renameModel(std::vector<loopc_diagnostics::Entry> &entries,
                 std::string_view from, std::string_view to);

/// The name of Tier::Auto.
inline constexpr std::string_view kAutoTier = "auto";

/// What a session begins with, and goes on with.
enum class Tier {
  Auto,       ///< Background where that is worth it, else Off
  Off,        ///< optimised code
  Background, ///< code that is made quickly, then optimised code
  Quick       ///< code that is made quickly
};

/// The tier of this name; "" is what the environment's LOOPC_TIER says, or Off.
/// Nothing where there is no such tier.
std::optional<Tier> findTier(std::string_view name);

/// Makes a model ready in this process: from the cache, or compiled.
/// \returns a loopc_compile_status.
int createSession(const Source &source, const loopc_compile_options &options,
                  loopc_session &session, loopc_diagnostics &diagnostics);

/// Loads a library of custom operators, and says what is wrong with it.
int checkCustomOps(const std::string &path, loopc_diagnostics &diagnostics);

/// Loads a model of a shared library; `name` may be null.
int loadShared(const char *path, const char *name, loopc_session &session,
               loopc_diagnostics &diagnostics);

/// Opens the library `path`, whose model is run by this libloopc, and checks
/// that it fits this machine. \returns an empty text, or what is wrong.
/// Custom operators that it calls are those of `operators`.
std::string openEntry(const std::string &path, const std::string &symbol,
                      const std::vector<const loopc_custom_op *> &operators,
                      loopc_session &session);

/// Runs the model as it stands, with values for all of its ports.
int runModel(const loopc_session &session, const loopc_run_options *options,
             const loopc_value *inputs, size_t numInputs, loopc_value *outputs,
             size_t numOutputs, loopc_error *error);

/// True where a run of so many values is to use the session's states.
bool usesStates(const loopc_session &session, size_t numInputs,
                size_t numOutputs);

/// The run of such values. May throw bad_alloc, as may the two functions below;
/// then nothing has changed.
int runWithStates(const loopc_session &session,
                  const loopc_run_options *options, const loopc_value *inputs,
                  size_t numInputs, loopc_value *outputs, size_t numOutputs,
                  loopc_error *error);

/// Fills `value` with a copy of state `index`, or zeros where it is not set.
void getState(const loopc_session &session, size_t index, loopc_value &value);

/// Sets state `index` to a copy of `value`. \returns a loopc_status.
int setState(loopc_session &session, size_t index, const loopc_value &value,
             loopc_error *error);

void resetStates(loopc_session &session);

/// Compiles into the file `output`, in a process of its own where one can be
/// had.
int compileToFile(const Source &source, int emit, const std::string &output,
                  const loopc_compile_options &options,
                  loopc_diagnostics &diagnostics);

} // namespace loopc::capi

#endif // LOOPC_LIB_CAPI_IMPL_H
