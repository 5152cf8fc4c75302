//===- Said.cpp - Diagnostics beside those of the compiler ----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Impl.h"

static void add(loopc_diagnostics &diagnostics, int32_t severity,
                const char *kind, std::string_view code,
                std::string_view message) {
  std::string text = kind;
  text.append(": ").append(code).append(": ").append(message);
  diagnostics.entries.push_back(
      {severity, std::string(code), "", std::string(message), std::move(text)});
}

void loopc_diagnostics::addError(std::string_view code,
                                 std::string_view message) {
  add(*this, LOOPC_SEVERITY_ERROR, "error", code, message);
}

void loopc_diagnostics::addWarning(std::string_view code,
                                   std::string_view message) {
  add(*this, LOOPC_SEVERITY_WARNING, "warning", code, message);
}

void loopc::capi::renameModel(std::vector<loopc_diagnostics::Entry> &entries,
                              std::string_view from, std::string_view to) {
  for (loopc_diagnostics::Entry &entry : entries)
    for (std::string *text : {&entry.location, &entry.text})
      if (!from.empty() && text->starts_with(from) &&
          (text->size() == from.size() || (*text)[from.size()] == ':'))
        text->replace(0, from.size(), to);
}
