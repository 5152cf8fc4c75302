//===- RotateLoops.h - Loops that test behind their body --------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_KERNELS_ROTATELOOPS_H
#define LOOPC_LIB_CODEGEN_GPU_KERNELS_ROTATELOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace loopc {

/// Gives the loops of `kernel` that have shared loops (DeviceCode.h) in them,
/// and are none, one form: whether there is another iteration is computed in
/// front of the loop and at the end of each iteration, as the first value that
/// it carries.
///
///     scf.while (%c = %first, %a = %init) {
///       scf.condition(%c) %a
///     } do {
///     ^bb0(%a):
///       ...
///       scf.yield %next, %b
///     }
///
/// A switch with shared loops in it becomes branches.
void rotateLoops(mlir::Operation *kernel);

/// True for a loop of that form.
bool isRotated(mlir::scf::WhileOp loop);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_KERNELS_ROTATELOOPS_H
