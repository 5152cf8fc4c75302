//===- CompilerLibrary.cpp - The compiler, loaded when it is needed -------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompilerFiles.h"
#include "Files.h"
#include "Interface.h"

#include <dlfcn.h>
#include <stdexcept>
#include <unistd.h>

using namespace loopc;
using namespace loopc::capi;

/// The file's folder, with a slash at its end.
static std::string getFolder(const std::string &path) {
  return path.substr(0, path.rfind('/') + 1);
}

const CompilerFiles &capi::getCompilerFiles() {
  static const CompilerFiles files = [] {
    static const int anchor = 0;
    CompilerFiles found;
    found.runtime = findLibraryOf(&anchor);
    std::string folder = getFolder(found.runtime);
    found.compiler = folder + "libloopc_compiler.so." LOOPC_SOVERSION;
    // Of a build tree or a prefix; of a wheel.
    for (const char *place : {"../bin/loopc", "loopc"})
      if (found.program.empty() && access((folder + place).c_str(), X_OK) == 0)
        found.program = folder + place;
    return found;
  }();
  return files;
}

/// Loads the compiler; throws where that fails.
static const CompilerInterface *loadCompiler() {
  const std::string &path = getCompilerFiles().compiler;
  // It stays: LLVM does not leave a process.
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library)
    throw std::runtime_error(std::string("the compiler cannot be loaded: ") +
                             dlerror());
  using Function = const CompilerInterface *(*)();
  auto get =
      reinterpret_cast<Function>(dlsym(library, "loopc_compiler_interface"));
  const CompilerInterface *found = get ? get() : nullptr;
  if (!found || found->version != kInterfaceVersion ||
      std::string_view(found->release) != LOOPC_VERSION)
    throw std::runtime_error("the compiler cannot be loaded: '" + path +
                             "' is of another build");
  return found;
}

const CompilerInterface &capi::getCompiler() {
  static const CompilerInterface *compiler = loadCompiler();
  return *compiler;
}

std::unique_ptr<network::TypeOracle>
network::TypeOracle::create(const INetworkDefinition &network) {
  return getCompiler().createOracle(network);
}
