//===- Ptx.cpp - A parser of PTX ------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx.h"

#include <cctype>
#include <cstring>
#include <map>

using namespace fakecuda;
using namespace fakecuda::ptx;

Type fakecuda::typeOf(const std::string &name) {
  static const std::map<std::string, Type> types = {
      {"pred", Type::Pred},     {"b8", Type::B8},
      {"b16", Type::B16},       {"b32", Type::B32},
      {"b64", Type::B64},       {"b128", Type::B128},
      {"u8", Type::U8},         {"u16", Type::U16},
      {"u32", Type::U32},       {"u64", Type::U64},
      {"s8", Type::S8},         {"s16", Type::S16},
      {"s32", Type::S32},       {"s64", Type::S64},
      {"f16", Type::F16},       {"f16x2", Type::F16x2},
      {"bf16", Type::BF16},     {"tf32", Type::TF32},
      {"bf16x2", Type::BF16x2}, {"f32", Type::F32},
      {"f64", Type::F64},       {"e4m3", Type::E4M3},
      {"e5m2", Type::E5M2},     {"u16x2", Type::U16x2},
      {"f32x2", Type::F32x2},   {"e4m3x2", Type::E4M3x2},
      {"e5m2x2", Type::E5M2x2}, {"s16x2", Type::S16x2},
  };
  auto found = types.find(name);
  return found == types.end() ? Type::None : found->second;
}

unsigned fakecuda::sizeOf(Type type) {
  switch (type) {
  case Type::None:
    return 0;
  case Type::Pred:
  case Type::B8:
  case Type::U8:
  case Type::S8:
  case Type::E4M3:
  case Type::E5M2:
    return 1;
  case Type::B16:
  case Type::U16:
  case Type::S16:
  case Type::F16:
  case Type::BF16:
  case Type::E4M3x2:
  case Type::E5M2x2:
    return 2;
  case Type::B64:
  case Type::U64:
  case Type::S64:
  case Type::F64:
  case Type::F32x2:
    return 8;
  case Type::B128:
    return 16;
  default:
    return 4;
  }
}

namespace {

struct Token {
  std::string text;
  unsigned line;
  bool isString = false;
};

bool isWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' ||
         c == '%' || c == '.';
}

/// Words with their dots (`ld.global.u32`, `%tid.x`, `shared::cta`), strings
/// and single characters. An empty token ends the list.
class Lexer {
public:
  explicit Lexer(const std::string &text) : text(text) {}

  std::vector<Token> run() {
    while (skipSpace(), at < text.size())
      next();
    tokens.push_back({"", line});
    return std::move(tokens);
  }

private:
  void skipSpace() {
    for (; at < text.size(); ++at) {
      if (text.compare(at, 2, "//") == 0) {
        at = std::min(text.find('\n', at), text.size()) - 1;
      } else if (text.compare(at, 2, "/*") == 0) {
        size_t end = text.find("*/", at);
        if (end == std::string::npos)
          throw PtxError(line, "comment without end");
        for (; at < end + 1; ++at)
          line += text[at] == '\n';
      } else if (text[at] == '\n') {
        ++line;
      } else if (!std::isspace(static_cast<unsigned char>(text[at]))) {
        return;
      }
    }
  }

  void next() {
    size_t begin = at;
    if (text[at] == '"') {
      at = text.find('"', at + 1);
      if (at == std::string::npos)
        throw PtxError(line, "string without end");
      ++at;
      tokens.push_back({text.substr(begin, at - begin), line, true});
      return;
    }
    if (!isWordCharacter(text[at])) {
      tokens.push_back({std::string(1, text[at++]), line});
      return;
    }
    while (at < text.size() &&
           (isWordCharacter(text[at]) || text.compare(at, 2, "::") == 0))
      at += text[at] == ':' ? 2 : 1;
    tokens.push_back({text.substr(begin, at - begin), line});
  }

  const std::string &text;
  std::vector<Token> tokens;
  size_t at = 0;
  unsigned line = 1;
};

class Parser {
public:
  explicit Parser(const std::string &text) : tokens(Lexer(text).run()) {}

  Module run() {
    while (!peek().empty())
      topLevel();
    if (!module.version)
      fail("there is no .version");
    if (!module.target)
      fail("there is no .target");
    return std::move(module);
  }

private:
  [[noreturn]] void fail(const std::string &message) {
    throw PtxError(tokens[at].line, message);
  }
  const std::string &peek(unsigned ahead = 0) const {
    return tokens[std::min(at + ahead, tokens.size() - 1)].text;
  }
  std::string take() {
    if (tokens[at].text.empty())
      fail("the text ends too early");
    return tokens[at++].text;
  }
  bool tryTake(const char *text) {
    if (peek() != text)
      return false;
    ++at;
    return true;
  }
  void expect(const char *text) {
    if (!tryTake(text))
      fail("expected '" + std::string(text) + "', found '" + peek() + "'");
  }
  void skipLine() {
    for (unsigned line = tokens[at].line;
         !peek().empty() && tokens[at].line == line;)
      ++at;
  }

  bool isNumber(const std::string &text) const {
    return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0]));
  }
  uint64_t integer() {
    bool negative = tryTake("-");
    std::string text = take();
    if (!isNumber(text))
      fail("expected a number, found '" + text + "'");
    char *end = nullptr;
    uint64_t value = 0;
    if (text.size() > 1 && text[0] == '0' && (text[1] | 32) == 'b')
      value = std::strtoull(text.c_str() + 2, &end, 2);
    else
      value = std::strtoull(text.c_str(), &end, 0);
    if (*end && std::strcmp(end, "U"))
      fail("'" + text + "' is no integer");
    return negative ? 0 - value : value;
  }

  void topLevel();
  void version();
  void target();
  void moduleDirective();
  Variable variable();
  void initializer(Variable &result);
  void initialElement(Variable &result);
  void function(bool isEntry);
  void functionDirectives(Function &result);
  void threadCounts(unsigned counts[3]);
  std::vector<Variable> parameters();
  void body(Function &result);
  void bodyDirective(Function &result);
  void registers(Function &result);
  void label(Function &result);
  void instruction(Function &result);
  Operand operand();
  Operand number(const std::string &text);
  Operand address();
  std::vector<Operand> operandsUntil(const char *end);
  void skipDirective();

  std::vector<Token> tokens;
  size_t at = 0;
  Module module;
};

} // namespace

void Parser::version() {
  std::string text = take();
  size_t dot = text.find('.');
  if (!isNumber(text) || dot == std::string::npos)
    fail("'" + text + "' is no version");
  module.version =
      std::stoul(text.substr(0, dot)) * 10 + std::stoul(text.substr(dot + 1));
}

void Parser::target() {
  do {
    std::string name = take();
    if (name.rfind("sm_", 0) != 0) {
      if (name != "debug" && name != "texmode_unified" &&
          name != "texmode_independent")
        fail("unknown target '" + name + "'");
      continue;
    }
    if (char last = name.back(); last == 'a' || last == 'f') {
      module.targetSuffix = last;
      name.pop_back();
    }
    if (name.size() < 5 || !isNumber(name.substr(3)))
      fail("unknown target '" + name + "'");
    module.target = std::stoul(name.substr(3));
  } while (tryTake(","));
}

/// Skips to the end of a directive that says nothing to an interpreter.
void Parser::skipDirective() {
  if (peek() == ".loc" || peek() == ".file") {
    skipLine();
    return;
  }
  if (peek() == ".section") {
    while (peek() != "{")
      take();
    while (take() != "}") {
    }
    return;
  }
  while (take() != ";") {
  }
}

void Parser::topLevel() {
  const std::string &word = peek();
  if (tryTake(".version"))
    return version();
  if (tryTake(".target"))
    return target();
  if (tryTake(".address_size")) {
    if (integer() != 64)
      fail("only 64-bit addresses are supported");
    return;
  }
  if (word == ".file" || word == ".loc" || word == ".section" ||
      word == ".pragma")
    return skipDirective();
  moduleDirective();
}

void Parser::moduleDirective() {
  bool isExternal = false;
  for (;;) {
    if (tryTake(".extern"))
      isExternal = true;
    else if (!tryTake(".visible") && !tryTake(".weak") && !tryTake(".common"))
      break;
  }
  if (tryTake(".entry"))
    return function(true);
  if (tryTake(".func"))
    return function(false);
  Variable result = variable();
  result.isExternal = isExternal;
  initializer(result);
  expect(";");
  module.variables.push_back(std::move(result));
}

/// `.global .attribute(.managed) .align 4 .b8 name[10]` and the like, also of a
/// parameter (`.param .u64 .ptr .global .align 16 name`).
Variable Parser::variable() {
  static const std::map<std::string, Space> spaces = {
      {".global", Space::Global}, {".shared", Space::Shared},
      {".local", Space::Local},   {".param", Space::Param},
      {".const", Space::Const},
  };
  Variable result;
  result.line = tokens[at].line;
  std::string word = take();
  auto space = spaces.find(word);
  if (space == spaces.end())
    throw PtxError(result.line, "unknown directive '" + word + "'");
  result.space = space->second;
  unsigned lanes = 1;
  bool isPointer = false;
  while (peek()[0] == '.') {
    word = take();
    if (word == ".align") {
      unsigned align = integer();
      if (!isPointer)
        result.align = align;
    } else if (word == ".v2" || word == ".v4") {
      lanes = word[2] - '0';
    } else if (word == ".ptr") {
      isPointer = true;
    } else if (word == ".attribute") {
      expect("(");
      do {
        if (std::string attribute = take(); attribute == ".managed")
          result.isManaged = true;
        else
          fail("unknown attribute '" + attribute + "'");
      } while (tryTake(","));
      expect(")");
    } else if (Type type = typeOf(word.substr(1)); type != Type::None) {
      result.type = type;
    } else if (!isPointer || !spaces.count(word)) {
      fail("unknown '" + word + "' of a variable");
    }
  }
  result.name = take();
  result.count = lanes;
  while (tryTake("[")) {
    if (tryTake("]")) {
      result.count = 0;
      continue;
    }
    result.count *= integer();
    expect("]");
  }
  if (!result.align)
    result.align = sizeOf(result.type) * lanes;
  return result;
}

void Parser::initialElement(Variable &result) {
  if (tryTake("{")) { // a row
    do
      initialElement(result);
    while (tryTake(","));
    expect("}");
    return;
  }
  Variable::Element element;
  if (isNumber(peek()) || peek() == "-") {
    if (isNumber(peek(1)) && peek() == "-") {
      element.bits = integer();
    } else if (peek(1) == "(") { // 0xFF00(symbol + 8)
      element.mask = integer();
      expect("(");
      Variable inner;
      initialElement(inner);
      element.symbol = inner.init.at(0).symbol;
      element.bits = inner.init.at(0).bits;
      element.isGeneric = inner.init.at(0).isGeneric;
      expect(")");
    } else if (Operand value = number(take()); value.kind == Operand::Float) {
      element.bits = value.bits;
      if (value.isDouble && result.type == Type::F32) {
        double wide;
        std::memcpy(&wide, &value.bits, 8);
        float narrow = static_cast<float>(wide);
        uint32_t bits;
        std::memcpy(&bits, &narrow, 4);
        element.bits = bits;
      }
    } else {
      element.bits = value.bits;
    }
  } else if (tryTake("generic")) {
    element.isGeneric = true;
    expect("(");
    element.symbol = take();
    if (tryTake("+"))
      element.bits = integer();
    expect(")");
  } else {
    element.symbol = take();
  }
  if (tryTake("+"))
    element.bits += integer();
  result.init.push_back(std::move(element));
}

void Parser::initializer(Variable &result) {
  if (!tryTake("="))
    return;
  initialElement(result);
  if (result.count == 0)
    result.count = result.init.size();
  if (result.init.size() > result.count)
    fail("'" + result.name + "' has more initial values than elements");
}

std::vector<Variable> Parser::parameters() {
  std::vector<Variable> result;
  expect("(");
  while (!tryTake(")")) {
    if (peek() == ".reg")
      fail("parameters in registers are not supported");
    result.push_back(variable());
    if (peek() != ")")
      expect(",");
  }
  return result;
}

void Parser::threadCounts(unsigned counts[3]) {
  unsigned number = 0;
  counts[0] = counts[1] = counts[2] = 1;
  do {
    if (number == 3)
      fail("more than three dimensions");
    counts[number++] = integer();
  } while (tryTake(","));
}

void Parser::functionDirectives(Function &result) {
  for (;;) {
    if (tryTake(".maxntid")) {
      threadCounts(result.maxThreads);
    } else if (tryTake(".reqntid")) {
      threadCounts(result.requiredThreads);
    } else if (tryTake(".minnctapersm") || tryTake(".maxnreg") ||
               tryTake(".maxnctapersm") || tryTake(".abi_preserve") ||
               tryTake(".abi_preserve_control")) {
      integer();
    } else if (peek() == ".pragma") {
      skipDirective();
    } else if (tryTake(".reqnctapercluster") || tryTake(".maxclusterrank")) {
      unsigned counts[3];
      threadCounts(counts);
      if (counts[0] * counts[1] * counts[2] != 1)
        fail("clusters are not supported");
    } else if (!tryTake(".noreturn") && !tryTake(".explicitcluster")) {
      return;
    }
  }
}

void Parser::function(bool isEntry) {
  Function result;
  result.isEntry = isEntry;
  result.line = tokens[at].line;
  if (!isEntry) {
    while (peek() == ".attribute")
      fail("attributes of functions are not supported");
    if (peek() == "(")
      result.results = parameters();
  }
  result.name = take();
  if (peek() == "(")
    result.params = parameters();
  functionDirectives(result);
  if (!tryTake(";")) {
    expect("{");
    result.hasBody = true;
    body(result);
  }
  module.functions.push_back(std::move(result));
}

void Parser::body(Function &result) {
  for (unsigned depth = 1; depth;) {
    unsigned line = tokens[at].line;
    const std::string &word = peek();
    if (tryTake("{")) {
      ++depth;
      result.body.emplace_back(Statement::Open, line);
    } else if (tryTake("}")) {
      if (--depth)
        result.body.emplace_back(Statement::Close, line);
    } else if (tryTake(";")) {
      continue;
    } else if (word[0] == '.' && peek(1) != ":") {
      bodyDirective(result);
    } else if (peek(1) == ":") {
      label(result);
    } else {
      instruction(result);
    }
  }
}

void Parser::bodyDirective(Function &result) {
  unsigned line = tokens[at].line;
  const std::string &word = peek();
  if (tryTake(".reg"))
    return registers(result);
  if (word == ".loc" || word == ".file" || word == ".pragma")
    return skipDirective();
  Statement statement(Statement::Declare, line);
  statement.variable = variable();
  initializer(statement.variable);
  expect(";");
  result.body.push_back(std::move(statement));
}

void Parser::registers(Function &result) {
  unsigned line = tokens[at].line;
  std::string word = take();
  if (word == ".v2" || word == ".v4")
    fail("registers of vectors are not supported");
  Type type = typeOf(word.substr(1));
  if (type == Type::None)
    fail("unknown type '" + word + "' of a register");
  do {
    Statement statement(Statement::Registers, line);
    statement.type = type;
    statement.name = take();
    if (tryTake("<")) {
      statement.count = integer();
      expect(">");
    }
    result.body.push_back(std::move(statement));
  } while (tryTake(","));
  expect(";");
}

void Parser::label(Function &result) {
  Statement statement(Statement::Label, tokens[at].line);
  statement.name = take();
  expect(":");
  if (tryTake(".branchtargets")) {
    statement.kind = Statement::Targets;
    statement.operands = operandsUntil(";");
  } else if (tryTake(".callprototype")) {
    statement.kind = Statement::Prototype;
    if (peek() == "(")
      parameters();
    expect("_");
    if (peek() == "(")
      parameters();
    tryTake(".noreturn");
    expect(";");
  }
  result.body.push_back(std::move(statement));
}

void Parser::instruction(Function &result) {
  Statement statement(Statement::Instruction, tokens[at].line);
  if (tryTake("@")) {
    statement.guardNegated = tryTake("!");
    statement.guard = take();
  }
  statement.name = take();
  if (!std::isalpha(static_cast<unsigned char>(statement.name[0])))
    fail("expected an instruction, found '" + statement.name + "'");
  statement.operands = operandsUntil(";");
  result.body.push_back(std::move(statement));
}

std::vector<Operand> Parser::operandsUntil(const char *end) {
  std::vector<Operand> result;
  if (tryTake(end))
    return result;
  for (;;) {
    result.push_back(operand());
    if (tryTake("|")) {
      Operand pair;
      pair.kind = Operand::Pair;
      pair.items.push_back(std::move(result.back()));
      pair.items.push_back(operand());
      result.back() = std::move(pair);
    }
    if (tryTake(end))
      return result;
    expect(",");
  }
}

Operand Parser::number(const std::string &text) {
  Operand result;
  if (text.size() > 2 && text[0] == '0' &&
      ((text[1] | 32) == 'f' || (text[1] | 32) == 'd')) {
    result.kind = Operand::Float;
    result.isDouble = (text[1] | 32) == 'd';
    char *end = nullptr;
    result.bits = std::strtoull(text.c_str() + 2, &end, 16);
    if (*end || text.size() != (result.isDouble ? 18u : 10u))
      fail("'" + text + "' is no number");
    return result;
  }
  bool isHex = text.size() > 1 && (text[1] | 32) == 'x';
  if (!isHex && text.find_first_of(".eE") != std::string::npos) {
    char *end = nullptr;
    double value = std::strtod(text.c_str(), &end);
    if (*end)
      fail("'" + text + "' is no number");
    result.kind = Operand::Float;
    result.isDouble = true;
    std::memcpy(&result.bits, &value, 8);
    return result;
  }
  --at;
  result.kind = Operand::Integer;
  result.bits = integer();
  return result;
}

Operand Parser::address() {
  Operand result;
  result.kind = Operand::Address;
  result.items.push_back(operand());
  Operand &base = result.items[0];
  if (base.kind == Operand::Integer)
    result.bits = base.bits;
  while (peek() == "+" || peek() == "-") {
    tryTake("+");
    result.bits += integer();
  }
  expect("]");
  return result;
}

Operand Parser::operand() {
  Operand result;
  if (tryTake("["))
    return address();
  if (tryTake("{")) {
    result.kind = Operand::Vector;
    result.items = operandsUntil("}");
    return result;
  }
  if (tryTake("(")) {
    result.kind = Operand::List;
    result.items = operandsUntil(")");
    return result;
  }
  if (tryTake("!")) {
    result.negated = true;
    result.name = take();
    return result;
  }
  if (peek() == "-") {
    ++at;
    if (!isNumber(peek()))
      fail("expected a number after '-'");
    result = number(take());
    if (result.kind == Operand::Float)
      result.bits ^= uint64_t(1) << (result.isDouble ? 63 : 31);
    else
      result.bits = 0 - result.bits;
    return result;
  }
  if (isNumber(peek()))
    return number(take());
  result.name = take();
  if (result.name == "_")
    result.kind = Operand::Sink;
  else if (!isWordCharacter(result.name[0]))
    fail("expected an operand, found '" + result.name + "'");
  else if (peek() == "+" && isNumber(peek(1))) { // variable + 8
    ++at;
    result.bits = integer();
  }
  return result;
}

Module ptx::parse(const std::string &text) { return Parser(text).run(); }
