//===- FuseNests.cpp - Nests over the same elements -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Codegen/GPU/Regions/FuseNests.h"
#include "loopc/Codegen/GPU/Regions/Accumulators.h"
#include "loopc/Codegen/GPU/Regions/DeviceCode.h"
#include "loopc/Codegen/GPU/Regions/LibraryProducts.h"
#include "loopc/Codegen/GPU/Regions/Passes.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace loopc {
#define GEN_PASS_DEF_FUSENESTS
#include "loopc/Codegen/GPU/Regions/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Pairs of accesses up to which nests are compared.
static constexpr size_t kManyPairs = 4096;

namespace {
/// A load or a store.
struct Touch {
  Operation *op;
  Value buffer;
  ValueRange place;
  bool isWrite;
};

class Fusion {
public:
  Fusion(AliasClasses &classes, bool hasLibdevice,
         llvm::function_ref<bool(scf::ForOp)> staysAlone)
      : classes(classes), hasLibdevice(hasLibdevice), staysAlone(staysAlone) {}

  void run(Block &block);
  /// Takes memory away that is written and freed alone since values are handed
  /// on in registers.
  void eraseUnread();

private:
  using Nest = SmallVector<scf::ForOp>;

  bool canMeet(const Nest &first, const Nest &second);
  bool canPass(Operation &op, scf::ForOp nest);
  bool isSamePlace(const Touch &one, const Nest &first, const Touch &other,
                   const Nest &second);
  scf::ForOp fuse(const Nest &first, const Nest &second,
                  ArrayRef<Operation *> frees);
  void forward(Block &body);

  AliasClasses &classes;
  bool hasLibdevice;
  llvm::function_ref<bool(scf::ForOp)> staysAlone;
  /// Memory from which something was not loaded.
  llvm::SetVector<Value> forwarded;
};
} // namespace

static std::optional<Touch> getTouch(Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return Touch{op, load.getMemref(), load.getIndices(), false};
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return Touch{op, store.getMemref(), store.getIndices(), true};
  return std::nullopt;
}

static SmallVector<Touch> collectTouches(Operation *op) {
  SmallVector<Touch> found;
  op->walk([&](Operation *nested) {
    if (std::optional<Touch> touch = getTouch(nested))
      found.push_back(*touch);
  });
  return found;
}

static bool hasLoop(scf::ForOp innermost) {
  return !innermost.getBody()->getOps<scf::ForOp>().empty();
}

static bool isOnce(scf::ForOp loop) {
  std::optional<APInt> trips = loop.getStaticTripCount();
  return trips && trips->isOne();
}

/// True where iterations touch the same element if they have the same numbers,
/// and other ones else.
bool Fusion::isSamePlace(const Touch &one, const Nest &first,
                         const Touch &other, const Nest &second) {
  if (one.buffer != other.buffer)
    return false;
  SmallVector<bool> isUsed;
  for (scf::ForOp loop : first)
    isUsed.push_back(isOnce(loop));
  for (auto [at, there] : llvm::zip_equal(one.place, other.place)) {
    auto *it = llvm::find_if(first, [&, at = at](scf::ForOp loop) {
      return loop.getInductionVar() == at;
    });
    if (it == first.end()) {
      bool isEqual = isEqualConstantIntOrValue(at, there);
      if (!isEqual || !scf::ForOp(first.front()).isDefinedOutsideOfLoop(at))
        return false;
      continue;
    }
    size_t k = it - first.begin();
    if (scf::ForOp(second[k]).getInductionVar() != there)
      return false;
    isUsed[k] = true;
  }
  return llvm::all_of(isUsed, [](bool used) { return used; });
}

/// True where iteration by iteration is the same as one nest after the other.
bool Fusion::canMeet(const Nest &first, const Nest &second) {
  SmallVector<OpFoldResult> extents = getNestExtents(first);
  if (extents.empty() || extents != getNestExtents(second))
    return false;
  // One sum each: what is done with it depends on what the sum is like.
  if (hasLoop(first.back()) && hasLoop(second.back()))
    return false;
  for (const Nest *nest : {&first, &second}) {
    scf::ForOp outer = nest->front();
    // Failures come in the order of the model.
    bool canEnd = holdsOp<loop::CheckOp, loop::PollOp, memref::CopyOp>(outer);
    if (canEnd)
      return false;
  }
  if (findDeviceObstacle(first.front(), hasLibdevice).empty() !=
      findDeviceObstacle(second.front(), hasLibdevice).empty())
    return false;
  SmallVector<Touch> mine = collectTouches(first.front());
  SmallVector<Touch> theirs = collectTouches(second.front());
  if (mine.size() * theirs.size() > kManyPairs)
    return false;
  return llvm::all_of(mine, [&](const Touch &one) {
    return llvm::all_of(theirs, [&](const Touch &other) {
      return (!one.isWrite && !other.isWrite) ||
             classes.of(one.buffer) != classes.of(other.buffer) ||
             isSamePlace(one, first, other, second);
    });
  });
}

/// True where `nest` may as well come behind `op`.
bool Fusion::canPass(Operation &op, scf::ForOp nest) {
  if (isMemoryEffectFree(&op) || isa<memref::AllocOp, loop::CheckOp>(op))
    return true;
  auto load = dyn_cast<memref::LoadOp>(op);
  return load && llvm::none_of(collectTouches(nest), [&](const Touch &touch) {
           return touch.isWrite &&
                  classes.of(touch.buffer) == classes.of(load.getMemref());
         });
}

/// Values that were just stored are not loaded, elements that are stored again
/// not stored before; stores come last.
void Fusion::forward(Block &body) {
  struct Known {
    memref::StoreOp store;
    bool isRead;
  };
  SmallVector<Known> known;
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    auto isHere = [&](Known &entry, Value buffer, ValueRange place) {
      return entry.store.getMemref() == buffer &&
             llvm::equal(entry.store.getIndices(), place);
    };
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      auto *it = llvm::find_if(known, [&](Known &entry) {
        return isHere(entry, load.getMemref(), load.getIndices());
      });
      if (it != known.end()) {
        forwarded.insert(load.getMemref());
        load.replaceAllUsesWith(it->store.getValue());
        load.erase();
        continue;
      }
    }
    for (const Touch &touch : collectTouches(&op)) {
      const void *memory = classes.of(touch.buffer);
      auto isOfIt = [&](Known &entry) {
        return classes.of(entry.store.getMemref()) == memory;
      };
      if (!touch.isWrite) {
        for (Known &entry : known)
          entry.isRead |= isOfIt(entry);
        continue;
      }
      llvm::erase_if(known, [&](Known &entry) {
        if (!isOfIt(entry))
          return false;
        if (touch.op == &op && !entry.isRead &&
            isHere(entry, touch.buffer, touch.place))
          entry.store->erase();
        return true;
      });
    }
    if (auto store = dyn_cast<memref::StoreOp>(op))
      known.push_back({store, false});
  }
  for (Known &entry : known)
    if (!entry.isRead)
      entry.store->moveBefore(body.getTerminator());
}

scf::ForOp Fusion::fuse(const Nest &first, const Nest &second,
                        ArrayRef<Operation *> frees) {
  for (Operation *free : llvm::reverse(frees))
    free->moveAfter(second.front());
  // Messages name what takes longest.
  if (hasLoop(first.back()))
    scf::ForOp(second.front())->setLoc(scf::ForOp(first.front()).getLoc());
  // The code in front of the innermost loops, then their bodies, `first`'s
  // before `second`'s.
  for (auto [k, loops] : llvm::enumerate(llvm::zip_equal(first, second))) {
    scf::ForOp mine = std::get<0>(loops), theirs = std::get<1>(loops);
    mine.getInductionVar().replaceAllUsesWith(theirs.getInductionVar());
    Operation *inner =
        k + 1 < first.size() ? scf::ForOp(first[k + 1]) : scf::ForOp();
    Block *target = theirs.getBody();
    Operation *front = &target->front();
    for (Operation &op :
         llvm::make_early_inc_range(mine.getBody()->without_terminator()))
      if (&op != inner)
        op.moveBefore(front);
  }
  classes.erase(scf::ForOp(first.front()));
  forward(*scf::ForOp(second.back()).getBody());
  return second.front();
}

void Fusion::run(Block &block) {
  scf::ForOp last;
  SmallVector<Operation *> frees;
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  for (Operation *op : ops) {
    if (!isSharedLoop(op)) {
      for (Region &region : op->getRegions())
        for (Block &inner : region)
          run(inner);
      if (last && isa<memref::DeallocOp>(op))
        frees.push_back(op);
      else if (last && !canPass(*op, last))
        last = {};
      continue;
    }
    auto next = cast<scf::ForOp>(op);
    promoteAccumulators(next, classes);
    // What fills the memory of a sum is part of it: asked again below.
    if (staysAlone && staysAlone(next))
      last = {};
    Nest first, second = collectSharedLoops(next);
    if (last)
      first = collectSharedLoops(last);
    // What was freed behind the first one is, behind both: the next one may
    // come between.
    if (last && canMeet(first, second))
      next = fuse(first, second, frees);
    else
      frees.clear();
    last = staysAlone && staysAlone(next) ? scf::ForOp() : next;
  }
}

void Fusion::eraseUnread() {
  for (Value buffer : forwarded) {
    auto alloc = buffer.getDefiningOp<memref::AllocOp>();
    if (!alloc ||
        !llvm::all_of(alloc->getUsers(),
                      llvm::IsaPred<memref::StoreOp, memref::DeallocOp>))
      continue;
    for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
      user->erase();
    classes.erase(alloc);
  }
}

void loopc::fuseNests(Operation *root, AliasClasses &classes, bool hasLibdevice,
                      llvm::function_ref<bool(scf::ForOp)> staysAlone) {
  Fusion fusion(classes, hasLibdevice, staysAlone);
  for (Region &region : root->getRegions())
    for (Block &block : region)
      fusion.run(block);
  fusion.eraseUnread();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct FuseNests : loopc::impl::FuseNestsBase<FuseNests> {
  using FuseNestsBase::FuseNestsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    AliasClasses classes(function);
    fuseNests(
        function, classes, getGPUTarget(function).hasLibdevice,
        [&](scf::ForOp nest) { return matchLibraryProduct(nest).has_value(); });
  }
};
} // namespace
