//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// MLIR's canonicalizer as loopc's pipelines run it.

#ifndef LOOPC_DIALECT_LOOP_TRANSFORMS_CANONICALIZER_H
#define LOOPC_DIALECT_LOOP_TRANSFORMS_CANONICALIZER_H

#include <memory>

namespace mlir {
class Pass;
} // namespace mlir

namespace loopc {

/// MLIR's canonicalizer, without patterns that take the square of the number of
/// carried values or results: the loop dialect has those of its own, which are
/// linear.
std::unique_ptr<mlir::Pass> createCanonicalizer();

} // namespace loopc

#endif // LOOPC_DIALECT_LOOP_TRANSFORMS_CANONICALIZER_H
