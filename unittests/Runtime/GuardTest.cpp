//===- GuardTest.cpp - Buffers that end where memory is unreadable --------===//
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
using testing::HasSubstr;

namespace {

Outcome runGuarded(Entry entry) {
  TestModel model(entry);
  model.model.flags = LOOPC_MODEL_GUARDED;
  std::vector<loopc_value> outputs;
  return runModel(model, {}, outputs);
}

volatile char *allocateBytes(void *run, int64_t bytes) {
  return static_cast<volatile char *>(
      loopc_rt_alloc(static_cast<loopc_run *>(run), bytes));
}

TEST(Guard, MemoryIsAlignedAndFullOfOnes) {
  Outcome outcome = runGuarded([](void *run, void **, void **) {
    for (int64_t size : {0, 1, 63, 64, 65, 4032, 4096, 100000}) {
      volatile char *data = allocateBytes(run, size);
      EXPECT_NE(data, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
      EXPECT_EQ(std::count(data, data + size, char(-1)), size);
      std::fill(data, data + size, 1);
    }
    return int32_t{0};
  });
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
}

// The bytes between the end and the page are looked at when the block is
// freed, and where the run ends.
TEST(Guard, WritesRightBehindABlockAreErrors) {
  Outcome freed = runGuarded([](void *run, void **, void **) {
    volatile char *data = allocateBytes(run, 100);
    data[101] = 1;
    loopc_rt_free(static_cast<loopc_run *>(run), const_cast<char *>(data));
    return int32_t{0};
  });
  EXPECT_EQ(freed.status, LOOPC_ERROR_RUNTIME);
  EXPECT_THAT(freed.message, HasSubstr("byte 101 of a buffer of 100 bytes"));
  Outcome live = runGuarded([](void *run, void **, void **) {
    allocateBytes(run, 100)[127] = 1;
    return int32_t{0};
  });
  EXPECT_EQ(live.status, LOOPC_ERROR_RUNTIME);
  EXPECT_THAT(live.message, HasSubstr("byte 127 of a buffer of 100 bytes"));
}

// More blocks than addresses are kept for.
TEST(Guard, ManyBlocksOneAfterAnother) {
  Outcome outcome = runGuarded([](void *run, void **, void **) {
    for (int k = 0; k < 20000; ++k)
      loopc_rt_free(static_cast<loopc_run *>(run),
                    const_cast<char *>(allocateBytes(run, 5000)));
    return int32_t{0};
  });
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
}

// More blocks at a time than the system has mappings for: the others lie where
// they do without guards.
TEST(Guard, ManyBlocksAtATime) {
  Outcome outcome = runGuarded([](void *run, void **, void **) {
    for (int k = 0; k < 70000; ++k)
      if (!allocateBytes(run, 8))
        return int32_t{1};
    return int32_t{0};
  });
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
}

TEST(GuardDeathTest, AccessesBeyondThePageEndTheProgram) {
  EXPECT_DEATH(runGuarded([](void *run, void **, void **) {
                 return int32_t{allocateBytes(run, 128)[128]};
               }),
               "");
}

TEST(GuardDeathTest, AccessesToFreedBlocksEndTheProgram) {
  EXPECT_DEATH(runGuarded([](void *run, void **, void **) {
                 volatile char *data = allocateBytes(run, 128);
                 loopc_rt_free(static_cast<loopc_run *>(run),
                               const_cast<char *>(data));
                 return int32_t{data[0]};
               }),
               "");
}

} // namespace
