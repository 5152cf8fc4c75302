//===- OptimizeTest.cpp - LLVM's passes of each level ---------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/LLVMPasses.h"
#include "Target/Machine.h"
#include "Target/Translate.h"

#include "mlir/IR/MLIRContext.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/Support/SourceMgr.h"

#include "gtest/gtest.h"

using namespace llvm;
using namespace loopc;

namespace {

class OptimizeTest : public testing::Test {
protected:
  std::unique_ptr<Module> parse(const std::string &text) {
    SMDiagnostic problem;
    std::unique_ptr<Module> module =
        parseAssemblyString(text, problem, context);
    EXPECT_TRUE(module) << problem.getMessage().str();
    return module;
  }

  Machine createMachine(unsigned level) {
    loopc::TargetOptions options;
    options.triple = "x86_64-linux-gnu";
    options.cpu = "x86-64-v3";
    options.optLevel = level;
    mlir::MLIRContext mlir(mlir::MLIRContext::Threading::DISABLED);
    auto machine = loopc::createMachine(options, mlir::UnknownLoc::get(&mlir));
    EXPECT_TRUE(succeeded(machine));
    return std::move(*machine);
  }

  std::unique_ptr<Module> optimize(const std::string &text, unsigned level) {
    std::unique_ptr<Module> module = parse(text);
    Machine machine = createMachine(level);
    module->setTargetTriple(machine.llvm->getTargetTriple());
    module->setDataLayout(machine.llvm->createDataLayout());
    for (Function &function : *module)
      function.addFnAttr("target-cpu", machine.llvm->getTargetCPU());
    optimizeModule(*module, *machine.llvm, level);
    return module;
  }

  LLVMContext context;
};

size_t countMatching(Module &module,
                     function_ref<bool(const Instruction &)> matches) {
  size_t number = 0;
  for (Function &function : module)
    number += count_if(instructions(function), matches);
  return number;
}

size_t countFused(Module &module) {
  return countMatching(module, [](const Instruction &one) {
    auto *call = dyn_cast<IntrinsicInst>(&one);
    return call && call->getIntrinsicID() == Intrinsic::fmuladd;
  });
}

bool isVectorStore(const Instruction &one) {
  auto *store = dyn_cast<StoreInst>(&one);
  return store && store->getValueOperand()->getType()->isVectorTy();
}

/// A product, of which `rest` makes something.
std::string product(const std::string &rest) {
  return "define float @f(float %x, float %y, float %z, i1 %c) {\n"
         "  %p = fmul contract float %x, %y\n" +
         rest + "}\n";
}

/// Adds 1 to n elements of type `type`, one after the other. The loop asks
/// again in each iteration for what it could ask in front.
std::string addOnes(const std::string &type, const std::string &one) {
  return "define void @f(ptr noalias %x, i64 %n, i1 %c) {\n"
         "entry:\n  br label %loop\n"
         "loop:\n"
         "  %i = phi i64 [0, %entry], [%next, %end]\n"
         "  %at = getelementptr " +
         type +
         ", ptr %x, i64 %i\n"
         "  %v = load " +
         type +
         ", ptr %at\n"
         "  %w = fadd " +
         type + " %v, " + one +
         "\n"
         "  br i1 %c, label %then, label %end\n"
         "then:\n  store " +
         type +
         " %w, ptr %at\n  br label %end\n"
         "end:\n"
         "  %next = add nuw nsw i64 %i, 1\n"
         "  %more = icmp slt i64 %next, %n\n"
         "  br i1 %more, label %loop, label %exit, !llvm.loop !0\n"
         "exit:\n  ret void\n}\n"
         "!0 = distinct !{!0, !1}\n"
         "!1 = !{!\"llvm.loop.unroll.disable\"}\n";
}

/// The same without a question.
std::string addAlways(const std::string &type, const std::string &one) {
  std::string text = addOnes(type, one);
  size_t at = text.find("br i1 %c, label %then, label %end");
  return text.replace(at, 33, "br label %then");
}

const std::string vectorOfOnes = "<float 1.0, float 1.0, float 1.0, float 1.0>";

// Code that a run passes through once allocates in its frame: vectors that it
// hands over on the stack are aligned with that alone.
TEST_F(OptimizeTest, CodeThatRunsOnceAllocatesInItsFrame) {
  std::string text = "define i32 @f(i32 %v0, i1 %c) {\n"
                     "  br i1 %c, label %more, label %end\n"
                     "more:\n  %m = alloca [3 x i64]\n"
                     "  store i64 1, ptr %m\n";
  for (int k = 0; k < 600; ++k)
    text += "  %v" + std::to_string(k + 1) + " = add i32 %v" +
            std::to_string(k) + ", 3\n";
  auto module = parse(text + "  ret i32 %v600\nend:\n  ret i32 0\n}\n");
  loopc::markRunOnce(*module);
  const Function &function = *module->getFunction("f");
  EXPECT_TRUE(function.hasFnAttribute(Attribute::OptimizeNone));
  EXPECT_TRUE(isa<AllocaInst>(function.getEntryBlock().front()));
}

} // namespace

TEST_F(OptimizeTest, FusesProductsAndSums) {
  for (const char *sum :
       {"fadd contract float %p, %z", "fadd contract float %z, %p",
        "fsub contract float %p, %z", "fsub contract float %z, %p"}) {
    auto module =
        parse(product("  %s = " + std::string(sum) + "\n  ret float %s\n"));
    fuseProducts(*module, /*all=*/false);
    EXPECT_EQ(countFused(*module), 1u) << sum;
  }
}

TEST_F(OptimizeTest, FusesWhatMayBeFused) {
  std::string rounded = product("  %s = fadd float %p, %z\n  ret float %s\n");
  auto module = parse(rounded);
  fuseProducts(*module, /*all=*/false);
  EXPECT_EQ(countFused(*module), 0u);
  fuseProducts(*module, /*all=*/true);
  EXPECT_EQ(countFused(*module), 1u);
}

TEST_F(OptimizeTest, LeavesProductsThatOthersRead) {
  auto module = parse(product("  %s = fadd contract float %p, %z\n"
                              "  %t = fadd contract float %p, %s\n"
                              "  ret float %t\n"));
  fuseProducts(*module, /*all=*/false);
  EXPECT_EQ(countFused(*module), 0u);
  module = parse(product("  br i1 %c, label %a, label %b\n"
                         "a:\n  %s = fadd contract float %p, %z\n"
                         "  ret float %s\n"
                         "b:\n  ret float %z\n"));
  fuseProducts(*module, /*all=*/false);
  EXPECT_EQ(countFused(*module), 0u);
}

// What loopc has not made vectors of LLVM does, at -O1 too.
TEST_F(OptimizeTest, ScalarLoopsBecomeVectors) {
  for (unsigned level : {1u, 2u, 3u}) {
    auto module = optimize(addAlways("float", "1.0"), level);
    EXPECT_GT(countMatching(*module, isVectorStore), 0u) << level;
  }
}

// -O1 passes over a function without scalar loops: the same load twice stays.
TEST_F(OptimizeTest, QuickTierLeavesVectorsAlone) {
  const std::string body = "  %a = load <4 x float>, ptr %p, align 4\n"
                           "  %b = load <4 x float>, ptr %p, align 4\n"
                           "  %c = fadd <4 x float> %a, %b\n"
                           "  store <4 x float> %c, ptr %p, align 4\n"
                           "  ret void\n}\n";
  auto numLoads = [&](unsigned level) {
    auto module = optimize("define void @f(ptr %p) {\n" + body, level);
    return countMatching(
        *module, [](const Instruction &one) { return isa<LoadInst>(one); });
  };
  EXPECT_EQ(numLoads(1), 2u);
  EXPECT_EQ(numLoads(3), 1u);
}

// A loop in vectors stays one, where one of scalars becomes two: with the
// question in front.
TEST_F(OptimizeTest, VectorLoopsStayAsTheyAre) {
  auto numStores = [&](const std::string &type, const std::string &one) {
    auto module = optimize(addOnes(type, one), 3);
    return countMatching(
        *module, [](const Instruction &i) { return isa<StoreInst>(i); });
  };
  EXPECT_EQ(numStores("<4 x float>", vectorOfOnes), 1u);
  EXPECT_GT(numStores("float", "1.0"), 1u);
}

// A short loop over vectors is written out.
TEST_F(OptimizeTest, ShortVectorLoopsAreWrittenOut) {
  std::string text = addAlways("<4 x float>", vectorOfOnes);
  text.replace(text.find("%next, %n"), 9, "%next, 4");
  text.erase(text.find(", !llvm.loop"), 15);
  auto module = optimize(text, 3);
  EXPECT_EQ(countMatching(*module, isVectorStore), 4u);
  auto isPhi = [](const Instruction &one) { return isa<PHINode>(one); };
  EXPECT_EQ(countMatching(*module, isPhi), 0u);
}

// A loop that is small beside vectors becomes vectors, and no more: alone, its
// question is asked in front.
TEST_F(OptimizeTest, SmallLoopsBesideVectorsBecomeVectors) {
  std::string vectors;
  for (int k = 0; k < 2000; ++k)
    vectors += "  %v" + std::to_string(k + 1) + " = fadd <4 x float> %v" +
               std::to_string(k) + ", %y\n";
  vectors += "  store <4 x float> %v2000, ptr %z\n";
  auto countMasked = [&](const std::string &front) {
    std::string text = addOnes("float", "1.0");
    text.insert(text.find(") {"), ", <4 x float> %v0, <4 x float> %y, ptr %z");
    text.insert(text.find("  br label %loop"), front);
    auto module = optimize(text, 3);
    return countMatching(*module, [](const Instruction &one) {
      auto *call = dyn_cast<IntrinsicInst>(&one);
      return call && call->getIntrinsicID() == Intrinsic::masked_store;
    });
  };
  EXPECT_EQ(countMasked(""), 0u);
  EXPECT_EQ(countMasked(vectors), 1u);
}

// Vectors in memory of the function's own get into registers when the loop over
// them is written out.
TEST_F(OptimizeTest, LocalVectorsLeaveMemory) {
  std::string text = "define <4 x float> @f(<4 x float> %x) {\n"
                     "  %m = alloca [4 x <4 x float>]\n  br label %loop\n"
                     "loop:\n"
                     "  %i = phi i64 [0, %0], [%next, %loop]\n"
                     "  %at = getelementptr <4 x float>, ptr %m, i64 %i\n"
                     "  store <4 x float> %x, ptr %at\n"
                     "  %next = add i64 %i, 1\n"
                     "  %more = icmp slt i64 %next, 4\n"
                     "  br i1 %more, label %loop, label %exit\n"
                     "exit:\n"
                     "  %last = getelementptr <4 x float>, ptr %m, i64 2\n"
                     "  %y = load <4 x float>, ptr %last\n"
                     "  ret <4 x float> %y\n}\n";
  auto module = optimize(text, 3);
  EXPECT_EQ(
      countMatching(*module,
                    [](const Instruction &i) { return isa<AllocaInst>(i); }),
      0u);
}

// Machine code of -O1 is made quickly, but registers are allocated: a value
// that a loop carries is not stored in each iteration.
TEST_F(OptimizeTest, QuickCodeKeepsValuesInRegisters) {
  std::string text = "define i64 @f(i64 %n, i64 %x) {\n  br label %loop\n"
                     "loop:\n"
                     "  %i = phi i64 [0, %0], [%next, %loop]\n"
                     "  %s = phi i64 [0, %0], [%t, %loop]\n"
                     "  %t = xor i64 %s, %i\n"
                     "  %next = add i64 %i, %x\n"
                     "  %more = icmp slt i64 %next, %n\n"
                     "  br i1 %more, label %loop, label %exit\n"
                     "exit:\n  ret i64 %t\n}\n";
  for (unsigned level : {0u, 1u, 3u}) {
    LLVMContext own;
    SMDiagnostic problem;
    std::unique_ptr<Module> module = parseAssemblyString(text, problem, own);
    Machine machine = createMachine(level);
    module->setTargetTriple(machine.llvm->getTargetTriple());
    module->setDataLayout(machine.llvm->createDataLayout());
    SmallString<0> assembly;
    raw_svector_ostream os(assembly);
    ASSERT_TRUE(
        emitCode(*module, *machine.llvm, CodeGenFileType::AssemblyFile, os));
    EXPECT_EQ(assembly.str().contains("(%rsp)"), level == 0)
        << assembly.c_str();
    EXPECT_EQ(own.getOptPassGate().isEnabled(), level == 1);
  }
}
