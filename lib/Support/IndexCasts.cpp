//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/IndexCasts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

bool loopc::isWideInteger(Type type) {
  return type.isIndex() || type.isInteger(64);
}

Value loopc::withoutIndexCasts(Value value) {
  auto bits = [](Value number) {
    Type type = getElementTypeOrSelf(number.getType());
    return type.isIndex() ? 64u : type.getIntOrFloatBitWidth();
  };
  auto cast = value.getDefiningOp<arith::IndexCastOp>();
  for (; cast && bits(cast.getIn()) <= bits(value);
       cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  return value;
}
