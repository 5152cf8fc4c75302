//===- DeviceCode.h - What a kernel can hold --------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CONVERSION_NESTSTOGPU_DEVICECODE_H
#define LOOPC_LIB_CONVERSION_NESTSTOGPU_DEVICECODE_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace loopc {

/// Why `op` and what is in it cannot be in a kernel; "" where it can.
std::string findDeviceObstacle(mlir::Operation *op, bool hasLibdevice);

/// True for a loop whose iterations the threads of a kernel share.
bool isSharedLoop(mlir::Operation *op);

/// True if there is such a loop in `op`, itself included.
bool hasSharedLoop(mlir::Operation *op);

/// True where something in `op`, itself included, writes memory.
bool writesMemory(mlir::Operation *op);

/// The loops that `outer`, a shared loop, and those perfectly nested in it
/// make one: their bounds are known before the first begins.
llvm::SmallVector<mlir::scf::ForOp> collectSharedLoops(mlir::scf::ForOp outer);

/// About how many operations `op` takes on one thread; -1 where only the run
/// knows.
int64_t countWork(mlir::Operation *op);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_NESTSTOGPU_DEVICECODE_H
