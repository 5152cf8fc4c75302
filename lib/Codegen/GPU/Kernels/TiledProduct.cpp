//===- TiledProduct.cpp - Products of matrices by tiles -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A block computes a tile of the result: again and again it brings a piece of
// the rows and one of the columns to shared memory, while the next pieces are
// on their way, and multiplies them. From sm_80 on pieces that lie in the
// device's memory as they shall lie in the block's are copied there by the chip
// itself, to a second place beside that of the pieces that are multiplied; all
// others go through registers. In the end the sums go through shared memory to
// threads side by side, which do what the nest does with an element.

#include "ProductTiles.h"
#include "TileEmitter.h"
#include "loopc/Codegen/GPU/Regions/DeviceCode.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::tiles;

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Shape of the memory for a side of `size` elements.
static SmallVector<int64_t> getSideShape(const ProductFactor &factor,
                                         ProductUnit unit,
                                         const ProductTile &shape,
                                         int64_t size) {
  if (unit == ProductUnit::Threads)
    return {shape.depth, size + kPadding};
  int64_t padding = kPadding * getCore(unit).packed;
  if (liesAcross(factor, unit))
    return {shape.depth, size + padding};
  return {size, shape.depth + padding};
}

static int64_t getSideBytes(const ProductFactor &factor, ProductUnit unit,
                            const ProductTile &shape, int64_t size) {
  SmallVector<int64_t> sides = getSideShape(factor, unit, shape, size);
  return llvm::alignTo(sides[0] * sides[1] * countBytes(factor.value.getType()),
                       16);
}

static int64_t getRoundRows(ProductUnit unit) {
  return unit == ProductUnit::Threads ? kSide : kWarpRows * getCore(unit).rows;
}

/// Bytes that a thread reads at once at most.
static constexpr int64_t kWideBytes = 16;

/// Elements that a thread may read at once.
static int64_t countLanes(const ProductFactor &factor, const ProductTile &shape,
                          int64_t size) {
  return std::min(kWideBytes / countBytes(factor.value.getType()),
                  size * shape.depth / kTileThreads);
}

/// True where what a thread reads at once goes to one piece of shared memory,
/// of a size that the chip copies by itself.
static bool mayBeCopied(const ProductFactor &factor, ProductUnit unit,
                        const ProductTile &shape, int64_t size) {
  int64_t bytes =
      countLanes(factor, shape, size) * countBytes(factor.value.getType());
  return factor.dense && liesAcross(factor, unit) != factor.isAlongSum &&
         (bytes == 4 || bytes == 8 || bytes == 16);
}

static bool mayBeCopied(const Product &product, ProductUnit unit,
                        const ProductTile &shape) {
  return mayBeCopied(product.left, unit, shape, shape.rows) ||
         mayBeCopied(product.right, unit, shape, shape.columns);
}

/// Pieces of both factors.
static int64_t getStageBytes(const Product &product, ProductUnit unit,
                             const ProductTile &shape) {
  return getSideBytes(product.left, unit, shape, shape.rows) +
         getSideBytes(product.right, unit, shape, shape.columns);
}

int64_t loopc::getTileBytes(const Product &product, ProductUnit unit,
                            const ProductTile &shape, bool canCopy) {
  int64_t pieces = getStageBytes(product, unit, shape);
  if (canCopy && mayBeCopied(product, unit, shape))
    pieces *= 2;
  int64_t sums = getRoundRows(unit) * (shape.columns + kPadding) *
                 countBytes(product.sumType());
  return std::max(pieces, sums);
}

//===----------------------------------------------------------------------===//
// From the device's memory
//===----------------------------------------------------------------------===//

/// Whether all that threads would read at once lies in one piece, at a multiple
/// of its size, and within the matrix or behind it.
Value Emitter::canBeWide(const ProductFactor &factor,
                         ArrayRef<scf::ForOp> loops, int64_t size) {
  int64_t lanes = countLanes(factor, shape, size);
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
    if (!factor.dense || countLanes(factor, shape, size) == 1)
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
  side.lanes = wide && factor.dense ? countLanes(factor, shape, side.size) : 1;
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

/// Goes over this thread's elements of the piece that begins at `from` along
/// the sum. Behind the ends of the matrix it is the last row once more, which
/// makes sums that nobody wants, and behind the sum's end nothing is inside.
void Emitter::forEachPiece(const Side &side, Value from,
                           llvm::function_ref<void(const Piece &)> visit) {
  const ProductFactor &factor = *side.factor;
  auto lastOf = [&](Value extent, bool isDense) {
    return b.createOrFold<arith::SubIOp>(extent,
                                         index(isDense ? side.lanes : 1));
  };
  Value last = lastOf(side.extent, !factor.isAlongSum);
  Value lastAlong = lastOf(extents.depth, factor.isAlongSum);
  for (int64_t k = 0; k < side.count; ++k) {
    Piece piece{side.across, side.along, {}, batchMapping};
    Value &moved = factor.isAlongSum ? piece.across : piece.along;
    moved = add(moved, k * side.stride);
    Value along = add(from, piece.along);
    piece.isInside = isBelow(along, extents.depth);
    Value across =
        b.createOrFold<arith::MinUIOp>(add(side.first, piece.across), last);
    along = b.createOrFold<arith::MinUIOp>(along, lastAlong);
    mapIterations(b, side.loops, across, piece.mapping);
    mapIterations(b, product.sums, along, piece.mapping);
    visit(piece);
  }
}

/// This thread's elements of the piece at `from`, in registers.
SmallVector<Value> Emitter::load(const Side &side, Value from) {
  SmallVector<Value> values;
  forEachPiece(side, from, [&](const Piece &piece) {
    Value value = loadOne(side, piece.mapping);
    values.push_back(arith::SelectOp::create(b, piece.isInside, value,
                                             zeroOf(value.getType())));
  });
  return values;
}

Value tiles::convertToTf32(ImplicitLocOpBuilder &b, Value value) {
  auto nearest =
      NVVM::FPRoundingModeAttr::get(b.getContext(), NVVM::FPRoundingMode::RNA);
  return NVVM::ConvertFloatToTF32Op::create(b, b.getI32Type(), value, nearest);
}

/// The number of an element in a side's memory.
Value Emitter::placeOf(const Side &side, Value across, Value along) {
  int64_t row = cast<MemRefType>(side.memory.getType()).getDimSize(1);
  if (liesAcross(*side.factor, unit))
    std::swap(across, along);
  return add(mul(across, row), along);
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
      storeWide(side, placeOf(side, across, along), value);
      continue;
    }
    for (int64_t lane = 0; lane < side.lanes; ++lane) {
      Value element = value;
      if (side.lanes > 1)
        element = vector::ExtractOp::create(b, value, lane);
      if (unit == ProductUnit::Floats)
        element = arith::BitcastOp::create(b, b.getF32Type(),
                                           convertToTf32(b, element));
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

/// Where in the device's memory the element is that `load` reads there.
Value Emitter::pointerInto(memref::LoadOp load, const IRMapping &mapping) {
  auto layout = memref::ExtractStridedMetadataOp::create(b, load.getMemref());
  SmallVector<Value> strides = getValueOrCreateConstantIndexOp(
      b, b.getLoc(), layout.getConstifiedMixedStrides());
  Value at = layout.getOffset();
  for (auto [place, stride] : llvm::zip_equal(load.getIndices(), strides))
    at = add(at, b.createOrFold<arith::MulIOp>(mapping.lookupOrDefault(place),
                                               stride));
  Value first =
      memref::ExtractAlignedPointerAsIndexOp::create(b, load.getMemref());
  Value address = arith::IndexCastOp::create(
      b, b.getI64Type(), add(first, mul(at, countBytes(load.getType()))));
  auto pointer = LLVM::LLVMPointerType::get(
      b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
  return LLVM::AddrSpaceCastOp::create(
      b, pointer,
      LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                               address));
}

/// Begins the copies of this thread's elements of the piece at `from`; see
/// load().
void Emitter::copy(const Side &side, Value from) {
  const ProductFactor &factor = *side.factor;
  int64_t bytes = side.lanes * countBytes(factor.value.getType());
  auto kind = bytes == kWideBytes ? NVVM::LoadCacheModifierKind::CG
                                  : NVVM::LoadCacheModifierKind::CA;
  auto constant = [&](int64_t value) {
    return arith::ConstantIntOp::create(b, b.getI32Type(), value);
  };
  forEachPiece(side, from, [&](const Piece &piece) {
    IRMapping mapping = piece.mapping;
    for (Operation *op : factor.slice)
      if (op != factor.dense)
        b.clone(*op, mapping);
    // What is not read is zero.
    Value size = arith::SelectOp::create(b, piece.isInside, constant(bytes),
                                         constant(0));
    NVVM::CpAsyncOp::create(
        b, pointerTo(side, placeOf(side, piece.across, piece.along)),
        pointerInto(factor.dense, mapping), static_cast<uint32_t>(bytes), kind,
        size);
  });
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
      view(index(0), {round.rows, shape.columns + kPadding}, product.sumType());
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

  Side left{&product.left, product.rows, extents.rows, row, shape.rows, {}};
  Side right{&product.right, product.columns, extents.columns,
             column,         shape.columns,   {}};
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
  if (wide && canCopy && mayBeCopied(product, unit, shape))
    return sumUpCopied(left, right);
  moveToStage(left, right, index(0));
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

/// Lets both sides be those of a stage: 0 or 1.
void Emitter::moveToStage(Side &left, Side &right, Value stage) {
  Value offset = mul(stage, getStageBytes(product, unit, shape));
  auto memoryOf = [&](const Side &side, Value at) {
    return view(at, getSideShape(*side.factor, unit, shape, side.size),
                side.factor->value.getType());
  };
  left.memory = memoryOf(left, offset);
  offset = add(offset, getSideBytes(product.left, unit, shape, shape.rows));
  right.memory = memoryOf(right, offset);
}

/// The same with two stages: one is multiplied while the other one is filled,
/// so that the block waits once for each piece.
SmallVector<Value> Emitter::sumUpCopied(Side left, Side right) {
  left.isCopied = mayBeCopied(product.left, unit, shape, shape.rows);
  right.isCopied = mayBeCopied(product.right, unit, shape, shape.columns);
  SmallVector<Value> carried(countSums(), zeroOf(product.sumType()));
  auto fetch = [&](Value stage, Value from, SmallVectorImpl<Value> &values) {
    Side ofLeft = left, ofRight = right;
    moveToStage(ofLeft, ofRight, stage);
    for (const Side *side : {&ofLeft, &ofRight})
      if (side->isCopied)
        copy(*side, from);
    NVVM::CpAsyncCommitGroupOp::create(b);
    for (const Side *side : {&ofLeft, &ofRight})
      if (!side->isCopied)
        llvm::append_range(values, load(*side, from));
  };
  // Whoever had the memory before is through with it.
  barrier();
  fetch(index(0), index(0), carried);
  auto loop = scf::ForOp::create(b, index(0), extents.depth, index(shape.depth),
                                 carried);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value stage = rem(div(loop.getInductionVar(), shape.depth), 2);
    moveToStage(left, right, stage);
    ValueRange values = loop.getRegionIterArgs();
    ValueRange rest = values.drop_front(countSums());
    for (const Side *side : {&left, &right})
      if (!side->isCopied) {
        store(*side, rest.take_front(side->count));
        rest = rest.drop_front(side->count);
      }
    NVVM::CpAsyncWaitGroupOp::create(b, 0);
    // Now all is there, and nobody reads what the other stage held.
    barrier();
    SmallVector<Value> fetched;
    fetch(b.createOrFold<arith::SubIOp>(index(1), stage),
          add(loop.getInductionVar(), shape.depth), fetched);
    SmallVector<Value> yielded =
        multiply(values.take_front(countSums()), left, right);
    llvm::append_range(yielded, fetched);
    scf::YieldOp::create(b, yielded);
  }
  // Nothing comes any more where the sums go.
  NVVM::CpAsyncWaitGroupOp::create(b, 0);
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
                             ProductUnit unit, const ProductTile &shape,
                             const ProductExtents &extents, Value shared,
                             bool canCopy) {
  Emitter(b, product, unit, shape, extents, shared, canCopy).emit();
}
