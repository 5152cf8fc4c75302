//===- Memory.h - Memory of the device that is not there ------ -*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_TEST_CUDA_MEMORY_H
#define LOOPC_TEST_CUDA_MEMORY_H

#include <cstdint>
#include <map>

namespace fakecuda {

/// What uninitialised memory is filled with.
constexpr unsigned char kPoison = 0xA5;

/// A live allocation. Kernels see `[begin, end)`; the bytes are `delta` further
/// on in this process: nothing is mapped at the addresses of device memory.
struct Block {
  enum Kind { Device, Managed, Pinned, Global };
  uint64_t begin = 0, end = 0;
  int64_t delta = 0;
  Kind kind = Device;
  bool isAsync = false;    ///< of cuMemAllocAsync
  bool isGuarded = false;  ///< kept from the host until work is done
  bool isFreeing = false;  ///< cuMemFreeAsync is on its way
  void *mapping = nullptr; ///< what munmap wants, of host memory
  uint64_t mappedBytes = 0;

  uint8_t *host(uint64_t address) const {
    return reinterpret_cast<uint8_t *>(address + delta);
  }
};

/// All allocations. Device addresses are not used twice while there are others,
/// so that whoever uses freed memory is found.
class Memory {
public:
  ~Memory();
  /// Sets the size of the device, in bytes, when nothing is allocated.
  void setTotal(uint64_t bytes) { total = bytes; }
  uint64_t getTotal() const { return total; }
  uint64_t getFree() const { return total - used; }

  /// Returns null when the memory does not suffice. `isAsync`: of the pool,
  /// which keeps what is given back to it, up to a limit, from all others.
  Block *allocate(uint64_t bytes, Block::Kind kind, bool isAsync = false);
  void setPoolLimit(uint64_t bytes) { poolLimit = bytes; }
  /// Leaves the pool so many bytes that nobody has.
  void trimPool(uint64_t bytes);
  void free(uint64_t address);
  /// Frees all of it.
  void clear();
  /// The live allocation that holds the address, or null.
  Block *find(uint64_t address);
  const std::map<uint64_t, Block> &all() const { return blocks; }
  /// Keeps the managed memory of now from the host.
  void guard();
  /// Lets the host, or kernels on it, reach what is guarded, or not.
  void openGuarded(bool isOpen);
  /// Ends the guard.
  void unguard();
  /// Whether the address could be one of device memory.
  bool isDeviceAddress(uint64_t address) const {
    return address - deviceBegin < kReserved;
  }

private:
  static constexpr uint64_t kReserved = uint64_t(1) << 38;
  static void protect(const Block &block, bool isOpen);
  bool reserve();
  uint64_t findDeviceAddress(uint64_t bytes);

  std::map<uint64_t, Block> blocks;
  uint64_t total = 0, used = 0; ///< with what the pool keeps
  uint64_t pooled = 0, poolLimit = 0;
  uint64_t deviceBegin = 0, bytesBegin = 0;
  uint64_t next = 0; ///< offset of the next device allocation
};

} // namespace fakecuda

#endif // LOOPC_TEST_CUDA_MEMORY_H
