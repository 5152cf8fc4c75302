//===- CostTest.cpp - The cost model --------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Nest/Analysis/Cost.h"
#include "loopc/Pipelines/Registration.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace loopc;

namespace {
class CostTest : public ::testing::Test {
protected:
  CostTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
  }

  /// The work of the first loop in a function of `body`.
  Work estimate(StringRef body, WorkRules rules = WorkRules()) {
    std::string text =
        "func.func @f(%x: memref<?xf32>, %n: index, %c: f32) {\n"
        "%0 = arith.constant 0 : index\n%1 = arith.constant 1 : index\n"
        "%4 = arith.constant 4 : index\n%1000 = arith.constant 1000 : index\n" +
        body.str() + "\nreturn\n}\n";
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module) {
      ADD_FAILURE() << "not parsed:\n" << text;
      return {};
    }
    scf::ForOp nest;
    module->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      nest = loop;
      return WalkResult::interrupt();
    });
    return WorkEstimate(nest, rules).of(nest);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

const char *const kBody = "%v = memref.load %x[%i] : memref<?xf32>\n"
                          "%w = arith.addf %v, %c : f32\n"
                          "memref.store %w, %x[%i] : memref<?xf32>\n";

std::string loop(StringRef variable, StringRef to, StringRef body) {
  return "scf.for %" + variable.str() + " = %0 to %" + to.str() +
         " step %1 {\n" + body.str() + "}\n";
}
} // namespace

TEST_F(CostTest, CountsTrips) {
  Work work = estimate(loop("i", "1000", kBody));
  EXPECT_TRUE(work.isKnown());
  EXPECT_EQ(work.known, 3000);
  EXPECT_EQ(work.getKnown(100), 100);
}

TEST_F(CostTest, VectorisesLoopsOfScalars) {
  EXPECT_EQ(estimate(loop("i", "1000", kBody), kCpuWork).known, 375);
  // Functions are called for each element.
  std::string body = std::string("%e = math.exp %c : f32\n") + kBody;
  EXPECT_EQ(estimate(loop("i", "1000", body), kCpuWork).known, 11000);
}

// Where the step is no more than a number, there may be any number of trips;
// where it is no less, there are no more than of that step.
TEST_F(CostTest, CountsTripsOfLimitedSteps) {
  auto stepsOf = [&](StringRef limit) {
    return loop("i", "1000",
                "%s = arith." + limit.str() +
                    " %4, %i : index\n"
                    "scf.for %k = %0 to %1000 step %s {\n" +
                    kBody + "}\n");
  };
  WorkRules rules;
  rules.guessedTrips = 300;
  EXPECT_EQ(estimate(stepsOf("minsi"), rules).known, 1000 * (1 + 900));
  EXPECT_EQ(estimate(stepsOf("maxsi"), rules).known, 1000 * (1 + 750));
}

TEST_F(CostTest, CountsJumpsOnDevices) {
  EXPECT_EQ(estimate(loop("i", "1000", kBody), kGpuThreadWork).known, 5000);
}

TEST_F(CostTest, KeepsOpenLoopsApart) {
  Work work = estimate(loop("j", "4", loop("i", "n", kBody)));
  ASSERT_EQ(work.open.size(), 1u);
  EXPECT_FALSE(work.isKnown());
  EXPECT_EQ(work.known, 0);
  // Four times what an iteration takes.
  EXPECT_EQ(work.open[0].iteration.known, 12);
  EXPECT_EQ(work.getTotal(10), 120);
  EXPECT_EQ(work.getKnown(100), std::nullopt);
}

TEST_F(CostTest, GuessesTripsThatTheNestComputes) {
  std::string inner =
      "%m = arith.addi %j, %n : index\n" + loop("i", "m", kBody);
  EXPECT_EQ(estimate(loop("j", "4", inner)).open.size(), 1u);
  WorkRules rules;
  rules.guessedTrips = 8;
  Work work = estimate(loop("j", "4", inner), rules);
  EXPECT_TRUE(work.isKnown());
  EXPECT_EQ(work.known, 4 * (1 + 8 * 3));
}

TEST_F(CostTest, WeighsOperations) {
  EXPECT_EQ(estimate(loop("i", "1000", "%d = arith.divf %c, %c : f32\n")).known,
            8000);
  EXPECT_EQ(estimate(loop("i", "1000", "%d = math.floor %c : f32\n")).known,
            1000);
}

TEST_F(CostTest, KnowsNoLengthOfWhiles) {
  Work work = estimate(loop("i", "4",
                            "%r = scf.while (%a = %i) : (index) -> "
                            "index {\n%g = arith.cmpi slt, %a, %n : "
                            "index\nscf.condition(%g) %a : index\n} "
                            "do {\n^bb0(%a: index):\nscf.yield %a : "
                            "index\n}\n"));
  EXPECT_TRUE(work.isUnbounded);
  EXPECT_EQ(work.getKnown(100), std::nullopt);
}

/// 1,000^200 trips are a number that is limited, and no overflow.
TEST_F(CostTest, SaturatesInDeepNests) {
  std::string text = kBody;
  std::string name = "i";
  for (unsigned k = 0; k < 200; ++k) {
    text = loop(name, "1000", text);
    name = "k" + std::to_string(k);
  }
  EXPECT_EQ(estimate(text).getKnown(int64_t(1) << 40), int64_t(1) << 40);
}
