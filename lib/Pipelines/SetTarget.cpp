//===- SetTarget.cpp - The target of a module -----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-set-target: the attribute by which all passes know the target.

#include "loopc/Pipelines/Passes.h"

namespace loopc {
#define GEN_PASS_DEF_SETTARGET
#include "loopc/Pipelines/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

namespace {
struct SetTarget : loopc::impl::SetTargetBase<SetTarget> {
  using SetTargetBase::SetTargetBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto emitError = [&] { return module.emitError("loopc-set-target: "); };
    auto target = TargetAttr::getChecked(
        emitError, &getContext(), vectorBits.getValue(), registers.getValue(),
        maskBits.getValue(), dotBits.getValue(), scales.getValue(),
        StringRef(chip), minWork.getValue(), tf32.getValue(),
        libdevice.getValue(), StringRef(loops), StringRef(cublas));
    if (!target)
      return signalPassFailure();
    module->setAttr(kTargetAttrName, target);
  }
};
} // namespace
