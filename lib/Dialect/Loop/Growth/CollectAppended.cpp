//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-collect-appended: a sequence that a loop only appends to, and whose
// elements are only looked at behind the loop, is a collected value.

#include "loopc/Dialect/List/IR/List.h"
#include "loopc/Dialect/Loop/Growth/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Canonicalizer.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Support/Remarks.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPCOLLECTAPPENDED
#include "loopc/Dialect/Loop/Growth/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

namespace {
/// A carried sequence that becomes a collected value.
struct Appended {
  unsigned port = 0;
  list::InsertOp insert;
  Value shape;                         ///< of every element
  OpFoldResult extent;                 ///< elements of every element
  SmallVector<list::LengthOp> lengths; ///< in the body
};

class AppendedToCollected {
public:
  AppendedToCollected(IRRewriter &rewriter, LoopOp loop)
      : rewriter(rewriter), b(loop.getLoc(), rewriter), loop(loop) {}

  /// Returns the number of sequences that are collected now.
  unsigned run() {
    for (unsigned k = 0; k < loop.getNumCarried(); ++k) {
      if (!isa<list::ListType>(loop.getInits()[k].getType()))
        continue;
      Appended found;
      found.port = k;
      std::string why = match(found);
      if (why.empty())
        appended.push_back(found);
      else
        remarkMissed(loop.getLoc(), "CollectAppended",
                     "a sequence that it carries stays one: " + why);
    }
    if (!appended.empty())
      rewrite();
    return appended.size();
  }

private:
  std::string match(Appended &found);
  void rewrite();
  void replaceReads(const Appended &found, Value list, Value rows);

  IRRewriter &rewriter;
  ImplicitLocOpBuilder b;
  LoopOp loop;
  SmallVector<Appended> appended;
};
} // namespace

/// Why a sequence cannot be collected; "" where it can.
std::string AppendedToCollected::match(Appended &found) {
  if (!loop.getInits()[found.port].getDefiningOp<list::EmptyOp>())
    return "it is not empty when the loop begins";
  Value arg = loop.getCarriedArgs()[found.port];
  for (Operation *user : arg.getUsers()) {
    if (auto length = dyn_cast<list::LengthOp>(user))
      found.lengths.push_back(length);
    else if (auto insert = dyn_cast<list::InsertOp>(user);
             insert && !found.insert && insert.getList() == arg)
      found.insert = insert;
    else
      return "its elements are read in the loop, or it is changed otherwise";
  }
  if (!found.insert || found.insert->getBlock() != loop.getLoopBody() ||
      loop.getYield().getCarried()[found.port] != found.insert.getResult() ||
      !found.insert->hasOneUse())
    return "an iteration does not append one element and hand it on";
  auto at = found.insert.getPosition().getDefiningOp<list::LengthOp>();
  if (!at || at.getList() != arg)
    return "an element is inserted elsewhere than behind the last one";
  ValueRange parts = found.insert.getElement();
  auto type = parts.size() == 2 ? dyn_cast<RankedTensorType>(parts[0].getType())
                                : RankedTensorType();
  if (!type || type.getRank() != 1)
    return "its elements are no tensors";
  found.shape = parts[1];
  if (!loop.isDefinedOutsideOfLoop(found.shape))
    return "the shape of its elements is not known when the loop begins";
  b.setInsertionPoint(found.insert);
  found.extent = resolveDim(b, loop.getLoc(), parts[0], 0);
  if (auto value = dyn_cast<Value>(found.extent);
      value && !loop.isDefinedOutsideOfLoop(value))
    return "the shape of its elements is not known when the loop begins";
  for (Operation *user : loop.getResult(found.port).getUsers())
    if (!isa<list::LengthOp, list::AtOp>(user))
      return "it is needed as a whole behind the loop";
  return "";
}

/// Slices of `rows` for what is read of `list` behind the loop.
void AppendedToCollected::replaceReads(const Appended &found, Value list,
                                       Value rows) {
  for (Operation *user : llvm::make_early_inc_range(list.getUsers())) {
    b.setInsertionPoint(user);
    if (isa<list::LengthOp>(user)) {
      rewriter.replaceOp(user, b.createOrFold<tensor::DimOp>(rows, 0));
      continue;
    }
    auto read = cast<list::AtOp>(user);
    auto type = cast<RankedTensorType>(read.getResult(0).getType());
    SmallVector<OpFoldResult> offsets{read.getPosition(), b.getIndexAttr(0)},
        sizes{b.getIndexAttr(1), found.extent};
    // MLIR has no slice of an axis of extent 0: its offset 0 is outside.
    Value row = isConstantIntValue(found.extent, 0)
                    ? Value(tensor::EmptyOp::create(b, {found.extent},
                                                    type.getElementType()))
                    : extractSlice(b, b.getLoc(), rows, offsets, sizes,
                                   /*strides=*/{}, /*dropped=*/{0});
    Value dims = found.shape;
    if (dims.getType() != read.getResult(1).getType())
      dims = tensor::CastOp::create(b, read.getResult(1).getType(), dims);
    rewriter.replaceOp(read, {b.createOrFold<tensor::CastOp>(type, row), dims});
  }
}

void AppendedToCollected::rewrite() {
  auto isAppended = [&](unsigned k) {
    return llvm::any_of(appended,
                        [&](const Appended &a) { return a.port == k; });
  };
  YieldOp yield = loop.getYield();
  SmallVector<Value> next, collected(yield.getCollected());
  LoopSignature signature(loop);
  signature.inits.clear();
  for (unsigned k = 0; k < loop.getNumCarried(); ++k)
    if (!isAppended(k)) {
      signature.inits.push_back(loop.getInits()[k]);
      next.push_back(yield.getCarried()[k]);
    }
  for (Appended &found : appended) {
    Value element = found.insert.getElement()[0];
    auto type = cast<RankedTensorType>(element.getType());
    auto [shape, dynamic] =
        decomposeMixedValues(SmallVector<OpFoldResult>{found.extent});
    signature.collected.push_back({RankedTensorType::get(
        {ShapedType::kDynamic, shape[0]}, type.getElementType())});
    b.setInsertionPoint(yield);
    auto known = RankedTensorType::get(shape, type.getElementType());
    collected.push_back(b.createOrFold<tensor::CastOp>(known, element));
  }
  b.setInsertionPoint(loop);
  auto made = LoopOp::create(b, signature);
  b.setInsertionPointToStart(loop.getLoopBody());
  for (Appended &found : appended) {
    // So many elements as there were iterations.
    Value count = extractScalar(b, loop.getLoc(), loop.getCounter(), "counter");
    if (!count.getType().isIndex())
      count = arith::IndexCastOp::create(b, b.getIndexType(), count);
    for (list::LengthOp length : found.lengths)
      rewriter.replaceAllUsesWith(length.getResult(), count);
  }
  b.setInsertionPoint(yield);
  YieldOp::create(b, yield.getCondition(), next, collected);
  rewriter.eraseOp(yield);
  for (Appended &found : appended) {
    rewriter.eraseOp(found.insert);
    for (list::LengthOp length : found.lengths)
      rewriter.eraseOp(length);
  }
  SmallVector<Value> replacements{made.getLoopBody()->getArgument(0),
                                  made.getLoopBody()->getArgument(1)};
  unsigned kept = 0;
  for (unsigned k = 0; k < loop.getNumCarried(); ++k)
    // Nobody reads a sequence that was appended to.
    replacements.push_back(isAppended(k) ? loop.getInits()[k]
                                         : made.getCarriedArgs()[kept++]);
  llvm::append_range(replacements, made.getSliceArgs());
  moveBody(rewriter, loop, made, replacements);
  unsigned first = made.getNumResults() - appended.size();
  for (auto [n, found] : llvm::enumerate(appended))
    replaceReads(found, loop.getResult(found.port), made.getResult(first + n));
  kept = 0;
  for (unsigned k = 0; k < loop.getNumResults(); ++k)
    if (k >= loop.getNumCarried() || !isAppended(k))
      rewriter.replaceAllUsesWith(loop.getResult(k), made.getResult(kept++));
  rewriter.eraseOp(loop);
  remarkDone(made.getLoc(), "CollectAppended",
             Twine(appended.size()) +
                 " sequences that it appends to are collected values");
}

//===----------------------------------------------------------------------===//
// Loops behind it
//===----------------------------------------------------------------------===//

/// True for `for k = 0 to n step 1`.
static bool countsFromZero(scf::ForOp op) {
  return isConstantIntValue(op.getLowerBound(), 0) &&
         isConstantIntValue(op.getStep(), 1) &&
         op.getUpperBound().getType().isIndex();
}

/// What `op` adds to carried value `k` in every iteration, from `begin` on;
/// null where it does not, or not always the same.
static Value addedEachTime(scf::ForOp op, unsigned k) {
  auto sum = op.getYieldedValues()[k].getDefiningOp<arith::AddIOp>();
  if (!sum || !sum.getType().isIndex())
    return {};
  Value before = op.getRegionIterArg(k);
  Value added = sum.getLhs() == before   ? sum.getRhs()
                : sum.getRhs() == before ? sum.getLhs()
                                         : Value();
  return added && op.isDefinedOutsideOfLoop(added) ? added : Value();
}

namespace {
/// for k = 0 to n step 1 iter_args(s = b) { yield s + c }  ->  b + n * c
struct SumToProduct {
  static LogicalResult rewrite(scf::ForOp op, RewriterBase &rewriter) {
    if (!countsFromZero(op) || op.getNumResults() != 1 ||
        !llvm::hasSingleElement(op.getBody()->without_terminator()))
      return failure();
    Value added = addedEachTime(op, 0);
    if (!added)
      return failure();
    // An upper bound is below 0 for no iterations.
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value trips = op.getUpperBound();
    if (!trips.getDefiningOp<tensor::DimOp>())
      trips = b.createOrFold<arith::MaxSIOp>(trips, zero);
    Value sum = b.createOrFold<arith::MulIOp>(trips, added);
    rewriter.replaceOp(op,
                       b.createOrFold<arith::AddIOp>(op.getInitArgs()[0], sum));
    return success();
  }
};

/// A loop that puts all rows of a tensor behind one another, in order, into one
/// of their size: the elements lie like this already.
struct RowsInOrder {
  static LogicalResult rewrite(scf::ForOp op, RewriterBase &rewriter) {
    if (!countsFromZero(op) || op.getNumResults() != 2)
      return failure();
    auto insert =
        op.getYieldedValues()[0].getDefiningOp<tensor::InsertSliceOp>();
    Value step = addedEachTime(op, 1);
    if (!insert || !step || insert.getDest() != op.getRegionIterArg(0) ||
        !isConstantIntValue(op.getInitArgs()[1], 0) ||
        !op.getInitArgs()[0].getDefiningOp<tensor::EmptyOp>())
      return failure();
    Value rows = rowsOf(op, insert);
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (!rows || !isPlaced(b, op, insert, step))
      return failure();
    SmallVector<OpFoldResult> dims =
        resolveDims(b, op.getLoc(), op.getInitArgs()[0]);
    Value total = getValueOrCreateConstantIndexOp(b, op.getLoc(), dims[1]);
    auto type = cast<RankedTensorType>(op.getResult(0).getType());
    Value flat = tensor::CollapseShapeOp::create(
        b, rows, SmallVector<ReassociationIndices>{{0, 1}});
    flat = b.createOrFold<tensor::CastOp>(
        RankedTensorType::get({ShapedType::kDynamic}, type.getElementType()),
        flat);
    auto [shape, dynamic] = decomposeMixedValues(dims);
    Value whole = tensor::ExpandShapeOp::create(
        b, RankedTensorType::get(shape, type.getElementType()), flat,
        SmallVector<ReassociationIndices>{{0, 1, 2}}, dims);
    rewriter.replaceOp(op,
                       {b.createOrFold<tensor::CastOp>(type, whole), total});
    return success();
  }

private:
  /// The extent of a row of `rows`. After no iterations collected values may
  /// have others, but then there are no rows.
  static OpFoldResult widthOf(OpBuilder &b, Value rows) {
    if (auto loop = rows.getDefiningOp<LoopOp>()) {
      unsigned result = cast<OpResult>(rows).getResultNumber();
      if (result >= loop.getNumCarried()) {
        unsigned k = result - loop.getNumCarried();
        OpFoldResult width =
            resolveDim(b, loop.getLoc(), loop.getYield().getCollected()[k], 0);
        auto value = dyn_cast<Value>(width);
        if (loop.getCollectAxes()[k] == 0 &&
            (!value || loop.isDefinedOutsideOfLoop(value)))
          return width;
      }
    }
    return resolveDim(b, rows.getLoc(), rows, 1);
  }

  /// The tensor of which iteration k inserts row k; null where there is none.
  static Value rowsOf(scf::ForOp op, tensor::InsertSliceOp insert) {
    Value part = insert.getSource();
    while (Operation *from = part.getDefiningOp()) {
      if (!isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
              from))
        break;
      part = from->getOperand(0);
    }
    auto slice = part.getDefiningOp<tensor::ExtractSliceOp>();
    if (!slice || slice.getSourceType().getRank() != 2 ||
        !slice.hasUnitStride() || !op.isDefinedOutsideOfLoop(slice.getSource()))
      return {};
    OpBuilder b(op);
    auto offsets = slice.getMixedOffsets(), sizes = slice.getMixedSizes();
    OpFoldResult count = resolveDim(b, op.getLoc(), slice.getSource(), 0),
                 width = widthOf(b, slice.getSource());
    bool all =
        offsets[0] == OpFoldResult(op.getInductionVar()) &&
        isConstantIntValue(offsets[1], 0) && isConstantIntValue(sizes[0], 1) &&
        isEqualConstantIntOrValue(sizes[1], width) &&
        isEqualConstantIntOrValue(getAsOpFoldResult(op.getUpperBound()), count);
    return all ? slice.getSource() : Value();
  }

  /// True if a part of extent `step` goes to [0, number * step, 0] of a tensor
  /// of extents 1, n * step and that of the part.
  static bool isPlaced(OpBuilder &b, scf::ForOp op,
                       tensor::InsertSliceOp insert, Value step) {
    if (insert.getDestType().getRank() != 3 || !insert.hasUnitStride())
      return false;
    auto offsets = insert.getMixedOffsets(), sizes = insert.getMixedSizes();
    SmallVector<OpFoldResult> dims =
        resolveDims(b, op.getLoc(), op.getInitArgs()[0]);
    OpFoldResult each = getAsOpFoldResult(step);
    if (!isConstantIntValue(offsets[0], 0) ||
        offsets[1] != OpFoldResult(op.getRegionIterArg(1)) ||
        !isConstantIntValue(offsets[2], 0) ||
        !isConstantIntValue(sizes[0], 1) || !isConstantIntValue(dims[0], 1) ||
        !isEqualConstantIntOrValue(sizes[1], each) ||
        !isEqualConstantIntOrValue(sizes[2], dims[2]))
      return false;
    Value total = dyn_cast<Value>(dims[1]), count = op.getUpperBound();
    if (isConstantIntValue(each, 1) && total == count)
      return true;
    auto product =
        total ? total.getDefiningOp<arith::MulIOp>() : arith::MulIOp();
    if (!product)
      return false;
    auto isProduct = [&](Value x, Value y) {
      return x == count &&
             isEqualConstantIntOrValue(getAsOpFoldResult(y), each);
    };
    return isProduct(product.getLhs(), product.getRhs()) ||
           isProduct(product.getRhs(), product.getLhs());
  }
};

struct LoopCollectAppended
    : loopc::impl::LoopCollectAppendedBase<LoopCollectAppended> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<LoopOp> loops = collectOps<LoopOp>(getOperation());
    if (loops.empty())
      return markAllAnalysesPreserved();
    unsigned collected = 0;
    for (LoopOp loop : loops)
      collected += AppendedToCollected(rewriter, loop).run();
    numCollected += collected;
    if (!collected)
      return;
    // All shapes are one value now: what compares them goes away, and with it
    // what loops carry for it.
    OpPassManager cleanup(func::FuncOp::getOperationName());
    cleanup.addPass(createCanonicalizer(/*rounds=*/10));
    cleanup.addPass(createCSEPass());
    if (failed(runPipeline(cleanup, getOperation())))
      return signalPassFailure();
    rewriteLoops<SumToProduct>(rewriter);
    rewriteLoops<RowsInOrder>(rewriter);
  }

private:
  template <typename Rewrite> void rewriteLoops(RewriterBase &rewriter) {
    for (scf::ForOp loop : collectOps<scf::ForOp>(getOperation())) {
      rewriter.setInsertionPoint(loop);
      (void)Rewrite::rewrite(loop, rewriter);
    }
  }
};
} // namespace
