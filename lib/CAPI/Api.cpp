//===- Api.cpp - The functions of loopc.h ---------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled with exceptions: what comes out of the C++ library below ends here.
//
//===----------------------------------------------------------------------===//

#include "Successor.h"

#include "loopc/Support/Cublas.h"
#include "loopc/Support/DeviceLoops.h"
#include "loopc/Support/WeightType.h"

#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>

using namespace loopc::capi;

extern "C" const char *loopc_version(void) { return LOOPC_VERSION; }

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

extern "C" size_t
loopc_diagnostics_count(const loopc_diagnostics *diagnostics) {
  return diagnostics ? diagnostics->entries.size() : 0;
}

extern "C" loopc_diagnostic
loopc_diagnostics_get(const loopc_diagnostics *diagnostics, size_t index) {
  if (index >= loopc_diagnostics_count(diagnostics))
    return {0, "", "", ""};
  const auto &entry = diagnostics->entries[index];
  return {entry.severity, entry.code.c_str(), entry.location.c_str(),
          entry.message.c_str()};
}

extern "C" const char *
loopc_diagnostics_text(const loopc_diagnostics *diagnostics, size_t index) {
  if (index >= loopc_diagnostics_count(diagnostics))
    return "";
  return diagnostics->entries[index].text.c_str();
}

extern "C" void loopc_diagnostics_destroy(loopc_diagnostics *diagnostics) {
  delete diagnostics;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

extern "C" loopc_compile_options *loopc_compile_options_create(void) {
  return new (std::nothrow) loopc_compile_options;
}

extern "C" void loopc_compile_options_destroy(loopc_compile_options *options) {
  delete options;
}

/// Calls `change` on options that are there; what it throws is memory that has
/// run out.
template <typename Change>
static int setOption(loopc_compile_options *options, bool valid,
                     Change change) noexcept {
  if (!options || !valid)
    return LOOPC_COMPILE_ERROR_ARGUMENT;
  try {
    change();
    return LOOPC_COMPILE_OK;
  } catch (...) {
    return LOOPC_COMPILE_ERROR_INTERNAL;
  }
}

static int setText(loopc_compile_options *options,
                   std::string loopc_compile_options::*member,
                   const char *text) {
  return setOption(options, text != nullptr,
                   [&] { options->*member = std::string(text); });
}

#define LOOPC_TEXT_OPTION(name, member)                                        \
  extern "C" int loopc_compile_options_set_##name(                             \
      loopc_compile_options *options, const char *text) {                      \
    return setText(options, &loopc_compile_options::member, text);             \
  }
LOOPC_TEXT_OPTION(target, target)
LOOPC_TEXT_OPTION(cpu, cpu)
LOOPC_TEXT_OPTION(features, features)
LOOPC_TEXT_OPTION(chip, chip)
LOOPC_TEXT_OPTION(base_directory, baseDirectory)
LOOPC_TEXT_OPTION(cache, cache)

#define LOOPC_CHOICE_OPTION(name, member, parse)                               \
  extern "C" int loopc_compile_options_set_##name(                             \
      loopc_compile_options *options, const char *choice) {                    \
    if (choice && *choice && !parse(choice))                                   \
      return LOOPC_COMPILE_ERROR_ARGUMENT;                                     \
    return setText(options, &loopc_compile_options::member, choice);           \
  }
LOOPC_CHOICE_OPTION(device_loops, deviceLoops, loopc::parseDeviceLoops)
LOOPC_CHOICE_OPTION(cublas, cublas, loopc::parseCublas)
LOOPC_CHOICE_OPTION(weights, weights, loopc::parseWeightType)
LOOPC_CHOICE_OPTION(tier, tier, findTier)

#define LOOPC_FLAG_OPTION(name, member)                                        \
  extern "C" int loopc_compile_options_set_##name(                             \
      loopc_compile_options *options, int enabled) {                           \
    return setOption(options, true, [&] { options->member = enabled != 0; });  \
  }
LOOPC_FLAG_OPTION(allow_tf32, allowTf32)
LOOPC_FLAG_OPTION(ort_compat, ortCompat)
LOOPC_FLAG_OPTION(fp_contract, fpContract)
LOOPC_FLAG_OPTION(verify, verify)
LOOPC_FLAG_OPTION(check_accesses, checkAccesses)
LOOPC_FLAG_OPTION(profile, profile)
LOOPC_FLAG_OPTION(strict_cache, strictCache)

extern "C" int
loopc_compile_options_set_opt_level(loopc_compile_options *options, int level) {
  return setOption(options, level >= 0 && level <= 3,
                   [&] { options->optLevel = level; });
}

extern "C" int
loopc_compile_options_set_min_kernel_work(loopc_compile_options *options,
                                          int work) {
  return setOption(options, work >= 0, [&] { options->minKernelWork = work; });
}

/// Letters and digits as C has them, whatever the locale.
static bool isIdentifier(const char *text) {
  if (*text >= '0' && *text <= '9')
    return false;
  for (; *text; ++text)
    if (!((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
          (*text >= '0' && *text <= '9') || *text == '_'))
      return false;
  return true;
}

extern "C" int loopc_compile_options_set_name(loopc_compile_options *options,
                                              const char *name) {
  if (name && !isIdentifier(name))
    return LOOPC_COMPILE_ERROR_ARGUMENT;
  return setText(options, &loopc_compile_options::name, name);
}

extern "C" int
loopc_compile_options_disable_pass(loopc_compile_options *options,
                                   const char *name) {
  return setOption(options, name && *name,
                   [&] { options->disabledPasses.emplace_back(name); });
}

extern "C" int
loopc_compile_options_add_custom_ops(loopc_compile_options *options,
                                     const char *path) {
  return setOption(options, path && *path, [&] {
    // The worker has a folder of its own.
    std::error_code error;
    auto absolute = std::filesystem::absolute(path, error);
    options->customLibraries.push_back(error ? path : absolute.string());
  });
}

extern "C" int loopc_compile_options_set_timeout(loopc_compile_options *options,
                                                 double seconds) {
  return setOption(options, seconds >= 0,
                   [&] { options->timeoutSeconds = seconds; });
}

extern "C" int
loopc_compile_options_set_cancel(loopc_compile_options *options,
                                 const loopc_cancel_token *token) {
  return setOption(options, true, [&] { options->cancel = token; });
}

extern "C" int
loopc_compile_options_set_progress(loopc_compile_options *options,
                                   loopc_progress_function function,
                                   void *context) {
  return setOption(options, true, [&] {
    options->progress = function;
    options->progressContext = context;
  });
}

/// Adds `value` for `name` to `list`; a name has one value.
template <typename Value>
static bool addNamed(std::vector<std::pair<std::string, Value>> &list,
                     const char *name, const Value &value) {
  for (const auto &[known, knownValue] : list)
    if (known == name)
      return knownValue == value;
  list.emplace_back(name, value);
  return true;
}

extern "C" int loopc_compile_options_add_dim(loopc_compile_options *options,
                                             const char *name, int64_t extent) {
  bool added = false;
  int status = setOption(options, name && *name && extent >= -1, [&] {
    added = addNamed(options->dims, name, extent);
  });
  return status == LOOPC_COMPILE_OK && !added ? LOOPC_COMPILE_ERROR_ARGUMENT
                                              : status;
}

extern "C" int loopc_compile_options_add_shape(loopc_compile_options *options,
                                               const char *name,
                                               const int64_t *extents,
                                               size_t rank) {
  bool valid = name && *name && (extents || rank == 0);
  for (size_t i = 0; valid && i < rank; ++i)
    valid = extents[i] >= -1;
  bool added = false;
  int status = setOption(options, valid, [&] {
    added = addNamed(options->shapes, name,
                     std::vector<int64_t>(extents, extents + rank));
  });
  return status == LOOPC_COMPILE_OK && !added ? LOOPC_COMPILE_ERROR_ARGUMENT
                                              : status;
}

extern "C" int loopc_compile_options_add_state(loopc_compile_options *options,
                                               const char *input,
                                               const char *output) {
  bool added = false;
  int status = setOption(options, input && *input && output && *output, [&] {
    added = addNamed(options->states, input, std::string(output));
  });
  return status == LOOPC_COMPILE_OK && !added ? LOOPC_COMPILE_ERROR_ARGUMENT
                                              : status;
}

//===----------------------------------------------------------------------===//
// Sessions and files
//===----------------------------------------------------------------------===//

loopc_session::loopc_session() = default;

loopc_session::~loopc_session() {
  // Their functions to be released by are the library's.
  resetStates(*this);
  successor.reset();
  if (library)
    dlclose(library);
}

/// Calls `work(diagnostics)`, which returns a status. Hands the diagnostics to
/// the caller where it wants them and there are any.
template <typename Work>
static int report(loopc_diagnostics **result, Work work) noexcept {
  if (result)
    *result = nullptr;
  try {
    auto diagnostics = std::make_unique<loopc_diagnostics>();
    int status;
    try {
      status = work(*diagnostics);
    } catch (const std::bad_alloc &) {
      diagnostics->addError(kInternalCode, "out of memory");
      status = LOOPC_COMPILE_ERROR_INTERNAL;
    } catch (const std::exception &error) {
      diagnostics->addError(kInternalCode, error.what());
      status = LOOPC_COMPILE_ERROR_INTERNAL;
    }
    if (result && !diagnostics->entries.empty())
      *result = diagnostics.release();
    return status;
  } catch (...) {
    return LOOPC_COMPILE_ERROR_INTERNAL;
  }
}

static int badArgument(loopc_diagnostics &diagnostics, const char *text) {
  diagnostics.addError(kBadOptionCode, text);
  return LOOPC_COMPILE_ERROR_ARGUMENT;
}

/// `make(session, diagnostics)` for a session that the caller gets.
template <typename Make>
static int makeSession(loopc_session **result, loopc_diagnostics **said,
                       Make make) {
  if (result)
    *result = nullptr;
  return report(said, [&](loopc_diagnostics &diagnostics) -> int {
    if (!result)
      return badArgument(diagnostics, "'session' must not be null");
    auto session = std::make_unique<loopc_session>();
    int status = make(*session, diagnostics);
    if (status == LOOPC_COMPILE_OK)
      *result = session.release();
    return status;
  });
}

static const loopc_compile_options &
orDefault(const loopc_compile_options *options) {
  static const loopc_compile_options defaults;
  return options ? *options : defaults;
}

extern "C" int loopc_session_create_from_file(
    const char *path, const loopc_compile_options *options,
    loopc_session **result, loopc_diagnostics **said) {
  return makeSession(
      result, said,
      [&](loopc_session &session, loopc_diagnostics &diagnostics) {
        if (!path || !*path)
          return badArgument(diagnostics, "the path must not be empty");
        return createSession({path, {}}, orDefault(options), session,
                             diagnostics);
      });
}

extern "C" int loopc_session_create_from_bytes(
    const void *data, size_t size, const loopc_compile_options *options,
    loopc_session **result, loopc_diagnostics **said) {
  return makeSession(
      result, said,
      [&](loopc_session &session, loopc_diagnostics &diagnostics) {
        if (!data && size)
          return badArgument(diagnostics, "'data' must not be null");
        std::string_view bytes(static_cast<const char *>(data), size);
        return createSession({"", bytes}, orDefault(options), session,
                             diagnostics);
      });
}

extern "C" int loopc_session_create_from_network(
    const loopc_network *network, const loopc_compile_options *options,
    loopc_session **result, loopc_diagnostics **said) {
  return makeSession(
      result, said,
      [&](loopc_session &session, loopc_diagnostics &diagnostics) {
        if (!network)
          return badArgument(diagnostics, "'network' must not be null");
        return createSession({"", {}, &network->network}, orDefault(options),
                             session, diagnostics);
      });
}

extern "C" int loopc_session_load_shared(const char *path, const char *name,
                                         loopc_session **result,
                                         loopc_diagnostics **said) {
  return makeSession(
      result, said,
      [&](loopc_session &session, loopc_diagnostics &diagnostics) {
        if (!path || !*path)
          return badArgument(diagnostics, "the path must not be empty");
        return loadShared(path, name, session, diagnostics);
      });
}

extern "C" const loopc_model *
loopc_session_model(const loopc_session *session) {
  return session ? session->model : nullptr;
}

/// Writes a status and a text to `error`, which may be null.
static int failRun(loopc_error *error, int status, const char *text) {
  if (error) {
    error->status = status;
    std::strcpy(error->message, text);
  }
  return status;
}

/// Calls `work`; what it throws is an error of a device, or memory that has run
/// out.
template <typename Work>
static int orOutOfMemory(loopc_error *error, Work work) noexcept {
  try {
    return work();
  } catch (const std::runtime_error &failure) {
    return failRun(error, LOOPC_ERROR_DEVICE, failure.what());
  } catch (...) {
    return failRun(error, LOOPC_ERROR_MEMORY, "out of memory");
  }
}

extern "C" int loopc_session_run(const loopc_session *session,
                                 const loopc_run_options *options,
                                 const loopc_value *inputs, size_t num_inputs,
                                 loopc_value *outputs, size_t num_outputs,
                                 loopc_error *error) {
  if (!session)
    return failRun(error, LOOPC_ERROR_INPUT, "there is no session");
  if (!usesStates(*session, num_inputs, num_outputs))
    return runModel(*session, options, inputs, num_inputs, outputs, num_outputs,
                    error);
  return orOutOfMemory(error, [&] {
    return runWithStates(*session, options, inputs, num_inputs, outputs,
                         num_outputs, error);
  });
}

extern "C" int loopc_session_is_optimized(const loopc_session *session) {
  return session && (!session->successor || session->successor->get());
}

extern "C" size_t loopc_session_num_states(const loopc_session *session) {
  return session ? session->model->num_states : 0;
}

extern "C" const loopc_port *loopc_session_state(const loopc_session *session,
                                                 size_t index) {
  size_t count = loopc_session_num_states(session);
  if (index >= count)
    return nullptr;
  return &session->model->inputs[session->model->num_inputs - count + index];
}

extern "C" int loopc_session_get_state(const loopc_session *session,
                                       size_t index, loopc_value *value,
                                       loopc_error *error) {
  if (!value || index >= loopc_session_num_states(session))
    return failRun(error, LOOPC_ERROR_INPUT, "there is no such state");
  return orOutOfMemory(error, [&] {
    getState(*session, index, *value);
    return failRun(error, LOOPC_OK, "");
  });
}

extern "C" int loopc_session_set_state(loopc_session *session, size_t index,
                                       const loopc_value *value,
                                       loopc_error *error) {
  if (!value || index >= loopc_session_num_states(session))
    return failRun(error, LOOPC_ERROR_INPUT, "there is no such state");
  return orOutOfMemory(
      error, [&] { return setState(*session, index, *value, error); });
}

extern "C" void loopc_session_reset_states(loopc_session *session) {
  if (session)
    resetStates(*session);
}

extern "C" void loopc_session_destroy(loopc_session *session) {
  delete session;
}

extern "C" int loopc_emit_from_name(const char *text) {
  static constexpr std::pair<std::string_view, int> kNames[] = {
#define LOOPC_OUTPUT(enumerator, name, emit) {name, LOOPC_EMIT_##emit},
#include "loopc/Outputs.def"
  };
  for (auto [name, emit] : kNames)
    if (text && name == text)
      return emit;
  return 0;
}

static bool isEmit(int emit) {
  return (emit >= LOOPC_EMIT_ONNX && emit <= LOOPC_EMIT_SHAPES) ||
         emit == LOOPC_EMIT_OBJ || emit == LOOPC_EMIT_SHARED;
}

/// What both functions below do.
static int compile(const Source &source, bool hasSource, int emit,
                   const char *output, const loopc_compile_options *options,
                   loopc_diagnostics &diagnostics) {
  if (!hasSource)
    return badArgument(diagnostics, "there is no model");
  if (!isEmit(emit))
    return badArgument(diagnostics, "'emit' is no stage");
  if (!output || !*output)
    return badArgument(diagnostics, "the path of the output must not be empty");
  return compileToFile(source, emit, output, orDefault(options), diagnostics);
}

extern "C" int loopc_check_custom_ops(const char *path,
                                      loopc_diagnostics **said) {
  return report(said, [&](loopc_diagnostics &diagnostics) {
    if (!path || !*path)
      return badArgument(diagnostics, "the path must not be empty");
    return checkCustomOps(path, diagnostics);
  });
}

extern "C" int loopc_compile_file(const char *path, int emit,
                                  const char *output,
                                  const loopc_compile_options *options,
                                  loopc_diagnostics **said) {
  return report(said, [&](loopc_diagnostics &diagnostics) {
    bool hasSource = path && *path;
    return compile({hasSource ? path : "", {}}, hasSource, emit, output,
                   options, diagnostics);
  });
}

extern "C" int loopc_compile_bytes(const void *data, size_t size, int emit,
                                   const char *output,
                                   const loopc_compile_options *options,
                                   loopc_diagnostics **said) {
  return report(said, [&](loopc_diagnostics &diagnostics) {
    std::string_view bytes(static_cast<const char *>(data), data ? size : 0);
    return compile({"", bytes}, data || !size, emit, output, options,
                   diagnostics);
  });
}

extern "C" int loopc_compile_network(const loopc_network *network, int emit,
                                     const char *output,
                                     const loopc_compile_options *options,
                                     loopc_diagnostics **said) {
  return report(said, [&](loopc_diagnostics &diagnostics) {
    return compile({"", {}, network ? &network->network : nullptr}, network,
                   emit, output, options, diagnostics);
  });
}
