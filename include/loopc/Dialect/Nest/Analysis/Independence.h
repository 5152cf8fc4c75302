//===- Independence.h - May iterations run at the same time? ----*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_NEST_ANALYSIS_INDEPENDENCE_H
#define LOOPC_DIALECT_NEST_ANALYSIS_INDEPENDENCE_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace loopc {

/// True if `op` only computes on what is there: it allocates no memory, cannot
/// fail and calls nothing. Says nothing about operations in its regions.
bool isPlainOp(mlir::Operation *op);

/// The memory that `buffer`, used in `nest`, is a view of, if each thread that
/// runs iterations of it may have its own (Parallel.h); else null.
mlir::memref::AllocOp findPrivateMemory(mlir::Value buffer,
                                        mlir::scf::ForOp nest);

/// The same of the memory that `op`, in `nest`, writes to.
mlir::memref::AllocOp findWrittenPrivately(mlir::Operation *op,
                                           mlir::scf::ForOp nest);

/// Why iterations of `nest` cannot run at the same time, though they are said
/// to be independent (Parallel.h); "" where they can.
std::string findParallelObstacle(mlir::scf::ForOp nest);

/// The same of a nest whose mark is believed, as kernels do: what is left to
/// see is whether all iterations write to one place. The passes that make
/// kernels ask this of what they have rewritten themselves, whose places
/// (quotients and remainders of a number that threads share)
/// findParallelObstacle cannot tell apart; two answers for one loop would be a
/// barrier that some threads miss.
std::string findSharingObstacle(mlir::scf::ForOp nest);

/// The loop that is all of `loop`'s body, but for what only computes; null
/// where there is none, or it is not said to be independent.
mlir::scf::ForOp findOnlyParallelLoop(mlir::scf::ForOp loop);

} // namespace loopc

#endif // LOOPC_DIALECT_NEST_ANALYSIS_INDEPENDENCE_H
