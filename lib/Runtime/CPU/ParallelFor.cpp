//===- ParallelFor.cpp - Parallel loops, on one thread --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file of its own with weak definitions: libloopc_rt_threads.a, linked in
// front of this library, defines these functions instead.
//
//===----------------------------------------------------------------------===//

#include "Run.h"

__attribute__((weak)) int32_t loopc::rt::countDefaultThreads() { return 1; }

extern "C" __attribute__((weak)) int32_t loopc_rt_num_threads(loopc_run *) {
  return 1;
}

extern "C" __attribute__((weak)) void
loopc_rt_parallel_for(loopc_run *, int64_t n, int64_t,
                      void (*fn)(void *args, int64_t begin, int64_t end),
                      void *args) {
  if (n > 0)
    fn(args, 0, n);
}

extern "C" __attribute__((weak)) int32_t loopc_rt_try_parallel_for(
    loopc_run *, int64_t, int64_t,
    void (*)(void *args, int64_t begin, int64_t end), void *, int32_t) {
  return 0;
}
