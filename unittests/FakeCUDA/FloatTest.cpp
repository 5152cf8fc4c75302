//===- FloatTest.cpp - Floating point and conversions ---------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Snippet.h"

#include <cfenv>
#include <cmath>

namespace {

class FloatTest : public SnippetTest {};

constexpr uint64_t kOnes = ~uint64_t(0), kOnes32 = 0xFFFFFFFF;
constexpr uint64_t kNaN = 0x7FFFFFFF; // of single precision, canonical

uint64_t f(float value) { return std::bit_cast<uint32_t>(value); }
uint64_t d(double value) { return std::bit_cast<uint64_t>(value); }

TEST_F(FloatTest, arithmetic) {
  constexpr float tiny = 1e-40f; // subnormal
  const float third = 1.0f / 3;
  check({
      {"add.f32 %r9, %r0, %r1;", {f(0.1f), f(0.2f)}, f(0.1f + 0.2f)},
      {"add.rn.f64 %d9, %d0, %d1;", {d(0.1), d(0.2)}, d(0.1 + 0.2)},
      {"add.rz.f32 %r9, %r0, %r1;", {f(1), f(0x1.8p-24f)}, f(1)},
      {"add.rp.f32 %r9, %r0, %r1;", {f(1), f(0x1p-30f)}, f(0x1.000002p0f)},
      {"add.rm.f64 %d9, %d0, %d1;",
       {d(1), d(-0x1p-60)},
       d(0x1.fffffffffffffp-1)},
      {"add.f32 %r9, %r0, %r1;", {f(tiny), f(0)}, f(tiny)},
      {"add.ftz.f32 %r9, %r0, %r1;", {f(tiny), f(0)}, f(0)},
      {"add.sat.f32 %r9, %r0, %r1;", {f(3), f(1)}, f(1)},
      {"add.sat.f32 %r9, %r0, %r1;", {kNaN, f(1)}, f(0)},
      {"add.f32 %r9, %r0, %r1;", {f(INFINITY), f(-INFINITY)}, kNaN},
      {"sub.ftz.f32 %r9, %r0, %r1;", {f(2), f(5)}, f(-3)},
      {"mul.rn.f32 %r9, %r0, %r1;", {f(third), f(3)}, f(third * 3)},
      {"mul.ftz.f32 %r9, %r0, %r1;", {f(1e-30f), f(-1e-10f)}, f(-0.0f)},
      {"mul.f64 %d9, %d0, 0d4000000000000000;", {d(1.5)}, d(3)},
      {"div.rn.f32 %r9, %r0, %r1;", {f(1), f(3)}, f(third)},
      {"div.rz.f32 %r9, %r0, %r1;", {f(2), f(3)}, f(0x1.555554p-1f)},
      {"div.approx.f32 %r9, %r0, %r1;", {f(6), f(3)}, f(2)},
      {"div.full.ftz.f32 %r9, %r0, %r1;", {f(1), f(4)}, f(0.25f)},
      {"div.rn.f64 %d9, %d0, %d1;", {d(1), d(3)}, d(1.0 / 3)},
      {"fma.rn.f32 %r9, %r0, %r1, %r2;",
       {f(0x1.000002p0f), f(0x1.000002p0f), f(-0x1.000004p0f)},
       f(0x1p-46f)},
      {"fma.rn.f64 %d9, %d0, %d1, %d2;",
       {d(0.1), d(10), d(-1)},
       d(std::fma(0.1, 10.0, -1.0))},
      {"fma.rn.sat.f32 %r9, %r0, %r1, %r2;", {f(2), f(3), f(4)}, f(1)},
      {"mad.rn.f32 %r9, %r0, %r1, %r2;", {f(2), f(3), f(4)}, f(10)},
      {"rcp.rn.f32 %r9, %r0;", {f(3)}, f(third)},
      {"rcp.approx.ftz.f32 %r9, %r0;", {f(4)}, f(0.25f)},
      {"sqrt.rn.f32 %r9, %r0;", {f(2)}, f(std::sqrt(2.0f))},
      {"sqrt.rn.f64 %d9, %d0;", {d(2)}, d(std::sqrt(2.0))},
      {"rsqrt.approx.f32 %r9, %r0;", {f(4)}, f(0.5f)},
      {"ex2.approx.ftz.f32 %r9, %r0;", {f(-3)}, f(0.125f)},
      {"lg2.approx.f32 %r9, %r0;", {f(8)}, f(3)},
      {"sin.approx.f32 %r9, %r0;", {f(0)}, f(0)},
      {"cos.approx.f32 %r9, %r0;", {f(0)}, f(1)},
      {"tanh.approx.f32 %r9, %r0;", {f(20)}, f(1)},
  });
}

TEST_F(FloatTest, signsAndExtremes) {
  check({
      {"neg.f32 %r9, %r0;", {f(1)}, f(-1)},
      {"abs.f64 %d9, %d0;", {d(-2.5)}, d(2.5)},
      {"abs.ftz.f32 %r9, %r0;", {f(-1e-40f)}, f(0)},
      {"neg.f16x2 %r9, %r0;", {0x3C00BC00}, 0xBC003C00},
      {"copysign.f32 %r9, %r0, %r1;", {f(-1), f(5)}, f(-5)},
      {"copysign.f64 %d9, %d0, %d1;", {d(1), d(-5)}, d(5)},
      {"min.f32 %r9, %r0, %r1;", {f(-0.0f), f(0)}, f(-0.0f)},
      {"max.f32 %r9, %r0, %r1;", {f(-0.0f), f(0)}, f(0)},
      {"max.f32 %r9, %r0, %r1;", {kNaN, f(2)}, f(2)},
      {"max.NaN.f32 %r9, %r0, %r1;", {kNaN, f(2)}, kNaN},
      {"min.xorsign.abs.f32 %r9, %r0, %r1;", {f(-3), f(2)}, f(-2)},
      {"min.f64 %d9, %d0, %d1;", {d(3), d(-2)}, d(-2)},
      {"max.f16 %h9, %h0, %h1;", {0x3C00, 0x4000}, 0x4000},
      {"min.NaN.bf16 %h9, %h0, %h1;", {0x7FC0, 0x3F80}, 0x7FFF},
      {"max.f16x2 %r9, %r0, %r1;", {0x3C004000, 0x4000BC00}, 0x40004000},
      {"testp.finite.f32 %p9, %r0;", {f(INFINITY)}, 0},
      {"testp.notanumber.f64 %p9, %d0;", {d(NAN)}, 1},
      {"testp.subnormal.f32 %p9, %r0;", {f(1e-40f)}, 1},
  });
}

TEST_F(FloatTest, halves) {
  check({
      {"add.rn.f16 %h9, %h0, %h1;", {0x3C00, 0x3C00}, 0x4000},
      {"add.f16 %h9, %h0, %h1;", {0x7BFF, 0x7BFF}, 0x7C00},
      {"mul.f16x2 %r9, %r0, %r1;", {0x3C004000, 0x40004200}, 0x40004600},
      {"sub.bf16 %h9, %h0, %h1;", {0x3F80, 0x4000}, 0xBF80},
      {"fma.rn.f16 %h9, %h0, %h1, %h2;", {0x3C01, 0x3C01, 0xBC02}, 0x0010},
      // Half an ulp and a little more, which a sum in double would not see.
      {"fma.rn.f16 %h9, %h0, %h1, %h2;", {0x0001, 0x0001, 0x3C00}, 0x3C00},
      {"fma.rn.relu.f16 %h9, %h0, %h1, %h2;", {0x3C00, 0xBC00, 0}, 0},
      {"fma.rn.bf16 %h9, %h0, %h1, %h2;", {0x4000, 0x4040, 0x3F80}, 0x40E0},
      {"fma.rn.bf16x2 %r9, %r0, %r1, %r2;",
       {0x40004000, 0x40403F80, 0x3F803F80},
       0x40E04040},
      {"ex2.approx.f16 %h9, %h0;", {0x4000}, 0x4400},
      {"tanh.approx.bf16 %h9, %h0;", {0}, 0},
  });
}

TEST_F(FloatTest, conversionsOfIntegers) {
  check({
      {"cvt.u32.u16 %r9, %h0;", {0xFFFF}, 0xFFFF},
      {"cvt.s32.s16 %r9, %h0;", {0xFFFF}, kOnes32},
      {"cvt.s64.s32 %d9, %r0;", {kOnes32}, kOnes},
      {"cvt.s32.s8 %r9, %r0;", {0x80}, 0xFFFFFF80},
      {"cvt.u64.u32 %d9, %r0;", {kOnes32}, kOnes32},
      {"cvt.u16.u64 %h9, %d0;", {0x12345}, 0x2345},
      {"cvt.sat.u8.s32 %r9, %r0;", {300}, 255},
      {"cvt.sat.s8.s32 %r9, %r0;", {0xFFFFFF00}, 0xFFFFFF80},
      {"cvt.sat.u32.s32 %r9, %r0;", {kOnes32}, 0},
      {"cvt.rn.f32.s32 %r9, %r0;", {16777217}, f(16777216)},
      {"cvt.rp.f32.s32 %r9, %r0;", {16777217}, f(16777218)},
      {"cvt.rz.f32.u64 %r9, %d0;", {kOnes}, f(0x1.fffffep63f)},
      {"cvt.rn.f64.s64 %d9, %d0;", {kOnes}, d(-1)},
      {"cvt.rn.f32.u16 %r9, %h0;", {65535}, f(65535)},
      {"cvt.rn.f16.s32 %h9, %r0;", {2049}, 0x6800},
      {"cvt.rn.f16.u64 %h9, %d0;", {70000}, 0x7C00},
      {"cvt.rn.bf16.s32 %h9, %r0;", {257}, 0x4380},
  });
}

TEST_F(FloatTest, conversionsToIntegers) {
  check({
      {"cvt.rzi.s32.f32 %r9, %r0;", {f(-1.9f)}, kOnes32},
      {"cvt.rni.s32.f32 %r9, %r0;", {f(2.5f)}, 2},
      {"cvt.rmi.s32.f32 %r9, %r0;", {f(-1.1f)}, kOnes32 - 1},
      {"cvt.rpi.u32.f32 %r9, %r0;", {f(1.1f)}, 2},
      {"cvt.rzi.s32.f32 %r9, %r0;", {f(1e20f)}, 0x7FFFFFFF},
      {"cvt.rzi.u32.f32 %r9, %r0;", {f(-5)}, 0},
      {"cvt.rzi.s32.f32 %r9, %r0;", {kNaN}, 0},
      {"cvt.rzi.s64.f64 %d9, %d0;", {d(NAN)}, 0x8000000000000000},
      {"cvt.rzi.u64.f64 %d9, %d0;", {d(1e30)}, kOnes},
      {"cvt.rzi.s64.f32 %d9, %r0;", {f(-3.5f)}, kOnes - 2},
      {"cvt.rzi.u16.f32 %h9, %r0;", {f(70000)}, 65535},
      {"cvt.rzi.s8.f32 %r9, %r0;", {f(-200)}, 0xFFFFFF80},
      {"cvt.rzi.s32.f16 %r9, %h0;", {0xC500}, kOnes32 - 4},
      {"cvt.rni.f32.f32 %r9, %r0;", {f(2.5f)}, f(2)},
      {"cvt.rmi.f64.f64 %d9, %d0;", {d(-2.5)}, d(-3)},
      {"cvt.rpi.ftz.f32.f32 %r9, %r0;", {f(1e-40f)}, f(0)},
      {"cvt.rzi.f16.f16 %h9, %h0;", {0x4100}, 0x4000},
      {"cvt.sat.f32.f32 %r9, %r0;", {f(7)}, f(1)},
  });
}

TEST_F(FloatTest, conversionsOfFloats) {
  check({
      {"cvt.f64.f32 %d9, %r0;", {f(0.1f)}, d(0.1f)},
      {"cvt.rn.f32.f64 %r9, %d0;", {d(0.1)}, f(0.1f)},
      {"cvt.rz.f32.f64 %r9, %d0;", {d(1 - 0x1p-40)}, f(0x1.fffffep-1f)},
      {"cvt.rn.ftz.f32.f64 %r9, %d0;", {d(1e-40)}, f(0)},
      {"cvt.rn.f16.f32 %h9, %r0;", {f(1.0009765625f)}, 0x3C01},
      {"cvt.rn.f16.f32 %h9, %r0;", {f(0x1.002p0f)}, 0x3C00},
      {"cvt.rn.f16.f32 %h9, %r0;", {f(0x1.006p0f)}, 0x3C02},
      {"cvt.rz.f16.f32 %h9, %r0;", {f(1e6f)}, 0x7BFF},
      {"cvt.rn.f16.f32 %h9, %r0;", {f(65520)}, 0x7C00},
      {"cvt.rn.f16.f32 %h9, %r0;", {f(0x1p-25f)}, 0},
      {"cvt.rn.f16.f32 %h9, %r0;", {f(0x1.8p-25f)}, 1},
      {"cvt.rn.f16.f32 %h9, %r0;", {f(-0x1.ffcp-15f)}, 0x8400},
      {"cvt.f32.f16 %r9, %h0;", {0x0001}, f(0x1p-24f)},
      {"cvt.f64.f16 %d9, %h0;", {0xFC00}, d(-INFINITY)},
      {"cvt.rn.f16.f64 %h9, %d0;", {d(1 + 0x1p-11 + 0x1p-50)}, 0x3C01},
      {"cvt.rn.bf16.f32 %h9, %r0;", {0x3F808000}, 0x3F80},
      {"cvt.rn.bf16.f32 %h9, %r0;", {0x3F808001}, 0x3F81},
      {"cvt.rn.relu.bf16.f32 %h9, %r0;", {f(-2)}, 0},
      {"cvt.rz.bf16.f32 %h9, %r0;", {0x3F80FFFF}, 0x3F80},
      {"cvt.rn.bf16.f32 %h9, %r0;", {0x7FC00001}, 0x7FFF},
      {"cvt.f32.bf16 %r9, %h0;", {0x4049}, 0x40490000},
      {"cvt.rn.f16x2.f32 %r9, %r0, %r1;", {f(1), f(2)}, 0x3C004000},
      {"cvt.rn.bf16x2.f32 %r9, %r0, %r1;", {f(1), f(2)}, 0x3F804000},
      {"cvt.rna.tf32.f32 %r9, %r0;", {0x3F801000}, 0x3F802000},
      {"cvt.rn.satfinite.e4m3x2.f32 %h9, %r0, %r1;", {f(1000), f(-1)}, 0x7EB8},
      {"cvt.rn.satfinite.e4m3x2.f32 %h9, %r0, %r1;", {kNaN, f(0.001f)}, 0x7F01},
      {"cvt.rn.satfinite.e5m2x2.f32 %h9, %r0, %r1;", {f(1), f(1e9f)}, 0x3C7B},
      {"cvt.rn.f16x2.e4m3x2 %r9, %h0;", {0x3801}, 0x3C001800},
      {"cvt.rn.f16x2.e5m2x2 %r9, %h0;", {0x3CBC}, 0x3C00BC00},
      {"cvt.rn.satfinite.e4m3x2.f16x2 %h9, %r0;", {0x3C00BC00}, 0x38B8},
  });
}

/// All values of single precision that are a little off a half of one half.
TEST_F(FloatTest, halvesRoundAsTheProcessorDoes) {
  std::string body = "ld.param.b64 %d1, [p0]; mov.u32 %r1, %tid.x;\n"
                     "mov.u32 %r2, %ctaid.x; mad.lo.s32 %r3, %r2, 256, %r1;\n"
                     "mul.wide.u32 %d2, %r3, 8; add.s64 %d3, %d1, %d2;\n"
                     "ld.global.b32 %r4, [%d3]; cvt.rn.f16.f32 %h1, %r4;\n"
                     "st.global.b16 [%d3+4], %h1;";
  ASSERT_EQ(load(entry(body)), CUDA_SUCCESS) << error;
  std::vector<uint32_t> values;
  for (uint32_t high = 0; high < 65536; high += 3)
    for (uint32_t low : {0u, 0xFFFu, 0x1000u, 0x1001u}) {
      values.push_back(high << 16 | low);
      values.push_back(0);
    }
  values.resize(values.size() / 512 * 512);
  CUdeviceptr pointer = upload(values);
  ASSERT_EQ(run("k", values.size() / 512, 256, {pointer}), CUDA_SUCCESS);
  auto got = download<uint32_t>(pointer, values.size());
  for (size_t i = 0; i != values.size(); i += 2) {
    float from = std::bit_cast<float>(values[i]);
    auto half = static_cast<_Float16>(from);
    uint16_t expected =
        std::isnan(from) ? 0x7FFF : std::bit_cast<uint16_t>(half);
    ASSERT_EQ(got[i + 1] & 0xFFFF, expected) << from;
  }
}

TEST_F(FloatTest, theRoundingOfTheProgramDoesNotMatter) {
  std::fesetround(FE_UPWARD);
  check({{"add.f32 %r9, %r0, %r1;", {f(1), f(0x1p-30f)}, f(1)},
         {"cvt.rn.f32.f64 %r9, %d0;", {d(1 + 0x1p-40)}, f(1)}});
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  std::fesetround(FE_TONEAREST);
}

TEST_F(FloatTest, pairsOfSinglePrecision) {
  auto pair = [](float low, float high) { return f(high) << 32 | f(low); };
  fake_cuda_set("LOOPC_FAKE_CUDA_CHIP", "sm_100");
  EXPECT_EQ(load(entry("add.rn.f32x2 %d1, %d2, %d3;")), CUDA_ERROR_INVALID_PTX);
  EXPECT_THAT(error, testing::HasSubstr("has to be sm_100 or later"));
  target = "sm_100";
  check({
      {"add.rn.f32x2 %d9, %d0, %d1;", {pair(1, 2), pair(3, 5)}, pair(4, 7)},
      {"fma.rn.f32x2 %d9, %d0, %d1, %d2;",
       {pair(1, 2), pair(3, 5), pair(10, 20)},
       pair(13, 30)},
      {"add.f32.f16 %r9, %h0, %r1;", {0x3C00, f(0.1f)}, f(1.1f)},
      {"fma.rn.f32.bf16 %r9, %h0, %h1, %r2;",
       {0x4000, 0x4040, f(0.5f)},
       f(6.5f)},
  });
}

} // namespace
