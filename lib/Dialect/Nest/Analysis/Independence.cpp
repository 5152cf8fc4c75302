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
  while (Value source = getViewSource(buffer)) {
    if (!nest->isAncestor(buffer.getDefiningOp()))
      break;
    buffer = source;
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

std::optional<scf::IndexSwitchOp> loopc::findSections(scf::ForOp nest) {
  scf::IndexSwitchOp sections;
  for (Operation &op : nest.getBody()->without_terminator()) {
    auto found = dyn_cast<scf::IndexSwitchOp>(op);
    if (found ? static_cast<bool>(sections) : !isMemoryEffectFree(&op))
      return std::nullopt;
    if (found)
      sections = found;
  }
  if (!sections || sections.getArg() != nest.getInductionVar() ||
      sections.getNumResults() || nest.getNumResults() ||
      getConstantIntValue(nest.getLowerBound()) != 0 ||
      getConstantIntValue(nest.getStep()) != 1)
    return std::nullopt;
  auto count = static_cast<int64_t>(sections.getNumCases()) + 1;
  if (getConstantIntValue(nest.getUpperBound()) != count ||
      !llvm::all_of(sections.getCases(), [&](int64_t number) {
        return number >= 0 && number < count;
      }))
    return std::nullopt;
  return sections;
}

/// Leaves out accesses of memory that one section alone touches, or that nobody
/// writes to. False where what several touch is not known by one name.
static bool dropOfOneSection(scf::IndexSwitchOp sections,
                             SmallVectorImpl<Access> &accesses) {
  struct Use {
    Region *region;
    Value root;
    bool isShared = false, isWritten = false, hasOtherName = false;
  };
  // What a loop carries lies in what it begins with.
  AliasClasses classes(sections->getParentOfType<FunctionOpInterface>());
  llvm::DenseMap<const void *, Use> uses;
  for (const Access &access : accesses) {
    Region *region = access.op->getParentRegion();
    while (region->getParentOp() != sections)
      region = region->getParentOp()->getParentRegion();
    Value root = getViewRoot(access.buffer);
    Use &use = uses.try_emplace(classes.of(access.buffer), Use{region, root})
                   .first->second;
    use.isShared |= use.region != region;
    use.hasOtherName |= use.root != root;
    use.isWritten |= access.writes;
  }
  auto useOf = [&](const Access &access) {
    return uses.find(classes.of(access.buffer))->second;
  };
  llvm::erase_if(accesses, [&](const Access &access) {
    Use use = useOf(access);
    return !use.isShared || !use.isWritten;
  });
  return llvm::none_of(accesses, [&](const Access &access) {
    return useOf(access).hasOtherName;
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
    accesses.push_back(access);
    return WalkResult::advance();
  });
  if (!why.empty())
    return why;
  if (std::optional<scf::IndexSwitchOp> sections = findSections(nest);
      sections && !dropOfOneSection(*sections, accesses))
    return "sections may touch one buffer by two names";
  for (const Access &access : accesses)
    if (access.writes && !places.tellsIteration(access))
      return "iterations may write to one place";
  return places.findConflict(accesses, rootOf).str();
}

scf::ForOp loopc::findOnlyParallelLoop(scf::ForOp loop) {
  scf::ForOp only;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto inner = dyn_cast<scf::ForOp>(op)) {
      if (only)
        return {};
      only = inner;
    } else if (!isMemoryEffectFree(&op)) {
      return {};
    }
  }
  if (!only || !only->hasAttr(kParallelAttrName) || only.getNumResults() ||
      !only.getInductionVar().getType().isIndex())
    return {};
  return only;
}
