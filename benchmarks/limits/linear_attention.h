//===- linear_attention.h - Linear attention by hand ------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Heads outside of steps: the state of one stays in the first cache. It goes by
// once a step, twice with the delta rule, where what is written must be known.

#ifndef LOOPC_BENCHMARKS_LINEARATTENTION_H
#define LOOPC_BENCHMARKS_LINEARATTENTION_H

#include "limit.h"

constexpr int64_t kWidth = 64;

/// One step of one head with the state s[kWidth, kWidth].
template <bool Gated, bool Delta>
inline void step(const float *__restrict q, const float *__restrict k,
                 const float *__restrict v, float decay, float rate,
                 float scale, float *__restrict s, float *__restrict y) {
  float write[kWidth], read[kWidth] = {};
  if (Delta) {
    float old[kWidth] = {};
    for (int64_t i = 0; i < kWidth; ++i)
      for (int64_t j = 0; j < kWidth; ++j)
        old[j] +=
            k[i] * (Gated ? decay * s[i * kWidth + j] : s[i * kWidth + j]);
    for (int64_t j = 0; j < kWidth; ++j)
      write[j] = rate * (v[j] - old[j]);
  } else {
    std::memcpy(write, v, sizeof(write));
  }
  for (int64_t i = 0; i < kWidth; ++i)
    for (int64_t j = 0; j < kWidth; ++j) {
      float old = s[i * kWidth + j];
      float now = (Gated ? decay * old : old) + k[i] * write[j];
      s[i * kWidth + j] = now;
      read[j] += q[i] * now;
    }
  for (int64_t j = 0; j < kWidth; ++j)
    y[j] = scale * read[j];
}

/// Inputs: q, k, v [batch, steps, heads * kWidth], s [batch, heads, kWidth,
/// kWidth], and [batch, steps, heads] the logarithms of the decays, if there
/// are such, and the rates. Outputs: as v, and as s.
template <bool Gated, bool Delta> void attend(const Tensor *in, Tensor *out) {
  int64_t batch = in[0].shape[0], steps = in[0].shape[1];
  int64_t heads = in[0].shape[2] / kWidth;
  const float *q = in[0].floats(), *k = in[1].floats(), *v = in[2].floats();
  const float *decays = Gated ? in[4].floats() : nullptr;
  const float *rates = Delta ? in[4 + Gated].floats() : nullptr;
  float *y = allocate<float>(out[0], {batch, steps, heads * kWidth});
  float *s = allocate<float>(out[1], {batch, heads, kWidth, kWidth});
  int64_t size = kWidth * kWidth;
  std::memcpy(s, in[3].data, static_cast<size_t>(batch * heads * size) * 4);
  float scale = 1.0f / std::sqrt(static_cast<float>(kWidth));
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t t = 0; t < steps; ++t) {
        int64_t at = (b * steps + t) * heads + h, row = at * kWidth;
        step<Gated, Delta>(q + row, k + row, v + row,
                           Gated ? expOf(decays[at]) : 1.0f,
                           Delta ? rates[at] : 1.0f, scale,
                           s + (b * heads + h) * size, y + row);
      }
}

#endif // LOOPC_BENCHMARKS_LINEARATTENTION_H
