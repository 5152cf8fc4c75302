//===- Grids.h - Blocks and threads of launches -----------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_KERNELS_GRIDS_H
#define LOOPC_LIB_CODEGEN_GPU_KERNELS_GRIDS_H

#include "KernelBody.h"
#include "LoopSlices.h"
#include "ProductTiles.h"
#include "loopc/Support/DeviceLoops.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {

/// Threads of a block that shares out one nest, and the most of one that runs a
/// loop.
inline constexpr int64_t kNestThreads = 256;
inline constexpr int64_t kLoneThreads = 512;

/// Blocks of a launch, and the threads of each.
struct Grid {
  mlir::Value blocks, threads;
};

/// Chooses how many threads a kernel gets, at `b`, where the host begins it.
class GridChooser {
public:
  /// For the #loopc.target of the module that `region` is in.
  GridChooser(mlir::ImplicitLocOpBuilder &b, mlir::Operation *region);

  bool hasClusters() const { return target.chip >= 90; }

  /// For a kernel that was made of `region`, a nest or a loop.
  Grid choose(mlir::Operation *region, const KernelShape &shape);

  /// Where a kernel with barriers runs, for a remark; "" where the run decides.
  /// `state` bytes of what it writes are in shared memory.
  std::string describe(const Grid &grid, int64_t state) const;

  /// Whether blocks are to go through the loop of `kernel` by themselves: where
  /// there are several slices, of which none has much to do. Null where not.
  /// `given` is what the kernel is given, behind its first argument.
  mlir::Value makeAreSlicesSmall(const LoopSlices &slices,
                                 mlir::gpu::GPUFuncOp kernel,
                                 mlir::ValueRange given);

  /// For `kernel`, whose loop is in one over its slices, before it is dealt out
  /// to threads.
  Grid chooseForSlices(const LoopSlices &slices, mlir::gpu::GPUFuncOp kernel,
                       mlir::ValueRange given);

private:
  mlir::Value countIterations(mlir::scf::ForOp nest, mlir::Operation *region);
  Grid chooseCluster(mlir::Value most, mlir::Value isMedium, const Grid &grid,
                     int64_t threads);
  mlir::Value countThreadsOfOne(mlir::Value most);
  int64_t oneBlockWork() const;
  bool mustBeCluster() const {
    return hasClusters() && loops == DeviceLoops::Cluster;
  }
  mlir::Value index(int64_t value);
  mlir::Value compare(mlir::arith::CmpIPredicate how, mlir::Value one,
                      int64_t other);

  mlir::ImplicitLocOpBuilder &b;
  ProductTarget target;
  DeviceLoops loops;
};

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_KERNELS_GRIDS_H
