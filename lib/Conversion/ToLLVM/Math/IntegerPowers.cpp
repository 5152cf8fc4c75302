//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// math.ipowi by squares: one multiplication or two for each bit of the
// exponent. The ONNX importer makes none; MLIR that is written by hand has it.

#include "MathPatterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace loopc;

namespace {
struct ExpandIntegerPower : OpRewritePattern<math::IPowIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::IPowIOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value power = multiplySquares(b, op.getLhs(), op.getRhs());
    // The bits of a negative exponent tell the sign of a power of -1. Of any
    // other base but 1 the power is a fraction, which is 0 as an integer.
    auto compare = [&](arith::CmpIPredicate predicate, Value x, int64_t y) {
      return arith::CmpIOp::create(b, predicate, x, number(b, op.getType(), y));
    };
    using Predicate = arith::CmpIPredicate;
    Value isNegative = compare(Predicate::slt, op.getRhs(), 0);
    Value isOther =
        arith::AndIOp::create(b, compare(Predicate::ne, op.getLhs(), 1),
                              compare(Predicate::ne, op.getLhs(), -1));
    Value isZero = arith::AndIOp::create(b, isNegative, isOther);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(
        op, isZero, number(b, op.getType(), 0), power);
    return success();
  }

private:
  static Value number(ImplicitLocOpBuilder &b, Type type, int64_t value) {
    TypedAttr attribute = b.getIntegerAttr(getElementTypeOrSelf(type), value);
    if (auto vector = dyn_cast<VectorType>(type))
      attribute = DenseElementsAttr::get(vector, Attribute(attribute));
    return arith::ConstantOp::create(b, attribute);
  }

  /// `base` to the power of the bits of `exponent`.
  static Value multiplySquares(ImplicitLocOpBuilder &b, Value base,
                               Value exponent) {
    Type type = base.getType(), element = getElementTypeOrSelf(type);
    int64_t width = element.isIndex() ? IndexType::kInternalStorageBitWidth
                                      : element.getIntOrFloatBitWidth();
    // Behind the highest bit of a known exponent nothing is multiplied.
    if (APInt known; matchPattern(exponent, m_ConstantInt(&known)))
      width = known.getActiveBits();
    Value zero = number(b, type, 0), one = number(b, type, 1);
    Value begin = arith::ConstantIndexOp::create(b, 0),
          end = arith::ConstantIndexOp::create(b, width),
          step = arith::ConstantIndexOp::create(b, 1);
    auto bits = scf::ForOp::create(
        b, begin, end, step, ValueRange{one, base, exponent},
        [&](OpBuilder &nested, Location at, Value, ValueRange carried) {
          ImplicitLocOpBuilder body(at, nested);
          Value power = carried[0], square = carried[1], left = carried[2];
          Value isOdd = arith::CmpIOp::create(
              body, arith::CmpIPredicate::ne,
              arith::AndIOp::create(body, left, one), zero);
          Value product = arith::MulIOp::create(body, power, square);
          Value next = arith::ShRUIOp::create(body, left, one);
          scf::YieldOp::create(
              body,
              ValueRange{arith::SelectOp::create(body, isOdd, product, power),
                         arith::MulIOp::create(body, square, square), next});
        });
    return bits.getResult(0);
  }
};
} // namespace

void loopc::populateIntegerPowerPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandIntegerPower>(patterns.getContext());
}
