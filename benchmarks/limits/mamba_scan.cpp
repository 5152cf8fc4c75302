//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Loops interchanged: the states of a channel stay in a register for all steps.

#include "limit.h"

extern "C" void limit(const Tensor *in, Tensor *out) {
  int64_t steps = in[0].shape[0], channels = in[0].shape[2];
  constexpr int64_t kStates = 16, kTile = 4;
  const float *x = in[0].floats(), *dt = in[1].floats(), *a = in[2].floats(),
              *b = in[3].floats(), *c = in[4].floats(), *h0 = in[5].floats();
  float *rows = allocate<float>(out[0], {steps, 1, channels});
  float *last = allocate<float>(out[1], {1, channels, kStates});
  for (int64_t d = 0; d < channels; d += kTile) {
    float h[kTile][kStates], decay[kTile][kStates];
    std::memcpy(h, h0 + d * kStates, sizeof(h));
    std::memcpy(decay, a + d * kStates, sizeof(decay));
    for (int64_t t = 0; t < steps; ++t) {
      const float *bt = b + t * kStates, *ct = c + t * kStates;
      for (int k = 0; k < kTile; ++k) {
        float step = dt[t * channels + d + k];
        float in = x[t * channels + d + k] * step;
        float sum = 0;
        for (int n = 0; n < kStates; ++n) {
#pragma clang fp reassociate(on)
          h[k][n] = expOf(step * decay[k][n]) * h[k][n] + in * bt[n];
          sum += h[k][n] * ct[n];
        }
        rows[t * channels + d + k] = sum;
      }
    }
    std::memcpy(last + d * kStates, h, sizeof(h));
  }
}
