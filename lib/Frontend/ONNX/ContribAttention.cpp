//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Attention and rotary embeddings as onnxruntime's optimizers fuse them. Heads
// are computed as [batch, heads, length, size]; masks are what is added to the
// products of queries and keys.

#include "ContribOperators.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace loopc::importer;
namespace pb = ::onnx;

/// `to` [b, heads, s, size] of `from` [b, s, heads * size].
static std::string writeHeads(StringRef from, StringRef to, int64_t heads) {
  return llvm::formatv(
      "{1} = Transpose<perm = [0, 2, 1, 3]>(Reshape({0}, [0, 0, {2}, -1]))\n",
      from, to, heads);
}

/// The parts of `from` [b, s, heads, parts, size], each as heads.
static std::string writePacked(StringRef from, ArrayRef<StringRef> to) {
  std::string parts, rest;
  for (StringRef name : to) {
    parts += (parts.empty() ? "" : ", ") + ("part_" + name).str();
    rest += llvm::formatv(
        "{0} = Transpose<perm = [0, 2, 1, 3]>(Squeeze(part_{0}, [3]))\n", name);
  }
  return llvm::formatv("{0} = Split<axis = 3, num_outputs = {1}>({2})\n", parts,
                       to.size(), from)
             .str() +
         rest;
}

/// `to` = `input` with what was computed before in front.
static std::string writePast(bool has, StringRef past, StringRef input,
                             StringRef to) {
  if (!has)
    return llvm::formatv("{1} = Identity({0})\n", input, to);
  return llvm::formatv("{2} = Concat<axis = 2>({0}, {1})\n", past, input, to);
}

namespace {
/// Collects what is added to the products.
class MaskWriter {
public:
  /// `filter`: the node of what is added where a key is not seen.
  explicit MaskWriter(StringRef filter)
      : text(llvm::formatv(
            "filter0 = {0}\n"
            "filter = CastLike(filter0, q)\n"
            "zero = filter - filter\n"
            "at1 = Constant<value_ints = [1]>()\n"
            "at12 = Constant<value_ints = [1, 2]>()\n"
            "keys1 = Shape<start = 2, end = 3>(k)\n"
            "keys = Squeeze(keys1, [0])\n"
            "queries = Squeeze(Shape<start = 2, end = 3>(q), [0])\n"
            "columns = Range(0, keys, 1)\n",
            filter)) {}

  void add(const Twine &nodes, StringRef mask) {
    text += nodes.str();
    if (current.empty()) {
      current = mask.str();
      return;
    }
    std::string sum = "sum_" + mask.str();
    text += llvm::formatv("{0} = {1} + {2}\n", sum, current, mask);
    current = sum;
  }

  /// A mask of ones and zeros of rank 2 or 3, or lengths. False for
  /// others.
  bool addPadding(StringRef name, std::optional<int64_t> rank) {
    if (!rank || *rank < 1 || *rank > 3)
      return false;
    std::string nodes;
    if (*rank == 1)
      // Where the keys of each row of the batch end; then where they begin, or
      // the sums of the lengths of queries and of keys, which tell the same.
      // The shape is checked by a Reshape.
      nodes = llvm::formatv(
          "bounds64 = int64({0})\n"
          "given = Shape(bounds64)\n"
          "batch = Shape<start = 0, end = 1>(q)\n"
          "batch2 = batch + batch\n"
          "sums = batch2 + batch + [2]\n"
          "hasBegins = given == batch2\n"
          "bounds = Reshape<allowzero = 1>(bounds64, Where(hasBegins, batch2, "
          "Where(given == sums, sums, batch)))\n"
          "origins = ConstantOfShape<value = int64[1] {{0}>(batch)\n"
          "second = Slice(Concat<axis = 0>(bounds, origins), batch, batch2)\n"
          "after = columns >= Unsqueeze(Where(hasBegins, second, origins), "
          "at1)\n"
          "kept = columns < Unsqueeze(Slice(bounds, [0], batch), at1) & "
          "after\n",
          name);
    else
      nodes = llvm::formatv("kept = bool({0})\n", name);
    nodes +=
        llvm::formatv("padding = Where(Unsqueeze(kept, {0}), zero, filter)\n",
                      *rank == 3 ? "at1" : "at12");
    add(nodes, "padding");
    return true;
  }

  /// Queries are the last keys, and see none behind their own.
  void addCausal() {
    add("seen = columns <= Unsqueeze(Range(keys - queries, keys, 1), at1)\n"
        "causal = Where(seen, zero, CastLike(-3.4028235e38, q))\n",
        "causal");
  }

  std::string text, current;
};
} // namespace

/// The heads of the rows, as one row each.
static constexpr StringLiteral kOutput =
    "output = Reshape(Transpose<perm = [0, 2, 1, 3]>(heads), [0, 0, -1])\n";

/// output [b, s, n * h] of q, k, v and the mask.
static std::string writeProducts(const ContribCall &call,
                                 const MaskWriter &mask) {
  // onnxruntime's 0 is ONNX's absence.
  StringRef scale =
      call.getFloat("scale", 0) == 0 ? "" : "<scale: float = @scale>";
  return mask.text +
         llvm::formatv("heads = Attention{0}(q, k, v{1})\n", scale,
                       mask.current.empty() ? "" : ", " + mask.current)
             .str() +
         kOutput.str();
}

/// The same where q, k and v have as many heads and no score is infinite, as a
/// bias may make it: without what Attention does for rows that see no key.
static std::string writePlainProducts(const ContribCall &call,
                                      const MaskWriter &mask) {
  std::string text = mask.text;
  text += call.getFloat("scale", 0) != 0
              ? "factor = @scale\n"
              : "factor = Reciprocal(Sqrt(float(Shape<start = 3>(q))))\n";
  return text +
         llvm::formatv(
             "products = MatMul(q, Transpose<perm = [0, 1, 3, 2]>(k))\n"
             "scaled = products * factor\n"
             "masked = {0}\n"
             "heads = MatMul(Softmax<axis = 3>(masked), v)\n",
             mask.current.empty() ? "Identity(scaled)"
                                  : "Add(scaled, " + mask.current + ")")
             .str() +
         kOutput.str();
}

/// True if a call of MultiHeadAttention or Attention has writePlainProducts:
/// `bias` is the input that may be infinite.
static bool isPlain(const ContribCall &call, unsigned bias) {
  Type type = call.getElementType(0);
  return type && type.isF32() && !call.has(bias);
}

static constexpr StringLiteral kFilter = "@mask_filter_value";

//===----------------------------------------------------------------------===//
// MultiHeadAttention and Attention
//===----------------------------------------------------------------------===//

/// q, k0 and v0 of what MultiHeadAttention is given.
static std::string writeMultiHeadInputs(const ContribCall &call) {
  enum { Query, Key, Value, Bias };
  int64_t heads = call.getInt("num_heads");
  std::optional<int64_t> queryRank = call.getRank(Query);
  std::optional<int64_t> keyRank = call.getRank(Key);
  if (!queryRank || (call.has(Key) && !keyRank))
    return call.refuse("the ranks of query and key are unknown");
  if (call.has(Bias) && (queryRank != 3 || (call.has(Key) && keyRank == 5)))
    return call.refuse("a bias for packed queries, keys or values");
  if (queryRank == 5)
    return writePacked("query", {"q", "k0", "v0"});
  std::string text, names[] = {"query", "key", "value"};
  if (call.has(Bias)) {
    text = "size1 = Shape<start = 2>(query)\n"
           "size2 = size1 + size1\n"
           "bias_k = Slice(bias, size1, size2)\n"
           "bias_v = Slice(bias, size2, Shape(bias))\n"
           "query_b = query + Slice(bias, [0], size1)\n";
    names[0] = "query_b";
    if (keyRank == 3) {
      text += "key_b = key + bias_k\n"
              "value_b = value + bias_v\n";
      names[1] = "key_b";
      names[2] = "value_b";
    }
  }
  text += writeHeads(names[0], "q", heads);
  if (keyRank == 5)
    return text + writePacked("key", {"k0", "v0"});
  if (keyRank == 4)
    return text + "k0 = Identity(key)\nv0 = Identity(value)\n";
  if (keyRank == 3 && call.has(Value))
    return text + writeHeads(names[1], "k0", heads) +
           writeHeads(names[2], "v0", heads);
  return call.refuse("key and value are neither packed, nor both of rank 3, "
                     "nor both heads");
}

static std::string writeMultiHeadAttention(const ContribCall &call) {
  enum { Padding = 4, AttentionBias, PastKey, PastValue, PastLength, Beams };
  if (call.getInt("num_heads") < 1)
    return call.refuse("there is no attribute 'num_heads' above 0");
  if (call.has(PastLength) || call.has(Beams))
    return call.refuse("buffers that past and present share");
  std::string text = writeMultiHeadInputs(call);
  if (text.empty())
    return text;
  text += writePast(call.has(PastKey), "past_key", "k0", "k") +
          writePast(call.has(PastValue), "past_value", "v0", "v");
  MaskWriter mask(kFilter);
  if (call.has(Padding) &&
      !mask.addPadding("key_padding_mask", call.getRank(Padding)))
    return call.refuse("a padding mask whose rank is not 1, 2 or 3");
  if (call.has(AttentionBias))
    mask.add("", "attention_bias");
  if (call.getInt("unidirectional"))
    mask.addCausal();
  return text + "present_key = Identity(k)\npresent_value = Identity(v)\n" +
         (isPlain(call, AttentionBias) ? writePlainProducts(call, mask)
                                       : writeProducts(call, mask));
}

/// `to` [b, heads, p, size] of the buffer `past`: the first `past_size` keys of
/// each row; where there are beams, those of the beam that each came from.
static std::string writeHistory(bool hasBeams, StringRef past, StringRef to) {
  std::string text =
      llvm::formatv("{1}_own = Slice({0}, [0], past_size, second)\n", past, to);
  if (!hasBeams)
    return text + llvm::formatv("{0} = Identity({0}_own)\n", to).str();
  return text + llvm::formatv("{0} = GatherElements<axis = 0>({0}_own, "
                              "Expand(sources, Shape({0}_own)))\n",
                              to)
                    .str();
}

/// sources [b, 1, p, 1]: the row of the batch that each key of the past is of.
/// cache_indirection [b / beams, beams, most] says which beam.
static constexpr StringLiteral kSources =
    "beams = Reshape(int64(beam_width), [1])\n"
    "rows1 = Shape<start = 0, end = 1>(query)\n"
    "firsts0 = Range(0, Squeeze(rows1, [0]), 1) / beams * beams\n"
    "origins0 = int64(cache_indirection)\n"
    "origins1 = Reshape<allowzero = 1>(origins0, Concat<axis = 0>(rows1, "
    "Shape<start = 2>(cache_indirection)))\n"
    "sources = Unsqueeze(Slice(origins1, [0], past_size, [1]) + "
    "Reshape(firsts0, [-1, 1]), [1, 3])\n";

/// One step of a decoder. Keys and values of a buffer are those of the steps
/// before, and this one's take the next place; or they are an encoder's.
static std::string writeDecoderAttention(const ContribCall &call) {
  enum {
    Query,
    Key,
    Value,
    Mask,
    AttentionBias,
    PastKey,
    PastValue,
    PastLength,
    BeamWidth,
    Indirection,
    Bias
  };
  bool isBuffer = call.getInt("past_present_share_buffer");
  bool hasBeams = call.has(BeamWidth) && call.has(Indirection);
  if (call.wants(3))
    return call.refuse("output 'qk'");
  if (call.has(PastKey) != call.has(PastValue) ||
      (isBuffer && call.has(PastKey) && !call.has(PastLength)))
    return call.refuse("a past without all of its inputs");
  if (hasBeams && call.has(PastKey) && !isBuffer)
    return call.refuse("beams without a buffer that past and present share");
  std::string text, past, last;
  bool hasPast = call.has(PastKey);
  if (hasPast && isBuffer) {
    text = "second = Constant<value_ints = [2]>()\n"
           "past_size = Reshape(int64(past_sequence_length), [1])\n";
    if (hasBeams)
      text += kSources.str();
    for (StringRef name : {"key", "value"}) {
      text +=
          writeHistory(hasBeams, ("past_" + name).str(), ("old_" + name).str());
      last += llvm::formatv(
          "{0}_next = past_size + [1]\n"
          "{0}_rest = Slice(past_{0}, {0}_next, Shape<start = 2, end = "
          "3>(past_{0}), second)\n"
          "{0}_own = Slice(past_{0}, [0], past_size, second)\n"
          "present_{0} = Concat<axis = 2>({0}_own, Slice(all_{0}, past_size, "
          "{0}_next, second), {0}_rest)\n",
          name);
    }
    past = ", old_key, old_value";
  } else {
    if (hasPast)
      past = ", past_key, past_value";
    last = "present_key = Identity(all_key)\n"
           "present_value = Identity(all_value)\n";
  }
  return text +
         llvm::formatv(
             "output, all_key, all_value = com.microsoft.MultiHeadAttention<"
             "num_heads: int = @num_heads, scale: float = @scale, "
             "mask_filter_value: float = @mask_filter_value>"
             "(query, {0}, {1}, {2}, {3}, {4}{5})\n",
             call.has(Key) ? "key" : "", call.has(Value) ? "value" : "",
             call.has(Bias) ? "bias" : "", call.has(Mask) ? "mask_index" : "",
             call.has(AttentionBias) ? "attention_bias" : "", past)
             .str() +
         last;
}

static std::string writeAttention(const ContribCall &call) {
  enum { Input, Weights, Bias, Mask, Past, AttentionBias, PastLength };
  int64_t heads = call.getInt("num_heads");
  if (heads < 1)
    return call.refuse("there is no attribute 'num_heads' above 0");
  if (call.getInt("do_rotary") || call.getInt("past_present_share_buffer") ||
      call.has(PastLength))
    return call.refuse("rotary embeddings within, and buffers that past and "
                       "present share");
  std::string text = "product = MatMul(input, weights)\n";
  text +=
      call.has(Bias) ? "all = product + bias\n" : "all = Identity(product)\n";
  text += call.getAttr("qkv_hidden_sizes")
              ? "sizes = Constant<value_ints: ints = @qkv_hidden_sizes>()\n"
                "q1, k1, v1 = Split<axis = 2>(all, sizes)\n"
              : "q1, k1, v1 = Split<axis = 2, num_outputs = 3>(all)\n";
  text += writeHeads("q1", "q", heads) + writeHeads("k1", "k0", heads) +
          writeHeads("v1", "v0", heads);
  if (call.has(Past))
    text += "pk1, pv1 = Split<axis = 0, num_outputs = 2>(past)\n"
            "past_key = Squeeze(pk1, [0])\n"
            "past_value = Squeeze(pv1, [0])\n";
  text += writePast(call.has(Past), "past_key", "k0", "k") +
          writePast(call.has(Past), "past_value", "v0", "v");
  if (call.wants(1))
    text +=
        "present = Concat<axis = 0>(Unsqueeze(k, [0]), Unsqueeze(v, [0]))\n";
  MaskWriter mask(kFilter);
  if (call.has(Mask) && !mask.addPadding("mask_index", call.getRank(Mask)))
    return call.refuse("a mask whose rank is not 1, 2 or 3");
  if (call.has(AttentionBias))
    mask.add("", "attention_bias");
  if (call.getInt("unidirectional"))
    mask.addCausal();
  return text + (isPlain(call, AttentionBias) ? writePlainProducts(call, mask)
                                              : writeProducts(call, mask));
}

/// Quantized inputs and weights of Attention.
static std::string writeQAttention(const ContribCall &call) {
  std::string text =
      "x = DequantizeLinear(input, input_scale, input_zero_point)\n"
      "w = DequantizeLinear<axis = 1>(weight, weight_scale, "
      "weight_zero_point)\n";
  return text +
         llvm::formatv(
             "output{0} = com.microsoft.Attention<num_heads: int = @num_heads, "
             "unidirectional: int = @unidirectional, scale: float = @scale, "
             "do_rotary: int = @do_rotary, mask_filter_value: float = "
             "@mask_filter_value, past_present_share_buffer: int = "
             "@past_present_share_buffer>(x, w, bias, mask_index, past)\n",
             call.wants(1) ? ", present" : "")
             .str();
}

//===----------------------------------------------------------------------===//
// Rotary embeddings and GroupQueryAttention
//===----------------------------------------------------------------------===//

/// ONNX's RotaryEmbedding. The body of its definition moves heads behind the
/// tokens and back again; here the tables get their axis where heads are.
static std::string writeRotation(const ContribCall &call) {
  std::optional<int64_t> rank = call.getRank(0);
  if (rank != 3 && rank != 4)
    return call.refuse("an input whose rank is not 3 or 4");
  std::string text = "x = Identity(X)\n";
  if (rank == 3) {
    // Heads by their number, or by what the tables have for one.
    int64_t heads = call.getInt("num_heads");
    text = heads ? llvm::formatv("shape = Constant<value_ints = [0, 0, {0}, "
                                 "-1]>()\n",
                                 heads)
                       .str()
                 : "columns = Shape<start = -1>(cos_cache)\n"
                   "shape = Concat<axis = 0>([0, 0, -1], columns + columns)\n";
    text += "x = Reshape(X, shape)\n";
  }
  int64_t turned = call.getInt("rotary_embedding_dim");
  if (turned)
    text += llvm::formatv("length = Constant<value_ints = [{0}]>()\n"
                          "size = Shape<start = 3>(x)\n"
                          "lengths = Concat<axis = 0>(length, size - length)\n"
                          "turned, rest = Split<axis = 3>(x, lengths)\n",
                          turned);
  else
    text += "turned = Identity(x)\nlength = Shape<start = 3>(x)\n";
  text += "half = length / 2\n";
  for (StringRef name : {"cos", "sin"})
    text += llvm::formatv(
        "{0}0 = {1}\n{0} = Unsqueeze(Slice({0}0, [0], half, [2]), [{2}])\n",
        name,
        llvm::formatv(call.has(3) ? "Gather({0}_cache, position_ids)"
                                  : "Identity({0}_cache)",
                      name),
        rank == 4 ? 1 : 2);
  bool areNeighbours = call.getInt("interleaved") != 0;
  text += areNeighbours ? "x1 = Slice(turned, [0], length, [3], [2])\n"
                          "x2 = Slice(turned, [1], length, [3], [2])\n"
                        : "x1, x2 = Split<axis = 3, num_outputs = 2>(turned)\n";
  text += "real = cos * x1 - sin * x2\n"
          "imaginary = sin * x1 + cos * x2\n";
  text += areNeighbours ? "pairs = Concat<axis = 4>(Unsqueeze(real, [4]), "
                          "Unsqueeze(imaginary, [4]))\n"
                          "both = Reshape(pairs, Shape(turned))\n"
                        : "both = Concat<axis = 3>(real, imaginary)\n";
  text +=
      turned ? "y = Concat<axis = 3>(both, rest)\n" : "y = Identity(both)\n";
  return text + "Y = Reshape(y, Shape(X))\n";
}

static constexpr StringLiteral kRotated =
    "output = RotaryEmbedding<interleaved: int = @interleaved, "
    "rotary_embedding_dim: int = @rotary_embedding_dim, "
    "num_heads: int = @num_heads>(input, {0})\n";

static std::string writeRotaryEmbedding(const ContribCall &call) {
  std::optional<int64_t> rank = call.getRank(0), placeRank = call.getRank(1);
  if (rank != 3 && rank != 4)
    return call.refuse("an input whose rank is not 3 or 4");
  if (placeRank != 1 && placeRank != 2)
    return call.refuse("positions whose rank is not 1 or 2");
  if (call.getInt("is_packed_batching") || call.getFloat("scale", 1) != 1)
    return call.refuse("packed batches, and a scale");
  std::string text;
  if (placeRank == 2)
    text += "places = Identity(position_ids)\n";
  else
    // Where the first position is.
    text += "zero = Constant<value_int = 0>()\n"
            "length1 = Shape<start = -2, end = -1>(input)\n"
            "both = Concat<axis = 0>(Shape<start = 0, end = 1>(input), "
            "length1)\n"
            "places = Expand(Range(zero, Squeeze(length1, [0]), 1) + "
            "position_ids, both)\n";
  return text +
         llvm::formatv(kRotated.data(), "cos_cache, sin_cache, places").str();
}

/// Which of the three positions (of time, rows and columns) each column of the
/// tables takes; empty where the attributes say no such thing.
static std::vector<int64_t> findStreams(const ContribCall &call) {
  const pb::AttributeProto *sections = call.getAttr("mrope_section");
  if (!sections || sections->ints_size() != 3)
    return {};
  std::vector<int64_t> streams;
  for (int64_t stream = 0; stream < 3; ++stream) {
    if (sections->ints(stream) < 0 || sections->ints(stream) > (1 << 20))
      return {};
    streams.insert(streams.end(), sections->ints(stream), stream);
  }
  if (call.getInt("mrope_layout") == 1)
    for (int64_t k = 0; k < static_cast<int64_t>(streams.size()); ++k) {
      int64_t stream = k % 3;
      streams[k] = k < 3 * sections->ints(stream) ? stream : 0;
    }
  return streams;
}

/// A row of the tables is put together for each token: of each column the row
/// that its position says.
static std::string writeManyRotary(const ContribCall &call) {
  std::optional<int64_t> rank = call.getRank(0);
  if (rank != 3 && rank != 4)
    return call.refuse("an input whose rank is not 3 or 4");
  if (call.getRank(1) != 3)
    return call.refuse("positions whose rank is not 3");
  if (call.getInt("is_packed_batching") || call.getFloat("scale", 1) != 1)
    return call.refuse("packed batches, and a scale");
  std::vector<int64_t> streams = findStreams(call);
  if (streams.empty())
    return call.refuse("'mrope_section' is no three lengths");
  int64_t count = streams.size();
  call.addConstant("streams", {count}, streams);
  std::string text =
      llvm::formatv(
          "behind = Transpose<perm = [1, 2, 0]>(int64(position_ids))\n"
          "each = Gather<axis = 2>(behind, streams)\n"
          "each_shape = Shape(each)\n"
          "places = Reshape(each, [-1, {0}])\n",
          count)
          .str();
  for (StringRef name : {"cos", "sin"})
    text += llvm::formatv("{0} = Reshape<allowzero = 1>(GatherElements<axis = "
                          "0>({0}_cache, places), each_shape)\n",
                          name);
  return text + llvm::formatv(kRotated.data(), "cos, sin").str();
}

/// q, k1 and v1 of what GroupQueryAttention is given.
static std::string writeGroupInputs(const ContribCall &call) {
  int64_t heads = call.getInt("num_heads");
  int64_t kvHeads = call.getInt("kv_num_heads");
  if (call.has(1))
    return writeHeads("query", "q0", heads) + writeHeads("key", "k0", kvHeads) +
           writeHeads("value", "v0", kvHeads);
  return writeHeads("query", "all", heads + 2 * kvHeads) +
         llvm::formatv("q0, k0, v0 = Split<axis = 1>(all, [{0}, {1}, {1}])\n",
                       heads, kvHeads)
             .str();
}

/// places [b, s]: the position of each new token; those of a prompt begin at 0.
static constexpr StringLiteral kGroupPlaces =
    "total1 = Reshape(int64(total_sequence_length), [1])\n"
    "new1 = Shape<start = 2, end = 3>(q0)\n"
    "later = Reshape(int64(seqlens_k), [-1, 1]) + 1 - new1\n"
    "places = Where(new1 == total1, 0, later) + Range(0, Squeeze(new1, [0]), "
    "1)\n";

/// `to` = `past` as long as all tokens need, with `from` at the places.
static std::string writeGroupPresent(bool hasPast, StringRef past,
                                     StringRef from, StringRef to) {
  if (!hasPast)
    return llvm::formatv("{1} = Identity({0})\n", from, to);
  return llvm::formatv(
      "{2}_pads = Concat<axis = 0>([0, 0, 0, 0, 0, 0], Max(total1 - "
      "Shape<start = 2, end = 3>({0}), [0]), [0])\n"
      "{2} = ScatterElements<axis = 2>(Pad({0}, {2}_pads), "
      "Expand(Unsqueeze(places, [1, 3]), Shape({1})), {1})\n",
      past, from, to);
}

/// Number of GroupQueryAttention's input 'head_sink'.
static constexpr unsigned kGroupSinks = 11;

/// `to` [b, heads, t, h] of `from`, whose heads are `factor` times fewer; f32.
static std::string writeRepeated(StringRef from, StringRef to, int64_t heads,
                                 int64_t factor) {
  return llvm::formatv(
      "{1}_shape = Concat<axis = 0>(Shape<end = 1>({0}), [{2}], Shape<start = "
      "2>({0}))\n"
      "{1} = Reshape<allowzero = 1>(Expand(Unsqueeze(float({0}), [2]), [1, 1, "
      "{3}, 1, 1]), {1}_shape)\n",
      from, to, heads, factor);
}

/// As writeProducts, for what ONNX's operator has not: a cap on the products
/// before the mask is added, and a sink, which takes a share of each row.
static std::string writeCappedProducts(const ContribCall &call,
                                       const MaskWriter &mask, bool hasSinks) {
  int64_t heads = call.getInt("num_heads");
  int64_t factor = heads / call.getInt("kv_num_heads");
  std::string text =
      mask.text + "wide_q = float(q)\n" +
      writeRepeated("k", "wide_k", heads, factor) +
      writeRepeated("v", "wide_v", heads, factor) +
      "products0 = MatMul(wide_q, Transpose<perm = [0, 1, 3, 2]>(wide_k))\n";
  if (call.getFloat("scale", 0) != 0)
    text += "scale = @scale\n"
            "products = products0 * scale\n";
  else
    text += "products = products0 / Sqrt(float(Shape<start = 3>(q)))\n";
  if (call.getFloat("softcap", 0) > 0)
    text += "cap = @softcap\n"
            "capped = Tanh(products / cap) * cap\n";
  else
    text += "capped = Identity(products)\n";
  if (mask.current.empty())
    text += "masked = Identity(capped)\n";
  else
    text += llvm::formatv("masked = capped + float({0})\n", mask.current);
  if (hasSinks)
    text += llvm::formatv(
        "sinks0 = {0}\n"
        "sinks = Expand(Reshape(float(sinks0), [1, -1, 1, 1]), Concat<axis = "
        "0>(Shape<end = 3>(capped), at1))\n"
        "weights = Slice(Softmax<axis = 3>(Concat<axis = 3>(masked, sinks)), "
        "[0], keys1, [3])\n",
        call.has(kGroupSinks) ? "Identity(head_sink)"
                              : "Constant<value_floats = [0.0]>()");
  else
    text += "weights = Softmax<axis = 3>(masked)\n";
  return text + "heads = CastLike(MatMul(weights, wide_v), q)\n" +
         kOutput.str();
}

static std::string writeGroupQueryAttention(const ContribCall &call) {
  enum {
    Query,
    Key,
    Value,
    PastKey,
    PastValue,
    Last,
    Total,
    Cos,
    Sin,
    Places,
    AttentionBias,
    FirstOther = kGroupSinks + 1
  };
  if (call.getInt("num_heads") < 1 || call.getInt("kv_num_heads") < 1)
    return call.refuse("the attributes 'num_heads' and 'kv_num_heads' are not "
                       "both there and above 0");
  for (unsigned k = FirstOther; k < call.getNumInputs(); ++k)
    if (call.has(k))
      return call.refuse("input #" + Twine(k));
  for (StringRef name : {"sliding_window_cache", "qk_output"})
    if (call.getInt(name) > 0)
      return call.refuse("attribute '" + name + "'");
  for (StringRef name : {"k_quant_type", "v_quant_type"})
    if (!call.getString(name).empty() && call.getString(name) != "NONE")
      return call.refuse("quantized keys and values");
  if (call.getInt("num_heads") % call.getInt("kv_num_heads") != 0)
    return call.refuse("'num_heads' is no multiple of 'kv_num_heads'");
  std::string text = writeGroupInputs(call) + kGroupPlaces.str();
  if (call.getInt("do_rotary")) {
    StringRef places = call.has(Places) ? "position_ids" : "places";
    for (StringRef name : {"q", "k"})
      text += llvm::formatv(
          "{0}{2} = RotaryEmbedding<interleaved: int = @rotary_interleaved>"
          "({0}0, cos_cache, sin_cache, {1})\n",
          name, places, name == "q" ? "" : "1");
  } else {
    text += "q = Identity(q0)\nk1 = Identity(k0)\n";
  }
  text += writeGroupPresent(call.has(PastKey), "past_key", "k1", "k") +
          writeGroupPresent(call.has(PastValue), "past_value", "v0", "v") +
          "present_key = Identity(k)\npresent_value = Identity(v)\n";
  MaskWriter mask("Constant<value_float = -65504.0>()");
  if (call.getInt("causal", 1)) {
    std::string nodes = "own = Unsqueeze(places, [1, 3])\n"
                        "behind = columns <= own\n";
    int64_t window = call.getInt("local_window_size", -1);
    if (window == 0)
      return call.refuse("'local_window_size' is 0: no query sees a key");
    if (window >= 0)
      nodes += llvm::formatv("seen = behind & columns > own - {0}\n", window);
    else
      nodes += "seen = Identity(behind)\n";
    mask.add(nodes + "causal = Where(seen, zero, filter)\n", "causal");
  }
  if (call.has(AttentionBias))
    mask.add("", "attention_bias");
  bool hasSinks = call.has(kGroupSinks) || call.getInt("smooth_softmax") > 0;
  if (hasSinks || call.getFloat("softcap", 0) > 0)
    return text + writeCappedProducts(call, mask, hasSinks);
  return text + writeProducts(call, mask);
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

ArrayRef<ContribOperator> loopc::importer::getContribAttention() {
  static const ContribOperator operators[] = {
      {kContribDomain, "MultiHeadAttention",
       "num_heads, scale, unidirectional, "
       "mask_filter_value: float = -10000.0",
       "query, key, value, bias, key_padding_mask, attention_bias, past_key, "
       "past_value, past_sequence_length, cache_indirection",
       "output, present_key, present_value, qk", writeMultiHeadAttention},
      {kContribDomain, "DecoderMaskedMultiHeadAttention",
       "num_heads, scale, mask_filter_value: float = -10000.0, "
       "past_present_share_buffer, output_qk",
       "query, key, value, mask_index, attention_bias, past_key, past_value, "
       "past_sequence_length, beam_width, cache_indirection, bias",
       "output, present_key, present_value, qk", writeDecoderAttention},
      {kContribDomain, "Attention",
       "num_heads, scale, unidirectional, do_rotary, rotary_embedding_dim, "
       "past_present_share_buffer, qkv_hidden_sizes, "
       "mask_filter_value: float = -10000.0",
       "input, weights, bias, mask_index, past, attention_bias, "
       "past_sequence_length",
       "output, present", writeAttention},
      {kContribDomain, "QAttention",
       "num_heads, scale, unidirectional, do_rotary, mask_filter_value, "
       "past_present_share_buffer",
       "input, weight, bias, input_scale, weight_scale, mask_index, "
       "input_zero_point, weight_zero_point, past",
       "output, present", writeQAttention},
      {"", "RotaryEmbedding",
       "interleaved: int = 0, num_heads: int = 0, "
       "rotary_embedding_dim: int = 0",
       "X, cos_cache, sin_cache, position_ids", "Y", writeRotation, 23,
       /*replacesSchema=*/true},
      {kContribDomain, "RotaryEmbedding",
       "interleaved: int = 0, num_heads, rotary_embedding_dim, scale, "
       "is_packed_batching",
       "input, position_ids, cos_cache, sin_cache", "output",
       writeRotaryEmbedding},
      {kContribDomain, "MRotaryEmbedding",
       "interleaved: int = 0, num_heads, rotary_embedding_dim, scale, "
       "is_packed_batching, mrope_section, mrope_layout",
       "input, position_ids, cos_cache, sin_cache", "output", writeManyRotary},
      {kContribDomain, "GroupQueryAttention",
       "num_heads, kv_num_heads, scale, softcap, do_rotary, "
       "rotary_interleaved, local_window_size, smooth_softmax, causal, "
       "sliding_window_cache, qk_output, k_quant_type, v_quant_type, "
       "kv_cache_bit_width, qk_norm_epsilon",
       "query, key, value, past_key, past_value, seqlens_k, "
       "total_sequence_length, cos_cache, sin_cache, position_ids, "
       "attention_bias, head_sink, k_scale, v_scale, q_norm_weight, "
       "k_norm_weight",
       "output, present_key, present_value, qk", writeGroupQueryAttention},
  };
  return operators;
}
