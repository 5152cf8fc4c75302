//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageErrors.h"
#include "loopc/Support/Diagnostics.h"

using namespace mlir;
using namespace loopc;

StringRef loopc::getStageName(Stage stage) {
  switch (stage) {
  case Stage::ONNX:
    return "onnx";
  case Stage::Loop:
    return "loop";
  case Stage::Linalg:
    return "linalg";
  case Stage::MemRef:
    return "memref";
  case Stage::SCF:
    return "scf";
  case Stage::LLVM:
    return "llvm";
  }
  llvm_unreachable("a stage that there is not");
}

InFlightDiagnostic StageErrors::emit(Location loc) {
  InFlightDiagnostic diagnostic = loopc::emitError(loc, Diag::Internal)
                                  << "stage " << getStageName(stage) << ": ";
  if (count++ == 0)
    diagnostic.attachNote()
        << "this is a fault of the compiler: please report it, with the model";
  return diagnostic;
}

InFlightDiagnostic StageErrors::emit(Operation *op) {
  return std::move(emit(op->getLoc()) << "'" << op->getName() << "' op ");
}

void loopc::verifyUsers(Operation *op, StageErrors &errors) {
  auto verify = [&](Value value) {
    auto users = value.getUsers();
    auto found =
        llvm::find_if(users, [](Operation *user) { return !user->getBlock(); });
    if (found != users.end())
      errors.emit(*found) << "uses a value and is in no block";
  };
  llvm::for_each(op->getResults(), verify);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      llvm::for_each(block.getArguments(), verify);
}
