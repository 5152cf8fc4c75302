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

#include "Contractions.h"
#include "Rows/VectorElements.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace loopc;

/// So many operations are written out for each row of a tile.
static constexpr int64_t kLightBody = 6;
/// Numbers of a short axis at most.
static constexpr int64_t kFewNumbers = 4;
/// Tiles below one another that are turned before the next column of tiles.
static constexpr int64_t kBlock = 32;
/// So many tiles beside one another are turned before those below.
static constexpr int64_t kFewTiles = 2;

namespace {
class TransposeTiles {
public:
  TransposeTiles(linalg::GenericOp op, CpuModel cpu)
      : b(op.getLoc(), op), op(op), cpu(cpu) {}
  bool run();

private:
  /// How an operand is read: in vectors along the rows of the tile, along its
  /// columns, or as one element for all columns.
  enum class Kind { Rows, Columns, Element };

  /// How an operand is read or written where one axis is short: one element
  /// for a whole vector, a vector for each number of the short axis, or as many
  /// vectors as there are numbers, in which these lie side by side.
  enum class Part { Element, Apart, Together };

  bool match();
  std::optional<Kind> kindOf(OpOperand &operand);
  bool matchShort();
  bool matchParts(unsigned few, unsigned many, int64_t count);
  std::optional<Part> partOf(OpOperand &operand, int64_t count);
  void emitShort(bool isMasked = false);
  void emitVersions();
  void emitLong();
  void emitShortTile(Value rest);
  Value together(OpOperand &operand);
  SmallVector<Value> placeTogether(OpOperand &operand, int64_t number);
  Value pick(ArrayRef<Value> sources,
             llvm::function_ref<std::pair<int64_t, int64_t>(int64_t)> from);
  bool splitOff();
  linalg::GenericOp joinAxes();
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
  Value apply(AffineExpr expr, ValueRange dims) {
    return applyTo(b, expr, dims);
  }
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value maskOf(Value count) { return maskOfFirst(b, count, lanes); }
  Value widened(Value value) { return widen(b, value, lanes); }

  ImplicitLocOpBuilder b;
  linalg::GenericOp op;
  CpuModel cpu;
  SmallVector<Kind> kinds;
  SmallVector<Value> extents, at;
  SmallVector<int64_t> statics;
  /// Vectors of the result run along the columns.
  unsigned rowDim = 0, columnDim = 0;
  int64_t lanes = 0;
  /// The short axis and the other one, how operands lie along them, and those
  /// where the two are one axis.
  unsigned shortDim = 0, longDim = 0;
  SmallVector<Part> parts;
  SmallVector<Value> joined;
};
} // namespace

static bool hasUnitStride(Value buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  return type && type.isLastDimUnitStride();
}

std::optional<TransposeTiles::Kind> TransposeTiles::kindOf(OpOperand &operand) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!map.isFunctionOfDim(columnDim))
    return Kind::Element;
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  if (!last || !hasUnitStride(operand.get()) ||
      llvm::count_if(map.getResults(), [&](AffineExpr expr) {
        return expr.isFunctionOfDim(last.getPosition());
      }) != 1)
    return std::nullopt;
  return last.getPosition() == columnDim ? Kind::Columns : Kind::Rows;
}

bool TransposeTiles::match() {
  if (!op.hasPureBufferSemantics() || op.getNumReductionLoops() != 0 ||
      op.getNumDpsInits() != 1 || op.getNumLoops() < 2 ||
      !op.getRegionOutputArgs()[0].use_empty())
    return false;
  OpOperand &init = *op.getDpsInitOperand(0);
  AffineMap out = op.getMatchingIndexingMap(&init);
  auto bitsOf = [&](OpOperand &operand) {
    unsigned bits =
        vectorBitsOf(getElementTypeOrSelf(operand.get())).value_or(0);
    return cpu.canMask(bits) ? bits : 0;
  };
  unsigned bits = bitsOf(init);
  if (!out.isPermutation() || !hasUnitStride(init.get()) || bits == 0)
    return false;
  columnDim = cast<AffineDimExpr>(out.getResults().back()).getPosition();
  std::optional<unsigned> rows;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!isa<MemRefType>(input->get().getType()))
      return false;
    std::optional<Kind> kind = kindOf(*input);
    if (!kind)
      return false;
    kinds.push_back(*kind);
    if (*kind == Kind::Element)
      continue;
    if (bitsOf(*input) == 0)
      return false;
    bits = std::max(bits, bitsOf(*input));
    if (*kind == Kind::Columns)
      continue;
    unsigned dim = cast<AffineDimExpr>(
                       op.getMatchingIndexingMap(input).getResults().back())
                       .getPosition();
    if (rows && *rows != dim)
      return false;
    rows = dim;
  }
  statics = op.getStaticLoopRanges();
  if (!rows || statics[*rows] == 1 || statics[columnDim] == 1)
    return false;
  rowDim = *rows;
  // Lanes that are masked compute, too: nothing that may fail.
  for (Operation &inner : op.getBody()->without_terminator())
    if (!isVectorOperation(inner))
      return false;
  lanes = cpu.lanesOf(bits);
  for (unsigned dim : {rowDim, columnDim})
    if (!ShapedType::isDynamic(statics[dim]))
      lanes = std::min<int64_t>(lanes, llvm::PowerOf2Ceil(statics[dim]));
  lanes = std::min(lanes, CpuModel::kSquareLanes);
  return lanes > 1;
}

/// Leaves a transpose, whose tiles are small, and the rest as an operation of
/// its own behind it, which finds everything in its own order. False if that
/// cannot be.
bool TransposeTiles::splitOff() {
  OpOperand *turned = nullptr;
  Value out = op.getOutputs()[0];
  for (auto [operand, kind] :
       llvm::zip_equal(op.getDpsInputOperands(), kinds)) {
    // Written before it is read.
    if (operand->get() == out ||
        !isa_and_nonnull<memref::AllocOp>(out.getDefiningOp()))
      return false;
    if (kind != Kind::Rows)
      continue;
    if (turned)
      return false;
    turned = operand;
  }
  if (getElementTypeOrSelf(turned->get()) != getElementTypeOrSelf(out))
    return false;
  // Views of the result by another name.
  for (OpOperand *operand : op.getDpsInputOperands())
    if (operand->get().getDefiningOp<ViewLikeOpInterface>() &&
        operand != turned)
      return false;
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
  return TransposeTiles(copy, cpu).run();
}

/// The operation with loops that follow one another in all operands, and are
/// one behind the other in memory, as one: of the rows of a small image each
/// ends with a tile that is not whole. Null where there are none.
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
  if (mask)
    here[rowDim] =
        arith::MinSIOp::create(b, here[rowDim], apply(d0 - 1, extents[rowDim]));
  IRMapping values;
  for (auto [k, operand] : llvm::enumerate(op.getDpsInputOperands())) {
    BlockArgument argument = op.getMatchingBlockArgument(operand);
    Type element = getElementTypeOrSelf(operand->get());
    auto type = VectorType::get(lanes, element);
    SmallVector<Value> place = placeOf(*operand, here);
    if (kinds[k] == Kind::Rows) {
      values.map(argument, turned[k][i]);
    } else if (argument.use_empty()) {
      continue;
    } else if (kinds[k] == Kind::Element) {
      values.map(argument,
                 widened(memref::LoadOp::create(b, operand->get(), place)));
    } else if (mask) {
      Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
      values.map(argument, vector::MaskedLoadOp::create(b, type, operand->get(),
                                                        place, mask, zero)
                               .getResult());
    } else {
      values.map(
          argument,
          vector::LoadOp::create(b, type, operand->get(), place).getResult());
    }
  }
  Value result = cloneWide(b, *op.getBody(), values, lanes).front();
  OpOperand &init = *op.getDpsInitOperand(0);
  SmallVector<Value> place = placeOf(init, here);
  if (mask)
    vector::MaskedStoreOp::create(b, init.get(), place, mask, result);
  else
    vector::StoreOp::create(b, result, init.get(), place);
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
  SmallVector<SmallVector<Value>> turned(kinds.size());
  for (auto [k, operand] : llvm::enumerate(op.getDpsInputOperands())) {
    if (kinds[k] != Kind::Rows)
      continue;
    auto type = VectorType::get(lanes, getElementTypeOrSelf(operand->get()));
    Value mask = isWhole ? Value() : maskOf(rows);
    for (int64_t j : llvm::seq(lanes)) {
      SmallVector<Value> here(at);
      here[columnDim] = apply(d0 + j, at[columnDim]);
      // Columns that are not there are the last one again.
      if (!isWhole)
        here[columnDim] =
            arith::MinSIOp::create(b, here[columnDim], lastColumn);
      SmallVector<Value> place = placeOf(*operand, here);
      if (isWhole) {
        turned[k].push_back(
            vector::LoadOp::create(b, type, operand->get(), place));
        continue;
      }
      Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
      turned[k].push_back(vector::MaskedLoadOp::create(b, type, operand->get(),
                                                       place, mask, zero));
    }
    turned[k] = transposeVectors(b, turned[k]);
  }
  for (int64_t i : llvm::seq(lanes)) {
    Value mask;
    if (!isWhole) {
      // All columns that are there, or none behind the last row.
      Value inside =
          arith::MinSIOp::create(b, columns, apply((d0 - i) * lanes, {rows}));
      mask = maskOf(inside);
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
  auto isMultiple = [&](unsigned dim) {
    return !ShapedType::isDynamic(statics[dim]) && statics[dim] % lanes == 0;
  };
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

std::optional<TransposeTiles::Part> TransposeTiles::partOf(OpOperand &operand,
                                                           int64_t count) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  ArrayRef<AffineExpr> results = map.getResults();
  if (!map.isFunctionOfDim(longDim))
    return Part::Element;
  auto countUses = [&](unsigned dim) {
    return llvm::count_if(
        results, [&](AffineExpr expr) { return expr.isFunctionOfDim(dim); });
  };
  AffineExpr across = b.getAffineDimExpr(shortDim);
  AffineExpr along = b.getAffineDimExpr(longDim);
  if (countUses(longDim) != 1 || !hasUnitStride(operand.get()))
    return std::nullopt;
  if (results.back() == along)
    return Part::Apart;
  auto type = cast<MemRefType>(operand.get().getType());
  int64_t rank = type.getRank();
  if (rank < 2 || results.back() != across || countUses(shortDim) != 1 ||
      results[rank - 2] != along ||
      (!type.isDynamicDim(rank - 1) && type.getDimSize(rank - 1) != count))
    return std::nullopt;
  SmallVector<ReassociationIndices> groups;
  for (int64_t axis : llvm::seq(rank - 1))
    groups.push_back({axis});
  groups.back().push_back(rank - 1);
  if (!memref::CollapseShapeOp::isGuaranteedCollapsible(type, groups))
    return std::nullopt;
  return Part::Together;
}

/// Finds how operands lie where axis `few` has `count` numbers.
bool TransposeTiles::matchParts(unsigned few, unsigned many, int64_t count) {
  shortDim = few;
  longDim = many;
  parts.clear();
  unsigned bits = 8;
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<Part> part = partOf(operand, count);
    if (!part || (op.isDpsInit(&operand) && *part == Part::Element))
      return false;
    parts.push_back(*part);
    if (*part == Part::Element)
      continue;
    std::optional<unsigned> width =
        vectorBitsOf(getElementTypeOrSelf(operand.get()));
    if (!width || *width < cpu.maskBits)
      return false;
    bits = std::max(bits, *width);
  }
  lanes = cpu.lanesOf(bits);
  if (!ShapedType::isDynamic(statics[longDim]))
    lanes = std::min<int64_t>(lanes, llvm::PowerOf2Ceil(statics[longDim]));
  return lanes > 1;
}

bool TransposeTiles::matchShort() {
  auto isFew = [&](unsigned dim) {
    return !ShapedType::isDynamic(statics[dim]) && statics[dim] <= kFewNumbers;
  };
  if (isFew(rowDim) == isFew(columnDim))
    return false;
  unsigned few = isFew(rowDim) ? rowDim : columnDim;
  return matchParts(few, few == rowDim ? columnDim : rowDim, statics[few]);
}

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

/// `operand` with the long and the short axis, its last ones, as one.
Value TransposeTiles::together(OpOperand &operand) {
  int64_t rank = cast<MemRefType>(operand.get().getType()).getRank();
  SmallVector<ReassociationIndices> groups;
  for (int64_t axis : llvm::seq(rank - 1))
    groups.push_back({axis});
  groups.back().push_back(rank - 1);
  return memref::CollapseShapeOp::create(b, operand.get(), groups);
}

/// Where vector `number` of the tile is in what together() makes.
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
  auto load = [&](Value buffer, ValueRange place, Value there) -> Value {
    auto type = VectorType::get(lanes, getElementTypeOrSelf(buffer));
    if (!there)
      return vector::LoadOp::create(b, type, buffer, place);
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
    return vector::MaskedLoadOp::create(b, type, buffer, place, there, zero);
  };
  auto store = [&](Value value, Value buffer, ValueRange place, Value there) {
    if (there)
      vector::MaskedStoreOp::create(b, buffer, place, there, value);
    else
      vector::StoreOp::create(b, value, buffer, place);
  };
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
      store(results[number], init.get(), placeOf(init, at), mask);
      continue;
    }
    Value mixed = pick(results, [&](int64_t lane) {
      int64_t place = number * lanes + lane;
      return std::pair(place % count, place / count);
    });
    store(mixed, joined.back(), placeTogether(init, number), masks[number]);
  }
}

/// Tiles along the long axis, the last of which is masked; with `isMasked` all
/// are, which is half the code.
void TransposeTiles::emitShort(bool isMasked) {
  joined.clear();
  for (auto [k, operand] : llvm::enumerate(op->getOpOperands()))
    joined.push_back(parts[k] == Part::Together ? together(operand) : Value());
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

/// Code for each number up to kFewNumbers that one of two open axes may have,
/// and for more.
void TransposeTiles::emitVersions() {
  OpBuilder::InsertionGuard guard(b);
  int64_t square = lanes;
  for (auto [few, many] :
       {std::pair(rowDim, columnDim), std::pair(columnDim, rowDim)})
    for (int64_t count : llvm::seq_inclusive<int64_t>(1, kFewNumbers)) {
      if (!matchParts(few, many, count))
        break;
      Value isFew = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                          extents[few], index(count));
      auto branch = scf::IfOp::create(b, TypeRange(), isFew, /*withElse=*/true);
      b.setInsertionPoint(branch.thenBlock()->getTerminator());
      statics[few] = count;
      emitShort(/*isMasked=*/true);
      statics[few] = ShapedType::kDynamic;
      b.setInsertionPoint(branch.elseBlock()->getTerminator());
    }
  lanes = square;
  emitLong();
}

bool TransposeTiles::run() {
  if (!match())
    return false;
  if (!isLightBody(*op.getBody(), kLightBody))
    return splitOff(), false;
  if (linalg::GenericOp joined = joinAxes())
    return TransposeTiles(joined, cpu).run();
  for (Range range : cast<linalg::LinalgOp>(op.getOperation())
                         .createLoopRanges(b, b.getLoc()))
    extents.push_back(
        getValueOrCreateConstantIndexOp(b, b.getLoc(), range.size));
  at.assign(extents.size(), Value());
  if (matchShort()) {
    emitShort();
    op.erase();
    return true;
  }
  if (ShapedType::isDynamic(statics[rowDim]) &&
      ShapedType::isDynamic(statics[columnDim]))
    emitVersions();
  else
    emitLong();
  op.erase();
  return true;
}

bool loopc::transposeTiles(linalg::GenericOp op, CpuModel cpu) {
  return TransposeTiles(op, cpu).run();
}
