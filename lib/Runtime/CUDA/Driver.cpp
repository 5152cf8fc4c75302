//===- Driver.cpp - The CUDA driver, opened by name -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include "loopc-rt/loopc_rt.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

using namespace loopc::rt::cuda;

int32_t Failure::set(int32_t newStatus, const char *format, ...) {
  status = newStatus;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  return status;
}

static Driver driver;
static bool isOpen; ///< written under the lock, and never unset
static pid_t owner; ///< the process that opened it
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

namespace {
struct Symbol {
  const char *name;
  void **slot;
  bool isOptional;
};
} // namespace

/// Looks every function up; false after setting `failure`.
static bool findFunctions(void *library, const char *path, Failure &failure) {
#define LOOPC_CUDA_SYMBOL(name, parameters)                                    \
  {#name, reinterpret_cast<void **>(&driver.name), false},
#define LOOPC_CUDA_OPTIONAL(name, parameters)                                  \
  {#name, reinterpret_cast<void **>(&driver.name), true},
  static const Symbol symbols[] = {LOOPC_CUDA_DRIVER(
      LOOPC_CUDA_SYMBOL) LOOPC_CUDA_DRIVER_OPTIONAL(LOOPC_CUDA_OPTIONAL)};
#undef LOOPC_CUDA_OPTIONAL
#undef LOOPC_CUDA_SYMBOL
  for (const Symbol &symbol : symbols) {
    *symbol.slot = dlsym(library, symbol.name);
    if (!*symbol.slot && !symbol.isOptional) {
      failure.set(LOOPC_ERROR_DEVICE,
                  "the CUDA driver is too old: %s has no function %s", path,
                  symbol.name);
      return false;
    }
  }
  return true;
}

static bool open(Failure &failure) {
  const char *path = getenv("LOOPC_CUDA_DRIVER");
  if (!path || !*path)
    path = "libcuda.so.1";
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    failure.set(LOOPC_ERROR_DEVICE, "no CUDA driver: %s cannot be opened (%s)",
                path, reason ? reason : "no reason given");
    return false;
  }
  // The library stays open: other threads may be in it, and a driver that was
  // initialised does not go away.
  if (!findFunctions(library, path, failure))
    return false;
  CUresult result = driver.cuInit(0);
  if (result == CUDA_SUCCESS)
    return true;
  failure.set(LOOPC_ERROR_DEVICE, "no CUDA device: cuInit: %s",
              ResultText(result).text);
  return false;
}

bool loopc::rt::cuda::isOwnDriver(Failure &failure) {
  if (owner == getpid())
    return true;
  failure.set(LOOPC_ERROR_DEVICE,
              "CUDA was initialised by the process that this one was forked "
              "from, and cannot be used in both: start processes that use it "
              "anew (in Python by multiprocessing's \"spawn\")");
  return false;
}

const Driver *loopc::rt::cuda::openDriver(Failure &failure) {
  if (__atomic_load_n(&isOpen, __ATOMIC_ACQUIRE))
    return isOwnDriver(failure) ? &driver : nullptr;
  pthread_mutex_lock(&lock);
  // A failure is not kept: it is cheap to fail again.
  bool succeeded = isOpen || open(failure);
  if (succeeded && !isOpen)
    owner = getpid();
  if (succeeded)
    __atomic_store_n(&isOpen, true, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&lock);
  return succeeded ? &driver : nullptr;
}

const Driver &loopc::rt::cuda::getDriver() { return driver; }

bool loopc::rt::cuda::checkGraphDriver(Failure &failure) {
  int version = 0;
  if (driver.cuDriverGetVersion)
    driver.cuDriverGetVersion(&version);
  bool isThere = version >= kGraphDriver && driver.cuGraphCreate &&
                 driver.cuGraphAddNode_v2 &&
                 driver.cuGraphConditionalHandleCreate &&
                 driver.cuGraphInstantiateWithFlags && driver.cuGraphLaunch &&
                 driver.cuGraphExecDestroy && driver.cuGraphDestroy;
  if (!isThere)
    failure.set(LOOPC_ERROR_DEVICE,
                "loops of the model are CUDA graphs, which take a driver of "
                "CUDA 12.4 or later; this one is of CUDA %d.%d: compile with "
                "--device-loops=kernel",
                version / 1000, version % 1000 / 10);
  return isThere;
}

ResultText::ResultText(CUresult result) {
  const char *name = nullptr, *meaning = nullptr;
  driver.cuGetErrorName(result, &name);
  driver.cuGetErrorString(result, &meaning);
  if (name && meaning)
    snprintf(text, sizeof(text), "%s (%s)", name, meaning);
  else
    snprintf(text, sizeof(text), "CUDA error %d", result);
}
