//===- Rows.h - Rows of elements ------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_CPU_ROWS_ROWS_H
#define LOOPC_LIB_CODEGEN_CPU_ROWS_ROWS_H

#include "loopc/Support/CpuModel.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

namespace loopc {

/// `op` with the axis last that neighbours in memory differ in, where there is
/// one; short axes that lie in memory one after the other are joined.
mlir::linalg::GenericOp arrangeRows(mlir::IRRewriter &rewriter,
                                    mlir::linalg::GenericOp op);

/// Lets a run join the last two axes of an elementwise operation that reads
/// operands whose extents are 1 or those of the result, as the run knows.
void joinBroadcasts(mlir::linalg::GenericOp op);

/// True if a number holds how many elements these extents are, those that only
/// the run knows left out. Those of constants may be any: a buffer of more has
/// no type as one row, and the run finds no memory for it.
bool canCount(llvm::ArrayRef<int64_t> extents);

/// True if the axes of each of `groups` can be put together: the type says so,
/// or the view.
bool canGroup(mlir::Value buffer,
              llvm::ArrayRef<mlir::ReassociationIndices> groups);

/// `buffer` with the axes of each of `groups` put together.
mlir::Value groupBuffer(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value buffer,
                        llvm::ArrayRef<mlir::ReassociationIndices> groups);

/// True for quotients and remainders that loopc-expand-math computes of vectors
/// without ending the run at a divisor of 0, which lanes that are masked out
/// may have.
bool isVectorDivision(mlir::Operation *op);

/// Bits of the widest number that an element of `op` is computed with; 0 where
/// that cannot be done with vectors in the place of numbers. What is read from
/// other places than the operands' is left out, with what finds them.
unsigned bitsOfVectorBody(mlir::linalg::GenericOp op);

/// True if `value`, in the body of `op`, is not the same all along axis `dim`.
bool variesAlong(mlir::Value value, mlir::linalg::GenericOp op, unsigned dim);

/// True if `value`, an index in the body of `op`, is the number of the element
/// along axis `dim`, or more by what does not vary along it.
bool isNumberAlong(mlir::Value value, mlir::linalg::GenericOp op, unsigned dim);

/// The condition of an arith.select `value`, an index in the body of `op`, that
/// is the number of the element along axis `dim` or the same for all of them,
/// as a condition says that does not vary along it: true for the same one if
/// `isOneIfTrue` is. Null for other values. An operand whose extent is 1 or
/// that of the result, which only a run knows, is read so.
mlir::Value findOnePlace(mlir::Value value, mlir::linalg::GenericOp op,
                         unsigned dim, bool &isOneIfTrue);

/// 1 if `value`, an index in the body of `op`, counts up by one along axis
/// `dim`, but where it meets a bound or goes on at the other end of an axis: it
/// has come as far as it was counted only where it met none. -1 if it counts
/// down so, 0 for other values.
int findBoundedDirection(mlir::Value value, mlir::linalg::GenericOp op,
                         unsigned dim);

/// Which operand of `compare`, in the body of `op`, is the number of the
/// element along axis `dim`, if that is compared with what does not vary along
/// it: of a vector, its lanes are compared with how far both are apart.
std::optional<unsigned> findComparedNumber(mlir::Operation &compare,
                                           mlir::linalg::GenericOp op,
                                           unsigned dim);

/// How many elements along axis `dim` have the same number, a power of two, if
/// `value`, an index in the body of `op`, is that of the element divided by it;
/// else 0.
int64_t repeatsAlong(mlir::Value value, mlir::linalg::GenericOp op,
                     unsigned dim);

/// True if vectors along axis `dim` can be read where `load`, in the body of
/// `op`, reads one element: all of them the same one, neighbours, each of them
/// once or several times, one of both as a condition says, or elements apart
/// along the buffer's last axis.
bool canLoadAlong(mlir::memref::LoadOp load, mlir::linalg::GenericOp op,
                  unsigned dim);

/// How often `load`, in the body of `op`, reads one element for neighbours
/// along axis `dim`; 0: once.
int64_t countRepeats(mlir::memref::LoadOp load, mlir::linalg::GenericOp op,
                     unsigned dim);

/// How far neighbours along axis `dim` are apart in `operand`; 0: they are one;
/// -1: it is not the same for all.
int64_t stepAlong(mlir::OpOperand &operand, mlir::linalg::GenericOp op,
                  unsigned dim);

/// True for a sum along `dim` of what is computed of one row, which is no
/// product, and which planRows() has a plan for: rows are summed up together
/// with what follows of them. Of functions this is so where rows are long;
/// those of masked vectors take longer than sums of products do.
bool isSumOfRow(mlir::linalg::LinalgOp op, unsigned dim, CpuModel cpu);

/// True for a sum of columns, of rows shorter than a vector or that may be,
/// which planShortRows() has a plan for.
bool sumsShortRows(mlir::linalg::LinalgOp op, CpuModel cpu);

/// Replaces operations of `block` that follow one another and go over the same
/// rows by one nest, which computes some rows of all of them before the next
/// rows. \returns how many operations these were.
unsigned vectorizeRowGroups(mlir::IRRewriter &rewriter, mlir::Block &block,
                            CpuModel cpu);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_CPU_ROWS_ROWS_H
