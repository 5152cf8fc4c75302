//===- CudaTest.cpp - Runs on a GPU ---------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Against the fake driver of test/cuda, which executes the PTX.
//
//===----------------------------------------------------------------------===//

#include "CudaModel.h"
#include "SpinDriver.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>
#include <thread>

using namespace loopc::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// Of the model that runs.
TestProgram *theProgram;

/// y = x + 1, as the compiler would write it.
int32_t addOneEntry(void *run, void **inputs, void **outputs) {
  Calls calls(run, theProgram->program);
  if (int32_t status = loopc_rt_cuda_begin(calls.run, &calls.program))
    return status;
  auto &x = getMemRef<1>(inputs[0]);
  int64_t bytes = x.sizes[0] * 4;
  void *dx = calls.input(x.data<float>(), bytes);
  void *dy =
      dx ? loopc_rt_cuda_alloc(calls.run, bytes, LOOPC_CUDA_DEVICE) : nullptr;
  if (!dy)
    return LOOPC_ERROR_RUNTIME;
  if (int32_t status = calls.addOne(dx, dy, static_cast<int32_t>(x.sizes[0])))
    return status;
  void *y = loopc_rt_cuda_output(calls.run, dy, bytes);
  if (!y)
    return LOOPC_ERROR_RUNTIME;
  loopc_rt_cuda_free(calls.run, dy);
  if (int32_t status = loopc_rt_cuda_sync(calls.run))
    return status;
  auto &result = getMemRef<1>(outputs[0]);
  result = {y, y, 0, {x.sizes[0]}, {1}};
  return LOOPC_OK;
}

TestModel makeModel(TestProgram &program, Entry entry = addOneEntry) {
  theProgram = &program;
  TestModel model(entry);
  model.input("x", kF32, {open()}).output("y", kF32, {open()});
  model.model.device_program = &program.program;
  return model;
}

/// A model with nothing but an entry.
TestModel makePlainModel(TestProgram &program, Entry entry) {
  theProgram = &program;
  TestModel model(entry);
  model.model.device_program = &program.program;
  return model;
}

std::vector<float> ramp(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

/// Runs y = x + 1 with values of the host.
Outcome runAddOne(TestModel &model, size_t count,
                  const loopc_run_options *options = nullptr,
                  bool checks = true) {
  TestTensor<float> x(kF32, {static_cast<int64_t>(count)}, ramp(count));
  std::vector<loopc_value> outputs(1);
  Outcome outcome = runModel(model, {x.get()}, outputs, options);
  if (outcome.status == LOOPC_OK && checks) {
    std::vector<float> expected = ramp(count);
    for (float &value : expected)
      value += 1;
    EXPECT_EQ(getData<float>(outputs[0], count), expected);
  } else {
    EXPECT_TRUE(outcome.status == LOOPC_OK || isZero(outputs[0]));
  }
  loopc_value_release(&outputs[0]);
  return outcome;
}

Outcome runPlain(TestModel &model, const loopc_run_options *options = nullptr) {
  std::vector<loopc_value> outputs;
  return runModel(model, {}, outputs, options);
}

/// Live memory, streams and modules of the driver.
std::vector<uint64_t> countLive() {
  settle();
  fake_cuda_statistics_t counts = getCounts();
  return {counts.live_allocations, counts.live_bytes, counts.live_modules,
          counts.live_streams};
}

//===----------------------------------------------------------------------===//
// What a run does
//===----------------------------------------------------------------------===//

TEST(Cuda, RunsKernels) {
  TestProgram program;
  TestModel model = makeModel(program);
  Outcome outcome = runAddOne(model, 1000);
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  // The device's memory and the host's copy of the result.
  EXPECT_EQ(outcome.statistics.allocations, 2u);
  EXPECT_EQ(outcome.statistics.deallocations, 1u);
  EXPECT_EQ(outcome.statistics.peak_bytes, 8000u);
  EXPECT_EQ(outcome.statistics.copied_bytes, 8000u);
}

TEST(Cuda, EmptyTensors) {
  TestProgram program;
  TestModel model = makePlainModel(program, [](void *run, void **, void **) {
    Calls calls(run, theProgram->program);
    EXPECT_EQ(loopc_rt_cuda_begin(calls.run, &calls.program), LOOPC_OK);
    EXPECT_NE(calls.input("", 0), nullptr);
    void *empty = loopc_rt_cuda_alloc(calls.run, 0, LOOPC_CUDA_DEVICE);
    void *other = loopc_rt_cuda_alloc(calls.run, 0, LOOPC_CUDA_DEVICE);
    EXPECT_NE(empty, other);
    EXPECT_NE(loopc_rt_cuda_output(calls.run, empty, 0), nullptr);
    EXPECT_EQ(loopc_rt_cuda_copy(calls.run, other, empty, 0), LOOPC_OK);
    loopc_rt_cuda_free(calls.run, nullptr);
    return loopc_rt_cuda_sync(calls.run);
  });
  EXPECT_EQ(runPlain(model).status, LOOPC_OK);
}

/// Names of the driver's functions that a warm run calls.
std::vector<std::string> readLog(const std::string &path) {
  std::vector<std::string> names;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    names.push_back(line.substr(0, line.find_first_of(" ")));
  return names;
}

TEST(Cuda, CallsOfARun) {
  TestProgram program;
  TestModel model = makeModel(program);
  runAddOne(model, 100);
  std::string path = testing::TempDir() + "cuda-calls.txt";
  std::remove(path.c_str());
  {
    Setting log("LOOPC_FAKE_CUDA_LOG", path);
    Setting eager("LOOPC_FAKE_CUDA_LAZY", "0");
    runAddOne(model, 100);
  }
  // The result is copied when the kernel is done: the copy would wait for it
  // in the driver, where nobody could end the run.
  EXPECT_THAT(readLog(path),
              ElementsAre("cuCtxPushCurrent", "cuMemAllocAsync",
                          "cuMemcpyHtoDAsync", "cuMemAllocAsync",
                          "cuLaunchKernel", "cuPointerGetAttribute",
                          "cuStreamQuery", "cuMemcpyAsync", "cuMemcpyDtoHAsync",
                          "cuStreamQuery", "cuMemFreeAsync", "cuMemFreeAsync",
                          "cuCtxPopCurrent"));
}

TEST(Cuda, CopiesByDirection) {
  TestProgram program;
  TestModel model = makeModel(program);
  runAddOne(model, 100);
  fake_cuda_statistics_t before = getCounts();
  runAddOne(model, 100);
  fake_cuda_statistics_t after = getCounts();
  auto count = [&](int from, int to) {
    return after.copied_bytes[from][to] - before.copied_bytes[from][to];
  };
  EXPECT_EQ(count(FAKE_CUDA_HOST, FAKE_CUDA_DEVICE), 400u);
  // The result and what the checks left.
  EXPECT_EQ(count(FAKE_CUDA_DEVICE, FAKE_CUDA_HOST), 400u + 280u);
  EXPECT_EQ(count(FAKE_CUDA_DEVICE, FAKE_CUDA_DEVICE), 0u);
  EXPECT_EQ(after.launches - before.launches, 1u);
  EXPECT_EQ(after.synchronizations, before.synchronizations);
}

TEST(Cuda, CodeIsLoadedOnce) {
  fake_cuda_set("LOOPC_FAKE_CUDA_QUIET", "1"); // Counts begin anew.
  uint64_t modules = getCounts().live_modules;
  {
    TestProgram program;
    TestModel model = makeModel(program);
    runAddOne(model, 10);
    std::vector<uint64_t> live = countLive();
    for (int i = 0; i < 3; ++i)
      runAddOne(model, 10);
    EXPECT_EQ(countLive(), live);
    EXPECT_EQ(fake_cuda_call_count("cuModuleLoadDataEx"), 1u);
    EXPECT_EQ(fake_cuda_call_count("cuModuleGetFunction"), 1u);
    EXPECT_EQ(getCounts().live_modules, modules + 1);
    // What was unloaded is loaded again.
    loopc_rt_cuda_unload(&program.program);
    EXPECT_EQ(getCounts().live_modules, modules);
    EXPECT_EQ(runAddOne(model, 10).status, LOOPC_OK);
  }
  EXPECT_EQ(getCounts().live_modules, modules);
}

extern "C" int cuCtxGetCurrent(void **context);

TEST(Cuda, TheThreadsContextComesBack) {
  TestProgram program;
  TestModel model = makeModel(program);
  runAddOne(model, 10);
  void *context = &context;
  EXPECT_EQ(cuCtxGetCurrent(&context), 0);
  EXPECT_EQ(context, nullptr);
}

TEST(Cuda, NothingLeaks) {
  TestProgram program;
  TestModel model = makeModel(program);
  // The pinned memory that large copies go through stays.
  runAddOne(model, 100'000);
  std::vector<uint64_t> live = countLive();
  runAddOne(model, 100'000);
  EXPECT_EQ(countLive(), live);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST(Cuda, ConstantsAreCopiedOnce) {
  static const std::vector<float> weight = ramp(64);
  static int numRuns;
  TestProgram program;
  TestModel model = makePlainModel(program, [](void *run, void **, void **) {
    Calls calls(run, theProgram->program);
    loopc_rt_cuda_begin(calls.run, &calls.program);
    static void *first;
    for (int32_t space : {LOOPC_CUDA_DEVICE, LOOPC_CUDA_SHARED}) {
      void *device = calls.input(weight.data(), 256, space, true);
      EXPECT_EQ(calls.input(weight.data(), 256, space, true), device);
      if (space == LOOPC_CUDA_DEVICE && numRuns++)
        EXPECT_EQ(device, first);
      else if (space == LOOPC_CUDA_DEVICE)
        first = device;
      else
        EXPECT_EQ(memcmp(device, weight.data(), 256), 0);
    }
    return loopc_rt_cuda_sync(calls.run);
  });
  numRuns = 0;
  EXPECT_EQ(runPlain(model).status, LOOPC_OK);
  uint64_t copied = getCounts().copied_bytes[FAKE_CUDA_HOST][FAKE_CUDA_DEVICE];
  EXPECT_EQ(runPlain(model).status, LOOPC_OK);
  EXPECT_EQ(getCounts().copied_bytes[FAKE_CUDA_HOST][FAKE_CUDA_DEVICE], copied);
  uint64_t live = getCounts().live_allocations;
  loopc_rt_cuda_unload(&program.program);
  EXPECT_EQ(getCounts().live_allocations, live - 1);
}

TEST(Cuda, InputsAreCopiedOnceInARun) {
  static const std::vector<float> values = ramp(8);
  TestProgram program;
  TestModel model = makePlainModel(program, [](void *run, void **, void **) {
    Calls calls(run, theProgram->program);
    loopc_rt_cuda_begin(calls.run, &calls.program);
    void *whole = calls.input(values.data(), 32);
    EXPECT_EQ(calls.input(values.data(), 32), whole);
    EXPECT_NE(calls.input(values.data(), 16), whole);
    void *shared = calls.input(values.data(), 32, LOOPC_CUDA_SHARED);
    EXPECT_EQ(memcmp(shared, values.data(), 32), 0);
    return loopc_rt_cuda_sync(calls.run);
  });
  EXPECT_EQ(runPlain(model).status, LOOPC_OK);
}

TEST(Cuda, FreedMemoryIsUsedAgain) {
  TestProgram program;
  TestModel model = makePlainModel(program, [](void *run, void **, void **) {
    Calls calls(run, theProgram->program);
    loopc_rt_cuda_begin(calls.run, &calls.program);
    void *block = loopc_rt_cuda_alloc(calls.run, 5000, LOOPC_CUDA_DEVICE);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 256, 0u);
    uint64_t before = getCounts().allocations[FAKE_CUDA_DEVICE];
    for (int i = 0; i < 1000; ++i) {
      loopc_rt_cuda_free(calls.run, block);
      block = loopc_rt_cuda_alloc(calls.run, 5000 - i % 8, LOOPC_CUDA_DEVICE);
    }
    EXPECT_EQ(getCounts().allocations[FAKE_CUDA_DEVICE], before);
    // Many at a time: the table of blocks grows.
    std::vector<void *> blocks;
    for (int i = 0; i < 1000; ++i)
      blocks.push_back(loopc_rt_cuda_alloc(calls.run, 100, LOOPC_CUDA_DEVICE));
    for (size_t i = 0; i < blocks.size(); i += 2)
      loopc_rt_cuda_free(calls.run, blocks[i]);
    return loopc_rt_cuda_sync(calls.run);
  });
  runPlain(model);
  std::vector<uint64_t> live = countLive();
  EXPECT_EQ(runPlain(model).status, LOOPC_OK);
  EXPECT_EQ(countLive(), live);
}

/// Shared memory of `bytes` bytes that a kernel and the host write.
int32_t shareMemory(Calls &calls, int64_t bytes) {
  auto count = static_cast<int32_t>(bytes / 4);
  auto *x = static_cast<float *>(
      loopc_rt_cuda_alloc(calls.run, bytes, LOOPC_CUDA_SHARED));
  auto *y = static_cast<float *>(
      loopc_rt_cuda_alloc(calls.run, bytes, LOOPC_CUDA_SHARED));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(x) % 256, 0u);
  for (int32_t i = 0; i < count; ++i)
    x[i] = static_cast<float>(i);
  if (int32_t status = calls.addOne(x, y, count))
    return status;
  // Kernels may still use it: nobody gets it before they are done.
  loopc_rt_free(calls.run, x);
  auto *z = static_cast<float *>(
      loopc_rt_cuda_alloc(calls.run, bytes, LOOPC_CUDA_SHARED));
  EXPECT_NE(z, x);
  if (int32_t status = loopc_rt_cuda_sync(calls.run))
    return status;
  EXPECT_EQ(y[count - 1], static_cast<float>(count));
  EXPECT_EQ(loopc_rt_cuda_alloc(calls.run, bytes, LOOPC_CUDA_SHARED), x);
  loopc_rt_retain(calls.run, y);
  loopc_rt_free(calls.run, y);
  EXPECT_EQ(y[0], 1);
  return LOOPC_OK;
}

TEST(Cuda, SharedMemory) {
  TestProgram program;
  TestModel model = makePlainModel(program, [](void *run, void **, void **) {
    Calls calls(run, theProgram->program);
    loopc_rt_cuda_begin(calls.run, &calls.program);
    // Pinned and managed memory.
    if (int32_t status = shareMemory(calls, 1024))
      return status;
    return shareMemory(calls, 256 << 10);
  });
  Outcome outcome = runPlain(model);
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  // The next run gets the same memory.
  uint64_t allocated = getCounts().allocations[FAKE_CUDA_MANAGED];
  EXPECT_EQ(runPlain(model).status, LOOPC_OK);
  EXPECT_EQ(getCounts().allocations[FAKE_CUDA_MANAGED], allocated);
}

/// What the runtime knows of a block it writes while kernels use the block: on
/// a page that no kernel touches.
TEST(Cuda, SharedMemoryThatIsGuarded) {
  TestProgram program;
  TestModel model = makePlainModel(program, [](void *run, void **, void **) {
    Calls calls(run, theProgram->program);
    loopc_rt_cuda_begin(calls.run, &calls.program);
    return shareMemory(calls, 256 << 10);
  });
  Setting guard("LOOPC_FAKE_CUDA_GUARD", "1");
  Outcome outcome = runPlain(model);
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
}

TEST(Cuda, SharedMemoryIsCopiedIntoOutputs) {
  TestProgram program;
  TestModel model = makeModel(program, [](void *run, void **, void **outputs) {
    Calls calls(run, theProgram->program);
    loopc_rt_cuda_begin(calls.run, &calls.program);
    auto *y = static_cast<float *>(
        loopc_rt_cuda_alloc(calls.run, 8, LOOPC_CUDA_SHARED));
    y[0] = 1;
    y[1] = 2;
    getMemRef<1>(outputs[0]) = {y, y, 0, {2}, {1}};
    return loopc_rt_cuda_sync(calls.run);
  });
  TestTensor<float> x(kF32, {2}, {0, 0});
  std::vector<loopc_value> outputs(1), others(1);
  EXPECT_EQ(runModel(model, {x.get()}, outputs).status, LOOPC_OK);
  EXPECT_EQ(runModel(model, {x.get()}, others).status, LOOPC_OK);
  EXPECT_THAT(getData<float>(outputs[0], 2), ElementsAre(1, 2));
  EXPECT_NE(outputs[0].as.tensor.data, others[0].as.tensor.data);
  loopc_value_release(&outputs[0]);
  loopc_value_release(&others[0]);
}

TEST(Cuda, CopyBetweenAllKinds) {
  TestProgram program;
  TestModel model = makePlainModel(program, [](void *run, void **, void **) {
    Calls calls(run, theProgram->program);
    loopc_rt_cuda_begin(calls.run, &calls.program);
    int64_t bytes = 4096;
    std::vector<void *> chain = {
        loopc_rt_alloc(calls.run, bytes),
        loopc_rt_cuda_alloc(calls.run, bytes, LOOPC_CUDA_DEVICE),
        loopc_rt_cuda_alloc(calls.run, bytes, LOOPC_CUDA_SHARED),
        loopc_rt_cuda_alloc(calls.run, bytes, LOOPC_CUDA_DEVICE),
        loopc_rt_cuda_alloc(calls.run, bytes, LOOPC_CUDA_DEVICE),
        loopc_rt_alloc(calls.run, bytes),
        loopc_rt_alloc(calls.run, bytes)};
    memset(chain[0], 42, static_cast<size_t>(bytes));
    for (size_t i = 0; i + 1 < chain.size(); ++i)
      if (int32_t status =
              loopc_rt_cuda_copy(calls.run, chain[i + 1], chain[i], bytes))
        return status;
    int32_t status = loopc_rt_cuda_sync(calls.run);
    EXPECT_EQ(memcmp(chain[0], chain.back(), static_cast<size_t>(bytes)), 0);
    return status;
  });
  EXPECT_EQ(runPlain(model).status, LOOPC_OK);
}

TEST(Cuda, MemoryLimitCountsTheDevice) {
  TestProgram program;
  TestModel model = makeModel(program);
  loopc_run_options options = makeOptions();
  options.memory_limit = 10'000;
  EXPECT_EQ(runAddOne(model, 500, &options).status, LOOPC_OK);
  Outcome outcome = runAddOne(model, 1500, &options);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_MEMORY);
  EXPECT_THAT(outcome.message, HasSubstr("exceed the limit of 10000 bytes"));
}

TEST(Cuda, NoMemoryOnTheDevice) {
  TestProgram program;
  TestModel model = makePlainModel(program, [](void *run, void **, void **) {
    Calls calls(run, theProgram->program);
    loopc_rt_cuda_begin(calls.run, &calls.program);
    loopc_rt_cuda_alloc(calls.run, 1 << 20, LOOPC_CUDA_DEVICE);
    EXPECT_EQ(
        loopc_rt_cuda_alloc(calls.run, int64_t(1) << 50, LOOPC_CUDA_DEVICE),
        nullptr);
    return int32_t(LOOPC_ERROR_RUNTIME);
  });
  Outcome outcome = runPlain(model);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_MEMORY);
  EXPECT_THAT(outcome.message, HasSubstr("out of memory: device 0"));
  EXPECT_THAT(outcome.message, HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"));
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

TEST(Cuda, CooperativeKernelsFitTheDevice) {
  TestProgram program;
  static int64_t wanted, met;
  TestModel model = makePlainModel(program, [](void *run, void **, void **) {
    Calls calls(run, theProgram->program);
    loopc_rt_cuda_begin(calls.run, &calls.program);
    auto *n = static_cast<int64_t *>(
        loopc_rt_cuda_alloc(calls.run, 8, LOOPC_CUDA_SHARED));
    for (int i = 0; i < 3; ++i)
      if (int32_t status = calls.launch(kCountBlocks, wanted, 1,
                                        LOOPC_CUDA_COOPERATIVE, {&n}))
        return status;
    int32_t status = loopc_rt_cuda_sync(calls.run);
    met = *n;
    return status;
  });
  fake_cuda_statistics_t before = getCounts();
  wanted = 2;
  Outcome outcome = runPlain(model);
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  // Arrivals of the kernel before do not count.
  EXPECT_EQ(met, 2);
  EXPECT_EQ(getCounts().cooperative_launches, before.cooperative_launches + 3);
  wanted = 1'000'000;
  EXPECT_EQ(runPlain(model).status, LOOPC_OK);
  EXPECT_GT(met, 2);
  EXPECT_LT(met, 10'000);
  // One block waits for nobody: the count is not cleared.
  TestModel single = makePlainModel(program, [](void *run, void **, void **) {
    Calls calls(run, theProgram->program);
    loopc_rt_cuda_begin(calls.run, &calls.program);
    return calls.launch(kFailCheck, 1, 32, LOOPC_CUDA_COOPERATIVE, {});
  });
  before = getCounts();
  EXPECT_EQ(runPlain(single).status, LOOPC_ERROR_RUNTIME);
  EXPECT_EQ(getCounts().memsets, before.memsets);
  EXPECT_EQ(getCounts().cooperative_launches, before.cooperative_launches);
}

int32_t failEntry(void *run, void **, void **) {
  Calls calls(run, theProgram->program);
  loopc_rt_cuda_begin(calls.run, &calls.program);
  if (int32_t status = calls.launch(kFailCheck, 1, 1, 0, {}))
    return status;
  return loopc_rt_cuda_sync(calls.run);
}

TEST(Cuda, FailedCheck) {
  TestProgram program;
  TestModel model = makePlainModel(program, failEntry);
  Outcome outcome = runPlain(model);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_RUNTIME);
  EXPECT_EQ(outcome.message, "7 is out of range (iteration 3)");
  // The next run begins with a control that says nothing.
  TestModel good = makeModel(program);
  EXPECT_EQ(runAddOne(good, 10).status, LOOPC_OK);
}

TEST(Cuda, ChecksAreReadAtTheEndToo) {
  TestProgram program;
  TestModel model = makePlainModel(program, [](void *run, void **, void **) {
    Calls calls(run, theProgram->program);
    loopc_rt_cuda_begin(calls.run, &calls.program);
    return calls.launch(kFailCheck, 1, 1, 0, {});
  });
  EXPECT_EQ(runPlain(model).message, "7 is out of range (iteration 3)");
}

TEST(Cuda, KernelThatIsNotThere) {
  TestProgram program;
  TestModel model = makePlainModel(program, [](void *run, void **, void **) {
    Calls calls(run, theProgram->program);
    loopc_rt_cuda_begin(calls.run, &calls.program);
    return calls.launch(kMissing, 1, 1, 0, {});
  });
  Outcome outcome = runPlain(model);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_DEVICE);
  EXPECT_THAT(outcome.message, HasSubstr("kernel 'missing'"));
  EXPECT_THAT(outcome.message, HasSubstr("CUDA_ERROR_NOT_FOUND"));
}

TEST(Cuda, LaunchesThatCannotBe) {
  TestProgram program;
  TestModel model = makePlainModel(program, [](void *run, void **, void **) {
    Calls calls(run, theProgram->program);
    loopc_rt_cuda_begin(calls.run, &calls.program);
    return calls.launch(kFailCheck, 0, 32, 0, {});
  });
  EXPECT_EQ(runPlain(model).message,
            "kernel 'fail_check' cannot be begun with 0 blocks of 32 threads");
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

TEST(Cuda, ChipIsTooNew) {
  TestProgram program;
  program.program.chip = "sm_120";
  TestModel model = makeModel(program);
  Outcome outcome = runAddOne(model, 1);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_DEVICE);
  EXPECT_THAT(outcome.message, HasSubstr("compiled for sm_120, device 0"));
  EXPECT_THAT(outcome.message, HasSubstr("is sm_90: compile it with "
                                         "--chip=sm_90"));
  program.program.chip = "gfx90";
  EXPECT_EQ(runAddOne(model, 1).status, LOOPC_ERROR_ABI);
}

TEST(Cuda, CodeOfAnotherVersion) {
  TestProgram program;
  program.program.version = 7;
  TestModel model = makeModel(program);
  Outcome outcome = runAddOne(model, 1);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_ABI);
  EXPECT_EQ(outcome.message, "the model's device code has version 7, this "
                             "runtime has 1");
}

TEST(Cuda, PtxThatDoesNotCompile) {
  TestProgram program;
  program.program.ptx = ".version 8.0\n.target sm_80\nnonsense";
  program.program.ptx_bytes = strlen(program.program.ptx) + 1;
  TestModel model = makeModel(program);
  Outcome outcome = runAddOne(model, 1);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_DEVICE);
  EXPECT_THAT(outcome.message, HasSubstr("compiling the model's PTX: "
                                         "CUDA_ERROR_INVALID_PTX"));
  EXPECT_THAT(outcome.message, HasSubstr("\n")); // The compiler's words.
}

TEST(Cuda, CubinThatDoesNotFit) {
  // The fake driver has no machine code: the PTX takes its place.
  TestProgram program;
  program.program.chip = "sm_90";
  program.program.cubin = "cubin";
  program.program.cubin_bytes = 5;
  TestModel model = makeModel(program);
  EXPECT_EQ(runAddOne(model, 10).status, LOOPC_OK);
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

TEST(Cuda, TimeoutWhileAKernelRuns) {
  TestProgram program;
  TestModel model = makeModel(program);
  runAddOne(model, 10);
  std::vector<uint64_t> live = countLive();
  loopc_run_options options = makeOptions();
  options.timeout_seconds = 0.05;
  makeNextKernelSpin();
  Outcome outcome = runAddOne(model, 10, &options);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_TIMEOUT) << outcome.message;
  EXPECT_GT(countQueriesWhileSpinning(), 1);
  EXPECT_EQ(countLive(), live);
  // The word is what it was.
  EXPECT_EQ(runAddOne(model, 10).status, LOOPC_OK);
}

TEST(Cuda, CancelWhileAKernelRuns) {
  TestProgram program;
  TestModel model = makeModel(program);
  loopc_cancel_token token = {};
  loopc_run_options options = makeOptions();
  options.cancel = &token;
  makeNextKernelSpin();
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    loopc_cancel(&token);
  });
  EXPECT_EQ(runAddOne(model, 10, &options).status, LOOPC_ERROR_CANCELLED);
  canceller.join();
  token.requested = 0;
  EXPECT_EQ(runAddOne(model, 10, &options).status, LOOPC_OK);
}

TEST(Cuda, ThreadsRunOneProgram) {
  TestProgram program;
  TestModel model = makeModel(program);
  loopc_model *table = model.get();
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        TestTensor<float> x(kF32, {16}, std::vector<float>(16, float(t)));
        loopc_value input = x.get(), output = {};
        failures += loopc_model_run(table, nullptr, &input, 1, &output, 1,
                                    nullptr) != LOOPC_OK;
        if (output.kind)
          failures += getData<float>(output, 16)[15] != float(t + 1);
        loopc_value_release(&output);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
}

/// Every function of the driver that a run calls fails once: each is an error
/// and nothing is left behind. The log of a run says which there are.
TEST(Cuda, EveryCallMayFail) {
  TestProgram program;
  TestModel model = makeModel(program);
  runAddOne(model, 10);
  for (const char *name :
       {"cuMemAllocAsync", "cuMemcpyHtoDAsync", "cuLaunchKernel",
        "cuMemcpyAsync", "cuMemcpyDtoHAsync", "cuModuleLoadDataEx",
        "cuModuleGetFunction", "cuCtxPushCurrent", "cuStreamQuery"}) {
    for (int call = 1; call <= 4; ++call) {
      loopc_rt_cuda_unload(&program.program);
      std::vector<uint64_t> live = countLive();
      Outcome outcome;
      uint64_t calls;
      {
        std::string what =
            name + std::string(":") + std::to_string(call) + "=999";
        Setting failure("LOOPC_FAKE_CUDA_FAIL", what);
        outcome = runAddOne(model, 10);
        calls = fake_cuda_call_count(name);
      }
      bool hasFailed = calls >= static_cast<uint64_t>(call);
      EXPECT_EQ(outcome.status, hasFailed ? LOOPC_ERROR_DEVICE : LOOPC_OK)
          << name << " " << call << ": " << outcome.message;
      if (hasFailed)
        EXPECT_THAT(outcome.message, HasSubstr("CUDA_ERROR_UNKNOWN"));
      loopc_rt_cuda_unload(&program.program);
      EXPECT_EQ(countLive(), live) << name << " " << call;
      EXPECT_EQ(runAddOne(model, 10).status, LOOPC_OK) << name;
    }
  }
}

//===----------------------------------------------------------------------===//
// Processes of their own: what is asked or lost once
//===----------------------------------------------------------------------===//

/// Ends the process with 0 where a run in it fails with a message that holds
/// `text`.
void exitByMessage(Entry entry, const char *text) {
  TestProgram program;
  TestModel model = makePlainModel(program, entry);
  Outcome outcome = runPlain(model);
  fprintf(stderr, "%d %s\n", outcome.status, outcome.message.c_str());
  bool isExpected = outcome.status == LOOPC_ERROR_DEVICE &&
                    outcome.message.find(text) != std::string::npos;
  fflush(stderr);
  _exit(isExpected ? 0 : 1);
}

int32_t beginEntry(void *run, void **, void **) {
  return loopc_rt_cuda_begin(static_cast<loopc_run *>(run),
                             &theProgram->program);
}

class CudaDeath : public testing::Test {
protected:
  void SetUp() override {
    // The test begins anew in the process that ends.
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

TEST_F(CudaDeath, NoDriver) {
  EXPECT_EXIT((setenv("LOOPC_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1),
               exitByMessage(beginEntry,
                             "no CUDA driver: /nowhere/libcuda.so.1 cannot be "
                             "opened (")),
              testing::ExitedWithCode(0), "");
}

TEST_F(CudaDeath, NoDevice) {
  EXPECT_EXIT((fake_cuda_set("LOOPC_FAKE_CUDA_FAIL", "cuInit=100"),
               exitByMessage(beginEntry, "no CUDA device: cuInit: "
                                         "CUDA_ERROR_NO_DEVICE")),
              testing::ExitedWithCode(0), "");
}

TEST_F(CudaDeath, FirstCallsFail) {
  for (const char *name :
       {"cuDeviceGetCount", "cuDeviceGet", "cuDevicePrimaryCtxRetain",
        "cuMemHostAlloc", "cuMemAlloc", "cuStreamCreate"}) {
    std::string what = std::string(name) + "=999";
    EXPECT_EXIT((fake_cuda_set("LOOPC_FAKE_CUDA_FAIL", what.c_str()),
                 exitByMessage(beginEntry, "CUDA_ERROR_UNKNOWN")),
                testing::ExitedWithCode(0), "")
        << name;
  }
}

int32_t illegalEntry(void *run, void **, void **) {
  Calls calls(run, theProgram->program);
  loopc_rt_cuda_begin(calls.run, &calls.program);
  if (int32_t status = calls.launch(kIllegal, 1, 1, 0, {}))
    return status;
  return loopc_rt_cuda_sync(calls.run);
}

void loseContext() {
  fake_cuda_set("LOOPC_FAKE_CUDA_QUIET", "1");
  TestProgram program;
  TestModel model = makePlainModel(program, illegalEntry);
  Outcome outcome = runPlain(model);
  fprintf(stderr, "%d %s\n", outcome.status, outcome.message.c_str());
}

TEST_F(CudaDeath, IllegalAddress) {
  EXPECT_EXIT(exitByMessage(illegalEntry, "kernel 'illegal', or one before it: "
                                          "CUDA_ERROR_ILLEGAL_ADDRESS"),
              testing::ExitedWithCode(0), "");
}

TEST_F(CudaDeath, ContextIsLost) {
  EXPECT_EXIT(
      (loseContext(),
       exitByMessage(beginEntry, "cannot be used by this process any more: its "
                                 "context was lost by kernel 'illegal'")),
      testing::ExitedWithCode(0), "");
}

TEST_F(CudaDeath, WithoutPoolsAndManagedMemory) {
  auto check = [] {
    fake_cuda_set("LOOPC_FAKE_CUDA_POOLS", "0");
    fake_cuda_set("LOOPC_FAKE_CUDA_MANAGED", "0");
    TestProgram program;
    TestModel model = makePlainModel(program, [](void *run, void **, void **) {
      Calls calls(run, theProgram->program);
      loopc_rt_cuda_begin(calls.run, &calls.program);
      void *block = loopc_rt_cuda_alloc(calls.run, 4096, LOOPC_CUDA_DEVICE);
      loopc_rt_cuda_free(calls.run, block);
      return shareMemory(calls, 256 << 10);
    });
    bool isGood = runPlain(model).status == LOOPC_OK;
    std::vector<uint64_t> live = countLive();
    isGood &= runPlain(model).status == LOOPC_OK;
    _exit(isGood && countLive() == live && !testing::Test::HasFailure() ? 0
                                                                        : 1);
  };
  EXPECT_EXIT(check(), testing::ExitedWithCode(0), "");
}

} // namespace

/// Before any test: the library is opened once.
static const int isSet = setenv("LOOPC_CUDA_DRIVER", LOOPC_TEST_DRIVER, 0);
