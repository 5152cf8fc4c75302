//===- network_program.hpp - Runs of the networks of a program --*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the C++ programs of network_sources.py share. For each network and set
// of inputs a line is printed for each output ("SEED SET NUMBER", the number of
// the type, extents, bytes), or one for an error.
//
//===----------------------------------------------------------------------===//
#include "loopc/TensorRT.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

using namespace loopc::network;

namespace {
/// Keeps what it is told.
struct Logger : ILogger {
  void log(Severity severity, const char *message) noexcept override {
    if (severity > Severity::kERROR)
      return;
    for (const char *at = message; *at; ++at)
      text += *at == '\n' ? ' ' : *at;
  }
  std::string text;
} logger;

/// Memory for an output of any shape.
struct Output : IOutputAllocator {
  ~Output() override { std::free(data); }
  void *reallocateOutput(const char *, void *, uint64_t size,
                         uint64_t alignment) override {
    std::free(data);
    size = (size / alignment + 1) * alignment;
    return data = std::aligned_alloc(alignment, size);
  }
  void notifyShape(const char *, const Dims &extents) noexcept override {
    dims = extents;
  }
  void *data = nullptr;
  Dims dims;
};

struct Feed {
  const char *name;
  Dims dims;
  const void *data;
};

std::unique_ptr<IBuilder> builder(createInferBuilder(logger));

std::unique_ptr<INetworkDefinition> create(const char *name) {
  std::unique_ptr<INetworkDefinition> made(builder->createNetworkV2(0));
  made->setName(name);
  return made;
}

/// The engine of a network.
class Engine {
public:
  Engine(INetworkDefinition &network, int seed, int level) : seed(seed) {
    logger.text.clear();
    std::unique_ptr<IBuilderConfig> config(builder->createBuilderConfig());
    config->setBuilderOptimizationLevel(level);
    engine.reset(builder->buildEngineWithConfig(network, *config));
    if (!engine)
      sayError(-1, network.getErrors().empty() ? "refused" : "call");
  }
  ~Engine() { std::fflush(stdout); }

  void run(int set, const std::vector<Feed> &feeds) {
    if (!engine)
      return;
    logger.text.clear();
    std::unique_ptr<IExecutionContext> context(
        engine->createExecutionContext());
    std::vector<std::unique_ptr<Output>> outputs;
    bool isGood = true;
    for (int32_t k = 0; k < engine->getNbIOTensors(); ++k) {
      const char *name = engine->getIOTensorName(k);
      if (engine->getTensorIOMode(name) == TensorIOMode::kOUTPUT) {
        outputs.push_back(std::make_unique<Output>());
        context->setOutputAllocator(name, outputs.back().get());
        continue;
      }
      for (const Feed &feed : feeds)
        if (!std::strcmp(feed.name, name)) {
          isGood = isGood && context->setInputShape(name, feed.dims);
          context->setInputTensorAddress(name, feed.data);
        }
    }
    if (!isGood || !context->enqueueV3(nullptr))
      return sayError(set, "error");
    int32_t number = 0;
    for (int32_t k = 0; k < engine->getNbIOTensors(); ++k) {
      const char *name = engine->getIOTensorName(k);
      if (engine->getTensorIOMode(name) == TensorIOMode::kOUTPUT) {
        print(set, number, name, *outputs[number]);
        ++number;
      }
    }
  }

private:
  void sayError(int set, const char *kind) {
    std::printf("%d %d %s %s\n", seed, set, kind, logger.text.c_str());
  }

  void print(int set, int32_t number, const char *name, const Output &output) {
    int64_t bytes = engine->getTensorBytesPerComponent(name);
    std::printf("%d %d %d %d [", seed, set, number,
                static_cast<int>(engine->getTensorDataType(name)));
    for (int32_t k = 0; k < output.dims.nbDims; ++k) {
      std::printf("%s%lld", k ? "," : "",
                  static_cast<long long>(output.dims.d[k]));
      bytes *= output.dims.d[k];
    }
    std::printf("] ");
    for (int64_t k = 0; k < bytes; ++k)
      std::printf("%02x", static_cast<unsigned char *>(output.data)[k]);
    std::printf("\n");
  }

  int seed;
  std::unique_ptr<ICudaEngine> engine;
};
} // namespace
