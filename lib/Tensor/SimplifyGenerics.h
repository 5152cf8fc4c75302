//===- SimplifyGenerics.h - Elementwise by another name --------*- C++ -*--===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_TENSOR_SIMPLIFYGENERICS_H
#define LOOPC_LIB_TENSOR_SIMPLIFYGENERICS_H

#include "mlir/IR/PatternMatch.h"

namespace loopc {

/// Patterns that make operations elementwise where they are so but for how they
/// are written: sums of one product each, and elements that are extracted at
/// the numbers of the loops; constants vectors that are such but for axes of
/// one element; and sums go without the axes that they are the same along.
void populateSimplifyGenerics(mlir::RewritePatternSet &patterns);

} // namespace loopc

#endif // LOOPC_LIB_TENSOR_SIMPLIFYGENERICS_H
