//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What each pass of the pipelines is there for: which may be switched off.

#ifndef LOOPC_PIPELINES_PASSTABLE_H
#define LOOPC_PIPELINES_PASSTABLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace loopc {

/// What becomes of a model without a pass.
enum class PassUse {
  /// It does not get through the pipeline, or nobody checks any more what the
  /// pass checks.
  Needed,
  /// Its results have the same bits.
  SameBits,
  /// Its results may be rounded otherwise, as docs/Numerics.md allows: sums are
  /// added in another order, functions of libm take the place of polynomials.
  Rounding,
};

/// A pass of the pipelines, by the name that loopc-opt knows it by.
struct PassEntry {
  llvm::StringLiteral name;
  PassUse use;
  /// Why it is needed, or what it is for.
  llvm::StringLiteral reason;
};

/// All passes that buildPipeline() may add, by name.
llvm::ArrayRef<PassEntry> getPassTable();

/// What is wrong with names of passes to be left out: one that is needed, or
/// unknown. Empty where nothing is.
std::string checkDisabledPasses(llvm::ArrayRef<std::string> names);

/// Prints the table as a JSON array of objects with the members `name`, `use`
/// ("needed", "same bits", "rounding") and `reason`.
void printPassTable(llvm::raw_ostream &os);

} // namespace loopc

#endif // LOOPC_PIPELINES_PASSTABLE_H
