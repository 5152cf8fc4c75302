//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Bufferize/Models.h"

#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace mlir::bufferization;

/// True if `write` leaves no element of the tensor as it was.
static bool writesAll(vector::TransferWriteOp write) {
  ShapedType type = write.getShapedType();
  auto isZero = [](Value index) { return isConstantIntValue(index, 0); };
  if (!type.hasStaticShape() || write.getMask() || write.isMasked() ||
      !llvm::all_of(write.getIndices(), isZero))
    return false;
  SmallVector<int64_t> written(type.getRank(), 1);
  for (auto [expr, size] :
       llvm::zip_equal(write.getPermutationMap().getResults(),
                       write.getVectorType().getShape()))
    if (auto axis = dyn_cast<AffineDimExpr>(expr))
      written[axis.getPosition()] = size;
  return llvm::all_of_zip(
      type.getShape(), written,
      [](int64_t extent, int64_t size) { return extent <= size; });
}

namespace {
struct WriteModel
    : DstBufferizableOpInterfaceExternalModel<WriteModel,
                                              vector::TransferWriteOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    auto write = cast<vector::TransferWriteOp>(op);
    return write.isDpsInput(&operand) || !writesAll(write);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto write = cast<vector::TransferWriteOp>(op);
    FailureOr<Value> buffer =
        getBuffer(rewriter, write.getBase(), options, state);
    if (failed(buffer))
      return failure();
    vector::TransferWriteOp::create(rewriter, write.getLoc(), write.getVector(),
                                    *buffer, write.getIndices(),
                                    write.getPermutationMapAttr(),
                                    write.getMask(), write.getInBoundsAttr());
    replaceOpWithBufferizedValues(rewriter, op, *buffer);
    return success();
  }
};
} // namespace

void loopc::registerVectorWriteModel(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, vector::VectorDialect *) {
    vector::TransferWriteOp::attachInterface<WriteModel>(*context);
  });
}
