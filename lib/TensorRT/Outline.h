//===- Outline.h - Shapes of outputs before a run ---------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An engine keeps an outline of its model: the operators as MLIR, in which
// large weights are arguments, so that their types are known and their values
// are not. The compiler infers the types of its results for given shapes of
// inputs. python/loopc/_outline.py has the same for Python.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_TENSORRT_OUTLINE_H
#define LOOPC_LIB_TENSORRT_OUTLINE_H

#include "loopc/TensorRT.h"

#include "mlir/IR/BuiltinOps.h"

namespace loopc::network {

/// The outline of a model that was imported; "" where no extent of its inputs
/// is open.
std::string makeOutline(mlir::ModuleOp model);

/// The shapes of an outline's outputs, -1 where values decide an extent, for
/// shapes of its inputs. Nothing where these do not fit together.
std::map<std::string, Dims>
inferShapes(llvm::StringRef outline, const std::map<std::string, Dims> &inputs);

} // namespace loopc::network

#endif // LOOPC_LIB_TENSORRT_OUTLINE_H
