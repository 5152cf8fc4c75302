//===- CudaDriverTest.cpp - What drivers refuse ---------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each in a process of its own, for devices are opened once.
//
//===----------------------------------------------------------------------===//

#include "CudaModel.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace loopc::test;

extern "C" {
int cuInit(unsigned flags);
int cuMemGetInfo_v2(size_t *free, size_t *total);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamBeginCapture_v2(void *stream, int mode);
}

namespace {

TestProgram *theProgram;

/// Runs `entry`; `stream` is the caller's.
Outcome runOn(TestProgram &program, Entry entry, void *stream = nullptr) {
  theProgram = &program;
  TestModel model(entry);
  model.model.device_program = &program.program;
  loopc_run_options options = makeOptions();
  options.stream = stream;
  std::vector<loopc_value> outputs;
  Outcome outcome = runModel(model, {}, outputs, &options);
  fprintf(stderr, "%d %s\n", outcome.status, outcome.message.c_str());
  return outcome;
}

int32_t beginEntry(void *run, void **, void **) {
  return loopc_rt_cuda_begin(static_cast<loopc_run *>(run),
                             &theProgram->program);
}

bool failsWith(const Outcome &outcome, const char *text) {
  return outcome.status == LOOPC_ERROR_DEVICE &&
         outcome.message.find(text) != std::string::npos;
}

class CudaDriverDeath : public testing::Test {
protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

/// A stream of the primary context of device `number`.
void *makeStream(int number, bool isCaptured) {
  cuInit(0);
  void *context = nullptr, *stream = nullptr;
  cuDevicePrimaryCtxRetain(&context, number);
  cuCtxPushCurrent_v2(context);
  cuStreamCreate(&stream, 1);
  if (isCaptured)
    cuStreamBeginCapture_v2(stream, 0);
  cuCtxPopCurrent_v2(&context);
  return stream;
}

TEST_F(CudaDriverDeath, StreamsThatCannotBeRunOn) {
  auto check = [](int number, bool isCaptured, const char *text) {
    fake_cuda_set("LOOPC_FAKE_CUDA_DEVICES", "2");
    TestProgram program;
    void *stream = makeStream(number, isCaptured);
    bool isGood = failsWith(runOn(program, beginEntry, stream), text);
    // Nothing is wrong with the device.
    isGood &= runOn(program, beginEntry).status == LOOPC_OK;
    isGood &=
        runOn(program, beginEntry, makeStream(0, false)).status == LOOPC_OK;
    _exit(!isGood);
  };
  EXPECT_EXIT(
      check(1, false, "the stream is none of the primary context of device 0"),
      testing::ExitedWithCode(0), "");
  EXPECT_EXIT(check(0, true, "the stream is being captured"),
              testing::ExitedWithCode(0), "");
}

/// A forked process has nothing of what the one before it has of CUDA.
TEST_F(CudaDriverDeath, ForkedProcesses) {
  auto check = [] {
    TestProgram program;
    if (runOn(program, beginEntry).status != LOOPC_OK)
      _exit(2);
    pid_t child = fork();
    if (child == 0)
      _exit(!failsWith(runOn(program, beginEntry),
                       "CUDA was initialised by the process that this one was "
                       "forked from"));
    int status = 0;
    waitpid(child, &status, 0);
    bool isGood = WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
                  runOn(program, beginEntry).status == LOOPC_OK;
    _exit(!isGood);
  };
  EXPECT_EXIT(check(), testing::ExitedWithCode(0), "");
}

/// Bytes of the device that nobody keeps.
size_t countFree() {
  void *context = nullptr;
  size_t free = 0, total = 0;
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxPushCurrent_v2(context);
  cuMemGetInfo_v2(&free, &total);
  cuCtxPopCurrent_v2(&context);
  return free;
}

constexpr int64_t kLarge = 40 << 20;

int32_t allocateEntry(void *run, void **, void **) {
  Calls calls(run, theProgram->program);
  loopc_rt_cuda_begin(calls.run, &calls.program);
  loopc_rt_cuda_alloc(calls.run, kLarge, LOOPC_CUDA_DEVICE);
  return loopc_rt_cuda_sync(calls.run);
}

int32_t weightEntry(void *run, void **, void **) {
  static const std::vector<char> weight(kLarge);
  Calls calls(run, theProgram->program);
  loopc_rt_cuda_begin(calls.run, &calls.program);
  calls.input(weight.data(), kLarge, LOOPC_CUDA_DEVICE, /*isConstant=*/true);
  return loopc_rt_cuda_sync(calls.run);
}

/// What the pool keeps of a run's memory is there for weights, and for others
/// when the model goes.
TEST_F(CudaDriverDeath, PoolsGiveBack) {
  auto check = [] {
    fake_cuda_set("LOOPC_FAKE_CUDA_MEMORY", "64");
    TestProgram program;
    bool isGood = runOn(program, allocateEntry).status == LOOPC_OK;
    isGood &= countFree() < size_t(kLarge);
    isGood &= runOn(program, weightEntry).status == LOOPC_OK;
    loopc_rt_cuda_unload(&program.program);
    isGood &= runOn(program, allocateEntry).status == LOOPC_OK;
    loopc_rt_cuda_unload(&program.program);
    isGood &= countFree() > size_t(kLarge);
    _exit(!isGood);
  };
  EXPECT_EXIT(check(), testing::ExitedWithCode(0), "");
}

} // namespace
