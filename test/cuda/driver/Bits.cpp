//===- Bits.cpp - Instructions on fields and bytes of words ---------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decode.h"

#include <algorithm>
#include <type_traits>

using namespace fakecuda;

/// shf: 64 bits from two words, shifted; Clamp: counts up to 32, else modulo.
template <bool Left, bool Clamp>
static const Inst *executeFunnel(const Inst *I, uint64_t *R, Thread &) {
  uint64_t both =
      uint64_t(get<uint32_t>(R[I->b])) << 32 | get<uint32_t>(R[I->a]);
  uint32_t count = get<uint32_t>(R[I->c]);
  count = Clamp ? std::min(count, 32u) : count & 31;
  set<uint32_t>(R[I->d], Left ? (both << count) >> 32 : both >> count);
  return I + 1;
}

static void decodeFunnel(Decoder &D) {
  bool left = D.take("l");
  if (!left && !D.take("r"))
    D.fail("the direction is missing");
  bool clamp = D.take("clamp");
  if (!clamp && !D.take("wrap"))
    D.fail("the mode is missing");
  Type type = D.takeType();
  Exec exec =
      left ? (clamp ? &executeFunnel<true, true> : &executeFunnel<true, false>)
           : (clamp ? &executeFunnel<false, true>
                    : &executeFunnel<false, false>);
  emitTernary(D, type == Type::B32 ? exec : nullptr, type, Type::U32);
}

template <typename T>
static const Inst *executeExtract(const Inst *I, uint64_t *R, Thread &) {
  constexpr uint32_t top = sizeof(T) * 8 - 1;
  T a = get<T>(R[I->a]);
  uint32_t position = R[I->b] & 0xFF, length = R[I->c] & 0xFF;
  bool sign = false;
  if (std::is_signed_v<T> && length)
    sign = a >> std::min(position + length - 1, top) & 1;
  std::make_unsigned_t<T> result = 0;
  for (uint32_t i = 0; i <= top; ++i) {
    bool bit =
        i < length && position + i <= top ? a >> (position + i) & 1 : sign;
    result |= std::make_unsigned_t<T>(bit) << i;
  }
  set(R[I->d], result);
  return I + 1;
}

static void decodeExtract(Decoder &D) {
  Type type = D.takeType();
#define EXEC(T) &executeExtract<T>
  Exec exec = FAKE_CUDA_PICK_INTEGER(type, EXEC);
#undef EXEC
  if (!exec || sizeOf(type) < 4)
    D.fail("the type is not supported");
  D.expectOperands(4);
  int32_t d = D.result(0u), a = D.source(1, type), b = D.source(2, Type::U32);
  D.emit(exec, d, a, b, D.source(3, Type::U32));
}

template <typename T>
static const Inst *executeInsert(const Inst *I, uint64_t *R, Thread &) {
  T a = get<T>(R[I->a]), result = get<T>(R[I->b]);
  uint32_t position = R[I->c] & 0xFF, length = R[I->e] & 0xFF;
  for (uint32_t i = 0; i < length && position + i < sizeof(T) * 8; ++i) {
    T bit = T(1) << (position + i);
    result = a >> i & 1 ? result | bit : result & ~bit;
  }
  set(R[I->d], result);
  return I + 1;
}

static void decodeInsert(Decoder &D) {
  Type type = D.takeType();
  D.expectOperands(5);
  int32_t d = D.result(0u), a = D.source(1, type), b = D.source(2, type);
  int32_t c = D.source(3, Type::U32), e = D.source(4, Type::U32);
  D.emit(sizeOf(type) == 4 ? &executeInsert<uint32_t>
                           : &executeInsert<uint64_t>,
         d, a, b, c)
      .e = e;
}

/// fns: the position of the n-th set bit of `a` from bit `b` on, upwards for
/// positive n, else downwards.
static const Inst *executeFindNth(const Inst *I, uint64_t *R, Thread &) {
  uint32_t mask = R[I->a], base = R[I->b], result = ~0u;
  int32_t n = get<int32_t>(R[I->c]);
  int32_t left = n < 0 ? -n : n, step = n < 0 ? -1 : 1;
  for (int32_t at = int32_t(base); at >= 0 && at < 32; at += step) {
    if (!(mask >> at & 1))
      continue;
    if (n == 0 && at != int32_t(base))
      break;
    if (left <= 1) {
      result = at;
      break;
    }
    --left;
  }
  set(R[I->d], result);
  return I + 1;
}

static void decodeFindNth(Decoder &D) {
  Type type = D.takeType();
  emitTernary(D, executeFindNth, type, Type::S32);
}

/// prmt: four of the eight bytes of two words; the imm is the mode.
static const Inst *executePermute(const Inst *I, uint64_t *R, Thread &) {
  uint32_t a = R[I->a], b = R[I->b], selector = R[I->c];
  uint64_t both = uint64_t(b) << 32 | a;
  uint32_t at = selector & 3, result = 0;
  for (uint32_t i = 0; i != 4; ++i) {
    uint32_t from = 0;
    bool replicates = false;
    switch (I->imm) {
    case 0: // default
      from = selector >> (4 * i) & 7;
      replicates = selector >> (4 * i) & 8;
      break;
    case 1: // f4e
      from = at + i;
      break;
    case 2: // b4e
      from = (at + 8 - i) & 7;
      break;
    case 3: // rc8
      from = at;
      break;
    case 4: // ecl
      from = std::max(i, at);
      break;
    case 5: // ecr
      from = std::min(i, at);
      break;
    case 6: // rc16
      from = (at & 1) * 2 + (i & 1);
      break;
    }
    uint32_t byte = both >> (8 * from) & 0xFF;
    if (replicates)
      byte = byte & 0x80 ? 0xFF : 0;
    result |= byte << (8 * i);
  }
  set(R[I->d], result);
  return I + 1;
}

static void decodePermute(Decoder &D) {
  Type type = D.takeType();
  static const char *const modes[] = {"f4e", "b4e", "rc8",
                                      "ecl", "ecr", "rc16"};
  uint64_t mode = 0;
  for (unsigned i = 0; i != 6; ++i)
    if (D.take(modes[i]))
      mode = i + 1;
  D.expectOperands(4);
  int32_t d = D.result(0u), a = D.source(1, type), b = D.source(2, type);
  D.emit(executePermute, d, a, b, D.source(3, type)).imm = mode;
}

static const Inst *executeLop3(const Inst *I, uint64_t *R, Thread &) {
  uint32_t a = R[I->a], b = R[I->b], c = R[I->c], result = 0;
  for (unsigned i = 0; i != 8; ++i)
    if (I->imm >> i & 1)
      result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  set(R[I->d], result);
  return I + 1;
}

static void decodeLop3(Decoder &D) {
  Type type = D.takeType();
  D.expectOperands(5);
  int32_t d = D.result(0u), a = D.source(1, type), b = D.source(2, type);
  uint64_t table = D.literal(4);
  D.emit(executeLop3, d, a, b, D.source(3, type)).imm = table;
}

/// bmsk: `b` ones from bit `a` on.
template <bool Clamp>
static const Inst *executeMask(const Inst *I, uint64_t *R, Thread &) {
  uint32_t a = R[I->a], b = R[I->b];
  if (!Clamp) {
    a &= 31;
    b &= 31;
  }
  uint64_t ones = b >= 32 ? 0xFFFFFFFF : (uint64_t(1) << b) - 1;
  set<uint32_t>(R[I->d], a >= 32 ? 0 : uint32_t(ones << a));
  return I + 1;
}

static void decodeMask(Decoder &D) {
  bool clamp = D.take("clamp");
  if (!clamp && !D.take("wrap"))
    D.fail("the mode is missing");
  Type type = D.takeType();
  emitBinary(D, clamp ? &executeMask<true> : &executeMask<false>, type);
}

/// szext: `b` bits of `a`, extended.
template <bool Signed, bool Clamp>
static const Inst *executeExtend(const Inst *I, uint64_t *R, Thread &) {
  uint32_t a = R[I->a], bits = R[I->b];
  if (!Clamp)
    bits &= 31;
  uint32_t result = a;
  if (bits == 0)
    result = 0;
  else if (bits < 32)
    result = Signed ? uint32_t(int32_t(a << (32 - bits)) >> (32 - bits))
                    : a & ((1u << bits) - 1);
  set(R[I->d], result);
  return I + 1;
}

static void decodeExtend(Decoder &D) {
  bool clamp = D.take("clamp");
  if (!clamp && !D.take("wrap"))
    D.fail("the mode is missing");
  Type type = D.takeType();
  Exec exec =
      type == Type::S32
          ? (clamp ? &executeExtend<true, true> : &executeExtend<true, false>)
          : (clamp ? &executeExtend<false, true>
                   : &executeExtend<false, false>);
  emitBinary(D, exec, type);
}

void fakecuda::addBitInstructions(InstructionTable &table) {
  table["shf"] = decodeFunnel;
  table["bfe"] = decodeExtract;
  table["bfi"] = decodeInsert;
  table["fns"] = decodeFindNth;
  table["prmt"] = decodePermute;
  table["lop3"] = decodeLop3;
  table["bmsk"] = decodeMask;
  table["szext"] = decodeExtend;
}
