//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Pipelines/Pipelines.h"
#include "loopc/Bufferize/Passes.h"
#include "loopc/Codegen/CPU/Passes.h"
#include "loopc/Codegen/GPU/Passes.h"
#include "loopc/Codegen/GPU/Pipeline.h"
#include "loopc/Conversion/LoopToSCF/Passes.h"
#include "loopc/Conversion/ONNXToLinalg/Passes.h"
#include "loopc/Conversion/ToLLVM/Passes.h"
#include "loopc/Conversion/UnknownRank/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Canonicalizer.h"
#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "loopc/Dialect/Nest/Transforms/Passes.h"
#include "loopc/Dialect/ONNX/Transforms/Passes.h"
#include "loopc/Instrument/Passes.h"
#include "loopc/Pipelines/Passes.h"
#include "loopc/Support/PassAdder.h"
#include "loopc/Tensor/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace loopc;

static void addCleanup(PassAdder manager) {
  manager.addPass(createCanonicalizer());
  manager.addPass(createEliminateCommon());
}

/// What holds here, checked (docs/Architecture.md).
static void endStage(PassAdder manager, Stage stage) {
  manager.addPass(createVerifyStage({stage}));
}

/// Tells all passes the target, where it is not in the module already.
static void addTarget(PassAdder manager, const PipelineOptions &options) {
  if (!options.vectors)
    return;
  SetTargetOptions target;
  target.vectorBits = options.vectors->bits;
  target.registers = options.vectors->registers;
  target.maskBits = options.vectors->maskBits;
  target.dotBits = options.vectors->dotBits;
  target.scales = options.vectors->scales;
  manager.addPass(createSetTarget(target));
}

/// Types and ranks, to a fixpoint.
static void addInference(PassAdder manager) {
  manager.addNestedPass<func::FuncOp>(onnx::createONNXInferTypes());
}

/// Operators to linalg; loops on scalars where they can be.
static void addToLinalg(PassAdder manager, const PipelineOptions &options) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(createONNXSwitchOnRank());
  ConvertONNXToLinalgOptions convert;
  convert.channelsLast = options.optLevel > 0 && options.chip.empty();
  // Tensor cores multiply 8 bits; a difference has 9.
  convert.forKernels = !options.chip.empty();
  convert.dotProducts = options.optLevel > 0 && options.chip.empty();
  functions.addPass(createConvertONNXToLinalg(convert));
  functions.addPass(createLoopLowerScan());
  functions.addPass(createLoopLowerUnranked());
  if (!options.chip.empty())
    functions.addPass(createLoopExpandFourier());
  functions.addPass(createConvertElementwiseToLinalgPass());
  functions.addPass(createLoopScalarize());
  addCleanup(functions);
  if (options.optLevel > 0)
    functions.addPass(createLoopCountTrips());
  functions.addPass(createLoopLowerSlices());
  functions.addPass(createLoopHoistDims());
  addCleanup(functions);
  if (options.optLevel > 0) {
    functions.addPass(createLoopVersionShapes());
    addCleanup(functions);
    if (options.chip.empty())
      functions.addPass(createLoopChooseLayouts());
    functions.addPass(createLoopFoldConstants());
    functions.addPass(createLoopHoistInvariants());
    functions.addPass(createLoopHoistDims());
    functions.addPass(createLoopHoistChecks());
    addCleanup(functions);
    functions.addPass(createLoopFuseLoops());
    functions.addPass(createLoopCollectAppended());
    if (options.chip.empty()) {
      functions.addPass(createLoopDistributeStages());
      functions.addPass(createCanonicalizer());
    }
  }
  functions.addPass(createLoopCollectInPlace());
  addCleanup(functions);
  if (options.optLevel > 0) {
    manager.addNestedPass<func::FuncOp>(createLoopBatchSlices());
    manager.addNestedPass<func::FuncOp>(createLoopFuseElementwise());
    manager.addNestedPass<func::FuncOp>(createLoopWidenFactors());
    manager.addNestedPass<func::FuncOp>(createLoopGrowInPlace());
    if (!options.chip.empty()) {
      addCleanup(manager);
      return;
    }
    manager.addNestedPass<func::FuncOp>(createLoopInterchangeElements());
    manager.addNestedPass<func::FuncOp>(createLoopInterchangeScans());
    addCleanup(manager);
    manager.addPass(createLoopPackContractions());
    manager.addNestedPass<func::FuncOp>(createLoopKeepInRegisters());
    manager.addNestedPass<func::FuncOp>(createLoopUnrollSmall());
    addCleanup(manager);
    manager.addNestedPass<func::FuncOp>(createLoopFuseReductions());
    manager.addNestedPass<func::FuncOp>(createLoopHoistInvariants());
    // Transposes that were packed through, constants that nobody reads now.
    addCleanup(manager);
  }
}

static void addToMemRef(PassAdder manager, const PipelineOptions &options) {
  manager.addPass(createMarkInputsReadOnly());
  manager.addNestedPass<func::FuncOp>(createLoopPrivatizeEmpty());
  manager.addPass(createBufferizeEliminateEmpty());
  manager.addPass(createBufferizeTensors());
  manager.addPass(createLoopSettleViews());
  addCleanup(manager);
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(createLoopLowerCollected());
  functions.addPass(createCanonicalizer());
  functions.addPass(createLoopPlaceDeallocations());
  LoopAssignStorageOptions storage;
  storage.straight = options.optLevel > 0 && options.chip.empty();
  functions.addPass(createLoopAssignStorage(storage));
  functions.addPass(createCanonicalizer());
}

static ConvertLinalgToNestsOptions
getNestsOptions(const PipelineOptions &options) {
  ConvertLinalgToNestsOptions nests;
  nests.parallelFirst = !options.chip.empty();
  return nests;
}

static void addToSCF(PassAdder manager, const PipelineOptions &options) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(createLowerBufferCopies());
  if (options.optLevel > 0 && options.chip.empty()) {
    functions.addPass(createLoopVectorizeContractions());
    functions.addPass(createLoopVectorizeRows());
  }
  functions.addPass(createConvertLinalgToNests(getNestsOptions(options)));
  functions.addPass(createConvertLoopToSCF());
  // Extents and places of elements are there many times.
  functions.addPass(createEliminateCommon());
  functions.addPass(createCanonicalizer());
  if (options.optLevel > 0 && options.chip.empty())
    functions.addPass(createLoopFuseOutermost());
  functions.addPass(createNestRetractUnproved());
  endStage(manager, Stage::SCF);
  // What comes later makes no accesses of its own but copies of whole buffers.
  if (options.checkAccesses)
    manager.addPass(createLoopCheckAccesses());
}

/// Nests and loops as kernels.
static void addKernels(PassAdder manager, const PipelineOptions &options) {
  if (options.optLevel > 0)
    manager.addNestedPass<func::FuncOp>(createLiftGrowth());
  // What each iteration would make anew: addresses of weights.
  manager.addNestedPass<func::FuncOp>(createLoopHoistInvariants());
  KernelOptions kernels;
  kernels.chip = options.chip;
  kernels.minWork = options.minKernelWork;
  kernels.allowTf32 = options.allowTf32;
  kernels.loops = options.deviceLoops;
  kernels.cublas = options.cublas;
  kernels.hasLibdevice = options.hasLibdevice;
  populateKernelSelection(manager, kernels);
  populateKernels(manager, kernels);
}

static void addKernelsToLLVM(PassAdder manager) {
  PassAdder kernels = manager.nest<gpu::GPUModuleOp>();
  kernels.addPass(createLowerKernels());
  kernels.addPass(createConvertGpuOpsToNVVMOps());
  addCleanup(kernels);
  kernels.addPass(createReconcileUnrealizedCastsPass());
}

static void addToLLVM(PassAdder manager, const PipelineOptions &options) {
  if (options.chip.empty()) {
    ExpandViewsOptions views;
    views.onlyCollapsed = true;
    manager.addPass(createExpandViews(views));
  } else {
    manager.addPass(memref::createFoldMemRefAliasOpsPass());
  }
  manager.addPass(createMakeEntryPoint());
  manager.addPass(createExternalizeWeights());
  manager.addPass(createExpandViews());
  addCleanup(manager);
  // Copies of what turned out to be strided views.
  manager.addNestedPass<func::FuncOp>(createLowerBufferCopies());
  manager.addNestedPass<func::FuncOp>(
      createConvertLinalgToNests(getNestsOptions(options)));
  // Vectors that go to elements apart from one another.
  manager.addPass(createLowerTransfers());
  if (!options.chip.empty())
    addKernels(manager, options);
  else if (options.optLevel > 0)
    manager.addPass(createParallelizeNests());
  manager.addPass(createOutlineNests());
  manager.addPass(createDivideBlocks());
  manager.addPass(createExpandMath());
  manager.addPass(createLowerAffinePass());
  // Before there are branches: it rewrites, and would simplify them each time.
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createBranchesBackwards());
  if (!options.chip.empty())
    addKernelsToLLVM(manager);
  if (!options.chip.empty())
    manager.addPass(createConvertLaunchesToLLVM());
  manager.addPass(createConvertLoopRuntimeToLLVM());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertMathToLibmPass());
  // All in one conversion: each goes through the whole module.
  ConvertToLLVMPassOptions rest;
  rest.filterDialects = {"arith", "cf",     "complex", "func",
                         "index", "memref", "ub"};
  rest.useDynamic = true;
  manager.addPass(createConvertToLLVMPass(rest));
  // To find equal blocks, or dead ones, takes longer than LLVM's work on them,
  // and a second round finds next to nothing.
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  config.setMaxIterations(1);
  manager.addPass(createCanonicalizerPass(config));
  manager.addPass(createEliminateCommon());
  manager.addPass(createReconcileUnrealizedCastsPass());
  manager.addPass(createShareNests());
}

void loopc::buildPipeline(OpPassManager &passes, const PipelineOptions &options,
                          Stage until) {
  PassAdder manager(passes, options.disabledPasses);
  addInference(manager);
  if (until == Stage::ONNX)
    return;
  addCleanup(manager);
  if (until == Stage::Loop)
    return;
  addTarget(manager, options);
  addToLinalg(manager, options);
  endStage(manager, Stage::Linalg);
  if (until == Stage::Linalg)
    return;
  addToMemRef(manager, options);
  endStage(manager, Stage::MemRef);
  if (until == Stage::MemRef)
    return;
  addToSCF(manager, options);
  if (until == Stage::SCF)
    return;
  addToLLVM(manager, options);
  endStage(manager, Stage::LLVM);
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
  registerKernelPipeline();
}
