//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Nest/Analysis/Accesses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace loopc;

/// A constant that `value` does not exceed, by the least and the largest that
/// it is made of; none where nothing says so.
static std::optional<int64_t> findMost(Value value, unsigned depth = 4) {
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (depth == 0 || !isa_and_nonnull<arith::MinSIOp, arith::MaxSIOp>(op))
    return std::nullopt;
  std::optional<int64_t> one = findMost(op->getOperand(0), depth - 1),
                         other = findMost(op->getOperand(1), depth - 1);
  if (isa<arith::MaxSIOp>(op))
    return one && other ? std::optional(std::max(*one, *other)) : std::nullopt;
  return one && other ? std::min(*one, *other) : one ? one : other;
}

/// So many elements of `mask` along `axis` may be set, which has `size`.
static int64_t countMasked(Value mask, size_t axis, int64_t size) {
  if (!mask)
    return size;
  if (auto known = mask.getDefiningOp<vector::ConstantMaskOp>())
    return known.getMaskDimSizes()[axis];
  if (auto made = mask.getDefiningOp<vector::CreateMaskOp>())
    if (std::optional<int64_t> count = findMost(made.getOperands()[axis]))
      return std::clamp<int64_t>(*count, 0, size);
  return size;
}

int64_t Access::getExtent(size_t axis) const {
  if (!vector)
    return 1;
  if (permutation) {
    for (auto [k, expr] : llvm::enumerate(permutation.getResults()))
      if (expr.isFunctionOfDim(axis))
        return vector.getDimSize(k);
    return 1;
  }
  size_t first = place.size() - vector.getRank();
  return axis < first
             ? 1
             : countMasked(mask, axis - first, vector.getDimSize(axis - first));
}

static Access findAccess(Operation *op) {
  return llvm::TypeSwitch<Operation *, Access>(op)
      .Case<memref::LoadOp>([](memref::LoadOp load) -> Access {
        return {load.getMemref(), load.getIndices()};
      })
      .Case<memref::StoreOp>([](memref::StoreOp store) -> Access {
        return {.buffer = store.getMemref(),
                .place = store.getIndices(),
                .writes = true};
      })
      .Case<vector::LoadOp>([](vector::LoadOp load) -> Access {
        return {load.getBase(), load.getIndices(), load.getVectorType()};
      })
      .Case<vector::StoreOp>([](vector::StoreOp store) -> Access {
        return {.buffer = store.getBase(),
                .place = store.getIndices(),
                .vector = store.getVectorType(),
                .writes = true};
      })
      .Case<vector::MaskedLoadOp>([](vector::MaskedLoadOp load) -> Access {
        return {load.getBase(), load.getIndices(), load.getVectorType(),
                load.getMask()};
      })
      .Case<vector::MaskedStoreOp>([](vector::MaskedStoreOp store) -> Access {
        return {.buffer = store.getBase(),
                .place = store.getIndices(),
                .vector = store.getVectorType(),
                .mask = store.getMask(),
                .writes = true};
      })
      .Case<vector::TransferReadOp>([](vector::TransferReadOp read) -> Access {
        return {.buffer = read.getBase(),
                .place = read.getIndices(),
                .vector = read.getVectorType(),
                .permutation = read.getPermutationMap()};
      })
      .Case<vector::TransferWriteOp>(
          [](vector::TransferWriteOp write) -> Access {
            return {.buffer = write.getBase(),
                    .place = write.getIndices(),
                    .vector = write.getVectorType(),
                    .permutation = write.getPermutationMap(),
                    .writes = true};
          })
      .Case<vector::GatherOp, vector::ExpandLoadOp>([](auto load) -> Access {
        return {.buffer = load.getBase(), .isAnywhere = true};
      })
      .Default([](Operation *) { return Access(); });
}

Access loopc::getAccess(Operation *op) {
  Access access = findAccess(op);
  access.op = op;
  return access;
}

void loopc::setPlace(const Access &access, unsigned axis, Value index) {
  for (OpOperand &operand : access.op->getOpOperands())
    if (operand.get() == access.buffer) {
      // Indices stand behind the buffer.
      access.op->setOperand(operand.getOperandNumber() + 1 + axis, index);
      return;
    }
}
