//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SchemaImpl.h"
#include "loopc/Dialect/ONNX/IR/CustomOperators.h"
#include "loopc/Dialect/ONNX/IR/Schema.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace loopc::onnx;
using ::onnx::AttributeProto;
using ::onnx::OpSchema;
using ::onnx::TensorProto;
using ::onnx::TensorShapeProto;
using ::onnx::TypeProto;

//===----------------------------------------------------------------------===//
// Quantities and dimensions
//===----------------------------------------------------------------------===//

static Quantity importQuantity(const TensorShapeProto::Dimension &dim) {
  if (dim.has_dim_value())
    return dim.dim_value() >= 0 ? Quantity::of(dim.dim_value()) : Quantity();
  unsigned name;
  if (dim.has_dim_param() && StringRef(dim.dim_param()).starts_with("d") &&
      !StringRef(dim.dim_param()).drop_front().getAsInteger(10, name))
    return Quantity::named(name);
  return {};
}

//===----------------------------------------------------------------------===//
// NodeContext
//===----------------------------------------------------------------------===//

NodeContext::NodeContext(NodeOp node, const OpSchema &schema,
                         InferenceCache::Impl &cache)
    : node(node), schema(schema), cache(cache), inputs(node.getInputs().size()),
      outputs(node.getNumResults()) {
  for (auto [input, value] : llvm::zip_equal(inputs, node.getInputs())) {
    input.present = exportType(value.getType(), input.type);
    if (!input.present)
      continue;
    noteUnknowns(input.type);
    if (std::optional<Quantities> shape = cache.getShape(value))
      for (auto [i, quantity] : llvm::enumerate(*shape))
        exportQuantity(
            quantity,
            *input.type.mutable_tensor_type()->mutable_shape()->mutable_dim(i));
  }
}

/// Says that every dimension that is not known is `number`.
static void fillUnknowns(TypeProto &type, int64_t number) {
  if (type.has_sequence_type())
    return fillUnknowns(*type.mutable_sequence_type()->mutable_elem_type(),
                        number);
  if (type.has_optional_type())
    return fillUnknowns(*type.mutable_optional_type()->mutable_elem_type(),
                        number);
  if (!type.has_tensor_type() || !type.tensor_type().has_shape())
    return;
  for (auto &dim : *type.mutable_tensor_type()->mutable_shape()->mutable_dim())
    if (!dim.has_dim_value())
      dim.set_dim_value(number);
}

NodeContext::NodeContext(const NodeContext &other, int64_t probe)
    : node(other.node), schema(other.schema), cache(other.cache), probe(probe),
      unknownDims(other.unknownDims), unknownRanks(other.unknownRanks),
      exported(other.exported), inputs(other.inputs),
      outputs(other.outputs.size()) {
  for (Input &input : inputs) {
    fillUnknowns(input.type, probe);
    input.symbolic.reset();
  }
}

void NodeContext::exportQuantity(const Quantity &quantity,
                                 TensorShapeProto::Dimension &dim) const {
  if (quantity.value)
    dim.set_dim_value(*quantity.value);
  else if (probe)
    dim.set_dim_value(*probe);
  else if (quantity.name)
    dim.set_dim_param("d" + std::to_string(quantity.name));
}

/// Notes what is not known of `type`.
void NodeContext::noteUnknowns(const TypeProto &type) {
  if (type.has_sequence_type())
    return noteUnknowns(type.sequence_type().elem_type());
  if (type.has_optional_type())
    return noteUnknowns(type.optional_type().elem_type());
  if (!type.has_tensor_type())
    return;
  if (!type.tensor_type().has_shape())
    unknownRanks = true;
  for (const auto &dim : type.tensor_type().shape().dim())
    unknownDims |= !dim.has_dim_value();
}

/// True for types of which shapes are made.
static bool isShapeLike(Type type) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  return ranked && ranked.getRank() == 1 && ranked.hasStaticShape() &&
         ranked.getNumElements() <= maxElements &&
         (ranked.getElementType().isSignlessInteger(64) ||
          ranked.getElementType().isSignlessInteger(32));
}

bool NodeContext::hasUnknowns() const {
  if (unknownDims)
    return true;
  return llvm::any_of(llvm::enumerate(node.getInputs()), [&](auto input) {
    return isShapeLike(input.value().getType()) && !getInputData(input.index());
  });
}

const AttributeProto *NodeContext::getAttribute(const std::string &name) const {
  if (auto found = added.find(name); found != added.end())
    return &found->second;
  auto [entry, isNew] = exported->try_emplace(name);
  if (isNew)
    if (Attribute own = node.getNodeAttr(name)) {
      auto proto = std::make_unique<AttributeProto>();
      if (exportAttribute(name, own, *proto))
        entry->second = std::move(proto);
    }
  if (entry->second)
    return entry->second.get();
  auto known = schema.attributes().find(name);
  return known != schema.attributes().end() &&
                 known->second.default_value.type() != AttributeProto::UNDEFINED
             ? &known->second.default_value
             : nullptr;
}

bool NodeContext::hasInput(size_t index) const {
  return index < inputs.size() && inputs[index].present;
}

const TypeProto *NodeContext::getInputType(size_t index) const {
  return hasInput(index) ? &inputs[index].type : nullptr;
}

const TensorShapeProto *NodeContext::getInputShape(size_t index) const {
  const TypeProto *type = getInputType(index);
  return type && type->has_tensor_type() && type->tensor_type().has_shape()
             ? &type->tensor_type().shape()
             : nullptr;
}

/// `elements`, all of them known, as a tensor of `type`.
static TensorProto makeTensor(const Quantities &elements,
                              RankedTensorType type) {
  TensorProto proto;
  proto.set_data_type(exportElementType(type.getElementType()));
  for (int64_t size : type.getShape())
    proto.add_dims(size);
  for (const Quantity &element : elements) {
    if (type.getElementType().isInteger(64))
      proto.add_int64_data(*element.value);
    else
      proto.add_int32_data(static_cast<int32_t>(*element.value));
  }
  return proto;
}

const TensorProto *NodeContext::getInputData(size_t index) const {
  if (!hasInput(index))
    return nullptr;
  auto &data = inputs[index].data;
  if (!data) {
    data.emplace();
    Value value = node.getInputs()[index];
    TensorProto proto;
    ElementsAttr constant = getSmallConstant(value);
    if (constant && exportTensor(constant, proto))
      *data = std::make_shared<TensorProto>(std::move(proto));
    else if (auto elements = cache.getElements(value);
             elements && llvm::all_of(*elements, [](const Quantity &q) {
               return q.value.has_value();
             }))
      *data = std::make_shared<TensorProto>(
          makeTensor(*elements, cast<RankedTensorType>(value.getType())));
  }
  return data->get();
}

const TensorShapeProto *NodeContext::getSymbolicInput(size_t index) const {
  if (!hasInput(index) || getInputData(index))
    return nullptr;
  std::optional<std::optional<TensorShapeProto>> &shape =
      inputs[index].symbolic;
  if (!shape) {
    shape.emplace();
    Value value = node.getInputs()[index];
    std::optional<Quantities> elements = cache.getElements(value);
    if (!elements && probe && isShapeLike(value.getType()))
      elements.emplace(cast<RankedTensorType>(value.getType()).getDimSize(0));
    if (elements &&
        !cast<TensorType>(value.getType()).getElementType().isInteger(1)) {
      shape->emplace();
      for (const Quantity &element : *elements)
        exportQuantity(element, *(*shape)->add_dim());
    }
  }
  return *shape ? &**shape : nullptr;
}

TypeProto *NodeContext::getOutputType(size_t index) {
  // The library's own context throws here too.
  if (index >= outputs.size())
    throw std::out_of_range("output " + std::to_string(index) +
                            " is not there");
  return &outputs[index];
}

bool NodeContext::hasOutput(size_t index) {
  return index < node.getNumResults() && node.hasOutput(index);
}

::onnx::GraphInferencer *
NodeContext::getGraphAttributeInferencer(const std::string &) {
  return nullptr;
}

std::string NodeContext::getDisplayName() const {
  return "node " + node.getOpType().str();
}

void NodeContext::addInput(TensorProto data) {
  Input &input = inputs.emplace_back();
  input.present = true;
  TypeProto::Tensor *type = input.type.mutable_tensor_type();
  type->set_elem_type(data.data_type());
  for (int64_t size : data.dims())
    type->mutable_shape()->add_dim()->set_dim_value(size);
  input.data.emplace(std::make_shared<TensorProto>(std::move(data)));
}

void NodeContext::addAttribute(AttributeProto attribute) {
  std::string name = attribute.name();
  added.insert_or_assign(std::move(name), std::move(attribute));
}

static void clearShape(TypeProto &type) {
  switch (type.value_case()) {
  case TypeProto::kTensorType:
    type.mutable_tensor_type()->clear_shape();
    break;
  case TypeProto::kSequenceType:
    clearShape(*type.mutable_sequence_type()->mutable_elem_type());
    break;
  case TypeProto::kOptionalType:
    clearShape(*type.mutable_optional_type()->mutable_elem_type());
    break;
  default:
    break;
  }
}

void NodeContext::clearOutputShapes() {
  for (TypeProto &output : outputs)
    clearShape(output);
}

void NodeContext::clearInputExtents() {
  for (Input &input : inputs)
    if (input.type.has_tensor_type() && input.type.tensor_type().has_shape())
      for (auto &dim :
           *input.type.mutable_tensor_type()->mutable_shape()->mutable_dim())
        dim.Clear();
}

void NodeContext::clearInputShapes() {
  for (Input &input : inputs) {
    clearShape(input.type);
    input.data.emplace();
    input.symbolic.emplace();
  }
}

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

static constexpr StringLiteral misfit = "is given operands that do not fit";
static constexpr StringLiteral shapeErrorTag = "[ShapeInferenceError]";

/// `what`, the library's message without its tags, and what the operands were.
static void emitLibraryError(NodeOp node, StringRef what, StringRef message,
                             EmitError emitError) {
  message = message.split("\n\n==> Context").first.trim();
  if (message.starts_with("["))
    message = message.split("] ").second;
  message = message.rtrim('.');
  std::string text = message.str();
  if (!text.empty())
    text[0] = llvm::toLower(text[0]);
  InFlightDiagnostic diag = emitError();
  diag << what << ": " << text << " (";
  llvm::interleaveComma(node.getInputs().getTypes(), diag);
  diag << ")";
}

/// The type of a result of which nothing is inferred: what it has now, but its
/// shape, which is only a hint. Null if it has none.
static Type dropHints(Type type) {
  if (auto seq = dyn_cast<SeqType>(type)) {
    Type element = dropHints(seq.getElementType());
    return element ? SeqType::get(element) : Type();
  }
  if (auto optional = dyn_cast<OptionalType>(type)) {
    Type element = dropHints(optional.getElementType());
    return element ? OptionalType::get(element) : Type();
  }
  auto tensor = dyn_cast<TensorType>(type);
  return tensor ? UnrankedTensorType::get(tensor.getElementType()) : Type();
}

/// The type of result `i`, from what inference left in `proto`.
static Type getResultType(NodeOp node, unsigned i, const TypeProto &proto,
                          InferenceCache::Impl &cache) {
  Type type = importType(node.getContext(), proto);
  if (!type)
    return proto.value_case() == TypeProto::VALUE_NOT_SET ||
                   (proto.has_tensor_type() &&
                    proto.tensor_type().elem_type() == TensorProto::UNDEFINED)
               ? dropHints(node.getResult(i).getType())
               : Type();
  if (isa<RankedTensorType>(type)) {
    Quantities shape;
    for (const auto &dim : proto.tensor_type().shape().dim())
      shape.push_back(importQuantity(dim));
    cache.setShape(node.getResult(i), std::move(shape));
  }
  return type;
}

/// Refuses numbers of axes with which some of the library's functions read
/// memory that is not theirs (LayerNormalization, GatherND).
static void checkAxes(const NodeContext &context) {
  // A scale of the whole tensor has no axis; the lowering looks at that of
  // others.
  StringRef op = context.getNode().getOpType();
  if (op == "QuantizeLinear" || op == "DequantizeLinear")
    return;
  const TensorShapeProto *shape = context.getInputShape(0);
  // OneHot's and Flatten's axis may be the rank itself.
  int64_t most = shape ? shape->dim_size() : ::onnx::kMaxMaterializedRank;
  if (const AttributeProto *axis = context.getAttribute("axis");
      axis && axis->has_i() && (axis->i() < -most - 1 || axis->i() > most))
    fail_shape_inference("axis ", axis->i(), " is out of range");
  if (const AttributeProto *dims = context.getAttribute("batch_dims");
      dims && dims->has_i() && (dims->i() < 0 || dims->i() > most))
    fail_shape_inference("batch_dims ", dims->i(), " is out of range");
}

/// Refuses numbers that are no element type; the library takes 32 of their
/// bits.
static void checkElementTypes(const NodeContext &context) {
  for (StringRef name : {"to", "dtype", "output_dtype"})
    if (const AttributeProto *type = context.getAttribute(name.str());
        type && type->has_i() && !llvm::isInt<32>(type->i()))
      fail_type_inference("attribute '", name.str(), "' is ", type->i(),
                          ", which is no element type");
}

/// Runs the rules and the library's inference function. Throws.
static void runFunctions(NodeContext &context, const OpSchema &schema) {
  checkAxes(context);
  checkElementTypes(context);
  if (!inferByRule(context, schema) &&
      schema.has_type_and_shape_inference_function())
    schema.GetTypeAndShapeInferenceFunction()(context);
}

/// Takes from `type` what `probed` says otherwise.
static void dropContradicted(TypeProto &type, const TypeProto &probed) {
  if (type.value_case() != probed.value_case())
    return;
  if (type.has_sequence_type())
    return dropContradicted(*type.mutable_sequence_type()->mutable_elem_type(),
                            probed.sequence_type().elem_type());
  if (type.has_optional_type())
    return dropContradicted(*type.mutable_optional_type()->mutable_elem_type(),
                            probed.optional_type().elem_type());
  if (!type.has_tensor_type() || !type.tensor_type().has_shape() ||
      !probed.tensor_type().has_shape())
    return;
  const TensorShapeProto &other = probed.tensor_type().shape();
  TensorShapeProto &shape = *type.mutable_tensor_type()->mutable_shape();
  if (shape.dim_size() != other.dim_size())
    return type.mutable_tensor_type()->clear_shape();
  for (int i = 0; i < shape.dim_size(); ++i)
    if (shape.dim(i).has_dim_value() && other.dim(i).has_dim_value() &&
        shape.dim(i).dim_value() != other.dim(i).dim_value())
      shape.mutable_dim(i)->Clear();
}

/// Numbers that dimensions that are not known may well be: one that broadcasts,
/// one that much divides.
static constexpr int64_t probes[] = {1, 840};

/// Some of the library's functions take a dimension that is not known for 0
/// (Attention, Resize, FlexAttention). What they say of a result for certain
/// must be true whatever that dimension is: it is tried. Returns false if
/// `context`'s own inference threw, and no try did better.
static bool probe(NodeContext &context, const OpSchema &schema, bool threw) {
  bool possible = !threw;
  for (int64_t number : probes) {
    NodeContext probed(context, number);
    try {
      runFunctions(probed, schema);
    } catch (const std::exception &) {
      continue; // This cannot be the number.
    }
    possible = true;
    for (size_t i = 0; i < context.getNumOutputs() && !threw; ++i)
      dropContradicted(*context.getOutputType(i), *probed.getOutputType(i));
  }
  return possible;
}

/// Infers outputs without what `forget` clears of the inputs; false where what
/// is left does not fit either.
static bool
inferFromLess(NodeContext &context, const OpSchema &schema,
              InferenceCache::Impl &cache,
              llvm::function_ref<void(NodeContext &context)> forget) {
  NodeContext less(context.getNode(), schema, cache);
  forget(less);
  try {
    runFunctions(less, schema);
  } catch (const std::exception &) {
    return false;
  }
  context.setOutputs(less);
  return true;
}

/// Infers outputs of a node whose operands contradict each other. It fails
/// where it runs, and where it does not its results have a type nevertheless
/// (a loop of no trips collects them): of the rank that the operands' ranks
/// tell, or else of any. False where the element types do not fit either: some
/// of the library's functions call it an error of types where an extent is
/// wrong.
static bool inferContradiction(NodeContext &context, const OpSchema &schema,
                               InferenceCache::Impl &cache, bool shapeError) {
  if (inferFromLess(context, schema, cache,
                    [](NodeContext &less) { less.clearInputExtents(); }))
    return true;
  if (!shapeError &&
      !inferFromLess(context, schema, cache,
                     [](NodeContext &less) { less.clearInputShapes(); }))
    return false;
  context.clearOutputShapes();
  return true;
}

/// Infers `context`'s outputs: by rule or function, then by the rule that an
/// output with a type parameter has the type that an input gave to it.
static LogicalResult runInference(NodeContext &context, const OpSchema &schema,
                                  InferenceCache::Impl &cache, bool lenient,
                                  EmitError emitError) {
  bool threw = false;
  try {
    runFunctions(context, schema);
  } catch (const ::onnx::InferenceError &error) {
    // Is it certain that the operands do not fit?
    threw = true;
    bool shapeError = StringRef(error.what()).starts_with(shapeErrorTag);
    bool certain =
        !lenient && !context.hasUnknownRanks() &&
        !(context.hasUnknowns() && probe(context, schema, /*threw=*/true));
    if (certain || !(shapeError || lenient) ||
        !inferContradiction(context, schema, cache, shapeError)) {
      emitLibraryError(context.getNode(), misfit, error.what(), emitError);
      return failure();
    }
  }
  if (!threw && context.hasUnknowns())
    probe(context, schema, /*threw=*/false);
  try {
    schema.CheckInputOutputType(context);
  } catch (const std::exception &error) {
    emitLibraryError(context.getNode(), "cannot have the types it asks for",
                     error.what(), emitError);
    return failure();
  }
  return success();
}

/// True if output `i` is a map, or a sequence of maps, whatever its elements.
static bool isMap(const OpSchema &schema, size_t i) {
  if (i >= schema.outputs().size())
    return false;
  const auto &types = schema.outputs()[i].GetTypes();
  return !types.empty() && llvm::all_of(types, [](const std::string *type) {
    return StringRef(*type).contains("map(");
  });
}

LogicalResult loopc::onnx::inferNodeTypes(NodeOp node,
                                          SmallVectorImpl<Type> &types,
                                          EmitError emitError,
                                          const InferenceOptions &options) {
  types.clear();
  InferenceCache local;
  InferenceCache &cache = options.cache ? *options.cache : local;
  for (Value result : node.getResults())
    cache.forget(result);
  const OpSchema *schema;
  if (failed(checkNode(node, /*withResults=*/false, schema, emitError)))
    return failure();
  if (const loopc_custom_op *custom =
          schema ? nullptr : CustomOperators::of(node.getContext()).find(node))
    return inferCustomTypes(node, *custom, types, emitError);
  try {
    std::optional<NodeContext> context;
    if (schema) {
      context.emplace(node, *schema, cache.getImpl());
      if (failed(runInference(*context, *schema, cache.getImpl(),
                              options.lenient, emitError)))
        return failure();
    }
    for (auto [i, result] : llvm::enumerate(node.getResults())) {
      Type type = isa<NoneType>(result.getType()) ? result.getType()
                  : schema ? getResultType(node, i, *context->getOutputType(i),
                                           cache.getImpl())
                           : dropHints(result.getType());
      if (!type && schema && isMap(*schema, i))
        return emitError()
               << "output #" << i
               << " is a map: maps are not supported, only tensors, sequences "
                  "and optionals (skl2onnx leaves maps out with "
                  "options={'zipmap': False})";
      if (!type)
        return emitError() << "output #" << i
                           << " has no type that can be inferred";
      types.push_back(type);
    }
  } catch (const std::exception &error) {
    emitLibraryError(node, misfit, error.what(), emitError);
    return failure();
  }
  return success();
}
