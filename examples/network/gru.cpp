//===- gru.cpp - A GRU, built layer by layer ------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A GRU by a recurrence, with loopc's network builder; gru.py is the same in
// Python. The names are those of TensorRT's C++ API: code that was written for
// it ports by changing the namespace.
//
//===----------------------------------------------------------------------===//

#include "loopc-rt/loopc_rt.h"
#include "loopc/Compiler.h"
#include "loopc/Frontend/Network/Network.h"
#include "loopc/Support/Diagnostics.h"

#include <cmath>
#include <cstdio>
#include <vector>

using namespace loopc::network;

static constexpr int64_t kHidden = 3, kWidth = 2;

/// Values that gru.py makes, too.
static std::vector<float> makeWeights(float first, int64_t count) {
  std::vector<float> values;
  for (int64_t k = 0; k < count; ++k)
    values.push_back(std::sin(first + static_cast<float>(k)));
  return values;
}

static ITensor *addConstant(INetworkDefinition &network, const Dims &dims,
                            const std::vector<float> &values) {
  Weights weights{DataType::kFLOAT, values.data(),
                  static_cast<int64_t>(values.size())};
  return network.addConstant(dims, weights)->getOutput(0);
}

static ITensor *combine(INetworkDefinition &network, ITensor *a, ITensor *b,
                        ElementWiseOperation operation) {
  return network.addElementWise(*a, *b, operation)->getOutput(0);
}

static ITensor *addGate(INetworkDefinition &network, const char *name,
                        float first, ITensor *row, ITensor *hidden,
                        ActivationType type) {
  auto multiply = [&](float from, int64_t width, ITensor *vector) {
    ITensor *matrix = addConstant(network, Dims2(kHidden, width),
                                  makeWeights(from, kHidden * width));
    return network
        .addMatrixMultiply(*matrix, MatrixOperation::kNONE, *vector,
                           MatrixOperation::kVECTOR)
        ->getOutput(0);
  };
  ITensor *sum =
      combine(network, multiply(first, kWidth, row),
              multiply(first + 1, kHidden, hidden), ElementWiseOperation::kSUM);
  IActivationLayer *layer = network.addActivation(*sum, type);
  layer->setName(name);
  return layer->getOutput(0);
}

/// x [steps, kWidth] and the number of steps to the last and all hidden states.
static void build(INetworkDefinition &network) {
  ITensor *x = network.addInput("x", DataType::kFLOAT, Dims2(-1, kWidth));
  x->setDimensionName(0, "steps");
  ITensor *steps = network.addInput("n", DataType::kINT32, Dims(0, {}));

  // The border of the loop. What else is in it follows from who uses what.
  ILoop *loop = network.addLoop();
  loop->setName("steps");
  loop->addTripLimit(*steps, TripLimit::kCOUNT);
  ITensor *row = loop->addIterator(*x)->getOutput(0);
  IRecurrenceLayer *state = loop->addRecurrence(*addConstant(
      network, Dims(1, {kHidden}), std::vector<float>(kHidden, 0.0f)));
  ITensor *h = state->getOutput(0);

  ITensor *update =
      addGate(network, "update", 0, row, h, ActivationType::kSIGMOID);
  ITensor *reset =
      addGate(network, "reset", 2, row, h, ActivationType::kSIGMOID);
  ITensor *candidate =
      addGate(network, "candidate", 4, row,
              combine(network, reset, h, ElementWiseOperation::kPROD),
              ActivationType::kTANH);
  // h + update * (candidate - h)
  ITensor *change =
      combine(network, update,
              combine(network, candidate, h, ElementWiseOperation::kSUB),
              ElementWiseOperation::kPROD);
  ITensor *next = combine(network, h, change, ElementWiseOperation::kSUM);
  state->setInput(1, *next);

  ILoopOutputLayer *last = loop->addLoopOutput(*h, LoopOutput::kLAST_VALUE);
  ILoopOutputLayer *all = loop->addLoopOutput(*next, LoopOutput::kCONCATENATE);
  all->setInput(1, *steps);
  last->getOutput(0)->setName("last");
  all->getOutput(0)->setName("all");
  network.markOutput(*last->getOutput(0));
  network.markOutput(*all->getOutput(0));
}

static loopc_value makeValue(void *data, DLDataType type,
                             std::vector<int64_t> &shape) {
  loopc_value value = {};
  value.kind = LOOPC_TENSOR;
  value.as.tensor = {data, {kDLCPU, 0},  static_cast<int32_t>(shape.size()),
                     type, shape.data(), nullptr,
                     0};
  return value;
}

/// Runs the model for `steps` steps and prints the last state.
static int run(const loopc_model *model, int32_t steps) {
  std::vector<float> x = makeWeights(0, 4 * kWidth);
  std::vector<int64_t> xShape = {4, kWidth}, scalar;
  loopc_value inputs[] = {makeValue(x.data(), {kDLFloat, 32, 1}, xShape),
                          makeValue(&steps, {kDLInt, 32, 1}, scalar)};
  loopc_value outputs[2] = {};
  loopc_error error;
  if (loopc_model_run(model, nullptr, inputs, 2, outputs, 2, &error)) {
    std::printf("%s\n", error.message);
    return 1;
  }
  std::printf("after %d steps:", static_cast<int>(steps));
  auto *last = static_cast<float *>(outputs[0].as.tensor.data);
  for (int64_t k = 0; k < kHidden; ++k)
    std::printf(" %.4f", last[k]);
  std::printf(" (%lld, %lld)\n",
              static_cast<long long>(outputs[1].as.tensor.shape[0]),
              static_cast<long long>(outputs[1].as.tensor.shape[1]));
  for (loopc_value &output : outputs)
    loopc_value_release(&output);
  return 0;
}

int main() {
  std::unique_ptr<INetworkDefinition> network = createNetwork("gru");
  build(*network);
  std::printf("%d layers\n", static_cast<int>(network->getNbLayers()));

  loopc::Compiler compiler({});
  loopc::DiagnosticCollector diagnostics(&compiler.getContext());
  if (failed(compiler.importNetwork(*network))) {
    std::printf("%s", diagnostics.str().c_str());
    return 1;
  }
  auto model = compiler.compileInProcess();
  if (failed(model)) {
    std::printf("%s", diagnostics.str().c_str());
    return 1;
  }
  return run((*model)->get(), 4) || run((*model)->get(), 0);
}
