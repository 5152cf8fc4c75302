//===- MemoryTest.cpp - Memory of a run -----------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include <gmock/gmock.h>

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

using namespace loopc::test;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Sanitizers end the program where malloc would return null, unless told not
// to.
extern "C" const char *__asan_default_options() {
  return "allocator_may_return_null=1";
}
extern "C" const char *__tsan_default_options() {
  return "allocator_may_return_null=1";
}

namespace {

Outcome runEntry(Entry entry, uint64_t memoryLimit = 0) {
  loopc_run_options options = makeOptions();
  options.memory_limit = memoryLimit;
  TestModel model(entry);
  std::vector<loopc_value> outputs;
  return runModel(model, {}, outputs, &options);
}

loopc_run *asRun(void *run) { return static_cast<loopc_run *>(run); }

TEST(Memory, AlignedAndDistinct) {
  Outcome outcome = runEntry([](void *raw, void **, void **) {
    loopc_run *run = asRun(raw);
    struct Piece {
      char *data;
      int64_t size;
      char fill;
    };
    std::vector<Piece> pieces;
    int64_t sizes[] = {0,    0,    1,    63,   64,    65,      1000,   1024,
                       1025, 1279, 1280, 1281, 65536, 1000000, 5000000};
    char fill = 1;
    // Twice: the second time from what was freed.
    for (int round = 0; round < 2; ++round) {
      for (int64_t size : sizes) {
        char *data = static_cast<char *>(loopc_rt_alloc(run, size));
        EXPECT_NE(data, nullptr);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
        memset(data, fill, static_cast<size_t>(size));
        pieces.push_back({data, size, fill++});
      }
      for (const Piece &piece : pieces)
        EXPECT_EQ(std::count(piece.data, piece.data + piece.size, piece.fill),
                  piece.size);
      std::set<char *> distinct;
      for (const Piece &piece : pieces)
        EXPECT_TRUE(distinct.insert(piece.data).second);
      for (const Piece &piece : pieces)
        loopc_rt_free(run, piece.data);
      pieces.clear();
    }
    loopc_rt_free(run, nullptr);
    return int32_t{0};
  });
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_EQ(outcome.statistics.allocations, 30u);
  EXPECT_EQ(outcome.statistics.deallocations, 30u);
}

TEST(Memory, Scratch) {
  // More than a slab holds, sizes on both sides of its blocks', used again, and
  // some still there when the run ends; in runs behind one another.
  Entry entry = [](void *raw, void **, void **) {
    loopc_run *run = asRun(raw);
    struct Piece {
      char *data;
      int64_t size;
    };
    std::vector<Piece> pieces;
    int64_t sizes[] = {64, 524288, 600000, 1200000, 1572864, 1572865, 9000000};
    for (int round = 0; round < 3; ++round) {
      for (int64_t size : sizes) {
        char *data = static_cast<char *>(loopc_rt_alloc_scratch(run, size));
        if (!data || reinterpret_cast<uintptr_t>(data) % 64 != 0)
          return int32_t{1};
        memset(data, static_cast<char>(pieces.size()),
               static_cast<size_t>(size));
        pieces.push_back({data, size});
      }
      for (size_t k = 0; k < pieces.size(); ++k)
        EXPECT_EQ(std::count(pieces[k].data, pieces[k].data + pieces[k].size,
                             static_cast<char>(k)),
                  pieces[k].size);
      if (round == 1)
        for (; pieces.size() > 2; pieces.pop_back())
          loopc_rt_free(run, pieces.back().data);
    }
    return int32_t{0};
  };
  for (int k = 0; k < 3; ++k) {
    Outcome outcome = runEntry(entry);
    EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
    EXPECT_EQ(outcome.statistics.allocations, 21u);
    EXPECT_EQ(outcome.statistics.deallocations, 12u);
  }
  EXPECT_EQ(runEntry(entry, /*memoryLimit=*/64 << 20).status, LOOPC_OK);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// What was freed last is likely to be in a cache: memory of another size may
// lie there, but for that of outputs, and where it is much smaller.
TEST(Memory, SmallerSizesLieInWhatWasFreedLast) {
  Outcome outcome = runEntry([](void *raw, void **, void **) {
    loopc_run *run = asRun(raw);
    constexpr int64_t kLarge = 1 << 20;
    void *first = loopc_rt_alloc(run, kLarge);
    void *second = loopc_rt_alloc(run, kLarge / 2);
    loopc_rt_free(run, second);
    loopc_rt_free(run, first);
    EXPECT_EQ(loopc_rt_alloc_output(run, kLarge / 2, 0, nullptr, 0), second);
    void *half = loopc_rt_alloc(run, kLarge / 2);
    EXPECT_EQ(half, first);
    loopc_rt_free(run, half);
    void *small = loopc_rt_alloc(run, kLarge / 8);
    EXPECT_NE(small, first);
    void *larger = loopc_rt_alloc(run, kLarge);
    EXPECT_EQ(larger, first);
    for (void *memory : {second, small, larger})
      loopc_rt_free(run, memory);
    return 0;
  });
  EXPECT_EQ(outcome.status, LOOPC_OK);
}

TEST(Memory, LargeBlocksOfManySizesKeepTheirPages) {
  // One at a time, so that the run gives up what it does not use for the next:
  // the results of a network's layers. It keeps the pages, as do later runs.
  Entry entry = [](void *raw, void **, void **) {
    loopc_run *run = asRun(raw);
    for (int64_t size = 400 << 10; size < (6 << 20); size += size / 4) {
      void *data = loopc_rt_alloc(run, size);
      if (!data)
        return int32_t{1};
      memset(data, 1, static_cast<size_t>(size));
      loopc_rt_free(run, data);
    }
    return int32_t{0};
  };
  auto countFaults = [] {
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
  };
  EXPECT_EQ(runEntry(entry).status, LOOPC_OK);
  long before = countFaults();
  for (int k = 0; k < 50; ++k)
    EXPECT_EQ(runEntry(entry).status, LOOPC_OK);
  EXPECT_LT(countFaults() - before, 1000);
}

/// The bytes of this process that the kernel may take though they are there.
uint64_t countLent() {
  std::ifstream text("/proc/self/smaps");
  uint64_t total = 0, kilobytes;
  for (std::string word; text >> word;)
    if (word == "LazyFree:" && text >> kilobytes)
      total += kilobytes << 10;
  return total;
}

TEST(Memory, TheLastLargeBlocksAreNotLentToTheKernel) {
  // To write what the kernel may take takes twice as long: of what is kept for
  // later runs that is what they have not asked for.
  static int64_t size, count;
  Entry entry = [](void *raw, void **, void **) {
    std::vector<void *> blocks;
    for (int64_t k = 0; k < count; ++k) {
      blocks.push_back(loopc_rt_alloc(asRun(raw), size));
      if (!blocks.back())
        return int32_t{1};
      memset(blocks.back(), 1, static_cast<size_t>(size));
    }
    for (void *block : blocks)
      loopc_rt_free(asRun(raw), block);
    return int32_t{0};
  };
  uint64_t before = countLent();
  size = 20 << 20, count = 2;
  for (int k = 0; k < 3; ++k)
    EXPECT_EQ(runEntry(entry).status, LOOPC_OK);
  EXPECT_EQ(countLent(), before);
  // With another one this is more than the process keeps for itself.
  size = 96 << 20, count = 1;
  EXPECT_EQ(runEntry(entry).status, LOOPC_OK);
  uint64_t lent = countLent() - before;
  EXPECT_GE(lent, uint64_t(39) << 20);
  EXPECT_LT(lent, uint64_t(96) << 20);
}
#endif

TEST(Memory, ScratchHasTheLimit) {
  Outcome outcome = runEntry(
      [](void *raw, void **, void **) {
        loopc_run *run = asRun(raw);
        EXPECT_NE(loopc_rt_alloc_scratch(run, 600000), nullptr);
        return int32_t(loopc_rt_alloc_scratch(run, 600000) == nullptr);
      },
      /*memoryLimit=*/1000000);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_MEMORY);
  EXPECT_THAT(outcome.message, HasSubstr("the limit of 1000000 bytes"));
}

TEST(Memory, Statistics) {
  Outcome outcome = runEntry([](void *raw, void **, void **) {
    loopc_run *run = asRun(raw);
    void *a = loopc_rt_alloc(run, 1000);
    void *b = loopc_rt_alloc(run, 100);
    loopc_rt_free(run, a);
    a = loopc_rt_alloc(run, 500);
    loopc_rt_free(run, b);
    (void)a;
    return int32_t{0};
  });
  EXPECT_EQ(outcome.statistics.allocations, 3u);
  EXPECT_EQ(outcome.statistics.deallocations, 2u);
  EXPECT_EQ(outcome.statistics.peak_bytes, 1100u);
  EXPECT_EQ(outcome.statistics.copied_bytes, 0u);
}

TEST(Memory, StatisticsOfARunThatWasRefused) {
  TestModel model([](void *, void **, void **) { return int32_t{0}; });
  loopc_run_statistics statistics;
  memset(&statistics, 0x55, sizeof(statistics));
  loopc_value input = {};
  loopc_run_options options = makeOptions();
  options.statistics = &statistics;
  EXPECT_EQ(
      loopc_model_run(model.get(), &options, &input, 1, nullptr, 0, nullptr),
      LOOPC_ERROR_INPUT);
  EXPECT_EQ(statistics.allocations, 0u);
  EXPECT_EQ(statistics.peak_bytes, 0u);
}

TEST(Memory, AbsurdSizes) {
  for (Entry entry :
       {Entry([](void *run, void **, void **) {
          return int32_t(loopc_rt_alloc(asRun(run), -1) == nullptr);
        }),
        Entry([](void *run, void **, void **) {
          return int32_t(loopc_rt_alloc(asRun(run), INT64_MIN) == nullptr);
        }),
        Entry([](void *run, void **, void **) {
          return int32_t(loopc_rt_alloc(asRun(run), INT64_MAX) == nullptr);
        })}) {
    Outcome outcome = runEntry(entry);
    EXPECT_EQ(outcome.status, LOOPC_ERROR_MEMORY);
    EXPECT_THAT(outcome.message, HasSubstr("out of memory: "));
    EXPECT_THAT(outcome.message, Not(HasSubstr("-")));
  }
}

TEST(Memory, TheSystemHasNoMore) {
  Outcome outcome = runEntry([](void *raw, void **, void **) {
    loopc_run *run = asRun(raw);
    EXPECT_NE(loopc_rt_alloc(run, 100), nullptr);
    // More than any address space has.
    EXPECT_EQ(loopc_rt_alloc(run, INT64_C(1) << 60), nullptr);
    // The run goes on to hold what it has.
    EXPECT_NE(loopc_rt_alloc(run, 100), nullptr);
    return int32_t{1};
  });
  EXPECT_EQ(outcome.status, LOOPC_ERROR_MEMORY);
  EXPECT_EQ(outcome.message,
            "out of memory: the system has no 1152921504606846976 bytes");
  EXPECT_EQ(outcome.statistics.allocations, 2u);
}

TEST(Memory, Limit) {
  Entry entry = [](void *raw, void **, void **) {
    loopc_run *run = asRun(raw);
    for (int round = 0; round < 100; ++round) {
      void *memory = loopc_rt_alloc(run, 1000 + round);
      if (!memory)
        return int32_t{1};
      loopc_rt_free(run, memory);
    }
    // Three pieces of 1000 bytes and their headers are within 4000.
    for (int i = 0; i < 3; ++i)
      if (!loopc_rt_alloc(run, 1000))
        return int32_t{1};
    EXPECT_EQ(loopc_rt_alloc(run, 1000), nullptr);
    return int32_t{1};
  };
  Outcome outcome = runEntry(entry, 4000);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_MEMORY);
  EXPECT_EQ(outcome.message, "out of memory: 1000 bytes more than the 3192 "
                             "bytes held exceed the limit of 4000 bytes");
  EXPECT_EQ(outcome.statistics.peak_bytes, 3000u);
}

/// Paths as compiled code holds them: of each what is not the one before it.
constexpr char kPlaces[] = "\0\0main/#0 Tile (opset 21)\0"
                           "\6\x0b"
                           "1 Loop 'decode'\0"
                           "\x15\x0b"
                           "/body/#2 Concat";

/// The message of a run that has no memory at place `Number`.
template <int32_t Number> std::string messageAt() {
  return runEntry([](void *raw, void **, void **) {
           loopc_run *run = asRun(raw);
           loopc_rt_locate(run, kPlaces, 2);
           EXPECT_EQ(loopc_rt_alloc(run, INT64_C(1) << 60), nullptr);
           loopc_rt_locate(run, kPlaces, Number);
           // The first place is the one that failed.
           loopc_rt_locate(run, kPlaces, 0);
           return int32_t{1};
         })
      .message;
}

TEST(Memory, ErrorNamesItsPlace) {
  std::string text =
      ": out of memory: the system has no 1152921504606846976 bytes";
  EXPECT_EQ(messageAt<0>(), "main/#0 Tile (opset 21)" + text);
  EXPECT_EQ(messageAt<1>(), "main/#1 Loop 'decode' (opset 21)" + text);
  EXPECT_EQ(messageAt<2>(),
            "main/#1 Loop 'decode'/body/#2 Concat (opset 21)" + text);
}

TEST(Memory, OtherErrorsHaveAPlaceOfTheirOwn) {
  Outcome outcome = runEntry([](void *raw, void **, void **) {
    loopc_run *run = asRun(raw);
    int32_t status = loopc_rt_fail(run, "main/#7 Gather: no", -1, nullptr, 0);
    loopc_rt_locate(run, kPlaces, 1);
    return status;
  });
  EXPECT_EQ(outcome.message, "main/#7 Gather: no");
}

/// Checks of compiled code name their node by its number.
TEST(Memory, ChecksNameTheirPlace) {
  Outcome outcome = runEntry([](void *raw, void **, void **) {
    const int64_t values[] = {-7, 3};
    int32_t status = loopc_rt_fail_at(asRun(raw), kPlaces, 1,
                                      "index {} is not below {}", 4, values, 2);
    // Only the first error is kept.
    EXPECT_NE(loopc_rt_fail_at(asRun(raw), kPlaces, 2, "no", -1, nullptr, 0),
              0);
    return status;
  });
  EXPECT_EQ(outcome.status, LOOPC_ERROR_RUNTIME);
  EXPECT_EQ(outcome.message,
            "main/#1 Loop 'decode' (opset 21): index -7 is not "
            "below 3 (iteration 4)");
}

TEST(Memory, PlacesOfAnyLength) {
  static std::string places;
  static int32_t number;
  auto locate = [](std::string table, int32_t place) {
    places = std::move(table);
    number = place;
    return runEntry([](void *raw, void **, void **) {
             loopc_run *run = asRun(raw);
             EXPECT_EQ(loopc_rt_alloc(run, -1), nullptr);
             loopc_rt_locate(run, places.c_str(), number);
             return int32_t{1};
           })
        .message;
  };
  const std::string zero(1, '\0'), start = zero + zero;
  std::string name(800, 'x'), longest(sizeof(loopc_error::message), 'x');
  EXPECT_THAT(locate(start + name, 0), StartsWith(name + ": out of memory: "));
  EXPECT_THAT(locate(start + name + zero + "\xff\xffyz", 1),
              StartsWith(std::string(255, 'x') + "yz" + std::string(255, 'x') +
                         ": out of memory: "));
  // Nothing is left of the message, or of the place.
  EXPECT_EQ(locate(start + longest, 0), longest.substr(1));
  EXPECT_THAT(locate(start + longest + "x", 0), StartsWith("out of memory: "));
}

TEST(Memory, LimitBelowASingleRequest) {
  Outcome outcome = runEntry(
      [](void *run, void **, void **) {
        return int32_t(loopc_rt_alloc(asRun(run), 0) == nullptr);
      },
      10);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_MEMORY);
}

TEST(Memory, LimitHoldsForCopiesOfInputs) {
  TestModel model([](void *, void **, void **) { return int32_t{0}; });
  model.input("x", kF32, {open()});
  TestTensor<float> x(kF32, {100}, std::vector<float>(200), {2});
  loopc_run_options options = makeOptions();
  options.memory_limit = 300;
  std::vector<loopc_value> outputs;
  EXPECT_EQ(runModel(model, {x.get()}, outputs, &options).status,
            LOOPC_ERROR_MEMORY);
}

TEST(Memory, WhatARunHoldsIsReleased) {
  // Under AddressSanitizer a leak fails the test.
  Outcome outcome = runEntry([](void *raw, void **, void **) {
    loopc_run *run = asRun(raw);
    std::vector<void *> pieces;
    for (int i = 0; i < 1000; ++i)
      pieces.push_back(loopc_rt_alloc(run, i * 100));
    for (int i = 0; i < 1000; i += 2)
      loopc_rt_free(run, pieces[static_cast<size_t>(i)]);
    return int32_t{0};
  });
  EXPECT_EQ(outcome.status, LOOPC_OK);
}

TEST(Memory, RandomSizesInRandomOrder) {
  Outcome outcome = runEntry([](void *raw, void **, void **) {
    loopc_run *run = asRun(raw);
    struct Piece {
      uint64_t *data;
      uint64_t tag;
      size_t words;
    };
    std::vector<Piece> pieces;
    uint64_t state = 88172645463325252u;
    auto random = [&state] {
      state ^= state << 13;
      state ^= state >> 7;
      return state ^= state << 17;
    };
    for (int step = 0; step < 20000; ++step) {
      if (pieces.size() < 50 || random() % 2) {
        size_t words = 1 + random() % (random() % 8 ? 100 : 20000);
        auto *data = static_cast<uint64_t *>(
            loopc_rt_alloc(run, static_cast<int64_t>(words * 8)));
        uint64_t tag = random();
        data[0] = data[words - 1] = tag;
        pieces.push_back({data, tag, words});
      } else {
        size_t index = random() % pieces.size();
        Piece piece = pieces[index];
        EXPECT_EQ(piece.data[0], piece.tag);
        EXPECT_EQ(piece.data[piece.words - 1], piece.tag);
        loopc_rt_free(run, piece.data);
        pieces[index] = pieces.back();
        pieces.pop_back();
      }
      if (pieces.size() > 300) {
        for (const Piece &piece : pieces)
          loopc_rt_free(run, piece.data);
        pieces.clear();
      }
    }
    return int32_t{0};
  });
  EXPECT_EQ(outcome.status, LOOPC_OK);
}

} // namespace
