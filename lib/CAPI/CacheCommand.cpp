//===- CacheCommand.cpp - The command loopc cache -------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cache.h"
#include "Interface.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>

using namespace loopc::capi;

static constexpr char kHelp[] =
    "OVERVIEW: shows and changes the cache of compiled models\n\n"
    "USAGE: loopc cache list|size|clear|warm [options] [model...]\n\n"
    "  list             Models in it, those used longest ago first\n"
    "  size             Bytes that it has, and may have\n"
    "  clear            Remove all of them\n"
    "  warm <model>...  Compile models, as sessions with the same options "
    "do\n\n"
    "OPTIONS:\n\n"
    "  --dir=<folder>   The cache (default: LOOPC_CACHE_DIR, else\n"
    "                   $XDG_CACHE_HOME/loopc, else ~/.cache/loopc)\n"
    "  -O<0..3>         warm: optimisation level (default: -O3)\n"
    "  --help           Show this\n\n"
    "LOOPC_CACHE_DIR=off turns the cache off. LOOPC_CACHE_SIZE is the most "
    "that\n"
    "it may have: bytes, or a number with K, M, G or T (default: 4G); what "
    "was\n"
    "used longest ago goes first.\n"
    "Exit status: 0 success, 1 a model cannot be compiled, 2 an option is "
    "wrong,\n"
    "3 a model cannot be read, or the cache cannot be used.\n";

static constexpr int kFailed = 1, kUsage = 2, kFile = 3;

static int refuse(const std::string &text) {
  std::fprintf(stderr, "loopc cache: error: LC0101: %s\n", text.c_str());
  return kUsage;
}

static void print(const loopc_diagnostics &diagnostics) {
  for (const loopc_diagnostics::Entry &entry : diagnostics.entries)
    std::fprintf(stderr, "%s\n", entry.text.c_str());
}

/// "12.3 MB".
static std::string formatSize(uint64_t bytes) {
  static constexpr const char *kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  auto number = static_cast<double>(bytes);
  size_t unit = 0;
  for (; number >= 1000 && unit + 1 < std::size(kUnits); ++unit)
    number /= 1000;
  char text[32];
  std::snprintf(text, sizeof(text), unit ? "%.1f %s" : "%.0f %s", number,
                kUnits[unit]);
  return text;
}

static int list(const Cache &cache) {
  for (const EntryRow &row : cache.list()) {
    time_t seconds = row.used / 1'000'000'000;
    char used[32] = "";
    tm local;
    if (localtime_r(&seconds, &local))
      std::strftime(used, sizeof(used), "%Y-%m-%d %H:%M:%S", &local);
    std::printf("%.12s  %9s  %s  %s\n", row.key.c_str(),
                formatSize(row.size).c_str(), used, row.name.c_str());
  }
  return 0;
}

static int warm(const std::vector<std::string> &models,
                const loopc_compile_options &options) {
  int code = models.empty() ? refuse("warm: there is no model") : 0;
  for (const std::string &model : models) {
    loopc_session session;
    loopc_diagnostics diagnostics;
    Source source;
    source.path = model;
    int status = createSession(source, options, session, diagnostics);
    // A model that cannot be compiled is what is worth telling most.
    if (status == LOOPC_COMPILE_ERROR_FILE && code == 0)
      code = kFile;
    else if (status != LOOPC_COMPILE_OK && status != LOOPC_COMPILE_ERROR_FILE)
      code = kFailed;
    print(diagnostics);
  }
  return code;
}

static int run(int argc, char **argv) {
  std::string command;
  std::vector<std::string> models;
  loopc_compile_options options;
  options.cache = "";
  options.tier = "off";
  for (int k = 1; k < argc; ++k) {
    std::string_view text = argv[k];
    if (text == "--help" || text == "-h") {
      std::fputs(kHelp, stdout);
      return 0;
    }
    if (text.starts_with("--dir="))
      options.cache = text.substr(std::strlen("--dir="));
    else if (text.size() == 3 && text.starts_with("-O") && text[2] >= '0' &&
             text[2] <= '3')
      options.optLevel = text[2] - '0';
    else if (text.size() > 1 && text.starts_with("-"))
      return refuse("there is no option '" + std::string(text) + "'");
    else if (command.empty())
      command = text;
    else
      models.emplace_back(text);
  }
  bool isKnown = command == "list" || command == "size" || command == "clear" ||
                 command == "warm";
  if (!isKnown)
    return refuse(command.empty() ? "list, size, clear or warm is missing"
                                  : "there is no command '" + command +
                                        "': it is list, size, clear or warm");
  if (command != "warm" && !models.empty())
    return refuse(command + " takes no model");
  loopc_diagnostics diagnostics;
  std::optional<Cache> cache = Cache::open(options.cache, diagnostics);
  print(diagnostics);
  if (!cache) {
    if (diagnostics.entries.empty())
      std::fputs("loopc cache: the cache is off\n", stderr);
    return kFile;
  }
  if (command == "list")
    return list(*cache);
  if (command == "warm")
    return warm(models, options);
  if (command == "size") {
    std::printf("%s of %s in %s\n", formatSize(cache->getSize()).c_str(),
                formatSize(Cache::getLimit()).c_str(),
                cache->getFolder().c_str());
    return 0;
  }
  std::printf("removed %zu\n", cache->shrink(0));
  WorkFolder::removeAbandoned(cache->getFolder());
  return 0;
}

extern "C" int loopc_cache_command(int argc, char **argv) {
  try {
    int code = run(argc, argv);
    if (!std::fflush(stdout) && !std::ferror(stdout))
      return code;
    std::fprintf(stderr, "loopc cache: error: LC0103: cannot write '-': %s\n",
                 std::strerror(errno));
    return code ? code : kFile;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "loopc cache: error: LC0100: %s\n", error.what());
    return kFailed;
  }
}
