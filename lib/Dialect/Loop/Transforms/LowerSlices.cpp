//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-lower-slices: slices become views of captured values.

#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPLOWERSLICES
#include "loopc/Dialect/Loop/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

/// The trip count as an index, at least 0; null without one.
static Value tripCountAsIndex(ImplicitLocOpBuilder &b, LoopOp loop) {
  if (!loop.getTripCount())
    return {};
  Value trips =
      extractScalar(b, b.getLoc(), loop.getTripCount(), "the trip count");
  return tripsAsIndex(b, b.getLoc(), trips);
}

static Value makeSlice(ImplicitLocOpBuilder &b, Value value, int64_t axis,
                       Value position, Type type) {
  auto source = cast<RankedTensorType>(value.getType());
  // The scalar that stands for a tensor of rank 0.
  if (!isa<TensorType>(type))
    return tensor::ExtractOp::create(b, value, position);
  SmallVector<OpFoldResult> offsets(source.getRank(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> sizes = resolveDims(b, b.getLoc(), value);
  offsets[axis] = position;
  sizes[axis] = b.getIndexAttr(1);
  Value slice;
  if (llvm::any_of(sizes, [](OpFoldResult size) {
        return isConstantIntValue(size, 0);
      })) {
    // MLIR has no slice of an axis of extent 0: its offset 0 is outside.
    sizes.erase(sizes.begin() + axis);
    slice = tensor::EmptyOp::create(b, sizes, source.getElementType());
  } else {
    slice = extractSlice(b, b.getLoc(), value, offsets, sizes, /*strides=*/{},
                         axis);
  }
  return b.createOrFold<tensor::CastOp>(type, slice);
}

static void lowerSlices(IRRewriter &rewriter, LoopOp loop) {
  ImplicitLocOpBuilder b(loop.getLoc(), rewriter);
  b.setInsertionPoint(loop);
  // A reversed slice counts back from the trip count where one is given, else
  // from the extent (loop_slice).
  Value trips = tripCountAsIndex(b, loop);
  bool allRun = trips && !loop.getCondition();
  // loop_order: what ends the run earlier is told first. The first slice that
  // is counted back from too many trips is beyond the extent.
  bool canFail = mayEndRun(loop);
  SmallVector<Value> extents;
  // `text` says what `needed` is, a number of iterations or a place.
  auto checkWithin = [&](Value extent, Value needed, bool inclusive,
                         StringRef text) {
    Value ok = b.createOrFold<arith::CmpIOp>(
        inclusive ? arith::CmpIPredicate::sle : arith::CmpIPredicate::slt,
        needed, extent);
    if (!matchPattern(ok, m_One()))
      CheckOp::create(
          b, ok, b.getStringAttr(locationPath(loop.getLoc()) + ": " + text),
          ValueRange{needed, extent}, Value());
  };
  auto isCheckedBefore = [&](bool isReverse) {
    return allRun && (isReverse || !canFail);
  };
  for (auto [value, axis, isReverse] : llvm::zip(
           loop.getSlices(), loop.getSliceAxes(), loop.getSliceReverse())) {
    Value extent = getValueOrCreateConstantIndexOp(
        b, loop.getLoc(), resolveDim(b, loop.getLoc(), value, axis));
    extents.push_back(extent);
    if (isCheckedBefore(isReverse) && extent != trips)
      checkWithin(extent, trips, /*inclusive=*/true,
                  "{} iterations over the slices of a value with extent {}");
  }
  Block *body = loop.getLoopBody();
  b.setInsertionPointToStart(body);
  Value counter = extractScalar(b, loop.getLoc(), loop.getCounter(), "counter");
  Value position =
      b.createOrFold<arith::IndexCastOp>(b.getIndexType(), counter);
  for (auto [k, arg] : llvm::enumerate(loop.getSliceArgs())) {
    Value at = position;
    if (loop.getSliceReverse()[k]) {
      Value one = arith::ConstantIndexOp::create(b, 1);
      Value last = arith::SubIOp::create(b, trips ? trips : extents[k], one);
      at = arith::SubIOp::create(b, last, position);
    }
    // Counted back from the trips, the place may lie behind the extent; counted
    // back from the extent, before its begin.
    bool fromTrips = loop.getSliceReverse()[k] && trips;
    if (!isCheckedBefore(loop.getSliceReverse()[k]) && extents[k] != trips)
      checkWithin(extents[k], fromTrips ? at : position, /*inclusive=*/false,
                  "slice {} of a value with extent {}");
    Value slice = makeSlice(b, loop.getSlices()[k], loop.getSliceAxes()[k], at,
                            arg.getType());
    rewriter.replaceAllUsesWith(arg, slice);
  }
  body->eraseArguments(2 + loop.getNumCarried(), loop.getSlices().size());
  rewriter.modifyOpInPlace(loop, [&] {
    loop.getSlicesMutable().clear();
    loop.setSliceAxes({});
    loop.setSliceReverse({});
  });
}

namespace {
struct LoopLowerSlices : loopc::impl::LoopLowerSlicesBase<LoopLowerSlices> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    auto loops = collectOps(
        getOperation(), [&](LoopOp loop) { return !loop.getSlices().empty(); });
    if (loops.empty())
      return markAllAnalysesPreserved();
    for (LoopOp loop : loops) {
      for (auto [k, value] : llvm::enumerate(loop.getSlices()))
        if (!isa<RankedTensorType>(value.getType())) {
          loop.emitOpError("slice #")
              << k << " of " << value.getType()
              << ": loop-lower-slices needs a known rank";
          return signalPassFailure();
        }
      lowerSlices(rewriter, loop);
    }
  }
};
} // namespace
