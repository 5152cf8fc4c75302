//===- Definitions.h - What may have made a value ---------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_BUFFERIZE_DEFINITIONS_H
#define LOOPC_BUFFERIZE_DEFINITIONS_H

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"

namespace loopc {

/// True if only one of the regions of `op` runs.
bool isBranch(mlir::Operation *op);

/// The definitions of values: a value that is written when it is made, or those
/// of the values that it is another name of. MLIR's rules and answers, but
/// each value is looked at once: MLIR walks back through all of a chain for
/// each value of it, and for each branch in the chain once more. No value may
/// be another name of one that is made from it.
class Definitions {
public:
  explicit Definitions(const mlir::bufferization::AnalysisState &state)
      : state(state) {}

  using Values = llvm::SetVector<mlir::Value>;
  const Values &of(mlir::Value value);

  /// Values that were looked at.
  uint64_t getNumSteps() const { return numSteps; }

private:
  void find(mlir::Value value,
            const mlir::bufferization::AliasingOpOperandList &aliases);
  bool isWritten(mlir::Value value,
                 const mlir::bufferization::AliasingOpOperandList &aliases);

  const mlir::bufferization::AnalysisState &state;
  llvm::DenseMap<mlir::Value, std::unique_ptr<Values>> known;
  uint64_t numSteps = 0;
};
} // namespace loopc

#endif // LOOPC_BUFFERIZE_DEFINITIONS_H
