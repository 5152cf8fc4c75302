//===- ReshapeShape.cpp - The extents of a Reshape ------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReshapeShape.h"
#include "Framework/ShapeUtils.h"
#include <numeric>

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

/// Removes the constants of `dims`; their product.
static int64_t takeConstants(Dims &dims) {
  int64_t product = 1;
  llvm::erase_if(dims, [&](OpFoldResult extent) {
    std::optional<int64_t> constant = getConstantIntValue(extent);
    product *= constant.value_or(1);
    return constant.has_value();
  });
  return product;
}

/// True if both are one number, which two nodes may have computed each for
/// itself.
static bool isSameNumber(OpFoldResult x, OpFoldResult y, unsigned depth = 4) {
  if (sameExtent(x, y))
    return true;
  auto left = dyn_cast<Value>(x), right = dyn_cast<Value>(y);
  Operation *from = left ? left.getDefiningOp() : nullptr;
  Operation *other = right ? right.getDefiningOp() : nullptr;
  if (!from || !other || depth == 0 ||
      !isa_and_nonnull<arith::ArithDialect>(from->getDialect()))
    return false;
  auto areOperandsSame = [&](Value a, Value b) {
    return success(
        isSameNumber(getAsOpFoldResult(a), getAsOpFoldResult(b), depth - 1));
  };
  return OperationEquivalence::isEquivalentTo(
      from, other, areOperandsSame, /*markEquivalent=*/nullptr,
      OperationEquivalence::IgnoreLocations);
}

/// True if `value` is a product of extents of `source` and numbers that are not
/// 0, so that a tensor of which it is an extent is empty where it is 0.
static bool isProductOfExtents(OpFoldResult value,
                               ArrayRef<OpFoldResult> source) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant != 0;
  if (llvm::any_of(source,
                   [&](OpFoldResult x) { return isSameNumber(x, value); }))
    return true;
  auto product = cast<Value>(value).getDefiningOp<arith::MulIOp>();
  return product &&
         isProductOfExtents(getAsOpFoldResult(product.getLhs()), source) &&
         isProductOfExtents(getAsOpFoldResult(product.getRhs()), source);
}

OpFoldResult ReshapeShape::copiedIfZero(OpFoldResult value, int64_t k) {
  if (isSameNumber(value, source[k]))
    return value;
  Value isZero = compare(l, IP::eq, value, l.fold(0));
  if (isInferring || !isProductOfExtents(value, source)) {
    left[k] = select(l, isZero, l.fold(1), source[k]);
    factors[k] = select(l, isZero, l.fold(1), value);
    return select(l, isZero, source[k], value);
  }
  // 0 stands for no extent here, it is one: what is reshaped is empty. If the
  // input has another extent in this place the result has elements, which is
  // an error, or no elements for another extent that is 0, too. The second is
  // refused, so that the extent is `value` for all that follows, and not one
  // that equals no other.
  l.check(either(l, compare(l, IP::ne, value, l.fold(0)),
                 compare(l, IP::eq, source[k], l.fold(0))),
          "element " + Twine(k) +
              " of the shape is 0, which stands for an extent of {}: the input "
              "is empty",
          ValueRange{l.asIndex(source[k])});
  return value;
}

FailureOr<OpFoldResult> ReshapeShape::given(OpFoldResult value, int64_t k) {
  if (allowZero)
    return value;
  int64_t rank = source.size();
  std::optional<int64_t> constant = getConstantIntValue(value);
  if (constant && *constant != 0)
    return value;
  if (k < rank && !constant)
    return copiedIfZero(value, k);
  if (k < rank) {
    left[k] = factors[k] = l.fold(1);
    return source[k];
  }
  if (constant)
    return l.refuse("element " + Twine(k) +
                    " of the shape is 0, but the input has rank " +
                    Twine(rank));
  l.check(compare(l, IP::ne, value, l.fold(0)),
          "element " + Twine(k) +
              " of the shape is 0, but the input has rank " + Twine(rank));
  return value;
}

void ReshapeShape::cancel(Dims &ours, Dims &theirs) {
  for (auto it = theirs.begin(); it != theirs.end();) {
    auto match = llvm::find_if(
        ours, [&](OpFoldResult extent) { return isSameNumber(extent, *it); });
    if (match == ours.end()) {
      ++it;
      continue;
    }
    ours.erase(match);
    it = theirs.erase(it);
  }
  int64_t left = takeConstants(ours), right = takeConstants(theirs);
  if (int64_t common = std::gcd(left, right)) {
    left /= common;
    right /= common;
  }
  ours.push_back(l.fold(left));
  theirs.push_back(l.fold(right));
}

/// The number of elements of a shape that a model computes: the largest index
/// where it is larger still, which no tensor has. A product that wraps around
/// would let 4 elements be a tensor of 2^62 + 1 by 4.
static OpFoldResult countElements(NodeLowering &l,
                                  ArrayRef<OpFoldResult> dims) {
  OpFoldResult most = l.fold(std::numeric_limits<int64_t>::max());
  OpFoldResult count = l.fold(1);
  for (OpFoldResult extent : dims) {
    OpFoldResult limit = quotient(l, most, maxSigned(l, extent, l.fold(1)));
    count = select(l, compare(l, IP::ugt, count, limit), most,
                   l.mul(count, extent));
  }
  return count;
}

/// `dims` with 1 where one is 0.
static Dims leaveOutZeros(NodeLowering &l, Dims dims) {
  for (OpFoldResult &extent : dims)
    extent = maxSigned(l, extent, l.fold(1));
  return dims;
}

ReshapeShape::Rest ReshapeShape::inferExtent(const Dims &ours,
                                             const Dims &theirs) {
  OpFoldResult count = l.product(ours), known = countElements(l, theirs);
  std::optional<int64_t> constant = getConstantIntValue(known);
  Value fits = compare(l, IP::ne, known, l.fold(0));
  if (allowZero && (!constant || *constant == 0)) {
    // PyTorch writes the extent of a batch, which a run may find 0, beside -1.
    // ONNX leaves open what -1 is there; as in onnxruntime it is what it would
    // be for a batch that is not empty.
    Value isEmpty = compare(l, IP::eq, known, l.fold(0));
    count = select(l, isEmpty, l.product(leaveOutZeros(l, ours)), count);
    known =
        select(l, isEmpty, countElements(l, leaveOutZeros(l, theirs)), known);
    fits = either(l, fits, compare(l, IP::eq, l.product(source), l.fold(0)));
  }
  // Division by zero is kept out of the way; it does not fit.
  OpFoldResult divisor = maxSigned(l, known, l.fold(1));
  fits = both(l, fits,
              compare(l, IP::eq, remainder(l, count, divisor), l.fold(0)));
  return {fits, quotient(l, count, divisor)};
}

void ReshapeShape::resolveInferred(int64_t position) {
  Dims ours = left, theirs = factors, given = dims;
  theirs.erase(theirs.begin() + position);
  given.erase(given.begin() + position);
  cancel(ours, theirs);
  OpFoldResult count = l.product(ours), known = countElements(l, theirs);
  dims[position] = count;
  // Of an empty tensor the products say nothing of the groups of axes.
  isProven = !isConstantIntValue(count, 0);
  if (isConstantIntValue(known, 1))
    return;
  Rest rest = inferExtent(ours, theirs);
  l.check(
      rest.fits,
      "cannot reshape: {} elements are not divided evenly by the {} "
      "elements of the given dimensions",
      ValueRange{l.asIndex(l.product(source)), l.asIndex(l.product(given))});
  dims[position] = rest.extent;
  // A check that failed at compile time proves nothing.
  isProven &= getConstantIntValue(known) && !matchPattern(rest.fits, m_Zero());
}

/// Some run-time extents may turn out to be -1.
void ReshapeShape::resolveRunTime(const llvm::SmallBitVector &maybeInferred) {
  OpFoldResult inferred = l.fold(0);
  SmallVector<Value> isInferred(dims.size());
  for (unsigned k : maybeInferred.set_bits()) {
    isInferred[k] = compare(l, IP::eq, dims[k], l.fold(-1));
    inferred = l.add(inferred, select(l, isInferred[k], l.fold(1), l.fold(0)));
    dims[k] =
        requireNonNegative(l, select(l, isInferred[k], l.fold(1), dims[k]),
                           "element " + Twine(k) + " of the shape");
    factors[k] = select(l, isInferred[k], l.fold(1), factors[k]);
  }
  l.check(compare(l, IP::ule, inferred, l.fold(1)),
          "the shape holds -1 more than once");
  Rest rest = inferExtent(left, factors);
  l.check(either(l, compare(l, IP::eq, inferred, l.fold(0)), rest.fits),
          "cannot reshape: {} elements are not divided evenly by the {} "
          "elements of the given dimensions",
          ValueRange{l.asIndex(l.product(left)),
                     l.asIndex(countElements(l, factors))});
  for (unsigned k : maybeInferred.set_bits())
    dims[k] = select(l, isInferred[k], rest.extent, dims[k]);
}

void ReshapeShape::compareCounts() {
  Dims ours = source, theirs = dims;
  cancel(ours, theirs);
  OpFoldResult left = l.product(ours), right = l.product(theirs);
  if (sameExtent(left, right)) {
    isProven = !isConstantIntValue(left, 0);
    return;
  }
  OpFoldResult from = l.product(source), to = countElements(l, dims);
  l.check(compare(l, IP::eq, from, to),
          "cannot reshape {} elements to a shape of {} elements",
          ValueRange{l.asIndex(from), l.asIndex(to)});
}

LogicalResult ReshapeShape::resolve(Dims target) {
  std::optional<int64_t> inferred;
  llvm::SmallBitVector maybeInferred(target.size());
  dims = factors = target;
  left = source;
  isInferring = llvm::any_of(
      target, [](OpFoldResult extent) { return !isKnownNonNegative(extent); });
  for (auto [k, value] : llvm::enumerate(target)) {
    std::optional<int64_t> constant = getConstantIntValue(value);
    if (constant && *constant == -1) {
      if (inferred)
        return l.refuse("the shape holds -1 more than once");
      inferred = k;
      continue;
    }
    if (constant && *constant < 0)
      return l.refuse("element " + Twine(k) + " of the shape is " +
                      Twine(*constant));
    FailureOr<OpFoldResult> extent = given(value, k);
    if (failed(extent))
      return failure();
    dims[k] = *extent;
    if (!isKnownNonNegative(*extent))
      maybeInferred.set(k);
  }
  if (inferred) {
    for (unsigned k : maybeInferred.set_bits())
      requireNonNegative(l, dims[k], "element " + Twine(k) + " of the shape");
    resolveInferred(*inferred);
    return success();
  }
  if (maybeInferred.any())
    resolveRunTime(maybeInferred);
  compareCounts();
  return success();
}
