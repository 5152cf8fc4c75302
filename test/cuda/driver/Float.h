//===- Float.h - Arithmetic of small and rounded floats ------- -*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_TEST_CUDA_FLOAT_H
#define LOOPC_TEST_CUDA_FLOAT_H

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>

namespace fakecuda {

enum class Round : uint8_t { NearestEven, Zero, Down, Up, NearestAway };

/// A binary format of at most 32 bits.
struct Format {
  unsigned exponentBits, mantissaBits;
  /// All ones is a number but for one NaN (e4m3).
  bool isFinite = false;

  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  unsigned bits() const { return 1 + exponentBits + mantissaBits; }
};
constexpr Format kHalf{5, 10}, kBrain{8, 7}, kSingle{8, 23}, kTensor{8, 10},
    kE4M3{4, 3, true}, kE5M2{5, 2};

/// The value, which is exact in a double.
double decodeFloat(uint32_t bits, Format format);
/// The value rounded; NaNs become the canonical one. `saturates`: what is too
/// large becomes the largest finite value.
uint32_t encodeFloat(double value, Format format,
                     Round round = Round::NearestEven, bool saturates = false);

/// a + b, rounded so that rounding it once more to at most 51 bits gives the
/// correctly rounded sum ("round to odd").
double addToOdd(double a, double b);

/// Runs `compute` in a rounding mode.
template <typename F> auto withRounding(Round round, F compute) {
  int mode = FE_TONEAREST;
  if (round == Round::Zero)
    mode = FE_TOWARDZERO;
  else if (round == Round::Down)
    mode = FE_DOWNWARD;
  else if (round == Round::Up)
    mode = FE_UPWARD;
  int before = std::fegetround();
  std::fesetround(mode);
  auto result = compute();
  std::fesetround(before);
  return result;
}

inline float flush(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value)
                                                : value;
}
inline double flush(double value) { return value; }

/// NaNs of single precision are all the same on the device.
inline float canonical(float value) {
  return value == value ? value : std::bit_cast<float>(0x7FFFFFFFu);
}
inline double canonical(double value) { return value; }

/// .sat: into [0, 1]; NaN becomes 0.
template <typename T> T saturateUnit(T value) {
  if (!(value > 0))
    return 0;
  return value > 1 ? T(1) : value;
}

} // namespace fakecuda

#endif // LOOPC_TEST_CUDA_FLOAT_H
