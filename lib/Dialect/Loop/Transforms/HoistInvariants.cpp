//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-hoist-invariants: what iterations need not compute anew is computed
// before the loop. MLIR holds an operation on tensors for one that cannot fail.
// But where its operands' extents differ it goes beyond the shorter one, and
// the check that they do not stays in the loop, which may not run at all.

#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPHOISTINVARIANTS
#include "loopc/Dialect/Loop/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

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
      if (StringRef name = nameOfDim(function, argument.getArgNumber(), axis);
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
      // One element of an axis is held within it when it is taken; what is
      // constant the verifier has seen.
      for (auto [k, offset, size] :
           llvm::enumerate(slice.getMixedOffsets(), slice.getMixedSizes())) {
        bool isConstant = getConstantIntValue(offset) &&
                          getConstantIntValue(size) &&
                          !slice.getSourceType().isDynamicDim(k);
        if (!isConstant && !isConstantIntValue(size, 1) &&
            !(extentOf(size) == extentOf(slice.getSource(), k)))
          return false;
      }
    } else if (isa<tensor::CastOp, tensor::ExpandShapeOp,
                   tensor::CollapseShapeOp, tensor::ReshapeOp>(op)) {
      if (!isStatic(tensor) || !isStatic(op->getOperand(0)))
        return false;
    } else {
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

bool loop::needsNoCheck(Operation *op) {
  auto isFine = [](Operation *inner) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(inner))
      return llvm::all_of(inner->getOperands(), isWhole) &&
             extentsAgree(linalgOp);
    // They touch no elements.
    if (isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
            tensor::ReshapeOp, tensor::ExtractSliceOp, tensor::EmptyOp,
            tensor::DimOp, tensor::RankOp>(inner))
      return true;
    // Others go where numbers lead them.
    auto isKnown = [](Value value) {
      auto type = dyn_cast<TensorType>(value.getType());
      return !type || (type.hasStaticShape() && isWhole(value));
    };
    return llvm::all_of(inner->getOperands(), isKnown) &&
           llvm::all_of(inner->getResults(), isKnown);
  };
  return !op->walk([&](Operation *inner) {
              return isFine(inner) ? WalkResult::advance()
                                   : WalkResult::interrupt();
            }).wasInterrupted();
}

Operation *loop::findFirstCheck(Block &block) {
  for (Operation &op : block)
    if (op.walk([](CheckOp) {
            return WalkResult::interrupt();
          }).wasInterrupted())
      return &op;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// The motion
//===----------------------------------------------------------------------===//

size_t loop::hoistInvariants(LoopLikeOpInterface loop) {
  llvm::SmallDenseMap<Region *, Operation *> checks;
  for (Region *region : loop.getLoopRegions())
    checks[region] = findFirstCheck(region->front());
  return moveLoopInvariantCode(
      loop.getLoopRegions(),
      [&](Value value, Region *) { return loop.isDefinedOutsideOfLoop(value); },
      [&](Operation *op, Region *region) {
        Operation *check = checks.lookup(region);
        return isMemoryEffectFree(op) && isSpeculatable(op) &&
               (!check || !check->isBeforeInBlock(op) || needsNoCheck(op));
      },
      [&](Operation *op, Region *) { loop.moveOutOfLoop(op); });
}

namespace {
struct LoopHoistInvariants
    : loopc::impl::LoopHoistInvariantsBase<LoopHoistInvariants> {
  void runOnOperation() override {
    // Inner loops first, so that what moves can move on.
    getOperation()->walk(
        [&](LoopLikeOpInterface loop) { numHoisted += hoistInvariants(loop); });
  }
};
} // namespace
