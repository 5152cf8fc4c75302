//===- Documentation.cpp - What is written about operations ---------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Documentation.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

/// What mlir-tblgen makes of the descriptions: a heading "### `loop.loop`
/// (...)" for each operation.
static constexpr StringLiteral kPages[] = {
#include "LoopOps.md.inc"
    ,
#include "ONNXOps.md.inc"
    ,
#include "DeviceOps.md.inc"
};

/// The part of an operation's section that people write: tables of operands and
/// lists of traits follow it.
static StringRef takeDescription(StringRef section) {
  size_t end = StringRef::npos;
  for (StringRef behind :
       {"\n#### ", "\nTraits: ", "\nInterfaces: ", "\nEffects: "})
    end = std::min(end, section.find(behind));
  return section.take_front(end).trim();
}

static StringMap<StringRef> readPages() {
  StringMap<StringRef> sections;
  for (StringRef page : kPages) {
    StringRef rest = page.split("\n### `").second;
    while (!rest.empty()) {
      auto [section, next] = rest.split("\n### `");
      auto [heading, body] = section.split('\n');
      sections[heading.split('`').first] = takeDescription(body);
      rest = next;
    }
  }
  return sections;
}

StringRef loopc::findDocumentation(StringRef operation) {
  static const StringMap<StringRef> sections = readPages();
  return sections.lookup(operation);
}
