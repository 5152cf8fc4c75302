//===- InstructionTest.cpp - Integers, bits, moves and branches -----------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Snippet.h"

namespace {

class InstructionTest : public SnippetTest {};

constexpr uint64_t kMin32 = 0x80000000, kOnes32 = 0xFFFFFFFF;
constexpr uint64_t kMin64 = 0x8000000000000000, kOnes = ~uint64_t(0);

TEST_F(InstructionTest, arithmetic) {
  check({
      {"add.s32 %r9, %r0, %r1;", {0x7FFFFFFF, 1}, kMin32},
      {"add.u64 %d9, %d0, %d1;", {kOnes, 2}, 1},
      {"add.s16 %h9, %h0, -1;", {0}, 0xFFFF},
      {"add.sat.s32 %r9, %r0, %r1;", {0x7FFFFFFF, 1}, 0x7FFFFFFF},
      {"sub.sat.s32 %r9, %r0, %r1;", {kMin32, 1}, kMin32},
      {"add.u16x2 %r9, %r0, %r1;", {0x0001FFFF, 0x00010001}, 0x00020000},
      {"sub.s32 %r9, %r0, 7;", {3}, kOnes32 - 3},
      {"mul.lo.s32 %r9, %r0, %r1;", {0x10001, 0x10001}, 0x20001},
      {"mul.hi.s32 %r9, %r0, %r1;", {kOnes32, 5}, kOnes32},
      {"mul.hi.u32 %r9, %r0, %r1;", {kOnes32, 5}, 4},
      {"mul.hi.u64 %d9, %d0, %d1;", {kOnes, kOnes}, kOnes - 1},
      {"mul.hi.s64 %d9, %d0, %d1;", {kOnes, kOnes}, 0},
      {"mul.hi.s16 %h9, %h0, %h1;", {0x8000, 0x8000}, 0x4000},
      {"mul.wide.s32 %d9, %r0, %r1;", {kOnes32, 3}, kOnes - 2},
      {"mul.wide.u32 %d9, %r0, %r1;", {kOnes32, 3}, 0x2FFFFFFFD},
      {"mul.wide.s16 %r9, %h0, %h1;", {0xFFFE, 3}, kOnes32 - 5},
      {"mad.lo.s32 %r9, %r0, %r1, %r2;", {3, 4, 5}, 17},
      {"mad.hi.u32 %r9, %r0, %r1, %r2;", {kMin32, 4, 5}, 7},
      {"mad.wide.u32 %d9, %r0, %r1, %d2;", {kOnes32, 2, 3}, 0x200000001},
      {"mul24.lo.s32 %r9, %r0, %r1;", {0xFFFFFF, 2}, kOnes32 - 1},
      {"mul24.hi.u32 %r9, %r0, %r1;", {0xFFFFFF, 0xFFFFFF}, 0xFFFFFE00},
      {"sad.s32 %r9, %r0, %r1, %r2;", {kOnes32, 4, 10}, 15},
      {"div.s32 %r9, %r0, %r1;", {kOnes32 - 6, 2}, kOnes32 - 2},
      {"div.u32 %r9, %r0, %r1;", {kOnes32, 2}, 0x7FFFFFFF},
      {"div.s64 %d9, %d0, %d1;", {kMin64, kOnes}, kMin64},
      {"rem.s32 %r9, %r0, %r1;", {kOnes32 - 6, 3}, kOnes32},
      {"rem.u64 %d9, %d0, %d1;", {100, 7}, 2},
      {"rem.s64 %d9, %d0, %d1;", {kMin64, kOnes}, 0},
      {"abs.s32 %r9, %r0;", {kOnes32 - 4}, 5},
      {"neg.s64 %d9, %d0;", {5}, kOnes - 4},
      {"min.s32 %r9, %r0, %r1;", {kOnes32, 1}, kOnes32},
      {"min.u32 %r9, %r0, %r1;", {kOnes32, 1}, 1},
      {"max.s64 %d9, %d0, %d1;", {kOnes, 1}, 1},
      {"max.u16x2 %r9, %r0, %r1;", {0x00050001, 0x00030007}, 0x00050007},
      {"min.s16x2 %r9, %r0, %r1;", {0xFFFF0001, 0x00030007}, 0xFFFF0001},
      {"max.relu.s32 %r9, %r0, %r1;", {kOnes32, kOnes32 - 1}, 0},
      {"add.cc.u32 %r8, %r0, %r1; addc.u32 %r9, %r2, %r3;",
       {kOnes32, 1, 5, 6},
       12},
      {"add.cc.s64 %d8, %d0, %d1; addc.cc.s64 %d9, %d2, %d3;",
       {kOnes, 1, 5, 6},
       12},
      {"sub.cc.u32 %r8, %r0, %r1; subc.u32 %r9, %r2, %r3;", {0, 1, 6, 5}, 0},
      {"mad.lo.cc.u32 %r8, %r0, %r1, %r2; madc.hi.u32 %r9, %r0, %r1, %r3;",
       {kOnes32, 2, 2, 0},
       2},
      {"dp4a.s32.s32 %r9, %r0, %r1, %r2;", {0xFF020304, 0x01010101, 10}, 18},
      {"dp4a.u32.u32 %r9, %r0, %r1, %r2;", {0xFF020304, 0x01010101, 10}, 274},
      {"dp2a.lo.s32.u32 %r9, %r0, %r1, %r2;", {0xFFFF0002, 0x0403, 0}, 2},
      {"dp2a.hi.s32.u32 %r9, %r0, %r1, %r2;", {0xFFFF0002, 0x04030000, 0}, 2},
  });
}

TEST_F(InstructionTest, bits) {
  check({
      {"and.b32 %r9, %r0, %r1;", {0xF0F0, 0xFF00}, 0xF000},
      {"or.b16 %h9, %h0, 0x0F;", {0xF000}, 0xF00F},
      {"xor.b64 %d9, %d0, -1;", {0}, kOnes},
      {"not.b32 %r9, %r0;", {0xF0F0F0F0}, 0x0F0F0F0F},
      {"cnot.b32 %r9, %r0;", {0}, 1},
      {"shl.b32 %r9, %r0, %r1;", {1, 31}, kMin32},
      {"shl.b32 %r9, %r0, %r1;", {1, 32}, 0},
      {"shl.b64 %d9, %d0, %r1;", {1, 63}, kMin64},
      {"shr.s32 %r9, %r0, %r1;", {kMin32, 40}, kOnes32},
      {"shr.u32 %r9, %r0, %r1;", {kMin32, 31}, 1},
      {"shr.s16 %h9, %h0, 4;", {0x8000}, 0xF800},
      {"shf.l.wrap.b32 %r9, %r0, %r1, %r2;", {0x80000000, 1, 33}, 3},
      {"shf.r.clamp.b32 %r9, %r0, %r1, %r2;", {0x80000000, 1, 32}, 1},
      {"bfe.s32 %r9, %r0, 4, 4;", {0x80}, kOnes32 - 7},
      {"bfe.u64 %d9, %d0, 60, 8;", {kMin64}, 8},
      {"bfi.b32 %r9, %r0, %r1, 8, 4;", {0xAB, kOnes32}, 0xFFFFFBFF},
      {"bfind.u32 %r9, %r0;", {0x00F00000}, 23},
      {"bfind.shiftamt.u32 %r9, %r0;", {0x00F00000}, 8},
      {"bfind.s32 %r9, %r0;", {kOnes32}, kOnes32},
      {"bfind.s64 %r9, %d0;", {kOnes - 256}, 8},
      {"brev.b32 %r9, %r0;", {1}, kMin32},
      {"brev.b64 %d9, %d0;", {2}, kMin64 >> 1},
      {"popc.b64 %r9, %d0;", {kOnes}, 64},
      {"clz.b32 %r9, %r0;", {0}, 32},
      {"clz.b64 %r9, %d0;", {1}, 63},
      {"prmt.b32 %r9, %r0, %r1, 0x0123;", {0x44332211, 0x88776655}, 0x11223344},
      {"prmt.b32 %r9, %r0, %r1, 0x7654;", {0x44332211, 0x88776655}, 0x88776655},
      {"prmt.b32 %r9, %r0, %r1, 0xFFF9;", {0x44338011, 0x88776655}, 0xFFFFFFFF},
      {"prmt.b32.f4e %r9, %r0, %r1, 1;", {0x44332211, 0x88776655}, 0x55443322},
      {"prmt.b32.b4e %r9, %r0, %r1, 1;", {0x44332211, 0x88776655}, 0x77881122},
      {"prmt.b32.rc16 %r9, %r0, %r1, 1;", {0x44332211, 0}, 0x44334433},
      {"lop3.b32 %r9, %r0, %r1, %r2, 0x96;", {0xF0, 0xCC, 0xAA}, 0x96},
      {"lop3.b32 %r9, %r0, %r1, %r2, 0xE8;", {0xF0, 0xCC, 0xAA}, 0xE8},
      {"bmsk.clamp.b32 %r9, %r0, %r1;", {4, 8}, 0xFF0},
      {"szext.clamp.s32 %r9, %r0, %r1;", {0x8, 4}, kOnes32 - 7},
      {"fns.b32 %r9, %r0, 0, 3;", {0xB1}, 5},
  });
}

TEST_F(InstructionTest, comparisonsAndSelections) {
  constexpr uint64_t nan = 0x7FC00000, one = 0x3F800000;
  check({
      {"setp.lt.s32 %p9, %r0, %r1;", {kOnes32, 0}, 1},
      {"setp.lt.u32 %p9, %r0, %r1;", {kOnes32, 0}, 0},
      {"setp.hi.u32 %p9, %r0, %r1;", {kOnes32, 0}, 1},
      {"setp.eq.b64 %p9, %d0, %d1;", {5, 5}, 1},
      {"setp.ne.s16 %p9, %h0, 0;", {0x10000}, 0},
      {"setp.ge.f32 %p9, %r0, %r1;", {nan, one}, 0},
      {"setp.geu.f32 %p9, %r0, %r1;", {nan, one}, 1},
      {"setp.ne.f32 %p9, %r0, %r1;", {nan, one}, 0},
      {"setp.neu.f32 %p9, %r0, %r1;", {nan, one}, 1},
      {"setp.equ.f32 %p9, %r0, %r1;", {nan, one}, 1},
      {"setp.nan.f32 %p9, %r0, %r1;", {nan, one}, 1},
      {"setp.num.f32 %p9, %r0, %r1;", {nan, one}, 0},
      {"setp.eq.ftz.f32 %p9, %r0, %r1;", {1, 0}, 1},
      {"setp.lt.f64 %p9, %d0, %d1;", {kMin64, 0}, 0},
      {"setp.gt.f16 %p9, %h0, %h1;", {0x3C00, 0x3800}, 1},
      {"setp.gt.bf16 %p9, %h0, %h1;", {0x3F80, 0xBF80}, 1},
      {"setp.eq.s32 %p1, %r0, %r0; setp.lt.and.s32 %p9, %r0, %r1, %p1;",
       {1, 2},
       1},
      {"setp.eq.s32 %p1, %r0, %r0; setp.lt.or.s32 %p9, %r0, %r1, !%p1;",
       {3, 2},
       0},
      {"setp.lt.s32 %p8|%p9, %r0, %r1;", {1, 2}, 0},
      {"setp.lt.f16x2 %p8|%p9, %r0, %r1;", {0x38003C00, 0x3C003C00}, 1},
      {"set.lt.u32.s32 %r9, %r0, %r1;", {1, 2}, kOnes32},
      {"set.lt.f32.f32 %r9, %r0, %r1;", {0, one}, one},
      {"set.gt.f16x2.f16x2 %r9, %r0, %r1;",
       {0x3C003800, 0x38003800},
       0x3C000000},
      {"setp.ne.s32 %p1, %r0, 0; selp.b32 %r9, %r1, %r2, %p1;", {1, 5, 6}, 5},
      {"setp.ne.s32 %p1, %r0, 0; selp.f64 %d9, %d1, 0d3FF0000000000000, %p1;",
       {0, 5},
       0x3FF0000000000000},
      {"slct.b32.s32 %r9, %r0, %r1, %r2;", {5, 6, kOnes32}, 6},
      {"slct.u64.f32 %d9, %d0, %d1, %r2;", {5, 6, one}, 5},
      {"mov.pred %p9, -1;", {}, 1},
      {"setp.ne.s32 %p1, %r0, 0; not.pred %p9, %p1;", {1}, 0},
      {"setp.ne.s32 %p1, %r0, 0; setp.ne.s32 %p2, %r1, 0; "
       "xor.pred %p3, %p1, %p2; and.pred %p9, %p3, %p1;",
       {1, 0},
       1},
  });
}

TEST_F(InstructionTest, moves) {
  check({
      {"mov.b32 %r9, 0f3F800000;", {}, 0x3F800000},
      {"mov.b64 %d9, 0dBFF0000000000000;", {}, 0xBFF0000000000000},
      {"mov.b64 %d9, {%r0, %r1};", {1, 2}, 0x200000001},
      {"mov.b64 {%r8, %r9}, %d0;", {0x200000001}, 2},
      {"mov.b32 {%h9, _}, %r0;", {0x20001}, 1},
      {"mov.b32 %r9, {%h0, %h1};", {0xFFFF, 0x1234}, 0x1234FFFF},
      {"mov.b64 %d9, {%h0, %h1, %h2, %h3};", {1, 2, 3, 4}, 0x4000300020001},
      {"mov.b128 %q0, {%d0, %d1}; mov.b128 {%d8, %d9}, %q0;", {5, 6}, 6},
      {"mov.b128 %q0, {%d0, %d1}; mov.b128 %q1, %q0; mov.b128 {%d9, _}, %q1;",
       {5, 6},
       5},
      {"mov.u32 %r9, %ntid.x;", {}, 1},
      {"mov.u32 %r9, WARP_SZ;", {}, 32},
      {"mov.u32 %r9, %lanemask_le;", {}, 1},
      {"{ .reg .b32 %r0; mov.b32 %r0, 7; add.s32 %r9, %r0, 1; }", {1}, 8},
  });
}

TEST_F(InstructionTest, branches) {
  check({
      {"mov.b32 %r9, 0; mov.b32 %r8, %r0; L: add.s32 %r9, %r9, %r8; "
       "sub.s32 %r8, %r8, 1; setp.ne.s32 %p1, %r8, 0; @%p1 bra L;",
       {10},
       55},
      {"mov.b32 %r9, 1; setp.eq.s32 %p1, %r0, 0; @!%p1 bra.uni E; "
       "mov.b32 %r9, 2; E:",
       {3},
       1},
      {"T: .branchtargets A, B, C; brx.idx %r0, T; "
       "A: mov.b32 %r9, 10; bra E; B: mov.b32 %r9, 11; bra E; "
       "C: mov.b32 %r9, 12; E:",
       {1},
       11},
      {"setp.eq.s32 %p1, %r0, 0; mov.b32 %r9, 1; @%p1 mov.b32 %r9, 2;", {0}, 2},
      {"mov.b32 %r9, 1; { bra L; mov.b32 %r9, 2; L: } { bra L; "
       "mov.b32 %r9, 3; L: }",
       {},
       1},
  });
}

TEST_F(InstructionTest, everyThreadHasItsOwnRegisters) {
  ASSERT_EQ(load(entry("ld.param.b64 %d1, [p0]; mov.u32 %r1, %tid.x;\n"
                       "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;\n"
                       "mad.lo.s32 %r4, %r2, %r3, %r1;\n"
                       "mul.wide.u32 %d2, %r4, 4; add.s64 %d3, %d1, %d2;\n"
                       "st.global.b32 [%d3], %r4;")),
            CUDA_SUCCESS)
      << error;
  CUdeviceptr out = upload(std::vector<uint32_t>(300));
  ASSERT_EQ(run("k", 3, 100, {out}), CUDA_SUCCESS);
  std::vector<uint32_t> got = download<uint32_t>(out, 300);
  for (uint32_t i = 0; i != 300; ++i)
    EXPECT_EQ(got[i], i);
}

TEST_F(InstructionTest, anUnknownInstructionIsAnErrorWhenLoading) {
  EXPECT_EQ(load(entry("frobnicate.b32 %r1, %r2;")), CUDA_ERROR_INVALID_PTX);
  EXPECT_THAT(error,
              testing::HasSubstr("frobnicate.b32': unknown instruction"));
  EXPECT_EQ(load(entry("add.sparkling.s32 %r1, %r2, %r3;")),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_THAT(error, testing::HasSubstr("unknown modifier '.sparkling'"));
  EXPECT_EQ(load(entry("add.s32 %r1, %r2;")), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(load(entry("add.s32 %r1, %r2, %unknown;")), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(load(entry("add.s64 %r1, %r2, %r3;")), CUDA_ERROR_INVALID_PTX);
  EXPECT_THAT(error, testing::HasSubstr("too narrow"));
  EXPECT_EQ(load(entry("bra nowhere;")), CUDA_ERROR_INVALID_PTX);
  EXPECT_THAT(error, testing::HasSubstr("label 'nowhere' is not there"));
  EXPECT_EQ(load("nonsense"), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(load(".version 8.7\n.target sm_90\n.address_size 64\n.entry k() {"),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_THAT(error, testing::HasSubstr("ends too early"));
}

} // namespace
