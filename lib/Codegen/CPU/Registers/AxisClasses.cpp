//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AxisClasses.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

static int64_t rankOf(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  return type ? type.getRank() : 0;
}

static bool isUnit(Value tensor, int64_t axis) {
  return cast<RankedTensorType>(tensor.getType()).getDimSize(axis) == 1;
}

void AxisClasses::note(Value value) {
  if (isa<TensorType>(value.getType()) && seen.insert(value).second)
    tensors.push_back(value);
}

void AxisClasses::excludeAll(Value value) {
  for (int64_t k = 0, rank = rankOf(value); k < rank; ++k)
    exclude(axisOf(value, k));
}

void AxisClasses::joinAll(Value x, Value y) {
  if (rankOf(x) != rankOf(y)) {
    excludeAll(x);
    excludeAll(y);
    return;
  }
  for (int64_t k = 0, rank = rankOf(x); k < rank; ++k)
    join(axisOf(x, k), axisOf(y, k));
}

OpFoldResult AxisClasses::extentOf(Value tensor, unsigned axis) {
  auto initOf = [&](Value value) {
    auto arg = dyn_cast<BlockArgument>(value);
    auto args = loop.getCarriedArgs();
    auto *port = arg ? llvm::find(args, arg) : args.end();
    return port == args.end() ? Value() : loop.getInits()[port - args.begin()];
  };
  while (auto made = tensor.getDefiningOp<tensor::InsertSliceOp>())
    tensor = made.getDest();
  if (Value init = initOf(tensor))
    return resolveDim(b, loop.getLoc(), init, axis);
  OpFoldResult extent = resolveDim(b, loop.getLoc(), tensor, axis);
  auto value = dyn_cast<Value>(extent);
  auto dim = value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  Value init = dim ? initOf(dim.getSource()) : Value();
  return init && dim.getConstantIndex()
             ? resolveDim(b, loop.getLoc(), init, *dim.getConstantIndex())
             : extent;
}

AxisClasses::AxisClasses(OpBuilder &b, LoopOp loop) : b(b), loop(loop) {
  classes.insert(Axis{});
  for (Operation &op : loop.getLoopBody()->without_terminator()) {
    for (Value value : op.getOperands())
      note(value);
    for (Value value : op.getResults())
      note(value);
    visit(&op);
  }
  YieldOp yield = loop.getYield();
  for (auto [init, arg, next] : llvm::zip_equal(
           loop.getInits(), loop.getCarriedArgs(), yield.getCarried())) {
    note(arg);
    note(next);
    note(init);
    joinAll(init, arg);
    joinAll(arg, next);
  }
  for (Value tensor : tensors)
    for (int64_t k = 0, rank = rankOf(tensor); k < rank; ++k)
      numbers.try_emplace(classes.getOrInsertLeaderValue(axisOf(tensor, k)),
                          numbers.size());
}

void AxisClasses::visit(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](linalg::GenericOp generic) { visitGeneric(generic); })
      .Case([&](linalg::FillOp fill) {
        if (fill.getNumResults() == 1)
          joinAll(fill.getOutputs()[0], fill.getResult(0));
      })
      .Case([&](tensor::CastOp cast) {
        joinAll(cast.getSource(), cast.getDest());
      })
      .Case([&](tensor::ExpandShapeOp view) {
        visitReshape(view.getResult(), view.getSrc(),
                     view.getReassociationIndices());
      })
      .Case([&](tensor::CollapseShapeOp view) {
        visitReshape(view.getSrc(), view.getResult(),
                     view.getReassociationIndices());
      })
      .Case([&](tensor::ExtractSliceOp slice) {
        visitSlice(slice, slice.getSource(), slice.getResult(),
                   slice.getDroppedDims());
      })
      .Case([&](tensor::InsertSliceOp slice) {
        joinAll(slice.getDest(), slice.getResult());
        visitSlice(slice, slice.getDest(), slice.getSource(),
                   slice.getDroppedDims());
      })
      .Case([](tensor::EmptyOp) {})
      .Default([&](Operation *other) {
        // Whatever is read in regions, too.
        other->walk([&](Operation *inner) {
          llvm::for_each(inner->getOperands(),
                         [&](Value value) { excludeAll(value); });
          llvm::for_each(inner->getResults(),
                         [&](Value value) { excludeAll(value); });
        });
      });
}

void AxisClasses::visitGeneric(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics()) {
    llvm::for_each(op->getOperands(), [&](Value value) { excludeAll(value); });
    return;
  }
  for (auto [dim, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind != utils::IteratorType::parallel)
      exclude(loopOf(op, dim));
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [k, expr] : llvm::enumerate(map.getResults())) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        join(axisOf(operand.get(), k), loopOf(op, dim.getPosition()));
        continue;
      }
      exclude(axisOf(operand.get(), k));
      for (unsigned dim = 0; dim < op.getNumLoops(); ++dim)
        if (expr.isFunctionOfDim(dim))
          exclude(loopOf(op, dim));
    }
  }
  for (OpOperand &init : op.getDpsInitsMutable()) {
    joinAll(init.get(), op.getTiedOpResult(&init));
    // Iterations along a loop must write different elements.
    AffineMap map = op.getMatchingIndexingMap(&init);
    for (unsigned dim = 0; dim < op.getNumLoops(); ++dim)
      if (!map.isFunctionOfDim(dim))
        exclude(loopOf(op, dim));
  }
  op.getBody()->walk([&](Operation *inner) {
    if (auto number = dyn_cast<linalg::IndexOp>(inner))
      exclude(loopOf(op, number.getDim()));
    for (Value value : inner->getOperands())
      if (isa<TensorType>(value.getType())) {
        note(value);
        excludeAll(value);
      }
  });
}

void AxisClasses::visitReshape(Value expanded, Value collapsed,
                               ArrayRef<ReassociationIndices> groups) {
  for (auto [k, group] : llvm::enumerate(groups)) {
    SmallVector<int64_t> axes(
        llvm::make_filter_range(group, [&, expanded = expanded](int64_t axis) {
          return !isUnit(expanded, axis);
        }));
    if (axes.size() == 1) {
      join(axisOf(collapsed, k), axisOf(expanded, axes[0]));
      continue;
    }
    exclude(axisOf(collapsed, k));
    for (int64_t axis : group)
      exclude(axisOf(expanded, axis));
  }
}

void AxisClasses::visitSlice(OffsetSizeAndStrideOpInterface op, Value whole,
                             Value part, const llvm::SmallBitVector &dropped) {
  unsigned own = 0;
  for (int64_t axis = 0, rank = rankOf(whole); axis < rank; ++axis) {
    if (dropped.test(axis)) {
      exclude(axisOf(whole, axis));
      continue;
    }
    bool isWhole = isConstantIntValue(op.getMixedOffsets()[axis], 0) &&
                   isConstantIntValue(op.getMixedStrides()[axis], 1) &&
                   isEqualConstantIntOrValue(op.getMixedSizes()[axis],
                                             extentOf(whole, axis));
    if (isWhole) {
      join(axisOf(whole, axis), axisOf(part, own));
    } else {
      exclude(axisOf(whole, axis));
      exclude(axisOf(part, own));
    }
    ++own;
  }
}

std::optional<unsigned> AxisClasses::find(Axis axis) const {
  auto member = classes.findLeader(axis);
  if (member == classes.member_end() || classes.isEquivalent(axis, Axis{}))
    return std::nullopt;
  auto number = numbers.find(*member);
  return number == numbers.end() ? std::nullopt : std::optional(number->second);
}

std::optional<unsigned> AxisClasses::find(Value tensor, unsigned axis) const {
  return find(axisOf(tensor, axis));
}

std::optional<unsigned> AxisClasses::axisIn(Value tensor,
                                            unsigned number) const {
  for (int64_t k = 0, rank = rankOf(tensor); k < rank; ++k)
    if (find(tensor, k) == number)
      return k;
  return std::nullopt;
}

std::optional<unsigned> AxisClasses::loopIn(linalg::GenericOp op,
                                            unsigned number) const {
  for (unsigned dim = 0; dim < op.getNumLoops(); ++dim)
    if (find(loopOf(op, dim)) == number)
      return dim;
  return std::nullopt;
}

bool AxisClasses::isOneAxisOfEach(unsigned number) const {
  return llvm::none_of(tensors, [&](Value tensor) {
    unsigned count = 0;
    for (int64_t k = 0, rank = rankOf(tensor); k < rank; ++k)
      count += find(tensor, k) == number;
    return count > 1;
  });
}
