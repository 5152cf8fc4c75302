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

/// The narrowest vectors of sums that there are instructions for.
static constexpr int64_t kLeastLanes = CpuModel::kLeastBits / 32;

//===----------------------------------------------------------------------===//
// What fits
//===----------------------------------------------------------------------===//

int64_t loopc::dotLanes(CpuModel cpu, int64_t columns) {
  int64_t most = cpu.lanesOf(32);
  if (ShapedType::isDynamic(columns))
    return most;
  return std::clamp<int64_t>(llvm::PowerOf2Ceil(columns), kLeastLanes, most);
}

namespace {
/// An argument of the body, extended to 32 bits.
struct Extended {
  BlockArgument argument;
  bool isUnsigned;
};
} // namespace

static std::optional<Extended> matchExtended(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(op))
    return std::nullopt;
  auto argument = dyn_cast<BlockArgument>(op->getOperand(0));
  if (!argument)
    return std::nullopt;
  return Extended{argument, isa<arith::ExtUIOp>(op)};
}

/// The factors of `sum + x * w`, extended, if that is all that `op` computes.
static std::optional<std::pair<Extended, Extended>>
matchFactors(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  auto sum =
      body->getTerminator()->getOperand(0).getDefiningOp<arith::AddIOp>();
  if (!sum || !sum.getType().isInteger(32))
    return std::nullopt;
  Value before = op.getRegionOutputArgs()[0];
  Value added = sum.getLhs() == before ? sum.getRhs() : sum.getLhs();
  auto product = added.getDefiningOp<arith::MulIOp>();
  if (!product || (sum.getLhs() != before && sum.getRhs() != before))
    return std::nullopt;
  auto x = matchExtended(product.getLhs()), w = matchExtended(product.getRhs());
  if (!x || !w || x->argument == w->argument ||
      x->argument.getOwner() != body || w->argument.getOwner() != body)
    return std::nullopt;
  return std::pair(*x, *w);
}

/// True if `operand` has one axis for `dim`, which is the last one.
static bool endsWithAlone(AffineMap map, unsigned dim) {
  return map.getNumResults() > 0 &&
         map.getResults().back() == getAffineDimExpr(dim, map.getContext()) &&
         llvm::none_of(map.getResults().drop_back(), [&](AffineExpr expr) {
           return expr.isFunctionOfDim(dim);
         });
}

std::optional<DotProduct> loopc::matchDotProduct(linalg::LinalgOp op,
                                                 CpuModel cpu) {
  if (cpu.dotBits == 0 || op.getNumDpsInits() != 1 ||
      op.getNumDpsInputs() != 2 || op.getNumReductionLoops() == 0)
    return std::nullopt;
  auto factors = matchFactors(op);
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!factors || !out.isProjectedPermutation() || out.getNumResults() == 0)
    return std::nullopt;
  unsigned columns = cast<AffineDimExpr>(out.getResults().back()).getPosition();
  auto [elements, vectors] = *factors;
  auto mapOf = [&](const Extended &of) {
    return op.getMatchingIndexingMap(op.getMatchingOpOperand(of.argument));
  };
  if (mapOf(elements).isFunctionOfDim(columns))
    std::swap(elements, vectors);
  if (mapOf(elements).isFunctionOfDim(columns) ||
      !mapOf(vectors).isFunctionOfDim(columns) ||
      elements.argument.getType() != vectors.argument.getType())
    return std::nullopt;
  // Where bytes are multiplied, pairs of 16 bits are, too.
  unsigned bits = elements.argument.getType().getIntOrFloatBitWidth();
  if (bits != 16 && (bits != 8 || cpu.dotBits != 8))
    return std::nullopt;
  bool fitsSigns = bits == 8 ? elements.isUnsigned != vectors.isUnsigned
                             : !elements.isUnsigned && !vectors.isUnsigned;
  auto types = op.getIteratorTypesArray();
  unsigned sum = op.getNumLoops() - 1;
  while (types[sum] != utils::IteratorType::reduction)
    --sum;
  int64_t extent = knownExtents(op)[columns];
  bool isWide = ShapedType::isDynamic(extent) || extent >= kLeastLanes;
  // Without masks there are whole vectors only.
  if (!cpu.canMask(32))
    isWide = !ShapedType::isDynamic(extent) && extent > 0 &&
             extent % kLeastLanes == 0;
  if (!fitsSigns || !isWide || !mapOf(vectors).isFunctionOfDim(sum) ||
      !endsWithAlone(mapOf(elements), sum))
    return std::nullopt;
  return DotProduct{op.getMatchingOpOperand(vectors.argument),
                    op.getMatchingOpOperand(elements.argument),
                    vectors.isUnsigned,
                    {sum, 32 / bits},
                    columns};
}

//===----------------------------------------------------------------------===//
// The sum
//===----------------------------------------------------------------------===//

SmallVector<Value> ContractionEmitter::emitDots(const Tile &tile,
                                                ValueRange sums) {
  PanelGroup group = plan.dot->sum;
  Value from = blockBegin ? blockBegin : index(0);
  Value to = blockEnd ? blockEnd : extent(group.dim);
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  Value whole =
      apply(d0 + (d1 - d0).floorDiv(group.size) * group.size, {from, to});
  SmallVector<Value> results(sums);
  for (bool isWhole : {true, false}) {
    auto point = [&](ValueRange inner) {
      ContractionBody body(*this, tile, tile.masks);
      return body.dots(inner, isWhole);
    };
    results = sumOver(group.dim, isWhole ? from : whole, isWhole ? whole : to,
                      group.size, results, point);
  }
  return results;
}

SmallVector<Value> ContractionBody::dots(ValueRange sums, bool isWhole) {
  Extent elements = extentOf(*v.plan.dot->elements);
  SmallVector<Value> xs, ws, results;
  for (int64_t i : llvm::seq(tile.rows))
    xs.push_back(i && !elements.rows ? xs[0] : dotElements(i, isWhole));
  for (int64_t j : llvm::seq(tile.columns))
    ws.push_back(dotVectors(j));
  for (int64_t i : llvm::seq(tile.rows))
    for (int64_t j : llvm::seq(tile.columns))
      results.push_back(dot(sums[results.size()], xs[i], ws[j]));
  return results;
}

Value ContractionBody::dot(Value sum, Value x, Value w) {
  ImplicitLocOpBuilder &b = v.b;
  auto call = [&](const Twine &name, ValueRange arguments) {
    return LLVM::CallIntrinsicOp::create(
               b, sum.getType(), b.getStringAttr("llvm.x86." + name), arguments)
        .getResult(0);
  };
  int64_t bits = 32 * tile.lanes;
  if (v.plan.dot->sum.size == 4) {
    if (v.plan.dot->areVectorsUnsigned)
      std::swap(x, w);
    return call("avx512.vpdpbusd." + Twine(bits), {sum, x, w});
  }
  StringRef name = bits == 512   ? "avx512.pmaddw.d.512"
                   : bits == 256 ? "avx2.pmadd.wd"
                                 : "sse2.pmadd.wd";
  return arith::AddIOp::create(b, sum, call(name, {x, w}));
}

Value ContractionBody::dotElements(int64_t i, bool isWhole) {
  ImplicitLocOpBuilder &b = v.b;
  auto [dim, size] = v.plan.dot->sum;
  Value buffer = v.plan.dot->elements->get();
  AffineMap map = v.op.getMatchingIndexingMap(v.plan.dot->elements);
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
