//===- LaunchKernels.cpp - Grids and launches of kernels ------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-launch-kernels: each device.region becomes a launch of its kernel.

#include "BlockState.h"
#include "DeviceRegions.h"
#include "Grids.h"
#include "KernelBody.h"
#include "LibraryCalls.h"
#include "loopc-rt/cuda.h"
#include "loopc/Codegen/GPU/Kernels/Passes.h"
#include "loopc/Codegen/GPU/Regions/DeviceCode.h"
#include "loopc/Support/IndexEmitter.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace loopc {
#define GEN_PASS_DEF_LAUNCHKERNELS
#include "loopc/Codegen/GPU/Kernels/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

namespace {
/// Launches one kernel.
class Launcher : IndexEmitter {
public:
  Launcher(device::RegionOp region, const AliasClasses &classes)
      : IndexEmitter(region.getLoc(), region), classes(classes),
        grids(b, region) {}

  /// In front of `region`. \returns what is said of it, "" where that was said
  /// before.
  std::string run(device::RegionOp region, gpu::GPUFuncOp kernel) {
    if (!region.getGrid().empty()) {
      launch(kernel, {region.getGrid()[0], region.getGrid()[1]},
             region.getGiven());
      return "";
    }
    return launchShaped(region, kernel);
  }

private:
  std::string launchShaped(device::RegionOp region, gpu::GPUFuncOp kernel);
  gpu::LaunchFuncOp launch(gpu::GPUFuncOp kernel, const Grid &grid,
                           ValueRange given);

  const AliasClasses &classes;
  GridChooser grids;
};
} // namespace

gpu::LaunchFuncOp Launcher::launch(gpu::GPUFuncOp kernel, const Grid &grid,
                                   ValueRange given) {
  Value one = index(1);
  SmallVector<Value> arguments{
      LLVM::ZeroOp::create(b, LLVM::LLVMPointerType::get(b.getContext()))};
  llvm::append_range(arguments, given);
  return gpu::LaunchFuncOp::create(
      b, kernel, gpu::KernelDim3{grid.blocks, one, one},
      gpu::KernelDim3{grid.threads, one, one},
      /*dynamicSharedMemorySize=*/Value(), arguments);
}

std::string Launcher::launchShaped(device::RegionOp region,
                                   gpu::GPUFuncOp kernel) {
  device::ShapeAttr asked = *region.getShape();
  KernelShape shape{asked.getBarriers(), asked.getTiles(), asked.getSplits()};
  ValueRange given = region.getGiven();
  Operation *loop = region.getLoop();
  Grid grid = grids.choose(loop, shape);
  int64_t state = 0;
  if (shape.hasBarriers && isConstantIntValue(grid.blocks, 1))
    state = keepInBlock(kernel, given, region, classes);
  std::optional<LibraryProduct> product;
  if (isSharedLoop(loop))
    product = matchLibraryProduct(cast<scf::ForOp>(loop));
  OpBuilder::InsertionGuard guard(b);
  if (product) {
    Value isLeft = callLibrary(b, *product, region->getParentOfType<ModuleOp>(),
                               kernel.getName());
    auto branch = scf::IfOp::create(b, isLeft, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  gpu::LaunchFuncOp launched = launch(kernel, grid, given);
  if (shape.hasBarriers)
    launched->setAttr(kCooperativeAttrName, b.getUnitAttr());
  bool mayBeCluster =
      getConstantIntValue(grid.blocks).value_or(2) <= LOOPC_CUDA_MAX_CLUSTER;
  if (shape.hasBarriers && grids.hasClusters() && mayBeCluster &&
      !isConstantIntValue(grid.blocks, 1)) {
    launched->setAttr(kClusterAttrName, b.getUnitAttr());
    kernel->getParentOp()->setAttr(kClustersAttrName, b.getUnitAttr());
  }
  if (product)
    return "cuBLAS computes it where the run finds it, else a kernel";
  if (isSharedLoop(loop))
    return "its elements are computed by a kernel";
  std::string where = shape.hasBarriers ? grids.describe(grid, state) : "";
  return "the loop runs on the GPU as one kernel" + where;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct LaunchKernels : loopc::impl::LaunchKernelsBase<LaunchKernels> {
  using LaunchKernelsBase::LaunchKernelsBase;

  void runOnOperation() override {
    LogicalResult result = visitRegions(
        getOperation(),
        [&](device::RegionOp region, gpu::GPUFuncOp kernel,
            AliasClasses &classes) -> LogicalResult {
          if (!region.getShape())
            return region.emitOpError("has a kernel that is not dealt out to "
                                      "threads yet");
          if (failed(verifyKernelWrites(region, kernel, classes)))
            return failure();
          std::string done = Launcher(region, classes).run(region, kernel);
          if (!done.empty())
            remarkDone(region.getLoc(), "Kernel", done);
          classes.erase(region);
          return success();
        });
    if (failed(result))
      signalPassFailure();
  }
};
} // namespace
