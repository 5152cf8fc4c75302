//===- runtime.h - What compiled code calls ---------------------*- C -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions that compiled code calls while a model runs, and the layout of
// the descriptors that cross the border. Programs do not need this header.
//
// Descriptors are MLIR's: a memref of rank r is
//   { void *allocated; void *aligned; int64_t offset;
//     int64_t sizes[r]; int64_t strides[r]; }
// A tensor whose rank is known only at run time is a pair of such descriptors:
// its elements in C order (rank 1), then its shape (rank 1, int64). One border
// slot holds them one behind the other.
// Inside a model a bool is one byte that holds 0 or 1, a 4-bit or 2-bit
// element one byte: the border packs, unpacks and normalises.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_RT_RUNTIME_H
#define LOOPC_RT_RUNTIME_H

#include "loopc-rt/loopc_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct loopc_run loopc_run;

/// Memory of a run: `bytes` bytes, 64-byte aligned; bytes may be 0 (a valid,
/// unique pointer comes back). Returns null where there is none left, after
/// recording LOOPC_ERROR_MEMORY: the caller returns at once with a non-zero
/// status. A negative or absurd size is the same error.
void *loopc_rt_alloc(loopc_run *run, int64_t bytes);

/// Gives memory of loopc_rt_alloc back; null is a no-op.
void loopc_rt_free(loopc_run *run, void *pointer);

/// Copies between strided memrefs of one shape and element size: what MLIR's
/// memref.copy calls. `src` and `dst` are unranked descriptors
/// { int64_t rank; void *descriptor }.
void loopc_rt_copy(loopc_run *run, int64_t element_bytes, const void *src,
                   const void *dst);

/// Non-zero once the run shall end: cancelled or past its deadline. Records
/// the error. The caller returns at once with a non-zero status.
int32_t loopc_rt_poll(loopc_run *run);

/// Records LOOPC_ERROR_RUNTIME: `message` is a format in which "{}" stands for
/// the next of `values` (int64) and is written once as decimal number; the
/// iteration of the innermost loop, where `iteration` >= 0, is appended.
/// Only the first error of a run is kept. Returns a non-zero status.
int32_t loopc_rt_fail(loopc_run *run, const char *message, int64_t iteration,
                      const int64_t *values, int64_t num_values);

/// Calls `fn(args, begin, end)` over [0, n) in pieces, on the threads of the
/// run; returns when all are done.
void loopc_rt_parallel_for(loopc_run *run, int64_t n, int64_t grain,
                           void (*fn)(void *args, int64_t begin, int64_t end),
                           void *args);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // LOOPC_RT_RUNTIME_H
