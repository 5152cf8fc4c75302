//===- Bufferize.cpp - From tensors to buffers ----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-bufferize: MLIR's pass with loopc's analysis of what is in place.

#include "Bufferize.h"

#include "loopc/Bufferize/InPlaceAnalysis.h"
#include "loopc/Bufferize/Passes.h"
#include "loopc/Support/Diagnostics.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace loopc {
#define GEN_PASS_DEF_BUFFERIZETENSORS
#include "loopc/Bufferize/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace mlir::bufferization;

OneShotBufferizationOptions loopc::getBufferizationOptions() {
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

Operation *loopc::findUncompiled(ModuleOp module) {
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
  Operation *op = loopc::findUncompiled(module);
  if (!op)
    return success();
  return loopc::emitError(op->getLoc(), loopc::Diag::LoweringFailed)
         << "'" << op->getName()
         << "' is an operation on tensors that is not compiled: lower it to "
            "linalg, tensor and arith before (loopc-opt has MLIR's passes)";
}

/// The stride of an axis with one element says nothing. As the stride of a
/// buffer it would: MLIR asks strides which axes a view leaves out, and one of
/// 0 may be that of several.
template <typename SliceOp> static void dropStridesOfSingles(SliceOp slice) {
  SmallVector<OpFoldResult> strides = slice.getMixedStrides();
  OpFoldResult one = Builder(slice.getContext()).getIndexAttr(1);
  for (auto [size, stride] : llvm::zip_equal(slice.getMixedSizes(), strides))
    if (isConstantIntValue(size, 1))
      stride = one;
  SmallVector<Value> dynamic;
  SmallVector<int64_t> known;
  dispatchIndexOpFoldResults(strides, dynamic, known);
  slice.getStridesMutable().assign(dynamic);
  slice.setStaticStrides(known);
}

namespace {
struct BufferizePass : loopc::impl::BufferizeTensorsBase<BufferizePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    OneShotBufferizationOptions options = loopc::getBufferizationOptions();
    BufferizationState buffers;
    if (failed(checkOperations(module)))
      return signalPassFailure();
    module.walk([](Operation *op) {
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
        dropStridesOfSingles(slice);
      else if (auto slice = dyn_cast<tensor::InsertSliceOp>(op))
        dropStridesOfSingles(slice);
    });
    if (failed(insertCopies(module, options, buffers)) ||
        failed(bufferizeModuleOp(module, options, buffers)))
      return signalPassFailure();
    module.walk([](Operation *op) {
      if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
        llvm::for_each(op->getResults(), loopc::keepCommonStrides);
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
