//===- FaultTest.cpp - What kernels and programs do wrong is found --------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCudaTest.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace {

using testing::HasSubstr;

class FaultTest : public FakeCudaTest {
protected:
  /// Runs a kernel that is wrong; its first argument is the pointer. The
  /// context is new afterwards.
  CUresult fault(const std::string &body, uint64_t pointer,
                 unsigned threads = 1, const std::string &before = "") {
    EXPECT_EQ(
        load(entry("ld.param.b64 %d1, [p0]; mov.u32 %r0, %tid.x;\n" + body, 1,
                   before)),
        CUDA_SUCCESS)
        << error;
    CUresult result = run("k", 1, threads, {pointer});
    if (result) {
      EXPECT_EQ(cuCtxSynchronize(), result) << "errors have to stick";
      CUdeviceptr more;
      EXPECT_EQ(cuMemAlloc_v2(&more, 16), result);
    }
    return result;
  }

  CUdeviceptr words(unsigned count) {
    return upload(std::vector<uint32_t>(count));
  }
};

TEST_F(FaultTest, accessOutsideOfAnAllocation) {
  CUdeviceptr pointer = words(5);
  ASSERT_EQ(fault("ld.global.b32 %r1, [%d1+16];", pointer), CUDA_SUCCESS);
  ASSERT_EQ(fault("ld.global.b32 %r1, [%d1+20];", pointer),
            CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THAT(fake_cuda_last_fault(), HasSubstr("kernel 'k'"));
  EXPECT_THAT(fake_cuda_last_fault(),
              HasSubstr("ld.global.b32: read of 4 bytes"));
  EXPECT_THAT(fake_cuda_last_fault(), HasSubstr("20 bytes"));
}

TEST_F(FaultTest, writeBeforeAnAllocation) {
  EXPECT_EQ(fault("st.global.b32 [%d1+-4], %r0;", words(1)),
            CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(FaultTest, vectorOverTheEnd) {
  EXPECT_EQ(fault("ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d1];", words(3)),
            CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(FaultTest, memoryOfTheHost) {
  uint64_t ordinary[2] = {};
  EXPECT_EQ(fault("ld.b32 %r1, [%d1];", reinterpret_cast<uint64_t>(ordinary)),
            CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(FaultTest, nullPointer) {
  EXPECT_EQ(fault("ld.b32 %r1, [%d1];", 0), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(FaultTest, sharedMemory) {
  EXPECT_EQ(fault("ld.shared.b32 %r1, [s+16];", 0, 1, ".shared .b32 s[4];"),
            CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(FaultTest, localMemory) {
  EXPECT_EQ(fault(".local .b32 l[4]; ld.local.b32 %r1, [l+64];", 0),
            CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(FaultTest, misalignedAddress) {
  EXPECT_EQ(fault("ld.global.b64 %d2, [%d1+4];", words(4)),
            CUDA_ERROR_MISALIGNED_ADDRESS);
}

TEST_F(FaultTest, memoryThatWasFreed) {
  CUdeviceptr pointer = words(4);
  ASSERT_EQ(load(entry("ld.param.b64 %d1, [p0]; st.global.b64 [%d1], 7;")),
            CUDA_SUCCESS);
  void *params[] = {&pointer};
  CUstream stream;
  ASSERT_EQ(cuStreamCreate(&stream, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFreeAsync(pointer, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(pointer, stream), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuLaunchKernel(function("k"), 1, 1, 1, 1, 1, 1, 0, stream, params,
                           nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(FaultTest, copiesOutsideOfAnAllocation) {
  CUdeviceptr pointer = words(4);
  uint32_t host[8] = {};
  EXPECT_EQ(cuMemcpyHtoD_v2(pointer, host, 20), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoH_v2(host, pointer + 8, 12), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoH_v2(host, reinterpret_cast<uint64_t>(host), 4),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD8_v2(pointer, 0, 17), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(FaultTest, copiesOfMemoryThatWasFreed) {
  CUdeviceptr pointer = words(4);
  void *pinned = nullptr;
  ASSERT_EQ(cuMemHostAlloc(&pinned, 16, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyHtoDAsync_v2(pointer, pinned, 16, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THAT(fake_cuda_last_fault(), HasSubstr("memory that has been freed"));
}

TEST_F(FaultTest, kernelsThatNeedTooMuch) {
  EXPECT_EQ(load(entry(".local .b8 l[600000];")), CUDA_ERROR_INVALID_PTX);
  EXPECT_THAT(error, HasSubstr("local memory"));
  EXPECT_EQ(load(entry("ld.shared.b32 %r1, [s];", 1, ".shared .b32 s[20000];")),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_THAT(error, HasSubstr("more than 48 KiB"));
  EXPECT_EQ(load(entry("", 1, ".global .b8 g[999999999999];")),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_THAT(error, HasSubstr("no memory for 'g'"));
}

TEST_F(FaultTest, traps) {
  EXPECT_EQ(fault("trap;", 0), CUDA_ERROR_LAUNCH_FAILED);
}

TEST_F(FaultTest, deadlocks) {
  ASSERT_EQ(fault("setp.eq.u32 %p1, %r0, 3; @%p1 ret; bar.sync 0;", 0, 32),
            CUDA_ERROR_LAUNCH_TIMEOUT);
  EXPECT_THAT(fake_cuda_last_fault(), HasSubstr("waits for itself"));
}

TEST_F(FaultTest, lanesThatNeverCome) {
  EXPECT_EQ(fault("setp.eq.u32 %p1, %r0, 3; @%p1 bra B;\n"
                  "shfl.sync.idx.b32 %r1, %r0, 0, 31, -1; B: bar.sync 0;",
                  0, 32),
            CUDA_ERROR_LAUNCH_TIMEOUT);
}

TEST_F(FaultTest, spinningWithoutProgress) {
  fake_cuda_set("LOOPC_FAKE_CUDA_SPIN", "1");
  EXPECT_EQ(
      fault("L: ld.volatile.global.b32 %r1, [%d1]; setp.eq.s32 %p1, %r1, 0;\n"
            "@%p1 bra L;",
            words(1), 4),
      CUDA_ERROR_LAUNCH_TIMEOUT);
  EXPECT_THAT(fake_cuda_last_fault(), HasSubstr("makes no progress"));
}

TEST_F(FaultTest, launchesThatTakeTooLong) {
  fake_cuda_set("LOOPC_FAKE_CUDA_LIMIT", "1");
  EXPECT_EQ(fault("L: red.global.add.u32 [%d1], 1; bra L;", words(1)),
            CUDA_ERROR_LAUNCH_TIMEOUT);
}

TEST_F(FaultTest, cooperativeLaunchesThatAreTooLarge) {
  ASSERT_EQ(load(entry("")), CUDA_SUCCESS) << error;
  CUfunction kernel = function("k");
  int blocks = 0, processors = 0;
  ASSERT_EQ(
      cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0),
      CUDA_SUCCESS);
  ASSERT_EQ(cuDeviceGetAttribute(&processors, 16, 0), CUDA_SUCCESS);
  EXPECT_EQ(blocks, 8);
  uint64_t nothing = 0;
  void *params[] = {&nothing};
  unsigned most = blocks * processors;
  EXPECT_EQ(cuLaunchCooperativeKernel(kernel, most, 1, 1, 256, 1, 1, 0, nullptr,
                                      params),
            CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchCooperativeKernel(kernel, most + 1, 1, 1, 256, 1, 1, 0,
                                      nullptr, params),
            CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  // Shared memory counts.
  ASSERT_EQ(cuFuncSetAttribute(kernel, 8, 100 << 10), CUDA_SUCCESS);
  ASSERT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256,
                                                        100 << 10),
            CUDA_SUCCESS);
  EXPECT_EQ(blocks, 2);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(FaultTest, shapesOfLaunches) {
  ASSERT_EQ(load(".version 8.7\n.target sm_90\n.address_size 64\n"
                 ".entry a() .maxntid 64 { ret; }\n"
                 ".entry b() .reqntid 32, 2, 1 { ret; }"),
            CUDA_SUCCESS)
      << error;
  auto launch = [&](const char *name, unsigned x, unsigned y, unsigned shared) {
    return cuLaunchKernel(function(name), 1, 1, 1, x, y, 1, shared, nullptr,
                          nullptr, nullptr);
  };
  EXPECT_EQ(launch("a", 64, 1, 0), CUDA_SUCCESS);
  EXPECT_EQ(launch("a", 65, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch("a", 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch("a", 32, 1, 49 << 10), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch("b", 32, 2, 0), CUDA_SUCCESS);
  EXPECT_EQ(launch("b", 64, 1, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(FaultTest, theHostCannotTouchDeviceMemory) {
  CUdeviceptr pointer = words(4);
  EXPECT_DEATH(
      {
        volatile uint32_t value = *reinterpret_cast<uint32_t *>(pointer);
        (void)value;
      },
      "");
}

TEST_F(FaultTest, workWaitsForASynchronisation) {
  CUdeviceptr pointer = 0;
  ASSERT_EQ(cuMemAllocManaged(&pointer, 4, 1), CUDA_SUCCESS);
  auto &value = *reinterpret_cast<volatile uint32_t *>(pointer);
  EXPECT_EQ(value, 0xA5A5A5A5) << "memory begins with poison";
  value = 1;
  ASSERT_EQ(load(entry("ld.param.b64 %d1, [p0]; mov.b32 %r1, 2;\n"
                       "st.global.b32 [%d1], %r1;")),
            CUDA_SUCCESS);
  void *params[] = {&pointer};
  ASSERT_EQ(cuLaunchKernel(function("k"), 1, 1, 1, 1, 1, 1, 0, nullptr, params,
                           nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 1u);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(value, 2u);
  fake_cuda_set("LOOPC_FAKE_CUDA_LAZY", "0");
  value = 1;
  ASSERT_EQ(cuLaunchKernel(function("k"), 1, 1, 1, 1, 1, 1, 0, nullptr, params,
                           nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 2u);
}

TEST_F(FaultTest, managedMemoryIsGuarded) {
  fake_cuda_set("LOOPC_FAKE_CUDA_GUARD", "1");
  CUdeviceptr pointer = 0, later = 0;
  ASSERT_EQ(cuMemAllocManaged(&pointer, 8000, 1), CUDA_SUCCESS);
  auto &value = *reinterpret_cast<volatile uint32_t *>(pointer);
  value = 1;
  ASSERT_EQ(load(entry("ld.param.b64 %d1, [p0]; red.global.add.u32 [%d1], 1;")),
            CUDA_SUCCESS);
  CUfunction kernel = function("k");
  void *params[] = {&pointer};
  ASSERT_EQ(
      cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr),
      CUDA_SUCCESS);
  EXPECT_DEATH(value = 5, "");
  ASSERT_EQ(cuMemAllocManaged(&later, 4, 1), CUDA_SUCCESS);
  *reinterpret_cast<volatile uint32_t *>(later) = 2;
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(value, 2u);
}

TEST_F(FaultTest, notesInFrontOfGuardedMemory) {
  fake_cuda_set("LOOPC_FAKE_CUDA_GUARD", "1");
  CUdeviceptr pointer = 0;
  ASSERT_EQ(cuMemAllocManaged(&pointer, 68 << 10, 1), CUDA_SUCCESS);
  CUdeviceptr behind = pointer + 4096;
  ASSERT_EQ(load(entry("ld.param.b64 %d1, [p0]; red.global.add.u32 [%d1], 1;")),
            CUDA_SUCCESS);
  void *params[] = {&behind};
  ASSERT_EQ(cuLaunchKernel(function("k"), 1, 1, 1, 1, 1, 1, 0, nullptr, params,
                           nullptr),
            CUDA_SUCCESS);
  *reinterpret_cast<volatile uint32_t *>(pointer) = 5;
  EXPECT_DEATH(*reinterpret_cast<volatile uint32_t *>(behind) = 5, "");
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(FaultTest, racesInABlock) {
  const std::string store = "mul.lo.u32 %r1, %r0, 4; mov.b32 %r2, s;\n"
                            "add.s32 %r2, %r2, %r1; add.s32 %r5, %r0, 1;\n"
                            "st.shared.b32 [%r2], %r5;\n";
  const std::string load = "xor.b32 %r3, %r1, 4; mov.b32 %r4, s;\n"
                           "add.s32 %r4, %r4, %r3; ld.shared.b32 %r6, [%r4];\n";
  const std::string before = ".shared .b32 s[64];";
  fake_cuda_set("LOOPC_FAKE_CUDA_RACES", "1");
  EXPECT_EQ(fault(store + "bar.sync 0;\n" + load + "bar.sync 0;\n" + store, 0,
                  64, before),
            CUDA_SUCCESS)
      << fake_cuda_last_fault();
  // All write the same.
  EXPECT_EQ(fault("mov.b32 %r1, 1; st.shared.b32 [s], %r1;", 0, 64, before),
            CUDA_SUCCESS);
  ASSERT_EQ(fault(store + load, 0, 64, before), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_THAT(fake_cuda_last_fault(), HasSubstr("a race: "));
}

TEST_F(FaultTest, storesAfterLoadsOfOthers) {
  fake_cuda_set("LOOPC_FAKE_CUDA_RACES", "1");
  EXPECT_EQ(fault("ld.global.b32 %r1, [%d1]; setp.eq.u32 %p1, %r0, 7;\n"
                  "add.s32 %r1, %r1, 1; @%p1 st.global.b32 [%d1], %r1;",
                  words(1), 8),
            CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_THAT(fake_cuda_last_fault(), HasSubstr("writes what thread 0"));
}

TEST_F(FaultTest, racesBetweenBlocks) {
  const std::string body = "ld.param.b64 %d1, [p0]; mov.u32 %r1, %ctaid.x;\n"
                           "mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;\n"
                           "ld.global.b32 %r2, [%d3]; add.s32 %r2, %r2, 1;\n";
  fake_cuda_set("LOOPC_FAKE_CUDA_RACES", "1");
  ASSERT_EQ(load(entry(body + "st.global.b32 [%d3], %r2;")), CUDA_SUCCESS)
      << error;
  CUdeviceptr pointer = words(5);
  EXPECT_EQ(run("k", 4, 1, {pointer}), CUDA_SUCCESS) << fake_cuda_last_fault();
  ASSERT_EQ(load(entry(body + "red.global.add.u32 [%d1+16], 1;")),
            CUDA_SUCCESS);
  EXPECT_EQ(run("k", 4, 1, {pointer}), CUDA_SUCCESS) << fake_cuda_last_fault();
  ASSERT_EQ(load(entry(body + "st.global.b32 [%d3+4], %r2;")), CUDA_SUCCESS);
  EXPECT_EQ(run("k", 4, 1, {pointer}), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_THAT(fake_cuda_last_fault(), HasSubstr("block 0 writes"));
}

/// Lanes that meet are no barrier for other warps.
TEST_F(FaultTest, racesBehindShuffles) {
  fake_cuda_set("LOOPC_FAKE_CUDA_RACES", "1");
  EXPECT_EQ(fault("add.s32 %r5, %r0, 1; setp.eq.u32 %p1, %r0, 3;\n"
                  "@%p1 st.shared.b32 [s], %r5; bar.warp.sync -1;\n"
                  "setp.lt.u32 %p2, %r0, 32; @%p2 ld.shared.b32 %r6, [s];",
                  0, 64, ".shared .b32 s[64];"),
            CUDA_SUCCESS)
      << fake_cuda_last_fault();
  EXPECT_EQ(fault("add.s32 %r5, %r0, 1; setp.eq.u32 %p1, %r0, 3;\n"
                  "@%p1 st.shared.b32 [s], %r5; bar.warp.sync -1;\n"
                  "ld.shared.b32 %r6, [s];",
                  0, 64, ".shared .b32 s[64];"),
            CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_THAT(fake_cuda_last_fault(), HasSubstr("what thread 3 of block 0"));
}

/// Copies that the chip makes by itself write until they were waited for.
TEST_F(FaultTest, racesOfCopies) {
  const std::string copy = "mul.wide.u32 %d2, %r0, 16; add.s64 %d3, %d1, %d2;\n"
                           "mul.lo.u32 %r1, %r0, 16; mov.b32 %r2, s;\n"
                           "add.s32 %r2, %r2, %r1;\n"
                           "cp.async.cg.shared.global [%r2], [%d3], 16;\n"
                           "cp.async.commit_group;\n";
  const std::string wait = "cp.async.wait_group 0;\n";
  const std::string read = "xor.b32 %r3, %r1, 16; mov.b32 %r4, s;\n"
                           "add.s32 %r4, %r4, %r3; ld.shared.b32 %r6, [%r4];\n";
  const std::string before = ".shared .align 16 .b32 s[256];";
  fake_cuda_set("LOOPC_FAKE_CUDA_RACES", "1");
  CUdeviceptr pointer = words(256);
  EXPECT_EQ(fault(copy + wait + "bar.sync 0;\n" + read, pointer, 64, before),
            CUDA_SUCCESS)
      << fake_cuda_last_fault();
  EXPECT_EQ(fault(copy + wait + read, pointer, 64, before),
            CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_THAT(fake_cuda_last_fault(), HasSubstr("a race: "));
}

TEST_F(FaultTest, cachesThatAreNotCoherent) {
  fake_cuda_set("LOOPC_FAKE_CUDA_RACES", "1");
  const std::string store = "setp.eq.u32 %p1, %r0, 0; mov.b32 %r5, 7;\n"
                            "@%p1 st.global.b32 [%d1], %r5; bar.sync 0;\n";
  EXPECT_EQ(fault(store + "ld.global.b32 %r6, [%d1];", words(1), 32),
            CUDA_SUCCESS)
      << fake_cuda_last_fault();
  EXPECT_EQ(fault(store + "ld.global.nc.b32 %r6, [%d1];", words(1), 32),
            CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_THAT(fake_cuda_last_fault(), HasSubstr("not coherent"));
}

/// All lanes of a warp are at one barrier where it is an aligned one.
TEST_F(FaultTest, barriersInBranches) {
  const std::string branch = "setp.lt.u32 %p1, %r0, 16;\n";
  EXPECT_EQ(fault(branch + "@%p1 bra one; bar.sync 0; bra two;\n"
                           "one: bar.sync 0;\ntwo:",
                  0, 64),
            CUDA_ERROR_ILLEGAL_INSTRUCTION);
  EXPECT_THAT(fake_cuda_last_fault(), HasSubstr("different aligned barriers"));
  ASSERT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
  open();
  EXPECT_EQ(fault(branch + "@%p1 bra one; barrier.sync 0; bra two;\n"
                           "one: barrier.sync 0;\ntwo:",
                  0, 64),
            CUDA_SUCCESS)
      << fake_cuda_last_fault();
}

/// Blocks that wait by counting their arrivals see what the others wrote where
/// fences, or the operations themselves, say so to the device.
TEST_F(FaultTest, racesBetweenBlocksThatWait) {
  fake_cuda_set("LOOPC_FAKE_CUDA_RACES", "1");
  auto wait = [](const std::string &before, const std::string &load,
                 const std::string &behind) {
    return "bar.sync 0; @!%p3 bra meet;\n" + before +
           "atom.global.add.u64 %d5, [%d1], 1; cvt.u64.u32 %d6, %r2;\n"
           "spin: " +
           load + " %d8, [%d1]; setp.lt.u64 %p2, %d8, %d6; @%p2 bra spin;\n" +
           behind + "meet: bar.sync 0;\n";
  };
  auto runWith = [&](const std::string &barrier) {
    const std::string body =
        "ld.param.b64 %d1, [p0]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;\n"
        "mov.u32 %r2, %nctaid.x; setp.eq.u32 %p3, %r0, 0;\n"
        "mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;\n"
        "add.s32 %r3, %r1, 7; @%p3 st.global.b32 [%d3+64], %r3;\n" +
        barrier +
        "add.s32 %r3, %r1, 1; rem.u32 %r3, %r3, %r2; mul.wide.u32 %d4, %r3, "
        "4;\n"
        "add.s64 %d4, %d1, %d4; ld.global.b32 %r4, [%d4+64];\n";
    EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
    open();
    EXPECT_EQ(load(entry(body)), CUDA_SUCCESS) << error;
    CUdeviceptr pointer = words(32);
    void *params[] = {&pointer};
    EXPECT_EQ(cuLaunchCooperativeKernel(function("k"), 4, 1, 1, 64, 1, 1, 0,
                                        nullptr, params),
              CUDA_SUCCESS);
    return cuCtxSynchronize();
  };
  const std::string acquire = "ld.acquire.gpu.global.b64";
  EXPECT_EQ(runWith(wait("fence.sc.gpu;", acquire, "")), CUDA_SUCCESS)
      << fake_cuda_last_fault();
  EXPECT_EQ(runWith(wait("fence.acq_rel.gpu;", "ld.volatile.global.b64",
                         "fence.acq_rel.gpu;")),
            CUDA_SUCCESS)
      << fake_cuda_last_fault();
  for (const std::string &barrier :
       {std::string(), wait("", acquire, ""),
        wait("fence.sc.cta;", acquire, ""),
        wait("fence.sc.gpu;", "ld.volatile.global.b64", "")}) {
    EXPECT_EQ(runWith(barrier), CUDA_ERROR_LAUNCH_FAILED) << barrier;
    EXPECT_THAT(fake_cuda_last_fault(), HasSubstr("a race: "));
  }
}

TEST_F(FaultTest, failedAssertions) {
  ASSERT_EQ(
      load(entry("{ .param .b64 a; .param .b64 b; .param .b32 c;\n"
                 ".param .b64 d; .param .b64 e; mov.b64 %d1, text;\n"
                 "mov.b32 %r1, 12; st.param.b64 [a], %d1;\n"
                 "st.param.b64 [b], %d1; st.param.b32 [c], %r1;\n"
                 "st.param.b64 [d], %d1; st.param.b64 [e], 1;\n"
                 "call.uni __assertfail, (a, b, c, d, e); }",
                 1,
                 ".extern .func __assertfail(.param .b64 a, .param .b64 b,\n"
                 " .param .b32 c, .param .b64 d, .param .b64 e);\n"
                 ".global .b8 text[3] = {110, 111, 0};")),
      CUDA_SUCCESS)
      << error;
  EXPECT_EQ(run("k", 1, 1, {0}), CUDA_ERROR_ASSERT);
  EXPECT_THAT(fake_cuda_last_fault(),
              HasSubstr("no:12: no: assertion 'no' failed"));
}

TEST_F(FaultTest, aNewContextForgetsTheError) {
  ASSERT_EQ(fault("trap;", 0), CUDA_ERROR_LAUNCH_FAILED);
  ASSERT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  open();
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(fault("", 0), CUDA_SUCCESS);
}

//===----------------------------------------------------------------------===//
// Faults on request
//===----------------------------------------------------------------------===//

TEST_F(FaultTest, failuresOfCalls) {
  fake_cuda_set("LOOPC_FAKE_CUDA_FAIL", "cuMemAlloc:2=2,cuStreamCreate=801");
  CUdeviceptr pointer;
  EXPECT_EQ(cuMemAlloc_v2(&pointer, 16), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc_v2(&pointer, 16), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAlloc_v2(&pointer, 16), CUDA_SUCCESS);
  CUstream stream;
  EXPECT_EQ(cuStreamCreate(&stream, 0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuStreamCreate(&stream, 0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(fake_cuda_call_count("cuMemAlloc"), 3u);
}

TEST_F(FaultTest, aDeviceThatIsLost) {
  fake_cuda_set("LOOPC_FAKE_CUDA_LOST", "1=214");
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), 214);
  EXPECT_EQ(cuCtxSynchronize(), 214);
}

TEST_F(FaultTest, devicesThatAreNotThere) {
  fake_cuda_set("LOOPC_FAKE_CUDA_DEVICES", "0");
  EXPECT_EQ(cuInit(0), CUDA_ERROR_NO_DEVICE);
  fake_cuda_set("LOOPC_FAKE_CUDA_DEVICES", "2");
  CUdevice device;
  EXPECT_EQ(cuDeviceGet(&device, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGet(&device, 2), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(FaultTest, chipsAndDriversThatDoNotFit) {
  fake_cuda_set("LOOPC_FAKE_CUDA_CHIP", "sm_80");
  int major = 0, minor = 9;
  EXPECT_EQ(cuDeviceGetAttribute(&major, 75, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGetAttribute(&minor, 76, 0), CUDA_SUCCESS);
  EXPECT_EQ(major * 10 + minor, 80);
  EXPECT_EQ(load(entry("")), CUDA_ERROR_INVALID_PTX);
  EXPECT_THAT(error, HasSubstr("for sm_90"));
  EXPECT_EQ(load(entry("", 1, "", "sm_80")), CUDA_SUCCESS);
  fake_cuda_set("LOOPC_FAKE_CUDA_VERSION", "12020");
  EXPECT_EQ(load(entry("", 1, "", "sm_80")),
            CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  EXPECT_THAT(error, HasSubstr("PTX 8.7 is newer than the driver"));
}

TEST_F(FaultTest, machineCodeHasToBePtx) {
  const char elf[64] = {0x7F, 'E', 'L', 'F'};
  EXPECT_EQ(cuModuleLoadData(&module, elf), CUDA_ERROR_NO_BINARY_FOR_GPU);
  fake_cuda_set("LOOPC_FAKE_CUDA_CUBIN", "200");
  EXPECT_EQ(cuModuleLoadData(&module, elf), CUDA_ERROR_INVALID_IMAGE);
}

TEST_F(FaultTest, theSizeOfTheMemory) {
  fake_cuda_set("LOOPC_FAKE_CUDA_MEMORY", "1"); // MiB
  CUdeviceptr first, second;
  ASSERT_EQ(cuMemAlloc_v2(&first, 700 << 10), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc_v2(&second, 700 << 10), CUDA_ERROR_OUT_OF_MEMORY);
  // Freed in the order of a stream, which an allocation waits for.
  ASSERT_EQ(cuMemFreeAsync(first, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc_v2(&second, 700 << 10), CUDA_SUCCESS);
}

} // namespace
