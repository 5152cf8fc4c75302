//===- Progress.h - How far a compilation is --------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_DRIVER_PROGRESS_H
#define LOOPC_DRIVER_PROGRESS_H

#include "mlir/Support/Timing.h"

#include "llvm/ADT/DenseSet.h"

#include <functional>
#include <string>
#include <thread>

namespace loopc {

/// Takes what a Compiler would be timed by (Compiler::setTiming) as the news of
/// how far it is. Passes that other threads run are no news, and neither is a
/// pass that goes on with the next function.
class ProgressManager : public mlir::TimingManager {
public:
  /// Called where something begins, with words for it and the part of the whole
  /// work that lies behind it, as it is for most models. By the thread whose
  /// news was the first.
  using Listener = std::function<void(llvm::StringRef phase, double fraction)>;

  explicit ProgressManager(Listener listener) : listener(std::move(listener)) {}

protected:
  // A timer is its depth.
  std::optional<void *> rootTimer() override { return toTimer(1); }
  void startTimer(void *) override {}
  void stopTimer(void *) override {}
  void *nestTimer(void *timer, const void *id,
                  llvm::function_ref<std::string()> nameBuilder) override;

private:
  static void *toTimer(uintptr_t depth) {
    return reinterpret_cast<void *>(depth);
  }
  void note(llvm::StringRef name);

  Listener listener;
  std::string phase;
  unsigned numPasses = 0;
  /// The thread that compiles; none before it has begun something.
  std::thread::id owner;
  /// What was nested, by what timers are told apart by.
  llvm::DenseSet<const void *> noted;
};

} // namespace loopc

#endif // LOOPC_DRIVER_PROGRESS_H
