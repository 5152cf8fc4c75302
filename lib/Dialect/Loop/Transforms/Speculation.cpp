//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/Loopc/IR/Ports.h"
#include "loopc/Support/IndexCasts.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/VectorInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

/// How many operations are looked through for one number.
static constexpr unsigned kDepth = 8;
/// More elements of a constant are not looked through.
static constexpr int64_t kMaxElements = 4096;

//===----------------------------------------------------------------------===//
// Divisors
//===----------------------------------------------------------------------===//

/// A number that a divisor must not be.
enum class Excluded { Zero, MinusOne };

static bool is(const APInt &value, Excluded number) {
  return number == Excluded::Zero ? value.isZero() : value.isAllOnes();
}

/// True if no element of the constant is `number`.
static bool constantExcludes(Attribute constant, Excluded number) {
  if (auto integer = dyn_cast<IntegerAttr>(constant))
    return !is(integer.getValue(), number);
  auto elements = dyn_cast<DenseIntElementsAttr>(constant);
  if (!elements ||
      (!elements.isSplat() && elements.getNumElements() > kMaxElements))
    return false;
  return llvm::none_of(elements.getValues<APInt>(),
                       [&](const APInt &value) { return is(value, number); });
}

static bool excludes(Value value, Excluded number, unsigned depth = kDepth);

/// select(x == 0, 1, x): the branch that is `x` is taken where `x` is not 0.
static bool selectExcludes(arith::SelectOp op, Excluded number,
                           unsigned depth) {
  using Is = arith::CmpIPredicate;
  auto compare = op.getCondition().getDefiningOp<arith::CmpIOp>();
  Attribute constant;
  bool asks =
      compare && matchPattern(compare.getRhs(), m_Constant(&constant)) &&
      ((isa<IntegerAttr>(constant) &&
        is(cast<IntegerAttr>(constant).getValue(), number)) ||
       (isa<SplatElementsAttr>(constant) &&
        isa<DenseIntElementsAttr>(constant) &&
        is(cast<SplatElementsAttr>(constant).getSplatValue<APInt>(), number)));
  auto fine = [&](Value value, Is taken) {
    return (asks && compare.getPredicate() == taken &&
            compare.getLhs() == value) ||
           excludes(value, number, depth);
  };
  return fine(op.getTrueValue(), Is::ne) && fine(op.getFalseValue(), Is::eq);
}

/// True where the larger, or the lesser, of `value` and something is not
/// `number`, whatever the other is.
static bool boundExcludes(Operation *op, Value value, Excluded number) {
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)) ||
      !isa<IntegerAttr>(constant))
    return false;
  APInt bound = cast<IntegerAttr>(constant).getValue();
  APInt excluded = number == Excluded::Zero
                       ? APInt::getZero(bound.getBitWidth())
                       : APInt::getAllOnes(bound.getBitWidth());
  return (isa<arith::MaxSIOp>(op) && excluded.slt(bound)) ||
         (isa<arith::MaxUIOp>(op) && excluded.ult(bound)) ||
         (isa<arith::MinSIOp>(op) && excluded.sgt(bound)) ||
         (isa<arith::MinUIOp>(op) && excluded.ugt(bound));
}

/// True if `value`, an integer, or no element of it, is `number`.
static bool excludes(Value value, Excluded number, unsigned depth) {
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constantExcludes(constant, number);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    // An element of an operand.
    auto op = dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp());
    return op && argument.getArgNumber() < op.getNumDpsInputs() &&
           matchPattern(op.getDpsInputOperand(argument.getArgNumber())->get(),
                        m_Constant(&constant)) &&
           constantExcludes(constant, number);
  }
  Operation *op = value.getDefiningOp();
  if (depth == 0)
    return false;
  auto all = [&]() {
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return excludes(operand, number, depth - 1);
    });
  };
  if (isa<arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp>(op))
    return llvm::any_of(op->getOperands(),
                        [&](Value operand) {
                          return boundExcludes(op, operand, number);
                        }) ||
           all();
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return selectExcludes(select, number, depth - 1);
  // What is narrower may be cut off.
  if (isa<arith::IndexCastOp>(op))
    return isWideInteger(value.getType()) && all();
  if (isa<arith::ExtSIOp>(op))
    return all();
  if (isa<arith::ExtUIOp>(op))
    return number == Excluded::MinusOne || all();
  return number == Excluded::MinusOne &&
         isa<tensor::DimOp, memref::DimOp, linalg::IndexOp>(op);
}

/// The divisor of `op`, if it divides integers, and whether they are signed.
static std::optional<std::pair<Value, bool>> divisorOf(Operation *op) {
  if (isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp,
          arith::FloorDivSIOp, index::DivSOp, index::RemSOp, index::CeilDivSOp,
          index::FloorDivSOp, LLVM::SDivOp, LLVM::SRemOp>(op))
    return std::pair(op->getOperand(1), true);
  if (isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp, index::DivUOp,
          index::RemUOp, index::CeilDivUOp, LLVM::UDivOp, LLVM::URemOp>(op))
    return std::pair(op->getOperand(1), false);
  return std::nullopt;
}

static bool dividesByConstants(AffineMap map) {
  bool fine = true;
  map.walkExprs([&](AffineExpr expr) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary || expr.getKind() == AffineExprKind::Add ||
        expr.getKind() == AffineExprKind::Mul)
      return;
    auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    fine &= divisor && divisor.getValue() > 0;
  });
  return fine;
}

/// True if `op` itself, with what its operands may be, does not trap.
static bool neverTraps(Operation *op) {
  if (auto divisor = divisorOf(op))
    return excludes(divisor->first, Excluded::Zero) &&
           (!divisor->second || excludes(divisor->first, Excluded::MinusOne));
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return dividesByConstants(apply.getMap());
  if (auto least = dyn_cast<affine::AffineMinOp>(op))
    return dividesByConstants(least.getMap());
  if (auto most = dyn_cast<affine::AffineMaxOp>(op))
    return dividesByConstants(most.getMap());
  return !isa<math::IPowIOp, affine::AffineDelinearizeIndexOp>(op);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// True if `value` is computed from constants and extents of what is there;
/// with `isSize`, and is not negative.
static bool isOfExtents(Value value, bool isSize, unsigned depth = kDepth) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return !isSize || *constant >= 0;
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0 || !isWideInteger(value.getType()))
    return false;
  if (isa<tensor::DimOp, memref::DimOp>(op))
    return true;
  auto all = [&](ValueRange values, bool areSizes) {
    return llvm::all_of(values, [&](Value each) {
      return isOfExtents(each, areSizes, depth - 1);
    });
  };
  if (isa<arith::MaxSIOp>(op))
    return all(op->getOperands(), false) &&
           (!isSize || llvm::any_of(op->getOperands(), [&](Value each) {
             return isOfExtents(each, true, depth - 1);
           }));
  if (isa<arith::SelectOp>(op))
    return all(op->getOperands().drop_front(), isSize);
  if (isa<arith::SubIOp>(op))
    return !isSize && all(op->getOperands(), false);
  return isa<arith::AddIOp, arith::MulIOp, arith::MinSIOp, arith::DivUIOp,
             arith::RemUIOp, arith::CeilDivUIOp, arith::DivSIOp, arith::RemSIOp,
             arith::CeilDivSIOp, arith::FloorDivSIOp, arith::IndexCastOp>(op) &&
         all(op->getOperands(), isSize);
}

bool loopc::isSizeOfExtents(Value size) { return isOfExtents(size, true); }

/// True if `op` asks for no memory of a size that data decide.
static bool makesNoMore(Operation *op) {
  auto areSizes = [](ValueRange values) {
    return llvm::all_of(values, isSizeOfExtents);
  };
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return areSizes(empty.getDynamicSizes());
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return areSizes(splat.getDynamicSizes());
  if (auto generate = dyn_cast<tensor::GenerateOp>(op))
    return areSizes(generate.getDynamicExtents());
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return areSizes(pad.getLow()) && areSizes(pad.getHigh());
  return true;
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

namespace {
/// The least and the largest number that a signed integer may be.
struct Interval {
  int64_t low = INT64_MIN;
  int64_t high = INT64_MAX;
};
} // namespace

static Interval rangeOf(Value value, unsigned depth = kDepth);

/// The number of an iteration.
static Interval rangeOfNumber(std::optional<APInt> trips) {
  bool isKnown =
      trips && trips->isStrictlyPositive() && trips->getSignificantBits() <= 64;
  return {0, isKnown ? trips->getSExtValue() - 1 : INT64_MAX};
}

static Interval rangeOfArgument(BlockArgument value) {
  Operation *parent = value.getOwner()->getParentOp();
  if (auto loop = dyn_cast<LoopOp>(parent); loop && value == loop.getCounter())
    return rangeOfNumber(loop.getStaticTripCount());
  auto loop = dyn_cast<scf::ForOp>(parent);
  if (loop && value == loop.getInductionVar() &&
      isConstantIntValue(loop.getLowerBound(), 0) &&
      isConstantIntValue(loop.getStep(), 1))
    return rangeOfNumber(loop.getStaticTripCount());
  return {};
}

/// min and max of signed numbers, and of unsigned ones that have no sign bit.
static Interval rangeOfBound(Operation *op, Interval x, Interval y) {
  if (isa<arith::MinSIOp>(op))
    return {std::min(x.low, y.low), std::min(x.high, y.high)};
  if (isa<arith::MaxSIOp>(op))
    return {std::max(x.low, y.low), std::max(x.high, y.high)};
  // A negative number is a large one.
  if (x.low >= 0 && y.low >= 0)
    return {0, std::min(x.high, y.high)};
  if (x.low >= 0 || y.low >= 0)
    return {0, x.low >= 0 ? x.high : y.high};
  return {};
}

static Interval rangeOf(Value value, unsigned depth) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return {*constant, *constant};
  if (auto argument = dyn_cast<BlockArgument>(value))
    return rangeOfArgument(argument);
  Operation *op = value.getDefiningOp();
  if (depth-- == 0)
    return {};
  if (isa<tensor::DimOp, memref::DimOp>(op))
    return {0, INT64_MAX};
  if (auto number = dyn_cast<linalg::IndexOp>(op)) {
    auto parent = number->getParentOfType<linalg::LinalgOp>();
    int64_t extent = parent.getStaticLoopRanges()[number.getDim()];
    return {0, ShapedType::isDynamic(extent) ? INT64_MAX : extent - 1};
  }
  if (isa<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp>(op))
    return rangeOfBound(op, rangeOf(op->getOperand(0), depth),
                        rangeOf(op->getOperand(1), depth));
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Interval x = rangeOf(select.getTrueValue(), depth);
    Interval y = rangeOf(select.getFalseValue(), depth);
    return {std::min(x.low, y.low), std::max(x.high, y.high)};
  }
  // A sum of fewer bits wraps around before it is 64 bits wide.
  if (isa<arith::AddIOp>(op) && isWideInteger(value.getType())) {
    Interval x = rangeOf(op->getOperand(0), depth);
    Interval y = rangeOf(op->getOperand(1), depth), sum;
    if (!llvm::AddOverflow(x.low, y.low, sum.low) &&
        !llvm::AddOverflow(x.high, y.high, sum.high))
      return sum;
  }
  if (isa<arith::IndexCastOp>(op) && isWideInteger(value.getType()))
    return rangeOf(op->getOperand(0), depth);
  return {};
}

/// True if `index` is one of an axis of `extent`, which is known.
static bool isInside(OpFoldResult index, int64_t extent) {
  std::optional<int64_t> constant = getConstantIntValue(index);
  Interval range =
      constant ? Interval{*constant, *constant} : rangeOf(cast<Value>(index));
  return ShapedType::isStatic(extent) && range.low >= 0 && range.high < extent;
}

/// True if every index is one of its axis, which is known.
static bool areInside(ValueRange indices, RankedTensorType type) {
  return llvm::all_of(llvm::zip_equal(indices, type.getShape()), [](auto pair) {
    return isInside(std::get<0>(pair), std::get<1>(pair));
  });
}

/// True if every axis of which `slice` takes one element has it: who reads that
/// one counts on it (`isWhole`).
static bool takesInside(tensor::ExtractSliceOp slice) {
  return llvm::all_of(
      llvm::zip_equal(slice.getMixedOffsets(), slice.getMixedSizes(),
                      slice.getSourceType().getShape()),
      [](auto axis) {
        auto [offset, size, extent] = axis;
        return !isConstantIntValue(size, 1) || isInside(offset, extent);
      });
}

/// True if all elements that a vector has in bounds are there, and the first.
static bool transfersInside(VectorTransferOpInterface op) {
  auto type = dyn_cast<RankedTensorType>(op.getShapedType());
  if (!type || !type.hasStaticShape())
    return false;
  SmallVector<int64_t> counts(type.getRank(), 1);
  for (auto [k, expr] : llvm::enumerate(op.getPermutationMap().getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && op.isDimInBounds(k))
      counts[dim.getPosition()] = op.getVectorType().getDimSize(k);
  return llvm::all_of(llvm::zip_equal(op.getIndices(), type.getShape(), counts),
                      [](auto axis) {
                        auto [index, extent, count] = axis;
                        return isInside(index, extent - count + 1);
                      });
}

/// True if the numbers that lead `op` to elements do not lead it beyond its
/// tensors, of which all extents are known.
static bool staysInside(Operation *op) {
  if (auto transfer = dyn_cast<VectorTransferOpInterface>(op))
    return transfersInside(transfer);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return areInside(extract.getIndices(),
                     cast<RankedTensorType>(extract.getTensor().getType()));
  if (auto insert = dyn_cast<tensor::InsertOp>(op))
    return areInside(insert.getIndices(),
                     cast<RankedTensorType>(insert.getDest().getType()));
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return insert.getOffsets().empty() && insert.getSizes().empty() &&
           insert.getStrides().empty();
  return !isa<tensor::GatherOp, tensor::ScatterOp,
              tensor::ParallelInsertSliceOp>(op);
}

//===----------------------------------------------------------------------===//
// What does not rely on checks
//===----------------------------------------------------------------------===//

namespace {
/// An extent: a constant, a value, one that the model names, or that of an axis
/// of a tensor.
struct Extent {
  OpFoldResult size = {};
  StringRef name = {};
  Value tensor = {};
  int64_t axis = -1;

  bool operator==(const Extent &other) const {
    if (size && other.size)
      return isEqualConstantIntOrValue(size, other.size);
    return !size && !other.size && name == other.name &&
           tensor == other.tensor && axis == other.axis;
  }
};
} // namespace

static Extent extentOf(Value tensor, int64_t axis);

/// What `size` was taken from, if it is the extent of a tensor.
static Extent extentOf(OpFoldResult size) {
  auto value = dyn_cast<Value>(size);
  auto dim = value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  if (!dim || !dim.getConstantIndex())
    return {size};
  return extentOf(dim.getSource(), *dim.getConstantIndex());
}

static Extent extentOf(Value tensor, int64_t axis) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (type && axis < type.getRank() && !type.isDynamicDim(axis))
    return {Builder(tensor.getContext()).getIndexAttr(type.getDimSize(axis))};
  Operation *op = tensor.getDefiningOp();
  if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(op))
    return extentOf(empty.getMixedSizes()[axis]);
  if (auto cast = dyn_cast_or_null<tensor::CastOp>(op))
    if (isa<RankedTensorType>(cast.getSource().getType()))
      return extentOf(cast.getSource(), axis);
  // The result is its place.
  if (auto made = dyn_cast_or_null<DestinationStyleOpInterface>(op))
    return extentOf(made.getTiedOpOperand(cast<OpResult>(tensor))->get(), axis);
  if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (auto [k, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!dropped.test(k) && axis-- == 0)
        return extentOf(size);
  }
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    if (auto function =
            dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
      if (StringRef name = getDimName(function, argument.getArgNumber(), axis);
          !name.empty())
        return {{}, name};
  return {{}, {}, tensor, axis};
}

/// True where all elements of `tensor` are there: no view that a check before
/// it holds to what it looks at.
static bool isWhole(Value tensor) {
  auto isStatic = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape();
  };
  while (Operation *op = tensor.getDefiningOp()) {
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      // One element of an axis is held within it where it is taken
      // (`takesInside`); what is constant the verifier has seen.
      for (auto [k, offset, size, stride] :
           llvm::enumerate(slice.getMixedOffsets(), slice.getMixedSizes(),
                           slice.getMixedStrides())) {
        bool isConstant = getConstantIntValue(offset) &&
                          getConstantIntValue(size) &&
                          getConstantIntValue(stride) &&
                          !slice.getSourceType().isDynamicDim(k);
        bool isAll = isConstantIntValue(offset, 0) &&
                     isConstantIntValue(stride, 1) &&
                     extentOf(size) == extentOf(slice.getSource(), k);
        if (!isConstant && !isAll && !isConstantIntValue(size, 1))
          return false;
      }
    } else if (isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::ReshapeOp>(
                   op)) {
      // Less said of the same extents is always true.
      auto cast = dyn_cast<tensor::CastOp>(op);
      if (!(cast && tensor::canFoldIntoConsumerOp(cast)) &&
          (!isStatic(tensor) || !isStatic(op->getOperand(0))))
        return false;
    } else if (!isa<tensor::CollapseShapeOp>(op)) {
      break;
    }
    tensor = op->getOperand(0);
  }
  return true;
}

/// True if all operands have the extents that the first of them says.
static bool extentsAgree(linalg::LinalgOp op) {
  SmallVector<std::optional<Extent>> extents(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      auto type = cast<RankedTensorType>(operand.get().getType());
      if (!dim) {
        // Windows: the verifier looks at what is known.
        if (type.isDynamicDim(axis))
          return false;
        continue;
      }
      Extent own = extentOf(operand.get(), axis);
      std::optional<Extent> &known = extents[dim.getPosition()];
      if (known && !(*known == own))
        return false;
      known = own;
    }
  }
  return true;
}

bool loopc::hasElements(Value tensor, AffineMap map,
                        ArrayRef<OpFoldResult> space) {
  return isWhole(tensor) &&
         llvm::all_of(llvm::enumerate(map.getResults()), [&](auto it) {
           auto dim = dyn_cast<AffineDimExpr>(it.value());
           return dim && extentOf(tensor, it.index()) ==
                             extentOf(space[dim.getPosition()]);
         });
}

bool loop::needsNoCheck(Operation *op) {
  auto isFine = [](Operation *inner) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(inner))
      return llvm::all_of(inner->getOperands(), isWhole) &&
             extentsAgree(linalgOp);
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(inner))
      return takesInside(slice);
    // They touch no elements.
    if (isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::EmptyOp,
            tensor::SplatOp, tensor::GenerateOp, tensor::DimOp, tensor::RankOp>(
            inner))
      return true;
    // Axes of a view are joined in a copy.
    if (isa<tensor::CollapseShapeOp, tensor::ReshapeOp, tensor::PadOp>(inner))
      return isWhole(inner->getOperand(0));
    // Others go where numbers lead them.
    if (!staysInside(inner))
      return false;
    auto isKnown = [](Value value) {
      auto type = dyn_cast<TensorType>(value.getType());
      return !type || (type.hasStaticShape() && isWhole(value));
    };
    return llvm::all_of(inner->getOperands(), isKnown) &&
           llvm::all_of(inner->getResults(), isKnown);
  };
  return allNested(op, isFine);
}

Operation *loop::findFirstCheck(Block &block) {
  for (Operation &op : block)
    if (holdsOp<CheckOp>(op))
      return &op;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

bool loopc::isSafeToSpeculate(Operation *op) {
  // MLIR's says whether it ends, and whether one of another dialect may run.
  return isMemoryEffectFree(op) && isSpeculatable(op) &&
         allNested(op, [](Operation *inner) {
           return neverTraps(inner) && makesNoMore(inner);
         });
}

bool loopc::mayRunBeforeChecks(Operation *op) {
  return isSafeToSpeculate(op) && needsNoCheck(op);
}

bool loopc::runsForSure(LoopLikeOpInterface loop) {
  std::optional<APInt> trips = loop.getStaticTripCount();
  if (!trips || !trips->isStrictlyPositive())
    return false;
  auto counted = dyn_cast<LoopOp>(*loop);
  return !counted || !counted.getCondition() ||
         matchPattern(counted.getCondition(), m_One());
}

bool loopc::mayRunBeforeLoop(Operation *op, LoopLikeOpInterface loop,
                             Operation *check) {
  bool isChecked = check && check->isBeforeInBlock(op);
  if (!isChecked && runsForSure(loop))
    return isMemoryEffectFree(op) && isSpeculatable(op);
  // A part beyond its tensor is a fault to who checks accesses.
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  return mayRunBeforeChecks(op) && (!slice || isWhole(slice.getResult()));
}
