//===- ApiGraph.cpp - Graphs ----------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the documents forbid is an error here: a graph with conditions has one
// instance at a time, a handle belongs to one node of the graph that it was
// made for, a node's fields that mean nothing are zero.
//
//===----------------------------------------------------------------------===//

#include "Graph.h"

using namespace fakecuda;

/// A call of a function of graphs.
template <typename F> static CUresult callGraph(const char *name, F body) {
  Driver &driver = Driver::get();
  return driver.call(name, "", true, [&]() -> CUresult {
    return driver.settings.version < kGraphVersion ? CUDA_ERROR_NOT_SUPPORTED
                                                   : body(driver);
  });
}

/// True for a graph that there is, or a body of one.
static bool isGraph(CUgraph graph) {
  for (const auto &[handle, root] : Driver::get().graphs) {
    std::vector<CUgraph> open{root.get()};
    while (!open.empty()) {
      CUgraph next = open.back();
      open.pop_back();
      if (next == graph)
        return true;
      for (const auto &node : next->nodes)
        if (node->body)
          open.push_back(node->body.get());
    }
  }
  return false;
}

CUresult cuGraphCreate(CUgraph *result, unsigned flags) {
  return callGraph("cuGraphCreate", [&](Driver &driver) -> CUresult {
    if (!result || flags)
      return CUDA_ERROR_INVALID_VALUE;
    auto graph = std::make_shared<CUgraph_st>();
    graph->number = driver.takeNumber();
    driver.note(format(" graph=%u", graph->number));
    *result = graph.get();
    driver.graphs[*result] = std::move(graph);
    return CUDA_SUCCESS;
  });
}

/// True where all that the node's parameters do not use is zero.
static bool isPadded(const CUgraphNodeParams &params) {
  size_t used = params.type == CU_GRAPH_NODE_TYPE_KERNEL
                    ? sizeof(params.kernel)
                    : sizeof(params.conditional);
  const auto *bytes = reinterpret_cast<const uint8_t *>(&params.kernel);
  return std::all_of(bytes + used, bytes + sizeof(params.reserved1),
                     [](uint8_t byte) { return byte == 0; }) &&
         !params.reserved0[0] && !params.reserved0[1] && !params.reserved0[2] &&
         !params.reserved2;
}

static CUresult setKernel(CUgraphNode_st &node,
                          const CUDA_KERNEL_NODE_PARAMS &params) {
  if (params.kern || (params.ctx && params.ctx != currentContext()))
    return CUDA_ERROR_INVALID_VALUE;
  node.plan.function = params.func;
  node.plan.grid = {params.gridDimX, params.gridDimY, params.gridDimZ};
  node.plan.block = {params.blockDimX, params.blockDimY, params.blockDimZ};
  node.plan.sharedBytes = params.sharedMemBytes;
  CUresult result = node.plan.set(params.kernelParams, params.extra);
  if (result == CUDA_SUCCESS)
    Driver::get().note(node.plan.describe());
  return result;
}

static CUresult setCondition(CUgraphNode_st &node,
                             CUDA_CONDITIONAL_NODE_PARAMS &params) {
  CUgraph outermost = node.graph->outermost();
  auto found = outermost->conditions.find(params.handle);
  bool isLoop = params.type == CU_GRAPH_COND_TYPE_WHILE;
  if (found == outermost->conditions.end() || found->second.isUsed ||
      found->second.graph != node.graph ||
      found->second.context != params.ctx ||
      (!isLoop && params.type != CU_GRAPH_COND_TYPE_IF) || params.size != 1)
    return CUDA_ERROR_INVALID_VALUE;
  found->second.isUsed = true;
  node.handle = params.handle;
  node.isLoop = isLoop;
  node.body = std::make_shared<CUgraph_st>();
  node.body->number = Driver::get().takeNumber();
  node.body->outer = node.graph;
  // Owned by the driver: a slot that stays where it is.
  static std::deque<CUgraph> slots;
  slots.push_back(node.body.get());
  params.phGraph_out = &slots.back();
  Driver::get().note(
      format(" %s body=%u", isLoop ? "while" : "if", node.body->number));
  return CUDA_SUCCESS;
}

CUresult cuGraphAddNode_v2(CUgraphNode *result, CUgraph graph,
                           const CUgraphNode *dependencies,
                           const CUgraphEdgeData *edges, size_t count,
                           CUgraphNodeParams *params) {
  return callGraph("cuGraphAddNode", [&](Driver &driver) -> CUresult {
    if (!isGraph(graph))
      return CUDA_ERROR_INVALID_HANDLE;
    // Edges with data are not known here.
    if (!result || !params || edges || (count && !dependencies) ||
        graph->outermost()->isFrozen)
      return CUDA_ERROR_INVALID_VALUE;
    driver.note(format(" graph=%u", graph->number));
    auto node = std::make_unique<CUgraphNode_st>();
    node->graph = graph;
    for (size_t k = 0; k != count; ++k) {
      auto isSame = [&](const auto &other) {
        return other.get() == dependencies[k];
      };
      if (std::none_of(graph->nodes.begin(), graph->nodes.end(), isSame))
        return CUDA_ERROR_INVALID_VALUE;
      node->dependencies.push_back(dependencies[k]);
    }
    CUresult status = CUDA_ERROR_NOT_SUPPORTED;
    if (!isPadded(*params))
      status = CUDA_ERROR_INVALID_VALUE;
    else if (params->type == CU_GRAPH_NODE_TYPE_KERNEL)
      status = setKernel(*node, params->kernel);
    else if (params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
      status = setCondition(*node, params->conditional);
    if (status)
      return status;
    *result = node.get();
    graph->nodes.push_back(std::move(node));
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle,
                                        CUgraph graph, CUcontext context,
                                        unsigned value, unsigned flags) {
  return callGraph("cuGraphConditionalHandleCreate",
                   [&](Driver &driver) -> CUresult {
                     if (!isGraph(graph))
                       return CUDA_ERROR_INVALID_HANDLE;
                     if (!handle || !context || context != currentContext() ||
                         flags & ~CU_GRAPH_COND_ASSIGN_DEFAULT ||
                         graph->outermost()->isFrozen)
                       return CUDA_ERROR_INVALID_VALUE;
                     *handle = uint64_t(driver.takeNumber()) << 32 | 0xC0DE;
                     Condition &made = graph->outermost()->conditions[*handle];
                     made.graph = graph;
                     made.context = context;
                     made.value = value;
                     made.hasDefault = flags & CU_GRAPH_COND_ASSIGN_DEFAULT;
                     driver.note(format(" graph=%u", graph->number));
                     return CUDA_SUCCESS;
                   });
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *result, CUgraph graph,
                                     unsigned long long flags) {
  return callGraph("cuGraphInstantiate", [&](Driver &driver) -> CUresult {
    auto found = driver.graphs.find(graph);
    if (found == driver.graphs.end())
      return CUDA_ERROR_INVALID_HANDLE;
    auto isUsed = [](const auto &pair) { return pair.second.isUsed; };
    if (!result || flags || graph->isInstantiated ||
        !std::all_of(graph->conditions.begin(), graph->conditions.end(),
                     isUsed))
      return CUDA_ERROR_INVALID_VALUE;
    auto exec = std::make_shared<CUgraphExec_st>();
    exec->number = driver.takeNumber();
    exec->graph = found->second;
    graph->isInstantiated = graph->isFrozen = true;
    driver.note(format(" graph=%u exec=%u", graph->number, exec->number));
    *result = exec.get();
    driver.graphExecs[*result] = std::move(exec);
    return CUDA_SUCCESS;
  });
}

/// True where the kernels of all nodes are still there.
static bool hasKernels(const CUgraph_st &graph) {
  return std::all_of(
      graph.nodes.begin(), graph.nodes.end(), [](const auto &node) {
        return node->body ? hasKernels(*node->body)
                          : Driver::get().functions.count(node->plan.function);
      });
}

CUresult cuGraphLaunch(CUgraphExec handle, CUstream streamHandle) {
  return callGraph("cuGraphLaunch", [&](Driver &driver) -> CUresult {
    auto stream = driver.findStream(streamHandle);
    auto found = driver.graphExecs.find(handle);
    if (!stream || found == driver.graphExecs.end() ||
        !hasKernels(*found->second->graph))
      return CUDA_ERROR_INVALID_HANDLE;
    driver.note(
        format(" exec=%u stream=%u", found->second->number, stream->number));
    ++driver.statistics.graph_launches;
    // What follows from the values of the moment is known when it begins.
    std::shared_ptr<CUgraph_st> graph = found->second->graph;
    std::shared_ptr<GraphRun> run;
    driver.submitLong(stream, [graph, run](uint64_t &budget) mutable {
      if (!run)
        run = std::make_shared<GraphRun>(graph);
      return run->run(budget);
    });
    driver.guard();
    return driver.status();
  });
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  return callGraph("cuGraphExecDestroy", [&](Driver &driver) -> CUresult {
    auto found = driver.graphExecs.find(exec);
    if (found == driver.graphExecs.end())
      return CUDA_ERROR_INVALID_HANDLE;
    driver.note(format(" exec=%u", exec->number));
    found->second->graph->isInstantiated = false;
    driver.graphExecs.erase(found);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDestroy(CUgraph graph) {
  return callGraph("cuGraphDestroy", [&](Driver &driver) -> CUresult {
    auto found = driver.graphs.find(graph);
    if (found == driver.graphs.end())
      return CUDA_ERROR_INVALID_HANDLE;
    driver.note(format(" graph=%u", graph->number));
    driver.graphs.erase(found);
    return CUDA_SUCCESS;
  });
}
