//===- ModelTest.cpp - Runs: checks, options, ends, threads ---------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include <chrono>
#include <cmath>
#include <csignal>
#include <gmock/gmock.h>
#include <sys/time.h>
#include <thread>

using namespace loopc::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

int32_t succeed(void *, void **, void **) { return 0; }

loopc_error check(TestModel &model, int status) {
  loopc_error error;
  memset(&error, 0x55, sizeof(error));
  EXPECT_EQ(loopc_model_check(model.get(), &error), status);
  EXPECT_EQ(error.status, status);
  EXPECT_EQ(loopc_model_check(model.get(), nullptr), status);
  // A run says the same.
  loopc_error runError;
  EXPECT_EQ(
      loopc_model_run(model.get(), nullptr, nullptr, 0, nullptr, 0, &runError),
      status);
  EXPECT_STREQ(runError.message, error.message);
  return error;
}

TEST(Model, Version) { EXPECT_STREQ(loopc_rt_version(), LOOPC_VERSION); }

TEST(Model, StatusNames) {
  std::vector<std::string> names;
  for (int status = -1; status <= 11; ++status)
    names.push_back(loopc_status_name(status));
  EXPECT_THAT(names,
              ElementsAre("unknown status", "ok", "input error", "output error",
                          "runtime error", "out of memory", "cancelled",
                          "timeout", "CPU error", "ABI error", "device error",
                          "dimension name error", "unknown status"));
}

TEST(Model, Check) {
  TestModel model(succeed);
  EXPECT_STREQ(check(model, LOOPC_OK).message, "");
}

TEST(Model, NullModel) {
  loopc_error error;
  EXPECT_EQ(loopc_model_check(nullptr, &error), LOOPC_ERROR_ABI);
  EXPECT_STREQ(error.message, "the model is null");
  EXPECT_EQ(loopc_model_run(nullptr, nullptr, nullptr, 0, nullptr, 0, nullptr),
            LOOPC_ERROR_ABI);
}

TEST(Model, AbiVersion) {
  TestModel model(succeed);
  model.model.abi_version = 2;
  EXPECT_STREQ(check(model, LOOPC_ERROR_ABI).message,
               "the model was compiled for ABI version 2, this runtime has 1");
}

TEST(Model, Flags) {
  TestModel model(succeed);
  model.model.flags = 8;
  EXPECT_STREQ(check(model, LOOPC_ERROR_ABI).message,
               "model 'test' has flags 0x8, which this runtime does not know");
}

TEST(Model, Incomplete) {
  TestModel model(nullptr);
  EXPECT_STREQ(check(model, LOOPC_ERROR_ABI).message,
               "model 'test' is incomplete");
  model.model.name = nullptr;
  EXPECT_STREQ(check(model, LOOPC_ERROR_ABI).message, "model '' is incomplete");
}

TEST(Model, PortTypes) {
  struct Row {
    int32_t kind;
    const char *message;
  };
  for (Row row :
       {Row{LOOPC_SEQUENCE, "the model gives no element type"},
        Row{LOOPC_OPTIONAL, "the model gives no element type"},
        Row{42, "values of kind 42 are not supported by this runtime"}}) {
    std::string expected = row.message;
    TestModel input(succeed);
    input.input("x", kF32, {}).lastType().kind = row.kind;
    EXPECT_EQ(check(input, LOOPC_ERROR_ABI).message,
              "input 'x' (#0): " + expected);
    TestModel output(succeed);
    output.output("y", kF32, {}).lastType().kind = row.kind;
    EXPECT_EQ(check(output, LOOPC_ERROR_ABI).message,
              "output 'y' (#0): " + expected);
  }
  TestModel dtype(succeed);
  dtype.input("x", {kDLFloat6_e2m3fn, 6, 1}, {});
  EXPECT_STREQ(check(dtype, LOOPC_ERROR_ABI).message,
               "input 'x' (#0): dtype (code 15, 6 bits, 1 lanes) is not "
               "supported by this runtime");
  TestModel rank(succeed);
  rank.input("x", kF32, {}).lastType().rank = -2;
  EXPECT_STREQ(check(rank, LOOPC_ERROR_ABI).message,
               "input 'x' (#0): the model gives no valid shape");
  TestModel dims(succeed);
  dims.input("x", kF32, {open()}).lastType().dims = nullptr;
  EXPECT_STREQ(check(dims, LOOPC_ERROR_ABI).message,
               "input 'x' (#0): the model gives no valid shape");
  TestModel element(succeed);
  element.input("x", {kDLFloat6_e2m3fn, 6, 1}, {}).inSequence().inOptional();
  EXPECT_STREQ(check(element, LOOPC_ERROR_ABI).message,
               "input 'x' (#0): dtype (code 15, 6 bits, 1 lanes) is not "
               "supported by this runtime");
  TestModel cycle(succeed);
  loopc_type &endless = cycle.input("x", kF32, {}).inSequence().lastType();
  endless.element = &endless;
  EXPECT_STREQ(check(cycle, LOOPC_ERROR_ABI).message,
               "input 'x' (#0): the type is nested too deeply");
  TestModel strings(succeed);
  strings.input("x", kF32, {open()}).ofStrings();
  EXPECT_EQ(loopc_model_check(strings.get(), nullptr), LOOPC_OK);
  TestModel type(succeed);
  loopc_port port = {nullptr, nullptr};
  loopc_model *raw = type.get();
  raw->num_inputs = 1;
  raw->inputs = &port;
  loopc_error error;
  EXPECT_EQ(loopc_model_check(raw, &error), LOOPC_ERROR_ABI);
  EXPECT_STREQ(error.message, "input '' (#0): the model gives no type");
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// y = 2 x; the state becomes what it was plus x, or less 1 where it was not
/// given.
int32_t addToState(void *run, void **inputs, void **outputs) {
  float x = *getMemRef<0>(inputs[0]).data<float>();
  float state = *getMemRef<0>(inputs[1]).data<float>();
  bool given = *getMemRef<0>(inputs[2]).data<bool>();
  float results[] = {2 * x, given ? state + x : state - 1};
  for (int k : {0, 1}) {
    auto result = allocate<0>(run, sizeof(float), {});
    *result.data<float>() = results[k];
    getMemRef<0>(outputs[k]) = result;
  }
  return LOOPC_OK;
}

class States : public testing::Test {
protected:
  States() : model(addToState) {
    model.input("x", kF32, {}).input("s", kF32, {}).defaultsTo(nullptr, {});
    model.output("y", kF32, {}).output("s", kF32, {});
    model.model.flags = LOOPC_MODEL_STATES;
    model.model.num_states = 1;
  }
  TestModel model;
  TestTensor<float> x{kF32, {}, {3}};
};

TEST_F(States, GoFromRunToRun) {
  std::vector<loopc_value> outputs(2);
  // Absent is zero.
  Outcome outcome = runModel(model, {x.get(), loopc_value{}}, outputs);
  ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_EQ(getData<float>(outputs[1], 1)[0], -1);
  loopc_value state = outputs[1];
  loopc_value_release(&outputs[0]);
  outputs.assign(2, {});
  outcome = runModel(model, {x.get(), state}, outputs);
  ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_EQ(getData<float>(outputs[0], 1)[0], 6);
  EXPECT_EQ(getData<float>(outputs[1], 1)[0], 2);
  loopc_value_release(&state);
  for (loopc_value &value : outputs)
    loopc_value_release(&value);
}

TEST_F(States, AreChecked) {
  loopc_error error;
  TestTensor<float> row(kF32, {2}, {1, 2});
  loopc_value wrong = row.get(), absent = {};
  EXPECT_EQ(loopc_model_check_input(model.get(), 1, &wrong, &error),
            LOOPC_ERROR_INPUT);
  EXPECT_STREQ(error.message, "state 's' (#0): rank 1, expected 0");
  EXPECT_EQ(loopc_model_check_input(model.get(), 1, &absent, &error), LOOPC_OK);
  EXPECT_EQ(loopc_model_check_input(model.get(), 0, &absent, nullptr),
            LOOPC_ERROR_INPUT);
  EXPECT_EQ(loopc_model_check_input(model.get(), 2, &absent, nullptr),
            LOOPC_ERROR_INPUT);
  std::vector<loopc_value> outputs;
  EXPECT_EQ(runModel(model, {x.get()}, outputs).message,
            "model 'test' has 1 inputs and 1 states, together 2, 1 were given");
}

TEST_F(States, OfADamagedModel) {
  for (uint64_t count : {3, 2, 1}) {
    loopc_model broken = *model.get();
    broken.num_states = count;
    if (count == 1)
      broken.defaults = nullptr;
    EXPECT_EQ(loopc_model_check(&broken, nullptr),
              count == 2 ? LOOPC_OK : LOOPC_ERROR_ABI)
        << count;
  }
  loopc_model unknown = *model.get();
  unknown.flags |= 1u << 31;
  EXPECT_EQ(loopc_model_check(&unknown, nullptr), LOOPC_ERROR_ABI);
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

Outcome runWith(const loopc_run_options &options, Entry entry = succeed) {
  TestModel model(entry);
  std::vector<loopc_value> outputs;
  return runModel(model, {}, outputs, &options);
}

TEST(Options, Size) {
  loopc_run_options options = {};
  Outcome outcome = runWith(options);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_ABI);
  EXPECT_THAT(outcome.message, HasSubstr("the run options have size 0"));
  // Without the reserved words.
  options.size = offsetof(loopc_run_options, reserved);
  options.reserved[0] = 1;
  EXPECT_EQ(runWith(options).status, LOOPC_OK);
  options.size = sizeof(options);
  outcome = runWith(options);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_ABI);
  EXPECT_EQ(outcome.message,
            "the run options ask for what this runtime does not know");
  options.reserved[0] = 0;
  EXPECT_EQ(runWith(options).status, LOOPC_OK);
}

TEST(Options, LaterVersion) {
  struct {
    loopc_run_options options = {};
    uint64_t later = 0;
  } extended;
  extended.options.size = sizeof(extended);
  TestModel model(succeed);
  std::vector<loopc_value> outputs;
  EXPECT_EQ(runModel(model, {}, outputs, &extended.options).status, LOOPC_OK);
  extended.later = 1;
  EXPECT_EQ(runModel(model, {}, outputs, &extended.options).status,
            LOOPC_ERROR_ABI);
  extended.options.size = SIZE_MAX;
  EXPECT_EQ(runModel(model, {}, outputs, &extended.options).status,
            LOOPC_ERROR_ABI);
}

TEST(Options, Values) {
  loopc_run_options options = makeOptions();
  options.timeout_seconds = -1;
  Outcome outcome = runWith(options);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_INPUT);
  EXPECT_EQ(outcome.message, "the timeout is -1 seconds");
  options.timeout_seconds = std::nan("");
  EXPECT_EQ(runWith(options).status, LOOPC_ERROR_INPUT);
  options.timeout_seconds = INFINITY;
  EXPECT_EQ(runWith(options).status, LOOPC_OK);
  options.timeout_seconds = 0;
  options.num_threads = -2;
  outcome = runWith(options);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_INPUT);
  EXPECT_EQ(outcome.message, "the number of threads is -2");
  options.num_threads = 0;
  loopc_allocator allocator = {};
  options.allocator = &allocator;
  outcome = runWith(options);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_INPUT);
  EXPECT_EQ(outcome.message, "the allocator lacks a function");
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

/// An endless loop.
int32_t spin(void *run, void **, void **) {
  while (true) {
    if (int32_t status = loopc_rt_poll(static_cast<loopc_run *>(run)))
      return status;
    void *memory = loopc_rt_alloc(static_cast<loopc_run *>(run), 100);
    loopc_rt_free(static_cast<loopc_run *>(run), memory);
  }
}

TEST(Ends, CancelFromAnotherThread) {
  loopc_cancel_token token = {};
  loopc_run_options options = makeOptions();
  options.cancel = &token;
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    loopc_cancel(&token);
  });
  Outcome outcome = runWith(options, spin);
  canceller.join();
  EXPECT_EQ(outcome.status, LOOPC_ERROR_CANCELLED);
  EXPECT_EQ(outcome.message, "the run was cancelled");
  EXPECT_GT(outcome.statistics.allocations, 0u);
  // A token stays set; cleared it lets the model run again.
  EXPECT_EQ(runWith(options).status, LOOPC_ERROR_CANCELLED);
  token.requested = 0;
  EXPECT_EQ(runWith(options).status, LOOPC_OK);
  loopc_cancel(nullptr);
}

loopc_cancel_token signalToken = {};

TEST(Ends, CancelFromASignalHandler) {
  loopc_run_options options = makeOptions();
  options.cancel = &signalToken;
  auto *before = std::signal(SIGALRM, [](int) { loopc_cancel(&signalToken); });
  itimerval timer = {{0, 0}, {0, 20000}};
  setitimer(ITIMER_REAL, &timer, nullptr);
  EXPECT_EQ(runWith(options, spin).status, LOOPC_ERROR_CANCELLED);
  std::signal(SIGALRM, before);
}

TEST(Ends, ByAFunctionOfTheCaller) {
  struct Caller {
    loopc_cancel_token token = {};
    int64_t calls = 0;
  } caller;
  loopc_run_options options = makeOptions();
  options.cancel = &caller.token;
  options.interrupt_context = &caller;
  options.interrupt = [](void *context) {
    auto &self = *static_cast<Caller *>(context);
    if (++self.calls == 100)
      return 7;
    // Every other time as on a thread that cannot tell.
    if (self.calls % 2)
      return -1;
    loopc_interrupt(&self.token);
    return 0;
  };
  // Nobody has asked for it.
  EXPECT_EQ(runWith(options).status, LOOPC_OK);
  EXPECT_EQ(caller.calls, 0);
  loopc_interrupt(&caller.token);
  Outcome outcome = runWith(options, spin);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_CANCELLED);
  EXPECT_EQ(outcome.message, "the run was cancelled");
  EXPECT_EQ(caller.calls, 100);
  EXPECT_EQ(runWith(options).status, LOOPC_OK);
  EXPECT_EQ(caller.calls, 100);
  loopc_interrupt(nullptr);
}

TEST(Ends, Timeout) {
  using Clock = std::chrono::steady_clock;
  loopc_run_options options = makeOptions();
  for (double seconds : {0.03, 1e-9}) {
    options.timeout_seconds = seconds;
    Clock::time_point begin = Clock::now();
    Outcome outcome = runWith(options, spin);
    std::chrono::duration<double> took = Clock::now() - begin;
    EXPECT_EQ(outcome.status, LOOPC_ERROR_TIMEOUT);
    EXPECT_EQ(outcome.message, "the run took longer than its timeout");
    EXPECT_GE(took.count(), seconds);
    EXPECT_LT(took.count(), seconds + 5);
  }
  options.timeout_seconds = 100;
  EXPECT_EQ(runWith(options).status, LOOPC_OK);
}

TEST(Ends, EntryFailsWithoutAMessage) {
  loopc_run_options options = makeOptions();
  Outcome outcome =
      runWith(options, [](void *, void **, void **) { return int32_t{17}; });
  EXPECT_EQ(outcome.status, LOOPC_ERROR_RUNTIME);
  EXPECT_EQ(outcome.message,
            "model 'test' failed with status 17 and no message");
}

TEST(Ends, RecordedErrorCountsWhateverTheEntryReturns) {
  loopc_run_options options = makeOptions();
  Outcome outcome = runWith(options, [](void *run, void **, void **) {
    loopc_rt_fail(static_cast<loopc_run *>(run), "no", -1, nullptr, 0);
    return int32_t{0};
  });
  EXPECT_EQ(outcome.status, LOOPC_ERROR_RUNTIME);
  EXPECT_EQ(outcome.message, "no");
}

//===----------------------------------------------------------------------===//
// loopc_rt_fail
//===----------------------------------------------------------------------===//

struct Failure {
  const char *text;
  int64_t iteration = -1;
  std::vector<int64_t> values = {};
};
thread_local Failure failure;

std::string format(Failure what) {
  failure = std::move(what);
  Outcome outcome = runWith(makeOptions(), [](void *run, void **, void **) {
    return loopc_rt_fail(static_cast<loopc_run *>(run), failure.text,
                         failure.iteration, failure.values.data(),
                         static_cast<int64_t>(failure.values.size()));
  });
  EXPECT_EQ(outcome.status, LOOPC_ERROR_RUNTIME);
  return outcome.message;
}

TEST(Fail, Formatting) {
  EXPECT_EQ(format({"plain"}), "plain");
  EXPECT_EQ(format({"index {} is out of range [0, {})", -1, {-7, 3}}),
            "index -7 is out of range [0, 3)");
  EXPECT_EQ(format({"at {}", 0, {INT64_MIN}}),
            "at -9223372036854775808 (iteration 0)");
  EXPECT_EQ(format({"{}{}", 12, {1, 2}}), "12 (iteration 12)");
  // Values that are left over, holes that are left over, other signs.
  EXPECT_EQ(format({"{} {}", -1, {1}}), "1 {}");
  EXPECT_EQ(format({"none", -1, {1}}), "none");
  EXPECT_EQ(format({"100 % {x} { } %s", -1, {1}}), "100 % {x} { } %s");
  EXPECT_EQ(format({"", 3}), " (iteration 3)");
}

TEST(Fail, Shapes) {
  EXPECT_EQ(format({"{*} at {}", -1, {2, 3, 4, 0, 0, 0, 0, 0, 0, 7}}),
            "[3, 4] at 7");
  EXPECT_EQ(format({"{*}", -1, {0, 1, 2, 3, 4, 5, 6, 7, 8}}), "[]");
  EXPECT_EQ(format({"{*}", -1, {9, 1, 2, 3, 4, 5, 6, 7, 8}}),
            "[1, 2, 3, 4, 5, 6, 7, 8, ...]");
  // Too few values: the hole stays.
  EXPECT_EQ(format({"of {*}", -1, {1, 2}}), "of {*}");
}

TEST(Fail, LongMessagesAreCut) {
  std::string text(2000, 'x');
  std::string message = format({text.c_str(), 5, {}});
  EXPECT_EQ(message, std::string(sizeof(loopc_error::message) - 1, 'x'));
  text.assign(sizeof(loopc_error::message) - 3, 'x');
  text += "{}";
  EXPECT_EQ(format({text.c_str(), -1, {12345}}).substr(1015), "xx12");
}

TEST(Fail, OnlyTheFirstIsKept) {
  Outcome outcome = runWith(makeOptions(), [](void *raw, void **, void **) {
    auto *run = static_cast<loopc_run *>(raw);
    int64_t value = 1;
    EXPECT_EQ(loopc_rt_fail(run, "first {}", -1, &value, 1),
              LOOPC_ERROR_RUNTIME);
    EXPECT_NE(loopc_rt_fail(run, "second", -1, nullptr, 0), 0);
    // What comes later is told to end.
    EXPECT_EQ(loopc_rt_poll(run), LOOPC_ERROR_RUNTIME);
    EXPECT_EQ(loopc_rt_alloc(run, -1), nullptr);
    return int32_t{1};
  });
  EXPECT_EQ(outcome.status, LOOPC_ERROR_RUNTIME);
  EXPECT_EQ(outcome.message, "first 1");
}

TEST(Fail, WithoutAnErrorObject) {
  TestModel model([](void *run, void **, void **) {
    return loopc_rt_fail(static_cast<loopc_run *>(run), "{}", 1, nullptr, 0);
  });
  EXPECT_EQ(
      loopc_model_run(model.get(), nullptr, nullptr, 0, nullptr, 0, nullptr),
      LOOPC_ERROR_RUNTIME);
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// y = x + 1, by way of a temporary buffer.
int32_t addOne(void *raw, void **inputs, void **outputs) {
  auto *run = static_cast<loopc_run *>(raw);
  auto &x = getMemRef<1>(inputs[0]);
  auto y = allocate<1>(run, sizeof(float), {x.sizes[0]});
  for (int64_t i = 0; i < x.sizes[0]; ++i) {
    void *scratch = loopc_rt_alloc(run, 64 + i);
    *static_cast<float *>(scratch) = x.data<float>()[i] + 1;
    y.data<float>()[i] = *static_cast<float *>(scratch);
    loopc_rt_free(run, scratch);
  }
  getMemRef<1>(outputs[0]) = y;
  return 0;
}

TEST(Threads, RunsInParallel) {
  TestModel model(addOne);
  model.model.cpu_features = "-nothing";
  model.input("x", kF32, {open()}).output("y", kF32, {open()});
  loopc_model *shared = model.get();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([shared, thread] {
      for (int round = 0; round < 200; ++round) {
        float first = static_cast<float>(1000 * thread + round);
        TestTensor<float> x(kF32, {3}, {first, 0, 0, -first, 0, 0, 0}, {3});
        loopc_value input = x.get();
        loopc_value output = {};
        loopc_error error;
        ASSERT_EQ(
            loopc_model_run(shared, nullptr, &input, 1, &output, 1, &error),
            LOOPC_OK);
        EXPECT_THAT(getData<float>(output, 3),
                    ElementsAre(first + 1, 1 - first, 1));
        loopc_value_release(&output);
      }
    });
  }
  for (std::thread &thread : threads)
    thread.join();
}

/// Threads of one run allocate, free, copy and fail.
int32_t runThreads(void *raw, void **, void **) {
  auto *run = static_cast<loopc_run *>(raw);
  static constexpr auto work = [](loopc_run *run, int seed) {
    std::vector<int64_t *> held;
    for (int round = 0; round < 3000; ++round) {
      int64_t bytes = 8 + (round * 37 + seed * 101) % 3000;
      auto *memory = static_cast<int64_t *>(loopc_rt_alloc(run, bytes));
      ASSERT_NE(memory, nullptr);
      *memory = seed * 1000000 + round;
      held.push_back(memory);
      if (round % 3 != 0) {
        EXPECT_EQ(*held.back() / 1000000, seed);
        loopc_rt_free(run, held.back());
        held.pop_back();
      }
    }
    for (size_t i = 0; i < held.size(); ++i)
      EXPECT_EQ(*held[i], seed * 1000000 + static_cast<int64_t>(3 * i));
    for (int64_t *memory : held)
      loopc_rt_free(run, memory);
    int64_t value = seed;
    loopc_rt_fail(run, "thread {}", -1, &value, 1);
  };
  loopc_rt_parallel_for(
      run, 4, 1,
      [](void *args, int64_t begin, int64_t end) {
        for (int64_t piece = begin; piece < end; ++piece)
          work(static_cast<loopc_run *>(args), static_cast<int>(piece) + 1);
      },
      run);
  return 0;
}

TEST(Threads, OneRunWithThreads) {
  loopc_run_options options = makeOptions();
  options.num_threads = 4;
  Outcome outcome = runWith(options, runThreads);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_RUNTIME);
  EXPECT_THAT(outcome.message, testing::MatchesRegex("thread [1-4]"));
  EXPECT_EQ(outcome.statistics.allocations, 12000u);
  EXPECT_EQ(outcome.statistics.deallocations, 12000u);
}

TEST(Threads, ParallelForCoversEverythingOnce) {
  Outcome outcome = runWith(makeOptions(), [](void *raw, void **, void **) {
    auto *run = static_cast<loopc_run *>(raw);
    for (int64_t n : {-1, 0, 1, 7, 1000}) {
      std::vector<int> seen(n > 0 ? static_cast<size_t>(n) : 0);
      loopc_rt_parallel_for(
          run, n, 16,
          [](void *args, int64_t begin, int64_t end) {
            EXPECT_LT(begin, end);
            for (int64_t i = begin; i < end; ++i)
              ++static_cast<int *>(args)[i];
          },
          seen.data());
      EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
    }
    return int32_t{0};
  });
  EXPECT_EQ(outcome.status, LOOPC_OK);
}

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

TEST(Model, ManyPorts) {
  // More descriptors than fit the stack.
  constexpr int kCount = 100;
  TestModel model([](void *, void **inputs, void **outputs) {
    for (int k = 0; k < kCount; ++k)
      getMemRef<3>(outputs[kCount - 1 - k]) = getMemRef<3>(inputs[k]);
    return int32_t{0};
  });
  std::vector<std::string> names;
  for (int k = 0; k < kCount; ++k)
    names.push_back("v" + std::to_string(k));
  std::deque<TestTensor<float>> tensors;
  std::vector<loopc_value> inputs;
  for (int k = 0; k < kCount; ++k) {
    model.input(names[k].c_str(), kF32,
                {named(names[k].c_str()), open(), open()});
    model.output(names[k].c_str(), kF32, {open(), open(), open()});
    tensors.emplace_back(kF32, std::vector<int64_t>{1, k % 3 + 1, 1},
                         std::vector<float>(3, static_cast<float>(k)));
    inputs.push_back(tensors.back().get());
  }
  std::vector<loopc_value> outputs(kCount);
  Outcome outcome = runModel(model, inputs, outputs);
  ASSERT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  for (int k = 0; k < kCount; ++k) {
    EXPECT_EQ(getShape(outputs[kCount - 1 - k]), tensors[k].shape);
    EXPECT_EQ(getData<float>(outputs[kCount - 1 - k], 1)[0], k);
    loopc_value_release(&outputs[kCount - 1 - k]);
  }
  // The frame is memory of the run, too.
  loopc_run_options options = makeOptions();
  options.memory_limit = 1000;
  EXPECT_EQ(runModel(model, inputs, outputs, &options).status,
            LOOPC_ERROR_MEMORY);
}

} // namespace
