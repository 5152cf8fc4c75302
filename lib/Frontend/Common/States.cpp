//===- States.cpp - Outputs that the next run reads -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Frontend/States.h"
#include "loopc/Dialect/ONNX/IR/ONNX.h"
#include "loopc/Frontend/PinArguments.h"
#include "loopc/Support/Diagnostics.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace loopc;

static constexpr StringLiteral kName = "loopc.name";
static constexpr StringLiteral kDefault = "loopc.default";
static constexpr StringLiteral kState = "loopc.state";
static constexpr StringLiteral kFlag = "loopc.state_flag";

ElementsAttr loopc::makeZeroState(Builder &builder, TensorType type) {
  SmallVector<int64_t> shape{0};
  if (type.hasRank()) {
    shape.assign(type.getShape().begin(), type.getShape().end());
    for (int64_t &extent : shape)
      extent = ShapedType::isDynamic(extent) ? 0 : extent;
  }
  auto ranked = RankedTensorType::get(shape, type.getElementType());
  if (isa<onnx::StringType>(type.getElementType()))
    return DenseStringElementsAttr::get(ranked, {StringRef()});
  return cast<ElementsAttr>(DenseElementsAttr::get(
      ranked, builder.getZeroAttr(type.getElementType())));
}

namespace {
/// Puts the ports of a function into another order.
class StatePairing {
public:
  StatePairing(func::FuncOp func)
      : func(func), builder(func.getContext()),
        exit(cast<func::ReturnOp>(func.getBody().front().getTerminator())) {
    for (unsigned k : llvm::seq(func.getNumArguments()))
      inputs.push_back(func.getArgAttrDict(k));
    for (unsigned k : llvm::seq(func.getNumResults()))
      outputs.push_back(func.getResultAttrDict(k));
    isPaired.resize(func.getNumResults());
    stateOf.resize(func.getNumArguments(), -1);
  }

  LogicalResult add(StringRef input, StringRef output);
  void finish();

private:
  static bool has(DictionaryAttr port, StringRef attribute) {
    return port && port.contains(attribute);
  }
  int64_t find(ArrayRef<DictionaryAttr> ports, StringRef name) const;
  InFlightDiagnostic error(StringRef input, StringRef output) const {
    return loopc::emitError(func.getLoc(), Diag::BadOption)
           << "the state " << input << "=" << output << ": ";
  }
  LogicalResult checkTypes(StringRef input, StringRef output, Type before,
                           Type after) const;
  DictionaryAttr describe(DictionaryAttr port, StringRef name) const;
  void moveArguments(ArrayRef<unsigned> order,
                     ArrayRef<DictionaryAttr> attributes, unsigned numFlags);

  mutable func::FuncOp func;
  mutable Builder builder;
  mutable func::ReturnOp exit;
  SmallVector<DictionaryAttr> inputs, outputs;
  /// For each input the number of the output that it is, or -1.
  SmallVector<int64_t> stateOf;
  SmallVector<bool> isPaired;
  /// Inputs in the order in which they became states.
  SmallVector<unsigned> added;
};
} // namespace

int64_t StatePairing::find(ArrayRef<DictionaryAttr> ports,
                           StringRef name) const {
  for (auto [k, port] : llvm::enumerate(ports))
    if (port && !has(port, kState) &&
        port.getAs<StringAttr>(kName) == builder.getStringAttr(name))
      return static_cast<int64_t>(k);
  return -1;
}

static std::string listNames(ArrayRef<DictionaryAttr> ports) {
  std::string text;
  for (DictionaryAttr port : ports)
    if (auto name = port ? port.getAs<StringAttr>(kName) : StringAttr())
      if (!port.contains(kState))
        text += (text.empty() ? "'" : ", '") + name.str() + "'";
  return text.empty() ? "none" : text;
}

LogicalResult StatePairing::checkTypes(StringRef input, StringRef output,
                                       Type before, Type after) const {
  auto from = dyn_cast<TensorType>(before), to = dyn_cast<TensorType>(after);
  if (!from || !to)
    return error(input, output)
           << "'" << (from ? output : input) << "' is "
           << (from ? after : before) << "; states are tensors";
  if (from.getElementType() != to.getElementType())
    return error(input, output)
           << "the input has elements of type " << from.getElementType()
           << ", the output of type " << to.getElementType();
  if (!from.hasRank())
    return error(input, output)
           << "the input has no rank; --shape=" << input << "=... gives one";
  if (to.hasRank() && from.getRank() != to.getRank())
    return error(input, output) << "the input has rank " << from.getRank()
                                << ", the output rank " << to.getRank();
  if (to.hasRank() && failed(verifyCompatibleShape(from, to)))
    return error(input, output)
           << "the input is " << from << ", the output " << to;
  return success();
}

LogicalResult StatePairing::add(StringRef input, StringRef output) {
  int64_t in = find(inputs, input), out = find(outputs, output);
  if (in < 0)
    return error(input, output) << "the model has no input '" << input
                                << "'; it has: " << listNames(inputs);
  if (out < 0)
    return error(input, output) << "the model has no output '" << output
                                << "'; it has: " << listNames(outputs);
  if (stateOf[in] >= 0 || isPaired[out])
    return error(input, output)
           << "'" << (isPaired[out] ? output : input) << "' is a state already";
  if (failed(checkTypes(input, output, func.getArgument(in).getType(),
                        exit.getOperand(out).getType())))
    return failure();
  stateOf[in] = out;
  isPaired[out] = true;
  added.push_back(in);
  return success();
}

/// What is said of the input or output `port` that is the state `name`.
DictionaryAttr StatePairing::describe(DictionaryAttr port,
                                      StringRef name) const {
  NamedAttrList attributes(port);
  attributes.set(kName, builder.getStringAttr(name));
  attributes.set(kState, builder.getUnitAttr());
  return attributes.getDictionary(func.getContext());
}

/// Gives the function its arguments in the order `order`, and `numFlags` more.
void StatePairing::moveArguments(ArrayRef<unsigned> order,
                                 ArrayRef<DictionaryAttr> attributes,
                                 unsigned numFlags) {
  Block &entry = func.getBody().front();
  unsigned count = entry.getNumArguments();
  for (unsigned k : order) {
    BlockArgument old = entry.getArgument(k);
    old.replaceAllUsesWith(entry.addArgument(old.getType(), old.getLoc()));
  }
  auto flag = RankedTensorType::get({}, builder.getI1Type());
  for ([[maybe_unused]] unsigned k : llvm::seq(numFlags))
    entry.addArgument(flag, func.getLoc());
  entry.eraseArguments(0, count);
  func.setFunctionType(builder.getFunctionType(entry.getArgumentTypes(),
                                               exit.getOperandTypes()));
  func.setAllArgAttrs(attributes);
}

void StatePairing::finish() {
  // Inputs, states that the model had, new ones, and the flags of both.
  SmallVector<unsigned> order, old, flags;
  for (auto [k, port] : llvm::enumerate(inputs))
    if (stateOf[k] < 0)
      (has(port, kFlag) ? flags : has(port, kState) ? old : order).push_back(k);
  llvm::append_range(order, old);
  llvm::append_range(order, added);
  llvm::append_range(order, flags);
  SmallVector<DictionaryAttr> arguments;
  for (unsigned k : order) {
    DictionaryAttr port = inputs[k];
    if (stateOf[k] >= 0) {
      auto type = cast<TensorType>(func.getArgument(k).getType());
      NamedAttrList attributes(describe(port, port.getAs<StringAttr>(kName)));
      if (!attributes.get(kDefault))
        attributes.set(kDefault, makeZeroState(builder, type));
      port = attributes.getDictionary(func.getContext());
    }
    arguments.push_back(port);
  }
  NamedAttrList flag;
  flag.set(kFlag, builder.getUnitAttr());
  arguments.append(added.size(), flag.getDictionary(func.getContext()));

  SmallVector<Value> results;
  SmallVector<DictionaryAttr> attributes;
  auto addResult = [&](unsigned k, DictionaryAttr port) {
    results.push_back(exit.getOperand(k));
    attributes.push_back(port);
  };
  for (bool isState : {false, true})
    for (auto [k, port] : llvm::enumerate(outputs))
      if (!isPaired[k] && has(port, kState) == isState)
        addResult(k, port);
  for (unsigned k : added) {
    unsigned out = stateOf[k];
    addResult(out, describe(outputs[out], inputs[k].getAs<StringAttr>(kName)));
  }
  exit.getOperandsMutable().assign(results);
  moveArguments(order, arguments, added.size());
  func.setAllResultAttrs(attributes);
}

LogicalResult
loopc::pairStates(ModuleOp module,
                  ArrayRef<std::pair<std::string, std::string>> pairs) {
  if (pairs.empty())
    return success();
  func::FuncOp func = getModelFunction(module);
  if (!func)
    return loopc::emitError(module.getLoc(), Diag::BadOption)
           << "states can be given to models, not to code that was lowered";
  StatePairing pairing(func);
  for (const auto &[input, output] : pairs)
    if (failed(pairing.add(input, output)))
      return failure();
  pairing.finish();
  return success();
}
