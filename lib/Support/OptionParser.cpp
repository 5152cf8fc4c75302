//===- OptionParser.cpp - LLVM's command lines, in one line of error ------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/OptionParser.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;

namespace {
/// Keeps what is written to standard error while it lives. LLVM's options print
/// there themselves, whatever stream its parser is given.
class ErrorCapture {
public:
  ErrorCapture() : file(memfd_create("errors", MFD_CLOEXEC)) {
    if (file < 0)
      return;
    errs().flush();
    saved = dup(STDERR_FILENO);
    if (saved >= 0)
      dup2(file, STDERR_FILENO);
  }
  ErrorCapture(const ErrorCapture &) = delete;
  ErrorCapture &operator=(const ErrorCapture &) = delete;
  ~ErrorCapture() {
    if (saved >= 0) {
      errs().flush();
      dup2(saved, STDERR_FILENO);
      close(saved);
    }
    if (file >= 0)
      close(file);
  }

  std::string get() {
    errs().flush();
    std::string text;
    char buffer[4096];
    for (ssize_t count, at = 0;
         (count = pread(file, buffer, sizeof buffer, at)) > 0; at += count)
      text.append(buffer, count);
    return text;
  }

private:
  int file, saved = -1;
};
} // namespace

/// "--bench: 'x' value invalid" for "loopc-run: for the --bench option: 'x'
/// value invalid".
static std::string tidied(StringRef line, StringRef tool) {
  line = line.trim();
  line.consume_front((tool + ": ").str());
  StringRef rest = line;
  if (rest.consume_front("for the ")) {
    auto [option, problem] = rest.split(" option: ");
    if (!problem.empty())
      return (option + ": " + problem).str();
  }
  return line.str();
}

std::optional<std::string>
loopc::parseOptions(int argc, const char *const *argv, StringRef overview) {
  std::string text;
  raw_string_ostream problems(text);
  {
    ErrorCapture capture;
    if (cl::ParseCommandLineOptions(argc, argv, overview, &problems))
      return std::nullopt;
    text += capture.get();
  }
  SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  SmallVector<std::string> parts;
  for (StringRef line : lines)
    parts.push_back(tidied(line, sys::path::filename(argv[0])));
  return parts.empty() ? "cannot be parsed" : join(parts, " ");
}
