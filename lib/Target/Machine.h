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

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace loopc {

/// A checked target. Of TargetOptions::machines it goes back there.
struct Machine {
  std::shared_ptr<llvm::TargetMachine> llvm;
  /// What a CPU must have to run the code, "+avx2,+fma": for
  /// loopc_model.cpu_features.
  std::string requiredFeatures;
};

/// Machines that nobody uses at the moment: to describe a CPU
/// takes LLVM a millisecond, and to describe its instructions another one with
/// the first function.
class MachineStore {
public:
  /// The triple, the CPU and features as they were asked for, whether products
  /// and sums are contracted, the level, and whether inline assembly is kept.
  using Kind =
      std::tuple<std::string, std::string, std::string, bool, unsigned, bool>;
  struct Free {
    std::unique_ptr<llvm::TargetMachine> llvm;
    std::string requiredFeatures;
  };

  /// One of `kind`; nothing in it where there is none.
  Free take(const Kind &kind);
  void give(const Kind &kind, Free machine);

private:
  std::mutex mutex; ///< threads take and give
  std::map<Kind, std::vector<Free>> machines;
};

/// Makes the machine of `options`, or takes one from their store, or reports
/// which option is wrong. `keepsInlineAssembly`: assembly is printed as it
/// stands in the module, not parsed and printed (which would spell out the
/// files that it includes).
mlir::FailureOr<Machine> createMachine(const TargetOptions &options,
                                       mlir::Location loc,
                                       bool keepsInlineAssembly = false);

/// The triple of `options`, normalised; this machine's where there is none.
llvm::Triple getTriple(const TargetOptions &options);

} // namespace loopc

#endif // LOOPC_LIB_TARGET_MACHINE_H
