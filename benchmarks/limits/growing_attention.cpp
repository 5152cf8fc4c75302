//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Buffers of the final size: each step writes its own rows.

#include "limit.h"

#include <algorithm>

/// The compiler may not add in another order: so it is written in vectors.
static float dot(const float *x, const float *y, int64_t width) {
  Vector sums = {};
  int64_t d = 0;
  for (; d + 16 <= width; d += 16)
    sums += load(x + d) * load(y + d);
  float sum = 0;
  for (int lane = 0; lane < 16; ++lane)
    sum += sums[lane];
  for (; d < width; ++d)
    sum += x[d] * y[d];
  return sum;
}

extern "C" void limit(const Tensor *in, Tensor *out) {
  int64_t trips = *in[0].ints() < 0 ? 0 : *in[0].ints();
  int64_t batch = in[1].shape[0], heads = batch * in[1].shape[1];
  int64_t past = in[1].shape[2], width = in[1].shape[3], all = past + trips;
  float scale = *in[4].floats();
  auto *keys = allocate<float>(out[0], {batch, heads / batch, all, width});
  auto *values = allocate<float>(out[1], {batch, heads / batch, all, width});
  auto *last = allocate<float>(out[2], {batch, heads / batch, 1, width});
  std::memcpy(last, in[3].data, static_cast<size_t>(heads * width) * 4);
  std::vector<float> scores(static_cast<size_t>(all));
  std::vector<float> sum(static_cast<size_t>(width));
  for (int64_t h = 0; h < heads; ++h) {
    float *k = keys + h * all * width, *v = values + h * all * width;
    size_t known = static_cast<size_t>(past * width);
    std::memcpy(k, in[1].floats() + h * past * width, known * 4);
    std::memcpy(v, in[2].floats() + h * past * width, known * 4);
    float *x = last + h * width;
    for (int64_t used = past; used < all; ++used) {
      float *key = k + used * width, *value = v + used * width;
      for (int64_t d = 0; d < width; ++d) {
        key[d] = tanhOf(x[d]);
        value[d] = x[d] - key[d];
      }
      float most = -INFINITY;
      for (int64_t t = 0; t <= used; ++t) {
        float product = dot(x, k + t * width, width);
        scores[static_cast<size_t>(t)] = product * scale;
        most = most > product * scale ? most : product * scale;
      }
      float total = 0;
      std::fill(sum.begin(), sum.end(), 0.0f);
      for (int64_t t = 0; t <= used; ++t)
        total += scores[static_cast<size_t>(t)] =
            expOf(scores[static_cast<size_t>(t)] - most);
      for (int64_t t = 0; t <= used; ++t)
        for (int64_t d = 0; d < width; ++d)
          sum[static_cast<size_t>(d)] +=
              scores[static_cast<size_t>(t)] * v[t * width + d];
      for (int64_t d = 0; d < width; ++d)
        x[d] = sum[static_cast<size_t>(d)] / total + key[d];
    }
  }
}
