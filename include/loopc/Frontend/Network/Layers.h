//===- Layers.h - The kinds of layers of networks ---------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Setters and getters of the layers, with TensorRT's names. What each value
// means where TensorRT leaves it open, or where it differs, is in
// docs/Network.md.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_FRONTEND_NETWORK_LAYERS_H
#define LOOPC_FRONTEND_NETWORK_LAYERS_H

#include "loopc/Frontend/Network/Layer.h"

namespace loopc::network {

/// A constant; it also may be a scalar: rank 0, one value.
class IConstantLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setWeights(const Weights &value) { ILayer::setWeights("value", value); }
  Weights getWeights() const { return ILayer::getWeights("value"); }
  /// Shape of the values.
  Dims getDimensions() const { return getDims("value"); }
};

/// Two inputs of one rank and type; extents of 1 are stretched.
class IElementWiseLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setOperation(ElementWiseOperation value) {
    setAttribute("operation", static_cast<int64_t>(value));
  }
  ElementWiseOperation getOperation() const {
    return static_cast<ElementWiseOperation>(getInt("operation"));
  }
};

/// One value to one value.
class IUnaryLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setOperation(UnaryOperation value) {
    setAttribute("operation", static_cast<int64_t>(value));
  }
  UnaryOperation getOperation() const {
    return static_cast<UnaryOperation>(getInt("operation"));
  }
};

/// An activation; `alpha` and `beta` where its formula has them.
class IActivationLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setActivationType(ActivationType value) {
    setAttribute("type", static_cast<int64_t>(value));
  }
  ActivationType getActivationType() const {
    return static_cast<ActivationType>(getInt("type"));
  }
  void setAlpha(float value) {
    setAttribute("alpha", static_cast<double>(value));
  }
  float getAlpha() const { return static_cast<float>(getFloat("alpha")); }
  void setBeta(float value) {
    setAttribute("beta", static_cast<double>(value));
  }
  float getBeta() const { return static_cast<float>(getFloat("beta")); }
};

/// A product of matrices, or of a matrix and a vector (kVECTOR).
class IMatrixMultiplyLayer : public ILayer {
public:
  using ILayer::ILayer;
  /// Of input 0 or 1.
  void setOperation(int32_t index, MatrixOperation operation) {
    setAttribute(index ? "op1" : "op0", static_cast<int64_t>(operation));
  }
  MatrixOperation getOperation(int32_t index) const {
    return static_cast<MatrixOperation>(getInt(index ? "op1" : "op0"));
  }
};

/// Input 0 [N, C, spatial...]; kernel and bias are weights or inputs 1 and 2.
class IConvolutionLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setNbOutputMaps(int64_t value) {
    setAttribute("nb_output_maps", static_cast<int64_t>(value));
  }
  int64_t getNbOutputMaps() const {
    return static_cast<int64_t>(getInt("nb_output_maps"));
  }
  void setKernelSizeNd(const Dims &value) { setDims("kernel_size", value); }
  Dims getKernelSizeNd() const { return getDims("kernel_size"); }
  void setStrideNd(const Dims &value) { setDims("stride", value); }
  Dims getStrideNd() const { return getDims("stride"); }
  void setPrePadding(const Dims &value) { setDims("pre_padding", value); }
  Dims getPrePadding() const { return getDims("pre_padding"); }
  void setPostPadding(const Dims &value) { setDims("post_padding", value); }
  Dims getPostPadding() const { return getDims("post_padding"); }
  /// The same at both ends.
  void setPaddingNd(const Dims &value) {
    setPrePadding(value);
    setPostPadding(value);
  }
  Dims getPaddingNd() const { return getPrePadding(); }
  void setPaddingMode(PaddingMode value) {
    setAttribute("padding_mode", static_cast<int64_t>(value));
  }
  PaddingMode getPaddingMode() const {
    return static_cast<PaddingMode>(getInt("padding_mode"));
  }
  void setDilationNd(const Dims &value) { setDims("dilation", value); }
  Dims getDilationNd() const { return getDims("dilation"); }
  void setNbGroups(int64_t value) {
    setAttribute("nb_groups", static_cast<int64_t>(value));
  }
  int64_t getNbGroups() const {
    return static_cast<int64_t>(getInt("nb_groups"));
  }
  void setKernelWeights(const Weights &value) { setWeights("kernel", value); }
  Weights getKernelWeights() const { return getWeights("kernel"); }
  void setBiasWeights(const Weights &value) { setWeights("bias", value); }
  Weights getBiasWeights() const { return getWeights("bias"); }
};

/// The transpose of a convolution.
class IDeconvolutionLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setNbOutputMaps(int64_t value) {
    setAttribute("nb_output_maps", static_cast<int64_t>(value));
  }
  int64_t getNbOutputMaps() const {
    return static_cast<int64_t>(getInt("nb_output_maps"));
  }
  void setKernelSizeNd(const Dims &value) { setDims("kernel_size", value); }
  Dims getKernelSizeNd() const { return getDims("kernel_size"); }
  void setStrideNd(const Dims &value) { setDims("stride", value); }
  Dims getStrideNd() const { return getDims("stride"); }
  void setPrePadding(const Dims &value) { setDims("pre_padding", value); }
  Dims getPrePadding() const { return getDims("pre_padding"); }
  void setPostPadding(const Dims &value) { setDims("post_padding", value); }
  Dims getPostPadding() const { return getDims("post_padding"); }
  /// The same at both ends.
  void setPaddingNd(const Dims &value) {
    setPrePadding(value);
    setPostPadding(value);
  }
  Dims getPaddingNd() const { return getPrePadding(); }
  void setPaddingMode(PaddingMode value) {
    setAttribute("padding_mode", static_cast<int64_t>(value));
  }
  PaddingMode getPaddingMode() const {
    return static_cast<PaddingMode>(getInt("padding_mode"));
  }
  void setDilationNd(const Dims &value) { setDims("dilation", value); }
  Dims getDilationNd() const { return getDims("dilation"); }
  void setNbGroups(int64_t value) {
    setAttribute("nb_groups", static_cast<int64_t>(value));
  }
  int64_t getNbGroups() const {
    return static_cast<int64_t>(getInt("nb_groups"));
  }
  void setKernelWeights(const Weights &value) { setWeights("kernel", value); }
  Weights getKernelWeights() const { return getWeights("kernel"); }
  void setBiasWeights(const Weights &value) { setWeights("bias", value); }
  Weights getBiasWeights() const { return getWeights("bias"); }
};

/// Pooling over windows of the spatial axes.
class IPoolingLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setPoolingType(PoolingType value) {
    setAttribute("type", static_cast<int64_t>(value));
  }
  PoolingType getPoolingType() const {
    return static_cast<PoolingType>(getInt("type"));
  }
  void setWindowSizeNd(const Dims &value) { setDims("window_size", value); }
  Dims getWindowSizeNd() const { return getDims("window_size"); }
  void setStrideNd(const Dims &value) { setDims("stride", value); }
  Dims getStrideNd() const { return getDims("stride"); }
  void setPrePadding(const Dims &value) { setDims("pre_padding", value); }
  Dims getPrePadding() const { return getDims("pre_padding"); }
  void setPostPadding(const Dims &value) { setDims("post_padding", value); }
  Dims getPostPadding() const { return getDims("post_padding"); }
  /// The same at both ends.
  void setPaddingNd(const Dims &value) {
    setPrePadding(value);
    setPostPadding(value);
  }
  Dims getPaddingNd() const { return getPrePadding(); }
  void setPaddingMode(PaddingMode value) {
    setAttribute("padding_mode", static_cast<int64_t>(value));
  }
  PaddingMode getPaddingMode() const {
    return static_cast<PaddingMode>(getInt("padding_mode"));
  }
  void setBlendFactor(float value) {
    setAttribute("blend_factor", static_cast<double>(value));
  }
  float getBlendFactor() const {
    return static_cast<float>(getFloat("blend_factor"));
  }
  void setAverageCountExcludesPadding(bool value) {
    setAttribute("average_count_excludes_padding", int64_t(value));
  }
  bool getAverageCountExcludesPadding() const {
    return getInt("average_count_excludes_padding") != 0;
  }
};

/// Reduces axes, a bit for each.
class IReduceLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setOperation(ReduceOperation value) {
    setAttribute("operation", static_cast<int64_t>(value));
  }
  ReduceOperation getOperation() const {
    return static_cast<ReduceOperation>(getInt("operation"));
  }
  void setReduceAxes(uint32_t value) {
    setAttribute("axes", static_cast<int64_t>(value));
  }
  uint32_t getReduceAxes() const {
    return static_cast<uint32_t>(getInt("axes"));
  }
  void setKeepDimensions(bool value) {
    setAttribute("keep_dimensions", int64_t(value));
  }
  bool getKeepDimensions() const { return getInt("keep_dimensions") != 0; }
};

/// Transposes, reshapes and transposes again, as far as it is set. Input 1,
/// where there is one, is the shape instead of setReshapeDimensions().
class IShuffleLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setFirstTranspose(const Permutation &value);
  Permutation getFirstTranspose() const;
  void setReshapeDimensions(const Dims &value) {
    setDims("reshape_dimensions", value);
  }
  Dims getReshapeDimensions() const { return getDims("reshape_dimensions"); }
  void setSecondTranspose(const Permutation &value);
  Permutation getSecondTranspose() const;
  void setZeroIsPlaceholder(bool value) {
    setAttribute("zero_is_placeholder", int64_t(value));
  }
  bool getZeroIsPlaceholder() const {
    return getInt("zero_is_placeholder") != 0;
  }
};

/// `size` elements from `start` on in steps of `stride`, for each axis (input
/// 5: of these axes). Inputs 1 to 3, where there are any, stand for start, size
/// and stride; input 4 is the value of kFILL.
class ISliceLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setStart(const Dims &value) { setDims("start", value); }
  Dims getStart() const { return getDims("start"); }
  void setSize(const Dims &value) { setDims("size", value); }
  Dims getSize() const { return getDims("size"); }
  void setStride(const Dims &value) { setDims("stride", value); }
  Dims getStride() const { return getDims("stride"); }
  void setMode(SampleMode value) {
    setAttribute("mode", static_cast<int64_t>(value));
  }
  SampleMode getMode() const { return static_cast<SampleMode>(getInt("mode")); }
  void setAxes(const Dims &value) { setDims("axes", value); }
  Dims getAxes() const { return getDims("axes"); }
};

/// Joins along an axis that is there.
class IConcatenationLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setAxis(int32_t value) {
    setAttribute("axis", static_cast<int64_t>(value));
  }
  int32_t getAxis() const { return static_cast<int32_t>(getInt("axis")); }
};

/// Elements of input 0 at the indices of input 1.
class IGatherLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setGatherAxis(int32_t value) {
    setAttribute("axis", static_cast<int64_t>(value));
  }
  int32_t getGatherAxis() const { return static_cast<int32_t>(getInt("axis")); }
  void setNbElementWiseDims(int32_t value) {
    setAttribute("nb_elementwise_dims", static_cast<int64_t>(value));
  }
  int32_t getNbElementWiseDims() const {
    return static_cast<int32_t>(getInt("nb_elementwise_dims"));
  }
  void setMode(GatherMode value) {
    setAttribute("mode", static_cast<int64_t>(value));
  }
  GatherMode getMode() const { return static_cast<GatherMode>(getInt("mode")); }
};

/// Input 1 where input 0 is true, else input 2.
class ISelectLayer : public ILayer {
public:
  using ILayer::ILayer;
};

/// The extents, as kINT64.
class IShapeLayer : public ILayer {
public:
  using ILayer::ILayer;
};

/// The input itself.
class IIdentityLayer : public ILayer {
public:
  using ILayer::ILayer;
};

/// The input in another type.
class ICastLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setToType(DataType value) {
    setAttribute("to_type", static_cast<int64_t>(value));
  }
  DataType getToType() const {
    return static_cast<DataType>(getInt("to_type"));
  }
};

/// Softmax over the axis whose bit is set.
class ISoftMaxLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setAxes(uint32_t value) {
    setAttribute("axes", static_cast<int64_t>(value));
  }
  uint32_t getAxes() const { return static_cast<uint32_t>(getInt("axes")); }
};

/// Values and indices of the `k` largest or smallest along the axis whose bit
/// is set. Input 1, where there is one, is k.
class ITopKLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setOperation(TopKOperation value) {
    setAttribute("operation", static_cast<int64_t>(value));
  }
  TopKOperation getOperation() const {
    return static_cast<TopKOperation>(getInt("operation"));
  }
  void setK(int32_t value) { setAttribute("k", static_cast<int64_t>(value)); }
  int32_t getK() const { return static_cast<int32_t>(getInt("k")); }
  void setReduceAxes(uint32_t value) {
    setAttribute("axes", static_cast<int64_t>(value));
  }
  uint32_t getReduceAxes() const {
    return static_cast<uint32_t>(getInt("axes"));
  }
  void setIndicesType(DataType value) {
    setAttribute("indices_type", static_cast<int64_t>(value));
  }
  DataType getIndicesType() const {
    return static_cast<DataType>(getInt("indices_type"));
  }
};

/// Values by a rule: alpha + beta i (kLINSPACE; inputs 1 and 2 instead: a
/// scalar, and a step for each axis), or random ones from alpha to beta, or
/// with mean alpha and deviation beta. Input 0, where there is one, is the
/// shape.
class IFillLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setOperation(FillOperation value) {
    setAttribute("operation", static_cast<int64_t>(value));
  }
  FillOperation getOperation() const {
    return static_cast<FillOperation>(getInt("operation"));
  }
  void setDimensions(const Dims &value) { setDims("dimensions", value); }
  Dims getDimensions() const { return getDims("dimensions"); }
  void setAlpha(double value) {
    setAttribute("alpha", static_cast<double>(value));
  }
  double getAlpha() const { return static_cast<double>(getFloat("alpha")); }
  void setBeta(double value) {
    setAttribute("beta", static_cast<double>(value));
  }
  double getBeta() const { return static_cast<double>(getFloat("beta")); }
  void setToType(DataType value) {
    setAttribute("to_type", static_cast<int64_t>(value));
  }
  DataType getToType() const {
    return static_cast<DataType>(getInt("to_type"));
  }
};

/// Input 0 with the updates of input 2 at the indices of input 1.
class IScatterLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setMode(ScatterMode value) {
    setAttribute("mode", static_cast<int64_t>(value));
  }
  ScatterMode getMode() const {
    return static_cast<ScatterMode>(getInt("mode"));
  }
  void setAxis(int32_t value) {
    setAttribute("axis", static_cast<int64_t>(value));
  }
  int32_t getAxis() const { return static_cast<int32_t>(getInt("axis")); }
};

/// (x - mean) / sqrt(variance + epsilon) * scale + bias over axes, a bit for
/// each.
class INormalizationLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setAxes(uint32_t value) {
    setAttribute("axes", static_cast<int64_t>(value));
  }
  uint32_t getAxes() const { return static_cast<uint32_t>(getInt("axes")); }
  void setEpsilon(float value) {
    setAttribute("epsilon", static_cast<double>(value));
  }
  float getEpsilon() const { return static_cast<float>(getFloat("epsilon")); }
  void setNbGroups(int64_t value) {
    setAttribute("nb_groups", static_cast<int64_t>(value));
  }
  int64_t getNbGroups() const {
    return static_cast<int64_t>(getInt("nb_groups"));
  }
};

/// A sum of products by an equation.
class IEinsumLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setEquation(std::string_view value) {
    setAttribute("equation", std::string(value));
  }
  const char *getEquation() const { return getString("equation").c_str(); }
};

/// values[1] at the indices along a new axis, values[0] elsewhere; inputs:
/// indices, values, depth.
class IOneHotLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setAxis(int32_t value) {
    setAttribute("axis", static_cast<int64_t>(value));
  }
  int32_t getAxis() const { return static_cast<int32_t>(getInt("axis")); }
};

/// The indices of elements that are not zero, as [rank, count].
class INonZeroLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setIndicesType(DataType value) {
    setAttribute("indices_type", static_cast<int64_t>(value));
  }
  DataType getIndicesType() const {
    return static_cast<DataType>(getInt("indices_type"));
  }
};

/// x >= 0 ? x : slope x.
class IParametricReLULayer : public ILayer {
public:
  using ILayer::ILayer;
};

/// Input 0 without the axes that input 1, a constant, names.
class ISqueezeLayer : public ILayer {
public:
  using ILayer::ILayer;
};

/// Input 0 with new axes of extent 1 where input 1, a constant, says.
class IUnsqueezeLayer : public ILayer {
public:
  using ILayer::ILayer;
};

/// Running sums along the axis that input 1 says.
class ICumulativeLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setOperation(CumulativeOperation value) {
    setAttribute("operation", static_cast<int64_t>(value));
  }
  CumulativeOperation getOperation() const {
    return static_cast<CumulativeOperation>(getInt("operation"));
  }
  void setExclusive(bool value) { setAttribute("exclusive", int64_t(value)); }
  bool getExclusive() const { return getInt("exclusive") != 0; }
  void setReverse(bool value) { setAttribute("reverse", int64_t(value)); }
  bool getReverse() const { return getInt("reverse") != 0; }
};

/// Reverses the first input 1[b] elements of each item of a batch.
class IReverseSequenceLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setBatchAxis(int32_t value) {
    setAttribute("batch_axis", static_cast<int64_t>(value));
  }
  int32_t getBatchAxis() const {
    return static_cast<int32_t>(getInt("batch_axis"));
  }
  void setSequenceAxis(int32_t value) {
    setAttribute("sequence_axis", static_cast<int64_t>(value));
  }
  int32_t getSequenceAxis() const {
    return static_cast<int32_t>(getInt("sequence_axis"));
  }
};

/// Ends the run with a message where the input, one bool or several, is not
/// true.
class IAssertionLayer : public ILayer {
public:
  using ILayer::ILayer;
  void setMessage(std::string_view value) {
    setAttribute("message", std::string(value));
  }
  const char *getMessage() const { return getString("message").c_str(); }
};

/// An operator of ONNX in its newest version; its attributes are set by
/// setAttribute(). For what has no layer of its own.
class INodeLayer : public ILayer {
public:
  using ILayer::ILayer;
  const char *getOperator() const { return getString("op_type").c_str(); }
};

/// What loops have at their border.
class ILoopBoundaryLayer : public ILayer {
public:
  using ILayer::ILayer;
};

/// A limit of the trips of a loop.
class ITripLimitLayer : public ILoopBoundaryLayer {
public:
  using ILoopBoundaryLayer::ILoopBoundaryLayer;
  TripLimit getTripLimit() const {
    return static_cast<TripLimit>(getInt("limit"));
  }
};

/// Gives each trip its slice of a tensor.
class IIteratorLayer : public ILoopBoundaryLayer {
public:
  using ILoopBoundaryLayer::ILoopBoundaryLayer;
  void setAxis(int32_t value) {
    setAttribute("axis", static_cast<int64_t>(value));
  }
  int32_t getAxis() const { return static_cast<int32_t>(getInt("axis")); }
  void setReverse(bool value) { setAttribute("reverse", int64_t(value)); }
  bool getReverse() const { return getInt("reverse") != 0; }
};

/// Its initial value (input 0), then what the trip before computed (input 1).
class IRecurrenceLayer : public ILoopBoundaryLayer {
public:
  using ILoopBoundaryLayer::ILoopBoundaryLayer;
};

/// A value that leaves a loop. Input 1 of kCONCATENATE and kREVERSE is the
/// length of the new axis.
class ILoopOutputLayer : public ILoopBoundaryLayer {
public:
  using ILoopBoundaryLayer::ILoopBoundaryLayer;
  LoopOutput getLoopOutput() const {
    return static_cast<LoopOutput>(getInt("output"));
  }
  void setAxis(int32_t value) {
    setAttribute("axis", static_cast<int64_t>(value));
  }
  int32_t getAxis() const { return static_cast<int32_t>(getInt("axis")); }
};

/// What conditionals have at their border.
class IIfConditionalBoundaryLayer : public ILayer {
public:
  using ILayer::ILayer;
};
class IConditionLayer : public IIfConditionalBoundaryLayer {
public:
  using IIfConditionalBoundaryLayer::IIfConditionalBoundaryLayer;
};
class IIfConditionalInputLayer : public IIfConditionalBoundaryLayer {
public:
  using IIfConditionalBoundaryLayer::IIfConditionalBoundaryLayer;
};
class IIfConditionalOutputLayer : public IIfConditionalBoundaryLayer {
public:
  using IIfConditionalBoundaryLayer::IIfConditionalBoundaryLayer;
};

} // namespace loopc::network

#endif // LOOPC_FRONTEND_NETWORK_LAYERS_H
