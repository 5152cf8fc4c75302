//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What packing and vectorising of matrix products agree on: tiles and panels.

#ifndef LOOPC_LIB_CODEGEN_CPU_CONTRACTIONS_H
#define LOOPC_LIB_CODEGEN_CPU_CONTRACTIONS_H

#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/Loopc/IR/Panels.h"
#include "loopc/Support/CpuModel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace loopc {

/// The element's bits if vectors of it can be loaded and computed with.
std::optional<unsigned> vectorBitsOf(mlir::Type type);

/// The addition that yields the sum, if its order may be changed; else null.
mlir::Operation *reorderableAddition(mlir::linalg::LinalgOp op);

/// The products that the body of `op` adds up before it adds them to its sum,
/// if they may be fused into it (`contract`); none where it adds something
/// else.
llvm::SmallVector<mlir::Value> findFusedTerms(mlir::linalg::LinalgOp op);

/// The number that `expr` grows by along `dim`, if it is one and the same
/// everywhere; else none.
std::optional<int64_t> stepAlong(mlir::AffineExpr expr, unsigned dim,
                                 unsigned numDims);

/// How many rows and how many vectors of a result one tile has.
struct TileShape {
  int64_t rows, vectors;
};

/// The tile for `rows` rows (dynamic: many) of `columns` columns in vectors of
/// `lanes`, whose sums fit into the registers and are enough to keep the
/// multipliers busy. `isWide`: more vectors and fewer rows, where there are
/// columns for them.
TileShape chooseTile(CpuModel cpu, int64_t rows, int64_t columns, int64_t lanes,
                     bool isWide = false);

/// True if the rows of `op` along `dim`, which are those of an image, do not
/// follow one another in memory, or will not where its result is wanted: to
/// make them rows of one matrix would cost a copy.
bool isRowOfImage(mlir::linalg::GenericOp op, int64_t dim, CpuModel cpu);

/// A sum of products of integers that the target has instructions for. Numbers
/// of few bits lie beside each other in the bytes of one operand; each is
/// multiplied with an element of an operand of its own.
struct DotProduct {
  struct Term {
    /// What is not read as vectors.
    mlir::OpOperand *elements;
    /// The number in each element of the vectors: all of it if `bits` is 0.
    unsigned firstBit = 0, bits = 0;
    /// In the body: that number less one of at most 8 bits that is the same
    /// along the sum; null: nothing is subtracted.
    mlir::arith::SubIOp difference = {};

    mlir::Value zero() const {
      return difference ? mlir::arith::SubIOp(difference).getRhs()
                        : mlir::Value();
    }
  };

  /// What is read as vectors, along the loop `columns`.
  mlir::OpOperand *vectors;
  llvm::SmallVector<Term, 2> terms;
  bool areVectorsUnsigned;
  /// The loop along which all are summed, in groups of `size`.
  PanelGroup sum;
  unsigned columns;
  /// How groups are multiplied and summed.
  enum class Method {
    Groups,   ///< an instruction for whole groups
    Pairs,    ///< of bytes: sums of pairs in 16 bits, then in 32
    Words,    ///< of bytes: even and odd ones, widened, by pairs of 16 bits
    Multiples ///< so, by multiplications
  };
  Method method = Method::Groups;
  /// In the body, where sums of integers along `sum` are added up as floats:
  /// the value of one of these sums, and what it begins with, null: 0.
  mlir::Value block = {}, start = {};

  bool hasZeros() const { return terms.front().difference; }
};

/// Finds the sum of products in `op`, on tensors or buffers, if its operands
/// can be brought together (PackContractions) or are (VectorizeContractions).
std::optional<DotProduct> matchDotProduct(mlir::linalg::LinalgOp op,
                                          CpuModel cpu);

/// What is subtracted from the numbers of `dot` is taken out of the sum: it is
/// multiplied with the sums of the other elements, which do not depend on the
/// columns. Returns the operation in the place of `op`.
mlir::linalg::GenericOp hoistZeroPoints(mlir::RewriterBase &rewriter,
                                        mlir::linalg::GenericOp op,
                                        const DotProduct &dot);

/// Lanes of the vectors of sums of `columns` columns.
int64_t dotLanes(CpuModel cpu, int64_t columns);

/// Keeps LLVM from unrolling `loop`, which has as much in it as is good, and
/// with `keepScalar` from making vectors of it.
void keepRolled(mlir::scf::ForOp loop, bool keepScalar = false);

/// `expr` of `dims`, folded.
mlir::Value applyTo(mlir::ImplicitLocOpBuilder &b, mlir::AffineExpr expr,
                    mlir::ValueRange dims);

/// The memref `buffer` with its last two axes as one.
mlir::Value joinLastAxes(mlir::ImplicitLocOpBuilder &b, mlir::Value buffer);

/// A mask of the first `count` of some lanes, at least none and at most all.
mlir::Value maskOfFirst(mlir::ImplicitLocOpBuilder &b, mlir::Value count,
                        int64_t lanes);

/// The square of as many vectors as each has lanes, a power of two, transposed.
llvm::SmallVector<mlir::Value>
transposeVectors(mlir::ImplicitLocOpBuilder &b,
                 llvm::ArrayRef<mlir::Value> rows);

/// Prints the extents of the loops of a plan: loops=64x?.
void printExtents(llvm::raw_ostream &os, llvm::ArrayRef<int64_t> extents);

/// A buffer that is filled, and all of whose inside is written next.
struct BorderPlan {
  // Operations are handles, which MLIR's accessors do not take as const.
  mlir::Value buffer; ///< allocated, or carried by a loop
  mutable mlir::memref::SubViewOp inside;
  mlir::Operation *writer; ///< of the inside; the border is filled before it

  /// Axes at whose begin, and at whose end, there is a border, or may be one.
  void print(llvm::raw_ostream &os) const;
  /// An extent of the buffer; null where it would have to be asked for.
  mlir::OpFoldResult getExtent(int64_t axis) const;
};

/// The border that is all of what `fill` has to fill; none where more is read,
/// or the buffer is so small that filling it twice costs less.
std::optional<BorderPlan> planBorder(mlir::linalg::FillOp fill);
/// Fills the border in the place of `fill`.
void emitBorder(mlir::linalg::FillOp fill, const BorderPlan &plan);

/// Replaces `op` by tiles that are transposed in registers, if it is
/// elementwise and reads an operand whose rows are columns of the result
/// (TransposePlan.h); else false. What is too much for a tile is left behind a
/// transpose, in its own order.
bool transposeTiles(mlir::linalg::GenericOp op, CpuModel cpu);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_CPU_CONTRACTIONS_H
