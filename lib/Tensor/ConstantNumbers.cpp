//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Numbers of f32 and of 16 bits as f64, and their bits.

#include "ConstantNumbers.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/bit.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace loopc;

double loopc::roundTo(double x, Type type) {
  if (x == 0 || !std::isfinite(x))
    return x;
  auto [fraction, leastExponent, mostExponent] =
      type.isF16() ? std::array{10, -14, 15} : std::array{7, -126, 127};
  int unit = std::max(std::ilogb(x), leastExponent) - fraction;
  double rounded = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
  return std::fabs(rounded) < std::ldexp(1.0, mostExponent + 1)
             ? rounded
             : std::copysign(std::numeric_limits<double>::infinity(), x);
}

uint16_t loopc::toSmall(double x, Type type) {
  APFloat number(x);
  bool losesInfo;
  number.convert(cast<FloatType>(type).getFloatSemantics(),
                 APFloat::rmNearestTiesToEven, &losesInfo);
  return number.bitcastToAPInt().getZExtValue();
}

const std::vector<double> &loopc::numbersOf(Type type) {
  auto make = [&] {
    std::vector<double> numbers;
    numbers.reserve(1 << 16);
    for (unsigned bits : llvm::seq(1u << 16))
      numbers.push_back(
          APFloat(cast<FloatType>(type).getFloatSemantics(), APInt(16, bits))
              .convertToDouble());
    return numbers;
  };
  if (type.isF16()) {
    static const std::vector<double> halves = make();
    return halves;
  }
  static const std::vector<double> brains = make();
  return brains;
}

int64_t loopc::bitsOf(double x, Type type) {
  if (type.isF64())
    return llvm::bit_cast<int64_t>(x);
  return type.isF32() ? llvm::bit_cast<int32_t>(static_cast<float>(x))
                      : toSmall(x, type);
}

double loopc::fromBits(int64_t bits, Type type) {
  if (type.isF64())
    return llvm::bit_cast<double>(bits);
  return type.isF32() ? llvm::bit_cast<float>(static_cast<int32_t>(bits))
                      : numbersOf(type)[static_cast<uint16_t>(bits)];
}

double loopc::extreme(double x, double y, bool negated) {
  if (std::isnan(x) || std::isnan(y))
    return std::numeric_limits<double>::quiet_NaN();
  // Of zeros the sign tells.
  if (x == y)
    return std::signbit(x) == negated ? x : y;
  return (x > y) == negated ? y : x;
}

bool loopc::compareFloats(arith::CmpFPredicate predicate, double x, double y) {
  using Predicate = arith::CmpFPredicate;
  bool isUnordered = std::isnan(x) || std::isnan(y);
  switch (predicate) {
  case Predicate::AlwaysFalse:
    return false;
  case Predicate::OEQ:
    return x == y;
  case Predicate::OGT:
    return x > y;
  case Predicate::OGE:
    return x >= y;
  case Predicate::OLT:
    return x < y;
  case Predicate::OLE:
    return x <= y;
  case Predicate::ONE:
    return x < y || x > y;
  case Predicate::ORD:
    return !isUnordered;
  case Predicate::UEQ:
    return isUnordered || x == y;
  case Predicate::UGT:
    return !(x <= y);
  case Predicate::UGE:
    return !(x < y);
  case Predicate::ULT:
    return !(x >= y);
  case Predicate::ULE:
    return !(x > y);
  case Predicate::UNE:
    return x != y;
  case Predicate::UNO:
    return isUnordered;
  case Predicate::AlwaysTrue:
    return true;
  }
  llvm_unreachable("no predicate");
}
