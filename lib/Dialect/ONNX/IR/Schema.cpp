//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/ONNX/IR/Schema.h"
#include "SchemaCache.h"
#include "SchemaImpl.h"
#include "onnx/defs/data_type_utils.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <set>

using namespace mlir;
using namespace loopc::onnx;
using ::onnx::AttributeProto;
using ::onnx::OpSchema;
using ::onnx::OpSchemaRegistry;
using ::onnx::TypeProto;
using ::onnx::Utils::DataTypeUtils;
using Formal = OpSchema::FormalParameter;

//===----------------------------------------------------------------------===//
// Finding schemas
//===----------------------------------------------------------------------===//

/// True for domains that the onnx library knows operators of.
static bool hasSchemas(StringRef domain) {
  try {
    const auto &domains =
        OpSchemaRegistry::DomainToVersionRange::Instance().Map();
    return domains.count(getRegistryDomain(domain)) != 0;
  } catch (const std::exception &) {
    return false;
  }
}

std::optional<int64_t> loopc::onnx::resolveSinceVersion(StringRef domain,
                                                        StringRef opType,
                                                        int64_t opset) {
  const OpSchema *schema = findSchema(domain, opType, opset);
  if (!schema)
    return std::nullopt;
  return schema->SinceVersion();
}

Attribute loopc::onnx::getAttrOrDefault(NodeOp node, StringRef name) {
  if (Attribute own = node.getNodeAttr(name))
    return own;
  const OpSchema *schema =
      findSchema(node.getDomain(), node.getOpType(), node.getSinceVersion());
  if (!schema)
    return {};
  try {
    auto found = schema->attributes().find(name.str());
    if (found == schema->attributes().end() ||
        found->second.default_value.type() == AttributeProto::UNDEFINED)
      return {};
    return importAttribute(node.getContext(), found->second.default_value);
  } catch (const std::exception &) {
    return {};
  }
}

InFlightDiagnostic loopc::onnx::emitNodeError(NodeOp node) {
  InFlightDiagnostic diag = node.emitOpError();
  diag << "'";
  if (!node.getDomain().empty())
    diag << node.getDomain() << "::";
  diag << node.getOpType() << "' ";
  return diag;
}

//===----------------------------------------------------------------------===//
// SchemaCache
//===----------------------------------------------------------------------===//

SchemaCache &SchemaCache::of(NodeOp node) {
  return *node->getDialect()->getRegisteredInterface<SchemaCache>();
}

void loopc::onnx::addSchemaCache(ONNXDialect &dialect) {
  dialect.addInterface(std::make_unique<SchemaCache>(&dialect));
}

SchemaCache::Form SchemaCache::getForm(NodeOp node) {
  return {node.getOpTypeAttr().getAsOpaquePointer(),
          node.getDomainAttr().getAsOpaquePointer(),
          node.getSinceVersionAttr().getAsOpaquePointer(),
          node.getNodeAttributes().getAsOpaquePointer(),
          node.getInputs().size(),
          node.getNumResults()};
}

const OpSchema *SchemaCache::lookup(NodeOp node) const {
  llvm::sys::ScopedReader lock(mutex);
  return wellFormed.lookup(getForm(node));
}

void SchemaCache::remember(NodeOp node, const OpSchema &schema) {
  llvm::sys::ScopedWriter lock(mutex);
  wellFormed[getForm(node)] = &schema;
}

::onnx::DataType SchemaCache::getDataType(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  Type key = tensor ? tensor.getElementType() : type;
  {
    llvm::sys::ScopedReader lock(mutex);
    if (auto known = dataTypes.find(key); known != dataTypes.end())
      return known->second;
  }
  TypeProto proto;
  ::onnx::DataType name =
      exportType(type, proto) ? DataTypeUtils::ToType(proto) : nullptr;
  llvm::sys::ScopedWriter lock(mutex);
  dataTypes[key] = name;
  return name;
}

//===----------------------------------------------------------------------===//
// Checking nodes
//===----------------------------------------------------------------------===//

namespace {
/// Holds one node against one schema, exceptions left to the caller.
class NodeChecker {
public:
  NodeChecker(NodeOp node, const OpSchema &schema, EmitError emitError)
      : node(node), schema(schema), emitError(emitError) {}

  LogicalResult checkArity();
  /// No input is left out that is required.
  LogicalResult checkPresence();
  LogicalResult checkAttributes();
  /// Types of inputs or (`outputs`) of outputs.
  LogicalResult checkTypes(bool outputs);
  /// Lengths of inputs that have an element for each of some dimensions.
  LogicalResult checkLengths();

private:
  LogicalResult checkCount(StringRef what, size_t count, int min, int max);
  LogicalResult checkType(Type type, StringRef what, unsigned index,
                          const Formal &formal);

  NodeOp node;
  const OpSchema &schema;
  EmitError emitError;
  /// A type parameter ("T"), what it was bound to, and by whom.
  struct Binding {
    StringRef parameter;
    ::onnx::DataType type;
    StringRef what;
    unsigned index;
  };
  SmallVector<Binding> bound;
};

/// An inference context that knows numbers of inputs and outputs alone.
struct CountContext final : ::onnx::InferenceContext {
  CountContext(size_t inputs, size_t outputs)
      : inputs(inputs), outputs(outputs) {}
  const AttributeProto *getAttribute(const std::string &) const override {
    return nullptr;
  }
  size_t getNumInputs() const override { return inputs; }
  const TypeProto *getInputType(size_t) const override { return nullptr; }
  const ::onnx::TensorProto *getInputData(size_t) const override {
    return nullptr;
  }
  size_t getNumOutputs() const override { return outputs.size(); }
  TypeProto *getOutputType(size_t index) override { return &outputs[index]; }
  ::onnx::GraphInferencer *
  getGraphAttributeInferencer(const std::string &) override {
    return nullptr;
  }
  const ::onnx::SparseTensorProto *getInputSparseData(size_t) const override {
    return nullptr;
  }
  const ::onnx::TensorShapeProto *getSymbolicInput(size_t) const override {
    return nullptr;
  }
  size_t inputs;
  std::vector<TypeProto> outputs;
};
} // namespace

/// The formal parameter of actual `index`; the last one may be variadic. Null
/// past the end.
static const Formal *getFormal(const std::vector<Formal> &formals,
                               unsigned index) {
  if (index < formals.size())
    return &formals[index];
  if (!formals.empty() && formals.back().GetOption() == OpSchema::Variadic)
    return &formals.back();
  return nullptr;
}

LogicalResult NodeChecker::checkCount(StringRef what, size_t count, int min,
                                      int max) {
  int64_t actual = count;
  if (actual >= min && actual <= max)
    return success();
  InFlightDiagnostic diag = emitError();
  diag << "has " << actual << " " << what << (actual == 1 ? "" : "s")
       << ", expected ";
  if (min == max)
    diag << min;
  else if (max == std::numeric_limits<int>::max())
    diag << "at least " << min;
  else
    diag << min << " to " << max;
  return diag;
}

LogicalResult NodeChecker::checkArity() {
  size_t inputs = node.getInputs().size(), outputs = node.getNumResults();
  if (failed(checkCount("input", inputs, schema.min_input(),
                        schema.max_input())) ||
      failed(checkCount("output", outputs, schema.min_output(),
                        schema.max_output())))
    return failure();
  // Old versions list the numbers they allow (BatchNormalization-1: 1 or 5
  // outputs); only the library's own check knows them.
  CountContext counts(inputs, outputs);
  try {
    schema.CheckInputOutputType(counts);
  } catch (const std::exception &) {
    return emitError() << "does not exist with " << inputs << " inputs and "
                       << outputs << " outputs in version "
                       << schema.SinceVersion();
  }
  return success();
}

LogicalResult NodeChecker::checkPresence() {
  for (unsigned i = 0, e = node.getInputs().size(); i < e; ++i) {
    const Formal *formal = getFormal(schema.inputs(), i);
    if (!node.getInputOrNull(i) && formal &&
        formal->GetOption() != OpSchema::Optional)
      return emitError() << "input #" << i << " '" << formal->GetName()
                         << "' is left out but required";
  }
  return success();
}

static StringRef getKindName(int32_t kind) {
  switch (kind) {
  case AttributeProto::FLOAT:
    return "FLOAT (f32)";
  case AttributeProto::INT:
    return "INT (i64)";
  case AttributeProto::STRING:
    return "STRING";
  case AttributeProto::TENSOR:
    return "TENSOR (elements)";
  case AttributeProto::GRAPH:
    return "GRAPH";
  case AttributeProto::FLOATS:
    return "FLOATS (array<f32>)";
  case AttributeProto::INTS:
    return "INTS (array<i64>)";
  case AttributeProto::STRINGS:
    return "STRINGS (an array of strings)";
  case AttributeProto::TENSORS:
    return "TENSORS (an array of elements)";
  case AttributeProto::GRAPHS:
    return "GRAPHS";
  case AttributeProto::SPARSE_TENSOR:
    return "SPARSE_TENSOR";
  case AttributeProto::SPARSE_TENSORS:
    return "SPARSE_TENSORS";
  case AttributeProto::TYPE_PROTO:
    return "TYPE_PROTO (a type)";
  case AttributeProto::TYPE_PROTOS:
    return "TYPE_PROTOS (an array of types)";
  default:
    return "UNDEFINED";
  }
}

/// Integers that say yes or no, in every operator that has one of this name.
/// ONNX does not tell what else than 0 and 1 means, and its own inference and
/// engines differ: some ask for 1, some for what is not 0.
static bool isSwitch(StringRef name) {
  static const llvm::StringSet<> names = {"align_corners",
                                          "allowzero",
                                          "antialias",
                                          "broadcast",
                                          "ceil_mode",
                                          "center_point_box",
                                          "count_include_pad",
                                          "exclude_outside",
                                          "exclusive",
                                          "detect_negative",
                                          "detect_positive",
                                          "fmod",
                                          "input_forget",
                                          "interleaved",
                                          "inverse",
                                          "is_case_sensitive",
                                          "is_causal",
                                          "is_test",
                                          "keepdims",
                                          "largest",
                                          "layout",
                                          "linear_before_reset",
                                          "new_axis",
                                          "noop_with_empty_axes",
                                          "onesided",
                                          "output_sequence",
                                          "periodic",
                                          "reverse",
                                          "saturate",
                                          "select_last_index",
                                          "sorted",
                                          "spatial",
                                          "storage_order",
                                          "training_mode",
                                          "transA",
                                          "transB",
                                          "upper",
                                          "zeros"};
  return names.contains(name);
}

LogicalResult NodeChecker::checkAttributes() {
  const auto &known = schema.attributes();
  for (NamedAttribute attr : node.getNodeAttributes()) {
    StringRef name = attr.getName();
    auto found = known.find(name.str());
    if (found == known.end()) {
      // ONNX reserves such names for tools; they mean nothing to the operator.
      if (name.starts_with("__"))
        continue;
      return emitError() << "has no attribute '" << name << "' in version "
                         << schema.SinceVersion();
    }
    int32_t expected = found->second.type;
    int32_t kind = getAttributeKind(attr.getValue(), expected);
    if (kind != expected)
      return emitError() << "attribute '" << name << "' is " << attr.getValue()
                         << ", expected " << getKindName(expected);
    if (auto value = dyn_cast<IntegerAttr>(attr.getValue());
        value && isSwitch(name) && !llvm::is_contained({0, 1}, value.getInt()))
      return emitError() << "attribute '" << name << "' is " << value.getInt()
                         << ", expected 0 or 1";
  }
  for (const auto &[name, attribute] : known)
    if (attribute.required && !node.getNodeAttr(name))
      return emitError() << "lacks the required attribute '" << name << "'";
  return success();
}

/// Names of the types of `formal`, the first few of them.
static std::string listTypes(const Formal &formal) {
  std::vector<std::string> names;
  for (::onnx::DataType type : formal.GetTypes())
    names.push_back(*type);
  llvm::sort(names);
  constexpr size_t shown = 6;
  size_t count = names.size();
  if (count > shown)
    names.resize(shown);
  std::string list = llvm::join(names, ", ");
  return count > shown ? list + ", ..." : list;
}

LogicalResult NodeChecker::checkType(Type type, StringRef what, unsigned index,
                                     const Formal &formal) {
  ::onnx::DataType name = SchemaCache::of(node).getDataType(type);
  if (!name)
    return emitError() << what << " #" << index << " '" << formal.GetName()
                       << "' has type " << type << ", which is no ONNX type";
  if (!formal.GetTypes().empty() && !formal.GetTypes().count(name))
    return emitError() << what << " #" << index << " '" << formal.GetName()
                       << "' has type " << type << ", expected one of "
                       << listTypes(formal);
  if (!formal.GetIsHomogeneous())
    return success();
  const auto *first = llvm::find_if(bound, [&](const Binding &binding) {
    return binding.parameter == formal.GetTypeStr();
  });
  if (first == bound.end())
    bound.push_back({formal.GetTypeStr(), name, what, index});
  else if (first->type != name)
    return emitError() << what << " #" << index << " '" << formal.GetName()
                       << "' has type " << type << ", expected " << *first->type
                       << " as " << first->what << " #" << first->index;
  return success();
}

LogicalResult NodeChecker::checkTypes(bool outputs) {
  const std::vector<Formal> &formals =
      outputs ? schema.outputs() : schema.inputs();
  TypeRange types = outputs ? TypeRange(node.getResultTypes())
                            : TypeRange(node.getInputs().getTypes());
  for (auto [i, type] : llvm::enumerate(types)) {
    const Formal *formal = getFormal(formals, i);
    if (isa<NoneType>(type) || !formal)
      continue;
    if (failed(checkType(type, outputs ? "output" : "input", i, *formal)))
      return failure();
  }
  return success();
}

/// Inputs of which the elements stand for dimensions: inference, ONNX's own
/// included, makes a dimension of each.
static bool isListOfDimensions(StringRef op, unsigned input) {
  static const std::set<std::pair<StringRef, unsigned>> inputs = {
      {"AffineGrid", 1},
      {"CenterCropPad", 1},
      {"Col2Im", 1},
      {"Col2Im", 2},
      {"Expand", 1},
      {"MaxUnpool", 2},
      {"ConstantOfShape", 0},
      {"Pad", 1},
      {"Pad", 3},
      {"Reshape", 1},
      {"Resize", 1},
      {"Resize", 2},
      {"Resize", 3},
      {"Slice", 1},
      {"Slice", 2},
      {"Slice", 3},
      {"Slice", 4},
      {"Squeeze", 1},
      {"Tile", 1},
      {"Unsqueeze", 1},
      {"Upsample", 1}};
  return inputs.count({op, input}) || (op.starts_with("Reduce") && input == 1);
}

LogicalResult NodeChecker::checkLengths() {
  // More dimensions than anybody has; a list may have two elements for each.
  constexpr int64_t kLongest = 2048;
  if (!node.getDomain().empty())
    return success();
  for (auto [i, input] : llvm::enumerate(node.getInputs())) {
    auto type = dyn_cast<RankedTensorType>(input.getType());
    if (type && type.getRank() == 1 && type.getDimSize(0) > kLongest &&
        isListOfDimensions(node.getOpType(), i))
      return emitError() << "input #" << i << " has " << type.getDimSize(0)
                         << " elements for dimensions, more than " << kLongest;
  }
  return success();
}

/// The schema of exactly the node's version, or an error; null and success
/// where its domain has none.
static FailureOr<const OpSchema *> getSchema(NodeOp node, EmitError emitError) {
  StringRef domain = node.getDomain(), op = node.getOpType();
  if (!hasSchemas(domain))
    return static_cast<const OpSchema *>(nullptr);
  StringRef domainName = domain.empty() ? StringRef("ai.onnx") : domain;
  int64_t version = node.getSinceVersion();
  const OpSchema *schema = findSchema(domain, op, version);
  if (!schema) {
    if (findSchema(domain, op, std::numeric_limits<int>::max()))
      return emitError() << "has no version " << version;
    return emitError() << "is no operator of domain '" << domainName << "'";
  }
  if (schema->SinceVersion() != version)
    return emitError() << "has no version " << version << "; opset " << version
                       << " has version " << schema->SinceVersion();
  if (schema->Deprecated())
    return emitError() << "was withdrawn in version " << version
                       << " of domain '" << domainName << "'";
  return schema;
}

LogicalResult loopc::onnx::checkNode(NodeOp node, bool withResults,
                                     const OpSchema *&schema,
                                     EmitError emitError) {
  SchemaCache &cache = SchemaCache::of(node);
  schema = cache.lookup(node);
  try {
    bool isKnown = schema != nullptr;
    if (!isKnown) {
      FailureOr<const OpSchema *> found = getSchema(node, emitError);
      if (failed(found))
        return failure();
      schema = *found;
      if (!schema)
        return success();
    }
    NodeChecker checker(node, *schema, emitError);
    if ((!isKnown && failed(checker.checkArity())) ||
        failed(checker.checkPresence()) ||
        (!isKnown && failed(checker.checkAttributes())))
      return failure();
    if (!isKnown)
      cache.remember(node, *schema);
    if (failed(checker.checkTypes(/*outputs=*/false)) ||
        failed(checker.checkLengths()))
      return failure();
    return withResults ? checker.checkTypes(/*outputs=*/true) : success();
  } catch (const std::exception &error) {
    return emitError() << "cannot be checked: " << error.what();
  }
}

LogicalResult loopc::onnx::verifyNode(NodeOp node) {
  const OpSchema *schema;
  return checkNode(node, /*withResults=*/true, schema,
                   [&] { return emitNodeError(node); });
}
