//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Loop, TensorIterator and If (SEMANTICS section 6: ov_*).

#include "ImporterImpl.h"
#include "loopc/Frontend/States.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::openvino;
using loopc::onnx::joinTypes;

namespace {
constexpr unsigned kNoLayer = ~0u;
} // namespace

static Type forgetShape(Type type) {
  return UnrankedTensorType::get(cast<TensorType>(type).getElementType());
}

/// A Loop or TensorIterator on its way in.
struct Importer::LoopParts {
  explicit LoopParts(LayerImport &l)
      : l(l), layer(l.layer), body(*l.layer.bodies[0]),
        isLoop(l.layer.type == "Loop"), given(body.layers.size()) {}

  LayerImport &l;
  const Layer &layer;
  const Graph &body;
  bool isLoop;

  Value trips, condition;
  /// Values from outside, by the Parameter's place in the body.
  std::vector<Value> given;
  struct Carried {
    unsigned parameter, result; ///< layers of the body
    Value init;
    Type type;
  };
  SmallVector<Carried> carried;
  struct Slice {
    unsigned parameter;
    Value value; ///< parts of the size of a slice behind `axis`
    int64_t axis;
    bool reverse;
    Type type;
  };
  SmallVector<Slice> slices;
  struct Collected {
    unsigned result;
    int64_t axis;
    bool reverse;
    Type type;
    const MapEntry *entry;
  };
  SmallVector<Collected> collected;
  /// Results whose last value is an output though nothing carries them.
  struct Last {
    unsigned result;
    Type type;
  };
  SmallVector<Last> lasts;
  /// By output of the layer: which of the values above.
  enum class Kind { None, Carried, Last, Collected };
  SmallVector<std::pair<Kind, unsigned>> outputs;
  unsigned counter = kNoLayer, conditionResult = kNoLayer;

  std::unique_ptr<Region> region;
};

//===----------------------------------------------------------------------===//
// Port maps
//===----------------------------------------------------------------------===//

FailureOr<unsigned> Importer::findInner(const Graph &body, int64_t id,
                                        StringRef type, pugi::xml_node node) {
  // Not byId, which keeps some numbers for itself.
  auto it = llvm::find_if(body.layers,
                          [&](const Layer &layer) { return layer.id == id; });
  if (it == body.layers.end())
    return loopc::emitError(file.locOf(node), Diag::IRPortMap)
           << "the body has no layer " << id;
  const Layer &layer = *it;
  if (layer.type != type)
    return loopc::emitError(file.locOf(node), Diag::IRPortMap)
           << "layer " << id << " of the body is " << layer.type << " '"
           << layer.name << "', expected a " << type;
  return static_cast<unsigned>(it - body.layers.begin());
}

LogicalResult Importer::checkParameter(const Layer &parameter, Type type) {
  FailureOr<Type> declared = parameterType(parameter);
  if (failed(declared))
    return failure();
  Type a = getElementTypeOrSelf(*declared), b = getElementTypeOrSelf(type);
  if (a == b)
    return success();
  return loopc::emitError(file.locOf(parameter.node), Diag::BodyInputType)
         << "Parameter '" << parameter.name << "' is declared as " << a
         << " but gets " << b;
}

static std::optional<unsigned> findPort(ArrayRef<Port> ports, int64_t id) {
  for (auto [k, port] : llvm::enumerate(ports))
    if (port.id == id)
      return k;
  return std::nullopt;
}

/// The part of a sliced input that is iterated (ov_iterator_parts), as Slice
/// takes it: `start` and
/// `end` are the first and the last element, both included, and count from the
/// end where negative.
static std::pair<int64_t, int64_t> getRange(const MapEntry &entry) {
  int64_t begin = entry.start, last = entry.end;
  if (entry.stride < 0)
    std::swap(begin, last);
  return {begin, last == -1 ? std::numeric_limits<int64_t>::max() : last + 1};
}

/// True if the parts of `entry` lie beside each other.
static bool hasGaplessParts(const MapEntry &entry) {
  return entry.partSize >= 1 &&
         llvm::AbsoluteValue(entry.stride) == uint64_t(entry.partSize);
}

LogicalResult Importer::addSlice(LoopParts &parts, const MapEntry &entry,
                                 unsigned parameter, Value value) {
  LayerImport &l = parts.l;
  auto error = [&]() {
    return loopc::emitError(file.locOf(entry.node), Diag::IRPortMap);
  };
  if (!hasGaplessParts(entry))
    return error() << "an input is cut into parts of " << entry.partSize
                   << " with a stride of " << entry.stride
                   << ": the two must be the same";
  int64_t rank = l.rank(value);
  if (l.isBad)
    return failure();
  int64_t axis = *entry.axis < 0 ? *entry.axis + rank : *entry.axis;
  if (axis < 0 || axis >= rank)
    return error() << "axis " << *entry.axis << " is out of range for rank "
                   << rank;
  auto [begin, end] = getRange(entry);
  if (begin != 0 || end != std::numeric_limits<int64_t>::max())
    value = l.slice(value, begin, end, axis);
  int64_t extent = l.extent(value, axis);
  if (ShapedType::isStatic(extent) && extent % entry.partSize)
    return error() << "an extent of " << extent << " is not cut into parts of "
                   << entry.partSize;
  value = l.splitAxis(value, axis, entry.partSize);
  // ov_slice: a slice of a Loop is read from the end where it runs backwards,
  // whatever the trip count is.
  bool reverse = entry.stride < 0;
  if (reverse && parts.isLoop) {
    value = l.slice(value, -1, std::numeric_limits<int64_t>::min(), axis, -1);
    reverse = false;
  }
  if (l.isBad)
    return failure();
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + axis);
  if (failed(checkParameter(parts.body.layers[parameter], type)))
    return failure();
  parts.slices.push_back({parameter, value, axis, reverse, type.clone(shape)});
  return success();
}

LogicalResult Importer::readInputEntry(LoopParts &parts,
                                       const MapEntry &entry) {
  auto error = [&]() {
    return loopc::emitError(file.locOf(entry.node), Diag::IRPortMap);
  };
  FailureOr<unsigned> parameter =
      findInner(parts.body, entry.internal, "Parameter", entry.node);
  if (failed(parameter))
    return failure();
  if (entry.purpose == "current_iteration") { // ov_iteration
    if (parts.counter != kNoLayer)
      return error() << "two Parameters are the current iteration";
    parts.counter = *parameter;
    return success();
  }
  if (!entry.purpose.empty())
    return error() << "there is no purpose '" << entry.purpose
                   << "' of an input";
  // ov_ports
  if (entry.external == -1)
    return error() << "the Parameter gets no value: only the current iteration "
                      "has no external port";
  std::optional<unsigned> port = findPort(parts.layer.inputs, entry.external);
  if (!port)
    return error() << parts.layer.type << " '" << parts.layer.name
                   << "' has no input port " << entry.external;
  if (parts.given[*parameter])
    return error() << "Parameter '" << parts.body.layers[*parameter].name
                   << "' is mapped twice";
  Value value = parts.l.inputs[*port];
  parts.given[*parameter] = value;
  if (entry.axis)
    return addSlice(parts, entry, *parameter, value);
  return checkParameter(parts.body.layers[*parameter], value.getType());
}

LogicalResult Importer::readBackEdges(LoopParts &parts) {
  for (const BackEdge &edge : parts.layer.backEdges) {
    auto error = [&]() {
      return loopc::emitError(file.locOf(edge.node), Diag::IRPortMap);
    };
    FailureOr<unsigned> from =
        findInner(parts.body, edge.from, "Result", edge.node);
    if (failed(from))
      return failure();
    FailureOr<unsigned> to =
        findInner(parts.body, edge.to, "Parameter", edge.node);
    if (failed(to))
      return failure();
    const Layer &parameter = parts.body.layers[*to];
    if (llvm::any_of(parts.carried,
                     [&](const auto &c) { return c.parameter == *to; }))
      return error() << "a second back edge leads to Parameter '"
                     << parameter.name << "'";
    if (llvm::any_of(parts.slices,
                     [&](const auto &s) { return s.parameter == *to; }))
      return error() << "a back edge leads to Parameter '" << parameter.name
                     << "', which is a slice of an input";
    Value init = parts.given[*to];
    if (!init)
      return error() << "Parameter '" << parameter.name
                     << "' of a back edge has no initial value: it is in no "
                        "port map";
    parts.carried.push_back({*to, *from, init, init.getType()});
  }
  return success();
}

LogicalResult Importer::readOutputEntry(LoopParts &parts,
                                        const MapEntry &entry) {
  using Kind = LoopParts::Kind;
  auto error = [&]() {
    return loopc::emitError(file.locOf(entry.node), Diag::IRPortMap);
  };
  FailureOr<unsigned> result =
      findInner(parts.body, entry.internal, "Result", entry.node);
  if (failed(result))
    return failure();
  if (entry.purpose == "execution_condition") {
    if (parts.conditionResult != kNoLayer)
      return error() << "two Results are the execution condition";
    parts.conditionResult = *result;
  } else if (!entry.purpose.empty()) {
    return error() << "there is no purpose '" << entry.purpose
                   << "' of an output";
  }
  if (entry.external == -1)
    return success();
  std::optional<unsigned> port = findPort(parts.layer.outputs, entry.external);
  if (!port)
    return error() << parts.layer.type << " '" << parts.layer.name
                   << "' has no output port " << entry.external;
  auto &output = parts.outputs[*port];
  if (output.first != Kind::None)
    return error() << "output port " << entry.external << " is mapped twice";
  if (entry.axis) {
    bool isWhole = entry.stride > 0 ? entry.start == 0 && entry.end == -1
                                    : entry.start == -1 && entry.end == 0;
    // ov_concat, ov_loop_concat
    bool isUnit = entry.stride == 1 && entry.partSize == 1;
    if (!isWhole || !hasGaplessParts(entry) || (parts.isLoop && !isUnit))
      return error() << "outputs with start " << entry.start << ", end "
                     << entry.end << ", stride " << entry.stride
                     << " and part_size " << entry.partSize
                     << " cannot be put together";
    output = {Kind::Collected, parts.collected.size()};
    parts.collected.push_back(
        {*result, *entry.axis, entry.stride < 0, Type(), &entry});
    return success();
  }
  for (auto [k, carried] : llvm::enumerate(parts.carried))
    if (carried.result == *result) {
      output = {Kind::Carried, k};
      return success();
    }
  // ov_last_value
  output = {Kind::Last, parts.lasts.size()};
  parts.lasts.push_back({*result, Type()});
  return success();
}

LogicalResult Importer::readPortMap(LoopParts &parts) {
  parts.outputs.assign(parts.layer.outputs.size(), {LoopParts::Kind::None, 0});
  for (const MapEntry &entry : parts.layer.maps[0])
    if (entry.isInput && failed(readInputEntry(parts, entry)))
      return failure();
  if (failed(readBackEdges(parts)))
    return failure();
  for (const MapEntry &entry : parts.layer.maps[0])
    if (!entry.isInput && failed(readOutputEntry(parts, entry)))
      return failure();
  for (auto [k, layer] : llvm::enumerate(parts.body.layers))
    if (layer.type == "Parameter" && !parts.given[k] && k != parts.counter)
      return loopc::emitError(file.locOf(layer.node), Diag::IRPortMap)
             << "Parameter '" << layer.name << "' is in no port map";
  for (auto [output, port] : llvm::zip(parts.outputs, parts.layer.outputs))
    if (output.first == LoopParts::Kind::None)
      return loopc::emitError(file.locOf(port.node), Diag::IRPortMap)
             << "output port " << port.id << " is in no port map";
  // ov_condition
  if (parts.isLoop && parts.conditionResult == kNoLayer)
    return loopc::emitError(parts.l.loc, Diag::IRPortMap)
           << "no Result of the body has the purpose 'execution_condition'";
  return success();
}

//===----------------------------------------------------------------------===//
// What a loop has
//===----------------------------------------------------------------------===//

/// Trip count and condition, both a tensor of rank 0.
LogicalResult Importer::readLoop(LoopParts &parts) {
  LayerImport &l = parts.l;
  if (failed(readPortMap(parts)))
    return failure();
  Type i64 = builder.getI64Type();
  if (!parts.isLoop) {
    // All sliced inputs have as many slices as the first.
    Value first;
    for (const LoopParts::Slice &slice : parts.slices) {
      Value count = l.extentOf(slice.value, slice.axis);
      if (!first)
        parts.trips = l.oneElement(first = count);
      else
        l.checkEqual(l.extract(first), l.extract(count),
                     "the inputs are cut into {} and {} slices");
    }
    if (!first)
      parts.trips = l.scalarInt(1);
    return failure(l.isBad);
  }
  Value trips = l.in(0), condition = l.in(1);
  if (l.isBad)
    return failure();
  if (!l.element(trips).isSignlessInteger(64) &&
      !l.element(trips).isSignlessInteger(32))
    return l.fail(Diag::TripCount)
           << "the trip count is " << trips.getType() << ", no i32 or i64";
  if (!l.isBool(condition))
    return l.fail(Diag::LoopCondition) << "the execution condition is "
                                       << condition.getType() << ", no boolean";
  parts.condition = l.oneElement(condition);
  // ov_trip_count: a negative trip count is none, at run time too.
  Value count = l.oneElement(l.cast(trips, i64));
  std::optional<Ints> known = l.constantOf(trips);
  if (known && known->size() == 1 && known->front() < 0)
    return failure(l.isBad);
  if (known && known->size() == 1) {
    parts.trips = l.scalarInt(known->front());
    return failure(l.isBad);
  }
  Value negative = l.node("Less", {count, l.scalarInt(0)});
  parts.trips = l.node(
      "Where",
      {negative, l.scalarInt(std::numeric_limits<int64_t>::max()), count});
  return failure(l.isBad);
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

LogicalResult Importer::finishLoopBody(LoopParts &parts, const Values &values,
                                       SmallVectorImpl<Type> &next) {
  LayerImport &l = parts.l;
  auto valueOf = [&](unsigned result) {
    Source source = parts.body.layers[result].sources[0];
    return values[source.layer][source.port];
  };
  for (const LoopParts::Carried &carried : parts.carried) {
    Type yielded = valueOf(carried.result).getType();
    Type joined = joinTypes(carried.type, yielded);
    if (!joined)
      return loopc::emitError(l.loc, Diag::CarriedType)
             << "the value carried in Parameter '"
             << parts.body.layers[carried.parameter].name << "' begins as "
             << carried.init.getType() << " but the body gives " << yielded;
    next.push_back(joined);
  }
  for (auto [type, carried] : llvm::zip(next, parts.carried))
    if (type != carried.type)
      return success();
  Block *block = builder.getBlock();
  Value condition = block->getArgument(1);
  if (parts.conditionResult != kNoLayer) {
    Value given = valueOf(parts.conditionResult);
    if (!l.isBool(given))
      return l.fail(Diag::LoopCondition) << "the body's execution condition is "
                                         << given.getType() << ", no boolean";
    condition = l.oneElement(given);
  }
  SmallVector<Value> yields, collected;
  for (const LoopParts::Carried &carried : parts.carried)
    yields.push_back(castTo(l.loc, valueOf(carried.result), carried.type));
  for (LoopParts::Last &last : parts.lasts) {
    Value value = valueOf(last.result);
    last.type = value.getType();
    // Nobody reads the argument.
    block->insertArgument(2 + yields.size(), last.type, l.loc);
    yields.push_back(value);
  }
  for (LoopParts::Collected &one : parts.collected) {
    Value value = valueOf(one.result);
    int64_t rank = l.rank(value);
    if (l.isBad)
      return failure();
    int64_t axis = one.entry->axis.value();
    one.axis = axis < 0 ? axis + rank : axis;
    if (one.axis < 0 || one.axis >= rank)
      return loopc::emitError(file.locOf(one.entry->node), Diag::IRPortMap)
             << "axis " << axis << " is out of range for rank " << rank;
    int64_t extent = l.extent(value, one.axis), part = one.entry->partSize;
    if (ShapedType::isStatic(extent) && extent != part)
      return loopc::emitError(file.locOf(one.entry->node), Diag::IRPortMap)
             << "the output is put together of parts of " << part
             << " but the body gives parts of " << extent;
    one.type = value.getType();
    collected.push_back(value);
  }
  if (l.isBad)
    return failure();
  loop::YieldOp::create(builder, l.loc, condition, yields, collected);
  return success();
}

LogicalResult Importer::importLoopBody(LoopParts &parts,
                                       SmallVectorImpl<Type> &next) {
  LayerImport &l = parts.l;
  SmallVector<Type> arguments{RankedTensorType::get({}, builder.getI64Type()),
                              RankedTensorType::get({}, builder.getI1Type())};
  for (const LoopParts::Carried &carried : parts.carried)
    arguments.push_back(carried.type);
  for (const LoopParts::Slice &slice : parts.slices)
    arguments.push_back(slice.type);
  OpBuilder::InsertionGuard guard(builder);
  Block *block =
      builder.createBlock(parts.region.get(), {}, arguments,
                          SmallVector<Location>(arguments.size(), l.loc));
  Values values(parts.body.layers.size());
  for (auto [k, layer] : llvm::enumerate(parts.body.layers))
    if (layer.type == "Parameter" && parts.given[k])
      values[k] = {parts.given[k]};
  unsigned at = 2;
  for (const LoopParts::Carried &carried : parts.carried)
    values[carried.parameter] = {block->getArgument(at++)};
  for (const LoopParts::Slice &slice : parts.slices)
    values[slice.parameter] = {block->getArgument(at++)};
  if (parts.counter != kNoLayer) {
    FailureOr<Type> type = parameterType(parts.body.layers[parts.counter]);
    if (failed(type))
      return failure();
    auto ranked = dyn_cast<RankedTensorType>(*type);
    Value counter =
        l.cast(block->getArgument(0), cast<TensorType>(*type).getElementType());
    if (ranked && ranked.getRank() == 1)
      counter = l.reshape(counter, ArrayRef<int64_t>{1});
    values[parts.counter] = {counter};
  }
  if (l.isBad || failed(importGraph(parts.body, l.path + "/body", values)))
    return failure();
  return finishLoopBody(parts, values, next);
}

LogicalResult Importer::settleLoop(LoopParts &parts) {
  SmallVector<Type> types = llvm::map_to_vector(
      parts.carried, [](const auto &carried) { return carried.type; });
  auto import = [&](ArrayRef<Type> now, SmallVectorImpl<Type> &next) {
    for (auto [carried, type] : llvm::zip_equal(parts.carried, now))
      carried.type = type;
    // Values of an earlier round are gone, and what was known of them.
    cache.emplace();
    parts.region = std::make_unique<Region>();
    parts.l.isBad = false;
    return importLoopBody(parts, next);
  };
  SmallVector<Type> known = settled.lookup(&parts.layer);
  LogicalResult result =
      settleTypes(types, {&context, known, forgetShape}, import);
  settled[&parts.layer] = types;
  return result;
}

void Importer::buildLoop(LoopParts &parts) {
  LayerImport &l = parts.l;
  loop::LoopSignature signature;
  signature.counterType = parts.region->getArgument(0).getType();
  signature.conditionType = parts.region->getArgument(1).getType();
  signature.tripCount = parts.trips;
  signature.condition = parts.condition;
  for (const LoopParts::Carried &carried : parts.carried)
    signature.inits.push_back(castTo(l.loc, carried.init, carried.type));
  // ov_last_value: after zero trips there is nothing to give but zeros or empty
  // texts, and open dimensions are 0.
  for (const LoopParts::Last &last : parts.lasts) {
    Value init =
        l.constant(makeZeroState(builder, cast<TensorType>(last.type)));
    signature.inits.push_back(castTo(l.loc, init, last.type));
  }
  for (const LoopParts::Slice &slice : parts.slices)
    signature.slices.push_back(
        {slice.value, slice.type, slice.axis, slice.reverse});
  for (const LoopParts::Collected &one : parts.collected) {
    auto type = cast<RankedTensorType>(one.type);
    SmallVector<int64_t> shape(type.getShape());
    shape.insert(shape.begin() + one.axis, ShapedType::kDynamic);
    signature.collected.push_back(
        {type.clone(shape), one.axis, one.reverse, /*length=*/Value()});
  }
  if (l.isBad)
    return;
  auto op = loop::LoopOp::create(builder, l.loc, signature);
  op.getBody().takeBody(*parts.region);
  size_t numCarried = parts.carried.size(), numLasts = parts.lasts.size();
  for (auto [kind, index] : parts.outputs) {
    switch (kind) {
    case LoopParts::Kind::None:
    case LoopParts::Kind::Carried:
      l.set(op.getResult(index));
      break;
    case LoopParts::Kind::Last:
      l.set(op.getResult(numCarried + index));
      break;
    case LoopParts::Kind::Collected:
      l.set(l.mergeAxes(op.getResult(numCarried + numLasts + index),
                        parts.collected[index].axis));
      break;
    }
  }
}

LogicalResult Importer::importLoop(LayerImport &l) {
  LoopParts parts(l);
  if (failed(readLoop(parts)) || failed(settleLoop(parts)))
    return failure();
  buildLoop(parts);
  return failure(l.isBad);
}

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

LogicalResult Importer::importBranch(LayerImport &l, unsigned branch,
                                     Region &region,
                                     SmallVectorImpl<Value> &outputs) {
  const Graph &body = *l.layer.bodies[branch];
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&region);
  Values values(body.layers.size());
  outputs.assign(l.layer.outputs.size(), Value());
  auto error = [&](const MapEntry &entry) {
    return loopc::emitError(file.locOf(entry.node), Diag::IRPortMap);
  };
  for (const MapEntry &entry : l.layer.maps[branch]) {
    if (entry.axis || !entry.purpose.empty())
      return error(entry) << "a port of an If has no "
                          << (entry.axis ? "axis" : "purpose");
    if (!entry.isInput)
      continue;
    FailureOr<unsigned> parameter =
        findInner(body, entry.internal, "Parameter", entry.node);
    if (failed(parameter))
      return failure();
    std::optional<unsigned> port = findPort(l.layer.inputs, entry.external);
    if (!port)
      return error(entry) << "If '" << l.layer.name << "' has no input port "
                          << entry.external;
    if (!values[*parameter].empty())
      return error(entry) << "Parameter '" << body.layers[*parameter].name
                          << "' is mapped twice";
    if (failed(
            checkParameter(body.layers[*parameter], l.inputs[*port].getType())))
      return failure();
    values[*parameter] = {l.inputs[*port]};
  }
  for (auto [k, layer] : llvm::enumerate(body.layers))
    if (layer.type == "Parameter" && values[k].empty())
      return loopc::emitError(file.locOf(layer.node), Diag::IRPortMap)
             << "Parameter '" << layer.name << "' is in no port map";
  ++conditionalDepth;
  LogicalResult imported = importGraph(
      body, l.path + (branch ? "/else_body" : "/then_body"), values);
  --conditionalDepth;
  if (failed(imported))
    return failure();
  for (const MapEntry &entry : l.layer.maps[branch]) {
    if (entry.isInput)
      continue;
    FailureOr<unsigned> result =
        findInner(body, entry.internal, "Result", entry.node);
    if (failed(result))
      return failure();
    std::optional<unsigned> port = findPort(l.layer.outputs, entry.external);
    if (!port)
      return error(entry) << "If '" << l.layer.name << "' has no output port "
                          << entry.external;
    if (outputs[*port])
      return error(entry) << "output port " << entry.external
                          << " is mapped twice";
    Source source = body.layers[*result].sources[0];
    outputs[*port] = values[source.layer][source.port];
  }
  for (auto [value, port] : llvm::zip(outputs, l.layer.outputs))
    if (!value)
      return loopc::emitError(file.locOf(port.node), Diag::IRPortMap)
             << "output port " << port.id << " is in no port map of a branch";
  return success();
}

LogicalResult Importer::importTaken(LayerImport &l, unsigned branch) {
  Region region;
  SmallVector<Value> outputs;
  if (failed(importBranch(l, branch, region, outputs)))
    return failure();
  Block *block = builder.getBlock();
  block->getOperations().splice(builder.getInsertionPoint(),
                                region.front().getOperations());
  l.set(outputs);
  return success();
}

LogicalResult Importer::importIf(LayerImport &l) {
  Value given = l.in(0);
  if (!l.isBad && !l.isBool(given))
    return l.fail(Diag::LoopCondition)
           << "the condition is " << given.getType() << ", no boolean";
  if (l.isBad)
    return failure();
  if (std::optional<bool> known = l.truthOf(given))
    return importTaken(l, *known ? 0 : 1);
  Value condition = l.extract(given);
  if (l.isBad)
    return failure();
  Region regions[2];
  SmallVector<Value> outputs[2];
  for (unsigned k : {0, 1})
    if (failed(importBranch(l, k, regions[k], outputs[k])))
      return failure();
  SmallVector<Type> types;
  for (auto [k, a, b] : llvm::enumerate(outputs[0], outputs[1])) {
    Type joined = joinTypes(a.getType(), b.getType());
    if (!joined)
      return l.fail(Diag::BranchType)
             << "output #" << k << ": then_body returns " << a.getType()
             << " but else_body returns " << b.getType();
    types.push_back(joined);
  }
  for (unsigned k : {0, 1}) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&regions[k].front());
    for (auto [value, type] : llvm::zip(outputs[k], types))
      value = castTo(l.loc, value, type);
    scf::YieldOp::create(builder, l.loc, outputs[k]);
  }
  auto op = scf::IfOp::create(builder, l.loc, types, condition,
                              /*addThenBlock=*/false, /*addElseBlock=*/false);
  op.getThenRegion().takeBody(regions[0]);
  op.getElseRegion().takeBody(regions[1]);
  l.set(llvm::to_vector_of<Value>(op.getResults()));
  return success();
}
