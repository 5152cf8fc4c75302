//===- Bufferize.cpp - From tensors to buffers ----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-eliminate-empty-tensors and loopc-bufferize: MLIR's passes with
// loopc's analysis of what is in place.

#include "loopc/Bufferize/InPlaceAnalysis.h"
#include "loopc/Bufferize/Passes.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/Walk.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace loopc {
#define GEN_PASS_DEF_BUFFERIZEELIMINATEEMPTY
#define GEN_PASS_DEF_BUFFERIZETENSORS
#include "loopc/Bufferize/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace mlir::bufferization;

/// Whole functions; buffers are dense, also those that branches and loops
/// yield.
static OneShotBufferizationOptions getOptions() {
  OneShotBufferizationOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.allowReturnAllocsFromLoops = true;
  options.setFunctionBoundaryTypeConversion(LayoutMapOption::IdentityLayoutMap);
  options.unknownTypeConverterFn = [](TensorType type, Attribute space,
                                      const BufferizationOptions &) {
    return cast<BaseMemRefType>(
        getMemRefTypeWithStaticIdentityLayout(type, space));
  };
  return options;
}

/// An operation on tensors that has no buffers; null without one.
static Operation *findUncompiled(ModuleOp module) {
  Operation *found = nullptr;
  module.walk([&](Operation *op) {
    if (!hasTensorSemantics(op) || isa<BufferizableOpInterface>(op) ||
        isa<func::FuncOp>(op) || (op->use_empty() && isMemoryEffectFree(op)))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

/// MLIR's own error for such an operation does not name it.
static LogicalResult checkOperations(ModuleOp module) {
  Operation *op = findUncompiled(module);
  if (!op)
    return success();
  return loopc::emitError(op->getLoc(), loopc::Diag::LoweringFailed)
         << "'" << op->getName()
         << "' is an operation on tensors that is not compiled: lower it to "
            "linalg, tensor and arith before (loopc-opt has MLIR's passes)";
}

/// Moves `check` in front of operations that nobody sees run.
static void raise(loopc::loop::CheckOp check) {
  Operation *before = check;
  auto definesOperand = [&](Operation *op) {
    return llvm::any_of(check->getOperands(), [&](Value operand) {
      return operand.getDefiningOp() == op;
    });
  };
  while (Operation *op = before->getPrevNode()) {
    if (!isMemoryEffectFree(op) || definesOperand(op))
      break;
    before = op;
  }
  if (before != check)
    check->moveBefore(before);
}

/// True if a check stands between `first`, or what it is in, and `op`.
static bool isCheckedBetween(Operation *first, Operation *op) {
  for (; op; op = op->getParentOp()) {
    Operation *begin = op->getBlock()->findAncestorOpInBlock(*first);
    for (Operation *at = op->getPrevNode(); at && at != begin;
         at = at->getPrevNode())
      if (loopc::holdsOp<loopc::loop::CheckOp>(at))
        return true;
    if (begin)
      return false;
  }
  return true;
}

/// The part of its result that `insertion` writes, for `user` to compute there
/// what is inserted: behind the checks that hold the part to the result, as it
/// is written by then.
static Value takePart(RewriterBase &rewriter,
                      SubsetInsertionOpInterface insertion,
                      tensor::EmptyOp empty, Operation *user) {
  if (!loopc::loop::needsNoCheck(insertion) &&
      isCheckedBetween(user, insertion))
    return {};
  return buildSubsetExtraction(rewriter, insertion, empty, user);
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

/// The buffers that branches yield for a result have the strides that are
/// theirs in all branches: upstream leaves all of them open where one differs,
/// and elements whose neighbours are not known to be near are read one by one.
static void keepCommonStrides(OpResult result) {
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

namespace {
struct EliminateEmptyPass
    : loopc::impl::BufferizeEliminateEmptyBase<EliminateEmptyPass> {
  void runOnOperation() override {
    OneShotBufferizationOptions options = getOptions();
    // loopc-bufferize says which it is.
    if (findUncompiled(getOperation()))
      return;
    loopc::InPlaceState state(getOperation(), options);
    IRRewriter rewriter(&getContext());
    getOperation().walk(raise);
    if (failed(loopc::analyzeInPlace(getOperation(), state)) ||
        failed(
            eliminateEmptyTensors(rewriter, getOperation(), state, takePart)))
      signalPassFailure();
  }
};

struct BufferizePass : loopc::impl::BufferizeTensorsBase<BufferizePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    OneShotBufferizationOptions options = getOptions();
    BufferizationState buffers;
    if (failed(checkOperations(module)) ||
        failed(insertCopies(module, options, buffers)) ||
        failed(bufferizeModuleOp(module, options, buffers)))
      return signalPassFailure();
    module.walk([](Operation *op) {
      if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
        llvm::for_each(op->getResults(), keepCommonStrides);
    });
  }

private:
  /// The state of the analysis must not outlive the tensors.
  static LogicalResult insertCopies(ModuleOp module,
                                    const OneShotBufferizationOptions &options,
                                    const BufferizationState &buffers) {
    loopc::InPlaceState state(module, options);
    if (failed(loopc::analyzeInPlace(module, state)))
      return failure();
    return insertTensorCopies(module, static_cast<const AnalysisState &>(state),
                              buffers);
  }
};
} // namespace
