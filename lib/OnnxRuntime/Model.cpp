//===- Model.cpp - Compiled nodes -----------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"

#include "Api.h"

using namespace loopc::ort;

/// What the compiler said first that is an error, as its tools print it.
static std::string getError(const loopc_diagnostics *diagnostics) {
  for (size_t i = 0; i < loopc_diagnostics_count(diagnostics); ++i)
    if (loopc_diagnostics_get(diagnostics, i).severity == LOOPC_SEVERITY_ERROR)
      return loopc_diagnostics_text(diagnostics, i);
  return "loopc failed without a message";
}

static ErrorCode getCode(int status) {
  switch (status) {
  case LOOPC_COMPILE_ERROR_ARGUMENT:
    return kInvalidArgument;
  case LOOPC_COMPILE_ERROR_FILE:
    return kNoSuchFile;
  case LOOPC_COMPILE_ERROR_MODEL:
    return kNotImplemented;
  case LOOPC_COMPILE_ERROR_CANCELLED:
  case LOOPC_COMPILE_ERROR_TIMEOUT:
    return kLoadCancelled;
  default:
    return kProviderFail;
  }
}

/// Throws what `diagnostics` say where `status` is an error; destroys them.
static void check(int status, loopc_diagnostics *diagnostics) {
  std::string text;
  if (status != LOOPC_COMPILE_OK)
    text = getError(diagnostics);
  loopc_diagnostics_destroy(diagnostics);
  if (status != LOOPC_COMPILE_OK)
    throw Error(getCode(status), text);
}

namespace {
struct OptionsDestroyer {
  void operator()(loopc_compile_options *options) const {
    loopc_compile_options_destroy(options);
  }
};
} // namespace

static std::unique_ptr<loopc_compile_options, OptionsDestroyer>
makeOptions(const Options &options) {
  std::unique_ptr<loopc_compile_options, OptionsDestroyer> made(
      loopc_compile_options_create());
  if (!made)
    throw std::bad_alloc();
  loopc_compile_options_set_opt_level(made.get(), options.optLevel);
  loopc_compile_options_set_ort_compat(made.get(), 1);
  loopc_compile_options_set_fp_contract(made.get(), options.fpContract);
  loopc_compile_options_set_cache(made.get(), options.cache.c_str());
  loopc_compile_options_set_tier(made.get(), options.tier.c_str());
  loopc_compile_options_set_timeout(made.get(), options.compileTimeout);
  loopc_compile_options_set_cpu(made.get(), options.cpu.c_str());
  loopc_compile_options_set_features(made.get(), options.features.c_str());
  return made;
}

Model::Model(const std::string &bytes, const Options &options) {
  loopc_session *made = nullptr;
  loopc_diagnostics *diagnostics = nullptr;
  int status = loopc_session_create_from_bytes(bytes.data(), bytes.size(),
                                               makeOptions(options).get(),
                                               &made, &diagnostics);
  session.reset(made);
  check(status, diagnostics);
}

void Model::compile(const std::string &bytes, const Options &options,
                    const std::string &path) {
  loopc_diagnostics *diagnostics = nullptr;
  int status = loopc_compile_bytes(bytes.data(), bytes.size(),
                                   LOOPC_EMIT_SHARED, path.c_str(),
                                   makeOptions(options).get(), &diagnostics);
  check(status, diagnostics);
}

Model::Model(const std::string &path) {
  loopc_session *made = nullptr;
  loopc_diagnostics *diagnostics = nullptr;
  int status =
      loopc_session_load_shared(path.c_str(), nullptr, &made, &diagnostics);
  session.reset(made);
  check(status, diagnostics);
}

std::string Model::findUnfitPort(bool readsSequences) const {
  const loopc_model &model = get();
  auto describe = [](const char *what, const loopc_port &port) {
    return std::string(what) + " '" + (port.name ? port.name : "") +
           "' has a type that onnxruntime's interface cannot carry: an "
           "optional, "
           "or a sequence that is returned";
  };
  auto isTensor = [](const loopc_type &type) {
    return type.kind == LOOPC_TENSOR || type.kind == LOOPC_STRINGS;
  };
  for (size_t k = 0; k < model.num_inputs; ++k)
    if (const loopc_type &type = *model.inputs[k].type;
        !isTensor(type) && !(readsSequences && type.kind == LOOPC_SEQUENCE &&
                             isTensor(*type.element)))
      return describe("input", model.inputs[k]);
  for (size_t k = 0; k < model.num_outputs; ++k)
    if (!isTensor(*model.outputs[k].type))
      return describe("output", model.outputs[k]);
  return "";
}
