//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pace.h"

#include <time.h>

using namespace loopc::rt;

/// Iterations that are timed of each way; the shortest one counts.
static constexpr uint32_t kTimed = 4;

/// Iterations until the first trial is repeated, and at most.
static constexpr uint32_t kFirstInterval = 64, kLastInterval = 4096;

/// Nanoseconds that threads may need to wake up, and caches to follow.
static constexpr int64_t kSettling = 60'000;

/// The caller goes on alone for so many times what it has lost: at first, and
/// at most where losses follow one another.
static constexpr int64_t kFirstCaution = 2, kLastCaution = 32;

/// A loss follows another one where it comes within so many times the time that
/// the caller went on alone after that one.
static constexpr int64_t kRelapse = 4;

/// Nanoseconds in which no other thread came, from which on they are taken for
/// lost; how long the caller then goes on alone, at first and at most.
static constexpr int64_t kLonely = 500'000, kFirstPatience = 1'000'000,
                         kLastPatience = 10'000'000;

/// An odd number that spreads the bits of what it is multiplied with.
static constexpr uint64_t kHashFactor = 0x9E3779B97F4A7C15;

int64_t loopc::rt::readThreadsClock() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

Pace::Site &Pace::findSite(const void *fn, int64_t count) {
  uint32_t size = 64 - static_cast<uint32_t>(__builtin_clzll(
                           static_cast<unsigned long long>(count) | 1));
  for (Site &site : sites)
    if (site.fn == fn && site.size == size)
      return site;
  Site &site = sites[victim++ % kSites];
  if (&site == marker)
    marker = nullptr;
  site = {};
  site.fn = fn;
  site.size = size;
  site.round = round - 1;
  site.interval = kFirstInterval;
  site.left = kTimed;
  site.best[Together] = INT64_MAX;
  return site;
}

void Pace::startPhase(Site &site, Phase phase, Way way, int64_t now) {
  site.phase = phase;
  site.left = phase == IsSettled ? site.interval : kTimed;
  site.best[way] = INT64_MAX;
  if (site.way != way)
    site.settled = now + kSettling;
  site.way = way;
}

/// Both ways were timed.
void Pace::decide(Site &site, int64_t now) {
  // What is hardly faster is not worth the other core.
  int64_t alone = site.best[Alone] - site.best[Alone] / 32;
  Way better = site.best[Together] < alone ? Together : Alone;
  if (!site.wasTried || better != site.verdict)
    site.interval = kFirstInterval;
  else if (site.interval < kLastInterval)
    site.interval *= 2;
  site.wasTried = true;
  site.verdict = better;
  startPhase(site, IsSettled, better, now);
}

void Pace::endPhase(Site &site, int64_t now) {
  switch (site.phase) {
  case TimesVerdict:
    return startPhase(site, TimesOther,
                      site.verdict == Together ? Alone : Together, now);
  case TimesOther:
    return decide(site, now);
  case IsSettled:
    return startPhase(site, TimesVerdict, site.verdict, now);
  }
}

/// One iteration of the loop that `site` stands for is over. `isLike` the one
/// before: else it takes another time for what it computes.
void Pace::endIteration(Site &site, bool isLike) {
  int64_t now = 0;
  if (!isLike) {
    if (site.phase != IsSettled)
      begin = readThreadsClock();
    return;
  }
  if (site.phase != IsSettled) {
    now = readThreadsClock();
    int64_t since = begin;
    begin = now;
    if (since == 0 || since < site.settled)
      return;
    if (now - since < site.best[site.way])
      site.best[site.way] = now - since;
  }
  if (--site.left != 0)
    return;
  if (now == 0)
    begin = now = readThreadsClock();
  endPhase(site, now);
}

bool Pace::hasThreads() {
  if (aloneUntil != 0) {
    if (readThreadsClock() < aloneUntil)
      return false;
    aloneUntil = 0;
  }
  return true;
}

bool Pace::isShared(const void *fn, int64_t count) {
  if (!hasThreads())
    return false;
  Site &site = findSite(fn, count);
  if (&site == marker) {
    ++round;
    endIteration(site, nests == nestsBefore);
    nestsBefore = nests;
    nests = 0;
  } else if (!marker || site.round == round) {
    marker = &site;
    ++round;
    nests = nestsBefore = 0;
    begin = readThreadsClock();
    site.settled = begin + kSettling;
  }
  site.round = round;
  nests =
      (nests ^ reinterpret_cast<uintptr_t>(fn) ^ static_cast<uint64_t>(count)) *
      kHashFactor;
  return marker->way == Together;
}

void Pace::goOnAlone(int64_t now, int64_t nanoseconds) {
  aloneUntil = now + nanoseconds;
  lonelySince = 0;
  // The iteration was not like others.
  begin = 0;
}

void Pace::noteLoss(int64_t now, int64_t nanoseconds) {
  if (now >= lossesUntil)
    caution = kFirstCaution;
  else if (caution < kLastCaution)
    caution *= 2;
  int64_t alone = caution * nanoseconds;
  lossesUntil = now + alone + kRelapse * alone;
  goOnAlone(now, alone);
}

void Pace::noteEnd(bool hadCompany) {
  if (hadCompany) {
    lonelySince = 0;
    patience = kFirstPatience;
    return;
  }
  int64_t now = readThreadsClock();
  if (lonelySince == 0) {
    lonelySince = now;
  } else if (now - lonelySince > kLonely) {
    if (patience < kFirstPatience)
      patience = kFirstPatience;
    goOnAlone(now, patience);
    if (patience < kLastPatience)
      patience *= 2;
  }
}
