//===- CompilerThread.h - Threads with room for the compiler ----*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR and LLVM recurse as deeply as models nest. How much stack there is for
// that is the caller's choice, and the C library's: threads of a program have
// 128 KiB with musl, 1 MiB in a JVM. LLVM's own threads take what they get, and
// end the process where the system gives none.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_SUPPORT_COMPILERTHREAD_H
#define LOOPC_SUPPORT_COMPILERTHREAD_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <functional>
#include <memory>
#include <pthread.h>

namespace loopc {

/// A thread with a stack of 16 MiB, of which the system keeps in memory what is
/// used. Whoever destroys it waits for its end.
class CompilerThread {
public:
  /// Runs `work`, which must not throw. Null where the system gives no thread.
  static std::unique_ptr<CompilerThread> start(std::function<void()> work);
  ~CompilerThread();
  CompilerThread(const CompilerThread &) = delete;
  CompilerThread &operator=(const CompilerThread &) = delete;

private:
  CompilerThread() = default;

  std::function<void()> work;
  pthread_t thread;
};

/// Calls `work`, which must not throw: on a CompilerThread where the caller's
/// stack has less than 4 MiB left, and one can be had.
void callWithStack(llvm::function_ref<void()> work);

} // namespace loopc

#endif // LOOPC_SUPPORT_COMPILERTHREAD_H
