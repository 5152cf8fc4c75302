//===- HoverFilter.cpp - Documentation for what hovering shows ------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HoverFilter.h"
#include "Documentation.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>
#include <unistd.h>

using namespace llvm;

std::string loopc::addDocumentation(std::string message) {
  Expected<json::Value> parsed = json::parse(message);
  if (!parsed) {
    consumeError(parsed.takeError());
    return message;
  }
  json::Object *object = parsed->getAsObject();
  json::Object *result = object ? object->getObject("result") : nullptr;
  json::Object *contents = result ? result->getObject("contents") : nullptr;
  std::optional<StringRef> text =
      contents ? contents->getString("value") : std::nullopt;
  // An operation: its name in quotes, then a blank line.
  if (!text || !text->starts_with("\""))
    return message;
  auto [head, rest] = text->split("\n\n");
  StringRef found = findDocumentation(head.drop_front().split('"').first);
  if (found.empty())
    return message;
  (*contents)["value"] = (head + "\n\n" + found + "\n\n" + rest).str();
  // As it came: on one line, or on many with -lit-test and -pretty.
  bool isPretty = StringRef(message).trim().contains('\n');
  return isPretty ? formatv("{0:2}\n", *parsed).str()
                  : formatv("{0}", *parsed).str();
}

/// Values within values of a message; LLVM's parser takes stack for each.
static constexpr unsigned kMaxNested = 1000;

std::string loopc::refuseDeeplyNested(std::string message) {
  unsigned depth = 0;
  bool isText = false;
  for (size_t k = 0; k < message.size(); ++k) {
    char c = message[k];
    if (isText && c == '\\')
      ++k;
    else if (c == '"')
      isText = !isText;
    else if (!isText && (c == '[' || c == '{') && ++depth > kMaxNested)
      return "nested too deeply";
    else if (!isText && (c == ']' || c == '}') && depth > 0)
      --depth;
  }
  return message;
}

/// Copies messages, each behind its length and as `change` makes them, until
/// there are no more; what is no message (the text of --help) goes on as it
/// comes.
static void copyMessages(FILE *in, FILE *out,
                         function_ref<std::string(std::string)> change) {
  char line[256];
  std::optional<size_t> length;
  while (fgets(line, sizeof(line), in)) {
    StringRef header(line);
    size_t number = 0;
    if (header.consume_front("Content-Length: ") &&
        !header.consumeInteger(10, number)) {
      length = number;
    } else if (length && header.trim().empty()) {
      std::string message(*length, '\0');
      message.resize(fread(message.data(), 1, message.size(), in));
      message = change(std::move(message));
      fprintf(out, "Content-Length: %zu\r\n\r\n", message.size());
      fwrite(message.data(), 1, message.size(), out);
      length.reset();
    } else {
      fputs(line, out);
    }
    fflush(out);
  }
}

/// Copies what is written to standard output, until finish().
static std::thread copier;

/// Ends the output, the last end of the pipe, and waits until it is copied.
static void finish() {
  if (!copier.joinable())
    return;
  outs().flush();
  fflush(stdout);
  close(STDOUT_FILENO);
  copier.join();
}

/// Lets the server read what comes without what is nested too deeply. Whoever
/// copies may wait for the editor when the server ends.
static void filterInput() {
  int ends[2];
  int editor = dup(STDIN_FILENO);
  FILE *in = editor < 0 ? nullptr : fdopen(editor, "r");
  if (!in || pipe(ends) != 0)
    return;
  FILE *out = fdopen(ends[1], "w");
  dup2(ends[0], STDIN_FILENO);
  close(ends[0]);
  std::thread([in, out] {
    copyMessages(in, out, loopc::refuseDeeplyNested);
    fclose(out);
  }).detach();
}

int loopc::serveWithDocumentation(function_ref<int()> serve) {
  filterInput();
  // Made before finish() is registered, and so destroyed behind it.
  outs().flush();
  int ends[2];
  int editor = dup(STDOUT_FILENO);
  FILE *out = editor < 0 ? nullptr : fdopen(editor, "w");
  if (!out || pipe(ends) != 0)
    return serve();
  FILE *in = fdopen(ends[0], "r");
  dup2(ends[1], STDOUT_FILENO);
  close(ends[1]);
  copier = std::thread([in, out] {
    copyMessages(in, out, addDocumentation);
    fclose(in);
    fclose(out);
  });
  // --help and --version end the program where they are read.
  std::atexit(finish);
  int status = serve();
  finish();
  return status;
}
