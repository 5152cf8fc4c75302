//===- lstm.h - The LSTM cell by hand ---------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_BENCHMARKS_LSTM_H
#define LOOPC_BENCHMARKS_LSTM_H

#include "limit.h"

/// Runs the cell over `xs` [steps, batch, width] with the gates i, o, f, g
/// beside each other: `bias` [4 width]. `rows` [steps, batch, width] gets the
/// states; `state` and `cell` [batch, width] hold the first and get the last.
inline void runLSTM(const float *xs, int64_t steps, int64_t batch,
                    int64_t width, const Packed &w, const Packed &r,
                    const float *bias, float *rows, float *state, float *cell) {
  int64_t gates = 4 * width;
  std::vector<float> given(static_cast<size_t>(steps * batch * gates));
  std::vector<float> sums(static_cast<size_t>(batch * gates));
  multiply(xs, steps * batch, width, w, bias, 0, given.data(), gates);
  const float *before = state;
  for (int64_t t = 0; t < steps; ++t) {
    multiply(before, batch, width, r, given.data() + t * batch * gates, gates,
             sums.data(), gates);
    float *row = rows + t * batch * width;
    for (int64_t b = 0; b < batch; ++b) {
      const float *s = sums.data() + b * gates;
      float *c = cell + b * width, *h = row + b * width;
      for (int64_t k = 0; k < width; ++k) {
        float keep = sigmoidOf(s[2 * width + k]) * c[k];
        c[k] = keep + sigmoidOf(s[k]) * tanhOf(s[3 * width + k]);
        h[k] = sigmoidOf(s[width + k]) * tanhOf(c[k]);
      }
    }
    before = row;
  }
  if (steps)
    std::memcpy(state, before, static_cast<size_t>(batch * width) * 4);
}

#endif // LOOPC_BENCHMARKS_LSTM_H
