//===- Accumulators.h - Sums in registers -----------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CONVERSION_NESTSTOGPU_ACCUMULATORS_H
#define LOOPC_LIB_CONVERSION_NESTSTOGPU_ACCUMULATORS_H

#include "AliasClasses.h"

namespace loopc {

/// Elements that every iteration of a sequential loop nested in `op` reads and
/// writes at one place become values that the loop carries: read before it,
/// written behind it.
void promoteAccumulators(mlir::Operation *op, const AliasClasses &classes);

/// Loops in the parts of `kernel` that all threads go through which only add
/// up, multiply, or look for the largest or least: the threads of each block
/// take their shares and put them together (`gpu.all_reduce`), so that each
/// block has the whole.
void shareReductions(mlir::Operation *kernel);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_NESTSTOGPU_ACCUMULATORS_H
