//===- Create.cpp - Making a model ready ----------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A session is, in this order: a library of the cache; one that a worker
// compiles now; code that is compiled in this process. The last one is for what
// no worker can be given (pipes), for GPUs, and for places where nothing can be
// written or started. A network is a model of MLIR from here on.
//
//===----------------------------------------------------------------------===//

#include "Cache.h"
#include "CompilerFiles.h"
#include "Interface.h"
#include "Key.h"
#include "Worker.h"

#include "loopc/Support/CompilerThread.h"
#include "loopc/Support/CustomLibrary.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <sys/stat.h>
#include <unistd.h>

using namespace loopc;
using namespace loopc::capi;

/// Calls `work`, with room for the compiler; hands on what it throws.
template <typename Work> static int callCompiler(Work work) {
  int status = LOOPC_COMPILE_ERROR_INTERNAL;
  std::exception_ptr thrown;
  callWithStack([&] {
    try {
      status = work(getCompiler());
    } catch (...) {
      thrown = std::current_exception();
    }
  });
  if (thrown)
    std::rethrow_exception(thrown);
  return status;
}

static void append(loopc_diagnostics &diagnostics,
                   std::vector<loopc_diagnostics::Entry> &said) {
  for (loopc_diagnostics::Entry &one : said)
    diagnostics.entries.push_back(std::move(one));
}

static bool hasError(const std::vector<loopc_diagnostics::Entry> &diagnostics,
                     std::string_view code) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [&](const loopc_diagnostics::Entry &entry) {
                       return entry.severity == LOOPC_SEVERITY_ERROR &&
                              entry.code == code;
                     });
}

/// Stands in the cache for the path of the model, which may have moved.
static constexpr std::string_view kPathMark = "\1model\1";

namespace {
/// One session on its way.
class Creation {
public:
  Creation(const Source &source, const loopc_compile_options &options,
           loopc_session &session, loopc_diagnostics &diagnostics)
      : source(source), options(options), session(session),
        diagnostics(diagnostics), watch(options) {}

  int run();

private:
  int openModel(bool &isPlain);
  int writeNetwork();
  void findKey();
  Hash getKey(const std::vector<std::string> &files, int64_t before,
              bool &isGood);
  bool takeFromCache();
  int compile();
  int compileInProcess();
  std::optional<Reply> compileTo(const std::string &output);
  int take(const std::string &output, Reply &reply);
  std::string keep(const std::string &output, const Reply &reply);

  std::string getModelFolder() const;

  Source source;
  loopc_compile_options options;
  loopc_session &session;
  loopc_diagnostics &diagnostics;
  Watch watch;

  std::string written; ///< the network
  Descriptor model;    ///< where it is a file
  FileStamp stamp;     ///< of the model, before it was read
  std::optional<Cache> cache;
  Hash settings, contents; ///< what the key is made of
  Hash key;                ///< without files beside the model
  int64_t begin = getNow();
  std::vector<const loopc_custom_op *> operators; ///< of the libraries
};
} // namespace

/// Appends the operators of the libraries to `operators`.
static int loadOperators(const std::vector<std::string> &libraries,
                         std::vector<const loopc_custom_op *> &operators,
                         loopc_diagnostics &diagnostics) {
  for (const std::string &path : libraries) {
    struct stat status;
    if (stat(path.c_str(), &status) != 0) {
      diagnostics.addError(kCannotReadCode,
                           "cannot read the library of custom operators '" +
                               path + "': " + strerror(errno));
      return LOOPC_COMPILE_ERROR_FILE;
    }
    if (std::string problem = loadCustomLibrary(path, operators);
        !problem.empty()) {
      diagnostics.addError(kBadOptionCode, problem);
      return LOOPC_COMPILE_ERROR_ARGUMENT;
    }
  }
  return LOOPC_COMPILE_OK;
}

/// Opens the file of the model. `isPlain`: a worker can be given it.
int Creation::openModel(bool &isPlain) {
  struct stat status;
  isPlain = true;
  if (source.path.empty())
    return LOOPC_COMPILE_OK;
  // A pipe is for whoever opens it first.
  if (stat(source.path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    isPlain = false;
    return LOOPC_COMPILE_OK;
  }
  model = openToRead(source.path);
  if (!model || fstat(model.get(), &status) != 0) {
    diagnostics.addError(kCannotReadCode, "cannot read '" + source.path +
                                              "': " + strerror(errno));
    return LOOPC_COMPILE_ERROR_FILE;
  }
  stamp = FileStamp::of(status);
  return LOOPC_COMPILE_OK;
}

/// Makes bytes of the network.
int Creation::writeNetwork() {
  if (int status = callCompiler([&](const CompilerInterface &compiler) {
        return compiler.writeNetwork(source, options, written, diagnostics);
      }))
    return status;
  source.network = nullptr;
  source.bytes = written;
  // What they say of ports is written.
  options.dims.clear();
  options.shapes.clear();
  options.states.clear();
  return LOOPC_COMPILE_OK;
}

/// The folder that names of files beside the model are in.
std::string Creation::getModelFolder() const {
  size_t slash = source.path.rfind('/');
  std::string folder = !options.baseDirectory.empty() ? options.baseDirectory
                       : slash == std::string::npos
                           ? "."
                           : source.path.substr(0, slash);
  while (folder.ends_with('/'))
    folder.pop_back();
  return folder;
}

void Creation::findKey() {
  std::string_view name = source.path;
  if (size_t slash = name.rfind('/'); slash != std::string_view::npos)
    name.remove_prefix(slash + 1);
  settings = hashSettings(options, name, describeCpu(), describeBuild());
  std::vector<Hash> libraries;
  for (const std::string &path : options.customLibraries) {
    Descriptor file = openToRead(path);
    if (!file || !cache->hash(file.get(), options.strictCache,
                              libraries.emplace_back())) {
      cache.reset();
      return;
    }
  }
  if (!libraries.empty())
    settings = combine(settings, {}, libraries);
  if (source.path.empty())
    contents = hashOf(source.bytes);
  else if (!cache->hash(model.get(), options.strictCache, contents)) {
    cache.reset();
    return;
  }
  key = combine(settings, contents, {});
}

/// The key of the model with these files beside it, none of which may have been
/// changed after `before`.
Hash Creation::getKey(const std::vector<std::string> &files, int64_t before,
                      bool &isGood) {
  std::vector<Hash> hashes;
  isGood = true;
  for (const std::string &name : files) {
    Descriptor file = openToRead(
        name.starts_with("/") ? name : getModelFolder() + "/" + name);
    struct stat status;
    Hash hash;
    isGood = isGood && file && fstat(file.get(), &status) == 0 &&
             S_ISREG(status.st_mode) &&
             FileStamp::of(status).modified < before &&
             cache->hash(file.get(), options.strictCache, hash);
    hashes.push_back(std::move(hash));
  }
  return hashes.empty() ? key : combine(settings, contents, hashes);
}

bool Creation::takeFromCache() {
  Hash wanted = key;
  if (auto files = cache->findFiles(key)) {
    bool isGood;
    wanted = getKey(*files, INT64_MAX, isGood);
    if (!isGood)
      return false;
  }
  std::optional<Entry> entry =
      cache->find(wanted, options.strictCache, diagnostics);
  if (!entry)
    return false;
  if (!openEntry(entry->path, entry->text.symbol, operators, session).empty()) {
    cache->drop(wanted);
    return false;
  }
  std::vector<loopc_diagnostics::Entry> &said = entry->text.diagnostics;
  renameModel(said, kPathMark, source.path);
  append(diagnostics, said);
  return true;
}

int Creation::compileInProcess() {
  return callCompiler([&](const CompilerInterface &compiler) {
    return compiler.compileInProcess(source, options, session, diagnostics);
  });
}

/// Compiles into the file `output`; nothing where that takes a worker, and
/// there is none.
std::optional<Reply> Creation::compileTo(const std::string &output) {
  if (wantsWorker()) {
    Request request;
    request.build = describeBuild();
    request.model = source.path;
    request.isOpen = true;
    request.output = output;
    request.runtime = getCompilerFiles().runtime;
    request.options = options;
    Descriptor bytes;
    if (source.path.empty())
      bytes = makeMemoryFile(source.bytes);
    const Descriptor &given = source.path.empty() ? bytes : model;
    if (given)
      if (std::optional<Reply> reply = runWorker(request, given, watch))
        return reply;
  }
  // Without a cache there is no reason to write files.
  if (!cache)
    return std::nullopt;
  Reply reply;
  EntryInfo info;
  loopc_diagnostics said;
  reply.status = callCompiler([&](const CompilerInterface &compiler) {
    return compiler.compileEntry(source, getCompilerFiles().runtime, output,
                                 options, info, said);
  });
  reply.symbol = std::move(info.symbol);
  reply.files = std::move(info.files);
  reply.diagnostics = std::move(said.entries);
  return reply;
}

/// Puts a library that was compiled into the cache. \returns where it is then.
std::string Creation::keep(const std::string &output, const Reply &reply) {
  struct stat status;
  bool isSame = !model || (fstat(model.get(), &status) == 0 &&
                           FileStamp::of(status) == stamp);
  std::vector<std::string> files;
  std::string folder = getModelFolder() + "/";
  for (const std::string &file : reply.files)
    files.push_back(file.starts_with(folder) ? file.substr(folder.size())
                                             : file);
  bool isGood;
  Hash whole = getKey(files, begin, isGood);
  if (!isSame || !isGood)
    return "";
  std::string name = source.path.empty() ? "<bytes>" : source.path;
  EntryText text = {reply.symbol, reply.diagnostics};
  renameModel(text.diagnostics, source.path, kPathMark);
  std::string path = cache->keep(whole, output, name, text);
  if (!path.empty() && !files.empty())
    cache->keepFiles(key, files);
  return path;
}

/// Takes what was compiled into `output`.
int Creation::take(const std::string &output, Reply &reply) {
  std::string path = output;
  if (cache)
    if (std::string kept = keep(output, reply); !kept.empty())
      path = kept;
  // A file system that code cannot be run from, for one.
  if (!openEntry(path, reply.symbol, operators, session).empty())
    return compileInProcess();
  append(diagnostics, reply.diagnostics);
  return LOOPC_COMPILE_OK;
}

int Creation::compile() {
  KeyLock lock;
  if (cache) {
    lock = cache->lock(key, watch);
    if (int verdict = watch.poll())
      return Watch::explain(verdict, diagnostics);
    // Another process may have compiled it meanwhile.
    if (takeFromCache())
      return LOOPC_COMPILE_OK;
  }
  WorkFolder folder;
  if (cache)
    folder = cache->makeWorkFolder();
  if (!folder) {
    cache.reset();
    const char *place = std::getenv("TMPDIR");
    folder = WorkFolder::create(place && *place ? place : "/tmp");
  }
  std::optional<Reply> reply;
  std::string output = folder ? folder.file("model.so") : "";
  if (folder)
    reply = compileTo(output);
  // A full disk is no reason to fail, nor is a linker that misses something:
  // the code can do without files.
  // A library of operators that this process has loaded may need what a worker
  // does not have, as Python.
  bool isLibraryRefused = !options.customLibraries.empty() && reply &&
                          hasError(reply->diagnostics, kBadOptionCode);
  if (!reply || isLibraryRefused ||
      hasError(reply->diagnostics, kCannotWriteCode) ||
      hasError(reply->diagnostics, kLinkFailedCode))
    return compileInProcess();
  if (reply->status == LOOPC_COMPILE_OK)
    return take(output, *reply);
  append(diagnostics, reply->diagnostics);
  return reply->status;
}

int Creation::run() {
  if (int verdict = watch.poll())
    return Watch::explain(verdict, diagnostics);
  if (int status =
          loadOperators(options.customLibraries, operators, diagnostics))
    return status;
  if (!options.chip.empty())
    return compileInProcess();
  bool isPlain;
  if (int status = openModel(isPlain))
    return status;
  if (!isPlain)
    return compileInProcess();
  cache = Cache::open(options.cache, diagnostics);
  if (!cache && !wantsWorker())
    return compileInProcess();
  if (source.network)
    if (int status = writeNetwork())
      return status;
  if (cache)
    findKey();
  if (cache && takeFromCache())
    return LOOPC_COMPILE_OK;
  return compile();
}

int capi::checkCustomOps(const std::string &path,
                         loopc_diagnostics &diagnostics) {
  std::vector<const loopc_custom_op *> operators;
  return loadOperators({path}, operators, diagnostics);
}

int capi::createSession(const Source &source,
                        const loopc_compile_options &options,
                        loopc_session &session,
                        loopc_diagnostics &diagnostics) {
  return Creation(source, options, session, diagnostics).run();
}

/// Whether `path` names a file, or none yet: what another process would open,
/// too.
static bool isPlainFile(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

int capi::compileToFile(const Source &source, int emit,
                        const std::string &output,
                        const loopc_compile_options &options,
                        loopc_diagnostics &diagnostics) {
  Watch watch(options);
  if (int verdict = watch.poll())
    return Watch::explain(verdict, diagnostics);
  bool isPlain = isPlainFile(source.path) && isPlainFile(output);
  if (wantsWorker() && isPlain && !source.network) {
    Request request;
    request.build = describeBuild();
    request.emit = emit;
    request.model = source.path;
    request.output = output;
    request.options = options;
    Descriptor model = source.path.empty() ? makeMemoryFile(source.bytes)
                                           : openToRead(source.path);
    request.isOpen = static_cast<bool>(model);
    if (model || !source.path.empty())
      if (std::optional<Reply> reply = runWorker(request, model, watch)) {
        diagnostics.entries = std::move(reply->diagnostics);
        return reply->status;
      }
  }
  return callCompiler([&](const CompilerInterface &compiler) {
    return compiler.compileToFile(source, emit, output, options, diagnostics);
  });
}
