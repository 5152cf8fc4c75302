//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Expressions in the bodies of functions.

#include "FunctionText.h"
#include "gtest/gtest.h"

using loopc::importer::expandExpressions;

TEST(FunctionTextTest, NodesStayAsTheyAre) {
  EXPECT_EQ(expandExpressions("a, b = Split<axis = 0>(x)\n"
                              "y = Clip(a, , b)"),
            "a, b = Split<axis = 0>(x)\n"
            "y = Clip(a, , b)\n");
  EXPECT_EQ(expandExpressions("[split] a, b = Split<axis = 0>(Neg(x))"),
            "_0 = Neg(x)\n[split] a, b = Split<axis = 0>(_0)\n");
}

TEST(FunctionTextTest, CallsStandInCalls) {
  EXPECT_EQ(expandExpressions("y = Exp(Neg(x))"), "_0 = Neg(x)\ny = Exp(_0)\n");
  EXPECT_EQ(expandExpressions("y = x"), "y = Identity(x)\n");
}

TEST(FunctionTextTest, OperatorsBindAsInC) {
  EXPECT_EQ(expandExpressions("y = a - b - c * d"), "_0 = Sub(a, b)\n"
                                                    "_1 = Mul(c, d)\n"
                                                    "y = Sub(_0, _1)\n");
  EXPECT_EQ(expandExpressions("y = (a + b) / c"),
            "_0 = Add(a, b)\ny = Div(_0, c)\n");
  EXPECT_EQ(expandExpressions("y = a < b & c >= d | e"),
            "_0 = Less(a, b)\n"
            "_1 = GreaterOrEqual(c, d)\n"
            "_2 = And(_0, _1)\n"
            "y = Or(_2, e)\n");
}

TEST(FunctionTextTest, ConstantsAreWrittenOnce) {
  EXPECT_EQ(expandExpressions("y = Slice(x, [0], [0, -1])\nz = y + [0]"),
            "_0 = Constant<value_ints = [0]>()\n"
            "_1 = Constant<value_ints = [0, -1]>()\n"
            "y = Slice(x, _0, _1)\n"
            "z = Add(y, _0)\n");
  EXPECT_EQ(expandExpressions("y = x * 0.5 - 2"),
            "_0 = Constant<value_float = 0.5>()\n"
            "_1 = Mul(x, _0)\n"
            "_2 = Constant<value_int = 2>()\n"
            "y = Sub(_1, _2)\n");
}

TEST(FunctionTextTest, CastsAndAttributes) {
  EXPECT_EQ(expandExpressions("y = float(x) * @alpha"),
            "_0 = Cast<to = 1>(x)\n"
            "_1 = Constant<value_float: float = @alpha>()\n"
            "y = Mul(_0, _1)\n");
}

TEST(FunctionTextTest, AttributesMayHoldGraphs) {
  // What is made for a graph stands in it; what is around it may be used.
  EXPECT_EQ(expandExpressions("a = x + 1\n"
                              "y = If(c)<then_branch = t () => (z) "
                              "{ z = a + 1 - 2 }, else_branch = e () => (z) "
                              "{ z = a - 2 }>"),
            "_0 = Constant<value_int = 1>()\n"
            "a = Add(x, _0)\n"
            "y = If<then_branch = t () => (z) {\n"
            "_1 = Add(a, _0)\n"
            "_2 = Constant<value_int = 2>()\n"
            "z = Sub(_1, _2)\n"
            "}, else_branch = e () => (z) {\n"
            "_3 = Constant<value_int = 2>()\n"
            "z = Sub(a, _3)\n"
            "}>(c)\n");
  EXPECT_EQ(expandExpressions("y = Expand(Constant<value = float {1}>(), s)\n"
                              "z = Einsum<equation = \"i->i\">(y)"),
            "_0 = Constant<value = float {1}>()\n"
            "y = Expand(_0, s)\n"
            "z = Einsum<equation = \"i->i\">(y)\n");
}

TEST(FunctionTextTest, WhatIsNoExpressionIsLeftToTheParser) {
  EXPECT_EQ(expandExpressions("y = Neg(x)\nz = Add(y, ?)\n"),
            "y = Neg(x)\nz = Add(y, ?)\n");
}
