//===- SpinDriver.cpp - A driver whose kernels take their time ------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fake driver of test/cuda with some functions of its own: that one runs
// kernels when it is asked whether they are done, and says yes. Here a kernel
// can be made to run until its run's cancel word is set.
//
//===----------------------------------------------------------------------===//

#include "SpinDriver.h"

#include "loopc-rt/cuda.h"

#include <atomic>
#include <dlfcn.h>

using namespace loopc::test;

static std::atomic<uint64_t> spinningControl;
static std::atomic<int> armed, queries;

void loopc::test::makeNextKernelSpin() { armed = 1; }
int loopc::test::countQueriesWhileSpinning() { return queries; }

template <typename Function> static Function next(const char *name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

extern "C" __attribute__((visibility("default"))) int
cuLaunchKernel(void *function, unsigned gridX, unsigned gridY, unsigned gridZ,
               unsigned blockX, unsigned blockY, unsigned blockZ,
               unsigned sharedBytes, void *stream, void **arguments,
               void **extra) {
  if (armed.exchange(0)) {
    queries = 0;
    spinningControl = *static_cast<uint64_t *>(arguments[0]);
    return 0;
  }
  static auto *real = next<decltype(&cuLaunchKernel)>("cuLaunchKernel");
  return real(function, gridX, gridY, gridZ, blockX, blockY, blockZ,
              sharedBytes, stream, arguments, extra);
}

/// Of one attribute, without an error where the memory is not known.
extern "C" __attribute__((visibility("default"))) int
cuPointerGetAttributes(unsigned, int *attributes, void **values,
                       uint64_t pointer) {
  static auto *real =
      next<int (*)(void *, int, uint64_t)>("cuPointerGetAttribute");
  if (real(values[0], attributes[0], pointer))
    *static_cast<unsigned *>(values[0]) = 0;
  return 0;
}

extern "C" __attribute__((visibility("default"))) int
cuStreamQuery(void *stream) {
  static auto *real = next<decltype(&cuStreamQuery)>("cuStreamQuery");
  if (uint64_t address = spinningControl) {
    // What was begun before the kernel is done before it: the control is there.
    if (int result = real(stream))
      return result;
    static auto *copy =
        next<int (*)(void *, uint64_t, size_t)>("cuMemcpyDtoH_v2");
    loopc_cuda_control control = {};
    copy(&control, address, sizeof(control));
    if (control.cancel && *control.cancel == 0) {
      ++queries;
      return 600; // CUDA_ERROR_NOT_READY
    }
    spinningControl = 0;
  }
  return real(stream);
}
