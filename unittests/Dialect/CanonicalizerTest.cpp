//===- CanonicalizerTest.cpp - What canonicalization takes ----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Loops of any number of carried values: it is counted how often they are made
// anew, and which patterns are tried.

#include "loopc/Dialect/Loop/Transforms/Canonicalizer.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/Transforms/MergePorts.h"
#include "loopc/Pipelines/Registration.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include "gtest/gtest.h"

using namespace mlir;
using loopc::loop::LoopOp;

namespace {
/// `part` for each of `count` values, with `{k}` for its number and `{n}` for
/// that of the next one in the ring.
std::string each(unsigned count, StringRef part, StringRef between = ", ") {
  std::string text;
  for (unsigned k = 0; k < count; ++k) {
    std::string one = part.str();
    for (auto [name, number] :
         {std::pair<StringRef, unsigned>("{k}", k), {"{n}", (k + 1) % count}})
      for (size_t at; (at = one.find(name)) != std::string::npos;)
        one.replace(at, name.size(), std::to_string(number));
    text += (k ? between.str() : "") + one;
  }
  return text;
}

/// A loop.loop of `count` carried values whose next ones are `yielded`, of
/// which the first `read` are read behind it.
std::string makeLoop(unsigned count, StringRef init, StringRef yielded,
                     unsigned read) {
  return "func.func @f(%m: i64, %x: i64, " + each(count, "%i{k}: i64") +
         ") -> (" + each(read, "i64") +
         ") {\n%true = arith.constant true\n%r:" + std::to_string(count) +
         " = loop.loop (%k : i64, %go : i1) trips(%m : i64) carried(" +
         each(count, "%s{k} = " + init.str() + " : i64") + ") {\n" +
         each(count, "%t{k} = arith.addi %s{k}, %x : i64", "\n") +
         "\nloop.yield while(%true : i1) carried(" + each(count, yielded) +
         " : " + each(count, "i64") + ")\n}\nreturn " + each(read, "%r#{k}") +
         " : " + each(read, "i64") + "\n}\n";
}

/// An scf.for that hands its carried values round, and in whose body as many
/// operations are simplified.
std::string makeRing(unsigned count) {
  std::string types = each(count, "i64");
  return "func.func @f(%lo: index, %hi: index, %st: index, " +
         each(count, "%i{k}: i64") + ") -> (" + types +
         ") {\n%c0 = arith.constant 0 : i64\n%r:" + std::to_string(count) +
         " = scf.for %k = %lo to %hi step %st iter_args(" +
         each(count, "%s{k} = %i{k}") + ") -> (" + types + ") {\n" +
         each(count, "%t{k} = arith.addi %s{k}, %c0 : i64", "\n") +
         "\nscf.yield " + each(count, "%t{n}") + " : " + types +
         "\n}\nreturn " + each(count, "%r#{k}") + " : " + types + "\n}\n";
}

/// `count` branches on one condition, each of which asks it again in both of
/// its regions.
std::string makeBranches(unsigned count) {
  std::string text = "func.func @f(%c: i1, %v0: i64, %x: i64) -> i64 {\n";
  for (unsigned k = 0; k < count; ++k) {
    std::string last = "%v" + std::to_string(k), number = std::to_string(k);
    text += "%v" + std::to_string(k + 1) + " = scf.if %c -> i64 {\n%a" +
            number + " = arith.select %c, " + last + ", %x : i64\n%p" + number +
            " = arith.addi %a" + number + ", %x : i64\nscf.yield %p" + number +
            " : i64\n} else {\n%b" + number + " = arith.select %c, " + last +
            ", %x : i64\n%q" + number + " = arith.muli %b" + number +
            ", %x : i64\nscf.yield %q" + number + " : i64\n}\n";
  }
  return text + "return %v" + std::to_string(count) + " : i64\n}\n";
}

struct LoopCounter : RewriterBase::Listener {
  void notifyOperationInserted(Operation *op,
                               OpBuilder::InsertPoint from) override {
    loops += isa<LoopOp>(op) && !from.isSet();
  }
  unsigned loops = 0;
};

class CanonicalizerTest : public testing::Test {
protected:
  CanonicalizerTest() : context(makeRegistry()) {
    context.disableMultithreading();
    context.loadDialect<loopc::loop::LoopDialect>();
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    loopc::registerAllDialects(registry);
    return registry;
  }

  /// How many loops the patterns of loop.loop make of the one in `text`.
  unsigned countLoopsMade(const std::string &text, unsigned portsLeft) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    RewritePatternSet patterns(&context);
    LoopOp::getCanonicalizationPatterns(patterns, &context);
    LoopCounter counter;
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal().setListener(&counter);
    EXPECT_TRUE(
        succeeded(applyPatternsGreedily(*module, std::move(patterns), config)));
    unsigned ports = 0;
    module->walk([&](LoopOp loop) { ports += loop.getNumCarried(); });
    EXPECT_EQ(ports, portsLeft);
    return counter.loops;
  }

  MLIRContext context;
};

TEST_F(CanonicalizerTest, DropsDeadPortsAtOnce) {
  for (unsigned count : {40, 400})
    EXPECT_EQ(countLoopsMade(makeLoop(count, "%i{k}", "%t{k}", 1), 1), 1u);
}

TEST_F(CanonicalizerTest, CapturesInvariantsAtOnce) {
  // All begin as %x, and change places.
  for (unsigned count : {40, 400})
    EXPECT_EQ(countLoopsMade(makeLoop(count, "%x", "%s{n}", count), 0), 1u);
}

/// Equal ports are found by what they yield, not pair by pair, and the loop is
/// made anew once.
TEST_F(CanonicalizerTest, MergesCarriedValuesAtOnce) {
  uint64_t work[2] = {};
  for (unsigned k : {0, 1}) {
    unsigned count = k == 0 ? 40 : 400;
    auto module = parseSourceString<ModuleOp>(
        makeLoop(count, "%x", "%t{n}", count), &context);
    ASSERT_TRUE(module);
    SmallVector<LoopOp> loops;
    module->walk([&](LoopOp loop) { loops.push_back(loop); });
    ASSERT_EQ(loops.size(), 1u);
    LoopCounter counter;
    IRRewriter rewriter(&context, &counter);
    EXPECT_TRUE(mergeEqualPorts(rewriter, loops[0], work[k]));
    EXPECT_EQ(counter.loops, 1u);
    module->walk([](LoopOp loop) { EXPECT_EQ(loop.getNumCarried(), 1u); });
  }
  EXPECT_GT(work[0], 0u);
  EXPECT_LE(work[1], 11 * work[0]);
}

/// MLIR's patterns that go through all carried values, or all pairs of them,
/// with each change in the body are left out, under the names that this version
/// gives them.
TEST_F(CanonicalizerTest, TriesLinearPatternsOnly) {
  std::string tries;
  context.registerActionHandler(
      [&](llvm::function_ref<void()> transform, const tracing::Action &action) {
        if (isa<ApplyPatternAction>(action)) {
          llvm::raw_string_ostream text(tries);
          action.print(text);
        }
        transform();
      });
  auto module = parseSourceString<ModuleOp>(makeRing(40), &context);
  ASSERT_TRUE(module);
  PassManager manager(&context);
  manager.addPass(loopc::createCanonicalizer());
  ASSERT_TRUE(succeeded(manager.run(*module)));
  auto isTried = [&](const char *name) {
    return tries.find(name) != std::string::npos;
  };
  EXPECT_FALSE(isTried("MakeRegionBranchOpSuccessorInputsDead"));
  EXPECT_FALSE(isTried("RemoveDuplicateSuccessorInputUses"));
  EXPECT_FALSE(isTried("RemoveDeadRegionBranchOpSuccessorInputs"));
  EXPECT_TRUE(isTried("RemoveDeadInputs"));
  EXPECT_TRUE(isTried("ForwardSingleValues"));
  EXPECT_TRUE(isTried("MergeEqualInputs"));
}

/// The condition of a branch is known in it, however many branches there are;
/// MLIR's pattern, which asks all of them for each, is left out.
TEST_F(CanonicalizerTest, KnowsConditionsInBranches) {
  bool isTried = false;
  context.registerActionHandler(
      [&](llvm::function_ref<void()> transform, const tracing::Action &action) {
        if (isa<ApplyPatternAction>(action)) {
          std::string text;
          llvm::raw_string_ostream os(text);
          action.print(os);
          isTried |= text.find("ConditionPropagation") != std::string::npos;
        }
        transform();
      });
  for (unsigned count : {2, 40}) {
    auto module = parseSourceString<ModuleOp>(makeBranches(count), &context);
    ASSERT_TRUE(module);
    PassManager manager(&context);
    manager.addPass(loopc::createCanonicalizer());
    ASSERT_TRUE(succeeded(manager.run(*module)));
    unsigned sums = 0, questions = 0;
    module->walk([&](Operation *op) {
      sums += isa<arith::AddIOp>(op);
      questions += isa<arith::SelectOp>(op);
    });
    EXPECT_EQ(sums, count);
    EXPECT_EQ(questions, 0u);
  }
  EXPECT_FALSE(isTried);
}

/// What is changed is visited again at once, not by another round through
/// everything.
TEST_F(CanonicalizerTest, GoesThroughEverythingOnce) {
  for (unsigned count : {1, 40}) {
    unsigned rounds = 0;
    context.registerActionHandler([&](llvm::function_ref<void()> transform,
                                      const tracing::Action &action) {
      rounds += action.getTag() == "GreedyPatternRewriteIteration";
      transform();
    });
    auto module = parseSourceString<ModuleOp>(makeRing(count), &context);
    ASSERT_TRUE(module);
    PassManager manager(&context);
    manager.addPass(loopc::createCanonicalizer());
    ASSERT_TRUE(succeeded(manager.run(*module)));
    unsigned sums = 0;
    module->walk([&](arith::AddIOp) { ++sums; });
    EXPECT_EQ(sums, 0u);
    EXPECT_EQ(rounds, 1u);
  }
}

/// Code that the last run has left as it was, and nobody has changed since, is
/// not gone through again.
TEST_F(CanonicalizerTest, SkipsWhatIsCanonical) {
  unsigned rounds = 0;
  context.registerActionHandler(
      [&](llvm::function_ref<void()> transform, const tracing::Action &action) {
        rounds += action.getTag() == "GreedyPatternRewriteIteration";
        transform();
      });
  auto module = parseSourceString<ModuleOp>(makeRing(4), &context);
  ASSERT_TRUE(module);
  PassManager manager(&context);
  for (unsigned k = 0; k < 4; ++k)
    manager.addPass(loopc::createCanonicalizer());
  ASSERT_TRUE(succeeded(manager.run(*module)));
  // The second one finds nothing.
  EXPECT_EQ(rounds, 2u);
}

/// Blocks that are not reached go where there are branches.
TEST_F(CanonicalizerTest, DropsUnreachedBlocks) {
  auto module = parseSourceString<ModuleOp>("func.func @f(%x: i64) -> i64 {\n"
                                            "  cf.br ^end(%x : i64)\n"
                                            "^unreached:\n"
                                            "  cf.br ^end(%x : i64)\n"
                                            "^end(%y: i64):\n"
                                            "  return %y : i64\n"
                                            "}\n",
                                            &context);
  ASSERT_TRUE(module);
  PassManager manager(&context);
  manager.addPass(loopc::createCanonicalizer());
  ASSERT_TRUE(succeeded(manager.run(*module)));
  module->walk([](func::FuncOp function) {
    EXPECT_TRUE(function.getBody().hasOneBlock());
  });
}

/// What became dead behind its last visit is gone all the same.
TEST_F(CanonicalizerTest, DropsDeadChains) {
  auto module = parseSourceString<ModuleOp>("func.func @f(%x: i64) -> i64 {\n"
                                            "  %c0 = arith.constant 0 : i64\n"
                                            "  %a = arith.addi %x, %x : i64\n"
                                            "  %b = arith.muli %a, %x : i64\n"
                                            "  %d = arith.muli %b, %c0 : i64\n"
                                            "  %e = arith.addi %d, %x : i64\n"
                                            "  return %e : i64\n"
                                            "}\n",
                                            &context);
  ASSERT_TRUE(module);
  PassManager manager(&context);
  manager.addPass(loopc::createCanonicalizer());
  ASSERT_TRUE(succeeded(manager.run(*module)));
  unsigned left = 0;
  module->walk([&](func::FuncOp function) {
    left = llvm::range_size(function.getBody().front());
  });
  EXPECT_EQ(left, 1u);
}
} // namespace
