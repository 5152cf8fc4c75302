//===- Races.h - Threads that use memory without waiting ------ -*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_TEST_CUDA_RACES_H
#define LOOPC_TEST_CUDA_RACES_H

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace fakecuda {

struct Inst;
struct Thread;
struct Group;

/// What an access of memory is, as far as others have to wait for it.
struct AccessKind {
  bool isWrite = false;
  bool isShared = false;
  bool isStrong = false;      ///< volatile, ordered or atomic
  bool isNonCoherent = false; ///< by way of a cache that nobody keeps right
};

/// What a strong operation, or a fence, says of the order of others. Those
/// whose scope is the block are of no use to other ones, and not counted.
struct Ordering {
  bool acquires = false, releases = false;
};

/// Finds accesses of two threads to the same byte, at least one a store that
/// changes it and one not strong, with nothing that puts them in order:
///  - in a block the block's barrier, in a warp also what its lanes do together
///  - between blocks of a cluster its barrier
///  - between blocks of a cooperative launch what one released and the other
///    acquired, by a strong operation or by fences around those, with barriers
///    of the blocks before and after
///  - between blocks of other launches nothing.
/// A non-coherent load is wrong where anybody wrote in the same launch.
class Races {
public:
  /// `grid`: the blocks of a cooperative launch; 0 for others.
  explicit Races(uint64_t grid) : known(grid), pending(grid) {}

  /// False after a fault.
  bool note(const Inst *I, Thread &T, const uint8_t *at, unsigned bytes,
            AccessKind kind);

  // A strong operation on `at` before it is done, and a fence.
  void release(Thread &T, const uint8_t *at, Ordering order);
  void acquire(Thread &T, const uint8_t *at, Ordering order);
  void fence(Thread &T, Ordering order);
  /// All threads of the block went through its barrier.
  void meet(const Group &group);

private:
  /// For each block, the first of its epochs that may not be over.
  using Clock = std::vector<uint32_t>;

  /// Who came: the block, the thread in it, how many barriers the block had
  /// behind it, how often the lanes of the warp had met, and the round of the
  /// cluster's barrier.
  struct Access {
    uint32_t block = 0, thread = 0, epoch = 0, meetings = 0, round = 0;
    uint32_t line = 0; ///< 0: nobody
    bool isStrong = false;
  };
  struct Byte {
    Access write;
    Access reads[2];          ///< of different threads
    uint32_t nonCoherent = 0; ///< the line of such a read
  };
  static constexpr uint64_t kPage = 256;

  Byte &byteAt(const uint8_t *at);
  bool isOrdered(const Access &before, const Access &now, const Thread &T,
                 bool isShared) const;
  void remember(Byte &byte, const Access &now, const Thread &T,
                AccessKind kind) const;

  std::unordered_map<uint64_t, std::unique_ptr<Byte[]>> pages;
  uint64_t lastPage = 0;
  Byte *lastBytes = nullptr;

  std::vector<Clock> known;   ///< to each block; empty: nothing
  std::vector<Clock> pending; ///< to it behind its next barrier
  std::unordered_map<const uint8_t *, Clock> released; ///< at each place
  /// Of threads: what fences let strong operations release, and what these saw
  /// that fences may acquire.
  std::unordered_map<const Thread *, Clock> fenced, seen;
};

} // namespace fakecuda

#endif // LOOPC_TEST_CUDA_RACES_H
