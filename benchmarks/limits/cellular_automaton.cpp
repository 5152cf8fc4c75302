//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Two planes with a border of zeros, which take turns: neighbours are read
// where they lie, and summed in the order of the model.

#include "limit.h"

#include <utility>

extern "C" void limit(const Tensor *in, Tensor *out) {
  int64_t trips = *in[0].ints();
  int64_t height = in[1].shape[0], width = in[1].shape[1], stride = width + 2;
  std::vector<float> one(static_cast<size_t>((height + 2) * stride));
  std::vector<float> other(one.size());
  float *was = one.data(), *is = other.data();
  size_t bytes = static_cast<size_t>(width) * sizeof(float);
  for (int64_t i = 0; i < height; ++i)
    std::memcpy(was + (i + 1) * stride + 1, in[1].floats() + i * width, bytes);
  for (int64_t t = 0; t < trips; ++t, std::swap(was, is))
    for (int64_t i = 0; i < height; ++i) {
      const float *__restrict up = was + i * stride;
      const float *__restrict row = up + stride;
      const float *__restrict down = row + stride;
      float *__restrict to = is + (i + 1) * stride + 1;
      for (int64_t j = 0; j < width; ++j) {
        float n = up[j] + up[j + 1] + up[j + 2] + row[j] + row[j + 2] +
                  down[j] + down[j + 1] + down[j + 2];
        to[j] = (n == 3.0f) | ((n == 2.0f) & (row[j + 1] > 0.5f)) ? 1.0f : 0.0f;
      }
    }
  float *cells = allocate<float>(out[0], {height, width});
  for (int64_t i = 0; i < height; ++i)
    std::memcpy(cells + i * width, was + (i + 1) * stride + 1, bytes);
}
