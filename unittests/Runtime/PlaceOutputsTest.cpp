//===- PlaceOutputsTest.cpp - Results in memory of the caller -------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include <gmock/gmock.h>

#include <optional>
#include <utility>

using namespace loopc::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;

namespace {

/// What the entry below says before it computes.
enum class Says { Shape, Nothing, AnotherShape };
thread_local Says says;
/// Whether it fails behind its allocation.
thread_local bool fails;

/// y = x + 1, of rank 2, in memory for output 0.
int32_t addOne(void *run, void **inputs, void **outputs) {
  auto *self = static_cast<loopc_run *>(run);
  auto &x = getMemRef<2>(inputs[0]);
  int64_t count = x.sizes[0] * x.sizes[1];
  int64_t bytes = count * static_cast<int64_t>(sizeof(float));
  int64_t shape[] = {x.sizes[0], x.sizes[1]};
  if (says == Says::AnotherShape)
    std::swap(shape[0], shape[1]);
  MemRef<2> y = x;
  y.offset = 0;
  y.allocated = y.aligned =
      says == Says::Nothing ? loopc_rt_alloc(self, bytes)
                            : loopc_rt_alloc_output(self, bytes, 0, shape, 2);
  if (!y.aligned)
    return 1;
  if (fails)
    return loopc_rt_fail(self, "on purpose", -1, nullptr, 0);
  // The input is read behind the element that was written before.
  for (int64_t i = 0; i < count; ++i)
    y.data<float>()[i] = x.data<float>()[count - 1 - i] + 1;
  getMemRef<2>(outputs[0]) = y;
  return 0;
}

/// Memory of the caller, aligned as runs want it.
struct Place {
  alignas(64) float data[32] = {};
  size_t offset = 0; ///< elements
  bool isGiven = true;
  int numCalls = 0;
  std::optional<std::vector<int64_t>> shape = std::nullopt;

  float *begin() { return data + offset; }
  loopc_run_options getOptions() {
    loopc_run_options options = makeOptions();
    options.place_output = [](void *context, size_t output,
                              const int64_t *shape, int32_t rank) -> void * {
      auto &self = *static_cast<Place *>(context);
      EXPECT_EQ(output, 0u);
      ++self.numCalls;
      self.shape = std::vector<int64_t>(shape, shape + rank);
      return self.isGiven ? self.begin() : nullptr;
    };
    options.place_context = this;
    return options;
  }
};

class PlaceOutput : public testing::Test {
protected:
  PlaceOutput() : model(addOne), x(kF32, {2, 3}, {1, 2, 3, 4, 5, 6}) {
    says = Says::Shape;
    fails = false;
    model.input("x", kF32, {open(), open()});
    model.output("y", kF32, {open(), open()});
  }

  Outcome run() {
    loopc_run_options options = place.getOptions();
    return runModel(model, {x.get()}, outputs, &options);
  }
  /// Runs, and expects the result in the caller's memory.
  Outcome runInPlace() {
    Outcome outcome = run();
    EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
    EXPECT_EQ(place.numCalls, 1);
    EXPECT_THAT(place.shape, Optional(ElementsAre(2, 3)));
    EXPECT_EQ(outputs[0].as.tensor.data, place.begin());
    EXPECT_THAT(std::vector<float>(place.begin(), place.begin() + 6),
                ElementsAre(7, 6, 5, 4, 3, 2));
    loopc_value_release(&outputs[0]);
    return outcome;
  }

  TestModel model;
  TestTensor<float> x;
  Place place;
  std::vector<loopc_value> outputs = std::vector<loopc_value>(1);
};

TEST_F(PlaceOutput, IsComputedThere) {
  Outcome outcome = runInPlace();
  EXPECT_EQ(outcome.statistics.copied_bytes, 0u);
  EXPECT_EQ(outcome.statistics.allocations, 0u);
}

TEST_F(PlaceOutput, OfUnknownShapeIsCopiedThere) {
  says = Says::Nothing;
  EXPECT_EQ(runInPlace().statistics.copied_bytes, 24u);
}

TEST_F(PlaceOutput, ThatIsNotAlignedIsCopiedThere) {
  place.offset = 1;
  EXPECT_EQ(runInPlace().statistics.copied_bytes, 24u);
}

TEST_F(PlaceOutput, InAnInputIsCopiedThere) {
  // The input is the end of the same memory.
  for (int i = 0; i < 6; ++i)
    place.data[3 + i] = x.data[i];
  loopc_value value = x.get();
  value.as.tensor.data = place.data + 3;
  loopc_run_options options = place.getOptions();
  Outcome outcome = runModel(model, {value}, outputs, &options);
  ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_THAT(getData<float>(outputs[0], 6), ElementsAre(7, 6, 5, 4, 3, 2));
  EXPECT_EQ(outputs[0].as.tensor.data, place.data);
  EXPECT_EQ(outcome.statistics.copied_bytes, 24u);
  loopc_value_release(&outputs[0]);
}

TEST_F(PlaceOutput, ThatTheCallerHasNotIsTheRuns) {
  place.isGiven = false;
  Outcome outcome = run();
  ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_EQ(place.numCalls, 1);
  EXPECT_THAT(getData<float>(outputs[0], 6), ElementsAre(7, 6, 5, 4, 3, 2));
  loopc_value_release(&outputs[0]);
}

TEST_F(PlaceOutput, WithoutElementsIsAskedForAtTheEnd) {
  // What is said of a tensor without elements need not be its shape.
  says = Says::AnotherShape;
  x = TestTensor<float>(kF32, {0, 3}, {});
  Outcome outcome = run();
  ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_THAT(place.shape, Optional(ElementsAre(0, 3)));
  loopc_value_release(&outputs[0]);
}

TEST_F(PlaceOutput, OfAnotherShapeIsAnError) {
  says = Says::AnotherShape;
  Outcome outcome = run();
  EXPECT_EQ(outcome.status, LOOPC_ERROR_ABI);
  EXPECT_THAT(outcome.message, HasSubstr("shape [2, 3], and had said [3, 2]"));
  EXPECT_EQ(outputs[0].kind, 0);
}

TEST_F(PlaceOutput, OfARunThatFailsIsNoOutput) {
  fails = true;
  EXPECT_EQ(run().status, LOOPC_ERROR_RUNTIME);
  EXPECT_EQ(outputs[0].kind, 0);
}

TEST_F(PlaceOutput, OfAStateIsNotAskedFor) {
  model.model.num_states = 1;
  model.defaultsTo(place.data, {2, 3});
  Outcome outcome = run();
  ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_EQ(place.numCalls, 0);
  loopc_value_release(&outputs[0]);
}

TEST_F(PlaceOutput, ThatCameWithTheCallIsTakenWhereItFits) {
  int64_t shape[2] = {4, 3};
  loopc_value buffer = x.get();
  buffer.as.tensor.shape = shape;
  buffer.as.tensor.data = place.data;
  outputs = {buffer};
  Outcome outcome = run();
  ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_EQ(place.numCalls, 0);
  EXPECT_EQ(outcome.statistics.copied_bytes, 0u);
  EXPECT_THAT(shape, ElementsAre(2, 3));
  EXPECT_THAT(getData<float>(outputs[0], 6), ElementsAre(7, 6, 5, 4, 3, 2));
  // Too small: nothing is written there.
  place.data[0] = -1;
  shape[0] = shape[1] = 2;
  EXPECT_EQ(run().status, LOOPC_ERROR_OUTPUT);
  EXPECT_EQ(place.data[0], -1);
}

} // namespace
