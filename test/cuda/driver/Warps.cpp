//===- Warps.cpp - Barriers, shuffles and votes ---------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Api.h"
#include "Decode.h"

#include <algorithm>

using namespace fakecuda;
using ptx::Operand;

//===----------------------------------------------------------------------===//
// Barriers of a block
//===----------------------------------------------------------------------===//

/// I->a: the barrier, I->b: how many threads (0: slot 0 stands for all),
/// I->c: what the thread votes, if I->flags.
static const Inst *executeBarrier(const Inst *I, uint64_t *R, Thread &T) {
  T.vote = I->flags && isTrue(R[I->c]) != bool(I->imm);
  uint32_t count = I->b ? uint32_t(R[I->b]) : 0;
  if (count % 32)
    return T.fault(I, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                   "a barrier for " + std::to_string(count) + " threads");
  return T.group->arrive(I, T, R[I->a], count, true);
}

static const Inst *executeArrive(const Inst *I, uint64_t *R, Thread &T) {
  T.vote = false;
  return T.group->arrive(I, T, R[I->a], R[I->b], false);
}

static void decodeWarpBarrier(Decoder &D);

static const Inst *executeClusterArrive(const Inst *I, uint64_t *, Thread &T) {
  return T.group->arriveAtCluster(I, T);
}

static const Inst *executeClusterWait(const Inst *I, uint64_t *, Thread &T) {
  return T.group->waitForCluster(I, T);
}

static void decodeClusterBarrier(Decoder &D) {
  D.needsTarget(90);
  bool arrive = D.take("arrive"), wait = D.take("wait");
  for (const char *word : {"release", "acquire", "relaxed", "aligned"})
    D.take(word);
  D.expectOperands(0);
  if (arrive == wait)
    D.fail("one of .arrive and .wait is missing");
  D.emit(arrive ? executeClusterArrive : executeClusterWait);
}

/// `meetsAnywhere`: where the instruction does not say that it is aligned.
template <bool MeetsAnywhere> static void decodeBarrier(Decoder &D) {
  bool meetsAnywhere = MeetsAnywhere;
  if (D.take("warp"))
    return decodeWarpBarrier(D);
  if (D.take("cluster"))
    return decodeClusterBarrier(D);
  D.take("cta");
  meetsAnywhere &= !D.take("aligned");
  const std::vector<Operand> &operands = D.operands();
  if (D.take("arrive")) {
    D.expectOperands(2);
    int32_t a = D.source(0, Type::U32);
    D.emit(executeArrive, D.temporary(), a, D.source(1, Type::U32));
    return;
  }
  if (D.take("sync")) {
    D.expectOperands(1, 2);
    int32_t a = D.source(0, Type::U32);
    int32_t b = operands.size() == 2 ? D.source(1, Type::U32) : 0;
    D.emit(executeBarrier, D.temporary(), a, b).meetsAnywhere = meetsAnywhere;
    return;
  }
  if (!D.take("red"))
    D.fail("unknown barrier");
  uint16_t flags = D.take("popc")  ? 1
                   : D.take("and") ? 2
                   : D.take("or")  ? 3
                                   : 0;
  if (!flags)
    D.fail("unknown reduction");
  D.takeType();
  D.expectOperands(3, 4);
  bool hasCount = operands.size() == 4;
  int32_t d = D.result(0u), a = D.source(1, Type::U32);
  int32_t b = hasCount ? D.source(2, Type::U32) : 0;
  int32_t c = D.source(hasCount ? 3 : 2, Type::Pred);
  Inst &inst = D.emit(executeBarrier, d, a, b, c);
  inst.flags = flags;
  inst.imm = operands.back().negated;
  inst.meetsAnywhere = meetsAnywhere;
}

//===----------------------------------------------------------------------===//
// What the lanes of a warp do together
//===----------------------------------------------------------------------===//

/// Waits for the lanes that I->c names.
static const Inst *executeMeet(const Inst *I, uint64_t *R, Thread &T) {
  return T.meet(I, R[I->c]);
}

template <typename F> static void forLanes(uint32_t mask, F function) {
  for (unsigned i = 0; i != 32; ++i)
    if (mask >> i & 1)
      function(i);
}

/// The slot of lane `i`'s own operand.
static uint64_t &slotOf(Thread *T, int32_t Inst::*operand) {
  return T->R[T->waiting->*operand];
}

static void collectNothing(Thread *const *, uint32_t) {}

static void decodeWarpBarrier(Decoder &D) {
  if (!D.take("sync"))
    D.fail("unknown barrier");
  D.expectOperands(1);
  Inst &inst = D.emit(executeMeet, 0, 0, 0, D.source(0, Type::B32));
  inst.collect = collectNothing;
  inst.meetsAnywhere = true;
}

namespace {
enum Shuffle : uint16_t { Up, Down, Butterfly, Index };
} // namespace

static void collectShuffle(Thread *const *lanes, uint32_t mask) {
  uint32_t values[32];
  forLanes(mask, [&](unsigned i) { values[i] = slotOf(lanes[i], &Inst::a); });
  forLanes(mask, [&](unsigned i) {
    Thread *T = lanes[i];
    const Inst *I = T->waiting;
    int32_t b = T->R[I->b] & 31, c = T->R[I->list[0]], from = 0;
    int32_t clamp = c & 31, segment = c >> 8 & 31, lane = i;
    int32_t most = (lane & segment) | (clamp & ~segment),
            least = lane & segment;
    bool inside = false;
    switch (I->flags) {
    case Up:
      from = lane - b;
      inside = from >= most;
      break;
    case Down:
      from = lane + b;
      inside = from <= most;
      break;
    case Butterfly:
      from = lane ^ b;
      inside = from <= most;
      break;
    case Index:
      from = least | (b & ~segment);
      inside = from <= most;
      break;
    }
    if (!inside)
      from = lane;
    // The value of a lane that takes no part is undefined.
    set<uint32_t>(T->R[I->d], mask >> from & 1 ? values[from] : 0xA5A5A5A5);
    T->R[I->e] = inside;
  });
}

static void decodeShuffle(Decoder &D) {
  if (!D.take("sync"))
    D.fail("only shfl.sync is supported");
  uint16_t mode = D.take("up")     ? Up
                  : D.take("down") ? Down
                  : D.take("bfly") ? Butterfly
                  : D.take("idx")  ? Index
                                   : 4;
  if (mode == 4)
    D.fail("unknown mode");
  D.takeType();
  D.expectOperands(5);
  const Operand &to = D.operand(0);
  bool isPair = to.kind == Operand::Pair;
  int32_t d = D.result(isPair ? to.items[0] : to);
  int32_t e = isPair ? D.result(to.items[1]) : D.temporary();
  int32_t a = D.source(1, Type::B32), b = D.source(2, Type::B32);
  const int32_t *clamp = D.list({D.source(3, Type::B32)});
  Inst &inst = D.emit(executeMeet, d, a, b, D.source(4, Type::B32));
  inst.e = e;
  inst.list = clamp;
  inst.flags = mode;
  inst.collect = collectShuffle;
}

namespace {
enum Vote : uint16_t { All, Any, Uniform, Ballot };
} // namespace

static void collectVote(Thread *const *lanes, uint32_t mask) {
  uint32_t votes = 0;
  forLanes(mask, [&](unsigned i) {
    bool vote =
        isTrue(slotOf(lanes[i], &Inst::a)) != bool(lanes[i]->waiting->imm);
    votes |= uint32_t(vote) << i;
  });
  forLanes(mask, [&](unsigned i) {
    uint64_t &result = slotOf(lanes[i], &Inst::d);
    switch (lanes[i]->waiting->flags) {
    case All:
      result = votes == mask;
      break;
    case Any:
      result = votes != 0;
      break;
    case Uniform:
      result = votes == mask || votes == 0;
      break;
    default:
      result = votes;
    }
  });
}

static void decodeVote(Decoder &D) {
  if (!D.take("sync"))
    D.fail("only vote.sync is supported");
  uint16_t mode = D.take("all")      ? All
                  : D.take("any")    ? Any
                  : D.take("uni")    ? Uniform
                  : D.take("ballot") ? Ballot
                                     : 4;
  if (mode == 4)
    D.fail("unknown mode");
  D.takeType();
  D.expectOperands(3);
  int32_t d = D.result(0u), a = D.source(1, Type::Pred);
  Inst &inst = D.emit(executeMeet, d, a, 0, D.source(2, Type::B32));
  inst.flags = mode;
  inst.imm = D.operand(1).negated;
  inst.collect = collectVote;
}

/// The lanes that run together are not known: it could be this one alone.
static const Inst *executeActiveMask(const Inst *I, uint64_t *R, Thread &T) {
  R[I->d] = 1u << T.lane();
  return I + 1;
}

static void decodeActiveMask(Decoder &D) {
  D.takeType();
  D.expectOperands(1);
  D.emit(executeActiveMask, D.result(0u));
}

/// match.any: the lanes with the same value; match.all: the mask if all have.
static void collectMatch(Thread *const *lanes, uint32_t mask) {
  uint64_t values[32];
  forLanes(mask, [&](unsigned i) { values[i] = slotOf(lanes[i], &Inst::a); });
  forLanes(mask, [&](unsigned i) {
    uint32_t same = 0;
    forLanes(mask, [&](unsigned j) {
      same |= uint32_t(values[i] == values[j]) << j;
    });
    bool all = lanes[i]->waiting->flags & 1;
    slotOf(lanes[i], &Inst::d) = all && same != mask ? 0 : same;
    slotOf(lanes[i], &Inst::e) = same == mask;
  });
}

static void decodeMatch(Decoder &D) {
  bool all = D.take("all");
  if (!all && !D.take("any"))
    D.fail("unknown mode");
  if (!D.take("sync"))
    D.fail("only match.sync is supported");
  Type type = D.takeType();
  D.expectOperands(3);
  const Operand &to = D.operand(0);
  bool isPair = to.kind == Operand::Pair;
  int32_t d = D.result(isPair ? to.items[0] : to);
  int32_t e = isPair ? D.result(to.items[1]) : D.temporary();
  int32_t a = D.source(1, type);
  Inst &inst = D.emit(executeMeet, d, a, 0, D.source(2, Type::B32));
  inst.e = e;
  inst.flags = all;
  inst.collect = collectMatch;
}

namespace {
enum Reduction : uint16_t {
  ReduceAdd,
  ReduceMin,
  ReduceMax,
  ReduceAnd,
  ReduceOr,
  ReduceXor,
  ReduceSigned = 8,
  ReduceFloat = 16,
  ReduceAbs = 32,
  ReduceNaN = 64
};
} // namespace

static uint32_t reduce(uint16_t flags, uint32_t a, uint32_t b) {
  switch (flags & 7) {
  case ReduceAdd:
    return a + b;
  case ReduceMin:
    return flags & ReduceSigned ? std::min(int32_t(a), int32_t(b))
                                : std::min(a, b);
  case ReduceMax:
    return flags & ReduceSigned ? std::max(int32_t(a), int32_t(b))
                                : std::max(a, b);
  case ReduceAnd:
    return a & b;
  case ReduceOr:
    return a | b;
  default:
    return a ^ b;
  }
}

static uint32_t reduceFloat(uint16_t flags, uint32_t x, uint32_t y) {
  float a = get<float>(x), b = get<float>(y);
  if (a != a || b != b) {
    bool keeps = flags & ReduceNaN || (a != a && b != b);
    return keeps ? 0x7FFFFFFF : a != a ? y : x;
  }
  bool first = (flags & 7) == ReduceMin ? a < b || (a == b && x >> 31)
                                        : a > b || (a == b && !(x >> 31));
  return first ? x : y;
}

static void collectReduction(Thread *const *lanes, uint32_t mask) {
  bool isFirst = true;
  uint32_t result = 0;
  forLanes(mask, [&](unsigned i) {
    uint16_t flags = lanes[i]->waiting->flags;
    uint32_t value = slotOf(lanes[i], &Inst::a);
    if (flags & ReduceAbs)
      value &= 0x7FFFFFFF;
    if (isFirst)
      result = value;
    else
      result = flags & ReduceFloat ? reduceFloat(flags, result, value)
                                   : reduce(flags, result, value);
    isFirst = false;
  });
  forLanes(mask, [&](unsigned i) { slotOf(lanes[i], &Inst::d) = result; });
}

static void decodeReduction(Decoder &D) {
  if (!D.take("sync"))
    D.fail("only redux.sync is supported");
  static const char *const names[] = {"add", "min", "max", "and", "or", "xor"};
  std::string name = D.takeAny();
  uint16_t flags = 0;
  while (flags != 6 && name != names[flags])
    ++flags;
  if (flags == 6)
    D.fail("unknown reduction");
  flags |= D.take("abs") ? ReduceAbs : 0;
  flags |= D.take("NaN") ? ReduceNaN : 0;
  Type type = D.takeType();
  bool isOrder = (flags & 7) == ReduceMin || (flags & 7) == ReduceMax;
  if (sizeOf(type) != 4 || (type == Type::F32 && !isOrder))
    D.fail("the type is not supported");
  if (type == Type::F32)
    D.needsTarget(100);
  flags |= type == Type::F32   ? ReduceFloat
           : type == Type::S32 ? ReduceSigned
                               : 0;
  D.expectOperands(3);
  int32_t d = D.result(0u), a = D.source(1, type);
  Inst &inst = D.emit(executeMeet, d, a, 0, D.source(2, Type::B32));
  inst.flags = flags;
  inst.collect = collectReduction;
}

static void collectElection(Thread *const *lanes, uint32_t mask) {
  uint32_t leader = __builtin_ctz(mask);
  forLanes(mask, [&](unsigned i) {
    slotOf(lanes[i], &Inst::d) = leader;
    slotOf(lanes[i], &Inst::e) = i == leader;
  });
}

static void decodeElection(Decoder &D) {
  D.needsTarget(90);
  if (!D.take("sync"))
    D.fail("only elect.sync is supported");
  D.expectOperands(2);
  const Operand &to = D.operand(0);
  if (to.kind != Operand::Pair)
    D.fail("the predicate is missing");
  int32_t d = D.result(to.items[0]), e = D.result(to.items[1]);
  Inst &inst = D.emit(executeMeet, d, 0, 0, D.source(1, Type::B32));
  inst.e = e;
  inst.collect = collectElection;
}

/// mapa: an address in the shared memory of a block of the cluster, itself.
static const Inst *executeMapAddress(const Inst *I, uint64_t *R, Thread &T) {
  if (uint32_t(R[I->b]) != T.group->id[0] % T.launch->cluster.x)
    return T.fault(I, CUDA_ERROR_ILLEGAL_ADDRESS,
                   "memory of other blocks of a cluster is not supported");
  R[I->d] = R[I->a];
  return I + 1;
}

static void decodeMapAddress(Decoder &D) {
  D.take("shared::cluster");
  Type type = D.takeType();
  D.expectOperands(3);
  int32_t d = D.result(0u), a = D.source(1, type);
  D.emit(executeMapAddress, d, a, D.source(2, Type::U32));
}

void fakecuda::addWarpInstructions(InstructionTable &table) {
  table["bar"] = decodeBarrier<false>;
  table["barrier"] = decodeBarrier<true>;
  table["shfl"] = decodeShuffle;
  table["vote"] = decodeVote;
  table["activemask"] = decodeActiveMask;
  table["match"] = decodeMatch;
  table["redux"] = decodeReduction;
  table["elect"] = decodeElection;
  table["mapa"] = decodeMapAddress;
}
