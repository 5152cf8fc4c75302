//===- ListTest.cpp - Lists, shared memory and texts of a run -------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include <gmock/gmock.h>

using namespace loopc::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// Runs `entry`, which plays the compiled model.
Outcome runEntry(Entry entry, uint64_t memoryLimit = 0) {
  loopc_run_options options = makeOptions();
  options.memory_limit = memoryLimit;
  TestModel model(entry);
  std::vector<loopc_value> outputs;
  return runModel(model, {}, outputs, &options);
}

loopc_run *asRun(void *run) { return static_cast<loopc_run *>(run); }

/// Inserts a scalar, by copy or in memory of its own.
loopc_rt_list *insert(loopc_run *run, loopc_rt_list *list, int64_t position,
                      int64_t number) {
  if (number % 2 == 0)
    return loopc_rt_list_insert(run, list, position, nullptr, &number,
                                sizeof(number), nullptr, 0);
  void *owner = loopc_rt_alloc(run, sizeof(number));
  if (!owner) {
    loopc_rt_list_release(run, list);
    return nullptr;
  }
  memcpy(owner, &number, sizeof(number));
  return loopc_rt_list_insert(run, list, position, owner, owner, sizeof(number),
                              nullptr, 0);
}

loopc_rt_list *append(loopc_run *run, loopc_rt_list *list, int64_t number) {
  return insert(run, list, loopc_rt_list_length(list), number);
}

/// Every element, as an int64; gives back the counts that it got.
std::vector<int64_t> getNumbers(loopc_run *run, const loopc_rt_list *list) {
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < loopc_rt_list_length(list); ++i) {
    loopc_rt_element_view view;
    memset(&view, 0x55, sizeof(view));
    loopc_rt_list_at(run, list, i, &view);
    EXPECT_EQ(view.bytes, 8);
    EXPECT_EQ(view.rank, 0);
    numbers.push_back(*static_cast<const int64_t *>(view.data));
    loopc_rt_free(run, view.owner);
    loopc_rt_free(run, view.shape_owner);
  }
  return numbers;
}

TEST(List, SharedMemoryIsFreedByItsLastOwner) {
  Outcome outcome = runEntry([](void *raw, void **, void **) {
    loopc_run *run = asRun(raw);
    void *memory = loopc_rt_alloc(run, 100);
    loopc_rt_retain(run, memory);
    loopc_rt_retain(run, memory);
    loopc_rt_free(run, memory);
    loopc_rt_free(run, memory);
    memset(memory, 1, 100); // still there
    void *other = loopc_rt_alloc(run, 100);
    EXPECT_NE(other, memory);
    loopc_rt_free(run, memory);
    loopc_rt_retain(run, nullptr);
    // A block that comes from the cache begins with one owner.
    void *again = loopc_rt_alloc(run, 100);
    loopc_rt_free(run, again);
    loopc_rt_free(run, other);
    return int32_t{0};
  });
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_EQ(outcome.statistics.allocations, 3u);
  EXPECT_EQ(outcome.statistics.deallocations, 3u);
}

TEST(List, NullIsTheEmptyList) {
  Outcome outcome = runEntry([](void *raw, void **, void **) {
    loopc_run *run = asRun(raw);
    EXPECT_EQ(loopc_rt_list_length(nullptr), 0);
    EXPECT_EQ(loopc_rt_list_retain(run, nullptr), nullptr);
    loopc_rt_list_release(run, nullptr);
    loopc_rt_list *list = append(run, nullptr, 1);
    int32_t status = -1;
    EXPECT_EQ(loopc_rt_list_erase(run, list, 0, &status), nullptr);
    EXPECT_EQ(status, LOOPC_OK);
    return int32_t{0};
  });
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_EQ(outcome.statistics.allocations, outcome.statistics.deallocations);
}

TEST(List, InsertAndEraseAnywhere) {
  Outcome outcome = runEntry([](void *raw, void **, void **) {
    loopc_run *run = asRun(raw);
    loopc_rt_list *list = nullptr;
    std::vector<int64_t> expected;
    for (int64_t i = 0; i < 50; ++i) {
      int64_t position = i * 7 % (i + 1);
      list = insert(run, list, position, i);
      expected.insert(expected.begin() + position, i);
      EXPECT_EQ(getNumbers(run, list), expected);
    }
    for (int64_t i = 0; i < 50; ++i) {
      int64_t position = i * 5 % (50 - i);
      int32_t status = -1;
      list = loopc_rt_list_erase(run, list, position, &status);
      EXPECT_EQ(status, LOOPC_OK);
      expected.erase(expected.begin() + position);
      EXPECT_EQ(getNumbers(run, list), expected);
    }
    EXPECT_EQ(list, nullptr);
    return int32_t{0};
  });
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_EQ(outcome.statistics.allocations, outcome.statistics.deallocations);
}

TEST(List, AnOnlyOwnerChangesItInPlace) {
  runEntry([](void *raw, void **, void **) {
    loopc_run *run = asRun(raw);
    loopc_rt_list *list = append(run, nullptr, 1);
    // The first allocation has room for some more.
    loopc_rt_list *longer = append(run, list, 2);
    EXPECT_EQ(longer, list);
    int32_t status = -1;
    EXPECT_EQ(loopc_rt_list_erase(run, longer, 0, &status), list);
    EXPECT_THAT(getNumbers(run, list), ElementsAre(2));
    return int32_t{0};
  });
}

TEST(List, ASharedOneIsCopiedWithItsElementsShared) {
  Outcome outcome = runEntry([](void *raw, void **, void **) {
    loopc_run *run = asRun(raw);
    loopc_rt_list *list = append(run, append(run, nullptr, 1), 2);
    EXPECT_EQ(loopc_rt_list_retain(run, list), list);
    loopc_rt_list *longer = append(run, list, 3);
    EXPECT_NE(longer, list);
    EXPECT_THAT(getNumbers(run, list), ElementsAre(1, 2));
    EXPECT_THAT(getNumbers(run, longer), ElementsAre(1, 2, 3));
    loopc_rt_element_view one, other;
    loopc_rt_list_at(run, list, 0, &one);
    loopc_rt_list_at(run, longer, 0, &other);
    EXPECT_EQ(one.data, other.data);
    loopc_rt_free(run, other.owner);
    // The element outlives both lists.
    loopc_rt_list_release(run, list);
    int32_t status = -1;
    loopc_rt_list_retain(run, longer);
    loopc_rt_list *shorter = loopc_rt_list_erase(run, longer, 1, &status);
    EXPECT_EQ(status, LOOPC_OK);
    EXPECT_THAT(getNumbers(run, shorter), ElementsAre(1, 3));
    EXPECT_THAT(getNumbers(run, longer), ElementsAre(1, 2, 3));
    loopc_rt_list_release(run, longer);
    loopc_rt_list_release(run, shorter);
    EXPECT_EQ(*static_cast<int64_t *>(one.data), 1);
    loopc_rt_free(run, one.owner);
    return int32_t{0};
  });
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_EQ(outcome.statistics.allocations, outcome.statistics.deallocations);
}

TEST(List, AppendingIsAmortised) {
  Outcome outcome = runEntry([](void *raw, void **, void **) {
    loopc_run *run = asRun(raw);
    loopc_rt_list *list = nullptr;
    int moves = 0;
    for (int64_t i = 0; i < 100000; ++i) {
      loopc_rt_list *longer = append(run, list, i);
      moves += longer != list;
      list = longer;
    }
    EXPECT_EQ(loopc_rt_list_length(list), 100000);
    EXPECT_LE(moves, 17);
    loopc_rt_list_release(run, list);
    return int32_t{0};
  });
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_EQ(outcome.statistics.allocations, outcome.statistics.deallocations);
  // Half of the elements were given without memory of their own.
  EXPECT_EQ(outcome.statistics.copied_bytes, 50000u * 8);
}

TEST(List, ElementsHaveShapes) {
  runEntry([](void *raw, void **, void **) {
    loopc_run *run = asRun(raw);
    int64_t shape[] = {2, 0, 3};
    loopc_rt_list *list =
        loopc_rt_list_insert(run, nullptr, 0, nullptr, nullptr, 0, shape, 3);
    shape[0] = 6; // the list has a copy
    float *data = static_cast<float *>(loopc_rt_alloc(run, 32));
    data[2] = 7;
    // Elements may begin behind the beginning of their memory.
    list = loopc_rt_list_insert(run, list, 1, data, data + 2, 24, shape, 1);
    loopc_rt_element_view view;
    loopc_rt_list_at(run, list, 0, &view);
    EXPECT_EQ(view.bytes, 0);
    EXPECT_EQ(std::vector<int64_t>(view.shape, view.shape + view.rank),
              (std::vector<int64_t>{2, 0, 3}));
    loopc_rt_element_view other;
    loopc_rt_list_at(run, list, 1, &other);
    EXPECT_EQ(other.owner, data);
    EXPECT_EQ(other.data, data + 2);
    EXPECT_EQ(other.rank, 1);
    EXPECT_EQ(other.shape[0], 6);
    // Views outlive the list.
    loopc_rt_list_release(run, list);
    EXPECT_EQ(view.shape[2], 3);
    EXPECT_EQ(*static_cast<float *>(other.data), 7);
    loopc_rt_free(run, view.owner);
    loopc_rt_free(run, view.shape_owner);
    loopc_rt_free(run, other.owner);
    loopc_rt_free(run, other.shape_owner);
    return int32_t{0};
  });
}

TEST(List, ListsOfLists) {
  Outcome outcome = runEntry([](void *raw, void **, void **) {
    loopc_run *run = asRun(raw);
    loopc_rt_list *inner = append(run, append(run, nullptr, 4), 5);
    loopc_rt_list *list =
        loopc_rt_list_insert_list(run, nullptr, 0, nullptr); // an empty one
    list = loopc_rt_list_insert_list(run, list, 1, inner);
    EXPECT_EQ(loopc_rt_list_length(list), 2);
    EXPECT_EQ(loopc_rt_list_at_list(run, list, 0), nullptr);
    loopc_rt_list *got = loopc_rt_list_at_list(run, list, 1);
    EXPECT_EQ(got, inner);
    // The list has a count of it, so this one is another.
    got = append(run, got, 6);
    EXPECT_THAT(getNumbers(run, inner), ElementsAre(4, 5));
    EXPECT_THAT(getNumbers(run, got), ElementsAre(4, 5, 6));
    loopc_rt_list_release(run, list);
    EXPECT_THAT(getNumbers(run, got), ElementsAre(4, 5, 6));
    loopc_rt_list_release(run, got);
    return int32_t{0};
  });
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
  EXPECT_EQ(outcome.statistics.allocations, outcome.statistics.deallocations);
}

/// Every way to run out of memory: each limit ends another call, and whatever
/// was consumed is gone (sanitizers see what is left).
TEST(List, OutOfMemory) {
  int failed = 0;
  for (uint64_t limit = 64; limit < 4000; limit += 64) {
    Outcome outcome = runEntry(
        [](void *raw, void **, void **) {
          loopc_run *run = asRun(raw);
          int64_t shape[] = {2};
          loopc_rt_list *list = nullptr;
          for (int64_t i = 0; i < 6; ++i) {
            int64_t numbers[] = {i, i};
            list = loopc_rt_list_insert(run, list, 0, nullptr, numbers, 16,
                                        shape, 1);
            if (!list)
              return int32_t{1};
          }
          loopc_rt_list_retain(run, list);
          int32_t status = -1;
          loopc_rt_list *shorter = loopc_rt_list_erase(run, list, 2, &status);
          EXPECT_EQ(status == LOOPC_OK, shorter != nullptr);
          if (!shorter) {
            EXPECT_EQ(status, LOOPC_ERROR_MEMORY);
            return int32_t{1};
          }
          loopc_rt_list *nested =
              loopc_rt_list_insert_list(run, nullptr, 0, shorter);
          if (!nested)
            return int32_t{1};
          loopc_rt_list_release(run, nested);
          loopc_rt_list_release(run, list);
          return int32_t{0};
        },
        limit);
    if (outcome.status == LOOPC_OK) {
      EXPECT_EQ(outcome.statistics.allocations,
                outcome.statistics.deallocations);
      continue;
    }
    ++failed;
    EXPECT_EQ(outcome.status, LOOPC_ERROR_MEMORY);
    EXPECT_THAT(outcome.message, HasSubstr("exceed the limit of"));
  }
  EXPECT_GT(failed, 10);
  EXPECT_LT(failed, 55);
}

TEST(List, FailedCallsConsume) {
  Outcome outcome = runEntry(
      [](void *raw, void **, void **) {
        loopc_run *run = asRun(raw);
        loopc_rt_list *list = append(run, nullptr, 1);
        void *owner = loopc_rt_alloc(run, 128);
        int64_t rank = 1000;
        std::vector<int64_t> shape(1000, 1);
        // No room for the shape.
        EXPECT_EQ(loopc_rt_list_insert(run, list, 1, owner, owner, 128,
                                       shape.data(), rank),
                  nullptr);
        return int32_t{1};
      },
      4096);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_MEMORY);
  EXPECT_EQ(outcome.statistics.allocations, outcome.statistics.deallocations);
}

TEST(List, NegativeSizes) {
  Outcome outcome = runEntry([](void *raw, void **, void **) {
    return int32_t(loopc_rt_list_insert(asRun(raw), nullptr, 0, nullptr,
                                        nullptr, -8, nullptr, 0) == nullptr);
  });
  EXPECT_EQ(outcome.status, LOOPC_ERROR_MEMORY);
}

TEST(List, ARunFreesWhatItsModelForgets) {
  // Sanitizers see leaks.
  Outcome outcome = runEntry([](void *raw, void **, void **) {
    loopc_run *run = asRun(raw);
    loopc_rt_list *list = nullptr;
    for (int64_t i = 0; i < 100; ++i)
      list = append(run, list, i);
    loopc_rt_list_insert_list(run, nullptr, 0, list);
    loopc_rt_string_alloc(run, 100);
    return int32_t{0};
  });
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
}

TEST(Strings, TextsDoNotOverlap) {
  Outcome outcome = runEntry([](void *raw, void **, void **) {
    loopc_run *run = asRun(raw);
    EXPECT_NE(loopc_rt_string_alloc(run, 0), nullptr);
    std::vector<std::pair<char *, std::string>> texts;
    for (int64_t i = 0; i < 2000; ++i) {
      // Short ones, some that are larger than a piece, and empty ones.
      int64_t bytes = i % 100 == 0 ? i * 100 : i % 37;
      char *text = loopc_rt_string_alloc(run, bytes);
      EXPECT_NE(text, nullptr);
      std::string content(static_cast<size_t>(bytes),
                          static_cast<char>('a' + i % 26));
      memcpy(text, content.data(), content.size());
      texts.emplace_back(text, std::move(content));
    }
    for (auto &[text, content] : texts)
      EXPECT_EQ(std::string(text, content.size()), content);
    return int32_t{0};
  });
  EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
}

TEST(Strings, OutOfMemory) {
  Outcome outcome = runEntry(
      [](void *raw, void **, void **) {
        for (int i = 0; i < 10000; ++i)
          if (!loopc_rt_string_alloc(asRun(raw), 100))
            return int32_t{1};
        return int32_t{0};
      },
      100000);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_MEMORY);
  EXPECT_THAT(outcome.message, HasSubstr("exceed the limit of 100000"));
  for (Entry entry :
       {Entry([](void *run, void **, void **) {
          return int32_t(loopc_rt_string_alloc(asRun(run), -1) == nullptr);
        }),
        Entry([](void *run, void **, void **) {
          return int32_t(loopc_rt_string_alloc(asRun(run), INT64_MAX) ==
                         nullptr);
        })})
    EXPECT_EQ(runEntry(entry).status, LOOPC_ERROR_MEMORY);
}

} // namespace
