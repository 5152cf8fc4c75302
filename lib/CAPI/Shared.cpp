//===- Shared.cpp - Models of shared libraries ----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Impl.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <dlfcn.h>

using namespace llvm;
using namespace loopc::capi;

/// Names of the models that the ELF file `path` defines: those for which it has
/// both NAME_model and NAME_run.
static Expected<std::vector<std::string>> findModels(StringRef path) {
  auto file = object::ObjectFile::createObjectFile(path);
  if (!file)
    return file.takeError();
  auto *elf = dyn_cast<object::ELFObjectFileBase>(file->getBinary());
  if (!elf)
    return createStringError(inconvertibleErrorCode(),
                             "this is no ELF shared library");
  StringSet<> defined;
  for (object::ELFSymbolRef symbol : elf->getDynamicSymbolIterators()) {
    Expected<StringRef> name = symbol.getName();
    Expected<uint32_t> flags = symbol.getFlags();
    if (!name)
      return name.takeError();
    if (!flags)
      return flags.takeError();
    if (!(*flags & object::SymbolRef::SF_Undefined))
      defined.insert(*name);
  }
  std::vector<std::string> models;
  for (const auto &entry : defined) {
    StringRef name = entry.getKey();
    if (name.consume_back("_model") && defined.contains((name + "_run").str()))
      models.push_back(name.str());
  }
  sort(models);
  return models;
}

static int fail(loopc_diagnostics &diagnostics, int status,
                std::string_view code, const Twine &message) {
  diagnostics.addError(code, message.str());
  return status;
}

int loopc::capi::loadShared(const char *givenPath, const char *givenName,
                            loopc_session &session,
                            loopc_diagnostics &diagnostics) {
  auto cannotRead = [&](const Twine &message) {
    return fail(diagnostics, LOOPC_COMPILE_ERROR_FILE, kCannotReadCode,
                "cannot load '" + Twine(givenPath) + "': " + message);
  };
  // An absolute path, since dlopen() searches for plain names elsewhere.
  SmallString<128> path(givenPath);
  if (std::error_code error = sys::fs::make_absolute(path))
    return cannotRead(error.message());
  Expected<std::vector<std::string>> models = findModels(path);
  if (!models)
    return cannotRead(toString(models.takeError()));
  if (models->empty())
    return cannotRead("it defines no model");
  std::string name = givenName ? givenName : models->front();
  if (givenName ? !is_contained(*models, name) : models->size() > 1)
    return fail(diagnostics, LOOPC_COMPILE_ERROR_ARGUMENT, kBadOptionCode,
                "'" + Twine(givenPath) + "' defines the models '" +
                    join(*models, "', '") +
                    (givenName ? "', not '" + name + "'"
                               : std::string("': one of them must be named")));

  session.library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!session.library)
    return cannotRead(dlerror());
  using ModelFunction = const loopc_model *(*)();
  auto getModel = reinterpret_cast<ModelFunction>(
      dlsym(session.library, (name + "_model").c_str()));
  session.run = reinterpret_cast<loopc_session::RunFunction>(
      dlsym(session.library, (name + "_run").c_str()));
  if (!getModel || !session.run || !(session.model = getModel()))
    return cannotRead("it defines no model");
  if (session.model->abi_version != LOOPC_ABI_VERSION)
    return cannotRead("it has version " + Twine(session.model->abi_version) +
                      " of the ABI, expected " + Twine(LOOPC_ABI_VERSION));
  // Whether the kinds of its values are supported is for the runtime that the
  // library brings; what is asked here is whether this CPU can run it.
  loopc_model withoutPorts = *session.model;
  withoutPorts.num_inputs = withoutPorts.num_outputs = 0;
  withoutPorts.num_states = 0;
  loopc_error error = {};
  if (loopc_model_check(&withoutPorts, &error) != LOOPC_OK)
    return cannotRead(error.message);
  return LOOPC_COMPILE_OK;
}
