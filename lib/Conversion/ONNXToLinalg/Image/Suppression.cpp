//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// NonMaxSuppression: for each batch and class, the best box that is left is
// chosen and those that overlap it too much are dropped, until none is left. In
// kernels all boxes are looked at for each choice; on a CPU those that are left
// are a heap of packed entries, and the best is dropped if it overlaps one that
// is chosen. Of these each coordinate is a row, compared in vectors.

#include "Framework/PackedEntries.h"
#include "Framework/ShapeUtils.h"
#include "Vision.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

/// So many chosen boxes are compared with one at once.
static constexpr int64_t kBlock = 16;

namespace {
struct Box {
  Value top, left, bottom, right;
};

class Suppression {
public:
  explicit Suppression(NodeLowering &l)
      : l(l), boxes(l.in(0)), scores(l.in(1)),
        isCentered(l.intAttr("center_point_box", 0)),
        numBoxes(l.dim(boxes, 1)) {}

  LogicalResult lower();

private:
  Box readBox(Value batch, Value box);
  Value overlaps(const Box &x, const Box &y);
  Value best(Value alive, Value batch, Value kind);
  SmallVector<Value> choose(Value batch, Value kind, ValueRange carried);
  SmallVector<Value> chooseAll(Value batch, Value kind, ValueRange carried);
  Value score(Value batch, Value kind, Value box) {
    return elementAt(l, scores, ValueRange{batch, kind, box});
  }
  /// True (i1) for a score that a box may be chosen by.
  Value isCandidate(ScalarBuilder s, Value score);
  /// Puts `found` into row `row` of the indices.
  Value record(Value indices, Value row, ArrayRef<Value> found);
  // The boxes that are left as a heap of packed entries, the best on top, and
  // the chosen ones as rows of coordinates.
  Value sink(Value heap, Value root, Value size, Value entry);
  SmallVector<Value> makeHeap(Value batch, Value kind, Value space);
  Value overlapsChosen(const Box &box, Value chosen, Value count);
  Value addChosen(const Box &box, Value chosen, Value number);
  SmallVector<Value> chooseBest(Value batch, Value kind, Value first,
                                Value left, ValueRange carried);
  SmallVector<Value> chooseFromHeap(Value batch, Value kind,
                                    ValueRange carried);

  NodeLowering &l;
  Value boxes, scores;
  bool isCentered;
  OpFoldResult numBoxes, most;
  Value overlapLimit, scoreLimit;
};
} // namespace

Box Suppression::readBox(Value batch, Value box) {
  ScalarBuilder s(l.b, l.b.getLoc());
  auto read = [&](int64_t k) {
    return elementAt(l, boxes, ValueRange{batch, box, l.index(k)});
  };
  Value a = read(0), b = read(1), c = read(2), d = read(3);
  if (!isCentered)
    return {s.min(a, c), s.min(b, d), s.max(a, c), s.max(b, d)};
  Value half = s.constant(a.getType(), 0.5);
  Value x = s.mul(c, half), y = s.mul(d, half);
  return {s.sub(b, y), s.sub(a, x), s.add(b, y), s.add(a, x)};
}

/// True (i1) where the common part of two boxes is more than the limit of what
/// they cover together.
Value Suppression::overlaps(const Box &x, const Box &y) {
  ScalarBuilder s(l.b, l.b.getLoc());
  Type type = x.top.getType();
  Value zero = arith::ConstantOp::create(l.b, l.b.getZeroAttr(type));
  Value limit = overlapLimit;
  if (isa<VectorType>(type))
    limit = vector::BroadcastOp::create(l.b, type, limit);
  auto area = [&](Value top, Value left, Value bottom, Value right) {
    return s.mul(s.max(s.sub(bottom, top), zero),
                 s.max(s.sub(right, left), zero));
  };
  Value common = area(s.max(x.top, y.top), s.max(x.left, y.left),
                      s.min(x.bottom, y.bottom), s.min(x.right, y.right));
  Value all = s.sub(s.add(area(x.top, x.left, x.bottom, x.right),
                          area(y.top, y.left, y.bottom, y.right)),
                    common);
  return s.both(s.less(zero, common), s.less(limit, s.div(common, all)));
}

/// The box that is left with the highest score, the first of several; -1 for
/// none.
Value Suppression::best(Value alive, Value batch, Value kind) {
  return loopNest(
      l, numBoxes, l.index(-1), [&](ValueRange at, ValueRange carried) {
        ScalarBuilder s(l.b, l.b.getLoc());
        Value isLeft = elementAt(l, alive, at);
        Value none = s.make<arith::CmpIOp>(IP::slt, carried[0], l.index(0));
        Value other = s.select(none, at[0], carried[0]);
        auto score = [&](Value box) {
          return elementAt(l, scores, ValueRange{batch, kind, box});
        };
        Value isBetter = s.either(none, s.less(score(other), score(at[0])));
        return SmallVector<Value>{
            s.select(s.both(isLeft, isBetter), at[0], carried[0])};
      })[0];
}

Value Suppression::isCandidate(ScalarBuilder s, Value score) {
  // NaN is no score.
  return scoreLimit ? s.less(scoreLimit, score) : s.equal(score, score);
}

Value Suppression::record(Value indices, Value row, ArrayRef<Value> found) {
  for (auto [k, value] : llvm::enumerate(found)) {
    Value number = arith::IndexCastOp::create(l.b, l.b.getI64Type(), value);
    indices = tensor::InsertOp::create(
        l.b, number, indices,
        ValueRange{row, l.index(static_cast<int64_t>(k))});
  }
  return indices;
}

/// One choice: `carried` is what is left, the indices and their number.
SmallVector<Value> Suppression::choose(Value batch, Value kind,
                                       ValueRange carried) {
  Value chosen = best(carried[0], batch, kind);
  Value found = arith::CmpIOp::create(l.b, IP::sge, chosen, l.index(0));
  return onlyIf(l, found, carried, [&]() -> SmallVector<Value> {
    Box box = readBox(batch, chosen);
    Value alive =
        loopNest(l, numBoxes, carried[0], [&](ValueRange at, ValueRange inner) {
          ScalarBuilder s(l.b, l.b.getLoc());
          Value drop = s.either(overlaps(box, readBox(batch, at[0])),
                                s.make<arith::CmpIOp>(IP::eq, at[0], chosen));
          Value left = s.both(elementAt(l, inner[0], at), s.invert(drop));
          return SmallVector<Value>{
              tensor::InsertOp::create(l.b, left, inner[0], at)};
        })[0];
    Value indices = record(carried[1], carried[2], {batch, kind, chosen});
    Value count = arith::AddIOp::create(l.b, carried[2], l.index(1));
    return {alive, indices, count};
  });
}

SmallVector<Value> Suppression::chooseAll(Value batch, Value kind,
                                          ValueRange carried) {
  Value alive =
      l.generate(numBoxes, l.b.getI1Type(),
                 [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
                   Value score = tensor::ExtractOp::create(
                       b, loc, scores, ValueRange{batch, kind, at[0]});
                   return isCandidate(ScalarBuilder(b, loc), score);
                 });
  Value yes = l.constantInt(l.b.getI1Type(), 1);
  SmallVector<Value> done = loopNest(
      l, most, {alive, carried[0], carried[1], yes},
      [&](ValueRange, ValueRange inner) {
        return onlyIf(l, inner[3], inner, [&]() -> SmallVector<Value> {
          SmallVector<Value> next = choose(batch, kind, inner.take_front(3));
          // Nothing chosen: nothing will be.
          next.push_back(arith::CmpIOp::create(l.b, IP::ne, next[2], inner[2]));
          return next;
        });
      });
  return {done[1], done[2]};
}

//===----------------------------------------------------------------------===//
// By a heap
//===----------------------------------------------------------------------===//

/// `entry` at place `root` of the heap of `size` entries, or below it: better
/// ones move up.
Value Suppression::sink(Value heap, Value root, Value size, Value entry) {
  ScalarBuilder s(l.b, l.b.getLoc());
  // As many levels as a heap of the size can have; below the place found
  // nothing happens any more.
  Value number = arith::IndexCastOp::create(l.b, l.b.getI64Type(), size);
  Value zeros = math::CountLeadingZerosOp::create(l.b, number);
  Value levels = l.toIndex(
      s.sub(s.integer(l.b.getI64Type(), 63),
            s.make<arith::MinSIOp>(zeros, s.integer(l.b.getI64Type(), 63))));
  Value open = l.constantInt(l.b.getI1Type(), 1);
  SmallVector<Value> state = loopNest(
      l, OpFoldResult(levels), {heap, root, open},
      [&](ValueRange, ValueRange c) {
        ScalarBuilder s(l.b, l.b.getLoc());
        Value left = s.add(s.add(c[1], c[1]), l.index(1));
        Value goes = s.both(c[2], s.make<arith::CmpIOp>(IP::ult, left, size));
        return onlyIf(l, goes, c, [&]() -> SmallVector<Value> {
          ScalarBuilder s(l.b, l.b.getLoc());
          Value right = s.add(left, l.index(1));
          Value hasRight = s.make<arith::CmpIOp>(IP::ult, right, size);
          Value other = s.select(hasRight, right, left);
          Value x = elementAt(l, c[0], left), y = elementAt(l, c[0], other);
          Value child = s.select(s.less(x, y), other, left);
          Value best = s.max(x, y);
          Value moves = s.less(entry, best);
          Value moved = onlyIf(l, moves, c[0], [&]() -> SmallVector<Value> {
            return {tensor::InsertOp::create(l.b, best, c[0], c[1])};
          })[0];
          return {moved, s.select(moves, child, c[1]), moves};
        });
      });
  return tensor::InsertOp::create(l.b, entry, state[0], state[1]);
}

/// The heap of the candidates, in `space`, and how many there are.
SmallVector<Value> Suppression::makeHeap(Value batch, Value kind, Value space) {
  Type compute = NodeLowering::computeType(l.elementType(1));
  // Which ones these are no branch predictor knows: each is written, and the
  // next takes its place if it is none.
  SmallVector<Value> listed = loopNest(
      l, numBoxes, {space, l.index(0)}, [&](ValueRange at, ValueRange c) {
        ScalarBuilder s(l.b, l.b.getLoc());
        Value value = score(batch, kind, at[0]);
        Value next =
            s.select(isCandidate(s, value), s.add(c[1], l.index(1)), c[1]);
        Value entry =
            packEntry(l, s.cast(value, compute), at[0], /*isUnsigned=*/false,
                      /*isLargest=*/true);
        return SmallVector<Value>{
            tensor::InsertOp::create(l.b, entry, c[0], c[1]), next};
      });
  Value size = listed[1];
  Value half = arith::DivUIOp::create(l.b, size, l.index(2));
  Value heap = loopNest(
      l, OpFoldResult(half), listed[0], [&](ValueRange i, ValueRange c) {
        Value last = arith::SubIOp::create(l.b, half, l.index(1));
        Value root = arith::SubIOp::create(l.b, last, i[0]);
        return SmallVector<Value>{
            sink(c[0], root, size, elementAt(l, c[0], root))};
      })[0];
  return {heap, size};
}

/// True (i1) if `box` overlaps one of the `count` boxes in `chosen`.
Value Suppression::overlapsChosen(const Box &box, Value chosen, Value count) {
  auto type = VectorType::get({kBlock}, box.top.getType());
  Value rounded = arith::AddIOp::create(l.b, count, l.index(kBlock - 1));
  Value blocks = arith::DivUIOp::create(l.b, rounded, l.index(kBlock));
  auto wide = [&](Value value) -> Value {
    return vector::BroadcastOp::create(l.b, type, value);
  };
  Box one{wide(box.top), wide(box.left), wide(box.bottom), wide(box.right)};
  return loopNest(
      l, OpFoldResult(blocks), l.constantInt(l.b.getI1Type(), 0),
      [&](ValueRange i, ValueRange found) {
        ScalarBuilder s(l.b, l.b.getLoc());
        Value first = arith::MulIOp::create(l.b, i[0], l.index(kBlock));
        auto row = [&](int64_t k) -> Value {
          SmallVector<bool> inBounds{true};
          return vector::TransferReadOp::create(
              l.b, type, chosen, ValueRange{l.index(k), first},
              std::optional<Value>(l.constant(type.getElementType(), 0)),
              ArrayRef<bool>(inBounds));
        };
        Value hits = overlaps({row(0), row(1), row(2), row(3)}, one);
        // Behind the last one there is none yet.
        Value mask = vector::CreateMaskOp::create(
            l.b, cast<VectorType>(hits.getType()),
            ValueRange{arith::SubIOp::create(l.b, count, first)});
        Value any = vector::ReductionOp::create(
            l.b, l.b.getLoc(), vector::CombiningKind::OR, s.both(hits, mask));
        return SmallVector<Value>{s.either(found[0], any)};
      })[0];
}

Value Suppression::addChosen(const Box &box, Value chosen, Value number) {
  for (auto [k, value] :
       llvm::enumerate(ArrayRef{box.top, box.left, box.bottom, box.right}))
    chosen = tensor::InsertOp::create(
        l.b, value, chosen,
        ValueRange{l.index(static_cast<int64_t>(k)), number});
  return chosen;
}

/// One choice of the `left` boxes in a heap, which is what is carried behind
/// the indices, their number and the boxes chosen since number `first`.
SmallVector<Value> Suppression::chooseBest(Value batch, Value kind, Value first,
                                           Value left, ValueRange carried) {
  ScalarBuilder s(l.b, l.b.getLoc());
  Value heap = carried[3];
  Value best = placeOfEntry(l, elementAt(l, heap, l.index(0)));
  Value rest = s.sub(left, l.index(1));
  heap = sink(heap, l.index(0), rest, elementAt(l, heap, rest));
  Box box = readBox(batch, best);
  Value count = s.sub(carried[1], first);
  Value drops = overlapsChosen(box, carried[2], count);
  SmallVector<Value> next = onlyIf(
      l, s.invert(drops), carried.take_front(3), [&]() -> SmallVector<Value> {
        return {record(carried[0], carried[1], {batch, kind, best}),
                arith::AddIOp::create(l.b, carried[1], l.index(1)),
                addChosen(box, carried[2], count)};
      });
  next.push_back(heap);
  return next;
}

/// What chooseAll() chooses, each box compared with those that are chosen only.
/// `carried` is the indices, their number, and places for the chosen boxes and
/// the heap.
SmallVector<Value> Suppression::chooseFromHeap(Value batch, Value kind,
                                               ValueRange carried) {
  SmallVector<Value> heap = makeHeap(batch, kind, carried[3]);
  Value first = carried[1], size = heap[1];
  Value end = arith::AddIOp::create(l.b, first, l.asIndex(most));
  return loopNest(l, OpFoldResult(size),
                  {carried[0], first, carried[2], heap[0]},
                  [&](ValueRange i, ValueRange c) {
                    Value goes = arith::CmpIOp::create(l.b, IP::ult, c[1], end);
                    return onlyIf(l, goes, c, [&] {
                      Value left = arith::SubIOp::create(l.b, size, i[0]);
                      return chooseBest(batch, kind, first, left, c);
                    });
                  });
}

LogicalResult Suppression::lower() {
  if (l.rank(0) != 3 || l.rank(1) != 3)
    return l.refuse("boxes and scores have ranks " + Twine(l.rank(0)) +
                    " and " + Twine(l.rank(1)) + ", expected 3");
  OpFoldResult batches = l.dim(scores, 0), kinds = l.dim(scores, 1);
  if (!requireEqual(l, l.dim(boxes, 0), batches,
                    "the batches of boxes and scores") ||
      !requireEqual(l, numBoxes, l.dim(scores, 2),
                    "the numbers of boxes and scores") ||
      !requireEqual(l, l.dim(boxes, 2), l.fold(4), "the numbers of a box"))
    return l.refuse("boxes and scores do not fit each other");
  auto optional = [&](unsigned i) {
    return l.has(i) ? l.scalar(l.in(i)) : Value();
  };
  most = l.fold(0);
  if (Value given = optional(2))
    most = minSigned(l, maxSigned(l, l.toIndex(given), l.fold(0)), numBoxes);
  overlapLimit = optional(3);
  if (!overlapLimit)
    overlapLimit = l.constant(l.elementType(0), 0);
  scoreLimit = optional(4);
  OpFoldResult capacity = l.mul(l.mul(batches, kinds), most);
  SmallVector<Value> inits{l.empty({capacity, l.fold(3)}, l.b.getI64Type()),
                           l.index(0)};
  // Kernels look at all boxes at once.
  bool takesHeap =
      l.channelsLast && canPackEntries(l, l.elementType(1), numBoxes);
  if (takesHeap) {
    // Blocks of chosen boxes are read whole.
    OpFoldResult room = l.add(most, l.fold(kBlock - 1));
    inits.push_back(l.empty({l.fold(4), room}, l.elementType(0)));
    inits.push_back(l.empty(numBoxes, l.b.getI64Type()));
  }
  SmallVector<Value> all = loopNest(
      l, {batches, kinds}, inits, [&](ValueRange at, ValueRange carried) {
        return takesHeap ? chooseFromHeap(at[0], at[1], carried)
                         : chooseAll(at[0], at[1], carried);
      });
  l.setResult(sliceOf(l, all[0], {l.fold(0), l.fold(0)},
                      {OpFoldResult(all[1]), l.fold(3)}));
  return success();
}

static LogicalResult lowerNonMaxSuppression(NodeLowering &l) {
  return Suppression(l).lower();
}

void loopc::addSuppressionRows(LoweringTable &table) {
  table.add({{"", "NonMaxSuppression", 10, kLatest, lowerNonMaxSuppression}});
}
