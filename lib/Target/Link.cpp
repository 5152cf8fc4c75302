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

#include "Link.h"
#include "Machine.h"
#include "loopc/Support/CompilerThread.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/ScratchFile.h"

#include "lld/Common/Driver.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/ObjCopy/CommonConfig.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/Binary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Host.h"

#include <atomic>
#include <csignal>
#include <dlfcn.h>
#include <fcntl.h>
#include <mutex>
#include <poll.h>
#include <unistd.h>

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
/// code is in: in the same folder or in ../lib, for another machine in a folder
/// there that has its name. Else that of the build; empty where there is none.
static std::string findRuntime(const llvm::Triple &triple) {
  bool isHost =
      triple.getArch() == llvm::Triple(llvm::sys::getProcessTriple()).getArch();
  std::string machine =
      isHost ? "" : (triple.getArchName() + "-linux-gnu").str();
  static const int anchor = 0;
  std::vector<std::string> files = {
      llvm::sys::fs::getMainExecutable(nullptr, const_cast<int *>(&anchor))};
  Dl_info info;
  if (dladdr(&anchor, &info) && info.dli_fname)
    files.insert(files.begin(), info.dli_fname);
  for (const std::string &file : files)
    for (StringRef folder : {"", "../lib"}) {
      SmallString<128> path(llvm::sys::path::parent_path(file));
      llvm::sys::path::append(path, folder, machine, "libloopc_rt.a");
      if (llvm::sys::fs::exists(path))
        return path.str().str();
    }
  if (!isHost)
    return "";
  return llvm::sys::fs::exists(LOOPC_RUNTIME_LIBRARY) ? LOOPC_RUNTIME_LIBRARY
                                                      : "";
}

/// Library `name`, beside the runtime that is linked, or `ofBuild` where that
/// is the build's; empty where there is none.
static std::string findBeside(StringRef runtime, StringRef name,
                              StringRef ofBuild) {
  SmallString<128> path(llvm::sys::path::parent_path(runtime));
  llvm::sys::path::append(path, name);
  if (llvm::sys::fs::exists(path))
    return path.str().str();
  bool isOfBuild = runtime == LOOPC_RUNTIME_LIBRARY;
  return isOfBuild && llvm::sys::fs::exists(ofBuild) ? ofBuild.str() : "";
}

namespace {
/// Keeps what the process does on signals: lld's output files install handlers
/// that end it.
class SignalActions {
public:
  SignalActions() {
    for (int signal = 1; signal < NSIG; ++signal)
      isKnown[signal] = sigaction(signal, nullptr, &actions[signal]) == 0;
  }
  ~SignalActions() {
    for (int signal = 1; signal < NSIG; ++signal)
      if (isKnown[signal])
        sigaction(signal, &actions[signal], nullptr);
  }

private:
  struct sigaction actions[NSIG];
  bool isKnown[NSIG] = {};
};
} // namespace

/// lld maps the file that it writes: where the disk becomes full, that is a
/// signal, not an error. So there has to be room for `needed` bytes and all of
/// `inputs`.
static LogicalResult checkRoom(StringRef output, uint64_t needed,
                               ArrayRef<StringRef> inputs, Location loc) {
  SmallString<128> folder(llvm::sys::path::parent_path(output));
  if (folder.empty())
    folder = ".";
  for (StringRef input : inputs) {
    uint64_t size = 0;
    if (!input.empty() && !llvm::sys::fs::file_size(input, size))
      needed += size;
  }
  auto space = llvm::sys::fs::disk_space(folder);
  if (!space || space->available >= needed)
    return success();
  return emitError(loc, Diag::CannotWrite)
         << "cannot write to '" << folder << "': "
         << std::make_error_code(std::errc::no_space_on_device).message();
}

/// Runs lld, which has global state: one at a time.
static LogicalResult runLinker(ArrayRef<const char *> arguments, StringRef what,
                               Location loc) {
  static std::mutex mutex;
  static bool isUsable = true;
  std::lock_guard<std::mutex> guard(mutex);
  if (!isUsable)
    return emitError(loc, Diag::LinkFailed)
           << "the linker crashed before and cannot run again in this process";
  std::string text;
  llvm::raw_string_ostream os(text);
  SignalActions kept;
  lld::Result result =
      lld::lldMain(arguments, os, os, {{lld::Gnu, &lld::elf::link}});
  isUsable = result.canRunAgain;
  if (result.retCode == 0)
    return success();
  return emitError(loc, Diag::LinkFailed)
         << what << " cannot be linked: " << StringRef(text).trim();
}

/// Whether a runtime is a library that programs load, and not an archive.
static bool isSharedLibrary(StringRef path) {
  llvm::file_magic magic;
  return !llvm::identify_magic(path, magic) &&
         magic == llvm::file_magic::elf_shared_object;
}

/// The runtime that the options name, or the one for `triple`.
static FailureOr<std::string> chooseRuntime(const TargetOptions &options,
                                            const llvm::Triple &triple,
                                            Location loc) {
  std::string runtime = options.runtimeLibrary;
  if (runtime.empty())
    runtime = findRuntime(triple);
  if (runtime.empty())
    return emitError(loc, Diag::LinkFailed)
           << "there is no libloopc_rt.a for target '" << triple.str()
           << "': name it by --runtime";
  if (llvm::file_magic kind;
      std::error_code error = llvm::identify_magic(runtime, kind))
    return emitError(loc, Diag::CannotRead)
           << "cannot read the runtime '" << runtime
           << "': " << error.message();
  return runtime;
}

LogicalResult loopc::linkSharedObject(ObjectBytes object, uint64_t reserved,
                                      StringRef output, StringRef soname,
                                      const TargetOptions &options,
                                      Location loc) {
  llvm::Triple triple = getTriple(options);
  FailureOr<std::string> chosen = chooseRuntime(options, triple, loc);
  if (failed(chosen))
    return failure();
  const std::string &runtime = *chosen;
  // glibc's names, then musl's, where libm is a part of libc.
  std::string muslName = ("libc.musl-" + triple.getArchName() + ".so.1").str();
  std::string libc = findLibrary({"libc.so.6", muslName}, options, triple);
  std::string libm = findLibrary({"libm.so.6", muslName}, options, triple);
  if (libc.empty() || libm.empty())
    return emitError(loc, Diag::LinkFailed)
           << "there is no " << (libc.empty() ? "libc.so.6" : "libm.so.6")
           << " for target '" << triple.str()
           << "': name its folder by --library-path";
  llvm::Expected<ScratchFile> file =
      ScratchFile::createWith(StringRef(object.data(), object.size()));
  object = ObjectBytes();
  if (!file)
    return emitError(loc, Diag::CannotWrite)
           << "cannot write a temporary file: "
           << llvm::toString(file.takeError());
  std::string outputText = output.str();
  std::string objectText = file->getPath().str();
  std::string sonameText = "--soname=" + soname.str();
  SmallVector<const char *> arguments = {
      "ld.lld", "-shared", "--eh-frame-hdr", "--hash-style=gnu",
      "--build-id=none", "-znow", "-zrelro", "-zdefs", "--gc-sections",
      // Only the model's two functions are seen outside.
      "--exclude-libs=ALL", "--allow-shlib-undefined", "-o", outputText.c_str(),
      sonameText.c_str(), objectText.c_str()};
  // The process has the runtime, threads and all; what is left of the archive
  // are functions that compilers call.
  bool isShared = isSharedLibrary(runtime);
  std::string archive = isShared ? findRuntime(triple) : "";
  if (isShared && archive.empty())
    return emitError(loc, Diag::LinkFailed) << "there is no libloopc_rt.a";
  auto beside = [&](StringRef name, StringRef library) {
    return isShared ? std::string() : findBeside(runtime, name, library);
  };
  // In front of the runtime, whose functions it replaces. Without it the
  // library runs on one thread.
  std::string threads = beside("libloopc_rt_threads.a", LOOPC_THREADS_LIBRARY);
  if (!threads.empty())
    arguments.push_back(threads.c_str());
  // Nothing is taken from it for a model of the CPU. Where there is no kernel
  // nothing in the object asks for it, but tensors on the device may come.
  std::string cuda = beside("libloopc_rt_cuda.a", LOOPC_CUDA_LIBRARY);
  if (!cuda.empty())
    arguments.push_back(cuda.c_str());
  if (!options.chip.empty() && !isShared) {
    if (cuda.empty())
      return emitError(loc, Diag::LinkFailed)
             << "there is no libloopc_rt_cuda.a beside '" << runtime
             << "', which a model for a GPU needs";
    arguments.push_back("--undefined=loopc_rt_cuda_begin");
  }
  // Where nobody binds the custom operators they are those of the libraries.
  if (!options.bindsOperators)
    for (const std::string &library : options.customLibraries)
      arguments.push_back(library.c_str());
  if (failed(checkRoom(output, reserved, {objectText, threads, cuda, runtime},
                       loc)))
    return failure();
  arguments.push_back(runtime.c_str());
  if (isShared)
    arguments.push_back(archive.c_str());
  arguments.append({"--as-needed", libm.c_str(), libc.c_str()});
  // Parts of libc since glibc 2.34.
  std::string pthread = findLibrary({"libpthread.so.0"}, options, triple);
  if (!(threads.empty() && cuda.empty()) && !pthread.empty())
    arguments.push_back(pthread.c_str());
  std::string dl = findLibrary({"libdl.so.2"}, options, triple);
  if (!cuda.empty() && !dl.empty())
    arguments.push_back(dl.c_str());
  return runLinker(arguments, "the shared object", loc);
}

namespace {
/// What is written to a pipe, taken from it by a thread.
class PipeReader {
public:
  PipeReader() : isOpen(pipe2(ends, O_CLOEXEC) == 0) {
    if (!isOpen)
      return;
    thread = CompilerThread::start([this] { readAll(); });
    if (thread) {
      path = "/proc/self/fd/" + std::to_string(ends[1]);
      return;
    }
    finish();
    errno = EAGAIN;
  }
  ~PipeReader() { finish(); }

  /// "" where there is none, and errno says why.
  const std::string &getPath() const { return path; }

  /// All that was written; nobody writes any more.
  ObjectBytes &finish() {
    if (isOpen) {
      isOver = true;
      close(ends[1]);
      thread.reset();
      close(ends[0]);
    }
    isOpen = false;
    return bytes;
  }

private:
  void readAll() {
    constexpr size_t kPiece = 1 << 16;
    constexpr int kWaitMilliseconds = 20;
    while (true) {
      // A process that was forked meanwhile has the pipe, too, and may never
      // close it.
      bool mayBeLast = isOver;
      pollfd ready = {ends[0], POLLIN, 0};
      if (poll(&ready, 1, kWaitMilliseconds) == 0) {
        if (mayBeLast)
          return;
        continue;
      }
      size_t begin = bytes.size();
      bytes.resize_for_overwrite(begin + kPiece);
      ssize_t count = read(ends[0], bytes.data() + begin, kPiece);
      bool again = count > 0 || (count < 0 && errno == EINTR);
      bytes.truncate(begin + std::max<ssize_t>(count, 0));
      if (!again)
        return;
    }
  }

  int ends[2] = {-1, -1};
  bool isOpen;
  std::atomic<bool> isOver = false;
  std::string path;
  ObjectBytes bytes;
  std::unique_ptr<CompilerThread> thread;
};
} // namespace

/// Hidden symbols become local, as if there had been one object.
static llvm::Error localizeHidden(llvm::MemoryBufferRef file,
                                  ObjectBytes &result) {
  auto binary = llvm::object::createBinary(file);
  if (!binary)
    return binary.takeError();
  llvm::objcopy::ConfigManager config;
  config.ELF.LocalizeHidden = true;
  llvm::raw_svector_ostream os(result);
  return llvm::objcopy::executeObjcopyOnBinary(config, **binary, os);
}

FailureOr<ObjectBytes> loopc::joinObjects(std::vector<ObjectBytes> objects,
                                          Location loc) {
  if (objects.size() == 1)
    return std::move(objects.front());
  auto fail = [&](const llvm::Twine &problem) {
    return emitError(loc, Diag::LinkFailed)
           << "the object's parts cannot be joined: " << problem;
  };
  // lld reads files only, and what it writes beside a name would stay where a
  // signal ends the process.
  std::vector<ScratchFile> files;
  std::vector<std::string> texts{"ld.lld", "-r", "--threads=1"};
  for (ObjectBytes &bytes : objects) {
    llvm::Expected<ScratchFile> file =
        ScratchFile::createWith(StringRef(bytes.data(), bytes.size()));
    if (!file)
      return fail(llvm::toString(file.takeError()));
    bytes = ObjectBytes();
    texts.push_back(file->getPath().str());
    files.push_back(std::move(*file));
  }
  PipeReader joined;
  if (joined.getPath().empty())
    return fail(std::make_error_code(std::errc(errno)).message());
  texts.insert(texts.end(), {"-o", joined.getPath()});
  SmallVector<const char *> arguments;
  for (const std::string &text : texts)
    arguments.push_back(text.c_str());
  if (failed(runLinker(arguments, "the object", loc)))
    return failure();
  const ObjectBytes &bytes = joined.finish();
  ObjectBytes result;
  if (llvm::Error error = localizeHidden(
          llvm::MemoryBufferRef(StringRef(bytes.data(), bytes.size()), "parts"),
          result))
    return fail(llvm::toString(std::move(error)));
  return result;
}
