//===- TiledProduct.cpp - Products of matrices by tiles -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A block computes a tile of the result: again and again it brings a piece of
// the rows and one of the columns to shared memory, while the next pieces are
// on their way to registers, and multiplies them. In the end the sums go
// through shared memory to threads side by side, which do what the nest does
// with an element.

#include "DealNests.h"
#include "Products.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace loopc;

/// Elements between rows in shared memory that keep rows side by side in
/// different banks: of those that threads multiply, and words of fragments.
static constexpr int64_t kPadding = 4;
/// How the warps of a block lie over the tile where tensor cores multiply.
static constexpr int64_t kWarpRows = 2;
static constexpr int64_t kWarpColumns = kTileThreads / kWarp / kWarpRows;
/// Threads along each side of the tile where they multiply, and neighbours that
/// one of them has.
static constexpr int64_t kSide = 16;
static constexpr int64_t kRun = 4;

namespace {
/// One product of tensor cores.
struct Core {
  int64_t rows, columns, depth;
  /// Elements along the sum in one register.
  int64_t packed;
  int64_t wordBits;

  int64_t countLeft() const { return rows * depth / kWarp / packed; }
  int64_t countRight() const { return columns * depth / kWarp / packed; }
  int64_t countSums() const { return rows * columns / kWarp; }
};
} // namespace

static Core getCore(ProductUnit unit) {
  switch (unit) {
  case ProductUnit::Halves:
    return {16, 8, 16, 2, 32};
  case ProductUnit::Floats:
    return {16, 8, 8, 1, 32};
  case ProductUnit::Bytes:
    return {16, 8, 32, 4, 32};
  case ProductUnit::Doubles:
    return {8, 8, 4, 1, 64};
  case ProductUnit::Threads:
    break;
  }
  llvm_unreachable("threads have no core");
}

static int64_t countBytes(Type type) {
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

namespace {
/// A factor's part of a tile.
struct Side {
  const ProductFactor *factor;
  ArrayRef<scf::ForOp> loops;
  Value extent, first;
  int64_t size;
  Value memory;
  /// Elements that a thread reads at once.
  int64_t lanes = 1;
  /// Where this thread's elements lie in the tile; the first ones are at
  /// (`across`, `along`), others `stride` further, in the one direction or the
  /// other.
  Value across = {}, along = {};
  int64_t count = 0, stride = 0;
};

/// Sums of a thread that go to shared memory together, and where in it.
struct Round {
  SmallVector<Value> sums;
  SmallVector<std::pair<Value, Value>> places;
  /// The tile's row of a row in shared memory.
  std::function<Value(Value)> rowOf;
  int64_t rows;
};

class Emitter {
public:
  Emitter(ImplicitLocOpBuilder &b, const Product &product, ProductUnit unit,
          const TileShape &shape, const ProductExtents &extents, Value shared)
      : b(b), product(product), unit(unit), shape(shape), extents(extents),
        shared(shared) {}

  void emit();

private:
  void placeThread();
  void emitTile(Value number);
  void placeThreads(Side &side, bool wide);
  Value canBeWide();
  Value canBeWide(const ProductFactor &factor, ArrayRef<scf::ForOp> loops,
                  int64_t size);
  SmallVector<Value> sumUp(Side left, Side right, bool wide);
  int64_t countLanes(const ProductFactor &factor, int64_t size);
  Value loadOne(const Side &side, const IRMapping &mapping);
  SmallVector<Value> load(const Side &side, Value from);
  void store(const Side &side, ValueRange values);
  void storeWide(const Side &side, Value at, Value value);
  Value roundToTf32(Value value);
  Value pointerTo(const Side &side, Value at);
  SmallVector<Value> multiply(ValueRange sums, const Side &left,
                              const Side &right);
  SmallVector<Value> multiplyByThreads(ValueRange sums, const Side &left,
                                       const Side &right);
  SmallVector<Value> multiplyByCores(ValueRange sums, const Side &left,
                                     const Side &right);
  SmallVector<Value> loadFragments(const Side &side, Value base, int64_t from,
                                   int64_t registers, int64_t depth);
  SmallVector<Round> makeRounds(ValueRange sums);
  void finish(const Round &round, Value row, Value column);
  void finishElement(Value row, Value column, Value sum, IRMapping mapping);

  bool byThreads() const { return unit == ProductUnit::Threads; }
  int64_t sumsAcross() const { return shape.rows / kSide; }
  int64_t sumsAlong() const { return shape.columns / kSide; }
  int64_t coreRows() const {
    return shape.rows / kWarpRows / getCore(unit).rows;
  }
  int64_t coreColumns() const {
    return shape.columns / kWarpColumns / getCore(unit).columns;
  }
  int64_t countSums() const {
    return shape.rows * shape.columns / kTileThreads;
  }

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value add(Value one, Value other) {
    return b.createOrFold<arith::AddIOp>(one, other);
  }
  Value add(Value one, int64_t other) {
    return other ? add(one, index(other)) : one;
  }
  Value mul(Value one, int64_t other) {
    return b.createOrFold<arith::MulIOp>(one, index(other));
  }
  Value div(Value one, int64_t other) {
    return b.createOrFold<arith::DivUIOp>(one, index(other));
  }
  Value rem(Value one, int64_t other) {
    return b.createOrFold<arith::RemUIOp>(one, index(other));
  }
  Value isBelow(Value one, Value other) {
    return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, one, other);
  }
  Value zeroOf(Type type) {
    return arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(type)));
  }
  void barrier() { gpu::BarrierOp::create(b); }
  Value view(int64_t offset, ArrayRef<int64_t> sizes, Type element) {
    auto type =
        MemRefType::get(sizes, element, MemRefLayoutAttrInterface(),
                        cast<MemRefType>(shared.getType()).getMemorySpace());
    return memref::ViewOp::create(b, type, shared, index(offset), ValueRange());
  }

  ImplicitLocOpBuilder &b;
  const Product &product;
  ProductUnit unit;
  TileShape shape;
  const ProductExtents &extents;
  Value shared;
  Value thread;
  /// The thread's place among kSide times kSide, or its warp's and its own in
  /// the warp's fragments.
  Value threadRow, threadColumn, warpRow, warpColumn, lane;
  IRMapping batchMapping;
  /// Whether threads read several elements at once; null: never.
  Value isWide;
};
} // namespace

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// True where a side lies in shared memory as in the device's, so that the next
/// in a row are the next across: tensor cores of 16 bits turn it round when
/// they read.
static bool liesAcross(const ProductFactor &factor, ProductUnit unit) {
  return unit == ProductUnit::Threads ||
         (unit == ProductUnit::Halves && !factor.isAlongSum);
}

/// Shape of the memory for a side of `size` elements.
static SmallVector<int64_t> getSideShape(const ProductFactor &factor,
                                         ProductUnit unit,
                                         const TileShape &shape, int64_t size) {
  if (unit == ProductUnit::Threads)
    return {shape.depth, size + kPadding};
  int64_t padding = kPadding * getCore(unit).packed;
  if (liesAcross(factor, unit))
    return {shape.depth, size + padding};
  return {size, shape.depth + padding};
}

static int64_t getSideBytes(const ProductFactor &factor, ProductUnit unit,
                            const TileShape &shape, int64_t size) {
  SmallVector<int64_t> sides = getSideShape(factor, unit, shape, size);
  return llvm::alignTo(sides[0] * sides[1] * countBytes(factor.value.getType()),
                       16);
}

static int64_t getRoundRows(ProductUnit unit) {
  return unit == ProductUnit::Threads ? kSide : kWarpRows * getCore(unit).rows;
}

int64_t loopc::getTileBytes(const Product &product, ProductUnit unit,
                            const TileShape &shape) {
  int64_t pieces = getSideBytes(product.left, unit, shape, shape.rows) +
                   getSideBytes(product.right, unit, shape, shape.columns);
  int64_t sums = getRoundRows(unit) * (shape.columns + kPadding) *
                 countBytes(product.sumType());
  return std::max(pieces, sums);
}

//===----------------------------------------------------------------------===//
// From the device's memory
//===----------------------------------------------------------------------===//

/// Bytes that a thread reads at once at most.
static constexpr int64_t kWideBytes = 16;

/// Elements that a thread may read at once.
int64_t Emitter::countLanes(const ProductFactor &factor, int64_t size) {
  return std::min(kWideBytes / countBytes(factor.value.getType()),
                  size * shape.depth / kTileThreads);
}

/// Whether all that threads would read at once lies in one piece, at a multiple
/// of its size, and within the matrix or behind it.
Value Emitter::canBeWide(const ProductFactor &factor,
                         ArrayRef<scf::ForOp> loops, int64_t size) {
  int64_t lanes = countLanes(factor, size);
  int64_t bytes = countBytes(factor.value.getType());
  Value zero = index(0);
  auto isMultiple = [&](Value value, int64_t of) -> Value {
    return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                         rem(value, of), zero);
  };
  auto load = factor.dense;
  auto layout = memref::ExtractStridedMetadataOp::create(b, load.getMemref());
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(b, load.getMemref());
  address = add(address, mul(layout.getOffset(), bytes));
  Value length = factor.isAlongSum ? extents.depth
                                   : scf::ForOp(loops.back()).getUpperBound();
  Value all = isMultiple(length, lanes);
  SmallVector<OpFoldResult> strides = layout.getConstifiedMixedStrides();
  for (OpFoldResult stride : ArrayRef(strides).drop_back(factor.denseAxes)) {
    std::optional<int64_t> known = getConstantIntValue(stride);
    Value value = known ? index(*known) : cast<Value>(stride);
    all = b.createOrFold<arith::AndIOp>(all, isMultiple(value, lanes));
  }
  return b.createOrFold<arith::AndIOp>(all, isMultiple(address, lanes * bytes));
}

/// The same of both factors, as far as they lie densely; null where none does.
Value Emitter::canBeWide() {
  Value all;
  auto addSide = [&](const ProductFactor &factor, ArrayRef<scf::ForOp> loops,
                     int64_t size) {
    if (!factor.dense || countLanes(factor, size) == 1)
      return;
    Value can = canBeWide(factor, loops, size);
    all = all ? b.createOrFold<arith::AndIOp>(all, can) : can;
  };
  addSide(product.left, product.rows, shape.rows);
  addSide(product.right, product.columns, shape.columns);
  return all;
}

/// Deals the elements of a side to the threads; those side by side read what
/// lies side by side.
void Emitter::placeThreads(Side &side, bool wide) {
  const ProductFactor &factor = *side.factor;
  side.lanes = wide && factor.dense ? countLanes(factor, side.size) : 1;
  side.count = side.size * shape.depth / kTileThreads / side.lanes;
  int64_t fast = (factor.isAlongSum ? shape.depth : side.size) / side.lanes;
  side.stride = kTileThreads / fast;
  Value inner = mul(rem(thread, fast), side.lanes);
  Value outer = div(thread, fast);
  side.across = factor.isAlongSum ? outer : inner;
  side.along = factor.isAlongSum ? inner : outer;
}

/// What a thread reads at once, where `mapping` says.
Value Emitter::loadOne(const Side &side, const IRMapping &given) {
  IRMapping mapping = given;
  const ProductFactor &factor = *side.factor;
  Value value;
  for (Operation *op : factor.slice) {
    if (side.lanes == 1 || op != factor.dense) {
      b.clone(*op, mapping);
      continue;
    }
    auto load = cast<memref::LoadOp>(op);
    SmallVector<Value> place;
    for (Value at : load.getIndices())
      place.push_back(mapping.lookupOrDefault(at));
    int64_t bytes = side.lanes * countBytes(factor.value.getType());
    value = vector::LoadOp::create(
        b, VectorType::get({side.lanes}, factor.value.getType()),
        load.getMemref(), place, /*nontemporal=*/false,
        llvm::MaybeAlign(bytes));
  }
  return value ? value : mapping.lookupOrDefault(factor.value);
}

/// This thread's elements of the piece that begins at `from` along the sum.
/// Behind the ends of the matrix it is the last row once more, which makes sums
/// that nobody wants, and behind the sum's end zeros.
SmallVector<Value> Emitter::load(const Side &side, Value from) {
  const ProductFactor &factor = *side.factor;
  auto lastOf = [&](Value extent, bool isDense) {
    return b.createOrFold<arith::SubIOp>(extent,
                                         index(isDense ? side.lanes : 1));
  };
  Value last = lastOf(side.extent, !factor.isAlongSum);
  Value lastAlong = lastOf(extents.depth, factor.isAlongSum);
  SmallVector<Value> values;
  for (int64_t k = 0; k < side.count; ++k) {
    Value across = side.across, along = add(from, side.along);
    if (factor.isAlongSum)
      across = add(across, k * side.stride);
    else
      along = add(along, k * side.stride);
    Value isInside = isBelow(along, extents.depth);
    across = b.createOrFold<arith::MinUIOp>(add(side.first, across), last);
    along = b.createOrFold<arith::MinUIOp>(along, lastAlong);
    IRMapping mapping = batchMapping;
    mapIterations(b, side.loops, across, mapping);
    mapIterations(b, product.sums, along, mapping);
    Value value = loadOne(side, mapping);
    values.push_back(
        arith::SelectOp::create(b, isInside, value, zeroOf(value.getType())));
  }
  return values;
}

/// Tensor cores would cut the bits off that they have no room for.
Value Emitter::roundToTf32(Value value) {
  auto nearest =
      NVVM::FPRoundingModeAttr::get(b.getContext(), NVVM::FPRoundingMode::RNA);
  value = NVVM::ConvertFloatToTF32Op::create(b, b.getI32Type(), value, nearest);
  return arith::BitcastOp::create(b, b.getF32Type(), value);
}

void Emitter::store(const Side &side, ValueRange values) {
  const ProductFactor &factor = *side.factor;
  bool isAcross = liesAcross(factor, unit);
  for (auto [k, value] : llvm::enumerate(values)) {
    Value across = side.across, along = side.along;
    (factor.isAlongSum ? across : along) =
        add(factor.isAlongSum ? across : along, k * side.stride);
    bool isDense = isAcross != factor.isAlongSum;
    if (side.lanes > 1 && isDense && unit != ProductUnit::Floats) {
      SmallVector<Value> place{across, along};
      if (isAcross)
        std::swap(place[0], place[1]);
      int64_t row = cast<MemRefType>(side.memory.getType()).getDimSize(1);
      storeWide(side, add(mul(place[0], row), place[1]), value);
      continue;
    }
    for (int64_t lane = 0; lane < side.lanes; ++lane) {
      Value element = value;
      if (side.lanes > 1)
        element = vector::ExtractOp::create(b, value, lane);
      if (unit == ProductUnit::Floats)
        element = roundToTf32(element);
      SmallVector<Value> place{across, along};
      Value &dense = place[factor.isAlongSum ? 1 : 0];
      dense = add(dense, lane);
      if (isAcross)
        std::swap(place[0], place[1]);
      memref::StoreOp::create(b, element, side.memory, place);
    }
  }
}

/// Address of element `at` of a side's memory.
Value Emitter::pointerTo(const Side &side, Value at) {
  int64_t bytes = countBytes(side.factor->value.getType());
  Value first = memref::ExtractAlignedPointerAsIndexOp::create(b, side.memory);
  Value address =
      arith::IndexCastOp::create(b, b.getI64Type(), add(first, mul(at, bytes)));
  auto pointer = LLVM::LLVMPointerType::get(
      b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
  return LLVM::IntToPtrOp::create(b, pointer, address);
}

void Emitter::storeWide(const Side &side, Value at, Value value) {
  int64_t bytes = side.lanes * countBytes(side.factor->value.getType());
  LLVM::StoreOp::create(b, value, pointerTo(side, at),
                        static_cast<unsigned>(bytes));
}

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

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// The sums of a thread in parts that fit into shared memory.
SmallVector<Round> Emitter::makeRounds(ValueRange sums) {
  SmallVector<Round> rounds;
  if (byThreads()) {
    for (int64_t i = 0; i < sumsAcross(); ++i) {
      Round round{{}, {}, {}, kSide};
      for (int64_t j = 0; j < sumsAlong(); ++j) {
        round.sums.push_back(sums[i * sumsAlong() + j]);
        round.places.push_back(
            {threadRow,
             add(mul(threadColumn, kRun), j % kRun + j / kRun * kSide * kRun)});
      }
      round.rowOf = [this, i](Value row) {
        return add(mul(row, kRun), i % kRun + i / kRun * kSide * kRun);
      };
      rounds.push_back(std::move(round));
    }
    return rounds;
  }
  Core core = getCore(unit);
  for (int64_t i = 0; i < coreRows(); ++i) {
    Round round{{}, {}, {}, kWarpRows * core.rows};
    for (int64_t j = 0; j < coreColumns(); ++j)
      for (int64_t k = 0; k < core.countSums(); ++k) {
        size_t at = (i * coreColumns() + j) * core.countSums() + k;
        round.sums.push_back(sums[at]);
        Value row = add(add(mul(warpRow, core.rows), div(lane, 4)), k / 2 * 8);
        Value column = add(mul(warpColumn, coreColumns() * core.columns),
                           j * core.columns + k % 2);
        round.places.push_back({row, add(column, mul(rem(lane, 4), 2))});
      }
    round.rowOf = [this, i, core](Value row) {
      Value inWarp = add(rem(row, core.rows), i * core.rows);
      return add(mul(div(row, core.rows), coreRows() * core.rows), inWarp);
    };
    rounds.push_back(std::move(round));
  }
  return rounds;
}

/// What the nest does with the element at (`row`, `column`).
void Emitter::finishElement(Value row, Value column, Value sum,
                            IRMapping mapping) {
  mapIterations(b, product.rows, row, mapping);
  mapIterations(b, product.columns, column, mapping);
  for (auto [k, loop] : llvm::enumerate(product.nest))
    for (Operation &op : scf::ForOp(loop).getBody()->without_terminator()) {
      if (k + 1 < product.nest.size() && &op == product.nest[k + 1])
        continue;
      if (&op != product.sums.front()) {
        b.clone(op, mapping);
        continue;
      }
      Value init = mapping.lookupOrDefault(
          scf::ForOp(product.sums.front()).getInitArgs().front());
      Operation *whole = b.clone(*product.add);
      whole->setOperands({init, sum});
      mapping.map(op.getResult(0), whole->getResult(0));
    }
}

void Emitter::finish(const Round &round, Value row, Value column) {
  Value memory =
      view(0, {round.rows, shape.columns + kPadding}, product.sumType());
  barrier();
  for (auto [sum, place] : llvm::zip_equal(round.sums, round.places))
    memref::StoreOp::create(b, sum, memory,
                            ValueRange{place.first, place.second});
  barrier();
  auto loop = scf::ForOp::create(b, thread, index(round.rows * shape.columns),
                                 index(kTileThreads));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value rowInRound = div(loop.getInductionVar(), shape.columns);
  Value columnInTile = rem(loop.getInductionVar(), shape.columns);
  row = add(row, round.rowOf(rowInRound));
  column = add(column, columnInTile);
  Value isInside = b.createOrFold<arith::AndIOp>(
      isBelow(row, extents.rows), isBelow(column, extents.columns));
  auto branch = scf::IfOp::create(b, isInside, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  Value sum =
      memref::LoadOp::create(b, memory, ValueRange{rowInRound, columnInTile});
  finishElement(row, column, sum, batchMapping);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void Emitter::placeThread() {
  thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  if (byThreads()) {
    threadRow = div(thread, kSide);
    threadColumn = rem(thread, kSide);
    return;
  }
  lane = rem(thread, kWarp);
  Value warp = div(thread, kWarp);
  warpRow = div(warp, kWarpColumns);
  warpColumn = rem(warp, kWarpColumns);
}

void Emitter::emitTile(Value number) {
  auto ceilDiv = [&](Value value, int64_t by) {
    return b.createOrFold<arith::CeilDivUIOp>(value, index(by));
  };
  auto split = [&](Value by) {
    Value low = b.createOrFold<arith::RemUIOp>(number, by);
    number = b.createOrFold<arith::DivUIOp>(number, by);
    return low;
  };
  Value column =
      mul(split(ceilDiv(extents.columns, shape.columns)), shape.columns);
  Value row = mul(split(ceilDiv(extents.rows, shape.rows)), shape.rows);
  mapIterations(b, product.batch, number, batchMapping);

  auto memoryOf = [&](const ProductFactor &factor, int64_t offset,
                      int64_t size) {
    return view(offset, getSideShape(factor, unit, shape, size),
                factor.value.getType());
  };
  int64_t behind = getSideBytes(product.left, unit, shape, shape.rows);
  Side left{&product.left, product.rows, extents.rows,
            row,           shape.rows,   memoryOf(product.left, 0, shape.rows)};
  Side right{&product.right,  product.columns,
             extents.columns, column,
             shape.columns,   memoryOf(product.right, behind, shape.columns)};
  SmallVector<Value> sums;
  std::optional<int64_t> known =
      isWide ? getConstantIntValue(isWide) : std::optional<int64_t>(0);
  if (known) {
    sums = sumUp(left, right, *known != 0);
  } else {
    SmallVector<Type> types(countSums(), product.sumType());
    auto branch = scf::IfOp::create(b, types, isWide, /*withElseRegion=*/true);
    for (bool wide : {true, false}) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(wide ? branch.thenBlock()
                                      : branch.elseBlock());
      scf::YieldOp::create(b, sumUp(left, right, wide));
    }
    llvm::append_range(sums, branch.getResults());
  }
  for (const Round &round : makeRounds(sums))
    finish(round, row, column);
}

/// The sums of a tile, with as much as possible read at once or element by
/// element.
SmallVector<Value> Emitter::sumUp(Side left, Side right, bool wide) {
  placeThreads(left, wide);
  placeThreads(right, wide);
  SmallVector<Value> carried(countSums(), zeroOf(product.sumType()));
  llvm::append_range(carried, load(left, index(0)));
  llvm::append_range(carried, load(right, index(0)));
  auto loop = scf::ForOp::create(b, index(0), extents.depth, index(shape.depth),
                                 carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  ValueRange values = loop.getRegionIterArgs();
  barrier();
  store(left, values.slice(countSums(), left.count));
  store(right, values.slice(countSums() + left.count, right.count));
  barrier();
  Value next = add(loop.getInductionVar(), shape.depth);
  SmallVector<Value> ofLeft = load(left, next), ofRight = load(right, next);
  SmallVector<Value> yielded =
      multiply(values.take_front(countSums()), left, right);
  llvm::append_range(yielded, ofLeft);
  llvm::append_range(yielded, ofRight);
  scf::YieldOp::create(b, yielded);
  return SmallVector<Value>(loop.getResults().take_front(countSums()));
}

void Emitter::emit() {
  placeThread();
  isWide = canBeWide();
  Value block = gpu::BlockIdOp::create(b, gpu::Dimension::x);
  Value blocks = gpu::GridDimOp::create(b, gpu::Dimension::x);
  auto loop =
      scf::ForOp::create(b, block, extents.countTiles(b, shape), blocks);
  loop->setAttr(kTiledAttrName, b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  emitTile(loop.getInductionVar());
}

void loopc::emitTiledProduct(ImplicitLocOpBuilder &b, const Product &product,
                             ProductUnit unit, const TileShape &shape,
                             const ProductExtents &extents, Value shared) {
  Emitter(b, product, unit, shape, extents, shared).emit();
}
