//===- SplitOpenPieces.cpp - Shifts along open axes -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// As SplitPieces.cpp, where a run tells how long an axis is. An operand of two
// parts passes from one to the other at its cut. The cuts of all operands, in
// order, are where pieces begin; their order is not known here, so that a run
// finds out which part a piece lies in: of parts that are slices of one tensor
// it chooses the offset.

#include "FusionSteps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace loopc;

/// Cuts of an axis at most: one for each direction of a shift.
static constexpr size_t kMaxCuts = 2;
/// Those of one axis that is shifted in both directions. The nine of a plane
/// take 1.46 times as long to compile, and of 32 by 32 elements 1.07 times as
/// long to run (0.95 of 64 by 64, 0.75 of 256 by 256).
static constexpr size_t kMaxPieces = 3;
/// Operations of all pieces together: code has its price, too.
static constexpr size_t kMaxOperations = 512;

namespace {
/// A tensor of two parts, one behind the other along `axis`.
struct Parts {
  unsigned axis;
  OpFoldResult cut;
  Value first, second;
};

/// Where a piece begins along an axis, and how much it has of it.
struct Stretch {
  OpFoldResult begin, size;
  /// How many cuts it lies behind.
  unsigned number;
};
using Piece = SmallVector<Stretch, 4>;

class OpenSplitting {
public:
  OpenSplitting(IRRewriter &rewriter, linalg::GenericOp op)
      : rewriter(rewriter), b(op.getLoc(), rewriter), op(op) {}

  bool run();

private:
  bool isSupported();
  bool findCuts();
  bool areSlicesOfOne(const Parts &parts);
  void listStretches(unsigned dim, OpFoldResult extent,
                     SmallVectorImpl<Stretch> &stretches);
  Value sliceOf(OpOperand &operand, const Piece &piece);
  Value takeSlice(Value value, ArrayRef<Stretch> own);
  Value chooseSlice(const Parts &parts, ArrayRef<Stretch> own);
  void emit(const Piece &piece, SmallVectorImpl<Value> &results);
  Value valueOf(OpFoldResult number) {
    return getValueOrCreateConstantIndexOp(b, b.getLoc(), number);
  }

  IRRewriter &rewriter;
  ImplicitLocOpBuilder b;
  linalg::GenericOp op;
  llvm::SmallDenseMap<OpOperand *, Parts> shifted;
  /// Of each dimension, where operands pass from one part to the next.
  SmallVector<SmallVector<OpFoldResult, 2>> cuts;
};
} // namespace

/// What is converted between index and i64, which have as many bits.
static OpFoldResult withoutCasts(Value value) {
  while (auto cast = value.getDefiningOp<arith::IndexCastOp>()) {
    if (!cast.getIn().getType().isIndex() &&
        !cast.getIn().getType().isInteger(64))
      break;
    value = cast.getIn();
  }
  return getAsOpFoldResult(value);
}

namespace {
/// What conditions around an operation say is equal.
class KnownEqual {
public:
  explicit KnownEqual(Operation *op);

  /// True if `extent` is x + y, by how it is computed or by a condition.
  bool isSum(OpFoldResult extent, OpFoldResult x, OpFoldResult y) const;

private:
  bool areEqual(OpFoldResult x, OpFoldResult y, unsigned depth = 0) const;
  bool adds(OpFoldResult value, OpFoldResult x, OpFoldResult y) const;

  SmallVector<std::pair<OpFoldResult, OpFoldResult>> pairs;
  llvm::EquivalenceClasses<void *> classes;
};
} // namespace

KnownEqual::KnownEqual(Operation *op) {
  for (; op; op = op->getParentOp()) {
    auto branch = dyn_cast_if_present<scf::IfOp>(op->getParentOp());
    if (!branch || op->getBlock() != branch.thenBlock())
      continue;
    SmallVector<Value> conditions{branch.getCondition()};
    while (!conditions.empty()) {
      Value condition = conditions.pop_back_val();
      if (auto both = condition.getDefiningOp<arith::AndIOp>())
        llvm::append_values(conditions, both.getLhs(), both.getRhs());
      auto compare = condition.getDefiningOp<arith::CmpIOp>();
      if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq)
        continue;
      pairs.push_back(
          {withoutCasts(compare.getLhs()), withoutCasts(compare.getRhs())});
      auto [x, y] = pairs.back();
      if (isa<Value>(x) && isa<Value>(y))
        classes.unionSets(cast<Value>(x).getAsOpaquePointer(),
                          cast<Value>(y).getAsOpaquePointer());
    }
  }
}

/// One value, or equal by a condition, or computed alike of what is equal.
bool KnownEqual::areEqual(OpFoldResult x, OpFoldResult y,
                          unsigned depth) const {
  constexpr unsigned kDeepest = 6;
  auto withoutCast = [](OpFoldResult one) {
    auto value = dyn_cast<Value>(one);
    return value ? withoutCasts(value) : one;
  };
  x = withoutCast(x), y = withoutCast(y);
  if (isEqualConstantIntOrValue(x, y))
    return true;
  auto a = dyn_cast<Value>(x), c = dyn_cast<Value>(y);
  if (!a || !c)
    return false;
  if (classes.isEquivalent(a.getAsOpaquePointer(), c.getAsOpaquePointer()))
    return true;
  Operation *first = a.getDefiningOp(), *second = c.getDefiningOp();
  return depth < kDeepest && first && second &&
         isa<arith::ArithDialect>(first->getDialect()) &&
         first->getNumOperands() > 0 && first->getName() == second->getName() &&
         first->getAttrs() == second->getAttrs() &&
         a.getType() == c.getType() &&
         llvm::all_of(
             llvm::zip_equal(first->getOperands(), second->getOperands()),
             [&](auto pair) {
               return areEqual(getAsOpFoldResult(std::get<0>(pair)),
                               getAsOpFoldResult(std::get<1>(pair)), depth + 1);
             });
}

bool KnownEqual::adds(OpFoldResult value, OpFoldResult x,
                      OpFoldResult y) const {
  auto whole = dyn_cast<Value>(value);
  auto made = whole ? dyn_cast<Value>(withoutCasts(whole)) : Value();
  auto sum = made ? made.getDefiningOp<arith::AddIOp>() : arith::AddIOp();
  if (!sum)
    return false;
  OpFoldResult a = getAsOpFoldResult(sum.getLhs());
  OpFoldResult c = getAsOpFoldResult(sum.getRhs());
  return (areEqual(a, x) && areEqual(c, y)) ||
         (areEqual(a, y) && areEqual(c, x));
}

bool KnownEqual::isSum(OpFoldResult extent, OpFoldResult x,
                       OpFoldResult y) const {
  return adds(extent, x, y) || llvm::any_of(pairs, [&](const auto &pair) {
           return (areEqual(pair.first, extent) && adds(pair.second, x, y)) ||
                  (areEqual(pair.second, extent) && adds(pair.first, x, y));
         });
}

/// The axis that `insert` does not fill; none where it leaves out others, too.
static std::optional<unsigned> findCutAxis(tensor::InsertSliceOp insert,
                                           ArrayRef<OpFoldResult> extents) {
  std::optional<unsigned> found;
  if (insert.getSourceType().getRank() != insert.getDestType().getRank() ||
      !insert.hasUnitStride())
    return found;
  for (auto [axis, extent] : llvm::enumerate(extents)) {
    if (isConstantIntValue(insert.getMixedOffsets()[axis], 0) &&
        isEqualConstantIntOrValue(insert.getMixedSizes()[axis], extent))
      continue;
    if (found)
      return std::nullopt;
    found = axis;
  }
  return found;
}

/// The parts of `value`, which cover it.
static std::optional<Parts> findParts(Value value, const KnownEqual &known) {
  auto last = value.getDefiningOp<tensor::InsertSliceOp>();
  if (!last)
    return std::nullopt;
  auto earlier = last.getDest().getDefiningOp<tensor::InsertSliceOp>();
  auto fill = last.getDest().getDefiningOp<linalg::FillOp>();
  Value place = earlier ? earlier.getDest()
                : fill  ? fill.getOutputs()[0]
                        : Value();
  auto empty =
      place ? place.getDefiningOp<tensor::EmptyOp>() : tensor::EmptyOp();
  if (!empty)
    return std::nullopt;
  SmallVector<OpFoldResult> extents = empty.getMixedSizes();
  std::optional<unsigned> axis = findCutAxis(last, extents);
  if (!axis || !ShapedType::isDynamic(empty.getType().getDimSize(*axis)) ||
      (earlier && findCutAxis(earlier, extents) != axis))
    return std::nullopt;
  OpFoldResult begin = last.getMixedOffsets()[*axis];
  OpFoldResult size = last.getMixedSizes()[*axis];
  bool isFirst = isConstantIntValue(begin, 0);
  OpFoldResult cut = isFirst ? size : begin;
  if (earlier) {
    OpFoldResult otherBegin = earlier.getMixedOffsets()[*axis];
    OpFoldResult otherSize = earlier.getMixedSizes()[*axis];
    bool meets = isFirst ? isEqualConstantIntOrValue(otherBegin, cut)
                         : isConstantIntValue(otherBegin, 0) &&
                               isEqualConstantIntOrValue(otherSize, cut);
    if (!meets || !known.isSum(extents[*axis], size, otherSize))
      return std::nullopt;
  } else if (!isFirst && !known.isSum(extents[*axis], begin, size)) {
    return std::nullopt;
  }
  Value other = earlier ? earlier.getSource() : fill.getResult(0);
  return isFirst ? Parts{*axis, cut, last.getSource(), other}
                 : Parts{*axis, cut, other, last.getSource()};
}

bool OpenSplitting::isSupported() {
  auto loop = op->getParentOfType<LoopLikeOpInterface>();
  return loop && !loop->hasAttr("loopc.cold") && op.hasPureTensorSemantics() &&
         op.getNumParallelLoops() == op.getNumLoops() &&
         llvm::all_of(
             op->getOpOperands(),
             [&](OpOperand &operand) {
               AffineMap map = op.getMatchingIndexingMap(&operand);
               return op.isDpsInput(&operand)
                          ? map.isProjectedPermutation()
                          : map.isIdentity() &&
                                operand.get().getDefiningOp<tensor::EmptyOp>();
             }) &&
         llvm::all_of(*op.getBody(),
                      [](Operation &inner) { return !inner.getNumRegions(); });
}

/// True for slices of one tensor that differ in where they begin along the axis
/// alone: a run can choose.
bool OpenSplitting::areSlicesOfOne(const Parts &parts) {
  auto first = parts.first.getDefiningOp<tensor::ExtractSliceOp>();
  auto second = parts.second.getDefiningOp<tensor::ExtractSliceOp>();
  if (!first || !second || first.getSource() != second.getSource() ||
      first.getSourceType().getRank() != first.getType().getRank() ||
      second.getType().getRank() != first.getType().getRank())
    return false;
  return llvm::all_of(
      llvm::seq<unsigned>(0, first.getType().getRank()), [&](unsigned k) {
        return k == parts.axis ||
               isEqualConstantIntOrValue(first.getMixedOffsets()[k],
                                         second.getMixedOffsets()[k]);
      });
}

/// True for what a few operations read, all of which may be split: nobody needs
/// it as a whole then.
static bool isReadInPieces(Value value) {
  constexpr unsigned kMaxReaders = 2;
  return !value.use_empty() && !value.hasNUsesOrMore(kMaxReaders + 1) &&
         llvm::all_of(value.getUsers(), llvm::IsaPred<linalg::GenericOp>);
}

/// True for a slice whose elements are no neighbours: what reads several such
/// is made vectors of by LLVM, if the buffers are few.
static bool hasGaps(Value part) {
  auto slice = part.getDefiningOp<tensor::ExtractSliceOp>();
  return slice && !slice.hasUnitStride();
}

/// False where there is nothing to split, or too much.
bool OpenSplitting::findCuts() {
  cuts.resize(op.getNumLoops());
  KnownEqual known(op);
  for (OpOperand *operand : op.getDpsInputOperands()) {
    if (hasGaps(operand->get()))
      return false;
    if (!isReadInPieces(operand->get()))
      continue;
    std::optional<Parts> parts = findParts(operand->get(), known);
    if (!parts)
      continue;
    if (hasGaps(parts->first) || hasGaps(parts->second))
      return false;
    unsigned dim =
        op.getMatchingIndexingMap(operand).getDimPosition(parts->axis);
    if (llvm::none_of(cuts[dim], [&](OpFoldResult cut) {
          return isEqualConstantIntOrValue(cut, parts->cut);
        }))
      cuts[dim].push_back(parts->cut);
    shifted.try_emplace(operand, *parts);
  }
  size_t count = 1;
  for (const auto &own : cuts) {
    if (own.size() > kMaxCuts)
      return false;
    count *= own.size() + 1;
  }
  // The one cut that there is has one part on each side, whatever these are.
  for (auto &[operand, parts] : shifted) {
    unsigned dim =
        op.getMatchingIndexingMap(operand).getDimPosition(parts.axis);
    if (cuts[dim].size() > 1 && !areSlicesOfOne(parts))
      return false;
  }
  return count > 1 && count <= kMaxPieces &&
         count * op.getBody()->getOperations().size() <= kMaxOperations;
}

void OpenSplitting::listStretches(unsigned dim, OpFoldResult extent,
                                  SmallVectorImpl<Stretch> &stretches) {
  SmallVector<OpFoldResult, 2> bounds = cuts[dim];
  if (bounds.size() == 2) {
    Value x = valueOf(bounds[0]), y = valueOf(bounds[1]);
    bounds[0] = arith::MinSIOp::create(b, x, y).getResult();
    bounds[1] = arith::MaxSIOp::create(b, x, y).getResult();
  }
  OpFoldResult begin = b.getIndexAttr(0);
  for (unsigned k = 0; k <= bounds.size(); ++k) {
    OpFoldResult end = k < bounds.size() ? bounds[k] : extent;
    OpFoldResult size = end;
    if (!isConstantIntValue(begin, 0))
      size = getAsOpFoldResult(
          b.createOrFold<arith::SubIOp>(valueOf(end), valueOf(begin)));
    stretches.push_back({begin, size, k});
    begin = end;
  }
}

Value OpenSplitting::takeSlice(Value value, ArrayRef<Stretch> own) {
  SmallVector<OpFoldResult> offsets, sizes,
      strides(own.size(), b.getIndexAttr(1));
  for (const Stretch &at : own) {
    offsets.push_back(at.begin);
    sizes.push_back(at.size);
  }
  if (auto fill = value.getDefiningOp<linalg::FillOp>()) {
    Value place = tensor::EmptyOp::create(
        b, sizes, getElementTypeOrSelf(value.getType()));
    return linalg::FillOp::create(b, fill.getInputs()[0], place).getResult(0);
  }
  return tensor::ExtractSliceOp::create(b, value, offsets, sizes, strides);
}

/// The slice of what both parts are slices of, from where the run says that the
/// piece lies on.
Value OpenSplitting::chooseSlice(const Parts &parts, ArrayRef<Stretch> own) {
  auto first = parts.first.getDefiningOp<tensor::ExtractSliceOp>();
  auto second = parts.second.getDefiningOp<tensor::ExtractSliceOp>();
  SmallVector<OpFoldResult> offsets = first.getMixedOffsets(), sizes,
                            strides = first.getMixedStrides();
  auto shift = [&](OpFoldResult offset, Value by) {
    return b.createOrFold<arith::AddIOp>(valueOf(offset), by);
  };
  for (auto [axis, at] : llvm::enumerate(own)) {
    Value begin = valueOf(at.begin);
    sizes.push_back(at.size);
    Value place = shift(offsets[axis], begin);
    if (axis == parts.axis) {
      Value cut = valueOf(parts.cut);
      Value behind = shift(second.getMixedOffsets()[axis],
                           b.createOrFold<arith::SubIOp>(begin, cut));
      Value isBehind =
          arith::CmpIOp::create(b, arith::CmpIPredicate::sge, begin, cut);
      place = arith::SelectOp::create(b, isBehind, behind, place);
    }
    offsets[axis] = getAsOpFoldResult(place);
  }
  return tensor::ExtractSliceOp::create(b, first.getSource(), offsets, sizes,
                                        strides);
}

Value OpenSplitting::sliceOf(OpOperand &operand, const Piece &piece) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!isa<RankedTensorType>(operand.get().getType()) ||
      map.getNumResults() == 0)
    return operand.get();
  SmallVector<Stretch> own;
  for (AffineExpr expr : map.getResults())
    own.push_back(piece[cast<AffineDimExpr>(expr).getPosition()]);
  auto found = shifted.find(&operand);
  if (found == shifted.end())
    return takeSlice(operand.get(), own);
  const Parts &parts = found->second;
  Stretch &along = own[parts.axis];
  unsigned dim = map.getDimPosition(parts.axis);
  if (cuts[dim].size() > 1)
    return chooseSlice(parts, own);
  if (along.number == 0)
    return takeSlice(parts.first, own);
  along.begin = b.getIndexAttr(0);
  return takeSlice(parts.second, own);
}

/// Computes `piece` into `results`.
void OpenSplitting::emit(const Piece &piece, SmallVectorImpl<Value> &results) {
  SmallVector<Value> operands;
  SmallVector<Type> types;
  SmallVector<OpFoldResult> offsets, sizes,
      strides(piece.size(), b.getIndexAttr(1));
  for (const Stretch &at : piece) {
    offsets.push_back(at.begin);
    sizes.push_back(at.size);
  }
  for (OpOperand *operand : op.getDpsInputOperands())
    operands.push_back(sliceOf(*operand, piece));
  for (Value result : results) {
    operands.push_back(tensor::EmptyOp::create(
        b, sizes, getElementTypeOrSelf(result.getType())));
    types.push_back(operands.back().getType());
  }
  Operation *part = rewriter.cloneWithoutRegions(*op);
  part->setOperands(operands);
  for (auto [result, type] : llvm::zip_equal(part->getResults(), types))
    result.setType(type);
  rewriter.cloneRegionBefore(op.getRegion(), part->getRegion(0),
                             part->getRegion(0).begin());
  countIterationsFrom(rewriter, cast<linalg::GenericOp>(part), offsets);
  for (auto [k, result] : llvm::enumerate(results))
    result = tensor::InsertSliceOp::create(b, part->getResult(k), result,
                                           offsets, sizes, strides);
}

bool OpenSplitting::run() {
  if (!isSupported() || !findCuts())
    return false;
  rewriter.setInsertionPoint(op);
  b.setInsertionPoint(op);
  SmallVector<Value> results(op.getDpsInits());
  SmallVector<OpFoldResult> extents =
      op.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>().getMixedSizes();
  SmallVector<Piece> pieces(1);
  for (unsigned dim = 0; dim < op.getNumLoops(); ++dim) {
    SmallVector<Stretch> stretches;
    listStretches(dim, extents[dim], stretches);
    SmallVector<Piece> longer;
    for (const Piece &piece : pieces)
      for (const Stretch &stretch : stretches) {
        longer.push_back(piece);
        longer.back().push_back(stretch);
      }
    pieces = std::move(longer);
  }
  for (const Piece &piece : pieces)
    emit(piece, results);
  rewriter.replaceOp(op, results);
  return true;
}

unsigned loopc::splitOpenPieces(IRRewriter &rewriter, func::FuncOp function) {
  SmallVector<linalg::GenericOp> all;
  function.walk([&](linalg::GenericOp op) { all.push_back(op); });
  unsigned count = 0;
  for (linalg::GenericOp op : all)
    count += OpenSplitting(rewriter, op).run();
  return count;
}
