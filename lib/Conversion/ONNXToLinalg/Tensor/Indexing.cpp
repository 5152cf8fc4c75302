//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Elements read from and written to places that tensors of indices name. An
// index out of range ends the run; it is found before anything is read.

#include "Framework/ElementwiseUtils.h"
#include "Framework/ShapeUtils.h"
#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

/// The one element of a tensor all of whose extents are 1.
static Value onlyElement(NodeLowering &l, Value tensor) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  SmallVector<Value> zeros(rank, l.index(0));
  return elementAt(l, tensor, zeros);
}

static bool isOne(OpFoldResult extent) { return isConstantIntValue(extent, 1); }

static Value scalarTensor(NodeLowering &l, Value scalar) {
  return tensor::FromElementsOp::create(
      l.b, RankedTensorType::get({}, scalar.getType()), scalar);
}

/// Gathers one row: a view of the data.
static Value gatherRow(NodeLowering &l, Value data, int64_t axis, Value at,
                       bool dropsAxis, ArrayRef<OpFoldResult> target) {
  Dims sizes = l.dims(data), offsets(sizes.size(), l.fold(0));
  sizes[axis] = l.fold(1);
  offsets[axis] = at;
  if (std::optional<int64_t> constant = getConstantIntValue(at))
    offsets[axis] = l.fold(*constant);
  if (dropsAxis && sizes.size() == 1)
    return scalarTensor(l, elementAt(l, data, at));
  if (dropsAxis)
    return sliceDropping(l, data, offsets, sizes, axis);
  return reshapeByGroups(l, sliceOf(l, data, offsets, sizes), target);
}

/// A tensor of `target`, where `indices` say the places along `axis`, and its
/// other axes are those of `data`.
static Value gatherSpace(NodeLowering &l, Value data, int64_t axis,
                         const SpaceOperand &indices,
                         ArrayRef<OpFoldResult> target,
                         const CheckedIndices &checked) {
  auto type = cast<RankedTensorType>(data.getType());
  // Axes of the target behind those of the indices.
  int64_t added = target.size() - type.getRank();
  return mapSpace(l, indices, target, type.getElementType(),
                  [&](ScalarBuilder &s, ArrayRef<Value> e) -> Value {
                    SmallVector<Value> from;
                    for (int64_t k : llvm::seq(type.getRank()))
                      from.push_back(
                          k == axis
                              ? checked.position(s.b, s.loc, e[0])
                              : Value(linalg::IndexOp::create(
                                    s.b, s.loc, k < axis ? k : k + added)));
                    return tensor::ExtractOp::create(s.b, s.loc, data, from);
                  });
}

static LogicalResult lowerGather(NodeLowering &l) {
  Value data = stripCasts(l.in(0)), indices = stripCasts(l.in(1));
  Dims dataDims = l.dims(data), indexDims = l.dims(indices);
  int64_t rank = dataDims.size(), indexRank = indexDims.size();
  FailureOr<int64_t> axis = l.axisAttr("axis", rank, 0);
  if (failed(axis))
    return failure();
  CheckedIndices checked(l, 1, dataDims[*axis]);
  Dims target(ArrayRef(dataDims).take_front(*axis));
  llvm::append_range(target, indexDims);
  llvm::append_range(target, ArrayRef(dataDims).drop_front(*axis + 1));
  Type element = l.elementType(0);
  if (rank == 1 && isSmallIntegers(target, element)) {
    l.setResult(fromElements(l, target, element, [&](int64_t k) {
      SmallVector<Value> at(indexRank, l.index(k));
      Value raw = elementAt(l, indices, at);
      return elementAt(l, data, checked.position(l.b, l.b.getLoc(), raw));
    }));
    return success();
  }
  if (llvm::all_of(indexDims, isOne) &&
      !isConstantIntValue(dataDims[*axis], 0)) {
    Value at = checked.position(l.b, l.b.getLoc(), onlyElement(l, indices));
    l.setResult(gatherRow(l, data, *axis, at, indexRank == 0, target));
    return success();
  }
  auto own = llvm::to_vector(llvm::seq(*axis, *axis + indexRank));
  l.setResult(gatherSpace(l, data, *axis, {indices, own}, target, checked));
  return success();
}

/// The run ends with an error where `indices` reaches beyond `data` on an axis
/// other than `axis`.
static LogicalResult checkFitsInside(NodeLowering &l, int64_t axis) {
  if (l.rank(0) != l.rank(1))
    return l.refuse("data of rank " + Twine(l.rank(0)) +
                    " and indices of rank " + Twine(l.rank(1)));
  Dims data = l.dims(l.in(0)), indices = l.dims(l.in(1));
  for (int64_t k : llvm::seq(l.rank(0)))
    if (k != axis && !sameExtent(data[k], indices[k]))
      l.check(compare(l, IP::ule, indices[k], data[k]),
              "axis " + Twine(k) +
                  ": the indices' extent {} is greater than the data's, {}",
              ValueRange{l.asIndex(indices[k]), l.asIndex(data[k])});
  return success();
}

static LogicalResult lowerGatherElements(NodeLowering &l) {
  Value data = stripCasts(l.in(0)), indices = l.in(1);
  int64_t rank = l.rank(0);
  FailureOr<int64_t> axis = l.axisAttr("axis", rank, 0);
  if (failed(axis) || failed(checkFitsInside(l, *axis)))
    return failure();
  CheckedIndices checked(l, 1, l.dim(data, *axis));
  l.setResult(gatherSpace(l, data, *axis, {indices, allAxes(rank)},
                          l.dims(indices), checked));
  return success();
}

/// How many axes the tuples of the indices (the elements of their last axis)
/// name: a cast may know it, or what is cast.
static FailureOr<int64_t> tupleSize(NodeLowering &l, int64_t most) {
  int64_t rank = l.rank(1);
  if (rank == 0)
    return l.refuse("the indices have rank 0");
  std::optional<int64_t> size;
  for (Value indices : {l.in(1), stripCasts(l.in(1))})
    if (!size)
      size = getConstantIntValue(l.dim(indices, rank - 1));
  if (!size)
    return l.unsupported("the last dimension of the indices is not known at "
                         "compile time");
  if (*size > most)
    return l.refuse("the indices name " + Twine(*size) +
                    " axes, the data has " + Twine(most));
  return *size;
}

static LogicalResult lowerGatherND(NodeLowering &l) {
  Value data = stripCasts(l.in(0)), indices = stripCasts(l.in(1));
  int64_t rank = l.rank(0), indexRank = l.rank(1);
  int64_t batch =
      l.node.getSinceVersion() >= 12 ? l.intAttr("batch_dims", 0) : 0;
  if (batch < 0 || batch >= std::min(rank, indexRank))
    return l.refuse("'batch_dims' is " + Twine(batch));
  FailureOr<int64_t> tuple = tupleSize(l, rank - batch);
  if (failed(tuple))
    return failure();
  if (*tuple == 0) // ScatterND takes it
    return l.refuse("the indices name 0 axes, expected 1 or more");
  Dims dataDims = l.dims(data), indexDims = l.dims(indices);
  for (int64_t k : llvm::seq(batch))
    requireEqual(l, dataDims[k], indexDims[k], "batch axis " + Twine(k));
  CheckedIndices checked(l, 1, ArrayRef(dataDims).slice(batch, *tuple));
  int64_t outer = indexRank - 1;
  Dims target(ArrayRef(indexDims).take_front(outer));
  llvm::append_range(target, ArrayRef(dataDims).drop_front(batch + *tuple));
  auto tupleAt = [&](OpBuilder &b, Location loc, ValueRange position,
                     SmallVectorImpl<Value> &from) {
    SmallVector<Value> at(position);
    at.push_back({});
    for (int64_t k : llvm::seq(*tuple)) {
      at.back() = arith::ConstantIndexOp::create(b, loc, k);
      Value raw = b.createOrFold<tensor::ExtractOp>(loc, indices, at);
      from.push_back(checked.position(b, loc, raw, k));
    }
  };
  if (outer == 0 && *tuple < rank && !isKnownEmpty(dataDims)) {
    // One tuple names a view.
    SmallVector<Value> from;
    tupleAt(l.b, l.b.getLoc(), {}, from);
    Dims offsets(rank, l.fold(0)), sizes = dataDims;
    SmallVector<int64_t> dropped;
    for (int64_t k : llvm::seq(*tuple)) {
      offsets[k] = from[k];
      sizes[k] = l.fold(1);
      dropped.push_back(k);
    }
    l.setResult(sliceDropping(l, data, offsets, sizes, dropped));
    return success();
  }
  l.setResult(
      l.generate(target, l.elementType(0),
                 [&](OpBuilder &b, Location loc, ValueRange position) -> Value {
                   SmallVector<Value> from(position.take_front(batch));
                   tupleAt(b, loc, position.take_front(outer), from);
                   llvm::append_range(from, position.drop_front(outer));
                   return tensor::ExtractOp::create(b, loc, data, from);
                 }));
  return success();
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

namespace {
/// What becomes of an element and its update.
struct Reduction {
  enum Kind { None, Add, Mul, Min, Max } kind;
  bool isUnsigned;

  Value operator()(OpBuilder &b, Location loc, Value old, Value update) const;

private:
  Value combine(OpBuilder &b, Location loc, Value x, Value y) const;
};
} // namespace

/// True for complex numbers; strings are pairs of integers.
static bool isComplex(Type type) {
  auto complex = dyn_cast<ComplexType>(type);
  return complex && isa<FloatType>(complex.getElementType());
}

template <typename FloatOp, typename SignedOp, typename UnsignedOp = SignedOp>
static Value arithmetic(OpBuilder &b, Location loc, Value x, Value y,
                        bool isUnsigned) {
  if (isa<FloatType>(x.getType()))
    return FloatOp::create(b, loc, x, y);
  if (isUnsigned)
    return UnsignedOp::create(b, loc, x, y);
  return SignedOp::create(b, loc, x, y);
}

Value Reduction::combine(OpBuilder &b, Location loc, Value x, Value y) const {
  switch (kind) {
  case None:
    return y;
  case Add:
    // Booleans: or, as NumPy has it.
    if (x.getType().isInteger(1))
      return arith::OrIOp::create(b, loc, x, y);
    if (isComplex(x.getType()))
      return complex::AddOp::create(b, loc, x, y);
    return arithmetic<arith::AddFOp, arith::AddIOp>(b, loc, x, y, isUnsigned);
  case Mul:
    if (isComplex(x.getType()))
      return complex::MulOp::create(b, loc, x, y);
    return arithmetic<arith::MulFOp, arith::MulIOp>(b, loc, x, y, isUnsigned);
  case Min:
    return arithmetic<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(
        b, loc, x, y, isUnsigned);
  case Max:
    return arithmetic<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(
        b, loc, x, y, isUnsigned);
  }
  llvm_unreachable("all kinds are handled");
}

Value Reduction::operator()(OpBuilder &b, Location loc, Value old,
                            Value update) const {
  if (kind == None)
    return update;
  Type type = old.getType(), compute = NodeLowering::computeType(type);
  auto cast = [&](Value v, Type to) {
    return NodeLowering::castScalar(b, loc, v, isUnsigned, to, isUnsigned);
  };
  return cast(combine(b, loc, cast(old, compute), cast(update, compute)), type);
}

static FailureOr<Reduction> reductionOf(NodeLowering &l) {
  int64_t since = l.node.getSinceVersion();
  std::string name = since >= 16 ? l.stringAttr("reduction", "none") : "none";
  auto kind = llvm::StringSwitch<std::optional<Reduction::Kind>>(name)
                  .Case("none", Reduction::None)
                  .Case("add", Reduction::Add)
                  .Case("mul", Reduction::Mul)
                  .Case("min", Reduction::Min)
                  .Case("max", Reduction::Max)
                  .Default(std::nullopt);
  if (!kind)
    return l.refuse("reduction '" + name + "' is not known");
  Type type = l.elementType(0);
  if (*kind != Reduction::None && !isa<FloatType, IntegerType>(type) &&
      !isComplex(type))
    return l.refuse("reductions need numbers");
  if (isComplex(type) && (*kind == Reduction::Min || *kind == Reduction::Max))
    return l.refuse("complex numbers have no order");
  return Reduction{*kind, l.isUnsigned(0)};
}

/// In a kernel nothing is written where an index is out of range: a thread may
/// not wait for the one that checks, and an axis that may be empty has no safe
/// place. On a CPU what writes stays behind the check (`needsNoCheck`).
static void guardWrites(NodeLowering &l, const CheckedIndices &checked,
                        ArrayRef<OpFoldResult> axes, Dims &loops) {
  bool hasSafePlace = llvm::all_of(axes, [](OpFoldResult extent) {
    return getConstantIntValue(extent).value_or(0) > 0;
  });
  if (!l.forKernels || checked.isStaticallyOk() || hasSafePlace)
    return;
  if (loops.empty())
    loops.push_back(l.fold(1));
  loops[0] = select(l, checked.ok(), loops[0], l.fold(0));
}

static LogicalResult lowerScatterElements(NodeLowering &l) {
  Value data = l.in(0), indices = l.in(1), updates = l.in(2);
  int64_t rank = l.rank(0);
  FailureOr<int64_t> axis = l.axisAttr("axis", rank, 0);
  FailureOr<Reduction> reduction = reductionOf(l);
  if (failed(axis) || failed(reduction) || failed(checkFitsInside(l, *axis)))
    return failure();
  if (l.rank(2) != rank)
    return l.refuse("updates of rank " + Twine(l.rank(2)) +
                    " and indices of rank " + Twine(rank));
  Dims loops = l.dims(indices), updateDims = l.dims(updates);
  bool isPossible = true;
  for (int64_t k : llvm::seq(rank))
    isPossible &= requireEqual(l, loops[k], updateDims[k],
                               "axis " + Twine(k) + " of indices and updates");
  OpFoldResult extent = l.dim(data, *axis);
  CheckedIndices checked(l, 1, extent);
  guardWrites(l, checked, extent, loops);
  if (!isPossible || isKnownEmpty(l.dims(data))) {
    l.setResult(data);
    return success();
  }
  // Those that differ on another axis write different elements. Threads of a
  // GPU take these; on a CPU rows are written in the order of memory.
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq(rank));
  if (l.forKernels)
    std::rotate(order.begin() + *axis, order.begin() + *axis + 1, order.end());
  size_t numParallel = llvm::find(order, *axis) - order.begin();
  Dims ordered;
  for (int64_t k : order)
    ordered.push_back(loops[k]);
  auto write = [&](ValueRange at, ValueRange carried) {
    SmallVector<Value> position(rank);
    for (auto [k, value] : llvm::zip_equal(order, at))
      position[k] = value;
    SmallVector<Value> to(position);
    to[*axis] =
        checked.position(l.b, l.b.getLoc(), elementAt(l, indices, position), 0);
    Value update = elementAt(l, updates, position);
    if (reduction->kind != Reduction::None) {
      Value old = tensor::ExtractOp::create(l.b, carried[0], to);
      update = (*reduction)(l.b, l.b.getLoc(), old, update);
    }
    return SmallVector<Value>{
        tensor::InsertOp::create(l.b, update, carried[0], to)};
  };
  l.setResult(loopNest(l, ordered, data, write, numParallel)[0]);
  return success();
}

/// Puts `row`, reduced with what is there, into `into` at `offsets`; the first
/// `tuple` axes have extent 1.
static Value scatterRow(NodeLowering &l, Value row, Value into,
                        ArrayRef<OpFoldResult> offsets,
                        ArrayRef<OpFoldResult> sizes, int64_t tuple,
                        const Reduction &reduction) {
  auto dropped = llvm::to_vector(llvm::seq<int64_t>(0, tuple));
  if (reduction.kind != Reduction::None) {
    Value old = sliceDropping(l, into, offsets, sizes, dropped);
    int64_t rank = cast<RankedTensorType>(old.getType()).getRank();
    AffineMap map = l.b.getMultiDimIdentityMap(rank);
    row = linalg::GenericOp::create(
              l.b, old.getType(), row, old, ArrayRef<AffineMap>{map, map},
              SmallVector(rank, utils::IteratorType::parallel),
              [&](OpBuilder &b, Location loc, ValueRange args) {
                linalg::YieldOp::create(b, loc,
                                        reduction(b, loc, args[1], args[0]));
              })
              .getResult(0);
  }
  return l.insert(row, into, offsets, sizes, /*strides=*/{}, dropped);
}

namespace {
/// The operands of a ScatterND.
struct ScatterND {
  Value data, indices, updates;
  int64_t rank, outer, tuple;
  Dims dataDims;
  Reduction reduction;

  Value apply(NodeLowering &l, const CheckedIndices &checked,
              ValueRange position, Value into) const;
};
} // namespace

/// Applies the update at `position`, one tuple of the indices.
Value ScatterND::apply(NodeLowering &l, const CheckedIndices &checked,
                       ValueRange position, Value into) const {
  SmallVector<Value> to, at(position);
  at.push_back({});
  for (int64_t k : llvm::seq(tuple)) {
    at.back() = l.index(k);
    to.push_back(
        checked.position(l.b, l.b.getLoc(), elementAt(l, indices, at), k));
  }
  if (tuple == rank) {
    Value update = elementAt(l, updates, position);
    if (reduction.kind != Reduction::None) {
      Value old = tensor::ExtractOp::create(l.b, into, to);
      update = reduction(l.b, l.b.getLoc(), old, update);
    }
    return tensor::InsertOp::create(l.b, update, into, to);
  }
  Dims offsets(rank, l.fold(0)), sizes = dataDims;
  for (int64_t k : llvm::seq(tuple)) {
    offsets[k] = to[k];
    sizes[k] = l.fold(1);
  }
  // The update's extents behind the tuples, where those of the data tell more.
  Dims rowOffsets(position), rowSizes(outer, l.fold(1));
  for (int64_t k = tuple; k < rank; ++k) {
    rowOffsets.push_back(l.fold(0));
    rowSizes.push_back(dataDims[k]);
  }
  Value row = updates;
  if (outer > 0)
    row = sliceDropping(l, updates, rowOffsets, rowSizes,
                        llvm::to_vector(llvm::seq<int64_t>(0, outer)));
  SmallVector<int64_t> shape;
  for (int64_t k = tuple; k < rank; ++k)
    shape.push_back(
        getConstantIntValue(dataDims[k]).value_or(ShapedType::kDynamic));
  auto type = RankedTensorType::get(shape, l.elementType(0));
  if (row.getType() != type)
    row = l.b.createOrFold<tensor::CastOp>(type, row);
  return scatterRow(l, row, into, offsets, sizes, tuple, reduction);
}

static LogicalResult lowerScatterND(NodeLowering &l) {
  FailureOr<Reduction> reduction = reductionOf(l);
  if (failed(reduction))
    return failure();
  Value indices = stripCasts(l.in(1));
  FailureOr<int64_t> tuple = tupleSize(l, l.rank(0));
  if (failed(tuple))
    return failure();
  ScatterND scatter{l.in(0),       indices, l.in(2),         l.rank(0),
                    l.rank(1) - 1, *tuple,  l.dims(l.in(0)), *reduction};
  int64_t updateRank = scatter.outer + scatter.rank - *tuple;
  if (l.rank(2) != updateRank)
    return l.refuse("updates of rank " + Twine(l.rank(2)) + ", expected " +
                    Twine(updateRank));
  Dims expected(ArrayRef(l.dims(indices)).take_front(scatter.outer));
  Dims loops = expected;
  llvm::append_range(expected, ArrayRef(scatter.dataDims).drop_front(*tuple));
  bool isPossible = true;
  for (auto [k, extent] : llvm::enumerate(l.dims(scatter.updates)))
    isPossible &= requireEqual(l, extent, expected[k],
                               "axis " + Twine(k) +
                                   " of the updates and what the data wants");
  ArrayRef<OpFoldResult> axes(scatter.dataDims);
  CheckedIndices checked(l, 1, axes.take_front(*tuple));
  guardWrites(l, checked, axes.take_front(*tuple), loops);
  if (!isPossible || isKnownEmpty(scatter.dataDims)) {
    l.setResult(scatter.data);
    return success();
  }
  l.setResult(loopNest(
      l, loops, scatter.data, [&](ValueRange position, ValueRange carried) {
        // A loop that only guards has no axis.
        return SmallVector<Value>{scatter.apply(
            l, checked, position.take_front(scatter.outer), carried[0])};
      })[0]);
  return success();
}

//===----------------------------------------------------------------------===//
// TensorScatter
//===----------------------------------------------------------------------===//

namespace {
/// The operands of a TensorScatter.
struct CacheUpdate {
  Value cache, update;
  int64_t rank, axis;
  bool isCircular, hasStarts;
  Dims cacheDims, dims;

  OpFoldResult length() const { return dims[axis]; }
  OpFoldResult capacity() const { return cacheDims[axis]; }
  /// Holds the shapes against each other; false where they cannot fit.
  bool checkShapes(NodeLowering &l) const;
  /// One write for all, for a batch item, or (circular) for an element of its
  /// sequence: the loops over them, and what one of them writes.
  Dims loops(NodeLowering &l) const;
  Dims sizes(NodeLowering &l) const;
  /// Where the write `position` begins in the cache, on its sequence axis.
  OpFoldResult start(NodeLowering &l, ValueRange position,
                     const std::optional<CheckedIndices> &checked) const;
};
} // namespace

bool CacheUpdate::checkShapes(NodeLowering &l) const {
  bool isPossible = true;
  for (int64_t k : llvm::seq(rank))
    if (k != axis)
      isPossible &=
          requireEqual(l, dims[k], cacheDims[k],
                       "axis " + Twine(k) + " of the update and of the cache");
  if (hasStarts)
    isPossible &= requireEqual(l, l.dim(l.in(2), 0), dims[0],
                               "number of write indices and extent of the "
                               "batch");
  l.check(compare(l, IP::ule, length(), capacity()),
          "the update has {} elements on its sequence axis, the cache {}",
          ValueRange{l.asIndex(length()), l.asIndex(capacity())});
  return isPossible && !isKnownEmpty(dims) && !isKnownEmpty(cacheDims);
}

Dims CacheUpdate::loops(NodeLowering &l) const {
  Dims loops = {hasStarts ? dims[0] : l.fold(1)};
  if (hasStarts && isCircular)
    loops.push_back(length());
  return loops;
}

Dims CacheUpdate::sizes(NodeLowering &l) const {
  Dims sizes = dims;
  if (hasStarts)
    sizes[0] = l.fold(1);
  if (hasStarts && isCircular)
    sizes[axis] = l.fold(1);
  return sizes;
}

OpFoldResult
CacheUpdate::start(NodeLowering &l, ValueRange position,
                   const std::optional<CheckedIndices> &checked) const {
  Value raw = elementAt(l, l.in(2), position[0]);
  if (!isCircular)
    return checked->position(l.b, l.b.getLoc(), raw);
  // An empty cache must not be divided by.
  Value extent = l.asIndex(maxSigned(l, capacity(), l.fold(1)));
  Value sum = l.asIndex(l.add(l.toIndex(raw), position[1]));
  Value rest = arith::RemSIOp::create(l.b, sum, extent);
  return select(l, compare(l, IP::slt, rest, l.fold(0)), l.add(rest, extent),
                rest);
}

/// Writes each batch item's update behind what its cache holds.
static LogicalResult lowerTensorScatter(NodeLowering &l) {
  int64_t rank = l.rank(0);
  FailureOr<int64_t> axis = l.axisAttr("axis", rank, -2);
  if (failed(axis))
    return failure();
  std::string mode = l.stringAttr("mode", "linear");
  if (mode != "linear" && mode != "circular")
    return l.refuse("mode '" + mode + "' is not known");
  if (*axis == 0 || l.rank(1) != rank || (l.has(2) && l.rank(2) != 1))
    return l.refuse("axis 0 is the batch, cache and update have one rank, and "
                    "the write indices have rank 1");
  CacheUpdate write{
      l.in(0),  l.in(1),         rank,           *axis, mode == "circular",
      l.has(2), l.dims(l.in(0)), l.dims(l.in(1))};
  if (!write.checkShapes(l)) {
    l.setResult(write.cache);
    return success();
  }
  Value ok = compare(l, IP::ule, write.length(), write.capacity());
  std::optional<CheckedIndices> checked;
  if (write.hasStarts && !write.isCircular) {
    // The last place that an update fits behind.
    OpFoldResult room =
        l.add(l.sub(write.capacity(), write.length()), l.fold(1));
    checked.emplace(l, 2, room, /*wraps=*/false);
    ok = both(l, ok, checked->ok());
  }
  Dims loops = write.loops(l), sizes = write.sizes(l);
  loops[0] = select(l, ok, loops[0], l.fold(0));
  l.setResult(loopNest(
      l, loops, write.cache, [&](ValueRange position, ValueRange carried) {
        Dims from(rank, l.fold(0)), to(rank, l.fold(0));
        if (write.hasStarts) {
          from[0] = to[0] = position[0];
          to[*axis] = write.start(l, position, checked);
          if (write.isCircular)
            from[*axis] = position[1];
        }
        Value part = sliceOf(l, write.update, from, sizes);
        return SmallVector<Value>{l.insert(part, carried[0], to, sizes)};
      })[0]);
  return success();
}

//===----------------------------------------------------------------------===//
// OneHot
//===----------------------------------------------------------------------===//

static LogicalResult lowerOneHot(NodeLowering &l) {
  Value indices = l.in(0), values = l.in(2);
  int64_t rank = l.rank(0);
  FailureOr<int64_t> axis = l.axisAttr("axis", rank + 1, -1);
  if (failed(axis))
    return failure();
  if (l.rank(2) != 1)
    return l.refuse("'values' must have rank 1");
  if (!requireEqual(l, lengthOf(l, 2), l.fold(2), "number of values"))
    return l.refuse("'values' must hold two elements");
  Type wide = l.b.getI64Type();
  Value number = NodeLowering::castScalar(l.b, l.b.getLoc(), l.scalar(l.in(1)),
                                          l.isUnsigned(1), wide, false);
  Value depthIndex = l.toIndex(number);
  OpFoldResult depth = depthIndex;
  if (std::optional<int64_t> constant = getConstantIntValue(depthIndex))
    depth = l.fold(*constant);
  depth = requireNonNegative(l, depth, "depth");
  Value off = elementAt(l, values, l.index(0));
  Value on = elementAt(l, values, l.index(1));
  Dims target = l.dims(indices);
  target.insert(target.begin() + *axis, depth);
  // Since version 11 negative indices count from the end.
  bool wraps = l.node.getSinceVersion() >= 11 && !l.isUnsigned(0);
  bool isUnsigned = l.isUnsigned(0);
  Value extent = l.asIndex(depth), zero = l.index(0);
  l.setResult(
      mapSpace(l, {{indices, otherAxes(rank + 1, *axis)}}, target,
               l.elementType(2), [&](ScalarBuilder &s, ArrayRef<Value> e) {
                 Value at = NodeLowering::castScalar(s.b, s.loc, e[0],
                                                     isUnsigned, wide, false);
                 at = s.make<arith::IndexCastOp>(s.b.getIndexType(), at);
                 if (wraps)
                   at = s.select(s.less(at, zero), s.add(at, extent), at);
                 Value here = linalg::IndexOp::create(s.b, s.loc, *axis);
                 return s.select(s.equal(here, at), on, off);
               }));
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

void loopc::addIndexingRows(LoweringTable &table) {
  table.add({
      {"", "Gather", 1, kLatest, lowerGather},
      {"", "GatherElements", 11, kLatest, lowerGatherElements},
      {"", "GatherND", 11, kLatest, lowerGatherND},
      {"", "Scatter", 9, kLatest, lowerScatterElements},
      {"", "ScatterElements", 11, kLatest, lowerScatterElements},
      {"", "ScatterND", 11, kLatest, lowerScatterND},
      {"", "TensorScatter", 24, kLatest, lowerTensorScatter},
      {"", "OneHot", 9, kLatest, lowerOneHot},
  });
}
