//===- WarpTest.cpp - Barriers, shuffles, votes, atomics, matrices --------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCudaTest.h"

namespace {

class WarpTest : public FakeCudaTest {
protected:
  /// Runs the body with one word a thread in %r1, out of which %r9 comes; the
  /// number of the thread is in %r0.
  std::vector<uint32_t> words(const std::string &body,
                              std::vector<uint32_t> input,
                              const std::string &before = "") {
    EXPECT_EQ(load(entry("ld.param.b64 %d1, [p0]; mov.u32 %r0, %tid.x;\n"
                         "mul.wide.u32 %d2, %r0, 4; add.s64 %d3, %d1, %d2;\n"
                         "ld.global.b32 %r1, [%d3];\n" +
                             body + "\nst.global.b32 [%d3], %r9;",
                         1, before)),
              CUDA_SUCCESS)
        << error;
    CUdeviceptr pointer = upload(input);
    EXPECT_EQ(run("k", 1, input.size(), {pointer}), CUDA_SUCCESS)
        << fake_cuda_last_fault();
    return download<uint32_t>(pointer, input.size());
  }

  static std::vector<uint32_t> counting(unsigned count) {
    std::vector<uint32_t> result;
    for (unsigned i = 0; i != count; ++i)
      result.push_back(i);
    return result;
  }
};

TEST_F(WarpTest, shuffles) {
  auto got = words("shfl.sync.down.b32 %r9|%p1, %r1, 4, 0x1f, -1;\n"
                   "@!%p1 mov.b32 %r9, 100;",
                   counting(32));
  for (unsigned i = 0; i != 32; ++i)
    EXPECT_EQ(got[i], i + 4 < 32 ? i + 4 : 100);
  got = words("shfl.sync.up.b32 %r9|%p1, %r1, 1, 0, -1;", counting(64));
  for (unsigned i = 0; i != 64; ++i)
    EXPECT_EQ(got[i], i % 32 ? i - 1 : i);
  got = words("shfl.sync.bfly.b32 %r9, %r1, 3, 31, -1;", counting(32));
  for (unsigned i = 0; i != 32; ++i)
    EXPECT_EQ(got[i], i ^ 3);
  // Groups of eight lanes.
  got = words("shfl.sync.idx.b32 %r9, %r1, 2, 0x181f, -1;", counting(32));
  for (unsigned i = 0; i != 32; ++i)
    EXPECT_EQ(got[i], i / 8 * 8 + 2);
}

TEST_F(WarpTest, votesAndMatches) {
  std::vector<uint32_t> input = counting(32);
  auto got = words(
      "setp.lt.u32 %p1, %r1, 5; vote.sync.ballot.b32 %r9, %p1, -1;", input);
  EXPECT_THAT(got, testing::Each(0x1Fu));
  got = words(
      "setp.lt.u32 %p1, %r1, 5; vote.sync.all.pred %p2, %p1, 0xF;\n"
      "vote.sync.any.pred %p3, !%p1, 0xF; vote.sync.uni.pred %p4, %p1, 0xF;"
      "\nselp.b32 %r2, 1, 0, %p2; selp.b32 %r3, 2, 0, %p3;\n"
      "selp.b32 %r4, 4, 0, %p4; add.s32 %r9, %r2, %r3;\n"
      "add.s32 %r9, %r9, %r4;",
      counting(4));
  EXPECT_THAT(got, testing::Each(5u));
  got = words("and.b32 %r2, %r1, 1; match.any.sync.b32 %r9, %r2, -1;", input);
  EXPECT_EQ(got[0], 0x55555555u);
  EXPECT_EQ(got[1], 0xAAAAAAAAu);
  got =
      words("match.all.sync.b32 %r9|%p1, %r1, -1; @%p1 mov.b32 %r9, 7;", input);
  EXPECT_THAT(got, testing::Each(0u));
  got = words("mov.b32 %r9, 0; setp.lt.u32 %p2, %r0, 3; @%p2 bra E;\n"
              "elect.sync %r9|%p1, 0xFFFFFFF8; @!%p1 mov.b32 %r9, 50; E:",
              input);
  for (unsigned i = 0; i != 32; ++i)
    EXPECT_EQ(got[i], i < 3 ? 0u : i == 3 ? 3u : 50u);
}

TEST_F(WarpTest, reductionsOfAWarp) {
  EXPECT_THAT(words("redux.sync.add.s32 %r9, %r1, -1;", counting(32)),
              testing::Each(496u));
  EXPECT_THAT(words("redux.sync.max.u32 %r9, %r1, -1;", counting(32)),
              testing::Each(31u));
  EXPECT_THAT(
      words("neg.s32 %r2, %r1; redux.sync.min.s32 %r9, %r2, -1;", counting(20)),
      testing::Each(uint32_t(-19)));
  EXPECT_THAT(words("redux.sync.xor.b32 %r9, %r1, -1;", counting(32)),
              testing::Each(0u));
}

TEST_F(WarpTest, sharedMemoryAndBarriers) {
  // Reverses a block through shared memory, which begins with poison.
  auto got =
      words("mul.lo.u32 %r2, %r0, 4; mov.b32 %r3, s; add.s32 %r4, %r3, %r2;\n"
            "ld.shared.b32 %r7, [%r4];\n"
            "st.shared.b32 [%r4], %r1; bar.sync 0;\n"
            "sub.s32 %r5, 508, %r2; add.s32 %r6, %r3, %r5;\n"
            "ld.shared.b32 %r8, [%r6]; setp.eq.u32 %p1, %r7, 0xA5A5A5A5;\n"
            "selp.b32 %r9, %r8, 0, %p1;",
            counting(128), ".shared .align 4 .b8 s[512];");
  for (unsigned i = 0; i != 128; ++i)
    EXPECT_EQ(got[i], 127 - i);
  got = words("setp.lt.u32 %p1, %r1, 50; bar.red.popc.u32 %r9, 0, %p1;",
              counting(96));
  EXPECT_THAT(got, testing::Each(50u));
  got = words(
      "setp.lt.u32 %p1, %r1, 50; barrier.cta.red.and.pred %p2, 1, 32, %p1;"
      "\nselp.b32 %r9, 1, 0, %p2;",
      counting(32));
  EXPECT_THAT(got, testing::Each(1u));
}

TEST_F(WarpTest, barriersForSomeOfTheThreads) {
  // The first warp waits for what the second, which goes on, has stored.
  auto got =
      words("mov.b32 %r9, 0; setp.lt.u32 %p1, %r0, 32; @%p1 bra W;\n"
            "mov.b32 %r2, 77; st.shared.b32 [s], %r2; bar.arrive 3, 64;\n"
            "bra E; W: bar.sync 3, 64; ld.shared.b32 %r9, [s]; E:",
            counting(64), ".shared .align 4 .b8 s[4];");
  for (unsigned i = 0; i != 64; ++i)
    EXPECT_EQ(got[i], i < 32 ? 77u : 0u);
}

TEST_F(WarpTest, dynamicSharedMemory) {
  ASSERT_EQ(
      load(entry("ld.param.b64 %d1, [p0]; mov.b32 %r1, dyn; mov.b32 %r2, st;\n"
                 "sub.s32 %r3, %r1, %r2; mov.u32 %r4, %dynamic_smem_size;\n"
                 "st.shared.b32 [%r1+252], %r4; ld.shared.b32 %r5, [dyn+252];\n"
                 "st.global.v2.b32 [%d1], {%r3, %r5};",
                 1,
                 ".shared .align 4 .b8 st[20];\n"
                 ".extern .shared .align 16 .b8 dyn[];")),
      CUDA_SUCCESS)
      << error;
  CUdeviceptr out = upload(std::vector<uint32_t>(2));
  EXPECT_EQ(run("k", 1, 1, {out}, 256), CUDA_SUCCESS) << fake_cuda_last_fault();
  EXPECT_EQ(download<uint32_t>(out, 2), (std::vector<uint32_t>{32, 256}));
  EXPECT_EQ(run("k", 1, 1, {out}, 252), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(WarpTest, atomics) {
  const std::string body =
      "ld.param.b64 %d1, [p0]; mov.u32 %r0, %tid.x; mov.b32 %r2, 2;\n"
      "atom.global.add.u32 %r3, [%d1], 1;\n"
      "atom.relaxed.gpu.global.max.s32 %r4, [%d1+4], %r0;\n"
      "red.global.add.f32 [%d1+8], 0f3F000000;\n"
      "atom.global.inc.u32 %r5, [%d1+12], 9;\n"
      "red.global.or.b32 [%d1+16], %r0;\n"
      "atom.acq_rel.sys.global.add.f64 %d4, [%d1+24], 0d3FF0000000000000;\n"
      "mov.b32 %r12, 0x3C004000;\n"
      "atom.global.add.noftz.f16x2 %r6, [%d1+32], %r12;\n"
      "atom.global.dec.u32 %r7, [%d1+36], 4;\n"
      "atom.global.min.u64 %d5, [%d1+40], 3;\n"
      // One thread of all finds what was there.
      "atom.global.cas.b32 %r8, [%d1+48], 0, 1; setp.eq.s32 %p1, %r8, 0;\n"
      "@%p1 red.global.add.u32 [%d1+52], 1;\n"
      "atom.global.exch.b64 %d6, [%d1+56], %d1;\n"
      "mov.b64 %d7, 5; mov.b128 %q0, {%d7, %d7};\n"
      "atom.global.exch.b128 %q1, [%d1+64], %q0;";
  ASSERT_EQ(load(entry(body)), CUDA_SUCCESS) << error;
  std::vector<uint32_t> memory(20);
  memory[10] = 100;
  CUdeviceptr out = upload(memory);
  ASSERT_EQ(run("k", 2, 64, {out}), CUDA_SUCCESS) << fake_cuda_last_fault();
  auto got = download<uint32_t>(out, 20);
  EXPECT_EQ(got[0], 128u);
  EXPECT_EQ(got[1], 63u);
  EXPECT_EQ(std::bit_cast<float>(got[2]), 64.0f);
  EXPECT_EQ(got[3], 128u % 10);
  EXPECT_EQ(got[4], 63u);
  EXPECT_EQ(got[7], 0x40600000u); // 128.0
  EXPECT_EQ(got[8], 0x58005C00u); // 128 and 256
  EXPECT_EQ(got[9], 2u);          // 4 3 2 1 0 4 3 ...
  EXPECT_EQ(got[10], 3u);
  EXPECT_EQ(got[12], 1u);
  EXPECT_EQ(got[13], 1u);
  EXPECT_EQ(got[14], uint32_t(out));
  EXPECT_EQ(got[18], 5u);
}

/// A barrier of all blocks, as persistent kernels have it; with an order of
/// threads and blocks that changes.
TEST_F(WarpTest, aBarrierOfTheGrid) {
  const std::string body =
      "ld.param.b64 %d1, [p0]; mov.u32 %r0, %tid.x; mov.u32 %r10, %nctaid.x;\n"
      "mov.b32 %r1, 0; setp.ne.s32 %p1, %r0, 0;\n"
      "ROUND: red.global.add.u32 [%d1+8], 1; bar.sync 0; @%p1 bra WAIT;\n"
      "fence.acq_rel.gpu; atom.global.add.u32 %r2, [%d1], 1;\n"
      "add.s32 %r3, %r1, 1; mul.lo.s32 %r4, %r3, %r10;\n"
      "SPIN: ld.acquire.gpu.global.b32 %r5, [%d1]; setp.lt.u32 %p2, %r5, %r4;\n"
      "@%p2 bra SPIN; WAIT: bar.sync 0;\n"
      "ld.relaxed.gpu.global.b32 %r6, [%d1+8]; mov.u32 %r7, %ntid.x;\n"
      "mul.lo.s32 %r8, %r7, %r10; add.s32 %r1, %r1, 1; mul.lo.s32 %r8, %r8, "
      "%r1;\n"
      "setp.lt.u32 %p3, %r6, %r8; @%p3 red.global.add.u32 [%d1+16], 1;\n"
      "setp.lt.s32 %p4, %r1, 5; @%p4 bra ROUND;";
  ASSERT_EQ(load(entry(body)), CUDA_SUCCESS) << error;
  for (const char *seed : {"0", "1", "7"}) {
    fake_cuda_set("LOOPC_FAKE_CUDA_SEED", seed);
    CUdeviceptr out = upload(std::vector<uint32_t>(6));
    void *params[] = {&out};
    ASSERT_EQ(cuLaunchCooperativeKernel(function("k"), 8, 1, 1, 64, 1, 1, 0,
                                        nullptr, params),
              CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS) << fake_cuda_last_fault();
    auto got = download<uint32_t>(out, 6);
    EXPECT_EQ(got[0], 40u);
    EXPECT_EQ(got[2], 8u * 64 * 5);
    EXPECT_EQ(got[4], 0u) << "threads went through the barrier too early";
  }
}

TEST_F(WarpTest, asynchronousCopiesAreThereAfterTheWait) {
  const std::string begin =
      "mul.lo.u32 %r2, %r0, 4; mov.b32 %r3, s; add.s32 %r4, %r3, %r2;\n"
      "cp.async.ca.shared.global [%r4], [%d3], 4; cp.async.commit_group;\n";
  auto got = words(begin + "ld.shared.b32 %r9, [%r4]; cp.async.wait_all;",
                   counting(32), ".shared .align 16 .b8 s[128];");
  EXPECT_THAT(got, testing::Each(0xA5A5A5A5u));
  got = words(begin + "cp.async.wait_group 0; ld.shared.b32 %r9, [%r4];",
              counting(32), ".shared .align 16 .b8 s[128];");
  EXPECT_EQ(got, counting(32));
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// A (16 x 16) of f16 times B (16 x 8), with what ldmatrix loads: A by rows, B
/// by columns, both in shared memory.
TEST_F(WarpTest, productOfMatrices) {
  const std::string body =
      "ld.param.b64 %d1, [p0]; mov.u32 %r0, %tid.x; mov.b32 %r1, s;\n"
      // Each thread copies 24 bytes of A and B, which lie one after the other.
      "mul.lo.u32 %r2, %r0, 24; cvt.u64.u32 %d2, %r2; add.s64 %d3, %d1, %d2;\n"
      "add.s32 %r3, %r1, %r2; ld.global.b64 %d4, [%d3]; st.shared.b64 [%r3], "
      "%d4;\n"
      "ld.global.b64 %d4, [%d3+8]; st.shared.b64 [%r3+8], %d4;\n"
      "ld.global.b64 %d4, [%d3+16]; st.shared.b64 [%r3+16], %d4; bar.sync 0;\n"
      // Rows of A: lane % 16, the right half from lane 16 on.
      "and.b32 %r4, %r0, 15; shl.b32 %r4, %r4, 5; shr.u32 %r5, %r0, 4;\n"
      "shl.b32 %r5, %r5, 4; add.s32 %r4, %r4, %r5; add.s32 %r4, %r4, %r1;\n"
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, "
      "[%r4];\n"
      // Rows of B (16 x 8), transposed.
      "and.b32 %r6, %r0, 15; shl.b32 %r6, %r6, 4; add.s32 %r6, %r6, %r1;\n"
      "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r14, %r15}, "
      "[%r6+512];\n"
      "mov.b32 %r16, 0f3F800000;\n"
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r20, %r21, %r22, "
      "%r23},\n"
      "  {%r10, %r11, %r12, %r13}, {%r14, %r15}, {%r16, %r16, %r16, %r16};\n"
      "shr.u32 %r7, %r0, 2; and.b32 %r8, %r0, 3; shl.b32 %r7, %r7, 5;\n"
      "shl.b32 %r8, %r8, 3; add.s32 %r7, %r7, %r8; cvt.u64.u32 %d5, %r7;\n"
      "add.s64 %d6, %d1, %d5; st.global.v2.b32 [%d6+768], {%r20, %r21};\n"
      "st.global.v2.b32 [%d6+1024], {%r22, %r23};";
  ASSERT_EQ(load(entry(body, 1, ".shared .align 16 .b8 s[768];")), CUDA_SUCCESS)
      << error;
  std::vector<uint16_t> memory(768 / 2 + 16 * 8 * 2);
  auto a = [](int i, int k) { return (i * 3 + k * 5) % 7 - 3; };
  auto b = [](int k, int j) { return (k * 2 + j * 11) % 5 - 2; };
  for (int i = 0; i != 16; ++i)
    for (int k = 0; k != 16; ++k)
      memory[i * 16 + k] = std::bit_cast<uint16_t>(_Float16(a(i, k)));
  for (int k = 0; k != 16; ++k)
    for (int j = 0; j != 8; ++j)
      memory[256 + k * 8 + j] = std::bit_cast<uint16_t>(_Float16(b(k, j)));
  CUdeviceptr pointer = upload(memory);
  ASSERT_EQ(run("k", 1, 32, {pointer}), CUDA_SUCCESS) << fake_cuda_last_fault();
  auto got = download<float>(pointer + 768, 128);
  for (int i = 0; i != 16; ++i)
    for (int j = 0; j != 8; ++j) {
      int expected = 1;
      for (int k = 0; k != 16; ++k)
        expected += a(i, k) * b(k, j);
      EXPECT_EQ(got[i * 8 + j], expected) << i << ", " << j;
    }
}

/// The other shapes, by products of ones: each element is k.
TEST_F(WarpTest, shapesOfProducts) {
  struct Shape {
    const char *name, *one, *operands;
    uint32_t expected;
  };
  const Shape shapes[] = {
      {"m16n8k8.row.col.f32.tf32.tf32.f32", "0x3F800000",
       "{%r9, %r20, %r21, %r22}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, "
       "{%r2, %r2, %r2, %r2}",
       0x41000000},
      {"m16n8k4.row.col.f32.tf32.tf32.f32", "0x3F800000",
       "{%r9, %r20, %r21, %r22}, {%r1, %r1}, {%r1}, {%r2, %r2, %r2, %r2}",
       0x40800000},
      {"m16n8k8.row.col.f32.bf16.bf16.f32", "0x3F803F80",
       "{%r9, %r20, %r21, %r22}, {%r1, %r1}, {%r1}, {%r2, %r2, %r2, %r2}",
       0x41000000},
      {"m16n8k16.row.col.f16.f16.f16.f16", "0x3C003C00",
       "{%r9, %r20}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%r2, %r2}", 0x4C004C00},
      {"m16n8k32.row.col.s32.s8.u8.s32", "0x01010101",
       "{%r9, %r20, %r21, %r22}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, "
       "{%r2, %r2, %r2, %r2}",
       32},
      {"m16n8k32.row.col.f32.e4m3.e4m3.f32", "0x38383838",
       "{%r9, %r20, %r21, %r22}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, "
       "{%r2, %r2, %r2, %r2}",
       0x42000000},
  };
  for (const Shape &shape : shapes) {
    SCOPED_TRACE(shape.name);
    auto got = words(std::string("mov.b32 %r1, ") + shape.one +
                         "; mov.b32 %r2, 0;\nmma.sync.aligned." + shape.name +
                         " " + shape.operands + ";",
                     std::vector<uint32_t>(32));
    EXPECT_THAT(got, testing::Each(shape.expected));
  }
  auto got =
      words("mov.b64 %d4, 0d4000000000000000; mov.b64 %d5, %d4;\n"
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d6, %d7}, "
            "{%d4}, {%d5}, {%d4, %d5};\ncvt.rzi.s32.f64 %r9, %d7;",
            std::vector<uint32_t>(32));
  EXPECT_THAT(got, testing::Each(18u));
  EXPECT_EQ(
      load(entry("mma.sync.aligned.m16n8k64.row.col.f32.f16.f16.f32 {%r1}, "
                 "{%r1}, {%r1}, {%r1};")),
      CUDA_ERROR_INVALID_PTX);
}

} // namespace
