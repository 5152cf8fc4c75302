//===- Network.h - Networks built by hand -----------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A network of layers, shaped like TensorRT's INetworkDefinition:
//
//   std::unique_ptr<INetworkDefinition> network = createNetwork("sums");
//   ITensor *x = network->addInput("x", DataType::kFLOAT, Dims2(-1, 4));
//   ITensor *count = network->addInput("n", DataType::kINT32, Dims(0, {}));
//   ITensor *zero = ...addConstant...;
//   ILoop *loop = network->addLoop();
//   loop->addTripLimit(*count, TripLimit::kCOUNT);
//   ITensor *row = loop->addIterator(*x)->getOutput(0);
//   IRecurrenceLayer *sum = loop->addRecurrence(*zero);
//   ITensor *next = network->addElementWise(*sum->getOutput(0), *row,
//       ElementWiseOperation::kSUM)->getOutput(0);
//   sum->setInput(1, *next);
//   network->markOutput(*loop->addLoopOutput(*sum->getOutput(0),
//       LoopOutput::kLAST_VALUE)->getOutput(0));
//
// The network is only a description: Emit.h makes a module of it, Compiler.h
// compiles it. What is wrong with it is said then, naming the layers; what is
// wrong with a call (a tensor of another network, an input that a layer has
// not) is kept, see getErrors(), and said then, too. Calls never return null.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_FRONTEND_NETWORK_NETWORK_H
#define LOOPC_FRONTEND_NETWORK_NETWORK_H

#include "loopc/Frontend/Network/Layers.h"

namespace loopc::network {

/// A loop: the layers at its border. What else is in it follows from who uses
/// what (trt_*).
class ILoop {
public:
  ILoop(const ILoop &) = delete;
  ILoop &operator=(const ILoop &) = delete;

  /// kCOUNT: a 0-D integer from outside. kWHILE: a 0-D bool.
  ITripLimitLayer *addTripLimit(ITensor &tensor, TripLimit limit);
  IIteratorLayer *addIterator(ITensor &tensor, int32_t axis = 0,
                              bool reverse = false);
  /// To be closed by setInput(1, next value).
  IRecurrenceLayer *addRecurrence(ITensor &initialValue);
  /// `axis` and the length, setInput(1, length), are for kCONCATENATE and
  /// kREVERSE.
  ILoopOutputLayer *addLoopOutput(ITensor &tensor, LoopOutput output,
                                  int32_t axis = 0);

  void setName(std::string_view text) { name = text; }
  const char *getName() const { return name.c_str(); }
  int32_t getIndex() const { return index; }
  INetworkDefinition &getNetwork() const { return network; }

private:
  friend class INetworkDefinition;
  ILoop(INetworkDefinition &network, int32_t index)
      : network(network), index(index) {}
  INetworkDefinition &network;
  int32_t index;
  std::string name;
};

/// An if: layers that depend on its inputs are in its branches, and run where
/// the branch is taken.
class IIfConditional {
public:
  IIfConditional(const IIfConditional &) = delete;
  IIfConditional &operator=(const IIfConditional &) = delete;

  /// A bool of one element.
  IConditionLayer *setCondition(ITensor &condition);
  IIfConditionalInputLayer *addInput(ITensor &input);
  IIfConditionalOutputLayer *addOutput(ITensor &trueSubgraphOutput,
                                       ITensor &falseSubgraphOutput);

  void setName(std::string_view text) { name = text; }
  const char *getName() const { return name.c_str(); }
  int32_t getIndex() const { return index; }
  INetworkDefinition &getNetwork() const { return network; }

private:
  friend class INetworkDefinition;
  IIfConditional(INetworkDefinition &network, int32_t index)
      : network(network), index(index) {}
  INetworkDefinition &network;
  int32_t index;
  std::string name;
  IConditionLayer *condition = nullptr;
};

/// A model that a parser has read into a network (loopc/TensorRT.h).
struct ParsedModel {
  /// The file, or what stands for it in messages.
  std::string name;
  /// The model; empty where the file is read again when it is compiled.
  std::string bytes;
  /// What its outputs are.
  std::vector<std::pair<DataType, Dims>> outputs;
};

/// Finds types while a network grows.
class TypeOracle {
public:
  static std::unique_ptr<TypeOracle> create(const INetworkDefinition &network);
  virtual ~TypeOracle() = default;
  virtual bool find(const ITensor &tensor, DataType &type, Dims &dims,
                    std::string &error) = 0;
  /// A layer's inputs or values are others than before.
  virtual void changed(const ILayer &layer) = 0;
  /// Everything may be other than before.
  virtual void reset() = 0;
};

/// A network: inputs, layers, loops, conditionals, outputs.
class INetworkDefinition {
public:
  explicit INetworkDefinition(std::string_view name = "");
  ~INetworkDefinition();
  INetworkDefinition(const INetworkDefinition &) = delete;
  INetworkDefinition &operator=(const INetworkDefinition &) = delete;

  void setName(std::string_view text) { name = text; }
  const char *getName() const { return name.c_str(); }

  ITensor *addInput(std::string_view name, DataType type, const Dims &dims);
  void markOutput(ITensor &tensor);
  void unmarkOutput(ITensor &tensor);

  IConstantLayer *addConstant(const Dims &dims, const Weights &weights);
  IConstantLayer *addStringConstant(const Dims &dims,
                                    const std::vector<std::string> &values);
  IElementWiseLayer *addElementWise(ITensor &a, ITensor &b,
                                    ElementWiseOperation operation);
  IUnaryLayer *addUnary(ITensor &input, UnaryOperation operation);
  IActivationLayer *addActivation(ITensor &input, ActivationType type);
  IMatrixMultiplyLayer *addMatrixMultiply(ITensor &a, MatrixOperation opA,
                                          ITensor &b, MatrixOperation opB);
  IConvolutionLayer *addConvolutionNd(ITensor &input, int64_t nbOutputMaps,
                                      const Dims &kernelSize,
                                      const Weights &kernel,
                                      const Weights &bias = {});
  IDeconvolutionLayer *addDeconvolutionNd(ITensor &input, int64_t nbOutputMaps,
                                          const Dims &kernelSize,
                                          const Weights &kernel,
                                          const Weights &bias = {});
  IPoolingLayer *addPoolingNd(ITensor &input, PoolingType type,
                              const Dims &windowSize);
  IReduceLayer *addReduce(ITensor &input, ReduceOperation operation,
                          uint32_t axes, bool keepDimensions);
  IShuffleLayer *addShuffle(ITensor &input);
  ISliceLayer *addSlice(ITensor &input, const Dims &start, const Dims &size,
                        const Dims &stride);
  IConcatenationLayer *addConcatenation(ITensor *const *inputs,
                                        int32_t nbInputs);
  IGatherLayer *addGather(ITensor &data, ITensor &indices, int32_t axis);
  IGatherLayer *addGatherV2(ITensor &data, ITensor &indices, GatherMode mode);
  ISelectLayer *addSelect(ITensor &condition, ITensor &thenInput,
                          ITensor &elseInput);
  IShapeLayer *addShape(ITensor &input);
  IIdentityLayer *addIdentity(ITensor &input);
  ICastLayer *addCast(ITensor &input, DataType toType);
  ISoftMaxLayer *addSoftMax(ITensor &input);
  ITopKLayer *addTopK(ITensor &input, TopKOperation operation, int32_t k,
                      uint32_t axes, DataType indicesType = DataType::kINT32);
  IFillLayer *addFill(const Dims &dims, FillOperation operation,
                      DataType outputType = DataType::kFLOAT);
  IScatterLayer *addScatter(ITensor &data, ITensor &indices, ITensor &updates,
                            ScatterMode mode);
  INormalizationLayer *addNormalization(ITensor &input, ITensor &scale,
                                        ITensor &bias, uint32_t axes);
  IEinsumLayer *addEinsum(ITensor *const *inputs, int32_t nbInputs,
                          std::string_view equation);
  IOneHotLayer *addOneHot(ITensor &indices, ITensor &values, ITensor &depth,
                          int32_t axis);
  INonZeroLayer *addNonZero(ITensor &input,
                            DataType indicesType = DataType::kINT32);
  IParametricReLULayer *addParametricReLU(ITensor &input, ITensor &slope);
  ISqueezeLayer *addSqueeze(ITensor &input, ITensor &axes);
  IUnsqueezeLayer *addUnsqueeze(ITensor &input, ITensor &axes);
  ICumulativeLayer *addCumulative(ITensor &input, ITensor &axis,
                                  CumulativeOperation operation, bool exclusive,
                                  bool reverse);
  IReverseSequenceLayer *addReverseSequence(ITensor &input,
                                            ITensor &sequenceLens);
  ILRNLayer *addLRN(ITensor &input, int64_t window, float alpha, float beta,
                    float k);
  IGridSampleLayer *addGridSample(ITensor &input, ITensor &grid);
  INMSLayer *addNMS(ITensor &boxes, ITensor &scores,
                    ITensor &maxOutputBoxesPerClass);
  IScaleLayer *addScale(ITensor &input, ScaleMode mode, const Weights &shift,
                        const Weights &scale, const Weights &power);
  IScaleLayer *addScaleNd(ITensor &input, ScaleMode mode, const Weights &shift,
                          const Weights &scale, const Weights &power,
                          int32_t channelAxis);
  IPaddingLayer *addPaddingNd(ITensor &input, const Dims &prePadding,
                              const Dims &postPadding);
  IResizeLayer *addResize(ITensor &input);
  IQuantizeLayer *addQuantize(ITensor &input, ITensor &scale,
                              DataType outputType = DataType::kINT8);
  IDequantizeLayer *addDequantize(ITensor &input, ITensor &scale,
                                  DataType outputType = DataType::kFLOAT);
  IRaggedSoftMaxLayer *addRaggedSoftMax(ITensor &input, ITensor &bounds);
  IAssertionLayer *addAssertion(ITensor &condition, std::string_view message);
  /// An operator of ONNX; a null input is left out.
  INodeLayer *addNode(std::string_view opType, ITensor *const *inputs,
                      int32_t nbInputs, int32_t nbOutputs = 1);
  ILoop *addLoop();
  IIfConditional *addIfConditional();

  int32_t getNbLayers() const { return static_cast<int32_t>(layers.size()); }
  /// These return null where there is none.
  ILayer *getLayer(int32_t index) const;
  int32_t getNbInputs() const { return static_cast<int32_t>(inputs.size()); }
  ITensor *getInput(int32_t index) const;
  int32_t getNbOutputs() const { return static_cast<int32_t>(outputs.size()); }
  ITensor *getOutput(int32_t index) const;
  int32_t getNbTensors() const { return static_cast<int32_t>(tensors.size()); }
  ITensor *getTensor(int32_t id) const;
  int32_t getNbLoops() const { return static_cast<int32_t>(loops.size()); }
  ILoop *getLoop(int32_t index) const;
  int32_t getNbConditionals() const {
    return static_cast<int32_t>(conditionals.size());
  }
  IIfConditional *getConditional(int32_t index) const;

  /// Inputs, layers, loops and outputs as text, a layer a line.
  std::string toString() const;

  /// What ITensor::getType() and getDimensions() return; fails, saying why in
  /// `error`, where the layers before are wrong. Extents beyond Dims::MAX_DIMS
  /// are an error, too.
  bool findType(const ITensor &tensor, DataType &type, Dims &dims,
                std::string &error) const;

  /// What was wrong with calls by now.
  const std::vector<std::string> &getErrors() const { return errors; }
  /// The same, and forgets it: who hands it on may let the network be used.
  std::vector<std::string> takeErrors() { return std::exchange(errors, {}); }

  /// The network stands for a model, whose inputs and outputs it has, and takes
  /// no more layers.
  void setParsedModel(std::shared_ptr<const ParsedModel> model) {
    parsed = std::move(model);
  }
  /// Null where the network is one of layers.
  const ParsedModel *getParsedModel() const { return parsed.get(); }

  /// A layer of any kind: what the functions above do. The loop or conditional
  /// is that of a layer at its border; the outputs of a kNODE are counted by
  /// `nbOutputs`.
  ILayer *addLayer(LayerType type, ITensor *const *inputs, int32_t nbInputs,
                   ILoop *loop = nullptr, IIfConditional *conditional = nullptr,
                   int32_t nbOutputs = -1);
  /// Takes the layer that was added last away: who could not set it up does not
  /// leave half of one behind. False, and an error, where something uses it.
  bool removeLastLayer();

private:
  friend class ILayer;
  friend class ITensor;
  friend class ILoop;
  friend class IIfConditional;
  template <typename T>
  T *add(std::initializer_list<ITensor *> inputs, ILoop *loop = nullptr,
         IIfConditional *conditional = nullptr);
  template <typename T>
  T *addConvolution(ITensor &input, int64_t nbOutputMaps,
                    const Dims &kernelSize, const Weights &kernel,
                    const Weights &bias);
  ITensor *makeTensor(ILayer *layer, int32_t index);
  void addError(std::string text);
  /// False, and an error, where `dims` are more than Dims holds.
  bool checkRank(const Dims &dims, const std::string &what);
  /// The elements of a constant of that shape; -1, and an error, where they are
  /// not `count` many.
  int64_t checkCount(const Dims &dims, int64_t count, const ILayer &layer);

  std::string name;
  std::vector<std::unique_ptr<ILayer>> layers;
  std::vector<std::unique_ptr<ITensor>> tensors;
  std::vector<std::unique_ptr<ILoop>> loops;
  std::vector<std::unique_ptr<IIfConditional>> conditionals;
  std::vector<ITensor *> inputs;
  std::vector<ITensor *> outputs;
  std::vector<std::string> errors;
  std::shared_ptr<const ParsedModel> parsed;
  mutable std::unique_ptr<TypeOracle> oracle;
};

std::unique_ptr<INetworkDefinition> createNetwork(std::string_view name = "");

} // namespace loopc::network

#endif // LOOPC_FRONTEND_NETWORK_NETWORK_H
