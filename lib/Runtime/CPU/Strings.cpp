//===- Strings.cpp - Work on strings --------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"
#include "Unicode.h"

#include <string.h>

using namespace loopc::rt;

/// A string without text.
static constexpr loopc_string kEmpty = {"", 0};

/// memcmp() must not get null, whatever the number of bytes.
static int compareBytes(const char *a, const char *b, int64_t bytes) {
  return bytes == 0 ? 0 : memcmp(a, b, static_cast<size_t>(bytes));
}

extern "C" int64_t loopc_rt_string_compare(loopc_run *, const char *a,
                                           int64_t aBytes, const char *b,
                                           int64_t bBytes) {
  int order = compareBytes(a, b, aBytes < bBytes ? aBytes : bBytes);
  return order != 0 ? order : (aBytes > bBytes) - (aBytes < bBytes);
}

extern "C" loopc_string loopc_rt_string_concat(loopc_run *run, const char *a,
                                               int64_t aBytes, const char *b,
                                               int64_t bBytes) {
  if (aBytes == 0 && bBytes == 0)
    return kEmpty;
  if (bBytes == 0)
    return {a, static_cast<size_t>(aBytes)};
  if (aBytes == 0)
    return {b, static_cast<size_t>(bBytes)};
  char *text = loopc_rt_string_alloc(run, aBytes + bBytes);
  if (!text)
    return kEmpty;
  memcpy(text, a, static_cast<size_t>(aBytes));
  memcpy(text + aBytes, b, static_cast<size_t>(bBytes));
  return {text, static_cast<size_t>(aBytes + bBytes)};
}

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

namespace {

/// A text that pieces are taken from.
struct Splitter {
  const char *text;
  const char *end;
  const char *delimiter;
  int64_t delimiterBytes;

  Splitter(const char *text, int64_t bytes, const char *delimiter,
           int64_t delimiterBytes)
      : text(text), end(text + bytes), delimiter(delimiter),
        delimiterBytes(delimiterBytes) {
    skipSpace();
  }

  bool splitsAtSpace() const { return delimiterBytes == 0; }

  /// White space before a piece belongs to no piece.
  void skipSpace() {
    if (!splitsAtSpace())
      return;
    while (text != end) {
      const char *next = text;
      if (!isSpace(decodeUtf8(next, end)))
        return;
      text = next;
    }
  }

  /// Where the piece at `text` ends; sets `next` behind its delimiter.
  const char *findEnd(const char *&next) const {
    for (const char *at = text; at < end;) {
      next = at;
      if (splitsAtSpace()) {
        if (isSpace(decodeUtf8(next, end)))
          return at;
        at = next;
        continue;
      }
      if (end - at >= delimiterBytes &&
          compareBytes(at, delimiter, delimiterBytes) == 0) {
        next = at + delimiterBytes;
        return at;
      }
      ++at;
    }
    next = nullptr;
    return end;
  }
};

} // namespace

extern "C" int64_t loopc_rt_string_split_count(loopc_run *, const char *text,
                                               int64_t bytes,
                                               const char *delimiter,
                                               int64_t delimiterBytes,
                                               int64_t splits) {
  Splitter rest(text, bytes, delimiter, delimiterBytes);
  if (rest.splitsAtSpace() && rest.text == rest.end)
    return 0;
  int64_t count = 1;
  while (splits < 0 || count <= splits) {
    const char *next;
    rest.findEnd(next);
    if (!next)
      break;
    rest.text = next;
    rest.skipSpace();
    // White space at the end begins no piece.
    if (rest.splitsAtSpace() && rest.text == rest.end)
      break;
    ++count;
  }
  return count;
}

extern "C" loopc_string
loopc_rt_string_split_first(loopc_run *, const char *text, int64_t bytes,
                            const char *delimiter, int64_t delimiterBytes,
                            int64_t splits) {
  Splitter rest(text, bytes, delimiter, delimiterBytes);
  const char *next;
  const char *end = splits == 0 ? rest.end : rest.findEnd(next);
  return {rest.text, static_cast<size_t>(end - rest.text)};
}

extern "C" loopc_string
loopc_rt_string_split_rest(loopc_run *, const char *text, int64_t bytes,
                           const char *delimiter, int64_t delimiterBytes) {
  Splitter rest(text, bytes, delimiter, delimiterBytes);
  const char *next;
  rest.findEnd(next);
  return next ? loopc_string{next, static_cast<size_t>(rest.end - next)}
              : kEmpty;
}

//===----------------------------------------------------------------------===//
// Case
//===----------------------------------------------------------------------===//

static loopc_string changeCase(loopc_run *run, const char *text, int64_t bytes,
                               bool upper) {
  bool isAscii = true, changes = false;
  for (int64_t i = 0; i < bytes; ++i) {
    unsigned char c = static_cast<unsigned char>(text[i]);
    isAscii &= c < 0x80;
    changes |= upper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z';
  }
  if (isAscii && !changes)
    return {text, static_cast<size_t>(bytes)};
  // A character becomes up to three, of up to four bytes each, and one takes
  // at least as many bytes as it is given below, so that nothing overflows.
  constexpr int64_t kGrowth = 12;
  if (bytes > INT64_MAX / kGrowth) {
    recordError(*run, LOOPC_ERROR_MEMORY, "a text has %lld bytes",
                static_cast<long long>(bytes));
    return kEmpty;
  }
  const char *end = text + bytes;
  // The first time only the bytes are counted.
  int64_t size = 0;
  char scratch[kGrowth];
  for (const char *at = text; at != end;)
    size += changeCaseOf(at, text, end, upper, scratch);
  char *out = loopc_rt_string_alloc(run, size);
  if (!out)
    return kEmpty;
  char *to = out;
  for (const char *at = text; at != end;) {
    int count = changeCaseOf(at, text, end, upper, scratch);
    memcpy(to, scratch, static_cast<size_t>(count));
    to += count;
  }
  return {out, static_cast<size_t>(size)};
}

extern "C" loopc_string loopc_rt_string_lower(loopc_run *run, const char *text,
                                              int64_t bytes) {
  return changeCase(run, text, bytes, /*upper=*/false);
}

extern "C" loopc_string loopc_rt_string_upper(loopc_run *run, const char *text,
                                              int64_t bytes) {
  return changeCase(run, text, bytes, /*upper=*/true);
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

extern "C" int64_t loopc_rt_string_find(loopc_run *run, const char *text,
                                        int64_t bytes, int64_t textsAddress,
                                        int64_t offsetsAddress, int64_t count) {
  auto *texts = reinterpret_cast<const char *>(textsAddress);
  auto *offsets = reinterpret_cast<const int64_t *>(offsetsAddress);
  int64_t low = 0, high = count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    int64_t begin = offsets[middle];
    int64_t order = loopc_rt_string_compare(
        run, texts + begin, offsets[middle + 1] - begin, text, bytes);
    if (order == 0)
      return middle;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return -1;
}
