//===- Parts.h - A module in parts ------------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM works on one module with one thread. A large module is divided: the
// functions that are never inlined (loopc-outline-nests makes them) go to
// parts, each with a context of its own, which threads optimise and make
// objects of. How a module is divided depends on its code alone, never on the
// machine, and so does what comes out.
//
// What a run passes through once, and has no loops, can be most of the code of
// a network: shapes, memory, and calls of nests. Then it is the main part, and
// is not optimised: that would take most of compile time and save microseconds.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_TARGET_PARTS_H
#define LOOPC_LIB_TARGET_PARTS_H

#include "Translate.h"

#include <vector>

namespace loopc {

/// The bytes of an ELF object.
using ObjectBytes = llvm::SmallVector<char, 0>;

/// A module as one part or more.
class ModuleParts {
public:
  /// Divides `module` if it is large. Functions and globals that several parts
  /// share become hidden symbols whose names begin with `symbol`.
  static mlir::FailureOr<ModuleParts>
  divide(LLVMModule module, llvm::StringRef symbol, mlir::Location loc);

  size_t size() const { return parts.size(); }

  /// The part with the model's two functions and its table.
  LLVMModule &getMain() { return parts.front(); }

  /// True if code of a part reads the weight `symbol`.
  bool usesGlobal(llvm::StringRef symbol) const;

  /// Runs LLVM's passes on every part.
  mlir::LogicalResult optimize(const TargetOptions &options,
                               mlir::Location loc);

  /// Makes an object of each part, the main one first.
  mlir::FailureOr<std::vector<ObjectBytes>>
  emitObjects(const TargetOptions &options, mlir::Location loc);

private:
  /// Calls `work` for each part, on threads where there are several.
  mlir::LogicalResult
  forEach(const TargetOptions &options, mlir::Location loc,
          llvm::function_ref<bool(size_t, llvm::TargetMachine &)> work);

  /// The level of optimisation of part `number` where `level` is asked for.
  unsigned levelOf(size_t number, unsigned level) const {
    return number == 0 && isMainStraight ? 0 : level;
  }

  std::vector<LLVMModule> parts;
  /// True if the main part is only what a run passes through once.
  bool isMainStraight = false;
};

/// Links `objects`, made from the parts of one module, to one object, in which
/// hidden symbols are local.
mlir::FailureOr<ObjectBytes> joinObjects(std::vector<ObjectBytes> objects,
                                         mlir::Location loc);

} // namespace loopc

#endif // LOOPC_LIB_TARGET_PARTS_H
