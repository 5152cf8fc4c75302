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

#include "ElementwiseUtils.h"

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

/// f64 to a type of less than 32 bits, rounded once. The step to f32 rounds to
/// odd: it keeps in the last bit that something was cut off, so that the second
/// step cannot mistake the value for a tie.
static Value narrowFloat64(ScalarBuilder &s, Value value, Type to) {
  Type f32 = s.b.getF32Type(), i32 = s.b.getI32Type();
  Value nearest = s.make<arith::TruncFOp>(f32, value);
  Value back = s.make<arith::ExtFOp>(s.b.getF64Type(), nearest);
  Value inexact = s.make<arith::CmpFOp>(FP::ONE, back, value);
  Value away = s.make<arith::CmpFOp>(FP::OGT, s.abs(back), s.abs(value));
  Value bits = s.make<arith::BitcastOp>(i32, nearest);
  Value cut = s.sub(bits, s.make<arith::ExtUIOp>(i32, away));
  Value odd = s.either(cut, s.integer(i32, 1));
  Value chosen = s.select(inexact, odd, bits);
  return s.make<arith::TruncFOp>(to, s.make<arith::BitcastOp>(f32, chosen));
}

static Value floatToFloat(ScalarBuilder &s, Value value, FloatType to) {
  auto from = cast<FloatType>(value.getType());
  if (from.getWidth() < to.getWidth())
    return s.make<arith::ExtFOp>(to, value);
  if (from.isF64() && to.getWidth() < 32)
    return narrowFloat64(s, value, to);
  if (from.getWidth() > to.getWidth())
    return s.make<arith::TruncFOp>(to, value);
  // f16 and bf16: through f32.
  return s.make<arith::TruncFOp>(
      to, s.make<arith::ExtFOp>(s.b.getF32Type(), value));
}

static Value integerToFloat(ScalarBuilder &s, Value value, bool fromUnsigned,
                            FloatType to) {
  unsigned bits = value.getType().getIntOrFloatBitWidth();
  // Small floats through one that holds the integer exactly (64 bits: nearly).
  Type wide = to;
  if (to.getWidth() < 32)
    wide = bits <= 16 ? s.b.getF32Type() : s.b.getF64Type();
  Value real = fromUnsigned || bits == 1 ? s.make<arith::UIToFPOp>(wide, value)
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

Value NodeLowering::castScalar(OpBuilder &b, Location loc, Value value,
                               bool fromUnsigned, Type to, bool toUnsigned) {
  Type from = value.getType();
  if (from == to)
    return value;
  ScalarBuilder s(b, loc);
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

//===----------------------------------------------------------------------===//
// Cast and CastLike
//===----------------------------------------------------------------------===//

/// Element types whose conversion to themselves costs nothing and whose
/// conversion to others is not lowered: strings, small floats.
static LogicalResult castElements(NodeLowering &l) {
  Type from = l.elementType(0), to = l.resultElementType();
  if (from == to) {
    l.setResult(l.in(0));
    return success();
  }
  for (Type type : {from, to})
    if (!isArithmeticType(type)) {
      std::string name;
      llvm::raw_string_ostream(name) << type;
      return l.refuse("conversion from or to " + name + " is not supported");
    }
  bool fromUnsigned = l.isUnsigned(0), toUnsigned = l.isResultUnsigned();
  l.setResult(l.elementwise(
      l.in(0), to, [&](OpBuilder &b, Location loc, ValueRange elements) {
        return NodeLowering::castScalar(b, loc, elements[0], fromUnsigned, to,
                                        toUnsigned);
      }));
  return success();
}

/// The result's type says what `to` said. The other attributes are about
/// floats of 8 bits.
static LogicalResult lowerCast(NodeLowering &l) {
  for (StringRef name : {"to", "saturate", "round_mode"})
    l.ignoreAttr(name);
  return castElements(l);
}

static LogicalResult lowerCastLike(NodeLowering &l) {
  for (StringRef name : {"saturate", "round_mode"})
    l.ignoreAttr(name);
  return castElements(l);
}

void loopc::addCastRows(LoweringTable &table) {
  table.add({
      {"", "Cast", 1, kLatest, lowerCast},
      {"", "CastLike", 15, kLatest, lowerCastLike},
  });
}
