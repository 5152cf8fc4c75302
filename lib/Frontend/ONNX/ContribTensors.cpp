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

#include "ContribSearch.h"
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
  return "row = Reshape(pads, [-1])\n" +
         std::string(call.has(2)
                         ? "Y = Pad<mode: string = @mode>"
                           "(data, row, value)\n"
                         : "Y = Pad<mode: string = @mode>(data, row)\n");
}

static std::string writeRange(const ContribCall &call) {
  std::string step =
      call.has(2) ? "step = Identity(delta)\n" : "step = CastLike(1, start)\n";
  return step + "none = Constant<value_ints: ints = []>()\n"
                "to = Reshape(limit, none)\n"
                "Y = Range(Reshape(start, none), to, Reshape(step, none))\n";
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
  return llvm::formatv(
      "size = Constant<value_int = {0}>()\n"
      "step = Constant<value_int = {1}>()\n"
      "behind = Squeeze(Shape<start = {2}, end = {3}>(X), [0]) - size + 1\n"
      "windows = Gather<axis = {2}>(X, Unsqueeze(Range(0, behind, step), [1]) "
      "+ Range(0, size, 1))\n"
      "Y = Transpose<perm = [{4:$[, ]}]>(windows)\n",
      call.getInt("size"), call.getInt("step", 1), dim, dim + 1,
      llvm::make_range(order.begin(), order.end()));
}

//===----------------------------------------------------------------------===//
// Inverse matrices
//===----------------------------------------------------------------------===//

/// Gauss and Jordan's elimination, for all matrices at once. In each step the
/// row with the largest element of a column comes to its place, is divided by
/// that, and is taken from the others; the right half becomes the inverse.
static constexpr char kInverse[] = R"(
    x = Reshape(Cast<to = TYPE>(X), Concat<axis = 0>([-1], Shape<start = -2>(X)))
    n1 = Shape<start = 1, end = 2>(x)
    n = Squeeze(n1, [0])
    unit = EyeLike(Cast<to = TYPE>(ConstantOfShape<value = float[1] {0}>(Concat<axis = 0>(n1, n1))))
    start = Concat<axis = 2>(x, Expand(unit, Shape(x)))
    rows = Unsqueeze(Range(0, n, 1), [0])
    going = Constant<value = bool {1}>()
    end = Loop<body = eliminate (int64 k, bool c, ELEMENT[] a)
        => (bool c1, ELEMENT[] next) {
      c1 = Identity(c)
      sizes = Abs(Gather<axis = 2>(a, k))
      best = ArgMax<axis = 1, keepdims = 1>(Where(rows < k, CastLike(-1.0, sizes), sizes))
      isK = rows == k
      order = Unsqueeze(Where(isK, best, Where(rows == best, k, rows)), [2])
      b = GatherElements<axis = 1>(a, Expand(order, Shape(a)))
      pivots = Gather<axis = 2>(b, k)
      row = Unsqueeze(Gather<axis = 1>(b, k), [1])
      scaled = row / Unsqueeze(Unsqueeze(Gather<axis = 1>(pivots, k), [1]), [1])
      factors = Unsqueeze(Where(isK, pivots - CastLike(1, a), pivots), [2])
      next = b - factors * scaled
    }>(n, going, start)
    Y = CastLike(Reshape<allowzero = 1>(Slice(end, n1, n1 + n1, [2]), Shape(X)), X)
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
  std::string text = withSuffix(writeNGrams("input_ids", size), "");
  return text + "never = Constant<value = float {-inf}>()\n"
                "always = Constant<value = float {inf}>()\n"
                "scores_out = ScatterElements<axis = 1, reduction = "
                "\"min\">(scores, gramEnds, Where(isThere, never, always))\n";
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
                    "ones = ConstantOfShape<value = float[1] {{1}>(count)\n"
                    "noughts = ConstantOfShape<value = float[1] {{0}>(count)\n"
                    "normal0 = InstanceNormalization<epsilon: float = "
                    "@epsilon>(Reshape(v, [0, {2}, -1]), ones, noughts)\n"
                    "normal = {1}(Reshape<allowzero = 1>(normal0, Shape(v)))\n",
                    forward, back, call.getInt("groups"));
  text = llvm::formatv("count = Constant<value_ints = [{0}]>()\n",
                       call.getInt("groups"))
             .str() +
         text;
  // Scale and bias are of channels.
  text += isLast ? "scale = float(gamma)\n"
                   "shift = float(beta)\n"
                 : "scale = Reshape(float(gamma), [-1, 1, 1])\n"
                   "shift = Reshape(float(beta), [-1, 1, 1])\n";
  text += "moved = normal * scale + shift\n";
  if (call.getInt("activation"))
    text += "open = moved * Sigmoid(moved)\n";
  else
    text += "open = Identity(moved)\n";
  return text + "Y = CastLike(open, X)\n";
}

static std::string writeGroupNorm(const ContribCall &call) {
  return "V = float(X)\n" + writeGroups(call);
}

static std::string writeSkipGroupNorm(const ContribCall &call) {
  std::optional<int64_t> rank = call.getRank(3);
  if (rank != 2 && rank != 4)
    return call.refuse("a skipped value whose rank is not 2 or 4");
  bool isLast = call.getInt("channels_last", 1);
  std::string text = "x32 = float(X)\n"
                     "skip32 = float(skip)\n";
  if (rank == 2)
    text += llvm::formatv("skipped = Unsqueeze(skip32, [{0}])\n",
                          isLast ? "1, 2" : "2, 3");
  else
    text += "skipped = Identity(skip32)\n";
  if (!call.has(4))
    text += "V = x32 + skipped\n";
  else
    text += std::string("sum32 = x32 + skipped\n"
                        "bias0 = float(bias)\n") +
            (isLast ? "bias32 = Identity(bias0)\n"
                    : "bias32 = Reshape(bias0, [-1, 1, 1])\n") +
            "V = sum32 + bias32\n";
  return text + "S = CastLike(V, X)\n" + writeGroups(call);
}

static constexpr char kBiasSplitGelu[] =
    "V = X + bias\n"
    "value, gate = Split<axis = -1, num_outputs = 2>(V)\n"
    "open = Gelu(gate)\n"
    "Y = value * open";

static std::string writeGemmFastGelu(const ContribCall &call) {
  return "P = MatMul(X, W)\n" +
         std::string(call.has(2) ? "V = P + bias\n" : "V = Identity(P)\n") +
         "Y = Gelu<approximate = \"tanh\">(V)\n";
}

static constexpr char kMatMulInteger16[] = "a = int32(A)\n"
                                           "Y = MatMul(a, int32(B))";
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
