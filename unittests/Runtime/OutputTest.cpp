//===- OutputTest.cpp - Outputs: every way and message --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include <gmock/gmock.h>

using namespace loopc::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// Address of the buffer that an entry below returned.
thread_local void *returned;

/// y[2, 3] = 0 .. 5 in a buffer of the run.
int32_t makeMatrix(void *run, void **, void **outputs) {
  auto y = allocate<2>(run, sizeof(float), {2, 3});
  if (!y.aligned)
    return 1;
  returned = y.aligned;
  for (int i = 0; i < 6; ++i)
    y.data<float>()[i] = static_cast<float>(i);
  getMemRef<2>(outputs[0]) = y;
  return 0;
}

TestModel makeMatrixModel() {
  TestModel model(makeMatrix);
  model.output("y", kF32, {open(), open()});
  return model;
}

std::string getError(TestModel &model, loopc_value value, int status) {
  std::vector<loopc_value> outputs = {value};
  Outcome outcome = runModel(model, {}, outputs);
  EXPECT_EQ(outcome.status, status);
  EXPECT_EQ(memcmp(&outputs[0], &value, sizeof(value)), 0);
  return outcome.message;
}

TEST(Output, NumberIsChecked) {
  TestModel model = makeMatrixModel();
  std::vector<loopc_value> outputs(2);
  Outcome outcome = runModel(model, {}, outputs);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_INPUT);
  EXPECT_EQ(outcome.message, "model 'test' has 1 outputs, 2 were given");
}

TEST(Output, RunBufferIsHandedOver) {
  TestModel model = makeMatrixModel();
  std::vector<loopc_value> outputs(1);
  Outcome outcome = runModel(model, {}, outputs);
  ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_EQ(outputs[0].kind, LOOPC_TENSOR);
  EXPECT_EQ(outputs[0].as.tensor.data, returned);
  EXPECT_EQ(outputs[0].as.tensor.device.device_type, kDLCPU);
  EXPECT_EQ(outputs[0].as.tensor.dtype.bits, 32);
  EXPECT_EQ(outputs[0].as.tensor.strides, nullptr);
  EXPECT_THAT(getShape(outputs[0]), ElementsAre(2, 3));
  EXPECT_THAT(getData<float>(outputs[0], 6), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(outcome.statistics.copied_bytes, 0u);
  ASSERT_NE(outputs[0].release, nullptr);
  loopc_value_release(&outputs[0]);
  EXPECT_TRUE(isZero(outputs[0]));
  loopc_value_release(&outputs[0]);
}

TEST(Output, CallersAllocatorIsUsed) {
  TestModel model = makeMatrixModel();
  CountingAllocator allocator;
  loopc_run_options options = makeOptions();
  options.allocator = &allocator.table;
  std::vector<loopc_value> outputs(1);
  Outcome outcome = runModel(model, {}, outputs, &options);
  ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_NE(outputs[0].as.tensor.data, returned);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(outputs[0].as.tensor.data) % 64, 0u);
  EXPECT_THAT(getData<float>(outputs[0], 6), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(outcome.statistics.copied_bytes, 24u);
  EXPECT_GT(allocator.liveBytes, 24u);
  // The table itself may be gone by then.
  allocator.table.deallocate = nullptr;
  loopc_value_release(&outputs[0]);
  EXPECT_EQ(allocator.liveBytes, 0u);
  EXPECT_EQ(allocator.numAllocated, allocator.numFreed);
}

TEST(Output, CallersBufferIsFilled) {
  TestModel model = makeMatrixModel();
  TestTensor<float> y(kF32, {4, 2}, std::vector<float>(8, -1));
  std::vector<loopc_value> outputs = {y.get()};
  Outcome outcome = runModel(model, {}, outputs);
  ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_THAT(y.shape, ElementsAre(2, 3));
  EXPECT_THAT(y.data, ElementsAre(0, 1, 2, 3, 4, 5, -1, -1));
  EXPECT_EQ(outputs[0].release, nullptr);
  loopc_value_release(&outputs[0]);
  EXPECT_EQ(outputs[0].as.tensor.data, y.data.data());
}

TEST(Output, CallersStridesAndOffset) {
  TestModel model = makeMatrixModel();
  TestTensor<float> y(kF32, {4, 2}, std::vector<float>(9, -1), {2, 1});
  std::vector<loopc_value> outputs = {y.get()};
  outputs[0].as.tensor.byte_offset = sizeof(float);
  Outcome outcome = runModel(model, {}, outputs);
  ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_THAT(y.shape, ElementsAre(2, 3));
  EXPECT_THAT(y.strides, ElementsAre(3, 1));
  EXPECT_THAT(y.data, ElementsAre(-1, 0, 1, 2, 3, 4, 5, -1, -1));
}

TEST(Output, CapacityIsChecked) {
  TestModel model = makeMatrixModel();
  TestTensor<float> y(kF32, {1, 5}, std::vector<float>(5, -1));
  EXPECT_EQ(getError(model, y.get(), LOOPC_ERROR_OUTPUT),
            "output 'y' (#0): the result has shape [2, 3], the buffer of shape "
            "[1, 5] is too small");
  EXPECT_THAT(y.shape, ElementsAre(1, 5));
  EXPECT_THAT(y.data, ElementsAre(-1, -1, -1, -1, -1));
}

TEST(Output, BufferIsCheckedBeforeTheRun) {
  TestModel model = makeMatrixModel();
  returned = nullptr;
  TestTensor<float> y(kF32, {2, 3, 1}, std::vector<float>(6));
  EXPECT_EQ(getError(model, y.get(), LOOPC_ERROR_OUTPUT),
            "output 'y' (#0): rank 3, expected 2");
  y.shape = {2, 3};
  y.dtype = kF64;
  EXPECT_EQ(getError(model, y.get(), LOOPC_ERROR_OUTPUT),
            "output 'y' (#0): dtype float64, expected float32");
  y.dtype = kF32;
  y.strides = {1, 2};
  EXPECT_EQ(getError(model, y.get(), LOOPC_ERROR_OUTPUT),
            "output 'y' (#0): the buffer is not in C order");
  y.strides = {};
  loopc_value value = y.get();
  value.as.tensor.data = nullptr;
  EXPECT_EQ(getError(model, value, LOOPC_ERROR_OUTPUT),
            "output 'y' (#0): the data is null");
  value = y.get();
  value.as.tensor.shape = nullptr;
  EXPECT_EQ(getError(model, value, LOOPC_ERROR_OUTPUT),
            "output 'y' (#0): the shape is null");
  value = y.get();
  value.as.tensor.device.device_type = kDLCUDA;
  EXPECT_EQ(getError(model, value, LOOPC_ERROR_OUTPUT),
            "output 'y' (#0): the data is on CUDA device 0, but the model was "
            "compiled for the CPU");
  value = y.get();
  value.kind = LOOPC_SEQUENCE;
  EXPECT_EQ(getError(model, value, LOOPC_ERROR_OUTPUT),
            "output 'y' (#0): kind sequence, expected tensor");
  value.kind = 0;
  EXPECT_EQ(getError(model, value, LOOPC_ERROR_OUTPUT),
            "output 'y' (#0): an output without a kind must be all zero");
  y.shape = {-2, 3};
  EXPECT_EQ(getError(model, y.get(), LOOPC_ERROR_OUTPUT),
            "output 'y' (#0): dimension 0 is -2");
  y.shape = {INT64_MAX, 3};
  EXPECT_THAT(getError(model, y.get(), LOOPC_ERROR_OUTPUT),
              HasSubstr("too many elements"));
  EXPECT_EQ(returned, nullptr);
}

TEST(Output, ReturnedValueServesAsBuffer) {
  TestModel model = makeMatrixModel();
  std::vector<loopc_value> outputs(1);
  ASSERT_EQ(runModel(model, {}, outputs).status, LOOPC_OK);
  void *data = outputs[0].as.tensor.data;
  static_cast<float *>(data)[0] = 99;
  ASSERT_EQ(runModel(model, {}, outputs).status, LOOPC_OK);
  EXPECT_EQ(outputs[0].as.tensor.data, data);
  EXPECT_THAT(getData<float>(outputs[0], 6), ElementsAre(0, 1, 2, 3, 4, 5));
  loopc_value_release(&outputs[0]);
  EXPECT_TRUE(isZero(outputs[0]));
}

int32_t makeScalar(void *run, void **, void **outputs) {
  auto y = allocate<0>(run, sizeof(double), {});
  *y.data<double>() = 2.5;
  getMemRef<0>(outputs[0]) = y;
  return 0;
}

TEST(Output, ScalarHasRankZero) {
  TestModel model(makeScalar);
  model.output("y", kF64, {});
  std::vector<loopc_value> outputs(1);
  ASSERT_EQ(runModel(model, {}, outputs).status, LOOPC_OK);
  EXPECT_EQ(outputs[0].as.tensor.ndim, 0);
  EXPECT_THAT(getData<double>(outputs[0], 1), ElementsAre(2.5));
  loopc_value_release(&outputs[0]);
  TestTensor<double> y(kF64, {}, {0});
  outputs = {y.get()};
  outputs[0].as.tensor.shape = nullptr;
  ASSERT_EQ(runModel(model, {}, outputs).status, LOOPC_OK);
  EXPECT_THAT(y.data, ElementsAre(2.5));
}

/// Returns [0, 3].
int32_t makeEmpty(void *run, void **, void **outputs) {
  getMemRef<2>(outputs[0]) = allocate<2>(run, sizeof(float), {0, 3});
  return 0;
}

TEST(Output, NoElements) {
  TestModel model(makeEmpty);
  model.output("y", kF32, {open(), open()});
  std::vector<loopc_value> outputs(1);
  ASSERT_EQ(runModel(model, {}, outputs).status, LOOPC_OK);
  EXPECT_NE(outputs[0].as.tensor.data, nullptr);
  EXPECT_THAT(getShape(outputs[0]), ElementsAre(0, 3));
  loopc_value_release(&outputs[0]);
  CountingAllocator allocator;
  loopc_run_options options = makeOptions();
  options.allocator = &allocator.table;
  ASSERT_EQ(runModel(model, {}, outputs, &options).status, LOOPC_OK);
  EXPECT_NE(outputs[0].as.tensor.data, nullptr);
  loopc_value_release(&outputs[0]);
  EXPECT_EQ(allocator.liveBytes, 0u);
  // A buffer without room is enough.
  TestTensor<float> y(kF32, {0, 0}, {});
  loopc_value value = y.get();
  value.as.tensor.data = nullptr;
  outputs = {value};
  ASSERT_EQ(runModel(model, {}, outputs).status, LOOPC_OK);
  EXPECT_THAT(y.shape, ElementsAre(0, 3));
}

/// y is the second column of a 3x2 buffer of the run.
int32_t makeColumn(void *run, void **, void **outputs) {
  auto matrix = allocate<2>(run, sizeof(float), {3, 2});
  for (int i = 0; i < 6; ++i)
    matrix.data<float>()[i] = static_cast<float>(i);
  auto &y = getMemRef<1>(outputs[0]);
  y = {matrix.allocated, matrix.aligned, 1, {3}, {2}};
  returned = matrix.aligned;
  return 0;
}

TEST(Output, StridedResultIsCopied) {
  TestModel model(makeColumn);
  model.output("y", kF32, {open()});
  std::vector<loopc_value> outputs(1);
  ASSERT_EQ(runModel(model, {}, outputs).status, LOOPC_OK);
  EXPECT_NE(outputs[0].as.tensor.data, returned);
  EXPECT_THAT(getData<float>(outputs[0], 3), ElementsAre(1, 3, 5));
  loopc_value_release(&outputs[0]);
  TestTensor<float> y(kF32, {3}, {0, 0, 0});
  outputs = {y.get()};
  ASSERT_EQ(runModel(model, {}, outputs).status, LOOPC_OK);
  EXPECT_THAT(y.data, ElementsAre(1, 3, 5));
}

/// Two outputs: elements [2, 6) of a buffer of eight, and [0, 4) of a large
/// one.
int32_t makeViews(void *run, void **, void **outputs) {
  auto small = allocate<1>(run, sizeof(float), {8});
  for (int i = 0; i < 8; ++i)
    small.data<float>()[i] = static_cast<float>(i);
  getMemRef<1>(outputs[0]) = {small.allocated, small.aligned, 2, {4}, {1}};
  auto large = allocate<1>(run, sizeof(float), {100000});
  for (int i = 0; i < 4; ++i)
    large.data<float>()[i] = static_cast<float>(10 + i);
  getMemRef<1>(outputs[1]) = {large.allocated, large.aligned, 0, {4}, {1}};
  returned = large.aligned;
  return 0;
}

TEST(Output, ViewsOfBuffers) {
  TestModel model(makeViews);
  model.output("y", kF32, {open()}).output("z", kF32, {open()});
  std::vector<loopc_value> outputs(2);
  ASSERT_EQ(runModel(model, {}, outputs).status, LOOPC_OK);
  EXPECT_THAT(getData<float>(outputs[0], 4), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(getData<float>(outputs[1], 4), ElementsAre(10, 11, 12, 13));
  // Four elements do not keep 400 kB alive.
  EXPECT_NE(outputs[1].as.tensor.data, returned);
  for (loopc_value &value : outputs)
    loopc_value_release(&value);
}

/// Three outputs that are the same buffer.
int32_t makeThrice(void *run, void **inputs, void **outputs) {
  int32_t status = makeMatrix(run, inputs, outputs);
  getMemRef<2>(outputs[1]) = getMemRef<2>(outputs[2]) =
      getMemRef<2>(outputs[0]);
  return status;
}

TEST(Output, OneBufferForSeveralOutputs) {
  TestModel model(makeThrice);
  for (const char *name : {"a", "b", "c"})
    model.output(name, kF32, {open(), open()});
  TestTensor<float> c(kF32, {2, 3}, std::vector<float>(6));
  std::vector<loopc_value> outputs = {{}, {}, c.get()};
  ASSERT_EQ(runModel(model, {}, outputs).status, LOOPC_OK);
  EXPECT_EQ(outputs[0].as.tensor.data, returned);
  EXPECT_NE(outputs[1].as.tensor.data, returned);
  for (loopc_value &value : outputs)
    EXPECT_THAT(getData<float>(value, 6), ElementsAre(0, 1, 2, 3, 4, 5));
  for (loopc_value &value : outputs)
    loopc_value_release(&value);
}

const float kConstant[3] = {7, 8, 9};

/// The first output is the input, the second a constant, the third the input
/// plus one.
int32_t passThrough(void *run, void **inputs, void **outputs) {
  auto &x = getMemRef<1>(inputs[0]);
  getMemRef<1>(outputs[0]) = x;
  void *constant = const_cast<float *>(kConstant);
  getMemRef<1>(outputs[1]) = {constant, constant, 0, {3}, {1}};
  auto y = allocate<1>(run, sizeof(float), {x.sizes[0]});
  for (int64_t i = 0; i < x.sizes[0]; ++i)
    y.data<float>()[i] = x.data<float>()[i] + 1;
  getMemRef<1>(outputs[2]) = y;
  return 0;
}

TestModel makePassThrough() {
  TestModel model(passThrough);
  model.input("x", kF32, {open()});
  for (const char *name : {"a", "b", "c"})
    model.output(name, kF32, {open()});
  return model;
}

TEST(Output, InputsAndConstantsAreCopied) {
  TestModel model = makePassThrough();
  TestTensor<float> x(kF32, {2}, {1, 2});
  std::vector<loopc_value> outputs(3);
  Outcome outcome = runModel(model, {x.get()}, outputs);
  ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_NE(outputs[0].as.tensor.data, x.data.data());
  EXPECT_THAT(getData<float>(outputs[0], 2), ElementsAre(1, 2));
  EXPECT_NE(outputs[1].as.tensor.data, kConstant);
  EXPECT_THAT(getData<float>(outputs[1], 3), ElementsAre(7, 8, 9));
  EXPECT_THAT(getData<float>(outputs[2], 2), ElementsAre(2, 3));
  EXPECT_EQ(outcome.statistics.copied_bytes, 20u);
  for (loopc_value &value : outputs)
    loopc_value_release(&value);
}

TEST(Output, CopiedInputIsHandedOver) {
  // The run's copy of a strided input can become the output itself.
  TestModel model = makePassThrough();
  TestTensor<float> x(kF32, {2}, {1, 0, 2}, {2});
  std::vector<loopc_value> outputs(3);
  ASSERT_EQ(runModel(model, {x.get()}, outputs).status, LOOPC_OK);
  EXPECT_THAT(getData<float>(outputs[0], 2), ElementsAre(1, 2));
  EXPECT_THAT(getData<float>(outputs[2], 2), ElementsAre(2, 3));
  for (loopc_value &value : outputs)
    loopc_value_release(&value);
}

TEST(Output, OneBufferForInputAndOutput) {
  // The caller updates x in place; the first output is the old x.
  TestModel model = makePassThrough();
  for (bool givesBuffer : {false, true}) {
    TestTensor<float> x(kF32, {2}, {1, 2});
    TestTensor<float> a(kF32, {2}, {0, 0});
    TestTensor<float> b(kF32, {3}, {0, 0, 0});
    std::vector<loopc_value> outputs = {givesBuffer ? a.get() : loopc_value{},
                                        b.get(), x.get()};
    Outcome outcome = runModel(model, {x.get()}, outputs);
    ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
    EXPECT_THAT(x.data, ElementsAre(2, 3));
    EXPECT_THAT(getData<float>(outputs[0], 2), ElementsAre(1, 2));
    loopc_value_release(&outputs[0]);
    // And written to itself it stays what it is; a comes last to be read.
    TestTensor<float> z(kF32, {2}, {5, 6});
    TestTensor<float> c(kF32, {2}, {0, 0});
    outputs = {z.get(), b.get(), c.get()};
    b.shape = {3};
    ASSERT_EQ(runModel(model, {z.get()}, outputs).status, LOOPC_OK);
    EXPECT_THAT(z.data, ElementsAre(5, 6));
    EXPECT_THAT(c.data, ElementsAre(6, 7));
  }
}

TEST(Output, NothingIsHeldAfterAFailure) {
  TestModel model = makePassThrough();
  TestTensor<float> x(kF32, {2}, {1, 2});
  // The second output does not fit: the first and third are not returned.
  TestTensor<float> b(kF32, {2}, {-1, -1});
  std::vector<loopc_value> outputs = {{}, b.get(), {}};
  Outcome outcome = runModel(model, {x.get()}, outputs);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_OUTPUT);
  EXPECT_THAT(outcome.message, HasSubstr("output 'b' (#1)"));
  EXPECT_THAT(outcome.message, HasSubstr("shape [3]"));
  EXPECT_TRUE(isZero(outputs[0]));
  EXPECT_TRUE(isZero(outputs[2]));
  EXPECT_THAT(b.data, ElementsAre(-1, -1));
}

TEST(Output, AllocatorThatFails) {
  TestModel model = makePassThrough();
  TestTensor<float> x(kF32, {2}, {1, 2});
  // Each output takes two allocations: try to fail at every one of them.
  for (size_t failAt = 0; failAt < 7; ++failAt) {
    CountingAllocator allocator;
    allocator.failAt = failAt;
    loopc_run_options options = makeOptions();
    options.allocator = &allocator.table;
    std::vector<loopc_value> outputs(3);
    Outcome outcome = runModel(model, {x.get()}, outputs, &options);
    if (failAt == 6) {
      EXPECT_EQ(outcome.status, LOOPC_OK);
      for (loopc_value &value : outputs)
        loopc_value_release(&value);
    } else {
      EXPECT_EQ(outcome.status, LOOPC_ERROR_MEMORY);
      EXPECT_THAT(outcome.message, HasSubstr("the allocator has no"));
    }
    for (loopc_value &value : outputs)
      EXPECT_TRUE(isZero(value));
    EXPECT_EQ(allocator.liveBytes, 0u);
    EXPECT_EQ(allocator.numAllocated, allocator.numFreed);
  }
}

/// Returns its input, whose elements lie one a byte.
int32_t passBytes(void *, void **inputs, void **outputs) {
  getMemRef<1>(outputs[0]) = getMemRef<1>(inputs[0]);
  return 0;
}

/// Returns its input backwards.
int32_t reverseBytes(void *, void **inputs, void **outputs) {
  auto &x = getMemRef<1>(inputs[0]);
  getMemRef<1>(outputs[0]) = {
      x.allocated, x.aligned, x.sizes[0] - 1, {x.sizes[0]}, {-1}};
  return 0;
}

TEST(Output, SubBytesArePacked) {
  for (DLDataType dtype : {kI4, kU4, DLDataType{kDLFloat4_e2m1fn, 4, 1}}) {
    TestModel model(passBytes);
    model.input("x", dtype, {open()}).output("y", dtype, {open()});
    TestTensor<uint8_t> x(dtype, {5}, {0x71, 0xF8, 0xFA});
    std::vector<loopc_value> outputs(1);
    Outcome outcome = runModel(model, {x.get()}, outputs);
    ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
    EXPECT_THAT(getShape(outputs[0]), ElementsAre(5));
    EXPECT_EQ(outputs[0].as.tensor.dtype.bits, 4);
    // The unused half of the last byte is zero.
    EXPECT_THAT(getData<uint8_t>(outputs[0], 3), ElementsAre(0x71, 0xF8, 0x0A));
    loopc_value_release(&outputs[0]);
    TestTensor<uint8_t> y(dtype, {6}, {0, 0, 0});
    outputs = {y.get()};
    ASSERT_EQ(runModel(model, {x.get()}, outputs).status, LOOPC_OK);
    EXPECT_THAT(y.data, ElementsAre(0x71, 0xF8, 0x0A));
    EXPECT_THAT(y.shape, ElementsAre(5));
  }
  TestModel model(reverseBytes);
  model.input("x", kI2, {open()}).output("y", kI2, {open()});
  TestTensor<uint8_t> x(kI2, {6}, {0xE4, 0x06}); // 0 1 2 3, 2 1
  std::vector<loopc_value> outputs(1);
  ASSERT_EQ(runModel(model, {x.get()}, outputs).status, LOOPC_OK);
  EXPECT_THAT(getData<uint8_t>(outputs[0], 2), // 1 2 3 2, 1 0
              ElementsAre(0xB9, 0x01));
  loopc_value_release(&outputs[0]);
}

TEST(Output, ReversedInputIntoItsOwnBuffer) {
  DLDataType int8 = {kDLInt, 8, 1};
  TestModel model(reverseBytes);
  model.input("x", int8, {open()}).output("y", int8, {open()});
  TestTensor<uint8_t> x(int8, {5}, {1, 2, 3, 4, 5});
  std::vector<loopc_value> outputs = {x.get()};
  ASSERT_EQ(runModel(model, {x.get()}, outputs).status, LOOPC_OK);
  EXPECT_THAT(x.data, ElementsAre(5, 4, 3, 2, 1));
}

/// y of rank 2 or 3 by the value of the input; its shape lies at stride 2.
int32_t makeUnranked(void *run, void **inputs, void **outputs) {
  int64_t rank = getMemRef<0>(inputs[0]).data<int64_t>()[0];
  auto &slot = *static_cast<UnrankedSlot *>(outputs[0]);
  slot.elements = allocate<1>(run, sizeof(float), {6});
  for (int i = 0; i < 6; ++i)
    slot.elements.data<float>()[i] = static_cast<float>(i);
  slot.shape = allocate<1>(run, sizeof(int64_t), {2 * rank + 1});
  int64_t *shape = slot.shape.data<int64_t>();
  for (int64_t i = 0; i < 2 * rank + 1; ++i)
    shape[i] = -1;
  for (int64_t i = 0; i < rank; ++i)
    shape[2 * i + 1] = i == 0 ? 6 : 1;
  slot.shape.offset = 1;
  slot.shape.sizes[0] = rank;
  slot.shape.strides[0] = 2;
  returned = slot.elements.aligned;
  return 0;
}

TEST(Output, UnknownRank) {
  TestModel model(makeUnranked);
  model.input("r", kI64, {}).unrankedOutput("y", kF32);
  for (int64_t rank : {1, 2, 3}) {
    TestTensor<int64_t> r(kI64, {}, {rank});
    std::vector<int64_t> expected(static_cast<size_t>(rank), 1);
    expected[0] = 6;
    std::vector<loopc_value> outputs(1);
    Outcome outcome = runModel(model, {r.get()}, outputs);
    ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
    EXPECT_EQ(getShape(outputs[0]), expected);
    EXPECT_EQ(outputs[0].as.tensor.data, returned);
    EXPECT_THAT(getData<float>(outputs[0], 6), ElementsAre(0, 1, 2, 3, 4, 5));
    loopc_value_release(&outputs[0]);
    // A buffer must have the same rank.
    TestTensor<float> y(kF32, {3, 2}, std::vector<float>(6));
    outputs = {y.get()};
    outcome = runModel(model, {r.get()}, outputs);
    if (rank == 2) {
      EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
      EXPECT_THAT(y.shape, ElementsAre(6, 1));
      EXPECT_THAT(y.data, ElementsAre(0, 1, 2, 3, 4, 5));
    } else {
      EXPECT_EQ(outcome.status, LOOPC_ERROR_OUTPUT);
      EXPECT_EQ(outcome.message,
                std::string("output 'y' (#0): the result has shape ") +
                    (rank == 1 ? "[6]" : "[6, 1, 1]") +
                    ", the buffer has rank 2");
    }
  }
}

/// The output is the input: both of unknown rank.
int32_t passUnranked(void *, void **inputs, void **outputs) {
  *static_cast<UnrankedSlot *>(outputs[0]) =
      *static_cast<UnrankedSlot *>(inputs[0]);
  return 0;
}

TEST(Output, UnknownRankPassedThrough) {
  TestModel model(passUnranked);
  model.unrankedInput("x", kF32).unrankedOutput("y", kF32);
  for (std::vector<int64_t> shape :
       std::vector<std::vector<int64_t>>{{}, {1}, {2, 3}, {0, 2}}) {
    TestTensor<float> x(kF32, shape, {0, 1, 2, 3, 4, 5});
    std::vector<loopc_value> outputs(1);
    Outcome outcome = runModel(model, {x.get()}, outputs);
    ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
    EXPECT_EQ(getShape(outputs[0]), shape);
    loopc_value_release(&outputs[0]);
    // In place.
    outputs = {x.get()};
    ASSERT_EQ(runModel(model, {x.get()}, outputs).status, LOOPC_OK);
    EXPECT_EQ(x.shape, shape);
    EXPECT_THAT(x.data, ElementsAre(0, 1, 2, 3, 4, 5));
  }
}

/// Results that no right code returns.
template <int Fault> int32_t makeNonsense(void *run, void **, void **outputs) {
  auto &slot = *static_cast<UnrankedSlot *>(outputs[0]);
  slot.elements = allocate<1>(run, sizeof(float), {6});
  slot.shape = allocate<1>(run, sizeof(int64_t), {2});
  int64_t *shape = slot.shape.data<int64_t>();
  shape[0] = Fault == 0 ? -2 : Fault == 1 ? INT64_MAX : 7;
  shape[1] = 3;
  if (Fault == 3)
    slot.shape.sizes[0] = -1;
  return 0;
}

TEST(Output, NonsenseIsAnError) {
  const char *expected[] = {
      "output 'y' (#0): the model returned shape [-2, 3]",
      "output 'y' (#0): the model returned shape [9223372036854775807, 3]",
      "output 'y' (#0): the model returned 6 elements for shape [7, 3]",
      "output 'y' (#0): the model returned rank -1"};
  Entry entries[] = {makeNonsense<0>, makeNonsense<1>, makeNonsense<2>,
                     makeNonsense<3>};
  for (int fault = 0; fault < 4; ++fault) {
    TestModel model(entries[fault]);
    model.unrankedOutput("y", kF32);
    EXPECT_EQ(getError(model, {}, LOOPC_ERROR_ABI), expected[fault]);
  }
}

TEST(Output, ForgottenResultHasNoElements) {
  TestModel model([](void *, void **, void **) { return int32_t{0}; });
  model.output("y", kF32, {open()});
  std::vector<loopc_value> outputs(1);
  Outcome outcome = runModel(model, {}, outputs);
  // All zero: a tensor without elements.
  ASSERT_EQ(outcome.status, LOOPC_OK);
  EXPECT_THAT(getShape(outputs[0]), ElementsAre(0));
  loopc_value_release(&outputs[0]);
}

} // namespace
