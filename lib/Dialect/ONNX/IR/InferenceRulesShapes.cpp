//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Ranks and extents that the onnx library does not infer though they are known:
// those of operators that change shapes by axes or sizes computed at run time.

#include "SchemaImpl.h"
#include "onnx/defs/tensor_proto_util.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace loopc::onnx;
using ::onnx::AttributeProto;
using ::onnx::OpSchema;
using ::onnx::TensorShapeProto;
using ::onnx::TypeProto;

/// Number of elements of rank-1 input `index`.
static std::optional<int64_t> lengthOf(NodeContext &context, size_t index) {
  const TensorShapeProto *shape = context.getInputShape(index);
  if (!shape || shape->dim_size() != 1 || !shape->dim(0).has_dim_value())
    return std::nullopt;
  return shape->dim(0).dim_value();
}

static TypeProto::Tensor &output(NodeContext &context, size_t index) {
  return *context.getOutputType(index)->mutable_tensor_type();
}

/// Runs the library's function; true if it left output 0 without a shape.
static bool leavesUnknown(NodeContext &context, const OpSchema &schema) {
  if (schema.has_type_and_shape_inference_function())
    schema.GetTypeAndShapeInferenceFunction()(context);
  TypeProto::Tensor &type = output(context, 0);
  if (type.elem_type() == 0 && context.getInputType(0))
    type.set_elem_type(context.getInputType(0)->tensor_type().elem_type());
  return !type.has_shape();
}

/// Output 0 has rank `rank`.
static void setRank(NodeContext &context, int64_t rank) {
  TensorShapeProto *shape = output(context, 0).mutable_shape();
  for (int64_t k = 0; k < rank; ++k)
    shape->add_dim();
}

/// Squeeze and Unsqueeze: as many axes as the input "axes" has elements go or
/// come.
template <int direction>
static bool byNumberOfAxes(NodeContext &context, const OpSchema &schema) {
  if (!leavesUnknown(context, schema))
    return true;
  const TensorShapeProto *input = context.getInputShape(0);
  std::optional<int64_t> count = lengthOf(context, 1);
  if (input && count && input->dim_size() + direction * *count >= 0)
    setRank(context, input->dim_size() + direction * *count);
  return true;
}

/// Squeeze and Unsqueeze before version 11: the library takes negative axes for
/// none. Exporters write them, and onnxruntime counts them from the end, as
/// version 11 does.
static bool asInVersion11(NodeContext &context, const OpSchema &schema) {
  if (const OpSchema *next = findSchema(schema.domain(), schema.Name(), 11))
    next->GetTypeAndShapeInferenceFunction()(context);
  return true;
}

/// The rank of the input stays.
static bool sameRank(NodeContext &context, const OpSchema &schema) {
  if (leavesUnknown(context, schema))
    if (const TensorShapeProto *input = context.getInputShape(0))
      setRank(context, input->dim_size());
  return true;
}

/// Results that have one rank whatever the inputs are.
template <int rank>
static bool ofRank(NodeContext &context, const OpSchema &schema) {
  if (leavesUnknown(context, schema))
    setRank(context, rank);
  return true;
}

/// A GatherND whose tuples name single elements: the library forgets to say
/// that the result of one tuple is a scalar.
static bool gatherND(NodeContext &context, const OpSchema &schema) {
  const TensorShapeProto *data = context.getInputShape(0);
  if (leavesUnknown(context, schema) && data &&
      lengthOf(context, 1) == data->dim_size())
    setRank(context, 0);
  return true;
}

/// The parts of a Split differ from the input along one axis alone. What the
/// library says of that axis stands only where sizes are given as constants;
/// it ignores the sizes that version 1 has as input, and is wrong where more
/// than one of `num_outputs` parts is short.
static bool split(NodeContext &context, const OpSchema &schema) {
  const TensorShapeProto *input = context.getInputShape(0);
  bool bySizes = context.hasInput(1) &&
                 (schema.SinceVersion() == 1 || !context.getInputData(1));
  const AttributeProto *count = context.getAttribute("num_outputs");
  if (!input || (!bySizes && (!count || context.hasInput(1)))) {
    return false;
  }
  const AttributeProto *attribute = context.getAttribute("axis");
  int64_t axis = attribute ? attribute->i() : 0;
  axis = axis < 0 ? axis + input->dim_size() : axis;
  if (axis < 0 || axis >= input->dim_size())
    fail_shape_inference("axis ", axis, " is out of range");
  const auto &extent = input->dim(static_cast<int>(axis));
  bool isKnown = !bySizes && extent.has_dim_value();
  auto parts = static_cast<int64_t>(context.getNumOutputs());
  int64_t rest = isKnown ? extent.dim_value() : 0;
  int64_t chunk = (rest + parts - 1) / parts;
  for (int64_t k = 0; k < parts; ++k) {
    TypeProto &type = *context.getOutputType(k);
    type = *context.getInputType(0);
    auto &dim = *type.mutable_tensor_type()->mutable_shape()->mutable_dim(
        static_cast<int>(axis));
    dim.Clear();
    if (isKnown)
      dim.set_dim_value(std::min(chunk, rest));
    rest -= std::min(chunk, rest);
  }
  return true;
}

/// The element of one-element constant input `index` that holds 64-bit
/// integers.
static std::optional<int64_t> integerOf(NodeContext &context, size_t index) {
  const ::onnx::TensorProto *data = context.getInputData(index);
  if (!data || data->data_type() != ::onnx::TensorProto::INT64)
    return std::nullopt;
  std::vector<int64_t> values = ::onnx::ParseData<int64_t>(data);
  if (values.size() != 1)
    return std::nullopt;
  return values[0];
}

/// The library counts the elements of a Range of 64-bit integers in doubles,
/// and overflows where its ends are far apart.
static bool range(NodeContext &context, const OpSchema &) {
  std::optional<int64_t> start = integerOf(context, 0);
  std::optional<int64_t> limit = integerOf(context, 1);
  std::optional<int64_t> delta = integerOf(context, 2);
  if (!start || !limit || !delta || *delta == 0)
    return false;
  bool isDown = *delta < 0;
  auto low = static_cast<uint64_t>(isDown ? *limit : *start);
  auto high = static_cast<uint64_t>(isDown ? *start : *limit);
  uint64_t step = isDown ? 0 - static_cast<uint64_t>(*delta) : *delta;
  bool isEmpty = isDown ? *start <= *limit : *limit <= *start;
  uint64_t count = isEmpty ? 0 : (high - low - 1) / step + 1;
  TypeProto::Tensor &type = output(context, 0);
  type.set_elem_type(::onnx::TensorProto::INT64);
  auto &dim = *type.mutable_shape()->add_dim();
  if (count <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    dim.set_dim_value(static_cast<int64_t>(count));
  return true;
}

/// The axes that a Slice cuts, not below 0; nothing where that is not known.
static std::optional<SmallVector<int64_t>> slicedAxes(NodeContext &context,
                                                      int64_t rank) {
  SmallVector<int64_t> axes;
  if (!context.hasInput(3)) {
    // The first ones, as many as there are starts.
    std::optional<int64_t> count = lengthOf(context, 1);
    if (!count)
      return std::nullopt;
    for (int64_t k = 0; k < std::min(*count, rank); ++k)
      axes.push_back(k);
    return axes;
  }
  const ::onnx::TensorProto *data = context.getInputData(3);
  if (!data)
    return std::nullopt;
  if (data->data_type() == ::onnx::TensorProto::INT64)
    llvm::append_range(axes, ::onnx::ParseData<int64_t>(data));
  else
    llvm::append_range(axes, ::onnx::ParseData<int32_t>(data));
  for (int64_t &axis : axes)
    axis += axis < 0 ? rank : 0;
  return axes;
}

/// The axes that a Slice does not cut keep their extents. The library says so
/// only where it knows from where to where the others are cut.
static bool slice(NodeContext &context, const OpSchema &schema) {
  leavesUnknown(context, schema);
  const TensorShapeProto *input = context.getInputShape(0);
  if (!input)
    return true;
  std::optional<SmallVector<int64_t>> axes =
      slicedAxes(context, input->dim_size());
  if (!output(context, 0).has_shape())
    setRank(context, input->dim_size());
  TensorShapeProto &shape = *output(context, 0).mutable_shape();
  for (int k = 0; axes && k < shape.dim_size(); ++k)
    if (!shape.dim(k).has_dim_value() && !llvm::is_contained(*axes, k))
      *shape.mutable_dim(k) = input->dim(k);
  return true;
}

static int64_t flag(NodeContext &context, StringRef name, int64_t fallback) {
  const AttributeProto *attribute = context.getAttribute(name.str());
  return attribute ? attribute->i() : fallback;
}

/// True if a Reshape has -1 beside an axis without elements that a 0 copies:
/// the library calls that an error, and -1 is what is left of the other axes.
static bool infersBesideNothing(NodeContext &context) {
  const TensorShapeProto *input = context.getInputShape(0);
  const ::onnx::TensorProto *data = context.getInputData(1);
  if (!input || !data || flag(context, "allowzero", 0))
    return false;
  std::vector<int64_t> wanted = ::onnx::ParseData<int64_t>(data);
  bool copiesNothing = false;
  for (auto [dim, extent] : llvm::zip(input->dim(), wanted))
    copiesNothing |= extent == 0 && dim.has_dim_value() && dim.dim_value() == 0;
  return copiesNothing && llvm::is_contained(wanted, -1);
}

/// Up to version 13 the library asks for constants. Version 14, which sees what
/// dimensions the shape was computed from, has an attribute more, whose default
/// is what there was before.
static bool reshape(NodeContext &context, const OpSchema &schema) {
  static const OpSchema *const version14 = findSchema("", "Reshape", 14);
  if (infersBesideNothing(context)) {
    output(context, 0)
        .set_elem_type(context.getInputType(0)->tensor_type().elem_type());
    if (std::optional<int64_t> rank = lengthOf(context, 1))
      setRank(context, *rank);
    return true;
  }
  if (leavesUnknown(context, schema.SinceVersion() < 14 ? *version14 : schema))
    if (std::optional<int64_t> rank = lengthOf(context, 1))
      setRank(context, *rank);
  return true;
}

/// Up to version 3 the axis of a Concat is 1 where it is left out.
static bool concatOld(NodeContext &context, const OpSchema &) {
  if (!context.getAttribute("axis")) {
    AttributeProto axis;
    axis.set_name("axis");
    axis.set_type(AttributeProto::INT);
    axis.set_i(1);
    context.addAttribute(std::move(axis));
  }
  return false;
}

/// Reductions over axes that are an input. The rank stays with `keepdims`; else
/// as many axes go as there are elements. None of them stand for all axes, or
/// with `noop_with_empty_axes` for none.
static bool reduction(NodeContext &context, const OpSchema &schema) {
  const TensorShapeProto *input = context.getInputShape(0);
  if (!input || !context.hasInput(1) || context.getInputData(1))
    return false;
  std::optional<int64_t> count = lengthOf(context, 1);
  bool keepsAxes = flag(context, "keepdims", 1);
  TypeProto::Tensor &type = output(context, 0);
  type.set_elem_type(context.getInputType(0)->tensor_type().elem_type());
  if (count == 0 && flag(context, "noop_with_empty_axes", 0)) {
    *type.mutable_shape() = *input;
  } else if (keepsAxes) {
    setRank(context, input->dim_size());
    for (auto &dim : *type.mutable_shape()->mutable_dim())
      if (count == 0)
        dim.set_dim_value(1);
  } else if (count && *count <= input->dim_size()) {
    setRank(context, *count ? input->dim_size() - *count : 0);
  }
  return true;
}

void loopc::onnx::dropWindowsOfNothing(NodeContext &context) {
  const AttributeProto *mode = context.getAttribute("auto_pad");
  const TensorShapeProto *input = context.getInputShape(0);
  if (!mode || !StringRef(mode->s()).starts_with("SAME") || !input)
    return;
  for (size_t i = 0; i < context.getNumOutputs(); ++i) {
    TypeProto::Tensor &type = *context.getOutputType(i)->mutable_tensor_type();
    if (!type.has_shape() || type.shape().dim_size() != input->dim_size())
      continue;
    for (int k = 2; k < input->dim_size(); ++k)
      if (input->dim(k).has_dim_value() && input->dim(k).dim_value() == 0)
        type.mutable_shape()->mutable_dim(k)->set_dim_value(0);
  }
}

/// With auto_pad SAME a transposed convolution has stride elements for each of
/// its input's, or as many as there are without padding, where that is fewer:
/// what ONNX's text says, its evaluator and onnxruntime do. The library counts
/// `output_padding` in addition.
static void boundTransposedWindows(NodeContext &context) {
  const AttributeProto *mode = context.getAttribute("auto_pad"),
                       *strides = context.getAttribute("strides");
  const TensorShapeProto *input = context.getInputShape(0);
  TypeProto::Tensor &type = output(context, 0);
  if (!mode || !StringRef(mode->s()).starts_with("SAME") || !input ||
      context.getAttribute("output_shape") || !type.has_shape() ||
      type.shape().dim_size() != input->dim_size())
    return;
  for (int k = 2; k < input->dim_size(); ++k) {
    auto *extent = type.mutable_shape()->mutable_dim(k);
    if (!input->dim(k).has_dim_value() || !extent->has_dim_value())
      continue;
    std::optional<int64_t> most = llvm::checkedMul<int64_t>(
        input->dim(k).dim_value(), strides ? strides->ints(k - 2) : 1);
    if (most)
      extent->set_dim_value(std::min(extent->dim_value(), *most));
  }
}

/// Convolutions keep their rank and the images; the library says nothing, or
/// stops half way, where it does not know the kernel.
static bool convolution(NodeContext &context, const OpSchema &schema) {
  const TensorShapeProto *input = context.getInputShape(0);
  bool isUnknown = leavesUnknown(context, schema);
  if (schema.Name() == "ConvTranspose")
    boundTransposedWindows(context);
  else
    dropWindowsOfNothing(context);
  if (!input || input->dim_size() < 3 ||
      (!isUnknown &&
       output(context, 0).shape().dim_size() == input->dim_size()))
    return true;
  output(context, 0).clear_shape();
  setRank(context, input->dim_size());
  *output(context, 0).mutable_shape()->mutable_dim(0) = input->dim(0);
  return true;
}

namespace {
struct ShapeRule {
  StringLiteral op;
  int since, until;
  bool (*infer)(NodeContext &context, const OpSchema &schema);
};
} // namespace

bool loopc::onnx::inferShapeByRule(NodeContext &context,
                                   const OpSchema &schema) {
  static constexpr int noEnd = std::numeric_limits<int>::max();
  static const ShapeRule rules[] = {
      {"Concat", 1, 3, concatOld},
      {"Conv", 1, noEnd, convolution},
      {"ConvInteger", 10, noEnd, convolution},
      {"ConvTranspose", 1, noEnd, convolution},
      {"GatherND", 11, noEnd, gatherND},
      {"MelWeightMatrix", 17, noEnd, ofRank<2>},
      {"NonMaxSuppression", 10, noEnd, ofRank<2>},
      {"Pad", 18, noEnd, sameRank},
      {"QLinearConv", 10, noEnd, convolution},
      {"Range", 11, noEnd, range},
      {"ReduceL1", 18, noEnd, reduction},
      {"ReduceL2", 18, noEnd, reduction},
      {"ReduceLogSum", 18, noEnd, reduction},
      {"ReduceLogSumExp", 18, noEnd, reduction},
      {"ReduceMax", 18, noEnd, reduction},
      {"ReduceMean", 18, noEnd, reduction},
      {"ReduceMin", 18, noEnd, reduction},
      {"ReduceProd", 18, noEnd, reduction},
      {"ReduceSum", 13, noEnd, reduction},
      {"ReduceSumSquare", 18, noEnd, reduction},
      {"Reshape", 5, noEnd, reshape},
      {"STFT", 17, noEnd, ofRank<4>},
      {"Slice", 10, noEnd, slice},
      {"Split", 1, noEnd, split},
      {"Squeeze", 1, 10, asInVersion11},
      {"Squeeze", 13, noEnd, byNumberOfAxes<-1>},
      {"Tile", 1, 5, sameRank},
      {"Unsqueeze", 1, 10, asInVersion11},
      {"Unsqueeze", 13, noEnd, byNumberOfAxes<1>},
  };
  if (!schema.domain().empty())
    return false;
  for (const ShapeRule &rule : rules)
    if (schema.Name() == rule.op && schema.SinceVersion() >= rule.since &&
        schema.SinceVersion() <= rule.until)
      return rule.infer(context, schema);
  return false;
}
