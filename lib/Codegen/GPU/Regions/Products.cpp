//===- Products.cpp - Nests that are products of matrices -----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Codegen/GPU/Regions/Products.h"
#include "loopc/Codegen/GPU/Regions/DeviceCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace loopc;

Type Product::sumType() const { return add->getResult(0).getType(); }

Value Product::accumulate(OpBuilder &b, Value left, Value right,
                          Value sum) const {
  Operation *product = b.clone(*multiply);
  product->setOperands({left, right});
  Operation *whole = b.clone(*add);
  whole->setOperands({sum, product->getResult(0)});
  return whole->getResult(0);
}

//===----------------------------------------------------------------------===//
// What is one
//===----------------------------------------------------------------------===//

namespace {
class Matcher {
public:
  explicit Matcher(scf::ForOp outer) : outer(outer) {}
  std::optional<Product> run();

private:
  bool matchNest();
  bool matchSums();
  bool matchBody();
  bool matchFactor(Value operand, ProductFactor &factor,
                   llvm::SetVector<Value> &depends);
  bool collect(Value value, llvm::SetVector<Operation *> &slice,
               llvm::SetVector<Value> &depends);
  bool isAlongSum(const ProductFactor &factor);
  void findDense(ProductFactor &factor, ArrayRef<scf::ForOp> loops);
  bool isWhole(memref::LoadOp load, ArrayRef<scf::ForOp> loops);
  bool isFixed(scf::ForOp loop) {
    return loop.getInductionVar().getType().isIndex() &&
           llvm::all_of(ValueRange{loop.getLowerBound(), loop.getUpperBound(),
                                   loop.getStep()},
                        [&](Value bound) {
                          return outer.isDefinedOutsideOfLoop(bound);
                        });
  }

  scf::ForOp outer;
  Product found;
};
} // namespace

/// Beside the sum there are only loads, stores and what has no effects.
bool Matcher::matchNest() {
  found.nest = collectSharedLoops(outer);
  for (Operation &op : found.nest.back().getBody()->without_terminator()) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (!found.sums.empty())
        return false;
      found.sums.push_back(loop);
      continue;
    }
    if (op.getNumRegions() != 0 ||
        (!isMemoryEffectFree(&op) && !isa<memref::LoadOp, memref::StoreOp>(op)))
      return false;
    // Sums are formed before anything is written.
    if (isa<memref::StoreOp>(op) && found.sums.empty())
      return false;
  }
  return !found.sums.empty();
}

/// Loops in one another that hand one number on.
bool Matcher::matchSums() {
  for (;;) {
    scf::ForOp loop = found.sums.back();
    if (loop.getNumResults() != 1 || !isFixed(loop))
      return false;
    scf::ForOp inner;
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (auto nested = dyn_cast<scf::ForOp>(op)) {
        if (inner)
          return false;
        inner = nested;
      } else if (op.getNumRegions() != 0 ||
                 (!isMemoryEffectFree(&op) && !isa<memref::LoadOp>(op))) {
        return false;
      }
    }
    if (!inner)
      return true;
    if (inner.getNumResults() != 1 ||
        inner.getInitArgs().front() != loop.getRegionIterArg(0) ||
        loop.getYieldedValues().front() != inner.getResult(0) ||
        !loop.getRegionIterArg(0).hasOneUse() ||
        !inner.getResult(0).hasOneUse())
      return false;
    found.sums.push_back(inner);
  }
}

/// The innermost loop adds products, in any order.
bool Matcher::matchBody() {
  scf::ForOp loop = found.sums.back();
  Value carried = loop.getRegionIterArg(0);
  Operation *add = loop.getYieldedValues().front().getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add) ||
      add->getBlock() != loop.getBody() || !carried.hasOneUse())
    return false;
  if (auto sum = dyn_cast<arith::AddFOp>(add))
    if (!bitEnumContainsAll(sum.getFastmath(), arith::FastMathFlags::reassoc))
      return false;
  unsigned at = add->getOperand(0) == carried ? 1 : 0;
  if (add->getOperand(1 - at) != carried)
    return false;
  Operation *multiply = add->getOperand(at).getDefiningOp();
  if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp>(multiply) ||
      multiply->getBlock() != loop.getBody() || !multiply->hasOneUse() ||
      !found.sums.front().getResult(0).getType().isIntOrFloat())
    return false;
  found.add = add;
  found.multiply = multiply;
  return true;
}

/// Adds what `value` takes within the nest: operations, and loops that say
/// where.
bool Matcher::collect(Value value, llvm::SetVector<Operation *> &slice,
                      llvm::SetVector<Value> &depends) {
  if (outer.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto is = [&](scf::ForOp loop) { return loop.getInductionVar() == value; };
    depends.insert(value);
    return llvm::any_of(found.nest, is) || llvm::any_of(found.sums, is);
  }
  if (slice.contains(op))
    return true;
  if (op->getNumRegions() != 0 ||
      (!isMemoryEffectFree(op) && !isa<memref::LoadOp>(op)))
    return false;
  for (Value operand : op->getOperands())
    if (!collect(operand, slice, depends))
      return false;
  slice.insert(op);
  return true;
}

bool Matcher::isAlongSum(const ProductFactor &factor) {
  for (Operation *op : llvm::reverse(factor.slice)) {
    auto load = dyn_cast<memref::LoadOp>(op);
    if (!load || load.getIndices().empty())
      continue;
    llvm::SetVector<Operation *> slice;
    llvm::SetVector<Value> depends;
    (void)collect(load.getIndices().back(), slice, depends);
    if (depends.empty())
      continue;
    return llvm::all_of(depends, [&](Value value) {
      return llvm::any_of(found.sums, [&](scf::ForOp loop) {
        return loop.getInductionVar() == value;
      });
    });
  }
  return true;
}

bool Matcher::matchFactor(Value operand, ProductFactor &factor,
                          llvm::SetVector<Value> &depends) {
  factor.value = operand;
  Operation *op = operand.getDefiningOp();
  if (isa_and_nonnull<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(op) &&
      !outer.isDefinedOutsideOfLoop(operand) &&
      op->getOperand(0).getType().getIntOrFloatBitWidth() >= 8) {
    factor.widen = op;
    factor.value = op->getOperand(0);
  }
  llvm::SetVector<Operation *> slice;
  if (!collect(factor.value, slice, depends))
    return false;
  factor.slice.assign(slice.begin(), slice.end());
  factor.isAlongSum = isAlongSum(factor);
  // What shared memory holds.
  unsigned bits = factor.value.getType().isIntOrFloat()
                      ? factor.value.getType().getIntOrFloatBitWidth()
                      : 0;
  return bits >= 8 && bits <= 64 && llvm::isPowerOf2_32(bits);
}

/// True where `loops` go through the last axes of what is read, all but the
/// first of them from end to end, so that one iteration lies behind the other.
bool Matcher::isWhole(memref::LoadOp load, ArrayRef<scf::ForOp> loops) {
  MemRefType type = load.getMemRefType();
  SmallVector<int64_t> strides;
  int64_t offset;
  int64_t first = type.getRank() - static_cast<int64_t>(loops.size());
  if (first < 0 || failed(type.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1)
    return false;
  for (auto [k, loop] : llvm::enumerate(loops)) {
    int64_t axis = first + static_cast<int64_t>(k);
    if (load.getIndices()[axis] != scf::ForOp(loop).getInductionVar() ||
        !isConstantIntValue(scf::ForOp(loop).getLowerBound(), 0) ||
        !isConstantIntValue(scf::ForOp(loop).getStep(), 1))
      return false;
    if (k == 0)
      continue;
    int64_t extent = type.getDimSize(axis);
    if (ShapedType::isDynamic(extent) || ShapedType::isDynamic(strides[axis]) ||
        !isConstantIntValue(scf::ForOp(loop).getUpperBound(), extent) ||
        strides[axis - 1] != strides[axis] * extent)
      return false;
  }
  return true;
}

void Matcher::findDense(ProductFactor &factor, ArrayRef<scf::ForOp> loops) {
  auto load = factor.value.getDefiningOp<memref::LoadOp>();
  if (!load || load.getIndices().empty() ||
      !outer.isDefinedOutsideOfLoop(load.getMemref()))
    return;
  ArrayRef<scf::ForOp> along =
      factor.isAlongSum ? ArrayRef<scf::ForOp>(found.sums) : loops.take_back();
  if (!isWhole(load, along))
    return;
  // Nothing else says where.
  for (scf::ForOp loop : along) {
    int64_t uses = 0;
    for (Operation *op : factor.slice)
      uses += llvm::count(op->getOperands(), loop.getInductionVar());
    if (uses != 1)
      return;
  }
  factor.dense = load;
  factor.denseAxes = static_cast<int64_t>(along.size());
}

std::optional<Product> Matcher::run() {
  if (!matchNest() || !matchSums() || !matchBody())
    return std::nullopt;
  llvm::SetVector<Value> ofLeft, ofRight;
  if (!matchFactor(found.multiply->getOperand(0), found.left, ofLeft) ||
      !matchFactor(found.multiply->getOperand(1), found.right, ofRight))
    return std::nullopt;
  for (scf::ForOp loop : found.nest) {
    bool isLeft = ofLeft.contains(loop.getInductionVar());
    bool isRight = ofRight.contains(loop.getInductionVar());
    if (isLeft == isRight)
      found.batch.push_back(loop);
    else
      (isLeft ? found.rows : found.columns).push_back(loop);
  }
  if (llvm::is_contained(found.rows, found.nest.back())) {
    std::swap(found.rows, found.columns);
    std::swap(found.left, found.right);
  }
  if (!llvm::is_contained(found.columns, found.nest.back()) ||
      found.rows.empty())
    return std::nullopt;
  findDense(found.left, found.rows);
  findDense(found.right, found.columns);
  return found;
}

std::optional<Product> loopc::matchProduct(scf::ForOp outer) {
  return Matcher(outer).run();
}
