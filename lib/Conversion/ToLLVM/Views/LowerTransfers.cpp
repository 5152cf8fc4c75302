//===- LowerTransfers.cpp - Transfers of vectors of several axes ----------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-lower-transfers: MLIR's patterns of convert-vector-to-scf where there
// is a transfer. Few models have one that they match, and on a whole module
// MLIR's pass folds all operations twice.

#include "ApplyAtRoots.h"
#include "loopc/Conversion/ToLLVM/Passes.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"

namespace loopc {
#define GEN_PASS_DEF_LOWERTRANSFERS
#include "loopc/Conversion/ToLLVM/Passes.h.inc"
} // namespace loopc

using namespace mlir;

namespace {
struct LowerTransfers : loopc::impl::LowerTransfersBase<LowerTransfers> {
  using Base::Base;

  void runOnOperation() override {
    // Permutations first: the patterns of loops count on the axes' order.
    RewritePatternSet permutations(&getContext());
    vector::populateVectorTransferPermutationMapLoweringPatterns(permutations);
    RewritePatternSet loops(&getContext());
    populateVectorToSCFConversionPatterns(loops);
    for (RewritePatternSet *patterns : {&permutations, &loops})
      if (failed(loopc::applyAtRoots(getOperation(), std::move(*patterns))))
        return signalPassFailure();
  }
};
} // namespace
