//===- Watch.h - Whether a compilation goes on ------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_CAPI_WATCH_H
#define LOOPC_LIB_CAPI_WATCH_H

#include "Impl.h"

#include <chrono>

namespace loopc::capi {

/// How often whoever waits for a compilation is asked whether to go on.
inline constexpr int kPollMilliseconds = 25;

/// Tells the caller how far a compilation is, and whether it wants to go on.
class Watch {
public:
  explicit Watch(const loopc_compile_options &options)
      : options(options), begin(Clock::now()) {}

  /// What is being done; `fraction` of all of it is done.
  void setProgress(std::string phase, double fraction);

  /// Asks. \returns LOOPC_COMPILE_OK to go on; else the compilation is over.
  int poll();

  /// Says why it is over.
  static int explain(int status, loopc_diagnostics &diagnostics);

private:
  using Clock = std::chrono::steady_clock;

  const loopc_compile_options &options;
  Clock::time_point begin;
  std::string phase = "starting";
  double fraction = 0;
  int verdict = LOOPC_COMPILE_OK;
};

} // namespace loopc::capi

#endif // LOOPC_LIB_CAPI_WATCH_H
