//===- Cores.cpp - Cores that a process may compute on --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The default is a thread for each physical core that the affinity mask and the
// quota of the control groups leave. LOOPC_NUM_THREADS is another default;
// OMP_NUM_THREADS, which Ray, Dask, joblib and others set in their workers, is
// a limit.
//
//===----------------------------------------------------------------------===//

#include "Cores.h"
#include "../CPU/Run.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

using namespace loopc::rt;

/// Of a file and of a path.
static constexpr size_t kMaxText = 4096;

/// The beginning of a file of the system's; false where there is none.
static bool readText(const char *root, const char *path, char *text) {
  char full[kMaxText];
  if (snprintf(full, sizeof(full), "%s%s", root, path) >= int(sizeof(full)))
    return false;
  int file = open(full, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return false;
  size_t size = 0;
  ssize_t part;
  while (size + 1 < kMaxText &&
         (part = read(file, text + size, kMaxText - 1 - size)) > 0)
    size += static_cast<size_t>(part);
  close(file);
  text[size] = 0;
  return size != 0;
}

//===----------------------------------------------------------------------===//
// Processors
//===----------------------------------------------------------------------===//

/// Whether a processor before `cpu` in the mask is of the same core.
static bool isSibling(const char *root, int cpu, const cpu_set_t &mask) {
  char path[128], text[kMaxText];
  snprintf(path, sizeof(path),
           "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
  if (!readText(root, path, text))
    return false;
  // Ranges in ascending order: "0-1,64".
  for (const char *at = text;;) {
    char *end;
    long first = strtol(at, &end, 10), last = first;
    if (end == at)
      return false;
    if (*end == '-')
      last = strtol(end + 1, &end, 10);
    for (long other = first; other <= last && other < cpu; ++other)
      if (CPU_ISSET(static_cast<size_t>(other), &mask))
        return true;
    if (*end != ',')
      return false;
    at = end + 1;
  }
}

/// Physical cores of the processors in `mask`.
static int32_t countPhysical(const char *root, const cpu_set_t &mask) {
  char text[kMaxText];
  if (readText(root, "/sys/devices/system/cpu/smt/active", text) &&
      text[0] == '0')
    return CPU_COUNT(&mask);
  int32_t count = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<size_t>(cpu), &mask) &&
        !isSibling(root, cpu, mask))
      ++count;
  return count;
}

//===----------------------------------------------------------------------===//
// Control groups
//===----------------------------------------------------------------------===//

/// Where a hierarchy of control groups is mounted, and the files of its quota.
struct Hierarchy {
  const char *mount;
  const char *quota;
  const char *period; ///< null: behind the quota, in one file
};

static constexpr Hierarchy kUnified = {"/sys/fs/cgroup", "cpu.max", nullptr};
static constexpr Hierarchy kHybrid = {"/sys/fs/cgroup/unified", "cpu.max",
                                      nullptr};
static constexpr Hierarchy kCpu = {"/sys/fs/cgroup/cpu", "cpu.cfs_quota_us",
                                   "cpu.cfs_period_us"};
static constexpr Hierarchy kCpuAcct = {"/sys/fs/cgroup/cpu,cpuacct",
                                       "cpu.cfs_quota_us", "cpu.cfs_period_us"};

/// Lowers `cores` to the quota of one group; no quota is "max" or -1.
static void limitByGroup(const char *root, const Hierarchy &tree,
                         const char *group, int32_t &cores) {
  char path[kMaxText], text[kMaxText];
  auto readFile = [&](const char *name) {
    int size = snprintf(path, sizeof(path), "%s%s/%s", tree.mount, group, name);
    return size < int(sizeof(path)) && readText(root, path, text);
  };
  if (!readFile(tree.quota))
    return;
  char *end;
  long quota = strtol(text, &end, 10);
  if (end == text || quota <= 0)
    return;
  if (tree.period && !readFile(tree.period))
    return;
  long period = strtol(tree.period ? text : end, nullptr, 10);
  if (period <= 0)
    return;
  long whole = (quota - 1) / period + 1;
  if (whole < cores)
    cores = static_cast<int32_t>(whole);
}

/// The same for a group and those around it. In a container the path may be
/// that of the host, and the mounted folder the container's own: then the walk
/// ends there.
static void limitByGroups(const char *root, const Hierarchy &tree, char *group,
                          int32_t &cores) {
  for (;;) {
    limitByGroup(root, tree, group, cores);
    char *slash = strrchr(group, '/');
    if (!slash)
      return;
    *slash = 0;
  }
}

/// Whether `name` is one of the names between commas in `names`.
static bool contains(const char *names, const char *name) {
  size_t size = strlen(name);
  for (const char *at = names; at; at = strchr(at, ',')) {
    at += *at == ',';
    if (strncmp(at, name, size) == 0 && (at[size] == ',' || at[size] == 0))
      return true;
  }
  return false;
}

/// Lines of /proc/self/cgroup: "0::/user.slice", "4:cpu,cpuacct:/docker/1".
static void limitByQuota(const char *root, int32_t &cores) {
  char text[kMaxText];
  if (!readText(root, "/proc/self/cgroup", text))
    return;
  for (char *line = text; *line;) {
    char *end = strchr(line, '\n');
    char *next = end ? end + 1 : line + strlen(line);
    if (end)
      *end = 0;
    char *names = strchr(line, ':');
    char *group = names ? strchr(names + 1, ':') : nullptr;
    if (group) {
      *group++ = 0;
      bool isUnified = names[1] == 0;
      // The walk shortens the path.
      char copy[kMaxText];
      strcpy(copy, group);
      if (isUnified || contains(names + 1, "cpu")) {
        limitByGroups(root, isUnified ? kHybrid : kCpuAcct, copy, cores);
        limitByGroups(root, isUnified ? kUnified : kCpu, group, cores);
      }
    }
    line = next;
  }
}

int32_t loopc::rt::countCores(const char *root, const cpu_set_t &mask) {
  int32_t cores = countPhysical(root, mask);
  limitByQuota(root, cores);
  return cores > 1 ? cores : 1;
}

//===----------------------------------------------------------------------===//
// The default
//===----------------------------------------------------------------------===//

int32_t loopc::rt::parseThreads(const char *text) {
  char *end = nullptr;
  long value = text ? strtol(text, &end, 10) : 0;
  // OMP_NUM_THREADS has one for each level of nested regions: "4,2".
  bool isNumber = end && end != text && (*end == 0 || *end == ',');
  return isNumber && value > 0 && value < INT32_MAX
             ? static_cast<int32_t>(value)
             : 0;
}

bool loopc::rt::readMask(cpu_set_t &mask) {
  CPU_ZERO(&mask);
  return sched_getaffinity(0, sizeof(mask), &mask) == 0;
}

/// What the environment says, read once.
static int32_t readEnvironment(const char *name, int32_t &known) {
  int32_t value = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (value < 0) {
    value = parseThreads(getenv(name));
    __atomic_store_n(&known, value, __ATOMIC_RELAXED);
  }
  return value;
}

/// Says on standard error that a variable has a value that is no number of
/// threads. An empty one and 0 are the default.
static void warnOfNoNumber(const char *name) {
  const char *text = getenv(name);
  if (!text || !*text || parseThreads(text) || strcmp(text, "0") == 0)
    return;
  char line[256];
  int length = snprintf(
      line, sizeof(line),
      "loopc: warning: %s=%.64s is no number of threads; runs have as many as "
      "there are cores\n",
      name, text);
  // Where nobody can read it, nothing is to be done.
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, line, length);
}

static int32_t readOwnNumber() {
  static int32_t known = -1;
  constexpr const char *kName = "LOOPC_NUM_THREADS";
  // Once, whichever of the threads that read it at one time says so.
  if (__atomic_load_n(&known, __ATOMIC_RELAXED) < 0) {
    static bool isSaid = false;
    if (!__atomic_exchange_n(&isSaid, true, __ATOMIC_RELAXED))
      warnOfNoNumber(kName);
  }
  return readEnvironment(kName, known);
}

/// `count`, at most what other libraries of the process are told to use.
static int32_t limitByOthers(int32_t count) {
  static int32_t known = -1;
  int32_t limit = readEnvironment("OMP_NUM_THREADS", known);
  return limit && limit < count ? limit : count;
}

// Called by every run: without the topology.
int32_t loopc::rt::countDefaultThreads() {
  static int32_t known = 0;
  int32_t count = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (count)
    return count;
  count = readOwnNumber();
  if (!count) {
    cpu_set_t mask;
    count = limitByOthers(readMask(mask) ? CPU_COUNT(&mask) : 1);
  }
  __atomic_store_n(&known, count, __ATOMIC_RELAXED);
  return count;
}

int32_t loopc::rt::limitDefaultThreads() {
  // A mask may be set at any time, as in the workers of a pool. What is known
  // is one word: a hash of the mask, and the number.
  static uint64_t known = 0;
  if (int32_t own = readOwnNumber())
    return own;
  cpu_set_t mask;
  if (!readMask(mask))
    return 1;
  uint64_t hash = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<size_t>(cpu), &mask))
      hash = (hash ^ static_cast<uint64_t>(cpu + 1)) * 0x9E3779B97F4A7C15u;
  uint64_t found = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (found >> 16 != hash >> 16 || !(found & 0xFFFF)) {
    int32_t cores = limitByOthers(countCores("", mask));
    found = (hash & ~uint64_t(0xFFFF)) |
            static_cast<uint64_t>(cores < 0xFFFF ? cores : 0xFFFF);
    __atomic_store_n(&known, found, __ATOMIC_RELAXED);
  }
  return static_cast<int32_t>(found & 0xFFFF);
}

//===----------------------------------------------------------------------===//
// Runs at the same time
//===----------------------------------------------------------------------===//

/// Threads of runs that have come to a parallel loop, with those that run them;
/// in the upper half the process: the child of a fork has none of them.
static uint64_t busy;

static int32_t countBusy(uint64_t word, uint32_t process) {
  return word >> 32 == process ? static_cast<int32_t>(word & 0xFFFFFFFF) : 0;
}

/// Stores the number; false, and what is there in `word`, where another thread
/// was first.
static bool changeBusy(uint64_t &word, uint32_t process, int32_t count) {
  uint64_t next = static_cast<uint64_t>(process) << 32 |
                  static_cast<uint32_t>(count > 0 ? count : 0);
  return __atomic_compare_exchange_n(&busy, &word, next, false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

int32_t loopc::rt::takeCores(loopc_run &run) {
  // Asked again and again by a run that got no other thread.
  bool isFirst = run.takenCores == 0;
  if (isFirst && run.hasDefaultThreads)
    run.mostCores = limitDefaultThreads();
  int32_t most = run.numThreads;
  if (run.hasDefaultThreads && run.mostCores < most)
    most = run.mostCores;
  if (most == 1 || (!isFirst && !run.hasDefaultThreads))
    return most;
  uint64_t word = __atomic_load_n(&busy, __ATOMIC_RELAXED);
  auto process = isFirst ? static_cast<uint32_t>(getpid())
                         : static_cast<uint32_t>(word >> 32);
  int32_t count, others;
  do {
    others = countBusy(word, process) - run.takenCores;
    count = most;
    if (run.hasDefaultThreads && count > most - others)
      for (count = 1; count * 2 <= most - others;)
        count *= 2;
    if (count == run.takenCores)
      return count;
  } while (!changeBusy(word, process, others + count));
  run.takenCores = count;
  return count;
}

void loopc::rt::returnCores(loopc_run &run) {
  if (run.takenCores == 0)
    return;
  uint64_t word = __atomic_load_n(&busy, __ATOMIC_RELAXED);
  auto process = static_cast<uint32_t>(word >> 32);
  while (!changeBusy(word, process, countBusy(word, process) - run.takenCores))
    continue;
  run.takenCores = 0;
}
