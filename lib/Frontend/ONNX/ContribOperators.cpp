//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The mechanism, and layers: activations, products, distances, normalizations,
// support vectors.

#include "ContribOperators.h"
#include "FunctionText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"

#include "onnx/defs/parser.h"

using namespace mlir;
using namespace loopc::importer;
namespace pb = ::onnx;

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The tensor, without elements, of a new Constant.
static pb::TensorProto &addTensor(std::vector<pb::NodeProto> &constants,
                                  StringRef name, ArrayRef<int64_t> shape,
                                  pb::TensorProto::DataType type) {
  pb::NodeProto &node = constants.emplace_back();
  node.set_op_type("Constant");
  node.add_output(name.str());
  pb::AttributeProto &attr = *node.add_attribute();
  attr.set_name("value");
  attr.set_type(pb::AttributeProto::TENSOR);
  attr.mutable_t()->set_data_type(type);
  attr.mutable_t()->mutable_dims()->Add(shape.begin(), shape.end());
  return *attr.mutable_t();
}

const pb::AttributeProto *ContribCall::getAttr(StringRef name) const {
  for (const pb::AttributeProto &attr : node.attribute())
    if (name == attr.name())
      return &attr;
  return nullptr;
}

int64_t ContribCall::getInt(StringRef name, int64_t absent) const {
  const pb::AttributeProto *attr = getAttr(name);
  return attr ? attr->i() : absent;
}

float ContribCall::getFloat(StringRef name, float absent) const {
  const pb::AttributeProto *attr = getAttr(name);
  return attr ? attr->f() : absent;
}

StringRef ContribCall::getString(StringRef name) const {
  const pb::AttributeProto *attr = getAttr(name);
  return attr ? StringRef(attr->s()) : StringRef();
}

std::optional<int64_t> ContribCall::getRank(unsigned input) const {
  if (!has(input))
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(types[input]);
  return type ? std::optional(type.getRank()) : std::nullopt;
}

std::optional<int64_t> ContribCall::getExtent(unsigned input,
                                              int64_t axis) const {
  auto type = has(input) ? dyn_cast<RankedTensorType>(types[input])
                         : RankedTensorType();
  if (!type || axis >= type.getRank() || type.isDynamicDim(axis))
    return std::nullopt;
  return type.getDimSize(axis);
}

void ContribCall::addConstant(StringRef name, ArrayRef<int64_t> shape,
                              ArrayRef<double> values) const {
  addTensor(constants, name, shape, pb::TensorProto::DOUBLE)
      .mutable_double_data()
      ->Add(values.begin(), values.end());
}

void ContribCall::addConstant(StringRef name, ArrayRef<int64_t> shape,
                              ArrayRef<int64_t> values) const {
  addTensor(constants, name, shape, pb::TensorProto::INT64)
      .mutable_int64_data()
      ->Add(values.begin(), values.end());
}

Type ContribCall::getElementType(unsigned input) const {
  auto type = has(input) ? dyn_cast<TensorType>(types[input]) : TensorType();
  return type ? type.getElementType() : Type();
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// Y = activation(V), as the fused operators name it. Parameters are the nodes
/// that `parameters` defines as p0 and p1, of V's type.
static std::string writeActivation(const ContribCall &call, StringRef name,
                                   StringRef p0, StringRef p1) {
  if (name.empty())
    return "Y = Identity(V)\n";
  if (llvm::is_contained({"Relu", "Tanh", "Sigmoid"}, name))
    return llvm::formatv("Y = {0}(V)\n", name);
  std::string one = llvm::formatv("p0f = {0}\np0 = CastLike(p0f, V)\n", p0);
  std::string two = llvm::formatv("p1f = {0}\np1 = CastLike(p1f, V)\n", p1);
  StringRef rest = llvm::StringSwitch<StringRef>(name)
                       .Case("LeakyRelu", "a = V * p0\n"
                                          "zero = p0 - p0\n"
                                          "Y = Where(V < zero, a, V)\n")
                       .Case("Clip", "Y = Clip(V, p0, p1)\n")
                       .Case("HardSigmoid", "a = V * p0\n"
                                            "b = a + p1\n"
                                            "zero = p0 - p0\n"
                                            "Y = Clip(b, zero, Exp(zero))\n")
                       .Default("");
  if (rest.empty())
    return call.refuse("the activation '" + name + "' is unknown");
  return one + two + rest.str();
}

/// The activation of a node that names its parameters.
static std::string writeNamedActivation(const ContribCall &call) {
  // Defaults of ONNX's operators of these names.
  StringRef name = call.getString("activation");
  if (name == "Clip" &&
      !(call.getAttr("activation_alpha") && call.getAttr("activation_beta")))
    return call.refuse("the activation 'Clip' has no limits");
  float alpha = name == "LeakyRelu" ? 0.01f : 0.2f;
  auto constant = [&](StringRef attr, float absent) -> std::string {
    if (call.getAttr(attr))
      return llvm::formatv("Constant<value_float: float = @{0}>()", attr);
    return llvm::formatv("Constant<value_float = {0:f8}>()", absent);
  };
  return writeActivation(call, name, constant("activation_alpha", alpha),
                         constant("activation_beta", 0.5f));
}

static std::string writeFastGelu(const ContribCall &call) {
  return call.has(1) ? "V = X + bias\n"
                       "Y = Gelu<approximate = \"tanh\">(V)"
                     : "Y = Gelu<approximate = \"tanh\">(X)";
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// `to` = `from` with its last two axes swapped where `swap`, after the first
/// one went behind the other batch axes where `batch`.
static std::string writeTransposed(const ContribCall &call, unsigned input,
                                   StringRef from, StringRef to, bool swap,
                                   bool batch) {
  std::optional<int64_t> rank = call.getRank(input);
  if (!rank) {
    if (batch)
      return call.refuse("the rank of input '" + from +
                         "', whose batch axes are transposed, is unknown");
    // A vector has no axes to swap.
    return swap ? llvm::formatv("is_vector{0} = Size(Shape({0})) < 2\n"
                                "{1} = If(is_vector{0})<\n"
                                "then_branch = vector () => (v{0}) "
                                "{{ v{0} = Identity({0}) },\n"
                                "else_branch = matrices () => (m{0}) {{ m{0} = "
                                "Einsum<equation = \"...ij->...ji\">({0}) }>\n",
                                from, to)
                      .str()
                : llvm::formatv("{1} = Identity({0})\n", from, to).str();
  }
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, *rank));
  if (batch && *rank > 2)
    std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (swap && *rank > 1)
    std::swap(order[*rank - 1], order[*rank - 2]);
  if (llvm::is_sorted(order))
    return llvm::formatv("{1} = Identity({0})\n", from, to);
  return llvm::formatv("{1} = Transpose<perm = [{2:$[, ]}]>({0})\n", from, to,
                       llvm::make_range(order.begin(), order.end()));
}

/// V = alpha * A * B, transposed as the attributes say.
static std::string writeFusedProduct(const ContribCall &call) {
  std::string a = writeTransposed(call, 0, "A", "a", call.getInt("transA"),
                                  call.getInt("transBatchA"));
  std::string b = writeTransposed(call, 1, "B", "b", call.getInt("transB"),
                                  call.getInt("transBatchB"));
  if (a.empty() || b.empty())
    return {};
  if (call.getFloat("alpha", 1) == 1)
    return a + b + "V = MatMul(a, b)\n";
  return a + b + "V = MatMul(a, b) * CastLike(@alpha, A)\n";
}

static std::string writeFusedMatMul(const ContribCall &call) {
  std::string product = writeFusedProduct(call);
  return product.empty() ? product : product + "Y = Identity(V)\n";
}

static std::string writeFusedMatMulActivation(const ContribCall &call) {
  std::string product = writeFusedProduct(call);
  std::string rest = product.empty() ? product : writeNamedActivation(call);
  return rest.empty() ? rest : product + rest;
}

static std::string writeFusedGemm(const ContribCall &call) {
  std::string rest = writeNamedActivation(call);
  if (rest.empty())
    return rest;
  return "V = Gemm<alpha: float = @alpha, beta: float = @beta, "
         "transA: int = @transA, transB: int = @transB>(A, B, C)\n" +
         rest;
}

static std::string writeFusedConv(const ContribCall &call) {
  const pb::AttributeProto *given = call.getAttr("activation_params");
  StringRef name = call.getString("activation");
  int wanted = llvm::StringSwitch<int>(name)
                   .Case("LeakyRelu", 1)
                   .Cases({"Clip", "HardSigmoid"}, 2)
                   .Default(0);
  if (wanted > (given ? given->floats_size() : 0))
    return call.refuse("the activation '" + name + "' needs " +
                       llvm::Twine(wanted) + " parameters");
  std::string rest =
      writeActivation(call, name, "Gather(all, at0)",
                      wanted > 1 ? "Gather(all, at1)" : "Identity(p0f)");
  if (rest.empty())
    return rest;
  std::string conv =
      "C = Conv<auto_pad: string = @auto_pad, dilations: ints = @dilations, "
      "group: int = @group, kernel_shape: ints = @kernel_shape, "
      "pads: ints = @pads, strides: ints = @strides>(X, W, B)\n";
  conv += call.has(3) ? "V = C + Z\n" : "V = Identity(C)\n";
  if (wanted)
    conv += "all = Constant<value_floats: floats = @activation_params>()\n"
            "at0 = Constant<value_int = 0>()\n"
            "at1 = Constant<value_int = 1>()\n";
  return conv + rest;
}

//===----------------------------------------------------------------------===//
// Normalizations
//===----------------------------------------------------------------------===//

/// `sum` = the input, what is skipped to here and the bias.
static std::string writeSkip(const ContribCall &call, unsigned bias) {
  if (!call.has(bias))
    return "sum = input + skip\n";
  return "sum = input + skip + bias\n";
}

static std::string writeSkipLayerNorm(const ContribCall &call) {
  return writeSkip(call, 4) +
         "output, mean, inv_std_var = LayerNormalization<axis = -1, "
         "epsilon: float = @epsilon>(sum, gamma, beta)\n";
}

/// `inverse` = 1 / sqrt(mean of squares of `x` + epsilon) in float, which
/// RMSNormalization computes and does not give. `axes` are those of the mean.
static std::string writeInverseRms(StringRef inverse, StringRef x,
                                   StringRef axes) {
  return llvm::formatv("wide = float({0})\n"
                       "squares = ReduceMean(wide * wide, {1})\n"
                       "{2} = Reciprocal(Sqrt(squares + @epsilon))\n",
                       x, axes, inverse);
}

/// No mean is subtracted: the one that onnxruntime gives is zero.
static std::string writeSkipRmsNorm(const ContribCall &call) {
  std::string text =
      writeSkip(call, 3) +
      "output = RMSNormalization<axis = -1, epsilon: float = @epsilon>"
      "(sum, gamma)\n";
  if (call.wants(1) || call.wants(2))
    text += writeInverseRms("inv_std_var", "sum", "[-1]");
  if (call.wants(1))
    text += "mean = ConstantOfShape(Shape(squares))\n";
  return text;
}

/// The scale, and so the result, may have another type than what is normalized.
static std::string writeMixedNorm(const ContribCall &call, StringRef outputs,
                                  StringRef name, StringRef inputs) {
  bool same = call.getElementType(0) == call.getElementType(1);
  std::string text;
  if (!same)
    text = "x = float(X)\n"
           "scale = float(Scale)\n";
  else
    text = "x = Identity(X)\nscale = Identity(Scale)\n";
  if (call.has(2))
    text += same ? "bias = Identity(B)\n" : "bias = float(B)\n";
  text += llvm::formatv("{0} = {1}<axis: int = @axis, epsilon: float = "
                        "@epsilon>({2}{3})\n",
                        outputs, name, inputs, call.has(2) ? ", bias" : "");
  return text + (same ? "Y = Identity(y)\n" : "Y = CastLike(y, Scale)\n");
}

static std::string writeLayerNorm(const ContribCall &call) {
  return writeMixedNorm(call, "y, Mean, InvStdDev", "LayerNormalization",
                        "x, scale");
}

static std::string writeRmsNorm(const ContribCall &call) {
  std::string text = writeMixedNorm(call, "y", "RMSNormalization", "x, scale");
  if (!call.wants(1))
    return text;
  int64_t axis = call.getInt("axis", -1);
  std::string axes =
      axis < 0 ? llvm::formatv("Range({0}, 0, 1)", axis).str()
               : llvm::formatv("Range({0}, Size(Shape(X)), 1)", axis).str();
  return text + writeInverseRms("InvStdDev", "X", axes);
}

static std::string writeEmbedLayerNorm(const ContribCall &call) {
  std::string text = "words = Gather(word_embedding, input_ids)\n";
  if (call.has(8))
    text += "places = Gather(position_embedding, position_ids)\n";
  else
    text += "places = Slice(position_embedding, [0], Shape<start = 1, end = "
            "2>(input_ids), [0])\n";
  text += "embedding_sum0 = words + places\n";
  // onnxruntime's sum for the caller has the segments, too.
  if (call.has(1))
    text += "embedding_sum = embedding_sum0 + Gather(segment_embedding, "
            "segment_ids)\n";
  else
    text += "embedding_sum = Identity(embedding_sum0)\n";
  text += "output = LayerNormalization<axis = -1, epsilon: float = @epsilon>"
          "(embedding_sum, gamma, beta)\n";
  if (!call.wants(1))
    return text;
  if (call.has(7))
    return text + "mask_index = ReduceSum<keepdims = 0>(mask, [1])\n";
  return text + "mask_index = ConstantOfShape<value = int32[1] "
                "{0}>(Shape<start = 0, end = 1>(input_ids))\n";
}

/// Softmax of rows; the axes from `axis` on are one.
static constexpr char kBiasSoftmax[] =
    "sum = data + bias\n"
    "output = Reshape<allowzero = 1>(Softmax<axis = 1>(Flatten<axis: int = "
    "@axis>(sum)), Shape(sum))";

/// Each part is dequantized; the rest is EmbedLayerNormalization.
static std::string writeQuantizedEmbedding(const ContribCall &call) {
  std::string text;
  auto add = [&](StringRef part, StringRef value) {
    text += llvm::formatv("{0} = DequantizeLinear({1}, {0}_scale, "
                          "{0}_zero_point)\n",
                          part, value);
  };
  add("word_embedding", "word_embedding_quant");
  add("position_embedding", "position_embedding_quant");
  add("gamma", "gamma_quant");
  add("beta", "beta_quant");
  bool hasSegments = call.has(1);
  if (hasSegments)
    add("segment", "segment_embedding");
  return text + llvm::formatv(
                    "layernorm_out{0} = com.microsoft."
                    "EmbedLayerNormalization<epsilon: float = @epsilon>"
                    "(input_ids, {1}, word_embedding, position_embedding, "
                    "{2}, gamma, beta{3})\n",
                    call.wants(1) ? ", mask_index_out" : "",
                    hasSegments ? "segment_ids" : "",
                    hasSegments ? "segment" : "", call.has(7) ? ", mask" : "")
                    .str();
}

//===----------------------------------------------------------------------===//
// Distances
//===----------------------------------------------------------------------===//

/// C: the distance of each row of A [m, n] from each row of B [k, n].
static std::string writeCDist(const ContribCall &call) {
  StringRef metric = call.getString("metric");
  bool squared = metric.empty() || metric == "sqeuclidean";
  if (!squared && metric != "euclidean")
    return call.refuse("the metric '" + metric + "' is unknown");
  for (unsigned k : {0, 1})
    if (call.getRank(k) != 2)
      return call.refuse("an input that is no matrix");
  // Not by products: what is left of their differences has few digits.
  std::string text = "sums = ReduceSumSquare<keepdims = 0>(Unsqueeze(A, [1]) - "
                     "Unsqueeze(B, [0]), [2])\n";
  return text + (squared ? "C = Identity(sums)" : "C = Sqrt(sums)");
}

std::string loopc::importer::writeRows(const ContribCall &call, StringRef from,
                                       StringRef to, int64_t columns) {
  if (call.getRank(0).value_or(1) > 2 || call.getRank(0) == 0)
    return call.refuse("an input that is no rows of features");
  return llvm::formatv("{1}_shape = Concat<axis = 0>(Gather(Concat<axis = "
                       "0>([1], Shape({0})), [-2]), [{2}])\n"
                       "{1} = Reshape<allowzero = 1>({0}, {1}_shape)\n",
                       from, to, columns);
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

template <const char *text> static std::string write(const ContribCall &) {
  return text;
}

static constexpr char kGelu[] = "Y = Gelu(X)";
static constexpr char kBiasGelu[] = "V = A + B\n"
                                    "C = Gelu(V)";
static constexpr char kQuickGelu[] = "V = X * CastLike(@alpha, X)\n"
                                     "Y = X * Sigmoid(V)";
static constexpr char kBiasAdd[] = "V = X + bias\n"
                                   "Y = V + skip";
static constexpr char kTrilu[] = "Y = Trilu<upper: int = @upper>(X, k)";
static constexpr char kExpandDims[] = "Y = Unsqueeze(X, int64(axis))";

/// What converters of Core ML wrote before opset 8, when these operators were
/// experimental ones of ONNX; onnxruntime has kept them.
static constexpr char kImageScaler[] =
    "factor = Constant<value_float: float = @scale>()\n"
    "shifts = Constant<value_floats: floats = @bias>()\n"
    "shift = Unsqueeze(shifts, [1, 2])\n"
    "output = input * CastLike(factor, input) + CastLike(shift, input)\n";

static constexpr char kAffine[] =
    "factor = Constant<value_float: float = @alpha>()\n"
    "shift = Constant<value_float: float = @beta>()\n"
    "Y = X * CastLike(factor, X) + CastLike(shift, X)\n";

static constexpr char kThresholdedRelu[] =
    "Y = ThresholdedRelu<alpha: float = @alpha>(X)";

/// The border is left, top, right, bottom; `scale` is the height and the width.
static std::string writeCrop(const ContribCall &call) {
  std::string end = call.getAttr("scale")
                        ? "start + Constant<value_ints: ints = @scale>()"
                        : "Shape<start = 2>(input) - Gather(border, [3, 2])";
  return "border = Constant<value_ints: ints = @border>()\n"
         "start = Gather(border, [1, 0])\n"
         "end = " +
         end +
         "\n"
         "output = Slice(input, start, end, [2, 3])\n";
}

// Reshape to whole groups refuses channels that do not divide into them.
static constexpr char kGroupNorm[] =
    "groups0 = Constant<value_int: int = @num_groups>()\n"
    "groups = Unsqueeze(groups0, [0])\n"
    "batch = Shape<start = 0, end = 1>(X)\n"
    "parts = Concat<axis = 0>(batch, groups, Shape<start = 1, end = 2>(X) / "
    "groups, Shape<start = 2>(X))\n"
    "grouped = Reshape(Reshape<allowzero = 1>(X, parts), Concat<axis = "
    "0>(batch, groups, [-1]))\n"
    "Y = Reshape<allowzero = 1>(InstanceNormalization<epsilon: float = "
    "@epsilon>(grouped, scale, bias), Shape(X))";

static constexpr StringLiteral kProductAttributes =
    "alpha: float = 1.0, transA: int = 0, transB: int = 0, "
    "transBatchA: int = 0, transBatchB: int = 0";

ArrayRef<ContribOperator> loopc::importer::getContribLayers() {
  static const ContribOperator operators[] = {
      {kContribDomain, "Gelu", "", "X", "Y", write<kGelu>},
      {kContribDomain, "FastGelu", "", "X, bias", "Y", writeFastGelu},
      {kContribDomain, "BiasGelu", "", "A, B", "C", write<kBiasGelu>},
      {kContribDomain, "QuickGelu", "alpha: float = 1.702", "X", "Y",
       write<kQuickGelu>},
      {kContribDomain, "BiasAdd", "", "X, bias, skip", "Y", write<kBiasAdd>},
      {kContribDomain, "Trilu", "upper: int = 1", "X, k", "Y", write<kTrilu>},
      {kContribDomain, "ExpandDims", "", "X, axis", "Y", write<kExpandDims>},
      {kContribDomain, "FusedMatMul", kProductAttributes, "A, B", "Y",
       writeFusedMatMul},
      {kContribDomain, "TransposeMatMul", kProductAttributes, "A, B", "Y",
       writeFusedMatMul},
      {kContribDomain, "FusedMatMulActivation",
       "activation, activation_alpha, activation_beta, activation_gamma, "
       "activation_axis, alpha: float = 1.0, transA: int = 0, "
       "transB: int = 0, transBatchA: int = 0, transBatchB: int = 0",
       "A, B", "Y", writeFusedMatMulActivation},
      {kContribDomain, "FusedGemm",
       "activation, activation_alpha, activation_beta, activation_gamma, "
       "alpha: float = 1.0, beta: float = 1.0, transA: int = 0, "
       "transB: int = 0",
       "A, B, C", "Y", writeFusedGemm},
      {kContribDomain, "CDist", "metric", "A, B", "C", writeCDist},
      {kContribDomain, "FusedConv",
       "activation, activation_params, auto_pad, dilations, group, "
       "kernel_shape, pads, strides",
       "X, W, B, Z", "Y", writeFusedConv},
      {kContribDomain, "SkipLayerNormalization", "epsilon: float = 1e-12",
       "input, skip, gamma, beta, bias", "output, mean, inv_std_var, sum",
       writeSkipLayerNorm},
      {kContribDomain, "SkipSimplifiedLayerNormalization",
       "epsilon: float = 1e-12", "input, skip, gamma, bias",
       "output, mean, inv_std_var, sum", writeSkipRmsNorm},
      {kContribDomain, "EmbedLayerNormalization",
       "epsilon: float = 1e-12, mask_index_type: int = 0",
       "input_ids, segment_ids, word_embedding, position_embedding, "
       "segment_embedding, gamma, beta, mask, position_ids",
       "output, mask_index, embedding_sum", writeEmbedLayerNorm},
      {kContribDomain, "QEmbedLayerNormalization", "epsilon: float = 1e-12",
       "input_ids, segment_ids, word_embedding_quant, "
       "position_embedding_quant, segment_embedding, gamma_quant, beta_quant, "
       "mask, word_embedding_scale, position_embedding_scale, segment_scale, "
       "gamma_scale, beta_scale, word_embedding_zero_point, "
       "position_embedding_zero_point, segment_zero_point, gamma_zero_point, "
       "beta_zero_point",
       "layernorm_out, mask_index_out", writeQuantizedEmbedding},
      {kContribDomain, "BiasSoftmax",
       "axis: int = 1, is_inner_broadcast: int = 0", "data, bias", "output",
       write<kBiasSoftmax>},
      // Of the standard domain, but in no version of ONNX (the second: in none
      // before 17): onnxruntime's optimizer writes them whatever is imported.
      {"", "SimplifiedLayerNormalization",
       "axis: int = -1, epsilon: float = 1e-05, stash_type: int = 1",
       "X, Scale", "Y, InvStdDev", writeRmsNorm},
      {"", "LayerNormalization",
       "axis: int = -1, epsilon: float = 1e-05, stash_type: int = 1",
       "X, Scale, B", "Y, Mean, InvStdDev", writeLayerNorm},
      // Opsets 18 to 20, withdrawn since: scale and bias are for groups.
      {"", "GroupNormalization", "epsilon: float = 1e-05, num_groups",
       "X, scale, bias", "Y", write<kGroupNorm>},
      {"", "ImageScaler", "bias, scale: float = 1.0", "input", "output",
       write<kImageScaler>},
      {"", "Crop", "border, scale", "input", "output", writeCrop},
      {"", "Affine", "alpha: float = 1.0, beta: float = 0.0", "X", "Y",
       write<kAffine>},
      {"", "ThresholdedRelu", "alpha: float = 1.0", "X", "Y",
       write<kThresholdedRelu>},
  };
  return operators;
}

const ContribOperator *loopc::importer::findContribOperator(StringRef domain,
                                                            StringRef name) {
  for (ArrayRef<ContribOperator> family :
       {getContribLayers(), getContribAttention(), getContribQuantized(),
        getContribRecurrent(), getContribStates(), getContribSupportVectors(),
        getContribMaps(), getContribTensors(), getContribIndexing(),
        getContribExperts(), getContribSearch()})
    for (const ContribOperator &op : family)
      if (op.domain == domain && op.name == name)
        return &op;
  return nullptr;
}

bool loopc::importer::buildContribFunction(const ContribOperator &op,
                                           const ContribCall &call,
                                           pb::FunctionProto &fn,
                                           std::string &reason) {
  std::string body = expandExpressions(op.body(call));
  if (!call.getReason().empty()) {
    reason = call.getReason();
    return false;
  }
  std::string inputs = op.inputs.str();
  if (op.inputs == "...") {
    inputs = "i0";
    for (unsigned k = 1; k < call.getNumInputs(); ++k)
      inputs += llvm::formatv(", i{0}", k);
  }
  std::string attributes =
      op.attributes.empty() ? "" : ("<" + op.attributes + "> ").str();
  std::string text = llvm::formatv(
      "<domain: \"{0}\", opset_import: [\"\" : {6}, \"com.microsoft\" : 1, "
      "\"ai.onnx.ml\" : 4, \"loopc.graph\" : 1]> "
      "{1} {2}({3}) => ({4}) {{\n{5}\n}\n",
      op.domain, op.name, attributes, inputs, op.outputs, body, op.opset);
  pb::OnnxParser parser(text);
  auto status = parser.Parse(fn);
  reason = status.IsOK() ? "" : status.ErrorMessage();
  // In front of what reads them.
  for (const pb::NodeProto &constant : call.getConstants()) {
    *fn.add_node() = constant;
    for (int k = fn.node_size() - 1; k > 0; --k)
      fn.mutable_node()->SwapElements(k, k - 1);
  }
  return status.IsOK();
}
