//===- ProductTiles.cpp - Products of matrices by tiles -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductTiles.h"
#include "DealNests.h"
#include "loopc/Codegen/GPU/Regions/DeviceCode.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace loopc;

//===----------------------------------------------------------------------===//
// Whether, and how large
//===----------------------------------------------------------------------===//

/// Extents from which tiles are worth it, and work that fills a device: blocks,
/// about as many as an H100 has processors.
static constexpr int64_t kMinRows = 32;
static constexpr int64_t kMinDepth = 16;
static constexpr int64_t kManyTiles = 128;

ProductUnit loopc::chooseUnit(const Product &product,
                              const ProductTarget &target) {
  Type left = product.left.value.getType();
  Type right = product.right.value.getType();
  Type sum = product.sumType();
  if (target.chip < 80)
    return ProductUnit::Threads;
  if (left == right && sum.isF32()) {
    if (left.isF16() || left.isBF16())
      return ProductUnit::Halves;
    if (left.isF32() && target.allowTf32)
      return ProductUnit::Floats;
  }
  if (left == right && sum.isF64() && left.isF64())
    return ProductUnit::Doubles;
  bool isWidened = product.left.widen && product.right.widen;
  if (isWidened && sum.isInteger(32) && left.isInteger(8) && right.isInteger(8))
    return ProductUnit::Bytes;
  return ProductUnit::Threads;
}

SmallVector<ProductTile> loopc::getProductTiles(ProductUnit unit) {
  switch (unit) {
  case ProductUnit::Threads:
    return {{128, 128, 8}, {64, 64, 16}};
  case ProductUnit::Halves:
    return {{128, 128, 32}, {64, 64, 32}};
  case ProductUnit::Floats:
    return {{128, 128, 16}, {64, 64, 16}};
  case ProductUnit::Bytes:
    return {{128, 128, 64}, {64, 64, 64}};
  case ProductUnit::Doubles:
    return {{64, 64, 8}};
  }
  llvm_unreachable("all units are there");
}

/// Iterations of `loops`.
static Value countTrips(ImplicitLocOpBuilder &b, ArrayRef<scf::ForOp> loops,
                        llvm::function_ref<Value(Value)> known) {
  Value total = arith::ConstantIndexOp::create(b, 1);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  for (scf::ForOp loop : loops) {
    Value size = b.createOrFold<arith::SubIOp>(known(loop.getUpperBound()),
                                               known(loop.getLowerBound()));
    size = b.createOrFold<arith::MaxSIOp>(size, zero);
    size = b.createOrFold<arith::CeilDivUIOp>(size, known(loop.getStep()));
    total = b.createOrFold<arith::MulIOp>(total, size);
  }
  return total;
}

ProductExtents::ProductExtents(ImplicitLocOpBuilder &b, const Product &product,
                               llvm::function_ref<Value(Value)> known)
    : batch(countTrips(b, product.batch, known)),
      rows(countTrips(b, product.rows, known)),
      columns(countTrips(b, product.columns, known)),
      depth(countTrips(b, product.sums, known)) {}

static Value ceilDiv(ImplicitLocOpBuilder &b, Value value, int64_t by) {
  return b.createOrFold<arith::CeilDivUIOp>(
      value, arith::ConstantIndexOp::create(b, by));
}

Value ProductExtents::countTiles(ImplicitLocOpBuilder &b,
                                 const ProductTile &shape) const {
  Value tiles = b.createOrFold<arith::MulIOp>(
      ceilDiv(b, rows, shape.rows), ceilDiv(b, columns, shape.columns));
  return b.createOrFold<arith::MulIOp>(batch, tiles);
}

Value ProductExtents::fits(ImplicitLocOpBuilder &b, const ProductTile &shape,
                           bool isSmallest) const {
  auto atLeast = [&](Value value, int64_t least) -> Value {
    return b.createOrFold<arith::CmpIOp>(
        arith::CmpIPredicate::uge, value,
        arith::ConstantIndexOp::create(b, least));
  };
  Value fits = atLeast(rows, kMinRows);
  fits = b.createOrFold<arith::AndIOp>(fits, atLeast(columns, kMinRows));
  fits = b.createOrFold<arith::AndIOp>(fits, atLeast(depth, kMinDepth));
  // Smaller ones are for more processors.
  if (!isSmallest)
    fits = b.createOrFold<arith::AndIOp>(
        fits, atLeast(countTiles(b, shape), kManyTiles));
  return fits;
}

Value loopc::countTileThreads(ImplicitLocOpBuilder &b, scf::ForOp outer,
                              const ProductTarget &target, Value total,
                              llvm::function_ref<Value(Value)> known) {
  std::optional<Product> product = matchProduct(outer);
  if (!product)
    return total;
  ProductExtents extents(b, *product, known);
  ProductUnit unit = chooseUnit(*product, target);
  SmallVector<ProductTile> shapes = getProductTiles(unit);
  Value inBlock = arith::ConstantIndexOp::create(b, kTileThreads);
  for (const ProductTile &shape : llvm::reverse(shapes)) {
    Value fits = extents.fits(b, shape, &shape == &shapes.back());
    Value threads =
        b.createOrFold<arith::MulIOp>(extents.countTiles(b, shape), inBlock);
    total = b.createOrFold<arith::SelectOp>(fits, threads, total);
  }
  return total;
}

void loopc::mapIterations(ImplicitLocOpBuilder &b, ArrayRef<scf::ForOp> loops,
                          Value number, IRMapping &mapping) {
  auto same = [](Value value) { return value; };
  for (size_t k = loops.size(); k-- > 0;) {
    scf::ForOp loop = loops[k];
    Value at = number;
    if (k) {
      Value trips = countTrips(b, loop, same);
      at = b.createOrFold<arith::RemUIOp>(number, trips);
      number = b.createOrFold<arith::DivUIOp>(number, trips);
    }
    at = b.createOrFold<arith::MulIOp>(at, loop.getStep());
    at = b.createOrFold<arith::AddIOp>(at, loop.getLowerBound());
    mapping.map(loop.getInductionVar(), at);
  }
}

//===----------------------------------------------------------------------===//
// In a kernel
//===----------------------------------------------------------------------===//

namespace {
struct Candidate {
  scf::ForOp outer;
  Product product;
  ProductUnit unit;
};
} // namespace

/// `product`, which the nest `outer` is, tiled where it `fits`.
static void tileProduct(ImplicitLocOpBuilder &b, const Candidate &candidate,
                        Value shared, bool canCopy) {
  scf::ForOp outer = candidate.outer;
  b.setLoc(outer.getLoc());
  b.setInsertionPoint(outer);
  ProductExtents extents(b, candidate.product,
                         [](Value bound) { return bound; });
  SmallVector<ProductTile> shapes = getProductTiles(candidate.unit);
  for (const ProductTile &shape : shapes) {
    bool isSmallest = &shape == &shapes.back();
    Value fits = extents.fits(b, shape, isSmallest);
    std::optional<int64_t> known = getConstantIntValue(fits);
    if (known == 0)
      continue;
    if (known) {
      emitTiledProduct(b, candidate.product, candidate.unit, shape, extents,
                       shared, canCopy);
      outer.erase();
      return;
    }
    auto branch = scf::IfOp::create(b, fits, /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    emitTiledProduct(b, candidate.product, candidate.unit, shape, extents,
                     shared, canCopy);
    outer->moveBefore(branch.elseBlock()->getTerminator());
    b.setInsertionPoint(outer);
  }
}

/// Whether some tile is, or may be, worth it.
static bool mayFit(ImplicitLocOpBuilder &b, const Product &product,
                   ProductUnit unit) {
  ProductExtents extents(b, product, [](Value bound) { return bound; });
  Value fits =
      extents.fits(b, getProductTiles(unit).back(), /*isSmallest=*/true);
  return getConstantIntValue(fits) != 0;
}

bool loopc::mayBeTiled(scf::ForOp outer, const ProductTarget &target) {
  std::optional<Product> product = matchProduct(outer);
  ImplicitLocOpBuilder b(outer.getLoc(), outer);
  return product && mayFit(b, *product, chooseUnit(*product, target));
}

/// Who multiplies.
static std::string describe(ProductUnit unit) {
  switch (unit) {
  case ProductUnit::Threads:
    return "threads";
  case ProductUnit::Halves:
    return "tensor cores of 16 bits";
  case ProductUnit::Floats:
    return "tensor cores of tf32";
  case ProductUnit::Bytes:
    return "tensor cores of 8 bits";
  case ProductUnit::Doubles:
    return "tensor cores of f64";
  }
  llvm_unreachable("all units are there");
}

bool loopc::tileProducts(gpu::GPUFuncOp kernel, const ProductTarget &target) {
  ImplicitLocOpBuilder b(kernel.getLoc(), kernel);
  std::vector<Candidate> candidates;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isSharedLoop(op))
      return WalkResult::advance();
    auto outer = cast<scf::ForOp>(op);
    std::optional<Product> product = matchProduct(outer);
    if (!product)
      return WalkResult::skip();
    ProductUnit unit = chooseUnit(*product, target);
    b.setInsertionPoint(outer);
    if (mayFit(b, *product, unit))
      candidates.push_back({outer, std::move(*product), unit});
    return WalkResult::skip();
  });
  if (candidates.empty())
    return false;
  for (Candidate &candidate : candidates)
    remarkDone(candidate.outer.getLoc(), "Product",
               "a product of matrices by tiles, which " +
                   describe(candidate.unit) + " multiply");
  int64_t bytes = 0;
  for (const Candidate &candidate : candidates)
    for (const ProductTile &shape : getProductTiles(candidate.unit))
      bytes = std::max(bytes, getTileBytes(candidate.product, candidate.unit,
                                           shape, target.canCopy()));
  Value shared = getBlockMemory(kernel, bytes);
  for (const Candidate &candidate : candidates)
    tileProduct(b, candidate, shared, target.canCopy());
  return true;
}
