//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The operators of ai.onnx.ml that read and make maps. A map is two tensors,
// its keys and its values (Maps.cpp): DictVectorizer and CastMap have two
// inputs here, and ZipMap has two outputs.

#include "ContribOperators.h"
#include "loopc/Dialect/ONNX/IR/ONNX.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace mlir;
using namespace loopc::importer;
namespace pb = ::onnx;

static constexpr StringLiteral kNoMap =
    "maps are inputs of the model, which DictVectorizer and CastMap read, and "
    "outputs of the model, which ZipMap makes";

static bool isText(const ContribCall &call, unsigned input) {
  return isa_and_nonnull<loopc::onnx::StringType>(call.getElementType(input));
}

static std::string listOf(ArrayRef<int64_t> values) {
  return "[" +
         llvm::join(llvm::map_range(
                        values, [](int64_t k) { return std::to_string(k); }),
                    ", ") +
         "]";
}

/// all: `size` times `filler`, and the values at their places.
static std::string writeScatter(StringRef filler, int64_t size) {
  return filler.str() +
         llvm::formatv(
             "all = ScatterElements(Expand(filler, [{0}]), place, values)\n",
             size)
             .str();
}

/// The values of the keys of a vocabulary, in its order.
static std::string writeDictVectorizer(const ContribCall &call) {
  if (!call.has(1))
    return call.refuse(kNoMap);
  bool hasTexts = isText(call, 0);
  StringRef name = hasTexts ? "string_vocabulary" : "int64_vocabulary";
  const pb::AttributeProto *given = call.getAttr(name);
  int64_t size = !given     ? 0
                 : hasTexts ? given->strings_size()
                            : given->ints_size();
  if (size == 0)
    return call.refuse("the attribute '" + name +
                       "' for keys of this type is missing or empty");
  // A key that is there twice has the place of the first.
  std::map<StringRef, int64_t> texts;
  std::map<int64_t, int64_t> numbers;
  SmallVector<int64_t> places;
  for (int64_t k = 0; k < size; ++k)
    places.push_back(
        hasTexts ? texts.try_emplace(given->strings(k), k).first->second
                 : numbers.try_emplace(given->ints(k), k).first->second);
  std::string list = listOf(places);
  return llvm::formatv("place = ai.onnx.ml.LabelEncoder<{0} = @{1}, "
                       "values_int64s = {2}, default_int64 = {3}>(keys)\n",
                       hasTexts ? "keys_strings: strings" : "keys_int64s: ints",
                       name, list, size)
             .str() +
         writeScatter(isText(call, 1)
                          ? "filler = Constant<value_string = \"\">()\n"
                          : "filler = CastLike(0, values)\n",
                      size + 1) +
         "which = Constant<value_ints = " + list +
         ">()\n"
         "Y = Unsqueeze(Gather(all, which), [0])\n";
}

/// The values in the order of the keys, or each at the place that its key is.
static std::string writeCastMap(const ContribCall &call) {
  if (!call.has(1))
    return call.refuse(kNoMap);
  if (isText(call, 0))
    return call.refuse("keys that are texts");
  StringRef type = call.getString("cast_to"), form = call.getString("map_form");
  bool toText = type == "TO_STRING", toInt = type == "TO_INT64";
  if (!toText && !toInt && !type.empty() && type != "TO_FLOAT")
    return call.refuse("the type '" + type + "'");
  std::string text = llvm::formatv("values = Cast<to = {0}>(X)\n", toText  ? 8
                                                                   : toInt ? 7
                                                                           : 1);
  if (form.empty() || form == "DENSE")
    return text +
           "sorted, order = TopK<axis = 0, largest = 0>(keys, Shape(keys))\n"
           "row = Gather(values, order)\n"
           "Y = Unsqueeze(row, [0])\n";
  int64_t size = call.getInt("max_map", 1);
  if (form != "SPARSE" || size < 0 ||
      size > std::numeric_limits<int32_t>::max())
    return call.refuse("the form '" + form + "' of " + Twine(size) + " values");
  // Negative keys are no places; those behind the last one are dropped. What
  // texts are filled with is onnxruntime's.
  return text +
         llvm::formatv("place = Where(keys < 0, {1}, Min(keys, {0}))\n", size,
                       -size - 2)
             .str() +
         writeScatter(toText  ? "filler = Constant<value_string = \"0.f\">()\n"
                      : toInt ? "filler = Constant<value_int = 0>()\n"
                              : "filler = Constant<value_float = 0.0>()\n",
                      size + 1) +
         llvm::formatv("row = Slice(all, [0], [{0}])\n"
                       "Y = Unsqueeze(row, [0])\n",
                       size)
             .str();
}

/// A map for each row, from the labels of classes to their scores.
static std::string writeZipMap(const ContribCall &call) {
  if (!call.wants(1))
    return call.refuse(kNoMap);
  const pb::AttributeProto *texts = call.getAttr("classlabels_strings");
  const pb::AttributeProto *numbers = call.getAttr("classlabels_int64s");
  int64_t numTexts = texts ? texts->strings_size() : 0;
  int64_t numNumbers = numbers ? numbers->ints_size() : 0;
  if ((numTexts == 0) == (numNumbers == 0))
    return call.refuse("either 'classlabels_int64s' or 'classlabels_strings' "
                       "must be given");
  return std::string(numTexts ? "keys = Constant<value_strings: strings = "
                                "@classlabels_strings>()\n"
                              : "keys = Constant<value_ints: ints = "
                                "@classlabels_int64s>()\n") +
         writeRows(call, "X", "values", numTexts + numNumbers);
}

ArrayRef<ContribOperator> loopc::importer::getContribMaps() {
  static const ContribOperator operators[] = {
      {"ai.onnx.ml", "DictVectorizer", "int64_vocabulary, string_vocabulary",
       "keys, values", "Y", writeDictVectorizer},
      {"ai.onnx.ml", "CastMap", "cast_to, map_form, max_map", "keys, X", "Y",
       writeCastMap},
      {"ai.onnx.ml", "ZipMap", "classlabels_int64s, classlabels_strings", "X",
       "keys, values", writeZipMap},
  };
  return operators;
}
