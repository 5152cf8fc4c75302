//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Nest/Analysis/Independence.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Nest/Analysis/AliasClasses.h"
#include "loopc/Dialect/Nest/Analysis/IterationPlaces.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace loopc;

bool loopc::isPlainOp(Operation *op) {
  return isa<arith::ArithDialect, math::MathDialect, vector::VectorDialect,
             scf::SCFDialect>(op->getDialect()) ||
         isa<memref::LoadOp, memref::StoreOp, memref::SubViewOp,
             memref::ReinterpretCastOp, memref::CastOp,
             memref::ExtractStridedMetadataOp, memref::DimOp,
             affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp,
             affine::AffineDelinearizeIndexOp, affine::AffineLinearizeIndexOp>(
             op) ||
         // Arithmetic that only the target has, and what is likely.
         isa<LLVM::CallIntrinsicOp, LLVM::ExpectOp>(op) ||
         // The others may become calls.
         isa<complex::ConstantOp, complex::CreateOp, complex::ReOp,
             complex::ImOp, complex::AddOp, complex::SubOp, complex::MulOp>(op);
}

/// The buffer that `op` writes to; null for what writes nothing.
static Value getWritten(Operation *op) {
  Access access = getAccess(op);
  return access.writes ? access.buffer : Value();
}

Value loopc::findWrittenPrivately(Operation *op, scf::ForOp nest) {
  Value buffer = getWritten(op);
  return buffer ? findPrivateMemory(buffer, nest) : Value();
}

/// True for what a nest on several threads may hold.
static bool isAllowed(Operation *op) {
  return (isPlainOp(op) &&
          !isa<vector::ScatterOp, vector::CompressStoreOp>(op)) ||
         isa<loop::CheckOp, loop::PollOp>(op);
}

/// True for what neither reads a buffer nor gives it another name.
static bool onlyFrees(Operation *user) {
  return isa<memref::DeallocOp, memref::DimOp>(user);
}

Value loopc::findPrivateMemory(Value buffer, scf::ForOp nest) {
  while (Operation *op = buffer.getDefiningOp()) {
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    if (!view || !nest->isAncestor(op))
      break;
    buffer = view.getViewSource();
  }
  Operation *alloc = buffer.getDefiningOp();
  if (!isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(alloc) ||
      !alloc->hasAttr(kPrivateAttrName) ||
      !cast<MemRefType>(buffer.getType()).hasStaticShape() ||
      nest->isAncestor(alloc))
    return {};
  for (Operation *user : alloc->getUsers())
    if (!nest->isAncestor(user) && !onlyFrees(user))
      return {};
  return buffer;
}

Operation *loopc::findUnsharedOp(scf::ForOp nest, bool mayAllocate) {
  Operation *found = nullptr;
  nest.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    // Views are what they are of; kernels want those that are a place and
    // strides.
    bool isShared =
        isAllowed(op) ||
        (mayAllocate &&
         (isa<memref::AllocOp, memref::DeallocOp>(op) || isViewOp(op)));
    found = isShared ? nullptr : op;
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

namespace {
/// The memory that an iteration of a nest allocates and nobody outside of the
/// iteration knows.
class IterationMemory {
public:
  explicit IterationMemory(scf::ForOp nest);

  bool has(Value buffer) const {
    return classes && !foreign.contains(classes->of(buffer));
  }

private:
  std::optional<AliasClasses> classes; ///< none where nothing is allocated
  /// Classes of what is not allocated in the nest, or not known to be.
  llvm::DenseSet<const void *> foreign;
};
} // namespace

IterationMemory::IterationMemory(scf::ForOp nest) {
  auto isAllocation = [](memref::AllocOp) { return WalkResult::interrupt(); };
  if (!nest.getBody()->walk(isAllocation).wasInterrupted())
    return;
  classes.emplace(nest);
  nest.getBody()->walk([&](Operation *op) {
    // Loops and branches hand on what comes from elsewhere.
    bool isKnown = isa<memref::AllocOp, arith::SelectOp>(op) || isViewOp(op) ||
                   op->getNumRegions() != 0;
    for (Value value : op->getOperands())
      if (isa<BaseMemRefType>(value.getType()) &&
          nest.isDefinedOutsideOfLoop(value))
        foreign.insert(classes->of(value));
    for (Value value : op->getResults())
      if (isa<BaseMemRefType>(value.getType()) && !isKnown)
        foreign.insert(classes->of(value));
  });
}

std::string
loopc::findParallelObstacle(scf::ForOp nest,
                            llvm::function_ref<Value(Value)> rootOf) {
  if (Operation *op = findUnsharedOp(nest, /*mayAllocate=*/true))
    return ("it holds '" + op->getName().getStringRef() + "'").str();
  IterationPlaces places(nest);
  IterationMemory own(nest);
  std::optional<APInt> trips = nest.getStaticTripCount();
  bool isOnce = trips && trips->isOne() && !findOnlyParallelLoop(nest);
  std::string why;
  SmallVector<Access> accesses;
  nest.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto free = dyn_cast<memref::DeallocOp>(op);
        free && !own.has(free.getMemref())) {
      why = "it frees memory that it has not allocated";
      return WalkResult::interrupt();
    }
    Access access = getAccess(op);
    if (!access.buffer || isOnce || findPrivateMemory(access.buffer, nest) ||
        own.has(access.buffer))
      return WalkResult::advance();
    if (access.writes && !places.tellsIteration(access)) {
      why = "iterations may write to one place";
      return WalkResult::interrupt();
    }
    accesses.push_back(access);
    return WalkResult::advance();
  });
  return why.empty() ? places.findConflict(accesses, rootOf).str() : why;
}

scf::ForOp loopc::findOnlyParallelLoop(scf::ForOp loop) {
  scf::ForOp only;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto inner = dyn_cast<scf::ForOp>(op)) {
      if (only)
        return {};
      only = inner;
    } else if (!isPure(&op)) {
      return {};
    }
  }
  if (!only || !only->hasAttr(kParallelAttrName) || only.getNumResults() ||
      !only.getInductionVar().getType().isIndex())
    return {};
  return only;
}
