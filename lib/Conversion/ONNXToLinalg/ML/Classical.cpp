//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Operators of ai.onnx.ml that prepare features: LabelEncoder,
// CategoryMapper, ArrayFeatureExtractor, Binarizer, Scaler.

#include "ClassScores.h"
#include "Framework/ShapeUtils.h"
#include "LookupTable.h"
#include "loopc/Support/ConstantElements.h"

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// LabelEncoder
//===----------------------------------------------------------------------===//

namespace {
/// A list in one of the attributes that it may stand in.
struct Labels {
  SmallVector<double> floats;
  SmallVector<int64_t> integers;
  SmallVector<StringRef> strings;
  Type type; ///< onnx type of the elements; null: no list

  int64_t size() const {
    return isa<FloatType>(type)     ? floats.size()
           : isa<IntegerType>(type) ? integers.size()
                                    : strings.size();
  }
};
} // namespace

/// Appends the elements of a constant.
static LogicalResult appendElements(NodeLowering &l, Attribute attribute,
                                    Labels &labels) {
  auto elements = dyn_cast<ElementsAttr>(attribute);
  if (!elements)
    return l.refuse("a list of labels is no tensor");
  labels.type = elements.getElementType();
  if (auto strings = dyn_cast<DenseStringElementsAttr>(elements)) {
    llvm::append_range(labels.strings, strings.getValues<StringRef>());
    return success();
  }
  DenseElementsAttr dense = getDenseElements(elements);
  if (!dense)
    return l.refuse("a list of labels is no tensor of numbers or strings");
  if (isa<FloatType>(labels.type)) {
    for (APFloat value : dense.getValues<APFloat>()) {
      bool loses;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &loses);
      labels.floats.push_back(value.convertToDouble());
    }
    return success();
  }
  for (const APInt &value : dense.getValues<APInt>())
    labels.integers.push_back(labels.type.isUnsignedInteger()
                                  ? value.getZExtValue()
                                  : value.getSExtValue());
  return success();
}

/// "keys" or "values", from the attributes of any version.
static LogicalResult readLabels(NodeLowering &l, StringRef name,
                                Labels &labels) {
  std::string prefix = name.str() + "_";
  if (Attribute tensor = l.attr(prefix + "tensor"))
    return appendElements(l, tensor, labels);
  if (std::optional<SmallVector<double>> floats =
          l.floatsAttr(prefix + "floats")) {
    labels.type = l.b.getF32Type();
    labels.floats = *floats;
  }
  if (std::optional<SmallVector<int64_t>> integers =
          l.intsAttr(prefix + "int64s")) {
    labels.type = l.b.getI64Type();
    labels.integers = *integers;
  }
  if (auto strings = dyn_cast_or_null<ArrayAttr>(l.attr(prefix + "strings"))) {
    labels.type = onnx::StringType::get(l.b.getContext());
    for (Attribute value : strings)
      labels.strings.push_back(cast<StringAttr>(value).getValue());
  }
  if (!labels.type)
    return l.refuse("no " + name + " are given");
  return success();
}

/// Equal for equal floats: one number for both zeros and one for every NaN.
static int64_t floatKey(double value) {
  if (value != value)
    value = std::numeric_limits<double>::quiet_NaN();
  return llvm::bit_cast<int64_t>(value == 0 ? 0.0 : value);
}

static Value floatKey(ScalarBuilder &s, Value value) {
  Type f64 = s.b.getF64Type();
  value = s.cast(value, f64);
  Value zero = s.constant(f64, 0);
  value = s.select(s.equal(value, zero), zero, value);
  Value nan = s.constant(f64, std::numeric_limits<double>::quiet_NaN());
  value = s.select(s.isNaN(value), nan, value);
  return s.make<arith::BitcastOp>(s.b.getI64Type(), value);
}

static LookupTable makeTable(NodeLowering &l, const Labels &keys) {
  if (isa<onnx::StringType>(keys.type))
    return LookupTable(l, ArrayRef(keys.strings));
  if (isa<IntegerType>(keys.type))
    return LookupTable(l, ArrayRef(keys.integers));
  SmallVector<int64_t> bits;
  for (double key : keys.floats)
    bits.push_back(floatKey(key));
  return LookupTable(l, ArrayRef(bits));
}

/// Values by place in the table, the default behind the last one.
static Value makeValues(NodeLowering &l, const LookupTable &table,
                        const Labels &values, const Labels &fallback,
                        Type type) {
  SmallVector<StringRef> strings;
  SmallVector<Attribute> numbers;
  auto add = [&](const Labels &from, int64_t k) {
    if (isa<onnx::StringType>(values.type))
      strings.push_back(from.strings[k]);
    else if (isa<FloatType>(values.type))
      numbers.push_back(l.b.getFloatAttr(type, from.floats[k]));
    else
      numbers.push_back(l.b.getIntegerAttr(
          type, APInt(type.getIntOrFloatBitWidth(), from.integers[k],
                      /*isSigned=*/true, /*implicitTrunc=*/true)));
  };
  for (int64_t number : table.numbers())
    add(values, number);
  add(fallback, 0);
  int64_t count = table.size() + 1;
  if (isa<onnx::StringType>(values.type))
    return stringTensor(l.b, strings, count);
  return arith::ConstantOp::create(
      l.b, DenseElementsAttr::get(RankedTensorType::get(count, type), numbers));
}

static LogicalResult encodeLabels(NodeLowering &l, const Labels &keys,
                                  const Labels &values,
                                  const Labels &fallback) {
  if (keys.size() != values.size())
    return l.refuse(Twine(keys.size()) + " keys for " + Twine(values.size()) +
                    " values");
  Type type = l.resultElementType();
  LookupTable table = makeTable(l, keys);
  Value all = makeValues(l, table, values, fallback, type);
  bool isUnsigned = l.isUnsigned(0), isFloat = isa<FloatType>(keys.type);
  if (isa<FloatType>(l.declaredType(0)) != isFloat ||
      isa<onnx::StringType>(l.declaredType(0)) !=
          isa<onnx::StringType>(keys.type))
    return l.refuse("the keys are not of the type of the input");
  l.setResult(l.elementwise(
      l.in(0), type, [&](OpBuilder &b, Location loc, ValueRange e) -> Value {
        ScalarBuilder s(b, loc, isUnsigned);
        Value key = e[0];
        if (isFloat)
          key = floatKey(s, key);
        else if (isa<IntegerType>(key.getType()))
          key = s.cast(key, b.getI64Type());
        Value place =
            s.make<arith::IndexCastOp>(b.getIndexType(), table.find(s, key));
        return tensor::ExtractOp::create(b, loc, all, place);
      }));
  return success();
}

/// The value for what is no key.
static LogicalResult readDefault(NodeLowering &l, Type type, Labels &fallback) {
  Attribute tensor = l.attr("default_tensor");
  double real = l.floatAttr("default_float", -0.0);
  int64_t integer = l.intAttr("default_int64", -1);
  auto text = dyn_cast_or_null<StringAttr>(l.attr("default_string"));
  if (tensor) {
    if (failed(appendElements(l, tensor, fallback)))
      return failure();
    if (fallback.type != type || fallback.size() != 1)
      return l.refuse("'default_tensor' does not fit the values");
    return success();
  }
  fallback.type = type;
  fallback.floats.push_back(real);
  fallback.integers.push_back(integer);
  fallback.strings.push_back(text ? text.getValue() : StringRef("_Unused"));
  return success();
}

static LogicalResult lowerLabelEncoder(NodeLowering &l) {
  Labels keys, values, fallback;
  if (failed(readLabels(l, "keys", keys)) ||
      failed(readLabels(l, "values", values)) ||
      failed(readDefault(l, values.type, fallback)))
    return failure();
  return encodeLabels(l, keys, values, fallback);
}

/// Version 1: classes to their numbers, or numbers to the classes.
static LogicalResult lowerOldLabelEncoder(NodeLowering &l) {
  Labels texts, numbers, fallback;
  texts.type = onnx::StringType::get(l.b.getContext());
  numbers.type = l.b.getI64Type();
  if (auto classes = dyn_cast_or_null<ArrayAttr>(l.attr("classes_strings")))
    for (Attribute value : classes) {
      numbers.integers.push_back(texts.strings.size());
      texts.strings.push_back(cast<StringAttr>(value).getValue());
    }
  bool fromText = l.isString(0);
  if (failed(readDefault(l, fromText ? numbers.type : texts.type, fallback)))
    return failure();
  return fromText ? encodeLabels(l, texts, numbers, fallback)
                  : encodeLabels(l, numbers, texts, fallback);
}

/// Categories to their numbers, or numbers to the categories.
static LogicalResult lowerCategoryMapper(NodeLowering &l) {
  Labels texts, numbers, fallback;
  texts.type = onnx::StringType::get(l.b.getContext());
  numbers.type = l.b.getI64Type();
  if (auto strings = dyn_cast_or_null<ArrayAttr>(l.attr("cats_strings")))
    for (Attribute value : strings)
      texts.strings.push_back(cast<StringAttr>(value).getValue());
  numbers.integers = l.intsAttr("cats_int64s").value_or(SmallVector<int64_t>{});
  bool fromText = l.isString(0);
  if (failed(readDefault(l, fromText ? numbers.type : texts.type, fallback)))
    return failure();
  return fromText ? encodeLabels(l, texts, numbers, fallback)
                  : encodeLabels(l, numbers, texts, fallback);
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

static LogicalResult lowerArrayFeatureExtractor(NodeLowering &l) {
  Value x = l.in(0), indices = l.in(1);
  int64_t rank = l.rank(0);
  if (rank == 0)
    return l.refuse("a scalar has no features");
  Dims dims = l.dims(x);
  OpFoldResult extent = dims.back();
  CheckedIndices checked(l, 1, extent);
  OpFoldResult count = l.product(l.dims(indices));
  Value flat = reshapeByGroups(l, indices, count);
  Dims target = dims;
  if (rank == 1)
    target.insert(target.begin(), l.fold(1));
  target.back() = count;
  l.setResult(l.generate(
      target, l.elementType(0),
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        Value raw = tensor::ExtractOp::create(b, loc, flat, at.back());
        SmallVector<Value> from(rank == 1 ? at.drop_front() : at);
        from.back() = checked.position(b, loc, raw);
        return tensor::ExtractOp::create(b, loc, x, from);
      }));
  return success();
}

static LogicalResult lowerBinarizer(NodeLowering &l) {
  if (failed(requireArithmetic(l, 0)))
    return failure();
  double threshold = l.floatAttr("threshold", 0);
  Type type = l.elementType(0);
  bool isUnsigned = l.isUnsigned(0);
  l.setResult(l.elementwise(
      l.in(0), type, [&](OpBuilder &b, Location loc, ValueRange e) {
        ScalarBuilder s(b, loc, isUnsigned);
        Type f64 = b.getF64Type();
        Value above = s.less(s.constant(f64, threshold), s.cast(e[0], f64));
        return s.select(above, s.number(type, 1), s.number(type, 0));
      }));
  return success();
}

/// A constant of `values`: one for all features, or one for each.
static Value perFeature(NodeLowering &l, StringRef name, double fallback) {
  SmallVector<float> values;
  for (double value : l.floatsAttr(name).value_or(SmallVector<double>{}))
    values.push_back(value);
  if (values.empty())
    values.push_back(fallback);
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    l.b.getF32Type());
  return arith::ConstantOp::create(
      l.b, DenseElementsAttr::get(type, ArrayRef(values)));
}

static LogicalResult lowerScaler(NodeLowering &l) {
  Value offset = perFeature(l, "offset", 0), scale = perFeature(l, "scale", 1);
  bool isUnsigned = l.isUnsigned(0);
  Type f32 = l.b.getF32Type();
  l.setResult(l.elementwise({l.in(0), offset, scale}, f32,
                            [&](OpBuilder &b, Location loc, ValueRange e) {
                              ScalarBuilder s(b, loc, isUnsigned);
                              return s.mul(s.sub(s.cast(e[0], f32), e[1]),
                                           e[2]);
                            }));
  return success();
}

void loopc::addClassicalRows(LoweringTable &table) {
  constexpr llvm::StringLiteral domain = "ai.onnx.ml";
  table.add({
      {domain, "LabelEncoder", 1, 1, lowerOldLabelEncoder},
      {domain, "LabelEncoder", 2, kLatest, lowerLabelEncoder},
      {domain, "CategoryMapper", 1, kLatest, lowerCategoryMapper},
      {domain, "ArrayFeatureExtractor", 1, kLatest, lowerArrayFeatureExtractor},
      {domain, "Binarizer", 1, kLatest, lowerBinarizer},
      {domain, "Scaler", 1, kLatest, lowerScaler},
  });
}
