//===- Products.cpp - Products, sums and windows ------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerEmitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::network;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void LayerEmitter::emit(const IMatrixMultiplyLayer &) {
  if (!sameType(0, 1))
    return;
  Value operands[2];
  int64_t ranks[2];
  SmallVector<int64_t> vectors;
  for (int32_t k : {0, 1}) {
    RankedTensorType type = inputType(k);
    if (!type)
      return;
    auto operation =
        static_cast<MatrixOperation>(layer->getInt(k ? "op1" : "op0"));
    operands[k] = input(k);
    ranks[k] = type.getRank();
    bool isVector = operation == MatrixOperation::kVECTOR;
    if (ranks[k] < (isVector ? 1 : 2))
      return void(fail() << "'" << layer->getInput(k)->getName()
                         << "' has rank " << ranks[k] << " but must have "
                         << (isVector ? 1 : 2) << " at least");
    if (isVector) {
      // A row on the left, a column on the right.
      vectors.push_back(k ? -1 : -2);
      operands[k] =
          node("Unsqueeze", {operands[k], constantInts(vectors.back())});
      ++ranks[k];
    } else if (operation == MatrixOperation::kTRANSPOSE) {
      auto order = llvm::to_vector(llvm::seq<int64_t>(0, ranks[k]));
      std::swap(order[ranks[k] - 1], order[ranks[k] - 2]);
      operands[k] =
          node("Transpose", operands[k], attr("perm", ArrayRef(order)));
    }
  }
  if (ranks[0] != ranks[1])
    return void(fail() << "'" << layer->getInput(0)->getName() << "' and '"
                       << layer->getInput(1)->getName() << "' have "
                       << ranks[0] - 2 << " and " << ranks[1] - 2
                       << " dimensions beside the matrix");
  Value product = node("MatMul", {operands[0], operands[1]});
  set(vectors.empty()
          ? product
          : node("Squeeze",
                 {product, product ? constantInts(vectors) : Value()}));
}

void LayerEmitter::emit(const IEinsumLayer &) {
  SmallVector<Value> inputs;
  for (int32_t k = 0; k < layer->getNbInputs(); ++k) {
    if (!sameType(0, k))
      return;
    inputs.push_back(input(k));
  }
  set(node("Einsum", inputs,
           attr("equation", StringRef(layer->getString("equation")))));
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Window, strides, dilations and padding of `spatial` axes.
bool LayerEmitter::paddingAttributes(int64_t spatial,
                                     SmallVectorImpl<NamedAttribute> &attrs,
                                     StringRef window) {
  auto get = [&](StringRef name, int64_t initial,
                 SmallVector<int64_t> &values) {
    values.assign(layer->getInts(name).begin(), layer->getInts(name).end());
    if (values.empty())
      values.assign(spatial, initial);
    if (static_cast<int64_t>(values.size()) == spatial)
      return true;
    fail(Diag::BadLayer) << name << " has " << values.size()
                         << " values for the " << spatial << " axes of '"
                         << layer->getInput(0)->getName() << "'";
    return false;
  };
  bool isPooling = layer->getType() == LayerType::kPOOLING;
  SmallVector<int64_t> size, stride, pre, post, dilation;
  if (!get(window, 1, size) || !get("stride", 1, stride) ||
      !get("pre_padding", 0, pre) || !get("post_padding", 0, post) ||
      (!isPooling && !get("dilation", 1, dilation)))
    return false;
  attrs.push_back(attr("kernel_shape", ArrayRef(size)));
  attrs.push_back(attr("strides", ArrayRef(stride)));
  if (!isPooling)
    attrs.push_back(attr("dilations", ArrayRef(dilation)));
  switch (static_cast<PaddingMode>(layer->getInt("padding_mode"))) {
  case PaddingMode::kSAME_UPPER:
    attrs.push_back(attr("auto_pad", StringRef("SAME_UPPER")));
    return true;
  case PaddingMode::kSAME_LOWER:
    attrs.push_back(attr("auto_pad", StringRef("SAME_LOWER")));
    return true;
  case PaddingMode::kEXPLICIT_ROUND_UP:
    if (!isPooling) {
      fail(Diag::BadLayer) << "kEXPLICIT_ROUND_UP is for pooling only";
      return false;
    }
    attrs.push_back(attr("ceil_mode", int64_t(1)));
    break;
  case PaddingMode::kEXPLICIT_ROUND_DOWN:
    break;
  }
  pre.append(post);
  attrs.push_back(attr("pads", ArrayRef(pre)));
  return true;
}

/// In C they may come in any shape.
static int64_t countElements(const Constant &weights) {
  int64_t count = 1;
  for (int64_t extent : weights.shape)
    count *= extent;
  return count;
}

void LayerEmitter::emitConvolution() {
  RankedTensorType type = inputType(0);
  if (!type)
    return;
  bool transposed = layer->getType() == LayerType::kDECONVOLUTION;
  const std::vector<int64_t> &window = layer->getInts("kernel_size");
  if (type.getRank() != static_cast<int64_t>(window.size()) + 2)
    return void(fail() << "'" << layer->getInput(0)->getName() << "' has rank "
                       << type.getRank() << " but a kernel of " << window.size()
                       << " axes wants " << window.size() + 2);
  int64_t maps = layer->getInt("nb_output_maps");
  int64_t groups = layer->getInt("nb_groups");
  SmallVector<NamedAttribute> attrs{attr("group", groups)};
  if (!paddingAttributes(type.getRank() - 2, attrs, "kernel_size"))
    return;
  Value kernel = input(1);
  if (const auto *given = layer->getAttribute("kernel"); !has(1) && given) {
    Constant weights = std::get<Constant>(*given);
    int64_t count = countElements(weights), each = maps;
    bool isWindow = true;
    for (int64_t extent : window)
      isWindow =
          isWindow && extent > 0 && !llvm::MulOverflow(each, extent, each);
    if (!isWindow || each <= 0 || groups <= 0 || count % each ||
        (transposed && (maps % groups || count % (each / groups))))
      return void(fail(Diag::BadLayer)
                  << count << " kernel weights do not fit " << maps
                  << " output maps and the kernel's size");
    // [maps, channels / groups, ...], transposed [channels, maps / groups, ...]
    weights.shape = transposed ? std::vector<int64_t>{count / (each / groups),
                                                      maps / groups}
                               : std::vector<int64_t>{maps, count / each};
    llvm::append_range(weights.shape, window);
    kernel = constant(toElements(weights, layer->getName()));
  }
  if (!kernel)
    return void(fail(Diag::BadLayer) << "has no kernel weights");
  SmallVector<Value> inputs{input(0), kernel};
  if (has(2)) {
    inputs.push_back(input(2));
  } else if (const auto *given = layer->getAttribute("bias")) {
    Constant bias = std::get<Constant>(*given);
    int64_t count = countElements(bias);
    if (count != maps)
      return void(fail(Diag::BadLayer) << count << " bias weights do not fit "
                                       << maps << " output maps");
    bias.shape = {count};
    inputs.push_back(constant(toElements(bias, layer->getName())));
  }
  set(node(transposed ? "ConvTranspose" : "Conv", inputs, attrs));
}

void LayerEmitter::emit(const IPoolingLayer &) {
  RankedTensorType type = inputType(0);
  if (!type)
    return;
  size_t axes = layer->getInts("window_size").size();
  if (type.getRank() != static_cast<int64_t>(axes) + 2)
    return void(fail() << "'" << layer->getInput(0)->getName() << "' has rank "
                       << type.getRank() << " but a window of " << axes
                       << " axes wants " << axes + 2);
  SmallVector<NamedAttribute> attrs;
  if (!paddingAttributes(axes, attrs, "window_size"))
    return;
  auto average = [&]() {
    SmallVector<NamedAttribute> all(attrs);
    all.push_back(
        attr("count_include_pad",
             int64_t(!layer->getInt("average_count_excludes_padding"))));
    return node("AveragePool", input(0), all);
  };
  switch (static_cast<PoolingType>(layer->getInt("type"))) {
  case PoolingType::kMAX:
    return set(node("MaxPool", input(0), attrs));
  case PoolingType::kAVERAGE:
    return set(average());
  case PoolingType::kMAX_AVERAGE_BLEND: {
    double blend = layer->getFloat("blend_factor");
    Type element = type.getElementType();
    return set(node(
        "Add", {node("Mul", {node("MaxPool", input(0), attrs),
                             constantNumber(element, 1 - blend)}),
                node("Mul", {average(), constantNumber(element, blend)})}));
  }
  }
}

//===----------------------------------------------------------------------===//
// Along axes
//===----------------------------------------------------------------------===//

void LayerEmitter::emit(const IReduceLayer &) {
  static constexpr StringLiteral ops[] = {
      "ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceMean"};
  RankedTensorType type = inputType(0);
  if (!type)
    return;
  auto axes = axesOf(layer->getInt("axes"), type.getRank());
  if (!axes)
    return;
  if (axes->empty())
    return void(fail(Diag::BadLayer) << "no axis is set");
  set(node(ops[layer->getInt("operation")], {input(0), constantInts(*axes)},
           attr("keepdims", layer->getInt("keep_dimensions"))));
}

void LayerEmitter::emit(const ISoftMaxLayer &) {
  RankedTensorType type = inputType(0);
  if (!type)
    return;
  auto axes = axesOf(layer->getInt("axes"), type.getRank());
  if (!axes)
    return;
  if (!layer->hasAttribute("axes"))
    axes = SmallVector<int64_t>{std::max<int64_t>(0, type.getRank() - 3)};
  if (axes->size() != 1)
    return void(fail(Diag::BadLayer)
                << axes->size() << " axes are set, expected one");
  set(node("Softmax", input(0), attr("axis", axes->front())));
}

Value LayerEmitter::normalized(Value x, ArrayRef<int64_t> axes) {
  Value over = constantInts(axes);
  Value centered = node("Sub", {x, node("ReduceMean", {x, over})});
  Value variance =
      node("ReduceMean", {node("Mul", {centered, centered}), over});
  if (!variance)
    return {};
  Type element = cast<TensorType>(x.getType()).getElementType();
  Value epsilon = constantNumber(element, layer->getFloat("epsilon"));
  return node("Div",
              {centered, node("Sqrt", node("Add", {variance, epsilon}))});
}

void LayerEmitter::emit(const INormalizationLayer &) {
  RankedTensorType type = inputType(0);
  if (!type || !sameRank(0, 1) || !sameRank(0, 2) || !sameType(0, 1) ||
      !sameType(0, 2))
    return;
  auto axes = axesOf(layer->getInt("axes"), type.getRank());
  if (!axes)
    return;
  if (axes->empty())
    return void(fail(Diag::BadLayer) << "no axis is set");
  // Narrow floats are computed in FLOAT.
  Type element = type.getElementType(), wide = element;
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
    wide = builder.getF32Type();
  Value x = castTo(input(0), wide), scale = castTo(input(1), wide),
        bias = castTo(input(2), wide);
  int64_t groups = layer->getInt("nb_groups");
  auto scaled = [&](Value y) {
    return node("Add", {node("Mul", {y, scale}), bias});
  };
  if (groups == 1)
    return set(castTo(scaled(normalized(x, *axes)), element));
  if (type.getRank() < 2 || axes->front() < 2)
    return void(fail(Diag::BadLayer)
                << "groups are of axis 1, normalised axes must follow it");
  // [N, C, ...] as [N, groups, C / groups, ...]
  Value shape = node("Shape", x);
  auto part = [&](int64_t begin, int64_t end) {
    return node("Slice", {shape, constantInts(begin), constantInts(end)});
  };
  Value count = constantInts(groups);
  Value split = node("Concat",
                     {part(0, 1), count, node("Div", {part(1, 2), count}),
                      part(2, type.getRank())},
                     attr("axis", int64_t(0)));
  SmallVector<int64_t> inner{2};
  for (int64_t axis : *axes)
    inner.push_back(axis + 1);
  Value grouped = node("Reshape", {x, split});
  Value y = grouped ? normalized(grouped, inner) : Value();
  // One scale a group, or one a channel.
  int64_t scales = cast<RankedTensorType>(scale.getType()).getDimSize(1);
  if (scales == groups && scales != type.getDimSize(1)) {
    scale = node("Unsqueeze", {scale, constantInts(2)});
    bias = node("Unsqueeze", {bias, constantInts(2)});
    return set(castTo(node("Reshape", {scaled(y), shape}), element));
  }
  set(castTo(scaled(node("Reshape", {y, shape})), element));
}

void LayerEmitter::emit(const ITopKLayer &) {
  RankedTensorType type = inputType(0);
  if (!type)
    return;
  auto axes = axesOf(layer->getInt("axes"), type.getRank());
  if (!axes)
    return;
  if (axes->size() != 1)
    return void(fail(Diag::BadLayer)
                << axes->size() << " axes are set, expected one");
  Value k;
  if (has(1)) {
    if (!input(1) || failed(expectScalar(input(1), *layer->getInput(1), false,
                                         Diag::LayerTypes, "k")))
      return;
    k = node("Unsqueeze",
             {castTo(input(1), builder.getI64Type()), constantInts(0)});
  } else {
    k = constantInts(layer->getInt("k"));
  }
  bool largest =
      layer->getInt("operation") == static_cast<int64_t>(TopKOperation::kMAX);
  SmallVector<Value> both = nodes(
      "TopK", {input(0), k},
      {attr("axis", axes->front()), attr("largest", int64_t(largest))}, 2);
  if (both.empty())
    return;
  set(both[0]);
  set(castTo(both[1], elementType(static_cast<DataType>(
                          layer->getInt("indices_type")))));
}

void LayerEmitter::emit(const ICumulativeLayer &) {
  set(node("CumSum", {input(0), input(1)},
           {attr("exclusive", layer->getInt("exclusive")),
            attr("reverse", layer->getInt("reverse"))}));
}
