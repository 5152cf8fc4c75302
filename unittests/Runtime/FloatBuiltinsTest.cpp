//===- FloatBuiltinsTest.cpp - Conversions of short floats ----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All 65,536 numbers of a short format, and for each pair of neighbours their
// midpoint and the numbers right beside it, from both wider formats. The
// reference works on values, in double.
//
//===----------------------------------------------------------------------===//

#include <bit>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>

extern "C" {
__bf16 __truncsfbf2(float value);
__bf16 __truncdfbf2(double value);
float __extendbfsf2(__bf16 value);
_Float16 __truncsfhf2(float value);
_Float16 __truncdfhf2(double value);
float __extendhfsf2(_Float16 value);
}

namespace {

struct Half {
  static constexpr int kMantissaBits = 10;
  static constexpr int kBias = 15;
  static uint16_t fromFloat(float value) {
    return std::bit_cast<uint16_t>(__truncsfhf2(value));
  }
  static uint16_t fromDouble(double value) {
    return std::bit_cast<uint16_t>(__truncdfhf2(value));
  }
  static float toFloat(uint16_t bits) {
    return __extendhfsf2(std::bit_cast<_Float16>(bits));
  }
};

struct Bfloat {
  static constexpr int kMantissaBits = 7;
  static constexpr int kBias = 127;
  static uint16_t fromFloat(float value) {
    return std::bit_cast<uint16_t>(__truncsfbf2(value));
  }
  static uint16_t fromDouble(double value) {
    return std::bit_cast<uint16_t>(__truncdfbf2(value));
  }
  static float toFloat(uint16_t bits) {
    return __extendbfsf2(std::bit_cast<__bf16>(bits));
  }
};

/// The value of a number by the definition of the format; infinity as if it
/// were the next finite number.
template <typename Format> double getValue(uint16_t bits) {
  int exponent = (bits & 0x7FFF) >> Format::kMantissaBits;
  int mantissa = bits & ((1 << Format::kMantissaBits) - 1);
  if (exponent == 0)
    exponent = 1;
  else
    mantissa |= 1 << Format::kMantissaBits;
  double value =
      std::ldexp(mantissa, exponent - Format::kBias - Format::kMantissaBits);
  return bits & 0x8000 ? -value : value;
}

template <typename Format> class FloatBuiltins : public testing::Test {};
using Formats = testing::Types<Half, Bfloat>;
TYPED_TEST_SUITE(FloatBuiltins, Formats);

template <typename Format>
constexpr uint16_t kInfinity =
    ((2 * Format::kBias + 1) << Format::kMantissaBits);

TYPED_TEST(FloatBuiltins, EveryNumberThereAndBack) {
  for (int i = 0; i < 65536; ++i) {
    uint16_t bits = static_cast<uint16_t>(i);
    float value = TypeParam::toFloat(bits);
    int magnitude = bits & 0x7FFF;
    if (magnitude > kInfinity<TypeParam>) {
      // Quiet, of the same sign and payload.
      uint32_t wide = std::bit_cast<uint32_t>(value);
      ASSERT_TRUE(std::isnan(value)) << i;
      ASSERT_TRUE(wide & 0x400000) << i;
      uint16_t quiet = bits | 1 << (TypeParam::kMantissaBits - 1);
      ASSERT_EQ(TypeParam::fromFloat(value), quiet) << i;
      ASSERT_EQ(wide >> 31, bits >> 15) << i;
      continue;
    }
    if (magnitude == kInfinity<TypeParam>)
      ASSERT_EQ(value, bits >> 15 ? -INFINITY : INFINITY);
    else
      ASSERT_EQ(value, getValue<TypeParam>(bits)) << i;
    ASSERT_EQ(std::signbit(value), bits >> 15 == 1) << i;
    ASSERT_EQ(TypeParam::fromFloat(value), bits) << i;
    ASSERT_EQ(TypeParam::fromDouble(value), bits) << i;
  }
}

TYPED_TEST(FloatBuiltins, RoundsToNearestEven) {
  for (int i = 0; i < kInfinity<TypeParam>; ++i) {
    uint16_t low = static_cast<uint16_t>(i);
    uint16_t high = low + 1;
    uint16_t even = low & 1 ? high : low;
    // Between the largest number and infinity lies what the next number would
    // be; exact in double, and the midpoint in float as well.
    double middle = (getValue<TypeParam>(low) + getValue<TypeParam>(high)) / 2;
    float narrow = static_cast<float>(middle);
    for (uint16_t sign : {0, 0x8000}) {
      double factor = sign ? -1 : 1;
      ASSERT_EQ(TypeParam::fromDouble(factor * middle), sign | even) << i;
      ASSERT_EQ(TypeParam::fromDouble(factor * std::nextafter(middle, 0)),
                sign | low)
          << i;
      ASSERT_EQ(
          TypeParam::fromDouble(factor * std::nextafter(middle, INFINITY)),
          sign | high)
          << i;
      if (narrow != middle)
        continue; // below the smallest float
      float single = static_cast<float>(factor);
      ASSERT_EQ(TypeParam::fromFloat(single * narrow), sign | even) << i;
      ASSERT_EQ(TypeParam::fromFloat(single * std::nextafterf(narrow, 0)),
                sign | low)
          << i;
      ASSERT_EQ(
          TypeParam::fromFloat(single * std::nextafterf(narrow, INFINITY)),
          sign | high)
          << i;
    }
  }
}

TYPED_TEST(FloatBuiltins, BeyondTheRange) {
  EXPECT_EQ(TypeParam::fromFloat(3.4e38f), kInfinity<TypeParam>);
  EXPECT_EQ(TypeParam::fromFloat(-INFINITY), kInfinity<TypeParam> | 0x8000);
  EXPECT_EQ(TypeParam::fromDouble(1e300), kInfinity<TypeParam>);
  EXPECT_EQ(TypeParam::fromDouble(-1e300), kInfinity<TypeParam> | 0x8000);
  EXPECT_EQ(TypeParam::fromDouble(1e-300), 0);
  EXPECT_EQ(TypeParam::fromDouble(-1e-300), 0x8000);
  EXPECT_EQ(TypeParam::fromDouble(4.9e-324), 0);
  EXPECT_EQ(TypeParam::fromDouble(-0.0), 0x8000);
  EXPECT_EQ(TypeParam::fromFloat(-0.0f), 0x8000);
  EXPECT_EQ(TypeParam::fromDouble(INFINITY), kInfinity<TypeParam>);
}

TYPED_TEST(FloatBuiltins, NaNs) {
  uint16_t quiet = kInfinity<TypeParam> | 1 << (TypeParam::kMantissaBits - 1);
  // A payload in the low bits only must not turn into infinity.
  EXPECT_EQ(TypeParam::fromFloat(std::bit_cast<float>(0x7F800001)), quiet);
  EXPECT_EQ(TypeParam::fromFloat(std::bit_cast<float>(0xFF800001)),
            quiet | 0x8000);
  EXPECT_EQ(TypeParam::fromDouble(
                std::bit_cast<double>(UINT64_C(0x7FF0000000000001))),
            quiet);
  EXPECT_EQ(TypeParam::fromDouble(
                std::bit_cast<double>(UINT64_C(0xFFF0000000000001))),
            quiet | 0x8000);
}

TEST(FloatBuiltins, DoublesAreRoundedOnce) {
  // By way of float this would be a tie and round to 1.
  EXPECT_EQ(Half::fromDouble(1 + std::ldexp(1, -11) + std::ldexp(1, -40)),
            0x3C01);
  EXPECT_EQ(Bfloat::fromDouble(1 + std::ldexp(1, -8) + std::ldexp(1, -40)),
            0x3F81);
}

} // namespace
