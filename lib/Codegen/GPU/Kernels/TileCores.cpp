//===- TileCores.cpp - What multiplies tiles ------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Pieces of both factors are in shared memory: threads or tensor cores multiply
// them.

#include "ProductTiles.h"
#include "TileEmitter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::tiles;

//===----------------------------------------------------------------------===//
// Threads multiply
//===----------------------------------------------------------------------===//

SmallVector<Value> Emitter::multiplyByThreads(ValueRange sums, const Side &left,
                                              const Side &right) {
  auto loop =
      scf::ForOp::create(b, index(0), index(shape.depth), index(1), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  auto read = [&](const Side &side, Value place, int64_t count) {
    SmallVector<Value> values;
    for (int64_t k = 0; k < count; ++k) {
      Value at = add(mul(place, kRun), k % kRun + k / kRun * kSide * kRun);
      Value value = memref::LoadOp::create(
          b, side.memory, ValueRange{loop.getInductionVar(), at});
      if (Operation *widen = side.factor->widen) {
        IRMapping mapping;
        mapping.map(side.factor->value, value);
        value = b.clone(*widen, mapping)->getResult(0);
      }
      values.push_back(value);
    }
    return values;
  };
  SmallVector<Value> ofLeft = read(left, threadRow, sumsAcross());
  SmallVector<Value> ofRight = read(right, threadColumn, sumsAlong());
  SmallVector<Value> next;
  for (auto [i, one] : llvm::enumerate(ofLeft))
    for (auto [j, other] : llvm::enumerate(ofRight))
      next.push_back(product.accumulate(
          b, one, other, loop.getRegionIterArg(i * ofRight.size() + j)));
  scf::YieldOp::create(b, next);
  return SmallVector<Value>(loop.getResults());
}

//===----------------------------------------------------------------------===//
// Tensor cores multiply
//===----------------------------------------------------------------------===//

/// Registers of fragments that begin in row `base`: `registers` of the rows, 8
/// further each, at a word of the sum each, 4 further when these are through.
/// In a fragment a lane has row lane / 4 and word lane % 4.
SmallVector<Value> Emitter::loadFragments(const Side &side, Value base,
                                          int64_t from, int64_t rows,
                                          int64_t words) {
  constexpr int64_t kRows = 8, kWords = 4;
  Core core = getCore(unit);
  SmallVector<Value> values;
  if (core.wordBits == 64) {
    for (int64_t word = 0; word < words; ++word)
      for (int64_t row = 0; row < rows; ++row)
        values.push_back(memref::LoadOp::create(
            b, side.memory,
            ValueRange{add(add(base, row * kRows), div(lane, kWords)),
                       add(rem(lane, kWords), from + word * kWords)}));
    return values;
  }
  // Eight lanes give the addresses of eight pieces of each register: rows, or
  // what lies across them, which the cores turn round.
  int64_t count = rows * words;
  bool isTurned = liesAcross(*side.factor, unit);
  Value piece = rem(lane, kRows), matrix = div(lane, kRows);
  Value row = add(base, mul(rem(matrix, rows), kRows));
  Value word = add(mul(rem(div(matrix, rows), words), kWords), from);
  Value along = mul(word, core.packed);
  (isTurned ? along : row) = add(isTurned ? along : row, piece);
  int64_t length = cast<MemRefType>(side.memory.getType()).getDimSize(1);
  Value address = pointerTo(side, isTurned ? add(mul(along, length), row)
                                           : add(mul(row, length), along));
  Type i32 = b.getI32Type();
  Type type = count == 1 ? i32
                         : Type(LLVM::LLVMStructType::getLiteral(
                               b.getContext(), SmallVector<Type>(count, i32)));
  auto shapeAttr = NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8);
  Value loaded = NVVM::LdMatrixOp::create(
      b, type, address, static_cast<uint32_t>(count),
      isTurned ? NVVM::MMALayout::col : NVVM::MMALayout::row, shapeAttr,
      NVVM::LdStMatrixEltType::B16);
  for (int64_t k = 0; k < count; ++k)
    values.push_back(count == 1 ? loaded
                                : LLVM::ExtractValueOp::create(
                                      b, loaded, ArrayRef<int64_t>{k}));
  return values;
}

/// PTX's name of what is multiplied.
static NVVM::MMATypes getCoreType(const ProductFactor &factor) {
  Type type = factor.value.getType();
  if (type.isF16())
    return NVVM::MMATypes::f16;
  if (type.isBF16())
    return NVVM::MMATypes::bf16;
  if (type.isF32())
    return NVVM::MMATypes::tf32;
  if (type.isF64())
    return NVVM::MMATypes::f64;
  return isa<arith::ExtUIOp>(factor.widen) ? NVVM::MMATypes::u8
                                           : NVVM::MMATypes::s8;
}

SmallVector<Value> Emitter::multiplyByCores(ValueRange sums, const Side &left,
                                            const Side &right) {
  Core core = getCore(unit);
  auto prepare = [&](Value word, const Side &side) -> Value {
    // What threads put there was rounded before.
    if (unit == ProductUnit::Floats && side.isCopied)
      return convertToTf32(b, LLVM::BitcastOp::create(b, b.getF32Type(), word));
    if (side.factor->value.getType().isF16())
      return LLVM::BitcastOp::create(b, VectorType::get({2}, b.getF16Type()),
                                     word);
    return word;
  };
  SmallVector<Value> next(sums);
  Type result = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(core.countSums(), product.sumType()));
  int64_t wordsOfCore = core.depth / core.packed;
  for (int64_t from = 0; from < shape.depth / core.packed;
       from += wordsOfCore) {
    SmallVector<SmallVector<Value>> ofLeft, ofRight;
    auto read = [&](const Side &side, Value base, int64_t count, int64_t rows,
                    SmallVectorImpl<SmallVector<Value>> &fragments) {
      for (int64_t k = 0; k < count; ++k) {
        SmallVector<Value> words = loadFragments(
            side, add(base, k * rows), from, rows / 8, wordsOfCore / 4);
        for (Value &word : words)
          word = prepare(word, side);
        fragments.push_back(words);
      }
    };
    read(left, mul(warpRow, coreRows() * core.rows), coreRows(), core.rows,
         ofLeft);
    read(right, mul(warpColumn, coreColumns() * core.columns), coreColumns(),
         core.columns, ofRight);
    for (auto [i, rows] : llvm::enumerate(ofLeft))
      for (auto [j, columns] : llvm::enumerate(ofRight)) {
        size_t at = (i * ofRight.size() + j) * core.countSums();
        std::optional<NVVM::MMAIntOverflow> overflow;
        if (unit == ProductUnit::Bytes)
          overflow = NVVM::MMAIntOverflow::wrapped;
        Value made = NVVM::MmaOp::create(
            b, result, rows, columns,
            ArrayRef<Value>(next).slice(at, core.countSums()),
            ArrayRef<int64_t>{core.rows, core.columns, core.depth},
            std::nullopt, overflow,
            std::array<NVVM::MMATypes, 2>{getCoreType(*left.factor),
                                          getCoreType(*right.factor)},
            std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                           NVVM::MMALayout::col});
        for (int64_t k = 0; k < core.countSums(); ++k)
          next[at + k] =
              LLVM::ExtractValueOp::create(b, made, ArrayRef<int64_t>{k});
      }
  }
  return next;
}

SmallVector<Value> Emitter::multiply(ValueRange sums, const Side &left,
                                     const Side &right) {
  return byThreads() ? multiplyByThreads(sums, left, right)
                     : multiplyByCores(sums, left, right);
}
