//===- FourierTest.cpp - Discrete Fourier transforms ----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include <gmock/gmock.h>

#include <cmath>
#include <complex>
#include <thread>

using namespace loopc::test;
using testing::HasSubstr;

namespace {
using Numbers = std::vector<std::complex<double>>;

/// `count` runs of `n` numbers between -1 and 1.
Numbers makeNumbers(int64_t count, int64_t n) {
  Numbers numbers(static_cast<size_t>(count * n));
  uint32_t state = 1;
  auto next = [&] {
    state = state * 1664525 + 1013904223;
    return static_cast<double>(state >> 8) / (1 << 23) - 1;
  };
  for (std::complex<double> &number : numbers)
    number = {next(), next()};
  return numbers;
}

/// The definition, in long double.
Numbers transformSlowly(const Numbers &x, int64_t count, int64_t n,
                        bool inverse) {
  using Wide = std::complex<long double>;
  std::vector<Wide> roots;
  for (int64_t k = 0; k < n; ++k)
    roots.push_back(std::polar(
        1.0L, (inverse ? 2 : -2) * 3.141592653589793238462643383L *
                  static_cast<long double>(k) / static_cast<long double>(n)));
  Numbers y;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = 0; k < n; ++k) {
      Wide sum = 0;
      for (int64_t m = 0; m < n; ++m)
        sum += Wide(x[static_cast<size_t>(i * n + m)]) *
               roots[static_cast<size_t>(k * m % n)];
      y.push_back(std::complex<double>(sum));
    }
  return y;
}

/// Runs `entry`, which plays the compiled model.
Outcome runEntry(Entry entry, uint64_t memoryLimit = 0) {
  loopc_run_options options = makeOptions();
  options.memory_limit = memoryLimit;
  TestModel model(entry);
  std::vector<loopc_value> outputs;
  return runModel(model, {}, outputs, &options);
}

TEST(Fourier, EveryLength) {
  Outcome outcome = runEntry([](void *raw, void **, void **) {
    auto *run = static_cast<loopc_run *>(raw);
    std::vector<int64_t> lengths;
    for (int64_t n = 1; n <= 130; ++n)
      lengths.push_back(n);
    lengths.insert(lengths.end(), {160, 169, 257, 320, 400, 441, 509, 512});
    for (int64_t n : lengths)
      for (bool inverse : {false, true}) {
        Numbers x = makeNumbers(3, n), y = x;
        EXPECT_EQ(loopc_rt_fourier(run, reinterpret_cast<double *>(y.data()), 3,
                                   n, inverse),
                  0);
        Numbers want = transformSlowly(x, 3, n, inverse);
        for (size_t k = 0; k < y.size(); ++k)
          EXPECT_LT(std::abs(y[k] - want[k]),
                    1e-15 * std::sqrt(static_cast<double>(n)) * 8)
              << "length " << n << ", number " << k;
      }
    return 0;
  });
  EXPECT_EQ(outcome.status, LOOPC_OK);
}

/// Transforms `x` forth; the compiled model's part of it.
int32_t transformOnce(void *raw, Numbers &x) {
  return loopc_rt_fourier(static_cast<loopc_run *>(raw),
                          reinterpret_cast<double *>(x.data()), 1,
                          static_cast<int64_t>(x.size()), 0);
}

// Roots of one are made once for a length and not for each call. Where a run's
// memory is limited they are the run's.
TEST(Fourier, TablesAreKept) {
  Entry entry = [](void *raw, void **, void **) {
    for (int64_t n : {512, 331, 512, 331, 96, 100, 101, 103, 107, 512}) {
      Numbers x = makeNumbers(1, n), y = x;
      EXPECT_EQ(transformOnce(raw, y), 0);
      Numbers want = transformSlowly(x, 1, n, false);
      for (size_t k = 0; k < y.size(); ++k)
        EXPECT_LT(std::abs(y[k] - want[k]), 1e-12) << "length " << n;
    }
    return 0;
  };
  Outcome outcome = runEntry(entry);
  EXPECT_EQ(outcome.status, LOOPC_OK);
  EXPECT_EQ(outcome.statistics.allocations, 0u);
  outcome = runEntry(entry, /*memoryLimit=*/1 << 20);
  EXPECT_EQ(outcome.status, LOOPC_OK);
  EXPECT_EQ(outcome.statistics.allocations, 10u);
}

TEST(Fourier, TablesOfThreadsAreTheirOwn) {
  auto work = [] {
    Outcome outcome = runEntry([](void *raw, void **, void **) {
      for (int k = 0; k < 200; ++k)
        for (int64_t n : {64, 60, 31, 37, 49, 50}) {
          Numbers x(static_cast<size_t>(n), 1), want(x.size(), 0);
          want[0] = static_cast<double>(n);
          EXPECT_EQ(transformOnce(raw, x), 0);
          for (size_t i = 0; i < x.size(); ++i)
            EXPECT_LT(std::abs(x[i] - want[i]), 1e-12) << "length " << n;
        }
      return 0;
    });
    EXPECT_EQ(outcome.status, LOOPC_OK);
  };
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back(work);
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Fourier, Nothing) {
  Outcome outcome = runEntry([](void *raw, void **, void **) {
    auto *run = static_cast<loopc_run *>(raw);
    EXPECT_EQ(loopc_rt_fourier(run, nullptr, 0, 512, 0), 0);
    EXPECT_EQ(loopc_rt_fourier(run, nullptr, 4, 0, 0), 0);
    return 0;
  });
  EXPECT_EQ(outcome.status, LOOPC_OK);
}

TEST(Fourier, NoMemory) {
  Outcome outcome = runEntry(
      [](void *raw, void **, void **) {
        Numbers x = makeNumbers(1, 4096);
        int status =
            loopc_rt_fourier(static_cast<loopc_run *>(raw),
                             reinterpret_cast<double *>(x.data()), 1, 4096, 0);
        EXPECT_NE(status, 0);
        return status;
      },
      /*memoryLimit=*/1000);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_MEMORY);
}
} // namespace
