//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Conversions of small floats are integer arithmetic on bit patterns, the same
// for every element and so vectorised, with the layout of the type as
// constants. Results are those of ONNX's reference implementation, in the bits
// of NaN and in what its tables leave open too.

#include "ElementTypes.h"

using namespace mlir;
using namespace loopc;
using llvm::APFloat;
using IP = arith::CmpIPredicate;

bool loopc::isSmallFloat(Type type) {
  auto real = dyn_cast<FloatType>(type);
  return real && real.getWidth() <= 8;
}

bool loopc::isSmallInteger(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.getWidth() > 1 && integer.getWidth() < 8;
}

namespace {

/// Arithmetic on the bits of f32 in i32.
struct BitBuilder {
  explicit BitBuilder(ScalarBuilder &s)
      : s(s), i32(s.b.getI32Type()), f32(s.b.getF32Type()) {}

  ScalarBuilder &s;
  Type i32, f32;

  Value number(int64_t value) { return s.integer(i32, value); }
  Value bitsOf(Value real) { return s.make<arith::BitcastOp>(i32, real); }
  Value realOf(Value bits) { return s.make<arith::BitcastOp>(f32, bits); }
  Value band(Value x, int64_t mask) { return s.both(x, number(mask)); }
  Value left(Value x, int64_t count) {
    return s.make<arith::ShLIOp>(x, number(count));
  }
  /// Zeros come in.
  Value right(Value x, int64_t count) {
    return s.make<arith::ShRUIOp>(x, number(count));
  }
  Value plus(Value x, int64_t y) { return s.add(x, number(y)); }
  Value is(IP predicate, Value x, int64_t y) {
    return s.make<arith::CmpIOp>(predicate, x, number(y));
  }
  Value choose(Value condition, Value x, int64_t y) {
    return s.select(condition, x, number(y));
  }
};

/// The layout of a float with a sign, an exponent and a mantissa, by the bits
/// of its values.
struct Layout {
  explicit Layout(FloatType type) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    auto bitsOf = [](const APFloat &value) -> int64_t {
      return value.bitcastToAPInt().getZExtValue();
    };
    width = type.getWidth();
    mantissa = static_cast<int>(APFloat::semanticsPrecision(semantics)) - 1;
    minExponent = APFloat::semanticsMinExponent(semantics);
    sign = int64_t(1) << (width - 1);
    largest = bitsOf(APFloat::getLargest(semantics));
    if (APFloat::semanticsHasInf(semantics))
      infinity = bitsOf(APFloat::getInf(semantics));
    if (APFloat::semanticsHasNaN(semantics))
      nan = bitsOf(APFloat::getQNaN(semantics));
    hasNegativeZero = nan != sign;
  }

  int width;       ///< bits in all
  int mantissa;    ///< bits of the mantissa
  int minExponent; ///< of the smallest normal number
  int64_t sign, largest;
  std::optional<int64_t> infinity, nan;
  /// In types without a negative zero its bits are the only NaN.
  bool hasNegativeZero;

  /// f32's exponent less this type's, as their fields have them.
  int rebias() const { return 126 + minExponent; }
};

} // namespace

constexpr int64_t kInfinity = 0x7f800000, kNaN = 0x7fc00000;

//===----------------------------------------------------------------------===//
// float8e8m0: an exponent and nothing else
//===----------------------------------------------------------------------===//

static Value decodeExponent(BitBuilder &i, Value bits) {
  // The smallest is a subnormal f32; the last one is NaN.
  Value value =
      i.s.select(i.is(IP::eq, bits, 0), i.number(0x400000), i.left(bits, 23));
  return i.realOf(i.s.select(i.is(IP::eq, bits, 255), i.number(kNaN), value));
}

/// The sign is ignored. Infinity is NaN, saturated or not, and f32's subnormals
/// are rounded by their bits alone: so does the reference.
static Value encodeExponent(BitBuilder &i, Value value, CastOptions options) {
  ScalarBuilder &s = i.s;
  Value bits = i.bitsOf(value);
  Value exponent = i.band(i.right(bits, 23), 255);
  Value step = i.number(0);
  if (options.roundMode == CastOptions::RoundMode::Up) {
    step =
        s.make<arith::ExtUIOp>(i.i32, i.is(IP::ne, i.band(bits, 0x7fffff), 0));
  } else if (options.roundMode == CastOptions::RoundMode::Nearest) {
    Value half = i.is(IP::ne, i.band(bits, 0x400000), 0);
    Value more = i.is(IP::ne, i.band(bits, 0x3fffff), 0);
    Value goes = s.both(half, s.either(more, i.is(IP::ne, exponent, 0)));
    step = s.make<arith::ExtUIOp>(i.i32, goes);
  }
  Value rounded = s.make<arith::MinUIOp>(
      s.add(exponent, step), i.number(options.saturate ? 254 : 255));
  return s.select(i.is(IP::eq, exponent, 255), exponent, rounded);
}

//===----------------------------------------------------------------------===//
// Floats with a mantissa
//===----------------------------------------------------------------------===//

Value loopc::decodeSmallFloat(ScalarBuilder &s, Value value, FloatType type) {
  BitBuilder i(s);
  Value bits = s.make<arith::ExtUIOp>(i.i32, value);
  if (isa<Float8E8M0FNUType>(type))
    return decodeExponent(i, bits);
  Layout layout(type);
  Value magnitude = i.band(bits, layout.sign - 1);
  Value sign = i.left(i.band(bits, layout.sign), 32 - layout.width);
  Value normal = i.plus(i.left(magnitude, 23 - layout.mantissa),
                        int64_t(layout.rebias()) << 23);
  // A subnormal is the mantissa of a number of the smallest exponent, less its
  // leading one.
  int64_t one = int64_t(layout.rebias() + 1) << 23;
  Value subnormal = i.bitsOf(
      s.sub(i.realOf(i.plus(normal, 1 << 23)), i.realOf(i.number(one))));
  Value isSubnormal = i.is(IP::ult, magnitude, int64_t(1) << layout.mantissa);
  Value result = s.select(isSubnormal, subnormal, normal);
  if (layout.nan && layout.hasNegativeZero)
    result = s.select(i.is(IP::ugt, magnitude, layout.largest), i.number(kNaN),
                      result);
  if (layout.infinity)
    result = s.select(i.is(IP::eq, magnitude, *layout.infinity),
                      i.number(kInfinity), result);
  if (!layout.hasNegativeZero)
    result = s.select(i.is(IP::eq, bits, *layout.nan), i.number(kNaN), result);
  return i.realOf(s.either(result, sign));
}

/// The bits, without the sign, of `magnitude` (those of an f32 that is not
/// negative) rounded to nearest even; too large ones go on behind the largest.
static Value roundMagnitude(BitBuilder &i, Value magnitude,
                            const Layout &layout) {
  ScalarBuilder &s = i.s;
  int cut = 23 - layout.mantissa;
  Value isOdd = i.band(i.right(magnitude, cut), 1);
  Value rounded =
      s.add(i.plus(magnitude, (int64_t(1) << (cut - 1)) - 1), isOdd);
  Value normal = i.plus(i.right(rounded, cut),
                        -(int64_t(layout.rebias()) << layout.mantissa));
  // Added to a number whose last bit is that of the subnormals, f32's addition
  // rounds there.
  int64_t anchor = int64_t(127 + 23 + layout.minExponent - layout.mantissa)
                   << 23;
  Value sum = s.add(i.realOf(magnitude), i.realOf(i.number(anchor)));
  Value subnormal = i.plus(i.bitsOf(sum), -anchor);
  Value isSmall =
      i.is(IP::ult, magnitude, int64_t(127 + layout.minExponent) << 23);
  return s.select(isSmall, subnormal, normal);
}

Value loopc::encodeSmallFloat(ScalarBuilder &s, Value value, FloatType type,
                              CastOptions options) {
  BitBuilder i(s);
  Type i8 = s.b.getI8Type();
  if (isa<Float8E8M0FNUType>(type))
    return s.make<arith::TruncIOp>(i8, encodeExponent(i, value, options));
  Layout layout(type);
  Value bits = i.bitsOf(value);
  Value magnitude = i.band(bits, 0x7fffffff);
  Value sign = i.left(i.right(bits, 31), layout.width - 1);
  Value code = roundMagnitude(i, magnitude, layout);
  int64_t above = layout.largest;
  if (!options.saturate)
    above = layout.infinity.value_or(layout.nan.value_or(layout.largest));
  Value isAbove = i.is(IP::sgt, code, layout.largest);
  code = s.select(isAbove, i.number(above), code);
  if (!layout.hasNegativeZero)
    sign = i.choose(i.is(IP::ne, code, 0), sign, 0);
  code = s.either(code, sign);
  // Types without NaN have zero for it, of the other sign.
  Value isNaN = i.is(IP::ugt, magnitude, kInfinity);
  Value nan = !layout.nan ? s.make<arith::XOrIOp>(sign, i.number(layout.sign))
              : layout.hasNegativeZero ? s.either(sign, i.number(*layout.nan))
                                       : i.number(*layout.nan);
  return s.make<arith::TruncIOp>(i8, s.select(isNaN, nan, code));
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

static bool isUnsignedType(Type type) {
  return type.isUnsignedInteger() || type.isInteger(1);
}

/// Any number (of a type that arithmetic knows) as bits of the small float
/// `to`, rounded once; to float8e8m0 by way of f32, as the reference has it.
static Value encodeNumber(ScalarBuilder &s, Value value, bool isUnsigned,
                          FloatType to, CastOptions options) {
  auto convert = [&](Type type) {
    return convertNumber(s, value, isUnsigned, type, false);
  };
  Type f32 = s.b.getF32Type(), f64 = s.b.getF64Type(), from = value.getType();
  bool isExponent = isa<Float8E8M0FNUType>(to);
  bool isWide = from.isF64() || from.isInteger(32) || from.isInteger(64);
  if (!isWide || isExponent)
    return encodeSmallFloat(s, convert(f32), to, options);
  // An integer that f64 rounds is out of range of all small floats.
  return encodeSmallFloat(s, narrowToOdd(s, convert(f64)), to, options);
}

Value loopc::wrapSmallInteger(ScalarBuilder &s, Value value, Type to) {
  unsigned bits = to.getIntOrFloatBitWidth();
  Type i8 = value.getType();
  if (to.isUnsignedInteger())
    return s.both(value, s.integer(i8, (1 << bits) - 1));
  Value count = s.integer(i8, 8 - bits);
  return s.make<arith::ShRSIOp>(s.make<arith::ShLIOp>(value, count), count);
}

Value loopc::convertElement(ScalarBuilder &s, Value value, Type from, Type to,
                            CastOptions options) {
  // A float of 8 bits is saturated and its NaN made the usual one even where
  // its type stays.
  if (from == to && !isSmallFloat(from))
    return value;
  bool isUnsigned = isUnsignedType(from);
  if (isSmallFloat(from)) {
    value = decodeSmallFloat(s, value, cast<FloatType>(from));
    from = value.getType();
  }
  if (isSmallFloat(to))
    return encodeNumber(s, value, isUnsigned, cast<FloatType>(to), options);
  Value result =
      convertNumber(s, value, isUnsigned, toSignless(to), isUnsignedType(to));
  return isSmallInteger(to) ? wrapSmallInteger(s, result, to) : result;
}
