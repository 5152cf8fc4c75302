//===- KernelBody.h - Sequential code for the threads of a grid -*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_KERNELS_KERNELBODY_H
#define LOOPC_LIB_CODEGEN_GPU_KERNELS_KERNELBODY_H

#include "ProductTiles.h"
#include "loopc/Dialect/Nest/Analysis/AliasClasses.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace loopc {

/// Attribute of a launch whose blocks wait for one another.
inline constexpr llvm::StringLiteral kCooperativeAttrName = "loopc.cooperative";
/// Of one whose blocks are a cluster where they are few.
inline constexpr llvm::StringLiteral kClusterAttrName = "loopc.cluster";
/// Of the kernels where there is such a launch.
inline constexpr llvm::StringLiteral kClustersAttrName = "loopc.clusters";

/// The function of a kernel's module by which all blocks wait for one another.
inline constexpr llvm::StringLiteral kBarrierName = "loopc_barrier";

/// What a kernel turned out to be.
struct KernelShape {
  /// Blocks wait for one another.
  bool hasBarriers = false;
  /// It is for blocks of kTileThreads threads.
  bool hasTiles = false;
  /// Warps of a block share sums.
  bool hasSplits = false;
};

/// Makes code that one thread could run, in a kernel whose arguments and whose
/// result stores are there, code for all threads of a grid:
///
///  - all threads compute scalars and take the branches and iterations that
///    these say, so that they are always at the same place,
///  - the iterations of a shared loop (DeviceCode.h) are dealt out; products
///    that are large enough by tiles, to blocks (Products.h),
///  - what else writes memory is done by the first thread alone,
///  - before something reads or writes what was written, or writes what was
///    read, since the last one, there is a `device.barrier`; not where each
///    thread finds what it left itself,
///  - what not all threads go through alike, and may end the run, is a
///    `device.part`; other polls are `device.poll`, to which all threads come.
///
/// Where the kernel is a loop over slices (LoopSlices.h) these are dealt out to
/// blocks, and all that is in it to the threads of one. There are no checks.
///
/// `classes` are those of the buffers in the kernel.
KernelShape distributeKernel(mlir::gpu::GPUFuncOp kernel, AliasClasses &classes,
                             const ProductTarget &target);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_KERNELS_KERNELBODY_H
