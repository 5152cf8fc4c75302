//===- RunTimeFailure.cpp - Code that ends the run ------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunTimeFailure.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Support/Diagnostics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace loopc;

SmallVector<Value> loopc::createRunTimeFailure(OpBuilder &b, Location loc,
                                               const Twine &message,
                                               ValueRange values,
                                               TypeRange types) {
  Value never = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  loop::CheckOp::create(b, loc, never,
                        b.getStringAttr(locationPath(loc) + ": " + message),
                        values, Value());
  SmallVector<Value> results;
  for (Type type : types) {
    if (loop::isList(type)) {
      results.push_back(loop::SeqEmptyOp::create(b, loc, type));
      continue;
    }
    auto tensor = cast<TensorType>(type);
    SmallVector<int64_t> shape{0};
    if (auto ranked = dyn_cast<RankedTensorType>(type)) {
      shape.assign(ranked.getShape().begin(), ranked.getShape().end());
      llvm::replace(shape, ShapedType::kDynamic, int64_t(0));
    }
    Value empty =
        tensor::EmptyOp::create(b, loc, shape, tensor.getElementType());
    if (empty.getType() != type)
      empty = tensor::CastOp::create(b, loc, type, empty);
    results.push_back(empty);
  }
  return results;
}
