//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-expand-math: which functions are polynomials and which are libm's.
//
// tanh, exp, erf, log, log1p and expm1 of f32, sin and cos of vectors, are
// polynomials within 5 ulp that vectorise (exp by the one below: MLIR's gives 0
// for what is subnormal; those from log on in ElementaryFunctions.cpp). MLIR's
// sin, cos, cbrt and atan are not good enough: the rest is calls of libm. What
// MLIR lowers to LLVM intrinsics well (sqrt, fma, floor, ...) is left alone.
//
// f32 becomes bf16 by integer arithmetic: AVX512-BF16's instruction takes
// subnormal numbers for zero, and the result must not depend on the CPU.

#include "ElementaryFunctions.h"
#include "loopc/Conversion/Passes.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

namespace loopc {
#define GEN_PASS_DEF_EXPANDMATH
#include "loopc/Conversion/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

namespace {
/// exp(x) of f32 as p(r) 2^n, with x = n ln(2) + r and |r| <= ln(2) / 2:
///
///   %y = math.exp %x : f32  ->  %y = (p(r) * 2^(n / 2)) * 2^(n - n / 2)
///
/// 2^n in two steps reaches from the smallest subnormal number to the largest
/// finite one, and rounds a subnormal result once. Each op works on a vector,
/// too.
struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32() || isa<TensorType>(type))
      return failure();
    Scalars b{ImplicitLocOpBuilder(op.getLoc(), rewriter), type};
    rewriter.replaceOp(op, build(b, op.getOperand()));
    return success();
  }

private:
  /// Constants and operations of one shape.
  struct Scalars {
    ImplicitLocOpBuilder b;
    Type type;

    Type integers() {
      auto vector = dyn_cast<VectorType>(type);
      return vector ? Type(vector.clone(b.getI32Type())) : b.getI32Type();
    }
    Value constant(Type of, Attribute value) {
      if (auto vector = dyn_cast<VectorType>(of))
        value = DenseElementsAttr::get(vector, value);
      return arith::ConstantOp::create(b, cast<TypedAttr>(value));
    }
    Value number(float value) {
      return constant(type, b.getF32FloatAttr(value));
    }
    Value integer(int32_t value) {
      return constant(integers(), b.getI32IntegerAttr(value));
    }
    template <typename Op> Value make(Value x, Value y) {
      return Op::create(b, x, y);
    }
    Value fma(Value x, Value y, Value z) {
      return math::FmaOp::create(b, x, y, z);
    }
    Value choose(arith::CmpFPredicate predicate, Value x, Value limit) {
      Value beyond = arith::CmpFOp::create(b, predicate, x, limit);
      return arith::SelectOp::create(b, beyond, limit, x);
    }
    /// 2^n for -127 < n < 128.
    Value powerOfTwo(Value n) {
      Value bits = make<arith::ShLIOp>(make<arith::AddIOp>(n, integer(127)),
                                       integer(23));
      return arith::BitcastOp::create(b, type, bits);
    }
  };

  static Value build(Scalars &b, Value x) {
    // Beyond these the result is infinity and 0; NaN passes.
    x = b.choose(arith::CmpFPredicate::OGT, x, b.number(89.0f));
    x = b.choose(arith::CmpFPredicate::OLT, x, b.number(-104.0f));
    // Adding 1.5 * 2^23 leaves x / ln(2), rounded, in the low bits: no
    // conversion, which of NaN would be poison.
    Value magic = b.number(0x1.8p23f);
    Value shifted = b.fma(x, b.number(0x1.715476p0f), magic);
    Value whole = b.make<arith::SubFOp>(shifted, magic);
    Value n = b.make<arith::SubIOp>(
        arith::BitcastOp::create(b.b, b.integers(), shifted),
        b.integer(0x4b400000));
    // ln(2) in two parts; n times the first is exact.
    Value r = b.fma(whole, b.number(-0x1.62e4p-1f), x);
    r = b.fma(whole, b.number(-0x1.7f7d1cp-20f), r);
    // Cephes' coefficients: exp(r) = 1 + r + r^2 q(r).
    Value q = b.number(1.9875691500e-4f);
    for (float coefficient :
         {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
          1.6666665459e-1f, 5.0000001201e-1f})
      q = b.fma(q, r, b.number(coefficient));
    Value p = b.fma(q, b.make<arith::MulFOp>(r, r), r);
    p = b.make<arith::AddFOp>(p, b.number(1.0f));
    Value half = b.make<arith::ShRSIOp>(n, b.integer(1));
    Value rest = b.make<arith::SubIOp>(n, half);
    p = b.make<arith::MulFOp>(p, b.powerOfTwo(half));
    return b.make<arith::MulFOp>(p, b.powerOfTwo(rest));
  }
};

struct ExpandMath : loopc::impl::ExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet polynomials(context);
    populateMathPolynomialApproximationPatterns(
        polynomials, [](StringRef name) {
          return name == "math.tanh" || name == "math.erf";
        });
    polynomials.add<ExpandExp>(context);
    populateElementaryFunctionPatterns(polynomials);
    arith::populateExpandBFloat16Patterns(polynomials);
    if (failed(applyPatternsGreedily(getOperation(), std::move(polynomials))))
      return signalPassFailure();
    ConversionTarget target(*context);
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addIllegalOp<math::AcosOp, math::AcoshOp, math::AsinOp,
                        math::AsinhOp, math::AtanOp, math::Atan2Op,
                        math::AtanhOp, math::CbrtOp, math::CosOp, math::CoshOp,
                        math::ErfOp, math::ErfcOp, math::ExpM1Op, math::Log1pOp,
                        math::SinOp, math::SinhOp, math::TanOp, math::TanhOp>();
    RewritePatternSet calls(context);
    populateMathToLibmConversionPatterns(calls);
    if (failed(
            applyPartialConversion(getOperation(), target, std::move(calls))))
      signalPassFailure();
  }
};
} // namespace
