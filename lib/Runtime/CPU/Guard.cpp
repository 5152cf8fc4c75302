//===- Guard.cpp - Buffers that end where memory is unreadable ------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Guard.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

using namespace loopc::rt;

namespace loopc::rt {
/// The addresses of a block that was freed.
struct Quarantined {
  void *begin;
  size_t bytes;
};
} // namespace loopc::rt

static constexpr unsigned char kFill = 0xA5;
static constexpr unsigned char kNewData = 0xFF;

static size_t getPageSize() {
  size_t size = getauxval(AT_PAGESZ);
  return size ? size : 4096;
}

static size_t roundUp(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// Pages of the block, the unreadable one included.
static size_t getMappedBytes(size_t bytes, size_t page) {
  return roundUp(kDataAlignment + roundUp(bytes, kDataAlignment), page) + page;
}

/// Makes the pages unreadable, and gives what they hold back to the system.
static void seal(void *begin, size_t bytes) {
  mmap(begin, bytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/// Keeps the addresses; those that were kept longest are given back for it.
static void quarantine(Heap &heap, void *begin, size_t bytes) {
  if (!heap.quarantine)
    heap.quarantine =
        static_cast<Quarantined *>(calloc(kQuarantine, sizeof(Quarantined)));
  if (!heap.quarantine) {
    munmap(begin, bytes);
    return;
  }
  Quarantined &slot = heap.quarantine[heap.numQuarantined++ % kQuarantine];
  if (slot.begin)
    munmap(slot.begin, slot.bytes);
  seal(begin, bytes);
  slot = {begin, bytes};
}

/// Records an error where what lies behind the data was written.
static void checkFill(loopc_run &run, Block *block) {
  auto *data = static_cast<const unsigned char *>(block->data());
  for (size_t at = block->bytes; at != block->capacity; ++at)
    if (data[at] != kFill) {
      recordError(run, LOOPC_ERROR_RUNTIME,
                  "the model wrote byte %zu of a buffer of %zu bytes", at,
                  block->bytes);
      return;
    }
}

static void destroyGuarded(loopc_run &run, Block *block) {
  checkFill(run, block);
  quarantine(run.heap, block->raw, getMappedBytes(block->bytes, getPageSize()));
}

int32_t loopc::rt::checkGuardedBlocks(loopc_run &run) {
  for (Block *block = run.heap.live; block; block = block->next)
    if (block->destroy == destroyGuarded)
      checkFill(run, block);
  return getStatus(run);
}

Block *loopc::rt::createGuardedBlock(size_t bytes) {
  size_t page = getPageSize();
  size_t mapped = getMappedBytes(bytes, page);
  void *raw = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED)
    return nullptr;
  char *end = static_cast<char *>(raw) + mapped - page;
  if (mprotect(end, page, PROT_NONE) != 0) {
    munmap(raw, mapped);
    return nullptr;
  }
  size_t room = roundUp(bytes, kDataAlignment);
  auto *block = reinterpret_cast<Block *>(end - room - kDataAlignment);
  block->raw = raw;
  block->capacity = room;
  block->sizeClass = kNumSizeClasses;
  block->destroy = destroyGuarded;
  block->isScratch = false;
  memset(block->data(), kNewData, bytes);
  memset(static_cast<char *>(block->data()) + bytes, kFill, room - bytes);
  return block;
}

void loopc::rt::releaseQuarantine(Heap &heap) {
  if (!heap.quarantine)
    return;
  for (size_t k = 0; k < kQuarantine; ++k)
    if (heap.quarantine[k].begin)
      munmap(heap.quarantine[k].begin, heap.quarantine[k].bytes);
  free(heap.quarantine);
  heap.quarantine = nullptr;
}
