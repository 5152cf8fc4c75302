//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-assign-storage: buffers of loops whose shapes do not change are
// allocated once.

#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPASSIGNSTORAGE
#include "loopc/Dialect/Loop/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

/// `value` without casts that keep the buffer.
static Value withoutCasts(Value value) {
  while (auto cast = value.getDefiningOp<memref::CastOp>())
    value = cast.getSource();
  return value;
}

static bool definedOutside(LoopLikeOpInterface loop, ValueRange values) {
  return llvm::all_of(
      values, [&](Value value) { return loop.isDefinedOutsideOfLoop(value); });
}

/// The one dealloc of `buffer` in `block`; null if it is not freed there.
static memref::DeallocOp deallocIn(Value buffer, Block *block) {
  for (Operation *user : buffer.getUsers()) {
    if (auto dealloc = dyn_cast<memref::DeallocOp>(user);
        dealloc && dealloc->getBlock() == block)
      return dealloc;
    if (auto cast = dyn_cast<memref::CastOp>(user))
      if (memref::DeallocOp dealloc = deallocIn(cast.getResult(), block))
        return dealloc;
  }
  return {};
}

namespace {
class StorageAssignment {
public:
  explicit StorageAssignment(MLIRContext *context) : rewriter(context) {}

  unsigned hoisted = 0, spares = 0;

  /// Returns the loop that took the place of `loop`.
  LoopOp run(LoopOp loop) {
    loop.walk([&](scf::IfOp branch) { mergeBranchAllocs(branch); });
    hoistPairs(loop);
    while (LoopOp made = addSpare(loop))
      loop = made;
    return loop;
  }

private:
  /// if c { %a = alloc(n); yield %a } else { %b = alloc(n); yield %b }
  ///   ->  %a = alloc(n); if c { yield %a } else { yield %a }
  void mergeBranchAllocs(scf::IfOp branch) {
    if (branch.getElseRegion().empty())
      return;
    for (auto [k, thenValue, elseValue] :
         llvm::enumerate(branch.thenYield().getOperands(),
                         branch.elseYield().getOperands())) {
      auto a = thenValue.getDefiningOp<memref::AllocOp>();
      auto b = elseValue.getDefiningOp<memref::AllocOp>();
      if (!a || !b || a.getType() != b.getType() ||
          a->getBlock() != branch.thenBlock() ||
          b->getBlock() != branch.elseBlock() ||
          !llvm::equal(a.getDynamicSizes(), b.getDynamicSizes()))
        continue;
      bool outside = llvm::all_of(a.getDynamicSizes(), [&](Value size) {
        return !branch->isAncestor(size.getParentRegion()->getParentOp());
      });
      if (!outside)
        continue;
      rewriter.moveOpBefore(a, branch);
      rewriter.replaceOp(b, a);
      rewriter.replaceAllUsesWith(branch.getResult(k), a);
    }
  }

  /// Moves what is allocated and freed within one iteration out of the loop.
  void hoistPairs(LoopOp loop) {
    SmallVector<std::pair<memref::AllocOp, memref::DeallocOp>> pairs;
    loop.walk([&](memref::AllocOp alloc) {
      if (!definedOutside(loop, alloc->getOperands()))
        return;
      if (memref::DeallocOp dealloc = deallocIn(alloc, alloc->getBlock()))
        pairs.push_back({alloc, dealloc});
    });
    for (auto [alloc, dealloc] : pairs) {
      rewriter.moveOpBefore(alloc, loop);
      rewriter.eraseOp(dealloc);
      rewriter.setInsertionPointAfter(loop);
      memref::DeallocOp::create(rewriter, alloc.getLoc(), alloc);
      ++hoisted;
    }
  }

  /// True if every buffer of carried value `port` has the sizes of `alloc`.
  bool hasSizesOf(LoopOp loop, unsigned port, memref::AllocOp alloc) {
    Value arg = loop.getCarriedArgs()[port];
    if (arg.getType() != alloc.getType())
      return false;
    if (alloc.getDynamicSizes().empty())
      return true;
    auto sameSizes = [&](Value value) {
      auto other = withoutCasts(value).getDefiningOp<memref::AllocOp>();
      return other && other.getType() == alloc.getType() &&
             llvm::equal(other.getDynamicSizes(), alloc.getDynamicSizes());
    };
    return sameSizes(loop.getInits()[port]) &&
           sameSizes(loop.getYield().getCarried()[port]);
  }

  /// Lets one allocation that is carried on and one argument that dies take
  /// turns; null when there is no such pair.
  LoopOp addSpare(LoopOp loop) {
    for (Value yielded : loop.getYield().getCarried()) {
      auto alloc = withoutCasts(yielded).getDefiningOp<memref::AllocOp>();
      if (!alloc || alloc->getBlock() != loop.getLoopBody() ||
          !definedOutside(loop, alloc->getOperands()))
        continue;
      for (auto [port, arg] : llvm::enumerate(loop.getCarriedArgs())) {
        memref::DeallocOp dealloc = deallocIn(arg, loop.getLoopBody());
        if (dealloc && hasSizesOf(loop, port, alloc))
          return takeTurns(loop, alloc, arg, dealloc);
      }
    }
    return {};
  }

  LoopOp takeTurns(LoopOp loop, memref::AllocOp alloc, Value dying,
                   memref::DeallocOp dealloc) {
    rewriter.setInsertionPoint(loop);
    Value spare = memref::AllocOp::create(
        rewriter, alloc.getLoc(), alloc.getType(), alloc.getDynamicSizes());
    rewriter.eraseOp(dealloc);
    unsigned port = loop.getNumCarried();
    auto made = loop.replaceWithAdditionalYields(
        rewriter, spare, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &, Location, ArrayRef<BlockArgument>) {
          return SmallVector<Value>{dying};
        });
    auto result = cast<LoopOp>(made->getOperation());
    rewriter.replaceOp(alloc, result.getCarriedArgs()[port]);
    rewriter.setInsertionPointAfter(result);
    memref::DeallocOp::create(rewriter, result.getLoc(),
                              result.getResult(port));
    ++spares;
    return result;
  }

  IRRewriter rewriter;
};

struct LoopAssignStorage
    : loopc::impl::LoopAssignStorageBase<LoopAssignStorage> {
  void runOnOperation() override {
    StorageAssignment assignment(&getContext());
    SmallVector<LoopOp> loops;
    getOperation().walk([&](LoopOp loop) { loops.push_back(loop); });
    for (LoopOp loop : loops) {
      Location loc = loop.getLoc();
      LoopOp made = assignment.run(loop);
      unsigned left = 0;
      made.walk([&](memref::AllocOp) { ++left; });
      if (left)
        remarkMissed(loc, "AssignStorage",
                     Twine(left) + " buffers are allocated in each iteration: "
                                   "their size changes");
    }
    numHoisted += assignment.hoisted;
    numSpares += assignment.spares;
  }
};
} // namespace
