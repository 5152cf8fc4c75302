//===- JoinSections.cpp - Sections go back to their function --------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// cpu-join-sections: what cpu-cut-sections has made functions of takes the
// place of the calls again. The copies that stood for values of outside are
// replaced by these.

#include "EqualSections.h"
#include "loopc/Codegen/CPU/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace loopc {
#define GEN_PASS_DEF_CPUJOINSECTIONS
#include "loopc/Codegen/CPU/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

namespace {
/// Operations that compute the same from the same values.
struct SameOperation : llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *op) {
    return OperationEquivalence::computeHash(
        const_cast<Operation *>(op), OperationEquivalence::directHashValue,
        OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations);
  }
  static bool isEqual(const Operation *lhs, const Operation *rhs) {
    if (lhs == rhs)
      return true;
    if (lhs == getEmptyKey() || lhs == getTombstoneKey() ||
        rhs == getEmptyKey() || rhs == getTombstoneKey())
      return false;
    return OperationEquivalence::isEquivalentTo(
        const_cast<Operation *>(lhs), const_cast<Operation *>(rhs),
        OperationEquivalence::IgnoreLocations);
  }
};

struct CpuJoinSections : loopc::impl::CpuJoinSectionsBase<CpuJoinSections> {
  using Base::Base;

  void runOnOperation() override {
    llvm::StringMap<func::FuncOp> sections;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(kSectionAttrName))
        sections[function.getName()] = function;
    SmallVector<CallSectionOp> calls;
    llvm::StringMap<unsigned> uses;
    getOperation().walk([&](CallSectionOp call) {
      calls.push_back(call);
      ++uses[call.getCallee()];
    });
    if (sections.empty() && calls.empty())
      return markAllAnalysesPreserved();
    llvm::SetVector<Block *> blocks;
    for (CallSectionOp call : calls) {
      blocks.insert(&call->getParentOfType<func::FuncOp>().getBody().front());
      blocks.insert(call->getBlock());
      func::FuncOp section = sections.lookup(call.getCallee());
      if (!section) {
        call.emitOpError("calls a function that is not marked '")
            << kSectionAttrName << "'";
        return signalPassFailure();
      }
      // One that stands for several is copied, for all but the last one.
      bool isLast = --uses[call.getCallee()] == 0;
      func::FuncOp own = isLast ? section : section.clone();
      relabelFor(call, own);
      LogicalResult result = join(call, own);
      if (!isLast)
        own->erase();
      if (failed(result))
        return signalPassFailure();
    }
    for (auto &entry : sections)
      entry.second.erase();
    for (Block *block : blocks)
      makeEqualOnes(*block);
  }

private:
  LogicalResult join(CallSectionOp call, func::FuncOp section);
  LogicalResult replaceStandIn(Value standIn, Value value);
  void makeEqualOnes(Block &block);
};
} // namespace

/// `standIn`, in a section, is `value`.
LogicalResult CpuJoinSections::replaceStandIn(Value standIn, Value value) {
  Operation *def = standIn.getDefiningOp();
  // Known by itself, or by another name.
  if (!def || def->hasTrait<OpTrait::ConstantLike>())
    return success();
  if (value.getDefiningOp<memref::AllocOp>()) {
    // One of extents that turned out to be known is seen through casts.
    Value buffer = standIn;
    while (auto cast = buffer.getDefiningOp<memref::CastOp>())
      buffer = cast.getSource();
    auto alloc = buffer.getDefiningOp<memref::AllocOp>();
    if (!alloc)
      return def->emitOpError(
          "is not the buffer that it stands for in a section");
    if (buffer != standIn) {
      OpBuilder b(alloc);
      buffer.replaceAllUsesWith(
          memref::CastOp::create(b, alloc.getLoc(), buffer.getType(), value));
    }
  }
  standIn.replaceAllUsesWith(value);
  return success();
}

LogicalResult CpuJoinSections::join(CallSectionOp call, func::FuncOp section) {
  Block &entry = section.getBody().front();
  Operation *end = entry.getTerminator();
  // As they are before any of them is replaced: one may stand for two values.
  SmallVector<Value> standIns(end->getOperands());
  for (auto [standIn, value] : llvm::zip(standIns, call.getOperands()))
    if (failed(replaceStandIn(standIn, value)))
      return failure();
  for (auto [argument, value] :
       llvm::zip_equal(entry.getArguments(), call.getOperands()))
    argument.replaceAllUsesWith(value);
  for (auto [result, value] :
       llvm::zip_equal(call.getResults(), end->getOperands()))
    result.replaceAllUsesWith(value);
  end->erase();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(entry)))
    if (op.use_empty() && op.getNumResults() != 0 &&
        (isMemoryEffectFree(&op) || isa<memref::AllocOp>(op)))
      op.erase();
  Block &outer = call->getParentOfType<func::FuncOp>().getBody().front();
  for (Operation &op : llvm::make_early_inc_range(entry))
    if (op.hasTrait<OpTrait::ConstantLike>() ||
        (isa<memref::AllocaOp>(op) && op.getNumOperands() == 0))
      op.moveBefore(&outer, outer.begin());
    else
      op.moveBefore(call);
  call.erase();
  return success();
}

/// Makes one of equal operations in `block`, not in others, that have no
/// effect: two sections may have made them.
void CpuJoinSections::makeEqualOnes(Block &block) {
  llvm::DenseSet<Operation *, SameOperation> known;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (op.getNumRegions() != 0 || op.getNumResults() == 0 ||
        !isMemoryEffectFree(&op))
      continue;
    auto [first, isNew] = known.insert(&op);
    if (isNew)
      continue;
    op.replaceAllUsesWith(*first);
    op.erase();
  }
}
