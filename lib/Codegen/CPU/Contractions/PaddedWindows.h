//===- PaddedWindows.h - Windows over padded rows ---------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_CPU_CONTRACTIONS_PADDEDWINDOWS_H
#define LOOPC_LIB_CODEGEN_CPU_CONTRACTIONS_PADDEDWINDOWS_H

#include "ContractionPlan.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

namespace loopc {

/// A copy in the middle of a filled buffer.
struct PaddedCopy {
  mlir::linalg::FillOp fill;
  mlir::linalg::GenericOp copy;
  mlir::memref::SubViewOp part; ///< what is copied to
  /// Freed between the copy and the operation that reads it.
  llvm::SmallVector<mlir::Operation *> freed;

  mlir::Value source() { return copy.getInputs()[0]; }
  mlir::Value filler() { return fill.getInputs()[0]; }
};

/// How windows over a padded copy are reduced, whose rows are read from where
/// they were copied from.
struct WindowPlan {
  int64_t lanes = 0;   ///< of the vectors
  int64_t vectors = 0; ///< of a strip that reads no padding
  mlir::OpOperand *input = nullptr;
  PaddedCopy padded;
  /// The axes of the windows by those of the input; none where it is not
  /// padded.
  llvm::SmallVector<std::optional<unsigned>> windows;
  /// What is reduced, the outermost first, and which of it is reduced along
  /// rows: the last, which is written out.
  llvm::SmallVector<unsigned> reduced;
  std::optional<unsigned> rowWindow;
  StartPlan start;
  EpiloguePlan epilogue;

  void print(llvm::raw_ostream &os) const;
};

/// The plan for `op`; none where it does not reduce windows over a copy that
/// was padded with what changes no result.
std::optional<WindowPlan> planWindows(mlir::linalg::LinalgOp op, CpuModel cpu);

/// Replaces `op`, the copy that it reads and what the plan takes beside it.
void emitWindows(mlir::IRRewriter &rewriter, mlir::linalg::GenericOp op,
                 const WindowPlan &plan);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_CPU_CONTRACTIONS_PADDEDWINDOWS_H
