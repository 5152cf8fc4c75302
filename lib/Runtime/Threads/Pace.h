//===- Pace.h - Do threads gain anything in this loop? ----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two threads that meet in each iteration of a loop are slower than one where
// an iteration is short, where what one thread has written the other one reads,
// and where the other one has no core. None of it is known when the model is
// compiled, so it is measured while the loop runs.
//
// Of the nests that an iteration shares out one is the marker: the first that
// comes again. The time from one call of it to the next is that of an
// iteration, with all that is not shared; it counts where the same nests came
// in between as the time before. Some iterations are timed with
// threads and some without, the better way is kept, and tried again at
// intervals that double.
//
// A thread that lost its core within a piece holds up the caller for as long as
// others are computed there. This is seen by the time that the thread was
// computing meanwhile; for a multiple of what was lost the caller goes on
// alone. The multiple is small after a loss by itself, which any machine has at
// times, and doubles with each of those that follow soon: then others have work
// for the core.
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_RUNTIME_THREADS_PACE_H
#define LOOPC_LIB_RUNTIME_THREADS_PACE_H

#include <stdint.h>

namespace loopc::rt {

/// Nanoseconds that only go forward.
int64_t readThreadsClock();

/// What is known of the loops that a team has shared out, beyond runs. All
/// zeros are nothing.
class Pace {
public:
  /// A run begins: what happens between runs is not an iteration.
  void beginRun() { marker = nullptr; }

  /// Whether the threads are taken to have their cores.
  bool hasThreads();

  /// Whether the nest `fn` of `count` iterations, which is to be computed now,
  /// is to be shared out.
  bool isShared(const void *fn, int64_t count);

  /// The caller has waited `nanoseconds`, until `now`, for a thread that was
  /// not computing.
  void noteLoss(int64_t now, int64_t nanoseconds);

  /// How a nest ended that was shared out: whether another thread came to it.
  void noteEnd(bool hadCompany);

private:
  /// A way to go on.
  enum Way : uint8_t { Together, Alone };

  /// What iterations are timed for.
  enum Phase : uint8_t {
    TimesVerdict, ///< the way that is taken for the better one
    TimesOther,   ///< the other one
    IsSettled     ///< nothing: the next trial is not due
  };

  /// A nest, and how iterations go for which it is the marker.
  struct Site {
    const void *fn;
    uint32_t size;  ///< of its count, in bits: more iterations may gain more
    uint32_t round; ///< in which it was met
    Way verdict;    ///< the better way, as far as is known
    Way way;        ///< how the iteration at hand is computed
    Phase phase;
    bool wasTried;     ///< there was a trial
    uint32_t interval; ///< iterations between two trials
    uint32_t left;     ///< iterations until the phase ends
    int64_t settled;   ///< when timing begins: threads wake up first
    int64_t best[2];   ///< the shortest iteration of each way
  };

  Site &findSite(const void *fn, int64_t count);
  void endIteration(Site &site, bool isLike);
  void endPhase(Site &site, int64_t now);
  void startPhase(Site &site, Phase phase, Way way, int64_t now);
  void decide(Site &site, int64_t now);
  void goOnAlone(int64_t now, int64_t nanoseconds);

  static constexpr uint32_t kSites = 32;
  Site sites[kSites];
  uint32_t victim;      ///< the site that the next new one takes the place of
  uint32_t round;       ///< iterations of the marker so far
  uint64_t nests;       ///< a hash of those of the iteration
  uint64_t nestsBefore; ///< of the one before
  Site *marker;
  int64_t begin;       ///< of the iteration; 0: it is not timed
  int64_t aloneUntil;  ///< 0: the threads are there
  int64_t lossesUntil; ///< a loss before then follows the last one
  int64_t caution;     ///< times the last loss that the caller went on alone
  int64_t lonelySince; ///< 0: at the last nest another thread came
  int64_t patience;    ///< how long to go on alone where none comes
};

} // namespace loopc::rt

#endif // LOOPC_LIB_RUNTIME_THREADS_PACE_H
