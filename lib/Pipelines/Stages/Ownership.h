//===- Ownership.h - Who owns each buffer -----------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_PIPELINES_STAGES_OWNERSHIP_H
#define LOOPC_LIB_PIPELINES_STAGES_OWNERSHIP_H

#include "Conditions.h"
#include "StageErrors.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace loopc {

/// Follows a function along all of its paths at once, as an abstract
/// interpreter, and checks that each buffer and each list has exactly one owner
/// on each of them until it ends: it is freed, or handed to a loop, a list or
/// the caller, once, and not used behind that.
///
/// It knows nothing of how buffer-place-deallocations decides. Where that pass
/// thinks in blocks and last uses, here each buffer has a condition under which
/// it has an owner, and each value is one of some buffers, each under a
/// condition of its own. The time is linear in the operations.
class OwnershipChecker {
public:
  OwnershipChecker(mlir::func::FuncOp function, StageErrors &errors)
      : function(function), errors(errors) {}

  void run();
  /// Buffers that a value may be in too many ways to follow; they are not
  /// checked.
  unsigned numUnchecked = 0;

private:
  using Ref = Conditions::Ref;
  static constexpr size_t kNodesPerOp = 64;
  static constexpr size_t kMaxAlternatives = 16;

  /// A buffer, or a handle of a list, that one place makes.
  struct Resource {
    mlir::Value origin;
    unsigned scope;   ///< the loop that made it, which must end it
    Ref owned;        ///< when it has an owner
    unsigned lastUse; ///< of all values that may be it
    bool isShared;    ///< it belongs to a list, too
    Ref ended = Conditions::kNever; ///< when it has had an owner
    mlir::Operation *end = nullptr; ///< the last of what ended it
    bool isUnchecked = false;
  };
  /// Memory that nobody owns here; such memory that nobody may write to either
  /// (the caller's inputs, constants); lists without elements, which anybody
  /// may own; what is not followed.
  enum Special : unsigned {
    kBorrowed,
    kReadOnly,
    kNothing,
    kUnknown,
    kNumSpecial
  };
  struct Alternative {
    unsigned resource;
    Ref condition;
  };
  using Alternatives = llvm::SmallVector<Alternative, 1>;
  /// How something ends: it is freed, becomes a list's, or somebody's who may
  /// write to it.
  enum class End { Freed, Listed, HandedOn };

  void number();
  void visitBlock(mlir::Block &block);
  void visit(mlir::Operation *op);
  void visitEnd(mlir::Operation *op);
  void visitListOp(mlir::Operation *op);
  void visitOther(mlir::Operation *op);
  void visitRegions(mlir::Operation *op);
  void visitLoop(loop::LoopOp loop);
  void visitExchange(mlir::scf::ForOp loop);
  void visitBranches(mlir::Operation *op);
  void visitInScope(mlir::Block &body, mlir::ValueRange owned);
  void checkEnds(llvm::ArrayRef<Resource> all);

  void checkUses(mlir::Operation *op, mlir::ValueRange used);
  void checkWrites(mlir::Operation *op);
  void own(mlir::ValueRange made, bool isShared = false);
  void alias(mlir::Value value, Alternatives alternatives);
  void lend(mlir::Value value, Special special) {
    values[value] = {{special, Conditions::kAlways}};
  }
  void end(mlir::ValueRange ended, mlir::Operation *op, End how);
  void endOne(Alternative alternative, mlir::Operation *op, mlir::Type type,
              End how);
  void settle(mlir::Operation *op, llvm::ArrayRef<Alternatives> joined);
  Alternatives settleOne(mlir::Value result, const Alternatives &all,
                         const llvm::SmallDenseSet<unsigned> &contended);
  bool mayMove(const Alternative &alternative,
               const llvm::SmallDenseSet<unsigned> &contended);
  void add(Alternatives &to, Alternative alternative);
  Alternatives alternativesOf(mlir::Value value);
  Resource *resourceOf(const Alternative &alternative);
  void fail(Resource &resource, mlir::Operation *op, llvm::StringRef what);

  mlir::func::FuncOp function;
  StageErrors &errors;
  Conditions conditions;
  llvm::DenseMap<mlir::Value, Alternatives> values;
  llvm::DenseMap<mlir::Value, unsigned> lastUses;
  /// What was made in the loops around, innermost last.
  llvm::SmallVector<Resource> resources;
  unsigned scope = 0, numScopes = 0;
  unsigned numOps = 0;
  /// The number of the operation that is visited.
  unsigned now = 0;
  /// When it is reached, within the loop around it.
  Ref path = Conditions::kAlways;
};

/// Checks all functions of `module`, if nothing is wrong with it yet. Returns
/// how many buffers are not checked.
unsigned verifyOwnership(mlir::ModuleOp module, StageErrors &errors);

} // namespace loopc

#endif // LOOPC_LIB_PIPELINES_STAGES_OWNERSHIP_H
