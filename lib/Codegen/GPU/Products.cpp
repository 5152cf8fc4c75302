//===- Products.cpp - Products of matrices in kernels ---------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Products.h"
#include "DealNests.h"
#include "DeviceCode.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace loopc;

Type Product::sumType() const { return add->getResult(0).getType(); }

Value Product::accumulate(OpBuilder &b, Value left, Value right,
                          Value sum) const {
  Operation *product = b.clone(*multiply);
  product->setOperands({left, right});
  Operation *whole = b.clone(*add);
  whole->setOperands({sum, product->getResult(0)});
  return whole->getResult(0);
}

//===----------------------------------------------------------------------===//
// What is one
//===----------------------------------------------------------------------===//

namespace {
class Matcher {
public:
  explicit Matcher(scf::ForOp outer) : outer(outer) {}
  std::optional<Product> run();

private:
  bool matchNest();
  bool matchSums();
  bool matchBody();
  bool matchFactor(Value operand, ProductFactor &factor,
                   llvm::SetVector<Value> &depends);
  bool collect(Value value, llvm::SetVector<Operation *> &slice,
               llvm::SetVector<Value> &depends);
  bool isAlongSum(const ProductFactor &factor);
  void findDense(ProductFactor &factor, ArrayRef<scf::ForOp> loops);
  bool isWhole(memref::LoadOp load, ArrayRef<scf::ForOp> loops);
  bool isFixed(scf::ForOp loop) {
    return loop.getInductionVar().getType().isIndex() &&
           llvm::all_of(ValueRange{loop.getLowerBound(), loop.getUpperBound(),
                                   loop.getStep()},
                        [&](Value bound) {
                          return outer.isDefinedOutsideOfLoop(bound);
                        });
  }

  scf::ForOp outer;
  Product found;
};
} // namespace

/// Beside the sum there are only loads, stores and what has no effects.
bool Matcher::matchNest() {
  found.nest = collectSharedLoops(outer);
  for (Operation &op : found.nest.back().getBody()->without_terminator()) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (!found.sums.empty())
        return false;
      found.sums.push_back(loop);
      continue;
    }
    if (op.getNumRegions() != 0 ||
        (!isMemoryEffectFree(&op) && !isa<memref::LoadOp, memref::StoreOp>(op)))
      return false;
    // Sums are formed before anything is written.
    if (isa<memref::StoreOp>(op) && found.sums.empty())
      return false;
  }
  return !found.sums.empty();
}

/// Loops in one another that hand one number on.
bool Matcher::matchSums() {
  for (;;) {
    scf::ForOp loop = found.sums.back();
    if (loop.getNumResults() != 1 || !isFixed(loop))
      return false;
    scf::ForOp inner;
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (auto nested = dyn_cast<scf::ForOp>(op)) {
        if (inner)
          return false;
        inner = nested;
      } else if (op.getNumRegions() != 0 ||
                 (!isMemoryEffectFree(&op) && !isa<memref::LoadOp>(op))) {
        return false;
      }
    }
    if (!inner)
      return true;
    if (inner.getNumResults() != 1 ||
        inner.getInitArgs().front() != loop.getRegionIterArg(0) ||
        loop.getYieldedValues().front() != inner.getResult(0) ||
        !loop.getRegionIterArg(0).hasOneUse() ||
        !inner.getResult(0).hasOneUse())
      return false;
    found.sums.push_back(inner);
  }
}

/// The innermost loop adds products, in any order.
bool Matcher::matchBody() {
  scf::ForOp loop = found.sums.back();
  Value carried = loop.getRegionIterArg(0);
  Operation *add = loop.getYieldedValues().front().getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add) ||
      add->getBlock() != loop.getBody() || !carried.hasOneUse())
    return false;
  if (auto sum = dyn_cast<arith::AddFOp>(add))
    if (!bitEnumContainsAll(sum.getFastmath(), arith::FastMathFlags::reassoc))
      return false;
  unsigned at = add->getOperand(0) == carried ? 1 : 0;
  if (add->getOperand(1 - at) != carried)
    return false;
  Operation *multiply = add->getOperand(at).getDefiningOp();
  if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp>(multiply) ||
      multiply->getBlock() != loop.getBody() || !multiply->hasOneUse() ||
      !found.sums.front().getResult(0).getType().isIntOrFloat())
    return false;
  found.add = add;
  found.multiply = multiply;
  return true;
}

/// Adds what `value` takes within the nest: operations, and loops that say
/// where.
bool Matcher::collect(Value value, llvm::SetVector<Operation *> &slice,
                      llvm::SetVector<Value> &depends) {
  if (outer.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto is = [&](scf::ForOp loop) { return loop.getInductionVar() == value; };
    depends.insert(value);
    return llvm::any_of(found.nest, is) || llvm::any_of(found.sums, is);
  }
  if (slice.contains(op))
    return true;
  if (op->getNumRegions() != 0 ||
      (!isMemoryEffectFree(op) && !isa<memref::LoadOp>(op)))
    return false;
  for (Value operand : op->getOperands())
    if (!collect(operand, slice, depends))
      return false;
  slice.insert(op);
  return true;
}

bool Matcher::isAlongSum(const ProductFactor &factor) {
  for (Operation *op : llvm::reverse(factor.slice)) {
    auto load = dyn_cast<memref::LoadOp>(op);
    if (!load || load.getIndices().empty())
      continue;
    llvm::SetVector<Operation *> slice;
    llvm::SetVector<Value> depends;
    (void)collect(load.getIndices().back(), slice, depends);
    if (depends.empty())
      continue;
    return llvm::all_of(depends, [&](Value value) {
      return llvm::any_of(found.sums, [&](scf::ForOp loop) {
        return loop.getInductionVar() == value;
      });
    });
  }
  return true;
}

bool Matcher::matchFactor(Value operand, ProductFactor &factor,
                          llvm::SetVector<Value> &depends) {
  factor.value = operand;
  Operation *op = operand.getDefiningOp();
  if (isa_and_nonnull<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(op) &&
      !outer.isDefinedOutsideOfLoop(operand) &&
      op->getOperand(0).getType().getIntOrFloatBitWidth() >= 8) {
    factor.widen = op;
    factor.value = op->getOperand(0);
  }
  llvm::SetVector<Operation *> slice;
  if (!collect(factor.value, slice, depends))
    return false;
  factor.slice.assign(slice.begin(), slice.end());
  factor.isAlongSum = isAlongSum(factor);
  // What shared memory holds.
  unsigned bits = factor.value.getType().isIntOrFloat()
                      ? factor.value.getType().getIntOrFloatBitWidth()
                      : 0;
  return bits >= 8 && bits <= 64 && llvm::isPowerOf2_32(bits);
}

/// True where `loops` go through the last axes of what is read, all but the
/// first of them from end to end, so that one iteration lies behind the other.
bool Matcher::isWhole(memref::LoadOp load, ArrayRef<scf::ForOp> loops) {
  MemRefType type = load.getMemRefType();
  SmallVector<int64_t> strides;
  int64_t offset;
  int64_t first = type.getRank() - static_cast<int64_t>(loops.size());
  if (first < 0 || failed(type.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1)
    return false;
  for (auto [k, loop] : llvm::enumerate(loops)) {
    int64_t axis = first + static_cast<int64_t>(k);
    if (load.getIndices()[axis] != scf::ForOp(loop).getInductionVar() ||
        !isConstantIntValue(scf::ForOp(loop).getLowerBound(), 0) ||
        !isConstantIntValue(scf::ForOp(loop).getStep(), 1))
      return false;
    if (k == 0)
      continue;
    int64_t extent = type.getDimSize(axis);
    if (ShapedType::isDynamic(extent) || ShapedType::isDynamic(strides[axis]) ||
        !isConstantIntValue(scf::ForOp(loop).getUpperBound(), extent) ||
        strides[axis - 1] != strides[axis] * extent)
      return false;
  }
  return true;
}

void Matcher::findDense(ProductFactor &factor, ArrayRef<scf::ForOp> loops) {
  auto load = factor.value.getDefiningOp<memref::LoadOp>();
  if (!load || load.getIndices().empty() ||
      !outer.isDefinedOutsideOfLoop(load.getMemref()))
    return;
  ArrayRef<scf::ForOp> along =
      factor.isAlongSum ? ArrayRef<scf::ForOp>(found.sums) : loops.take_back();
  if (!isWhole(load, along))
    return;
  // Nothing else says where.
  for (scf::ForOp loop : along) {
    int64_t uses = 0;
    for (Operation *op : factor.slice)
      uses += llvm::count(op->getOperands(), loop.getInductionVar());
    if (uses != 1)
      return;
  }
  factor.dense = load;
  factor.denseAxes = static_cast<int64_t>(along.size());
}

std::optional<Product> Matcher::run() {
  if (!matchNest() || !matchSums() || !matchBody())
    return std::nullopt;
  llvm::SetVector<Value> ofLeft, ofRight;
  if (!matchFactor(found.multiply->getOperand(0), found.left, ofLeft) ||
      !matchFactor(found.multiply->getOperand(1), found.right, ofRight))
    return std::nullopt;
  for (scf::ForOp loop : found.nest) {
    bool isLeft = ofLeft.contains(loop.getInductionVar());
    bool isRight = ofRight.contains(loop.getInductionVar());
    if (isLeft == isRight)
      found.batch.push_back(loop);
    else
      (isLeft ? found.rows : found.columns).push_back(loop);
  }
  if (llvm::is_contained(found.rows, found.nest.back())) {
    std::swap(found.rows, found.columns);
    std::swap(found.left, found.right);
  }
  if (!llvm::is_contained(found.columns, found.nest.back()) ||
      found.rows.empty())
    return std::nullopt;
  findDense(found.left, found.rows);
  findDense(found.right, found.columns);
  return found;
}

std::optional<Product> loopc::matchProduct(scf::ForOp outer) {
  return Matcher(outer).run();
}

//===----------------------------------------------------------------------===//
// How
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
