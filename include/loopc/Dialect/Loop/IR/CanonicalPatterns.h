//===- CanonicalPatterns.h - Canonicalizations, made once -------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_LOOP_IR_CANONICALPATTERNS_H
#define LOOPC_DIALECT_LOOP_IR_CANONICALPATTERNS_H

#include "mlir/IR/DialectInterface.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

#include <mutex>

namespace loopc::loop {

/// The patterns of loopc's canonicalizer (Canonicalizer.h): all those of the
/// context's operations but for upstream's that take the square of the number
/// of carried values. To make thousands of patterns for each of the runs of a
/// small model takes as long as to apply them; they are the same ones as long
/// as no dialect is loaded. Any thread may ask.
class CanonicalPatterns
    : public mlir::DialectInterface::Base<CanonicalPatterns> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CanonicalPatterns)
  explicit CanonicalPatterns(mlir::Dialect *dialect) : Base(dialect) {}

  /// The patterns of `context`, which has the loop dialect.
  static mlir::FrozenRewritePatternSet get(mlir::MLIRContext *context);

private:
  std::mutex mutex;
  /// How many operations the context had when `patterns` were made.
  size_t numOperations = 0;
  mlir::FrozenRewritePatternSet patterns;
};

} // namespace loopc::loop

#endif // LOOPC_DIALECT_LOOP_IR_CANONICALPATTERNS_H
