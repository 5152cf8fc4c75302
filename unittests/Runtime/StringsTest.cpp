//===- StringsTest.cpp - Work on strings ----------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/CPU/Run.h"
#include "Runtime/CPU/Unicode.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

using namespace loopc::rt;

namespace {

class StringsTest : public testing::Test {
protected:
  ~StringsTest() override { releaseHeap(run); }

  static std::string text(loopc_string s) { return {s.data, s.size}; }
  std::string lower(const std::string &s) {
    return text(loopc_rt_string_lower(&run, s.data(), s.size()));
  }
  std::string upper(const std::string &s) {
    return text(loopc_rt_string_upper(&run, s.data(), s.size()));
  }
  std::string fromDouble(double x) {
    return text(loopc_rt_string_from_float(&run, x, 53, -1074, 16));
  }
  double toDouble(const std::string &s) {
    return loopc_rt_string_to_float(&run, s.data(), s.size(), "node");
  }

  loopc_run run;
};

TEST_F(StringsTest, ComparesBytes) {
  EXPECT_EQ(loopc_rt_string_compare(&run, nullptr, 0, nullptr, 0), 0);
  EXPECT_LT(loopc_rt_string_compare(&run, nullptr, 0, "a", 1), 0);
  EXPECT_GT(loopc_rt_string_compare(&run, "ab", 2, "a", 1), 0);
  EXPECT_LT(loopc_rt_string_compare(&run, "a", 1, "\xc3\xa4", 2), 0);
}

TEST_F(StringsTest, ConcatenatesWithoutCopyingWhatIsWhole) {
  const char *a = "abc";
  EXPECT_EQ(loopc_rt_string_concat(&run, a, 3, nullptr, 0).data, a);
  EXPECT_EQ(loopc_rt_string_concat(&run, nullptr, 0, a, 3).data, a);
  EXPECT_EQ(text(loopc_rt_string_concat(&run, "ab", 2, "c", 1)), "abc");
}

TEST_F(StringsTest, ChangesCaseOfInvalidText) {
  EXPECT_EQ(lower("A\xff"
                  "B\xc3"),
            "a\xff"
            "b\xc3");
  EXPECT_EQ(upper("\xed\xa0\x80z"), "\xed\xa0\x80Z");
}

TEST_F(StringsTest, LowersSigmaByItsPlace) {
  EXPECT_EQ(lower("\u039f\u03a3"), "\u03bf\u03c2");
  EXPECT_EQ(lower("\u03a3\u039f"), "\u03c3\u03bf");
  EXPECT_EQ(lower("\u03a3"), "\u03c3");
  EXPECT_EQ(lower("A\u03a3.B"), "a\u03c3.b");
}

TEST_F(StringsTest, EncodesEveryCharacter) {
  for (uint32_t c = 0; c <= 0x10ffff; ++c) {
    if (c >= 0xd800 && c < 0xe000)
      continue;
    char bytes[4];
    int size = encodeUtf8(c, bytes);
    const char *at = bytes;
    ASSERT_EQ(decodeUtf8(at, bytes + size), c);
    ASSERT_EQ(at, bytes + size);
  }
}

TEST_F(StringsTest, WritesTheShortestNumber) {
  EXPECT_EQ(fromDouble(0.1), "0.1");
  EXPECT_EQ(fromDouble(1), "1.0");
  EXPECT_EQ(fromDouble(-0.0), "-0.0");
  EXPECT_EQ(fromDouble(5e-324), "5e-324");
  EXPECT_EQ(fromDouble(0x1p-44), "5.684341886080802e-14");
  EXPECT_EQ(fromDouble(9007199254740993.0), "9007199254740992.0");
  EXPECT_EQ(fromDouble(1e16), "1e+16");
  EXPECT_EQ(fromDouble(NAN), "nan");
  EXPECT_EQ(fromDouble(-INFINITY), "-inf");
}

TEST_F(StringsTest, ReadsWhatItWrites) {
  for (int exponent = -1074; exponent < 1024; ++exponent)
    for (double factor : {1.0, 1.5, 1.0 + 0x1p-52}) {
      double x = std::ldexp(factor, exponent);
      ASSERT_EQ(toDouble(fromDouble(x)), x);
    }
}

TEST_F(StringsTest, DoesNotDependOnTheLocale) {
  std::string before = setlocale(LC_ALL, nullptr);
  // Where there is none of these, the test says less.
  for (const char *name : {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"})
    if (setlocale(LC_ALL, name))
      break;
  EXPECT_EQ(fromDouble(2.5), "2.5");
  EXPECT_EQ(toDouble("2.5"), 2.5);
  setlocale(LC_ALL, before.c_str());
}

TEST_F(StringsTest, RecordsWhatIsNoNumber) {
  loopc_error error = {};
  run.error = &error;
  EXPECT_EQ(toDouble("1,5"), 0);
  EXPECT_EQ(getStatus(run), LOOPC_ERROR_RUNTIME);
  EXPECT_STREQ(error.message, "node: '1,5' is not a number");
}

TEST_F(StringsTest, FindsInTables) {
  const char *texts = "abbc";
  int64_t offsets[] = {0, 0, 1, 2, 4}; // "", "a", "b", "bc"
  auto find = [&](const char *key, int64_t count) {
    return loopc_rt_string_find(&run, key, static_cast<int64_t>(strlen(key)),
                                reinterpret_cast<int64_t>(texts),
                                reinterpret_cast<int64_t>(offsets), count);
  };
  EXPECT_EQ(find("", 4), 0);
  EXPECT_EQ(find("a", 4), 1);
  EXPECT_EQ(find("bc", 4), 3);
  EXPECT_EQ(find("c", 4), -1);
  EXPECT_EQ(find("", 0), -1);
}

TEST_F(StringsTest, SeedsGiveTheSameStreams) {
  loopc_run other;
  int64_t first = loopc_rt_random_stream(&run, 1, 7);
  EXPECT_EQ(loopc_rt_random_stream(&other, 1, 7), first);
  EXPECT_NE(loopc_rt_random_stream(&run, 1, 7), first);
  EXPECT_NE(loopc_rt_random_stream(&run, 0, 0),
            loopc_rt_random_stream(&other, 0, 0));
}

} // namespace
