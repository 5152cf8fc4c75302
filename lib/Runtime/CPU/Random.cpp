//===- Random.cpp - Streams of random numbers -----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numbers of a stream are computed by the model from the stream's number
// and their position; here is what makes streams differ.
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include <time.h>

/// The finalizer of SplitMix64 (Steele, Lea, Flood: "Fast splittable
/// pseudorandom number generators", 2014).
static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

static constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;

/// Another number in each run of the process.
static uint64_t drawEntropy(const loopc_run *run) {
  static uint64_t numRuns = 0;
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t x = mix(static_cast<uint64_t>(now.tv_sec) * 1000000000 +
                   static_cast<uint64_t>(now.tv_nsec));
  x = mix(x + reinterpret_cast<uintptr_t>(run));
  return mix(x + kGolden * __atomic_add_fetch(&numRuns, 1, __ATOMIC_RELAXED));
}

extern "C" int64_t loopc_rt_random_stream(loopc_run *run, int32_t hasSeed,
                                          int64_t seed) {
  uint64_t number =
      __atomic_add_fetch(&run->numRandomStreams, 1, __ATOMIC_RELAXED);
  uint64_t key =
      hasSeed ? mix(static_cast<uint64_t>(seed) + kGolden) : drawEntropy(run);
  return static_cast<int64_t>(mix(key + kGolden * number));
}
