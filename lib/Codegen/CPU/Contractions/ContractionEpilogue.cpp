//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What follows a contraction element by element (activations, scales, another
// summand) is computed on its sums while they are in registers.

#include "ContractionVectorizer.h"
#include "Rows/VectorElements.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace loopc;

/// So many operations are written out for each vector of a tile.
static constexpr int64_t kLightBody = 16;
/// Of shorter rows little is written at a time, where it is transposed.
static constexpr int64_t kLongRows = 32;

/// True if `op` computes each element of its result from elements alone.
static bool isLightMap(linalg::GenericOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() != 0 ||
      !op.getRegionOutputArgs()[0].use_empty())
    return false;
  return isLightBody(*op.getBody(), kLightBody) &&
         llvm::all_of(op.getBody()->without_terminator(), isVectorOperation);
}

/// How axes of `wide` are those of `sums`, of which it is a view or the other
/// way round; null if they are not, or not all there.
static std::optional<SmallVector<ReassociationIndices>> groupsOf(Value wide,
                                                                 Value sums) {
  if (auto collapse = sums.getDefiningOp<memref::CollapseShapeOp>();
      collapse && collapse.getSrc() == wide)
    return collapse.getReassociationIndices();
  if (auto expand = wide.getDefiningOp<memref::ExpandShapeOp>();
      expand && expand.getSrc() == sums)
    return expand.getReassociationIndices();
  return std::nullopt;
}

AffineMap loopc::joinedMap(AffineMap map, Value operand,
                           ArrayRef<ReassociationIndices> groups) {
  MLIRContext *context = map.getContext();
  if (map.isIdentity()) {
    auto type = cast<MemRefType>(operand.getType());
    return type.getLayout().isIdentity()
               ? AffineMap::getMultiDimIdentityMap(groups.size(), context)
               : AffineMap();
  }
  SmallVector<AffineExpr> dims(map.getNumDims());
  for (auto [k, group] : llvm::enumerate(groups))
    if (group.size() == 1)
      dims[group[0]] = getAffineDimExpr(k, context);
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!isa<AffineConstantExpr>(expr) && (!dim || !dims[dim.getPosition()]))
      return {};
  }
  for (AffineExpr &dim : dims)
    if (!dim)
      dim = getAffineConstantExpr(0, context);
  return map.replaceDimsAndSymbols(dims, {}, groups.size(), 0);
}

/// True if what stands between `op` and `next` may stand before both: it does
/// not touch what `op` reads or writes. Collects what must stay behind.
static bool mayMoveDown(linalg::LinalgOp op, Operation *next,
                        ArrayRef<Value> bases,
                        SmallVectorImpl<Operation *> &behind) {
  Value written = getViewRoot(op.getDpsInits()[0]);
  for (Operation *between = op->getNextNode(); between != next;
       between = between->getNextNode()) {
    if (isMemoryEffectFree(between) ||
        isa<memref::AllocOp, loop::CheckOp>(between))
      continue;
    if (isa<memref::DeallocOp>(between)) {
      behind.push_back(between);
      continue;
    }
    auto other = dyn_cast<linalg::LinalgOp>(between);
    if (!other || !other.hasPureBufferSemantics())
      return false;
    for (OpOperand &operand : other->getOpOperands()) {
      Value base = getViewRoot(operand.get());
      if (base == written || (other.isDpsInit(&operand) &&
                              (!base.getDefiningOp<memref::AllocOp>() ||
                               llvm::is_contained(bases, base))))
        return false;
    }
  }
  return true;
}

/// The first operation behind `op` that takes what it writes, with which value.
static std::pair<linalg::GenericOp, OpOperand *> readerOf(linalg::LinalgOp op) {
  Value written = getViewRoot(op.getDpsInits()[0]);
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    if (isViewOp(next))
      continue;
    for (OpOperand &operand : next->getOpOperands())
      if (getViewRoot(operand.get()) == written) {
        auto generic = dyn_cast<linalg::GenericOp>(next);
        return {generic,
                generic && generic.isDpsInput(&operand) ? &operand : nullptr};
      }
    if (next->getNumRegions() != 0 && !isa<linalg::LinalgOp>(next))
      break;
  }
  return {};
}

/// True if after `last` nobody reads what `buffer` holds.
static bool isLastUse(Value buffer, linalg::LinalgOp op, Operation *last) {
  return buffer.getDefiningOp<memref::AllocOp>() &&
         allUsersOfViews(buffer, [&](Operation *user) {
           return user == op || user == last ||
                  isa<memref::DeallocOp, memref::DimOp>(user);
         });
}

/// True if neighbours along `dim` are neighbours in `type`, read by `map`, or
/// one and the same.
static bool runsAlong(MemRefType type, AffineMap map, unsigned dim) {
  if (!map.isFunctionOfDim(dim))
    return true;
  SmallVector<int64_t> strides;
  int64_t offset;
  return map.getResults().back() == getAffineDimExpr(dim, map.getContext()) &&
         llvm::none_of(
             map.getResults().drop_back(),
             [&](AffineExpr expr) { return expr.isFunctionOfDim(dim); }) &&
         succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1;
}

void ContractionVectorizer::takeEpilogue() {
  int64_t many = rowDim && isDynamic(*rowDim) ? ShapedType::kDynamic : rows();
  if (alongSum() || stripPlace || blockFor(many) != 0 || blockFor(1) != 0)
    return;
  auto [next, sums] = readerOf(op);
  if (!next || !sums || next->getBlock() != op->getBlock() || !isLightMap(next))
    return;
  Value init = op.getDpsInits()[0], out = next.getDpsInits()[0];
  Value written = getViewRoot(init), target = getViewRoot(out);
  SmallVector<Value> bases;
  for (Value input : op.getDpsInputs())
    bases.push_back(getViewRoot(input));
  if (first)
    bases.push_back(getViewRoot(first));
  // What is still read must not be written over.
  if (llvm::is_contained(bases, target) ||
      (target != written && (!isLastUse(written, op, next) ||
                             !target.getDefiningOp<memref::AllocOp>())) ||
      (target == written && out != init && out != sums->get()))
    return;
  AffineMap own = next.getMatchingIndexingMap(sums);
  AffineMap to = next.getMatchingIndexingMap(next.getDpsInitOperand(0));
  bool isTurned = to != own;
  if (!own.isPermutation() || !to.isPermutation() ||
      (isTurned && (target == written || sums->get() != init || !canTurn())))
    return;
  std::optional<SmallVector<ReassociationIndices>> groups;
  if (sums->get() != init) {
    groups = groupsOf(sums->get(), init);
    if (!groups || !own.isIdentity())
      return;
  }
  // Where each operand is, by the loops of the contraction.
  AffineMap here = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : next->getOpOperands()) {
    AffineMap map = next.getMatchingIndexingMap(&operand);
    map = groups ? joinedMap(map, operand.get(), *groups)
                 : map.compose(inversePermutation(own));
    if (!map)
      return;
    map = map.compose(here);
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type || !vectorBitsOf(type.getElementType()) ||
        (operand.get() != sums->get() &&
         &operand != next.getDpsInitOperand(0) &&
         getViewRoot(operand.get()) == written) ||
        (cpu.hasMasks() && !cpu.canMask(*vectorBitsOf(type.getElementType()))))
      return;
    bool isTurnedOut = isTurned && &operand == next.getDpsInitOperand(0);
    if (isTurnedOut ? map.getResults().back() != b.getAffineDimExpr(*rowDim) ||
                          !type.isLastDimUnitStride()
                    : !runsAlong(type, map, laneDim))
      return;
    maps.push_back(map);
  }
  SmallVector<Operation *> behind;
  if (!mayMoveDown(op, next, bases, behind))
    return;
  for (Operation *operation : llvm::reverse(behind))
    operation->moveAfter(next);
  op->moveBefore(next);
  b.setInsertionPoint(op);
  for (OpOperand &operand : next->getOpOperands())
    if (groups && next.getMatchingIndexingMap(&operand).isIdentity()) {
      Value joined =
          operand.get() == sums->get()
              ? init
              : memref::CollapseShapeOp::create(b, operand.get(), *groups);
      epilogueOperands.push_back(joined);
    } else {
      epilogueOperands.push_back(operand.get());
    }
  epilogue = next;
  isEpilogueTurned = isTurned;
  epilogueMaps = maps;
  epilogueSum = sums->getOperandNumber();
}

void ContractionVectorizer::storeThroughEpilogue(ContractionBody &borders,
                                                 const Tile &tile,
                                                 ArrayRef<Value> sums) {
  std::map<std::tuple<unsigned, int64_t, int64_t>, Value> loaded;
  SmallVector<Value> results;
  for (int64_t i : llvm::seq(tile.rows))
    for (int64_t j : llvm::seq(tile.columns)) {
      IRMapping values;
      for (auto [k, operand] :
           llvm::enumerate(epilogue.getDpsInputOperands())) {
        BlockArgument argument = epilogue.getMatchingBlockArgument(operand);
        if (k == epilogueSum) {
          values.map(argument, sums[i * tile.columns + j]);
          continue;
        }
        if (argument.use_empty())
          continue;
        AffineMap map = epilogueMaps[k];
        Value &value =
            loaded[{k, rowDim && map.isFunctionOfDim(*rowDim) ? i : -1,
                    map.isFunctionOfDim(*columnDim) ? j : -1}];
        if (!value)
          value =
              widen(b, borders.load(epilogueOperands[k], map, i, j, /*k=*/0),
                    tile.lanes);
        values.map(argument, value);
      }
      results.push_back(
          cloneWide(b, *epilogue.getBody(), values, tile.lanes).front());
    }
  for (int64_t j : llvm::seq(tile.columns)) {
    SmallVector<Value> rows;
    for (int64_t i : llvm::seq(tile.rows))
      rows.push_back(results[i * tile.columns + j]);
    if (isEpilogueTurned) {
      borders.storeTurned(epilogueOperands.back(), epilogueMaps.back(), rows,
                          j);
      continue;
    }
    for (auto [i, row] : llvm::enumerate(rows))
      borders.store(epilogueOperands.back(), epilogueMaps.back(), row, i, j);
  }
}

/// True if tiles are whole vectors, the rows of which can be brought together.
bool ContractionVectorizer::canTurn() {
  return rowDim && columnDim && cpu.hasMasks() && !isDynamic(*columnDim) &&
         statics[*columnDim] % lanes == 0 && lanes > 1 &&
         (isDynamic(*rowDim) || statics[*rowDim] >= kLongRows);
}

/// Squares of rows and lanes are transposed; those of rows that are not there
/// are not written.
void ContractionBody::storeTurned(Value buffer, AffineMap map,
                                  ArrayRef<Value> rows, int64_t j) {
  ImplicitLocOpBuilder &b = v.b;
  int64_t count = rows.size();
  int64_t square = std::min<int64_t>(llvm::PowerOf2Ceil(count), tile.lanes);
  AffineExpr lane = b.getAffineDimExpr(v.laneDim);
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  for (int64_t i = 0; i < count; i += square) {
    int64_t there = std::min(square, count - i);
    Value mask, left = v.index(there);
    if (!tile.rowAt.empty())
      left = arith::MinSIOp::create(
          b, left,
          v.apply(d1 - d0 - i, {v.at[*v.rowDim], v.extent(*v.rowDim)}));
    if (!tile.rowAt.empty() || there < square)
      mask = maskOfFirst(b, left, square);
    for (int64_t part = 0; part < tile.lanes; part += square) {
      SmallVector<Value> parts;
      for (int64_t k : llvm::seq(square)) {
        Value row = rows[i + std::min(k, there - 1)];
        if (square < tile.lanes)
          row = vector::ExtractStridedSliceOp::create(
              b, row, ArrayRef<int64_t>{part}, ArrayRef<int64_t>{square},
              ArrayRef<int64_t>{1});
        parts.push_back(row);
      }
      parts = transposeVectors(b, parts);
      for (auto [k, column] : llvm::enumerate(parts)) {
        AffineMap here = map.replace(lane, lane + (part + k), map.getNumDims(),
                                     map.getNumSymbols());
        SmallVector<Value> at = indices(here, i, j, 0);
        if (mask)
          vector::MaskedStoreOp::create(b, buffer, at, mask, column);
        else
          vector::StoreOp::create(b, column, buffer, at);
      }
    }
  }
}
