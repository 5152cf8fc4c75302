//===- Cublas.cpp - Products of matrices by cuBLAS ------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cuBLAS is opened by name when a run comes to the first product that may be
// its: where there is none, a kernel computes it. A lane has a handle of its
// own, which is bound to the stream of the run.
//
//===----------------------------------------------------------------------===//

#include "Cublas.h"
#include "Gpu.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

using namespace loopc::rt;
using namespace loopc::rt::cuda;

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

// Of cublas_api.h and library_types.h.
using CublasHandle = void *;
using CublasStatus = int;
static constexpr CublasStatus kSuccess = 0;
static constexpr CublasStatus kNotInitialized = 1;
static constexpr CublasStatus kAllocFailed = 3;
static constexpr CublasStatus kArchMismatch = 8;
static constexpr CublasStatus kNotSupported = 15;
/// CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION: sums of 16 bits are f32.
static constexpr int kExactSums = 16;
static constexpr int kDefaultAlgorithm = -1;

namespace {
struct Library {
  CublasStatus (*create)(CublasHandle *);
  CublasStatus (*setStream)(CublasHandle, CUstream);
  CublasStatus (*setMathMode)(CublasHandle, int);
  CublasStatus (*multiply)(CublasHandle, int, int, int, int, int, const void *,
                           const void *, int, int, long long, const void *, int,
                           int, long long, const void *, void *, int, int,
                           long long, int, int, int);
};
} // namespace

static Library library;
static enum { kUnknown, kThere, kAbsent } libraryState;
static pthread_mutex_t libraryLock = PTHREAD_MUTEX_INITIALIZER;

/// Opens the library of the environment, or that of the newest CUDA.
static bool openLibrary() {
  const char *path = getenv("LOOPC_CUBLAS");
  const char *names[] = {"libcublas.so.13", "libcublas.so.12",
                         "libcublas.so.11"};
  void *opened = nullptr;
  if (path) {
    if (*path)
      opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  } else {
    for (const char *name : names)
      if (!opened)
        opened = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (!opened)
    return false;
  auto find = [&](const char *name, auto &function) {
    void *found = dlsym(opened, name);
    function = reinterpret_cast<decltype(+function)>(found);
    return found != nullptr;
  };
  return find("cublasCreate_v2", library.create) &&
         find("cublasSetStream_v2", library.setStream) &&
         find("cublasSetMathMode", library.setMathMode) &&
         find("cublasGemmStridedBatchedEx", library.multiply);
}

static bool isLibraryThere() {
  pthread_mutex_lock(&libraryLock);
  if (libraryState == kUnknown)
    libraryState = openLibrary() ? kThere : kAbsent;
  bool isThere = libraryState == kThere;
  pthread_mutex_unlock(&libraryLock);
  return isThere;
}

/// The lane's handle, on the stream of the run; null where there is none to be
/// had, which is not asked again.
static CublasHandle getHandle(Gpu &gpu) {
  Lane &lane = *gpu.lane;
  if (!lane.cublas && !lane.hasNoCublas) {
    lane.hasNoCublas = library.create(&lane.cublas) != kSuccess;
    if (lane.hasNoCublas)
      lane.cublas = nullptr;
    else
      library.setMathMode(lane.cublas, kExactSums);
  }
  if (!lane.cublas || library.setStream(lane.cublas, gpu.stream) != kSuccess)
    return nullptr;
  return lane.cublas;
}

//===----------------------------------------------------------------------===//
// What is multiplied
//===----------------------------------------------------------------------===//

namespace {
/// All loops of one role as one.
struct Extent {
  int64_t trips = 1;
  int64_t left = 0, right = 0, result = 0;
};
} // namespace

/// Makes loop `k` and what it goes around one; false where there are gaps.
static bool joinLoop(const loopc_cuda_product &product, int64_t k,
                     Extent &extent) {
  const auto &loop = product.loops[k];
  if (loop.trips == 1)
    return true;
  if (extent.trips == 1) {
    extent = {loop.trips, loop.left, loop.right, loop.result};
    return true;
  }
  if (loop.left != extent.left * extent.trips ||
      loop.right != extent.right * extent.trips ||
      loop.result != extent.result * extent.trips)
    return false;
  extent.trips *= loop.trips;
  return true;
}

/// Makes one loop of those of each role. Outer loops of rows or of columns that
/// do not go on where the inner ones end count matrices of a batch. False where
/// there would be two loops.
static bool joinLoops(const loopc_cuda_product &product, Extent (&extents)[4]) {
  bool isOfBatch[LOOPC_CUDA_MAX_PRODUCT_LOOPS] = {};
  for (int64_t role = LOOPC_CUDA_ROWS; role <= LOOPC_CUDA_SUM; ++role) {
    bool isThrough = false;
    for (int64_t k = product.num_loops; k-- > 0;) {
      if (product.loops[k].role != role)
        continue;
      isThrough = isThrough || !joinLoop(product, k, extents[role]);
      isOfBatch[k] = isThrough;
      if (isThrough && role == LOOPC_CUDA_SUM)
        return false;
    }
  }
  for (int64_t k = product.num_loops; k-- > 0;)
    if ((isOfBatch[k] || product.loops[k].role == LOOPC_CUDA_BATCH) &&
        !joinLoop(product, k, extents[LOOPC_CUDA_BATCH]))
      return false;
  return true;
}

/// How a matrix of `outer` times `inner` elements lies.
static bool findLayout(int64_t outer, int64_t outerStride, int64_t inner,
                       int64_t innerStride, CublasMatrix &matrix) {
  auto lies = [&](int64_t rows, int64_t stride, int64_t length, int64_t step) {
    if (step != 1 && length != 1)
      return false;
    matrix.leading = rows == 1 ? length : stride;
    return matrix.leading >= length;
  };
  matrix.isTurned = false;
  if (lies(outer, outerStride, inner, innerStride))
    return true;
  matrix.isTurned = true;
  return lies(inner, innerStride, outer, outerStride);
}

/// What the library calls the types: of factors, result and sums.
static void setTypes(int64_t kind, CublasProduct &result) {
  // CUDA_R_32F, _64F, _16F, _8I, _32I and _16BF; CUBLAS_COMPUTE_32F,
  // _32F_FAST_TF32, _64F and _32I.
  constexpr int kF32 = 0, kF64 = 1, kF16 = 2, kI8 = 3, kI32 = 10, kBF16 = 14;
  constexpr int kSumF32 = 68, kSumTf32 = 77, kSumF64 = 70, kSumI32 = 72;
  static const struct {
    int factors, result, sums;
  } kTypes[] = {
      {kF32, kF32, kSumF32},   // F32
      {kF32, kF32, kSumTf32},  // TF32
      {kF64, kF64, kSumF64},   // F64
      {kF16, kF16, kSumF32},   // F16
      {kF16, kF32, kSumF32},   // F16_F32
      {kBF16, kBF16, kSumF32}, // BF16
      {kBF16, kF32, kSumF32},  // BF16_F32
      {kI8, kI32, kSumI32},    // I8
  };
  const auto &types = kTypes[kind];
  result.factorType = types.factors;
  result.resultType = types.result;
  result.sumType = types.sums;
}

/// Bytes have to lie in words.
static bool isAligned(const CublasMatrix &matrix, uint64_t address) {
  return matrix.leading % 4 == 0 && matrix.step % 4 == 0 && address % 4 == 0;
}

bool loopc::rt::cuda::describeProduct(const loopc_cuda_product &product,
                                      CublasProduct &result) {
  Extent extents[4];
  if (product.num_loops < 0 ||
      product.num_loops > LOOPC_CUDA_MAX_PRODUCT_LOOPS || product.kind < 0 ||
      product.kind > LOOPC_CUDA_PRODUCT_I8 || !joinLoops(product, extents))
    return false;
  for (const Extent &extent : extents)
    if (extent.trips < 1 || extent.trips > INT_MAX)
      return false;
  const Extent &batch = extents[LOOPC_CUDA_BATCH];
  const Extent &rows = extents[LOOPC_CUDA_ROWS];
  const Extent &columns = extents[LOOPC_CUDA_COLUMNS];
  const Extent &sum = extents[LOOPC_CUDA_SUM];
  setTypes(product.kind, result);
  result.batch = static_cast<int>(batch.trips);
  // The library has the columns of a matrix one behind the other: ours, with
  // rows behind each other, is the transpose to it, which is that of the right
  // factor times that of the left one. A result that lies as the library has it
  // is the product itself.
  CublasMatrix left, right, whole;
  if (!findLayout(rows.trips, rows.left, sum.trips, sum.left, left) ||
      !findLayout(sum.trips, sum.right, columns.trips, columns.right, right) ||
      !findLayout(rows.trips, rows.result, columns.trips, columns.result,
                  whole))
    return false;
  left.step = batch.left;
  right.step = batch.right;
  whole.step = batch.result;
  left.data = product.left;
  right.data = product.right;
  whole.data = product.result;
  if (whole.isTurned) {
    result.first = left;
    result.second = right;
    // Each is read as it is, not as its transpose.
    result.first.isTurned = !left.isTurned;
    result.second.isTurned = !right.isTurned;
    result.rows = static_cast<int>(rows.trips);
    result.columns = static_cast<int>(columns.trips);
  } else {
    result.first = right;
    result.second = left;
    result.rows = static_cast<int>(columns.trips);
    result.columns = static_cast<int>(rows.trips);
  }
  result.result = whole;
  result.depth = static_cast<int>(sum.trips);
  const CublasMatrix *matrices[] = {&left, &right, &whole};
  for (const CublasMatrix *matrix : matrices)
    if (matrix->leading > INT_MAX)
      return false;
  return product.kind != LOOPC_CUDA_PRODUCT_I8 ||
         (isAligned(left, product.left) && isAligned(right, product.right) &&
          product.result % 4 == 0);
}

//===----------------------------------------------------------------------===//
// The call
//===----------------------------------------------------------------------===//

static const char *nameOf(CublasStatus status) {
  switch (status) {
  case 7:
    return "CUBLAS_STATUS_INVALID_VALUE";
  case 11:
    return "CUBLAS_STATUS_MAPPING_ERROR";
  case 13:
    return "CUBLAS_STATUS_EXECUTION_FAILED";
  case 14:
    return "CUBLAS_STATUS_INTERNAL_ERROR";
  default:
    return "an unknown status";
  }
}

static CublasStatus multiply(CublasHandle handle, const CublasProduct &it) {
  // As many bits as the widest of them.
  union Scalar {
    double f64;
    float f32;
    int32_t i32;
  } one{}, zero{};
  constexpr int kSumF64 = 70, kSumI32 = 72;
  if (it.sumType == kSumF64)
    one.f64 = 1;
  else if (it.sumType == kSumI32)
    one.i32 = 1;
  else
    one.f32 = 1;
  auto at = [](int64_t address) { return reinterpret_cast<void *>(address); };
  auto leading = [](const CublasMatrix &matrix) {
    return static_cast<int>(matrix.leading);
  };
  return library.multiply(
      handle, it.first.isTurned, it.second.isTurned, it.rows, it.columns,
      it.depth, &one, at(it.first.data), it.factorType, leading(it.first),
      it.first.step, at(it.second.data), it.factorType, leading(it.second),
      it.second.step, &zero, at(it.result.data), it.resultType,
      leading(it.result), it.result.step, it.batch, it.sumType,
      kDefaultAlgorithm);
}

extern "C" int32_t loopc_rt_cuda_product(loopc_run *run,
                                         loopc_cuda_program *program,
                                         const loopc_cuda_product *product) {
  Gpu *gpu = getGpuFor(*run, *program);
  if (!gpu)
    return getStatus(*run);
  CublasProduct described;
  if (!describeProduct(*product, described) || !isLibraryThere())
    return LOOPC_CUDA_NOT_DONE;
  CublasHandle handle = getHandle(*gpu);
  if (!handle)
    return LOOPC_CUDA_NOT_DONE;
  CublasStatus status = multiply(handle, described);
  auto number = static_cast<int32_t>(product->kernel);
  switch (status) {
  case kSuccess:
    gpu->isBusy = true;
    gpu->lastKernel = 1 + number;
    return LOOPC_OK;
  case kNotInitialized:
  case kAllocFailed:
  case kArchMismatch:
  case kNotSupported:
    return LOOPC_CUDA_NOT_DONE;
  default:
    return recordError(*run, LOOPC_ERROR_DEVICE,
                       "device %d ('%s'): cuBLAS, in place of %s: %s (%d)",
                       gpu->device->ordinal, gpu->device->name,
                       KernelText(*program, number).text, nameOf(status),
                       status);
  }
}
