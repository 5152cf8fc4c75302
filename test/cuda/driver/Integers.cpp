//===- Integers.cpp - Instructions on integers and bits -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decode.h"

#include <algorithm>
#include <limits>
#include <type_traits>

using namespace fakecuda;

//===----------------------------------------------------------------------===//
// Shapes of instructions
//===----------------------------------------------------------------------===//

namespace {

template <typename Op, typename T>
const Inst *unary(const Inst *I, uint64_t *R, Thread &) {
  set(R[I->d], static_cast<typename Op::template Result<T>>(
                   Op::apply(get<T>(R[I->a]))));
  return I + 1;
}

template <typename Op, typename T>
const Inst *binary(const Inst *I, uint64_t *R, Thread &) {
  set<T>(R[I->d], Op::apply(get<T>(R[I->a]), get<T>(R[I->b])));
  return I + 1;
}

template <typename Op, typename T>
const Inst *ternary(const Inst *I, uint64_t *R, Thread &) {
  set<T>(R[I->d],
         Op::apply(get<T>(R[I->a]), get<T>(R[I->b]), get<T>(R[I->c])));
  return I + 1;
}

/// Two lanes of 16 bits.
template <typename Op, typename T>
const Inst *binaryPacked(const Inst *I, uint64_t *R, Thread &) {
  uint32_t a = R[I->a], b = R[I->b];
  uint32_t low = uint16_t(Op::apply(T(a), T(b)));
  uint32_t high = uint16_t(Op::apply(T(a >> 16), T(b >> 16)));
  set<uint32_t>(R[I->d], low | high << 16);
  return I + 1;
}

/// A shift: the count is 32 bits wide whatever is shifted.
template <typename Op, typename T>
const Inst *shift(const Inst *I, uint64_t *R, Thread &) {
  set<T>(R[I->d], Op::apply(get<T>(R[I->a]), get<uint32_t>(R[I->b])));
  return I + 1;
}

template <typename T> using Unsigned = std::make_unsigned_t<T>;

template <typename T> struct Twice;
template <> struct Twice<uint16_t> { using type = uint32_t; };
template <> struct Twice<uint32_t> { using type = uint64_t; };
template <> struct Twice<uint64_t> { using type = unsigned __int128; };
template <> struct Twice<int16_t> { using type = int32_t; };
template <> struct Twice<int32_t> { using type = int64_t; };
template <> struct Twice<int64_t> { using type = __int128; };

/// Arithmetic modulo 2^n.
template <typename T> T wrappingAdd(T a, T b) {
  return static_cast<T>(Unsigned<T>(Unsigned<T>(a) + Unsigned<T>(b)));
}
template <typename T> T wrappingSub(T a, T b) {
  return static_cast<T>(Unsigned<T>(Unsigned<T>(a) - Unsigned<T>(b)));
}
template <typename T> T mulLow(T a, T b) {
  return static_cast<T>(
      static_cast<Unsigned<T>>(uint64_t(Unsigned<T>(a)) * uint64_t(Unsigned<T>(b))));
}
template <typename T> T mulHigh(T a, T b) {
  using Wide = typename Twice<T>::type;
  return static_cast<T>((Wide(a) * Wide(b)) >> (sizeof(T) * 8));
}

struct Add {
  template <typename T> static T apply(T a, T b) { return wrappingAdd(a, b); }
};
struct Sub {
  template <typename T> static T apply(T a, T b) { return wrappingSub(a, b); }
};
template <typename T> T saturate(int64_t value) {
  return std::clamp<int64_t>(value, std::numeric_limits<T>::min(),
                             std::numeric_limits<T>::max());
}
struct AddSat {
  template <typename T> static T apply(T a, T b) {
    return saturate<T>(int64_t(a) + int64_t(b));
  }
};
struct SubSat {
  template <typename T> static T apply(T a, T b) {
    return saturate<T>(int64_t(a) - int64_t(b));
  }
};
struct MulLow {
  template <typename T> static T apply(T a, T b) { return mulLow(a, b); }
};
struct MulHigh {
  template <typename T> static T apply(T a, T b) { return mulHigh(a, b); }
};
struct MadLow {
  template <typename T> static T apply(T a, T b, T c) {
    return wrappingAdd(mulLow(a, b), c);
  }
};
struct MadHigh {
  template <typename T> static T apply(T a, T b, T c) {
    return wrappingAdd(mulHigh(a, b), c);
  }
};
/// Division by zero gives what the hardware gives: all ones.
struct Div {
  template <typename T> static T apply(T a, T b) {
    if (b == 0)
      return static_cast<T>(~T(0));
    if (std::is_signed_v<T> && b == T(-1))
      return wrappingSub<T>(0, a);
    return a / b;
  }
};
struct Rem {
  template <typename T> static T apply(T a, T b) {
    if (b == 0)
      return a;
    if (std::is_signed_v<T> && b == T(-1))
      return 0;
    return a % b;
  }
};
struct Min {
  template <typename T> static T apply(T a, T b) { return std::min(a, b); }
};
struct Max {
  template <typename T> static T apply(T a, T b) { return std::max(a, b); }
};
struct MinRelu {
  template <typename T> static T apply(T a, T b) {
    return std::max<T>(std::min(a, b), 0);
  }
};
struct MaxRelu {
  template <typename T> static T apply(T a, T b) {
    return std::max<T>(std::max(a, b), 0);
  }
};
struct And {
  template <typename T> static T apply(T a, T b) { return a & b; }
};
struct Or {
  template <typename T> static T apply(T a, T b) { return a | b; }
};
struct Xor {
  template <typename T> static T apply(T a, T b) { return a ^ b; }
};
struct ShiftLeft {
  template <typename T> static T apply(T a, uint32_t count) {
    return count >= sizeof(T) * 8 ? T(0) : T(Unsigned<T>(a) << count);
  }
};
struct ShiftRight {
  template <typename T> static T apply(T a, uint32_t count) {
    if (count >= sizeof(T) * 8)
      return a < 0 ? T(-1) : T(0);
    return a >> count;
  }
};

struct SameResult {
  template <typename T> using Result = T;
};
struct WordResult {
  template <typename T> using Result = uint32_t;
};
struct Neg : SameResult {
  template <typename T> static T apply(T a) { return wrappingSub<T>(0, a); }
};
struct Abs : SameResult {
  template <typename T> static T apply(T a) {
    return a < 0 ? wrappingSub<T>(0, a) : a;
  }
};
struct Not : SameResult {
  template <typename T> static T apply(T a) { return ~a; }
};
struct CNot : SameResult {
  template <typename T> static T apply(T a) { return a == 0; }
};
struct Popc : WordResult {
  template <typename T> static uint32_t apply(T a) {
    return __builtin_popcountll(Unsigned<T>(a));
  }
};
struct Clz : WordResult {
  template <typename T> static uint32_t apply(T a) {
    constexpr int bits = sizeof(T) * 8;
    return a == 0 ? bits : __builtin_clzll(Unsigned<T>(a)) - (64 - bits);
  }
};
struct Brev : SameResult {
  template <typename T> static T apply(T a) {
    Unsigned<T> from = a, to = 0;
    for (unsigned i = 0; i != sizeof(T) * 8; ++i)
      to |= (from >> i & 1) << (sizeof(T) * 8 - 1 - i);
    return to;
  }
};
/// The highest bit that differs from the sign; with Shift its distance from
/// the top.
template <bool Shift> struct Bfind : WordResult {
  template <typename T> static uint32_t apply(T a) {
    constexpr uint32_t top = sizeof(T) * 8 - 1;
    Unsigned<T> bits = a < 0 ? ~a : a;
    if (bits == 0)
      return ~0u;
    uint32_t position = 63 - __builtin_clzll(bits);
    return Shift ? top - position : position;
  }
};

template <typename Op> Exec pickUnary(Type type) {
#define EXEC(T) &unary<Op, T>
  return FAKE_CUDA_PICK_INTEGER(type, EXEC);
#undef EXEC
}
template <typename Op> Exec pickBinary(Type type) {
#define EXEC(T) &binary<Op, T>
  return FAKE_CUDA_PICK_INTEGER(type, EXEC);
#undef EXEC
}
template <typename Op> Exec pickTernary(Type type) {
#define EXEC(T) &ternary<Op, T>
  return FAKE_CUDA_PICK_INTEGER(type, EXEC);
#undef EXEC
}
template <typename Op> Exec pickShift(Type type) {
#define EXEC(T) &shift<Op, T>
  return FAKE_CUDA_PICK_INTEGER(type, EXEC);
#undef EXEC
}
template <typename Op> Exec pickPacked(Type type) {
  if (type == Type::U16x2)
    return &binaryPacked<Op, uint16_t>;
  return type == Type::S16x2 ? &binaryPacked<Op, int16_t> : nullptr;
}

} // namespace

//===----------------------------------------------------------------------===//
// Decoders
//===----------------------------------------------------------------------===//

static Exec checked(Decoder &D, Exec exec) {
  if (!exec)
    D.fail("the type is not supported");
  return exec;
}

static void emitBinary(Decoder &D, Exec exec, Type type) {
  D.expectOperands(3);
  int32_t d = D.result(0u);
  int32_t a = D.source(1, type), b = D.source(2, type);
  D.emit(checked(D, exec), d, a, b);
}

static void emitUnary(Decoder &D, Exec exec, Type type) {
  D.expectOperands(2);
  int32_t d = D.result(0u);
  D.emit(checked(D, exec), d, D.source(1, type));
}

static void emitTernary(Decoder &D, Exec exec, Type type, Type third) {
  D.expectOperands(4);
  int32_t d = D.result(0u), a = D.source(1, type), b = D.source(2, type);
  D.emit(checked(D, exec), d, a, b, D.source(3, third));
}

/// add.cc, addc, sub.cc, subc: with the carry flag of the thread.
template <typename T, bool IsSub, bool Reads, bool Writes>
static const Inst *executeCarry(const Inst *I, uint64_t *R, Thread &thread) {
  using U = unsigned __int128;
  U a = get<T>(R[I->a]), b = get<T>(R[I->b]);
  U carry = Reads && thread.carry;
  U result = IsSub ? a - b - carry : a + b + carry;
  if (Writes)
    thread.carry = result >> (sizeof(T) * 8) & 1;
  set<T>(R[I->d], static_cast<T>(result));
  return I + 1;
}

template <bool IsSub, bool Reads, bool Writes> static Exec pickCarry(Type type) {
  if (sizeOf(type) == 4)
    return &executeCarry<uint32_t, IsSub, Reads, Writes>;
  return &executeCarry<uint64_t, IsSub, Reads, Writes>;
}

template <bool IsSub> static void decodeAddOrSub(Decoder &D) {
  bool carries = D.take("cc"), saturates = D.take("sat");
  Type type = D.takeType();
  if (carries)
    return emitBinary(D, pickCarry<IsSub, false, true>(type), type);
  if (saturates) {
    if (type != Type::S32)
      D.fail(".sat of this type");
    return emitBinary(
        D, pickBinary<std::conditional_t<IsSub, SubSat, AddSat>>(type), type);
  }
  using Op = std::conditional_t<IsSub, Sub, Add>;
  if (Exec packed = pickPacked<Op>(type))
    return emitBinary(D, packed, type);
  emitBinary(D, pickBinary<Op>(type), type);
}

void fakecuda::decodeIntegerAdd(Decoder &D) { decodeAddOrSub<false>(D); }
void fakecuda::decodeIntegerSub(Decoder &D) { decodeAddOrSub<true>(D); }

template <bool IsSub> static void decodeCarry(Decoder &D) {
  bool writes = D.take("cc");
  Type type = D.takeType();
  emitBinary(D,
             writes ? pickCarry<IsSub, true, true>(type)
                    : pickCarry<IsSub, true, false>(type),
             type);
}

/// The operands are half as wide as the result.
template <typename T, bool HasAddend>
static const Inst *executeMulWide(const Inst *I, uint64_t *R, Thread &) {
  using Wide = typename Twice<T>::type;
  Wide product = Wide(get<T>(R[I->a])) * Wide(get<T>(R[I->b]));
  if (HasAddend)
    product = wrappingAdd(product, get<Wide>(R[I->c]));
  set<Wide>(R[I->d], product);
  return I + 1;
}

template <bool HasAddend> static Exec pickMulWide(Type type) {
  switch (type) {
  case Type::U16:
    return &executeMulWide<uint16_t, HasAddend>;
  case Type::S16:
    return &executeMulWide<int16_t, HasAddend>;
  case Type::U32:
    return &executeMulWide<uint32_t, HasAddend>;
  case Type::S32:
    return &executeMulWide<int32_t, HasAddend>;
  default:
    return nullptr;
  }
}

void fakecuda::decodeIntegerMul(Decoder &D) {
  bool low = D.take("lo"), high = D.take("hi"), wide = D.take("wide");
  Type type = D.takeType();
  if (low + high + wide != 1)
    D.fail("one of .lo, .hi and .wide is missing");
  if (wide)
    return emitBinary(D, pickMulWide<false>(type), type);
  emitBinary(D, low ? pickBinary<MulLow>(type) : pickBinary<MulHigh>(type),
             type);
}

/// mad.lo.cc and madc: with the carry flag.
template <typename T, bool High, bool Reads, bool Writes>
static const Inst *executeMadCarry(const Inst *I, uint64_t *R, Thread &thread) {
  T a = get<T>(R[I->a]), b = get<T>(R[I->b]);
  unsigned __int128 sum = get<T>(R[I->c]);
  sum += High ? mulHigh(a, b) : mulLow(a, b);
  sum += Reads && thread.carry;
  if (Writes)
    thread.carry = sum >> (sizeof(T) * 8) & 1;
  set<T>(R[I->d], static_cast<T>(sum));
  return I + 1;
}

template <bool High, bool Reads> static Exec pickMadCarry(Type type, bool writes) {
  bool isWord = sizeOf(type) == 4;
  if (type == Type::S32 || type == Type::S64) // mul.hi differs
    if (High)
      return nullptr;
  if (writes)
    return isWord ? &executeMadCarry<uint32_t, High, Reads, true>
                  : &executeMadCarry<uint64_t, High, Reads, true>;
  return isWord ? &executeMadCarry<uint32_t, High, Reads, false>
                : &executeMadCarry<uint64_t, High, Reads, false>;
}

void fakecuda::decodeIntegerMad(Decoder &D) {
  bool low = D.take("lo"), high = D.take("hi"), wide = D.take("wide");
  bool carries = D.take("cc");
  Type type = D.takeType();
  if (low + high + wide != 1)
    D.fail("one of .lo, .hi and .wide is missing");
  if (carries && !wide)
    return emitTernary(D,
                       low ? pickMadCarry<false, false>(type, true)
                           : pickMadCarry<true, false>(type, true),
                       type, type);
  if (wide)
    return emitTernary(D, pickMulWide<true>(type), type,
                       sizeOf(type) == 2 ? Type::B32 : Type::B64);
  emitTernary(D, low ? pickTernary<MadLow>(type) : pickTernary<MadHigh>(type),
              type, type);
}

static void decodeMadCarryIn(Decoder &D) {
  bool high = D.take("hi");
  if (!high && !D.take("lo"))
    D.fail("one of .lo and .hi is missing");
  bool writes = D.take("cc");
  Type type = D.takeType();
  emitTernary(D,
              high ? pickMadCarry<true, true>(type, writes)
                   : pickMadCarry<false, true>(type, writes),
              type, type);
}

void fakecuda::decodeIntegerDiv(Decoder &D) {
  Type type = D.takeType();
  emitBinary(D, pickBinary<Div>(type), type);
}

static void decodeRem(Decoder &D) {
  Type type = D.takeType();
  emitBinary(D, pickBinary<Rem>(type), type);
}

template <typename Op, typename Relu> static void decodeMinMax(Decoder &D) {
  bool relu = D.take("relu");
  Type type = D.takeType();
  Exec packed = relu ? pickPacked<Relu>(type) : pickPacked<Op>(type);
  if (packed)
    return emitBinary(D, packed, type);
  emitBinary(D, relu ? pickBinary<Relu>(type) : pickBinary<Op>(type), type);
}

void fakecuda::decodeIntegerMin(Decoder &D) { decodeMinMax<Min, MinRelu>(D); }
void fakecuda::decodeIntegerMax(Decoder &D) { decodeMinMax<Max, MaxRelu>(D); }
void fakecuda::decodeIntegerNeg(Decoder &D) {
  Type type = D.takeType();
  emitUnary(D, pickUnary<Neg>(type), type);
}
void fakecuda::decodeIntegerAbs(Decoder &D) {
  Type type = D.takeType();
  emitUnary(D, pickUnary<Abs>(type), type);
}

template <typename Op> static void decodeLogic(Decoder &D) {
  Type type = D.takeType();
  // Predicates hold 0 or 1, so that the bits of a word do.
  emitBinary(D, pickBinary<Op>(type == Type::Pred ? Type::B16 : type), type);
}

static const Inst *executeNotPredicate(const Inst *I, uint64_t *R, Thread &) {
  R[I->d] = !isTrue(R[I->a]);
  return I + 1;
}

static void decodeNot(Decoder &D) {
  Type type = D.takeType();
  emitUnary(D, type == Type::Pred ? &executeNotPredicate : pickUnary<Not>(type),
            type);
}

template <typename Op> static void decodeUnary(Decoder &D) {
  Type type = D.takeType();
  emitUnary(D, pickUnary<Op>(type), type);
}

static void decodeBfind(Decoder &D) {
  bool shift = D.take("shiftamt");
  Type type = D.takeType();
  emitUnary(D, shift ? pickUnary<Bfind<true>>(type) : pickUnary<Bfind<false>>(type),
            type);
}

template <typename Op> static void decodeShift(Decoder &D) {
  Type type = D.takeType();
  D.expectOperands(3);
  int32_t d = D.result(0u), a = D.source(1, type);
  D.emit(checked(D, pickShift<Op>(type)), d, a, D.source(2, Type::U32));
}

/// shf: 64 bits from two words, shifted; Clamp: counts up to 32, else modulo.
template <bool Left, bool Clamp>
static const Inst *executeFunnel(const Inst *I, uint64_t *R, Thread &) {
  uint64_t both = uint64_t(get<uint32_t>(R[I->b])) << 32 | get<uint32_t>(R[I->a]);
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
  Exec exec = left ? (clamp ? &executeFunnel<true, true>
                            : &executeFunnel<true, false>)
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
  Unsigned<T> result = 0;
  for (uint32_t i = 0; i <= top; ++i) {
    bool bit = i < length && position + i <= top ? a >> (position + i) & 1 : sign;
    result |= Unsigned<T>(bit) << i;
  }
  set(R[I->d], result);
  return I + 1;
}

static void decodeExtract(Decoder &D) {
  Type type = D.takeType();
  D.expectOperands(4);
  int32_t d = D.result(0u), a = D.source(1, type), b = D.source(2, Type::U32);
#define EXEC(T) &executeExtract<T>
  D.emit(checked(D, sizeOf(type) < 4 ? nullptr
                                     : FAKE_CUDA_PICK_INTEGER(type, EXEC)),
         d, a, b, D.source(3, Type::U32));
#undef EXEC
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
  D.emit(sizeOf(type) == 4 ? &executeInsert<uint32_t> : &executeInsert<uint64_t>,
         d, a, b, c)
      .e = e;
}

/// sad: |a - b| + c.
struct AbsoluteDifference {
  template <typename T> static T apply(T a, T b, T c) {
    return wrappingAdd(a < b ? wrappingSub(b, a) : wrappingSub(a, b), c);
  }
};

static void decodeDifference(Decoder &D) {
  Type type = D.takeType();
  emitTernary(D, pickTernary<AbsoluteDifference>(type), type, type);
}

/// mul24: 24 bits of each operand; the upper or lower 32 of the 48.
template <bool Signed>
static const Inst *executeMul24(const Inst *I, uint64_t *R, Thread &) {
  int32_t a = int32_t(R[I->a] << 8), b = int32_t(R[I->b] << 8);
  int64_t product = Signed ? int64_t(a >> 8) * (b >> 8)
                           : int64_t(uint32_t(a) >> 8) * (uint32_t(b) >> 8);
  set<uint32_t>(R[I->d], uint32_t(product >> I->imm));
  return I + 1;
}

static void decodeMul24(Decoder &D) {
  bool high = D.take("hi");
  if (!high && !D.take("lo"))
    D.fail("one of .lo and .hi is missing");
  Type type = D.takeType();
  D.expectOperands(3);
  int32_t d = D.result(0u), a = D.source(1, type);
  D.emit(type == Type::S32 ? &executeMul24<true> : &executeMul24<false>, d, a,
         D.source(2, type))
      .imm = high ? 16 : 0;
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
  static const char *const modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
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

/// dp4a: four products of bytes; dp2a: two of a half word and a byte.
template <bool ASigned, bool BSigned>
static const Inst *executeDot(const Inst *I, uint64_t *R, Thread &) {
  uint32_t a = R[I->a], b = R[I->b], sum = R[I->c];
  auto byteOf = [](uint32_t word, unsigned i, bool isSigned) -> int32_t {
    uint8_t byte = word >> (8 * i);
    return isSigned ? int32_t(int8_t(byte)) : int32_t(byte);
  };
  for (unsigned i = 0; i != I->lanes; ++i) {
    int32_t left = byteOf(a, i, ASigned);
    if (I->lanes == 2)
      left = ASigned ? int32_t(int16_t(a >> (16 * i))) : int32_t(uint16_t(a >> (16 * i)));
    sum += uint32_t(left * byteOf(b, i + I->flags, BSigned));
  }
  set(R[I->d], sum);
  return I + 1;
}

template <unsigned Lanes> static void decodeDot(Decoder &D) {
  bool high = Lanes == 2 && D.take("hi");
  if (Lanes == 2 && !high && !D.take("lo"))
    D.fail("one of .lo and .hi is missing");
  Type a = D.takeType(), b = D.takeType();
  D.expectOperands(4);
  Exec exec = a == Type::S32 ? (b == Type::S32 ? &executeDot<true, true>
                                               : &executeDot<true, false>)
                             : (b == Type::S32 ? &executeDot<false, true>
                                               : &executeDot<false, false>);
  int32_t d = D.result(0u), x = D.source(1, Type::B32);
  int32_t y = D.source(2, Type::B32);
  Inst &inst = D.emit(exec, d, x, y, D.source(3, Type::B32));
  inst.lanes = Lanes;
  inst.flags = high ? 2 : 0;
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
  Exec exec = type == Type::S32
                  ? (clamp ? &executeExtend<true, true> : &executeExtend<true, false>)
                  : (clamp ? &executeExtend<false, true> : &executeExtend<false, false>);
  emitBinary(D, exec, type);
}

void fakecuda::addIntegerInstructions(InstructionTable &table) {
  table["addc"] = decodeCarry<false>;
  table["subc"] = decodeCarry<true>;
  table["madc"] = decodeMadCarryIn;
  table["rem"] = decodeRem;
  table["and"] = decodeLogic<And>;
  table["or"] = decodeLogic<Or>;
  table["xor"] = decodeLogic<Xor>;
  table["not"] = decodeNot;
  table["cnot"] = decodeUnary<CNot>;
  table["popc"] = decodeUnary<Popc>;
  table["clz"] = decodeUnary<Clz>;
  table["brev"] = decodeUnary<Brev>;
  table["bfind"] = decodeBfind;
  table["shl"] = decodeShift<ShiftLeft>;
  table["shr"] = decodeShift<ShiftRight>;
  table["shf"] = decodeFunnel;
  table["bfe"] = decodeExtract;
  table["bfi"] = decodeInsert;
  table["sad"] = decodeDifference;
  table["mul24"] = decodeMul24;
  table["fns"] = decodeFindNth;
  table["prmt"] = decodePermute;
  table["lop3"] = decodeLop3;
  table["dp4a"] = decodeDot<4>;
  table["dp2a"] = decodeDot<2>;
  table["bmsk"] = decodeMask;
  table["szext"] = decodeExtend;
}
