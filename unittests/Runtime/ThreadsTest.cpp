//===- ThreadsTest.cpp - Tests of parallel loops on threads ---------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Threads/Pace.h"
#include "TestModel.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <gmock/gmock.h>
#include <mutex>
#include <optional>
#include <sched.h>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace loopc::test;

// A child of a fork has threads of its own, which is what one test is about.
extern "C" const char *__tsan_default_options() { return "die_after_fork=0"; }

namespace {

/// The function that a loop calls for a piece.
using Piece = std::function<void(loopc_run *run, int64_t begin, int64_t end)>;

struct Context {
  loopc_run *run;
  const Piece *piece;
};

void parallelFor(loopc_run *run, int64_t n, int64_t grain, const Piece &piece) {
  Context context{run, &piece};
  loopc_rt_parallel_for(
      run, n, grain,
      [](void *args, int64_t begin, int64_t end) {
        auto *given = static_cast<Context *>(args);
        (*given->piece)(given->run, begin, end);
      },
      &context);
}

/// What a model with `numThreads` threads does.
std::function<int32_t(loopc_run *)> *body;

Outcome runOn(int numThreads, std::function<int32_t(loopc_run *)> what,
              loopc_cancel_token *cancel = nullptr) {
  loopc_run_options options = makeOptions();
  options.num_threads = numThreads;
  options.cancel = cancel;
  body = &what;
  TestModel model([](void *run, void **, void **) {
    return (*body)(static_cast<loopc_run *>(run));
  });
  std::vector<loopc_value> outputs;
  return runModel(model, {}, outputs, &options);
}

class OnThreads : public testing::TestWithParam<int> {};

TEST_P(OnThreads, EverythingOnce) {
  Outcome outcome = runOn(GetParam(), [](loopc_run *run) {
    EXPECT_EQ(loopc_rt_num_threads(run), GetParam());
    for (int64_t n : {-1, 0, 1, 7, 64, 1000, 4097})
      for (int64_t grain : {0, 1, 16, 2000}) {
        std::vector<int> seen(n > 0 ? static_cast<size_t>(n) : 0);
        parallelFor(run, n, grain,
                    [&](loopc_run *, int64_t begin, int64_t end) {
                      EXPECT_LT(begin, end);
                      // Pieces end at multiples of the grain.
                      EXPECT_EQ(begin % std::max<int64_t>(grain, 1), 0);
                      for (int64_t i = begin; i < end; ++i)
                        ++seen[static_cast<size_t>(i)];
                    });
        EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
      }
    return 0;
  });
  EXPECT_EQ(outcome.status, LOOPC_OK);
}

// No piece is of two threads' shares, which differ by a grain at most.
TEST_P(OnThreads, SharesAreEqual) {
  Outcome outcome = runOn(GetParam(), [](loopc_run *run) {
    int64_t threads = GetParam();
    for (int64_t n : {7, 14, 28, 56, 1000})
      for (int64_t grain : {1, 3}) {
        int64_t grains = (n - 1) / grain + 1;
        if (grains <= 1 || threads == 1)
          continue;
        parallelFor(run, n, grain,
                    [&](loopc_run *, int64_t begin, int64_t end) {
                      // Where the threads have no cores the caller does all of
                      // it.
                      if (begin == 0 && end == n)
                        return;
                      for (int64_t k = 1; k < threads; ++k) {
                        int64_t border = grains * k / threads * grain;
                        EXPECT_TRUE(end <= border || begin >= border)
                            << begin << " to " << end << " of " << n;
                      }
                    });
      }
    return 0;
  });
  EXPECT_EQ(outcome.status, LOOPC_OK);
}

// Threads that are awake, that fell asleep, and that come too late.
TEST_P(OnThreads, ManyLoops) {
  Outcome outcome = runOn(GetParam(), [](loopc_run *run) {
    std::vector<int64_t> sums(64);
    for (int round = 0; round < 2000; ++round) {
      parallelFor(run, 64, 1, [&](loopc_run *, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          sums[static_cast<size_t>(i)] += i;
      });
      if (round % 500 == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    for (int64_t i = 0; i < 64; ++i)
      EXPECT_EQ(sums[static_cast<size_t>(i)], 2000 * i);
    return 0;
  });
  EXPECT_EQ(outcome.status, LOOPC_OK);
}

// What the caller is to compute itself is untouched, all else is done once.
TEST_P(OnThreads, TriedLoops) {
  Outcome outcome = runOn(GetParam(), [](loopc_run *run) {
    std::vector<std::atomic<int>> seen(1000);
    int numShared = 0;
    for (int round = 1; round <= 200; ++round) {
      int32_t isDone = loopc_rt_try_parallel_for(
          run, 1000, 16,
          [](void *args, int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i)
              ++static_cast<std::atomic<int> *>(args)[i];
          },
          seen.data(), round % 2);
      numShared += isDone != 0;
      for (std::atomic<int> &count : seen)
        if (!isDone)
          ++count;
        else
          EXPECT_EQ(count, round);
    }
    if (GetParam() == 1)
      EXPECT_EQ(numShared, 0);
    return 0;
  });
  EXPECT_EQ(outcome.status, LOOPC_OK);
}

TEST_P(OnThreads, NestedLoopsRunOnTheirThread) {
  Outcome outcome = runOn(GetParam(), [](loopc_run *run) {
    std::atomic<int> count = 0;
    parallelFor(run, 100, 1, [&](loopc_run *run, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        auto thread = std::this_thread::get_id();
        parallelFor(run, 10, 1, [&](loopc_run *, int64_t from, int64_t to) {
          EXPECT_EQ(std::this_thread::get_id(), thread);
          count += static_cast<int>(to - from);
        });
      }
    });
    EXPECT_EQ(count, 1000);
    return 0;
  });
  EXPECT_EQ(outcome.status, LOOPC_OK);
}

TEST_P(OnThreads, MemoryOfTheRun) {
  Outcome outcome = runOn(GetParam(), [](loopc_run *run) {
    parallelFor(run, 1000, 1, [](loopc_run *run, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        void *memory = loopc_rt_alloc(run, 100 + i);
        ASSERT_NE(memory, nullptr);
        memset(memory, 1, static_cast<size_t>(100 + i));
        loopc_rt_free(run, memory);
      }
    });
    return 0;
  });
  EXPECT_EQ(outcome.status, LOOPC_OK);
  EXPECT_EQ(outcome.statistics.allocations, 1000u);
  EXPECT_EQ(outcome.statistics.deallocations, 1000u);
}

// loop_order: of several errors the one that comes first in the order of the
// iterations, however the threads run.
TEST_P(OnThreads, TheFirstErrorInOrder) {
  for (int round = 0; round < 50; ++round) {
    Outcome outcome = runOn(GetParam(), [](loopc_run *run) {
      parallelFor(run, 400, 1, [](loopc_run *run, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          if (loopc_rt_poll(run))
            return;
          if (i % 100 == 3)
            std::this_thread::sleep_for(std::chrono::microseconds(300));
          if (i >= 3 && i % 3 == 0) {
            loopc_rt_fail(run, "bad index {}", i, &i, 1);
            return;
          }
        }
      });
      return loopc_rt_poll(run);
    });
    EXPECT_EQ(outcome.status, LOOPC_ERROR_RUNTIME);
    EXPECT_EQ(outcome.message, "bad index 3 (iteration 3)");
  }
}

// loop_cancel
TEST_P(OnThreads, CancelledBetweenPieces) {
  loopc_cancel_token token = {};
  std::atomic<int64_t> done = 0;
  Outcome outcome = runOn(
      GetParam(),
      [&](loopc_run *run) {
        parallelFor(run, 1 << 20, 1,
                    [&](loopc_run *run, int64_t begin, int64_t end) {
                      for (int64_t i = begin; i < end; ++i, ++done) {
                        if (loopc_rt_poll(run))
                          return;
                        if (i == 5)
                          loopc_cancel(&token);
                      }
                    });
        return loopc_rt_poll(run);
      },
      &token);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_CANCELLED);
  EXPECT_LT(done, 1 << 20);
}

INSTANTIATE_TEST_SUITE_P(Numbers, OnThreads, testing::Values(1, 2, 4));

/// The threads that compute pieces of a loop of 16.
std::set<std::thread::id> threadsOfRun(int numThreads) {
  std::set<std::thread::id> ids;
  std::mutex mutex;
  Outcome outcome = runOn(numThreads, [&](loopc_run *run) {
    parallelFor(run, 16, 1, [&](loopc_run *, int64_t, int64_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      std::lock_guard<std::mutex> guard(mutex);
      ids.insert(std::this_thread::get_id());
    });
    return 0;
  });
  EXPECT_EQ(outcome.status, LOOPC_OK);
  return ids;
}

/// Whether runs have several threads. One whose threads were late, as those
/// that sleep are, goes on alone for some time.
bool areSeveral(int numThreads) {
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < end)
    if (threadsOfRun(numThreads).size() > 1)
      return true;
  return false;
}

size_t countThreadsOfProcess() {
  size_t count = 0;
  for (auto &entry : std::filesystem::directory_iterator("/proc/self/task")) {
    (void)entry;
    ++count;
  }
  return count;
}

// Threads of a run serve the next one of as many; others are bounded.
TEST(Threads, TheNextRunHasTheSame) {
  std::set<std::thread::id> first = threadsOfRun(3);
  size_t before = countThreadsOfProcess();
  for (int k = 0; k < 5; ++k)
    for (std::thread::id id : threadsOfRun(3))
      EXPECT_TRUE(first.count(id) || first.size() < 3);
  EXPECT_EQ(countThreadsOfProcess(), before);
  for (int number = 2; number < 30; ++number)
    threadsOfRun(number);
  EXPECT_LT(countThreadsOfProcess(), 8u * 30u);
  EXPECT_TRUE(areSeveral(3));
}

/// Whether one of so many runs, each with one small loop, has shared it out.
bool sharesSmallLoops(int numThreads, int most) {
  bool isShared = false;
  for (int k = 0; k < most && !isShared; ++k)
    runOn(numThreads, [&](loopc_run *run) {
      int64_t sum = 0;
      isShared = loopc_rt_try_parallel_for(
          run, 2, 1,
          [](void *args, int64_t begin, int64_t end) {
            __atomic_fetch_add(static_cast<int64_t *>(args), end - begin,
                               __ATOMIC_RELAXED);
          },
          &sum, LOOPC_RT_NEST_ONCE);
      EXPECT_EQ(sum, isShared ? 2 : 0);
      return 0;
    });
  return isShared;
}

// Threads are started, and woken, for many short runs that follow one another,
// and not for one that is over in a moment.
TEST(Threads, ManyShortRuns) {
  for (int round = 0; round < 3; ++round) {
    if (std::thread::hardware_concurrency() > 1)
      EXPECT_TRUE(sharesSmallLoops(2, 10000));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(sharesSmallLoops(2, 1));
  }
}

/// The processors that the threads of a run but the caller's may use, where one
/// came; else none. `caller` is where the caller computes as the loop begins.
std::optional<cpu_set_t> maskOfOthers(int numThreads, int &caller) {
  std::optional<cpu_set_t> found;
  std::mutex mutex;
  runOn(numThreads, [&](loopc_run *run) {
    auto self = std::this_thread::get_id();
    caller = sched_getcpu();
    parallelFor(run, numThreads * 4, 1, [&](loopc_run *, int64_t, int64_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (std::this_thread::get_id() == self)
        return;
      std::lock_guard<std::mutex> lock(mutex);
      found.emplace();
      sched_getaffinity(0, sizeof(*found), &*found);
    });
    return 0;
  });
  return found;
}

// They are woken on another processor than that of the thread which waits for
// them, where there are as many processors as threads, and may use all others.
TEST(Threads, KeepOffTheProcessorOfTheCaller) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  auto expectMask = [&](int numThreads, bool isApart) {
    // The caller may be moved before the threads are woken.
    for (int k = 0; k < 100; ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      int caller = 0;
      std::optional<cpu_set_t> others = maskOfOthers(numThreads, caller);
      cpu_set_t wanted = all;
      if (isApart)
        CPU_CLR(static_cast<size_t>(caller), &wanted);
      if (others && CPU_EQUAL(&*others, &wanted))
        return true;
    }
    return false;
  };
  EXPECT_TRUE(expectMask(2, CPU_COUNT(&all) >= 2));
  EXPECT_TRUE(expectMask(CPU_COUNT(&all) + 1, false));
}

// The child has none of its parent's threads.
TEST(Threads, AfterAFork) {
  threadsOfRun(4);
  pid_t child = fork();
  if (child == 0) {
    bool works = areSeveral(4);
    // With what is done at the end of a process.
    exit(works && !testing::Test::HasFailure() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(areSeveral(4));
}

// Two runs at a time have teams of their own.
TEST(Threads, RunsAtTheSameTime) {
  std::vector<std::thread> callers;
  std::atomic<int64_t> total = 0;
  static std::atomic<int64_t> *sum;
  sum = &total;
  TestModel model([](void *run, void **, void **) -> int32_t {
    for (int k = 0; k < 200; ++k)
      loopc_rt_parallel_for(
          static_cast<loopc_run *>(run), 100, 1,
          [](void *, int64_t begin, int64_t end) { *sum += end - begin; },
          nullptr);
    return 0;
  });
  for (int k = 0; k < 6; ++k)
    callers.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        loopc_run_options options = makeOptions();
        options.num_threads = 2;
        std::vector<loopc_value> outputs;
        EXPECT_EQ(runModel(model, {}, outputs, &options).status, LOOPC_OK);
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(total, 6 * 10 * 200 * 100);
}

// A team without a past: threads that were late in a run are left alone for
// some time, in the next run, too.
TEST(Threads, SeveralWork) {
  std::set<std::thread::id> ids = threadsOfRun(6);
  EXPECT_GT(ids.size(), 1u);
  EXPECT_LE(ids.size(), 6u);
}

// A thread that has no core within a piece, as if others were computed there:
// the caller goes on alone, and asks again later.
TEST(Threads, AreLeftAloneWithoutACore) {
  using namespace std::chrono;
  bool wasAlone = false, cameBack = false;
  Outcome outcome = runOn(2, [&](loopc_run *run) {
    auto caller = std::this_thread::get_id();
    std::atomic<bool> isHere = false;
    auto meet = [&](milliseconds sleep) {
      isHere = false;
      parallelFor(run, 3, 1, [&](loopc_run *, int64_t, int64_t) {
        if (std::this_thread::get_id() != caller) {
          isHere = true;
          std::this_thread::sleep_for(sleep);
        }
        // For the other one, which may be late.
        auto end = steady_clock::now() + milliseconds(20);
        while (!isHere && steady_clock::now() < end)
          std::this_thread::yield();
      });
      return isHere.load();
    };
    auto end = steady_clock::now() + seconds(20);
    while (!meet(milliseconds(60)) && steady_clock::now() < end)
      continue;
    wasAlone = !meet(milliseconds(0));
    while (!cameBack && steady_clock::now() < end)
      cameBack = meet(milliseconds(0));
    return 0;
  });
  EXPECT_EQ(outcome.status, LOOPC_OK);
  EXPECT_TRUE(wasAlone);
  EXPECT_TRUE(cameBack);
}

/// How many of the last `count` iterations of a loop with two nests shared them
/// out. An iteration takes `together` where it does, else `alone`.
int countShared(loopc::rt::Pace &pace, std::chrono::microseconds together,
                std::chrono::microseconds alone, int count) {
  static const char inFront = 0, first = 0, second = 0;
  // Trials are over by then.
  constexpr int warmUp = 20;
  int numShared = 0;
  pace.beginRun();
  pace.isShared(&inFront, 1000);
  for (int k = 0; k < warmUp + count; ++k) {
    bool isShared = pace.isShared(&first, 64);
    EXPECT_EQ(pace.isShared(&second, 7), isShared);
    auto end = std::chrono::steady_clock::now() + (isShared ? together : alone);
    while (std::chrono::steady_clock::now() < end)
      continue;
    numShared += k >= warmUp && isShared;
  }
  return numShared;
}

TEST(Pace, TheBetterWayIsKept) {
  using std::chrono::microseconds;
  auto pace = std::make_unique<loopc::rt::Pace>();
  EXPECT_EQ(countShared(*pace, microseconds(300), microseconds(900), 40), 40);
  auto other = std::make_unique<loopc::rt::Pace>();
  EXPECT_EQ(countShared(*other, microseconds(900), microseconds(300), 40), 0);
}

// What was better once may not stay so, and is tried again. In the next run
// what is known holds from its beginning.
TEST(Pace, IsTriedAgain) {
  using std::chrono::microseconds;
  auto pace = std::make_unique<loopc::rt::Pace>();
  countShared(*pace, microseconds(300), microseconds(900), 20);
  countShared(*pace, microseconds(900), microseconds(300), 200);
  EXPECT_EQ(countShared(*pace, microseconds(900), microseconds(300), 10), 0);
}

// Nests of a network that share code come again and again, with others in
// between: what takes longer then is not taken for the threads' fault.
TEST(Pace, OnlyIterationsOfTheSameNestsAreCompared) {
  using Clock = std::chrono::steady_clock;
  auto pace = std::make_unique<loopc::rt::Pace>();
  static const char first = 0, second = 0, third = 0;
  for (int k = 0; k < 40; ++k) {
    bool isShared = pace->isShared(&first, 64);
    EXPECT_TRUE(isShared);
    pace->isShared(k % 2 ? &second : &third, 7);
    auto end = Clock::now() + std::chrono::microseconds(isShared ? 200 : 20);
    while (Clock::now() < end)
      continue;
  }
}

// After a loss nothing is shared out for a multiple of it.
TEST(Pace, LossesAreAvoided) {
  auto pace = std::make_unique<loopc::rt::Pace>();
  static const char nest = 0;
  EXPECT_TRUE(pace->isShared(&nest, 64));
  pace->noteLoss(loopc::rt::readThreadsClock(), 1'000'000'000);
  EXPECT_FALSE(pace->isShared(&nest, 64));
  pace->noteLoss(loopc::rt::readThreadsClock(), 0);
  EXPECT_TRUE(pace->isShared(&nest, 64));
}

// One loss by itself costs little more than what was lost; those that follow
// one another cost more each time. Losses are counted from a moment that is
// given, so that no clock is waited for.
TEST(Pace, LossesThatFollowOneAnotherCostMore) {
  auto pace = std::make_unique<loopc::rt::Pace>();
  static const char nest = 0;
  constexpr int64_t lost = 1'000'000'000;
  auto isAloneAfter = [&](int64_t passed) {
    pace->noteLoss(loopc::rt::readThreadsClock() - passed, lost);
    return !pace->isShared(&nest, 64);
  };
  EXPECT_TRUE(isAloneAfter(1 * lost));
  // It was long ago, and the next one stands for itself.
  pace = std::make_unique<loopc::rt::Pace>();
  EXPECT_FALSE(isAloneAfter(3 * lost));
  // One more, soon: four times what was lost, then eight times.
  EXPECT_TRUE(isAloneAfter(3 * lost));
  EXPECT_TRUE(isAloneAfter(7 * lost));
}

/// A caller's threads: the even members one after the other on the caller's own
/// thread, the last one first, the others on another one.
struct Lender {
  int numLoops = 0;

  loopc_run_options getOptions() {
    loopc_run_options options = makeOptions();
    options.num_threads = 5;
    options.parallel_context = this;
    options.parallel_for = [](void *context, void (*work)(void *, size_t),
                              void *argument, size_t count) {
      EXPECT_EQ(count, 5u);
      ++static_cast<Lender *>(context)->numLoops;
      std::thread other([&] {
        for (size_t k : {1, 3})
          work(argument, k);
      });
      for (size_t k : {4, 2, 0})
        work(argument, k);
      other.join();
    };
    return options;
  }
  Outcome run(std::function<int32_t(loopc_run *)> what) {
    body = &what;
    TestModel model([](void *run, void **, void **) {
      return (*body)(static_cast<loopc_run *>(run));
    });
    std::vector<loopc_value> outputs;
    loopc_run_options options = getOptions();
    return runModel(model, {}, outputs, &options);
  }
};

TEST(CallersThreads, ComputeEverythingOnce) {
  Lender lender;
  Outcome outcome = lender.run([](loopc_run *run) {
    for (int round = 0; round < 3; ++round) {
      std::vector<int> seen(1000);
      parallelFor(
          run, 1000, 16, [&](loopc_run *run, int64_t begin, int64_t end) {
            // A loop in a loop stays on its thread.
            parallelFor(run, end - begin, 1,
                        [&](loopc_run *, int64_t first, int64_t last) {
                          for (int64_t i = begin + first; i < begin + last; ++i)
                            ++seen[static_cast<size_t>(i)];
                        });
          });
      EXPECT_EQ(seen, std::vector<int>(1000, 1));
    }
    return 0;
  });
  EXPECT_EQ(outcome.status, LOOPC_OK);
  EXPECT_EQ(lender.numLoops, 3);
}

TEST(CallersThreads, KeepTheErrorOfTheFirstIterations) {
  Lender lender;
  Outcome outcome = lender.run([](loopc_run *run) {
    parallelFor(run, 100, 1, [](loopc_run *run, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        if (i >= 2)
          loopc_rt_fail(run, "failed", i, nullptr, 0);
    });
    return loopc_rt_poll(run);
  });
  EXPECT_EQ(outcome.status, LOOPC_ERROR_RUNTIME);
  EXPECT_THAT(outcome.message, testing::HasSubstr("iteration 2"));
}

} // namespace
