//===- Link.cpp - Shared objects ------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// By liblld, in this process: no linker, compiler or development package has to
// be installed. libm and libc are linked by the files that programs load.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Target/CodeGen.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Host.h"

#include <dlfcn.h>
#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace mlir;
using namespace loopc;

/// The first of `names` in the folders for libraries of `triple`, or "".
static std::string findLibrary(ArrayRef<StringRef> names,
                               const TargetOptions &options,
                               const llvm::Triple &triple) {
  std::vector<std::string> folders = options.libraryPaths;
  std::string multiarch = (triple.getArchName() + "-linux-gnu").str();
  folders.push_back("/usr/" + multiarch + "/lib"); // cross compilers' folder
  for (StringRef root : {"/lib/", "/usr/lib/"})
    folders.push_back((root + multiarch).str());
  if (triple.getArch() == llvm::Triple(llvm::sys::getProcessTriple()).getArch())
    for (StringRef folder : {"/lib64", "/usr/lib64", "/lib", "/usr/lib"})
      folders.push_back(folder.str());
  for (const std::string &folder : folders)
    for (StringRef name : names) {
      SmallString<128> path(folder);
      llvm::sys::path::append(path, name);
      if (llvm::sys::fs::exists(path))
        return path.str().str();
    }
  return "";
}

/// libloopc_rt.a as it lies beside the program, or beside the library that this
/// code is in: in the same folder or in ../lib. Else that of the build; empty
/// where there is none.
static std::string findRuntime() {
  static const int anchor = 0;
  std::vector<std::string> files = {
      llvm::sys::fs::getMainExecutable(nullptr, const_cast<int *>(&anchor))};
  Dl_info info;
  if (dladdr(&anchor, &info) && info.dli_fname)
    files.insert(files.begin(), info.dli_fname);
  for (const std::string &file : files)
    for (StringRef folder : {"", "../lib"}) {
      SmallString<128> path(llvm::sys::path::parent_path(file));
      llvm::sys::path::append(path, folder, "libloopc_rt.a");
      if (llvm::sys::fs::exists(path))
        return path.str().str();
    }
  return llvm::sys::fs::exists(LOOPC_RUNTIME_LIBRARY) ? LOOPC_RUNTIME_LIBRARY
                                                      : "";
}

/// Runs lld, which has global state: one at a time.
static LogicalResult runLinker(ArrayRef<const char *> arguments, Location loc) {
  static std::mutex mutex;
  static bool isUsable = true;
  std::lock_guard<std::mutex> guard(mutex);
  if (!isUsable)
    return emitError(loc, Diag::LinkFailed)
           << "the linker crashed before and cannot run again in this process";
  std::string text;
  llvm::raw_string_ostream os(text);
  lld::Result result =
      lld::lldMain(arguments, os, os, {{lld::Gnu, &lld::elf::link}});
  isUsable = result.canRunAgain;
  if (result.retCode == 0)
    return success();
  return emitError(loc, Diag::LinkFailed)
         << "the shared object cannot be linked: " << StringRef(text).trim();
}

LogicalResult loopc::linkSharedObject(StringRef object, StringRef output,
                                      StringRef soname,
                                      const TargetOptions &options,
                                      Location loc) {
  llvm::Triple triple = getTriple(options);
  std::string runtime = options.runtimeLibrary;
  bool isHost =
      triple.getArch() == llvm::Triple(llvm::sys::getProcessTriple()).getArch();
  if (runtime.empty() && isHost)
    runtime = findRuntime();
  if (runtime.empty())
    return emitError(loc, Diag::LinkFailed)
           << "there is no libloopc_rt.a for target '" << triple.str()
           << "': name it by --runtime";
  // glibc's names, then musl's, where libm is a part of libc.
  std::string muslName = ("libc.musl-" + triple.getArchName() + ".so.1").str();
  std::string libc = findLibrary({"libc.so.6", muslName}, options, triple);
  std::string libm = findLibrary({"libm.so.6", muslName}, options, triple);
  if (libc.empty() || libm.empty())
    return emitError(loc, Diag::LinkFailed)
           << "there is no " << (libc.empty() ? "libc.so.6" : "libm.so.6")
           << " for target '" << triple.str()
           << "': name its folder by --library-path";

  std::string outputText = output.str();
  std::string objectText = object.str();
  std::string sonameText = "--soname=" + soname.str();
  SmallVector<const char *> arguments = {
      "ld.lld", "-shared", "--eh-frame-hdr", "--hash-style=gnu",
      "--build-id=none", "-znow", "-zrelro", "-zdefs", "--gc-sections",
      // Only the model's two functions are seen outside.
      "--exclude-libs=ALL", "--allow-shlib-undefined", "-o", outputText.c_str(),
      sonameText.c_str(), objectText.c_str(), runtime.c_str(), "--as-needed",
      libm.c_str(), libc.c_str()};
  return runLinker(arguments, loc);
}
