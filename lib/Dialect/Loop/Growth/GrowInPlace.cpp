//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-grow-in-place: carried values that grow by concatenation become views
// into carried buffers with room.
//
// Every value that lives in the buffer (the carried one, and what each
// concatenation makes of it) is a range of it. The buffer goes through
// versions: the one that is carried, the one with enough room, the one with the
// new elements. What reads a value reads it from the last version before the
// reader: reading from an earlier one would keep that alive behind the write,
// and so be a copy of everything.
//
// A loop in the loop that goes on with the value carries the buffer, too: what
// it adds is one more step between the argument and what is yielded. So is a
// slice that leaves some of the value out, at its begin (a queue, a window) or
// end (a stack); what is written later may take the place of what was left out.

#include "Growth.h"
#include "UpdateInPlace.h"
#include "loopc/Dialect/Loop/Growth/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPGROWINPLACE
#include "loopc/Dialect/Loop/Growth/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {
/// The order of the operations of a block while code is put between them: a
/// block numbers all of its operations anew where that finds no free number.
/// What is new is compared by the block.
class BodyOrder {
public:
  explicit BodyOrder(Block *block) {
    for (Operation &op : *block)
      places[&op] = {static_cast<unsigned>(places.size()), kOwn};
  }

  bool isBefore(Operation *a, Operation *b) const {
    auto x = places.find(a), y = places.find(b);
    return x == places.end() || y == places.end() ? a->isBeforeInBlock(b)
                                                  : x->second < y->second;
  }

  /// `op` has been moved in front of `end`.
  void move(Operation *op, Operation *end) {
    places.erase(op);
    auto at = places.find(end);
    if (at == places.end() || at->second.second != kOwn)
      return;
    unsigned number = at->second.first;
    places[op] = {number, moved[number]++};
  }

  /// `made` has taken the place of `old`, which is gone.
  void replace(Operation *old, Operation *made) {
    auto at = places.find(old);
    if (at == places.end())
      return;
    std::pair<unsigned, unsigned> place = at->second;
    places.erase(at);
    places[made] = place;
  }

private:
  static constexpr unsigned kOwn = ~0u;
  /// The number of an operation; behind it, what was moved in front of that one
  /// is counted.
  llvm::DenseMap<Operation *, std::pair<unsigned, unsigned>> places;
  llvm::DenseMap<unsigned, unsigned> moved;
};

/// A value as a range of the current version of the buffer. What is written
/// next may take the place of some of it where it is `stale`.
struct Range {
  Value offset, length;
  /// Its uses in the body as it was.
  SmallVector<OpOperand *> uses;
  bool stale = false;
};

class GrowthRewriter {
public:
  GrowthRewriter(IRRewriter &rewriter, LoopOp loop, Growth growth)
      : rewriter(rewriter), b(loop.getLoc(), rewriter), loop(loop),
        growth(std::move(growth)), axis(*this->growth.axis) {}

  /// True where the buffer has the final size from the beginning.
  bool isExact() const { return exact; }
  /// The loop that took the place of the given one.
  LoopOp getLoop() const { return loop; }

  void run() {
    b.setInsertionPoint(loop);
    Value init = loop.getInits()[growth.port];
    dims = resolveDims(b, loop.getLoc(), init);
    type = cast<RankedTensorType>(init.getType());
    zero = arith::ConstantIndexOp::create(b, 0);
    hasOffset = growth.movesBegin();
    isLate = growth.hasCuts();
    planSizes();
    trips = sizesKnown && growth.isStraight() ? knownTrips(b, loop)
                                              : OpFoldResult();
    exact = static_cast<bool>(trips);
    Value length = asValue(dims[axis]);
    auto [from, offset] = makeBuffer(init, length);
    makeLoop(from, offset, length);
    rewriteBody();
    replaceResult();
  }

private:
  /// The same for a loop in the loop of `outer`, whose buffer it goes on with.
  void runWithin(GrowthRewriter &outer) {
    b.setInsertionPoint(loop);
    dims = outer.dims;
    type = cast<RankedTensorType>(loop.getInits()[growth.port].getType());
    zero = outer.zero;
    hasOffset = outer.hasOffset;
    isLate = outer.isLate;
    planSizes();
    const Range &current = outer.ranges[outer.live - 1];
    makeLoop(b.createOrFold<tensor::CastOp>(type, outer.buffer), current.offset,
             current.length);
    ranges = outer.takeUsesIn(loop);
    rewriteBody();
  }

  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(x, y); }
  Value sub(Value x, Value y) { return b.createOrFold<arith::SubIOp>(x, y); }
  Value asValue(OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(b, b.getLoc(), value);
  }

  /// The extents of parts [first, last) of `c`, added up.
  Value sizeOfParts(const Concatenation &c, unsigned first, unsigned last) {
    Value size = asValue(b.getIndexAttr(0));
    for (unsigned k = first; k < last; ++k)
      size = add(size, asValue(sizeOf(c.parts[k], axis)));
    return size;
  }

  void planSizes() {
    sizesKnown = true;
    for (const Step &step : growth.steps) {
      const Concatenation &c = step.concatenation;
      for (auto [k, part] : llvm::enumerate(c.parts)) {
        OpFoldResult size = sizeOf(part, axis);
        auto value = dyn_cast<Value>(size);
        if (k != c.own && value && !loop.isDefinedOutsideOfLoop(value))
          sizesKnown = false;
      }
    }
  }

  /// As many iterations as there are; of more than any memory has room for
  /// (`step` elements each), so many that the buffer is refused: a larger
  /// product would wrap to a small one.
  Value limitCount(Value step) {
    constexpr int64_t kMaxExtent = int64_t(1) << 62;
    Value count = asValue(trips);
    Value one = asValue(b.getIndexAttr(1)),
          most = asValue(b.getIndexAttr(kMaxExtent));
    step = b.createOrFold<arith::MaxUIOp>(step, one);
    most = b.createOrFold<arith::DivUIOp>(most, step);
    return b.createOrFold<arith::MinUIOp>(count, most);
  }

  /// The buffer that the loop begins with, and where the init is in it.
  std::pair<Value, Value> makeBuffer(Value init, Value length) {
    if (!exact)
      return {init, zero};
    Value front = zero, back = zero;
    for (const Step &step : growth.steps) {
      const Concatenation &c = step.concatenation;
      front = add(front, sizeOfParts(c, 0, c.own));
      back = add(back, sizeOfParts(c, c.own + 1, c.parts.size()));
    }
    Value count = limitCount(add(front, back));
    front = b.createOrFold<arith::MulIOp>(front, count);
    back = b.createOrFold<arith::MulIOp>(back, count);
    SmallVector<OpFoldResult> extents(dims);
    extents[axis] = add(add(front, length), back);
    Value buffer = tensor::EmptyOp::create(b, extents, type.getElementType());
    SmallVector<OpFoldResult> offsets(dims.size(), b.getIndexAttr(0));
    offsets[axis] = getAsOpFoldResult(front);
    buffer = insertSlice(b, b.getLoc(), init, buffer, offsets, dims);
    return {b.createOrFold<tensor::CastOp>(type, buffer), front};
  }

  /// Lets the loop carry a buffer that begins as `init`, and the range of the
  /// value in it.
  void makeLoop(Value init, Value offset, Value length) {
    unsigned carried = loop.getNumCarried();
    SmallVector<Value> more{length};
    if (hasOffset)
      more.push_back(offset);
    auto made = loop.replaceWithAdditionalYields(
        rewriter, more, /*replaceInitOperandUsesInLoop=*/false,
        [](OpBuilder &, Location, ArrayRef<BlockArgument> args) {
          return SmallVector<Value>(args.begin(), args.end());
        });
    loop = cast<LoopOp>(made->getOperation());
    loop.getInitsMutable()[growth.port].assign(init);
    lengthPort = carried;
    offsetPort = carried + 1;
  }

  //===--------------------------------------------------------------------===//
  // The body
  //===--------------------------------------------------------------------===//

  void rewriteBody() {
    Block *body = loop.getLoopBody();
    order.emplace(body);
    buffer = loop.getCarriedArgs()[growth.port];
    Value offset = hasOffset ? Value(loop.getCarriedArgs()[offsetPort]) : zero;
    addRange(buffer, offset, loop.getCarriedArgs()[lengthPort]);
    live = ranges.size();
    for (const Step &step : growth.steps)
      addRange(step.result(), Value(), Value());
    b.setInsertionPointToStart(body);
    stayHere();
    for (auto [k, step] : llvm::enumerate(growth.steps))
      if (step.loop)
        enter(step);
      else if (step.cut)
        cut(step.cut);
      else
        append(step.concatenation, /*early=*/k == 0 && sizesKnown);
    flush(/*end=*/nullptr);
    YieldOp yield = loop.getYield();
    yield.getCarriedMutable()[growth.port].assign(buffer);
    yield.getCarriedMutable()[lengthPort].assign(ranges.back().length);
    if (hasOffset)
      yield.getCarriedMutable()[offsetPort].assign(ranges.back().offset);
    eraseConcatenations();
  }

  /// Keeps the insertion point where it is, whatever is moved or replaced.
  void stayHere() {
    auto mark = arith::ConstantIndexOp::create(b, 0);
    b.setInsertionPoint(mark);
    dead.push_back(mark);
  }

  void addRange(Value value, Value offset, Value length) {
    Range range{offset, length, {}};
    for (OpOperand &use : value.getUses())
      range.uses.push_back(&use);
    ranges.push_back(std::move(range));
  }

  /// Makes what reads one of the values before `end` (null: anywhere), and was
  /// not settled yet, read the current version of the buffer; views stand at
  /// the insertion point, which is right behind the version's definition.
  void flush(Operation *end) {
    Block *body = loop.getLoopBody();
    for (Range &range : MutableArrayRef(ranges).take_front(live))
      settle(range, [&](OpOperand *use) {
        return !end || order->isBefore(
                           body->findAncestorOpInBlock(*use->getOwner()), end);
      });
  }

  /// The same for what is written over from `end` on, wherever it is read: in
  /// front of that, if possible.
  void flushStale(Operation *end) {
    for (Range &range : MutableArrayRef(ranges).take_front(live))
      if (range.stale) {
        for (OpOperand *use : range.uses)
          moveInFront(
              loop.getLoopBody()->findAncestorOpInBlock(*use->getOwner()), end);
        settle(range, [](OpOperand *) { return true; });
      }
  }

  /// Moves `op`, and what it needs, in front of `end` if it stands behind it
  /// and depends on nothing from there, nor on checks in between.
  void moveInFront(Operation *op, Operation *end) {
    BackwardSliceOptions options;
    options.omitBlockArguments = true;
    options.omitUsesFromAbove = false;
    options.filter = [&](Operation *each) {
      return each->getBlock() == end->getBlock() && !order->isBefore(each, end);
    };
    SetVector<Operation *> needs;
    if (!options.filter(op) || failed(getBackwardSlice(op, &needs, options)))
      return;
    needs.insert(op);
    auto passesCheck = [&](Operation *each) {
      for (Operation *behind = end; behind != each;
           behind = behind->getNextNode())
        if (behind->walk([](CheckOp) { return WalkResult::interrupt(); })
                .wasInterrupted())
          return true;
      return false;
    };
    auto mayMove = [&](Operation *each) {
      return each != end && isSafeToSpeculate(each) &&
             !isa<tensor::InsertSliceOp>(each) &&
             (!passesCheck(each) || needsNoCheck(each));
    };
    if (llvm::all_of(needs, mayMove))
      for (Operation *each : needs)
        moveBefore(each, end);
  }

  void moveBefore(Operation *op, Operation *end) {
    rewriter.moveOpBefore(op, end);
    order->move(op, end);
  }

  void settle(Range &range, llvm::function_ref<bool(OpOperand *)> isDue) {
    Value view;
    SmallVector<tensor::ExtractSliceOp> parts;
    llvm::erase_if(range.uses, [&](OpOperand *use) {
      if (!isDue(use))
        return false;
      auto part = dyn_cast<tensor::ExtractSliceOp>(use->getOwner());
      if (part && part.hasUnitStride()) {
        parts.push_back(part);
        return true;
      }
      if (!view)
        view = makeView(range);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(use->getOwner());
      use->set(b.createOrFold<tensor::CastOp>(use->get().getType(), view));
      return true;
    });
    for (tensor::ExtractSliceOp part : parts)
      takeFromBuffer(part, range);
  }

  /// Takes what is a part of a value from the buffer: if that has to be copied,
  /// the part alone is.
  void takeFromBuffer(tensor::ExtractSliceOp part, const Range &range) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(part);
    SmallVector<OpFoldResult> offsets = part.getMixedOffsets();
    offsets[axis] =
        getAsOpFoldResult(add(asValue(offsets[axis]), range.offset));
    auto made = tensor::ExtractSliceOp::create(b, part.getType(), buffer,
                                               offsets, part.getMixedSizes(),
                                               part.getMixedStrides());
    // Its place in the block may be an insertion point that others have saved.
    rewriter.replaceAllUsesWith(part, made);
    dead.push_back(part);
  }

  Value makeView(const Range &range) {
    SmallVector<OpFoldResult> offsets(dims.size(), b.getIndexAttr(0)),
        sizes(dims);
    offsets[axis] = getAsOpFoldResult(range.offset);
    sizes[axis] = range.length;
    return extractSlice(b, b.getLoc(), buffer, offsets, sizes);
  }

  /// Writes what concatenation `c` adds into the buffer. `early` makes the room
  /// at the begin of the body: then nothing reads the buffer before.
  void append(const Concatenation &c, bool early) {
    if (isLate)
      delay(c);
    Operation *at = c.last();
    if (!exact && !early) {
      flushStale(c.parts.front());
      flush(at);
    }
    // In the final buffer sizes may be computed late: no room is made.
    OpBuilder::InsertPoint version = b.saveInsertionPoint();
    if (!early)
      b.setInsertionPoint(at);
    Value front = sizeOfParts(c, 0, c.own);
    Value back = sizeOfParts(c, c.own + 1, c.parts.size());
    if (exact)
      b.restoreInsertionPoint(version);
    else
      reserve(front, back);
    // Parts may be made of it, too; the last one is `at`.
    flush(at->getNextNode());
    b.setInsertionPoint(at);
    Range &before = ranges[live - 1], &after = ranges[live];
    after.offset = sub(before.offset, front);
    after.length = add(add(before.length, front), back);
    Value place = after.offset;
    for (auto [k, part] : llvm::enumerate(c.parts)) {
      if (k == c.own) {
        place = add(before.offset, before.length);
        continue;
      }
      insert(part, place);
      place = add(place, asValue(sizeOf(part, axis)));
    }
    ++live;
  }

  /// Moves `c` to where somebody needs it: what reads what it writes over comes
  /// in front of it.
  void delay(const Concatenation &c) {
    Operation *first = loop.getYield();
    for (Operation *user : c.last()->getUsers()) {
      Operation *here = loop.getLoopBody()->findAncestorOpInBlock(*user);
      if (order->isBefore(here, first))
        first = here;
    }
    for (tensor::InsertSliceOp part : c.parts)
      moveBefore(part, first);
  }

  /// Goes on with the part of the value that `op` takes.
  void cut(tensor::ExtractSliceOp op) {
    MutableArrayRef<Range> before = MutableArrayRef(ranges).take_front(live);
    llvm::erase(before.back().uses, &op.getSourceMutable());
    flush(op);
    b.setInsertionPointAfter(op);
    stayHere();
    for (Range &range : before)
      range.stale = true;
    Range &after = ranges[live++];
    after.offset =
        add(before.back().offset, asValue(op.getMixedOffsets()[axis]));
    after.length = asValue(op.getMixedSizes()[axis]);
  }

  /// Lets the loop of `step` go on with the buffer.
  void enter(const Step &step) {
    LoopOp inner = step.loop;
    flushStale(inner);
    flush(inner);
    MutableArrayRef<Range> before = MutableArrayRef(ranges).take_front(live);
    OpOperand *init = &inner.getInitsMutable()[step.growth->port];
    // The loop is made anew: its operands are settled. Nobody knows behind it
    // where older values are, or what is left of them.
    bool isLost = hasOffset || step.growth->hasCuts();
    for (Range &range : before) {
      llvm::erase(range.uses, init);
      settle(range, [&](OpOperand *use) {
        return isLost || use->getOwner() == inner;
      });
    }
    GrowthRewriter within(rewriter, inner, *step.growth);
    within.runWithin(*this);
    order->replace(inner, within.getLoop());
    inner = within.getLoop();
    b.setInsertionPointAfter(inner);
    stayHere();
    buffer = b.createOrFold<tensor::CastOp>(type,
                                            inner.getResult(step.growth->port));
    Range &after = ranges[live++];
    after.offset = hasOffset ? inner.getResult(within.offsetPort) : zero;
    after.length = inner.getResult(within.lengthPort);
  }

  /// The values that are there, with those of their uses that are in `inner`,
  /// which has taken them over.
  SmallVector<Range> takeUsesIn(LoopOp inner) {
    SmallVector<Range> taken;
    for (Range &range : MutableArrayRef(ranges).take_front(live)) {
      taken.push_back({range.offset, range.length, {}});
      llvm::erase_if(range.uses, [&](OpOperand *use) {
        if (!inner->isProperAncestor(use->getOwner()))
          return false;
        taken.back().uses.push_back(use);
        return true;
      });
    }
    return taken;
  }

  void reserve(Value front, Value back) {
    Range &current = ranges[live - 1];
    Value old = current.offset;
    auto op = ReserveOp::create(b, type, b.getIndexType(), buffer, old,
                                current.length, front, back,
                                b.getI64IntegerAttr(axis));
    buffer = op.getResult();
    if (!hasOffset)
      return;
    Value moved = sub(op.getResultOffset(), old);
    for (Range &range : MutableArrayRef(ranges).take_front(live))
      range.offset = add(range.offset, moved);
  }

  void insert(tensor::InsertSliceOp part, Value place) {
    SmallVector<OpFoldResult> offsets(part.getMixedOffsets());
    offsets[axis] = getAsOpFoldResult(place);
    buffer = tensor::InsertSliceOp::create(b, part.getSource(), buffer, offsets,
                                           part.getMixedSizes(),
                                           part.getMixedStrides());
  }

  void eraseConcatenations() {
    for (Operation *op : dead)
      rewriter.eraseOp(op);
    for (const Step &step : llvm::reverse(growth.steps)) {
      for (tensor::InsertSliceOp part : llvm::reverse(step.concatenation.parts))
        rewriter.eraseOp(part);
      if (step.cut)
        rewriter.eraseOp(step.cut);
    }
  }

  void replaceResult() {
    if (exact)
      return;
    b.setInsertionPointAfter(loop);
    Value result = loop.getResult(growth.port);
    SmallVector<OpFoldResult> offsets(dims.size(), b.getIndexAttr(0)),
        sizes(dims);
    if (hasOffset)
      offsets[axis] = loop.getResult(offsetPort);
    sizes[axis] = loop.getResult(lengthPort);
    Value view = extractSlice(b, b.getLoc(), result, offsets, sizes);
    Operation *reader = view.getDefiningOp();
    view = b.createOrFold<tensor::CastOp>(type, view);
    rewriter.replaceAllUsesExcept(result, view, reader);
  }

  IRRewriter &rewriter;
  ImplicitLocOpBuilder b;
  LoopOp loop;
  Growth growth;
  int64_t axis;
  RankedTensorType type;
  SmallVector<OpFoldResult> dims; ///< of the init
  OpFoldResult trips;
  Value zero;
  bool hasOffset = false, isLate = false, sizesKnown = false, exact = false;
  unsigned lengthPort = 0, offsetPort = 0;
  /// The current version of the buffer, and the values in it: the first `live`
  /// of them are there already.
  Value buffer;
  std::optional<BodyOrder> order;
  SmallVector<Range> ranges;
  unsigned live = 0;
  /// What nothing uses any more.
  SmallVector<Operation *> dead;
};
} // namespace

/// True where a dimension of carried value `port` may change.
static bool changesShape(LoopOp loop, unsigned port) {
  Value arg = loop.getCarriedArgs()[port];
  auto type = dyn_cast<RankedTensorType>(arg.getType());
  if (!type || type.hasStaticShape())
    return false;
  OpBuilder b(loop);
  Value init = loop.getInits()[port];
  b.setInsertionPoint(loop.getYield());
  Value next = loop.getYield().getCarried()[port];
  for (int64_t k = 0; k < type.getRank(); ++k) {
    if (!type.isDynamicDim(k))
      continue;
    OpFoldResult extent = resolveDim(b, loop.getLoc(), next, k);
    if (!isEqualConstantIntOrValue(extent,
                                   resolveDim(b, loop.getLoc(), init, k)) &&
        !isEqualConstantIntOrValue(extent,
                                   resolveDim(b, loop.getLoc(), arg, k)))
      return true;
  }
  return false;
}

namespace {
struct LoopGrowInPlace : loopc::impl::LoopGrowInPlaceBase<LoopGrowInPlace> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    growIn(rewriter, getOperation().getBody());
  }

private:
  /// Outer loops first: what grows in loops within them grows in one buffer.
  void growIn(IRRewriter &rewriter, Region &region) {
    region.walk<WalkOrder::PreOrder>([&](LoopOp loop) {
      for (unsigned port = 0, e = loop.getNumCarried(); port < e; ++port)
        loop = growPort(rewriter, loop, port);
      growIn(rewriter, loop.getBody());
      return WalkResult::skip();
    });
  }

  /// True where the value has a buffer with room already.
  static bool hasRoom(LoopOp loop, unsigned port) {
    Value next = withoutCasts(loop.getYield().getCarried()[port]);
    while (auto insert = next.getDefiningOp<tensor::InsertSliceOp>())
      next = insert.getDest();
    if (auto inner = next.getDefiningOp<LoopOp>()) {
      unsigned k = cast<OpResult>(next).getResultNumber();
      return k < inner.getNumCarried() && hasRoom(inner, k);
    }
    return next.getDefiningOp<ReserveOp>() != nullptr;
  }

  LoopOp growPort(IRRewriter &rewriter, LoopOp loop, unsigned port) {
    if (hasRoom(loop, port))
      return loop;
    if (updateInPlace(rewriter, loop, port)) {
      remarkDone(loop.getLoc(), "GrowInPlace",
                 "a part of carried value #" + Twine(port) +
                     " is replaced in its place");
      return loop;
    }
    std::optional<Growth> growth = findGrowth(rewriter, loop, port);
    if (!growth) {
      if (changesShape(loop, port))
        remarkMissed(loop.getLoc(), "GrowInPlace",
                     "carried value #" + Twine(port) +
                         " changes its shape, not by a concatenation along one "
                         "axis: each iteration makes a new one");
      return loop;
    }
    GrowthRewriter growing(rewriter, loop, *growth);
    growing.run();
    loop = growing.getLoop();
    ++numGrowing;
    numExact += growing.isExact();
    remarkDone(loop.getLoc(), "GrowInPlace",
               "carried value #" + Twine(port) +
                   (growth->hasCuts() ? " grows and shrinks" : " grows") +
                   " along axis " + Twine(*growth->axis) +
                   (growing.isExact()
                        ? " in a buffer of the final size"
                        : " in a buffer that is doubled when it is full"));
    return loop;
  }
};
} // namespace
