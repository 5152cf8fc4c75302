//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Binary and variadic operators with broadcasting: arithmetic, comparison,
// logic, bits, selection.

#include "Framework/ElementwiseUtils.h"
#include "Framework/ShapeUtils.h"
#include "Framework/StringUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace loopc;

using BinaryFn = Value (*)(ScalarBuilder &, Value, Value);

static Value addFn(ScalarBuilder &s, Value x, Value y) { return s.add(x, y); }
static Value subFn(ScalarBuilder &s, Value x, Value y) { return s.sub(x, y); }
static Value mulFn(ScalarBuilder &s, Value x, Value y) { return s.mul(x, y); }
static Value divFn(ScalarBuilder &s, Value x, Value y) { return s.div(x, y); }
static Value minFn(ScalarBuilder &s, Value x, Value y) { return s.min(x, y); }
static Value maxFn(ScalarBuilder &s, Value x, Value y) { return s.max(x, y); }
static Value lessFn(ScalarBuilder &s, Value x, Value y) { return s.less(x, y); }
static Value greaterFn(ScalarBuilder &s, Value x, Value y) {
  return s.less(y, x);
}
static Value lessOrEqualFn(ScalarBuilder &s, Value x, Value y) {
  return s.lessOrEqual(x, y);
}
static Value greaterOrEqualFn(ScalarBuilder &s, Value x, Value y) {
  return s.lessOrEqual(y, x);
}
static Value equalFn(ScalarBuilder &s, Value x, Value y) {
  return s.equal(x, y);
}
static Value andFn(ScalarBuilder &s, Value x, Value y) { return s.both(x, y); }
static Value orFn(ScalarBuilder &s, Value x, Value y) { return s.either(x, y); }
static Value xorFn(ScalarBuilder &s, Value x, Value y) {
  return s.make<arith::XOrIOp>(x, y);
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

/// Sets the result to `fn` of the elements of input 0 and `rhs`, computed in
/// the type that arithmetic on them is done in.
static LogicalResult
binary(NodeLowering &l, Value rhs,
       llvm::function_ref<Value(ScalarBuilder &, Value, Value)> fn) {
  if (failed(requireArithmetic(l)))
    return failure();
  Type result = l.resultElementType();
  Type compute = NodeLowering::computeType(l.elementType(0));
  bool isUnsigned = l.isUnsigned(0);
  l.setResult(l.elementwise(
      {l.in(0), rhs}, result, [&](OpBuilder &b, Location loc, ValueRange e) {
        ScalarBuilder s(b, loc, isUnsigned);
        Value value = fn(s, s.cast(e[0], compute), s.cast(e[1], compute));
        return value.getType() == result ? value : s.cast(value, result);
      }));
  return success();
}

/// Up to version 6 the second operand had the shape of the first, or with
/// `broadcast = 1` that of its last axes or of those that begin at `axis`.
static LogicalResult alignOldBroadcast(NodeLowering &l, Value &rhs) {
  constexpr int64_t absent = std::numeric_limits<int64_t>::max();
  l.ignoreAttr("consumed_inputs");
  int64_t axisAttr = l.intAttr("axis", absent);
  Dims target = l.dims(l.in(0));
  int64_t lhsRank = target.size();
  int64_t rank = cast<RankedTensorType>(rhs.getType()).getRank();
  if (!l.intAttr("broadcast", 0)) {
    if (rank != lhsRank)
      return l.refuse("the operands have ranks " + Twine(lhsRank) + " and " +
                      Twine(rank) + " without 'broadcast'");
    for (int64_t k = 0; k < rank; ++k)
      if (!requireEqual(l, target[k], l.dim(rhs, k), "without 'broadcast'"))
        return l.refuse("the operands differ in dimension " + Twine(k) +
                        " without 'broadcast'");
    return success();
  }
  if (axisAttr != absent && rank < lhsRank) {
    FailureOr<int64_t> axis = l.normalizeAxis(axisAttr, lhsRank);
    if (failed(axis))
      return failure();
    int64_t trailing = lhsRank - *axis - rank;
    if (trailing < 0)
      return l.refuse("the second operand does not fit behind axis " +
                      Twine(*axis));
    Dims dims = l.dims(rhs);
    dims.append(trailing, l.fold(1));
    rhs = reshapeByGroups(l, rhs, dims);
  }
  return requireBroadcastsTo(l, rhs, target, "the second operand");
}

template <BinaryFn fn> static LogicalResult lowerBinary(NodeLowering &l) {
  return binary(l, l.in(1), fn);
}

template <BinaryFn fn> static LogicalResult lowerOldBinary(NodeLowering &l) {
  Value rhs = l.in(1);
  if (failed(alignOldBroadcast(l, rhs)))
    return failure();
  return binary(l, rhs, fn);
}

/// Equal takes strings too.
static LogicalResult lowerEqual(NodeLowering &l) {
  if (!l.isString(0))
    return lowerBinary<equalFn>(l);
  l.setResult(l.elementwise({l.in(0), l.in(1)}, l.b.getI1Type(),
                            [](OpBuilder &b, Location loc, ValueRange e) {
                              return equalStrings(b, loc, e[0], e[1]);
                            }));
  return success();
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

/// Integer division by zero is an error of the run (loop_order); it is found
/// before anything is divided.
static void checkNoZero(NodeLowering &l, Value divisor) {
  if (isa<FloatType>(l.elementType(1)))
    return;
  if (std::optional<SmallVector<int64_t>> values = l.constantInts(1);
      values && !llvm::is_contained(*values, 0))
    return;
  auto type = cast<RankedTensorType>(divisor.getType());
  Value found;
  if (type.hasStaticShape() && type.getNumElements() == 1) {
    ScalarBuilder s(l.b, l.b.getLoc());
    Value scalar = l.scalar(divisor);
    found = s.notEqual(scalar, s.integer(scalar.getType(), 0));
  } else {
    Dims dims = l.dims(divisor);
    SmallVector<int64_t> axes = allAxes(dims.size());
    Value all = reduceSpace(
        l, {{divisor, axes}}, dims, axes, Combiner::Min, l.b.getI1Type(),
        /*isUnsigned=*/true, [](ScalarBuilder &s, ArrayRef<Value> elements) {
          return s.notEqual(elements[0], s.integer(elements[0].getType(), 0));
        });
    found = tensor::ExtractOp::create(l.b, all, ValueRange());
  }
  l.check(found, "integer division by zero");
}

static LogicalResult lowerDiv(NodeLowering &l) {
  checkNoZero(l, l.in(1));
  return binary(l, l.in(1), divFn);
}

static LogicalResult lowerOldDiv(NodeLowering &l) {
  Value rhs = l.in(1);
  if (failed(alignOldBroadcast(l, rhs)))
    return failure();
  checkNoZero(l, rhs);
  return binary(l, rhs, divFn);
}

/// C's remainder: the sign is x's. INT_MIN % -1 is 0.
static Value truncatedRemainder(ScalarBuilder &s, Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return s.make<arith::RemFOp>(x, y);
  if (s.isUnsigned)
    return s.make<arith::RemUIOp>(x, y);
  Type type = x.getType();
  Value isMinusOne = s.equal(y, s.integer(type, -1));
  return s.make<arith::RemSIOp>(x, s.select(isMinusOne, s.integer(type, 1), y));
}

/// Python's remainder: the sign is y's, of a zero too.
static Value flooredRemainder(ScalarBuilder &s, Value x, Value y) {
  Value remainder = truncatedRemainder(s, x, y);
  if (s.isUnsigned)
    return remainder;
  Value zero = s.number(x.getType(), 0);
  Value isNegative = s.less(remainder, zero);
  Value differ = s.make<arith::XOrIOp>(isNegative, s.less(y, zero));
  Value isZero = s.equal(remainder, zero);
  Value moved = s.select(differ, s.add(remainder, y), remainder);
  Value atZero = isa<FloatType>(x.getType())
                     ? s.make<math::CopySignOp>(remainder, y)
                     : remainder;
  return s.select(isZero, atZero, moved);
}

static LogicalResult lowerMod(NodeLowering &l) {
  checkNoZero(l, l.in(1));
  return binary(l, l.in(1),
                l.intAttr("fmod", 0) ? truncatedRemainder : flooredRemainder);
}

//===----------------------------------------------------------------------===//
// Pow
//===----------------------------------------------------------------------===//

/// x to a constant exponent by multiplications; null where there would be many.
static Value constantPower(ScalarBuilder &s, Value x, double exponent) {
  Type type = x.getType();
  if (isa<FloatType>(type) && exponent == 0.5) {
    // As pow has it: -0 gives 0, -inf gives inf.
    Value root = s.make<math::SqrtOp>(s.add(x, s.constant(type, 0)));
    return s.select(s.equal(x, s.lowest(type)), s.highest(type), root);
  }
  if (isa<FloatType>(type) && exponent == -1)
    return s.div(s.constant(type, 1), x);
  bool isSmall = exponent >= 0 && exponent == std::floor(exponent) &&
                 exponent <= (isa<FloatType>(type) ? 3 : 64);
  if (!isSmall)
    return {};
  Value power = s.number(type, 1), square = x;
  bool isFirst = true;
  for (auto n = static_cast<unsigned>(exponent); n != 0; n >>= 1) {
    if (n & 1)
      power = std::exchange(isFirst, false) ? square : s.mul(power, square);
    if (n > 1)
      square = s.mul(square, square);
  }
  return power;
}

/// Integer power, wrapping; `n` (i64) is not negative, or unsigned.
static Value integerPower(ScalarBuilder &s, Value x, Value n) {
  Type type = x.getType(), i64 = n.getType();
  Value one = s.integer(type, 1);
  auto loop = scf::WhileOp::create(
      s.b, s.loc, TypeRange{type, type, i64}, ValueRange{one, x, n},
      [](OpBuilder &b, Location loc, ValueRange args) {
        ScalarBuilder t(b, loc);
        Value goesOn = t.notEqual(args[2], t.integer(args[2].getType(), 0));
        scf::ConditionOp::create(b, loc, goesOn, args);
      },
      [](OpBuilder &b, Location loc, ValueRange args) {
        ScalarBuilder t(b, loc);
        Value low = t.make<arith::TruncIOp>(b.getI1Type(), args[2]);
        Value power = t.select(low, t.mul(args[0], args[1]), args[0]);
        Value square = t.mul(args[1], args[1]);
        Value rest =
            t.make<arith::ShRUIOp>(args[2], t.integer(args[2].getType(), 1));
        scf::YieldOp::create(b, loc, ValueRange{power, square, rest});
      });
  return loop.getResult(0);
}

/// x to the exponent y, both integers. 1 / x truncates to 0, but for 1 and -1;
/// 1 / 0 is what a cast of infinity is: the smallest integer.
static Value powIntegers(ScalarBuilder &s, Value x, Value y, bool yUnsigned) {
  Type type = x.getType(), i64 = s.b.getI64Type();
  Value n = NodeLowering::castScalar(s.b, s.loc, y, yUnsigned, i64, yUnsigned);
  if (yUnsigned)
    return integerPower(s, x, n);
  Value isNegative = s.less(n, s.integer(i64, 0));
  Value power = integerPower(s, x, s.select(isNegative, s.integer(i64, 0), n));
  Value isOdd = s.make<arith::TruncIOp>(s.b.getI1Type(), n);
  Value zero = s.integer(type, 0), one = s.integer(type, 1);
  Value minusOne = s.integer(type, -1);
  Value inverse = s.select(s.equal(x, zero), s.lowest(type), zero);
  inverse = s.select(s.equal(x, one), one, inverse);
  inverse =
      s.select(s.equal(x, minusOne), s.select(isOdd, minusOne, one), inverse);
  return s.select(isNegative, inverse, power);
}

/// The type that x and an exponent of other types are computed in: floats are
/// not lost, nor the digits of wide integers.
static Type powType(Builder &b, Type x, Type y) {
  auto needsDouble = [](Type type) {
    return type.getIntOrFloatBitWidth() > 32 ||
           (type.isInteger() && type.getIntOrFloatBitWidth() > 16);
  };
  return needsDouble(x) || needsDouble(y) ? Type(b.getF64Type())
                                          : Type(b.getF32Type());
}

/// The one value of a constant exponent.
static std::optional<double> constantExponent(NodeLowering &l) {
  DenseElementsAttr constant = l.constantInput(1);
  if (!constant || !constant.isSplat())
    return std::nullopt;
  if (isa<FloatType>(l.elementType(1)))
    return constant.getSplatValue<APFloat>().convertToDouble();
  APInt value = constant.getSplatValue<APInt>();
  return value.roundToDouble(/*isSigned=*/!l.isUnsigned(1));
}

static LogicalResult powWith(NodeLowering &l, Value exponent) {
  if (failed(requireArithmetic(l)))
    return failure();
  Type base = l.elementType(0), other = l.elementType(1);
  bool baseUnsigned = l.isUnsigned(0), otherUnsigned = l.isUnsigned(1);
  bool integers = base.isInteger() && other.isInteger();
  Type compute = integers ? base : powType(l.b, base, other);
  if (base == other)
    compute = NodeLowering::computeType(base);
  std::optional<double> constant = constantExponent(l);
  l.setResult(l.elementwise(
      {l.in(0), exponent}, base, [&](OpBuilder &b, Location loc, ValueRange e) {
        ScalarBuilder s(b, loc, baseUnsigned);
        // A product of small floats is as good in f32 as in f64.
        Type direct = NodeLowering::computeType(base);
        if (constant && (integers || isa<FloatType>(base)))
          if (Value value = constantPower(s, s.cast(e[0], direct), *constant))
            return s.cast(value, base);
        if (integers)
          return powIntegers(s, e[0], e[1], otherUnsigned);
        Value y = NodeLowering::castScalar(b, loc, e[1], otherUnsigned, compute,
                                           otherUnsigned);
        Value power = s.make<math::PowFOp>(s.cast(e[0], compute), y);
        return s.cast(power, base);
      }));
  return success();
}

static LogicalResult lowerPow(NodeLowering &l) { return powWith(l, l.in(1)); }

static LogicalResult lowerOldPow(NodeLowering &l) {
  Value exponent = l.in(1);
  if (failed(alignOldBroadcast(l, exponent)))
    return failure();
  return powWith(l, exponent);
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

/// An amount that is negative or not less than the width leaves what the sign
/// bit fills in.
static LogicalResult lowerBitShift(NodeLowering &l) {
  std::string direction = l.stringAttr("direction");
  if (direction != "LEFT" && direction != "RIGHT")
    return l.refuse("'direction' is '" + direction + "'");
  bool isLeft = direction == "LEFT";
  return binary(l, l.in(1), [&](ScalarBuilder &s, Value x, Value y) -> Value {
    Type type = x.getType();
    Value zero = s.integer(type, 0);
    Value width = s.integer(type, type.getIntOrFloatBitWidth());
    Value fits = s.make<arith::CmpIOp>(arith::CmpIPredicate::ult, y, width);
    Value amount = s.select(fits, y, zero);
    if (isLeft)
      return s.select(fits, s.make<arith::ShLIOp>(x, amount), zero);
    if (s.isUnsigned)
      return s.select(fits, s.make<arith::ShRUIOp>(x, amount), zero);
    Value sign = s.integer(type, type.getIntOrFloatBitWidth() - 1);
    return s.make<arith::ShRSIOp>(x, s.select(fits, y, sign));
  });
}

//===----------------------------------------------------------------------===//
// Any number of operands
//===----------------------------------------------------------------------===//

template <BinaryFn fn, bool isMean = false>
static LogicalResult lowerVariadic(NodeLowering &l) {
  l.ignoreAttr("consumed_inputs");
  if (failed(requireArithmetic(l)))
    return failure();
  SmallVector<Value> inputs = l.allInputs();
  if (inputs.size() == 1) {
    l.setResult(inputs[0]);
    return success();
  }
  Type element = l.elementType(0);
  Type compute = NodeLowering::computeType(element);
  bool isUnsigned = l.isUnsigned(0);
  l.setResult(l.elementwise(
      inputs, element, [&](OpBuilder &b, Location loc, ValueRange elements) {
        ScalarBuilder s(b, loc, isUnsigned);
        Value value = s.cast(elements[0], compute);
        for (Value other : elements.drop_front())
          value = fn(s, value, s.cast(other, compute));
        if (isMean)
          value = s.div(value, s.number(compute, elements.size()));
        return s.cast(value, element);
      }));
  return success();
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

static LogicalResult lowerWhere(NodeLowering &l) {
  Type element = l.elementType(1);
  l.setResult(l.elementwise({l.in(0), l.in(1), l.in(2)}, element,
                            [](OpBuilder &b, Location loc, ValueRange e) {
                              ScalarBuilder s(b, loc);
                              return s.select(e[0], e[1], e[2]);
                            }));
  return success();
}

/// min(high, max(low, x)); a bound may be null.
static Value clip(ScalarBuilder &s, Value x, Value low, Value high) {
  auto isNumber = [](Value bound) {
    APFloat value(0.0);
    return matchPattern(bound, m_ConstantFloat(&value)) && !value.isNaN();
  };
  // Against a bound that is a number a comparison suffices; x may be NaN.
  if (low)
    x = isNumber(low) ? s.select(s.less(x, low), low, x) : s.max(x, low);
  if (high)
    x = isNumber(high) ? s.select(s.less(high, x), high, x) : s.min(x, high);
  return x;
}

static LogicalResult lowerClip(NodeLowering &l) {
  Value low = l.has(1) ? l.scalar(l.in(1)) : Value();
  Value high = l.has(2) ? l.scalar(l.in(2)) : Value();
  return lowerElementwise(l, [&](ScalarBuilder &s, Value x) {
    auto bound = [&](Value value) {
      return value ? s.cast(value, x.getType()) : value;
    };
    return clip(s, x, bound(low), bound(high));
  });
}

/// The bounds are attributes. The schema's defaults are the limits of f32:
/// other types are not held to them.
static LogicalResult lowerOldClip(NodeLowering &l) {
  l.ignoreAttr("consumed_inputs");
  bool isSingle = l.elementType(0).isF32();
  auto bound = [&](StringRef name) -> std::optional<double> {
    if (!l.hasAttr(name) || (!isSingle && !l.node.getNodeAttr(name)))
      return std::nullopt;
    return l.floatAttr(name);
  };
  std::optional<double> low = bound("min"), high = bound("max");
  return lowerElementwise(l, [&](ScalarBuilder &s, Value x) {
    Type type = x.getType();
    return clip(s, x, low ? s.constant(type, *low) : Value(),
                high ? s.constant(type, *high) : Value());
  });
}

static Value preluFn(ScalarBuilder &s, Value x, Value slope) {
  if (s.isUnsigned)
    return x;
  return s.select(s.less(x, s.number(x.getType(), 0)), s.mul(slope, x), x);
}

static LogicalResult preluWith(NodeLowering &l, Value slope) {
  if (failed(requireBroadcastsTo(l, slope, l.dims(l.in(0)), "the slope")))
    return failure();
  return binary(l, slope, preluFn);
}

static LogicalResult lowerPRelu(NodeLowering &l) {
  return preluWith(l, l.in(1));
}

/// Up to version 6 the slope is one element or has one for each channel.
static LogicalResult lowerOldPRelu(NodeLowering &l) {
  l.ignoreAttr("consumed_inputs");
  Value slope = l.in(1);
  if (l.rank(1) == 1 && l.rank(0) > 2) {
    Dims dims = l.dims(slope);
    dims.append(l.rank(0) - 2, l.fold(1));
    slope = reshapeByGroups(l, slope, dims);
  }
  return preluWith(l, slope);
}

static LogicalResult lowerIdentity(NodeLowering &l) {
  l.setResult(l.in(0));
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static void addArithmeticRows(LoweringTable &table) {
  table.add({
      {"", "Add", 1, 6, lowerOldBinary<addFn>},
      {"", "Add", 7, kLatest, lowerBinary<addFn>},
      {"", "Sub", 1, 6, lowerOldBinary<subFn>},
      {"", "Sub", 7, kLatest, lowerBinary<subFn>},
      {"", "Mul", 1, 6, lowerOldBinary<mulFn>},
      {"", "Mul", 7, kLatest, lowerBinary<mulFn>},
      {"", "Div", 1, 6, lowerOldDiv},
      {"", "Div", 7, kLatest, lowerDiv},
      {"", "Mod", 10, kLatest, lowerMod},
      {"", "Pow", 1, 6, lowerOldPow},
      {"", "Pow", 7, kLatest, lowerPow},
      {"", "Max", 1, kLatest, lowerVariadic<maxFn>},
      {"", "Min", 1, kLatest, lowerVariadic<minFn>},
      {"", "Sum", 1, kLatest, lowerVariadic<addFn>},
      {"", "Mean", 1, kLatest, lowerVariadic<addFn, /*isMean=*/true>},
      {"", "PRelu", 1, 6, lowerOldPRelu},
      {"", "PRelu", 7, kLatest, lowerPRelu},
  });
}

static void addLogicRows(LoweringTable &table) {
  table.add({
      {"", "Less", 1, 6, lowerOldBinary<lessFn>},
      {"", "Less", 7, kLatest, lowerBinary<lessFn>},
      {"", "Greater", 1, 6, lowerOldBinary<greaterFn>},
      {"", "Greater", 7, kLatest, lowerBinary<greaterFn>},
      {"", "LessOrEqual", 12, kLatest, lowerBinary<lessOrEqualFn>},
      {"", "GreaterOrEqual", 12, kLatest, lowerBinary<greaterOrEqualFn>},
      {"", "Equal", 1, 6, lowerOldBinary<equalFn>},
      {"", "Equal", 7, kLatest, lowerEqual},
      {"", "And", 1, 6, lowerOldBinary<andFn>},
      {"", "And", 7, kLatest, lowerBinary<andFn>},
      {"", "Or", 1, 6, lowerOldBinary<orFn>},
      {"", "Or", 7, kLatest, lowerBinary<orFn>},
      {"", "Xor", 1, 6, lowerOldBinary<xorFn>},
      {"", "Xor", 7, kLatest, lowerBinary<xorFn>},
      {"", "BitwiseAnd", 18, kLatest, lowerBinary<andFn>},
      {"", "BitwiseOr", 18, kLatest, lowerBinary<orFn>},
      {"", "BitwiseXor", 18, kLatest, lowerBinary<xorFn>},
      {"", "BitShift", 11, kLatest, lowerBitShift},
  });
}

void loopc::addElementwiseRows(LoweringTable &table) {
  addArithmeticRows(table);
  addLogicRows(table);
  table.add({
      {"", "Where", 9, kLatest, lowerWhere},
      {"", "Clip", 1, 10, lowerOldClip},
      {"", "Clip", 11, kLatest, lowerClip},
      {"", "Identity", 1, kLatest, lowerIdentity, true},
  });
}
