//===- OptionParser.cpp - LLVM's command lines, in one line of error ------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/OptionParser.h"

#include "loopc/Support/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;

std::string loopc::joinNames(ArrayRef<StringRef> names) {
  std::string text;
  for (auto [k, name] : llvm::enumerate(names)) {
    text += k == 0 ? "" : k + 1 == names.size() ? " or " : ", ";
    text += name;
  }
  return text;
}

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
    release();
    if (file >= 0)
      close(file);
  }

  /// Gives standard error back.
  void release() {
    if (saved < 0)
      return;
    errs().flush();
    dup2(saved, STDERR_FILENO);
    close(saved);
    saved = -1;
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

/// While LLVM's parser runs, which ends the program once it has written the
/// help: what it captures, and the tool's name.
static ErrorCapture *capturing = nullptr;
static std::string toolName;

/// Says that the help could not be written. LLVM would, to a standard error
/// that is captured, when it destroys its stream.
static void finishHelp() {
  if (!capturing)
    return;
  outs().flush();
  std::error_code error = outs().error();
  if (!error)
    return;
  capturing->release();
  errs() << toolName << ": error: " << loopc::getCode(loopc::Diag::CannotWrite)
         << ": cannot write '-': " << error.message() << '\n';
  std::_Exit(3);
}

/// "expected a whole number of at least 0, got '-1'" for "'-1' value invalid
/// for ulong argument!", LLVM's names being those of C++'s types.
static std::string describeNumber(StringRef problem) {
  static constexpr std::pair<StringLiteral, StringLiteral> kNumbers[] = {
      {"uint", "a whole number from 0 to 2^32 - 1"},
      {"ulong", "a whole number from 0 to 2^64 - 1"},
      {"ullong", "a whole number from 0 to 2^64 - 1"},
      {"integer", "a whole number of 32 bits"},
      {"long", "a whole number of 64 bits"},
      {"llong", "a whole number of 64 bits"},
      {"floating point", "a number"}};
  auto [value, kind] = problem.split(" value invalid for ");
  if (kind.consume_back(" argument!"))
    for (auto [name, expected] : kNumbers)
      if (kind == name)
        return ("expected " + expected + ", got " + value).str();
  return problem == "requires a value!" ? "a value is missing" : problem.str();
}

/// "there is no 'x': it is a, b or c" for "Cannot find option named 'x'!".
static std::string describeChoice(StringRef option, StringRef problem,
                                  ArrayRef<loopc::OptionChoices> choices) {
  StringRef value = problem;
  if (!value.consume_front("Cannot find option named '") ||
      !value.consume_back("'!"))
    return describeNumber(problem);
  for (const loopc::OptionChoices &choice : choices) {
    if (choice.option != option.ltrim('-'))
      continue;
    SmallVector<StringRef> names;
    for (unsigned k = 0; k < choice.parser->getNumOptions(); ++k)
      names.push_back(choice.parser->getOption(k));
    return ("there is no '" + value + "': it is ").str() +
           loopc::joinNames(names);
  }
  return problem.str();
}

/// "--bench: 'x' is wrong" for "loopc-run: for the --bench option: 'x' is
/// wrong".
static std::string tidied(StringRef line, StringRef tool,
                          ArrayRef<loopc::OptionChoices> choices) {
  line = line.trim();
  line.consume_front((tool + ": ").str());
  StringRef rest = line;
  if (rest.consume_front("for the ")) {
    auto [option, problem] = rest.split(" option: ");
    if (!problem.empty())
      return (option + ": " + describeChoice(option, problem, choices)).str();
  }
  return line.str();
}

/// LLVM's parser counts the arguments that are no options.
static bool isAboutFiles(StringRef line) {
  return line.contains("ositional command line arguments specified") ||
         line.contains("ositional arguments specified") ||
         line.starts_with("Must specify at least") ||
         line.starts_with("Can specify at most");
}

static std::string describeFiles(StringRef line) {
  if (line.starts_with("Not enough positional"))
    return "no file is given;";
  if (line.starts_with("Too many positional"))
    return "more than one file is given;";
  if (isAboutFiles(line))
    return ("see " + line.rsplit("See: ").second).str();
  return line.str();
}

void loopc::ungroupHelp(MutableArrayRef<char *> args) {
  static char help[] = "--help";
  // LLVM's own, a default one, stays away where the name is taken.
  static cl::opt<bool> taken("h", cl::desc("Alias for --help"), cl::Hidden);
  for (char *&arg : args)
    if (StringRef(arg) == "-h")
      arg = help;
}

std::optional<std::string>
loopc::parseOptions(int argc, const char *const *argv, StringRef overview,
                    ArrayRef<OptionChoices> choices) {
  std::string text;
  raw_string_ostream problems(text);
  toolName = sys::path::filename(argv[0]).str();
  SmallVector<char *> args;
  for (const char *arg : ArrayRef(argv, argc))
    args.push_back(const_cast<char *>(arg));
  ungroupHelp(args);
  {
    // The stream is made first, and so destroyed after this has run.
    (void)outs();
    std::atexit(finishHelp);
    ErrorCapture capture;
    capturing = &capture;
    bool isParsed =
        cl::ParseCommandLineOptions(argc, args.data(), overview, &problems);
    capturing = nullptr;
    if (isParsed)
      return std::nullopt;
    text += capture.get();
  }
  SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  // The value of an option that there is not is taken for one more file.
  bool isUnknown = llvm::any_of(lines, [](StringRef line) {
    return line.contains("Unknown command line argument");
  });
  // LLVM also tries its letters as options of their own.
  SmallVector<std::string> parts;
  for (StringRef line : lines)
    if (std::string part = tidied(line, toolName, choices);
        !isUnknown || (!isAboutFiles(part) &&
                       !StringRef(part).contains("occur within a group")))
      parts.push_back(describeFiles(part));
  return parts.empty() ? "cannot be parsed" : join(parts, " ");
}
