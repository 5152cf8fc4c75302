//===- Races.cpp - Threads that use memory without waiting ----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Races.h"

#include "Api.h"
#include "Machine.h"

using namespace fakecuda;

bool Races::note(const Inst *I, Thread &T, const uint8_t *at, unsigned count,
                 bool isWrite, bool isShared) {
  Access now{T.group->linear, T.linear, T.group->epoch, T.group->cluster->round,
             I->line};
  // Blocks of a cooperative launch may wait for one another; nobody knows.
  bool looksAtBlocks = !isShared && !T.launch->isCooperative;
  uint64_t size = T.launch->cluster.count();
  auto conflicts = [&](const Access &before) {
    if (!before.line)
      return false;
    if (before.block != now.block && before.block / size == now.block / size)
      return !isShared && before.round == now.round;
    if (before.block != now.block)
      return looksAtBlocks;
    return before.thread != now.thread && before.epoch == now.epoch;
  };
  for (const uint8_t *end = at + count; at != end; ++at) {
    Byte &byte = bytes[at];
    const Access *other = nullptr;
    if (conflicts(byte.write))
      other = &byte.write;
    else if (isWrite && conflicts(byte.reads[0]))
      other = &byte.reads[0];
    else if (isWrite && conflicts(byte.reads[1]))
      other = &byte.reads[1];
    if (other) {
      T.fault(I, CUDA_ERROR_LAUNCH_FAILED,
              std::string("a race: ") + (isWrite ? "writes" : "reads") +
                  " what thread " + std::to_string(other->thread) +
                  " of block " + std::to_string(other->block) +
                  (other == &byte.write ? " writes" : " reads") + " at line " +
                  std::to_string(other->line) + " without a barrier between");
      return false;
    }
    if (isWrite) {
      byte.write = now;
      continue;
    }
    const Access &first = byte.reads[0];
    if (first.line && first.block == now.block && first.epoch == now.epoch) {
      if (first.thread != now.thread)
        byte.reads[1] = now;
    } else {
      byte.reads[0] = now;
      byte.reads[1] = Access();
    }
  }
  return true;
}
