//===- FuseColumns.h - Columns that are summed up as computed --*- C++ -*--===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_CPU_ROWS_FUSECOLUMNS_H
#define LOOPC_LIB_CODEGEN_CPU_ROWS_FUSECOLUMNS_H

#include "loopc/Support/CpuModel.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace loopc {

/// Makes one operation of what computes a matrix of `block` element by element
/// and what multiplies it with a vector, along whichever axis; not of a matrix
/// that is computed elsewhere, as `isTaken` says. \returns how many there were.
unsigned fuseColumns(mlir::IRRewriter &rewriter, mlir::Block &block,
                     CpuModel cpu,
                     llvm::function_ref<bool(mlir::linalg::GenericOp)> isTaken);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_CPU_ROWS_FUSECOLUMNS_H
