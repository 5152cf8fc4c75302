//===- CompiledModelTest.cpp - Models compiled in process -----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Target/CompiledModel.h"
#include "loopc/Dialect/ONNX/IR/ONNX.h"
#include "loopc/Target/CodeGen.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <thread>

using namespace loopc;

namespace {

/// Compiles a module of test/Target/Inputs; the context is gone afterwards.
std::unique_ptr<CompiledModel> compile(const std::string &file,
                                       TargetOptions options = {},
                                       std::string *message = nullptr) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::LLVM::LLVMDialect, onnx::ONNXDialect>();
  registerTargetTranslations(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        if (message && message->empty())
          *message = diagnostic.str();
        return mlir::success(message != nullptr);
      });
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(
      LOOPC_TEST_INPUTS "/" + file, &context);
  if (!module)
    return nullptr;
  auto info = readModelInfo(*module, options.name);
  if (failed(info))
    return nullptr;
  auto model = CompiledModel::create(*module, *info, options);
  return failed(model) ? nullptr : std::move(*model);
}

loopc_value makeTensor(void *data, DLDataType dtype, int64_t *shape,
                       int32_t rank) {
  loopc_value value = {};
  value.kind = LOOPC_TENSOR;
  value.as.tensor.data = data;
  value.as.tensor.device = {kDLCPU, 0};
  value.as.tensor.ndim = rank;
  value.as.tensor.dtype = dtype;
  value.as.tensor.shape = shape;
  return value;
}

constexpr DLDataType kFloat32 = {kDLFloat, 32, 1};

/// Runs model affine on `n` rows and checks what comes back.
void runAffine(const loopc_model *model, int64_t n) {
  std::vector<float> data(n * 3);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>(i) / 8 - 1;
  int64_t shape[] = {n, 3};
  loopc_value input = makeTensor(data.data(), kFloat32, shape, 2);
  loopc_value output = {};
  loopc_error error = {};
  ASSERT_EQ(loopc_model_run(model, nullptr, &input, 1, &output, 1, &error), 0)
      << error.message;
  ASSERT_EQ(output.as.tensor.ndim, 2);
  EXPECT_EQ(output.as.tensor.shape[0], n);
  EXPECT_EQ(output.as.tensor.shape[1], 3);
  const float scale[] = {0, 1, -1};
  auto *result = static_cast<const float *>(output.as.tensor.data);
  for (size_t i = 0; i < data.size(); ++i)
    EXPECT_NEAR(result[i], std::exp(data[i] * scale[i % 3]) + 0.5f, 1e-5f);
  loopc_value_release(&output);
}

} // namespace

TEST(CompiledModel, RunsAtEveryLevel) {
  for (unsigned level = 0; level < 4; ++level) {
    TargetOptions options;
    options.optLevel = level;
    auto model = compile("affine.mlir", options);
    ASSERT_TRUE(model);
    runAffine(model->get(), 5);
    runAffine(model->get(), 0);
  }
}

TEST(CompiledModel, DescribesItself) {
  auto model = compile("affine.mlir");
  ASSERT_TRUE(model);
  const loopc_model &table = *model->get();
  EXPECT_EQ(table.abi_version, static_cast<uint32_t>(LOOPC_ABI_VERSION));
  EXPECT_STREQ(table.name, "affine");
  ASSERT_EQ(table.num_inputs, 1u);
  ASSERT_EQ(table.num_outputs, 1u);
  EXPECT_STREQ(table.inputs[0].name, "x");
  EXPECT_STREQ(table.outputs[0].name, "y");
  EXPECT_EQ(table.declared_outputs, nullptr);
  const loopc_type &type = *table.inputs[0].type;
  EXPECT_EQ(type.kind, LOOPC_TENSOR);
  EXPECT_EQ(type.onnx_type, 1);
  EXPECT_EQ(type.dtype.code, kDLFloat);
  EXPECT_EQ(type.dtype.bits, 32);
  EXPECT_EQ(type.dtype.lanes, 1);
  ASSERT_EQ(type.rank, 2);
  EXPECT_EQ(type.dims[0].extent, -1);
  EXPECT_STREQ(type.dims[0].name, "N");
  EXPECT_EQ(type.dims[1].extent, 3);
  EXPECT_EQ(type.dims[1].name, nullptr);
  EXPECT_EQ(type.element, nullptr);
}

// A model may be compiled and run on several threads, and several at a time.
TEST(CompiledModel, ManyAtATime) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([i] {
      auto model = compile("affine.mlir");
      ASSERT_TRUE(model);
      runAffine(model->get(), i);
    });
  for (std::thread &thread : threads)
    thread.join();
  auto first = compile("affine.mlir");
  auto second = compile("count.mlir");
  ASSERT_TRUE(first && second);
  second.reset();
  runAffine(first->get(), 2);
}

TEST(CompiledModel, RefusesOtherMachines) {
  TargetOptions options;
#ifdef __x86_64__
  options.triple = "aarch64-linux-gnu";
#else
  options.triple = "x86_64-linux-gnu";
#endif
  std::string message;
  EXPECT_FALSE(compile("affine.mlir", options, &message));
  EXPECT_THAT(message, testing::HasSubstr("cannot run in this process"));
}

#ifdef __x86_64__
// No machine has both AMD's XOP and Intel's AVX-512: an error, not a signal.
TEST(CompiledModel, RefusesMissingFeatures) {
  TargetOptions options;
  options.cpu = "x86-64";
  options.features = "+xop,+avx512f";
  std::string message;
  EXPECT_FALSE(compile("affine.mlir", options, &message));
  EXPECT_THAT(message, testing::HasSubstr("CPU feature"));
}
#endif

TEST(CompiledModel, RefusesTheRuntimesNames) {
  TargetOptions options;
  options.name = "loopc_model";
  std::string message;
  EXPECT_FALSE(compile("affine.mlir", options, &message));
  EXPECT_THAT(message, testing::HasSubstr("LC0606"));
}
