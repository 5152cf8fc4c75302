//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Dimensions of tensors as SSA values, and rebuilding of loops.

#ifndef LOOPC_DIALECT_LOOP_TRANSFORMS_UTILS_H
#define LOOPC_DIALECT_LOOP_TRANSFORMS_UTILS_H

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace loopc {

/// Dimensions of what branches yield, which other branches pass on. Who asks
/// for many of them while code is made keeps them from one question to the
/// next: a chain is followed once, not once for each branch that it gets.
struct BranchDims {
  /// Only of these, which stay as long as this is used; and so must what is
  /// found.
  llvm::DenseSet<mlir::Operation *> branches;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::OpFoldResult> found;
  unsigned work = 0; ///< how many branches were followed
};

/// Dimension `axis` of the ranked tensor `value`: a constant or an existing SSA
/// value where the defining operations tell, else a tensor.dim right behind the
/// definition, so that equal dimensions are equal values.
mlir::OpFoldResult resolveDim(mlir::OpBuilder &b, mlir::Location loc,
                              mlir::Value value, int64_t axis,
                              BranchDims *branchDims = nullptr);

/// Dimension `axis` of `value` where its definition tells: a constant or a
/// value that stands before it; null where only a tensor.dim of it would.
mlir::OpFoldResult knownDim(mlir::OpBuilder &b, mlir::Location loc,
                            mlir::Value value, int64_t axis);

/// All dimensions of `value`.
llvm::SmallVector<mlir::OpFoldResult>
resolveDims(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value);

// What types say and what resolveDim() finds are two answers to one question:
// a cast, a loop or a branch may hide extents that its operands have. MLIR's
// operations want both to be the same, so slices are made by these functions.

/// `value` with a type that has all extents that its definition tells.
mlir::Value withKnownExtents(mlir::OpBuilder &b, mlir::Location loc,
                             mlir::Value value,
                             BranchDims *branchDims = nullptr);

/// A part of `value` without the axes `dropped`, whose sizes are 1; `strides`
/// are 1 if there are none. Its type has those sizes that are constants.
mlir::Value extractSlice(mlir::OpBuilder &b, mlir::Location loc,
                         mlir::Value value,
                         llvm::ArrayRef<mlir::OpFoldResult> offsets,
                         llvm::ArrayRef<mlir::OpFoldResult> sizes,
                         llvm::ArrayRef<mlir::OpFoldResult> strides = {},
                         llvm::ArrayRef<int64_t> dropped = {});

/// `dest` with `source`, which has not the axes `dropped`, written to a part of
/// it. The type of `source` and `sizes` say the same extents, each perhaps
/// fewer than the other; what either knows is in the operation.
mlir::Value insertSlice(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value source, mlir::Value dest,
                        llvm::ArrayRef<mlir::OpFoldResult> offsets,
                        llvm::ArrayRef<mlir::OpFoldResult> sizes,
                        llvm::ArrayRef<mlir::OpFoldResult> strides = {},
                        llvm::ArrayRef<int64_t> dropped = {});

namespace loop {

/// Marks loops that run where a better version of them cannot: what makes code
/// large leaves them alone.
bool isCold(mlir::Operation *op);

/// The loops in `root` for which code may be made, inner ones first: all that
/// are not rare.
llvm::SmallVector<LoopOp> collectLoops(mlir::Operation *root);

/// True where an iteration may end the run: by a check, by a slice that is not
/// there (loop_slice), or by a collected value of another shape than the one
/// before (loop_collect_shape), or too many of them (loop_collect_length).
/// Slices of `loop` itself are not asked for.
bool mayEndRun(LoopOp loop);

/// True for what the body of `loop` computes of scalars, and of tensors from
/// outside, alone.
bool isOnScalars(LoopOp loop, mlir::Operation &op);

/// The one element of `value`, a scalar or a tensor; the run ends with an error
/// where a tensor of unknown shape holds another number of elements.
mlir::Value extractScalar(mlir::OpBuilder &b, mlir::Location loc,
                          mlir::Value value, llvm::StringRef what);

/// Zero of an element type; of strings the empty one.
mlir::Value createZero(mlir::OpBuilder &b, mlir::Location loc,
                       mlir::Type element);

/// The trip count `count`, a scalar, as an index that is at least 0 (loop_m).
mlir::Value tripsAsIndex(mlir::OpBuilder &b, mlir::Location loc,
                         mlir::Value count);

/// The trips that `loop` will run, as an index, where that is certain when it
/// begins and space for all of them may be set aside; else null.
mlir::OpFoldResult knownTrips(mlir::OpBuilder &b, LoopOp loop);

/// Moves the body of `from` into `to` (a loop with an empty body), with the
/// arguments of `from` replaced by `replacements`.
void moveBody(mlir::RewriterBase &rewriter, LoopOp from, LoopOp to,
              mlir::ValueRange replacements);

/// The first operation of `block` that is a check, or has one in it; null where
/// nothing is checked.
mlir::Operation *findFirstCheck(mlir::Block &block);

/// True if `op`, and all in it, stays within its tensors whether or not the
/// checks before it hold: so it may run without them.
bool needsNoCheck(mlir::Operation *op);

/// Moves what the iterations of `loop` do not change before it, but for what
/// relies on checks in the loop. \returns how many operations.
size_t hoistInvariants(mlir::LoopLikeOpInterface loop);

/// Puts values that bounds of iteration numbers and extents decide in the place
/// of minima, maxima and comparisons in `root`, and one of equal sums.
/// \returns how many.
unsigned foldBounds(mlir::Operation *root);

/// Erases what nobody uses from `block`: dimensions that were asked for,
/// mostly.
void eraseDeadOps(mlir::RewriterBase &rewriter, mlir::Block &block);

} // namespace loop
} // namespace loopc

#endif // LOOPC_DIALECT_LOOP_TRANSFORMS_UTILS_H
