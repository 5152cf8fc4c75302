//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What the table of lowered operators says, for tools and tests.

#ifndef LOOPC_CONVERSION_ONNXTOLINALG_OPERATORTABLE_H
#define LOOPC_CONVERSION_ONNXTOLINALG_OPERATORTABLE_H

#include "mlir/IR/Block.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace loopc {

/// False where a run of the operator, whatever its operands and attributes,
/// cannot end with an error. An operator that nobody has said this of can fail.
/// Operands whose rank or whose extents the model's types contradict are not
/// meant: those fail with every operator.
bool canFail(llvm::StringRef domain, llvm::StringRef op);

/// The first operation in [`begin`, `end`), or in a region there, that can end
/// the run: a check, or a function of the runtime that may fail. Null where
/// there is none.
mlir::Operation *findFallible(mlir::Block::iterator begin,
                              mlir::Block::iterator end);

/// Prints the rows of the table as a JSON array of objects with the members
/// `domain`, `operator`, `since`, `until` (null: the latest), `can_fail`.
void printOperatorTable(llvm::raw_ostream &os);

} // namespace loopc

#endif // LOOPC_CONVERSION_ONNXTOLINALG_OPERATORTABLE_H
