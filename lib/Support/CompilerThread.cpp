//===- CompilerThread.cpp - Threads with room for the compiler ------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/CompilerThread.h"

#include <cstdint>

using namespace loopc;

static constexpr size_t kStack = 16 << 20, kEnoughStack = 4 << 20;

std::unique_ptr<CompilerThread>
CompilerThread::start(std::function<void()> work) {
  std::unique_ptr<CompilerThread> result(new CompilerThread);
  result->work = std::move(work);
  auto run = [](void *self) -> void * {
    static_cast<CompilerThread *>(self)->work();
    return nullptr;
  };
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0)
    return nullptr;
  bool isStarted =
      pthread_attr_setstacksize(&attributes, kStack) == 0 &&
      pthread_create(&result->thread, &attributes, run, result.get()) == 0;
  pthread_attr_destroy(&attributes);
  if (isStarted)
    return result;
  result->work = nullptr;
  return nullptr;
}

CompilerThread::~CompilerThread() {
  if (work)
    pthread_join(thread, nullptr);
}

/// Whether this thread's stack is known to have room. A coroutine has one that
/// is not its thread's.
static bool hasEnoughStack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return false;
  void *lowest = nullptr;
  size_t size = 0;
  bool isKnown = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
  pthread_attr_destroy(&attributes);
  // With AddressSanitizer variables may be elsewhere.
  auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  auto end = reinterpret_cast<uintptr_t>(lowest);
  return isKnown && here > end && here - end <= size &&
         here - end >= kEnoughStack;
}

void loopc::callWithStack(llvm::function_ref<void()> work) {
  std::unique_ptr<CompilerThread> thread;
  if (!hasEnoughStack())
    thread = CompilerThread::start(work);
  if (!thread)
    work();
}
