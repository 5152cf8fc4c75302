//===- Run.h - State of one run of a model ----------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that a run of a model holds. It lives on the stack of
// loopc_model_run(); compiled code sees it as an opaque pointer.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_RUNTIME_CPU_RUN_H
#define LOOPC_LIB_RUNTIME_CPU_RUN_H

#include "loopc-rt/runtime.h"

#include <stddef.h>
#include <stdint.h>

namespace loopc::rt {

/// Alignment of everything that a run allocates.
inline constexpr size_t kDataAlignment = 64;

/// Header of a piece of run memory; the data follows kDataAlignment bytes
/// after its beginning. A live block is in the run's list, a cached one in the
/// singly linked list of its size class.
struct Block {
  Block *prev;
  Block *next;
  void *raw;          ///< what malloc returned
  size_t bytes;       ///< as asked for; of a cached block its number
  size_t capacity;    ///< bytes there is room for
  uint32_t sizeClass; ///< kNumSizeClasses where the block is not cached
  uint32_t owners;    ///< freed when the last one gives it up
  bool byModel;       ///< counted in the statistics
  bool isPromised;    ///< becomes the memory of an output
  bool isScratch;     ///< lies in a slab
  bool isLent;        ///< kept, and the kernel may take its pages
  /// Null for memory of malloc; else what gives the memory back.
  void (*destroy)(loopc_run &run, Block *block);

  void *data() { return reinterpret_cast<char *>(this) + kDataAlignment; }
  static Block *of(void *data) {
    return reinterpret_cast<Block *>(static_cast<char *>(data) -
                                     kDataAlignment);
  }
};
static_assert(sizeof(Block) <= kDataAlignment);

/// 16 classes of 64 bytes each up to 1 KiB, then 4 per power of two up to
/// 4 GiB. Class 0 is unused.
inline constexpr uint32_t kNumSizeClasses = 17 + 22 * 4;

struct SizeClass {
  uint32_t index;  ///< kNumSizeClasses: too large to be cached
  size_t capacity; ///< bytes that a block of the class holds
};
SizeClass getSizeClass(size_t bytes);

/// A huge page that scratch memory is cut from, from the front to the back.
struct Slab {
  size_t used; ///< bytes, these included
};

struct Quarantined;

/// Memory of a run. Freed blocks are kept for the next allocation of their
/// class, so that a loop that allocates and frees does not go to malloc (and,
/// for large blocks, to the kernel) on every iteration.
struct Heap {
  Block *live = nullptr;  ///< first of a doubly linked list
  uint64_t liveBytes = 0; ///< of live blocks, with headers
  uint64_t peakBytes = 0; ///< largest liveBytes so far
  uint64_t cachedBytes = 0;
  uint64_t modelBytes = 0; ///< asked for by the model and not yet freed
  int32_t lock = 0;
  Block *cache[kNumSizeClasses] = {};
  size_t numCached = 0; ///< blocks that went into the cache so far
  Slab *slab = nullptr; ///< null until it is needed
  Block *freeScratch =
      nullptr; ///< blocks of the slab, for the next of their class
  /// Set where each block lies in front of an unreadable page: see Guard.h.
  bool isGuarded = false;
  Quarantined *quarantine = nullptr; ///< kQuarantine of them, or null
  size_t numQuarantined = 0;         ///< so far
};

/// Where the texts of strings are put, one behind the other. The pieces of
/// memory are blocks of the run and end with it.
struct StringArena {
  char *next = nullptr;
  size_t room = 0;      ///< bytes behind `next`
  size_t lastPiece = 0; ///< bytes of the piece in use
};

/// No deadline.
inline constexpr int64_t kNever = INT64_MAX;

/// In place of the number of a device.
inline constexpr int32_t kAnyDevice = -1;

/// The threads of a run: see ../Threads. Null until they are needed.
struct Team;

/// What a run has on a GPU: see ../CUDA. Null until it is needed.
struct Gpu;

/// What a run was called with: see Border.h.
struct Border;
/// What a run measures: see Profile.h. Null where nobody wants to know.
struct Profile;

} // namespace loopc::rt

struct loopc_run {
  loopc_error *error = nullptr; ///< the caller's; may be null
  int32_t errorClaimed = 0;     ///< set by the first error
  /// In a parallel loop: held while an error is written, and the piece of the
  /// loop that it comes from. An error of an earlier piece takes its place.
  int32_t errorLock = 0;
  int64_t errorPiece = -1;
  int32_t status = LOOPC_OK; ///< set once the error is written
  /// The message of an error of memory says where it was.
  bool isLocated = false;
  loopc_cancel_token *cancel = nullptr;
  int (*interrupt)(void *context) = nullptr; ///< the caller's, or null
  void *interruptContext = nullptr;
  int64_t deadline = loopc::rt::kNever; ///< nanoseconds, CLOCK_MONOTONIC
  /// True where more than one thread may call into the run at a time.
  bool concurrent = false;
  int32_t numThreads = 1;
  /// The caller said no number: the run leaves other runs their cores.
  bool hasDefaultThreads = false;
  int32_t mostCores = 0;  ///< that there are for it, if it was asked
  int32_t takenCores = 0; ///< counted for it beside other runs
  /// When a loop came to a parallel loop; 0: none did, -1: long ago.
  int64_t firstLoop = 0;
  loopc::rt::Team *team = nullptr;
  /// Set where there is a team, or cores are counted.
  void (*endTeam)(loopc_run &run) = nullptr;
  /// Within a parallel loop: where the piece of the calling thread begins.
  int64_t (*findPiece)(const loopc_run &run) = nullptr;
  loopc::rt::Gpu *gpu = nullptr;
  void (*endGpu)(loopc_run &run) = nullptr; ///< set where there is a Gpu
  void *deviceProgram = nullptr;            ///< of the model; null: for the CPU
  int32_t deviceNumber = 0;
  void *stream = nullptr;          ///< the caller's, or null
  double *deviceSeconds = nullptr; ///< where the caller wants the time, or null
  /// Whether outputs that the run allocates lie on the device.
  bool returnsOnDevice = false;
  /// Whether results stay there until they are returned.
  bool keepsOnDevice = false;
  uint64_t memoryLimit = 0;
  loopc_allocator allocator = {};
  bool defaultAllocator = true;
  loopc::rt::Heap heap;
  loopc::rt::StringArena strings;
  loopc_run_statistics statistics = {};
  /// Set where outputs may be computed in memory of the caller.
  loopc::rt::Border *border = nullptr;
  /// The caller's, or null.
  void *(*placeOutput)(void *context, size_t output, const int64_t *shape,
                       int32_t rank) = nullptr;
  void *placeContext = nullptr;
  /// The caller's threads, or null.
  void (*parallelFor)(void *context, void (*work)(void *argument, size_t k),
                      void *argument, size_t count) = nullptr;
  void *parallelContext = nullptr;
  uint64_t numRandomStreams = 0; ///< begun so far
  /// The caller's, or null.
  void (*reportProfile)(void *context,
                        const loopc_run_profile *profile) = nullptr;
  void *profileContext = nullptr;
  loopc::rt::Profile *profile = nullptr;
};

namespace loopc::rt {

/// The status of `run` so far; LOOPC_OK while nothing failed.
inline int32_t getStatus(const loopc_run &run) {
  return __atomic_load_n(&run.status, __ATOMIC_ACQUIRE);
}

/// Threads of a run whose caller says no number, at most; 1 where the program
/// is linked without ../Threads.
int32_t countDefaultThreads();

/// Records `status` and a printf-formatted message, unless an error is recorded
/// already. \returns the recorded status (never LOOPC_OK).
int32_t recordError(loopc_run &run, int32_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// An element of a sequence; what an optional holds has no step of its own.
struct ElementPath {
  const ElementPath *outer; ///< null for an element of the port itself
  size_t index;
};

/// Names an input or output, or an element of one, in messages.
struct PortName {
  const char *direction; ///< "input" or "output"
  const char *name;      ///< may be null
  size_t index;
  const ElementPath *element = nullptr;
};

/// The same for a port: the message begins with "input 'x' (#0): ", and goes on
/// with "element 2: " where it is about one.
int32_t recordPortError(loopc_run &run, int32_t status, const PortName &port,
                        const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/// What memory of a run is for.
enum class MemoryUse {
  Values,  ///< it may lie in a block that has more room
  Output,  ///< it outlives the run, in a block of its size
  Scratch, ///< see loopc_rt_alloc_scratch()
};

/// Memory of the run, 64-byte aligned; null after recording an error.
/// \p byModel: count it in the statistics.
void *allocate(loopc_run &run, int64_t bytes, bool byModel,
               MemoryUse use = MemoryUse::Values);

/// The live block whose data begins at `data`, or null. Reads nothing in front
/// of `data`, which may be anybody's pointer.
Block *findBlock(loopc_run &run, const void *data);

/// Takes `block` out of the run, which no longer frees it.
void detachBlock(loopc_run &run, Block *block);

/// Frees a block that was taken out of its run.
void freeDetachedBlock(Block *block);

/// Frees whatever the run still holds.
void releaseHeap(loopc_run &run);

/// Counts `bytes` more bytes as held by the run; false after recording an error
/// where they are too many, or more than its limit.
bool reserveMemory(loopc_run &run, int64_t bytes);

/// Takes back what reserveMemory() counted.
void unreserveMemory(loopc_run &run, size_t bytes);

/// Counts memory that was reserved as the model's, in the statistics, too.
void countModelMemory(loopc_run &run, size_t bytes);

/// The model gave such memory back; it is unreserved as well.
void uncountModelMemory(loopc_run &run, size_t bytes);

/// Makes `block`, whose `destroy` is set and whose `bytes` are reserved, a
/// block of the run.
void adoptBlock(loopc_run &run, Block *block, size_t bytes, bool byModel);

/// Gives back all blocks that are not malloc's.
void releaseAdoptedBlocks(loopc_run &run);

/// Nanoseconds of CLOCK_MONOTONIC.
int64_t readClock();

/// Counts bytes moved by copies of the runtime.
inline void countCopy(loopc_run &run, uint64_t bytes) {
  if (run.concurrent)
    __atomic_fetch_add(&run.statistics.copied_bytes, bytes, __ATOMIC_RELAXED);
  else
    run.statistics.copied_bytes += bytes;
}

} // namespace loopc::rt

#endif // LOOPC_LIB_RUNTIME_CPU_RUN_H
