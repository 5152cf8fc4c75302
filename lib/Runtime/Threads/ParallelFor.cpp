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
// Each thread has a share of the iterations, which are neighbours: in the next
// iteration of a loop around it computes them again, and what it read and wrote
// is in its cache. It takes its share piece by piece; who is done takes pieces
// of the others. Which thread
// computes a piece makes no difference to what comes out. Ends of pieces lie at
// multiples of the grain, whatever the number of threads.
//
// A nest in a loop is shared out where that was seen to be faster: see Pace.h.
// A loop of small ones gets its threads when it has lasted for about as long as
// it takes to start, or to wake them: a small model has none.
//
//===----------------------------------------------------------------------===//

#include "../CPU/Run.h"
#include "Cores.h"
#include "Pace.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

using namespace loopc::rt;

namespace {

/// No run has more threads, the caller's own included.
constexpr int32_t kMaxThreads = 256;

/// Pieces for each thread: one that is late, or was interrupted, keeps the
/// others waiting for a piece and not for its share.
constexpr int64_t kPiecesPerThread = 4;

/// Nanoseconds that a thread looks for the next loop before it sleeps: to wake
/// it up takes the caller some 20 microseconds, where the cores are those of a
/// virtual machine, and the thread comes as many later. Less between runs, of
/// which there may be no next one, unless the last one came as soon.
constexpr int64_t kAwake = 200'000, kAwakeParked = 30'000;

/// Nanoseconds that a loop has lasted when it pays to start threads for what it
/// may go on with, and to wake those that sleep.
constexpr int64_t kMinStartTime = 100'000, kMinWakingTime = 30'000;

/// So many loops that threads would have been started for, or woken, had their
/// runs lasted, pay for them: more will come.
constexpr int32_t kManyLoops = 64;

/// In place of when a loop began.
constexpr int64_t kLongAgo = -1;

/// Rounds between two looks at the clock.
constexpr int kRounds = 64;

/// Nanoseconds after which a thread that is waited for may have lost its core.
constexpr int64_t kLate = 20'000;

/// Bit of a team's state: threads may enter the loop. The bits below it count
/// those that are inside, without the caller.
constexpr uint32_t kIsOpen = 1u << 31;

/// Teams that wait for a run: of models that run at the same time, or with
/// different numbers of threads.
constexpr int kMaxParked = 8;

/// No piece is being computed.
constexpr int64_t kNoPiece = INT64_MAX;

/// Of a cache line.
constexpr size_t kLineBytes = 64;

struct Member {
  Team *team;
  pthread_t thread;
  int64_t piece; ///< where the piece at hand begins; kNoPiece without one
  /// Grains of its share: the first of the next piece, and behind the last one.
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
  int64_t grain; ///< iterations that are not divided
  int64_t step;  ///< grains of a piece

  int32_t generation; ///< loops so far; what the threads wait for
  uint32_t state;     ///< who may enter the loop, and who is inside
  int32_t asleep;     ///< threads that sleep, and must be woken
  int32_t arrivals;   ///< threads that came to the loop, without the caller
  bool isBusy;        ///< within a loop: another one runs on its thread alone
  bool isParked;      ///< between runs
  bool comesSoon;     ///< the last run came while threads are awake in a loop
  bool isOver;        ///< the threads end
  bool isLent;        ///< the threads are the caller's
  int64_t parkedAt;   ///< when the last run ended
  int32_t refused; ///< loops for which no thread was woken, one behind another
  int callersCpu;  ///< which the threads keep off; -1 where there is none

  Pace pace;

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

/// Takes a piece of `step` grains, or less, of the member's share, and sets
/// where it begins; false where there is none.
static bool takePiece(Member &member, int64_t step, int64_t &first) {
  // Read first: who looks for a piece does not take the line from its owner.
  if (__atomic_load_n(&member.next, __ATOMIC_RELAXED) >= member.end)
    return false;
  first = __atomic_fetch_add(&member.next, step, __ATOMIC_RELAXED);
  return first < member.end;
}

/// Computes pieces until there are none.
static void work(Team &team, Member &member) {
  loopc_run &run = *team.run;
  int32_t number = static_cast<int32_t>(&member - team.members);
  for (int32_t k = 0; k < team.numMembers; ++k) {
    Member &owner = team.members[(number + k) % team.numMembers];
    int64_t first;
    while (takePiece(owner, team.step, first)) {
      int64_t begin = first * team.grain;
      __atomic_store_n(&member.piece, begin, __ATOMIC_RELAXED);
      // loop_cancel; after an error pieces in front of it are still computed.
      if (loopc_rt_poll(&run))
        continue;
      int64_t behind =
          owner.end - first > team.step ? first + team.step : owner.end;
      // The last grain may not be whole.
      int64_t end = (team.count - 1) / team.grain < behind
                        ? team.count
                        : behind * team.grain;
      team.fn(team.args, begin, end);
    }
  }
  __atomic_store_n(&member.piece, kNoPiece, __ATOMIC_RELAXED);
}

/// Waits for a loop after number `seen`, or for the end; returns its number.
static int32_t waitForLoop(Team &team, int32_t seen) {
  int64_t begin = readThreadsClock(), limit;
  do {
    for (int round = 0; round < kRounds; ++round) {
      int32_t now = __atomic_load_n(&team.generation, __ATOMIC_ACQUIRE);
      if (now != seen)
        return now;
      pauseThread();
    }
    bool mayBeOver = __atomic_load_n(&team.isParked, __ATOMIC_RELAXED) &&
                     !__atomic_load_n(&team.comesSoon, __ATOMIC_RELAXED);
    limit = mayBeOver ? kAwakeParked : kAwake;
  } while (readThreadsClock() - begin < limit);
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
                                    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
      __atomic_fetch_add(&team.arrivals, 1, __ATOMIC_RELAXED);
      return true;
    }
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

/// A thread that is within a piece; null where there is none.
static Member *findLate(Team &team) {
  for (int32_t k = 1; k < team.numMembers; ++k)
    if (__atomic_load_n(&team.members[k].piece, __ATOMIC_RELAXED) != kNoPiece)
      return &team.members[k];
  return nullptr;
}

/// Nanoseconds that the thread has been computing; 0 where nobody knows.
static int64_t readCpuClock(const Member *member) {
  clockid_t clock;
  timespec now;
  if (!member || pthread_getcpuclockid(member->thread, &clock) != 0 ||
      clock_gettime(clock, &now) != 0)
    return 0;
  return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

/// Waits until all threads are out, for one that is late.
static void waitForLate(Team &team) {
  const Member *late = findLate(team);
  int64_t begin = readThreadsClock(), computed = readCpuClock(late);
  while (__atomic_load_n(&team.state, __ATOMIC_ACQUIRE) != 0)
    sched_yield();
  int64_t now = readThreadsClock(), waited = now - begin;
  int64_t lost = waited - (readCpuClock(late) - computed);
  if (lost > waited / 2 && lost > kLate)
    team.pace.noteLoss(now, lost);
}

/// Lets nobody in any more and waits until everybody is out. Who slept through
/// the loop is not waited for.
static void closeLoop(Team &team) {
  __atomic_fetch_and(&team.state, ~kIsOpen, __ATOMIC_RELAXED);
  int64_t begin = 0;
  while (__atomic_load_n(&team.state, __ATOMIC_ACQUIRE) != 0) {
    for (int round = 0; round < kRounds; ++round) {
      if (__atomic_load_n(&team.state, __ATOMIC_ACQUIRE) == 0)
        break;
      pauseThread();
    }
    int64_t now = readThreadsClock();
    if (begin == 0)
      begin = now;
    else if (now - begin > kLate)
      return waitForLate(team);
  }
}

/// Lets threads that are about to wake up, or to begin, run on any processor of
/// the caller's but the one that it computes on. In a virtual machine Linux may
/// take a processor that is idle for one that the host has given to others, and
/// queues a thread behind the one that wakes it, until the load is balanced
/// some milliseconds later. Nothing is done where processors are too few.
static void keepOffCaller(Team &team) {
  int cpu = sched_getcpu();
  cpu_set_t mask;
  if (cpu < 0 || cpu == team.callersCpu || !readMask(mask) ||
      CPU_COUNT(&mask) < team.numMembers)
    return;
  team.callersCpu = cpu;
  CPU_CLR(static_cast<size_t>(cpu), &mask);
  for (int32_t k = 1; k < team.numMembers; ++k)
    pthread_setaffinity_np(team.members[k].thread, sizeof(mask), &mask);
}

/// Lets all threads see what was written before.
static void announce(Team &team) {
  __atomic_fetch_add(&team.generation, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&team.asleep, __ATOMIC_SEQ_CST) == 0)
    return;
  keepOffCaller(team);
  pthread_mutex_lock(&team.mutex);
  pthread_cond_broadcast(&team.wakeUp);
  pthread_mutex_unlock(&team.mutex);
}

/// Teams of no run. Each place is taken and given as one: the child of a fork
/// finds nothing locked.
static Team *parked[kMaxParked];

static void destroyTeam(Team *team) {
  // The threads stayed behind a fork, with whatever they waited for.
  if (team->process != getpid())
    return;
  if (!team->isLent) {
    __atomic_store_n(&team->isOver, true, __ATOMIC_RELAXED);
    announce(*team);
    for (int32_t k = 1; k < team->numMembers; ++k)
      pthread_join(team->members[k].thread, nullptr);
    pthread_cond_destroy(&team->wakeUp);
    pthread_mutex_destroy(&team->mutex);
  }
  free(team);
}

static void parkTeam(loopc_run &run) {
  Team *team = run.team;
  run.team = nullptr;
  team->run = nullptr;
  team->parkedAt = readThreadsClock();
  __atomic_store_n(&team->isParked, true, __ATOMIC_RELAXED);
  for (Team *&place : parked) {
    Team *expected = nullptr;
    if (__atomic_compare_exchange_n(&place, &expected, team, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      return;
  }
  // Others have come since: it goes where the one that is there the longest
  // is most likely, as teams are taken from the front.
  if (Team *other =
          __atomic_exchange_n(&parked[kMaxParked - 1], team, __ATOMIC_ACQ_REL))
    destroyTeam(other);
}

/// A team that was parked; null where there is none of so many threads.
static Team *unparkTeam(int32_t wanted, bool isLent) {
  for (Team *&place : parked) {
    Team *team = __atomic_exchange_n(&place, nullptr, __ATOMIC_ACQ_REL);
    if (!team)
      continue;
    if (team->process != getpid()) {
      destroyTeam(team);
      continue;
    }
    if (team->numWanted == wanted && team->isLent == isLent)
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
  team->callersCpu = -1;
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
  keepOffCaller(*team);
  return team;
}

/// Members for the threads of a caller. What is known of the pace outlives the
/// run.
static Team *makeLentTeam(int32_t wanted) {
  Team *team = createTeam(wanted);
  if (!team)
    return nullptr;
  team->process = getpid();
  team->isLent = true;
  team->numMembers = wanted;
  return team;
}

/// The run is over.
static void endTeam(loopc_run &run) {
  if (run.team)
    parkTeam(run);
  returnCores(run);
}

/// Whether the run came to its first parallel loop in a loop so long ago.
static bool hasLasted(loopc_run &run, int64_t nanoseconds) {
  if (run.firstLoop == kLongAgo)
    return true;
  int64_t now = readThreadsClock();
  if (run.firstLoop == 0)
    run.firstLoop = now;
  if (now - run.firstLoop < nanoseconds)
    return false;
  run.firstLoop = kLongAgo;
  return true;
}

/// Whether this is one of many loops of short runs.
static bool comesOften() {
  static int32_t loops;
  return __atomic_add_fetch(&loops, 1, __ATOMIC_RELAXED) >= kManyLoops;
}

/// The team of `run` from here on, or null: no core is left, or new threads
/// would be started for a loop that may be over in a moment (`isPatient`).
static Team *joinTeam(loopc_run &run, bool isPatient) {
  bool isLent = run.parallelFor != nullptr;
  int32_t wanted = isLent ? run.numThreads : takeCores(run);
  run.endTeam = endTeam;
  if (wanted > kMaxThreads)
    wanted = kMaxThreads;
  if (wanted == 1)
    return nullptr;
  Team *team = unparkTeam(wanted, isLent);
  if (!team && isPatient && !hasLasted(run, kMinStartTime) && !comesOften())
    return nullptr;
  if (!team)
    team = isLent ? makeLentTeam(wanted) : startTeam(wanted);
  if (!team)
    return nullptr;
  team->run = &run;
  bool comesSoon = readThreadsClock() - team->parkedAt < kAwake;
  __atomic_store_n(&team->comesSoon, comesSoon, __ATOMIC_RELAXED);
  __atomic_store_n(&team->isParked, false, __ATOMIC_RELAXED);
  team->pace.beginRun();
  if (!isLent)
    team->members[0].thread = pthread_self();
  run.team = team;
  run.concurrent = team->numMembers > 1;
  return team;
}

/// Whether all threads of the team sleep; of a caller's nobody knows.
static bool isAsleep(const Team &team) {
  return team.isLent ||
         __atomic_load_n(&team.asleep, __ATOMIC_RELAXED) == team.numMembers - 1;
}

extern "C" int32_t loopc_rt_num_threads(loopc_run *run) {
  return run->numThreads;
}

/// Whether it pays to wake the threads for a loop of a short run: it is one of
/// many that follow one another so soon that they stay awake.
static bool wakesForMany(Team &team) {
  if (team.isLent || !team.comesSoon || ++team.refused < kManyLoops)
    return false;
  team.refused = 0;
  return true;
}

/// Divides `n` iterations into shares that are equal but for a grain, and these
/// into pieces: whole pieces for all would leave one more to some threads, of
/// 28 rows 16 to one of two.
static void dealPieces(Team &team, int64_t n, int64_t grain) {
  int64_t grains = (n - 1) / grain + 1;
  team.count = n;
  team.grain = grain;
  team.step = grains / (team.numMembers * kPiecesPerThread);
  if (team.step < 1)
    team.step = 1;
  for (int64_t k = 0; k < team.numMembers; ++k) {
    team.members[k].next = grains * k / team.numMembers;
    team.members[k].end = grains * (k + 1) / team.numMembers;
  }
}

/// Shares the pieces out; false where one thread is to compute all of them.
/// `nest` is a sum of loopc_rt_nest.
static bool shareOut(loopc_run &run, int64_t n, int64_t grain,
                     void (*fn)(void *args, int64_t begin, int64_t end),
                     void *args, int32_t nest) {
  bool isPatient = !(nest & LOOPC_RT_NEST_LARGE);
  if (grain < 1)
    grain = 1;
  if (run.numThreads < 2 || n <= grain ||
      ((nest & LOOPC_RT_NEST_OF_NESTS) && n <= run.numThreads / 2))
    return false;
  Team *team = run.team ? run.team : joinTeam(run, isPatient);
  if (!team || team->numMembers == 1 || team->isBusy ||
      (isPatient && isAsleep(*team) && !hasLasted(run, kMinWakingTime) &&
       !wakesForMany(*team)) ||
      !(nest & LOOPC_RT_NEST_ONCE
            ? team->pace.hasThreads()
            : team->pace.isShared(reinterpret_cast<const void *>(fn), n)))
    return false;
  team->fn = fn;
  team->args = args;
  dealPieces(*team, n, grain);
  team->isBusy = true;
  run.findPiece = findPiece;
  if (run.parallelFor) {
    run.parallelFor(run.parallelContext, workOnCallersThread, team,
                    static_cast<size_t>(team->numMembers));
  } else {
    int32_t arrivals = __atomic_load_n(&team->arrivals, __ATOMIC_RELAXED);
    __atomic_store_n(&team->state, kIsOpen, __ATOMIC_RELEASE);
    announce(*team);
    work(*team, team->members[0]);
    closeLoop(*team);
    team->pace.noteEnd(__atomic_load_n(&team->arrivals, __ATOMIC_RELAXED) !=
                       arrivals);
  }
  run.findPiece = nullptr;
  team->isBusy = false;
  return true;
}

extern "C" void loopc_rt_parallel_for(loopc_run *run, int64_t n, int64_t grain,
                                      void (*fn)(void *args, int64_t begin,
                                                 int64_t end),
                                      void *args) {
  if (n <= 0 || shareOut(*run, n, grain, fn, args,
                         LOOPC_RT_NEST_LARGE | LOOPC_RT_NEST_ONCE))
    return;
  // Of one piece the loops in it are shared out.
  if (n <= grain)
    return fn(args, 0, n);
  // Loops in the pieces stay on this thread, as those of shared pieces do.
  Team *team = run->team;
  bool isOutermost = team && !team->isBusy;
  if (isOutermost)
    team->isBusy = true;
  fn(args, 0, n);
  if (isOutermost)
    team->isBusy = false;
}

extern "C" int32_t
loopc_rt_try_parallel_for(loopc_run *run, int64_t n, int64_t grain,
                          void (*fn)(void *args, int64_t begin, int64_t end),
                          void *args, int32_t nest) {
  return shareOut(*run, n, grain, fn, args, nest);
}
