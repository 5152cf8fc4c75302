//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Tiles of 16 rows and 16 columns: a tile is read row by row, each a cache
// line, summed up column by column, and written row by row.

#include "limit.h"

extern "C" void limit(const Tensor *in, Tensor *out) {
  int64_t rows = in[1].shape[0], length = in[1].shape[1];
  const float *x = in[1].floats();
  auto *last = allocate<float>(out[0], {rows});
  auto *all = allocate<float>(out[1], {rows, length});
  std::memcpy(last, in[0].data, static_cast<size_t>(rows) * sizeof(float));
  constexpr int64_t kTile = 16;
  for (int64_t r = 0; r < rows; r += kTile) {
    int64_t height = rows - r < kTile ? rows - r : kTile;
    float sums[kTile] = {};
    std::memcpy(sums, last + r, static_cast<size_t>(height) * sizeof(float));
    for (int64_t end = length; end > 0; end -= kTile) {
      int64_t begin = end < kTile ? 0 : end - kTile, width = end - begin;
      float tile[kTile][kTile];
      for (int64_t k = 0; k < height; ++k)
        for (int64_t t = 0; t < width; ++t)
          tile[t][k] = x[(r + k) * length + begin + t];
      for (int64_t t = width - 1; t >= 0; --t)
        for (int64_t k = 0; k < kTile; ++k)
          tile[t][k] = sums[k] += tile[t][k];
      for (int64_t k = 0; k < height; ++k)
        for (int64_t t = 0; t < width; ++t)
          all[(r + k) * length + begin + t] = tile[t][k];
    }
    std::memcpy(last + r, sums, static_cast<size_t>(height) * sizeof(float));
  }
}
