//===- Cores.h - Cores that a process may compute on ------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How many threads a run has where its caller does not say, and which of them
// are there beside other runs of the process.
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_RUNTIME_THREADS_CORES_H
#define LOOPC_LIB_RUNTIME_THREADS_CORES_H

#include <sched.h>
#include <stdint.h>

struct loopc_run;

namespace loopc::rt {

/// The physical cores of the processors in `mask`, at most as many as the CPU
/// quota of the process's control groups, rounded up; at least 1. `root` is
/// where the system's files are: "" but in tests.
int32_t countCores(const char *root, const cpu_set_t &mask);

/// Processors that the calling thread may be scheduled on; false where the mask
/// has no room for them.
bool readMask(cpu_set_t &mask);

/// The number that an environment variable begins with; 0 where there is none.
int32_t parseThreads(const char *text);

/// The default when threads are about to be used: as `countDefaultThreads`,
/// with the topology and the quota, which take longer to read.
int32_t limitDefaultThreads();

/// Threads for `run`, the caller's own included, that compute on cores which no
/// other run of the process computes on: its number, or, where it has the
/// default, what is left of it, a power of two. Counted until
/// `returnCores`; may be called again by a run that got 1.
int32_t takeCores(loopc_run &run);

/// The run has ended.
void returnCores(loopc_run &run);

} // namespace loopc::rt

#endif // LOOPC_LIB_RUNTIME_THREADS_CORES_H
