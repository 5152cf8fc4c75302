//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Inference that the onnx library lacks: operator versions without an inference
// function (mostly of opset 1), and functions that guess where they should not.

#include "SchemaImpl.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace loopc::onnx;
using ::onnx::AttributeProto;
using ::onnx::OpSchema;
using ::onnx::TensorProto;
using ::onnx::TensorShapeProto;
using ::onnx::TypeProto;

namespace {
/// One row: what infers versions `since` to `until` of operator `op`. The
/// function returns true if nothing is left to be done.
struct Rule {
  StringLiteral domain;
  StringLiteral op;
  int since;
  int until;
  bool (*infer)(NodeContext &context, const OpSchema &schema);
};
} // namespace

/// Every output has the shape of input 0. That is what broadcasting was before
/// opset 7: to the shape of the first operand.
static bool sameAsFirst(NodeContext &context, const OpSchema &schema) {
  const TypeProto *input = context.getInputType(0);
  for (size_t i = 0; i < context.getNumOutputs() && input; ++i) {
    const auto &types = schema.outputs()[i].GetTypes();
    TypeProto &output = *context.getOutputType(i);
    output = *input;
    if (types.size() == 1)
      output.mutable_tensor_type()->set_elem_type(
          ::onnx::Utils::DataTypeUtils::ToTypeProto(*types.begin())
              .tensor_type()
              .elem_type());
  }
  return true;
}

/// Cast-1 names its type: to = "FLOAT".
static bool castByName(NodeContext &context, const OpSchema &schema) {
  const AttributeProto *to = context.getAttribute("to");
  ::onnx::TensorProto_DataType type;
  if (!to || !::onnx::TensorProto_DataType_Parse(to->s(), &type))
    fail_type_inference("attribute 'to' names no element type");
  sameAsFirst(context, schema);
  context.getOutputType(0)->mutable_tensor_type()->set_elem_type(type);
  return true;
}

/// Runs the inference of the next version that has one. False where there is
/// none or it refuses.
static bool asNextVersion(NodeContext &context, const OpSchema &schema) {
  const OpSchema *newest = findSchema(schema.domain(), schema.Name(),
                                      std::numeric_limits<int>::max());
  for (int version = schema.SinceVersion() + 1;
       newest && version <= newest->SinceVersion(); ++version) {
    const OpSchema *next = findSchema(schema.domain(), schema.Name(), version);
    if (!next || next->SinceVersion() != version ||
        !next->has_type_and_shape_inference_function())
      continue;
    NodeContext copy = context;
    try {
      next->GetTypeAndShapeInferenceFunction()(copy);
    } catch (const std::exception &) {
      // The versions may differ too much; nothing is known then.
      return false;
    }
    context.setOutputs(copy);
    return true;
  }
  return false;
}

/// Windows of a pooling.
static bool windows(NodeContext &context, const OpSchema &schema) {
  schema.GetTypeAndShapeInferenceFunction()(context);
  dropWindowsOfNothing(context);
  return true;
}

/// Pooling with ceil_mode: the newest version drops a last window that would
/// start in the padding, as engines do in all versions (onnxruntime 1.31.1);
/// the library's older inference functions count it.
static bool roundedWindows(NodeContext &context, const OpSchema &schema) {
  return windows(context, *findSchema(schema.domain(), schema.Name(),
                                      std::numeric_limits<int>::max()));
}

/// Pad-1 calls its `pads` `paddings`.
static bool padOld(NodeContext &context, const OpSchema &schema) {
  if (const AttributeProto *paddings = context.getAttribute("paddings")) {
    AttributeProto pads = *paddings;
    pads.set_name("pads");
    context.addAttribute(std::move(pads));
  }
  return asNextVersion(context, schema);
}

/// Reshape-1 has its shape as an attribute, later versions as input 1.
static bool reshapeOld(NodeContext &context, const OpSchema &schema) {
  const AttributeProto *shape = context.getAttribute("shape");
  if (!shape)
    return false;
  TensorProto data;
  data.set_data_type(TensorProto::INT64);
  data.add_dims(shape->ints_size());
  *data.mutable_int64_data() = shape->ints();
  NodeContext copy = context;
  copy.addInput(std::move(data));
  if (!asNextVersion(copy, schema))
    return false;
  context.setOutputs(copy);
  return true;
}

/// Upsample-1: [N, C, floor(H * height_scale), floor(W * width_scale)].
static bool upsampleOld(NodeContext &context, const OpSchema &schema) {
  sameAsFirst(context, schema);
  if (!context.getInputShape(0))
    return true;
  TensorShapeProto *shape =
      context.getOutputType(0)->mutable_tensor_type()->mutable_shape();
  if (shape->dim_size() != 4)
    fail_shape_inference("the input has rank ", shape->dim_size(), ", not 4");
  for (auto [i, name] : {std::pair(2, "height_scale"), {3, "width_scale"}}) {
    const AttributeProto *scale = context.getAttribute(name);
    TensorShapeProto::Dimension &dim = *shape->mutable_dim(i);
    double size = dim.has_dim_value() && scale
                      ? std::floor(static_cast<double>(dim.dim_value()) *
                                   static_cast<double>(scale->f()))
                      : -1;
    dim.Clear();
    if (size >= 0 && size < 0x1p62)
      dim.set_dim_value(static_cast<int64_t>(size));
  }
  return true;
}

/// The library takes an unknown element of Resize's `sizes` for 0. Where they
/// are not all known only the rank is, and the axes that stay.
static bool resizeBySizes(NodeContext &context, const OpSchema &) {
  if (!context.hasInput(3) || context.getInputData(3))
    return false;
  const TensorShapeProto *input = context.getInputShape(0);
  TypeProto::Tensor *type = context.getOutputType(0)->mutable_tensor_type();
  type->set_elem_type(context.getInputType(0)->tensor_type().elem_type());
  if (!input)
    return true;
  const AttributeProto *axes = context.getAttribute("axes");
  int rank = input->dim_size();
  for (int i = 0; i < rank; ++i) {
    auto &dim = *type->mutable_shape()->add_dim();
    if (axes && axes->ints_size() && !llvm::is_contained(axes->ints(), i) &&
        !llvm::is_contained(axes->ints(), i - rank))
      dim = input->dim(i);
  }
  return true;
}

/// The library gives Attention's `qk_matmul_output` [B, H, L, total length], of
/// which it leaves out what it does not know. The length is that of the past
/// and the present together.
static bool attention(NodeContext &context, const OpSchema &schema) {
  schema.GetTypeAndShapeInferenceFunction()(context);
  if (!context.hasOutput(3))
    return true;
  TypeProto::Tensor *type = context.getOutputType(3)->mutable_tensor_type();
  if (!type->has_shape())
    return true;
  if (type->shape().dim_size() != 4)
    type->clear_shape();
  // It knows the total where it knows the shape of the present key.
  else if (context.hasInput(4) &&
           !(context.hasOutput(1) &&
             context.getOutputType(1)->tensor_type().has_shape()))
    type->mutable_shape()->mutable_dim(3)->Clear();
  return true;
}

namespace {
/// One term of an equation: what stands before the ellipsis and behind it.
struct EinsumTerm {
  explicit EinsumTerm(StringRef text)
      : text(text), hasEllipsis(text.contains("...")),
        before(text.split("...").first), after(text.split("...").second) {}

  bool isPlain() const {
    return llvm::all_of(before, llvm::isAlpha) &&
           llvm::all_of(after, llvm::isAlpha);
  }
  /// The label of each of `rank` axes. Those of the ellipsis have the numbers
  /// -1, -2, ... from the right.
  SmallVector<int> labels(int rank) const {
    SmallVector<int> labels(before.begin(), before.end());
    int inside = rank - static_cast<int>(before.size() + after.size());
    for (int k = inside; hasEllipsis && k > 0; --k)
      labels.push_back(-k);
    labels.append(after.begin(), after.end());
    return labels;
  }

  StringRef text;
  bool hasEllipsis;
  StringRef before, after;
};
} // namespace

/// The extent of an Einsum's label whose axes have extents `dims`. An extent of
/// 1 has no say beside others, also where those are not known: the run tells.
static TensorShapeProto::Dimension
broadcastDims(int label, ArrayRef<TensorShapeProto::Dimension> dims) {
  TensorShapeProto::Dimension one, open;
  one.set_dim_value(1);
  const TensorShapeProto::Dimension *fixed = nullptr, *unknown = nullptr;
  for (const TensorShapeProto::Dimension &dim : dims) {
    if (dim.has_dim_value() && dim.dim_value() == 1)
      continue;
    const TensorShapeProto::Dimension *&known =
        dim.has_dim_value() ? fixed : unknown;
    if (!known) {
      known = &dim;
    } else if (fixed && dim.has_dim_value()) {
      if (fixed->dim_value() != dim.dim_value())
        fail_shape_inference(
            "label '", label < 0 ? "..." : std::string(1, char(label)),
            "' has extents ", fixed->dim_value(), " and ", dim.dim_value());
    } else if (!dim.has_dim_param() || dim.dim_param() != known->dim_param()) {
      unknown = &open;
    }
  }
  return fixed ? *fixed : unknown ? *unknown : one;
}

/// The library never ends on an equation with a blank, and reads beyond its
/// shapes on other characters: it gets equations of labels and ellipses alone.
/// It takes the extent of a label from the first operand that has it; the
/// operands of a label broadcast.
static bool einsum(NodeContext &context, const OpSchema &schema) {
  const AttributeProto *attribute = context.getAttribute("equation");
  if (!attribute)
    return false;
  std::string equation = attribute->s();
  llvm::erase(equation, ' ');
  auto [left, right] = StringRef(equation).split("->");
  SmallVector<EinsumTerm> terms;
  for (StringRef term : llvm::split(left, ','))
    terms.emplace_back(term);
  EinsumTerm result(right);
  auto check = [&](const EinsumTerm &term) {
    if (!term.isPlain())
      fail_shape_inference("'", term.text.str(), "' in equation '",
                           attribute->s(),
                           "' is not labels and at most one ellipsis");
  };
  llvm::for_each(terms, check);
  check(result);
  AttributeProto clean = *attribute;
  clean.set_s(equation);
  context.addAttribute(std::move(clean));
  schema.GetTypeAndShapeInferenceFunction()(context);
  TypeProto::Tensor &type = *context.getOutputType(0)->mutable_tensor_type();
  if (!type.has_shape())
    return true;
  // The library has checked the ranks.
  std::map<int, SmallVector<TensorShapeProto::Dimension>> extents;
  for (auto [k, term] : llvm::enumerate(terms)) {
    const TensorShapeProto &shape = *context.getInputShape(k);
    for (auto [axis, label] : llvm::enumerate(term.labels(shape.dim_size())))
      extents[label].push_back(shape.dim(static_cast<int>(axis)));
  }
  SmallVector<int> labels;
  if (StringRef(equation).contains("->")) {
    labels = result.labels(type.shape().dim_size());
  } else {
    // The axes of the ellipsis, then the labels that are there once.
    for (const auto &[label, dims] : extents)
      if (label < 0 || dims.size() == 1)
        labels.push_back(label);
  }
  for (auto [axis, label] : llvm::enumerate(labels))
    *type.mutable_shape()->mutable_dim(static_cast<int>(axis)) =
        broadcastDims(label, extents[label]);
  return true;
}

/// Values, gradients and states of an optimizer's tensors broadcast: a new
/// value has the shape of all of them, a new state that of value, gradient and
/// state. The library takes each for what it was.
static bool optimizer(NodeContext &context, const OpSchema &schema) {
  size_t groups = schema.Name() == "Adam" ? 4 : 3;
  size_t given = context.getNumInputs();
  size_t count = given < 2 ? 0 : (given - 2) / groups;
  if (given != 2 + count * groups ||
      context.getNumOutputs() != count * (groups - 1))
    return false;
  for (size_t result = 0; result < context.getNumOutputs(); ++result) {
    size_t part = result / count;
    std::vector<const TensorShapeProto *> shapes;
    for (size_t group = 0; group < groups; ++group) {
      size_t input = 2 + group * count + result % count;
      if (part == 0 || group < 2 || group == part + 1) {
        const TypeProto *type = context.getInputType(input);
        if (!type || !type->tensor_type().has_shape())
          return false;
        shapes.push_back(&type->tensor_type().shape());
      }
    }
    ::onnx::propagateElemTypeFromInputToOutput(context, 2 + result % count,
                                               result);
    ::onnx::multidirectionalBroadcastShapeInference(
        shapes, *::onnx::getOutputShape(context, result));
  }
  return true;
}

static constexpr int noEnd = std::numeric_limits<int>::max();

static const Rule rules[] = {
    {"", "Abs", 1, 1, sameAsFirst},
    {"", "Add", 1, 1, sameAsFirst},
    {"", "Attention", 23, noEnd, attention},
    {"", "AveragePool", 10, 19, roundedWindows},
    {"", "AveragePool", 1, noEnd, windows},
    {"", "Cast", 1, 1, castByName},
    {"", "Ceil", 1, 1, sameAsFirst},
    {"", "Clip", 1, 1, sameAsFirst},
    {"", "Div", 1, 1, sameAsFirst},
    {"", "Dropout", 1, 1, sameAsFirst},
    {"", "Einsum", 12, noEnd, einsum},
    {"", "Elu", 1, 1, sameAsFirst},
    {"", "Exp", 1, 1, sameAsFirst},
    {"", "Floor", 1, 1, sameAsFirst},
    {"", "GroupNormalization", 18, 21, sameAsFirst},
    {"", "HardSigmoid", 1, 1, sameAsFirst},
    {"", "InstanceNormalization", 1, 1, sameAsFirst},
    {"", "LeakyRelu", 1, 1, sameAsFirst},
    {"", "Log", 1, 1, sameAsFirst},
    {"", "LpPool", 2, noEnd, windows},
    {"", "Max", 1, 1, sameAsFirst},
    {"", "MaxPool", 10, 12, roundedWindows},
    {"", "MaxPool", 1, noEnd, windows},
    {"", "Mean", 1, 1, sameAsFirst},
    {"", "MeanVarianceNormalization", 9, 13, sameAsFirst},
    {"", "Min", 1, 1, sameAsFirst},
    {"", "Mul", 1, 1, sameAsFirst},
    {"", "Neg", 1, 1, sameAsFirst},
    {"", "PRelu", 1, 1, sameAsFirst},
    {"", "Pad", 1, 1, padOld},
    {"", "Reciprocal", 1, 1, sameAsFirst},
    {"", "Relu", 1, 1, sameAsFirst},
    {"", "Reshape", 1, 1, reshapeOld},
    {"", "Resize", 11, noEnd, resizeBySizes},
    {"", "Selu", 1, 1, sameAsFirst},
    {"", "Sigmoid", 1, 1, sameAsFirst},
    {"", "Sqrt", 1, 1, sameAsFirst},
    {"", "Sub", 1, 1, sameAsFirst},
    {"", "Sum", 1, 1, sameAsFirst},
    {"", "Tanh", 1, 1, sameAsFirst},
    {"", "Upsample", 1, 1, upsampleOld},
    {"ai.onnx.ml", "Imputer", 1, 1, sameAsFirst},
    {"ai.onnx.ml", "Normalizer", 1, 1, sameAsFirst},
    {"ai.onnx.ml", "Scaler", 1, 1, sameAsFirst},
    {"ai.onnx.preview.training", "Adagrad", 1, noEnd, optimizer},
    {"ai.onnx.preview.training", "Adam", 1, noEnd, optimizer},
    {"ai.onnx.preview.training", "Momentum", 1, noEnd, optimizer},
};

bool loopc::onnx::inferByRule(NodeContext &context, const OpSchema &schema) {
  if (inferShapeByRule(context, schema))
    return true;
  for (const Rule &rule : rules)
    if (schema.Name() == rule.op && schema.domain() == rule.domain &&
        schema.SinceVersion() >= rule.since &&
        schema.SinceVersion() <= rule.until)
      return rule.infer(context, schema);
  return !schema.has_type_and_shape_inference_function() &&
         asNextVersion(context, schema);
}
