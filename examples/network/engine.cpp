//===- engine.cpp - A loop under TensorRT's names -------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The "for" loop of TensorRT's guide, from network to context: x is squared n
// times. Of a program for TensorRT only the first lines below are others.
//
//   engine build FILE     builds an engine, and writes it to a file
//   engine run FILE       reads it, and runs it for n = 0 to 3
//   engine parse MODEL    reads an ONNX model, and prints inputs and outputs
//
//===----------------------------------------------------------------------===//

#include "loopc/TensorRT.h"
namespace nvinfer1 = loopc::network;
namespace nvonnxparser = loopc::onnxparser;

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>

using namespace nvinfer1;

namespace {
class Logger : public ILogger {
  void log(Severity severity, const char *message) noexcept override {
    if (severity <= Severity::kWARNING)
      std::printf("%s\n", message);
  }
} logger;
} // namespace

static void addLoop(INetworkDefinition &network) {
  ITensor *x = network.addInput("x", DataType::kFLOAT, Dims(1, {3}));
  ITensor *trips = network.addInput("n", DataType::kINT32, Dims(0, {}));
  ILoop *loop = network.addLoop();
  loop->addTripLimit(*trips, TripLimit::kCOUNT);
  IRecurrenceLayer *power = loop->addRecurrence(*x);
  ITensor *value = power->getOutput(0);
  ITensor *square =
      network.addElementWise(*value, *value, ElementWiseOperation::kPROD)
          ->getOutput(0);
  power->setInput(1, *square);
  ITensor *last =
      loop->addLoopOutput(*value, LoopOutput::kLAST_VALUE)->getOutput(0);
  last->setName("y");
  network.markOutput(*last);
}

static int build(const char *file) {
  std::unique_ptr<IBuilder> builder(createInferBuilder(logger));
  std::unique_ptr<INetworkDefinition> network(builder->createNetworkV2(0));
  std::unique_ptr<IBuilderConfig> config(builder->createBuilderConfig());
  addLoop(*network);
  std::unique_ptr<IHostMemory> plan(
      builder->buildSerializedNetwork(*network, *config));
  if (!plan)
    return 1;
  std::ofstream(file, std::ios::binary)
      .write(static_cast<const char *>(plan->data()),
             static_cast<std::streamsize>(plan->size()));
  return 0;
}

static int run(const char *file) {
  std::ifstream stream(file, std::ios::binary);
  std::string plan((std::istreambuf_iterator<char>(stream)), {});
  std::unique_ptr<IRuntime> runtime(createInferRuntime(logger));
  std::unique_ptr<ICudaEngine> engine(
      runtime->deserializeCudaEngine(plan.data(), plan.size()));
  if (!engine)
    return 1;
  std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  float x[] = {1, 2, 3}, y[3];
  for (int32_t n = 0; n < 4; ++n) {
    context->setTensorAddress("x", x);
    context->setTensorAddress("n", &n);
    context->setTensorAddress("y", y);
    if (!context->enqueueV3(nullptr))
      return 1;
    std::printf("n = %d: %g %g %g\n", static_cast<int>(n), y[0], y[1], y[2]);
  }
  return 0;
}

static void print(const char *kind, const ITensor &tensor) {
  std::printf("%s %s:", kind, tensor.getName());
  Dims dims = tensor.getDimensions();
  for (int32_t k = 0; k < dims.nbDims; ++k)
    std::printf(" %d", static_cast<int>(dims.d[k]));
  std::printf("\n");
}

static int parse(const char *model) {
  std::unique_ptr<IBuilder> builder(createInferBuilder(logger));
  std::unique_ptr<INetworkDefinition> network(builder->createNetworkV2(0));
  std::unique_ptr<nvonnxparser::IParser> parser(
      nvonnxparser::createParser(*network, logger));
  if (!parser->parseFromFile(model, 0))
    return 1;
  for (int32_t k = 0; k < network->getNbInputs(); ++k)
    print("input", *network->getInput(k));
  for (int32_t k = 0; k < network->getNbOutputs(); ++k)
    print("output", *network->getOutput(k));
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 3 && !std::strcmp(argv[1], "build"))
    return build(argv[2]);
  if (argc == 3 && !std::strcmp(argv[1], "run"))
    return run(argv[2]);
  if (argc == 3 && !std::strcmp(argv[1], "parse"))
    return parse(argv[2]);
  std::printf("usage: engine build FILE | run FILE | parse MODEL\n");
  return 2;
}
