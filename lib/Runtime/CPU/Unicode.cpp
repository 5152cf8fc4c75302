//===- Unicode.cpp - Characters of UTF-8 ----------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Unicode.h"

#include <stddef.h>

using namespace loopc::rt;

namespace {

/// Characters first, first + step, ... last, which become themselves plus
/// delta.
struct CaseRun {
  uint32_t first;
  uint32_t last;
  int32_t step;
  int32_t delta;
};

/// A character that becomes two or three.
struct CaseExpansion {
  uint32_t character;
  uint32_t to[3];
};

struct Range {
  uint32_t first;
  uint32_t last;
};

} // namespace

#include "UnicodeTables.inc"

/// The first entry of a table in ascending order that ends at or behind
/// `character`; null where there is none.
template <typename Entry, size_t size>
static const Entry *findEntry(const Entry (&table)[size], uint32_t character,
                              uint32_t (*getLast)(const Entry &)) {
  size_t low = 0, high = size;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (getLast(table[middle]) < character)
      low = middle + 1;
    else
      high = middle;
  }
  return low == size ? nullptr : &table[low];
}

template <size_t size>
static bool contains(const Range (&table)[size], uint32_t character) {
  const Range *range = findEntry(
      table, character, +[](const Range &range) { return range.last; });
  return range && range->first <= character;
}

template <size_t size>
static uint32_t mapSimply(const CaseRun (&table)[size], uint32_t character) {
  const CaseRun *run =
      findEntry(table, character, +[](const CaseRun &run) { return run.last; });
  bool isIn = run && run->first <= character &&
              (character - run->first) % static_cast<uint32_t>(run->step) == 0;
  return isIn ? character + static_cast<uint32_t>(run->delta) : character;
}

template <size_t size>
static const CaseExpansion *findExpansion(const CaseExpansion (&table)[size],
                                          uint32_t character) {
  const CaseExpansion *found = findEntry(
      table, character, +[](const CaseExpansion &e) { return e.character; });
  return found && found->character == character ? found : nullptr;
}

uint32_t loopc::rt::decodeUtf8(const char *&at, const char *end) {
  auto *bytes = reinterpret_cast<const unsigned char *>(at);
  uint32_t lead = bytes[0];
  ++at;
  if (lead < 0x80)
    return lead;
  int more = lead >= 0xc2 && lead < 0xe0   ? 1
             : lead >= 0xe0 && lead < 0xf0 ? 2
             : lead >= 0xf0 && lead < 0xf5 ? 3
                                           : 0;
  if (more == 0 || end - at < more)
    return kInvalidByte + lead;
  uint32_t character = lead & (0x3fu >> more);
  for (int k = 1; k <= more; ++k) {
    if ((bytes[k] & 0xc0) != 0x80)
      return kInvalidByte + lead;
    character = character << 6 | (bytes[k] & 0x3f);
  }
  static constexpr uint32_t kFirst[] = {0x80, 0x800, 0x10000};
  if (character < kFirst[more - 1] || character > 0x10ffff ||
      (character >= 0xd800 && character < 0xe000))
    return kInvalidByte + lead;
  at += more;
  return character;
}

int loopc::rt::encodeUtf8(uint32_t character, char *out) {
  if (character < 0x80 || character >= kInvalidByte) {
    out[0] = static_cast<char>(character & 0xff);
    return 1;
  }
  int more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  for (int k = more; k > 0; --k, character >>= 6)
    out[k] = static_cast<char>(0x80 | (character & 0x3f));
  out[0] = static_cast<char>((0xf00u >> (more + 1) & 0xff) | character);
  return more + 1;
}

bool loopc::rt::isSpace(uint32_t character) {
  if (character < 0x80)
    return character == ' ' || (character >= '\t' && character <= '\r') ||
           (character >= 0x1c && character <= 0x1f);
  return contains(kSpace, character);
}

/// Whether a sigma sees a letter beyond this character, or looks further.
enum class Neighbour { Letter, Other, Ignored };

static Neighbour classify(uint32_t character) {
  if (character < 0x80) {
    bool isLetter = (character | 32) >= 'a' && (character | 32) <= 'z';
    bool isIgnored = character == '\'' || character == '.' ||
                     character == ':' || character == '^' || character == '`';
    return isLetter    ? Neighbour::Letter
           : isIgnored ? Neighbour::Ignored
                       : Neighbour::Other;
  }
  return contains(kIgnorable, character) ? Neighbour::Ignored
         : contains(kCased, character)   ? Neighbour::Letter
                                         : Neighbour::Other;
}

/// The character that ends at `at`, which becomes its beginning.
static uint32_t decodeBackwards(const char *begin, const char *&at) {
  const char *end = at;
  for (int k = 1; k <= 4 && end - k >= begin; ++k) {
    const char *from = end - k;
    uint32_t character = decodeUtf8(from, end);
    if (from == end && character < kInvalidByte) {
      at = end - k;
      return character;
    }
  }
  at = end - 1;
  return kInvalidByte + static_cast<unsigned char>(*at);
}

/// Whether the sigma at [at, next) ends a word.
static bool isFinalSigma(const char *begin, const char *at, const char *next,
                         const char *end) {
  Neighbour before = Neighbour::Other, after = Neighbour::Other;
  while (at != begin) {
    before = classify(decodeBackwards(begin, at));
    if (before != Neighbour::Ignored)
      break;
  }
  while (next != end) {
    after = classify(decodeUtf8(next, end));
    if (after != Neighbour::Ignored)
      break;
  }
  return before == Neighbour::Letter && after != Neighbour::Letter;
}

int loopc::rt::changeCaseOf(const char *&at, const char *begin, const char *end,
                            bool upper, char *out) {
  constexpr uint32_t kSigma = 0x3a3, kFinalSigma = 0x3c2;
  const char *from = at;
  uint32_t character = decodeUtf8(at, end);
  if (character < 0x80) {
    char first = upper ? 'a' : 'A';
    char c = static_cast<char>(character);
    out[0] = c >= first && c <= first + 25 ? static_cast<char>(c ^ 32) : c;
    return 1;
  }
  if (!upper && character == kSigma && isFinalSigma(begin, from, at, end))
    return encodeUtf8(kFinalSigma, out);
  const CaseExpansion *expansion =
      upper ? findExpansion(kUpperExpansions, character)
            : findExpansion(kLowerExpansions, character);
  if (expansion) {
    int size = 0;
    for (uint32_t to : expansion->to)
      if (to != 0)
        size += encodeUtf8(to, out + size);
    return size;
  }
  return encodeUtf8(upper ? mapSimply(kUpperRuns, character)
                          : mapSimply(kLowerRuns, character),
                    out);
}
