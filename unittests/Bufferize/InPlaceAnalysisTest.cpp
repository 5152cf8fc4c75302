//===- InPlaceAnalysisTest.cpp - What the analysis takes and decides ------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Functions of any number of one thing: the work of the analysis is counted,
// and its decisions are MLIR's.

#include "loopc/Bufferize/InPlaceAnalysis.h"
#include "loopc/Pipelines/Registration.h"

#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::bufferization;

namespace {
using Generator = std::string (*)(unsigned count);

std::string inFunction(const std::string &body, const std::string &last) {
  return "func.func @f(%v0: tensor<?xf32>, %x: f32, %c: i1, %n: index) -> "
         "tensor<?xf32> {\n%i0 = arith.constant 0 : index\n"
         "%i1 = arith.constant 1 : index\n" +
         body + "return " + last + " : tensor<?xf32>\n}\n";
}

/// One element read and another one written.
std::string setElements(unsigned count) {
  std::string body;
  for (unsigned k = 0; k < count; ++k) {
    std::string last = "%v" + std::to_string(k), n = std::to_string(k + 1);
    body += "%e" + n + " = tensor.extract " + last + "[%i0] : tensor<?xf32>\n";
    body += "%v" + n + " = tensor.insert %e" + n + " into " + last +
            "[%i1] : tensor<?xf32>\n";
  }
  return inFunction(body, "%v" + std::to_string(count));
}

/// Vectors turned by one element.
std::string rotate(unsigned count) {
  std::string body = "%m = arith.subi %n, %i1 : index\n";
  for (unsigned k = 0; k < count; ++k) {
    std::string last = "%v" + std::to_string(k), n = std::to_string(k + 1);
    body += "%a" + n + " = tensor.extract_slice " + last +
            "[1] [%m] [1] : tensor<?xf32> to tensor<?xf32>\n";
    body += "%b" + n + " = tensor.extract_slice " + last +
            "[0] [1] [1] : tensor<?xf32> to tensor<1xf32>\n";
    body += "%e" + n + " = tensor.empty(%n) : tensor<?xf32>\n";
    body += "%w" + n + " = tensor.insert_slice %a" + n + " into %e" + n +
            "[0] [%m] [1] : tensor<?xf32> into tensor<?xf32>\n";
    body += "%v" + n + " = tensor.insert_slice %b" + n + " into %w" + n +
            "[%m] [1] [1] : tensor<1xf32> into tensor<?xf32>\n";
  }
  return inFunction(body, "%v" + std::to_string(count));
}

/// Slices that are taken out, changed and put back, in loops.
std::string changeSlices(unsigned count) {
  std::string body;
  for (unsigned k = 0; k < count; ++k) {
    std::string last = "%v" + std::to_string(k), n = std::to_string(k + 1);
    body += "%v" + n +
            " = scf.for %k = %i0 to %n step %i1 iter_args(%s = " + last +
            ") -> tensor<?xf32> {\n" +
            "  %a = tensor.extract_slice %s[%k] [1] [1] : tensor<?xf32> to "
            "tensor<1xf32>\n"
            "  %f = linalg.fill ins(%x : f32) outs(%a : tensor<1xf32>) -> "
            "tensor<1xf32>\n"
            "  %w = tensor.insert_slice %f into %s[%k] [1] [1] : "
            "tensor<1xf32> into tensor<?xf32>\n"
            "  scf.yield %w : tensor<?xf32>\n}\n";
  }
  return inFunction(body, "%v" + std::to_string(count));
}

/// Branches that write, with a read of what was there behind every fourth one,
/// so that it has to be copied.
std::string branch(unsigned count) {
  std::string body;
  for (unsigned k = 0; k < count; ++k) {
    std::string last = "%v" + std::to_string(k), n = std::to_string(k + 1);
    body += "%r" + n +
            " = scf.if %c -> tensor<?xf32> {\n  %w = tensor.insert "
            "%x into " +
            last +
            "[%i1] : tensor<?xf32>\n  scf.yield %w : tensor<?xf32>\n} "
            "else {\n  scf.yield " +
            last + " : tensor<?xf32>\n}\n";
    std::string from = k % 4 == 3 ? last : "%r" + n;
    body += "%e" + n + " = tensor.extract " + from + "[%i0] : tensor<?xf32>\n";
    body += "%v" + n + " = tensor.insert %e" + n + " into %r" + n +
            "[%i1] : tensor<?xf32>\n";
  }
  return inFunction(body, "%v" + std::to_string(count));
}

/// Branches that pass on one of the two values before.
std::string passOnEither(unsigned count) {
  std::string body = "%w0 = tensor.insert %x into %v0[%i1] : tensor<?xf32>\n";
  std::string last = "%w0", before = "%v0";
  for (unsigned k = 0; k < count; ++k) {
    std::string n = "%w" + std::to_string(k + 1);
    body += n + " = scf.if %c -> tensor<?xf32> {\n  scf.yield " + last +
            " : tensor<?xf32>\n} else {\n  scf.yield " + before +
            " : tensor<?xf32>\n}\n";
    before = std::exchange(last, n);
  }
  return inFunction(body, last);
}

class InPlaceAnalysis : public testing::TestWithParam<Generator> {
protected:
  InPlaceAnalysis() : context(makeRegistry()) {
    options.bufferizeFunctionBoundaries = true;
    options.allowReturnAllocsFromLoops = true;
  }

  OwningOpRef<ModuleOp> parse(unsigned count) {
    return parseSourceString<ModuleOp>(GetParam()(count), &context);
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    loopc::registerAllDialects(registry);
    return registry;
  }

  MLIRContext context;
  OneShotBufferizationOptions options;
};

uint64_t total(const loopc::InPlaceCounts &counts) {
  return counts.pairs + counts.steps;
}

TEST_P(InPlaceAnalysis, TakesLinearTime) {
  loopc::InPlaceCounts few, many;
  for (auto [count, counts] : {std::pair(40u, &few), std::pair(400u, &many)}) {
    OwningOpRef<ModuleOp> module = parse(count);
    ASSERT_TRUE(module);
    loopc::InPlaceState state(*module, options);
    ASSERT_TRUE(succeeded(loopc::analyzeInPlace(*module, state, counts)));
  }
  EXPECT_GT(total(few), 0u);
  EXPECT_LE(total(many), 11 * total(few));
}

TEST_P(InPlaceAnalysis, DecidesAsMLIRDoes) {
  OwningOpRef<ModuleOp> module = parse(13);
  ASSERT_TRUE(module);
  loopc::InPlaceState own(*module, options);
  ASSERT_TRUE(succeeded(loopc::analyzeInPlace(*module, own)));
  OneShotBufferizePassOptions pass;
  pass.bufferizeFunctionBoundaries = true;
  pass.allowReturnAllocsFromLoops = true;
  pass.testAnalysisOnly = true;
  PassManager manager(&context);
  manager.addPass(createOneShotBufferizePass(pass));
  ASSERT_TRUE(succeeded(manager.run(*module)));
  unsigned inPlace = 0;
  module->walk([&](Operation *op) {
    auto theirs = op->getAttrOfType<ArrayAttr>("__inplace_operands_attr__");
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<TensorType>(operand.get().getType()))
        continue;
      ASSERT_TRUE(theirs);
      unsigned k = operand.getOperandNumber();
      EXPECT_EQ(own.isInPlace(operand),
                cast<StringAttr>(theirs[k]).getValue() == "true")
          << "operand " << k << " of " << op->getName().getStringRef().str();
      inPlace += own.isInPlace(operand);
    }
  });
  EXPECT_GT(inPlace, 0u);
}

INSTANTIATE_TEST_SUITE_P(Chains, InPlaceAnalysis,
                         testing::Values(setElements, rotate, changeSlices,
                                         branch, passOnEither));
} // namespace
