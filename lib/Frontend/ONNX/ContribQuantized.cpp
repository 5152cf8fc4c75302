//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Quantized operators of onnxruntime: what they compute is what they say of
// themselves, the operator on dequantized values, quantized again. Weights of
// few bits are unpacked.

#include "ContribOperators.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace loopc::importer;
namespace pb = ::onnx;

/// The quantized `to` of `from`: as the zero point, else as `like`, is.
static std::string writeQuantized(const ContribCall &call, StringRef from,
                                  StringRef scale, StringRef zeroPoint,
                                  bool hasZeroPoint, Type like, StringRef to) {
  if (hasZeroPoint)
    return llvm::formatv("{3} = QuantizeLinear({0}, {1}, {2})\n", from, scale,
                         zeroPoint, to);
  bool isSigned = like && !like.isUnsignedInteger();
  int type = isSigned ? pb::TensorProto::INT8 : pb::TensorProto::UINT8;
  return llvm::formatv("{2} = QuantizeLinear<output_dtype = {3}>({0}, {1})\n",
                       from, scale, to, type);
}

/// X, X_scale, X_zero_point, Y_scale, Y_zero_point: `nodes` make y of x.
static std::string writeUnary(const ContribCall &call, const Twine &nodes) {
  return "x = DequantizeLinear(X, X_scale, X_zero_point)\n" + nodes.str() +
         writeQuantized(call, "y", "Y_scale", "Y_zero_point", call.has(4),
                        call.getElementType(0), "Y");
}

static std::string writeQSigmoid(const ContribCall &call) {
  return writeUnary(call, "y = Sigmoid(x)\n");
}

static std::string writeQLeakyRelu(const ContribCall &call) {
  return writeUnary(call, "y = LeakyRelu<alpha: float = @alpha>(x)\n");
}

static std::string writeQSoftmax(const ContribCall &call) {
  // Before opset 13 the axes from `axis` on are one.
  if (call.getInt("opset") >= 13)
    return writeUnary(call, "y = Softmax<axis: int = @axis>(x)\n");
  return writeUnary(call, "y = Reshape<allowzero = 1>(Softmax<axis = "
                          "1>(Flatten<axis: int = @axis>(x)), Shape(x))\n");
}

/// The nodes that make y of x, `nodes` making pooled of x1: where channels are
/// last, between transposes. Empty where the rank, which those need, is
/// unknown.
static std::string writeChannelsLast(const ContribCall &call, bool isLast,
                                     StringRef nodes) {
  if (!isLast)
    return ("x1 = Identity(x)\n" + nodes + "y = Identity(pooled)\n").str();
  std::optional<int64_t> rank = call.getRank(0);
  if (!rank || *rank < 3)
    return call.refuse("channels last of a tensor of unknown rank");
  std::string first = "0, " + std::to_string(*rank - 1), last = "0";
  for (int64_t k = 1; k < *rank - 1; ++k)
    first += ", " + std::to_string(k);
  for (int64_t k = 2; k < *rank; ++k)
    last += ", " + std::to_string(k);
  return llvm::formatv("x1 = Transpose<perm = [{0}]>(x)\n{2}"
                       "y = Transpose<perm = [{1}, 1]>(pooled)\n",
                       first, last, nodes);
}

static std::string writePooled(const ContribCall &call, StringRef nodes) {
  return writeUnary(
      call, writeChannelsLast(call, call.getInt("channels_last"), nodes));
}

static std::string writeNhwcMaxPool(const ContribCall &call) {
  return writeChannelsLast(
      call, /*isLast=*/true,
      "pooled = MaxPool<auto_pad: string = @auto_pad, ceil_mode: int = "
      "@ceil_mode, dilations: ints = @dilations, kernel_shape: ints = "
      "@kernel_shape, pads: ints = @pads, strides: ints = @strides>(x1)\n");
}

static std::string writeQConv(const ContribCall &call) {
  return writeChannelsLast(
      call, call.getInt("channels_last"),
      "pooled = QLinearConv<auto_pad: string = @auto_pad, dilations: ints = "
      "@dilations, group: int = @group, kernel_shape: ints = @kernel_shape, "
      "pads: ints = @pads, strides: ints = @strides>(x1, x_scale, "
      "x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B)\n");
}

static std::string writeQGlobalAveragePool(const ContribCall &call) {
  return writePooled(call, "pooled = GlobalAveragePool(x1)\n");
}

static std::string writeQAveragePool(const ContribCall &call) {
  return writePooled(
      call, "pooled = AveragePool<auto_pad: string = @auto_pad, ceil_mode: int "
            "= @ceil_mode, count_include_pad: int = @count_include_pad, "
            "kernel_shape: ints = @kernel_shape, pads: ints = @pads, strides: "
            "ints = @strides>(x1)\n");
}

/// `to` is `from`, floats, rounded to the type of A and C, without a scale.
static std::string writeRounded(const ContribCall &call, StringRef from,
                                StringRef to) {
  std::string text = "one = Constant<value_float = 1.0>()\n";
  if (call.getElementType(0) || !call.has(7))
    return text + writeQuantized(call, from, "one", "", /*hasZeroPoint=*/false,
                                 call.getElementType(0), to);
  return text + "none = Sub(C_zero_point, C_zero_point)\n" +
         writeQuantized(call, from, "one", "none", /*hasZeroPoint=*/true,
                        Type(), to);
}

/// `to` is the zero point that is input `number`, as a float.
static std::string writeZeroPoint(const ContribCall &call, unsigned number,
                                  StringRef name, StringRef to) {
  if (call.has(number))
    return llvm::formatv("{0} = Cast<to = 1>({1})\n", to, name);
  return llvm::formatv("{0} = Constant<value_float = 0.0>()\n", to);
}

/// A and B, and the three zero points, as floats.
static std::string writeFloats(const ContribCall &call) {
  return "a = Cast<to = 1>(A)\nb = Cast<to = 1>(B)\n" +
         writeZeroPoint(call, 2, "A_zero_point", "az") +
         writeZeroPoint(call, 5, "B_zero_point", "bz") +
         writeZeroPoint(call, 7, "C_zero_point", "cz");
}

// Both are as onnxruntime's schema and kernels have them: scales are one factor
// each, and the zero point is added before what is between two numbers is
// rounded to the even one. Dequantized values would come to lie on the other
// side of that.

static std::string writeQAdd(const ContribCall &call) {
  return writeFloats(call) +
         "ar = Div(A_scale, C_scale)\n"
         "br = Div(B_scale, C_scale)\n"
         "offset = Sub(cz, Add(Mul(ar, az), Mul(br, bz)))\n"
         "c = Add(Mul(a, ar), Add(Mul(b, br), offset))\n" +
         writeRounded(call, "c", "C");
}

static std::string writeQMul(const ContribCall &call) {
  return writeFloats(call) +
         "scale = Div(Mul(A_scale, B_scale), C_scale)\n"
         "product = Mul(Sub(a, az), Sub(b, bz))\n"
         "c = Add(Mul(product, scale), cz)\n" +
         writeRounded(call, "c", "C");
}

static std::string writeQWhere(const ContribCall &call) {
  return "x = DequantizeLinear(X, x_scale, x_zero_point)\n"
         "y = DequantizeLinear(Y, y_scale, y_zero_point)\n"
         "Z = QuantizeLinear(Where(condition, x, y), z_scale, z_zero_point)\n";
}

static std::string writeQConcat(const ContribCall &call) {
  if (call.getNumInputs() < 5 || call.getNumInputs() % 3 != 2)
    return call.refuse("inputs that are not a scale, a zero point and then "
                       "three for each tensor");
  std::string text, parts;
  for (unsigned k = 2; k < call.getNumInputs(); k += 3) {
    text += llvm::formatv("x{0} = DequantizeLinear(i{0}, i{1}, i{2})\n", k,
                          k + 1, k + 2);
    parts += (parts.empty() ? "x" : ", x") + std::to_string(k);
  }
  return text + "y = Concat<axis: int = @axis>(" + parts +
         ")\nY = QuantizeLinear(y, i0, i1)\n";
}

static std::string writeQGemm(const ContribCall &call) {
  // C has the product's scale and no zero point. Scales and zero points of B
  // are for its columns, which are rows where it is transposed.
  std::string text = "a = DequantizeLinear(A, a_scale, a_zero_point)\n";
  text += llvm::formatv("b = DequantizeLinear<axis = {0}>(B, b_scale, "
                        "b_zero_point)\n",
                        call.getInt("transB") ? 0 : 1);
  text += "ab = Gemm<alpha: float = @alpha, transA: int = @transA, transB: int "
          "= @transB>(a, b)\n";
  if (call.has(6))
    text += "scales = a_scale * b_scale\n"
            "c = CastLike(C, ab) * (scales * @alpha)\n"
            "y = ab + c\n";
  else
    text += "y = Identity(ab)\n";
  if (!call.has(7))
    return text + "Y = Identity(y)\n";
  return text + "Y = QuantizeLinear(y, y_scale, y_zero_point)\n";
}

//===----------------------------------------------------------------------===//
// Products of integers as floats
//===----------------------------------------------------------------------===//

/// Y = the integers' product times the scales, plus the bias.
static std::string writeScaled(bool hasBias) {
  std::string text =
      "floats = CastLike(MatMulInteger(a, B, a_zero, b_zero_point), b_scale)\n"
      "scale = a_factor * b_scale\n";
  return text +
         (hasBias ? "Y = floats * scale + bias\n" : "Y = floats * scale\n");
}

static std::string writeDynamicQuantizeMatMul(const ContribCall &call) {
  return "a, a_factor, a_zero = DynamicQuantizeLinear(A)\n" +
         writeScaled(call.has(4));
}

static std::string writeMatMulIntegerToFloat(const ContribCall &call) {
  std::string zero = call.has(4) ? "a_zero = Identity(a_zero_point)\n"
                                 : "a_zero = CastLike(0, A)\n";
  return "a = Identity(A)\na_factor = Identity(a_scale)\n" + zero +
         writeScaled(call.has(6));
}

//===----------------------------------------------------------------------===//
// MatMulNBits
//===----------------------------------------------------------------------===//

/// `to`: the numbers of `bits` bits in the bytes of `from`, the lowest first,
/// along its last axis.
static std::string writeUnpacked(StringRef from, StringRef to, int64_t bits) {
  if (bits == 8)
    return llvm::formatv("{1} = Identity({0})\n", from, to);
  std::string text =
      llvm::formatv("{1}_bytes = Unsqueeze(uint8({0}), [-1])\n", from, to);
  std::string shifts, size = std::to_string(8 / bits);
  for (int64_t shift = 0; shift < 8; shift += bits)
    shifts += (shift ? ", " : "") + std::to_string(shift);
  text += llvm::formatv(
      "{0}_shifts = Constant<value = uint8[{2}] {{{3}}>()\n"
      "{0}_mask = Constant<value = uint8 {{{4}}>()\n"
      "{0}_shifted = BitShift<direction = \"RIGHT\">({0}_bytes, {0}_shifts)\n"
      "{0} = Reshape(BitwiseAnd({0}_shifted, {0}_mask), Concat<axis = 0>("
      "Shape<end = -1>({1}), [-1]))\n",
      to, from, size, shifts, (1 << bits) - 1);
  return text;
}

namespace {
/// MatMulNBits: its sizes, and the parts of its body.
struct PackedProduct {
  const ContribCall &call;
  int64_t bits = call.getInt("bits", 4), size = call.getInt("block_size");
  int64_t k = call.getInt("K"), n = call.getInt("N");
  int64_t blocks = (k + size - 1) / size;

  enum { A, B, Scales, ZeroPoints, Groups, Bias };

  std::string writeFactors() const;
  std::string writeFloats() const;
  std::string writeRows() const;
  bool isOfIntegers() const;
  std::string writeIntegers() const;
  std::string writeSum(const char *sum) const;
};
} // namespace

/// factors and zeros: scales and zero points [n, blocks, 1] of the blocks.
std::string PackedProduct::writeFactors() const {
  std::string text =
      llvm::formatv("column = Constant<value_ints = [{0}, {1}, 1]>()\n"
                    "factors = Reshape(scales, column)\n",
                    n, blocks);
  // Zero points are packed like the weights, each row to whole bytes, or are of
  // the scales' type.
  Type zeroType = call.getElementType(ZeroPoints);
  if (!zeroType)
    return text +
           llvm::formatv("zeros = CastLike({0}, scales)\n", 1 << (bits - 1))
               .str();
  if (isa<FloatType>(zeroType))
    return text + "zeros = Reshape(zero_points, column)\n";
  return text +
         llvm::formatv("packed = Reshape(zero_points, [{0}, -1])\n", n).str() +
         writeUnpacked("packed", "points", bits) +
         llvm::formatv("zeros = CastLike(Reshape(Slice(points, [0], [{0}], "
                       "[1]), column), scales)\n",
                       blocks)
             .str();
}

/// y as sums over the packed weights where they lie. Instead of the weights,
/// the rows are taken apart into what the first, second, ... numbers of the
/// bytes are multiplied with.
std::string PackedProduct::writeFloats() const {
  int64_t parts = 8 / bits, width = size / parts;
  std::string text = llvm::formatv(
      "bytes = uint8(Reshape(B, [{0}, {1}, {2}]))\n"
      "beside = Constant<value_ints = [0, 0, 0, {3}]>()\n"
      "parts_beside = Reshape(Pad(float(Reshape(A, [-1, {6}])), beside), [-1, "
      "1, {1}, {2}, {4}])\n"
      "parts = Transpose<perm = [4, 0, 1, 2, 3]>(parts_beside)\n"
      "zeros_f = float(zeros)\n"
      "factors_f = float(factors)\n"
      "mask = Constant<value = uint8 {{{5}}>()\n",
      n, blocks, width, blocks * size - k, parts, (1 << bits) - 1, k);
  for (int64_t part = 0; part < parts; ++part)
    text += llvm::formatv(
        "shift{0} = Constant<value = uint8 {{{1}}>()\n"
        "weights{0} = (float(BitwiseAnd(BitShift<direction = \"RIGHT\">(bytes, "
        "shift{0}), mask)) - zeros_f) * factors_f\n"
        "term{0} = weights{0} * Gather<axis = 0>(parts, {0})\n",
        part, part * bits);
  return text + writeSum("y_shaped = Reshape(ReduceSum<keepdims = 0, "
                         "__sums_products = 1>(sum{0}, [2, 3]), "
                         "Concat<axis = 0>(Shape<end = -1>(A), [{1}]))\n");
}

/// y as `sum` makes it of what the terms of all numbers of a byte add up to.
std::string PackedProduct::writeSum(const char *sum) const {
  int64_t parts = 8 / bits;
  std::string text = "sum0 = Identity(term0)\n";
  for (int64_t part = 1; part < parts; ++part)
    text += llvm::formatv("sum{0} = sum{1} + term{0}\n", part, part - 1);
  return text + llvm::formatv(sum, parts - 1, n).str() +
         "y = CastLike(y_shaped, A)\n";
}

/// y of blocks that are no whole bytes: a product with the unpacked weights. Of
/// each block the first numbers of all bytes come first, then the second ones,
/// ...: the rows of A, which are less, are brought into that order, too.
std::string PackedProduct::writeRows() const {
  int64_t parts = 8 / bits, width = (size + parts - 1) / parts;
  std::string shifts;
  for (int64_t part = 0; part < parts; ++part)
    shifts += (part ? ", " : "") + std::to_string(part * bits);
  return llvm::formatv("bytes = uint8(Reshape(B, [{0}, {1}, 1, {2}]))\n"
                       "shifts0 = Constant<value = uint8[{3}] {{{4}}>()\n"
                       "mask = Constant<value = uint8 {{{5}}>()\n"
                       "numbers = BitwiseAnd(BitShift<direction = "
                       "\"RIGHT\">(bytes, Reshape(shifts0, [{3}, 1])), mask)\n"
                       "beside = Constant<value_ints = [3]>()\n"
                       "zeros4 = {7}\n"
                       "rows = Constant<value_ints = [{0}, {6}]>()\n"
                       "all = Reshape((CastLike(numbers, scales) - zeros4) * "
                       "Unsqueeze(factors, beside), rows)\n"
                       "right = CastLike(Transpose<perm = [1, 0]>(all), A)\n",
                       n, blocks, width, parts, shifts, (1 << bits) - 1,
                       blocks * parts * width,
                       call.has(ZeroPoints) ? "Unsqueeze(zeros, beside)"
                                            : "Identity(zeros)")
             .str() +
         llvm::formatv(
             "parts = Transpose<perm = [0, 1, 3, 2]>(Reshape(Pad(Reshape(A, "
             "[-1, {0}]), [0, 0, 0, {1}]), [-1, {2}, {3}, {4}]))\n"
             "y = Reshape(MatMul(Reshape(parts, [-1, {5}]), right), "
             "Concat<axis = 0>(Shape<end = -1>(A), [{6}]))\n",
             k, blocks * size - k, blocks, width, parts, blocks * size, n)
             .str();
}

/// True if the rows of A may be rounded to 8 bits, as the node's level of
/// accuracy says, and all else is integers.
bool PackedProduct::isOfIntegers() const {
  constexpr int64_t kOfBytes = 4;
  return call.getInt("accuracy_level") == kOfBytes && size * bits % 8 == 0 &&
         !isa_and_nonnull<FloatType>(call.getElementType(ZeroPoints));
}

/// y of rows that are rounded to 8 bits by blocks, symmetrically: of each block
/// the integers' sum times both scales. As with few rows, A is taken apart into
/// what the first, second, ... numbers of the bytes are multiplied with.
std::string PackedProduct::writeIntegers() const {
  int64_t parts = 8 / bits, width = size / parts;
  std::string text = llvm::formatv(
      "bytes = uint8(Reshape(B, [{0}, {1}, {2}]))\n"
      "beside = Constant<value_ints = [0, 0, 0, {3}]>()\n"
      "rows = Reshape(Pad(float(Reshape(A, [-1, {6}])), beside), [-1, {1}, "
      "{2}, {4}])\n"
      "peaks = ReduceMax<keepdims = 1>(Abs(rows), [2, 3])\n"
      "row_factors = peaks / 127.0\n"
      "none = Constant<value_float = 0.0>()\n"
      "inverses = Where(peaks == none, none, 127.0 / peaks)\n"
      "codes = Unsqueeze(Transpose<perm = [3, 0, 1, 2]>(Cast<to = 3>(Round("
      "rows * inverses))), [2])\n"
      "row_factor = Reshape(row_factors, [-1, 1, {1}, 1])\n"
      "mask = Constant<value = uint8 {{{5}}>()\n"
      "zeros_i = Cast<to = 6>(zeros)\n",
      n, blocks, width, blocks * size - k, parts, (1 << bits) - 1, k);
  for (int64_t part = 0; part < parts; ++part)
    text += llvm::formatv(
        "shift{0} = Constant<value = uint8 {{{1}}>()\n"
        "numbers{0} = Cast<to = 6>(BitwiseAnd(BitShift<direction = \"RIGHT\">("
        "bytes, shift{0}), mask)) - zeros_i\n"
        "term{0} = numbers{0} * Cast<to = 6>(Gather<axis = 0>(codes, {0}))\n",
        part, part * bits);
  return text +
         writeSum("y_shaped = Reshape(ReduceSum<keepdims = 0>(float(sum{0}) * "
                  "row_factor * float(factors), [2, 3]), Concat<axis = "
                  "0>(Shape<end = -1>(A), [{1}]))\n");
}

static std::string writeMatMulNBits(const ContribCall &call) {
  PackedProduct product{call};
  int64_t bits = product.bits, size = product.size, k = product.k;
  if (bits != 2 && bits != 4 && bits != 8)
    return call.refuse("weights of " + Twine(bits) + " bits");
  if (size < 1 || k < 1 || product.n < 1)
    return call.refuse("the attributes 'K', 'N' and 'block_size' are not all "
                       "there and above 0");
  if (call.has(PackedProduct::Groups))
    return call.refuse("input 'g_idx', groups in another order");
  if (call.getInt("weight_prepacked"))
    return call.refuse("weights in the layout of one device");
  // A block is whole bytes.
  std::string y = product.isOfIntegers() ? product.writeIntegers()
                  : size * bits % 8 == 0 ? product.writeFloats()
                                         : product.writeRows();
  return product.writeFactors() + y +
         (call.has(PackedProduct::Bias) ? "Y = y + bias\n"
                                        : "Y = Identity(y)\n");
}

//===----------------------------------------------------------------------===//
// MatMulBnb4
//===----------------------------------------------------------------------===//

/// The 16 numbers that 4 bits stand for, as bitsandbytes has them: FP4, and
/// NF4, the quantiles of a normal distribution.
static constexpr double kFp4[] = {
    0.0,         0.00520833333, 0.66666667,  1.0,  0.33333333,
    0.5,         0.16666667,    0.25,        -0.0, -0.00520833333,
    -0.66666667, -1.0,          -0.33333333, -0.5, -0.16666667,
    -0.25};
static constexpr double kNf4[] = {-1.0,
                                  -0.6961928009986877,
                                  -0.5250730514526367,
                                  -0.39491748809814453,
                                  -0.28444138169288635,
                                  -0.18477343022823334,
                                  -0.09105003625154495,
                                  0.0,
                                  0.07958029955625534,
                                  0.16093020141124725,
                                  0.24611230194568634,
                                  0.33791524171829224,
                                  0.44070982933044434,
                                  0.5626170039176941,
                                  0.7229568362236023,
                                  1.0};

/// Blocks go through the rows of the weights [N, K] as if they were one row;
/// of a byte the high bits are first.
static std::string writeMatMulBnb4(const ContribCall &call) {
  int64_t k = call.getInt("K"), n = call.getInt("N"),
          block = call.getInt("block_size"), type = call.getInt("quant_type");
  if (k < 1 || n < 1 || block < 1)
    return call.refuse("the attributes 'K', 'N' and 'block_size' are not all "
                       "there and above 0");
  if (type != 0 && type != 1)
    return call.refuse("'quant_type' is neither 0 (FP4) nor 1 (NF4)");
  call.addConstant("numbers64", {16}, ArrayRef<double>(type ? kNf4 : kFp4));
  return llvm::formatv(
      "numbers = CastLike(numbers64, absmax)\n"
      "bytes = Reshape(B, [-1, 1])\n"
      "shifts = Constant<value = uint8[2] {{4, 0}>()\n"
      "mask = Constant<value = uint8 {{15}>()\n"
      "codes2 = int32(Reshape(BitwiseAnd(BitShift<direction = "
      "\"RIGHT\">(bytes, shifts), mask), [-1]))\n"
      "column = Reshape(absmax, [-1, 1])\n"
      "factors = Slice(Reshape(Expand(column, [1, {1}]), [-1]), [0], [{0}])\n"
      "weights1 = Reshape(Gather(numbers, Slice(codes2, [0], [{0}])) * "
      "factors, [{2}, {3}])\n"
      "Y = MatMul(A, {4}(weights1))\n",
      n * k, block, n, k,
      call.getInt("transB", 1) ? "Transpose<perm = [1, 0]>" : "Identity");
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

static std::string writeQuantizeLinear(const ContribCall &call) {
  // Without an axis all is one.
  StringRef axis = call.getAttr("axis") ? "<axis: int = @axis>" : "";
  return ("y = QuantizeLinear" + axis + "(x, y_scale, y_zero_point)\n").str();
}

static std::string writeDequantizeLinear(const ContribCall &call) {
  StringRef axis = call.getAttr("axis") ? "<axis: int = @axis>" : "";
  return ("y = DequantizeLinear" + axis + "(x, x_scale, x_zero_point)\n").str();
}

/// Rows of a table whose last axis is quantized in blocks.
static std::string writeGatherBlocks(const ContribCall &call) {
  std::optional<int64_t> rank = call.getRank(0);
  Type type = call.getElementType(0);
  int64_t axis = call.getInt("quantize_axis", 1);
  int64_t bits = call.getInt("bits", 4), size = call.getInt("block_size", 128);
  if (!rank || (axis != *rank - 1 && axis != -1) || *rank < 2 ||
      call.getInt("gather_axis") != 0)
    return call.refuse("other axes than the first for the indices and the "
                       "last for the blocks");
  if (!type || !type.isInteger() || size < 1)
    return call.refuse("elements that are no integers, or no block size");
  bool areBytes = type.isInteger(8);
  if (areBytes && bits != 2 && bits != 4 && bits != 8)
    return call.refuse(Twine(bits) + " bits");
  // Other types are unpacked.
  int64_t packed = areBytes ? bits : 8;
  // ONNX gathers no elements of 4 bits.
  StringRef widened = areBytes                   ? "Identity"
                      : type.isUnsignedInteger() ? "Cast<to = 2>"
                                                 : "Cast<to = 3>";
  std::string text = llvm::formatv("table = {0}(data)\n", widened).str() +
                     "rows = Gather(table, indices)\n"
                     "row_scales = Gather(scales, indices)\n" +
                     writeUnpacked("rows", "numbers0", packed) +
                     "numbers = float(numbers0)\n";
  text += llvm::formatv(
      "blocks = Range(0, Squeeze(Shape<start = -1>(numbers), [0]), 1) / {0}\n"
      "scales1 = float(Gather<axis = -1>(row_scales, blocks))\n",
      size);
  if (call.has(3))
    text += llvm::formatv("all_zeros = {0}(zero_points)\n", widened).str() +
            "row_zeros = Gather(all_zeros, indices)\n" +
            writeUnpacked("row_zeros", "points", packed) +
            "zeros = float(Gather<axis = -1>(points, blocks))\n";
  else
    text += llvm::formatv("zeros = Constant<value_float = {0}.0>()\n",
                          areBytes ? int64_t(1) << (bits - 1) : 0);
  return text + "output = CastLike((numbers - zeros) * scales1, scales)\n";
}

static constexpr StringLiteral kUnaryInputs =
    "X, X_scale, X_zero_point, Y_scale, Y_zero_point";
static constexpr StringLiteral kBinaryInputs =
    "A, A_scale, A_zero_point, B, B_scale, B_zero_point, C_scale, C_zero_point";

ArrayRef<ContribOperator> loopc::importer::getContribQuantized() {
  static const ContribOperator operators[] = {
      {kContribDomain, "QuantizeLinear", "axis", "x, y_scale, y_zero_point",
       "y", writeQuantizeLinear},
      {kContribDomain, "DequantizeLinear", "axis", "x, x_scale, x_zero_point",
       "y", writeDequantizeLinear},
      {kContribDomain, "QLinearAdd", "", kBinaryInputs, "C", writeQAdd},
      {kContribDomain, "QLinearMul", "", kBinaryInputs, "C", writeQMul},
      {kContribDomain, "QLinearSigmoid", "", kUnaryInputs, "Y", writeQSigmoid},
      {kContribDomain, "QLinearLeakyRelu", "alpha: float = 0.01", kUnaryInputs,
       "Y", writeQLeakyRelu},
      {kContribDomain, "QLinearSoftmax", "axis: int = -1, opset", kUnaryInputs,
       "Y", writeQSoftmax},
      {kContribDomain, "QLinearGlobalAveragePool", "channels_last: int = 0",
       kUnaryInputs, "Y", writeQGlobalAveragePool},
      {kContribDomain, "QLinearAveragePool",
       "auto_pad, ceil_mode, channels_last, count_include_pad, kernel_shape, "
       "pads, strides",
       kUnaryInputs, "Y", writeQAveragePool},
      {kContribDomain, "NhwcMaxPool",
       "auto_pad, ceil_mode, dilations, kernel_shape, pads, strides", "x", "y",
       writeNhwcMaxPool},
      {kContribDomain, "QLinearConv",
       "auto_pad, channels_last, dilations, group, kernel_shape, pads, strides",
       "x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, "
       "y_zero_point, B",
       "y", writeQConv},
      {kContribDomain, "QLinearWhere", "",
       "condition, X, x_scale, x_zero_point, Y, y_scale, y_zero_point, "
       "z_scale, z_zero_point",
       "Z", writeQWhere},
      {kContribDomain, "QLinearConcat", "axis", "...", "Y", writeQConcat},
      {kContribDomain, "QGemm",
       "alpha: float = 1.0, transA: int = 0, transB: int = 0",
       "A, a_scale, a_zero_point, B, b_scale, b_zero_point, C, y_scale, "
       "y_zero_point",
       "Y", writeQGemm},
      {kContribDomain, "DynamicQuantizeMatMul", "",
       "A, B, b_scale, b_zero_point, bias", "Y", writeDynamicQuantizeMatMul},
      {kContribDomain, "MatMulIntegerToFloat", "",
       "A, B, a_scale, b_scale, a_zero_point, b_zero_point, bias", "Y",
       writeMatMulIntegerToFloat},
      {kContribDomain, "GatherBlockQuantized",
       "bits, block_size, quantize_axis, gather_axis",
       "data, indices, scales, zero_points", "output", writeGatherBlocks},
      {kContribDomain, "MatMulBnb4",
       "K, N, block_size, quant_type, training_mode, transB", "A, B, absmax",
       "Y", writeMatMulBnb4},
      {kContribDomain, "MatMulNBits",
       "K, N, bits, block_size, accuracy_level, weight_prepacked",
       "A, B, scales, zero_points, g_idx, bias", "Y", writeMatMulNBits},
  };
  return operators;
}
