//===- Literal.cpp - Values from text -------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/ValueIO/Make.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace llvm;
using namespace loopc::io;

/// Lists deeper than this are refused, so that the parser's stack is bounded.
static constexpr size_t kMaxDepth = 64;

namespace {
/// What was read: a word (number, true, nan, ...), a string, or a list.
struct Node {
  enum Kind { Word, String, List } kind = Word;
  std::string text;
  std::vector<Node> items;
};

class Parser {
public:
  explicit Parser(StringRef text) : rest(text) {}

  Expected<Node> parse() {
    Expected<Node> node = parseNode(0);
    if (node && !rest.ltrim().empty())
      return makeError("there is more text behind the value: '" +
                       rest.ltrim().take_front(20) + "'");
    return node;
  }

private:
  Expected<Node> parseNode(size_t depth);
  Expected<Node> parseList(size_t depth);
  Expected<Node> parseString();

  StringRef rest;
};
} // namespace

Expected<Node> Parser::parseNode(size_t depth) {
  rest = rest.ltrim();
  if (rest.starts_with("["))
    return parseList(depth);
  if (rest.starts_with("\""))
    return parseString();
  StringRef word = rest.take_while(
      [](char c) { return isAlnum(c) || StringRef("+-._").contains(c); });
  if (word.empty())
    return makeError(rest.empty()
                         ? "a value is missing at the end"
                         : "expected a value at '" + rest.take_front(20) + "'");
  rest = rest.drop_front(word.size());
  return Node{Node::Word, word.str(), {}};
}

Expected<Node> Parser::parseList(size_t depth) {
  if (depth == kMaxDepth)
    return makeError("the lists are nested too deeply");
  rest = rest.drop_front();
  Node list{Node::List, "", {}};
  rest = rest.ltrim();
  if (rest.consume_front("]"))
    return list;
  while (true) {
    Expected<Node> item = parseNode(depth + 1);
    if (!item)
      return item;
    list.items.push_back(std::move(*item));
    rest = rest.ltrim();
    if (rest.consume_front("]"))
      return list;
    if (!rest.consume_front(","))
      return makeError("expected ',' or ']' " +
                       (rest.empty() ? Twine("at the end")
                                     : "at '" + rest.take_front(20) + "'"));
  }
}

Expected<Node> Parser::parseString() {
  // Up to the next quote that is not escaped; escapes are JSON's.
  size_t end = 1;
  while (end < rest.size() && rest[end] != '"')
    end += rest[end] == '\\' ? 2 : 1;
  if (end >= rest.size())
    return makeError("a string has no end");
  Expected<json::Value> value = json::parse(rest.take_front(end + 1));
  if (!value)
    return value.takeError();
  rest = rest.drop_front(end + 1);
  return Node{Node::String, value->getAsString()->str(), {}};
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// The shape of nested lists, which must be regular.
static Error findShape(const Node &node, size_t depth,
                       std::vector<int64_t> &shape) {
  if (node.kind != Node::List)
    return depth == shape.size() ? Error::success()
                                 : makeError("the lists differ in depth");
  auto extent = static_cast<int64_t>(node.items.size());
  if (depth == shape.size())
    return makeError("the lists differ in depth");
  if (shape[depth] != extent)
    return makeError("the lists differ in length: " + Twine(shape[depth]) +
                     " and " + Twine(extent));
  for (const Node &item : node.items)
    if (Error error = findShape(item, depth + 1, shape))
      return error;
  return Error::success();
}

static bool inRange(const APSInt &number, DLDataType dtype) {
  return dtype.code == kDLInt
             ? number.isSignedIntN(dtype.bits)
             : !number.isNegative() && number.getActiveBits() <= dtype.bits;
}

static Error setElement(const Node &node, HostValue &tensor, int64_t index) {
  auto misfit = [&] {
    return makeError("'" + node.text + "' is no " + dtypeName(tensor.dtype));
  };
  StringRef text = node.text;
  if (node.kind != Node::Word)
    return makeError("a tensor of " + dtypeName(tensor.dtype) +
                     " cannot hold the string \"" + text + "\"");
  if (tensor.dtype.code == kDLBool) {
    if (text != "true" && text != "false" && text != "0" && text != "1")
      return misfit();
    setInteger(tensor, index, text == "true" || text == "1");
    return Error::success();
  }
  if (isFloat(tensor.dtype)) {
    double number;
    // Denormal results are results, not errors, for the reader used here, and
    // so is the infinity of a number that overflows.
    if (text.getAsDouble(number, /*AllowInexact=*/true) ||
        (std::isinf(number) && !text.contains_insensitive("inf")) ||
        !setFloat(tensor, index, number))
      return misfit();
    return Error::success();
  }
  if (tensor.dtype.code != kDLInt && tensor.dtype.code != kDLUInt)
    return makeError("values of " + dtypeName(tensor.dtype) +
                     " cannot be given as text");
  APInt magnitude;
  bool negative = text.consume_front("-");
  if (!negative)
    text.consume_front("+");
  unsigned radix = text.consume_front("0x") ? 16 : 10;
  if (text.empty() || text.getAsInteger(radix, magnitude))
    return misfit();
  APSInt number(magnitude.zext(std::max(magnitude.getBitWidth(), 65u) + 1),
                /*isUnsigned=*/false);
  if (negative)
    number = -number;
  if (!inRange(number, tensor.dtype))
    return misfit();
  setInteger(tensor, index,
             static_cast<int64_t>(number.extractBitsAsZExtValue(64, 0)));
  return Error::success();
}

static Error fill(const Node &node, HostValue &value, int64_t &index) {
  if (node.kind == Node::List) {
    for (const Node &item : node.items)
      if (Error error = fill(item, value, index))
        return error;
    return Error::success();
  }
  int64_t at = index++;
  if (value.kind != LOOPC_STRINGS)
    return setElement(node, value, at);
  if (node.kind != Node::String)
    return makeError("strings are written in quotes, got " + node.text);
  value.strings[at] = node.text;
  return Error::success();
}

static Expected<HostValue> makeValue(const Node &node, const loopc_type &type) {
  if (type.kind == LOOPC_OPTIONAL && type.element) {
    HostValue value;
    value.kind = LOOPC_OPTIONAL;
    if (node.kind == Node::Word && node.text == "null")
      return value;
    Expected<HostValue> held = makeValue(node, *type.element);
    if (!held)
      return held;
    value.items.push_back(std::move(*held));
    return value;
  }
  if (type.kind == LOOPC_SEQUENCE && type.element) {
    if (node.kind != Node::List)
      return makeError("a sequence is written as a list");
    HostValue value;
    value.kind = LOOPC_SEQUENCE;
    for (const Node &itemNode : node.items) {
      Expected<HostValue> item = makeValue(itemNode, *type.element);
      if (!item)
        return item;
      value.items.push_back(std::move(*item));
    }
    return value;
  }
  std::vector<int64_t> shape;
  for (const Node *at = &node; at->kind == Node::List;) {
    shape.push_back(at->items.size());
    if (at->items.empty())
      break;
    at = &at->items.front();
  }
  if (Error error = findShape(node, 0, shape))
    return std::move(error);
  DLDataType dtype =
      type.kind == LOOPC_STRINGS ? DLDataType{0, 0, 1} : type.dtype;
  Expected<HostValue> value = makeTensor(dtype, shape);
  if (!value)
    return value;
  int64_t index = 0;
  if (Error error = fill(node, *value, index))
    return std::move(error);
  return value;
}

Expected<HostValue> loopc::io::parseLiteral(StringRef text,
                                            const loopc_type &type) {
  Expected<Node> node = Parser(text).parse();
  if (!node)
    return node.takeError();
  return makeValue(*node, type);
}
