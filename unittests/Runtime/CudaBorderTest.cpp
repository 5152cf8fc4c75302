//===- CudaBorderTest.cpp - Values on a GPU -------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inputs, outputs and options of models for GPUs, on the fake driver.
//
//===----------------------------------------------------------------------===//

#include "CudaModel.h"

#include <gmock/gmock.h>

using namespace loopc::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

TestProgram *theProgram;
/// Whether the model returned memory of the device.
bool isOnDevice;

/// y = x + 1, and x as it is seen by the host.
int32_t entry(void *run, void **inputs, void **outputs) {
  Calls calls(run, theProgram->program);
  if (int32_t status = loopc_rt_cuda_begin(calls.run, &calls.program))
    return status;
  auto &x = getMemRef<1>(inputs[0]);
  int64_t count = x.sizes[0], bytes = count * 4;
  void *dx = calls.input(x.data<float>(), bytes);
  void *dy =
      dx ? loopc_rt_cuda_alloc(calls.run, bytes, LOOPC_CUDA_DEVICE) : nullptr;
  if (!dy)
    return LOOPC_ERROR_RUNTIME;
  if (int32_t status = calls.addOne(dx, dy, static_cast<int32_t>(count)))
    return status;
  void *y = loopc_rt_cuda_output(calls.run, dy, bytes);
  if (!y)
    return LOOPC_ERROR_RUNTIME;
  isOnDevice = y == dy;
  loopc_rt_cuda_free(calls.run, dy);
  if (int32_t status = loopc_rt_cuda_sync(calls.run))
    return status;
  getMemRef<1>(outputs[0]) = {y, y, 0, {count}, {1}};
  return LOOPC_OK;
}

class CudaBorder : public testing::Test {
protected:
  CudaBorder() : model(makeModel(entry)) {
    theProgram = &program;
    options.device_results = 1;
  }

  TestModel makeModel(Entry entry, DLDataType dtype = kF32) {
    TestModel made(entry);
    made.input("x", dtype, {open()}).output("y", dtype, {open()});
    made.model.device_program = &program.program;
    return made;
  }

  /// A tensor on the device; the test releases it.
  loopc_value upload(TestTensor<float> &tensor) {
    loopc_value host = tensor.get(), result = {};
    loopc_error error;
    EXPECT_EQ(loopc_rt_cuda_upload(0, &host, &result, &error), LOOPC_OK)
        << error.message;
    return result;
  }

  std::vector<float> download(const loopc_value &value) {
    std::vector<float> result(static_cast<size_t>(value.as.tensor.shape[0]));
    loopc_error error;
    EXPECT_EQ(loopc_rt_cuda_download(&value, result.data(), result.size() * 4,
                                     &error),
              LOOPC_OK)
        << error.message;
    return result;
  }

  uint64_t countLive() {
    settle();
    return getCounts().live_allocations;
  }

  TestProgram program;
  TestModel model;
  TestTensor<float> x{kF32, {3}, {1, 2, 3}};
  loopc_run_options options = makeOptions();
  std::vector<loopc_value> outputs = {{}};
};

TEST_F(CudaBorder, UploadAndDownload) {
  loopc_value device = upload(x);
  uint64_t live = countLive();
  EXPECT_EQ(device.as.tensor.device.device_type, kDLCUDA);
  EXPECT_EQ(device.as.tensor.dtype.code, kDLFloat);
  EXPECT_THAT(getShape(device), ElementsAre(3));
  EXPECT_THAT(download(device), ElementsAre(1, 2, 3));
  loopc_value_release(&device);
  EXPECT_EQ(countLive(), live - 1);
  EXPECT_TRUE(isZero(device));

  // Strides of the host are honoured.
  TestTensor<float> every(kF32, {2}, {1, 2, 3}, {2});
  device = upload(every);
  EXPECT_THAT(download(device), ElementsAre(1, 3));
  loopc_error error;
  loopc_value again = {};
  EXPECT_EQ(loopc_rt_cuda_upload(0, &device, &again, &error),
            LOOPC_ERROR_INPUT);
  float few[1];
  EXPECT_EQ(loopc_rt_cuda_download(&device, few, 4, &error), LOOPC_ERROR_INPUT);
  loopc_value_release(&device);
  loopc_value host = x.get();
  EXPECT_EQ(loopc_rt_cuda_upload(3, &host, &again, &error), LOOPC_ERROR_DEVICE);
  EXPECT_STREQ(error.message, "there is no CUDA device 3: this machine has 1");
}

TEST_F(CudaBorder, Devices) {
  loopc_error error;
  EXPECT_EQ(loopc_rt_cuda_num_devices(&error), 1) << error.message;
  EXPECT_EQ(error.status, LOOPC_OK);
  loopc_cuda_device device;
  EXPECT_EQ(loopc_rt_cuda_describe(0, &device, &error), LOOPC_OK);
  EXPECT_STREQ(device.chip, "sm_90");
  EXPECT_NE(device.name[0], 0);
  EXPECT_GT(device.multiprocessors, 0);
  EXPECT_EQ(loopc_rt_cuda_describe(1, &device, nullptr), LOOPC_ERROR_DEVICE);
}

TEST_F(CudaBorder, InputOnTheDevice) {
  loopc_value device = upload(x);
  Outcome outcome = runModel(model, {device}, outputs);
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_THAT(getData<float>(outputs[0], 3), ElementsAre(2, 3, 4));
  loopc_value_release(&outputs[0]);

  // Nothing goes to the device, or to the host where it does not read it.
  static const uint8_t unread[] = {1};
  model.model.device_inputs = unread;
  fake_cuda_statistics_t before = getCounts();
  EXPECT_EQ(runModel(model, {device}, outputs).status, LOOPC_OK);
  fake_cuda_statistics_t after = getCounts();
  EXPECT_EQ(after.copied_bytes[FAKE_CUDA_HOST][FAKE_CUDA_DEVICE],
            before.copied_bytes[FAKE_CUDA_HOST][FAKE_CUDA_DEVICE]);
  EXPECT_EQ(after.copied_bytes[FAKE_CUDA_DEVICE][FAKE_CUDA_HOST],
            before.copied_bytes[FAKE_CUDA_DEVICE][FAKE_CUDA_HOST] + 12 + 280);
  EXPECT_THAT(getData<float>(outputs[0], 3), ElementsAre(2, 3, 4));
  loopc_value_release(&outputs[0]);
  loopc_value_release(&device);
}

TEST_F(CudaBorder, StridedInputOnTheDevice) {
  TestTensor<float> four(kF32, {4}, {1, 2, 3, 4});
  loopc_value device = upload(four), view = device;
  int64_t shape[] = {2}, strides[] = {-2};
  view.as.tensor.shape = shape;
  view.as.tensor.strides = strides;
  view.as.tensor.byte_offset = 12;
  static const uint8_t unread[] = {1};
  model.model.device_inputs = unread;
  Outcome outcome = runModel(model, {view}, outputs);
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_THAT(getData<float>(outputs[0], 2), ElementsAre(5, 3));
  loopc_value_release(&outputs[0]);
  loopc_value_release(&device);
}

TEST_F(CudaBorder, OutputOnTheDevice) {
  uint64_t live = 0;
  for (int i = 0; i < 2; ++i) {
    live = countLive();
    Outcome outcome = runModel(model, {x.get()}, outputs, &options);
    EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
    EXPECT_TRUE(isOnDevice);
    EXPECT_EQ(outputs[0].as.tensor.device.device_type, kDLCUDA);
    EXPECT_THAT(getShape(outputs[0]), ElementsAre(3));
    EXPECT_THAT(download(outputs[0]), ElementsAre(2, 3, 4));
    // From run to run without the host.
    std::vector<loopc_value> next(1);
    EXPECT_EQ(runModel(model, {outputs[0]}, next, &options).status, LOOPC_OK);
    EXPECT_THAT(download(next[0]), ElementsAre(3, 4, 5));
    loopc_value_release(&next[0]);
    loopc_value_release(&outputs[0]);
  }
  EXPECT_EQ(countLive(), live);
}

TEST_F(CudaBorder, BufferOnTheDevice) {
  TestTensor<float> zeros(kF32, {5}, {0, 0, 0, 0, 0});
  loopc_value buffer = upload(zeros);
  outputs[0].kind = LOOPC_TENSOR;
  outputs[0].as.tensor = buffer.as.tensor;
  Outcome outcome = runModel(model, {x.get()}, outputs);
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_THAT(getShape(outputs[0]), ElementsAre(3));
  EXPECT_THAT(download(outputs[0]), ElementsAre(2, 3, 4));
  loopc_value_release(&buffer);

  // A buffer of the host takes what lies on the device.
  float host[3] = {};
  int64_t shape[1] = {3};
  outputs[0].as.tensor.data = host;
  outputs[0].as.tensor.shape = shape;
  outputs[0].as.tensor.device = {kDLCPU, 0};
  EXPECT_EQ(runModel(model, {x.get()}, outputs, &options).status, LOOPC_OK);
  EXPECT_THAT(host, ElementsAre(2, 3, 4));
}

TEST_F(CudaBorder, ResultOfTheHostOnTheDevice) {
  // Computed by the host, with strides; and the input itself.
  TestModel reversed = makeModel([](void *run, void **inputs, void **outputs) {
    auto &x = getMemRef<1>(inputs[0]);
    auto y = allocate<1>(run, 4, {x.sizes[0]});
    std::copy_n(x.data<float>(), x.sizes[0], y.data<float>());
    y.offset = x.sizes[0] - 1;
    y.strides[0] = -1;
    getMemRef<1>(outputs[0]) = y;
    return int32_t(LOOPC_OK);
  });
  EXPECT_EQ(runModel(reversed, {x.get()}, outputs, &options).status, LOOPC_OK);
  EXPECT_THAT(download(outputs[0]), ElementsAre(3, 2, 1));
  loopc_value_release(&outputs[0]);

  TestModel same = makeModel([](void *, void **inputs, void **outputs) {
    getMemRef<1>(outputs[0]) = getMemRef<1>(inputs[0]);
    return int32_t(LOOPC_OK);
  });
  loopc_value device = upload(x);
  EXPECT_EQ(runModel(same, {device}, outputs, &options).status, LOOPC_OK);
  EXPECT_NE(outputs[0].as.tensor.data, device.as.tensor.data);
  EXPECT_THAT(download(outputs[0]), ElementsAre(1, 2, 3));
  loopc_value_release(&outputs[0]);
  loopc_value_release(&device);
}

TEST_F(CudaBorder, OneResultTwice) {
  TestModel twice(+[](void *run, void **inputs, void **outputs) {
    if (int32_t status = entry(run, inputs, outputs))
      return status;
    // The same memory once more, and a part of it.
    auto &y = getMemRef<1>(outputs[0]);
    getMemRef<1>(outputs[1]) = y;
    char *part = static_cast<char *>(y.aligned) + 4;
    void *copy = loopc_rt_cuda_output(static_cast<loopc_run *>(run), part, 8);
    getMemRef<1>(outputs[2]) = {copy, copy, 0, {2}, {1}};
    return int32_t(copy ? LOOPC_OK : LOOPC_ERROR_RUNTIME);
  });
  twice.input("x", kF32, {open()});
  for (const char *name : {"y", "z", "part"})
    twice.output(name, kF32, {open()});
  twice.model.device_program = &program.program;
  runModel(model, {x.get()}, outputs);
  loopc_value_release(&outputs[0]);
  uint64_t live = countLive();
  outputs.resize(3);
  Outcome outcome = runModel(twice, {x.get()}, outputs, &options);
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_NE(outputs[0].as.tensor.data, outputs[1].as.tensor.data);
  EXPECT_THAT(download(outputs[0]), ElementsAre(2, 3, 4));
  EXPECT_THAT(download(outputs[1]), ElementsAre(2, 3, 4));
  EXPECT_THAT(download(outputs[2]), ElementsAre(3, 4));
  for (loopc_value &output : outputs)
    loopc_value_release(&output);
  EXPECT_EQ(countLive(), live);
}

TEST_F(CudaBorder, PackedAndBoolElements) {
  auto same = [](void *, void **inputs, void **outputs) {
    getMemRef<1>(outputs[0]) = getMemRef<1>(inputs[0]);
    return int32_t(LOOPC_OK);
  };
  TestModel packed = makeModel(same, kI4);
  TestTensor<uint8_t> values(kI4, {3}, {0x21, 0x0F});
  loopc_value host = values.get(), device = {};
  ASSERT_EQ(loopc_rt_cuda_upload(0, &host, &device, nullptr), LOOPC_OK);
  EXPECT_EQ(runModel(packed, {device}, outputs, &options).status, LOOPC_OK);
  uint8_t bytes[2] = {};
  EXPECT_EQ(loopc_rt_cuda_download(&outputs[0], bytes, 2, nullptr), LOOPC_OK);
  EXPECT_THAT(bytes, ElementsAre(0x21, 0x0F));
  loopc_value_release(&outputs[0]);
  loopc_value_release(&device);

  TestModel bools = makeModel(same, kBool);
  TestTensor<uint8_t> flags(kBool, {3}, {0, 7, 1});
  host = flags.get();
  ASSERT_EQ(loopc_rt_cuda_upload(0, &host, &device, nullptr), LOOPC_OK);
  EXPECT_EQ(runModel(bools, {device}, outputs).status, LOOPC_OK);
  EXPECT_THAT(getData<uint8_t>(outputs[0], 3), ElementsAre(0, 1, 1));
  loopc_value_release(&outputs[0]);
  loopc_value_release(&device);
}

TEST_F(CudaBorder, FailedRunsLeaveNothingOnTheDevice) {
  runModel(model, {x.get()}, outputs, &options);
  loopc_value_release(&outputs[0]);
  uint64_t live = countLive();
  CountingAllocator allocator;
  allocator.failAt = 0;
  options.allocator = &allocator.table;
  Outcome outcome = runModel(model, {x.get()}, outputs, &options);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_MEMORY) << outcome.message;
  EXPECT_TRUE(isZero(outputs[0]));
  EXPECT_EQ(countLive(), live);
}

TEST_F(CudaBorder, StreamOfTheCaller) {
  loopc_value device = upload(x);
  fake_cuda_set("LOOPC_FAKE_CUDA_QUIET", "1"); // Counts begin anew.
  options.stream = reinterpret_cast<void *>(1);
  uint64_t streams = getCounts().live_streams;
  EXPECT_EQ(runModel(model, {device}, outputs, &options).status, LOOPC_OK);
  EXPECT_EQ(getCounts().live_streams, streams);
  EXPECT_EQ(fake_cuda_call_count("cuStreamWaitEvent"), 0u);
  loopc_value_release(&outputs[0]);
  // A stream of the runtime's waits for what the caller began.
  options.stream = nullptr;
  EXPECT_EQ(runModel(model, {device}, outputs, &options).status, LOOPC_OK);
  EXPECT_EQ(fake_cuda_call_count("cuStreamWaitEvent"), 1u);
  loopc_value_release(&outputs[0]);
  loopc_value_release(&device);
}

TEST_F(CudaBorder, WrongDevices) {
  options.device_results = 0;
  options.device = 5;
  EXPECT_EQ(runModel(model, {x.get()}, outputs, &options).message,
            "there is no CUDA device 5: this machine has 1");
  loopc_value device = upload(x);
  EXPECT_EQ(runModel(model, {device}, outputs, &options).message,
            "input 'x' (#0): the data is on CUDA device 0, but the model runs "
            "on device 5");
  options.device = -1;
  EXPECT_EQ(runModel(model, {x.get()}, outputs, &options).message,
            "the number of the device is -1");
  options.device = 0;
  device.as.tensor.device.device_type = 4;
  EXPECT_EQ(runModel(model, {device}, outputs, &options).message,
            "input 'x' (#0): the data is on a device of type 4, expected the "
            "CPU (1) or a CUDA device");
  device.as.tensor.device.device_type = kDLCUDA;

  // A check of one value does not know where the model will run.
  loopc_error error;
  device.as.tensor.device.device_id = 5;
  EXPECT_EQ(loopc_model_check_input(model.get(), 0, &device, &error), LOOPC_OK)
      << error.message;
  device.as.tensor.device.device_id = 0;

  // A model for the CPU knows none of this.
  model.model.device_program = nullptr;
  EXPECT_EQ(runModel(model, {device}, outputs).message,
            "input 'x' (#0): the data is on CUDA device 0, but the model was "
            "compiled for the CPU");
  options.device_results = 1;
  EXPECT_THAT(runModel(model, {x.get()}, outputs, &options).message,
              HasSubstr("model 'test' was compiled for the CPU"));
  loopc_value_release(&device);
}

TEST_F(CudaBorder, ElementsOfSequences) {
  TestModel sequences([](void *, void **inputs, void **outputs) {
    *static_cast<void **>(outputs[0]) = *static_cast<void **>(inputs[0]);
    return int32_t(LOOPC_OK);
  });
  sequences.input("s", kF32, {open()}).inSequence();
  sequences.output("t", kF32, {open()}).inSequence();
  sequences.model.device_program = &program.program;
  loopc_value device = upload(x), elements[2] = {x.get(), device};
  loopc_value sequence = {};
  sequence.kind = LOOPC_SEQUENCE;
  sequence.as.sequence = {elements, 2};
  Outcome outcome = runModel(sequences, {sequence}, outputs, &options);
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  ASSERT_EQ(outputs[0].as.sequence.count, 2u);
  EXPECT_THAT(getData<float>(outputs[0].as.sequence.items[1], 3),
              ElementsAre(1, 2, 3));
  loopc_value_release(&outputs[0]);
  loopc_value_release(&device);
}

} // namespace
