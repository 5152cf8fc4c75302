//===- ScatterRows.cpp - Elements that are scattered to neighbours --------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// ScatterElements and ScatterND write one element after the other, since two of
// them may go to one place. Where the places are counted on, by one from one
// element to the next, they are a slice.

#include "FusionSteps.h"

#include "loopc/Support/IndexCasts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace loopc;

/// Fewer elements are written one by one.
static constexpr int64_t kMinElements = 8;

namespace {
/// How a place depends on the number of the element.
enum class Course {
  Unknown,
  Constant,
  /// It is one more than the one before.
  Counts,
  /// The same up to a bound, or from one on, at which it stays. It is a place
  /// itself, and no number that a place is made of: from one element to the
  /// next it is the same, or one more, or less where a number wraps around, so
  /// that all are neighbours if the first and the last one are as far apart as
  /// neighbours would be.
  Held,
};

/// A loop that writes element after element into what it carries.
class Scatter {
public:
  Scatter(IRRewriter &rewriter, scf::ForOp loop)
      : b(loop.getLoc(), rewriter), loop(loop) {}

  bool match();
  void rewrite(IRRewriter &rewriter);

private:
  Course courseOf(Value value);
  Value valueAt(Value value, Value number);
  Value makeRow(Value size);
  Value computeRow(Value old, Value size);

  ImplicitLocOpBuilder b;
  scf::ForOp loop;
  tensor::InsertOp insert;
  /// The axis along which the places are neighbours.
  int64_t axis = -1;
  bool isHeld = false;
};
} // namespace

Course Scatter::courseOf(Value value) {
  if (value == loop.getInductionVar())
    return Course::Counts;
  if (loop.isDefinedOutsideOfLoop(value))
    return Course::Constant;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumResults() != 1 || !isWideInteger(value.getType()) ||
      !llvm::all_of(op->getOperandTypes(), isWideInteger))
    return Course::Unknown;
  if (isa<arith::ConstantOp>(op))
    return Course::Constant;
  if (isa<arith::IndexCastOp>(op))
    return courseOf(op->getOperand(0));
  bool isSum = isa<arith::AddIOp, arith::SubIOp>(op);
  if (!isSum &&
      !isa<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(op))
    return Course::Unknown;
  Course x = courseOf(op->getOperand(0)), y = courseOf(op->getOperand(1));
  if (y == Course::Constant && x != Course::Unknown)
    std::swap(x, y);
  else if (isa<arith::SubIOp>(op))
    return Course::Unknown;
  if (x != Course::Constant || y == Course::Unknown)
    return Course::Unknown;
  if (y == Course::Constant || (isSum && y == Course::Counts))
    return y;
  return !isSum && y == Course::Counts ? Course::Held : Course::Unknown;
}

bool Scatter::match() {
  std::optional<int64_t> count = getConstantIntValue(loop.getUpperBound());
  if (!isConstantIntValue(loop.getLowerBound(), 0) ||
      !isConstantIntValue(loop.getStep(), 1) || loop.getNumResults() != 1 ||
      (count && *count < kMinElements) ||
      // Loops over the axes of a tensor of unknown rank say that they are few.
      loop->hasAttr("llvm.loop_annotation"))
    return false;
  Value carried = loop.getRegionIterArg(0);
  insert = loop.getYieldedValues()[0].getDefiningOp<tensor::InsertOp>();
  if (!insert || insert.getDest() != carried || !insert->hasOneUse() ||
      insert->getBlock() != loop.getBody())
    return false;
  for (Operation &op : loop.getBody()->without_terminator()) {
    auto read = dyn_cast<tensor::ExtractOp>(op);
    bool isOld = read && read.getTensor() == carried;
    if (isOld ? read.getIndices() != insert.getIndices()
              : &op != insert &&
                    (op.getNumRegions() != 0 || !isMemoryEffectFree(&op) ||
                     llvm::is_contained(op.getOperands(), carried)))
      return false;
  }
  for (auto [k, index] : llvm::enumerate(insert.getIndices())) {
    Course course = courseOf(index);
    if (course == Course::Constant)
      continue;
    if (course == Course::Unknown || axis >= 0)
      return false;
    axis = k;
    isHeld = course == Course::Held;
  }
  return axis >= 0;
}

/// What `value`, whose course is known, is for the element `number`.
Value Scatter::valueAt(Value value, Value number) {
  if (value == loop.getInductionVar())
    return number;
  if (loop.isDefinedOutsideOfLoop(value))
    return value;
  IRMapping mapping;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    mapping.map(operand, valueAt(operand, number));
  return b.clone(*op, mapping)->getResult(0);
}

/// The elements that are written, of the ones that are there.
Value Scatter::computeRow(Value old, Value size) {
  auto type = cast<RankedTensorType>(old.getType());
  Value empty = tensor::EmptyOp::create(
      b, ArrayRef<OpFoldResult>{getAsOpFoldResult(size)},
      type.getElementType());
  AffineMap map = b.getMultiDimIdentityMap(1);
  auto body = [&](OpBuilder &inner, Location loc, ValueRange args) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(),
                linalg::IndexOp::create(inner, loc, 0).getResult());
    SmallVector<Operation *> made;
    for (Operation &op : loop.getBody()->without_terminator()) {
      auto read = dyn_cast<tensor::ExtractOp>(op);
      if (read && read.getTensor() == loop.getRegionIterArg(0))
        mapping.map(read.getResult(), args[0]);
      else if (&op != insert)
        made.push_back(inner.clone(op, mapping));
    }
    linalg::YieldOp::create(inner, loc,
                            mapping.lookupOrDefault(insert.getScalar()));
    for (Operation *op : llvm::reverse(made))
      if (isOpTriviallyDead(op))
        op->erase();
  };
  return linalg::GenericOp::create(b, type, old, empty,
                                   ArrayRef<AffineMap>{map, map},
                                   utils::IteratorType::parallel, body)
      .getResult(0);
}

/// The tensor with the row written into it.
Value Scatter::makeRow(Value size) {
  Value init = loop.getInitArgs()[0];
  Value zero = arith::ConstantIndexOp::create(b, 0);
  OpFoldResult one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets, sizes, strides;
  for (auto [k, index] : llvm::enumerate(insert.getIndices())) {
    offsets.push_back(getAsOpFoldResult(valueAt(index, zero)));
    sizes.push_back(static_cast<int64_t>(k) == axis ? getAsOpFoldResult(size)
                                                    : one);
    strides.push_back(one);
  }
  int64_t extent = getConstantIntValue(size).value_or(ShapedType::kDynamic);
  auto type = RankedTensorType::get(
      extent, cast<RankedTensorType>(init.getType()).getElementType());
  Value old =
      tensor::ExtractSliceOp::create(b, type, init, offsets, sizes, strides);
  return tensor::InsertSliceOp::create(b, computeRow(old, size), init, offsets,
                                       sizes, strides);
}

void Scatter::rewrite(IRRewriter &rewriter) {
  b.setInsertionPoint(loop);
  Value size = loop.getUpperBound();
  if (!isHeld)
    return rewriter.replaceOp(loop, makeRow(size));
  // Places that are held at a bound are no neighbours.
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value last = b.createOrFold<arith::SubIOp>(size, one);
  Value place = insert.getIndices()[axis];
  Value between =
      arith::SubIOp::create(b, valueAt(place, last), valueAt(place, zero));
  Value isRow =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, between, last);
  Value isLong =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sge, size,
                            arith::ConstantIndexOp::create(b, kMinElements));
  isRow = arith::AndIOp::create(b, isRow, isLong);
  auto branch = scf::IfOp::create(b, loop.getResultTypes(), isRow,
                                  /*withElseRegion=*/true);
  rewriter.replaceAllUsesWith(loop.getResults(), branch.getResults());
  b.setInsertionPointToStart(branch.thenBlock());
  Value row = makeRow(size);
  scf::YieldOp::create(b, row);
  b.setInsertionPointToStart(branch.elseBlock());
  auto yield = scf::YieldOp::create(b, loop.getResults());
  rewriter.moveOpBefore(loop, yield);
}

unsigned loopc::scatterRows(IRRewriter &rewriter, func::FuncOp function) {
  SmallVector<scf::ForOp> loops;
  function.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  unsigned count = 0;
  for (scf::ForOp loop : loops)
    if (Scatter scatter(rewriter, loop); scatter.match()) {
      scatter.rewrite(rewriter);
      ++count;
    }
  return count;
}
