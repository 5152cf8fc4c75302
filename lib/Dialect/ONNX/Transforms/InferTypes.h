//===- InferTypes.h - Steps of onnx-infer-types -----------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Types with an axis more or less, and what models declare of values that loops
// collect.

#ifndef LOOPC_LIB_DIALECT_ONNX_TRANSFORMS_INFERTYPES_H
#define LOOPC_LIB_DIALECT_ONNX_TRANSFORMS_INFERTYPES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace loopc::onnx {

/// `type` without axis `axis`, counted from the end where negative; the type
/// itself where its rank is unknown, null where it has no such axis.
mlir::Type dropAxis(mlir::Type type, int64_t axis);

/// `type`, a tensor or a scalar, with a new axis of `size` at `axis` of the
/// result; null where it has no such place.
mlir::Type insertAxis(mlir::Type type, int64_t axis, int64_t size);

/// Extent of `type` along `axis`; dynamic where it is not known.
int64_t getExtent(mlir::Type type, int64_t axis);

/// Uses up `loopc.declared_results` of the loops and scans in `func`: after no
/// iteration a collected result has the rank and the extents that are declared
/// where inference has not found them (loop_zero).
void applyDeclaredResults(mlir::func::FuncOp func);

} // namespace loopc::onnx

#endif // LOOPC_LIB_DIALECT_ONNX_TRANSFORMS_INFERTYPES_H
