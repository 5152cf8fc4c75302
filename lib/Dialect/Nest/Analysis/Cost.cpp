//===- Cost.cpp - What operations and nests cost --------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Nest/Analysis/Cost.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Nest/Analysis/Accesses.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Support/CpuModel.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace loopc;

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// The table. Divisions, and functions of a dozen instructions that depend on
/// one another, keep the units of a vector busy for about as long.
static constexpr OpCost kFree{0, 1};
static constexpr OpCost kSimple{1, 1};
static constexpr OpCost kDivision{8, 1};
static constexpr OpCost kFunction{8, 16};
/// A call of the runtime: an allocation, a list.
static constexpr OpCost kRuntime{32, 1};

/// True for what a vector unit has one instruction for.
static bool isMathInstruction(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::FloorOp, math::FmaOp, math::RoundEvenOp, math::TruncOp>(op);
}

static bool isDivision(Operation *op) {
  return isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp,
             arith::RemSIOp, arith::RemUIOp, math::SqrtOp>(op);
}

bool loopc::isElementaryFunction(Operation *op) {
  return isa_and_nonnull<math::MathDialect>(op->getDialect()) &&
         !isMathInstruction(op) && !isa<math::SqrtOp>(op);
}

OpCost loopc::getCost(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>() ||
      op->hasTrait<OpTrait::IsTerminator>() || isViewOp(op) ||
      isa<affine::AffineApplyOp>(op))
    return kFree;
  if (isDivision(op))
    return kDivision;
  if (isElementaryFunction(op))
    return kFunction;
  if (isMemoryEffectFree(op) || getAccess(op).buffer ||
      isa<loop::CheckOp, LLVM::CallIntrinsicOp>(op))
    return kSimple;
  return kRuntime;
}

bool loopc::isCheap(Operation &op) {
  if (isa<linalg::YieldOp, linalg::IndexOp>(op))
    return true;
  return (isa_and_nonnull<arith::ArithDialect>(op.getDialect()) ||
          isMathInstruction(&op)) &&
         !isDivision(&op) && op.getNumRegions() == 0;
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

Work &Work::operator+=(Work other) {
  known += other.known;
  isUnbounded |= other.isUnbounded;
  open.insert(open.end(), std::make_move_iterator(other.open.begin()),
              std::make_move_iterator(other.open.end()));
  return *this;
}

Work &Work::operator*=(double factor) {
  known *= factor;
  for (OpenLoop &inner : open)
    inner.iteration *= factor;
  return *this;
}

double Work::getTotal(double guessedTrips) const {
  double total = known;
  for (const OpenLoop &inner : open)
    total += guessedTrips * inner.iteration.getTotal(guessedTrips);
  return total;
}

std::optional<int64_t> Work::getKnown(int64_t limit) const {
  if (!isKnown())
    return std::nullopt;
  return static_cast<int64_t>(std::min(known, static_cast<double>(limit)));
}

bool loopc::isOfScalars(scf::ForOp loop) {
  return !anyNested(loop.getBody(), [](Operation *op) {
    return (op->getNumRegions() != 0 && !isa<scf::IfOp>(op)) ||
           llvm::any_of(op->getOperandTypes(), llvm::IsaPred<VectorType>);
  });
}

Value WorkEstimate::findKnownBound(Value bound, bool isUpper) const {
  auto isInside = [&](Value value) {
    return nest->isAncestor(value.getParentBlock()->getParentOp());
  };
  if (!isInside(bound))
    return bound;
  // Only what the nest itself reads is given to it.
  auto dim = bound.getDefiningOp<memref::DimOp>();
  if (std::optional<OpFoldResult> extent = dim && isInside(dim.getSource())
                                               ? findExtentOfView(dim)
                                               : std::nullopt)
    if (auto value = dyn_cast<Value>(*extent))
      return findKnownBound(value, isUpper);
  // The last tile or block has fewer, and a window at the border, too: from the
  // greater of two numbers, to the lesser one.
  Operation *limited = bound.getDefiningOp();
  if (isUpper ? isa_and_nonnull<arith::MinSIOp>(limited)
              : isa_and_nonnull<arith::MaxSIOp>(limited))
    for (Value value : limited->getOperands())
      if (Value known = findKnownBound(value, isUpper))
        return known;
  return {};
}

std::optional<double> WorkEstimate::countTrips(scf::ForOp loop) const {
  if (std::optional<APInt> trips = loop.getStaticTripCount())
    return trips->roundToDouble();
  // A strip, or a tile, of a loop around it.
  if (auto arg = dyn_cast<BlockArgument>(loop.getLowerBound())) {
    auto outer = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
    std::optional<int64_t> step = getConstantIntValue(loop.getStep());
    std::optional<int64_t> whole = outer && outer.getInductionVar() == arg
                                       ? getConstantIntValue(outer.getStep())
                                       : std::nullopt;
    if (step && whole && *step > 0)
      return std::max(1.0, static_cast<double>(*whole) / *step);
  }
  Value lower = findKnownBound(loop.getLowerBound(), /*isUpper=*/false),
        upper = findKnownBound(loop.getUpperBound(), /*isUpper=*/true),
        step = findKnownBound(loop.getStep(), /*isUpper=*/false);
  if (!lower || !upper || !step)
    return rules.guessedTrips > 0 ? std::optional(rules.guessedTrips)
                                  : std::nullopt;
  std::optional<int64_t> from = getConstantIntValue(lower),
                         to = getConstantIntValue(upper),
                         by = getConstantIntValue(step);
  if (from && to && by && *by > 0)
    return std::max<double>(0, llvm::divideCeilSigned(*to - *from, *by));
  return std::nullopt;
}

Work WorkEstimate::ofIteration(scf::ForOp loop) const {
  Work work = of(loop.getRegion());
  work.known += rules.control;
  bool callsFunctions =
      llvm::any_of(loop.getBody()->getOperations(),
                   [](Operation &op) { return isElementaryFunction(&op); });
  if (rules.lanes > 1 && isOfScalars(loop) && !callsFunctions)
    work *= 1 / rules.lanes;
  return work;
}

Work WorkEstimate::of(Operation *op) const {
  Work work;
  if (rules.skipsCold && op->hasAttr(loop::kColdAttrName)) {
    work.known = kSimple.time;
    return work;
  }
  if (auto inner = dyn_cast<scf::ForOp>(op)) {
    work = ofIteration(inner);
    if (std::optional<double> trips = countTrips(inner))
      return work *= *trips;
    Work all;
    all.open.push_back({inner, std::move(work)});
    return all;
  }
  if (auto inner = dyn_cast<loop::LoopOp>(op)) {
    std::optional<APInt> trips = inner.getStaticTripCount();
    if (trips || rules.polledTrips > 0) {
      work = of(inner.getRegion());
      work.known += rules.control;
      return work *= trips ? trips->roundToDouble() : rules.polledTrips;
    }
  }
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    auto type = cast<BaseMemRefType>(copy.getTarget().getType());
    work.isUnbounded = !type.hasStaticShape();
    work.known = work.isUnbounded ? static_cast<double>(kRuntime.time)
                                  : type.getNumElements() / rules.lanes;
    return work;
  }
  work.isUnbounded = isa<LoopLikeOpInterface, CallOpInterface>(op);
  if (op->getNumRegions() == 0) {
    work.known = static_cast<double>(getCost(op).time);
    return work;
  }
  work.known = rules.control;
  for (Region &region : op->getRegions())
    work += of(region);
  return work;
}

Work WorkEstimate::of(Region &region) const {
  Work work;
  for (Block &block : region)
    for (Operation &op : block)
      work += of(&op);
  return work;
}

/// Moves what computes `bound` in front of `nest`; false where it depends on
/// the iteration.
static bool hoistBound(Value bound, scf::ForOp nest) {
  if (nest.isDefinedOutsideOfLoop(bound))
    return true;
  Operation *op = bound.getDefiningOp();
  if (!op || op->getNumRegions() != 0 || !isSafeToSpeculate(op) ||
      !llvm::all_of(op->getOperands(),
                    [&](Value value) { return hoistBound(value, nest); }))
    return false;
  op->moveBefore(nest);
  return true;
}

void loopc::hoistBounds(scf::ForOp nest) {
  nest.getBody()->walk([&](scf::ForOp loop) {
    for (Value bound :
         {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      hoistBound(bound, nest);
  });
}

//===----------------------------------------------------------------------===//
// What comes from memory
//===----------------------------------------------------------------------===//

/// Bytes that arrive from a second or third cache while an instruction is
/// executed.
static constexpr double kBytesOfInstruction = 4;

/// True if `index` is computed of what is read from memory: which part of a
/// table is read nobody knows.
static bool isLookedUp(Value index, unsigned depth = 8) {
  Operation *op = index.getDefiningOp();
  if (!op)
    return false;
  if (depth == 0 || !isMemoryEffectFree(op))
    return true;
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return isLookedUp(operand, depth - 1);
  });
}

double loopc::countStreaming(scf::ForOp nest) {
  llvm::SmallPtrSet<Value, 4> seen;
  double bytes = 0;
  nest->walk([&](Operation *op) {
    Access access = getAccess(op);
    if (!access.buffer || access.writes || access.isAnywhere ||
        llvm::any_of(access.place,
                     [](Value index) { return isLookedUp(index); }))
      return;
    Value root = getViewRoot(access.buffer);
    auto type = dyn_cast<MemRefType>(root.getType());
    if (!type || !type.hasStaticShape() ||
        !type.getElementType().isIntOrFloat() ||
        !nest.isDefinedOutsideOfLoop(root) || !seen.insert(root).second)
      return;
    int64_t size =
        type.getNumElements() * type.getElementTypeBitWidth() / CHAR_BIT;
    if (size > CpuModel::kCachedWeights)
      bytes += size;
  });
  return bytes / kBytesOfInstruction;
}
