//===- CAPITest.cpp - The C API over the compiler -------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc-c/loopc.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <pthread.h>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

using testing::HasSubstr;
using testing::StartsWith;

namespace {

constexpr std::string_view kAdd = R"(<ir_version: 10, opset_import: ["" : 21]>
add (float[N,3] x, float[3] b) => (float[N,3] y) { y = Add(x, b) })";

constexpr std::string_view kUnknown =
    R"(<ir_version: 10, opset_import: ["" : 21]>
bad (float x) => (float y, float z) { y = NoSuchOperator(x)
 z = NorThisOne(x) })";

/// A session or what was said instead.
struct Made {
  loopc_session *session = nullptr;
  loopc_diagnostics *diagnostics = nullptr;
  int status;

  explicit Made(std::string_view text,
                const loopc_compile_options *options = nullptr)
      : status(loopc_session_create_from_bytes(
            text.data(), text.size(), options, &session, &diagnostics)) {}
  Made(const Made &) = delete;
  ~Made() {
    loopc_session_destroy(session);
    loopc_diagnostics_destroy(diagnostics);
  }
  std::string code() const {
    return loopc_diagnostics_get(diagnostics, 0).code;
  }
};

loopc_value tensor(float *data, std::vector<int64_t> &shape) {
  loopc_value value = {};
  value.kind = LOOPC_TENSOR;
  value.as.tensor = {data,
                     {kDLCPU, 0},
                     static_cast<int32_t>(shape.size()),
                     {kDLFloat, 32, 1},
                     shape.data(),
                     nullptr,
                     0};
  return value;
}

/// Runs kAdd on ones and returns the first element, or the status negated.
float runAdd(const loopc_session *session, int64_t rows) {
  std::vector<float> x(rows * 3, 1.0f), b = {1, 2, 3};
  std::vector<int64_t> xShape = {rows, 3}, bShape = {3};
  loopc_value inputs[] = {tensor(x.data(), xShape), tensor(b.data(), bShape)};
  loopc_value output = {};
  loopc_error error;
  int status =
      loopc_session_run(session, nullptr, inputs, 2, &output, 1, &error);
  if (status != LOOPC_OK)
    return static_cast<float>(-status);
  float first = static_cast<float *>(output.as.tensor.data)[0];
  loopc_value_release(&output);
  return first;
}

/// A folder of one test.
class Files : public testing::Test {
protected:
  void SetUp() override {
    auto name = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder = std::filesystem::path(testing::TempDir()) /
             ("loopc-capi-" + std::string(name) + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string path(const char *name) const { return folder / name; }
  size_t count() const {
    return std::distance(std::filesystem::directory_iterator(folder), {});
  }
  std::filesystem::path folder;
};

TEST(CAPI, Version) { EXPECT_STREQ(loopc_version(), loopc_rt_version()); }

TEST(CAPI, SessionFromBytes) {
  Made made(kAdd);
  ASSERT_EQ(made.status, LOOPC_COMPILE_OK);
  EXPECT_EQ(made.diagnostics, nullptr);
  const loopc_model *model = loopc_session_model(made.session);
  ASSERT_NE(model, nullptr);
  EXPECT_STREQ(model->name, "add");
  ASSERT_EQ(model->num_inputs, 2u);
  EXPECT_STREQ(model->inputs[0].name, "x");
  EXPECT_STREQ(model->inputs[0].type->dims[0].name, "N");
  EXPECT_EQ(runAdd(made.session, 2), 2.0f);
  EXPECT_EQ(runAdd(made.session, 0), runAdd(made.session, 0));
}

/// OpenVINO IR: y = state = state + x.
constexpr std::string_view kState = R"(<?xml version="1.0"?>
<net name="sum" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1">
<data shape="" element_type="f32"/><output><port id="0" precision="FP32"/>
</output></layer>
<layer id="1" name="read" type="ReadValue" version="opset6">
<data variable_id="s" variable_type="f32" variable_shape=""/>
<output><port id="0" precision="FP32"/></output></layer>
<layer id="2" name="y" type="Add" version="opset1">
<input><port id="0" precision="FP32"/><port id="1" precision="FP32"/></input>
<output><port id="2" precision="FP32"/></output></layer>
<layer id="3" name="keep" type="Assign" version="opset6">
<data variable_id="s"/><input><port id="0" precision="FP32"/></input>
<output><port id="1" precision="FP32"/></output></layer>
<layer id="4" name="r" type="Result" version="opset1">
<input><port id="0" precision="FP32"/></input></layer>
</layers><edges>
<edge from-layer="1" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="0" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
<edge from-layer="2" from-port="2" to-layer="4" to-port="0"/>
</edges></net>)";

/// Runs kState on 1; the sum, or the status negated.
float runState(const loopc_session *session,
               const loopc_run_options *options = nullptr) {
  float x = 1;
  std::vector<int64_t> shape;
  loopc_value input = tensor(&x, shape), output = {};
  if (int status =
          loopc_session_run(session, options, &input, 1, &output, 1, nullptr))
    return static_cast<float>(-status);
  float y = *static_cast<float *>(output.as.tensor.data);
  loopc_value_release(&output);
  return y;
}

TEST(CAPI, States) {
  Made made(kState);
  ASSERT_EQ(made.status, LOOPC_COMPILE_OK);
  loopc_session *session = made.session;
  ASSERT_EQ(loopc_session_num_states(session), 1u);
  EXPECT_STREQ(loopc_session_state(session, 0)->name, "s");
  EXPECT_EQ(loopc_session_state(session, 1), nullptr);
  EXPECT_EQ(loopc_session_num_states(nullptr), 0u);
  loopc_value value;
  loopc_error error;
  ASSERT_EQ(loopc_session_get_state(session, 0, &value, &error), LOOPC_OK);
  EXPECT_EQ(value.kind, 0);
  EXPECT_EQ(runState(session), 1);
  EXPECT_EQ(runState(session), 2);
  ASSERT_EQ(loopc_session_get_state(session, 0, &value, &error), LOOPC_OK);
  EXPECT_EQ(*static_cast<float *>(value.as.tensor.data), 2);
  // A run that is given the state leaves the session's alone.
  float x = 1;
  std::vector<int64_t> shape;
  loopc_value inputs[] = {tensor(&x, shape), loopc_value{}}, outputs[2] = {};
  ASSERT_EQ(loopc_session_run(session, nullptr, inputs, 2, outputs, 2, &error),
            LOOPC_OK);
  EXPECT_EQ(*static_cast<float *>(outputs[1].as.tensor.data), 1);
  for (loopc_value &output : outputs)
    loopc_value_release(&output);
  EXPECT_EQ(runState(session), 3);
  ASSERT_EQ(loopc_session_set_state(session, 0, &value, &error), LOOPC_OK);
  loopc_value_release(&value);
  EXPECT_EQ(runState(session), 3);
  loopc_session_reset_states(session);
  EXPECT_EQ(runState(session), 1);
  EXPECT_EQ(loopc_session_set_state(session, 1, &value, &error),
            LOOPC_ERROR_INPUT);
  EXPECT_STREQ(error.message, "there is no such state");
  // Neither with the states nor without them.
  EXPECT_EQ(loopc_session_run(session, nullptr, inputs, 2, outputs, 1, &error),
            LOOPC_ERROR_INPUT);
  EXPECT_THAT(error.message, HasSubstr("1 outputs and 1 states"));
}

TEST(CAPI, PairsOfInputsAndOutputs) {
  constexpr std::string_view kPaired =
      R"(<ir_version: 10, opset_import: ["" : 21]>
paired (float s, float x) => (float y, float sn) {
  sn = Add (s, x)
  y = Identity (sn)
})";
  loopc_compile_options *options = loopc_compile_options_create();
  loopc_compile_options_add_state(options, "s", "sn");
  Made made(kPaired, options);
  ASSERT_EQ(made.status, LOOPC_COMPILE_OK);
  ASSERT_EQ(loopc_session_num_states(made.session), 1u);
  EXPECT_STREQ(loopc_session_state(made.session, 0)->name, "s");
  EXPECT_EQ(runState(made.session), 1);
  EXPECT_EQ(runState(made.session), 2);
  loopc_session_reset_states(made.session);
  EXPECT_EQ(runState(made.session), 1);
  loopc_compile_options_add_state(options, "x", "none");
  Made refused(kPaired, options);
  EXPECT_EQ(refused.code(), "LC0101");
  loopc_compile_options_destroy(options);
}

/// Memory of the caller's that is gone after each run: the state is not in it.
TEST(CAPI, StatesOutliveTheAllocator) {
  struct Arena {
    std::vector<std::vector<char>> pieces;
  } arena;
  loopc_allocator allocator = {
      [](void *context, size_t bytes, size_t alignment) -> void * {
        auto &piece = static_cast<Arena *>(context)->pieces.emplace_back(
            bytes + alignment);
        void *pointer = piece.data();
        size_t space = piece.size();
        return std::align(alignment, bytes, pointer, space);
      },
      [](void *, void *, size_t) {}, &arena};
  loopc_run_options options = {};
  options.size = sizeof(options);
  options.allocator = &allocator;
  Made made(kState);
  ASSERT_EQ(made.status, LOOPC_COMPILE_OK);
  for (float step : {1, 2, 3}) {
    EXPECT_EQ(runState(made.session, &options), step);
    for (std::vector<char> &piece : arena.pieces)
      std::fill(piece.begin(), piece.end(), 0x7F);
    arena.pieces.clear();
  }
}

TEST(CAPI, DiagnosticsOfAModel) {
  Made made(kUnknown);
  EXPECT_EQ(made.status, LOOPC_COMPILE_ERROR_MODEL);
  EXPECT_EQ(made.session, nullptr);
  // All unsupported operators are reported at once.
  std::string text;
  for (size_t i = 0, n = loopc_diagnostics_count(made.diagnostics); i < n;
       ++i) {
    text += loopc_diagnostics_text(made.diagnostics, i);
    text += '\n';
  }
  EXPECT_THAT(text, HasSubstr("NoSuchOperator"));
  EXPECT_THAT(text, HasSubstr("NorThisOne"));
  loopc_diagnostic first = loopc_diagnostics_get(made.diagnostics, 0);
  EXPECT_EQ(first.severity, LOOPC_SEVERITY_ERROR);
  EXPECT_THAT(first.code, StartsWith("LC0"));
  EXPECT_THAT(first.location, HasSubstr("NoSuchOperator"));
  EXPECT_THAT(
      loopc_diagnostics_text(made.diagnostics, 0),
      HasSubstr(std::string("error: ") + first.code + ": " + first.message));
  // Out of range is empty, not a fault.
  EXPECT_STREQ(loopc_diagnostics_get(made.diagnostics, 1000).message, "");
  EXPECT_STREQ(loopc_diagnostics_text(made.diagnostics, 1000), "");
  EXPECT_EQ(loopc_diagnostics_count(nullptr), 0u);
}

TEST(CAPI, NotAModel) {
  for (std::string_view text : {"", "garbage", "\x08\x0a\xff\xff\xff"}) {
    Made made(text);
    EXPECT_EQ(made.status, LOOPC_COMPILE_ERROR_MODEL) << text;
    EXPECT_EQ(made.session, nullptr);
    EXPECT_GE(loopc_diagnostics_count(made.diagnostics), 1u);
  }
}

TEST(CAPI, NullArguments) {
  loopc_session *session = nullptr;
  loopc_diagnostics *said = nullptr;
  EXPECT_EQ(loopc_session_create_from_file(nullptr, nullptr, &session, &said),
            LOOPC_COMPILE_ERROR_ARGUMENT);
  EXPECT_EQ(loopc_diagnostics_count(said), 1u);
  loopc_diagnostics_destroy(said);
  EXPECT_EQ(loopc_session_create_from_bytes(kAdd.data(), kAdd.size(), nullptr,
                                            nullptr, nullptr),
            LOOPC_COMPILE_ERROR_ARGUMENT);
  EXPECT_EQ(
      loopc_session_create_from_bytes(nullptr, 4, nullptr, &session, nullptr),
      LOOPC_COMPILE_ERROR_ARGUMENT);
  EXPECT_EQ(loopc_session_load_shared(nullptr, nullptr, &session, nullptr),
            LOOPC_COMPILE_ERROR_ARGUMENT);
  EXPECT_EQ(session, nullptr);
  EXPECT_EQ(loopc_session_model(nullptr), nullptr);
  loopc_error error;
  EXPECT_EQ(loopc_session_run(nullptr, nullptr, nullptr, 0, nullptr, 0, &error),
            LOOPC_ERROR_INPUT);
  loopc_session_destroy(nullptr);
  loopc_diagnostics_destroy(nullptr);
  loopc_compile_options_destroy(nullptr);
}

TEST(CAPI, OptionsRefuseWrongValues) {
  loopc_compile_options *options = loopc_compile_options_create();
  EXPECT_EQ(loopc_compile_options_set_opt_level(options, 3), 0);
  EXPECT_NE(loopc_compile_options_set_opt_level(options, 4), 0);
  EXPECT_NE(loopc_compile_options_set_opt_level(options, -1), 0);
  EXPECT_NE(loopc_compile_options_set_opt_level(nullptr, 1), 0);
  EXPECT_NE(loopc_compile_options_set_cpu(options, nullptr), 0);
  EXPECT_EQ(loopc_compile_options_set_name(options, "a_1"), 0);
  EXPECT_NE(loopc_compile_options_set_name(options, "1a"), 0);
  EXPECT_NE(loopc_compile_options_set_name(options, "a-b"), 0);
  EXPECT_EQ(loopc_compile_options_add_dim(options, "N", 0), 0);
  EXPECT_EQ(loopc_compile_options_add_dim(options, "N", 0), 0);
  EXPECT_NE(loopc_compile_options_add_dim(options, "N", 1), 0);
  EXPECT_NE(loopc_compile_options_add_dim(options, "M", -2), 0);
  EXPECT_NE(loopc_compile_options_add_dim(options, "", 1), 0);
  int64_t shape[] = {-1, 3}, bad[] = {-2};
  EXPECT_EQ(loopc_compile_options_add_shape(options, "x", shape, 2), 0);
  EXPECT_NE(loopc_compile_options_add_shape(options, "x", shape, 1), 0);
  EXPECT_NE(loopc_compile_options_add_shape(options, "y", bad, 1), 0);
  EXPECT_NE(loopc_compile_options_add_shape(options, "y", nullptr, 1), 0);
  EXPECT_EQ(loopc_compile_options_add_shape(options, "y", nullptr, 0), 0);
  EXPECT_EQ(loopc_compile_options_add_state(options, "h", "hn"), 0);
  EXPECT_EQ(loopc_compile_options_add_state(options, "h", "hn"), 0);
  EXPECT_NE(loopc_compile_options_add_state(options, "h", "y"), 0);
  EXPECT_NE(loopc_compile_options_add_state(options, "", "y"), 0);
  EXPECT_NE(loopc_compile_options_add_state(options, "x", nullptr), 0);
  loopc_compile_options_destroy(options);
}

TEST(CAPI, OptionsChangeTheModel) {
  loopc_compile_options *options = loopc_compile_options_create();
  loopc_compile_options_add_dim(options, "N", 2);
  loopc_compile_options_set_opt_level(options, 0);
  loopc_compile_options_set_verify(options, 1);
  EXPECT_EQ(
      loopc_compile_options_disable_pass(options, "loopc-eliminate-common"), 0);
  EXPECT_NE(loopc_compile_options_disable_pass(options, ""), 0);
  EXPECT_NE(loopc_compile_options_disable_pass(options, nullptr), 0);
  EXPECT_NE(loopc_compile_options_add_custom_ops(options, ""), 0);
  EXPECT_NE(loopc_compile_options_add_custom_ops(options, nullptr), 0);
  Made made(kAdd, options);
  ASSERT_EQ(made.status, LOOPC_COMPILE_OK);
  // The session does not need the options any more.
  loopc_compile_options_destroy(options);
  EXPECT_EQ(loopc_session_model(made.session)->inputs[0].type->dims[0].extent,
            2);
  EXPECT_EQ(runAdd(made.session, 2), 2.0f);
  EXPECT_EQ(runAdd(made.session, 3), -LOOPC_ERROR_INPUT);
}

TEST(CAPI, OptionsThatDoNotFit) {
  loopc_compile_options *options = loopc_compile_options_create();
  loopc_compile_options_add_dim(options, "Q", 2);
  Made made(kAdd, options);
  EXPECT_EQ(made.status, LOOPC_COMPILE_ERROR_ARGUMENT);
  EXPECT_EQ(made.code(), "LC0104");
  loopc_compile_options_destroy(options);
  options = loopc_compile_options_create();
  loopc_compile_options_set_cpu(options, "z80");
  Made other(kAdd, options);
  EXPECT_EQ(other.status, LOOPC_COMPILE_ERROR_ARGUMENT);
  EXPECT_EQ(other.code(), "LC0602");
  loopc_compile_options_destroy(options);
  options = loopc_compile_options_create();
  loopc_compile_options_disable_pass(options, "loopc-bufferize");
  Made unfinished(kAdd, options);
  EXPECT_EQ(unfinished.status, LOOPC_COMPILE_ERROR_ARGUMENT);
  EXPECT_EQ(unfinished.code(), "LC0101");
  loopc_compile_options_destroy(options);
}

TEST(CAPI, CustomOperatorsThatAreNotThere) {
  loopc_compile_options *options = loopc_compile_options_create();
  EXPECT_EQ(loopc_compile_options_add_custom_ops(options, "/no/library.so"), 0);
  EXPECT_EQ(loopc_check_custom_ops("/no/library.so", nullptr),
            LOOPC_COMPILE_ERROR_FILE);
  EXPECT_EQ(loopc_check_custom_ops("", nullptr), LOOPC_COMPILE_ERROR_ARGUMENT);
  Made missing(kAdd, options);
  EXPECT_EQ(missing.status, LOOPC_COMPILE_ERROR_FILE);
  EXPECT_EQ(missing.code(), "LC0102");
  loopc_compile_options_destroy(options);
}

TEST(CAPI, ThreadsCompileAndRun) {
  Made shared(kAdd);
  ASSERT_EQ(shared.status, LOOPC_COMPILE_OK);
  std::vector<std::thread> threads;
  std::vector<float> results(8);
  for (size_t i = 0; i < results.size(); ++i)
    threads.emplace_back([&, i] {
      Made own(kAdd);
      results[i] = runAdd(own.session, 3);
      for (int k = 0; k < 100; ++k)
        results[i] += runAdd(shared.session, k + 1);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (float result : results)
    EXPECT_EQ(result, 202.0f);
}

constexpr std::string_view kGrow = R"(<ir_version: 10, opset_import: ["" : 21]>
grow (int64 m, float[N] x) => (float[A] y, float[m, 2] steps) {
  y, steps = Loop (m, "", x) <body = step (int64 i, bool go, float[B] v)
    => (bool more, float[C] w, float[2] s) {
      more = Identity (go)
      w = Concat <axis = 0> (v, x)
      k = Constant <value = float[2] {0.5, 2.0}> ()
      top = ReduceMax <keepdims = 0> (v)
      s = Mul (k, top) }> })";

constexpr std::string_view kWords = R"(<ir_version: 10, opset_import: ["" : 21]>
words (string[N] x) => (string[A, B] parts, int64[A] counts, seq(float[2]) q) {
  parts, counts = StringSplit <delimiter = ","> (x)
  k = Constant <value = float[2] {0.5, 2.0}> ()
  q = SequenceConstruct (k, k) })";

constexpr std::string_view kProduct =
    R"(<ir_version: 10, opset_import: ["" : 21]>
product (float[N, 8] x, float[8, 40] w) => (float[N, 40] y) {
  p = MatMul (x, w)
  y = Softmax (p) })";

/// Each thread compiles all of them, and meets the others at another one.
TEST_F(Files, ThreadsCompileDifferentModels) {
  constexpr std::string_view models[] = {kAdd,   kGrow,    kUnknown,
                                         kWords, kProduct, kState};
  std::vector<std::thread> threads;
  std::vector<std::string> problems(4);
  for (size_t i = 0; i < problems.size(); ++i)
    threads.emplace_back([&, i] {
      for (size_t k = 0; k < std::size(models); ++k) {
        std::string_view text = models[(k + i) % std::size(models)];
        Made made(text);
        bool isGood = text != kUnknown;
        if ((made.status == LOOPC_COMPILE_OK) != isGood ||
            (isGood ? made.diagnostics != nullptr : made.code() != "LC0301") ||
            (text == kAdd && runAdd(made.session, 3) != 2.0f))
          problems[i] += std::string(text.substr(0, 80)) + "\n";
      }
      std::string library = path(("m" + std::to_string(i) + ".so").c_str());
      loopc_session *session = nullptr;
      if (loopc_compile_bytes(kAdd.data(), kAdd.size(), LOOPC_EMIT_SHARED,
                              library.c_str(), nullptr, nullptr) ||
          loopc_session_load_shared(library.c_str(), nullptr, &session,
                                    nullptr) ||
          runAdd(session, 3) != 2.0f)
        problems[i] += "the shared library\n";
      loopc_session_destroy(session);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &problem : problems)
    EXPECT_EQ(problem, "");
}

/// A model of If nodes in each other.
std::string nestedIfs(int depth) {
  std::string text = "<ir_version: 10, opset_import: [\"\" : 21]>\n"
                     "nested (float[N] x, bool c) => (float[N] y0) {\n",
              end;
  for (int k = 0; k < depth; ++k) {
    std::string number = std::to_string(k), next = std::to_string(k + 1);
    text += "y" + number + " = If(c) <then_branch = t" + number +
            " () => (float[N] y" + next + ") {\n";
    end += "}, else_branch = e" + number + " () => (float[N] e" + number +
           ") { e" + number + " = Neg(x) }>\n";
  }
  return text + "y" + std::to_string(depth) + " = Sin(x)\n" + end + "}";
}

TEST_F(Files, StackOfTheCaller) {
  // As threads of a program have it with musl.
  constexpr size_t kStack = 128 << 10;
  struct Call {
    std::string text = nestedIfs(150), path;
    int status = -1;
  } call;
  call.path = path("nested.mlir");
  auto compile = [](void *argument) -> void * {
    auto &call = *static_cast<Call *>(argument);
    call.status =
        loopc_compile_bytes(call.text.data(), call.text.size(), LOOPC_EMIT_ONNX,
                            call.path.c_str(), nullptr, nullptr);
    return nullptr;
  };
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, kStack), 0);
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, compile, &call), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(call.status, LOOPC_COMPILE_OK);
}

/// What a compilation told while it went on.
struct Seen {
  std::vector<std::string> phases;
  double fraction = 0;
  bool stops = false;

  bool has(const char *phase) const {
    return std::find(phases.begin(), phases.end(), phase) != phases.end();
  }
  static int note(void *context, const loopc_progress *progress) {
    auto &self = *static_cast<Seen *>(context);
    EXPECT_EQ(progress->size, sizeof(*progress));
    EXPECT_GE(progress->fraction, self.fraction);
    EXPECT_LE(progress->fraction, 1);
    self.fraction = progress->fraction;
    self.phases.push_back(progress->phase);
    return self.stops;
  }
};

/// By a process of its own, the first time.
TEST_F(Files, CacheAndProgress) {
  unsetenv("LOOPC_COMPILE");
  loopc_compile_options *options = loopc_compile_options_create();
  EXPECT_EQ(loopc_compile_options_set_cache(options, path("cache").c_str()), 0);
  EXPECT_EQ(loopc_compile_options_set_strict_cache(options, 1), 0);
  EXPECT_NE(loopc_compile_options_set_cache(options, nullptr), 0);
  auto run = [&](Seen &seen) {
    loopc_compile_options_set_progress(options, &Seen::note, &seen);
    loopc_session *session = nullptr;
    int status = loopc_session_create_from_bytes(kAdd.data(), kAdd.size(),
                                                 options, &session, nullptr);
    if (session)
      EXPECT_EQ(runAdd(session, 2), 2.0f);
    loopc_session_destroy(session);
    return status;
  };
  Seen first, second, stopped;
  EXPECT_EQ(run(first), LOOPC_COMPILE_OK);
  EXPECT_TRUE(first.has("optimising"));
  EXPECT_EQ(run(second), LOOPC_COMPILE_OK);
  EXPECT_FALSE(second.has("optimising"));
  EXPECT_EQ(count(), 1u);
  stopped.stops = true;
  EXPECT_EQ(run(stopped), LOOPC_COMPILE_ERROR_CANCELLED);
  loopc_compile_options_destroy(options);
}

TEST(CAPI, CompilationsEnd) {
  loopc_compile_options *options = loopc_compile_options_create();
  auto run = [&](std::string &code) {
    loopc_session *session = nullptr;
    loopc_diagnostics *said = nullptr;
    int status = loopc_session_create_from_bytes(kAdd.data(), kAdd.size(),
                                                 options, &session, &said);
    EXPECT_EQ(session, nullptr);
    code = loopc_diagnostics_get(said, 0).code;
    loopc_diagnostics_destroy(said);
    return status;
  };
  std::string code;
  loopc_cancel_token token = {};
  loopc_cancel(&token);
  loopc_compile_options_set_cancel(options, &token);
  EXPECT_EQ(run(code), LOOPC_COMPILE_ERROR_CANCELLED);
  EXPECT_EQ(code, "LC0108");
  loopc_compile_options_set_cancel(options, nullptr);
  EXPECT_NE(loopc_compile_options_set_timeout(options, -1), 0);
  EXPECT_EQ(loopc_compile_options_set_timeout(options, 1e-9), 0);
  EXPECT_EQ(run(code), LOOPC_COMPILE_ERROR_TIMEOUT);
  EXPECT_EQ(code, "LC0109");
  loopc_compile_options_destroy(options);
}

TEST_F(Files, MissingFile) {
  loopc_session *session = nullptr;
  loopc_diagnostics *said = nullptr;
  EXPECT_EQ(loopc_session_create_from_file(path("none.onnx").c_str(), nullptr,
                                           &session, &said),
            LOOPC_COMPILE_ERROR_FILE);
  EXPECT_STREQ(loopc_diagnostics_get(said, 0).code, "LC0102");
  loopc_diagnostics_destroy(said);
  EXPECT_EQ(loopc_session_load_shared(path("none.so").c_str(), nullptr,
                                      &session, nullptr),
            LOOPC_COMPILE_ERROR_FILE);
}

TEST_F(Files, EmitNames) {
  EXPECT_EQ(loopc_emit_from_name("obj"), LOOPC_EMIT_OBJ);
  EXPECT_EQ(loopc_emit_from_name("llvm-ir"), LOOPC_EMIT_LLVM_IR);
  EXPECT_EQ(loopc_emit_from_name("exe"), 0);
  EXPECT_EQ(loopc_emit_from_name(nullptr), 0);
}

TEST_F(Files, EveryStage) {
  for (const char *name : {"onnx", "loop", "linalg", "memref", "scf", "llvm",
                           "llvm-ir", "asm", "obj", "shared"}) {
    std::string file = path(name);
    loopc_diagnostics *said = nullptr;
    EXPECT_EQ(loopc_compile_bytes(kAdd.data(), kAdd.size(),
                                  loopc_emit_from_name(name), file.c_str(),
                                  nullptr, &said),
              LOOPC_COMPILE_OK)
        << name << ": " << loopc_diagnostics_text(said, 0);
    loopc_diagnostics_destroy(said);
    EXPECT_GT(std::filesystem::file_size(file), 100u) << name;
  }
  // Headers beside the object and the library; nothing temporary is left.
  EXPECT_EQ(count(), 12u);
}

TEST_F(Files, SharedLibraryAndBack) {
  std::ofstream(path("add.onnxtxt")) << kAdd;
  std::string library = path("add.so");
  loopc_compile_options *options = loopc_compile_options_create();
  loopc_compile_options_set_name(options, "my_add");
  ASSERT_EQ(loopc_compile_file(path("add.onnxtxt").c_str(), LOOPC_EMIT_SHARED,
                               library.c_str(), options, nullptr),
            LOOPC_COMPILE_OK);
  loopc_compile_options_destroy(options);
  for (const char *name : {static_cast<const char *>(nullptr), "my_add"}) {
    loopc_session *session = nullptr;
    ASSERT_EQ(
        loopc_session_load_shared(library.c_str(), name, &session, nullptr),
        LOOPC_COMPILE_OK);
    EXPECT_STREQ(loopc_session_model(session)->name, "add");
    EXPECT_EQ(runAdd(session, 4), 2.0f);
    loopc_session_destroy(session);
  }
  loopc_session *session = nullptr;
  EXPECT_EQ(
      loopc_session_load_shared(library.c_str(), "add", &session, nullptr),
      LOOPC_COMPILE_ERROR_ARGUMENT);
}

TEST_F(Files, NothingIsLeftAfterAnError) {
  loopc_diagnostics *said = nullptr;
  for (int emit : {LOOPC_EMIT_OBJ, LOOPC_EMIT_SHARED, LOOPC_EMIT_LLVM_IR}) {
    EXPECT_EQ(loopc_compile_bytes(kUnknown.data(), kUnknown.size(), emit,
                                  path("out").c_str(), nullptr, nullptr),
              LOOPC_COMPILE_ERROR_MODEL);
  }
  EXPECT_EQ(loopc_compile_bytes(kAdd.data(), kAdd.size(), LOOPC_EMIT_OBJ,
                                path("none/out.o").c_str(), nullptr, &said),
            LOOPC_COMPILE_ERROR_FILE);
  EXPECT_STREQ(loopc_diagnostics_get(said, 0).code, "LC0103");
  loopc_diagnostics_destroy(said);
  EXPECT_EQ(loopc_compile_bytes(kAdd.data(), kAdd.size(), 99,
                                path("out").c_str(), nullptr, nullptr),
            LOOPC_COMPILE_ERROR_ARGUMENT);
  EXPECT_EQ(loopc_compile_bytes(kAdd.data(), kAdd.size(), LOOPC_EMIT_OBJ, "",
                                nullptr, nullptr),
            LOOPC_COMPILE_ERROR_ARGUMENT);
  EXPECT_EQ(count(), 0u);
}

TEST_F(Files, OutputThatExistsStaysWholeAfterAnError) {
  std::ofstream(path("out.o")) << "precious";
  EXPECT_EQ(loopc_compile_bytes(kUnknown.data(), kUnknown.size(),
                                LOOPC_EMIT_OBJ, path("out.o").c_str(), nullptr,
                                nullptr),
            LOOPC_COMPILE_ERROR_MODEL);
  std::string text;
  std::ifstream(path("out.o")) >> text;
  EXPECT_EQ(text, "precious");
}

} // namespace
