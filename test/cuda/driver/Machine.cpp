//===- Machine.cpp - Threads, blocks and grids ----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "Api.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>

using namespace fakecuda;

/// Instructions that a thread executes before others have their turn.
static constexpr uint32_t kSlice = 4096;
/// Grids of more blocks run in their order whatever the seed is.
static constexpr uint64_t kMaxShuffled = 1 << 20;

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

Thread *const *Thread::warp() const {
  return group->lanes.data() + linear / 32 * 32;
}

void Thread::start(const Code &entry) {
  state = Wait::Ready;
  carry = false;
  hasAcquired = hasArrived = false;
  frames.clear();
  copies.clear();
  copyGroup = 0;
  frameSlots = 0;
  frameLocal = kFirstLocal;
  local.clear();
  slots.clear();
  code = nullptr;
  pc = enter(entry);
}

const Inst *Thread::enter(const Code &function) {
  if (code) {
    frameSlots += code->frame.size();
    frameLocal = kFirstLocal + local.size();
  }
  code = &function;
  slots.resize(frameSlots);
  slots.insert(slots.end(), function.frame.begin(), function.frame.end());
  local.insert(local.end(), (function.localBytes + 15) / 16 * 16, kPoison);
  R = slots.data() + frameSlots;
  R[0] = frameLocal;
  return function.insts.data();
}

uint32_t Thread::run(uint32_t budget) {
  const Inst *I = pc;
  uint32_t left = budget;
  do {
    if (I->guard >= 0 && isTrue(R[I->guard]) == I->guardNegated)
      ++I;
    else
      I = I->exec(I, R, *this);
    --left;
  } while (I && left);
  if (I)
    pc = I;
  return budget - left;
}

const Inst *Thread::fault(const Inst *I, int error, const std::string &what) {
  if (launch->error)
    return nullptr;
  launch->error = error;
  char place[200];
  std::snprintf(place, sizeof place,
                "block (%u, %u, %u), thread (%u, %u, %u), line %u of the PTX",
                group->id[0], group->id[1], group->id[2], id[0], id[1], id[2],
                I->line);
  launch->message = "kernel '" + launch->code->name + "'";
  if (code != launch->code)
    launch->message += ", function '" + code->name + "'";
  launch->message += std::string(", ") + place;
  size_t number = I - code->insts.data();
  if (number < code->texts.size())
    launch->message += ", " + code->texts[number];
  launch->message += ": " + what;
  pc = I;
  return nullptr;
}

const Inst *Thread::addressFault(const Inst *I, uint64_t address,
                                 unsigned bytes, bool isWrite) {
  char text[300];
  int length = std::snprintf(text, sizeof text, "%s of %u bytes at 0x%llx",
                             isWrite ? "write" : "read", bytes,
                             static_cast<unsigned long long>(address));
  // The live allocation before it tells most about what went wrong.
  const auto &blocks = launch->memory->all();
  auto next = blocks.upper_bound(address);
  if (address >> 48 == 0 && next != blocks.begin()) {
    const Block &block = std::prev(next)->second;
    std::snprintf(text + length, sizeof text - length,
                  ", which is in no live allocation; the one before it is "
                  "[0x%llx, 0x%llx), %llu bytes",
                  static_cast<unsigned long long>(block.begin),
                  static_cast<unsigned long long>(block.end),
                  static_cast<unsigned long long>(block.end - block.begin));
  }
  return fault(I, CUDA_ERROR_ILLEGAL_ADDRESS, text);
}

uint8_t *fakecuda::findGlobal(Thread &T, Range &range, uint64_t address,
                              unsigned bytes) {
  const Block *block = T.launch->memory->find(address);
  if (!block || block->end - address < bytes)
    return nullptr;
  range.begin = block->begin;
  range.bytes = block->end - block->begin;
  range.delta = block->delta;
  return block->host(address);
}

/// Whether all lanes that `T` waits for wait for the same; then executes it.
static bool tryCollect(Thread &T) {
  Thread *const *lanes = T.warp();
  uint32_t present = 0;
  for (unsigned i = 0; i != 32; ++i) {
    Thread *other = lanes[i];
    if (!(T.mask >> i & 1) || !other || other->state == Wait::Done)
      continue;
    if (other->state != Wait::Warp || other->mask != T.mask ||
        (other->waiting != T.waiting &&
         (!T.waiting->meetsAnywhere || !other->waiting->meetsAnywhere)))
      return false;
    present |= 1u << i;
  }
  T.waiting->collect(lanes, present);
  // Lanes that wait for one another see what they stored.
  ++T.group->meetings[T.linear / 32];
  for (unsigned i = 0; i != 32; ++i)
    if (present >> i & 1)
      lanes[i]->state = Wait::Ready;
  return true;
}

const Inst *Thread::meet(const Inst *I, uint32_t lanes) {
  if (!(lanes >> lane() & 1))
    return fault(I, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                 "the lane is not in its own member mask");
  state = Wait::Warp;
  mask = lanes;
  waiting = I;
  pc = I + 1;
  return tryCollect(*this) ? pc : nullptr;
}

void Thread::end() {
  state = Wait::Done;
  pc = nullptr;
  --group->alive;
  launch->progressed = true;
  ClusterBarrier &barrier = *group->cluster;
  barrier.arrived -= hasArrived && arrival == barrier.round;
  --barrier.alive;
  launch->openCluster(barrier);
  // Others may have waited for this lane only.
  Thread *const *lanes = warp();
  for (unsigned i = 0; i != 32; ++i)
    if (lanes[i] && lanes[i]->state == Wait::Warp)
      tryCollect(*lanes[i]);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void Group::start(Launch &launch, uint64_t number) {
  const Dims &dims = launch.block;
  linear = number;
  id[0] = number % launch.grid.x;
  id[1] = number / launch.grid.x % launch.grid.y;
  id[2] = number / launch.grid.x / launch.grid.y;
  alive = dims.count();
  for (BarrierState &barrier : barriers)
    barrier = BarrierState();
  cluster = launch.cluster.count() > 1 ? &launch.clusterBarrier : &own;
  own.arrived = own.alive = 0;
  cluster->alive += alive;
  shared.assign(launch.sharedBytes, kPoison);
  threads.resize(alive);
  lanes.assign((alive + 31) / 32 * 32, nullptr);
  meetings.resize(lanes.size() / 32);
  for (uint32_t i = 0; i != alive; ++i) {
    Thread &T = threads[i];
    T.group = this;
    T.launch = &launch;
    T.linear = i;
    T.id[0] = i % dims.x;
    T.id[1] = i / dims.x % dims.y;
    T.id[2] = i / dims.x / dims.y;
    lanes[i] = &T;
    T.start(*launch.code);
  }
}

uint64_t Group::step(Launch &launch) {
  uint64_t executed = 0;
  unsigned warps = lanes.size() / 32;
  // With a seed, the order changes from pass to pass.
  unsigned rotation = 0, lanesRotation = 0;
  if (launch.limits.seed) {
    uint64_t random =
        (launch.pass + 1) * launch.limits.seed * 0x9E3779B97F4A7C15;
    rotation = (random >> 33) % warps;
    lanesRotation = random >> 59;
  }
  for (unsigned w = 0; w != warps; ++w) {
    Thread *const *warp = lanes.data() + (w + rotation) % warps * 32;
    // Lanes that meet go on together; the bound lets other warps have a turn.
    for (unsigned round = 0; round != 64; ++round) {
      bool ran = false;
      for (unsigned i = 0; i != 32; ++i) {
        Thread *T = warp[(i + lanesRotation) % 32];
        if (!T || T->state != Wait::Ready)
          continue;
        executed += T->run(kSlice);
        ran = true;
        if (launch.error)
          return executed;
      }
      if (!ran)
        break;
    }
  }
  return executed;
}

/// Whether the lanes of each warp wait at the same instruction, as they have to
/// where it is an aligned one: the warp arrives once, for all of them.
bool Group::isAligned(const Inst *I, Thread &T, uint32_t number) const {
  for (const Thread &other : threads) {
    if (other.state != Wait::Barrier || other.barrier != number ||
        other.waiting->meetsAnywhere)
      continue;
    for (unsigned i = other.linear / 32 * 32; i != other.linear; ++i) {
      const Thread &before = threads[i];
      if (before.state != Wait::Barrier || before.barrier != number ||
          before.waiting == other.waiting)
        continue;
      T.fault(I, CUDA_ERROR_ILLEGAL_INSTRUCTION,
              "lanes of a warp wait at different aligned barriers: threads " +
                  std::to_string(before.linear) + " and " +
                  std::to_string(other.linear) + " at lines " +
                  std::to_string(before.waiting->line) + " and " +
                  std::to_string(other.waiting->line));
      return false;
    }
  }
  return true;
}

const Inst *Group::arrive(const Inst *I, Thread &T, uint32_t number,
                          uint32_t expected, bool waits) {
  if (number >= 16)
    return T.fault(I, CUDA_ERROR_ILLEGAL_INSTRUCTION, "no such barrier");
  BarrierState &barrier = barriers[number];
  if (!expected)
    expected = threads.size();
  if (barrier.arrived && barrier.expected != expected)
    return T.fault(I, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                   "threads arrive at a barrier with different counts");
  barrier.expected = expected;
  ++barrier.arrived;
  barrier.votes += T.vote;
  T.barrier = number;
  T.waiting = I;
  T.pc = I + 1;
  if (waits)
    T.state = Wait::Barrier;
  if (barrier.arrived < expected)
    return waits ? nullptr : I + 1;
  if (!isAligned(I, T, number))
    return nullptr;
  T.launch->progressed = true;
  ++epoch;
  if (T.launch->races)
    T.launch->races->meet(*this);
  for (Thread &other : threads) {
    if (other.state != Wait::Barrier || other.barrier != number)
      continue;
    other.state = Wait::Ready;
    // bar.red leaves its result: the flags say which.
    uint64_t &result = other.R[other.waiting->d];
    if (other.waiting->flags == 1)
      result = barrier.votes;
    else if (other.waiting->flags == 2)
      result = barrier.votes == expected;
    else if (other.waiting->flags == 3)
      result = barrier.votes != 0;
  }
  barrier = BarrierState();
  return I + 1;
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

void Launch::openCluster(ClusterBarrier &barrier) {
  if (!barrier.alive || barrier.arrived < barrier.alive)
    return;
  barrier.arrived = 0;
  ++barrier.round;
  progressed = true;
  for (std::unique_ptr<Group> &group : groups) {
    if (group->cluster != &barrier)
      continue;
    ++group->epoch;
    for (Thread &T : group->threads) {
      if (T.state != Wait::Cluster)
        continue;
      T.state = Wait::Ready;
      T.hasArrived = false;
    }
  }
}

const Inst *Group::arriveAtCluster(const Inst *I, Thread &T) {
  if (T.hasArrived)
    return T.fault(I, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                   "arrives at the cluster's barrier twice");
  T.hasArrived = true;
  T.arrival = cluster->round;
  ++cluster->arrived;
  T.launch->openCluster(*cluster);
  return I + 1;
}

const Inst *Group::waitForCluster(const Inst *I, Thread &T) {
  if (!T.hasArrived)
    return T.fault(I, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                   "waits at the cluster's barrier and has not arrived");
  if (T.arrival != cluster->round) {
    T.hasArrived = false;
    return I + 1;
  }
  T.state = Wait::Cluster;
  T.waiting = I;
  T.pc = I + 1;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

/// Blocks that are not in use, with the memory of their threads.
static std::vector<std::unique_ptr<Group>> &spareGroups() {
  static auto &groups = *new std::vector<std::unique_ptr<Group>>;
  return groups;
}

Launch::~Launch() {
  if (!isCooperative)
    for (std::unique_ptr<Group> &group : groups)
      spareGroups().push_back(std::move(group));
}

void Launch::deadlock(const char *why) {
  error = CUDA_ERROR_LAUNCH_TIMEOUT;
  message = "kernel '" + code->name + "' " + why;
  unsigned shown = 0;
  for (Group *group : active)
    for (Thread &T : group->threads) {
      if (T.state == Wait::Done || shown == 4)
        continue;
      ++shown;
      const Inst *I = T.state == Wait::Ready ? T.pc : T.waiting;
      char text[160];
      std::snprintf(text, sizeof text,
                    "; block (%u, %u, %u), thread (%u, %u, %u) is at line %u",
                    group->id[0], group->id[1], group->id[2], T.id[0], T.id[1],
                    T.id[2], I->line);
      message += text;
      size_t number = I - T.code->insts.data();
      if (number < T.code->texts.size())
        message += ", " + T.code->texts[number];
    }
}

/// Lets the blocks run for a while; false once they have ended.
bool Launch::step() {
  progressed = false;
  uint64_t done = 0;
  for (Group *group : active) {
    done += group->step(*this);
    if (error)
      break;
  }
  ++pass;
  executed += done;
  if (error)
    return false;
  quiet = progressed ? 0 : quiet + done;
  if (!done)
    deadlock("waits for itself");
  else if (limits.spin && quiet > limits.spin)
    deadlock("makes no progress");
  else if (limits.total && executed > limits.total)
    deadlock("takes too many instructions");
  if (error)
    return false;
  std::erase_if(active, [](Group *group) { return group->alive == 0; });
  return !active.empty();
}

void Launch::begin() {
  if (limits.seed && grid.count() < kMaxShuffled) {
    order.resize(grid.count() / cluster.count());
    std::iota(order.begin(), order.end(), 0);
    std::mt19937 random(limits.seed);
    std::shuffle(order.begin(), order.end(), random);
  }
  if (limits.findsRaces)
    races = std::make_unique<Races>(isCooperative ? grid.count() : 0);
  // All blocks of a cooperative launch; of others one cluster after the other,
  // as no program may rely on more.
  uint64_t count = isCooperative ? grid.count() : cluster.count();
  while (groups.size() != count) {
    if (isCooperative || spareGroups().empty()) {
      groups.push_back(std::make_unique<Group>());
      continue;
    }
    groups.push_back(std::move(spareGroups().back()));
    spareGroups().pop_back();
  }
}

/// Begins as many blocks as there is room for.
void Launch::startNext() {
  clusterBarrier.arrived = clusterBarrier.alive = 0;
  for (std::unique_ptr<Group> &group : groups) {
    if (next == grid.count())
      return;
    uint64_t size = cluster.count();
    uint64_t which = order.empty() ? next / size : order[next / size];
    group->start(*this, which * size + next % size);
    ++next;
    active.push_back(group.get());
  }
}

bool Launch::run(uint64_t &budget) {
  if (groups.empty())
    begin();
  // Memory may have been freed since.
  std::fill(ranges.begin(), ranges.end(), Range());
  uint64_t before = executed;
  while (executed - before < budget) {
    if (active.empty()) {
      if (next == grid.count())
        break;
      startNext();
    }
    if (!step() && error)
      break;
  }
  budget -= std::min(budget, executed - before);
  return error || (active.empty() && next == grid.count());
}
