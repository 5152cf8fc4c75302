//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Loop/IR/Loop.h"

using namespace mlir;
using namespace loopc::loop;

LogicalResult LoopOp::verify() { return success(); }
LogicalResult LoopOp::verifyRegions() { return success(); }
LogicalResult ScanOp::verify() { return success(); }
LogicalResult ScanOp::verifyRegions() { return success(); }
