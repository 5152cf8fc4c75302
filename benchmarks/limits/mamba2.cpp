//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transposed_state.h"

/// S = decay S + (rate x) b', y = S c + skip x.
static inline void step(float decay, float rate, float skip, const float *x,
                        const float *b, const float *c, float *s, float *y) {
  Row given = loadRow(x), read{};
  for (int64_t j = 0; j < kWidth; ++j)
    for (int k = 0; k < kVectors; ++k) {
      float *at = s + j * kWidth + 16 * k;
      Vector now = decay * load(at) + rate * b[j] * given.v[k];
      store(now, at);
      read.v[k] += c[j] * now;
    }
  for (int k = 0; k < kVectors; ++k)
    read.v[k] += skip * given.v[k];
  storeRow(read, y);
}

extern "C" void limit(const Tensor *in, Tensor *out) {
  const float *rates = in[4].floats();
  runHeads(in, out, [&](int64_t h, int64_t at, float *s, float *y) {
    int64_t row = at * kWidth;
    step(expOf(rates[at] * in[5].floats()[h]), rates[at], in[6].floats()[h],
         in[1].floats() + row, in[2].floats() + row, in[3].floats() + row, s,
         y);
  });
}
