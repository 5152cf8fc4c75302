//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Loop, If and SequenceMap, and what all nodes with bodies share.

#include "DeclaredResults.h"
#include "ImporterImpl.h"
#include "loopc/Dialect/ONNX/IR/ProtoConversion.h"
#include "loopc/Dialect/ONNX/IR/Schema.h"
#include "loopc/Support/Messages.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "onnx/defs/data_type_utils.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::importer;
using loopc::onnx::joinTypes;
using loopc::onnx::OptionalType;
using loopc::onnx::SeqType;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type importer::forgetShape(Type type) {
  if (auto tensor = dyn_cast<TensorType>(type))
    return UnrankedTensorType::get(tensor.getElementType());
  if (auto seq = dyn_cast<SeqType>(type))
    return SeqType::get(forgetShape(seq.getElementType()));
  if (auto optional = dyn_cast<OptionalType>(type))
    return OptionalType::get(forgetShape(optional.getElementType()));
  return type;
}

bool importer::sameButShape(Type a, Type b) {
  return forgetShape(a) == forgetShape(b);
}

Type Importer::declaredType(const pb::ValueInfoProto &info) {
  return onnx::importType(&context, info.type());
}

LogicalResult Importer::checkDeclared(NodeContext &nc, StringRef body,
                                      const pb::ValueInfoProto &info,
                                      unsigned index, Type type) {
  // name_declared: shapes are hints, element types and kinds are not.
  Type declared = declaredType(info);
  if (!declared || sameButShape(declared, type))
    return success();
  return loopc::emitError(nc.loc, Diag::BodyInputType)
         << body << ": input #" << index << " '" << info.name()
         << "' is declared as " << declared << " but gets " << type;
}

LogicalResult Importer::checkVersionAllows(NodeContext &nc, Type type,
                                           const Twine &what) {
  pb::TypeProto proto;
  if (!onnx::exportType(type, proto))
    return success();
  const auto &allowed = nc.schema->outputs().front().GetTypes();
  if (allowed.count(pb::Utils::DataTypeUtils::ToType(proto)))
    return success();
  return loopc::emitError(nc.loc, Diag::TypeNotInVersion)
         << what << " has type " << type << ", which version " << nc.since
         << " of '" << nc.node.op_type() << "' does not have";
}

//===----------------------------------------------------------------------===//
// Run-time checks
//===----------------------------------------------------------------------===//

void Importer::check(NodeContext &nc, Value condition, const Twine &message,
                     ValueRange values) {
  std::string place = loopc::getLocationText(nc.loc);
  StringRef path = place;
  path.consume_front(model->path + ": ");
  std::string text = (escapeHoles(path) + ": " + message).str();
  loop::CheckOp::create(builder, nc.loc, condition, text, values, Value());
}

FailureOr<Value> Importer::oneElement(NodeContext &nc, Value value,
                                      Type elementType, Diag diag,
                                      StringRef what) {
  auto fail = [&]() {
    return loopc::emitError(nc.loc, diag)
           << what << " has type " << value.getType() << " but must have one "
           << elementType << " element";
  };
  auto type = dyn_cast<TensorType>(value.getType());
  if (!type || type.getElementType() != elementType)
    return fail();
  std::string message = (what + " must have one element but has {}").str();
  auto constantIndex = [&](int64_t n) -> Value {
    return arith::ConstantIndexOp::create(builder, nc.loc, n);
  };
  auto isOne = [&](Value count, Value one) -> Value {
    return arith::CmpIOp::create(builder, nc.loc, arith::CmpIPredicate::eq,
                                 count, one);
  };
  if (!type.hasRank()) {
    // Size and Reshape work on any rank.
    FailureOr<Value> size = makeNode(nc, "Size", value);
    if (failed(size))
      return failure();
    Value count = tensor::ExtractOp::create(builder, nc.loc, *size);
    Value one = arith::ConstantIntOp::create(builder, nc.loc, 1, 64);
    check(nc, isOne(count, one), message, count);
    Value shape =
        constantAt(nc.loc, cast<ElementsAttr>(Attribute(DenseElementsAttr::get(
                               RankedTensorType::get({0}, builder.getI64Type()),
                               ArrayRef<int64_t>()))));
    FailureOr<Value> scalar = makeNode(nc, "Reshape", {value, shape});
    if (failed(scalar))
      return failure();
    scalar->setType(RankedTensorType::get({}, elementType));
    return Value(tensor::ExtractOp::create(builder, nc.loc, *scalar));
  }
  Value count;
  for (auto [k, size] : llvm::enumerate(type.getShape())) {
    if (ShapedType::isStatic(size) && size != 1)
      return fail();
    if (ShapedType::isStatic(size))
      continue;
    Value dim = tensor::DimOp::create(builder, nc.loc, value, k);
    count = count ? arith::MulIOp::create(builder, nc.loc, count, dim) : dim;
  }
  if (count)
    check(nc, isOne(count, constantIndex(1)), message, count);
  SmallVector<Value> zeros;
  if (type.getRank())
    zeros.assign(type.getRank(), constantIndex(0));
  return Value(tensor::ExtractOp::create(builder, nc.loc, value, zeros));
}

FailureOr<Value> Importer::oneElementTensor(NodeContext &nc, Value value,
                                            RankedTensorType type, Diag diag,
                                            StringRef what) {
  if (value.getType() == type)
    return value;
  FailureOr<Value> scalar =
      oneElement(nc, value, type.getElementType(), diag, what);
  if (failed(scalar))
    return failure();
  return Value(tensor::FromElementsOp::create(builder, nc.loc, type, *scalar));
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

LogicalResult Importer::importGraph(NodeContext &nc,
                                    const pb::GraphProto &graph,
                                    const NodeAttr &attr, StringRef name,
                                    ValueRange inputs,
                                    SmallVectorImpl<Value> &outputs) {
  std::string path = nc.innerPath() + "/" + name.str();
  Scope scope(attr.scope, &graph);
  // name_order: inputs are matched by order; they may shadow (name_shadow).
  for (auto [info, value] : llvm::zip_equal(graph.input(), inputs))
    if (!info.name().empty() &&
        !scope.values.try_emplace(info.name(), value).second)
      return loopc::emitError(nc.loc, Diag::DuplicateName)
             << name << " has two inputs '" << info.name() << "'";
  if (failed(addInitializers(graph, scope, /*inputsWin=*/true, nc.loc)) ||
      failed(importNodes(graph.node(), *attr.frame, scope, path)))
    return failure();
  for (auto [k, info] : llvm::enumerate(graph.output())) {
    // name_direct: an outer value, an input or an initializer will do.
    std::string what = ("output #" + Twine(k)).str();
    FailureOr<Value> value = lookup(scope, info.name(), pathLoc(path), what);
    if (failed(value))
      return failure();
    if (!*value)
      return loopc::emitError(pathLoc(path), Diag::UnknownValue)
             << what << " '" << info.name() << "' has no value";
    Type declared = declaredType(info);
    if (declared && isa<TensorType>(declared) &&
        isa<TensorType>(value->getType()) &&
        !sameButShape(declared, value->getType()))
      return loopc::emitError(pathLoc(path), Diag::BadPort)
             << what << " '" << info.name() << "' is declared as " << declared
             << " but is " << value->getType();
    outputs.push_back(*value);
  }
  return success();
}

LogicalResult Importer::importBody(
    NodeContext &nc, const pb::GraphProto &graph, const NodeAttr &attr,
    StringRef name, TypeRange arguments, Region &region,
    llvm::function_ref<LogicalResult(SmallVectorImpl<Value> &)> finish) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> locs(arguments.size(), nc.loc);
  Block *block = builder.createBlock(&region, {}, arguments, locs);
  SmallVector<Value> outputs;
  if (failed(
          importGraph(nc, graph, attr, name, block->getArguments(), outputs)))
    return failure();
  return finish(outputs);
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

/// A Loop on its way in.
struct Importer::LoopParts {
  const pb::GraphProto *graph = nullptr;
  NodeAttr attr;
  Value trips, condition;
  SmallVector<Value> inits;
  RankedTensorType counterType, conditionType;
  /// Types of the carried values, and whether the body yields an element that
  /// is made an optional.
  SmallVector<Type> carried;
  SmallVector<bool> wrapped;
  SmallVector<Type> collected;
  std::unique_ptr<Region> region;

  unsigned numCarried() const { return inits.size(); }
};

/// The type of the iteration number or the condition: as the body declares,
/// else as `outer` is, else of rank 0 (loop_args).
static RankedTensorType scalarType(Type declared, Value outer, Type element) {
  for (Type type : {declared, outer ? outer.getType() : Type()}) {
    auto ranked = dyn_cast_or_null<RankedTensorType>(type);
    if (!ranked)
      continue;
    if (ranked.getRank() == 0)
      break;
    if (ranked.getRank() == 1 &&
        (ranked.isDynamicDim(0) || ranked.getDimSize(0) == 1))
      return RankedTensorType::get({1}, element);
  }
  return RankedTensorType::get({}, element);
}

LogicalResult Importer::readLoop(NodeContext &nc, LoopParts &parts) {
  // loop_arity
  SmallVector<Value> inputs;
  auto arity = [&](int has, int least, StringRef what) {
    return loopc::emitError(nc.loc, Diag::LoopArity)
           << "version " << nc.since << " of 'Loop' has at least " << least
           << " " << what << " but the node has " << has;
  };
  int leastInputs = nc.schema->min_input();
  if (nc.node.input_size() < leastInputs)
    return arity(nc.node.input_size(), leastInputs, "inputs");
  if (nc.node.output_size() < nc.schema->min_output())
    return arity(nc.node.output_size(), nc.schema->min_output(), "outputs");
  FailureOr<const pb::GraphProto *> graph = getGraph(nc, "body", parts.attr);
  if (failed(graph) || failed(lookupInputs(nc, inputs)))
    return failure();
  parts.graph = *graph;
  inputs.resize(std::max<size_t>(inputs.size(), 2));
  for (auto [k, init] : llvm::enumerate(ArrayRef(inputs).drop_front(2))) {
    if (!init)
      return loopc::emitError(nc.loc, Diag::LoopArity)
             << "input #" << k + 2 << ", carried value #" << k
             << ", is left out";
    parts.inits.push_back(init);
  }
  // loop_args, loop_yield
  int numInputs = parts.graph->input_size();
  int numOutputs = parts.graph->output_size();
  int carried = parts.numCarried();
  if (numInputs != 2 + carried)
    return loopc::emitError(nc.loc, Diag::BodyArguments)
           << "body has " << numInputs << " inputs, expected " << 2 + carried
           << ": the iteration number, the condition and " << carried
           << " carried values";
  if (numOutputs < 1 + carried)
    return loopc::emitError(nc.loc, Diag::BodyYields)
           << "body has " << numOutputs << " outputs, expected at least "
           << 1 + carried << ": the condition and " << carried
           << " carried values";
  // Checked before the body is: one with other numbers fits nothing.
  if (nc.node.output_size() > numOutputs - 1)
    return loopc::emitError(nc.loc, Diag::ExtraOutput)
           << "the node has " << nc.node.output_size()
           << " outputs but the body gives " << carried << " carried and "
           << numOutputs - 1 - carried << " collected values"; // name_outputs
  parts.trips = inputs[0];
  parts.condition = inputs[1];
  return readLoopBounds(nc, parts);
}

LogicalResult Importer::readLoopBounds(NodeContext &nc, LoopParts &parts) {
  Type i64 = builder.getI64Type(), i1 = builder.getI1Type();
  Type declaredCounter = declaredType(parts.graph->input(0));
  Type declaredCondition = declaredType(parts.graph->input(1));
  parts.counterType = scalarType(declaredCounter, parts.trips, i64);
  parts.conditionType = scalarType(declaredCondition, parts.condition, i1);
  if (failed(checkDeclared(nc, "body", parts.graph->input(0), 0,
                           parts.counterType)) ||
      failed(checkDeclared(nc, "body", parts.graph->input(1), 1,
                           parts.conditionType)))
    return failure();
  // loop_m: what is one element for certain stays as it is.
  if (parts.trips) {
    auto ranked = dyn_cast<RankedTensorType>(parts.trips.getType());
    bool asIs = ranked && ranked.getElementType() == i64 &&
                ranked.hasStaticShape() && ranked.getNumElements() == 1;
    FailureOr<Value> trips =
        asIs ? FailureOr<Value>(parts.trips)
             : oneElementTensor(nc, parts.trips, RankedTensorType::get({}, i64),
                                Diag::TripCount, "trip count");
    if (failed(trips))
      return failure();
    parts.trips = *trips;
  }
  // In onnxruntime the body's condition counts where there is none outside.
  if (!parts.condition && parts.trips && options.ortCompat)
    parts.condition =
        constantAt(nc.loc, cast<ElementsAttr>(Attribute(DenseElementsAttr::get(
                               RankedTensorType::get({}, i1), true))));
  if (!parts.condition)
    return success();
  // loop_cond
  FailureOr<Value> condition =
      oneElementTensor(nc, parts.condition, parts.conditionType,
                       Diag::LoopCondition, "condition");
  if (failed(condition))
    return failure();
  parts.condition = *condition;
  return success();
}

/// The type that a carried value must have so that `yielded` fits, too; null
/// where there is none. `wrap`: an element is yielded where the argument is an
/// optional.
static Type joinCarried(Type argument, Type yielded, bool &wrap) {
  auto asOptional = [](Type element) -> Type {
    return element ? OptionalType::get(element) : Type();
  };
  auto argumentOptional = dyn_cast<OptionalType>(argument);
  auto yieldedOptional = dyn_cast<OptionalType>(yielded);
  wrap = argumentOptional && !yieldedOptional;
  if (wrap)
    return asOptional(joinTypes(argumentOptional.getElementType(), yielded));
  if (!argumentOptional && yieldedOptional)
    return asOptional(joinTypes(argument, yieldedOptional.getElementType()));
  return joinTypes(argument, yielded);
}

LogicalResult Importer::finishLoopBody(NodeContext &nc, LoopParts &parts,
                                       ArrayRef<Value> outputs,
                                       SmallVectorImpl<Type> &next) {
  unsigned carried = parts.numCarried();
  for (unsigned k = 0; k < carried; ++k) {
    Type yielded = outputs[1 + k].getType();
    bool wrap;
    Type joined = joinCarried(parts.carried[k], yielded, wrap);
    parts.wrapped[k] = wrap;
    if (!joined)
      return loopc::emitError(nc.loc, Diag::CarriedType)
             << "carried value #" << k << " '"
             << parts.graph->input(2 + k).name() << "': init has type "
             << parts.inits[k].getType() << " but the body yields " << yielded;
    next.push_back(joined);
  }
  for (auto [k, value] : llvm::enumerate(outputs.drop_front(1 + carried)))
    if (!isa<TensorType>(value.getType()))
      return loopc::emitError(nc.loc, Diag::CollectedType)
             << "collected value #" << k << " '"
             << parts.graph->output(1 + carried + k).name() << "' has type "
             << value.getType() << " but must be a tensor";
  if (ArrayRef(next) != ArrayRef(parts.carried))
    return success();
  FailureOr<Value> condition =
      oneElementTensor(nc, outputs[0], parts.conditionType, Diag::LoopCondition,
                       "condition that the body yields");
  if (failed(condition))
    return failure();
  SmallVector<Value> yields;
  for (unsigned k = 0; k < carried; ++k) {
    FailureOr<Value> value = outputs[1 + k];
    if (parts.wrapped[k]) // loop_carried_optional
      value = makeNode(nc, "Optional", *value);
    if (failed(value))
      return failure();
    yields.push_back(castTo(nc.loc, *value, parts.carried[k]));
  }
  loop::YieldOp::create(builder, nc.loc, *condition, yields,
                        outputs.drop_front(1 + carried));
  parts.collected.assign(outputs.drop_front(1 + carried).size(), Type());
  for (auto [type, value] :
       llvm::zip(parts.collected, outputs.drop_front(1 + carried)))
    type = value.getType();
  return success();
}

/// Imports the body with the inits' types, and again with looser ones, until
/// the types of what it yields are those of its arguments (loop_carried). Where
/// it fails with tight types it may still be right: what is wrong with the
/// shapes of the first iteration may stand in a branch that is not taken.
LogicalResult Importer::settleLoopTypes(NodeContext &nc, LoopParts &parts) {
  for (auto [k, init] : llvm::enumerate(parts.inits)) {
    const pb::ValueInfoProto &info = parts.graph->input(2 + k);
    Type type = init.getType();
    // loop_carried_optional: an element becomes an optional.
    if (isa_and_nonnull<OptionalType>(declaredType(info)) &&
        !isa<OptionalType>(type))
      type = OptionalType::get(type);
    if (failed(checkDeclared(nc, "body", info, 2 + k, type)))
      return failure();
    parts.carried.push_back(type);
  }
  parts.wrapped.assign(parts.numCarried(), false);
  auto import = [&](ArrayRef<Type> carried, SmallVectorImpl<Type> &next) {
    parts.carried.assign(carried.begin(), carried.end());
    SmallVector<Type> arguments{parts.counterType, parts.conditionType};
    llvm::append_range(arguments, carried);
    // Values of an earlier round are gone, and what was known of them.
    cache.emplace();
    parts.region = std::make_unique<Region>();
    // Whether there is a first iteration is found by onnx-infer-types.
    ++conditionalDepth;
    llvm::scope_exit left([&] { --conditionalDepth; });
    return importBody(nc, *parts.graph, parts.attr, "body", arguments,
                      *parts.region, [&](SmallVectorImpl<Value> &outputs) {
                        return finishLoopBody(nc, parts, outputs, next);
                      });
  };
  SmallVector<Type> known = settledTypes.lookup(nc.loc), types = parts.carried;
  LogicalResult settled =
      settleTypes(types, {&context, known, forgetShape}, import);
  settledTypes[nc.loc] = types;
  return settled;
}

LogicalResult Importer::buildLoop(NodeContext &nc, LoopParts &parts) {
  loop::LoopSignature signature;
  signature.counterType = parts.region->getArgument(0).getType();
  signature.conditionType = parts.region->getArgument(1).getType();
  signature.tripCount = parts.trips;
  signature.condition = parts.condition;
  signature.sinceVersion = nc.since;
  for (auto [value, type] : llvm::zip(parts.inits, parts.carried)) {
    FailureOr<Value> init = value;
    if (isa<OptionalType>(type) && !isa<OptionalType>(value.getType()))
      init = makeNode(nc, "Optional", value); // loop_carried_optional
    if (failed(init))
      return failure();
    signature.inits.push_back(castTo(nc.loc, *init, type));
  }
  for (Type type : parts.collected) {
    auto ranked = dyn_cast<RankedTensorType>(type);
    if (!ranked) {
      signature.collected.push_back({type});
      continue;
    }
    SmallVector<int64_t> shape{ShapedType::kDynamic};
    llvm::append_range(shape, ranked.getShape());
    signature.collected.push_back({ranked.clone(shape)});
  }
  auto op = loop::LoopOp::create(builder, nc.loc, signature);
  op.getBody().takeBody(*parts.region);
  noteDeclaredResults(nc, op, parts.numCarried(), op.getCollectAxes(),
                      *parts.graph, 1 + parts.numCarried());
  SmallVector<Value> values(op.getResults());
  for (unsigned k = 0; k < parts.numCarried(); ++k) {
    bool used = static_cast<int>(k) < nc.node.output_size() &&
                !nc.node.output(k).empty();
    if (!parts.wrapped[k] || !used)
      continue;
    // loop_carried_optional: the result is what the body yields; that there is
    // none after zero trips is an error of the run.
    FailureOr<Value> element = makeNode(nc, "OptionalGetElement", values[k]);
    if (failed(element))
      return failure();
    values[k] = *element;
  }
  return defineOutputs(nc, values);
}

/// Whether `value` is true wherever `argument` is: it is that, a constant, or
/// a copy of one.
static bool isTrueWith(Value value, Value argument) {
  for (Operation *def = value.getDefiningOp(); def;
       def = value.getDefiningOp()) {
    auto node = dyn_cast<loopc::onnx::NodeOp>(def);
    if (!isa<tensor::CastOp>(def) && !(node && node.getOpType() == "Identity"))
      break;
    value = def->getOperand(0);
  }
  DenseElementsAttr constant;
  return value == argument ||
         (matchPattern(value, m_Constant(&constant)) && constant.isSplat() &&
          constant.getSplatValue<bool>());
}

void Importer::warnOfIgnoredConditions() {
  module->walk([](loop::LoopOp op) {
    if (op.getCondition() || !op.getTripCount() ||
        isTrueWith(op.getYield().getCondition(), op.getConditionArg()))
      return;
    loopc::emitWarning(op.getLoc(), Diag::ConditionIgnored)
        << "the body's condition has no effect: a Loop with a trip count and "
           "without a condition runs that many times. onnxruntime stops where "
           "the body yields false; so does loopc with --ort-compat (ort_compat "
           "in Python), or if the Loop's condition input is true";
  });
}

LogicalResult Importer::importLoop(NodeContext &nc) {
  LoopParts parts;
  return failure(failed(readLoop(nc, parts)) ||
                 failed(settleLoopTypes(nc, parts)) ||
                 failed(buildLoop(nc, parts)));
}

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

LogicalResult Importer::importIf(NodeContext &nc) {
  SmallVector<Value> inputs;
  if (failed(lookupInputs(nc, inputs)))
    return failure();
  if (inputs.size() != 1 || !inputs[0])
    return loopc::emitError(nc.loc, Diag::BadNode)
           << "'If' has one input, its condition";
  // if_cond
  FailureOr<Value> condition = oneElement(nc, inputs[0], builder.getI1Type(),
                                          Diag::LoopCondition, "condition");
  if (failed(condition))
    return failure();
  StringRef names[] = {"then_branch", "else_branch"};
  Region regions[2];
  SmallVector<Value> outputs[2];
  for (unsigned k : {0, 1}) {
    NodeAttr attr;
    FailureOr<const pb::GraphProto *> graph = getGraph(nc, names[k], attr);
    if (failed(graph))
      return failure();
    if ((*graph)->input_size())
      return loopc::emitError(nc.loc, Diag::BodyArguments)
             << names[k] << " has " << (*graph)->input_size()
             << " inputs, expected none";
    ++conditionalDepth;
    LogicalResult imported =
        importBody(nc, **graph, attr, names[k], {}, regions[k],
                   [&](SmallVectorImpl<Value> &values) {
                     outputs[k].assign(values.begin(), values.end());
                     return success();
                   });
    --conditionalDepth;
    if (failed(imported))
      return failure();
  }
  if (outputs[0].size() != outputs[1].size())
    return loopc::emitError(nc.loc, Diag::BodyYields)
           << "then_branch has " << outputs[0].size()
           << " outputs but else_branch has " << outputs[1].size();
  // if_types: shapes and ranks may differ, element types and kinds may not.
  SmallVector<Type> types;
  for (auto [k, a, b] : llvm::enumerate(outputs[0], outputs[1])) {
    Type joined = joinTypes(a.getType(), b.getType());
    if (!joined)
      return loopc::emitError(nc.loc, Diag::BranchType)
             << "output #" << k << ": then_branch returns " << a.getType()
             << " but else_branch returns " << b.getType();
    if (failed(checkVersionAllows(nc, joined, "output #" + Twine(k))))
      return failure();
    types.push_back(joined);
  }
  for (unsigned k : {0, 1}) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&regions[k].front());
    for (auto [value, type] : llvm::zip(outputs[k], types))
      value = castTo(nc.loc, value, type);
    scf::YieldOp::create(builder, nc.loc, outputs[k]);
  }
  auto op = scf::IfOp::create(builder, nc.loc, types, *condition,
                              /*addThenBlock=*/false, /*addElseBlock=*/false);
  op.getThenRegion().takeBody(regions[0]);
  op.getElseRegion().takeBody(regions[1]);
  return defineOutputs(nc, op.getResults());
}

//===----------------------------------------------------------------------===//
// Calls of graphs
//===----------------------------------------------------------------------===//

LogicalResult Importer::importGraphCall(NodeContext &nc) {
  SmallVector<Value> inputs, outputs;
  NodeAttr attr;
  FailureOr<const pb::GraphProto *> graph = getGraph(nc, "graph", attr);
  if (failed(graph) || failed(lookupInputs(nc, inputs)))
    return failure();
  StringRef name = attr.proto->name();
  if ((*graph)->input_size() != static_cast<int>(inputs.size()))
    return loopc::emitError(nc.loc, Diag::BodyArguments)
           << name << " has " << (*graph)->input_size() << " inputs, expected "
           << inputs.size();
  for (auto [k, input] : llvm::enumerate(inputs))
    if (failed(checkDeclared(nc, name, (*graph)->input(k), k, input.getType())))
      return failure();
  return failure(
      failed(importGraph(nc, **graph, attr, name, inputs, outputs)) ||
      failed(defineOutputs(nc, outputs)));
}

//===----------------------------------------------------------------------===//
// SequenceMap
//===----------------------------------------------------------------------===//

/// Its schema has a function body, in which names of the model can clash with
/// the schema's own; the loop is built here instead:
///   loop trips(SequenceLength(s)) carried(r = SequenceEmpty) {
///     r' = SequenceInsert(r, graph(SequenceAt(s, i), ...)) }
LogicalResult Importer::importSequenceMap(NodeContext &nc) {
  SmallVector<Value> inputs;
  NodeAttr attr;
  FailureOr<const pb::GraphProto *> graph = getGraph(nc, "body", attr);
  if (failed(graph) || failed(lookupInputs(nc, inputs)))
    return failure();
  if (inputs.empty() || !llvm::all_of(inputs, [](Value v) { return v; }) ||
      !isa<SeqType>(inputs[0].getType()))
    return loopc::emitError(nc.loc, Diag::BadNode)
           << "'SequenceMap' needs a sequence as its first input, and no input "
              "left out";
  if ((*graph)->input_size() != static_cast<int>(inputs.size()))
    return loopc::emitError(nc.loc, Diag::BodyArguments)
           << "body has " << (*graph)->input_size() << " inputs, expected "
           << inputs.size();
  Region region;
  SmallVector<Type> types;
  FailureOr<Value> trips = commonLength(nc, inputs);
  if (failed(trips) ||
      failed(importMapBody(nc, **graph, attr, inputs, region, types)))
    return failure();
  loop::LoopSignature signature;
  signature.counterType = region.getArgument(0).getType();
  signature.conditionType = region.getArgument(1).getType();
  signature.tripCount = *trips;
  for (Type type : types) {
    auto element = cast<TensorType>(cast<SeqType>(type).getElementType());
    NamedAttribute dtype(builder.getStringAttr("dtype"),
                         builder.getI64IntegerAttr(onnx::exportElementType(
                             element.getElementType())));
    FailureOr<Value> empty = makeNode(nc, "SequenceEmpty", {}, dtype);
    if (failed(empty))
      return failure();
    signature.inits.push_back(castTo(nc.loc, *empty, type));
  }
  auto op = loop::LoopOp::create(builder, nc.loc, signature);
  op.getBody().takeBody(region);
  return defineOutputs(nc, op.getResults());
}

FailureOr<Value> Importer::commonLength(NodeContext &nc,
                                        ArrayRef<Value> inputs) {
  Value common;
  for (Value input : inputs) {
    if (!isa<SeqType>(input.getType()))
      continue;
    FailureOr<Value> length = makeNode(nc, "SequenceLength", input);
    if (failed(length))
      return failure();
    if (!common) {
      common = *length;
      continue;
    }
    Value first = tensor::ExtractOp::create(builder, nc.loc, common);
    Value other = tensor::ExtractOp::create(builder, nc.loc, *length);
    Value same = arith::CmpIOp::create(builder, nc.loc,
                                       arith::CmpIPredicate::eq, first, other);
    check(nc, same, "the sequences have {} and {} elements", {first, other});
  }
  return common;
}

LogicalResult Importer::importMapBody(NodeContext &nc,
                                      const pb::GraphProto &graph,
                                      const NodeAttr &attr,
                                      ArrayRef<Value> inputs, Region &region,
                                      SmallVectorImpl<Type> &types) {
  OpBuilder::InsertionGuard guard(builder);
  Type counterType = RankedTensorType::get({}, builder.getI64Type());
  Type conditionType = RankedTensorType::get({}, builder.getI1Type());
  Block *block = builder.createBlock(&region, {}, {counterType, conditionType},
                                     {nc.loc, nc.loc});
  SmallVector<Value> elements, outputs, yields;
  for (auto [k, input] : llvm::enumerate(inputs)) {
    FailureOr<Value> element = input;
    if (isa<SeqType>(input.getType()))
      element = makeNode(nc, "SequenceAt", {input, block->getArgument(0)});
    if (failed(element) || failed(checkDeclared(nc, "body", graph.input(k), k,
                                                element->getType())))
      return failure();
    elements.push_back(*element);
  }
  if (failed(importGraph(nc, graph, attr, "body", elements, outputs)))
    return failure();
  for (auto [k, value] : llvm::enumerate(outputs)) {
    if (!isa<TensorType>(value.getType()))
      return loopc::emitError(nc.loc, Diag::CollectedType)
             << "output #" << k << " of body has type " << value.getType()
             << " but must be a tensor";
    types.push_back(SeqType::get(value.getType()));
    Value carried = block->addArgument(types.back(), nc.loc);
    FailureOr<Value> longer = makeNode(nc, "SequenceInsert", {carried, value});
    if (failed(longer))
      return failure();
    yields.push_back(castTo(nc.loc, *longer, types.back()));
  }
  loop::YieldOp::create(builder, nc.loc, block->getArgument(1), yields,
                        ValueRange());
  return success();
}
