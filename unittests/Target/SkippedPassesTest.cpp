//===- SkippedPassesTest.cpp - Which of LLVM's passes run -----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Passes that do not end in reasonable time run on small code alone.

#include "Target/LLVMPasses.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"

#include "gtest/gtest.h"

#include <map>

using namespace llvm;

namespace {

/// The runs of each pass of LLVM's O3 over `text`.
std::map<std::string, unsigned> countRuns(const std::string &text) {
  LLVMContext context;
  SMDiagnostic problem;
  std::unique_ptr<Module> module = parseAssemblyString(text, problem, context);
  EXPECT_TRUE(module) << problem.getMessage().str();
  std::map<std::string, unsigned> runs;
  if (!module)
    return runs;
  PassInstrumentationCallbacks callbacks;
  loopc::skipSlowPasses(callbacks);
  callbacks.registerBeforeNonSkippedPassCallback(
      [&](StringRef pass, const Any &) { ++runs[pass.str()]; });
  PipelineTuningOptions tuning;
  tuning.SLPVectorization = true;
  PassBuilder builder(nullptr, tuning, std::nullopt, &callbacks);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager cgscc;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(cgscc);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, cgscc, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3)
      .run(*module, modules);
  return runs;
}

/// A loop of `count` numbers, each the sum of the two before.
std::string sumNumbers(unsigned count) {
  std::string text = "declare void @use(i64)\n"
                     "define void @f(i64 %m) {\n  br label %loop\nloop:\n"
                     "  %n0 = phi i64 [0, %0], [%next, %loop]\n"
                     "  %n1 = add i64 %n0, %n0\n";
  for (unsigned k = 2; k < count; ++k)
    text += "  %n" + std::to_string(k) + " = add i64 %n" +
            std::to_string(k - 1) + ", %n" + std::to_string(k - 2) + "\n";
  return text + "  call void @use(i64 %n" + std::to_string(count - 1) +
         ")\n  %next = add i64 %n0, 1\n  %more = icmp slt i64 %next, %m\n"
         "  br i1 %more, label %loop, label %end\nend:\n  ret void\n}\n";
}

/// A block of `count` remainders, one of which has to be zero.
std::string compareRemainders(unsigned count) {
  std::string text = "define i1 @f(i64 %i) {\n  %any0 = icmp eq i64 %i, 0\n";
  for (unsigned k = 1; k <= count; ++k) {
    std::string n = std::to_string(k), last = std::to_string(k - 1);
    text += "  %rest" + n + " = srem i64 %i, " + std::to_string(k + 100) +
            "\n  %is" + n + " = icmp eq i64 %rest" + n + ", 7\n  %any" + n +
            " = or i1 %any" + last + ", %is" + n + "\n";
  }
  return text + "  ret i1 %any" + std::to_string(count) + "\n}\n";
}

TEST(SkippedPasses, ConstantsArePropagatedOnFewPaths) {
  auto few = countRuns(sumNumbers(8));
  EXPECT_GT(few["IPSCCPPass"], 0u);
  EXPECT_GT(few["SCCPPass"], 0u);
  // 1.6^60 visits otherwise.
  auto many = countRuns(sumNumbers(60));
  EXPECT_EQ(many["IPSCCPPass"], 0u);
  EXPECT_GT(many["InstCombinePass"], 0u);
}

TEST(SkippedPasses, LanesAreSoughtInSmallBlocks) {
  EXPECT_GT(countRuns(compareRemainders(20))["SLPVectorizerPass"], 0u);
  auto many = countRuns(compareRemainders(120));
  EXPECT_EQ(many["SLPVectorizerPass"], 0u);
  EXPECT_GT(many["LoopVectorizePass"], 0u);
}
} // namespace
