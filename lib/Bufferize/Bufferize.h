//===- Bufferize.h - What bufferization's passes share ----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_BUFFERIZE_BUFFERIZE_H
#define LOOPC_LIB_BUFFERIZE_BUFFERIZE_H

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/IR/BuiltinOps.h"

namespace loopc {

/// Whole functions; buffers are dense, also those that branches and loops
/// yield.
mlir::bufferization::OneShotBufferizationOptions getBufferizationOptions();

/// An operation on tensors that has no buffers; null without one.
mlir::Operation *findUncompiled(mlir::ModuleOp module);

/// The buffers that branches yield for `result` get the strides that are theirs
/// in all branches: upstream leaves all of them open where one differs, and
/// elements whose neighbours are not known to be near are read one by one.
void keepCommonStrides(mlir::OpResult result);

} // namespace loopc

#endif // LOOPC_LIB_BUFFERIZE_BUFFERIZE_H
