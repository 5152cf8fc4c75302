//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// How operands of products are copied into panels.

#ifndef LOOPC_LIB_CODEGEN_CPU_COPIES_COPYPLAN_H
#define LOOPC_LIB_CODEGEN_CPU_COPIES_COPYPLAN_H

#include "Contractions.h"

namespace loopc {

/// A copy into panels. Axes are those of the source.
struct CopyPlan {
  unsigned columns = 0;      ///< the axis of the panels
  int64_t width = 0;         ///< of a panel's row
  unsigned rows = 0;         ///< the last axis
  int64_t lanes = 0;         ///< of the vectors that are copied
  bool isTransposed = false; ///< the source's rows are the panels' columns
  bool masksColumns = false; ///< the last panel is not whole
  bool masksRows = false;    ///< squares beyond the last row
  std::optional<PanelGroup> group = {}; ///< that rows of panels consist of
  /// What fills the panels in front, and need not: the copy writes all.
  mlir::linalg::FillOp fill = {};

  void print(llvm::raw_ostream &os) const;
};

/// How `op` is copied into panels; none if it is no such copy, or one that the
/// target's vectors cannot do.
std::optional<CopyPlan> planPanelCopy(mlir::linalg::GenericOp op, CpuModel cpu);
/// The same for panels of groups.
std::optional<CopyPlan> planGroupCopy(mlir::linalg::GenericOp op, CpuModel cpu);

/// Writes the loops in the place of `op`.
void emitPanelCopy(mlir::linalg::GenericOp op, const CopyPlan &plan);
void emitGroupCopy(mlir::linalg::GenericOp op, const CopyPlan &plan);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_CPU_COPIES_COPYPLAN_H
