//===- DeviceCode.h - What a kernel can hold --------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_CODEGEN_GPU_REGIONS_DEVICECODE_H
#define LOOPC_CODEGEN_GPU_REGIONS_DEVICECODE_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace loopc {

/// Attribute of a loop over tiles, which blocks share and whose code all
/// threads of a block go through together: while loopc-distribute-kernels runs.
inline constexpr llvm::StringLiteral kTiledAttrName = "loopc.tiled";

/// Why `op` itself cannot be in a kernel; "" where it can.
std::string findOwnObstacle(mlir::Operation *op, bool hasLibdevice);

/// Why `op` and what is in it cannot be in a kernel; "" where it can.
std::string findDeviceObstacle(mlir::Operation *op, bool hasLibdevice);

/// True for a loop whose iterations the threads of a kernel share.
bool isSharedLoop(mlir::Operation *op);

/// True if there is such a loop in `op`, itself included, or one over tiles.
bool hasSharedLoop(mlir::Operation *op);

/// True where something in `op`, itself included, writes memory.
bool writesMemory(mlir::Operation *op);

/// The loops that `outer`, a shared loop, and those perfectly nested in it
/// make one: their bounds are known before the first begins.
llvm::SmallVector<mlir::scf::ForOp> collectSharedLoops(mlir::scf::ForOp outer);

/// Bounds of the loops of a nest where they begin at 0 and take steps of 1;
/// nothing else.
llvm::SmallVector<mlir::OpFoldResult>
getNestExtents(mlir::ArrayRef<mlir::scf::ForOp> nest);

/// For each of `place`, indices in `nest`, the number of the loop whose
/// iteration it is, or -1 where it does not depend on the nest; nothing where
/// it does otherwise, or two iterations have one place.
std::optional<llvm::SmallVector<int>>
findOwnPlace(mlir::ValueRange place, mlir::ArrayRef<mlir::scf::ForOp> nest);

/// True for a nest of sums along rows, one behind the other in memory: a warp
/// computes each, so that its threads read what lies side by side.
bool isWarpNest(mlir::scf::ForOp outer);

/// How `op` puts two numbers together, where threads can do that.
std::optional<mlir::gpu::AllReduceOperation> getReduction(mlir::Operation *op);

/// The operation that puts all iterations of `loop` together where they do
/// nothing else, of a type and kind that threads exchange; null where not.
mlir::Operation *findCombiner(mlir::scf::ForOp loop);

/// About how many operations `op` takes on one thread; -1 where only the run
/// knows.
int64_t countWork(mlir::Operation *op);

} // namespace loopc

#endif // LOOPC_CODEGEN_GPU_REGIONS_DEVICECODE_H
