//===- RunTimeFailure.h - Code that ends the run --------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_RUNTIMEFAILURE_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_RUNTIMEFAILURE_H

#include "mlir/IR/Builders.h"

namespace loopc {

/// Ends the run with `message`, in which each "{}" stands for the next of
/// `values`. Returns a value for every one of `types`, for what follows and is
/// never reached; its unknown dimensions are 0.
llvm::SmallVector<mlir::Value> createRunTimeFailure(mlir::OpBuilder &b,
                                                    mlir::Location loc,
                                                    const llvm::Twine &message,
                                                    mlir::ValueRange values,
                                                    mlir::TypeRange types);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_RUNTIMEFAILURE_H
