//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Loops interchanged: a tile of points stays in registers for all iterations.

#include "limit.h"

using Ints = int32_t __attribute__((vector_size(64)));

extern "C" void limit(const Tensor *in, Tensor *out) {
  constexpr int64_t kTile = 4; // vectors at a time: they hide latency
  int64_t trips = *in[0].ints(), points = in[1].shape[0] * in[1].shape[1];
  auto *counts = allocate<int32_t>(out[0], {in[1].shape[0], in[1].shape[1]});
  std::vector<float> re(static_cast<size_t>(points + 16 * kTile));
  std::vector<float> im(re.size());
  std::vector<int32_t> all(re.size());
  std::memcpy(re.data(), in[1].data, static_cast<size_t>(points) * 4);
  std::memcpy(im.data(), in[2].data, static_cast<size_t>(points) * 4);
  for (int64_t p = 0; p < points; p += 16 * kTile) {
    Vector a[kTile] = {}, b[kTile] = {}, cr[kTile], ci[kTile];
    Ints n[kTile] = {};
    std::memcpy(cr, &re[static_cast<size_t>(p)], sizeof(cr));
    std::memcpy(ci, &im[static_cast<size_t>(p)], sizeof(ci));
    for (int64_t i = 0; i < trips; ++i)
      for (int t = 0; t < kTile; ++t) {
        Vector aa = a[t] * a[t], bb = b[t] * b[t];
        Ints inside = aa + bb <= 4.0f;
        Vector an = aa - bb + cr[t], bn = a[t] * b[t] * 2.0f + ci[t];
        a[t] = inside ? an : a[t];
        b[t] = inside ? bn : b[t];
        n[t] -= inside;
      }
    std::memcpy(&all[static_cast<size_t>(p)], n, sizeof(n));
  }
  std::memcpy(counts, all.data(), static_cast<size_t>(points) * 4);
}
