//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// tensor-fuse-elementwise: elementwise operations on tensors become one loop
// over registers: producers go into their consumers where recomputing them is
// cheap, and neighbours over the same elements become one operation with
// several results.

#include "FusionSteps.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/Nest/Analysis/Cost.h"
#include "loopc/Support/Contractions.h"
#include "loopc/Support/CpuModel.h"
#include "loopc/Tensor/Expansions.h"
#include "loopc/Tensor/MergeGenerics.h"
#include "loopc/Tensor/Passes.h"
#include "loopc/Tensor/StoredTranspose.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace loopc {
#define GEN_PASS_DEF_TENSORFUSEELEMENTWISE
#include "loopc/Tensor/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// A producer with at most this many cheap operations is computed again for
/// each of its consumers rather than stored.
static constexpr unsigned kMaxRecomputedOps = 4;

/// True if `op` computes on the sums of a product: on vectors, when they are
/// stored, rather than one by one in each product that reads them.
static bool followsProduct(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInputs(), [](Value input) {
    while (Operation *view = input.getDefiningOp()) {
      if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(
              view))
        break;
      input = view->getOperand(0);
    }
    auto product = input.getDefiningOp<linalg::GenericOp>();
    return product && isContraction(product);
  });
}

/// True if `operand` of an elementwise operation is read along its axes as they
/// are, or repeated: what reads it in vectors still does so when it reduces.
static bool isReadInOrder(OpOperand &operand) {
  auto op = cast<linalg::GenericOp>(operand.getOwner());
  int64_t before = -1;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
    if (isa<AffineConstantExpr>(expr))
      continue;
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || static_cast<int64_t>(dim.getPosition()) < before)
      return false;
    before = dim.getPosition();
  }
  // Elements with gaps between them.
  auto slice = operand.get().getDefiningOp<tensor::ExtractSliceOp>();
  return !slice || slice.getSourceType().getRank() == 0 ||
         (!slice.getDroppedDims().test(slice.getSourceType().getRank() - 1) &&
          isConstantIntValue(slice.getMixedStrides().back(), 1));
}

/// True if `operand`, which nobody else needs, is better computed where it is
/// summed up: each element is read once, and it would be stored in between.
static bool isSummedUp(OpOperand *operand, linalg::GenericOp producer) {
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  return producer->hasOneUse() &&
         consumer.getMatchingIndexingMap(operand).isPermutation() &&
         !followsProduct(producer) &&
         producer.getBody()->getOps<tensor::ExtractOp>().empty() &&
         llvm::all_of(producer.getDpsInputOperands(),
                      [](OpOperand *own) { return isReadInOrder(*own); });
}

/// Of so many rows, for so many columns, nothing is computed in a product.
static constexpr int64_t kManyRows = 4;
static constexpr int64_t kManyColumns = 16;
/// Rows of so many elements of a sum, which tiles of so many columns read, are
/// transposed in front of a product: 512 channels of 7x7 positions to 2,048
/// take 0.7 to 0.8 of the time with AVX2. Eight tiles take 1.05 to 1.17 times
/// as long with a transpose in front of them, where the first cache has 48 KB.
static constexpr int64_t kLongTurnedSum = 64, kTilesOfTurned = 16;
/// Fewer elements are no vector.
static constexpr int64_t kMinLanes = 4;

/// True if `product` can be computed in vectors, along the last axis of its
/// result or along a sum, where it reads its operands by `maps`: neighbours of
/// what varies along it are neighbours in memory.
static bool hasVectors(linalg::GenericOp product, ArrayRef<AffineMap> maps) {
  SmallVector<int64_t> extents = product.getStaticLoopRanges();
  // Axes of one element do not keep others apart.
  auto varies = [&](AffineExpr expr) {
    return llvm::any_of(llvm::seq<unsigned>(extents.size()), [&](unsigned dim) {
      return extents[dim] != 1 && expr.isFunctionOfDim(dim);
    });
  };
  auto isLast = [&](AffineMap map, unsigned dim) {
    bool isFirst = true;
    for (AffineExpr expr : llvm::reverse(map.getResults())) {
      if (!varies(expr))
        continue;
      if (!std::exchange(isFirst, false) && expr.isFunctionOfDim(dim))
        return false;
    }
    return true;
  };
  auto runsAlong = [&](unsigned dim) {
    return (ShapedType::isDynamic(extents[dim]) || extents[dim] >= kMinLanes) &&
           llvm::all_of(maps, [&](AffineMap map) { return isLast(map, dim); });
  };
  SmallVector<unsigned> sums;
  product.getReductionDims(sums);
  AffineExpr last = maps.back().getNumResults() == 0
                        ? AffineExpr()
                        : maps.back().getResults().back();
  auto column = dyn_cast_or_null<AffineDimExpr>(last);
  return (column && runsAlong(column.getPosition())) ||
         llvm::any_of(sums, runsAlong);
}

/// True if the product that reads `operand` would no longer be computed in
/// vectors if it read what `producer` reads: a window of an image whose axes
/// the producer brings into another order.
static bool breaksVectors(OpOperand *operand, linalg::GenericOp producer) {
  auto product = cast<linalg::GenericOp>(operand->getOwner());
  AffineMap made =
      producer.getIndexingMapMatchingResult(cast<OpResult>(operand->get()));
  if (!isContraction(product) || !made.isPermutation())
    return false;
  SmallVector<AffineMap> maps = product.getIndexingMapsArray();
  if (!hasVectors(product, maps))
    return false;
  AffineMap &read = maps[operand->getOperandNumber()];
  AffineMap loops = inversePermutation(made).compose(read);
  return llvm::any_of(producer.getDpsInputOperands(), [&](OpOperand *own) {
    read = producer.getMatchingIndexingMap(own).compose(loops);
    return !hasVectors(product, maps);
  });
}

/// True if `operand` of a product is read by windows, each element as often as
/// the kernel has elements, and `producer` computes something.
static bool repeatsInWindows(OpOperand *operand, linalg::GenericOp producer) {
  auto product = cast<linalg::GenericOp>(operand->getOwner());
  return isContraction(product) && !isPooling(product) &&
         !product.getMatchingIndexingMap(operand).isProjectedPermutation(
             /*allowZeroInResults=*/true) &&
         !producer.getBody()->without_terminator().empty();
}

/// True if `producer` is a transpose behind which neighbours along a long sum
/// of the product lie side by side, and before which they lie apart.
static bool turnsLongSum(OpOperand *operand, linalg::GenericOp producer) {
  auto product = cast<linalg::GenericOp>(operand->getOwner());
  AffineMap read = product.getMatchingIndexingMap(operand);
  AffineMap made =
      producer.getIndexingMapMatchingResult(cast<OpResult>(operand->get()));
  if (!producer.getBody()->without_terminator().empty() ||
      producer.getNumDpsInputs() != 1 || !made.isPermutation() ||
      read.getNumResults() == 0)
    return false;
  auto sum = dyn_cast<AffineDimExpr>(read.getResults().back());
  if (!sum || product.getIteratorTypesArray()[sum.getPosition()] !=
                  utils::IteratorType::reduction)
    return false;
  int64_t extent = product.getStaticLoopRanges()[sum.getPosition()];
  AffineMap before =
      producer.getMatchingIndexingMap(producer.getDpsInputOperand(0))
          .compose(inversePermutation(made).compose(read));
  return !ShapedType::isDynamic(extent) && extent >= kLongTurnedSum &&
         before.getNumResults() > 0 &&
         !before.getResults().back().isFunctionOfDim(sum.getPosition());
}

/// Columns in a tile of many rows of `product`.
static int64_t columnsOfTile(linalg::GenericOp product) {
  Type element = getElementTypeOrSelf(product->getResult(0).getType());
  int64_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  return CpuModel::kPanelVectors *
         CpuModel(getVectorUnit(product)).lanesOf(std::max<int64_t>(bits, 8));
}

/// True if `operand` has rows of a product, each element of which is read for
/// many columns, and `producer` computes something: one by one, for each tile
/// of columns anew, and not in vectors. The same where it transposes a long
/// sum: each tile reads a cache line for each element of a row.
static bool repeatsForColumns(OpOperand *operand, linalg::GenericOp producer) {
  auto product = cast<linalg::GenericOp>(operand->getOwner());
  AffineMap result = product.getIndexingMapsArray().back();
  bool isOrder = producer.getBody()->without_terminator().empty();
  if (!isContraction(product) || result.getNumResults() == 0 ||
      (isOrder && !turnsLongSum(operand, producer)))
    return false;
  SmallVector<int64_t> extents = product.getStaticLoopRanges();
  auto isAtLeast = [&](unsigned dim, int64_t least) {
    return ShapedType::isDynamic(extents[dim]) || extents[dim] >= least;
  };
  auto column = dyn_cast<AffineDimExpr>(result.getResults().back());
  AffineMap read = product.getMatchingIndexingMap(operand);
  int64_t least =
      isOrder ? kTilesOfTurned * columnsOfTile(product) : kManyColumns;
  if (!column || read.isFunctionOfDim(column.getPosition()) ||
      !isAtLeast(column.getPosition(), least))
    return false;
  auto types = product.getIteratorTypesArray();
  return llvm::any_of(llvm::seq(product.getNumLoops()), [&](unsigned dim) {
    return types[dim] == utils::IteratorType::parallel &&
           read.isFunctionOfDim(dim) && isAtLeast(dim, kManyRows);
  });
}

/// True if `operand` is a matrix, each element of which is read once, to be
/// multiplied with a vector.
static bool isOfVectorProduct(OpOperand *operand) {
  auto product = cast<linalg::GenericOp>(operand->getOwner());
  AffineMap read = product.getMatchingIndexingMap(operand);
  if (!isContraction(product) || !findSummedProduct(product) ||
      !read.isProjectedPermutation())
    return false;
  SmallVector<int64_t> extents = product.getStaticLoopRanges();
  auto isReadBy = [&](AffineMap map) {
    return llvm::all_of(llvm::seq(product.getNumLoops()), [&](unsigned dim) {
      return extents[dim] == 1 || map.isFunctionOfDim(dim);
    });
  };
  return isReadBy(read) &&
         llvm::none_of(product.getDpsInputOperands(), [&](OpOperand *other) {
           return other != operand &&
                  isReadBy(product.getMatchingIndexingMap(other));
         });
}

/// True if `producer` makes its result of what is there, and the consumer reads
/// each element of `operand` more than once: it would be made of what it was
/// made of before. MLIR's pattern keeps the result in the consumer's loops.
static bool accumulatesIn(OpOperand *operand, linalg::GenericOp producer) {
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  return !consumer.getMatchingIndexingMap(operand).isPermutation() &&
         llvm::any_of(producer.getDpsInitsMutable(), [&](OpOperand &init) {
           return producer.payloadUsesValueFromOperand(&init);
         });
}

/// True if the products that `op` adds up are those of integers.
static bool multipliesIntegers(linalg::GenericOp op) {
  return !op.getBody()->getOps<arith::MulIOp>().empty();
}

static bool sumsFloats(linalg::GenericOp op) {
  return isa<FloatType>(getElementTypeOrSelf(op.getDpsInits().front()));
}

/// True if `op` takes bits of integers, or extends integers, and does no more:
/// stored, they are longer.
static bool unpacksIntegers(linalg::GenericOp op) {
  auto operations = op.getBody()->without_terminator();
  return !operations.empty() &&
         llvm::all_of(operations, llvm::IsaPred<arith::ExtSIOp, arith::ExtUIOp,
                                                arith::AndIOp, arith::ShRUIOp>);
}

/// True if `operand` is a constant whose axes `producer` puts into another
/// order, and has the columns of a product: it is packed once, from where it
/// is.
static bool reordersConstant(OpOperand *operand, linalg::GenericOp producer) {
  auto product = cast<linalg::GenericOp>(operand->getOwner());
  AffineMap sums = product.getMatchingIndexingMap(product.getDpsInitOperand(0));
  auto yielded = dyn_cast<BlockArgument>(
      producer.getBody()->getTerminator()->getOperand(0));
  return yielded && yielded.getArgNumber() == 0 &&
         producer.getNumDpsInputs() == 1 && sums.getNumResults() > 0 &&
         sums.isProjectedPermutation() &&
         producer.getDpsInputs()[0].getDefiningOp<arith::ConstantOp>() &&
         llvm::all_of(producer.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isPermutation(); }) &&
         product.getMatchingIndexingMap(operand).isFunctionOfDim(
             sums.getDimPosition(sums.getNumResults() - 1));
}

/// True if `operand` is weights that `producer` makes of bytes for a product
/// with several loops over the sum: of the numbers of one byte, each would be a
/// tensor of its own.
static bool unpacksWeights(OpOperand *operand, linalg::GenericOp producer) {
  auto product = cast<linalg::GenericOp>(operand->getOwner());
  auto operations = producer.getBody()->without_terminator();
  return product.getNumReductionLoops() > 1 && isWeightsOfProduct(*operand) &&
         llvm::all_of(operations, isCheap) &&
         llvm::range_size(operations) <= 2 * kMaxRecomputedOps &&
         llvm::any_of(producer.getDpsInputOperands(), [&](OpOperand *input) {
           return getElementTypeOrSelf(input->get()).isInteger(8) &&
                  producer.getMatchingIndexingMap(input).isPermutation();
         });
}

/// True if what `producer` and its reader would be together is no vectors: much
/// is computed of elements that are read across the rows of the result, and are
/// of another type, so that they cannot be transposed in the result's place.
static bool computesAcrossRows(OpOperand *operand, linalg::GenericOp producer) {
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  AffineMap made =
      producer.getIndexingMapMatchingResult(cast<OpResult>(operand->get()));
  AffineMap out = consumer.getIndexingMapsArray().back();
  if (!isElementwise(consumer) || producer.getNumReductionLoops() > 0 ||
      !made.isPermutation() || out.getNumResults() == 0)
    return false;
  Type type = getElementTypeOrSelf(consumer.getDpsInits().back());
  auto isAcross = [&](Value value, AffineMap map) {
    return getElementTypeOrSelf(value) != type && isAcrossRows(map, out);
  };
  AffineMap loops = inversePermutation(made).compose(
      consumer.getMatchingIndexingMap(operand));
  return (llvm::any_of(producer.getDpsInputOperands(),
                       [&](OpOperand *own) {
                         return isAcross(
                             own->get(),
                             producer.getMatchingIndexingMap(own).compose(
                                 loops));
                       }) ||
          llvm::any_of(consumer.getDpsInputOperands(),
                       [&](OpOperand *other) {
                         return other != operand &&
                                isAcross(
                                    other->get(),
                                    consumer.getMatchingIndexingMap(other));
                       })) &&
         isHeavyWithTranspose({producer, consumer});
}

/// True if `operand`'s producer may be computed in its consumer: where nobody
/// else needs it, or where it is cheap. On a GPU a kernel of its own costs more
/// than to compute it several times.
static bool mayFuse(OpOperand *operand, BodyCosts &costs, bool forKernels) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer || !costs.fitIntoOne(producer, consumer) ||
      accumulatesIn(operand, producer))
    return false;
  if (!forKernels && computesAcrossRows(operand, producer))
    return false;
  // Not into what runs more often for each element that is produced.
  bool reread = consumer.getNumReductionLoops() > 0 ||
                !consumer.getMatchingIndexingMap(operand).isPermutation();
  if (producer->hasOneUse() && !reread)
    return true;
  if (consumer->getNumOperands() + producer->getNumOperands() > kMaxOperands)
    return false;
  if (isContraction(consumer) && followsProduct(producer))
    return false;
  // Products of small integers want them as they are; to floats they are
  // widened one by one.
  auto isSmallInteger = [](Type type) {
    return type.isInteger(8) || type.isInteger(16);
  };
  bool ofIntegers = isContraction(consumer) && multipliesIntegers(consumer);
  if (ofIntegers && sumsFloats(consumer) && unpacksIntegers(producer))
    return true;
  if (ofIntegers && !forKernels && reordersConstant(operand, producer))
    return true;
  if ((ofIntegers || (isContraction(consumer) && !sumsFloats(consumer))) &&
      isSmallInteger(getElementTypeOrSelf(operand->get())))
    return false;
  if (!forKernels && unpacksWeights(operand, producer))
    return true;
  if (!forKernels && (breaksVectors(operand, producer) ||
                      repeatsInWindows(operand, producer) ||
                      repeatsForColumns(operand, producer)))
    return false;
  if (isSummedUp(operand, producer))
    return true;
  // A matrix that is multiplied with a vector: to store it takes longer than to
  // compute it twice, unless it is stored all the same.
  if (!forKernels && isOfVectorProduct(operand) &&
      llvm::all_of(producer->getUsers(), llvm::IsaPred<linalg::GenericOp>))
    reread = false;
  Block *body = producer.getBody();
  return llvm::all_of(*body, isCheap) &&
         llvm::range_size(body->without_terminator()) <= kMaxRecomputedOps &&
         producer.getNumDpsInputs() <= (reread ? 1 : 3);
}

/// Whether to fuse. A producer that others need as well gets its own producers
/// first: what is cheap alone is not cheap with all that comes before it, as
/// the sum that a residual network adds to in each layer.
static bool shouldFuse(OpOperand *operand, BodyCosts &costs, bool forKernels) {
  if (!mayFuse(operand, costs, forKernels))
    return false;
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  return producer->hasOneUse() ||
         llvm::none_of(producer->getOpOperands(), [&](OpOperand &own) {
           return mayFuse(&own, costs, forKernels);
         });
}

//===----------------------------------------------------------------------===//
// Neighbours
//===----------------------------------------------------------------------===//

/// The extents of the iteration space of an elementwise operation.
static SmallVector<OpFoldResult> space(OpBuilder &b, linalg::GenericOp op) {
  return resolveDims(b, op.getLoc(), op.getDpsInits().front());
}

/// Reads of `first`'s results by `second` must be of the element that the same
/// iteration produces.
static bool readsAligned(linalg::GenericOp first, linalg::GenericOp second) {
  for (OpOperand &operand : second->getOpOperands())
    if (operand.get().getDefiningOp() == first &&
        (!second.isDpsInput(&operand) ||
         !second.getMatchingIndexingMap(&operand).isIdentity()))
      return false;
  // Nor may its body look into them elsewhere (tensor.extract).
  for (Operation *user : first->getUsers())
    if (user != second && second->isProperAncestor(user))
      return false;
  return true;
}

/// True if sums of products begin with what is read by `use`.
static bool isStartOfSums(OpOperand &use) {
  auto product = dyn_cast<linalg::GenericOp>(use.getOwner());
  return product && product.getNumReductionLoops() > 0 &&
         product.isDpsInit(&use);
}

/// True if sums of products begin with what `op` repeats: they read it where it
/// is, unless something else is computed with it.
static bool isStartOfSums(linalg::GenericOp op) {
  return op->hasOneUse() && op.getBody()->without_terminator().empty() &&
         isStartOfSums(*op->use_begin());
}

/// Gives each product that begins with what `op` broadcasts a broadcast of its
/// own: of several it would be stored, and read by each of them.
///
///     %b = broadcast %bias               %b0 = broadcast %bias
///     product ... outs(%b)        ->     product ... outs(%b0)
///     product ... outs(%b)               %b1 = broadcast %bias
///                                        product ... outs(%b1)
static void splitStartsOfSums(IRRewriter &rewriter, linalg::GenericOp op) {
  if (op->hasOneUse() || op->getNumResults() != 1 || !isElementwise(op) ||
      !op.getBody()->without_terminator().empty() ||
      llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
        return op.getMatchingIndexingMap(input).isPermutation();
      }))
    return;
  for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
    if (!isStartOfSums(use) || op->hasOneUse())
      continue;
    rewriter.setInsertionPoint(use.getOwner());
    Operation *own = rewriter.clone(*op);
    rewriter.modifyOpInPlace(use.getOwner(),
                             [&] { use.set(own->getResult(0)); });
  }
}

/// True if a product of matrices expands what `op` computes where it sums up:
/// it would not find that among the results of an operation that computes more.
static bool isExpandedWhereRead(linalg::GenericOp op) {
  return isExpansion(op) && llvm::any_of(op->getUses(), isExpandedInProduct);
}

/// True if `op` reads elements of another type than `type` across its rows.
static bool turnsOthers(linalg::GenericOp op, Type type) {
  AffineMap out = op.getIndexingMapsArray().back();
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    return getElementTypeOrSelf(input->get()) != type &&
           isAcrossRows(op.getMatchingIndexingMap(input), out);
  });
}

/// True if both go through the same elements, and may do so together.
static bool areNeighbours(IRRewriter &rewriter, linalg::GenericOp first,
                          linalg::GenericOp second) {
  // As fused ones: heavy bodies stay apart from such a transpose.
  Type type = getElementTypeOrSelf(second.getDpsInits().back());
  bool isApart = (turnsOthers(first, type) || turnsOthers(second, type)) &&
                 isHeavyWithTranspose({first, second});
  return !isApart && readsAligned(first, second) &&
         llvm::equal(space(rewriter, first), space(rewriter, second),
                     isEqualConstantIntOrValue);
}

//===----------------------------------------------------------------------===//
// Transposes
//===----------------------------------------------------------------------===//

/// The patterns fuse linalg.generics only, so that transposes become such but
/// for those that are stored.
static LogicalResult generalizeTransposes(IRRewriter &rewriter,
                                          func::FuncOp function) {
  WalkResult done = function.walk([&](linalg::TransposeOp op) {
    if (op->hasAttr(kStoredAttrName))
      return WalkResult::advance();
    rewriter.setInsertionPoint(op);
    return WalkResult(linalg::generalizeNamedOp(rewriter, op));
  });
  return failure(done.wasInterrupted());
}

namespace {
/// What a rewrite may have made possible elsewhere: whether an operation is
/// fused depends on its producers' own producers, and on who else needs them.
class Affected : public BodyCosts {
public:
  SmallVector<Operation *> takeAll() {
    return llvm::to_vector(std::exchange(found, {}));
  }

private:
  void add(Operation *op) {
    if (isa<linalg::GenericOp>(op))
      found.insert(op);
  }
  void addUsers(Operation *op) {
    if (!isa<linalg::GenericOp>(op))
      return;
    add(op);
    for (Operation *user : op->getUsers()) {
      add(user);
      for (Operation *other : user->getUsers())
        add(other);
    }
  }
  void notifyOperationInserted(Operation *op,
                               OpBuilder::InsertPoint previous) override {
    BodyCosts::notifyOperationInserted(op, previous);
    addUsers(op);
  }
  void notifyOperationModified(Operation *op) override {
    BodyCosts::notifyOperationModified(op);
    addUsers(op);
  }
  void notifyOperationErased(Operation *op) override {
    BodyCosts::notifyOperationErased(op);
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        addUsers(producer);
    // It is still one of the users.
    found.remove(op);
  }

  llvm::SetVector<Operation *> found;
};

/// Applies `patterns` until nothing changes: again to what a rewrite may have
/// made possible, and to the whole function only where that is done.
static LogicalResult fuse(func::FuncOp function,
                          const FrozenRewritePatternSet &patterns,
                          Affected &affected) {
  for (bool changed = true; changed;) {
    GreedyRewriteConfig config = untilDone();
    config.setMaxIterations(1).setListener(&affected);
    // Not having come to an end is no failure here.
    (void)applyPatternsGreedily(function, patterns, config, &changed);
    GreedyRewriteConfig some = untilDone();
    some.setListener(&affected).setScope(&function.getBody());
    for (SmallVector<Operation *> ops = affected.takeAll(); !ops.empty();
         ops = affected.takeAll())
      if (failed(applyOpPatternsGreedily(ops, patterns, some)))
        return failure();
  }
  return success();
}

struct TensorFuseElementwise
    : loopc::impl::TensorFuseElementwiseBase<TensorFuseElementwise> {
  using Base::Base;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    IRRewriter rewriter(context);
    bool forKernels = isForGPU(getOperation());
    if (failed(generalizeTransposes(rewriter, getOperation())))
      return signalPassFailure();
    if (!forKernels) {
      RewritePatternSet simpler(context);
      populateSimplifyGenerics(simpler);
      walkAndApplyPatterns(getOperation(), std::move(simpler));
    }
    Affected affected;
    RewritePatternSet patterns(context);
    uint64_t asked = 0;
    linalg::populateElementwiseOpsFusionPatterns(
        patterns, [&](OpOperand *operand) {
          ++asked;
          return shouldFuse(operand, affected, forKernels);
        });
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    FrozenRewritePatternSet frozen(std::move(patterns));
    if (failed(fuse(getOperation(), frozen, affected)))
      return signalPassFailure();
    checkEndsOfIndices(rewriter, getOperation());
    if (!forKernels && computeIndicesInLoops(rewriter, getOperation()) != 0)
      loop::foldBounds(getOperation());
    if (!forKernels) {
      scatterRows(rewriter, getOperation());
      // Only what is fused shows what an axis is read with; what is unrolled
      // is elementwise, and fused again.
      RewritePatternSet unrolled(context);
      populateUnrollShortAxes(unrolled);
      walkAndApplyPatterns(getOperation(), std::move(unrolled), &affected);
      if (failed(fuse(getOperation(), frozen, affected)))
        return signalPassFailure();
    }
    getOperation().walk(
        [&](linalg::GenericOp op) { splitStartsOfSums(rewriter, op); });
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) { blocks.push_back(block); });
    uint64_t compared = 0;
    for (Block *block : blocks)
      if (!isa_and_nonnull<linalg::LinalgOp>(block->getParentOp())) {
        MergeCounts counts = mergeGenerics(
            rewriter, *block,
            [&](linalg::GenericOp op) {
              return isElementwise(op) && !isStartOfSums(op) &&
                     (forKernels || !isExpandedWhereRead(op));
            },
            [&](linalg::GenericOp first, linalg::GenericOp second) {
              return areNeighbours(rewriter, first, second);
            });
        numMerged += counts.merged;
        compared += counts.compared;
      }
    if (reportWork)
      getOperation().emitRemark()
          << compared + asked << " operations compared, bodies of "
          << affected.getNumCounted() << " looked at";
    if (!forKernels)
      numSplit += splitPieces(rewriter, getOperation()) +
                  splitOpenPieces(rewriter, getOperation());
    RewritePatternSet cleanup(context);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(cleanup);
    if (failed(applyPatternsGreedily(getOperation(), std::move(cleanup),
                                     untilDone())))
      signalPassFailure();
  }
};
} // namespace
