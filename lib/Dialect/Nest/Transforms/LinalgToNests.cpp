//===- LinalgToNests.cpp - Loops that know that they are parallel ---------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// convert-linalg-to-nests: as upstream's convert-linalg-to-loops, which has
// either loops that say nothing or scf.parallel, whose lowering calls OpenMP,
// and which simplifies the whole function as often as it finds something.

#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Dialect/Nest/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace loopc {
#define GEN_PASS_DEF_CONVERTLINALGTONESTS
#include "loopc/Dialect/Nest/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// `op` with its parallel dimensions in front, in their order.
static linalg::LinalgOp putParallelFirst(RewriterBase &rewriter,
                                         linalg::LinalgOp op) {
  SmallVector<unsigned> order;
  for (unsigned dim = 0; dim < op.getNumLoops(); ++dim)
    if (isParallelDim(op, dim))
      order.push_back(dim);
  for (unsigned dim = 0; dim < op.getNumLoops(); ++dim)
    if (!isParallelDim(op, dim))
      order.push_back(dim);
  if (llvm::is_sorted(order))
    return op;
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::GenericOp> generic =
      isa<linalg::GenericOp>(op)
          ? FailureOr<linalg::GenericOp>(cast<linalg::GenericOp>(op))
          : linalg::generalizeNamedOp(rewriter, op);
  if (failed(generic))
    return op;
  FailureOr<linalg::GenericOp> ordered =
      linalg::interchangeGenericOp(rewriter, *generic, order);
  return succeeded(ordered) ? *ordered : *generic;
}

/// True if `op` reads what its elements are the places of, along the innermost
/// loop, and what it reads is too narrow for the gathers that processors have.
static bool looksUpNarrow(linalg::LinalgOp op) {
  unsigned last = op.getNumLoops() - 1;
  auto isElementAlong = [&](Value place) {
    while (Operation *cast = place.getDefiningOp()) {
      if (!isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtUIOp>(cast))
        return false;
      place = cast->getOperand(0);
    }
    auto element = dyn_cast<BlockArgument>(place);
    return element && element.getOwner() == op.getBlock() &&
           op.getMatchingIndexingMap(op.getMatchingOpOperand(element))
               .isFunctionOfDim(last);
  };
  constexpr unsigned kGathered = 32;
  return llvm::any_of(op.getBlock()->getOps<memref::LoadOp>(),
                      [&](memref::LoadOp load) {
                        Type type = load.getType();
                        return type.isIntOrFloat() &&
                               type.getIntOrFloatBitWidth() < kGathered &&
                               llvm::any_of(load.getIndices(), isElementAlong);
                      });
}

/// Has LLVM write `loop` out for some elements at a time, one by one: in
/// vectors each would be inserted, which takes three times as long.
static void keepScalar(scf::ForOp loop) {
  MLIRContext *context = loop.getContext();
  auto yes = BoolAttr::get(context, true);
  auto count = IntegerAttr::get(IntegerType::get(context, 32), 8);
  auto unroll =
      LLVM::LoopUnrollAttr::get(context, {}, count, {}, {}, {}, {}, {});
  auto vectorize =
      LLVM::LoopVectorizeAttr::get(context, yes, {}, {}, {}, {}, {}, {});
  loop->setAttr("llvm.loop_annotation",
                LLVM::LoopAnnotationAttr::get(context, {}, vectorize, {},
                                              unroll, {}, {}, {}, {}, {}, {},
                                              {}, {}, {}, {}, {}));
}

namespace {
struct ConvertLinalgToNests
    : loopc::impl::ConvertLinalgToNestsBase<ConvertLinalgToNests> {
  using ConvertLinalgToNestsBase::ConvertLinalgToNestsBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (op.hasPureBufferSemantics())
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    bool forKernels = isForGPU(getOperation());
    for (linalg::LinalgOp op : ops) {
      if (forKernels)
        op = putParallelFirst(rewriter, op);
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::LinalgLoops> loops =
          linalg::linalgOpToLoops(rewriter, op);
      if (failed(loops))
        continue;
      for (auto [dim, made] : llvm::enumerate(*loops))
        if (auto loop = dyn_cast_or_null<scf::ForOp>(made))
          if (isParallelDim(op, dim))
            markParallel(loop);
      auto innermost = dyn_cast_or_null<scf::ForOp>(
          loops->empty() ? nullptr : loops->back());
      if (innermost && !forKernels && looksUpNarrow(op))
        keepScalar(innermost);
      rewriter.eraseOp(op);
    }
  }
};
} // namespace
