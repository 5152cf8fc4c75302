//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InferTypes.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

Type loopc::onnx::dropAxis(Type type, int64_t axis) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  if (!ranked)
    return type;
  if (axis < 0)
    axis += ranked.getRank();
  if (axis < 0 || axis >= ranked.getRank())
    return {};
  SmallVector<int64_t> shape(ranked.getShape());
  shape.erase(shape.begin() + axis);
  return RankedTensorType::get(shape, ranked.getElementType());
}

Type loopc::onnx::insertAxis(Type type, int64_t axis, int64_t size) {
  if (isa<UnrankedTensorType>(type))
    return type;
  auto ranked = dyn_cast<RankedTensorType>(type);
  SmallVector<int64_t> shape;
  if (ranked)
    llvm::append_range(shape, ranked.getShape());
  if (axis < 0)
    axis += shape.size() + 1;
  if (axis < 0 || axis > static_cast<int64_t>(shape.size()))
    return {};
  shape.insert(shape.begin() + axis, size);
  return RankedTensorType::get(shape, ranked ? ranked.getElementType() : type);
}

int64_t loopc::onnx::getExtent(Type type, int64_t axis) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  if (!ranked)
    return ShapedType::kDynamic;
  if (axis < 0)
    axis += ranked.getRank();
  return axis >= 0 && axis < ranked.getRank() ? ranked.getDimSize(axis)
                                              : ShapedType::kDynamic;
}
