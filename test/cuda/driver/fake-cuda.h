//===- fake-cuda.h - Control of the fake CUDA driver ---------- -*- C -*---===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What libcuda.so.1 of the tests has beside the driver's functions. Settings
// are read from the environment when the library is first used; README.md tells
// them.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_TEST_FAKE_CUDA_H
#define LOOPC_TEST_FAKE_CUDA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FAKE_CUDA_EXPORT __attribute__((visibility("default")))

/// Of a copy or an allocation. Pageable and pinned memory are the host's.
enum { FAKE_CUDA_HOST, FAKE_CUDA_DEVICE, FAKE_CUDA_MANAGED, FAKE_CUDA_KINDS };

typedef struct {
  uint64_t calls;
  uint64_t launches; ///< of all kinds
  uint64_t cooperative_launches;
  uint64_t cluster_launches; ///< with clusters of more than one block
  uint64_t synchronizations; ///< of streams, events and the context
  uint64_t instructions;     ///< that threads executed
  /// Number and bytes of copies, [from][to].
  uint64_t copies[FAKE_CUDA_KINDS][FAKE_CUDA_KINDS];
  uint64_t copied_bytes[FAKE_CUDA_KINDS][FAKE_CUDA_KINDS];
  uint64_t memsets;
  /// By FAKE_CUDA_...; HOST is pinned memory. Without variables of modules.
  uint64_t allocations[FAKE_CUDA_KINDS];
  uint64_t frees[FAKE_CUDA_KINDS];
  /// What is alive now: leaks, when all should be released.
  uint64_t live_allocations, live_bytes, peak_bytes;
  uint64_t live_modules, live_streams, live_events;
  uint64_t pending;           ///< work that waits for a synchronisation
  uint64_t completed_queries; ///< of streams and events: all was done
  uint64_t graph_launches;
  uint64_t graph_kernels; ///< that launches of graphs executed
  uint64_t live_graphs;   ///< and instances of them
} fake_cuda_statistics_t;

FAKE_CUDA_EXPORT void fake_cuda_statistics(fake_cuda_statistics_t *result);

/// How often the function was called, by its name without _v2.
FAKE_CUDA_EXPORT uint64_t fake_cuda_call_count(const char *function);

/// What the last kernel that failed did, or "".
FAKE_CUDA_EXPORT const char *fake_cuda_last_fault(void);

/// Overrides an environment variable of README.md; null: as if it were not set.
/// Counts of calls begin anew.
FAKE_CUDA_EXPORT void fake_cuda_set(const char *variable, const char *value);

/// Forgets everything, as if the library had just been loaded, with the
/// variables of the environment. Frees all memory.
FAKE_CUDA_EXPORT void fake_cuda_reset(void);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // LOOPC_TEST_FAKE_CUDA_H
