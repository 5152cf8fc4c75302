//===- Successor.cpp - Code that takes the place of another ---------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Successor.h"

#include <chrono>
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace loopc::capi;

Successor::~Successor() {
  if (library)
    dlclose(library);
}

/// Gives the memory of a library's code and weights back; who reads them all
/// the same gets them from the file. What the linker or the library itself has
/// written stays.
static void dropPages(void *library) {
  link_map *wanted = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &wanted) != 0)
    return;
  auto visit = [](dl_phdr_info *info, size_t, void *address) {
    if (info->dlpi_addr != *static_cast<const ElfW(Addr) *>(address))
      return 0;
    auto page = static_cast<uintptr_t>(getpagesize());
    for (const ElfW(Phdr) *part = info->dlpi_phdr;
         part != info->dlpi_phdr + info->dlpi_phnum; ++part) {
      if (part->p_type != PT_LOAD || (part->p_flags & PF_W))
        continue;
      // Pages at the ends may belong to neighbours that are written.
      uintptr_t begin = info->dlpi_addr + part->p_vaddr,
                end = begin + part->p_filesz;
      begin = (begin + page - 1) / page * page;
      end = end / page * page;
      if (begin < end)
        madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
    }
    return 1;
  };
  ElfW(Addr) address = wanted->l_addr;
  dl_iterate_phdr(visit, &address);
}

void Successor::open(const Entry &entry) {
  loopc_session session;
  if (!openEntry(entry.path, entry.text.symbol, operators, session).empty())
    return;
  library = std::exchange(session.library, nullptr);
  optimized.store(session.model, std::memory_order_release);
  dropPages(quick);
}

void Successor::lookForFailure(int64_t now) {
  constexpr int64_t kEvery = 1'000'000'000;
  if (now < failureDue)
    return;
  failureDue = now + kEvery;
  if (!hasFailedInBackground(cache.getFolder(), key))
    return;
  failureDue = kNever;
  std::string line = "loopc: warning: optimised code of a model could not be "
                     "made; " +
                     cache.getFolder() +
                     "/background.log says why. The session goes on with code "
                     "that runs slower\n";
  // Where nobody can read it, nothing is to be done.
  [[maybe_unused]] ssize_t written =
      write(STDERR_FILENO, line.data(), line.size());
}

void Successor::look() {
  constexpr int64_t kEvery = 10'000'000;
  int64_t now = std::chrono::steady_clock::now().time_since_epoch() /
                std::chrono::nanoseconds(1);
  int64_t last = due.load(std::memory_order_relaxed);
  // One of the threads looks, and nobody once it is there.
  if (now < last ||
      !due.compare_exchange_strong(last, kNever, std::memory_order_acquire))
    return;
  try {
    loopc_diagnostics said;
    if (std::optional<Entry> entry = cache.find(key, /*isStrict=*/false, said))
      open(*entry);
    else {
      lookForFailure(now);
      due.store(now + kEvery, std::memory_order_release);
    }
  } catch (const std::bad_alloc &) {
    // The run goes on with the code that there is.
  }
}
