//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sequences and optionals: operations on lists (list.*). A tensor goes into
// a list and comes out of it as its elements in C order and its shape, which is
// what onnx-lower-unranked makes of a tensor of unknown rank.

#include "Framework/ShapeUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace loopc;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Elements and shape of a tensor of element type `element`.
static SmallVector<Type> partTypes(Type element) {
  Type i64 = IntegerType::get(element.getContext(), 64);
  return {RankedTensorType::get({ShapedType::kDynamic}, element),
          RankedTensorType::get({ShapedType::kDynamic}, i64)};
}

/// What stands for `value`, a tensor or a list, in an operation on lists.
static SmallVector<Value> partsOf(NodeLowering &l, Value value) {
  auto tensor = dyn_cast<TensorType>(value.getType());
  if (!tensor)
    return {value};
  auto unranked = UnrankedTensorType::get(tensor.getElementType());
  if (tensor != unranked)
    value = tensor::CastOp::create(l.b, unranked, value);
  return UnrealizedConversionCastOp::create(
             l.b, partTypes(tensor.getElementType()), value)
      .getResults();
}

/// The tensor of unknown rank, or the list, that `parts` stand for.
static Value wholeOf(NodeLowering &l, ValueRange parts) {
  if (parts.size() == 1)
    return parts.front();
  auto elements = cast<TensorType>(parts.front().getType());
  return UnrealizedConversionCastOp::create(
             l.b, UnrankedTensorType::get(elements.getElementType()), parts)
      .getResult(0);
}

/// Element `position` of `list`, which is in range, in its parts.
static SmallVector<Value> partsAt(NodeLowering &l, Value list, Value position) {
  Type element = cast<list::ListType>(list.getType()).getElement();
  SmallVector<Type> types = isa<list::ListType>(element)
                                ? SmallVector<Type>{element}
                                : partTypes(element);
  return list::AtOp::create(l.b, types, list, position).getResults();
}

static Value insert(NodeLowering &l, Value list, Value position, Value value) {
  return list::InsertOp::create(l.b, list.getType(), list, position,
                                partsOf(l, value),
                                /*element_owner=*/StringAttr());
}

static Value lengthOfList(NodeLowering &l, Value list) {
  return l.b.createOrFold<list::LengthOp>(list);
}

static Value emptyResult(NodeLowering &l) {
  return list::EmptyOp::create(l.b, toSignless(l.node.getResult(0).getType()));
}

/// A scalar as a tensor of rank 0.
static Value asTensor(NodeLowering &l, Value scalar) {
  return tensor::FromElementsOp::create(
      l.b, RankedTensorType::get({}, scalar.getType()), scalar);
}

//===----------------------------------------------------------------------===//
// Positions (seq_index)
//===----------------------------------------------------------------------===//

/// Integer input `i`, one element of whatever rank, as index.
static Value positionInput(NodeLowering &l, unsigned i) {
  Value value = l.in(i);
  if (isa<UnrankedTensorType>(value.getType()))
    value = partsOf(l, value).front();
  return l.toIndex(value, l.isUnsigned(i));
}

/// `position`, from the end where it is negative; the run ends with an error
/// where that is not in [0, limit).
static Value checkedPosition(NodeLowering &l, Value position, Value length,
                             Value limit) {
  Value zero = l.index(0);
  Value isNegative = l.b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt,
                                                     position, zero);
  Value fromEnd = l.b.createOrFold<arith::AddIOp>(position, length);
  Value at = l.b.createOrFold<arith::SelectOp>(isNegative, fromEnd, position);
  // A negative number is a large one.
  Value inRange =
      l.b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, at, limit);
  l.check(inRange, "position {} is out of range for a sequence of {}",
          {position, length});
  return at;
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

static LogicalResult lowerSequenceEmpty(NodeLowering &l) {
  // The type of the result says it.
  l.ignoreAttr("dtype");
  l.setResult(emptyResult(l));
  return success();
}

static LogicalResult lowerSequenceConstruct(NodeLowering &l) {
  Value list = emptyResult(l);
  for (auto [k, value] : llvm::enumerate(l.allInputs()))
    list = insert(l, list, l.index(k), value);
  l.setResult(list);
  return success();
}

static LogicalResult lowerSequenceInsert(NodeLowering &l) {
  Value list = l.in(0);
  Value length = lengthOfList(l, list), position = length;
  if (l.has(2))
    position =
        checkedPosition(l, positionInput(l, 2), length,
                        l.b.createOrFold<arith::AddIOp>(length, l.index(1)));
  l.setResult(insert(l, list, position, l.in(1)));
  return success();
}

static LogicalResult lowerSequenceErase(NodeLowering &l) {
  Value list = l.in(0);
  Value length = lengthOfList(l, list);
  Value position = l.has(1) ? positionInput(l, 1) : l.index(-1);
  position = checkedPosition(l, position, length, length);
  l.setResult(list::EraseOp::create(l.b, list.getType(), list, position));
  return success();
}

static LogicalResult lowerSequenceAt(NodeLowering &l) {
  Value list = l.in(0);
  Value length = lengthOfList(l, list);
  Value position = checkedPosition(l, positionInput(l, 1), length, length);
  l.setResult(wholeOf(l, partsAt(l, list, position)));
  return success();
}

static LogicalResult lowerSequenceLength(NodeLowering &l) {
  l.setResult(asTensor(l, l.b.createOrFold<arith::IndexCastOp>(
                              l.b.getI64Type(), lengthOfList(l, l.in(0)))));
  return success();
}

//===----------------------------------------------------------------------===//
// SplitToSequence
//===----------------------------------------------------------------------===//

namespace {
/// The parts that an axis is split into.
struct Split {
  Value count;
  /// The size of part `k`, which begins at `offset`.
  std::function<Value(Value k, Value offset)> size;
  bool keepsAxis = true;
};
} // namespace

/// Parts of one size, but for the last one.
static Split splitEvenly(NodeLowering &l, Value size, Value extent) {
  Value one = l.index(1);
  l.check(l.b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sge, size, one),
          "split is {}, less than 1", size);
  // What the check has refused must still be safe to divide by.
  Value safe = l.b.createOrFold<arith::MaxSIOp>(size, one);
  return {l.b.createOrFold<arith::CeilDivUIOp>(extent, safe),
          [&l, safe, extent](Value, Value offset) {
            Value rest = arith::SubIOp::create(l.b, extent, offset);
            return Value(arith::MinSIOp::create(l.b, safe, rest));
          }};
}

/// Parts whose sizes the 1-D tensor `sizes` has.
static Split splitBySizes(NodeLowering &l, Value sizes, Value extent) {
  return {
      l.asIndex(l.dim(sizes, 0)), [&l, sizes, extent](Value k, Value offset) {
        Value size =
            l.toIndex(tensor::ExtractOp::create(l.b, sizes, k).getResult());
        Value rest = arith::SubIOp::create(l.b, extent, offset);
        Value fits =
            arith::CmpIOp::create(l.b, arith::CmpIPredicate::ule, size, rest);
        l.check(fits,
                "part {} of size {} does not fit, {} of the axis are left",
                {k, size, rest});
        return size;
      }};
}

static FailureOr<Split> readSplit(NodeLowering &l, Value extent) {
  bool keepdims = l.intAttr("keepdims", 1) != 0;
  if (!l.has(1)) {
    Split split = splitEvenly(l, l.index(1), extent);
    split.keepsAxis = keepdims;
    return split;
  }
  if (l.rank(1) == 0)
    return splitEvenly(l, l.toIndex(l.in(1)), extent);
  if (l.rank(1) != 1)
    return LogicalResult(l.refuse("'split' must have rank 0 or 1"));
  return splitBySizes(l, l.in(1), extent);
}

static LogicalResult lowerSplitToSequence(NodeLowering &l) {
  Value value = l.in(0);
  int64_t rank = l.rank(0);
  FailureOr<int64_t> axis = l.axisAttr("axis", rank);
  if (failed(axis))
    return failure();
  Value extent = l.asIndex(l.dim(value, *axis));
  FailureOr<Split> split = readSplit(l, extent);
  if (failed(split))
    return failure();
  SmallVector<Value> results = loopNest(
      l, Dims{split->count}, {emptyResult(l), l.index(0)},
      [&](ValueRange position, ValueRange carried) -> SmallVector<Value> {
        Value offset = carried[1];
        Value size = split->size(position[0], offset);
        Dims offsets(rank, l.fold(0)), sizes = l.dims(value);
        offsets[*axis] = offset;
        sizes[*axis] = split->keepsAxis ? OpFoldResult(size) : l.fold(1);
        Value part = split->keepsAxis
                         ? l.slice(value, offsets, sizes)
                         : sliceDropping(l, value, offsets, sizes, {*axis});
        return {insert(l, carried[0], position[0], part),
                arith::AddIOp::create(l.b, offset, size)};
      });
  if (l.has(1) && l.rank(1) == 1)
    l.check(l.b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                            results[1], extent),
            "the parts have {} elements of an axis of {}",
            {results[1], extent});
  l.setResult(results[0]);
  return success();
}

//===----------------------------------------------------------------------===//
// ConcatFromSequence
//===----------------------------------------------------------------------===//

namespace {
/// Tensors of any rank, each seen as (outer, middle, inner).
class Concatenation {
public:
  Concatenation(NodeLowering &l, Value list, int64_t axis, bool stacks)
      : l(l), list(list), stacks(stacks), zero(l.index(0)), one(l.index(1)),
        count(lengthOfList(l, list)) {
    l.check(compare(l, arith::CmpIPredicate::ne, count, zero),
            "the sequence is empty");
    shape = partsAt(l, list, zero)[1];
    rank = tensor::DimOp::create(l.b, shape, zero);
    resultRank = stacks ? l.b.createOrFold<arith::AddIOp>(rank, one) : rank;
    Value given = l.index(axis);
    at = axis < 0 ? l.b.createOrFold<arith::AddIOp>(resultRank, given) : given;
    l.check(compare(l, arith::CmpIPredicate::ult, at, resultRank),
            "axis {} is out of range for rank {}", {given, resultRank});
    behind = stacks ? at : l.b.createOrFold<arith::AddIOp>(at, one);
  }

  Value build() {
    Value total = measure();
    OpFoldResult outer = folded(product(zero, at));
    OpFoldResult inner = folded(product(behind, rank));
    Type type = cast<list::ListType>(list.getType()).getElement();
    Value empty = l.empty({outer, folded(total), inner}, type);
    SmallVector<Value> joined = loopNest(
        l, Dims{count}, {empty, zero},
        [&](ValueRange position, ValueRange carried) -> SmallVector<Value> {
          SmallVector<Value> parts = partsAt(l, list, position[0]);
          Value middle = middleOf(parts[1]);
          Dims sizes{outer, folded(middle), inner};
          Value part = l.reshape(parts[0], sizes);
          Dims offsets{l.fold(0), carried[1], l.fold(0)};
          return {l.insert(part, carried[0], offsets, sizes),
                  arith::AddIOp::create(l.b, carried[1], middle)};
        });
    Value flat = tensor::CollapseShapeOp::create(
        l.b, joined[0], SmallVector<ReassociationIndices>{{0, 1, 2}});
    return wholeOf(l, {flat, resultShape(total)});
  }

private:
  /// A constant is an attribute: types are made of these.
  static OpFoldResult folded(Value value) { return getAsOpFoldResult(value); }
  Value extentAt(Value shape, Value axis) {
    return l.toIndex(tensor::ExtractOp::create(l.b, shape, axis).getResult());
  }
  Value middleOf(Value shape) { return stacks ? one : extentAt(shape, at); }

  /// The product of extents `begin` to `end`.
  Value product(Value begin, Value end) {
    auto loop = scf::ForOp::create(l.b, begin, end, one, one);
    OpBuilder::InsertionGuard guard(l.b);
    l.b.setInsertionPointToStart(loop.getBody());
    Value next = arith::MulIOp::create(l.b, loop.getRegionIterArg(0),
                                       extentAt(shape, loop.getInductionVar()));
    scf::YieldOp::create(l.b, next);
    return loop.getResult(0);
  }

  /// Holds all elements to the shape of the first one; the extent of the axis.
  Value measure() {
    SmallVector<Value> total = loopNest(
        l, Dims{count}, zero,
        [&](ValueRange position, ValueRange carried) -> SmallVector<Value> {
          Value other = partsAt(l, list, position[0])[1];
          Value otherRank = tensor::DimOp::create(l.b, other, zero);
          l.check(compare(l, arith::CmpIPredicate::eq, otherRank, rank),
                  "element {} has rank {} but element 0 has rank {}",
                  {position[0], otherRank, rank});
          checkShape(other, position[0]);
          return {arith::AddIOp::create(l.b, carried[0], middleOf(other))};
        });
    return total[0];
  }

  void checkShape(Value other, Value number) {
    auto loop = scf::ForOp::create(l.b, zero, rank, one);
    OpBuilder::InsertionGuard guard(l.b);
    l.b.setInsertionPointToStart(loop.getBody());
    Value axis = loop.getInductionVar();
    Value actual = extentAt(other, axis), expected = extentAt(shape, axis);
    Value fits = compare(l, arith::CmpIPredicate::eq, actual, expected);
    if (!stacks)
      fits = either(l, fits, compare(l, arith::CmpIPredicate::eq, axis, at));
    l.check(fits,
            "dimension {} of element {} is {} but that of element 0 is {}",
            {axis, number, actual, expected});
  }

  Value resultShape(Value total) {
    Value result = l.empty({OpFoldResult(resultRank)}, l.b.getI64Type());
    auto copy = [&](Value from, Value to, Value size) {
      Value part = l.slice(shape, {from}, {size});
      result = l.insert(part, result, {to}, {size});
    };
    copy(zero, zero, at);
    copy(behind, l.b.createOrFold<arith::AddIOp>(at, one),
         l.b.createOrFold<arith::SubIOp>(rank, behind));
    Value extent =
        l.b.createOrFold<arith::IndexCastOp>(l.b.getI64Type(), total);
    return tensor::InsertOp::create(l.b, extent, result, at);
  }

  NodeLowering &l;
  Value list;
  bool stacks;
  Value zero, one, count;
  /// Shape and rank of the first element, the rank of the result, the axis in
  /// the result, and where the inner axes of an element begin.
  Value shape, rank, resultRank, at, behind;
};
} // namespace

static LogicalResult lowerConcatFromSequence(NodeLowering &l) {
  int64_t axis = l.intAttr("axis");
  bool stacks = l.intAttr("new_axis", 0) != 0;
  l.setResult(Concatenation(l, l.in(0), axis, stacks).build());
  return success();
}

//===----------------------------------------------------------------------===//
// Optionals
//===----------------------------------------------------------------------===//

static LogicalResult lowerOptional(NodeLowering &l) {
  // The type of the result says it.
  l.ignoreAttr("type");
  Value list = emptyResult(l);
  if (l.has(0))
    list = insert(l, list, l.index(0), l.in(0));
  l.setResult(list);
  return success();
}

/// Whether the first input is an optional in the model, and no sequence.
static bool isOptional(NodeLowering &l) {
  return isa<onnx::OptionalType>(l.node.getInputs()[0].getType());
}

static Value hasElement(NodeLowering &l, Value optional) {
  return compare(l, arith::CmpIPredicate::ne, lengthOfList(l, optional),
                 l.index(0));
}

static LogicalResult lowerOptionalHasElement(NodeLowering &l) {
  Value has;
  // From version 18 on tensors and sequences have an element: themselves.
  if (!l.has(0) || !isOptional(l))
    has = arith::ConstantOp::create(l.b, l.b.getBoolAttr(l.has(0)));
  else
    has = hasElement(l, l.in(0));
  l.setResult(asTensor(l, has));
  return success();
}

static LogicalResult lowerOptionalGetElement(NodeLowering &l) {
  Value optional = l.in(0);
  if (!isOptional(l)) {
    l.setResult(optional);
    return success();
  }
  // opt_run; loop_carried_optional: after zero trips there may be none.
  l.check(hasElement(l, optional), "the optional is empty");
  l.setResult(wholeOf(l, partsAt(l, optional, l.index(0))));
  return success();
}

void loopc::addCollectionRows(LoweringTable &table) {
  table.add({
      {"", "ConcatFromSequence", 11, kLatest, lowerConcatFromSequence, true},
      {"", "Optional", 15, kLatest, lowerOptional, true},
      {"", "OptionalGetElement", 15, kLatest, lowerOptionalGetElement, true},
      {"", "OptionalHasElement", 15, kLatest, lowerOptionalHasElement, true},
      {"", "SequenceAt", 11, kLatest, lowerSequenceAt, true},
      {"", "SequenceConstruct", 11, kLatest, lowerSequenceConstruct, true},
      {"", "SequenceEmpty", 11, kLatest, lowerSequenceEmpty, true},
      {"", "SequenceErase", 11, kLatest, lowerSequenceErase, true},
      {"", "SequenceInsert", 11, kLatest, lowerSequenceInsert, true},
      {"", "SequenceLength", 11, kLatest, lowerSequenceLength, true},
      {"", "SplitToSequence", 11, kLatest, lowerSplitToSequence},
  });
}
