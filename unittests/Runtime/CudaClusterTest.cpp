//===- CudaClusterTest.cpp - Loops that are a cluster of blocks -----------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaModel.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace loopc::test;

namespace {

/// (control, n): n[0] += 1 by each block, n[1] = blocks of a cluster, n[2] =
/// what block 0 finds in n[0] when all have met.
constexpr char kMeetCode[] = R"(
.version 8.0
.target sm_90
.address_size 64

.visible .entry meet(.param .u64 control, .param .u64 n)
{
  .reg .pred %p<3>;
  .reg .b32 %r<5>;
  .reg .b64 %d<8>;
  ld.param.u64 %d1, [control];
  ld.param.u64 %d2, [n];
  mov.u32 %r1, %nctaid.x;
  mov.u32 %r2, %cluster_nctaid.x;
  cvt.u64.u32 %d3, %r1;
  cvt.u64.u32 %d6, %r2;
  atom.global.add.u64 %d4, [%d2], 1;
  setp.ne.u32 %p1, %r1, %r2;
  @%p1 bra grid;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  bra.uni met;
grid:
  atom.global.add.u64 %d4, [%d1+280], 1;
wait:
  ld.volatile.global.u64 %d5, [%d1+280];
  setp.lt.u64 %p1, %d5, %d3;
  @%p1 bra wait;
met:
  mov.u32 %r3, %ctaid.x;
  setp.ne.u32 %p2, %r3, 0;
  @%p2 bra done;
  ld.volatile.global.u64 %d7, [%d2];
  st.global.u64 [%d2+8], %d6;
  st.global.u64 [%d2+16], %d7;
done:
  ret;
}
)";

struct Meeting {
  Outcome outcome;
  int64_t met, inCluster;
  uint64_t clusters, cooperative, tried;
};

Program *theProgram;
int64_t theBlocks;
int32_t theFlags;
int64_t theWords[3];

int32_t meetEntry(void *run, void **, void **) {
  Calls calls(run, theProgram->program);
  if (int32_t status = loopc_rt_cuda_begin(calls.run, &calls.program))
    return status;
  auto *words = static_cast<int64_t *>(
      loopc_rt_cuda_alloc(calls.run, 24, LOOPC_CUDA_SHARED));
  std::fill_n(words, 3, 0);
  if (int32_t status = calls.launch(0, theBlocks, 1, theFlags, {&words}))
    return status;
  int32_t status = loopc_rt_cuda_sync(calls.run);
  std::copy_n(words, 3, theWords);
  return status;
}

/// Runs the kernel once.
Meeting meet(Program &program, int64_t blocks,
             int32_t flags = LOOPC_CUDA_COOPERATIVE | LOOPC_CUDA_CLUSTER) {
  theProgram = &program;
  theBlocks = blocks;
  theFlags = flags;
  std::fill_n(theWords, 3, 0);
  TestModel model(meetEntry);
  model.model.device_program = &program.program;
  fake_cuda_statistics_t before, after;
  fake_cuda_statistics(&before);
  uint64_t tried = fake_cuda_call_count("cuLaunchKernelEx");
  std::vector<loopc_value> outputs;
  Outcome outcome = runModel(model, {}, outputs);
  fake_cuda_statistics(&after);
  return {outcome,
          theWords[2],
          theWords[1],
          after.cluster_launches - before.cluster_launches,
          after.cooperative_launches - before.cooperative_launches,
          fake_cuda_call_count("cuLaunchKernelEx") - tried};
}

/// Overrides an environment variable of the fake driver while it lives.
struct FakeSetting {
  FakeSetting(const char *name, const char *value) : name(name) {
    fake_cuda_set(name, value);
  }
  ~FakeSetting() { fake_cuda_set(name, nullptr); }
  const char *name;
};

struct MeetProgram : Program {
  MeetProgram() : Program(kMeetCode, {"meet"}) { program.chip = "sm_90"; }
};

void expectCluster(const Meeting &meeting, int64_t blocks) {
  EXPECT_EQ(meeting.outcome.status, LOOPC_OK) << meeting.outcome.message;
  EXPECT_EQ(meeting.met, blocks);
  EXPECT_EQ(meeting.inCluster, blocks);
  EXPECT_EQ(meeting.clusters, 1u);
  EXPECT_EQ(meeting.cooperative, 0u);
}

void expectGrid(const Meeting &meeting, int64_t blocks) {
  EXPECT_EQ(meeting.outcome.status, LOOPC_OK) << meeting.outcome.message;
  EXPECT_EQ(meeting.met, blocks);
  EXPECT_EQ(meeting.inCluster, 1);
  EXPECT_EQ(meeting.clusters, 0u);
  EXPECT_EQ(meeting.cooperative, 1u);
}

TEST(CudaCluster, FewBlocksAreOne) {
  MeetProgram program;
  expectCluster(meet(program, 2), 2);
  expectCluster(meet(program, 5), 5);
  expectCluster(meet(program, 8), 8);
  expectGrid(meet(program, 9), 9);
  // Where nobody said that the kernel knows of them.
  expectGrid(meet(program, 4, LOOPC_CUDA_COOPERATIVE), 4);
}

TEST(CudaCluster, OneBlockNeedsNone) {
  MeetProgram program;
  Meeting meeting = meet(program, 1);
  EXPECT_EQ(meeting.outcome.status, LOOPC_OK) << meeting.outcome.message;
  EXPECT_EQ(meeting.met, 1);
  EXPECT_EQ(meeting.clusters, 0u);
  EXPECT_EQ(meeting.cooperative, 0u);
}

/// What is refused once is not asked for again, and less is.
TEST(CudaCluster, RefusedClustersAreGrids) {
  MeetProgram program;
  FakeSetting most("LOOPC_FAKE_CUDA_CLUSTERS", "4");
  expectGrid(meet(program, 6), 6);
  Meeting again = meet(program, 7);
  expectGrid(again, 7);
  EXPECT_EQ(again.tried, 0u);
  expectCluster(meet(program, 4), 4);
}

/// Parts of devices, and tools that watch them, say it otherwise.
TEST(CudaCluster, ClustersThatFailAreGrids) {
  for (const char *failure :
       {"cuLaunchKernelEx:1=701", "cuLaunchKernelEx:1=801"}) {
    MeetProgram program;
    FakeSetting setting("LOOPC_FAKE_CUDA_FAIL", failure);
    expectGrid(meet(program, 4), 4);
    Meeting again = meet(program, 4);
    expectGrid(again, 4);
    EXPECT_EQ(again.tried, 0u);
    expectCluster(meet(program, 2), 2);
  }
}

TEST(CudaCluster, WithoutMemoryOnceIsNotForever) {
  MeetProgram program;
  FakeSetting failure("LOOPC_FAKE_CUDA_FAIL", "cuLaunchKernelEx:1=2");
  expectGrid(meet(program, 4), 4);
  expectCluster(meet(program, 4), 4);
}

/// Fewer blocks do, where a device has no room for what it said.
TEST(CudaCluster, GridsThatAreTooLarge) {
  MeetProgram program;
  FakeSetting failure("LOOPC_FAKE_CUDA_FAIL",
                      "cuLaunchCooperativeKernel:1=720");
  expectGrid(meet(program, 12, LOOPC_CUDA_COOPERATIVE), 6);
  FakeSetting again("LOOPC_FAKE_CUDA_FAIL", "cuLaunchCooperativeKernel=720");
  Meeting meeting = meet(program, 12, LOOPC_CUDA_COOPERATIVE);
  EXPECT_EQ(meeting.outcome.status, LOOPC_OK) << meeting.outcome.message;
  EXPECT_EQ(meeting.met, 1);
}

class CudaClusterDeath : public testing::Test {
protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

/// What a device has is asked for once.
TEST_F(CudaClusterDeath, DevicesWithout) {
  auto check = [] {
    fake_cuda_set("LOOPC_FAKE_CUDA_CLUSTERS", "0");
    MeetProgram program;
    Meeting meeting = meet(program, 4);
    expectGrid(meeting, 4);
    EXPECT_EQ(meeting.tried, 0u);
    _exit(testing::Test::HasFailure());
  };
  EXPECT_EXIT(check(), testing::ExitedWithCode(0), "");
}

} // namespace
