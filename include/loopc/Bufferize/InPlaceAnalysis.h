//===- InPlaceAnalysis.h - Which operands share their buffer ----*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_BUFFERIZE_INPLACEANALYSIS_H
#define LOOPC_BUFFERIZE_INPLACEANALYSIS_H

#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/IR/BuiltinOps.h"

namespace loopc {
/// What an analysis took, in steps that do not depend on the machine.
struct InPlaceCounts {
  uint64_t pairs = 0; ///< reads that were compared with writes in full
  uint64_t steps = 0; ///< values that were visited to find what made others
};

/// What the analysis found. MLIR's class finds uses of undefined contents by
/// itself, in more than linear time.
class InPlaceState : public mlir::bufferization::OneShotAnalysisState {
public:
  using OneShotAnalysisState::OneShotAnalysisState;

  bool hasUndefinedContents(mlir::OpOperand *use) const override {
    return undefinedUses.contains(use) ||
           OneShotAnalysisState::hasUndefinedContents(use);
  }
  void addUndefinedUse(mlir::OpOperand &use) { undefinedUses.insert(&use); }

private:
  llvm::DenseSet<mlir::OpOperand *> undefinedUses;
};

/// Decides in `state` which operands of `module` are bufferized in place, as
/// MLIR's analyzeModuleOp does and by the same rules, in time that is about
/// linear in the size of functions. What MLIR's analysis alone can answer
/// (calls with tensors, branches between blocks, parallel regions) it is asked.
mlir::LogicalResult analyzeInPlace(mlir::ModuleOp module, InPlaceState &state,
                                   InPlaceCounts *counts = nullptr);
} // namespace loopc

#endif // LOOPC_BUFFERIZE_INPLACEANALYSIS_H
