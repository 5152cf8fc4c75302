//===- Oracle.cpp - Types while a network grows -------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerEmitter.h"

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::network;

namespace {
/// A context of its own, made before everything that needs it.
struct OwnContext {
  MLIRContext owned{MLIRContext::Threading::DISABLED};
};

/// Emits layers into one flat block, as they are asked for. What comes from the
/// border of a loop or a conditional is an argument of the block.
class FlatTypes : OwnContext, LayerEmitter, public TypeOracle {
public:
  explicit FlatTypes(const INetworkDefinition &network)
      : LayerEmitter(network, owned) {
    // Operations that an error is about may be half made.
    context.printOpOnDiagnostic(false);
    context
        .loadDialect<arith::ArithDialect, func::FuncDialect, loop::LoopDialect,
                     onnx::ONNXDialect, tensor::TensorDialect>();
    reset();
  }

  bool find(const ITensor &tensor, DataType &type, Dims &dims,
            std::string &error) override;
  void changed(const ILayer &layer) override;
  void reset() override;

private:
  bool evaluate(const ITensor &tensor);
  bool evaluateLayer(const ILayer &layer);
  bool evaluateBorder(const ILayer &layer);
  /// False where a recurrence turned out to change its extents: from now on it
  /// has others.
  bool checkRecurrences();
  Value placeholder(Type type) {
    return entryBlock->addArgument(type, fileLoc);
  }

  OwningOpRef<ModuleOp> module;
  llvm::DenseSet<const ILayer *> done;
  /// Recurrences that were found not to change, or to, and to what.
  llvm::DenseSet<const ILayer *> checked;
  SmallVector<const ILayer *> recurrences;
  llvm::DenseMap<const ILayer *, Type> widened;
};
} // namespace

std::unique_ptr<TypeOracle>
TypeOracle::create(const INetworkDefinition &network) {
  return std::make_unique<FlatTypes>(network);
}

void FlatTypes::reset() {
  forgetValues();
  done.clear();
  checked.clear();
  recurrences.clear();
  module = ModuleOp::create(fileLoc);
  builder.setInsertionPointToEnd(module->getBody());
  auto func = func::FuncOp::create(builder, fileLoc, "main",
                                   builder.getFunctionType({}, {}));
  entryBlock = func.addEntryBlock();
  builder.setInsertionPointToEnd(entryBlock);
}

void FlatTypes::changed(const ILayer &layer) {
  // Closing a recurrence changes nothing where it is what it begins as: that
  // is seen when a type is asked for.
  bool closes = layer.getType() == LayerType::kRECURRENCE &&
                layer.getNbInputs() == 2 && !checked.contains(&layer);
  if (closes || !done.contains(&layer))
    return;
  widened.clear();
  reset();
}

bool FlatTypes::find(const ITensor &tensor, DataType &type, Dims &dims,
                     std::string &error) {
  DiagnosticCollector collector(&context);
  constexpr unsigned kPatience = 64;
  bool found = false;
  for (unsigned round = 0; round < kPatience; ++round) {
    found = evaluate(tensor);
    if (!found || checkRecurrences())
      break;
  }
  dims = Dims();
  dims.nbDims = -1;
  if (!found) {
    // What is wrong stays wrong until a layer changes, but must be said again.
    error = collector.str();
    reset();
    return false;
  }
  auto value = cast<TensorType>(lookup(&tensor).getType());
  type = dataType(value.getElementType()).value_or(DataType::kFLOAT);
  if (!value.hasRank())
    return true;
  if (value.getRank() > Dims::MAX_DIMS) {
    error = "'" + std::string(tensor.getName()) + "' has rank " +
            std::to_string(value.getRank());
    return false;
  }
  dims.nbDims = static_cast<int32_t>(value.getRank());
  for (auto [k, extent] : llvm::enumerate(value.getShape()))
    dims.d[k] = ShapedType::isDynamic(extent) ? -1 : extent;
  return true;
}

bool FlatTypes::evaluate(const ITensor &tensor) {
  if (lookup(&tensor))
    return true;
  if (!tensor.getLayer()) {
    const Dims &dims = tensor.getDeclaredDimensions();
    Type element = elementType(tensor.getDeclaredType());
    if (!element)
      return false;
    Type type = UnrankedTensorType::get(element);
    if (dims.nbDims >= 0)
      type = RankedTensorType::get(
          llvm::map_to_vector(ArrayRef(dims.d, dims.nbDims),
                              [](int64_t extent) {
                                return extent < 0 ? ShapedType::kDynamic
                                                  : extent;
                              }),
          element);
    bind(&tensor, placeholder(type));
    return true;
  }
  // Depth first with a stack of our own: networks may be deep.
  SmallVector<const ILayer *> stack{tensor.getLayer()};
  llvm::DenseSet<const ILayer *> open;
  while (!stack.empty()) {
    const ILayer *layer = stack.back();
    if (done.contains(layer)) {
      stack.pop_back();
      continue;
    }
    if (!open.insert(layer).second) {
      if (!evaluateLayer(*layer))
        return false;
      done.insert(layer);
      stack.pop_back();
      continue;
    }
    int32_t inputs =
        layer->getType() == LayerType::kRECURRENCE ? 1 : layer->getNbInputs();
    for (int32_t k = 0; k < inputs; ++k) {
      const ITensor *input = layer->getInput(k);
      if (!input || lookup(input))
        continue;
      if (!input->getLayer()) {
        if (!evaluate(*input))
          return false;
      } else if (open.contains(input->getLayer())) {
        failAt(*layer, Diag::NetworkCycle) << "depends on itself";
        return false;
      } else {
        stack.push_back(input->getLayer());
      }
    }
  }
  return static_cast<bool>(lookup(&tensor));
}

bool FlatTypes::evaluateLayer(const ILayer &layer) {
  for (int32_t k = 0; k < getLayerSpec(layer.getType())->minInputs; ++k)
    if (!layer.getInput(k)) {
      failAt(layer, Diag::BadLayer) << "has no input " << k;
      return false;
    }
  return layer.getLoop() || layer.getConditional()
             ? evaluateBorder(layer)
             : succeeded(emitLayer(layer));
}

bool FlatTypes::evaluateBorder(const ILayer &layer) {
  enter(layer);
  Value first = lookup(layer.getInput(0));
  Type type = first.getType();
  auto rankedType = dyn_cast<RankedTensorType>(type);
  switch (layer.getType()) {
  case LayerType::kITERATOR: {
    if (!rankedType)
      return ranked(first, *layer.getInput(0)) != nullptr;
    auto axis =
        axisOf(layer.getInt("axis"), rankedType.getRank(), Diag::BadIterator);
    if (!axis)
      return false;
    SmallVector<int64_t> shape(rankedType.getShape());
    shape.erase(shape.begin() + *axis);
    type = rankedType.clone(shape);
    break;
  }
  case LayerType::kRECURRENCE:
    recurrences.push_back(&layer);
    if (Type wider = widened.lookup(&layer))
      type = wider;
    break;
  case LayerType::kLOOP_OUTPUT: {
    if (layer.getInt("output") ==
            static_cast<int64_t>(LoopOutput::kLAST_VALUE) ||
        !rankedType)
      break;
    auto axis = axisOf(layer.getInt("axis"), rankedType.getRank() + 1,
                       Diag::BadLoopOutput);
    if (!axis)
      return false;
    Value length = layer.getInput(1) ? lookup(layer.getInput(1)) : Value();
    int64_t extent =
        length && cache ? cache->getInteger(length).value_or(-1) : -1;
    SmallVector<int64_t> shape(rankedType.getShape());
    shape.insert(shape.begin() + *axis,
                 extent < 0 ? ShapedType::kDynamic : extent);
    type = rankedType.clone(shape);
    break;
  }
  case LayerType::kCONDITIONAL_OUTPUT: {
    Type other = lookup(layer.getInput(1)).getType();
    Type joined = onnx::joinTypes(type, other);
    if (!joined) {
      failAt(layer, Diag::BadConditional)
          << "'" << layer.getInput(0)->getName() << "' is " << type << " but '"
          << layer.getInput(1)->getName() << "' is " << other;
      return false;
    }
    type = joined;
    break;
  }
  default:
    break;
  }
  if (layer.getNbOutputs())
    bind(layer.getOutput(0), placeholder(type));
  return true;
}

bool FlatTypes::checkRecurrences() {
  // Looking at one may reach others.
  for (size_t k = 0; k < recurrences.size(); ++k) {
    const ILayer *layer = recurrences[k];
    const ITensor *next = layer->getInput(1);
    if (!next || checked.contains(layer))
      continue;
    // Inner layers that are wrong say so when they are asked for.
    if (!evaluate(*next)) {
      checked.insert(layer);
      continue;
    }
    Type now = lookup(layer->getOutput(0)).getType();
    Type joined = onnx::joinTypes(now, lookup(next).getType());
    if (joined && joined != now) {
      widened[layer] = joined;
      reset();
      return false;
    }
    checked.insert(layer);
  }
  return true;
}
