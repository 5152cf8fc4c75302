//===- FusionSteps.h - Steps of tensor-fuse-elementwise ---------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What makes operations such that they can be fused, each in a file of its own.

#ifndef LOOPC_LIB_TENSOR_FUSIONSTEPS_H
#define LOOPC_LIB_TENSOR_FUSIONSTEPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace loopc {

/// Indices that are computed of the numbers of their elements, and that rise or
/// fall along an axis, are checked at both ends of that axis instead of one by
/// one:
///
///     %t = linalg.generic { index_cast(linalg.index 0) - %w }
///     %m = scf.for %i = 0 to %n step 1 iter_args(%max = 0) {
///       maxui(%max, tensor.extract %t[%i]) }
///     loop.check (cmpi ult, %m, %extent)
///     ->  scf.for %i = 0 to %n step max(%n - 1, 1) { maxui(%max, %i - %w) }
///
/// Returns how many loops have become so short.
unsigned checkEndsOfIndices(mlir::IRRewriter &rewriter,
                            mlir::func::FuncOp function);

/// Indices that are computed of the numbers of their elements, and of what is
/// the same for all of them, are computed where loops read them one by one, as
/// those that scatter elements do: which elements these are is then seen.
/// Returns how many operations computed such indices.
unsigned computeIndicesInLoops(mlir::IRRewriter &rewriter,
                               mlir::func::FuncOp function);

/// Loops that write into neighbours one by one, which are counted on from the
/// number of the element, become operations on a slice; where bounds hold the
/// places, a run decides whether they are neighbours:
///
///     %r = scf.for %j = 0 to 64 iter_args(%a = %x) {
///       %old = tensor.extract %a[%j + %c]
///       tensor.insert (%old + %u[%j]) into %a[%j + %c] }
///     ->  %s = tensor.extract_slice %x[%c] [64] [1]
///         %r = tensor.insert_slice (%s + %u) into %x[%c] [64] [1]
///
/// Returns how many loops did so.
unsigned scatterRows(mlir::IRRewriter &rewriter, mlir::func::FuncOp function);

/// Patterns that make operations elementwise where they are so but for how they
/// are written: sums of one product each, and elements that are extracted at
/// the numbers of the loops; constants vectors that are such but for axes of
/// one element, and indices that are computed with such axes those without; and
/// sums go without the axes that they are the same along.
void populateSimplifyGenerics(mlir::RewritePatternSet &patterns);

/// An elementwise operation on what is put together of parts of other tensors,
/// as shifts with wrap-around or with padding are, is done piece by piece, each
/// of which reads those tensors themselves:
///
///     %l = insert %x[1:n] at 0, %x[0:1] at n - 1   // Concat of two Slices
///     %y = linalg.generic ins(%x, %l) { x + l }
///     ->  %y[0:n-1] = generic ins(%x[0:n-1], %x[1:n])
///         %y[n-1:n] = generic ins(%x[n-1:n], %x[0:1])
///
/// So it is where nearly all elements are in one piece. Returns how many
/// operations were split.
unsigned splitPieces(mlir::IRRewriter &rewriter, mlir::func::FuncOp function);

/// The same in loops where only a run knows how long an axis is. Which part of
/// an operand a piece lies in, the run finds out:
///
///     %r = insert %x[%k:n] at 0, %x[0:%k] at n - %k
///     ->  %o = select(begin of the piece >= n - %k, begin - (n - %k), begin +
///     %k)
///         piece of %y = generic ins(piece of %x, %x[%o:%o + size of the
///         piece])
unsigned splitOpenPieces(mlir::IRRewriter &rewriter,
                         mlir::func::FuncOp function);

/// The numbers of iterations in `part`, a piece of what begins at `begins`, are
/// those of the whole.
void countIterationsFrom(mlir::IRRewriter &rewriter,
                         mlir::linalg::GenericOp part,
                         mlir::ArrayRef<mlir::OpFoldResult> begins);

/// Patterns that leave no loop along a last axis of two to four elements, of
/// which most of a vector would be empty: neither where it is reduced, nor
/// where what is summed up beside it has such rows.
void populateUnrollShortAxes(mlir::RewritePatternSet &patterns);

} // namespace loopc

#endif // LOOPC_LIB_TENSOR_FUSIONSTEPS_H
