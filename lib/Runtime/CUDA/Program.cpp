//===- Program.cpp - Device code and constants of models ------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code is loaded by the first run on a device and kept in the program's
// `state` until loopc_rt_cuda_unload().
//
//===----------------------------------------------------------------------===//

#include "Gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

using namespace loopc::rt;
using namespace loopc::rt::cuda;

/// Of all programs: taken to load one, and for a moment by each run.
static pthread_mutex_t programsLock = PTHREAD_MUTEX_INITIALIZER;

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

namespace {
/// What "sm_90", "sm_90a" or "sm_100f" means.
struct Chip {
  int32_t capability; ///< 90; 0 where the text is another
  char suffix;        ///< 0, 'a' (this one alone) or 'f' (its family)
};
} // namespace

static Chip readChip(const char *text) {
  if (!text || strncmp(text, "sm_", 3) != 0)
    return {0, 0};
  char *end = nullptr;
  long number = strtol(text + 3, &end, 10);
  bool isValid = number >= 10 && number < 10000 &&
                 (*end == 0 || ((*end == 'a' || *end == 'f') && end[1] == 0));
  return isValid ? Chip{static_cast<int32_t>(number), *end} : Chip{0, 0};
}

/// Code for a chip runs on later ones, unless it says otherwise.
static bool fits(const Chip &chip, int32_t capability) {
  if (chip.suffix == 'a')
    return capability == chip.capability;
  if (chip.suffix == 'f' && capability / 10 != chip.capability / 10)
    return false;
  return capability >= chip.capability;
}

static bool checkChip(const loopc_cuda_program &program, const Device &device,
                      Failure &failure) {
  Chip chip = readChip(program.chip);
  if (chip.capability == 0) {
    failure.set(LOOPC_ERROR_ABI,
                "the model was compiled for chip '%s', which "
                "this runtime does not know",
                program.chip ? program.chip : "");
    return false;
  }
  if (fits(chip, device.capability))
    return true;
  failure.set(LOOPC_ERROR_DEVICE,
              "the model was compiled for %s, device %d ('%s') is sm_%d: "
              "compile it with --chip=sm_%d",
              program.chip, device.ordinal, device.name, device.capability,
              device.capability);
  return false;
}

/// A cubin runs on chips of its major version.
static bool fitsCubin(const loopc_cuda_program &program, const Device &device) {
  return program.cubin && program.cubin_bytes != 0 &&
         readChip(program.chip).capability / 10 == device.capability / 10;
}

static bool loadModule(const loopc_cuda_program &program, Device &device,
                       CUmodule &module, Failure &failure) {
  // All of such a model computes on the host.
  if (program.num_kernels == 0)
    return true;
  if ((program.flags & LOOPC_CUDA_HAS_GRAPHS) && !checkGraphDriver(failure))
    return false;
  const Driver &driver = getDriver();
  // The PTX is compiled where the driver refuses the cubin.
  CUresult result = CUDA_SUCCESS;
  if (fitsCubin(program, device)) {
    result =
        driver.cuModuleLoadDataEx(&module, program.cubin, 0, nullptr, nullptr);
    if (result == CUDA_SUCCESS)
      return true;
    noteResult(device, result, "loading a cubin");
  }
  if (!program.ptx || program.ptx_bytes == 0) {
    if (result != CUDA_SUCCESS)
      setFailure(failure, device, result, "loading the model's cubin");
    else
      failure.set(LOOPC_ERROR_DEVICE,
                  "the model has no code for device %d ('%s'), sm_%d",
                  device.ordinal, device.name, device.capability);
    return false;
  }
  char log[640] = {};
  int options[] = {kJitErrorLog, kJitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1)};
  result = driver.cuModuleLoadDataEx(&module, program.ptx, 2, options, values);
  if (result == CUDA_SUCCESS)
    return true;
  int32_t status =
      setFailure(failure, device, result, "compiling the model's PTX");
  size_t length = strlen(failure.text);
  log[sizeof(log) - 1] = 0;
  if (log[0])
    snprintf(failure.text + length, sizeof(failure.text) - length, "\n%s", log);
  failure.status = status;
  return false;
}

static LoadedProgram *findLoaded(const loopc_cuda_program &program,
                                 const Device &device) {
  auto *loaded = static_cast<LoadedProgram *>(program.state);
  while (loaded && loaded->device != &device)
    loaded = loaded->next;
  return loaded;
}

/// Loads the code and adds it to the program's. The lock is held.
static LoadedProgram *addLoaded(loopc_cuda_program &program, Device &device,
                                Failure &failure) {
  auto *loaded = static_cast<LoadedProgram *>(calloc(1, sizeof(LoadedProgram)));
  size_t numKernels = program.num_kernels ? program.num_kernels : 1;
  auto *kernels = static_cast<Kernel *>(calloc(numKernels, sizeof(Kernel)));
  bool isLoaded = false;
  if (loaded && kernels)
    isLoaded = loadModule(program, device, loaded->module, failure);
  else
    failure.set(LOOPC_ERROR_MEMORY, "out of memory");
  if (!isLoaded) {
    free(kernels);
    free(loaded);
    return nullptr;
  }
  loaded->device = &device;
  loaded->kernels = kernels;
  pthread_mutex_init(&loaded->lock, nullptr);
  loaded->next = static_cast<LoadedProgram *>(program.state);
  program.state = loaded;
  return loaded;
}

LoadedProgram *loopc::rt::cuda::loadProgram(loopc_cuda_program &program,
                                            Device &device, Failure &failure) {
  if (!checkChip(program, device, failure))
    return nullptr;
  pthread_mutex_lock(&programsLock);
  LoadedProgram *loaded = findLoaded(program, device);
  if (!loaded)
    loaded = addLoaded(program, device, failure);
  pthread_mutex_unlock(&programsLock);
  return loaded;
}

Kernel *loopc::rt::cuda::getKernel(loopc_cuda_program &program,
                                   LoadedProgram &loaded, int32_t number,
                                   Failure &failure) {
  if (number < 0 || static_cast<uint32_t>(number) >= program.num_kernels) {
    failure.set(LOOPC_ERROR_ABI, "the model has no kernel %d", number);
    return nullptr;
  }
  Kernel &kernel = loaded.kernels[number];
  if (__atomic_load_n(&kernel.function, __ATOMIC_ACQUIRE))
    return &kernel;
  // Two threads may both ask; they get the same.
  CUfunction function = nullptr;
  const char *name = program.kernels[number];
  CUresult result =
      getDriver().cuModuleGetFunction(&function, loaded.module, name);
  if (result != CUDA_SUCCESS) {
    char where[256];
    snprintf(where, sizeof(where), "kernel '%s' of the model's code", name);
    setFailure(failure, *loaded.device, result, where);
    return nullptr;
  }
  __atomic_store_n(&kernel.function, function, __ATOMIC_RELEASE);
  return &kernel;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The entry of a constant, or the free one where it belongs. There is one.
static Constant &findConstant(LoadedProgram &loaded, const void *host,
                              int64_t bytes, int32_t space) {
  auto address = reinterpret_cast<uintptr_t>(host);
  size_t mask = loaded.constantsRoom - 1;
  size_t at = static_cast<size_t>(address * 0x9E3779B97F4A7C15u >> 20) & mask;
  for (;; at = (at + 1) & mask) {
    Constant &entry = loaded.constants[at];
    if (!entry.host ||
        (entry.host == host && entry.bytes == bytes && entry.space == space))
      return entry;
  }
}

/// Room for one more, with at least half of the entries free.
static bool growConstants(LoadedProgram &loaded) {
  if (loaded.numConstants * 2 < loaded.constantsRoom)
    return true;
  size_t oldRoom = loaded.constantsRoom;
  size_t room = oldRoom ? oldRoom * 2 : 64;
  auto *grown = static_cast<Constant *>(calloc(room, sizeof(Constant)));
  if (!grown)
    return false;
  Constant *old = loaded.constants;
  loaded.constants = grown;
  loaded.constantsRoom = room;
  for (size_t k = 0; k < oldRoom; ++k)
    if (old[k].host)
      findConstant(loaded, old[k].host, old[k].bytes, old[k].space) = old[k];
  free(old);
  return true;
}

static void freeConstant(Device &device, const Constant &constant) {
  if (constant.shared)
    returnShared(device, constant.shared);
  else
    getDriver().cuMemFree_v2(constant.device);
}

/// Memory for a constant, filled; runs of other streams may use it at once.
static int32_t makeConstant(loopc_run &run, Constant &constant) {
  Gpu &gpu = *run.gpu;
  size_t size = static_cast<size_t>(constant.bytes);
  CUresult result = CUDA_SUCCESS;
  if (constant.space == LOOPC_CUDA_SHARED) {
    constant.shared = takeShared(*gpu.device, size, result);
    if (!constant.shared)
      return recordResult(run, result, "allocating memory for a constant");
    void *data = constant.shared->data();
    memcpy(data, constant.host, size);
    constant.device = reinterpret_cast<CUdeviceptr>(data);
    return LOOPC_OK;
  }
  result = allocateLasting(*gpu.device, size, constant.device);
  if (result != CUDA_SUCCESS)
    return recordResult(run, result, "allocating memory for a constant");
  if (size != 0) {
    gpu.isBusy = true;
    result = getDriver().cuMemcpyHtoDAsync_v2(constant.device, constant.host,
                                              size, gpu.stream);
    int32_t status = result == CUDA_SUCCESS
                         ? waitForStream(run)
                         : recordResult(run, result, "copying a constant");
    if (status) {
      getDriver().cuMemFree_v2(constant.device);
      return status;
    }
    countCopy(run, size);
  }
  return LOOPC_OK;
}

static void *addConstant(loopc_run &run, LoadedProgram &loaded,
                         const void *host, int64_t bytes, int32_t space) {
  pthread_mutex_lock(&loaded.lock);
  void *device = nullptr;
  if (growConstants(loaded)) {
    // Another run may have been here meanwhile.
    Constant &entry = findConstant(loaded, host, bytes, space);
    Constant made = {host, bytes, space, 0, nullptr};
    if (!entry.host && !makeConstant(run, made)) {
      entry = made;
      ++loaded.numConstants;
    }
    if (entry.host)
      device = reinterpret_cast<void *>(entry.device);
  } else {
    recordError(run, LOOPC_ERROR_MEMORY, "out of memory");
  }
  pthread_mutex_unlock(&loaded.lock);
  return device;
}

void *loopc::rt::cuda::getConstant(loopc_run &run, LoadedProgram &loaded,
                                   const void *host, int64_t bytes,
                                   int32_t space) {
  if (!host || bytes < 0) {
    recordError(run, LOOPC_ERROR_ABI, "the model has a constant without bytes");
    return nullptr;
  }
  void *device = nullptr;
  pthread_mutex_lock(&loaded.lock);
  if (loaded.constantsRoom != 0)
    if (const Constant &entry = findConstant(loaded, host, bytes, space);
        entry.host)
      device = reinterpret_cast<void *>(entry.device);
  pthread_mutex_unlock(&loaded.lock);
  if (device)
    return device;
  // Kernels of this run may take long: nobody else waits for them.
  if (run.gpu->isBusy && waitForStream(run))
    return nullptr;
  return addConstant(run, loaded, host, bytes, space);
}

static void unload(LoadedProgram *loaded) {
  ContextScope scope(*loaded->device);
  // In a context that was lost nothing can be freed.
  bool isUsable =
      scope.result == CUDA_SUCCESS &&
      __atomic_load_n(&loaded->device->lost, __ATOMIC_ACQUIRE) == CUDA_SUCCESS;
  for (size_t k = 0; isUsable && k < loaded->constantsRoom; ++k)
    if (loaded->constants[k].host)
      freeConstant(*loaded->device, loaded->constants[k]);
  destroyGraphs(*loaded, isUsable);
  if (isUsable && loaded->module)
    getDriver().cuModuleUnload(loaded->module);
  if (isUsable)
    trimPool(*loaded->device);
  pthread_mutex_destroy(&loaded->lock);
  free(loaded->constants);
  free(loaded->kernels);
  free(loaded);
}

extern "C" void loopc_rt_cuda_unload(loopc_cuda_program *program) {
  if (!program)
    return;
  pthread_mutex_lock(&programsLock);
  auto *loaded = static_cast<LoadedProgram *>(program->state);
  program->state = nullptr;
  pthread_mutex_unlock(&programsLock);
  while (loaded) {
    LoadedProgram *next = loaded->next;
    unload(loaded);
    loaded = next;
  }
}
