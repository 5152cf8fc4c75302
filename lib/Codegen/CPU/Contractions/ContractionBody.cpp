//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What a tile of a contraction computes at one point of the sum.

#include "ContractionEmitter.h"
#include "Rows/VectorElements.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace loopc;

Operation *loopc::reorderableAddition(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  Value sum = op.getRegionOutputArgs()[0];
  Operation *combiner = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!combiner || combiner->getBlock() != body || !sum.hasOneUse() ||
      *sum.user_begin() != combiner ||
      !isa<arith::AddFOp, arith::AddIOp>(combiner))
    return nullptr;
  if (auto add = dyn_cast<arith::AddFOp>(combiner))
    if (!arith::bitEnumContainsAll(add.getFastmath(),
                                   arith::FastMathFlags::reassoc))
      return nullptr;
  return combiner;
}

/// Appends what `value` is the sum of; false where a part is no product that
/// nobody else reads.
static bool findTerms(Value value, SmallVectorImpl<Value> &terms) {
  if (!value.hasOneUse())
    return false;
  if (auto sum = value.getDefiningOp<arith::AddFOp>())
    return findTerms(sum.getLhs(), terms) && findTerms(sum.getRhs(), terms);
  terms.push_back(value);
  return value.getDefiningOp<arith::MulFOp>() != nullptr;
}

SmallVector<Value> loopc::findFusedTerms(linalg::LinalgOp op) {
  auto sum = dyn_cast_or_null<arith::AddFOp>(reorderableAddition(op));
  if (!sum || !arith::bitEnumContainsAll(sum.getFastmath(),
                                         arith::FastMathFlags::contract))
    return {};
  Value carried = op.getRegionOutputArgs()[0];
  Value added = sum.getLhs() == carried ? sum.getRhs() : sum.getLhs();
  SmallVector<Value> terms;
  if (!added.getDefiningOp<arith::AddFOp>() || !findTerms(added, terms))
    return {};
  return terms;
}

Extent ContractionBody::extentOf(OpOperand &operand) {
  AffineMap map = v.op.getMatchingIndexingMap(&operand);
  Extent extent;
  extent.rows = v.plan.isOfRows(map);
  extent.columns = v.columnDim && map.isFunctionOfDim(*v.columnDim);
  extent.lanes = map.isFunctionOfDim(v.laneDim);
  return extent;
}

Extent ContractionBody::extentOf(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  Extent extent;
  Block *body = v.op.getBlock();
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == body) {
    OpOperand *operand = v.op.getMatchingOpOperand(argument);
    extent =
        v.op.isDpsInit(operand) ? Extent{true, true, true} : extentOf(*operand);
  } else if (Operation *op = value.getDefiningOp();
             op && op->getBlock() == body) {
    for (Value operand : op->getOperands())
      extent |= extentOf(operand);
  }
  return known[value] = extent;
}

SmallVector<Value> ContractionBody::indices(AffineMap map, int64_t i, int64_t j,
                                            int64_t k) {
  SmallVector<Value> at = v.at;
  SmallVector<AffineExpr> dims;
  for (unsigned d : llvm::seq(map.getNumDims()))
    dims.push_back(getAffineDimExpr(d, v.b.getContext()));
  if (v.rowDim && !tile.rowAt.empty())
    at[*v.rowDim] = tile.rowAt[i];
  else if (v.rowDim)
    dims[*v.rowDim] = dims[*v.rowDim] + i;
  if (!tile.joinedAt.empty())
    at[*v.plan.joinedDim] = tile.joinedAt[i];
  if (v.columnDim && !tile.columnAt.empty())
    at[*v.columnDim] = tile.columnAt[j];
  else if (v.columnDim)
    dims[*v.columnDim] =
        dims[*v.columnDim] + j * (v.plan.isAlongSum ? 1 : tile.lanes);
  if (v.columnNumber && v.plan.isPacked(map, *v.columnDim)) {
    at[*v.columnDim] = v.columnNumber;
    dims[*v.columnDim] =
        getAffineDimExpr(*v.columnDim, v.b.getContext()) * v.columnUnit +
        j * tile.lanes;
  }
  if (v.plan.isAlongSum)
    dims[v.laneDim] = dims[v.laneDim] + k * tile.lanes;
  SmallVector<Value> results;
  for (AffineExpr expr : map.getResults())
    results.push_back(v.apply(expr.replaceDims(dims), at));
  return results;
}

Value ContractionBody::load(OpOperand &operand, int64_t i, int64_t j,
                            int64_t k) {
  if (v.strip && &operand == v.plan.strip && v.plan.stripValues.empty())
    return loadStrip(j);
  return load(operand.get(), v.op.getMatchingIndexingMap(&operand), i, j, k);
}

Value ContractionBody::loadStrip(int64_t j, int64_t number) {
  SmallVector<Value> at{v.stripRow(number), v.index(j * tile.lanes)};
  return loadLanes(v.b, v.strip, at, maskOf(j), tile.lanes, /*filler=*/0);
}

Value ContractionBody::load(Value buffer, AffineMap map, int64_t i, int64_t j,
                            int64_t k) {
  SmallVector<Value> at = indices(map, i, j, k);
  if (!map.isFunctionOfDim(v.laneDim))
    return memref::LoadOp::create(v.b, buffer, at);
  bool isPacked = v.plan.isPacked(map, v.laneDim);
  if (!isPacked)
    if (int64_t stride =
            *stepAlong(map.getResults().back(), v.laneDim, map.getNumDims());
        stride > 1)
      return loadApart(buffer, at, stride, j);
  // Panels are padded, but of those that a tile reads some may not be there.
  bool isThere = isPacked && j * tile.lanes < v.plan.panels->width;
  return loadLanes(v.b, buffer, at, isThere ? Value() : maskOf(j), tile.lanes,
                   /*filler=*/0);
}

Value ContractionBody::loadApart(Value buffer, SmallVector<Value> at,
                                 int64_t stride, int64_t j) {
  int64_t lanes = tile.lanes;
  Value mask = maskOf(j);
  AffineExpr d0 = getAffineDimExpr(0, v.b.getContext());
  // Vectors of all that is in between, the last of which ends with the last
  // element that is wanted: nothing behind it is read.
  Value result, place = at.back();
  SmallVector<bool> isFound(lanes, false);
  for (int64_t k : llvm::seq(stride)) {
    int64_t first = std::min(k * lanes, (stride - 1) * (lanes - 1));
    SmallVector<int64_t> from;
    bool isWanted = false;
    for (int64_t lane : llvm::seq(lanes)) {
      int64_t element = lane * stride - first;
      bool isHere = !isFound[lane] && element >= 0 && element < lanes;
      isFound[lane] |= isHere;
      isWanted |= isHere;
      from.push_back(isHere ? lanes + element : result ? lane : -1);
    }
    if (!isWanted)
      continue;
    at.back() = v.apply(d0 + first, place);
    Value there;
    if (mask)
      there =
          v.maskOf(v.apply((d0 - 1) * stride + (1 - first), tile.counts[j]));
    Value part = loadLanes(v.b, buffer, at, there, lanes, /*filler=*/0);
    result = vector::ShuffleOp::create(v.b, result ? result : part, part, from);
  }
  return result;
}

Value ContractionBody::start(OpOperand &init, int64_t i, int64_t j) {
  const StartPlan &start = v.plan.start;
  if (!start.writer)
    return load(init, i, j, 0);
  Value value = start.filled;
  if (!value)
    value = load(start.copied, start.map, i, j, 0);
  if (!v.plan.isAlongSum && !isa<VectorType>(value.getType()))
    value = widened(value);
  if (!v.isFirstBlock)
    return value;
  return arith::SelectOp::create(v.b, v.isFirstBlock, value,
                                 load(init, i, j, 0));
}

void ContractionBody::store(OpOperand &operand, Value value, int64_t i,
                            int64_t j) {
  store(operand.get(), v.op.getMatchingIndexingMap(&operand), value, i, j);
}

void ContractionBody::store(Value buffer, AffineMap map, Value value, int64_t i,
                            int64_t j) {
  SmallVector<Value> at = indices(map, i, j, 0);
  if (!isa<VectorType>(value.getType()))
    memref::StoreOp::create(v.b, value, buffer, at);
  else
    storeLanes(v.b, value, buffer, at, maskOf(j));
}

Value ContractionBody::widened(Value value) {
  Value &result = wide[value];
  if (!result)
    result = vector::BroadcastOp::create(
        v.b, VectorType::get(tile.lanes, value.getType()), value);
  return result;
}

Value ContractionBody::compute(Operation *op, int64_t i, int64_t j, int64_t k) {
  bool isWide = extentOf(op->getResult(0)).lanes;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Value value = get(operand, i, j, k);
    operands.push_back(
        isWide && !isa<VectorType>(value.getType()) ? widened(value) : value);
  }
  Operation *result = nullptr;
  if (isWide) {
    result = cloneWide(v.b, *op, operands, tile.lanes);
  } else {
    IRMapping mapping;
    mapping.map(op->getOperands(), operands);
    result = v.b.clone(*op, mapping);
  }
  // Along the result each element is summed up in the order of the model.
  auto fast = dyn_cast<arith::ArithFastMathInterface>(result);
  if (auto flags = fast ? fast.getFastMathFlagsAttr() : nullptr;
      flags && !v.plan.isAlongSum)
    result->setAttr(fast.getFastMathAttrName(),
                    arith::FastMathFlagsAttr::get(
                        v.b.getContext(),
                        flags.getValue() & ~arith::FastMathFlags::reassoc));
  return result->getResult(0);
}

ContractionBody::Key ContractionBody::keyOf(Value value, int64_t i, int64_t j,
                                            int64_t k) {
  Extent extent = extentOf(value);
  return {value.getAsOpaquePointer(), extent.rows ? i : -1,
          extent.columns ? j : -1, extent.lanes ? k : -1};
}

Value ContractionBody::get(Value value, int64_t i, int64_t j, int64_t k) {
  Block *body = v.op.getBlock();
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *op = value.getDefiningOp();
  bool isInside =
      argument ? argument.getOwner() == body : op->getBlock() == body;
  if (!isInside)
    return value;
  OpOperand *operand = argument ? v.op.getMatchingOpOperand(argument) : nullptr;
  if (operand && v.op.isDpsInit(operand))
    return sum;
  Key key = keyOf(value, i, j, k);
  if (auto it = values.find(key); it != values.end())
    return it->second;
  if (v.arePaired && op == v.plan.pairs) {
    int64_t first = j - j % 2;
    std::pair<Value, Value> pair = loadPair(i, first, k);
    std::get<2>(key) = first;
    values[key] = pair.first;
    std::get<2>(key) = first + 1;
    values[key] = pair.second;
    return j == first ? pair.first : pair.second;
  }
  Value result;
  auto widened = llvm::find(v.plan.stripValues, value);
  if (v.strip && widened != v.plan.stripValues.end())
    result = loadStrip(j, widened - v.plan.stripValues.begin());
  else
    result = operand ? load(*operand, i, j, k) : compute(op, i, j, k);
  values[key] = result;
  return result;
}

Value ContractionBody::next(Value current, int64_t i, int64_t j, int64_t k) {
  sum = current;
  if (!v.plan.terms.empty())
    return addTerms(i, j, k);
  return get(v.op.getBlock()->getTerminator()->getOperand(0), i, j, k);
}

/// Each product is rounded with the sum that it goes into, as it is where a sum
/// has one.
Value ContractionBody::addTerms(int64_t i, int64_t j, int64_t k) {
  constexpr auto contract = arith::FastMathFlags::contract;
  auto flags =
      v.plan.isAlongSum ? contract | arith::FastMathFlags::reassoc : contract;
  Value result = sum;
  for (Value term : v.plan.terms) {
    Value product = get(term, i, j, k);
    if (auto made = product.getDefiningOp<arith::MulFOp>())
      made.setFastmath(contract);
    result = arith::AddFOp::create(v.b, result, product, flags);
  }
  return result;
}
