//===- Interrupt.cpp - Signals while a model runs -------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interrupt.h"

#include <nanobind/nanobind.h>

#include <atomic>
#include <sys/syscall.h>
#include <unistd.h>

using namespace loopc::python;
namespace nb = nanobind;

static constexpr auto &kSignals = InterruptGuard::kSignals;
static constexpr size_t kNumSignals = std::size(kSignals);

// One run at a time is on the main thread, so its state can be global. The
// handler may be called on any thread.
static std::atomic<loopc_cancel_token *> activeToken = nullptr;
static std::atomic<int> handlersRunning = 0;
static std::atomic<bool> wasInterrupted = false;
static struct sigaction previous[kNumSignals];

static_assert(std::atomic<loopc_cancel_token *>::is_always_lock_free &&
                  std::atomic<int>::is_always_lock_free &&
                  std::atomic<bool>::is_always_lock_free,
              "signal handlers need lock-free atomics");

static size_t indexOf(int signal) {
  size_t index = 0;
  while (index + 1 < kNumSignals && kSignals[index] != signal)
    ++index;
  return index;
}

static void handleSignal(int signal, siginfo_t *info, void *context) {
  handlersRunning.fetch_add(1);
  loopc_cancel_token *token = activeToken.load();
  if (token && signal == SIGINT) {
    wasInterrupted.store(true);
    loopc_cancel(token);
  }
  const struct sigaction &before = previous[indexOf(signal)];
  if (before.sa_flags & SA_SIGINFO)
    before.sa_sigaction(signal, info, context);
  else
    before.sa_handler(signal);
  // Only now: the run asks Python for the signal, so Python's handler must have
  // noted it.
  if (token && signal != SIGINT)
    loopc_interrupt(token);
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

/// Puts handleSignal in front of the handler of signal `index`, if there is
/// one and it is not there yet: a handler of Python's may itself run a model.
static bool install(size_t index) {
  struct sigaction current;
  if (sigaction(kSignals[index], nullptr, &current))
    return false;
  bool isPlain = !(current.sa_flags & SA_SIGINFO);
  if (isPlain ? current.sa_handler == SIG_DFL || current.sa_handler == SIG_IGN
              : current.sa_sigaction == handleSignal)
    return false;
  previous[index] = current;
  struct sigaction action = current;
  action.sa_sigaction = handleSignal;
  action.sa_flags |= SA_SIGINFO;
  // The alternate stack of this thread may be that of a library which has freed
  // it (OpenVINO's CPU runtime does); a run leaves room on its own.
  action.sa_flags &= ~SA_ONSTACK;
  return sigaction(kSignals[index], &action, nullptr) == 0;
}

InterruptGuard::InterruptGuard(loopc_cancel_token *token) {
  if (!isMainThread())
    return;
  isActive = true;
  wasInterrupted.store(false);
  outer = activeToken.exchange(token);
  installAll();
}

void InterruptGuard::installAll() {
  for (size_t k = 0; k < kNumSignals; ++k)
    installed[k] |= install(k);
}

/// Puts the handler back that was there before, unless somebody has set another
/// one since.
static void uninstall(size_t index) {
  struct sigaction current;
  if (sigaction(kSignals[index], &previous[index], &current) == 0 &&
      current.sa_sigaction != handleSignal)
    sigaction(kSignals[index], &current, nullptr);
}

InterruptGuard::~InterruptGuard() {
  if (!isActive)
    return;
  for (size_t k = 0; k < kNumSignals; ++k)
    if (installed[k])
      uninstall(k);
  activeToken.store(outer);
  waitForHandlers();
}

bool InterruptGuard::interrupted() const {
  if (!isActive)
    return false;
  waitForHandlers();
  return wasInterrupted.load();
}

void InterruptGuard::watch(loopc_run_options &options) {
  if (!isActive)
    return;
  options.interrupt = &InterruptGuard::poll;
  options.interrupt_context = this;
}

int InterruptGuard::poll(void *context) {
  // Python calls its handlers on the main thread alone, and a run has others.
  if (!isMainThread())
    return -1;
  auto &self = *static_cast<InterruptGuard *>(context);
  nb::gil_scoped_acquire locked;
  self.hasRaised |= PyErr_CheckSignals() != 0;
  // One of them may have set another handler.
  self.installAll();
  return self.hasRaised;
}
