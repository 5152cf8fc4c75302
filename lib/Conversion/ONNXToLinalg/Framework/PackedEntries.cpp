//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackedEntries.h"
#include "ElementwiseUtils.h"
#include "ShapeUtils.h"

using namespace mlir;
using namespace loopc;

/// Bits of an entry that its place takes.
static constexpr int64_t kPlaceBits = 32;
static constexpr int64_t kLastPlace = std::numeric_limits<uint32_t>::max();
/// Elements of a line whose entries are packed: one less than there are places,
/// so that no entry is the largest number.
static constexpr int64_t kMaxElements = kLastPlace;

bool loopc::canPackEntries(NodeLowering &l, Type type, OpFoldResult length) {
  if (type.getIntOrFloatBitWidth() > 64 - kPlaceBits)
    return false;
  if (std::optional<int64_t> known = getConstantIntValue(length))
    return *known <= kMaxElements;
  l.check(compare(l, arith::CmpIPredicate::ule, length, l.fold(kMaxElements)),
          "a line has {} elements, more than 4294967295",
          ValueRange{l.asIndex(length)});
  return true;
}

/// The bits of a number as one that is larger for a larger number, and back:
/// of negative ones the larger bits are the smaller number.
static Value flipNegative(ScalarBuilder &s, Value bits) {
  Type type = bits.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Value sign = s.make<arith::ShRSIOp>(bits, s.integer(type, width - 1));
  Value most = s.integer(type, llvm::maxIntN(width));
  return s.make<arith::XOrIOp>(bits, s.make<arith::AndIOp>(sign, most));
}

/// All NaNs are equal, above all numbers.
static Value orderOfFloat(NodeLowering &l, ScalarBuilder &s, Value value) {
  unsigned width = value.getType().getIntOrFloatBitWidth();
  Type type = l.b.getIntegerType(width);
  Value order = flipNegative(s, arith::BitcastOp::create(l.b, type, value));
  return s.select(s.equal(value, value), order,
                  s.integer(type, llvm::maxIntN(width)));
}

Value loopc::orderOf(NodeLowering &l, Value value, bool isUnsigned) {
  ScalarBuilder s(l.b, l.b.getLoc());
  Type type = value.getType(), i32 = l.b.getI32Type();
  // -0 and 0 are equal.
  if (isa<FloatType>(type))
    return orderOfFloat(l, s, s.add(value, s.constant(type, 0)));
  unsigned width = type.getIntOrFloatBitWidth();
  if (width < 32 && (isUnsigned || width == 1))
    return arith::ExtUIOp::create(l.b, i32, value);
  if (width < 32)
    return arith::ExtSIOp::create(l.b, i32, value);
  return isUnsigned ? s.make<arith::XOrIOp>(
                          value, s.integer(type, llvm::minIntN(width)))
                    : value;
}

Value loopc::packEntry(NodeLowering &l, Value value, Value place,
                       bool isUnsigned, bool isLargest) {
  ScalarBuilder s(l.b, l.b.getLoc());
  Type i64 = l.b.getI64Type();
  Value order = arith::ExtSIOp::create(l.b, i64, orderOf(l, value, isUnsigned));
  if (!isLargest)
    order = s.make<arith::XOrIOp>(order, s.integer(i64, -1));
  Value above = s.make<arith::ShLIOp>(order, s.integer(i64, kPlaceBits));
  Value number = arith::IndexCastOp::create(l.b, i64, place);
  Value below = s.sub(s.integer(i64, kLastPlace), number);
  return s.make<arith::OrIOp>(above, below);
}

Value loopc::packValue(NodeLowering &l, Value value, bool isLargest) {
  ScalarBuilder s(l.b, l.b.getLoc());
  Value order = orderOfFloat(l, s, value);
  return isLargest
             ? order
             : s.make<arith::XOrIOp>(order, s.integer(order.getType(), -1));
}

Value loopc::valueOfPacked(NodeLowering &l, Value packed, bool isLargest) {
  ScalarBuilder s(l.b, l.b.getLoc());
  if (!isLargest)
    packed = s.make<arith::XOrIOp>(packed, s.integer(packed.getType(), -1));
  return arith::BitcastOp::create(l.b, l.b.getF32Type(),
                                  flipNegative(s, packed));
}

Value loopc::placeOfEntry(NodeLowering &l, Value packed) {
  ScalarBuilder s(l.b, l.b.getLoc());
  Value last = s.integer(l.b.getI64Type(), kLastPlace);
  return l.toIndex(s.sub(last, s.make<arith::AndIOp>(packed, last)));
}
