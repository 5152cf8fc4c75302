//===- TransposePlan.cpp - How transposes are computed --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TransposePlan.h"
#include "Rows/VectorElements.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace loopc;
using Kind = TransposePlan::Kind;
using Part = ShortTranspose::Part;

/// So many operations are written out for each row of a tile.
static constexpr int64_t kLightBody = 6;
/// Numbers of a short axis at most.
static constexpr int64_t kFewNumbers = 4;

static bool hasUnitStride(Value buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  return type && type.isLastDimUnitStride();
}

static unsigned countUses(AffineMap map, unsigned dim) {
  return llvm::count_if(map.getResults(), [&](AffineExpr expr) {
    return expr.isFunctionOfDim(dim);
  });
}

//===----------------------------------------------------------------------===//
// A short axis
//===----------------------------------------------------------------------===//

/// How `operand` lies along the axes of `plan`; none if vectors cannot read it.
static std::optional<Part> partOf(linalg::GenericOp op, OpOperand &operand,
                                  const ShortTranspose &plan) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  ArrayRef<AffineExpr> results = map.getResults();
  if (!map.isFunctionOfDim(plan.longDim))
    return Part::Element;
  AffineExpr across = getAffineDimExpr(plan.shortDim, op.getContext());
  AffineExpr along = getAffineDimExpr(plan.longDim, op.getContext());
  if (countUses(map, plan.longDim) != 1 || !hasUnitStride(operand.get()))
    return std::nullopt;
  if (results.back() == along)
    return Part::Apart;
  auto type = cast<MemRefType>(operand.get().getType());
  int64_t rank = type.getRank();
  if (rank < 2 || results.back() != across ||
      countUses(map, plan.shortDim) != 1 || results[rank - 2] != along ||
      (!type.isDynamicDim(rank - 1) && type.getDimSize(rank - 1) != plan.count))
    return std::nullopt;
  SmallVector<ReassociationIndices> groups;
  for (int64_t axis : llvm::seq(rank - 1))
    groups.push_back({axis});
  groups.back().push_back(rank - 1);
  if (!memref::CollapseShapeOp::isGuaranteedCollapsible(type, groups))
    return std::nullopt;
  return Part::Together;
}

/// How operands lie where axis `few` has `count` numbers.
static std::optional<ShortTranspose> planShort(linalg::GenericOp op,
                                               CpuModel cpu, unsigned few,
                                               unsigned many, int64_t count) {
  ShortTranspose plan{few, many, count};
  unsigned bits = 8;
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<Part> part = partOf(op, operand, plan);
    if (!part || (op.isDpsInit(&operand) && *part == Part::Element))
      return std::nullopt;
    plan.parts.push_back(*part);
    if (*part == Part::Element)
      continue;
    std::optional<unsigned> width =
        vectorBitsOf(getElementTypeOrSelf(operand.get()));
    if (!width || *width < cpu.maskBits)
      return std::nullopt;
    bits = std::max(bits, *width);
  }
  plan.lanes = cpu.lanesOf(bits);
  int64_t extent = knownExtents(op)[many];
  if (!ShapedType::isDynamic(extent))
    plan.lanes = std::min<int64_t>(plan.lanes, llvm::PowerOf2Ceil(extent));
  if (plan.lanes <= 1)
    return std::nullopt;
  return plan;
}

/// The plans for an axis that is known to be short, or may turn out to be.
static void addShort(linalg::GenericOp op, CpuModel cpu, TransposePlan &plan) {
  auto isOpen = [&](unsigned dim) {
    return ShapedType::isDynamic(plan.extents[dim]);
  };
  auto isFew = [&](unsigned dim) {
    return !isOpen(dim) && plan.extents[dim] <= kFewNumbers;
  };
  unsigned rows = plan.rowDim, columns = plan.columnDim;
  if (isFew(rows) != isFew(columns)) {
    unsigned few = isFew(rows) ? rows : columns;
    plan.isShort = planShort(op, cpu, few, few == rows ? columns : rows,
                             plan.extents[few]);
  }
  if (!isOpen(rows) || !isOpen(columns))
    return;
  for (auto [few, many] : {std::pair(rows, columns), std::pair(columns, rows)})
    for (int64_t count : llvm::seq_inclusive<int64_t>(1, kFewNumbers)) {
      std::optional<ShortTranspose> version =
          planShort(op, cpu, few, many, count);
      if (!version)
        break;
      plan.versions.push_back(std::move(*version));
    }
}

//===----------------------------------------------------------------------===//
// Square tiles
//===----------------------------------------------------------------------===//

/// How `operand` is read where vectors of the result run along `columnDim`;
/// none if vectors cannot read it.
static std::optional<Kind> kindOf(linalg::GenericOp op, OpOperand &operand,
                                  unsigned columnDim) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!map.isFunctionOfDim(columnDim))
    return Kind::Element;
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  if (!last || !hasUnitStride(operand.get()) ||
      countUses(map, last.getPosition()) != 1)
    return std::nullopt;
  return last.getPosition() == columnDim ? Kind::Columns : Kind::Rows;
}

/// Finds the axes of the tiles, and how operands are read along them. Widens
/// `bits` to the widest element.
static bool findAxes(linalg::GenericOp op,
                     llvm::function_ref<unsigned(OpOperand &)> bitsOf,
                     TransposePlan &plan, unsigned &bits) {
  std::optional<unsigned> rows;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!isa<MemRefType>(input->get().getType()))
      return false;
    std::optional<Kind> kind = kindOf(op, *input, plan.columnDim);
    if (!kind)
      return false;
    plan.kinds.push_back(*kind);
    if (*kind == Kind::Element)
      continue;
    if (bitsOf(*input) == 0)
      return false;
    bits = std::max(bits, bitsOf(*input));
    if (*kind == Kind::Columns)
      continue;
    unsigned dim = cast<AffineDimExpr>(
                       op.getMatchingIndexingMap(input).getResults().back())
                       .getPosition();
    if (rows && *rows != dim)
      return false;
    rows = dim;
  }
  if (!rows || plan.extents[*rows] == 1 || plan.extents[plan.columnDim] == 1)
    return false;
  plan.rowDim = *rows;
  return true;
}

std::optional<TransposePlan> loopc::planTranspose(linalg::GenericOp op,
                                                  CpuModel cpu) {
  if (!op.hasPureBufferSemantics() || op.getNumReductionLoops() != 0 ||
      op.getNumDpsInits() != 1 || op.getNumLoops() < 2 ||
      !op.getRegionOutputArgs()[0].use_empty())
    return std::nullopt;
  OpOperand &init = *op.getDpsInitOperand(0);
  AffineMap out = op.getMatchingIndexingMap(&init);
  auto bitsOf = [&](OpOperand &operand) {
    unsigned bits =
        vectorBitsOf(getElementTypeOrSelf(operand.get())).value_or(0);
    return cpu.canMask(bits) ? bits : 0;
  };
  unsigned bits = bitsOf(init);
  if (!out.isPermutation() || !hasUnitStride(init.get()) || bits == 0)
    return std::nullopt;
  TransposePlan plan{knownExtents(op)};
  plan.columnDim = cast<AffineDimExpr>(out.getResults().back()).getPosition();
  if (!findAxes(op, bitsOf, plan, bits))
    return std::nullopt;
  // Lanes that are masked compute, too: nothing that may fail.
  for (Operation &inner : op.getBody()->without_terminator())
    if (!isVectorOperation(inner))
      return std::nullopt;
  plan.lanes = cpu.lanesOf(bits);
  for (unsigned dim : {plan.rowDim, plan.columnDim})
    if (!ShapedType::isDynamic(plan.extents[dim]))
      plan.lanes =
          std::min<int64_t>(plan.lanes, llvm::PowerOf2Ceil(plan.extents[dim]));
  plan.lanes = std::min(plan.lanes, CpuModel::kSquareLanes);
  if (plan.lanes <= 1)
    return std::nullopt;
  plan.isCopiedFirst = !isLightBody(*op.getBody(), kLightBody);
  addShort(op, cpu, plan);
  return plan;
}

void TransposePlan::print(raw_ostream &os) const {
  printExtents(os, extents);
  os << " rows=d" << rowDim << " columns=d" << columnDim;
  auto printShort = [&](const ShortTranspose &plan) {
    os << "d" << plan.shortDim << ':' << plan.count
       << " vectors=" << plan.lanes;
  };
  if (isCopiedFirst) {
    os << " copied-first";
  } else if (isShort) {
    os << " short=";
    printShort(*isShort);
    return;
  }
  for (const ShortTranspose &version : versions) {
    os << " | short=";
    printShort(version);
  }
  os << (versions.empty() ? " tile=" : " | else: tile=") << lanes << 'x'
     << lanes;
}
