//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The main graph, scopes, and nodes that stay nodes.

#include "ImporterImpl.h"
#include "loopc/Dialect/ONNX/IR/CustomOperators.h"
#include "loopc/Dialect/ONNX/IR/ProtoConversion.h"
#include "loopc/Dialect/ONNX/IR/Schema.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::importer;

static constexpr StringLiteral kMainPath = "main";

Importer::Importer(ModelRef model, MLIRContext &context,
                   const ImportOptions &options)
    : GraphBuilder(context), model(model), options(options),
      tensors(model, &context),
      fileLoc(FileLineColLoc::get(&context, model->path, 0, 0)) {}

OwningOpRef<ModuleOp> Importer::run() {
  if (failed(splitMaps()) || failed(scanModel()))
    return {};
  const pb::ModelProto &proto = model->proto;
  module = ModuleOp::create(fileLoc);
  std::string name = options.modelName;
  if (name.empty())
    name = proto.graph().name();
  if (name.empty())
    name = llvm::sys::path::stem(model->path).str();
  std::string producer = proto.producer_name();
  if (!proto.producer_version().empty())
    producer += " " + proto.producer_version();
  (*module)->setAttr("loopc.model", builder.getStringAttr(name));
  (*module)->setAttr("loopc.ir_version",
                     builder.getI64IntegerAttr(proto.ir_version()));
  (*module)->setAttr("loopc.producer", builder.getStringAttr(producer));
  builder.setInsertionPointToEnd(module->getBody());
  // Operators that only types reveal are reported together, too.
  LogicalResult imported = importMain();
  if (failed(reportUnsupported()) || failed(imported))
    return {};
  if (failed(verifyImported(*module)))
    return {};
  warnOfIgnoredConditions();
  return std::move(module);
}

Location Importer::pathLoc(StringRef path) {
  return NameLoc::get(builder.getStringAttr(path), fileLoc);
}

Location Importer::nodeLoc(StringRef path, unsigned index,
                           const pb::NodeProto &node,
                           std::optional<int64_t> opset) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << path << "/#" << index << " ";
  if (!normalizeDomain(node.domain()).empty())
    os << node.domain() << "::";
  os << node.op_type();
  if (!node.name().empty())
    os << " '" << node.name() << "'";
  if (opset)
    os << " (opset " << *opset << ")";
  return pathLoc(text);
}

bool NodeContext::hasGraphs() const {
  return llvm::any_of(node.attribute(), [](const pb::AttributeProto &attr) {
    return attr.has_g() || attr.graphs_size();
  });
}

std::string NodeContext::innerPath() const {
  std::string path = graphPath + "/" + node.op_type();
  if (node.name().empty())
    return path + " #" + std::to_string(index);
  return path + " '" + node.name() + "'";
}

//===----------------------------------------------------------------------===//
// The main graph
//===----------------------------------------------------------------------===//

LogicalResult Importer::importMain() {
  const pb::GraphProto &graph = model->proto.graph();
  Location loc = pathLoc(kMainPath);
  Frame frame;
  if (failed(readOpsets(model->proto.opset_import(), loc, frame.opsets)) ||
      failed(checkPins(loc)))
    return failure();
  if (frame.opsets.empty() && model->proto.ir_version() < 3)
    frame.opsets[""] = 1; // before IR version 3 there was nothing to import
  auto func = func::FuncOp::create(builder, loc, kMainPath,
                                   builder.getFunctionType({}, {}));
  Scope scope(nullptr, &graph);
  if (failed(addInitializers(graph, scope, /*inputsWin=*/false, loc)) ||
      failed(importInputs(func, scope)))
    return failure();
  entryBlock = &func.getBody().front();
  builder.setInsertionPointToEnd(entryBlock);
  if (failed(importNodes(graph.node(), frame, scope, kMainPath)) ||
      failed(importOutputs(func, scope)))
    return failure();
  eraseUnusedConstants();
  return success();
}

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

LogicalResult Importer::addInitializers(const pb::GraphProto &graph,
                                        Scope &scope, bool inputsWin,
                                        Location loc) {
  auto add = [&](StringRef name, auto &map,
                 const auto *tensor) -> LogicalResult {
    if (name.empty())
      return loopc::emitError(loc, Diag::BadTensor)
             << "an initializer has no name";
    // A body's input always gets a value: its initializer is a default that is
    // never needed.
    if (inputsWin && scope.values.count(name))
      return success();
    if (scope.initializers.count(name) || scope.sparseInitializers.count(name))
      return loopc::emitError(loc, Diag::DuplicateName)
             << "there are two initializers '" << name << "'";
    map[name] = tensor;
    return success();
  };
  for (const pb::TensorProto &tensor : graph.initializer())
    if (failed(add(tensor.name(), scope.initializers, &tensor)))
      return failure();
  for (const pb::SparseTensorProto &tensor : graph.sparse_initializer())
    if (failed(add(tensor.values().name(), scope.sparseInitializers, &tensor)))
      return failure();
  return success();
}

bool Importer::isVisible(Scope &scope, StringRef name) {
  for (Scope *s = &scope; s; s = s->mayRepeat ? nullptr : s->parent)
    if (s->values.count(name) || s->initializers.count(name) ||
        s->sparseInitializers.count(name))
      return true;
  return false;
}

FailureOr<Value> Importer::lookup(Scope &scope, StringRef name, Location loc,
                                  const Twine &what) {
  if (name.empty())
    return Value();
  // name_scope: the innermost graph that has the name.
  for (Scope *s = &scope; s; s = s->parent) {
    if (auto it = s->values.find(name); it != s->values.end())
      return it->second;
    FailureOr<Value> value;
    if (auto it = s->initializers.find(name); it != s->initializers.end())
      value = constant(*it->second, loc);
    else if (auto it = s->sparseInitializers.find(name);
             it != s->sparseInitializers.end())
      value = constant(*it->second, loc);
    else
      continue;
    if (succeeded(value))
      s->values[name] = *value;
    return value;
  }
  return loopc::emitError(loc, Diag::UnknownValue)
         << what << " '" << name << "' is not defined before";
}

LogicalResult Importer::lookupInputs(NodeContext &nc,
                                     SmallVectorImpl<Value> &inputs) {
  for (auto [k, name] : llvm::enumerate(nc.node.input())) {
    FailureOr<Value> value =
        lookup(nc.scope, name, nc.loc, "input #" + Twine(k));
    if (failed(value))
      return failure();
    inputs.push_back(*value);
  }
  return success();
}

LogicalResult Importer::define(NodeContext &nc, StringRef name, Value value) {
  // name_outputs: an output may be left out.
  if (name.empty())
    return success();
  // name_shadow: unlike a body's inputs and initializers, what a node computes
  // may not take a name that can be seen from here.
  if (isVisible(nc.scope, name))
    return loopc::emitError(nc.loc, Diag::ShadowedName)
           << "output '" << name << "' has a name that is already taken";
  nc.scope.values[name] = value;
  return success();
}

LogicalResult Importer::defineOutputs(NodeContext &nc, ValueRange values) {
  for (auto [k, name] : llvm::enumerate(nc.node.output())) {
    if (k >= values.size()) {
      // name_outputs
      if (name.empty())
        continue;
      return loopc::emitError(nc.loc, Diag::ExtraOutput)
             << "output #" << k << " '" << name
             << "' does not exist: there are " << values.size();
    }
    if (failed(define(nc, name, values[k])))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

using NameSet = llvm::DenseSet<StringRef>;

/// Adds the names that a node takes from around it, which its graphs may do,
/// too.
static void collectUses(const pb::NodeProto &node, NameSet &uses) {
  for (const std::string &name : node.input())
    uses.insert(name);
  auto addGraph = [&](const pb::GraphProto &graph) {
    NameSet inner, own;
    for (const pb::ValueInfoProto &input : graph.input())
      own.insert(input.name());
    for (const pb::TensorProto &tensor : graph.initializer())
      own.insert(tensor.name());
    for (const pb::NodeProto &node : graph.node()) {
      collectUses(node, inner);
      own.insert_range(node.output());
    }
    for (const pb::ValueInfoProto &output : graph.output())
      inner.insert(output.name());
    for (StringRef name : inner)
      if (!own.contains(name))
        uses.insert(name);
  };
  for (const pb::AttributeProto &attr : node.attribute()) {
    if (attr.has_g())
      addGraph(attr.g());
    for (const pb::GraphProto &graph : attr.graphs())
      addGraph(graph);
  }
}

/// The nodes' indices in an order in which each comes behind those that it
/// needs: their own, as ONNX has it, or else what onnxruntime makes of nodes in
/// any order. Nodes that need one another stay where they are.
static SmallVector<unsigned>
orderNodes(const google::protobuf::RepeatedPtrField<pb::NodeProto> &nodes) {
  llvm::DenseMap<StringRef, unsigned> producers;
  for (auto [index, node] : llvm::enumerate(nodes))
    for (const std::string &name : node.output())
      if (!name.empty())
        producers.try_emplace(name, index);
  SmallVector<SmallVector<unsigned>> needed(nodes.size());
  bool isOrdered = true;
  for (auto [index, node] : llvm::enumerate(nodes)) {
    NameSet uses;
    collectUses(node, uses);
    for (StringRef name : uses)
      if (auto it = producers.find(name); it != producers.end()) {
        needed[index].push_back(it->second);
        isOrdered &= it->second < index;
      }
    llvm::sort(needed[index]);
  }
  SmallVector<unsigned> order;
  if (isOrdered)
    return llvm::to_vector(llvm::seq<unsigned>(0, nodes.size()));
  // Depth first, without recursion: chains are as long as models are.
  enum State : char { New, Open, Done };
  SmallVector<State> states(nodes.size(), New);
  for (unsigned root = 0, e = nodes.size(); root < e; ++root) {
    SmallVector<unsigned> stack = {root};
    while (!stack.empty()) {
      unsigned node = stack.back();
      if (states[node] == Done) {
        stack.pop_back();
        continue;
      }
      bool wasOpen = states[node] == Open;
      states[node] = Open;
      size_t below = stack.size();
      if (!wasOpen)
        for (unsigned other : llvm::reverse(needed[node]))
          if (states[other] == New)
            stack.push_back(other);
      if (stack.size() > below)
        continue;
      states[node] = Done;
      order.push_back(node);
      stack.pop_back();
    }
  }
  return order;
}

LogicalResult Importer::importNodes(const NodeList &nodes, Frame &frame,
                                    Scope &scope, StringRef path) {
  for (unsigned index : orderNodes(nodes))
    if (failed(importNode(nodes[index], index, frame, scope, path)))
      return failure();
  return success();
}

LogicalResult Importer::importNode(const pb::NodeProto &node, unsigned index,
                                   Frame &frame, Scope &scope, StringRef path) {
  NodeContext nc{node,    frame,
                 scope,   path.str(),
                 index,   normalizeDomain(node.domain()),
                 0,       0,
                 nullptr, nodeLoc(path, index, node, std::nullopt)};
  // What operators are expanded to, and bodies that are imported until their
  // types settle, must end some day.
  if (++importedNodes > kMaxNodes)
    return loopc::emitError(nc.loc, Diag::ModelTooDeep)
           << "the model expands to more than " << kMaxNodes << " nodes";
  FailureOr<NodeKind> kind = classifyNode(nc);
  if (failed(kind) || failed(checkValues(nc)))
    return failure();
  switch (*kind) {
  case NodeKind::LocalFunction:
    return expandFunction(nc, *findLocalFunction(node), /*isLocal=*/true);
  case NodeKind::SchemaFunction:
    return expandSchemaFunction(nc);
  case NodeKind::ContextFunction:
    return expandContextFunction(nc);
  case NodeKind::ContribFunction:
    return expandContribFunction(nc);
  case NodeKind::GraphCall:
    return importGraphCall(nc);
  case NodeKind::Lowered:
    return importGenericNode(nc);
  case NodeKind::Unsupported:
    // Found in a body that was made for its node; import goes on to find the
    // others.
    addUnsupported(nc);
    return importGenericNode(nc);
  case NodeKind::Control:
    break;
  }
  if (failed(checkAttributes(nc)))
    return failure();
  using Import = LogicalResult (Importer::*)(NodeContext &);
  static constexpr std::pair<StringLiteral, Import> imports[] = {
      {"Constant", &Importer::importConstant},
      {"If", &Importer::importIf},
      {"Loop", &Importer::importLoop},
      {"Scan", &Importer::importScan},
      {"SequenceMap", &Importer::importSequenceMap}};
  const auto *import = llvm::find_if(
      imports, [&](const auto &row) { return row.first == node.op_type(); });
  return (this->*import->second)(nc);
}

LogicalResult Importer::importGenericNode(NodeContext &nc) {
  if (failed(checkAttributes(nc)))
    return failure();
  SmallVector<Value> inputs;
  if (failed(lookupInputs(nc, inputs)))
    return failure();
  while (!inputs.empty() && !inputs.back())
    inputs.pop_back();
  for (Value &input : inputs)
    if (!input)
      input = none();
  FailureOr<DictionaryAttr> attributes = convertAttributes(nc);
  if (failed(attributes))
    return failure();
  // name_outputs: outputs that are left out at the end are missing, others are
  // of type none. The types of the rest are found below.
  size_t numOutputs = nc.node.output_size();
  while (numOutputs > 1 && nc.node.output(numOutputs - 1).empty())
    --numOutputs;
  bool isCustom = onnx::CustomOperators::of(&context).find(
      nc.domain, nc.node.op_type(), nc.since);
  SmallVector<Type> types;
  for (size_t k = 0; k < numOutputs; ++k) {
    StringRef name = nc.node.output(k);
    // What has a schema, or is of a library, gets its types from there; a
    // library may leave the rank to the model.
    Type type = UnrankedTensorType::get(builder.getF32Type());
    if (name.empty())
      type = builder.getNoneType();
    else if (!nc.schema && !isCustom)
      type = declaredType(nc.scope, name);
    else if (isCustom)
      if (Type declared = declaredType(nc.scope, name))
        type = declared;
    if (!type)
      return loopc::emitError(nc.loc, Diag::TypeInference)
             << "output #" << k << " '" << name
             << "' has no type: the operator has no schema, and the graph "
                "declares none";
    types.push_back(type);
  }
  auto op = onnx::NodeOp::create(
      builder, nc.loc, types, builder.getStringAttr(nc.node.op_type()),
      builder.getStringAttr(nc.domain), builder.getI64IntegerAttr(nc.since),
      inputs, *attributes);
  if (failed(inferTypes(op)))
    return failure();
  return defineOutputs(nc, op.getResults());
}

Type Importer::declaredType(const Scope &scope, StringRef name) {
  if (!scope.graph)
    return {};
  for (const auto *infos : {&scope.graph->value_info(), &scope.graph->output()})
    for (const pb::ValueInfoProto &info : *infos)
      if (name == info.name())
        return declaredType(info);
  return {};
}

FailureOr<Value> Importer::makeNode(NodeContext &nc, StringRef opType,
                                    ValueRange inputs,
                                    ArrayRef<NamedAttribute> attrs) {
  // Nodes say their own version; these have the one that was new with
  // ONNX 1.16, whatever the model imports.
  constexpr int64_t kHelperOpset = 21;
  std::optional<int64_t> since =
      onnx::resolveSinceVersion("", opType, kHelperOpset);
  if (!since)
    return loopc::emitError(nc.loc, Diag::Internal)
           << "the onnx library has no operator '" << opType << "'";
  onnx::NodeOp op = untypedNode(nc.loc, opType, *since, inputs, attrs);
  if (failed(inferTypes(op)))
    return failure();
  return Value(op.getResult(0));
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

template <typename Proto>
FailureOr<Value> Importer::constant(const Proto &tensor, Location loc) {
  if (Value known = constantOf.lookup(&tensor))
    return known;
  FailureOr<ElementsAttr> value = tensors.import(tensor, loc);
  if (failed(value))
    return failure();
  return constantOf[&tensor] = constantAt(loc, *value);
}

Value Importer::none() { return noneAt(pathLoc(kMainPath)); }

FailureOr<ElementsAttr>
Importer::constantValue(NodeContext &nc, const pb::AttributeProto &attr) {
  auto dense = [&](Type element, std::optional<int64_t> count,
                   auto values) -> ElementsAttr {
    SmallVector<int64_t> shape;
    if (count)
      shape.push_back(*count);
    return cast<ElementsAttr>(Attribute(
        DenseElementsAttr::get(RankedTensorType::get(shape, element), values)));
  };
  auto strings = [&](std::optional<int64_t> count,
                     ArrayRef<StringRef> values) -> ElementsAttr {
    SmallVector<int64_t> shape;
    if (count)
      shape.push_back(*count);
    return cast<ElementsAttr>(Attribute(DenseStringElementsAttr::get(
        RankedTensorType::get(shape, onnx::StringType::get(&context)),
        values)));
  };
  Type f32 = builder.getF32Type(), i64 = builder.getI64Type();
  switch (attr.type()) {
  case pb::AttributeProto::FLOAT:
    return dense(f32, std::nullopt, ArrayRef<float>(attr.f()));
  case pb::AttributeProto::INT:
    return dense(i64, std::nullopt, ArrayRef<int64_t>(attr.i()));
  case pb::AttributeProto::FLOATS:
    return dense(f32, attr.floats_size(),
                 ArrayRef<float>(attr.floats().data(), attr.floats_size()));
  case pb::AttributeProto::INTS:
    return dense(i64, attr.ints_size(),
                 ArrayRef<int64_t>(attr.ints().data(), attr.ints_size()));
  case pb::AttributeProto::STRING:
    return strings(std::nullopt, StringRef(attr.s()));
  case pb::AttributeProto::STRINGS:
    return strings(
        attr.strings_size(),
        SmallVector<StringRef>(attr.strings().begin(), attr.strings().end()));
  default:
    return loopc::emitError(nc.loc, Diag::BadConstant)
           << "attribute '" << attr.name() << "' holds no constant";
  }
}

LogicalResult Importer::importConstant(NodeContext &nc) {
  NodeAttr found;
  for (const pb::AttributeProto &attr : nc.node.attribute()) {
    NodeAttr value = resolve(attr, nc.frame, nc.scope);
    if (!value.proto)
      continue;
    if (found.proto)
      return loopc::emitError(nc.loc, Diag::BadConstant)
             << "a constant has one value but this one has '"
             << found.proto->name() << "' and '" << attr.name() << "'";
    found = value;
  }
  if (!found.proto)
    return loopc::emitError(nc.loc, Diag::BadConstant)
           << "a constant without a value";
  FailureOr<Value> value;
  if (found.proto->type() == pb::AttributeProto::TENSOR) {
    value = constant(found.proto->t(), nc.loc);
  } else if (found.proto->type() == pb::AttributeProto::SPARSE_TENSOR) {
    value = constant(found.proto->sparse_tensor(), nc.loc);
  } else {
    FailureOr<ElementsAttr> attr = constantValue(nc, *found.proto);
    if (failed(attr))
      return failure();
    value = constantAt(nc.loc, *attr);
  }
  if (failed(value))
    return failure();
  return defineOutputs(nc, *value);
}
