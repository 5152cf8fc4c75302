//===- Session.h - A model in Python ----------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_PYTHON_SESSION_H
#define LOOPC_PYTHON_SESSION_H

#include "loopc-c/loopc.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace loopc::python {

namespace nb = nanobind;

/// loopc_compile_options from a dict of keyword arguments.
struct OptionsDeleter {
  void operator()(loopc_compile_options *options) const {
    loopc_compile_options_destroy(options);
  }
};
using Options = std::unique_ptr<loopc_compile_options, OptionsDeleter>;
Options makeOptions(const nb::dict &dict);

/// Lets Python take part in a compilation: signals are handled while it lasts,
/// and the dict's "progress" is called. What either raises ends it.
class CompileWatch {
public:
  CompileWatch(const nb::dict &dict, loopc_compile_options *options);
  CompileWatch(const CompileWatch &) = delete;
  CompileWatch &operator=(const CompileWatch &) = delete;

  /// After the compilation, with the interpreter's lock: raises what was
  /// raised.
  void rethrow();

private:
  static int poll(void *context, const loopc_progress *progress);

  nb::object function; ///< None: nobody
  std::optional<nb::python_error> raised;
};

/// [(severity, code, location, message, text), ...]; destroys `diagnostics`.
nb::list takeDiagnostics(loopc_diagnostics *diagnostics);

/// A flag that ends runs.
class CancelToken {
public:
  void cancel() { loopc_cancel(&token); }
  void reset() { token.requested = 0; }
  bool requested() const { return token.requested != 0; }
  loopc_cancel_token *get() { return &token; }

private:
  loopc_cancel_token token = {};
};

/// Where the time of runs went.
class Profile {
public:
  Profile() : profile(loopc_profile_create()) {
    if (!profile)
      throw std::bad_alloc();
  }
  ~Profile() { loopc_profile_destroy(profile); }
  Profile(const Profile &) = delete;
  Profile &operator=(const Profile &) = delete;

  std::string table() { return loopc_profile_table(profile); }
  /// \returns 0, or why the file cannot be written, as errno has it.
  int write(const std::string &path) const {
    switch (loopc_profile_write(profile, path.c_str())) {
    case LOOPC_COMPILE_OK:
      return 0;
    case LOOPC_COMPILE_ERROR_FILE:
      return errno ? errno : EIO;
    default:
      return ENOMEM;
    }
  }
  loopc_profile *get() { return profile; }

private:
  loopc_profile *profile;
};

/// How one call of run() runs.
struct RunSettings {
  CancelToken *token = nullptr;
  Profile *profile = nullptr;
  double timeoutSeconds = 0;
  int32_t numThreads = 0;
  uint64_t memoryLimit = 0;
  // Of models for GPUs.
  int32_t device = 0;
  bool deviceResults = false;
  uintptr_t stream = 0; ///< a CUstream; 0: one of the runtime's
  bool timesDevice = false;
  /// {name of an output: DeviceTensor, or (array, address, shape), to write
  /// to}.
  nb::dict buffers;
};

/// Whether a caller may leave input `number` out.
inline bool hasDefault(const loopc_model &model, size_t number) {
  return model.defaults && model.defaults[number].ndim >= 0;
}

/// A loopc_session.
class Session {
public:
  explicit Session(loopc_session *session);
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  const loopc_model &getModel() const { return *model; }

  /// Runs the model. `names` is None (all outputs) or a sequence of names.
  /// \returns (status, message, [outputs], (allocations, deallocations,
  /// peak bytes, copied bytes)); the outputs are empty after a failure.
  nb::tuple run(nb::handle names, const nb::dict &feeds,
                const RunSettings &settings);

  bool isOptimized() const { return loopc_session_is_optimized(session); }
  bool usesDevice() const { return loopc_session_uses_device(session); }

  /// Inputs and outputs without the states.
  size_t numInputs() const { return model->num_inputs - model->num_states; }
  size_t numOutputs() const { return model->num_outputs - model->num_states; }

  /// {name: value}; None for a state that is not set.
  nb::dict getStates() const;
  /// Sets the states of the dict; None sets one back.
  /// \returns (status, message).
  nb::tuple setStates(const nb::dict &values);
  /// Sets all states back.
  void resetStates();

private:
  std::vector<size_t> chooseOutputs(nb::handle names) const;
  size_t findOutput(const std::string &name) const;
  /// The objects of `feeds` by the number of the input, null for what is left
  /// out. \throws ArgumentError for a name that the model does not have.
  std::vector<nb::object> matchFeeds(const nb::dict &feeds) const;

  using Names = std::unordered_map<std::string_view, size_t>;

  loopc_session *session;
  const loopc_model *model;
  Names inputNames;
  Names outputNames;
  Names stateNames;
};

} // namespace loopc::python

#endif // LOOPC_PYTHON_SESSION_H
