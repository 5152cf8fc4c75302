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
  set(R[I->d],
      static_cast<typename Op::template Result<T>>(Op::apply(get<T>(R[I->a]))));
  return I + 1;
}

template <typename Op, typename T>
const Inst *binary(const Inst *I, uint64_t *R, Thread &) {
  set<T>(R[I->d], Op::apply(get<T>(R[I->a]), get<T>(R[I->b])));
  return I + 1;
}

template <typename Op, typename T>
const Inst *ternary(const Inst *I, uint64_t *R, Thread &) {
  set<T>(R[I->d], Op::apply(get<T>(R[I->a]), get<T>(R[I->b]), get<T>(R[I->c])));
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
template <> struct Twice<uint16_t> {
  using type = uint32_t;
};
template <> struct Twice<uint32_t> {
  using type = uint64_t;
};
template <> struct Twice<uint64_t> {
  using type = unsigned __int128;
};
template <> struct Twice<int16_t> {
  using type = int32_t;
};
template <> struct Twice<int32_t> {
  using type = int64_t;
};
template <> struct Twice<int64_t> {
  using type = __int128;
};

/// Arithmetic modulo 2^n.
template <typename T> T wrappingAdd(T a, T b) {
  return static_cast<T>(Unsigned<T>(Unsigned<T>(a) + Unsigned<T>(b)));
}
template <typename T> T wrappingSub(T a, T b) {
  return static_cast<T>(Unsigned<T>(Unsigned<T>(a) - Unsigned<T>(b)));
}
template <typename T> T mulLow(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(uint64_t(Unsigned<T>(a)) *
                                                 uint64_t(Unsigned<T>(b))));
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

void fakecuda::emitBinary(Decoder &D, Exec exec, Type type) {
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

void fakecuda::emitTernary(Decoder &D, Exec exec, Type type, Type third) {
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

template <bool IsSub, bool Reads, bool Writes>
static Exec pickCarry(Type type) {
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

template <bool High, bool Reads>
static Exec pickMadCarry(Type type, bool writes) {
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
  emitUnary(
      D, shift ? pickUnary<Bfind<true>>(type) : pickUnary<Bfind<false>>(type),
      type);
}

template <typename Op> static void decodeShift(Decoder &D) {
  Type type = D.takeType();
  D.expectOperands(3);
  int32_t d = D.result(0u), a = D.source(1, type);
  D.emit(checked(D, pickShift<Op>(type)), d, a, D.source(2, Type::U32));
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
      left = ASigned ? int32_t(int16_t(a >> (16 * i)))
                     : int32_t(uint16_t(a >> (16 * i)));
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
  table["sad"] = decodeDifference;
  table["mul24"] = decodeMul24;
  table["dp4a"] = decodeDot<4>;
  table["dp2a"] = decodeDot<2>;
}
