//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// nest-shorten-recurrences: least and greatest numbers of what loops carry. An
// iteration waits for the one before it only where it must: of min(min(x, a),
// b) for both minimums where x is carried, of min(min(a, b), x) for one.
//
// Sums of integers and the like are put in order by LLVM (reassociate), which
// does not know that these may be, too.

#include "loopc/Dialect/Nest/Transforms/Passes.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace loopc {
#define GEN_PASS_DEF_NESTSHORTENRECURRENCES
#include "loopc/Dialect/Nest/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

namespace {
struct ShortenRecurrences
    : loopc::impl::NestShortenRecurrencesBase<ShortenRecurrences> {
  void runOnOperation() override;
};
} // namespace

/// The operation of the same kind that alone reads `op`, in the same block;
/// else null.
static Operation *getOuter(Operation *op) {
  if (!op->hasOneUse())
    return nullptr;
  Operation *user = *op->user_begin();
  bool isSame = user->getName() == op->getName() &&
                user->getBlock() == op->getBlock() &&
                user->getAttrDictionary() == op->getAttrDictionary();
  return isSame ? user : nullptr;
}

/// What the operations of one kind that end in `root` combine, and these, the
/// last one first.
static void collect(Operation *root, SmallVectorImpl<Value> &leaves,
                    SmallVectorImpl<Operation *> &tree) {
  tree.push_back(root);
  for (Value operand : root->getOperands()) {
    Operation *inner = operand.getDefiningOp();
    if (inner && inner->getName() == root->getName() && getOuter(inner) == root)
      collect(inner, leaves, tree);
    else
      leaves.push_back(operand);
  }
}

/// The arguments of `loop` whose next values `root` is needed for.
static llvm::SmallPtrSet<Value, 4> findCarried(scf::ForOp loop,
                                               Operation *root) {
  SetVector<Operation *> readers;
  ForwardSliceOptions options;
  options.filter = [&](Operation *op) { return loop->isProperAncestor(op); };
  options.inclusive = true;
  getForwardSlice(root, &readers, options);
  llvm::SmallPtrSet<Value, 4> carried;
  for (auto [argument, next] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues()))
    if (Operation *made = next.getDefiningOp();
        made && llvm::any_of(readers, [&](Operation *reader) {
          return made->isAncestor(reader);
        }))
      carried.insert(argument);
  return carried;
}

/// True if `value`, of an iteration of `loop`, is computed from one of
/// `carried`.
static bool waitsFor(Value value, scf::ForOp loop,
                     const llvm::SmallPtrSetImpl<Value> &carried) {
  if (carried.contains(value))
    return true;
  Operation *made = value.getDefiningOp();
  if (!made || !loop->isProperAncestor(made))
    return false;
  SetVector<Operation *> sources;
  BackwardSliceOptions options;
  options.filter = [&](Operation *op) { return loop->isProperAncestor(op); };
  options.inclusive = true;
  if (failed(getBackwardSlice(made, &sources, options)))
    return true;
  return llvm::any_of(sources, [&](Operation *source) {
    return llvm::any_of(source->getOperands(), [&](Value operand) {
      return carried.contains(operand);
    });
  });
}

/// Combines what waits for the iteration before last, as the second operand,
/// which machines look at once only where a NaN counts. \returns whether that
/// was not so.
static bool shorten(RewriterBase &rewriter, Operation *root) {
  auto loop = dyn_cast<scf::ForOp>(root->getParentOp());
  if (!loop || loop.getNumRegionIterArgs() == 0)
    return false;
  llvm::SmallPtrSet<Value, 4> carried = findCarried(loop, root);
  if (carried.empty())
    return false;
  SmallVector<Value> leaves;
  SmallVector<Operation *> tree;
  collect(root, leaves, tree);
  SmallVector<Value> order(leaves);
  auto waiting =
      std::stable_partition(order.begin(), order.end(), [&](Value leaf) {
        return !waitsFor(leaf, loop, carried);
      });
  if (waiting == order.begin() || waiting == order.end() || order == leaves)
    return false;
  rewriter.setInsertionPoint(root);
  Value joined = order.front();
  for (Value leaf : llvm::drop_begin(order)) {
    Operation *made = rewriter.clone(*root);
    made->setOperands({joined, leaf});
    joined = made->getResult(0);
  }
  rewriter.replaceOp(root, joined);
  for (Operation *op : llvm::drop_begin(tree))
    rewriter.eraseOp(op);
  return true;
}

void ShortenRecurrences::runOnOperation() {
  SmallVector<Operation *> roots;
  getOperation().walk([&](Operation *op) {
    if (isa<arith::MinimumFOp, arith::MaximumFOp>(op) && !getOuter(op))
      roots.push_back(op);
  });
  IRRewriter rewriter(&getContext());
  for (Operation *root : roots)
    if (shorten(rewriter, root))
      ++numShortened;
}
