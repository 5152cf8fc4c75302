//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The product by panels of the weights, which are packed once; the gates of a
// vector of units in registers.

#include "limit.h"

#include <algorithm>

extern "C" void limit(const Tensor *in, Tensor *out) {
  // h, c, n, m, the rows and the weights, in the order of the model.
  int64_t width = in[0].shape[1], steps = in[4].shape[0], gates = 4 * width;
  size_t bytes = static_cast<size_t>(width) * sizeof(float);
  Packed r(in[5].floats(), width, gates, gates);
  float *states[4];
  for (int k = 0; k < 4; ++k) {
    states[k] = allocate<float>(out[k], {1, width});
    std::memcpy(states[k], in[k].data, bytes);
  }
  float *rows = allocate<float>(out[4], {steps, 1, width});
  std::vector<float> sums(static_cast<size_t>(gates));
  const float *before = states[0];
  for (int64_t t = 0; t < steps; ++t) {
    multiply(before, 1, width, r, in[4].floats() + t * gates, gates,
             sums.data(), gates);
    const float *__restrict s = sums.data();
    float *__restrict h = rows + t * width, *__restrict c = states[1],
                      *__restrict n = states[2], *__restrict m = states[3];
    for (int64_t k = 0; k < width; ++k) {
      float past = s[2 * width + k] + m[k], given = s[width + k];
      m[k] = past > given ? past : given;
      float keep = expOf(past - m[k]), put = expOf(given - m[k]);
      c[k] = keep * c[k] + put * tanhOf(s[k]);
      n[k] = keep * n[k] + put;
      h[k] = sigmoidOf(s[3 * width + k]) * (c[k] / n[k]);
    }
    before = h;
  }
  std::memcpy(states[0], before, bytes);
}
