//===- CompilerThreadPool.h - Threads for MLIR's passes ---------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_SUPPORT_COMPILERTHREADPOOL_H
#define LOOPC_SUPPORT_COMPILERTHREADPOOL_H

#include "loopc/Support/CompilerThread.h"
#include "llvm/Support/ThreadPool.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

namespace loopc {

/// A pool of CompilerThreads. They are started by the first task. Whoever waits
/// works on tasks as well, so that there is one thread less than cores, and all
/// is done where the system gives no thread.
class CompilerThreadPool : public llvm::ThreadPoolInterface {
public:
  explicit CompilerThreadPool(unsigned concurrency);
  ~CompilerThreadPool() override;

  void wait() override;
  void wait(llvm::ThreadPoolTaskGroup &group) override;
  unsigned getMaxConcurrency() const override { return concurrency; }

private:
  void asyncEnqueue(llvm::unique_function<void()> task,
                    llvm::ThreadPoolTaskGroup *group) override;
  /// Runs the first task of `group` (null: of all) without `lock`, which is
  /// held before and after. False where there is none.
  bool runOne(std::unique_lock<std::mutex> &lock,
              llvm::ThreadPoolTaskGroup *group);
  /// Runs tasks of `group` until `isDone`, which is asked under the lock.
  void workUntil(llvm::function_ref<bool()> isDone,
                 llvm::ThreadPoolTaskGroup *group);

  struct Task {
    llvm::unique_function<void()> run;
    llvm::ThreadPoolTaskGroup *group;
  };

  unsigned concurrency;
  std::mutex mutex;
  /// Tells of new tasks, of tasks that are done and of the end.
  std::condition_variable changed;
  std::deque<Task> tasks;
  /// Tasks of each group that wait or run; all of them under null.
  std::map<llvm::ThreadPoolTaskGroup *, size_t> open;
  bool isEnding = false, isStarted = false;
  std::vector<std::unique_ptr<CompilerThread>> threads;
};

} // namespace loopc

#endif // LOOPC_SUPPORT_COMPILERTHREADPOOL_H
