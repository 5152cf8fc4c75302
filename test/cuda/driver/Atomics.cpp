//===- Atomics.cpp - Atomic operations and fences -------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Api.h"
#include "Decode.h"
#include "Float.h"

#include <algorithm>

using namespace fakecuda;
using ptx::Operand;

namespace {

struct AtomAdd {
  template <typename T> static T apply(T old, T b, T) {
    if constexpr (std::is_floating_point_v<T>)
      return canonical(old + b);
    else
      return T(std::make_unsigned_t<T>(old) + std::make_unsigned_t<T>(b));
  }
};
struct AtomMin {
  template <typename T> static T apply(T old, T b, T) {
    return std::min(old, b);
  }
};
struct AtomMax {
  template <typename T> static T apply(T old, T b, T) {
    return std::max(old, b);
  }
};
struct AtomAnd {
  template <typename T> static T apply(T old, T b, T) { return old & b; }
};
struct AtomOr {
  template <typename T> static T apply(T old, T b, T) { return old | b; }
};
struct AtomXor {
  template <typename T> static T apply(T old, T b, T) { return old ^ b; }
};
struct AtomExchange {
  template <typename T> static T apply(T, T b, T) { return b; }
};
struct AtomCas {
  template <typename T> static T apply(T old, T b, T c) {
    return old == b ? c : old;
  }
};
struct AtomInc {
  template <typename T> static T apply(T old, T b, T) {
    return old >= b ? 0 : old + 1;
  }
};
struct AtomDec {
  template <typename T> static T apply(T old, T b, T) {
    return old == 0 || old > b ? b : old - 1;
  }
};

/// In Inst::flags, above the space.
enum : uint16_t { kAcquires = 1 << 8, kReleases = 1 << 9, kNarrow = 1 << 10 };

/// Where the operation works; null after a fault. All spaces are told apart by
/// I->flags, as atomics need not be fast.
uint8_t *target(const Inst *I, uint64_t *R, Thread &T, unsigned bytes) {
  uint64_t address = R[I->a] + I->imm;
  if (address & (bytes - 1)) {
    T.fault(I, CUDA_ERROR_MISALIGNED_ADDRESS, "atomic operation");
    return nullptr;
  }
  auto space = Space(I->flags & 0xFF);
  uint8_t *at = space == Space::Shared
                    ? sharedBytes(T, address & 0xFFFFFFFF, bytes)
                : space == Space::Global ? globalBytes(I, T, address, bytes)
                                         : genericBytes(I, T, address, bytes);
  if (!at)
    T.addressFault(I, address, bytes, true);
  Races *races = T.launch->races.get();
  if (!at || !races)
    return at;
  Ordering order{(I->flags & kAcquires) != 0, (I->flags & kReleases) != 0};
  if (!(I->flags & kNarrow)) {
    races->acquire(T, at, order);
    races->release(T, at, order);
  }
  bool isShared = space == Space::Shared ||
                  (space == Space::Generic && address >> 48 == kSharedTag);
  AccessKind kind{/*isWrite=*/true, isShared, /*isStrong=*/true};
  return races->note(I, T, at, bytes, kind) ? at : nullptr;
}

template <typename Op, typename W>
const Inst *executeAtomic(const Inst *I, uint64_t *R, Thread &T) {
  uint8_t *at = target(I, R, T, sizeof(W));
  if (!at)
    return nullptr;
  W old;
  std::memcpy(&old, at, sizeof old);
  W value = Op::apply(old, get<W>(R[I->b]), get<W>(R[I->c]));
  if (std::memcmp(&value, &old, sizeof old))
    T.launch->progressed = true;
  std::memcpy(at, &value, sizeof value);
  set<W>(R[I->d], old);
  return T.yield(I + 1);
}

/// Sums of f16, bf16 and pairs of them: I->lanes are 1 or 2, I->e the type.
const Inst *executeAtomicSmall(const Inst *I, uint64_t *R, Thread &T) {
  unsigned bytes = I->lanes * 2;
  uint8_t *at = target(I, R, T, bytes);
  if (!at)
    return nullptr;
  Format format = I->e ? kBrain : kHalf;
  uint32_t old = 0, value = 0;
  std::memcpy(&old, at, bytes);
  for (unsigned shift = 0; shift != I->lanes * 16u; shift += 16) {
    double sum = addToOdd(decodeFloat(old >> shift & 0xFFFF, format),
                          decodeFloat(R[I->b] >> shift & 0xFFFF, format));
    value |= encodeFloat(sum, format) << shift;
  }
  std::memcpy(at, &value, bytes);
  T.launch->progressed = true;
  R[I->d] = old;
  return T.yield(I + 1);
}

template <bool IsCas>
const Inst *executeAtomic128(const Inst *I, uint64_t *R, Thread &T) {
  uint8_t *at = target(I, R, T, 16);
  if (!at)
    return nullptr;
  uint64_t old[2];
  std::memcpy(old, at, 16);
  int32_t from = IsCas ? I->c : I->b;
  if (!IsCas || (old[0] == R[I->b] && old[1] == R[I->b + 1])) {
    std::memcpy(at, &R[from], 16);
    T.launch->progressed = true;
  }
  R[I->d] = old[0];
  R[I->d + 1] = old[1];
  return T.yield(I + 1);
}

template <typename Op> Exec pickBits(Type type) {
  switch (sizeOf(type)) {
  case 2:
    return &executeAtomic<Op, uint16_t>;
  case 4:
    return &executeAtomic<Op, uint32_t>;
  case 8:
    return &executeAtomic<Op, uint64_t>;
  default:
    return nullptr;
  }
}

template <typename Op> Exec pickOrder(Type type) {
  switch (type) {
  case Type::S32:
    return &executeAtomic<Op, int32_t>;
  case Type::S64:
    return &executeAtomic<Op, int64_t>;
  case Type::U32:
    return &executeAtomic<Op, uint32_t>;
  case Type::U64:
    return &executeAtomic<Op, uint64_t>;
  default:
    return nullptr;
  }
}

Exec pickAdd(Type type) {
  switch (type) {
  case Type::F32:
    return &executeAtomic<AtomAdd, float>;
  case Type::F64:
    return &executeAtomic<AtomAdd, double>;
  case Type::F16:
  case Type::F16x2:
  case Type::BF16:
  case Type::BF16x2:
    return &executeAtomicSmall;
  default:
    return sizeOf(type) < 4 ? nullptr : pickBits<AtomAdd>(type);
  }
}

Exec pick(const std::string &operation, Type type) {
  if (operation == "add")
    return pickAdd(type);
  if (operation == "min")
    return pickOrder<AtomMin>(type);
  if (operation == "max")
    return pickOrder<AtomMax>(type);
  if (operation == "and")
    return pickBits<AtomAnd>(type);
  if (operation == "or")
    return pickBits<AtomOr>(type);
  if (operation == "xor")
    return pickBits<AtomXor>(type);
  if (operation == "exch")
    return sizeOf(type) == 16 ? &executeAtomic128<false>
                              : pickBits<AtomExchange>(type);
  if (operation == "cas")
    return sizeOf(type) == 16 ? &executeAtomic128<true>
                              : pickBits<AtomCas>(type);
  if (operation == "inc" && type == Type::U32)
    return &executeAtomic<AtomInc, uint32_t>;
  if (operation == "dec" && type == Type::U32)
    return &executeAtomic<AtomDec, uint32_t>;
  return nullptr;
}

} // namespace

/// atom has a result, red has none.
template <bool HasResult> static void decodeAtomic(Decoder &D) {
  if (!HasResult && D.take("async"))
    D.fail("red.async is not supported");
  MemoryOrder order = takeOrder(D);
  Space space = takeSpace(D);
  D.take("noftz");
  std::string operation = D.takeAny();
  D.take("noftz");
  Type type = D.takeType();
  Exec exec = pick(operation, type);
  if (!exec)
    D.fail("the operation is not supported");
  if (sizeOf(type) == 16 || type == Type::BF16 || type == Type::BF16x2)
    D.needsTarget(90);
  unsigned sources = operation == "cas" ? 2 : 1, first = HasResult ? 1 : 0;
  D.expectOperands(first + 1 + sources);
  uint64_t offset = 0;
  int32_t a = memoryAddress(D, first, space, offset);
  if (space != Space::Global && space != Space::Shared &&
      space != Space::Generic)
    D.fail("an atomic operation in this space");
  int32_t b = D.source(first + 1, type);
  int32_t c = sources == 2 ? D.source(first + 2, type) : 0;
  int32_t d = HasResult ? D.result(0u) : D.temporary(2);
  Inst &inst = D.emitMemory(exec, d, a, b, c);
  inst.imm = offset;
  inst.flags = uint16_t(space) | (order.acquires ? kAcquires : 0) |
               (order.releases ? kReleases : 0) |
               (order.isNarrow ? kNarrow : 0);
  inst.lanes = sizeOf(type) / 2;
  inst.e = type == Type::BF16 || type == Type::BF16x2;
}

static const Inst *executeFence(const Inst *I, uint64_t *, Thread &T) {
  if (T.launch->races && !(I->flags & kNarrow))
    T.launch->races->fence(
        T, {(I->flags & kAcquires) != 0, (I->flags & kReleases) != 0});
  return I + 1;
}

static void decodeFence(Decoder &D) {
  MemoryOrder order = takeOrder(D);
  // Without an order: both, as __threadfence() is.
  if (!order.acquires && !order.releases)
    order.acquires = order.releases = true;
  static const char *const known[] = {"gl",
                                      "proxy",
                                      "alias",
                                      "async",
                                      "mbarrier_init",
                                      "sync_restrict::shared::cta",
                                      "global",
                                      "shared::cta",
                                      "shared::cluster",
                                      "sync_restrict::shared::cluster"};
  for (const char *word : known)
    D.take(word);
  D.expectOperands(0);
  D.emit(executeFence).flags = (order.acquires ? kAcquires : 0) |
                               (order.releases ? kReleases : 0) |
                               (order.isNarrow ? kNarrow : 0);
}

void fakecuda::addAtomicInstructions(InstructionTable &table) {
  table["atom"] = decodeAtomic<true>;
  table["red"] = decodeAtomic<false>;
  table["fence"] = decodeFence;
  table["membar"] = decodeFence;
}
