//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What models declare of values that loops collect.

#ifndef LOOPC_LIB_DIALECT_ONNX_TRANSFORMS_DECLAREDRESULTS_H
#define LOOPC_LIB_DIALECT_ONNX_TRANSFORMS_DECLAREDRESULTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace loopc::onnx {

/// Uses up `loopc.declared_results` of the loops and scans in `func`: after no
/// iteration a collected result has the rank and the extents that are declared
/// where inference has not found them (loop_zero).
void applyDeclaredResults(mlir::func::FuncOp func);

} // namespace loopc::onnx

#endif // LOOPC_LIB_DIALECT_ONNX_TRANSFORMS_DECLAREDRESULTS_H
