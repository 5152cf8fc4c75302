//===- CopyTest.cpp - Strided copies --------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include <gmock/gmock.h>

#include <algorithm>

using namespace loopc::test;

namespace {

/// A memref of any rank: its descriptor as words.
struct AnyMemRef {
  AnyMemRef(void *data, int64_t offset, const std::vector<int64_t> &sizes,
            const std::vector<int64_t> &strides) {
    words = {static_cast<int64_t>(reinterpret_cast<intptr_t>(data)),
             static_cast<int64_t>(reinterpret_cast<intptr_t>(data)), offset};
    words.insert(words.end(), sizes.begin(), sizes.end());
    words.insert(words.end(), strides.begin(), strides.end());
    unranked.rank = static_cast<int64_t>(sizes.size());
    unranked.descriptor = words.data();
  }
  AnyMemRef(const AnyMemRef &) = delete;

  std::vector<int64_t> words;
  struct {
    int64_t rank;
    void *descriptor;
  } unranked;
};

/// Strides of a layout in which `order` lists the dimensions, outermost first,
/// with `gap` unused elements after each innermost row.
std::vector<int64_t> makeStrides(const std::vector<int64_t> &sizes,
                                 const std::vector<size_t> &order,
                                 int64_t gap) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= sizes[order[i]];
    if (i + 1 == order.size())
      stride += gap;
  }
  return strides;
}

int64_t getSpan(const std::vector<int64_t> &sizes,
                const std::vector<int64_t> &strides) {
  int64_t span = 1;
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    span += (sizes[dim] - 1) * std::abs(strides[dim]);
  return span;
}

/// What the copy under test is to do; entries take no arguments.
struct Task {
  const AnyMemRef *src;
  const AnyMemRef *dst;
  int64_t elementBytes;
};
thread_local Task task;

uint64_t copy(const AnyMemRef &src, const AnyMemRef &dst,
              int64_t elementBytes) {
  task = {&src, &dst, elementBytes};
  TestModel model([](void *run, void **, void **) {
    loopc_rt_copy(static_cast<loopc_run *>(run), task.elementBytes,
                  &task.src->unranked, &task.dst->unranked);
    return int32_t{0};
  });
  std::vector<loopc_value> outputs;
  Outcome outcome = runModel(model, {}, outputs);
  EXPECT_EQ(outcome.status, LOOPC_OK);
  return outcome.statistics.copied_bytes;
}

/// Copies between the two layouts and compares element by element; whatever
/// lies between elements must stay as it was.
void testCopy(const std::vector<int64_t> &sizes,
              std::vector<int64_t> srcStrides, std::vector<int64_t> dstStrides,
              size_t elementBytes, bool backwards = false) {
  int64_t srcSpan = getSpan(sizes, srcStrides);
  int64_t dstSpan = getSpan(sizes, dstStrides);
  int64_t srcOffset = 3;
  int64_t dstOffset = 2;
  if (backwards) {
    srcOffset += srcSpan - 1;
    for (int64_t &stride : srcStrides)
      stride = -stride;
  }
  std::vector<unsigned char> src(static_cast<size_t>(srcSpan + 6) *
                                 elementBytes);
  std::vector<unsigned char> dst(
      static_cast<size_t>(dstSpan + 4) * elementBytes, 0xEE);
  for (size_t i = 0; i < src.size(); ++i)
    src[i] = static_cast<unsigned char>(i * 7 + i / 251);
  std::vector<unsigned char> expected = dst;
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  for (int64_t k = 0; k < count; ++k) {
    int64_t rest = k;
    int64_t from = srcOffset;
    int64_t to = dstOffset;
    for (size_t dim = sizes.size(); dim-- > 0;) {
      from += rest % sizes[dim] * srcStrides[dim];
      to += rest % sizes[dim] * dstStrides[dim];
      rest /= sizes[dim];
    }
    memcpy(&expected[static_cast<size_t>(to) * elementBytes],
           &src[static_cast<size_t>(from) * elementBytes], elementBytes);
  }
  AnyMemRef srcRef(src.data(), srcOffset, sizes, srcStrides);
  AnyMemRef dstRef(dst.data(), dstOffset, sizes, dstStrides);
  uint64_t copied = copy(srcRef, dstRef, static_cast<int64_t>(elementBytes));
  EXPECT_EQ(copied, static_cast<uint64_t>(count) * elementBytes);
  EXPECT_TRUE(dst == expected)
      << "sizes " << testing::PrintToString(sizes) << " from "
      << testing::PrintToString(srcStrides) << " to "
      << testing::PrintToString(dstStrides) << ", " << elementBytes << " bytes";
}

TEST(Copy, RankZero) { testCopy({}, {}, {}, 4); }

TEST(Copy, EveryRank) {
  const int64_t extents[] = {2, 3, 1, 4, 2, 1, 3, 2};
  for (size_t rank = 0; rank <= 8; ++rank) {
    std::vector<int64_t> sizes(extents, extents + rank);
    std::vector<size_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::vector<size_t> reversed(order.rbegin(), order.rend());
    std::vector<size_t> rotated = order;
    if (rank > 2)
      std::rotate(rotated.begin(), rotated.begin() + 2, rotated.end());
    for (size_t bytes : {1, 2, 3, 4, 8, 12, 16})
      for (const auto &from : {order, reversed, rotated})
        for (const auto &to : {order, reversed, rotated})
          for (int64_t gap : {0, 1})
            testCopy(sizes, makeStrides(sizes, from, gap),
                     makeStrides(sizes, to, 1 - gap), bytes, gap == 1);
  }
}

TEST(Copy, Transposes) {
  for (size_t bytes : {1, 2, 4, 8, 16, 20})
    for (int64_t rows : {3, 4, 15, 16, 17, 50})
      for (int64_t columns : {3, 5, 16, 33})
        testCopy({rows, columns}, {1, rows}, {columns, 1}, bytes);
  // Batches of them, also with the batch inside.
  testCopy({3, 20, 18}, {360, 1, 20}, {360, 18, 1}, 4);
  testCopy({20, 3, 18}, {1, 20, 60}, {54, 18, 1}, 4);
  testCopy({20, 18, 3}, {1, 20, 360}, {54, 3, 1}, 4);
}

TEST(Copy, HighRanks) {
  std::vector<int64_t> sizes(100, 1);
  sizes[1] = sizes[50] = sizes[99] = 3;
  std::vector<int64_t> srcStrides(100, 12345);
  std::vector<int64_t> dstStrides(100, -999);
  srcStrides[1] = 1, srcStrides[50] = 3, srcStrides[99] = 9;
  dstStrides[1] = 9, dstStrides[50] = 3, dstStrides[99] = 1;
  testCopy(sizes, srcStrides, dstStrides, 4);
  // Twenty dimensions none of which go together.
  std::vector<int64_t> deep(16, 2);
  std::vector<int64_t> forward(16);
  std::vector<int64_t> backward(16);
  for (size_t dim = 0; dim < 16; ++dim) {
    forward[dim] = INT64_C(1) << (15 - dim);
    backward[dim] = INT64_C(1) << dim;
  }
  testCopy(deep, forward, backward, 4);
}

TEST(Copy, Broadcast) {
  testCopy({5, 7}, {0, 1}, {7, 1}, 4);
  testCopy({5, 7}, {1, 0}, {7, 1}, 4);
  testCopy({5, 7}, {0, 0}, {7, 1}, 4);
}

TEST(Copy, NoElements) {
  std::vector<float> data(10, 1);
  AnyMemRef src(data.data(), 0, {2, 0, INT64_MAX}, {1, 1, 1});
  AnyMemRef dst(nullptr, 0, {2, 0, INT64_MAX}, {1, 1, 1});
  EXPECT_EQ(copy(src, dst, 4), 0u);
  AnyMemRef large(data.data(), 0, {0, INT64_MAX, INT64_MAX}, {1, 1, 1});
  EXPECT_EQ(copy(large, large, 4), 0u);
}

TEST(Copy, OntoItself) {
  std::vector<float> data = {1, 2, 3, 4};
  AnyMemRef src(data.data(), 0, {2, 2}, {2, 1});
  AnyMemRef dst(data.data(), 0, {2, 2}, {2, 1});
  EXPECT_EQ(copy(src, dst, 4), 0u);
  EXPECT_THAT(data, testing::ElementsAre(1, 2, 3, 4));
}

} // namespace
