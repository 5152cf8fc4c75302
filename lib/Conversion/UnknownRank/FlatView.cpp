//===- FlatView.cpp - Tensors of any rank as elements and shape -----------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FlatView.h"
#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Support/Diagnostics.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

SmallVector<Type> loopc::flatTypes(Type element) {
  Type i64 = IntegerType::get(element.getContext(), 64);
  return {RankedTensorType::get({ShapedType::kDynamic}, element),
          RankedTensorType::get({ShapedType::kDynamic}, i64)};
}

/// The one reassociation group of all `rank` axes.
static SmallVector<ReassociationIndices> oneGroup(int64_t rank) {
  if (rank == 0)
    return {};
  return {llvm::to_vector<2>(llvm::seq<int64_t>(0, rank))};
}

static Value stripCasts(Value value) {
  while (auto cast = value.getDefiningOp<tensor::CastOp>()) {
    if (!isa<RankedTensorType>(cast.getSource().getType()))
      break;
    value = cast.getSource();
  }
  return value;
}

//===----------------------------------------------------------------------===//
// To and from
//===----------------------------------------------------------------------===//

FlatTensor FlatBuilder::flatten(Value tensor) {
  if (auto cast = tensor.getDefiningOp<tensor::CastOp>();
      cast && !isa<RankedTensorType>(tensor.getType()))
    return flatten(cast.getSource());
  auto cast = tensor.getDefiningOp<UnrealizedConversionCastOp>();
  if (cast && cast.getNumOperands() == 2)
    return {cast.getOperand(0), cast.getOperand(1)};
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  SmallVector<Type> types = flatTypes(getElementTypeOrSelf(tensor.getType()));
  if (!type) {
    // One for all users, right behind the definition: what has the same shape
    // has the same value for it.
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(tensor);
    if (b.getInsertionPoint() != b.getInsertionBlock()->end())
      if (auto other =
              dyn_cast<UnrealizedConversionCastOp>(&*b.getInsertionPoint());
          other && other.getNumResults() == 2 && other->getNumOperands() == 1 &&
          other.getOperand(0) == tensor)
        return {other.getResult(0), other.getResult(1)};
    cast = UnrealizedConversionCastOp::create(b, types, tensor);
    return {cast.getResult(0), cast.getResult(1)};
  }
  SmallVector<Value> extents;
  for (OpFoldResult extent : resolveDims(b, b.getLoc(), tensor))
    extents.push_back(getValueOrCreateConstantIndexOp(b, b.getLoc(), extent));
  return {b.createOrFold<tensor::CastOp>(types[0], collapse(tensor)),
          shapeOf(extents)};
}

Value FlatBuilder::unflatten(FlatTensor flat, TensorType type) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  if (!ranked)
    return UnrealizedConversionCastOp::create(
               b, type, ValueRange{flat.elements, flat.shape})
        .getResult(0);
  auto checkIs = [&](Value actual, int64_t expected, StringRef what) {
    Value wanted = index(expected);
    check(equal(actual, wanted), what, ValueRange{actual, wanted});
  };
  checkIs(rank(flat), ranked.getRank(), "rank {}, expected {}");
  SmallVector<Value> dims;
  for (int64_t axis = 0; axis < ranked.getRank(); ++axis) {
    dims.push_back(at(flat.shape, index(axis)));
    if (!ranked.isDynamicDim(axis)) {
      checkIs(dims.back(), ranked.getDimSize(axis),
              "dimension {}, expected {}");
      dims.back() = index(ranked.getDimSize(axis));
    }
  }
  if (!dims.empty())
    return b.createOrFold<tensor::CastOp>(ranked, expand(flat.elements, dims));
  Value one = b.createOrFold<tensor::CastOp>(
      RankedTensorType::get({1}, ranked.getElementType()), flat.elements);
  return tensor::CollapseShapeOp::create(b, ranked, one,
                                         ArrayRef<ReassociationIndices>());
}

Value FlatBuilder::expand(Value elements, ValueRange extents) {
  Type element = getElementTypeOrSelf(elements.getType());
  SmallVector<OpFoldResult> dims = getAsOpFoldResult(extents);
  SmallVector<int64_t> shape;
  for (OpFoldResult extent : dims)
    shape.push_back(getConstantIntValue(extent).value_or(ShapedType::kDynamic));
  auto type = RankedTensorType::get(shape, element);
  auto flatType = RankedTensorType::get(
      {type.hasStaticShape() ? type.getNumElements() : ShapedType::kDynamic},
      element);
  Value flat = b.createOrFold<tensor::CastOp>(flatType, elements);
  if (type.getRank() == 1)
    return withCount(elements, extents[0]);
  return tensor::ExpandShapeOp::create(b, type, flat, oneGroup(type.getRank()),
                                       dims);
}

Value FlatBuilder::collapse(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getRank() == 1)
    return tensor;
  if (type.getRank() == 0)
    return tensor::ExpandShapeOp::create(
        b, RankedTensorType::get({1}, type.getElementType()), tensor,
        ArrayRef<ReassociationIndices>(),
        ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  return tensor::CollapseShapeOp::create(b, tensor, oneGroup(type.getRank()));
}

Value FlatBuilder::withCount(Value elements, Value count) {
  OpFoldResult size = getAsOpFoldResult(count);
  if (isEqualConstantIntOrValue(resolveDim(b, b.getLoc(), elements, 0), size))
    return elements;
  return tensor::ExtractSliceOp::create(
      b, elements, ArrayRef<OpFoldResult>{b.getIndexAttr(0)},
      ArrayRef<OpFoldResult>{size}, ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value FlatBuilder::toIndex(Value value, bool isUnsigned) {
  if (value.getType().isIndex())
    return value;
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>();
      cast && value.getType().isInteger(64) && cast.getIn().getType().isIndex())
    return cast.getIn();
  // Types of elements are the model's yet, which arith has no operations on.
  if (value.getType().isUnsignedInteger()) {
    Type type = toSignless(value.getType());
    value = UnrealizedConversionCastOp::create(b, type, value).getResult(0);
    isUnsigned = true;
  }
  if (isUnsigned)
    return b.createOrFold<arith::IndexCastUIOp>(b.getIndexType(), value);
  return b.createOrFold<arith::IndexCastOp>(b.getIndexType(), value);
}

Value FlatBuilder::toI64(Value value) {
  if (!value.getType().isIndex())
    return value;
  return b.createOrFold<arith::IndexCastOp>(b.getI64Type(), value);
}

// Regions are filled once they belong to an operation: what looks for
// dimensions walks up from the insertion point.

Value FlatBuilder::ifElse(Value condition, llvm::function_ref<Value()> yes,
                          llvm::function_ref<Value()> no, Type type) {
  if (matchPattern(condition, m_One()))
    return yes();
  if (matchPattern(condition, m_Zero()))
    return no();
  auto branch =
      scf::IfOp::create(b, type ? type : Type(b.getIndexType()), condition,
                        /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, yes());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, no());
  return branch.getResult(0);
}

SmallVector<Value> FlatBuilder::forEach(Value from, Value to, ValueRange inits,
                                        ForBody body) {
  auto loop = scf::ForOp::create(b, from, to, index(1), inits);
  // A rank is small: copies of the body for many iterations at once are not
  // worth the time to compile them.
  Attribute plain = LLVM::LoopAnnotationAttr::get(
      b.getContext(), /*disableNonforced=*/b.getBoolAttr(true), {}, {}, {}, {},
      {}, {}, {}, {}, {}, {}, {}, {}, {}, {});
  loop->setAttr("llvm.loop_annotation", plain);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  // Without carried values there is a terminator.
  if (!next.empty())
    scf::YieldOp::create(b, next);
  return SmallVector<Value>(loop.getResults());
}

Value FlatBuilder::fill(Value init, ValueRange inputs, ArrayRef<AffineMap> maps,
                        llvm::function_ref<Value(ValueRange)> body) {
  auto type = cast<RankedTensorType>(init.getType());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto made = linalg::GenericOp::create(b, type, inputs, init, maps, iterators);
  SmallVector<Type> types;
  for (Value value : inputs)
    types.push_back(getElementTypeOrSelf(value.getType()));
  types.push_back(type.getElementType());
  SmallVector<Location> locs(types.size(), b.getLoc());
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&made.getRegion(), {}, types, locs);
  linalg::YieldOp::create(b, body(block->getArguments()));
  return made.getResult(0);
}

void FlatBuilder::check(Value condition, const Twine &message,
                        ValueRange values) {
  if (matchPattern(condition, m_One()))
    return;
  loop::CheckOp::create(
      b, condition, b.getStringAttr(locationPath(b.getLoc()) + ": " + message),
      values,
      /*iteration=*/Value());
}

SmallVector<Value> FlatBuilder::shownShape(Value shape) {
  SmallVector<Value> values{length(shape)};
  for (unsigned k = 0; k < loop::kMaxShownRank; ++k)
    values.push_back(at(shape, index(k)));
  return values;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Value FlatBuilder::length(Value vector) {
  return getValueOrCreateConstantIndexOp(b, b.getLoc(),
                                         resolveDim(b, b.getLoc(), vector, 0));
}

/// The loop that counts in `k`, if it is a loop's number.
static scf::ForOp findCounting(Value k) {
  auto arg = dyn_cast<BlockArgument>(k);
  auto loop =
      arg ? dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp()) : nullptr;
  return loop && loop.getInductionVar() == k ? loop : nullptr;
}

/// True for a constant that is not negative, the number of a loop that begins
/// with such a one, and the one behind it, which is its loop's end at most.
static bool isNotNegative(Value k) {
  if (std::optional<int64_t> constant = getConstantIntValue(k))
    return *constant >= 0;
  if (auto next = k.getDefiningOp<arith::AddIOp>();
      next && isOneInteger(next.getRhs()))
    return findCounting(next.getLhs()) && isNotNegative(next.getLhs());
  scf::ForOp loop = findCounting(k);
  return loop && isNotNegative(loop.getLowerBound());
}

/// True if `k` is the number of a loop over positions of `vector`, whose length
/// is `extent`.
static bool isPosition(Value k, Value vector, Value extent) {
  scf::ForOp loop = findCounting(k);
  if (!loop || !isNotNegative(loop.getLowerBound()))
    return false;
  Value end = loop.getUpperBound();
  auto other = end.getDefiningOp<tensor::DimOp>();
  return end == extent || (other && stripCasts(other.getSource()) == vector);
}

Value FlatBuilder::read(Value vector, Value k, bool isUnsigned) {
  Value element = b.createOrFold<tensor::ExtractOp>(stripCasts(vector), k);
  return toIndex(element, isUnsigned);
}

Value FlatBuilder::at(Value vector, Value k, Value other, bool isUnsigned) {
  vector = stripCasts(vector);
  if (!other)
    other = index(1);
  auto type = cast<RankedTensorType>(vector.getType());
  std::optional<int64_t> position = getConstantIntValue(k);
  if (position && type.hasStaticShape())
    return *position >= 0 && *position < type.getNumElements()
               ? read(vector, k, isUnsigned)
               : other;
  Value extent = length(vector);
  if (isPosition(k, vector, extent))
    return read(vector, k, isUnsigned);
  // One comparison: a negative position is a large unsigned one.
  return ifElse(
      compare(IP::ult, k, extent), [&] { return read(vector, k, isUnsigned); },
      [&] { return other; });
}

Value FlatBuilder::alignedAt(Value shape, Value own, Value rank, Value k) {
  return at(shape, sub(k, sub(rank, own)));
}

Value FlatBuilder::product(Value shape, Value from, Value to) {
  return forEach(from, to, index(1), [&](Value k, ValueRange carried) {
    return SmallVector<Value>{mul(carried[0], at(shape, k))};
  })[0];
}

Value FlatBuilder::countElements(Value shape) {
  Value most = index(std::numeric_limits<int64_t>::max());
  return forEach(
      index(0), length(shape), index(1), [&](Value k, ValueRange carried) {
        Value extent = at(shape, k);
        Value limit = div(most, maximum(extent, index(1)));
        return SmallVector<Value>{
            select(less(limit, carried[0]), most, mul(carried[0], extent))};
      })[0];
}

Value FlatBuilder::makeShape(Value rank,
                             llvm::function_ref<Value(Value)> extent) {
  OpFoldResult size = getAsOpFoldResult(rank);
  Value init =
      tensor::EmptyOp::create(b, ArrayRef<OpFoldResult>{size}, b.getI64Type());
  Value made = forEach(
      index(0), rank, init,
      [&](Value k, ValueRange carried) -> SmallVector<Value> {
        return {tensor::InsertOp::create(b, toI64(extent(k)), carried[0], k)};
      })[0];
  return b.createOrFold<tensor::CastOp>(flatTypes(b.getI64Type())[1], made);
}

Value FlatBuilder::shapeOf(ValueRange extents) {
  SmallVector<Value> elements;
  for (Value extent : extents)
    elements.push_back(toI64(extent));
  int64_t rank = extents.size();
  Value shape = tensor::FromElementsOp::create(
      b, RankedTensorType::get({rank}, b.getI64Type()), elements);
  return tensor::CastOp::create(b, flatTypes(b.getI64Type())[1], shape);
}

Value FlatBuilder::part(Value shape, Value from, Value to) {
  Value slice = tensor::ExtractSliceOp::create(
      b, shape, ArrayRef<OpFoldResult>{getAsOpFoldResult(from)},
      ArrayRef<OpFoldResult>{getAsOpFoldResult(sub(to, from))},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  return b.createOrFold<tensor::CastOp>(flatTypes(b.getI64Type())[1], slice);
}

Value FlatBuilder::concat(Value first, Value second) {
  Value split = length(first);
  return makeShape(add(split, length(second)), [&](Value k) {
    return ifElse(
        less(k, split), [&] { return at(first, k); },
        [&] { return at(second, sub(k, split)); });
  });
}

Value FlatBuilder::withExtent(Value shape, Value axis, Value extent) {
  return makeShape(length(shape), [&](Value k) {
    return select(equal(k, axis), extent, at(shape, k));
  });
}

Value FlatBuilder::withoutAxis(Value shape, Value axis) {
  Value left = maximum(sub(length(shape), index(1)), index(0));
  return makeShape(left, [&](Value k) {
    return at(shape, select(less(k, axis), k, add(k, index(1))));
  });
}

Value FlatBuilder::withNewAxis(Value shape, Value axis, Value extent) {
  return makeShape(add(length(shape), index(1)), [&](Value k) {
    Value own = at(shape, select(less(k, axis), k, sub(k, index(1))));
    return select(equal(k, axis), extent, own);
  });
}

Value FlatBuilder::withAxes(Value shape, Value axis, Value inserted) {
  Value more = length(inserted);
  Value left = maximum(sub(length(shape), index(1)), index(0));
  return makeShape(add(left, more), [&](Value k) {
    Value behind = sub(k, axis);
    return ifElse(
        compare(IP::ult, behind, more), [&] { return at(inserted, behind); },
        [&] {
          Value later = add(sub(k, more), index(1));
          return at(shape, select(less(k, axis), k, later));
        });
  });
}

Value FlatBuilder::sameShape(Value x, Value y) {
  Value rank = length(x);
  Value same = equal(rank, length(y));
  return forEach(index(0), rank, same, [&](Value k, ValueRange carried) {
    Value unknown = index(-1);
    return SmallVector<Value>{
        both(carried[0], equal(at(x, k, unknown), at(y, k, unknown)))};
  })[0];
}

Value FlatBuilder::sameBeside(Value x, Value y, Value axis) {
  Value rank = length(x);
  Value same = equal(rank, length(y));
  return forEach(index(0), rank, same, [&](Value k, ValueRange carried) {
    Value here = either(equal(k, axis), equal(at(x, k), at(y, k)));
    return SmallVector<Value>{both(carried[0], here)};
  })[0];
}

Value FlatBuilder::normalizeAxis(Value axis, Value rank) {
  Value zero = index(0);
  Value normal = select(less(axis, zero), add(axis, rank), axis);
  check(compare(IP::ult, normal, rank), "axis {} is out of range for rank {}",
        ValueRange{axis, rank});
  return normal;
}

AxisView FlatBuilder::viewAt(Value shape, Value axis) {
  return {product(shape, index(0), axis), at(shape, axis),
          product(shape, add(axis, index(1)), length(shape))};
}

Value FlatBuilder::broadcastShapes(Value x, Value y) {
  if (x == y)
    return x;
  Value rankX = length(x), rankY = length(y);
  Value rank = maximum(rankX, rankY), one = index(1), none = index(-1);
  SmallVector<Value> bad = forEach(
      index(0), rank, {none, none, none},
      [&](Value k, ValueRange carried) -> SmallVector<Value> {
        Value ex = alignedAt(x, rankX, rank, k);
        Value ey = alignedAt(y, rankY, rank, k);
        Value fits =
            either(equal(ex, ey), either(equal(ex, one), equal(ey, one)));
        return {select(fits, carried[0], k), select(fits, carried[1], ex),
                select(fits, carried[2], ey)};
      });
  check(equal(bad[0], none),
        "dimensions {} and {} do not broadcast (axis {} of the result)",
        ValueRange{bad[1], bad[2], bad[0]});
  return makeShape(rank, [&](Value k) {
    Value ex = alignedAt(x, rankX, rank, k);
    return select(equal(ex, one), alignedAt(y, rankY, rank, k), ex);
  });
}

Value FlatBuilder::stridesOf(Value shape) {
  Value rank = length(shape);
  return makeShape(
      rank, [&](Value k) { return product(shape, add(k, index(1)), rank); });
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value FlatBuilder::stridedCopy(Value elements, Value base, Value strides,
                               Value shape, Value count) {
  // By rows of the last axis: where each begins is computed once.
  Value rank = length(shape), zero = index(0), one = index(1);
  Value lastAxis = sub(rank, one);
  Value columns = at(shape, lastAxis), step = at(strides, lastAxis, zero);
  Value rows = div(count, maximum(columns, one));
  Value begins = makeShape(rows, [&](Value row) {
    return forEach(zero, lastAxis, {row, base},
                   [&](Value k, ValueRange carried) -> SmallVector<Value> {
                     Value axis = sub(sub(lastAxis, one), k);
                     Value extent = maximum(read(shape, axis), one);
                     Value here =
                         mul(rem(carried[0], extent), read(strides, axis));
                     return {div(carried[0], extent), add(carried[1], here)};
                   })[1];
  });
  Type element = getElementTypeOrSelf(elements.getType());
  SmallVector<OpFoldResult> sizes{getAsOpFoldResult(rows),
                                  getAsOpFoldResult(columns)};
  Value init = tensor::EmptyOp::create(b, sizes, element);
  SmallVector<AffineMap> maps{
      AffineMap::get(2, 0, b.getAffineDimExpr(0), b.getContext()),
      b.getMultiDimIdentityMap(2)};
  Value copy = fill(init, begins, maps, [&](ValueRange args) -> Value {
    Value column = linalg::IndexOp::create(b, 1);
    Value from = add(toIndex(args[0]), mul(column, step));
    return tensor::ExtractOp::create(b, elements, from);
  });
  return b.createOrFold<tensor::CastOp>(flatTypes(element)[0], collapse(copy));
}

Value FlatBuilder::broadcastTo(FlatTensor flat, Value shape, Value count) {
  if (flat.shape == shape)
    return withCount(flat.elements, count);
  // It broadcasts: as many elements are the same elements in the same order.
  Value elements = ifElse(
      equal(this->count(flat), count), [&] { return flat.elements; },
      [&] {
        Value own = rank(flat), all = length(shape);
        Value strides = makeShape(all, [&](Value k) {
          Value extent = alignedAt(flat.shape, own, all, k);
          Value next = add(sub(k, sub(all, own)), index(1));
          return ifElse(
              equal(extent, index(1)), [&] { return index(0); },
              [&] { return product(flat.shape, next, own); });
        });
        return stridedCopy(flat.elements, index(0), strides, shape, count);
      },
      flat.elements.getType());
  return withCount(elements, count);
}
