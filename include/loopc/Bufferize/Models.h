//===- Models.h - How operations are bufferized -----------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// External models of MLIR's interfaces for bufferization.

#ifndef LOOPC_BUFFERIZE_MODELS_H
#define LOOPC_BUFFERIZE_MODELS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace loopc {

/// Registers a model of BufferizableOpInterface for tensor.concat, before that
/// of MLIR, so that it counts. The place of a part is the one before it and
/// that one's extent; with MLIR's, each place and the extent of the whole is
/// one affine map of all extents before it, which are simplified again with
/// each extent that becomes known: cubic in the number of parts.
void registerConcatBufferizationModel(mlir::DialectRegistry &registry);

/// Registers models of SubsetOpInterface for tensor's slices, before those of
/// MLIR, so that they count. They compare what is constant or the same value
/// axis by axis, where MLIR's build a system of inequalities for each pair,
/// which was most of the time of bufferization. Where that does not answer,
/// slices are compared as MLIR does.
void registerSliceSubsetModels(mlir::DialectRegistry &registry);

/// Registers a model of BufferizableOpInterface for scf.yield, before that of
/// MLIR, so that it counts. MLIR's (22) knows that what a branch of scf.if
/// yields is another name of the result, but not that of scf.index_switch: what
/// a case yields would be written through the result.
void registerYieldBufferizationModel(mlir::DialectRegistry &registry);

/// Registers a model of BufferizableOpInterface for vector.transfer_write,
/// before that of MLIR, so that it counts. MLIR's (22) compares the first axes
/// of the tensor with those of the vector, and asks for no mask operand: what a
/// tensor has elsewhere would be lost where it is copied.
void registerVectorWriteModel(mlir::DialectRegistry &registry);

namespace loop {

/// Registers models of BufferizableOpInterface for the loop dialect.
void registerBufferizableOpInterfaceExternalModels(
    mlir::DialectRegistry &registry);

} // namespace loop
} // namespace loopc

#endif // LOOPC_BUFFERIZE_MODELS_H
