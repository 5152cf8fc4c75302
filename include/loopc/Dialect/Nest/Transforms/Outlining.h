//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What passes that move loop nests into functions of their own share.

#ifndef LOOPC_DIALECT_NEST_TRANSFORMS_OUTLINING_H
#define LOOPC_DIALECT_NEST_TRANSFORMS_OUTLINING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

namespace loopc {

/// Marks an allocation whose memory is released in this run: it is not handed
/// out, also where another function releases it.
inline constexpr llvm::StringLiteral kScratchAttrName = "loopc.scratch";

/// What a nest uses of outside.
struct Captures {
  /// In order of the first use, without constants.
  llvm::SetVector<mlir::Value> values;
  /// Constants, which are cloned rather than handed over.
  llvm::SetVector<mlir::Operation *> constants;

  /// Adds `value`, to the one or the other.
  void add(mlir::Value value);
  /// Adds all that `ops`, of one block and one behind the other, and what is in
  /// them use of outside of them.
  void addAll(mlir::ArrayRef<mlir::Operation *> ops);
};

/// True if `op` and all in it only compute on what is there.
bool isPlain(mlir::Operation *op);

/// True if what hands work to a GPU, or waits for it, is `op` or in it: only
/// the function that runs the model does that.
bool isForDevice(mlir::Operation *op);

/// True for what a function may be handed, and may return.
bool canBeArgument(mlir::Type type);

/// A private function without a body's operations, which LLVM keeps to itself
/// and does not inline; in no module yet.
mlir::func::FuncOp makePrivateFunction(mlir::Location loc, mlir::Twine name,
                                       mlir::FunctionType type);

/// Buffers that are known through views alone. It is remembered while nests
/// become functions one after the other, as all of them may use one buffer; no
/// allocation of one may be erased meanwhile.
class ViewedBuffers {
public:
  /// True if nobody knows the memory of `alloc` but through views of it: what a
  /// loop carries, a branch yields or a call returns may be that memory, too.
  bool contains(mlir::memref::AllocOp alloc);
  /// How many uses of buffers were looked at.
  unsigned getWork() const { return work; }

private:
  llvm::DenseSet<mlir::Operation *> known;
  unsigned work = 0;
};

/// Marks as `llvm.noalias` the arguments of `made`, from number `first` on the
/// values `captures` of `ops`, that hold memory which was allocated here, is
/// written in these operations and is reached through no other argument.
void markPrivateMemory(mlir::func::FuncOp made, unsigned first,
                       mlir::ArrayRef<mlir::Value> captures,
                       mlir::ArrayRef<mlir::Operation *> ops,
                       ViewedBuffers &buffers);

/// The outermost nests in `op` that are said to be parallel, and can be; of
/// others a remark says why not. Threads test them side by side.
llvm::SmallVector<mlir::scf::ForOp> collectParallelNests(mlir::Operation *op);

/// True for a nest that fills memory which was allocated just for it, in the
/// same block: a call does not count beside that.
bool fillsNewMemory(mlir::scf::ForOp nest);

/// The loops in `function` an iteration of which is a sequence of at least
/// `steps` nests and calls: one call more or less is nothing in it, and LLVM
/// takes its time over so much code in a loop.
llvm::SmallPtrSet<mlir::Operation *, 4>
findLongLoops(mlir::func::FuncOp function, unsigned steps);

/// Keeps LLVM from writing loops of an unknown number of iterations out several
/// times where it does not vectorise them: in `function`, whose loops are
/// entered seldom, that is code for little gain.
void disableRuntimeUnrolling(mlir::func::FuncOp function);

/// Says to LLVM of the independent loops (Parallel.h) that read where other
/// elements say that no iteration writes what another one reads.
void markParallelAccesses(mlir::ModuleOp module);

/// True for an operation that ends the run with the path of its node where
/// there is no memory: all that allocates, but for small buffers of a fixed
/// size, which are not to blame.
bool namesPlace(mlir::Operation *op);

/// Functions that are made of nests; those that do the same, and would name the
/// same nodes in errors, are one. Others that differ in the nodes alone are
/// shared once the nodes are numbers (`loopc-share-nests`).
class SharedFunctions {
public:
  explicit SharedFunctions(mlir::ModuleOp module) : symbols(module) {}

  /// `made`, which goes into the module under a name of its own, or the one of
  /// those before that does the same; `made` is erased then.
  mlir::func::FuncOp add(mlir::func::FuncOp made);

private:
  mlir::SymbolTable symbols;
  /// How often a name was given, by what it begins with.
  llvm::StringMap<unsigned> named;
  /// By a number that is the same for functions that do the same.
  llvm::DenseMap<size_t, llvm::SmallVector<mlir::func::FuncOp, 1>> functions;
};

} // namespace loopc

#endif // LOOPC_DIALECT_NEST_TRANSFORMS_OUTLINING_H
