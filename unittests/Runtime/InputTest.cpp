//===- InputTest.cpp - Inputs: every rule and message ---------------------===//
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

/// Where the entries below put what they saw.
struct Seen {
  void *data = nullptr;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset = -1;
  std::vector<float> floats;
  std::vector<int> bytes;
  bool ran = false;
};
thread_local Seen seen;

template <int Rank> void look(void *slot) {
  auto &memref = getMemRef<Rank>(slot);
  seen = {};
  seen.ran = true;
  seen.data = memref.aligned;
  seen.offset = memref.offset;
  if constexpr (Rank > 0) {
    seen.sizes.assign(memref.sizes, memref.sizes + Rank);
    seen.strides.assign(memref.strides, memref.strides + Rank);
  }
  EXPECT_EQ(memref.allocated, memref.aligned);
}

int64_t countSeen() {
  int64_t count = 1;
  for (int64_t size : seen.sizes)
    count *= size;
  return count;
}

template <int Rank> int32_t lookAtFloats(void *, void **inputs, void **) {
  look<Rank>(inputs[0]);
  const float *data = static_cast<const float *>(seen.data);
  seen.floats.assign(data, data + countSeen());
  return 0;
}

template <int Rank> int32_t lookAtBytes(void *, void **inputs, void **) {
  look<Rank>(inputs[0]);
  const int8_t *data = static_cast<const int8_t *>(seen.data);
  seen.bytes.assign(data, data + countSeen());
  return 0;
}

int32_t doNothing(void *, void **, void **) {
  seen = {};
  seen.ran = true;
  return 0;
}

/// Runs a model without outputs, which must fail before the entry.
std::string getInputError(TestModel &model, std::vector<loopc_value> inputs,
                          int status = LOOPC_ERROR_INPUT) {
  seen = {};
  std::vector<loopc_value> outputs;
  Outcome outcome = runModel(model, std::move(inputs), outputs);
  EXPECT_EQ(outcome.status, status);
  EXPECT_FALSE(seen.ran);
  return outcome.message;
}

Outcome runOk(TestModel &model, std::vector<loopc_value> inputs) {
  std::vector<loopc_value> outputs;
  Outcome outcome = runModel(model, std::move(inputs), outputs);
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_EQ(outcome.message, "");
  return outcome;
}

std::vector<float> iota(size_t count) {
  std::vector<float> result(count);
  std::iota(result.begin(), result.end(), 0.0f);
  return result;
}

TestModel makeMatrixModel() {
  TestModel model(lookAtFloats<2>);
  model.input("x", kF32, {open(), fixed(3)});
  return model;
}

TEST(Input, NumberIsChecked) {
  TestModel model = makeMatrixModel();
  EXPECT_EQ(getInputError(model, {}),
            "model 'test' has 1 inputs, 0 were given");
  TestTensor<float> x(kF32, {2, 3}, iota(6));
  EXPECT_EQ(getInputError(model, {x.get(), x.get()}),
            "model 'test' has 1 inputs, 2 were given");
  loopc_error error;
  EXPECT_EQ(
      loopc_model_run(model.get(), nullptr, nullptr, 1, nullptr, 0, &error),
      LOOPC_ERROR_INPUT);
  EXPECT_STREQ(error.message, "the inputs are null");
}

TEST(Input, KindIsChecked) {
  TestModel model = makeMatrixModel();
  TestTensor<float> x(kF32, {2, 3}, iota(6));
  loopc_value value = x.get();
  value.kind = LOOPC_SEQUENCE;
  EXPECT_EQ(getInputError(model, {value}),
            "input 'x' (#0): kind sequence, expected tensor");
  value.kind = LOOPC_STRINGS;
  EXPECT_EQ(getInputError(model, {value}),
            "input 'x' (#0): kind strings, expected tensor");
  value.kind = LOOPC_OPTIONAL;
  EXPECT_EQ(getInputError(model, {value}),
            "input 'x' (#0): kind optional, expected tensor");
  value.kind = 77;
  EXPECT_EQ(getInputError(model, {value}),
            "input 'x' (#0): kind unknown kind, expected tensor");
  value.kind = LOOPC_TENSOR;
  value.flags = 6;
  EXPECT_EQ(getInputError(model, {value}), "input 'x' (#0): unknown flags 0x6");
}

TEST(Input, DtypeIsChecked) {
  TestModel model = makeMatrixModel();
  TestTensor<float> x(kF64, {2, 3}, iota(12));
  EXPECT_EQ(getInputError(model, {x.get()}),
            "input 'x' (#0): dtype float64, expected float32");
  x.dtype = {kDLFloat8_e4m3fn, 8, 1};
  EXPECT_EQ(getInputError(model, {x.get()}),
            "input 'x' (#0): dtype float8_e4m3fn, expected float32");
  x.dtype = {kDLFloat, 32, 2};
  EXPECT_EQ(getInputError(model, {x.get()}),
            "input 'x' (#0): dtype (code 2, 32 bits, 2 lanes), expected "
            "float32");
}

TEST(Input, RankIsChecked) {
  TestModel model = makeMatrixModel();
  TestTensor<float> x(kF32, {2, 3, 1}, iota(6));
  EXPECT_EQ(getInputError(model, {x.get()}),
            "input 'x' (#0): rank 3, expected 2");
  loopc_value value = x.get();
  value.as.tensor.ndim = -1;
  EXPECT_EQ(getInputError(model, {value}),
            "input 'x' (#0): rank -1, expected 2");
  TestModel unranked(doNothing);
  unranked.unrankedInput("x", kF32);
  EXPECT_EQ(getInputError(unranked, {value}), "input 'x' (#0): rank -1");
}

TEST(Input, DimensionsAreChecked) {
  TestModel model = makeMatrixModel();
  TestTensor<float> x(kF32, {2, 4}, iota(8));
  EXPECT_EQ(getInputError(model, {x.get()}),
            "input 'x' (#0): dimension 1 is 4, expected 3");
  x.shape = {-2, 3};
  EXPECT_EQ(getInputError(model, {x.get()}),
            "input 'x' (#0): dimension 0 is -2");
}

TEST(Input, NamedDimensionsAreEqual) {
  TestModel model(doNothing);
  model.input("y", kF32, {fixed(1), named("N")});
  std::string sameName = "N"; // another pointer, the same name
  model.input("x", kF32, {named(sameName.c_str()), named("M"), named("M")});
  TestTensor<float> y(kF32, {1, 3}, iota(3));
  TestTensor<float> x(kF32, {4, 2, 2}, iota(16));
  EXPECT_EQ(getInputError(model, {y.get(), x.get()}, LOOPC_ERROR_DIM_NAME),
            "input 'x' (#1): dimension 0 ('N') is 4 but input 'y' has 3; "
            "if 'N' is not one extent, compile the model with --dim=N=?");
  x.shape = {3, 2, 1};
  EXPECT_EQ(getInputError(model, {y.get(), x.get()}, LOOPC_ERROR_DIM_NAME),
            "input 'x' (#1): dimension 2 ('M') is 1 but dimension 1 has 2; "
            "if 'M' is not one extent, compile the model with --dim=M=?");
  x.shape = {3, 2, 2};
  runOk(model, {y.get(), x.get()});
}

TEST(Input, DeviceIsChecked) {
  TestModel model = makeMatrixModel();
  TestTensor<float> x(kF32, {2, 3}, iota(6));
  loopc_value value = x.get();
  value.as.tensor.device = {kDLCUDA, 0};
  EXPECT_EQ(getInputError(model, {value}),
            "input 'x' (#0): the data is on CUDA device 0, but the model was "
            "compiled for the CPU");
  value.as.tensor.device = {4, 0};
  EXPECT_EQ(getInputError(model, {value}),
            "input 'x' (#0): the data is on a device of type 4, expected the "
            "CPU (1)");
}

TEST(Input, NullPointersAreRefused) {
  TestModel model = makeMatrixModel();
  TestTensor<float> x(kF32, {2, 3}, iota(6));
  loopc_value value = x.get();
  value.as.tensor.data = nullptr;
  EXPECT_EQ(getInputError(model, {value}), "input 'x' (#0): the data is null");
  value = x.get();
  value.as.tensor.shape = nullptr;
  EXPECT_EQ(getInputError(model, {value}), "input 'x' (#0): the shape is null");
}

TEST(Input, NullDataWithoutElementsIsFine) {
  TestModel model = makeMatrixModel();
  TestTensor<float> x(kF32, {0, 3}, {});
  loopc_value value = x.get();
  value.as.tensor.data = nullptr;
  runOk(model, {value});
  EXPECT_NE(seen.data, nullptr);
  EXPECT_THAT(seen.sizes, ElementsAre(0, 3));
}

TEST(Input, OverflowIsRefused) {
  TestModel model(doNothing);
  model.input("x", kF32, {open(), open(), open()});
  TestTensor<float> x(kF32, {INT64_C(1) << 31, INT64_C(1) << 30, 1}, {0});
  EXPECT_EQ(getInputError(model, {x.get()}),
            "input 'x' (#0): shape [2147483648, 1073741824, 1] has too many "
            "elements");
  // Without elements, but no product of its dimensions may overflow either.
  x.shape = {INT64_C(1) << 40, INT64_C(1) << 40, 0};
  EXPECT_THAT(getInputError(model, {x.get()}), HasSubstr("too many elements"));
}

TEST(Input, StridesOutOfRangeAreRefused) {
  TestModel model(doNothing);
  model.input("x", kF32, {open(), open()});
  TestTensor<float> x(kF32, {2, 3}, iota(6), {INT64_MIN, 1});
  EXPECT_EQ(getInputError(model, {x.get()}),
            "input 'x' (#0): the strides are out of range");
  x.strides = {INT64_MAX / 2, 1};
  EXPECT_EQ(getInputError(model, {x.get()}),
            "input 'x' (#0): the strides are out of range");
  // The stride of a dimension of extent 1 is never used.
  x.shape = {1, 3};
  x.strides = {INT64_MIN, 1};
  runOk(model, {x.get()});
}

TEST(Input, ContiguousIsPassedWithoutCopy) {
  TestModel model = makeMatrixModel();
  TestTensor<float> x(kF32, {2, 3}, iota(6));
  Outcome outcome = runOk(model, {x.get()});
  EXPECT_EQ(seen.data, x.data.data());
  EXPECT_EQ(seen.offset, 0);
  EXPECT_THAT(seen.sizes, ElementsAre(2, 3));
  EXPECT_THAT(seen.strides, ElementsAre(3, 1));
  EXPECT_EQ(outcome.statistics.copied_bytes, 0u);
  EXPECT_EQ(outcome.statistics.allocations, 0u);
  // So are explicit strides of C order, also where an extent is 1.
  x.shape = {1, 3};
  x.strides = {17, 1};
  runOk(model, {x.get()});
  EXPECT_EQ(seen.data, x.data.data());
  EXPECT_THAT(seen.strides, ElementsAre(3, 1));
}

TEST(Input, StridedIsCopied) {
  TestModel model = makeMatrixModel();
  // Column by column.
  TestTensor<float> x(kF32, {2, 3}, iota(6), {1, 2});
  Outcome outcome = runOk(model, {x.get()});
  EXPECT_NE(seen.data, x.data.data());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(seen.data) % 64, 0u);
  EXPECT_THAT(seen.strides, ElementsAre(3, 1));
  EXPECT_THAT(seen.floats, ElementsAre(0, 2, 4, 1, 3, 5));
  EXPECT_EQ(outcome.statistics.copied_bytes, 24u);
  // Backwards.
  x.strides = {-3, -1};
  loopc_value value = x.get();
  value.as.tensor.byte_offset = 5 * sizeof(float);
  runOk(model, {value});
  EXPECT_THAT(seen.floats, ElementsAre(5, 4, 3, 2, 1, 0));
  // The same row again and again.
  x.strides = {0, 1};
  runOk(model, {x.get()});
  EXPECT_THAT(seen.floats, ElementsAre(0, 1, 2, 0, 1, 2));
}

TEST(Input, ByteOffsetIsHonoured) {
  TestModel model = makeMatrixModel();
  TestTensor<float> x(kF32, {1, 3}, iota(6));
  loopc_value value = x.get();
  value.as.tensor.byte_offset = 2 * sizeof(float);
  runOk(model, {value});
  EXPECT_EQ(seen.data, x.data.data() + 2);
  EXPECT_THAT(seen.floats, ElementsAre(2, 3, 4));
}

TEST(Input, MisalignedIsCopied) {
  TestModel model = makeMatrixModel();
  TestTensor<float> x(kF32, {2, 3}, iota(7));
  char *bytes = reinterpret_cast<char *>(x.data.data());
  float expected[6] = {5, 4, 3, 2, 1, 0};
  memcpy(bytes + 1, expected, sizeof(expected));
  loopc_value value = x.get();
  value.as.tensor.byte_offset = 1;
  runOk(model, {value});
  EXPECT_EQ(reinterpret_cast<uintptr_t>(seen.data) % 64, 0u);
  EXPECT_THAT(seen.floats, ElementsAre(5, 4, 3, 2, 1, 0));
}

TEST(Input, ScalarHasRankZero) {
  TestModel model(lookAtFloats<0>);
  model.input("x", kF32, {});
  TestTensor<float> x(kF32, {}, {7});
  loopc_value value = x.get();
  value.as.tensor.shape = nullptr;
  runOk(model, {value});
  EXPECT_THAT(seen.floats, ElementsAre(7));
}

TEST(Input, BoolsOfZeroAndOneArePassedWithoutCopy) {
  TestModel model(lookAtBytes<2>);
  model.input("b", kBool, {open(), open()});
  TestTensor<uint8_t> b(kBool, {2, 3}, {0, 1, 1, 0, 0, 1});
  Outcome outcome = runOk(model, {b.get()});
  EXPECT_EQ(seen.data, b.data.data());
  EXPECT_EQ(outcome.statistics.copied_bytes, 0u);
  // The last one is looked at, too.
  b.data.back() = 2;
  outcome = runOk(model, {b.get()});
  EXPECT_NE(seen.data, b.data.data());
  EXPECT_EQ(outcome.statistics.copied_bytes, 6u);
}

TEST(Input, BoolsAreNormalised) {
  TestModel model(lookAtBytes<2>);
  model.input("b", kBool, {open(), open()});
  TestTensor<uint8_t> b(kBool, {2, 3}, {0, 1, 2, 255, 0, 128});
  runOk(model, {b.get()});
  EXPECT_THAT(seen.bytes, ElementsAre(0, 1, 1, 1, 0, 1));
  b.strides = {1, 2};
  runOk(model, {b.get()});
  EXPECT_THAT(seen.bytes, ElementsAre(0, 1, 0, 1, 1, 1));
}

TEST(Input, FourBitsAreUnpacked) {
  TestModel model(lookAtBytes<1>);
  model.input("x", kI4, {open()});
  TestTensor<uint8_t> x(kI4, {5}, {0x71, 0xF8, 0x0A});
  runOk(model, {x.get()});
  EXPECT_THAT(seen.bytes, ElementsAre(1, 7, -8, -1, -6));
  TestModel unsignedModel(lookAtBytes<1>);
  unsignedModel.input("x", kU4, {open()});
  x.dtype = kU4;
  runOk(unsignedModel, {x.get()});
  EXPECT_THAT(seen.bytes, ElementsAre(1, 7, 8, 15, 10));
  TestModel floatModel(lookAtBytes<1>);
  floatModel.input("x", {kDLFloat4_e2m1fn, 4, 1}, {open()});
  x.dtype = {kDLFloat4_e2m1fn, 4, 1};
  runOk(floatModel, {x.get()});
  EXPECT_THAT(seen.bytes, ElementsAre(1, 7, 8, 15, 10));
}

TEST(Input, TwoBitsAreUnpacked) {
  TestModel model(lookAtBytes<1>);
  model.input("x", kI2, {open()});
  TestTensor<uint8_t> x(kI2, {6}, {0xE4, 0x06}); // 0 1 2 3, 2 1
  runOk(model, {x.get()});
  EXPECT_THAT(seen.bytes, ElementsAre(0, 1, -2, -1, -2, 1));
  TestModel unsignedModel(lookAtBytes<1>);
  unsignedModel.input("x", kU2, {open()});
  x.dtype = kU2;
  runOk(unsignedModel, {x.get()});
  EXPECT_THAT(seen.bytes, ElementsAre(0, 1, 2, 3, 2, 1));
}

TEST(Input, PackedMayBeStrided) {
  TestModel model(lookAtBytes<2>);
  model.input("x", kU4, {open(), open()});
  // Elements 0 to 5; strides count elements.
  TestTensor<uint8_t> x(kU4, {2, 3}, {0x10, 0x32, 0x54}, {1, 2});
  runOk(model, {x.get()});
  EXPECT_THAT(seen.bytes, ElementsAre(0, 2, 4, 1, 3, 5));
  // Backwards from element 4.
  x.strides = {-2, -1};
  x.shape = {2, 2};
  loopc_value value = x.get();
  value.as.tensor.byte_offset = 2;
  runOk(model, {value});
  EXPECT_THAT(seen.bytes, ElementsAre(4, 3, 2, 1));
}

TEST(Input, ComplexNeedsTheAlignmentOfItsFloats) {
  TestModel model(lookAtFloats<1>);
  DLDataType complex64 = {kDLComplex, 64, 1};
  model.input("z", complex64, {open()});
  TestTensor<float> z(complex64, {1}, iota(3));
  loopc_value value = z.get();
  // One of the two addresses is not a multiple of 8.
  for (uint64_t offset : {0, 4}) {
    value.as.tensor.byte_offset = offset;
    Outcome outcome = runOk(model, {value});
    EXPECT_EQ(outcome.statistics.copied_bytes, 0u);
  }
}

int32_t lookAtUnranked(void *, void **inputs, void **) {
  auto &slot = *static_cast<UnrankedSlot *>(inputs[0]);
  seen = {};
  seen.ran = true;
  seen.data = slot.elements.aligned;
  const float *data = slot.elements.data<float>();
  seen.floats.assign(data, data + slot.elements.sizes[0]);
  EXPECT_EQ(slot.elements.strides[0], 1);
  EXPECT_EQ(slot.shape.strides[0], 1);
  const int64_t *shape = slot.shape.data<int64_t>();
  seen.sizes.assign(shape, shape + slot.shape.sizes[0]);
  return 0;
}

TEST(Input, UnknownRank) {
  TestModel model(lookAtUnranked);
  model.unrankedInput("x", kF32);
  TestTensor<float> x(kF32, {2, 3}, iota(6));
  runOk(model, {x.get()});
  EXPECT_EQ(seen.data, x.data.data());
  EXPECT_THAT(seen.sizes, ElementsAre(2, 3));
  EXPECT_THAT(seen.floats, ElementsAre(0, 1, 2, 3, 4, 5));
  x.strides = {1, 2};
  runOk(model, {x.get()});
  EXPECT_THAT(seen.floats, ElementsAre(0, 2, 4, 1, 3, 5));
  TestTensor<float> scalar(kF32, {}, {7});
  loopc_value value = scalar.get();
  value.as.tensor.shape = nullptr;
  runOk(model, {value});
  EXPECT_THAT(seen.sizes, ElementsAre());
  EXPECT_THAT(seen.floats, ElementsAre(7));
  // More dimensions than any table could have.
  TestTensor<float> deep(kF32, std::vector<int64_t>(1000, 1), iota(6));
  deep.shape[3] = 2;
  deep.shape[700] = 3;
  deep.strides.assign(1000, 0);
  deep.strides[3] = 1;
  deep.strides[700] = 2;
  runOk(model, {deep.get()});
  EXPECT_EQ(seen.sizes, deep.shape);
  EXPECT_THAT(seen.floats, ElementsAre(0, 2, 4, 1, 3, 5));
}

TEST(Input, LongNamesAndShapesAreCut) {
  std::string name(3000, 'n');
  TestModel model(doNothing);
  model.input(name.c_str(), kF32, {open()});
  TestTensor<float> x(kF64, {1}, {1, 2});
  std::string message = getInputError(model, {x.get()});
  EXPECT_EQ(message.size(), sizeof(loopc_error::message) - 1);
  // A character of three bytes is not cut in the middle.
  for (int extra = 0; extra < 3; ++extra) {
    name.assign(static_cast<size_t>(extra), 'n');
    for (int i = 0; i < 1000; ++i)
      name += "\xE2\x82\xAC";
    TestModel euros(doNothing);
    euros.input(name.c_str(), kF32, {open()});
    message = getInputError(euros, {x.get()});
    EXPECT_EQ(message.substr(message.size() - 3), "\xE2\x82\xAC");
    EXPECT_GE(message.size(), sizeof(loopc_error::message) - 3);
  }
  TestModel unranked(doNothing);
  unranked.unrankedInput("x", kF32);
  TestTensor<float> big(kF32, std::vector<int64_t>(200, 1000000000), {0});
  message = getInputError(unranked, {big.get()});
  EXPECT_THAT(message, HasSubstr("[1000000000, 1000000000, "));
  EXPECT_THAT(message, HasSubstr(", ...] has too many elements"));
}

TEST(Input, AbsentTakesItsDefault) {
  const float values[] = {1, 2, 3};
  TestModel model(lookAtFloats<1>);
  model.input("x", kF32, {open()}).defaultsTo(values, {3});
  std::vector<loopc_value> outputs;
  EXPECT_EQ(runModel(model, {loopc_value{}}, outputs).status, LOOPC_OK);
  EXPECT_EQ(seen.data, values);
  EXPECT_THAT(seen.floats, ElementsAre(1, 2, 3));
  // What is given wins.
  TestTensor<float> x(kF32, {2}, {8, 9});
  EXPECT_EQ(runModel(model, {x.get()}, outputs).status, LOOPC_OK);
  EXPECT_THAT(seen.floats, ElementsAre(8, 9));
}

TEST(Input, AbsentWithoutDefault) {
  const float values[] = {1, 2, 3};
  TestModel model(doNothing);
  model.input("x", kF32, {open()}).defaultsTo(values, {3});
  model.input("y", kF32, {open()});
  EXPECT_EQ(getInputError(model, {loopc_value{}, loopc_value{}}),
            "input 'y' (#1): kind none, expected tensor");
}

TEST(Input, NamedDimensionsOfDefaults) {
  const float values[] = {1, 2, 3};
  TestModel model(doNothing);
  model.input("x", kF32, {named("N")}).defaultsTo(values, {3});
  model.input("y", kF32, {named("N")});
  TestTensor<float> y(kF32, {2}, {8, 9});
  EXPECT_THAT(
      getInputError(model, {loopc_value{}, y.get()}, LOOPC_ERROR_DIM_NAME),
      HasSubstr("is 2 but input 'x' has 3"));
}

TEST(Input, DefaultOfUnknownRank) {
  const float values[] = {1, 2, 3, 4};
  TestModel model([](void *, void **inputs, void **) {
    auto *slot = static_cast<UnrankedSlot *>(inputs[0]);
    return int32_t(slot->elements.sizes[0] != 4 || slot->shape.sizes[0] != 2 ||
                   slot->shape.data<int64_t>()[1] != 2);
  });
  model.unrankedInput("x", kF32).defaultsTo(values, {2, 2});
  std::vector<loopc_value> outputs;
  EXPECT_EQ(runModel(model, {loopc_value{}}, outputs).status, LOOPC_OK);
}

} // namespace
