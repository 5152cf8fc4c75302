//===- ListBorderTest.cpp - Sequences, optionals, strings at the border ---===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include <gmock/gmock.h>

using namespace loopc::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

loopc_run *asRun(void *run) { return static_cast<loopc_run *>(run); }

loopc_rt_list *&getList(void *slot) {
  return *static_cast<loopc_rt_list **>(slot);
}

/// Returns input 0, a list, as every output.
int32_t passOn(void *run, void **inputs, void **outputs) {
  getList(outputs[0]) = loopc_rt_list_retain(asRun(run), getList(inputs[0]));
  return 0;
}

int32_t passOnTwice(void *run, void **inputs, void **outputs) {
  getList(outputs[1]) = loopc_rt_list_retain(asRun(run), getList(inputs[0]));
  return passOn(run, inputs, outputs);
}

int32_t succeed(void *, void **, void **) { return 0; }

loopc_value makeSequence(std::vector<loopc_value> &items) {
  loopc_value value = {};
  value.kind = LOOPC_SEQUENCE;
  value.as.sequence = {items.data(), items.size()};
  return value;
}

loopc_value makeOptional(loopc_value *held) {
  loopc_value value = {};
  value.kind = LOOPC_OPTIONAL;
  value.as.optional = {held};
  return value;
}

/// A tensor of strings with its memory.
struct TestStrings {
  TestStrings(std::vector<int64_t> shape, std::vector<std::string> texts)
      : shape(std::move(shape)), texts(std::move(texts)) {}

  loopc_value get() {
    strings.clear();
    for (const std::string &text : texts)
      strings.push_back({text.empty() ? nullptr : text.data(), text.size()});
    loopc_value value = {};
    value.kind = LOOPC_STRINGS;
    value.as.strings = {strings.data(), shape.data(),
                        static_cast<int32_t>(shape.size())};
    return value;
  }

  std::vector<int64_t> shape;
  std::vector<std::string> texts;
  std::vector<loopc_string> strings;
};

std::vector<std::string> getTexts(const loopc_value &value) {
  std::vector<std::string> texts;
  int64_t count = 1;
  for (int32_t i = 0; i < value.as.strings.ndim; ++i)
    count *= value.as.strings.shape[i];
  for (int64_t i = 0; i < count; ++i)
    texts.emplace_back(value.as.strings.data[i].data,
                       value.as.strings.data[i].size);
  return texts;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

TEST(ListInput, ElementsAreBorrowed) {
  static const void *data;
  static const int64_t *shape;
  TestModel model([](void *raw, void **inputs, void **) {
    loopc_rt_list *list = getList(inputs[0]);
    EXPECT_EQ(loopc_rt_list_length(list), 2);
    loopc_rt_element_view view;
    loopc_rt_list_at(asRun(raw), list, 0, &view);
    EXPECT_EQ(view.owner, nullptr);
    EXPECT_EQ(view.data, data);
    EXPECT_EQ(view.bytes, 24);
    EXPECT_EQ(view.rank, 2);
    EXPECT_EQ(view.shape, shape);
    EXPECT_EQ(view.shape_owner, nullptr);
    loopc_rt_free(asRun(raw), view.owner);
    loopc_rt_free(asRun(raw), view.shape_owner);
    loopc_rt_list_at(asRun(raw), list, 1, &view);
    EXPECT_EQ(view.bytes, 0);
    EXPECT_EQ(view.rank, 1);
    EXPECT_EQ(view.shape[0], 0);
    return int32_t{0};
  });
  model.unrankedInput("x", kF32).inSequence();
  TestTensor<float> one(kF32, {2, 3}, {1, 2, 3, 4, 5, 6});
  TestTensor<float> none(kF32, {0}, {});
  data = one.data.data();
  shape = one.shape.data();
  std::vector<loopc_value> items = {one.get(), none.get()}, outputs;
  items[1].as.tensor.data = nullptr;
  Outcome outcome = runModel(model, {makeSequence(items)}, outputs);
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_EQ(outcome.statistics.copied_bytes, 0u);
  EXPECT_EQ(outcome.statistics.allocations, 0u);
}

TEST(ListInput, ElementsAreCopiedWhereTheyMust) {
  TestModel model([](void *raw, void **inputs, void **) {
    loopc_run *run = asRun(raw);
    loopc_rt_element_view view;
    loopc_rt_list_at(run, getList(inputs[0]), 0, &view);
    EXPECT_EQ(std::vector<int8_t>(static_cast<int8_t *>(view.data),
                                  static_cast<int8_t *>(view.data) + 3),
              (std::vector<int8_t>{-1, 7, -8}));
    EXPECT_EQ(view.bytes, 3);
    loopc_rt_free(run, view.owner);
    loopc_rt_list_at(run, getList(inputs[1]), 0, &view);
    EXPECT_EQ(std::vector<int8_t>(static_cast<int8_t *>(view.data),
                                  static_cast<int8_t *>(view.data) + 2),
              (std::vector<int8_t>{1, 0}));
    loopc_rt_free(run, view.owner);
    loopc_rt_list_at(run, getList(inputs[2]), 0, &view);
    EXPECT_EQ(std::vector<float>(static_cast<float *>(view.data),
                                 static_cast<float *>(view.data) + 3),
              (std::vector<float>{3, 2, 1}));
    loopc_rt_free(run, view.owner);
    return int32_t{0};
  });
  model.input("x", kI4, {open()}).inSequence();
  model.input("b", kBool, {open()}).inOptional();
  model.input("f", kF32, {open()}).inSequence();
  TestTensor<uint8_t> packed(kI4, {3}, {0x7F, 0x08});
  TestTensor<uint8_t> bools(kBool, {2}, {2, 0});
  TestTensor<float> reversed(kF32, {3}, {1, 2, 3}, {-1});
  std::vector<loopc_value> x = {packed.get()}, f = {reversed.get()}, outputs;
  f[0].as.tensor.data = &reversed.data[2];
  loopc_value held = bools.get();
  Outcome outcome = runModel(
      model, {makeSequence(x), makeOptional(&held), makeSequence(f)}, outputs);
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_EQ(outcome.statistics.copied_bytes, 3u + 2u + 12u);
}

TEST(ListInput, StringsAreBorrowed) {
  TestModel model([](void *raw, void **inputs, void **) {
    auto &x = getMemRef<2>(inputs[0]);
    EXPECT_EQ(x.sizes[0], 1);
    EXPECT_EQ(x.strides[0], 2);
    loopc_string *texts = x.data<loopc_string>();
    EXPECT_EQ(std::string(texts[0].data, texts[0].size), "one");
    EXPECT_EQ(texts[1].size, 0u);
    loopc_rt_element_view view;
    loopc_rt_list_at(asRun(raw), getList(inputs[1]), 0, &view);
    EXPECT_EQ(view.data, texts);
    EXPECT_EQ(view.bytes, 32);
    EXPECT_EQ(view.rank, 2);
    return int32_t{0};
  });
  model.input("x", {}, {open(), open()}).ofStrings();
  model.input("s", {}, {open(), open()}).ofStrings().inSequence();
  TestStrings strings({1, 2}, {"one", ""});
  std::vector<loopc_value> items = {strings.get()}, outputs;
  Outcome outcome = runModel(model, {items[0], makeSequence(items)}, outputs);
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_EQ(outcome.statistics.copied_bytes, 0u);
}

TEST(ListInput, NamedDimensionsOfStrings) {
  TestModel model(succeed);
  model.input("x", {}, {named("n")}).ofStrings();
  model.input("y", kF32, {named("n")});
  TestStrings strings({2}, {"a", "b"});
  TestTensor<float> tensor(kF32, {3}, {1, 2, 3});
  std::vector<loopc_value> outputs;
  Outcome outcome = runModel(model, {strings.get(), tensor.get()}, outputs);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_DIM_NAME);
  EXPECT_EQ(outcome.message,
            "input 'y' (#1): dimension 0 ('n') is 3 but input 'x' has 2; "
            "if 'n' is not one extent, compile the model with --dim=n=?");
}

//===----------------------------------------------------------------------===//
// Wrong inputs
//===----------------------------------------------------------------------===//

/// The message with which a sequence of float32[2, ?] refuses `value`.
std::string refuse(loopc_value value) {
  TestModel model(succeed);
  model.input("x", kF32, {fixed(2), open()}).inSequence();
  std::vector<loopc_value> outputs;
  Outcome outcome = runModel(model, {value}, outputs);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_INPUT);
  return outcome.message;
}

std::string refuseItem(loopc_value item) {
  TestTensor<float> good(kF32, {2, 1}, {1, 2});
  std::vector<loopc_value> items = {good.get(), item};
  return refuse(makeSequence(items));
}

TEST(ListInput, WrongValues) {
  const std::string x = "input 'x' (#0): ", item = x + "element 1: ";
  TestTensor<float> tensor(kF32, {2, 1}, {1, 2});
  EXPECT_EQ(refuse(tensor.get()), x + "kind tensor, expected sequence");
  EXPECT_EQ(refuse({}), x + "kind none, expected sequence");
  loopc_value flagged = {};
  flagged.kind = LOOPC_SEQUENCE;
  flagged.flags = 1;
  EXPECT_EQ(refuse(flagged), x + "unknown flags 0x1");
  loopc_value null = {};
  null.kind = LOOPC_SEQUENCE;
  null.as.sequence.count = 1;
  EXPECT_EQ(refuse(null), x + "the items are null");
  EXPECT_EQ(refuseItem(makeOptional(nullptr)),
            item + "kind optional, expected tensor");
  TestTensor<double> dtype(kF64, {2, 1}, {1, 2});
  EXPECT_EQ(refuseItem(dtype.get()), item + "dtype float64, expected float32");
  TestTensor<float> rank(kF32, {2}, {1, 2});
  EXPECT_EQ(refuseItem(rank.get()), item + "rank 1, expected 2");
  TestTensor<float> dim(kF32, {1, 2}, {1, 2});
  EXPECT_EQ(refuseItem(dim.get()), item + "dimension 0 is 1, expected 2");
}

TEST(ListInput, WrongNestedValue) {
  TestModel model(succeed);
  model.input("x", kF32, {open()}).inSequence().inSequence().inOptional();
  TestTensor<float> tensor(kF32, {1, 1}, {1});
  std::vector<loopc_value> none, inner = {tensor.get()}, outputs;
  std::vector<loopc_value> items = {makeSequence(none), makeSequence(none),
                                    makeSequence(inner)};
  loopc_value held = makeSequence(items);
  Outcome outcome = runModel(model, {makeOptional(&held)}, outputs);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_INPUT);
  EXPECT_EQ(outcome.message,
            "input 'x' (#0): element 2: element 0: rank 2, expected 1");
}

TEST(ListInput, WrongStrings) {
  const std::string x = "input 'x' (#0): ";
  auto refuseStrings = [](loopc_value value) {
    TestModel model(succeed);
    model.input("x", {}, {fixed(2)}).ofStrings();
    std::vector<loopc_value> outputs;
    Outcome outcome = runModel(model, {value}, outputs);
    EXPECT_EQ(outcome.status, LOOPC_ERROR_INPUT);
    return outcome.message;
  };
  TestStrings rank({1, 2}, {"a", "b"});
  EXPECT_EQ(refuseStrings(rank.get()), x + "rank 2, expected 1");
  TestStrings dim({1}, {"a"});
  EXPECT_EQ(refuseStrings(dim.get()), x + "dimension 0 is 1, expected 2");
  TestStrings null({2}, {"a", "b"});
  loopc_value value = null.get();
  null.strings[1].data = nullptr;
  EXPECT_EQ(refuseStrings(value), x + "string 1 is null");
  null.strings[1] = {"", SIZE_MAX};
  EXPECT_THAT(refuseStrings(value), HasSubstr("string 1 has 1844"));
  value.as.strings.data = nullptr;
  EXPECT_EQ(refuseStrings(value), x + "the data is null");
  int64_t huge = INT64_MAX;
  value.as.strings.shape = &huge;
  EXPECT_THAT(refuseStrings(value), HasSubstr("has too many elements"));
  huge = -1;
  EXPECT_EQ(refuseStrings(value), x + "dimension 0 is -1");
  value.as.strings.shape = nullptr;
  EXPECT_EQ(refuseStrings(value), x + "the shape is null");
  TestTensor<float> tensor(kF32, {2}, {1, 2});
  EXPECT_EQ(refuseStrings(tensor.get()), x + "kind tensor, expected strings");
}

TEST(ListInput, MemoryLimit) {
  TestModel model(succeed);
  model.input("x", kF32, {}).inSequence();
  TestTensor<float> scalar(kF32, {}, {1});
  std::vector<loopc_value> items(1000, scalar.get()), outputs;
  loopc_run_options options = makeOptions();
  options.memory_limit = 4096;
  Outcome outcome = runModel(model, {makeSequence(items)}, outputs, &options);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_MEMORY);
  EXPECT_THAT(outcome.message, HasSubstr("exceed the limit of 4096 bytes"));
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

TEST(ListOutput, SharesNothingWithInputs) {
  TestModel model(passOnTwice);
  model.unrankedInput("x", kF32).inSequence();
  model.unrankedOutput("y", kF32).inSequence();
  model.unrankedOutput("z", kF32).inSequence();
  TestTensor<float> one(kF32, {2, 2}, {1, 2, 3, 4});
  TestTensor<float> other(kF32, {}, {5});
  TestTensor<float> none(kF32, {3, 0}, {});
  std::vector<loopc_value> items = {one.get(), other.get(), none.get()};
  std::vector<loopc_value> outputs(2);
  Outcome outcome = runModel(model, {makeSequence(items)}, outputs);
  ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  one.data[0] = 100;
  one.shape[0] = 100;
  for (loopc_value &output : outputs) {
    ASSERT_EQ(output.kind, LOOPC_SEQUENCE);
    ASSERT_EQ(output.as.sequence.count, 3u);
    loopc_value *got = output.as.sequence.items;
    EXPECT_THAT(getShape(got[0]), ElementsAre(2, 2));
    EXPECT_THAT(getData<float>(got[0], 4), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(getShape(got[1]), ElementsAre());
    EXPECT_THAT(getData<float>(got[1], 1), ElementsAre(5));
    EXPECT_THAT(getShape(got[2]), ElementsAre(3, 0));
    EXPECT_NE(got[2].as.tensor.data, nullptr);
    loopc_value_release(&output);
    EXPECT_TRUE(isZero(output));
  }
}

TEST(ListOutput, Nested) {
  TestModel model(passOn);
  model.input("x", kF32, {open()}).inSequence().inOptional();
  model.input("y", kF32, {open()}).inSequence().inOptional();
  model.output("z", kF32, {open()}).inSequence().inOptional();
  TestTensor<float> tensor(kF32, {1}, {7});
  std::vector<loopc_value> items = {tensor.get()}, none, outputs(1);
  loopc_value full = makeSequence(items), empty = makeSequence(none);
  auto run = [&](loopc_value input) {
    outputs[0] = {};
    Outcome outcome = runModel(model, {input, makeOptional(nullptr)}, outputs);
    EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
    EXPECT_EQ(outputs[0].kind, LOOPC_OPTIONAL);
    return outputs[0].as.optional.value;
  };
  EXPECT_EQ(run(makeOptional(nullptr)), nullptr);
  loopc_value_release(&outputs[0]);
  loopc_value *got = run(makeOptional(&empty));
  ASSERT_EQ(got->kind, LOOPC_SEQUENCE);
  EXPECT_EQ(got->as.sequence.count, 0u);
  loopc_value_release(&outputs[0]);
  got = run(makeOptional(&full));
  ASSERT_EQ(got->as.sequence.count, 1u);
  EXPECT_THAT(getData<float>(got->as.sequence.items[0], 1), ElementsAre(7));
  loopc_value_release(&outputs[0]);
}

TEST(ListOutput, MemoryOfTheRunIsHandedOverOnce) {
  static void *memory;
  TestModel model([](void *raw, void **, void **outputs) {
    loopc_run *run = asRun(raw);
    auto tensor = allocate<1>(raw, sizeof(float), {2});
    tensor.data<float>()[0] = 1;
    tensor.data<float>()[1] = 2;
    memory = tensor.aligned;
    getMemRef<1>(outputs[0]) = tensor;
    loopc_rt_list *list = nullptr;
    for (int i = 0; i < 2; ++i) {
      loopc_rt_retain(run, memory);
      list = loopc_rt_list_insert(run, list, i, memory, memory, 8, tensor.sizes,
                                  1);
    }
    getList(outputs[1]) = list;
    return int32_t{0};
  });
  model.output("y", kF32, {open()});
  model.output("z", kF32, {open()}).inSequence();
  std::vector<loopc_value> outputs(2);
  Outcome outcome = runModel(model, {}, outputs);
  ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_EQ(outcome.statistics.copied_bytes, 16u);
  loopc_value *items = outputs[1].as.sequence.items;
  EXPECT_EQ(outputs[0].as.tensor.data, memory);
  for (int i = 0; i < 2; ++i) {
    EXPECT_NE(items[i].as.tensor.data, memory);
    EXPECT_THAT(getData<float>(items[i], 2), ElementsAre(1, 2));
  }
  loopc_value_release(&outputs[0]);
  loopc_value_release(&outputs[1]);
}

TEST(ListOutput, ElementsAreHandedOver) {
  static void *memory;
  TestModel model([](void *raw, void **, void **outputs) {
    memory = loopc_rt_alloc(asRun(raw), 8);
    static_cast<double *>(memory)[0] = 3;
    getList(outputs[0]) = loopc_rt_list_insert(asRun(raw), nullptr, 0, memory,
                                               memory, 8, nullptr, 0);
    return int32_t{0};
  });
  model.output("z", kF64, {}).inOptional();
  std::vector<loopc_value> outputs(1);
  Outcome outcome = runModel(model, {}, outputs);
  ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_EQ(outcome.statistics.copied_bytes, 0u);
  loopc_value *held = outputs[0].as.optional.value;
  EXPECT_EQ(held->as.tensor.data, memory);
  EXPECT_THAT(getData<double>(*held, 1), ElementsAre(3));
  loopc_value_release(&outputs[0]);
}

TEST(ListOutput, PackedElements) {
  TestModel model(passOn);
  model.input("x", kU2, {open()}).inSequence();
  model.output("y", kU2, {open()}).inSequence();
  TestTensor<uint8_t> packed(kU2, {5}, {0xE4, 0x01});
  std::vector<loopc_value> items = {packed.get()}, outputs(1);
  Outcome outcome = runModel(model, {makeSequence(items)}, outputs);
  ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_THAT(getData<uint8_t>(outputs[0].as.sequence.items[0], 2),
              ElementsAre(0xE4, 0x01));
  loopc_value_release(&outputs[0]);
}

/// Reverses input 0, strings, by strides.
int32_t reverseStrings(void *, void **inputs, void **outputs) {
  MemRef<1> view = getMemRef<1>(inputs[0]);
  view.offset = view.sizes[0] - 1;
  view.strides[0] = -1;
  getMemRef<1>(outputs[0]) = view;
  return 0;
}

TEST(ListOutput, StringsAreCopied) {
  TestModel model(reverseStrings);
  model.input("x", {}, {open()}).ofStrings();
  model.output("y", {}, {open()}).ofStrings();
  TestStrings strings({3}, {"one", "", "three"});
  std::vector<loopc_value> outputs(1);
  Outcome outcome = runModel(model, {strings.get()}, outputs);
  ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  strings.texts[0] = "changed";
  ASSERT_EQ(outputs[0].kind, LOOPC_STRINGS);
  EXPECT_EQ(outputs[0].as.strings.shape[0], 3);
  EXPECT_THAT(getTexts(outputs[0]), ElementsAre("three", "", "one"));
  loopc_value_release(&outputs[0]);
  EXPECT_TRUE(isZero(outputs[0]));
  strings = TestStrings({0}, {});
  loopc_value none = strings.get();
  none.as.strings.data = nullptr;
  ASSERT_EQ(runModel(model, {none}, outputs).status, LOOPC_OK);
  EXPECT_EQ(outputs[0].as.strings.shape[0], 0);
  loopc_value_release(&outputs[0]);
}

TEST(ListOutput, SequenceOfStringsOfTheArena) {
  TestModel model([](void *raw, void **, void **outputs) {
    loopc_run *run = asRun(raw);
    char *text = loopc_rt_string_alloc(run, 5);
    memcpy(text, "arena", 5);
    loopc_string pair[] = {{text, 5}, {"constant", 8}};
    int64_t shape[] = {1, 2};
    getList(outputs[0]) = loopc_rt_list_insert(run, nullptr, 0, nullptr, pair,
                                               sizeof(pair), shape, 2);
    return int32_t{0};
  });
  model.unrankedOutput("y", {}).ofStrings().inSequence();
  std::vector<loopc_value> outputs(1);
  Outcome outcome = runModel(model, {}, outputs);
  ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  loopc_value &item = outputs[0].as.sequence.items[0];
  EXPECT_EQ(item.as.strings.ndim, 2);
  EXPECT_THAT(getTexts(item), ElementsAre("arena", "constant"));
  loopc_value_release(&outputs[0]);
}

TEST(ListOutput, ElementsMayNotLieInMemoryThatIsWritten) {
  // The caller's buffer is an element of the input and output 1.
  TestModel model([](void *raw, void **inputs, void **outputs) {
    auto tensor = allocate<1>(raw, sizeof(float), {2});
    tensor.data<float>()[0] = tensor.data<float>()[1] = 9;
    getMemRef<1>(outputs[1]) = tensor;
    return passOn(raw, inputs, outputs);
  });
  model.input("x", kF32, {open()}).inSequence();
  model.output("y", kF32, {open()}).inSequence();
  model.output("z", kF32, {open()});
  TestTensor<float> buffer(kF32, {2}, {1, 2});
  std::vector<loopc_value> items = {buffer.get()};
  std::vector<loopc_value> outputs = {{}, buffer.get()};
  Outcome outcome = runModel(model, {makeSequence(items)}, outputs);
  ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_THAT(buffer.data, ElementsAre(9, 9));
  EXPECT_THAT(getData<float>(outputs[0].as.sequence.items[0], 2),
              ElementsAre(1, 2));
  loopc_value_release(&outputs[0]);
}

TEST(ListOutput, MustBeAllZero) {
  for (int32_t kind : {LOOPC_SEQUENCE, LOOPC_OPTIONAL, LOOPC_STRINGS}) {
    TestModel model(succeed);
    model.output("y", kF32, {});
    if (kind == LOOPC_SEQUENCE)
      model.inSequence();
    else if (kind == LOOPC_OPTIONAL)
      model.inOptional();
    else
      model.ofStrings();
    std::vector<loopc_value> outputs(1);
    outputs[0].kind = kind;
    Outcome outcome = runModel(model, {}, outputs);
    EXPECT_EQ(outcome.status, LOOPC_ERROR_OUTPUT);
    EXPECT_THAT(
        outcome.message,
        HasSubstr("is allocated by the run: it must be given all zero"));
  }
}

TEST(ListOutput, WhatAModelMayNotReturn) {
  auto run = [](Entry entry) {
    TestModel model(entry);
    model.output("y", kF32, {open()}).inOptional();
    std::vector<loopc_value> outputs(1);
    Outcome outcome = runModel(model, {}, outputs);
    EXPECT_EQ(outcome.status, LOOPC_ERROR_ABI);
    EXPECT_TRUE(isZero(outputs[0]));
    return outcome.message;
  };
  EXPECT_EQ(run([](void *raw, void **, void **outputs) {
              int64_t shape = 3;
              getList(outputs[0]) = loopc_rt_list_insert(
                  asRun(raw), nullptr, 0, nullptr, "12345678", 8, &shape, 1);
              return int32_t{0};
            }),
            "output 'y' (#0): the model returned 8 bytes for shape [3]");
  EXPECT_EQ(run([](void *raw, void **, void **outputs) {
              loopc_rt_list *list = nullptr;
              for (int i = 0; i < 2; ++i)
                list = loopc_rt_list_insert(asRun(raw), list, 0, nullptr,
                                            "1234", 4, nullptr, 0);
              getList(outputs[0]) = list;
              return int32_t{0};
            }),
            "output 'y' (#0): the model returned 2 values");
}

TEST(ListOutput, EveryFailureOfTheAllocator) {
  TestModel model([](void *raw, void **inputs, void **outputs) {
    getMemRef<1>(outputs[1]) = getMemRef<1>(inputs[1]);
    getList(outputs[2]) = loopc_rt_list_retain(asRun(raw), getList(inputs[2]));
    return passOn(raw, inputs, outputs);
  });
  model.input("a", kF32, {open()}).inSequence().inOptional();
  model.input("b", {}, {open()}).ofStrings();
  model.input("c", {}, {open()}).ofStrings().inSequence();
  model.output("x", kF32, {open()}).inSequence().inOptional();
  model.output("y", {}, {open()}).ofStrings();
  model.output("z", {}, {open()}).ofStrings().inSequence();
  TestTensor<float> tensor(kF32, {2}, {1, 2});
  TestStrings strings({2}, {"one", "two"});
  std::vector<loopc_value> tensors = {tensor.get(), tensor.get()};
  std::vector<loopc_value> texts = {strings.get()};
  loopc_value held = makeSequence(tensors);
  for (size_t failAt = 0;; ++failAt) {
    ASSERT_LT(failAt, 100u);
    CountingAllocator allocator;
    allocator.failAt = failAt;
    loopc_run_options options = makeOptions();
    options.allocator = &allocator.table;
    std::vector<loopc_value> outputs(3);
    Outcome outcome =
        runModel(model, {makeOptional(&held), texts[0], makeSequence(texts)},
                 outputs, &options);
    if (outcome.status == LOOPC_OK) {
      EXPECT_GT(failAt, 10u);
      EXPECT_THAT(getTexts(outputs[2].as.sequence.items[0]),
                  ElementsAre("one", "two"));
      for (loopc_value &output : outputs)
        loopc_value_release(&output);
      EXPECT_EQ(allocator.numAllocated, allocator.numFreed);
      EXPECT_EQ(allocator.liveBytes, 0u);
      break;
    }
    EXPECT_EQ(outcome.status, LOOPC_ERROR_MEMORY);
    EXPECT_THAT(outcome.message, HasSubstr("out of memory: the allocator has"));
    for (const loopc_value &output : outputs)
      EXPECT_TRUE(isZero(output));
    EXPECT_EQ(allocator.numAllocated, allocator.numFreed);
  }
}

TEST(ListOutput, NothingIsLeftOfARunThatFails) {
  TestModel model([](void *raw, void **inputs, void **outputs) {
    passOn(raw, inputs, outputs);
    return loopc_rt_fail(asRun(raw), "it failed", -1, nullptr, 0);
  });
  model.input("x", kBool, {open()}).inSequence();
  model.output("y", kBool, {open()}).inSequence();
  TestTensor<uint8_t> tensor(kBool, {2}, {1, 2});
  std::vector<loopc_value> items = {tensor.get()}, outputs(1);
  Outcome outcome = runModel(model, {makeSequence(items)}, outputs);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_RUNTIME);
  EXPECT_TRUE(isZero(outputs[0]));
}

} // namespace
