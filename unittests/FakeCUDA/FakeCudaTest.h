//===- FakeCudaTest.h - What the tests of the fake driver share  -*- C++
//-*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_UNITTESTS_FAKECUDATEST_H
#define LOOPC_UNITTESTS_FAKECUDATEST_H

#include "Api.h"
#include "fake-cuda.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <bit>
#include <cstring>
#include <string>
#include <vector>

/// A device as programs find it: nothing allocated, its context current.
class FakeCudaTest : public testing::Test {
protected:
  void SetUp() override {
    fake_cuda_reset();
    fake_cuda_set("LOOPC_FAKE_CUDA_QUIET", "1");
    open();
  }
  void TearDown() override { fake_cuda_reset(); }

  void open() {
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  }

  /// Loads a module; the text of the error where it is refused.
  CUresult load(const std::string &ptx) {
    char log[1000] = "";
    int options[] = {5, 6}; // the buffer of errors and its size
    void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
    CUresult result =
        cuModuleLoadDataEx(&module, ptx.c_str(), 2, options, values);
    error = log;
    return result;
  }

  CUfunction function(const char *name) {
    CUfunction result = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&result, module, name), CUDA_SUCCESS) << name;
    return result;
  }

  /// Device memory with these elements.
  template <typename T> CUdeviceptr upload(const std::vector<T> &values) {
    CUdeviceptr result = 0;
    size_t bytes = values.size() * sizeof(T);
    EXPECT_EQ(cuMemAlloc_v2(&result, bytes), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyHtoD_v2(result, values.data(), bytes), CUDA_SUCCESS);
    return result;
  }

  template <typename T>
  std::vector<T> download(CUdeviceptr pointer, size_t count) {
    std::vector<T> result(count);
    EXPECT_EQ(cuMemcpyDtoH_v2(result.data(), pointer, count * sizeof(T)),
              CUDA_SUCCESS);
    return result;
  }

  /// Launches with arguments of 64 bits and waits.
  CUresult run(const char *name, unsigned blocks, unsigned threads,
               std::vector<uint64_t> arguments, unsigned sharedBytes = 0) {
    std::vector<void *> params;
    for (uint64_t &argument : arguments)
      params.push_back(&argument);
    if (CUresult result =
            cuLaunchKernel(function(name), blocks, 1, 1, threads, 1, 1,
                           sharedBytes, nullptr, params.data(), nullptr))
      return result;
    return cuCtxSynchronize();
  }

  CUcontext context = nullptr;
  CUmodule module = nullptr;
  std::string error;
};

/// A module with the entry `k`, whose parameters are pointers.
inline std::string entry(const std::string &body, unsigned params = 1,
                         const std::string &before = "",
                         const std::string &target = "sm_90") {
  std::string text = ".version 8.7\n.target " + target +
                     "\n.address_size 64\n" + before + "\n.visible .entry k(";
  for (unsigned i = 0; i != params; ++i)
    text += (i ? ", .param .u64 p" : ".param .u64 p") + std::to_string(i);
  return text +
         ")\n{\n.reg .pred %p<20>;\n.reg .b16 %h<40>;\n"
         ".reg .b32 %r<40>;\n.reg .b64 %d<40>;\n.reg .b128 %q<4>;\n" +
         body + "\nret;\n}\n";
}

#endif // LOOPC_UNITTESTS_FAKECUDATEST_H
