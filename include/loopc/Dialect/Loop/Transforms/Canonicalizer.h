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

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>

namespace mlir {
class Pass;
} // namespace mlir

namespace loopc {

/// What MLIR's canonicalizer does, without patterns that take the square of the
/// number of carried values or results: the loop dialect has those of its own,
/// which are linear. A round goes through everything: what a rewrite changes is
/// visited again in the same one, so that more of them find little, such as
/// what a loop need not carry once another value is dead. It is not run where
/// the last run has changed nothing and all passes since have kept all
/// analyses, and looks at blocks only in functions that have branches.
std::unique_ptr<mlir::Pass> createCanonicalizer(int64_t rounds = 1);

/// The same for each of many functions that hold operations of one dialect,
/// whose patterns, and the builtin dialect's, are all it has: MLIR's driver
/// sorts the patterns that it is given, for each function again. Blocks stay as
/// they are.
std::unique_ptr<mlir::Pass> createCanonicalizerOf(llvm::StringRef dialect);

} // namespace loopc

#endif // LOOPC_DIALECT_LOOP_TRANSFORMS_CANONICALIZER_H
