//===- CudaProductTest.cpp - What cuBLAS is asked for ---------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops of products as calls, and products that are none. test_cublas.py runs
// them.
//
//===----------------------------------------------------------------------===//

#include "Runtime/CUDA/Cublas.h"

#include <gtest/gtest.h>

#include <vector>

using namespace loopc::rt::cuda;

namespace {

struct Loop {
  int64_t role, trips, left, right, result;
};

loopc_cuda_product make(const std::vector<Loop> &loops,
                        int64_t kind = LOOPC_CUDA_PRODUCT_F32) {
  loopc_cuda_product product = {};
  product.left = 0x1000;
  product.right = 0x2000;
  product.result = 0x3000;
  product.kind = kind;
  product.num_loops = static_cast<int64_t>(loops.size());
  for (size_t k = 0; k < loops.size(); ++k) {
    auto &loop = product.loops[k];
    loop.role = loops[k].role;
    loop.trips = loops[k].trips;
    loop.left = loops[k].left;
    loop.right = loops[k].right;
    loop.result = loops[k].result;
  }
  return product;
}

/// 6 x 20 times 20 x 8, all rows behind each other.
std::vector<Loop> plain() {
  return {{LOOPC_CUDA_ROWS, 6, 20, 0, 8},
          {LOOPC_CUDA_COLUMNS, 8, 0, 1, 1},
          {LOOPC_CUDA_SUM, 20, 1, 8, 0}};
}

TEST(CudaProductTest, RowsBehindEachOther) {
  CublasProduct call;
  ASSERT_TRUE(describeProduct(make(plain()), call));
  // Its transpose, to a library that has columns behind each other.
  EXPECT_EQ(call.rows, 8);
  EXPECT_EQ(call.columns, 6);
  EXPECT_EQ(call.depth, 20);
  EXPECT_EQ(call.batch, 1);
  EXPECT_EQ(call.first.data, 0x2000);
  EXPECT_EQ(call.first.leading, 8);
  EXPECT_FALSE(call.first.isTurned);
  EXPECT_EQ(call.second.data, 0x1000);
  EXPECT_EQ(call.second.leading, 20);
  EXPECT_FALSE(call.second.isTurned);
  EXPECT_EQ(call.result.leading, 8);
}

TEST(CudaProductTest, ColumnsBehindEachOther) {
  std::vector<Loop> loops = {{LOOPC_CUDA_ROWS, 6, 1, 0, 1},
                             {LOOPC_CUDA_COLUMNS, 8, 0, 20, 6},
                             {LOOPC_CUDA_SUM, 20, 6, 1, 0}};
  CublasProduct call;
  ASSERT_TRUE(describeProduct(make(loops), call));
  EXPECT_EQ(call.rows, 6);
  EXPECT_EQ(call.columns, 8);
  EXPECT_EQ(call.first.data, 0x1000);
  EXPECT_FALSE(call.first.isTurned);
  EXPECT_EQ(call.first.leading, 6);
  EXPECT_FALSE(call.second.isTurned);
  EXPECT_EQ(call.second.leading, 20);
}

TEST(CudaProductTest, TurnedFactors) {
  std::vector<Loop> loops = plain();
  loops[0].left = 1, loops[2].left = 6;
  loops[1].right = 20, loops[2].right = 1;
  CublasProduct call;
  ASSERT_TRUE(describeProduct(make(loops), call));
  EXPECT_TRUE(call.first.isTurned);
  EXPECT_EQ(call.first.leading, 20);
  EXPECT_TRUE(call.second.isTurned);
  EXPECT_EQ(call.second.leading, 6);
}

TEST(CudaProductTest, LoopsOfOneKind) {
  // Rows in two loops, one behind the other, and a batch that shares a factor.
  std::vector<Loop> loops = plain();
  loops[0] = {LOOPC_CUDA_ROWS, 3, 40, 0, 16};
  loops.insert(loops.begin() + 1, {LOOPC_CUDA_ROWS, 2, 20, 0, 8});
  loops.insert(loops.begin(), {LOOPC_CUDA_BATCH, 5, 120, 0, 48});
  CublasProduct call;
  ASSERT_TRUE(describeProduct(make(loops), call));
  EXPECT_EQ(call.columns, 6);
  EXPECT_EQ(call.batch, 5);
  EXPECT_EQ(call.second.step, 120);
  EXPECT_EQ(call.first.step, 0);
  EXPECT_EQ(call.result.step, 48);
  // With a gap between them they are two, and there is a batch already.
  loops[1].left = 41;
  EXPECT_FALSE(describeProduct(make(loops), call));
  loops.erase(loops.begin());
  ASSERT_TRUE(describeProduct(make(loops), call));
  EXPECT_EQ(call.columns, 2);
  EXPECT_EQ(call.batch, 3);
  EXPECT_EQ(call.second.step, 41);
}

TEST(CudaProductTest, Vectors) {
  std::vector<Loop> loops = plain();
  loops[0] = {LOOPC_CUDA_ROWS, 1, 0, 0, 0};
  CublasProduct call;
  ASSERT_TRUE(describeProduct(make(loops), call));
  EXPECT_EQ(call.columns, 1);
  EXPECT_EQ(call.second.leading, 20);
  EXPECT_EQ(call.result.leading, 8);
}

TEST(CudaProductTest, OtherProducts) {
  CublasProduct call;
  // Neither rows nor columns lie without gaps.
  std::vector<Loop> loops = plain();
  loops[2].left = 2;
  EXPECT_FALSE(describeProduct(make(loops), call));
  // One row for all.
  loops = plain();
  loops[0].left = 0;
  EXPECT_FALSE(describeProduct(make(loops), call));
  // From end to beginning.
  loops = plain();
  loops[0].left = -20;
  EXPECT_FALSE(describeProduct(make(loops), call));
  // Nothing to sum up, and more than the library counts.
  loops = plain();
  loops[2].trips = 0;
  EXPECT_FALSE(describeProduct(make(loops), call));
  loops = plain();
  loops[0].trips = int64_t{1} << 31;
  EXPECT_FALSE(describeProduct(make(loops), call));
  EXPECT_FALSE(describeProduct(make(plain(), 99), call));
}

TEST(CudaProductTest, BytesInWords) {
  CublasProduct call;
  std::vector<Loop> loops = plain();
  ASSERT_TRUE(describeProduct(make(loops, LOOPC_CUDA_PRODUCT_I8), call));
  EXPECT_EQ(call.factorType, 3);
  EXPECT_EQ(call.resultType, 10);
  EXPECT_EQ(call.sumType, 72);
  loops[0].left = 21;
  EXPECT_FALSE(describeProduct(make(loops, LOOPC_CUDA_PRODUCT_I8), call));
  EXPECT_TRUE(describeProduct(make(loops), call));
}

} // namespace
