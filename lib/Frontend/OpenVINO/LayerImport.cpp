//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What the layers' functions are written with.

#include "ImporterImpl.h"
#include "loopc/Dialect/ONNX/IR/ProtoConversion.h"
#include "loopc/Support/Messages.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::openvino;

/// Layers become operators of this opset.
static constexpr int64_t kNewestOpset = 1000;

//===----------------------------------------------------------------------===//
// Inputs and attributes
//===----------------------------------------------------------------------===//

OpBuilder &LayerImport::builder() { return importer.builder; }

InFlightDiagnostic LayerImport::fail(Diag diag) {
  if (isBad)
    return InFlightDiagnostic();
  isBad = true;
  return loopc::emitError(loc, diag);
}

Value LayerImport::in(unsigned k) {
  if (has(k))
    return inputs[k];
  fail() << "the layer has " << inputs.size() << " inputs, input #" << k
         << " is missing";
  return scalarInt(0);
}

bool LayerImport::hasAttr(const char *name) const {
  return static_cast<bool>(layer.data.attribute(name));
}

StringRef LayerImport::str(const char *name, StringRef otherwise) {
  pugi::xml_attribute attribute = layer.data.attribute(name);
  return attribute ? StringRef(attribute.value()) : otherwise;
}

int64_t LayerImport::integer(const char *name,
                             std::optional<int64_t> otherwise) {
  if (!hasAttr(name) && otherwise)
    return *otherwise;
  int64_t value = 0;
  if (!hasAttr(name))
    fail() << "attribute '" << name << "' is missing";
  else if (str(name, "").trim().getAsInteger(10, value))
    fail() << "attribute '" << name << "' is '" << str(name, "")
           << "', no integer";
  return value;
}

double LayerImport::number(const char *name, std::optional<double> otherwise) {
  if (!hasAttr(name) && otherwise)
    return *otherwise;
  double value = 0;
  if (!hasAttr(name))
    fail() << "attribute '" << name << "' is missing";
  else if (str(name, "").trim().getAsDouble(value))
    fail() << "attribute '" << name << "' is '" << str(name, "")
           << "', no number";
  return value;
}

bool LayerImport::boolean(const char *name, bool otherwise) {
  if (!hasAttr(name))
    return otherwise;
  std::string text = str(name, "").trim().lower();
  if (text != "true" && text != "false" && text != "1" && text != "0")
    fail() << "attribute '" << name << "' is '" << text
           << "', neither true nor false";
  return text == "true" || text == "1";
}

Ints LayerImport::integers(const char *name, std::optional<Ints> otherwise) {
  // Lists that were left out may be written as empty ones.
  if (str(name, "").trim().empty() && otherwise)
    return *otherwise;
  if (!hasAttr(name))
    fail() << "attribute '" << name << "' is missing";
  Ints values;
  for (StringRef part : parts(name)) {
    if (part.getAsInteger(10, values.emplace_back(0)))
      fail() << "attribute '" << name << "' is '" << str(name, "").trim()
             << "', no list of integers";
  }
  return values;
}

SmallVector<float> LayerImport::numbers(const char *name) {
  SmallVector<float> values;
  for (StringRef part : parts(name)) {
    double value = 0;
    if (part.getAsDouble(value))
      fail() << "attribute '" << name << "' is '" << str(name, "").trim()
             << "', no list of numbers";
    values.push_back(static_cast<float>(value));
  }
  return values;
}

SmallVector<StringRef> LayerImport::parts(const char *name) {
  SmallVector<StringRef> parts;
  StringRef text = str(name, "").trim();
  if (!text.empty())
    text.split(parts, ',');
  for (StringRef &part : parts)
    part = part.trim();
  return parts;
}

Type LayerImport::elementAttr(const char *name, StringRef otherwise) {
  StringRef text = str(name, otherwise);
  if (Type type = parseElementType(text, importer.context))
    return type;
  fail() << "attribute '" << name << "' is '" << text
         << "', no element type that loopc has";
  return builder().getF32Type();
}

void LayerImport::expect(const char *name, StringRef value,
                         ArrayRef<StringRef> allowed) {
  if (!llvm::is_contained(allowed, value))
    fail() << "attribute '" << name << "' is '" << value
           << "', which loopc does not have";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

bool LayerImport::isRanked(Value value) {
  return isa<RankedTensorType>(value.getType());
}

int64_t LayerImport::rank(Value value) {
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    return type.getRank();
  fail(Diag::UnsupportedNode)
      << "the rank of an input is not known when the model is compiled";
  return 0;
}

int64_t LayerImport::extent(Value value, int64_t axis) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || axis < 0 || axis >= type.getRank())
    return ShapedType::kDynamic;
  return type.getDimSize(axis);
}

int64_t LayerImport::axisOf(int64_t axis, int64_t rank) {
  int64_t result = axis < 0 ? axis + rank : axis;
  if (result >= 0 && result < rank)
    return result;
  fail() << "axis " << axis << " is out of range for rank " << rank;
  return 0;
}

Ints LayerImport::axesOf(ArrayRef<int64_t> axes, int64_t rank) {
  Ints result;
  for (int64_t axis : axes)
    result.push_back(axisOf(axis, rank));
  return result;
}

std::optional<Ints> LayerImport::constantOf(Value value) {
  if (auto op = value.getDefiningOp<onnx::ConstantOp>()) {
    Ints result;
    ElementsAttr elements = op.getValue();
    auto type = dyn_cast<IntegerType>(elements.getElementType());
    if (!type)
      return std::nullopt;
    bool isUnsigned = type.isUnsigned();
    if (auto dense = dyn_cast<DenseIntElementsAttr>(elements)) {
      for (const APInt &one : dense.getValues<APInt>())
        result.push_back(isUnsigned ? one.getZExtValue() : one.getSExtValue());
      return result;
    }
    return std::nullopt;
  }
  if (auto node = value.getDefiningOp<onnx::NodeOp>();
      node && node.getOpType() == "Cast" && element(value).isInteger() &&
      element(node.getInputs()[0]).isInteger())
    return constantOf(node.getInputs()[0]);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() != 1 ||
      !importer.cache)
    return std::nullopt;
  if (!element(value).isSignlessInteger(64) &&
      !element(value).isSignlessInteger(32))
    return std::nullopt;
  if (std::optional<int64_t> one = importer.cache->getInteger(value))
    return Ints{*one};
  return std::nullopt;
}

std::optional<bool> LayerImport::truthOf(Value value) {
  bool isNegated = false;
  auto node = value.getDefiningOp<onnx::NodeOp>();
  while (
      node && node.getInputs().size() >= 1 &&
      llvm::is_contained({"Identity", "Reshape", "Squeeze", "Unsqueeze", "Not"},
                         node.getOpType())) {
    isNegated ^= node.getOpType() == "Not";
    value = node.getInputs()[0];
    node = value.getDefiningOp<onnx::NodeOp>();
  }
  if (std::optional<Ints> known = constantOf(value)) {
    if (known->size() != 1)
      return std::nullopt;
    return (known->front() != 0) != isNegated;
  }
  if (!node || node.getInputs().size() != 2 || !importer.cache)
    return std::nullopt;
  std::optional<int64_t> a = importer.cache->getInteger(node.getInputs()[0]);
  std::optional<int64_t> b = importer.cache->getInteger(node.getInputs()[1]);
  if (!a || !b)
    return std::nullopt;
  auto holds = llvm::StringSwitch<std::optional<bool>>(node.getOpType())
                   .Case("Equal", *a == *b)
                   .Case("Less", *a < *b)
                   .Case("LessOrEqual", *a <= *b)
                   .Case("Greater", *a > *b)
                   .Case("GreaterOrEqual", *a >= *b)
                   .Default(std::nullopt);
  if (!holds)
    return std::nullopt;
  return *holds != isNegated;
}

Ints LayerImport::needConstant(Value value, StringRef what) {
  if (std::optional<Ints> values = constantOf(value))
    return *values;
  fail(Diag::UnsupportedNode)
      << what << " must be known when the model is compiled";
  return {};
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value LayerImport::constant(ElementsAttr value) {
  return importer.constant(value);
}

static ElementsAttr asElements(Attribute attribute) {
  return cast<ElementsAttr>(attribute);
}

Value LayerImport::ints(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    builder().getI64Type());
  return constant(asElements(DenseElementsAttr::get(type, values)));
}

Value LayerImport::scalarInt(int64_t value) {
  auto type = RankedTensorType::get({}, builder().getI64Type());
  return constant(asElements(DenseElementsAttr::get(type, value)));
}

Value LayerImport::scalar(Type element, double value) {
  auto type = RankedTensorType::get({}, element);
  Attribute attribute;
  if (isa<FloatType>(element))
    attribute = FloatAttr::get(element, value);
  else if (auto integer = dyn_cast<IntegerType>(element))
    attribute = IntegerAttr::get(
        integer, APInt(integer.getWidth(), static_cast<int64_t>(value),
                       !integer.isUnsigned(), /*implicitTrunc=*/true));
  else {
    fail() << "a layer of elements " << element << " has no numbers";
    return scalarInt(0);
  }
  return constant(asElements(DenseElementsAttr::get(type, attribute)));
}

Value LayerImport::boolean(bool value) {
  auto type = RankedTensorType::get({}, builder().getI1Type());
  return constant(asElements(DenseElementsAttr::get(type, value)));
}

Value LayerImport::none() { return importer.none(); }

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

Value LayerImport::node(StringRef op, ArrayRef<Value> inputs,
                        ArrayRef<NamedAttribute> attributes) {
  return nodes(op, inputs, attributes, 1).front();
}

SmallVector<Value> LayerImport::nodes(StringRef op, ArrayRef<Value> inputs,
                                      ArrayRef<NamedAttribute> attributes,
                                      unsigned count) {
  SmallVector<Value> operands(inputs);
  while (!operands.empty() && !operands.back())
    operands.pop_back();
  for (Value &operand : operands)
    if (!operand)
      operand = none();
  std::optional<int64_t> since =
      onnx::resolveSinceVersion("", op, kNewestOpset);
  if (!isBad && !since)
    fail(Diag::Internal) << "there is no operator '" << op << "'";
  if (!isBad) {
    onnx::NodeOp node =
        importer.untypedNode(loc, op, *since, operands, attributes, count);
    if (succeeded(importer.inferTypes(node)))
      return SmallVector<Value>(node.getResults());
    isBad = true;
  }
  // Something that later steps may look at.
  return SmallVector<Value>(count, operands.empty() ||
                                           isa<NoneType>(operands[0].getType())
                                       ? scalarInt(0)
                                       : operands[0]);
}

NamedAttribute LayerImport::attr(StringRef name, ArrayRef<int64_t> value) {
  return importer.attr(name, value);
}

//===----------------------------------------------------------------------===//
// Steps that many layers have
//===----------------------------------------------------------------------===//

Value LayerImport::cast(Value value, Type to) {
  if (element(value) == to)
    return value;
  return node("Cast", {value},
              {attr("to", static_cast<int64_t>(onnx::exportElementType(to)))});
}

Value LayerImport::toI64(Value value) {
  if (std::optional<Ints> known = constantOf(value);
      known && !element(value).isSignlessInteger(64) && isRanked(value)) {
    auto type = mlir::cast<RankedTensorType>(value.getType());
    if (type.hasStaticShape() &&
        type.getNumElements() == static_cast<int64_t>(known->size()))
      return constant(asElements(DenseElementsAttr::get(
          RankedTensorType::get(type.getShape(), builder().getI64Type()),
          ArrayRef<int64_t>(*known))));
  }
  return cast(value, builder().getI64Type());
}

Value LayerImport::extentOf(Value value, int64_t axis) {
  if (int64_t known = extent(value, axis); ShapedType::isStatic(known))
    return ints({known});
  return node("Shape", {value}, {attr("start", axis), attr("end", axis + 1)});
}

Value LayerImport::concat(ArrayRef<Value> parts, int64_t axis) {
  if (parts.size() == 1)
    return parts[0];
  return node("Concat", parts, {attr("axis", axis)});
}

Value LayerImport::reshape(Value value, Value shape) {
  return node("Reshape", {value, shape}, {attr("allowzero", 1)});
}

Value LayerImport::unsqueeze(Value value, ArrayRef<int64_t> axes) {
  return axes.empty() ? value : node("Unsqueeze", {value, ints(axes)});
}

Value LayerImport::squeeze(Value value, ArrayRef<int64_t> axes) {
  return axes.empty() ? value : node("Squeeze", {value, ints(axes)});
}

Value LayerImport::transpose(Value value, ArrayRef<int64_t> order) {
  return node("Transpose", {value}, {attr("perm", order)});
}

Value LayerImport::slice(Value value, int64_t begin, int64_t end, int64_t axis,
                         int64_t step) {
  return node("Slice",
              {value, ints({begin}), ints({end}), ints({axis}), ints({step})});
}

Value LayerImport::mergeAxes(Value value, int64_t axis) {
  int64_t count = rank(value);
  if (extent(value, axis + 1) == 1)
    return squeeze(value, {axis + 1});
  SmallVector<Value> parts;
  for (int64_t k = 0; k < count; ++k) {
    if (k == axis + 1)
      continue;
    Value part = extentOf(value, k);
    if (k == axis)
      part = node("Mul", {part, extentOf(value, k + 1)});
    parts.push_back(part);
  }
  return isBad ? value : reshape(value, concat(parts));
}

Value LayerImport::splitAxis(Value value, int64_t axis, int64_t size) {
  if (size == 1)
    return unsqueeze(value, {axis + 1});
  int64_t count = rank(value);
  SmallVector<Value> parts;
  for (int64_t k = 0; k < count; ++k) {
    Value part = extentOf(value, k);
    if (k == axis)
      part = node("Div", {part, ints({size})});
    parts.push_back(part);
    if (k == axis)
      parts.push_back(ints({size}));
  }
  return isBad ? value : reshape(value, concat(parts));
}

Value LayerImport::oneElement(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (type && type.getRank() == 0)
    return value;
  Value result = node("Reshape", {value, ints({})});
  if (!isBad)
    result.setType(RankedTensorType::get({}, element(value)));
  return result;
}

Value LayerImport::extract(Value value) {
  Value one = oneElement(value);
  if (isBad) // of no use, but of the right kind
    return arith::ConstantOp::create(builder(), loc,
                                     builder().getBoolAttr(false));
  return tensor::ExtractOp::create(builder(), loc, one);
}

void LayerImport::checkEqual(Value a, Value b, StringRef message) {
  if (a == b || isBad)
    return;
  Value same =
      arith::CmpIOp::create(builder(), loc, arith::CmpIPredicate::eq, a, b);
  std::string place = loopc::getLocationText(loc);
  StringRef path = place;
  path.consume_front(importer.file.path + ":");
  std::string text = (escapeHoles(path) + ": " + message).str();
  loop::CheckOp::create(builder(), loc, same, text, ValueRange{a, b}, Value());
}
