//===- RuntimeFunctions.h - What a model calls of the runtime ---*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The functions of the runtime that compiled code may call: one table, whose
// types are those of the prototypes in loopc-rt/runtime.h and loopc-rt/cuda.h.

#ifndef LOOPC_DIALECT_RT_RUNTIMEFUNCTIONS_H
#define LOOPC_DIALECT_RT_RUNTIMEFUNCTIONS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace loopc {

/// The type of function `name` of the runtime; null where models call none of
/// that name.
mlir::LLVM::LLVMFunctionType getRuntimeFunctionType(mlir::MLIRContext *context,
                                                    llvm::StringRef name);

/// What compiled code may count on of a function of the runtime.
struct RuntimeEffects {
  enum Memory {
    Any,       ///< it may call the code back, and may not end
    Inner,     ///< the run's own alone, which the code never looks at
    Arguments, ///< the same, and what it is given
  };
  Memory memory = Any;
  /// The result is memory that nobody else has.
  bool allocates = false;
  /// Threads call the function that it is given, with a part of the work each.
  bool sharesWork = false;
};

/// Those of function `name`.
RuntimeEffects getRuntimeEffects(llvm::StringRef name);

/// The declaration of function `name` of the runtime, which the table has, in
/// `module`. One that is not there is made.
mlir::LLVM::LLVMFuncOp declareRuntimeFunction(mlir::ModuleOp module,
                                              llvm::StringRef name);

/// True for a function of libm that a lowering of `math` may call: of f32 or
/// f64.
bool isMathFunction(llvm::StringRef name);

} // namespace loopc

#endif // LOOPC_DIALECT_RT_RUNTIMEFUNCTIONS_H
