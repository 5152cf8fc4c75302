//===- VerifyStageTest.cpp - What no text of a module shows ---------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Pipelines/Passes.h"
#include "loopc/Pipelines/Registration.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace loopc;
using testing::HasSubstr;
using testing::IsEmpty;

/// What verifying the end of the stage says of `module`.
static std::string verify(ModuleOp module) {
  std::string said;
  ScopedDiagnosticHandler handler(
      module.getContext(), [&](Diagnostic &each) { said += each.str(); });
  PassManager manager(module.getContext());
  VerifyStageOptions options;
  options.stage = Stage::SCF;
  manager.addPass(createVerifyStage(options));
  EXPECT_EQ(failed(manager.run(module)), !said.empty());
  return said;
}

// A clone that was never put anywhere.
TEST(VerifyStage, FindsOperationsInNoBlock) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      R"mlir(
        func.func @main(%x: f32) -> f32 {
          %y = arith.addf %x, %x : f32
          return %y : f32
        }
      )mlir",
      &context);
  ASSERT_TRUE(module);
  EXPECT_THAT(verify(*module), IsEmpty());
  Operation *sum = nullptr;
  module->walk([&](arith::AddFOp op) { sum = op; });
  Operation *clone = sum->clone();
  EXPECT_THAT(verify(*module), HasSubstr("uses a value and is in no block"));
  clone->destroy();
  EXPECT_THAT(verify(*module), IsEmpty());
}
