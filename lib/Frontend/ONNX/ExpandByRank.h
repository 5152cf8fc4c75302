//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Operators whose definition by others depends on ranks that a run tells.

#ifndef LOOPC_LIB_FRONTEND_ONNX_EXPANDBYRANK_H
#define LOOPC_LIB_FRONTEND_ONNX_EXPANDBYRANK_H

#include "ImporterImpl.h"

namespace loopc::importer {

/// Whether an operator can be expanded for inputs of these types; null where an
/// input is left out.
using CanExpand = llvm::function_ref<bool(llvm::ArrayRef<mlir::Type> types)>;

/// Writes `node`, which cannot be expanded for `types`, as a function of its
/// inputs that chooses by the rank of one of them, i:
///
///   if Size(Shape(i)) == 3: Op(i as a value of rank 3) else: Op(i of rank 4)
///
/// The nodes that it holds have one input of unknown rank less. Of a rank that
/// cannot be expanded the last one is tried, and its Reshape fails. Returns
/// false where no rank of some inputs helps. `node` has its attributes' values.
bool writeByRank(const pb::NodeProto &node, int64_t opset,
                 llvm::ArrayRef<mlir::Type> types, CanExpand canExpand,
                 pb::FunctionProto &fn);

} // namespace loopc::importer

#endif // LOOPC_LIB_FRONTEND_ONNX_EXPANDBYRANK_H
