//===- RepeatsTest.cpp - Layers of a sequence -----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/Repeats.h"
#include "llvm/ADT/SmallVector.h"
#include "gtest/gtest.h"

using namespace loopc;

namespace {

/// What is found in `kinds`, of which each place is worth 1.
std::optional<Repeat> find(llvm::ArrayRef<uint64_t> kinds) {
  llvm::SmallVector<unsigned> counts(kinds.size(), 1);
  return findRepeat(kinds, counts, 0, kinds.size());
}

TEST(RepeatsTest, LayersBetweenOtherPlaces) {
  llvm::SmallVector<uint64_t> kinds{100, 101, 102};
  for (int layer = 0; layer < 5; ++layer)
    for (uint64_t kind : {1, 2, 3, 4, 5, 6, 7})
      kinds.push_back(kind);
  kinds.append({103, 104});
  std::optional<Repeat> found = find(kinds);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->begin, 3U);
  EXPECT_EQ(found->end, 38U);
  EXPECT_EQ(found->period, 7U);
}

TEST(RepeatsTest, NothingRepeats) {
  llvm::SmallVector<uint64_t> kinds;
  for (uint64_t kind = 0; kind < 40; ++kind)
    kinds.push_back(kind);
  EXPECT_FALSE(find(kinds));
  EXPECT_FALSE(find({}));
}

/// Layers of whose places most are worth little.
TEST(RepeatsTest, WhatIsWorthMost) {
  llvm::SmallVector<uint64_t> kinds;
  for (int k = 0; k < 40; ++k)
    kinds.push_back(1);
  for (int layer = 0; layer < 2; ++layer)
    for (uint64_t kind = 10; kind < 20; ++kind)
      kinds.push_back(kind);
  llvm::SmallVector<unsigned> counts(kinds.size(), 1);
  for (unsigned &count : llvm::MutableArrayRef(counts).drop_front(40))
    count = 100;
  std::optional<Repeat> found = findRepeat(kinds, counts, 0, kinds.size());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->begin, 40U);
  EXPECT_EQ(found->period, 10U);
}

} // namespace
