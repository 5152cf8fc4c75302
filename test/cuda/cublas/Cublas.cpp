//===- Cublas.cpp - A cuBLAS for tests ------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libcublas.so.13 with the functions that loopc's runtime calls, as NVIDIA's
// documents describe them: matrices by columns, strict about what they may be.
// It waits for the stream, copies the matrices to the host and the result back.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define FAKE_CUBLAS_API extern "C" __attribute__((visibility("default"))) int

// Of the driver beside it.
extern "C" {
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuStreamSynchronize(void *stream);
}

enum { kSuccess = 0, kInvalid = 7, kFailed = 13, kUnsupported = 15 };
enum { kF32 = 0, kF64 = 1, kF16 = 2, kI8 = 3, kI32 = 10, kBF16 = 14 };
enum { kSumF32 = 68, kSumF64 = 70, kSumI32 = 72, kSumTf32 = 77 };

namespace {
struct Handle {
  void *stream = nullptr;
  bool hasStream = false;
  int mathMode = 0;
};

/// Elements of a matrix by columns, those of a batch `step` apart.
struct Matrix {
  uint64_t data;
  int type;
  int rows, columns;
  int64_t leading, step;

  size_t bytes() const {
    switch (type) {
    case kF64:
      return 8;
    case kF32:
    case kI32:
      return 4;
    case kI8:
      return 1;
    default:
      return 2;
    }
  }
  /// Elements of one of them, gaps included.
  int64_t span() const { return leading * (columns - 1) + rows; }
};
} // namespace

static float fromBF16(uint16_t bits) {
  uint32_t wide = uint32_t{bits} << 16;
  float value;
  memcpy(&value, &wide, sizeof(value));
  return value;
}

/// To the nearest, ties to even.
static uint16_t toBF16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  if (value != value)
    return 0x7fc0;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static double read(const uint8_t *data, int type, int64_t at) {
  auto as = [&](auto value) {
    memcpy(&value, data + at * sizeof(value), sizeof(value));
    return value;
  };
  switch (type) {
  case kF32:
    return as(float());
  case kF64:
    return as(double());
  case kF16:
    return static_cast<double>(as(_Float16()));
  case kBF16:
    return fromBF16(as(uint16_t()));
  default:
    return as(int8_t());
  }
}

static void write(uint8_t *data, int type, int64_t at, double value) {
  auto put = [&](auto rounded) {
    memcpy(data + at * sizeof(rounded), &rounded, sizeof(rounded));
  };
  switch (type) {
  case kF32:
    return put(static_cast<float>(value));
  case kF64:
    return put(value);
  case kF16:
    return put(static_cast<_Float16>(value));
  case kBF16:
    return put(toBF16(static_cast<float>(value)));
  default:
    return put(static_cast<int32_t>(static_cast<int64_t>(value)));
  }
}

/// What a factor is read as: tf32 has 10 bits behind the point.
static double roundFactor(double value, int sums) {
  if (sums != kSumTf32)
    return value;
  auto narrow = static_cast<float>(value);
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof(bits));
  bits = (bits + 0x1000) & ~uint32_t{0x1fff};
  memcpy(&narrow, &bits, sizeof(bits));
  return narrow;
}

/// Whether the library has sums of this kind for these types.
static bool isKnown(int factor, int result, int sums) {
  switch (sums) {
  case kSumF32:
    return (factor == result &&
            (factor == kF32 || factor == kF16 || factor == kBF16)) ||
           ((factor == kF16 || factor == kBF16) && result == kF32);
  case kSumTf32:
    return factor == kF32 && result == kF32;
  case kSumF64:
    return factor == kF64 && result == kF64;
  case kSumI32:
    return factor == kI8 && result == kI32;
  default:
    return false;
  }
}

static void writeLog(const char *text) {
  const char *path = getenv("LOOPC_FAKE_CUBLAS_LOG");
  if (!path || !*path)
    return;
  if (FILE *file = fopen(path, "a")) {
    fputs(text, file);
    fclose(file);
  }
}

/// One or zero, of the type that the sums are given in.
static bool isNumber(const void *scalar, int sums, int number) {
  if (sums == kSumF64)
    return *static_cast<const double *>(scalar) == number;
  if (sums == kSumI32)
    return *static_cast<const int32_t *>(scalar) == number;
  return *static_cast<const float *>(scalar) == static_cast<float>(number);
}

FAKE_CUBLAS_API cublasCreate_v2(void **handle) {
  const char *status = getenv("LOOPC_FAKE_CUBLAS_CREATE");
  if (status && *status)
    return atoi(status);
  *handle = new Handle;
  return kSuccess;
}

FAKE_CUBLAS_API cublasDestroy_v2(void *handle) {
  delete static_cast<Handle *>(handle);
  return kSuccess;
}

FAKE_CUBLAS_API cublasSetStream_v2(void *handle, void *stream) {
  static_cast<Handle *>(handle)->stream = stream;
  static_cast<Handle *>(handle)->hasStream = true;
  return kSuccess;
}

FAKE_CUBLAS_API cublasSetMathMode(void *handle, int mode) {
  static_cast<Handle *>(handle)->mathMode = mode;
  return kSuccess;
}

/// result = op(first) * op(second), of one of the batch.
static void multiply(const Matrix &first, bool turnFirst, const uint8_t *a,
                     const Matrix &second, bool turnSecond, const uint8_t *b,
                     const Matrix &result, uint8_t *c, int depth, int sums) {
  for (int64_t column = 0; column < result.columns; ++column)
    for (int64_t row = 0; row < result.rows; ++row) {
      double sum = 0;
      for (int64_t k = 0; k < depth; ++k) {
        int64_t ofFirst =
            turnFirst ? row * first.leading + k : k * first.leading + row;
        int64_t ofSecond = turnSecond ? k * second.leading + column
                                      : column * second.leading + k;
        sum += roundFactor(read(a, first.type, ofFirst), sums) *
               roundFactor(read(b, second.type, ofSecond), sums);
      }
      write(c, result.type, column * result.leading + row, sum);
    }
}

FAKE_CUBLAS_API cublasGemmStridedBatchedEx(
    void *handle, int turnFirst, int turnSecond, int rows, int columns,
    int depth, const void *alpha, const void *first, int firstType,
    int firstLeading, long long firstStep, const void *second, int secondType,
    int secondLeading, long long secondStep, const void *beta, void *result,
    int resultType, int resultLeading, long long resultStep, int batch,
    int sums, int algorithm) {
  char text[256];
  snprintf(text, sizeof(text),
           "gemm %c%c %dx%dx%d batch %d types %d %d sums %d math %d\n",
           "NT"[turnFirst != 0], "NT"[turnSecond != 0], rows, columns, depth,
           batch, firstType, resultType, sums,
           static_cast<Handle *>(handle)->mathMode);
  writeLog(text);
  const char *status = getenv("LOOPC_FAKE_CUBLAS_STATUS");
  if (status && *status)
    return atoi(status);
  auto address = [](const void *data) {
    return reinterpret_cast<uint64_t>(data);
  };
  Matrix a{address(first),           firstType,    turnFirst ? depth : rows,
           turnFirst ? rows : depth, firstLeading, firstStep};
  Matrix b{address(second),
           secondType,
           turnSecond ? columns : depth,
           turnSecond ? depth : columns,
           secondLeading,
           secondStep};
  Matrix c{address(result), resultType,    rows,
           columns,         resultLeading, resultStep};
  if (!static_cast<Handle *>(handle)->hasStream || firstType != secondType ||
      algorithm != -1)
    return kInvalid;
  if (!isKnown(firstType, resultType, sums))
    return kUnsupported;
  for (const Matrix &matrix : {a, b, c})
    if (matrix.rows < 1 || matrix.columns < 1 || batch < 1 ||
        matrix.leading < std::max(1, matrix.rows) ||
        matrix.data % matrix.bytes() != 0)
      return kInvalid;
  if (firstType == kI8)
    for (const Matrix &matrix : {a, b})
      if (matrix.leading % 4 || matrix.data % 4)
        return kUnsupported;
  if (!isNumber(alpha, sums, 1) || !isNumber(beta, sums, 0))
    return kUnsupported;
  if (cuStreamSynchronize(static_cast<Handle *>(handle)->stream))
    return kFailed;
  std::vector<uint8_t> bytesOfA(a.span() * a.bytes());
  std::vector<uint8_t> bytesOfB(b.span() * b.bytes());
  std::vector<uint8_t> bytesOfC(c.span() * c.bytes());
  for (int64_t k = 0; k < batch; ++k) {
    uint64_t toC = c.data + k * c.step * c.bytes();
    if (cuMemcpyDtoH_v2(bytesOfA.data(), a.data + k * a.step * a.bytes(),
                        bytesOfA.size()) ||
        cuMemcpyDtoH_v2(bytesOfB.data(), b.data + k * b.step * b.bytes(),
                        bytesOfB.size()) ||
        // What lies between columns stays as it is.
        cuMemcpyDtoH_v2(bytesOfC.data(), toC, bytesOfC.size()))
      return kFailed;
    multiply(a, turnFirst, bytesOfA.data(), b, turnSecond, bytesOfB.data(), c,
             bytesOfC.data(), depth, sums);
    if (cuMemcpyHtoD_v2(toC, bytesOfC.data(), bytesOfC.size()))
      return kFailed;
  }
  return kSuccess;
}
