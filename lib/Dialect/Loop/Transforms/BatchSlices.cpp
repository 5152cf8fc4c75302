//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-batch-slices: contractions of slices with what does not change are
// computed for all iterations at once, before the loop.

#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Support/Remarks.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPBATCHSLICES
#include "loopc/Dialect/Loop/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

/// What is computed at once may be this many times as large as the slices that
/// it is computed from: the gates of a cell are four times the state.
static constexpr int64_t kMaxGrowth = 32;

namespace {
/// A value of the body for all iterations: this iteration's is
/// `whole[.., position at axis, ..]`.
struct Batched {
  Value whole;
  int64_t axis = 0;
  Value position;
};

class SliceBatching {
public:
  SliceBatching(IRRewriter &rewriter, LoopOp loop)
      : rewriter(rewriter), b(loop.getLoc(), rewriter), loop(loop) {}

  /// Returns the number of contractions that were moved.
  unsigned run() {
    b.setInsertionPoint(loop);
    check = findFirstCheck(*loop.getLoopBody());
    SmallVector<linalg::GenericOp> contractions;
    for (auto op : loop.getLoopBody()->getOps<linalg::GenericOp>())
      if (readsOuterMatrix(op) && batchPosition(op.getResult(0)))
        contractions.push_back(op);
    if (contractions.empty())
      return 0;
    OpFoldResult known = knownTrips(b, loop);
    if (!known) {
      remarkMissed(loop.getLoc(), "BatchSlices",
                   "a contraction of slices stays in the loop: how many "
                   "iterations there are is not known when it begins");
      return 0;
    }
    trips = known;
    SmallVector<linalg::GenericOp> moved;
    for (linalg::GenericOp op : contractions) {
      if (!isCheap(op)) {
        remarkMissed(op.getLoc(), "BatchSlices",
                     "computed in each iteration: for all of them at once it "
                     "would take too much memory");
        continue;
      }
      replace(op);
      moved.push_back(op);
      remarkDone(op.getLoc(), "BatchSlices",
                 "computed for all iterations at once, before the loop");
    }
    // Only now: what is new must not stand where the maps know another value.
    for (linalg::GenericOp op : llvm::reverse(moved))
      rewriter.eraseOp(op);
    return moved.size();
  }

private:
  bool isOutside(Value value) { return loop.isDefinedOutsideOfLoop(value); }
  bool isOutside(OpFoldResult value) {
    auto v = dyn_cast<Value>(value);
    return !v || isOutside(v);
  }

  //===--------------------------------------------------------------------===//
  // What can be computed for all iterations
  //===--------------------------------------------------------------------===//

  /// The trip count that an index was made of, without what holds it above 0.
  static Value rootOfTrips(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (isa<arith::IndexCastOp>(op) ||
          (isa<arith::MaxSIOp>(op) &&
           matchPattern(op->getOperand(1), m_Zero())))
        value = op->getOperand(0);
      else
        break;
    }
    return value;
  }

  bool isTrips(Value value) {
    Value root = rootOfTrips(value);
    Value given = rootOfTrips(loop.getTripCount());
    return root == given ||
           (getConstantIntValue(root) &&
            getConstantIntValue(root) == getConstantIntValue(given));
  }

  /// True for the iteration number, and the number counted back from the
  /// trips, as an index into what has as many elements.
  bool isPosition(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (isa<arith::IndexCastOp>(op)) {
        value = op->getOperand(0);
      } else if (isa<arith::MinUIOp>(op) && isOutside(op->getOperand(1))) {
        // Held within the extent where a check before has ended the run.
        value = op->getOperand(0);
      } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
        // Counted from the end where it is negative: it is not.
        auto test = select.getCondition().getDefiningOp<arith::CmpIOp>();
        if (!test || test.getPredicate() != arith::CmpIPredicate::slt ||
            !matchPattern(test.getRhs(), m_Zero()) ||
            test.getLhs() != select.getFalseValue())
          return false;
        value = select.getFalseValue();
      } else if (auto sub = dyn_cast<arith::SubIOp>(op)) {
        return isLast(sub.getLhs()) && isPosition(sub.getRhs());
      } else {
        break;
      }
    }
    return loop.getTripCount() && value == loop.getCounter();
  }

  /// True for the trips less one.
  bool isLast(Value value) {
    auto sub = value.getDefiningOp<arith::SubIOp>();
    auto add = value.getDefiningOp<arith::AddIOp>();
    return (sub && matchPattern(sub.getRhs(), m_One()) &&
            isTrips(sub.getLhs())) ||
           (add && getConstantIntValue(add.getRhs()) == -1 &&
            isTrips(add.getLhs()));
  }

  /// The axis along which `slice` is this iteration's element of a value from
  /// outside; nothing where it is not.
  std::optional<int64_t> slicedAxis(tensor::ExtractSliceOp slice) {
    if (!loop.getTripCount() || !isOutside(slice.getSource()))
      return std::nullopt;
    std::optional<int64_t> axis;
    for (auto [k, offset] : llvm::enumerate(slice.getMixedOffsets())) {
      if (isOutside(offset))
        continue;
      if (axis || !isPosition(cast<Value>(offset)))
        return std::nullopt;
      axis = k;
    }
    if (!axis || !isConstantIntValue(slice.getMixedSizes()[*axis], 1) ||
        slice.getType().getRank() + 1 != slice.getSourceType().getRank())
      return std::nullopt;
    // Of several axes of extent 1 it does not matter which one goes.
    SmallVector<int64_t> shape;
    for (auto [k, size] : llvm::enumerate(slice.getMixedSizes())) {
      if (!isOutside(size))
        return std::nullopt;
      if (static_cast<int64_t>(k) != *axis)
        shape.push_back(
            getConstantIntValue(size).value_or(ShapedType::kDynamic));
    }
    bool whole = llvm::all_of(slice.getMixedStrides(), [](OpFoldResult stride) {
      return isConstantIntValue(stride, 1);
    });
    if (!whole || ArrayRef(shape) != slice.getType().getShape())
      return std::nullopt;
    return axis;
  }

  /// True where the body of `op` cannot fail and reads nothing of the loop's
  /// body but its operands.
  bool isSelfContained(linalg::GenericOp op) {
    return op.hasPureTensorSemantics() &&
           allNested(op.getBody(), [&](Operation *inner) {
             bool movable =
                 isSafeToSpeculate(inner) && !isa<linalg::IndexOp>(inner);
             bool captures =
                 llvm::any_of(inner->getOperands(), [&](Value value) {
                   return !isOutside(value) &&
                          !op->isAncestor(
                              value.getParentRegion()->getParentOp());
                 });
             return movable && !captures;
           });
  }

  /// The position that `value` of the body has among those of all iterations,
  /// where it is computed from slices at that position and from outer values
  /// only; null where it is not.
  Value batchPosition(Value value) {
    if (isOutside(value))
      return {};
    if (auto it = positions.find(value); it != positions.end())
      return it->second;
    Value position = findPosition(value);
    positions[value] = position;
    return position;
  }

  Value findPosition(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != loop.getLoopBody())
      return {};
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      std::optional<int64_t> axis = slicedAxis(slice);
      return axis ? cast<Value>(slice.getMixedOffsets()[*axis]) : Value();
    }
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || !isSelfContained(generic))
      return {};
    // Before the loop nothing has been checked.
    if (check && check->isBeforeInBlock(generic) && !needsNoCheck(generic))
      return {};
    Value position;
    for (OpOperand &operand : generic->getOpOperands()) {
      if (isOutside(operand.get()))
        continue;
      Value own = batchPosition(operand.get());
      if (!own || !generic.isDpsInput(&operand) ||
          (position && own != position))
        return {};
      position = own;
    }
    return position;
  }

  /// A reduction of products with an outer value that all iterations read: done
  /// at once it is read once.
  bool readsOuterMatrix(linalg::GenericOp op) {
    return op->getNumResults() == 1 && op.getNumReductionLoops() > 0 &&
           llvm::any_of(op.getDpsInputs(), [&](Value input) {
             auto type = dyn_cast<RankedTensorType>(input.getType());
             return type && type.getRank() >= 2 && isOutside(input);
           });
  }

  bool isCheap(linalg::GenericOp op) {
    auto result = cast<RankedTensorType>(op.getResult(0).getType());
    if (!result.hasStaticShape())
      return true;
    int64_t slices = 0;
    for (Value input : op.getDpsInputs()) {
      if (isOutside(input))
        continue;
      auto type = cast<RankedTensorType>(input.getType());
      if (!type.hasStaticShape())
        return true;
      slices += type.getNumElements();
    }
    return result.getNumElements() <=
           kMaxGrowth * std::max<int64_t>(slices, 64);
  }

  //===--------------------------------------------------------------------===//
  // Computing it
  //===--------------------------------------------------------------------===//

  /// `value`, which has a position, for all iterations.
  Batched batch(Value value) {
    if (auto it = done.find(value); it != done.end())
      return it->second;
    Batched result;
    if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>())
      result = batchSlice(slice);
    else
      batchGeneric(value.getDefiningOp<linalg::GenericOp>());
    if (result.whole)
      done[value] = result;
    return done.lookup(value);
  }

  Batched batchSlice(tensor::ExtractSliceOp slice) {
    int64_t axis = *slicedAxis(slice);
    SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(),
                              sizes = slice.getMixedSizes();
    Value position = cast<Value>(offsets[axis]);
    offsets[axis] = b.getIndexAttr(0);
    // Behind the extent nothing is read: the run has ended with an error.
    OpFoldResult extent = resolveDim(b, loop.getLoc(), slice.getSource(), axis);
    sizes[axis] = isEqualConstantIntOrValue(extent, trips)
                      ? extent
                      : OpFoldResult(b.createOrFold<arith::MinSIOp>(
                            asValue(extent), asValue(trips)));
    SmallVector<OpFoldResult> all =
        resolveDims(b, loop.getLoc(), slice.getSource());
    bool isAll = llvm::equal(all, sizes, isEqualConstantIntOrValue) &&
                 llvm::all_of(offsets, [](OpFoldResult offset) {
                   return isConstantIntValue(offset, 0);
                 });
    Value whole = slice.getSource();
    if (!isAll)
      whole = tensor::ExtractSliceOp::create(b, whole, offsets, sizes,
                                             slice.getMixedStrides());
    return {whole, axis, position};
  }

  Value asValue(OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(b, b.getLoc(), value);
  }

  /// The number of iterations that `batched` has values of.
  OpFoldResult rowsOf(const Batched &batched) {
    return resolveDim(b, loop.getLoc(), batched.whole, batched.axis);
  }

  void batchGeneric(linalg::GenericOp op) {
    SmallVector<Batched> inputs;
    OpFoldResult rows;
    Value position;
    for (Value input : op.getDpsInputs()) {
      inputs.push_back(isOutside(input) ? Batched{input, -1, {}}
                                        : batch(input));
      const Batched &last = inputs.back();
      if (last.axis < 0)
        continue;
      position = last.position;
      if (!rows)
        rows = rowsOf(last);
      else if (!isEqualConstantIntOrValue(rows, rowsOf(last)))
        rows = b.createOrFold<arith::MinSIOp>(asValue(rows),
                                              asValue(rowsOf(last)));
    }
    for (Batched &input : inputs)
      if (input.axis >= 0)
        input.whole = firstRows(input, rows);
    if (std::optional<unsigned> joined = joinableDim(op, inputs))
      return batchJoined(op, inputs, *joined, rows, position);
    // A new outermost loop over the iterations.
    SmallVector<Value> values, inits;
    SmallVector<AffineMap> maps;
    unsigned loops = op.getNumLoops() + 1;
    for (auto [operand, input] : llvm::zip(op.getDpsInputOperands(), inputs)) {
      values.push_back(input.whole);
      maps.push_back(withRow(op.getMatchingIndexingMap(operand), input.axis));
    }
    for (OpOperand &init : op.getDpsInitsMutable()) {
      SmallVector<OpFoldResult> dims =
          resolveDims(b, loop.getLoc(), init.get());
      dims.insert(dims.begin(), rows);
      inits.push_back(makeInit(op, init, dims, /*joined=*/false));
      maps.push_back(withRow(op.getMatchingIndexingMap(&init), 0));
    }
    SmallVector<utils::IteratorType> iterators(op.getIteratorTypesArray());
    iterators.insert(iterators.begin(), utils::IteratorType::parallel);
    assert(iterators.size() == loops && "one loop more");
    (void)loops;
    linalg::GenericOp made = makeGeneric(op, values, inits, maps, iterators);
    for (auto [old, value] : llvm::zip(op.getResults(), made.getResults()))
      done[old] = {value, 0, position};
  }

  linalg::GenericOp makeGeneric(linalg::GenericOp op, ValueRange inputs,
                                ValueRange inits, ArrayRef<AffineMap> maps,
                                ArrayRef<utils::IteratorType> iterators) {
    auto made = linalg::GenericOp::create(b, inits.getTypes(), inputs, inits,
                                          maps, iterators);
    made->setLoc(op.getLoc());
    IRMapping mapping;
    op.getRegion().cloneInto(&made.getRegion(), mapping);
    return made;
  }

  /// `map` of one loop more, the outermost, whose number is inserted at `axis`
  /// (nowhere where negative).
  AffineMap withRow(AffineMap map, int64_t axis) {
    AffineMap shifted = map.shiftDims(1);
    if (axis < 0)
      return shifted;
    return shifted.insertResult(b.getAffineDimExpr(0), axis);
  }

  Value firstRows(const Batched &batched, OpFoldResult rows) {
    if (isEqualConstantIntOrValue(rows, rowsOf(batched)))
      return batched.whole;
    SmallVector<OpFoldResult> sizes =
        resolveDims(b, loop.getLoc(), batched.whole);
    SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0));
    sizes[batched.axis] = rows;
    return extractSlice(b, b.getLoc(), batched.whole, offsets, sizes);
  }

  /// What a reduction begins with, or a place, for all iterations: of the
  /// extents `dims`.
  Value makeInit(linalg::GenericOp op, OpOperand &init,
                 ArrayRef<OpFoldResult> dims, bool joined) {
    auto type = cast<RankedTensorType>(init.get().getType());
    Value empty = tensor::EmptyOp::create(b, dims, type.getElementType());
    if (!op.payloadUsesValueFromOperand(&init))
      return empty;
    if (auto fill = init.get().getDefiningOp<linalg::FillOp>())
      return linalg::FillOp::create(b, fill.getInputs(), empty).getResult(0);
    assert(!joined && "only what is filled is joined");
    (void)joined;
    SmallVector<int64_t> added{0};
    Value start = withKnownExtents(b, b.getLoc(), init.get());
    return linalg::BroadcastOp::create(b, start, empty, added)->getResult(0);
  }

  //===--------------------------------------------------------------------===//
  // One large matrix
  //===--------------------------------------------------------------------===//

  /// The loop of `op` over rows that the iterations can be put into: the rows
  /// of all of them are one matrix.
  std::optional<unsigned> joinableDim(linalg::GenericOp op,
                                      ArrayRef<Batched> inputs) {
    if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1)
      return std::nullopt;
    OpOperand *init = op.getDpsInitOperand(0);
    AffineMap result = op.getMatchingIndexingMap(init);
    if (result.getNumResults() == 0 ||
        (op.payloadUsesValueFromOperand(init) &&
         !init->get().getDefiningOp<linalg::FillOp>()))
      return std::nullopt;
    auto row = dyn_cast<AffineDimExpr>(result.getResult(0));
    if (!row)
      return std::nullopt;
    unsigned dim = row.getPosition();
    for (auto [operand, input] : llvm::zip(op.getDpsInputOperands(), inputs)) {
      AffineMap map = op.getMatchingIndexingMap(operand);
      unsigned uses = llvm::count_if(map.getResults(), [&](AffineExpr expr) {
        return expr.isFunctionOfDim(dim);
      });
      bool leads = uses == 1 && input.axis == 0 && map.getResult(0) == row;
      if (input.axis < 0 ? uses != 0 : !leads)
        return std::nullopt;
    }
    return dim;
  }

  /// [rows, n, ...] as [rows * n, ...].
  Value joined(Value whole) {
    auto type = cast<RankedTensorType>(whole.getType());
    SmallVector<ReassociationIndices> groups{{0, 1}};
    for (int64_t k = 2; k < type.getRank(); ++k)
      groups.push_back({k});
    return tensor::CollapseShapeOp::create(b, whole, groups);
  }

  void batchJoined(linalg::GenericOp op, ArrayRef<Batched> inputs, unsigned,
                   OpFoldResult rows, Value position) {
    SmallVector<Value> values;
    for (const Batched &input : inputs)
      values.push_back(input.axis < 0 ? input.whole : joined(input.whole));
    OpOperand &init = *op.getDpsInitOperand(0);
    SmallVector<OpFoldResult> dims = resolveDims(b, loop.getLoc(), init.get());
    SmallVector<OpFoldResult> flat(dims), split(dims);
    flat[0] = getAsOpFoldResult(
        b.createOrFold<arith::MulIOp>(asValue(rows), asValue(dims[0])));
    split.insert(split.begin(), rows);
    Value start = makeInit(op, init, flat, /*joined=*/true);
    linalg::GenericOp made =
        makeGeneric(op, values, start, op.getIndexingMapsArray(),
                    op.getIteratorTypesArray());
    SmallVector<ReassociationIndices> groups{{0, 1}};
    for (int64_t k = 2, e = split.size(); k < e; ++k)
      groups.push_back({k});
    auto [shape, dynamic] = decomposeMixedValues(split);
    Type element = getElementTypeOrSelf(start.getType());
    Value whole =
        tensor::ExpandShapeOp::create(b, RankedTensorType::get(shape, element),
                                      made.getResult(0), groups, split);
    done[op.getResult(0)] = {whole, 0, position};
  }

  /// Makes what reads the result of `op` read its row.
  void replace(linalg::GenericOp op) {
    b.setInsertionPoint(loop);
    Value old = op.getResult(0);
    Batched result = batch(old);
    b.setInsertionPoint(op);
    SmallVector<OpFoldResult> sizes =
        resolveDims(b, loop.getLoc(), op.getDpsInits()[0]);
    sizes.insert(sizes.begin() + result.axis, b.getIndexAttr(1));
    SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0));
    offsets[result.axis] = result.position;
    Value slice = extractSlice(b, b.getLoc(), result.whole, offsets, sizes,
                               /*strides=*/{}, result.axis);
    rewriter.replaceAllUsesWith(
        old, b.createOrFold<tensor::CastOp>(old.getType(), slice));
  }

  IRRewriter &rewriter;
  ImplicitLocOpBuilder b;
  LoopOp loop;
  Operation *check = nullptr; ///< the first of the body
  OpFoldResult trips;
  llvm::DenseMap<Value, Value> positions;
  llvm::DenseMap<Value, Batched> done;
};

struct LoopBatchSlices : loopc::impl::LoopBatchSlicesBase<LoopBatchSlices> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    for (LoopOp loop : collectLoops(getOperation()))
      numBatched += SliceBatching(rewriter, loop).run();
  }
};
} // namespace
