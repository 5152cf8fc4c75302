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
#include "ModelKey.h"
#include "Successor.h"
#include "Worker.h"

#include "loopc/Support/CompilerThread.h"
#include "loopc/Support/CustomLibrary.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <sched.h>
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

namespace {
/// One session on its way.
class Creation {
public:
  Creation(const Source &source, const loopc_compile_options &options,
           loopc_session &session, loopc_diagnostics &diagnostics)
      : source(source), options(options), session(session),
        diagnostics(diagnostics), watch(options) {
    key.begin = getNow();
  }

  int run();

private:
  int chooseTier();
  int openModel(bool &isPlain);
  int writeNetwork();
  void findKey();
  bool open(const Hash &wanted, loopc_session &opened);
  bool takeFromCache();
  void succeed(const Hash &wanted);
  int compile();
  int compileInProcess();
  std::optional<Reply> compileTo(const std::string &output);
  int take(const std::string &output, Reply &reply);
  Request makeRequest(const std::string &output) const;
  const Descriptor &getGiven();

  std::string getModelFolder() const;

  Source source;
  loopc_compile_options options;
  loopc_session &session;
  loopc_diagnostics &diagnostics;
  Watch watch;

  std::string written; ///< the network
  Descriptor model;    ///< where it is a file
  Descriptor bytes;    ///< as a file, where a worker was given it
  std::optional<Cache> cache;
  ModelKey key;
  std::unique_ptr<WorkerProcess> worker; ///< its end is waited for at last
  bool hasTiers = false; ///< code that is made quickly will do at first
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
  key.stamp = FileStamp::of(status);
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
  key.name = source.path;
  key.folder = getModelFolder();
  key.isStrict = options.strictCache;
  key.settings = hashSettings(options, name, describeCpu(), describeBuild());
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
    key.settings = combine(key.settings, {}, libraries);
  if (source.path.empty())
    key.contents = hashOf(source.bytes);
  else if (!cache->hash(model.get(), options.strictCache, key.contents)) {
    cache.reset();
    return;
  }
  key.alone = combine(key.settings, key.contents, {});
}

/// Looks for the library of a key, and opens it.
bool Creation::open(const Hash &wanted, loopc_session &opened) {
  std::optional<Entry> entry =
      cache->find(wanted, options.strictCache, diagnostics);
  if (!entry)
    return false;
  if (!openEntry(entry->path, entry->text.symbol, operators, opened).empty()) {
    cache->drop(wanted);
    return false;
  }
  std::vector<loopc_diagnostics::Entry> &said = entry->text.diagnostics;
  renameModel(said, kPathMark, source.path);
  append(diagnostics, said);
  return true;
}

bool Creation::takeFromCache() {
  auto files = cache->findFiles(key.alone);
  std::optional<Hash> wanted =
      key.find(*cache, files ? *files : std::vector<std::string>(), INT64_MAX);
  if (!wanted)
    return false;
  if (open(*wanted, session))
    return true;
  if (!hasTiers || !open(getQuickKey(*wanted), session))
    return false;
  succeed(*wanted);
  // Who makes it may be gone.
  if (cache->tryLock(getLaterKey(key.alone)))
    startLater(makeRequest(""), getGiven());
  return true;
}

/// The session gets optimised code when that has this key.
void Creation::succeed(const Hash &wanted) {
  session.successor =
      std::make_unique<Successor>(*cache, wanted, operators, session.library);
}

int Creation::compileInProcess() {
  return callCompiler([&](const CompilerInterface &compiler) {
    return compiler.compileInProcess(source, options, session, diagnostics);
  });
}

/// What a worker is asked; it writes `output`.
Request Creation::makeRequest(const std::string &output) const {
  Request request;
  request.build = describeBuild();
  request.model = source.path;
  request.isOpen = true;
  request.output = output;
  request.runtime = getCompilerFiles().runtime;
  request.options = options;
  if (hasTiers && cache) {
    request.cache = cache->getFolder();
    Writer writer;
    ModelKey::visit(writer, key);
    request.key = writer.take();
  }
  return request;
}

/// The file that a worker reads the model from.
const Descriptor &Creation::getGiven() {
  if (source.path.empty() && !bytes)
    bytes = makeMemoryFile(source.bytes);
  return source.path.empty() ? bytes : model;
}

/// Compiles into the file `output`; nothing where that takes a worker, and
/// there is none.
std::optional<Reply> Creation::compileTo(const std::string &output) {
  if (wantsWorker() && getGiven())
    if (std::optional<Reply> reply =
            runWorker(makeRequest(output), getGiven(), watch, worker))
      return reply;
  // Without a cache there is no reason to write files.
  if (!cache)
    return std::nullopt;
  Reply reply;
  EntryInfo info;
  loopc_diagnostics said;
  reply.status = callCompiler([&](const CompilerInterface &compiler) {
    return compiler.compileEntry(source, getCompilerFiles().runtime, output,
                                 options, info, said, nullptr);
  });
  reply.symbol = std::move(info.symbol);
  reply.files = std::move(info.files);
  reply.diagnostics = std::move(said.entries);
  return reply;
}

/// Takes what was compiled into `output`.
int Creation::take(const std::string &output, Reply &reply) {
  std::string path = output;
  if (cache)
    if (std::string kept =
            key.keep(*cache, model, output, reply, reply.isQuick);
        !kept.empty())
      path = kept;
  // A file system that code cannot be run from, for one.
  if (!openEntry(path, reply.symbol, operators, session).empty())
    return compileInProcess();
  append(diagnostics, reply.diagnostics);
  if (reply.isQuick && cache)
    if (auto wanted = key.find(*cache, key.getRelative(reply.files), INT64_MAX))
      succeed(*wanted);
  return LOOPC_COMPILE_OK;
}

int Creation::compile() {
  KeyLock lock;
  if (cache) {
    lock = cache->lock(key.alone, watch);
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

/// Whether this process may run on two cores.
static bool hasTwoCores() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof(cores), &cores) != 0 ||
         CPU_COUNT(&cores) > 1;
}

/// Whether the options want code that is made quickly, for good or at first.
int Creation::chooseTier() {
  std::optional<Tier> tier = findTier(options.tier);
  if (!tier) {
    diagnostics.addError(
        kBadOptionCode,
        "LOOPC_TIER is none of auto, off, background and quick");
    return LOOPC_COMPILE_ERROR_ARGUMENT;
  }
  options.quickCode = *tier == Tier::Quick;
  // With one core runs and what makes optimised code would wait for each other.
  bool isAuto = *tier == Tier::Auto && hasTwoCores();
  if (isAuto)
    options.tier = kAutoTier;
  // Where all products are contracted, bits depend on LLVM's passes. Who
  // measures or checks code wants the code that stays.
  hasTiers = (isAuto || *tier == Tier::Background) && wantsWorker() &&
             options.optLevel >= 2 && options.chip.empty() &&
             !options.fpContract && !options.profile && !options.checkAccesses;
  return LOOPC_COMPILE_OK;
}

int Creation::run() {
  if (int verdict = watch.poll())
    return Watch::explain(verdict, diagnostics);
  if (int status = chooseTier())
    return status;
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
    std::unique_ptr<WorkerProcess> worker;
    if (model || !source.path.empty())
      if (std::optional<Reply> reply =
              runWorker(request, model, watch, worker)) {
        diagnostics.entries = std::move(reply->diagnostics);
        return reply->status;
      }
  }
  return callCompiler([&](const CompilerInterface &compiler) {
    return compiler.compileToFile(source, emit, output, options, diagnostics);
  });
}
