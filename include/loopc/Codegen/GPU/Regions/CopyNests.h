//===- CopyNests.h - Copies, element by element --------------- -*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_CODEGEN_GPU_REGIONS_COPYNESTS_H
#define LOOPC_CODEGEN_GPU_REGIONS_COPYNESTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {

/// The elements of `copy`, as a nest in its place.
mlir::scf::ForOp expandCopy(mlir::ImplicitLocOpBuilder &b,
                            mlir::memref::CopyOp copy);

/// True for the cast of a memref that is stored as a result of the run.
bool isResultCast(mlir::Operation *op);

/// Results of `function` that are not in C order, as parts of larger tensors
/// may not be, become copies that are: what comes from the device is one piece.
void copyStridedResults(mlir::func::FuncOp function);

} // namespace loopc

#endif // LOOPC_CODEGEN_GPU_REGIONS_COPYNESTS_H
