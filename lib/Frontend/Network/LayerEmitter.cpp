//===- LayerEmitter.cpp - What all layers share ---------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerEmitter.h"

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/ONNX/IR/ElementTypes.h"
#include "loopc/Support/Messages.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::network;

LayerEmitter::LayerEmitter(const INetworkDefinition &network,
                           MLIRContext &context)
    : GraphBuilder(context), network(network),
      fileLoc(FileLineColLoc::get(
          &context, *network.getName() ? network.getName() : "network", 0, 0)) {
  pushFrame();
}

Value LayerEmitter::lookup(const ITensor *tensor) const {
  for (const auto &frame : llvm::reverse(frames))
    if (Value value = frame.lookup(tensor))
      return value;
  return {};
}

void LayerEmitter::forgetValues() {
  frames.clear();
  pushFrame();
  constantLayers.clear();
  forgetFunction();
}

//===----------------------------------------------------------------------===//
// Locations and errors
//===----------------------------------------------------------------------===//

Location LayerEmitter::pathLoc(const Twine &text) {
  return NameLoc::get(builder.getStringAttr(text), fileLoc);
}

Location LayerEmitter::locOf(const ILayer &one) {
  return pathLoc(path + "/" + one.describe());
}

InFlightDiagnostic LayerEmitter::failAt(const ILayer &one, Diag diag) {
  InFlightDiagnostic error = loopc::emitError(locOf(one), diag);
  error << one.describe() << ": ";
  return error;
}

InFlightDiagnostic LayerEmitter::fail(Diag diag) {
  return failAt(*layer, diag);
}

void LayerEmitter::enter(const ILayer &one) {
  layer = &one;
  loc = locOf(one);
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

LogicalResult LayerEmitter::emitLayer(const ILayer &one) {
  enter(one);
  results.clear();
  switch (one.getType()) {
#define LOOPC_LAYER(CLASS, BASE, KIND, ...)                                    \
  case LayerType::k##KIND:                                                     \
    emit(static_cast<const CLASS &>(one));                                     \
    break;
#include "loopc/Frontend/Network/Layers.def"
  }
  for (int32_t k = 0; k < one.getNbOutputs(); ++k) {
    if (k >= static_cast<int32_t>(results.size()) || !results[k])
      return failure();
    bind(one.getOutput(k), results[k]);
  }
  // One without outputs has said what is wrong by a null result.
  return success(llvm::all_of(results, [](Value value) { return value; }));
}

Value LayerEmitter::input(int32_t index) {
  const ITensor *tensor = layer->getInput(index);
  return tensor ? lookup(tensor) : Value();
}

RankedTensorType LayerEmitter::ranked(Value value, const ITensor &tensor) {
  if (!value)
    return {};
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    return type;
  fail() << "the rank of '" << tensor.getName() << "' is not known";
  return {};
}

RankedTensorType LayerEmitter::inputType(int32_t index) {
  return layer->getInput(index) ? ranked(input(index), *layer->getInput(index))
                                : RankedTensorType();
}

std::string LayerEmitter::typeName(Value value) {
  std::optional<DataType> type =
      dataType(cast<TensorType>(value.getType()).getElementType());
  return type ? getName(*type) : "?";
}

bool LayerEmitter::sameRank(int32_t a, int32_t b) {
  RankedTensorType typeA = inputType(a), typeB = inputType(b);
  if (!typeA || !typeB)
    return false;
  if (typeA.getRank() == typeB.getRank())
    return true;
  fail() << "'" << layer->getInput(a)->getName() << "' and '"
         << layer->getInput(b)->getName() << "' have ranks " << typeA.getRank()
         << " and " << typeB.getRank() << " but must have one rank";
  return false;
}

bool LayerEmitter::sameType(int32_t a, int32_t b) {
  Value valueA = input(a), valueB = input(b);
  if (!valueA || !valueB)
    return false;
  if (cast<TensorType>(valueA.getType()).getElementType() ==
      cast<TensorType>(valueB.getType()).getElementType())
    return true;
  fail() << "'" << layer->getInput(a)->getName() << "' and '"
         << layer->getInput(b)->getName() << "' have types " << typeName(valueA)
         << " and " << typeName(valueB) << " but must have one type";
  return false;
}

LogicalResult LayerEmitter::expectScalar(Value value, const ITensor &tensor,
                                         bool boolean, Diag diag,
                                         StringRef what) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Type element = cast<TensorType>(value.getType()).getElementType();
  if (type && type.getRank() == 0 &&
      (boolean
           ? element.isSignlessInteger(1)
           : element.isSignlessInteger(32) || element.isSignlessInteger(64)))
    return success();
  return fail(diag) << what << " '" << tensor.getName() << "' is "
                    << value.getType() << " but must be "
                    << (boolean ? "BOOL" : "INT32 or INT64")
                    << " without dimensions";
}

std::optional<int64_t> LayerEmitter::axisOf(int64_t axis, int64_t rank,
                                            Diag diag, StringRef what) {
  int64_t counted = axis < 0 ? axis + rank : axis;
  if (counted >= 0 && counted < rank)
    return counted;
  fail(diag) << what << " " << axis << " is not one of rank " << rank;
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> LayerEmitter::axesOf(int64_t bits,
                                                         int64_t rank) {
  SmallVector<int64_t> axes;
  for (int64_t k = 0; k < 32; ++k) {
    if (!(bits >> k & 1))
      continue;
    if (k >= rank) {
      fail() << "axis " << k << " is not one of rank " << rank;
      return std::nullopt;
    }
    axes.push_back(k);
  }
  return axes;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Type LayerEmitter::elementType(DataType type) {
  return onnx::importElementType(&context, onnxCode(type));
}

Value LayerEmitter::constantInts(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    builder.getI64Type());
  return constant(cast<ElementsAttr>(
      mlir::Attribute(DenseElementsAttr::get(type, values))));
}

Value LayerEmitter::constantInt(int64_t value) {
  auto type = RankedTensorType::get({}, builder.getI64Type());
  return constant(cast<ElementsAttr>(
      mlir::Attribute(DenseElementsAttr::get(type, ArrayRef<int64_t>(value)))));
}

Value LayerEmitter::constantNumber(Type element, double value, int64_t count) {
  SmallVector<int64_t> shape;
  if (count >= 0)
    shape.push_back(count);
  auto type = RankedTensorType::get(shape, element);
  DenseElementsAttr attr;
  if (auto floating = dyn_cast<FloatType>(element)) {
    llvm::APFloat number(value);
    bool lost;
    number.convert(floating.getFloatSemantics(),
                   llvm::APFloat::rmNearestTiesToEven, &lost);
    attr = DenseElementsAttr::get(type, number);
  } else if (auto integer = dyn_cast<IntegerType>(element)) {
    attr = DenseElementsAttr::get(
        type, llvm::APInt(integer.getWidth(), static_cast<int64_t>(value),
                          /*isSigned=*/true, /*implicitTrunc=*/true));
  } else {
    fail() << "cannot be done on elements of type " << element;
    return {};
  }
  return constant(cast<ElementsAttr>(mlir::Attribute(attr)));
}

/// One byte an element of what is packed.
static std::shared_ptr<const std::vector<char>>
unpack(const std::vector<char> &packed, int32_t bits, int64_t count) {
  auto result = std::make_shared<std::vector<char>>(count);
  int32_t each = 8 / bits;
  for (int64_t k = 0; k < count; ++k)
    (*result)[k] = static_cast<char>(static_cast<uint8_t>(packed[k / each]) >>
                                         (k % each * bits) &
                                     ((1 << bits) - 1));
  return result;
}

ElementsAttr LayerEmitter::toElements(const Constant &value, StringRef name) {
  auto type = RankedTensorType::get(value.shape, elementType(value.type));
  if (value.strings) {
    SmallVector<StringRef> strings(value.strings->begin(),
                                   value.strings->end());
    return cast<ElementsAttr>(
        mlir::Attribute(DenseStringElementsAttr::get(type, strings)));
  }
  std::shared_ptr<const std::vector<char>> bytes = value.bytes;
  int32_t bits = getBits(value.type);
  if (bits < 8)
    bytes = unpack(*bytes, bits, type.getNumElements());
  return makeElements(type, *bytes, bytes, name);
}

void LayerEmitter::emit(const IConstantLayer &) {
  const network::Attribute *value = layer->getAttribute("value");
  if (!value)
    return void(fail(Diag::BadLayer) << "has no value");
  // One attribute for all places: a resource that is made again has another
  // name.
  auto [it, added] = constantLayers.try_emplace(layer);
  if (added)
    it->second =
        constant(toElements(std::get<Constant>(*value), layer->getName()));
  set(it->second);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

Value LayerEmitter::node(StringRef op, ArrayRef<Value> inputs,
                         ArrayRef<NamedAttribute> attributes) {
  SmallVector<Value> made = nodes(op, inputs, attributes, 1);
  return made.empty() ? Value() : made.front();
}

SmallVector<Value> LayerEmitter::nodes(StringRef op, ArrayRef<Value> inputs,
                                       ArrayRef<NamedAttribute> attributes,
                                       unsigned count) {
  if (!llvm::all_of(inputs, [](Value value) { return value; }))
    return {};
  std::optional<int64_t> since =
      onnx::resolveSinceVersion("", op, std::numeric_limits<int32_t>::max());
  if (!since) {
    fail(Diag::UnsupportedOperator) << "there is no operator '" << op << "'";
    return {};
  }
  onnx::NodeOp made = untypedNode(*loc, op, *since, inputs, attributes, count);
  if (failed(inferTypes(made, [&] { return fail(Diag::TypeInference); })))
    return {};
  return SmallVector<Value>(made.getResults());
}

int64_t LayerEmitter::onnxCode(DataType type) {
  switch (type) {
#define LOOPC_DATA_TYPE(NAME, NUMBER, BITS, ONNX, NUMPY)                       \
  case DataType::k##NAME:                                                      \
    return ONNX;
#include "loopc-c/DataTypes.def"
  }
  return 0;
}

std::optional<DataType> LayerEmitter::dataType(Type element) {
  switch (onnx::exportElementType(element)) {
#define LOOPC_DATA_TYPE(NAME, NUMBER, BITS, ONNX, NUMPY)                       \
  case ONNX:                                                                   \
    return DataType::k##NAME;
#include "loopc-c/DataTypes.def"
  }
  return std::nullopt;
}

Value LayerEmitter::castTo(Value value, Type element) {
  if (!value || cast<TensorType>(value.getType()).getElementType() == element)
    return value;
  return node("Cast", value, attr("to", onnx::exportElementType(element)));
}

Value LayerEmitter::reshaped(Value value, Type type) {
  return value ? GraphBuilder::castTo(*loc, value, type) : Value();
}

Value LayerEmitter::sliceAt(Value value, int64_t axis, Value index) {
  return node("Gather", {value, tensorOf(index)}, attr("axis", axis));
}

Value LayerEmitter::scalar(Value value) {
  if (!value)
    return {};
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<Value> zeros;
  for (int64_t k = 0; k < type.getRank(); ++k)
    zeros.push_back(arith::ConstantIndexOp::create(builder, *loc, 0));
  return tensor::ExtractOp::create(builder, *loc, value, zeros);
}

Value LayerEmitter::tensorOf(Value scalar) {
  return tensor::FromElementsOp::create(
      builder, *loc, RankedTensorType::get({}, scalar.getType()), scalar);
}

void LayerEmitter::check(Value condition, const Twine &message,
                         ValueRange values) {
  std::string text =
      (escapeHoles(path + "/" + layer->describe()) + ": " + message).str();
  loop::CheckOp::create(builder, *loc, condition, text, values, Value());
}
