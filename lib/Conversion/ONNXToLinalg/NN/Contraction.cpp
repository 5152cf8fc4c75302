//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// MatMul, Gemm and their integer forms: linalg.generic operations that are
// contractions (isaContractionOpInterface), with the loops in an order that
// vectorises as they are, so that a schedule is an improvement and no need.

#include "Contraction.h"
#include "Framework/ElementTypes.h"
#include "Framework/ElementwiseUtils.h"
#include "Framework/ShapeUtils.h"
#include "loopc/Tensor/StoredTranspose.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace loopc;
using utils::IteratorType;

//===----------------------------------------------------------------------===//
// Sums of products
//===----------------------------------------------------------------------===//

Value loopc::multiplyAdd(NodeLowering &l, Factor lhs, Factor rhs, Value init,
                         ArrayRef<AffineMap> maps) {
  AffineMap out = maps.back();
  unsigned rank = out.getNumDims();
  SmallVector<IteratorType> iterators;
  for (unsigned k : llvm::seq(rank))
    iterators.push_back(out.isFunctionOfDim(k) ? IteratorType::parallel
                                               : IteratorType::reduction);
  // Products are fused into sums. Sums may be reassociated (the numeric
  // contract): vectors run along the sum where only that is contiguous.
  auto contract = arith::FastMathFlags::contract;
  auto flags = contract | arith::FastMathFlags::reassoc;
  Type type = getElementTypeOrSelf(init.getType());
  return linalg::GenericOp::create(
             l.b, init.getType(), ValueRange{lhs.value, rhs.value}, init, maps,
             iterators,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               Value x = NodeLowering::castScalar(
                   b, loc, args[0], lhs.isUnsigned, type, lhs.isUnsigned);
               Value y = NodeLowering::castScalar(
                   b, loc, args[1], rhs.isUnsigned, type, rhs.isUnsigned);
               Value sum;
               if (isa<FloatType>(type)) {
                 Value product = arith::MulFOp::create(b, loc, x, y, contract);
                 sum = arith::AddFOp::create(b, loc, args[2], product, flags);
               } else {
                 Value product = arith::MulIOp::create(b, loc, x, y);
                 sum = arith::AddIOp::create(b, loc, args[2], product);
               }
               linalg::YieldOp::create(b, loc, sum);
             })
      .getResult(0);
}

Value loopc::castElements(NodeLowering &l, Value value, Type to,
                          bool isUnsigned) {
  if (getElementTypeOrSelf(value.getType()) == to)
    return value;
  return l.elementwise(value, to,
                       [&](OpBuilder &b, Location loc, ValueRange s) {
                         return NodeLowering::castScalar(
                             b, loc, s[0], isUnsigned, to, isUnsigned);
                       });
}

Value loopc::reordered(NodeLowering &l, Value value, ArrayRef<int64_t> order) {
  Dims dims;
  for (int64_t axis : order)
    dims.push_back(l.dim(value, axis));
  Value init = l.empty(dims, getElementTypeOrSelf(value.getType()));
  return storeTransposed(l.b, l.b.getLoc(), value, init, order);
}

Value loopc::broadcastChecked(NodeLowering &l, Value value,
                              ArrayRef<OpFoldResult> dims) {
  Dims own = l.dims(value);
  for (auto [extent, target] :
       llvm::zip_equal(own, dims.take_back(own.size()))) {
    if (isConstantIntValue(extent, 1) || sameExtent(extent, target))
      continue;
    Value fits =
        either(l, compare(l, arith::CmpIPredicate::eq, extent, target),
               compare(l, arith::CmpIPredicate::eq, extent, l.fold(1)));
    l.check(fits, "a dimension of {} does not broadcast to {}",
            ValueRange{l.asIndex(extent), l.asIndex(target)});
  }
  return l.broadcastTo(value, dims);
}

bool loopc::mayBroadcast(ArrayRef<OpFoldResult> extents) {
  std::optional<int64_t> fixed;
  for (OpFoldResult extent : extents) {
    std::optional<int64_t> constant = getConstantIntValue(extent);
    if (!constant || constant == 1)
      continue;
    if (fixed && fixed != constant)
      return false;
    fixed = constant;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// MatMul
//===----------------------------------------------------------------------===//

/// The axes of `value` before its last two, which broadcast to `batch`, as
/// expressions of the first dimensions; `value` is expanded where only the run
/// tells that it must be.
static SmallVector<AffineExpr> alignBatch(NodeLowering &l, Value &value,
                                          ArrayRef<OpFoldResult> batch) {
  Dims dims = l.dims(value);
  int64_t own = std::max<int64_t>(dims.size(), 2) - 2;
  int64_t shift = batch.size() - own;
  SmallVector<AffineExpr> exprs;
  for (int64_t k : llvm::seq(own)) {
    if (isConstantIntValue(dims[k], 1) &&
        !isConstantIntValue(batch[k + shift], 1)) {
      exprs.push_back(l.b.getAffineConstantExpr(0));
      continue;
    }
    dims[k] = batch[k + shift];
    exprs.push_back(l.b.getAffineDimExpr(k + shift));
  }
  value = l.broadcastTo(value, dims);
  return exprs;
}

/// What the leading axes of two operands of matmul broadcast to; `fits` turns
/// false where the types tell that they do not.
static Dims batchDims(NodeLowering &l, Value lhs, Value rhs, bool &fits) {
  Dims x = l.dims(lhs), y = l.dims(rhs), batch;
  int64_t xs = std::max<int64_t>(x.size(), 2) - 2;
  int64_t ys = std::max<int64_t>(y.size(), 2) - 2;
  int64_t rank = std::max(xs, ys);
  for (int64_t k : llvm::seq(rank)) {
    Dims extents;
    if (int64_t at = k - (rank - xs); at >= 0)
      extents.push_back(x[at]);
    if (int64_t at = k - (rank - ys); at >= 0)
      extents.push_back(y[at]);
    fits &= mayBroadcast(extents);
    batch.push_back(
        l.broadcastExtent(extents, "axis " + Twine(k) + " of the result"));
  }
  return batch;
}

/// The groups of axes of a value of `rank`, the last two as one.
static SmallVector<ReassociationIndices> mergeLastTwo(int64_t rank) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t k : llvm::seq(rank - 1))
    groups.push_back({k});
  groups.back().push_back(rank - 1);
  return groups;
}

Value loopc::matMul(NodeLowering &l, Factor lhs, Factor rhs, Type accumulator,
                    Value first) {
  Dims x = l.dims(lhs.value), y = l.dims(rhs.value);
  if (x.empty() || y.empty()) {
    (void)l.refuse("an operand has rank 0");
    return {};
  }
  bool hasRows = x.size() > 1, hasColumns = y.size() > 1;
  OpFoldResult columns = hasColumns ? y.back() : OpFoldResult();
  bool fits = requireEqual(l, x.back(), hasColumns ? y[y.size() - 2] : y[0],
                           "inner dimensions");
  Dims target = batchDims(l, lhs.value, rhs.value, fits);
  int64_t batch = target.size();
  SmallVector<AffineExpr> left, right, out;
  if (fits) {
    left = alignBatch(l, lhs.value, target);
    right = alignBatch(l, rhs.value, target);
  }
  for (int64_t k : llvm::seq(batch))
    out.push_back(l.b.getAffineDimExpr(k));
  // A single column is a vector: it lies as it is summed, as rows of lhs do.
  bool isColumn =
      hasRows && hasColumns && fits && !first && isConstantIntValue(columns, 1);
  if (isColumn) {
    rhs.value = tensor::CollapseShapeOp::create(
        l.b, rhs.value, mergeLastTwo(l.dims(rhs.value).size()));
    hasColumns = false;
  }
  // Rows of the result grow by rows of rhs; where these have no length, the
  // sum is the innermost loop.
  bool sumsInside = !hasColumns || isConstantIntValue(columns, 1);
  int64_t rank = batch;
  AffineExpr m, n, k;
  if (hasRows) {
    m = l.b.getAffineDimExpr(rank++);
    left.push_back(m);
    out.push_back(m);
    target.push_back(x[x.size() - 2]);
  }
  if (hasColumns && sumsInside)
    n = l.b.getAffineDimExpr(rank++);
  k = l.b.getAffineDimExpr(rank++);
  if (hasColumns && !sumsInside)
    n = l.b.getAffineDimExpr(rank++);
  left.push_back(k);
  right.push_back(k);
  if (hasColumns) {
    right.push_back(n);
    out.push_back(n);
    target.push_back(columns);
  }
  Value init = first ? l.broadcastTo(first, target)
                     : l.filled(target, l.constant(accumulator, 0));
  if (!fits)
    return init;
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(rank, 0, exprs, l.b.getContext());
  };
  Value result =
      multiplyAdd(l, lhs, rhs, init, {map(left), map(right), map(out)});
  if (!isColumn)
    return result;
  target.push_back(columns);
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(1);
  return tensor::ExpandShapeOp::create(l.b, type.clone(shape), result,
                                       mergeLastTwo(shape.size()), target);
}

static LogicalResult lowerMatMul(NodeLowering &l) {
  Type type = NodeLowering::computeType(l.elementType(0));
  bool isUnsigned = l.isUnsigned(0);
  Factor lhs{l.in(0), isUnsigned}, rhs{l.in(1), isUnsigned};
  Value result = matMul(l, lhs, rhs, type);
  if (!result)
    return failure();
  l.setResult(castElements(l, result, l.elementType(0), isUnsigned));
  return success();
}

//===----------------------------------------------------------------------===//
// Gemm
//===----------------------------------------------------------------------===//

namespace {
/// alpha * op(A) * op(B) + beta * C.
struct Gemm {
  explicit Gemm(NodeLowering &l)
      : l(l), element(l.elementType(0)),
        compute(NodeLowering::computeType(element)),
        isUnsigned(l.isUnsigned(0)), alpha(l.floatAttr("alpha", 1)),
        beta(l.floatAttr("beta", 1)), transA(l.intAttr("transA")),
        transB(l.intAttr("transB")) {}

  LogicalResult lower();
  Value product(Value init);
  Value columnProduct(Value init);
  /// `factor * x`; integers by way of f64 where the factor is not 1.
  Value scaled(OpBuilder &b, Location loc, Value x, double factor);
  /// C times beta in the type that is summed in.
  Value addend() {
    return l.elementwise(l.in(2), compute,
                         [&](OpBuilder &b, Location loc, ValueRange s) {
                           Value x = NodeLowering::castScalar(
                               b, loc, s[0], isUnsigned, compute, isUnsigned);
                           return scaled(b, loc, x, beta);
                         });
  }

  NodeLowering &l;
  Type element, compute;
  bool isUnsigned;
  double alpha, beta;
  bool transA, transB;
  Dims target;
};
} // namespace

Value Gemm::scaled(OpBuilder &b, Location loc, Value x, double factor) {
  if (factor == 1)
    return x;
  Type type = isa<FloatType>(compute) ? compute : b.getF64Type();
  x = NodeLowering::castScalar(b, loc, x, isUnsigned, type, isUnsigned);
  Value scale = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, factor));
  x = arith::MulFOp::create(b, loc, x, scale);
  return NodeLowering::castScalar(b, loc, x, isUnsigned, compute, isUnsigned);
}

/// A matrix times a single column, which is a vector, as its result is: along
/// the sum where rows lie, along the rows where columns do.
Value Gemm::columnProduct(Value init) {
  auto whole = mergeLastTwo(2);
  Value rhs = tensor::CollapseShapeOp::create(l.b, l.in(1), whole);
  init = tensor::CollapseShapeOp::create(l.b, init, whole);
  AffineExpr outer, inner;
  bindDims(l.b.getContext(), outer, inner);
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(2, 0, exprs, l.b.getContext());
  };
  AffineExpr row = transA ? inner : outer, sum = transA ? outer : inner;
  Value result = multiplyAdd(l, {l.in(0), isUnsigned}, {rhs, isUnsigned}, init,
                             {map({outer, inner}), map(sum), map(row)});
  int64_t count = cast<RankedTensorType>(result.getType()).getDimSize(0);
  return tensor::ExpandShapeOp::create(
      l.b, RankedTensorType::get({count, 1}, compute), result, whole, target);
}

Value Gemm::product(Value init) {
  if (isConstantIntValue(target[1], 1))
    return columnProduct(init);
  Value lhs = l.in(0), rhs = l.in(1);
  Dims rows{l.dim(lhs, transA), l.dim(lhs, !transA)};
  bool isVector =
      isConstantIntValue(rows[0], 1) || isConstantIntValue(rows[1], 1);
  bool byColumns = transA, byRows = transB;
  if (transA && isVector) {
    // A single row or column is by rows where it lies.
    lhs = l.reshape(lhs, rows);
    byColumns = false;
  } else if (transA && transB) {
    // One is by rows and the other by columns: the smaller one is turned, or
    // what is turned once.
    std::optional<int64_t> count = getConstantIntValue(target[0]),
                           columns = getConstantIntValue(target[1]);
    bool isSmaller = columns && count && *columns <= *count;
    byColumns = count && (isSmaller || matchPattern(rhs, m_Constant()));
    byRows = !byColumns;
    Value &turned = byColumns ? rhs : lhs;
    // On a CPU it is stored: in the product it would be read by columns.
    turned = l.forKernels ? l.transpose(turned, {1, 0})
                          : reordered(l, turned, {1, 0});
  }
  AffineExpr m, n, k;
  if (byRows)
    bindDims(l.b.getContext(), m, n, k);
  else
    bindDims(l.b.getContext(), m, k, n);
  auto map = [&](AffineExpr x, AffineExpr y) {
    return AffineMap::get(3, 0, {x, y}, l.b.getContext());
  };
  return multiplyAdd(l, {lhs, isUnsigned}, {rhs, isUnsigned}, init,
                     {byColumns ? map(k, m) : map(m, k),
                      byRows ? map(n, k) : map(k, n), map(m, n)});
}

LogicalResult Gemm::lower() {
  // Up to version 6 it told whether C is broadcast; what its shape says too.
  l.ignoreAttr("broadcast");
  if (l.rank(0) != 2 || l.rank(1) != 2)
    return l.refuse("A and B must have rank 2");
  if (l.has(2) && l.rank(2) > 2)
    return l.refuse("C has rank " + Twine(l.rank(2)) + ", expected 2 at most");
  Dims a = l.dims(l.in(0)), b = l.dims(l.in(1));
  target = {a[transA], b[!transB]};
  bool adds = l.has(2) && beta != 0;
  bool fits = requireEqual(l, a[!transA], b[transB], "inner dimensions");
  Value zero = l.constant(compute, 0);
  Value sum;
  if (adds && alpha == 1)
    sum = broadcastChecked(l, addend(), target);
  else
    sum = l.filled(target, zero);
  if (fits)
    sum = product(sum);
  if (alpha == 1) {
    l.setResult(castElements(l, sum, element, isUnsigned));
    return success();
  }
  SmallVector<Value> parts{sum};
  if (adds)
    parts.push_back(broadcastChecked(l, addend(), target));
  l.setResult(l.elementwise(parts, element,
                            [&](OpBuilder &b, Location loc, ValueRange s) {
                              Value x = scaled(b, loc, s[0], alpha);
                              if (adds && isa<FloatType>(compute))
                                x = arith::AddFOp::create(b, loc, x, s[1]);
                              else if (adds)
                                x = arith::AddIOp::create(b, loc, x, s[1]);
                              return NodeLowering::castScalar(
                                  b, loc, x, isUnsigned, element, isUnsigned);
                            }));
  return success();
}

static LogicalResult lowerGemm(NodeLowering &l) { return Gemm(l).lower(); }

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

void loopc::addContractionRows(LoweringTable &table) {
  table.add({
      {"", "MatMul", 1, kLatest, lowerMatMul},
      {"", "Gemm", 1, kLatest, lowerGemm},
      {"", "Einsum", 12, kLatest, lowerEinsum},
      {"", "MatMulInteger", 10, kLatest, lowerMatMulInteger},
      {"", "QLinearMatMul", 10, kLatest, lowerQLinearMatMul},
  });
}
