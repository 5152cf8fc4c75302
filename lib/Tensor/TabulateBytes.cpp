//===- TabulateBytes.cpp - Functions of a byte are looked up --------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// tensor-tabulate-bytes: an elementwise operation with elementary functions
// that makes a byte of a byte, and reads nothing else that differs from element
// to element, has 256 results: they are computed once, and looked up.
//
// Quantized models have such operations between QuantizeLinear and
// DequantizeLinear: Sigmoid, SiLU, Gelu, Tanh.

#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/Nest/Analysis/Cost.h"
#include "loopc/Tensor/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace loopc {
#define GEN_PASS_DEF_TENSORTABULATEBYTES
#include "loopc/Tensor/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Numbers that a byte can be.
static constexpr int64_t kBytes = 256;
/// The table must be small beside the elements that are looked up.
static constexpr int64_t kMinElements = 4 * kBytes;

static bool isOfBytes(Value tensor) {
  return getElementTypeOrSelf(tensor).isInteger(8);
}

/// The operand of bytes, one for each element of the result, if all others are
/// one element for all; else null.
static OpOperand *findBytes(linalg::GenericOp op) {
  OpOperand *bytes = nullptr;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (map.getNumResults() == 0)
      continue;
    if (bytes || !map.isPermutation() || !isOfBytes(input->get()))
      return nullptr;
    bytes = input;
  }
  return bytes;
}

/// True if there are enough elements for a table, which has the result of
/// numbers that no element may have, too. Where only the run knows, a
/// table takes less than the run itself, but not in each iteration of a loop.
static bool hasManyElements(linalg::GenericOp op) {
  int64_t known = 1;
  bool isOpen = false;
  for (int64_t extent : op.getStaticLoopRanges()) {
    isOpen |= ShapedType::isDynamic(extent);
    known *= ShapedType::isDynamic(extent) ? 1 : extent;
  }
  return known >= kMinElements ||
         (isOpen && !op->getParentOfType<LoopLikeOpInterface>());
}

static bool wantsTable(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() != 0 || op.hasIndexSemantics() ||
      !isOfBytes(op.getDpsInits()[0]) ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation())
    return false;
  bool isHeavy = false;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (inner.getNumRegions() != 0 || !isSafeToSpeculate(&inner))
      return false;
    isHeavy |= isElementaryFunction(&inner);
  }
  return isHeavy && hasManyElements(op);
}

/// The results of `op` for each byte, as a tensor.
static Value makeTable(IRRewriter &rewriter, linalg::GenericOp op,
                       OpOperand *bytes) {
  Location loc = op.getLoc();
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, ArrayRef<int64_t>{kBytes}, rewriter.getI8Type());
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands())
    if (input != bytes) {
      inputs.push_back(input->get());
      maps.push_back(AffineMap::get(1, 0, rewriter.getContext()));
    }
  maps.push_back(rewriter.getMultiDimIdentityMap(1));
  auto body = [&](OpBuilder &b, Location at, ValueRange args) {
    IRMapping mapping;
    for (OpOperand *input : op.getDpsInputOperands()) {
      BlockArgument element = op.getMatchingBlockArgument(input);
      if (input != bytes) {
        mapping.map(element, args.front());
        args = args.drop_front();
        continue;
      }
      Value number = linalg::IndexOp::create(b, at, 0);
      mapping.map(element, arith::IndexCastUIOp::create(
                               b, at, element.getType(), number));
    }
    for (Operation &inner : *op.getBody())
      b.clone(inner, mapping);
  };
  return linalg::GenericOp::create(
             rewriter, loc, empty.getType(), inputs, empty, maps,
             ArrayRef{utils::IteratorType::parallel}, body)
      .getResult(0);
}

/// Rewrites
///
///     %y = linalg.generic ins(%x : tensor<?xi8>) { %v = f(%x); yield %v }
///
/// to
///
///     %t = linalg.generic outs(tensor<256xi8>) { f(linalg.index 0) }
///     %y = linalg.generic ins(%x) { yield (tensor.extract %t[%x]) }
static void tabulate(IRRewriter &rewriter, linalg::GenericOp op,
                     OpOperand *bytes) {
  rewriter.setInsertionPoint(op);
  Value table = makeTable(rewriter, op, bytes);
  OpOperand *init = op.getDpsInitOperand(0);
  auto lookup = linalg::GenericOp::create(
      rewriter, op.getLoc(), op->getResultTypes(), bytes->get(), init->get(),
      ArrayRef{op.getMatchingIndexingMap(bytes),
               op.getMatchingIndexingMap(init)},
      op.getIteratorTypesArray(),
      [&](OpBuilder &b, Location at, ValueRange args) {
        Value place =
            arith::IndexCastUIOp::create(b, at, b.getIndexType(), args.front());
        Value found = tensor::ExtractOp::create(b, at, table, place);
        linalg::YieldOp::create(b, at, found);
      });
  rewriter.replaceOp(op, lookup);
}

namespace {
struct TensorTabulateBytes
    : loopc::impl::TensorTabulateBytesBase<TensorTabulateBytes> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> found;
    getOperation().walk([&](linalg::GenericOp op) {
      if (wantsTable(op) && findBytes(op))
        found.push_back(op);
    });
    for (linalg::GenericOp op : found)
      tabulate(rewriter, op, findBytes(op));
    numTabulated += found.size();
  }
};
} // namespace
