//===- Memory.cpp - Memory of a run ---------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Guard.h"
#include "Run.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

using namespace loopc::rt;

namespace {

/// What a run may keep cached however little it ever held.
constexpr uint64_t kMinCachedBytes = 1 << 20;

/// Larger requests are mistakes; leaves room for header and alignment.
constexpr int64_t kMaxBytes = INT64_MAX - 4096;

/// malloc aligns to 16 bytes on every 64-bit target: this much more always
/// holds an aligned block.
constexpr size_t kSlack = 2 * kDataAlignment - 16;

/// Of x86-64, and of AArch64 where small pages have 4 KiB. In small pages,
/// which lie anywhere, what a loop reads in each iteration is dropped from a
/// cache that would hold it: caches have few places for each physical address.
constexpr size_t kHugePage = 2 << 20;

/// Blocks from this size on ask for them.
constexpr size_t kMinHuge = 2 * kHugePage;

/// Scratch memory of these sizes comes from the run's slab, while it has room.
constexpr size_t kMinScratch = 512 << 10;
constexpr size_t kMaxScratch = kHugePage / 4 * 3;

/// Memory of this size and more may lie in a block of so many classes above its
/// own, four times as large, which was freed before: in a network each layer
/// has other sizes, and in blocks of its own it would write where no cache
/// holds anything (mnasnet 0.95 of the time, with a peak of 5 MB).
constexpr size_t kMinShared = 32 << 10;
constexpr uint32_t kSharedClasses = 8;

/// Blocks of these sizes, and no more bytes in all, are kept for later runs.
/// What malloc gets back of 128 KiB in all it gives back to the kernel, and
/// each of the pages is a fault in the next run.
constexpr size_t kMinKept = 8 << 10;
constexpr size_t kMaxKept = 256 << 20;
/// Where more bytes than this are kept, the kernel may take the pages of blocks
/// of the second size and more. To write pages that it may take costs as much
/// as to write them twice.
constexpr size_t kMaxHeld = 128 << 20;
constexpr size_t kMinLent = 16 << 20;

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

} // namespace

SizeClass loopc::rt::getSizeClass(size_t bytes) {
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

/// Slabs of runs that ended, for the next ones: to get a huge page from the
/// kernel takes as long as it takes to write it.
static Slab *keptSlabs[4];

/// A slab in which nothing is, or null.
static Slab *createSlab() {
  for (Slab *&kept : keptSlabs)
    if (__atomic_load_n(&kept, __ATOMIC_RELAXED))
      if (Slab *slab = __atomic_exchange_n(&kept, nullptr, __ATOMIC_ACQUIRE))
        return slab;
  void *memory = aligned_alloc(kHugePage, kHugePage);
#ifdef MADV_HUGEPAGE
  if (memory)
    madvise(memory, kHugePage, MADV_HUGEPAGE);
#endif
  return static_cast<Slab *>(memory);
}

static void releaseSlab(Slab *slab) {
  for (Slab *&kept : keptSlabs) {
    Slab *none = nullptr;
    if (__atomic_compare_exchange_n(&kept, &none, slab, false, __ATOMIC_RELEASE,
                                    __ATOMIC_RELAXED))
      return;
  }
  free(slab);
}

/// Blocks of runs that ended, for the next ones, by their classes: the kernel
/// takes longer to give pages than a model to write them.
static Block *keptBlocks[kNumSizeClasses][8];
static uint64_t keptBytes;

/// Takes what is in `slot`, or null.
static Block *takeKept(Block *&slot) {
  if (!__atomic_load_n(&slot, __ATOMIC_RELAXED))
    return nullptr;
  Block *block = __atomic_exchange_n(&slot, nullptr, __ATOMIC_ACQUIRE);
  if (block)
    __atomic_sub_fetch(&keptBytes, block->capacity, __ATOMIC_RELAXED);
  return block;
}

/// Puts a block into a free slot; false where there is none or too much is
/// kept.
static bool putKept(Block *block) {
  size_t capacity = block->capacity;
  if (__atomic_add_fetch(&keptBytes, capacity, __ATOMIC_RELAXED) <= kMaxKept)
    for (Block *&slot : keptBlocks[block->sizeClass]) {
      Block *none = nullptr;
      if (__atomic_compare_exchange_n(&slot, &none, block, false,
                                      __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        return true;
    }
  __atomic_sub_fetch(&keptBytes, capacity, __ATOMIC_RELAXED);
  return false;
}

/// Lets the kernel have the pages of large blocks if it needs them.
static void lendKept() {
#ifdef MADV_FREE
  for (uint32_t index = getSizeClass(kMinLent).index; index < kNumSizeClasses;
       ++index)
    for (Block *&slot : keptBlocks[index]) {
      Block *block = takeKept(slot);
      if (!block)
        continue;
      if (!block->isLent) {
        uintptr_t begin = reinterpret_cast<uintptr_t>(block->data());
        uintptr_t page = (begin + 4095) & ~uintptr_t(4095);
        uintptr_t end = (begin + block->capacity) & ~uintptr_t(4095);
        madvise(reinterpret_cast<void *>(page), end - page, MADV_FREE);
        block->isLent = true;
      }
      if (!putKept(block))
        free(block->raw);
    }
#endif
}

/// Keeps a block that nobody uses, or frees it.
static void keepOrFree(Block *block) {
  size_t capacity = block->capacity;
  bool isKept = kCaching && block->raw && !block->destroy &&
                block->sizeClass < kNumSizeClasses && capacity >= kMinKept &&
                capacity <= kMaxKept;
  // The last one is the likeliest to be asked for: it is not lent.
  if (isKept && capacity >= kMinLent &&
      __atomic_load_n(&keptBytes, __ATOMIC_RELAXED) + capacity > kMaxHeld)
    lendKept();
  if (!isKept || !putKept(block))
    free(block->raw);
}

/// Takes what the run holds and does not use from it. What is large is kept
/// for blocks of its class, which this run may ask for again; all is freed
/// where there is no memory otherwise.
static void emptyCache(Heap &heap, bool mayKeep) {
  if (heap.cachedBytes == 0)
    return;
  for (Block *&list : heap.cache)
    while (Block *block = list) {
      list = block->next;
      if (mayKeep)
        keepOrFree(block);
      else
        free(block->raw);
    }
  heap.cachedBytes = 0;
}

/// A kept block of the class, or null.
static Block *findKept(const SizeClass &sizeClass) {
  if (!kCaching || sizeClass.capacity < kMinKept ||
      sizeClass.index >= kNumSizeClasses)
    return nullptr;
  for (Block *&slot : keptBlocks[sizeClass.index])
    if (Block *block = takeKept(slot)) {
      block->isLent = false;
      return block;
    }
  return nullptr;
}

/// A library that is closed leaves nothing behind.
__attribute__((destructor)) static void freeKept() {
  for (auto &slots : keptBlocks)
    for (Block *&slot : slots)
      if (Block *block = takeKept(slot))
        free(block->raw);
  for (Slab *&slot : keptSlabs)
    free(__atomic_exchange_n(&slot, nullptr, __ATOMIC_ACQUIRE));
}

#ifdef LOOPC_RT_NO_CACHE
extern "C" void __asan_poison_memory_region(void const volatile *, size_t);
#endif

/// Makes what was asked for, and no more, readable: the room that a block has
/// beyond it must not hide an access there.
static void limitTo([[maybe_unused]] Block *block,
                    [[maybe_unused]] size_t size) {
#ifdef LOOPC_RT_NO_CACHE
  auto *end = static_cast<char *>(block->data()) + size;
  auto *room = static_cast<char *>(block->raw) + block->capacity + kSlack;
  __asan_poison_memory_region(end, static_cast<size_t>(room - end));
#endif
}

/// Asks for huge pages: the kernel gives them in fewer faults and lends them in
/// fewer steps, and the processor has translations of more addresses. What the
/// kernel does not follow changes nothing.
static void adviseHugePages([[maybe_unused]] void *raw,
                            [[maybe_unused]] size_t bytes) {
#ifdef MADV_HUGEPAGE
  uintptr_t begin = reinterpret_cast<uintptr_t>(raw);
  uintptr_t page = (begin + kHugePage - 1) & ~uintptr_t(kHugePage - 1);
  uintptr_t end = (begin + bytes) & ~uintptr_t(kHugePage - 1);
  if (page < end)
    madvise(reinterpret_cast<void *>(page), end - page, MADV_HUGEPAGE);
#endif
}

/// A block from malloc, or null.
static Block *createBlock(const SizeClass &sizeClass) {
  if (Block *block = findKept(sizeClass))
    return block;
  void *raw = malloc(sizeClass.capacity + kSlack);
  if (!raw)
    return nullptr;
  if (sizeClass.capacity >= kMinHuge)
    adviseHugePages(raw, sizeClass.capacity + kSlack);
  uintptr_t address = reinterpret_cast<uintptr_t>(raw);
  uintptr_t aligned = (address + kDataAlignment - 1) & ~(kDataAlignment - 1);
  Block *block =
      reinterpret_cast<Block *>(static_cast<char *>(raw) + (aligned - address));
  block->raw = raw;
  block->capacity = sizeClass.capacity;
  block->sizeClass = sizeClass.index;
  block->destroy = nullptr;
  block->isScratch = false;
  block->isLent = false;
  return block;
}

/// A block of the run's slab, or null where that is full. The heap's lock is
/// held.
static Block *obtainScratch(Heap &heap, const SizeClass &sizeClass) {
  for (Block **at = &heap.freeScratch; *at; at = &(*at)->next)
    if ((*at)->sizeClass == sizeClass.index) {
      Block *block = *at;
      *at = block->next;
      return block;
    }
  size_t bytes = kDataAlignment + sizeClass.capacity;
  if (!heap.slab) {
    heap.slab = createSlab();
    if (!heap.slab)
      return nullptr;
    heap.slab->used = kDataAlignment;
  }
  // One a run: of more than a cache holds the least stays there that is read in
  // a circle, if it is spread evenly.
  if (heap.slab->used + bytes > kHugePage)
    return nullptr;
  auto *block = reinterpret_cast<Block *>(reinterpret_cast<char *>(heap.slab) +
                                          heap.slab->used);
  heap.slab->used += bytes;
  block->raw = nullptr;
  block->capacity = sizeClass.capacity;
  block->sizeClass = sizeClass.index;
  block->destroy = nullptr;
  block->isScratch = true;
  return block;
}

/// What may be held, live and cached: the cache alone is no reason for a new
/// peak, except for what rounding up to size classes adds.
static uint64_t getHeldLimit(const Heap &heap) {
  return heap.peakBytes + heap.peakBytes / 4 + kMinCachedBytes;
}

/// A block of the cache for `sizeClass`, or null: of those with as much room,
/// or some more (`mayShare`), the one that was freed last, which the
/// processor's caches may still hold.
static Block *takeCached(Heap &heap, const SizeClass &sizeClass,
                         bool mayShare) {
  if (sizeClass.index >= kNumSizeClasses)
    return nullptr;
  uint32_t end = sizeClass.index + 1;
  if (mayShare && sizeClass.capacity >= kMinShared &&
      end + kSharedClasses < kNumSizeClasses)
    end += kSharedClasses;
  Block **best = nullptr;
  for (uint32_t index = sizeClass.index; index < end; ++index)
    if (Block **first = &heap.cache[index];
        *first && (!best || (*first)->bytes > (*best)->bytes))
      best = first;
  if (!best)
    return nullptr;
  Block *block = *best;
  *best = block->next;
  heap.cachedBytes -= block->capacity;
  return block;
}

/// A block for `size` bytes, of the class from the cache or a new one; null
/// where there is no memory. Called and left with `lock` held, which is open in
/// between. The block is counted in liveBytes already.
static Block *obtainBlock(loopc_run &run, const SizeClass &sizeClass,
                          size_t size, MemoryUse use, HeapLock &lock) {
  Heap &heap = run.heap;
  if (heap.isGuarded)
    if (Block *block = createGuardedBlock(size))
      return block;
  // A slab may hold more than is asked for.
  if (kCaching && use == MemoryUse::Scratch && !run.memoryLimit &&
      sizeClass.capacity >= kMinScratch && sizeClass.capacity <= kMaxScratch)
    if (Block *block = obtainScratch(heap, sizeClass))
      return block;
  bool mayShare = use == MemoryUse::Values && !run.memoryLimit;
  if (Block *block = takeCached(heap, sizeClass, mayShare))
    return block;
  uint64_t held = heap.liveBytes + heap.cachedBytes;
  if (held > getHeldLimit(heap) || (run.memoryLimit && held > run.memoryLimit))
    emptyCache(heap, /*mayKeep=*/run.memoryLimit == 0);
  lock.release();
  Block *block = createBlock(sizeClass);
  lock.acquire();
  if (!block && heap.cachedBytes != 0) {
    emptyCache(heap, /*mayKeep=*/false);
    block = createBlock(sizeClass);
  }
  return block;
}

/// False after recording an error for sizes that nobody can allocate.
static bool checkBytes(loopc_run &run, int64_t bytes) {
  if (bytes >= 0 && bytes <= kMaxBytes)
    return true;
  if (bytes < 0)
    recordError(run, LOOPC_ERROR_MEMORY,
                "out of memory: a value has more bytes than can be counted");
  else
    recordError(run, LOOPC_ERROR_MEMORY,
                "out of memory: %lld bytes cannot be allocated",
                static_cast<long long>(bytes));
  return false;
}

/// Counts a block of `size` bytes; false after recording an error where it
/// exceeds the limit. The heap's lock is held, here and below.
static bool reserve(loopc_run &run, size_t size) {
  Heap &heap = run.heap;
  uint64_t footprint = getFootprint(size);
  uint64_t held = heap.liveBytes;
  if (run.memoryLimit &&
      (footprint > run.memoryLimit || held > run.memoryLimit - footprint)) {
    recordError(run, LOOPC_ERROR_MEMORY,
                "out of memory: %zu bytes more than the %llu bytes held exceed "
                "the limit of %llu bytes",
                size, static_cast<unsigned long long>(held),
                static_cast<unsigned long long>(run.memoryLimit));
    return false;
  }
  heap.liveBytes += footprint;
  if (heap.liveBytes > heap.peakBytes)
    heap.peakBytes = heap.liveBytes;
  return true;
}

static void countByModel(loopc_run &run, size_t size) {
  Heap &heap = run.heap;
  heap.modelBytes += size;
  ++run.statistics.allocations;
  if (heap.modelBytes > run.statistics.peak_bytes)
    run.statistics.peak_bytes = heap.modelBytes;
}

static void addBlock(loopc_run &run, Block *block, size_t size, bool byModel) {
  block->bytes = size;
  block->byModel = byModel;
  block->isPromised = false;
  block->owners = 1;
  linkBlock(run.heap, block);
  if (byModel)
    countByModel(run, size);
}

void *loopc::rt::allocate(loopc_run &run, int64_t bytes, bool byModel,
                          MemoryUse use) {
  if (!checkBytes(run, bytes))
    return nullptr;
  size_t size = static_cast<size_t>(bytes);
  SizeClass sizeClass = getSizeClass(size);
  HeapLock lock(run);
  if (!reserve(run, size))
    return nullptr;
  Block *block = obtainBlock(run, sizeClass, size, use, lock);
  if (!block) {
    run.heap.liveBytes -= getFootprint(size);
    recordError(run, LOOPC_ERROR_MEMORY,
                "out of memory: the system has no %zu bytes", size);
    return nullptr;
  }
  if (!block->destroy)
    limitTo(block, size);
  addBlock(run, block, size, byModel);
  return block->data();
}

bool loopc::rt::reserveMemory(loopc_run &run, int64_t bytes) {
  if (!checkBytes(run, bytes))
    return false;
  HeapLock lock(run);
  return reserve(run, static_cast<size_t>(bytes));
}

void loopc::rt::unreserveMemory(loopc_run &run, size_t bytes) {
  HeapLock lock(run);
  run.heap.liveBytes -= getFootprint(bytes);
}

void loopc::rt::countModelMemory(loopc_run &run, size_t bytes) {
  HeapLock lock(run);
  countByModel(run, bytes);
}

void loopc::rt::uncountModelMemory(loopc_run &run, size_t bytes) {
  HeapLock lock(run);
  run.heap.modelBytes -= bytes;
  run.heap.liveBytes -= getFootprint(bytes);
  ++run.statistics.deallocations;
}

void loopc::rt::adoptBlock(loopc_run &run, Block *block, size_t bytes,
                           bool byModel) {
  HeapLock lock(run);
  addBlock(run, block, bytes, byModel);
}

void loopc::rt::releaseAdoptedBlocks(loopc_run &run) {
  Block *next;
  for (Block *block = run.heap.live; block; block = next) {
    next = block->next;
    if (!block->destroy)
      continue;
    unlinkBlock(run.heap, block);
    block->destroy(run, block);
  }
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

void loopc::rt::freeDetachedBlock(Block *block) { keepOrFree(block); }

void loopc::rt::releaseHeap(loopc_run &run) {
  Heap &heap = run.heap;
  while (Block *block = heap.live) {
    heap.live = block->next;
    if (block->destroy)
      block->destroy(run, block);
    else
      keepOrFree(block);
  }
  releaseQuarantine(heap);
  if (heap.slab)
    releaseSlab(heap.slab);
  heap.slab = nullptr;
  heap.freeScratch = nullptr;
  heap.liveBytes = 0;
  emptyCache(heap, /*mayKeep=*/true);
}

extern "C" void *loopc_rt_alloc(loopc_run *run, int64_t bytes) {
  return allocate(*run, bytes, /*byModel=*/true);
}

extern "C" void *loopc_rt_alloc_scratch(loopc_run *run, int64_t bytes) {
  return allocate(*run, bytes, /*byModel=*/true, MemoryUse::Scratch);
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
    if (block->destroy) {
      block->destroy(*run, block);
      return;
    }
    if (block->isScratch) {
      block->next = heap.freeScratch;
      heap.freeScratch = block;
      return;
    }
    if (kCaching && block->sizeClass < kNumSizeClasses &&
        heap.liveBytes + heap.cachedBytes + block->capacity <=
            getHeldLimit(heap)) {
      block->next = heap.cache[block->sizeClass];
      block->bytes = heap.numCached++;
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
