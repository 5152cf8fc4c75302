//===- Interrupt.h - Ctrl-C while a model runs ------------------*- C++ -*-===//
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

namespace loopc::python {

/// While it lives, SIGINT cancels the runs of `token` and is then handled as
/// before (Python's handler remembers it and raises KeyboardInterrupt when the
/// interpreter goes on).
///
/// It does something only on the main thread, where alone Python handles
/// signals, and only where somebody handles SIGINT already: a process that
/// ignores it keeps ignoring it.
class InterruptGuard {
public:
  explicit InterruptGuard(loopc_cancel_token *token);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard &) = delete;
  InterruptGuard &operator=(const InterruptGuard &) = delete;

  /// True if a SIGINT came since the beginning.
  bool interrupted() const;

private:
  bool installed = false;
};

} // namespace loopc::python

#endif // LOOPC_PYTHON_INTERRUPT_H
