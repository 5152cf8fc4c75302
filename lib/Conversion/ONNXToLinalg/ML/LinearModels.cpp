//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Operators of ai.onnx.ml that exporters of linear models and their
// preprocessing write: LinearRegressor, LinearClassifier, Normalizer, Imputer,
// OneHotEncoder, FeatureVectorizer.

#include "ClassScores.h"
#include "LookupTable.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Linear models
//===----------------------------------------------------------------------===//

/// (rows, targets): features times coefficients, and intercepts.
static FailureOr<Value> linearScores(NodeLowering &l, int64_t targets) {
  FailureOr<Value> x = featureRows(l);
  if (failed(x))
    return failure();
  SmallVector<double> coefficients = numbersAttr(l, "coefficients"),
                      intercepts = numbersAttr(l, "intercepts");
  int64_t count = coefficients.size();
  if (targets < 1 || count % targets)
    return (void)l.refuse(Twine(count) + " coefficients for " + Twine(targets) +
                          " targets"),
           failure();
  if (!intercepts.empty() && static_cast<int64_t>(intercepts.size()) != targets)
    return (void)l.refuse(Twine(intercepts.size()) + " intercepts for " +
                          Twine(targets) + " targets"),
           failure();
  Type f32 = l.b.getF32Type();
  OpFoldResult features = l.fold(count / targets), rows = l.dim(*x, 0);
  Dims result{rows, l.fold(targets)};
  if (!requireEqual(l, l.dim(*x, 1), features, "the number of features"))
    return l.empty(result, f32);
  Value weights = reshapeByGroups(l, floatTable(l, coefficients, f32),
                                  {l.fold(targets), features});
  Value sums = reduceSpace(l, {{*x, {0, 2}}, {weights, {1, 2}}},
                           {rows, l.fold(targets), features}, {2},
                           Combiner::Sum, f32, /*isUnsigned=*/false,
                           [&](ScalarBuilder &s, ArrayRef<Value> e) {
                             return s.mul(s.cast(e[0], f32), e[1]);
                           });
  if (intercepts.empty())
    return sums;
  return mapSpace(
      l, {{sums, {0, 1}}, {floatTable(l, intercepts, f32), {1}}}, result, f32,
      [](ScalarBuilder &s, ArrayRef<Value> e) { return s.add(e[0], e[1]); });
}

static LogicalResult lowerLinearRegressor(NodeLowering &l) {
  FailureOr<ScoreTransform> transform = readTransform(l);
  FailureOr<Value> scores = linearScores(l, l.intAttr("targets", 1));
  if (failed(transform) || failed(scores))
    return failure();
  l.setResult(transformScores(l, *scores, *transform));
  return success();
}

static LogicalResult lowerLinearClassifier(NodeLowering &l) {
  l.ignoreAttr("multi_class");
  ClassLabels labels;
  FailureOr<ScoreTransform> transform = readTransform(l);
  if (failed(transform) || failed(labels.read(l, "classlabels_ints")))
    return failure();
  // Two classes may have one score, that of the second.
  int64_t intercepts = numbersAttr(l, "intercepts").size();
  bool isBinary = labels.size() == 2 && intercepts == 1;
  FailureOr<Value> scores = linearScores(l, isBinary ? 1 : labels.size());
  if (failed(scores))
    return failure();
  if (isBinary)
    setBinaryScores(l, labels, *scores, /*threshold=*/0, /*complement=*/true,
                    *transform);
  else
    setClassScores(l, labels, *scores, *transform);
  return success();
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

static LogicalResult lowerNormalizer(NodeLowering &l) {
  std::string norm = l.stringAttr("norm", "MAX");
  if (norm != "MAX" && norm != "L1" && norm != "L2")
    return l.refuse("there is no norm '" + norm + "'");
  FailureOr<Value> rows = featureRows(l);
  if (failed(rows))
    return failure();
  Type f32 = l.b.getF32Type();
  Dims dims = l.dims(*rows);
  Value sizes = reduceSpace(
      l, {{*rows, {0, 1}}}, dims, {1},
      norm == "MAX" ? Combiner::Max : Combiner::Sum, f32, /*isUnsigned=*/false,
      [&](ScalarBuilder &s, ArrayRef<Value> e) {
        Value x = s.cast(e[0], f32);
        return norm == "MAX" ? x : norm == "L1" ? s.abs(x) : s.mul(x, x);
      });
  Value scaled = mapSpace(l, {{*rows, {0, 1}}, {sizes, {0}}}, dims, f32,
                          [&](ScalarBuilder &s, ArrayRef<Value> e) {
                            Value x = s.cast(e[0], f32), size = e[1];
                            if (norm == "L2")
                              size = s.make<math::SqrtOp>(size);
                            // A row of zeros stays one.
                            Value isZero = s.equal(size, s.constant(f32, 0));
                            return s.select(isZero, x, s.div(x, size));
                          });
  l.setResult(reshapeByGroups(l, scaled, l.dims(l.in(0))));
  return success();
}

static LogicalResult lowerImputer(NodeLowering &l) {
  if (failed(requireArithmetic(l, 0)))
    return failure();
  Type type = l.elementType(0);
  bool isFloat = isa<FloatType>(type);
  double replacedFloat = l.floatAttr("replaced_value_float", 0);
  int64_t replacedInt = l.intAttr("replaced_value_int64", 0);
  SmallVector<double> floats = numbersAttr(l, "imputed_value_floats");
  SmallVector<int64_t> integers =
      l.intsAttr("imputed_value_int64s").value_or(SmallVector<int64_t>{});
  int64_t count = isFloat ? floats.size() : integers.size();
  if (count == 0)
    return l.refuse("there are no values of the input's type to impute");
  RankedTensorType tableType = RankedTensorType::get(count, l.b.getI64Type());
  Value table =
      isFloat ? floatTable(l, floats, type)
              : arith::ConstantOp::create(
                    l.b, DenseElementsAttr::get(tableType, ArrayRef(integers)));
  Value x = l.in(0);
  if (count > 1 &&
      (l.rank(0) == 0 || !requireEqual(l, l.dims(x).back(), l.fold(count),
                                       "the number of features"))) {
    l.setResult(l.empty(l.dims(x), type));
    return success();
  }
  l.setResult(l.elementwise(
      {x, table}, type, [&](OpBuilder &b, Location loc, ValueRange e) {
        ScalarBuilder s(b, loc, /*isUnsigned=*/false);
        Value isReplaced = !isFloat
                               ? s.equal(e[0], s.integer(type, replacedInt))
                           : std::isnan(replacedFloat)
                               ? s.isNaN(e[0])
                               : s.equal(e[0], s.constant(type, replacedFloat));
        return s.select(isReplaced, s.cast(e[1], type), e[0]);
      }));
  return success();
}

/// The place of `key` among the categories as given; a category that is given
/// twice has the first.
static LogicalResult lowerOneHotEncoder(NodeLowering &l) {
  SmallVector<int64_t> numbers =
      l.intsAttr("cats_int64s").value_or(SmallVector<int64_t>{});
  SmallVector<StringRef> texts = stringsAttr(l, "cats_strings");
  bool zeros = l.intAttr("zeros", 1), isText = l.isString(0);
  if (isText ? texts.empty() : numbers.empty())
    return l.refuse("there are no categories of the input's type");
  if (!isText && failed(requireArithmetic(l, 0)))
    return failure();
  LookupTable table = isText ? LookupTable(l, ArrayRef(texts))
                             : LookupTable(l, ArrayRef(numbers));
  int64_t count = isText ? texts.size() : numbers.size();
  SmallVector<int64_t> given(table.numbers());
  given.push_back(-1);
  Value columns = integerTable(l, given);
  Type i32 = l.b.getI32Type(), f32 = l.b.getF32Type();
  bool isUnsigned = l.isUnsigned(0);
  Value found = l.elementwise(
      l.in(0), i32, [&](OpBuilder &b, Location loc, ValueRange e) -> Value {
        ScalarBuilder s(b, loc, isUnsigned);
        Value key = isText ? e[0] : s.cast(e[0], b.getI64Type());
        Value place =
            s.make<arith::IndexCastOp>(b.getIndexType(), table.find(s, key));
        return tensor::ExtractOp::create(b, loc, columns, place);
      });
  int64_t rank = l.rank(0);
  Dims dims = l.dims(l.in(0));
  if (!zeros) {
    Value least = reduceSpace(
        l, {{found, allAxes(rank)}}, dims, allAxes(rank), Combiner::Min, i32,
        /*isUnsigned=*/false,
        [](ScalarBuilder &, ArrayRef<Value> e) { return e[0]; });
    Value isKnown = arith::CmpIOp::create(
        l.b, IP::sge, tensor::ExtractOp::create(l.b, least, ValueRange{}),
        l.constantInt(i32, 0));
    l.check(isKnown, "a value is none of the categories");
  }
  dims.push_back(l.fold(count));
  l.setResult(mapSpace(
      l, {{found, allAxes(rank)}}, dims, f32,
      [&](ScalarBuilder &s, ArrayRef<Value> e) {
        Value column = s.make<arith::IndexCastOp>(
            i32, linalg::IndexOp::create(s.b, s.loc, rank).getResult());
        Value isIt = s.make<arith::CmpIOp>(IP::eq, column, e[0]);
        return s.select(isIt, s.constant(f32, 1), s.constant(f32, 0));
      }));
  return success();
}

/// Features of several inputs behind one another, each input cut or filled with
/// zeros to its length.
static LogicalResult lowerFeatureVectorizer(NodeLowering &l) {
  SmallVector<int64_t> lengths =
      l.intsAttr("inputdimensions").value_or(SmallVector<int64_t>{});
  if (lengths.size() != l.numInputs() || lengths.empty())
    return l.refuse(Twine(lengths.size()) + " input dimensions for " +
                    Twine(l.numInputs()) + " inputs");
  int64_t total = 0;
  for (auto [k, length] : llvm::enumerate(lengths)) {
    if (length < 0 || l.rank(k) < 1 || l.rank(k) > 2 ||
        failed(requireArithmetic(l, k)))
      return l.refuse("input " + Twine(k) + " is no rows of features");
    total += length;
  }
  Type f32 = l.b.getF32Type();
  OpFoldResult rows = l.rank(0) == 1 ? l.fold(1) : l.dim(l.in(0), 0);
  Dims dims{rows, l.fold(total)};
  Value result = l.filled(dims, l.constant(f32, 0));
  int64_t offset = 0;
  for (auto [k, length] : llvm::enumerate(lengths)) {
    Value x = l.in(k);
    if (l.rank(k) == 1)
      x = reshapeByGroups(l, x, {l.fold(1), l.dim(x, 0)});
    if (!requireEqual(l, l.dim(x, 0), rows, "the number of rows"))
      break;
    OpFoldResult used = minSigned(l, l.dim(x, 1), l.fold(length));
    if (!isKnownEmpty({used, rows})) {
      Dims part{rows, used};
      Value numbers =
          mapSpace(l, {{sliceOf(l, x, {l.fold(0), l.fold(0)}, part), {0, 1}}},
                   part, f32, [&](ScalarBuilder &s, ArrayRef<Value> e) {
                     return s.cast(e[0], f32);
                   });
      result = l.insert(numbers, result, {l.fold(0), l.fold(offset)}, part);
    }
    offset += length;
  }
  l.setResult(result);
  return success();
}

void loopc::addLinearModelRows(LoweringTable &table) {
  constexpr llvm::StringLiteral domain = "ai.onnx.ml";
  table.add({
      {domain, "LinearRegressor", 1, kLatest, lowerLinearRegressor},
      {domain, "LinearClassifier", 1, kLatest, lowerLinearClassifier},
      {domain, "Normalizer", 1, kLatest, lowerNormalizer},
      {domain, "Imputer", 1, kLatest, lowerImputer},
      {domain, "OneHotEncoder", 1, kLatest, lowerOneHotEncoder},
      {domain, "FeatureVectorizer", 1, kLatest, lowerFeatureVectorizer},
  });
}
