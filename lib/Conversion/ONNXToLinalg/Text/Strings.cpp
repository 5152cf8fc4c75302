//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Strings: constants, comparison, Cast, StringConcat, RegexFullMatch.

#include "Framework/ElementwiseUtils.h"
#include "Framework/StringUtils.h"
#include "loopc/Support/Regex.h"

using namespace mlir;
using namespace loopc;

//===----------------------------------------------------------------------===//
// Building blocks
//===----------------------------------------------------------------------===//

Value loopc::callRuntime(OpBuilder &b, Location loc, StringRef callee,
                         ValueRange arguments, Type result, StringRef where) {
  return rt::CallOp::create(b, loc, result, b.getStringAttr(callee), arguments,
                            where.empty() ? StringAttr()
                                          : b.getStringAttr(where));
}

/// The address of a constant of rank 1.
template <typename T>
static Value constantData(ImplicitLocOpBuilder &b, ArrayRef<T> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    b.getIntegerType(8 * sizeof(T)));
  Value constant =
      arith::ConstantOp::create(b, DenseElementsAttr::get(type, values));
  return rt::AddressOfOp::create(b, b.getI64Type(), constant);
}

Value loopc::constantBytes(ImplicitLocOpBuilder &b, ArrayRef<int8_t> bytes) {
  // There is an address even where there are no bytes.
  int8_t none = 0;
  return constantData(b, bytes.empty() ? ArrayRef(none) : bytes);
}

Value loopc::constantWords(ImplicitLocOpBuilder &b, ArrayRef<int32_t> words) {
  return constantData(b, words);
}

Value loopc::constantIntegers(ImplicitLocOpBuilder &b,
                              ArrayRef<int64_t> values) {
  return constantData(b, values);
}

static ArrayRef<int8_t> bytesOf(StringRef text) {
  return {reinterpret_cast<const int8_t *>(text.data()), text.size()};
}

Value loopc::stringLiteral(ImplicitLocOpBuilder &b, StringRef text) {
  Value bytes = arith::ConstantIntOp::create(b, b.getI64Type(), text.size());
  return rt::StringOp::create(b, getStringType(b.getContext()),
                              constantBytes(b, bytesOf(text)), bytes);
}

/// All texts in one, and where each begins; the last offset is the end.
static SmallVector<int64_t> joinTexts(ArrayRef<StringRef> texts,
                                      SmallVectorImpl<int8_t> &all) {
  SmallVector<int64_t> offsets = {0};
  for (StringRef text : texts) {
    llvm::append_range(all, bytesOf(text));
    offsets.push_back(all.size());
  }
  return offsets;
}

Value loopc::stringTensor(ImplicitLocOpBuilder &b, ArrayRef<StringRef> texts,
                          ArrayRef<int64_t> shape) {
  SmallVector<int8_t> all;
  SmallVector<int64_t> begins = joinTexts(texts, all), sizes;
  begins.pop_back();
  for (StringRef text : texts)
    sizes.push_back(text.size());
  Value address = constantBytes(b, all);
  auto integers = [&](ArrayRef<int64_t> values) -> Value {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(RankedTensorType::get(shape, b.getI64Type()),
                                  values));
  };
  Value init = tensor::EmptyOp::create(b, shape, getStringType(b.getContext()));
  SmallVector<AffineMap> maps(3, b.getMultiDimIdentityMap(shape.size()));
  SmallVector<utils::IteratorType> iterators(shape.size(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, init.getType(), ValueRange{integers(begins), integers(sizes)},
             init, maps, iterators,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               Value at = arith::AddIOp::create(b, loc, address, args[0]);
               Value string = rt::StringOp::create(
                   b, loc, getStringType(b.getContext()), at, args[1]);
               linalg::YieldOp::create(b, loc, string);
             })
      .getResult(0);
}

SmallVector<Value> loopc::stringTable(ImplicitLocOpBuilder &b,
                                      ArrayRef<StringRef> texts) {
  SmallVector<int8_t> all;
  SmallVector<int64_t> offsets = joinTexts(texts, all);
  Value count = arith::ConstantIntOp::create(b, b.getI64Type(), texts.size());
  return {constantBytes(b, all), constantIntegers(b, offsets), count};
}

Value loopc::equalStrings(OpBuilder &b, Location loc, Value x, Value y) {
  Value order =
      callRuntime(b, loc, "loopc_rt_string_compare", {x, y}, b.getI64Type());
  Value zero = arith::ConstantIntOp::create(b, loc, b.getI64Type(), 0);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, order, zero);
}

Value loopc::stringBytes(OpBuilder &b, Location loc, Value x) {
  Type i64 = b.getI64Type();
  return rt::StringPartsOp::create(b, loc, i64, i64, x).getBytes();
}

/// %c = onnx.constant dense<["a", "b"]> : tensor<2x!onnx.string>
void loopc::lowerStringConstant(onnx::ConstantOp constant) {
  ImplicitLocOpBuilder b(constant.getLoc(), constant);
  auto elements = cast<DenseStringElementsAttr>(constant.getValue());
  SmallVector<StringRef> texts(elements.getValues<StringRef>());
  auto type = cast<ShapedType>(constant.getType());
  if (elements.isSplat() && !texts.empty())
    texts.assign(type.getNumElements(), StringRef(texts.front()));
  Value value = stringTensor(b, texts, type.getShape());
  constant.replaceAllUsesWith(
      UnrealizedConversionCastOp::create(b, Type(constant.getType()), value)
          .getResult(0));
  constant.erase();
}

//===----------------------------------------------------------------------===//
// Cast
//===----------------------------------------------------------------------===//

/// A number's text. Floats are widened to f64, which holds all of them.
static Value textOf(ScalarBuilder &s, Value x, Type from) {
  Type string = getStringType(s.b.getContext());
  auto call = [&](StringRef callee, ValueRange arguments) {
    return callRuntime(s.b, s.loc, callee, arguments, string);
  };
  if (isa<FloatType>(from)) {
    const llvm::fltSemantics &type = cast<FloatType>(from).getFloatSemantics();
    int precision = llvm::APFloat::semanticsPrecision(type);
    int smallest = llvm::APFloat::semanticsMinExponent(type) - precision + 1;
    // From how many digits on NumPy writes an exponent.
    int digits = from.isF64() ? 16 : from.isF16() ? 3 : 6;
    Type i32 = s.b.getI32Type();
    Value wide = convertElement(s, x, from, s.b.getF64Type(), {});
    return call("loopc_rt_string_from_float",
                {wide, s.integer(i32, precision), s.integer(i32, smallest),
                 s.integer(i32, digits)});
  }
  bool isUnsigned = from.isUnsignedInteger();
  Type wide = s.b.getIntegerType(64, /*isSigned=*/false);
  Value value = convertElement(s, x, from,
                               isUnsigned ? wide : Type(s.b.getI64Type()), {});
  return call(isUnsigned ? "loopc_rt_string_from_uint"
                         : "loopc_rt_string_from_int",
              value);
}

/// The number that a text says.
static Value numberOf(ScalarBuilder &s, Value x, Type to, CastOptions options,
                      StringRef where) {
  if (isa<FloatType>(to)) {
    Type f64 = s.b.getF64Type();
    Value wide =
        callRuntime(s.b, s.loc, "loopc_rt_string_to_float", x, f64, where);
    return convertElement(s, wide, f64, to, options);
  }
  bool isUnsigned = to.isUnsignedInteger();
  Type wideUnsigned = s.b.getIntegerType(64, /*isSigned=*/false);
  Value wide = callRuntime(s.b, s.loc,
                           isUnsigned ? "loopc_rt_string_to_uint"
                                      : "loopc_rt_string_to_int",
                           x, s.b.getI64Type(), where);
  return convertElement(
      s, wide, isUnsigned ? wideUnsigned : Type(s.b.getI64Type()), to, options);
}

LogicalResult loopc::castStrings(NodeLowering &l, CastOptions options) {
  Type from = l.declaredType(0), to = l.declaredResultType();
  if (from == to) {
    l.setResult(l.in(0));
    return success();
  }
  bool fromString = isa<onnx::StringType>(from);
  Type number = fromString ? to : from;
  if (!isa<FloatType, IntegerType>(number)) {
    std::string name;
    llvm::raw_string_ostream(name) << number;
    return l.unsupported("conversion between strings and " + name +
                         " is not supported");
  }
  bool isBool = number.isInteger(1);
  // Constants of texts are made outside.
  Value yes, no;
  if (isBool && !fromString) {
    yes = stringLiteral(l.b, "True");
    no = stringLiteral(l.b, "False");
  }
  std::string where = l.path();
  l.setResult(l.elementwise(
      l.in(0), l.resultElementType(),
      [&](OpBuilder &b, Location loc, ValueRange elements) -> Value {
        ScalarBuilder s(b, loc);
        Value x = elements[0];
        if (isBool && fromString)
          return s.notEqual(stringBytes(b, loc, x),
                            s.integer(b.getI64Type(), 0));
        if (isBool)
          return arith::SelectOp::create(b, loc, x, yes, no);
        return fromString ? numberOf(s, x, to, options, where)
                          : textOf(s, x, from);
      }));
  return success();
}

//===----------------------------------------------------------------------===//
// StringConcat and RegexFullMatch
//===----------------------------------------------------------------------===//

static LogicalResult lowerStringConcat(NodeLowering &l) {
  Type string = l.resultElementType();
  l.setResult(l.elementwise({l.in(0), l.in(1)}, string,
                            [&](OpBuilder &b, Location loc, ValueRange e) {
                              return callRuntime(
                                  b, loc, "loopc_rt_string_concat", e, string);
                            }));
  return success();
}

static LogicalResult lowerRegexFullMatch(NodeLowering &l) {
  std::string error;
  std::optional<SmallVector<uint32_t>> program =
      compileRegex(l.stringAttr("pattern"), error);
  if (!program)
    return l.unsupported("'pattern': " + error);
  Value address =
      constantWords(l.b, {reinterpret_cast<const int32_t *>(program->data()),
                          program->size()});
  l.setResult(l.elementwise(
      l.in(0), l.b.getI1Type(),
      [&](OpBuilder &b, Location loc, ValueRange e) -> Value {
        ScalarBuilder s(b, loc);
        Value matches = callRuntime(b, loc, "loopc_rt_regex_full_match",
                                    {e[0], address}, b.getI32Type());
        return s.notEqual(matches, s.integer(b.getI32Type(), 0));
      }));
  return success();
}

void loopc::addStringRows(LoweringTable &table) {
  table.add({
      {"", "StringConcat", 20, kLatest, lowerStringConcat},
      {"", "RegexFullMatch", 20, kLatest, lowerRegexFullMatch},
  });
}
