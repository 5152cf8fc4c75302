//===- LoopSlices.h - Loops whose slices are independent --------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_KERNELS_LOOPSLICES_H
#define LOOPC_LIB_CODEGEN_GPU_KERNELS_LOOPSLICES_H

#include "loopc/Dialect/Nest/Analysis/AliasClasses.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <vector>

namespace loopc {

/// Attribute of the loop over the slices that blocks share.
inline constexpr llvm::StringLiteral kSlicesAttrName = "loopc.slices";

/// A nest of a loop that has slices.
struct SlicedNest {
  llvm::SmallVector<mlir::scf::ForOp> loops;
  /// Number of the axis of the slices that the loop goes along; -1: of none.
  llvm::SmallVector<int> axes;
};

/// A sequential loop of a kernel and axes (a batch, heads, channels) along
/// which what it writes falls into slices: all of its nests go along them, and
/// an iteration touches what the loop writes at its own place alone. So each
/// slice goes through the loop without the others.
struct LoopSlices {
  mlir::scf::ForOp loop;
  /// Slices along each axis, defined in front of the loop.
  llvm::SmallVector<mlir::OpFoldResult> extents;
  std::vector<SlicedNest> nests;
};

/// The slices of the loop that `kernel` is, along as many axes as there are;
/// not along rows in memory, unless nothing else in the loop goes along them:
/// threads beside each other have what lies side by side. None where something
/// in the loop can fail, or where its results are buffers.
std::optional<LoopSlices> findLoopSlices(mlir::gpu::GPUFuncOp kernel,
                                         const AliasClasses &classes);

/// Puts the loop into one over its slices, which has kSlicesAttrName: for
/// blocks, each of which goes through the loop for the slices it has. There is
/// one slice at least. \returns the loop over the slices.
mlir::scf::ForOp separateSlices(const LoopSlices &slices);

/// Why blocks cannot go through the slices of `loop`, which has
/// kSlicesAttrName, without one another; "" where they can. Buffers for which
/// `rootOf` gives one value may be the same memory.
std::string
findSlicesObstacle(mlir::scf::ForOp loop,
                   llvm::function_ref<mlir::Value(mlir::Value)> rootOf);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_KERNELS_LOOPSLICES_H
