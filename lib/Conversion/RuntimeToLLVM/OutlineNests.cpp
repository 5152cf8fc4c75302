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
// nothing worth measuring; a nest inside of a loop stays where it is.

#include "Outlining.h"
#include "loopc/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace loopc {
#define GEN_PASS_DEF_OUTLINENESTS
#include "loopc/Conversion/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// The operations in `op`, itself included.
static unsigned countOps(Operation *op) {
  unsigned count = 0;
  op->walk([&](Operation *) { ++count; });
  return count;
}

/// True if `op` and all in it only compute on what is there.
static bool isPlain(Operation *op) {
  return !op->walk([](Operation *nested) {
              return isPlainOp(nested) ? WalkResult::advance()
                                       : WalkResult::interrupt();
            }).wasInterrupted();
}

/// The outermost plain nests in `region` that run at most once a run.
static void collectNests(Region &region, SmallVectorImpl<scf::ForOp> &nests) {
  for (Operation &op : region.getOps()) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (isPlain(loop))
        nests.push_back(loop);
    } else if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
      for (Region &branch : op.getRegions())
        collectNests(branch, nests);
    }
  }
}

namespace {
class Outliner {
public:
  explicit Outliner(func::FuncOp function)
      : function(function), b(function.getContext()) {}

  /// Moves `nest` into a function and calls it; true where an equal function
  /// was there.
  bool outline(scf::ForOp nest) {
    func::FuncOp made = makeFunction(nest);
    func::FuncOp callee = made;
    for (func::FuncOp other : functions)
      if (isEqualFunction(made, other))
        callee = other;
    if (callee == made) {
      SymbolTable(function->getParentOfType<ModuleOp>()).insert(made);
      functions.push_back(made);
    } else {
      made.erase();
    }
    b.setInsertionPoint(nest);
    auto call = func::CallOp::create(b, nest.getLoc(), callee, captures);
    nest.replaceAllUsesWith(call.getResults());
    nest.erase();
    return callee != made;
  }

private:
  func::FuncOp makeFunction(scf::ForOp nest) {
    Captures found;
    found.addAll(nest);
    captures.assign(found.values.begin(), found.values.end());
    Location loc = nest.getLoc();
    auto type = b.getFunctionType(ValueRange(captures).getTypes(),
                                  nest.getResultTypes());
    auto made =
        func::FuncOp::create(loc, (function.getName() + "_nest").str(), type);
    made.setPrivate();
    made->setAttr("llvm.linkage", LLVM::LinkageAttr::get(
                                      b.getContext(), LLVM::Linkage::Internal));
    made->setAttr("passthrough", b.getStrArrayAttr({"noinline"}));
    made->setAttr("loopc.nest", b.getUnitAttr());
    markPrivateMemory(made, /*first=*/0, captures, nest);
    Block *entry = made.addEntryBlock();
    b.setInsertionPointToStart(entry);
    IRMapping mapping;
    mapping.map(captures, entry->getArguments());
    for (Operation *constant : found.constants)
      b.clone(*constant, mapping);
    Operation *body = b.clone(*nest, mapping);
    func::ReturnOp::create(b, loc, body->getResults());
    disableRuntimeUnrolling(made);
    return made;
  }

  func::FuncOp function;
  OpBuilder b;
  SmallVector<func::FuncOp> functions;
  SmallVector<Value> captures;
};

struct OutlineNests : loopc::impl::OutlineNestsBase<OutlineNests> {
  using OutlineNestsBase::OutlineNestsBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> present(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : present) {
      if (function.isExternal() || countOps(function) < minOps)
        continue;
      SmallVector<scf::ForOp> nests;
      collectNests(function.getBody(), nests);
      Outliner outliner(function);
      for (scf::ForOp nest : nests) {
        numShared += outliner.outline(nest);
        ++numOutlined;
      }
    }
  }
};
} // namespace
