//===- ToKernels.cpp - From nests of loops to kernels of a GPU ------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommonPasses.h"
#include "loopc/Codegen/GPU/Kernels/Passes.h"
#include "loopc/Codegen/GPU/Regions/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "loopc/Dialect/Nest/Transforms/Passes.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace loopc;

void loopc::populateGrowth(PassAdder manager, const PipelineOptions &) {
  manager.nest<func::FuncOp>().addPass(
      createLiftGrowth(),
      "before kernels are selected: a loop that reallocates cannot be a "
      "kernel, its iterations between two reallocations can");
}

void loopc::populateKernelInvariants(PassAdder manager,
                                     const PipelineOptions &) {
  manager.nest<func::FuncOp>().addPass(createLoopHoistInvariants(),
                                       "hoists addresses of weights");
}

void loopc::populateKernelSelection(PassAdder manager,
                                    const PipelineOptions &) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(
      createFoldKernelViews(),
      "the passes behind see which elements of a buffer an iteration writes");
  functions.addPass(createHoistAllocations(),
                    "a loop that allocates cannot be a kernel");
  functions.addPass(
      createSplitSums(),
      "after allocations are hoisted: a sum beside a nest is cut into parts, "
      "since each block would otherwise compute all of it");
  functions.addPass(
      createMakeSingleIterationNests(),
      "what the host computes from results of kernels would make it wait");
  functions.addPass(createFuseNests(),
                    "fewer launches; takes the nests of the pass above too, "
                    "and runs before any is selected");
  functions.addPass(
      createSplitLibraryProducts(),
      "contractions that the library may compute, which fusion has left alone");
  functions.addPass(createNestRetractUnproved(),
                    "the passes above rewrite nests and set marks: each is "
                    "proved, or retracted, before threads rely on it");
  functions.addPass(
      createSelectKernels(),
      "nests are final; the cost model decides which are worth a launch");
  functions.addPass(createPlaceBuffers(),
                    "which kernels use a buffer is known");
}

void loopc::populateKernels(PassAdder manager, const PipelineOptions &) {
  manager.nest<func::FuncOp>().addPass(
      createPromoteAccumulators(),
      "before kernels are outlined; removes loads and stores in reductions");
  manager.addPass(
      createOutlineKernels(),
      "what a region captures is final, and lies where the GPU can reach it");
  manager.addPass(createSliceKernelLoops(),
                  "the kernel is code for one thread still, on which "
                  "dependence analysis works");
  manager.addPass(
      createProveKernelMarks(),
      "nests in kernels are final until work is distributed to threads");
  manager.addPass(createMakeLoopGraphs(),
                  "takes loops that loopc-slice-kernel-loops did not slice");
  manager.addPass(createDistributeKernels(),
                  "what is still a kernel gets many threads");
  manager.addPass(createLaunchKernels(),
                  "the grid depends on how the work was distributed");
  manager.nest<func::FuncOp>().addPass(createInsertWaits(),
                                       "all launches and copies exist");
}

void loopc::populateKernelsToLLVM(PassAdder manager, const PipelineOptions &) {
  PassAdder kernels = manager.nest<gpu::GPUModuleOp>();
  kernels.addPass(createLowerKernels(),
                  "after branches: a check that fails returns from the kernel");
  kernels.addPass(
      createConvertGpuOpsToNVVMOps(),
      "the conversions for the host do not know the operations of kernels");
  addCleanup(kernels, "folds casts between index and i64");
  kernels.addPass(createReconcileUnrealizedCastsPass(),
                  "kernels are in LLVM's dialect");
  manager.addPass(createConvertLaunchesToLLVM(),
                  "kernels have their final arguments");
}

void loopc::registerKernelPipeline() {
  PassPipelineRegistration<>("loopc-to-kernels",
                             "from loops on buffers to kernels and launches",
                             [](OpPassManager &manager) {
                               populateKernelSelection(PassAdder(manager), {});
                               populateKernels(PassAdder(manager), {});
                             });
}
