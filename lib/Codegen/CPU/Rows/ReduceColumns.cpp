//===- ReduceColumns.cpp - Short rows that are only reduced ---------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// cpu-reduce-columns: the layout of a tensor of many short rows that are only
// reduced. Of such a row most of a vector is empty, and its elements are put
// together across lanes. As columns the rows are reduced in the lanes:
//
//   %far = generic (n, k, d) -> (n, k)           // 4096 x 8
//   %near = generic (n, k reduced) ins(%far) -> (n)
//     becomes
//   %far = generic (k, n, d) -> (k, n)
//   %near = generic (n, k reduced) ins(%far : (k, n)) -> (n)
//
// Rows stay where a matrix has the columns in its last axis, and nothing the
// rows. Where only the run knows the extents there are both, and a test.

#include "loopc/Codegen/CPU/Passes.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Support/CpuModel.h"
#include "loopc/Tensor/FirstOfColumns.h"
#include "loopc/Tensor/MergeGenerics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace loopc {
#define GEN_PASS_DEF_CPUREDUCECOLUMNS
#include "loopc/Codegen/CPU/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using utils::IteratorType;

/// Rows up to this length are columns: longer ones fill vectors of their own.
static constexpr int64_t kShortRow = 32;
/// So many rows fill the vectors of a strip.
static constexpr int64_t kManyRows = 64;

namespace {
/// A tensor of rows, and all that reduces them.
class ReducedRows {
public:
  explicit ReducedRows(linalg::GenericOp producer) : producer(producer) {}

  /// True if the rows may lie as columns.
  bool match();
  /// False if others have one of the operations, else nobody else gets them.
  bool take(llvm::DenseSet<Operation *> &taken) {
    bool isFree = taken.insert(producer).second;
    for (linalg::GenericOp reader : readers)
      isFree &= taken.insert(reader).second;
    return isFree;
  }
  /// Makes columns of them, or both versions.
  void rewrite(IRRewriter &rewriter);

private:
  bool matchProducer();
  bool matchReader(OpOperand &use);
  bool canMove();
  Value makeAreRowsShort(ImplicitLocOpBuilder &b);
  Value emitColumns(ImplicitLocOpBuilder &b);
  Value emitRows(ImplicitLocOpBuilder &b);
  SmallVector<Value> emitReaders(ImplicitLocOpBuilder &b, Value rows,
                                 bool areColumns);

  linalg::GenericOp producer;
  unsigned row = 0, column = 0; ///< loops of the producer
  int64_t rank = 0;             ///< of the rows
  SmallVector<linalg::GenericOp> readers;
};
} // namespace

/// True if `map` has results for both loops.
static bool variesAlongBoth(AffineMap map, unsigned one, unsigned other) {
  return map.isFunctionOfDim(one) && map.isFunctionOfDim(other);
}

/// True if an input of `producer` goes along loop `dim` in its last axis.
static bool isLastOfAnInput(linalg::GenericOp producer, unsigned dim) {
  return llvm::any_of(producer.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = producer.getMatchingIndexingMap(input);
    return map.getNumResults() != 0 &&
           map.getResults().back() ==
               getAffineDimExpr(dim, producer.getContext());
  });
}

bool ReducedRows::matchProducer() {
  if (!producer.hasPureTensorSemantics() || producer->getNumResults() != 1 ||
      producer.getNumReductionLoops() == 0 || producer.hasIndexSemantics())
    return false;
  OpOperand *init = producer.getDpsInitOperand(0);
  AffineMap map = producer.getMatchingIndexingMap(init);
  rank = map.getNumResults();
  Type element = getElementTypeOrSelf(init->get());
  if (rank < 2 || !map.isProjectedPermutation() || !element.isIntOrFloat() ||
      element.getIntOrFloatBitWidth() < 8 ||
      !init->get().getDefiningOp<linalg::FillOp>())
    return false;
  row = map.getDimPosition(rank - 2);
  column = map.getDimPosition(rank - 1);
  // Rows times a matrix as it lies: its rows are loaded as vectors, where
  // columns of the result want elements of the other operand that lie apart.
  if (isLastOfAnInput(producer, column) && !isLastOfAnInput(producer, row))
    return false;
  return llvm::none_of(producer.getDpsInputOperands(), [&](OpOperand *input) {
    return variesAlongBoth(producer.getMatchingIndexingMap(input), row, column);
  });
}

/// True for what reduces each row to numbers.
bool ReducedRows::matchReader(OpOperand &use) {
  auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!reader || reader->getBlock() != producer->getBlock() ||
      !reader.hasPureTensorSemantics() || !reader.isDpsInput(&use) ||
      reader.getNumReductionLoops() != 1)
    return false;
  AffineMap map = reader.getMatchingIndexingMap(&use);
  if (!map.isPermutation())
    return false;
  unsigned along = map.getDimPosition(rank - 1);
  unsigned across = map.getDimPosition(rank - 2);
  if (reader.getIteratorTypesArray()[along] != IteratorType::reduction)
    return false;
  for (OpOperand &operand : reader->getOpOperands()) {
    AffineMap other = reader.getMatchingIndexingMap(&operand);
    if (!other.isProjectedPermutation() ||
        (operand.get() != use.get() && variesAlongBoth(other, along, across)) ||
        (operand.get() == use.get() && other != map))
      return false;
  }
  return true;
}

/// True if all readers may stand where the last of them does: nothing between
/// wants what the others compute.
bool ReducedRows::canMove() {
  Operation *last = readers.back();
  Block *block = producer->getBlock();
  for (linalg::GenericOp reader : readers)
    for (Operation *user : reader->getUsers()) {
      Operation *at = block->findAncestorOpInBlock(*user);
      if (!at ||
          (!llvm::is_contained(readers, at) && !last->isBeforeInBlock(at)))
        return false;
    }
  return true;
}

bool ReducedRows::match() {
  if (!matchProducer() || producer->use_empty() || loop::isCold(producer))
    return false;
  for (OpOperand &use : producer->getUses()) {
    if (!matchReader(use))
      return false;
    auto reader = cast<linalg::GenericOp>(use.getOwner());
    if (!llvm::is_contained(readers, reader))
      readers.push_back(reader);
  }
  llvm::sort(readers, [](linalg::GenericOp a, linalg::GenericOp b) {
    return a->isBeforeInBlock(b);
  });
  SmallVector<int64_t> extents = producer.getStaticLoopRanges();
  // An open extent is the least number, and asked for at run time.
  bool isLong = extents[column] > kShortRow;
  bool areFew = ShapedType::isStatic(extents[row]) && extents[row] < kManyRows;
  return !isLong && !areFew && canMove();
}

/// The rows are short and many; null if that is known.
Value ReducedRows::makeAreRowsShort(ImplicitLocOpBuilder &b) {
  Value init = producer.getDpsInits()[0], condition;
  SmallVector<OpFoldResult> sizes = resolveDims(b, b.getLoc(), init);
  auto require = [&](int64_t axis, arith::CmpIPredicate is, int64_t number) {
    auto extent = dyn_cast<Value>(sizes[axis]);
    if (!extent)
      return;
    Value holds = arith::CmpIOp::create(
        b, is, extent, arith::ConstantIndexOp::create(b, number));
    condition = condition
                    ? arith::AndIOp::create(b, condition, holds).getResult()
                    : holds;
  };
  require(rank - 1, arith::CmpIPredicate::ule, kShortRow);
  require(rank - 2, arith::CmpIPredicate::uge, kManyRows);
  return condition;
}

/// The last two results the other way around.
static AffineMap turn(AffineMap map) {
  SmallVector<AffineExpr> exprs(map.getResults());
  std::swap(exprs[exprs.size() - 1], exprs[exprs.size() - 2]);
  return AffineMap::get(map.getNumDims(), 0, exprs, map.getContext());
}

Value ReducedRows::emitColumns(ImplicitLocOpBuilder &b) {
  OpOperand *init = producer.getDpsInitOperand(0);
  auto fill = init->get().getDefiningOp<linalg::FillOp>();
  SmallVector<OpFoldResult> sizes = resolveDims(b, b.getLoc(), init->get());
  std::swap(sizes[rank - 1], sizes[rank - 2]);
  Value empty = tensor::EmptyOp::create(
      b, sizes, getElementTypeOrSelf(init->get().getType()));
  Value start =
      linalg::FillOp::create(b, fill.getInputs(), ValueRange{empty}).result();
  // Loops follow the result, those that are summed over last.
  AffineMap out = turn(producer.getMatchingIndexingMap(init));
  SmallVector<unsigned> order;
  for (AffineExpr expr : out.getResults())
    order.push_back(cast<AffineDimExpr>(expr).getPosition());
  for (unsigned dim : llvm::seq(producer.getNumLoops()))
    if (!llvm::is_contained(order, dim))
      order.push_back(dim);
  SmallVector<AffineExpr> places(order.size());
  SmallVector<IteratorType> kinds;
  for (auto [k, dim] : llvm::enumerate(order)) {
    places[dim] = b.getAffineDimExpr(k);
    kinds.push_back(producer.getIteratorTypesArray()[dim]);
  }
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  auto add = [&](AffineMap map) {
    maps.push_back(map.replaceDimsAndSymbols(places, {}, order.size(), 0));
  };
  for (OpOperand *input : producer.getDpsInputOperands()) {
    AffineMap map = producer.getMatchingIndexingMap(input);
    inputs.push_back(dropUnitAxes(input->get(), map));
    add(map);
  }
  add(out);
  auto made = linalg::GenericOp::create(b, TypeRange{start.getType()}, inputs,
                                        ValueRange{start}, maps, kinds);
  IRMapping mapping;
  producer.getRegion().cloneInto(&made.getRegion(), mapping);
  return made.getResult(0);
}

/// The producer as it is, with what it begins with: the other version does not
/// fill it.
Value ReducedRows::emitRows(ImplicitLocOpBuilder &b) {
  auto fill = producer.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  IRMapping mapping;
  if (auto empty = fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>())
    b.clone(*empty, mapping);
  b.clone(*fill, mapping);
  return b.clone(*producer, mapping)->getResult(0);
}

SmallVector<Value> ReducedRows::emitReaders(ImplicitLocOpBuilder &b, Value rows,
                                            bool areColumns) {
  IRMapping mapping;
  mapping.map(producer->getResult(0), rows);
  SmallVector<Value> results;
  for (linalg::GenericOp reader : readers) {
    auto made = cast<linalg::GenericOp>(b.clone(*reader, mapping));
    llvm::append_range(results, made.getResults());
    if (!areColumns)
      continue;
    SmallVector<AffineMap> maps = made.getIndexingMapsArray();
    for (auto [operand, map] : llvm::zip_equal(made->getOperands(), maps))
      if (operand == rows)
        map = turn(map);
    made.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  }
  return results;
}

void ReducedRows::rewrite(IRRewriter &rewriter) {
  ImplicitLocOpBuilder b(producer.getLoc(), rewriter);
  b.setInsertionPoint(readers.back());
  auto columns = [&] {
    return emitReaders(b, emitColumns(b), /*areColumns=*/true);
  };
  SmallVector<Value> results;
  if (Value condition = makeAreRowsShort(b)) {
    SmallVector<Type> types;
    for (linalg::GenericOp reader : readers)
      llvm::append_range(types, reader->getResultTypes());
    auto branch =
        scf::IfOp::create(b, types, condition, /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, columns());
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, emitReaders(b, emitRows(b), /*areColumns=*/false));
    llvm::append_range(results, branch.getResults());
  } else {
    results = columns();
  }
  ArrayRef<Value> next = results;
  for (linalg::GenericOp reader : readers) {
    rewriter.replaceAllUsesWith(reader.getResults(),
                                next.take_front(reader->getNumResults()));
    next = next.drop_front(reader->getNumResults());
  }
  for (linalg::GenericOp reader : llvm::reverse(readers))
    rewriter.eraseOp(reader);
  rewriter.eraseOp(producer);
}

namespace {
struct CpuReduceColumns : loopc::impl::CpuReduceColumnsBase<CpuReduceColumns> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<ReducedRows> all;
    llvm::DenseSet<Operation *> taken;
    getOperation().walk([&](linalg::GenericOp op) {
      ReducedRows rows(op);
      if (rows.match() && rows.take(taken))
        all.push_back(rows);
    });
    for (ReducedRows &rows : all)
      rows.rewrite(rewriter);
    numTurned += all.size();
    if (all.empty())
      return;
    // What looked for extrema along rows may do so along columns now.
    RewritePatternSet patterns(&getContext());
    populateFirstOfColumns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
