//===- Elementwise.cpp - Layers that go element by element --------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerEmitter.h"

#include "loopc/Support/Messages.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::network;

void LayerEmitter::emit(const IElementWiseLayer &) {
  static constexpr StringLiteral ops[] = {
      "Add", "Mul", "Max", "Min", "Sub",   "Div",     "Pow",
      "",    "And", "Or",  "Xor", "Equal", "Greater", "Less"};
  if (!sameRank(0, 1) || !sameType(0, 1))
    return;
  auto operation =
      static_cast<ElementWiseOperation>(layer->getInt("operation"));
  Value a = input(0), b = input(1);
  set(operation == ElementWiseOperation::kFLOOR_DIV
          ? floorDivide(a, b)
          : node(ops[static_cast<unsigned>(operation)], {a, b}));
}

Value LayerEmitter::floorDivide(Value a, Value b) {
  Value quotient = node("Div", {a, b});
  Type element = cast<TensorType>(a.getType()).getElementType();
  if (!isa<IntegerType>(element))
    return node("Floor", quotient);
  if (element.isUnsignedInteger() || !quotient)
    return quotient;
  // Div goes towards zero: one less where the rest has the other sign.
  Value zero = constantNumber(element, 0);
  Value rest = node("Sub", {a, node("Mul", {quotient, b})});
  Value isExact = node("Equal", {rest, zero});
  Value differs =
      node("Xor", {node("Less", {rest, zero}), node("Less", {b, zero})});
  Value less = node("And", {differs, node("Not", isExact)});
  return less ? node("Sub", {quotient, castTo(less, element)}) : Value();
}

void LayerEmitter::emit(const IUnaryLayer &) {
  static constexpr StringLiteral ops[] = {
      "Exp",   "Log",   "Sqrt",  "Reciprocal", "Abs",   "Neg",  "Sin",
      "Cos",   "Tan",   "Sinh",  "Cosh",       "Asin",  "Acos", "Atan",
      "Asinh", "Acosh", "Atanh", "Ceil",       "Floor", "Erf",  "Not",
      "Sign",  "Round", "IsInf", "IsNaN"};
  set(node(ops[layer->getInt("operation")], input(0)));
}

Value LayerEmitter::activation(Value x) {
  auto type = static_cast<ActivationType>(layer->getInt("type"));
  auto value = [&](StringRef name, double initial) {
    return layer->hasAttribute(name) ? layer->getFloat(name) : initial;
  };
  Type element = cast<TensorType>(x.getType()).getElementType();
  auto scaled = [&](Value by, double factor) {
    return factor == 1 ? by
                       : node("Mul", {by, constantNumber(element, factor)});
  };
  switch (type) {
  case ActivationType::kRELU:
    return node("Relu", x);
  case ActivationType::kSIGMOID:
    return node("Sigmoid", x);
  case ActivationType::kTANH:
    return node("Tanh", x);
  case ActivationType::kLEAKY_RELU:
    return node("LeakyRelu", x, attr("alpha", value("alpha", 0.01)));
  case ActivationType::kELU:
    return node("Elu", x, attr("alpha", value("alpha", 1)));
  case ActivationType::kSELU:
    return node("Selu", x,
                {attr("alpha", value("alpha", 1.67326319217681884765625)),
                 attr("gamma", value("beta", 1.05070102214813232421875))});
  case ActivationType::kSOFTSIGN:
    return node("Softsign", x);
  case ActivationType::kSOFTPLUS:
    return scaled(node("Softplus", scaled(x, value("beta", 1))),
                  value("alpha", 1));
  case ActivationType::kCLIP: {
    auto bound = [&](StringRef name) {
      return layer->hasAttribute(name)
                 ? constantNumber(element, layer->getFloat(name))
                 : none();
    };
    return node("Clip", {x, bound("alpha"), bound("beta")});
  }
  case ActivationType::kHARD_SIGMOID:
    return node(
        "HardSigmoid", x,
        {attr("alpha", value("alpha", 0.2)), attr("beta", value("beta", 0.5))});
  case ActivationType::kSCALED_TANH:
    return scaled(node("Tanh", scaled(x, value("beta", 1))), value("alpha", 1));
  case ActivationType::kTHRESHOLDED_RELU:
    return node("ThresholdedRelu", x, attr("alpha", value("alpha", 1)));
  case ActivationType::kGELU_ERF:
    return node("Gelu", x, attr("approximate", StringRef("none")));
  case ActivationType::kGELU_TANH:
    return node("Gelu", x, attr("approximate", StringRef("tanh")));
  }
  return {};
}

void LayerEmitter::emit(const IActivationLayer &) {
  if (Value x = input(0))
    set(activation(x));
}

void LayerEmitter::emit(const ISelectLayer &) {
  if (sameRank(0, 1) && sameRank(1, 2) && sameType(1, 2))
    set(node("Where", {input(0), input(1), input(2)}));
}

void LayerEmitter::emit(const ICastLayer &) {
  set(castTo(input(0),
             elementType(static_cast<DataType>(layer->getInt("to_type")))));
}

void LayerEmitter::emit(const IIdentityLayer &) { set(input(0)); }

void LayerEmitter::emit(const IParametricReLULayer &) {
  if (sameRank(0, 1) && sameType(0, 1))
    set(node("PRelu", {input(0), input(1)}));
}

void LayerEmitter::emit(const INodeLayer &) {
  SmallVector<Value> inputs;
  for (int32_t k = 0; k < layer->getNbInputs(); ++k)
    inputs.push_back(has(k) ? input(k) : none());
  SmallVector<NamedAttribute> attributes;
  for (const auto &[name, value] : layer->getAttributes()) {
    if (name == "op_type")
      continue;
    if (auto *integer = std::get_if<int64_t>(&value))
      attributes.push_back(attr(name, *integer));
    else if (auto *number = std::get_if<double>(&value))
      attributes.push_back(attr(name, *number));
    else if (auto *text = std::get_if<std::string>(&value))
      attributes.push_back(attr(name, StringRef(*text)));
    else if (auto *integers = std::get_if<std::vector<int64_t>>(&value))
      attributes.push_back(attr(name, ArrayRef<int64_t>(*integers)));
    else if (auto *numbers = std::get_if<std::vector<double>>(&value))
      attributes.push_back(builder.getNamedAttr(
          name, builder.getDenseF32ArrayAttr(
                    SmallVector<float>(numbers->begin(), numbers->end()))));
    else if (auto *texts = std::get_if<std::vector<std::string>>(&value))
      attributes.push_back(builder.getNamedAttr(
          name, builder.getStrArrayAttr(
                    SmallVector<StringRef>(texts->begin(), texts->end()))));
    else
      attributes.push_back(builder.getNamedAttr(
          name, toElements(std::get<Constant>(value), name)));
  }
  for (Value value : nodes(layer->getString("op_type"), inputs, attributes,
                           layer->getNbOutputs()))
    set(value);
}

void LayerEmitter::emit(const IAssertionLayer &) {
  RankedTensorType type = inputType(0);
  if (!type)
    return set({});
  if (!type.getElementType().isSignlessInteger(1)) {
    fail() << "'" << layer->getInput(0)->getName() << "' is "
           << typeName(input(0)) << " but must be BOOL";
    return set({});
  }
  Value all = type.getRank() == 0
                  ? input(0)
                  : node("ReduceMin", input(0), attr("keepdims", int64_t(0)));
  if (!all)
    return set({});
  std::string message = escapeHoles(layer->getString("message"));
  check(scalar(all), message.empty() ? "does not hold" : message);
}
