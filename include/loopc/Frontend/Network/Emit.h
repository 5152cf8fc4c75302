//===- Emit.h - Networks to the onnx and loop dialects ----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The result is what the importer of ONNX models makes (see its Importer.h):
// `module { func.func @main(...) }` with `loopc.model`, `loopc.name` and
// `loopc.dims`. Locations are NameLoc("main/Loop 'decode'/ElementWise 'sum'")
// around the network's name.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_FRONTEND_NETWORK_EMIT_H
#define LOOPC_FRONTEND_NETWORK_EMIT_H

#include "loopc/Frontend/Common.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace loopc::network {

class INetworkDefinition;

/// How a network is emitted.
struct EmitOptions : ShapePins {};

/// Emits `network`. Emits errors, which name the layers, and returns null where
/// it is not well formed.
mlir::OwningOpRef<mlir::ModuleOp> emitNetwork(const INetworkDefinition &network,
                                              mlir::MLIRContext &context,
                                              const EmitOptions &options = {});

} // namespace loopc::network

#endif // LOOPC_FRONTEND_NETWORK_EMIT_H
