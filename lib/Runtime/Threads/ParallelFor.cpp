//===- ParallelFor.cpp - Parallel loops, on the threads of a run ----------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run gets its threads with its first parallel loop: those of a run before it
// of as many threads, or new ones. To start and end them takes as long as many
// a whole run does. When the run ends they are parked. Between two loops, and
// parked, they wait, first awake and then asleep.
//
// Where the caller has threads, a team of the run has none: for each loop, the
// caller calls for each member.
//
// A process may fork and a library may be closed at any time between runs: the
// child of a fork has threads of its own, and the library ends its threads.
//
// Each thread has a share of the pieces, which are neighbours: in the next
// iteration of a loop around it computes them again, and what it read and wrote
// is in its cache. Who is done takes pieces of the others. Which thread
// computes a piece makes no difference to what comes out. Ends of pieces lie at
// multiples of the grain, whatever the number of threads.
//
//===----------------------------------------------------------------------===//

#include "../CPU/Run.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

using namespace loopc::rt;

namespace {

/// No run has more threads, the caller's own included.
constexpr int32_t kMaxThreads = 256;

/// Pieces for each thread: one that is late, or was interrupted, keeps the
/// others waiting for a piece and not for its share.
constexpr int64_t kPiecesPerThread = 4;

/// Rounds that a thread looks for the next loop before it sleeps: some dozen
/// microseconds, what a sleep and an awakening would take.
constexpr int kRoundsAwake = 500;

/// Bit of a team's state: threads may enter the loop. The bits below it count
/// those that are inside, without the caller.
constexpr uint32_t kIsOpen = 1u << 31;

/// Teams that wait for a run: of models that run at the same time, or with
/// different numbers of threads.
constexpr int kMostParked = 8;

/// No piece is being computed.
constexpr int64_t kNoPiece = INT64_MAX;

/// Of a cache line.
constexpr size_t kLineBytes = 64;

struct Member {
  Team *team;
  pthread_t thread;
  int64_t piece; ///< where the piece at hand begins; kNoPiece without one
  /// Pieces of its share, by number: the next one, and behind the last one.
  int64_t next, end;
  /// Members do not write to one line.
  char padding[kLineBytes];
};

} // namespace

namespace loopc::rt {
/// The threads of a run and the loop that they work on.
struct Team {
  loopc_run *run;
  int32_t numMembers; ///< the caller of the run is the first
  int32_t numWanted;  ///< as many, or more than were to be had
  pid_t process;      ///< in which the threads are

  // The loop; written while no thread but the caller looks at it.
  void (*fn)(void *args, int64_t begin, int64_t end);
  void *args;
  int64_t count;
  int64_t step; ///< iterations of a piece

  int32_t generation; ///< loops so far; what the threads wait for
  uint32_t state;     ///< who may enter the loop, and who is inside
  int32_t asleep;     ///< threads that sleep, and must be woken
  bool isBusy;        ///< within a loop: another one runs on its thread alone
  bool isOver;        ///< the run ends

  pthread_mutex_t mutex;
  pthread_cond_t wakeUp;
  Member members[1]; ///< numMembers of them
};
} // namespace loopc::rt

static void pauseThread() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// Takes a piece of the member's share; false where there is none.
static bool takePiece(Member &member, int64_t &piece) {
  // Read first: who looks for a piece does not take the line from its owner.
  if (__atomic_load_n(&member.next, __ATOMIC_RELAXED) >= member.end)
    return false;
  piece = __atomic_fetch_add(&member.next, 1, __ATOMIC_RELAXED);
  return piece < member.end;
}

/// Computes pieces until there are none.
static void work(Team &team, Member &member) {
  loopc_run &run = *team.run;
  int32_t number = static_cast<int32_t>(&member - team.members);
  for (int32_t k = 0; k < team.numMembers; ++k) {
    Member &owner = team.members[(number + k) % team.numMembers];
    int64_t piece;
    while (takePiece(owner, piece)) {
      int64_t begin = piece * team.step;
      __atomic_store_n(&member.piece, begin, __ATOMIC_RELAXED);
      // loop_cancel; after an error pieces in front of it are still computed.
      if (loopc_rt_poll(&run))
        continue;
      int64_t end =
          team.count - begin > team.step ? begin + team.step : team.count;
      team.fn(team.args, begin, end);
    }
  }
  __atomic_store_n(&member.piece, kNoPiece, __ATOMIC_RELAXED);
}

/// Waits for a loop after number `seen`, or for the end; returns its number.
static int32_t waitForLoop(Team &team, int32_t seen) {
  for (int round = 0; round < kRoundsAwake; ++round) {
    int32_t now = __atomic_load_n(&team.generation, __ATOMIC_ACQUIRE);
    if (now != seen)
      return now;
    pauseThread();
  }
  pthread_mutex_lock(&team.mutex);
  __atomic_fetch_add(&team.asleep, 1, __ATOMIC_SEQ_CST);
  int32_t now;
  while ((now = __atomic_load_n(&team.generation, __ATOMIC_SEQ_CST)) == seen)
    pthread_cond_wait(&team.wakeUp, &team.mutex);
  __atomic_fetch_sub(&team.asleep, 1, __ATOMIC_SEQ_CST);
  pthread_mutex_unlock(&team.mutex);
  return now;
}

/// True where the calling thread came in time; it is inside then.
static bool enterLoop(Team &team) {
  uint32_t state = __atomic_load_n(&team.state, __ATOMIC_RELAXED);
  while (state & kIsOpen)
    if (__atomic_compare_exchange_n(&team.state, &state, state + 1, true,
                                    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return true;
  return false;
}

static void *runMember(void *raw) {
  Member &member = *static_cast<Member *>(raw);
  Team &team = *member.team;
  for (int32_t seen = 0;;) {
    seen = waitForLoop(team, seen);
    if (__atomic_load_n(&team.isOver, __ATOMIC_RELAXED))
      return nullptr;
    if (!enterLoop(team))
      continue;
    work(team, member);
    __atomic_fetch_sub(&team.state, 1, __ATOMIC_RELEASE);
  }
}

/// Lets nobody in any more and waits until everybody is out. Who slept through
/// the loop is not waited for.
static void closeLoop(Team &team) {
  __atomic_fetch_and(&team.state, ~kIsOpen, __ATOMIC_RELAXED);
  // Whoever is late has most likely lost its core.
  for (int round = 0; __atomic_load_n(&team.state, __ATOMIC_ACQUIRE) != 0;
       ++round) {
    if (round < kRoundsAwake)
      pauseThread();
    else
      sched_yield();
  }
}

/// Lets all threads see what was written before.
static void announce(Team &team) {
  __atomic_fetch_add(&team.generation, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&team.asleep, __ATOMIC_SEQ_CST) == 0)
    return;
  pthread_mutex_lock(&team.mutex);
  pthread_cond_broadcast(&team.wakeUp);
  pthread_mutex_unlock(&team.mutex);
}

/// Teams of no run. Each place is taken and given as one: the child of a fork
/// finds nothing locked.
static Team *parked[kMostParked];

static void destroyTeam(Team *team) {
  // The threads stayed behind a fork, with whatever they waited for.
  if (team->process != getpid())
    return;
  __atomic_store_n(&team->isOver, true, __ATOMIC_RELAXED);
  announce(*team);
  for (int32_t k = 1; k < team->numMembers; ++k)
    pthread_join(team->members[k].thread, nullptr);
  pthread_cond_destroy(&team->wakeUp);
  pthread_mutex_destroy(&team->mutex);
  free(team);
}

static void parkTeam(loopc_run &run) {
  Team *team = run.team;
  run.team = nullptr;
  team->run = nullptr;
  for (Team *&place : parked) {
    Team *expected = nullptr;
    if (__atomic_compare_exchange_n(&place, &expected, team, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      return;
  }
  // Others have come since: it goes where the one that is there the longest
  // is most likely, as teams are taken from the front.
  if (Team *other =
          __atomic_exchange_n(&parked[kMostParked - 1], team, __ATOMIC_ACQ_REL))
    destroyTeam(other);
}

/// A team that was parked; null where there is none of so many threads.
static Team *unparkTeam(int32_t wanted) {
  for (Team *&place : parked) {
    Team *team = __atomic_exchange_n(&place, nullptr, __ATOMIC_ACQ_REL);
    if (!team)
      continue;
    if (team->process != getpid()) {
      destroyTeam(team);
      continue;
    }
    if (team->numWanted == wanted)
      return team;
    Team *expected = nullptr;
    if (!__atomic_compare_exchange_n(&place, &expected, team, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      destroyTeam(team);
  }
  return nullptr;
}

/// At the end of the process, or when the library is closed.
__attribute__((destructor)) static void destroyParked() {
  for (Team *&place : parked)
    if (Team *team = __atomic_exchange_n(&place, nullptr, __ATOMIC_ACQ_REL))
      destroyTeam(team);
}

/// The piece that the calling thread is at.
static int64_t findPiece(const loopc_run &run) {
  const Team &team = *run.team;
  pthread_t self = pthread_self();
  for (int32_t k = 0; k < team.numMembers; ++k)
    if (__atomic_load_n(&team.members[k].thread, __ATOMIC_RELAXED) == self)
      return __atomic_load_n(&team.members[k].piece, __ATOMIC_RELAXED);
  return kNoPiece;
}

/// Member `k` of the team on a thread of the caller's, which may be another one
/// in each loop, and one for several members.
static void workOnCallersThread(void *raw, size_t k) {
  Team &team = *static_cast<Team *>(raw);
  Member &member = team.members[k];
  __atomic_store_n(&member.thread, pthread_self(), __ATOMIC_RELAXED);
  work(team, member);
  __atomic_store_n(&member.thread, pthread_t(), __ATOMIC_RELAXED);
}

static Team *createTeam(int32_t wanted) {
  auto *team = static_cast<Team *>(
      calloc(1, sizeof(Team) + static_cast<size_t>(wanted) * sizeof(Member)));
  if (!team)
    return nullptr;
  team->numWanted = wanted;
  team->numMembers = 1;
  for (int32_t k = 0; k < wanted; ++k) {
    team->members[k].team = team;
    team->members[k].piece = kNoPiece;
  }
  return team;
}

/// Starts as many threads as there are to be had; null where there is no
/// memory.
static Team *startTeam(int32_t wanted) {
  Team *team = createTeam(wanted);
  if (!team)
    return nullptr;
  team->process = getpid();
  pthread_mutex_init(&team->mutex, nullptr);
  pthread_cond_init(&team->wakeUp, nullptr);
  // Signals are for the threads of the program.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int32_t k = 1; k < wanted; ++k) {
    Member &member = team->members[k];
    if (pthread_create(&member.thread, nullptr, runMember, &member) != 0)
      break;
    ++team->numMembers;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return team;
}

/// The team of `run` from here on, or null.
static Team *joinTeam(loopc_run &run) {
  int32_t wanted = run.numThreads < kMaxThreads ? run.numThreads : kMaxThreads;
  if (run.parallelFor) {
    Team *lent = createTeam(wanted);
    if (!lent)
      return nullptr;
    lent->run = &run;
    lent->numMembers = wanted;
    run.team = lent;
    run.endTeam = [](loopc_run &run) { free(run.team); };
    return lent;
  }
  Team *team = unparkTeam(wanted);
  if (!team)
    team = startTeam(wanted);
  if (!team)
    return nullptr;
  team->run = &run;
  team->members[0].thread = pthread_self();
  run.team = team;
  run.endTeam = parkTeam;
  return team;
}

extern "C" int32_t loopc_rt_num_threads(loopc_run *run) {
  return run->numThreads;
}

extern "C" void loopc_rt_parallel_for(loopc_run *run, int64_t n, int64_t grain,
                                      void (*fn)(void *args, int64_t begin,
                                                 int64_t end),
                                      void *args) {
  if (n <= 0)
    return;
  if (grain < 1)
    grain = 1;
  Team *team = nullptr;
  if (run->numThreads > 1 && n > grain)
    team = run->team ? run->team : joinTeam(*run);
  if (!team || team->numMembers == 1 || team->isBusy) {
    fn(args, 0, n);
    return;
  }
  int64_t pieces = team->numMembers * kPiecesPerThread;
  int64_t grains = (n - 1) / grain + 1;
  team->fn = fn;
  team->args = args;
  team->count = n;
  team->step = ((grains - 1) / pieces + 1) * grain;
  pieces = (n - 1) / team->step + 1;
  for (int64_t k = 0; k < team->numMembers; ++k) {
    team->members[k].next = pieces * k / team->numMembers;
    team->members[k].end = pieces * (k + 1) / team->numMembers;
  }
  team->isBusy = true;
  run->findPiece = findPiece;
  if (run->parallelFor) {
    run->parallelFor(run->parallelContext, workOnCallersThread, team,
                     static_cast<size_t>(team->numMembers));
  } else {
    __atomic_store_n(&team->state, kIsOpen, __ATOMIC_RELEASE);
    announce(*team);
    work(*team, team->members[0]);
    closeLoop(*team);
  }
  run->findPiece = nullptr;
  team->isBusy = false;
}
