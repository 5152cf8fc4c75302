//===- ClusterTest.cpp - Clusters of blocks -------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCudaTest.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kBegin[] = "ld.param.b64 %d1, [p0]; mov.u32 %r1, %ctaid.x;\n"
                          "mov.u32 %r2, %nctaid.x;\n"
                          "mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;\n";
/// Writes the block's word and reads that of the next one.
constexpr char kWrite[] = "st.global.b32 [%d3], %r1;\n";
constexpr char kRead[] = "add.s32 %r3, %r1, 1; rem.u32 %r3, %r3, %r2;\n"
                         "mul.wide.u32 %d4, %r3, 4; add.s64 %d4, %d1, %d4;\n"
                         "ld.global.b32 %r4, [%d4];\n";
constexpr char kWait[] = "barrier.cluster.arrive.aligned;\n"
                         "barrier.cluster.wait.aligned;\n";

class ClusterTest : public FakeCudaTest {
protected:
  CUresult launch(unsigned blocks, unsigned inCluster, unsigned threads,
                  uint64_t argument, bool isCooperative = false) {
    CUlaunchAttribute attributes[2] = {};
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[0].value.clusterDim = {inCluster, 1, 1};
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[1].value.cooperative = isCooperative;
    CUlaunchConfig config = {blocks, 1, 1,       threads,    1,
                             1,      0, nullptr, attributes, 2};
    void *params[] = {&argument};
    if (CUresult result =
            cuLaunchKernelEx(&config, function("k"), params, nullptr))
      return result;
    return cuCtxSynchronize();
  }

  CUresult runBody(const std::string &body, unsigned blocks, unsigned inCluster,
                   unsigned threads = 1) {
    EXPECT_EQ(load(entry(kBegin + body)), CUDA_SUCCESS) << error;
    words = upload(std::vector<uint32_t>(64));
    return launch(blocks, inCluster, threads, words);
  }

  CUdeviceptr words = 0;
};

TEST_F(ClusterTest, blocksSeeEachOther) {
  ASSERT_EQ(runBody(std::string(kWrite) + kWait + kRead + kWait +
                        "st.global.b32 [%d3], %r4;",
                    4, 4),
            CUDA_SUCCESS)
      << fake_cuda_last_fault();
  EXPECT_THAT(download<uint32_t>(words, 4), ElementsAre(1, 2, 3, 0));
  fake_cuda_statistics_t counts;
  fake_cuda_statistics(&counts);
  EXPECT_EQ(counts.launches, 1u);
  EXPECT_EQ(counts.cluster_launches, 1u);
}

TEST_F(ClusterTest, registers) {
  ASSERT_EQ(runBody("mov.u32 %r3, %clusterid.x; mov.u32 %r4, %nclusterid.x;\n"
                    "mov.u32 %r5, %cluster_ctaid.x;\n"
                    "mov.u32 %r6, %cluster_nctaid.x;\n"
                    "mov.u32 %r7, %cluster_ctarank;\n"
                    "mad.lo.s32 %r8, %r3, 10, %r4; mad.lo.s32 %r8, %r8, 10, "
                    "%r5; mad.lo.s32 %r8, %r8, 10, %r6;\n"
                    "mad.lo.s32 %r8, %r8, 10, %r7; st.global.b32 [%d3], %r8;",
                    6, 2),
            CUDA_SUCCESS);
  EXPECT_THAT(download<uint32_t>(words, 6),
              ElementsAre(3020, 3121, 13020, 13121, 23020, 23121));
}

/// Who has ended is not waited for.
TEST_F(ClusterTest, threadsThatEnded) {
  EXPECT_EQ(runBody("setp.eq.u32 %p1, %r1, 1; @%p1 exit;\n" +
                        std::string(kWait) + kWrite,
                    3, 3, 64),
            CUDA_SUCCESS)
      << fake_cuda_last_fault();
  EXPECT_THAT(download<uint32_t>(words, 3), ElementsAre(0, 0, 2));
}

/// A block is a cluster of its own.
TEST_F(ClusterTest, withoutAttribute) {
  ASSERT_EQ(load(entry(kBegin + std::string(kWait) + kWrite)), CUDA_SUCCESS);
  words = upload(std::vector<uint32_t>(3, 9));
  EXPECT_EQ(run("k", 3, 32, {words}), CUDA_SUCCESS) << fake_cuda_last_fault();
  EXPECT_THAT(download<uint32_t>(words, 3), ElementsAre(0, 1, 2));
}

TEST_F(ClusterTest, missingWait) {
  fake_cuda_set("LOOPC_FAKE_CUDA_RACES", "1");
  EXPECT_EQ(runBody(std::string(kWrite) + kWait + kRead, 4, 4), CUDA_SUCCESS)
      << fake_cuda_last_fault();
  EXPECT_EQ(runBody(std::string(kWrite) + kRead, 4, 4),
            CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_THAT(fake_cuda_last_fault(), HasSubstr("a race: "));
}

TEST_F(ClusterTest, arrivesTwice) {
  EXPECT_EQ(runBody("barrier.cluster.arrive; barrier.cluster.arrive;", 2, 2),
            CUDA_ERROR_ILLEGAL_INSTRUCTION);
  EXPECT_THAT(fake_cuda_last_fault(), HasSubstr("twice"));
}

TEST_F(ClusterTest, waitsWithoutArriving) {
  EXPECT_EQ(runBody("barrier.cluster.wait;", 2, 2),
            CUDA_ERROR_ILLEGAL_INSTRUCTION);
  EXPECT_THAT(fake_cuda_last_fault(), HasSubstr("has not arrived"));
}

TEST_F(ClusterTest, clustersWaitForThemselves) {
  // The second thread waits at the block's barrier for the first.
  EXPECT_EQ(runBody("mov.u32 %r9, %tid.x; setp.eq.u32 %p1, %r9, 0;\n"
                    "@%p1 bra first; bar.sync 0; first:\n" +
                        std::string(kWait) + "bar.sync 0;",
                    2, 2, 2),
            CUDA_ERROR_LAUNCH_TIMEOUT);
}

TEST_F(ClusterTest, shapes) {
  ASSERT_EQ(load(entry("")), CUDA_SUCCESS);
  EXPECT_EQ(launch(8, 8, 32, 0), CUDA_SUCCESS);
  EXPECT_EQ(launch(9, 2, 32, 0), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  EXPECT_EQ(launch(16, 16, 32, 0), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  EXPECT_EQ(launch(2, 1, 32, 0, /*isCooperative=*/true), CUDA_SUCCESS);
  fake_cuda_set("LOOPC_FAKE_CUDA_CLUSTERS", "4");
  EXPECT_EQ(launch(8, 8, 32, 0), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  EXPECT_EQ(launch(8, 4, 32, 0), CUDA_SUCCESS);
  int has = 0;
  ASSERT_EQ(cuDeviceGetAttribute(&has, 120, 0), CUDA_SUCCESS);
  EXPECT_EQ(has, 1);
  fake_cuda_set("LOOPC_FAKE_CUDA_CLUSTERS", "0");
  EXPECT_EQ(launch(2, 2, 32, 0), CUDA_ERROR_NOT_SUPPORTED);
  ASSERT_EQ(cuDeviceGetAttribute(&has, 120, 0), CUDA_SUCCESS);
  EXPECT_EQ(has, 0);
}

TEST_F(ClusterTest, olderChips) {
  EXPECT_NE(load(entry(kWait, 1, "", "sm_80")), CUDA_SUCCESS);
}

} // namespace
