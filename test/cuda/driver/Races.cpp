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

#include <algorithm>

using namespace fakecuda;

//===----------------------------------------------------------------------===//
// Order between blocks
//===----------------------------------------------------------------------===//

static void join(std::vector<uint32_t> &into,
                 const std::vector<uint32_t> &from) {
  if (into.size() < from.size())
    into.resize(from.size());
  for (size_t k = 0; k != from.size(); ++k)
    into[k] = std::max(into[k], from[k]);
}

/// Behind a release, all that the block did before its last barrier is known to
/// who acquires; of what followed the thread's own is not looked at.
static void joinOwn(std::vector<uint32_t> &into,
                    const std::vector<uint32_t> &known, const Thread &T,
                    size_t grid) {
  into.resize(grid);
  join(into, known);
  uint32_t &own = into[T.group->linear];
  own = std::max(own, static_cast<uint32_t>(T.group->epoch));
}

void Races::release(Thread &T, const uint8_t *at, Ordering order) {
  if (known.empty())
    return;
  if (order.releases)
    joinOwn(released[at], known[T.group->linear], T, known.size());
  else if (auto before = fenced.find(&T); before != fenced.end())
    join(released[at], before->second);
}

void Races::acquire(Thread &T, const uint8_t *at, Ordering order) {
  auto found = released.find(at);
  if (known.empty() || found == released.end())
    return;
  T.hasAcquired |= order.acquires;
  join(order.acquires ? pending[T.group->linear] : seen[&T], found->second);
}

void Races::fence(Thread &T, Ordering order) {
  if (known.empty())
    return;
  if (order.releases)
    joinOwn(fenced[&T], known[T.group->linear], T, known.size());
  if (auto found = seen.find(&T); order.acquires && found != seen.end()) {
    T.hasAcquired = true;
    join(pending[T.group->linear], found->second);
  }
}

void Races::meet(const Group &group) {
  if (!known.empty() && !pending[group.linear].empty())
    join(known[group.linear], pending[group.linear]);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

Races::Byte &Races::byteAt(const uint8_t *at) {
  auto address = reinterpret_cast<uint64_t>(at);
  if (!lastBytes || address / kPage != lastPage) {
    std::unique_ptr<Byte[]> &page = pages[address / kPage];
    if (!page)
      page = std::make_unique<Byte[]>(kPage);
    lastPage = address / kPage;
    lastBytes = page.get();
  }
  return lastBytes[address % kPage];
}

bool Races::isOrdered(const Access &before, const Access &now, const Thread &T,
                      bool isShared) const {
  if (!before.line || (before.isStrong && now.isStrong))
    return true;
  if (before.block == now.block) {
    if (before.thread == now.thread || before.epoch != now.epoch)
      return true;
    return before.thread / 32 == now.thread / 32 &&
           before.meetings != now.meetings;
  }
  if (isShared)
    return true;
  uint64_t size = T.launch->cluster.count();
  if (before.block / size == now.block / size)
    return before.round != now.round;
  if (known.empty())
    return false;
  auto knows = [&](const Clock &clock) {
    return before.block < clock.size() && before.epoch < clock[before.block];
  };
  // Who acquired does not have to wait for the block's barrier, too. Which
  // thread of the block that was is not told apart.
  return knows(known[now.block]) ||
         (T.hasAcquired && knows(pending[now.block]));
}

void Races::remember(Byte &byte, const Access &now, const Thread &T,
                     AccessKind kind) const {
  if (kind.isNonCoherent)
    byte.nonCoherent = now.line;
  if (kind.isWrite) {
    byte.write = now;
    return;
  }
  // What nobody has to look at any more goes first.
  for (Access &read : byte.reads)
    if (!read.line || (read.block == now.block && read.thread == now.thread)) {
      read = now;
      return;
    }
  for (Access &read : byte.reads)
    if (isOrdered(read, now, T, kind.isShared)) {
      read = now;
      return;
    }
}

bool Races::note(const Inst *I, Thread &T, const uint8_t *at, unsigned count,
                 AccessKind kind) {
  const Group &group = *T.group;
  Access now{group.linear,
             T.linear,
             static_cast<uint32_t>(group.epoch),
             static_cast<uint32_t>(group.meetings[T.linear / 32]),
             static_cast<uint32_t>(group.cluster->round),
             I->line,
             kind.isStrong};
  std::string verb = kind.isWrite ? "writes" : "reads";
  for (const uint8_t *end = at + count; at != end; ++at) {
    Byte &byte = byteAt(at);
    if (kind.isNonCoherent ? byte.write.line != 0 && !kind.isShared
                           : kind.isWrite && byte.nonCoherent) {
      uint32_t line = kind.isWrite ? byte.nonCoherent : byte.write.line;
      T.fault(I, CUDA_ERROR_LAUNCH_FAILED,
              "a race: " + verb + " what line " + std::to_string(line) +
                  (kind.isWrite ? " reads" : " writes") +
                  ", and a cache that is not coherent is between");
      return false;
    }
    auto conflicts = [&](const Access &before) {
      return !isOrdered(before, now, T, kind.isShared);
    };
    const Access *other = nullptr;
    if (conflicts(byte.write))
      other = &byte.write;
    else if (kind.isWrite && conflicts(byte.reads[0]))
      other = &byte.reads[0];
    else if (kind.isWrite && conflicts(byte.reads[1]))
      other = &byte.reads[1];
    if (other) {
      T.fault(I, CUDA_ERROR_LAUNCH_FAILED,
              "a race: " + verb + " what thread " +
                  std::to_string(other->thread) + " of block " +
                  std::to_string(other->block) +
                  (other == &byte.write ? " writes" : " reads") + " at line " +
                  std::to_string(other->line) + " without a barrier between");
      return false;
    }
    remember(byte, now, T, kind);
  }
  return true;
}
