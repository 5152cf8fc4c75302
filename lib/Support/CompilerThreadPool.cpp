//===- CompilerThreadPool.cpp - Threads for MLIR's passes -----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/CompilerThreadPool.h"
#include "llvm/ADT/STLExtras.h"

using namespace loopc;

CompilerThreadPool::CompilerThreadPool(unsigned concurrency)
    : concurrency(concurrency) {}

CompilerThreadPool::~CompilerThreadPool() {
  wait();
  {
    std::lock_guard<std::mutex> lock(mutex);
    isEnding = true;
  }
  changed.notify_all();
  threads.clear();
}

bool CompilerThreadPool::runOne(std::unique_lock<std::mutex> &lock,
                                llvm::ThreadPoolTaskGroup *group) {
  auto found = llvm::find_if(
      tasks, [&](const Task &task) { return !group || task.group == group; });
  if (found == tasks.end())
    return false;
  Task task = std::move(*found);
  tasks.erase(found);
  lock.unlock();
  task.run();
  // What it holds ends before anybody is told that it has.
  task.run = nullptr;
  lock.lock();
  --open[nullptr];
  if (task.group && --open[task.group] == 0)
    open.erase(task.group);
  changed.notify_all();
  return true;
}

void CompilerThreadPool::workUntil(llvm::function_ref<bool()> isDone,
                                   llvm::ThreadPoolTaskGroup *group) {
  std::unique_lock<std::mutex> lock(mutex);
  while (!isDone())
    if (!runOne(lock, group))
      changed.wait(lock);
}

void CompilerThreadPool::wait() {
  workUntil([&] { return open[nullptr] == 0; }, nullptr);
}

void CompilerThreadPool::wait(llvm::ThreadPoolTaskGroup &group) {
  workUntil([&] { return !open.count(&group); }, &group);
}

void CompilerThreadPool::asyncEnqueue(llvm::unique_function<void()> task,
                                      llvm::ThreadPoolTaskGroup *group) {
  bool mustStart = false;
  {
    std::lock_guard<std::mutex> lock(mutex);
    tasks.push_back({std::move(task), group});
    ++open[nullptr];
    if (group)
      ++open[group];
    mustStart = !std::exchange(isStarted, true);
  }
  changed.notify_all();
  // The caller's own tasks start them: no other thread is there yet.
  for (unsigned k = 1; mustStart && k < concurrency; ++k) {
    auto thread = CompilerThread::start(
        [this] { workUntil([&] { return isEnding; }, nullptr); });
    if (!thread)
      break;
    threads.push_back(std::move(thread));
  }
}
