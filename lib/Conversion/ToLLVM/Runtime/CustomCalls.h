//===- CustomCalls.h - Calls of custom operators ----------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CONVERSION_TOLLVM_RUNTIME_CUSTOMCALLS_H
#define LOOPC_LIB_CONVERSION_TOLLVM_RUNTIME_CUSTOMCALLS_H

#include "loopc/Dialect/RT/IR/CustomOp.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace loopc {

/// Calls loopc_rt_custom in front of `custom`, which is on buffers and within
/// `function`, and replaces its results. \returns the status of the call:
/// whoever reads the results behind it has to look at it before. `numGlobals`
/// counts the tables that the calls of the module have.
mlir::Value lowerCustomCall(rt::CustomOp custom, mlir::Value run,
                            mlir::func::FuncOp function, mlir::ModuleOp module,
                            const mlir::LLVMTypeConverter &converter,
                            unsigned &numGlobals);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_TOLLVM_RUNTIME_CUSTOMCALLS_H
