//===- SliceSubsets.h - Comparing slices of constant place ------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_PIPELINES_SLICESUBSETS_H
#define LOOPC_LIB_PIPELINES_SLICESUBSETS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace loopc {

/// Registers models of SubsetOpInterface for tensor's slices, before those of
/// MLIR, so that they count. They compare what is constant or the same value
/// axis by axis, where MLIR's build a system of inequalities for each pair,
/// which was most of the time of bufferization. Where that does not answer,
/// slices are compared as MLIR does.
void registerSliceSubsetModels(mlir::DialectRegistry &registry);

} // namespace loopc

#endif // LOOPC_LIB_PIPELINES_SLICESUBSETS_H
