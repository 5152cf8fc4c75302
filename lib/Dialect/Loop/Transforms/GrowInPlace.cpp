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

#include "BranchAppends.h"
#include "Concatenation.h"
#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPGROWINPLACE
#include "loopc/Dialect/Loop/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

//===----------------------------------------------------------------------===//
// Finding values that grow
//===----------------------------------------------------------------------===//

namespace {
/// A carried value that grows: by one concatenation of another, innermost
/// first.
struct Growth {
  unsigned port = 0;
  std::optional<int64_t> axis;
  SmallVector<Concatenation> concatenations;
  /// Branches that concatenate; the first one is nearest to the argument. The
  /// growth is found behind them, once these are concatenations themselves.
  SmallVector<BranchAppend> branches;
};

class GrowthMatcher {
public:
  GrowthMatcher(LoopOp loop, unsigned port)
      : loop(loop), port(port), arg(loop.getCarriedArgs()[port]) {}

  std::optional<Growth> match() {
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    if (!type || type.hasStaticShape())
      return std::nullopt;
    Growth growth;
    growth.port = port;
    if (!matchValue(loop.getYield().getCarried()[port], growth) ||
        (growth.concatenations.empty() && growth.branches.empty()) ||
        !type.isDynamicDim(*growth.axis))
      return std::nullopt;
    return growth;
  }

  /// The same, once branches that concatenate are concatenations.
  std::optional<Growth> match(IRRewriter &rewriter) {
    std::optional<Growth> growth = match();
    while (growth && !growth->branches.empty()) {
      growth->branches.front().rewrite(rewriter,
                                       [&](OpFoldResult extent, int64_t axis) {
                                         return isCarriedExtent(extent, axis);
                                       });
      growth = match();
    }
    return growth;
  }

private:
  /// True where `value` is the argument, or concatenations with it.
  bool matchValue(Value value, Growth &growth) {
    value = withoutCasts(value);
    if (value == arg)
      return true;
    if (others.contains(value))
      return false;
    auto branch = value.getDefiningOp<scf::IfOp>();
    bool isBranch = branch && branch->getBlock() == loop.getLoopBody();
    if (isBranch ? matchBranches(cast<OpResult>(value), growth)
                 : matchConcatenation(value, growth))
      return true;
    others.insert(value);
    return false;
  }

  bool matchConcatenation(Value value, Growth &growth) {
    Concatenation found;
    found.parts = insertionsOf(value, loop.getLoopBody());
    if (found.parts.size() < 2 || !found.matchAxis(growth.axis) ||
        !isOfCarried(found, *growth.axis))
      return false;
    std::optional<unsigned> own;
    for (auto [k, part] : llvm::enumerate(found.parts)) {
      Growth trial = growth;
      if (!matchValue(part.getSource(), trial))
        continue;
      // Twice itself: it does not stay where it is.
      if (own)
        return false;
      own = k;
      growth = trial;
    }
    if (!own)
      return false;
    found.own = *own;
    growth.concatenations.push_back(found);
    return true;
  }

  /// True where `result` of a branch is such a value with something added.
  bool matchBranches(OpResult result, Growth &growth) {
    auto isExtent = [&](OpFoldResult extent, int64_t axis) {
      return isCarriedExtent(extent, axis);
    };
    for (Value base : BranchAppend::findBases(result)) {
      Growth trial = growth;
      BranchAppend append(result, base);
      if (!append.match(trial.axis, isExtent) || !matchValue(base, trial))
        continue;
      growth = std::move(trial);
      growth.branches.push_back(append);
      return true;
    }
    return false;
  }

  /// True if `found` has no gaps; other extents are those of the carried value.
  bool isOfCarried(const Concatenation &found, int64_t axis) {
    auto areCarried = [&](ArrayRef<OpFoldResult> extents) {
      for (auto [k, extent] : llvm::enumerate(extents))
        if (static_cast<int64_t>(k) != axis && !isCarriedExtent(extent, k))
          return false;
      return true;
    };
    return found.isGapless(axis) && areCarried(found.extents()) &&
           llvm::all_of(found.parts, [&](tensor::InsertSliceOp part) {
             return areCarried(part.getMixedSizes());
           });
  }

  bool isCarriedExtent(OpFoldResult extent, int64_t axis) {
    auto type = cast<RankedTensorType>(arg.getType());
    if (!type.isDynamicDim(axis))
      return isConstantIntValue(extent, type.getDimSize(axis));
    OpBuilder b(loop);
    if (isEqualConstantIntOrValue(
            extent, resolveDim(b, loop.getLoc(), loop.getInits()[port], axis)))
      return true;
    auto value = dyn_cast<Value>(extent);
    auto dim = value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
    return dim && dim.getConstantIndex() == axis &&
           withoutCasts(dim.getSource()) == arg;
  }

  LoopOp loop;
  unsigned port;
  Value arg;
  /// Values that were looked at, and are something else.
  llvm::DenseSet<Value> others;
};

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// A value as a range of the current version of the buffer.
struct Range {
  Value offset, length;
  /// Its uses in the body as it was.
  SmallVector<OpOperand *> uses;
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
    dims = resolveDims(b, loop.getLoc(), loop.getInits()[growth.port]);
    type = cast<RankedTensorType>(loop.getInits()[growth.port].getType());
    zero = arith::ConstantIndexOp::create(b, 0);
    planSizes();
    makeLoop();
    rewriteBody();
    replaceResult();
  }

private:
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
    for (const Concatenation &c : growth.concatenations) {
      growsInFront |= c.own > 0;
      for (auto [k, part] : llvm::enumerate(c.parts)) {
        OpFoldResult size = sizeOf(part, axis);
        auto value = dyn_cast<Value>(size);
        if (k != c.own && value && !loop.isDefinedOutsideOfLoop(value))
          sizesKnown = false;
      }
    }
    trips = sizesKnown ? knownTrips(b, loop) : OpFoldResult();
    exact = static_cast<bool>(trips);
  }

  /// The buffer that the loop begins with, and where the init is in it.
  std::pair<Value, Value> makeBuffer(Value init, Value length) {
    if (!exact)
      return {init, zero};
    Value front = zero, back = zero;
    for (const Concatenation &c : growth.concatenations) {
      front = add(front, sizeOfParts(c, 0, c.own));
      back = add(back, sizeOfParts(c, c.own + 1, c.parts.size()));
    }
    Value count = asValue(trips);
    front = b.createOrFold<arith::MulIOp>(front, count);
    back = b.createOrFold<arith::MulIOp>(back, count);
    SmallVector<OpFoldResult> extents(dims);
    extents[axis] = add(add(front, length), back);
    Value buffer = tensor::EmptyOp::create(b, extents, type.getElementType());
    SmallVector<OpFoldResult> offsets(dims.size(), b.getIndexAttr(0)),
        ones(dims.size(), b.getIndexAttr(1));
    offsets[axis] = getAsOpFoldResult(front);
    // Extents may be known that the loop's type leaves open.
    SmallVector<int64_t> shape;
    for (OpFoldResult dim : dims)
      shape.push_back(getConstantIntValue(dim).value_or(ShapedType::kDynamic));
    init = b.createOrFold<tensor::CastOp>(type.clone(shape), init);
    buffer =
        tensor::InsertSliceOp::create(b, init, buffer, offsets, dims, ones);
    return {b.createOrFold<tensor::CastOp>(type, buffer), front};
  }

  void makeLoop() {
    unsigned port = growth.port, carried = loop.getNumCarried();
    Value length = asValue(dims[axis]);
    auto [buffer, offset] = makeBuffer(loop.getInits()[port], length);
    SmallVector<Value> more{length};
    if (growsInFront)
      more.push_back(offset);
    auto made = loop.replaceWithAdditionalYields(
        rewriter, more, /*replaceInitOperandUsesInLoop=*/false,
        [](OpBuilder &, Location, ArrayRef<BlockArgument> args) {
          return SmallVector<Value>(args.begin(), args.end());
        });
    loop = cast<LoopOp>(made->getOperation());
    loop.getInitsMutable()[port].assign(buffer);
    lengthPort = carried;
    offsetPort = carried + 1;
  }

  //===--------------------------------------------------------------------===//
  // The body
  //===--------------------------------------------------------------------===//

  void rewriteBody() {
    Block *body = loop.getLoopBody();
    buffer = loop.getCarriedArgs()[growth.port];
    Value offset =
        growsInFront ? Value(loop.getCarriedArgs()[offsetPort]) : zero;
    addRange(buffer, offset, loop.getCarriedArgs()[lengthPort]);
    for (const Concatenation &c : growth.concatenations)
      addRange(c.last().getResult(), Value(), Value());
    b.setInsertionPointToStart(body);
    live = 1;
    for (const Concatenation &c : growth.concatenations)
      append(c, /*early=*/live == 1 && sizesKnown);
    flush(/*end=*/nullptr);
    YieldOp yield = loop.getYield();
    yield.getCarriedMutable()[growth.port].assign(buffer);
    yield.getCarriedMutable()[lengthPort].assign(ranges.back().length);
    if (growsInFront)
      yield.getCarriedMutable()[offsetPort].assign(ranges.back().offset);
    eraseConcatenations();
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
    for (Range &range : MutableArrayRef(ranges).take_front(live)) {
      Value view;
      llvm::erase_if(range.uses, [&](OpOperand *use) {
        Operation *here = body->findAncestorOpInBlock(*use->getOwner());
        if (end && !here->isBeforeInBlock(end))
          return false;
        if (!view)
          view = makeView(range);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(use->getOwner());
        use->set(b.createOrFold<tensor::CastOp>(use->get().getType(), view));
        return true;
      });
    }
  }

  Value makeView(const Range &range) {
    SmallVector<OpFoldResult> offsets(dims.size(), b.getIndexAttr(0)),
        ones(dims.size(), b.getIndexAttr(1)), sizes(dims);
    offsets[axis] = getAsOpFoldResult(range.offset);
    sizes[axis] = range.length;
    return tensor::ExtractSliceOp::create(b, buffer, offsets, sizes, ones);
  }

  /// Writes what concatenation `c` adds into the buffer. `early` makes the room
  /// at the begin of the body: then nothing reads the buffer before.
  void append(const Concatenation &c, bool early) {
    Operation *at = c.last();
    if (!exact && !early)
      flush(at);
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
    flush(at);
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

  void reserve(Value front, Value back) {
    Range &current = ranges[live - 1];
    Value old = current.offset;
    auto op = ReserveOp::create(b, type, b.getIndexType(), buffer, old,
                                current.length, front, back,
                                b.getI64IntegerAttr(axis));
    buffer = op.getResult();
    if (!growsInFront)
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
    for (const Concatenation &c : llvm::reverse(growth.concatenations))
      for (tensor::InsertSliceOp part : llvm::reverse(c.parts))
        rewriter.eraseOp(part);
  }

  void replaceResult() {
    if (exact)
      return;
    b.setInsertionPointAfter(loop);
    Value result = loop.getResult(growth.port);
    SmallVector<OpFoldResult> offsets(dims.size(), b.getIndexAttr(0)),
        ones(dims.size(), b.getIndexAttr(1)), sizes(dims);
    if (growsInFront)
      offsets[axis] = loop.getResult(offsetPort);
    sizes[axis] = loop.getResult(lengthPort);
    auto view =
        tensor::ExtractSliceOp::create(b, type, result, offsets, sizes, ones);
    rewriter.replaceAllUsesExcept(result, view, view);
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
  bool growsInFront = false, sizesKnown = false, exact = false;
  unsigned lengthPort = 0, offsetPort = 0;
  /// The current version of the buffer, and the values in it: the first `live`
  /// of them are there already.
  Value buffer;
  SmallVector<Range> ranges;
  unsigned live = 0;
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
    SmallVector<LoopOp> loops;
    getOperation().walk([&](LoopOp loop) { loops.push_back(loop); });
    for (LoopOp loop : loops)
      for (unsigned port = 0, e = loop.getNumCarried(); port < e; ++port)
        loop = growPort(rewriter, loop, port);
  }

private:
  LoopOp growPort(IRRewriter &rewriter, LoopOp loop, unsigned port) {
    std::optional<Growth> growth = GrowthMatcher(loop, port).match(rewriter);
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
               "carried value #" + Twine(port) + " grows along axis " +
                   Twine(*growth->axis) +
                   (growing.isExact()
                        ? " in a buffer of the final size"
                        : " in a buffer that is doubled when it is full"));
    return loop;
  }
};
} // namespace
