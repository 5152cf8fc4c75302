//===- FirstOfColumns.h - Where columns have their extrema -----*- C++ -*--===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_TENSOR_FIRSTOFCOLUMNS_H
#define LOOPC_TENSOR_FIRSTOFCOLUMNS_H

#include "mlir/IR/PatternMatch.h"

namespace loopc {

/// The pattern that finds the first place of the extremum of each column while
/// it looks for the extremum. Along rows there are two operations.
void populateFirstOfColumns(mlir::RewritePatternSet &patterns);

} // namespace loopc

#endif // LOOPC_TENSOR_FIRSTOFCOLUMNS_H
