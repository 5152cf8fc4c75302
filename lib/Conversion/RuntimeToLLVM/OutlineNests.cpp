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

#include "loopc/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

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

/// True if `op` and all in it only compute on what is there: no memory is
/// allocated, nothing can fail or be called.
static bool isPlain(Operation *op) {
  return !op->walk([](Operation *nested) {
              bool allowed =
                  isa<arith::ArithDialect, math::MathDialect,
                      vector::VectorDialect, scf::SCFDialect>(
                      nested->getDialect()) ||
                  isa<memref::LoadOp, memref::StoreOp, memref::SubViewOp,
                      memref::ReinterpretCastOp, memref::CastOp,
                      memref::ExtractStridedMetadataOp, memref::DimOp,
                      affine::AffineApplyOp>(nested);
              return allowed ? WalkResult::advance() : WalkResult::interrupt();
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

/// The memory that `value` is a view of.
static Value rootOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto view = dyn_cast<ViewLikeOpInterface>(op))
      value = view.getViewSource();
    else if (isa<memref::ReinterpretCastOp, memref::CastOp,
                 memref::ExtractStridedMetadataOp>(op))
      value = op->getOperand(0);
    else
      break;
  }
  return value;
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
      if (isEqual(made, other))
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
  /// What `nest` uses of outside, in order of the first use; constants apart.
  void collectCaptures(scf::ForOp nest) {
    captures.clear();
    constants.clear();
    llvm::SmallSetVector<Value, 16> found;
    llvm::SmallSetVector<Operation *, 16> known;
    nest->walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Value operand : op->getOperands()) {
        if (nest->isProperAncestor(operand.getParentBlock()->getParentOp()) ||
            operand.getParentBlock()->getParentOp() == nest)
          continue;
        Operation *def = operand.getDefiningOp();
        if (def && def->hasTrait<OpTrait::ConstantLike>() &&
            isa<arith::ArithDialect>(def->getDialect()))
          known.insert(def);
        else
          found.insert(operand);
      }
    });
    captures.assign(found.begin(), found.end());
    constants.assign(known.begin(), known.end());
  }

  func::FuncOp makeFunction(scf::ForOp nest) {
    collectCaptures(nest);
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
    markPrivateMemory(made, nest);
    Block *entry = made.addEntryBlock();
    b.setInsertionPointToStart(entry);
    IRMapping mapping;
    mapping.map(captures, entry->getArguments());
    for (Operation *constant : constants)
      b.clone(*constant, mapping);
    Operation *body = b.clone(*nest, mapping);
    func::ReturnOp::create(b, loc, body->getResults());
    return made;
  }

  /// What was allocated here, and is reached through one argument alone, is
  /// not reached through another. That says something where it is written.
  void markPrivateMemory(func::FuncOp made, scf::ForOp nest) {
    llvm::SmallPtrSet<Value, 8> written;
    nest->walk([&](Operation *op) {
      if (isa<memref::StoreOp, vector::StoreOp, vector::MaskedStoreOp,
              vector::TransferWriteOp>(op))
        for (Value operand : op->getOperands())
          if (isa<MemRefType>(operand.getType()))
            written.insert(rootOf(operand));
    });
    llvm::DenseMap<Value, unsigned> users;
    for (Value capture : captures)
      if (isa<MemRefType>(capture.getType()))
        ++users[rootOf(capture)];
    for (auto [k, capture] : llvm::enumerate(captures)) {
      if (!isa<MemRefType>(capture.getType()))
        continue;
      Value root = rootOf(capture);
      if (users[root] == 1 && written.contains(root) &&
          root.getDefiningOp<memref::AllocOp>())
        made.setArgAttr(k, LLVM::LLVMDialect::getNoAliasAttrName(),
                        b.getUnitAttr());
    }
  }

  static bool isEqual(func::FuncOp one, func::FuncOp other) {
    return one.getFunctionType() == other.getFunctionType() &&
           one.getArgAttrsAttr() == other.getArgAttrsAttr() &&
           OperationEquivalence::isRegionEquivalentTo(
               &one.getBody(), &other.getBody(),
               OperationEquivalence::IgnoreLocations);
  }

  func::FuncOp function;
  OpBuilder b;
  SmallVector<func::FuncOp> functions;
  SmallVector<Value> captures;
  SmallVector<Operation *> constants;
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
