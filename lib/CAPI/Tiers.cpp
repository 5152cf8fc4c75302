//===- Tiers.cpp - Optimised code that is made in the background ----------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interface.h"
#include "ModelKey.h"
#include "Successor.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dirent.h>
#include <exception>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace loopc::capi;

std::optional<Tier> loopc::capi::findTier(std::string_view name) {
  if (name.empty())
    if (const char *given = std::getenv("LOOPC_TIER"))
      name = given;
  static constexpr std::pair<std::string_view, Tier> kTiers[] = {
      {"", Tier::Off},
      {kAutoTier, Tier::Auto},
      {"off", Tier::Off},
      {"background", Tier::Background},
      {"quick", Tier::Quick}};
  for (auto [known, tier] : kTiers)
    if (known == name)
      return tier;
  return std::nullopt;
}

namespace {
/// What is said in the background, for whoever looks why there is no optimised
/// code: a line for each model whose compilation did not end well, and what it
/// said on standard error. The one whose turn it is writes.
class Log {
public:
  void open(const std::string &folder, const std::string &model,
            const Hash &key);
  /// Nothing is to be told of the model.
  void forget();

private:
  std::string path;
  Descriptor file;
  off_t before = 0; ///< the size without what is said of the model
};

/// Holds what keeps others from it until the end.
class CachedWork : public BackgroundWork {
public:
  CachedWork(Cache cache, ModelKey key)
      : cache(std::move(cache)), key(std::move(key)) {}

  /// False where it is not to be done.
  bool begin(bool waits, bool &isBusy);
  void finish(const Reply &reply) override;

private:
  Cache cache;
  Log log;
  ModelKey key;
  KeyLock turn, own;
  WorkFolder folder;
};
} // namespace

static std::string getLogPath(const std::string &folder) {
  return folder + "/background.log";
}

/// How the line of a compilation ends.
static std::string getLogEnd(const Hash &key) { return " to " + toHex(key); }

/// What is before the number of the process in its line.
static constexpr std::string_view kLogProcess = " process ";

void Log::open(const std::string &folder, const std::string &model,
               const Hash &key) {
  constexpr off_t kMost = 1 << 20;
  path = getLogPath(folder);
  file = Descriptor(
      ::open(path.c_str(),
             O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  struct stat status;
  if (!file || fstat(file.get(), &status) != 0)
    return;
  before = status.st_size;
  if (before > kMost && ftruncate(file.get(), 0) == 0)
    before = 0;
  dup2(file.get(), STDERR_FILENO);
  char now[32] = "";
  time_t seconds = std::time(nullptr);
  tm local;
  if (localtime_r(&seconds, &local))
    std::strftime(now, sizeof(now), "%Y-%m-%d %H:%M:%S", &local);
  std::fprintf(stderr, "%s%s%d began to optimise %s%s\n", now,
               kLogProcess.data(), getpid(),
               model.empty() ? "a model of bytes" : model.c_str(),
               getLogEnd(key).c_str());
}

bool loopc::capi::hasFailedInBackground(const std::string &folder,
                                        const Hash &key) {
  Descriptor file = openToRead(getLogPath(folder));
  std::string text;
  if (!file || !readSmall(file.get(), text))
    return false;
  size_t end = text.rfind(getLogEnd(key) + "\n");
  if (end == std::string::npos)
    return false;
  size_t begin = text.rfind('\n', end);
  begin = text.find(kLogProcess, begin == std::string::npos ? 0 : begin);
  if (begin >= end)
    return false;
  pid_t process = std::atoi(text.c_str() + begin + kLogProcess.size());
  return process > 0 && kill(process, 0) != 0 && errno == ESRCH;
}

void Log::forget() {
  if (!file || ftruncate(file.get(), before) != 0 || before != 0)
    return;
  unlink(path.c_str());
}

/// This process runs where no other wants to.
static void lowerPriority() {
  constexpr int kNice = 10;
  // Linux has a priority for each thread.
  DIR *threads = opendir("/proc/self/task");
  while (const dirent *thread = threads ? readdir(threads) : nullptr)
    if (int number = std::atoi(thread->d_name))
      setpriority(PRIO_PROCESS, static_cast<id_t>(number), kNice);
  if (threads)
    closedir(threads);
}

bool CachedWork::begin(bool waits, bool &isBusy) {
  own = cache.tryLock(getLaterKey(key.alone));
  if (!own)
    return false;
  turn = cache.takeTurn(waits);
  isBusy = !turn;
  loopc_diagnostics said;
  // Meanwhile somebody may have compiled it.
  auto files = cache.findFiles(key.alone);
  std::optional<Hash> whole =
      key.find(cache, files ? *files : std::vector<std::string>(), INT64_MAX);
  if (!turn || !whole || cache.find(*whole, /*isStrict=*/false, said))
    return false;
  folder = cache.makeWorkFolder();
  output = folder ? folder.file("model.so") : "";
  if (folder)
    log.open(cache.getFolder(), key.name, *whole);
  return bool(folder);
}

void CachedWork::finish(const Reply &reply) {
  if (reply.status != LOOPC_COMPILE_OK) {
    for (const loopc_diagnostics::Entry &entry : reply.diagnostics)
      std::fprintf(stderr, "%s\n", entry.text.c_str());
    return;
  }
  Descriptor model;
  if (!key.name.empty())
    model = Descriptor(dup(kModelDescriptor));
  if (key.keep(cache, model, output, reply, /*isQuick=*/false).empty())
    std::fprintf(stderr, "the code is not kept: the model has changed, or the "
                         "cache cannot be written\n");
  else
    log.forget();
}

extern "C" BackgroundWork *loopc_background_begin(const Request *request,
                                                  bool waits, bool *isBusy) {
  *isBusy = false;
  lowerPriority();
  try {
    ModelKey key;
    Reader reader(request->key);
    ModelKey::visit(reader, key);
    loopc_diagnostics said;
    std::optional<Cache> cache = Cache::open(request->cache, said);
    if (!reader.isGood() || !cache)
      return nullptr;
    auto work = std::make_unique<CachedWork>(std::move(*cache), std::move(key));
    return work->begin(waits, *isBusy) ? work.release() : nullptr;
  } catch (const std::exception &) {
    return nullptr;
  }
}
