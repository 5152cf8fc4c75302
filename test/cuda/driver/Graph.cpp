//===- Graph.cpp - Graphs of kernels and conditions -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Graph.h"

#include <utility>

using namespace fakecuda;

GraphRun::GraphRun(std::shared_ptr<CUgraph_st> of) : graph(std::move(of)) {
  for (const auto &[handle, condition] : graph->conditions) {
    handles.insert(handle);
    if (condition.hasDefault)
      values[handle] = condition.value;
  }
  levels.push_back({graph.get(), {}, nullptr});
}

CUgraphNode GraphRun::findReady(const Level &level) const {
  const auto &nodes = level.graph->nodes;
  for (size_t k = nodes.size(); k-- > 0;) {
    CUgraphNode node = nodes[k].get();
    auto isDone = [&](CUgraphNode other) { return level.done.count(other); };
    if (!isDone(node) && std::all_of(node->dependencies.begin(),
                                     node->dependencies.end(), isDone))
      return node;
  }
  return nullptr;
}

/// Executes the body of a condition that holds, or leaves the node behind.
void GraphRun::beginCondition(CUgraphNode node) {
  auto found = values.find(node->handle);
  if (found == values.end()) {
    Driver::get().fail(CUDA_ERROR_LAUNCH_FAILED,
                       "a conditional node of graph " +
                           std::to_string(graph->number) +
                           " whose handle was never set");
    return;
  }
  Level &level = levels.back();
  if (!found->second) {
    level.done.insert(node);
    return;
  }
  level.current = node;
  levels.push_back({node->body.get(), {}, nullptr});
}

void GraphRun::endBody() {
  levels.pop_back();
  if (levels.empty())
    return;
  Level &level = levels.back();
  CUgraphNode node = std::exchange(level.current, nullptr);
  // A loop's condition is looked at again.
  if (!node->isLoop)
    level.done.insert(node);
}

/// Begins or goes on with one node.
void GraphRun::step(uint64_t &budget) {
  Driver &driver = Driver::get();
  if (!kernel) {
    CUgraphNode node = findReady(levels.back());
    // Nodes cost time too.
    budget -= std::min<uint64_t>(budget, 100);
    if (!node)
      return endBody();
    if (node->body)
      return beginCondition(node);
    ++driver.statistics.graph_kernels;
    kernelNode = node;
    kernel = node->plan.make();
    kernel->handles = &handles;
    kernel->conditions = &values;
  }
  if (!driver.execute(*kernel, budget))
    return;
  kernel.reset();
  levels.back().done.insert(kernelNode);
}

bool GraphRun::run(uint64_t &budget) {
  Driver &driver = Driver::get();
  uint64_t limit = driver.settings.limits.total;
  while (!levels.empty() && !driver.status()) {
    if (budget == 0)
      return false;
    uint64_t before = budget;
    step(budget);
    executed += before - budget;
    if (limit && executed > limit)
      driver.fail(CUDA_ERROR_LAUNCH_TIMEOUT,
                  "graph " + std::to_string(graph->number) +
                      " takes too many instructions");
  }
  return true;
}
