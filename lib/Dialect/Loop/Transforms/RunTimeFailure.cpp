//===- RunTimeFailure.cpp - Code that ends the run ------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Loop/Transforms/RunTimeFailure.h"
#include "loopc/Dialect/List/IR/List.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace loopc;

SmallVector<Value> loopc::createRunTimeFailure(OpBuilder &b, Location loc,
                                               const Twine &message,
                                               ValueRange values,
                                               TypeRange types) {
  Value never = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  loop::CheckOp::create(b, loc, never, b.getStringAttr(message), values,
                        Value());
  SmallVector<Value> results;
  for (Type type : types) {
    if (isa<list::ListType>(type)) {
      results.push_back(list::EmptyOp::create(b, loc, type));
      continue;
    }
    auto tensor = cast<TensorType>(type);
    SmallVector<int64_t> shape{0};
    if (auto ranked = dyn_cast<RankedTensorType>(type)) {
      shape.assign(ranked.getShape().begin(), ranked.getShape().end());
      llvm::replace(shape, ShapedType::kDynamic, int64_t(0));
    }
    Value empty =
        tensor::EmptyOp::create(b, loc, shape, tensor.getElementType());
    if (empty.getType() != type)
      empty = tensor::CastOp::create(b, loc, type, empty);
    results.push_back(empty);
  }
  return results;
}

/// True if there is known to be a first iteration, whatever ends the loop.
static bool isKnownToStart(loop::LoopOp loop) {
  auto isPositive = [](Value value) {
    std::optional<APInt> constant = loop::getConstantInteger(value);
    return constant &&
           (constant->getBitWidth() == 1 ? !constant->isZero()
                                         : constant->isStrictlyPositive());
  };
  return (!loop.getTripCount() || isPositive(loop.getTripCount())) &&
         (!loop.getCondition() || isPositive(loop.getCondition()));
}

static bool isKnownToStart(loop::ScanOp scan) {
  auto hasElements = [](Value value, int64_t axis) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return false;
    axis += axis < 0 ? type.getRank() : 0;
    return axis >= 0 && axis < type.getRank() && !type.isDynamicDim(axis) &&
           type.getDimSize(axis) > 0;
  };
  // scan_lengths, scan8_batch: what one of them says holds for all.
  bool hasSlices = false, hasBatch = !scan.getBatched();
  for (auto [input, axis] :
       llvm::zip_equal(scan.getInputs(), scan.getInputAxes()))
    hasSlices |= hasElements(input, axis);
  for (Value value : scan.getOperands())
    hasBatch |= hasElements(value, 0);
  return hasSlices && hasBatch;
}

bool loopc::mayNeverRun(Operation *op) {
  for (Operation *parent = op->getParentOp();; parent = parent->getParentOp()) {
    if (auto function = dyn_cast<func::FuncOp>(parent))
      return !function.isPublic();
    auto loop = dyn_cast<loop::LoopOp>(parent);
    auto scan = dyn_cast<loop::ScanOp>(parent);
    if (!(loop && isKnownToStart(loop)) && !(scan && isKnownToStart(scan)))
      return true;
  }
}

//===----------------------------------------------------------------------===//
// Hoisting of checks
//===----------------------------------------------------------------------===//

namespace {
/// Hoists the checks of one block, from the first one on.
class CheckHoisting {
public:
  explicit CheckHoisting(Block &block) : block(block) {
    for (auto [k, op] : llvm::enumerate(block))
      number[&op] = k;
  }

  void run() {
    for (Operation &op : llvm::make_early_inc_range(block))
      if (isa<loop::CheckOp>(op))
        hoist(&op);
  }

private:
  /// True for arithmetic on extents, which may be done anywhere: before other
  /// checks, too, so that no division is among it that they guard.
  static bool isMovable(Operation *op) {
    if (isa<tensor::DimOp>(op))
      return true;
    return isa<arith::ArithDialect>(op->getDialect()) &&
           mayRunBeforeChecks(op) &&
           llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType>);
  }

  /// What `op`, which may have been moved, stands behind; null: the block's
  /// begin.
  Operation *placeOf(Operation *op) {
    auto found = placed.find(op);
    return found == placed.end() ? op : found->second;
  }
  bool isBefore(Operation *x, Operation *y) {
    return !x || (y && number.lookup(x) < number.lookup(y));
  }

  /// Adds what has to move with `op`, operands first; `last` becomes the last
  /// operation that stays and that one of them needs.
  void collect(Operation *op, llvm::SetVector<Operation *> &moved,
               Operation *&last) {
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (!def || def->getBlock() != &block || moved.contains(def))
        continue;
      if (!placed.contains(def) && isMovable(def))
        collect(def, moved, last);
      else if (Operation *place = placeOf(def); isBefore(last, place))
        last = place;
    }
    moved.insert(op);
  }

  void hoist(Operation *check) {
    llvm::SetVector<Operation *> moved;
    Operation *last = nullptr;
    collect(check, moved, last);
    // All that follow the same operation, one behind the other.
    Operation *&tail = tails.try_emplace(last, last).first->second;
    for (Operation *op : moved) {
      if (isBefore(op, last))
        continue; // It is there already.
      if (tail)
        op->moveAfter(tail);
      else
        op->moveBefore(&block, block.begin());
      tail = op;
      placed[op] = last;
    }
  }

  Block &block;
  llvm::DenseMap<Operation *, unsigned> number;
  llvm::DenseMap<Operation *, Operation *> placed;
  llvm::DenseMap<Operation *, Operation *> tails;
};
} // namespace

void loopc::hoistChecks(Operation *op) {
  op->walk([](Block *block) {
    if (!block->getOps<loop::CheckOp>().empty())
      CheckHoisting(*block).run();
  });
}
