//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Outlining.h"
#include "IterationPlaces.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/Transforms/Parallel.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace loopc;

void Captures::add(Value value) {
  Operation *def = value.getDefiningOp();
  if (def && def->hasTrait<OpTrait::ConstantLike>() &&
      isa<arith::ArithDialect>(def->getDialect()))
    constants.insert(def);
  else
    values.insert(value);
}

void Captures::addAll(Operation *nest) {
  nest->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!nest->isAncestor(operand.getParentBlock()->getParentOp()))
        add(operand);
  });
}

bool loopc::isPlainOp(Operation *op) {
  return isa<arith::ArithDialect, math::MathDialect, vector::VectorDialect,
             scf::SCFDialect>(op->getDialect()) ||
         isa<memref::LoadOp, memref::StoreOp, memref::SubViewOp,
             memref::ReinterpretCastOp, memref::CastOp,
             memref::ExtractStridedMetadataOp, memref::DimOp,
             affine::AffineApplyOp, affine::AffineDelinearizeIndexOp,
             affine::AffineLinearizeIndexOp>(op) ||
         // Arithmetic that only the target has.
         isa<LLVM::CallIntrinsicOp>(op) ||
         // The others may become calls.
         isa<complex::ConstantOp, complex::CreateOp, complex::ReOp,
             complex::ImOp, complex::AddOp, complex::SubOp, complex::MulOp>(op);
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

/// True if nobody knows the memory of `alloc` but through views of it: what a
/// loop carries, a branch yields or a call returns may be that memory, too.
static bool isKnownByViewsOnly(memref::AllocOp alloc) {
  SmallVector<Value> views{alloc};
  while (!views.empty())
    for (Operation *user : views.pop_back_val().getUsers()) {
      bool isView = isa<ViewLikeOpInterface>(user) ||
                    isa<memref::ReinterpretCastOp, memref::CastOp,
                        memref::ExtractStridedMetadataOp>(user);
      for (Value result : user->getResults())
        if (isa<MemRefType>(result.getType())) {
          if (!isView)
            return false;
          views.push_back(result);
        }
      auto store = dyn_cast<memref::StoreOp>(user);
      if ((store && isa<MemRefType>(store.getValue().getType())) ||
          isa<memref::ExtractAlignedPointerAsIndexOp>(user))
        return false;
      // What is returned is not known here any more.
      if (user->getNumRegions() != 0 ||
          (user->hasTrait<OpTrait::IsTerminator>() &&
           !isa<func::ReturnOp>(user)))
        return false;
    }
  return true;
}

// What was allocated here, and is reached through one argument alone, is not
// reached through another. That says something where it is written.
void loopc::markPrivateMemory(func::FuncOp made, unsigned first,
                              ArrayRef<Value> captures, Operation *nest) {
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
    auto alloc = root.getDefiningOp<memref::AllocOp>();
    if (users[root] == 1 && written.contains(root) && alloc &&
        isKnownByViewsOnly(alloc))
      made.setArgAttr(first + k, LLVM::LLVMDialect::getNoAliasAttrName(),
                      UnitAttr::get(made.getContext()));
  }
}

llvm::SmallPtrSet<Operation *, 4> loopc::findLongLoops(func::FuncOp function,
                                                       unsigned steps) {
  llvm::DenseMap<Operation *, unsigned> counts;
  function.walk([&](Operation *op) {
    if (!isa<scf::ForOp, func::CallOp>(op))
      return;
    Operation *around = op->getParentOp();
    while (isa<scf::IfOp, scf::IndexSwitchOp>(around))
      around = around->getParentOp();
    ++counts[around];
  });
  llvm::SmallPtrSet<Operation *, 4> found;
  for (auto [op, count] : counts)
    if (isa<LoopLikeOpInterface>(op) && count >= steps)
      found.insert(op);
  return found;
}

void loopc::disableRuntimeUnrolling(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(
      context, {}, {}, BoolAttr::get(context, true), {}, {}, {}, {});
  auto how = LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {},
                                           {}, {}, {}, {}, {}, {}, {}, {}, {});
  function.walk([&](scf::ForOp loop) {
    if (!loop->hasAttr("llvm.loop_annotation"))
      loop->setAttr("llvm.loop_annotation", how);
  });
}

/// True where two functions do the same.
static bool isEqualFunction(func::FuncOp one, func::FuncOp other) {
  return one.getFunctionType() == other.getFunctionType() &&
         one.getArgAttrsAttr() == other.getArgAttrsAttr() &&
         OperationEquivalence::isRegionEquivalentTo(
             &one.getBody(), &other.getBody(),
             OperationEquivalence::IgnoreLocations);
}

/// A number that is the same for equal functions: of their operations, but not
/// of what uses what.
static size_t hash(func::FuncOp function) {
  llvm::hash_code code =
      llvm::hash_value(function.getFunctionType().getAsOpaquePointer());
  function.getBody().walk([&](Operation *op) {
    code = llvm::hash_combine(code, op->getName(),
                              op->getDiscardableAttrDictionary(),
                              op->hashProperties(), op->getNumOperands());
    for (Type type : op->getResultTypes())
      code = llvm::hash_combine(code, type);
  });
  return code;
}

func::FuncOp SharedFunctions::add(func::FuncOp made) {
  auto &others = functions[hash(made)];
  for (func::FuncOp other : others)
    if (isEqualFunction(made, other)) {
      made.erase();
      return other;
    }
  // To look for a free name from the first on each time is quadratic.
  unsigned &count = named[made.getName()];
  for (std::string base = made.getName().str(), name = base;; ++count) {
    if (count > 0)
      name = base + "_" + std::to_string(count - 1);
    if (!symbols.lookup(name)) {
      made.setName(name);
      break;
    }
  }
  symbols.insert(made);
  others.push_back(made);
  return made;
}

/// The buffer that `op` writes to; null for what writes nothing.
static Value getWritten(Operation *op) {
  Access access = getAccess(op);
  return access.writes ? access.buffer : Value();
}

memref::AllocOp loopc::findWrittenPrivately(Operation *op, scf::ForOp nest) {
  Value buffer = getWritten(op);
  return buffer ? findPrivateMemory(buffer, nest) : memref::AllocOp();
}

/// True for what a nest on several threads may hold.
static bool isAllowed(Operation *op) {
  return (isPlainOp(op) &&
          !isa<vector::ScatterOp, vector::CompressStoreOp>(op)) ||
         isa<loop::CheckOp, loop::PollOp>(op);
}

/// True if a value that `user`, which is not in `nest`, makes a view of `alloc`
/// can be what `nest` uses.
static bool canReach(Operation *user, scf::ForOp nest) {
  while (!user->getParentOp()->isAncestor(nest))
    user = user->getParentOp();
  return llvm::any_of(user->getResultTypes(), llvm::IsaPred<MemRefType>);
}

memref::AllocOp loopc::findPrivateMemory(Value buffer, scf::ForOp nest) {
  while (Operation *op = buffer.getDefiningOp()) {
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    if (!view || !nest->isAncestor(op))
      break;
    buffer = view.getViewSource();
  }
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  if (!alloc || !alloc->hasAttr(kPrivateAttrName) ||
      !alloc.getType().hasStaticShape() || nest->isAncestor(alloc))
    return {};
  for (Operation *user : alloc->getUsers())
    if (!nest->isAncestor(user) && canReach(user, nest))
      return {};
  return alloc;
}

std::string loopc::findParallelObstacle(scf::ForOp nest) {
  IterationPlaces places(nest);
  std::optional<APInt> trips = nest.getStaticTripCount();
  bool isOnce = trips && trips->isOne() && !findOnlyParallelLoop(nest);
  std::string why;
  SmallVector<Access> accesses;
  nest.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isAllowed(op)) {
      why = ("it holds '" + op->getName().getStringRef() + "'").str();
      return WalkResult::interrupt();
    }
    Access access = getAccess(op);
    if (!access.buffer || isOnce || findPrivateMemory(access.buffer, nest))
      return WalkResult::advance();
    if (access.writes && !places.tellsIteration(access)) {
      why = "all iterations write to one place";
      return WalkResult::interrupt();
    }
    accesses.push_back(access);
    return WalkResult::advance();
  });
  return why.empty() ? places.findConflict(accesses).str() : why;
}

std::string loopc::findSharingObstacle(scf::ForOp nest) {
  llvm::DenseSet<Value> dependent{nest.getInductionVar()};
  auto depends = [&](Value value) { return dependent.contains(value); };
  std::optional<APInt> trips = nest.getStaticTripCount();
  bool isOnce = trips && trips->isOne() && !findOnlyParallelLoop(nest);
  std::string why;
  nest.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isAllowed(op)) {
      why = ("it holds '" + op->getName().getStringRef() + "'").str();
      return WalkResult::interrupt();
    }
    Access access = getAccess(op);
    if (access.writes && !isOnce && !depends(access.buffer) &&
        llvm::none_of(access.place, depends) &&
        !findPrivateMemory(access.buffer, nest)) {
      why = "all iterations write to one place";
      return WalkResult::interrupt();
    }
    if (llvm::none_of(op->getOperands(), depends))
      return WalkResult::advance();
    dependent.insert(op->result_begin(), op->result_end());
    if (auto inner = dyn_cast<scf::ForOp>(op))
      dependent.insert(inner.getInductionVar());
    return WalkResult::advance();
  });
  return why;
}

bool loopc::fillsNewMemory(scf::ForOp nest) {
  return nest
      .walk([&](Operation *op) {
        Value buffer = getWritten(op);
        auto alloc = buffer ? rootOf(buffer).getDefiningOp<memref::AllocOp>()
                            : memref::AllocOp();
        return alloc && alloc->getBlock() == nest->getBlock()
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
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
