//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// TopK: the k best of a line are kept as a heap in the results' own memory,
// which is sorted in the end; a few, whose number is known, are kept in order
// in registers. Most blocks of a long line have none that is better than the
// worst, which vectors find out. Where much of a line is asked for all of it is
// sorted. For kernels see ParallelOrder.h.
//
// Elements of up to 32 bits are compared as numbers of 64 bits that have the
// element's order above and its place below (PackedEntries.h): no two are
// equal. Where nobody asks for the places of a few, floats are compared as
// numbers of 32 bits, of which a vector has twice as many.

#include "DigitSort.h"
#include "Framework/PackedEntries.h"
#include "Framework/ShapeUtils.h"
#include "NN/Contraction.h"
#include "ParallelOrder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

/// So many elements are compared with the worst at once.
static constexpr int64_t kBlock = 16;
/// So many are kept in order in registers; of a short line, which has no more
/// elements than a block, all.
static constexpr int64_t kFew = 8;
/// A line is sorted for so many of it and more, if it has no more than so many
/// times as many elements.
static constexpr int64_t kMany = 256, kShareOfMany = 16;

namespace {
/// A value and where on its line it stands (index); or both packed, and no
/// index.
struct Entry {
  Value value, index;
};

/// TopK along one axis. Between two entries the larger (or smaller) value is
/// better, NaN being the largest of all; of equal ones the lower index is.
class TopK {
public:
  explicit TopK(NodeLowering &l)
      : l(l), lines(l.in(0)), type(l.elementType(0)),
        compute(NodeLowering::computeType(type)), isUnsigned(l.isUnsigned(0)) {}

  LogicalResult lower();

private:
  using Tensors = SmallVector<Value>; // values, indices

  LogicalResult read();
  Tensors line(ValueRange position, ValueRange results);
  SmallVector<Value> at(Value place) {
    SmallVector<Value> indices(outer);
    indices[axis] = place;
    return indices;
  }
  Value element(Value place) { return elementAt(l, lines, at(place)); }
  Entry input(Value place) {
    if (isPacked)
      return {pack(place), {}};
    return {element(place), place};
  }
  Value pack(Value place) {
    if (hasNoPlaces)
      return packValue(l, widened(element(place)), isLargest);
    return packEntry(l, widened(element(place)), place, isUnsigned, isLargest);
  }
  Value placeOf(Value packed) { return placeOfEntry(l, packed); }
  /// The value of a packed entry without a place.
  Value valueOf(Value packed) {
    return NodeLowering::castScalar(l.b, l.b.getLoc(),
                                    valueOfPacked(l, packed, isLargest),
                                    /*fromUnsigned=*/false, type,
                                    /*toUnsigned=*/false);
  }
  Entry load(ValueRange heap, Value place);
  Tensors store(ValueRange heap, Value place, const Entry &entry);
  /// A value, or a vector of them, in the type that is compared.
  Value widened(Value value);
  /// Whether `x` is below `y`, or above it, as widened() has them.
  std::pair<Value, Value> compareValues(Value x, Value y);
  Value isWorse(const Entry &x, const Entry &y);
  /// Puts `entry` at `root` of the heap of `size` entries, or below it, so that
  /// the worst entry stands on top of every part; lower ones move up.
  Tensors sink(ValueRange heap, Value root, Value size, const Entry &entry);
  Tensors copyFirst(ValueRange results);
  Tensors makeHeap(ValueRange results);
  /// Puts element `place` into the heap if it is better than the worst there.
  Tensors replaceBy(ValueRange heap, Value place);
  /// True if an element of the block at `place` is better than `worst`.
  Value hasBetter(Value worst, Value place);
  /// True if vectors find blocks of a line, where it lies in memory as it
  /// counts.
  bool wantsBlocks();
  bool scansBlocks() { return axis == l.rank(0) - 1 && wantsBlocks(); }
  Tensors replaceInBlocks(ValueRange results, Value blocks);
  Tensors replaceWorse(ValueRange results);
  Tensors sortHeap(ValueRange results);
  Tensors unpack(ValueRange heap);
  Tensors sortLine(ValueRange results);
  /// What `yes` or `no` makes of the results, of which only one is computed.
  Tensors choose(Value condition, ValueRange results,
                 llvm::function_ref<Tensors()> yes,
                 llvm::function_ref<Tensors()> no);
  Tensors storeFound(ValueRange results, Value number, Value place);
  Tensors insert(ValueRange best, Value packed);
  Tensors fewOfLine(ValueRange results);
  Tensors storeValues(ValueRange best, Tensors results);
  Tensors fewOfBlocks(ValueRange best, Value blocks);
  Tensors selectInParallel(ValueRange results);
  Tensors selectInLines();

  Value plus(Value x, int64_t y) {
    return arith::AddIOp::create(l.b, x, l.index(y));
  }
  /// Value `then` where `condition` is true, else what is there.

  NodeLowering &l;
  Value lines; ///< The input, or the same with its lines along the last axis.
  Type type, compute;
  bool isUnsigned, isPacked = false, isLargest = true;
  /// The few that are kept in registers are values alone: nobody reads indices.
  bool hasNoPlaces = false;
  int64_t axis = 0;
  OpFoldResult count;
  Value extent, k, levels;
  /// Position of the line that is worked on.
  SmallVector<Value> outer;
};
} // namespace

Entry TopK::load(ValueRange heap, Value place) {
  SmallVector<Value> indices = at(place);
  Value number = tensor::ExtractOp::create(l.b, heap[1], indices);
  if (isPacked)
    return {number, {}};
  return {tensor::ExtractOp::create(l.b, heap[0], indices), l.toIndex(number)};
}

TopK::Tensors TopK::store(ValueRange heap, Value place, const Entry &entry) {
  SmallVector<Value> indices = at(place);
  if (isPacked)
    return {heap[0],
            tensor::InsertOp::create(l.b, entry.value, heap[1], indices)};
  Value number = arith::IndexCastOp::create(l.b, l.b.getI64Type(), entry.index);
  return {tensor::InsertOp::create(l.b, entry.value, heap[0], indices),
          tensor::InsertOp::create(l.b, number, heap[1], indices)};
}

Value TopK::widened(Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector)
    return NodeLowering::castScalar(l.b, l.b.getLoc(), value, isUnsigned,
                                    compute, isUnsigned);
  if (compute == type)
    return value;
  return arith::ExtFOp::create(l.b, vector.clone(compute), value);
}

std::pair<Value, Value> TopK::compareValues(Value x, Value y) {
  Value isLess, isMore;
  if (isa<FloatType>(compute)) {
    // x < y, where NaN is above all numbers and equal to itself.
    auto less = [&](Value p, Value q) {
      Value ordered =
          arith::CmpFOp::create(l.b, arith::CmpFPredicate::ORD, p, p);
      Value below = arith::CmpFOp::create(l.b, arith::CmpFPredicate::ULT, p, q);
      return both(l, ordered, below);
    };
    isLess = less(x, y);
    isMore = less(y, x);
  } else {
    isLess = arith::CmpIOp::create(l.b, isUnsigned ? IP::ult : IP::slt, x, y);
    isMore = arith::CmpIOp::create(l.b, isUnsigned ? IP::ugt : IP::sgt, x, y);
  }
  if (!isLargest)
    std::swap(isLess, isMore);
  return {isLess, isMore};
}

Value TopK::isWorse(const Entry &x, const Entry &y) {
  if (isPacked)
    return arith::CmpIOp::create(l.b, IP::slt, x.value, y.value);
  auto [isLess, isMore] = compareValues(widened(x.value), widened(y.value));
  Value isLater = arith::CmpIOp::create(l.b, IP::ugt, x.index, y.index);
  return arith::SelectOp::create(
      l.b, isLess, isLess,
      arith::SelectOp::create(l.b, isMore, l.constantInt(l.b.getI1Type(), 0),
                              isLater));
}

TopK::Tensors TopK::sink(ValueRange heap, Value root, Value size,
                         const Entry &entry) {
  Value open = l.constantInt(l.b.getI1Type(), 1);
  // As many levels as a heap of k entries can have; below the place found
  // nothing happens any more.
  SmallVector<Value> state = loopNest(
      l, OpFoldResult(levels), {heap[0], heap[1], root, open},
      [&](ValueRange, ValueRange c) {
        Value left = arith::AddIOp::create(l.b, plus(c[2], 1), c[2]);
        Value hasChild = arith::CmpIOp::create(l.b, IP::ult, left, size);
        Value goes = both(l, c[3], hasChild);
        auto branch = onlyIf(l, goes, c, [&]() -> Tensors {
          Value right = plus(left, 1);
          Value hasRight = arith::CmpIOp::create(l.b, IP::ult, right, size);
          Value other = arith::SelectOp::create(l.b, hasRight, right, left);
          Entry x = load(c.take_front(2), left);
          Entry y = load(c.take_front(2), other);
          Value rightIsWorse = isWorse(y, x);
          Value child = arith::SelectOp::create(l.b, rightIsWorse, other, left);
          Entry worst{
              arith::SelectOp::create(l.b, rightIsWorse, y.value, x.value),
              isPacked ? Value()
                       : arith::SelectOp::create(l.b, rightIsWorse, y.index,
                                                 x.index)};
          Value moves = isWorse(worst, entry);
          Tensors stored = onlyIf(l, moves, c.take_front(2), [&] {
            return store(c.take_front(2), c[2], worst);
          });
          Value hole = arith::SelectOp::create(l.b, moves, child, c[2]);
          return {stored[0], stored[1], hole, moves};
        });
        return branch;
      });
  return store(ValueRange(state).take_front(2), state[2], entry);
}

TopK::Tensors TopK::copyFirst(ValueRange results) {
  return loopNest(l, count, results, [&](ValueRange i, ValueRange heap) {
    return store(heap, i[0], input(i[0]));
  });
}

TopK::Tensors TopK::makeHeap(ValueRange results) {
  Value half = arith::DivUIOp::create(l.b, k, l.index(2));
  return loopNest(
      l, OpFoldResult(half), results, [&](ValueRange i, ValueRange heap) {
        Value root = arith::SubIOp::create(l.b, plus(half, -1), i[0]);
        return sink(heap, root, k, load(heap, root));
      });
}

TopK::Tensors TopK::replaceBy(ValueRange heap, Value place) {
  Entry next = input(place), worst = load(heap, l.index(0));
  return onlyIf(l, isWorse(worst, next), heap,
                [&] { return sink(heap, l.index(0), k, next); });
}

bool TopK::wantsBlocks() {
  std::optional<int64_t> length = getConstantIntValue(extent);
  // Where many are asked for, most blocks have one.
  int64_t wanted = getConstantIntValue(count).value_or(1);
  // Vectors are not for kernels.
  return l.channelsLast && type.getIntOrFloatBitWidth() >= 8 &&
         (compute == type || isa<FloatType>(type)) &&
         (!length || *length >= 2 * kBlock * std::max<int64_t>(wanted, 1));
}

Value TopK::hasBetter(Value worst, Value place) {
  Location loc = l.b.getLoc();
  SmallVector<bool> inBounds{true};
  Value block = vector::TransferReadOp::create(
      l.b, VectorType::get({kBlock}, type), lines, at(place),
      std::optional<Value>(l.constant(type, 0)), ArrayRef<bool>(inBounds));
  Value one = widened(worst);
  Value all =
      vector::BroadcastOp::create(l.b, VectorType::get({kBlock}, compute), one);
  // Of equal ones the earlier is better.
  Value better = compareValues(all, widened(block)).first;
  return vector::ReductionOp::create(l.b, loc, vector::CombiningKind::OR,
                                     better);
}

TopK::Tensors TopK::replaceInBlocks(ValueRange results, Value blocks) {
  return loopNest(
      l, OpFoldResult(blocks), results, [&](ValueRange i, ValueRange heap) {
        Value done = arith::MulIOp::create(l.b, i[0], l.index(kBlock));
        Value first = arith::AddIOp::create(l.b, k, done);
        Value worst = load(heap, l.index(0)).value;
        if (isPacked)
          worst = element(placeOf(worst));
        return onlyIf(l, hasBetter(worst, first), heap, [&] {
          return loopNest(
              l, l.fold(kBlock), heap, [&](ValueRange j, ValueRange carried) {
                Value place = arith::AddIOp::create(l.b, first, j[0]);
                return replaceBy(carried, place);
              });
        });
      });
}

TopK::Tensors TopK::replaceWorse(ValueRange results) {
  Value rest = arith::SubIOp::create(l.b, extent, k), done = l.index(0);
  Tensors heap(results);
  if (scansBlocks()) {
    Value blocks = arith::DivUIOp::create(l.b, rest, l.index(kBlock));
    heap = replaceInBlocks(heap, blocks);
    done = arith::MulIOp::create(l.b, blocks, l.index(kBlock));
    rest = arith::SubIOp::create(l.b, rest, done);
  }
  Value first = arith::AddIOp::create(l.b, k, done);
  return loopNest(
      l, OpFoldResult(rest), heap, [&](ValueRange i, ValueRange carried) {
        return replaceBy(carried, arith::AddIOp::create(l.b, first, i[0]));
      });
}

TopK::Tensors TopK::sortHeap(ValueRange results) {
  Value last = plus(k, -1);
  return loopNest(
      l, OpFoldResult(last), results, [&](ValueRange i, ValueRange heap) {
        // The worst goes to the end of what is left.
        Value end = arith::SubIOp::create(l.b, last, i[0]);
        Entry worst = load(heap, l.index(0)), moved = load(heap, end);
        Tensors stored = store(heap, end, worst);
        return sink(stored, l.index(0), end, moved);
      });
}

/// The entries of a packed and sorted heap as values and indices.
TopK::Tensors TopK::unpack(ValueRange heap) {
  return loopNest(l, OpFoldResult(k), heap, [&](ValueRange i, ValueRange c) {
    Value packed = tensor::ExtractOp::create(l.b, c[1], at(i[0]));
    return storeFound(c, i[0], placeOf(packed));
  });
}

/// The element at `place` as result number `number`.
TopK::Tensors TopK::storeFound(ValueRange results, Value number, Value place) {
  Value index = arith::IndexCastOp::create(l.b, l.b.getI64Type(), place);
  SmallVector<Value> indices = at(number);
  return {tensor::InsertOp::create(l.b, element(place), results[0], indices),
          tensor::InsertOp::create(l.b, index, results[1], indices)};
}

/// `best`, in order, with `packed` in its place and the last one dropped.
TopK::Tensors TopK::insert(ValueRange best, Value packed) {
  auto shift = [&] {
    Tensors next;
    for (Value one : best) {
      next.push_back(arith::MaxSIOp::create(l.b, one, packed));
      packed = arith::MinSIOp::create(l.b, one, packed);
    }
    return next;
  };
  // Two take less time than a branch that is mispredicted, and most elements of
  // a short line have a place.
  constexpr size_t kUnconditional = 2;
  if (best.size() <= kUnconditional)
    return shift();
  Value isShort = arith::CmpIOp::create(l.b, IP::ule, extent, l.index(kBlock));
  Value isBetter = arith::CmpIOp::create(l.b, IP::sgt, packed, best.back());
  return onlyIf(l, arith::OrIOp::create(l.b, isShort, isBetter), best, shift);
}

/// The best of a line that are in registers, whose number is known.
TopK::Tensors TopK::fewOfLine(ValueRange results) {
  // Below all entries: the lowest of these has a place.
  Value none = hasNoPlaces ? l.constantInt(l.b.getI32Type(),
                                           std::numeric_limits<int32_t>::min())
                           : l.constantInt(l.b.getI64Type(),
                                           std::numeric_limits<int64_t>::min());
  Tensors best(*getConstantIntValue(count), none);
  Value done = l.index(0), rest = extent;
  if (scansBlocks()) {
    Value blocks = arith::DivUIOp::create(l.b, extent, l.index(kBlock));
    best = fewOfBlocks(best, blocks);
    done = arith::MulIOp::create(l.b, blocks, l.index(kBlock));
    rest = arith::SubIOp::create(l.b, extent, done);
  }
  best = loopNest(l, OpFoldResult(rest), best,
                  [&](ValueRange i, ValueRange carried) {
                    Value place = arith::AddIOp::create(l.b, done, i[0]);
                    return insert(carried, pack(place));
                  });
  Tensors found(results);
  if (hasNoPlaces)
    return storeValues(best, found);
  // A line that is too short, which a check refuses, has no such place.
  Value last = l.asIndex(maxSigned(l, plus(extent, -1), l.fold(0)));
  SmallVector<Value> places;
  for (Value packed : best)
    places.push_back(arith::MinSIOp::create(l.b, placeOf(packed), last));
  // The only line: who reads one of its elements needs no memory for them.
  if (l.rank(0) == 1 && !places.empty()) {
    auto make = [&](Value result, auto one) -> Value {
      return tensor::FromElementsOp::create(l.b, result.getType(),
                                            llvm::map_to_vector(places, one));
    };
    return {make(results[0], [&](Value place) { return element(place); }),
            make(results[1], [&](Value place) -> Value {
              return arith::IndexCastOp::create(l.b, l.b.getI64Type(), place);
            })};
  }
  for (auto [number, place] : llvm::enumerate(places))
    found = storeFound(found, l.index(static_cast<int64_t>(number)), place);
  return found;
}

/// The values of `best` in the place of the results' first.
TopK::Tensors TopK::storeValues(ValueRange best, Tensors results) {
  SmallVector<Value> values;
  for (Value packed : best)
    values.push_back(valueOf(packed));
  if (l.rank(0) == 1 && !values.empty())
    results[0] =
        tensor::FromElementsOp::create(l.b, results[0].getType(), values);
  else
    for (auto [number, value] : llvm::enumerate(values))
      results[0] = tensor::InsertOp::create(
          l.b, value, results[0], at(l.index(static_cast<int64_t>(number))));
  return results;
}

TopK::Tensors TopK::fewOfBlocks(ValueRange best, Value blocks) {
  return loopNest(
      l, OpFoldResult(blocks), best, [&](ValueRange i, ValueRange carried) {
        Value first = arith::MulIOp::create(l.b, i[0], l.index(kBlock));
        // Where none has been found yet, any is better.
        Value isNone = arith::CmpIOp::create(l.b, IP::eq, first, l.index(0));
        Value worst =
            hasNoPlaces
                ? valueOf(carried.back())
                : element(arith::SelectOp::create(l.b, isNone, l.index(0),
                                                  placeOf(carried.back())));
        Value looks =
            arith::OrIOp::create(l.b, isNone, hasBetter(worst, first));
        return onlyIf(l, looks, carried, [&] {
          return loopNest(
              l, l.fold(kBlock), carried, [&](ValueRange j, ValueRange c) {
                Value place = arith::AddIOp::create(l.b, first, j[0]);
                return insert(c, pack(place));
              });
        });
      });
}

TopK::Tensors TopK::sortLine(ValueRange results) {
  NumberRow row{l.dim(lines, axis), compute, isUnsigned};
  Value places =
      sortByDigits(l, row, /*isDescending=*/isLargest, [&](Value place) {
        return widened(element(place));
      }).places;
  return loopNest(l, OpFoldResult(k), results, [&](ValueRange i, ValueRange c) {
    return storeFound(c, i[0], tensor::ExtractOp::create(l.b, places, i[0]));
  });
}

TopK::Tensors TopK::choose(Value condition, ValueRange results,
                           llvm::function_ref<Tensors()> yes,
                           llvm::function_ref<Tensors()> no) {
  auto branch = scf::IfOp::create(l.b, results.getTypes(), condition,
                                  /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(l.b);
  l.b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(l.b, yes());
  l.b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(l.b, no());
  return branch.getResults();
}

TopK::Tensors TopK::line(ValueRange position, ValueRange results) {
  outer.assign(position.begin(), position.end());
  std::optional<int64_t> few = getConstantIntValue(count);
  std::optional<int64_t> length = getConstantIntValue(extent);
  if (isPacked && few &&
      *few <= (length && *length <= kBlock ? kBlock : kFew)) {
    hasNoPlaces = compute.isF32() && l.node.getResult(1).use_empty();
    return fewOfLine(results);
  }
  auto inHeap = [&] {
    Value some = arith::CmpIOp::create(l.b, IP::ugt, k, l.index(0));
    return onlyIf(l, some, results, [&] {
      Tensors heap = sortHeap(replaceWorse(makeHeap(copyFirst(results))));
      return isPacked ? unpack(heap) : heap;
    });
  };
  if (few && *few >= kMany) {
    // A line that is too short is refused.
    OpFoldResult share = quotient(l, extent, l.fold(kShareOfMany));
    Value sorts = compare(l, IP::ule, share, count);
    if (std::optional<int64_t> known = getConstantIntValue(sorts))
      return *known ? sortLine(results) : inHeap();
    return choose(sorts, results, [&] { return sortLine(results); }, inHeap);
  }
  if (!isPacked || !few || *few > kBlock || length)
    return inHeap();
  // Later passes may know that a window is a short line.
  Value isShort = arith::CmpIOp::create(l.b, IP::ule, extent, l.index(kBlock));
  return choose(isShort, results, [&] { return fewOfLine(results); }, inHeap);
}

TopK::Tensors TopK::selectInParallel(ValueRange results) {
  Value some = arith::CmpIOp::create(l.b, IP::ugt, k, l.index(0));
  return onlyIf(l, some, results, [&]() -> Tensors {
    BestOfLines order{l.in(0), isUnsigned, isLargest, isPacked, axis, count, k};
    Value indices = findBestOfLines(l, order);
    Dims target = l.dims(l.in(0));
    target[axis] = count;
    Value values = l.generate(
        target, type, [&](OpBuilder &b, Location loc, ValueRange at) {
          SmallVector<Value> place(at);
          Value index = tensor::ExtractOp::create(b, loc, indices, at);
          place[axis] =
              arith::IndexCastOp::create(b, loc, b.getIndexType(), index);
          return tensor::ExtractOp::create(b, loc, l.in(0), place);
        });
    return {values, indices};
  });
}

LogicalResult TopK::read() {
  int64_t rank = l.rank(0);
  FailureOr<int64_t> given = l.axisAttr("axis", rank, -1);
  if (failed(given))
    return failure();
  axis = *given;
  isLargest = l.intAttr("largest", 1);
  // Any order will do where none is asked for.
  l.ignoreAttr("sorted");
  OpFoldResult length = l.dim(l.in(0), axis);
  extent = l.asIndex(length);
  if (l.numInputs() > 1) {
    FailureOr<Dims> numbers = integers(l, 1, 1, "K");
    if (failed(numbers))
      return failure();
    count = (*numbers)[0];
  } else {
    count = l.fold(l.intAttr("k"));
  }
  std::optional<int64_t> fixed = getConstantIntValue(count);
  l.check(compare(l, IP::ule, count, length),
          "k is {}, the axis has {} elements",
          ValueRange{l.asIndex(count), extent});
  isPacked = canPackEntries(l, type, length);
  // What is built behind the check must be valid, and what is pure may be moved
  // in front of it.
  if (!fixed)
    count = maxSigned(l, minSigned(l, count, length), l.fold(0));
  else if (*fixed < 0)
    count = l.fold(0);
  k = l.asIndex(minSigned(l, count, length));
  // Levels below the root: log2(k), rounded down.
  Value number = arith::IndexCastOp::create(l.b, l.b.getI64Type(), k);
  Value zeros = math::CountLeadingZerosOp::create(l.b, number);
  levels = l.toIndex(
      arith::SubIOp::create(l.b, l.constantInt(l.b.getI64Type(), 63), zeros));
  return success();
}

/// Line by line. Lines along another axis than the last, which vectors would
/// not read, are stored one behind the other, and what is found is put back.
TopK::Tensors TopK::selectInLines() {
  int64_t last = l.rank(0) - 1, own = axis;
  SmallVector<int64_t> order;
  for (int64_t k : llvm::seq(last + 1))
    if (k != own)
      order.push_back(k);
  order.push_back(own);
  Dims behind(ArrayRef(l.dims(lines)).drop_front(own + 1));
  bool isTurned = wantsBlocks() && !llvm::all_of(behind, [](OpFoldResult size) {
                    return isConstantIntValue(size, 1);
                  });
  if (isTurned) {
    lines = reordered(l, lines, order);
    axis = last;
  }
  Dims target = l.dims(lines), outermost = target;
  target[axis] = count;
  outermost[axis] = l.fold(1);
  Tensors results{l.empty(target, type), l.empty(target, l.b.getI64Type())};
  results =
      loopNest(l, outermost, results, [&](ValueRange position, ValueRange c) {
        return line(position, c);
      });
  if (isTurned)
    for (Value &result : results)
      result = reordered(l, result, invertPermutationVector(order));
  return results;
}

LogicalResult TopK::lower() {
  if (l.rank(0) == 0)
    return l.refuse("the input has rank 0");
  if (failed(read()))
    return failure();
  Dims target = l.dims(l.in(0));
  target[axis] = count;
  Tensors results{l.empty(target, type), l.empty(target, l.b.getI64Type())};
  bool isPossible = true;
  if (std::optional<int64_t> length = getConstantIntValue(l.dim(l.in(0), axis)))
    if (std::optional<int64_t> wanted = getConstantIntValue(count))
      isPossible = *wanted <= *length;
  if (isPossible && !isKnownEmpty(target))
    results = l.forKernels ? selectInParallel(results) : selectInLines();
  l.setResult(0, results[0]);
  l.setResult(1, results[1]);
  return success();
}

static LogicalResult lowerTopK(NodeLowering &l) { return TopK(l).lower(); }

void loopc::addOrderingRows(LoweringTable &table) {
  table.add({
      {"", "TopK", 1, kLatest, lowerTopK},
  });
}
