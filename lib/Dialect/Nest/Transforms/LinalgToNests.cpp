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
      rewriter.eraseOp(op);
    }
  }
};
} // namespace
