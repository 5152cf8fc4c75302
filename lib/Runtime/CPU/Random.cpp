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

/// What loopc_seed() was called with, if it was; zero is a seed, too.
static uint64_t givenSeed = 0;
static int32_t isSeeded = 0;
/// Streams without a seed that were begun, since the seed was given.
static uint64_t numUnseeded = 0;

/// Another number for each stream of the process.
static uint64_t drawEntropy(const loopc_run *run) {
  uint64_t number = __atomic_add_fetch(&numUnseeded, 1, __ATOMIC_RELAXED);
  if (__atomic_load_n(&isSeeded, __ATOMIC_ACQUIRE))
    return mix(__atomic_load_n(&givenSeed, __ATOMIC_RELAXED) +
               kGolden * number);
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t x = mix(static_cast<uint64_t>(now.tv_sec) * 1000000000 +
                   static_cast<uint64_t>(now.tv_nsec));
  x = mix(x + reinterpret_cast<uintptr_t>(run));
  return mix(x + kGolden * number);
}

extern "C" void loopc_seed(uint64_t seed) {
  __atomic_store_n(&givenSeed, mix(seed + kGolden), __ATOMIC_RELAXED);
  __atomic_store_n(&numUnseeded, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&isSeeded, 1, __ATOMIC_RELEASE);
}

extern "C" int64_t loopc_rt_random_stream(loopc_run *run, int32_t hasSeed,
                                          int64_t seed) {
  uint64_t number =
      __atomic_add_fetch(&run->numRandomStreams, 1, __ATOMIC_RELAXED);
  uint64_t key =
      hasSeed ? mix(static_cast<uint64_t>(seed) + kGolden) : drawEntropy(run);
  return static_cast<int64_t>(mix(key + kGolden * number));
}
