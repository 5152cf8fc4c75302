//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// buffer-assign-storage: buffers of loops whose shapes do not change are
// allocated once.

#include "ReuseBuffers.h"

#include "loopc/Bufferize/Passes.h"
#include "loopc/Bufferize/Storage.h"
#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/Loopc/IR/Ports.h"
#include "loopc/Support/Remarks.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

namespace loopc {
#define GEN_PASS_DEF_BUFFERASSIGNSTORAGE
#include "loopc/Bufferize/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

/// More buffers than that an iteration allocates itself, one after the other: a
/// function with so many that are alive takes LLVM time with their square.
static constexpr size_t kManyBuffers = 1024;

bool loopc::isInEachIteration(Operation *op, Operation *loop) {
  for (; op && op != loop; op = op->getParentOp())
    if (op->hasAttr(kColdAttrName) || op->hasAttr(kGrowsAttrName))
      return false;
  return true;
}

static bool definedOutside(LoopLikeOpInterface loop, ValueRange values) {
  return llvm::all_of(
      values, [&](Value value) { return loop.isDefinedOutsideOfLoop(value); });
}

static SmallVector<memref::DeallocOp> deallocsIn(Block *block) {
  return llvm::to_vector(block->getOps<memref::DeallocOp>());
}

/// Dimensions of inputs that have one name are one value.
static void uniteNamedDims(func::FuncOp function, IRRewriter &rewriter) {
  llvm::StringMap<Value> known;
  for (memref::DimOp op : collectOps<memref::DimOp>(function)) {
    auto arg = dyn_cast<BlockArgument>(withoutCasts(op.getSource()));
    std::optional<int64_t> axis = op.getConstantIndex();
    if (!arg || !axis || arg.getOwner() != &function.getBody().front())
      continue;
    StringRef name = getDimName(function, arg.getArgNumber(), *axis);
    if (name.empty())
      continue;
    Value &value = known[name];
    if (!value) {
      rewriter.setInsertionPointToStart(&function.getBody().front());
      Value index =
          arith::ConstantIndexOp::create(rewriter, op.getLoc(), *axis);
      value = memref::DimOp::create(rewriter, op.getLoc(), arg, index);
    }
    rewriter.replaceOp(op, value);
  }
}

/// True if `other`, cast to the type of `alloc`, has its sizes: what is static
/// in that type is the same.
static bool haveSameSizes(memref::AllocOp other, memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  if (!other.getType().getLayout().isIdentity() ||
      !type.getLayout().isIdentity())
    return other.getType() == type &&
           llvm::equal(other.getDynamicSizes(), alloc.getDynamicSizes());
  return llvm::all_of(llvm::seq<int64_t>(0, type.getRank()), [&](int64_t k) {
    return !type.isDynamicDim(k) ||
           isEqualConstantIntOrValue(other.getMixedSizes()[k],
                                     alloc.getMixedSizes()[k]);
  });
}

/// True if `op` runs in each iteration of `loop`, in whose body it is: what
/// branches and the bounds of other loops decide is not known before `loop`.
static bool runsInEachIteration(Operation *op, LoopOp loop) {
  while ((op = op->getParentOp()) != loop)
    if (!isa<LoopOp, scf::ForOp>(op) ||
        !runsForSure(cast<LoopLikeOpInterface>(op)))
      return false;
  return true;
}

/// The outermost loop before which `values`, which stand before `loop`, are
/// known already.
static LoopOp outermostBehind(LoopOp loop, ArrayRef<Value> values) {
  for (auto outer = loop->getParentOfType<LoopOp>();
       outer && definedOutside(outer, values);
       outer = outer->getParentOfType<LoopOp>())
    loop = outer;
  return loop;
}

/// True if memory of so many elements along an axis is there before `loop`, or
/// may be asked for: what data say may be negative, or too much.
static bool mayBeAskedFor(Value size, LoopOp loop) {
  if (isSizeOfExtents(size))
    return true;
  return llvm::any_of(size.getUsers(), [&](Operation *user) {
    Operation *here = isa<memref::AllocOp>(user)
                          ? user->getBlock()->findAncestorOpInBlock(*loop)
                          : nullptr;
    return here && user->isBeforeInBlock(here);
  });
}

/// The dynamic sizes of `alloc`, in the body of `loop`, for an allocation
/// before it, which happens whether or not the loop runs (loop_zero), and
/// before what the body checks. Sizes that data decide are 0 where it does not
/// run, and no less than 0:
///
///   %runs = cmpi sgt, %trips, 0;  select %runs, (maxsi %size, 0), 0
///
/// Nothing where a branch or another loop decides whether they are asked for.
static std::optional<SmallVector<Value>> sizesBefore(OpBuilder &b, LoopOp loop,
                                                     memref::AllocOp alloc) {
  SmallVector<Value> sizes(alloc.getDynamicSizes());
  auto isFine = [&](Value size) { return mayBeAskedFor(size, loop); };
  if (llvm::all_of(sizes, isFine))
    return sizes;
  Value trips = loop.getTripCount(), condition = loop.getCondition();
  SmallVector<Value> used(sizes);
  for (Value value : {trips, condition})
    if (value)
      used.push_back(value);
  if (!runsInEachIteration(alloc, loop) ||
      llvm::any_of(used, [](Value v) { return !v.getType().isIntOrIndex(); }))
    return std::nullopt;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(outermostBehind(loop, used));
  Location loc = alloc.getLoc();
  Value runs = condition;
  if (trips) {
    Value none =
        arith::ConstantOp::create(b, loc, b.getZeroAttr(trips.getType()));
    Value some = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sgt,
                                               trips, none);
    runs = runs ? b.createOrFold<arith::AndIOp>(loc, some, runs) : some;
  }
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  for (Value &size : sizes) {
    if (isFine(size))
      continue;
    size = b.createOrFold<arith::MaxSIOp>(loc, size, zero);
    if (runs)
      size = b.createOrFold<arith::SelectOp>(loc, runs, size, zero);
  }
  return sizes;
}

namespace {
class StorageAssignment {
public:
  explicit StorageAssignment(MLIRContext *context) : rewriter(context) {}

  unsigned hoisted = 0, spares = 0, reused = 0;
  unsigned work = 0; ///< how many values buffers were followed to

  /// Returns the loop that took the place of `loop`.
  LoopOp run(LoopOp loop) {
    loop.walk([&](scf::IfOp branch) { mergeBranchAllocs(branch); });
    for (Value yielded : loop.getYield().getCarried())
      allocateAsYielded(loop, yielded);
    hoistPairs(loop);
    SmallVector<scf::IfOp> branches = collectOps<scf::IfOp>(loop);
    for (scf::IfOp branch : branches)
      freeBehind(loop, branch);
    while (reuseDying(loop))
      ++reused;
    return addSpares(loop);
  }

private:
  /// if c { %a = alloc(n); yield %a } else { %b = alloc(n); yield %b }
  ///   ->  %a = alloc(n); if c { yield %a } else { yield %a }
  void mergeBranchAllocs(scf::IfOp branch) {
    if (branch.getElseRegion().empty())
      return;
    for (auto [k, thenValue, elseValue] :
         llvm::enumerate(branch.thenYield().getOperands(),
                         branch.elseYield().getOperands())) {
      auto a = thenValue.getDefiningOp<memref::AllocOp>();
      auto b = elseValue.getDefiningOp<memref::AllocOp>();
      if (!a || !b || a.getType() != b.getType() ||
          a->getBlock() != branch.thenBlock() ||
          b->getBlock() != branch.elseBlock() ||
          !llvm::equal(a.getDynamicSizes(), b.getDynamicSizes()))
        continue;
      bool outside = llvm::all_of(a.getDynamicSizes(), [&](Value size) {
        return !branch->isAncestor(size.getParentRegion()->getParentOp());
      });
      if (!outside)
        continue;
      rewriter.moveOpBefore(a, branch);
      rewriter.replaceOp(b, a);
      rewriter.replaceAllUsesWith(branch.getResult(k), a);
    }
  }

  /// What is carried on as another shape of a buffer is allocated in that
  /// shape, which is that of the buffers that it takes turns with:
  ///
  ///   %a = alloc : 8x2; %c = collapse_shape %a : 16; ... yield carried(%c)
  ///   ->  %c = alloc : 16; %a = expand_shape %c : 8x2; ... yield carried(%c)
  void allocateAsYielded(LoopOp loop, Value yielded) {
    auto shape = withoutCasts(yielded).getDefiningOp();
    if (!isa_and_nonnull<memref::CollapseShapeOp, memref::ExpandShapeOp>(shape))
      return;
    auto alloc = shape->getOperand(0).getDefiningOp<memref::AllocOp>();
    auto type = cast<MemRefType>(shape->getResult(0).getType());
    if (!alloc || alloc->getBlock() != loop.getLoopBody() ||
        !alloc.getType().hasStaticShape() || !type.hasStaticShape() ||
        !alloc.getType().getLayout().isIdentity() ||
        !type.getLayout().isIdentity())
      return;
    rewriter.setInsertionPoint(alloc);
    Value made = memref::AllocOp::create(
        rewriter, alloc.getLoc(), type, ValueRange(), alloc.getAlignmentAttr());
    auto reshape = [&](auto op) {
      using Op = decltype(op);
      using Inverse =
          std::conditional_t<std::is_same_v<Op, memref::CollapseShapeOp>,
                             memref::ExpandShapeOp, memref::CollapseShapeOp>;
      return Inverse::create(rewriter, alloc.getLoc(), alloc.getType(), made,
                             op.getReassociationIndices())
          .getResult();
    };
    Value as = isa<memref::CollapseShapeOp>(shape)
                   ? reshape(cast<memref::CollapseShapeOp>(shape))
                   : reshape(cast<memref::ExpandShapeOp>(shape));
    rewriter.replaceOp(shape, made);
    rewriter.replaceOp(alloc, as);
  }

  /// `branch` with one more result, which is freed behind it.
  scf::IfOp yieldAndFree(scf::IfOp branch, Value thenValue, Value elseValue) {
    SmallVector<Type> types(branch.getResultTypes());
    types.push_back(thenValue.getType());
    rewriter.setInsertionPoint(branch);
    auto made = scf::IfOp::create(rewriter, branch.getLoc(), types,
                                  branch.getCondition(),
                                  /*withElseRegion=*/true);
    made->setDiscardableAttrs(branch->getDiscardableAttrDictionary());
    auto move = [&](Region &from, Region &to, Value value) {
      if (from.empty()) {
        rewriter.setInsertionPointToStart(&to.front());
        scf::YieldOp::create(rewriter, branch.getLoc(), value);
        return;
      }
      rewriter.eraseBlock(&to.front());
      rewriter.inlineRegionBefore(from, to, to.end());
      Operation *yield = to.front().getTerminator();
      rewriter.modifyOpInPlace(yield, [&] {
        yield->insertOperands(yield->getNumOperands(), value);
      });
    };
    move(branch.getThenRegion(), made.getThenRegion(), thenValue);
    move(branch.getElseRegion(), made.getElseRegion(), elseValue);
    rewriter.setInsertionPointAfter(made);
    memref::DeallocOp::create(rewriter, branch.getLoc(),
                              made.getResults().back());
    rewriter.replaceOp(branch, made.getResults().drop_back());
    return made;
  }

  /// What both branches free is freed behind them:
  ///   if c { dealloc %x } else { dealloc %y }
  ///     ->  %z = if c { yield %x } else { yield %y }; dealloc %z
  bool freeInBoth(scf::IfOp &branch) {
    for (memref::DeallocOp one : deallocsIn(branch.thenBlock()))
      for (memref::DeallocOp other : deallocsIn(branch.elseBlock())) {
        Value x = one.getMemref(), y = other.getMemref();
        if (x.getType() != y.getType())
          continue;
        rewriter.eraseOp(one);
        rewriter.eraseOp(other);
        branch = yieldAndFree(branch, x, y);
        return true;
      }
    return false;
  }

  /// A buffer that takes the place of one that dies with it in a branch is
  /// there for either:
  ///   if c { %a = alloc(n); dealloc %x; ... } else { ... }
  ///     ->  %a = alloc(n); %z = if c { yield %x } else { yield %a }
  ///         dealloc %z
  bool allocateInFront(LoopOp loop, scf::IfOp &branch, bool inThen) {
    Block *block = inThen ? branch.thenBlock() : branch.elseBlock();
    if (!block)
      return false;
    for (auto alloc : block->getOps<memref::AllocOp>()) {
      if (!definedOutside(loop, alloc->getOperands()) ||
          deallocIn(alloc, block) ||
          !llvm::all_of(alloc.getDynamicSizes(),
                        [&](Value size) { return mayBeAskedFor(size, loop); }))
        continue;
      memref::DeallocOp dealloc = findSuccessor(alloc, block);
      if (!dealloc)
        continue;
      Value dying = dealloc.getMemref();
      rewriter.moveOpBefore(alloc, branch);
      rewriter.eraseOp(dealloc);
      branch = inThen ? yieldAndFree(branch, dying, alloc)
                      : yieldAndFree(branch, alloc, dying);
      return true;
    }
    return false;
  }

  /// Buffers that branches of the loop's body allocate and free are those of
  /// the body, which take turns.
  void freeBehind(LoopOp loop, scf::IfOp branch) {
    for (Operation *op = branch; op != loop; op = op->getParentOp())
      if (!isa<scf::IfOp>(op) || op->hasAttr(kColdAttrName))
        return;
    while (allocateInFront(loop, branch, /*inThen=*/true) ||
           allocateInFront(loop, branch, /*inThen=*/false))
      ;
    while (branch.elseBlock() && freeInBoth(branch))
      ;
  }

  /// Moves what is allocated and freed within one iteration out of the loop.
  void hoistPairs(LoopOp loop) {
    SmallVector<std::pair<memref::AllocOp, memref::DeallocOp>> pairs;
    loop.walk([&](memref::AllocOp alloc) {
      if (!definedOutside(loop, alloc->getOperands()))
        return;
      if (memref::DeallocOp dealloc = deallocIn(alloc, alloc->getBlock()))
        pairs.push_back({alloc, dealloc});
    });
    if (pairs.size() > kManyBuffers)
      return;
    for (auto [alloc, dealloc] : pairs) {
      auto sizes = sizesBefore(rewriter, loop, alloc);
      if (!sizes)
        continue;
      alloc.getDynamicSizesMutable().assign(*sizes);
      rewriter.moveOpBefore(alloc, loop);
      rewriter.eraseOp(dealloc);
      rewriter.setInsertionPointAfter(loop);
      memref::DeallocOp::create(rewriter, alloc.getLoc(), alloc);
      ++hoisted;
    }
  }

  /// True if every buffer that may come to `value` is one that code has
  /// allocated and nobody shares, as those are that come out of lists. Those
  /// that come to `known` are, to which `value` and what was on the way is
  /// added.
  bool isNobodysElse(Value value, llvm::DenseSet<Value> &known) {
    llvm::SetVector<Value> buffers;
    auto add = [&](Value next) {
      next = withoutCasts(next);
      if (!known.contains(next))
        buffers.insert(next);
    };
    add(value);
    for (unsigned k = 0; k < buffers.size(); ++k) {
      Value buffer = buffers[k];
      ++work;
      if (auto select = buffer.getDefiningOp<arith::SelectOp>()) {
        add(select.getTrueValue());
        add(select.getFalseValue());
      } else if (auto branch = buffer.getDefiningOp<scf::IfOp>()) {
        unsigned result = cast<OpResult>(buffer).getResultNumber();
        for (scf::YieldOp yield : {branch.thenYield(), branch.elseYield()})
          add(yield.getOperand(result));
      } else {
        auto argument = dyn_cast<BlockArgument>(buffer);
        Operation *op = argument ? argument.getOwner()->getParentOp()
                                 : buffer.getDefiningOp();
        if (isa<LoopOp>(op) ? !carriedPort(cast<LoopOp>(op), buffer)
                            : !isa<memref::AllocOp>(op))
          return false;
      }
    }
    known.insert(buffers.begin(), buffers.end());
    return true;
  }

  /// What is known of the buffers that values may be, while nothing but what
  /// frees them changes.
  struct KnownBuffers {
    llvm::DenseSet<Value> nobodysElse;
    memref::AllocOp like;
    llvm::DenseSet<Value> sized; ///< their buffers have the sizes of `like`
  };

  /// True if a buffer that dies as `dying` can take the place of `alloc`.
  bool canFollow(Value dying, memref::AllocOp alloc, KnownBuffers &known) {
    return dying.getType() == alloc.getType() &&
           isNobodysElse(dying, known.nobodysElse) &&
           hasSizesOf(dying, alloc, known);
  }

  /// True if every buffer that may come to `value` has the sizes of `alloc`.
  bool hasSizesOf(Value value, memref::AllocOp alloc, KnownBuffers &known) {
    if (!known.like || known.like.getType() != alloc.getType() ||
        !haveSameSizes(known.like, alloc))
      known.sized.clear();
    known.like = alloc;
    llvm::DenseSet<Value> assumed;
    if (!isEverySizeOf(value, alloc, known.sized, assumed))
      return false;
    known.sized.insert(assumed.begin(), assumed.end());
    return true;
  }

  /// The end in `block` of a buffer that can take the place of `alloc` in the
  /// next iteration; null where there is none.
  memref::DeallocOp findSuccessor(memref::AllocOp alloc, Block *block) {
    KnownBuffers known;
    for (memref::DeallocOp dealloc : deallocsIn(block))
      if (canFollow(dealloc.getMemref(), alloc, known))
        return dealloc;
    return {};
  }

  /// True if every buffer that may come to `value` has the sizes of `alloc`,
  /// given that those that come to `known` and to `assumed` have: the values on
  /// the way, of which each is followed once.
  bool isEverySizeOf(Value value, memref::AllocOp alloc,
                     const llvm::DenseSet<Value> &known,
                     llvm::DenseSet<Value> &assumed) {
    if (alloc.getDynamicSizes().empty())
      return true;
    if (auto other = withoutCasts(value).getDefiningOp<memref::AllocOp>())
      return value.getType() == alloc.getType() && haveSameSizes(other, alloc);
    if (known.contains(value) || !assumed.insert(value).second)
      return true;
    ++work;
    auto areAll = [&](std::initializer_list<Value> values) {
      return llvm::all_of(values, [&](Value each) {
        return isEverySizeOf(each, alloc, known, assumed);
      });
    };
    if (auto branch = value.getDefiningOp<scf::IfOp>()) {
      unsigned k = cast<OpResult>(value).getResultNumber();
      return areAll(
          {branch.thenYield().getOperand(k), branch.elseYield().getOperand(k)});
    }
    if (auto select = value.getDefiningOp<arith::SelectOp>())
      return areAll({select.getTrueValue(), select.getFalseValue()});
    auto argument = dyn_cast<BlockArgument>(value);
    auto loop = argument ? dyn_cast<LoopOp>(argument.getOwner()->getParentOp())
                         : value.getDefiningOp<LoopOp>();
    std::optional<unsigned> port =
        loop ? carriedPort(loop, value) : std::nullopt;
    // The sizes are the same in each of its iterations.
    if (!port || !definedOutside(loop, alloc->getOperands()))
      return false;
    return areAll(
        {loop.getInits()[*port], loop.getYield().getCarried()[*port]});
  }

  /// The number of the carried value of `loop` that `value`, an argument of its
  /// body or a result, stands for.
  static std::optional<unsigned> carriedPort(LoopOp loop, Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    unsigned k = argument ? argument.getArgNumber() - 2
                          : cast<OpResult>(value).getResultNumber();
    bool isCarried =
        (!argument || argument.getArgNumber() >= 2) && k < loop.getNumCarried();
    return isCarried ? std::optional(k) : std::nullopt;
  }

  /// The body of a loop in which allocations that outlive their iteration and
  /// buffers that die in it are to take turns.
  struct Turns {
    explicit Turns(LoopOp loop)
        : loop(loop), yielded(loop.getYield().getCarried()),
          allocs(loop.getLoopBody()->getOps<memref::AllocOp>()),
          ends(deallocsIn(loop.getLoopBody())) {
      for (Value arg : loop.getCarriedArgs())
        if (memref::DeallocOp end = deallocIn(arg, loop.getLoopBody()))
          endingArgs.push_back({arg, end});
    }

    LoopOp loop;
    /// What is carried on, also by ports that are still to be added; the first
    /// ones were looked at.
    SmallVector<Value> yielded;
    SmallVector<memref::AllocOp> allocs;
    size_t numYieldedSeen = 0, numAllocsSeen = 0;
    SmallVector<memref::DeallocOp> ends;
    SmallVector<std::pair<Value, memref::DeallocOp>> endingArgs;
    KnownBuffers known;
    llvm::DenseSet<Value> taken; ///< allocations that have their turn
    SmallVector<Value> spares, dying;
  };

  /// An allocation, and the buffer that it takes turns with, with its end.
  struct Turn {
    memref::AllocOp alloc;
    Value dying;
    memref::DeallocOp end;
  };

  static bool lives(memref::AllocOp alloc, const Turns &turns) {
    LoopOp loop = turns.loop;
    return alloc && alloc->getBlock() == loop.getLoopBody() &&
           !turns.taken.contains(alloc) &&
           definedOutside(loop, alloc->getOperands());
  }

  /// The next pair that is found; null where there is none. Where an argument's
  /// next value is allocated it is the argument's buffer that dies.
  Turn findTurn(Turns &turns) {
    for (; turns.numYieldedSeen < turns.yielded.size();
         ++turns.numYieldedSeen) {
      Value yielded = turns.yielded[turns.numYieldedSeen];
      auto alloc = withoutCasts(yielded).getDefiningOp<memref::AllocOp>();
      if (lives(alloc, turns))
        for (auto [arg, end] : turns.endingArgs)
          if (arg.getType() == alloc.getType() &&
              hasSizesOf(arg, alloc, turns.known))
            return {alloc, arg, end};
    }
    for (; turns.numAllocsSeen < turns.allocs.size(); ++turns.numAllocsSeen) {
      memref::AllocOp alloc = turns.allocs[turns.numAllocsSeen];
      if (lives(alloc, turns) && !deallocIn(alloc, turns.loop.getLoopBody()))
        for (memref::DeallocOp end : turns.ends)
          if (canFollow(end.getMemref(), alloc, turns.known))
            return {alloc, end.getMemref(), end};
    }
    return {};
  }

  /// Lets the allocation and the buffer that ends take turns: false where there
  /// is no telling in front of the loop how much memory that is.
  bool takeTurns(Turns &turns, Turn turn) {
    auto [alloc, dying, end] = turn;
    auto sizes = sizesBefore(rewriter, turns.loop, alloc);
    if (!sizes)
      return false;
    rewriter.setInsertionPoint(turns.loop);
    turns.spares.push_back(memref::AllocOp::create(rewriter, alloc.getLoc(),
                                                   alloc.getType(), *sizes));
    turns.dying.push_back(dying);
    turns.yielded.push_back(dying);
    turns.taken.insert(alloc);
    llvm::erase(turns.ends, end);
    llvm::erase(turns.endingArgs, std::pair(dying, end));
    rewriter.eraseOp(end);
    // It outlives its iteration now.
    if (withoutCasts(dying).getDefiningOp<memref::AllocOp>())
      turns.numAllocsSeen = 0;
    ++spares;
    return true;
  }

  /// Lets allocations that outlive their iteration and buffers that die in it
  /// take turns: the loop carries one more buffer for each of them. Returns the
  /// loop that took its place.
  LoopOp addSpares(LoopOp loop) {
    Turns turns(loop);
    SmallVector<memref::AllocOp> replaced;
    for (Turn turn; (turn = findTurn(turns)).alloc;) {
      if (!takeTurns(turns, turn))
        break;
      replaced.push_back(turn.alloc);
    }
    if (replaced.empty())
      return loop;
    unsigned port = loop.getNumCarried();
    auto made = loop.replaceWithAdditionalYields(
        rewriter, turns.spares, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &, Location, ArrayRef<BlockArgument>) {
          return turns.dying;
        });
    auto result = cast<LoopOp>(made->getOperation());
    for (auto [k, alloc] : llvm::enumerate(replaced)) {
      rewriter.replaceOp(alloc, result.getCarriedArgs()[port + k]);
      rewriter.setInsertionPointAfter(result);
      memref::DeallocOp::create(rewriter, result.getLoc(),
                                result.getResult(port + k));
    }
    return result;
  }

  /// Lets an operation that computes, element by element, the buffer that is
  /// carried on write it over an argument that dies with it:
  ///
  ///   %t = alloc; generic ins(%x, ...) outs(%t); dealloc %x; yield carried(%t)
  ///   ->  generic ins(%x, ...) outs(%x); yield carried(%x)
  bool reuseDying(LoopOp loop) {
    for (Value yielded : loop.getYield().getCarried()) {
      auto alloc = withoutCasts(yielded).getDefiningOp<memref::AllocOp>();
      if (!alloc || alloc->getBlock() != loop.getLoopBody() ||
          !definedOutside(loop, alloc->getOperands()))
        continue;
      for (Value arg : loop.getCarriedArgs()) {
        memref::DeallocOp dealloc = deallocIn(arg, loop.getLoopBody());
        KnownBuffers known;
        if (!dealloc || arg.getType() != alloc.getType() ||
            !hasSizesOf(arg, alloc, known) || !canReplace(alloc, arg, dealloc))
          continue;
        rewriter.eraseOp(dealloc);
        rewriter.replaceOp(alloc, arg);
        return true;
      }
    }
    return false;
  }

  IRRewriter rewriter;
};

struct BufferAssignStorage
    : loopc::impl::BufferAssignStorageBase<BufferAssignStorage> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    uniteNamedDims(getOperation(), rewriter);
    StorageAssignment assignment(&getContext());
    for (LoopOp loop : collectOps<LoopOp>(getOperation())) {
      Location loc = loop.getLoc();
      bool isColdVersion = loop->hasAttr(kColdAttrName) || isCold(loop);
      LoopOp made = assignment.run(loop);
      unsigned left = 0, inEach = 0;
      made.walk([&](memref::AllocOp alloc) {
        ++left;
        inEach += isInEachIteration(alloc, made);
      });
      made->removeAttr(kFixedStorageAttrName);
      if (left == 0)
        made->setAttr(kFixedStorageAttrName, UnitAttr::get(&getContext()));
      else if (inEach != 0)
        remarkMissed(
            loc, "AssignStorage",
            Twine(inEach) + " buffers are allocated in each iteration" +
                (isColdVersion ? " of the version for extents that do not agree"
                               : "") +
                ": their size changes");
    }
    SmallVector<linalg::GenericOp> ops;
    if (straight)
      getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    BufferSpans spans;
    for (linalg::GenericOp op : ops)
      assignment.reused += writeOverInput(op, rewriter, spans);
    if (reportWork)
      getOperation().emitRemark() << spans.work << " uses followed and "
                                  << assignment.work << " buffers followed";
    numHoisted += assignment.hoisted;
    numSpares += assignment.spares;
    numReused += assignment.reused;
  }
};
} // namespace
