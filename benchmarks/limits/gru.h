//===- gru.h - The GRU cell by hand -----------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_BENCHMARKS_GRU_H
#define LOOPC_BENCHMARKS_GRU_H

#include "limit.h"

/// A GRU for one row: gates z, r, h.
class GRU {
public:
  /// `r` [width, 3 width] in C order.
  GRU(const float *r, int64_t width)
      : width(width), gates(r, width, 2 * width, 3 * width),
        candidate(r + 2 * width, width, width, 3 * width),
        sums(static_cast<size_t>(2 * width)), mixed(sums.size()) {}

  /// `given` [3 width] is x W + bias; `state` becomes the next one.
  void step(const float *given, float *state) {
    multiply(state, 1, width, gates, given, 0, sums.data(), width);
    float *z = sums.data(), *r = z + width, *kept = mixed.data();
    for (int64_t k = 0; k < width; ++k) {
      z[k] = sigmoidOf(z[k]);
      kept[k] = sigmoidOf(r[k]) * state[k];
    }
    multiply(kept, 1, width, candidate, given + 2 * width, 0, r, width);
    for (int64_t k = 0; k < width; ++k)
      state[k] = (1 - z[k]) * tanhOf(r[k]) + z[k] * state[k];
  }

private:
  int64_t width;
  Packed gates, candidate;
  std::vector<float> sums, mixed;
};

#endif // LOOPC_BENCHMARKS_GRU_H
