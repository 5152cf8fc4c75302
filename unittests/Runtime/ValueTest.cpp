//===- ValueTest.cpp - Values that the runtime allocates ------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values of nested kinds are made with the runtime's own functions: what a
// run returns is released by the same code.
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include "Runtime/CPU/Value.h"

#include <gmock/gmock.h>

using namespace loopc::rt;
using namespace loopc::test;
using testing::ElementsAre;

namespace {

loopc_value makeFloats(CountingAllocator &allocator,
                       std::vector<int64_t> shape) {
  loopc_value value = {};
  EXPECT_TRUE(makeTensor(allocator.table, kF32,
                         static_cast<int32_t>(shape.size()), shape.data(), 40,
                         nullptr, value));
  memset(value.as.tensor.data, 1, 40);
  return value;
}

TEST(Value, NullIsIgnored) {
  loopc_value_release(nullptr);
  loopc_value value = {};
  loopc_value_release(&value);
  EXPECT_TRUE(isZero(value));
}

TEST(Value, CallersValuesAreLeftAlone) {
  TestTensor<float> x(kF32, {2}, {1, 2});
  loopc_value value = x.get();
  loopc_value_release(&value);
  EXPECT_EQ(value.as.tensor.data, x.data.data());
}

TEST(Value, OtherReleaseFunctionsAreCalled) {
  loopc_value value = {};
  int calls = 0;
  value.context = &calls;
  value.release = [](loopc_value *self) {
    ++*static_cast<int *>(self->context);
    memset(self, 0, sizeof(*self));
  };
  loopc_value_release(&value);
  loopc_value_release(&value);
  EXPECT_EQ(calls, 1);
}

TEST(Value, Tensor) {
  CountingAllocator allocator;
  loopc_value value = makeFloats(allocator, {2, 5});
  EXPECT_THAT(getShape(value), ElementsAre(2, 5));
  EXPECT_GE(allocator.liveBytes, 40u);
  // What the caller does to the descriptor does not matter.
  value.as.tensor.data = nullptr;
  value.as.tensor.shape = nullptr;
  loopc_value_release(&value);
  EXPECT_TRUE(isZero(value));
  EXPECT_EQ(allocator.liveBytes, 0u);
}

TEST(Value, Strings) {
  CountingAllocator allocator;
  loopc_value value = {};
  int64_t shape[] = {1, 3};
  char *text;
  ASSERT_TRUE(makeStrings(allocator.table, 2, shape, 3, 8, value, text));
  EXPECT_EQ(value.kind, LOOPC_STRINGS);
  EXPECT_EQ(value.as.strings.ndim, 2);
  EXPECT_EQ(value.as.strings.shape[1], 3);
  memcpy(text, "oneTHREE", 8);
  value.as.strings.data[0] = {text, 3};
  value.as.strings.data[2] = {text + 3, 5};
  EXPECT_EQ(value.as.strings.data[1].size, 0u);
  loopc_value_release(&value);
  EXPECT_TRUE(isZero(value));
  EXPECT_EQ(allocator.liveBytes, 0u);
  int64_t none[] = {0};
  ASSERT_TRUE(makeStrings(allocator.table, 1, none, 0, 0, value, text));
  loopc_value_release(&value);
  EXPECT_EQ(allocator.numAllocated, allocator.numFreed);
}

TEST(Value, NestedValuesAreReleased) {
  CountingAllocator allocator;
  // optional(sequence(tensor, tensor, nothing, optional(tensor), a tensor of
  // the caller's)).
  TestTensor<float> mine(kF32, {2}, {1, 2});
  loopc_value value = {};
  ASSERT_TRUE(makeOptional(allocator.table, true, value));
  EXPECT_EQ(value.kind, LOOPC_OPTIONAL);
  loopc_value &sequence = *value.as.optional.value;
  EXPECT_TRUE(isZero(sequence));
  ASSERT_TRUE(makeSequence(allocator.table, 5, sequence));
  EXPECT_EQ(sequence.kind, LOOPC_SEQUENCE);
  ASSERT_EQ(sequence.as.sequence.count, 5u);
  loopc_value *items = sequence.as.sequence.items;
  for (int i = 0; i < 5; ++i)
    EXPECT_TRUE(isZero(items[i]));
  items[0] = makeFloats(allocator, {1});
  items[1] = makeFloats(allocator, {});
  ASSERT_TRUE(makeOptional(allocator.table, true, items[3]));
  *items[3].as.optional.value = makeFloats(allocator, {3});
  items[4] = mine.get();
  loopc_value_release(&value);
  EXPECT_TRUE(isZero(value));
  EXPECT_EQ(allocator.liveBytes, 0u);
  EXPECT_EQ(allocator.numAllocated, allocator.numFreed);
  EXPECT_THAT(mine.data, ElementsAre(1, 2));
}

TEST(Value, ReleaseIgnoresChangesToNestedDescriptors) {
  CountingAllocator allocator;
  loopc_value value = {};
  ASSERT_TRUE(makeSequence(allocator.table, 2, value));
  value.as.sequence.items[0] = makeFloats(allocator, {1});
  value.as.sequence.items[1] = makeFloats(allocator, {1});
  // An item that was moved out is the caller's to release.
  loopc_value moved = value.as.sequence.items[0];
  value.as.sequence.items[0] = {};
  value.as.sequence.count = 0;
  loopc_value_release(&value);
  EXPECT_GT(allocator.liveBytes, 0u);
  loopc_value_release(&moved);
  EXPECT_EQ(allocator.liveBytes, 0u);
}

TEST(Value, EmptyCollections) {
  CountingAllocator allocator;
  loopc_value value = {};
  ASSERT_TRUE(makeSequence(allocator.table, 0, value));
  EXPECT_EQ(value.as.sequence.items, nullptr);
  loopc_value_release(&value);
  ASSERT_TRUE(makeOptional(allocator.table, false, value));
  EXPECT_EQ(value.as.optional.value, nullptr);
  loopc_value_release(&value);
  EXPECT_EQ(allocator.numAllocated, allocator.numFreed);
}

TEST(Value, NoMemory) {
  int64_t shape[] = {2};
  char *text;
  for (size_t failAt = 0; failAt < 2; ++failAt) {
    CountingAllocator allocator;
    allocator.failAt = failAt;
    loopc_value value = {};
    EXPECT_FALSE(
        makeTensor(allocator.table, kF32, 1, shape, 8, nullptr, value));
    EXPECT_FALSE(makeStrings(allocator.table, 1, shape, 2, 9, value, text));
    EXPECT_FALSE(makeSequence(allocator.table, 2, value));
    EXPECT_FALSE(makeOptional(allocator.table, true, value));
    EXPECT_TRUE(isZero(value));
    EXPECT_EQ(allocator.liveBytes, 0u);
  }
  CountingAllocator allocator;
  loopc_value value = {};
  EXPECT_FALSE(makeSequence(allocator.table, SIZE_MAX / 8, value));
  EXPECT_FALSE(
      makeStrings(allocator.table, 1, shape, SIZE_MAX / 8, 0, value, text));
  EXPECT_EQ(allocator.numAllocated, 0u);
}

TEST(Value, DefaultAllocator) {
  loopc_allocator allocator = getDefaultAllocator();
  for (size_t alignment : {8, 16, 64, 4096}) {
    void *memory = allocator.allocate(allocator.context, 100, alignment);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0u);
    allocator.deallocate(allocator.context, memory, 100);
  }
  EXPECT_EQ(allocator.allocate(allocator.context, SIZE_MAX - 3, 64), nullptr);
}

} // namespace
