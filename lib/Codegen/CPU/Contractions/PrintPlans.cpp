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
#include "Rows/RowPlan.h"
#include "Rows/Rows.h"
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
    // Axes of rows are put in order first, in a copy.
    IRMapping copies;
    OwningOpRef<func::FuncOp> copy = func.clone(copies);
    IRRewriter rewriter(func.getContext());
    func.walk([&](linalg::LinalgOp op) {
      if (auto contraction = planContraction(op, cpu))
        return print("contraction", contraction);
      auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
      if (!generic)
        return;
      auto panels = planPanelCopy(generic, cpu);
      if (!panels)
        panels = planGroupCopy(generic, cpu);
      if (panels)
        return print("copy", panels);
      linalg::GenericOp rows = arrangeRows(
          rewriter, cast<linalg::GenericOp>(copies.lookup(op.getOperation())));
      if (auto columns = planColumns(rows, cpu))
        print("columns", columns);
      else
        print("rows", planRows(rows, cpu));
    });
  }
};
} // namespace
