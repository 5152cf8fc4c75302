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
      "before kernels are chosen: a loop that makes room for itself cannot be "
      "one, its iterations between two growths can");
}

void loopc::populateKernelInvariants(PassAdder manager,
                                     const PipelineOptions &) {
  manager.nest<func::FuncOp>().addPass(
      createLoopHoistInvariants(),
      "what each iteration would make anew: addresses of weights");
}

void loopc::populateKernelSelection(PassAdder manager,
                                    const PipelineOptions &) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(createFoldKernelViews(),
                    "what follows sees which rows an iteration writes");
  functions.addPass(createHoistAllocations(),
                    "a loop that allocates cannot be a kernel");
  functions.addPass(createSplitSums(),
                    "of loops that can be kernels now: each block would go "
                    "through a whole sum");
  functions.addPass(createMakeSingleIterationNests(),
                    "what the host would compute of results of kernels makes "
                    "it wait");
  functions.addPass(createFuseNests(),
                    "fewer launches; with the nests of the pass before, and "
                    "before any is chosen");
  functions.addPass(createSplitLibraryProducts(),
                    "what fusing has left of products that the library may "
                    "compute");
  functions.addPass(createNestRetractUnproved(),
                    "nests are as they stay: what the passes above have made "
                    "is proved, too, before threads share it");
  functions.addPass(createSelectKernels(),
                    "what is left is worth a launch, or belongs to what is");
  functions.addPass(createPlaceBuffers(), "who touches a buffer is known");
}

void loopc::populateKernels(PassAdder manager, const PipelineOptions &) {
  manager.nest<func::FuncOp>().addPass(
      createPromoteAccumulators(),
      "fewer accesses that a kernel would have to wait for");
  manager.addPass(createOutlineKernels(),
                  "captures are final: all that a region touches is where the "
                  "GPU reaches it");
  manager.addPass(createSliceKernelLoops(),
                  "on code for one thread, in which dependences can be seen");
  manager.addPass(createProveKernelMarks(),
                  "nests in kernels are as they stay until threads share them");
  manager.addPass(createMakeLoopGraphs(),
                  "of loops that are left as they were");
  manager.addPass(createDistributeKernels(),
                  "what stays a kernel is for many threads");
  manager.addPass(createLaunchKernels(),
                  "a grid depends on how the work is dealt out");
  manager.nest<func::FuncOp>().addPass(createInsertWaits(),
                                       "all that is begun on the GPU is there");
}

void loopc::populateKernelsToLLVM(PassAdder manager, const PipelineOptions &) {
  PassAdder kernels = manager.nest<gpu::GPUModuleOp>();
  kernels.addPass(createLowerKernels(),
                  "behind branches: a check that fails leaves the kernel");
  kernels.addPass(createConvertGpuOpsToNVVMOps(),
                  "kernels have GPU code of their own, which the conversions "
                  "for the host behind do not know");
  addCleanup(kernels, "casts between index and i64");
  kernels.addPass(createReconcileUnrealizedCastsPass(),
                  "a kernel is in LLVM's dialect altogether");
  manager.addPass(createConvertLaunchesToLLVM(),
                  "kernels have their final arguments; what is left is the "
                  "host's");
}

void loopc::registerKernelPipeline() {
  PassPipelineRegistration<>("loopc-to-kernels",
                             "from loops on buffers to kernels and launches",
                             [](OpPassManager &manager) {
                               populateKernelSelection(PassAdder(manager), {});
                               populateKernels(PassAdder(manager), {});
                             });
}
