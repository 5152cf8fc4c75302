//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShapeUtils.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace loopc;

/// Integer tensors up to this size are computed element by element.
static constexpr int64_t kMaxScalarElements = 16;

//===----------------------------------------------------------------------===//
// Index arithmetic
//===----------------------------------------------------------------------===//

static OpFoldResult foldedIndex(NodeLowering &l, Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return l.fold(*constant);
  return value;
}

template <typename OpTy>
static OpFoldResult combine(NodeLowering &l, OpFoldResult x, OpFoldResult y) {
  return foldedIndex(l, l.b.createOrFold<OpTy>(l.asIndex(x), l.asIndex(y)));
}

OpFoldResult loopc::minSigned(NodeLowering &l, OpFoldResult x, OpFoldResult y) {
  if (sameExtent(x, y) || (isConstantIntValue(x, 0) && isKnownNonNegative(y)))
    return x;
  if (isConstantIntValue(y, 0) && isKnownNonNegative(x))
    return y;
  return combine<arith::MinSIOp>(l, x, y);
}

OpFoldResult loopc::maxSigned(NodeLowering &l, OpFoldResult x, OpFoldResult y) {
  if (sameExtent(x, y) || (isConstantIntValue(y, 0) && isKnownNonNegative(x)))
    return x;
  return combine<arith::MaxSIOp>(l, x, y);
}

OpFoldResult loopc::quotient(NodeLowering &l, OpFoldResult x, OpFoldResult y) {
  return isConstantIntValue(y, 1) ? x : combine<arith::DivUIOp>(l, x, y);
}

OpFoldResult loopc::remainder(NodeLowering &l, OpFoldResult x, OpFoldResult y) {
  if (isConstantIntValue(y, 1))
    return l.fold(0);
  return combine<arith::RemUIOp>(l, x, y);
}

Value loopc::compare(NodeLowering &l, arith::CmpIPredicate predicate,
                     OpFoldResult x, OpFoldResult y) {
  return l.b.createOrFold<arith::CmpIOp>(predicate, l.asIndex(x), l.asIndex(y));
}

OpFoldResult loopc::select(NodeLowering &l, Value condition, OpFoldResult x,
                           OpFoldResult y) {
  if (sameExtent(x, y) || matchPattern(condition, m_One()))
    return x;
  if (matchPattern(condition, m_Zero()))
    return y;
  return foldedIndex(l, l.b.createOrFold<arith::SelectOp>(
                            condition, l.asIndex(x), l.asIndex(y)));
}

Value loopc::both(NodeLowering &l, Value x, Value y) {
  return l.b.createOrFold<arith::AndIOp>(x, y);
}

Value loopc::either(NodeLowering &l, Value x, Value y) {
  return l.b.createOrFold<arith::OrIOp>(x, y);
}

static bool isKnownNonNegative(Value value, unsigned depth) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant >= 0;
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  auto operandsAre = [&](unsigned first) {
    return llvm::all_of(op->getOperands().drop_front(first), [&](Value v) {
      return isKnownNonNegative(v, depth - 1);
    });
  };
  if (isa<tensor::DimOp>(op))
    return true;
  // i64 and index are as wide; a narrower type may wrap.
  if (isa<arith::IndexCastOp>(op))
    return !value.getType().isInteger(32) && operandsAre(0);
  if (isa<arith::AddIOp, arith::MulIOp>(op))
    return value.getType().isIndex() && operandsAre(0);
  if (isa<arith::DivUIOp, arith::RemUIOp, arith::MinSIOp>(op))
    return operandsAre(0);
  if (isa<arith::MaxSIOp>(op))
    return llvm::any_of(op->getOperands(), [&](Value v) {
      return isKnownNonNegative(v, depth - 1);
    });
  return isa<arith::SelectOp>(op) && operandsAre(1);
}

bool loopc::isKnownNonNegative(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant >= 0;
  return ::isKnownNonNegative(cast<Value>(value), 6);
}

OpFoldResult loopc::requireNonNegative(NodeLowering &l, OpFoldResult value,
                                       const Twine &what) {
  if (isKnownNonNegative(value))
    return value;
  l.check(compare(l, arith::CmpIPredicate::sge, value, l.fold(0)),
          what + " is {}, less than 0", l.asIndex(value));
  // What is built behind the check must be valid: an allocation may be moved in
  // front of it, out of a loop without iterations too.
  return maxSigned(l, value, l.fold(0));
}

bool loopc::requireEqual(NodeLowering &l, OpFoldResult x, OpFoldResult y,
                         const Twine &what) {
  if (sameExtent(x, y))
    return true;
  l.check(compare(l, arith::CmpIPredicate::eq, x, y),
          what + ": {} and {} differ", ValueRange{l.asIndex(x), l.asIndex(y)});
  return !getConstantIntValue(x) || !getConstantIntValue(y);
}

//===----------------------------------------------------------------------===//
// Integer operands
//===----------------------------------------------------------------------===//

Value loopc::stripCasts(Value value) {
  while (auto cast = value.getDefiningOp<tensor::CastOp>()) {
    if (!isa<RankedTensorType>(cast.getSource().getType()))
      break;
    value = cast.getSource();
  }
  return value;
}

Value loopc::elementAt(NodeLowering &l, Value tensor, ValueRange indices) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  if (int64_t expected = indices.size(); rank != expected) {
    (void)l.refuse("an operand has rank " + Twine(rank) + ", expected " +
                   Twine(expected));
    SmallVector<Value> zeros(rank, l.index(0));
    return tensor::ExtractOp::create(l.b, tensor, zeros);
  }
  return l.b.createOrFold<tensor::ExtractOp>(stripCasts(tensor), indices);
}

/// Element `k` of integer input `i`, as a folded index.
static OpFoldResult integerAt(NodeLowering &l, unsigned i, OpFoldResult k) {
  SmallVector<Value> position;
  if (l.rank(i) == 1)
    position.push_back(l.asIndex(k));
  Value element = elementAt(l, l.in(i), position);
  return foldedIndex(l, l.toIndex(element, l.isUnsigned(i)));
}

OpFoldResult loopc::lengthOf(NodeLowering &l, unsigned i) {
  if (l.rank(i) == 0)
    return l.fold(1);
  // A cast hides the length, or tells it.
  OpFoldResult length = l.dim(stripCasts(l.in(i)), 0);
  auto type = cast<RankedTensorType>(l.in(i).getType());
  if (getConstantIntValue(length) || type.isDynamicDim(0))
    return length;
  return l.fold(type.getDimSize(0));
}

/// Most axes, extents or parts that a node may be given by a run. Each of them
/// becomes code.
static constexpr int64_t kMaxListElements = 4096;

FailureOr<Dims> loopc::integers(NodeLowering &l, unsigned i,
                                std::optional<int64_t> expected,
                                StringRef what) {
  if (l.rank(i) > 1)
    return l.refuse("'" + what + "' has rank " + Twine(l.rank(i)) +
                    ", expected 1");
  Dims values;
  if (std::optional<SmallVector<int64_t>> constants = l.constantInts(i)) {
    for (int64_t constant : *constants)
      values.push_back(l.fold(constant));
  } else {
    OpFoldResult length = lengthOf(l, i);
    std::optional<int64_t> count = getConstantIntValue(length);
    if (!count && !expected)
      return l.unsupported("the number of elements of '" + what +
                           "' is not known at compile time");
    if (!count)
      requireEqual(l, length, l.fold(*expected),
                   "number of elements of '" + what + "' and expected number");
    int64_t known = count ? *count : *expected;
    if (known > kMaxListElements)
      return l.unsupported("'" + what + "' has " + Twine(known) +
                           " elements that only a run tells, more than " +
                           Twine(kMaxListElements));
    for (int64_t k : llvm::seq(known))
      values.push_back(integerAt(l, i, l.fold(k)));
  }
  if (expected && *expected != static_cast<int64_t>(values.size()))
    return l.refuse("'" + what + "' has " + Twine(values.size()) +
                    " elements, expected " + Twine(*expected));
  return values;
}

Dims loopc::integersUpTo(NodeLowering &l, unsigned i, int64_t limit,
                         int64_t filler) {
  OpFoldResult length = lengthOf(l, i);
  Dims values;
  for (int64_t k : llvm::seq(limit)) {
    Value present = compare(l, arith::CmpIPredicate::sgt, length, l.fold(k));
    values.push_back(ifElse(
        l, l.b.getIndexType(), present,
        [&] { return l.asIndex(integerAt(l, i, l.fold(k))); },
        [&] { return l.index(filler); }));
  }
  return values;
}

FailureOr<Dims> loopc::normalizedAxes(NodeLowering &l, Dims axes,
                                      int64_t rank) {
  for (OpFoldResult &axis : axes) {
    if (std::optional<int64_t> constant = getConstantIntValue(axis)) {
      FailureOr<int64_t> normal = l.normalizeAxis(*constant, rank);
      if (failed(normal))
        return failure();
      axis = l.fold(*normal);
      continue;
    }
    Value given = l.asIndex(axis);
    axis = select(l, compare(l, arith::CmpIPredicate::slt, axis, l.fold(0)),
                  l.add(axis, l.fold(rank)), axis);
    l.check(compare(l, arith::CmpIPredicate::ult, axis, l.fold(rank)),
            "axis {} is out of range for rank " + Twine(rank), given);
  }
  return axes;
}

void loopc::spread(NodeLowering &l, ArrayRef<OpFoldResult> axes,
                   ArrayRef<OpFoldResult> given, Dims &values) {
  for (auto [axis, value] : llvm::zip_equal(axes, given)) {
    if (std::optional<int64_t> constant = getConstantIntValue(axis)) {
      values[*constant] = value;
      continue;
    }
    for (auto [k, current] : llvm::enumerate(values))
      current = select(l, compare(l, arith::CmpIPredicate::eq, axis, l.fold(k)),
                       value, current);
  }
}

//===----------------------------------------------------------------------===//
// Small integer tensors
//===----------------------------------------------------------------------===//

bool loopc::isSmallIntegers(ArrayRef<OpFoldResult> dims, Type element) {
  if (dims.size() > 1 || !element.isIntOrIndex())
    return false;
  if (dims.empty())
    return true;
  std::optional<int64_t> extent = getConstantIntValue(dims[0]);
  return extent && *extent <= kMaxScalarElements;
}

Value loopc::fromElements(NodeLowering &l, ArrayRef<OpFoldResult> dims,
                          Type type,
                          llvm::function_ref<Value(int64_t)> element) {
  SmallVector<int64_t> shape;
  for (OpFoldResult extent : dims)
    shape.push_back(*getConstantIntValue(extent));
  SmallVector<Value> elements;
  for (int64_t k : llvm::seq(ShapedType::getNumElements(shape)))
    elements.push_back(element(k));
  return tensor::FromElementsOp::create(l.b, RankedTensorType::get(shape, type),
                                        elements);
}

//===----------------------------------------------------------------------===//
// Loops and slices
//===----------------------------------------------------------------------===//

bool loopc::isKnownEmpty(ArrayRef<OpFoldResult> dims) {
  return llvm::any_of(
      dims, [](OpFoldResult extent) { return isConstantIntValue(extent, 0); });
}

Value loopc::sliceOf(NodeLowering &l, Value value,
                     ArrayRef<OpFoldResult> offsets,
                     ArrayRef<OpFoldResult> sizes,
                     ArrayRef<OpFoldResult> strides) {
  Dims dims = l.dims(value);
  bool isEmpty = isKnownEmpty(dims) || isKnownEmpty(sizes);
  for (auto [offset, extent] : llvm::zip_equal(offsets, dims)) {
    std::optional<int64_t> from = getConstantIntValue(offset);
    std::optional<int64_t> end = getConstantIntValue(extent);
    isEmpty |= from && end && *from >= *end;
  }
  if (isEmpty)
    return l.empty(sizes,
                   cast<RankedTensorType>(value.getType()).getElementType());
  return l.slice(value, offsets, sizes, strides);
}

Value loopc::zeroOf(NodeLowering &l, Type type) {
  if (type == getStringType(l.b.getContext()))
    return l.constant(type, 0);
  Type part = type;
  if (auto complex = dyn_cast<ComplexType>(type);
      complex && isa<FloatType>(complex.getElementType()))
    part = complex.getElementType();
  return isa<FloatType, IntegerType>(part) ? l.constant(type, 0) : Value();
}

Value loopc::sliceDropping(NodeLowering &l, Value value,
                           ArrayRef<OpFoldResult> offsets,
                           ArrayRef<OpFoldResult> sizes,
                           ArrayRef<int64_t> dropped) {
  if (!isKnownEmpty(l.dims(value)))
    return extractSlice(l.b, l.b.getLoc(), value, offsets, sizes,
                        /*strides=*/{}, dropped);
  Dims kept;
  for (auto [k, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(dropped, static_cast<int64_t>(k)))
      kept.push_back(size);
  return l.empty(kept, getElementTypeOrSelf(value.getType()));
}

static void nest(NodeLowering &l, ArrayRef<OpFoldResult> dims,
                 SmallVectorImpl<Value> &position,
                 SmallVectorImpl<Value> &carried, NestBody body,
                 size_t numParallel) {
  if (position.size() == dims.size()) {
    carried =
        body(position, SmallVector<Value>(carried.begin(), carried.end()));
    return;
  }
  OpFoldResult extent = dims[position.size()];
  if (isConstantIntValue(extent, 1)) {
    position.push_back(l.index(0));
    nest(l, dims, position, carried, body, numParallel);
    position.pop_back();
    return;
  }
  auto loop = scf::ForOp::create(l.b, l.index(0), l.asIndex(extent), l.index(1),
                                 carried);
  if (position.size() < numParallel)
    markParallel(loop);
  OpBuilder::InsertionGuard guard(l.b);
  l.b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> inner(loop.getRegionIterArgs());
  position.push_back(loop.getInductionVar());
  nest(l, dims, position, inner, body, numParallel);
  position.pop_back();
  if (!inner.empty())
    scf::YieldOp::create(l.b, inner);
  carried.assign(loop.getResults().begin(), loop.getResults().end());
}

SmallVector<Value> loopc::loopNest(NodeLowering &l, ArrayRef<OpFoldResult> dims,
                                   ValueRange inits, NestBody body,
                                   size_t numParallel) {
  SmallVector<Value> position, carried(inits);
  nest(l, dims, position, carried, body, numParallel);
  return carried;
}

Value loopc::ifElse(NodeLowering &l, Type type, Value condition,
                    llvm::function_ref<Value()> yes,
                    llvm::function_ref<Value()> no) {
  auto branch = scf::IfOp::create(l.b, type, condition, true);
  OpBuilder::InsertionGuard guard(l.b);
  l.b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(l.b, yes());
  l.b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(l.b, no());
  return branch.getResult(0);
}

SmallVector<Value>
loopc::onlyIf(NodeLowering &l, Value condition, ValueRange otherwise,
              llvm::function_ref<SmallVector<Value>()> body) {
  auto branch = scf::IfOp::create(l.b, otherwise.getTypes(), condition, true);
  OpBuilder::InsertionGuard guard(l.b);
  l.b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(l.b, body());
  l.b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(l.b, otherwise);
  return branch.getResults();
}

//===----------------------------------------------------------------------===//
// Reshaping by groups of axes
//===----------------------------------------------------------------------===//

namespace {
/// Axes [from, fromEnd) of the source hold the elements of axes [to, toEnd) of
/// the target.
struct AxisGroup {
  int64_t from, fromEnd, to, toEnd;
};
} // namespace

/// Appends groups for a middle part: as long as extents are static a new group
/// begins wherever the products meet; the rest is one group.
static void groupMiddle(ArrayRef<OpFoldResult> source,
                        ArrayRef<OpFoldResult> target, AxisGroup part,
                        SmallVectorImpl<AxisGroup> &groups) {
  int64_t i = part.from, j = part.to;
  while (i < part.fromEnd && j < part.toEnd) {
    AxisGroup group{i, i, j, j};
    int64_t held = 1, wanted = 1;
    bool isKnown = true;
    auto take = [&](ArrayRef<OpFoldResult> dims, int64_t &at,
                    int64_t &product) {
      std::optional<int64_t> extent = getConstantIntValue(dims[at++]);
      isKnown &= extent.has_value();
      product *= extent.value_or(1);
    };
    take(source, i, held);
    take(target, j, wanted);
    while (isKnown && held != wanted && i < part.fromEnd && j < part.toEnd)
      held < wanted ? take(source, i, held) : take(target, j, wanted);
    while (isKnown && held < wanted && i < part.fromEnd)
      take(source, i, held);
    while (isKnown && wanted < held && j < part.toEnd)
      take(target, j, wanted);
    if (!isKnown || held != wanted) {
      i = part.fromEnd;
      j = part.toEnd;
    }
    group.fromEnd = i;
    group.toEnd = j;
    groups.push_back(group);
  }
  // What is left are ones.
  if (i < part.fromEnd || j < part.toEnd)
    groups.push_back({i, part.fromEnd, j, part.toEnd});
}

/// Groups that hold axes on both sides.
static SmallVector<AxisGroup> groupAxes(ArrayRef<OpFoldResult> source,
                                        ArrayRef<OpFoldResult> target) {
  int64_t n = source.size(), m = target.size(), front = 0, back = 0;
  while (front < std::min(n, m) && sameExtent(source[front], target[front]))
    ++front;
  while (back < std::min(n, m) - front &&
         sameExtent(source[n - 1 - back], target[m - 1 - back]))
    ++back;
  SmallVector<AxisGroup> groups;
  for (int64_t k : llvm::seq(front))
    groups.push_back({k, k + 1, k, k + 1});
  groupMiddle(source, target, {front, n - back, front, m - back}, groups);
  for (int64_t k = back; k-- > 0;)
    groups.push_back({n - 1 - k, n - k, m - 1 - k, m - k});
  SmallVector<AxisGroup> merged;
  for (AxisGroup group : groups) {
    bool lacksSide = group.from == group.fromEnd || group.to == group.toEnd;
    bool afterLacking =
        !merged.empty() && (merged.back().from == merged.back().fromEnd ||
                            merged.back().to == merged.back().toEnd);
    if (!merged.empty() && (lacksSide || afterLacking)) {
      merged.back().fromEnd = group.fromEnd;
      merged.back().toEnd = group.toEnd;
    } else {
      merged.push_back(group);
    }
  }
  return merged;
}

static int64_t staticProduct(ArrayRef<OpFoldResult> dims) {
  int64_t product = 1;
  for (OpFoldResult extent : dims) {
    std::optional<int64_t> constant = getConstantIntValue(extent);
    if (!constant)
      return ShapedType::kDynamic;
    product *= *constant;
  }
  return product;
}

static Value castShape(NodeLowering &l, Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  return l.b.createOrFold<tensor::CastOp>(type.clone(shape), value);
}

/// Reshapes from or to rank 0: all extents are 1.
static Value reshapeScalar(NodeLowering &l, Value value, int64_t rank) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> ones(rank, 1);
  ArrayRef<ReassociationIndices> none;
  if (type.getRank() == 0)
    return tensor::ExpandShapeOp::create(l.b, type.clone(ones), value, none,
                                         Dims(rank, l.fold(1)));
  value = castShape(l, value, SmallVector<int64_t>(type.getRank(), 1));
  return tensor::CollapseShapeOp::create(l.b, type.clone(ones), value, none);
}

Value loopc::reshapeByGroups(NodeLowering &l, Value value,
                             ArrayRef<OpFoldResult> target) {
  auto type = cast<RankedTensorType>(value.getType());
  Dims source = l.dims(value);
  int64_t rank = target.size();
  SmallVector<int64_t> shape;
  for (OpFoldResult extent : target)
    shape.push_back(getConstantIntValue(extent).value_or(ShapedType::kDynamic));
  if (isSmallIntegers(target, type.getElementType()) && type.getRank() <= 1)
    return fromElements(l, target, type.getElementType(), [&](int64_t k) {
      return elementAt(l, value,
                       type.getRank() ? ValueRange{l.index(k)} : ValueRange());
    });
  // Products of extents say nothing of an empty tensor.
  if (isKnownEmpty(target))
    return l.empty(target, type.getElementType());
  if (type.getRank() == 0 || rank == 0) {
    if (type.getRank() == rank)
      return value;
    return castShape(l, reshapeScalar(l, value, rank), shape);
  }
  SmallVector<ReassociationIndices> collapse, expand;
  SmallVector<int64_t> collapsed, wanted;
  auto indices = [](int64_t from, int64_t end) {
    return llvm::to_vector<2>(llvm::seq(from, end));
  };
  for (AxisGroup g : groupAxes(source, target)) {
    auto from = ArrayRef(source).slice(g.from, g.fromEnd - g.from);
    auto to = target.slice(g.to, g.toEnd - g.to);
    collapse.push_back(indices(g.from, g.fromEnd));
    SmallVector<int64_t> types(type.getShape().slice(g.from, from.size()));
    collapsed.push_back(llvm::is_contained(types, ShapedType::kDynamic)
                            ? ShapedType::kDynamic
                            : ShapedType::getNumElements(types));
    expand.push_back(indices(g.to, g.toEnd));
    wanted.push_back(staticProduct(to));
  }
  if (static_cast<int64_t>(collapse.size()) < type.getRank())
    value = tensor::CollapseShapeOp::create(l.b, type.clone(collapsed), value,
                                            collapse);
  value = castShape(l, value, wanted);
  if (static_cast<int64_t>(expand.size()) < rank)
    value = tensor::ExpandShapeOp::create(l.b, type.clone(shape), value, expand,
                                          target);
  return value;
}

//===----------------------------------------------------------------------===//
// Checked indices
//===----------------------------------------------------------------------===//

CheckedIndices::CheckedIndices(NodeLowering &l, unsigned input,
                               ArrayRef<OpFoldResult> dims, bool wraps)
    : CheckedIndices(l, input, dims, wraps, /*areLengths=*/false) {}

CheckedIndices CheckedIndices::ofLengths(NodeLowering &l, unsigned input,
                                         OpFoldResult extent) {
  return CheckedIndices(l, input, l.add(extent, l.fold(1)), /*wraps=*/false,
                        /*areLengths=*/true);
}

CheckedIndices::CheckedIndices(NodeLowering &l, unsigned input,
                               ArrayRef<OpFoldResult> dims, bool wraps,
                               bool areLengths)
    : isUnsigned(l.isUnsigned(input)), wraps(wraps && !isUnsigned),
      areLengths(areLengths) {
  for (OpFoldResult extent : dims) {
    extents.push_back(l.asIndex(extent));
    lasts.push_back(
        l.asIndex(maxSigned(l, l.sub(extent, l.fold(1)), l.fold(0))));
  }
  if (dims.empty() || constantsInRange(l, input, dims)) {
    needsCheck = false;
    allInRange = l.constantInt(l.b.getI1Type(), 1);
    return;
  }
  Value indices = stripCasts(l.in(input));
  auto type = cast<RankedTensorType>(indices.getType());
  if (type.hasStaticShape() && type.getNumElements() == 1 && dims.size() == 1) {
    // One index: the message tells it.
    SmallVector<Value> zeros(type.getRank(), l.index(0));
    Value raw = elementAt(l, indices, zeros);
    allInRange = l.b.createOrFold<arith::CmpIOp>(
        arith::CmpIPredicate::ult, normalized(l.b, l.b.getLoc(), raw, 0),
        extents[0]);
    check(l, allInRange, l.toIndex(raw, isUnsigned), extents[0]);
    return;
  }
  checkAll(l, indices);
}

/// Fails with `given`, which is not among the positions 0 to `extent`.
void CheckedIndices::check(NodeLowering &l, Value holds, Value given,
                           Value extent) {
  if (!areLengths)
    return l.check(holds, "index {} is out of range for an axis of extent {}",
                   ValueRange{given, extent});
  Value longest = l.b.createOrFold<arith::SubIOp>(extent, l.index(1));
  l.check(holds, "a sequence length is {}, not in 0 to {}",
          ValueRange{given, longest});
}

void CheckedIndices::checkAll(NodeLowering &l, Value indices) {
  Dims outer = l.dims(indices);
  if (extents.size() > 1)
    outer.pop_back();
  // None at all are in range for an axis of extent 0, too.
  Value isEmpty = l.b.createOrFold<arith::CmpIOp>(
      arith::CmpIPredicate::eq, l.asIndex(l.product(outer)), l.index(0));
  allInRange = l.constantInt(l.b.getI1Type(), 1);
  for (auto [extent, place] :
       llvm::zip_equal(extents, findLargest(l, indices))) {
    Value isInside = l.b.createOrFold<arith::OrIOp>(
        isEmpty, l.b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult,
                                                 place, extent));
    Value given = place;
    if (wraps) {
      Value isBefore = l.b.createOrFold<arith::CmpIOp>(
          arith::CmpIPredicate::slt, place, l.index(0));
      Value negative = l.b.createOrFold<arith::SubIOp>(place, extent);
      given = l.b.createOrFold<arith::SelectOp>(isBefore, negative, place);
    }
    check(l, isInside, given, extent);
    allInRange = l.b.createOrFold<arith::AndIOp>(allInRange, isInside);
  }
}

bool CheckedIndices::constantsInRange(NodeLowering &l, unsigned input,
                                      ArrayRef<OpFoldResult> dims) const {
  std::optional<SmallVector<int64_t>> values = l.constantInts(input);
  if (!values)
    return l.inType(input).hasStaticShape() &&
           l.inType(input).getNumElements() == 0;
  for (auto [k, value] : llvm::enumerate(*values)) {
    std::optional<int64_t> extent = getConstantIntValue(dims[k % dims.size()]);
    if (!extent || value >= *extent || value < (wraps ? -*extent : 0))
      return false;
  }
  return true;
}

Value CheckedIndices::normalized(OpBuilder &b, Location loc, Value raw,
                                 unsigned k) const {
  Value value = raw;
  if (!value.getType().isIndex())
    value =
        isUnsigned
            ? b.createOrFold<arith::IndexCastUIOp>(loc, b.getIndexType(), raw)
            : b.createOrFold<arith::IndexCastOp>(loc, b.getIndexType(), raw);
  if (!wraps)
    return value;
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value negative = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt,
                                                 value, zero);
  Value fromEnd = b.createOrFold<arith::AddIOp>(loc, value, extents[k]);
  return b.createOrFold<arith::SelectOp>(loc, negative, fromEnd, value);
}

Value CheckedIndices::position(OpBuilder &b, Location loc, Value raw,
                               unsigned k) const {
  Value value = normalized(b, loc, raw, k);
  if (!needsCheck)
    return value;
  return b.createOrFold<arith::MinUIOp>(loc, value, lasts[k]);
}

/// For each extent, the position that is largest without its sign: one in front
/// of the axis counts as one far behind it. A loop with the answer in
/// registers.
SmallVector<Value> CheckedIndices::findLargest(NodeLowering &l, Value indices) {
  int64_t parts = extents.size();
  Dims outer = l.dims(indices);
  if (parts > 1)
    outer.pop_back();
  SmallVector<Value> inits(parts, l.index(0));
  return loopNest(
      l, outer, inits, [&](ValueRange position, ValueRange carried) {
        SmallVector<Value> largest;
        for (int64_t k : llvm::seq(parts)) {
          SmallVector<Value> at(position);
          if (parts > 1)
            at.push_back(l.index(k));
          Value place =
              normalized(l.b, l.b.getLoc(), elementAt(l, indices, at), k);
          largest.push_back(
              l.b.createOrFold<arith::MaxUIOp>(carried[k], place));
        }
        return largest;
      });
}
