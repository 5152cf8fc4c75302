//===- DeviceRegions.h - Regions and their kernels --------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_KERNELS_DEVICEREGIONS_H
#define LOOPC_LIB_CODEGEN_GPU_KERNELS_DEVICEREGIONS_H

#include "ProductTiles.h"
#include "loopc/Dialect/Device/IR/Device.h"
#include "loopc/Dialect/Nest/Analysis/AliasClasses.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "mlir/IR/BuiltinOps.h"

namespace loopc {

/// What may be used to compute products, by the #loopc.target of the module
/// that `op` is or is in.
ProductTarget getProductTarget(mlir::Operation *op);

/// Calls `visit` with each device.region of `module` and its kernel, and with
/// the alias classes of the function that it is in, which `visit` keeps up to
/// date. An error where a region has no kernel yet.
llvm::LogicalResult
visitRegions(mlir::ModuleOp module,
             llvm::function_ref<llvm::LogicalResult(
                 device::RegionOp, mlir::gpu::GPUFuncOp, AliasClasses &)>
                 visit);

/// The alias classes in the kernel of `region`; its arguments' are those of
/// what it is given, of which `outer` has the classes.
std::unique_ptr<AliasClasses> getKernelClasses(device::RegionOp region,
                                               mlir::gpu::GPUFuncOp kernel,
                                               const AliasClasses &outer);

/// Which memory of the host a buffer in the kernel of a region lies in: two
/// arguments may be views of one buffer.
class KernelRoots {
public:
  KernelRoots(device::RegionOp region, mlir::gpu::GPUFuncOp kernel);

  mlir::Value operator()(mlir::Value buffer) const {
    mlir::Value root = getViewRoot(buffer);
    auto it = outside.find(root);
    return it == outside.end() ? root : it->second;
  }

private:
  llvm::DenseMap<mlir::Value, mlir::Value> outside;
};

/// An error where the kernel of `region` writes to a buffer of the host that
/// the loop of the region does not write to. `outer` are the classes of the
/// host's function.
llvm::LogicalResult verifyKernelWrites(device::RegionOp region,
                                       mlir::gpu::GPUFuncOp kernel,
                                       const AliasClasses &outer);

/// True where `kernel` has more than the 32,764 bytes of parameters that PTX
/// allows: buffers are their addresses, offsets, extents and strides.
bool hasTooManyParameters(mlir::gpu::GPUFuncOp kernel);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_KERNELS_DEVICEREGIONS_H
