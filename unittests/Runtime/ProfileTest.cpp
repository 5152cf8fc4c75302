//===- ProfileTest.cpp - Where the time of a run goes ---------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include <gmock/gmock.h>

#include <algorithm>

using namespace loopc::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// Copies of what a run reported.
struct Report {
  size_t runs = 0;
  std::string model;
  double seconds = 0;
  std::vector<std::string> names;
  std::vector<loopc_profile_part> parts;
  std::vector<loopc_profile_event> events;
  uint64_t numDropped = 0;
  uint64_t key = 0;
  const void *memory = nullptr; ///< where the parts were

  static void take(void *context, const loopc_run_profile *run) {
    auto &report = *static_cast<Report *>(context);
    ++report.runs;
    report.model = run->model;
    report.seconds = static_cast<double>(run->nanoseconds) * 1e-9;
    report.numDropped = run->num_dropped;
    report.key = run->key;
    report.memory = run->parts;
    report.names.clear();
    report.parts.assign(run->parts, run->parts + run->num_parts);
    report.events.assign(run->events, run->events + run->num_events);
    for (const loopc_profile_part &part : report.parts)
      report.names.push_back(part.name);
  }
};

constexpr char kNames[] = "loop\0in it\0outside";
/// For each part the loop around it, and where its name begins.
constexpr int32_t kParts[] = {-1, 0, 0, 5, -1, 11};
constexpr int64_t kKey = 123;

/// Keeps the processor busy for about a microsecond.
void work() {
  for (volatile int k = 0; k < 1000; k = k + 1)
    ;
}

/// A loop of so many iterations with one part, and a part behind it.
template <int kTrips> int32_t runLoop(void *context, void **, void **) {
  auto *run = static_cast<loopc_run *>(context);
  if (!loopc_rt_profile_begin(run, kNames, kParts, 3, kKey))
    return 0;
  loopc_rt_profile_enter(run, 0);
  for (int k = 0; k < kTrips; ++k) {
    bool isMeasured = loopc_rt_profile_iteration(run, 0);
    work();
    if (isMeasured) {
      loopc_rt_profile_mark(run, 1, 1);
      loopc_rt_profile_mark(run, 1, 0);
      loopc_rt_profile_next(run, 0);
    }
  }
  loopc_rt_profile_leave(run, 0);
  work();
  loopc_rt_profile_mark(run, 2, 1);
  return 0;
}

Outcome runProfiled(Entry entry, Report &report,
                    uint32_t flags = LOOPC_MODEL_PROFILED) {
  TestModel model(entry);
  model.model.flags = flags;
  loopc_run_options options = {};
  options.size = sizeof(options);
  options.profile = &Report::take;
  options.profile_context = &report;
  std::vector<loopc_value> outputs;
  return runModel(model, {}, outputs, &options);
}

TEST(Profile, CountsAllIterationsAndMeasuresSome) {
  Report report;
  EXPECT_EQ(runProfiled(&runLoop<20000>, report).status, LOOPC_OK);
  EXPECT_EQ(report.runs, 1u);
  EXPECT_EQ(report.model, "test");
  EXPECT_THAT(report.names, ElementsAre("loop", "in it", "outside"));
  const loopc_profile_part &loop = report.parts[0], &part = report.parts[1];
  EXPECT_EQ(loop.loop, -1);
  EXPECT_TRUE(loop.is_loop);
  EXPECT_EQ(part.loop, 0);
  EXPECT_FALSE(part.is_loop);
  EXPECT_EQ(loop.calls, 1);
  EXPECT_EQ(loop.iterations, 20000);
  // Extrapolated: a piece of a part is no call.
  EXPECT_NEAR(part.calls, 20000, 1e-6);
  EXPECT_LE(part.seconds, loop.seconds);
  EXPECT_GT(part.seconds, loop.seconds / 2);
  EXPECT_LE(loop.seconds + report.parts[2].seconds, report.seconds * 1.001);
  EXPECT_EQ(report.parts[2].calls, 1);
}

// In a loop there is a bound; what is outside is there in any case.
TEST(Profile, EventsHaveABoundAndAnOrder) {
  Report report;
  EXPECT_EQ(runProfiled(&runLoop<100000>, report).status, LOOPC_OK);
  EXPECT_LE(report.events.size(), size_t{1} << 15);
  auto isIteration = [](auto &event) { return event.iteration >= 0; };
  EXPECT_GT(
      std::count_if(report.events.begin(), report.events.end(), isIteration),
      10);
  EXPECT_EQ(report.events.back().part, 2);
  const loopc_profile_event &loop = report.events[report.events.size() - 2];
  EXPECT_EQ(loop.part, 0);
  EXPECT_EQ(loop.iteration, -1);
  int64_t last = -1;
  for (const loopc_profile_event &event : report.events) {
    EXPECT_GE(event.nanoseconds, 0);
    EXPECT_LE(event.begin, report.events.back().begin);
    if (event.iteration >= 0) {
      EXPECT_GT(event.iteration, last);
      last = event.iteration;
    }
  }
}

// Loops are still open then.
TEST(Profile, IsReportedAfterAnError) {
  Report report;
  Outcome outcome = runProfiled(
      [](void *context, void **, void **) {
        auto *run = static_cast<loopc_run *>(context);
        EXPECT_TRUE(loopc_rt_profile_begin(run, kNames, kParts, 3, kKey));
        loopc_rt_profile_enter(run, 0);
        EXPECT_TRUE(loopc_rt_profile_iteration(run, 0));
        return loopc_rt_fail(run, "failed", -1, nullptr, 0);
      },
      report);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_RUNTIME);
  ASSERT_EQ(report.runs, 1u);
  EXPECT_EQ(report.parts[0].iterations, 1);
  EXPECT_EQ(report.parts[1].calls, 0);
}

// A run takes the memory that the one before had, whatever is left in it.
TEST(Profile, KeepsItsMemoryForTheNextRun) {
  Report report;
  EXPECT_EQ(runProfiled(&runLoop<2000>, report).status, LOOPC_OK);
  const void *memory = report.memory;
  size_t events = report.events.size();
  Entry entry = [](void *context, void **, void **) {
    auto *run = static_cast<loopc_run *>(context);
    EXPECT_TRUE(loopc_rt_profile_begin(run, kNames, kParts, 1, kKey + 1));
    loopc_rt_profile_mark(run, 0, 1);
    return int32_t{0};
  };
  EXPECT_EQ(runProfiled(entry, report).status, LOOPC_OK);
  EXPECT_THAT(report.names, ElementsAre("loop"));
  EXPECT_EQ(report.key, uint64_t{kKey + 1});
  EXPECT_FALSE(report.parts[0].is_loop);
  EXPECT_EQ(report.parts[0].calls, 1);
  EXPECT_EQ(report.parts[0].iterations, 0);
  EXPECT_EQ(report.events.size(), 1u);
  EXPECT_EQ(runProfiled(&runLoop<2000>, report).status, LOOPC_OK);
  EXPECT_EQ(report.key, uint64_t{kKey});
  EXPECT_EQ(report.parts[0].iterations, 2000);
  EXPECT_GT(events, 2u);
  EXPECT_EQ(report.memory, memory);
}

TEST(Profile, IsRefusedWhereTheModelMeasuresNothing) {
  Report report;
  Outcome outcome = runProfiled(&runLoop<1>, report, 0);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_INPUT);
  EXPECT_THAT(outcome.message, HasSubstr("compile it with --profile"));
  EXPECT_EQ(report.runs, 0u);
}

TEST(Profile, IsNotMadeWhereNobodyWantsIt) {
  TestModel model([](void *context, void **, void **) {
    EXPECT_FALSE(loopc_rt_profile_begin(static_cast<loopc_run *>(context),
                                        kNames, kParts, 3, kKey));
    return int32_t{0};
  });
  model.model.flags = LOOPC_MODEL_PROFILED;
  std::vector<loopc_value> outputs;
  EXPECT_EQ(runModel(model, {}, outputs).status, LOOPC_OK);
}

} // namespace
