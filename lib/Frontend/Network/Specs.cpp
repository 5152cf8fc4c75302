//===- Specs.cpp - What layers of each kind have --------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Frontend/Network/Layer.h"

#include <iterator>

using namespace loopc::network;

//===----------------------------------------------------------------------===//
// Names of enumerators
//===----------------------------------------------------------------------===//

namespace {
struct TypeRow {
  DataType type;
  const char *name;
  int32_t bits;
};
} // namespace

static constexpr TypeRow kTypes[] = {
    {DataType::kFLOAT, "FLOAT", 32},
    {DataType::kHALF, "HALF", 16},
    {DataType::kINT8, "INT8", 8},
    {DataType::kINT32, "INT32", 32},
    {DataType::kBOOL, "BOOL", 8},
    {DataType::kUINT8, "UINT8", 8},
    {DataType::kFP8, "FP8", 8},
    {DataType::kBF16, "BF16", 16},
    {DataType::kINT64, "INT64", 64},
    {DataType::kINT4, "INT4", 4},
    {DataType::kFP4, "FP4", 4},
    {DataType::kE8M0, "E8M0", 8},
    {DataType::kDOUBLE, "DOUBLE", 64},
    {DataType::kINT16, "INT16", 16},
    {DataType::kUINT16, "UINT16", 16},
    {DataType::kUINT32, "UINT32", 32},
    {DataType::kUINT64, "UINT64", 64},
    {DataType::kUINT4, "UINT4", 4},
    {DataType::kINT2, "INT2", 2},
    {DataType::kUINT2, "UINT2", 2},
    {DataType::kFP8_E5M2, "FP8_E5M2", 8},
    {DataType::kFP8_E4M3FNUZ, "FP8_E4M3FNUZ", 8},
    {DataType::kFP8_E5M2FNUZ, "FP8_E5M2FNUZ", 8},
    {DataType::kCOMPLEX64, "COMPLEX64", 64},
    {DataType::kCOMPLEX128, "COMPLEX128", 128},
    {DataType::kSTRING, "STRING", 0},
};

const char *loopc::network::getName(DataType type) {
  for (const TypeRow &row : kTypes)
    if (row.type == type)
      return row.name;
  return nullptr;
}

int32_t loopc::network::getBits(DataType type) {
  for (const TypeRow &row : kTypes)
    if (row.type == type)
      return row.bits;
  return 0;
}

static const char *typeName(int64_t value) {
  return getName(static_cast<DataType>(value));
}

/// The name of enumerator `value` of the enumeration that lists `kNames`; null
/// where it has none.
template <const auto &kNames> static const char *nameOf(int64_t value) {
  if (value < 0 || value >= static_cast<int64_t>(std::size(kNames)))
    return nullptr;
  return kNames[value];
}

using Names = const char *const[];
static constexpr Names kElementWise = {
    "SUM",       "PROD", "MAX", "MIN", "SUB",   "DIV",     "POW",
    "FLOOR_DIV", "AND",  "OR",  "XOR", "EQUAL", "GREATER", "LESS"};
static constexpr Names kUnary = {"EXP",   "LOG",   "SQRT",  "RECIP", "ABS",
                                 "NEG",   "SIN",   "COS",   "TAN",   "SINH",
                                 "COSH",  "ASIN",  "ACOS",  "ATAN",  "ASINH",
                                 "ACOSH", "ATANH", "CEIL",  "FLOOR", "ERF",
                                 "NOT",   "SIGN",  "ROUND", "ISINF", "ISNAN"};
static constexpr Names kActivation = {
    "RELU",        "SIGMOID",          "TANH",     "LEAKY_RELU", "ELU",
    "SELU",        "SOFTSIGN",         "SOFTPLUS", "CLIP",       "HARD_SIGMOID",
    "SCALED_TANH", "THRESHOLDED_RELU", "GELU_ERF", "GELU_TANH"};
static constexpr Names kMatrix = {"NONE", "TRANSPOSE", "VECTOR"};
static constexpr Names kReduce = {"SUM", "PROD", "MAX", "MIN", "AVG"};
static constexpr Names kSample = {"STRICT_BOUNDS", "WRAP", "CLAMP", "FILL",
                                  "REFLECT"};
static constexpr Names kGather = {"DEFAULT", "ELEMENT", "ND"};
static constexpr Names kScatter = {"ELEMENT", "ND"};
static constexpr Names kTopK = {"MAX", "MIN"};
static constexpr Names kFill = {"LINSPACE", "RANDOM_UNIFORM", "RANDOM_NORMAL"};
static constexpr Names kPooling = {"MAX", "AVERAGE", "MAX_AVERAGE_BLEND"};
static constexpr Names kPadding = {"EXPLICIT_ROUND_DOWN", "EXPLICIT_ROUND_UP",
                                   "SAME_UPPER", "SAME_LOWER"};
static constexpr Names kCumulative = {"SUM"};
static constexpr Names kLoopOutput = {"LAST_VALUE", "CONCATENATE", "REVERSE"};
static constexpr Names kTripLimit = {"COUNT", "WHILE"};

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// Values without a default.
static AttributeSpec ints(const char *name) {
  return {name, std::vector<int64_t>(), false};
}
static AttributeSpec weights(const char *name) {
  return {name, Constant(), false};
}
static AttributeSpec number(const char *name) { return {name, 0.0, false}; }
static AttributeSpec text(const char *name) {
  return {name, std::string(), false};
}
/// Values with one.
static AttributeSpec integer(const char *name, int64_t initial) {
  return {name, initial};
}
template <const auto &kNames>
static AttributeSpec choice(const char *name, int64_t initial = 0) {
  return {name, initial, true, &nameOf<kNames>};
}
static AttributeSpec type(const char *name, DataType initial) {
  return {name, static_cast<int64_t>(initial), true, &typeName};
}

static std::vector<LayerSpec> makeSpecs() {
  using L = LayerType;
  std::vector<AttributeSpec> convolution = {integer("nb_output_maps", 0),
                                            ints("kernel_size"),
                                            ints("stride"),
                                            ints("pre_padding"),
                                            ints("post_padding"),
                                            choice<kPadding>("padding_mode"),
                                            ints("dilation"),
                                            integer("nb_groups", 1),
                                            weights("kernel"),
                                            weights("bias")};
  return {
      {L::kCONSTANT, "Constant", 0, 0, {weights("value")}},
      {L::kELEMENTWISE,
       "ElementWise",
       2,
       2,
       {choice<kElementWise>("operation")}},
      {L::kUNARY, "Unary", 1, 1, {choice<kUnary>("operation")}},
      {L::kACTIVATION,
       "Activation",
       1,
       1,
       {choice<kActivation>("type"), number("alpha"), number("beta")}},
      {L::kMATRIX_MULTIPLY,
       "MatrixMultiply",
       2,
       2,
       {choice<kMatrix>("op0"), choice<kMatrix>("op1")}},
      {L::kCONVOLUTION, "Convolution", 1, 3, convolution},
      {L::kDECONVOLUTION, "Deconvolution", 1, 3, convolution},
      {L::kPOOLING,
       "Pooling",
       1,
       1,
       {choice<kPooling>("type"),
        ints("window_size"),
        ints("stride"),
        ints("pre_padding"),
        ints("post_padding"),
        choice<kPadding>("padding_mode"),
        {"blend_factor", 0.0},
        integer("average_count_excludes_padding", 1)}},
      {L::kREDUCE,
       "Reduce",
       1,
       1,
       {choice<kReduce>("operation"), integer("axes", 0),
        integer("keep_dimensions", 0)}},
      {L::kSHUFFLE,
       "Shuffle",
       1,
       2,
       {ints("first_transpose"), ints("reshape_dimensions"),
        ints("second_transpose"), integer("zero_is_placeholder", 1)}},
      {L::kSLICE,
       "Slice",
       1,
       6,
       {ints("start"), ints("size"), ints("stride"), choice<kSample>("mode"),
        ints("axes")}},
      {L::kCONCATENATION,
       "Concatenation",
       1,
       -1,
       {{"axis", int64_t(0), false}}},
      {L::kGATHER,
       "Gather",
       2,
       2,
       {integer("axis", 0), integer("nb_elementwise_dims", 0),
        choice<kGather>("mode")}},
      {L::kSELECT, "Select", 3, 3, {}},
      {L::kSHAPE, "Shape", 1, 1, {}},
      {L::kIDENTITY, "Identity", 1, 1, {}},
      {L::kCAST, "Cast", 1, 1, {type("to_type", DataType::kFLOAT)}},
      {L::kSOFTMAX, "SoftMax", 1, 1, {{"axes", int64_t(0), false}}},
      {L::kTOPK,
       "TopK",
       1,
       2,
       {choice<kTopK>("operation"), integer("k", 1), integer("axes", 0),
        type("indices_type", DataType::kINT32)}},
      {L::kFILL,
       "Fill",
       0,
       3,
       {choice<kFill>("operation"),
        ints("dimensions"),
        {"alpha", 0.0},
        {"beta", 1.0},
        type("to_type", DataType::kFLOAT)}},
      {L::kSCATTER,
       "Scatter",
       3,
       3,
       {choice<kScatter>("mode"), integer("axis", 0)}},
      {L::kNORMALIZATION,
       "Normalization",
       3,
       3,
       {integer("axes", 0), {"epsilon", 1e-5}, integer("nb_groups", 1)}},
      {L::kEINSUM, "Einsum", 1, -1, {text("equation")}},
      {L::kONE_HOT, "OneHot", 3, 3, {integer("axis", -1)}},
      {L::kNON_ZERO, "NonZero", 1, 1, {type("indices_type", DataType::kINT32)}},
      {L::kPARAMETRIC_RELU, "ParametricReLU", 2, 2, {}},
      {L::kSQUEEZE, "Squeeze", 2, 2, {}},
      {L::kUNSQUEEZE, "Unsqueeze", 2, 2, {}},
      {L::kCUMULATIVE,
       "Cumulative",
       2,
       2,
       {choice<kCumulative>("operation"), integer("exclusive", 0),
        integer("reverse", 0)}},
      {L::kREVERSE_SEQUENCE,
       "ReverseSequence",
       2,
       2,
       {integer("batch_axis", 1), integer("sequence_axis", 0)}},
      {L::kASSERTION, "Assertion", 1, 1, {text("message")}},
      {L::kNODE, "Node", 0, -1, {text("op_type")}},
      {L::kTRIP_LIMIT, "TripLimit", 1, 1, {choice<kTripLimit>("limit")}},
      {L::kITERATOR,
       "Iterator",
       1,
       1,
       {integer("axis", 0), integer("reverse", 0)}},
      {L::kRECURRENCE, "Recurrence", 1, 2, {}},
      {L::kLOOP_OUTPUT,
       "LoopOutput",
       1,
       2,
       {choice<kLoopOutput>("output"), integer("axis", 0)}},
      {L::kCONDITION, "Condition", 1, 1, {}},
      {L::kCONDITIONAL_INPUT, "ConditionalInput", 1, 1, {}},
      {L::kCONDITIONAL_OUTPUT, "ConditionalOutput", 2, 2, {}},
  };
}

static const std::vector<LayerSpec> &getSpecs() {
  static const std::vector<LayerSpec> specs = makeSpecs();
  return specs;
}

const LayerSpec *loopc::network::getLayerSpec(LayerType type) {
  for (const LayerSpec &spec : getSpecs())
    if (spec.type == type)
      return &spec;
  return nullptr;
}

const LayerSpec *loopc::network::findLayerSpec(std::string_view name) {
  for (const LayerSpec &spec : getSpecs())
    if (spec.name == name)
      return &spec;
  return nullptr;
}

const char *loopc::network::getName(LayerType type) {
  const LayerSpec *spec = getLayerSpec(type);
  return spec ? spec->name : nullptr;
}
