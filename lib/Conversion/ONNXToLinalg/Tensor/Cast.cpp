//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Conversion between element types: every input has a defined result. Where
// ONNX leaves it open (a float that the integer type cannot hold) it is what
// x86's conversions and so NumPy give: the float is converted to 32 bits (64
// for uint32 and the 64-bit types), where NaN and what is out of range become
// the smallest integer, and the high bits are dropped.

#include "Framework/ElementTypes.h"
#include "Framework/StringUtils.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;
using namespace loopc;
using FP = arith::CmpFPredicate;

Type NodeLowering::computeType(Type type) {
  if (auto real = dyn_cast<FloatType>(type); real && real.getWidth() < 32)
    return Float32Type::get(type.getContext());
  return type;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value loopc::narrowToOdd(ScalarBuilder &s, Value value) {
  Type f32 = s.b.getF32Type(), i32 = s.b.getI32Type();
  Value nearest = s.make<arith::TruncFOp>(f32, value);
  Value back = s.make<arith::ExtFOp>(s.b.getF64Type(), nearest);
  Value inexact = s.make<arith::CmpFOp>(FP::ONE, back, value);
  Value away = s.make<arith::CmpFOp>(FP::OGT, s.abs(back), s.abs(value));
  Value bits = s.make<arith::BitcastOp>(i32, nearest);
  Value cut = s.sub(bits, s.make<arith::ExtUIOp>(i32, away));
  Value odd = s.either(cut, s.integer(i32, 1));
  Value chosen = s.select(inexact, odd, bits);
  return s.make<arith::BitcastOp>(f32, chosen);
}

static Value floatToFloat(ScalarBuilder &s, Value value, FloatType to) {
  auto from = cast<FloatType>(value.getType());
  if (from.getWidth() < to.getWidth())
    return s.make<arith::ExtFOp>(to, value);
  if (from.isF64() && to.getWidth() < 32)
    return s.make<arith::TruncFOp>(to, narrowToOdd(s, value));
  if (from.getWidth() > to.getWidth())
    return s.make<arith::TruncFOp>(to, value);
  // f16 and bf16: through f32.
  return s.make<arith::TruncFOp>(
      to, s.make<arith::ExtFOp>(s.b.getF32Type(), value));
}

static Value integerToFloat(ScalarBuilder &s, Value value, bool fromUnsigned,
                            FloatType to) {
  unsigned bits = value.getType().getIntOrFloatBitWidth();
  // A mask chooses between two constants by one instruction; as a number it
  // would be an integer first.
  if (bits == 1)
    return s.select(value, s.constant(to, 1), s.constant(to, 0));
  // Small floats through one that holds the integer exactly (64 bits: nearly).
  Type wide = to;
  if (to.getWidth() < 32)
    wide = bits <= 16 ? s.b.getF32Type() : s.b.getF64Type();
  Value real = fromUnsigned ? s.make<arith::UIToFPOp>(wide, value)
                            : s.make<arith::SIToFPOp>(wide, value);
  return wide == to ? real : floatToFloat(s, real, to);
}

/// `value` (f32 or f64), towards zero, as signed integer of type `to` (32 or 64
/// bits); its smallest value for NaN and what is out of range, where
/// arith.fptosi alone would be poison.
static Value floatToSigned(ScalarBuilder &s, Value value, Type to) {
  Type from = value.getType();
  unsigned bits = to.getIntOrFloatBitWidth();
  Value limit = s.constant(from, std::ldexp(1.0, bits - 1));
  // The lower limit itself is in range, and the smallest value in any case.
  Value fits = s.less(s.abs(value), limit);
  Value safe = s.select(fits, value, s.constant(from, 0));
  Value lowest = s.lowest(to);
  return s.select(fits, s.make<arith::FPToSIOp>(to, safe), lowest);
}

static Value floatToInteger(ScalarBuilder &s, Value value, IntegerType to,
                            bool toUnsigned) {
  if (cast<FloatType>(value.getType()).getWidth() < 32)
    value = s.make<arith::ExtFOp>(s.b.getF32Type(), value);
  unsigned bits = to.getWidth();
  Type i64 = s.b.getI64Type();
  if (bits < 32 || (bits == 32 && !toUnsigned)) {
    Value wide = floatToSigned(s, value, s.b.getI32Type());
    return bits == 32 ? wide : s.make<arith::TruncIOp>(to, wide);
  }
  if (bits == 32)
    return s.make<arith::TruncIOp>(to, floatToSigned(s, value, i64));
  if (!toUnsigned)
    return floatToSigned(s, value, i64);
  // The upper half of uint64 is shifted into the range of int64 and back.
  Value half = s.constant(value.getType(), std::ldexp(1.0, 63));
  Value isUpper = s.lessOrEqual(half, value);
  Value shifted = s.select(isUpper, s.sub(value, half), value);
  Value sign = s.select(isUpper, s.lowest(i64), s.integer(i64, 0));
  return s.make<arith::XOrIOp>(floatToSigned(s, shifted, i64), sign);
}

static Value integerToInteger(ScalarBuilder &s, Value value, bool fromUnsigned,
                              Type to) {
  unsigned from = value.getType().getIntOrFloatBitWidth();
  unsigned bits = to.getIntOrFloatBitWidth();
  if (from > bits)
    return s.make<arith::TruncIOp>(to, value);
  if (fromUnsigned || from == 1)
    return s.make<arith::ExtUIOp>(to, value);
  return s.make<arith::ExtSIOp>(to, value);
}

Value loopc::convertNumber(ScalarBuilder &s, Value value, bool fromUnsigned,
                           Type to, bool toUnsigned) {
  Type from = value.getType();
  if (from == to)
    return value;
  if (to.isInteger(1))
    return s.notEqual(value, s.number(from, 0));
  auto toFloat = dyn_cast<FloatType>(to);
  if (isa<FloatType>(from))
    return toFloat
               ? floatToFloat(s, value, toFloat)
               : floatToInteger(s, value, cast<IntegerType>(to), toUnsigned);
  return toFloat ? integerToFloat(s, value, fromUnsigned, toFloat)
                 : integerToInteger(s, value, fromUnsigned, to);
}

Value NodeLowering::castScalar(OpBuilder &b, Location loc, Value value,
                               bool fromUnsigned, Type to, bool toUnsigned) {
  ScalarBuilder s(b, loc);
  Value converted = convertNumber(s, value, fromUnsigned, to, toUnsigned);
  // The rounding of a result, not one that the model asked for.
  if (auto rounded = converted.getDefiningOp<arith::TruncFOp>();
      rounded && converted != value && rounded.getIn().getType().isF32())
    rounded->setAttr(kMaySkipAttrName, b.getUnitAttr());
  return converted;
}

//===----------------------------------------------------------------------===//
// Cast and CastLike
//===----------------------------------------------------------------------===//

static std::string typeName(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

/// Sets result 0 to `fn` of every element of input 0.
static void
mapElements(NodeLowering &l,
            llvm::function_ref<Value(ScalarBuilder &s, Value x)> fn) {
  l.setResult(
      l.elementwise(l.in(0), l.resultElementType(),
                    [&](OpBuilder &b, Location loc, ValueRange elements) {
                      ScalarBuilder s(b, loc);
                      return fn(s, elements[0]);
                    }));
}

/// True if every element keeps its bits: integers that differ in the sign, and
/// a type that stays. A float of 8 bits is then saturated all the same, and the
/// conversion to float8e8m0 rounds its own smallest number.
static bool keepsElements(Type from, Type to, CastOptions options) {
  if (isSmallFloat(to))
    return from == to && !isa<Float8E8M0FNUType>(to) &&
           (!options.saturate || cast<FloatType>(to).getWidth() < 8);
  return from == to ||
         (!isSmallFloat(from) && !isSmallInteger(from) && !isSmallInteger(to) &&
          toSignless(from) == toSignless(to));
}

static LogicalResult castElements(NodeLowering &l, CastOptions options) {
  Type from = l.declaredType(0), to = l.declaredResultType();
  if (isa<onnx::StringType>(from) || isa<onnx::StringType>(to))
    return castStrings(l, options);
  if (keepsElements(from, to, options)) {
    l.setResult(l.in(0));
    return success();
  }
  for (Type type : {from, to})
    if (!isArithmeticType(type) && !isSmallFloat(type))
      return l.unsupported("conversion from or to " + typeName(type) +
                           " is not supported");
  mapElements(l, [&](ScalarBuilder &s, Value x) {
    return convertElement(s, x, from, to, options);
  });
  return success();
}

/// The attributes that are about floats of 8 bits.
static FailureOr<CastOptions> castOptions(NodeLowering &l) {
  CastOptions options;
  options.saturate = l.intAttr("saturate", 1) != 0;
  std::string mode = l.stringAttr("round_mode", "up");
  if (mode == "down")
    options.roundMode = CastOptions::RoundMode::Down;
  else if (mode == "nearest")
    options.roundMode = CastOptions::RoundMode::Nearest;
  else if (mode != "up")
    return l.refuse("'round_mode' is '" + mode +
                    "', expected 'up', 'down' or 'nearest'");
  return options;
}

/// The result's type says what `to` said.
static LogicalResult lowerCast(NodeLowering &l) {
  l.ignoreAttr("to");
  FailureOr<CastOptions> options = castOptions(l);
  return failed(options) ? failure() : castElements(l, *options);
}

static LogicalResult lowerCastLike(NodeLowering &l) {
  FailureOr<CastOptions> options = castOptions(l);
  return failed(options) ? failure() : castElements(l, *options);
}

//===----------------------------------------------------------------------===//
// BitCast
//===----------------------------------------------------------------------===//

/// Bits of an element at the border of a model.
static unsigned widthOf(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * widthOf(complex.getElementType());
  return type.isInteger(1) ? 8 : type.getIntOrFloatBitWidth();
}

/// The bits of an element of the declared type `type`, in an integer of as many
/// bits, those of less than a byte in i8 with zeros above.
static Value bitsOf(ScalarBuilder &s, Value value, Type type) {
  auto integer = [&](unsigned width) {
    return IntegerType::get(s.b.getContext(), width);
  };
  if (type.isInteger(1))
    return s.make<arith::ExtUIOp>(integer(8), value);
  if (widthOf(type) < 8)
    return s.both(value, s.integer(integer(8), (1 << widthOf(type)) - 1));
  if (auto complex = dyn_cast<ComplexType>(type)) {
    Type part = complex.getElementType();
    unsigned width = widthOf(part);
    auto widened = [&](Value x) {
      return s.make<arith::ExtUIOp>(integer(2 * width), bitsOf(s, x, part));
    };
    Value low = widened(s.make<complex::ReOp>(value));
    Value high = widened(s.make<complex::ImOp>(value));
    Value count = s.integer(integer(2 * width), width);
    return s.either(low, s.make<arith::ShLIOp>(high, count));
  }
  if (isa<FloatType>(value.getType()))
    return s.make<arith::BitcastOp>(integer(widthOf(type)), value);
  return value;
}

/// The element of the declared type `type` that has the bits `bits`.
static Value elementOf(ScalarBuilder &s, Value bits, Type type) {
  if (type.isInteger(1))
    return s.notEqual(bits, s.integer(bits.getType(), 0));
  if (isSmallInteger(type))
    return wrapSmallInteger(s, bits, type);
  if (auto complex = dyn_cast<ComplexType>(type)) {
    Type part = complex.getElementType();
    unsigned width = widthOf(part);
    auto half = IntegerType::get(s.b.getContext(), width);
    Value count = s.integer(bits.getType(), width);
    Value high = s.make<arith::ShRUIOp>(bits, count);
    Value re = elementOf(s, s.make<arith::TruncIOp>(half, bits), part);
    Value im = elementOf(s, s.make<arith::TruncIOp>(half, high), part);
    return s.make<complex::CreateOp>(type, re, im);
  }
  if (isa<FloatType>(toSignless(type)))
    return s.make<arith::BitcastOp>(type, bits);
  return bits;
}

static LogicalResult lowerBitCast(NodeLowering &l) {
  l.ignoreAttr("to");
  Type from = l.declaredType(0), to = l.declaredResultType();
  if (widthOf(from) != widthOf(to))
    return l.refuse("an element of " + Twine(widthOf(from)) +
                    " bits cannot be one of " + Twine(widthOf(to)));
  if (from == to) {
    l.setResult(l.in(0));
    return success();
  }
  mapElements(l, [&](ScalarBuilder &s, Value x) {
    return elementOf(s, bitsOf(s, x, from), to);
  });
  return success();
}

void loopc::addCastRows(LoweringTable &table) {
  table.add({
      {"", "Cast", 1, kLatest, lowerCast},
      {"", "CastLike", 15, kLatest, lowerCastLike},
      {"", "BitCast", 26, kLatest, lowerBitCast},
  });
}
