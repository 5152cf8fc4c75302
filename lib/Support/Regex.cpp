//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Patterns to programs: a parser that builds a tree, and a generator. Only
// whether a whole text matches is asked for, so that groups capture nothing and
// greed makes no difference.

#include "loopc/Support/Regex.h"
#include "loopc-rt/runtime.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Unicode.h"
#include <deque>

using namespace llvm;

namespace {
constexpr uint32_t kLastCharacter = 0x10ffff;
/// RE2's limit for {n,m}.
constexpr unsigned kMaxRepeat = 1000;
constexpr size_t kMaxInstructions = 200000;
constexpr unsigned kMaxDepth = 1000;

using Range = std::pair<uint32_t, uint32_t>;

/// A set of characters: ranges, in order and apart once normalised.
class CharSet {
public:
  CharSet() = default;
  CharSet(std::initializer_list<Range> ranges) : ranges(ranges) {}

  void add(uint32_t first, uint32_t last) { ranges.push_back({first, last}); }
  void add(const CharSet &other) { append_range(ranges, other.ranges); }

  void normalize() {
    llvm::sort(ranges);
    SmallVector<Range> merged;
    for (const Range &range : ranges)
      if (!merged.empty() && range.first <= merged.back().second + 1)
        merged.back().second = std::max(merged.back().second, range.second);
      else
        merged.push_back(range);
    ranges = std::move(merged);
  }

  CharSet inverted() {
    normalize();
    CharSet rest;
    uint32_t next = 0;
    for (const Range &range : ranges) {
      if (range.first > next)
        rest.add(next, range.first - 1);
      next = range.second + 1;
    }
    if (next <= kLastCharacter)
      rest.add(next, kLastCharacter);
    return rest;
  }

  void remove(uint32_t character) {
    CharSet rest = inverted();
    rest.add(character, character);
    ranges = rest.inverted().ranges;
  }

  /// Adds what differs from a member in case only.
  void addOtherCase();

  SmallVector<Range> ranges;
};

/// Characters that fold to one, for all that do not fold to themselves alone.
struct CaseOrbits {
  CaseOrbits() {
    // There are no letters with case behind this plane.
    for (uint32_t c = 0; c < 0x20000; ++c) {
      auto folded = static_cast<uint32_t>(sys::unicode::foldCharSimple(int(c)));
      if (folded == c)
        continue;
      SmallVector<uint32_t> &orbit = orbits[folded];
      if (orbit.empty())
        orbit.push_back(folded);
      orbit.push_back(c);
    }
  }
  DenseMap<uint32_t, SmallVector<uint32_t>> orbits;
};

void CharSet::addOtherCase() {
  static const CaseOrbits table;
  normalize();
  SmallVector<Range> members = ranges;
  auto contains = [&](uint32_t c) {
    return any_of(members, [&](const Range &range) {
      return range.first <= c && c <= range.second;
    });
  };
  for (const auto &[folded, orbit] : table.orbits)
    if (any_of(orbit, contains))
      for (uint32_t c : orbit)
        add(c, c);
  normalize();
}

/// A piece of a pattern.
struct Tree {
  enum Kind { Empty, Chars, Assert, Concat, Alternate, Repeat } kind = Empty;
  CharSet chars;
  uint32_t assertion = 0;
  SmallVector<Tree *, 2> parts;
  unsigned least = 0;
  std::optional<unsigned> most; ///< none: no limit
};

struct Flags {
  bool ignoreCase = false, multiLine = false, dotAll = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Character classes
//===----------------------------------------------------------------------===//

/// \d, \s, \w and their inverses.
static std::optional<CharSet> getPerlClass(char letter) {
  CharSet set;
  switch (letter | 32) {
  case 'd':
    set = {{'0', '9'}};
    break;
  case 's':
    set = {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
    break;
  case 'w':
    set = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
    break;
  default:
    return std::nullopt;
  }
  return letter & 32 ? set : set.inverted();
}

static std::optional<CharSet> getPosixClass(StringRef name) {
  struct Entry {
    StringRef name;
    CharSet set;
  };
  static const Entry entries[] = {
      {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
      {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
      {"ascii", {{0, 0x7f}}},
      {"blank", {{'\t', '\t'}, {' ', ' '}}},
      {"cntrl", {{0, 0x1f}, {0x7f, 0x7f}}},
      {"digit", {{'0', '9'}}},
      {"graph", {{'!', '~'}}},
      {"lower", {{'a', 'z'}}},
      {"print", {{' ', '~'}}},
      {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
      {"space", {{'\t', '\r'}, {' ', ' '}}},
      {"upper", {{'A', 'Z'}}},
      {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
      {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}}};
  for (const Entry &entry : entries)
    if (entry.name == name)
      return entry.set;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Parser
//===----------------------------------------------------------------------===//

namespace {
class Parser {
public:
  Parser(ArrayRef<uint32_t> pattern, std::string &error)
      : pattern(pattern), error(error) {}

  /// Null after an error.
  Tree *parse() {
    Tree *tree = parseAlternatives();
    if (tree && at != pattern.size())
      return fail("unexpected )");
    return tree;
  }

private:
  Tree *fail(const Twine &reason) {
    if (error.empty())
      error = reason.str();
    return nullptr;
  }

  bool atEnd() const { return at == pattern.size(); }
  bool sees(StringRef text) const {
    if (pattern.size() - at < text.size())
      return false;
    for (auto [k, c] : enumerate(text))
      if (pattern[at + k] != static_cast<unsigned char>(c))
        return false;
    return true;
  }
  bool take(StringRef text) {
    if (!sees(text))
      return false;
    at += text.size();
    return true;
  }

  Tree *make(Tree::Kind kind) {
    trees.emplace_back();
    trees.back().kind = kind;
    return &trees.back();
  }
  Tree *makeChars(CharSet set) {
    if (flags.ignoreCase)
      set.addOtherCase();
    set.normalize();
    Tree *tree = make(Tree::Chars);
    tree->chars = std::move(set);
    return tree;
  }
  Tree *makeAssert(uint32_t what) {
    Tree *tree = make(Tree::Assert);
    tree->assertion = what;
    return tree;
  }

  Tree *parseAlternatives();
  Tree *parseConcat();
  Tree *parseRepeats(Tree *tree);
  bool parseRepeat(unsigned &least, std::optional<unsigned> &most);
  Tree *parseAtom();
  Tree *parseGroup();
  Tree *parseFlags();
  Tree *parseQuoted();
  Tree *parseEscape();
  std::optional<uint32_t> parseEscapedCharacter();
  std::optional<uint32_t> parseHex();
  Tree *parseClass();
  bool parseClassItem(CharSet &set);
  std::optional<uint32_t> parseClassCharacter();
  std::optional<unsigned> parseNumber();

  ArrayRef<uint32_t> pattern;
  size_t at = 0;
  unsigned depth = 0;
  Flags flags;
  std::string &error;
  std::deque<Tree> trees;
};
} // namespace

Tree *Parser::parseAlternatives() {
  if (++depth > kMaxDepth)
    return fail("groups are nested too deeply");
  Tree *first = parseConcat();
  Tree *all = nullptr;
  while (first && take("|")) {
    Tree *next = parseConcat();
    if (!next)
      return nullptr;
    if (!all) {
      all = make(Tree::Alternate);
      all->parts.push_back(first);
    }
    all->parts.push_back(next);
  }
  --depth;
  return all ? all : first;
}

Tree *Parser::parseConcat() {
  Tree *all = make(Tree::Concat);
  while (!atEnd() && !sees("|") && !sees(")")) {
    Tree *atom = parseAtom();
    if (atom)
      atom = parseRepeats(atom);
    if (!atom)
      return nullptr;
    all->parts.push_back(atom);
  }
  return all;
}

std::optional<unsigned> Parser::parseNumber() {
  unsigned value = 0;
  size_t begin = at;
  for (; !atEnd() && pattern[at] >= '0' && pattern[at] <= '9'; ++at)
    value = std::min(value * 10 + (pattern[at] - '0'), kMaxRepeat + 1);
  return at == begin ? std::nullopt : std::optional<unsigned>(value);
}

/// A repetition at the position; false, and the position as it was, for none.
bool Parser::parseRepeat(unsigned &least, std::optional<unsigned> &most) {
  least = 0;
  most = std::nullopt;
  if (take("*"))
    return true;
  if (take("+")) {
    least = 1;
    return true;
  }
  if (take("?")) {
    most = 1;
    return true;
  }
  size_t begin = at;
  if (take("{"))
    if (std::optional<unsigned> number = parseNumber()) {
      least = *number;
      bool isOpen = take(",");
      most = isOpen ? parseNumber() : number;
      if (take("}"))
        return true;
    }
  at = begin;
  return false;
}

Tree *Parser::parseRepeats(Tree *tree) {
  unsigned least;
  std::optional<unsigned> most;
  if (!parseRepeat(least, most))
    return tree;
  take("?");
  if (least > kMaxRepeat || (most && (*most > kMaxRepeat || *most < least)))
    return fail("bad repetition count");
  Tree *repeat = make(Tree::Repeat);
  repeat->parts = {tree};
  repeat->least = least;
  repeat->most = most;
  if (parseRepeat(least, most))
    return fail("bad repetition operator");
  return repeat;
}

Tree *Parser::parseAtom() {
  unsigned least;
  std::optional<unsigned> most;
  if (parseRepeat(least, most))
    return fail("no argument for repetition operator");
  if (take("."))
    return makeChars(flags.dotAll
                         ? CharSet{{0, kLastCharacter}}
                         : CharSet{{0, '\n' - 1}, {'\n' + 1, kLastCharacter}});
  if (take("^"))
    return makeAssert(flags.multiLine ? LOOPC_REGEX_AT_LINE_BEGIN
                                      : LOOPC_REGEX_AT_BEGIN);
  if (take("$"))
    return makeAssert(flags.multiLine ? LOOPC_REGEX_AT_LINE_END
                                      : LOOPC_REGEX_AT_END);
  if (sees("("))
    return parseGroup();
  if (sees("["))
    return parseClass();
  if (sees("\\"))
    return parseEscape();
  uint32_t c = pattern[at++];
  return makeChars({{c, c}});
}

Tree *Parser::parseGroup() {
  take("(");
  Flags outer = flags;
  if (take("?P<") ||
      (sees("?<") && !sees("?<=") && !sees("?<!") && take("?<"))) {
    size_t begin = at;
    while (!atEnd() && (isAlnum(char(pattern[at])) || pattern[at] == '_') &&
           pattern[at] < 0x80)
      ++at;
    if (at == begin || !take(">"))
      return fail("invalid named group");
  } else if (take("?")) {
    Tree *whole = parseFlags();
    if (!whole || whole->kind == Tree::Empty)
      return whole;
  }
  Tree *tree = parseAlternatives();
  if (!tree)
    return nullptr;
  if (!take(")"))
    return fail("missing )");
  flags = outer;
  return tree;
}

/// Behind "(?": flags, and ":" for a group (a tree that is not empty) or ")".
Tree *Parser::parseFlags() {
  bool value = true, any = false;
  while (!atEnd()) {
    uint32_t c = pattern[at++];
    if (c == ':')
      return make(Tree::Concat);
    if (c == ')' && any)
      return make(Tree::Empty);
    if (c == '-' && value) {
      value = any = false;
      continue;
    }
    any = true;
    if (c == 'i')
      flags.ignoreCase = value;
    else if (c == 'm')
      flags.multiLine = value;
    else if (c == 's')
      flags.dotAll = value;
    else if (c != 'U')
      break;
  }
  return fail("invalid or unsupported group (?...");
}

/// Behind \Q, up to \E or the end.
Tree *Parser::parseQuoted() {
  Tree *all = make(Tree::Concat);
  while (!atEnd() && !take("\\E")) {
    uint32_t c = pattern[at++];
    all->parts.push_back(makeChars({{c, c}}));
  }
  return all;
}

Tree *Parser::parseEscape() {
  if (pattern.size() - at < 2)
    return fail("trailing \\");
  if (take("\\Q"))
    return parseQuoted();
  for (auto [text, what] : {std::pair("\\A", LOOPC_REGEX_AT_BEGIN),
                            {"\\z", LOOPC_REGEX_AT_END},
                            {"\\b", LOOPC_REGEX_AT_WORD},
                            {"\\B", LOOPC_REGEX_AT_NO_WORD}})
    if (take(text))
      return makeAssert(static_cast<uint32_t>(what));
  uint32_t next = pattern[at + 1];
  if (next < 0x80)
    if (std::optional<CharSet> set = getPerlClass(static_cast<char>(next))) {
      at += 2;
      return makeChars(*set);
    }
  std::optional<uint32_t> c = parseEscapedCharacter();
  return c ? makeChars({{*c, *c}}) : nullptr;
}

std::optional<uint32_t> Parser::parseHex() {
  uint32_t value = 0;
  bool braced = take("{");
  unsigned count = 0;
  for (; !atEnd() && pattern[at] < 0x80 && isHexDigit(char(pattern[at])) &&
         (braced || count < 2);
       ++at, ++count)
    value = std::min(value * 16 + hexDigitValue(char(pattern[at])),
                     kLastCharacter + 1);
  if ((braced ? !take("}") || count == 0 : count != 2) ||
      value > kLastCharacter) {
    fail("invalid escape \\x");
    return std::nullopt;
  }
  return value;
}

/// A character that begins with "\".
std::optional<uint32_t> Parser::parseEscapedCharacter() {
  take("\\");
  if (atEnd()) {
    fail("trailing \\");
    return std::nullopt;
  }
  uint32_t c = pattern[at++];
  if (c == 'x')
    return parseHex();
  if (c == '0' || (c >= '1' && c <= '7' && !atEnd() && pattern[at] >= '0' &&
                   pattern[at] <= '7')) {
    uint32_t value = c - '0';
    for (unsigned k = 0;
         k < 2 && !atEnd() && pattern[at] >= '0' && pattern[at] <= '7'; ++k)
      value = value * 8 + (pattern[at++] - '0');
    return value;
  }
  constexpr StringRef letters = "aftnrv", meanings = "\a\f\t\n\r\v";
  if (c < 0x80)
    if (size_t k = letters.find(char(c)); k != StringRef::npos)
      return static_cast<uint32_t>(meanings[k]);
  if (c < 0x80 && !isAlnum(char(c)))
    return c;
  fail(c == 'p' || c == 'P' ? "Unicode classes (\\p) are not supported"
       : c == 'C'           ? "\\C is not supported"
                            : "invalid escape sequence");
  return std::nullopt;
}

Tree *Parser::parseClass() {
  take("[");
  bool invert = take("^");
  CharSet set;
  // A "]" that comes first stands for itself.
  for (bool first = true; first || !sees("]"); first = false)
    if (atEnd()) {
      return fail("missing ]");
    } else if (!parseClassItem(set)) {
      return nullptr;
    }
  take("]");
  if (flags.ignoreCase)
    set.addOtherCase();
  if (invert)
    set = set.inverted();
  return makeChars(std::move(set));
}

bool Parser::parseClassItem(CharSet &set) {
  if (take("[:")) {
    bool invert = take("^");
    std::string name;
    while (!atEnd() && pattern[at] < 0x80 && isAlpha(char(pattern[at])))
      name.push_back(char(pattern[at++]));
    std::optional<CharSet> members = getPosixClass(name);
    if (!members || !take(":]"))
      return fail("invalid character class [:");
    set.add(invert ? members->inverted() : *members);
    return true;
  }
  if (sees("\\") && at + 1 < pattern.size() && pattern[at + 1] < 0x80)
    if (std::optional<CharSet> members = getPerlClass(char(pattern[at + 1]))) {
      at += 2;
      set.add(*members);
      return true;
    }
  std::optional<uint32_t> first = parseClassCharacter();
  if (!first)
    return false;
  std::optional<uint32_t> last = first;
  if (sees("-") && !sees("-]")) {
    take("-");
    last = parseClassCharacter();
    if (!last)
      return false;
  }
  if (*first > *last)
    return fail("invalid character class range");
  set.add(*first, *last);
  return true;
}

std::optional<uint32_t> Parser::parseClassCharacter() {
  if (sees("\\"))
    return parseEscapedCharacter();
  if (atEnd()) {
    fail("missing ]");
    return std::nullopt;
  }
  return pattern[at++];
}

//===----------------------------------------------------------------------===//
// Generator
//===----------------------------------------------------------------------===//

namespace {
/// Builds a program from the end: each piece is told where it goes on.
class Generator {
public:
  /// The instruction that `tree` begins with where it goes on at `next`.
  uint32_t generate(const Tree &tree, uint32_t next);

  bool isTooLarge() const { return code.size() > kMaxInstructions; }
  uint32_t emit(uint32_t op, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0) {
    code.push_back({op, a, b, c});
    return code.size() - 1;
  }
  SmallVector<uint32_t> finish(uint32_t begin);

private:
  uint32_t repeat(const Tree &tree, uint32_t next);

  std::vector<std::array<uint32_t, 4>> code;
  /// Word 2 of RANGES is a position in here until the program is laid out.
  std::vector<Range> ranges;
};
} // namespace

uint32_t Generator::generate(const Tree &tree, uint32_t next) {
  if (isTooLarge())
    return next;
  switch (tree.kind) {
  case Tree::Empty:
    return next;
  case Tree::Chars: {
    uint32_t first = ranges.size();
    append_range(ranges, tree.chars.ranges);
    return emit(LOOPC_REGEX_RANGES, next, first, tree.chars.ranges.size());
  }
  case Tree::Assert:
    return emit(LOOPC_REGEX_ASSERT, next, tree.assertion);
  case Tree::Concat:
    for (const Tree *part : reverse(tree.parts))
      next = generate(*part, next);
    return next;
  case Tree::Alternate: {
    uint32_t begin = generate(*tree.parts.back(), next);
    for (const Tree *part : reverse(ArrayRef(tree.parts).drop_back()))
      begin = emit(LOOPC_REGEX_SPLIT, generate(*part, next), begin);
    return begin;
  }
  case Tree::Repeat:
    return repeat(tree, next);
  }
  return next;
}

/// x{2,4} is xx(x(x)?)?, x{2,} is xxx*.
uint32_t Generator::repeat(const Tree &tree, uint32_t next) {
  const Tree &part = *tree.parts.front();
  uint32_t begin = next;
  if (!tree.most) {
    begin = emit(LOOPC_REGEX_SPLIT, next, next);
    uint32_t body = generate(part, begin);
    code[begin][1] = body;
  } else {
    for (unsigned k = tree.least; k < *tree.most && !isTooLarge(); ++k)
      begin = emit(LOOPC_REGEX_SPLIT, generate(part, begin), next);
  }
  for (unsigned k = 0; k < tree.least && !isTooLarge(); ++k)
    begin = generate(part, begin);
  return begin;
}

SmallVector<uint32_t> Generator::finish(uint32_t begin) {
  SmallVector<uint32_t> words = {0, static_cast<uint32_t>(code.size()), begin};
  uint32_t firstRange = 3 + 4 * code.size();
  for (std::array<uint32_t, 4> op : code) {
    if (op[0] == LOOPC_REGEX_RANGES)
      op[2] = firstRange + 2 * op[2];
    append_range(words, op);
  }
  for (const Range &range : ranges) {
    words.push_back(range.first);
    words.push_back(range.second);
  }
  words[0] = words.size();
  return words;
}

std::optional<SmallVector<uint32_t>> loopc::compileRegex(StringRef pattern,
                                                         std::string &error) {
  SmallVector<UTF32> characters(pattern.size());
  auto *from = reinterpret_cast<const UTF8 *>(pattern.begin());
  UTF32 *to = characters.begin();
  if (ConvertUTF8toUTF32(&from, reinterpret_cast<const UTF8 *>(pattern.end()),
                         &to, characters.end(),
                         strictConversion) != conversionOK) {
    error = "invalid UTF-8";
    return std::nullopt;
  }
  characters.truncate(to - characters.begin());
  Parser parser(characters, error);
  Tree *tree = parser.parse();
  if (!tree)
    return std::nullopt;
  Generator generator;
  uint32_t end = generator.emit(LOOPC_REGEX_MATCH);
  uint32_t begin = generator.generate(*tree, end);
  if (generator.isTooLarge()) {
    error = "pattern too large";
    return std::nullopt;
  }
  return generator.finish(begin);
}
