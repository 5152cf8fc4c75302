//===- ConcatBuffers.cpp - Bufferization of tensor.concat -----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Bufferize/Models.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace mlir::bufferization;

namespace {
/// Parts are copied into a buffer of their own:
///
///   %c = tensor.concat dim(0) %a, %b
///   ->
///   %n = arith.addi %rows_a, %rows_b
///   %c = memref.alloc(%n)
///   memref.copy %a, %c[0][%rows_a]
///   memref.copy %b, %c[%rows_a][%rows_b]
struct ConcatModel
    : BufferizableOpInterface::ExternalModel<ConcatModel, tensor::ConcatOp> {
  bool bufferizesToAllocation(Operation *, Value) const { return true; }
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *, OpOperand &,
                                      const AnalysisState &) const {
    return {};
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto concat = cast<tensor::ConcatOp>(op);
    Location loc = op->getLoc();
    uint64_t axis = concat.getDim();
    SmallVector<Value> parts;
    SmallVector<OpFoldResult> places, extents;
    OpFoldResult total = rewriter.getIndexAttr(0);
    for (Value input : concat.getInputs()) {
      FailureOr<Value> buffer = getBuffer(rewriter, input, options, state);
      if (failed(buffer))
        return failure();
      parts.push_back(*buffer);
      places.push_back(total);
      extents.push_back(memref::getMixedSize(rewriter, loc, *buffer, axis));
      total = add(rewriter, loc, total, extents.back());
    }
    auto type = cast<MemRefType>(
        getMemRefTypeWithStaticIdentityLayout(concat.getResultType()));
    SmallVector<OpFoldResult> sizes =
        memref::getMixedSizes(rewriter, loc, parts.front());
    sizes[axis] = total;
    SmallVector<Value> open;
    for (auto [k, size] : llvm::enumerate(sizes))
      if (type.isDynamicDim(k))
        open.push_back(getValueOrCreateConstantIndexOp(rewriter, loc, size));
      else
        size = rewriter.getIndexAttr(type.getDimSize(k));
    FailureOr<Value> whole = options.createAlloc(rewriter, loc, type, open);
    if (failed(whole))
      return failure();
    SmallVector<OpFoldResult> offsets(sizes.size(), rewriter.getIndexAttr(0));
    SmallVector<OpFoldResult> ones(sizes.size(), rewriter.getIndexAttr(1));
    for (auto [part, place, extent] : llvm::zip_equal(parts, places, extents)) {
      offsets[axis] = place;
      sizes[axis] = extent;
      // MLIR has no view of no element: its offset is outside.
      if (llvm::any_of(sizes, [](OpFoldResult size) {
            return isConstantIntValue(size, 0);
          }))
        continue;
      Value room = memref::SubViewOp::create(rewriter, loc, *whole, offsets,
                                             sizes, ones);
      if (failed(options.createMemCpy(rewriter, loc, part, room)))
        return failure();
    }
    replaceOpWithBufferizedValues(rewriter, op, *whole);
    return success();
  }

private:
  static OpFoldResult add(OpBuilder &b, Location loc, OpFoldResult one,
                          OpFoldResult other) {
    std::optional<int64_t> x = getConstantIntValue(one);
    std::optional<int64_t> y = getConstantIntValue(other);
    if (x && y)
      return b.getIndexAttr(*x + *y);
    if (x == 0)
      return other;
    return b.createOrFold<arith::AddIOp>(
        loc, getValueOrCreateConstantIndexOp(b, loc, one),
        getValueOrCreateConstantIndexOp(b, loc, other));
  }
};
} // namespace

void loopc::registerConcatBufferizationModel(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    tensor::ConcatOp::attachInterface<ConcatModel>(*context);
  });
}
