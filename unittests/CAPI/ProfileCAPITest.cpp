//===- ProfileCAPITest.cpp - Profiles of several runs ---------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc-c/loopc.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <array>
#include <cstddef>
#include <string>

using testing::HasSubstr;
using testing::Not;

namespace {

/// A run of a loop and a node in it.
struct Reported {
  std::array<loopc_profile_part, 2> parts = {};
  loopc_profile_event event = {1, -1, 0, 1000};
  loopc_run_profile run = {};

  Reported(uint64_t key, const char *loop, const char *node) {
    parts[0] = {loop, -1, 1, 2e-3, 1, 10};
    parts[1] = {node, 0, 0, 1e-3, 10, 0};
    run.size = sizeof(run);
    run.model = "model";
    run.nanoseconds = 2000000;
    run.num_parts = parts.size();
    run.parts = parts.data();
    run.num_events = 1;
    run.events = &event;
    run.key = key;
  }
};

class ProfileCAPI : public testing::Test {
protected:
  void SetUp() override { profile = loopc_profile_create(); }
  void TearDown() override { loopc_profile_destroy(profile); }

  std::string add(const Reported &reported) {
    loopc_profile_add(profile, &reported.run);
    return loopc_profile_table(profile);
  }

  loopc_profile *profile = nullptr;
};

// The names of a run with the key of the one before are not even looked at:
// that took a noticeable share of a short run.
TEST_F(ProfileCAPI, NamesAreResolvedOnceForAKey) {
  add({7, "loop", "node"});
  std::string table = add({7, nullptr, nullptr});
  EXPECT_THAT(table, HasSubstr("profile: 2 runs of model"));
  EXPECT_THAT(table, HasSubstr("  20    100.000  loop"));
  EXPECT_THAT(table, HasSubstr("  20    100.000  node"));
}

TEST_F(ProfileCAPI, RunsOfSeveralModelsAreToldApart) {
  Reported one(7, "loop", "node"), other(9, "loop", "another");
  add(one);
  add(other);
  std::string table = add(one);
  EXPECT_THAT(table, HasSubstr("  30    100.000  loop"));
  EXPECT_THAT(table, HasSubstr("  20    100.000  node"));
  EXPECT_THAT(table, HasSubstr("  10    100.000  another"));
}

// Of a runtime whose report has no key, or that has none for its parts.
TEST_F(ProfileCAPI, NamesAreComparedWithoutAKey) {
  Reported one(7, "loop", "node"), other(7, "loop", "another");
  one.run.size = other.run.size = offsetof(loopc_run_profile, key);
  add(one);
  std::string table = add(other);
  EXPECT_THAT(table, HasSubstr("  10    100.000  another"));
  table = add({0, "loop", "third"});
  table = add({0, "loop", "fourth"});
  EXPECT_THAT(table, HasSubstr("  10    100.000  third"));
  EXPECT_THAT(table, HasSubstr("  10    100.000  fourth"));
  EXPECT_THAT(table, Not(HasSubstr("  20    100.000  node")));
}

} // namespace
