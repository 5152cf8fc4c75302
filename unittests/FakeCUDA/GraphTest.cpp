//===- GraphTest.cpp - Graphs of kernels and conditions -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCudaTest.h"

namespace {

/// Two kernels on words: add(p, k): *p += k; and test(p, n, handle): the handle
/// is whether *p < n.
constexpr char kKernels[] = R"(
.version 8.1
.target sm_80
.address_size 64

.extern .func cudaGraphSetConditional (.param .b64 h, .param .b32 v);

.visible .entry add(.param .u64 p, .param .u64 k)
{
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [p];
  ld.param.u64 %d2, [k];
  ld.global.u64 %d3, [%d1];
  add.u64 %d3, %d3, %d2;
  st.global.u64 [%d1], %d3;
  ret;
}

.visible .entry test(.param .u64 p, .param .u64 n, .param .u64 handle)
{
  .reg .pred %p<2>;
  .reg .b32 %r<2>;
  .reg .b64 %d<5>;
  ld.param.u64 %d1, [p];
  ld.param.u64 %d2, [n];
  ld.param.u64 %d3, [handle];
  ld.global.u64 %d4, [%d1];
  setp.lt.u64 %p1, %d4, %d2;
  selp.u32 %r1, 1, 0, %p1;
  {
  .param .b64 h;
  st.param.b64 [h], %d3;
  .param .b32 v;
  st.param.b32 [v], %r1;
  call.uni cudaGraphSetConditional, (h, v);
  }
  ret;
}
)";

class GraphTest : public FakeCudaTest {
protected:
  void SetUp() override {
    FakeCudaTest::SetUp();
    ASSERT_EQ(load(kKernels), CUDA_SUCCESS) << error;
    ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    words = upload(std::vector<uint64_t>(4, 0));
  }

  using Nodes = std::vector<CUgraphNode>;

  CUresult add(CUgraph to, CUgraphNodeParams &params, const Nodes &after,
               CUgraphNode *node = nullptr) {
    CUgraphNode made = nullptr;
    CUresult result = cuGraphAddNode_v2(&made, to, after.data(), nullptr,
                                        after.size(), &params);
    if (node)
      *node = made;
    return result;
  }

  CUgraphNode kernel(CUgraph to, const char *name, const Nodes &after,
                     std::vector<uint64_t> arguments, unsigned threads = 1) {
    std::vector<void *> places;
    for (uint64_t &argument : arguments)
      places.push_back(&argument);
    CUgraphNodeParams params = {};
    params.type = CU_GRAPH_NODE_TYPE_KERNEL;
    params.kernel = {function(name), 1,       1,       1,      threads, 1, 1, 0,
                     places.data(),  nullptr, nullptr, nullptr};
    CUgraphNode node = nullptr;
    EXPECT_EQ(add(to, params, after, &node), CUDA_SUCCESS);
    return node;
  }

  CUgraphConditionalHandle handle(CUgraph in, unsigned value = 0,
                                  unsigned flags = 0) {
    CUgraphConditionalHandle made = 0;
    EXPECT_EQ(cuGraphConditionalHandleCreate(&made, in, context, value, flags),
              CUDA_SUCCESS);
    return made;
  }

  /// A node, and the graph of its body.
  CUresult condition(CUgraph to, int type, CUgraphConditionalHandle of,
                     const Nodes &after, CUgraph &body,
                     CUgraphNode *node = nullptr) {
    CUgraphNodeParams params = {};
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional = {of, type, 1, nullptr, context};
    CUresult result = add(to, params, after, node);
    body = result == CUDA_SUCCESS ? params.conditional.phGraph_out[0] : nullptr;
    return result;
  }

  CUresult runGraph() {
    CUgraphExec exec = nullptr;
    if (CUresult result = cuGraphInstantiateWithFlags(&exec, graph, 0))
      return result;
    if (CUresult result = cuGraphLaunch(exec, nullptr))
      return result;
    CUresult result = cuCtxSynchronize();
    EXPECT_TRUE(result || cuGraphExecDestroy(exec) == CUDA_SUCCESS);
    return result;
  }

  uint64_t word(int k) { return download<uint64_t>(words, 4)[k]; }

  CUgraph graph = nullptr;
  CUdeviceptr words = 0;
};

TEST_F(GraphTest, kernelsInOrder) {
  CUgraphNode first = kernel(graph, "add", {}, {words, 3});
  kernel(graph, "add", {first}, {words, 4});
  EXPECT_EQ(runGraph(), CUDA_SUCCESS);
  EXPECT_EQ(word(0), 7u);
  EXPECT_EQ(runGraph(), CUDA_SUCCESS);
  EXPECT_EQ(word(0), 14u);
  fake_cuda_statistics_t counts;
  fake_cuda_statistics(&counts);
  EXPECT_EQ(counts.graph_launches, 2u);
  EXPECT_EQ(counts.graph_kernels, 4u);
  EXPECT_EQ(counts.launches, 0u);
  EXPECT_EQ(counts.live_graphs, 1u);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_ERROR_INVALID_HANDLE);
}

/// Nodes that nothing puts in order do not run in the order of the program.
TEST_F(GraphTest, forgottenDependency) {
  auto loop = handle(graph);
  CUgraph body;
  kernel(graph, "test", {}, {words, 5, loop});
  ASSERT_EQ(condition(graph, CU_GRAPH_COND_TYPE_WHILE, loop, {}, body),
            CUDA_SUCCESS);
  EXPECT_EQ(runGraph(), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_THAT(fake_cuda_last_fault(), testing::HasSubstr("was never set"));
}

TEST_F(GraphTest, loops) {
  for (uint64_t trips : {0, 1, 7}) {
    ASSERT_EQ(cuMemsetD8_v2(words, 0, 32), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    auto loop = handle(graph);
    CUgraphNode begin = kernel(graph, "test", {}, {words, trips, loop}), node;
    CUgraph body;
    ASSERT_EQ(
        condition(graph, CU_GRAPH_COND_TYPE_WHILE, loop, {begin}, body, &node),
        CUDA_SUCCESS);
    CUgraphNode next = kernel(body, "add", {}, {words, 1});
    kernel(body, "test", {next}, {words, trips, loop});
    kernel(graph, "add", {node}, {words + 8, 100});
    EXPECT_EQ(runGraph(), CUDA_SUCCESS);
    EXPECT_EQ(word(0), trips);
    EXPECT_EQ(word(1), 100u);
  }
}

/// A condition in a loop, and a loop in that.
TEST_F(GraphTest, nested) {
  auto outer = handle(graph);
  CUgraphNode begin = kernel(graph, "test", {}, {words, 5, outer});
  CUgraph body, branch, inner;
  ASSERT_EQ(condition(graph, CU_GRAPH_COND_TYPE_WHILE, outer, {begin}, body),
            CUDA_SUCCESS);
  auto isEarly = handle(body);
  CUgraphNode test = kernel(body, "test", {}, {words, 3, isEarly}), node;
  ASSERT_EQ(
      condition(body, CU_GRAPH_COND_TYPE_IF, isEarly, {test}, branch, &node),
      CUDA_SUCCESS);
  // words[1] goes up to 4 for the first time, words[2] counts its steps.
  auto loop = handle(branch);
  test = kernel(branch, "test", {}, {words + 8, 4, loop});
  ASSERT_EQ(condition(branch, CU_GRAPH_COND_TYPE_WHILE, loop, {test}, inner),
            CUDA_SUCCESS);
  CUgraphNode step = kernel(inner, "add", {}, {words + 8, 2});
  step = kernel(inner, "add", {step}, {words + 16, 1});
  kernel(inner, "test", {step}, {words + 8, 4, loop});
  step = kernel(body, "add", {node}, {words, 1});
  kernel(body, "test", {step}, {words, 5, outer});
  EXPECT_EQ(runGraph(), CUDA_SUCCESS) << fake_cuda_last_fault();
  EXPECT_THAT(download<uint64_t>(words, 3), testing::ElementsAre(5, 4, 2));
}

TEST_F(GraphTest, defaultValue) {
  auto isTrue = handle(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  CUgraph body;
  ASSERT_EQ(condition(graph, CU_GRAPH_COND_TYPE_IF, isTrue, {}, body),
            CUDA_SUCCESS);
  kernel(body, "add", {}, {words, 1});
  EXPECT_EQ(runGraph(), CUDA_SUCCESS);
  EXPECT_EQ(word(0), 1u);
}

TEST_F(GraphTest, mistakes) {
  CUgraph body, other;
  auto loop = handle(graph);
  ASSERT_EQ(condition(graph, CU_GRAPH_COND_TYPE_WHILE, loop, {}, body),
            CUDA_SUCCESS);
  // A handle has one node, in the graph that it was made for.
  EXPECT_EQ(condition(graph, CU_GRAPH_COND_TYPE_IF, loop, {}, other),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(condition(body, CU_GRAPH_COND_TYPE_IF, handle(graph), {}, other),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(condition(graph, CU_GRAPH_COND_TYPE_IF, 1234, {}, other),
            CUDA_ERROR_INVALID_VALUE);
  // Fields that are not used are zero.
  CUgraphNodeParams params = {};
  params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  params.conditional = {handle(graph), 0, 1, nullptr, context};
  params.reserved2 = 1;
  EXPECT_EQ(add(graph, params, {}), CUDA_ERROR_INVALID_VALUE);
  params.reserved2 = 0;
  params.type = 3; // A function of the host.
  EXPECT_EQ(add(graph, params, {}), CUDA_ERROR_NOT_SUPPORTED);
  // A dependency in another graph.
  CUgraphNode there = kernel(body, "add", {}, {words, 1});
  CUgraphNodeParams plain = {};
  EXPECT_EQ(add(graph, plain, {there}), CUDA_ERROR_INVALID_VALUE);
  // Handles that belong to no node.
  CUgraphExec exec = nullptr;
  EXPECT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(GraphTest, oneInstanceAtATime) {
  kernel(graph, "add", {}, {words, 1});
  CUgraphExec exec = nullptr, second = nullptr;
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphInstantiateWithFlags(&second, graph, 0),
            CUDA_ERROR_INVALID_VALUE);
  // The instance lives without its graph, and not without its code.
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(word(0), 1u);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
}

TEST_F(GraphTest, conditionsElsewhere) {
  // In a kernel of no graph.
  EXPECT_EQ(run("test", 1, 1, {words, 1, 5}), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THAT(fake_cuda_last_fault(), testing::HasSubstr("of no graph"));
}

/// CUDA leaves undefined what several threads set.
TEST_F(GraphTest, conditionOfSeveralThreads) {
  auto loop = handle(graph);
  CUgraphNode first =
      kernel(graph, "test", {}, {words, 0, loop}, /*threads=*/2);
  CUgraph body;
  ASSERT_EQ(condition(graph, CU_GRAPH_COND_TYPE_WHILE, loop, {first}, body),
            CUDA_SUCCESS);
  EXPECT_EQ(runGraph(), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_THAT(fake_cuda_last_fault(), testing::HasSubstr("by two threads"));
}

TEST_F(GraphTest, handleOfAnotherGraph) {
  kernel(graph, "test", {}, {words, 1, 5});
  EXPECT_EQ(runGraph(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THAT(fake_cuda_last_fault(), testing::HasSubstr("another graph"));
}

TEST_F(GraphTest, endlessLoop) {
  fake_cuda_set("LOOPC_FAKE_CUDA_LIMIT", "1");
  auto loop = handle(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  CUgraph body;
  ASSERT_EQ(condition(graph, CU_GRAPH_COND_TYPE_WHILE, loop, {}, body),
            CUDA_SUCCESS);
  kernel(body, "add", {}, {words, 1});
  EXPECT_EQ(runGraph(), CUDA_ERROR_LAUNCH_TIMEOUT);
}

/// A query executes a part of the graph.
TEST_F(GraphTest, queries) {
  auto loop = handle(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  CUgraph body;
  ASSERT_EQ(condition(graph, CU_GRAPH_COND_TYPE_WHILE, loop, {}, body),
            CUDA_SUCCESS);
  CUgraphNode next = kernel(body, "add", {}, {words, 1});
  kernel(body, "test", {next}, {words, 100000, loop});
  CUgraphExec exec = nullptr;
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
  int queries = 0;
  while (cuStreamQuery(nullptr) == CUDA_ERROR_NOT_READY)
    ++queries;
  EXPECT_GT(queries, 5);
  EXPECT_EQ(word(0), 100000u);
}

TEST_F(GraphTest, olderDrivers) {
  fake_cuda_reset();
  fake_cuda_set("LOOPC_FAKE_CUDA_QUIET", "1");
  fake_cuda_set("LOOPC_FAKE_CUDA_VERSION", "12020");
  open();
  EXPECT_EQ(load(kKernels), CUDA_ERROR_INVALID_PTX);
  EXPECT_THAT(error, testing::HasSubstr("cudaGraphSetConditional"));
  EXPECT_EQ(cuGraphCreate(&graph, 0), CUDA_ERROR_NOT_SUPPORTED);
}

} // namespace
