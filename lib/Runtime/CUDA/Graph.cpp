//===- Graph.cpp - Loops as graphs ----------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// To make a graph takes the driver longer than many of them run. What a node
// is given never changes, therefore: the control of the run's lane, and a state
// whose arguments are copied there in the order of the stream. An instance
// belongs to a lane, and runs on it come one after the other; the program keeps
// it for the lane's next run.
//
//===----------------------------------------------------------------------===//

#include "Gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

using namespace loopc::rt;
using namespace loopc::rt::cuda;

namespace loopc::rt::cuda {
struct GraphInstance {
  GraphInstance *next;
  LoadedProgram *loaded;
  const loopc_cuda_graph *graph;
  CUdeviceptr control; ///< of the lane that it was made for
  CUdeviceptr state;
  CUgraph made;
  CUgraphExec exec;
  int64_t blocks[]; ///< of each node
};
} // namespace loopc::rt::cuda

static const loopc_cuda_node *nodesOf(const loopc_cuda_graph &graph) {
  return reinterpret_cast<const loopc_cuda_node *>(&graph + 1);
}

/// Instances that a program keeps on a device.
static constexpr size_t kMaxKept = 64;

/// Any number of blocks is right; one that is twice as large, or half as large,
/// is good enough.
static bool isNear(int64_t wanted, int64_t blocks) {
  return blocks <= 2 * wanted && wanted <= 2 * blocks;
}

static bool fits(const GraphInstance &instance, const loopc_cuda_graph &graph,
                 CUdeviceptr control, const int64_t *blocks) {
  if (instance.graph != &graph || instance.control != control)
    return false;
  for (uint32_t k = 0; k < graph.num_nodes; ++k)
    if (nodesOf(graph)[k].handle < 0 && !isNear(blocks[k], instance.blocks[k]))
      return false;
  return true;
}

static void destroy(GraphInstance *instance, bool isUsable) {
  if (isUsable) {
    const Driver &driver = getDriver();
    if (instance->exec)
      driver.cuGraphExecDestroy(instance->exec);
    if (instance->made)
      driver.cuGraphDestroy(instance->made);
    if (instance->state)
      driver.cuMemFree_v2(instance->state);
  }
  free(instance);
}

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

namespace {
/// Makes the nodes of an instance.
class Builder {
public:
  Builder(loopc_run &run, loopc_cuda_program &program, GraphInstance &instance)
      : run(run), program(program), instance(instance), graph(*instance.graph),
        driver(getDriver()) {}
  ~Builder() {
    free(handles);
    free(bodies);
    free(lasts);
  }
  Builder(const Builder &) = delete;
  Builder &operator=(const Builder &) = delete;

  /// \returns the status of the run.
  int32_t build();

private:
  int32_t addNode(const loopc_cuda_node &node, int64_t blocks);
  int32_t setKernel(const loopc_cuda_node &node, int64_t blocks,
                    CUgraphNodeParams &parameters);
  int32_t fail(CUresult result, const char *function);

  loopc_run &run;
  loopc_cuda_program &program;
  GraphInstance &instance;
  const loopc_cuda_graph &graph;
  const Driver &driver;
  CUgraphHandle *handles = nullptr;
  /// Of the graph itself and the body of each condition: what was made of it,
  /// and its last node.
  CUgraph *bodies = nullptr;
  CUgraphNode *lasts = nullptr;
  void *arguments[2] = {};
};
} // namespace

int32_t Builder::fail(CUresult result, const char *function) {
  char where[128];
  snprintf(where, sizeof(where), "making the graph of a loop: %s", function);
  return recordResult(run, result, where);
}

int32_t Builder::setKernel(const loopc_cuda_node &node, int64_t blocks,
                           CUgraphNodeParams &parameters) {
  Failure failure;
  Kernel *kernel = getKernel(program, *instance.loaded, node.kernel, failure);
  if (!kernel)
    return recordFailure(run, failure);
  if (blocks < 1 || blocks > INT32_MAX || node.threads < 1)
    return recordError(run, LOOPC_ERROR_DEVICE,
                       "kernel '%s' cannot be begun with %lld blocks of %d "
                       "threads",
                       program.kernels[node.kernel],
                       static_cast<long long>(blocks), node.threads);
  arguments[0] = &instance.control;
  arguments[1] = &instance.state;
  parameters.type = kKernelNode;
  parameters.kernel.func = kernel->function;
  parameters.kernel.gridDimX = static_cast<unsigned>(blocks);
  parameters.kernel.gridDimY = parameters.kernel.gridDimZ = 1;
  parameters.kernel.blockDimX = static_cast<unsigned>(node.threads);
  parameters.kernel.blockDimY = parameters.kernel.blockDimZ = 1;
  parameters.kernel.kernelParams = arguments;
  return LOOPC_OK;
}

int32_t Builder::addNode(const loopc_cuda_node &node, int64_t blocks) {
  int32_t body = node.body + 1;
  CUgraphNodeParams parameters;
  memset(&parameters, 0, sizeof(parameters));
  CUcontext context = instance.loaded->device->context;
  bool isKernel = node.handle < 0;
  if (isKernel) {
    if (int32_t status = setKernel(node, blocks, parameters))
      return status;
  } else {
    CUresult result = driver.cuGraphConditionalHandleCreate(
        &handles[node.handle], bodies[body], context, 0, 0);
    if (result != CUDA_SUCCESS)
      return fail(result, "cuGraphConditionalHandleCreate");
    parameters.type = kConditionalNode;
    parameters.conditional.handle = handles[node.handle];
    parameters.conditional.type = node.kernel ? kWhileNode : kIfNode;
    parameters.conditional.size = 1;
    parameters.conditional.ctx = context;
  }
  CUgraphNode made = nullptr;
  CUresult result =
      driver.cuGraphAddNode_v2(&made, bodies[body], &lasts[body], nullptr,
                               lasts[body] ? 1 : 0, &parameters);
  if (result != CUDA_SUCCESS)
    return fail(result, "cuGraphAddNode");
  lasts[body] = made;
  if (!isKernel)
    bodies[node.handle + 1] = parameters.conditional.phGraph_out[0];
  return LOOPC_OK;
}

int32_t Builder::build() {
  size_t count = graph.num_handles + 1;
  handles = static_cast<CUgraphHandle *>(calloc(count, sizeof(CUgraphHandle)));
  bodies = static_cast<CUgraph *>(calloc(count, sizeof(CUgraph)));
  lasts = static_cast<CUgraphNode *>(calloc(count, sizeof(CUgraphNode)));
  if (!handles || !bodies || !lasts)
    return recordError(run, LOOPC_ERROR_MEMORY, "out of memory");
  size_t words = graph.num_words ? graph.num_words : 1;
  CUresult result =
      allocateLasting(*instance.loaded->device, words * 8, instance.state);
  if (result != CUDA_SUCCESS)
    return recordResult(run, result, "memory for the state of a loop");
  result = driver.cuGraphCreate(&instance.made, 0);
  if (result != CUDA_SUCCESS)
    return fail(result, "cuGraphCreate");
  bodies[0] = instance.made;
  for (uint32_t k = 0; k < graph.num_nodes; ++k)
    if (int32_t status = addNode(nodesOf(graph)[k], instance.blocks[k]))
      return status;
  result = driver.cuGraphInstantiateWithFlags(&instance.exec, instance.made, 0);
  if (result != CUDA_SUCCESS)
    return fail(result, "cuGraphInstantiate");
  result = driver.cuMemcpyHtoDAsync_v2(instance.state, handles,
                                       graph.num_handles * sizeof(*handles),
                                       run.gpu->stream);
  return result == CUDA_SUCCESS
             ? LOOPC_OK
             : recordResult(run, result, "copying the state of a loop");
}

//===----------------------------------------------------------------------===//
// Keeping
//===----------------------------------------------------------------------===//

/// Takes an instance that fits out of a list.
static GraphInstance *take(GraphInstance *&list, const loopc_cuda_graph &graph,
                           CUdeviceptr control, const int64_t *blocks) {
  for (GraphInstance **at = &list; *at; at = &(*at)->next)
    if (fits(**at, graph, control, blocks)) {
      GraphInstance *found = *at;
      *at = found->next;
      return found;
    }
  return nullptr;
}

/// The instance for the run's lane, which the run has from now on; null after
/// recording an error.
static GraphInstance *getInstance(loopc_run &run, loopc_cuda_program &program,
                                  const loopc_cuda_graph &graph,
                                  const int64_t *blocks) {
  Gpu &gpu = *run.gpu;
  CUdeviceptr control = gpu.lane->control;
  GraphInstance *instance = take(gpu.graphs, graph, control, blocks);
  if (!instance) {
    LoadedProgram &loaded = *gpu.loaded;
    pthread_mutex_lock(&loaded.lock);
    instance = take(loaded.graphs, graph, control, blocks);
    loaded.numGraphs -= instance != nullptr;
    pthread_mutex_unlock(&loaded.lock);
  }
  if (!instance) {
    size_t bytes = sizeof(GraphInstance) + graph.num_nodes * sizeof(*blocks);
    instance = static_cast<GraphInstance *>(calloc(1, bytes));
    if (!instance) {
      recordError(run, LOOPC_ERROR_MEMORY, "out of memory");
      return nullptr;
    }
    instance->loaded = gpu.loaded;
    instance->graph = &graph;
    instance->control = control;
    memcpy(instance->blocks, blocks, graph.num_nodes * sizeof(*blocks));
    if (Builder(run, program, *instance).build()) {
      destroy(instance, /*isUsable=*/true);
      return nullptr;
    }
  }
  instance->next = gpu.graphs;
  gpu.graphs = instance;
  return instance;
}

void loopc::rt::cuda::releaseGraphs(Gpu &gpu) {
  while (GraphInstance *instance = gpu.graphs) {
    gpu.graphs = instance->next;
    LoadedProgram &loaded = *instance->loaded;
    pthread_mutex_lock(&loaded.lock);
    bool isKept = loaded.numGraphs < kMaxKept;
    if (isKept) {
      instance->next = loaded.graphs;
      loaded.graphs = instance;
      ++loaded.numGraphs;
    }
    pthread_mutex_unlock(&loaded.lock);
    if (!isKept)
      destroy(instance, /*isUsable=*/true);
  }
}

void loopc::rt::cuda::destroyGraphs(LoadedProgram &loaded, bool isUsable) {
  while (GraphInstance *instance = loaded.graphs) {
    loaded.graphs = instance->next;
    destroy(instance, isUsable);
  }
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// The first kernel of the graph, for messages. There is one: what sets the
/// condition.
static int32_t findFirstKernel(const loopc_cuda_graph &graph) {
  uint32_t k = 0;
  while (k + 1 < graph.num_nodes && nodesOf(graph)[k].handle >= 0)
    ++k;
  return nodesOf(graph)[k].kernel;
}

extern "C" int32_t loopc_rt_cuda_graph(loopc_run *run,
                                       loopc_cuda_program *program,
                                       const loopc_cuda_graph *graph,
                                       const int64_t *blocks,
                                       const int64_t *arguments) {
  Gpu *gpu = getGpuFor(*run, *program);
  if (!gpu)
    return getStatus(*run);
  // Then the driver was looked at when the code was loaded.
  if (!(program->flags & LOOPC_CUDA_HAS_GRAPHS))
    return recordError(*run, LOOPC_ERROR_ABI,
                       "the model's device code has a graph and does not say "
                       "so");
  // Copies of what follows are work, even where making it fails.
  gpu->isBusy = true;
  GraphInstance *instance = getInstance(*run, *program, *graph, blocks);
  if (!instance)
    return getStatus(*run);
  const Driver &driver = getDriver();
  CUdeviceptr words = instance->state + graph->num_handles * sizeof(uint64_t);
  CUresult result = CUDA_SUCCESS;
  if (graph->num_arguments != 0)
    result = driver.cuMemcpyHtoDAsync_v2(
        words, arguments, graph->num_arguments * sizeof(*arguments),
        gpu->stream);
  if (result == CUDA_SUCCESS)
    result = driver.cuGraphLaunch(instance->exec, gpu->stream);
  int32_t first = findFirstKernel(*graph);
  if (result != CUDA_SUCCESS)
    return failLaunch(*run, *program, first, result);
  gpu->isUnchecked = true;
  gpu->lastKernel = 1 + first;
  return LOOPC_OK;
}
