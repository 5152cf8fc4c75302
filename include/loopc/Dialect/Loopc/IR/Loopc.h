//===- Loopc.h - Attributes of all stages -----------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The loopc dialect: see LoopcDialect.td.

#ifndef LOOPC_DIALECT_LOOPC_IR_LOOPC_H
#define LOOPC_DIALECT_LOOPC_IR_LOOPC_H

#include "loopc/Support/GPUTarget.h"
#include "loopc/Support/VectorUnit.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Dialect.h"

#include "loopc/Dialect/Loopc/IR/LoopcDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "loopc/Dialect/Loopc/IR/LoopcAttributes.h.inc"

namespace loopc {

/// The name of a module's #loopc.target.
inline constexpr llvm::StringLiteral kTargetAttrName = "loopc.target";

/// Unit attribute of a function that was a part of the model's function, and
/// stays one of its own.
inline constexpr llvm::StringLiteral kOutlinedAttrName = "loopc.outlined";

/// Unit attribute of a function that calls nothing of the runtime.
inline constexpr llvm::StringLiteral kNestAttrName = "loopc.nest";

/// Unit attribute of a branch that makes room: its first result is a buffer as
/// it was, by the other branch, or a larger one with what is in it. As buffers
/// become larger by a factor, few of many iterations take it.
inline constexpr llvm::StringLiteral kGrowsAttrName = "loopc.grows";

/// Unit attribute of a rounding of f32 to 16 bits that makes a result of the
/// model's type out of what was computed: no Cast asked for it.
inline constexpr llvm::StringLiteral kMaySkipAttrName = "loopc.may_skip";

/// The GPU that kernels are made for where nobody says another: the oldest one
/// that copies to the memory of its blocks by itself.
inline constexpr llvm::StringLiteral kDefaultChip = "sm_80";

/// The vector registers that code is made for: those of the #loopc.target at
/// the module that `op` is or is in, or the least of all where it has none.
VectorUnit getVectorUnit(mlir::Operation *op);

/// The GPU that kernels are made for, from there; kDefaultChip where none is
/// named.
GPUTarget getGPUTarget(mlir::Operation *op);

/// True for code that kernels of a GPU compute.
bool isForGPU(mlir::Operation *op);

} // namespace loopc

#endif // LOOPC_DIALECT_LOOPC_IR_LOOPC_H
