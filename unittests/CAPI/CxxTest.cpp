//===- CxxTest.cpp - The C++ wrapper of the C API -------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/loopc.hpp"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <array>

using loopc::Session;
using loopc::Value;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

constexpr std::string_view kAdd = R"(<ir_version: 10, opset_import: ["" : 21]>
add (float[N,3] x, float[3] b) => (float[N,3] y) { y = Add(x, b) })";
constexpr std::string_view kSum = R"(<ir_version: 10, opset_import: ["" : 21]>
sum (int64[2] x, int64[2] old) => (int64[2] new) { new = Add(x, old) })";
constexpr std::string_view kText = R"(<ir_version: 10, opset_import: ["" : 21]>
text (string[N] s) => (string[N] t, bool b) {
  t = Identity(s) b = Constant<value = bool {1}>() })";

constexpr std::string_view kMaps =
    R"(<ir_version: 10, opset_import: ["" : 21, "ai.onnx.ml" : 3]>
maps (float b, map(string, float) x) => (m) {
  features = ai.onnx.ml.DictVectorizer<string_vocabulary = ["u", "v"]>(x)
  sum = Add(features, b)
  m = ai.onnx.ml.ZipMap<classlabels_int64s = [4, 7]>(sum)
})";

std::string messageOf(auto call) {
  try {
    call();
  } catch (const loopc::Error &error) {
    return error.what();
  }
  return "nothing was thrown";
}

} // namespace

TEST(Cxx, Run) {
  Session session = Session::fromBytes(kAdd);
  EXPECT_EQ(session.inputs().size(), 2u);
  EXPECT_STREQ(session.outputs()[0].name, "y");
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  std::vector<Value> outputs =
      session.run({{"b", Value::vector<float>({10, 20, 30})},
                   {"x", Value::view<float>(x, {2, 3})}});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(session.outputIndex("y"), 0u);
  EXPECT_THAT(outputs[0].shape(), ElementsAre(2, 3));
  EXPECT_THAT(outputs[0].as<float>(), ElementsAre(11, 22, 33, 14, 25, 36));
  // The result outlives the session, and moves.
  session = Session::fromBytes(kAdd, loopc::Options().optLevel(1).dim("N", 1));
  Value moved = std::move(outputs[0]);
  EXPECT_EQ(moved.as<float>()[5], 36);
  EXPECT_TRUE(outputs[0].isNone());
}

TEST(Cxx, ElementsOfOtherTypes) {
  Session session = Session::fromBytes(kAdd);
  const std::array<float, 3> x = {1, 2, 3};
  auto feed = [&] { return Value::view<float>(x, {1, 3}); };
  auto outputs =
      session.run({{"x", feed()}, {"b", Value::vector<float>({1, 1, 1})}});
  EXPECT_THAT(messageOf([&] { (void)outputs[0].as<double>(); }),
              HasSubstr("another type"));
  EXPECT_THAT(messageOf([&] { (void)outputs[0].texts(); }),
              HasSubstr("not a tensor of strings"));
  EXPECT_THAT(messageOf([&] { Value::view<float>(x, {2, 3}); }),
              HasSubstr("6 elements was given 3"));
}

TEST(Cxx, States) {
  Session session =
      Session::fromBytes(kSum, loopc::Options().state("old", "new"));
  EXPECT_EQ(session.inputs().size(), 1u);
  EXPECT_TRUE(session.getState("old").isNone());
  for (int k = 0; k < 3; ++k)
    session.run({{"x", Value::vector<int64_t>({1, 2})}});
  EXPECT_THAT(session.getState("old").as<int64_t>(), ElementsAre(3, 6));
  session.setState("old", Value::vector<int64_t>({7, 7}));
  EXPECT_THAT(session.getState("old").as<int64_t>(), ElementsAre(7, 7));
  session.resetStates();
  EXPECT_TRUE(session.getState("old").isNone());
  EXPECT_THAT(messageOf([&] { session.getState("new"); }),
              HasSubstr("no state 'new'; it has: 'old'"));
}

TEST(Cxx, TextsAndBools) {
  Session session = Session::fromBytes(kText);
  std::array<loopc_string, 2> texts = {{{"ab", 2}, {"", 0}}};
  int64_t extent = 2;
  loopc_value raw = {};
  raw.kind = LOOPC_STRINGS;
  raw.as.strings = {texts.data(), &extent, 1};
  auto outputs = session.run({{"s", Value(raw)}});
  EXPECT_THAT(outputs[0].texts(), ElementsAre("ab", ""));
  EXPECT_THAT(outputs[1].as<bool>(), ElementsAre(true));
  EXPECT_TRUE(outputs[1].shape().empty());
}

TEST(Cxx, CompileErrors) {
  try {
    Session session = Session::fromBytes(
        R"(<ir_version: 10, opset_import: ["" : 21]>
           bad (float x) => (float y) { y = NoSuchOperator(x) })");
    FAIL();
  } catch (const loopc::CompileError &error) {
    EXPECT_EQ(error.getStatus(), LOOPC_COMPILE_ERROR_MODEL);
    EXPECT_EQ(error.getCode(), "LC0301");
    EXPECT_THAT(error.what(), HasSubstr("NoSuchOperator"));
  }
  EXPECT_THAT(messageOf([] { Session session("/no/such.onnx"); }),
              HasSubstr("LC0102"));
  EXPECT_THAT(messageOf([] { loopc::Options().optLevel(9); }),
              HasSubstr("level: the value is not valid"));
}

TEST(Cxx, RunErrors) {
  Session session = Session::fromBytes(kAdd);
  EXPECT_THAT(messageOf([&] { session.run({{"z", Value()}}); }),
              HasSubstr("no input 'z'; it has: 'x', 'b'"));
  try {
    session.run({{"b", Value::vector<float>({1})}});
    FAIL();
  } catch (const loopc::RunError &error) {
    EXPECT_EQ(error.getStatus(), LOOPC_ERROR_INPUT);
    EXPECT_THAT(error.what(), HasSubstr("'x'"));
  }
}

TEST(Cxx, Profiles) {
  Session session = Session::fromBytes(kAdd, loopc::Options().profile(true));
  loopc::Profile profile;
  const std::array<float, 3> x = {1, 2, 3};
  for (int k = 0; k < 2; ++k)
    session.run({{"x", Value::view<float>(x, {1, 3})},
                 {"b", Value::vector<float>({1, 1, 1})}},
                profile.runOptions());
  EXPECT_THAT(profile.table(), HasSubstr("2 runs"));
  EXPECT_THROW(profile.write("/no/folder/profile.json"), loopc::CompileError);
}

TEST(Cxx, LibrariesOfOperators) {
  EXPECT_THAT(messageOf([] {
                Session::fromBytes(
                    kAdd, loopc::Options().customOps("/no/library.so"));
              }),
              HasSubstr("/no/library.so"));
}

TEST(Cxx, Maps) {
  Session session = Session::fromBytes(kMaps);
  const loopc_map *maps = session.model().maps;
  ASSERT_NE(maps, nullptr);
  EXPECT_STREQ(maps[0].name, "x");
  EXPECT_EQ(maps[0].is_output, 0);
  EXPECT_EQ(maps[0].is_sequence, 0);
  EXPECT_EQ(maps[0].keys, 1u);
  EXPECT_STREQ(maps[1].name, "m");
  EXPECT_NE(maps[1].is_output, 0);
  EXPECT_NE(maps[1].is_sequence, 0);
  EXPECT_EQ(maps[1].keys, 0u);
  EXPECT_EQ(maps[2].name, nullptr);
  std::array<loopc_string, 2> texts = {{{"v", 1}, {"w", 1}}};
  int64_t extent = 2;
  loopc_value keys = {};
  keys.kind = LOOPC_STRINGS;
  keys.as.strings = {texts.data(), &extent, 1};
  auto outputs = session.run({{"b", Value::scalar(0.5f)},
                              {"x.keys", Value(keys)},
                              {"x.values", Value::vector<float>({3, 9})}});
  EXPECT_THAT(outputs[0].as<int64_t>(), ElementsAre(4, 7));
  EXPECT_THAT(outputs[1].shape(), ElementsAre(1, 2));
  EXPECT_THAT(outputs[1].as<float>(), ElementsAre(0.5f, 3.5f));
  // A model without maps has no list.
  EXPECT_EQ(Session::fromBytes(kAdd).model().maps, nullptr);
}
