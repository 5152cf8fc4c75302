//===- AliasClasses.h - Buffers that may be one memory ----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_NEST_ANALYSIS_ALIASCLASSES_H
#define LOOPC_DIALECT_NEST_ANALYSIS_ALIASCLASSES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace loopc {

/// Which memrefs may lie in one piece of memory: views and what they are of,
/// values that a loop or branch hands on. Two values of different classes never
/// do, as far as each allocation, input and constant is memory of its own.
class AliasClasses {
public:
  AliasClasses() = default;
  /// Of all memrefs that `op` and what is in it define or hand on.
  explicit AliasClasses(mlir::Operation *op);

  /// Says that two may be one.
  void join(mlir::Value one, mlir::Value other);
  /// Something that is equal for values of one class.
  const void *of(mlir::Value value) const;

  /// Takes `op`, which has no uses, out of the code. Its memory is kept as long
  /// as the classes: a value at the same address would be of its class.
  void erase(mlir::Operation *op);

  ~AliasClasses();
  AliasClasses(const AliasClasses &) = delete;
  AliasClasses &operator=(const AliasClasses &) = delete;

private:
  void add(mlir::Operation *op);
  void joinAll(mlir::ValueRange some, mlir::ValueRange others);

  llvm::EquivalenceClasses<const void *> classes;
  llvm::SmallVector<mlir::Operation *> erased;
};

} // namespace loopc

#endif // LOOPC_DIALECT_NEST_ANALYSIS_ALIASCLASSES_H
