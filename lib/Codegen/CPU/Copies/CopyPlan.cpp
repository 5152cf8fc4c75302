//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Which way a copy into panels is done.

#include "CopyPlan.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace loopc;

/// True if `op` copies rows that lie in memory as vectors to a buffer without
/// gaps, in the order that its result's map says.
static bool isCopyOfRows(linalg::GenericOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0 ||
      op.getBody()->getTerminator()->getOperand(0) !=
          op.getBody()->getArgument(0) ||
      !op.getIndexingMapsArray()[0].isIdentity())
    return false;
  auto source = dyn_cast<MemRefType>(op.getInputs()[0].getType());
  auto target = cast<MemRefType>(op.getOutputs()[0].getType());
  return source && source.getRank() > 0 && source.isLastDimUnitStride() &&
         target.getLayout().isIdentity();
}

/// The fill right before `op` of what it writes to, if there is one.
static linalg::FillOp findFill(linalg::GenericOp op) {
  auto fill = dyn_cast_or_null<linalg::FillOp>(op->getPrevNode());
  return fill && fill.getOutputs()[0] == op.getOutputs()[0] ? fill
                                                            : linalg::FillOp();
}

/// Finds the panels that `op` writes; false if there are none.
static bool findPanels(linalg::GenericOp op, CopyPlan &plan) {
  std::optional<Panels> panels = getPanels(op);
  if (!panels || panels->map != op.getIndexingMapsArray()[1])
    return false;
  plan.width = panels->width;
  plan.columns = panels->dim;
  plan.group = panels->group;
  plan.rows = panels->map.getNumDims() - 1;
  return true;
}

/// True if the last of the parts of `size` along `axis` may be cut off.
static bool hasRest(MemRefType type, unsigned axis, int64_t size) {
  return type.isDynamicDim(axis) || type.getDimSize(axis) % size != 0;
}

std::optional<CopyPlan> loopc::planPanelCopy(linalg::GenericOp op,
                                             CpuModel cpu) {
  CopyPlan plan;
  if (!isCopyOfRows(op))
    return std::nullopt;
  auto type = cast<MemRefType>(op.getInputs()[0].getType());
  if (!findPanels(op, plan) || plan.group ||
      !type.getElementType().isIntOrFloat())
    return std::nullopt;
  unsigned bits = type.getElementTypeBitWidth();
  if (bits < 8 || !llvm::isPowerOf2_32(bits) || bits > 64)
    return std::nullopt;
  plan.lanes = std::min<int64_t>(cpu.lanesOf(bits), plan.width);
  plan.isTransposed = plan.rows != plan.columns;
  plan.masksColumns = hasRest(type, plan.columns, plan.width);
  plan.masksRows = plan.isTransposed && hasRest(type, plan.rows, plan.lanes);
  if (!llvm::isPowerOf2_64(plan.lanes) || plan.width % plan.lanes != 0 ||
      (plan.isTransposed &&
       (plan.lanes < 2 || plan.lanes > CpuModel::kSquareLanes)) ||
      ((plan.masksColumns || plan.masksRows) && !cpu.canMask(bits)))
    return std::nullopt;
  // The panels' padding is written with them.
  if (linalg::FillOp fill = findFill(op);
      fill && (matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) ||
               matchPattern(fill.getInputs()[0], m_Zero())))
    plan.fill = fill;
  return plan;
}

std::optional<CopyPlan> loopc::planGroupCopy(linalg::GenericOp op,
                                             CpuModel cpu) {
  CopyPlan plan;
  if (!isCopyOfRows(op))
    return std::nullopt;
  auto type = cast<MemRefType>(op.getInputs()[0].getType());
  if (!findPanels(op, plan) || !plan.group)
    return std::nullopt;
  auto [dim, size] = *plan.group;
  plan.lanes = plan.width;
  plan.isTransposed = plan.rows == dim;
  plan.masksColumns = hasRest(type, plan.columns, plan.width);
  plan.masksRows = hasRest(type, dim, size);
  bool fits =
      plan.isTransposed || (plan.rows == plan.columns &&
                            (cpu.canMask(type.getElementTypeBitWidth()) ||
                             (!plan.masksColumns && !plan.masksRows)));
  if (plan.columns == dim || !llvm::isPowerOf2_64(size) || !fits)
    return std::nullopt;
  // Rows of panels are written whole, with zeros behind what is there.
  linalg::FillOp fill = findFill(op);
  if (fill && !matchPattern(fill.getInputs()[0], m_Zero()))
    return std::nullopt;
  if (!plan.isTransposed)
    plan.fill = fill;
  return plan;
}

void CopyPlan::print(raw_ostream &os) const {
  os << "panels=d" << columns << 'x' << width;
  if (group)
    os << " groups=d" << group->dim << 'x' << group->size;
  os << " vectors=" << lanes;
  if (isTransposed)
    os << " transposed";
  if (masksColumns)
    os << " masks-columns";
  if (masksRows)
    os << " masks-rows";
  if (fill)
    os << " writes-padding";
}
