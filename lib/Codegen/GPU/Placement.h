//===- Placement.h - Where buffers lie --------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_PLACEMENT_H
#define LOOPC_LIB_CODEGEN_GPU_PLACEMENT_H

#include "loopc/Dialect/Nest/Analysis/AliasClasses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace loopc {

/// What the host has to wait for.
struct SharedMemory {
  /// Classes of memory that kernels, or copies in the order of kernels, write
  /// and the host reads or writes.
  llvm::DenseSet<const void *> classes;
  /// Classes of the host's memory that copies in the order of kernels write:
  /// it is free at once for who allocates next.
  llvm::DenseSet<const void *> copied;
};

/// Gives every buffer of `function` its place, once the parts in `kernels` are
/// known: allocations that kernels touch lie on the device, or where the host
/// touches them too in memory that both reach; inputs and constants get a view
/// there. Results on the device come back through loop.device_result.
SharedMemory placeBuffers(mlir::func::FuncOp function, AliasClasses &classes,
                          const llvm::SetVector<mlir::Operation *> &kernels);

/// Makes the host wait in front of what touches memory that is `shared` where a
/// kernel may have been begun since it last did, and at the end.
void insertWaits(mlir::func::FuncOp function, const AliasClasses &classes,
                 const SharedMemory &shared);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_PLACEMENT_H
