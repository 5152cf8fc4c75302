//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What is handed to the pieces of a parallel loop.

#ifndef LOOPC_LIB_DIALECT_NEST_TRANSFORMS_CONTEXTS_H
#define LOOPC_LIB_DIALECT_NEST_TRANSFORMS_CONTEXTS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir {
class LLVMTypeConverter;
} // namespace mlir

namespace loopc {

/// True for a buffer that is known but for where it is.
bool isKnownButForPlace(mlir::Type type);

/// The struct that hands the run and the captures over; of buffers whose shape
/// is known the pointer.
mlir::LLVM::LLVMStructType
getContextType(const mlir::LLVMTypeConverter &converter, mlir::Type pointer,
               mlir::TypeRange captures);

/// Leaves of the struct that each of `calls`, of loopc_rt_parallel_for, hands
/// over only what the function that it names reads: of a buffer the pointer and
/// a distance, say, instead of all that describes it.
void dropUnreadFields(mlir::ArrayRef<mlir::LLVM::CallOp> calls);

/// Erases what computes `values` and has no effect and no users left.
void eraseDead(mlir::SmallVector<mlir::Value> values);

/// True if the contexts that `calls`, all calls of loopc_rt_parallel_for that
/// share `reader` out, hand over are of one type and can be given more fields.
bool canHandMore(mlir::LLVM::LLVMFuncOp reader,
                 mlir::ArrayRef<mlir::LLVM::CallOp> calls);

/// Gives the context of `reader`, which `call` shares out, fields of `types`
/// more, and reads them.
mlir::SmallVector<mlir::Value> readMore(mlir::LLVM::LLVMFuncOp reader,
                                        mlir::LLVM::CallOp call,
                                        mlir::ArrayRef<mlir::Type> types);

/// Makes `call` share `reader` out, with `numbers` in the fields that
/// readMore() added.
void handMore(mlir::LLVM::CallOp call, mlir::LLVM::LLVMFuncOp reader,
              mlir::ArrayRef<mlir::TypedAttr> numbers);

} // namespace loopc

#endif // LOOPC_LIB_DIALECT_NEST_TRANSFORMS_CONTEXTS_H
