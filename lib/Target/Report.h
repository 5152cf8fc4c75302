//===- Report.h - Errors of code generation ---------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_TARGET_REPORT_H
#define LOOPC_LIB_TARGET_REPORT_H

#include "mlir/IR/Diagnostics.h"

namespace loopc {

enum class TargetError {
  ModuleAttributes = 501,
  Name = 502,
  Triple = 503,
  Cpu = 504,
  Features = 505,
  Module = 506,
  Weight = 507,
  File = 508,
  Link = 509,
  Jit = 510,
  LLVM = 511,
};

inline mlir::InFlightDiagnostic reportError(mlir::Location loc,
                                            TargetError code) {
  return mlir::emitError(loc) << "[LC0" << static_cast<int>(code) << "] ";
}

} // namespace loopc

#endif // LOOPC_LIB_TARGET_REPORT_H
