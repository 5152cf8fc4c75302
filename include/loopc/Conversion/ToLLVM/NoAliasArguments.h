//===- NoAliasArguments.h - Buffers of their own as arguments ---*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_CONVERSION_TOLLVM_NOALIASARGUMENTS_H
#define LOOPC_CONVERSION_TOLLVM_NOALIASARGUMENTS_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/SymbolTable.h"

namespace loopc {

/// Adds the pattern for functions that keeps `llvm.noalias` of memref
/// arguments: at the aligned pointer of the descriptor, which all accesses go
/// through. Names in `tables` follow the functions.
void populateNoAliasArgumentPatterns(const mlir::LLVMTypeConverter &converter,
                                     mlir::RewritePatternSet &patterns,
                                     mlir::SymbolTableCollection &tables);

} // namespace loopc

#endif // LOOPC_CONVERSION_TOLLVM_NOALIASARGUMENTS_H
