//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Zero points of one operand in sums of products of integers, which are then
// products of the numbers as they are stored:
//
//     sum of x * (w - z)   ->   sum of x * w, begun with -(sum of x) * z

#include "Contractions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace loopc;
using utils::IteratorType;

/// The sums, times -1, of the elements of `dot` along the loop of its groups,
/// which is the last axis of each.
static Value sumElements(ImplicitLocOpBuilder &b, const DotProduct &dot) {
  SmallVector<Value> elements;
  for (const DotProduct::Term &term : dot.terms)
    elements.push_back(term.elements->get());
  int64_t rank = cast<RankedTensorType>(elements[0].getType()).getRank();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), elements[0]);
  sizes.pop_back();
  Value empty = tensor::EmptyOp::create(b, sizes, b.getI32Type());
  Value zero = arith::ConstantIntOp::create(b, b.getI32Type(), 0);
  Value init = linalg::FillOp::create(b, zero, empty).getResult(0);
  AffineMap map = b.getMultiDimIdentityMap(rank);
  SmallVector<AffineMap> maps(elements.size(), map);
  maps.push_back(map.dropResult(rank - 1));
  SmallVector<IteratorType> types(rank, IteratorType::parallel);
  types.back() = IteratorType::reduction;
  bool isUnsigned = !dot.areVectorsUnsigned;
  return linalg::GenericOp::create(
             b, init.getType(), elements, init, maps, types,
             [&](OpBuilder &nested, Location loc, ValueRange arguments) {
               ImplicitLocOpBuilder inner(loc, nested);
               Value sum = arguments.back();
               for (Value argument : arguments.drop_back()) {
                 Value wide = isUnsigned
                                  ? arith::ExtUIOp::create(
                                        inner, inner.getI32Type(), argument)
                                        .getResult()
                                  : arith::ExtSIOp::create(
                                        inner, inner.getI32Type(), argument)
                                        .getResult();
                 sum = arith::SubIOp::create(inner, sum, wide);
               }
               linalg::YieldOp::create(inner, sum);
             })
      .getResult(0);
}

/// Moves the body of `op` to `to`, which has one operand more in front of the
/// result's, and begins the sum in it.
static void moveBody(RewriterBase &rewriter, linalg::GenericOp op,
                     const DotProduct &dot, linalg::GenericOp to) {
  Value zero = dot.terms.front().zero(), block = dot.block;
  llvm::SmallSetVector<Operation *, 2> differences;
  for (const DotProduct::Term &term : dot.terms)
    differences.insert(term.difference);
  for (Operation *difference : differences)
    rewriter.replaceOp(difference, difference->getOperand(0));
  Block *body = op.getBody();
  unsigned inputs = op.getNumDpsInputs();
  Value sums = body->insertArgument(inputs, rewriter.getI32Type(), op.getLoc());
  to.getRegion().takeBody(op.getRegion());
  ImplicitLocOpBuilder b(op.getLoc(), to.getBody(), to.getBody()->begin());
  b.setInsertionPointAfterValue(block);
  Value none = arith::ConstantIntOp::create(b, b.getI32Type(), 0);
  Value index = linalg::IndexOp::create(b, int64_t(dot.sum.dim));
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, index,
                                        arith::ConstantIndexOp::create(b, 0));
  Value begin = arith::MulIOp::create(b, sums, zero);
  Value start = arith::SelectOp::create(b, isFirst, begin, none);
  auto sum = arith::AddIOp::create(b, block, start);
  rewriter.replaceAllUsesExcept(block, sum, sum);
}

linalg::GenericOp loopc::hoistZeroPoints(RewriterBase &rewriter,
                                         linalg::GenericOp op,
                                         const DotProduct &dot) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value sums = sumElements(b, dot);
  SmallVector<Value> inputs(op.getDpsInputs());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap elements = op.getMatchingIndexingMap(dot.terms.front().elements);
  maps.insert(maps.end() - 1,
              elements.dropResult(elements.getNumResults() - 1));
  inputs.push_back(sums);
  auto made = linalg::GenericOp::create(b, op.getResultTypes(), inputs,
                                        op.getDpsInits(), maps,
                                        op.getIteratorTypesArray());
  moveBody(rewriter, op, dot, made);
  rewriter.replaceOp(op, made->getResults());
  return made;
}
