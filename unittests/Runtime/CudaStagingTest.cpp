//===- CudaStagingTest.cpp - Large copies and times of runs ---------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver for tests copies when somebody waits: memory that was used again
// too early would show.
//
//===----------------------------------------------------------------------===//

#include "CudaModel.h"
#include "TestModel.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <numeric>

using namespace loopc::test;
using testing::HasSubstr;

namespace {

/// More than the pieces of pinned memory hold together, and no multiple.
constexpr size_t kMany = 530'001;
constexpr int64_t kBytes = kMany * sizeof(float);

TestProgram *theProgram;

/// x + 1 and z + 1 for two inputs of the host, copied back to other memory of
/// the host.
int32_t addOneTwice(void *run, void ** /*inputs*/, void ** /*outputs*/) {
  Calls calls(run, theProgram->program);
  if (int32_t status = loopc_rt_cuda_begin(calls.run, &calls.program))
    return status;
  std::vector<float> x(kMany), z(kMany), y(kMany);
  std::iota(x.begin(), x.end(), 0.0f);
  std::iota(z.begin(), z.end(), -5.0f);
  for (std::vector<float> *values : {&x, &z}) {
    void *from = calls.input(values->data(), kBytes);
    void *to = from ? loopc_rt_cuda_alloc(calls.run, kBytes, LOOPC_CUDA_DEVICE)
                    : nullptr;
    if (!to)
      return LOOPC_ERROR_RUNTIME;
    float first = (*values)[0];
    // Its memory may hold other numbers as soon as it was copied.
    std::fill(values->begin(), values->end(), 77.0f);
    if (int32_t status = calls.addOne(from, to, kMany))
      return status;
    if (int32_t status = loopc_rt_cuda_copy(calls.run, y.data(), to, kBytes))
      return status;
    if (int32_t status = loopc_rt_cuda_sync(calls.run))
      return status;
    for (size_t k = 0; k < kMany; ++k)
      if (y[k] != first + static_cast<float>(k) + 1) {
        ADD_FAILURE() << "element " << k << " is " << y[k];
        break;
      }
  }
  return LOOPC_OK;
}

TestModel makeModel(TestProgram &program) {
  theProgram = &program;
  TestModel model(addOneTwice);
  model.model.device_program = &program.program;
  return model;
}

Outcome run(TestModel &model, const loopc_run_options *options = nullptr) {
  std::vector<loopc_value> outputs;
  return runModel(model, {}, outputs, options);
}

TEST(CudaStaging, LargeCopies) {
  TestProgram program;
  TestModel model = makeModel(program);
  Outcome outcome = run(model);
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_EQ(outcome.statistics.copied_bytes, 4u * kBytes);
  // The next run gets the same pinned memory.
  uint64_t pinned = getCounts().allocations[FAKE_CUDA_HOST];
  EXPECT_EQ(run(model).status, LOOPC_OK);
  EXPECT_EQ(getCounts().allocations[FAKE_CUDA_HOST], pinned);
}

/// Where there is no pinned memory the driver copies by way of its own.
TEST(CudaStaging, WithoutPinnedMemory) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        TestProgram program;
        TestModel model = makeModel(program);
        // The first call is for the lane's control.
        fake_cuda_set("LOOPC_FAKE_CUDA_FAIL",
                      "cuMemHostAlloc:2=2,cuMemHostAlloc:3=2,"
                      "cuMemHostAlloc:4=2,cuMemHostAlloc:5=2");
        Outcome outcome = run(model);
        fprintf(stderr, "%d %s\n", outcome.status, outcome.message.c_str());
        _exit(outcome.status != LOOPC_OK || testing::Test::HasFailure());
      },
      testing::ExitedWithCode(0), "");
}

TEST(CudaStaging, WithoutEvents) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        TestProgram program;
        TestModel model = makeModel(program);
        fake_cuda_set("LOOPC_FAKE_CUDA_FAIL", "cuEventCreate=2");
        uint64_t events = getCounts().live_events;
        Outcome outcome = run(model);
        fprintf(stderr, "%d %s\n", outcome.status, outcome.message.c_str());
        bool isFreed = getCounts().live_events == events;
        _exit(outcome.status != LOOPC_OK || !isFreed ||
              testing::Test::HasFailure());
      },
      testing::ExitedWithCode(0), "");
}

/// Each call may fail, and the run after that is as any other.
TEST(CudaStaging, EveryCallMayFail) {
  TestProgram program;
  TestModel model = makeModel(program);
  EXPECT_EQ(run(model).status, LOOPC_OK);
  for (const char *name : {"cuMemcpyAsync", "cuEventRecord", "cuEventQuery"})
    for (int call : {1, 5, 12}) {
      settle();
      uint64_t live = getCounts().live_allocations;
      Outcome outcome;
      bool hasFailed;
      {
        Setting failure("LOOPC_FAKE_CUDA_FAIL", name + std::string(":") +
                                                    std::to_string(call) +
                                                    "=999");
        outcome = run(model);
        hasFailed = fake_cuda_call_count(name) >= static_cast<uint64_t>(call);
      }
      EXPECT_EQ(outcome.status, hasFailed ? LOOPC_ERROR_DEVICE : LOOPC_OK)
          << name << " " << call << ": " << outcome.message;
      if (hasFailed)
        EXPECT_THAT(outcome.message, HasSubstr("CUDA_ERROR_UNKNOWN"));
      settle();
      EXPECT_EQ(getCounts().live_allocations, live) << name << " " << call;
      EXPECT_EQ(run(model).status, LOOPC_OK) << name << " " << call;
    }
}

TEST(CudaStaging, Cancelled) {
  TestProgram program;
  TestModel model = makeModel(program);
  EXPECT_EQ(run(model).status, LOOPC_OK);
  loopc_cancel_token token = {};
  loopc_cancel(&token);
  loopc_run_options options = {};
  options.size = sizeof(options);
  options.cancel = &token;
  EXPECT_EQ(run(model, &options).status, LOOPC_ERROR_CANCELLED);
  EXPECT_EQ(run(model).status, LOOPC_OK);
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

TEST(CudaTime, OfARun) {
  TestProgram program;
  TestModel model = makeModel(program);
  double seconds = -1;
  loopc_run_options options = {};
  options.size = sizeof(options);
  options.device_seconds = &seconds;
  EXPECT_EQ(run(model, &options).status, LOOPC_OK);
  EXPECT_GT(seconds, 0);
  EXPECT_LT(seconds, 100);
  // Not of those that were not asked for.
  uint64_t events = getCounts().live_events;
  double before = seconds;
  EXPECT_EQ(run(model).status, LOOPC_OK);
  EXPECT_EQ(seconds, before);
  EXPECT_EQ(run(model, &options).status, LOOPC_OK);
  EXPECT_EQ(getCounts().live_events, events);
}

TEST(CudaTime, OfNothing) {
  TestProgram program;
  theProgram = &program;
  TestModel model([](void *, void **, void **) -> int32_t { return LOOPC_OK; });
  model.model.device_program = &program.program;
  double seconds = -1;
  loopc_run_options options = {};
  options.size = sizeof(options);
  options.device_seconds = &seconds;
  EXPECT_EQ(run(model, &options).status, LOOPC_OK);
  EXPECT_EQ(seconds, 0);
}

TEST(CudaTime, EveryCallMayFail) {
  TestProgram program;
  TestModel model = makeModel(program);
  EXPECT_EQ(run(model).status, LOOPC_OK);
  double seconds = -1;
  loopc_run_options options = {};
  options.size = sizeof(options);
  options.device_seconds = &seconds;
  {
    Setting failure("LOOPC_FAKE_CUDA_FAIL", "cuEventRecord:1=999");
    Outcome outcome = run(model, &options);
    EXPECT_EQ(outcome.status, LOOPC_ERROR_DEVICE);
    EXPECT_THAT(outcome.message, HasSubstr("time"));
  }
  {
    // The run is what was asked for; its time is not known.
    Setting failure("LOOPC_FAKE_CUDA_FAIL", "cuEventElapsedTime=999");
    EXPECT_EQ(run(model, &options).status, LOOPC_OK);
    EXPECT_EQ(seconds, 0);
  }
}

} // namespace
