//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelLoops.h"
#include "loopc/Codegen/GPU/Regions/CopyNests.h"
#include "loopc/Codegen/GPU/Regions/DeviceCode.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace loopc;

void loopc::simplifyKernel(gpu::GPUFuncOp kernel) {
  ImplicitLocOpBuilder b(kernel.getLoc(), kernel);
  for (memref::CopyOp copy : collectOps<memref::CopyOp>(kernel))
    expandCopy(b, copy);
  kernel.walk(
      [](LoopLikeOpInterface loop) { loopc::loop::hoistInvariants(loop); });
  IRRewriter rewriter(kernel.getContext());
  DominanceInfo dominance(kernel);
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
}

bool loopc::collectNests(Operation *op,
                         SmallVectorImpl<SmallVector<scf::ForOp>> &nests) {
  for (Region &region : op->getRegions())
    // A branch may have nothing for the other case.
    for (Operation &inner : region.getOps()) {
      if (isSharedLoop(&inner)) {
        nests.push_back(collectSharedLoops(cast<scf::ForOp>(inner)));
        continue;
      }
      if (isa<scf::ForOp, scf::IfOp>(inner)) {
        if (!collectNests(&inner, nests))
          return false;
        continue;
      }
      if (!isMemoryEffectFree(&inner) &&
          !isa<memref::LoadOp, loop::PollOp>(inner) &&
          !inner.hasTrait<OpTrait::IsTerminator>())
        return false;
    }
  return true;
}

//===----------------------------------------------------------------------===//
// Interchange
//===----------------------------------------------------------------------===//

namespace {
class Interchange {
public:
  Interchange(scf::ForOp loop, const AliasClasses &classes)
      : loop(loop), classes(classes), b(loop.getLoc(), loop) {}

  bool run() {
    if (loop.getNumResults() != 0 || !collectNests(loop, nests) ||
        nests.empty() || !isOwn())
      return false;
    rewrite();
    return true;
  }

private:
  bool isOwn();
  void rewrite();
  void fill(Block &from, IRMapping &mapping);

  scf::ForOp loop;
  const AliasClasses &classes;
  ImplicitLocOpBuilder b;
  SmallVector<SmallVector<scf::ForOp>> nests;
};
} // namespace

/// True where the nests go over one space, and each iteration touches what the
/// loop writes at its own element alone.
bool Interchange::isOwn() {
  SmallVector<OpFoldResult> extents = getNestExtents(nests.front());
  auto isOutside = [&](OpFoldResult extent) {
    auto value = dyn_cast<Value>(extent);
    return !value || loop.isDefinedOutsideOfLoop(value);
  };
  if (extents.empty() || !llvm::all_of(extents, isOutside))
    return false;
  struct Written {
    Value buffer;
    /// Which loops of the nests say where.
    std::optional<SmallVector<int>> loops;
  };
  DenseMap<const void *, Written> written;
  loop.walk([&](memref::StoreOp store) {
    written[classes.of(store.getMemref())].buffer = store.getMemref();
  });
  auto isAtOwn = [&](Value buffer, ValueRange place,
                     ArrayRef<scf::ForOp> nest) {
    auto it = written.find(classes.of(buffer));
    if (it == written.end())
      return true;
    std::optional<SmallVector<int>> loops = findOwnPlace(place, nest);
    if (it->second.buffer != buffer || !loop.isDefinedOutsideOfLoop(buffer) ||
        !loops || (it->second.loops && it->second.loops != loops))
      return false;
    it->second.loops = std::move(loops);
    return true;
  };
  auto areAtOwn = [&](Operation *root, ArrayRef<scf::ForOp> nest) {
    return !root->walk<WalkOrder::PreOrder>([&](Operation *op) {
                  if (op != root && isSharedLoop(op) && nest.empty())
                    return WalkResult::skip();
                  bool isFine = true;
                  if (auto load = dyn_cast<memref::LoadOp>(op))
                    isFine = isAtOwn(load.getMemref(), load.getIndices(), nest);
                  else if (auto store = dyn_cast<memref::StoreOp>(op))
                    isFine =
                        isAtOwn(store.getMemref(), store.getIndices(), nest);
                  else if (isa<loop::CheckOp>(op))
                    isFine = false;
                  return isFine ? WalkResult::advance()
                                : WalkResult::interrupt();
                })
                .wasInterrupted();
  };
  // What all threads read beside the nests nobody writes.
  if (!areAtOwn(loop, {}))
    return false;
  return llvm::all_of(nests, [&](ArrayRef<scf::ForOp> nest) {
    return getNestExtents(nest) == extents && areAtOwn(nest.front(), nest);
  });
}

/// Clones `from`, its nests as the iteration that `b` is in.
void Interchange::fill(Block &from, IRMapping &mapping) {
  for (Operation &op : from.without_terminator()) {
    auto nest = llvm::find_if(nests, [&](ArrayRef<scf::ForOp> other) {
      return other.front() == &op;
    });
    if (nest == nests.end()) {
      if (!isa<scf::ForOp, scf::IfOp>(op)) {
        b.clone(op, mapping);
        continue;
      }
      Operation *made = op.cloneWithoutRegions(mapping);
      b.insert(made);
      for (auto [old, region] :
           llvm::zip(op.getRegions(), made->getRegions())) {
        if (old.empty())
          continue;
        auto *block = new Block();
        region.push_back(block);
        for (BlockArgument argument : old.getArguments())
          mapping.map(argument, block->addArgument(argument.getType(),
                                                   argument.getLoc()));
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(block);
        fill(old.front(), mapping);
        b.clone(*old.front().getTerminator(), mapping);
      }
      continue;
    }
    for (auto [mine, theirs] : llvm::zip(nests.front(), *nest))
      mapping.map(theirs.getInductionVar(),
                  mapping.lookup(mine.getInductionVar()));
    for (auto [k, inner] : llvm::enumerate(*nest))
      for (Operation &element : inner.getBody()->without_terminator())
        if (k + 1 == nest->size() || &element != (*nest)[k + 1])
          b.clone(element, mapping);
  }
}

void Interchange::rewrite() {
  IRMapping mapping;
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  for (auto [first, extent] :
       llvm::zip(nests.front(), getNestExtents(nests.front()))) {
    auto dim = dyn_cast<Value>(extent);
    if (!dim)
      dim = arith::ConstantIndexOp::create(b, *getConstantIntValue(extent));
    auto made = scf::ForOp::create(b, zero, dim, one);
    markParallel(made);
    mapping.map(first.getInductionVar(), made.getInductionVar());
    b.setInsertionPointToStart(made.getBody());
  }
  auto sequential = scf::ForOp::create(b, loop.getLowerBound(),
                                       loop.getUpperBound(), loop.getStep());
  mapping.map(loop.getInductionVar(), sequential.getInductionVar());
  b.setInsertionPointToStart(sequential.getBody());
  fill(*loop.getBody(), mapping);
  loop.erase();
}

bool loopc::interchangeLoops(gpu::GPUFuncOp kernel,
                             const AliasClasses &classes) {
  SmallVector<scf::ForOp> loops;
  for (auto loop : kernel.getBody().front().getOps<scf::ForOp>())
    if (!isSharedLoop(loop))
      loops.push_back(loop);
  bool changed = false;
  for (scf::ForOp loop : loops)
    changed |= Interchange(loop, classes).run();
  return changed;
}
