//===- KernelBody.h - Sequential code for the threads of a grid -*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_KERNELBODY_H
#define LOOPC_LIB_CODEGEN_GPU_KERNELBODY_H

#include "Products.h"
#include "loopc/Dialect/Nest/Analysis/AliasClasses.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace loopc {

/// Attribute of checks and polls in a part of a kernel that not all threads go
/// through: the number of that part, or -1 where nothing follows behind it.
inline constexpr llvm::StringLiteral kPartAttrName = "loopc.part";
/// The same of the poll behind that part, where all threads meet.
inline constexpr llvm::StringLiteral kPartEndAttrName = "loopc.part_end";

/// Attribute of a launch whose blocks wait for one another.
inline constexpr llvm::StringLiteral kCooperativeAttrName = "loopc.cooperative";
/// Of one whose blocks are a cluster where they are few.
inline constexpr llvm::StringLiteral kClusterAttrName = "loopc.cluster";
/// Of the kernels where there is such a launch.
inline constexpr llvm::StringLiteral kClustersAttrName = "loopc.clusters";

/// Attribute of a kernel whose blocks do not wait for one another, but threads
/// of a block do.
inline constexpr llvm::StringLiteral kSeparateAttrName = "loopc.separate";

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
///    read, since the last one, there is a `loop.barrier`; not where each
///    thread finds what it left itself.
///
/// Where the kernel is a loop over slices (LoopSlices.h) these are dealt out to
/// blocks, and all that is in it to the threads of one. There are no checks.
///
/// `classes` are those of the buffers in the kernel.
KernelShape distributeKernel(mlir::gpu::GPUFuncOp kernel, AliasClasses &classes,
                             const ProductTarget &target);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_KERNELBODY_H
