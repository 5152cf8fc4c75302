//===- CudaGraphTest.cpp - Loops as graphs --------------------------------===//
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

#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>
#include <thread>

using namespace loopc::test;
using testing::HasSubstr;

namespace {

/// A loop as the compiler makes it: `begin` counts from 0, `step` adds 1 to the
/// word at an address (one of its blocks does), and so on until n; without end
/// where n is negative, but for the cancel word. The state: handle, n, address,
/// count.
constexpr char kLoopCode[] = R"(
.version 8.1
.target sm_80
.address_size 64

.extern .func cudaGraphSetConditional (.param .b64 h, .param .b32 v);

.visible .entry begin(.param .u64 control, .param .u64 state)
{
  .reg .pred %p<2>;
  .reg .b32 %r<2>;
  .reg .b64 %d<6>;
  ld.param.u64 %d1, [state];
  mov.u64 %d2, 0;
  st.global.u64 [%d1+24], %d2;
  ld.global.u64 %d3, [%d1+8];
  setp.ne.u64 %p1, %d3, 0;
  selp.u32 %r1, 1, 0, %p1;
  ld.global.u64 %d4, [%d1];
  {
  .param .b64 h;
  st.param.b64 [h], %d4;
  .param .b32 v;
  st.param.b32 [v], %r1;
  call.uni cudaGraphSetConditional, (h, v);
  }
  ret;
}

.visible .entry step(.param .u64 control, .param .u64 state)
{
  .reg .pred %p<4>;
  .reg .b32 %r<4>;
  .reg .b64 %d<10>;
  ld.param.u64 %d1, [state];
  ld.param.u64 %d8, [control];
  mov.u32 %r3, %ctaid.x;
  setp.ne.u32 %p2, %r3, 0;
  @%p2 ret;
  ld.global.u64 %d2, [%d1+16];
  ld.global.u64 %d3, [%d2];
  add.u64 %d3, %d3, 1;
  st.global.u64 [%d2], %d3;
  ld.global.u64 %d4, [%d1+24];
  add.u64 %d4, %d4, 1;
  st.global.u64 [%d1+24], %d4;
  ld.global.u64 %d5, [%d1+8];
  setp.ne.u64 %p1, %d4, %d5;
  ld.global.u64 %d6, [%d8+296];
  ld.volatile.global.u32 %r2, [%d6];
  setp.eq.and.u32 %p1, %r2, 0, %p1;
  selp.u32 %r1, 1, 0, %p1;
  ld.global.u64 %d7, [%d1];
  {
  .param .b64 h;
  st.param.b64 [h], %d7;
  .param .b32 v;
  st.param.b32 [v], %r1;
  call.uni cudaGraphSetConditional, (h, v);
  }
  ret;
}
)";
static_assert(offsetof(loopc_cuda_control, cancel) == 296);

struct LoopProgram : Program {
  LoopProgram() : Program(kLoopCode, {"begin", "step"}) {
    program.flags = LOOPC_CUDA_HAS_GRAPHS;
  }
};

struct {
  loopc_cuda_graph graph;
  loopc_cuda_node nodes[3];
} constexpr kLoop = {{3, 1, 2, 4},
                     {{-1, -1, 0, 1}, {-1, 0, 1, 0}, {0, -1, 1, 1}}};

LoopProgram *theProgram;
/// Of the run: how often the loop is begun, its iterations, and blocks.
int64_t theLaunches, theTrips, theBlocks;

/// The sum of all iterations.
int32_t loopEntry(void *opaque, void **, void **outputs) {
  auto *run = static_cast<loopc_run *>(opaque);
  loopc_cuda_program *program = &theProgram->program;
  if (int32_t status = loopc_rt_cuda_begin(run, program))
    return status;
  auto *sum =
      static_cast<int64_t *>(loopc_rt_cuda_alloc(run, 8, LOOPC_CUDA_SHARED));
  if (!sum)
    return LOOPC_ERROR_RUNTIME;
  *sum = 0;
  for (int64_t k = 0; k < theLaunches; ++k) {
    int64_t blocks[] = {1, 0, theBlocks};
    int64_t arguments[] = {theTrips, reinterpret_cast<int64_t>(sum)};
    if (int32_t status =
            loopc_rt_cuda_graph(run, program, &kLoop.graph, blocks, arguments))
      return status;
    // It was copied when the call returned.
    arguments[0] = 1000;
  }
  if (int32_t status = loopc_rt_cuda_sync(run))
    return status;
  getMemRef<1>(outputs[0]) = {sum, sum, 0, {1}, {1}};
  return LOOPC_OK;
}

class CudaGraph : public testing::Test {
protected:
  void SetUp() override {
    theProgram = &program;
    theLaunches = theTrips = theBlocks = 1;
    model.output("sum", kI64, {open()});
    model.model.device_program = &program.program;
    fake_cuda_set("LOOPC_FAKE_CUDA_QUIET", "1"); // Counts begin anew.
  }

  Outcome run(const loopc_run_options *options = nullptr) {
    std::vector<loopc_value> outputs(1);
    Outcome outcome = runModel(model, {}, outputs, options);
    sum = outcome.status == LOOPC_OK ? getData<int64_t>(outputs[0], 1)[0] : -1;
    loopc_value_release(&outputs[0]);
    return outcome;
  }

  LoopProgram program;
  TestModel model{loopEntry};
  int64_t sum = -1;
};

TEST_F(CudaGraph, Runs) {
  for (int64_t trips : {0, 1, 5, 100}) {
    theTrips = trips;
    Outcome outcome = run();
    EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
    EXPECT_EQ(sum, trips);
  }
  EXPECT_EQ(fake_cuda_call_count("cuLaunchKernel"), 0u);
  EXPECT_EQ(fake_cuda_call_count("cuGraphLaunch"), 4u);
}

TEST_F(CudaGraph, IsMadeOnce) {
  theTrips = 3;
  for (int64_t launches : {1, 4, 2}) {
    theLaunches = launches;
    EXPECT_EQ(run().status, LOOPC_OK);
    EXPECT_EQ(sum, 3 * launches);
  }
  EXPECT_EQ(fake_cuda_call_count("cuGraphInstantiate"), 1u);
  EXPECT_EQ(fake_cuda_call_count("cuGraphLaunch"), 7u);
}

/// Nobody waits between the copy of the arguments and the end.
TEST_F(CudaGraph, CallsOfALaunch) {
  run();
  std::string path = testing::TempDir() + "cuda-graph-calls.txt";
  std::remove(path.c_str());
  {
    Setting log("LOOPC_FAKE_CUDA_LOG", path);
    theLaunches = 2;
    theTrips = 50;
    run();
    EXPECT_EQ(sum, 100);
  }
  std::ifstream file(path);
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);)
    names.push_back(line.substr(0, line.find_first_of(" ")));
  EXPECT_THAT(names, testing::ElementsAre("cuCtxPushCurrent",
                                          "cuMemcpyHtoDAsync", "cuGraphLaunch",
                                          "cuMemcpyHtoDAsync", "cuGraphLaunch",
                                          "cuStreamQuery", "cuCtxPopCurrent"));
}

TEST_F(CudaGraph, OtherBlocks) {
  auto countMade = [] { return fake_cuda_call_count("cuGraphInstantiate"); };
  theBlocks = 100;
  run();
  theBlocks = 60;
  run();
  EXPECT_EQ(countMade(), 1u);
  theBlocks = 10;
  run();
  EXPECT_EQ(countMade(), 2u);
  theBlocks = 100;
  run();
  EXPECT_EQ(countMade(), 2u);
}

TEST_F(CudaGraph, RunsAtATime) {
  theTrips = 200;
  theLaunches = 3;
  std::vector<std::thread> threads;
  std::vector<int64_t> sums(4);
  for (int64_t &mine : sums)
    threads.emplace_back([&] {
      for (int k = 0; k < 5; ++k) {
        std::vector<loopc_value> outputs(1);
        if (runModel(model, {}, outputs, nullptr).status == LOOPC_OK)
          mine += getData<int64_t>(outputs[0], 1)[0];
        loopc_value_release(&outputs[0]);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_THAT(sums, testing::Each(3000));
  // One for each lane at most.
  EXPECT_LE(fake_cuda_call_count("cuGraphInstantiate"), 8u);
}

TEST_F(CudaGraph, Leaves) {
  run();
  settle();
  fake_cuda_statistics_t live = getCounts();
  EXPECT_GE(live.live_graphs, 2u);
  loopc_rt_cuda_unload(&program.program);
  fake_cuda_statistics_t after = getCounts();
  EXPECT_EQ(after.live_graphs, live.live_graphs - 2);
  EXPECT_EQ(after.live_allocations, live.live_allocations - 1);
  EXPECT_EQ(run().status, LOOPC_OK);
}

TEST_F(CudaGraph, CannotBeMade) {
  theTrips = 2;
  run(); // The lane is there.
  settle();
  loopc_rt_cuda_unload(&program.program);
  fake_cuda_statistics_t before = getCounts();
  for (const char *function :
       {"cuGraphCreate", "cuGraphAddNode", "cuGraphConditionalHandleCreate",
        "cuGraphInstantiate"}) {
    Setting failure("LOOPC_FAKE_CUDA_FAIL", std::string(function) + "=801");
    Outcome outcome = run();
    EXPECT_EQ(outcome.status, LOOPC_ERROR_DEVICE);
    EXPECT_THAT(
        outcome.message,
        HasSubstr(std::string("making the graph of a loop: ") + function));
    settle();
    EXPECT_EQ(getCounts().live_graphs, before.live_graphs) << function;
  }
  {
    Setting failure("LOOPC_FAKE_CUDA_FAIL", "cuGraphLaunch=801");
    EXPECT_THAT(run().message, HasSubstr("kernel 'begin' could not be begun"));
  }
  EXPECT_EQ(run().status, LOOPC_OK);
  EXPECT_EQ(sum, 2);
}

TEST_F(CudaGraph, OlderDriver) {
  Setting version("LOOPC_FAKE_CUDA_VERSION", "12020");
  Outcome outcome = run();
  EXPECT_EQ(outcome.status, LOOPC_ERROR_DEVICE);
  EXPECT_THAT(outcome.message,
              HasSubstr("loops of the model are CUDA graphs, which take a "
                        "driver of CUDA 12.4 or later; this one is of CUDA "
                        "12.2: compile with --device-loops=kernel"));
}

TEST_F(CudaGraph, IsCancelled) {
  theTrips = -1;
  loopc_run_options options = makeOptions();
  options.timeout_seconds = 0.02;
  Outcome outcome = run(&options);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_TIMEOUT) << outcome.message;
  theTrips = 4;
  EXPECT_EQ(run().status, LOOPC_OK);
  EXPECT_EQ(sum, 4);
}

} // namespace
