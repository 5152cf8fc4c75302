//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Quotients of integers by those of floats. Where x, y and so the quotient have
// fewer bits than the fraction of the float, fl(x / y) does not round up to the
// next integer: x / y lies at least 1 / |y| below it, which is more than half a
// unit. So the quotient is fl(x / y) without its fraction, and x - q y is
// exact.
//
// 64 bits are more than a double has: vectors with a number of 52 bits or more
// are divided in two steps, unsigned ones element by element. The remainder of
// f32 is that of f64 in the same way, for quotients that lie further from the
// next integer than they are rounded.

#include "ElementaryNumbers.h"
#include "MathPatterns.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace loopc;

/// The quotient without its fraction, or what it leaves of `x`.
static Value divideFloats(Numbers &n, Value x, Value y, bool isRemainder) {
  Value quotient = math::TruncOp::create(n.b, n.div(x, y));
  if (!isRemainder)
    return quotient;
  return n.fma(arith::NegFOp::create(n.b, quotient), y, x);
}

/// 1.5 * 2^52: the bits of the sum with a number of 52 bits, less its own, are
/// those of the number. Most targets have no conversion of 64 bits.
static constexpr double kMagic = 0x1.8p52;
static constexpr int64_t kMagicBits = 0x4338000000000000;

static Value doubleOf(Numbers &n, Value x) {
  Value bits = n.onBits<arith::AddIOp>(x, kMagicBits);
  return n.sub(n.withBits(bits), n.number(kMagic));
}

/// True where a number of 64 bits is not exact as doubleOf() makes it.
static Value isWide(Numbers &n, Value x, bool isSigned) {
  int64_t offset = isSigned ? int64_t(1) << 51 : 0;
  int64_t bound = isSigned ? int64_t(1) << 52 : int64_t(1) << 51;
  return arith::CmpIOp::create(n.b, arith::CmpIPredicate::uge,
                               n.onBits<arith::AddIOp>(x, offset),
                               n.integer(bound));
}

/// The quotient of any signed integers, or the remainder. That of the sizes as
/// doubles is off by some units of its last place; the quotient of what it
/// leaves, which is small, makes up for it but for one.
static Value divideInSteps(Numbers &n, Value x, Value y, bool isRemainder) {
  using Is = arith::CmpIPredicate;
  Value zero = n.integer(0);
  auto sub = [&](Value a, Value b) -> Value {
    return arith::SubIOp::create(n.b, a, b);
  };
  auto times = [&](Value a, Value b) -> Value {
    return arith::MulIOp::create(n.b, a, b);
  };
  auto is = [&](Is predicate, Value a, Value b) -> Value {
    return arith::CmpIOp::create(n.b, predicate, a, b);
  };
  auto toDouble = [&](Value a) -> Value {
    return arith::SIToFPOp::create(n.b, n.type, a);
  };
  auto toInteger = [&](Value a) -> Value {
    return arith::FPToSIOp::create(n.b, n.integers(), a);
  };
  // All bits of one sign: -1 or 0. That of INT_MIN is its size, unsigned.
  auto signOf = [&](Value a) { return n.onBits<arith::ShRSIOp>(a, 63); };
  auto withSign = [&](Value a, Value sign) {
    return sub(arith::XOrIOp::create(n.b, a, sign), sign);
  };
  Value xSign = signOf(x), ySign = signOf(y);
  Value size = withSign(x, xSign), by = withSign(y, ySign);
  Value divisor = n.abs(toDouble(y));
  // The largest double below 2^63.
  Value first =
      n.atMost(n.div(n.abs(toDouble(x)), divisor), 0x1.fffffffffffffp62);
  Value quotient = toInteger(first);
  Value rest = sub(size, times(quotient, by));
  Value second = toInteger(n.div(toDouble(rest), divisor));
  quotient = arith::AddIOp::create(n.b, quotient, second);
  rest = sub(rest, times(second, by));
  auto correct = [&](Value condition, int64_t step) {
    Value moved = arith::AddIOp::create(n.b, quotient, n.integer(step));
    quotient = n.select(condition, moved, quotient);
    moved =
        step < 0 ? Value(arith::AddIOp::create(n.b, rest, by)) : sub(rest, by);
    rest = n.select(condition, moved, rest);
  };
  correct(is(Is::slt, rest, zero), -1);
  correct(is(Is::uge, rest, by), 1);
  if (isRemainder)
    return withSign(rest, xSign);
  return withSign(quotient, arith::XOrIOp::create(n.b, xSign, ySign));
}

/// True if `value` is the constant, in each element.
static bool isNumber(Value value, const APInt &number) {
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) && constant == number;
}

/// True if `x` is a multiple of `divisor`, a positive one, wherever `rest` is
/// 0: it is what a division leaves, with the sign of `x` or the divisor's.
static bool isRestOf(Value rest, Value x, const APInt &divisor) {
  Operation *op = rest.getDefiningOp();
  if (isa_and_present<arith::RemSIOp, arith::RemUIOp>(op))
    return op->getOperand(0) == x && isNumber(op->getOperand(1), divisor);
  auto choice = dyn_cast_or_null<arith::SelectOp>(op);
  if (!choice)
    return false;
  return llvm::all_of(ValueRange{choice.getTrueValue(), choice.getFalseValue()},
                      [&](Value value) {
                        // The divisor and a rest, which is smaller, are never 0
                        // together.
                        auto sum = value.getDefiningOp<arith::AddIOp>();
                        bool isMoved = sum && isNumber(sum.getRhs(), divisor);
                        return isRestOf(isMoved ? sum.getLhs() : value, x,
                                        divisor);
                      });
}

/// True for vectors that are not a kernel's.
static bool isHostVector(Operation *op, VectorType type) {
  return type && type.getRank() == 1 && !type.isScalable() &&
         type.getNumElements() > 1 && !op->getParentOfType<gpu::GPUModuleOp>();
}

namespace {
template <typename Op> struct ExpandDivision : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  static constexpr bool isSigned =
      std::is_same_v<Op, arith::DivSIOp> || std::is_same_v<Op, arith::RemSIOp>;
  static constexpr bool isRemainder =
      std::is_same_v<Op, arith::RemSIOp> || std::is_same_v<Op, arith::RemUIOp>;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!isHostVector(op, type))
      return failure();
    auto element = dyn_cast<IntegerType>(type.getElementType());
    if (!element || element.getWidth() > 64 || element.getWidth() < 8)
      return failure();
    // LLVM has multiplications for constants.
    if (matchPattern(op.getRhs(), m_Constant()))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type number = element.getWidth() <= 16 ? b.getF32Type() : b.getF64Type();
    Numbers n{b, type.clone(number), /*scales=*/false};
    rewriter.replaceOp(op, element.getWidth() <= 32 ? divideNarrow(n, op, type)
                                                    : divideWide(n, op, type));
    return success();
  }

  static Value divideNarrow(Numbers &n, Op op, VectorType type) {
    auto toFloat = [&](Value x) -> Value {
      if (isSigned)
        return arith::SIToFPOp::create(n.b, n.type, x);
      return arith::UIToFPOp::create(n.b, n.type, x);
    };
    Value y = divideFloats(n, toFloat(op.getLhs()), toFloat(op.getRhs()),
                           isRemainder);
    if (isSigned)
      return arith::FPToSIOp::create(n.b, type, y);
    return arith::FPToUIOp::create(n.b, type, y);
  }

  static Value divideWide(Numbers &n, Op op, VectorType type) {
    Value x = op.getLhs(), y = op.getRhs();
    Value wide = arith::OrIOp::create(n.b, isWide(n, x, isSigned),
                                      isWide(n, y, isSigned));
    Value any =
        vector::ReductionOp::create(n.b, vector::CombiningKind::OR, wide);
    auto branch = scf::IfOp::create(n.b, TypeRange{type}, any,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(n.b);
    n.b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(n.b, isSigned ? divideInSteps(n, x, y, isRemainder)
                                       : oneByOne(n, x, y));
    n.b.setInsertionPointToStart(branch.elseBlock());
    Value result = divideFloats(n, doubleOf(n, x), doubleOf(n, y), isRemainder);
    Value bits = n.bitsOf(n.add(result, n.number(kMagic)));
    scf::YieldOp::create(n.b, n.onBits<arith::SubIOp>(bits, kMagicBits));
    return branch.getResult(0);
  }

  static Value oneByOne(Numbers &n, Value x, Value y) {
    // Of lanes that are masked out.
    Value isZero =
        arith::CmpIOp::create(n.b, arith::CmpIPredicate::eq, y, n.integer(0));
    y = n.select(isZero, n.integer(1), y);
    if (isRemainder)
      return LLVM::URemOp::create(n.b, x, y);
    return LLVM::UDivOp::create(n.b, x, y);
  }
};

/// A multiple of a power of two is shifted, as a negative one is not rounded:
///
///     %rest = arith.remsi %x, 2;  %even = arith.cmpi eq, %rest, 0
///     arith.select %even, (arith.divsi %x, 2), %y
///     ->  arith.select %even, (arith.shrsi %x, 1), %y
struct ShiftMultiples : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::SelectOp op,
                                PatternRewriter &rewriter) const override {
    auto compare = op.getCondition().getDefiningOp<arith::CmpIOp>();
    if (!compare || !matchPattern(compare.getRhs(), m_Zero()))
      return failure();
    using Is = arith::CmpIPredicate;
    bool isEqual = compare.getPredicate() == Is::eq;
    if (!isEqual && compare.getPredicate() != Is::ne)
      return failure();
    unsigned arm = isEqual ? 1 : 2;
    auto quotient = op->getOperand(arm).getDefiningOp<arith::DivSIOp>();
    APInt divisor;
    if (!quotient ||
        !matchPattern(quotient.getRhs(), m_ConstantInt(&divisor)) ||
        !divisor.isStrictlyPositive() || !divisor.isPowerOf2() ||
        !isRestOf(compare.getLhs(), quotient.getLhs(), divisor))
      return failure();
    Location loc = quotient.getLoc();
    Type type = quotient.getType();
    rewriter.setInsertionPoint(op);
    TypedAttr bits =
        rewriter.getIntegerAttr(getElementTypeOrSelf(type), divisor.logBase2());
    if (auto vector = dyn_cast<VectorType>(type))
      bits = SplatElementsAttr::get(vector, bits);
    Value shifted =
        arith::ShRSIOp::create(rewriter, loc, quotient.getLhs(),
                               arith::ConstantOp::create(rewriter, loc, bits));
    rewriter.modifyOpInPlace(op, [&] { op->setOperand(arm, shifted); });
    return success();
  }
};

/// With x = X 2^a and y = Y 2^b, X and Y below 2^24, a quotient that is no
/// integer lies at least 2^-24 from one, in units of 1 or of itself: so
/// quotients below 2^29 are not rounded to one.
struct ExpandRemainder : OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern<arith::RemFOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::RemFOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!isHostVector(op, type) || !type.getElementType().isF32())
      return failure();
    Numbers n{ImplicitLocOpBuilder(op.getLoc(), rewriter),
              type.clone(rewriter.getF64Type()), /*scales=*/false};
    ImplicitLocOpBuilder &b = n.b;
    auto widen = [&](Value value) -> Value {
      return arith::ExtFOp::create(b, n.type, value);
    };
    Value x = widen(op.getLhs()), y = widen(op.getRhs());
    Value quotient = n.div(x, y);
    using Is = arith::CmpFPredicate;
    Value isSmall = n.both(n.is(Is::OLT, n.abs(quotient), n.number(0x1p29)),
                           n.is(Is::OLT, n.abs(y), n.number(n.kInfinity)));
    Value all =
        vector::ReductionOp::create(b, vector::CombiningKind::AND, isSmall);
    auto branch = scf::IfOp::create(b, TypeRange{type}, all,
                                    /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    Value whole = math::TruncOp::create(b, quotient);
    Value rest = n.fma(arith::NegFOp::create(b, whole), y, x);
    rest = arith::TruncFOp::create(b, type, rest);
    // The sign of zero.
    rest = math::CopySignOp::create(b, rest, op.getLhs());
    scf::YieldOp::create(b, rest);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(
        b, byElements(b, op.getLhs(), [&](ArrayRef<OpFoldResult> at) -> Value {
          return arith::RemFOp::create(
              b, vector::ExtractOp::create(b, op.getLhs(), at),
              vector::ExtractOp::create(b, op.getRhs(), at));
        }));
    rewriter.replaceOp(op, branch);
    return success();
  }
};
} // namespace

void loopc::populateDivisionPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandDivision<arith::DivSIOp>, ExpandDivision<arith::DivUIOp>,
               ExpandDivision<arith::RemSIOp>, ExpandDivision<arith::RemUIOp>,
               ExpandRemainder, ShiftMultiples>(patterns.getContext());
}
