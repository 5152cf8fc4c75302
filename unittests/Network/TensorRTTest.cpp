//===- TensorRTTest.cpp - Engines under TensorRT's names ------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/TensorRT.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstring>

using namespace loopc::network;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

class Listener : public ILogger {
public:
  void log(Severity, const char *message) noexcept override {
    told += std::string(message) + "\n";
  }
  /// What was said since the last call.
  std::string take() { return std::exchange(told, ""); }

private:
  std::string told;
};

class Allocator : public IOutputAllocator {
public:
  void *reallocateOutput(const char *, void *, uint64_t size,
                         uint64_t alignment) override {
    memory.resize(size + alignment);
    auto address = reinterpret_cast<uintptr_t>(memory.data());
    return memory.data() + (-address & (alignment - 1));
  }
  void notifyShape(const char *, const Dims &dims) noexcept override {
    shape = toVector(dims);
  }
  std::vector<char> memory;
  std::vector<int64_t> shape;
};

class TensorRTTest : public testing::Test {
protected:
  TensorRTTest()
      : builder(createInferBuilder(logger)),
        network(builder->createNetworkV2(0)),
        config(builder->createBuilderConfig()) {}

  /// All powers of x [rows, 2] that squaring it n times gives.
  void addPowers() {
    ITensor *x = network->addInput("x", DataType::kFLOAT, Dims2(-1, 2));
    x->setDimensionName(0, "rows");
    ITensor *trips = network->addInput("n", DataType::kINT32, Dims());
    ILoop *loop = network->addLoop();
    loop->addTripLimit(*trips, TripLimit::kCOUNT);
    IRecurrenceLayer *power = loop->addRecurrence(*x);
    ITensor *value = power->getOutput(0);
    ITensor *square =
        network->addElementWise(*value, *value, ElementWiseOperation::kPROD)
            ->getOutput(0);
    power->setInput(1, *square);
    ILoopOutputLayer *last =
        loop->addLoopOutput(*value, LoopOutput::kLAST_VALUE);
    ILoopOutputLayer *every =
        loop->addLoopOutput(*square, LoopOutput::kCONCATENATE);
    every->setInput(1, *trips);
    ITensor *twice = network->addElementWise(*x, *x, ElementWiseOperation::kSUM)
                         ->getOutput(0);
    twice->setName("twice");
    network->markOutput(*twice);
    for (auto [layer, name] :
         {std::pair(last, "last"), std::pair(every, "every")}) {
      layer->getOutput(0)->setName(name);
      network->markOutput(*layer->getOutput(0));
    }
  }

  std::unique_ptr<ICudaEngine> buildEngine() {
    return std::unique_ptr<ICudaEngine>(
        builder->buildEngineWithConfig(*network, *config));
  }

  Listener logger;
  std::unique_ptr<IBuilder> builder;
  std::unique_ptr<INetworkDefinition> network;
  std::unique_ptr<IBuilderConfig> config;
};

TEST_F(TensorRTTest, FromNetworkToContext) {
  addPowers();
  std::unique_ptr<ICudaEngine> engine = buildEngine();
  ASSERT_TRUE(engine) << logger.take();
  ASSERT_EQ(engine->getNbIOTensors(), 5);
  EXPECT_STREQ(engine->getIOTensorName(4), "every");
  EXPECT_EQ(engine->getIOTensorName(5), nullptr);
  EXPECT_EQ(engine->getTensorIOMode("n"), TensorIOMode::kINPUT);
  EXPECT_EQ(engine->getTensorIOMode("every"), TensorIOMode::kOUTPUT);
  EXPECT_EQ(engine->getTensorDataType("n"), DataType::kINT32);
  EXPECT_EQ(engine->getTensorBytesPerComponent("x"), 4);
  EXPECT_THAT(toVector(engine->getTensorShape("every")),
              ElementsAre(-1, -1, 2));

  std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  float x[] = {1, 2, 3, 4}, last[4], twice[4];
  int32_t n = 3;
  Allocator every;
  EXPECT_EQ(context->inferShapes(0, nullptr), 1);
  EXPECT_TRUE(context->setInputShape("x", Dims2(2, 2)));
  EXPECT_TRUE(context->allInputDimensionsSpecified());
  context->setInputTensorAddress("x", x);
  context->setTensorAddress("n", &n);
  context->setTensorAddress("last", last);
  context->setTensorAddress("twice", twice);
  EXPECT_FALSE(context->enqueueV3(nullptr));
  EXPECT_EQ(logger.take(), "the output 'every' has neither setTensorAddress() "
                           "nor setOutputAllocator()\n");
  context->setOutputAllocator("every", &every);
  ASSERT_TRUE(context->enqueueV3(nullptr)) << logger.take();
  EXPECT_THAT(last, ElementsAre(1, 256, 6561, 65536));
  EXPECT_THAT(twice, ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(every.shape, ElementsAre(3, 2, 2));
  EXPECT_THAT(toVector(context->getTensorShape("every")), ElementsAre(3, 2, 2));

  // The same by addresses in the order of the tensors, of an engine that was
  // written and read.
  std::unique_ptr<IHostMemory> plan(engine->serialize());
  std::unique_ptr<IRuntime> runtime(createInferRuntime(logger));
  engine.reset(runtime->deserializeCudaEngine(plan->data(), plan->size()));
  ASSERT_TRUE(engine) << logger.take();
  context.reset(engine->createExecutionContext());
  context->setInputShape("x", Dims2(1, 2));
  n = 2;
  float both[4];
  void *bindings[] = {x, &n, twice, last, both};
  ASSERT_TRUE(context->executeV2(bindings)) << logger.take();
  EXPECT_THAT(both, ElementsAre(1, 4, 1, 16));
}

TEST_F(TensorRTTest, Profiles) {
  addPowers();
  IOptimizationProfile *profile = builder->createOptimizationProfile();
  EXPECT_TRUE(
      profile->setDimensions("x", OptProfileSelector::kMIN, Dims2(1, 2)));
  EXPECT_EQ(config->addOptimizationProfile(profile), -1);
  EXPECT_THAT(logger.take(), HasSubstr("the profile is not valid"));
  EXPECT_FALSE(
      profile->setDimensions("x", OptProfileSelector::kMAX, Dims2(0, 2)));
  EXPECT_THAT(logger.take(), HasSubstr("must have one rank and ascend"));
  EXPECT_TRUE(
      profile->setDimensions("x", OptProfileSelector::kOPT, Dims2(2, 2)));
  EXPECT_TRUE(
      profile->setDimensions("x", OptProfileSelector::kMAX, Dims2(4, 2)));
  EXPECT_EQ(config->addOptimizationProfile(profile), 0);
  std::unique_ptr<ICudaEngine> engine = buildEngine();
  ASSERT_TRUE(engine) << logger.take();
  EXPECT_THAT(
      toVector(engine->getProfileShape("x", 0, OptProfileSelector::kMAX)),
      ElementsAre(4, 2));
  std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  EXPECT_FALSE(context->setInputShape("x", Dims2(5, 2)));
  EXPECT_EQ(logger.take(),
            "the input 'x' of shape [-1, 2] cannot have the shape "
            "[5, 2]: profile 0 has [1, 2] to [4, 2]\n");
  EXPECT_FALSE(context->setOptimizationProfileAsync(1, nullptr));
  EXPECT_EQ(logger.take(), "there are 1 profiles, and none of number 1\n");

  // What is one number in all profiles is fixed.
  config.reset(builder->createBuilderConfig());
  profile = builder->createOptimizationProfile();
  for (auto select : {OptProfileSelector::kMIN, OptProfileSelector::kOPT,
                      OptProfileSelector::kMAX})
    profile->setDimensions("x", select, Dims2(2, 2));
  config->addOptimizationProfile(profile);
  engine = buildEngine();
  ASSERT_TRUE(engine) << logger.take();
  EXPECT_THAT(toVector(engine->getTensorShape("x")), ElementsAre(2, 2));
}

TEST_F(TensorRTTest, Parser) {
  const char *model = "<ir_version: 10, opset_import: [\"\": 21]> halves "
                      "(float[N] x) => (float[N] y) { y = Add (x, x) }";
  std::unique_ptr<loopc::onnxparser::IParser> parser(
      loopc::onnxparser::createParser(*network, logger));
  EXPECT_FALSE(parser->parse("nonsense", 8, "none.onnx"));
  ASSERT_EQ(parser->getNbErrors(), 1);
  EXPECT_THAT(parser->getError(0)->desc(), HasSubstr("none.onnx"));
  logger.take();
  ASSERT_TRUE(parser->parse(model, std::strlen(model), "halves.onnxtxt"))
      << logger.take();
  EXPECT_EQ(parser->getNbErrors(), 0);
  ASSERT_EQ(network->getNbInputs(), 1);
  EXPECT_STREQ(network->getInput(0)->getDimensionName(0), "N");
  EXPECT_EQ(network->getOutput(0)->getType(), DataType::kFLOAT);
  EXPECT_THAT(toVector(network->getOutput(0)->getDimensions()),
              ElementsAre(-1));
  std::unique_ptr<ICudaEngine> engine = buildEngine();
  ASSERT_TRUE(engine) << logger.take();
  std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  EXPECT_EQ(context->getMaxOutputSize("y"), 0);
  EXPECT_TRUE(context->setInputShape("x", Dims(1, {3})));
  EXPECT_THAT(toVector(context->getTensorShape("y")), ElementsAre(3));
  EXPECT_EQ(context->getMaxOutputSize("y"), 12);

  network->getInput(0)->setDimensions(Dims(1, {2}));
  engine = buildEngine();
  ASSERT_TRUE(engine) << logger.take();
  EXPECT_THAT(toVector(engine->getTensorShape("y")), ElementsAre(2));
  context.reset(engine->createExecutionContext());
  float x[] = {1, 2}, y[2];
  void *bindings[] = {x, y};
  ASSERT_TRUE(context->executeV2(bindings)) << logger.take();
  EXPECT_THAT(y, ElementsAre(2, 4));
  EXPECT_THAT(logger.take(), IsEmpty());

  // It takes no layers beside the model, and no second model.
  EXPECT_FALSE(parser->parse(model, std::strlen(model)));
  EXPECT_EQ(logger.take(), "a model is parsed into an empty network\n");
  network->addIdentity(*network->getOutput(0));
  EXPECT_FALSE(builder->isNetworkSupported(*network, *config));
  EXPECT_THAT(logger.take(), HasSubstr("cannot be added to 'halves.onnxtxt', a "
                                       "model that was parsed"));
}

/// What follows from the shapes of inputs, without a name that says so.
TEST_F(TensorRTTest, ShapesOfOutputsAreInferred) {
  ITensor *x = network->addInput("x", DataType::kFLOAT, Dims2(-1, 40));
  ITensor *y = network->addInput("y", DataType::kFLOAT, Dims2(-1, 30));
  ITensor *n = network->addInput("n", DataType::kINT32, Dims(0, {}));
  std::vector<float> weights(40 * 30, 1.0f);
  ITensor *w =
      network
          ->addConstant(Dims2(40, 30), {DataType::kFLOAT, weights.data(), 1200})
          ->getOutput(0);
  ITensor *product = network
                         ->addMatrixMultiply(*x, MatrixOperation::kNONE, *w,
                                             MatrixOperation::kNONE)
                         ->getOutput(0);
  ITensor *const parts[] = {product, y};
  ITensor *both = network->addConcatenation(parts, 2)->getOutput(0);
  both->setName("both");
  network->markOutput(*both);
  ILoop *loop = network->addLoop();
  loop->addTripLimit(*n, TripLimit::kCOUNT);
  IRecurrenceLayer *state = loop->addRecurrence(*both);
  ITensor *twice =
      network
          ->addElementWise(*state->getOutput(0), *state->getOutput(0),
                           ElementWiseOperation::kSUM)
          ->getOutput(0);
  state->setInput(1, *twice);
  ILoopOutputLayer *every =
      loop->addLoopOutput(*twice, LoopOutput::kCONCATENATE, 0);
  every->setInput(1, *n);
  every->getOutput(0)->setName("every");
  network->markOutput(*every->getOutput(0));
  std::unique_ptr<ICudaEngine> engine = buildEngine();
  ASSERT_TRUE(engine) << logger.take();
  std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  EXPECT_TRUE(context->setInputShape("x", Dims2(5, 40)));
  EXPECT_THAT(toVector(context->getTensorShape("both")), ElementsAre(-1, 30));
  EXPECT_TRUE(context->setInputShape("y", Dims2(2, 30)));
  EXPECT_THAT(toVector(context->getTensorShape("both")), ElementsAre(7, 30));
  EXPECT_EQ(context->getMaxOutputSize("both"), 7 * 30 * 4);
  EXPECT_THAT(toVector(context->getTensorStrides("both")), ElementsAre(30, 1));
  EXPECT_EQ(context->getTensorStrides("every").nbDims, -1);
  // How often the loop runs is a value.
  EXPECT_THAT(toVector(context->getTensorShape("every")),
              ElementsAre(-1, 7, 30));
  EXPECT_TRUE(context->setInputShape("x", Dims2(0, 40)));
  EXPECT_THAT(toVector(context->getTensorShape("both")), ElementsAre(2, 30));
  EXPECT_THAT(logger.take(), IsEmpty());
}

/// What programs say that has no effect here.
TEST_F(TensorRTTest, ConfigurationsAreKept) {
  config->setProfilingVerbosity(ProfilingVerbosity::kDETAILED);
  config->setHardwareCompatibilityLevel(
      HardwareCompatibilityLevel::kAMPERE_PLUS);
  config->setPreviewFeature(PreviewFeature::kPROFILE_SHARING_0806, true);
  config->setFlag(BuilderFlag::kFP16);
  EXPECT_TRUE(config->setTacticSources(3));
  EXPECT_EQ(config->getProfilingVerbosity(), ProfilingVerbosity::kDETAILED);
  EXPECT_TRUE(config->getPreviewFeature(PreviewFeature::kPROFILE_SHARING_0806));
  config->reset();
  EXPECT_EQ(config->getFlags(), 0u);
  EXPECT_EQ(config->getTacticSources(), 0u);
  EXPECT_FALSE(
      config->getPreviewFeature(PreviewFeature::kPROFILE_SHARING_0806));
  config->setFlag(BuilderFlag::kREFIT);
  EXPECT_THAT(logger.take(), HasSubstr("cannot be refitted"));
  EXPECT_TRUE(builder->setMaxThreads(4));
  EXPECT_EQ(builder->getMaxThreads(), 4);
}

TEST_F(TensorRTTest, WhatIsWrongIsSaid) {
  EXPECT_FALSE(buildEngine());
  EXPECT_THAT(logger.take(), HasSubstr("LC0809"));
  config->setFlag(BuilderFlag::kFP16);
  config->setFlag(BuilderFlag::kREFIT);
  EXPECT_EQ(logger.take(),
            "an engine cannot be refitted: weights are a part of it\n");
  EXPECT_EQ(config->getFlags(), 1u);
  std::unique_ptr<IRuntime> runtime(createInferRuntime(logger));
  EXPECT_FALSE(runtime->deserializeCudaEngine("bytes", 5));
  EXPECT_EQ(logger.take(), "these are not the bytes of an engine\n");
  EXPECT_FALSE(runtime->deserializeCudaEngine(nullptr, 0));
  logger.take();

  addPowers();
  std::unique_ptr<ICudaEngine> engine = buildEngine();
  ASSERT_TRUE(engine) << logger.take();
  EXPECT_EQ(engine->getTensorIOMode("z"), TensorIOMode::kNONE);
  EXPECT_EQ(logger.take(), "the engine has no tensor 'z'; it has: 'x', 'n', "
                           "'twice', 'last', 'every'\n");
  std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  EXPECT_FALSE(context->setTensorAddress("z", nullptr));
  logger.take();
  EXPECT_FALSE(context->enqueueV3(nullptr));
  EXPECT_EQ(logger.take(),
            "the input 'x' of shape [-1, 2] has no setInputShape()\n");
  EXPECT_FALSE(context->setInputShape("last", Dims2(1, 2)));
  EXPECT_EQ(logger.take(), "'last' is an output: its shape follows\n");
  context->setInputShape("x", Dims2(1, 2));
  EXPECT_FALSE(context->enqueueV3(nullptr));
  EXPECT_EQ(logger.take(), "the input 'x' has no setTensorAddress()\n");
}

} // namespace
