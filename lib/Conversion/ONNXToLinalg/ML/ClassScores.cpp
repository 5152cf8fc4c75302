//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ClassScores.h"
#include "loopc/Support/ConstantElements.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace loopc;

/// Bytes of a table up to which it is written where it is used.
static constexpr int64_t kInlineBytes = 1024;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

SmallVector<double> loopc::numbersOf(DenseElementsAttr tensor) {
  SmallVector<double> result;
  result.reserve(tensor.getNumElements());
  if (tensor.getElementType().isF32()) {
    llvm::append_range(result, tensor.getValues<float>());
  } else if (tensor.getElementType().isF64()) {
    llvm::append_range(result, tensor.getValues<double>());
  } else if (isa<IntegerType>(tensor.getElementType())) {
    bool isSigned = !tensor.getElementType().isUnsignedInteger();
    for (const APInt &value : tensor.getValues<APInt>())
      result.push_back(value.roundToDouble(isSigned));
  } else if (isa<FloatType>(tensor.getElementType())) {
    for (APFloat value : tensor.getValues<APFloat>()) {
      bool loses;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &loses);
      result.push_back(value.convertToDouble());
    }
  }
  return result;
}

SmallVector<double> loopc::numbersAttr(NodeLowering &l, StringRef name) {
  if (auto values = l.floatsAttr(name))
    return *values;
  if (DenseElementsAttr tensor =
          getDenseElements(l.attr((name + "_as_tensor").str())))
    return numbersOf(tensor);
  return {};
}

SmallVector<StringRef> loopc::stringsAttr(NodeLowering &l, StringRef name) {
  SmallVector<StringRef> result;
  if (auto strings = dyn_cast_or_null<ArrayAttr>(l.attr(name)))
    for (Attribute value : strings)
      result.push_back(cast<StringAttr>(value).getValue());
  return result;
}

Value loopc::tableOfBytes(NodeLowering &l, Type element, ArrayRef<char> bytes) {
  // There is something to read even where there is nothing.
  SmallVector<char> filler(element.getIntOrFloatBitWidth() / 8, 0);
  if (bytes.empty())
    bytes = filler;
  auto type = RankedTensorType::get(
      {static_cast<int64_t>(bytes.size() / filler.size())}, element);
  TypedAttr value;
  if (static_cast<int64_t>(bytes.size()) <= kInlineBytes)
    value = DenseElementsAttr::getFromRawBuffer(type, bytes);
  else
    value = DenseResourceElementsAttr::get(
        type, "loopc_table",
        HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64));
  return arith::ConstantOp::create(l.b, type, value);
}

Value loopc::floatTable(NodeLowering &l, ArrayRef<double> values, Type type) {
  if (type.isF64())
    return tableOf<double>(l, type, values);
  if (type.isF32())
    return tableOf(
        l, type,
        ArrayRef<float>(SmallVector<float>(values.begin(), values.end())));
  // Of 16 bits: the rounding of the conversion is that of APFloat.
  SmallVector<uint16_t> bits;
  for (double value : values) {
    APFloat number(value);
    bool loses;
    number.convert(cast<FloatType>(type).getFloatSemantics(),
                   APFloat::rmNearestTiesToEven, &loses);
    bits.push_back(number.bitcastToAPInt().getZExtValue());
  }
  return tableOf(l, type, ArrayRef<uint16_t>(bits));
}

Value loopc::integerTable(NodeLowering &l, ArrayRef<int64_t> values) {
  return tableOf(
      l, l.b.getI32Type(),
      ArrayRef<int32_t>(SmallVector<int32_t>(values.begin(), values.end())));
}

FailureOr<Value> loopc::featureRows(NodeLowering &l) {
  if (failed(requireArithmetic(l, 0)))
    return failure();
  Value x = l.in(0);
  if (l.rank(0) == 2)
    return x;
  if (l.rank(0) == 1)
    return reshapeByGroups(l, x, {l.fold(1), l.dim(x, 0)});
  return (void)l.refuse("input 0 has rank " + Twine(l.rank(0)) +
                        ", expected rows of features"),
         failure();
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

FailureOr<ScoreTransform> loopc::readTransform(NodeLowering &l) {
  std::string name = l.stringAttr("post_transform", "NONE");
  auto transform = llvm::StringSwitch<std::optional<ScoreTransform>>(name)
                       .Case("NONE", ScoreTransform::None)
                       .Case("SOFTMAX", ScoreTransform::Softmax)
                       .Case("LOGISTIC", ScoreTransform::Logistic)
                       .Case("SOFTMAX_ZERO", ScoreTransform::SoftmaxZero)
                       .Case("PROBIT", ScoreTransform::Probit)
                       .Default(std::nullopt);
  if (transform)
    return *transform;
  return (void)l.refuse("there is no post_transform '" + Twine(name) + "'"),
         failure();
}

Value loopc::logistic(ScalarBuilder &s, Value x) {
  Value one = s.constant(x.getType(), 1);
  return s.div(one, s.add(one, s.exp(s.neg(x))));
}

/// The quantile of the normal distribution by the approximation of the inverse
/// error function that onnxruntime uses (Winitzki's, with a = 0.147).
static Value probit(ScalarBuilder &s, Value x) {
  Type type = x.getType();
  auto number = [&](double value) { return s.constant(type, value); };
  Value y = s.sub(s.mul(number(2), x), number(1));
  Value isNegative = s.less(y, number(0));
  Value log =
      s.make<math::LogOp>(s.mul(s.sub(number(1), y), s.add(number(1), y)));
  Value v = s.add(number(2 / (M_PI * 0.147)), s.mul(number(0.5), log));
  Value inner = s.sub(s.mul(v, v), s.mul(number(1 / 0.147), log));
  Value root = s.make<math::SqrtOp>(s.sub(s.make<math::SqrtOp>(inner), v));
  return s.mul(number(M_SQRT2), s.select(isNegative, s.neg(root), root));
}

/// exp(x - max) over its sum; zeros stay zeros where `keepsZero`.
static Value softmax(NodeLowering &l, Value scores, bool keepsZero) {
  Type type = getElementTypeOrSelf(scores.getType());
  Dims dims = l.dims(scores);
  Value highest =
      reduceSpace(l, {{scores, {0, 1}}}, dims, {1}, Combiner::Max, type, false,
                  [](ScalarBuilder &, ArrayRef<Value> e) { return e[0]; });
  Value powers = mapSpace(
      l, {{scores, {0, 1}}, {highest, {0}}}, dims, type,
      [&](ScalarBuilder &s, ArrayRef<Value> e) -> Value {
        Value power = s.exp(s.sub(e[0], e[1]));
        if (!keepsZero)
          return power;
        Value isZero = s.lessOrEqual(s.abs(e[0]), s.constant(type, 1e-7));
        return s.select(isZero, s.mul(e[0], s.exp(s.neg(e[1]))), power);
      });
  Value sum =
      reduceSpace(l, {{powers, {0, 1}}}, dims, {1}, Combiner::Sum, type, false,
                  [](ScalarBuilder &, ArrayRef<Value> e) { return e[0]; });
  return mapSpace(
      l, {{powers, {0, 1}}, {sum, {0}}}, dims, type,
      [&](ScalarBuilder &s, ArrayRef<Value> e) { return s.div(e[0], e[1]); });
}

Value loopc::transformScores(NodeLowering &l, Value scores,
                             ScoreTransform transform) {
  if (transform == ScoreTransform::None)
    return scores;
  if (transform == ScoreTransform::Softmax ||
      transform == ScoreTransform::SoftmaxZero)
    return softmax(l, scores, transform == ScoreTransform::SoftmaxZero);
  return mapSpace(l, {{scores, {0, 1}}}, l.dims(scores),
                  getElementTypeOrSelf(scores.getType()),
                  [&](ScalarBuilder &s, ArrayRef<Value> e) {
                    return transform == ScoreTransform::Logistic
                               ? logistic(s, e[0])
                               : probit(s, e[0]);
                  });
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

LogicalResult ClassLabels::read(NodeLowering &l, StringRef integers) {
  numbers = l.intsAttr(integers).value_or(SmallVector<int64_t>{});
  texts = stringsAttr(l, "classlabels_strings");
  if (numbers.empty() == texts.empty())
    return l.refuse("either '" + integers +
                    "' or 'classlabels_strings' must be given");
  count = numbers.size() + texts.size();
  return success();
}

void ClassLabels::setLabels(NodeLowering &l, Value classes) const {
  Type type = l.resultElementType(0);
  Value table =
      texts.empty()
          ? arith::ConstantOp::create(
                l.b, DenseElementsAttr::get(RankedTensorType::get(count, type),
                                            ArrayRef(numbers)))
                .getResult()
          : stringTensor(l.b, texts, count);
  l.setResult(
      0, mapSpace(l, {{classes, {0}}}, l.dims(classes), type,
                  [&](ScalarBuilder &s, ArrayRef<Value> e) -> Value {
                    Value place =
                        s.make<arith::IndexCastOp>(s.b.getIndexType(), e[0]);
                    return tensor::ExtractOp::create(s.b, s.loc, table, place);
                  }));
}

/// `scores` as result 1.
static void setScores(NodeLowering &l, Value scores) {
  Type type = l.resultElementType(1);
  l.setResult(1, mapSpace(l, {{scores, {0, 1}}}, l.dims(scores), type,
                          [&](ScalarBuilder &s, ArrayRef<Value> e) {
                            return s.cast(e[0], type);
                          }));
}

void loopc::setBinaryScores(NodeLowering &l, const ClassLabels &labels,
                            Value scores, double threshold, bool complement,
                            ScoreTransform transform) {
  Type type = getElementTypeOrSelf(scores.getType());
  OpFoldResult rows = l.dim(scores, 0);
  Value flat = reshapeByGroups(l, scores, {rows});
  labels.setLabels(
      l, mapSpace(l, {{flat, {0}}}, {rows}, l.b.getI64Type(),
                  [&](ScalarBuilder &s, ArrayRef<Value> e) {
                    Value isSecond = s.less(s.constant(type, threshold), e[0]);
                    return s.select(isSecond, s.integer(s.b.getI64Type(), 1),
                                    s.integer(s.b.getI64Type(), 0));
                  }));
  Value both =
      mapSpace(l, {{flat, {0}}}, {rows, l.fold(2)}, type,
               [&](ScalarBuilder &s, ArrayRef<Value> e) -> Value {
                 Value column = linalg::IndexOp::create(s.b, s.loc, 1);
                 Value isFirst = s.make<arith::CmpIOp>(
                     arith::CmpIPredicate::eq, column,
                     arith::ConstantIndexOp::create(s.b, s.loc, 0).getResult());
                 Value first =
                     complement && transform != ScoreTransform::Logistic
                         ? s.sub(s.constant(type, 1), e[0])
                         : s.neg(e[0]);
                 return s.select(isFirst, first, e[0]);
               });
  // A softmax of the pair would undo that it is one.
  if (transform == ScoreTransform::Softmax ||
      transform == ScoreTransform::SoftmaxZero)
    transform = ScoreTransform::None;
  setScores(l, transformScores(l, both, transform));
}

void loopc::setClassScores(NodeLowering &l, const ClassLabels &labels,
                           Value scores, ScoreTransform transform) {
  labels.setLabels(l, argExtremum(l, scores, 1, Combiner::Max,
                                  /*isUnsigned=*/false, /*wantsLast=*/false));
  setScores(l, transformScores(l, scores, transform));
}
