//===- NoAliasArguments.h - Buffers of their own as arguments ---*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_CONVERSION_TOLLVM_NOALIASARGUMENTS_H
#define LOOPC_CONVERSION_TOLLVM_NOALIASARGUMENTS_H

#include "mlir/IR/DialectRegistry.h"

namespace loopc {

/// Lets convert-to-llvm keep `llvm.noalias` of memref arguments: at the aligned
/// pointer of the descriptor, which all accesses go through.
void registerNoAliasArgumentConversion(mlir::DialectRegistry &registry);

} // namespace loopc

#endif // LOOPC_CONVERSION_TOLLVM_NOALIASARGUMENTS_H
