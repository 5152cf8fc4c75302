//===- limit.h - What the hand-written models share -------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each file of this folder computes by hand what a model of the benchmark
// computes, as well as its author knew how to: one function
//
//   extern "C" void limit(const Tensor *in, Tensor *out);
//
// with the model's inputs and outputs in order. Like every engine it allocates
// its outputs in each run; the caller frees them.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_BENCHMARKS_LIMIT_H
#define LOOPC_BENCHMARKS_LIMIT_H

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <vector>

/// A tensor in C order.
struct Tensor {
  void *data;
  int64_t rank;
  int64_t shape[8];

  const float *floats() const { return static_cast<const float *>(data); }
  const int64_t *ints() const { return static_cast<const int64_t *>(data); }
};

/// Makes an output.
template <typename T>
T *allocate(Tensor &out, std::initializer_list<int64_t> shape) {
  int64_t count = 1;
  out.rank = 0;
  for (int64_t extent : shape) {
    out.shape[out.rank++] = extent;
    count *= extent;
  }
  size_t bytes = (static_cast<size_t>(count) * sizeof(T) + 63) / 64 * 64;
  out.data = std::aligned_alloc(64, bytes ? bytes : 64);
  return static_cast<T *>(out.data);
}

/// Hands the elements of a vector out.
template <typename T>
void copyOut(Tensor &out, const std::vector<T> &values,
             std::initializer_list<int64_t> shape) {
  std::memcpy(allocate<T>(out, shape), values.data(),
              values.size() * sizeof(T));
}

/// The value as it is rounded: no compiler puts what made it and what uses it
/// into one instruction that rounds once.
template <typename T> inline T rounded(T value) {
#if defined(__x86_64__)
  asm("" : "+x"(value));
#elif defined(__aarch64__)
  asm("" : "+w"(value));
#endif
  return value;
}

//===----------------------------------------------------------------------===//
// Functions that loops over them vectorise
//===----------------------------------------------------------------------===//

/// Cephes' polynomial; subnormal results are 0.
inline float expOf(float x) {
  x = x > 88.0f ? 88.0f : x < -87.0f ? -87.0f : x;
  float whole = std::floor(std::fma(x, 1.44269504f, 0.5f));
  float r = std::fma(whole, -0.693359375f, x);
  r = std::fma(whole, 2.12194440e-4f, r);
  float q = 1.9875691500e-4f;
  q = std::fma(q, r, 1.3981999507e-3f);
  q = std::fma(q, r, 8.3334519073e-3f);
  q = std::fma(q, r, 4.1665795894e-2f);
  q = std::fma(q, r, 1.6666665459e-1f);
  q = std::fma(q, r, 5.0000001201e-1f);
  float p = std::fma(q, r * r, r) + 1.0f;
  int32_t bits = (static_cast<int32_t>(whole) + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, sizeof(scale));
  return p * scale;
}

inline float sigmoidOf(float x) { return 1.0f / (1.0f + expOf(-x)); }

/// Eigen's rational approximation.
inline float tanhOf(float x) {
  x = x > 7.9053111f ? 7.9053111f : x < -7.9053111f ? -7.9053111f : x;
  float y = x * x;
  float p = -2.76076847742355e-16f;
  p = std::fma(p, y, 2.00018790482477e-13f);
  p = std::fma(p, y, -8.60467152213735e-11f);
  p = std::fma(p, y, 5.12229709037114e-08f);
  p = std::fma(p, y, 1.48572235717979e-05f);
  p = std::fma(p, y, 6.37261928875436e-04f);
  p = std::fma(p, y, 4.89352455891786e-03f);
  float q = 1.19825839466702e-06f;
  q = std::fma(q, y, 1.18534705686654e-04f);
  q = std::fma(q, y, 2.26843463243900e-03f);
  q = std::fma(q, y, 4.89352518554385e-03f);
  return x * p / q;
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

using Vector = float __attribute__((vector_size(64)));
inline constexpr int64_t kPanel = 32; // columns: two vectors

inline Vector load(const float *from) {
  Vector value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

inline void store(Vector value, float *to) {
  std::memcpy(to, &value, sizeof(value));
}

/// A matrix [K, N], packed into panels of columns.
class Packed {
public:
  Packed(int64_t depth, int64_t width)
      : depth(depth), width(width), panels((width + kPanel - 1) / kPanel),
        data(static_cast<float *>(std::aligned_alloc(
            64, static_cast<size_t>(panels * depth * kPanel + 16) * 4 / 64 *
                    64))) {}
  /// Of a matrix in C order with rows of `stride` elements.
  Packed(const float *matrix, int64_t depth, int64_t width, int64_t stride)
      : Packed(depth, width) {
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t j = 0; j < panels * kPanel; ++j)
        at(k, j) = j < width ? matrix[k * stride + j] : 0;
  }
  /// Of the transpose of a matrix [N, K] in C order.
  static Packed transposed(const float *matrix, int64_t depth, int64_t width) {
    Packed result(depth, width);
    for (int64_t j = 0; j < result.panels * kPanel; ++j)
      for (int64_t k = 0; k < depth; ++k)
        result.at(k, j) = j < width ? matrix[j * depth + k] : 0;
    return result;
  }
  Packed(Packed &&other)
      : depth(other.depth), width(other.width), panels(other.panels),
        data(other.data) {
    other.data = nullptr;
  }
  ~Packed() { std::free(data); }

  float &at(int64_t k, int64_t j) {
    return data[(j / kPanel * depth + k) * kPanel + j % kPanel];
  }

  const int64_t depth, width, panels;
  float *data;
};

/// y[Rows, Panels * 32] = begin + x[Rows, depth] times some panels; `begin` is
/// a row for all rows where `beginStride` is 0, or null.
template <int Rows, int Panels>
inline void multiplyTile(const float *x, int64_t xStride, const float *panel,
                         int64_t depth, const float *begin, int64_t beginStride,
                         float *y, int64_t yStride) {
  // The sums are in registers: nothing may take their address.
  Vector sums[Rows][2 * Panels];
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < 2 * Panels; ++v)
      sums[r][v] = begin ? load(begin + r * beginStride + 16 * v) : Vector{};
  for (int64_t k = 0; k < depth; ++k)
    for (int p = 0; p < Panels; ++p) {
      const float *row = panel + (p * depth + k) * kPanel;
      Vector low = load(row);
      Vector high = load(row + 16);
      for (int r = 0; r < Rows; ++r) {
        float factor = x[r * xStride + k];
        sums[r][2 * p] += factor * low;
        sums[r][2 * p + 1] += factor * high;
      }
    }
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < 2 * Panels; ++v)
      store(sums[r][v], y + r * yStride + 16 * v);
}

/// The same for the last, incomplete panel.
template <int Rows>
void multiplyRest(const float *x, int64_t xStride, const float *panel,
                  int64_t depth, const float *begin, int64_t beginStride,
                  float *y, int64_t yStride, int64_t columns) {
  float from[Rows * kPanel] = {}, to[Rows * kPanel];
  size_t bytes = static_cast<size_t>(columns) * sizeof(float);
  for (int r = 0; begin && r < Rows; ++r)
    std::memcpy(from + r * kPanel, begin + r * beginStride, bytes);
  multiplyTile<Rows, 1>(x, xStride, panel, depth, from, kPanel, to, kPanel);
  for (int r = 0; r < Rows; ++r)
    std::memcpy(y + r * yStride, to + r * kPanel, bytes);
}

template <int Rows>
void multiplyRows(const float *x, int64_t xStride, const Packed &w,
                  const float *begin, int64_t beginStride, float *y,
                  int64_t yStride) {
  int64_t p = 0, whole = w.width / kPanel;
  auto run = [&](auto tile, int64_t panels) {
    tile(x, xStride, w.data + p * w.depth * kPanel, w.depth,
         begin ? begin + p * kPanel : nullptr, beginStride, y + p * kPanel,
         yStride);
    p += panels;
  };
  // Few rows: more columns at a time, so that the sums do not wait.
  constexpr int kWide = Rows == 1 ? 4 : 1;
  while (p + kWide <= whole)
    run(multiplyTile<Rows, kWide>, kWide);
  while (p < whole)
    run(multiplyTile<Rows, 1>, 1);
  if (p < w.panels)
    multiplyRest<Rows>(x, xStride, w.data + p * w.depth * kPanel, w.depth,
                       begin ? begin + p * kPanel : nullptr, beginStride,
                       y + p * kPanel, yStride, w.width - p * kPanel);
}

/// y[rows, w.width] = begin + x[rows, w.depth] w
inline void multiply(const float *x, int64_t rows, int64_t xStride,
                     const Packed &w, const float *begin, int64_t beginStride,
                     float *y, int64_t yStride) {
  int64_t r = 0;
  auto run = [&](auto some, int64_t count) {
    some(x + r * xStride, xStride, w, begin ? begin + r * beginStride : nullptr,
         beginStride, y + r * yStride, yStride);
    r += count;
  };
  while (r + 8 <= rows)
    run(multiplyRows<8>, 8);
  while (r < rows)
    run(multiplyRows<1>, 1);
}

#endif // LOOPC_BENCHMARKS_LIMIT_H
