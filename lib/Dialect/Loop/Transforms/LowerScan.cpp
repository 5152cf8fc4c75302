//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-lower-scan: loop.scan in terms of loop.loop.

#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Support/Diagnostics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPLOWERSCAN
#include "loopc/Dialect/Loop/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

namespace {
/// Lowers one loop.scan.
class ScanLowering {
public:
  ScanLowering(IRRewriter &rewriter, ScanOp scan)
      : rewriter(rewriter), b(scan.getLoc(), rewriter), scan(scan) {}

  void lower() {
    b.setInsertionPoint(scan);
    if (!scan.getBatched()) {
      LoopOp loop =
          lowerSequence(scan.getInits(), scan.getInputs(),
                        scan.getResultTypes(), /*axisShift=*/0, Value());
      rewriter.replaceOp(scan, loop.getResults());
      return;
    }
    lowerBatch();
  }

private:
  Value constant(int64_t value) {
    return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
  }
  Value toI64(OpFoldResult extent) {
    Value index = getValueOrCreateConstantIndexOp(b, b.getLoc(), extent);
    return b.createOrFold<arith::IndexCastOp>(b.getI64Type(), index);
  }
  void check(Value condition, const Twine &message, ValueRange values) {
    CheckOp::create(b, condition,
                    b.getStringAttr(locationPath(b.getLoc()) + ": " + message),
                    values, Value());
  }
  /// Counted from the begin, but for a value whose rank is unknown.
  static int64_t normalize(int64_t axis, Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return axis < 0 && type ? axis + type.getRank() : axis;
  }
  OpFoldResult extentOf(Value value, int64_t axis) {
    if (isa<RankedTensorType>(value.getType()))
      return resolveDim(b, b.getLoc(), value, axis);
    // scan_axes
    Value at = arith::ConstantIndexOp::create(b, axis), given = at;
    Value rank = tensor::RankOp::create(b, value);
    if (axis < 0)
      at = arith::AddIOp::create(b, at, rank);
    // One comparison: a negative axis is a large unsigned one.
    check(arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at, rank),
          "axis {} is out of range for rank {}", {given, rank});
    return tensor::DimOp::create(b, value, at).getResult();
  }

  /// The extents of `values` along `axes`, held to be one (scan_lengths).
  OpFoldResult commonExtent(ValueRange values, ArrayRef<int64_t> axes,
                            StringRef what) {
    OpFoldResult common;
    for (auto [k, value, axis] : llvm::enumerate(values, axes)) {
      OpFoldResult extent = extentOf(value, normalize(axis, value));
      if (!common) {
        common = extent;
        continue;
      }
      if (isEqualConstantIntOrValue(common, extent))
        continue;
      Value first = toI64(common), other = toI64(extent);
      Value same =
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, first, other);
      check(same, what + " differ: {} (#0) and {} (#" + Twine(k) + ")",
            {first, other});
      if (!getConstantIntValue(common) && getConstantIntValue(extent))
        common = extent;
    }
    return common;
  }

  /// The loop over the sequence. `axisShift` is 1 where the batch axis has been
  /// taken off the operands already; `trips` limits the sequence.
  LoopOp lowerSequence(ValueRange inits, ValueRange inputs, TypeRange results,
                       int64_t axisShift, Value trips) {
    unsigned states = scan.getNumStates(), outputs = scan.getNumOutputs();
    SmallVector<SlicePort> parts;
    SmallVector<int64_t> axes;
    auto slices = scan.getScanBody()->getArguments().drop_front(states);
    for (auto [input, slice, axis, reverse] : llvm::zip(
             inputs, slices, scan.getInputAxes(), scan.getInputReverse())) {
      axes.push_back(axisShift ? 0 : normalize(axis, input));
      parts.push_back({input, slice.getType(), axes.back(), reverse});
    }
    OpFoldResult length =
        commonExtent(inputs, axes, "lengths of the scan inputs");
    Value extent = toI64(length);
    LoopSignature signature(trips ? trips : extent);
    signature.inits = llvm::to_vector(inits);
    signature.slices = std::move(parts);
    for (unsigned k = 0; k < outputs; ++k) {
      auto type = dyn_cast<RankedTensorType>(results[states + k]);
      int64_t axis = axisShift ? 0 : scan.getOutputAxes()[k];
      if (axis < 0 && type)
        axis += type.getRank();
      // Past the length of a batch item outputs are zero (scan8_lengths).
      signature.collected.push_back({results[states + k], axis,
                                     scan.getOutputReverse()[k],
                                     trips ? extent : Value()});
    }
    if (trips) {
      Value zero = constant(0);
      Value ok = arith::AndIOp::create(
          b, arith::CmpIOp::create(b, arith::CmpIPredicate::sge, trips, zero),
          arith::CmpIOp::create(b, arith::CmpIPredicate::sle, trips, extent));
      check(ok, "sequence length {} is not in 0 to {}", {trips, extent});
    }
    auto loop = LoopOp::create(b, signature);
    rewriter.inlineBlockBefore(
        scan.getScanBody(), loop.getLoopBody(), loop.getLoopBody()->end(),
        loop.getLoopBody()->getArguments().drop_front(2));
    finishYield(loop);
    return loop;
  }

  /// What checks state `k` where its rank is unknown.
  void checkSameShape(Value arg, Value next, unsigned k) {
    std::string state = "state #" + std::to_string(k) + " changes its ";
    auto rank = [&](Value value) -> Value {
      if (auto type = dyn_cast<RankedTensorType>(value.getType()))
        return arith::ConstantIndexOp::create(b, type.getRank());
      return tensor::RankOp::create(b, value);
    };
    Value before = rank(arg), after = rank(next);
    auto same = [&](Value x, Value y) {
      return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y);
    };
    check(same(before, after), state + "rank: it was {} and becomes {}",
          {before, after});
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value one = arith::ConstantIndexOp::create(b, 1);
    auto axes = scf::ForOp::create(b, zero, before, one);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(axes.getBody());
    Value axis = axes.getInductionVar();
    Value x = tensor::DimOp::create(b, arg, axis);
    Value y = tensor::DimOp::create(b, next, axis);
    check(same(x, y), state + "shape: dimension {} was {} and becomes {}",
          {axis, x, y});
  }

  /// Adds the condition and holds the states to their shapes
  /// (scan_state_shape).
  void finishYield(LoopOp loop) {
    YieldOp yield = loop.getYield();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(yield);
    for (auto [k, arg, next] :
         llvm::enumerate(loop.getCarriedArgs(), yield.getCarried())) {
      if (isa<UnrankedTensorType>(arg.getType())) {
        checkSameShape(arg, next, k);
        continue;
      }
      auto type = dyn_cast<RankedTensorType>(arg.getType());
      for (int64_t axis = 0; type && axis < type.getRank(); ++axis) {
        OpFoldResult before = resolveDim(b, b.getLoc(), arg, axis);
        OpFoldResult after = resolveDim(b, b.getLoc(), next, axis);
        if (isEqualConstantIntOrValue(before, after))
          continue;
        Value x = toI64(before), y = toI64(after);
        check(arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y),
              "state #" + Twine(k) + " changes its shape: dimension " +
                  Twine(axis) + " was {} and becomes {}",
              {x, y});
      }
    }
    Value proceed = arith::ConstantOp::create(b, b.getBoolAttr(true));
    YieldOp::create(b, proceed, yield.getCarried(), yield.getCollected());
    rewriter.eraseOp(yield);
  }

  /// The lengths of the items, one for each (scan8_lengths); null where none
  /// are given.
  Value findLengths(Value batch) {
    Value lens = scan.getSequenceLens();
    if (!lens)
      return lens;
    if (auto type = dyn_cast<UnrankedTensorType>(lens.getType()))
      lens = tensor::CastOp::create(
          b,
          RankedTensorType::get({ShapedType::kDynamic}, type.getElementType()),
          lens);
    Value count = toI64(resolveDim(b, b.getLoc(), lens, 0));
    if (count != batch)
      check(arith::CmpIOp::create(b, arith::CmpIPredicate::eq, count, batch),
            "there are {} sequence lengths for {} items of the batch",
            {count, batch});
    return lens;
  }

  /// Scan-8: each batch item runs by itself (scan8_batch).
  void lowerBatch() {
    SmallVector<Value> operands(scan.getInits());
    llvm::append_range(operands, scan.getInputs());
    SmallVector<int64_t> zeros(operands.size(), 0);
    Value batch = toI64(commonExtent(operands, zeros, "batch sizes"));
    Value lens = findLengths(batch);
    LoopSignature signature(batch);
    SmallVector<Type> inner;
    for (Value operand : operands)
      signature.slices.push_back(
          {operand, getCollectedElementType(operand.getType(), 0)});
    for (Type type : scan.getResultTypes()) {
      signature.collected.push_back({type});
      inner.push_back(getCollectedElementType(type, 0));
    }
    auto outer = LoopOp::create(b, signature);
    b.setInsertionPointToEnd(outer.getLoopBody());
    auto args = outer.getSliceArgs();
    ValueRange inits = args.take_front(scan.getNumStates());
    ValueRange inputs = args.drop_front(scan.getNumStates());
    Value trips;
    if (lens) {
      Value at =
          arith::IndexCastOp::create(b, b.getIndexType(), outer.getCounter());
      trips = tensor::ExtractOp::create(b, lens, at);
      if (trips.getType() != b.getI64Type())
        trips = arith::ExtSIOp::create(b, b.getI64Type(), trips);
    }
    LoopOp loop = lowerSequence(inits, inputs, inner, /*axisShift=*/1, trips);
    Value proceed = arith::ConstantOp::create(b, b.getBoolAttr(true));
    YieldOp::create(b, proceed, ValueRange(), loop.getResults());
    b.setInsertionPointAfter(outer);
    rewriter.replaceOp(scan, resultsOfBatch(outer, batch));
  }

  /// The results of a batched scan. The loop over the batch knows nothing of
  /// the shape of results where there is no item; the scan does
  /// (scan8_empty_batch):
  ///
  ///   %r:2 = loop.loop trips(%batch) collect(tensor<?x?xf32>, tensor<*xf32>)
  ///   %s:2 = scf.if %batch == 0 { yield %init, %empty } else { yield %r:2 }
  SmallVector<Value> resultsOfBatch(LoopOp outer, Value batch) {
    SmallVector<Value> results(outer.getResults()), open;
    SmallVector<unsigned> places;
    for (auto [k, result] : llvm::enumerate(results)) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (type &&
          llvm::none_of(type.getShape().drop_front(), ShapedType::isDynamic))
        continue;
      open.push_back(result);
      places.push_back(k);
    }
    if (open.empty() || getConstantIntValue(batch).value_or(0) > 0)
      return results;
    Value none =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, batch, constant(0));
    auto branch = scf::IfOp::create(b, ValueRange(open).getTypes(), none,
                                    /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, open);
    b.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> known;
    Value length;
    for (unsigned k : places)
      known.push_back(k < scan.getNumStates()
                          ? scan.getInits()[k]
                          : outputOfNoItem(results[k].getType(), length));
    scf::YieldOp::create(b, known);
    for (auto [k, value] : llvm::zip_equal(places, branch.getResults()))
      results[k] = value;
    return results;
  }

  /// A scan output of `type` where the batch has no item: of its shape the
  /// length is known, and what the type says. `length` is made once.
  Value outputOfNoItem(Type type, Value &length) {
    if (!length) {
      SmallVector<int64_t> ones(scan.getInputs().size(), 1);
      OpFoldResult extent =
          commonExtent(scan.getInputs(), ones, "lengths of the scan inputs");
      length = getValueOrCreateConstantIndexOp(b, b.getLoc(), extent);
    }
    auto ranked = dyn_cast<RankedTensorType>(type);
    if (!ranked)
      ranked =
          RankedTensorType::get({ShapedType::kDynamic, ShapedType::kDynamic},
                                cast<TensorType>(type).getElementType());
    SmallVector<Value> extents;
    Value zero = arith::ConstantIndexOp::create(b, 0);
    for (auto [axis, extent] : llvm::enumerate(ranked.getShape()))
      if (ShapedType::isDynamic(extent))
        extents.push_back(axis == 1 ? length : zero);
    Value empty = tensor::EmptyOp::create(b, ranked, extents);
    if (ranked == type)
      return empty;
    return tensor::CastOp::create(b, type, empty);
  }

  IRRewriter &rewriter;
  ImplicitLocOpBuilder b;
  ScanOp scan;
};

struct LoopLowerScan : loopc::impl::LoopLowerScanBase<LoopLowerScan> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<ScanOp> scans;
    getOperation().walk([&](ScanOp scan) { scans.push_back(scan); });
    for (ScanOp scan : scans)
      ScanLowering(rewriter, scan).lower();
  }
};
} // namespace
