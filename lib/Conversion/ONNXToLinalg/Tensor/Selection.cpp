//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Results whose size depends on values: NonZero, Compress and Unique count
// first, or fill as many places as there may be and cut the rest off.

#include "DigitSort.h"
#include "Framework/ShapeUtils.h"
#include "Framework/StringUtils.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

/// 1 where `condition` is true, else 0, as index.
static Value asCount(NodeLowering &l, Value condition) {
  return arith::SelectOp::create(l.b, condition, l.index(1), l.index(0));
}

static Value plus(NodeLowering &l, Value x, Value y) {
  return arith::AddIOp::create(l.b, x, y);
}

//===----------------------------------------------------------------------===//
// NonZero
//===----------------------------------------------------------------------===//

/// Real and imaginary part.
static std::pair<Value, Value> partsOf(NodeLowering &l, Value element) {
  return {complex::ReOp::create(l.b, element),
          complex::ImOp::create(l.b, element)};
}

static Value isNonZero(NodeLowering &l, Value element) {
  if (l.isString(0))
    return arith::CmpIOp::create(l.b, IP::ne,
                                 stringBytes(l.b, l.b.getLoc(), element),
                                 l.constantInt(l.b.getI64Type(), 0));
  if (isa<ComplexType>(element.getType())) {
    auto [re, im] = partsOf(l, element);
    return either(l, isNonZero(l, re), isNonZero(l, im));
  }
  return NodeLowering::castScalar(l.b, l.b.getLoc(), element, true,
                                  l.b.getI1Type(), true);
}

static LogicalResult lowerNonZero(NodeLowering &l) {
  Value value = l.in(0);
  if (!l.isString(0) &&
      !isa<FloatType, IntegerType, ComplexType>(l.elementType(0)))
    return l.unsupported("the element type is not supported");
  Dims dims = l.dims(value);
  int64_t rank = dims.size();
  Value count = loopNest(
      l, dims, l.index(0), [&](ValueRange position, ValueRange carried) {
        Value found = isNonZero(l, elementAt(l, value, position));
        return SmallVector<Value>{plus(l, carried[0], asCount(l, found))};
      })[0];
  Type i64 = l.b.getI64Type();
  Value result = l.empty({l.fold(rank), count}, i64);
  // Rank 0: a row for each axis, so none.
  if (rank == 0) {
    l.setResult(result);
    return success();
  }
  l.setResult(loopNest(
      l, dims, {result, l.index(0)},
      [&](ValueRange position, ValueRange carried) {
        Value found = isNonZero(l, elementAt(l, value, position));
        return onlyIf(l, found, carried, [&] {
          Value filled = carried[0];
          for (int64_t k : llvm::seq(rank)) {
            Value number =
                l.b.createOrFold<arith::IndexCastOp>(i64, position[k]);
            filled = tensor::InsertOp::create(
                l.b, number, filled, ValueRange{l.index(k), carried[1]});
          }
          return SmallVector<Value>{filled, plus(l, carried[1], l.index(1))};
        });
      })[0]);
  return success();
}

//===----------------------------------------------------------------------===//
// Compress
//===----------------------------------------------------------------------===//

/// Attribute `axis`. Where it is left out `value` becomes a vector of all its
/// elements.
static FailureOr<int64_t> axisOrFlat(NodeLowering &l, Value &value) {
  if (l.hasAttr("axis"))
    return l.axisAttr("axis", l.rank(0));
  value = reshapeByGroups(l, value, l.product(l.dims(value)));
  return 0;
}

static LogicalResult lowerCompress(NodeLowering &l) {
  Value value = l.in(0), condition = l.in(1);
  if (l.rank(1) != 1)
    return l.refuse("the condition has rank " + Twine(l.rank(1)) +
                    ", expected 1");
  FailureOr<int64_t> axis = axisOrFlat(l, value);
  if (failed(axis))
    return failure();
  Dims dims = l.dims(value);
  int64_t rank = dims.size();
  OpFoldResult length = l.dim(condition, 0);
  Value fits = compare(l, IP::ule, length, dims[*axis]);
  l.check(fits, "the condition has {} elements, the axis {}",
          ValueRange{l.asIndex(length), l.asIndex(dims[*axis])});
  // What the check has refused must not be read.
  length = minSigned(l, length, dims[*axis]);
  Value count = loopNest(
      l, length, l.index(0), [&](ValueRange position, ValueRange carried) {
        Value chosen = elementAt(l, condition, position);
        return SmallVector<Value>{plus(l, carried[0], asCount(l, chosen))};
      })[0];
  Dims target = dims;
  target[*axis] = count;
  Value result = l.empty(target, l.elementType(0));
  Dims sizes = dims;
  sizes[*axis] = l.fold(1);
  if (isKnownEmpty(dims)) {
    l.setResult(result);
    return success();
  }
  l.setResult(loopNest(
      l, length, {result, l.index(0)},
      [&](ValueRange position, ValueRange carried) {
        Value chosen = elementAt(l, condition, position);
        return onlyIf(l, chosen, carried, [&] {
          Value filled;
          if (rank == 1) {
            filled = tensor::InsertOp::create(
                l.b, elementAt(l, value, position), carried[0], carried[1]);
          } else {
            Dims from(rank, l.fold(0)), to(rank, l.fold(0));
            from[*axis] = position[0];
            to[*axis] = carried[1];
            Value row = l.slice(value, from, sizes);
            filled = l.insert(row, carried[0], to, sizes);
          }
          return SmallVector<Value>{filled, plus(l, carried[1], l.index(1))};
        });
      })[0]);
  return success();
}

//===----------------------------------------------------------------------===//
// Unique
//===----------------------------------------------------------------------===//

namespace {
/// The items that Unique compares: elements, or slices along an axis in
/// lexicographic order. NaN comes last and equals NaN, as NumPy has it, which
/// compares complex numbers by the real part first.
class Items {
public:
  Items(NodeLowering &l, Value value, int64_t axis)
      : l(l), value(value), axis(axis), inner(l.dims(value)),
        isUnsigned(l.isUnsigned(0)) {
    count = inner[axis];
    inner[axis] = l.fold(1);
  }

  /// -1, 0 or 1 (index) as item `x` is before, the same as, or behind `y`.
  Value compareItems(Value x, Value y);
  /// True if each item is one real number, which is a key to sort by.
  bool areNumbers() const {
    return inner.size() == 1 && !l.isString(0) &&
           !isa<ComplexType>(l.elementType(0));
  }
  SortedNumbers sortNumbers();
  OpFoldResult count;

private:
  /// Element `at` in the type that it is computed in.
  Value read(ValueRange at);
  /// Whether one number comes before the other.
  Value less(Value x, Value y);
  Value lessComplex(Value x, Value y);

  NodeLowering &l;
  Value value;
  int64_t axis;
  Dims inner;
  bool isUnsigned;
};
} // namespace

/// A number with a NaN in one part is NaN.
Value Items::lessComplex(Value x, Value y) {
  auto [xRe, xIm] = partsOf(l, x);
  auto [yRe, yIm] = partsOf(l, y);
  auto is = [&](arith::CmpFPredicate predicate, Value a, Value b) -> Value {
    return arith::CmpFOp::create(l.b, predicate, a, b);
  };
  using FP = arith::CmpFPredicate;
  Value isLess = either(l, is(FP::OLT, xRe, yRe),
                        both(l, is(FP::OEQ, xRe, yRe), is(FP::OLT, xIm, yIm)));
  // The parts of one number are ordered where neither is NaN.
  Value xIsNumber = is(FP::ORD, xRe, xIm), yIsNaN = is(FP::UNO, yRe, yIm);
  Value yIsNumber = is(FP::ORD, yRe, yIm);
  return both(l, xIsNumber, either(l, yIsNaN, both(l, yIsNumber, isLess)));
}

Value Items::less(Value x, Value y) {
  if (l.isString(0)) {
    Value order = callRuntime(l.b, l.b.getLoc(), "loopc_rt_string_compare",
                              {x, y}, l.b.getI64Type());
    Value zero = l.constantInt(l.b.getI64Type(), 0);
    return arith::CmpIOp::create(l.b, IP::slt, order, zero);
  }
  if (isa<ComplexType>(x.getType()))
    return lessComplex(x, y);
  if (!isa<FloatType>(x.getType()))
    return arith::CmpIOp::create(l.b, isUnsigned ? IP::ult : IP::slt, x, y);
  Value isLess = arith::CmpFOp::create(l.b, arith::CmpFPredicate::OLT, x, y);
  Value xIsNumber = arith::CmpFOp::create(l.b, arith::CmpFPredicate::ORD, x, x);
  Value yIsNaN = arith::CmpFOp::create(l.b, arith::CmpFPredicate::UNO, y, y);
  return either(l, isLess, both(l, xIsNumber, yIsNaN));
}

Value Items::read(ValueRange at) {
  return NodeLowering::castScalar(
      l.b, l.b.getLoc(), elementAt(l, value, at), isUnsigned,
      NodeLowering::computeType(l.elementType(0)), isUnsigned);
}

SortedNumbers Items::sortNumbers() {
  NumberRow row{count, NodeLowering::computeType(l.elementType(0)), isUnsigned};
  return sortByDigits(l, row, /*isDescending=*/false,
                      [&](Value at) { return read(at); });
}

Value Items::compareItems(Value x, Value y) {
  return loopNest(
      l, inner, l.index(0), [&](ValueRange position, ValueRange carried) {
        SmallVector<Value> first(position), second(position);
        first[axis] = x;
        second[axis] = y;
        Value a = read(first), b = read(second);
        Value order =
            arith::SelectOp::create(l.b, less(b, a), l.index(1), l.index(0));
        order = arith::SelectOp::create(l.b, less(a, b), l.index(-1), order);
        // The first difference decides.
        Value isOpen =
            arith::CmpIOp::create(l.b, IP::eq, carried[0], l.index(0));
        return SmallVector<Value>{
            arith::SelectOp::create(l.b, isOpen, order, carried[0])};
      })[0];
}

/// How many of the sorted places [from, from + count) of `order` hold items
/// that come before item `key` (or are the same, where `orSame` is true).
/// `steps` halvings suffice.
static Value countBefore(NodeLowering &l, Items &items, Value order, Value from,
                         Value count, Value key, Value orSame, Value steps) {
  Value last = l.asIndex(l.sub(items.count, l.fold(1)));
  SmallVector<Value> bounds = loopNest(
      l, OpFoldResult(steps), {l.index(0), count},
      [&](ValueRange, ValueRange carried) {
        Value low = carried[0], high = carried[1];
        Value isOpen = arith::CmpIOp::create(l.b, IP::slt, low, high);
        Value middle =
            arith::DivUIOp::create(l.b, plus(l, low, high), l.index(2));
        Value at = arith::MinSIOp::create(l.b, plus(l, from, middle), last);
        Value item = tensor::ExtractOp::create(l.b, order, at);
        Value relation = items.compareItems(item, key);
        Value isBefore =
            arith::CmpIOp::create(l.b, IP::slt, relation, l.index(0));
        Value isSame = arith::CmpIOp::create(l.b, IP::eq, relation, l.index(0));
        Value counts = either(l, isBefore, both(l, isSame, orSame));
        Value up = both(l, isOpen, counts);
        Value nextLow =
            arith::SelectOp::create(l.b, up, plus(l, middle, l.index(1)), low);
        Value down = arith::SelectOp::create(l.b, counts, high, middle);
        Value nextHigh = arith::SelectOp::create(l.b, isOpen, down, high);
        return SmallVector<Value>{nextLow, nextHigh};
      });
  return bounds[0];
}

/// `order`, sorted runs of `width` numbers, with every two of them merged: each
/// item finds its place by bisection of the other run, all of them at once. In
/// pass number `pass`.
static Value mergeByPlaces(NodeLowering &l, Items &items, Value order,
                           Value pass, Value width) {
  Value count = l.asIndex(items.count), pair = plus(l, width, width);
  Value steps = plus(l, pass, l.index(1));
  Value merged = l.empty(items.count, l.b.getIndexType());
  return loopNest(l, items.count, merged, [&](ValueRange at, ValueRange out) {
    Value key = tensor::ExtractOp::create(l.b, order, at);
    Value inPair = arith::RemUIOp::create(l.b, at[0], pair);
    Value start = arith::SubIOp::create(l.b, at[0], inPair);
    Value middle = arith::MinSIOp::create(l.b, plus(l, start, width), count);
    Value end = arith::MinSIOp::create(l.b, plus(l, start, pair), count);
    Value isLeft = arith::CmpIOp::create(l.b, IP::ult, inPair, width);
    Value from = arith::SelectOp::create(l.b, isLeft, middle, start);
    Value other = arith::SelectOp::create(
        l.b, isLeft, arith::SubIOp::create(l.b, end, middle),
        arith::SubIOp::create(l.b, middle, start));
    Value isRight =
        arith::XOrIOp::create(l.b, isLeft, l.constantInt(l.b.getI1Type(), 1));
    Value before =
        countBefore(l, items, order, from, other, key, isRight, steps);
    Value own = arith::SelectOp::create(
        l.b, isLeft, inPair, arith::SubIOp::create(l.b, inPair, width));
    Value place = plus(l, start, plus(l, own, before));
    return SmallVector<Value>{
        tensor::InsertOp::create(l.b, key, out[0], place)};
  })[0];
}

/// The same one after the other: of two runs the one whose next item comes
/// first gives it.
static Value mergeInOrder(NodeLowering &l, Items &items, Value order,
                          Value width) {
  Value count = l.asIndex(items.count), pair = plus(l, width, width);
  Value last = l.asIndex(l.sub(items.count, l.fold(1)));
  auto is = [&](IP predicate, Value x, Value y) -> Value {
    return arith::CmpIOp::create(l.b, predicate, x, y);
  };
  auto choose = [&](Value condition, Value x, Value y) -> Value {
    return arith::SelectOp::create(l.b, condition, x, y);
  };
  // Where the two runs go on and end.
  Value zero = l.index(0), first = arith::MinSIOp::create(l.b, width, count);
  Value secondEnd = arith::MinSIOp::create(l.b, pair, count);
  SmallVector<Value> carried{zero, first, first, secondEnd,
                             l.empty(items.count, l.b.getIndexType())};
  return loopNest(l, items.count, carried, [&](ValueRange at, ValueRange c) {
    Value left = c[0], right = c[1], leftEnd = c[2], rightEnd = c[3];
    // Beyond the end of a run anything will do.
    auto readHead = [&](Value place) -> Value {
      place = arith::MinSIOp::create(l.b, place, last);
      return tensor::ExtractOp::create(l.b, order, place);
    };
    Value x = readHead(left), y = readHead(right);
    Value hasLeft = is(IP::ult, left, leftEnd);
    Value hasRight = is(IP::ult, right, rightEnd);
    Value isBefore = is(IP::slt, items.compareItems(y, x), zero);
    Value noLeft =
        arith::XOrIOp::create(l.b, hasLeft, l.constantInt(l.b.getI1Type(), 1));
    Value takesRight = both(l, hasRight, either(l, noLeft, isBefore));
    Value one = l.index(1);
    Value nextLeft = choose(takesRight, left, plus(l, left, one));
    Value nextRight = choose(takesRight, plus(l, right, one), right);
    // On to the next two runs.
    Value place = plus(l, at[0], one);
    Value isDone = is(IP::eq, place, rightEnd);
    Value middle = arith::MinSIOp::create(l.b, plus(l, place, width), count);
    Value end = arith::MinSIOp::create(l.b, plus(l, place, pair), count);
    Value merged =
        tensor::InsertOp::create(l.b, choose(takesRight, y, x), c[4], at);
    return SmallVector<Value>{
        choose(isDone, place, nextLeft), choose(isDone, middle, nextRight),
        choose(isDone, middle, leftEnd), choose(isDone, end, rightEnd), merged};
  })[4];
}

/// The numbers of the items in ascending order, equal ones in the order that
/// they stand in: a merge sort from runs of 1.
static Value mergedOrder(NodeLowering &l, Items &items) {
  Value numbers =
      l.generate(items.count, l.b.getIndexType(),
                 [](OpBuilder &, Location, ValueRange at) { return at[0]; });
  // ceil(log2(count)) passes.
  Value i64Count = arith::IndexCastOp::create(
      l.b, l.b.getI64Type(), l.asIndex(l.sub(items.count, l.fold(1))));
  Value zeros = math::CountLeadingZerosOp::create(l.b, i64Count);
  Value passes = l.toIndex(
      arith::SubIOp::create(l.b, l.constantInt(l.b.getI64Type(), 64), zeros));
  Value hasMany = compare(l, IP::ugt, items.count, l.fold(1));
  passes = arith::SelectOp::create(l.b, hasMany, passes, l.index(0));
  return loopNest(
      l, OpFoldResult(passes), numbers, [&](ValueRange pass, ValueRange c) {
        Value width = arith::ShLIOp::create(l.b, l.index(1), pass[0]);
        // Kernels find places side by side, CPUs have less to do in order.
        return SmallVector<Value>{
            l.channelsLast ? mergeInOrder(l, items, c[0], width)
                           : mergeByPlaces(l, items, c[0], pass[0], width)};
      })[0];
}

namespace {
/// The classes of equal items: tensors as long as there are items, of which
/// `classes` places count (but all of `inverse`).
struct Classes {
  Value classes, firsts, counts, inverse;
};
} // namespace

/// Classes in ascending order of their items.
static Classes sortedClasses(NodeLowering &l, Items &items) {
  // One after the other numbers have their place by their digits.
  SortedNumbers sorted;
  if (l.channelsLast && items.areNumbers())
    sorted = items.sortNumbers();
  Value order = sorted.places ? sorted.places : mergedOrder(l, items);
  Value space = l.empty(items.count, l.b.getIndexType());
  Value zeros = l.filled(items.count, l.index(0));
  SmallVector<Value> found = loopNest(
      l, items.count, {l.index(0), zeros, zeros, space},
      [&](ValueRange at, ValueRange c) {
        Value item = tensor::ExtractOp::create(l.b, order, at);
        Value isStart = arith::CmpIOp::create(l.b, IP::eq, at[0], l.index(0));
        Value before = arith::SelectOp::create(
            l.b, isStart, l.index(0),
            arith::SubIOp::create(l.b, at[0], l.index(1)));
        Value differs;
        if (sorted.keys) {
          Value key = tensor::ExtractOp::create(l.b, sorted.keys, at);
          Value previous = tensor::ExtractOp::create(l.b, sorted.keys, before);
          differs = arith::CmpIOp::create(l.b, IP::ne, previous, key);
        } else {
          Value previous = tensor::ExtractOp::create(l.b, order, before);
          differs = arith::CmpIOp::create(
              l.b, IP::ne, items.compareItems(previous, item), l.index(0));
        }
        Value isNew = either(l, isStart, differs);
        Value classes = plus(l, c[0], asCount(l, isNew));
        Value slot = arith::SubIOp::create(l.b, classes, l.index(1));
        // Equal items stand in order: the first of them is the first of all.
        Value oldFirst = tensor::ExtractOp::create(l.b, c[1], slot);
        Value first = arith::SelectOp::create(l.b, isNew, item, oldFirst);
        Value number =
            plus(l, tensor::ExtractOp::create(l.b, c[2], slot), l.index(1));
        return SmallVector<Value>{
            classes, tensor::InsertOp::create(l.b, first, c[1], slot),
            tensor::InsertOp::create(l.b, number, c[2], slot),
            tensor::InsertOp::create(l.b, slot, c[3], item)};
      });
  return {found[0], found[1], found[2], found[3]};
}

/// The same classes in the order in which they first occur.
static Classes byFirstOccurrence(NodeLowering &l, Items &items,
                                 const Classes &sorted) {
  Value zeros = l.filled(items.count, l.index(0));
  Value space = l.empty(items.count, l.b.getIndexType());
  SmallVector<Value> found = loopNest(
      l, items.count, {l.index(0), zeros, zeros, zeros, space},
      [&](ValueRange at, ValueRange c) {
        Value old = tensor::ExtractOp::create(l.b, sorted.inverse, at);
        Value first = tensor::ExtractOp::create(l.b, sorted.firsts, old);
        Value isNew = arith::CmpIOp::create(l.b, IP::eq, first, at[0]);
        // c[1] renames a class: a class is met first by its first item.
        Value known = tensor::ExtractOp::create(l.b, c[1], old);
        Value name = arith::SelectOp::create(l.b, isNew, c[0], known);
        Value number = tensor::ExtractOp::create(l.b, sorted.counts, old);
        return SmallVector<Value>{
            plus(l, c[0], asCount(l, isNew)),
            tensor::InsertOp::create(l.b, name, c[1], old),
            tensor::InsertOp::create(l.b, first, c[2], name),
            tensor::InsertOp::create(l.b, number, c[3], name),
            tensor::InsertOp::create(l.b, name, c[4], at)};
      });
  return {found[0], found[2], found[3], found[4]};
}

static LogicalResult lowerUnique(NodeLowering &l) {
  Value value = l.in(0);
  if (!l.isString(0) &&
      !isa<FloatType, IntegerType, ComplexType>(l.elementType(0)))
    return l.unsupported("the element type is not supported");
  FailureOr<int64_t> axis = axisOrFlat(l, value);
  if (failed(axis))
    return failure();
  Items items(l, value, *axis);
  Classes result = sortedClasses(l, items);
  if (!l.intAttr("sorted", 1))
    result = byFirstOccurrence(l, items, result);
  Dims target = l.dims(value);
  target[*axis] = result.classes;
  l.setResult(
      0, l.generate(target, l.elementType(0),
                    [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
                      SmallVector<Value> from(at);
                      from[*axis] = tensor::ExtractOp::create(
                          b, loc, result.firsts, at[*axis]);
                      return tensor::ExtractOp::create(b, loc, value, from);
                    }));
  auto numbers = [&](unsigned i, Value from, OpFoldResult count) {
    if (i >= l.numResults() || !l.hasResult(i))
      return;
    l.setResult(
        i, l.generate(count, l.b.getI64Type(),
                      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
                        Value number =
                            tensor::ExtractOp::create(b, loc, from, at[0]);
                        return arith::IndexCastOp::create(
                            b, loc, b.getI64Type(), number);
                      }));
  };
  numbers(1, result.firsts, result.classes);
  numbers(2, result.inverse, items.count);
  numbers(3, result.counts, result.classes);
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

void loopc::addSelectionRows(LoweringTable &table) {
  table.add({
      {"", "NonZero", 9, kLatest, lowerNonZero},
      {"", "Compress", 9, kLatest, lowerCompress},
      {"", "Unique", 11, kLatest, lowerUnique},
  });
}
