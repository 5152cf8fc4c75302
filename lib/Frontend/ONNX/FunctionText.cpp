//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionText.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace {
/// What stands between two operands; a higher level binds closer.
struct BinaryOperator {
  StringLiteral token, node;
  int level;
};

constexpr BinaryOperator kBinaryOperators[] = {
    {"|", "Or", 0},           {"&", "And", 1},
    {"<=", "LessOrEqual", 2}, {">=", "GreaterOrEqual", 2},
    {"==", "Equal", 2},       {"<", "Less", 2},
    {">", "Greater", 2},      {"+", "Add", 3},
    {"-", "Sub", 3},          {"*", "Mul", 4},
    {"/", "Div", 4},
};

/// Casts are calls of a type: what onnx.proto's DataType has for it.
constexpr std::pair<StringLiteral, int> kCasts[] = {
    {"float", 1}, {"uint8", 2},   {"int32", 6},   {"int64", 7},
    {"bool", 9},  {"double", 11}, {"uint32", 12},
};

/// Reads statements, and writes each node on a line of its own.
class Expander {
public:
  explicit Expander(StringRef text) : rest(text) {}

  std::string run() {
    expandStatements();
    // What could not be read.
    return nodes + rest.str();
  }

private:
  /// A value: one that has a name, or the call of a node that has none yet.
  struct Term {
    std::string text;
    bool isName = false;
  };
  using Constants = StringMap<std::string>;

  bool consume(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  /// Takes what `isPart` is true for.
  StringRef take(function_ref<bool(char)> isPart) {
    StringRef part = rest.take_while(isPart);
    rest = rest.drop_front(part.size());
    return part;
  }
  StringRef takeName() {
    rest = rest.ltrim();
    return take([](char c) { return isAlnum(c) || c == '_' || c == '.'; });
  }

  void expandStatements();
  bool expandStatement();
  bool readTerm(Term &term, int level = 0);
  bool readOperand(Term &term);
  bool readLiteral(Term &term);
  bool readAttributes(std::string &text);
  bool readGraph(std::string &text);
  std::string nameOf(const Term &term);

  StringRef rest;
  /// The nodes of the graph that is being read.
  std::string nodes;
  /// The names of constants in it, and in those around it.
  SmallVector<Constants> scopes;
  unsigned numTemporaries = 0;
};
} // namespace

/// The name of the term, whose node is written where there is none. A constant
/// is written once.
std::string Expander::nameOf(const Term &term) {
  if (term.isName)
    return term.text;
  bool isConstant = StringRef(term.text).starts_with("Constant<");
  for (const Constants &constants : scopes)
    if (auto found = constants.find(term.text); found != constants.end())
      return found->second;
  std::string name = formatv("_{0}", numTemporaries++);
  nodes += formatv("{0} = {1}\n", name, term.text);
  if (isConstant)
    scopes.back()[term.text] = name;
  return name;
}

bool Expander::readLiteral(Term &term) {
  bool isList = consume("[");
  StringRef number =
      isList ? rest.take_until([](char c) { return c == ']'; })
             : rest.take_while([](char c) {
                 return isAlnum(c) || c == '.' || c == '-' || c == '+';
               });
  rest = rest.drop_front(number.size());
  if (isList && !consume("]"))
    return false;
  bool isFloat = number.find_first_of(".e") != StringRef::npos;
  term.text =
      formatv("Constant<value_{0}{1} = {2}{3}{4}>()", isFloat ? "float" : "int",
              isList ? "s" : "", isList ? "[" : "", number, isList ? "]" : "");
  return true;
}

/// A graph behind its signature: statements up to its end.
bool Expander::readGraph(std::string &text) {
  std::string outer;
  std::swap(outer, nodes);
  expandStatements();
  std::swap(outer, nodes);
  text += "{\n" + outer + "}";
  return consume("}");
}

/// The attributes of a call, behind their <.
bool Expander::readAttributes(std::string &text) {
  int depth = 0;
  text = "<";
  while (!rest.empty()) {
    if (rest.starts_with("{") && StringRef(text).rtrim().ends_with(")")) {
      rest = rest.drop_front();
      if (!readGraph(text))
        return false;
      continue;
    }
    size_t size = 1;
    if (rest.starts_with("\""))
      size = rest.find('"', 1) + 1;
    else if (rest.starts_with("=>"))
      size = 2;
    if (size == 0)
      return false;
    StringRef token = rest.take_front(size);
    rest = rest.drop_front(size);
    text += token;
    depth += token == "{" ? 1 : token == "}" ? -1 : 0;
    if (token == ">" && depth == 0)
      return true;
  }
  return false;
}

bool Expander::readOperand(Term &term) {
  if (consume("("))
    return readTerm(term) && consume(")");
  rest = rest.ltrim();
  if (rest.starts_with("[") || rest.starts_with("-") ||
      (!rest.empty() && isDigit(rest.front())))
    return readLiteral(term);
  if (rest.consume_front("@")) {
    term.text =
        formatv("Constant<value_float: float = @{0}>()", takeName()).str();
    return true;
  }
  term = {takeName().str(), /*isName=*/true};
  std::string attributes;
  if (rest.consume_front("<") && !readAttributes(attributes))
    return false;
  if (!consume("("))
    return !term.text.empty() && attributes.empty();
  std::string arguments;
  while (!consume(")")) {
    if (!arguments.empty() || rest.starts_with(",")) {
      if (!consume(","))
        return false;
      arguments += ", ";
    }
    rest = rest.ltrim();
    Term argument;
    if (rest.starts_with(",") || rest.starts_with(")"))
      continue;
    if (!readTerm(argument))
      return false;
    arguments += nameOf(argument);
  }
  // They may stand behind, too.
  if (attributes.empty() && rest.consume_front("<") &&
      !readAttributes(attributes))
    return false;
  for (auto [type, number] : kCasts)
    if (term.text == type)
      term.text = formatv("Cast<to = {0}>", number);
  term = {formatv("{0}{1}({2})", term.text, attributes, arguments),
          /*isName=*/false};
  return true;
}

/// Operands with operators of `level` or above between them.
bool Expander::readTerm(Term &term, int level) {
  if (!readOperand(term))
    return false;
  while (true) {
    rest = rest.ltrim();
    const BinaryOperator *found =
        find_if(kBinaryOperators, [&](const BinaryOperator &op) {
          return op.level >= level && rest.starts_with(op.token);
        });
    if (found == std::end(kBinaryOperators))
      return true;
    rest = rest.drop_front(found->token.size());
    std::string left = nameOf(term);
    Term right;
    if (!readTerm(right, found->level + 1))
      return false;
    term = {formatv("{0}({1}, {2})", found->node, left, nameOf(right)),
            /*isName=*/false};
  }
}

bool Expander::expandStatement() {
  std::string outputs;
  // A node's name, as ONNX's own text has it.
  if (consume("[")) {
    outputs = "[" + takeName().str() + "] ";
    if (!consume("]"))
      return false;
  }
  bool isFirst = true;
  do {
    outputs += (isFirst ? "" : ", ") + takeName().str();
    isFirst = false;
  } while (consume(","));
  Term term;
  if (!consume("=") || !readTerm(term))
    return false;
  nodes += formatv(term.isName ? "{0} = Identity({1})\n" : "{0} = {1}\n",
                   outputs, term.text);
  return true;
}

/// Statements up to the end of the graph, or to what cannot be read.
void Expander::expandStatements() {
  scopes.emplace_back();
  while (true) {
    rest = rest.ltrim();
    StringRef before = rest;
    if (rest.empty() || rest.starts_with("}"))
      break;
    if (!expandStatement()) {
      rest = before;
      break;
    }
  }
  scopes.pop_back();
}

std::string loopc::importer::expandExpressions(StringRef body) {
  return Expander(body).run();
}
