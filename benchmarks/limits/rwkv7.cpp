//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transposed_state.h"

/// S = S diag(w) + (S a) b' + v k', y = S r: what is removed must be known
/// before the state is written.
static inline void step(const float *r, const float *w, const float *k,
                        const float *v, const float *a, const float *b,
                        float *s, float *y) {
  Row removed{}, read{}, value = loadRow(v);
  for (int64_t j = 0; j < kWidth; ++j)
    for (int x = 0; x < kVectors; ++x)
      removed.v[x] += a[j] * load(s + j * kWidth + 16 * x);
  for (int64_t j = 0; j < kWidth; ++j)
    for (int x = 0; x < kVectors; ++x) {
      float *at = s + j * kWidth + 16 * x;
      Vector now = w[j] * load(at) + b[j] * removed.v[x] + k[j] * value.v[x];
      store(now, at);
      read.v[x] += r[j] * now;
    }
  storeRow(read, y);
}

extern "C" void limit(const Tensor *in, Tensor *out) {
  runHeads(in, out, [&](int64_t, int64_t at, float *s, float *y) {
    at *= kWidth;
    step(in[1].floats() + at, in[2].floats() + at, in[3].floats() + at,
         in[4].floats() + at, in[5].floats() + at, in[6].floats() + at, s, y);
  });
}
