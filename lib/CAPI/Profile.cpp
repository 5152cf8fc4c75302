//===- Profile.cpp - Profiles of runs as a table and a trace --------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The trace has the form that Chrome, Perfetto and the tools for onnxruntime's
// profiles read: an array of complete events ("ph": "X"), in microseconds.

#include "loopc-c/loopc.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <fcntl.h>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <vector>

/// Events that a profile keeps, of all runs: some 40 bytes each.
static constexpr size_t kMaxEvents = 1 << 17;

namespace {
/// A part of all runs of its name and loop.
struct Part {
  std::string name;
  int32_t loop = -1;
  bool isLoop = false;
  double seconds = 0, calls = 0, iterations = 0;
};

struct Event {
  int32_t part; ///< -1: a whole run
  int32_t thread;
  int64_t iteration, begin, nanoseconds;
};
} // namespace

struct loopc_profile {
  mutable std::mutex mutex;
  std::string model;
  std::vector<Part> parts;
  std::map<std::tuple<int32_t, bool, std::string>, int32_t> numbers;
  /// What the parts of the run that was added last are here, and its key: most
  /// runs are of one model.
  std::vector<int32_t> lastParts;
  uint64_t lastKey = 0;
  std::vector<Event> events;
  uint64_t numRuns = 0, numDropped = 0;
  double seconds = 0;
  std::string table;

  int32_t findPart(const loopc_profile_part &given, int32_t loop);
  void findParts(const loopc_run_profile &run);
  void add(const loopc_run_profile &run);
  void write(std::FILE *file) const;
  std::string makeTable() const;
};

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

int32_t loopc_profile::findPart(const loopc_profile_part &given, int32_t loop) {
  auto [it, isNew] = numbers.try_emplace({loop, given.is_loop != 0, given.name},
                                         static_cast<int32_t>(parts.size()));
  if (isNew)
    parts.push_back({given.name, loop, given.is_loop != 0});
  return it->second;
}

/// The key, which runtimes of earlier versions do not report.
static uint64_t getKey(const loopc_run_profile &run) {
  return run.size >= sizeof(loopc_run_profile) ? run.key : 0;
}

void loopc_profile::findParts(const loopc_run_profile &run) {
  uint64_t key = getKey(run);
  if (key && key == lastKey && run.num_parts == lastParts.size())
    return;
  lastKey = 0;
  lastParts.resize(run.num_parts);
  // Loops come before what is in them.
  for (size_t k = 0; k < run.num_parts; ++k) {
    int32_t loop = run.parts[k].loop;
    lastParts[k] = findPart(run.parts[k], loop < 0 ? -1 : lastParts[loop]);
  }
  lastKey = key;
}

void loopc_profile::add(const loopc_run_profile &run) {
  std::lock_guard lock(mutex);
  model = run.model ? run.model : "";
  ++numRuns;
  seconds += static_cast<double>(run.nanoseconds) * 1e-9;
  numDropped += run.num_dropped;
  findParts(run);
  for (size_t k = 0; k < run.num_parts; ++k) {
    const loopc_profile_part &given = run.parts[k];
    Part &part = parts[lastParts[k]];
    part.seconds += given.seconds;
    part.calls += given.calls;
    part.iterations += given.iterations;
  }
  size_t room = kMaxEvents - std::min(kMaxEvents, events.size());
  size_t taken = std::min(room, run.num_events + 1);
  numDropped += run.num_events + 1 - taken;
  if (taken == 0)
    return;
  // Asking the kernel takes as long as a small part, and so would copying the
  // events now and then, divided among the runs.
  static thread_local const int32_t thread = gettid();
  events.reserve(kMaxEvents);
  events.push_back({-1, thread, -1, run.begin, run.nanoseconds});
  for (size_t k = 0; k + 1 < taken; ++k) {
    const loopc_profile_event &event = run.events[k];
    events.push_back({lastParts[event.part], thread, event.iteration,
                      event.begin, event.nanoseconds});
  }
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

__attribute__((format(printf, 2, 3))) static void
append(std::string &text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char line[128];
  std::vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  text += line;
}

static double divide(double a, double b) { return b > 0 ? a / b : 0; }

std::string loopc_profile::makeTable() const {
  std::string text;
  append(text, "profile: %" PRIu64 " run%s of ", numRuns,
         numRuns == 1 ? "" : "s");
  text += model;
  append(text, ", %.3f ms each\n",
         1e3 * divide(seconds, static_cast<double>(numRuns)));
  // What a loop takes beside what is in it.
  std::vector<double> own(parts.size());
  double outside = seconds;
  for (size_t k = 0; k < parts.size(); ++k) {
    own[k] += parts[k].seconds;
    (parts[k].loop < 0 ? outside : own[parts[k].loop]) -= parts[k].seconds;
  }
  std::vector<size_t> order(parts.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return own[a] != own[b] ? own[a] > own[b] : a < b;
  });
  auto share = [&](double part) { return 100 * divide(part, seconds); };
  text += "     %   total ms       calls    mean us  node\n";
  for (size_t k : order) {
    const Part &part = parts[k];
    double time = std::max(own[k], 0.0);
    double count = part.isLoop ? part.iterations : part.calls;
    append(text, "%6.1f %10.3f %11.0f %10.3f  ", share(time), 1e3 * time, count,
           1e6 * divide(time, count));
    // Before the loop, and in it, the same node may have done something.
    bool isInOwnLoop = part.loop >= 0 && parts[part.loop].name == part.name;
    text += part.name + (part.isLoop   ? ": the loop itself\n"
                         : isInOwnLoop ? ": in its iterations\n"
                                       : "\n");
  }
  append(text, "%6.1f %10.3f %11s %10s  between nodes\n",
         share(std::max(outside, 0.0)), 1e3 * std::max(outside, 0.0), "", "");
  bool isFirst = true;
  for (const Part &part : parts) {
    if (!part.isLoop)
      continue;
    if (isFirst)
      text += "     %   total ms  iterations    mean us  loop with all in it\n";
    isFirst = false;
    append(text, "%6.1f %10.3f %11.0f %10.3f  ", share(part.seconds),
           1e3 * part.seconds, part.iterations,
           1e6 * divide(part.seconds, part.iterations));
    text += part.name + "\n";
  }
  return text;
}

//===----------------------------------------------------------------------===//
// The trace
//===----------------------------------------------------------------------===//

static std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      append(quoted, "\\u%04x", c);
    else
      quoted += c;
  }
  return quoted + '"';
}

namespace {
/// What the last part of a path says: "main/#3 Gather 'pick' (opset 17)".
struct Node {
  std::string name; ///< "pick"; without a name "Gather_3", or the path
  std::string op;   ///< "Gather"; empty where the path is no node's
};
} // namespace

/// Where the last component begins; names may have slashes in them.
static size_t findLast(std::string_view path) {
  size_t begin = 0;
  bool isQuoted = false;
  for (size_t k = 0; k < path.size(); ++k) {
    isQuoted ^= path[k] == '\'';
    if (path[k] == '/' && !isQuoted)
      begin = k + 1;
  }
  return begin;
}

static Node readNode(const std::string &path) {
  std::string_view last = std::string_view(path).substr(findLast(path));
  std::string number;
  if (last.starts_with('#')) {
    size_t space = last.find(' ');
    number = last.substr(1, space - 1);
    last.remove_prefix(space == std::string_view::npos ? last.size()
                                                       : space + 1);
  }
  size_t end = std::min(last.find(' '), last.size());
  std::string op(last.substr(0, end));
  size_t first = last.find('\''), second = last.rfind('\'');
  bool isNamed = first != std::string_view::npos && second > first;
  if (!isNamed && number.empty())
    return {path, ""};
  if (isNamed)
    return {std::string(last.substr(first + 1, second - first - 1)), op};
  return {op + "_" + number, op};
}

/// Events of one kind are written in the words that onnxruntime has for it.
static void writeEvent(std::FILE *file, const Event &event,
                       const std::string &category, const std::string &name,
                       const std::string &arguments) {
  // Microseconds by their integers: a program's locale may have a comma.
  std::fprintf(
      file,
      ",\n{\"cat\":\"%s\",\"pid\":%d,\"tid\":%" PRId32 ",\"dur\":%" PRId64
      ".%03d,\"ts\":%" PRId64 ".%03d,\"ph\":\"X\",\"name\":%s,\"args\":{%s}}",
      category.c_str(), static_cast<int>(getpid()), event.thread,
      event.nanoseconds / 1000, static_cast<int>(event.nanoseconds % 1000),
      event.begin / 1000, static_cast<int>(event.begin % 1000),
      quote(name).c_str(), arguments.c_str());
}

void loopc_profile::write(std::FILE *file) const {
  std::lock_guard lock(mutex);
  std::fprintf(file,
               "[\n{\"ph\":\"M\",\"pid\":%d,\"tid\":0,\"ts\":0,\"name\":"
               "\"process_name\",\"args\":{\"name\":%s,\"runs\":%" PRIu64
               ",\"dropped_events\":%" PRIu64 "}}",
               static_cast<int>(getpid()), quote("loopc: " + model).c_str(),
               numRuns, numDropped);
  std::vector<Node> nodes;
  for (const Part &part : parts)
    nodes.push_back(readNode(part.name));
  for (const Event &event : events) {
    if (event.part < 0) {
      writeEvent(file, event, "Session", "model_run",
                 "\"model\":" + quote(model));
      continue;
    }
    const Part &part = parts[event.part];
    const Node &node = nodes[event.part];
    std::string arguments =
        "\"op_name\":" + quote(node.op) +
        ",\"provider\":\"CPUExecutionProvider\",\"path\":" + quote(part.name);
    if (event.iteration < 0)
      writeEvent(file, event, "Node", node.name + "_kernel_time", arguments);
    else
      writeEvent(file, event, "Iteration",
                 node.name + " iteration " + std::to_string(event.iteration),
                 "\"iteration\":" + std::to_string(event.iteration) +
                     ",\"path\":" + quote(part.name));
  }
  std::fprintf(file, "\n]\n");
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

extern "C" loopc_profile *loopc_profile_create(void) {
  return new (std::nothrow) loopc_profile();
}

extern "C" void loopc_profile_destroy(loopc_profile *profile) {
  delete profile;
}

extern "C" void loopc_profile_add(void *profile, const loopc_run_profile *run) {
  if (!profile || !run)
    return;
  auto *all = static_cast<loopc_profile *>(profile);
  try {
    all->add(*run);
  } catch (const std::bad_alloc &) {
    // The run itself went well: what there is no memory for is missing.
    std::lock_guard lock(all->mutex);
    ++all->numDropped;
  }
}

extern "C" const char *loopc_profile_table(loopc_profile *profile) {
  if (!profile)
    return "";
  std::lock_guard lock(profile->mutex);
  try {
    profile->table = profile->makeTable();
  } catch (const std::bad_alloc &) {
    return "";
  }
  return profile->table.c_str();
}

/// True for a plain file, and for none. A link, or a device, is written to.
static bool isReplaceable(const char *path) {
  struct stat status;
  return lstat(path, &status) ? errno == ENOENT : S_ISREG(status.st_mode);
}

/// Writes the trace to a file that is open, and closes it.
static int writeTrace(const loopc_profile &profile, int descriptor) {
  std::FILE *file = descriptor < 0 ? nullptr : fdopen(descriptor, "w");
  if (!file)
    return LOOPC_COMPILE_ERROR_FILE;
  int status = LOOPC_COMPILE_OK;
  try {
    profile.write(file);
  } catch (const std::bad_alloc &) {
    status = LOOPC_COMPILE_ERROR_INTERNAL;
  }
  int reason = std::fflush(file) || std::ferror(file) ? errno : 0;
  if (std::fclose(file) && !reason)
    reason = errno;
  errno = reason;
  return reason ? LOOPC_COMPILE_ERROR_FILE : status;
}

/// Writes it beside `path` and puts it in its place when it is whole; what was
/// there is kept otherwise. Where no file can be made there, into `path`
/// itself.
static int replaceTrace(const loopc_profile &profile, const char *path) {
  static std::atomic<unsigned> number = 0;
  constexpr int kFlags = O_WRONLY | O_CREAT | O_CLOEXEC;
  std::string temporary = std::string(path) + "." + std::to_string(getpid()) +
                          "." + std::to_string(number.fetch_add(1)) + ".tmp";
  int beside =
      isReplaceable(path) ? open(temporary.c_str(), kFlags | O_EXCL, 0666) : -1;
  if (beside < 0)
    return writeTrace(profile, open(path, kFlags | O_TRUNC, 0666));
  int status = writeTrace(profile, beside);
  if (status == LOOPC_COMPILE_OK && rename(temporary.c_str(), path))
    status = LOOPC_COMPILE_ERROR_FILE;
  if (status != LOOPC_COMPILE_OK) {
    int reason = errno;
    unlink(temporary.c_str());
    errno = reason;
  }
  return status;
}

extern "C" int loopc_profile_write(const loopc_profile *profile,
                                   const char *path) {
  if (!profile || !path || !*path)
    return LOOPC_COMPILE_ERROR_ARGUMENT;
  try {
    return replaceTrace(*profile, path);
  } catch (const std::bad_alloc &) {
    return LOOPC_COMPILE_ERROR_INTERNAL;
  }
}
