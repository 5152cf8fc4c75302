//===- HoistAllocations.cpp - Memory set aside before loops ---------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A kernel cannot allocate. Where tensors have shapes that only the run knows
// (broadcasting that is decided there, branches whose results differ), loops
// do: here they get places of memory that is as large as it can be needed.
//
//  - What does not outlive an iteration has a place of its own.
//  - Of what the loop carries, an iteration reads what one before has made, any
//    one before: there are as many places as there are carried buffers and
//    allocations together, and each iteration takes those that no carried
//    buffer lies in. So nothing has to be freed.

#include "loopc/Codegen/GPU/Regions/CopyNests.h"
#include "loopc/Codegen/GPU/Regions/DeviceCode.h"
#include "loopc/Codegen/GPU/Regions/Passes.h"
#include "loopc/Conversion/ToLLVM/BufferBytes.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/Nest/Analysis/AliasClasses.h"
#include "loopc/Dialect/Nest/Analysis/Bounds.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Support/IndexEmitter.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

namespace loopc {
#define GEN_PASS_DEF_HOISTALLOCATIONS
#include "loopc/Codegen/GPU/Regions/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Places begin at multiples of that.
static constexpr int64_t kPlaceBytes = 256;
/// Places of a class, which are the bits of a word.
static constexpr size_t kMaxPlaces = 62;

namespace {
/// Allocations whose results may be one buffer for who reads it.
struct Group {
  SmallVector<memref::AllocOp> allocs;
  SmallVector<memref::DeallocOp> deallocs;
  /// Which results of the loop are of the class.
  SmallVector<unsigned> results;
  bool isCarried = false;
  bool isCarriedWithin = false;
};

class Hoister : IndexEmitter {
public:
  explicit Hoister(LoopLikeOpInterface loop)
      : IndexEmitter(loop.getLoc(), loop), loop(loop),
        classes(loop->getParentOfType<func::FuncOp>()), bounds(b, loop) {}

  /// Why the loop keeps its allocations; "" where it has none any more.
  std::string run();

private:
  void collect();
  std::string findObstacle(Group &group);
  std::string findSize(memref::AllocOp alloc);
  Value countBytes(const Group &group);
  void hoistAlone(Group &group);
  void hoistCarried(Group &group);
  SmallVector<Value> findFree(Block &block, Value memory, Value bytes,
                              size_t count, const void *memoryClass);
  void copyResults(Group &group, Operation *behind);
  void replace(memref::AllocOp alloc, Value memory, Value shift);

  LoopLikeOpInterface loop;
  AliasClasses classes;
  SizeBounds bounds;
  llvm::MapVector<const void *, Group> groups;
  DenseMap<Operation *, Value> bytesOf;
};
} // namespace

//===----------------------------------------------------------------------===//
// What can be hoisted
//===----------------------------------------------------------------------===//

void Hoister::collect() {
  auto groupOf = [&](Value value) -> Group & {
    return groups[classes.of(value)];
  };
  loop->walk([&](Operation *op) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op))
      groupOf(alloc).allocs.push_back(alloc);
    else if (auto dealloc = dyn_cast<memref::DeallocOp>(op))
      groupOf(dealloc.getMemref()).deallocs.push_back(dealloc);
  });
  loop->walk([&](LoopLikeOpInterface inner) {
    for (OpResult result : inner->getResults()) {
      auto it = groups.find(classes.of(result));
      if (!isa<MemRefType>(result.getType()) || it == groups.end())
        continue;
      (inner == loop ? it->second.isCarried : it->second.isCarriedWithin) =
          true;
      if (inner == loop)
        it->second.results.push_back(result.getResultNumber());
    }
    // What a loop carries need not be a result, or is one that nobody reads.
    for (Region *region : inner.getLoopRegions())
      for (BlockArgument argument : region->getArguments())
        if (isa<MemRefType>(argument.getType()))
          if (auto it = groups.find(classes.of(argument)); it != groups.end())
            (inner == loop ? it->second.isCarried
                           : it->second.isCarriedWithin) = true;
  });
}

/// Finds how many bytes `alloc` takes at most; why not where that is not known.
std::string Hoister::findSize(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  if (!type.getLayout().isIdentity() || !alloc.getSymbolOperands().empty())
    return "the loop allocates memory of an odd layout";
  b.setInsertionPoint(loop);
  Value bytes = index(getElementBytes(type));
  for (OpFoldResult size : alloc.getMixedSizes()) {
    Value bound = dyn_cast<Value>(size);
    bound = bound ? bounds.of(bound) : index(*getConstantIntValue(size));
    if (!bound)
      return "the loop allocates memory of a size that nothing bounds when it "
             "begins";
    bytes = multiplySizes(b, bytes, bound);
  }
  bytesOf[alloc] = bytes;
  return "";
}

std::string Hoister::findObstacle(Group &group) {
  if (group.isCarriedWithin)
    return "a loop in it carries buffers that it allocates";
  for (memref::AllocOp alloc : group.allocs) {
    for (Operation *parent = alloc->getParentOp();;
         parent = parent->getParentOp()) {
      // One place does not do for iterations at the same time.
      if (parent->hasAttr(kParallelAttrName))
        return "each element has memory of its own";
      if (parent == loop)
        break;
      if (group.isCarried && isa<LoopLikeOpInterface>(parent))
        return "a loop in it allocates what it carries";
    }
    if (std::string why = findSize(alloc); !why.empty())
      return why;
  }
  if (!group.isCarried)
    return "";
  // What the loop began with is freed with the run.
  if (loop->getParentOfType<LoopLikeOpInterface>())
    return "it is in another loop and carries buffers that it allocates";
  size_t most = 0;
  for (Region *region : loop.getLoopRegions())
    most = std::max<size_t>(most, region->getNumArguments());
  if (group.allocs.size() + most > kMaxPlaces)
    return "it carries more buffers than fit into a word";
  return "";
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Bytes of a place for any of `group`.
Value Hoister::countBytes(const Group &group) {
  Value most = index(1);
  for (memref::AllocOp alloc : group.allocs)
    most = b.createOrFold<arith::MaxSIOp>(most, bytesOf.lookup(alloc));
  Value unit = index(kPlaceBytes);
  Value more = addSizes(b, most, index(kPlaceBytes - 1));
  return multiplySizes(b, b.createOrFold<arith::DivUIOp>(more, unit), unit);
}

static MemRefType getBytesType(OpBuilder &b) {
  return MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
}

void Hoister::replace(memref::AllocOp alloc, Value memory, Value shift) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(alloc);
  Value view = memref::ViewOp::create(b, alloc.getType(), memory, shift,
                                      alloc.getDynamicSizes());
  alloc.replaceAllUsesWith(view);
  alloc.erase();
}

void Hoister::hoistAlone(Group &group) {
  for (memref::AllocOp alloc : group.allocs) {
    b.setInsertionPoint(loop);
    Value bytes = bytesOf.lookup(alloc);
    Value memory = memref::AllocOp::create(b, getBytesType(b), bytes);
    replace(alloc, memory, index(0));
    b.setInsertionPointAfter(loop);
    memref::DeallocOp::create(b, memory);
  }
}

/// Numbers of `count` places that no argument of `block` lies in.
SmallVector<Value> Hoister::findFree(Block &block, Value memory, Value bytes,
                                     size_t count, const void *memoryClass) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&block);
  Type i64 = b.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
  };
  auto addressOf = [&](Value buffer) {
    return memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
  };
  Value base = addressOf(memory), one = constant(1), taken = constant(0);
  Value end = memref::DimOp::create(b, memory, index(0));
  for (BlockArgument argument : block.getArguments()) {
    if (!isa<MemRefType>(argument.getType()) ||
        classes.of(argument) != memoryClass)
      continue;
    Value distance = arith::SubIOp::create(b, addressOf(argument), base);
    Value isHere =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, distance, end);
    // Beside the places is what the loop began with.
    Value number = arith::SelectOp::create(
        b, isHere, arith::DivUIOp::create(b, distance, bytes), index(63));
    Value bit = arith::ShLIOp::create(
        b, one, arith::IndexCastOp::create(b, i64, number));
    taken = arith::OrIOp::create(b, taken, bit);
  }
  SmallVector<Value> places;
  for (size_t k = 0; k < count; ++k) {
    // The lowest bit that is 0: below it are as many as its number.
    Value next = arith::AddIOp::create(b, taken, one);
    Value inverse = arith::XOrIOp::create(b, taken, constant(-1));
    Value bit = arith::AndIOp::create(b, inverse, next);
    Value below = arith::SubIOp::create(b, bit, one);
    Value number = math::CtPopOp::create(b, below);
    places.push_back(arith::IndexCastOp::create(b, b.getIndexType(), number));
    taken = arith::OrIOp::create(b, taken, bit);
  }
  return places;
}

void Hoister::hoistCarried(Group &group) {
  const void *memoryClass = classes.of(group.allocs.front());
  b.setInsertionPoint(loop);
  Value bytes = countBytes(group);
  size_t most = 0;
  llvm::MapVector<Block *, SmallVector<memref::AllocOp>> blocks;
  for (Region *region : loop.getLoopRegions()) {
    Block &block = region->front();
    size_t carried = llvm::count_if(block.getArguments(), [&](Value argument) {
      return isa<MemRefType>(argument.getType()) &&
             classes.of(argument) == memoryClass;
    });
    for (memref::AllocOp alloc : group.allocs)
      if (region->isAncestor(alloc->getParentRegion()))
        blocks[&block].push_back(alloc);
    most = std::max(most, carried + blocks[&block].size());
  }
  Value all = multiplySizes(b, bytes, index(static_cast<int64_t>(most)));
  Value memory = memref::AllocOp::create(b, getBytesType(b), all);
  b.setInsertionPointAfter(loop);
  copyResults(group, memref::DeallocOp::create(b, memory));
  for (auto &[block, allocs] : blocks) {
    SmallVector<Value> places =
        findFree(*block, memory, bytes, allocs.size(), memoryClass);
    for (auto [alloc, place] : llvm::zip_equal(allocs, places)) {
      b.setInsertionPoint(alloc);
      replace(alloc, memory, arith::MulIOp::create(b, place, bytes));
    }
  }
}

/// Results get memory of their own, since that of the loop is freed, by
/// `behind`.
void Hoister::copyResults(Group &group, Operation *behind) {
  for (unsigned number : group.results) {
    b.setInsertionPoint(behind);
    Value result = loop->getResult(number);
    // Who only frees it need not have it.
    if (llvm::all_of(result.getUsers(), llvm::IsaPred<memref::DeallocOp>)) {
      for (Operation *user : llvm::make_early_inc_range(result.getUsers()))
        user->erase();
      continue;
    }
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : result.getUses())
      uses.push_back(&use);
    auto type = cast<MemRefType>(result.getType());
    SmallVector<Value> extents;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      if (type.isDynamicDim(axis))
        extents.push_back(memref::DimOp::create(b, result, axis));
    auto plain = MemRefType::get(type.getShape(), type.getElementType());
    Value made = memref::AllocOp::create(b, plain, extents);
    auto copy = memref::CopyOp::create(b, result, made);
    if (plain != type) {
      // What is not in one piece is copied by elements.
      expandCopy(b, copy);
      b.setInsertionPoint(behind);
      made = memref::CastOp::create(b, type, made);
    }
    for (OpOperand *use : uses)
      use->set(made);
  }
}

std::string Hoister::run() {
  collect();
  for (auto &[id, group] : groups)
    if (!group.allocs.empty())
      if (std::string why = findObstacle(group); !why.empty())
        return why;
  for (auto &[id, group] : groups) {
    if (group.allocs.empty())
      continue;
    group.isCarried ? hoistCarried(group) : hoistAlone(group);
    for (memref::DeallocOp dealloc : group.deallocs)
      dealloc.erase();
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Which loops
//===----------------------------------------------------------------------===//

/// True where nothing but allocations is in the way of a kernel.
static bool onlyAllocates(Operation *loop, bool hasLibdevice) {
  bool allocates = false;
  return !loop->walk<WalkOrder::PreOrder>([&](Operation *op) {
                if (isa<memref::AllocOp, memref::DeallocOp>(op)) {
                  allocates |= isa<memref::AllocOp>(op);
                  return WalkResult::advance();
                }
                return findOwnObstacle(op, hasLibdevice).empty()
                           ? WalkResult::advance()
                           : WalkResult::interrupt();
              })
              .wasInterrupted() &&
         allocates && hasSharedLoop(loop);
}

/// Loops of `function` that could be kernels if they did not allocate get their
/// memory before they begin: as much as they can need at a time, where that
/// follows from what is known then. Others stay as they are.
static void hoistAllocations(func::FuncOp function, bool hasLibdevice) {
  SmallVector<LoopLikeOpInterface> loops;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<scf::ForOp, scf::WhileOp>(op) && onlyAllocates(op, hasLibdevice))
      loops.push_back(cast<LoopLikeOpInterface>(op));
    return WalkResult::advance();
  });
  for (LoopLikeOpInterface loop : loops) {
    // One around it may have no allocations any more.
    if (!onlyAllocates(loop, hasLibdevice))
      continue;
    std::string why = Hoister(loop).run();
    if (why.empty())
      remarkDone(loop.getLoc(), "HoistAllocations",
                 "its memory is allocated before it begins");
    else
      remarkMissed(loop.getLoc(), "HoistAllocations",
                   "the host drives it: " + why);
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct HoistAllocations : loopc::impl::HoistAllocationsBase<HoistAllocations> {
  using HoistAllocationsBase::HoistAllocationsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    GPUTarget gpu = getGPUTarget(function);
    if (!function.isExternal() && gpu.loops != DeviceLoops::Host)
      hoistAllocations(function, gpu.hasLibdevice);
  }
};
} // namespace
