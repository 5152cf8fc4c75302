//===- Meetings.h - Where threads of a kernel wait -------------*- C++ -*--===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_KERNELS_MEETINGS_H
#define LOOPC_LIB_CODEGEN_GPU_KERNELS_MEETINGS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace loopc {

/// Whether threads of a kernel wait for others.
struct Meetings {
  bool ofGrid = false, ofBlock = false;
};

Meetings findMeetings(mlir::gpu::GPUFuncOp kernel);

/// Verifies that all threads that wait for one another come to where they wait:
/// conditions and bounds around a barrier are the same in all of them (a
/// divergence analysis). What may end the run otherwise than for all of the
/// grid is in a `device.part`.
mlir::LogicalResult verifyMeetings(mlir::gpu::GPUFuncOp kernel);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_KERNELS_MEETINGS_H
