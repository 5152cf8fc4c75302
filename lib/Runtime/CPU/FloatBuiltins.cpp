//===- FloatBuiltins.cpp - Conversions of short floats --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions that LLVM calls to convert float16 and bfloat16 where the CPU
// has no instruction for it. libgcc 12 has none for bfloat16, and none for
// float16 on some targets. Weak: where libgcc has them, either serves.
//
//===----------------------------------------------------------------------===//

#include <stdint.h>

/// Rounds an IEEE number of `SE` exponent and `SM` mantissa bits to one of `DE`
/// and `DM`: to nearest, ties to even; NaNs become quiet and keep the high bits
/// of their payload.
template <int SE, int SM, int DE, int DM>
static uint16_t narrow(uint64_t bits) {
  constexpr int64_t kSrcMax = (int64_t{1} << SE) - 1;
  constexpr int64_t kDstMax = (int64_t{1} << DE) - 1;
  constexpr uint64_t kInfinity = static_cast<uint64_t>(kDstMax) << DM;
  uint64_t sign = (bits >> (SE + SM) & 1) << (DE + DM);
  int64_t exponent = static_cast<int64_t>(bits >> SM) & kSrcMax;
  uint64_t mantissa = bits & ((uint64_t{1} << SM) - 1);
  if (exponent == kSrcMax) {
    if (mantissa == 0)
      return static_cast<uint16_t>(sign | kInfinity);
    return static_cast<uint16_t>(sign | kInfinity | uint64_t{1} << (DM - 1) |
                                 mantissa >> (SM - DM));
  }
  if (exponent == 0)
    exponent = 1; // a subnormal number has no leading one
  else
    mantissa |= uint64_t{1} << SM;
  exponent += kDstMax / 2 - kSrcMax / 2;
  if (exponent >= kDstMax)
    return static_cast<uint16_t>(sign | kInfinity);
  // Below the normal numbers further bits are lost.
  int64_t shift = SM - DM;
  if (exponent < 1) {
    shift += 1 - exponent;
    exponent = 1;
  }
  if (shift > SM + 1)
    return static_cast<uint16_t>(sign); // below half of the smallest number
  uint64_t kept = mantissa >> shift;
  uint64_t lost = mantissa & ((uint64_t{1} << shift) - 1);
  uint64_t half = uint64_t{1} << (shift - 1);
  if (lost > half || (lost == half && (kept & 1)))
    ++kept;
  // A leading one in `kept` adds one to the exponent, and so does the carry of
  // rounding; from the largest number that gives infinity.
  return static_cast<uint16_t>(
      sign | ((static_cast<uint64_t>(exponent - 1) << DM) + kept));
}

static uint32_t widenHalf(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits >> 15) << 31;
  uint32_t exponent = bits >> 10 & 0x1F;
  uint32_t mantissa = bits & 0x3FF;
  if (exponent == 0x1F) {
    uint32_t quiet = mantissa ? 0x400000 : 0;
    return sign | 0x7F800000 | quiet | mantissa << 13;
  }
  if (exponent == 0) {
    if (mantissa == 0)
      return sign;
    // Shift the leading one to bit 10.
    uint32_t shift = static_cast<uint32_t>(__builtin_clz(mantissa)) - 21;
    mantissa = mantissa << shift & 0x3FF;
    return sign | (113 - shift) << 23 | mantissa << 13;
  }
  return sign | (exponent + 112) << 23 | mantissa << 13;
}

static uint16_t floatToBfloat(float value) {
  return narrow<8, 23, 8, 7>(__builtin_bit_cast(uint32_t, value));
}
static uint16_t doubleToBfloat(double value) {
  return narrow<11, 52, 8, 7>(__builtin_bit_cast(uint64_t, value));
}
static uint16_t floatToHalf(float value) {
  return narrow<8, 23, 5, 10>(__builtin_bit_cast(uint32_t, value));
}
static uint16_t doubleToHalf(double value) {
  return narrow<11, 52, 5, 10>(__builtin_bit_cast(uint64_t, value));
}
static float bfloatToFloat(uint16_t bits) {
  uint32_t wide = static_cast<uint32_t>(bits) << 16;
  if ((wide & 0x7FFFFFFF) > 0x7F800000)
    wide |= 0x400000;
  return __builtin_bit_cast(float, wide);
}

#define LOOPC_RT_BUILTIN extern "C" __attribute__((weak))

#if defined(__aarch64__) && !defined(__clang__) && __GNUC__ < 13
// GCC's name for it there, before C++ had the other one.
using Half = __fp16;
#else
using Half = _Float16;
#endif

// The types decide the registers: xmm0 or h0, not a general one. The names are
// the compilers'.
// NOLINTBEGIN(readability-identifier-naming)
LOOPC_RT_BUILTIN __bf16 __truncsfbf2(float value) {
  return __builtin_bit_cast(__bf16, floatToBfloat(value));
}
LOOPC_RT_BUILTIN __bf16 __truncdfbf2(double value) {
  return __builtin_bit_cast(__bf16, doubleToBfloat(value));
}
LOOPC_RT_BUILTIN float __extendbfsf2(__bf16 value) {
  return bfloatToFloat(__builtin_bit_cast(uint16_t, value));
}
LOOPC_RT_BUILTIN Half __truncsfhf2(float value) {
  return __builtin_bit_cast(Half, floatToHalf(value));
}
LOOPC_RT_BUILTIN Half __truncdfhf2(double value) {
  return __builtin_bit_cast(Half, doubleToHalf(value));
}
LOOPC_RT_BUILTIN float __extendhfsf2(Half value) {
  return __builtin_bit_cast(float,
                            widenHalf(__builtin_bit_cast(uint16_t, value)));
}
// NOLINTEND(readability-identifier-naming)
