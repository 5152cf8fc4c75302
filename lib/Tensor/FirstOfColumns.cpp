//===- FirstOfColumns.cpp - Where columns have their extrema --------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Tensor/FirstOfColumns.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/Nest/Analysis/Bounds.h"
#include "loopc/Support/IndexCasts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#include <limits>

using namespace mlir;
using namespace loopc;

namespace {
/// The first place of the extremum of each column is found while it is looked
/// for, in one pass over the matrix:
///
///     %m = generic ins(%x) { max(%in, %out) }
///     %i = generic ins(%x, %m) { min(select(%in == %m, index, %n), %out) }
///     ->  %m, %i = generic ins(%x) { max(%in, %m), %in > %m ? index : %i }
///
/// where all that %n and %i begin with are is behind the last place. NaN is the
/// extremum where there is one: the first of them stays. Along rows this would
/// be no vector.
struct FirstOfColumns : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override;
};
} // namespace

/// What `op` puts the elements of its one operand together with, if it computes
/// extrema, which begin with what no element is beyond; else null.
static Operation *findExtremum(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() != 1 ||
      op.getNumDpsInputs() != 1 || op->getNumResults() != 1 ||
      llvm::range_size(op.getBody()->without_terminator()) != 1)
    return nullptr;
  Operation *combiner = &op.getBody()->front();
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  Attribute start;
  if (!fill || !matchPattern(fill.getInputs()[0], m_Constant(&start)) ||
      !isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxSIOp, arith::MinSIOp,
           arith::MaxUIOp, arith::MinUIOp>(combiner) ||
      !llvm::is_contained(combiner->getOperands(),
                          op.getBody()->getArgument(0)) ||
      !llvm::is_contained(combiner->getOperands(),
                          op.getBody()->getArgument(1)) ||
      op.getBody()->getTerminator()->getOperand(0) != combiner->getResult(0))
    return nullptr;
  return start == *arith::getNeutralElement(combiner) ? combiner : nullptr;
}

/// True if `value` asks whether `x` is `extremum`, or NaN where that may be.
static bool isItself(Value value, Value x, Value extremum) {
  auto equal = value.getDefiningOp<arith::CmpIOp>();
  if (equal)
    return equal.getPredicate() == arith::CmpIPredicate::eq &&
           equal.getLhs() == x && equal.getRhs() == extremum;
  auto either = value.getDefiningOp<arith::OrIOp>();
  auto same =
      either ? either.getLhs().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
  auto isNaN =
      either ? either.getRhs().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
  return same && isNaN && same.getPredicate() == arith::CmpFPredicate::OEQ &&
         same.getLhs() == x && same.getRhs() == extremum &&
         isNaN.getPredicate() == arith::CmpFPredicate::UNO &&
         isNaN.getLhs() == x && isNaN.getRhs() == x;
}

/// What elements give in `op` that are not its second operand, if it finds the
/// first place along `dim` where its first operand is; else null.
static Value findsFirst(linalg::GenericOp op, unsigned dim) {
  Block *body = op.getBody();
  auto least =
      body->getTerminator()->getOperand(0).getDefiningOp<arith::MinSIOp>();
  if (!least)
    return {};
  BlockArgument out = body->getArgument(2);
  Value chosen = least.getLhs() == out ? least.getRhs() : least.getLhs();
  auto select = chosen.getDefiningOp<arith::SelectOp>();
  if (!select || !llvm::is_contained(least->getOperands(), out) ||
      select.getFalseValue().getParentBlock() == body)
    return {};
  auto cast = select.getTrueValue().getDefiningOp<arith::IndexCastOp>();
  auto number =
      cast ? cast.getIn().getDefiningOp<linalg::IndexOp>() : linalg::IndexOp();
  return number && number.getDim() == dim &&
                 isItself(select.getCondition(), body->getArgument(0),
                          body->getArgument(1))
             ? select.getFalseValue()
             : Value();
}

/// True for a number that no place along an axis of `extent` is behind.
static bool isBehindAll(Value number, OpFoldResult extent) {
  std::optional<int64_t> constant = getConstantIntValue(number);
  if (std::optional<int64_t> known = getConstantIntValue(extent))
    return constant && *constant >= *known - 1;
  // A place of fewer bits may be cut off.
  return isWideInteger(number.getType()) &&
         (constant ? *constant == std::numeric_limits<int64_t>::max()
                   : OpFoldResult(withoutIndexCasts(number)) == extent);
}

/// True for an extent, maybe of something else: it is not negative.
static bool isSomeExtent(Value number) {
  return isWideInteger(number.getType()) &&
         withoutIndexCasts(number).getDefiningOp<tensor::DimOp>();
}

/// True if an axis of `extent` has places of 32 bits where `op` stands: by a
/// constant, or by a condition of a branch around it.
static bool isShort(OpFoldResult extent, Operation *op) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (std::optional<int64_t> known = getConstantIntValue(extent))
    return *known <= kMost;
  auto isAtMost = [&](const Order &order) {
    std::optional<int64_t> most = getConstantIntValue(order.more);
    return OpFoldResult(order.less) == extent && most && *most >= 0 &&
           *most <= kMost;
  };
  for (Operation *inner = op; Operation *parent = inner->getParentOp();
       inner = parent) {
    auto branch = dyn_cast<scf::IfOp>(parent);
    if (!branch)
      continue;
    SmallVector<Order> orders;
    listOrders(branch.getCondition(),
               inner->getParentRegion() == &branch.getThenRegion(), orders);
    if (llvm::any_of(orders, isAtMost))
      return true;
  }
  return false;
}

/// An elementwise operation on `places`, whose results are of type `wide`.
static Value
mapPlaces(OpBuilder &b, Location loc, Value places, Type wide,
          llvm::function_ref<Value(OpBuilder &, Location, Value)> compute) {
  auto type = cast<RankedTensorType>(places.getType());
  Value out = places;
  SmallVector<Value> inputs;
  if (type.getElementType() != wide) {
    inputs.push_back(places);
    out = tensor::EmptyOp::create(b, loc, resolveDims(b, loc, places), wide);
  }
  SmallVector<AffineMap> maps(inputs.size() + 1,
                              b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  auto build = [&](OpBuilder &nested, Location at, ValueRange args) {
    Value place = args.front();
    if (place.getType() != wide)
      place = arith::ExtSIOp::create(nested, at, wide, place);
    linalg::YieldOp::create(nested, at, compute(nested, at, place));
  };
  return linalg::GenericOp::create(b, loc, out.getType(), inputs, out, maps,
                                   kinds, build)
      .getResult(0);
}

/// `places`, where numbers that may be in front of them were looked for as
/// well: `filler`, which is not negative, stands for all elements that are not
/// the extremum, which there are where the place is not 0, and `start` is what
/// there is without elements.
static Value withOthers(OpBuilder &b, Location loc, Value places, Value filler,
                        Value start, OpFoldResult extent) {
  Value isEmpty =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                            getValueOrCreateConstantIndexOp(b, loc, extent),
                            arith::ConstantIndexOp::create(b, loc, 0));
  Value most = arith::MinSIOp::create(b, loc, filler, start);
  return mapPlaces(
      b, loc, places, filler.getType(),
      [&](OpBuilder &nested, Location at, Value place) -> Value {
        Value least = arith::MinSIOp::create(nested, at, place, most);
        return arith::SelectOp::create(nested, at, isEmpty, start, least);
      });
}

/// True where `x` is beyond what was the extremum so far.
static Value isBeyond(OpBuilder &b, Location loc, Operation *combiner, Value x,
                      Value extremum) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  if (isa<FloatType>(x.getType())) {
    Value beyond = arith::CmpFOp::create(
        b, loc, isa<arith::MaximumFOp>(combiner) ? F::UGT : F::ULT, x,
        extremum);
    Value isNumber = arith::CmpFOp::create(b, loc, F::ORD, extremum, extremum);
    return arith::AndIOp::create(b, loc, beyond, isNumber);
  }
  I is = isa<arith::MaxSIOp>(combiner)   ? I::sgt
         : isa<arith::MinSIOp>(combiner) ? I::slt
         : isa<arith::MaxUIOp>(combiner) ? I::ugt
                                         : I::ult;
  return arith::CmpIOp::create(b, loc, is, x, extremum);
}

/// The extrema that `maker` computes and their places, which `op` finds, of
/// what is in `inits`.
static linalg::GenericOp search(RewriterBase &rewriter, linalg::GenericOp op,
                                linalg::GenericOp maker, ValueRange inits) {
  Operation *combiner = findExtremum(maker);
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[1] = maps[2];
  auto build = [&](OpBuilder &b, Location loc, ValueRange args) {
    Value beyond = isBeyond(b, loc, combiner, args[0], args[1]);
    Value number = arith::IndexCastOp::create(
        b, loc, args[2].getType(),
        linalg::IndexOp::create(b, loc, reduced.front()));
    // The extremum by itself waits for less than by the comparison.
    IRMapping mapping;
    mapping.map(maker.getBody()->getArguments(), args.take_front(2));
    Value extremum = b.clone(*combiner, mapping)->getResult(0);
    Value place = arith::SelectOp::create(b, loc, beyond, number, args[2]);
    linalg::YieldOp::create(b, loc, ValueRange{extremum, place});
  };
  return linalg::GenericOp::create(rewriter, op.getLoc(), inits.getTypes(),
                                   ValueRange{op.getDpsInputs()[0]}, inits,
                                   maps, op.getIteratorTypesArray(), build);
}

LogicalResult FirstOfColumns::matchAndRewrite(linalg::GenericOp op,
                                              PatternRewriter &rewriter) const {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() != 1 ||
      op.getNumDpsInputs() != 2 || op->getNumResults() != 1)
    return failure();
  auto maker = op.getDpsInputs()[1].getDefiningOp<linalg::GenericOp>();
  Operation *combiner = maker ? findExtremum(maker) : nullptr;
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!combiner || maker->getBlock() != op->getBlock() ||
      maker.getDpsInputs()[0] != op.getDpsInputs()[0] || maps[1] != maps[2] ||
      maker.getIndexingMapsArray() !=
          SmallVector<AffineMap>{maps[0], maps[2]} ||
      !maps[0].isPermutation() ||
      maps[0].getDimPosition(maps[0].getNumResults() - 1) == reduced.front())
    return failure();
  Value filler = findsFirst(op, reduced.front());
  auto start = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  if (!filler || !start)
    return failure();
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(maker);
  OpFoldResult extent = resolveDim(
      rewriter, loc, op.getDpsInputs()[0],
      *maps[0].getResultPosition(rewriter.getAffineDimExpr(reduced.front())));
  Value begin = start.getInputs()[0];
  std::array<Value, 2> others{filler, begin};
  bool areBehindAll = llvm::all_of(
      others, [&](Value other) { return isBehindAll(other, extent); });
  if (isConstantIntValue(extent, 0) || !llvm::all_of(others, [&](Value other) {
        return isBehindAll(other, extent) || isSomeExtent(other);
      }))
    return failure();
  Value init = maker.getDpsInits()[0];
  Type type = getElementTypeOrSelf(op.getResult(0).getType()), narrow = type;
  // As many lanes as the elements have, which are compared with them.
  if (type.isInteger(64) && isShort(extent, op) &&
      getElementTypeOrSelf(init.getType()).getIntOrFloatBitWidth() <= 32)
    narrow = rewriter.getI32Type();
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, resolveDims(rewriter, loc, init), narrow);
  // Where nothing is beyond the start, all are equal to it: the first is it.
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(rewriter, loc,
                                     rewriter.getIntegerAttr(narrow, value));
  };
  Value first = constant(0);
  // Without elements what was there stays.
  bool isOpen = !getConstantIntValue(extent);
  if (narrow == type && getConstantIntValue(begin) && isOpen) {
    Value isEmpty = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::eq, cast<Value>(extent),
        arith::ConstantIndexOp::create(rewriter, loc, 0));
    first = arith::SelectOp::create(
        rewriter, loc, isEmpty, constant(*getConstantIntValue(begin)), first);
  }
  Value places = linalg::FillOp::create(rewriter, loc, first, empty).result();
  linalg::GenericOp made =
      search(rewriter, op, maker, ValueRange{init, places});
  rewriter.replaceAllUsesWith(maker.getResult(0), made.getResult(0));
  rewriter.setInsertionPoint(op);
  Value found = made.getResult(1);
  if (!areBehindAll || (narrow != type && isOpen))
    found = withOthers(rewriter, loc, found, filler, begin, extent);
  else if (narrow != type)
    found = mapPlaces(rewriter, loc, found, type,
                      [](OpBuilder &, Location, Value place) { return place; });
  rewriter.replaceOp(op, rewriter.createOrFold<tensor::CastOp>(
                             loc, op.getResult(0).getType(), found));
  return success();
}

void loopc::populateFirstOfColumns(RewritePatternSet &patterns) {
  patterns.add<FirstOfColumns>(patterns.getContext());
}
