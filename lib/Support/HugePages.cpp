//===- HugePages.cpp - A heap of huge pages -------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/HugePages.h"

#include "llvm/Support/MathExtras.h"

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
/// More than glibc leaves at the heap's end when it grows (M_TOP_PAD's
/// default).
static constexpr int kSmallBlock = 192 << 10;
/// What a block of glibc's takes beside its bytes, in front of them.
static constexpr int kHeader = 2 * sizeof(size_t);
static constexpr uint64_t kHugePage = 2 << 20;
/// Behind that, blocks from this size on are mapped by themselves. glibc lets
/// the size grow by itself, but not if anything else is set.
static constexpr int kLargeBlock = 4 << 20;

/// By so much it grows then. Where the system promises no more memory than it
/// has (vm.overcommit_memory=2), it could not grow by as much again.
static constexpr int kGrowth = 16 << 20;

static bool isLimited(__rlimit_resource resource) {
  rlimit limit;
  return getrlimit(resource, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

/// What glibc would come to by itself, as it no longer does after a mallopt().
static bool keepUsualPages() {
  mallopt(M_TRIM_THRESHOLD, 2 * kLargeBlock);
  return false;
}

bool loopc::useHugePages() {
  if (isLimited(RLIMIT_AS) || isLimited(RLIMIT_DATA))
    return false;
  mallopt(M_TOP_PAD, kReserved);
  mallopt(M_TRIM_THRESHOLD, 2 * kReserved);
  mallopt(M_MMAP_THRESHOLD, kLargeBlock);
  // More than what is left of the heap, so that it grows, and little more: what
  // is behind the block is written to, and its huge page is lost by that.
  void *volatile block = malloc(kSmallBlock);
  auto begin = reinterpret_cast<uintptr_t>(block);
  auto end = reinterpret_cast<uintptr_t>(sbrk(0));
  free(block);
  mallopt(M_TOP_PAD, kGrowth);
  if (!block || begin >= end || end - begin > 2u * kReserved)
    return keepUsualPages();
  uintptr_t first = llvm::alignTo(begin + kSmallBlock, kHugePage);
  if (madvise(reinterpret_cast<void *>(first), end - first, MADV_HUGEPAGE) != 0)
    return keepUsualPages();
  // In front of the first huge page each small one would be a fault of its own.
  // What is not written to takes no memory.
  static void *volatile unused = nullptr;
  if (!unused)
    unused = malloc(first - begin - kHeader);
  return true;
}

#else

bool loopc::useHugePages() { return false; }

#endif
