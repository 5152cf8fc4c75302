//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/ONNX/IR/ShapeHints.h"
#include "loopc/Dialect/Loopc/IR/Ports.h"
#include "loopc/Dialect/ONNX/IR/ONNX.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::onnx;

Type loopc::onnx::refineShapes(Type type, Type hint) {
  if (auto seq = dyn_cast<SeqType>(type), other = dyn_cast<SeqType>(hint);
      seq && other)
    return SeqType::get(
        refineShapes(seq.getElementType(), other.getElementType()));
  if (auto optional = dyn_cast<OptionalType>(type),
      other = dyn_cast<OptionalType>(hint);
      optional && other)
    return OptionalType::get(
        refineShapes(optional.getElementType(), other.getElementType()));
  auto tensor = dyn_cast<TensorType>(type), other = dyn_cast<TensorType>(hint);
  if (!tensor || !other || !other.hasRank())
    return type;
  if (!tensor.hasRank())
    return tensor.clone(other.getShape());
  if (tensor.getRank() != other.getRank())
    return type;
  SmallVector<int64_t> shape;
  for (auto [known, hinted] :
       llvm::zip_equal(tensor.getShape(), other.getShape()))
    shape.push_back(ShapedType::isStatic(known) ? known : hinted);
  return tensor.clone(shape);
}

TensorType loopc::onnx::getInnermostTensor(Type type) {
  if (auto seq = dyn_cast<SeqType>(type))
    return getInnermostTensor(seq.getElementType());
  if (auto optional = dyn_cast<OptionalType>(type))
    return getInnermostTensor(optional.getElementType());
  return dyn_cast<TensorType>(type);
}

void loopc::onnx::setDeclared(NamedAttrList &attributes, Type type,
                              Type declared, ArrayRef<Attribute> names) {
  if (!declared)
    return;
  bool isNamed = !attributes.get(loopc::kDimsAttrName) &&
                 llvm::any_of(names, [](Attribute name) {
                   return !cast<StringAttr>(name).getValue().empty();
                 });
  if (!isNamed && refineShapes(type, declared) == type)
    return;
  attributes.set("loopc.declared", TypeAttr::get(declared));
  attributes.set("loopc.declared_dims",
                 ArrayAttr::get(type.getContext(), names));
}
