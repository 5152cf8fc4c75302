//===- NetworkTest.cpp - Networks built by hand, in C++ -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Frontend/Network/Network.h"
#include "loopc-rt/loopc_rt.h"
#include "loopc/Compiler.h"
#include "loopc/Support/Diagnostics.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstring>
#include <numeric>

using namespace loopc::network;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using EW = ElementWiseOperation;

namespace {

/// A value that goes in or comes out: floats or 32-bit integers.
struct Array {
  std::vector<int64_t> shape;
  std::vector<float> floats;
  std::vector<int32_t> integers;
};

Array floats(std::vector<int64_t> shape, std::vector<float> values) {
  return {std::move(shape), std::move(values), {}};
}
Array integer(int32_t value) { return {{}, {}, {value}}; }

/// A network with short names for what the tests need again and again.
class NetworkTest : public testing::Test {
protected:
  ITensor *constant(std::vector<float> values, const Dims &dims) {
    return network
        .addConstant(dims, {DataType::kFLOAT, values.data(),
                            static_cast<int64_t>(values.size())})
        ->getOutput(0);
  }
  ITensor *scalar(float value) { return constant({value}, Dims()); }
  ITensor *scalar(int32_t value) {
    return network.addConstant(Dims(), {DataType::kINT32, &value, 1})
        ->getOutput(0);
  }
  ITensor *elementWise(ITensor *a, ITensor *b, EW operation) {
    return network.addElementWise(*a, *b, operation)->getOutput(0);
  }
  void output(ITensor *tensor, const char *name) {
    tensor->setName(name);
    network.markOutput(*tensor);
  }
  ITensor *collect(ILoop *loop, ITensor *tensor, ITensor *length,
                   LoopOutput kind, int32_t axis) {
    ILoopOutputLayer *layer = loop->addLoopOutput(*tensor, kind, axis);
    layer->setInput(1, *length);
    return layer->getOutput(0);
  }

  /// What compiling the network says; "" where it is well formed.
  std::string diagnose() {
    loopc::Compiler compiler({});
    loopc::DiagnosticCollector diagnostics(&compiler.getContext());
    if (failed(compiler.importNetwork(network)))
      return diagnostics.str();
    return "";
  }

  /// Runs the network; an error of the run is in `message`.
  std::vector<Array> run(std::vector<Array> inputs) {
    loopc::Compiler compiler({});
    loopc::DiagnosticCollector diagnostics(&compiler.getContext());
    if (failed(compiler.importNetwork(network))) {
      ADD_FAILURE() << diagnostics.str();
      return {};
    }
    auto model = compiler.compileInProcess();
    if (failed(model)) {
      ADD_FAILURE() << diagnostics.str();
      return {};
    }
    std::vector<loopc_value> given;
    for (Array &input : inputs) {
      bool isFloat = input.integers.empty();
      loopc_value value = {};
      value.kind = LOOPC_TENSOR;
      value.as.tensor = {
          isFloat ? static_cast<void *>(input.floats.data())
                  : input.integers.data(),
          {kDLCPU, 0},
          static_cast<int32_t>(input.shape.size()),
          {static_cast<uint8_t>(isFloat ? kDLFloat : kDLInt), 32, 1},
          input.shape.data(),
          nullptr,
          0};
      given.push_back(value);
    }
    std::vector<loopc_value> got(network.getNbOutputs());
    loopc_error error = {};
    if (loopc_model_run((*model)->get(), nullptr, given.data(), given.size(),
                        got.data(), got.size(), &error)) {
      message = error.message;
      return {};
    }
    std::vector<Array> results;
    for (loopc_value &value : got) {
      const DLTensor &tensor = value.as.tensor;
      Array array;
      array.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
      int64_t count = std::accumulate(array.shape.begin(), array.shape.end(),
                                      int64_t(1), std::multiplies<int64_t>());
      if (tensor.dtype.code == kDLFloat) {
        auto *data = static_cast<const float *>(tensor.data);
        array.floats.assign(data, data + count);
      } else {
        auto *data = static_cast<const int32_t *>(tensor.data);
        array.integers.assign(data, data + count);
      }
      results.push_back(std::move(array));
      loopc_value_release(&value);
    }
    return results;
  }

  INetworkDefinition network{"test"};
  std::string message;
};

//===----------------------------------------------------------------------===//
// The examples of TensorRT's guide
//===----------------------------------------------------------------------===//

/// trt_recurrence, trt_last_value: for (int32_t i = j; ...; i += k) ...
TEST_F(NetworkTest, GuideForLoop) {
  ITensor *j = network.addInput("j", DataType::kINT32, Dims(0, {}));
  ITensor *k = network.addInput("k", DataType::kINT32, Dims(0, {}));
  ITensor *count = network.addInput("n", DataType::kINT32, Dims(0, {}));
  INetworkDefinition &n = network;

  ILoop *loop = n.addLoop();
  IRecurrenceLayer *iRec = loop->addRecurrence(*j);
  ITensor *i = iRec->getOutput(0);
  ITensor *iNext =
      n.addElementWise(*i, *k, ElementWiseOperation::kADD)->getOutput(0);
  iRec->setInput(1, *iNext);

  loop->addTripLimit(*count, TripLimit::kCOUNT);
  n.markOutput(*loop->addLoopOutput(*i, LoopOutput::kLAST_VALUE)->getOutput(0));
  EXPECT_THAT(run({integer(5), integer(3), integer(4)})[0].integers,
              ElementsAre(17));
  EXPECT_THAT(run({integer(5), integer(3), integer(0)})[0].integers,
              ElementsAre(5));
}

/// trt_iterator: rows of [[2,3,5],[4,6,8]], its columns, and both backwards.
TEST_F(NetworkTest, GuideIterators) {
  ITensor *x = network.addInput("x", DataType::kFLOAT, Dims2(2, 3));
  struct Case {
    int32_t axis;
    bool reverse;
    const char *name;
  };
  for (Case one : {Case{0, false, "rows"}, Case{1, false, "columns"},
                   Case{0, true, "rowsBack"}, Case{1, true, "columnsBack"}}) {
    ITensor *count = scalar(one.axis ? 3 : 2);
    ILoop *loop = network.addLoop();
    loop->addTripLimit(*count, TripLimit::kCOUNT);
    IIteratorLayer *iterator = loop->addIterator(*x, one.axis, one.reverse);
    EXPECT_EQ(iterator->getLoop(), loop);
    EXPECT_EQ(iterator->getAxis(), one.axis);
    EXPECT_EQ(iterator->getReverse(), one.reverse);
    output(collect(loop, iterator->getOutput(0), count,
                   LoopOutput::kCONCATENATE, 0),
           one.name);
  }
  auto results = run({floats({2, 3}, {2, 3, 5, 4, 6, 8})});
  ASSERT_EQ(results.size(), 4u);
  EXPECT_THAT(results[0].floats, ElementsAre(2, 3, 5, 4, 6, 8));
  EXPECT_THAT(results[1].floats, ElementsAre(2, 4, 3, 6, 5, 8));
  EXPECT_THAT(results[2].floats, ElementsAre(4, 6, 8, 2, 3, 5));
  EXPECT_THAT(results[3].floats, ElementsAre(5, 8, 3, 6, 2, 4));
}

/// trt_concatenate: {a,b,c} and {d,e,f} stacked along both axes, reversed,
/// padded.
TEST_F(NetworkTest, GuideOutputs) {
  ITensor *x = network.addInput("x", DataType::kFLOAT, Dims2(-1, 3));
  ITensor *count = network.addInput("n", DataType::kINT32, Dims(0, {}));
  ILoop *loop = network.addLoop();
  loop->setName("outputs");
  loop->addTripLimit(*count, TripLimit::kCOUNT);
  ITensor *row = loop->addIterator(*x)->getOutput(0);
  ITensor *length = scalar(int32_t(2)), *longer = scalar(int32_t(3));
  output(collect(loop, row, length, LoopOutput::kCONCATENATE, 0), "a");
  output(collect(loop, row, length, LoopOutput::kCONCATENATE, 1), "b");
  output(collect(loop, row, longer, LoopOutput::kREVERSE, 0), "c");
  Array values = floats({4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0});
  auto results = run({values, integer(2)});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_THAT(results[0].floats, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(results[1].shape, ElementsAre(3, 2));
  EXPECT_THAT(results[1].floats, ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(results[2].floats, ElementsAre(4, 5, 6, 1, 2, 3, 0, 0, 0));
  // More trips than the length.
  EXPECT_THAT(run({values, integer(3)}), IsEmpty());
  EXPECT_THAT(message, HasSubstr("Loop 'outputs'"));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// trt_while, trt_trips: tested before every trip, the first included.
TEST_F(NetworkTest, While) {
  ITensor *start = network.addInput("start", DataType::kFLOAT, Dims(0, {}));
  ILoop *loop = network.addLoop();
  IRecurrenceLayer *rec = loop->addRecurrence(*start);
  ITensor *value = rec->getOutput(0);
  ITensor *small = elementWise(value, scalar(100.0f), EW::kLESS);
  EXPECT_EQ(loop->addTripLimit(*small, TripLimit::kWHILE)->getTripLimit(),
            TripLimit::kWHILE);
  rec->setInput(1, *elementWise(value, scalar(2.0f), EW::kPROD));
  output(loop->addLoopOutput(*value, LoopOutput::kLAST_VALUE)->getOutput(0),
         "y");
  EXPECT_THAT(run({floats({}, {3})})[0].floats, ElementsAre(192));
  EXPECT_THAT(run({floats({}, {500})})[0].floats, ElementsAre(500));
}

/// trt_membership: a loop that uses values of the inside of another is in it.
TEST_F(NetworkTest, Nested) {
  ITensor *x = network.addInput("x", DataType::kFLOAT, Dims2(-1, 2));
  ITensor *rows = network.addInput("rows", DataType::kINT32, Dims(0, {}));
  ITensor *columns = scalar(int32_t(2));
  ILoop *inner = network.addLoop(), *outer = network.addLoop();
  outer->addTripLimit(*rows, TripLimit::kCOUNT);
  inner->addTripLimit(*columns, TripLimit::kCOUNT);
  ITensor *row = outer->addIterator(*x)->getOutput(0);
  ITensor *cell = inner->addIterator(*row)->getOutput(0);
  IRecurrenceLayer *product = inner->addRecurrence(*scalar(1.0f));
  product->setInput(1, *elementWise(product->getOutput(0), cell, EW::kPROD));
  ITensor *each =
      inner->addLoopOutput(*product->getOutput(0), LoopOutput::kLAST_VALUE)
          ->getOutput(0);
  output(collect(outer, each, rows, LoopOutput::kREVERSE, 0), "y");
  EXPECT_EQ(diagnose(), "");
  EXPECT_THAT(run({floats({3, 2}, {1, 2, 3, 4, 5, 6}), integer(3)})[0].floats,
              ElementsAre(30, 12, 2));
}

TEST_F(NetworkTest, Conditional) {
  ITensor *x = network.addInput("x", DataType::kFLOAT, Dims(1, {-1}));
  ITensor *c = network.addInput("c", DataType::kINT32, Dims(0, {}));
  IIfConditional *branch = network.addIfConditional();
  branch->setCondition(*elementWise(c, scalar(int32_t(0)), EW::kGREATER));
  ITensor *inside = branch->addInput(*x)->getOutput(0);
  ITensor *sum = elementWise(inside, inside, EW::kSUM);
  IConcatenationLayer *twice = nullptr;
  ITensor *both[] = {inside, inside};
  twice = network.addConcatenation(both, 2);
  twice->setAxis(0);
  output(branch->addOutput(*sum, *twice->getOutput(0))->getOutput(0), "y");
  EXPECT_THAT(run({floats({2}, {1, 2}), integer(1)})[0].floats,
              ElementsAre(2, 4));
  EXPECT_THAT(run({floats({2}, {1, 2}), integer(0)})[0].floats,
              ElementsAre(1, 2, 1, 2));
}

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

TEST_F(NetworkTest, ErrorsNameTheLayers) {
  ILoop *loop = network.addLoop();
  loop->setName("bad");
  IRecurrenceLayer *rec = loop->addRecurrence(*scalar(1.0f));
  rec->setName("open");
  ILoopOutputLayer *last =
      loop->addLoopOutput(*rec->getOutput(0), LoopOutput::kCONCATENATE);
  last->setName("collected");
  network.markOutput(*last->getOutput(0));
  std::string said = diagnose();
  // All that is wrong with the loop by itself is said at once.
  EXPECT_THAT(said, HasSubstr("LC0803: loop 'bad' has no trip limit"));
  EXPECT_THAT(said, HasSubstr("LC0804: Recurrence 'open' of loop 'bad'"));
  EXPECT_THAT(said, HasSubstr("LC0806: LoopOutput 'collected' of loop 'bad'"));
}

TEST_F(NetworkTest, CallsThatAreWrong) {
  INetworkDefinition other("other");
  ITensor *foreign = other.addInput("f", DataType::kFLOAT, Dims(0, {}));
  ITensor *x = network.addInput("x", DataType::kFLOAT, Dims(0, {}));
  IElementWiseLayer *layer = network.addElementWise(*x, *foreign, EW::kSUM);
  ASSERT_NE(layer, nullptr);
  layer->setInput(7, *x);
  layer->setName("sum");
  network.markOutput(*layer->getOutput(0));
  ASSERT_EQ(network.getErrors().size(), 2u);
  EXPECT_THAT(network.getErrors()[0], HasSubstr("'f'"));
  EXPECT_THAT(diagnose(), HasSubstr("has no input 7"));
}

/// Numbers that cannot be are errors of the network, never reads of memory that
/// is not there.
TEST_F(NetworkTest, NumbersThatCannotBe) {
  const float values[6] = {};
  auto expectError = [&](const char *part) {
    std::vector<std::string> errors = network.takeErrors();
    ASSERT_EQ(errors.size(), 1u) << part;
    EXPECT_THAT(errors[0], HasSubstr(part));
  };
  network.addConstant(Dims(1, {-1}), {DataType::kFLOAT, values, -1});
  expectError("[-1]");
  network.addConstant(Dims2(-2, -3), {DataType::kFLOAT, values, 6});
  expectError("[-2, -3]");
  int64_t half = int64_t(1) << 32;
  network.addConstant(Dims2(half, half), {DataType::kFLOAT, values, 0});
  expectError("has 0 values");
  network.addConstant(Dims(1, {6}), {DataType::kFLOAT, nullptr, 6});
  expectError("6 values at null");
  network.addConstant(Dims(1, {6}), {DataType::kSTRING, values, 6});
  expectError("a type that weights cannot have");
  network.addStringConstant(Dims2(-1, -1), {"a"});
  expectError("[-1, -1]");
  IConstantLayer *constant =
      network.addConstant(Dims2(2, 3), {DataType::kFLOAT, values, 6});
  constant->setWeights({DataType::kFLOAT, values, 2});
  expectError("has 2 values but the shape [2, 3]");
  Dims many;
  many.nbDims = 1000;
  ITensor *x = network.addInput("x", DataType::kFLOAT, many);
  expectError("1000 dimensions");
  x->setDimensions(Dims(40, {1, 2, 3}));
  expectError("40 dimensions");
  network.addShuffle(*x)->setReshapeDimensions(many);
  expectError("'reshape_dimensions'");
  network.addLayer(static_cast<LayerType>(777), &x, 1);
  expectError("kind 777");
  network.addConcatenation(nullptr, 2);
  expectError("must not be null");
  network.addNode("Split", &x, 1, 1 << 30);
  expectError("outputs");
}

/// Outputs of another network stay what they are.
TEST_F(NetworkTest, UnmarksNoOutputsOfOthers) {
  INetworkDefinition other("other");
  ITensor *foreign = other.addInput("f", DataType::kFLOAT, Dims());
  other.markOutput(*foreign);
  network.unmarkOutput(*foreign);
  EXPECT_EQ(network.takeErrors().size(), 1u);
  EXPECT_TRUE(foreign->isNetworkOutput());
  other.markOutput(*foreign);
  EXPECT_EQ(other.getNbOutputs(), 1);
  network.addLayer(LayerType::kITERATOR, nullptr, 0, other.addLoop());
  EXPECT_EQ(network.takeErrors().size(), 1u);
}

/// The layer that was added last can be taken back, unless something uses it.
TEST_F(NetworkTest, RemoveLastLayer) {
  ITensor *x = network.addInput("x", DataType::kFLOAT, Dims());
  ILayer *first = network.addIdentity(*x);
  EXPECT_THAT(first->getOutput(0)->getDimensions().nbDims, 0);
  network.addTopK(*x, TopKOperation::kMAX, 1, 1);
  EXPECT_TRUE(network.removeLastLayer());
  EXPECT_EQ(network.getNbLayers(), 1);
  EXPECT_EQ(network.getNbTensors(), 2);
  network.markOutput(*first->getOutput(0));
  EXPECT_FALSE(network.removeLastLayer());
  network.unmarkOutput(*first->getOutput(0));
  EXPECT_EQ(network.takeErrors().size(), 1u);
  IIfConditional *conditional = network.addIfConditional();
  conditional->setCondition(*x);
  EXPECT_TRUE(network.removeLastLayer());
  EXPECT_NE(conditional->setCondition(*x), nullptr);
  EXPECT_TRUE(network.removeLastLayer());
  EXPECT_TRUE(network.removeLastLayer());
  EXPECT_FALSE(network.removeLastLayer());
}

//===----------------------------------------------------------------------===//
// What a network says of itself
//===----------------------------------------------------------------------===//

TEST_F(NetworkTest, LayersAndText) {
  ITensor *x = network.addInput("x", DataType::kHALF, Dims2(-1, 4));
  x->setDimensionName(0, "rows");
  IReduceLayer *reduce =
      network.addReduce(*x, ReduceOperation::kMAX, 1u << 1, false);
  EXPECT_STREQ(reduce->getName(), "(Unnamed Layer* 0) [Reduce]");
  reduce->setName("largest");
  EXPECT_EQ(network.getNbLayers(), 1);
  EXPECT_EQ(network.getLayer(0), reduce);
  EXPECT_EQ(network.getLayer(1), nullptr);
  EXPECT_EQ(reduce->getType(), LayerType::kREDUCE);
  EXPECT_EQ(reduce->getReduceAxes(), 2u);
  EXPECT_FALSE(reduce->getKeepDimensions());
  ITensor *y = reduce->getOutput(0);
  EXPECT_STREQ(y->getName(), "largest_output");
  EXPECT_EQ(y->getType(), DataType::kHALF);
  EXPECT_EQ(y->getDimensions().nbDims, 1);
  EXPECT_EQ(y->getDimensions().d[0], -1);
  reduce->setKeepDimensions(true);
  EXPECT_EQ(y->getDimensions().nbDims, 2);
  EXPECT_TRUE(x->isNetworkInput());
  output(y, "y");
  EXPECT_TRUE(y->isNetworkOutput());
  EXPECT_THAT(network.toString(), HasSubstr("x: HALF [rows, 4]"));
  EXPECT_THAT(network.toString(),
              HasSubstr("#0 Reduce 'largest' (x) {operation = MAX, axes = 2, "
                        "keep_dimensions = 1} -> y: HALF [?, 1]"));
  network.unmarkOutput(*y);
  EXPECT_EQ(network.getNbOutputs(), 0);
}

/// Weights are copied, and come back as they were set.
TEST_F(NetworkTest, Weights) {
  std::vector<float> values = {1, 2, 3, 4};
  IConstantLayer *layer =
      network.addConstant(Dims2(2, 2), {DataType::kFLOAT, values.data(), 4});
  values.assign(4, 0);
  Weights weights = layer->getWeights();
  EXPECT_EQ(weights.count, 4);
  EXPECT_EQ(static_cast<const float *>(weights.values)[3], 4);
  EXPECT_EQ(layer->getDimensions().nbDims, 2);
  output(layer->getOutput(0), "y");
  EXPECT_THAT(run({})[0].floats, ElementsAre(1, 2, 3, 4));
}

/// Scale, Padding, Resize, Quantize and Dequantize, as TensorRT's programs set
/// them up.
TEST_F(NetworkTest, ScalesAndPaddings) {
  ITensor *x = network.addInput("x", DataType::kFLOAT, Dims2(2, 2));
  std::vector<float> factors = {1, 10}, shifts = {0.5};
  IScaleLayer *scale =
      network.addScaleNd(*x, ScaleMode::kCHANNEL, {},
                         {DataType::kFLOAT, factors.data(), 2}, {}, 1);
  IScaleLayer *shift =
      network.addScale(*scale->getOutput(0), ScaleMode::kUNIFORM,
                       {DataType::kFLOAT, shifts.data(), 1}, {}, {});
  EXPECT_EQ(shift->getType(), LayerType::kSCALE);
  EXPECT_EQ(shift->getShift().count, 1);
  output(shift->getOutput(0), "scaled");
  IPaddingLayer *padding =
      network.addPaddingNd(*x, Dims(1, {-1}), Dims(1, {2}));
  EXPECT_EQ(padding->getPostPaddingNd().d[0], 2);
  output(padding->getOutput(0), "padded");
  IResizeLayer *resize = network.addResize(*x);
  float scales[] = {1, 2};
  resize->setScales(scales, 2);
  EXPECT_EQ(resize->getScales(0, nullptr), 2);
  EXPECT_EQ(resize->getResizeMode(), InterpolationMode::kNEAREST);
  output(resize->getOutput(0), "resized");
  IQuantizeLayer *quantize =
      network.addQuantize(*x, *scalar(2.f), DataType::kINT8);
  output(network.addDequantize(*quantize->getOutput(0), *scalar(2.f))
             ->getOutput(0),
         "rounded");
  std::vector<Array> found = run({floats({2, 2}, {1, 2, 3, 5})});
  ASSERT_EQ(found.size(), 4u);
  EXPECT_THAT(found[0].floats, ElementsAre(1.5, 20.5, 3.5, 50.5));
  EXPECT_THAT(found[1].floats, ElementsAre(2, 0, 0, 5, 0, 0));
  EXPECT_THAT(found[2].floats, ElementsAre(1, 1, 2, 2, 3, 3, 5, 5));
  EXPECT_THAT(found[3].floats, ElementsAre(0, 2, 4, 4));
}

/// Types are found while the network grows; what is wrong can be put right.
TEST_F(NetworkTest, TypesWhileItGrows) {
  ITensor *x = network.addInput("x", DataType::kFLOAT, Dims(1, {1}));
  ILoop *loop = network.addLoop();
  IRecurrenceLayer *rec = loop->addRecurrence(*x);
  EXPECT_EQ(rec->getOutput(0)->getDimensions().d[0], 1);
  ITensor *both[] = {rec->getOutput(0), rec->getOutput(0)};
  IConcatenationLayer *twice = network.addConcatenation(both, 2);
  twice->setAxis(3);
  EXPECT_EQ(twice->getOutput(0)->getDimensions().nbDims, -1);
  DataType type;
  Dims dims;
  std::string error;
  EXPECT_FALSE(network.findType(*twice->getOutput(0), type, dims, error));
  EXPECT_THAT(error, HasSubstr("axis 3"));
  twice->setAxis(0);
  EXPECT_EQ(twice->getOutput(0)->getDimensions().d[0], 2);
  rec->setInput(1, *twice->getOutput(0));
  EXPECT_EQ(rec->getOutput(0)->getDimensions().d[0], -1);
}

} // namespace
