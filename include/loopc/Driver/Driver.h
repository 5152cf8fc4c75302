//===- Driver.h - The program loopc -----------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_DRIVER_DRIVER_H
#define LOOPC_DRIVER_DRIVER_H

namespace loopc {

/// What loopc's programs return; fixed.
enum ExitCode : int {
  ExitOk = 0,
  ExitCompileError = 1, ///< the model cannot be compiled
  ExitUsage = 2,        ///< an option or its value is wrong
  ExitFile = 3          ///< a file cannot be read or written
};

/// The program loopc. \returns an ExitCode.
int runDriver(int argc, const char *const *argv);

} // namespace loopc

#endif // LOOPC_DRIVER_DRIVER_H
