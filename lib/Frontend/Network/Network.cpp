//===- Network.cpp - Networks built by hand -------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Frontend/Network/Network.h"

#include <algorithm>
#include <tuple>

using namespace loopc::network;

std::unique_ptr<INetworkDefinition>
loopc::network::createNetwork(std::string_view name) {
  return std::make_unique<INetworkDefinition>(name);
}

//===----------------------------------------------------------------------===//
// The network
//===----------------------------------------------------------------------===//

INetworkDefinition::INetworkDefinition(std::string_view name) : name(name) {}
INetworkDefinition::~INetworkDefinition() = default;

void INetworkDefinition::addError(std::string text) {
  errors.push_back(std::move(text));
}

bool INetworkDefinition::findType(const ITensor &tensor, DataType &type,
                                  Dims &dims, std::string &error) const {
  if (parsed) {
    std::tie(type, dims) = tensor.layer ? parsed->outputs.at(tensor.index)
                                        : std::pair(tensor.type, tensor.dims);
    return true;
  }
  if (!oracle)
    oracle = TypeOracle::create(*this);
  return oracle->find(tensor, type, dims, error);
}

ITensor *INetworkDefinition::makeTensor(ILayer *layer, int32_t index) {
  tensors.emplace_back(
      new ITensor(*this, layer, index, static_cast<int32_t>(tensors.size())));
  return tensors.back().get();
}

bool INetworkDefinition::checkRank(const Dims &dims, const std::string &what) {
  if (dims.nbDims <= Dims::MAX_DIMS)
    return true;
  addError(what + " has " + std::to_string(dims.nbDims) +
           " dimensions but can have " + std::to_string(Dims::MAX_DIMS) +
           " at most");
  return false;
}

ITensor *INetworkDefinition::addInput(std::string_view name, DataType type,
                                      const Dims &dims) {
  ITensor *tensor = makeTensor(nullptr, getNbInputs());
  tensor->name = name;
  tensor->type = type;
  if (checkRank(dims, "input '" + tensor->name + "'"))
    tensor->dims = dims;
  inputs.push_back(tensor);
  return tensor;
}

void INetworkDefinition::markOutput(ITensor &tensor) {
  if (&tensor.network != this)
    return addError("'" + tensor.name + "' belongs to another network");
  if (tensor.output)
    return;
  tensor.output = true;
  outputs.push_back(&tensor);
}

void INetworkDefinition::unmarkOutput(ITensor &tensor) {
  if (&tensor.network != this)
    return addError("'" + tensor.name + "' belongs to another network");
  tensor.output = false;
  outputs.erase(std::remove(outputs.begin(), outputs.end(), &tensor),
                outputs.end());
}

template <typename T>
static T *at(const std::vector<std::unique_ptr<T>> &list, int32_t index) {
  return index >= 0 && index < static_cast<int32_t>(list.size())
             ? list[index].get()
             : nullptr;
}

ILayer *INetworkDefinition::getLayer(int32_t index) const {
  return at(layers, index);
}
ITensor *INetworkDefinition::getTensor(int32_t id) const {
  return at(tensors, id);
}
ILoop *INetworkDefinition::getLoop(int32_t index) const {
  return at(loops, index);
}
IIfConditional *INetworkDefinition::getConditional(int32_t index) const {
  return at(conditionals, index);
}
ITensor *INetworkDefinition::getInput(int32_t index) const {
  return index >= 0 && index < getNbInputs() ? inputs[index] : nullptr;
}
ITensor *INetworkDefinition::getOutput(int32_t index) const {
  return index >= 0 && index < getNbOutputs() ? outputs[index] : nullptr;
}

namespace {
/// The kind of a class of layers.
template <typename T> constexpr LayerType kKindOf = LayerType();
#define LOOPC_LAYER(CLASS, BASE, KIND, ...)                                    \
  template <> constexpr LayerType kKindOf<CLASS> = LayerType::k##KIND;
#include "loopc/Frontend/Network/Layers.def"
} // namespace

template <typename T>
T *INetworkDefinition::add(std::initializer_list<ITensor *> given, ILoop *loop,
                           IIfConditional *conditional) {
  constexpr LayerType type = kKindOf<T>;
  auto index = static_cast<int32_t>(layers.size());
  auto owned = std::make_unique<T>(ILayer::Key(), *this, type, index);
  T *layer = owned.get();
  layers.push_back(std::move(owned));
  layer->name = "(Unnamed Layer* " + std::to_string(index) + ") [" +
                loopc::network::getName(type) + "]";
  layer->loop = loop;
  layer->conditional = conditional;
  if (parsed)
    addError(layer->describe() + " cannot be added to '" + parsed->name +
             "', a model that was parsed");
  int32_t position = 0;
  for (ITensor *tensor : given) {
    if (tensor && &tensor->network != this)
      addError("'" + tensor->name + "', input " + std::to_string(position) +
               " of " + layer->describe() + ", belongs to another network");
    layer->inputs.push_back(tensor && &tensor->network == this ? tensor
                                                               : nullptr);
    ++position;
  }
  for (int32_t k = 0, n = getLayerSpec(type)->numOutputs; k < n; ++k) {
    ITensor *tensor = makeTensor(layer, k);
    tensor->name = layer->name + "_output";
    if (k)
      tensor->name += "_" + std::to_string(k);
    layer->outputs.push_back(tensor);
  }
  return layer;
}

ILayer *INetworkDefinition::addLayer(LayerType type, ITensor *const *given,
                                     int32_t count, ILoop *loop,
                                     IIfConditional *conditional,
                                     int32_t nbOutputs) {
  ILayer *layer = nullptr;
  switch (type) {
#define LOOPC_LAYER(CLASS, BASE, KIND, ...)                                    \
  case LayerType::k##KIND:                                                     \
    layer = add<CLASS>({}, loop, conditional);                                 \
    break;
#include "loopc/Frontend/Network/Layers.def"
  }
  if (!layer) {
    addError("there is no layer of kind " +
             std::to_string(static_cast<int32_t>(type)));
    layer = add<INodeLayer>({});
  }
  if ((loop && &loop->getNetwork() != this) ||
      (conditional && &conditional->getNetwork() != this)) {
    addError("the loop or conditional of " + layer->describe() +
             " belongs to another network");
    layer->loop = nullptr;
    layer->conditional = nullptr;
  }
  if (count > 0 && !given) {
    addError("the inputs of " + layer->describe() + " must not be null");
    count = 0;
  }
  for (int32_t k = 0; k < count; ++k)
    if (given[k])
      layer->setInput(k, *given[k]);
    else
      layer->inputs.resize(std::max<size_t>(layer->inputs.size(), k + 1));
  constexpr int32_t kMaxOutputs = 1 << 16;
  if (nbOutputs > kMaxOutputs) {
    addError(layer->describe() + " cannot have " + std::to_string(nbOutputs) +
             " outputs");
    nbOutputs = 0;
  }
  for (int32_t k = layer->getNbOutputs(); k < nbOutputs; ++k) {
    ITensor *tensor = makeTensor(layer, k);
    tensor->name = layer->name + "_output_" + std::to_string(k);
    layer->outputs.push_back(tensor);
  }
  return layer;
}

bool INetworkDefinition::removeLastLayer() {
  if (layers.empty()) {
    addError("there is no layer to remove");
    return false;
  }
  ILayer *last = layers.back().get();
  auto isOfLast = [&](const ITensor *one) { return one && one->layer == last; };
  bool isUsed = std::any_of(outputs.begin(), outputs.end(), isOfLast);
  for (const auto &one : layers)
    isUsed |= one.get() != last &&
              std::any_of(one->inputs.begin(), one->inputs.end(), isOfLast);
  // Tensors are numbered: one that came later would get another number.
  for (size_t k = 0; k < last->outputs.size() && !isUsed; ++k)
    isUsed = tensors[tensors.size() - 1 - k]->layer != last;
  if (isUsed) {
    addError(last->describe() + " cannot be removed: something came after it");
    return false;
  }
  // It knows layers and tensors by their addresses.
  oracle.reset();
  if (last->conditional && last->conditional->condition == last)
    last->conditional->condition = nullptr;
  tensors.resize(tensors.size() - last->outputs.size());
  layers.pop_back();
  return true;
}

//===----------------------------------------------------------------------===//
// Loops and conditionals
//===----------------------------------------------------------------------===//

ILoop *INetworkDefinition::addLoop() {
  auto index = static_cast<int32_t>(loops.size());
  loops.emplace_back(new ILoop(*this, index));
  loops.back()->name = "(Unnamed Loop* " + std::to_string(index) + ")";
  return loops.back().get();
}

IIfConditional *INetworkDefinition::addIfConditional() {
  auto index = static_cast<int32_t>(conditionals.size());
  conditionals.emplace_back(new IIfConditional(*this, index));
  conditionals.back()->name =
      "(Unnamed Conditional* " + std::to_string(index) + ")";
  return conditionals.back().get();
}

ITripLimitLayer *ILoop::addTripLimit(ITensor &tensor, TripLimit limit) {
  auto *layer = network.add<ITripLimitLayer>({&tensor}, this);
  layer->setAttribute("limit", static_cast<int64_t>(limit));
  return layer;
}

IIteratorLayer *ILoop::addIterator(ITensor &tensor, int32_t axis,
                                   bool reverse) {
  auto *layer = network.add<IIteratorLayer>({&tensor}, this);
  layer->setAxis(axis);
  layer->setReverse(reverse);
  return layer;
}

IRecurrenceLayer *ILoop::addRecurrence(ITensor &initialValue) {
  return network.add<IRecurrenceLayer>({&initialValue}, this);
}

ILoopOutputLayer *ILoop::addLoopOutput(ITensor &tensor, LoopOutput output,
                                       int32_t axis) {
  auto *layer = network.add<ILoopOutputLayer>({&tensor}, this);
  layer->setAttribute("output", static_cast<int64_t>(output));
  layer->setAxis(axis);
  return layer;
}

IConditionLayer *IIfConditional::setCondition(ITensor &tensor) {
  if (!condition)
    condition = network.add<IConditionLayer>({nullptr}, nullptr, this);
  condition->setInput(0, tensor);
  return condition;
}

IIfConditionalInputLayer *IIfConditional::addInput(ITensor &input) {
  return network.add<IIfConditionalInputLayer>({&input}, nullptr, this);
}

IIfConditionalOutputLayer *IIfConditional::addOutput(ITensor &trueOutput,
                                                     ITensor &falseOutput) {
  return network.add<IIfConditionalOutputLayer>({&trueOutput, &falseOutput},
                                                nullptr, this);
}

//===----------------------------------------------------------------------===//
// Functions that add one layer
//===----------------------------------------------------------------------===//

int64_t INetworkDefinition::checkCount(const Dims &dims, int64_t count,
                                       const ILayer &layer) {
  if (!checkRank(dims, layer.describe()))
    return -1;
  int64_t product = 1;
  bool isGood = true;
  std::string shape;
  for (int64_t extent : toVector(dims)) {
    isGood = isGood && extent >= 0 &&
             !__builtin_mul_overflow(product, extent, &product);
    shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
  }
  if (isGood && product == count)
    return count;
  addError(layer.describe() + " has " + std::to_string(count) +
           " values but the shape [" + shape + "]");
  return -1;
}

IConstantLayer *INetworkDefinition::addConstant(const Dims &dims,
                                                const Weights &weights) {
  auto *layer = add<IConstantLayer>({});
  if (checkCount(dims, weights.count, *layer) < 0)
    return layer;
  Constant shaped;
  shaped.shape = toVector(dims);
  shaped.type = weights.type;
  layer->setAttribute("value", std::move(shaped));
  layer->setWeights(weights);
  return layer;
}

IConstantLayer *
INetworkDefinition::addStringConstant(const Dims &dims,
                                      const std::vector<std::string> &values) {
  auto *layer = add<IConstantLayer>({});
  if (checkCount(dims, static_cast<int64_t>(values.size()), *layer) < 0)
    return layer;
  Constant constant;
  constant.type = DataType::kSTRING;
  constant.shape = toVector(dims);
  constant.strings = std::make_shared<std::vector<std::string>>(values);
  layer->setAttribute("value", std::move(constant));
  return layer;
}

IElementWiseLayer *
INetworkDefinition::addElementWise(ITensor &a, ITensor &b,
                                   ElementWiseOperation operation) {
  auto *layer = add<IElementWiseLayer>({&a, &b});
  layer->setOperation(operation);
  return layer;
}

IUnaryLayer *INetworkDefinition::addUnary(ITensor &input,
                                          UnaryOperation operation) {
  auto *layer = add<IUnaryLayer>({&input});
  layer->setOperation(operation);
  return layer;
}

IActivationLayer *INetworkDefinition::addActivation(ITensor &input,
                                                    ActivationType type) {
  auto *layer = add<IActivationLayer>({&input});
  layer->setActivationType(type);
  return layer;
}

IMatrixMultiplyLayer *
INetworkDefinition::addMatrixMultiply(ITensor &a, MatrixOperation opA,
                                      ITensor &b, MatrixOperation opB) {
  auto *layer = add<IMatrixMultiplyLayer>({&a, &b});
  layer->setOperation(0, opA);
  layer->setOperation(1, opB);
  return layer;
}

template <typename T>
T *INetworkDefinition::addConvolution(ITensor &input, int64_t nbOutputMaps,
                                      const Dims &kernelSize,
                                      const Weights &kernel,
                                      const Weights &bias) {
  auto *layer = add<T>({&input});
  layer->setNbOutputMaps(nbOutputMaps);
  layer->setKernelSizeNd(kernelSize);
  if (kernel.count)
    layer->setKernelWeights(kernel);
  if (bias.count)
    layer->setBiasWeights(bias);
  return layer;
}

IConvolutionLayer *INetworkDefinition::addConvolutionNd(ITensor &input,
                                                        int64_t nbOutputMaps,
                                                        const Dims &kernelSize,
                                                        const Weights &kernel,
                                                        const Weights &bias) {
  return addConvolution<IConvolutionLayer>(input, nbOutputMaps, kernelSize,
                                           kernel, bias);
}

IDeconvolutionLayer *INetworkDefinition::addDeconvolutionNd(
    ITensor &input, int64_t nbOutputMaps, const Dims &kernelSize,
    const Weights &kernel, const Weights &bias) {
  return addConvolution<IDeconvolutionLayer>(input, nbOutputMaps, kernelSize,
                                             kernel, bias);
}

IPoolingLayer *INetworkDefinition::addPoolingNd(ITensor &input,
                                                PoolingType type,
                                                const Dims &windowSize) {
  auto *layer = add<IPoolingLayer>({&input});
  layer->setPoolingType(type);
  layer->setWindowSizeNd(windowSize);
  return layer;
}

IReduceLayer *INetworkDefinition::addReduce(ITensor &input,
                                            ReduceOperation operation,
                                            uint32_t axes,
                                            bool keepDimensions) {
  auto *layer = add<IReduceLayer>({&input});
  layer->setOperation(operation);
  layer->setReduceAxes(axes);
  layer->setKeepDimensions(keepDimensions);
  return layer;
}

IShuffleLayer *INetworkDefinition::addShuffle(ITensor &input) {
  return add<IShuffleLayer>({&input});
}

ISliceLayer *INetworkDefinition::addSlice(ITensor &input, const Dims &start,
                                          const Dims &size,
                                          const Dims &stride) {
  auto *layer = add<ISliceLayer>({&input});
  layer->setStart(start);
  layer->setSize(size);
  layer->setStride(stride);
  return layer;
}

IConcatenationLayer *INetworkDefinition::addConcatenation(ITensor *const *given,
                                                          int32_t count) {
  return static_cast<IConcatenationLayer *>(
      addLayer(LayerType::kCONCATENATION, given, count));
}

IGatherLayer *INetworkDefinition::addGather(ITensor &data, ITensor &indices,
                                            int32_t axis) {
  auto *layer = add<IGatherLayer>({&data, &indices});
  layer->setGatherAxis(axis);
  return layer;
}

IGatherLayer *INetworkDefinition::addGatherV2(ITensor &data, ITensor &indices,
                                              GatherMode mode) {
  auto *layer = add<IGatherLayer>({&data, &indices});
  layer->setMode(mode);
  return layer;
}

ISelectLayer *INetworkDefinition::addSelect(ITensor &condition,
                                            ITensor &thenInput,
                                            ITensor &elseInput) {
  return add<ISelectLayer>({&condition, &thenInput, &elseInput});
}

IShapeLayer *INetworkDefinition::addShape(ITensor &input) {
  return add<IShapeLayer>({&input});
}

IIdentityLayer *INetworkDefinition::addIdentity(ITensor &input) {
  return add<IIdentityLayer>({&input});
}

ICastLayer *INetworkDefinition::addCast(ITensor &input, DataType toType) {
  auto *layer = add<ICastLayer>({&input});
  layer->setToType(toType);
  return layer;
}

ISoftMaxLayer *INetworkDefinition::addSoftMax(ITensor &input) {
  return add<ISoftMaxLayer>({&input});
}

ITopKLayer *INetworkDefinition::addTopK(ITensor &input, TopKOperation operation,
                                        int32_t k, uint32_t axes,
                                        DataType indicesType) {
  auto *layer = add<ITopKLayer>({&input});
  layer->setOperation(operation);
  layer->setK(k);
  layer->setReduceAxes(axes);
  layer->setIndicesType(indicesType);
  return layer;
}

IFillLayer *INetworkDefinition::addFill(const Dims &dims,
                                        FillOperation operation,
                                        DataType outputType) {
  auto *layer = add<IFillLayer>({});
  layer->setDimensions(dims);
  layer->setOperation(operation);
  layer->setToType(outputType);
  return layer;
}

IScatterLayer *INetworkDefinition::addScatter(ITensor &data, ITensor &indices,
                                              ITensor &updates,
                                              ScatterMode mode) {
  auto *layer = add<IScatterLayer>({&data, &indices, &updates});
  layer->setMode(mode);
  return layer;
}

INormalizationLayer *INetworkDefinition::addNormalization(ITensor &input,
                                                          ITensor &scale,
                                                          ITensor &bias,
                                                          uint32_t axes) {
  auto *layer = add<INormalizationLayer>({&input, &scale, &bias});
  layer->setAxes(axes);
  return layer;
}

IEinsumLayer *INetworkDefinition::addEinsum(ITensor *const *given,
                                            int32_t count,
                                            std::string_view equation) {
  auto *layer =
      static_cast<IEinsumLayer *>(addLayer(LayerType::kEINSUM, given, count));
  layer->setEquation(equation);
  return layer;
}

IOneHotLayer *INetworkDefinition::addOneHot(ITensor &indices, ITensor &values,
                                            ITensor &depth, int32_t axis) {
  auto *layer = add<IOneHotLayer>({&indices, &values, &depth});
  layer->setAxis(axis);
  return layer;
}

INonZeroLayer *INetworkDefinition::addNonZero(ITensor &input,
                                              DataType indicesType) {
  auto *layer = add<INonZeroLayer>({&input});
  layer->setIndicesType(indicesType);
  return layer;
}

IParametricReLULayer *INetworkDefinition::addParametricReLU(ITensor &input,
                                                            ITensor &slope) {
  return add<IParametricReLULayer>({&input, &slope});
}

ISqueezeLayer *INetworkDefinition::addSqueeze(ITensor &input, ITensor &axes) {
  return add<ISqueezeLayer>({&input, &axes});
}

IUnsqueezeLayer *INetworkDefinition::addUnsqueeze(ITensor &input,
                                                  ITensor &axes) {
  return add<IUnsqueezeLayer>({&input, &axes});
}

ICumulativeLayer *
INetworkDefinition::addCumulative(ITensor &input, ITensor &axis,
                                  CumulativeOperation operation, bool exclusive,
                                  bool reverse) {
  auto *layer = add<ICumulativeLayer>({&input, &axis});
  layer->setOperation(operation);
  layer->setExclusive(exclusive);
  layer->setReverse(reverse);
  return layer;
}

IReverseSequenceLayer *
INetworkDefinition::addReverseSequence(ITensor &input, ITensor &sequenceLens) {
  return add<IReverseSequenceLayer>({&input, &sequenceLens});
}

ILRNLayer *INetworkDefinition::addLRN(ITensor &input, int64_t window,
                                      float alpha, float beta, float k) {
  auto *layer = add<ILRNLayer>({&input});
  layer->setWindowSize(window);
  layer->setAlpha(alpha);
  layer->setBeta(beta);
  layer->setK(k);
  return layer;
}

IGridSampleLayer *INetworkDefinition::addGridSample(ITensor &input,
                                                    ITensor &grid) {
  return add<IGridSampleLayer>({&input, &grid});
}

INMSLayer *INetworkDefinition::addNMS(ITensor &boxes, ITensor &scores,
                                      ITensor &maxOutputBoxesPerClass) {
  return add<INMSLayer>({&boxes, &scores, &maxOutputBoxesPerClass});
}

IScaleLayer *INetworkDefinition::addScale(ITensor &input, ScaleMode mode,
                                          const Weights &shift,
                                          const Weights &scale,
                                          const Weights &power) {
  return addScaleNd(input, mode, shift, scale, power, 1);
}

IScaleLayer *INetworkDefinition::addScaleNd(ITensor &input, ScaleMode mode,
                                            const Weights &shift,
                                            const Weights &scale,
                                            const Weights &power,
                                            int32_t channelAxis) {
  auto *layer = add<IScaleLayer>({&input});
  layer->setMode(mode);
  layer->setShift(shift);
  layer->setScale(scale);
  layer->setPower(power);
  layer->setChannelAxis(channelAxis);
  return layer;
}

IPaddingLayer *INetworkDefinition::addPaddingNd(ITensor &input,
                                                const Dims &prePadding,
                                                const Dims &postPadding) {
  auto *layer = add<IPaddingLayer>({&input});
  layer->setPrePaddingNd(prePadding);
  layer->setPostPaddingNd(postPadding);
  return layer;
}

IResizeLayer *INetworkDefinition::addResize(ITensor &input) {
  return add<IResizeLayer>({&input});
}

IQuantizeLayer *INetworkDefinition::addQuantize(ITensor &input, ITensor &scale,
                                                DataType outputType) {
  auto *layer = add<IQuantizeLayer>({&input, &scale});
  layer->setToType(outputType);
  return layer;
}

IDequantizeLayer *INetworkDefinition::addDequantize(ITensor &input,
                                                    ITensor &scale,
                                                    DataType outputType) {
  auto *layer = add<IDequantizeLayer>({&input, &scale});
  layer->setToType(outputType);
  return layer;
}

IRaggedSoftMaxLayer *INetworkDefinition::addRaggedSoftMax(ITensor &input,
                                                          ITensor &bounds) {
  return add<IRaggedSoftMaxLayer>({&input, &bounds});
}

IAssertionLayer *INetworkDefinition::addAssertion(ITensor &condition,
                                                  std::string_view message) {
  auto *layer = add<IAssertionLayer>({&condition});
  layer->setMessage(message);
  return layer;
}

INodeLayer *INetworkDefinition::addNode(std::string_view opType,
                                        ITensor *const *given, int32_t count,
                                        int32_t nbOutputs) {
  auto *layer = static_cast<INodeLayer *>(
      addLayer(LayerType::kNODE, given, count, nullptr, nullptr, nbOutputs));
  layer->setAttribute("op_type", std::string(opType));
  return layer;
}
