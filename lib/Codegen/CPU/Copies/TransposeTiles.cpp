//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Transposes, and elementwise operations that read an operand transposed, by
// square tiles of vectors that are transposed in registers. One by one each
// element would be read from a cache line of its own.
//
// Where one of the two axes is short, as the colours of an image are, tiles are
// as long as a vector and as wide as that axis: vectors of colours that lie
// side by side are vectors of one colour each, shuffled. Where only a run knows
// both axes there is code for each number of colours, and for long axes:
//
//   if (rows == 1) ... else if (rows == 2) ... else if (columns == 1) ... else

#include "Rows/VectorElements.h"
#include "TransposePlan.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Support/IndexEmitter.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace loopc;

/// Tiles below one another that are turned before the next column of tiles.
static constexpr int64_t kBlock = 32;
/// So many tiles beside one another are turned before those below.
static constexpr int64_t kFewTiles = 2;

using Kind = TransposePlan::Kind;
using Part = ShortTranspose::Part;

namespace {
class TransposeTiles : IndexEmitter {
public:
  TransposeTiles(linalg::GenericOp op, const TransposePlan &plan)
      : IndexEmitter(op.getLoc(), op), op(op), plan(plan), rowDim(plan.rowDim),
        columnDim(plan.columnDim), statics(plan.extents), lanes(plan.lanes) {}

  /// Leaves a transpose, and the rest as an operation of its own behind it,
  /// which finds everything in its own order. Null if that cannot be.
  linalg::GenericOp splitOff();
  /// The operation with loops that follow one another in all operands, and are
  /// one behind the other in memory, as one. Null where there are none.
  linalg::GenericOp joinAxes();
  /// Writes the loops in the place of the operation.
  void emit();

private:
  void emitShort(const ShortTranspose &axes, bool isMasked = false);
  void emitVersions();
  void emitLong();
  void emitShortTile(Value rest);
  SmallVector<Value> placeTogether(OpOperand &operand, int64_t number);
  Value pick(ArrayRef<Value> sources,
             llvm::function_ref<std::pair<int64_t, int64_t>(int64_t)> from);
  void emitLoops(ArrayRef<unsigned> dims);
  void emitTile(bool isWhole);
  void emitRow(int64_t i, ArrayRef<SmallVector<Value>> turned, Value mask);
  void emitTileOrRest();
  void loop(unsigned dim, Value begin, Value end, int64_t step,
            llvm::function_ref<void()> body);
  SmallVector<Value> placeOf(OpOperand &operand, ArrayRef<Value> dims) {
    SmallVector<Value> place;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
      place.push_back(apply(expr, dims));
    return place;
  }
  /// True if all tiles are known to be whole along `dim`.
  bool isMultiple(unsigned dim) {
    return !ShapedType::isDynamic(statics[dim]) && statics[dim] % lanes == 0;
  }
  Value apply(AffineExpr expr, ValueRange dims) {
    return applyTo(b, expr, dims);
  }
  Value maskOf(Value count) { return maskOfFirst(b, count, lanes); }
  Value load(Value buffer, ValueRange place, Value mask) {
    return loadLanes(b, buffer, place, mask, lanes, /*filler=*/0);
  }
  Value widened(Value value) { return widen(b, value, lanes); }

  linalg::GenericOp op;
  const TransposePlan &plan;
  unsigned rowDim, columnDim;
  SmallVector<int64_t> statics; ///< extents of the loops
  int64_t lanes;                ///< of the vectors that are written now
  SmallVector<Value> extents, at;
  /// Where one axis is short: that and the other one, how operands lie along
  /// them, and those where the two are one axis.
  unsigned shortDim = 0, longDim = 0;
  ArrayRef<Part> parts;
  SmallVector<Value> joined;
};
} // namespace

linalg::GenericOp TransposeTiles::splitOff() {
  OpOperand *turned = nullptr;
  Value out = op.getOutputs()[0];
  Value memory = getViewRoot(out);
  if (!memory.getDefiningOp<memref::AllocOp>())
    return {};
  for (auto [operand, kind] :
       llvm::zip_equal(op.getDpsInputOperands(), plan.kinds)) {
    // It would be written before it is read.
    if (mayBeOneBuffer(operand->get(), memory))
      return {};
    if (kind != Kind::Rows)
      continue;
    if (turned)
      return {};
    turned = operand;
  }
  if (getElementTypeOrSelf(turned->get()) != getElementTypeOrSelf(out))
    return {};
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap from = maps[turned->getOperandNumber()], to = maps.back();
  auto copy = linalg::GenericOp::create(
      b, TypeRange(), ValueRange{turned->get()}, ValueRange{out},
      ArrayRef{from, to}, op.getIteratorTypesArray(),
      [](OpBuilder &inner, Location loc, ValueRange args) {
        linalg::YieldOp::create(inner, loc, args[0]);
      });
  maps[turned->getOperandNumber()] = to;
  turned->set(out);
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  return copy;
}

// Of the rows of a small image each ends with a tile that is not whole.
linalg::GenericOp TransposeTiles::joinAxes() {
  for (OpOperand &operand : op->getOpOperands())
    if (!op.getMatchingIndexingMap(&operand).isProjectedPermutation() ||
        !cast<MemRefType>(operand.get().getType()).getLayout().isIdentity())
      return {};
  auto follow = [&](int64_t dim) {
    return llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
      return linalg::isDimSequencePreserved(map, {dim, dim + 1});
    });
  };
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim : llvm::seq<int64_t>(0, op.getNumLoops())) {
    if (dim > 0 && follow(dim - 1))
      groups.back().push_back(dim);
    else
      groups.push_back({dim});
  }
  if (groups.size() == op.getNumLoops() || groups.size() < 2)
    return {};
  IRRewriter rewriter(op.getContext());
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::CollapseResult> joined =
      linalg::collapseOpIterationDims(op, groups, rewriter);
  if (failed(joined))
    return {};
  op.erase();
  return cast<linalg::GenericOp>(joined->collapsedOp.getOperation());
}

void TransposeTiles::loop(unsigned dim, Value begin, Value end, int64_t step,
                          llvm::function_ref<void()> body) {
  if (statics[dim] == 1) {
    at[dim] = index(0);
    return body();
  }
  auto nest = scf::ForOp::create(b, begin, end, index(step));
  keepRolled(nest);
  markParallel(nest);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(nest.getBody()->getTerminator());
  at[dim] = nest.getInductionVar();
  body();
}

void TransposeTiles::emitRow(int64_t i, ArrayRef<SmallVector<Value>> turned,
                             Value mask) {
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  SmallVector<Value> here(at);
  here[rowDim] = apply(d0 + i, at[rowDim]);
  IRMapping values;
  for (auto [k, operand] : llvm::enumerate(op.getDpsInputOperands())) {
    BlockArgument argument = op.getMatchingBlockArgument(operand);
    SmallVector<Value> place = placeOf(*operand, here);
    if (plan.kinds[k] == Kind::Rows)
      values.map(argument, turned[k][i]);
    else if (argument.use_empty())
      continue;
    else if (plan.kinds[k] == Kind::Element)
      values.map(argument,
                 widened(memref::LoadOp::create(b, operand->get(), place)));
    else
      values.map(argument, load(operand->get(), place, mask));
  }
  Value result = cloneWide(b, *op.getBody(), values, lanes).front();
  OpOperand &init = *op.getDpsInitOperand(0);
  storeLanes(b, result, init.get(), placeOf(init, here), mask);
}

void TransposeTiles::emitTile(bool isWhole) {
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  Value rows, columns, lastColumn;
  if (!isWhole) {
    rows = apply(d1 - d0, {at[rowDim], extents[rowDim]});
    columns = apply(d1 - d0, {at[columnDim], extents[columnDim]});
    lastColumn = apply(d0 - 1, extents[columnDim]);
  }
  SmallVector<SmallVector<Value>> turned(plan.kinds.size());
  for (auto [k, operand] : llvm::enumerate(op.getDpsInputOperands())) {
    if (plan.kinds[k] != Kind::Rows)
      continue;
    Value mask = isWhole ? Value() : maskOf(rows);
    for (int64_t j : llvm::seq(lanes)) {
      SmallVector<Value> here(at);
      here[columnDim] = apply(d0 + j, at[columnDim]);
      // Columns that are not there are the last one again.
      if (!isWhole)
        here[columnDim] =
            arith::MinSIOp::create(b, here[columnDim], lastColumn);
      turned[k].push_back(load(operand->get(), placeOf(*operand, here), mask));
    }
    turned[k] = transposeVectors(b, turned[k]);
  }
  Value mask = isWhole ? Value() : maskOf(columns);
  for (int64_t i : llvm::seq(lanes)) {
    OpBuilder::InsertionGuard guard(b);
    if (!isWhole && !isMultiple(rowDim)) {
      Value isThere =
          arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, rows, index(i));
      auto branch = scf::IfOp::create(b, isThere);
      b.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    emitRow(i, turned, mask);
  }
}

void TransposeTiles::emitLoops(ArrayRef<unsigned> dims) {
  if (!dims.empty())
    return loop(dims[0], index(0), extents[dims[0]], 1,
                [&] { emitLoops(dims.drop_front()); });
  // Some tiles below one another, then those beside them: what is read, or
  // written, in pieces of a cache line is near the next pieces of it, and lies
  // in few pages.
  int64_t height = kBlock * lanes;
  Value end = extents[rowDim];
  auto block = [&](Value first, Value last) {
    loop(columnDim, index(0), extents[columnDim], lanes,
         [&] { loop(rowDim, first, last, lanes, [&] { emitTileOrRest(); }); });
  };
  auto isUpTo = [&](unsigned dim, int64_t most) {
    return !ShapedType::isDynamic(statics[dim]) && statics[dim] <= most;
  };
  if (isUpTo(rowDim, height) && !isUpTo(columnDim, kFewTiles * lanes))
    return block(index(0), end);
  // Few tiles make a row of the result, which is written at once.
  if (isUpTo(columnDim, kFewTiles * lanes))
    return loop(rowDim, index(0), end, lanes, [&] {
      loop(columnDim, index(0), extents[columnDim], lanes,
           [&] { emitTileOrRest(); });
    });
  loop(rowDim, index(0), end, height, [&] {
    AffineExpr d0 = b.getAffineDimExpr(0);
    Value first = at[rowDim];
    block(first, arith::MinSIOp::create(b, apply(d0 + height, first), end));
  });
}

void TransposeTiles::emitTileOrRest() {
  if (isMultiple(rowDim) && isMultiple(columnDim))
    return emitTile(/*isWhole=*/true);
  Value isWhole;
  AffineExpr d0 = b.getAffineDimExpr(0);
  for (unsigned dim : {rowDim, columnDim}) {
    Value fits = arith::CmpIOp::create(
        b, arith::CmpIPredicate::sle, apply(d0 + lanes, at[dim]), extents[dim]);
    isWhole = isWhole ? arith::AndIOp::create(b, isWhole, fits) : fits;
  }
  auto branch = scf::IfOp::create(b, TypeRange(), isWhole, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  emitTile(/*isWhole=*/true);
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  emitTile(/*isWhole=*/false);
}

//===----------------------------------------------------------------------===//
// A short axis
//===----------------------------------------------------------------------===//

/// A vector whose lane k is lane `from(k).second` of source `from(k).first`.
Value TransposeTiles::pick(
    ArrayRef<Value> sources,
    llvm::function_ref<std::pair<int64_t, int64_t>(int64_t)> from) {
  Value result = sources[0];
  for (int64_t source : llvm::seq<int64_t>(1, sources.size())) {
    SmallVector<int64_t> lanesOf;
    for (int64_t k : llvm::seq(lanes)) {
      auto [number, lane] = from(k);
      lanesOf.push_back(number == source  ? lanes + lane
                        : number > source ? -1
                        : source == 1     ? lane
                                          : k);
    }
    result = vector::ShuffleOp::create(b, result, sources[source], lanesOf);
  }
  return result;
}

/// Where vector `number` of the tile is in `operand` with the long and the
/// short axis, its last ones, as one.
SmallVector<Value> TransposeTiles::placeTogether(OpOperand &operand,
                                                 int64_t number) {
  SmallVector<Value> place = placeOf(operand, at);
  place.pop_back();
  place.back() =
      apply(b.getAffineDimExpr(0) * statics[shortDim] + number * lanes,
            {at[longDim]});
  return place;
}

/// A vector of each number of the short axis; `rest` of their elements, or all
/// where that is null.
void TransposeTiles::emitShortTile(Value rest) {
  int64_t count = statics[shortDim];
  AffineExpr d0 = b.getAffineDimExpr(0);
  Value mask = rest ? maskOf(rest) : Value();
  SmallVector<Value> masks(count);
  for (int64_t k : llvm::seq(rest ? count : 0))
    masks[k] = maskOf(apply(d0 * count - k * lanes, {rest}));
  at[shortDim] = index(0);
  SmallVector<SmallVector<Value>> read(parts.size());
  for (auto [k, operand] : llvm::enumerate(op.getDpsInputOperands()))
    if (parts[k] == Part::Together)
      for (int64_t number : llvm::seq(count))
        read[k].push_back(
            load(joined[k], placeTogether(*operand, number), masks[number]));
  SmallVector<Value> results;
  for (int64_t number : llvm::seq(count)) {
    at[shortDim] = index(number);
    IRMapping values;
    for (auto [k, operand] : llvm::enumerate(op.getDpsInputOperands())) {
      BlockArgument argument = op.getMatchingBlockArgument(operand);
      if (argument.use_empty())
        continue;
      Value value;
      if (parts[k] == Part::Together)
        value = pick(read[k], [&](int64_t lane) {
          int64_t place = lane * count + number;
          return std::pair(place / lanes, place % lanes);
        });
      else if (parts[k] == Part::Apart)
        value = load(operand->get(), placeOf(*operand, at), mask);
      else
        value = widened(
            memref::LoadOp::create(b, operand->get(), placeOf(*operand, at)));
      values.map(argument, value);
    }
    results.push_back(cloneWide(b, *op.getBody(), values, lanes).front());
  }
  OpOperand &init = *op.getDpsInitOperand(0);
  for (int64_t number : llvm::seq(count)) {
    at[shortDim] = index(number);
    if (parts.back() == Part::Apart) {
      storeLanes(b, results[number], init.get(), placeOf(init, at), mask);
      continue;
    }
    Value mixed = pick(results, [&](int64_t lane) {
      int64_t place = number * lanes + lane;
      return std::pair(place % count, place / count);
    });
    storeLanes(b, mixed, joined.back(), placeTogether(init, number),
               masks[number]);
  }
}

/// Tiles along the long axis, the last of which is masked; with `isMasked` all
/// are, which is half the code.
void TransposeTiles::emitShort(const ShortTranspose &axes, bool isMasked) {
  shortDim = axes.shortDim;
  longDim = axes.longDim;
  parts = axes.parts;
  llvm::SaveAndRestore savedLanes(lanes, axes.lanes);
  llvm::SaveAndRestore savedExtent(statics[shortDim], axes.count);
  joined.clear();
  for (auto [k, operand] : llvm::enumerate(op->getOpOperands()))
    joined.push_back(parts[k] == Part::Together ? joinLastAxes(b, operand.get())
                                                : Value());
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  Value size = extents[longDim];
  Value whole = isMasked ? index(0) : apply(d0.floorDiv(lanes) * lanes, {size});
  std::function<void(unsigned)> emit = [&](unsigned next) {
    if (next < out.getNumResults()) {
      unsigned dim = cast<AffineDimExpr>(out.getResult(next)).getPosition();
      if (dim == shortDim || dim == longDim)
        return emit(next + 1);
      return loop(dim, index(0), extents[dim], 1, [&] { emit(next + 1); });
    }
    if (!isMasked)
      loop(longDim, index(0), whole, lanes, [&] { emitShortTile(Value()); });
    if (!ShapedType::isDynamic(statics[longDim]) &&
        statics[longDim] % lanes == 0)
      return;
    loop(longDim, whole, size, lanes,
         [&] { emitShortTile(apply(d1 - d0, {at[longDim], size})); });
  };
  emit(0);
}

/// Both axes long.
void TransposeTiles::emitLong() {
  SmallVector<unsigned> outer;
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (AffineExpr expr : out.getResults()) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    if (dim != rowDim && dim != columnDim)
      outer.push_back(dim);
  }
  emitLoops(outer);
}

/// Code for each number that one of two open axes may have, and for more.
void TransposeTiles::emitVersions() {
  OpBuilder::InsertionGuard guard(b);
  for (const ShortTranspose &version : plan.versions) {
    Value isFew =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                              extents[version.shortDim], index(version.count));
    auto branch = scf::IfOp::create(b, TypeRange(), isFew, /*withElse=*/true);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    emitShort(version, /*isMasked=*/true);
    b.setInsertionPoint(branch.elseBlock()->getTerminator());
  }
  emitLong();
}

void TransposeTiles::emit() {
  for (OpFoldResult extent : createExtents(b, op))
    extents.push_back(getValueOrCreateConstantIndexOp(b, b.getLoc(), extent));
  at.assign(extents.size(), Value());
  if (plan.isShort)
    emitShort(*plan.isShort);
  else
    emitVersions();
  op.erase();
}

bool loopc::transposeTiles(linalg::GenericOp op, CpuModel cpu) {
  std::optional<TransposePlan> plan = planTranspose(op, cpu);
  if (!plan)
    return false;
  TransposeTiles tiles(op, *plan);
  if (plan->isCopiedFirst) {
    if (linalg::GenericOp copy = tiles.splitOff())
      transposeTiles(copy, cpu);
    return false;
  }
  if (linalg::GenericOp joined = tiles.joinAxes())
    return transposeTiles(joined, cpu);
  tiles.emit();
  return true;
}
