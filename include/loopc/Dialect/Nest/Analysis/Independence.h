//===- Independence.h - May iterations run at the same time? ----*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_NEST_ANALYSIS_INDEPENDENCE_H
#define LOOPC_DIALECT_NEST_ANALYSIS_INDEPENDENCE_H

#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace loopc {

/// True if `op` only computes on what is there: it allocates no memory, cannot
/// fail and calls nothing. Says nothing about operations in its regions.
bool isPlainOp(mlir::Operation *op);

/// The memory that `buffer`, used in `nest`, is a view of, if each thread that
/// runs iterations of it may have its own (Parallel.h); else null.
mlir::Value findPrivateMemory(mlir::Value buffer, mlir::scf::ForOp nest);

/// The same of the memory that `op`, in `nest`, writes to.
mlir::Value findWrittenPrivately(mlir::Operation *op, mlir::scf::ForOp nest);

/// An operation in `nest` that threads cannot run at the same time, whatever it
/// touches; null where there is none. Threads of a run can allocate memory, and
/// free it, those of a kernel cannot.
mlir::Operation *findUnsharedOp(mlir::scf::ForOp nest,
                                bool mayAllocate = false);

/// The branches of a nest each of whose iterations is one of them: sections,
/// loops that do not need one another, side by side. None where the nest is no
/// such one.
///
///     scf.for %k = %c0 to %c2 step %c1 {
///       scf.index_switch %k
///       case 0 { ... }
///       default { ... }
///     }
std::optional<mlir::scf::IndexSwitchOp> findSections(mlir::scf::ForOp nest);

/// Why iterations of `nest` cannot run at the same time, though they are said
/// to be independent (Parallel.h); "" where they can. Buffers for which
/// `rootOf` gives one value may be the same memory; what an iteration allocates
/// is its own.
std::string findParallelObstacle(
    mlir::scf::ForOp nest,
    llvm::function_ref<mlir::Value(mlir::Value)> rootOf = getViewRoot);

/// The loop that is all of `loop`'s body, but for what only computes; null
/// where there is none, or it is not said to be independent.
mlir::scf::ForOp findOnlyParallelLoop(mlir::scf::ForOp loop);

} // namespace loopc

#endif // LOOPC_DIALECT_NEST_ANALYSIS_INDEPENDENCE_H
