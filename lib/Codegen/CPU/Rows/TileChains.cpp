//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// cpu-tile-chains: a product, what reduces its rows, and a product that sums
// the rows up run on one tile of rows after another. Attention is such a chain:
// no more of its scores than a tile's are ever in memory.
//
// A chain has shared axes, batches and rows, and each of its operations a loop
// for each of them. What one operation writes and another reads has all shared
// axes, at the same places for all, so that iterations along them are
// independent of one another.

#include "loopc/Codegen/CPU/Passes.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Support/CpuModel.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

namespace loopc {
#define GEN_PASS_DEF_CPUTILECHAINS
#include "loopc/Codegen/CPU/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Rows of a tile at most: four times what a product with known extents takes
/// at a time, so that what it shares is brought together for enough of them.
static constexpr int64_t kMostRows = 64;
/// Rows of a tile at least, of very long rows.
static constexpr int64_t kLeastRows = 16;
/// Tiles whose rows are multiples of this are whole tiles of a product.
static constexpr int64_t kRowsOfTile = 8;
/// A buffer of an unknown size may be a large one if it has so many axes: of
/// heads, rows and columns.
static constexpr unsigned kManyAxes = 3;

namespace {
/// One number for each shared axis: a loop of an operation, or an axis of a
/// buffer.
using Places = SmallVector<unsigned, 4>;

/// Operations that share loops over batches and rows.
class Chain {
public:
  explicit Chain(linalg::GenericOp last) : last(last) {}

  /// True if `last` ends a chain that is worth tiles.
  bool find();
  /// Its operations, in their order.
  SmallVector<linalg::LinalgOp> getMembers() const;
  void emit(RewriterBase &rewriter);

private:
  bool findFrom(OpOperand &rows);
  bool include(Value buffer, const Places &axes);
  bool addUser(OpOperand &use, const Places &axes);
  bool addOthers(linalg::LinalgOp op);
  void addFills();
  bool hasProductAndReduction() const;
  bool isLarge(unsigned rowAxis);
  bool areWritesIndependent() const;
  bool startsWithWrites() const;
  bool canMoveDown();
  bool isUnrelated(Operation *op) const;
  int64_t chooseRows();
  std::optional<Places> findAxes(OpOperand &operand) const;
  Value makeTile(OpBuilder &b, memref::AllocOp alloc, const Places &axes) const;
  void makeLoops(RewriterBase &rewriter);
  Value viewTile(OpBuilder &b, OpOperand &operand);
  void copyOp(RewriterBase &rewriter, linalg::LinalgOp op);

  linalg::GenericOp last;
  /// The buffer between the products.
  memref::AllocOp scores;
  /// The loops of each operation, and the axes of each buffer that nobody else
  /// uses.
  llvm::MapVector<Operation *, Places> loops;
  llvm::MapVector<Value, Places> buffers;
  SmallVector<memref::DeallocOp> deallocs;

  /// The loops that are made, the part of each shared axis that an iteration
  /// has, and what it sees in the place of buffers.
  SmallVector<scf::ForOp> nest;
  SmallVector<OpFoldResult> offsets, sizes;
  llvm::DenseMap<Value, Value> tiles;
  /// What makes a view of a buffer: the loop of each shared axis that has one.
  struct View {
    Value buffer;
    SmallVector<std::optional<unsigned>> axes;
    Value value;
  };
  SmallVector<View> views;
};
} // namespace

/// True for a sum of products: several rows share an operand that goes along
/// the sum, and the result has one axis at least that they do not have.
static bool isProduct(linalg::LinalgOp op) {
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic || generic.getNumReductionLoops() == 0 ||
      generic.getNumDpsInputs() < 2 || generic.getNumDpsInits() != 1)
    return false;
  SmallVector<unsigned> parallel, sums;
  generic.getParallelDims(parallel);
  generic.getReductionDims(sums);
  auto sharesSums = [&](OpOperand *input) {
    AffineMap map = generic.getMatchingIndexingMap(input);
    return llvm::any_of(sums,
                        [&](unsigned dim) { return map.isFunctionOfDim(dim); });
  };
  auto lacksColumns = [&](OpOperand *input) {
    AffineMap map = generic.getMatchingIndexingMap(input);
    return sharesSums(input) && llvm::any_of(parallel, [&](unsigned dim) {
             return !map.isFunctionOfDim(dim);
           });
  };
  return llvm::count_if(generic.getDpsInputOperands(), sharesSums) >= 2 &&
         llvm::any_of(generic.getDpsInputOperands(), lacksColumns);
}

/// True if nobody knows `buffer` by another name than its views.
static bool isKnownByViewsOnly(Value buffer) {
  return buffer.getDefiningOp<memref::AllocOp>() &&
         allUsersOfViews(buffer, [](Operation *user) {
           return isa<linalg::LinalgOp, memref::DeallocOp, memref::DimOp,
                      memref::CopyOp, func::ReturnOp>(user);
         });
}

/// The place of each of `dims` among the results of `map`; none if one is no
/// result by itself.
static std::optional<Places> placesOf(ArrayRef<unsigned> dims, AffineMap map) {
  Places places;
  for (unsigned dim : dims) {
    std::optional<unsigned> place = map.getResultPosition(
        getAffineDimExpr(dim, map.getContext()));
    if (!place)
      return std::nullopt;
    for (auto [k, expr] : llvm::enumerate(map.getResults()))
      if (k != *place && expr.isFunctionOfDim(dim))
        return std::nullopt;
    places.push_back(*place);
  }
  return places;
}

std::optional<Places> Chain::findAxes(OpOperand &operand) const {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  return placesOf(loops.lookup(op), op.getMatchingIndexingMap(&operand));
}

SmallVector<linalg::LinalgOp> Chain::getMembers() const {
  SmallVector<linalg::LinalgOp> members;
  for (auto &entry : loops)
    members.push_back(cast<linalg::LinalgOp>(entry.first));
  llvm::sort(members, [](linalg::LinalgOp x, linalg::LinalgOp y) {
    return x->isBeforeInBlock(y);
  });
  return members;
}

/// Adds the operation that uses a buffer of the chain with shared `axes`; false
/// if it goes through the buffer in another way.
bool Chain::addUser(OpOperand &use, const Places &axes) {
  auto op = cast<linalg::LinalgOp>(use.getOwner());
  if (op->getBlock() != last->getBlock() || op->getNumResults() != 0 ||
      last->isBeforeInBlock(op))
    return false;
  AffineMap map = op.getMatchingIndexingMap(&use);
  Places dims;
  for (unsigned axis : axes) {
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(axis));
    if (!dim || !isParallelDim(op, dim.getPosition()) ||
        llvm::is_contained(dims, dim.getPosition()))
      return false;
    dims.push_back(dim.getPosition());
  }
  if (placesOf(dims, map) != axes)
    return false;
  auto [entry, isNew] = loops.insert({op, dims});
  if (!isNew)
    return entry->second == dims;
  // Operands of which other elements are read for each row stay whole, others
  // are seen by views of a tile.
  for (OpOperand &operand : op->getOpOperands())
    for (unsigned dim : dims) {
      AffineMap other = op.getMatchingIndexingMap(&operand);
      if (other.isFunctionOfDim(dim) && !placesOf({dim}, other))
        return false;
    }
  return addOthers(op);
}

/// Goes on with what `op` has beside the buffer by which it was found. Where
/// that does not go by rows it is no part of the chain.
bool Chain::addOthers(linalg::LinalgOp op) {
  bool isEnd = isProduct(op);
  for (OpOperand &operand : op->getOpOperands()) {
    if (op == last || (isEnd && op.isDpsInput(&operand)) ||
        !isa<MemRefType>(operand.get().getType()) ||
        buffers.contains(operand.get()))
      continue;
    std::optional<Places> axes = findAxes(operand);
    if (!axes)
      continue;
    auto loopsBefore = loops;
    auto buffersBefore = buffers;
    auto deallocsBefore = deallocs;
    if (!include(operand.get(), *axes)) {
      loops = std::move(loopsBefore);
      buffers = std::move(buffersBefore);
      deallocs = std::move(deallocsBefore);
    }
  }
  return true;
}

/// Makes `buffer` a part of the chain, with all that uses it.
bool Chain::include(Value buffer, const Places &axes) {
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  if (!alloc || !alloc.getType().getLayout().isIdentity())
    return false;
  auto [entry, isNew] = buffers.insert({buffer, axes});
  if (!isNew)
    return entry->second == axes;
  for (OpOperand &use : buffer.getUses()) {
    if (auto dealloc = dyn_cast<memref::DeallocOp>(use.getOwner()))
      deallocs.push_back(dealloc);
    else if (!isa<linalg::LinalgOp>(use.getOwner()) || !addUser(use, axes))
      return false;
  }
  return true;
}

/// Adds what fills the result of the last product right in front of it: its
/// sums begin with that.
void Chain::addFills() {
  OpOperand *result = last.getDpsInitOperand(0);
  std::optional<Places> axes = findAxes(*result);
  for (Operation *user : result->get().getUsers()) {
    auto fill = dyn_cast<linalg::FillOp>(user);
    if (fill && axes && fill->getBlock() == last->getBlock() &&
        fill->isBeforeInBlock(last))
      loops.insert({fill, *axes});
  }
}

bool Chain::hasProductAndReduction() const {
  bool hasProduct = false, hasReduction = false;
  for (linalg::LinalgOp op : getMembers()) {
    bool product = isProduct(op);
    hasProduct |= product && op != last;
    hasReduction |= !product && op.getNumReductionLoops() != 0;
  }
  return hasProduct && hasReduction;
}

/// True if all rows are, or may be, too much for a cache, and are some tiles of
/// a product.
bool Chain::isLarge(unsigned rowAxis) {
  MemRefType type = scores.getType();
  Type element = type.getElementType();
  int64_t rows = type.getDimSize(rowAxis);
  if (!element.isIntOrFloat() ||
      (!ShapedType::isDynamic(rows) && rows < kRowsOfTile))
    return false;
  if (!type.hasStaticShape())
    return type.getRank() >= kManyAxes;
  return type.getNumElements() * element.getIntOrFloatBitWidth() / 8 >=
         CpuModel::kLargeBuffer;
}

/// True if each iteration writes what no other one reads or writes, in buffers
/// that others know as well.
bool Chain::areWritesIndependent() const {
  SmallVector<linalg::LinalgOp> members = getMembers();
  auto isUsedAlike = [&](OpOperand &write) {
    Value root = getViewRoot(write.get());
    std::optional<Places> axes = findAxes(write);
    if (!axes || !isKnownByViewsOnly(root))
      return false;
    for (linalg::LinalgOp op : members)
      for (OpOperand &operand : op->getOpOperands())
        if (getViewRoot(operand.get()) == root &&
            (operand.get() != write.get() || findAxes(operand) != axes))
          return false;
    return true;
  };
  for (linalg::LinalgOp op : members)
    for (OpOperand &init : op.getDpsInitsMutable())
      if (!buffers.contains(init.get()) && !isUsedAlike(init))
        return false;
  return true;
}

/// True if what an iteration reads of the chain's own buffers it has written
/// before: nothing is carried by them.
bool Chain::startsWithWrites() const {
  llvm::SmallPtrSet<Value, 8> written;
  for (linalg::LinalgOp op : getMembers()) {
    for (OpOperand &operand : op->getOpOperands())
      if (buffers.contains(operand.get()) && !written.contains(operand.get()) &&
          op.payloadUsesValueFromOperand(&operand))
        return false;
    for (OpOperand &init : op.getDpsInitsMutable())
      if (op.getMatchingIndexingMap(&init).isPermutation())
        written.insert(init.get());
  }
  return llvm::all_of(
      buffers, [&](auto &entry) { return written.contains(entry.first); });
}

/// True if `op`, which is no part of the chain and stands among its operations,
/// may run before those of them that stand before it.
bool Chain::isUnrelated(Operation *op) const {
  if (isMemoryEffectFree(op) || isa<memref::AllocOp, memref::DeallocOp>(op))
    return true;
  SmallVector<Value> written;
  llvm::SmallPtrSet<Value, 8> touched;
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    written.push_back(getViewRoot(copy.getTarget()));
  } else if (auto other = dyn_cast<linalg::LinalgOp>(op)) {
    for (Value init : other.getDpsInits())
      written.push_back(getViewRoot(init));
  } else {
    return false;
  }
  for (Value operand : op->getOperands())
    touched.insert(getViewRoot(operand));
  if (!llvm::all_of(written, isKnownByViewsOnly))
    return false;
  for (auto &entry : loops) {
    auto member = cast<linalg::LinalgOp>(entry.first);
    if (op->isBeforeInBlock(member))
      continue;
    for (Value operand : member->getOperands())
      if (llvm::is_contained(written, getViewRoot(operand)))
        return false;
    for (Value init : member.getDpsInits())
      if (touched.contains(getViewRoot(init)))
        return false;
  }
  return true;
}

/// True if all operations of the chain may run where the last one does.
bool Chain::canMoveDown() {
  Operation *first = getMembers().front();
  for (Operation *op = first; op != last; op = op->getNextNode())
    if (!loops.contains(op) && !isUnrelated(op))
      return false;
  return true;
}

bool Chain::findFrom(OpOperand &rows) {
  loops.clear();
  buffers.clear();
  deallocs.clear();
  scores = rows.get().getDefiningOp<memref::AllocOp>();
  AffineMap map = last.getMatchingIndexingMap(&rows);
  if (!scores || !map.isProjectedPermutation())
    return false;
  Places axes;
  for (auto [k, expr] : llvm::enumerate(map.getResults()))
    if (isParallelDim(last, cast<AffineDimExpr>(expr).getPosition()))
      axes.push_back(k);
  if (axes.empty() || !isLarge(axes.back()) || !include(scores, axes))
    return false;
  addFills();
  return hasProductAndReduction() && areWritesIndependent() &&
         startsWithWrites() && canMoveDown();
}

bool Chain::find() {
  if (last->getNumResults() != 0 || !isProduct(last))
    return false;
  return llvm::any_of(last.getDpsInputOperands(),
                      [&](OpOperand *input) { return findFrom(*input); });
}

/// Rows of a tile: a part of them that is whole tiles of a product, if there is
/// one, and of which the second cache holds what the chain has for each row.
int64_t Chain::chooseRows() {
  MemRefType type = scores.getType();
  const Places &axes = buffers.lookup(scores);
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (!llvm::is_contained(axes, axis) && !type.isDynamicDim(axis))
      bytes *= type.getDimSize(axis);
  int64_t most = std::clamp<int64_t>(llvm::alignDown(CpuModel::kSecondCache / 4 /
                                                std::max<int64_t>(bytes, 1),
                                            kRowsOfTile),
                            kLeastRows, kMostRows);
  int64_t extent = type.getDimSize(axes.back());
  if (ShapedType::isDynamic(extent))
    return most;
  if (extent <= most)
    return extent;
  for (int64_t rows = most; rows >= kLeastRows; rows -= kRowsOfTile)
    if (extent % rows == 0)
      return rows;
  return most;
}

/// Makes the loops over batches and tiles of rows.
void Chain::makeLoops(RewriterBase &rewriter) {
  Location loc = last.getLoc();
  MLIRContext *context = rewriter.getContext();
  int64_t rows = chooseRows();
  SmallVector<OpFoldResult> all = scores.getMixedSizes();
  const Places &axes = buffers.lookup(scores);
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  for (unsigned axis : axes) {
    OpFoldResult extent = all[axis];
    int64_t step = axis == axes.back() ? rows : 1;
    auto loop = scf::ForOp::create(
        rewriter, loc, zero,
        getValueOrCreateConstantIndexOp(rewriter, loc, extent),
        arith::ConstantIndexOp::create(rewriter, loc, step));
    markParallel(loop);
    nest.push_back(loop);
    rewriter.setInsertionPointToStart(loop.getBody());
    offsets.push_back(loop.getInductionVar());
    std::optional<int64_t> known = getConstantIntValue(extent);
    if (step == 1 || (known && *known % step == 0)) {
      sizes.push_back(rewriter.getIndexAttr(step));
      continue;
    }
    AffineExpr left =
        getAffineSymbolExpr(0, context) - getAffineDimExpr(0, context);
    AffineMap least = AffineMap::get(
        1, 1, {getAffineConstantExpr(step, context), left}, context);
    sizes.push_back(affine::makeComposedFoldedAffineMin(
        rewriter, loc, least, {loop.getInductionVar(), extent}));
  }
}

/// The buffer of one iteration in the place of `alloc`.
Value Chain::makeTile(OpBuilder &b, memref::AllocOp alloc,
                      const Places &axes) const {
  SmallVector<OpFoldResult> all = alloc.getMixedSizes();
  for (auto [axis, size] : llvm::zip_equal(axes, sizes))
    all[axis] = size;
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  dispatchIndexOpFoldResults(all, dynamic, shape);
  auto type = MemRefType::get(shape, alloc.getType().getElementType());
  return memref::AllocOp::create(b, alloc.getLoc(), type, dynamic,
                                 alloc.getAlignmentAttr());
}

/// What one iteration sees of `operand`; the same value for all who see the
/// same of it.
Value Chain::viewTile(OpBuilder &b, OpOperand &operand) {
  if (Value tile = tiles.lookup(operand.get()))
    return tile;
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return operand.get();
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<std::optional<unsigned>> axes;
  for (unsigned dim : loops.lookup(op)) {
    std::optional<Places> axis = placesOf({dim}, map);
    axes.push_back(axis ? std::optional(axis->front()) : std::nullopt);
  }
  if (llvm::none_of(axes, [](auto axis) { return axis.has_value(); }))
    return operand.get();
  for (const View &view : views)
    if (view.buffer == operand.get() && view.axes == axes)
      return view.value;
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> from(type.getRank(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> steps(type.getRank(), b.getIndexAttr(1));
  SmallVector<OpFoldResult> extents =
      memref::getMixedSizes(b, loc, operand.get());
  for (auto [axis, offset, size] : llvm::zip_equal(axes, offsets, sizes))
    if (axis) {
      from[*axis] = offset;
      extents[*axis] = size;
    }
  Value value =
      memref::SubViewOp::create(b, loc, operand.get(), from, extents, steps);
  views.push_back({operand.get(), axes, value});
  return value;
}

/// Writes what `op` does in one iteration.
void Chain::copyOp(RewriterBase &rewriter, linalg::LinalgOp op) {
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands())
    operands.push_back(viewTile(rewriter, operand));
  auto copy = cast<linalg::LinalgOp>(
      clone(rewriter, op, /*newResultTypes=*/TypeRange(), operands));
  SmallVector<OpFoldResult> starts(op.getNumLoops());
  for (auto [dim, offset] : llvm::zip_equal(loops.lookup(op), offsets))
    starts[dim] = offset;
  linalg::offsetIndices(rewriter, copy, starts);
}

void Chain::emit(RewriterBase &rewriter) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(last);
  SmallVector<linalg::LinalgOp> members = getMembers();
  makeLoops(rewriter);
  for (auto &[buffer, axes] : buffers)
    tiles[buffer] =
        makeTile(rewriter, buffer.getDefiningOp<memref::AllocOp>(), axes);
  for (linalg::LinalgOp op : members)
    copyOp(rewriter, op);
  for (auto &entry : buffers)
    memref::DeallocOp::create(rewriter, last.getLoc(), tiles[entry.first]);
  // What is freed in between the loops read.
  for (Operation &op : llvm::make_early_inc_range(llvm::make_range(
           Block::iterator(members.front()), Block::iterator(last))))
    if (isa<memref::DeallocOp>(op))
      rewriter.moveOpAfter(&op, nest.front());
  for (memref::DeallocOp dealloc : deallocs)
    rewriter.eraseOp(dealloc);
  for (linalg::LinalgOp op : members)
    rewriter.eraseOp(op);
  for (auto &entry : buffers)
    rewriter.eraseOp(entry.first.getDefiningOp());
}

namespace {
struct CpuTileChains : loopc::impl::CpuTileChainsBase<CpuTileChains> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> products;
    getOperation().walk([&](linalg::GenericOp op) {
      if (isProduct(op))
        products.push_back(op);
    });
    // The last ones first: what a chain takes in are others before it.
    llvm::SmallPtrSet<Operation *, 8> gone;
    for (linalg::GenericOp op : llvm::reverse(products)) {
      if (gone.contains(op))
        continue;
      Chain chain(op);
      if (!chain.find())
        continue;
      for (linalg::LinalgOp member : chain.getMembers())
        gone.insert(member);
      chain.emit(rewriter);
      ++numTiled;
    }
  }
};
} // namespace
