//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What the polynomials of elementary functions are written with.

#ifndef LOOPC_LIB_CONVERSION_TOLLVM_MATH_ELEMENTARYNUMBERS_H
#define LOOPC_LIB_CONVERSION_TOLLVM_MATH_ELEMENTARYNUMBERS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <limits>

namespace loopc {

/// Constants and operations of one shape: numbers, or vectors of them, of f32
/// or f64.
struct Numbers {
  using Value = mlir::Value;
  using Type = mlir::Type;

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

  mlir::ImplicitLocOpBuilder b;
  Type type;
  /// The target has an instruction for x 2^n.
  bool scales;

  bool isDouble() { return mlir::getElementTypeOrSelf(type).isF64(); }
  /// Bits of the fraction, and what is added to the exponent.
  int64_t fractionBits() { return isDouble() ? 52 : 23; }
  int64_t bias() { return isDouble() ? 1023 : 127; }
  Type ofShape(Type element) {
    auto vector = mlir::dyn_cast<mlir::VectorType>(type);
    return vector ? Type(vector.clone(element)) : element;
  }
  Type integers() { return ofShape(b.getIntegerType(isDouble() ? 64 : 32)); }
  Value constant(Type of, mlir::Attribute value) {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(of))
      value = mlir::DenseElementsAttr::get(vector, value);
    return mlir::arith::ConstantOp::create(b,
                                           mlir::cast<mlir::TypedAttr>(value));
  }
  Value number(double value) {
    return constant(type,
                    b.getFloatAttr(mlir::getElementTypeOrSelf(type), value));
  }
  Value integer(int64_t value) {
    Type of = integers();
    return constant(of,
                    b.getIntegerAttr(mlir::getElementTypeOrSelf(of), value));
  }
  Value add(Value x, Value y) { return mlir::arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return mlir::arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) { return mlir::arith::MulFOp::create(b, x, y); }
  Value div(Value x, Value y) { return mlir::arith::DivFOp::create(b, x, y); }
  Value abs(Value x) { return mlir::math::AbsFOp::create(b, x); }
  Value fma(Value x, Value y, Value z) {
    return mlir::math::FmaOp::create(b, x, y, z);
  }
  Value is(mlir::arith::CmpFPredicate predicate, Value x, Value y) {
    return mlir::arith::CmpFOp::create(b, predicate, x, y);
  }
  Value both(Value x, Value y) { return mlir::arith::AndIOp::create(b, x, y); }
  Value select(Value condition, Value x, Value y) {
    return mlir::arith::SelectOp::create(b, condition, x, y);
  }
  /// `x`, but no more (or less) than `bound`; NaN passes.
  Value atMost(Value x, double bound) {
    Value most = number(bound);
    return select(is(mlir::arith::CmpFPredicate::OGT, x, most), most, x);
  }
  Value atLeast(Value x, double bound) {
    Value least = number(bound);
    return select(is(mlir::arith::CmpFPredicate::OLT, x, least), least, x);
  }
  Value bitsOf(Value x) {
    return mlir::arith::BitcastOp::create(b, integers(), x);
  }
  Value withBits(Value bits) {
    return mlir::arith::BitcastOp::create(b, type, bits);
  }
  template <typename Op> Value onBits(Value x, int64_t y) {
    return Op::create(b, x, integer(y));
  }
  /// The sign of `x`, the other bits 0.
  Value signOf(Value x) {
    return onBits<mlir::arith::AndIOp>(
        bitsOf(x), isDouble() ? std::numeric_limits<int64_t>::min()
                              : std::numeric_limits<int32_t>::min());
  }
  /// `y`, which is not negative, with the sign of `x`.
  Value withSignOf(Value y, Value x) {
    return withBits(mlir::arith::OrIOp::create(b, bitsOf(y), signOf(x)));
  }
  /// The polynomial with `coefficients`, the highest first.
  template <typename Number>
  Value polynomial(Value x, llvm::ArrayRef<Number> coefficients) {
    Value sum = number(coefficients.front());
    for (Number coefficient : coefficients.drop_front())
      sum = fma(sum, x, number(coefficient));
    return sum;
  }
  template <typename Number>
  Value polynomial(Value x, std::initializer_list<Number> coefficients) {
    return polynomial(x, llvm::ArrayRef<Number>(coefficients));
  }
  /// 2^n for -bias() < n <= bias(), and 0 for -bias().
  Value powerOfTwo(Value n) {
    using namespace mlir::arith;
    return withBits(onBits<ShLIOp>(onBits<AddIOp>(n, bias()), fractionBits()));
  }
  /// True if the target has an instruction that scales these numbers.
  bool hasInstructionToScale() {
    auto vector = mlir::dyn_cast<mlir::VectorType>(type);
    return scales && (!vector || vector.getRank() == 1);
  }
  /// x 2^n for -2 bias() < n < 2 bias() with one rounding; 0 for -2 bias().
  Value scale(Value x, Value n) {
    if (hasInstructionToScale())
      return mlir::LLVM::CallIntrinsicOp::create(
                 b, type, b.getStringAttr("llvm.ldexp"), mlir::ValueRange{x, n})
          ->getResult(0);
    // The first product is exact, and in range where the result is.
    Value half = onBits<mlir::arith::ShRSIOp>(n, 1);
    Value rest = mlir::arith::SubIOp::create(b, n, half);
    return mul(mul(x, powerOfTwo(half)), powerOfTwo(rest));
  }
  /// `x factor` as integer (less than 2^22 or 2^51), and rounded: adding 1.5 *
  /// 2^23 or 2^52 leaves it in the low bits. No conversion, which of NaN would
  /// be poison.
  std::pair<Value, Value> round(Value x, Value factor) {
    Value magic = number(isDouble() ? 0x1.8p52 : 0x1.8p23);
    Value shifted = fma(x, factor, magic);
    int64_t bits = isDouble() ? 0x4338000000000000 : 0x4b400000;
    return {onBits<mlir::arith::SubIOp>(bitsOf(shifted), bits),
            sub(shifted, magic)};
  }
};

/// A vector as `start`, of elements that `compute` makes for each place, one
/// after the other: a loop, which is little code for what is rare.
inline mlir::Value
byElements(mlir::ImplicitLocOpBuilder &b, mlir::Value start,
           llvm::function_ref<mlir::Value(llvm::ArrayRef<mlir::OpFoldResult>)>
               compute) {
  auto index = [&](int64_t value) -> mlir::Value {
    return mlir::arith::ConstantIndexOp::create(b, value);
  };
  int64_t lanes =
      mlir::cast<mlir::VectorType>(start.getType()).getNumElements();
  auto loop =
      mlir::scf::ForOp::create(b, index(0), index(lanes), index(1), start);
  mlir::OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  mlir::SmallVector<mlir::OpFoldResult> at{loop.getInductionVar()};
  mlir::Value next = mlir::vector::InsertOp::create(
      b, compute(at), loop.getRegionIterArg(0), at);
  mlir::scf::YieldOp::create(b, next);
  return loop.getResult(0);
}

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_TOLLVM_MATH_ELEMENTARYNUMBERS_H
