//===- Floats.cpp - Instructions on floating point ------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decode.h"
#include "Float.h"

using namespace fakecuda;

//===----------------------------------------------------------------------===//
// Flags of an instruction
//===----------------------------------------------------------------------===//

namespace {
enum : uint16_t {
  kFtz = 1,
  kSat = 2,
  kRelu = 4,
  kNaN = 8,      ///< min and max: a NaN operand is the result
  kXorSign = 16, ///< .xorsign.abs
  kRoundShift = 8,
};

Round roundOf(const Inst *I) { return Round(I->flags >> kRoundShift & 7); }

//===----------------------------------------------------------------------===//
// Operations, on float, double and (for what is computed in double) halves
//===----------------------------------------------------------------------===//

struct Add {
  template <typename T> static T apply(T a, T b, T) { return a + b; }
};
struct Sub {
  template <typename T> static T apply(T a, T b, T) { return a - b; }
};
struct Mul {
  template <typename T> static T apply(T a, T b, T) { return a * b; }
};
struct Div {
  template <typename T> static T apply(T a, T b, T) { return a / b; }
};
struct Fma {
  template <typename T> static T apply(T a, T b, T c) {
    return std::fma(a, b, c);
  }
};
struct Rcp {
  template <typename T> static T apply(T a, T, T) { return T(1) / a; }
};
struct Sqrt {
  template <typename T> static T apply(T a, T, T) { return std::sqrt(a); }
};
struct Rsqrt {
  template <typename T> static T apply(T a, T, T) {
    return T(1 / std::sqrt(double(a)));
  }
};
struct Exp2 {
  template <typename T> static T apply(T a, T, T) {
    return T(std::exp2(double(a)));
  }
};
struct Log2 {
  template <typename T> static T apply(T a, T, T) {
    return T(std::log2(double(a)));
  }
};
struct Sin {
  template <typename T> static T apply(T a, T, T) {
    return T(std::sin(double(a)));
  }
};
struct Cos {
  template <typename T> static T apply(T a, T, T) {
    return T(std::cos(double(a)));
  }
};
struct Tanh {
  template <typename T> static T apply(T a, T, T) {
    return T(std::tanh(double(a)));
  }
};

/// -0 is less than +0; a NaN loses against a number.
template <bool Max, typename T> T minMax(T a, T b, bool keepsNaN) {
  if (std::isnan(a) || std::isnan(b)) {
    if (keepsNaN || (std::isnan(a) && std::isnan(b)))
      return T(NAN);
    return std::isnan(a) ? b : a;
  }
  if (a == b)
    return std::signbit(a) == Max ? b : a;
  return (a < b) == Max ? b : a;
}

template <bool Max, typename T> T minMax(const Inst *I, T a, T b) {
  bool sign = std::signbit(a) != std::signbit(b);
  if (I->flags & kXorSign) {
    a = std::fabs(a);
    b = std::fabs(b);
  }
  T result = minMax<Max>(a, b, I->flags & kNaN);
  if (I->flags & kXorSign && !std::isnan(result))
    result = std::copysign(result, sign ? T(-1) : T(1));
  return result;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// Rounded to nearest, nothing flushed: most of all.
template <typename Op, typename T>
const Inst *plain(const Inst *I, uint64_t *R, Thread &) {
  set<T>(R[I->d], canonical(Op::apply(get<T>(R[I->a]), get<T>(R[I->b]),
                                      get<T>(R[I->c]))));
  return I + 1;
}

template <typename Op, typename T>
const Inst *general(const Inst *I, uint64_t *R, Thread &) {
  T a = get<T>(R[I->a]), b = get<T>(R[I->b]), c = get<T>(R[I->c]);
  if (I->flags & kFtz) {
    a = flush(a);
    b = flush(b);
    c = flush(c);
  }
  volatile T va = a, vb = b, vc = c;
  T result = withRounding(roundOf(I), [&]() -> T {
    volatile T value = Op::apply(T(va), T(vb), T(vc));
    return value;
  });
  if (I->flags & kFtz)
    result = flush(result);
  if (I->flags & kSat)
    result = saturateUnit(result);
  set<T>(R[I->d], canonical(result));
  return I + 1;
}

uint32_t flushSmall(uint32_t bits, Format format) {
  uint32_t magnitude = (1u << (format.bits() - 1)) - 1;
  return (bits & magnitude) >> format.mantissaBits ? bits : bits & ~magnitude;
}

/// One lane of f16 or bf16: exact in double up to the last rounding.
template <typename Op>
uint16_t small(const Inst *I, Format format, uint16_t x, uint16_t y,
               uint16_t z) {
  bool ftz = I->flags & kFtz;
  auto widen = [&](uint16_t bits) {
    return decodeFloat(ftz ? flushSmall(bits, format) : bits, format);
  };
  double a = widen(x), b = widen(y), c = widen(z), value;
  if constexpr (std::is_same_v<Op, Fma>)
    value = addToOdd(a * b, c);
  else if constexpr (std::is_same_v<Op, Add>)
    value = addToOdd(a, b);
  else if constexpr (std::is_same_v<Op, Sub>)
    value = addToOdd(a, -b);
  else
    value = Op::apply(a, b, c);
  if (I->flags & kSat)
    value = saturateUnit(value);
  if (I->flags & kRelu && !std::isnan(value))
    value = value > 0 ? value : 0;
  uint32_t result = encodeFloat(value, format);
  return ftz ? flushSmall(result, format) : result;
}

Format formatOf(Type type) {
  return type == Type::F16 || type == Type::F16x2 ? kHalf : kBrain;
}

template <typename Op, Type T>
const Inst *executeSmall(const Inst *I, uint64_t *R, Thread &) {
  Format format = formatOf(T);
  uint32_t a = R[I->a], b = R[I->b], c = R[I->c];
  uint32_t result = small<Op>(I, format, a, b, c);
  if (T == Type::F16x2 || T == Type::BF16x2)
    result |= uint32_t(small<Op>(I, format, a >> 16, b >> 16, c >> 16)) << 16;
  R[I->d] = result;
  return I + 1;
}

/// Two lanes of single precision.
template <typename Op>
const Inst *executePair(const Inst *I, uint64_t *R, Thread &T) {
  // The one-lane form on the halves; slots 0 to 3 stand for its operands.
  Inst lane = *I;
  lane.d = 0;
  lane.a = 1;
  lane.b = 2;
  lane.c = 3;
  uint64_t result = 0;
  for (unsigned shift : {0, 32}) {
    uint64_t slots[] = {0, R[I->a] >> shift & 0xFFFFFFFF,
                        R[I->b] >> shift & 0xFFFFFFFF,
                        R[I->c] >> shift & 0xFFFFFFFF};
    general<Op, float>(&lane, slots, T);
    result |= slots[0] << shift;
  }
  R[I->d] = result;
  return I + 1;
}

/// add.f32.f16 and the like: the operands before the last are widened.
template <typename Op, Type Narrow>
const Inst *executeMixed(const Inst *I, uint64_t *R, Thread &T) {
  Inst wide = *I;
  wide.d = 0;
  wide.a = 1;
  wide.b = 2;
  wide.c = 3;
  auto widen = [](uint64_t slot) {
    uint64_t result;
    set(result,
        static_cast<float>(decodeFloat(slot & 0xFFFF, formatOf(Narrow))));
    return result;
  };
  bool isFma = std::is_same_v<Op, Fma>;
  uint64_t slots[] = {0, widen(R[I->a]), isFma ? widen(R[I->b]) : R[I->b],
                      R[I->c]};
  general<Op, float>(&wide, slots, T);
  R[I->d] = slots[0];
  return I + 1;
}

template <typename Op> Exec pick(Type type, bool isPlain) {
  switch (type) {
  case Type::F32x2:
    return &executePair<Op>;
  case Type::F32:
    return isPlain ? &plain<Op, float> : &general<Op, float>;
  case Type::F64:
    return isPlain ? &plain<Op, double> : &general<Op, double>;
  case Type::F16:
    return &executeSmall<Op, Type::F16>;
  case Type::F16x2:
    return &executeSmall<Op, Type::F16x2>;
  case Type::BF16:
    return &executeSmall<Op, Type::BF16>;
  case Type::BF16x2:
    return &executeSmall<Op, Type::BF16x2>;
  default:
    return nullptr;
  }
}

} // namespace

//===----------------------------------------------------------------------===//
// Decoders of arithmetic
//===----------------------------------------------------------------------===//

static uint16_t takeFlags(Decoder &D) {
  uint16_t flags = 0;
  if (D.take("ftz"))
    flags |= kFtz;
  if (D.take("sat"))
    flags |= kSat;
  if (D.take("relu"))
    flags |= kRelu;
  D.take("noftz");
  Round round = Round::NearestEven;
  if (D.take("rz"))
    round = Round::Zero;
  else if (D.take("rm"))
    round = Round::Down;
  else if (D.take("rp"))
    round = Round::Up;
  else
    D.take("rn");
  return flags | uint16_t(round) << kRoundShift;
}

/// Decodes an operation of `Sources` operands. Approximations are computed as
/// exactly as the results that the hardware promises are apart from them.
template <typename Op, unsigned Sources>
static void decodeOperation(Decoder &D) {
  uint16_t flags = takeFlags(D);
  D.take("approx");
  D.take("full");
  Type type = D.takeType(), narrow = typeOf(D.nextModifier());
  if (type == Type::F64)
    flags &= ~kFtz;
  bool isSmall = type != Type::F32 && type != Type::F64 && type != Type::F32x2;
  if (isSmall && flags >> kRoundShift)
    D.fail("the rounding of this type");
  Exec exec = pick<Op>(type, flags == 0);
  constexpr bool canMix = std::is_same_v<Op, Add> || std::is_same_v<Op, Sub> ||
                          std::is_same_v<Op, Fma>;
  bool isMixed = canMix && type == Type::F32 &&
                 (narrow == Type::F16 || narrow == Type::BF16);
  if (isMixed || type == Type::F32x2)
    D.needsTarget(100);
  if (isMixed) {
    D.takeType();
    exec = narrow == Type::F16 ? &executeMixed<Op, Type::F16>
                               : &executeMixed<Op, Type::BF16>;
  }
  if (!exec)
    D.fail("the type is not supported");
  D.expectOperands(Sources + 1);
  int32_t d = D.result(0u), slots[3] = {0, 0, 0};
  for (unsigned i = 0; i != Sources; ++i)
    slots[i] = D.source(i + 1, isMixed && i + 1 != Sources ? narrow : type);
  D.emit(exec, d, slots[0], slots[1], slots[2]).flags = flags;
}

static void decodeAdd(Decoder &D) {
  D.isFloat() ? decodeOperation<Add, 2>(D) : decodeIntegerAdd(D);
}
static void decodeSub(Decoder &D) {
  D.isFloat() ? decodeOperation<Sub, 2>(D) : decodeIntegerSub(D);
}
static void decodeMul(Decoder &D) {
  D.isFloat() ? decodeOperation<Mul, 2>(D) : decodeIntegerMul(D);
}
static void decodeMad(Decoder &D) {
  D.isFloat() ? decodeOperation<Fma, 3>(D) : decodeIntegerMad(D);
}
static void decodeDiv(Decoder &D) {
  D.isFloat() ? decodeOperation<Div, 2>(D) : decodeIntegerDiv(D);
}

//===----------------------------------------------------------------------===//
// Minimum, maximum, sign
//===----------------------------------------------------------------------===//

template <bool Max, typename T>
static const Inst *executeMinMax(const Inst *I, uint64_t *R, Thread &) {
  T a = get<T>(R[I->a]), b = get<T>(R[I->b]);
  if (I->flags & kFtz) {
    a = flush(a);
    b = flush(b);
  }
  T result = minMax<Max>(I, a, b);
  if (I->lanes == 3) { // min and max of three
    T c = get<T>(R[I->c]);
    result = minMax<Max>(I, result, I->flags & kFtz ? flush(c) : c);
  }
  set<T>(R[I->d], canonical(result));
  return I + 1;
}

template <bool Max, Type T>
static const Inst *executeSmallMinMax(const Inst *I, uint64_t *R, Thread &) {
  Format format = formatOf(T);
  bool ftz = I->flags & kFtz;
  auto lane = [&](uint16_t a, uint16_t b) -> uint16_t {
    if (ftz) {
      a = flushSmall(a, format);
      b = flushSmall(b, format);
    }
    return encodeFloat(minMax<Max>(I, decodeFloat(uint32_t(a), format),
                                   decodeFloat(uint32_t(b), format)),
                       format);
  };
  uint32_t a = R[I->a], b = R[I->b], result = lane(a, b);
  if (T == Type::F16x2 || T == Type::BF16x2)
    result |= uint32_t(lane(a >> 16, b >> 16)) << 16;
  R[I->d] = result;
  return I + 1;
}

template <bool Max> static Exec pickMinMax(Type type) {
  switch (type) {
  case Type::F32:
    return &executeMinMax<Max, float>;
  case Type::F64:
    return &executeMinMax<Max, double>;
  case Type::F16:
    return &executeSmallMinMax<Max, Type::F16>;
  case Type::F16x2:
    return &executeSmallMinMax<Max, Type::F16x2>;
  case Type::BF16:
    return &executeSmallMinMax<Max, Type::BF16>;
  case Type::BF16x2:
    return &executeSmallMinMax<Max, Type::BF16x2>;
  default:
    return nullptr;
  }
}

template <bool Max> static void decodeMinMax(Decoder &D) {
  if (!D.isFloat())
    return Max ? decodeIntegerMax(D) : decodeIntegerMin(D);
  uint16_t flags = takeFlags(D);
  if (D.take("NaN"))
    flags |= kNaN;
  if (D.take("xorsign")) {
    if (!D.take("abs"))
      D.fail(".abs is missing");
    flags |= kXorSign;
  }
  bool absolute = D.take("abs");
  Type type = D.takeType();
  Exec exec = pickMinMax<Max>(type);
  if (!exec || absolute)
    D.fail("the type is not supported");
  D.expectOperands(3, type == Type::F32 ? 4 : 3);
  bool isThree = D.operands().size() == 4;
  int32_t d = D.result(0u), a = D.source(1, type), b = D.source(2, type);
  int32_t c = isThree ? D.source(3, type) : 0;
  Inst &inst = D.emit(exec, d, a, b, c);
  inst.flags = flags;
  inst.lanes = isThree ? 3 : 2;
}

/// The bits of the operand with those of `e` cleared, then those of `imm`
/// flipped: abs and neg.
static const Inst *executeSign(const Inst *I, uint64_t *R, Thread &) {
  uint64_t bits = R[I->a];
  if (I->flags & kFtz) // of single precision
    bits = std::bit_cast<uint32_t>(
        flush(std::bit_cast<float>(static_cast<uint32_t>(bits))));
  R[I->d] = (bits & ~R[I->b]) ^ I->imm;
  return I + 1;
}

template <bool Abs> static void decodeSign(Decoder &D) {
  if (!D.isFloat())
    return Abs ? decodeIntegerAbs(D) : decodeIntegerNeg(D);
  bool ftz = D.take("ftz");
  Type type = D.takeType();
  D.expectOperands(2);
  uint64_t sign = uint64_t(1) << (sizeOf(type) * 8 - 1);
  if (type == Type::F16x2 || type == Type::BF16x2)
    sign |= sign >> 16;
  int32_t d = D.result(0u), a = D.source(1, type);
  Inst &inst = D.emit(executeSign, d, a, D.constant(Abs ? sign : 0));
  inst.imm = Abs ? 0 : sign;
  inst.flags = ftz && type == Type::F32 ? kFtz : 0;
}

template <typename Word>
static const Inst *executeCopySign(const Inst *I, uint64_t *R, Thread &) {
  constexpr Word sign = Word(1) << (sizeof(Word) * 8 - 1);
  set<Word>(R[I->d],
            (get<Word>(R[I->a]) & sign) | (get<Word>(R[I->b]) & ~sign));
  return I + 1;
}

static void decodeCopySign(Decoder &D) {
  Type type = D.takeType();
  D.expectOperands(3);
  int32_t d = D.result(0u), a = D.source(1, type), b = D.source(2, type);
  D.emit(type == Type::F64 ? &executeCopySign<uint64_t>
                           : &executeCopySign<uint32_t>,
         d, a, b);
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

template <typename T>
static const Inst *executeTest(const Inst *I, uint64_t *R, Thread &) {
  T a = get<T>(R[I->a]);
  int kind = std::fpclassify(a);
  bool result = false;
  switch (I->imm) {
  case 0:
    result = std::isfinite(a);
    break;
  case 1:
    result = std::isinf(a);
    break;
  case 2:
    result = !std::isnan(a);
    break;
  case 3:
    result = std::isnan(a);
    break;
  case 4:
    result = kind == FP_NORMAL;
    break;
  case 5:
    result = kind == FP_SUBNORMAL || kind == FP_ZERO;
    break;
  }
  R[I->d] = result;
  return I + 1;
}

static void decodeTest(Decoder &D) {
  static const char *const tests[] = {"finite",     "infinite", "number",
                                      "notanumber", "normal",   "subnormal"};
  std::string test = D.takeAny();
  uint64_t number = 0;
  while (number != 6 && test != tests[number])
    ++number;
  if (number == 6)
    D.fail("unknown test");
  Type type = D.takeType();
  D.expectOperands(2);
  int32_t d = D.result(0u);
  D.emit(type == Type::F64 ? &executeTest<double> : &executeTest<float>, d,
         D.source(1, type))
      .imm = number;
}

void fakecuda::addFloatInstructions(InstructionTable &table) {
  table["add"] = decodeAdd;
  table["sub"] = decodeSub;
  table["mul"] = decodeMul;
  table["mad"] = decodeMad;
  table["fma"] = decodeOperation<Fma, 3>;
  table["div"] = decodeDiv;
  table["rcp"] = decodeOperation<Rcp, 1>;
  table["sqrt"] = decodeOperation<Sqrt, 1>;
  table["rsqrt"] = decodeOperation<Rsqrt, 1>;
  table["ex2"] = decodeOperation<Exp2, 1>;
  table["lg2"] = decodeOperation<Log2, 1>;
  table["sin"] = decodeOperation<Sin, 1>;
  table["cos"] = decodeOperation<Cos, 1>;
  table["tanh"] = decodeOperation<Tanh, 1>;
  table["min"] = decodeMinMax<false>;
  table["max"] = decodeMinMax<true>;
  table["neg"] = decodeSign<false>;
  table["abs"] = decodeSign<true>;
  table["copysign"] = decodeCopySign;
  table["testp"] = decodeTest;
}
