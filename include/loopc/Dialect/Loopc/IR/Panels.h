//===- Panels.h - Operands that are packed ----------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_LOOPC_IR_PANELS_H
#define LOOPC_DIALECT_LOOPC_IR_PANELS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Operation.h"

namespace loopc {

/// Unit attribute of a linalg.generic of which one operand is packed: it is
/// whole panels, with zeros behind the elements that there are. The map of the
/// operand tells how wide they are, but not that; it could be any buffer.
inline constexpr llvm::StringLiteral kPackedAttrName = "loopc.packed";

/// So many neighbours along `dim` are behind one another in panels.
struct PanelGroup {
  unsigned dim;
  int64_t size;
};

/// How an operand is packed along the loop `dim`.
struct Panels {
  /// One result is `dim floordiv width`, and the last one `dim mod width` (or
  /// the last but one, in front of a group's).
  mlir::AffineMap map;
  unsigned dim;
  int64_t width;
  /// One result is `dim floordiv size`, and the last one `dim mod size`.
  std::optional<PanelGroup> group = {};
};

/// The panels that `map` reads or writes, if it is of their form.
std::optional<Panels> matchPanels(mlir::AffineMap map);

/// The panels of the operand of `op` that is marked as packed.
std::optional<Panels> getPanels(mlir::Operation *op);

/// Whether `op`, which is marked, has one operand of such a map, and whether
/// its extents are those of whole panels, as far as they are known.
llvm::LogicalResult verifyPacked(mlir::Operation *op);

} // namespace loopc

#endif // LOOPC_DIALECT_LOOPC_IR_PANELS_H
