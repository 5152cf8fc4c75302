//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Elementwise operations with NumPy's broadcasting, which is decided at compile
// time where the types tell and at run time elsewhere.

#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace loopc;

/// Integer tensors up to this size are computed element by element in scalars:
/// shapes, axes and indices, which then fold.
static constexpr int64_t kMaxScalarElements = 16;

static int64_t rankOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}

OpFoldResult NodeLowering::broadcastExtent(ArrayRef<OpFoldResult> extents,
                                           const Twine &where) {
  // What is known: a static extent other than 1 decides; an extent of 1 has
  // no say; of several run-time extents that are not the same value, the
  // first that is not 1 decides, and the others must agree or be 1.
  SmallVector<OpFoldResult> candidates;
  OpFoldResult fixed;
  for (OpFoldResult extent : extents) {
    if (isConstantIntValue(extent, 1))
      continue;
    if (getConstantIntValue(extent))
      fixed = fixed ? fixed : extent;
    if (!llvm::any_of(candidates, [&](OpFoldResult other) {
          return isEqualConstantIntOrValue(other, extent);
        }))
      candidates.push_back(extent);
  }
  if (candidates.empty())
    return fold(1);
  if (candidates.size() == 1)
    return candidates.front();
  OpFoldResult chosen = fixed;
  if (!chosen) {
    Value value = asIndex(candidates.back());
    for (OpFoldResult candidate :
         llvm::reverse(ArrayRef<OpFoldResult>(candidates).drop_back())) {
      Value extent = asIndex(candidate);
      Value isOne =
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, extent, index(1));
      value = arith::SelectOp::create(b, isOne, value, extent);
    }
    chosen = value;
  }
  Value expected = asIndex(chosen);
  for (OpFoldResult candidate : candidates) {
    if (isEqualConstantIntOrValue(candidate, chosen))
      continue;
    Value extent = asIndex(candidate);
    Value same =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, extent, expected);
    Value isOne =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, extent, index(1));
    check(b.createOrFold<arith::OrIOp>(same, isOne),
          "dimensions {} and {} do not broadcast (" + where + ")",
          ValueRange{extent, expected});
  }
  return chosen;
}

Dims NodeLowering::broadcastDims(ValueRange inputs) {
  int64_t rank = 0;
  for (Value input : inputs)
    rank = std::max(rank, rankOf(input));
  Dims result;
  for (int64_t axis = 0; axis < rank; ++axis) {
    Dims extents;
    for (Value input : inputs)
      if (int64_t k = axis - (rank - rankOf(input)); k >= 0)
        extents.push_back(dim(input, k));
    result.push_back(
        broadcastExtent(extents, "axis " + Twine(axis) + " of the result"));
  }
  return result;
}

namespace {
/// How one operand of an elementwise operation is read.
struct BroadcastOperand {
  Value value;
  AffineMap map;
};
} // namespace

/// True if `extent` is known to be `target`.
static bool same(OpFoldResult extent, OpFoldResult target) {
  return isEqualConstantIntOrValue(extent, target);
}

/// `value` as it is where its run-time extents are those of `target`, else
/// copied out to them. Axes whose extent is statically 1 are left alone.
static Value expandAtRunTime(NodeLowering &l, Value value,
                             ArrayRef<OpFoldResult> target) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t rank = type.getRank();
  ArrayRef<OpFoldResult> tail = target.take_back(rank);
  Value allEqual;
  Dims wanted = l.dims(value);
  SmallVector<Value> extents(rank);
  for (int64_t k = 0; k < rank; ++k) {
    if (same(wanted[k], tail[k]) || isConstantIntValue(wanted[k], 1))
      continue;
    extents[k] = l.asIndex(wanted[k]);
    Value equal = arith::CmpIOp::create(l.b, arith::CmpIPredicate::eq,
                                        extents[k], l.asIndex(tail[k]));
    allEqual =
        allEqual ? l.b.createOrFold<arith::AndIOp>(allEqual, equal) : equal;
    wanted[k] = tail[k];
  }
  if (!allEqual || matchPattern(allEqual, m_One()))
    return value;
  SmallVector<int64_t> shape;
  for (OpFoldResult extent : wanted)
    shape.push_back(getConstantIntValue(extent).value_or(ShapedType::kDynamic));
  auto resultType = RankedTensorType::get(shape, type.getElementType());
  auto branch = scf::IfOp::create(l.b, TypeRange{resultType}, allEqual,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(l.b);
  l.b.setInsertionPointToStart(&branch.getThenRegion().front());
  Value asIs = l.b.createOrFold<tensor::CastOp>(resultType, value);
  scf::YieldOp::create(l.b, asIs);
  l.b.setInsertionPointToStart(&branch.getElseRegion().front());
  Value expanded =
      l.generate(wanted, type.getElementType(),
                 [&](OpBuilder &b, Location loc, ValueRange indices) -> Value {
                   SmallVector<Value> source(indices);
                   Value zero = arith::ConstantIndexOp::create(b, loc, 0);
                   Value one = arith::ConstantIndexOp::create(b, loc, 1);
                   for (int64_t k = 0; k < rank; ++k)
                     if (extents[k]) {
                       Value isOne = arith::CmpIOp::create(
                           b, loc, arith::CmpIPredicate::eq, extents[k], one);
                       source[k] = arith::SelectOp::create(b, loc, isOne, zero,
                                                           indices[k]);
                     }
                   return tensor::ExtractOp::create(b, loc, value, source);
                 });
  expanded = l.b.createOrFold<tensor::CastOp>(resultType, expanded);
  scf::YieldOp::create(l.b, expanded);
  return branch.getResult(0);
}

/// Prepares `value` as operand of a linalg.generic over `target`.
static BroadcastOperand prepareOperand(NodeLowering &l, Value value,
                                       ArrayRef<OpFoldResult> target) {
  int64_t rank = target.size();
  value = expandAtRunTime(l, value, target);
  int64_t own = rankOf(value);
  SmallVector<AffineExpr> exprs;
  for (int64_t k = 0; k < own; ++k) {
    int64_t axis = rank - own + k;
    bool stretched = isConstantIntValue(l.dim(value, k), 1) &&
                     !isConstantIntValue(target[axis], 1);
    exprs.push_back(stretched ? l.b.getAffineConstantExpr(0)
                              : l.b.getAffineDimExpr(axis));
  }
  return {value, AffineMap::get(rank, 0, exprs, l.b.getContext())};
}

/// Element `position` of each input of static shape, broadcast to `shape`.
static SmallVector<Value> elementsAt(NodeLowering &l, ValueRange inputs,
                                     ArrayRef<int64_t> position) {
  SmallVector<Value> elements;
  for (Value input : inputs) {
    auto type = cast<RankedTensorType>(input.getType());
    SmallVector<Value> indices;
    for (int64_t k = 0; k < type.getRank(); ++k) {
      int64_t at = position[position.size() - type.getRank() + k];
      indices.push_back(l.index(type.getDimSize(k) == 1 ? 0 : at));
    }
    elements.push_back(l.b.createOrFold<tensor::ExtractOp>(input, indices));
  }
  return elements;
}

/// Computes a small result of static shape element by element.
static Value unrolledElementwise(NodeLowering &l, ValueRange inputs,
                                 ArrayRef<int64_t> shape, Type resultType,
                                 NodeLowering::ScalarBody body) {
  auto type = RankedTensorType::get(shape, resultType);
  SmallVector<Value> results;
  SmallVector<int64_t> position(shape.size(), 0);
  for (int64_t n = 0, e = type.getNumElements(); n < e; ++n) {
    int64_t rest = n;
    for (int64_t k = shape.size(); k-- > 0; rest /= shape[k])
      position[k] = rest % shape[k];
    results.push_back(body(l.b, l.b.getLoc(), elementsAt(l, inputs, position)));
  }
  return tensor::FromElementsOp::create(l.b, type, results);
}

Value NodeLowering::elementwise(ValueRange inputs, Type resultType,
                                ScalarBody body) {
  Dims target = broadcastDims(inputs);
  SmallVector<int64_t> shape;
  bool isStatic = true, integers = resultType.isIntOrIndex();
  for (OpFoldResult extent : target) {
    std::optional<int64_t> constant = getConstantIntValue(extent);
    isStatic &= constant.has_value();
    shape.push_back(constant.value_or(ShapedType::kDynamic));
  }
  for (Value input : inputs) {
    auto type = cast<RankedTensorType>(input.getType());
    integers &= type.getElementType().isIntOrIndex();
    isStatic &= type.hasStaticShape();
  }
  if (isStatic &&
      (shape.empty() ||
       (integers && ShapedType::getNumElements(shape) <= kMaxScalarElements)))
    return unrolledElementwise(*this, inputs, shape, resultType, body);

  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  for (Value input : inputs) {
    BroadcastOperand operand = prepareOperand(*this, input, target);
    operands.push_back(operand.value);
    maps.push_back(operand.map);
  }
  int64_t rank = target.size();
  maps.push_back(b.getMultiDimIdentityMap(rank));
  Value init = empty(target, resultType);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, init.getType(), operands, init, maps, iterators,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               linalg::YieldOp::create(b, loc, body(b, loc, args.drop_back()));
             })
      .getResult(0);
}

Value NodeLowering::broadcastTo(Value value, ArrayRef<OpFoldResult> target) {
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  Dims current = dims(value);
  if (current.size() == target.size() && llvm::equal(current, target, same))
    return value;
  int64_t rank = target.size();
  BroadcastOperand operand = prepareOperand(*this, value, target);
  if (rank == 0)
    return operand.value;
  Value init = empty(target, element);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, init.getType(), operand.value, init,
             ArrayRef<AffineMap>{operand.map, b.getMultiDimIdentityMap(rank)},
             iterators,
             [](OpBuilder &b, Location loc, ValueRange args) {
               linalg::YieldOp::create(b, loc, args[0]);
             })
      .getResult(0);
}
