//===- Interrupt.h - Signals while a model runs -----------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_PYTHON_INTERRUPT_H
#define LOOPC_PYTHON_INTERRUPT_H

#include "loopc-rt/loopc_rt.h"

#include <csignal>
#include <iterator>

namespace loopc::python {

/// While it lives, SIGINT cancels the runs of `token` and is then handled as
/// before (Python's handler remembers it and raises KeyboardInterrupt when the
/// interpreter goes on). SIGTERM and SIGALRM are handled as before, too, and
/// the run then calls Python's handlers; it ends where one raises, and goes on
/// where it returns.
///
/// It does something only on the main thread, where alone Python handles
/// signals, and only for signals that somebody handles already: a process that
/// ignores one keeps ignoring it.
class InterruptGuard {
public:
  explicit InterruptGuard(loopc_cancel_token *token);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard &) = delete;
  InterruptGuard &operator=(const InterruptGuard &) = delete;

  /// True if a SIGINT came since the beginning.
  bool interrupted() const;

  /// True if a handler of Python's has raised; the error is set.
  bool raised() const { return hasRaised; }

  /// Makes the run of `options` look after signals.
  void watch(loopc_run_options &options);

  /// The signals; the first ends a run whatever its handler does.
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGALRM};

private:
  static int poll(void *context);
  void installAll();

  bool isActive = false;
  bool hasRaised = false;
  /// Of each signal, whether its handler was replaced.
  bool installed[std::size(kSignals)] = {};
  /// That of the run whose signal handler this run is a part of.
  loopc_cancel_token *outer = nullptr;
};

} // namespace loopc::python

#endif // LOOPC_PYTHON_INTERRUPT_H
