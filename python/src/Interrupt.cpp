//===- Interrupt.cpp - Ctrl-C while a model runs --------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interrupt.h"

#include <atomic>
#include <sys/syscall.h>
#include <unistd.h>

using namespace loopc::python;

// One run at a time is on the main thread, so its state can be global. The
// handler may be called on any thread.
static std::atomic<loopc_cancel_token *> activeToken = nullptr;
static std::atomic<int> handlersRunning = 0;
static std::atomic<bool> wasInterrupted = false;
static struct sigaction previous;

static_assert(std::atomic<loopc_cancel_token *>::is_always_lock_free &&
                  std::atomic<int>::is_always_lock_free,
              "signal handlers need lock-free atomics");

static void handleInterrupt(int signal, siginfo_t *info, void *context) {
  handlersRunning.fetch_add(1);
  if (loopc_cancel_token *token = activeToken.load()) {
    wasInterrupted.store(true);
    loopc_cancel(token);
  }
  if (previous.sa_flags & SA_SIGINFO)
    previous.sa_sigaction(signal, info, context);
  else
    previous.sa_handler(signal);
  // Only now: the run that ends asks Python for the signal, so Python's handler
  // must have noted it.
  handlersRunning.fetch_sub(1);
}

/// Until every handler that runs on another thread is done: with the token,
/// with `previous`, and with telling Python.
static void waitForHandlers() {
  while (handlersRunning.load() != 0) {
  }
}

static bool isMainThread() {
#ifdef __linux__
  return getpid() == static_cast<pid_t>(syscall(SYS_gettid));
#else
  return pthread_main_np() != 0;
#endif
}

InterruptGuard::InterruptGuard(loopc_cancel_token *token) {
  if (!isMainThread())
    return;
  struct sigaction current;
  if (sigaction(SIGINT, nullptr, &current))
    return;
  bool plain = !(current.sa_flags & SA_SIGINFO);
  if (plain && (current.sa_handler == SIG_DFL || current.sa_handler == SIG_IGN))
    return;
  previous = current;
  wasInterrupted.store(false);
  activeToken.store(token);
  struct sigaction action = current;
  action.sa_sigaction = handleInterrupt;
  action.sa_flags |= SA_SIGINFO;
  installed = sigaction(SIGINT, &action, nullptr) == 0;
}

InterruptGuard::~InterruptGuard() {
  if (!installed)
    return;
  sigaction(SIGINT, &previous, nullptr);
  activeToken.store(nullptr);
  waitForHandlers();
}

bool InterruptGuard::interrupted() const {
  if (!installed)
    return false;
  waitForHandlers();
  return wasInterrupted.load();
}
