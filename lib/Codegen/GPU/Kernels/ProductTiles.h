//===- ProductTiles.h - Products of matrices by tiles --------- -*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_KERNELS_PRODUCTTILES_H
#define LOOPC_LIB_CODEGEN_GPU_KERNELS_PRODUCTTILES_H

#include "loopc/Codegen/GPU/Regions/Products.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {

/// Threads of a block that computes tiles: exactly as many.
inline constexpr int64_t kTileThreads = 256;

/// What multiplies.
enum class ProductUnit {
  Threads, ///< each thread elements of its own
  Halves,  ///< tensor cores, 16 bits
  Floats,  ///< tensor cores, f32 rounded to tf32
  Bytes,   ///< tensor cores, 8 bits
  Doubles, ///< tensor cores, f64
};

/// What may be used.
struct ProductTarget {
  /// Of `sm_90`: 90.
  unsigned chip = 80;
  bool allowTf32 = false;

  /// `cp.async`.
  bool canCopy() const { return chip >= 80; }
};

ProductUnit chooseUnit(const Product &product, const ProductTarget &target);

/// Whether the nest of `outer`, a shared loop, is a product whose extents are,
/// or may be, worth tiles.
bool mayBeTiled(mlir::scf::ForOp outer, const ProductTarget &target);

/// Elements of the result that a block computes, and of the sum that it has in
/// shared memory at a time.
struct ProductTile {
  int64_t rows, columns, depth;
};

/// The tiles to choose from, the larger one first.
mlir::SmallVector<ProductTile> getProductTiles(ProductUnit unit);

/// Extents of a product, and which tile it gets.
class ProductExtents {
public:
  /// Makes them at `b`, where the bounds of the loops are known; `known` is
  /// what stands there for a bound.
  ProductExtents(mlir::ImplicitLocOpBuilder &b, const Product &product,
                 llvm::function_ref<mlir::Value(mlir::Value)> known);

  /// Whether tiles of `shape` are worth it; `isSmallest` says that there are no
  /// smaller ones, with which more processors had work.
  mlir::Value fits(mlir::ImplicitLocOpBuilder &b, const ProductTile &shape,
                   bool isSmallest) const;
  mlir::Value countTiles(mlir::ImplicitLocOpBuilder &b,
                         const ProductTile &shape) const;

  mlir::Value batch, rows, columns, depth;
};

/// Threads for the nest of `outer`, a shared loop with work for `total`: of a
/// product those of its tiles, where these are worth it. `known` is what stands
/// at `b` for a bound.
mlir::Value
countTileThreads(mlir::ImplicitLocOpBuilder &b, mlir::scf::ForOp outer,
                 const ProductTarget &target, mlir::Value total,
                 llvm::function_ref<mlir::Value(mlir::Value)> known);

/// The loops' induction variables for number `number` of what `loops` go over,
/// put into `mapping`. `trips` are theirs.
void mapIterations(mlir::ImplicitLocOpBuilder &b,
                   mlir::ArrayRef<mlir::scf::ForOp> loops, mlir::Value number,
                   mlir::IRMapping &mapping);

/// Code of a product by tiles, at the place of `b`; `shared` is memory of the
/// block, of getTileBytes() bytes. `canCopy`: the chip copies to it by itself.
void emitTiledProduct(mlir::ImplicitLocOpBuilder &b, const Product &product,
                      ProductUnit unit, const ProductTile &shape,
                      const ProductExtents &extents, mlir::Value shared,
                      bool canCopy);
int64_t getTileBytes(const Product &product, ProductUnit unit,
                     const ProductTile &shape, bool canCopy);

/// Products in `kernel` become tiled ones, beside what they were where only
/// the run knows whether that is worth it. \returns whether there is one: the
/// kernel is for blocks of kTileThreads then.
bool tileProducts(mlir::gpu::GPUFuncOp kernel, const ProductTarget &target);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_KERNELS_PRODUCTTILES_H
