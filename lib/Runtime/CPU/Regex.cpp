//===- Regex.cpp - Matching of regular expressions ------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the programs that the compiler makes of patterns (Thompson's way: all
// states that the text so far can lead to at once), in time linear in the text.
//
//===----------------------------------------------------------------------===//

#include "Run.h"
#include "Unicode.h"

using namespace loopc::rt;

namespace {

/// A set of instructions that empties and iterates in the time of its size.
struct StateSet {
  uint32_t *dense;
  uint32_t *sparse;
  uint32_t count = 0;

  bool contains(uint32_t state) const {
    return sparse[state] < count && dense[sparse[state]] == state;
  }
  void insert(uint32_t state) {
    sparse[state] = count;
    dense[count++] = state;
  }
};

/// Two sets and a stack; as many words as they need.
constexpr uint32_t kWordsPerState = 6;

class Matcher {
public:
  Matcher(const uint32_t *program, uint32_t *words)
      : program(program), code(program + 3), stack(words + 4 * program[1]) {
    uint32_t count = program[1];
    current = {words, words + count};
    next = {words + 2 * count, words + 3 * count};
    // Sparse sets work with any contents; tools do not like them unset.
    for (uint32_t k = 0; k < 4 * count; ++k)
      words[k] = 0;
  }

  bool match(const char *text, const char *end) {
    const char *at = text;
    uint32_t before = kNone;
    uint32_t after = kNone;
    const char *behind = at;
    if (at != end)
      after = decodeUtf8(behind, end);
    follow(current, program[2], before, after);
    while (at != end && current.count != 0) {
      uint32_t character = after;
      at = behind;
      after = at != end ? decodeUtf8(behind, end) : kNone;
      next.count = 0;
      for (uint32_t k = 0; k < current.count; ++k) {
        const uint32_t *op = code + 4 * current.dense[k];
        if (op[0] == LOOPC_REGEX_RANGES && isIn(op, character))
          follow(next, op[1], character, after);
      }
      StateSet old = current;
      current = next;
      next = old;
    }
    for (uint32_t k = 0; k < current.count; ++k)
      if (code[4 * current.dense[k]] == LOOPC_REGEX_MATCH)
        return true;
    return false;
  }

private:
  /// No character: before the first and behind the last.
  static constexpr uint32_t kNone = UINT32_MAX;

  bool isIn(const uint32_t *op, uint32_t character) const {
    const uint32_t *ranges = program + op[2];
    uint32_t low = 0, high = op[3];
    while (low < high) {
      uint32_t middle = (low + high) / 2;
      if (ranges[2 * middle + 1] < character)
        low = middle + 1;
      else
        high = middle;
    }
    return low < op[3] && ranges[2 * low] <= character;
  }

  static bool isWord(uint32_t c) {
    return (c >= '0' && c <= '9') || c == '_' ||
           (c < 0x80 && (c | 32) >= 'a' && (c | 32) <= 'z');
  }

  static bool holds(uint32_t what, uint32_t before, uint32_t after) {
    switch (what) {
    case LOOPC_REGEX_AT_BEGIN:
      return before == kNone;
    case LOOPC_REGEX_AT_END:
      return after == kNone;
    case LOOPC_REGEX_AT_LINE_BEGIN:
      return before == kNone || before == '\n';
    case LOOPC_REGEX_AT_LINE_END:
      return after == kNone || after == '\n';
    case LOOPC_REGEX_AT_WORD:
      return isWord(before) != isWord(after);
    default:
      return isWord(before) == isWord(after);
    }
  }

  /// Inserts `state` and whatever it leads to without reading.
  void follow(StateSet &set, uint32_t state, uint32_t before, uint32_t after) {
    uint32_t depth = 0;
    // A state is pushed when it is inserted, so each is pushed once.
    auto visit = [&](uint32_t to) {
      if (set.contains(to))
        return;
      set.insert(to);
      stack[depth++] = to;
    };
    visit(state);
    while (depth != 0) {
      const uint32_t *op = code + 4 * stack[--depth];
      if (op[0] == LOOPC_REGEX_SPLIT) {
        visit(op[1]);
        visit(op[2]);
      } else if (op[0] == LOOPC_REGEX_ASSERT && holds(op[2], before, after)) {
        visit(op[1]);
      }
    }
  }

  const uint32_t *program;
  const uint32_t *code;
  uint32_t *stack;
  StateSet current;
  StateSet next;
};

} // namespace

extern "C" int32_t loopc_rt_regex_full_match(loopc_run *run, const char *text,
                                             int64_t bytes, int64_t address) {
  auto *program = reinterpret_cast<const uint32_t *>(address);
  uint32_t words = program[1] * kWordsPerState;
  constexpr uint32_t kInlineWords = 2048;
  uint32_t inlined[kInlineWords];
  uint32_t *memory = inlined;
  if (words > kInlineWords) {
    memory = static_cast<uint32_t *>(
        allocate(*run, int64_t{words} * 4, /*byModel=*/false));
    if (!memory)
      return 0;
  }
  bool matches = Matcher(program, memory).match(text, text + bytes);
  if (memory != inlined)
    loopc_rt_free(run, memory);
  return matches;
}
