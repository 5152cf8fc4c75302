//===- CustomNodes.cpp - Nodes of custom operators ------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Framework/NodeSteps.h"
#include "loopc/Dialect/ONNX/IR/CustomOperators.h"
#include "loopc/Dialect/RT/IR/CustomOp.h"

using namespace mlir;
using namespace loopc;

/// `type` with strings as they are in lowered code; integers keep their signs.
static Type portType(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor)
    return type;
  if (isa<onnx::StringType>(tensor.getElementType()))
    return toSignless(type);
  return type;
}

static SmallVector<Type> flatTypes(Type element) {
  Type i64 = IntegerType::get(element.getContext(), 64);
  return {RankedTensorType::get({ShapedType::kDynamic}, element),
          RankedTensorType::get({ShapedType::kDynamic}, i64)};
}

/// The operands that stand for input `k`, and what `types` says of it.
static void addInput(NodeLowering &l, unsigned k, SmallVector<Type> &types,
                     SmallVector<Value> &operands) {
  if (!l.has(k)) {
    types.push_back(l.b.getNoneType());
    return;
  }
  types.push_back(portType(l.node.getInputs()[k].getType()));
  Value value = l.in(k);
  if (!isa<UnrankedTensorType>(value.getType())) {
    operands.push_back(value);
    return;
  }
  Type element = getElementTypeOrSelf(value.getType());
  llvm::append_range(operands, UnrealizedConversionCastOp::create(
                                   l.b, flatTypes(element), value)
                                   .getResults());
}

/// The input whose shape output `k` has, or null: what the run holds it to is
/// then known without asking for the shape of the output.
static Value findShape(NodeLowering &l, const loopc_custom_op &op, unsigned k) {
  if (StringRef name = StringRef(op.outputs[k].shape_of); !name.empty())
    for (unsigned i = 0; i < std::min<size_t>(op.num_inputs, l.numInputs());
         ++i)
      if (name == op.inputs[i].name && l.has(i) &&
          isa<RankedTensorType>(l.in(i).getType()))
        return l.in(i);
  return {};
}

/// The tensor of the elements and the shape that the call returned. `model`,
/// if there is one, has the same shape.
static Value makeTensor(NodeLowering &l, Value elements, Value shape,
                        Value model, TensorType type) {
  if (model)
    return l.reshape(elements, l.dims(model));
  if (!type.hasRank())
    return UnrealizedConversionCastOp::create(l.b, type,
                                              ValueRange{elements, shape})
        .getResult(0);
  Dims dims;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    dims.push_back(l.toIndex(
        tensor::ExtractOp::create(l.b, shape, ValueRange{l.index(axis)})));
  return l.reshape(elements, dims);
}

LogicalResult loopc::lowerCustomNode(NodeLowering &l) {
  onnx::NodeOp node = l.node;
  const loopc_custom_op &op =
      *onnx::CustomOperators::of(node.getContext()).find(node);
  if (l.forKernels)
    return l.unsupported("a custom operator computes on the CPU; compile the "
                         "model without a GPU");
  SmallVector<NamedAttribute> attributes;
  for (NamedAttribute attribute : node.getNodeAttributes()) {
    StringRef name = attribute.getName();
    l.ignoreAttr(name); // Inference has held it against the operator.
    if ((op.flags & LOOPC_CUSTOM_OF_ONNXRUNTIME) ||
        llvm::any_of(ArrayRef(op.parameters, op.num_parameters),
                     [&](const auto &known) { return name == known.name; }))
      attributes.push_back(attribute);
  }
  SmallVector<Type> inputs, outputs(op.num_outputs, l.b.getNoneType()), parts;
  SmallVector<Value> operands;
  for (unsigned k = 0; k < l.numInputs(); ++k)
    addInput(l, k, inputs, operands);
  for (auto [k, result] : llvm::enumerate(node.getResults()))
    if (l.hasResult(k)) {
      outputs[k] = portType(result.getType());
      llvm::append_range(parts, flatTypes(l.resultElementType(k)));
    }
  auto call = rt::CustomOp::create(
      l.b, parts, op.symbol, operands, l.b.getTypeArrayAttr(inputs),
      l.b.getTypeArrayAttr(outputs), l.b.getDictionaryAttr(attributes),
      l.b.getStringAttr(l.path()),
      /*stateful=*/(op.flags & LOOPC_CUSTOM_STATEFUL) != 0);
  unsigned next = 0;
  for (unsigned k = 0; k < l.numResults(); ++k)
    if (l.hasResult(k)) {
      l.setResult(k, makeTensor(l, call.getParts()[next],
                                call.getParts()[next + 1], findShape(l, op, k),
                                l.resultType(k)));
      next += 2;
    }
  return success();
}
