//===- LayerEmitter.h - One layer as operations -----------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_FRONTEND_NETWORK_LAYEREMITTER_H
#define LOOPC_LIB_FRONTEND_NETWORK_LAYEREMITTER_H

#include "loopc/Dialect/ONNX/IR/Schema.h"
#include "loopc/Frontend/GraphBuilder.h"
#include "loopc/Frontend/Network/Network.h"
#include "loopc/Support/Diagnostics.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

namespace loopc::network {

using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Type;
using mlir::Value;

/// Emits layers that are neither of a loop's border nor of a conditional's.
/// Values may be null in the helpers below: what is made of a null value, or
/// cannot be made, is null, and an error has been emitted.
class LayerEmitter : protected GraphBuilder {
public:
  LayerEmitter(const INetworkDefinition &network, mlir::MLIRContext &context);

protected:
  /// Emits the layer at the insertion point and binds its outputs.
  LogicalResult emitLayer(const ILayer &layer);

  //===--- Tensors and values ---------------------------------------------===//

  /// Bindings in the innermost frame hide those of the others.
  void bind(const ITensor *tensor, Value value) {
    frames.back()[tensor] = value;
  }
  Value lookup(const ITensor *tensor) const;
  void pushFrame() { frames.emplace_back(); }
  void popFrame() { frames.pop_back(); }

  /// Forgets all values: they are gone.
  void forgetValues();

  //===--- Locations and errors -------------------------------------------===//

  mlir::Location locOf(const ILayer &layer);
  mlir::Location pathLoc(const llvm::Twine &text);
  /// At the layer that is being emitted; the text begins with its name.
  mlir::InFlightDiagnostic fail(Diag diag = Diag::LayerTypes);
  mlir::InFlightDiagnostic failAt(const ILayer &layer, Diag diag);

  //===--- Values ---------------------------------------------------------===//

  /// The type of elements; null for one that MLIR does not have.
  Type elementType(DataType type);
  /// The other way round; nothing for elements that networks do not have.
  std::optional<DataType> dataType(Type element);
  /// ONNX's number (TensorProto.DataType) for a type.
  static int64_t onnxCode(DataType type);
  /// A constant at the top of the function.
  Value constant(mlir::ElementsAttr value) {
    return sharedConstant(*loc, value);
  }
  Value constantInts(llvm::ArrayRef<int64_t> values);
  Value constantInt(int64_t value);
  /// Of rank 0, or `count` times where that is given.
  Value constantNumber(Type element, double value, int64_t count = -1);
  mlir::ElementsAttr toElements(const Constant &constant, llvm::StringRef name);
  /// What stands for an input that is left out.
  Value none() { return noneAt(*loc); }

  /// A node of one output in the operator's newest version.
  Value node(llvm::StringRef op, llvm::ArrayRef<Value> inputs,
             llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  /// One of `count` outputs.
  llvm::SmallVector<Value>
  nodes(llvm::StringRef op, llvm::ArrayRef<Value> inputs,
        llvm::ArrayRef<mlir::NamedAttribute> attributes, unsigned count);

  /// `value` with other elements; itself where it has those.
  Value castTo(Value value, Type element);
  /// `value` as seen with another shape; must be compatible.
  Value reshaped(Value value, Type type);
  /// Element `index`, a scalar of i64, along `axis`, which vanishes.
  Value sliceAt(Value value, int64_t axis, Value index);
  /// The one element of a tensor of one element as a scalar.
  Value scalar(Value value);
  Value tensorOf(Value scalar);
  /// Ends a run with a message where `condition`, an i1, does not hold.
  void check(Value condition, const llvm::Twine &message,
             mlir::ValueRange values = {});

  /// The ranked type; null after an error where the rank is not known.
  RankedTensorType ranked(Value value, const ITensor &tensor);
  /// True if the type of `tensor` is a scalar of an integer type (or bool).
  LogicalResult expectScalar(Value value, const ITensor &tensor, bool boolean,
                             Diag diag, llvm::StringRef what);
  /// `axis`, which may count from the end, of `rank`; nothing after an error.
  std::optional<int64_t> axisOf(int64_t axis, int64_t rank, Diag diag,
                                llvm::StringRef what = "axis");
  /// The axes whose bits are set; nothing after an error.
  std::optional<llvm::SmallVector<int64_t>> axesOf(int64_t bits, int64_t rank);

  const INetworkDefinition &network;
  mlir::Location fileLoc;
  /// "main/Loop 'decode'".
  std::string path = "main";

private:
  using Result = llvm::SmallVector<Value>;
  Value input(int32_t index);
  bool has(int32_t index) const { return layer->getInput(index) != nullptr; }
  /// The ranked type of input `index`; null after an error.
  RankedTensorType inputType(int32_t index);
  /// Inputs `a` and `b` have one rank (one element type).
  bool sameRank(int32_t a, int32_t b);
  bool sameType(int32_t a, int32_t b);
  void set(Value value) { results.push_back(value); }
  std::string typeName(Value value);

  // Those of borders are emitted with their loop or conditional.
  void emit(const ILoopBoundaryLayer &) {}
  void emit(const IIfConditionalBoundaryLayer &) {}

  // Elementwise.cpp
  void emit(const IElementWiseLayer &);
  Value floorDivide(Value a, Value b);
  void emit(const IUnaryLayer &);
  void emit(const IActivationLayer &);
  Value activation(Value x);
  void emit(const ISelectLayer &);
  void emit(const ICastLayer &);
  void emit(const IIdentityLayer &);
  void emit(const IParametricReLULayer &);
  void emit(const IConstantLayer &);
  void emit(const INodeLayer &);
  void emit(const IAssertionLayer &);

  // Products.cpp
  void emit(const IMatrixMultiplyLayer &);
  void emitConvolution();
  void emit(const IConvolutionLayer &) { emitConvolution(); }
  void emit(const IDeconvolutionLayer &) { emitConvolution(); }
  void emit(const IPoolingLayer &);
  bool paddingAttributes(int64_t spatial,
                         llvm::SmallVectorImpl<mlir::NamedAttribute> &attrs,
                         llvm::StringRef window);
  void emit(const IEinsumLayer &);
  void emit(const IReduceLayer &);
  void emit(const ISoftMaxLayer &);
  void emit(const INormalizationLayer &);
  Value normalized(Value x, llvm::ArrayRef<int64_t> axes);
  void emit(const ITopKLayer &);
  void emit(const ICumulativeLayer &);

  // Shapes.cpp
  void emit(const IShuffleLayer &);
  Value transposed(Value value, llvm::StringRef name);
  void emit(const ISliceLayer &);
  Value sliceVector(llvm::StringRef name, int32_t input, int64_t count,
                    std::optional<int64_t> initial);
  Value strictSlice(Value x, Value start, Value size, Value stride,
                    llvm::ArrayRef<int64_t> axes);
  Value withElement(Value x, Value fill, int64_t axis, Value extent);
  void checkElements(Value x, Value size, int64_t axis, Value extent);
  Value gatheredSlice(Value x, Value start, Value size, Value stride,
                      llvm::ArrayRef<int64_t> axes, SampleMode mode);
  void emit(const IConcatenationLayer &);
  void emit(const IGatherLayer &);
  Value batchedGather(Value data, Value indices, int64_t axis, int64_t batch);
  void emit(const IShapeLayer &);
  void emit(const ISqueezeLayer &);
  void emit(const IUnsqueezeLayer &);
  void emit(const IFillLayer &);
  Value linspace(Value shape, Type element);
  void emit(const IScatterLayer &);
  void emit(const IOneHotLayer &);
  void emit(const INonZeroLayer &);
  void emit(const IReverseSequenceLayer &);

  // Scales.cpp
  void emit(const IScaleLayer &);
  void emit(const IPaddingLayer &);
  void emit(const IResizeLayer &);
  void emit(const IQuantizeLayer &);
  void emit(const IDequantizeLayer &);
  void emit(const IRaggedSoftMaxLayer &);

  // Images.cpp
  void emit(const ILRNLayer &);
  void emit(const IGridSampleLayer &);
  void emit(const INMSLayer &);
  /// What NonMaxSuppression chooses of boxes [batch, boxes, 1 or classes, 4].
  Value boxesOfClasses(Value boxes, Value scores, llvm::ArrayRef<Value> limits);
  /// Element `index` along `axis`, which stays.
  Value part(Value value, int64_t axis, int64_t index);

  llvm::SmallVector<llvm::DenseMap<const ITensor *, Value>> frames;
  /// The layer that is being emitted, and what it gave.
  const ILayer *layer = nullptr;
  Result results;
  std::optional<mlir::Location> loc;
  llvm::DenseMap<const ILayer *, Value> constantLayers;

protected:
  /// Makes `one` the layer that helpers speak of.
  void enter(const ILayer &one);
  mlir::Location current() const { return *loc; }
};

} // namespace loopc::network

#endif // LOOPC_LIB_FRONTEND_NETWORK_LAYEREMITTER_H
