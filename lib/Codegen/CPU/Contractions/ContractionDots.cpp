//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sums of products of small integers, several of which an instruction adds to
// a sum of 32 bits: what is read as vectors has groups of neighbours along the
// sum behind one another (cpu-pack-contractions).

#include "ContractionEmitter.h"
#include "Rows/VectorElements.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace loopc;

//===----------------------------------------------------------------------===//
// The sum
//===----------------------------------------------------------------------===//

SmallVector<Value> ContractionEmitter::emitDots(const Tile &tile,
                                                ValueRange sums) {
  if (!plan.dot->block)
    return emitGroups(tile, sums);
  // Integers are added up to floats when they are all there.
  ContractionBody before(*this, tile, tile.masks);
  SmallVector<Value> blocks, results;
  for (int64_t i : llvm::seq(tile.rows))
    for (int64_t j : llvm::seq(tile.columns))
      blocks.push_back(before.blockStart(i, j));
  blocks = emitGroups(tile, blocks);
  ContractionBody behind(*this, tile, tile.masks);
  for (int64_t i : llvm::seq(tile.rows))
    for (int64_t j : llvm::seq(tile.columns)) {
      size_t k = results.size();
      results.push_back(behind.addBlock(sums[k], blocks[k], i, j));
    }
  return results;
}

/// Groups that are written out one behind the other.
static int64_t countGroups(const ContractionPlan &plan) {
  constexpr int64_t kMaxSums = 4;
  if (!plan.dot->block)
    return 1;
  int64_t groups = plan.extents[plan.dot->sum.dim] / plan.dot->sum.size;
  int64_t count = kMaxSums;
  while (count > 1 && groups % count != 0)
    count /= 2;
  return count;
}

SmallVector<Value> ContractionEmitter::emitGroups(const Tile &tile,
                                                  ValueRange sums) {
  PanelGroup group = plan.dot->sum;
  Value from = blockBegin ? blockBegin : index(0);
  Value to = blockEnd ? blockEnd : extent(group.dim);
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  int64_t step = group.size * countGroups(plan);
  Value whole =
      apply(d0 + (d1 - d0).floorDiv(group.size) * group.size, {from, to});
  auto wholeGroups = [&](ValueRange inner) {
    SmallVector<Value> results(inner);
    Value begin = at[group.dim];
    for (int64_t k = 0; k < step; k += group.size) {
      at[group.dim] = apply(d0 + k, {begin});
      ContractionBody body(*this, tile, tile.masks);
      results = body.dots(results, /*isWhole=*/true);
    }
    at[group.dim] = begin;
    return results;
  };
  SmallVector<Value> results =
      sumOver(group.dim, from, whole, step, sums, wholeGroups);
  return sumOver(group.dim, whole, to, group.size, results,
                 [&](ValueRange inner) {
                   ContractionBody body(*this, tile, tile.masks);
                   return body.dots(inner, /*isWhole=*/false);
                 });
}

Value ContractionBody::blockStart(int64_t i, int64_t j) {
  Type i32 = v.b.getI32Type();
  auto type = VectorType::get(tile.lanes, i32);
  Value start = v.plan.dot->start;
  if (!start)
    return arith::ConstantOp::create(v.b, v.b.getZeroAttr(type));
  Value value = get(start, i, j, 0);
  return isa<VectorType>(value.getType()) ? value : widened(value);
}

Value ContractionBody::addBlock(Value current, Value block, int64_t i,
                                int64_t j) {
  values[keyOf(v.plan.dot->block, i, j, 0)] = block;
  return next(current, i, j, 0);
}

SmallVector<Value> ContractionBody::dots(ValueRange sums, bool isWhole) {
  SmallVector<Value> results(sums);
  SmallVector<Value> vectors;
  for (int64_t j : llvm::seq(tile.columns))
    vectors.push_back(dotVectors(j));
  for (const DotProduct::Term &term : v.plan.dot->terms) {
    Extent elements = extentOf(*term.elements);
    SmallVector<Value> xs, ws;
    for (int64_t i : llvm::seq(tile.rows))
      xs.push_back(i && !elements.rows
                       ? xs[0]
                       : dotElements(*term.elements, i, isWhole));
    for (Value vector : vectors)
      ws.push_back(dotNumbers(vector, term));
    for (auto [k, sum] : llvm::enumerate(results))
      sum = dot(sum, xs[k / tile.columns], ws[k % tile.columns]);
  }
  return results;
}

Value ContractionBody::dotNumbers(Value vector, const DotProduct::Term &term) {
  if (term.bits == 0)
    return vector;
  auto type = cast<VectorType>(vector.getType());
  auto number = [&](int64_t value) -> Value {
    auto element = v.b.getIntegerAttr(
        type.getElementType(), APInt(type.getElementTypeBitWidth(), value));
    return arith::ConstantOp::create(v.b,
                                     DenseElementsAttr::get(type, element));
  };
  if (term.firstBit)
    vector = arith::ShRUIOp::create(v.b, vector, number(term.firstBit));
  if (term.firstBit + term.bits == type.getElementTypeBitWidth())
    return vector;
  return arith::AndIOp::create(v.b, vector,
                               number((int64_t(1) << term.bits) - 1));
}

/// The result of the instruction `name` for vectors of x86.
static Value callX86(ImplicitLocOpBuilder &b, const Twine &name,
                     ValueRange arguments, Type type) {
  return LLVM::CallIntrinsicOp::create(
             b, type, b.getStringAttr("llvm.x86." + name), arguments)
      .getResult(0);
}

static int64_t bitsOf(Value vector) {
  auto type = cast<VectorType>(vector.getType());
  return type.getNumElements() * type.getElementTypeBitWidth();
}

/// Products of 16 bits, of which each two neighbours are added in 32.
static Value multiplyPairs(ImplicitLocOpBuilder &b, Value x, Value w,
                           Type type) {
  int64_t bits = bitsOf(x);
  StringRef name = bits == 512   ? "avx512.pmaddw.d.512"
                   : bits == 256 ? "avx2.pmadd.wd"
                                 : "sse2.pmadd.wd";
  return callX86(b, name, {x, w}, type);
}

/// Products of `unsignedBytes` of at most 7 bits and others, of which each two
/// neighbours are added in 16 bits.
static Value multiplyBytes(ImplicitLocOpBuilder &b, Value unsignedBytes,
                           Value signedBytes, Type type) {
  int64_t bits = bitsOf(signedBytes);
  StringRef name = bits == 512   ? "avx512.pmaddubs.w.512"
                   : bits == 256 ? "avx2.pmadd.ub.sw"
                                 : "ssse3.pmadd.ub.sw.128";
  return callX86(b, name, {unsignedBytes, signedBytes}, type);
}

/// Each second element of `vector`, extended to the bits of two.
static Value extendHalf(ImplicitLocOpBuilder &b, Value vector, bool isOdd,
                        bool isUnsigned) {
  auto type = cast<VectorType>(vector.getType());
  int64_t width = type.getElementTypeBitWidth();
  auto wide =
      VectorType::get(type.getNumElements() / 2, b.getIntegerType(2 * width));
  vector = vector::BitCastOp::create(b, wide, vector);
  Value count = arith::ConstantOp::create(
      b, DenseElementsAttr::get(
             wide, b.getIntegerAttr(wide.getElementType(), width)));
  if (!isOdd)
    vector = arith::ShLIOp::create(b, vector, count);
  return isUnsigned ? arith::ShRUIOp::create(b, vector, count).getResult()
                    : arith::ShRSIOp::create(b, vector, count).getResult();
}

Value ContractionBody::dot(Value sum, Value x, Value w) {
  using Method = DotProduct::Method;
  ImplicitLocOpBuilder &b = v.b;
  const DotProduct &dot = *v.plan.dot;
  Type type = sum.getType();
  auto words = VectorType::get(2 * tile.lanes, b.getI16Type());
  if (dot.sum.size == 2)
    return arith::AddIOp::create(b, sum, multiplyPairs(b, x, w, type));
  // The unsigned one first.
  if (dot.areVectorsUnsigned)
    std::swap(x, w);
  if (dot.method == Method::Groups)
    return callX86(b, "avx512.vpdpbusd." + Twine(32 * tile.lanes), {sum, x, w},
                   type);
  if (dot.method == Method::Pairs) {
    Value one = arith::ConstantOp::create(
        b, DenseElementsAttr::get(words, b.getI16IntegerAttr(1)));
    Value pairs = multiplyBytes(b, x, w, words);
    return arith::AddIOp::create(b, sum, multiplyPairs(b, pairs, one, type));
  }
  for (bool isOdd : {false, true}) {
    Value left = extendHalf(b, x, isOdd, /*isUnsigned=*/true);
    Value right = extendHalf(b, w, isOdd, /*isUnsigned=*/false);
    if (dot.method == Method::Words) {
      sum = arith::AddIOp::create(b, sum, multiplyPairs(b, left, right, type));
      continue;
    }
    // A product of two bytes fits into 16 bits.
    Value product = arith::MulIOp::create(b, left, right);
    for (bool isUpper : {false, true})
      sum = arith::AddIOp::create(
          b, sum, extendHalf(b, product, isUpper, /*isUnsigned=*/false));
  }
  return sum;
}

Value ContractionBody::dotElements(OpOperand &operand, int64_t i,
                                   bool isWhole) {
  ImplicitLocOpBuilder &b = v.b;
  auto [dim, size] = v.plan.dot->sum;
  Value buffer = operand.get();
  AffineMap map = v.op.getMatchingIndexingMap(&operand);
  Type element = getElementTypeOrSelf(buffer), i32 = b.getI32Type();
  auto type = VectorType::get(size, element);
  auto asNumber = [&](Value vector) -> Value {
    vector = vector::BitCastOp::create(b, VectorType::get(1, i32), vector);
    return vector::ExtractOp::create(b, vector, int64_t(0));
  };
  SmallVector<Value> at = indices(map, i, 0, 0);
  Value number;
  if (isWhole) {
    number = asNumber(vector::LoadOp::create(b, type, buffer, at));
  } else if (!v.isDynamic(dim) && v.plan.extents[dim] >= size) {
    // The last whole group less what was in the one before.
    int64_t known = v.plan.extents[dim] % size;
    at.back() = v.index(v.plan.extents[dim] - size);
    number = asNumber(vector::LoadOp::create(b, type, buffer, at));
    int64_t bits = (size - known) * (32 / size);
    number = arith::ShRUIOp::create(b, number,
                                    arith::ConstantIntOp::create(b, i32, bits));
  } else {
    // Behind the last element it is repeated: panels have zeros there.
    AffineExpr d0 = b.getAffineDimExpr(0);
    Value first = at.back(), last = v.apply(d0 - 1, v.extent(dim));
    Value vector = arith::ConstantOp::create(b, b.getZeroAttr(type));
    for (int64_t k : llvm::seq(size)) {
      at.back() = arith::MinSIOp::create(b, v.apply(d0 + k, first), last);
      vector = vector::InsertOp::create(
          b, memref::LoadOp::create(b, buffer, at), vector, k);
    }
    number = asNumber(vector);
  }
  Value wide =
      vector::BroadcastOp::create(b, VectorType::get(tile.lanes, i32), number);
  return vector::BitCastOp::create(
      b, VectorType::get(tile.lanes * size, element), wide);
}

Value ContractionBody::dotVectors(int64_t j) {
  ImplicitLocOpBuilder &b = v.b;
  Value buffer = v.plan.dot->vectors->get();
  AffineMap map = v.op.getMatchingIndexingMap(v.plan.dot->vectors);
  SmallVector<Value> at = indices(map, 0, j, 0);
  // A tile may begin in the last panel and go on behind it: what it reads there
  // is not stored.
  bool isMasked = !masks.empty() && masks[j];
  if (isMasked && j * tile.lanes >= v.plan.panels->width)
    for (auto [axis, expr] : llvm::enumerate(map.getResults().drop_back(2)))
      if (expr.isFunctionOfDim(v.laneDim)) {
        AffineExpr d0 = b.getAffineDimExpr(0);
        Value count = b.createOrFold<memref::DimOp>(buffer, int64_t(axis));
        at[axis] = arith::MinSIOp::create(b, at[axis], v.apply(d0 - 1, count));
      }
  // Groups of a row are one behind the other.
  at.pop_back();
  int64_t size = v.plan.dot->sum.size;
  at.back() = v.apply(b.getAffineDimExpr(0) * size, at.back());
  auto type = VectorType::get(tile.lanes * size, getElementTypeOrSelf(buffer));
  return vector::LoadOp::create(b, type, v.dotPanels, at);
}
