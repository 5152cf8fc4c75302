//===- CommonPasses.h - What several stages add -----------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_PIPELINES_COMMONPASSES_H
#define LOOPC_LIB_PIPELINES_COMMONPASSES_H

#include "loopc/Dialect/Loop/Transforms/Canonicalizer.h"
#include "loopc/Pipelines/Passes.h"
#include "loopc/Pipelines/Phases.h"

namespace loopc {

/// Canonicalizes, then makes one of equal operations. `reason` says what is
/// there to clear away.
inline void addCleanup(PassAdder manager, llvm::StringRef reason) {
  manager.addPass(createCanonicalizer(), reason);
  manager.addPass(createEliminateCommon(), reason);
}

/// Verifies the invariants of a stage, and MLIR's.
inline void addVerifier(PassAdder manager, Stage stage,
                        bool areMarksProved = false) {
  manager.addPass(createVerifyStage({stage, areMarksProved}),
                  "what holds here is checked, and not left to what the passes "
                  "before happen to do");
}

} // namespace loopc

#endif // LOOPC_LIB_PIPELINES_COMMONPASSES_H
