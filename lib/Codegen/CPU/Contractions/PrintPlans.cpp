//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-print-plans: the plans of nests as text, one line each.

#include "ContractionPlan.h"
#include "Copies/CopyPlan.h"
#include "loopc/Codegen/CPU/Passes.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "llvm/Support/raw_ostream.h"

namespace loopc {
#define GEN_PASS_DEF_PRINTPLANS
#include "loopc/Codegen/CPU/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

namespace {
struct PrintPlans : loopc::impl::PrintPlansBase<PrintPlans> {
  using Base::Base;

  void runOnOperation() override {
    CpuModel cpu(getVectorUnit(getOperation()));
    // A function is one piece: passes run on several of them at a time.
    std::string text;
    llvm::raw_string_ostream os(text);
    auto print = [&](StringRef what, const auto &plan) {
      if (!plan)
        return;
      os << getOperation().getName() << ": " << what << ' ';
      plan->print(os);
      os << '\n';
    };
    getOperation().walk([&](linalg::LinalgOp op) {
      print("contraction", planContraction(op, cpu));
      if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation())) {
        print("copy", planPanelCopy(generic, cpu));
        print("copy", planGroupCopy(generic, cpu));
      }
    });
    llvm::outs() << text;
    markAllAnalysesPreserved();
  }
};
} // namespace
