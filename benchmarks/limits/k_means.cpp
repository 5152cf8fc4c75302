//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Coordinates of 16 points in vectors: distances, the nearest centre and the
// sums of each centre stay in registers or the first cache.

#include "limit.h"

using Ints = int32_t __attribute__((vector_size(64)));

namespace {
constexpr int64_t kWidth = 4, kClusters = 8;

/// Sums and numbers of the points of each centre, a lane each.
struct Sums {
  Vector values[kClusters][kWidth], counts[kClusters];
};
} // namespace

/// Of 16 points, the last of which may lie beyond the end.
static inline void addPoints(const Vector *x, const float *centres, Ints known,
                             Sums &sums) {
  Vector least = {};
  Ints nearest = {};
  for (int k = 0; k < kClusters; ++k) {
    Vector far = {};
    for (int d = 0; d < kWidth; ++d) {
      Vector gap = x[d] - centres[k * kWidth + d];
      far = d ? far + gap * gap : gap * gap;
    }
    Ints isLess = far < least;
    nearest = k == 0 ? Ints{} : isLess ? Ints{} + k : nearest;
    least = k == 0 ? far : isLess ? far : least;
  }
  for (int k = 0; k < kClusters; ++k) {
    Ints isOwn = (nearest == k) & known;
    for (int d = 0; d < kWidth; ++d)
      sums.values[k][d] += isOwn ? x[d] : Vector{};
    sums.counts[k] += isOwn ? Vector{} + 1.0f : Vector{};
  }
}

static float total(Vector lanes) {
  float sum = 0;
  for (int lane = 0; lane < 16; ++lane)
    sum += lanes[lane];
  return sum;
}

extern "C" void limit(const Tensor *in, Tensor *out) {
  int64_t trips = *in[0].ints(), points = in[1].shape[0];
  int64_t groups = (points + 15) / 16;
  const float *x = in[1].floats();
  float *centres = allocate<float>(out[0], {kClusters, kWidth});
  std::memcpy(centres, in[2].data, kClusters * kWidth * sizeof(float));
  auto *columns = static_cast<Vector *>(std::aligned_alloc(
      64, static_cast<size_t>(groups * kWidth) * sizeof(Vector) + 64));
  for (int64_t i = 0; i < groups * 16; ++i)
    for (int64_t d = 0; d < kWidth; ++d)
      columns[i / 16 * kWidth + d][i % 16] = i < points ? x[i * kWidth + d] : 0;
  const Ints lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  for (int64_t t = 0; t < trips; ++t) {
    Sums sums = {};
    for (int64_t g = 0; g < groups; ++g)
      addPoints(columns + g * kWidth, centres,
                lanes < static_cast<int32_t>(points - g * 16), sums);
    for (int k = 0; k < kClusters; ++k) {
      float count = total(sums.counts[k]);
      for (int d = 0; d < kWidth; ++d)
        centres[k * kWidth + d] =
            total(sums.values[k][d]) / (count > 1 ? count : 1);
    }
  }
  std::free(columns);
}
