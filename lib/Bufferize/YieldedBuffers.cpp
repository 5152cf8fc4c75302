//===- YieldedBuffers.cpp - Buffers that regions yield --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bufferize.h"

#include "loopc/Bufferize/Models.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace mlir::bufferization;

namespace {
/// What a region yields is a result of the operation around it, under another
/// name. Loops say for themselves what their results are.
struct YieldModel
    : BufferizableOpInterface::ExternalModel<YieldModel, scf::YieldOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  /// A copy would be an allocation that leaves its region.
  bool mustBufferizeInPlace(Operation *, OpOperand &,
                            const AnalysisState &) const {
    return true;
  }

  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand,
                                      const AnalysisState &) const {
    Operation *around = op->getParentOp();
    bool isOneOfMany = isa<scf::IfOp, scf::IndexSwitchOp>(around);
    if (!isOneOfMany && !isa<scf::ExecuteRegionOp>(around))
      return {};
    return {{around->getResult(operand.getOperandNumber()),
             BufferRelation::Equivalent, /*isDefinite=*/!isOneOfMany}};
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    Operation *around = op->getParentOp();
    if (!isa<scf::ExecuteRegionOp, scf::IfOp, scf::IndexSwitchOp, scf::ForOp,
             scf::WhileOp>(around))
      return around->emitOpError("has no model of what it yields");
    SmallVector<Value> yielded;
    for (auto [k, value] : llvm::enumerate(op->getOperands())) {
      if (!isa<TensorType>(value.getType())) {
        yielded.push_back(value);
        continue;
      }
      FailureOr<Value> buffer = getBuffer(rewriter, value, options, state);
      if (failed(buffer))
        return failure();
      // What is yielded may have another layout than the result.
      if (isa<scf::IfOp, scf::IndexSwitchOp, scf::ForOp>(around)) {
        FailureOr<BufferLikeType> type =
            bufferization::getBufferType(around->getResult(k), options, state);
        if (failed(type))
          return failure();
        if (buffer->getType() != *type)
          buffer =
              memref::CastOp::create(rewriter, op->getLoc(), *type, *buffer)
                  .getResult();
      }
      yielded.push_back(*buffer);
    }
    replaceOpWithNewBufferizedOp<scf::YieldOp>(rewriter, op, yielded);
    return success();
  }
};
} // namespace

void loopc::registerYieldBufferizationModel(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, scf::SCFDialect *) {
    scf::YieldOp::attachInterface<YieldModel>(*context);
  });
}

/// The layout of `type` with those strides and that offset only that are the
/// same in `other`.
static MemRefType commonLayout(MemRefType type, MemRefType other) {
  auto [strides, offset] = type.getStridesAndOffset();
  auto [otherStrides, otherOffset] = other.getStridesAndOffset();
  for (auto [stride, otherStride] : llvm::zip_equal(strides, otherStrides))
    if (stride != otherStride)
      stride = ShapedType::kDynamic;
  if (offset != otherOffset)
    offset = ShapedType::kDynamic;
  return MemRefType::get(
      type.getShape(), type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), offset, strides),
      type.getMemorySpace());
}

void loopc::keepCommonStrides(OpResult result) {
  Operation *branches = result.getOwner();
  auto type = dyn_cast<MemRefType>(result.getType());
  if (!type || type.getLayout().isIdentity())
    return;
  MemRefType common;
  SmallVector<std::pair<OpOperand *, Value>> yielded;
  for (Region &region : branches->getRegions()) {
    OpOperand &operand =
        region.front().getTerminator()->getOpOperand(result.getResultNumber());
    auto cast = operand.get().getDefiningOp<memref::CastOp>();
    Value buffer = cast ? cast.getSource() : operand.get();
    auto from = dyn_cast<MemRefType>(buffer.getType());
    if (!from || !from.isStrided())
      return;
    MemRefType first = common ? common : from;
    common =
        commonLayout(MemRefType::get(type.getShape(), type.getElementType(),
                                     first.getLayout(), type.getMemorySpace()),
                     from);
    yielded.emplace_back(&operand, buffer);
  }
  if (!common || common.getLayout() == type.getLayout())
    return;
  OpBuilder b(branches);
  for (auto [operand, buffer] : yielded) {
    b.setInsertionPoint(operand->getOwner());
    operand->set(memref::CastOp::create(b, branches->getLoc(), common, buffer));
  }
  result.setType(common);
  b.setInsertionPointAfter(branches);
  auto cast = memref::CastOp::create(b, branches->getLoc(), type, result);
  result.replaceAllUsesExcept(cast, cast);
}
