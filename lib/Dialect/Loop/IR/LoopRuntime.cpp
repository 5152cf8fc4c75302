//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Operations of LoopRuntimeOps.td: strings and calls of the runtime.

#include "loopc/Dialect/Loop/IR/Loop.h"

using namespace mlir;
using namespace loopc::loop;

LogicalResult StringPartsOp::fold(FoldAdaptor,
                                  SmallVectorImpl<OpFoldResult> &results) {
  auto made = getString().getDefiningOp<StringOp>();
  if (!made)
    return failure();
  results.assign({made.getAddress(), made.getBytes()});
  return success();
}

Speculation::Speculatability CallOp::getSpeculatability() {
  return getWhere() ? Speculation::NotSpeculatable : Speculation::Speculatable;
}
