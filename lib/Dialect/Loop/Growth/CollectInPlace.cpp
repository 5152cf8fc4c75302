//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-collect-in-place: collected values whose final shape is known when the
// loop begins are written there; so are those whose number has a bound, if that
// is little memory.

#include "loopc/Dialect/Loop/Growth/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/Remarks.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPCOLLECTINPLACE
#include "loopc/Dialect/Loop/Growth/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

namespace {
/// A collected value that gets its place before the loop.
struct Destination {
  unsigned port;                  ///< number of the collected value
  SmallVector<OpFoldResult> dims; ///< of the whole
  OpFoldResult rows;
  bool padded;  ///< rows may be left over
  Value length; ///< where one is given, as index
  /// `rows` are the most that there can be: the loop counts them.
  bool isCounted = false;
};

/// What a loop that may end sooner gets for a collected value at once.
constexpr int64_t kMaxSpareBytes = 1 << 20;

class CollectInPlace {
public:
  CollectInPlace(IRRewriter &rewriter, LoopOp loop)
      : rewriter(rewriter), b(loop.getLoc(), rewriter), loop(loop) {}

  /// Returns the number of values that are in place now.
  unsigned run() {
    b.setInsertionPoint(loop);
    trips = knownTrips(b, loop);
    if (!trips)
      mostTrips = findMostTrips();
    for (unsigned k = 0; k < loop.getNumCollected(); ++k)
      plan(k);
    unsigned all = loop.getNumCollected();
    Location loc = loop.getLoc();
    if (!destinations.empty()) {
      rewrite();
      remarkDone(loc, "CollectInPlace",
                 Twine(destinations.size()) + " of " + Twine(all) +
                     " collected values are written into their final place");
    }
    if (destinations.size() < all)
      remarkMissed(loc, "CollectInPlace",
                   Twine(all - destinations.size()) + " of " + Twine(all) +
                       " collected values grow in buffers: their size is not "
                       "known when the loop begins");
    return destinations.size();
  }

private:
  Value toIndex(Value value) {
    return value.getType().isIndex()
               ? value
               : b.createOrFold<arith::IndexCastOp>(b.getIndexType(), value);
  }
  /// The constant trip count of a loop whose condition may end it sooner; 0:
  /// there is none.
  int64_t findMostTrips() {
    Value given = loop.getTripCount();
    APInt count;
    bool isBound = given && loop.getCondition() &&
                   matchPattern(given, m_ConstantInt(&count)) &&
                   count.isStrictlyPositive() && count.sle(kMaxSpareBytes);
    return isBound ? count.getSExtValue() : 0;
  }

  /// True if the rows of the loop's most iterations are little memory.
  bool isLittle(Type row) {
    Type element = getElementTypeOrSelf(row);
    auto type = dyn_cast<RankedTensorType>(row);
    if ((type && !type.hasStaticShape()) || !element.isIntOrIndexOrFloat())
      return false;
    int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    int64_t count = type ? type.getNumElements() : 1;
    return count <= kMaxSpareBytes / ((bits + 7) / 8) / mostTrips;
  }

  void plan(unsigned k) {
    Value value = loop.getYield().getCollected()[k];
    int64_t axis = loop.getCollectAxes()[k];
    Destination dest{k, {}, trips, false, {}};
    bool isPrefix =
        axis == 0 && !loop.getCollectReverse()[k] && !loop.getLengthOf(k);
    if (mostTrips != 0 && isPrefix && isLittle(value.getType())) {
      dest.rows = b.getIndexAttr(mostTrips);
      dest.isCounted = true;
    }
    if (Value length = loop.getLengthOf(k)) {
      // Where a reversed value's last row stands depends on the trips.
      if (loop.getCollectReverse()[k] && !trips)
        return;
      dest.length =
          toIndex(extractScalar(b, loop.getLoc(), length, "the length"));
      dest.rows = getAsOpFoldResult(dest.length);
      // loop_collect_length: no tensor has so many rows, and the run ends.
      if (getConstantIntValue(dest.rows).value_or(0) < 0)
        return;
      dest.padded = !trips || !isEqualConstantIntOrValue(dest.rows, trips);
    }
    if (!dest.rows)
      return;
    auto type = dyn_cast<RankedTensorType>(value.getType());
    // An error of the first iteration.
    if (axis > (type ? type.getRank() : 0))
      return;
    if (type) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(loop.getYield());
      dest.dims = resolveDims(b, loop.getLoc(), value);
    } else if (isa<ShapedType>(value.getType())) {
      return;
    }
    for (OpFoldResult extent : dest.dims)
      if (auto v = dyn_cast<Value>(extent);
          v && !loop.isDefinedOutsideOfLoop(v))
        return;
    dest.dims.insert(dest.dims.begin() + axis, dest.rows);
    destinations.push_back(dest);
  }

  Value makeInit(const Destination &dest) {
    // loop_collect_length
    if (dest.length && getConstantIntValue(dest.rows).value_or(-1) < 0) {
      Value zero = arith::ConstantIndexOp::create(b, 0);
      Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::sge,
                                         dest.length, zero);
      CheckOp::create(b, fits,
                      b.getStringAttr(locationPath(loop.getLoc()) +
                                      ": the length {} of collected value #" +
                                      Twine(dest.port) + " is negative"),
                      dest.length, Value());
    }
    Value value = loop.getYield().getCollected()[dest.port];
    Type element = getElementTypeOrSelf(value.getType());
    // At the place of what yields the rows: its extents are what may be wrong.
    OpBuilder &builder = b;
    Value empty =
        tensor::EmptyOp::create(builder, value.getLoc(), dest.dims, element);
    if (!dest.padded)
      return empty;
    Value zero = createZero(b, loop.getLoc(), element);
    return linalg::FillOp::create(b, zero, empty).getResult(0);
  }

  /// The row that iteration `counter` writes, checked. That stands where the
  /// iteration begins: what computes the row may later write to its place.
  Value createRow(const Destination &dest, Value counter) {
    Value row = toIndex(counter);
    // The first row that a reversed value writes is its last one: it is the row
    // that must fit, not the number of the trip.
    if (loop.getCollectReverse()[dest.port]) {
      Value count = getValueOrCreateConstantIndexOp(b, loop.getLoc(), trips);
      Value one = arith::ConstantIndexOp::create(b, 1);
      Value last = b.createOrFold<arith::SubIOp>(count, one);
      row = arith::SubIOp::create(b, last, row);
    }
    if (dest.padded) {
      Value fits =
          arith::CmpIOp::create(b, arith::CmpIPredicate::slt, row, dest.length);
      CheckOp::create(b, fits,
                      b.getStringAttr(locationPath(loop.getLoc()) +
                                      ": more iterations than the length {} of "
                                      "collected value #" +
                                      Twine(dest.port)),
                      dest.length, Value());
    }
    return row;
  }

  /// `acc` with this iteration's value in its row.
  Value insertRow(const Destination &dest, Value value, Value acc, Value row) {
    if (!isa<TensorType>(value.getType()))
      return tensor::InsertOp::create(b, value, acc, row);
    int64_t axis = loop.getCollectAxes()[dest.port];
    // MLIR has no slice of an axis of extent 0, and there is nothing to insert.
    for (auto [k, extent] : llvm::enumerate(dest.dims))
      if (static_cast<int64_t>(k) != axis && isConstantIntValue(extent, 0))
        return acc;
    SmallVector<OpFoldResult> offsets(dest.dims.size(), b.getIndexAttr(0));
    SmallVector<OpFoldResult> sizes(dest.dims);
    offsets[axis] = row;
    sizes[axis] = b.getIndexAttr(1);
    return insertSlice(b, b.getLoc(), value, acc, offsets, sizes,
                       /*strides=*/{}, axis);
  }

  bool isDestination(unsigned k) {
    return llvm::any_of(destinations,
                        [&](const Destination &d) { return d.port == k; });
  }

  void rewrite() {
    unsigned carried = loop.getNumCarried();
    LoopSignature signature(loop);
    signature.collected.clear();
    for (auto [k, port] : llvm::enumerate(LoopSignature(loop).collected))
      if (!isDestination(k))
        signature.collected.push_back(port);
    for (const Destination &dest : destinations)
      signature.inits.push_back(makeInit(dest));
    bool counts = llvm::any_of(
        destinations, [](const Destination &dest) { return dest.isCounted; });
    if (counts)
      signature.inits.push_back(arith::ConstantIndexOp::create(b, 0));
    auto made = LoopOp::create(b, signature);
    SmallVector<Value> args(
        made.getLoopBody()->getArguments().take_front(2 + carried));
    llvm::append_range(args, made.getSliceArgs());
    YieldOp yield = loop.getYield();
    moveBody(rewriter, loop, made, args);
    b.setInsertionPointToStart(made.getLoopBody());
    Value counter =
        extractScalar(b, loop.getLoc(), made.getCounter(), "counter");
    SmallVector<Value> next(yield.getCarried()), collected, rows;
    for (const Destination &dest : destinations)
      rows.push_back(createRow(dest, counter));
    b.setInsertionPoint(yield);
    for (auto [n, dest] : llvm::enumerate(destinations))
      next.push_back(insertRow(dest, yield.getCollected()[dest.port],
                               made.getCarriedArgs()[carried + n], rows[n]));
    if (counts) {
      Value one = arith::ConstantIndexOp::create(b, 1);
      next.push_back(
          arith::AddIOp::create(b, made.getCarriedArgs().back(), one));
    }
    for (unsigned k = 0; k < loop.getNumCollected(); ++k)
      if (!isDestination(k))
        collected.push_back(yield.getCollected()[k]);
    YieldOp::create(b, yield.getCondition(), next, collected);
    rewriter.eraseOp(yield);
    replaceResults(made);
  }

  /// The collected value as it is where there were trips; after none, extents
  /// that its type does not tell are 0 (loop_zero). A view either way.
  Value withZeroTripShape(const Destination &dest, Value value, Type type) {
    auto declared = cast<RankedTensorType>(type);
    std::optional<int64_t> rows = getConstantIntValue(dest.rows);
    SmallVector<OpFoldResult> dims(dest.dims);
    int64_t axis = loop.getCollectAxes()[dest.port];
    bool changed = false;
    Value none;
    for (auto [k, extent] : llvm::enumerate(dims)) {
      if (static_cast<int64_t>(k) == axis || !declared.isDynamicDim(k) ||
          (rows && *rows != 0))
        continue;
      Value zero = arith::ConstantIndexOp::create(b, 0);
      if (!none)
        none = arith::CmpIOp::create(
            b, arith::CmpIPredicate::eq,
            getValueOrCreateConstantIndexOp(b, loop.getLoc(), dest.rows), zero);
      Value known = getValueOrCreateConstantIndexOp(b, loop.getLoc(), extent);
      extent = b.createOrFold<arith::SelectOp>(none, zero, known);
      changed = true;
    }
    if (!changed)
      return value;
    auto [shape, dynamic] = decomposeMixedValues(dims);
    Type element = declared.getElementType();
    SmallVector<ReassociationIndices> group{
        llvm::to_vector<2>(llvm::seq<int64_t>(0, dims.size()))};
    Value flat = tensor::CollapseShapeOp::create(b, value, group);
    flat = b.createOrFold<tensor::CastOp>(
        RankedTensorType::get({ShapedType::kDynamic}, element), flat);
    return tensor::ExpandShapeOp::create(
        b, RankedTensorType::get(shape, element), flat, group, dims);
  }

  /// The first `count` rows of `value`, which `dest` has from now on.
  Value takeRows(Destination &dest, Value value, Value count) {
    dest.rows = dest.dims[0] = count;
    SmallVector<OpFoldResult> offsets(dest.dims.size(), b.getIndexAttr(0));
    return extractSlice(b, b.getLoc(), value, offsets, dest.dims);
  }

  void replaceResults(LoopOp made) {
    unsigned carried = loop.getNumCarried();
    b.setInsertionPointAfter(made);
    SmallVector<Value> results(made.getResults().take_front(carried));
    unsigned inPlace = 0, other = made.getNumCarried();
    for (unsigned k = 0; k < loop.getNumCollected(); ++k) {
      Value value;
      if (isDestination(k)) {
        Destination dest = destinations[inPlace];
        value = made.getResult(carried + inPlace);
        if (dest.isCounted)
          value = takeRows(dest, value,
                           made.getResult(carried + destinations.size()));
        value = withZeroTripShape(dest, value,
                                  loop.getCollectedResults()[k].getType());
        ++inPlace;
      } else {
        value = made.getResult(other++);
      }
      results.push_back(b.createOrFold<tensor::CastOp>(
          loop.getCollectedResults()[k].getType(), value));
    }
    rewriter.replaceOp(loop, results);
  }

  IRRewriter &rewriter;
  ImplicitLocOpBuilder b;
  LoopOp loop;
  OpFoldResult trips;
  int64_t mostTrips = 0;
  SmallVector<Destination> destinations;
};

struct LoopCollectInPlace
    : loopc::impl::LoopCollectInPlaceBase<LoopCollectInPlace> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    auto loops = collectOps(
        getOperation(), [&](LoopOp loop) { return loop.getNumCollected(); });
    if (loops.empty())
      return markAllAnalysesPreserved();
    for (LoopOp loop : loops)
      numInPlace += CollectInPlace(rewriter, loop).run();
  }
};
} // namespace
