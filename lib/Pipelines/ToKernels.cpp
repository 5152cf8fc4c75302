//===- ToKernels.cpp - From nests of loops to kernels of a GPU ------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommonPasses.h"
#include "loopc/Codegen/GPU/Passes.h"
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
                                    const PipelineOptions &options) {
  bool hostLoops = options.deviceLoops == DeviceLoops::Host;
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(createFoldKernelViews(),
                    "what follows sees which rows an iteration writes");
  if (!hostLoops) {
    functions.addPass(
        createHoistAllocations({.hasLibdevice = options.hasLibdevice}),
        "a loop that allocates cannot be a kernel");
    functions.addPass(createSplitSums({.hasLibdevice = options.hasLibdevice}),
                      "of loops that can be kernels now: each block would go "
                      "through a whole sum");
  }
  functions.addPass(
      createMakeLoneNests({.minWork = options.minKernelWork,
                           .hasLibdevice = options.hasLibdevice,
                           .hostLoops = hostLoops}),
      "what the host would compute of results of kernels makes it "
      "wait");
  functions.addPass(createFuseNests({.hasLibdevice = options.hasLibdevice,
                                     .cublas = options.cublas,
                                     .allowTf32 = options.allowTf32}),
                    "fewer launches; with the nests of the pass before, and "
                    "before any is chosen");
  functions.addPass(createSplitLibraryProducts({.cublas = options.cublas,
                                                .allowTf32 = options.allowTf32,
                                                .hostLoops = hostLoops}),
                    "what fusing has left of products that the library may "
                    "compute");
  functions.addPass(
      createNestRetractUnproved({.forKernels = true}),
      "nests are as they stay: what the passes above have made is "
      "proved, too, before threads share it");
  functions.addPass(createSelectKernels({.minWork = options.minKernelWork,
                                         .hasLibdevice = options.hasLibdevice,
                                         .hostLoops = hostLoops}),
                    "what is left is worth a launch, or belongs to what is");
  functions.addPass(createPlaceBuffers(), "who touches a buffer is known");
}

void loopc::populateKernels(PassAdder manager, const PipelineOptions &options) {
  manager.nest<func::FuncOp>().addPass(
      createPromoteAccumulators(),
      "fewer accesses that a kernel would have to wait for");
  manager.addPass(createOutlineKernels(),
                  "captures are final: all that a region touches is where the "
                  "GPU reaches it");
  manager.addPass(createSliceKernelLoops({.allowTf32 = options.allowTf32,
                                          .loops = options.deviceLoops}),
                  "on code for one thread, in which dependences can be seen");
  manager.addPass(createProveKernelMarks(),
                  "nests in kernels are as they stay until threads share them");
  manager.addPass(createMakeLoopGraphs({.allowTf32 = options.allowTf32,
                                        .loops = options.deviceLoops}),
                  "of loops that are left as they were");
  manager.addPass(createDistributeKernels({.allowTf32 = options.allowTf32}),
                  "what stays a kernel is for many threads");
  manager.addPass(createLaunchKernels({.allowTf32 = options.allowTf32,
                                       .loops = options.deviceLoops,
                                       .cublas = options.cublas}),
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

namespace {
struct KernelPipelineOptions : PassPipelineOptions<KernelPipelineOptions> {
  Option<unsigned> minWork{
      *this, "min-work",
      llvm::cl::desc("operations up to which a nest stays on the host"),
      llvm::cl::init(2048)};
  Option<bool> allowTf32{
      *this, "allow-tf32",
      llvm::cl::desc("tensor cores may round what products of f32 multiply"),
      llvm::cl::init(false)};
  Option<DeviceLoops> loops{
      *this, "loops", llvm::cl::desc("what loops become"),
      llvm::cl::init(DeviceLoops::Auto),
      llvm::cl::values(
          clEnumValN(DeviceLoops::Auto, "auto", "by cost"),
          clEnumValN(DeviceLoops::Kernel, "kernel", "kernels"),
          clEnumValN(DeviceLoops::Cluster, "cluster", "kernels of one cluster"),
          clEnumValN(DeviceLoops::Graph, "graph", "graphs"),
          clEnumValN(DeviceLoops::Host, "host", "the host's"))};
  Option<Cublas> cublas{
      *this, "cublas",
      llvm::cl::desc("products of matrices that cuBLAS may compute"),
      llvm::cl::init(Cublas::Off),
      llvm::cl::values(clEnumValN(Cublas::Auto, "auto", "large ones"),
                       clEnumValN(Cublas::On, "on", "all that it can"),
                       clEnumValN(Cublas::Off, "off", "none"))};
  Option<bool> hasLibdevice{
      *this, "libdevice",
      llvm::cl::desc("functions of CUDA's libdevice may be called"),
      llvm::cl::init(false)};
};
} // namespace

void loopc::registerKernelPipeline() {
  PassPipelineRegistration<KernelPipelineOptions>(
      "loopc-to-kernels", "from loops on buffers to kernels and launches",
      [](OpPassManager &manager, const KernelPipelineOptions &given) {
        PipelineOptions options;
        options.minKernelWork = given.minWork;
        options.allowTf32 = given.allowTf32;
        options.deviceLoops = given.loops;
        options.cublas = given.cublas;
        options.hasLibdevice = given.hasLibdevice;
        populateKernelSelection(PassAdder(manager), options);
        populateKernels(PassAdder(manager), options);
      });
}
