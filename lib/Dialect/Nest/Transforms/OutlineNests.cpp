//===- OutlineNests.cpp - Large functions in pieces -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-outline-nests: the loop nests of a large function become functions of
// their own, equal ones one function.
//
// LLVM's analyses of a loop walk up what dominates it, so that a function with
// hundreds of loops behind one another takes time with the square of their
// number, and a network repeats its layers. What is called once a run costs
// nothing worth measuring; a nest inside of a loop stays where it is, unless it
// is one of many there. A loop that may fail, or allocates, goes as a whole:
// what is left is then what a run passes through once, and needs no work.

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/Nest/Analysis/Cost.h"
#include "loopc/Dialect/Nest/Analysis/Independence.h"
#include "loopc/Dialect/Nest/Transforms/Outlining.h"
#include "loopc/Dialect/Nest/Transforms/Passes.h"
#include "loopc/Dialect/RT/IR/RT.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace loopc {
#define GEN_PASS_DEF_OUTLINENESTS
#include "loopc/Dialect/Nest/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// The operations that `op`, itself included, is and becomes.
static int64_t countOps(Operation *op) {
  int64_t count = 0;
  op->walk([&](Operation *nested) { count += getCost(nested).codeSize; });
  return count;
}

/// True for a loop that yields nothing, in a function that knows the run.
static bool canReport(Operation *loop) {
  auto function = loop->getParentOfType<func::FuncOp>();
  if (loop->getNumResults() || !rt::findRun(function) || isForDevice(loop))
    return false;
  Captures found;
  found.addAll(loop);
  return llvm::all_of(
      found.values, [](Value value) { return canBeArgument(value.getType()); });
}

/// The outermost nests in `region` that run at most once a run, or in one of
/// the loops `longLoops`: plain ones, and those that report what failed.
static void collectNests(Region &region,
                         const llvm::SmallPtrSetImpl<Operation *> &longLoops,
                         SmallVectorImpl<Operation *> &nests) {
  for (Operation &op : region.getOps()) {
    bool isLoop = isa<scf::ForOp, scf::WhileOp>(op);
    if ((isa<scf::ForOp>(op) && isPlain(&op)) ||
        (isLoop && !longLoops.contains(&op) && canReport(&op)))
      nests.push_back(&op);
    else if (isa<scf::IfOp, scf::IndexSwitchOp>(op) || longLoops.contains(&op))
      for (Region &nested : op.getRegions())
        collectNests(nested, longLoops, nests);
  }
}

/// True if `function`, of the model, has no loop but in `nests`.
static bool isStraightWithout(func::FuncOp function,
                              ArrayRef<Operation *> nests) {
  if (function->hasAttr(kOutlinedAttrName))
    return false;
  llvm::SmallPtrSet<Operation *, 16> left(nests.begin(), nests.end());
  return !function
              ->walk<WalkOrder::PreOrder>([&](Operation *op) {
                if (left.contains(op))
                  return WalkResult::skip();
                return isa<LoopLikeOpInterface>(op) ? WalkResult::interrupt()
                                                    : WalkResult::advance();
              })
              .wasInterrupted();
}

namespace {
class Outliner {
public:
  explicit Outliner(func::FuncOp function)
      : function(function), b(function.getContext()),
        functions(function->getParentOfType<ModuleOp>()) {}

  /// Moves `nest` into a function and calls it; true where an equal function
  /// was there.
  bool outline(Operation *nest) {
    bool reports = !isPlain(nest);
    findCaptures(nest, reports);
    func::FuncOp made = makeFunction(nest, reports);
    b.setInsertionPoint(nest);
    auto call = func::CallOp::create(b, nest->getLoc(), made, captures);
    if (reports)
      loop::PollOp::create(b, nest->getLoc());
    else
      nest->replaceAllUsesWith(call.getResults());
    fill(made, nest, reports);
    func::FuncOp callee = functions.add(made);
    call.setCallee(callee.getName());
    return callee != made;
  }

  /// How many uses of buffers were looked at.
  unsigned getWork() const { return buffers.getWork(); }

private:
  /// What `nest` uses of outside: `captures`, with the run in front if it
  /// reports, and `constants`.
  void findCaptures(Operation *nest, bool reports) {
    Captures found;
    found.addAll(nest);
    constants.assign(found.constants.begin(), found.constants.end());
    captures.assign(found.values.begin(), found.values.end());
    if (reports) {
      Value run = rt::findRun(function);
      llvm::erase(captures, run);
      captures.insert(captures.begin(), run);
    }
  }

  /// Of a nest that reports: func(run, captures...) -> status.
  func::FuncOp makeFunction(Operation *nest, bool reports) {
    SmallVector<Type> results(nest->getResultTypes());
    if (reports)
      results = {b.getI32Type()};
    auto type = b.getFunctionType(ValueRange(captures).getTypes(), results);
    func::FuncOp made =
        makePrivateFunction(nest->getLoc(), function.getName() + "_nest", type);
    made.addEntryBlock();
    if (!reports) {
      made->setAttr(kNestAttrName, b.getUnitAttr());
      markPrivateMemory(made, /*first=*/0, captures, nest, buffers);
    }
    return made;
  }

  /// The code of `made`: the nest itself, not a copy.
  void fill(func::FuncOp made, Operation *nest, bool reports) {
    Block *entry = &made.getBody().front();
    b.setInsertionPointToStart(entry);
    IRMapping mapping;
    mapping.map(captures, entry->getArguments());
    for (Operation *constant : constants)
      b.clone(*constant, mapping);
    nest->moveBefore(entry, entry->end());
    nest->walk([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands())
        if (Value inside = mapping.lookupOrNull(operand.get()))
          operand.set(inside);
    });
    b.setInsertionPointToEnd(entry);
    SmallVector<Value> returned(nest->getResults());
    if (reports)
      returned = {
          arith::ConstantIntOp::create(b, nest->getLoc(), b.getI32Type(), 0)};
    else
      // Of loops that are entered seldom.
      disableRuntimeUnrolling(made);
    func::ReturnOp::create(b, nest->getLoc(), returned);
  }

  func::FuncOp function;
  OpBuilder b;
  SharedFunctions functions;
  ViewedBuffers buffers;
  /// Of the nest that is being moved.
  SmallVector<Value> captures;
  SmallVector<Operation *> constants;
};

struct OutlineNests : loopc::impl::OutlineNestsBase<OutlineNests> {
  using OutlineNestsBase::OutlineNestsBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> present(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : present) {
      if (function.isExternal())
        continue;
      int64_t numOps = countOps(function);
      if (numOps < std::min(minOps, minStraight))
        continue;
      SmallVector<Operation *> nests;
      collectNests(function.getBody(), findLongLoops(function, longLoop),
                   nests);
      if (numOps < minOps && !isStraightWithout(function, nests))
        continue;
      Outliner outliner(function);
      for (Operation *nest : nests) {
        numShared += outliner.outline(nest);
        ++numOutlined;
      }
      if (reportWork)
        function.emitRemark() << outliner.getWork() << " uses followed";
    }
    markParallelAccesses(getOperation());
  }
};
} // namespace
