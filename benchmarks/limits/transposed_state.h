//===- transposed_state.h - Recurrences of matrices by hand -----*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Heads outside of steps: the state of one stays in the first cache. Models
// have its rows times a vector, which is sums along vectors; here it is
// transposed, once for all steps, so that sums of all rows are in registers.

#ifndef LOOPC_BENCHMARKS_TRANSPOSEDSTATE_H
#define LOOPC_BENCHMARKS_TRANSPOSEDSTATE_H

#include "limit.h"

constexpr int64_t kWidth = 64;
constexpr int kVectors = kWidth / 16;

/// The vectors of kWidth neighbours.
struct Row {
  Vector v[kVectors];
};

inline Row loadRow(const float *from) {
  Row row;
  for (int k = 0; k < kVectors; ++k)
    row.v[k] = load(from + 16 * k);
  return row;
}

inline void storeRow(const Row &row, float *to) {
  for (int k = 0; k < kVectors; ++k)
    store(row.v[k], to + 16 * k);
}

inline void transpose(const float *from, float *to) {
  for (int64_t i = 0; i < kWidth; ++i)
    for (int64_t j = 0; j < kWidth; ++j)
      to[j * kWidth + i] = from[i * kWidth + j];
}

/// Runs step(h, t, s, y) with the transposed state s of head h and the place y
/// of its result, for all steps of all heads. The state of the model [heads,
/// kWidth, kWidth] is its first input and output.
template <typename Step>
void runHeads(const Tensor *in, Tensor *out, Step step) {
  int64_t steps = in[1].shape[0], heads = in[0].shape[0];
  float *last = allocate<float>(out[0], {heads, kWidth, kWidth});
  float *y = allocate<float>(out[1], {steps, heads, kWidth});
  alignas(64) float s[kWidth * kWidth];
  for (int64_t h = 0; h < heads; ++h) {
    transpose(in[0].floats() + h * kWidth * kWidth, s);
    for (int64_t t = 0; t < steps; ++t)
      step(h, t * heads + h, s, y + (t * heads + h) * kWidth);
    transpose(s, last + h * kWidth * kWidth);
  }
}

#endif // LOOPC_BENCHMARKS_TRANSPOSEDSTATE_H
