//===- CanonicalPatterns.cpp - Canonicalizations, made once ---------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Loop/IR/CanonicalPatterns.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace loopc::loop;

namespace {
/// index_cast(index_cast(x))  ->  x, of x's type and through one that holds all
/// of its numbers. Upstream's does it through one of fewer bits, too.
template <typename CastOp> struct DropIndexCasts : OpRewritePattern<CastOp> {
  using OpRewritePattern<CastOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(CastOp cast,
                                PatternRewriter &rewriter) const override {
    auto bitsOf = [](Value value) {
      Type type = getElementTypeOrSelf(value);
      return type.isIndex() ? 64u : type.getIntOrFloatBitWidth();
    };
    auto before = cast.getIn().template getDefiningOp<CastOp>();
    if (!before || before.getIn().getType() != cast.getType() ||
        bitsOf(before.getIn()) > bitsOf(cast.getIn()))
      return failure();
    rewriter.replaceOp(cast, before.getIn());
    return success();
  }
};
} // namespace

FrozenRewritePatternSet CanonicalPatterns::get(MLIRContext *context) {
  auto &own = *context->getLoadedDialect<LoopDialect>()
                   ->getRegisteredInterface<CanonicalPatterns>();
  std::lock_guard lock(own.mutex);
  ArrayRef<RegisteredOperationName> operations =
      context->getRegisteredOperations();
  if (own.numOperations == operations.size())
    return own.patterns;
  RewritePatternSet all(context);
  for (Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(all);
  for (RegisteredOperationName operation : operations)
    operation.getCanonicalizationPatterns(all, context);
  // SuccessorInputs.cpp and BranchConditions.cpp have what the first ones do,
  // without squares; the last ones take away conversions that cut a number.
  all.add<DropIndexCasts<arith::IndexCastOp>,
          DropIndexCasts<arith::IndexCastUIOp>>(context);
  static const std::string others[] = {
      "(anonymous namespace)::ConditionPropagation",
      "(anonymous namespace)::MakeRegionBranchOpSuccessorInputsDead",
      "(anonymous namespace)::RemoveDuplicateSuccessorInputUses",
      "(anonymous namespace)::RemoveDeadRegionBranchOpSuccessorInputs",
      "(anonymous namespace)::IndexCastOfIndexCast",
      "(anonymous namespace)::IndexCastUIOfIndexCastUI"};
  own.patterns = FrozenRewritePatternSet(std::move(all), others);
  own.numOperations = operations.size();
  return own.patterns;
}
