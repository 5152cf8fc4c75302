//===- Memory.cpp - Memory of a run ---------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include <sched.h>
#include <stdlib.h>

using namespace loopc::rt;

namespace {

/// What a run may keep cached however little it ever held.
constexpr uint64_t kMinCachedBytes = 1 << 20;

/// Larger requests are mistakes; leaves room for header and alignment.
constexpr int64_t kMaxBytes = INT64_MAX - 4096;

/// malloc aligns to 16 bytes on every 64-bit target: this much more always
/// holds an aligned block.
constexpr size_t kSlack = 2 * kDataAlignment - 16;

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LOOPC_RT_NO_CACHE 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define LOOPC_RT_NO_CACHE 1
#endif
#ifdef LOOPC_RT_NO_CACHE
/// A cached block would hide a use after free.
constexpr bool kCaching = false;
#else
constexpr bool kCaching = true;
#endif

struct SizeClass {
  uint32_t index;  ///< kNumSizeClasses: too large to be cached
  size_t capacity; ///< bytes that a block of the class holds
};

} // namespace

static SizeClass getSizeClass(size_t bytes) {
  if (bytes <= 1024) {
    uint32_t index = bytes == 0 ? 1 : static_cast<uint32_t>((bytes + 63) / 64);
    return {index, static_cast<size_t>(index) * 64};
  }
  // 2^log < bytes <= 2^(log + 1), cut into quarters.
  uint32_t log = 63 - static_cast<uint32_t>(__builtin_clzll(bytes - 1));
  if (log >= 32)
    return {kNumSizeClasses, bytes};
  uint32_t quarter = static_cast<uint32_t>((bytes - 1) >> (log - 2)) & 3;
  return {17 + (log - 10) * 4 + quarter, static_cast<size_t>(quarter + 5)
                                             << (log - 2)};
}

namespace {

/// Holds the heap's lock while it lives, if more than one thread may come.
class HeapLock {
public:
  explicit HeapLock(loopc_run &run)
      : lock(run.concurrent ? &run.heap.lock : nullptr) {
    acquire();
  }
  ~HeapLock() { release(); }
  HeapLock(const HeapLock &) = delete;
  HeapLock &operator=(const HeapLock &) = delete;

  void acquire() {
    if (!lock)
      return;
    // The sections are some dozen instructions long: spin, but let a thread
    // that lost its core inside one go on.
    for (uint32_t tries = 0;
         __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) != 0; ++tries)
      if (tries >= 64)
        sched_yield();
  }
  void release() {
    if (lock)
      __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
  }

private:
  int32_t *lock;
};

} // namespace

static uint64_t getFootprint(size_t bytes) { return bytes + kDataAlignment; }

static void linkBlock(Heap &heap, Block *block) {
  block->prev = nullptr;
  block->next = heap.live;
  if (heap.live)
    heap.live->prev = block;
  heap.live = block;
}

static void unlinkBlock(Heap &heap, Block *block) {
  if (block->prev)
    block->prev->next = block->next;
  else
    heap.live = block->next;
  if (block->next)
    block->next->prev = block->prev;
  heap.liveBytes -= getFootprint(block->bytes);
  if (block->byModel)
    heap.modelBytes -= block->bytes;
}

static void freeCache(Heap &heap) {
  if (heap.cachedBytes == 0)
    return;
  for (Block *&list : heap.cache) {
    while (Block *block = list) {
      list = block->next;
      free(block->raw);
    }
  }
  heap.cachedBytes = 0;
}

/// A block from malloc, or null.
static Block *createBlock(const SizeClass &sizeClass) {
  void *raw = malloc(sizeClass.capacity + kSlack);
  if (!raw)
    return nullptr;
  uintptr_t address = reinterpret_cast<uintptr_t>(raw);
  uintptr_t aligned = (address + kDataAlignment - 1) & ~(kDataAlignment - 1);
  Block *block =
      reinterpret_cast<Block *>(static_cast<char *>(raw) + (aligned - address));
  block->raw = raw;
  block->capacity = sizeClass.capacity;
  block->sizeClass = sizeClass.index;
  return block;
}

/// What may be held, live and cached: the cache alone is no reason for a new
/// peak, except for what rounding up to size classes adds.
static uint64_t getHeldLimit(const Heap &heap) {
  return heap.peakBytes + heap.peakBytes / 4 + kMinCachedBytes;
}

/// A block of the class from the cache, or a new one; null where there is no
/// memory. Called and left with `lock` held, which is open in between. The
/// block is counted in liveBytes already.
static Block *obtainBlock(loopc_run &run, const SizeClass &sizeClass,
                          HeapLock &lock) {
  Heap &heap = run.heap;
  if (sizeClass.index < kNumSizeClasses) {
    if (Block *block = heap.cache[sizeClass.index]) {
      heap.cache[sizeClass.index] = block->next;
      heap.cachedBytes -= block->capacity;
      return block;
    }
  }
  uint64_t held = heap.liveBytes + heap.cachedBytes;
  if (held > getHeldLimit(heap) || (run.memoryLimit && held > run.memoryLimit))
    freeCache(heap);
  lock.release();
  Block *block = createBlock(sizeClass);
  lock.acquire();
  if (!block && heap.cachedBytes != 0) {
    freeCache(heap);
    block = createBlock(sizeClass);
  }
  return block;
}

void *loopc::rt::allocate(loopc_run &run, int64_t bytes, bool byModel) {
  if (bytes < 0) {
    recordError(run, LOOPC_ERROR_MEMORY,
                "out of memory: a value has more bytes than can be counted");
    return nullptr;
  }
  if (bytes > kMaxBytes) {
    recordError(run, LOOPC_ERROR_MEMORY,
                "out of memory: %lld bytes cannot be allocated",
                static_cast<long long>(bytes));
    return nullptr;
  }
  size_t size = static_cast<size_t>(bytes);
  uint64_t footprint = getFootprint(size);
  SizeClass sizeClass = getSizeClass(size);
  Heap &heap = run.heap;
  HeapLock lock(run);
  uint64_t held = heap.liveBytes;
  if (run.memoryLimit &&
      (footprint > run.memoryLimit || held > run.memoryLimit - footprint)) {
    recordError(run, LOOPC_ERROR_MEMORY,
                "out of memory: %zu bytes more than the %llu bytes held exceed "
                "the limit of %llu bytes",
                size, static_cast<unsigned long long>(held),
                static_cast<unsigned long long>(run.memoryLimit));
    return nullptr;
  }
  heap.liveBytes += footprint;
  if (heap.liveBytes > heap.peakBytes)
    heap.peakBytes = heap.liveBytes;
  Block *block = obtainBlock(run, sizeClass, lock);
  if (!block) {
    heap.liveBytes -= footprint;
    recordError(run, LOOPC_ERROR_MEMORY,
                "out of memory: the system has no %zu bytes", size);
    return nullptr;
  }
  block->bytes = size;
  block->byModel = byModel;
  block->isPromised = false;
  block->owners = 1;
  linkBlock(heap, block);
  if (byModel) {
    heap.modelBytes += size;
    ++run.statistics.allocations;
    if (heap.modelBytes > run.statistics.peak_bytes)
      run.statistics.peak_bytes = heap.modelBytes;
  }
  return block->data();
}

Block *loopc::rt::findBlock(loopc_run &run, const void *data) {
  HeapLock lock(run);
  for (Block *block = run.heap.live; block; block = block->next)
    if (block->data() == data)
      return block;
  return nullptr;
}

void loopc::rt::detachBlock(loopc_run &run, Block *block) {
  HeapLock lock(run);
  unlinkBlock(run.heap, block);
}

void loopc::rt::freeDetachedBlock(Block *block) { free(block->raw); }

void loopc::rt::releaseHeap(loopc_run &run) {
  Heap &heap = run.heap;
  while (Block *block = heap.live) {
    heap.live = block->next;
    free(block->raw);
  }
  heap.liveBytes = 0;
  freeCache(heap);
}

extern "C" void *loopc_rt_alloc(loopc_run *run, int64_t bytes) {
  return allocate(*run, bytes, /*byModel=*/true);
}

extern "C" void loopc_rt_retain(loopc_run *run, void *pointer) {
  if (!pointer)
    return;
  HeapLock lock(*run);
  ++Block::of(pointer)->owners;
}

extern "C" void loopc_rt_free(loopc_run *run, void *pointer) {
  if (!pointer)
    return;
  Block *block = Block::of(pointer);
  Heap &heap = run->heap;
  {
    HeapLock lock(*run);
    if (--block->owners != 0)
      return;
    unlinkBlock(heap, block);
    if (block->byModel)
      ++run->statistics.deallocations;
    if (kCaching && block->sizeClass < kNumSizeClasses &&
        heap.liveBytes + heap.cachedBytes + block->capacity <=
            getHeldLimit(heap)) {
      block->next = heap.cache[block->sizeClass];
      heap.cache[block->sizeClass] = block;
      heap.cachedBytes += block->capacity;
      return;
    }
  }
  free(block->raw);
}

/// Pieces of the arena of strings double from the first size to the second.
static constexpr size_t kFirstPiece = 4096;
static constexpr size_t kLargestPiece = 1 << 20;

extern "C" char *loopc_rt_string_alloc(loopc_run *run, int64_t bytes) {
  StringArena &arena = run->strings;
  {
    HeapLock lock(*run);
    if (bytes >= 0 && static_cast<uint64_t>(bytes) <= arena.room) {
      char *text = arena.next;
      // What is empty has an address too.
      static char empty;
      if (!text)
        return &empty;
      arena.next += bytes;
      arena.room -= static_cast<size_t>(bytes);
      return text;
    }
  }
  size_t piece = arena.lastPiece ? arena.lastPiece * 2 : kFirstPiece;
  if (piece > kLargestPiece)
    piece = kLargestPiece;
  // A text that would take a good part of a piece has memory of its own; one
  // that is negative is refused.
  bool isOwn = bytes < 0 || static_cast<size_t>(bytes) > piece / 4;
  auto *data = static_cast<char *>(
      allocate(*run, isOwn ? bytes : static_cast<int64_t>(piece),
               /*byModel=*/false));
  if (!data || isOwn)
    return data;
  HeapLock lock(*run);
  arena.next = data + bytes;
  arena.room = piece - static_cast<size_t>(bytes);
  arena.lastPiece = piece;
  return data;
}
