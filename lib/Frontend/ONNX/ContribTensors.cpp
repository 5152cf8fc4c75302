//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Operators that exporters wrote before ONNX had them (GridSample, Inverse,
// Pad, Range), and what onnxruntime's optimizers write for decoders and for
// models that make images.

#include "ContribOperators.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace loopc::importer;

template <const char *text> static std::string write(const ContribCall &) {
  return text;
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

static std::string writeGridSample(const ContribCall &call) {
  // ONNX's names of the modes since opset 20.
  StringRef mode = call.getString("mode");
  StringRef name = llvm::StringSwitch<StringRef>(mode)
                       .Cases({"", "bilinear"}, "linear")
                       .Case("nearest", "nearest")
                       .Case("bicubic", "cubic")
                       .Default("");
  if (name.empty())
    return call.refuse("the mode '" + mode + "' is unknown");
  return llvm::formatv("Y = GridSample<mode = \"{0}\", padding_mode: string = "
                       "@padding_mode, align_corners: int = @align_corners>"
                       "(X, Grid)\n",
                       name);
}

static std::string writePad(const ContribCall &call) {
  return "flat = Constant<value_ints = [-1]>()\n"
         "row = Reshape(pads, flat)\n" +
         std::string(call.has(2)
                         ? "Y = Pad<mode: string = @mode>"
                           "(data, row, value)\n"
                         : "Y = Pad<mode: string = @mode>(data, row)\n");
}

static std::string writeRange(const ContribCall &call) {
  std::string step = call.has(2) ? "step = Identity(delta)\n"
                                 : "one = Constant<value_int = 1>()\n"
                                   "step = CastLike(one, start)\n";
  return step + "none = Constant<value_ints: ints = []>()\n"
                "from = Reshape(start, none)\n"
                "to = Reshape(limit, none)\n"
                "by = Reshape(step, none)\n"
                "Y = Range(from, to, by)\n";
}

/// Windows of `size` elements of one axis, which stand behind all axes.
static std::string writeUnfold(const ContribCall &call) {
  std::optional<int64_t> rank = call.getRank(0);
  if (!rank)
    return call.refuse("an input of unknown rank");
  int64_t dim = call.getInt("dim", -1);
  dim += dim < 0 ? *rank : 0;
  if (dim < 0 || dim >= *rank || call.getInt("size") < 1 ||
      call.getInt("step", 1) < 1)
    return call.refuse("'dim', 'size' or 'step' is out of range");
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, *rank + 1));
  std::rotate(order.begin() + dim + 1, order.begin() + dim + 2, order.end());
  return llvm::formatv("zero = Constant<value_int = 0>()\n"
                       "one = Constant<value_int = 1>()\n"
                       "size = Constant<value_int = {0}>()\n"
                       "step = Constant<value_int = {1}>()\n"
                       "first = Constant<value_ints = [0]>()\n"
                       "last = Constant<value_ints = [1]>()\n"
                       "extent1 = Shape<start = {2}, end = {3}>(X)\n"
                       "extent = Squeeze(extent1, first)\n"
                       "room = Sub(extent, size)\n"
                       "behind = Add(room, one)\n"
                       "starts0 = Range(zero, behind, step)\n"
                       "starts = Unsqueeze(starts0, last)\n"
                       "offsets = Range(zero, size, one)\n"
                       "places = Add(starts, offsets)\n"
                       "windows = Gather<axis = {2}>(X, places)\n"
                       "Y = Transpose<perm = [{4:$[, ]}]>(windows)\n",
                       call.getInt("size"), call.getInt("step", 1), dim,
                       dim + 1, llvm::make_range(order.begin(), order.end()));
}

//===----------------------------------------------------------------------===//
// Inverse matrices
//===----------------------------------------------------------------------===//

/// Gauss and Jordan's elimination, for all matrices at once. In each step the
/// row with the largest element of a column comes to its place, is divided by
/// that, and is taken from the others; the right half becomes the inverse.
static constexpr char kInverse[] = R"(
    whole = Shape(X)
    last2 = Shape<start = -2>(X)
    batches = Constant<value_ints = [-1]>()
    flat = Concat<axis = 0>(batches, last2)
    x0 = Cast<to = TYPE>(X)
    x = Reshape(x0, flat)
    at0 = Constant<value_ints = [0]>()
    at1 = Constant<value_ints = [1]>()
    at2 = Constant<value_ints = [2]>()
    zero = Constant<value_int = 0>()
    one = Constant<value_int = 1>()
    n1 = Shape<start = 1, end = 2>(x)
    n = Squeeze(n1, at0)
    square = Concat<axis = 0>(n1, n1)
    blank0 = ConstantOfShape<value = float[1] {0}>(square)
    blank = Cast<to = TYPE>(blank0)
    unit = EyeLike(blank)
    like = Shape(x)
    units = Expand(unit, like)
    start = Concat<axis = 2>(x, units)
    rows0 = Range(zero, n, one)
    rows = Unsqueeze(rows0, at0)
    going = Constant<value = bool {1}>()
    end = Loop<body = eliminate (int64 k, bool c, ELEMENT[] a)
        => (bool c1, ELEMENT[] next) {
      c1 = Identity(c)
      column = Gather<axis = 2>(a, k)
      sizes = Abs(column)
      isDone = Less(rows, k)
      below0 = Constant<value_float = -1.0>()
      below = CastLike(below0, sizes)
      left = Where(isDone, below, sizes)
      best = ArgMax<axis = 1, keepdims = 1>(left)
      isK = Equal(rows, k)
      isBest = Equal(rows, best)
      other = Where(isBest, k, rows)
      order1 = Where(isK, best, other)
      order = Unsqueeze(order1, at2)
      extents = Shape(a)
      places = Expand(order, extents)
      b = GatherElements<axis = 1>(a, places)
      pivots = Gather<axis = 2>(b, k)
      row0 = Gather<axis = 1>(b, k)
      row = Unsqueeze(row0, at1)
      pivot0 = Gather<axis = 1>(pivots, k)
      pivot1 = Unsqueeze(pivot0, at1)
      pivot2 = Unsqueeze(pivot1, at1)
      scaled = Div(row, pivot2)
      unity = CastLike(one, a)
      less = Sub(pivots, unity)
      factors0 = Where(isK, less, pivots)
      factors = Unsqueeze(factors0, at2)
      products = Mul(factors, scaled)
      next = Sub(b, products)
    }>(n, going, start)
    twice = Add(n1, n1)
    half = Slice(end, n1, twice, at2)
    y = Reshape<allowzero = 1>(half, whole)
    Y = CastLike(y, X)
  )";

/// In float64 where the matrices are of that type, else in float32.
static std::string writeInverseOfType(const ContribCall &call) {
  Type element = call.getElementType(0);
  bool isDouble = element && element.isF64();
  std::string text = kInverse;
  auto replace = [&](StringRef name, StringRef by) {
    for (size_t at; (at = text.find(name)) != std::string::npos;)
      text.replace(at, name.size(), by);
  };
  replace("TYPE", isDouble ? "11" : "1");
  replace("ELEMENT", isDouble ? "double" : "float");
  return text;
}

//===----------------------------------------------------------------------===//
// Decoders
//===----------------------------------------------------------------------===//

/// Tokens that would end an n-gram that is there already get the score -inf.
static std::string writeNGramBlock(const ContribCall &call) {
  int64_t size = call.getInt("ngram_size");
  if (size < 1)
    return call.refuse("'ngram_size' is not there and above 0");
  std::string text =
      llvm::formatv("zero = Constant<value_int = 0>()\n"
                    "one = Constant<value_int = 1>()\n"
                    "at0 = Constant<value_ints = [0]>()\n"
                    "at1 = Constant<value_ints = [1]>()\n"
                    "before = Constant<value_int = {0}>()\n"
                    "before1 = Constant<value_ints = [{0}]>()\n"
                    "length1 = Shape<start = 1, end = 2>(input_ids)\n"
                    "length = Squeeze(length1, at0)\n"
                    "ends = Slice(input_ids, before1, length1, at1)\n",
                    size - 1);
  // Of one token each: all that were there.
  if (size == 1)
    text += "isThere = Equal(ends, ends)\n";
  else
    text += "count0 = Sub(length, before)\n"
            "count = Max(count0, zero)\n"
            "starts0 = Range(zero, count, one)\n"
            "starts = Unsqueeze(starts0, at1)\n"
            "offsets = Range(zero, before, one)\n"
            "places = Add(starts, offsets)\n"
            "grams = Gather<axis = 1>(input_ids, places)\n"
            "tail0 = Sub(length1, before1)\n"
            "tail1 = Max(tail0, at0)\n"
            "tail2 = Slice(input_ids, tail1, length1, at1)\n"
            // Of what is shorter nothing is compared.
            "short = Sub(before1, length1)\n"
            "missing = Max(short, at0)\n"
            "two = Constant<value_ints = [0, 0, 0]>()\n"
            "pads = Concat<axis = 0>(two, missing)\n"
            "tail3 = Pad(tail2, pads)\n"
            "tail = Unsqueeze(tail3, at1)\n"
            "same = Equal(grams, tail)\n"
            "same32 = Cast<to = 6>(same)\n"
            "last = Constant<value_ints = [2]>()\n"
            "all = ReduceMin<keepdims = 0>(same32, last)\n"
            "isThere = Cast<to = 9>(all)\n";
  return text + "never = Constant<value = float {-inf}>()\n"
                "always = Constant<value = float {inf}>()\n"
                "most = Where(isThere, never, always)\n"
                "scores_out = ScatterElements<axis = 1, reduction = \"min\">"
                "(scores, ends, most)\n";
}

//===----------------------------------------------------------------------===//
// Layers of models that make images
//===----------------------------------------------------------------------===//

/// Y of V, whose channels are last, in f32.
static std::string writeGroups(const ContribCall &call) {
  if (call.getRank(0) != 4)
    return call.refuse("an input whose rank is not 4");
  if (call.getInt("groups") < 1)
    return call.refuse("'groups' is not there and above 0");
  bool isLast = call.getInt("channels_last", 1);
  StringRef forward = isLast ? "Transpose<perm = [0, 3, 1, 2]>" : "Identity";
  StringRef back = isLast ? "Transpose<perm = [0, 2, 3, 1]>" : "Identity";
  std::string text =
      llvm::formatv("v = {0}(V)\n"
                    "parts = Constant<value_ints = [0, {2}, -1]>()\n"
                    "grouped = Reshape(v, parts)\n"
                    "ones = ConstantOfShape<value = float[1] {{1}>(count)\n"
                    "noughts = ConstantOfShape<value = float[1] {{0}>(count)\n"
                    "normal0 = InstanceNormalization<epsilon: float = "
                    "@epsilon>(grouped, ones, noughts)\n"
                    "like = Shape(v)\n"
                    "normal1 = Reshape<allowzero = 1>(normal0, like)\n"
                    "normal = {1}(normal1)\n",
                    forward, back, call.getInt("groups"));
  text = llvm::formatv("count = Constant<value_ints = [{0}]>()\n",
                       call.getInt("groups"))
             .str() +
         text;
  // Scale and bias are of channels.
  text += isLast ? "scale = Cast<to = 1>(gamma)\nshift = Cast<to = 1>(beta)\n"
                 : "column = Constant<value_ints = [-1, 1, 1]>()\n"
                   "scale0 = Cast<to = 1>(gamma)\n"
                   "scale = Reshape(scale0, column)\n"
                   "shift0 = Cast<to = 1>(beta)\n"
                   "shift = Reshape(shift0, column)\n";
  text += "larger = Mul(normal, scale)\nmoved = Add(larger, shift)\n";
  if (call.getInt("activation"))
    text += "part = Sigmoid(moved)\nopen = Mul(moved, part)\n";
  else
    text += "open = Identity(moved)\n";
  return text + "Y = CastLike(open, X)\n";
}

static std::string writeGroupNorm(const ContribCall &call) {
  return "V = Cast<to = 1>(X)\n" + writeGroups(call);
}

static std::string writeSkipGroupNorm(const ContribCall &call) {
  std::optional<int64_t> rank = call.getRank(3);
  if (rank != 2 && rank != 4)
    return call.refuse("a skipped value whose rank is not 2 or 4");
  bool isLast = call.getInt("channels_last", 1);
  std::string text = "x32 = Cast<to = 1>(X)\nskip32 = Cast<to = 1>(skip)\n";
  if (rank == 2)
    text += llvm::formatv("middle = Constant<value_ints = [{0}]>()\n"
                          "skipped = Unsqueeze(skip32, middle)\n",
                          isLast ? "1, 2" : "2, 3");
  else
    text += "skipped = Identity(skip32)\n";
  if (!call.has(4))
    text += "V = Add(x32, skipped)\n";
  else
    text += std::string("sum32 = Add(x32, skipped)\n"
                        "bias0 = Cast<to = 1>(bias)\n") +
            (isLast ? "bias32 = Identity(bias0)\n"
                    : "rest = Constant<value_ints = [-1, 1, 1]>()\n"
                      "bias32 = Reshape(bias0, rest)\n") +
            "V = Add(sum32, bias32)\n";
  return text + "S = CastLike(V, X)\n" + writeGroups(call);
}

static constexpr char kBiasSplitGelu[] =
    "V = Add(X, bias)\n"
    "value, gate = Split<axis = -1, num_outputs = 2>(V)\n"
    "open = Gelu(gate)\n"
    "Y = Mul(value, open)";

static std::string writeGemmFastGelu(const ContribCall &call) {
  return "P = MatMul(X, W)\n" +
         std::string(call.has(2) ? "V = Add(P, bias)\n" : "V = Identity(P)\n") +
         "Y = Gelu<approximate = \"tanh\">(V)\n";
}

static constexpr char kMatMulInteger16[] = "a = Cast<to = 6>(A)\n"
                                           "b = Cast<to = 6>(B)\n"
                                           "Y = MatMul(a, b)";
static constexpr char kTorchEmbedding[] = "Y = Gather(weight, indices)";

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

ArrayRef<ContribOperator> loopc::importer::getContribTensors() {
  static const ContribOperator operators[] = {
      {kContribDomain, "GridSample",
       "mode, padding_mode: string = \"zeros\", align_corners: int = 0",
       "X, Grid", "Y", writeGridSample},
      {kContribDomain, "Inverse", "", "X", "Y", writeInverseOfType},
      {kContribDomain, "Pad", "mode: string = \"constant\"",
       "data, pads, value", "Y", writePad},
      {kContribDomain, "Range", "", "start, limit, delta", "Y", writeRange},
      {kContribDomain, "UnfoldTensor", "dim, size, step", "X", "Y",
       writeUnfold},
      {kContribDomain, "MatMulInteger16", "", "A, B", "Y",
       write<kMatMulInteger16>},
      // The index of padding and the scale of gradients are for training.
      {kContribDomain, "TorchEmbedding", "",
       "weight, indices, padding_idx, scale_grad_by_freq", "Y",
       write<kTorchEmbedding>},
      {kContribDomain, "NGramRepeatBlock", "ngram_size", "input_ids, scores",
       "scores_out", writeNGramBlock},
      {kContribDomain, "GroupNorm",
       "epsilon: float = 1e-05, groups, activation, channels_last",
       "X, gamma, beta", "Y", writeGroupNorm},
      {kContribDomain, "SkipGroupNorm",
       "epsilon: float = 1e-05, groups, activation, channels_last",
       "X, gamma, beta, skip, bias", "Y, S", writeSkipGroupNorm},
      {kContribDomain, "BiasSplitGelu", "", "X, bias", "Y",
       write<kBiasSplitGelu>},
      {kContribDomain, "GemmFastGelu", "", "X, W, bias", "Y",
       writeGemmFastGelu},
  };
  return operators;
}
