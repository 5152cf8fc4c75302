//===- GraphLaunches.h - The host's side of graphs --------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_GRAPHLAUNCHES_H
#define LOOPC_LIB_CODEGEN_GPU_GRAPHLAUNCHES_H

#include "LoopGraphs.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {

/// Makes the host begin `graph` at `b`, with `given` as the arguments of
/// `kernel`, of which it was made, behind the first.
void launchGraph(mlir::ImplicitLocOpBuilder &b, const LoopGraph &graph,
                 mlir::gpu::GPUFuncOp kernel, mlir::ValueRange given,
                 const ProductTarget &target);

/// Why the loop of `kernel`, which may become a graph of its nests, should be
/// one rather than a kernel for the whole device; "" where it should not.
std::string findGraphReason(mlir::gpu::GPUFuncOp kernel);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_GRAPHLAUNCHES_H
