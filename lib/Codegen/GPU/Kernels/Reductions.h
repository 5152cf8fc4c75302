//===- Reductions.h - Sums that threads share ----------------- -*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_KERNELS_REDUCTIONS_H
#define LOOPC_LIB_CODEGEN_GPU_KERNELS_REDUCTIONS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {

/// Deals the iterations of `loop`, which has a combiner (DeviceCode.h), out to
/// `count` threads, of which this one has `number`; `putTogether` gives all of
/// them the whole of their parts. \returns what the loop resulted in before.
mlir::Value dealReduction(
    mlir::ImplicitLocOpBuilder &b, mlir::scf::ForOp loop, mlir::Value number,
    mlir::Value count,
    llvm::function_ref<mlir::Value(mlir::Value, mlir::gpu::AllReduceOperation)>
        putTogether);

/// The whole of the parts that the threads of a block have, for each of them.
mlir::Value reduceInBlock(mlir::ImplicitLocOpBuilder &b, mlir::Value part,
                          mlir::gpu::AllReduceOperation kind);

/// Loops in the parts of `kernel` that all threads go through which only add
/// up, multiply, or look for the largest or least: the threads of each block
/// take their shares and put them together (`gpu.all_reduce`), so that each
/// block has the whole.
void shareReductions(mlir::Operation *kernel);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_KERNELS_REDUCTIONS_H
