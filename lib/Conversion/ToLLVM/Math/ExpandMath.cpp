//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-expand-math: which functions are polynomials and which are libm's.
//
// tanh, exp, erf, log, log1p, expm1, atan, asin and acos of f32, and of vectors
// sin, cos and pow of f32, exp, log, log1p, expm1, tanh, sin and cos of f64,
// are polynomials within 5 ulp (all but tanh and erf of f32 by those of
// ElementaryFunctions.cpp: MLIR's exp gives 0 for what is subnormal). MLIR's
// sin, cos, cbrt and atan are not good enough: the rest is calls of libm. What
// MLIR lowers to LLVM intrinsics well (sqrt, fma, floor, ...) is left alone.
//
// Vectors of integers are divided as floats, and remainders of f32 as f64.
//
// f32 becomes bf16 by integer arithmetic: AVX512-BF16's instruction takes
// subnormal numbers for zero, and the result must not depend on the CPU.

#include "ApplyAtRoots.h"
#include "MathPatterns.h"
#include "loopc/Conversion/ToLLVM/Passes.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace loopc {
#define GEN_PASS_DEF_EXPANDMATH
#include "loopc/Conversion/ToLLVM/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

namespace {
struct ExpandMath : loopc::impl::ExpandMathBase<ExpandMath> {
  using ExpandMathBase::ExpandMathBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet polynomials(context);
    populateMathPolynomialApproximationPatterns(
        polynomials, [](StringRef name) {
          return name == "math.tanh" || name == "math.erf";
        });
    populateElementaryFunctionPatterns(polynomials,
                                       getVectorUnit(getOperation()).scales);
    populateDivisionPatterns(polynomials);
    populateIntegerPowerPatterns(polynomials);
    arith::populateExpandBFloat16Patterns(polynomials);
    if (failed(applyAtRoots(getOperation(), std::move(polynomials))))
      return signalPassFailure();
    ConversionTarget target(*context);
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    // Kernels have libdevice in libm's place.
    target.addDynamicallyLegalOp<
        math::AcosOp, math::AcoshOp, math::AsinOp, math::AsinhOp, math::AtanOp,
        math::Atan2Op, math::AtanhOp, math::CbrtOp, math::CosOp, math::CoshOp,
        math::ErfOp, math::ErfcOp, math::ExpM1Op, math::Log1pOp, math::SinOp,
        math::SinhOp, math::TanOp, math::TanhOp>(
        [](Operation *op) { return op->getParentOfType<gpu::GPUModuleOp>(); });
    // Most functions have none: a conversion asks of each operation.
    SmallVector<Operation *> ofMath;
    getOperation().walk([&](Operation *op) {
      if (isa_and_nonnull<math::MathDialect>(op->getDialect()))
        ofMath.push_back(op);
    });
    if (ofMath.empty())
      return;
    RewritePatternSet calls(context);
    populateMathToLibmConversionPatterns(calls);
    if (failed(applyPartialConversion(ofMath, target, std::move(calls))))
      signalPassFailure();
  }
};
} // namespace
