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
#include "Copies/TransposePlan.h"
#include "PaddedWindows.h"
#include "Rows/RowPlan.h"
#include "Rows/Rows.h"
#include "loopc/Codegen/CPU/Passes.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace loopc {
#define GEN_PASS_DEF_PRINTPLANS
#include "loopc/Codegen/CPU/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

void loopc::printExtents(raw_ostream &os, ArrayRef<int64_t> extents) {
  os << "loops=";
  llvm::interleave(
      extents, os,
      [&](int64_t extent) {
        if (ShapedType::isDynamic(extent))
          os << '?';
        else
          os << extent;
      },
      "x");
}

static void printDims(raw_ostream &os, StringRef name,
                      ArrayRef<unsigned> dims) {
  if (dims.empty())
    return;
  os << ' ' << name << '=';
  llvm::interleave(dims, os, [&](unsigned dim) { os << 'd' << dim; }, ",");
}

static void print(raw_ostream &os, const RowsPlan &rows) {
  os << " tile=" << rows.tile.rows << 'x' << rows.tile.vectors;
  if (rows.sumBlock)
    os << (rows.readsMatrixRows ? " matrix-rows=" : " sum-block=")
       << rows.sumBlock;
  if (rows.rowBlock)
    os << " row-block=" << rows.rowBlock;
  if (rows.lessRows)
    os << " rest-rows=" << rows.lessRows + 1 << ',' << rows.lessRows;
  if (rows.usesStrip)
    os << " strip";
  switch (rows.rest) {
  case ColumnRest::None:
    return;
  case ColumnRest::Masked:
    os << " rest=masked:" << rows.restVectors;
    return;
  case ColumnRest::NarrowTiles:
    os << " rest=narrow:" << rows.restVectors;
    return;
  case ColumnRest::SingleVectors:
    os << " rest=single-vectors";
    return;
  case ColumnRest::AllTiles:
    os << " rest=all-masked";
    return;
  case ColumnRest::Halves:
    os << " rest=halves";
    return;
  }
}

void ContractionPlan::print(raw_ostream &os) const {
  printExtents(os, extents);
  os << " vectors=" << lanes << (isAlongSum ? " along-sum=d" : " along=d")
     << laneDim;
  SmallVector<unsigned, 2> rowDims;
  if (joinedDim)
    rowDims.push_back(*joinedDim);
  if (rowDim)
    rowDims.push_back(*rowDim);
  printDims(os, "rows", rowDims);
  if (columnDim && isAlongSum)
    printDims(os, "columns", *columnDim);
  printDims(os, "sum", sumDims);
  printDims(os, "outer", outerDims);
  if (dot)
    os << " dot=" << dot->sum.size << (dot->block ? " blocks" : "");
  if (areColumnsOutside)
    os << " columns-outside";
  printDims(os, "padded",
            llvm::map_to_vector(
                padded, [](const PaddedAxis &axis) { return axis.element; }));
  if (isSumWrittenOut)
    os << " sum-written-out";
  if (pairs)
    os << " pairs";
  if (strip)
    os << (isStripTransposed ? " transposes=%" : " packs=%")
       << strip->getOperandNumber() << 'x' << stripRows
       << (stripValues.empty() ? "" : " widened");
  if (stripValues.size() > 1)
    os << ':' << stripValues.size();
  if (!terms.empty())
    os << " terms=" << terms.size();
  if (start.writer)
    os << (start.filled ? " start=filled" : " start=copied");
  if (epilogue.op)
    os << (epilogue.isTurned ? " epilogue=turned" : " epilogue");
  for (auto [rows, version] : llvm::zip(fewerRows, versions)) {
    os << " | rows<" << rows << ':';
    ::print(os, version);
  }
  if (!fewerRows.empty())
    os << " | else:";
  ::print(os, versions.back());
  if (many) {
    os << " || rows>=" << CpuModel::kRowsOfStrip << ": ";
    many->print(os);
  }
}

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
    ZeroBorders borders = findZeroBorders(func);
    func.walk([&](linalg::LinalgOp op) {
      Operation *copied = copies.lookup(op.getOperation());
      if (auto fill = dyn_cast<linalg::FillOp>(op.getOperation()))
        print("border", planBorder(fill));
      if (isa<linalg::TransposeOp>(op)) {
        rewriter.setInsertionPoint(copied);
        FailureOr<linalg::GenericOp> general =
            linalg::generalizeNamedOp(rewriter, cast<linalg::LinalgOp>(copied));
        return print("transpose", planTranspose(*general, cpu));
      }
      if (auto windows = planWindows(op, cpu))
        return print("windows", windows);
      if (auto contraction = planContraction(op, cpu, borders))
        return print("contraction", contraction);
      auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
      if (!generic)
        return;
      auto panels = planPanelCopy(generic, cpu);
      if (!panels)
        panels = planGroupCopy(generic, cpu);
      if (panels)
        return print("copy", panels);
      if (auto transpose = planTranspose(generic, cpu))
        return print("transpose", transpose);
      linalg::GenericOp rows =
          arrangeRows(rewriter, cast<linalg::GenericOp>(copied));
      if (auto several = planShortRows(rows, cpu))
        print("short-rows", several);
      if (auto columns = planColumns(rows, cpu))
        print("columns", columns);
      else
        print("rows", planRows(rows, cpu));
    });
  }
};
} // namespace
