//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/Messages.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

std::string loopc::escapeHoles(StringRef text) {
  std::string escaped = text.str();
  for (StringRef hole : {"{}", "{*}"})
    for (size_t at = 0; (at = escaped.find(hole, at)) != std::string::npos;
         ++at)
      escaped.insert(at + 1, " ");
  return escaped;
}

std::string loopc::escapeControls(StringRef text) {
  std::string escaped;
  for (char c : text) {
    bool isControl = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (!isControl || c == '\n' || c == '\t') {
      escaped += c;
      continue;
    }
    escaped += "\\x";
    escaped += hexdigit(c >> 4, /*LowerCase=*/true);
    escaped += hexdigit(c & 15, /*LowerCase=*/true);
  }
  return escaped;
}

std::string loopc::elideMiddle(StringRef text, size_t longest) {
  if (text.size() <= longest)
    return text.str();
  // UTF-8 is not cut within a character.
  auto isInside = [&](size_t at) { return (text[at] & 0xC0) == 0x80; };
  size_t head = longest / 2, tail = text.size() - longest / 4;
  while (head && isInside(head))
    --head;
  while (tail < text.size() && isInside(tail))
    ++tail;
  return (text.take_front(head) + " [...] " + text.drop_front(tail)).str();
}
