//===- KernelTest.cpp - Kernels that LLVM compiled ------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of Inputs/, for all chips that the compiler supports.
//
//===----------------------------------------------------------------------===//

#include "FakeCudaTest.h"

#include <cmath>
#include <fstream>
#include <sstream>

namespace {

class KernelTest : public FakeCudaTest,
                   public testing::WithParamInterface<const char *> {
protected:
  void SetUp() override {
    FakeCudaTest::SetUp();
    fake_cuda_set("LOOPC_FAKE_CUDA_CHIP", GetParam());
  }

  void loadKernels(const char *name) {
    std::ifstream file(std::string(FAKE_CUDA_KERNELS) + "/" + name + "." +
                       GetParam() + ".ptx");
    std::stringstream text;
    text << file.rdbuf();
    ASSERT_FALSE(text.str().empty());
    ASSERT_EQ(load(text.str()), CUDA_SUCCESS) << error;
  }

  template <typename T> std::vector<T> ramp(unsigned count, T step = 1) {
    std::vector<T> result(count);
    for (unsigned i = 0; i != count; ++i)
      result[i] = T(i) * step;
    return result;
  }
};

TEST_P(KernelTest, calls) {
  loadKernels("kernels");
  CUdeviceptr out = upload(std::vector<int>(12));
  CUdeviceptr doubles = upload(std::vector<double>(12));
  ASSERT_EQ(run("calls", 1, 12, {out, doubles}), CUDA_SUCCESS)
      << fake_cuda_last_fault();
  auto got = download<int>(out, 12);
  auto fibonacci = download<double>(doubles, 12);
  const int cases[] = {100, 230, 310, 470, 590, 1000, 1000, 1000};
  const double numbers[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  for (int t = 0; t != 12; ++t) {
    EXPECT_EQ(got[t], (t % 2 ? t * 4 : t + 10) + cases[t % 8]) << t;
    EXPECT_EQ(fibonacci[t], numbers[t]);
  }
}

TEST_P(KernelTest, memory) {
  loadKernels("kernels");
  struct {
    int a;
    int b[3];
    int8_t c;
  } block = {1, {20, 30, 40}, -7};
  bool flag = true;
  uint16_t half = 0xC500; // -5
  CUdeviceptr out = upload(std::vector<int>(64));
  void *params[] = {&out, &block, &flag, &half};
  ASSERT_EQ(cuLaunchKernel(function("memory"), 1, 1, 1, 64, 1, 1, 0, nullptr,
                           params, nullptr),
            CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS) << fake_cuda_last_fault();
  auto got = download<int>(out, 64);
  const int weights[] = {3, 5, 7, 9};
  for (int t = 0; t != 64; ++t) {
    int value = t % 2 ? t % 8 * t : (63 - t) * (63 - t);
    EXPECT_EQ(got[t], value + block.b[t % 3] - 7 + weights[t % 4] + 1000 - 5)
        << t;
  }
}

TEST_P(KernelTest, halves) {
  loadKernels("kernels");
  const std::vector<float> x = {0.5f,  -1.5f, 2.5f,  3.7f,
                                1e10f, NAN,   -0.3f, 65504};
  CUdeviceptr in = upload(x), out = upload(std::vector<uint32_t>(8 * 6));
  ASSERT_EQ(run("halves", 1, 8, {in, out}), CUDA_SUCCESS)
      << fake_cuda_last_fault();
  auto got = download<uint32_t>(out, 8 * 6);
  for (unsigned i = 0; i != 8; ++i) {
    SCOPED_TRACE(x[i]);
    auto h = static_cast<_Float16>(x[i]);
    auto half = [&](unsigned number) {
      return std::bit_cast<_Float16>(
          uint16_t(got[i * 6 + number / 2] >> number % 2 * 16));
    };
    auto word = [&](unsigned number) {
      return std::bit_cast<float>(got[i * 6 + 2 + number]);
    };
    auto same = [](float a, float b) { return a == b || (a != a && b != b); };
    EXPECT_TRUE(same(half(0), _Float16(double(h) * double(h) + 1)));
    EXPECT_TRUE(same(half(2), std::isnan(x[i]) ? NAN : std::max<float>(h, 2)));
    EXPECT_TRUE(same(half(3), _Float16(float(h) / 3)));
    EXPECT_TRUE(same(word(0), std::round(x[i])));
    EXPECT_TRUE(same(word(1), std::nearbyint(x[i])));
    EXPECT_TRUE(same(word(2), std::floor(x[i])));
    int truncated = std::isnan(x[i]) ? 0 : x[i] > 1e9f ? 0x7FFFFFFF : int(x[i]);
    EXPECT_EQ(int(got[i * 6 + 5]), truncated);
  }
  EXPECT_EQ(got[0] >> 16, 0x3FA0u);  // bf16: 1.25
  EXPECT_EQ(got[12] >> 16, 0x40E8u); // 7.25
}

TEST_P(KernelTest, vectors) {
  loadKernels("kernels");
  std::vector<uint16_t> halves;
  for (int i = 0; i != 64; ++i)
    halves.push_back(std::bit_cast<uint16_t>(_Float16(i)));
  CUdeviceptr h = upload(halves), f = upload(ramp<float>(64));
  ASSERT_EQ(run("halfvectors", 1, 8, {h}), CUDA_SUCCESS)
      << fake_cuda_last_fault();
  ASSERT_EQ(run("vectors", 1, 16, {f}), CUDA_SUCCESS) << fake_cuda_last_fault();
  halves = download<uint16_t>(h, 64);
  auto floats = download<float>(f, 64);
  for (int i = 0; i != 64; ++i) {
    EXPECT_EQ(std::bit_cast<_Float16>(halves[i]), _Float16(2 * i + 1));
    EXPECT_EQ(floats[i], float(i * (i % 4 + 2) + 1));
  }
}

TEST_P(KernelTest, integers) {
  loadKernels("kernels");
  const int64_t a = 0x123456789ABCDEF0, b = -987654321987654321;
  CUdeviceptr out = upload(std::vector<uint64_t>(12));
  ASSERT_EQ(run("integers", 1, 1, {out, uint64_t(a), uint64_t(b)}),
            CUDA_SUCCESS)
      << fake_cuda_last_fault();
  auto got = download<uint64_t>(out, 12);
  __int128 product = static_cast<__int128>(a) * b;
  auto a32 = uint32_t(a), b32 = uint32_t(b);
  uint64_t reversed = 0;
  for (int i = 0; i != 64; ++i)
    reversed |= (uint64_t(a) >> i & 1) << (63 - i);
  unsigned left = b32 % 32, right = uint64_t(b) % 64;
  const uint64_t expected[] = {
      3,
      4,
      reversed,
      __builtin_bswap32(a32),
      uint32_t((uint64_t(a32) << 32 | b32) << left >> 32),
      uint64_t(
          ((static_cast<unsigned __int128>(uint64_t(a)) << 64) | uint64_t(b)) >>
          right),
      int32_t(a32) > 0x3FFFFFFF || int32_t(a32) < -0x40000000,
      1,
      uint64_t(product >> 24),
      uint64_t(product / 1000003),
      uint64_t(std::max(int8_t(a), int8_t(b))),
      uint64_t(a) % uint64_t(b)};
  for (unsigned i = 0; i != 12; ++i)
    EXPECT_EQ(got[i], expected[i]) << i;
}

TEST_P(KernelTest, atomics) {
  loadKernels("kernels");
  std::vector<uint32_t> memory(10);
  memory[6] = 100;
  CUdeviceptr pointer = upload(memory);
  ASSERT_EQ(run("atomics", 1, 64, {pointer}), CUDA_SUCCESS)
      << fake_cuda_last_fault();
  auto got = download<uint32_t>(pointer, 10);
  EXPECT_EQ(got[0], 64u);
  EXPECT_EQ(std::bit_cast<float>(got[1]), 32);
  EXPECT_EQ(std::bit_cast<double>(uint64_t(got[3]) << 32 | got[2]), 63);
  EXPECT_EQ(got[4], 64u << 8);
  EXPECT_EQ(std::bit_cast<_Float16>(uint16_t(got[5])), _Float16(64));
  EXPECT_EQ(got[6], 40u);
  EXPECT_EQ(got[8], 7u);
}

TEST_P(KernelTest, reduce) {
  loadKernels("kernels");
  CUdeviceptr in = upload(ramp<int>(128)), out = upload(std::vector<int>(1));
  ASSERT_EQ(run("reduce", 1, 128, {in, out}), CUDA_SUCCESS)
      << fake_cuda_last_fault();
  EXPECT_EQ(download<int>(out, 1)[0], 127 * 64);
}

TEST_P(KernelTest, matrices) {
  loadKernels("matrices");
  CUdeviceptr out = upload(std::vector<double>(128));
  ASSERT_EQ(run("tf32", 1, 32, {out}), CUDA_SUCCESS) << fake_cuda_last_fault();
  auto floats = download<float>(out, 128);
  for (int i = 0; i != 16; ++i)
    for (int j = 0; j != 8; ++j) {
      float sum = 0.5f;
      for (int k = 0; k != 8; ++k)
        sum += float((i + k) * (k - j));
      EXPECT_EQ(floats[i * 8 + j], sum) << i << ", " << j;
    }
  ASSERT_EQ(run("bf16", 1, 32, {out}), CUDA_SUCCESS) << fake_cuda_last_fault();
  floats = download<float>(out, 32);
  for (int t = 0; t != 32; ++t)
    EXPECT_EQ(floats[t], 16 + t);
  ASSERT_EQ(run("f64", 1, 32, {out}), CUDA_SUCCESS) << fake_cuda_last_fault();
  auto doubles = download<double>(out, 64);
  for (int i = 0; i != 8; ++i)
    for (int j = 0; j != 8; ++j)
      EXPECT_EQ(doubles[i * 8 + j], i * j * 4 + 1);
  ASSERT_EQ(run("transpose", 1, 32, {out}), CUDA_SUCCESS)
      << fake_cuda_last_fault();
  auto pairs = download<uint32_t>(out, 64);
  for (uint32_t m = 0; m != 2; ++m)
    for (uint32_t t = 0; t != 32; ++t) {
      uint32_t column = t / 4, row = t % 4 * 2;
      uint32_t low = m * 64 + row * 8 + column, high = low + 8;
      EXPECT_EQ(pairs[m * 32 + t], low | high << 16);
    }
}

INSTANTIATE_TEST_SUITE_P(Chips, KernelTest,
                         testing::Values("sm_80", "sm_90", "sm_100"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

} // namespace
