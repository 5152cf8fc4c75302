//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Linear quantization. Scale and zero point belong to the whole tensor, to the
// positions of one axis, or to blocks along one axis.

#include "Framework/ElementTypes.h"
#include "Framework/ShapeUtils.h"

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Scales and zero points
//===----------------------------------------------------------------------===//

namespace {
/// The operands of a node over the elements of its input 0: the element itself,
/// and those of scale and zero point that belong to it.
class Quantized {
public:
  explicit Quantized(NodeLowering &l) : l(l), dims(l.dims(l.in(0))) {}

  /// Reads the attributes, adds scale and zero point; fails after an error.
  LogicalResult read();
  /// Sets result 0 to `body` of every (element, scale, zero point); the last
  /// one is null where the node has none.
  void map(llvm::function_ref<Value(ScalarBuilder &s, Value x, Value scale,
                                    Value zeroPoint)>
               body);

  Type xType, scaleType, resultType;

private:
  /// Adds input `i`.
  LogicalResult addParameter(unsigned i, StringRef what);
  LogicalResult addBlocks(Value value, StringRef what);
  LogicalResult addAlongAxis(Value value, StringRef what);
  FailureOr<int64_t> axis();
  Value blockElement(ScalarBuilder &s, Value blocks);

  NodeLowering &l;
  Dims dims;
  int64_t blockSize = 0;
  /// What the elements are read from: an operand, or blocks.
  struct Parameter {
    std::optional<SpaceOperand> operand;
    Value blocks;
  };
  SmallVector<Parameter> parameters;
};
} // namespace

FailureOr<int64_t> Quantized::axis() {
  int64_t rank = dims.size();
  // Of one axis, the default is not its number.
  if (rank == 1 && l.intAttr("axis", 1) == 1)
    return 0;
  return l.axisAttr("axis", rank, 1);
}

LogicalResult Quantized::addBlocks(Value value, StringRef what) {
  FailureOr<int64_t> along = axis();
  if (failed(along))
    return failure();
  for (auto [k, extent] : llvm::enumerate(l.dims(value))) {
    OpFoldResult expected = dims[k];
    if (static_cast<int64_t>(k) == *along)
      expected =
          quotient(l, l.add(dims[k], l.fold(blockSize - 1)), l.fold(blockSize));
    if (!requireEqual(l, extent, expected,
                      "axis " + Twine(k) + " of " + what +
                          " and of the blocks of the input"))
      return l.refuse(what + " does not have a value for each block of " +
                      Twine(blockSize) + " along axis " + Twine(*along));
  }
  parameters.push_back({std::nullopt, value});
  return success();
}

LogicalResult Quantized::addAlongAxis(Value value, StringRef what) {
  FailureOr<int64_t> along = axis();
  if (failed(along))
    return failure();
  OpFoldResult extent = dims[*along];
  if (failed(requireBroadcastsTo(l, value, extent, what)))
    return failure();
  // A length that is known only at run time may be 1.
  if (!getConstantIntValue(l.dim(value, 0)) &&
      !sameExtent(l.dim(value, 0), extent))
    value = l.broadcastTo(value, extent);
  parameters.push_back({SpaceOperand{value, {*along}}, Value()});
  return success();
}

LogicalResult Quantized::addParameter(unsigned i, StringRef what) {
  Value value = stripCasts(l.in(i));
  auto type = cast<RankedTensorType>(value.getType());
  int64_t rank = type.getRank();
  if (type.hasStaticShape() && type.getNumElements() == 1) {
    parameters.push_back({SpaceOperand{l.reshape(value, {}), {}}, Value()});
    return success();
  }
  if (blockSize > 0 && rank == static_cast<int64_t>(dims.size()))
    return addBlocks(value, what);
  if (rank == 1 && !dims.empty())
    return addAlongAxis(value, what);
  return l.refuse(what + " of rank " + Twine(rank) +
                  " does not fit an input of rank " + Twine(dims.size()) +
                  (blockSize > 0 ? "" : " without 'block_size'"));
}

LogicalResult Quantized::read() {
  // The result's type was inferred from it.
  l.ignoreAttr("output_dtype");
  l.ignoreAttr("axis");
  blockSize = l.intAttr("block_size", 0);
  if (blockSize < 0)
    return l.refuse("'block_size' is " + Twine(blockSize) + ", less than 0");
  xType = l.declaredType(0);
  scaleType = l.declaredType(1);
  resultType = l.declaredResultType();
  if (failed(addParameter(1, "the scale")))
    return failure();
  return l.has(2) ? addParameter(2, "the zero point") : success();
}

Value Quantized::blockElement(ScalarBuilder &s, Value blocks) {
  FailureOr<int64_t> along = axis();
  SmallVector<Value> indices;
  for (int64_t k : llvm::seq<int64_t>(dims.size())) {
    Value index = linalg::IndexOp::create(s.b, s.loc, k);
    if (k == *along) {
      Value size = arith::ConstantIndexOp::create(s.b, s.loc, blockSize);
      index = s.make<arith::DivUIOp>(index, size);
    }
    indices.push_back(index);
  }
  return tensor::ExtractOp::create(s.b, s.loc, blocks, indices);
}

void Quantized::map(
    llvm::function_ref<Value(ScalarBuilder &, Value, Value, Value)> body) {
  SmallVector<SpaceOperand> operands = {{l.in(0), allAxes(dims.size())}};
  for (const Parameter &parameter : parameters)
    if (parameter.operand)
      operands.push_back(*parameter.operand);
  l.setResult(mapSpace(
      l, operands, dims, toSignless(resultType),
      [&](ScalarBuilder &s, ArrayRef<Value> elements) {
        Value x = elements.front();
        elements = elements.drop_front();
        SmallVector<Value> values;
        for (const Parameter &parameter : parameters) {
          if (parameter.operand) {
            values.push_back(elements.front());
            elements = elements.drop_front();
          } else {
            values.push_back(blockElement(s, parameter.blocks));
          }
        }
        return body(s, x, values[0], values.size() > 1 ? values[1] : Value());
      }));
}

//===----------------------------------------------------------------------===//
// QuantizeLinear
//===----------------------------------------------------------------------===//

/// `value` rounded to nearest even and moved by `zeroPoint` (i32, or null), as
/// a number (i32) in the range of the integer type `to`; its least one for NaN.
static Value quantizeToInteger(ScalarBuilder &s, Value value, Value zeroPoint,
                               IntegerType to) {
  unsigned bits = to.getWidth();
  int64_t least = to.isUnsigned() ? 0 : -(int64_t(1) << (bits - 1));
  int64_t most = least + (int64_t(1) << bits) - 1;
  Type type = value.getType(), i32 = s.b.getI32Type();
  Value low = s.integer(i32, least), high = s.integer(i32, most);
  if (zeroPoint) {
    low = s.sub(low, zeroPoint);
    high = s.sub(high, zeroPoint);
  }
  // Clamped as floats, so that every number fits the integer.
  low = s.make<arith::SIToFPOp>(type, low);
  high = s.make<arith::SIToFPOp>(type, high);
  Value rounded = s.make<math::RoundEvenOp>(value);
  rounded = s.select(s.lessOrEqual(low, rounded), rounded, low);
  rounded = s.select(s.less(high, rounded), high, rounded);
  Value number = s.make<arith::FPToSIOp>(i32, rounded);
  return zeroPoint ? s.add(number, zeroPoint) : number;
}

Value loopc::quantizeElement(ScalarBuilder &s, Value quotient, Value zeroPoint,
                             Type to, CastOptions options) {
  if (auto integer = dyn_cast<IntegerType>(to)) {
    if (zeroPoint)
      zeroPoint = convertElement(s, zeroPoint, integer, s.b.getI32Type());
    Value number = quantizeToInteger(s, quotient, zeroPoint, integer);
    return s.make<arith::TruncIOp>(toSignless(integer), number);
  }
  Type compute = quotient.getType();
  if (zeroPoint) {
    Value zero = convertElement(s, zeroPoint, to, compute);
    Value sum = s.add(quotient, zero);
    // The zero point of 8-bit floats is 0: the sign of a zero stays.
    bool keepsSign = cast<FloatType>(to).getWidth() == 8;
    Value isZero = s.equal(zero, s.constant(compute, 0));
    quotient = keepsSign ? s.select(isZero, quotient, sum) : sum;
  }
  return convertElement(s, quotient, compute, to, options);
}

/// The type that x and scale are divided in: 'precision', else the scale's.
static FailureOr<Type> divisionType(NodeLowering &l, Type scaleType) {
  Builder &b = l.b;
  switch (int64_t precision = l.intAttr("precision", 0)) {
  case 0:
    break;
  case 1: // TensorProto.FLOAT
    return b.getF32Type();
  case 10: // TensorProto.FLOAT16
    return b.getF16Type();
  case 11: // TensorProto.DOUBLE
    return b.getF64Type();
  case 16: // TensorProto.BFLOAT16
    return b.getBF16Type();
  default:
    return l.refuse("'precision' is " + Twine(precision) +
                    ", not the type of a division");
  }
  // The quotient of integers, and of one by a power of two, is exact or nearly
  // so in these.
  if (isa<IntegerType>(scaleType))
    return b.getF64Type();
  return isSmallFloat(scaleType) ? b.getF32Type() : scaleType;
}

static LogicalResult lowerQuantizeLinear(NodeLowering &l) {
  Quantized q(l);
  CastOptions options;
  options.saturate = l.intAttr("saturate", 1) != 0;
  if (failed(q.read()))
    return failure();
  FailureOr<Type> division = divisionType(l, q.scaleType);
  if (failed(division))
    return failure();
  if (l.has(2) && l.declaredType(2) != q.resultType)
    return l.refuse("the zero point and the result have different types");
  Type compute = NodeLowering::computeType(*division);
  q.map([&](ScalarBuilder &s, Value x, Value scale, Value zeroPoint) {
    // To the type of the division, and into the one that computes it.
    auto widened = [&](Value value, Type type) {
      value = convertElement(s, value, type, *division);
      return convertElement(s, value, *division, compute);
    };
    Value quotient = s.div(widened(x, q.xType), widened(scale, q.scaleType));
    quotient = widened(quotient, compute);
    return quantizeElement(s, quotient, zeroPoint, q.resultType, options);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// DequantizeLinear
//===----------------------------------------------------------------------===//

static LogicalResult lowerDequantizeLinear(NodeLowering &l) {
  Quantized q(l);
  if (failed(q.read()))
    return failure();
  q.map([&](ScalarBuilder &s, Value x, Value scale, Value zeroPoint) -> Value {
    Type f32 = s.b.getF32Type();
    // Differences of integers are exact.
    Type wide = isa<FloatType>(q.xType) ? f32
                : q.xType.isInteger(32) ? Type(s.b.getI64Type())
                                        : Type(s.b.getI32Type());
    Value difference = convertElement(s, x, q.xType, wide);
    if (zeroPoint)
      difference =
          s.sub(difference, convertElement(s, zeroPoint, q.xType, wide));
    Value product = s.mul(convertElement(s, difference, wide, f32),
                          convertElement(s, scale, q.scaleType, f32));
    return convertElement(s, product, f32, q.resultType);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// DynamicQuantizeLinear
//===----------------------------------------------------------------------===//

/// Rows of so many elements have their extrema in vectors.
static constexpr int64_t kLongRow = 64;

/// True if there may be many rows, which threads share, of whole vectors each.
/// A matrix is what a step of a recurrence has: a few rows.
static bool hasManyRows(ArrayRef<OpFoldResult> dims) {
  std::optional<int64_t> row =
      dims.size() > 2 ? getConstantIntValue(dims.back()) : std::nullopt;
  return row && *row >= kLongRow;
}

/// The largest or least element of input 0 and 0. Whatever the order, it is the
/// same one.
static Value extremum(NodeLowering &l, Combiner combiner) {
  auto reduce = [&](Value x, ArrayRef<int64_t> axes) {
    Dims dims = l.dims(x);
    return reduceSpace(
        l, SpaceOperand{x, allAxes(dims.size())}, dims, axes, combiner,
        l.b.getF32Type(), /*isUnsigned=*/false,
        [](ScalarBuilder &, ArrayRef<Value> elements) { return elements[0]; });
  };
  Value all = l.in(0);
  if (Dims dims = l.dims(all); hasManyRows(dims))
    all = reduce(all, static_cast<int64_t>(dims.size()) - 1);
  all = reduce(all, allAxes(l.dims(all).size()));
  ScalarBuilder s(l.b, l.b.getLoc());
  Value zero = s.constant(l.b.getF32Type(), 0);
  return combineScalars(s, combiner, l.scalar(all), zero);
}

/// `value` rounded to nearest even, as a number of uint8 but in f32; 0 for NaN.
static Value roundToByte(ScalarBuilder &s, Value value, Value offset) {
  Type type = value.getType();
  Value zero = s.constant(type, 0), most = s.constant(type, 255);
  value = s.make<math::RoundEvenOp>(value);
  if (offset)
    value = s.add(value, offset);
  value = s.select(s.lessOrEqual(zero, value), value, zero);
  return s.select(s.less(most, value), most, value);
}

static LogicalResult lowerDynamicQuantizeLinear(NodeLowering &l) {
  Value most = extremum(l, Combiner::Max), least = extremum(l, Combiner::Min);
  ScalarBuilder s(l.b, l.b.getLoc());
  Type f32 = l.b.getF32Type(), i8 = l.b.getI8Type();
  // A tensor of zeros has the scale of the range 1.
  Value range =
      s.select(s.equal(most, least), s.constant(f32, 1), s.sub(most, least));
  Value scale = s.div(range, s.constant(f32, 255));
  Value zeroPoint =
      roundToByte(s, s.sub(s.constant(f32, 0), s.div(least, scale)), Value());
  auto byteOf = [&](ScalarBuilder &s, Value value) {
    return s.make<arith::TruncIOp>(
        i8, s.make<arith::FPToSIOp>(s.b.getI32Type(), value));
  };
  Value x = l.in(0);
  Dims dims = l.dims(x);
  l.setResult(0, mapSpace(l, SpaceOperand{x, allAxes(dims.size())}, dims, i8,
                          [&](ScalarBuilder &s, ArrayRef<Value> elements) {
                            Value quotient = s.div(elements[0], scale);
                            return byteOf(s,
                                          roundToByte(s, quotient, zeroPoint));
                          }));
  auto scalarTensor = [&](Value value) {
    return tensor::FromElementsOp::create(
        l.b, RankedTensorType::get({}, value.getType()), value);
  };
  l.setResult(1, scalarTensor(scale));
  l.setResult(2, scalarTensor(byteOf(s, zeroPoint)));
  return success();
}

void loopc::addQuantizationRows(LoweringTable &table) {
  table.add({
      {"", "QuantizeLinear", 10, kLatest, lowerQuantizeLinear},
      {"", "DequantizeLinear", 10, kLatest, lowerDequantizeLinear},
      {"", "DynamicQuantizeLinear", 11, kLatest, lowerDynamicQuantizeLinear},
  });
}
