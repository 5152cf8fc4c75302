//===- SplitPieces.cpp - Operands that are put together -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Stencils of ONNX's operators shift a field by Slice and Concat, or Slice and
// Pad. The iteration space of what reads such fields is split where one of them
// passes from one part to the next: in the inner piece, which has nearly all
// elements, each neighbour is a slice of the field, and no shifted copy is
// made.

#include "FusionSteps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

#include <set>

using namespace mlir;
using namespace loopc;

/// Pieces of a plane that is shifted in each direction.
static constexpr size_t kMaxPieces = 9;
/// Operations of all pieces together: code has its price, too.
static constexpr size_t kMaxOperations = 512;
/// Fewer elements are in registers.
static constexpr int64_t kMinElements = 65;

namespace {
/// Where a piece begins and ends along an axis; the whole of an open one.
struct Interval {
  int64_t begin = 0;
  int64_t end = ShapedType::kDynamic;

  bool isWhole() const { return ShapedType::isDynamic(end); }
};
using Piece = SmallVector<Interval, 4>;

class PieceSplitting {
public:
  PieceSplitting(IRRewriter &rewriter, linalg::GenericOp op)
      : rewriter(rewriter), op(op), extents(op.getStaticLoopRanges()) {}

  bool run();

private:
  bool isSupported();
  void findBounds(OpOperand &operand);
  bool findPieces();
  Piece pieceOf(OpOperand &operand, const Piece &piece);
  Value sliceOf(Value value, Piece piece);
  Value takeSlice(Value value, const Piece &piece);
  Value placeOf(OpOperand &init, Value result, const Piece &piece);
  void emit(const Piece &piece, SmallVectorImpl<Value> &results);

  IRRewriter &rewriter;
  linalg::GenericOp op;
  SmallVector<int64_t> extents;
  /// Of each dimension, where pieces begin.
  SmallVector<std::set<int64_t>> bounds;
  SmallVector<Piece> pieces;
};
} // namespace

void loopc::countIterationsFrom(IRRewriter &rewriter, linalg::GenericOp part,
                                ArrayRef<OpFoldResult> begins) {
  OpBuilder::InsertionGuard guard(rewriter);
  for (auto number :
       llvm::make_early_inc_range(part.getBody()->getOps<linalg::IndexOp>())) {
    OpFoldResult begin = begins[number.getDim()];
    if (isConstantIntValue(begin, 0))
      continue;
    rewriter.setInsertionPointAfter(number);
    Location loc = number.getLoc();
    Value first = getValueOrCreateConstantIndexOp(rewriter, loc, begin);
    auto sum = arith::AddIOp::create(rewriter, loc, number, first);
    rewriter.replaceAllUsesExcept(number, sum, sum);
  }
}

/// True if `insert` puts all of a tensor of the same rank at a known place, and
/// has open axes as a whole.
static bool isOfKnownPlace(tensor::InsertSliceOp insert) {
  RankedTensorType source = insert.getSourceType(), dest = insert.getDestType();
  if (source.getRank() != dest.getRank() || !insert.hasUnitStride())
    return false;
  for (int64_t axis = 0; axis < dest.getRank(); ++axis) {
    if (ShapedType::isDynamic(insert.getStaticOffsets()[axis]))
      return false;
    if (!dest.isDynamicDim(axis)) {
      if (source.isDynamicDim(axis))
        return false;
      continue;
    }
    FailureOr<bool> isWhole = ValueBoundsConstraintSet::areEqual(
        {insert.getSource(), axis}, {insert.getDest(), axis});
    if (failed(isWhole) || !*isWhole || insert.getStaticOffsets()[axis] != 0)
      return false;
  }
  return true;
}

bool PieceSplitting::isSupported() {
  return op.hasPureTensorSemantics() &&
         op.getNumParallelLoops() == op.getNumLoops() &&
         llvm::all_of(op->getOpOperands(),
                      [&](OpOperand &operand) {
                        AffineMap map = op.getMatchingIndexingMap(&operand);
                        return map.isProjectedPermutation() &&
                               (op.isDpsInput(&operand) ||
                                map.getNumResults() == op.getNumLoops());
                      }) &&
         llvm::all_of(*op.getBody(),
                      [](Operation &inner) { return !inner.getNumRegions(); });
}

/// Where `operand` passes from one part to the next, if nobody else needs it.
void PieceSplitting::findBounds(OpOperand &operand) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (Value value = operand.get(); value.hasOneUse();) {
    auto insert = value.getDefiningOp<tensor::InsertSliceOp>();
    if (!insert || !isOfKnownPlace(insert))
      return;
    for (int64_t axis = 0; axis < map.getNumResults(); ++axis) {
      unsigned dim = map.getDimPosition(axis);
      if (insert.getDestType().isDynamicDim(axis) ||
          ShapedType::isDynamic(extents[dim]))
        continue;
      int64_t begin = insert.getStaticOffsets()[axis];
      bounds[dim].insert(begin);
      bounds[dim].insert(begin + insert.getSourceType().getDimSize(axis));
    }
    value = insert.getDest();
  }
}

/// False where there is nothing to split, or too much.
bool PieceSplitting::findPieces() {
  bounds.resize(op.getNumLoops());
  for (OpOperand *operand : op.getDpsInputOperands())
    if (isa<RankedTensorType>(operand->get().getType()))
      findBounds(*operand);
  double share = 1;
  int64_t elements = 1;
  size_t count = 1;
  pieces.assign(1, Piece());
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    SmallVector<Interval, 4> parts(1);
    if (!ShapedType::isDynamic(extent)) {
      bounds[dim].insert({0, extent});
      parts.clear();
      int64_t longest = 0;
      for (auto begin = bounds[dim].begin(), end = std::next(begin);
           end != bounds[dim].end(); ++begin, ++end) {
        parts.push_back({*begin, *end});
        longest = std::max(longest, *end - *begin);
      }
      if (extent == 0)
        return false;
      share *= static_cast<double>(longest) / extent;
      elements *= extent;
    }
    count *= parts.size();
    if (count > kMaxPieces)
      return false;
    SmallVector<Piece> longer;
    for (const Piece &piece : pieces)
      for (Interval part : parts) {
        longer.push_back(piece);
        longer.back().push_back(part);
      }
    pieces = std::move(longer);
  }
  size_t operations = op.getBody()->getOperations().size();
  return count > 1 && count * operations <= kMaxOperations &&
         elements >= kMinElements && share >= 0.75;
}

/// The part of `operand` that `piece` of the iterations has to do with.
Piece PieceSplitting::pieceOf(OpOperand &operand, const Piece &piece) {
  Piece own;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
    own.push_back(piece[cast<AffineDimExpr>(expr).getPosition()]);
  return own;
}

/// `piece` of `value`, of what it was put together of or taken from.
Value PieceSplitting::sliceOf(Value value, Piece piece) {
  while (auto insert = value.getDefiningOp<tensor::InsertSliceOp>()) {
    if (!isOfKnownPlace(insert))
      break;
    bool isInside = true, isOutside = false;
    // An open axis is put there as a whole, whatever the piece has of it.
    auto isAll = [&](size_t axis) {
      return piece[axis].isWhole() || insert.getDestType().isDynamicDim(axis);
    };
    for (auto [axis, at] : llvm::enumerate(piece)) {
      if (isAll(axis))
        continue;
      int64_t begin = insert.getStaticOffsets()[axis];
      int64_t end = begin + insert.getSourceType().getDimSize(axis);
      isInside &= begin <= at.begin && at.end <= end;
      isOutside |= at.end <= begin || end <= at.begin;
    }
    if (!isInside && !isOutside)
      break;
    value = isInside ? insert.getSource() : insert.getDest();
    for (auto [axis, at] : llvm::enumerate(piece))
      if (isInside && !isAll(axis)) {
        at.begin -= insert.getStaticOffsets()[axis];
        at.end -= insert.getStaticOffsets()[axis];
      }
  }
  return takeSlice(value, piece);
}

/// `piece` of `value` itself.
Value PieceSplitting::takeSlice(Value value, const Piece &piece) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<OpFoldResult> offsets, sizes,
      strides(piece.size(), rewriter.getIndexAttr(1));
  bool isAll = true;
  for (auto [axis, at] : llvm::enumerate(piece)) {
    offsets.push_back(rewriter.getIndexAttr(at.begin));
    sizes.push_back(at.isWhole()
                        ? tensor::getMixedSize(rewriter, loc, value, axis)
                        : rewriter.getIndexAttr(at.end - at.begin));
    isAll &= at.isWhole() || (at.begin == 0 && at.end == type.getDimSize(axis));
  }
  if (isAll)
    return value;
  if (auto fill = value.getDefiningOp<linalg::FillOp>()) {
    Value place =
        tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
    return linalg::FillOp::create(rewriter, loc, fill.getInputs()[0], place)
        .getResult(0);
  }
  return tensor::ExtractSliceOp::create(rewriter, loc, value, offsets, sizes,
                                        strides);
}

/// Where `piece` of what `init` becomes is computed: nowhere yet, if nothing is
/// read there. What other pieces have written may leave a loop, and would have
/// to stay as it is.
Value PieceSplitting::placeOf(OpOperand &init, Value result,
                              const Piece &piece) {
  Piece own = pieceOf(init, piece);
  if (!init.get().getDefiningOp<tensor::EmptyOp>())
    return takeSlice(result, own);
  SmallVector<OpFoldResult> sizes;
  for (auto [axis, at] : llvm::enumerate(own))
    sizes.push_back(
        at.isWhole() ? tensor::getMixedSize(rewriter, op.getLoc(), result, axis)
                     : rewriter.getIndexAttr(at.end - at.begin));
  return tensor::EmptyOp::create(rewriter, op.getLoc(), sizes,
                                 getElementTypeOrSelf(result.getType()));
}

/// Computes `piece` into `results`.
void PieceSplitting::emit(const Piece &piece, SmallVectorImpl<Value> &results) {
  Location loc = op.getLoc();
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    Value value = operand->get();
    operands.push_back(isa<RankedTensorType>(value.getType())
                           ? sliceOf(value, pieceOf(*operand, piece))
                           : value);
  }
  for (auto [k, result] : llvm::enumerate(results)) {
    operands.push_back(placeOf(*op.getDpsInitOperand(k), result, piece));
    types.push_back(operands.back().getType());
  }
  Operation *part = rewriter.cloneWithoutRegions(*op);
  part->setOperands(operands);
  for (auto [result, type] : llvm::zip_equal(part->getResults(), types))
    result.setType(type);
  rewriter.cloneRegionBefore(op.getRegion(), part->getRegion(0),
                             part->getRegion(0).begin());
  auto begins = llvm::map_to_vector(piece, [&](Interval at) -> OpFoldResult {
    return rewriter.getIndexAttr(at.begin);
  });
  countIterationsFrom(rewriter, cast<linalg::GenericOp>(part), begins);
  for (auto [k, result] : llvm::enumerate(results)) {
    SmallVector<OpFoldResult> offsets, sizes,
        strides(op.getNumLoops(), rewriter.getIndexAttr(1));
    for (auto [axis, at] :
         llvm::enumerate(pieceOf(*op.getDpsInitOperand(k), piece))) {
      offsets.push_back(rewriter.getIndexAttr(at.begin));
      sizes.push_back(at.isWhole()
                          ? tensor::getMixedSize(rewriter, loc, result, axis)
                          : rewriter.getIndexAttr(at.end - at.begin));
    }
    result = tensor::InsertSliceOp::create(rewriter, loc, part->getResult(k),
                                           result, offsets, sizes, strides);
  }
}

bool PieceSplitting::run() {
  if (!isSupported() || !findPieces())
    return false;
  rewriter.setInsertionPoint(op);
  SmallVector<Value> results;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    auto empty = init.get().getDefiningOp<tensor::EmptyOp>();
    results.push_back(empty ? rewriter.clone(*empty)->getResult(0)
                            : init.get());
  }
  for (const Piece &piece : pieces)
    emit(piece, results);
  rewriter.replaceOp(op, results);
  return true;
}

unsigned loopc::splitPieces(IRRewriter &rewriter, func::FuncOp function) {
  SmallVector<linalg::GenericOp> all;
  function.walk([&](linalg::GenericOp op) { all.push_back(op); });
  unsigned count = 0;
  for (linalg::GenericOp op : all)
    count += PieceSplitting(rewriter, op).run();
  return count;
}
