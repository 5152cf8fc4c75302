//===- Float.cpp - Arithmetic of small and rounded floats -----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Float.h"

using namespace fakecuda;

double fakecuda::decodeFloat(uint32_t bits, Format format) {
  uint32_t mantissa = bits & ((1u << format.mantissaBits) - 1);
  uint32_t top = (1u << format.exponentBits) - 1;
  uint32_t exponent = bits >> format.mantissaBits & top;
  bool negative = bits >> (format.bits() - 1) & 1;
  double value;
  if (exponent == top && !format.isFinite)
    value = mantissa ? NAN : INFINITY;
  else if (exponent == top && mantissa == (1u << format.mantissaBits) - 1)
    value = NAN;
  else if (exponent == 0)
    value = std::ldexp(mantissa, 1 - format.bias() - int(format.mantissaBits));
  else
    value =
        std::ldexp(mantissa | 1u << format.mantissaBits,
                   int(exponent) - format.bias() - int(format.mantissaBits));
  return negative ? -value : value;
}

/// Whether the magnitude `kept`, of which `rest` of 2^shift is cut off, grows.
static bool roundsUp(uint64_t kept, uint64_t rest, int shift, bool negative,
                     Round round) {
  uint64_t half = uint64_t(1) << (shift - 1);
  switch (round) {
  case Round::NearestEven:
    return rest > half || (rest == half && (kept & 1));
  case Round::NearestAway:
    return rest >= half;
  case Round::Zero:
    return false;
  case Round::Down:
    return rest && negative;
  case Round::Up:
    return rest && !negative;
  }
  return false;
}

uint32_t fakecuda::encodeFloat(double value, Format format, Round round,
                               bool saturates) {
  uint32_t top = (1u << format.exponentBits) - 1;
  uint32_t mantissaMask = (1u << format.mantissaBits) - 1;
  uint64_t bits = std::bit_cast<uint64_t>(value);
  bool negative = bits >> 63;
  if (std::isnan(value)) // Canonical: all bits but the sign.
    return top << format.mantissaBits | mantissaMask;
  uint32_t sign = uint32_t(negative) << (format.bits() - 1);
  uint32_t infinity = format.isFinite
                          ? top << format.mantissaBits | mantissaMask
                          : top << format.mantissaBits;
  uint32_t largest = infinity - 1;
  if (std::isinf(value))
    return sign | (saturates ? largest : infinity);
  if (value == 0)
    return sign;
  int exponent;
  double fraction = std::frexp(std::fabs(value), &exponent); // in [0.5, 1)
  uint64_t mantissa = uint64_t(std::ldexp(fraction, 53));
  // Units in the last place of the format, and how many bits are below them.
  int unit =
      std::max(exponent - 1, 1 - format.bias()) - int(format.mantissaBits);
  int shift = unit - (exponent - 53);
  uint64_t kept, rest;
  if (shift > 60) { // Far below the smallest.
    kept = 0;
    rest = 1;
    shift = 2;
  } else {
    kept = mantissa >> shift;
    rest = mantissa & ((uint64_t(1) << shift) - 1);
  }
  if (roundsUp(kept, rest, shift, negative, round))
    ++kept;
  // A subnormal keeps exponent 0: the implied bit is counted in.
  uint64_t result = exponent - 1 < 1 - format.bias()
                        ? kept
                        : kept + (uint64_t(exponent - 2 + format.bias())
                                  << format.mantissaBits);
  if (result >= infinity) {
    bool towardsZero = round == Round::Zero ||
                       (round == Round::Down && !negative) ||
                       (round == Round::Up && negative);
    return sign | (saturates || towardsZero ? largest : infinity);
  }
  return sign | uint32_t(result);
}

double fakecuda::addToOdd(double a, double b) {
  double sum = a + b;
  if (!std::isfinite(sum))
    return sum;
  // The exact error of the sum (Knuth's TwoSum).
  double part = sum - a;
  double error = (a - (sum - part)) + (b - part);
  uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (error == 0 || bits & 1)
    return sum;
  // The sum is even and not exact: its odd neighbour on the side of the error.
  return std::nextafter(sum, error > 0 ? INFINITY : -INFINITY);
}
