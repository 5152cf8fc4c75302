//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Functions of one operand, activations, Dropout. Small floats are computed in
// f32 and rounded once.

#include "Framework/ElementTypes.h"
#include "Random.h"

using namespace mlir;
using namespace loopc;

using UnaryFn = Value (*)(ScalarBuilder &, Value);

//===----------------------------------------------------------------------===//
// Functions without attributes
//===----------------------------------------------------------------------===//

template <typename OpTy> static Value mathFn(ScalarBuilder &s, Value x) {
  return s.make<OpTy>(x);
}

static Value absFn(ScalarBuilder &s, Value x) { return s.abs(x); }
static Value negFn(ScalarBuilder &s, Value x) { return s.neg(x); }
static Value notFn(ScalarBuilder &s, Value x) { return s.invert(x); }
static Value isNaNFn(ScalarBuilder &s, Value x) { return s.isNaN(x); }

/// NaN and zeros stay what they are.
static Value signFn(ScalarBuilder &s, Value x) {
  Type type = x.getType();
  Value zero = s.number(type, 0), one = s.number(type, 1);
  if (s.isUnsigned)
    return s.select(s.equal(x, zero), zero, one);
  Value negative = s.select(s.less(x, zero), s.number(type, -1), x);
  return s.select(s.less(zero, x), one, negative);
}

static Value reciprocalFn(ScalarBuilder &s, Value x) {
  return s.div(s.constant(x.getType(), 1), x);
}

/// 1 / (1 + exp(-x)), and exp(x) / (1 + exp(x)) below 0: small results keep
/// their digits, where exp(-x) would be infinity.
static Value sigmoidFn(ScalarBuilder &s, Value x) {
  Value one = s.constant(x.getType(), 1), zero = s.constant(x.getType(), 0);
  Value small = s.exp(s.neg(s.abs(x)));
  Value above = s.select(s.less(x, zero), small, one);
  return s.div(above, s.add(one, small));
}

/// A comparison rather than a maximum: NaN stays.
static Value reluFn(ScalarBuilder &s, Value x) {
  Value zero = s.number(x.getType(), 0);
  return s.isUnsigned ? x : s.select(s.less(x, zero), zero, x);
}

/// log(1 + x) for 0 <= x <= 1: with u = 1 + x rounded, log(u) x / (u - 1),
/// which makes up for what u lost (Kahan). Faster than libm's log1p, whose
/// digits f64 needs.
static Value logOnePlus(ScalarBuilder &s, Value x) {
  Type type = x.getType();
  if (type.isF64())
    return s.make<math::Log1pOp>(x);
  Value one = s.constant(type, 1), u = s.add(one, x);
  Value ratio = s.div(x, s.sub(u, one));
  Value value = s.mul(s.make<math::LogOp>(u), ratio);
  return s.select(s.equal(u, one), x, value);
}

/// log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)), which does not overflow.
static Value softplusFn(ScalarBuilder &s, Value x) {
  return s.add(reluFn(s, x), logOnePlus(s, s.exp(s.neg(s.abs(x)))));
}

static Value softsignFn(ScalarBuilder &s, Value x) {
  return s.div(x, s.add(s.constant(x.getType(), 1), s.abs(x)));
}

/// x tanh(softplus(x)) = x n / (n + 2) with n = e (e + 2), e = exp(x). Where
/// the quotient is 1 anyway x is cut off, so that n stays finite.
static Value mishFn(ScalarBuilder &s, Value x) {
  Type type = x.getType();
  Value limit = s.constant(type, 40), two = s.constant(type, 2);
  Value e = s.exp(s.select(s.less(limit, x), limit, x));
  Value n = s.mul(e, s.add(e, two));
  return s.mul(x, s.div(n, s.add(n, two)));
}

/// exp(x) - 1 without cancellation near zero.
static Value expMinusOne(ScalarBuilder &s, Value x) {
  return s.make<math::ExpM1Op>(x);
}

/// max(0, min(1, x)); NaN stays.
static Value unitClip(ScalarBuilder &s, Value x) {
  Value zero = s.constant(x.getType(), 0), one = s.constant(x.getType(), 1);
  x = s.select(s.less(one, x), one, x);
  return s.select(s.less(x, zero), zero, x);
}

static Value hardSwishFn(ScalarBuilder &s, Value x) {
  Type type = x.getType();
  Value line =
      s.add(s.mul(x, s.constant(type, 1.0 / 6.0)), s.constant(type, 0.5));
  return s.mul(x, unitClip(s, line));
}

template <UnaryFn fn> static LogicalResult lowerUnary(NodeLowering &l) {
  l.ignoreAttr("consumed_inputs");
  return lowerElementwise(l, fn);
}

/// A function of floats that leaves integers alone.
template <UnaryFn fn> static LogicalResult lowerRounding(NodeLowering &l) {
  l.ignoreAttr("consumed_inputs");
  return lowerElementwise(l, [](ScalarBuilder &s, Value x) {
    return isa<FloatType>(x.getType()) ? fn(s, x) : x;
  });
}

/// Version 9 has integers too.
static Value erfFn(ScalarBuilder &s, Value x) {
  if (isa<FloatType>(x.getType()))
    // MLIR's polynomial is +0 at -0.
    return s.make<math::CopySignOp>(s.make<math::ErfOp>(x), x);
  Value real = s.make<math::ErfOp>(s.cast(x, s.b.getF64Type()));
  return s.cast(real, x.getType());
}

//===----------------------------------------------------------------------===//
// Functions with attributes
//===----------------------------------------------------------------------===//

/// Attributes are f32; an older version may still have `consumed_inputs`.
static double parameter(NodeLowering &l, StringRef name) {
  l.ignoreAttr("consumed_inputs");
  return l.floatAttr(name);
}

static LogicalResult lowerIsInf(NodeLowering &l) {
  bool negative = l.intAttr("detect_negative", 1);
  bool positive = l.intAttr("detect_positive", 1);
  return lowerElementwise(l, [&](ScalarBuilder &s, Value x) {
    Type type = x.getType();
    Value found = s.integer(s.b.getI1Type(), 0);
    if (positive)
      found = s.either(found, s.equal(x, s.highest(type)));
    if (negative)
      found = s.either(found, s.equal(x, s.lowest(type)));
    return found;
  });
}

static LogicalResult lowerLeakyRelu(NodeLowering &l) {
  double alpha = parameter(l, "alpha");
  return lowerElementwise(l, [&](ScalarBuilder &s, Value x) {
    Type type = x.getType();
    Value scaled = s.mul(s.constant(type, alpha), x);
    return s.select(s.less(x, s.constant(type, 0)), scaled, x);
  });
}

static LogicalResult lowerElu(NodeLowering &l) {
  double alpha = parameter(l, "alpha");
  return lowerElementwise(l, [&](ScalarBuilder &s, Value x) {
    Type type = x.getType();
    Value curve = s.mul(s.constant(type, alpha), expMinusOne(s, x));
    return s.select(s.less(x, s.constant(type, 0)), curve, x);
  });
}

static LogicalResult lowerSelu(NodeLowering &l) {
  double alpha = parameter(l, "alpha"), gamma = parameter(l, "gamma");
  return lowerElementwise(l, [&](ScalarBuilder &s, Value x) {
    Type type = x.getType();
    Value curve = s.mul(s.constant(type, alpha), expMinusOne(s, x));
    Value value = s.select(s.less(x, s.constant(type, 0)), curve, x);
    return s.mul(s.constant(type, gamma), value);
  });
}

/// max(0, x) + min(0, alpha (exp(x / alpha) - 1)).
static LogicalResult lowerCelu(NodeLowering &l) {
  double alpha = parameter(l, "alpha");
  return lowerElementwise(l, [&](ScalarBuilder &s, Value x) -> Value {
    Type type = x.getType();
    Value scale = s.constant(type, alpha), scaled = s.div(x, scale);
    Value grown = alpha > 0 ? expMinusOne(s, scaled)
                            : s.sub(s.exp(scaled), s.constant(type, 1));
    return s.select(s.less(x, s.constant(type, 0)), s.mul(scale, grown), x);
  });
}

static LogicalResult lowerThresholdedRelu(NodeLowering &l) {
  double alpha = parameter(l, "alpha");
  return lowerElementwise(l, [&](ScalarBuilder &s, Value x) {
    Type type = x.getType();
    return s.select(s.less(s.constant(type, alpha), x), x, s.constant(type, 0));
  });
}

static LogicalResult lowerHardSigmoid(NodeLowering &l) {
  double alpha = parameter(l, "alpha"), beta = parameter(l, "beta");
  return lowerElementwise(l, [&](ScalarBuilder &s, Value x) {
    Type type = x.getType();
    return unitClip(
        s, s.add(s.mul(s.constant(type, alpha), x), s.constant(type, beta)));
  });
}

static LogicalResult lowerSwish(NodeLowering &l) {
  double alpha = parameter(l, "alpha");
  return lowerElementwise(l, [&](ScalarBuilder &s, Value x) {
    return s.mul(x, sigmoidFn(s, s.mul(s.constant(x.getType(), alpha), x)));
  });
}

static LogicalResult lowerGelu(NodeLowering &l) {
  std::string approximate = l.stringAttr("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    return l.refuse("'approximate' is '" + approximate + "'");
  bool isTanh = approximate == "tanh";
  return lowerElementwise(l, [&](ScalarBuilder &s, Value x) {
    Type type = x.getType();
    Value gate;
    if (isTanh) {
      // tanh(sqrt(2 / pi) (x + 0.044715 x^3))
      Value cubic = s.mul(s.constant(type, 0.044715), s.mul(x, s.mul(x, x)));
      Value scaled =
          s.mul(s.constant(type, std::sqrt(2.0 / M_PI)), s.add(x, cubic));
      gate = s.make<math::TanhOp>(scaled);
    } else {
      gate = s.make<math::ErfOp>(s.mul(x, s.constant(type, M_SQRT1_2)));
    }
    Value half = s.mul(s.constant(type, 0.5), x);
    return s.mul(half, s.add(s.constant(type, 1), gate));
  });
}

/// x + bias below -lambd, x - bias above lambd, else 0. Of an integer type the
/// two are converted to it first, as in the schema's function.
static LogicalResult lowerShrink(NodeLowering &l) {
  double bias = parameter(l, "bias"), lambd = parameter(l, "lambd");
  return lowerElementwise(l, [&](ScalarBuilder &s, Value x) {
    Type type = x.getType();
    Value shift = s.cast(s.constant(s.b.getF32Type(), bias), type);
    Value limit = s.cast(s.constant(s.b.getF32Type(), lambd), type);
    Value above =
        s.select(s.less(limit, x), s.sub(x, shift), s.number(type, 0));
    if (s.isUnsigned)
      return above;
    return s.select(s.less(x, s.neg(limit)), s.add(x, shift), above);
  });
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

/// Nothing is dropped: the result is the operand, the mask all ones (in old
/// versions of the operand's type).
static LogicalResult keepAll(NodeLowering &l) {
  l.setResult(0, l.in(0));
  if (l.numResults() > 1 && l.hasResult(1)) {
    Value one = l.constantInt(l.resultElementType(1), 1);
    l.setResult(1, l.filled(l.dims(l.in(0)), one));
  }
  return success();
}

static LogicalResult lowerOldDropout(NodeLowering &l) {
  l.ignoreAttr("consumed_inputs");
  if (!l.intAttr("is_test", 0) && l.floatAttr("ratio", 0.5) != 0)
    return l.unsupported("training mode ('is_test' is 0) is not supported");
  return keepAll(l);
}

static LogicalResult lowerInferenceDropout(NodeLowering &l) {
  l.ignoreAttr("ratio");
  return keepAll(l);
}

/// Training: elements are dropped with probability `ratio`, the others grow by
/// what is lost.
static LogicalResult lowerDropout(NodeLowering &l) {
  auto seed = dyn_cast_or_null<IntegerAttr>(l.attr("seed"));
  if (!l.has(2))
    return keepAll(l);
  Value training = l.scalar(l.in(2));
  if (matchPattern(training, m_Zero()))
    return keepAll(l);
  ScalarBuilder s(l.b, l.b.getLoc());
  Type type = l.declaredType(0);
  Type compute = isSmallFloat(type) ? Type(l.b.getF32Type())
                                    : NodeLowering::computeType(type);
  Value ratio = l.has(1) ? convertElement(s, l.scalar(l.in(1)),
                                          l.declaredType(1), compute)
                         : s.constant(compute, 0.5);
  Value zero = s.constant(compute, 0), one = s.constant(compute, 1);
  l.check(s.both(s.lessOrEqual(zero, ratio), s.less(ratio, one)),
          "the ratio is not in [0, 1)");
  ratio = s.select(training, ratio, zero);
  Value scale = s.div(one, s.sub(one, ratio));
  RandomStream stream(l, seed ? std::optional<int64_t>(seed.getInt())
                              : std::nullopt);
  // Infinity stays infinity.
  CastOptions options;
  options.saturate = false;
  Dims dims = l.dims(l.in(0));
  SmallVector<Value> extents;
  for (OpFoldResult extent : dims)
    extents.push_back(l.asIndex(extent));
  Value mask = l.generate(
      dims, l.b.getI1Type(), [&](OpBuilder &b, Location loc, ValueRange at) {
        ScalarBuilder s(b, loc);
        Value draw = stream.uniform(s, linearPosition(s, at, extents), compute);
        return s.lessOrEqual(ratio, draw);
      });
  l.setResult(
      0, l.elementwise({l.in(0), mask}, l.elementType(0),
                       [&](OpBuilder &b, Location loc, ValueRange e) {
                         ScalarBuilder s(b, loc);
                         Value x = convertElement(s, e[0], type, compute);
                         x = s.select(e[1], s.mul(x, scale), zero);
                         return convertElement(s, x, compute, type, options);
                       }));
  if (l.numResults() > 1 && l.hasResult(1))
    l.setResult(1, mask);
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static void addMathRows(LoweringTable &table) {
  table.add({
      {"", "Abs", 1, kLatest, lowerUnary<absFn>},
      {"", "Neg", 1, kLatest, lowerUnary<negFn>},
      {"", "Sign", 9, kLatest, lowerUnary<signFn>},
      {"", "Not", 1, kLatest, lowerUnary<notFn>},
      {"", "BitwiseNot", 18, kLatest, lowerUnary<notFn>},
      {"", "IsNaN", 9, kLatest, lowerUnary<isNaNFn>},
      {"", "IsInf", 10, kLatest, lowerIsInf},
      {"", "Ceil", 1, kLatest, lowerRounding<mathFn<math::CeilOp>>},
      {"", "Floor", 1, kLatest, lowerRounding<mathFn<math::FloorOp>>},
      {"", "Round", 11, kLatest, lowerRounding<mathFn<math::RoundEvenOp>>},
      {"", "Reciprocal", 1, kLatest, lowerUnary<reciprocalFn>},
      {"", "Sqrt", 1, kLatest, lowerUnary<mathFn<math::SqrtOp>>},
      {"", "Exp", 1, kLatest, lowerUnary<mathFn<math::ExpOp>>},
      {"", "Log", 1, kLatest, lowerUnary<mathFn<math::LogOp>>},
      {"", "Sin", 7, kLatest, lowerUnary<mathFn<math::SinOp>>},
      {"", "Cos", 7, kLatest, lowerUnary<mathFn<math::CosOp>>},
      {"", "Tan", 7, kLatest, lowerUnary<mathFn<math::TanOp>>},
      {"", "Asin", 7, kLatest, lowerUnary<mathFn<math::AsinOp>>},
      {"", "Acos", 7, kLatest, lowerUnary<mathFn<math::AcosOp>>},
      {"", "Atan", 7, kLatest, lowerUnary<mathFn<math::AtanOp>>},
      {"", "Sinh", 9, kLatest, lowerUnary<mathFn<math::SinhOp>>},
      {"", "Cosh", 9, kLatest, lowerUnary<mathFn<math::CoshOp>>},
      {"", "Asinh", 9, kLatest, lowerUnary<mathFn<math::AsinhOp>>},
      {"", "Acosh", 9, kLatest, lowerUnary<mathFn<math::AcoshOp>>},
      {"", "Atanh", 9, kLatest, lowerUnary<mathFn<math::AtanhOp>>},
      {"", "Tanh", 1, kLatest, lowerUnary<mathFn<math::TanhOp>>},
      {"", "Erf", 9, kLatest, lowerUnary<erfFn>},
  });
}

void loopc::addUnaryRows(LoweringTable &table) {
  addMathRows(table);
  table.add({
      {"", "Sigmoid", 1, kLatest, lowerUnary<sigmoidFn>},
      {"", "Relu", 1, kLatest, lowerUnary<reluFn>},
      {"", "LeakyRelu", 1, kLatest, lowerLeakyRelu},
      {"", "Elu", 1, kLatest, lowerElu},
      {"", "Selu", 1, kLatest, lowerSelu},
      {"", "Celu", 12, kLatest, lowerCelu},
      {"", "ThresholdedRelu", 10, kLatest, lowerThresholdedRelu},
      {"", "HardSigmoid", 1, kLatest, lowerHardSigmoid},
      {"", "HardSwish", 14, kLatest, lowerUnary<hardSwishFn>},
      {"", "Softplus", 1, kLatest, lowerUnary<softplusFn>},
      {"", "Softsign", 1, kLatest, lowerUnary<softsignFn>},
      {"", "Mish", 18, kLatest, lowerUnary<mishFn>},
      {"", "Gelu", 20, kLatest, lowerGelu},
      {"", "Swish", 24, kLatest, lowerSwish},
      {"", "Shrink", 9, kLatest, lowerShrink},
      {"", "Dropout", 1, 6, lowerOldDropout},
      {"", "Dropout", 7, 11, lowerInferenceDropout},
      {"", "Dropout", 12, kLatest, lowerDropout},
  });
}
