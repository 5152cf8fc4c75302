//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// OpenVINO IR (versions 10 and 11) to the onnx and loop dialects: the module is
// the one that the ONNX importer makes (see Frontend/ONNX/Importer.h), each
// layer one or a few `onnx.node`s of the newest opset, Loop and TensorIterator
// a `loop.loop`, If an `scf.if`. Weights are views of the mapped bin file.
//
// A variable (ReadValue and Assign) is an argument and a result with the unit
// attribute `loopc.state`, behind the others; the argument has a
// `loopc.default`. Behind all of them stands, for each, a scalar with
// `loopc.state_flag`: whether the caller gave it.

#ifndef LOOPC_FRONTEND_OPENVINO_IMPORTER_H
#define LOOPC_FRONTEND_OPENVINO_IMPORTER_H

#include "loopc/Frontend/ONNX/Importer.h"

namespace loopc {

/// True if the file of that name and content is OpenVINO IR: its name ends in
/// .xml, or it begins as its XML does.
bool looksLikeOpenVINO(llvm::StringRef name, llvm::StringRef bytes);

/// Imports the IR in `bytes`. `name` is the path of the file, in locations and
/// to find the weights: the file with the extension .bin beside it, or in
/// `options.externalDataFolder`. Emits errors and returns null where it cannot.
mlir::OwningOpRef<mlir::ModuleOp> importOpenVINO(llvm::StringRef name,
                                                 llvm::StringRef bytes,
                                                 mlir::MLIRContext &context,
                                                 const ImportOptions &options);

} // namespace loopc

#endif // LOOPC_FRONTEND_OPENVINO_IMPORTER_H
