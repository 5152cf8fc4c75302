//===- DeviceRegions.cpp - Regions and their kernels ----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceRegions.h"
#include "ProductTiles.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace loopc;

ProductTarget loopc::getProductTarget(Operation *op) {
  GPUTarget gpu = getGPUTarget(op);
  ProductTarget target;
  StringRef digits = StringRef(gpu.chip).substr(StringRef("sm_").size());
  digits.consumeInteger(10, target.chip);
  target.allowTf32 = gpu.allowTf32;
  return target;
}

LogicalResult loopc::visitRegions(
    ModuleOp module,
    llvm::function_ref<LogicalResult(device::RegionOp, gpu::GPUFuncOp,
                                     AliasClasses &)>
        visit) {
  for (auto function : module.getOps<func::FuncOp>()) {
    SmallVector<device::RegionOp> regions;
    function.walk([&](device::RegionOp region) { regions.push_back(region); });
    if (regions.empty())
      continue;
    AliasClasses classes(function);
    for (device::RegionOp region : regions) {
      gpu::GPUFuncOp kernel = region.findKernel();
      if (!kernel)
        return region.emitOpError("has no kernel yet");
      if (failed(visit(region, kernel, classes)))
        return failure();
    }
  }
  return success();
}

std::unique_ptr<AliasClasses>
loopc::getKernelClasses(device::RegionOp region, gpu::GPUFuncOp kernel,
                        const AliasClasses &outer) {
  auto classes = std::make_unique<AliasClasses>(kernel);
  DenseMap<const void *, Value> firsts;
  for (auto [outside, inside] :
       llvm::zip_equal(region.getGiven(), kernel.getArguments().drop_front()))
    if (isa<MemRefType>(outside.getType())) {
      auto [it, isNew] = firsts.try_emplace(outer.of(outside), inside);
      if (!isNew)
        classes->join(it->second, inside);
    }
  return classes;
}

KernelRoots::KernelRoots(device::RegionOp region, gpu::GPUFuncOp kernel) {
  for (auto [given, argument] :
       llvm::zip_equal(region.getGiven(), kernel.getArguments().drop_front()))
    if (isa<MemRefType>(given.getType()))
      outside[argument] = getViewRoot(given);
}

/// The classes of buffers that `op`, or what is in it, writes to: what an
/// operation says of its effects, and all that a call is given.
static DenseSet<const void *> collectWritten(Operation *op,
                                             const AliasClasses &classes) {
  DenseSet<const void *> written;
  op->walk([&](Operation *nested) {
    if (auto effects = dyn_cast<MemoryEffectOpInterface>(nested)) {
      SmallVector<MemoryEffects::EffectInstance> all;
      effects.getEffects<MemoryEffects::Write>(all);
      for (const MemoryEffects::EffectInstance &each : all)
        if (each.getValue())
          written.insert(classes.of(each.getValue()));
    } else if (isa<CallOpInterface>(nested)) {
      for (Value operand : nested->getOperands())
        written.insert(classes.of(operand));
    }
  });
  return written;
}

LogicalResult loopc::verifyKernelWrites(device::RegionOp region,
                                        gpu::GPUFuncOp kernel,
                                        const AliasClasses &outer) {
  AliasClasses inner(kernel);
  DenseSet<const void *> byLoop = collectWritten(region.getLoop(), outer),
                         byKernel = collectWritten(kernel, inner);
  // What the loop does not use its results are left in.
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(region.getBody(), used);
  for (auto [k, given, argument] :
       llvm::enumerate(region.getGiven(), kernel.getArguments().drop_front()))
    if (isa<MemRefType>(given.getType()) && used.contains(given) &&
        byKernel.contains(inner.of(argument)) &&
        !byLoop.contains(outer.of(given)))
      return region.emitOpError("has a kernel that writes to what it is given "
                                "as #")
             << k << ", which its loop does not write to";
  return success();
}

bool loopc::hasTooManyParameters(gpu::GPUFuncOp kernel) {
  constexpr int64_t kMaxWords = 32764 / 8;
  int64_t words = 0;
  for (Type type : kernel.getArgumentTypes()) {
    auto buffer = dyn_cast<MemRefType>(type);
    words += buffer ? 3 + 2 * buffer.getRank() : 1;
  }
  return words > kMaxWords;
}
