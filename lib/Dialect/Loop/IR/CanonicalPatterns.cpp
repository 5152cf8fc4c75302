//===- CanonicalPatterns.cpp - Canonicalizations, made once ---------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Loop/IR/CanonicalPatterns.h"
#include "loopc/Dialect/Loop/IR/Loop.h"

using namespace mlir;
using namespace loopc::loop;

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
  // SuccessorInputs.cpp and BranchConditions.cpp have what they do.
  static const std::string squares[] = {
      "(anonymous namespace)::ConditionPropagation",
      "(anonymous namespace)::MakeRegionBranchOpSuccessorInputsDead",
      "(anonymous namespace)::RemoveDuplicateSuccessorInputUses"};
  own.patterns = FrozenRewritePatternSet(std::move(all), squares);
  own.numOperations = operations.size();
  return own.patterns;
}
