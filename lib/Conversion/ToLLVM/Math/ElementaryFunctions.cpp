//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Logarithms, exponentials and arc functions of f32 without a branch, so that
// loops over them vectorise. Of vectors also powers of f32, exponentials,
// logarithms and the hyperbolic tangent of f64, and sine and cosine of both,
// with a branch to libm for arguments whose reduction takes more digits.

#include "ElementaryNumbers.h"
#include "MathPatterns.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace loopc;
using arith::CmpFPredicate;

static constexpr double kInfinity = Numbers::kInfinity, kNaN = Numbers::kNaN;

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

/// log(x) = e ln(2) + log(1 + m), with x = 2^e (1 + m) and 1 + m between 2/3
/// and 4/3.
static Value buildSingleLog(Numbers &n, Value x) {
  // 2^23 brings subnormal numbers into range.
  Value small = n.is(CmpFPredicate::OLT, x, n.number(0x1p-126f));
  Value scaled = n.select(small, n.mul(x, n.number(0x1p23f)), x);
  Value bits = n.bitsOf(scaled);
  Value exponent =
      n.onBits<arith::AndIOp>(n.onBits<arith::SubIOp>(bits, 0x3f2aaaab),
                              static_cast<int32_t>(0xff800000u));
  Value m = n.withBits(arith::SubIOp::create(n.b, bits, exponent));
  m = n.sub(m, n.number(1.0f));
  Value e = arith::SIToFPOp::create(n.b, n.type, exponent);
  e = n.fma(e, n.number(0x1p-23f),
            n.select(small, n.number(-23.0f), n.number(0.0f)));
  // Fitted to (log(1 + m) - m + m^2 / 2) / m^3: within 5e-9 of log(1 + m).
  Value p = n.polynomial(m, {-0x1.080628p-3f, 0x1.1e6796p-3f, -0x1.f311p-4f,
                             0x1.1ed6eep-3f, -0x1.559dcep-3f, 0x1.99d02ap-3f,
                             -0x1.fffefp-3f, 0x1.555506p-2f, -0.5f});
  Value y = n.fma(p, n.mul(m, m), m);
  return n.fma(e, n.number(0x1.62e43p-1f), y);
}

/// log(x) = e ln(2) + log(1 + f), with x = 2^e (1 + f) and 1 + f between
/// sqrt(1/2) and sqrt(2). With s = f / (2 + f), log(1 + f) =
/// f - (f^2 / 2 - s (f^2 / 2 + s^2 p(s^2))).
static Value buildDoubleLog(Numbers &n, Value x) {
  Value small = n.is(CmpFPredicate::OLT, x, n.number(0x1p-1022));
  Value scaled = n.select(small, n.mul(x, n.number(0x1p52)), x);
  // The bits of sqrt(1/2), less the exponent's offset: then it is above 0.
  constexpr int64_t kRoot = 0x3fe6a09e667f3bcd, kOffset = 0x3ff0000000000000;
  Value moved = n.onBits<arith::SubIOp>(n.bitsOf(scaled), kRoot - kOffset);
  Value exponent = n.onBits<arith::ShRUIOp>(moved, n.fractionBits());
  Value f = n.onBits<arith::AddIOp>(
      n.onBits<arith::AndIOp>(moved, 0x000fffffffffffff), kRoot);
  f = n.sub(n.withBits(f), n.number(1.0));
  // As the low bits of 2^52, which is a conversion.
  Value e = n.withBits(n.onBits<arith::OrIOp>(exponent, 0x4330000000000000));
  e = n.sub(e, n.select(small, n.number(0x1p52 + 1023 + 52),
                        n.number(0x1p52 + 1023)));
  Value s = n.div(f, n.add(f, n.number(2.0)));
  Value square = n.mul(s, s);
  // Fitted to (log((1 + s) / (1 - s)) - 2 s) / s^3: within 2^-58 of log(1 + f).
  Value p = n.polynomial(square, {0x1.2f0633557167cp-3, 0x1.39a1a7170b6e7p-3,
                                  0x1.74663fa0d500cp-3, 0x1.c71c52060f01dp-3,
                                  0x1.24924941f4f17p-2, 0x1.999999997fd78p-2,
                                  0x1.5555555555592p-1});
  Value half = n.mul(n.number(0.5), n.mul(f, f));
  // ln(2) in two parts; e times the first is exact.
  Value rest = n.mul(e, n.number(0x1.a39ef35793c76p-33));
  rest = n.fma(s, n.fma(square, p, half), rest);
  Value y = n.sub(f, n.sub(half, rest));
  return n.fma(e, n.number(0x1.62e42feep-1), y);
}

/// log(x); `usual` becomes true for finite numbers above 0.
static Value buildLog(Numbers &n, Value x, Value &usual) {
  Value y = n.isDouble() ? buildDoubleLog(n, x) : buildSingleLog(n, x);
  usual = n.both(n.is(CmpFPredicate::OGT, x, n.number(0.0)),
                 n.is(CmpFPredicate::OLT, x, n.number(kInfinity)));
  // NaN and infinity are their own logarithms.
  Value other =
      n.select(n.is(CmpFPredicate::OLT, x, n.number(0.0)), n.number(kNaN), x);
  other = n.select(n.is(CmpFPredicate::OEQ, x, n.number(0.0)),
                   n.number(-kInfinity), other);
  return n.select(usual, y, other);
}

static Value buildLog(Numbers &n, Value x) {
  Value usual;
  return buildLog(n, x, usual);
}

/// log(1 + x), with what is lost in u = 1 + x made up for: to first order it is
/// (u - 1 - x) / u too much.
static Value buildLog1p(Numbers &n, Value x) {
  Value one = n.number(1.0f), usual;
  Value u = n.add(x, one);
  Value y = buildLog(n, u, usual);
  Value excess = n.sub(n.sub(u, one), x);
  Value corrected = n.sub(y, arith::DivFOp::create(n.b, excess, u));
  y = n.select(usual, corrected, y);
  // The sign of zero.
  return n.select(n.is(CmpFPredicate::OEQ, x, n.number(0.0f)), x, y);
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

namespace {
/// What exponentials of a type are computed with.
struct ExpNumbers {
  double overPower;    ///< 1 / ln(2)
  double ln2, ln2Rest; ///< k times the first is exact
  /// Of q, exp(r) = 1 + r + r^2 q(r), the highest first: such that the error is
  /// small beside exp(r), and beside exp(r) - 1.
  ArrayRef<double> coefficients, lessOne;
  /// Beyond these exp(x) is infinity and 0.
  double largest, smallest;
  /// Half of its k is the exponent of 0.
  double smallestScaled;
  /// From here on the one of exp(x) - 1 is less than half a unit, and -exp(x).
  double withoutOne, onlyOne;
};
} // namespace

static ExpNumbers expNumbers(Numbers &n) {
  // Fitted: within 2^-28 of exp(r).
  static constexpr double kSingle[] = {0x1.6a23ccp-10f, 0x1.123a20p-7f,
                                       0x1.5558f2p-5f, 0x1.555492p-3f,
                                       0x1.fffffcp-2f};
  // Cephes'.
  static constexpr double kLessOne[] = {1.9875691500e-4f, 1.3981999507e-3f,
                                        8.3334519073e-3f, 4.1665795894e-2f,
                                        1.6666665459e-1f, 5.0000001201e-1f};
  // Fitted: within 2^-58 of exp(r).
  static constexpr double kDouble[] = {
      0x1.af858f032f547p-26, 0x1.28b048fa55ccdp-22, 0x1.71dddfc6eea70p-19,
      0x1.a0199693dcbbbp-16, 0x1.a01a01bae4c4ep-13, 0x1.6c16c185a7490p-10,
      0x1.111111110d630p-7,  0x1.5555555550030p-5,  0x1.5555555555561p-3,
      0x1.000000000000bp-1};
  if (n.isDouble())
    return {0x1.71547652b82fep0,
            0x1.62e42feep-1,
            0x1.a39ef35793c76p-33,
            kDouble,
            kDouble,
            710,
            -746,
            -1418,
            38,
            -38};
  return {0x1.715476p0f,
          0x1.62e4p-1f,
          0x1.7f7d1cp-20f,
          kSingle,
          kLessOne,
          89,
          -104,
          -176,
          20,
          -18};
}

/// k and r, with x = k ln(2) + r and |r| <= ln(2) / 2.
static std::pair<Value, Value> reduceExp(Numbers &n, Value x) {
  ExpNumbers with = expNumbers(n);
  auto [k, whole] = n.round(x, n.number(with.overPower));
  Value r = n.fma(whole, n.number(-with.ln2), x);
  return {k, n.fma(whole, n.number(-with.ln2Rest), r)};
}

/// exp(x) = exp(r) 2^k, with exp(r) = 1 + r (1 + r q(r)).
///
/// A result that is too small takes a processor a hundred times as long as
/// others, and what a mask of attention leaves out is such. An instruction that
/// scales has lanes that it leaves out. Two products go on to where k / 2 is
/// the exponent of 0.
static Value buildExp(Numbers &n, Value x) {
  ExpNumbers with = expNumbers(n);
  Value vanishes;
  if (n.hasInstructionToScale())
    vanishes = n.is(CmpFPredicate::OLT, x, n.number(with.smallest));
  x = n.atMost(x, with.largest);
  if (!vanishes)
    x = n.atLeast(x, with.smallestScaled);
  auto [k, r] = reduceExp(n, x);
  Value one = n.number(1.0), q = n.polynomial(r, with.coefficients);
  Value y = n.scale(n.fma(n.fma(q, r, one), r, one), k);
  return vanishes ? n.select(vanishes, n.number(0.0), y) : y;
}

/// exp(x) - 1 = 2^k (exp(r) - 1) + (2^k - 1), with x = k ln(2) + r, for x
/// where 2^k is a number.
static Value buildExpM1Within(Numbers &n, Value x) {
  auto [k, r] = reduceExp(n, x);
  Value q = n.polynomial(r, expNumbers(n).lessOne);
  Value p = n.fma(q, n.mul(r, r), r);
  Value scale = n.powerOfTwo(k);
  return n.fma(p, scale, n.sub(scale, n.number(1.0)));
}

static Value buildExpM1(Numbers &n, Value x) {
  ExpNumbers with = expNumbers(n);
  Value large = n.is(CmpFPredicate::OGT, x, n.number(with.withoutOne));
  Value power = math::ExpOp::create(n.b, x);
  Value y = n.select(large, n.number(0.0), n.atLeast(x, with.onlyOne));
  y = n.select(large, power, buildExpM1Within(n, y));
  return n.select(n.is(CmpFPredicate::OEQ, x, n.number(0.0)), x, y);
}

/// Of f64: tanh(x) = e / (e + 2) with e = exp(2 x) - 1. From 22 on it is 1.
static Value buildTanh(Numbers &n, Value x) {
  Value size = n.abs(x);
  Value e = buildExpM1Within(n, n.atMost(n.add(size, size), 44));
  return n.withSignOf(n.div(e, n.add(e, n.number(2.0))), x);
}

//===----------------------------------------------------------------------===//
// Sine and cosine
//===----------------------------------------------------------------------===//

namespace {
/// What sine and cosine of a type are computed with.
struct SineNumbers {
  double perTurn;   ///< 2 / pi
  double halfPi[3]; ///< whose sum is pi / 2
  double largest;   ///< up to here arguments are reduced by these
  /// Of polynomials in r^2, the highest first: sin(r) = r + r^3 p(r^2) and
  /// cos(r) = 1 + r^2 q(r^2) for |r| <= pi / 4.
  ArrayRef<double> sine, cosine;
};
} // namespace

static SineNumbers sineNumbers(Numbers &n) {
  // Cephes'.
  static constexpr double kSine[] = {-1.9515295891e-4f, 8.3321608736e-3f,
                                     -1.6666654611e-1f};
  static constexpr double kCosine[] = {2.443315711809948e-5f,
                                       -1.388731625493765e-3f,
                                       4.166664568298827e-2f, -0.5f};
  // Fitted: within 2^-58 of the functions.
  static constexpr double kDoubleSine[] = {
      0x1.5d9300e67127bp-33,  -0x1.ae5e663a648efp-26, 0x1.71de3577b6975p-19,
      -0x1.a01a019c1199ap-13, 0x1.111111110f87ap-7,   -0x1.5555555555549p-3};
  static constexpr double kDoubleCosine[] = {-0x1.8f803a29926d3p-37,
                                             0x1.1ee9844509b79p-29,
                                             -0x1.27e4f752db73bp-22,
                                             0x1.a01a019b6e9bep-16,
                                             -0x1.6c16c16c13f0dp-10,
                                             0x1.555555555553cp-5,
                                             -0.5};
  if (n.isDouble())
    return {
        0x1.45f306dc9c883p-1,
        {0x1.921fb54442d18p0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110},
        0x1p30,
        kDoubleSine,
        kDoubleCosine};
  return {0x1.45f306p-1f,
          {0x1.921fb4p0f, 0x1.4442dp-24f, 0x1.846988p-48f},
          65536,
          kSine,
          kCosine};
}

/// sin(x + quarters pi/2) for |x| up to the largest.
static Value buildSine(Numbers &n, Value x, int32_t quarters) {
  SineNumbers with = sineNumbers(n);
  auto [k, whole] = n.round(x, n.number(with.perTurn));
  // The first product and difference are exact.
  Value r = x;
  for (double part : with.halfPi)
    r = n.fma(whole, n.number(-part), r);
  Value square = n.mul(r, r);
  Value sine = n.polynomial(square, with.sine);
  sine = n.fma(sine, n.mul(square, r), r);
  Value cosine = n.polynomial(square, with.cosine);
  cosine = n.fma(cosine, square, n.number(1.0));
  if (quarters)
    k = n.onBits<arith::AddIOp>(k, quarters);
  Value odd =
      arith::CmpIOp::create(n.b, arith::CmpIPredicate::ne,
                            n.onBits<arith::AndIOp>(k, 1), n.integer(0));
  Value y = n.select(odd, cosine, sine);
  // Bit 1 says the sign.
  int64_t toSign = n.fractionBits() + (n.isDouble() ? 10 : 7);
  Value sign = n.onBits<arith::ShLIOp>(n.onBits<arith::AndIOp>(k, 2), toSign);
  y = n.withBits(arith::XOrIOp::create(n.b, n.bitsOf(y), sign));
  if (quarters)
    return y;
  // The sign of zero.
  return n.select(n.is(CmpFPredicate::OEQ, x, n.number(0.0)), x, y);
}

//===----------------------------------------------------------------------===//
// Inverse functions of angles
//===----------------------------------------------------------------------===//

/// pi/2 as the sum of two floats.
static constexpr float kHalfPi = 0x1.921fb6p0f, kHalfPiRest = -0x1.777a5cp-25f;

/// atan(|x|) = a + atan((|x| - tan(a)) / (1 + tan(a) |x|)) for a = 0, pi/4 and
/// pi/2, of which the nearest is taken.
static Value buildAtan(Numbers &n, Value x) {
  Value size = math::AbsFOp::create(n.b, x), one = n.number(1.0f);
  Value some = n.is(CmpFPredicate::OGT, size, n.number(0x1.a8279ap-2f));
  Value large = n.is(CmpFPredicate::OGT, size, n.number(0x1.3504f4p1f));
  auto pick = [&](Value none, Value quarter, Value half) {
    return n.select(large, half, n.select(some, quarter, none));
  };
  Value over = pick(size, n.sub(size, one), n.number(-1.0f));
  Value under = pick(one, n.add(size, one), size);
  Value r = arith::DivFOp::create(n.b, over, under);
  Value square = n.mul(r, r);
  // Fitted to (atan(r) - r) / r^3: within 7e-10 of atan(r).
  Value p =
      n.polynomial(square, {-0x1.f1ed6p-5f, 0x1.b1ec26p-4f, -0x1.23b522p-3f,
                            0x1.999196p-3f, -0x1.55554ap-2f});
  Value zero = n.number(0.0f);
  Value rest = pick(zero, n.number(kHalfPiRest / 2), n.number(kHalfPiRest));
  Value y = n.add(r, n.fma(p, n.mul(square, r), rest));
  y = n.add(pick(zero, n.number(kHalfPi / 2), n.number(kHalfPi)), y);
  return n.withSignOf(y, x);
}

/// For |x| <= 1/2 its arc sine; else that of sqrt((1 - |x|) / 2), which is half
/// of the arc cosine of |x|. `large` is where. Above 1 it is NaN.
static Value buildArcSine(Numbers &n, Value size, Value &large) {
  Value half = n.number(0.5f);
  large = n.is(CmpFPredicate::OGT, size, half);
  // Both exact.
  Value rest = n.mul(n.sub(n.number(1.0f), size), half);
  Value square = n.select(large, rest, n.mul(size, size));
  Value r = n.select(large, math::SqrtOp::create(n.b, rest), size);
  // Fitted to (asin(r) - r) / r^3: within 5e-9 of asin(r).
  Value p =
      n.polynomial(square, {0x1.596d1cp-5f, 0x1.8c2848p-6f, 0x1.747e4ap-5f,
                            0x1.3301e4p-4f, 0x1.5555c8p-3f});
  return n.fma(p, n.mul(square, r), r);
}

static Value buildAsin(Numbers &n, Value x) {
  Value large;
  Value y = buildArcSine(n, math::AbsFOp::create(n.b, x), large);
  Value back = n.fma(y, n.number(-2.0f), n.number(kHalfPiRest));
  y = n.select(large, n.add(n.number(kHalfPi), back), y);
  return n.withSignOf(y, x);
}

static Value buildAcos(Numbers &n, Value x) {
  Value large;
  Value size = math::AbsFOp::create(n.b, x);
  Value y = buildArcSine(n, size, large);
  Value negative = n.is(CmpFPredicate::OLT, x, n.number(0.0f));
  // acos(|x|) = pi/2 - asin(|x|), acos(-|x|) = pi - acos(|x|).
  Value near = n.select(negative, y, arith::NegFOp::create(n.b, y));
  near = n.add(n.number(kHalfPi), n.add(near, n.number(kHalfPiRest)));
  Value twice = n.add(y, y);
  Value far =
      n.add(n.number(2 * kHalfPi), n.sub(n.number(2 * kHalfPiRest), twice));
  return n.select(large, n.select(negative, far, twice), near);
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// log2(x) of f64 numbers that came of f32, within 2^-38 of it; infinity and
/// NaN are their own.
static Value buildPowerLog(Numbers &n, Value x) {
  // As in buildDoubleLog; no f32 is subnormal here.
  constexpr int64_t kRoot = 0x3fe6a09e667f3bcd, kOffset = 0x3ff0000000000000;
  Value moved = n.onBits<arith::SubIOp>(n.bitsOf(x), kRoot - kOffset);
  Value e = n.onBits<arith::ShRUIOp>(moved, n.fractionBits());
  e = n.withBits(n.onBits<arith::OrIOp>(e, 0x4330000000000000));
  e = n.sub(e, n.number(0x1p52 + 1023));
  Value f = n.onBits<arith::AddIOp>(
      n.onBits<arith::AndIOp>(moved, 0x000fffffffffffff), kRoot);
  f = n.sub(n.withBits(f), n.number(1.0));
  // Fitted to log2(1 + f) / f.
  Value p = n.polynomial(
      f, {-0x1.1da6c94748ea7p-4, 0x1.0f6278df73775p-3, -0x1.13b888fa961ebp-3,
          0x1.0acdf01a4c01dp-3, -0x1.23d6526aec9fcp-3, 0x1.481fad3c65f95p-3,
          -0x1.7188d2d898053p-3, 0x1.a61b7dc4e56e6p-3, -0x1.ec6f2e0391022p-3,
          0x1.2776b6cd31d11p-2, -0x1.7154788837128p-2, 0x1.ec709de33bb1fp-2,
          -0x1.71547651b7097p-1, 0x1.71547652b58f8p0});
  Value y = n.fma(p, f, e);
  y = n.select(n.is(CmpFPredicate::OLT, x, n.number(kInfinity)), y, x);
  return n.select(n.is(CmpFPredicate::OEQ, x, n.number(0.0)),
                  n.number(-kInfinity), y);
}

/// 2^x in f64, within 2^-34 of it, for |x| < 1000; NaN passes.
static Value buildPowerOfTwo(Numbers &n, Value x) {
  auto [k, whole] = n.round(x, n.number(1.0));
  Value r = n.sub(x, whole);
  // Fitted to 2^r for |r| <= 1/2.
  Value p = n.polynomial(r, {0x1.fe179044c21bap-17, 0x1.446a1fdbafc42p-13,
                             0x1.5d8a707de7df5p-10, 0x1.3b29dc40d8113p-7,
                             0x1.c6b08aaf38256p-5, 0x1.ebfbe0a4be7ffp-3,
                             0x1.62e42ff116259p-1, 0x1.ffffffffabbccp-1});
  return n.mul(p, n.powerOfTwo(k));
}

/// x^y of f32: |x|^y = 2^(y log2(|x|)) in f64, and for x below 0 what an odd,
/// an even and another y make of it (C's pow, IEEE 754).
static Value buildPow(Numbers &n, Value x, Value y) {
  Numbers wide{n.b, n.ofShape(n.b.getF64Type()), n.scales};
  auto widen = [&](Value value) -> Value {
    return arith::ExtFOp::create(n.b, wide.type, value);
  };
  Value size = n.abs(x), one = n.number(1.0), zero = n.number(0.0);
  // An exponent of infinity times the logarithm of 1 is 0, too.
  constexpr double kLargest = std::numeric_limits<float>::max();
  Value finite = n.atLeast(n.atMost(y, kLargest), -kLargest);
  Value t = wide.mul(widen(finite), buildPowerLog(wide, widen(size)));
  // Beyond these it is infinity and 0.
  t = wide.atLeast(wide.atMost(t, 130), -160);
  Value power = arith::TruncFOp::create(n.b, n.type, buildPowerOfTwo(wide, t));
  auto isWhole = [&](Value value) {
    return n.is(CmpFPredicate::OEQ, math::FloorOp::create(n.b, value), value);
  };
  auto isNone = [&](Value condition) -> Value {
    Value yes = n.constant(condition.getType(), n.b.getBoolAttr(true));
    return arith::XOrIOp::create(n.b, condition, yes);
  };
  // From 2^24 on numbers are even.
  Value whole = isWhole(y);
  Value odd = n.both(whole, isNone(isWhole(n.mul(y, n.number(0.5)))));
  Value flip = n.select(odd, x, zero);
  power =
      n.withBits(arith::XOrIOp::create(n.b, n.bitsOf(power), n.signOf(flip)));
  Value finiteBelow = n.both(n.is(CmpFPredicate::OLT, x, zero),
                             n.is(CmpFPredicate::OGT, x, n.number(-kInfinity)));
  power = n.select(n.both(finiteBelow, isNone(whole)), n.number(kNaN), power);
  Value always = arith::OrIOp::create(n.b, n.is(CmpFPredicate::OEQ, y, zero),
                                      n.is(CmpFPredicate::OEQ, x, one));
  return n.select(always, one, power);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// Kernels are for another target.
static bool isOnDevice(Operation *op) {
  return bool(op->getParentOfType<gpu::GPUModuleOp>());
}

/// Of f64, and powers, are only vectors computed here: of single numbers libm's
/// take less time.
static bool isHostVectorOf(Operation *op, bool isElement(Type)) {
  auto vector = dyn_cast<VectorType>(op->getResult(0).getType());
  return vector && isElement(vector.getElementType()) &&
         vector.getRank() == 1 && !vector.isScalable() &&
         vector.getNumElements() > 1 && !isOnDevice(op);
}
static bool isDouble(Type type) { return type.isF64(); }
static bool isSingle(Type type) { return type.isF32(); }

namespace {
template <typename Op, Value (*build)(Numbers &, Value), bool forSingles,
          bool forDoubles>
struct ExpandFunction : OpRewritePattern<Op> {
  ExpandFunction(MLIRContext *context, bool scales)
      : OpRewritePattern<Op>(context), scales(scales) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    bool single = forSingles && getElementTypeOrSelf(type).isF32() &&
                  !isa<TensorType>(type);
    if (!single && !(forDoubles && isHostVectorOf(op, isDouble)))
      return failure();
    Numbers numbers{ImplicitLocOpBuilder(op.getLoc(), rewriter), type,
                    scales && !isOnDevice(op)};
    rewriter.replaceOp(op, build(numbers, op.getOperand()));
    return success();
  }

  bool scales;
};

struct ExpandPow : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern<math::PowFOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(math::PowFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isHostVectorOf(op, isSingle))
      return failure();
    Numbers numbers{ImplicitLocOpBuilder(op.getLoc(), rewriter), op.getType(),
                    /*scales=*/false};
    rewriter.replaceOp(op, buildPow(numbers, op.getLhs(), op.getRhs()));
    return success();
  }
};

/// Sine, or cosine a quarter of a turn on. Where an element of the vector is
/// too large the vector is computed by libm, element by element.
template <typename Op, int32_t quarters>
struct ExpandSine : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!isHostVectorOf(op, isSingle) && !isHostVectorOf(op, isDouble))
      return failure();
    Type type = op.getType();
    Numbers n{ImplicitLocOpBuilder(op.getLoc(), rewriter), type,
              /*scales=*/false};
    Value x = op.getOperand();
    Value size = math::AbsFOp::create(n.b, x);
    Value large =
        n.is(CmpFPredicate::OGT, size, n.number(sineNumbers(n).largest));
    Value any =
        vector::ReductionOp::create(n.b, vector::CombiningKind::OR, large);
    Value usual = buildSine(n, x, quarters);
    auto branch = scf::IfOp::create(n.b, TypeRange{type}, any,
                                    /*withElseRegion=*/true);
    n.b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(
        n.b, byElements(n.b, usual, [&](ArrayRef<OpFoldResult> at) -> Value {
          return Op::create(n.b, vector::ExtractOp::create(n.b, x, at));
        }));
    n.b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(n.b, usual);
    rewriter.replaceOp(op, branch);
    return success();
  }
};
} // namespace

void loopc::populateElementaryFunctionPatterns(RewritePatternSet &patterns,
                                               bool scales) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandFunction<math::ExpOp, buildExp, true, true>,
               ExpandFunction<math::LogOp, buildLog, true, true>,
               ExpandFunction<math::Log1pOp, buildLog1p, true, true>,
               ExpandFunction<math::ExpM1Op, buildExpM1, true, true>,
               ExpandFunction<math::TanhOp, buildTanh, false, true>,
               ExpandFunction<math::AtanOp, buildAtan, true, false>,
               ExpandFunction<math::AsinOp, buildAsin, true, false>,
               ExpandFunction<math::AcosOp, buildAcos, true, false>>(context,
                                                                     scales);
  patterns
      .add<ExpandSine<math::SinOp, 0>, ExpandSine<math::CosOp, 1>, ExpandPow>(
          context);
}
