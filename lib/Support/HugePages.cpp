//===- HugePages.cpp - A heap of huge pages -------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/HugePages.h"

#include <cstdint>
#include <cstdlib>

// The headers say which C library it is.
#if defined(__linux__) && defined(__GLIBC__)
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/// So much of the address space the heap has from the beginning. It takes
/// memory as it is used. What it takes beyond that has pages of the usual size.
static constexpr int kReserved = 512 << 20;
/// Behind that, blocks from this size on are mapped by themselves. glibc lets
/// the size grow by itself, but not if anything else is set.
static constexpr int kLargeBlock = 4 << 20;

static bool isLimited(__rlimit_resource resource) {
  rlimit limit;
  return getrlimit(resource, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

bool loopc::useHugePages() {
  if (isLimited(RLIMIT_AS) || isLimited(RLIMIT_DATA))
    return false;
  mallopt(M_TOP_PAD, kReserved);
  mallopt(M_TRIM_THRESHOLD, 2 * kReserved);
  mallopt(M_MMAP_THRESHOLD, kLargeBlock);
  // More than what is left of the heap, so that it grows.
  void *volatile block = malloc(kLargeBlock / 2);
  auto begin = reinterpret_cast<uintptr_t>(block);
  auto end = reinterpret_cast<uintptr_t>(sbrk(0));
  free(block);
  if (begin >= end || end - begin > 2u * kReserved)
    return false;
  begin &= -static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  return madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE) ==
         0;
}

#else

bool loopc::useHugePages() { return false; }

#endif
