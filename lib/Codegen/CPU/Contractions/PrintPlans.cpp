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
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
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

  // A pass of modules, as passes of functions run at the same time, in any
  // order.
  void runOnOperation() override {
    CpuModel cpu(getVectorUnit(getOperation()));
    for (auto func : getOperation().getOps<func::FuncOp>())
      printPlans(func, cpu);
    markAllAnalysesPreserved();
  }

  static void printPlans(func::FuncOp func, const CpuModel &cpu) {
    auto print = [&](StringRef what, const auto &plan) {
      if (!plan)
        return;
      llvm::outs() << func.getName() << ": " << what << ' ';
      plan->print(llvm::outs());
      llvm::outs() << '\n';
    };
    func.walk([&](linalg::LinalgOp op) {
      print("contraction", planContraction(op, cpu));
      if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation())) {
        print("copy", planPanelCopy(generic, cpu));
        print("copy", planGroupCopy(generic, cpu));
      }
    });
  }
};
} // namespace
