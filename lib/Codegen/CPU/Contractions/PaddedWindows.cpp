//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Which reductions of windows read a padded copy that need not be made:
//
//   linalg.fill ins(-inf) outs(%padded)
//   linalg.generic (copy) ins(%x) outs(%part of %padded)
//   linalg.generic (max of windows) ins(%padded) outs(%y)
//
// What is padded changes no result, so that rows of it are left out, and
// columns of it are lanes that a mask leaves out.

#include "PaddedWindows.h"
#include "Rows/RowPlan.h"
#include "Rows/Rows.h"
#include "Rows/VectorElements.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace loopc;

/// Of longer windows along rows the code is too long to be written out.
static constexpr int64_t kLongWindow = 8;
/// Vectors of a strip of known rows. Of open ones a strip has one: rows are
/// often short, and what is left of them reads with masks.
static constexpr int64_t kStrip = 2;

//===----------------------------------------------------------------------===//
// Padded copies
//===----------------------------------------------------------------------===//

/// True if `op` copies its input, element by element.
static bool isCopy(linalg::GenericOp op) {
  return op.hasPureBufferSemantics() && op.getNumDpsInputs() == 1 &&
         op.getNumDpsInits() == 1 && op.getNumReductionLoops() == 0 &&
         llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isIdentity(); }) &&
         op.getBody()->getTerminator()->getOperand(0) ==
             op.getBody()->getArgument(0);
}

/// The copy in `buffer`, which `reader` alone reads, and reads once.
static std::optional<PaddedCopy> findCopy(Value buffer, Operation *reader) {
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  if (!alloc || !alloc.getType().getLayout().isIdentity())
    return std::nullopt;
  PaddedCopy found;
  unsigned reads = 0;
  for (Operation *user : buffer.getUsers()) {
    if (auto fill = dyn_cast<linalg::FillOp>(user); fill && !found.fill)
      found.fill = fill;
    else if (auto part = dyn_cast<memref::SubViewOp>(user);
             part && !found.part && part->hasOneUse())
      found.part = part;
    else if (user == reader)
      ++reads;
    else if (!isa<memref::DeallocOp>(user))
      return std::nullopt;
  }
  if (!found.fill || !found.part || reads != 1 || !found.part.hasUnitStride() ||
      found.part.getType().getRank() != alloc.getType().getRank())
    return std::nullopt;
  found.copy = dyn_cast<linalg::GenericOp>(*found.part->user_begin());
  Block *block = reader->getBlock();
  bool isInOrder = found.copy && isCopy(found.copy) &&
                   found.copy.getOutputs()[0] == found.part &&
                   found.fill->getBlock() == block &&
                   found.copy->getBlock() == block &&
                   found.fill->isBeforeInBlock(found.copy) &&
                   found.copy->isBeforeInBlock(reader);
  return isInOrder ? std::optional(found) : std::nullopt;
}

/// True if `written`, to which `reader` or what stands in front of it writes,
/// is no other name of what is copied.
static bool isApart(Value written, PaddedCopy &padded, Operation *reader) {
  Value root = getViewRoot(written), source = getViewRoot(padded.source());
  auto target = root.getDefiningOp<memref::AllocOp>();
  if (!target)
    return false;
  auto argument = dyn_cast<BlockArgument>(source);
  bool isInput =
      argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
  if (isInput || source.getDefiningOp<memref::AllocOp>())
    return root != source;
  // What a loop or a branch hands on may be any buffer that was there before.
  return target->getBlock() == reader->getBlock() &&
         padded.copy->isBeforeInBlock(target);
}

/// True if nothing between the copy and `reader` writes to what is copied.
/// Collects what is freed in between.
static bool staysAsItIs(PaddedCopy &padded, Operation *reader) {
  for (Operation *op = padded.copy->getNextNode(); op != reader;
       op = op->getNextNode()) {
    if (isMemoryEffectFree(op) || isa<memref::AllocOp>(op))
      continue;
    if (isa<memref::DeallocOp>(op)) {
      padded.freed.push_back(op);
      continue;
    }
    auto other = dyn_cast<linalg::LinalgOp>(op);
    if (!other || !other.hasPureBufferSemantics() ||
        !llvm::all_of(other.getDpsInits(), [&](Value init) {
          return isApart(init, padded, reader);
        }))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

namespace {
class WindowMatcher {
public:
  WindowMatcher(linalg::GenericOp op, CpuModel cpu)
      : op(op), cpu(cpu), last(op.getNumLoops() - 1) {}

  bool match();

  WindowPlan plan;

private:
  bool matchOperands();
  bool isNeutral();
  bool matchAxis(unsigned axis);
  bool matchRow();
  void findNeighbours();

  linalg::GenericOp op;
  CpuModel cpu;
  unsigned last; ///< number of the last loop
};
} // namespace

bool WindowMatcher::matchOperands() {
  if (op.getNumDpsInits() != 1)
    return false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (op.getMatchingBlockArgument(input).use_empty())
      continue;
    if (plan.input || !isa<MemRefType>(input->get().getType()))
      return false;
    plan.input = input;
  }
  return plan.input &&
         op.getMatchingIndexingMap(plan.input).getNumResults() > 0;
}

/// True if an element of the padding leaves what was reduced before it as it
/// is: it is the least of all numbers, or 0 of a sum that is never -0.
bool WindowMatcher::isNeutral() {
  BlockArgument element = op.getMatchingBlockArgument(plan.input);
  BlockArgument before = op.getRegionOutputArgs()[0];
  Operation *combiner =
      op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  if (!combiner || &op.getBody()->front() != combiner ||
      combiner->getNumOperands() != 2 ||
      !llvm::is_contained(combiner->getOperands(), element) ||
      !llvm::is_contained(combiner->getOperands(), before))
    return false;
  Attribute filler, start;
  if (!matchPattern(plan.padded.filler(), m_Constant(&filler)))
    return false;
  if (auto number = dyn_cast<FloatAttr>(filler)) {
    const APFloat &value = number.getValue();
    if (isa<arith::MaximumFOp>(combiner))
      return value.isInfinity() && value.isNegative();
    return isa<arith::AddFOp>(combiner) && value.isZero() &&
           plan.start.filled &&
           matchPattern(plan.start.filled, m_Constant(&start)) &&
           cast<FloatAttr>(start).getValue().isPosZero();
  }
  auto number = dyn_cast<IntegerAttr>(filler);
  if (!number)
    return false;
  return isa<arith::MaxSIOp>(combiner)   ? number.getValue().isMinSignedValue()
         : isa<arith::MaxUIOp>(combiner) ? number.getValue().isZero()
                                         : false;
}

/// Finds the window along a padded axis of the input.
bool WindowMatcher::matchAxis(unsigned axis) {
  memref::SubViewOp part = plan.padded.part;
  auto alloc = cast<memref::AllocOp>(part.getSource().getDefiningOp());
  OpFoldResult extent =
      alloc.getType().isDynamicDim(axis)
          ? OpFoldResult(
                alloc.getDynamicSizes()[alloc.getType().getDynamicDimIndex(
                    axis)])
          : OpFoldResult(IntegerAttr::get(IndexType::get(op.getContext()),
                                          alloc.getType().getDimSize(axis)));
  if (isConstantIntValue(part.getMixedOffsets()[axis], 0) &&
      isEqualConstantIntOrValue(part.getMixedSizes()[axis], extent)) {
    plan.windows.push_back(std::nullopt);
    return true;
  }
  AffineExpr expr = op.getMatchingIndexingMap(plan.input).getResult(axis);
  std::optional<unsigned> window;
  for (unsigned dim : plan.reduced) {
    if (!expr.isFunctionOfDim(dim))
      continue;
    std::optional<int64_t> step = stepAlong(expr, dim, op.getNumLoops());
    if (window || !step || *step < 1)
      return false;
    window = dim;
  }
  plan.windows.push_back(window);
  return window.has_value();
}

/// The last axis: windows, if any, of a known, short extent, which are reduced
/// last.
bool WindowMatcher::matchRow() {
  AffineExpr expr = op.getMatchingIndexingMap(plan.input).getResults().back();
  for (unsigned dim : plan.reduced) {
    if (!expr.isFunctionOfDim(dim))
      continue;
    int64_t extent = knownExtents(op)[dim];
    if (dim != plan.reduced.back() || ShapedType::isDynamic(extent) ||
        extent > kLongWindow)
      return false;
    plan.rowWindow = dim;
  }
  std::optional<int64_t> step = stepAlong(expr, last, op.getNumLoops());
  std::optional<int64_t> before =
      getConstantIntValue(plan.padded.part.getMixedOffsets().back());
  auto source = cast<MemRefType>(plan.padded.source().getType());
  // The padding in front lies in the first vector.
  return step && (*step == 1 || *step == 2) && before &&
         *before <= plan.lanes * *step && source.isLastDimUnitStride();
}

void WindowMatcher::findNeighbours() {
  // The neighbours of a product whose vectors run along the last loop.
  ContractionPlan rows;
  rows.laneDim = last;
  rows.start = plan.start;
  plan.epilogue = findEpilogue(op, rows, cpu);
  if (!plan.epilogue.op)
    return;
  // The source is read where the epilogue stands.
  bool isWritten = false;
  for (Operation *next = op;; next = next->getNextNode()) {
    if (auto other = dyn_cast<linalg::LinalgOp>(next))
      isWritten |= !llvm::all_of(other.getDpsInits(), [&](Value init) {
        return isApart(init, plan.padded, op);
      });
    if (next == plan.epilogue.op)
      break;
  }
  if (plan.epilogue.groups || plan.epilogue.isTurned || isWritten)
    plan.epilogue = {};
}

bool WindowMatcher::match() {
  if (!op.hasPureBufferSemantics() || op.hasIndexSemantics())
    return false;
  std::optional<ColumnPlan> columns = planColumns(op, cpu);
  if (!columns || !matchOperands())
    return false;
  plan.lanes = columns->lanes;
  plan.reduced = columns->reduced;
  std::optional<PaddedCopy> padded = findCopy(plan.input->get(), op);
  if (!padded || !staysAsItIs(*padded, op) ||
      !isApart(op.getDpsInits()[0], *padded, op))
    return false;
  plan.padded = std::move(*padded);
  ContractionPlan rows;
  plan.start = findStart(op, rows);
  if (plan.start.copied)
    plan.start = {};
  AffineMap map = op.getMatchingIndexingMap(plan.input);
  for (unsigned axis = 0; axis < map.getNumResults(); ++axis)
    if (!matchAxis(axis))
      return false;
  if (!matchRow() || !isNeutral())
    return false;
  findNeighbours();
  int64_t row = knownExtents(op)[last];
  plan.vectors = ShapedType::isDynamic(row)
                     ? 1
                     : std::clamp<int64_t>(row / plan.lanes, 1, kStrip);
  return true;
}

std::optional<WindowPlan> loopc::planWindows(linalg::LinalgOp op,
                                             CpuModel cpu) {
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic || generic.getNumReductionLoops() == 0 ||
      generic.getNumLoops() < 2)
    return std::nullopt;
  WindowMatcher matcher(generic, cpu);
  if (!matcher.match())
    return std::nullopt;
  return std::move(matcher.plan);
}

void WindowPlan::print(llvm::raw_ostream &os) const {
  os << "vectors=" << lanes << " strip=" << vectors << " reduced=";
  llvm::interleave(reduced, os, [&](unsigned dim) { os << 'd' << dim; }, ",");
  os << " pads=%" << input->getOperandNumber();
  if (start.writer)
    os << " start=filled";
  if (epilogue.op)
    os << " epilogue";
}
