//===- TransposePlan.h - How transposes are computed ------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// How transposes, and elementwise operations that read an operand transposed,
// are computed by tiles of vectors that are transposed in registers.

#ifndef LOOPC_LIB_CODEGEN_CPU_COPIES_TRANSPOSEPLAN_H
#define LOOPC_LIB_CODEGEN_CPU_COPIES_TRANSPOSEPLAN_H

#include "Contractions.h"

namespace loopc {

/// Tiles as long as a vector and as wide as a short axis.
struct ShortTranspose {
  /// How an operand is read or written: one element for a whole vector, a
  /// vector for each number of the short axis, or as many vectors as there are
  /// numbers, in which these lie side by side.
  enum class Part { Element, Apart, Together };

  unsigned shortDim = 0, longDim = 0;
  int64_t count = 0;                  ///< numbers of the short axis
  int64_t lanes = 0;                  ///< of the vectors along the long axis
  llvm::SmallVector<Part> parts = {}; ///< by the number of the operand
};

/// Square tiles of vectors, or those of one short axis.
struct TransposePlan {
  /// How an operand is read: in vectors along the rows of the tile, along its
  /// columns, or as one element for all columns.
  enum class Kind { Rows, Columns, Element };

  llvm::SmallVector<int64_t> extents; ///< of the loops
  /// Vectors of the result run along the columns.
  unsigned rowDim = 0, columnDim = 0;
  int64_t lanes = 0;                  ///< of a square tile
  llvm::SmallVector<Kind> kinds = {}; ///< by the number of the input
  /// The body is large: the operand is transposed by an operation of its own.
  bool isCopiedFirst = false;
  /// Known to be short.
  std::optional<ShortTranspose> isShort = {};
  /// Code for each number that one of two open axes may turn out to have.
  llvm::SmallVector<ShortTranspose> versions = {};

  void print(llvm::raw_ostream &os) const;
};

/// How `op` is computed by such tiles; none if it transposes nothing, or the
/// target's vectors cannot do it.
std::optional<TransposePlan> planTranspose(mlir::linalg::GenericOp op,
                                           CpuModel cpu);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_CPU_COPIES_TRANSPOSEPLAN_H
