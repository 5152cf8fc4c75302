//===- Loads.cpp - Loads, stores and copies -------------------------------===//
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
// Loads and stores
//===----------------------------------------------------------------------===//

namespace {

enum : uint16_t {
  kSigned = 1,
  kYields = 2,
  kAcquires = 4,
  kReleases = 8,
  kNarrow = 16, ///< says nothing to other blocks
  kNonCoherent = 32
};

const Inst *misaligned(const Inst *I, Thread &T, uint64_t address,
                       unsigned bytes) {
  return T.fault(I, CUDA_ERROR_MISALIGNED_ADDRESS,
                 "access of " + std::to_string(bytes) +
                     " bytes at an address that is no multiple of that: " +
                     std::to_string(address));
}

/// Whether nothing speaks against the access; see Races. `value`: what a store
/// is about to write.
template <Space S>
bool isOrdered(const Inst *I, Thread &T, const uint8_t *at, unsigned bytes,
               const void *value) {
  if constexpr (S == Space::Local || S == Space::Param) {
    return true;
  } else {
    Races *races = T.launch->races.get();
    if (!races)
      return true;
    uint64_t tag = (T.R[I->a] + I->imm) >> 48;
    bool isShared =
        S == Space::Shared || (S == Space::Generic && tag == kSharedTag);
    if (S == Space::Generic && tag && !isShared)
      return true;
    AccessKind kind{value != nullptr, isShared, (I->flags & kYields) != 0,
                    (I->flags & kNonCoherent) != 0};
    if (kind.isStrong && !(I->flags & kNarrow)) {
      Ordering order{(I->flags & kAcquires) != 0, (I->flags & kReleases) != 0};
      if (value)
        races->release(T, at, order);
      else
        races->acquire(T, at, order);
    }
    // Threads may store the same value.
    if (value && T.launch->limits.findsRaces == 1 &&
        !std::memcmp(at, value, bytes))
      return true;
    return races->note(I, T, at, bytes, kind);
  }
}

template <typename W> struct SignedOf;
template <> struct SignedOf<uint8_t> {
  using type = int8_t;
};
template <> struct SignedOf<uint16_t> {
  using type = int16_t;
};
template <> struct SignedOf<uint32_t> {
  using type = int32_t;
};
template <> struct SignedOf<uint64_t> {
  using type = int64_t;
};

/// One element; I->e says how many bits a signed value has to be extended to.
template <Space S, typename W>
const Inst *executeLoad(const Inst *I, uint64_t *R, Thread &T) {
  uint64_t address = R[I->a] + I->imm;
  if (address & (sizeof(W) - 1))
    return misaligned(I, T, address, sizeof(W));
  const uint8_t *from = bytesAt<S>(I, T, address, sizeof(W));
  if (!from)
    return T.addressFault(I, address, sizeof(W), false);
  if (!isOrdered<S>(I, T, from, sizeof(W), nullptr))
    return nullptr;
  W value;
  std::memcpy(&value, from, sizeof value);
  R[I->d] = value;
  if (I->flags) {
    if (I->flags & kSigned)
      R[I->d] = static_cast<uint64_t>(static_cast<int64_t>(
                    static_cast<typename SignedOf<W>::type>(value))) &
                (~uint64_t(0) >> (64 - I->e));
    if (I->flags & kYields)
      return T.yield(I + 1);
  }
  return I + 1;
}

template <Space S, typename W>
const Inst *executeLoadVector(const Inst *I, uint64_t *R, Thread &T) {
  uint64_t address = R[I->a] + I->imm;
  unsigned bytes = sizeof(W) * I->lanes;
  if (address & (bytes - 1))
    return misaligned(I, T, address, bytes);
  const uint8_t *from = bytesAt<S>(I, T, address, bytes);
  if (!from)
    return T.addressFault(I, address, bytes, false);
  if (!isOrdered<S>(I, T, from, bytes, nullptr))
    return nullptr;
  for (unsigned i = 0; i != I->lanes; ++i) {
    W value;
    std::memcpy(&value, from + i * sizeof value, sizeof value);
    R[I->list[i]] = value;
    if (I->flags & kSigned)
      R[I->list[i]] = static_cast<uint64_t>(static_cast<int64_t>(
                          static_cast<typename SignedOf<W>::type>(value))) &
                      (~uint64_t(0) >> (64 - I->e));
  }
  return I->flags & kYields ? T.yield(I + 1) : I + 1;
}

template <Space S, typename W>
const Inst *executeStore(const Inst *I, uint64_t *R, Thread &T) {
  uint64_t address = R[I->a] + I->imm;
  if (address & (sizeof(W) - 1))
    return misaligned(I, T, address, sizeof(W));
  uint8_t *to = bytesAt<S>(I, T, address, sizeof(W));
  if (!to)
    return T.addressFault(I, address, sizeof(W), true);
  W value = static_cast<W>(R[I->b]);
  if (!isOrdered<S>(I, T, to, sizeof(W), &value))
    return nullptr;
  std::memcpy(to, &value, sizeof value);
  if constexpr (S != Space::Local)
    T.launch->progressed = true;
  return I + 1;
}

template <Space S, typename W>
const Inst *executeStoreVector(const Inst *I, uint64_t *R, Thread &T) {
  uint64_t address = R[I->a] + I->imm;
  unsigned bytes = sizeof(W) * I->lanes;
  if (address & (bytes - 1))
    return misaligned(I, T, address, bytes);
  uint8_t *to = bytesAt<S>(I, T, address, bytes);
  if (!to)
    return T.addressFault(I, address, bytes, true);
  for (unsigned i = 0; i != I->lanes; ++i) {
    W value = static_cast<W>(R[I->list[i]]);
    if (!isOrdered<S>(I, T, to + i * sizeof(W), sizeof(W), &value))
      return nullptr;
    std::memcpy(to + i * sizeof value, &value, sizeof value);
  }
  T.launch->progressed = true;
  return I + 1;
}

template <Space S, bool IsLoad> Exec pick(unsigned bytes, bool isVector) {
#define PICK(W)                                                                \
  IsLoad ? (isVector ? &executeLoadVector<S, W> : &executeLoad<S, W>)          \
         : (isVector ? &executeStoreVector<S, W> : &executeStore<S, W>)
  switch (bytes) {
  case 1:
    return PICK(uint8_t);
  case 2:
    return PICK(uint16_t);
  case 4:
    return PICK(uint32_t);
  default:
    return PICK(uint64_t);
  }
#undef PICK
}

template <bool IsLoad> Exec pick(Space space, unsigned bytes, bool isVector) {
  switch (space) {
  case Space::Global:
  case Space::Const:
    return pick<Space::Global, IsLoad>(bytes, isVector);
  case Space::Shared:
    return pick<Space::Shared, IsLoad>(bytes, isVector);
  case Space::Local:
    return pick<Space::Local, IsLoad>(bytes, isVector);
  case Space::Param:
    return pick<Space::Param, IsLoad>(bytes, isVector);
  default:
    return pick<Space::Generic, IsLoad>(bytes, isVector);
  }
}

} // namespace

Space fakecuda::takeSpace(Decoder &D) {
  if (D.take("global"))
    return Space::Global;
  if (D.take("shared") || D.take("shared::cta") || D.take("shared::cluster"))
    return Space::Shared;
  if (D.take("local"))
    return Space::Local;
  if (D.take("param") || D.take("param::entry") || D.take("param::func"))
    return Space::Param;
  return D.take("const") ? Space::Const : Space::Generic;
}

MemoryOrder fakecuda::takeOrder(Decoder &D) {
  MemoryOrder order;
  for (const char *word : {"acq_rel", "sc"})
    if (D.take(word))
      order.acquires = order.releases = true;
  order.acquires |= D.take("acquire");
  order.releases |= D.take("release");
  order.isStrong = order.acquires || order.releases;
  for (const char *word : {"volatile", "relaxed", "mmio"})
    order.isStrong |= D.take(word);
  for (const char *word : {"cta", "cluster"})
    order.isNarrow |= D.take(word);
  for (const char *word : {"gpu", "sys", "weak"})
    D.take(word);
  return order;
}

/// What caches may do is nothing to an interpreter.
static void takeCacheHints(Decoder &D) {
  for (const char *hint :
       {"ca", "cg", "cs", "lu", "cv", "wb", "wt", "L1::evict_normal",
        "L1::evict_unchanged", "L1::evict_first", "L1::evict_last",
        "L1::no_allocate", "L2::64B", "L2::128B", "L2::256B", "L2::evict_first",
        "L2::evict_last", "L2::evict_normal", "unified"})
    D.take(hint);
}

int32_t fakecuda::memoryAddress(Decoder &D, unsigned index, Space &space,
                                uint64_t &offset) {
  Symbol::Kind kind;
  int32_t slot = D.address(D.operand(index), offset, kind);
  // Parameters of functions lie in the frame, as do those of calls.
  if (space == Space::Param && (kind == Symbol::Frame || !D.isEntry()))
    space = Space::Local;
  // A bare variable without a space: its own.
  if (space == Space::Generic) {
    if (kind == Symbol::Shared)
      space = Space::Shared;
    else if (kind == Symbol::Frame)
      space = Space::Local;
    else if (kind == Symbol::Param)
      space = Space::Param;
  }
  return slot;
}

template <bool IsLoad> static void decodeAccess(Decoder &D) {
  MemoryOrder order = takeOrder(D);
  Space space = takeSpace(D);
  takeCacheHints(D);
  bool isNonCoherent = IsLoad && D.take("nc");
  takeCacheHints(D);
  unsigned lanes = D.take("v2") ? 2 : D.take("v4") ? 4 : D.take("v8") ? 8 : 1;
  Type type = D.takeType();
  if (lanes * sizeOf(type) > 16)
    D.needsTarget(100);
  D.expectOperands(2);
  uint64_t offset = 0;
  int32_t address = memoryAddress(D, IsLoad ? 1 : 0, space, offset);
  const Operand &values = D.operand(IsLoad ? 0 : 1);
  bool isVector = values.kind == Operand::Vector;
  if ((isVector ? values.items.size() : 1) != lanes)
    D.fail("the number of elements");
  std::vector<int32_t> slots;
  Type registerType = type;
  auto add = [&](const Operand &operand) {
    int32_t slot =
        IsLoad ? D.result(operand, &registerType) : D.source(operand, type);
    slots.push_back(slot);
    if (type == Type::B128)
      slots.push_back(slot + 1);
  };
  if (isVector)
    for (const Operand &item : values.items)
      add(item);
  else
    add(values);
  bool asVector = slots.size() > 1;
  Exec exec = pick<IsLoad>(space, std::min(sizeOf(type), 8u), asVector);
  const int32_t *list = asVector ? D.list(slots) : nullptr;
  Inst &inst =
      D.emitMemory(exec, IsLoad ? slots[0] : 0, address, IsLoad ? 0 : slots[0]);
  inst.imm = offset;
  inst.lanes = slots.size();
  inst.list = list;
  bool isSigned = type >= Type::S8 && type <= Type::S64;
  inst.flags =
      (IsLoad && isSigned ? kSigned : 0) | (order.isStrong ? kYields : 0) |
      (order.acquires ? kAcquires : 0) | (order.releases ? kReleases : 0) |
      (order.isNarrow ? kNarrow : 0) | (isNonCoherent ? kNonCoherent : 0);
  inst.e = std::clamp(sizeOf(registerType), 1u, 8u) * 8;
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

/// Notes that the copy writes: any time between when it is begun and when it
/// was waited for, both of which are noted.
static bool noteCopy(const Inst *I, Thread &T, const PendingCopy &copy) {
  AccessKind kind{/*isWrite=*/true, /*isShared=*/true};
  return !T.launch->races ||
         T.launch->races->note(I, T, copy.to, copy.bytes, kind);
}

/// cp.async: the bytes are read now and are there after the wait, so that code
/// which does not wait finds what was there before.
static const Inst *executeCopy(const Inst *I, uint64_t *R, Thread &T) {
  uint64_t to = R[I->a] + I->imm, from = R[I->b] + uint64_t(int64_t(I->e));
  unsigned bytes = I->lanes;
  unsigned read = I->c ? std::min<uint32_t>(R[I->c], bytes) : bytes;
  if ((to | from) & (bytes - 1))
    return misaligned(I, T, to & (bytes - 1) ? to : from, bytes);
  PendingCopy copy{
      sharedBytes(T, to & 0xFFFFFFFF, bytes), bytes, T.copyGroup, {}};
  if (!copy.to)
    return T.addressFault(I, to, bytes, true);
  if (read) {
    const uint8_t *source = globalBytes(I, T, from, read);
    if (!source)
      return T.addressFault(I, from, read, false);
    std::memcpy(copy.data, source, read);
    if (T.launch->races && !T.launch->races->note(I, T, source, read, {}))
      return nullptr;
  }
  T.copies.push_back(copy);
  return noteCopy(I, T, copy) ? I + 1 : nullptr;
}

static const Inst *executeCommit(const Inst *I, uint64_t *, Thread &T) {
  ++T.copyGroup;
  return I + 1;
}

/// Waits until at most I->imm groups are on their way; -1: for all copies.
static const Inst *executeWait(const Inst *I, uint64_t *, Thread &T) {
  std::erase_if(T.copies, [&](const PendingCopy &copy) {
    if (I->imm != ~uint64_t(0) && copy.group + I->imm >= T.copyGroup)
      return false;
    noteCopy(I, T, copy);
    std::memcpy(copy.to, copy.data, copy.bytes);
    return true;
  });
  if (T.launch->error)
    return nullptr;
  T.launch->progressed = true;
  return I + 1;
}

static void decodeCopy(Decoder &D) {
  if (!D.take("async"))
    D.fail("unknown copy");
  if (D.take("commit_group")) {
    D.emit(executeCommit);
    return;
  }
  if (D.take("wait_all")) {
    D.emit(executeWait).imm = ~uint64_t(0);
    return;
  }
  if (D.take("wait_group")) {
    D.expectOperands(1);
    D.emit(executeWait).imm = D.literal(0);
    return;
  }
  takeCacheHints(D);
  if (!D.take("shared") && !D.take("shared::cta"))
    D.fail("unknown copy");
  if (!D.take("global"))
    D.fail("unknown copy");
  D.expectOperands(3, 4);
  uint64_t bytes = D.literal(2);
  if (bytes != 4 && bytes != 8 && bytes != 16)
    D.fail("a copy of this size");
  uint64_t to = 0, from = 0;
  Space shared = Space::Shared, global = Space::Global;
  int32_t a = memoryAddress(D, 0, shared, to),
          b = memoryAddress(D, 1, global, from);
  int32_t c = D.operands().size() == 4 ? D.source(3, Type::U32) : 0;
  Inst &inst = D.emitMemory(executeCopy, 0, a, b, c);
  inst.imm = to;
  inst.e = int32_t(from);
  inst.lanes = bytes;
}

void fakecuda::addMemoryInstructions(InstructionTable &table) {
  table["ld"] = decodeAccess<true>;
  table["ldu"] = decodeAccess<true>;
  table["st"] = decodeAccess<false>;
  table["cp"] = decodeCopy;
}
