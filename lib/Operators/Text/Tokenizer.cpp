//===- Tokenizer.cpp - onnxruntime's operator Tokenizer -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// com.microsoft's Tokenizer, which converters of text vectorizers write, as a
// custom operator (loopc-rt/custom.h) in a library of its own. Patterns are
// RE2's, in the mode that finds the longest of the leftmost matches, as
// onnxruntime uses them.

#include "loopc-rt/custom.h"

#include <algorithm>
#include <memory>
#include <re2/re2.h>
#include <string>
#include <string_view>
#include <vector>

namespace {
using Tokens = std::vector<std::string_view>;

/// What begins and ends a text, where 'mark' is set.
constexpr std::string_view kBegin = "\x02", kEnd = "\x03";

/// The attributes of a node.
struct Settings {
  bool isMarked = false, splitsCharacters = false;
  int64_t least = 1; ///< characters of a token
  std::string_view pad;
  /// Separators, one pass over the pieces for each; or the pattern of tokens.
  std::vector<std::unique_ptr<RE2>> separators;
  std::unique_ptr<RE2> token;
  std::string fault;

  explicit Settings(const loopc_custom_call *call);
  std::unique_ptr<RE2> compile(std::string_view pattern);
};
} // namespace

static std::string_view viewOf(const loopc_string &text) {
  return {text.data, static_cast<size_t>(text.size)};
}

std::unique_ptr<RE2> Settings::compile(std::string_view pattern) {
  RE2::Options options;
  options.set_longest_match(true);
  options.set_log_errors(false);
  auto compiled = std::make_unique<RE2>(
      re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!compiled->ok())
    fault = "the pattern '" + std::string(pattern) +
            "' is none of RE2's: " + compiled->error();
  return compiled;
}

Settings::Settings(const loopc_custom_call *call)
    : isMarked(loopc_custom_int(call, "mark", 0) != 0),
      least(loopc_custom_int(call, "mincharnum", 1)) {
  const auto *padding = loopc_custom_find(call, "pad_value");
  pad = viewOf(*static_cast<const loopc_string *>(padding->values));
  const auto *list = loopc_custom_find(call, "separators"),
             *pattern = loopc_custom_find(call, "tokenexp");
  if (least < 1) {
    fault = "'mincharnum' is less than 1";
  } else if (!list == !pattern) {
    fault = "one of 'separators' and 'tokenexp' has to be there, and not both";
  } else if (list) {
    const auto *values = static_cast<const loopc_string *>(list->values);
    splitsCharacters = list->count == 1 && values[0].size == 0;
    for (int64_t k = 0; k < list->count && !splitsCharacters; ++k) {
      if (values[k].size == 0)
        fault = "an empty one among several separators";
      separators.push_back(compile(viewOf(values[k])));
    }
    if (list->count == 0)
      fault = "there are no separators";
  } else {
    std::string_view text =
        viewOf(*static_cast<const loopc_string *>(pattern->values));
    splitsCharacters = text == ".";
    if (text.empty())
      fault = "'tokenexp' is empty";
    else if (!splitsCharacters)
      token = compile(text);
  }
}

//===----------------------------------------------------------------------===//
// Texts to tokens
//===----------------------------------------------------------------------===//

static bool continuesCharacter(char byte) { return (byte & 0xc0) == 0x80; }

static int64_t countCharacters(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char byte) { return !continuesCharacter(byte); });
}

/// The length of the character that begins at `at`.
static size_t characterLength(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && continuesCharacter(text[end]))
    ++end;
  return end - at;
}

/// Calls visit(begin, end) for the matches in `text`, from left to right. One
/// without a character moves on by one.
template <typename Visit>
static void forMatches(const RE2 &pattern, std::string_view text, Visit visit) {
  re2::StringPiece whole(text.data(), text.size()), match;
  for (size_t start = 0;
       start <= text.size() &&
       pattern.Match(whole, start, text.size(), RE2::UNANCHORED, &match, 1);) {
    size_t begin = match.data() - text.data(), end = begin + match.size();
    visit(begin, end);
    start = match.empty()
                ? (begin < text.size() ? begin + characterLength(text, begin)
                                       : begin + 1)
                : end;
  }
}

static void split(const RE2 &separator, std::string_view text, int64_t least,
                  Tokens &pieces) {
  size_t start = 0;
  auto add = [&](size_t end) {
    std::string_view piece = text.substr(start, end - start);
    if (countCharacters(piece) >= least)
      pieces.push_back(piece);
  };
  forMatches(separator, text, [&](size_t begin, size_t end) {
    add(begin);
    start = end > begin           ? end
            : begin < text.size() ? begin + characterLength(text, begin)
                                  : begin;
  });
  add(text.size());
}

static Tokens tokenize(const Settings &settings, std::string_view text) {
  Tokens tokens;
  if (settings.splitsCharacters) {
    for (size_t at = 0; at < text.size();) {
      size_t length = characterLength(text, at);
      tokens.push_back(text.substr(at, length));
      at += length;
    }
  } else if (settings.token) {
    forMatches(*settings.token, text, [&](size_t begin, size_t end) {
      std::string_view piece = text.substr(begin, end - begin);
      if (countCharacters(piece) >= settings.least)
        tokens.push_back(piece);
    });
  } else {
    tokens.push_back(text);
    for (const std::unique_ptr<RE2> &separator : settings.separators) {
      Tokens pieces;
      for (std::string_view token : tokens)
        split(*separator, token, settings.least, pieces);
      tokens = std::move(pieces);
    }
  }
  return tokens;
}

//===----------------------------------------------------------------------===//
// The operator
//===----------------------------------------------------------------------===//

/// A text of the run's own memory: attributes end with the call.
static bool keep(loopc_custom_call *call, std::string_view text,
                 loopc_string &kept) {
  char *room = loopc_custom_text(call, static_cast<int64_t>(text.size()));
  if (!room)
    return false;
  std::copy(text.begin(), text.end(), room);
  kept.data = room;
  kept.size = static_cast<int64_t>(text.size());
  return true;
}

/// Texts that are no pieces of the inputs.
struct OwnTexts {
  loopc_string pad, begin, end;
};

/// Rows of `length` tokens: those of a text, between marks, and padding.
static void write(const std::vector<Tokens> &rows, const OwnTexts &own,
                  bool isMarked, size_t length, loopc_string *out) {
  for (const Tokens &row : rows) {
    loopc_string *end = out + length;
    if (isMarked)
      *out++ = own.begin;
    for (std::string_view token : row)
      *out++ = {token.data(), token.size()};
    if (isMarked)
      *out++ = own.end;
    out = std::fill_n(out, end - out, own.pad);
  }
}

static int compute(loopc_custom_call *call) {
  const loopc_custom_tensor &x = call->inputs[0];
  if (x.rank != 1 && x.rank != 2)
    return loopc_custom_fail(call, "the input is neither [C] nor [N, C]");
  Settings settings(call);
  if (!settings.fault.empty())
    return loopc_custom_fail(call, settings.fault.c_str());
  const auto *texts = static_cast<const loopc_string *>(x.data);
  std::vector<Tokens> rows;
  size_t most = 0;
  for (int64_t k = 0; k < x.count; ++k) {
    rows.push_back(tokenize(settings, viewOf(texts[k])));
    most = std::max(most, rows.back().size());
  }
  // Where no text has a token there are no marks either.
  if (most > 0 && settings.isMarked)
    most += 2;
  std::vector<int64_t> shape(x.shape, x.shape + x.rank);
  shape.push_back(static_cast<int64_t>(most));
  auto *out = static_cast<loopc_string *>(
      loopc_custom_allocate(call, 0, shape.data(), x.rank + 1));
  OwnTexts own;
  if (!out || !keep(call, settings.pad, own.pad) ||
      !keep(call, kBegin, own.begin) || !keep(call, kEnd, own.end))
    return loopc_custom_fail(call, "there is no memory for the tokens");
  if (most > 0)
    write(rows, own, settings.isMarked, most, out);
  return 0;
}

static const loopc_custom_port inputs[] = {{.name = "X", .types = "string"}};
static const loopc_custom_port outputs[] = {{.name = "Y",
                                             .types = "string",
                                             .rank_of = "X",
                                             .flags = LOOPC_CUSTOM_NEW_AXIS}};
static const loopc_custom_parameter parameters[] = {
    {.name = "mark", .kind = LOOPC_CUSTOM_INT, .is_required = 1},
    {.name = "mincharnum", .kind = LOOPC_CUSTOM_INT, .is_required = 1},
    {.name = "pad_value", .kind = LOOPC_CUSTOM_STRING, .is_required = 1},
    {.name = "separators", .kind = LOOPC_CUSTOM_STRINGS, .is_required = 0},
    {.name = "tokenexp", .kind = LOOPC_CUSTOM_STRING, .is_required = 0}};

LOOPC_CUSTOM_OP(tokenizer, .domain = "com.microsoft", .name = "Tokenizer",
                .since_version = 1, .inputs = inputs, .num_inputs = 1,
                .outputs = outputs, .num_outputs = 1, .parameters = parameters,
                .num_parameters = 5, .compute = compute);
LOOPC_CUSTOM_LIBRARY(&loopc_op_tokenizer)
