//===- Profile.cpp - Where the time of a run goes -------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Time is read from the processor's counter, and put against the clock when the
// run ends. Of the iterations of a loop so many are measured that it takes
// about 2 % of their time, at places that vary, so that they are no special
// ones. What was measured in a loop is extrapolated by the time of all its
// iterations.

#include "Profile.h"

#include <stdlib.h>
#include <string.h>

using namespace loopc::rt;

/// Events of a run, and of those the ones in loops.
static constexpr size_t kMaxEvents = 1 << 15;
static constexpr size_t kMaxNestedEvents = kMaxEvents / 2;
static constexpr size_t kFirstEvents = 1 << 6;
/// A call takes about so many nanoseconds, what is done with its event later on
/// included.
static constexpr double kCallNanoseconds = 40;
/// Ticks of the counter in a nanosecond, as far as is known before the run has
/// ended: with it only the number of measurements is chosen.
#if defined(__x86_64__)
static constexpr double kTicksPerNanosecond = 3;
#elif defined(__aarch64__)
static constexpr double kTicksPerNanosecond = 0.1;
#else
static constexpr double kTicksPerNanosecond = 1;
#endif
/// The share of an iteration's time that measuring may take.
static constexpr double kShare = 0.02;
/// Iterations between two that are measured, at most.
static constexpr double kMaxSkipped = 1 << 20;

#if defined(__x86_64__)
static uint64_t readTicks() { return __builtin_ia32_rdtsc(); }
#elif defined(__aarch64__)
static uint64_t readTicks() {
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}
#else
static uint64_t readTicks() { return static_cast<uint64_t>(readClock()); }
#endif

/// Counters of different processors may differ a little.
static uint64_t passed(uint64_t begin, uint64_t end) {
  return end > begin ? end - begin : 0;
}

namespace loopc::rt {

struct ProfilePart {
  uint64_t ticks;
  uint64_t calls;
  // Of a loop.
  uint64_t iterations; ///< of calls that have ended
  uint64_t measured;
  uint64_t measuredTicks;
  uint64_t begin; ///< of the call
  uint64_t count; ///< iterations of the call
  uint64_t next;  ///< the one to be measured
  uint64_t iterationBegin;
  uint64_t iterationCalls; ///< Profile::calls when it began
  bool isOpen;
};

struct Profile {
  const char *names;
  const int32_t *table; ///< of the parts: loopc_rt_profile_begin
  uint64_t key;
  int32_t count, roomForParts;
  int64_t clockBegin, clockEnd;
  uint64_t begin, end;
  uint64_t last;  ///< when the call before was
  uint64_t calls; ///< so far
  uint64_t random;
  loopc_profile_event *events; ///< in ticks
  size_t numEvents, roomForEvents;
  uint64_t numDropped;
  bool isStopped;
  ProfilePart *parts;           ///< behind it
  loopc_profile_part *reported; ///< behind them

  /// The part that is the loop around a part, or -1.
  int32_t getLoop(int32_t part) const { return table[2 * part]; }
  const char *getName(int32_t part) const {
    return names + table[2 * part + 1];
  }
};

} // namespace loopc::rt

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Profiles of runs that ended, for the next ones: a short run takes about as
/// long as it takes to get this memory and to write it for the first time.
static Profile *keptProfiles[4];

static void destroyProfile(Profile *profile) {
  if (profile)
    free(profile->events);
  free(profile);
}

/// One with room for `count` parts, whatever is in it, or null.
static Profile *takeProfile(int32_t count) {
  for (Profile *&kept : keptProfiles) {
    if (!__atomic_load_n(&kept, __ATOMIC_RELAXED))
      continue;
    Profile *profile = __atomic_exchange_n(&kept, nullptr, __ATOMIC_ACQUIRE);
    if (profile && profile->roomForParts >= count)
      return profile;
    destroyProfile(profile);
  }
  size_t bytes =
      sizeof(Profile) + static_cast<size_t>(count) *
                            (sizeof(ProfilePart) + sizeof(loopc_profile_part));
  auto *profile = static_cast<Profile *>(malloc(bytes));
  if (profile) {
    *profile = {};
    profile->roomForParts = count;
  }
  return profile;
}

static void releaseProfile(Profile *profile) {
  for (Profile *&kept : keptProfiles) {
    Profile *none = nullptr;
    if (__atomic_compare_exchange_n(&kept, &none, profile, false,
                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
      return;
  }
  destroyProfile(profile);
}

/// A library that is closed leaves nothing behind.
__attribute__((destructor)) static void freeKeptProfiles() {
  for (Profile *&kept : keptProfiles)
    destroyProfile(__atomic_exchange_n(&kept, nullptr, __ATOMIC_ACQUIRE));
}

//===----------------------------------------------------------------------===//
// Measurements
//===----------------------------------------------------------------------===//

static void addEvent(Profile &profile, int32_t part, int64_t iteration,
                     uint64_t begin, uint64_t end) {
  bool isNested = iteration >= 0 || profile.getLoop(part) >= 0;
  if (profile.numEvents >= (isNested ? kMaxNestedEvents : kMaxEvents)) {
    ++profile.numDropped;
    return;
  }
  if (profile.numEvents == profile.roomForEvents) {
    size_t room =
        profile.roomForEvents ? 2 * profile.roomForEvents : kFirstEvents;
    void *grown = realloc(profile.events, room * sizeof(loopc_profile_event));
    if (!grown) {
      ++profile.numDropped;
      return;
    }
    profile.events = static_cast<loopc_profile_event *>(grown);
    profile.roomForEvents = room;
  }
  profile.events[profile.numEvents++] = {
      part, iteration, static_cast<int64_t>(passed(profile.begin, begin)),
      static_cast<int64_t>(passed(begin, end))};
}

/// How many iterations are let go by after one of `ticks` with `calls`.
static uint64_t chooseSkipped(Profile &profile, uint64_t ticks,
                              uint64_t calls) {
  double cost =
      static_cast<double>(calls) * kCallNanoseconds * kTicksPerNanosecond;
  double skipped = cost / (kShare * static_cast<double>(ticks + 1)) - 1;
  if (skipped < 1)
    return 0;
  if (skipped > kMaxSkipped)
    skipped = kMaxSkipped;
  // Between half of it and half as much again.
  profile.random = profile.random * 6364136223846793005u + 1442695040888963407u;
  double vary = static_cast<double>(profile.random >> 40) / (1 << 24);
  return static_cast<uint64_t>(skipped * (0.5 + vary));
}

extern "C" int32_t loopc_rt_profile_begin(loopc_run *run, const char *names,
                                          const int32_t *parts, int32_t count,
                                          int64_t key) {
  if (!run->reportProfile || run->profile)
    return 0;
  Profile *profile = takeProfile(count);
  if (!profile) {
    recordError(*run, LOOPC_ERROR_MEMORY, "no memory for a profile");
    return 0;
  }
  Profile begun = {};
  begun.names = names;
  begun.table = parts;
  begun.key = static_cast<uint64_t>(key);
  begun.count = count;
  begun.roomForParts = profile->roomForParts;
  begun.events = profile->events;
  begun.roomForEvents = profile->roomForEvents;
  begun.random = 1;
  begun.parts = reinterpret_cast<ProfilePart *>(profile + 1);
  begun.reported = reinterpret_cast<loopc_profile_part *>(begun.parts + count);
  memset(begun.parts, 0, static_cast<size_t>(count) * sizeof(ProfilePart));
  *profile = begun;
  profile->clockBegin = readClock();
  profile->begin = profile->last = readTicks();
  run->profile = profile;
  return 1;
}

extern "C" void loopc_rt_profile_mark(loopc_run *run, int32_t part,
                                      int32_t calls) {
  Profile &profile = *run->profile;
  uint64_t now = readTicks();
  profile.parts[part].ticks += passed(profile.last, now);
  profile.parts[part].calls += static_cast<uint64_t>(calls);
  addEvent(profile, part, -1, profile.last, now);
  ++profile.calls;
  profile.last = now;
}

extern "C" void loopc_rt_profile_enter(loopc_run *run, int32_t number) {
  Profile &profile = *run->profile;
  ProfilePart &part = profile.parts[number];
  part.begin = profile.last;
  part.count = part.next = 0;
  part.isOpen = true;
}

extern "C" int32_t loopc_rt_profile_iteration(loopc_run *run, int32_t number) {
  Profile &profile = *run->profile;
  ProfilePart &part = profile.parts[number];
  if (part.count++ < part.next)
    return 0;
  part.iterationCalls = profile.calls;
  part.iterationBegin = profile.last = readTicks();
  return 1;
}

extern "C" void loopc_rt_profile_next(loopc_run *run, int32_t number) {
  Profile &profile = *run->profile;
  ProfilePart &part = profile.parts[number];
  uint64_t now = readTicks();
  uint64_t ticks = passed(part.iterationBegin, now);
  part.measuredTicks += ticks;
  ++part.measured;
  addEvent(profile, number, static_cast<int64_t>(part.count - 1),
           part.iterationBegin, now);
  profile.calls += 2;
  part.next = part.count + chooseSkipped(profile, ticks,
                                         profile.calls - part.iterationCalls);
  profile.last = now;
}

static void leave(Profile &profile, int32_t number, uint64_t now) {
  ProfilePart &part = profile.parts[number];
  part.ticks += passed(part.begin, now);
  ++part.calls;
  part.iterations += part.count;
  part.isOpen = false;
  addEvent(profile, number, -1, part.begin, now);
}

extern "C" void loopc_rt_profile_leave(loopc_run *run, int32_t number) {
  Profile &profile = *run->profile;
  uint64_t now = readTicks();
  leave(profile, number, now);
  ++profile.calls;
  profile.last = now;
}

void loopc::rt::stopProfile(loopc_run &run) {
  if (!run.profile)
    return;
  Profile &profile = *run.profile;
  profile.end = readTicks();
  profile.clockEnd = readClock();
  profile.isStopped = true;
  // After an error loops are still open. Outer ones have lower numbers.
  for (int32_t number = profile.count; number-- > 0;)
    if (profile.parts[number].isOpen)
      leave(profile, number, profile.end);
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

/// By what the ticks and the calls of a loop's parts are multiplied.
namespace {
struct Factors {
  double time, calls;
};
} // namespace

static Factors findFactors(const Profile &profile, int32_t loop) {
  Factors factors = {1, 1};
  for (; loop >= 0; loop = profile.getLoop(loop)) {
    const ProfilePart &part = profile.parts[loop];
    if (!part.measuredTicks || !part.measured)
      continue;
    factors.time *= static_cast<double>(part.ticks) /
                    static_cast<double>(part.measuredTicks);
    factors.calls *= static_cast<double>(part.iterations) /
                     static_cast<double>(part.measured);
  }
  return factors;
}

/// Fills what is reported of the parts.
static void describeParts(const Profile &profile, double nanoseconds) {
  loopc_profile_part *parts = profile.reported;
  for (int32_t k = 0; k < profile.count; ++k) {
    const ProfilePart &part = profile.parts[k];
    Factors factors = findFactors(profile, profile.getLoop(k));
    parts[k].name = profile.getName(k);
    parts[k].loop = profile.getLoop(k);
    parts[k].is_loop = 0;
    parts[k].seconds =
        static_cast<double>(part.ticks) * factors.time * nanoseconds * 1e-9;
    parts[k].calls = static_cast<double>(part.calls) * factors.calls;
    parts[k].iterations = static_cast<double>(part.iterations) * factors.calls;
  }
  for (int32_t k = 0; k < profile.count; ++k)
    if (profile.getLoop(k) >= 0)
      parts[profile.getLoop(k)].is_loop = 1;
}

void loopc::rt::endProfile(loopc_run &run, const char *model) {
  Profile &profile = *run.profile;
  if (!profile.isStopped)
    stopProfile(run);
  uint64_t ticks = passed(profile.begin, profile.end);
  double nanoseconds =
      static_cast<double>(profile.clockEnd - profile.clockBegin) /
      static_cast<double>(ticks ? ticks : 1);
  describeParts(profile, nanoseconds);
  auto convert = [&](int64_t number) {
    return static_cast<int64_t>(static_cast<double>(number) * nanoseconds);
  };
  for (size_t k = 0; k < profile.numEvents; ++k) {
    loopc_profile_event &event = profile.events[k];
    event.begin = profile.clockBegin + convert(event.begin);
    event.nanoseconds = convert(event.nanoseconds);
  }
  loopc_run_profile report = {};
  report.size = sizeof(report);
  report.model = model;
  report.begin = profile.clockBegin;
  report.nanoseconds = profile.clockEnd - profile.clockBegin;
  report.num_parts = static_cast<size_t>(profile.count);
  report.parts = profile.reported;
  report.num_events = profile.numEvents;
  report.events = profile.events;
  report.num_dropped = profile.numDropped;
  report.key = profile.key;
  run.reportProfile(run.profileContext, &report);
  releaseProfile(run.profile);
  run.profile = nullptr;
}
