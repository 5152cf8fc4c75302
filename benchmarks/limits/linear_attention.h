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

/// What an operator or a loop is given, for `heads` heads: rows of `heads`
/// times kWidth and of `heads` numbers.
struct Rows {
  int64_t steps, heads;
  const float *q, *k, *v, *decays, *rates;
  float scale;
};

/// All steps of all heads with the states `s`. A decay is `decayOf` of what is
/// given.
template <bool Gated, bool Delta, typename DecayOf>
void attendRows(const Rows &rows, DecayOf decayOf, float *s, float *y) {
  for (int64_t h = 0; h < rows.heads; ++h)
    for (int64_t t = 0; t < rows.steps; ++t) {
      int64_t at = t * rows.heads + h, row = at * kWidth;
      step<Gated, Delta>(rows.q + row, rows.k + row, rows.v + row,
                         Gated ? decayOf(rows.decays[at]) : 1.0f,
                         Delta ? rows.rates[at] : 1.0f, rows.scale,
                         s + h * kWidth * kWidth, y + row);
    }
}

/// Inputs: q, k, v [batch, steps, heads * kWidth], s [batch, heads, kWidth,
/// kWidth], and [batch, steps, heads] the logarithms of the decays, if there
/// are such, and the rates. Outputs: as v, and as s.
template <bool Gated, bool Delta> void attend(const Tensor *in, Tensor *out) {
  int64_t batch = in[0].shape[0], steps = in[0].shape[1];
  int64_t heads = in[0].shape[2] / kWidth;
  int64_t wide = steps * heads * kWidth, size = heads * kWidth * kWidth;
  float *y = allocate<float>(out[0], {batch, steps, heads * kWidth});
  float *s = allocate<float>(out[1], {batch, heads, kWidth, kWidth});
  std::memcpy(s, in[3].data, static_cast<size_t>(batch * size) * 4);
  for (int64_t b = 0; b < batch; ++b) {
    int64_t numbers = b * steps * heads;
    Rows rows{steps,
              heads,
              in[0].floats() + b * wide,
              in[1].floats() + b * wide,
              in[2].floats() + b * wide,
              Gated ? in[4].floats() + numbers : nullptr,
              Delta ? in[4 + Gated].floats() + numbers : nullptr,
              1.0f / std::sqrt(static_cast<float>(kWidth))};
    attendRows<Gated, Delta>(rows, expOf, s + b * size, y + b * wide);
  }
}

/// The same of a loop over rows. Inputs: s [heads, kWidth, kWidth], q, k, v
/// [steps, heads, kWidth], and [steps, heads] the decays, if there are such,
/// and the rates. Outputs: as s, and as v.
template <bool Gated, bool Delta>
void attendLoop(const Tensor *in, Tensor *out) {
  int64_t steps = in[1].shape[0], heads = in[1].shape[1];
  float *s = allocate<float>(out[0], {heads, kWidth, kWidth});
  float *y = allocate<float>(out[1], {steps, heads, kWidth});
  std::memcpy(s, in[0].data, static_cast<size_t>(heads * kWidth * kWidth) * 4);
  Rows rows{steps,
            heads,
            in[1].floats(),
            in[2].floats(),
            in[3].floats(),
            Gated ? in[4].floats() : nullptr,
            Delta ? in[4 + Gated].floats() : nullptr,
            1.0f};
  attendRows<Gated, Delta>(rows, [](float decay) { return decay; }, s, y);
}

#endif // LOOPC_BENCHMARKS_LINEARATTENTION_H
