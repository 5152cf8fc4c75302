//===- NetworkCAPITest.cpp - The C API of networks ------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc-c/network.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstring>

using testing::HasSubstr;

namespace {

class NetworkCAPI : public testing::Test {
protected:
  void TearDown() override { loopc_network_destroy(network); }
  loopc_network *network = loopc_network_create("sums");
};

/// A loop over the rows of x, summed, from C.
TEST_F(NetworkCAPI, LoopFromC) {
  int64_t extents[] = {-1, 2}, vector[] = {2};
  int32_t x =
      loopc_network_add_input(network, "x", LOOPC_TYPE_FLOAT, extents, 2);
  int32_t count =
      loopc_network_add_input(network, "n", LOOPC_TYPE_INT32, nullptr, 0);
  EXPECT_EQ(loopc_network_set_dimension_name(network, x, 0, "rows"), 0);
  float zeros[2] = {};
  int32_t zero = loopc_network_layer_output(
      network,
      loopc_network_add_constant(network, LOOPC_TYPE_FLOAT, vector, 1, zeros,
                                 sizeof(zeros)),
      0);
  int32_t loop = loopc_network_add_loop(network);
  EXPECT_EQ(loopc_network_set_loop_name(network, loop, "rows"), 0);
  loopc_network_add_layer(network, "TripLimit", &count, 1, loop, -1);
  int32_t iterator =
      loopc_network_add_layer(network, "Iterator", &x, 1, loop, -1);
  int32_t total =
      loopc_network_add_layer(network, "Recurrence", &zero, 1, loop, -1);
  int32_t both[] = {loopc_network_layer_output(network, total, 0),
                    loopc_network_layer_output(network, iterator, 0)};
  int32_t sum =
      loopc_network_add_layer(network, "ElementWise", both, 2, -1, -1);
  EXPECT_EQ(loopc_network_set_input(
                network, total, 1, loopc_network_layer_output(network, sum, 0)),
            0);
  int32_t last =
      loopc_network_add_layer(network, "LoopOutput", both, 1, loop, -1);
  int32_t y = loopc_network_layer_output(network, last, 0);
  EXPECT_EQ(loopc_network_mark_output(network, y, 1), 0);
  EXPECT_EQ(loopc_network_set_tensor_name(network, y, "y"), 0);
  int32_t type = -1, rank = -1;
  int64_t shape[32];
  ASSERT_EQ(loopc_network_tensor_type(network, y, &type, shape, &rank), 0);
  EXPECT_EQ(rank, 1);
  EXPECT_EQ(shape[0], 2);
  EXPECT_THAT(loopc_network_text(network), HasSubstr("x: FLOAT [rows, 2]"));

  loopc_session *session = nullptr;
  ASSERT_EQ(
      loopc_session_create_from_network(network, nullptr, &session, nullptr),
      LOOPC_COMPILE_OK);
  EXPECT_STREQ(loopc_session_model(session)->name, "sums");
  float rows[] = {1, 2, 3, 4};
  int32_t trips = 2;
  int64_t rowsShape[] = {2, 2};
  loopc_value inputs[2] = {}, output = {};
  inputs[0].kind = inputs[1].kind = LOOPC_TENSOR;
  inputs[0].as.tensor = {rows,      {kDLCPU, 0}, 2, {kDLFloat, 32, 1},
                         rowsShape, nullptr,     0};
  inputs[1].as.tensor = {&trips,  {kDLCPU, 0}, 0, {kDLInt, 32, 1},
                         nullptr, nullptr,     0};
  loopc_error error = {};
  ASSERT_EQ(loopc_session_run(session, nullptr, inputs, 2, &output, 1, &error),
            LOOPC_OK)
      << error.message;
  EXPECT_EQ(static_cast<float *>(output.as.tensor.data)[1], 6);
  loopc_value_release(&output);
  loopc_session_destroy(session);
}

/// What a call refuses is said, and changes nothing.
TEST_F(NetworkCAPI, Refused) {
  EXPECT_STREQ(loopc_network_error(network), "");
  EXPECT_EQ(loopc_network_add_layer(network, "Nonsense", nullptr, 0, -1, -1),
            -1);
  EXPECT_THAT(loopc_network_error(network), HasSubstr("'Nonsense'"));
  int32_t missing = 7;
  EXPECT_EQ(loopc_network_add_layer(network, "Unary", &missing, 1, -1, -1), -1);
  EXPECT_THAT(loopc_network_error(network), HasSubstr("tensor 7"));
  EXPECT_EQ(loopc_network_add_layer(network, "Iterator", nullptr, 0, 0, -1),
            -1);
  EXPECT_THAT(loopc_network_error(network), HasSubstr("loop 0"));
  int64_t extents[] = {2};
  EXPECT_EQ(loopc_network_add_constant(network, LOOPC_TYPE_FLOAT, extents, 1,
                                       extents, 3),
            -1);
  EXPECT_THAT(loopc_network_error(network), HasSubstr("3 bytes"));
  EXPECT_EQ(loopc_network_add_input(network, "x", 99, extents, 1), -1);
  EXPECT_EQ(loopc_network_num_layers(network), 0);
  EXPECT_EQ(loopc_network_set_int(network, 0, "axis", 1),
            LOOPC_COMPILE_ERROR_ARGUMENT);
  EXPECT_EQ(loopc_network_add_loop(nullptr), -1);
  EXPECT_STREQ(loopc_network_layer_name(network, 3), "");
}

/// Arrays and results that are null, and sizes that overflow, are refused.
TEST_F(NetworkCAPI, NullArrays) {
  int32_t layer = loopc_network_add_layer(network, "Node", nullptr, 0, -1, 1);
  ASSERT_GE(layer, 0);
  constexpr int kWrong = LOOPC_COMPILE_ERROR_ARGUMENT;
  EXPECT_EQ(loopc_network_set_ints(network, layer, "a", nullptr, 1), kWrong);
  EXPECT_EQ(loopc_network_set_floats(network, layer, "a", nullptr, 1), kWrong);
  EXPECT_EQ(loopc_network_set_strings(network, layer, "a", nullptr, 1), kWrong);
  EXPECT_THAT(loopc_network_error(network), HasSubstr("must not be null"));
  EXPECT_EQ(loopc_network_set_ints(network, layer, "a", nullptr, 0),
            LOOPC_COMPILE_OK);
  EXPECT_EQ(loopc_network_add_layer(network, "Unary", nullptr, 1, -1, -1), -1);
  int64_t two[] = {2};
  EXPECT_EQ(loopc_network_add_string_constant(network, two, 1, nullptr, 2), -1);
  const char *holes[] = {"x", nullptr};
  EXPECT_EQ(loopc_network_add_string_constant(network, two, 1, holes, 2), -1);
  int32_t x = loopc_network_add_input(network, "x", LOOPC_TYPE_FLOAT, two, 1);
  ASSERT_GE(x, 0);
  int32_t type, rank;
  int64_t extents[8];
  EXPECT_EQ(loopc_network_tensor_type(network, x, nullptr, extents, &rank),
            kWrong);
  EXPECT_EQ(loopc_network_tensor_type(network, x, &type, nullptr, &rank),
            kWrong);
  EXPECT_EQ(loopc_network_tensor_type(network, x, &type, extents, nullptr),
            kWrong);
  int64_t three[] = {1, 2, 3};
  EXPECT_EQ(loopc_network_set_ints(network, layer, "a", three, 3),
            LOOPC_COMPILE_OK);
  EXPECT_EQ(loopc_network_get_ints(network, layer, "a", nullptr, 3), 3u);
  const uint8_t packed[] = {0x21, 0x03};
  int32_t constant = loopc_network_add_constant(network, LOOPC_TYPE_INT4,
                                                three + 2, 1, packed, 2);
  const void *data;
  size_t size;
  EXPECT_EQ(loopc_network_get_weights(network, constant, "value", &type, &data,
                                      &size),
            3u);
  EXPECT_EQ(type, LOOPC_TYPE_INT4);
  ASSERT_EQ(size, 2u);
  EXPECT_EQ(memcmp(data, packed, size), 0);
  EXPECT_EQ(
      loopc_network_get_weights(network, 99, "value", &type, &data, &size), 0u);
  EXPECT_EQ(data, nullptr);
  // 2^61 elements of 8 bits: 2^64 bits, which are no 0 bytes.
  int64_t huge[] = {int64_t(1) << 61};
  EXPECT_EQ(
      loopc_network_add_constant(network, LOOPC_TYPE_INT8, huge, 1, nullptr, 0),
      -1);
  EXPECT_THAT(loopc_network_error(network), HasSubstr("too large"));
}

/// A layer that was refused is not there: half a limit would be a second one.
TEST_F(NetworkCAPI, RefusedLayersAreGone) {
  int32_t x =
      loopc_network_add_input(network, "n", LOOPC_TYPE_INT64, nullptr, 0);
  int32_t loop = loopc_network_add_loop(network);
  int32_t two[] = {x, x};
  EXPECT_EQ(loopc_network_add_layer(network, "TripLimit", two, 2, loop, -1),
            -1);
  EXPECT_THAT(loopc_network_error(network), HasSubstr("no input 1"));
  EXPECT_EQ(loopc_network_num_layers(network), 0);
  int32_t limit =
      loopc_network_add_layer(network, "TripLimit", &x, 1, loop, -1);
  EXPECT_EQ(limit, 0);
  EXPECT_EQ(loopc_network_set_int(network, limit, "limit", 7),
            LOOPC_COMPILE_ERROR_ARGUMENT);
  EXPECT_EQ(loopc_network_remove_last_layer(network), LOOPC_COMPILE_OK);
  EXPECT_EQ(loopc_network_num_layers(network), 0);
  EXPECT_EQ(loopc_network_remove_last_layer(network),
            LOOPC_COMPILE_ERROR_ARGUMENT);
  EXPECT_EQ(loopc_network_remove_last_layer(nullptr),
            LOOPC_COMPILE_ERROR_ARGUMENT);
}

/// Weights of a convolution may come in any shape, that of a scalar included.
TEST_F(NetworkCAPI, WeightsInAnyShape) {
  int64_t image[] = {1, 1, 2, 2}, window[] = {1, 1};
  const float weight = 2;
  for (int32_t rank : {0, 1, 4}) {
    int64_t ones[] = {1, 1, 1, 1};
    int32_t x =
        loopc_network_add_input(network, "x", LOOPC_TYPE_FLOAT, image, 4);
    int32_t layer =
        loopc_network_add_layer(network, "Convolution", &x, 1, -1, -1);
    EXPECT_EQ(loopc_network_set_int(network, layer, "nb_output_maps", 1), 0);
    EXPECT_EQ(loopc_network_set_ints(network, layer, "kernel_size", window, 2),
              0);
    for (const char *name : {"kernel", "bias"})
      EXPECT_EQ(loopc_network_set_weights(network, layer, name,
                                          LOOPC_TYPE_FLOAT, ones, rank, &weight,
                                          sizeof(weight)),
                0);
    int32_t type = -1, got = -1;
    int64_t shape[32];
    EXPECT_EQ(loopc_network_tensor_type(
                  network, loopc_network_layer_output(network, layer, 0), &type,
                  shape, &got),
              0)
        << loopc_network_error(network);
    EXPECT_EQ(got, 4);
  }
}

/// A network that is not well formed has diagnostics.
TEST_F(NetworkCAPI, Diagnostics) {
  loopc_session *session = nullptr;
  loopc_diagnostics *diagnostics = nullptr;
  EXPECT_EQ(loopc_session_create_from_network(network, nullptr, &session,
                                              &diagnostics),
            LOOPC_COMPILE_ERROR_MODEL);
  EXPECT_EQ(session, nullptr);
  EXPECT_STREQ(loopc_diagnostics_get(diagnostics, 0).code, "LC0809");
  loopc_diagnostics_destroy(diagnostics);
  EXPECT_EQ(
      loopc_session_create_from_network(nullptr, nullptr, &session, nullptr),
      LOOPC_COMPILE_ERROR_ARGUMENT);
}

} // namespace
