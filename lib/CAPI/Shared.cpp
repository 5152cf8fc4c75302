//===- Shared.cpp - Models of shared libraries ----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files.h"
#include "Impl.h"
#include "loopc/Support/CustomLibrary.h"
#include "loopc/Support/ReservedNames.h"

#include "loopc-rt/runtime.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <set>

using namespace loopc::capi;

using ModelFunction = const loopc_model *(*)();

/// Names of the models among the names that a library defines: those for which
/// it has both NAME_model and NAME_run, which libloopc has itself.
static std::vector<std::string>
findModels(const std::vector<std::string> &names) {
  static constexpr std::string_view kModel = "_model";
  std::set<std::string> defined(names.begin(), names.end());
  std::vector<std::string> models;
  for (const std::string &name : defined) {
    if (!name.ends_with(kModel))
      continue;
    std::string stem = name.substr(0, name.size() - kModel.size());
    if (defined.contains(stem + "_run") && !loopc::isReservedModelName(stem))
      models.push_back(stem);
  }
  std::sort(models.begin(), models.end());
  return models;
}

static std::string join(const std::vector<std::string> &texts,
                        const char *separator) {
  std::string all;
  for (const std::string &text : texts)
    all.append(&text == texts.data() ? "" : separator).append(text);
  return all;
}

/// What is wrong with the table of a model that a library returned; "" where
/// nothing is. `withPorts`: whether this libloopc runs it.
static std::string findFault(const loopc_model *model, bool withPorts) {
  if (!model)
    return "it defines no model";
  if (model->abi_version != LOOPC_ABI_VERSION)
    return "it has version " + std::to_string(model->abi_version) +
           " of the ABI, expected " + std::to_string(LOOPC_ABI_VERSION);
  loopc_model checked = *model;
  if (!withPorts)
    checked.num_inputs = checked.num_outputs = checked.num_states = 0;
  loopc_error error = {};
  return loopc_model_check(&checked, &error) == LOOPC_OK ? "" : error.message;
}

/// Loads a model's library; null, and `problem` says why. Libraries of loopc's
/// own that it needs may be in no folder that the system searches: those that
/// are in the process already are found by their names.
static void *openModel(const std::string &path, std::string &problem) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library)
    return library;
  problem = dlerror();
  for (const loopc::OwnOperator *own = loopc::getOwnOperators(); own->library;
       ++own) {
    const loopc_custom_op *op = nullptr;
    std::string file;
    if (problem.find(own->library) == std::string::npos ||
        !loopc::loadOwnOperator(*own, op, file).empty())
      continue;
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library)
      return library;
    problem = dlerror();
  }
  return nullptr;
}

int loopc::capi::loadShared(const char *givenPath, const char *givenName,
                            loopc_session &session,
                            loopc_diagnostics &diagnostics) {
  auto cannotRead = [&](const std::string &message) {
    diagnostics.addError(kCannotReadCode, "cannot load '" +
                                              std::string(givenPath) +
                                              "': " + message);
    return LOOPC_COMPILE_ERROR_FILE;
  };
  // With a slash, since dlopen() searches for plain names elsewhere.
  std::string path = givenPath;
  if (path.find('/') == std::string::npos)
    path = "./" + path;
  Descriptor file = openToRead(path);
  if (!file)
    return cannotRead(std::strerror(errno));
  std::vector<std::string> names;
  if (std::string problem; !readDefinedNames(file.get(), names, problem))
    return cannotRead(problem);
  std::vector<std::string> models = findModels(names);
  if (models.empty())
    return cannotRead("it defines no model");
  std::string name = givenName ? givenName : models.front();
  bool isThere = std::find(models.begin(), models.end(), name) != models.end();
  if (givenName ? !isThere : models.size() > 1) {
    diagnostics.addError(
        kBadOptionCode,
        "'" + std::string(givenPath) + "' defines the models '" +
            join(models, "', '") +
            (givenName ? "', not '" + name + "'"
                       : std::string("': one of them must be named")));
    return LOOPC_COMPILE_ERROR_ARGUMENT;
  }
  std::string problem;
  session.library = openModel(path, problem);
  if (!session.library)
    return cannotRead(problem);
  auto getModel = reinterpret_cast<ModelFunction>(
      dlsym(session.library, (name + "_model").c_str()));
  session.run = reinterpret_cast<loopc_session::RunFunction>(
      dlsym(session.library, (name + "_run").c_str()));
  if (!getModel || !session.run)
    return cannotRead("it defines no model");
  session.model = getModel();
  // Whether the kinds of its values are supported is for the runtime that the
  // library brings; what is asked here is whether this CPU can run it.
  if (std::string fault = findFault(session.model, /*withPorts=*/false);
      !fault.empty())
    return cannotRead(fault);
  return LOOPC_COMPILE_OK;
}

/// Copies the descriptions of operators into the room that `library` has for
/// those that it calls. One that is in the process already has them.
/// \returns an empty text, or what is wrong.
static std::string
bindOperators(void *library, const std::vector<const loopc_custom_op *> &all) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> guard(mutex);
  for (const loopc_custom_op *op : all) {
    auto *room = static_cast<loopc_custom_op *>(dlsym(library, op->symbol));
    if (room && room->abi_version == 0)
      std::memcpy(room, op, sizeof(*op));
  }
  // The others are of loopc's own libraries.
  for (const loopc::OwnOperator *own = loopc::getOwnOperators(); own->library;
       ++own) {
    auto *room = static_cast<loopc_custom_op *>(dlsym(library, own->symbol));
    if (!room || room->abi_version != 0)
      continue;
    const loopc_custom_op *op = nullptr;
    std::string path;
    if (std::string fault = loopc::loadOwnOperator(*own, op, path);
        !fault.empty())
      return fault;
    std::memcpy(room, op, sizeof(*op));
  }
  return "";
}

std::string
loopc::capi::openEntry(const std::string &path, const std::string &symbol,
                       const std::vector<const loopc_custom_op *> &operators,
                       loopc_session &session) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return dlerror();
  auto fail = [&](std::string text) {
    dlclose(library);
    return text;
  };
  auto getModel = reinterpret_cast<ModelFunction>(
      dlsym(library, (symbol + "_model").c_str()));
  if (!getModel)
    return fail("it defines no model");
  // The system finds the library's libloopc by name, and may find another one.
  if (dlsym(library, "loopc_model_run") !=
      reinterpret_cast<void *>(&loopc_model_run))
    return fail("it is run by another libloopc");
  const loopc_model *model = getModel();
  if (std::string fault = findFault(model, /*withPorts=*/true); !fault.empty())
    return fail(fault);
  if (std::string fault = bindOperators(library, operators); !fault.empty())
    return fail(fault);
  session.library = library;
  session.model = model;
  return "";
}
