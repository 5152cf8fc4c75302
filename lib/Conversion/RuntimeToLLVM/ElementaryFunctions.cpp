//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Logarithms, exponentials and arc functions without a branch, so that loops
// over them vectorise; sine and cosine of vectors, with a branch to libm for
// arguments whose reduction takes more digits.

#include "ElementaryFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <limits>

using namespace mlir;
using namespace loopc;
using arith::CmpFPredicate;

namespace {
/// Constants and operations of one shape: numbers, or vectors of them.
struct Numbers {
  ImplicitLocOpBuilder b;
  Type type;
  /// The target has an instruction for x 2^n.
  bool scales;

  Type integers() {
    auto vector = dyn_cast<VectorType>(type);
    return vector ? Type(vector.clone(b.getI32Type())) : b.getI32Type();
  }
  Value constant(Type of, Attribute value) {
    if (auto vector = dyn_cast<VectorType>(of))
      value = DenseElementsAttr::get(vector, value);
    return arith::ConstantOp::create(b, cast<TypedAttr>(value));
  }
  Value number(float value) { return constant(type, b.getF32FloatAttr(value)); }
  Value integer(int32_t value) {
    return constant(integers(), b.getI32IntegerAttr(value));
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, x, y, z);
  }
  Value is(CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  Value bitsOf(Value x) { return arith::BitcastOp::create(b, integers(), x); }
  Value withBits(Value bits) { return arith::BitcastOp::create(b, type, bits); }
  template <typename Op> Value onBits(Value x, int32_t y) {
    return Op::create(b, x, integer(y));
  }
  /// The polynomial with `coefficients`, the highest first.
  Value polynomial(Value x, ArrayRef<float> coefficients) {
    Value sum = number(coefficients.front());
    for (float coefficient : coefficients.drop_front())
      sum = fma(sum, x, number(coefficient));
    return sum;
  }
  /// 2^n for -127 < n < 128.
  Value powerOfTwo(Value n) {
    return withBits(onBits<arith::ShLIOp>(onBits<arith::AddIOp>(n, 127), 23));
  }
  /// x 2^n for -254 < n < 256 with one rounding.
  Value scale(Value x, Value n) {
    auto vector = dyn_cast<VectorType>(type);
    if (scales && (!vector || vector.getRank() == 1))
      return LLVM::CallIntrinsicOp::create(
                 b, type, b.getStringAttr("llvm.ldexp"), ValueRange{x, n})
          ->getResult(0);
    // The first product is exact, and in range where the result is.
    Value half = onBits<arith::ShRSIOp>(n, 1);
    Value rest = arith::SubIOp::create(b, n, half);
    return mul(mul(x, powerOfTwo(half)), powerOfTwo(rest));
  }
  /// `x` as integer (|x| < 2^22), and rounded: adding 1.5 * 2^23 leaves it in
  /// the low bits. No conversion, which of NaN would be poison.
  std::pair<Value, Value> round(Value x, Value factor) {
    Value magic = number(0x1.8p23f);
    Value shifted = fma(x, factor, magic);
    return {onBits<arith::SubIOp>(bitsOf(shifted), 0x4b400000),
            sub(shifted, magic)};
  }
};
} // namespace

static constexpr float kInfinity = std::numeric_limits<float>::infinity();
static constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

/// log(x) = e ln(2) + log(1 + m), with x = 2^e (1 + m) and 1 + m between 2/3
/// and 4/3. `usual` becomes true for finite numbers above 0.
static Value buildLog(Numbers &n, Value x, Value &usual) {
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
  y = n.fma(e, n.number(0x1.62e43p-1f), y);
  usual =
      arith::AndIOp::create(n.b, n.is(CmpFPredicate::OGT, x, n.number(0.0f)),
                            n.is(CmpFPredicate::OLT, x, n.number(kInfinity)));
  // NaN and infinity are their own logarithms.
  Value other =
      n.select(n.is(CmpFPredicate::OLT, x, n.number(0.0f)), n.number(kNaN), x);
  other = n.select(n.is(CmpFPredicate::OEQ, x, n.number(0.0f)),
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

/// k and exp(r) - 1, with x = k ln(2) + r and |r| <= ln(2) / 2.
static std::pair<Value, Value> reduceExp(Numbers &n, Value x) {
  auto [k, whole] = n.round(x, n.number(0x1.715476p0f));
  // ln(2) in two parts; k times the first is exact.
  Value r = n.fma(whole, n.number(-0x1.62e4p-1f), x);
  r = n.fma(whole, n.number(-0x1.7f7d1cp-20f), r);
  // Cephes' coefficients: exp(r) = 1 + r + r^2 q(r).
  Value q =
      n.polynomial(r, {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                       4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f});
  return {k, n.fma(q, n.mul(r, r), r)};
}

/// exp(x) = exp(r) 2^k.
static Value buildExp(Numbers &n, Value x) {
  auto limit = [&](CmpFPredicate beyond, float bound) {
    Value most = n.number(bound);
    x = n.select(n.is(beyond, x, most), most, x);
  };
  // Beyond these the result is infinity and 0; NaN passes.
  limit(CmpFPredicate::OGT, 89.0f);
  limit(CmpFPredicate::OLT, -104.0f);
  auto [k, p] = reduceExp(n, x);
  return n.scale(n.add(p, n.number(1.0f)), k);
}

/// exp(x) - 1 = 2^k (exp(r) - 1) + (2^k - 1), with x = k ln(2) + r. Above 20
/// the one is less than half a unit.
static Value buildExpM1(Numbers &n, Value x) {
  Value large = n.is(CmpFPredicate::OGT, x, n.number(20.0f));
  Value power = math::ExpOp::create(n.b, x);
  Value low = n.is(CmpFPredicate::OLT, x, n.number(-18.0f));
  Value y = n.select(low, n.number(-18.0f), n.select(large, n.number(0.0f), x));
  auto [k, p] = reduceExp(n, y);
  Value scale = n.powerOfTwo(k);
  p = n.fma(p, scale, n.sub(scale, n.number(1.0f)));
  p = n.select(large, power, p);
  return n.select(n.is(CmpFPredicate::OEQ, x, n.number(0.0f)), x, p);
}

//===----------------------------------------------------------------------===//
// Sine and cosine
//===----------------------------------------------------------------------===//

/// Arguments up to here are reduced by the three parts of pi/2 below.
static constexpr float kMaxReduced = 65536.0f;

/// sin(x + quarters pi/2) for |x| <= kMaxReduced.
static Value buildSine(Numbers &n, Value x, int32_t quarters) {
  auto [k, whole] = n.round(x, n.number(0x1.45f306p-1f));
  // The first product and difference are exact.
  Value r = n.fma(whole, n.number(-0x1.921fb4p0f), x);
  r = n.fma(whole, n.number(-0x1.4442dp-24f), r);
  r = n.fma(whole, n.number(-0x1.846988p-48f), r);
  Value square = n.mul(r, r);
  // Cephes' coefficients for |r| <= pi/4.
  Value sine = n.polynomial(
      square, {-1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f});
  sine = n.fma(sine, n.mul(square, r), r);
  Value cosine =
      n.polynomial(square, {2.443315711809948e-5f, -1.388731625493765e-3f,
                            4.166664568298827e-2f, -0.5f});
  cosine = n.fma(cosine, square, n.number(1.0f));
  if (quarters)
    k = n.onBits<arith::AddIOp>(k, quarters);
  Value odd =
      arith::CmpIOp::create(n.b, arith::CmpIPredicate::ne,
                            n.onBits<arith::AndIOp>(k, 1), n.integer(0));
  Value y = n.select(odd, cosine, sine);
  Value sign = n.onBits<arith::ShLIOp>(n.onBits<arith::AndIOp>(k, 2), 30);
  y = n.withBits(arith::XOrIOp::create(n.b, n.bitsOf(y), sign));
  if (quarters)
    return y;
  // The sign of zero.
  return n.select(n.is(CmpFPredicate::OEQ, x, n.number(0.0f)), x, y);
}

//===----------------------------------------------------------------------===//
// Inverse functions of angles
//===----------------------------------------------------------------------===//

/// pi/2 as the sum of two floats.
static constexpr float kHalfPi = 0x1.921fb6p0f, kHalfPiRest = -0x1.777a5cp-25f;

/// `y`, which is not negative, with the sign of `x`.
static Value withSignOf(Numbers &n, Value y, Value x) {
  Value sign =
      n.onBits<arith::AndIOp>(n.bitsOf(x), std::numeric_limits<int32_t>::min());
  return n.withBits(arith::OrIOp::create(n.b, n.bitsOf(y), sign));
}

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
  return withSignOf(n, y, x);
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
  return withSignOf(n, y, x);
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

namespace {
template <typename Op, Value (*build)(Numbers &, Value)>
struct ExpandFunction : OpRewritePattern<Op> {
  ExpandFunction(MLIRContext *context, bool scales)
      : OpRewritePattern<Op>(context), scales(scales) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32() || isa<TensorType>(type))
      return failure();
    // Kernels are for another target.
    bool onDevice(op->template getParentOfType<gpu::GPUModuleOp>());
    Numbers numbers{ImplicitLocOpBuilder(op.getLoc(), rewriter), type,
                    scales && !onDevice};
    rewriter.replaceOp(op, build(numbers, op.getOperand()));
    return success();
  }

  bool scales;
};

/// Sine, or cosine a quarter of a turn on. Where an element of the vector is
/// too large the vector is computed by libm, element by element.
template <typename Op, int32_t quarters>
struct ExpandSine : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || !type.getElementType().isF32() || type.getRank() != 1 ||
        type.isScalable())
      return failure();
    Numbers n{ImplicitLocOpBuilder(op.getLoc(), rewriter), type,
              /*scales=*/false};
    Value x = op.getOperand();
    Value size = math::AbsFOp::create(n.b, x);
    Value large = n.is(CmpFPredicate::OGT, size, n.number(kMaxReduced));
    Value any =
        vector::ReductionOp::create(n.b, vector::CombiningKind::OR, large);
    Value usual = buildSine(n, x, quarters);
    auto branch = scf::IfOp::create(n.b, TypeRange{type}, any,
                                    /*withElseRegion=*/true);
    n.b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(n.b, bySingleElements(n.b, x, usual));
    n.b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(n.b, usual);
    rewriter.replaceOp(op, branch);
    return success();
  }

  static Value bySingleElements(ImplicitLocOpBuilder &b, Value x, Value usual) {
    auto index = [&](int64_t value) {
      return arith::ConstantIndexOp::create(b, value);
    };
    int64_t lanes = cast<VectorType>(x.getType()).getDimSize(0);
    auto loop = scf::ForOp::create(b, index(0), index(lanes), index(1), usual);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<OpFoldResult> at{loop.getInductionVar()};
    Value element = vector::ExtractOp::create(b, x, at);
    Value y = Op::create(b, element);
    Value next = vector::InsertOp::create(b, y, loop.getRegionIterArg(0), at);
    scf::YieldOp::create(b, next);
    return loop.getResult(0);
  }
};
} // namespace

void loopc::populateElementaryFunctionPatterns(RewritePatternSet &patterns,
                                               bool scales) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandFunction<math::ExpOp, buildExp>,
               ExpandFunction<math::LogOp, buildLog>,
               ExpandFunction<math::Log1pOp, buildLog1p>,
               ExpandFunction<math::ExpM1Op, buildExpM1>,
               ExpandFunction<math::AtanOp, buildAtan>,
               ExpandFunction<math::AsinOp, buildAsin>,
               ExpandFunction<math::AcosOp, buildAcos>>(context, scales);
  patterns.add<ExpandSine<math::SinOp, 0>, ExpandSine<math::CosOp, 1>>(context);
}
