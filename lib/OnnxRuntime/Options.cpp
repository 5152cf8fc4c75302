//===- Options.cpp - Options of the execution provider --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include <charconv>

using namespace loopc::ort;

namespace {

/// One option: what it is called, and what sets it from a text. \returns an
/// empty text, or what it can be.
struct Row {
  std::string_view name;
  std::string (*set)(Options &options, std::string_view value);
};

} // namespace

/// Reads a number from `least` to `most`, all of `text`.
template <typename T>
static bool parse(std::string_view text, T least, T most, T &result) {
  T value;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  // Written so that NaN is refused.
  if (error != std::errc() || end != text.data() + text.size() ||
      !(value >= least && value <= most))
    return false;
  result = value;
  return true;
}

static std::string setSeconds(double &seconds, std::string_view value) {
  return parse(value, 0.0, 1e9, seconds) ? "" : "a number of seconds, or 0";
}

static constexpr Row kRows[] = {
    {"cache_dir",
     [](Options &options, std::string_view value) -> std::string {
       options.cache = value;
       return "";
     }},
    {"claim",
     [](Options &options, std::string_view value) -> std::string {
       if (value == "loops")
         options.claim = Claim::Loops;
       else if (value == "regions")
         options.claim = Claim::Regions;
       else if (value == "all")
         options.claim = Claim::All;
       else
         return "loops, regions or all";
       return "";
     }},
    {"compile_timeout",
     [](Options &options, std::string_view value) {
       return setSeconds(options.compileTimeout, value);
     }},
    {"constant_limit",
     [](Options &options, std::string_view value) -> std::string {
       return parse(value, size_t(0), kMaxModelBytes, options.constantLimit)
                  ? ""
                  : "a number of bytes up to 2147483647";
     }},
    {"cpu",
     [](Options &options, std::string_view value) -> std::string {
       options.cpu = value;
       return "";
     }},
    {"features",
     [](Options &options, std::string_view value) -> std::string {
       options.features = value;
       return "";
     }},
    {"fp_contract",
     [](Options &options, std::string_view value) -> std::string {
       options.fpContract = value == "1";
       return value == "0" || value == "1" ? "" : "0 or 1";
     }},
    {"intra_op_num_threads",
     [](Options &options, std::string_view value) -> std::string {
       return parse(value, 0, 1024, options.numThreads) ? "" : "0 to 1024";
     }},
    {"memory_limit",
     [](Options &options, std::string_view value) -> std::string {
       return parse(value, uint64_t(0), UINT64_MAX, options.memoryLimit)
                  ? ""
                  : "a number of bytes, or 0";
     }},
    {"opt_level",
     [](Options &options, std::string_view value) -> std::string {
       return parse(value, 0, 3, options.optLevel) ? "" : "0 to 3";
     }},
    {"tier",
     [](Options &options, std::string_view value) -> std::string {
       options.tier = value;
       return value == "auto" || value == "off" || value == "background" ||
                      value == "quick"
                  ? ""
                  : "auto, off, background or quick";
     }},
    {"timeout",
     [](Options &options, std::string_view value) {
       return setSeconds(options.timeout, value);
     }},
};

static void setOption(Options &options, std::string_view name,
                      std::string_view value) {
  std::string names;
  for (const Row &row : kRows) {
    if (row.name == name) {
      if (std::string expected = row.set(options, value); !expected.empty())
        throw Error(kInvalidArgument, "option '" + std::string(name) + "' of " +
                                          kProviderName + " is '" +
                                          std::string(value) + "', expected " +
                                          expected);
      return;
    }
    names.append(names.empty() ? "" : ", ").append(row.name);
  }
  throw Error(kInvalidArgument, std::string(kProviderName) +
                                    " has no option '" + std::string(name) +
                                    "': it has " + names);
}

void Options::check(std::string_view name, std::string_view value) {
  Options options;
  setOption(options, name, value);
}

Options Options::read(const Api &api, const OrtSessionOptions *session) {
  Options options;
  auto entries = own(
      get<OrtKeyValuePairs *>(api, api.GetSessionOptionsConfigEntries, session),
      api.ReleaseKeyValuePairs);
  const char *const *keys = nullptr;
  const char *const *values = nullptr;
  size_t count = 0;
  api.GetKeyValuePairs(entries.get(), &keys, &values, &count);
  for (size_t i = 0; i < count; ++i) {
    std::string_view key = keys[i];
    if (key.starts_with(kOptionPrefix))
      setOption(options, key.substr(sizeof(kOptionPrefix) - 1), values[i]);
    else if (key == "session.intra_op.allow_spinning")
      options.borrowsThreads = values[i] != std::string_view("0");
    else if (key == "ep.context_enable")
      options.makesContext = values[i] == std::string_view("1");
    else if (key == "ep.context_embed_mode")
      options.embedsContext = values[i] == std::string_view("1");
    else if (key == "ep.context_file_path")
      options.contextFile = values[i];
  }
  return options;
}
