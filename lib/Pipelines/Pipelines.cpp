//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Pipelines/Pipelines.h"
#include "loopc/Conversion/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "loopc/Dialect/ONNX/Transforms/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace loopc;

static void addCleanup(OpPassManager &manager) {
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

/// Types and ranks, to a fixpoint.
static void addInference(OpPassManager &manager) {
  manager.addNestedPass<func::FuncOp>(onnx::createONNXInferTypes());
}

/// Operators to linalg; loops on scalars where they can be.
static void addToLinalg(OpPassManager &manager,
                        const PipelineOptions &options) {
  auto &functions = manager.nest<func::FuncOp>();
  functions.addPass(createONNXSwitchOnRank());
  functions.addPass(createConvertONNXToLinalg());
  functions.addPass(createLoopLowerScan());
  functions.addPass(createLoopLowerUnranked());
  functions.addPass(createConvertElementwiseToLinalgPass());
  functions.addPass(createLoopScalarize());
  addCleanup(functions);
  functions.addPass(createLoopLowerSlices());
  functions.addPass(createLoopHoistDims());
  addCleanup(functions);
  if (options.optLevel > 0) {
    functions.addPass(createLoopFoldConstants());
    functions.addPass(createLoopInvariantCodeMotionPass());
    functions.addPass(createLoopHoistDims());
    functions.addPass(createLoopCollectAppended());
  }
  functions.addPass(createLoopCollectInPlace());
  addCleanup(functions);
  if (options.optLevel > 0) {
    manager.addNestedPass<func::FuncOp>(createLoopBatchSlices());
    manager.addNestedPass<func::FuncOp>(createLoopFuseElementwise());
    manager.addNestedPass<func::FuncOp>(createLoopWidenFactors());
    addCleanup(manager);
    manager.addNestedPass<func::FuncOp>(createLoopGrowInPlace());
    LoopInterchangeElementsOptions interchange;
    interchange.vectorBits = options.vectors.bits;
    interchange.registers = options.vectors.registers;
    manager.addNestedPass<func::FuncOp>(
        createLoopInterchangeElements(interchange));
    addCleanup(manager);
    LoopPackContractionsOptions pack;
    pack.vectorBits = options.vectors.bits;
    pack.registers = options.vectors.registers;
    manager.addPass(createLoopPackContractions(pack));
    LoopKeepInRegistersOptions keep;
    keep.vectorBits = options.vectors.bits;
    manager.addNestedPass<func::FuncOp>(createLoopKeepInRegisters(keep));
    addCleanup(manager);
    manager.addNestedPass<func::FuncOp>(createLoopInvariantCodeMotionPass());
    // Transposes that were packed through, constants that nobody reads now.
    addCleanup(manager);
  }
}

static void addToMemRef(OpPassManager &manager) {
  manager.addPass(createMarkInputsReadOnly());
  manager.addNestedPass<func::FuncOp>(createLoopPrivatizeEmpty());
  manager.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  bufferize.allowReturnAllocsFromLoops = true;
  manager.addPass(bufferization::createOneShotBufferizePass(bufferize));
  addCleanup(manager);
  auto &functions = manager.nest<func::FuncOp>();
  functions.addPass(createLoopLowerCollected());
  addCleanup(functions);
  functions.addPass(createLoopPlaceDeallocations());
  addCleanup(functions);
  functions.addPass(createLoopAssignStorage());
  addCleanup(functions);
}

static void addToSCF(OpPassManager &manager, const PipelineOptions &options) {
  auto &functions = manager.nest<func::FuncOp>();
  functions.addPass(createLowerBufferCopies());
  if (options.optLevel > 0) {
    LoopVectorizeContractionsOptions vectorize;
    vectorize.vectorBits = options.vectors.bits;
    vectorize.registers = options.vectors.registers;
    vectorize.maskBits = options.vectors.maskBits;
    functions.addPass(createLoopVectorizeContractions(vectorize));
    LoopVectorizeRowsOptions rows;
    rows.vectorBits = options.vectors.bits;
    rows.maskBits = options.vectors.maskBits;
    functions.addPass(createLoopVectorizeRows(rows));
  }
  functions.addPass(createConvertLinalgToLoopsPass());
  functions.addPass(createConvertLoopToSCF());
  addCleanup(functions);
}

static void addToLLVM(OpPassManager &manager) {
  manager.addPass(memref::createFoldMemRefAliasOpsPass());
  manager.addPass(createMakeEntryPoint());
  manager.addPass(createExternalizeWeights());
  manager.addPass(createExpandViews());
  manager.addPass(memref::createExpandStridedMetadataPass());
  addCleanup(manager);
  // Copies of what turned out to be strided views.
  manager.addNestedPass<func::FuncOp>(createLowerBufferCopies());
  manager.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  // Vectors that go to elements apart from one another.
  manager.addPass(createConvertVectorToSCFPass());
  manager.addPass(createOutlineNests());
  manager.addPass(createExpandMath());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertLoopRuntimeToLLVM());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertMathToLibmPass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  manager.addPass(createConvertFuncToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertComplexToLLVMPass());
  manager.addPass(createConvertIndexToLLVMPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createUBToLLVMConversionPass());
  addCleanup(manager);
  manager.addPass(createReconcileUnrealizedCastsPass());
}

void loopc::buildPipeline(OpPassManager &manager,
                          const PipelineOptions &options, Stage until) {
  addInference(manager);
  if (until == Stage::ONNX)
    return;
  addCleanup(manager);
  if (until == Stage::Loop)
    return;
  addToLinalg(manager, options);
  if (until == Stage::Linalg)
    return;
  addToMemRef(manager);
  if (until == Stage::MemRef)
    return;
  addToSCF(manager, options);
  if (until == Stage::SCF)
    return;
  addToLLVM(manager);
}

void loopc::registerPipelines() {
  struct Entry {
    StringRef name, summary;
    Stage stage;
  };
  static constexpr Entry entries[] = {
      {"loopc-to-onnx", "infer types of the import", Stage::ONNX},
      {"loopc-to-loop", "infer types and canonicalise loops", Stage::Loop},
      {"loopc-to-linalg", "from the import to linalg in loops", Stage::Linalg},
      {"loopc-to-memref", "from the import to buffers", Stage::MemRef},
      {"loopc-to-scf", "from the import to scf", Stage::SCF},
      {"loopc-to-llvm", "from the import to the LLVM dialect", Stage::LLVM},
  };
  for (const Entry &entry : entries) {
    Stage stage = entry.stage;
    PassPipelineRegistration<>(
        entry.name, entry.summary,
        [stage](OpPassManager &manager) { buildPipeline(manager, {}, stage); });
  }
}
