//===- CustomOperators.cpp - Operators of libraries -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/ONNX/IR/CustomOperators.h"
#include "loopc/Dialect/ONNX/IR/ElementTypes.h"
#include "loopc/Support/CustomLibrary.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include <deque>

using namespace mlir;
using namespace loopc;
using namespace loopc::onnx;

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

CustomOperators &CustomOperators::of(MLIRContext *context) {
  return *context->getOrLoadDialect<ONNXDialect>()
              ->getRegisteredInterface<CustomOperators>();
}

/// Whether both have the same inputs, so that no node tells which it means.
static bool haveSameInputs(const loopc_custom_op &a, const loopc_custom_op &b) {
  auto textOf = [](const char *text) { return StringRef(text ? text : ""); };
  return a.num_inputs == b.num_inputs &&
         std::equal(a.inputs, a.inputs + a.num_inputs, b.inputs,
                    [&](const auto &x, const auto &y) {
                      return textOf(x.types) == textOf(y.types) &&
                             textOf(x.type_of) == textOf(y.type_of);
                    });
}

bool CustomOperators::add(const loopc_custom_op &op) {
  for (const loopc_custom_op *other : operators)
    if (StringRef(op.domain) == other->domain &&
        StringRef(op.name) == other->name &&
        op.since_version == other->since_version && haveSameInputs(op, *other))
      return other == &op;
  operators.push_back(&op);
  return true;
}

const loopc_custom_op *CustomOperators::find(StringRef domain, StringRef name,
                                             int64_t version) const {
  const loopc_custom_op *best = nullptr;
  for (const loopc_custom_op *op : operators)
    if (domain == op->domain && name == op->name &&
        op->since_version <= version &&
        (!best || best->since_version < op->since_version))
      best = op;
  return best ? best : findOwn(domain, name, version);
}

const loopc_custom_op *CustomOperators::findOwn(StringRef domain,
                                                StringRef name,
                                                int64_t version) const {
  const OwnOperator *row = getOwnOperators();
  for (unsigned k = 0; row->library; ++k, ++row) {
    if (name != row->name || domain != row->domain ||
        version < row->sinceVersion)
      continue;
    std::lock_guard<std::mutex> guard(mutex);
    own.resize(std::max<size_t>(own.size(), k + 1));
    Own &found = own[k];
    std::string path;
    if (!found.isTried) {
      found.isTried = true;
      found.fault = loadOwnOperator(*row, found.op, path);
      if (found.op && onLoad)
        onLoad(*found.op, path);
    }
    return found.op;
  }
  return nullptr;
}

std::string CustomOperators::getFault(StringRef domain, StringRef name) const {
  std::lock_guard<std::mutex> guard(mutex);
  for (auto [k, found] : llvm::enumerate(own))
    if (name == getOwnOperators()[k].name &&
        domain == getOwnOperators()[k].domain)
      return found.fault;
  return "";
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

/// The type of a name that loadCustomLibrary() takes.
static Type parseElementType(StringRef name, Builder &b) {
#define LOOPC_ELEMENT_TYPE(NUMBER, CODE, BITS, NAME, ONNX)                     \
  if (name == NAME)                                                            \
    return importElementType(b.getContext(), NUMBER);
#include "loopc-rt/ElementTypes.def"
  return StringType::get(b.getContext());
}

static SmallVector<Type> parseElementTypes(const char *names, Builder &b) {
  SmallVector<Type> types;
  for (std::string_view name : splitWords(names))
    types.push_back(parseElementType(name, b));
  return types;
}

/// Whether the inputs of `node` have types that `op` takes.
static bool takesInputs(const loopc_custom_op &op, NodeOp node) {
  Builder b(node.getContext());
  int64_t numInputs = node.getInputs().size();
  for (int64_t k = 0; k < numInputs; ++k) {
    if (op.num_inputs == 0)
      return false;
    const loopc_custom_port &port = op.inputs[std::min(k, op.num_inputs - 1)];
    if (k >= op.num_inputs && !(port.flags & LOOPC_CUSTOM_VARIADIC))
      return false;
    Value input = node.getInputOrNull(k);
    if (input && port.types &&
        !llvm::is_contained(parseElementTypes(port.types, b),
                            getElementTypeOrSelf(input.getType())))
      return false;
  }
  return true;
}

const loopc_custom_op *CustomOperators::find(NodeOp node) const {
  const loopc_custom_op *first =
      find(node.getDomain(), node.getOpType(), node.getSinceVersion());
  // Of several that differ in their types the one that the node can mean. An
  // error about the first one is as good as about another.
  for (const loopc_custom_op *op : operators)
    if (first && first->since_version == op->since_version &&
        node.getDomain() == op->domain && node.getOpType() == op->name &&
        takesInputs(*op, node))
      return op;
  return first;
}

namespace {
/// One node of one operator.
class CustomNode {
public:
  CustomNode(NodeOp node, const loopc_custom_op &op, EmitError emitError)
      : node(node), op(op), emitError(emitError), b(node.getContext()) {}

  LogicalResult check();
  LogicalResult infer(SmallVectorImpl<Type> &types);

private:
  LogicalResult checkInput(unsigned k, const loopc_custom_port &port);
  LogicalResult checkParameter(const loopc_custom_parameter &parameter);
  LogicalResult checkOtherAttributes();
  LogicalResult inferShapes();
  /// Input `name`, or null.
  Value findInput(const char *name);
  Type elementTypeOf(const loopc_custom_port &output);
  TensorType typeOf(unsigned k);

  NodeOp node;
  const loopc_custom_op &op;
  EmitError emitError;
  Builder b;
  /// What the operator's own function says of outputs.
  SmallVector<std::optional<SmallVector<int64_t>>> shapes;
};

/// The attributes of a node as C has them, which live as long as this.
class AttributeTable {
public:
  explicit AttributeTable(DictionaryAttr attributes);
  std::vector<loopc_custom_attribute> rows;

private:
  template <typename T, typename Values>
  void add(StringRef name, loopc_custom_kind kind, Values &&values,
           std::deque<std::vector<T>> &storage) {
    auto &kept = storage.emplace_back(values.begin(), values.end());
    rows.push_back(
        {name.data(), kind, static_cast<int64_t>(kept.size()), kept.data()});
  }
  std::deque<std::vector<int64_t>> integers;
  std::deque<std::vector<float>> floats;
  std::deque<std::vector<loopc_string>> texts;
};
} // namespace

AttributeTable::AttributeTable(DictionaryAttr attributes) {
  // MLIR's strings are terminated.
  auto textOf = [](Attribute value) {
    StringRef text = cast<StringAttr>(value).getValue();
    return loopc_string{text.data(), text.size()};
  };
  for (NamedAttribute attribute : attributes) {
    StringRef name = attribute.getName().getValue();
    Attribute value = attribute.getValue();
    if (auto one = dyn_cast<IntegerAttr>(value))
      add(name, LOOPC_CUSTOM_INT, ArrayRef<int64_t>(one.getInt()), integers);
    else if (auto one = dyn_cast<FloatAttr>(value))
      add(name, LOOPC_CUSTOM_FLOAT,
          ArrayRef<float>(one.getValue().convertToFloat()), floats);
    else if (isa<StringAttr>(value))
      add(name, LOOPC_CUSTOM_STRING, ArrayRef<loopc_string>(textOf(value)),
          texts);
    else if (auto list = dyn_cast<DenseI64ArrayAttr>(value))
      add(name, LOOPC_CUSTOM_INTS, list.asArrayRef(), integers);
    else if (auto list = dyn_cast<DenseF32ArrayAttr>(value))
      add(name, LOOPC_CUSTOM_FLOATS, list.asArrayRef(), floats);
    else if (auto list = dyn_cast<ArrayAttr>(value))
      add(name, LOOPC_CUSTOM_STRINGS, llvm::map_to_vector(list, textOf), texts);
  }
}

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

Value CustomNode::findInput(const char *name) {
  for (int64_t k = 0; k < op.num_inputs; ++k)
    if (StringRef(op.inputs[k].name) == name)
      return node.getInputOrNull(k);
  return {};
}

LogicalResult CustomNode::checkInput(unsigned k,
                                     const loopc_custom_port &port) {
  Value input = node.getInputOrNull(k);
  if (!input) {
    if (port.flags & LOOPC_CUSTOM_OPTIONAL)
      return success();
    return emitError() << "input #" << k << " '" << port.name << "' is missing";
  }
  auto type = dyn_cast<TensorType>(input.getType());
  if (!type)
    return emitError() << "input #" << k << " '" << port.name << "' has type "
                       << input.getType() << ", expected a tensor";
  if (port.type_of) {
    Value other = findInput(port.type_of);
    if (other && getElementTypeOrSelf(other.getType()) != type.getElementType())
      return emitError() << "input #" << k << " '" << port.name << "' has type "
                         << type << ", expected elements as those of '"
                         << port.type_of << "', " << other.getType();
    return success();
  }
  if (!llvm::is_contained(parseElementTypes(port.types, b),
                          type.getElementType()))
    return emitError() << "input #" << k << " '" << port.name << "' has type "
                       << type << ", expected elements of " << port.types;
  return success();
}

static bool isOfKind(Attribute value, int32_t kind) {
  switch (kind) {
  case LOOPC_CUSTOM_INT:
    return isa<IntegerAttr>(value);
  case LOOPC_CUSTOM_FLOAT:
    return isa<FloatAttr>(value);
  case LOOPC_CUSTOM_STRING:
    return isa<StringAttr>(value);
  case LOOPC_CUSTOM_INTS:
    return isa<DenseI64ArrayAttr>(value);
  case LOOPC_CUSTOM_FLOATS:
    return isa<DenseF32ArrayAttr>(value);
  default:
    auto list = dyn_cast<ArrayAttr>(value);
    return list && llvm::all_of(list, llvm::IsaPred<StringAttr>);
  }
}

LogicalResult
CustomNode::checkParameter(const loopc_custom_parameter &parameter) {
  Attribute value = node.getNodeAttr(parameter.name);
  if (!value && parameter.is_required)
    return emitError() << "attribute '" << parameter.name << "' is missing";
  static constexpr StringLiteral kKinds[] = {
      "", "INT", "FLOAT", "STRING", "INTS", "FLOATS", "STRINGS"};
  if (value && !isOfKind(value, parameter.kind))
    return emitError() << "attribute '" << parameter.name
                       << "' must be of kind " << kKinds[parameter.kind];
  return success();
}

/// Attributes that the operator does not name; those that begin with two
/// underscores are exporters' own.
LogicalResult CustomNode::checkOtherAttributes() {
  for (NamedAttribute attribute : node.getNodeAttributes()) {
    StringRef name = attribute.getName().getValue();
    if (op.flags & LOOPC_CUSTOM_OF_ONNXRUNTIME) {
      bool isKnown = false;
      for (int32_t kind = LOOPC_CUSTOM_INT; kind <= LOOPC_CUSTOM_STRINGS;
           ++kind)
        isKnown |= isOfKind(attribute.getValue(), kind);
      if (!isKnown)
        return emitError() << "attribute '" << name
                           << "' is no number, text or list of them, which is "
                              "what operators of libraries can have";
      continue;
    }
    if (!name.starts_with("__") &&
        llvm::none_of(ArrayRef(op.parameters, op.num_parameters),
                      [&](const auto &known) { return name == known.name; }))
      return emitError() << "attribute '" << name << "' does not exist";
  }
  return success();
}

LogicalResult CustomNode::check() {
  int64_t numInputs = node.getInputs().size(),
          numOutputs = node.getNumResults();
  bool isVariadic = op.num_inputs > 0 && (op.inputs[op.num_inputs - 1].flags &
                                          LOOPC_CUSTOM_VARIADIC);
  if (numInputs > op.num_inputs && !isVariadic)
    return emitError() << "has " << numInputs << " inputs, at most "
                       << op.num_inputs << " are allowed";
  if (numOutputs > op.num_outputs)
    return emitError() << "has " << numOutputs << " outputs, at most "
                       << op.num_outputs << " are allowed";
  for (int64_t k = 0; k < std::max(numInputs, op.num_inputs); ++k)
    if (failed(checkInput(k, op.inputs[std::min(k, op.num_inputs - 1)])))
      return failure();
  for (int64_t k = 0; k < op.num_outputs; ++k)
    if (!node.hasOutput(k) && !(op.outputs[k].flags & LOOPC_CUSTOM_OPTIONAL))
      return emitError() << "output #" << k << " '" << op.outputs[k].name
                         << "' must not be left out";
  for (const loopc_custom_parameter &parameter :
       ArrayRef(op.parameters, op.num_parameters))
    if (failed(checkParameter(parameter)))
      return failure();
  return checkOtherAttributes();
}

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

Type CustomNode::elementTypeOf(const loopc_custom_port &output) {
  if (output.types)
    return parseElementType(output.types, b);
  Value input = findInput(output.type_of);
  return input ? getElementTypeOrSelf(input.getType()) : Type();
}

/// The type that output `k` has by what the operator says without a function.
/// Of the rank, where it says nothing, the model may: the run is held to it.
TensorType CustomNode::typeOf(unsigned k) {
  const loopc_custom_port &output = op.outputs[k];
  Type element = elementTypeOf(output);
  if (!element)
    return {};
  if (output.shape_of)
    if (Value input = findInput(output.shape_of))
      return cast<TensorType>(input.getType()).clone(element);
  std::optional<int64_t> rank;
  if (output.rank > 0)
    rank = output.rank - 1;
  else if (Value input = output.rank_of ? findInput(output.rank_of) : Value())
    if (auto type = dyn_cast<RankedTensorType>(input.getType()))
      rank = type.getRank() + (output.flags & LOOPC_CUSTOM_NEW_AXIS ? 1 : 0);
  if (!rank)
    if (auto declared = dyn_cast<RankedTensorType>(node.getResult(k).getType()))
      rank = declared.getRank();
  if (!rank)
    return UnrankedTensorType::get(element);
  return RankedTensorType::get(
      SmallVector<int64_t>(*rank, ShapedType::kDynamic), element);
}

namespace {
/// What stands behind loopc_custom_call::context while the compiler asks.
struct ShapeQuestion {
  SmallVectorImpl<std::optional<SmallVector<int64_t>>> &shapes;
  std::string error;
};
} // namespace

static ShapeQuestion &questionOf(loopc_custom_call *call) {
  return *static_cast<ShapeQuestion *>(call->context);
}

static int failQuestion(loopc_custom_call *call, const char *message) {
  questionOf(call).error = message ? message : "the operator failed";
  return 1;
}

static int answerShape(loopc_custom_call *call, int64_t output,
                       const int64_t *shape, int64_t rank) {
  if (output < 0 || output >= call->num_outputs || rank < 0)
    return failQuestion(call, "a shape of an output that there is not");
  auto &answer = questionOf(call).shapes[output].emplace(shape, shape + rank);
  if (llvm::any_of(answer, [](int64_t extent) { return extent < 0; }))
    return failQuestion(call, "an extent of an output is less than 0");
  return 0;
}

static void *refuseMemory(loopc_custom_call *call, int64_t, const int64_t *,
                          int64_t) {
  failQuestion(call, "memory was asked for before the operator computes");
  return nullptr;
}

static char *refuseText(loopc_custom_call *call, int64_t) {
  failQuestion(call, "memory was asked for before the operator computes");
  return nullptr;
}

/// Asks the operator for the shapes of its outputs, where those of all inputs
/// are known.
LogicalResult CustomNode::inferShapes() {
  shapes.resize(op.num_outputs);
  if (!op.infer)
    return success();
  std::vector<loopc_custom_tensor> inputs, outputs(op.num_outputs);
  for (unsigned k = 0; k < node.getInputs().size(); ++k) {
    loopc_custom_tensor &tensor = inputs.emplace_back();
    Value input = node.getInputOrNull(k);
    if (!input)
      continue;
    auto type = dyn_cast<RankedTensorType>(input.getType());
    if (!type || !type.hasStaticShape())
      return success();
    tensor.shape = type.getShape().data();
    tensor.rank = type.getRank();
    tensor.count = type.getNumElements();
    tensor.is_given = 1;
  }
  for (auto [k, tensor] : llvm::enumerate(outputs))
    tensor.is_given = node.hasOutput(k);
  AttributeTable attributes(node.getNodeAttributes());
  ShapeQuestion question{shapes, ""};
  loopc_custom_call call = {sizeof(loopc_custom_call),
                            &op,
                            attributes.rows.data(),
                            static_cast<int64_t>(attributes.rows.size()),
                            inputs.data(),
                            static_cast<int64_t>(inputs.size()),
                            outputs.data(),
                            op.num_outputs,
                            failQuestion,
                            answerShape,
                            refuseMemory,
                            refuseText,
                            &question,
                            /*where=*/nullptr};
  if (op.infer(&call) == 0 && question.error.empty())
    return success();
  if (question.error.empty())
    question.error = "the operator refuses the shapes of its inputs";
  return emitError() << question.error;
}

LogicalResult CustomNode::infer(SmallVectorImpl<Type> &types) {
  if (failed(inferShapes()))
    return failure();
  for (auto [k, result] : llvm::enumerate(node.getResults())) {
    if (!node.hasOutput(k)) {
      types.push_back(result.getType());
      continue;
    }
    const loopc_custom_port &output = op.outputs[k];
    TensorType type = typeOf(k);
    if (!type)
      return emitError() << "output #" << k << " '" << output.name
                         << "' has the type of '" << output.type_of
                         << "', which is left out";
    if (shapes[k]) {
      auto known = RankedTensorType::get(*shapes[k], type.getElementType());
      if (type.hasRank() && type.getRank() != known.getRank())
        return emitError() << "output #" << k << " '" << output.name
                           << "' has rank " << type.getRank()
                           << " but was inferred to have the shape of "
                           << known;
      type = known;
    }
    types.push_back(type);
  }
  return success();
}

LogicalResult loopc::onnx::inferCustomTypes(NodeOp node,
                                            const loopc_custom_op &op,
                                            SmallVectorImpl<Type> &types,
                                            EmitError emitError) {
  CustomNode custom(node, op, emitError);
  return success(succeeded(custom.check()) && succeeded(custom.infer(types)));
}
