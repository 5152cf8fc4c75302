//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// How those who write a nest say that the iterations of one of its loops do not
// depend on one another, to loopc-parallelize-nests.

#ifndef LOOPC_DIALECT_NEST_IR_PARALLEL_H
#define LOOPC_DIALECT_NEST_IR_PARALLEL_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace loopc {

/// Unit attribute of an scf.for whose iterations may run in any order, and at
/// the same time. Losing it costs time only.
inline constexpr llvm::StringLiteral kParallelAttrName = "loopc.parallel";

/// Unit attribute of a memref.alloc: what an iteration of a parallel loop reads
/// there, the same iteration has written, so that each thread may have memory
/// of its own. Losing it costs time only.
inline constexpr llvm::StringLiteral kPrivateAttrName = "loopc.private";

/// Says that no iteration of `loop` writes what another one reads or writes.
inline void markParallel(mlir::scf::ForOp loop) {
  loop->setAttr(kParallelAttrName, mlir::UnitAttr::get(loop.getContext()));
}

/// True where iterations of `op` along `dim` write different elements: it is
/// parallel and a place of each result.
inline bool isParallelDim(mlir::linalg::LinalgOp op, unsigned dim) {
  if (op.getIteratorTypesArray()[dim] != mlir::utils::IteratorType::parallel)
    return false;
  return llvm::all_of(op.getDpsInitsMutable(), [&](mlir::OpOperand &init) {
    return llvm::is_contained(op.getMatchingIndexingMap(&init).getResults(),
                              mlir::getAffineDimExpr(dim, op->getContext()));
  });
}

} // namespace loopc

#endif // LOOPC_DIALECT_NEST_IR_PARALLEL_H
