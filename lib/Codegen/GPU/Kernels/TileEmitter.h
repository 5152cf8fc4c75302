//===- TileEmitter.h - Code of products by tiles ----------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What TiledProduct.cpp and TileCores.cpp share.

#ifndef LOOPC_LIB_CODEGEN_GPU_KERNELS_TILEEMITTER_H
#define LOOPC_LIB_CODEGEN_GPU_KERNELS_TILEEMITTER_H

#include "DealNests.h"
#include "ProductTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace loopc::tiles {
using namespace mlir;

/// Elements between rows in shared memory that keep rows side by side in
/// different banks: of those that threads multiply, and words of fragments.
inline constexpr int64_t kPadding = 4;
/// How the warps of a block lie over the tile where tensor cores multiply.
inline constexpr int64_t kWarpRows = 2;
inline constexpr int64_t kWarpColumns = kTileThreads / kWarp / kWarpRows;
/// Threads along each side of the tile where they multiply, and neighbours that
/// one of them has.
inline constexpr int64_t kSide = 16;
inline constexpr int64_t kRun = 4;

/// One product of tensor cores.
struct Core {
  int64_t rows, columns, depth;
  /// Elements along the sum in one register.
  int64_t packed;
  int64_t wordBits;

  int64_t countSums() const { return rows * columns / kWarp; }
};

inline Core getCore(ProductUnit unit) {
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

inline int64_t countBytes(Type type) {
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

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
  /// It comes by asynchronous copies, as it is: not by way of registers.
  bool isCopied = false;
};

/// What a thread reads at once: where it is in the tile, whether it is in front
/// of the sum's end, and the loops' numbers.
struct Piece {
  Value across, along, isInside;
  IRMapping mapping;
};

/// `value`, an f32, as tensor cores want it, to the nearest: they would cut the
/// bits off that they have no room for.
Value convertToTf32(ImplicitLocOpBuilder &b, Value value);

/// Sums of a thread that go to shared memory together, and where in it.
struct Round {
  SmallVector<Value> sums;
  SmallVector<std::pair<Value, Value>> places;
  /// The tile's row of a row in shared memory.
  std::function<Value(Value)> rowOf;
  int64_t rows;
};

/// True where a side lies in shared memory as in the device's, so that the next
/// in a row are the next across: tensor cores of 16 bits turn it round when
/// they read.
inline bool liesAcross(const ProductFactor &factor, ProductUnit unit) {
  return unit == ProductUnit::Threads ||
         (unit == ProductUnit::Halves && !factor.isAlongSum);
}

/// Makes the code of one product.
class Emitter {
public:
  Emitter(ImplicitLocOpBuilder &b, const Product &product, ProductUnit unit,
          const ProductTile &shape, const ProductExtents &extents, Value shared,
          bool canCopy)
      : b(b), product(product), unit(unit), shape(shape), extents(extents),
        shared(shared), canCopy(canCopy) {}

  void emit();

private:
  void placeThread();
  void emitTile(Value number);
  void placeThreads(Side &side, bool wide);
  Value canBeWide();
  Value canBeWide(const ProductFactor &factor, ArrayRef<scf::ForOp> loops,
                  int64_t size);
  SmallVector<Value> sumUp(Side left, Side right, bool wide);
  SmallVector<Value> sumUpCopied(Side left, Side right);
  void moveToStage(Side &left, Side &right, Value stage);
  void copy(const Side &side, Value from);
  Value pointerInto(memref::LoadOp load, const IRMapping &mapping);
  Value loadOne(const Side &side, const IRMapping &mapping);
  SmallVector<Value> load(const Side &side, Value from);
  void store(const Side &side, ValueRange values);
  Value placeOf(const Side &side, Value across, Value along);
  void storeWide(const Side &side, Value at, Value value);
  void forEachPiece(const Side &side, Value from,
                    llvm::function_ref<void(const Piece &)> visit);
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
  Value view(Value offset, ArrayRef<int64_t> sizes, Type element) {
    auto type =
        MemRefType::get(sizes, element, MemRefLayoutAttrInterface(),
                        cast<MemRefType>(shared.getType()).getMemorySpace());
    return memref::ViewOp::create(b, type, shared, offset, ValueRange());
  }

  ImplicitLocOpBuilder &b;
  const Product &product;
  ProductUnit unit;
  ProductTile shape;
  const ProductExtents &extents;
  Value shared;
  /// The chip copies from the device's memory to the block's by itself.
  bool canCopy;
  Value thread;
  /// The thread's place among kSide times kSide, or its warp's and its own in
  /// the warp's fragments.
  Value threadRow, threadColumn, warpRow, warpColumn, lane;
  IRMapping batchMapping;
  /// Whether threads read several elements at once; null: never.
  Value isWide;
};

} // namespace loopc::tiles

#endif // LOOPC_LIB_CODEGEN_GPU_KERNELS_TILEEMITTER_H
