//===- LibraryProducts.cpp - Products that cuBLAS computes ----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The compiler says what each loop of a nest means for either factor and for
// the result; the runtime (lib/Runtime/CUDA/Cublas.cpp) finds out whether that
// is a product that the library knows, which depends on strides and addresses.

#include "loopc/Codegen/GPU/Regions/LibraryProducts.h"
#include "loopc-rt/cuda.h"
#include "loopc/Codegen/GPU/Regions/DeviceCode.h"
#include "loopc/Codegen/GPU/Regions/Passes.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

namespace loopc {
#define GEN_PASS_DEF_SPLITLIBRARYPRODUCTS
#include "loopc/Codegen/GPU/Regions/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Multiplications from which the library is asked where it is left to the
/// compiler: it has better kernels for the newest chips and takes some
/// microseconds to begin. A guess, not measured.
static constexpr double kManyMultiplications = double(1 << 29);

//===----------------------------------------------------------------------===//
// What is one
//===----------------------------------------------------------------------===//

static constexpr int32_t kNoKind = -1;

/// What the library calls a product of these types; kNoKind: it has none.
static int32_t getKind(const Product &product, Type result, bool allowTf32) {
  Type left = product.left.value.getType();
  Type right = product.right.value.getType();
  Type sum = product.sumType();
  if (left != right)
    return kNoKind;
  bool isWidened = product.left.widen && product.right.widen;
  bool isPlain = !product.left.widen && !product.right.widen;
  if (left.isF32() && sum.isF32() && result.isF32() && isPlain)
    return allowTf32 ? LOOPC_CUDA_PRODUCT_TF32 : LOOPC_CUDA_PRODUCT_F32;
  if (left.isF64() && sum.isF64() && result.isF64() && isPlain)
    return LOOPC_CUDA_PRODUCT_F64;
  if ((left.isF16() || left.isBF16()) && sum.isF32() && isWidened) {
    if (result == left)
      return left.isF16() ? LOOPC_CUDA_PRODUCT_F16 : LOOPC_CUDA_PRODUCT_BF16;
    if (result.isF32())
      return left.isF16() ? LOOPC_CUDA_PRODUCT_F16_F32
                          : LOOPC_CUDA_PRODUCT_BF16_F32;
  }
  if (left.isInteger(8) && sum.isInteger(32) && result.isInteger(32) &&
      isa_and_nonnull<arith::ExtSIOp>(product.left.widen) &&
      isa_and_nonnull<arith::ExtSIOp>(product.right.widen))
    return LOOPC_CUDA_PRODUCT_I8;
  return kNoKind;
}

SmallVector<std::pair<scf::ForOp, int64_t>>
loopc::getProductLoops(const Product &product) {
  SmallVector<std::pair<scf::ForOp, int64_t>> loops;
  auto addAll = [&](ArrayRef<scf::ForOp> some, int64_t role) {
    for (scf::ForOp loop : some)
      loops.push_back({loop, role});
  };
  addAll(product.batch, LOOPC_CUDA_BATCH);
  addAll(product.rows, LOOPC_CUDA_ROWS);
  addAll(product.columns, LOOPC_CUDA_COLUMNS);
  addAll(product.sums, LOOPC_CUDA_SUM);
  return loops;
}

/// True where each index is a loop's number, or a value from outside.
static bool isPlainPlace(const Product &product, Value buffer,
                         ValueRange place) {
  scf::ForOp outer = product.nest.front();
  auto isFine = [&](Value at) {
    return outer.isDefinedOutsideOfLoop(at) ||
           llvm::any_of(getProductLoops(product), [&](auto &entry) {
             return entry.first.getInductionVar() == at;
           });
  };
  return outer.isDefinedOutsideOfLoop(buffer) && llvm::all_of(place, isFine);
}

/// The one store of the nest, of the sum or of what it is rounded to; null
/// where the nest does anything else.
static memref::StoreOp findStore(const Product &product) {
  scf::ForOp sum = product.sums.front();
  memref::StoreOp store;
  for (Operation &op :
       scf::ForOp(product.nest.back()).getBody()->without_terminator()) {
    if (isa<memref::LoadOp>(op))
      return {};
    if (auto found = dyn_cast<memref::StoreOp>(op)) {
      if (store)
        return {};
      store = found;
    }
  }
  if (!store)
    return {};
  Value value = store.getValue();
  if (auto rounded = value.getDefiningOp<arith::TruncFOp>())
    value = rounded.getIn();
  bool isZero = matchPattern(sum.getInitArgs().front(), m_AnyZeroFloat()) ||
                matchPattern(sum.getInitArgs().front(), m_Zero());
  return value == sum.getResult(0) && isZero ? store : memref::StoreOp();
}

/// 0 where only the run knows.
static double countMultiplications(const Product &product) {
  double count = 1;
  for (auto [loop, role] : getProductLoops(product))
    count *= static_cast<double>(
        getConstantIntValue(loop.getUpperBound()).value_or(0));
  return count;
}

/// The load that a factor is; null where it is computed.
static memref::LoadOp getLoad(const ProductFactor &factor) {
  return factor.value.getDefiningOp<memref::LoadOp>();
}

/// True where all that a factor is made of is loaded from plain places.
static bool isPlainFactor(const Product &product, const ProductFactor &factor) {
  return llvm::all_of(factor.slice, [&](Operation *op) {
    auto load = dyn_cast<memref::LoadOp>(op);
    return !load || isPlainPlace(product, load.getMemref(), load.getIndices());
  });
}

/// The nest of `outer` where its sums are those of a product that the library
/// may compute (#loopc.target); `store` is null, and `kind` open, as are
/// factors that are not loaded but computed.
static std::optional<LibraryProduct> matchSums(scf::ForOp outer) {
  Cublas cublas = getGPUTarget(outer).cublas;
  if (cublas == Cublas::Off)
    return std::nullopt;
  std::optional<Product> product = matchProduct(outer);
  if (!product ||
      getProductLoops(*product).size() > LOOPC_CUDA_MAX_PRODUCT_LOOPS)
    return std::nullopt;
  if (cublas == Cublas::Auto &&
      countMultiplications(*product) < kManyMultiplications)
    return std::nullopt;
  for (auto [loop, role] : getProductLoops(*product))
    if (!isConstantIntValue(loop.getLowerBound(), 0) ||
        !isConstantIntValue(loop.getStep(), 1) ||
        !outer.isDefinedOutsideOfLoop(loop.getUpperBound()))
      return std::nullopt;
  if (!isPlainFactor(*product, product->left) ||
      !isPlainFactor(*product, product->right))
    return std::nullopt;
  memref::LoadOp left = getLoad(product->left), right = getLoad(product->right);
  return LibraryProduct{std::move(*product), left, right, {}, kNoKind};
}

std::optional<LibraryProduct> loopc::matchLibraryProduct(scf::ForOp outer) {
  std::optional<LibraryProduct> found = matchSums(outer);
  if (!found)
    return std::nullopt;
  found->store = findStore(found->product);
  if (!found->left || !found->right || !found->store ||
      !isPlainPlace(found->product, found->store.getMemref(),
                    found->store.getIndices()))
    return std::nullopt;
  found->kind =
      getKind(found->product, found->store.getMemRefType().getElementType(),
              getGPUTarget(outer).allowTf32);
  return found->kind == kNoKind ? std::nullopt : found;
}

//===----------------------------------------------------------------------===//
// Products with something behind them
//===----------------------------------------------------------------------===//

/// True where the loops that sum up can stand elsewhere: all that they use is
/// theirs, a loop's number, or from outside of the nest.
static bool canMove(const Product &product) {
  scf::ForOp outer = product.nest.front();
  scf::ForOp sum = product.sums.front();
  auto isFine = [&](Value value) {
    return outer.isDefinedOutsideOfLoop(value) ||
           sum->isAncestor(value.getParentBlock()->getParentOp()) ||
           llvm::any_of(product.nest, [&](scf::ForOp loop) {
             return loop.getInductionVar() == value;
           });
  };
  return allNested(sum.getBody(), [&](Operation *op) {
    return llvm::all_of(op->getOperands(), isFine);
  });
}

/// Memory for an element of `type` for each iteration of `loops`, from in front
/// of `outer` until behind it.
static Value makeMemory(ImplicitLocOpBuilder &b, scf::ForOp outer,
                        ArrayRef<scf::ForOp> loops, Type type) {
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  for (scf::ForOp loop : loops) {
    std::optional<int64_t> known = getConstantIntValue(loop.getUpperBound());
    shape.push_back(known.value_or(ShapedType::kDynamic));
    if (!known)
      sizes.push_back(loop.getUpperBound());
  }
  Value memory =
      memref::AllocOp::create(b, MemRefType::get(shape, type), sizes);
  OpBuilder behind(outer);
  behind.setInsertionPointAfter(outer);
  memref::DeallocOp::create(behind, outer.getLoc(), memory);
  return memory;
}

/// Makes a nest over the iterations of `loops`; `b` is in it then, and
/// `mapping` says what the loops' numbers are. \returns these.
static SmallVector<Value> makeNest(ImplicitLocOpBuilder &b,
                                   ArrayRef<scf::ForOp> loops,
                                   const Product &product, IRMapping &mapping) {
  SmallVector<Value> place;
  DictionaryAttr marks =
      scf::ForOp(product.nest.front())->getDiscardableAttrDictionary();
  for (scf::ForOp loop : loops) {
    auto made = scf::ForOp::create(b, loop.getLowerBound(),
                                   loop.getUpperBound(), loop.getStep());
    made->setDiscardableAttrs(marks);
    mapping.map(loop.getInductionVar(), made.getInductionVar());
    place.push_back(made.getInductionVar());
    b.setInsertionPointToStart(made.getBody());
  }
  return place;
}

/// A factor that is computed, by a nest of its own in front of the product's,
/// which loads it.
static void materialize(const Product &product, const ProductFactor &factor) {
  SmallVector<scf::ForOp> loops;
  SmallVector<Value> here;
  for (auto [loop, role] : getProductLoops(product)) {
    Value number = loop.getInductionVar();
    bool isUsed = llvm::any_of(factor.slice, [&](Operation *op) {
      return llvm::is_contained(op->getOperands(), number);
    });
    if (!isUsed)
      continue;
    loops.push_back(loop);
    here.push_back(number);
  }
  scf::ForOp outer = product.nest.front();
  ImplicitLocOpBuilder b(outer.getLoc(), outer);
  Value memory = makeMemory(b, outer, loops, factor.value.getType());
  IRMapping mapping;
  SmallVector<Value> place = makeNest(b, loops, product, mapping);
  for (Operation *op : factor.slice)
    b.clone(*op, mapping);
  memref::StoreOp::create(b, mapping.lookupOrDefault(factor.value), memory,
                          place);

  Operation *user = factor.widen ? factor.widen : product.multiply;
  b.setInsertionPointToStart(scf::ForOp(product.sums.back()).getBody());
  Value loaded = memref::LoadOp::create(b, memory, here);
  user->replaceUsesOfWith(factor.value, loaded);
}

/// The nest, without its sums, behind one that is these alone.
static void split(const Product &product) {
  scf::ForOp outer = product.nest.front();
  scf::ForOp sum = product.sums.front();
  ImplicitLocOpBuilder b(outer.getLoc(), outer);
  Type type = product.sumType();
  Value memory = makeMemory(b, outer, product.nest, type);
  IRMapping mapping;
  SmallVector<Value> place = makeNest(b, product.nest, product, mapping);
  Value zero =
      arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(type)));
  auto moved = cast<scf::ForOp>(b.clone(*sum, mapping));
  moved.getInitArgsMutable().assign(zero);
  memref::StoreOp::create(b, moved.getResult(0), memory, place);

  b.setInsertionPoint(sum);
  SmallVector<Value> here;
  for (scf::ForOp loop : product.nest)
    here.push_back(loop.getInductionVar());
  Value loaded = memref::LoadOp::create(b, memory, here);
  Operation *whole = b.clone(*product.add);
  whole->setOperands({sum.getInitArgs().front(), loaded});
  sum.getResult(0).replaceAllUsesWith(whole->getResult(0));
  sum.erase();
}

/// Makes several nests of those that do more than a product that the library
/// may compute: what makes its factors, the product, into memory of its own,
/// and what they do with it. Only where the host begins them: in loops where it
/// drives those.
static void splitLibraryProducts(func::FuncOp function) {
  GPUTarget gpu = getGPUTarget(function);
  std::vector<LibraryProduct> products;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isSharedLoop(op))
      return isa<LoopLikeOpInterface>(op) && gpu.loops != DeviceLoops::Host
                 ? WalkResult::skip()
                 : WalkResult::advance();
    auto outer = cast<scf::ForOp>(op);
    std::optional<LibraryProduct> found = matchSums(outer);
    if (!found || matchLibraryProduct(outer) || !canMove(found->product))
      return WalkResult::skip();
    Type type = found->product.sumType();
    if (getKind(found->product, type, gpu.allowTf32) != kNoKind)
      products.push_back(std::move(*found));
    return WalkResult::skip();
  });
  for (const LibraryProduct &found : products) {
    const Product &product = found.product;
    if (!found.left)
      materialize(product, product.left);
    if (!found.right)
      materialize(product, product.right);
    if (!findStore(product))
      split(product);
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct SplitLibraryProducts
    : loopc::impl::SplitLibraryProductsBase<SplitLibraryProducts> {
  using SplitLibraryProductsBase::SplitLibraryProductsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    splitLibraryProducts(function);
  }
};
} // namespace
