//===- ValueIOTest.cpp - Values in files and in text ----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/ValueIO/Files.h"
#include "loopc/ValueIO/Make.h"
#include "loopc/ValueIO/Report.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace llvm;
using namespace loopc::io;

namespace {

loopc_type tensorType(uint8_t code, uint8_t bits) {
  loopc_type type = {};
  type.kind = LOOPC_TENSOR;
  type.rank = -1;
  type.dtype = {code, bits, 1};
  return type;
}

/// The value, or an empty one and a failure.
HostValue take(Expected<HostValue> value) {
  if (value)
    return std::move(*value);
  ADD_FAILURE() << toString(value.takeError());
  return {};
}

template <typename T> std::string errorOf(Expected<T> value) {
  return value ? "no error" : toString(value.takeError());
}

std::string show(const HostValue &value) {
  std::string text;
  raw_string_ostream os(text);
  os << describe(value) << " ";
  printElements(value, -1, os);
  return text;
}

std::string npyOf(const HostValue &value) {
  std::string text;
  raw_string_ostream os(text);
  EXPECT_FALSE(bool(writeNpy(value, os)));
  return text;
}

bool areEqual(const HostValue &a, const HostValue &b) {
  std::string text;
  raw_string_ostream os(text);
  return compareValues(a, b, {0, 0}, "v", os);
}

const loopc_type kTypes[] = {tensorType(kDLFloat, 16),
                             tensorType(kDLFloat, 32),
                             tensorType(kDLFloat, 64),
                             tensorType(kDLBfloat, 16),
                             tensorType(kDLInt, 2),
                             tensorType(kDLInt, 4),
                             tensorType(kDLInt, 8),
                             tensorType(kDLInt, 16),
                             tensorType(kDLInt, 32),
                             tensorType(kDLInt, 64),
                             tensorType(kDLUInt, 2),
                             tensorType(kDLUInt, 4),
                             tensorType(kDLUInt, 8),
                             tensorType(kDLUInt, 16),
                             tensorType(kDLUInt, 32),
                             tensorType(kDLUInt, 64),
                             tensorType(kDLBool, 8),
                             tensorType(kDLComplex, 64),
                             tensorType(kDLComplex, 128),
                             tensorType(kDLFloat8_e4m3fn, 8),
                             tensorType(kDLFloat8_e4m3fnuz, 8),
                             tensorType(kDLFloat8_e5m2, 8),
                             tensorType(kDLFloat8_e5m2fnuz, 8),
                             tensorType(kDLFloat8_e8m0fnu, 8),
                             tensorType(kDLFloat4_e2m1fn, 4)};

/// Random values of `type` in shape [3, n].
HostValue randomOf(loopc_type type, int64_t n) {
  loopc_dim dims[] = {{3, nullptr}, {-1, "n"}};
  type.rank = 2;
  type.dims = dims;
  Random random(type.dtype.bits + n);
  return take(makeRandom(type, random, [&](const loopc_dim &) { return n; }));
}

TEST(ValueIO, EveryTypeThroughEveryFormat) {
  for (const loopc_type &type : kTypes)
    for (int64_t n : {0, 1, 5}) {
      HostValue value = randomOf(type, n);
      EXPECT_EQ(value.bytes.size(), *byteSize(type.dtype, 3 * n));
      HostValue npy = take(readNpy(npyOf(value)));
      resolveRaw(npy, type);
      EXPECT_TRUE(areEqual(value, npy)) << show(value) << show(npy);
      HostValue proto = take(readOnnxValue(writeOnnxValue(value, "v"), type));
      EXPECT_TRUE(areEqual(value, proto)) << show(value) << show(proto);
      ValueViews views;
      views.add(value);
      EXPECT_TRUE(areEqual(value, copyValue(views.data()[0])));
    }
}

TEST(ValueIO, Npz) {
  std::vector<NamedValue> values;
  for (const loopc_type &type : kTypes)
    if (type.dtype.code <= kDLFloat && type.dtype.bits >= 8)
      values.emplace_back(dtypeName(type.dtype), randomOf(type, 4));
  std::string bytes;
  raw_string_ostream os(bytes);
  ASSERT_FALSE(bool(writeNpz(values, os)));
  Expected<std::vector<NamedValue>> read = readNpz(bytes);
  ASSERT_TRUE(bool(read)) << toString(read.takeError());
  ASSERT_EQ(read->size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ((*read)[i].first, values[i].first);
    EXPECT_TRUE(areEqual((*read)[i].second, values[i].second));
  }
}

/// What is cut off or changed somewhere gives an error or a value, no crash.
TEST(ValueIO, DamagedFiles) {
  HostValue value = randomOf(tensorType(kDLFloat, 32), 3);
  std::string npy = npyOf(value), npz;
  raw_string_ostream os(npz);
  ASSERT_FALSE(bool(writeNpz({{"a", value}, {"b", value}}, os)));
  std::string proto = writeOnnxValue(value, "v");
  auto readAll = [&](StringRef bytes) {
    consumeError(readNpy(bytes).takeError());
    consumeError(readNpz(bytes).takeError());
    for (int32_t kind : {LOOPC_TENSOR, LOOPC_SEQUENCE, LOOPC_OPTIONAL}) {
      loopc_type type = tensorType(kDLFloat, 32);
      type.kind = kind;
      consumeError(readOnnxValue(bytes, type).takeError());
    }
  };
  for (const std::string &file : {npy, npz, proto})
    for (size_t i = 0; i < file.size(); ++i) {
      readAll(StringRef(file).take_front(i));
      for (int change : {0xff, 0x80, 0x01}) {
        std::string changed = file;
        changed[i] ^= change;
        readAll(changed);
      }
    }
  EXPECT_NE(errorOf(readNpy(StringRef(npy).drop_back())), "no error");
  EXPECT_NE(errorOf(readNpz(StringRef(npz).drop_back())), "no error");
}

TEST(ValueIO, NpyShapesThatCannotBe) {
  auto withShape = [](StringRef shape) {
    std::string header =
        "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape.str() +
        ", }\n";
    std::string file = "\x93NUMPY\x01";
    file.push_back('\0');
    file.push_back(static_cast<char>(header.size()));
    file.push_back('\0');
    return file + header;
  };
  EXPECT_EQ(errorOf(readNpy(withShape("(0,)"))), "no error");
  EXPECT_NE(errorOf(readNpy(withShape("(-1,)"))), "no error");
  EXPECT_NE(errorOf(readNpy(withShape("(4294967296, 4294967296)"))),
            "no error");
  EXPECT_NE(errorOf(readNpy(withShape("(2305843009213693952,)"))), "no error");
  EXPECT_NE(errorOf(readNpy(withShape("(99999999999999999999,)"))), "no error");
  EXPECT_NE(errorOf(readNpy(withShape("(1"))), "no error");
}

TEST(ValueIO, Strings) {
  loopc_type type = {};
  type.kind = LOOPC_STRINGS;
  HostValue value =
      take(parseLiteral(R"([["a", "gr\u00f6\u00dfer"], ["", "x\"y"]])", type));
  EXPECT_EQ(value.strings[1], "gr\u00f6\u00dfer");
  EXPECT_TRUE(areEqual(value, take(readNpy(npyOf(value)))));
  EXPECT_TRUE(
      areEqual(value, take(readOnnxValue(writeOnnxValue(value, "v"), type))));
  EXPECT_EQ(errorOf(parseLiteral("[a]", type)),
            "strings are written in quotes, got a");
  EXPECT_EQ(errorOf(parseLiteral("\"a", type)), "a string has no end");
}

TEST(ValueIO, Collections) {
  loopc_type ints = tensorType(kDLInt, 64), sequence = {}, optional = {};
  sequence.kind = LOOPC_SEQUENCE;
  sequence.element = &ints;
  optional.kind = LOOPC_OPTIONAL;
  optional.element = &sequence;
  HostValue empty = take(parseLiteral("null", optional));
  EXPECT_EQ(show(empty), "optional(empty) null");
  HostValue value = take(parseLiteral("[[1, 2], 3, []]", optional));
  EXPECT_EQ(show(value), "optional(seq(3 items)) [[1, 2], 3, []]");
  for (const HostValue *one : {&empty, &value}) {
    EXPECT_TRUE(areEqual(
        *one, take(readOnnxValue(writeOnnxValue(*one, "v"), optional))));
    ValueViews views;
    views.add(*one);
    EXPECT_TRUE(areEqual(*one, copyValue(views.data()[0])));
  }
  EXPECT_FALSE(areEqual(empty, value));
  std::string text;
  raw_string_ostream os(text);
  EXPECT_EQ(toString(writeNpy(value, os)),
            "an .npy file cannot hold a sequence or an optional");
}

TEST(ValueIO, LiteralsOfSmallTypes) {
  auto text = [](StringRef literal, uint8_t code, uint8_t bits) {
    Expected<HostValue> value = parseLiteral(literal, tensorType(code, bits));
    return value ? show(*value) : toString(value.takeError());
  };
  EXPECT_EQ(text("[-8, 7, 3]", kDLInt, 4), "int4[3] [-8, 7, 3]");
  EXPECT_EQ(text("[8]", kDLInt, 4), "'8' is no int4");
  EXPECT_EQ(text("[0,1,2,3]", kDLUInt, 2), "uint2[4] [0, 1, 2, 3]");
  EXPECT_EQ(text("-9223372036854775808", kDLInt, 64),
            "int64[] -9223372036854775808");
  EXPECT_EQ(text("9223372036854775808", kDLInt, 64),
            "'9223372036854775808' is no int64");
  EXPECT_EQ(text("99999999999999999999999", kDLUInt, 64),
            "'99999999999999999999999' is no uint64");
  EXPECT_EQ(text("[6, -0.5]", kDLFloat4_e2m1fn, 4),
            "float4_e2m1fn[2] [6, -0.5]");
  EXPECT_EQ(text("nan", kDLFloat4_e2m1fn, 4), "'nan' is no float4_e2m1fn");
  EXPECT_EQ(text("448", kDLFloat8_e4m3fn, 8), "float8_e4m3fn[] 448");
  EXPECT_EQ(text("inf", kDLFloat8_e4m3fn, 8), "'inf' is no float8_e4m3fn");
  EXPECT_EQ(text("1000", kDLFloat8_e4m3fn, 8), "'1000' is no float8_e4m3fn");
  EXPECT_EQ(text("[4, 0.5]", kDLFloat8_e8m0fnu, 8),
            "float8_e8m0fnu[2] [4, 0.5]");
  EXPECT_EQ(text("0", kDLFloat8_e8m0fnu, 8), "'0' is no float8_e8m0fnu");
  EXPECT_EQ(text("-1", kDLFloat8_e8m0fnu, 8), "'-1' is no float8_e8m0fnu");
  EXPECT_EQ(text("70000", kDLFloat, 16), "'70000' is no float16");
  EXPECT_EQ(text("1e39", kDLFloat, 32), "'1e39' is no float32");
  EXPECT_EQ(text("1e999", kDLFloat, 32), "'1e999' is no float32");
  EXPECT_EQ(text("-1e999", kDLFloat, 64), "'-1e999' is no float64");
  EXPECT_EQ(text("[nan, -inf]", kDLFloat, 16), "float16[2] [nan, -inf]");
  EXPECT_EQ(text(std::string(100, '['), kDLFloat, 32),
            "the lists are nested too deeply");
}

TEST(ValueIO, EmptyBracketsAreAbbreviated) {
  HostValue value;
  value.dtype = {kDLFloat, 32, 1};
  value.shape = {100, 2, 0};
  std::string text;
  raw_string_ostream os(text);
  printElements(value, 60, os);
  EXPECT_EQ(text, "[[[], []], [[], []], [[], []], ..., "
                  "[[], []], [[], []], [[], []]]");
}

TEST(ValueIO, Comparison) {
  loopc_type type = tensorType(kDLFloat, 32);
  HostValue a = take(parseLiteral("[1, nan, inf, -inf]", type));
  HostValue b = take(parseLiteral("[1.0005, nan, inf, -inf]", type));
  HostValue c = take(parseLiteral("[1, nan, -inf, 0]", type));
  std::string text;
  raw_string_ostream os(text);
  EXPECT_TRUE(compareValues(a, b, {1e-3, 0}, "v", os));
  EXPECT_FALSE(compareValues(a, b, {1e-4, 0}, "v", os));
  EXPECT_TRUE(compareValues(a, b, {0, 1e-3}, "v", os));
  text.clear();
  EXPECT_FALSE(compareValues(a, c, {1, 1}, "v", os));
  EXPECT_EQ(text, "  v[2]: inf, expected -inf\n  v[3]: -inf, expected 0\n"
                  "  v: 2 of 4 elements differ\n");
  HostValue ints = take(parseLiteral("[1000001]", tensorType(kDLInt, 32)));
  HostValue near = take(parseLiteral("[1000000]", tensorType(kDLInt, 32)));
  EXPECT_FALSE(compareValues(ints, near, {1e-3, 1}, "v", os));
}

TEST(ValueIO, RandomIsTheSameEverywhere) {
  Random random(0);
  EXPECT_EQ(random.next(), 0xe220a8397b1dcdafu);
  EXPECT_EQ(random.next(), 0x6e789e6aa1b965f4u);
}

} // namespace
