//===- Accumulators.h - Sums in registers -----------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_CODEGEN_GPU_REGIONS_ACCUMULATORS_H
#define LOOPC_CODEGEN_GPU_REGIONS_ACCUMULATORS_H

#include "loopc/Dialect/Nest/Analysis/AliasClasses.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace loopc {

/// Elements that every iteration of a sequential loop nested in `op` reads and
/// writes at one place become values that the loop carries: read before it,
/// written behind it.
void promoteAccumulators(mlir::Operation *op, const AliasClasses &classes);

/// The same for `loop` itself. \returns what it has become.
mlir::scf::ForOp promoteAccumulatorsOf(mlir::scf::ForOp loop,
                                       const AliasClasses &classes);

} // namespace loopc

#endif // LOOPC_CODEGEN_GPU_REGIONS_ACCUMULATORS_H
