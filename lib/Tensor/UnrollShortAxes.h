//===- UnrollShortAxes.h - Axes of a few elements ---------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_TENSOR_UNROLLSHORTAXES_H
#define LOOPC_LIB_TENSOR_UNROLLSHORTAXES_H

#include "mlir/IR/PatternMatch.h"

namespace loopc {

/// Patterns that leave no loop along a last axis of two to four elements, of
/// which most of a vector would be empty: neither where it is reduced, nor
/// where what is summed up beside it has such rows.
void populateUnrollShortAxes(mlir::RewritePatternSet &patterns);

} // namespace loopc

#endif // LOOPC_LIB_TENSOR_UNROLLSHORTAXES_H
