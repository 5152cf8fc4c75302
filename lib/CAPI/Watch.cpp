//===- Watch.cpp - Whether a compilation goes on --------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Watch.h"

#include <algorithm>

using namespace loopc::capi;

void Watch::setProgress(std::string newPhase, double newFraction) {
  phase = std::move(newPhase);
  fraction = std::clamp(newFraction, fraction, 1.0);
}

int Watch::poll() {
  if (verdict != LOOPC_COMPILE_OK)
    return verdict;
  double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  loopc_progress progress = {sizeof(progress), phase.c_str(), fraction,
                             seconds};
  bool isCancelled = (options.cancel && options.cancel->requested) ||
                     (options.progress &&
                      options.progress(options.progressContext, &progress));
  if (isCancelled)
    verdict = LOOPC_COMPILE_ERROR_CANCELLED;
  else if (options.timeoutSeconds > 0 && seconds >= options.timeoutSeconds)
    verdict = LOOPC_COMPILE_ERROR_TIMEOUT;
  return verdict;
}

int Watch::explain(int status, loopc_diagnostics &diagnostics) {
  if (status == LOOPC_COMPILE_ERROR_CANCELLED)
    diagnostics.addError(kCancelledCode, "the compilation was cancelled");
  else if (status == LOOPC_COMPILE_ERROR_TIMEOUT)
    diagnostics.addError(kTimeoutCode,
                         "the compilation took longer than its timeout");
  return status;
}
