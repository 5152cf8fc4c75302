//===- CoresTest.cpp - Tests of the default number of threads -------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Threads/Cores.h"
#include "Runtime/CPU/Run.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <stdlib.h>

using namespace loopc::rt;

namespace {

/// Files of a system, below a folder of its own.
class System : public testing::Test {
protected:
  System() {
    std::string name = testing::TempDir() + "loopc-cores-XXXXXX";
    root = mkdtemp(name.data());
    CPU_ZERO(&mask);
  }
  ~System() override { std::filesystem::remove_all(root); }

  void write(const std::string &path, const std::string &text) {
    std::filesystem::path full = root.string() + path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text << '\n';
  }
  void setMask(int first, int end) {
    CPU_ZERO(&mask);
    for (int cpu = first; cpu < end; ++cpu)
      CPU_SET(static_cast<size_t>(cpu), &mask);
  }
  /// Processors k and k + n/2 are of one core.
  void makeSiblings(int n) {
    write("/sys/devices/system/cpu/smt/active", "1");
    for (int cpu = 0; cpu < n; ++cpu) {
      int first = cpu % (n / 2);
      write("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                "/topology/thread_siblings_list",
            std::to_string(first) + "," + std::to_string(first + n / 2));
    }
  }
  int32_t count() { return countCores(root.c_str(), mask); }

  std::filesystem::path root;
  cpu_set_t mask;
};

TEST_F(System, WithoutFilesItIsTheMask) {
  setMask(0, 6);
  EXPECT_EQ(count(), 6);
  CPU_ZERO(&mask);
  EXPECT_EQ(count(), 1);
}

TEST_F(System, TwoProcessorsOfACoreAreOne) {
  makeSiblings(16);
  setMask(0, 16);
  EXPECT_EQ(count(), 8);
  // The mask has one of each.
  setMask(4, 12);
  EXPECT_EQ(count(), 8);
  setMask(0, 3);
  CPU_SET(8, &mask);
  EXPECT_EQ(count(), 3);
}

TEST_F(System, SiblingsThatAreARange) {
  write("/sys/devices/system/cpu/smt/active", "1");
  for (int cpu = 0; cpu < 4; ++cpu)
    write("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
              "/topology/thread_siblings_list",
          cpu < 2 ? "0-1" : "2-3");
  setMask(0, 4);
  EXPECT_EQ(count(), 2);
}

TEST_F(System, WithoutSiblingsTheyAreNotLookedAt) {
  makeSiblings(4);
  write("/sys/devices/system/cpu/smt/active", "0");
  setMask(0, 4);
  EXPECT_EQ(count(), 4);
}

TEST_F(System, TheQuotaOfAGroupAndOfThoseAroundIt) {
  setMask(0, 64);
  write("/proc/self/cgroup", "0::/pods/one");
  EXPECT_EQ(count(), 64);
  write("/sys/fs/cgroup/pods/one/cpu.max", "max 100000");
  EXPECT_EQ(count(), 64);
  write("/sys/fs/cgroup/pods/cpu.max", "350000 100000");
  EXPECT_EQ(count(), 4);
  write("/sys/fs/cgroup/pods/one/cpu.max", "50000 100000");
  EXPECT_EQ(count(), 1);
}

// The path is the host's, the folder is the container's.
TEST_F(System, TheQuotaOfAContainer) {
  setMask(0, 64);
  write("/proc/self/cgroup", "0::/");
  write("/sys/fs/cgroup/cpu.max", "200000 100000");
  EXPECT_EQ(count(), 2);
}

TEST_F(System, TheQuotaOfTheFirstVersion) {
  setMask(0, 64);
  write("/proc/self/cgroup",
        "9:cpuset:/\n4:cpu,cpuacct:/docker/0123\n1:name=systemd:/a");
  write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
  write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  EXPECT_EQ(count(), 64);
  write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "600000");
  EXPECT_EQ(count(), 6);
  write("/sys/fs/cgroup/cpu,cpuacct/docker/0123/cpu.cfs_quota_us", "250001");
  write("/sys/fs/cgroup/cpu,cpuacct/docker/0123/cpu.cfs_period_us", "100000");
  EXPECT_EQ(count(), 3);
}

TEST_F(System, DamagedFilesAreNoLimit) {
  setMask(0, 5);
  write("/proc/self/cgroup", "nothing\n0:\n::\n0::/a");
  write("/sys/fs/cgroup/a/cpu.max", "100000 0");
  write("/sys/fs/cgroup/cpu.max", "x");
  EXPECT_EQ(count(), 5);
}

TEST(Cores, NumbersOfTheEnvironment) {
  EXPECT_EQ(parseThreads(nullptr), 0);
  EXPECT_EQ(parseThreads(""), 0);
  EXPECT_EQ(parseThreads("all"), 0);
  EXPECT_EQ(parseThreads("4 cores"), 0);
  EXPECT_EQ(parseThreads("-3"), 0);
  EXPECT_EQ(parseThreads("0"), 0);
  EXPECT_EQ(parseThreads("12"), 12);
  // Levels of nested regions.
  EXPECT_EQ(parseThreads("4,2"), 4);
  EXPECT_EQ(parseThreads("99999999999999999999"), 0);
}

// A run with the default leaves others their cores, and takes what is left.
TEST(Cores, RunsAtTheSameTime) {
  int32_t all = limitDefaultThreads();
  auto makeRun = [&](int32_t threads) {
    loopc_run run;
    run.hasDefaultThreads = threads == 0;
    run.numThreads = threads ? threads : all;
    return run;
  };
  loopc_run first = makeRun(0), second = makeRun(0), third = makeRun(3);
  EXPECT_EQ(takeCores(first), all);
  EXPECT_EQ(takeCores(second), 1);
  EXPECT_EQ(takeCores(third), 3);
  returnCores(first);
  // Of all - 3 the largest power of two, if any.
  int32_t now = takeCores(second);
  EXPECT_GE(now, 1);
  EXPECT_LE(now, all > 4 ? all - 3 : 1);
  EXPECT_EQ(now & (now - 1), 0);
  returnCores(third);
  returnCores(second);
  loopc_run last = makeRun(0);
  EXPECT_EQ(takeCores(last), all);
  returnCores(last);
}

} // namespace
