//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Nest/Transforms/Outlining.h"
#include "loopc/Dialect/Device/IR/Device.h"
#include "loopc/Dialect/List/IR/List.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/Nest/Analysis/Accesses.h"
#include "loopc/Dialect/Nest/Analysis/Independence.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Dialect/RT/IR/RT.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/Remarks.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Threading.h"
#include "llvm/ADT/Hashing.h"

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

void Captures::addAll(ArrayRef<Operation *> ops) {
  Block *block = ops.front()->getBlock();
  llvm::SmallPtrSet<Operation *, 8> inside(ops.begin(), ops.end());
  auto isInside = [&](Value value) {
    Operation *owner = value.getDefiningOp();
    if (!owner)
      owner = value.getParentBlock()->getParentOp();
    Operation *ancestor = block->findAncestorOpInBlock(*owner);
    return ancestor && inside.contains(ancestor);
  };
  for (Operation *op : ops)
    op->walk<WalkOrder::PreOrder>([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (!isInside(operand))
          add(operand);
    });
}

bool loopc::isPlain(Operation *op) { return allNested(op, isPlainOp); }

bool loopc::isForDevice(Operation *op) {
  return anyNested(op, [](Operation *nested) {
    return isa<gpu::GPUDialect>(nested->getDialect()) ||
           isa<device::ViewOp, device::ResultOp, device::WaitOp,
               device::GraphOp>(nested);
  });
}

bool loopc::canBeArgument(Type type) {
  return type.isIntOrIndexOrFloat() || isa<list::ListType>(type) ||
         isa<MemRefType, VectorType, ComplexType, rt::RunType, rt::StringType>(
             type) ||
         LLVM::isCompatibleType(type);
}

func::FuncOp loopc::makePrivateFunction(Location loc, Twine name,
                                        FunctionType type) {
  Builder b(loc.getContext());
  auto made = func::FuncOp::create(loc, name.str(), type);
  made.setPrivate();
  made->setAttr("llvm.linkage", LLVM::LinkageAttr::get(
                                    b.getContext(), LLVM::Linkage::Internal));
  made->setAttr(kOutlinedAttrName, b.getUnitAttr());
  return made;
}

bool ViewedBuffers::contains(memref::AllocOp alloc) {
  if (known.contains(alloc))
    return true;
  bool isKnown = allUsersOfViews(alloc, [&](Operation *user) {
    ++work;
    auto store = dyn_cast<memref::StoreOp>(user);
    bool storesPointer =
        (store && isa<MemRefType>(store.getValue().getType())) ||
        isa<memref::ExtractAlignedPointerAsIndexOp>(user);
    // What is returned is not known here any more.
    bool handsOn =
        user->getNumRegions() != 0 ||
        (user->hasTrait<OpTrait::IsTerminator>() && !isa<func::ReturnOp>(user));
    return !storesPointer && !handsOn &&
           llvm::none_of(user->getResultTypes(), llvm::IsaPred<MemRefType>);
  });
  if (isKnown)
    known.insert(alloc);
  return isKnown;
}

// What was allocated here, and is reached through one argument alone, is not
// reached through another. That says something where it is written.
void loopc::markPrivateMemory(func::FuncOp made, unsigned first,
                              ArrayRef<Value> captures,
                              ArrayRef<Operation *> ops,
                              ViewedBuffers &buffers) {
  llvm::SmallPtrSet<Value, 8> written, freed;
  for (Operation *part : ops)
    part->walk([&](Operation *op) {
      if (Access access = getAccess(op); access.writes)
        written.insert(getViewRoot(access.buffer));
      // It is freed through the other pointer of its descriptor, here or where
      // it is handed to.
      if (isa<memref::DeallocOp, func::CallOp>(op))
        for (Value operand : op->getOperands())
          freed.insert(getViewRoot(operand));
    });
  llvm::DenseMap<Value, unsigned> users;
  for (Value capture : captures)
    if (isa<MemRefType>(capture.getType()))
      ++users[getViewRoot(capture)];
  for (auto [k, capture] : llvm::enumerate(captures)) {
    if (!isa<MemRefType>(capture.getType()))
      continue;
    Value root = getViewRoot(capture);
    auto alloc = root.getDefiningOp<memref::AllocOp>();
    if (users[root] == 1 && written.contains(root) && !freed.contains(root) &&
        alloc && buffers.contains(alloc))
      made.setArgAttr(first + k, LLVM::LLVMDialect::getNoAliasAttrName(),
                      UnitAttr::get(made.getContext()));
  }
}

/// Values that no machine has registers for are alive across each nest in an
/// iteration: to allocate registers takes LLVM time with the product of both.
/// Of so few nests a call is still nothing beside what each does with its part
/// of the values.
static constexpr unsigned kManyCarried = 64, kStepsOfMany = 4;

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
  for (auto [op, count] : counts) {
    bool carriesMany = op->getNumResults() > kManyCarried;
    if (isa<LoopLikeOpInterface>(op) &&
        count >= (carriesMany ? std::min(steps, kStepsOfMany) : steps))
      found.insert(op);
  }
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

/// Fixed buffers below this are not told apart.
static constexpr int64_t kSmallBytes = 64 << 10;

/// The product of the extents may have more than 64 bits.
static bool isSmall(MemRefType type) {
  Type element = type.getElementType();
  if (!type.hasStaticShape() || !element.isIntOrFloat())
    return false;
  int64_t room = kSmallBytes * 8 / int64_t(element.getIntOrFloatBitWidth());
  int64_t elements = llvm::is_contained(type.getShape(), 0) ? 0 : 1;
  for (int64_t extent : type.getShape())
    if ((elements *= std::min(extent, room)) >= room)
      return false;
  return true;
}

bool loopc::namesPlace(Operation *op) {
  if (auto alloc = dyn_cast<memref::AllocOp>(op))
    return !isSmall(alloc.getType());
  return isa<list::InsertOp, list::EraseOp, rt::FourierOp>(op);
}

/// The paths that errors of `function` would name, in the order of what names
/// them. Checks have theirs in their messages.
static SmallVector<std::string> findNamedPlaces(func::FuncOp function) {
  SmallVector<std::string> places;
  function.getBody().walk([&](Operation *op) {
    if (namesPlace(op))
      places.push_back(locationPath(op->getLoc()));
  });
  return places;
}

/// True where two functions do the same, whatever is known of the memory that
/// they are given, and errors name the same nodes.
static bool isEqualFunction(func::FuncOp one, func::FuncOp other) {
  return one.getFunctionType() == other.getFunctionType() &&
         OperationEquivalence::isRegionEquivalentTo(
             &one.getBody(), &other.getBody(),
             OperationEquivalence::IgnoreLocations) &&
         findNamedPlaces(one) == findNamedPlaces(other);
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
    if (namesPlace(op))
      code = llvm::hash_combine(code, locationPath(op->getLoc()));
  });
  return code;
}

func::FuncOp SharedFunctions::add(func::FuncOp made) {
  auto &others = functions[hash(made)];
  for (func::FuncOp other : others)
    if (isEqualFunction(made, other)) {
      StringRef noAlias = LLVM::LLVMDialect::getNoAliasAttrName();
      for (unsigned k : llvm::seq(made.getNumArguments()))
        if (!made.getArgAttr(k, noAlias))
          other.removeArgAttr(k, noAlias);
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

SmallVector<scf::ForOp> loopc::collectParallelNests(Operation *op) {
  struct Candidate {
    scf::ForOp loop;
    std::string obstacle = {};
  };
  SmallVector<Candidate, 0> candidates;
  for (Region &region : op->getRegions())
    region.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      if (!loop->hasAttr(kParallelAttrName) || loop.getNumResults() ||
          !loop.getInductionVar().getType().isIndex())
        return WalkResult::advance();
      candidates.push_back({loop});
      return WalkResult::skip();
    });
  parallelForEach(op->getContext(), candidates, [](Candidate &candidate) {
    candidate.obstacle = findParallelObstacle(candidate.loop);
  });
  SmallVector<scf::ForOp> nests;
  for (const Candidate &candidate : candidates) {
    if (candidate.obstacle.empty()) {
      nests.push_back(candidate.loop);
      continue;
    }
    remarkMissed(candidate.loop->getLoc(), "Parallelize",
                 "it does not run on several threads: " + candidate.obstacle);
    llvm::append_range(nests, collectParallelNests(candidate.loop));
  }
  return nests;
}

bool loopc::fillsNewMemory(scf::ForOp nest) {
  return anyNested(nest, [&](Operation *op) {
    Access access = getAccess(op);
    auto alloc =
        access.writes
            ? getViewRoot(access.buffer).getDefiningOp<memref::AllocOp>()
            : memref::AllocOp();
    return alloc && alloc->getBlock() == nest->getBlock();
  });
}
