//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A radix sort, the least digit first: no step compares two keys, so that none
// waits for a branch or for the load before. Digits are of bits that differ
// between keys: numbers of a small range have one or two.

#include "DigitSort.h"
#include "Framework/ElementwiseUtils.h"
#include "Framework/PackedEntries.h"
#include "Framework/ShapeUtils.h"

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

/// Bits of a digit; its counts stay in the first cache.
static constexpr int64_t kDigitBits = 8;
static constexpr int64_t kDigits = 1 << kDigitBits;

namespace {
class DigitSort {
public:
  DigitSort(NodeLowering &l, Type type, OpFoldResult count)
      : l(l), s(l.b, l.b.getLoc()), type(type), count(count) {}

  SortedNumbers sort(Value keys);

private:
  Value findVaryingBits(Value keys);
  /// Where the digit of the lowest of `bits` begins.
  Value lowestOf(Value bits);
  Value withoutDigit(Value bits, Value shift);
  Value digitOf(Value key, Value shift);
  Value countDigits(Value keys, Value shift);
  /// In front of how many keys those of each digit come.
  Value findStarts(Value counts);
  SmallVector<Value> pass(Value keys, Value places, Value bits);
  Value next(Value number) {
    return arith::AddIOp::create(l.b, number, l.index(1));
  }

  NodeLowering &l;
  ScalarBuilder s;
  Type type;
  OpFoldResult count;
};
} // namespace

/// Bits that are set in some keys, and not in all.
Value DigitSort::findVaryingBits(Value keys) {
  Value ones = s.integer(type, -1);
  SmallVector<Value> found = loopNest(
      l, count, {s.integer(type, 0), ones}, [&](ValueRange at, ValueRange c) {
        Value key = tensor::ExtractOp::create(l.b, keys, at);
        return SmallVector<Value>{arith::OrIOp::create(l.b, c[0], key),
                                  arith::AndIOp::create(l.b, c[1], key)};
      });
  return s.make<arith::AndIOp>(found[0], s.make<arith::XOrIOp>(found[1], ones));
}

Value DigitSort::lowestOf(Value bits) {
  // Of no bits it would be one that is not there.
  Value last = s.integer(type, type.getIntOrFloatBitWidth() - 1);
  Value lowest = math::CountTrailingZerosOp::create(l.b, bits);
  return arith::MinUIOp::create(l.b, lowest, last);
}

Value DigitSort::withoutDigit(Value bits, Value shift) {
  Value digit = arith::ShLIOp::create(l.b, s.integer(type, kDigits - 1), shift);
  Value others = arith::XOrIOp::create(l.b, digit, s.integer(type, -1));
  return arith::AndIOp::create(l.b, bits, others);
}

Value DigitSort::digitOf(Value key, Value shift) {
  Value shifted = arith::ShRUIOp::create(l.b, key, shift);
  Value digit =
      arith::AndIOp::create(l.b, shifted, s.integer(type, kDigits - 1));
  return arith::IndexCastUIOp::create(l.b, l.b.getIndexType(), digit);
}

Value DigitSort::countDigits(Value keys, Value shift) {
  Value none = l.filled(l.fold(kDigits), l.index(0));
  return loopNest(l, count, none, [&](ValueRange at, ValueRange c) {
    Value digit = digitOf(tensor::ExtractOp::create(l.b, keys, at), shift);
    Value number = tensor::ExtractOp::create(l.b, c[0], digit);
    return SmallVector<Value>{
        tensor::InsertOp::create(l.b, next(number), c[0], digit)};
  })[0];
}

Value DigitSort::findStarts(Value counts) {
  return loopNest(l, l.fold(kDigits), {counts, l.index(0)},
                  [&](ValueRange digit, ValueRange c) {
                    Value number = tensor::ExtractOp::create(l.b, c[0], digit);
                    return SmallVector<Value>{
                        tensor::InsertOp::create(l.b, c[1], c[0], digit),
                        arith::AddIOp::create(l.b, c[1], number)};
                  })[0];
}

SmallVector<Value> DigitSort::pass(Value keys, Value places, Value bits) {
  Value shift = lowestOf(bits);
  Value starts = findStarts(countDigits(keys, shift));
  Value nextKeys = l.empty(count, type);
  Value nextPlaces = l.empty(count, l.b.getIndexType());
  SmallVector<Value> sorted =
      loopNest(l, count, {nextKeys, nextPlaces, starts},
               [&](ValueRange at, ValueRange c) {
                 Value key = tensor::ExtractOp::create(l.b, keys, at);
                 Value place = tensor::ExtractOp::create(l.b, places, at);
                 Value digit = digitOf(key, shift);
                 Value to = tensor::ExtractOp::create(l.b, c[2], digit);
                 return SmallVector<Value>{
                     tensor::InsertOp::create(l.b, key, c[0], to),
                     tensor::InsertOp::create(l.b, place, c[1], to),
                     tensor::InsertOp::create(l.b, next(to), c[2], digit)};
               });
  return {sorted[0], sorted[1], withoutDigit(bits, shift)};
}

SortedNumbers DigitSort::sort(Value keys) {
  Value bits = findVaryingBits(keys);
  int64_t most = llvm::divideCeil(type.getIntOrFloatBitWidth(), kDigitBits);
  Value passes = loopNest(
      l, l.fold(most), {bits, l.index(0)}, [&](ValueRange, ValueRange c) {
        Value isOpen =
            arith::CmpIOp::create(l.b, IP::ne, c[0], s.integer(type, 0));
        return SmallVector<Value>{
            withoutDigit(c[0], lowestOf(c[0])),
            arith::SelectOp::create(l.b, isOpen, next(c[1]), c[1])};
      })[1];
  Value places =
      l.generate(count, l.b.getIndexType(),
                 [](OpBuilder &, Location, ValueRange at) { return at[0]; });
  SmallVector<Value> sorted = loopNest(
      l, OpFoldResult(passes), {keys, places, bits},
      [&](ValueRange, ValueRange c) { return pass(c[0], c[1], c[2]); });
  return {sorted[0], sorted[1]};
}

SortedNumbers loopc::sortByDigits(NodeLowering &l, const NumberRow &row,
                                  bool isDescending,
                                  llvm::function_ref<Value(Value)> read) {
  unsigned width = std::max(32u, row.type.getIntOrFloatBitWidth());
  Type type = l.b.getIntegerType(width);
  // In ascending order, without a sign.
  int64_t turned = isDescending ? llvm::maxIntN(width) : llvm::minIntN(width);
  Value keys =
      l.generate(row.count, type, [&](OpBuilder &b, Location, ValueRange at) {
        OpBuilder::InsertionGuard guard(l.b);
        l.b.restoreInsertionPoint(b.saveInsertionPoint());
        Value order = orderOf(l, read(at[0]), row.isUnsigned);
        return arith::XOrIOp::create(l.b, order, l.constantInt(type, turned))
            .getResult();
      });
  return DigitSort(l, type, row.count).sort(keys);
}
