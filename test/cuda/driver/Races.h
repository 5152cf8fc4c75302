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
#include <unordered_map>

namespace fakecuda {

struct Inst;
struct Thread;

/// Finds plain accesses of two threads to the same byte, at least one a store
/// that changes it, with no barrier between them: in shared memory and, for
/// threads of one block, of one cluster or of blocks of an ordinary launch, in
/// global memory.
/// Volatile, ordered and atomic accesses are not looked at.
class Races {
public:
  /// False after a fault.
  bool note(const Inst *I, Thread &T, const uint8_t *at, unsigned bytes,
            bool isWrite, bool isShared);

private:
  /// Who came last: the block, the thread in it, and how many barriers the
  /// block had behind it.
  struct Access {
    uint32_t block = 0, thread = 0;
    uint64_t epoch = 0;
    uint64_t round = 0; ///< of the cluster's barrier
    uint32_t line = 0;  ///< 0: nobody
  };
  struct Byte {
    Access write;
    Access reads[2]; ///< of two different threads since the last barrier
  };

  std::unordered_map<const uint8_t *, Byte> bytes;
};

} // namespace fakecuda

#endif // LOOPC_TEST_CUDA_RACES_H
