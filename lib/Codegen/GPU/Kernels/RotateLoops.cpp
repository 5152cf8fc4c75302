//===- RotateLoops.cpp - Loops that test behind their body ----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RotateLoops.h"
#include "loopc/Codegen/GPU/Regions/DeviceCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace loopc;

bool loopc::isRotated(scf::WhileOp loop) {
  Block &before = *loop.getBeforeBody();
  scf::ConditionOp condition = loop.getConditionOp();
  return llvm::hasSingleElement(before) &&
         condition.getCondition() == before.getArgument(0) &&
         condition.getArgs() == before.getArguments().drop_front();
}

/// A loop of the form with nothing in its body yet.
static scf::WhileOp makeRotated(ImplicitLocOpBuilder &b, Value first,
                                ValueRange inits) {
  SmallVector<Value> all{first};
  llvm::append_range(all, inits);
  SmallVector<Location> locs(all.size(), b.getLoc());
  auto made = scf::WhileOp::create(b, inits.getTypes(), all);
  OpBuilder::InsertionGuard guard(b);
  Block *before =
      b.createBlock(&made.getBefore(), {}, ValueRange(all).getTypes(), locs);
  scf::ConditionOp::create(b, before->getArgument(0),
                           before->getArguments().drop_front());
  b.createBlock(&made.getAfter(), {}, inits.getTypes(),
                ArrayRef(locs).drop_front());
  return made;
}

static Value isBelow(ImplicitLocOpBuilder &b, scf::ForOp loop, Value at) {
  auto less = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                    : arith::CmpIPredicate::slt;
  return arith::CmpIOp::create(b, less, at, loop.getUpperBound());
}

/// Takes the terminator of `block` off; what it yields.
static SmallVector<Value> takeYielded(Block &block) {
  Operation *terminator = block.getTerminator();
  SmallVector<Value> yielded(terminator->getOperands());
  terminator->erase();
  return yielded;
}

/// Puts what is in `from`, with its terminator, at the end of `into`.
static void moveInto(Block *into, Block *from, ValueRange arguments) {
  IRRewriter rewriter(into->getParent()->getContext());
  rewriter.inlineBlockBefore(from, into, into->end(), arguments);
}

static void rotate(scf::ForOp loop) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  SmallVector<Value> inits{loop.getLowerBound()};
  llvm::append_range(inits, loop.getInitArgs());
  auto made = makeRotated(b, isBelow(b, loop, loop.getLowerBound()), inits);
  Block *body = made.getAfterBody();
  moveInto(body, loop.getBody(), body->getArguments());
  SmallVector<Value> yielded = takeYielded(*body);
  b.setInsertionPointToEnd(body);
  Value next = arith::AddIOp::create(b, body->getArgument(0), loop.getStep());
  SmallVector<Value> nexts{isBelow(b, loop, next), next};
  llvm::append_range(nexts, yielded);
  scf::YieldOp::create(b, nexts);
  loop.replaceAllUsesWith(made.getResults().drop_front());
  loop.erase();
}

/// The test has no shared loops: it is written twice.
static void rotateSimple(scf::WhileOp loop) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  auto test = [&](ValueRange carried) {
    IRMapping mapping;
    mapping.map(loop.getBeforeArguments(), carried);
    for (Operation &op : loop.getBeforeBody()->without_terminator())
      b.clone(op, mapping);
    SmallVector<Value> values{
        mapping.lookupOrDefault(loop.getConditionOp().getCondition())};
    for (Value value : loop.getConditionOp().getArgs())
      values.push_back(mapping.lookupOrDefault(value));
    return values;
  };
  SmallVector<Value> first = test(loop.getInits());
  auto made = makeRotated(b, first.front(), ArrayRef(first).drop_front());
  Block *body = made.getAfterBody();
  moveInto(body, loop.getAfterBody(), body->getArguments());
  SmallVector<Value> yielded = takeYielded(*body);
  b.setInsertionPointToEnd(body);
  SmallVector<Value> next = test(yielded);
  scf::YieldOp::create(b, next);
  loop.replaceAllUsesWith(made.getResults());
  loop.erase();
}

/// The test has shared loops: each iteration begins with it, and the rest of
/// one is a branch.
///
///     scf.while (%c = true, %b = %init, %a = poison) {...} do {
///       test(%b) to %go, %x
///       %n = scf.if %go { body(%x) } else { %b }
///       scf.yield %go, %n, %x
///     }
static void rotateWithTest(scf::WhileOp loop) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  SmallVector<Value> inits(loop.getInits());
  size_t numCarried = inits.size();
  for (Type type : loop.getResultTypes())
    inits.push_back(ub::PoisonOp::create(b, type).getResult());
  Value first = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
  auto made = makeRotated(b, first, inits);
  Block *body = made.getAfterBody();
  ValueRange carried = body->getArguments().take_front(numCarried);
  moveInto(body, loop.getBeforeBody(), carried);
  SmallVector<Value> handed = takeYielded(*body);
  Value goes = handed.front();
  handed.erase(handed.begin());
  b.setInsertionPointToEnd(body);
  auto branch =
      scf::IfOp::create(b, carried.getTypes(), goes, /*withElseRegion=*/true);
  for (Block *block : {branch.thenBlock(), branch.elseBlock()})
    block->clear();
  moveInto(branch.thenBlock(), loop.getAfterBody(), handed);
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, carried);
  b.setInsertionPointToEnd(body);
  SmallVector<Value> nexts{goes};
  llvm::append_range(nexts, branch.getResults());
  llvm::append_range(nexts, handed);
  scf::YieldOp::create(b, nexts);
  loop.replaceAllUsesWith(made.getResults().drop_front(numCarried));
  loop.erase();
}

/// Cases become branches, each in the other case of the one before.
static void branchOut(scf::IndexSwitchOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  scf::IfOp outermost;
  for (auto [number, region] :
       llvm::zip_equal(op.getCases(), op.getCaseRegions())) {
    Value value = arith::ConstantIndexOp::create(b, number);
    Value isCase =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, op.getArg(), value);
    auto branch = scf::IfOp::create(b, op.getResultTypes(), isCase,
                                    /*withElseRegion=*/true);
    for (Block *block : {branch.thenBlock(), branch.elseBlock()})
      block->clear();
    moveInto(branch.thenBlock(), &region.front(), {});
    if (outermost)
      scf::YieldOp::create(b, branch.getResults());
    else
      outermost = branch;
    b.setInsertionPointToEnd(branch.elseBlock());
  }
  Block &otherwise = op.getDefaultRegion().front();
  if (outermost) {
    moveInto(b.getInsertionBlock(), &otherwise, {});
    op.replaceAllUsesWith(outermost.getResults());
  } else { // There is nothing but the other case.
    SmallVector<Value> yielded = takeYielded(otherwise);
    IRRewriter(b).inlineBlockBefore(&otherwise, op);
    op.replaceAllUsesWith(yielded);
  }
  op.erase();
}

void loopc::rotateLoops(Operation *kernel) {
  SmallVector<Operation *> found;
  kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isSharedLoop(op))
      return WalkResult::skip();
    if (isa<scf::ForOp, scf::WhileOp, scf::IndexSwitchOp>(op) &&
        hasSharedLoop(op))
      found.push_back(op);
    return WalkResult::advance();
  });
  for (Operation *op : found) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      rotate(loop);
    } else if (auto cases = dyn_cast<scf::IndexSwitchOp>(op)) {
      branchOut(cases);
    } else if (auto loop = cast<scf::WhileOp>(op); !isRotated(loop)) {
      bool testIsSimple =
          llvm::none_of(loop.getBeforeBody()->without_terminator(),
                        [](Operation &inner) { return hasSharedLoop(&inner); });
      testIsSimple ? rotateSimple(loop) : rotateWithTest(loop);
    }
  }
}
