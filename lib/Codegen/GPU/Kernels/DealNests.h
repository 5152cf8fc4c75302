//===- DealNests.h - Who computes which element -----------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_KERNELS_DEALNESTS_H
#define LOOPC_LIB_CODEGEN_GPU_KERNELS_DEALNESTS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {

/// Threads that go together.
inline constexpr int64_t kWarp = 32;

/// Memory of a block of `kernel`, of `bytes` bytes at least, which lie at a
/// multiple of 16. All that asks gets the same: who uses it waits for the block
/// before it writes and before it reads what others wrote.
mlir::Value getBlockMemory(mlir::gpu::GPUFuncOp kernel, int64_t bytes);

/// Where a kernel's code says who a thread is, among those that share nests:
/// all of the grid, or of a block.
struct KernelThread {
  /// Its number, and how many there are.
  mlir::Value thread, threads;
  /// The number of its block, and how many blocks there are.
  mlir::Value block, blocks;
};

/// Deals the iterations of the nest of `outer`, a shared loop (DeviceCode.h),
/// out, and takes the nest away. \returns what stands in its place. An element
/// is for
///
///  - a thread; those next to each other have elements next to each other,
///  - where it is a sum along a row in memory (isWarpNest), a warp, or a block
///    if the row is long,
///  - where it is a sum, but few threads would have elements, all warps of a
///    block: lanes have elements next to each other, warps shares of the sums.
mlir::Operation *dealNest(mlir::gpu::GPUFuncOp kernel, mlir::scf::ForOp outer,
                          const KernelThread &here);

/// Threads that dealNest() has work for, where `total` elements are computed by
/// blocks of `inBlock`; `known` is what stands at `b` for a bound.
mlir::Value
countDealtThreads(mlir::ImplicitLocOpBuilder &b, mlir::scf::ForOp outer,
                  mlir::Value total, mlir::Value inBlock,
                  llvm::function_ref<mlir::Value(mlir::Value)> known);

/// True where the warps of a block may share the sums of the nest's elements.
bool isSplitNest(mlir::scf::ForOp outer);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_KERNELS_DEALNESTS_H
