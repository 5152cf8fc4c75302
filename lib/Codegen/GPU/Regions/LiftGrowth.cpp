//===- LiftGrowth.cpp - Growing buffers between kernels -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-lift-growth: a loop that makes a buffer larger in some iterations, as
// it collects values, becomes one that goes on while there is room, in another
// that makes room. Nothing in the inner one allocates, so that it can be a
// kernel; the outer one begins it some log(n) times, since buffers double.

#include "loopc/Codegen/GPU/Regions/Passes.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Support/Remarks.h"
#include "loopc/Support/Walk.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace loopc {
#define GEN_PASS_DEF_LIFTGROWTH
#include "loopc/Codegen/GPU/Regions/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

namespace {
/// A branch of a loop's body that makes a buffer which the loop carries larger.
struct Growth {
  scf::IfOp branch;
  BlockArgument buffer;
  /// What it computes from the loop's arguments, in order.
  SmallVector<Operation *> needs;
  /// Of these, and of the checks in front of it, in order: who makes room has
  /// come to these checks.
  SmallVector<Operation *> needsChecked;
};

class GrowthLifter {
public:
  explicit GrowthLifter(scf::WhileOp loop)
      : loop(loop), body(*loop.getAfterBody()), b(loop.getLoc(), loop) {}

  /// False where the loop stays as it is.
  bool run();

private:
  bool findGrowths();
  bool addNeeds(SmallVector<Value> open, llvm::SetVector<Operation *> &needs);
  bool findNeeds(Growth &growth);
  bool findChecks(Growth &growth, llvm::SetVector<Operation *> needs);
  Value hasRoom(IRMapping &mapping);
  void cloneBefore(ValueRange inits, IRMapping &mapping);
  void cloneBody(ValueRange arguments, IRMapping &mapping);
  scf::WhileOp makeInner(ValueRange arguments);

  scf::WhileOp loop;
  Block &body;
  ImplicitLocOpBuilder b;
  SmallVector<Growth> growths;
};
} // namespace

/// The buffer that `branch` gives larger, or as it is.
static BlockArgument findGrown(scf::IfOp branch, Block &body) {
  if (!branch->hasAttr(kGrowsAttrName) || branch.getNumResults() != 1 ||
      branch.getElseRegion().empty() ||
      !llvm::hasSingleElement(*branch.elseBlock()))
    return {};
  auto buffer = dyn_cast<BlockArgument>(branch.elseYield().getOperand(0));
  if (!buffer || buffer.getOwner() != &body ||
      !isa<MemRefType>(buffer.getType()))
    return {};
  return buffer;
}

/// Adds what `open` is computed of in the body; false where that is more than
/// numbers that follow from the loop's arguments.
bool GrowthLifter::addNeeds(SmallVector<Value> open,
                            llvm::SetVector<Operation *> &needs) {
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != &body || needs.contains(op))
      continue;
    if (!isSafeToSpeculate(op) || op->getNumRegions() != 0)
      return false;
    needs.insert(op);
    llvm::append_range(open, op->getOperands());
  }
  return true;
}

static SmallVector<Operation *> inOrder(llvm::SetVector<Operation *> ops) {
  SmallVector<Operation *> sorted = ops.takeVector();
  llvm::sort(sorted, [](Operation *one, Operation *other) {
    return one->isBeforeInBlock(other);
  });
  return sorted;
}

/// Collects what `growth` needs; false where that is not known before the
/// iteration.
bool GrowthLifter::findNeeds(Growth &growth) {
  llvm::SetVector<Operation *> needs;
  SmallVector<Value> open{growth.branch.getCondition()};
  growth.branch.getThenRegion().walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!growth.branch->isAncestor(operand.getParentBlock()->getParentOp()))
        open.push_back(operand);
  });
  if (!addNeeds(std::move(open), needs))
    return false;
  growth.needs = inOrder(needs);
  return findChecks(growth, std::move(needs));
}

/// Collects the checks in front of `growth`: how much is copied may count on
/// them (loop_collect_shape). Those that nobody knows before the iteration stay
/// behind it, where no extents of what an iteration makes are asked for.
bool GrowthLifter::findChecks(Growth &growth,
                              llvm::SetVector<Operation *> needs) {
  bool asksForExtents = llvm::any_of(growth.needs, [&](Operation *op) {
    auto dim = dyn_cast<memref::DimOp>(op);
    return dim && dim.getSource() != growth.buffer;
  });
  for (Operation &op : body) {
    if (&op == growth.branch)
      break;
    if (!holdsOp<loop::CheckOp>(&op))
      continue;
    llvm::SetVector<Operation *> both = needs;
    if (isa<loop::CheckOp>(op) &&
        addNeeds(SmallVector<Value>(op.getOperands()), both)) {
      needs = std::move(both);
      needs.insert(&op);
    } else if (asksForExtents) {
      return false;
    }
  }
  growth.needsChecked = inOrder(std::move(needs));
  return true;
}

bool GrowthLifter::findGrowths() {
  for (Operation &op : body.without_terminator()) {
    auto branch = dyn_cast<scf::IfOp>(op);
    BlockArgument buffer = branch ? findGrown(branch, body) : BlockArgument();
    if (!buffer)
      continue;
    Growth growth{branch, buffer, {}, {}};
    if (!findNeeds(growth))
      return false;
    growths.push_back(std::move(growth));
  }
  return !growths.empty();
}

/// Whether no buffer has to grow in an iteration whose arguments `mapping` has.
Value GrowthLifter::hasRoom(IRMapping &mapping) {
  Value room;
  for (Growth &growth : growths) {
    for (Operation *op : growth.needs)
      if (!mapping.contains(op->getResult(0)))
        b.clone(*op, mapping);
    Value grows = mapping.lookupOrDefault(growth.branch.getCondition());
    Value always = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
    Value fits = arith::XOrIOp::create(b, grows, always);
    room = room ? arith::AndIOp::create(b, room, fits).getResult() : fits;
  }
  return room;
}

/// The test in front of an iteration: gives the values of the condition.
void GrowthLifter::cloneBefore(ValueRange inits, IRMapping &mapping) {
  mapping.map(loop.getBeforeArguments(), inits);
  for (Operation &op : loop.getBeforeBody()->without_terminator())
    b.clone(op, mapping);
}

/// An iteration in which nothing grows.
void GrowthLifter::cloneBody(ValueRange arguments, IRMapping &mapping) {
  mapping.map(body.getArguments(), arguments);
  for (Operation &op : body.without_terminator()) {
    auto growth = llvm::find_if(
        growths, [&](const Growth &other) { return other.branch == &op; });
    if (growth == growths.end())
      b.clone(op, mapping);
    else
      mapping.map(growth->branch.getResult(0), mapping.lookup(growth->buffer));
  }
}

/// Iterations from one on that has room until one that has none:
///   while { body, test } do { test's values }
scf::WhileOp GrowthLifter::makeInner(ValueRange arguments) {
  TypeRange yielded = loop.getInits().getTypes();
  OpBuilder::InsertionGuard guard(b);
  auto inner = scf::WhileOp::create(b, yielded, arguments);
  SmallVector<Location> locs(arguments.size(), b.getLoc());
  Block *before =
      b.createBlock(&inner.getBefore(), {}, arguments.getTypes(), locs);
  IRMapping iteration;
  cloneBody(before->getArguments(), iteration);
  SmallVector<Value> values;
  for (Value value : loop.getYieldedValues())
    values.push_back(iteration.lookupOrDefault(value));
  IRMapping test;
  cloneBefore(values, test);
  IRMapping next;
  for (auto [argument, value] :
       llvm::zip_equal(body.getArguments(), loop.getConditionOp().getArgs()))
    next.map(argument, test.lookupOrDefault(value));
  Value goesOn = test.lookupOrDefault(loop.getConditionOp().getCondition());
  Value both = arith::AndIOp::create(b, goesOn, hasRoom(next));
  scf::ConditionOp::create(b, both, values);
  SmallVector<Location> yieldedLocs(yielded.size(), b.getLoc());
  Block *after = b.createBlock(&inner.getAfter(), {}, yielded, yieldedLocs);
  IRMapping again;
  cloneBefore(after->getArguments(), again);
  SmallVector<Value> forwarded;
  for (Value value : loop.getConditionOp().getArgs())
    forwarded.push_back(again.lookupOrDefault(value));
  scf::YieldOp::create(b, forwarded);
  return inner;
}

bool GrowthLifter::run() {
  bool isPureTest = llvm::all_of(
      loop.getBeforeBody()->without_terminator(), [](Operation &op) {
        return isMemoryEffectFree(&op) && op.getNumRegions() == 0;
      });
  if (!isPureTest || !findGrowths())
    return false;
  // The body of the outer loop: makes room, then goes on while there is some.
  auto *block = new Block();
  for (BlockArgument argument : body.getArguments())
    block->addArgument(argument.getType(), argument.getLoc());
  body.getParent()->push_back(block);
  b.setInsertionPointToStart(block);
  IRMapping mapping;
  mapping.map(body.getArguments(), block->getArguments());
  SmallVector<Value> arguments(block->getArguments());
  llvm::DenseSet<Operation *> made;
  for (Growth &growth : growths) {
    for (Operation *op : growth.needsChecked)
      if (made.insert(op).second)
        b.clone(*op, mapping);
    Operation *branch = b.clone(*growth.branch, mapping);
    arguments[growth.buffer.getArgNumber()] = branch->getResult(0);
  }
  scf::WhileOp inner = makeInner(arguments);
  scf::YieldOp::create(b, inner.getResults());
  body.erase();
  return true;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// A counted loop as one that tests.
static scf::WhileOp makeWhile(scf::ForOp loop) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  SmallVector<Value> inits{loop.getLowerBound()};
  llvm::append_range(inits, loop.getInitArgs());
  TypeRange types = ValueRange(inits).getTypes();
  auto made = scf::WhileOp::create(b, types, inits);
  SmallVector<Location> locs(inits.size(), b.getLoc());
  Block *before = b.createBlock(&made.getBefore(), {}, types, locs);
  Value goesOn =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                            before->getArgument(0), loop.getUpperBound());
  scf::ConditionOp::create(b, goesOn, before->getArguments());
  Block *after = b.createBlock(&made.getAfter(), {}, types, locs);
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  SmallVector<Value> yielded(yield.getOperands());
  IRRewriter rewriter(b.getContext());
  rewriter.mergeBlocks(loop.getBody(), after, after->getArguments());
  b.setInsertionPoint(yield);
  Value next = arith::AddIOp::create(b, after->getArgument(0), loop.getStep());
  yielded.clear();
  yielded.push_back(next);
  llvm::append_range(yielded, yield.getOperands());
  scf::YieldOp::create(b, yielded);
  yield.erase();
  loop.replaceAllUsesWith(made.getResults().drop_front());
  loop.erase();
  return made;
}

/// True where a branch of the body itself makes a buffer larger.
static bool grows(scf::ForOp loop) {
  return llvm::any_of(loop.getBody()->getOperations(), [&](Operation &op) {
    auto branch = dyn_cast<scf::IfOp>(op);
    return branch && findGrown(branch, *loop.getBody());
  });
}

namespace {
struct LiftGrowth : loopc::impl::LiftGrowthBase<LiftGrowth> {
  void runOnOperation() override {
    auto counted = collectOps(getOperation(),
                              [&](scf::ForOp loop) { return grows(loop); });
    for (scf::ForOp loop : counted)
      makeWhile(loop);
    for (scf::WhileOp loop : collectOps<scf::WhileOp>(getOperation())) {
      Location loc = loop.getLoc();
      if (!GrowthLifter(loop).run())
        continue;
      remarkDone(loc, "LiftGrowth",
                 "buffers grow between runs of many iterations");
      ++numLifted;
    }
  }
};
} // namespace
