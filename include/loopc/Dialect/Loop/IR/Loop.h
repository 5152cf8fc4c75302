//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The loop dialect: see LoopOps.td and docs/Rationale/Loop.md.

#ifndef LOOPC_DIALECT_LOOP_IR_LOOP_H
#define LOOPC_DIALECT_LOOP_IR_LOOP_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace loopc::loop {
class YieldOp;

/// Axes and directions of a loop's slices and collected values, and the ONNX
/// version that it came from: what a rewritten loop takes over.
struct LoopPorts {
  llvm::SmallVector<int64_t> sliceAxes;
  llvm::SmallVector<bool> sliceReverse;
  llvm::SmallVector<int64_t> collectAxes;
  llvm::SmallVector<bool> collectReverse;
  llvm::SmallVector<bool> collectHasLength;
  std::optional<int64_t> sinceVersion;
};

/// True for an integer (or i1 where `boolean`) scalar or a tensor or memref of
/// one element of it: what counts, conditions and lengths may be.
bool isScalarLike(mlir::Type type, bool boolean);

/// The type of one iteration's value for a collected result: `type` with `axis`
/// removed; a scalar's rank-0 tensor stands for the scalar. Null if it has none.
mlir::Type getCollectedElementType(mlir::Type type, int64_t axis);

} // namespace loopc::loop

#include "loopc/Dialect/Loop/IR/LoopDialect.h.inc"

#define GET_OP_CLASSES
#include "loopc/Dialect/Loop/IR/LoopOps.h.inc"

#endif // LOOPC_DIALECT_LOOP_IR_LOOP_H
