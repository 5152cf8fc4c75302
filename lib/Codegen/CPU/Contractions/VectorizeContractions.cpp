//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// cpu-vectorize-contractions: sums of products on buffers become loops over
// tiles of vectors that stay in registers while they are summed up.
//
// The code is written out here rather than found by rewriting: a tile is some
// dozens of operations, whatever the shapes are, so that compile time does not
// grow with them, and nothing depends on a chain of patterns that all must fit.

#include "ContractionEmitter.h"
#include "Copies/CopyPlan.h"
#include "PaddedWindows.h"
#include "loopc/Codegen/CPU/Passes.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace loopc {
#define GEN_PASS_DEF_CPUVECTORIZECONTRACTIONS
#include "loopc/Codegen/CPU/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Tiles that are transposed have the more operations for each element the
/// wider vectors are: where little code is wanted these have so many bits.
static constexpr unsigned kCompactCopyBits = 128;

/// Replaces `op` if it is a copy into panels, or transposes; else false.
static bool emitCopy(linalg::GenericOp op, CpuModel cpu) {
  if (std::optional<CopyPlan> plan = planPanelCopy(op, cpu)) {
    emitPanelCopy(op, *plan);
    return true;
  }
  if (std::optional<CopyPlan> plan = planGroupCopy(op, cpu)) {
    emitGroupCopy(op, *plan);
    return true;
  }
  return transposeTiles(op, cpu);
}

namespace {
struct CpuVectorizeContractions
    : loopc::impl::CpuVectorizeContractionsBase<CpuVectorizeContractions> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    VectorUnit unit = getVectorUnit(getOperation());
    CpuModel cpu(unit);
    TileKinds kinds = inOrder   ? TileKinds::OneInOrder
                      : compact ? TileKinds::One
                                : TileKinds::Fastest;
    if (kinds != TileKinds::Fastest)
      unit.bits = std::min(unit.bits, kCompactCopyBits);
    CpuModel copies(unit);
    // Before borders are filled: what windows leave out is not padded at all.
    vectorizeWindows(rewriter, cpu);
    ZeroBorders borders;
    if (!compact)
      borders = findZeroBorders(getOperation());
    getOperation().walk([](linalg::FillOp fill) {
      if (std::optional<BorderPlan> plan = planBorder(fill))
        emitBorder(fill, *plan);
    });
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp &op : ops)
      if (isa<linalg::TransposeOp>(op)) {
        rewriter.setInsertionPoint(op);
        op = cast<linalg::LinalgOp>(
            linalg::generalizeNamedOp(rewriter, op)->getOperation());
      }
    llvm::SmallPtrSet<Operation *, 8> gone;
    for (linalg::LinalgOp op : ops) {
      if (gone.contains(op))
        continue;
      if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
          generic && emitCopy(generic, copies)) {
        ++numVectorized;
        continue;
      }
      std::optional<ContractionPlan> plan =
          planContraction(op, cpu, borders, kinds);
      if (!plan)
        continue;
      ContractionEmitter(rewriter, op, *plan).emit();
      op.erase();
      if (linalg::GenericOp epilogue = plan->epilogue.op) {
        gone.insert(epilogue);
        epilogue.erase();
      }
      ++numVectorized;
    }
  }

  void vectorizeWindows(IRRewriter &rewriter, CpuModel cpu) {
    SmallVector<linalg::GenericOp> ops;
    llvm::SmallPtrSet<Operation *, 8> gone;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops) {
      if (gone.contains(op))
        continue;
      std::optional<WindowPlan> plan = planWindows(op, cpu);
      if (!plan)
        continue;
      gone.insert(plan->epilogue.op);
      emitWindows(rewriter, op, *plan);
      ++numVectorized;
    }
  }
};
} // namespace
