//===- ApiTest.cpp - Contexts, modules, memory, streams, events -----------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCudaTest.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace {

class ApiTest : public FakeCudaTest {};

TEST_F(ApiTest, beforeInitialisation) {
  fake_cuda_reset();
  int count = 0, version = 0;
  EXPECT_EQ(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(cuDriverGetVersion(&version), CUDA_SUCCESS);
  EXPECT_EQ(version, 13000);
  EXPECT_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_EQ(count, 1);
}

TEST_F(ApiTest, errors) {
  const char *text = nullptr;
  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "out of memory");
  EXPECT_EQ(cuGetErrorName(12345, &text), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ApiTest, functionsByName) {
  void *address = nullptr;
  int status = -1;
  EXPECT_EQ(cuGetProcAddress_v2("cuMemAlloc", &address, 13000, 0, &status),
            CUDA_SUCCESS);
  EXPECT_EQ(address, reinterpret_cast<void *>(&cuMemAlloc_v2));
  EXPECT_EQ(cuGetProcAddress_v2("cuLaunchKernel", &address, 13000, 0, &status),
            CUDA_SUCCESS);
  EXPECT_EQ(address, reinterpret_cast<void *>(&cuLaunchKernel));
  EXPECT_EQ(cuGetProcAddress_v2("cuNothing", &address, 13000, 0, &status),
            CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(status, 1);
}

TEST_F(ApiTest, contexts) {
  EXPECT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxPushCurrent_v2(context), CUDA_SUCCESS);
  CUcontext current = nullptr;
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, context);
  EXPECT_EQ(cuCtxPopCurrent_v2(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, context);
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, nullptr);
  EXPECT_EQ(cuCtxSetCurrent(reinterpret_cast<CUcontext>(&current)),
            CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(ApiTest, handlesThatAreNone) {
  ASSERT_EQ(load(entry("")), CUDA_SUCCESS);
  CUfunction kernel = function("k"), other;
  auto *no = reinterpret_cast<CUstream>(0x1234);
  EXPECT_EQ(cuStreamSynchronize(no), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, no, nullptr, nullptr),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleGetFunction(&other, module, "missing"),
            CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(
      cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
      CUDA_ERROR_INVALID_HANDLE);
  CUevent event;
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy_v2(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(event, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(ApiTest, freeing) {
  CUdeviceptr pointer = upload(std::vector<int>(4));
  EXPECT_EQ(cuMemFree_v2(pointer + 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(pointer), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(pointer), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(0), CUDA_SUCCESS);
  void *host = nullptr;
  ASSERT_EQ(cuMemHostAlloc(&host, 100, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(reinterpret_cast<uint64_t>(host)),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeHost(host), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc_v2(&pointer, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ApiTest, kindsOfPointers) {
  CUdeviceptr device = 0, managed = 0, base = 0;
  void *host = nullptr;
  ASSERT_EQ(cuMemAlloc_v2(&device, 100), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocManaged(&managed, 100, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuMemHostAlloc(&host, 100, 0), CUDA_SUCCESS);
  unsigned type = 0, isManaged = 9;
  size_t size = 0;
  EXPECT_EQ(cuPointerGetAttribute(&type, 2, device + 99), CUDA_SUCCESS);
  EXPECT_EQ(type, 2u);
  EXPECT_EQ(cuPointerGetAttribute(&base, 11, device + 99), CUDA_SUCCESS);
  EXPECT_EQ(base, device);
  EXPECT_EQ(cuPointerGetAttribute(&size, 12, device), CUDA_SUCCESS);
  EXPECT_EQ(size, 100u);
  EXPECT_EQ(cuPointerGetAttribute(&type, 2, device + 100),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuPointerGetAttribute(&isManaged, 8, managed), CUDA_SUCCESS);
  EXPECT_EQ(isManaged, 1u);
  EXPECT_EQ(cuPointerGetAttribute(&type, 2, reinterpret_cast<uint64_t>(host)),
            CUDA_SUCCESS);
  EXPECT_EQ(type, 1u);
  EXPECT_EQ(device % 256, 0u);
  EXPECT_EQ(managed % 256, 0u);
}

TEST_F(ApiTest, copiesAndFills) {
  CUdeviceptr a = upload(std::vector<uint32_t>{1, 2, 3, 4}), b = 0;
  ASSERT_EQ(cuMemAlloc_v2(&b, 16), CUDA_SUCCESS);
  EXPECT_EQ(download<uint32_t>(b, 1)[0], 0xA5A5A5A5u);
  ASSERT_EQ(cuMemcpyDtoDAsync_v2(b, a + 4, 12, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8Async(b + 12, 0x11, 4, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(download<uint32_t>(b, 4),
            (std::vector<uint32_t>{2, 3, 4, 0x11111111}));
  // The source may change once the call has returned, the target comes later.
  CUstream stream;
  ASSERT_EQ(cuStreamCreate(&stream, 1), CUDA_SUCCESS);
  uint32_t source = 7, target = 0;
  ASSERT_EQ(cuMemcpyHtoDAsync_v2(b, &source, 4, stream), CUDA_SUCCESS);
  source = 8;
  ASSERT_EQ(cuMemcpyDtoHAsync_v2(&target, b, 4, stream), CUDA_SUCCESS);
  EXPECT_EQ(target, 0u);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(target, 7u);
  // Pinned memory is read when the copy runs.
  void *pinned = nullptr;
  ASSERT_EQ(cuMemHostAlloc(&pinned, 4, 0), CUDA_SUCCESS);
  *static_cast<uint32_t *>(pinned) = 1;
  ASSERT_EQ(cuMemcpyHtoDAsync_v2(b, pinned, 4, stream), CUDA_SUCCESS);
  *static_cast<uint32_t *>(pinned) = 2;
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(download<uint32_t>(b, 1)[0], 2u);
}

TEST_F(ApiTest, streamsAndEvents) {
  CUdeviceptr a = upload(std::vector<uint32_t>{1}),
              b = upload(std::vector<uint32_t>{2});
  CUstream first, second;
  CUevent event;
  ASSERT_EQ(cuStreamCreate(&first, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&second, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS) << "never recorded";
  // Without the event, the second stream does not wait for the first.
  uint32_t before = 0, after = 0;
  ASSERT_EQ(cuMemcpyDtoDAsync_v2(a, b, 4, first), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(event, first), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoHAsync_v2(&before, a, 4, second), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(second), CUDA_SUCCESS);
  EXPECT_EQ(before, 1u);
  ASSERT_EQ(cuStreamWaitEvent(second, event, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoHAsync_v2(&after, a, 4, second), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(second), CUDA_SUCCESS);
  EXPECT_EQ(after, 2u);
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
  // Asking comes to an end.
  ASSERT_EQ(cuMemcpyDtoDAsync_v2(a, b, 4, first), CUDA_SUCCESS);
  CUresult result = CUDA_ERROR_NOT_READY;
  for (int i = 0; i != 10 && result == CUDA_ERROR_NOT_READY; ++i)
    result = cuStreamQuery(first);
  EXPECT_EQ(result, CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy_v2(first), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy_v2(first), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(ApiTest, askingAndStopping) {
  // A kernel that ends when the host says so.
  ASSERT_EQ(load(entry("ld.param.b64 %d1, [p0]; ld.param.b64 %d2, [p1];\n"
                       "L: red.global.add.u32 [%d2], 1;\n"
                       "ld.acquire.sys.global.b32 %r1, [%d1];\n"
                       "setp.eq.s32 %p1, %r1, 0; @%p1 bra L;",
                       2)),
            CUDA_SUCCESS)
      << error;
  void *host = nullptr;
  ASSERT_EQ(cuMemHostAlloc(&host, 4, 0), CUDA_SUCCESS);
  *static_cast<uint32_t *>(host) = 0;
  CUdeviceptr count = upload(std::vector<uint32_t>(1));
  void *params[] = {&host, &count};
  CUstream stream;
  CUevent event;
  ASSERT_EQ(cuStreamCreate(&stream, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&event, 2), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchKernel(function("k"), 3, 1, 1, 32, 1, 1, 0, stream, params,
                           nullptr),
            CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
  for (int i = 0; i != 3; ++i)
    EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
  *static_cast<uint32_t *>(host) = 1;
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_SUCCESS);
  EXPECT_GT(download<uint32_t>(count, 1)[0], 1000000u);
}

TEST_F(ApiTest, theDefaultStreamWaitsForOthers) {
  CUdeviceptr a = upload(std::vector<uint32_t>{1});
  CUstream blocking, free;
  ASSERT_EQ(cuStreamCreate(&blocking, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&free, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8Async(a, 2, 1, blocking), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8Async(a + 1, 3, 1, free), CUDA_SUCCESS);
  EXPECT_EQ(download<uint32_t>(a, 1)[0], 2u);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(download<uint32_t>(a, 1)[0], 0x302u);
}

TEST_F(ApiTest, variablesOfModules) {
  ASSERT_EQ(
      load(".version 8.7\n.target sm_90\n.address_size 64\n"
           ".global .align 4 .u32 a[3] = {1, 2};\n"
           ".visible .const .align 8 .f64 c = 0d3FF8000000000000;\n"
           ".global .align 8 .u64 p[2] = {generic(a)+4, a};\n"
           ".global .align 8 .u8 q[9] = {0xFF(a), 0xFF00(a), 7};\n"
           ".visible .entry k(.param .u64 out) {\n"
           ".reg .b64 %d<5>; .reg .b32 %r<5>;\n"
           "ld.param.u64 %d1, [out]; ld.global.u64 %d2, [p];\n"
           "ld.u32 %r1, [%d2]; ld.const.f64 %d3, [c];\n"
           "mov.u64 %d4, a; ld.global.u32 %r2, [%d4+4];\n"
           "st.global.u32 [%d1], %r1; st.global.f64 [%d1+8], %d3; ret; }"),
      CUDA_SUCCESS)
      << error;
  CUdeviceptr a = 0, q = 0, out = upload(std::vector<uint64_t>(2));
  size_t bytes = 0;
  ASSERT_EQ(cuModuleGetGlobal_v2(&a, &bytes, module, "a"), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 12u);
  EXPECT_EQ(download<uint32_t>(a, 3), (std::vector<uint32_t>{1, 2, 0}));
  ASSERT_EQ(cuModuleGetGlobal_v2(&q, &bytes, module, "q"), CUDA_SUCCESS);
  auto low = download<uint8_t>(q, 3);
  EXPECT_EQ(low[0] | low[1] << 8, int(a & 0xFFFF));
  EXPECT_EQ(low[2], 7);
  ASSERT_EQ(run("k", 1, 1, {out}), CUDA_SUCCESS) << fake_cuda_last_fault();
  auto got = download<uint64_t>(out, 2);
  EXPECT_EQ(uint32_t(got[0]), 2u);
  EXPECT_EQ(std::bit_cast<double>(got[1]), 1.5);
  EXPECT_EQ(cuModuleGetGlobal_v2(&a, &bytes, module, "b"),
            CUDA_ERROR_NOT_FOUND);
}

TEST_F(ApiTest, kernelsShareNoMoreThanTheyUse) {
  ASSERT_EQ(load(".version 8.7\n.target sm_90\n.address_size 64\n"
                 ".shared .b8 a[100]; .shared .b8 b[200]; .shared .b8 c[16];\n"
                 ".entry ka() { .reg .b32 %r; ld.shared.u8 %r, [a];\n"
                 "ld.shared.u8 %r, [c]; ret; }\n"
                 ".entry kb() { .reg .b32 %r; ld.shared.u8 %r, [b]; ret; }\n"
                 ".entry kn() { ret; }"),
            CUDA_SUCCESS)
      << error;
  int bytes[3] = {};
  const char *names[] = {"ka", "kb", "kn"};
  for (int i = 0; i != 3; ++i)
    ASSERT_EQ(cuFuncGetAttribute(&bytes[i], 1, function(names[i])),
              CUDA_SUCCESS);
  EXPECT_EQ(bytes[0], 116);
  EXPECT_EQ(bytes[1], 200);
  EXPECT_EQ(bytes[2], 0);
}

TEST_F(ApiTest, parametersOfLaunches) {
  ASSERT_EQ(
      load(".version 8.7\n.target sm_90\n.address_size 64\n"
           ".entry k(.param .u8 a, .param .u64 .ptr .global .align 4 out,\n"
           " .param .align 4 .b8 s[12], .param .f32 f) {\n"
           ".reg .b64 %d<3>; .reg .b32 %r<5>; .reg .b16 %h;\n"
           "ld.param.u8 %h, [a]; ld.param.u64 %d1, [out];\n"
           "ld.param.b32 %r1, [s+8]; ld.param.b32 %r2, [f];\n"
           "cvt.u32.u16 %r3, %h; add.s32 %r4, %r1, %r3;\n"
           "st.global.b32 [%d1], %r4; st.global.b32 [%d1+4], %r2; ret; }"),
      CUDA_SUCCESS)
      << error;
  uint8_t a = 5;
  CUdeviceptr out = upload(std::vector<uint32_t>(2));
  uint32_t s[3] = {1, 2, 3};
  float f = 1.5f;
  void *params[] = {&a, &out, s, &f};
  ASSERT_EQ(cuLaunchKernel(function("k"), 1, 1, 1, 1, 1, 1, 0, nullptr, params,
                           nullptr),
            CUDA_SUCCESS);
  auto got = download<uint32_t>(out, 2);
  EXPECT_EQ(got[0], 8u);
  EXPECT_EQ(std::bit_cast<float>(got[1]), 1.5f);
  // All in one buffer.
  struct {
    uint64_t a;
    CUdeviceptr out;
    uint32_t s[3];
    float f;
  } buffer = {6, out, {1, 2, 4}, 2};
  size_t size = sizeof buffer;
  void *extra[] = {reinterpret_cast<void *>(1), &buffer,
                   reinterpret_cast<void *>(2), &size, nullptr};
  ASSERT_EQ(cuLaunchKernel(function("k"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr,
                           extra),
            CUDA_SUCCESS);
  EXPECT_EQ(download<uint32_t>(out, 1)[0], 10u);
  EXPECT_EQ(cuLaunchKernel(function("k"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr,
                           nullptr),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ApiTest, statistics) {
  ASSERT_EQ(load(entry("")), CUDA_SUCCESS);
  CUdeviceptr a = upload(std::vector<uint32_t>(4)), b = 0;
  ASSERT_EQ(cuMemAllocAsync(&b, 100, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoDAsync_v2(b, a, 16, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(run("k", 1, 1, {a}), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFree_v2(a), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFreeAsync(b, nullptr), CUDA_SUCCESS);
  fake_cuda_statistics_t s;
  fake_cuda_statistics(&s);
  EXPECT_EQ(s.launches, 1u);
  EXPECT_EQ(s.cooperative_launches, 0u);
  EXPECT_EQ(s.synchronizations, 1u);
  EXPECT_EQ(s.instructions, 1u);
  EXPECT_EQ(s.copies[FAKE_CUDA_HOST][FAKE_CUDA_DEVICE], 1u);
  EXPECT_EQ(s.copied_bytes[FAKE_CUDA_DEVICE][FAKE_CUDA_DEVICE], 16u);
  EXPECT_EQ(s.allocations[FAKE_CUDA_DEVICE], 2u);
  EXPECT_EQ(s.peak_bytes, 116u);
  EXPECT_EQ(s.live_allocations, 1u) << "not freed before somebody waits";
  EXPECT_EQ(s.pending, 1u);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  fake_cuda_statistics(&s);
  EXPECT_EQ(s.live_allocations, 0u);
  EXPECT_EQ(s.live_bytes, 0u);
  EXPECT_EQ(s.live_modules, 1u);
}

TEST_F(ApiTest, printing) {
  ASSERT_EQ(
      load(".version 8.7\n.target sm_90\n.address_size 64\n"
           ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 "
           "b);\n"
           ".global .align 1 .b8 f[18] = {37, 100, 32, 37, 46, 50, 102, 32, "
           "37, 115,"
           " 32, 37, 108, 100, 37, 37, 10, 0};\n" // "%d %.2f %s %ld%%\n"
           ".global .align 1 .b8 s[3] = {79, 75, 0};\n"
           ".entry k(.param .u64 out) {\n"
           ".local .align 8 .b8 l[32]; .reg .b64 %d<9>; .reg .b32 %r<3>;\n"
           "mov.b64 %d1, l; cvta.local.u64 %d2, %d1; mov.b32 %r1, -7;\n"
           "st.local.b32 [%d1], %r1; mov.b64 %d3, 0d400C000000000000;\n"
           "st.local.b64 [%d1+8], %d3; mov.b64 %d4, s; cvta.global.u64 %d4, "
           "%d4;\n"
           "st.local.b64 [%d1+16], %d4; mov.b64 %d5, 12345678901;\n"
           "st.local.b64 [%d1+24], %d5; mov.b64 %d6, f; cvta.global.u64 %d6, "
           "%d6;\n"
           "{ .param .b64 p0; .param .b64 p1; .param .b32 q;\n"
           "st.param.b64 [p0], %d6; st.param.b64 [p1], %d2;\n"
           "call.uni (q), vprintf, (p0, p1); ld.param.b32 %r2, [q]; } ret; }"),
      CUDA_SUCCESS)
      << error;
  testing::internal::CaptureStdout();
  EXPECT_EQ(run("k", 1, 2, {0}), CUDA_SUCCESS) << fake_cuda_last_fault();
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "-7 3.50 OK 12345678901%\n-7 3.50 OK 12345678901%\n");
}

TEST_F(ApiTest, summary) {
  upload(std::vector<int>(5));
  EXPECT_EXIT(
      {
        fake_cuda_set("LOOPC_FAKE_CUDA_SUMMARY", "1");
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      "copies from host to device: 1, 20 bytes\n"
      "allocations of device memory: 1, freed: 0\n"
      "peak bytes: 20\nleaked allocations: 1\nleaked bytes: 20\n");
}

TEST_F(ApiTest, log) {
  std::string path = testing::TempDir() + "/fake-cuda-log";
  std::remove(path.c_str());
  fake_cuda_set("LOOPC_FAKE_CUDA_LOG", path.c_str());
  ASSERT_EQ(load(entry("")), CUDA_SUCCESS);
  CUstream stream;
  ASSERT_EQ(cuStreamCreate(&stream, 1), CUDA_SUCCESS);
  uint64_t argument = 0;
  void *params[] = {&argument};
  ASSERT_EQ(cuLaunchKernel(function("k"), 2, 3, 1, 64, 1, 1, 16, stream, params,
                           nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(1), CUDA_ERROR_INVALID_VALUE);
  fake_cuda_set("LOOPC_FAKE_CUDA_LOG", nullptr);
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), "cuModuleLoadDataEx\n"
                        "cuStreamCreate flags=1 stream=1\n"
                        "cuModuleGetFunction name=k\n"
                        "cuLaunchKernel kernel=k grid=2x3x1 block=64x1x1 "
                        "shared=16 stream=1\n"
                        "cuMemFree pointer=0x1 -> 1\n");
  std::remove(path.c_str());
}

} // namespace
