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

#include "ContractionVectorizer.h"
#include "Contractions.h"
#include "loopc/Dialect/Loop/Transforms/Parallel.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace loopc;

/// So many operations are written out for each row of a tile.
static constexpr int64_t kLightBody = 6;
/// Rows and columns of a tile at most: what registers hold.
static constexpr int64_t kMostLanes = 16;
/// Tiles below one another that are turned before the next column of tiles.
static constexpr int64_t kBlock = 32;
/// So many tiles beside one another are turned before those below.
static constexpr int64_t kFewTiles = 2;

namespace {
class TransposeTiles {
public:
  TransposeTiles(linalg::GenericOp op, VectorUnit unit)
      : b(op.getLoc(), op), op(op), unit(unit) {}
  bool run();

private:
  /// How an operand is read: in vectors along the rows of the tile, along its
  /// columns, or as one element for all columns.
  enum class Kind { Rows, Columns, Element };

  bool match();
  std::optional<Kind> kindOf(OpOperand &operand);
  bool splitOff();
  linalg::GenericOp joinAxes();
  void emitLoops(ArrayRef<unsigned> dims);
  void emitTile(bool isWhole);
  void emitRow(int64_t i, ArrayRef<SmallVector<Value>> turned, Value mask);
  Value compute(Operation &inner, IRMapping &values);
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
  Value widened(Value value) {
    if (isa<VectorType>(value.getType()))
      return value;
    return vector::BroadcastOp::create(
        b, VectorType::get(lanes, value.getType()), value);
  }

  ImplicitLocOpBuilder b;
  linalg::GenericOp op;
  VectorUnit unit;
  SmallVector<Kind> kinds;
  SmallVector<Value> extents, at;
  SmallVector<int64_t> statics;
  /// Vectors of the result run along the columns.
  unsigned rowDim = 0, columnDim = 0;
  int64_t lanes = 0;
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
  std::optional<unsigned> bits = vectorBitsOf(getElementTypeOrSelf(init.get()));
  if (!out.isPermutation() || !hasUnitStride(init.get()) || !bits ||
      unit.maskBits == 0 || *bits < unit.maskBits)
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
    Type element = getElementTypeOrSelf(input->get());
    if (*kind == Kind::Element)
      continue;
    if (vectorBitsOf(element) != bits)
      return false;
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
    if (inner.getNumResults() != 1 || inner.getNumRegions() != 0 ||
        !OpTrait::hasElementwiseMappableTraits(&inner) ||
        !isMemoryEffectFree(&inner) || !isSpeculatable(&inner))
      return false;
  lanes = unit.bits / *bits;
  for (unsigned dim : {rowDim, columnDim})
    if (!ShapedType::isDynamic(statics[dim]))
      lanes = std::min<int64_t>(lanes, llvm::PowerOf2Ceil(statics[dim]));
  lanes = std::min(lanes, kMostLanes);
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
  return TransposeTiles(copy, unit).run();
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

Value TransposeTiles::compute(Operation &inner, IRMapping &values) {
  SmallVector<Value> operands;
  for (Value operand : inner.getOperands())
    operands.push_back(widened(values.lookupOrDefault(operand)));
  OperationState state(inner.getLoc(), inner.getName());
  state.addOperands(operands);
  state.addTypes(VectorType::get(lanes, inner.getResult(0).getType()));
  state.addAttributes(inner.getAttrs());
  return b.create(state)->getResult(0);
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
  for (Operation &inner : op.getBody()->without_terminator())
    values.map(inner.getResult(0), compute(inner, values));
  Value result = widened(
      values.lookupOrDefault(op.getBody()->getTerminator()->getOperand(0)));
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

bool TransposeTiles::run() {
  if (!match())
    return false;
  auto body = op.getBody()->without_terminator();
  bool isHeavy = llvm::any_of(body, [](Operation &inner) {
    return isa<math::MathDialect>(inner.getDialect());
  });
  if (isHeavy || std::distance(body.begin(), body.end()) > kLightBody)
    return splitOff(), false;
  if (linalg::GenericOp joined = joinAxes())
    return TransposeTiles(joined, unit).run();
  for (Range range : cast<linalg::LinalgOp>(op.getOperation())
                         .createLoopRanges(b, b.getLoc()))
    extents.push_back(
        getValueOrCreateConstantIndexOp(b, b.getLoc(), range.size));
  at.assign(extents.size(), Value());
  SmallVector<unsigned> outer;
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (AffineExpr expr : out.getResults()) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    if (dim != rowDim && dim != columnDim)
      outer.push_back(dim);
  }
  emitLoops(outer);
  op.erase();
  return true;
}

bool loopc::transposeTiles(linalg::GenericOp op, VectorUnit unit) {
  return TransposeTiles(op, unit).run();
}
