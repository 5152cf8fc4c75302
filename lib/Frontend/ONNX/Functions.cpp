//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What is replaced by other nodes: functions of the model, and operators that
// loopc has no lowering for but the onnx library a function body. And the walk
// before the import that finds all operators that loopc does not have.

#include "ContribOperators.h"
#include "ExpandByRank.h"
#include "ImporterImpl.h"
#include "loopc/Dialect/ONNX/IR/CustomOperators.h"
#include "loopc/Dialect/ONNX/IR/ProtoConversion.h"
#include "loopc/Dialect/ONNX/IR/Schema.h"
#include "loopc/Dialect/ONNX/IR/Schemas.h"
#include "onnx/defs/attr_proto_util.h"
#include "onnx/defs/tensor_proto_util.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::importer;

static constexpr unsigned kDeepest = 256;

/// True if the schema can make a body for a node under opset `opset`.
static bool hasFunctionBuilder(const pb::OpSchema &schema, int64_t opset) {
  return llvm::any_of(schema.context_dependent_function_opset_versions(),
                      [&](int64_t version) { return version <= opset; });
}

bool loopc::hasSchema(StringRef domain, StringRef opType) {
  return onnx::findSchema(domain, opType, std::numeric_limits<int>::max());
}

bool loopc::hasFunctionBody(StringRef domain, StringRef opType, int64_t since) {
  const pb::OpSchema *schema = onnx::findSchema(domain, opType, since);
  return schema && schema->since_version() == since &&
         (schema->GetFunction(static_cast<int>(since)) ||
          hasFunctionBuilder(*schema, since));
}

static std::string functionKey(StringRef domain, StringRef name,
                               StringRef overload) {
  return (normalizeDomain(domain) + "\n" + name + "\n" + overload).str();
}

const pb::FunctionProto *
Importer::findLocalFunction(const pb::NodeProto &node) {
  return localFunctions.lookup(
      functionKey(node.domain(), node.op_type(), node.overload()));
}

//===----------------------------------------------------------------------===//
// What becomes of a node
//===----------------------------------------------------------------------===//

/// The version of a domain that is not imported: the newest, which onnxruntime
/// takes, and files that were made for it leave the import out. 0 for ONNX's
/// own domain, which every model must import, and for unknown ones.
static int64_t getDefaultVersion(StringRef domain) {
  if (domain.empty())
    return 0;
  if (domain == "com.microsoft")
    return 1;
  const auto &known =
      pb::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  auto range = known.find(domain.str());
  return range == known.end() ? 0 : range->second.second;
}

FailureOr<NodeKind> Importer::classifyNode(NodeContext &nc) {
  const pb::NodeProto &node = nc.node;
  if (node.op_type().empty())
    return loopc::emitError(nc.loc, Diag::BadNode)
           << "the node does not say its operator";
  auto version = nc.frame.opsets.find(nc.domain);
  nc.opset = version == nc.frame.opsets.end() ? getDefaultVersion(nc.domain)
                                              : version->second;
  if (!nc.opset)
    return NodeKind::Unsupported;
  nc.loc = nodeLoc(nc.graphPath, nc.index, node, nc.opset);
  if (findLocalFunction(node))
    return NodeKind::LocalFunction;
  if (nc.frame.isContrib && nc.domain == kCallDomain)
    return NodeKind::GraphCall;
  if (const loopc_custom_op *custom = onnx::CustomOperators::of(&context).find(
          nc.domain, node.op_type(), nc.opset)) {
    nc.since = custom->since_version;
    return NodeKind::Lowered;
  }
  nc.schema = onnx::findSchema(nc.domain, node.op_type(), nc.opset);
  // Operators without a schema are known by the version of their domain.
  nc.since = nc.schema ? nc.schema->since_version() : nc.opset;
  bool isWithdrawn = nc.schema && nc.schema->deprecated();
  if ((!nc.schema || isWithdrawn) &&
      findContribOperator(nc.domain, node.op_type()))
    return NodeKind::ContribFunction;
  if (isWithdrawn)
    return NodeKind::Unsupported;
  if (nc.domain.empty() && nc.schema &&
      llvm::is_contained({"Constant", "If", "Loop", "Scan", "SequenceMap"},
                         StringRef(node.op_type())))
    return NodeKind::Control;
  bool lowered = options.isLowered
                     ? options.isLowered(nc.domain, node.op_type(), nc.since)
                     : nc.schema != nullptr;
  // A node cannot hold graphs: what they do becomes part of its function body.
  if (lowered && !nc.hasGraphs())
    return NodeKind::Lowered;
  if (nc.schema && nc.schema->GetFunction(static_cast<int>(nc.opset)))
    return NodeKind::SchemaFunction;
  const ContribOperator *own = findContribOperator(nc.domain, node.op_type());
  if (own && own->replacesSchema)
    return NodeKind::ContribFunction;
  if (nc.schema && hasFunctionBuilder(*nc.schema, nc.opset))
    return NodeKind::ContextFunction;
  if (own)
    return NodeKind::ContribFunction;
  return NodeKind::Unsupported;
}

/// What can be done about operators of a domain that nobody knows.
static StringRef getRemedy(StringRef domain) {
  if (domain == "com.microsoft.nchwc")
    return "onnxruntime writes its operators for one machine: use the model "
           "from before, or what its optimizer writes with "
           "graph_optimization_level ORT_ENABLE_EXTENDED";
  if (domain == "com.microsoft" || domain.starts_with("com.microsoft."))
    return "onnxruntime's optimizer and converters write its operators: use "
           "the model from before, or give the model functions of these names";
  return "a function of the model with this name would define it, or a library "
         "of custom operators";
}

/// Why the node cannot be imported, without its place: equal faults have equal
/// texts.
static std::pair<Diag, std::string> explain(const NodeContext &nc) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!nc.opset) {
    os << "domain '" << (nc.domain.empty() ? "ai.onnx" : nc.domain)
       << "' has no opset import";
    return {Diag::MissingOpset, text};
  }
  os << "operator '";
  if (!nc.domain.empty())
    os << nc.domain << "::";
  os << nc.node.op_type() << "' ";
  if (nc.schema && nc.schema->deprecated()) {
    os << "was withdrawn in opset " << nc.since << ", the model has opset "
       << nc.opset;
    return {Diag::DeprecatedOperator, text};
  }
  const auto &known =
      pb::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  if (nc.schema)
    os << "(opset " << nc.opset << ", since " << nc.since
       << ") is not supported";
  else if (known.count(nc.domain.str()))
    os << "does not exist in opset " << nc.opset;
  else if (nc.domain == "com.microsoft")
    os << "is not among those of its domain that are supported; "
       << getRemedy(nc.domain);
  else
    os << "is not supported: domain '" << nc.domain << "' is unknown; "
       << getRemedy(nc.domain);
  return {Diag::UnsupportedOperator, text};
}

void Importer::addUnsupported(const NodeContext &nc) {
  auto [diag, text] = explain(nc);
  if (std::string fault = onnx::CustomOperators::of(&context).getFault(
          nc.domain, nc.node.op_type());
      !fault.empty())
    text += ": " + fault;
  Unsupported &entry = unsupported[builder.getStringAttr(text)];
  entry.diag = diag;
  entry.places.try_emplace(nc.loc, true);
}

LogicalResult Importer::reportUnsupported() {
  constexpr size_t kMaxPlaces = 8;
  for (auto &[message, entry] : unsupported) {
    InFlightDiagnostic diag =
        loopc::emitError(entry.places.front().first, entry.diag)
        << message.getValue();
    for (auto [k, place] : llvm::enumerate(llvm::drop_begin(entry.places))) {
      if (k + 2 > kMaxPlaces) {
        diag.attachNote() << "and " << entry.places.size() - kMaxPlaces
                          << " more";
        break;
      }
      diag.attachNote(place.first) << "and here";
    }
  }
  bool found = !unsupported.empty();
  unsupported.clear();
  return failure(found);
}

//===----------------------------------------------------------------------===//
// The walk before the import
//===----------------------------------------------------------------------===//

LogicalResult Importer::scanModel() {
  const pb::ModelProto &proto = model->proto;
  Location loc = pathLoc("main");
  Frame frame;
  if (failed(readOpsets(proto.opset_import(), loc, frame.opsets)))
    return failure();
  if (frame.opsets.empty() && proto.ir_version() < 3)
    frame.opsets[""] = 1;
  for (const pb::FunctionProto &fn : proto.functions())
    if (!localFunctions
             .try_emplace(functionKey(fn.domain(), fn.name(), fn.overload()),
                          &fn)
             .second)
      return loopc::emitError(loc, Diag::DuplicateName)
             << "the model has two functions '" << fn.domain()
             << "::" << fn.name() << "'";
  uint64_t count = 0;
  if (failed(scanNodes(proto.graph().node(), frame, "main", 0, count)))
    return failure();
  return reportUnsupported();
}

LogicalResult Importer::scanNodes(const NodeList &nodes, Frame &frame,
                                  StringRef path, unsigned level,
                                  uint64_t &count) {
  Scope nowhere(nullptr);
  for (auto [index, node] : llvm::enumerate(nodes)) {
    NodeContext nc{node,
                   frame,
                   nowhere,
                   path.str(),
                   static_cast<unsigned>(index),
                   normalizeDomain(node.domain()),
                   0,
                   0,
                   nullptr,
                   nodeLoc(path, index, node, std::nullopt)};
    if (level > kDeepest)
      return loopc::emitError(nc.loc, Diag::ModelTooDeep)
             << "graphs and functions are nested more than " << kDeepest
             << " deep";
    FailureOr<NodeKind> kind = classifyNode(nc);
    if (failed(kind))
      return failure();
    LogicalResult result = success();
    if (*kind == NodeKind::Unsupported)
      addUnsupported(nc);
    else if (*kind == NodeKind::LocalFunction)
      result = scanFunction(nc, *findLocalFunction(node), /*isLocal=*/true,
                            level, count);
    else if (*kind == NodeKind::SchemaFunction)
      result =
          scanFunction(nc, *nc.schema->GetFunction(static_cast<int>(nc.opset)),
                       /*isLocal=*/false, level, count);
    if (failed(result))
      return failure();
    // Reported at the node of the main graph, or of one within it, that is one
    // too many, not somewhere in a function.
    count = llvm::SaturatingAdd(count, uint64_t(1));
    if (count > kMaxNodes && active.empty())
      return loopc::emitError(nc.loc, Diag::ModelTooDeep)
             << "the model expands to " << count
             << " nodes with what this one calls, more than " << kMaxNodes;
    for (const pb::AttributeProto &attr : node.attribute())
      if (attr.has_g() && failed(scanNodes(attr.g().node(), frame,
                                           nc.innerPath() + "/" + attr.name(),
                                           level + 1, count)))
        return failure();
  }
  return success();
}

LogicalResult Importer::scanFunction(NodeContext &nc,
                                     const pb::FunctionProto &fn, bool isLocal,
                                     unsigned level, uint64_t &count) {
  if (active.contains(&fn)) {
    std::string cycle;
    for (const pb::FunctionProto *caller : active)
      if (!cycle.empty() || caller == &fn)
        cycle += "'" + caller->name() + "' -> ";
    return loopc::emitError(nc.loc, Diag::RecursiveFunction)
           << "function calls itself: " << cycle << "'" << fn.name() << "'";
  }
  // What a schema's body may hold depends on the caller's opsets only where it
  // imports none itself; operators that are missing are found at one call.
  if (auto known = scanned.find(&fn); known != scanned.end()) {
    count = llvm::SaturatingAdd(count, known->second);
    return success();
  }
  Frame frame;
  if (failed(readFunctionOpsets(nc, fn, isLocal, frame)))
    return failure();
  active.insert(&fn);
  uint64_t own = 0;
  LogicalResult result =
      scanNodes(fn.node(), frame, nc.innerPath(), level + 1, own);
  active.pop_back();
  scanned.try_emplace(&fn, own);
  count = llvm::SaturatingAdd(count, own);
  return result;
}

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

LogicalResult Importer::readFunctionOpsets(NodeContext &nc,
                                           const pb::FunctionProto &fn,
                                           bool isLocal, Frame &frame) {
  if (failed(readOpsets(fn.opset_import(), nc.loc, frame.opsets)))
    return failure();
  // The bodies of schemas do not import what they are themselves part of.
  if (!isLocal)
    for (const auto &import : nc.frame.opsets)
      frame.opsets.try_emplace(import.getKey(), import.getValue());
  return success();
}

LogicalResult Importer::makeFunctionFrame(NodeContext &nc,
                                          const pb::FunctionProto &fn,
                                          bool isLocal, Frame &frame) {
  if (failed(readFunctionOpsets(nc, fn, isLocal, frame)))
    return failure();
  frame.isSchemas = !isLocal;
  frame.isContrib = isLocal && findLocalFunction(nc.node) != &fn;
  for (const pb::AttributeProto &attr : fn.attribute_proto()) {
    frame.attributes[attr.name()] = {&attr, &nc.frame, &nc.scope};
    frame.parameters.insert(attr.name());
  }
  if (nc.schema)
    for (const auto &[name, attr] : nc.schema->attributes())
      if (attr.default_value.type() != pb::AttributeProto::UNDEFINED)
        frame.attributes[name] = {&attr.default_value, &nc.frame, &nc.scope};
  for (const std::string &name : fn.attribute())
    frame.parameters.insert(name);
  for (const pb::AttributeProto &attr : nc.node.attribute()) {
    NodeAttr value = resolve(attr, nc.frame, nc.scope);
    if (!value.proto)
      continue;
    if (isLocal && !frame.parameters.contains(attr.name()) &&
        !frame.attributes.contains(attr.name()))
      return loopc::emitError(nc.loc, Diag::BadAttribute)
             << "attribute '" << attr.name() << "' does not exist in function '"
             << fn.name() << "'";
    frame.attributes[attr.name()] = value;
  }
  return success();
}

LogicalResult Importer::expandFunction(NodeContext &nc,
                                       const pb::FunctionProto &fn,
                                       bool isLocal) {
  if (depth >= kDeepest)
    return loopc::emitError(nc.loc, Diag::ModelTooDeep)
           << "functions are nested more than " << kDeepest << " deep";
  Frame frame;
  if (!isLocal && failed(checkAttributes(nc)))
    return failure();
  if (failed(makeFunctionFrame(nc, fn, isLocal, frame)))
    return failure();
  SmallVector<Value> inputs;
  if (failed(lookupInputs(nc, inputs)))
    return failure();
  auto count = [&](size_t given, size_t known, StringRef what) {
    return loopc::emitError(nc.loc, Diag::BadFunction)
           << "the node has " << given << " " << what << " but function '"
           << fn.name() << "' has " << known;
  };
  if (inputs.size() > static_cast<size_t>(fn.input_size()))
    return count(inputs.size(), fn.input_size(), "inputs");
  if (nc.node.output_size() > fn.output_size())
    return count(nc.node.output_size(), fn.output_size(), "outputs");
  inputs.resize(fn.input_size());
  bool seesCaller = !isLocal && nc.hasGraphs();
  Scope scope(seesCaller ? &nc.scope : nullptr);
  scope.mayRepeat = seesCaller;
  for (auto [name, value] : llvm::zip(fn.input(), inputs))
    if (!scope.values.try_emplace(name, value).second)
      return loopc::emitError(nc.loc, Diag::DuplicateName)
             << "function '" << fn.name() << "' has two inputs '" << name
             << "'";
  ++depth;
  LogicalResult imported = importNodes(fn.node(), frame, scope, nc.innerPath());
  --depth;
  if (failed(imported))
    return failure();
  for (auto [k, name] : llvm::enumerate(nc.node.output())) {
    if (name.empty())
      continue;
    FailureOr<Value> value =
        lookup(scope, fn.output(k), nc.loc,
               "output #" + Twine(k) + " of function '" + fn.name() + "'");
    if (failed(value))
      return failure();
    if (!*value)
      return loopc::emitError(nc.loc, Diag::BadFunction)
             << "output #" << k << " of function '" << fn.name()
             << "' is an input that was left out";
    if (failed(define(nc, name, *value)))
      return failure();
  }
  return success();
}

/// Gives each Squeeze that names no axes the axes `axes`.
template <typename Nodes>
static void nameSqueezedAxes(Nodes &nodes, StringRef axes) {
  for (pb::NodeProto &node : nodes) {
    if (node.op_type() == "Squeeze" && node.input_size() == 1)
      node.add_input(axes.str());
    for (pb::AttributeProto &attr : *node.mutable_attribute())
      if (attr.has_g())
        nameSqueezedAxes(*attr.mutable_g()->mutable_node(), axes);
  }
}

LogicalResult Importer::expandSchemaFunction(NodeContext &nc) {
  const pb::FunctionProto &fn =
      *nc.schema->GetFunction(static_cast<int>(nc.opset));
  if (nc.node.op_type() != "AffineGrid")
    return expandFunction(nc, fn, /*isLocal=*/false);
  // ONNX's body drops the row of [N, 1, 3] by a Squeeze without axes, which
  // drops the batch, too, where there is one matrix.
  pb::FunctionProto &mended = model->built.emplace_back(fn);
  nameSqueezedAxes(*mended.mutable_node(), "one_1d");
  return expandFunction(nc, mended, /*isLocal=*/false);
}

pb::NodeProto Importer::standAlone(NodeContext &nc, ArrayRef<Value> inputs) {
  pb::NodeProto node = nc.node;
  node.clear_attribute();
  for (const pb::AttributeProto &attr : nc.node.attribute())
    if (NodeAttr value = resolve(attr, nc.frame, nc.scope); value.proto) {
      *node.add_attribute() = *value.proto;
      node.mutable_attribute()->rbegin()->set_name(attr.name());
    }
  for (auto [k, value] : llvm::enumerate(inputs))
    if (!value)
      node.set_input(k, "");
  return node;
}

LogicalResult Importer::refuseExpansion(NodeContext &nc, StringRef reason) {
  InFlightDiagnostic diag =
      loopc::emitError(nc.loc, Diag::UnsupportedOperator)
      << "operator '" << nc.node.op_type()
      << "' is defined by other operators, but not for these inputs and "
         "attributes";
  if (!reason.empty())
    diag.attachNote() << reason;
  return diag;
}

/// True if `node` yields extents, none of which stands for another: those of a
/// value, or constants above 0.
static bool yieldsExtents(const pb::NodeProto *node) {
  if (!node || node->op_type() == "Shape")
    return node;
  if (node->op_type() != "Constant" || node->attribute_size() != 1)
    return false;
  const pb::AttributeProto &value = node->attribute(0);
  auto arePositive = [](const auto &extents) {
    return llvm::all_of(extents, [](int64_t extent) { return extent > 0; });
  };
  if (value.type() == pb::AttributeProto::INTS)
    return arePositive(value.ints());
  return value.t().data_type() == pb::TensorProto::INT64 &&
         arePositive(pb::ParseData<int64_t>(&value.t()));
}

/// What makes each value, in a function's body.
using Producers = llvm::StringMap<const pb::NodeProto *>;

/// As keepEmptyAxes(), for `nodes` and their graphs.
static void
keepEmptyAxes(google::protobuf::RepeatedPtrField<pb::NodeProto> &nodes,
              Producers &producers) {
  for (pb::NodeProto &node : nodes) {
    for (pb::AttributeProto &attribute : *node.mutable_attribute())
      if (attribute.has_g())
        keepEmptyAxes(*attribute.mutable_g()->mutable_node(), producers);
    const pb::NodeProto *shape =
        node.op_type() == "Reshape" && node.attribute_size() == 0
            ? producers.lookup(node.input(1))
            : nullptr;
    if (shape && shape->op_type() == "Concat" &&
        llvm::all_of(shape->input(), [&](const std::string &name) {
          return yieldsExtents(producers.lookup(name));
        }))
      *node.add_attribute() = pb::MakeAttribute("allowzero", int64_t(1));
    for (const std::string &name : node.output())
      producers[name] = &node;
  }
}

/// Bodies of functions put together what a Reshape makes of extents. One of 0
/// is meant, and not the operand's own on the axis of that number, which it is
/// without `allowzero`: attention to no keys would be an error.
static void keepEmptyAxes(pb::FunctionProto &fn) {
  constexpr int64_t kAllowZero = 14;
  Producers producers;
  if (llvm::all_of(fn.opset_import(), [](const pb::OperatorSetIdProto &opset) {
        return !opset.domain().empty() || opset.version() >= kAllowZero;
      }))
    keepEmptyAxes(*fn.mutable_node(), producers);
}

LogicalResult Importer::expandContextFunction(NodeContext &nc) {
  auto build = [&](const pb::NodeProto &node, ArrayRef<Type> given,
                   pb::FunctionProto &fn, std::string &reason) {
    std::vector<pb::TypeProto> types;
    for (Type type : given) {
      types.emplace_back();
      if (type)
        onnx::exportType(type, types.back());
    }
    try {
      pb::FunctionBodyBuildContextImpl buildContext(node, types);
      return nc.schema->BuildContextDependentFunction(
          buildContext, fn, static_cast<int>(nc.opset));
    } catch (const std::bad_alloc &) {
      throw;
    } catch (const std::exception &error) {
      reason = error.what();
    }
    return false;
  };
  return expandBuilt(nc, build, /*isLocal=*/false);
}

/// Expands a node by the function that `build` writes for the inputs' types, or
/// for those of the ranks that a run tells.
LogicalResult Importer::expandBuilt(NodeContext &nc, BuildFunction build,
                                    bool isLocal) {
  if (failed(checkAttributes(nc)))
    return failure();
  SmallVector<Value> inputs;
  if (failed(lookupInputs(nc, inputs)))
    return failure();
  pb::NodeProto node = standAlone(nc, inputs);
  std::string reason;
  SmallVector<Type> types;
  for (Value value : inputs)
    types.push_back(value ? value.getType() : Type());
  pb::FunctionProto &fn = model->built.emplace_back();
  if (build(node, types, fn, reason)) {
    keepEmptyAxes(fn);
    return expandFunction(nc, fn, isLocal);
  }
  std::string why = reason;
  fn.Clear();
  auto canExpand = [&](ArrayRef<Type> other) {
    pb::FunctionProto tried;
    return build(node, other, tried, reason);
  };
  if (writeByRank(node, nc.opset, types, canExpand, fn))
    return expandFunction(nc, fn, isLocal);
  return refuseExpansion(nc, why);
}

LogicalResult Importer::expandContribFunction(NodeContext &nc) {
  auto build = [&](const pb::NodeProto &node, ArrayRef<Type> types,
                   pb::FunctionProto &fn, std::string &reason) {
    return buildContribFunction(*findContribOperator(nc.domain, node.op_type()),
                                ContribCall(node, types), fn, reason);
  };
  return expandBuilt(nc, build, /*isLocal=*/true);
}
