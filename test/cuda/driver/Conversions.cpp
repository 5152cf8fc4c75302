//===- Conversions.cpp - cvt and cvta -------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decode.h"
#include "Float.h"

#include <limits>

using namespace fakecuda;

//===----------------------------------------------------------------------===//
// Values between types
//===----------------------------------------------------------------------===//

namespace {

enum : uint16_t { kFtz = 1, kSat = 2, kRelu = 4, kRoundShift = 8 };

Round roundOf(const Inst *I) { return Round(I->flags >> kRoundShift & 7); }

/// The 16-bit and smaller formats, and tf32.
const Format *formatOf(Type type) {
  static const Format half = kHalf, brain = kBrain, tensor = kTensor,
                      e4m3 = kE4M3, e5m2 = kE5M2;
  switch (type) {
  case Type::F16:
  case Type::F16x2:
    return &half;
  case Type::BF16:
  case Type::BF16x2:
    return &brain;
  case Type::TF32:
    return &tensor;
  case Type::E4M3:
  case Type::E4M3x2:
    return &e4m3;
  case Type::E5M2:
  case Type::E5M2x2:
    return &e5m2;
  default:
    return nullptr;
  }
}

double roundToIntegral(double value, Round round) {
  switch (round) {
  case Round::NearestEven:
    return std::nearbyint(value);
  case Round::NearestAway:
    return std::round(value);
  case Round::Zero:
    return std::trunc(value);
  case Round::Down:
    return std::floor(value);
  case Round::Up:
    return std::ceil(value);
  }
  return value;
}

/// Into the range of T; NaN becomes 0, or the lowest bit pattern of 64 bits.
template <typename T> T toInteger(double value, Round round, bool isWide) {
  if (std::isnan(value))
    return isWide ? static_cast<T>(uint64_t(1) << (sizeof(T) * 8 - 1)) : T(0);
  value = roundToIntegral(value, round);
  // The limits of 64 bits round up in a double.
  constexpr T least = std::numeric_limits<T>::min(),
              most = std::numeric_limits<T>::max();
  if (value <= static_cast<double>(least))
    return least;
  if (value >= static_cast<double>(most))
    return most;
  return static_cast<T>(value);
}

template <typename T> T flushed(const Inst *I, T value) {
  return I->flags & kFtz ? flush(value) : value;
}

template <typename D, typename S>
const Inst *integerToInteger(const Inst *I, uint64_t *R, Thread &) {
  S value = get<S>(R[I->a]);
  if (I->flags & kSat) {
    using L = std::numeric_limits<D>;
    __int128 wide = value;
    if (wide < L::min())
      wide = L::min();
    if (wide > L::max())
      wide = L::max();
    set<D>(R[I->d], static_cast<D>(wide));
  } else {
    set<D>(R[I->d], static_cast<D>(value));
  }
  // A register may be wider than the type: it gets the value extended.
  if (std::is_signed_v<D>)
    R[I->d] =
        static_cast<uint64_t>(static_cast<int64_t>(get<D>(R[I->d]))) & I->imm;
  return I + 1;
}

template <typename D, typename S>
const Inst *floatToInteger(const Inst *I, uint64_t *R, Thread &) {
  S value = flushed(I, get<S>(R[I->a]));
  D result = toInteger<D>(value, roundOf(I), sizeof(S) == 8 || sizeof(D) == 8);
  R[I->d] = static_cast<uint64_t>(static_cast<int64_t>(result)) & I->imm;
  return I + 1;
}

template <typename D, typename S>
const Inst *integerToFloat(const Inst *I, uint64_t *R, Thread &) {
  volatile S value = get<S>(R[I->a]);
  D result = roundOf(I) == Round::NearestEven
                 ? static_cast<D>(value)
                 : withRounding(roundOf(I), [&] {
                     volatile D rounded = static_cast<D>(value);
                     return D(rounded);
                   });
  set<D>(R[I->d], I->flags & kSat ? saturateUnit(result) : result);
  return I + 1;
}

/// Between float and double, and to an integral value (I->imm) of one type.
template <typename D, typename S>
const Inst *floatToFloat(const Inst *I, uint64_t *R, Thread &) {
  volatile S value = flushed(I, get<S>(R[I->a]));
  D result;
  if (I->imm)
    result = static_cast<D>(roundToIntegral(value, roundOf(I)));
  else
    result = withRounding(roundOf(I), [&] {
      volatile D rounded = static_cast<D>(value);
      return D(rounded);
    });
  result = flushed(I, result);
  if (I->flags & kSat)
    result = saturateUnit(result);
  set<D>(R[I->d], canonical(result));
  return I + 1;
}

/// The value of a slot of any type, in a double. (64-bit integers: see below.)
double valueOf(uint64_t slot, Type type) {
  switch (type) {
  case Type::F64:
    return get<double>(slot);
  case Type::F32:
    return get<float>(slot);
  case Type::S8:
    return get<int8_t>(slot);
  case Type::S16:
    return get<int16_t>(slot);
  case Type::S32:
    return get<int32_t>(slot);
  case Type::U8:
    return get<uint8_t>(slot);
  case Type::U16:
    return get<uint16_t>(slot);
  case Type::U32:
    return get<uint32_t>(slot);
  case Type::S64:
    return static_cast<double>(get<int64_t>(slot));
  case Type::U64:
    return static_cast<double>(get<uint64_t>(slot));
  default:
    return decodeFloat(slot & ((uint64_t(1) << sizeOf(type) * 8) - 1),
                       *formatOf(type));
  }
}

uint64_t integerOf(double value, Type type, Round round, bool isWide) {
  switch (type) {
  case Type::S8:
    return static_cast<int64_t>(toInteger<int8_t>(value, round, isWide));
  case Type::S16:
    return static_cast<int64_t>(toInteger<int16_t>(value, round, isWide));
  case Type::S32:
    return static_cast<int64_t>(toInteger<int32_t>(value, round, isWide));
  case Type::S64:
    return toInteger<int64_t>(value, round, isWide);
  case Type::U8:
    return toInteger<uint8_t>(value, round, isWide);
  case Type::U16:
    return toInteger<uint16_t>(value, round, isWide);
  case Type::U32:
    return toInteger<uint32_t>(value, round, isWide);
  default:
    return toInteger<uint64_t>(value, round, isWide);
  }
}

uint32_t clip(double value, const Inst *I, Format format) {
  if (I->flags & kRelu && !(value > 0) && !std::isnan(value))
    value = 0;
  if (I->flags & kSat && !format.isFinite && I->e != 1)
    value = saturateUnit(value);
  return encodeFloat(value, format, roundOf(I), I->e == 1);
}

/// One lane of the formats of 16 bits and less: I->b and I->c are the types of
/// the result and the source, I->e is 1 for .satfinite and 2 for .rXi.
uint64_t convertLane(const Inst *I, uint64_t slot) {
  Type to = Type(I->b), from = Type(I->c);
  double value = valueOf(slot, from);
  if (I->flags & kFtz && from == Type::F32)
    value = flush(static_cast<float>(value));
  if (I->e == 2)
    value = roundToIntegral(value, roundOf(I));
  if (const Format *format = formatOf(to)) {
    if (from == Type::S64 || from == Type::U64) {
      // Round to odd first, as a double cannot hold all of it.
      __int128 exact = from == Type::S64 ? __int128(get<int64_t>(slot))
                                         : __int128(get<uint64_t>(slot));
      __int128 rest = exact - static_cast<__int128>(value);
      value = addToOdd(value, static_cast<double>(rest));
    }
    uint32_t bits = clip(value, I, *format);
    return to == Type::TF32 ? uint64_t(bits) << 13 : bits;
  }
  if (to == Type::F32 || to == Type::F64) {
    if (I->flags & kSat)
      value = saturateUnit(value);
    uint64_t bits = 0;
    if (to == Type::F64)
      return set(bits, value), bits;
    return set(bits, canonical(flushed(I, static_cast<float>(value)))), bits;
  }
  return integerOf(value, to, roundOf(I), sizeOf(to) == 8) & I->imm;
}

const Inst *executeLane(const Inst *I, uint64_t *R, Thread &) {
  R[I->d] = convertLane(I, R[I->a]);
  return I + 1;
}

/// Two values to a pair: the first operand is the upper half.
const Inst *executePack(const Inst *I, uint64_t *R, Thread &) {
  unsigned half = sizeOf(Type(I->b)) * 8;
  Inst lane = *I;
  uint64_t low = convertLane(&lane, R[I->list[1]]);
  R[I->d] = low | convertLane(&lane, R[I->list[0]]) << half;
  return I + 1;
}

/// A pair to a pair.
const Inst *executePair(const Inst *I, uint64_t *R, Thread &) {
  unsigned from = sizeOf(Type(I->c)) * 8, to = sizeOf(Type(I->b)) * 8;
  uint64_t pair = R[I->a], mask = (uint64_t(1) << from) - 1;
  uint64_t low = convertLane(I, pair & mask);
  R[I->d] = low | convertLane(I, pair >> from & mask) << to;
  return I + 1;
}

//===----------------------------------------------------------------------===//
// Picking an instance
//===----------------------------------------------------------------------===//

template <typename S> Exec pickFromInteger(Type to) {
  switch (to) {
  case Type::U8:
    return &integerToInteger<uint8_t, S>;
  case Type::U16:
    return &integerToInteger<uint16_t, S>;
  case Type::U32:
    return &integerToInteger<uint32_t, S>;
  case Type::U64:
    return &integerToInteger<uint64_t, S>;
  case Type::S8:
    return &integerToInteger<int8_t, S>;
  case Type::S16:
    return &integerToInteger<int16_t, S>;
  case Type::S32:
    return &integerToInteger<int32_t, S>;
  case Type::S64:
    return &integerToInteger<int64_t, S>;
  case Type::F32:
    return &integerToFloat<float, S>;
  case Type::F64:
    return &integerToFloat<double, S>;
  default:
    return nullptr;
  }
}

template <typename S> Exec pickFromFloat(Type to) {
  switch (to) {
  case Type::U8:
    return &floatToInteger<uint8_t, S>;
  case Type::U16:
    return &floatToInteger<uint16_t, S>;
  case Type::U32:
    return &floatToInteger<uint32_t, S>;
  case Type::U64:
    return &floatToInteger<uint64_t, S>;
  case Type::S8:
    return &floatToInteger<int8_t, S>;
  case Type::S16:
    return &floatToInteger<int16_t, S>;
  case Type::S32:
    return &floatToInteger<int32_t, S>;
  case Type::S64:
    return &floatToInteger<int64_t, S>;
  case Type::F32:
    return &floatToFloat<float, S>;
  case Type::F64:
    return &floatToFloat<double, S>;
  default:
    return nullptr;
  }
}

Exec pick(Type to, Type from) {
  switch (from) {
  case Type::U8:
    return pickFromInteger<uint8_t>(to);
  case Type::U16:
    return pickFromInteger<uint16_t>(to);
  case Type::U32:
    return pickFromInteger<uint32_t>(to);
  case Type::U64:
    return pickFromInteger<uint64_t>(to);
  case Type::S8:
    return pickFromInteger<int8_t>(to);
  case Type::S16:
    return pickFromInteger<int16_t>(to);
  case Type::S32:
    return pickFromInteger<int32_t>(to);
  case Type::S64:
    return pickFromInteger<int64_t>(to);
  case Type::F32:
    return pickFromFloat<float>(to);
  case Type::F64:
    return pickFromFloat<double>(to);
  default:
    return nullptr;
  }
}

bool isInteger(Type type) { return type >= Type::U8 && type <= Type::S64; }

/// The type of one lane of a packed one, or Type::None.
Type laneOf(Type type) {
  switch (type) {
  case Type::F16x2:
    return Type::F16;
  case Type::BF16x2:
    return Type::BF16;
  case Type::E4M3x2:
    return Type::E4M3;
  case Type::E5M2x2:
    return Type::E5M2;
  default:
    return Type::None;
  }
}

/// Takes the modifiers of rounding; `integral` for those of the form .rni.
Round takeRound(Decoder &D, bool &integral, bool toInteger) {
  static const std::pair<const char *, Round> names[] = {
      {"rn", Round::NearestEven},
      {"rz", Round::Zero},
      {"rm", Round::Down},
      {"rp", Round::Up},
      {"rna", Round::NearestAway}};
  for (auto [name, round] : names) {
    if (D.take(name))
      return round;
    if (std::string(name) != "rna" &&
        D.take((std::string(name) + "i").c_str())) {
      integral = true;
      return round;
    }
  }
  return toInteger ? Round::Zero : Round::NearestEven;
}

} // namespace

//===----------------------------------------------------------------------===//
// Decoders
//===----------------------------------------------------------------------===//

static void decodePacked(Decoder &D, Type to, Type from, uint16_t flags,
                         bool finite) {
  Type lane = laneOf(to), fromLane = laneOf(from);
  int32_t d = D.result(0u);
  Inst *inst;
  if (fromLane != Type::None) {
    D.expectOperands(2);
    int32_t a = D.source(1, from);
    inst = &D.emit(executePair, d, a);
  } else {
    D.expectOperands(3);
    if (from != Type::F32)
      D.fail("the types are not supported");
    const int32_t *list = D.list({D.source(1, from), D.source(2, from)});
    inst = &D.emit(executePack, d);
    inst->list = list;
    fromLane = from;
  }
  inst->b = int32_t(lane);
  inst->c = int32_t(fromLane);
  inst->e = finite ? 1 : 0;
  inst->flags = flags;
}

static void decodeConvert(Decoder &D) {
  if (D.nextModifier() == "pack")
    D.fail("cvt.pack is not supported");
  bool integral = false, finite = D.take("satfinite");
  uint16_t flags = (D.take("ftz") ? kFtz : 0) | (D.take("sat") ? kSat : 0) |
                   (D.take("relu") ? kRelu : 0);
  // The rounding's default depends on the types, which come after it.
  Round round = takeRound(D, integral, false);
  Type to = D.takeType(), from = D.takeType();
  if (to >= Type::E4M3 || from >= Type::E4M3)
    D.needsTarget(89);
  flags |= uint16_t(round) << kRoundShift;
  if (laneOf(to) != Type::None)
    return decodePacked(D, to, from, flags, finite);
  D.expectOperands(2);
  Type registerType = Type::None;
  int32_t d = D.result(0u, &registerType), a = D.source(1, from);
  unsigned bytes = sizeOf(registerType);
  uint64_t mask =
      bytes >= 8 || !bytes ? ~uint64_t(0) : (uint64_t(1) << bytes * 8) - 1;
  // Unsigned results are zero-extended.
  Exec exec = pick(to, from);
  bool isSmall = formatOf(to) || formatOf(from);
  if (!exec && !isSmall)
    D.fail("the types are not supported");
  if (flags & kRelu && !formatOf(to))
    D.fail(".relu of this type");
  Inst &inst =
      D.emit(isSmall ? &executeLane : exec, d, a, int32_t(to), int32_t(from));
  inst.flags = flags;
  inst.e = finite ? 1 : integral && !isInteger(to) ? 2 : 0;
  bool toFloat = !isInteger(to);
  inst.imm = toFloat && !isSmall ? integral : mask;
}

/// cvta: a window's tag is put on or taken off.
template <Space S, bool To>
static const Inst *executeAddress(const Inst *I, uint64_t *R, Thread &T) {
  uint64_t base = 0;
  if constexpr (S == Space::Shared)
    base = kSharedTag << 48;
  else if constexpr (S == Space::Local)
    base = localTag(T);
  else if constexpr (S == Space::Param)
    base = kParamTag << 48;
  // 32-bit results hold the offset.
  R[I->d] = (To ? R[I->a] - base : R[I->a] + base) & I->imm;
  return I + 1;
}

static void decodeAddress(Decoder &D) {
  bool to = D.take("to");
  std::string space = D.takeAny();
  if (space == "param" && D.take("entry"))
    space = "param";
  Type type = D.takeType();
  D.expectOperands(2);
  int32_t d = D.result(0u), a = D.source(1, type);
  Exec exec = nullptr;
  if (space == "global" || space == "const")
    exec = &executeAddress<Space::Global, false>;
  else if (space == "shared" || space == "shared::cta" ||
           space == "shared::cluster")
    exec = to ? &executeAddress<Space::Shared, true>
              : &executeAddress<Space::Shared, false>;
  else if (space == "local")
    exec = to ? &executeAddress<Space::Local, true>
              : &executeAddress<Space::Local, false>;
  else if ((space == "param" || space == "param::entry") && D.isEntry())
    exec = to ? &executeAddress<Space::Param, true>
              : &executeAddress<Space::Param, false>;
  else if (space == "param" || space == "param::func")
    exec = to ? &executeAddress<Space::Local, true>
              : &executeAddress<Space::Local, false>;
  else
    D.fail("unknown space '" + space + "'");
  D.emit(exec, d, a).imm = sizeOf(type) == 4 ? 0xFFFFFFFF : ~uint64_t(0);
}

template <Space S>
static const Inst *executeIsSpace(const Inst *I, uint64_t *R, Thread &) {
  uint64_t tag = R[I->a] >> 48;
  R[I->d] = tag == (S == Space::Shared  ? kSharedTag
                    : S == Space::Local ? kLocalTag
                    : S == Space::Param ? kParamTag
                                        : 0);
  return I + 1;
}

static void decodeIsSpace(Decoder &D) {
  std::string space = D.takeAny();
  D.expectOperands(2);
  int32_t d = D.result(0u), a = D.source(1, Type::B64);
  if (space == "global")
    D.emit(executeIsSpace<Space::Global>, d, a);
  else if (space.rfind("shared", 0) == 0)
    D.emit(executeIsSpace<Space::Shared>, d, a);
  else if (space == "local")
    D.emit(executeIsSpace<Space::Local>, d, a);
  else if (space.rfind("param", 0) == 0)
    D.emit(executeIsSpace<Space::Param>, d, a);
  else
    D.fail("unknown space '" + space + "'");
}

void fakecuda::addConversions(InstructionTable &table) {
  table["cvt"] = decodeConvert;
  table["cvta"] = decodeAddress;
  table["isspacep"] = decodeIsSpace;
}
