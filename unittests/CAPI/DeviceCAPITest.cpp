//===- DeviceCAPITest.cpp - GPUs, by the C API ----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without a driver, which is not kept when it cannot be opened. What needs one
// is in test/python/test_cuda.py.
//
//===----------------------------------------------------------------------===//

#include "loopc-c/loopc.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <string_view>

using testing::HasSubstr;

namespace {

constexpr std::string_view kAdd = R"(<ir_version: 10, opset_import: ["" : 21]>
add (float[n] x) => (float[n] y) { y = Add(x, x) })";

class CAPIDevice : public testing::Test {
protected:
  void SetUp() override {
    setenv("LOOPC_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
    value.kind = LOOPC_TENSOR;
    value.as.tensor = {data,  {kDLCPU, 0}, 1, {kDLFloat, 32, 1},
                       shape, nullptr,     0};
  }

  loopc_session *makeSession(const char *chip) {
    loopc_compile_options *options = loopc_compile_options_create();
    EXPECT_EQ(loopc_compile_options_set_chip(options, chip), LOOPC_COMPILE_OK);
    loopc_session *session = nullptr;
    loopc_diagnostics *said = nullptr;
    loopc_session_create_from_bytes(kAdd.data(), kAdd.size(), options, &session,
                                    &said);
    if (!session)
      message = loopc_diagnostics_get(said, 0).message;
    loopc_diagnostics_destroy(said);
    loopc_compile_options_destroy(options);
    return session;
  }

  float data[3] = {1, 2, 3};
  int64_t shape[1] = {3};
  loopc_value value = {};
  loopc_error error = {};
  std::string message;
};

TEST_F(CAPIDevice, NoDriver) {
  EXPECT_EQ(loopc_device_count(&error), 0);
  EXPECT_EQ(error.status, LOOPC_ERROR_DEVICE);
  EXPECT_THAT(error.message,
              HasSubstr("no CUDA driver: /nowhere/libcuda.so.1 cannot be "
                        "opened ("));
  EXPECT_EQ(loopc_device_count(nullptr), 0);
  char text[16];
  EXPECT_EQ(loopc_device_chip(0, text, sizeof(text), &error),
            LOOPC_ERROR_DEVICE);
  EXPECT_STREQ(text, "");
  EXPECT_EQ(loopc_device_name(0, text, sizeof(text), nullptr),
            LOOPC_ERROR_DEVICE);
  EXPECT_EQ(loopc_device_name(0, nullptr, 0, &error), LOOPC_ERROR_INPUT);
  loopc_value result = {};
  EXPECT_EQ(loopc_value_upload(0, &value, &result, &error), LOOPC_ERROR_DEVICE);
  EXPECT_EQ(result.kind, 0);
  EXPECT_EQ(loopc_value_upload(0, nullptr, &result, &error), LOOPC_ERROR_INPUT);
  EXPECT_EQ(loopc_value_download(&value, data, sizeof(data), &error),
            LOOPC_ERROR_INPUT);
}

TEST_F(CAPIDevice, Sessions) {
  loopc_session *cpu = makeSession("");
  ASSERT_TRUE(cpu) << message;
  EXPECT_FALSE(loopc_session_uses_device(cpu));
  EXPECT_FALSE(loopc_session_uses_device(nullptr));
  loopc_session_destroy(cpu);

  // To compile takes no driver; to run does.
  loopc_session *gpu = makeSession("sm_80");
  ASSERT_TRUE(gpu) << message;
  EXPECT_TRUE(loopc_session_uses_device(gpu));
  loopc_value output = {};
  EXPECT_EQ(loopc_session_run(gpu, nullptr, &value, 1, &output, 1, &error),
            LOOPC_ERROR_DEVICE);
  EXPECT_THAT(error.message, HasSubstr("no CUDA driver"));
  EXPECT_STREQ(loopc_status_name(error.status), "device error");
  loopc_session_destroy(gpu);

  EXPECT_FALSE(makeSession("sm_1"));
  EXPECT_THAT(message, HasSubstr("sm_1"));
  EXPECT_EQ(loopc_compile_options_set_chip(nullptr, "sm_80"),
            LOOPC_COMPILE_ERROR_ARGUMENT);
  loopc_compile_options *options = loopc_compile_options_create();
  for (const char *form : {"auto", "kernel", "graph", "host", ""})
    EXPECT_EQ(loopc_compile_options_set_device_loops(options, form),
              LOOPC_COMPILE_OK);
  for (const char *which : {"auto", "on", "off", ""})
    EXPECT_EQ(loopc_compile_options_set_cublas(options, which),
              LOOPC_COMPILE_OK);
  for (const char *type : {"bf16", "f16", "int8", "model", ""})
    EXPECT_EQ(loopc_compile_options_set_weights(options, type),
              LOOPC_COMPILE_OK);
  EXPECT_EQ(loopc_compile_options_set_weights(options, "int7"),
            LOOPC_COMPILE_ERROR_ARGUMENT);
  EXPECT_EQ(loopc_compile_options_set_cublas(options, "often"),
            LOOPC_COMPILE_ERROR_ARGUMENT);
  EXPECT_EQ(loopc_compile_options_set_device_loops(options, "often"),
            LOOPC_COMPILE_ERROR_ARGUMENT);
  loopc_compile_options_destroy(options);
}

} // namespace
