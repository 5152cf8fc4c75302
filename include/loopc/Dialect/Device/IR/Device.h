//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The device dialect: see DeviceOps.td and docs/Rationale/GPU.md.

#ifndef LOOPC_DIALECT_DEVICE_IR_DEVICE_H
#define LOOPC_DIALECT_DEVICE_IR_DEVICE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace loopc::device {
class RegionOp;

/// Threads of a kernel, by which of them something is said.
enum class Scope { Thread, Block, Grid };

/// Whom a thread that comes to `op` waits for: itself alone, all of its block,
/// or all of the grid.
Scope getWaitScope(mlir::Operation *op);
} // namespace loopc::device

#include "loopc/Dialect/Device/IR/DeviceDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "loopc/Dialect/Device/IR/DeviceAttributes.h.inc"

#define GET_OP_CLASSES
#include "loopc/Dialect/Device/IR/DeviceOps.h.inc"

#endif // LOOPC_DIALECT_DEVICE_IR_DEVICE_H
