//===- LowerVectors.cpp - Vectors as the LLVM dialect has them ------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// loopc-lower-vectors: what MLIR's convert-vector-to-llvm does before its
// conversion. On a whole module its patterns fold all operations and simplify
// all regions until nothing changes; here they are applied where there is a
// vector. The conversion itself is part of the one to LLVM's dialect.

#include "ApplyAtRoots.h"
#include "loopc/Conversion/ToLLVM/Passes.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Target/LLVMIR/TypeToLLVM.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/IR/LLVMContext.h"

namespace loopc {
#define GEN_PASS_DEF_LOWERVECTORS
#include "loopc/Conversion/ToLLVM/Passes.h.inc"
} // namespace loopc

using namespace mlir;

/// How elements of buffers are aligned.
static DenseMap<Type, unsigned> findAlignments(MLIRContext *of) {
  llvm::LLVMContext context;
  LLVM::TypeToLLVMIRTranslator translator(context);
  LLVMTypeConverter converter(of);
  Builder b(of);
  DenseMap<Type, unsigned> alignments;
  for (Type type :
       {Type(b.getI1Type()), Type(b.getI8Type()), Type(b.getI16Type()),
        Type(b.getI32Type()), Type(b.getI64Type()), Type(b.getIndexType()),
        Type(b.getF16Type()), Type(b.getBF16Type()), Type(b.getF32Type()),
        Type(b.getF64Type())})
    alignments[type] = translator.getPreferredAlignment(
        converter.convertType(type), converter.getDataLayout());
  return alignments;
}

/// Says of accesses to vectors that they are aligned as one element is. Where
/// nothing is said MLIR's conversion asks LLVM, with a new context for each.
static void setAlignments(Operation *root,
                          const DenseMap<Type, unsigned> &alignments) {
  auto align = [&](auto access) {
    if (access.getAlignment())
      return;
    if (unsigned bytes =
            alignments.lookup(access.getMemRefType().getElementType()))
      access.setAlignment(bytes);
  };
  root->walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<vector::LoadOp, vector::StoreOp, vector::MaskedLoadOp,
              vector::MaskedStoreOp>(align);
  });
}

namespace {
struct LowerVectors : loopc::impl::LowerVectorsBase<LowerVectors> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet patterns(context);
    vector::populateVectorToVectorCanonicalizationPatterns(patterns);
    vector::populateVectorBitCastLoweringPatterns(patterns);
    vector::populateVectorBroadcastLoweringPatterns(patterns);
    vector::populateVectorContractLoweringPatterns(
        patterns, vector::VectorContractLowering::Dot);
    vector::populateVectorMaskOpLoweringPatterns(patterns);
    vector::populateVectorShapeCastLoweringPatterns(patterns);
    vector::populateVectorInterleaveLoweringPatterns(patterns);
    vector::populateVectorTransposeLoweringPatterns(
        patterns, vector::VectorTransposeLowering::EltWise);
    // Those of more axes are loops already.
    vector::populateVectorTransferLoweringPatterns(patterns,
                                                   /*maxTransferRank=*/1);
    // Lanes are counted with 32 bits.
    vector::populateVectorMaskMaterializationPatterns(
        patterns, /*force32BitVectorIndices=*/true);
    vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
    vector::populateVectorStepLoweringPatterns(patterns);
    vector::populateVectorRankReducingFMAPattern(patterns);
    vector::populateVectorGatherLoweringPatterns(patterns);
    vector::populateVectorFromElementsUnrollPatterns(patterns);
    vector::populateVectorToElementsUnrollPatterns(patterns);
    lowerings = std::move(patterns);
    alignments = findAlignments(context);
    return success();
  }

  void runOnOperation() override {
    if (failed(loopc::applyAtRoots(getOperation(), lowerings)))
      return signalPassFailure();
    setAlignments(getOperation(), alignments);
  }

private:
  /// For each of many functions.
  FrozenRewritePatternSet lowerings;
  DenseMap<Type, unsigned> alignments;
};
} // namespace
