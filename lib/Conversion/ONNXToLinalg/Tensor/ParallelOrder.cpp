//===- ParallelOrder.cpp - The best elements of lines, by threads ---------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ParallelOrder.h"
#include "Framework/ShapeUtils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

/// So many are looked for one after the other.
static constexpr int64_t kFew = 16;
/// Extents of lines up to which counting is less than that.
static constexpr int64_t kShortLine = 256;
/// What is taken off for the index of an element in its key: all lines that can
/// be packed end there, and the largest number of 64 bits is no key.
static constexpr int64_t kLastIndex = 0xFFFFFFFE;

namespace {
class ParallelOrder {
public:
  ParallelOrder(NodeLowering &l, const BestOfLines &order)
      : l(l), order(order), b(l.b), i64(l.b.getI64Type()),
        element(getElementTypeOrSelf(order.input.getType())),
        rank(cast<RankedTensorType>(order.input.getType()).getRank()) {}

  Value run();

private:
  Value key(OpBuilder &b, Location loc, Value value, Value index);
  Value makeKeys();
  Value findByRounds(Value keys);
  Value findByRanks(Value keys);
  /// A sum, or whatever `body` makes of an element and what there is, over the
  /// last of `rank + 1` loops, or over `axis`.
  Value reduce(ValueRange inputs, ArrayRef<AffineMap> maps, Value init,
               int64_t along,
               llvm::function_ref<Value(OpBuilder &, Location, ValueRange)>);
  /// The identity on `dims` loops without number `without`, or with number
  /// `with` in the place of the axis.
  AffineMap map(int64_t dims, int64_t axisIs);
  AffineMap mapWithoutAxis();

  NodeLowering &l;
  const BestOfLines &order;
  ImplicitLocOpBuilder &b;
  Type i64, element;
  int64_t rank;
};
} // namespace

/// A number that is larger for what is better: the value in an order of
/// integers, and, where there is room, the index behind it.
Value ParallelOrder::key(OpBuilder &at, Location loc, Value value,
                         Value index) {
  ImplicitLocOpBuilder b(loc, at);
  unsigned width = order.isPacked ? 32 : 64;
  Type integer = b.getIntegerType(width);
  auto constant = [&](Type type, int64_t number) -> Value {
    return arith::ConstantOp::create(
        b, b.getIntegerAttr(type, APInt(type.getIntOrFloatBitWidth(), number,
                                        /*isSigned=*/true)));
  };
  int64_t most = width == 32 ? INT32_MAX : INT64_MAX;
  Value bits;
  if (isa<FloatType>(element)) {
    Type type = order.isPacked ? Type(b.getF32Type()) : b.getF64Type();
    if (element != type)
      value = NodeLowering::castScalar(b, loc, value, false, type, false);
    // Both zeros are equal, and so is all that is no number.
    Value zero = arith::ConstantOp::create(b, b.getFloatAttr(type, 0));
    Value isZero =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, value, zero);
    Value isNaN =
        arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
    bits = arith::BitcastOp::create(b, integer, value);
    // Negative numbers stand the other way round.
    Value sign = arith::ShRSIOp::create(b, bits, constant(integer, width - 1));
    Value flip = arith::AndIOp::create(b, sign, constant(integer, most));
    bits = arith::XOrIOp::create(b, bits, flip);
    bits = arith::SelectOp::create(b, isZero, constant(integer, 0), bits);
    bits = arith::SelectOp::create(b, isNaN, constant(integer, most), bits);
  } else {
    bits = value;
    if (value.getType() != integer)
      bits = order.isUnsigned
                 ? arith::ExtUIOp::create(b, integer, value).getResult()
                 : arith::ExtSIOp::create(b, integer, value).getResult();
    else if (order.isUnsigned)
      bits = arith::XOrIOp::create(b, bits, constant(integer, -most - 1));
  }
  if (!order.isLargest)
    bits = arith::XOrIOp::create(b, bits, constant(integer, -1));
  if (!order.isPacked)
    return bits;
  Value high = arith::ShLIOp::create(b, arith::ExtSIOp::create(b, i64, bits),
                                     constant(i64, 32));
  Value low = arith::SubIOp::create(b, constant(i64, kLastIndex),
                                    arith::IndexCastOp::create(b, i64, index));
  return arith::OrIOp::create(b, high, low);
}

Value ParallelOrder::makeKeys() {
  return l.generate(
      l.dims(order.input), i64, [&](OpBuilder &b, Location loc, ValueRange at) {
        Value value = tensor::ExtractOp::create(b, loc, order.input, at);
        return key(b, loc, value, at[order.axis]);
      });
}

AffineMap ParallelOrder::map(int64_t dims, int64_t axisIs) {
  SmallVector<AffineExpr> exprs;
  for (int64_t k = 0; k < rank; ++k)
    exprs.push_back(b.getAffineDimExpr(k == order.axis ? axisIs : k));
  return AffineMap::get(dims, 0, exprs, b.getContext());
}

AffineMap ParallelOrder::mapWithoutAxis() {
  return b.getMultiDimIdentityMap(rank).dropResult(order.axis);
}

Value ParallelOrder::reduce(
    ValueRange inputs, ArrayRef<AffineMap> maps, Value init, int64_t along,
    llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
  SmallVector<utils::IteratorType> iterators(maps.front().getNumDims(),
                                             utils::IteratorType::parallel);
  iterators[along] = utils::IteratorType::reduction;
  return linalg::GenericOp::create(
             b, init.getType(), inputs, init, maps, iterators,
             [&](OpBuilder &b, Location loc, ValueRange values) {
               linalg::YieldOp::create(b, loc, body(b, loc, values));
             })
      .getResult(0);
}

Value ParallelOrder::findByRounds(Value keys) {
  Dims target = l.dims(order.input), lines = target, ones = target;
  lines.erase(lines.begin() + order.axis);
  ones[order.axis] = l.fold(1);
  target[order.axis] = order.count;
  Value least = l.constantInt(i64, INT64_MIN);
  Value found = l.filled(target, l.constantInt(i64, 0));
  return loopNest(
             l, OpFoldResult(order.k), found,
             [&](ValueRange round, ValueRange carried) -> SmallVector<Value> {
               Value indices = carried[0], number = round[0];
               // The key of the one before, above all others at first.
               Value before = l.generate(
                   lines, i64,
                   [&](OpBuilder &at, Location loc, ValueRange line) {
                     ImplicitLocOpBuilder b(loc, at);
                     auto index = [&](int64_t value) -> Value {
                       return arith::ConstantIndexOp::create(b, value);
                     };
                     Value isFirst =
                         arith::CmpIOp::create(b, IP::eq, number, index(0));
                     Value last = arith::SubIOp::create(b, number, index(1));
                     last = arith::SelectOp::create(b, isFirst, number, last);
                     SmallVector<Value> place(line);
                     place.insert(place.begin() + order.axis, last);
                     Value chosen =
                         tensor::ExtractOp::create(b, indices, place);
                     place[order.axis] = arith::IndexCastOp::create(
                         b, b.getIndexType(), chosen);
                     Value there = tensor::ExtractOp::create(b, keys, place);
                     Value most = arith::ConstantOp::create(
                         b, b.getI64IntegerAttr(INT64_MAX));
                     return arith::SelectOp::create(b, isFirst, most, there);
                   });
               Value best = reduce(
                   {keys, before},
                   {b.getMultiDimIdentityMap(rank), mapWithoutAxis(),
                    mapWithoutAxis()},
                   l.filled(lines, least), order.axis,
                   [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
                     Value isWorse =
                         arith::CmpIOp::create(b, loc, IP::slt, v[0], v[1]);
                     Value other = arith::ConstantOp::create(
                         b, loc, b.getI64IntegerAttr(INT64_MIN));
                     Value one =
                         arith::SelectOp::create(b, loc, isWorse, v[0], other);
                     return arith::MaxSIOp::create(b, loc, one, v[2]);
                   });
               Value chosen = l.generate(
                   ones, i64,
                   [&](OpBuilder &at, Location loc, ValueRange place) {
                     ImplicitLocOpBuilder b(loc, at);
                     SmallVector<Value> line(place);
                     line.erase(line.begin() + order.axis);
                     Value bits = tensor::ExtractOp::create(b, best, line);
                     auto constant = [&](int64_t value) -> Value {
                       return arith::ConstantOp::create(
                           b, b.getI64IntegerAttr(value));
                     };
                     Value low =
                         arith::AndIOp::create(b, bits, constant(UINT32_MAX));
                     return arith::SubIOp::create(b, constant(kLastIndex), low)
                         .getResult();
                   });
               Dims offsets(rank, l.fold(0));
               offsets[order.axis] = number;
               return {l.insert(chosen, indices, offsets, ones)};
             })
      .front();
}

Value ParallelOrder::findByRanks(Value keys) {
  Dims dims = l.dims(order.input), target = dims;
  target[order.axis] = order.count;
  Value zero = l.constantInt(i64, 0);
  auto addWhere = [](OpBuilder &b, Location loc, Value condition, Value value,
                     Value sum) -> Value {
    Value zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
    Value part = arith::SelectOp::create(b, loc, condition, value, zero);
    return arith::AddIOp::create(b, loc, part, sum);
  };
  // How many are better than each.
  Value ranks = reduce(
      {keys, keys},
      {map(rank + 1, order.axis), map(rank + 1, rank),
       map(rank + 1, order.axis)},
      l.filled(dims, zero), rank,
      [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
        Value isBetter = arith::CmpIOp::create(b, loc, IP::sgt, v[1], v[0]);
        if (!order.isPacked) {
          Value isEqual = arith::CmpIOp::create(b, loc, IP::eq, v[1], v[0]);
          Value mine = linalg::IndexOp::create(b, loc, order.axis);
          Value other = linalg::IndexOp::create(b, loc, rank);
          Value isBefore = arith::CmpIOp::create(b, loc, IP::ult, other, mine);
          isBetter = arith::OrIOp::create(
              b, loc, isBetter,
              arith::AndIOp::create(b, loc, isEqual, isBefore));
        }
        Value one = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1));
        return addWhere(b, loc, isBetter, one, v[2]);
      });
  // Which one has each rank.
  return reduce({ranks}, {map(rank + 1, rank), map(rank + 1, order.axis)},
                l.filled(target, zero), rank,
                [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
                  auto number = [&](int64_t loop) -> Value {
                    Value index = linalg::IndexOp::create(b, loc, loop);
                    return arith::IndexCastOp::create(b, loc, i64, index);
                  };
                  Value isIt = arith::CmpIOp::create(b, loc, IP::eq, v[0],
                                                     number(order.axis));
                  return addWhere(b, loc, isIt, number(rank), v[1]);
                });
}

Value ParallelOrder::run() {
  Value keys = makeKeys();
  std::optional<int64_t> wanted = getConstantIntValue(order.count);
  std::optional<int64_t> length =
      getConstantIntValue(l.dim(order.input, order.axis));
  bool isShort = length && *length <= kShortLine && (!wanted || *wanted > 1);
  if (!order.isPacked || isShort || (wanted && *wanted > kFew))
    return findByRanks(keys);
  if (wanted)
    return findByRounds(keys);
  Value areFew = arith::CmpIOp::create(b, IP::ule, order.k, l.index(kFew));
  Dims target = l.dims(order.input);
  target[order.axis] = order.count;
  Type type = l.empty(target, i64).getType();
  auto branch = scf::IfOp::create(b, type, areFew, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, findByRounds(keys));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, findByRanks(keys));
  return branch.getResult(0);
}

Value loopc::findBestOfLines(NodeLowering &l, const BestOfLines &order) {
  return ParallelOrder(l, order).run();
}
