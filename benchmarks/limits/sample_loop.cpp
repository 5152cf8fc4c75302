//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Weights packed once; three products a sample.

#include "limit.h"

#include "gru.h"

extern "C" void limit(const Tensor *in, Tensor *out) {
  int64_t samples = *in[0].ints(), large = in[2].shape[1],
          small = in[3].shape[1];
  const float *wa = in[4].floats(), *biasA = in[6].floats(),
              *biasB = in[9].floats(), *v = in[10].floats();
  GRU first(in[5].floats(), large), second(in[8].floats(), small);
  Packed wb(in[7].floats(), large, 3 * small, 3 * small);
  float sample = *in[1].floats();
  float *rows = allocate<float>(out[0], {samples, 1, 1});
  float *a = allocate<float>(out[1], {1, large});
  float *b = allocate<float>(out[2], {1, small});
  std::memcpy(a, in[2].data, static_cast<size_t>(large) * 4);
  std::memcpy(b, in[3].data, static_cast<size_t>(small) * 4);
  std::vector<float> given(static_cast<size_t>(3 * large));
  for (int64_t i = 0; i < samples; ++i) {
    for (int64_t k = 0; k < 3 * large; ++k)
      given[static_cast<size_t>(k)] = sample * wa[k] + biasA[k];
    first.step(given.data(), a);
    multiply(a, 1, large, wb, biasB, 0, given.data(), 3 * small);
    second.step(given.data(), b);
    float sum = 0;
    for (int64_t k = 0; k < small; ++k)
      sum += b[k] * v[k];
    rows[i] = sample = std::tanh(sum);
  }
}
