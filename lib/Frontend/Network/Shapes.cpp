//===- Shapes.cpp - Layers that move elements ---------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerEmitter.h"

#include "loopc/Dialect/Loop/IR/Loop.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::network;

//===----------------------------------------------------------------------===//
// Shuffle
//===----------------------------------------------------------------------===//

Value LayerEmitter::transposed(Value value, StringRef name) {
  const std::vector<int64_t> &given = layer->getInts(name);
  if (!value || given.empty())
    return value;
  RankedTensorType type = ranked(value, *layer->getInput(0));
  if (!type)
    return {};
  // A Permutation has room for more axes than there are.
  size_t rank = type.getRank();
  SmallVector<int64_t> order(given.begin(),
                             given.begin() + std::min(rank, given.size()));
  SmallVector<int64_t> sorted(order);
  llvm::sort(sorted);
  if (order.size() != rank ||
      !llvm::equal(sorted, llvm::seq<int64_t>(0, rank))) {
    fail(Diag::BadLayer) << name << " is no order of " << rank << " axes";
    return {};
  }
  return node("Transpose", value, attr("perm", ArrayRef(order)));
}

void LayerEmitter::emit(const IShuffleLayer &) {
  Value value = transposed(input(0), "first_transpose");
  Value shape;
  if (has(1))
    shape = castTo(input(1), builder.getI64Type());
  else if (layer->hasAttribute("reshape_dimensions"))
    shape = constantInts(layer->getInts("reshape_dimensions"));
  if (shape)
    value =
        node("Reshape", {value, shape},
             attr("allowzero", int64_t(!layer->getInt("zero_is_placeholder"))));
  else if (has(1))
    return;
  set(transposed(value, "second_transpose"));
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

/// The elements of a constant i64 vector; nothing where it is none.
static std::optional<SmallVector<int64_t>> constantValues(Value value) {
  auto op = value.getDefiningOp<onnx::ConstantOp>();
  auto elements =
      op ? dyn_cast<DenseElementsAttr>(op.getValue()) : DenseElementsAttr();
  if (!elements || !elements.getElementType().isSignlessInteger())
    return std::nullopt;
  SmallVector<int64_t> result;
  for (const llvm::APInt &one : elements.getValues<llvm::APInt>())
    result.push_back(one.getSExtValue());
  return result;
}

/// Start, size or stride as a vector of `count` i64.
Value LayerEmitter::sliceVector(StringRef name, int32_t index, int64_t count,
                                std::optional<int64_t> initial) {
  if (has(index)) {
    RankedTensorType type = inputType(index);
    if (!type)
      return {};
    if (type.getRank() != 1 ||
        (!type.isDynamicDim(0) && type.getDimSize(0) != count)) {
      fail() << name << " '" << layer->getInput(index)->getName() << "' is "
             << type << " but must have " << count << " elements";
      return {};
    }
    if (auto known = constantValues(input(index)))
      return constantInts(*known);
    return castTo(input(index), builder.getI64Type());
  }
  SmallVector<int64_t> values(layer->getInts(name).begin(),
                              layer->getInts(name).end());
  if (values.empty() && initial)
    values.assign(count, *initial);
  if (static_cast<int64_t>(values.size()) == count)
    return constantInts(values);
  fail(Diag::BadLayer) << name << " has " << values.size() << " values for "
                       << count << " axes";
  return {};
}

void LayerEmitter::emit(const ISliceLayer &) {
  RankedTensorType type = inputType(0);
  if (!type)
    return;
  int64_t rank = type.getRank();
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (has(5) || !layer->getInts("axes").empty()) {
    SmallVector<int64_t> given(layer->getInts("axes").begin(),
                               layer->getInts("axes").end());
    if (has(5)) {
      auto known = input(5) ? constantValues(input(5)) : std::nullopt;
      if (!known)
        return void(fail(Diag::BadLayer) << "the axes must be constant");
      given = *known;
    }
    axes.clear();
    for (int64_t one : given) {
      std::optional<int64_t> axis = axisOf(one, rank, Diag::BadLayer);
      if (!axis)
        return;
      axes.push_back(*axis);
    }
  }
  int64_t count = axes.size();
  Value start = sliceVector("start", 1, count, std::nullopt);
  Value size = start ? sliceVector("size", 2, count, std::nullopt) : Value();
  Value stride = size ? sliceVector("stride", 3, count, 1) : Value();
  if (!stride)
    return;
  auto mode = static_cast<SampleMode>(layer->getInt("mode"));
  auto strides = constantValues(stride);
  // A stride of zero repeats an element.
  bool strict = mode == SampleMode::kSTRICT_BOUNDS && strides &&
                !llvm::is_contained(*strides, 0);
  if (strict)
    return set(strictSlice(input(0), start, size, stride, axes));
  set(gatheredSlice(input(0), start, size, stride, axes, mode));
}

/// The place of the last of `count` elements; none where they are not inside of
/// an axis of `extent` elements, or of any number.
static std::optional<int64_t> lastPlace(int64_t first, int64_t count,
                                        int64_t stride, int64_t extent) {
  int64_t way, last;
  if (count == 0)
    return first;
  // What has more than 64 bits lies in no tensor.
  if (count < 0 || llvm::MulOverflow(count - 1, stride, way) ||
      llvm::AddOverflow(first, way, last) || std::min(first, last) < 0 ||
      (!ShapedType::isDynamic(extent) && std::max(first, last) >= extent))
    return std::nullopt;
  return last;
}

/// Start, size and extents that are known are checked here, others at run time,
/// and those of what may not run:
///   size == 0 or 0 <= start, last < extent, with last = start + (size - 1) s.
Value LayerEmitter::strictSlice(Value x, Value start, Value size, Value stride,
                                ArrayRef<int64_t> axes) {
  auto type = cast<RankedTensorType>(x.getType());
  auto starts = constantValues(start), sizes = constantValues(size);
  SmallVector<int64_t> strides = *constantValues(stride);
  constexpr int64_t kBeforeAll = std::numeric_limits<int64_t>::min() + 1;
  bool known = starts && sizes;
  SmallVector<int64_t> begins, ends;
  for (size_t k = 0; known && k < axes.size(); ++k) {
    int64_t first = (*starts)[k], count = (*sizes)[k];
    std::optional<int64_t> last =
        lastPlace(first, count, strides[k], type.getDimSize(axes[k]));
    if (!last && conditionalDepth > 0) {
      known = false; // Where the slice runs, the checks below fail.
      break;
    }
    if (!last) {
      fail(Diag::BadLayer) << count << " elements from " << first
                           << " on with a stride of " << strides[k]
                           << " of axis " << axes[k]
                           << " are not inside of its extent"
                           << (type.isDynamicDim(axes[k])
                                   ? std::string()
                                   : " " + std::to_string(
                                               type.getDimSize(axes[k])));
      return {};
    }
    // A slice of nothing may begin anywhere; Slice counts from behind there.
    begins.push_back(count ? first : 0);
    int64_t end = count ? *last + (strides[k] > 0 ? 1 : -1) : 0;
    ends.push_back(end < 0 ? kBeforeAll : end);
    known = !type.isDynamicDim(axes[k]);
  }
  Value over = constantInts(axes);
  if (known)
    return node("Slice",
                {x, constantInts(begins), constantInts(ends), over, stride});

  Value zero = constantInt(0), one = constantInt(1);
  SmallVector<int64_t> signs(
      llvm::map_range(strides, [](int64_t s) { return s > 0 ? 1 : -1; }));
  SmallVector<int64_t> widths(llvm::map_range(strides, [=](int64_t s) {
    return s < 0 ? -std::max(s, kBeforeAll) : s;
  }));
  Value steps = node("Sub", {size, one});
  Value last = node("Add", {start, node("Mul", {steps, stride})});
  Value extents = node("Gather", {node("Shape", x), over});
  // With so many steps the product above cannot have more than 64 bits.
  Value few =
      node("LessOrEqual", {steps, node("Div", {node("Sub", {extents, one}),
                                               constantInts(widths)})});
  auto inside = [&](Value at) {
    return node("And", {node("GreaterOrEqual", {at, zero}),
                        node("Less", {at, extents})});
  };
  Value none = node("Equal", {size, zero});
  Value good = node("And", {few, node("And", {inside(start), inside(last)})});
  good = node("Or", {none, good});
  good = node("And", {good, node("GreaterOrEqual", {size, zero})});
  Value all = node("ReduceMin", good, attr("keepdims", int64_t(0)));
  if (!all)
    return {};
  check(scalar(all), "the slice is not inside of the extents");
  start = node("Where", {none, zero, start});
  Value end = node("Add", {last, constantInts(signs)});
  end =
      node("Where", {node("Less", {end, zero}), constantInt(kBeforeAll), end});
  end = node("Where", {none, zero, end});
  Value y = node("Slice", {x, start, end, over, stride});
  // What the checks say of the extents is told by a reshape.
  if (!sizes || llvm::is_contained(*sizes, 0))
    return y;
  SmallVector<int64_t> shape(type.getRank(), 0);
  for (auto [axis, count] : llvm::zip_equal(axes, *sizes))
    shape[axis] = count;
  return node("Reshape", {y, constantInts(shape)});
}

/// `x` with one element along `axis` where it has none: what a slice fills has
/// an element to look up then.
///   Concat(x, Expand(fill, [d0, .., 1 - min(extent, 1), ..]))
Value LayerEmitter::withElement(Value x, Value fill, int64_t axis,
                                Value extent) {
  auto type = x ? cast<RankedTensorType>(x.getType()) : RankedTensorType();
  if (!type || !fill || (!type.isDynamicDim(axis) && type.getDimSize(axis)))
    return x;
  Value one = constantInt(1), order = constantInts(llvm::to_vector(
                                  llvm::seq<int64_t>(0, type.getRank())));
  Value missing = node("Sub", {one, node("Min", {extent, one})});
  Value shape = node("Where", {node("Equal", {order, constantInt(axis)}),
                               missing, node("Shape", x)});
  Value slab =
      node("Expand", {node("Reshape", {fill, constantInts({})}), shape});
  return node("Concat", {x, slab}, attr("axis", axis));
}

/// A slice of some elements needs one that its indices can be brought to.
void LayerEmitter::checkElements(Value x, Value size, int64_t axis,
                                 Value extent) {
  auto type = x ? cast<RankedTensorType>(x.getType()) : RankedTensorType();
  if (!type || (!type.isDynamicDim(axis) && type.getDimSize(axis)))
    return;
  Value zero = constantInt(0);
  Value good = node(
      "Or", {node("Less", {zero, extent}), node("LessOrEqual", {size, zero})});
  if (good)
    check(scalar(good), "axis " + Twine(axis) + " has no elements to slice");
}

/// Axis after axis by its indices, which the mode brings into the bounds.
Value LayerEmitter::gatheredSlice(Value x, Value start, Value size,
                                  Value stride, ArrayRef<int64_t> axes,
                                  SampleMode mode) {
  Value zero = constantInt(0), one = constantInt(1);
  Value shape = node("Shape", x), fill, valid;
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
  Type element = cast<TensorType>(x.getType()).getElementType();
  if (mode == SampleMode::kFILL)
    fill = has(4) ? input(4) : constantNumber(element, 0);
  for (auto [k, axis] : llvm::enumerate(axes)) {
    auto part = [&, k = k](Value vector) {
      return node("Gather", {vector, constantInt(k)});
    };
    Value extent = node("Gather", {shape, constantInt(axis)});
    Value steps = node("Range", {zero, part(size), one});
    Value at = node("Add", {part(start), node("Mul", {steps, part(stride)})});
    if (mode == SampleMode::kFILL)
      x = withElement(x, fill, axis, extent);
    else if (mode != SampleMode::kSTRICT_BOUNDS)
      checkElements(x, part(size), axis, extent);
    Value last = node("Sub", {extent, one});
    Value clamped = node("Min", {node("Max", {at, zero}), last});
    Value inside = node("Equal", {at, clamped});
    switch (mode) {
    case SampleMode::kSTRICT_BOUNDS: {
      Value all = node("ReduceMin", inside, attr("keepdims", int64_t(0)));
      if (!all)
        return {};
      check(scalar(all), "the slice is not inside of axis " + Twine(axis));
      break;
    }
    case SampleMode::kWRAP:
      at = node("Mod", {at, node("Max", {extent, one})});
      break;
    case SampleMode::kCLAMP:
      at = clamped;
      break;
    case SampleMode::kFILL: {
      inside = node("And", {inside, node("Less", {at, extent})});
      at = node("Max", {clamped, zero});
      SmallVector<int64_t> aligned(rank, 1);
      aligned[axis] = -1;
      inside = node("Reshape", {inside, constantInts(aligned)});
      valid = valid ? node("And", {valid, inside}) : inside;
      break;
    }
    case SampleMode::kREFLECT: {
      Value period = node("Mul", {last, constantInt(2)});
      Value back = node("Mod", {at, node("Max", {period, one})});
      at = node("Min", {back, node("Sub", {period, back})});
      break;
    }
    }
    x = node("Gather", {x, at}, attr("axis", axis));
  }
  return valid ? node("Where", {valid, x, fill}) : x;
}

//===----------------------------------------------------------------------===//
// Concatenation and gather
//===----------------------------------------------------------------------===//

void LayerEmitter::emit(const IConcatenationLayer &) {
  SmallVector<Value> inputs;
  for (int32_t k = 0; k < layer->getNbInputs(); ++k) {
    if (!has(k))
      return void(fail(Diag::BadLayer) << "has no input " << k);
    if (!sameRank(0, k) || !sameType(0, k))
      return;
    inputs.push_back(input(k));
  }
  int64_t rank = inputType(0).getRank();
  int64_t given = layer->hasAttribute("axis") ? layer->getInt("axis")
                                              : std::max<int64_t>(0, rank - 3);
  if (auto axis = axisOf(given, rank, Diag::BadLayer))
    set(node("Concat", inputs, attr("axis", *axis)));
}

void LayerEmitter::emit(const IGatherLayer &) {
  RankedTensorType type = inputType(0);
  if (!type || !inputType(1))
    return;
  Value data = input(0), indices = input(1);
  int64_t batch = layer->getInt("nb_elementwise_dims");
  auto mode = static_cast<GatherMode>(layer->getInt("mode"));
  if (mode == GatherMode::kND)
    return set(node("GatherND", {data, castTo(indices, builder.getI64Type())},
                    attr("batch_dims", batch)));
  auto axis = axisOf(layer->getInt("axis"), type.getRank(), Diag::BadLayer);
  if (!axis)
    return;
  if (mode == GatherMode::kELEMENT)
    return set(node("GatherElements", {data, indices}, attr("axis", *axis)));
  if (batch == 0)
    return set(node("Gather", {data, indices}, attr("axis", *axis)));
  if (batch < 0 || batch > *axis || batch > inputType(1).getRank())
    return void(fail(Diag::BadLayer)
                << batch << " elementwise dimensions do not fit axis " << *axis
                << " and indices of rank " << inputType(1).getRank());
  set(batchedGather(data, indices, *axis, batch));
}

/// The first `batch` axes of both are gone through together:
///   [B, P, axis, Q], [B, I]  ->  [B, P, I, Q]
Value LayerEmitter::batchedGather(Value data, Value indices, int64_t axis,
                                  int64_t batch) {
  int64_t rank = cast<RankedTensorType>(data.getType()).getRank();
  int64_t more = cast<RankedTensorType>(indices.getType()).getRank() - batch;
  // [B, axis, P, Q]
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  order.erase(order.begin() + axis);
  order.insert(order.begin() + batch, axis);
  Value moved = node("Transpose", data, attr("perm", ArrayRef(order)));
  // [B, I, P, Q]
  Value tuples = node(
      "Unsqueeze", {castTo(indices, builder.getI64Type()), constantInts(-1)});
  Value y = node("GatherND", {moved, tuples}, attr("batch_dims", batch));
  auto back = llvm::to_vector(llvm::seq<int64_t>(0, batch));
  llvm::append_range(back, llvm::seq(batch + more, axis + more));
  llvm::append_range(back, llvm::seq(batch, batch + more));
  llvm::append_range(back, llvm::seq(axis + more, rank - 1 + more));
  return node("Transpose", y, attr("perm", ArrayRef(back)));
}

void LayerEmitter::emit(const IShapeLayer &) { set(node("Shape", input(0))); }

void LayerEmitter::emit(const ISqueezeLayer &) {
  Value axes = castTo(input(1), builder.getI64Type());
  set(node("Squeeze", {input(0), node("Reshape", {axes, constantInts(-1)})}));
}

void LayerEmitter::emit(const IUnsqueezeLayer &) {
  Value axes = castTo(input(1), builder.getI64Type());
  set(node("Unsqueeze", {input(0), node("Reshape", {axes, constantInts(-1)})}));
}

//===----------------------------------------------------------------------===//
// Fill
//===----------------------------------------------------------------------===//

void LayerEmitter::emit(const IFillLayer &) {
  Value shape;
  if (has(0))
    shape = castTo(input(0), builder.getI64Type());
  else if (layer->hasAttribute("dimensions"))
    shape = constantInts(layer->getInts("dimensions"));
  else
    fail(Diag::BadLayer) << "has neither dimensions nor an input for them";
  Type element = elementType(static_cast<DataType>(layer->getInt("to_type")));
  auto operation = static_cast<FillOperation>(layer->getInt("operation"));
  if (!shape)
    return;
  if (operation == FillOperation::kLINSPACE)
    return set(linspace(shape, element));
  if (!isa<FloatType>(element))
    return void(fail() << "random values must be of a type of floats");
  auto zeros = DenseElementsAttr::get(
      RankedTensorType::get({1}, builder.getF32Type()), 0.0f);
  Value model =
      node("ConstantOfShape", shape, builder.getNamedAttr("value", zeros));
  bool uniform = operation == FillOperation::kRANDOM_UNIFORM;
  bool given = has(1) || has(2);
  double alpha = given ? 0 : layer->getFloat("alpha");
  double beta = given ? 1 : layer->getFloat("beta");
  Value y = uniform ? node("RandomUniformLike", model,
                           {attr("low", alpha), attr("high", beta)})
                    : node("RandomNormalLike", model,
                           {attr("mean", alpha), attr("scale", beta)});
  y = castTo(y, element);
  if (!given)
    return set(y);
  Value from =
      has(1) ? input(1) : constantNumber(element, layer->getFloat("alpha"));
  Value to =
      has(2) ? input(2) : constantNumber(element, layer->getFloat("beta"));
  Value factor = uniform ? node("Sub", {to, from}) : to;
  set(node("Add", {node("Mul", {y, factor}), from}));
}

/// start + delta[0] i + delta[1] j + ...
Value LayerEmitter::linspace(Value shape, Type element) {
  auto type = dyn_cast<RankedTensorType>(shape.getType());
  if (!type || type.getRank() != 1 || type.isDynamicDim(0)) {
    fail() << "the shape is " << shape.getType()
           << " but must be a vector of a known length";
    return {};
  }
  int64_t rank = type.getDimSize(0);
  if (!has(2) && rank != 1) {
    fail(Diag::BadLayer) << "a step for each of " << rank
                         << " axes is wanted as input 2";
    return {};
  }
  Value sum =
      has(1) ? input(1) : constantNumber(element, layer->getFloat("alpha"));
  for (int64_t axis = 0; axis < rank; ++axis) {
    Value extent = node("Gather", {shape, constantInt(axis)});
    Value steps = node("Range", {constantInt(0), extent, constantInt(1)});
    Value delta = has(2) ? node("Gather", {input(2), constantInt(axis)})
                         : constantNumber(element, layer->getFloat("beta"));
    SmallVector<int64_t> aligned(rank, 1);
    aligned[axis] = -1;
    Value values = node("Mul", {castTo(steps, element), delta});
    values = node("Reshape", {values, constantInts(aligned)});
    sum = node("Add", {sum, values});
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

void LayerEmitter::emit(const IScatterLayer &) {
  if (!sameType(0, 2))
    return;
  Value operands[] = {input(0), input(1), input(2)};
  if (layer->getInt("mode") != static_cast<int64_t>(ScatterMode::kND))
    return set(
        node("ScatterElements", operands, attr("axis", layer->getInt("axis"))));
  operands[1] = castTo(operands[1], builder.getI64Type());
  set(node("ScatterND", operands));
}

void LayerEmitter::emit(const IOneHotLayer &) {
  RankedTensorType type = inputType(0);
  if (!type)
    return;
  Value indices = input(0);
  auto axis = axisOf(layer->getInt("axis"), type.getRank() + 1, Diag::BadLayer);
  if (!axis)
    return;
  // ONNX's operator has no form for a single index: a vector of one.
  bool single = type.getRank() == 0;
  if (single)
    indices = node("Unsqueeze", {indices, constantInts(0)});
  Value y = node("OneHot", {indices, input(2), input(1)},
                 attr("axis", single ? 1 : *axis));
  set(single ? node("Squeeze", {y, constantInts(0)}) : y);
}

void LayerEmitter::emit(const INonZeroLayer &) {
  set(castTo(node("NonZero", input(0)), elementType(static_cast<DataType>(
                                            layer->getInt("indices_type")))));
}

void LayerEmitter::emit(const IReverseSequenceLayer &) {
  Value lengths = castTo(input(1), builder.getI64Type());
  set(node("ReverseSequence", {input(0), lengths},
           {attr("batch_axis", layer->getInt("batch_axis")),
            attr("time_axis", layer->getInt("sequence_axis"))}));
}
