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

#include "Link.h"
#include "Translate.h"

#include "mlir/Support/Timing.h"
#include "llvm/ADT/StringSet.h"

#include <vector>

namespace loopc {

/// A module as one part or more.
class ModuleParts {
public:
  /// Divides `module` if it is large. Functions and globals that several parts
  /// share become hidden symbols whose names begin with `symbol`.
  static ModuleParts divide(LLVMModule module, llvm::StringRef symbol);

  size_t size() const { return parts.size(); }

  /// True if code of a part reads the global `symbol` once all parts are
  /// optimised.
  bool usesGlobal(llvm::StringRef symbol) const;

  /// Optimises every part and makes objects, the main one first, on threads.
  /// `complete`, if there is one, is called once, on any of them, when all have
  /// been optimised, with the only part, or with a module of its own whose
  /// object is the last one: other parts may be machine code by then. A part is
  /// machine code before others are optimised, and is dropped then.
  mlir::FailureOr<std::vector<ObjectBytes>>
  compile(const TargetOptions &options, mlir::Location loc,
          llvm::function_ref<void(llvm::Module &)> complete,
          mlir::TimingScope &timing);

private:
  llvm::Error load(size_t number);
  void optimize(size_t number, llvm::TargetMachine &machine, unsigned level);
  LLVMModule createBeside() const;

  /// The level of optimisation of part `number` where `level` is asked for.
  unsigned levelOf(size_t number, unsigned level) const {
    return number == 0 && isMainStraight ? 0 : level;
  }

  std::vector<LLVMModule> parts;
  llvm::Triple triple;
  llvm::DataLayout layout;
  /// The whole module in LLVM's file format, where there are several parts.
  std::unique_ptr<llvm::SmallVector<char, 0>> bitcode;
  /// What each part defines; the main one all that was not moved.
  std::vector<llvm::StringSet<>> kept;
  llvm::StringSet<> moved;
  /// The variables that each part uses when it is optimised.
  std::vector<llvm::StringSet<>> used;
  /// True if the main part is only what a run passes through once.
  bool isMainStraight = false;
};

} // namespace loopc

#endif // LOOPC_LIB_TARGET_PARTS_H
