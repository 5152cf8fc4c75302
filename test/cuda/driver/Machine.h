//===- Machine.h - Decoded code and the threads that run it --- -*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function of a module becomes an array of instructions, each with the
// function that executes it. A frame is an array of 64-bit slots: constants and
// registers alike, so that every operand is the number of a slot.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_TEST_CUDA_MACHINE_H
#define LOOPC_TEST_CUDA_MACHINE_H

#include "Memory.h"
#include "Ptx.h"
#include "Races.h"

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <set>

namespace fakecuda {

struct Inst;
struct Thread;
struct Group;
struct Launch;
struct Code;

/// Executes an instruction and returns the next one. Null: the thread goes on
/// later, at Thread::pc, or has ended.
using Exec = const Inst *(*)(const Inst *I, uint64_t *R, Thread &T);
/// Executes an instruction for the lanes of a warp that waited for one another.
using Collect = void (*)(Thread *const *lanes, uint32_t mask);

struct Inst {
  Exec exec = nullptr;
  int32_t d = 0, a = 0, b = 0, c = 0; ///< slots
  int32_t e = 0;                      ///< a fourth source or a second result
  int32_t guard = -1;                 ///< slot of the predicate
  bool guardNegated = false;
  bool meetsAnywhere = false; ///< lanes that wait may do so at other ones, too
  uint8_t lanes = 1;          ///< elements of a vector
  uint16_t flags = 0;
  uint32_t cache = 0; ///< number of the memory instruction
  uint64_t imm = 0;
  const int32_t *list = nullptr; ///< slots of a vector, a call, ...
  const Inst *target = nullptr;
  Collect collect = nullptr;
  const Code *callee = nullptr;
  uint32_t line = 0;
};

/// Where a parameter lies: in the buffer of an entry, or in the frame's memory.
struct ParamPlace {
  uint32_t offset, bytes;
};

/// A decoded function.
struct Code {
  std::string name;
  bool isEntry = false;
  std::vector<Inst> insts;
  std::vector<uint64_t> frame; ///< the slots when the function begins
  std::vector<ParamPlace> params, results;
  uint32_t paramBytes = 0;  ///< of an entry
  uint32_t localBytes = 0;  ///< memory of a frame: .local and .param variables
  uint32_t sharedBytes = 0; ///< static shared memory, of an entry
  unsigned maxThreads = 1024;
  unsigned requiredThreads[3] = {0, 0, 0};
  std::deque<std::vector<int32_t>> lists;
  std::deque<std::vector<const Inst *>> tables; ///< targets of brx.idx
  std::vector<std::string> texts; ///< of the instructions, by number
};

/// What lies where in the address space of generic pointers, by the upper 16
/// bits. Generic pointers to global memory are the pointers themselves.
constexpr uint64_t kSharedTag = 0x0100, kLocalTag = 0x0200, kParamTag = 0x0300,
                   kFunctionTag = 0x0400;
/// The first byte of shared and local memory: nothing lies at address 0.
constexpr uint32_t kFirstShared = 1024, kFirstLocal = 64;

enum class Wait : uint8_t { Ready, Barrier, Cluster, Warp, Done };

/// What a called function returns to.
struct Frame {
  const Inst *call;
  const Code *code;
  uint32_t slots, local;
};

/// A copy that cp.async began.
struct PendingCopy {
  uint8_t *to;
  uint32_t bytes;
  uint32_t group;
  uint8_t data[16];
};

struct Thread {
  uint64_t *R = nullptr;
  const Inst *pc = nullptr;
  Wait state = Wait::Ready;
  bool carry = false;
  bool vote = false; ///< what the thread brought to a barrier
  uint32_t barrier = 0;
  uint32_t mask = 0; ///< the lanes it waits for
  const Inst *waiting = nullptr;
  bool hasAcquired = false; ///< what other blocks released
  bool hasArrived = false;  ///< at its cluster's barrier, and not waited there
  uint64_t arrival = 0;     ///< the barrier's round then
  Group *group = nullptr;
  Launch *launch = nullptr;
  const Code *code = nullptr;
  uint32_t id[3] = {0, 0, 0};
  uint32_t linear = 0;
  uint32_t frameLocal = 0; ///< where the frame's local memory begins
  uint32_t frameSlots = 0;
  std::vector<uint64_t> slots;
  std::vector<uint8_t> local;
  std::vector<Frame> frames;
  std::vector<PendingCopy> copies;
  uint32_t copyGroup = 0;

  uint32_t lane() const { return linear % 32; }
  Thread *const *warp() const;

  /// Begins an entry.
  void start(const Code &entry);
  /// Makes room for a frame of the function; returns its first instruction.
  const Inst *enter(const Code &function);
  /// Executes up to `budget` instructions; returns how many it did.
  uint32_t run(uint32_t budget);
  /// Ends the launch with an error; null.
  const Inst *fault(const Inst *I, int error, const std::string &what);
  const Inst *addressFault(const Inst *I, uint64_t address, unsigned bytes,
                           bool isWrite);
  /// Goes on at the instruction later, after other threads.
  const Inst *yield(const Inst *next) {
    pc = next;
    return nullptr;
  }
  /// Waits for the lanes of `lanes`; I->collect then is called once for all.
  const Inst *meet(const Inst *I, uint32_t lanes);
  void end();
};

struct BarrierState {
  uint32_t arrived = 0, expected = 0, votes = 0;
};

/// The barrier of a cluster, at which those arrive that have not ended.
struct ClusterBarrier {
  uint32_t arrived = 0, alive = 0;
  uint64_t round = 0;
};

/// A block of threads.
struct Group {
  uint32_t id[3] = {0, 0, 0};
  uint32_t linear = 0;
  std::vector<Thread> threads;
  std::vector<Thread *> lanes; ///< 32 a warp; null where there is no thread
  std::vector<uint8_t> shared;
  BarrierState barriers[16];
  uint32_t alive = 0;
  uint64_t epoch = 0;             ///< barriers that threads went through
  std::vector<uint64_t> meetings; ///< how often lanes of each warp met
  ClusterBarrier own;             ///< where no other block is in its cluster
  ClusterBarrier *cluster = &own;

  void start(Launch &launch, uint64_t number);
  /// Lets every thread run for a while; returns how many instructions they did.
  uint64_t step(Launch &launch);
  const Inst *arrive(const Inst *I, Thread &T, uint32_t barrier,
                     uint32_t expected, bool waits);
  bool isAligned(const Inst *I, Thread &T, uint32_t barrier) const;
  const Inst *arriveAtCluster(const Inst *I, Thread &T);
  const Inst *waitForCluster(const Inst *I, Thread &T);
};

/// The allocation that a memory instruction used last.
struct Range {
  uint64_t begin = 1, bytes = 0;
  int64_t delta = 0;
};

struct Dims {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

/// Settings of the execution.
struct Limits {
  uint64_t spin = 1000000000; ///< instructions without progress; 0: no limit
  uint64_t total = 0;         ///< instructions of a launch; 0: no limit
  uint32_t seed = 0;          ///< order of threads; 0: by number
  uint32_t findsRaces = 0;    ///< 2: also of stores that change nothing
  uint32_t multiprocessors = 4;
};

/// One launch of a kernel while it executes.
struct Launch {
  const Code *code = nullptr;
  Dims grid, block, cluster;
  uint32_t sharedBytes = 0; ///< static and dynamic
  bool isCooperative = false;
  std::vector<uint8_t> params;
  Memory *memory = nullptr;
  Limits limits;
  std::vector<Range> ranges;
  const std::vector<const Code *> *functions = nullptr;
  /// Of the graph that it is part of: its handles, and the values that were
  /// set. Null: of none.
  const std::set<uint64_t> *handles = nullptr;
  std::map<uint64_t, uint32_t> *conditions = nullptr;
  /// What set each: the block and the thread.
  std::map<uint64_t, std::pair<uint32_t, uint32_t>> setters;

  int error = 0;       ///< a CUresult
  std::string message; ///< of the error
  bool progressed = false;
  uint64_t executed = 0;
  uint64_t pass = 0;
  uint64_t clock = 0;           ///< what %clock reads
  std::unique_ptr<Races> races; ///< null: not looked for

  ~Launch();
  /// Executes at least as many instructions as `budget` says, less when it
  /// ends, and takes them off. Returns whether it has ended; `error` tells how.
  bool run(uint64_t &budget);

  /// Of the blocks that run, where there are several in a cluster.
  ClusterBarrier clusterBarrier;
  /// Lets threads go on where all of their cluster have arrived.
  void openCluster(ClusterBarrier &barrier);

private:
  void begin();
  void startNext();
  bool step();
  void deadlock(const char *why);

  std::vector<uint64_t> order; ///< of the clusters; empty: by number
  uint64_t next = 0;           ///< how many have begun
  std::vector<std::unique_ptr<Group>> groups;
  std::vector<Group *> active;
  uint64_t quiet = 0; ///< instructions without progress
};

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

template <typename T> inline T get(const uint64_t &slot) {
  T value;
  std::memcpy(&value, &slot, sizeof value);
  return value;
}

template <typename T> inline void set(uint64_t &slot, T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  slot = bits;
}

inline bool isTrue(const uint64_t &slot) { return slot & 1; }

//===----------------------------------------------------------------------===//
// Memory as threads see it
//===----------------------------------------------------------------------===//

/// Looks the address up among the live allocations and leaves what it found in
/// `range`; null when there is none that holds all the bytes.
uint8_t *findGlobal(Thread &T, Range &range, uint64_t address, unsigned bytes);

inline uint8_t *globalBytes(const Inst *I, Thread &T, uint64_t address,
                            unsigned bytes) {
  Range &range = T.launch->ranges[I->cache];
  uint64_t offset = address - range.begin;
  if (offset < range.bytes && range.bytes - offset >= bytes)
    return reinterpret_cast<uint8_t *>(address + range.delta);
  return findGlobal(T, range, address, bytes);
}

inline uint8_t *sharedBytes(Thread &T, uint64_t address, unsigned bytes) {
  uint64_t offset = address - kFirstShared, size = T.group->shared.size();
  if (offset < size && size - offset >= bytes)
    return T.group->shared.data() + offset;
  return nullptr;
}

inline uint8_t *localBytes(Thread &T, uint64_t address, unsigned bytes) {
  uint64_t offset = address - kFirstLocal, size = T.local.size();
  if (offset < size && size - offset >= bytes)
    return T.local.data() + offset;
  return nullptr;
}

inline uint8_t *paramBytes(Thread &T, uint64_t address, unsigned bytes) {
  uint64_t size = T.launch->params.size();
  if (address < size && size - address >= bytes)
    return T.launch->params.data() + address;
  return nullptr;
}

inline uint64_t localTag(const Thread &T) {
  return kLocalTag << 48 | uint64_t(T.linear) << 32;
}

inline uint8_t *genericBytes(const Inst *I, Thread &T, uint64_t address,
                             unsigned bytes) {
  uint64_t offset = address & 0xFFFFFFFFFFFF;
  switch (address >> 48) {
  case 0:
    return globalBytes(I, T, address, bytes);
  case kSharedTag:
    return sharedBytes(T, offset, bytes);
  case kLocalTag: // Another thread's local memory cannot be reached.
    if ((address ^ localTag(T)) >> 32)
      return nullptr;
    return localBytes(T, offset & 0xFFFFFFFF, bytes);
  case kParamTag:
    return paramBytes(T, offset, bytes);
  default:
    return nullptr;
  }
}

template <Space S>
inline uint8_t *bytesAt(const Inst *I, Thread &T, uint64_t address,
                        unsigned bytes) {
  if constexpr (S == Space::Global || S == Space::Const)
    return globalBytes(I, T, address, bytes);
  else if constexpr (S == Space::Shared)
    return sharedBytes(T, address & 0xFFFFFFFF, bytes);
  else if constexpr (S == Space::Local)
    return localBytes(T, address & 0xFFFFFFFF, bytes);
  else if constexpr (S == Space::Param)
    return paramBytes(T, address, bytes);
  else
    return genericBytes(I, T, address, bytes);
}

} // namespace fakecuda

#endif // LOOPC_TEST_CUDA_MACHINE_H
