//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Weights of bf16 in panels. A float of 32 bits has those of bf16 in its upper
// half, so that of 32 neighbours, read as 16 integers of 32 bits, the even ones
// are a shift away and the odd ones a mask. The sums of two vectors are of even
// and odd columns then, and put in order once a tile. To widen each vector by
// itself takes an instruction more, of the two ports that also multiply.

#include "ContractionEmitter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace loopc;

Operation *loopc::findPairs(linalg::LinalgOp op, const ContractionPlan &plan) {
  if (plan.isAlongSum || plan.dot || !plan.panels || plan.panels->group ||
      plan.panels->dim != plan.laneDim ||
      plan.panels->width % (2 * plan.lanes) != 0)
    return nullptr;
  Operation *found = nullptr;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!map.isFunctionOfDim(plan.laneDim))
      continue;
    BlockArgument arg = op.getMatchingBlockArgument(input);
    // What else the columns read would have to be taken apart as well.
    if (found || !plan.isPacked(map, plan.laneDim) || !arg.hasOneUse() ||
        !arg.getType().isBF16())
      return nullptr;
    auto widened = dyn_cast<arith::ExtFOp>(*arg.user_begin());
    if (!widened || !widened.getType().isF32())
      return nullptr;
    found = widened;
  }
  return found;
}

/// True if two vectors of `tile` lie in one panel, each pair of them.
bool ContractionEmitter::canPair(const Tile &tile) {
  return plan.pairs && !strip && tile.columns % 2 == 0 && tile.lanes == lanes &&
         (tile.masks.empty() ||
          tile.columns * tile.lanes <= plan.panels->width);
}

/// Of each two vectors of `sums` the even and the odd lanes, or the other way.
void ContractionEmitter::shufflePairs(MutableArrayRef<Value> sums, bool apart) {
  SmallVector<int64_t> first, second;
  for (int64_t k : llvm::seq(lanes)) {
    first.push_back(apart ? 2 * k : k / 2 + (k % 2) * lanes);
    second.push_back(apart ? 2 * k + 1 : first.back() + lanes / 2);
  }
  for (size_t k = 0; k < sums.size(); k += 2) {
    // All lanes of what the sums begin with may be the same.
    if (apart && sums[k] == sums[k + 1] &&
        isa_and_nonnull<arith::ConstantOp, vector::BroadcastOp>(
            sums[k].getDefiningOp()))
      continue;
    Value low = vector::ShuffleOp::create(b, sums[k], sums[k + 1], first);
    sums[k + 1] = vector::ShuffleOp::create(b, sums[k], sums[k + 1], second);
    sums[k] = low;
  }
}

/// The even elements of columns `j` and `j` + 1, of which `j` is even, and the
/// odd ones.
std::pair<Value, Value> ContractionBody::loadPair(int64_t i, int64_t j,
                                                  int64_t k) {
  ImplicitLocOpBuilder &b = v.b;
  auto arg = cast<BlockArgument>(v.plan.pairs->getOperand(0));
  OpOperand *operand = v.op.getMatchingOpOperand(arg);
  SmallVector<Value> at =
      indices(v.op.getMatchingIndexingMap(operand), i, j, k);
  auto narrow = VectorType::get(2 * tile.lanes, b.getBF16Type()),
       bits = VectorType::get(tile.lanes, b.getI32Type()),
       wide = VectorType::get(tile.lanes, b.getF32Type());
  Value both = vector::BitCastOp::create(
      b, bits, vector::LoadOp::create(b, narrow, operand->get(), at));
  auto splat = [&](uint32_t number) {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(bits, APInt(32, number)));
  };
  Value even = arith::ShLIOp::create(b, both, splat(16));
  Value odd = arith::AndIOp::create(b, both, splat(0xffff0000));
  return {vector::BitCastOp::create(b, wide, even),
          vector::BitCastOp::create(b, wide, odd)};
}
