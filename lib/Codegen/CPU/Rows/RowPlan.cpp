//===- RowPlan.cpp - How rows of elements are computed --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowPlan.h"
#include "Rows.h"
#include "VectorElements.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace loopc;
using utils::IteratorType;

/// Operations of an element up to which several rows are worth their code.
static constexpr unsigned kMaxOpsOfRows = 16;
/// Numbers of a row from which its last sum does not count.
static constexpr int64_t kLongRow = 1024;
/// Vectors of a strip of columns.
static constexpr int64_t kStrip = CpuModel::kChains;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
class RowMatcher {
public:
  RowMatcher(linalg::GenericOp op, CpuModel cpu)
      : op(op), cpu(cpu), last(op.getNumLoops() - 1) {}

  bool match();

  RowPlan plan;

private:
  bool matchOperand(OpOperand &operand);
  bool matchReduction();
  bool matchBody();
  bool waitsForSums();
  bool isVectorLoad(memref::LoadOp load);
  std::optional<unsigned> findRows();
  bool runsAlong(OpOperand &operand) {
    return op.getMatchingIndexingMap(&operand).isFunctionOfDim(last);
  }

  linalg::GenericOp op;
  CpuModel cpu;
  unsigned last; ///< number of the last axis
};
} // namespace

/// True for reductions whose steps are short: each waits for the sum of the one
/// before. Steps that compute more have enough to do meanwhile.
bool RowMatcher::waitsForSums() {
  constexpr unsigned kShort = 4;
  unsigned count = 0;
  for (Operation &inner : op.getBody()->without_terminator())
    if (++count > kShort || !isa<arith::ArithDialect>(inner.getDialect()))
      return false;
  return !llvm::is_contained(plan.combiners, nullptr);
}

/// True for reads of neighbours, of which LLVM would ask in each row whether
/// they are written there, or read them one by one.
bool RowMatcher::isVectorLoad(memref::LoadOp load) {
  if (load.getIndices().empty())
    return false;
  bool isOneIfTrue;
  Value along = load.getIndices().back();
  return countRepeats(load, op, last) != 0 || isNumberAlong(along, op, last) ||
         findOnePlace(along, op, last, isOneIfTrue);
}

/// The axis to take several rows of: the innermost that has several.
std::optional<unsigned> RowMatcher::findRows() {
  constexpr int64_t kFour = 4; // lanes that joinRows shuffles
  SmallVector<int64_t> extents = knownExtents(op);
  bool isLong =
      ShapedType::isStatic(extents[last]) && extents[last] >= kLongRow;
  if (isLong || plan.lanes % kFour != 0 || !plan.reduces() || !plan.isShort)
    return std::nullopt;
  for (unsigned dim = last; dim-- > 0;) {
    if (extents[dim] == 1)
      continue;
    bool areMany =
        ShapedType::isDynamic(extents[dim]) || extents[dim] >= RowPlan::kRows;
    if (areMany && isParallelDim(op, dim))
      return dim;
    return std::nullopt;
  }
  return std::nullopt;
}

bool RowMatcher::matchOperand(OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return operand.get().getType().isIntOrFloat();
  if (!isRowElement(type.getElementType()) ||
      type.getElementTypeBitWidth() < cpu.maskBits)
    return false;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [k, expr] : llvm::enumerate(map.getResults())) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      continue;
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return false;
    // Neighbours in a row are neighbours in memory.
    if (dim.getPosition() == last &&
        (k + 1 != map.getNumResults() || !type.isLastDimUnitStride()))
      return false;
  }
  return true;
}

Operation *loopc::findCombiner(linalg::GenericOp op, OpOperand &init) {
  BlockArgument out = op.getMatchingBlockArgument(&init);
  Operation *combiner = op.getMatchingYieldValue(&init)->get().getDefiningOp();
  if (!out.hasOneUse() || !combiner || !combiner->hasOneUse() ||
      *out.user_begin() != combiner ||
      !isa<arith::AddFOp, arith::MaximumFOp, arith::MinimumFOp, arith::AddIOp,
           arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(
          combiner))
    return nullptr;
  if (auto sum = dyn_cast<arith::AddFOp>(combiner);
      sum &&
      !bitEnumContainsAll(sum.getFastmath(), arith::FastMathFlags::reassoc))
    return nullptr;
  return combiner;
}

/// The outputs that the last axis is summed up to, or the like. Along other
/// axes rows are summed up in memory.
bool RowMatcher::matchReduction() {
  plan.combiners.assign(op.getNumDpsInits(), nullptr);
  if (op.getIteratorTypesArray()[last] != utils::IteratorType::reduction)
    return llvm::all_of(op.getDpsInitsMutable(),
                        [&](OpOperand &init) { return runsAlong(init); });
  for (auto [k, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    if (runsAlong(init))
      continue;
    Operation *combiner = findCombiner(op, init);
    if (!combiner)
      return false;
    plan.combiners[k] = combiner;
  }
  return true;
}

bool RowMatcher::matchBody() {
  unsigned bits = bitsOfVectorBody(op);
  plan.lanes = bits ? cpu.lanesOf(bits) : 0;
  // Divisions of a short vector take less time, and so does to sum it up.
  if (int64_t row = knownExtents(op)[last];
      plan.lanes > 1 && ShapedType::isStatic(row) && row < plan.lanes)
    plan.lanes =
        std::max<int64_t>(CpuModel::kMinBits / bits, llvm::PowerOf2Ceil(row));
  return plan.lanes > 1 &&
         llvm::all_of(op.getBody()->getOps<memref::LoadOp>(),
                      [&](memref::LoadOp load) {
                        return canLoadAlong(load, op, last) &&
                               countRepeats(load, op, last) <= plan.lanes;
                      });
}

/// True for functions that are polynomials of vectors only: single numbers are
/// left to libm. Integers are divided faster in vectors, too.
static bool needsVectors(linalg::GenericOp op) {
  // Whether what is written is read elsewhere, LLVM cannot ask of places apart.
  bool hasLoads = !op.getBody()->getOps<memref::LoadOp>().empty();
  return llvm::any_of(*op.getBody(), [&](Operation &inner) {
    if (inner.getNumResults() != 1)
      return false;
    if (hasLoads && isa<math::MathDialect>(inner.getDialect()))
      return true;
    Type type = inner.getResult(0).getType();
    if (isVectorDivision(&inner))
      return true;
    if (isa<math::SinOp, math::CosOp>(inner))
      return type.isF32() || type.isF64();
    if (isa<math::PowFOp, arith::RemFOp>(inner))
      return type.isF32();
    return type.isF64() && isa<math::ExpOp, math::ExpM1Op, math::LogOp,
                               math::Log1pOp, math::TanhOp>(inner);
  });
}

/// True for rows of converted floats that are short, or may be: LLVM unrolls
/// them, or leaves the end of each row, and converts one number at a time.
static bool convertsShortRows(linalg::GenericOp op, unsigned last) {
  constexpr int64_t kUnrolled = 64;
  int64_t row = knownExtents(op)[last];
  bool isShort = ShapedType::isDynamic(row) || row <= kUnrolled;
  return isShort && op.getNumLoops() > 1 &&
         llvm::any_of(*op.getBody(),
                      llvm::IsaPred<arith::ExtFOp, arith::TruncFOp>);
}

bool RowMatcher::match() {
  if (!op.hasPureBufferSemantics() || op.getNumLoops() == 0 || !cpu.hasMasks())
    return false;
  bool broadcasts =
      op.getNumReductionLoops() > 0 || needsVectors(op) ||
      convertsShortRows(op, last) ||
      llvm::any_of(op.getBody()->getOps<memref::LoadOp>(),
                   [&](memref::LoadOp load) { return isVectorLoad(load); });
  for (OpOperand &operand : op->getOpOperands()) {
    if (!matchOperand(operand))
      return false;
    // Rows with gaps between them, as well: LLVM unrolls short ones entirely
    // before it looks for vectors.
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    broadcasts |= !op.getMatchingIndexingMap(&operand).isIdentity() ||
                  (type && !type.getLayout().isIdentity());
  }
  // Without, LLVM does as well.
  if (!broadcasts || knownExtents(op)[last] == 1)
    return false;
  if (!matchReduction() || !matchBody())
    return false;
  plan.isUnrolled = waitsForSums();
  plan.isShort = op.getBody()->getOperations().size() <= kMaxOpsOfRows + 1;
  plan.rowDim = findRows();
  return true;
}

std::optional<RowPlan> loopc::planRows(linalg::GenericOp op, CpuModel cpu) {
  RowMatcher matcher(op, cpu);
  if (!matcher.match())
    return std::nullopt;
  return std::move(matcher.plan);
}

void RowPlan::print(llvm::raw_ostream &os) const {
  os << "vectors=" << lanes;
  if (rowDim)
    os << " rows=" << kRows << " of=d" << *rowDim;
  for (auto [k, combiner] : llvm::enumerate(combiners))
    if (combiner)
      os << " reduces=" << combiner->getName().stripDialect() << " into=#" << k;
  if (isUnrolled)
    os << " sums=" << CpuModel::kChains;
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

namespace {
class ColumnMatcher {
public:
  ColumnMatcher(linalg::GenericOp op, CpuModel cpu)
      : op(op), cpu(cpu), last(op.getNumLoops() - 1) {}

  bool match();

  ColumnPlan plan;

private:
  bool matchInput(OpOperand &operand);
  bool matchInit(OpOperand &operand);
  void findChains();

  linalg::GenericOp op;
  CpuModel cpu;
  unsigned last; ///< number of the last axis
};
} // namespace

bool ColumnMatcher::matchInput(OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return operand.get().getType().isIntOrFloat();
  // Only its shape is asked for.
  if (op.getMatchingBlockArgument(&operand).use_empty())
    return true;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!isVectorElement(type.getElementType()) ||
      type.getElementTypeBitWidth() < cpu.maskBits)
    return false;
  for (AffineExpr expr : map.getResults())
    if (!expr.isPureAffine())
      return false;
  if (!map.isFunctionOfDim(last))
    return true;
  for (AffineExpr expr : map.getResults().drop_back())
    if (expr.isFunctionOfDim(last))
      return false;
  int64_t step = stepAlong(operand, op, last);
  return type.isLastDimUnitStride() && (step == 1 || step == 2);
}

bool ColumnMatcher::matchInit(OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!type || !isVectorElement(type.getElementType()) ||
      type.getElementTypeBitWidth() < cpu.maskBits ||
      !type.isLastDimUnitStride() || !map.isProjectedPermutation() ||
      map.getNumResults() == 0 ||
      map.getResults().back() != getAffineDimExpr(last, op.getContext()))
    return false;
  bool isStored =
      map.isPermutation() && !op.payloadUsesValueFromOperand(&operand);
  plan.isStored.push_back(isStored);
  if (isStored)
    return true;
  // Every row of the result is written once.
  for (auto [k, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (map.isFunctionOfDim(k) != (kind == IteratorType::parallel))
      return false;
  return true;
}

/// Several rows at once have sums of their own where each is a vector or less,
/// and waits for the one before. Where more is computed there is enough to do
/// meanwhile. All columns are summed up in one order: equal ones stay equal.
void ColumnMatcher::findChains() {
  if (plan.vectors > 1)
    return;
  constexpr int64_t kLight = 6;
  int64_t rows = knownExtents(op)[plan.reduced.back()];
  if ((ShapedType::isStatic(rows) && rows < 4 * CpuModel::kChains) ||
      !isLightBody(*op.getBlock(), kLight))
    return;
  for (auto [init, stored] :
       llvm::zip_equal(op.getDpsInitsMutable(), plan.isStored)) {
    if (stored)
      continue;
    Operation *combiner = findCombiner(op, init);
    if (!combiner) {
      plan.combiners.clear();
      return;
    }
    plan.combiners.push_back(combiner);
  }
}

bool ColumnMatcher::match() {
  if (!op.hasPureBufferSemantics() || op.getNumLoops() < 2 || !cpu.hasMasks())
    return false;
  SmallVector<IteratorType> kinds = op.getIteratorTypesArray();
  for (auto [k, kind] : llvm::enumerate(kinds))
    if (kind == IteratorType::reduction)
      plan.reduced.push_back(k);
  if (plan.reduced.empty() || plan.reduced.back() == last ||
      knownExtents(op)[last] == 1)
    return false;
  if (!llvm::all_of(op.getDpsInitsMutable(),
                    [&](OpOperand &init) { return matchInit(init); }) ||
      !llvm::all_of(op.getDpsInputOperands(),
                    [&](OpOperand *input) { return matchInput(*input); }))
    return false;
  if (!op.getBody()->getOps<memref::LoadOp>().empty())
    return false;
  if (!llvm::is_contained(plan.isStored, false))
    return false;
  unsigned bits = bitsOfVectorBody(op);
  plan.lanes = bits ? cpu.lanesOf(bits) : 0;
  if (plan.lanes <= 1)
    return false;
  int64_t columns = knownExtents(op)[last];
  plan.vectors = ShapedType::isDynamic(columns)
                     ? kStrip
                     : std::min(columns / plan.lanes, kStrip);
  findChains();
  return true;
}

std::optional<ColumnPlan> loopc::planColumns(linalg::GenericOp op,
                                             CpuModel cpu) {
  ColumnMatcher matcher(op, cpu);
  if (!matcher.match())
    return std::nullopt;
  return std::move(matcher.plan);
}

void ColumnPlan::print(llvm::raw_ostream &os) const {
  os << "vectors=" << lanes << " strip=" << vectors << " reduced=";
  llvm::interleave(reduced, os, [&](unsigned dim) { os << 'd' << dim; }, ",");
  for (auto [k, stored] : llvm::enumerate(isStored))
    if (stored)
      os << " stores=#" << k;
  if (!combiners.empty())
    os << " sums=" << CpuModel::kChains;
}
