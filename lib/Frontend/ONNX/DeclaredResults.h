//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What a model declares of values that loops collect.

#ifndef LOOPC_LIB_FRONTEND_ONNX_DECLAREDRESULTS_H
#define LOOPC_LIB_FRONTEND_ONNX_DECLAREDRESULTS_H

#include "ImporterImpl.h"

namespace loopc::importer {

/// Notes at `loop` the declared types of its results from number `collected` on
/// whose ranks or extents the values do not tell. They are outputs of `body`
/// from number `first` on, collected along `axes`.
void noteDeclaredResults(const NodeContext &nc, mlir::Operation *loop,
                         unsigned collected, llvm::ArrayRef<int64_t> axes,
                         const pb::GraphProto &body, unsigned first);

} // namespace loopc::importer

#endif // LOOPC_LIB_FRONTEND_ONNX_DECLAREDRESULTS_H
