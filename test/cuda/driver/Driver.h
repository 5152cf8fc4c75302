//===- Driver.h - State of the fake CUDA driver --------------- -*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_TEST_CUDA_DRIVER_H
#define LOOPC_TEST_CUDA_DRIVER_H

#include "Api.h"
#include "Decode.h"
#include "fake-cuda.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <set>

namespace fakecuda {

/// Work of a stream.
struct Work {
  /// Executes at most about so many instructions, which it takes off the
  /// number; returns whether all is done.
  std::function<bool(uint64_t &budget)> run;
  /// Streams, and up to which of their works each has to have come before.
  std::vector<std::pair<std::shared_ptr<CUstream_st>, uint64_t>> after;
};

/// What the environment says; see README.md.
struct Settings {
  int devices = 1;
  int version = 13000;
  unsigned capability = 90;
  char capabilitySuffix = 'a';
  uint64_t memoryBytes = uint64_t(16) << 30;
  bool lazy = true;
  bool guards = false;
  bool quiet = false;
  int cubinResult = CUDA_ERROR_NO_BINARY_FOR_GPU;
  bool hasPools = true, hasCooperative = true, hasManaged = true;
  unsigned mostInCluster = 8; ///< blocks; 0: there are no clusters
  Limits limits;
  std::string logFile, summaryFile;
  /// Results of calls by number, of each function.
  std::map<std::string, std::map<uint64_t, int>> failures;
  uint64_t lostAfter = 0; ///< calls; 0: never
  int lostResult = CUDA_ERROR_UNKNOWN;
};

/// A kernel with all that a launch of it takes.
struct LaunchPlan {
  CUfunction function = nullptr;
  Dims grid, block, cluster;
  uint32_t sharedBytes = 0; ///< dynamic
  bool isCooperative = false;
  std::vector<uint8_t> params;

  /// Sets the arguments; tells what is wrong with them or what is there.
  CUresult set(void **params, void **extra);
  std::shared_ptr<Launch> make() const;
  /// " kernel=k grid=1x1x1 block=32x1x1 shared=0", for the log.
  std::string describe() const;
};

/// Of the functions of graphs: what the driver of this version has.
constexpr int kGraphVersion = 12030;

} // namespace fakecuda

struct CUctx_st {
  CUdevice device = 0;
  unsigned retained = 0, flags = 0;
  CUresult error = CUDA_SUCCESS; ///< sticky
};

struct CUfunc_st {
  CUmodule module = nullptr;
  const fakecuda::Code *code = nullptr;
  int maxDynamicShared = 48 << 10;
};

struct CUmod_st {
  std::shared_ptr<fakecuda::Program> program;
  std::map<std::string, CUfunc_st> functions;
  unsigned ptxVersion = 0;
};

struct CUstream_st {
  unsigned number = 0; ///< in the log
  bool isBlocking = true;
  CUcontext context = nullptr; ///< null: the default stream, of each
  int capture = CU_STREAM_CAPTURE_STATUS_NONE;
  std::deque<std::shared_ptr<fakecuda::Work>> queue;
  uint64_t submitted = 0, done = 0;
};

struct CUevent_st {
  unsigned number = 0;
  bool hasTiming = true;
  std::shared_ptr<CUstream_st> stream; ///< of the last record; null: none
  uint64_t position = 0;
  std::optional<double> time; ///< milliseconds, once executed
};

struct CUgraph_st;
struct CUgraphExec_st;

namespace fakecuda {

class Driver {
public:
  static Driver &get();

  /// Runs a function of the API: counts and logs it, fails where it is to fail.
  /// `details` follow the name in the log.
  template <typename F>
  CUresult call(const char *name, const std::string &details, bool needsContext,
                F body) {
    std::lock_guard lock(mutex);
    CUresult result = begin(name, needsContext);
    if (result == CUDA_SUCCESS) {
      extra.clear();
      result = body();
    }
    end(name, details, result);
    return result;
  }
  /// More for the log, which is known only after the call.
  void note(const std::string &text) { extra += text; }

  void reset();
  void configure();
  void setVariable(const char *name, const char *value);
  void writeSummary();

  // Streams.
  std::shared_ptr<CUstream_st> findStream(CUstream handle);
  std::shared_ptr<CUstream_st> createStream(bool isBlocking);
  void submit(const std::shared_ptr<CUstream_st> &stream,
              std::function<void()> run);
  /// Work that can be interrupted.
  void submitLong(const std::shared_ptr<CUstream_st> &stream,
                  std::function<bool(uint64_t &budget)> run);
  /// Executes the work up to a position; returns whether it came so far.
  bool runFor(CUstream_st &stream, uint64_t position, uint64_t &budget);
  void runUntil(CUstream_st &stream, uint64_t position);
  /// What a query does: some of the work. Returns whether there was none.
  bool runSome(CUstream_st &stream, uint64_t position);
  void runAll();
  uint64_t countPending() const;
  /// The error of the context after work was executed.
  CUresult status() const;

  /// Guards managed memory until what was submitted is done.
  void guard();

  // Execution.
  bool execute(Launch &launch, uint64_t &budget);
  /// A sticky error, with all that was to come given up.
  void fail(CUresult error, const std::string &message);

  // Memory.
  /// Where the host finds the bytes; null for device memory without a live
  /// allocation that holds all of them.
  uint8_t *resolve(uint64_t address, uint64_t bytes, int *kind = nullptr);
  /// Frees a block once the work before is done.
  void release(uint64_t address);
  void account(Block::Kind kind, bool isFree, uint64_t bytes);

  std::recursive_mutex mutex;
  Settings settings;
  Memory memory;
  bool isInitialized = false;
  std::vector<CUctx_st *> contexts;
  std::map<CUmodule, std::unique_ptr<CUmod_st>> modules;
  std::set<CUfunction> functions;
  std::map<CUstream, std::shared_ptr<CUstream_st>> streams;
  std::vector<std::shared_ptr<CUstream_st>> orphans; ///< destroyed, not done
  std::map<CUevent, std::shared_ptr<CUevent_st>> events;
  std::map<CUgraph, std::shared_ptr<CUgraph_st>> graphs; ///< without bodies
  std::map<CUgraphExec, std::shared_ptr<CUgraphExec_st>> graphExecs;
  std::shared_ptr<CUstream_st> defaultStream;
  fake_cuda_statistics_t statistics{};
  std::map<std::string, uint64_t> counts;
  std::string lastFault;
  uint64_t poolThreshold = 0;

private:
  Driver();
  CUresult begin(const char *name, bool needsContext);
  void end(const char *name, const std::string &details, CUresult result);
  std::string variable(const char *name) const;
  void parseFailures(const std::string &text);

  std::map<std::string, std::optional<std::string>> overrides;
  std::string extra;
  uint64_t callsUntilLoss = 0;
  bool isGuarding = false;
  unsigned nextNumber = 1;

public:
  unsigned takeNumber() { return nextNumber++; }
};

/// printf into a string, for the log.
std::string format(const char *text, ...) __attribute__((format(printf, 1, 2)));

/// The context of this thread, or null.
CUcontext &currentContext();
/// Blocks of so many threads and bytes that a multiprocessor holds at a time.
unsigned occupancy(uint64_t threads, uint64_t sharedBytes);
/// Shared memory that a block can have, in bytes.
int mostShared();
/// All that were pushed; the last one is current.
std::vector<CUcontext> &contextsOfThread();

} // namespace fakecuda

#endif // LOOPC_TEST_CUDA_DRIVER_H
