//===- Graph.h - Graphs of kernels and conditions ------------- -*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_TEST_CUDA_GRAPH_H
#define LOOPC_TEST_CUDA_GRAPH_H

#include "Driver.h"

struct CUgraphNode_st {
  CUgraph graph = nullptr; ///< that it is in
  std::vector<CUgraphNode> dependencies;
  fakecuda::LaunchPlan plan; ///< of a kernel
  /// Of a condition; null: the node is a kernel.
  std::shared_ptr<CUgraph_st> body;
  bool isLoop = false;
  CUgraphConditionalHandle handle = 0;
};

/// A handle of a condition.
struct Condition {
  CUgraph graph = nullptr; ///< where its node has to be
  CUcontext context = nullptr;
  unsigned value = 0;
  bool hasDefault = false;
  bool isUsed = false; ///< by a node
};

struct CUgraph_st {
  unsigned number = 0; ///< in the log
  /// The graph that this one is a body in; null: of none.
  CUgraph outer = nullptr;
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
  /// Of all handles of an outermost graph and its bodies.
  std::map<CUgraphConditionalHandle, Condition> conditions;
  bool isInstantiated = false; ///< at the moment
  bool isFrozen = false;       ///< was, so that nothing can be added any more

  CUgraph outermost() {
    CUgraph result = this;
    while (result->outer)
      result = result->outer;
    return result;
  }
};

struct CUgraphExec_st {
  unsigned number = 0;
  std::shared_ptr<CUgraph_st> graph;
};

namespace fakecuda {

/// A launch of a graph while it executes. Of nodes that may run in any order
/// those that were added last come first: who forgot to say that one depends on
/// another finds out.
class GraphRun {
public:
  explicit GraphRun(std::shared_ptr<CUgraph_st> graph);

  /// Executes at most about so many instructions; returns whether it has ended.
  bool run(uint64_t &budget);

private:
  /// A graph that is executed, or one of its bodies.
  struct Level {
    CUgraph graph;
    std::set<CUgraphNode> done;
    CUgraphNode current = nullptr; ///< a condition whose body is executed
  };
  void step(uint64_t &budget);
  CUgraphNode findReady(const Level &level) const;
  void beginCondition(CUgraphNode node);
  void endBody();

  std::shared_ptr<CUgraph_st> graph;
  std::set<uint64_t> handles;
  std::map<uint64_t, uint32_t> values; ///< of handles that have one
  std::vector<Level> levels;
  std::shared_ptr<Launch> kernel; ///< that executes now
  CUgraphNode kernelNode = nullptr;
  uint64_t executed = 0; ///< instructions
};

} // namespace fakecuda

#endif // LOOPC_TEST_CUDA_GRAPH_H
