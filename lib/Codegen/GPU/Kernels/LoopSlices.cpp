//===- LoopSlices.cpp - Loops whose slices are independent ----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopSlices.h"
#include "KernelLoops.h"
#include "loopc/Codegen/GPU/Regions/DeviceCode.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Nest/Analysis/Accesses.h"
#include "loopc/Dialect/Nest/Analysis/Independence.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <vector>

using namespace mlir;
using namespace loopc;

namespace {
/// Looks for one axis after the other, by what each nest and each buffer may
/// yet be sliced along.
class SliceFinder {
public:
  SliceFinder(scf::ForOp loop, const AliasClasses &classes)
      : loop(loop), classes(classes) {}

  std::optional<LoopSlices> run();

private:
  struct Touch {
    unsigned buffer;
    ValueRange place;
  };
  struct Nest {
    SlicedNest found;
    SmallVector<OpFoldResult> extents;
    SmallVector<Touch> touches;
    SmallVector<bool> candidates; ///< loops
  };
  struct Buffer {
    Value memory;
    SmallVector<bool> isTaken, candidates; ///< axes of the buffer
  };

  bool collect();
  bool collectTouches();
  bool findAxis();
  bool tryAxis(unsigned seed);
  bool propagate();
  bool isPossible(const Nest &nest, unsigned loop, const Touch &touch,
                  unsigned axis) const;

  scf::ForOp loop;
  const AliasClasses &classes;
  std::vector<Nest> nests;
  std::vector<Buffer> buffers;
  SmallVector<OpFoldResult> extents;
};
} // namespace

bool SliceFinder::collect() {
  SmallVector<SmallVector<scf::ForOp>> found;
  if (!collectNests(loop, found) || found.empty())
    return false;
  for (ArrayRef<scf::ForOp> loops : found) {
    Nest nest;
    nest.found.loops.assign(loops.begin(), loops.end());
    nest.found.axes.assign(loops.size(), -1);
    nest.extents = getNestExtents(loops);
    if (nest.extents.empty())
      return false;
    nests.push_back(std::move(nest));
  }
  return collectTouches();
}

/// What touches the memory that the loop writes; false where that is not known,
/// or happens beside the nests.
bool SliceFinder::collectTouches() {
  DenseMap<const void *, unsigned> numbers;
  loop.walk([&](memref::StoreOp store) {
    Value memory = store.getMemref();
    auto [it, isNew] = numbers.try_emplace(classes.of(memory), buffers.size());
    if (isNew)
      buffers.push_back(
          {memory,
           SmallVector<bool>(store.getMemRefType().getRank(), false),
           {}});
  });
  DenseMap<Operation *, unsigned> nestOf;
  for (auto [k, nest] : llvm::enumerate(nests))
    nestOf[nest.found.loops.front()] = k;
  auto add = [&](Operation *op, Value memory, ValueRange place) {
    auto it = numbers.find(classes.of(memory));
    if (it == numbers.end())
      return true;
    if (buffers[it->second].memory != memory ||
        !loop.isDefinedOutsideOfLoop(memory))
      return false;
    Operation *outer = op;
    while (outer != loop && !nestOf.contains(outer))
      outer = outer->getParentOp();
    if (outer == loop)
      return false;
    nests[nestOf[outer]].touches.push_back({it->second, place});
    return true;
  };
  return !loop.walk([&](Operation *op) {
                bool isFine = !isa<loop::CheckOp, memref::CopyOp>(op);
                if (auto load = dyn_cast<memref::LoadOp>(op))
                  isFine = add(op, load.getMemref(), load.getIndices());
                else if (auto store = dyn_cast<memref::StoreOp>(op))
                  isFine = add(op, store.getMemref(), store.getIndices());
                return isFine ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// True where `touch` is at the iteration's own place along `axis` if the axis
/// is what `number` of the nest's loops goes along.
bool SliceFinder::isPossible(const Nest &nest, unsigned number,
                             const Touch &touch, unsigned axis) const {
  scf::ForOp along = nest.found.loops[number];
  if (touch.place[axis] != along.getInductionVar())
    return false;
  if (axis + 1 < touch.place.size())
    return true;
  // A row in memory belongs to threads that are beside each other.
  return llvm::none_of(llvm::enumerate(nest.found.loops), [&](auto entry) {
    auto [k, other] = entry;
    return k != number && nest.found.axes[k] < 0 &&
           llvm::is_contained(touch.place, scf::ForOp(other).getInductionVar());
  });
}

/// Takes away what contradicts the rest; false where nothing is left.
bool SliceFinder::propagate() {
  bool hasChanged = true;
  auto remove = [&](SmallVector<bool> &candidates, size_t k) {
    candidates[k] = false;
    hasChanged = true;
  };
  while (hasChanged) {
    hasChanged = false;
    for (Nest &nest : nests) {
      for (size_t k = 0; k < nest.candidates.size(); ++k) {
        bool isFine = llvm::all_of(nest.touches, [&](const Touch &touch) {
          const Buffer &buffer = buffers[touch.buffer];
          return llvm::any_of(llvm::seq(touch.place.size()), [&](size_t axis) {
            return buffer.candidates[axis] && isPossible(nest, k, touch, axis);
          });
        });
        if (nest.candidates[k] && !isFine)
          remove(nest.candidates, k);
      }
      for (const Touch &touch : nest.touches) {
        Buffer &buffer = buffers[touch.buffer];
        for (size_t axis = 0; axis < touch.place.size(); ++axis) {
          bool isFine =
              llvm::any_of(llvm::seq(nest.candidates.size()), [&](size_t k) {
                return nest.candidates[k] && isPossible(nest, k, touch, axis);
              });
          if (buffer.candidates[axis] && !isFine)
            remove(buffer.candidates, axis);
        }
      }
    }
  }
  auto hasSome = [](auto &entry) {
    return llvm::is_contained(entry.candidates, true);
  };
  return llvm::all_of(nests, hasSome) && llvm::all_of(buffers, hasSome);
}

/// Tries the loop with a number of the first nest.
bool SliceFinder::tryAxis(unsigned seed) {
  OpFoldResult extent = nests.front().extents[seed];
  for (Nest &nest : nests) {
    nest.candidates.clear();
    for (auto [axis, other] : llvm::zip_equal(nest.found.axes, nest.extents))
      nest.candidates.push_back(axis < 0 && other == extent);
  }
  for (Buffer &buffer : buffers) {
    buffer.candidates.clear();
    for (bool isTaken : buffer.isTaken)
      buffer.candidates.push_back(!isTaken);
  }
  auto choose = [&](SmallVector<bool> &candidates, size_t chosen) {
    for (size_t k = 0; k < candidates.size(); ++k)
      candidates[k] = k == chosen;
    return propagate();
  };
  if (!choose(nests.front().candidates, seed))
    return false;
  for (Nest &nest : nests)
    if (llvm::count(nest.candidates, true) > 1 &&
        !choose(nest.candidates,
                llvm::find(nest.candidates, true) - nest.candidates.begin()))
      return false;
  for (Buffer &buffer : buffers)
    if (llvm::count(buffer.candidates, true) > 1 &&
        !choose(buffer.candidates, llvm::find(buffer.candidates, true) -
                                       buffer.candidates.begin()))
      return false;
  return true;
}

bool SliceFinder::findAxis() {
  const Nest &first = nests.front();
  for (auto [k, extent] : llvm::enumerate(first.extents)) {
    auto value = dyn_cast<Value>(extent);
    if (first.found.axes[k] >= 0 || isConstantIntValue(extent, 1) ||
        (value && !loop.isDefinedOutsideOfLoop(value)) || !tryAxis(k))
      continue;
    int number = static_cast<int>(extents.size());
    extents.push_back(extent);
    for (Nest &nest : nests)
      for (auto [axis, isChosen] :
           llvm::zip_equal(nest.found.axes, nest.candidates))
        axis = isChosen ? number : axis;
    for (Buffer &buffer : buffers)
      for (auto [isTaken, isChosen] :
           llvm::zip_equal(buffer.isTaken, buffer.candidates))
        isTaken |= isChosen;
    return true;
  }
  return false;
}

std::optional<LoopSlices> SliceFinder::run() {
  if (!collect())
    return std::nullopt;
  while (findAxis()) {
  }
  if (extents.empty())
    return std::nullopt;
  LoopSlices slices{loop, std::move(extents), {}};
  for (Nest &nest : nests)
    slices.nests.push_back(std::move(nest.found));
  return slices;
}

std::optional<LoopSlices> loopc::findLoopSlices(gpu::GPUFuncOp kernel,
                                                const AliasClasses &classes) {
  scf::ForOp loop;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    // What the loop leaves for the host comes behind it.
    bool isResult = loop && isa<memref::StoreOp>(op);
    if (isResult || (isMemoryEffectFree(&op) && op.getNumRegions() == 0))
      continue;
    auto found = dyn_cast<scf::ForOp>(op);
    if (!found || loop || isSharedLoop(found) ||
        llvm::any_of(found.getResultTypes(), llvm::IsaPred<MemRefType>))
      return std::nullopt;
    loop = found;
  }
  return loop ? SliceFinder(loop, classes).run() : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// Leaves of a nest what goes along none of the axes; `places` is the slice's
/// along each.
static void restrictNest(const SlicedNest &nest, ArrayRef<Value> places) {
  size_t left = llvm::count(nest.axes, -1);
  for (size_t k = 0; k < nest.loops.size(); ++k) {
    scf::ForOp loop = nest.loops[k];
    if (nest.axes[k] < 0)
      continue;
    Value place = places[nest.axes[k]];
    // One element is a nest, too.
    if (left == 0 && k + 1 == nest.loops.size()) {
      ImplicitLocOpBuilder b(loop.getLoc(), loop);
      loop.setLowerBound(place);
      // One iteration, as a slice is a number below an extent.
      loop.setUpperBound(
          arith::AddIOp::create(b, place, arith::ConstantIndexOp::create(b, 1),
                                arith::IntegerOverflowFlags::nsw));
      continue;
    }
    loop.getInductionVar().replaceAllUsesWith(place);
    for (Operation &op :
         llvm::make_early_inc_range(loop.getBody()->without_terminator()))
      op.moveBefore(loop);
    loop.erase();
  }
}

scf::ForOp loopc::separateSlices(const LoopSlices &slices) {
  scf::ForOp loop = slices.loop;
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  SmallVector<Value> extents;
  Value count;
  for (OpFoldResult extent : slices.extents) {
    extents.push_back(getValueOrCreateConstantIndexOp(b, b.getLoc(), extent));
    count = count ? b.createOrFold<arith::MulIOp>(count, extents.back())
                  : extents.back();
  }
  auto outer =
      scf::ForOp::create(b, arith::ConstantIndexOp::create(b, 0), count,
                         arith::ConstantIndexOp::create(b, 1), loop.getInits());
  outer->setAttr(kSlicesAttrName, b.getUnitAttr());
  loop.replaceAllUsesWith(outer.getResults());
  Block *body = outer.getBody();
  if (!body->empty())
    body->back().erase();
  b.setInsertionPointToEnd(body);
  SmallVector<Value> places(extents.size());
  Value number = outer.getInductionVar();
  for (size_t k = extents.size(); k-- > 0;) {
    places[k] =
        k ? arith::RemUIOp::create(b, number, extents[k]).getResult() : number;
    if (k)
      number = arith::DivUIOp::create(b, number, extents[k]);
  }
  loop->moveBefore(body, body->end());
  // Numbers are the same for all slices.
  scf::YieldOp::create(b, loop.getResults());
  for (const SlicedNest &nest : slices.nests)
    restrictNest(nest, places);
  return outer;
}

//===----------------------------------------------------------------------===//
// Proof
//===----------------------------------------------------------------------===//

/// True if a value that an iteration of `loop` yields may depend on which one
/// it is: on its number, or on memory that iterations write.
static bool yieldsWhatDiffers(scf::ForOp loop,
                              const DenseSet<Value> &writtenRoots,
                              llvm::function_ref<Value(Value)> rootOf) {
  llvm::SetVector<Value> open(loop.getYieldedValues().begin(),
                              loop.getYieldedValues().end());
  for (size_t k = 0; k < open.size(); ++k) {
    Value value = open[k];
    if (loop.isDefinedOutsideOfLoop(value))
      continue;
    Operation *op = value.getDefiningOp();
    if (!op)
      op = value.getParentBlock()->getParentOp();
    if (op == loop)
      return true;
    Access access = getAccess(op);
    if (access.buffer && writtenRoots.contains(rootOf(access.buffer)))
      return true;
    open.insert(op->operand_begin(), op->operand_end());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        open.insert(block.getTerminator()->operand_begin(),
                    block.getTerminator()->operand_end());
  }
  return false;
}

std::string loopc::findSlicesObstacle(scf::ForOp loop,
                                      llvm::function_ref<Value(Value)> rootOf) {
  DenseSet<Value> writtenRoots;
  loop.walk([&](Operation *op) {
    Access access = getAccess(op);
    if (access.writes)
      writtenRoots.insert(rootOf(access.buffer));
  });
  if (yieldsWhatDiffers(loop, writtenRoots, rootOf))
    return "iterations result in different values";
  return findParallelObstacle(loop, rootOf);
}
