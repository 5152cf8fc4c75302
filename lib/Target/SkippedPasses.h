//===- SkippedPasses.h - Passes that some code is kept from -----*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_TARGET_SKIPPEDPASSES_H
#define LOOPC_TARGET_SKIPPEDPASSES_H

namespace llvm {
class PassInstrumentationCallbacks;
} // namespace llvm

namespace loopc {
/// Keeps LLVM's passes from functions of shapes that they take far more than
/// linear time for. `callbacks` must outlive the passes.
void skipSlowPasses(llvm::PassInstrumentationCallbacks &callbacks);
} // namespace loopc

#endif // LOOPC_TARGET_SKIPPEDPASSES_H
