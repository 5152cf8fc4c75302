//===- CompilerThreadPoolTest.cpp -----------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/CompilerThreadPool.h"
#include "gtest/gtest.h"

#include <atomic>
#include <thread>

using namespace loopc;

// With one thread whoever waits does all of the work.
TEST(CompilerThreadPool, OneThread) {
  CompilerThreadPool pool(1);
  std::thread::id here = std::this_thread::get_id();
  unsigned count = 0;
  for (unsigned k = 0; k < 10; ++k)
    pool.async([&] {
      EXPECT_EQ(std::this_thread::get_id(), here);
      ++count;
    });
  pool.wait();
  EXPECT_EQ(count, 10u);
}

// Tasks wait for groups of their own, more of them than there are threads.
TEST(CompilerThreadPool, NestedGroups) {
  CompilerThreadPool pool(3);
  std::atomic<unsigned> count = 0;
  llvm::ThreadPoolTaskGroup outer(pool);
  for (unsigned k = 0; k < 20; ++k)
    outer.async([&] {
      llvm::ThreadPoolTaskGroup inner(pool);
      std::atomic<unsigned> mine = 0;
      for (unsigned i = 0; i < 10; ++i)
        inner.async([&] { ++mine; });
      inner.wait();
      EXPECT_EQ(mine, 10u);
      count += mine;
    });
  outer.wait();
  EXPECT_EQ(count, 200u);
}

// The end waits for what nobody has waited for.
TEST(CompilerThreadPool, EndWaits) {
  std::atomic<unsigned> count = 0;
  {
    CompilerThreadPool pool(2);
    for (unsigned k = 0; k < 50; ++k)
      pool.async([&] { ++count; });
  }
  EXPECT_EQ(count, 50u);
}
