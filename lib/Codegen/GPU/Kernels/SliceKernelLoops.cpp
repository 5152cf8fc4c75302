//===- SliceKernelLoops.cpp - Loops that threads go through alone ---------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-slice-kernel-loops: threads, or blocks, go through the loop of a kernel
// by themselves.

#include "DeviceRegions.h"
#include "Grids.h"
#include "KernelLoops.h"
#include "LoopSlices.h"
#include "loopc/Codegen/GPU/Kernels/Passes.h"
#include "loopc/Codegen/GPU/Regions/DeviceCode.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {
#define GEN_PASS_DEF_SLICEKERNELLOOPS
#include "loopc/Codegen/GPU/Kernels/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

namespace {
struct SliceKernelLoops : loopc::impl::SliceKernelLoopsBase<SliceKernelLoops> {
  using SliceKernelLoopsBase::SliceKernelLoopsBase;

  void runOnOperation() override {
    // The kernels of a graph follow one another.
    if (getGPUTarget(getOperation()).loops == DeviceLoops::Graph)
      return;
    LogicalResult result = visitRegions(
        getOperation(),
        [&](device::RegionOp region, gpu::GPUFuncOp kernel,
            AliasClasses &classes) -> LogicalResult {
          if (!isSharedLoop(region.getLoop()) && !hasTooManyParameters(kernel))
            process(region, kernel, classes);
          return success();
        });
    if (failed(result))
      signalPassFailure();
  }

private:
  void process(device::RegionOp region, gpu::GPUFuncOp kernel,
               const AliasClasses &outer);
};
} // namespace

/// Puts a copy of `region`, whose kernel is a copy of `kernel`, in place of it
/// where `when` does not hold. \returns the one where it does.
static device::RegionOp makeChoice(ImplicitLocOpBuilder &b,
                                   device::RegionOp region,
                                   gpu::GPUFuncOp kernel, Value when) {
  auto whole = cast<gpu::GPUFuncOp>(kernel->clone());
  whole.setName((kernel.getName() + "_whole").str());
  kernel->getBlock()->getOperations().insertAfter(kernel->getIterator(), whole);
  auto branch = scf::IfOp::create(b, when, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  auto other = cast<device::RegionOp>(b.clone(*region));
  other.setKernelAttr(
      SymbolRefAttr::get(region.getKernel()->getRootReference(),
                         {FlatSymbolRefAttr::get(whole.getNameAttr())}));
  region->moveBefore(branch.thenBlock()->getTerminator());
  return region;
}

/// Why blocks cannot share the slices of the kernel's loop; "" where they can.
/// The proof reads the loop as it becomes, so that a copy of it is sliced.
static std::string findObstacle(device::RegionOp region, gpu::GPUFuncOp kernel,
                                const AliasClasses &outer) {
  OwningOpRef<gpu::GPUFuncOp> copy = cast<gpu::GPUFuncOp>(kernel->clone());
  std::optional<LoopSlices> slices =
      findLoopSlices(*copy, *getKernelClasses(region, *copy, outer));
  return slices ? findSlicesObstacle(separateSlices(*slices),
                                     KernelRoots(region, *copy))
                : "there are none";
}

void SliceKernelLoops::process(device::RegionOp region, gpu::GPUFuncOp kernel,
                               const AliasClasses &outer) {
  std::unique_ptr<AliasClasses> classes =
      getKernelClasses(region, kernel, outer);
  if (interchangeLoops(kernel, *classes))
    return;
  std::optional<LoopSlices> slices = findLoopSlices(kernel, *classes);
  if (!slices)
    return;
  ImplicitLocOpBuilder b(region.getLoc(), region);
  GridChooser grids(b, region);
  Value when = grids.makeAreSlicesSmall(*slices, kernel, region.getGiven());
  std::optional<int64_t> known =
      when ? getConstantIntValue(when) : std::optional<int64_t>(0);
  if (known && *known == 0)
    return;
  if (std::string why = findObstacle(region, kernel, outer); !why.empty()) {
    remarkMissed(region.getLoc(), "Kernel",
                 "blocks do not share the slices of the loop, as it is not "
                 "proved that these are independent: " +
                     why);
    return;
  }
  if (!known)
    makeChoice(b, region, kernel, when);
  separateSlices(*slices);
  b.setInsertionPoint(region);
  Grid grid = grids.chooseForSlices(*slices, kernel, region.getGiven());
  region.getGridMutable().assign(ValueRange{grid.blocks, grid.threads});
  ++numSliced;
  remarkDone(region.getLoc(), "Kernel",
             Twine("the loop runs on the GPU as one kernel, whose blocks go "
                   "through it by themselves, each with slices of its own") +
                 (known ? "" : ", where there are enough of them"));
}
