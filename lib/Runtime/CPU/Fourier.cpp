//===- Fourier.cpp - Discrete Fourier transforms --------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// O(n log n) for every length n. Lengths without large prime factors are
// transformed by Stockham's self-sorting algorithm with mixed radices
// (decimation in frequency); the others as a convolution of a length that is a
// power of two (Bluestein, "A linear filtering approach to the computation of
// discrete Fourier transform", 1970).
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

namespace {
struct Complex {
  double re, im;
};

Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
Complex operator*(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
Complex operator*(double a, Complex b) { return {a * b.re, a * b.im}; }
Complex conj(Complex a) { return {a.re, -a.im}; }
/// -i a.
Complex turned(Complex a) { return {a.im, -a.re}; }

/// Prime factors up to here are radices.
constexpr int64_t kLargestRadix = 13;
/// Transforms between two looks at whether the run shall end.
constexpr int64_t kPollElements = 1 << 20;

/// e^(-2 pi i k / n) for 0 <= k < n: the angle that is handed to libm is at
/// most pi / 4, so that the result is as exact as it can be.
Complex rootOfOne(int64_t k, int64_t n) {
  // Eighths of a turn, and what is left of one.
  int64_t eighth = (8 * k) / n;
  bool fromNext = eighth & 1;
  int64_t rest = fromNext ? (eighth + 1) * n - 8 * k : 8 * k - eighth * n;
  double angle = M_PI / 4 * static_cast<double>(rest) / static_cast<double>(n);
  Complex root = {cos(angle), -sin(angle)};
  if (fromNext) // back from the next quarter
    root = conj(root);
  for (int64_t quarter = (eighth + 1) / 2; quarter > 0; --quarter)
    root = turned(root);
  return root;
}

int64_t nextRadix(int64_t n) {
  if (n % 4 == 0)
    return 4;
  for (int64_t radix = 2; radix <= kLargestRadix; ++radix)
    if (n % radix == 0)
      return radix;
  return 0;
}

bool hasSmallFactors(int64_t n) {
  while (n > 1) {
    int64_t radix = nextRadix(n);
    if (radix == 0)
      return false;
    n /= radix;
  }
  return true;
}

/// One pass: `n` is the length that is left, `stride` the product of the
/// radices before, `roots` those of n * stride.
struct Pass {
  int64_t n, stride, radix;
  const Complex *roots, *x;
  Complex *y;

  /// W_n^(j k), which is in the table.
  Complex root(int64_t j, int64_t k) const { return roots[j * k * stride]; }
  const Complex *input(int64_t k, int64_t i) const {
    return x + stride * (k + n / radix * i);
  }
  Complex *output(int64_t k, int64_t j) const {
    return y + stride * (radix * k + j);
  }

  void run2() const {
    for (int64_t k = 0; k < n / 2; ++k) {
      Complex w = root(1, k);
      const Complex *a = input(k, 0), *b = input(k, 1);
      Complex *c = output(k, 0), *d = output(k, 1);
      for (int64_t q = 0; q < stride; ++q) {
        Complex sum = a[q] + b[q], difference = a[q] - b[q];
        c[q] = sum;
        d[q] = difference * w;
      }
    }
  }

  void run4() const {
    for (int64_t k = 0; k < n / 4; ++k) {
      Complex w1 = root(1, k), w2 = root(2, k), w3 = root(3, k);
      const Complex *a = input(k, 0), *b = input(k, 1), *c = input(k, 2),
                    *d = input(k, 3);
      Complex *y0 = output(k, 0), *y1 = output(k, 1), *y2 = output(k, 2),
              *y3 = output(k, 3);
      for (int64_t q = 0; q < stride; ++q) {
        Complex even = a[q] + c[q], odd = b[q] + d[q];
        Complex first = a[q] - c[q], second = turned(b[q] - d[q]);
        y0[q] = even + odd;
        y1[q] = (first + second) * w1;
        y2[q] = (even - odd) * w2;
        y3[q] = (first - second) * w3;
      }
    }
  }

  /// Pairs of inputs from both ends share their products.
  void runOdd() const {
    int64_t half = radix / 2, whole = n * stride;
    for (int64_t k = 0; k < n / radix; ++k) {
      for (int64_t q = 0; q < stride; ++q) {
        Complex first = input(k, 0)[q], total = first;
        Complex sums[kLargestRadix / 2], differences[kLargestRadix / 2];
        for (int64_t i = 1; i <= half; ++i) {
          Complex a = input(k, i)[q], b = input(k, radix - i)[q];
          sums[i - 1] = a + b;
          differences[i - 1] = turned(a - b);
          total = total + sums[i - 1];
        }
        output(k, 0)[q] = total;
        for (int64_t j = 1; j <= half; ++j) {
          Complex even = first, odd = {0, 0};
          for (int64_t i = 1; i <= half; ++i) {
            Complex w = roots[whole / radix * (i * j % radix)];
            even = even + w.re * sums[i - 1];
            odd = odd - w.im * differences[i - 1];
          }
          output(k, j)[q] = (even + odd) * root(j, k);
          output(k, radix - j)[q] = (even - odd) * root(radix - j, k);
        }
      }
    }
  }

  void run() const {
    if (radix == 2)
      run2();
    else if (radix == 4)
      run4();
    else
      runOdd();
  }
};

/// Transforms of one length; the memory is the caller's.
struct Plan {
  int64_t n;
  const Complex *roots; ///< n
  Complex *scratch;     ///< n

  static void fillRoots(Complex *roots, int64_t n) {
    for (int64_t k = 0; k < n; ++k)
      roots[k] = rootOfOne(k, n);
  }

  void run(Complex *data) const {
    Complex *x = data, *y = scratch;
    int64_t left = n, stride = 1;
    while (left > 1) {
      int64_t radix = nextRadix(left);
      Pass{left, stride, radix, roots, x, y}.run();
      left /= radix;
      stride *= radix;
      Complex *swap = x;
      x = y;
      y = swap;
    }
    if (x != data)
      memcpy(data, x, static_cast<size_t>(n) * sizeof(Complex));
  }
};

/// y_k = c_k sum of (x_m c_m) conj(c_(k - m)) with c_k = e^(-pi i k^2 / n).
struct Bluestein {
  int64_t n;
  Plan plan;       ///< of a power of two, at least 2 n - 1
  Complex *chirp;  ///< n
  Complex *kernel; ///< plan.n: the transform of conj(c), on both sides of 0
  Complex *work;   ///< plan.n

  void prepare() const {
    // k^2 modulo 2 n, by differences: it does not overflow.
    int64_t square = 0;
    for (int64_t k = 0; k < n; ++k) {
      chirp[k] = rootOfOne(square, 2 * n);
      square = (square + 2 * k + 1) % (2 * n);
    }
    memset(kernel, 0, static_cast<size_t>(plan.n) * sizeof(Complex));
    for (int64_t k = 0; k < n; ++k)
      kernel[k] = kernel[k == 0 ? 0 : plan.n - k] = conj(chirp[k]);
    plan.run(kernel);
  }

  void run(Complex *data) const {
    memset(work, 0, static_cast<size_t>(plan.n) * sizeof(Complex));
    for (int64_t k = 0; k < n; ++k)
      work[k] = data[k] * chirp[k];
    plan.run(work);
    // Forth again: that is back, but for the order and a factor.
    for (int64_t k = 0; k < plan.n; ++k)
      work[k] = work[k] * kernel[k];
    plan.run(work);
    double scale = 1 / static_cast<double>(plan.n);
    for (int64_t k = 0; k < n; ++k)
      data[k] = scale * (work[k == 0 ? 0 : plan.n - k] * chirp[k]);
  }
};
} // namespace

/// Calls `transform` for each of `count` runs of `n` numbers.
template <typename Transform>
static int32_t forEach(loopc_run *run, Complex *data, int64_t count, int64_t n,
                       bool isInverse, const Transform &transform) {
  int64_t since = 0;
  for (int64_t i = 0; i < count; ++i, data += n) {
    // An inverse one is a forward one between two conjugations.
    for (int64_t k = 0; isInverse && k < n; ++k)
      data[k] = conj(data[k]);
    transform.run(data);
    for (int64_t k = 0; isInverse && k < n; ++k)
      data[k] = conj(data[k]);
    since += n;
    if (since < kPollElements)
      continue;
    since = 0;
    if (int32_t status = loopc_rt_poll(run))
      return status;
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

namespace {
/// What transforms of one length read and write beside their data: to make it
/// takes three times as long as one transform.
struct alignas(64) Tables {
  int64_t n;
  bool isSmooth;
  int64_t length;  ///< of the transforms that are computed
  int64_t room;    ///< of the memory, in complex numbers
  Complex *memory; ///< behind it, or a block of the run

  explicit Tables(int64_t n)
      : n(n), isSmooth(hasSmallFactors(n)), length(n), room(2 * n),
        memory(nullptr) {
    if (isSmooth)
      return;
    length = 1;
    while (length < 2 * n - 1)
      length *= 2;
    room = 4 * length + n;
  }

  Plan getPlan() const { return {length, memory, memory + length}; }
  Bluestein getBluestein() const {
    Complex *next = memory + 2 * length;
    return {n, getPlan(), next + 2 * length, next, next + length};
  }
  void fill() const {
    Plan::fillRoots(memory, length);
    if (!isSmooth)
      getBluestein().prepare();
  }
};
} // namespace

/// Tables of calls that ended, for the next ones: a loop or a program often has
/// one transform after the other.
static Tables *keptTables[4];
/// Which of them goes where all are taken.
static uint32_t nextDropped;
/// Larger ones are made for each call.
static constexpr int64_t kMaxKept = 1 << 16;

/// Takes tables of `n` out of those that are kept, or returns null.
static Tables *takeTables(int64_t n) {
  for (Tables *&kept : keptTables) {
    if (!__atomic_load_n(&kept, __ATOMIC_RELAXED))
      continue;
    Tables *tables = __atomic_exchange_n(&kept, nullptr, __ATOMIC_ACQUIRE);
    if (tables && tables->n == n)
      return tables;
    Tables *none = nullptr;
    if (tables &&
        !__atomic_compare_exchange_n(&kept, &none, tables, false,
                                     __ATOMIC_RELEASE, __ATOMIC_RELAXED))
      free(tables);
  }
  return nullptr;
}

static void keepTables(Tables *tables) {
  for (Tables *&kept : keptTables) {
    Tables *none = nullptr;
    if (__atomic_compare_exchange_n(&kept, &none, tables, false,
                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
      return;
  }
  uint32_t dropped = __atomic_fetch_add(&nextDropped, 1, __ATOMIC_RELAXED);
  free(__atomic_exchange_n(&keptTables[dropped % 4], tables, __ATOMIC_ACQ_REL));
}

/// A library that is closed leaves nothing behind.
__attribute__((destructor)) static void freeKeptTables() {
  for (Tables *&kept : keptTables)
    free(__atomic_exchange_n(&kept, nullptr, __ATOMIC_ACQUIRE));
}

/// Tables for `n` that may be kept, filled, or null where there is no memory.
static Tables *makeTables(const Tables &wanted) {
  size_t bytes =
      sizeof(Tables) + static_cast<size_t>(wanted.room) * sizeof(Complex);
  bytes = (bytes + alignof(Tables) - 1) / alignof(Tables) * alignof(Tables);
  auto *tables = static_cast<Tables *>(aligned_alloc(alignof(Tables), bytes));
  if (!tables)
    return nullptr;
  *tables = wanted;
  tables->memory = reinterpret_cast<Complex *>(tables + 1);
  tables->fill();
  return tables;
}

static int32_t transform(loopc_run *run, Complex *data, int64_t count,
                         bool isInverse, const Tables &tables) {
  if (tables.isSmooth)
    return forEach(run, data, count, tables.n, isInverse, tables.getPlan());
  return forEach(run, data, count, tables.n, isInverse, tables.getBluestein());
}

extern "C" int32_t loopc_rt_fourier(loopc_run *run, double *numbers,
                                    int64_t count, int64_t n,
                                    int32_t isInverse) {
  if (n <= 1 || count == 0)
    return 0;
  auto *data = reinterpret_cast<Complex *>(numbers);
  Tables wanted(n);
  // Memory of a run that counts it, or has it from its caller, is the run's.
  bool mayKeep =
      wanted.room <= kMaxKept && run->defaultAllocator && run->memoryLimit == 0;
  if (mayKeep) {
    Tables *tables = takeTables(n);
    if (!tables)
      tables = makeTables(wanted);
    if (tables) {
      int32_t status = transform(run, data, count, isInverse, *tables);
      keepTables(tables);
      return status;
    }
  }
  wanted.memory = static_cast<Complex *>(
      loopc_rt_alloc(run, wanted.room * static_cast<int64_t>(sizeof(Complex))));
  if (!wanted.memory)
    return LOOPC_ERROR_MEMORY;
  wanted.fill();
  int32_t status = transform(run, data, count, isInverse, wanted);
  loopc_rt_free(run, wanted.memory);
  return status;
}
