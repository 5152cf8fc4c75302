//===- Machine.h - The machine that code is made for ------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_TARGET_MACHINE_H
#define LOOPC_LIB_TARGET_MACHINE_H

#include "loopc/Target/TargetOptions.h"

#include "mlir/IR/Location.h"

#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace loopc {

/// A checked target.
struct Machine {
  std::unique_ptr<llvm::TargetMachine> llvm;
  /// What a CPU must have to run the code, "+avx2,+fma": for
  /// loopc_model.cpu_features.
  std::string requiredFeatures;
};

/// Makes the machine of `options`, or reports which option is wrong.
/// `keepsInlineAssembly`: assembly is printed as it stands in the module, not
/// parsed and printed (which would spell out the files that it includes).
mlir::FailureOr<Machine> createMachine(const TargetOptions &options,
                                       mlir::Location loc,
                                       bool keepsInlineAssembly = false);

/// The triple of `options`, normalised; this machine's where there is none.
llvm::Triple getTriple(const TargetOptions &options);

} // namespace loopc

#endif // LOOPC_LIB_TARGET_MACHINE_H
