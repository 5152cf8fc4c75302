//===- Conditions.h - What decides which path a run takes -------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_PIPELINES_STAGES_CONDITIONS_H
#define LOOPC_LIB_PIPELINES_STAGES_CONDITIONS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseMap.h"

namespace loopc {

/// Boolean functions of the i1 values of a function, as reduced ordered binary
/// decision diagrams: equal functions are one number.
class Conditions {
public:
  using Ref = unsigned;
  static constexpr Ref kNever = 0, kAlways = 1;

  /// Bounds what is made: behind it answers mean nothing.
  void setMaxNodes(size_t count) { maxNodes = count; }
  bool isFull() const { return nodes.size() > maxNodes; }

  Ref both(Ref f, Ref g) { return choose(f, g, kNever); }
  Ref either(Ref f, Ref g) { return choose(f, kAlways, g); }
  Ref negate(Ref f) { return choose(f, kNever, kAlways); }
  Ref choose(Ref condition, Ref then, Ref otherwise);
  /// True where `f` holds only if `g` does.
  bool implies(Ref f, Ref g) { return both(f, negate(g)) == kNever; }

  /// When `value` (i1) is true: by what computes it from other conditions.
  Ref of(mlir::Value value);
  /// When `value` is the number `number`.
  Ref isNumber(mlir::Value value, int64_t number);
  /// Says when `value`, the result of a branch, is true.
  void set(mlir::Value value, Ref condition) { known[value] = condition; }

private:
  struct Node {
    unsigned variable;
    Ref then, otherwise;
  };

  Ref makeVariable() { return makeNode(++numVariables, kAlways, kNever); }
  Ref makeNode(unsigned variable, Ref then, Ref otherwise);
  Ref compute(mlir::Value value);
  Ref compare(mlir::arith::CmpIOp op);

  using Key = std::tuple<unsigned, unsigned, unsigned>;
  /// The last variable stands on top: what is decided later changes diagrams
  /// there, and does not make them anew.
  llvm::SmallVector<Node> nodes{{0, 0, 0}, {0, 1, 1}};
  llvm::DenseMap<Key, Ref> unique, chosen;
  llvm::DenseMap<mlir::Value, Ref> known;
  /// Comparisons `left < right` and `left == right`, signed or not, by their
  /// operands: a branch may compare again what another one has compared.
  llvm::DenseMap<std::tuple<unsigned, mlir::Value, mlir::Value>, Ref> compared;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, Ref> numbers;
  unsigned numVariables = 0;
  size_t maxNodes = 0;
};

} // namespace loopc

#endif // LOOPC_LIB_PIPELINES_STAGES_CONDITIONS_H
