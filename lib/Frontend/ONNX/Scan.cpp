//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Scan.

#include "DeclaredResults.h"
#include "ImporterImpl.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::importer;

/// A Scan on its way in.
struct Importer::ScanParts {
  const pb::GraphProto *graph = nullptr;
  NodeAttr attr;
  bool batched = false;
  Value lengths;
  SmallVector<Value> states, inputs;
  SmallVector<int64_t> inputAxes, outputAxes;
  SmallVector<bool> inputReverse, outputReverse;
  /// What is known of the batch and of the number of iterations.
  int64_t batch = ShapedType::kDynamic, trips = ShapedType::kDynamic;
  SmallVector<Type> arguments, results;
  Region region;
};

static FailureOr<SmallVector<bool>>
readDirections(ArrayRef<int64_t> values, StringRef name, Location loc) {
  SmallVector<bool> reverse;
  for (int64_t value : values) {
    if (value != 0 && value != 1)
      return loopc::emitError(loc, Diag::ScanAxes)
             << "attribute '" << name << "' has the direction " << value
             << ", expected 0 or 1";
    reverse.push_back(value == 1);
  }
  return reverse;
}

/// `axis` of a value of `rank` axes, counted from the front (scan_axes).
static FailureOr<int64_t> normalizeAxis(NodeContext &nc, int64_t axis,
                                        int64_t rank, const Twine &what) {
  // Versions before 11 do not count from the end.
  int64_t least = nc.since >= 11 ? -rank : 0;
  if (axis < least || axis >= rank)
    return loopc::emitError(nc.loc, Diag::ScanAxes)
           << what << ": axis " << axis << " is not in [" << least << ", "
           << rank - 1 << "]";
  return axis < 0 ? axis + rank : axis;
}

LogicalResult Importer::readScan(NodeContext &nc, ScanParts &parts) {
  FailureOr<const pb::GraphProto *> graph = getGraph(nc, "body", parts.attr);
  SmallVector<Value> values;
  if (failed(graph) || failed(lookupInputs(nc, values)))
    return failure();
  parts.graph = *graph;
  parts.batched = nc.since == 8; // scan8_batch
  if (parts.batched && !values.empty()) {
    parts.lengths = values.front();
    values.erase(values.begin());
  }
  if (!llvm::all_of(values, [](Value value) { return value; }))
    return loopc::emitError(nc.loc, Diag::LoopArity)
           << "a state or scan input is left out";
  int64_t numInputs = getAttr(nc, "num_scan_inputs").proto->i();
  int64_t count = values.size();
  if (numInputs < 1 || numInputs > count)
    return loopc::emitError(nc.loc, Diag::LoopArity)
           << "'num_scan_inputs' is " << numInputs << " but the node has "
           << count << " states and scan inputs";
  int64_t numStates = count - numInputs;
  parts.states.assign(values.begin(), values.begin() + numStates);
  parts.inputs.assign(values.begin() + numStates, values.end());
  // scan_args, scan_yield
  if (parts.graph->input_size() != count)
    return loopc::emitError(nc.loc, Diag::BodyArguments)
           << "body has " << parts.graph->input_size() << " inputs, expected "
           << count << ": " << numStates << " states and " << numInputs
           << " scan inputs";
  int64_t numOutputs = parts.graph->output_size() - numStates;
  if (numOutputs < 0)
    return loopc::emitError(nc.loc, Diag::BodyYields)
           << "body has " << parts.graph->output_size()
           << " outputs, expected at least " << numStates << " states";
  if (nc.node.output_size() > parts.graph->output_size())
    return loopc::emitError(nc.loc, Diag::ExtraOutput)
           << "the node has " << nc.node.output_size()
           << " outputs but the body gives " << numStates << " states and "
           << numOutputs << " scan outputs"; // name_outputs
  auto directions = [&](StringRef name, size_t size,
                        SmallVector<bool> &reverse) -> LogicalResult {
    FailureOr<SmallVector<int64_t>> ints = getInts(nc, name, size);
    if (failed(ints))
      return failure();
    FailureOr<SmallVector<bool>> read = readDirections(*ints, name, nc.loc);
    if (failed(read))
      return failure();
    reverse = *read;
    return success();
  };
  if (parts.batched) {
    parts.inputAxes.assign(numInputs, 1);
    parts.outputAxes.assign(numOutputs, 1);
    parts.outputReverse.assign(numOutputs, false);
    return directions("directions", numInputs, parts.inputReverse);
  }
  FailureOr<SmallVector<int64_t>> inputAxes =
      getInts(nc, "scan_input_axes", numInputs);
  FailureOr<SmallVector<int64_t>> outputAxes =
      getInts(nc, "scan_output_axes", numOutputs);
  if (failed(inputAxes) || failed(outputAxes))
    return failure();
  parts.inputAxes = *inputAxes;
  parts.outputAxes = *outputAxes;
  return failure(failed(directions("scan_input_directions", numInputs,
                                   parts.inputReverse)) ||
                 failed(directions("scan_output_directions", numOutputs,
                                   parts.outputReverse)));
}

/// Takes `size` into `known`; both are one number (scan_lengths). In code that
/// may not run two numbers are an error of the run, if it comes to that.
static LogicalResult unify(NodeContext &nc, int64_t &known, int64_t size,
                           const Twine &what) {
  bool isOfMainGraph = !nc.scope.parent && nc.scope.graph;
  if (isOfMainGraph && ShapedType::isStatic(known) &&
      ShapedType::isStatic(size) && known != size)
    return loopc::emitError(nc.loc, Diag::ScanShape)
           << what << " is " << size << " but others have " << known;
  if (ShapedType::isDynamic(known))
    known = size;
  return success();
}

LogicalResult Importer::findScanArguments(NodeContext &nc, ScanParts &parts) {
  auto isTensor = [&](Value value, const Twine &what) -> LogicalResult {
    if (isa<TensorType>(value.getType()))
      return success();
    return loopc::emitError(nc.loc, Diag::ScanShape)
           << what << " has type " << value.getType()
           << " but must be a tensor";
  };
  auto without = [&](RankedTensorType type, ArrayRef<int64_t> axes) -> Type {
    SmallVector<int64_t> shape;
    for (auto [k, size] : llvm::enumerate(type.getShape()))
      if (!llvm::is_contained(axes, static_cast<int64_t>(k)))
        shape.push_back(size);
    return type.clone(shape);
  };
  auto rankError = [&](const Twine &what, Type type) {
    return loopc::emitError(nc.loc, Diag::ScanShape)
           << what << " has type " << type
           << ", which lacks the axes of batch and sequence";
  };
  for (auto [k, state] : llvm::enumerate(parts.states)) {
    std::string what = ("state #" + Twine(k)).str();
    if (failed(isTensor(state, what)))
      return failure();
    auto ranked = dyn_cast<RankedTensorType>(state.getType());
    Type argument = state.getType();
    if (ranked && parts.batched) {
      if (ranked.getRank() < 1)
        return rankError(what, ranked);
      if (failed(unify(nc, parts.batch, ranked.getDimSize(0),
                       what + ": the batch")))
        return failure();
      argument = without(ranked, {0});
    }
    parts.arguments.push_back(argument);
  }
  for (auto [k, input] : llvm::enumerate(parts.inputs)) {
    std::string what = ("scan input #" + Twine(k)).str();
    if (failed(isTensor(input, what)))
      return failure();
    auto ranked = dyn_cast<RankedTensorType>(input.getType());
    if (!ranked) {
      parts.arguments.push_back(input.getType());
      continue;
    }
    SmallVector<int64_t> axes{0, 1};
    if (parts.batched) {
      if (ranked.getRank() < 2)
        return rankError(what, ranked);
      if (failed(unify(nc, parts.batch, ranked.getDimSize(0),
                       what + ": the batch")))
        return failure();
    } else {
      FailureOr<int64_t> axis =
          normalizeAxis(nc, parts.inputAxes[k], ranked.getRank(), what);
      if (failed(axis))
        return failure();
      parts.inputAxes[k] = *axis;
      axes = {*axis};
    }
    // scan_lengths
    if (failed(unify(nc, parts.trips, ranked.getDimSize(parts.inputAxes[k]),
                     what + ": the length")))
      return failure();
    parts.arguments.push_back(without(ranked, axes));
  }
  for (auto [k, type] : llvm::enumerate(parts.arguments))
    if (failed(checkDeclared(nc, "body", parts.graph->input(k), k, type)))
      return failure();
  return parts.lengths ? checkSequenceLengths(nc, parts) : success();
}

LogicalResult Importer::checkSequenceLengths(NodeContext &nc,
                                             ScanParts &parts) {
  // scan8_lengths
  auto type = dyn_cast<TensorType>(parts.lengths.getType());
  if (!type || !type.getElementType().isSignlessInteger(64) ||
      (type.hasRank() && type.getRank() != 1))
    return loopc::emitError(nc.loc, Diag::ScanShape)
           << "sequence lengths have type " << parts.lengths.getType()
           << " but must be int64 of rank 1";
  if (auto ranked = dyn_cast<RankedTensorType>(type))
    return unify(nc, parts.batch, ranked.getDimSize(0),
                 "sequence lengths: the batch");
  return success();
}

FailureOr<Value> Importer::castChecked(NodeContext &nc, Value value, Type type,
                                       const Twine &what) {
  auto to = cast<TensorType>(type);
  auto from = dyn_cast<TensorType>(value.getType());
  if (!from || from.getElementType() != to.getElementType())
    return loopc::emitError(nc.loc, Diag::CarriedType)
           << what << ": init has type " << type << " but the body yields "
           << value.getType();
  if (!to.hasRank() || from == to)
    return castTo(nc.loc, value, type);
  auto same = [&](Value a, int64_t b) -> Value {
    return arith::CmpIOp::create(
        builder, nc.loc, arith::CmpIPredicate::eq, a,
        arith::ConstantIndexOp::create(builder, nc.loc, b));
  };
  if (!from.hasRank()) {
    Value rank = tensor::RankOp::create(builder, nc.loc, value);
    check(nc, same(rank, to.getRank()),
          what + " has rank " + Twine(to.getRank()) +
              " but the body yields rank {}",
          rank);
    SmallVector<int64_t> unknown(to.getRank(), ShapedType::kDynamic);
    from = to.clone(unknown);
    value = castTo(nc.loc, value, from);
  }
  if (from.getRank() != to.getRank() || failed(verifyCompatibleShape(from, to)))
    return loopc::emitError(nc.loc, Diag::ScanShape)
           << what << " changes its shape: init has type " << type
           << " but the body yields " << value.getType();
  for (int64_t k = 0; k < to.getRank(); ++k) {
    if (to.isDynamicDim(k) || !from.isDynamicDim(k))
      continue;
    Value dim = tensor::DimOp::create(builder, nc.loc, value, k);
    check(nc, same(dim, to.getDimSize(k)),
          what + " changes its shape: dimension " + Twine(k) + " is " +
              Twine(to.getDimSize(k)) + " but the body yields {}",
          dim);
  }
  return castTo(nc.loc, value, type);
}

LogicalResult Importer::finishScanBody(NodeContext &nc, ScanParts &parts,
                                       ArrayRef<Value> outputs) {
  size_t numStates = parts.states.size();
  SmallVector<Value> states;
  // scan_state_shape
  for (size_t k = 0; k < numStates; ++k) {
    FailureOr<Value> state =
        castChecked(nc, outputs[k], parts.arguments[k], "state #" + Twine(k));
    if (failed(state))
      return failure();
    states.push_back(*state);
    parts.results.push_back(parts.states[k].getType());
  }
  ArrayRef<Value> collected = outputs.drop_front(numStates);
  for (auto [k, value] : llvm::enumerate(collected)) {
    auto type = dyn_cast<TensorType>(value.getType());
    if (!type)
      return loopc::emitError(nc.loc, Diag::CollectedType)
             << "scan output #" << k << " has type " << value.getType()
             << " but must be a tensor";
    if (!type.hasRank()) {
      parts.results.push_back(type);
      continue;
    }
    SmallVector<int64_t> shape(type.getShape());
    if (parts.batched) {
      shape.insert(shape.begin(), {parts.batch, parts.trips});
    } else {
      FailureOr<int64_t> axis =
          normalizeAxis(nc, parts.outputAxes[k], type.getRank() + 1,
                        "scan output #" + Twine(k));
      if (failed(axis))
        return failure();
      parts.outputAxes[k] = *axis;
      shape.insert(shape.begin() + *axis, parts.trips);
    }
    parts.results.push_back(type.clone(shape));
  }
  loop::YieldOp::create(builder, nc.loc, Value(), states, collected);
  return success();
}

LogicalResult Importer::importScan(NodeContext &nc) {
  ScanParts parts;
  if (failed(readScan(nc, parts)) || failed(findScanArguments(nc, parts)))
    return failure();
  ++conditionalDepth;
  LogicalResult imported =
      importBody(nc, *parts.graph, parts.attr, "body", parts.arguments,
                 parts.region, [&](SmallVectorImpl<Value> &outputs) {
                   return finishScanBody(nc, parts, outputs);
                 });
  --conditionalDepth;
  if (failed(imported))
    return failure();
  auto op = loop::ScanOp::create(
      builder, nc.loc, parts.results, parts.states, parts.inputs, parts.lengths,
      builder.getDenseI64ArrayAttr(parts.inputAxes),
      builder.getDenseBoolArrayAttr(parts.inputReverse),
      builder.getDenseI64ArrayAttr(parts.outputAxes),
      builder.getDenseBoolArrayAttr(parts.outputReverse),
      parts.batched ? builder.getUnitAttr() : UnitAttr(),
      builder.getI64IntegerAttr(nc.since));
  op.getBody().takeBody(parts.region);
  if (!parts.batched)
    noteDeclaredResults(nc, op, parts.states.size(), parts.outputAxes,
                        *parts.graph, parts.states.size());
  return defineOutputs(nc, op.getResults());
}
