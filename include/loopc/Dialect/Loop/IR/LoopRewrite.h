//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What rewrites of loop.loop have in common.

#ifndef LOOPC_DIALECT_LOOP_IR_LOOPREWRITE_H
#define LOOPC_DIALECT_LOOP_IR_LOOPREWRITE_H

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/BitVector.h"

namespace loopc::loop {

/// Which ports of a loop stay when it is rebuilt; all of them at first.
struct KeptPorts {
  explicit KeptPorts(LoopOp loop)
      : carried(loop.getNumCarried(), true),
        slices(loop.getSlices().size(), true),
        collected(loop.getNumCollected(), true) {}

  bool all() const { return carried.all() && slices.all() && collected.all(); }

  llvm::BitVector carried;
  llvm::BitVector slices;
  llvm::BitVector collected;
};

/// Replaces `loop` by one that has only the ports in `kept`; the body, the
/// attributes and the results that stay move over. Results that go must have no
/// uses. `deadOps`, operations of the body in its order, are erased once the
/// yield gives only what stays; after that the arguments that go must have no
/// uses.
LoopOp rebuildLoop(mlir::RewriterBase &rewriter, LoopOp loop,
                   const KeptPorts &kept,
                   llvm::ArrayRef<mlir::Operation *> deadOps = {});

/// A constant of `type`, an integer or index scalar or a tensor of static
/// shape of them, of which every element is `value`; null for any other type.
mlir::Value createIntegerConstant(mlir::OpBuilder &builder, mlir::Location loc,
                                  mlir::Type type, int64_t value);

/// Adds the canonicalisations that see whether a loop runs never or once.
void populateTripPatterns(mlir::RewritePatternSet &patterns);

/// Adds the canonicalisations that make the types of a loop's ports say more.
void populateTypePatterns(mlir::RewritePatternSet &patterns);

/// Adds canonicalisations of slices that leave out dimensions of extent 1,
/// which upstream's get wrong.
void populateSlicePatterns(mlir::RewritePatternSet &patterns);

/// Adds canonicalisations of scf's loops and branches that take linear time
/// where upstream's take that of squares.
void populateSuccessorInputPatterns(mlir::RewritePatternSet &patterns);

/// Patterns that replace the condition of a branch of scf in the branch's
/// regions, in time that is linear in its uses or in what is in them.
void populateBranchConditionPatterns(mlir::RewritePatternSet &patterns);

} // namespace loopc::loop

#endif // LOOPC_DIALECT_LOOP_IR_LOOPREWRITE_H
