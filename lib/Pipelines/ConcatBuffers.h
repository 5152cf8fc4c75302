//===- ConcatBuffers.h - Bufferization of tensor.concat ---------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_PIPELINES_CONCATBUFFERS_H
#define LOOPC_LIB_PIPELINES_CONCATBUFFERS_H

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

} // namespace loopc

#endif // LOOPC_LIB_PIPELINES_CONCATBUFFERS_H
