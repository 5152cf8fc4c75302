//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace loopc::loop;

void LoopOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
