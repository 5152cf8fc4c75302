//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/RT/IR/RT.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/IndexCasts.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace loopc;

SmallVector<loop::LoopOp> loop::collectLoops(Operation *root) {
  auto loops = collectOps(
      root, [&](LoopOp loop) { return !loop->hasAttr(kColdAttrName); });
  return loops;
}

bool loop::isOnScalars(LoopOp loop, Operation &op) {
  return isMemoryEffectFree(&op) && op.getNumRegions() == 0 &&
         llvm::none_of(op.getOperands(),
                       [&](Value value) {
                         return isa<TensorType>(value.getType()) &&
                                !loop.isDefinedOutsideOfLoop(value);
                       }) &&
         llvm::none_of(op.getResultTypes(), llvm::IsaPred<TensorType>);
}

bool loop::isCold(Operation *op) {
  while ((op = op->getParentOp()))
    if (op->hasAttr(kColdAttrName))
      return true;
  return false;
}

/// True where what `loop` collects may end the run.
static bool mayFailToCollect(loop::LoopOp loop) {
  return !loop.getLengths().empty() ||
         llvm::any_of(loop.getYield().getCollected(), [](Value value) {
           auto type = dyn_cast<ShapedType>(value.getType());
           return type && !type.hasStaticShape();
         });
}

bool loop::mayEndRun(LoopOp loop) {
  return mayFailToCollect(loop) ||
         anyNested(loop.getLoopBody(), [](Operation *op) {
           auto inner = dyn_cast<LoopOp>(op);
           return inner ? !inner.getSlices().empty() || mayFailToCollect(inner)
                        : isa<CheckOp>(op);
         });
}

Value loop::extractScalar(OpBuilder &b, Location loc, Value value,
                          StringRef what) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return value;
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    OpFoldResult extent = resolveDim(b, loc, value, axis);
    if (isConstantIntValue(extent, 1))
      continue;
    Value actual = getValueOrCreateConstantIndexOp(b, loc, extent);
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value same =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, actual, one);
    CheckOp::create(b, loc, same,
                    b.getStringAttr(locationPath(loc) + ": " + what +
                                    " must hold one element, dimension " +
                                    Twine(axis) + " is {}"),
                    actual, Value());
  }
  SmallVector<Value> indices(type.getRank(), zero);
  return b.createOrFold<tensor::ExtractOp>(loc, value, indices);
}

/// A constant trip count above this is taken for "no limit": space for all
/// trips is not set aside.
static constexpr int64_t kMaxConstantTrips = int64_t(1) << 31;

Value loop::createZero(OpBuilder &b, Location loc, Type element) {
  if (isa<rt::StringType>(element)) {
    Value zero = arith::ConstantIntOp::create(b, loc, b.getI64Type(), 0);
    return rt::StringOp::create(b, loc, element, zero, zero);
  }
  auto complex = dyn_cast<ComplexType>(element);
  if (!complex)
    return arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  TypedAttr part = b.getZeroAttr(complex.getElementType());
  return complex::ConstantOp::create(b, loc, complex,
                                     b.getArrayAttr({part, part}));
}

Value loop::tripsAsIndex(OpBuilder &b, Location loc, Value count) {
  // A dimension is not negative: it stays the value that other dimensions are
  // compared with.
  if (Value own = withoutIndexCasts(count); own.getDefiningOp<tensor::DimOp>())
    return own;
  Value zero =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(count.getType()));
  count = b.createOrFold<arith::MaxSIOp>(loc, count, zero);
  if (count.getType().isIndex())
    return count;
  return b.createOrFold<arith::IndexCastOp>(loc, b.getIndexType(), count);
}

OpFoldResult loop::knownTrips(OpBuilder &b, LoopOp loop) {
  Value given = loop.getTripCount();
  if (!given || loop.getCondition() || isa<TensorType>(given.getType()))
    return {};
  Value count = tripsAsIndex(b, loop.getLoc(), given);
  std::optional<int64_t> constant = getConstantIntValue(count);
  if (!constant)
    return count;
  if (*constant > kMaxConstantTrips)
    return {};
  return b.getIndexAttr(*constant);
}

void loop::moveBody(RewriterBase &rewriter, LoopOp from, LoopOp to,
                    ValueRange replacements) {
  Block *target = to.getLoopBody();
  rewriter.inlineBlockBefore(from.getLoopBody(), target, target->end(),
                             replacements);
}

void loop::eraseDeadOps(RewriterBase &rewriter, Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      rewriter.eraseOp(op);
}
