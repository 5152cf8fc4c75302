//===- Driver.cpp - State of the fake CUDA driver -------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include <cfenv>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <new>

using namespace fakecuda;

std::string fakecuda::format(const char *text, ...) {
  char buffer[1024];
  va_list arguments;
  va_start(arguments, text);
  std::vsnprintf(buffer, sizeof buffer, text, arguments);
  va_end(arguments);
  return buffer;
}

/// Instructions that a query of a stream or event executes.
static constexpr uint64_t kQueryBudget = 2000000;

static thread_local std::vector<CUcontext> contextStack;

CUcontext &fakecuda::currentContext() {
  if (contextStack.empty())
    contextStack.push_back(nullptr);
  return contextStack.back();
}

std::vector<CUcontext> &fakecuda::contextsOfThread() { return contextStack; }

/// Never destroyed: programs may call the driver while they end.
Driver &Driver::get() {
  static Driver *driver = new Driver;
  return *driver;
}

Driver::Driver() {
  configure();
  defaultStream = std::make_shared<CUstream_st>();
  std::atexit([] { Driver::get().writeSummary(); });
}

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

std::string Driver::variable(const char *name) const {
  if (auto found = overrides.find(name); found != overrides.end())
    return found->second.value_or("");
  const char *value = std::getenv(name);
  return value ? value : "";
}

static uint64_t numberOr(const std::string &text, uint64_t otherwise) {
  return text.empty() ? otherwise : std::strtoull(text.c_str(), nullptr, 0);
}

/// "cuMemAllocAsync:3=2,cuInit=100": the third call, or all of them.
void Driver::parseFailures(const std::string &text) {
  settings.failures.clear();
  size_t at = 0;
  while (at < text.size()) {
    size_t end = std::min(text.find(',', at), text.size());
    std::string item = text.substr(at, end - at);
    at = end + 1;
    size_t equals = item.find('='), colon = item.find(':');
    if (equals == std::string::npos) {
      std::fprintf(stderr, "fake CUDA: LOOPC_FAKE_CUDA_FAIL: '%s' has no '='\n",
                   item.c_str());
      continue;
    }
    uint64_t number = 0;
    if (colon < equals)
      number = numberOr(item.substr(colon + 1, equals - colon - 1), 0);
    settings.failures[item.substr(0, std::min(colon, equals))][number] =
        int(numberOr(item.substr(equals + 1), 999));
  }
}

void Driver::configure() {
  Settings defaults;
  settings = defaults;
  settings.devices = int(numberOr(variable("LOOPC_FAKE_CUDA_DEVICES"), 1));
  settings.version = int(numberOr(variable("LOOPC_FAKE_CUDA_VERSION"), 13000));
  if (std::string chip = variable("LOOPC_FAKE_CUDA_CHIP"); !chip.empty()) {
    settings.capabilitySuffix = 0;
    if (chip.rfind("sm_", 0) == 0)
      chip = chip.substr(3);
    if (chip.back() == 'a' || chip.back() == 'f') {
      settings.capabilitySuffix = chip.back();
      chip.pop_back();
    }
    settings.capability = unsigned(numberOr(chip, 90));
  }
  settings.memoryBytes =
      numberOr(variable("LOOPC_FAKE_CUDA_MEMORY"), defaults.memoryBytes >> 20)
      << 20;
  settings.mostInCluster = unsigned(
      numberOr(variable("LOOPC_FAKE_CUDA_CLUSTERS"), defaults.mostInCluster));
  settings.lazy = variable("LOOPC_FAKE_CUDA_LAZY") != "0";
  settings.guards = numberOr(variable("LOOPC_FAKE_CUDA_GUARD"), 0);
  settings.quiet = numberOr(variable("LOOPC_FAKE_CUDA_QUIET"), 0);
  settings.cubinResult =
      int(numberOr(variable("LOOPC_FAKE_CUDA_CUBIN"), defaults.cubinResult));
  settings.hasPools = variable("LOOPC_FAKE_CUDA_POOLS") != "0";
  settings.hasCooperative = variable("LOOPC_FAKE_CUDA_COOPERATIVE") != "0";
  settings.hasManaged = variable("LOOPC_FAKE_CUDA_MANAGED") != "0";
  Limits &limits = settings.limits;
  limits.findsRaces = numberOr(variable("LOOPC_FAKE_CUDA_RACES"), 0);
  limits.spin = numberOr(variable("LOOPC_FAKE_CUDA_SPIN"), 500) * 1000000;
  limits.total = numberOr(variable("LOOPC_FAKE_CUDA_LIMIT"), 0) * 1000000;
  limits.seed = uint32_t(numberOr(variable("LOOPC_FAKE_CUDA_SEED"), 0));
  limits.multiprocessors =
      uint32_t(numberOr(variable("LOOPC_FAKE_CUDA_SMS"), 4));
  settings.logFile = variable("LOOPC_FAKE_CUDA_LOG");
  settings.summaryFile = variable("LOOPC_FAKE_CUDA_SUMMARY");
  parseFailures(variable("LOOPC_FAKE_CUDA_FAIL"));
  std::string lost = variable("LOOPC_FAKE_CUDA_LOST");
  settings.lostAfter = numberOr(lost, 0);
  if (size_t equals = lost.find('='); equals != std::string::npos)
    settings.lostResult = int(numberOr(lost.substr(equals + 1), 999));
  memory.setTotal(settings.memoryBytes);
}

void Driver::setVariable(const char *name, const char *value) {
  std::lock_guard lock(mutex);
  overrides[name] = value ? std::optional<std::string>(value) : std::nullopt;
  counts.clear();
  callsUntilLoss = 0;
  configure();
}

void Driver::reset() {
  std::lock_guard lock(mutex);
  // Nothing that waits is executed.
  defaultStream = std::make_shared<CUstream_st>();
  for (auto &[handle, stream] : streams)
    stream->queue.clear();
  streams.clear();
  orphans.clear();
  events.clear();
  functions.clear();
  graphExecs.clear();
  graphs.clear();
  modules.clear();
  memory.clear();
  for (CUctx_st *context : contexts)
    *context = CUctx_st();
  isInitialized = false;
  statistics = {};
  counts.clear();
  overrides.clear();
  lastFault.clear();
  callsUntilLoss = 0;
  isGuarding = false;
  nextNumber = 1;
  configure();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

CUresult Driver::begin(const char *name, bool needsContext) {
  ++statistics.calls;
  uint64_t number = ++counts[name];
  if (settings.lostAfter && ++callsUntilLoss > settings.lostAfter)
    return settings.lostResult;
  if (auto found = settings.failures.find(name);
      found != settings.failures.end())
    for (uint64_t which : {number, uint64_t(0)})
      if (auto at = found->second.find(which); at != found->second.end())
        return at->second;
  if (!isInitialized && std::string(name) != "cuInit" &&
      std::string(name) != "cuDriverGetVersion")
    return CUDA_ERROR_NOT_INITIALIZED;
  if (!needsContext)
    return CUDA_SUCCESS;
  CUcontext context = currentContext();
  if (!context)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (!context->retained)
    return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return context->error;
}

void Driver::end(const char *name, const std::string &details,
                 CUresult result) {
  if (isGuarding) {
    isGuarding = countPending() != 0;
    isGuarding ? memory.openGuarded(false) : memory.unguard();
  }
  // How often a program asks until work is done is chance.
  if (settings.logFile.empty() || result == CUDA_ERROR_NOT_READY)
    return;
  // Opened each time, so that what other processes write is kept in order.
  if (std::FILE *file = std::fopen(settings.logFile.c_str(), "a")) {
    std::string line = name + details + extra;
    if (result != CUDA_SUCCESS)
      line += format(" -> %d", result);
    std::fprintf(file, "%s\n", line.c_str());
    std::fclose(file);
  }
  extra.clear();
}

void Driver::fail(CUresult error, const std::string &message) {
  lastFault = message;
  if (!settings.quiet)
    std::fprintf(stderr, "fake CUDA: %s\n", message.c_str());
  for (CUctx_st *context : contexts)
    if (!context->error)
      context->error = error;
  auto giveUp = [](CUstream_st &stream) {
    stream.queue.clear();
    stream.done = stream.submitted;
  };
  giveUp(*defaultStream);
  for (auto &[handle, stream] : streams)
    giveUp(*stream);
  orphans.clear();
}

CUresult Driver::status() const {
  CUcontext context = currentContext();
  return context ? context->error : CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

std::shared_ptr<CUstream_st> Driver::findStream(CUstream handle) {
  // Null and CU_STREAM_LEGACY.
  if (reinterpret_cast<uint64_t>(handle) <= 1)
    return defaultStream;
  auto found = streams.find(handle);
  return found == streams.end() ? nullptr : found->second;
}

std::shared_ptr<CUstream_st> Driver::createStream(bool isBlocking) {
  auto stream = std::make_shared<CUstream_st>();
  stream->isBlocking = isBlocking;
  stream->number = takeNumber();
  streams[stream.get()] = stream;
  return stream;
}

/// The default stream waits for those that block, and they wait for it.
void Driver::submitLong(const std::shared_ptr<CUstream_st> &stream,
                        std::function<bool(uint64_t &budget)> run) {
  auto work = std::make_shared<Work>();
  work->run = std::move(run);
  if (stream == defaultStream) {
    for (auto &[handle, other] : streams)
      if (other->isBlocking)
        work->after.emplace_back(other, other->submitted);
  } else if (stream->isBlocking) {
    work->after.emplace_back(defaultStream, defaultStream->submitted);
  }
  stream->queue.push_back(std::move(work));
  ++stream->submitted;
  if (!settings.lazy)
    runUntil(*stream, stream->submitted);
}

void Driver::submit(const std::shared_ptr<CUstream_st> &stream,
                    std::function<void()> run) {
  submitLong(stream, [run = std::move(run)](uint64_t &) {
    run();
    return true;
  });
}

void Driver::guard() {
  if (!settings.guards || !countPending())
    return;
  isGuarding = true;
  memory.guard();
}

bool Driver::runFor(CUstream_st &stream, uint64_t position, uint64_t &budget) {
  if (isGuarding)
    memory.openGuarded(true);
  while (stream.done < position && !stream.queue.empty()) {
    std::shared_ptr<Work> work = stream.queue.front();
    for (auto &[other, before] : work->after)
      if (!runFor(*other, before, budget))
        return false;
    // A failure gives up all that waits.
    auto isNext = [&] {
      return !stream.queue.empty() && stream.queue.front() == work;
    };
    bool isDone = isNext() && work->run(budget);
    if (!isNext())
      continue;
    if (!isDone)
      return false;
    stream.queue.pop_front();
    ++stream.done;
  }
  return stream.done >= position;
}

void Driver::runUntil(CUstream_st &stream, uint64_t position) {
  uint64_t budget = ~uint64_t(0);
  runFor(stream, position, budget);
}

bool Driver::runSome(CUstream_st &stream, uint64_t position) {
  if (stream.done >= position)
    return true;
  uint64_t budget = kQueryBudget;
  runFor(stream, position, budget);
  return false;
}

void Driver::runAll() {
  runUntil(*defaultStream, defaultStream->submitted);
  // Work may not submit more, but the maps change when it fails.
  std::vector<std::shared_ptr<CUstream_st>> all = orphans;
  for (auto &[handle, stream] : streams)
    all.push_back(stream);
  for (auto &stream : all)
    runUntil(*stream, stream->submitted);
  orphans.clear();
}

uint64_t Driver::countPending() const {
  uint64_t result = defaultStream->queue.size();
  for (const auto &[handle, stream] : streams)
    result += stream->queue.size();
  for (const auto &stream : orphans)
    result += stream->queue.size();
  return result;
}

bool Driver::execute(Launch &launch, uint64_t &budget) {
  // Rounding and subnormal numbers are the device's, not the program's.
  std::fenv_t environment;
  std::fegetenv(&environment);
  std::fesetenv(FE_DFL_ENV);
  uint64_t before = launch.executed;
  bool isDone = true;
  try {
    isDone = launch.run(budget);
  } catch (const std::bad_alloc &) {
    launch.error = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    launch.message = "kernel '" + launch.code->name + "' needs too much memory";
  }
  std::fesetenv(&environment);
  statistics.instructions += launch.executed - before;
  if (launch.error)
    fail(launch.error, launch.message);
  return isDone;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

uint8_t *Driver::resolve(uint64_t address, uint64_t bytes, int *kind) {
  Block *block = memory.find(address);
  if (kind)
    *kind = FAKE_CUDA_HOST;
  if (!block)
    return memory.isDeviceAddress(address)
               ? nullptr
               : reinterpret_cast<uint8_t *>(address);
  if (block->end - address < bytes)
    return nullptr;
  if (kind && block->kind != Block::Pinned)
    *kind =
        block->kind == Block::Managed ? FAKE_CUDA_MANAGED : FAKE_CUDA_DEVICE;
  return block->host(address);
}

void Driver::account(Block::Kind kind, bool isFree, uint64_t bytes) {
  int index = kind == Block::Pinned    ? FAKE_CUDA_HOST
              : kind == Block::Managed ? FAKE_CUDA_MANAGED
                                       : FAKE_CUDA_DEVICE;
  if (isFree) {
    ++statistics.frees[index];
    --statistics.live_allocations;
    statistics.live_bytes -= bytes;
    return;
  }
  ++statistics.allocations[index];
  ++statistics.live_allocations;
  statistics.live_bytes += bytes;
  statistics.peak_bytes =
      std::max(statistics.peak_bytes, statistics.live_bytes);
}

void Driver::release(uint64_t address) {
  Block *block = memory.find(address);
  if (!block)
    return;
  account(block->kind, true, block->end - block->begin);
  memory.free(address);
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

void Driver::writeSummary() {
  std::lock_guard lock(mutex);
  if (settings.summaryFile.empty())
    return;
  std::FILE *file = settings.summaryFile == "1"
                        ? stderr
                        : std::fopen(settings.summaryFile.c_str(), "a");
  if (!file)
    return;
  auto write = [&](const char *what, uint64_t value) {
    std::fprintf(file, "%s: %llu\n", what,
                 static_cast<unsigned long long>(value));
  };
  const fake_cuda_statistics_t &s = statistics;
  write("calls", s.calls);
  write("launches", s.launches);
  write("cooperative launches", s.cooperative_launches);
  write("graph launches", s.graph_launches);
  write("kernels of graphs", s.graph_kernels);
  write("synchronizations", s.synchronizations);
  write("completed queries", s.completed_queries);
  write("instructions", s.instructions);
  static const char *const kinds[] = {"host", "device", "managed"};
  for (int from = 0; from != FAKE_CUDA_KINDS; ++from)
    for (int to = 0; to != FAKE_CUDA_KINDS; ++to)
      if (s.copies[from][to])
        std::fprintf(file, "copies from %s to %s: %llu, %llu bytes\n",
                     kinds[from], kinds[to],
                     static_cast<unsigned long long>(s.copies[from][to]),
                     static_cast<unsigned long long>(s.copied_bytes[from][to]));
  for (int kind = 0; kind != FAKE_CUDA_KINDS; ++kind)
    if (s.allocations[kind])
      std::fprintf(file, "allocations of %s memory: %llu, freed: %llu\n",
                   kinds[kind],
                   static_cast<unsigned long long>(s.allocations[kind]),
                   static_cast<unsigned long long>(s.frees[kind]));
  write("peak bytes", s.peak_bytes);
  write("leaked allocations", s.live_allocations);
  write("leaked bytes", s.live_bytes);
  write("leaked modules", modules.size());
  write("leaked streams", streams.size());
  write("leaked events", events.size());
  write("leaked graphs", graphs.size() + graphExecs.size());
  write("work that was never waited for", countPending());
  if (file != stderr)
    std::fclose(file);
}

extern "C" {

void fake_cuda_statistics(fake_cuda_statistics_t *result) {
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  *result = driver.statistics;
  result->live_modules = driver.modules.size();
  result->live_streams = driver.streams.size();
  result->live_events = driver.events.size();
  result->live_graphs = driver.graphs.size() + driver.graphExecs.size();
  result->pending = driver.countPending();
}

uint64_t fake_cuda_call_count(const char *function) {
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  auto found = driver.counts.find(function);
  return found == driver.counts.end() ? 0 : found->second;
}

const char *fake_cuda_last_fault(void) {
  return Driver::get().lastFault.c_str();
}

void fake_cuda_set(const char *variable, const char *value) {
  Driver::get().setVariable(variable, value);
}

void fake_cuda_reset(void) { Driver::get().reset(); }

} // extern "C"
