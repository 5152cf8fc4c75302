//===- LoopGraphs.h - Loops as graphs of kernels ----------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_KERNELS_LOOPGRAPHS_H
#define LOOPC_LIB_CODEGEN_GPU_KERNELS_LOOPGRAPHS_H

#include "ProductTiles.h"
#include "loopc/Dialect/Nest/Analysis/AliasClasses.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace loopc {

/// A node of a graph; see device.graph.
struct GraphNode {
  int32_t body = -1;
  int32_t handle = -1;
  bool isLoop = false;
  mlir::gpu::GPUFuncOp kernel;
  int32_t threads = 1;
  /// Some of its blocks compute tiles of a product.
  bool hasTiles = false;
  /// The nest of the kernel, in the kernel that the graph was made of; null
  /// where it is for one block.
  mlir::scf::ForOp nest;
};

struct LoopGraph {
  mlir::SmallVector<GraphNode> nodes;
  unsigned numHandles = 0;
  unsigned numWords = 0;
  /// Words, zero when it begins, in front of those of the arguments.
  unsigned numOwnWords = 0;
};

/// Makes a graph of `kernel`, in which one thread runs loops of the form of
/// RotateLoops.h; its arguments, but for the first, are the graph's. The
/// kernels of the graph are behind it. `classes` are those of its buffers. It
/// is left as it was, for the nests of the graph are in it.
LoopGraph makeLoopGraph(mlir::gpu::GPUFuncOp kernel,
                        const AliasClasses &classes,
                        const ProductTarget &target);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_KERNELS_LOOPGRAPHS_H
