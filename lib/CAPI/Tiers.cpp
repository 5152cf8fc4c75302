//===- Tiers.cpp - Optimised code that is made in the background ----------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interface.h"
#include "ModelKey.h"

#include <cstdlib>
#include <dirent.h>
#include <exception>
#include <sys/resource.h>
#include <unistd.h>

using namespace loopc::capi;

std::optional<Tier> loopc::capi::findTier(std::string_view name) {
  if (name.empty())
    if (const char *given = std::getenv("LOOPC_TIER"))
      name = given;
  if (name == "off" || name.empty())
    return Tier::Off;
  if (name == "background")
    return Tier::Background;
  if (name == "quick")
    return Tier::Quick;
  return std::nullopt;
}

namespace {
/// Holds what keeps others from it until the end.
class CachedWork : public BackgroundWork {
public:
  CachedWork(Cache cache, ModelKey key)
      : cache(std::move(cache)), key(std::move(key)) {}

  /// False where it is not to be done.
  bool begin(bool waits, bool &isBusy);
  void keep(const Reply &reply) override;

private:
  Cache cache;
  ModelKey key;
  KeyLock turn, own;
  WorkFolder folder;
};
} // namespace

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
  return bool(folder);
}

void CachedWork::keep(const Reply &reply) {
  Descriptor model;
  if (!key.name.empty())
    model = Descriptor(dup(kModelDescriptor));
  key.keep(cache, model, output, reply, /*isQuick=*/false);
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
