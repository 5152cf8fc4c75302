//===- Pipeline.cpp - Passes to kernels in their order --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Codegen/GPU/Pipeline.h"
#include "loopc/Codegen/GPU/Passes.h"
#include "loopc/Dialect/Nest/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace loopc;

void loopc::populateKernelSelection(PassAdder manager,
                                    const KernelOptions &options) {
  bool hostLoops = options.loops == DeviceLoops::Host;
  PassAdder functions = manager.nest<func::FuncOp>();
  // So that what follows sees which rows an iteration writes.
  functions.addPass(createFoldKernelViews());
  if (!hostLoops) {
    // A loop that allocates cannot be a kernel.
    HoistAllocationsOptions hoist;
    hoist.hasLibdevice = options.hasLibdevice;
    functions.addPass(createHoistAllocations(hoist));
    // In a loop that is a kernel each block would go through a whole sum.
    SplitSumsOptions sums;
    sums.hasLibdevice = options.hasLibdevice;
    functions.addPass(createSplitSums(sums));
  }
  // What the host would compute of results of kernels makes it wait.
  MakeLoneNestsOptions lone;
  lone.minWork = options.minWork;
  lone.hasLibdevice = options.hasLibdevice;
  lone.hostLoops = hostLoops;
  functions.addPass(createMakeLoneNests(lone));
  // Fewer launches; with the nests of the pass before, and before any is
  // chosen.
  FuseNestsOptions fuse;
  fuse.hasLibdevice = options.hasLibdevice;
  fuse.cublas = options.cublas;
  fuse.allowTf32 = options.allowTf32;
  functions.addPass(createFuseNests(fuse));
  // What fusing has left of products that the library may compute.
  SplitLibraryProductsOptions products;
  products.cublas = options.cublas;
  products.allowTf32 = options.allowTf32;
  products.hostLoops = hostLoops;
  functions.addPass(createSplitLibraryProducts(products));
  // Nests are as they stay: what the passes above have made is proved, too,
  // before threads share it.
  functions.addPass(createNestRetractUnproved());
  // What is left is worth a launch, or belongs to what is.
  SelectKernelsOptions select;
  select.minWork = options.minWork;
  select.hasLibdevice = options.hasLibdevice;
  select.hostLoops = hostLoops;
  functions.addPass(createSelectKernels(select));
  // Who touches a buffer is known.
  functions.addPass(createPlaceBuffers());
}

void loopc::populateKernels(PassAdder manager, const KernelOptions &options) {
  // Fewer accesses that a kernel would have to wait for.
  manager.addNestedPass<func::FuncOp>(createPromoteAccumulators());
  // Captures are final: all that a region touches is where the GPU reaches it.
  manager.addPass(createOutlineKernels());
  // On code for one thread, in which dependences can be seen.
  SliceKernelLoopsOptions slice;
  slice.chip = options.chip;
  slice.allowTf32 = options.allowTf32;
  slice.loops = options.loops;
  manager.addPass(createSliceKernelLoops(slice));
  // Of loops that are left as they were.
  MakeLoopGraphsOptions graphs;
  graphs.chip = options.chip;
  graphs.allowTf32 = options.allowTf32;
  graphs.loops = options.loops;
  manager.addPass(createMakeLoopGraphs(graphs));
  // What stays a kernel is for many threads.
  DistributeKernelsOptions distribute;
  distribute.chip = options.chip;
  distribute.allowTf32 = options.allowTf32;
  manager.addPass(createDistributeKernels(distribute));
  // A grid depends on how the work is dealt out.
  LaunchKernelsOptions launch;
  launch.chip = options.chip;
  launch.allowTf32 = options.allowTf32;
  launch.loops = options.loops;
  launch.cublas = options.cublas;
  manager.addPass(createLaunchKernels(launch));
  // All that is begun on the GPU is there.
  manager.addNestedPass<func::FuncOp>(createInsertWaits());
}

namespace {
struct KernelPipelineOptions : PassPipelineOptions<KernelPipelineOptions> {
  Option<std::string> chip{*this, "chip",
                           llvm::cl::desc("NVIDIA's name of the GPU"),
                           llvm::cl::init("sm_80")};
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
        KernelOptions options;
        options.chip = given.chip;
        options.minWork = given.minWork;
        options.allowTf32 = given.allowTf32;
        options.loops = given.loops;
        options.cublas = given.cublas;
        options.hasLibdevice = given.hasLibdevice;
        populateKernelSelection(PassAdder(manager), options);
        populateKernels(PassAdder(manager), options);
      });
}
