//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A chain of operations that share loops over batches and rows, between two
// products; cpu-tile-chains makes tiles of it.

#ifndef LOOPC_LIB_CODEGEN_CPU_ROWS_CHAIN_H
#define LOOPC_LIB_CODEGEN_CPU_ROWS_CHAIN_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

namespace loopc {

/// One number for each shared axis: a loop of an operation, or an axis of a
/// buffer.
using Places = llvm::SmallVector<unsigned, 4>;

/// Operations that share loops over batches and rows.
class Chain {
public:
  explicit Chain(mlir::linalg::GenericOp last) : last(last) {}

  /// True if `last` ends a chain that is worth tiles.
  bool find();
  /// Its operations, in their order.
  llvm::SmallVector<mlir::linalg::LinalgOp> getOps() const;
  /// Visits its operations, and those of its branches: emit() takes them away.
  void forEachOp(llvm::function_ref<void(mlir::Operation *)> visit) const;
  void emit(mlir::RewriterBase &rewriter);

private:
  bool findFrom(mlir::OpOperand &rows);
  bool include(mlir::Value buffer, const Places &axes);
  bool includeUses(mlir::Value value, const Places &axes);
  bool includeBranch(mlir::scf::YieldOp yield, const Places &axes);
  bool isOfBranches(mlir::Operation *op) const;
  bool areBranchesLocal() const;
  bool addUser(mlir::OpOperand &use, const Places &axes);
  bool addOthers(mlir::linalg::LinalgOp op);
  void addFills();
  bool hasProductAndReduction() const;
  static bool isLarge(mlir::MemRefType type, const Places &axes);
  bool areWritesIndependent() const;
  bool startsWithWrites() const;
  bool canMoveDown();
  bool isUnrelated(mlir::Operation *op, mlir::Operation *within) const;
  bool canPass(llvm::ArrayRef<mlir::Value> written,
               llvm::ArrayRef<mlir::Value> touched, mlir::Operation *op) const;
  int64_t chooseRows();
  std::optional<Places> findAxes(mlir::OpOperand &operand) const;
  mlir::Value makeTile(mlir::OpBuilder &b, mlir::memref::AllocOp alloc,
                       const Places &axes) const;
  void makeLoops(mlir::RewriterBase &rewriter);
  bool isOfRows(mlir::Value buffer) const;
  llvm::SmallVector<mlir::Value> makeTiles(mlir::RewriterBase &rewriter);
  void emitTiles(mlir::RewriterBase &rewriter);
  void keepOriginal(mlir::RewriterBase &rewriter, mlir::scf::IfOp versions);
  mlir::Value viewTile(mlir::OpBuilder &b, mlir::OpOperand &operand);
  void copyOp(mlir::RewriterBase &rewriter, mlir::linalg::LinalgOp op);

  mlir::linalg::GenericOp last;
  /// The buffer between the products.
  mlir::memref::AllocOp scores;
  struct Members {
    /// The loops of each operation, and the axes of each buffer that nobody
    /// else uses.
    llvm::MapVector<mlir::Operation *, Places> loops;
    llvm::MapVector<mlir::Value, Places> buffers;
    llvm::SmallVector<mlir::memref::DeallocOp> deallocs;
    /// Branches that hand on a buffer of the chain, or else a copy of it that
    /// is broadcast, and the buffers that their results stand for.
    llvm::SmallVector<mlir::scf::IfOp> branches;
    llvm::DenseMap<mlir::Value, mlir::Value> handedOn;

    /// How many of each there are. All are added at the end.
    struct Counts {
      size_t loops, buffers, deallocs, branches;
    };
    Counts count() const {
      return {loops.size(), buffers.size(), deallocs.size(), branches.size()};
    }
    /// Takes back what was added since there were `counts`.
    void takeBack(const Counts &counts);
  } members;
  mlir::Value bufferOf(mlir::Value value) const {
    mlir::Value buffer = members.handedOn.lookup(value);
    return buffer ? buffer : value;
  }

  /// The loops that are made, the part of each shared axis that an iteration
  /// has, and what it sees in the place of buffers.
  llvm::SmallVector<mlir::scf::ForOp> nest;
  llvm::SmallVector<mlir::OpFoldResult> offsets, sizes;
  llvm::DenseMap<mlir::Value, mlir::Value> tiles;
  /// What makes a view of a buffer: the loop of each shared axis that has one.
  struct View {
    mlir::Value buffer;
    llvm::SmallVector<std::optional<unsigned>> axes;
    mlir::Value value;
  };
  llvm::SmallVector<View> views;
};

/// True for what does no more than free something.
bool isDealloc(mlir::Operation *op);

/// The place of each of `dims` among the results of `map`; none if one is no
/// result by itself.
std::optional<Places> placesOf(llvm::ArrayRef<unsigned> dims,
                               mlir::AffineMap map);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_CPU_ROWS_CHAIN_H
