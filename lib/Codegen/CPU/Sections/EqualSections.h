//===- EqualSections.h - Sections that are lowered once ---------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_CPU_SECTIONS_EQUALSECTIONS_H
#define LOOPC_LIB_CODEGEN_CPU_SECTIONS_EQUALSECTIONS_H

#include "loopc/Dialect/Loopc/IR/Sections.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"

namespace loopc {

/// A number that is the same for operations that differ in nothing but where
/// they are from, which constants they read, what their checks say, and which
/// values they use.
llvm::hash_code hashKind(mlir::Operation &op);

/// Functions of sections, of which one stands for all that have its code: they
/// differ in labels alone, which are locations, names of constants and messages
/// of checks. No pass that works on one function decides anything by these, so
/// that what it makes of one function is what it would make of the others, with
/// other labels.
class EqualSections {
public:
  explicit EqualSections(mlir::SymbolTable &symbols) : symbols(symbols) {}

  /// `call` calls an equal section that is known already, if there is one, and
  /// says how the labels differ; its own is erased. True where that was done.
  bool share(CallSectionOp call, mlir::func::FuncOp section);

private:
  mlir::SymbolTable &symbols;
  llvm::DenseMap<uint64_t, llvm::SmallVector<mlir::func::FuncOp, 1>> known;
};

/// Gives `section` the labels that `call` names for it.
void relabelFor(CallSectionOp call, mlir::func::FuncOp section);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_CPU_SECTIONS_EQUALSECTIONS_H
