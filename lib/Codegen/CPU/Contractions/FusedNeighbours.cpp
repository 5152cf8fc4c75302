//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What stands beside a contraction and is done with it: what its sums begin
// with, and what follows element by element (activations, scales, another
// summand) and is computed on them while they are in registers.

#include "ContractionPlan.h"
#include "Rows/VectorElements.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Nest/Analysis/Accesses.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace loopc;

/// The map of `operand`, read by `map` in loops whose axes are joined by
/// `groups`; null where it cannot be read so.
static AffineMap joinedMap(AffineMap map, Value operand,
                           ArrayRef<ReassociationIndices> groups) {
  MLIRContext *context = map.getContext();
  if (map.isIdentity()) {
    auto type = cast<MemRefType>(operand.getType());
    return type.getLayout().isIdentity()
               ? AffineMap::getMultiDimIdentityMap(groups.size(), context)
               : AffineMap();
  }
  SmallVector<AffineExpr> dims(map.getNumDims());
  for (auto [k, group] : llvm::enumerate(groups))
    if (group.size() == 1)
      dims[group[0]] = getAffineDimExpr(k, context);
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!isa<AffineConstantExpr>(expr) && (!dim || !dims[dim.getPosition()]))
      return {};
  }
  for (AffineExpr &dim : dims)
    if (!dim)
      dim = getAffineConstantExpr(0, context);
  return map.replaceDimsAndSymbols(dims, {}, groups.size(), 0);
}

//===----------------------------------------------------------------------===//
// In front
//===----------------------------------------------------------------------===//

/// True if nobody else may know `buffer` by another name: it is allocated here
/// and goes into no loop, branch or call.
static bool isPrivate(Value buffer) {
  return buffer.getDefiningOp<memref::AllocOp>() &&
         allUsersOfViews(buffer, [](Operation *user) {
           return isa<linalg::LinalgOp, func::ReturnOp, memref::CopyOp,
                      memref::DeallocOp, memref::DimOp>(user) ||
                  getAccess(user).buffer;
         });
}

/// True if nobody writes to `buffer`: it is a constant of the module.
static bool isConstant(Value buffer) {
  auto get = buffer.getDefiningOp<memref::GetGlobalOp>();
  if (!get)
    return false;
  auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
      get, get.getNameAttr());
  return global && global.getConstant();
}

/// True if `op`, or an operation in it, uses `buffer` or a view of it.
static bool usesView(Operation *op, Value buffer) {
  return anyNested(op, [&](Operation *nested) {
    return llvm::any_of(nested->getOperands(), [&](Value used) {
      return isa<MemRefType>(used.getType()) && mayBeOneBuffer(used, buffer);
    });
  });
}

/// If `writer` copies, or broadcasts, one buffer to the whole of another: the
/// source, the target and where in the source an element of the target is.
static std::tuple<Value, Value, AffineMap> copied(Operation *writer) {
  if (auto copy = dyn_cast<memref::CopyOp>(writer)) {
    auto type = cast<MemRefType>(copy.getTarget().getType());
    return {copy.getSource(), copy.getTarget(),
            AffineMap::getMultiDimIdentityMap(type.getRank(),
                                              writer->getContext())};
  }
  auto op = dyn_cast<linalg::GenericOp>(writer);
  if (!op || !op.hasPureBufferSemantics() || op.getNumDpsInputs() != 1 ||
      !isa<MemRefType>(op.getInputs()[0].getType()) ||
      op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0 ||
      op.getBody()->getTerminator()->getOperand(0) !=
          op.getBody()->getArgument(0) ||
      !op.getIndexingMapsArray()[1].isIdentity())
    return {};
  return {op.getInputs()[0], op.getOutputs()[0], op.getIndexingMapsArray()[0]};
}

/// True if vectors along the last axis of the result are vectors in `type` by
/// `map`, or one element of it.
static bool followsVectors(MemRefType type, AffineMap map) {
  unsigned last = map.getNumDims() - 1;
  AffineExpr dim = getAffineDimExpr(last, map.getContext());
  for (auto [k, expr] : llvm::enumerate(map.getResults()))
    if (expr.isFunctionOfDim(last) &&
        (k + 1 != map.getNumResults() || expr != dim))
      return false;
  SmallVector<int64_t> strides;
  int64_t offset;
  return !map.isFunctionOfDim(last) ||
         (succeeded(type.getStridesAndOffset(strides, offset)) &&
          strides.back() == 1);
}

StartPlan loopc::findStart(linalg::LinalgOp op, const ContractionPlan &plan) {
  Value buffer = op.getDpsInits()[0];
  Type element = getElementTypeOrSelf(buffer);
  // What the panels are made of may stand in between, and what is freed then:
  // it has nothing to do with a buffer that is known by no other name.
  bool isOwn = isPrivate(buffer);
  auto isElsewhere = [&](Operation *other) {
    return isMemoryEffectFree(other) || isa<memref::AllocOp>(other) ||
           (isOwn && other->getNumRegions() <= 1 &&
            isa<linalg::LinalgOp, scf::ForOp, memref::DeallocOp>(other) &&
            !usesView(other, buffer));
  };
  Operation *before = op->getPrevNode();
  SmallVector<Operation *> between;
  for (; before && isElsewhere(before); before = before->getPrevNode())
    if (!isMemoryEffectFree(before) && !isa<memref::AllocOp>(before))
      between.push_back(before);
  if (!before)
    return {};
  if (auto fill = dyn_cast<linalg::FillOp>(before)) {
    if (fill.getOutputs()[0] != buffer ||
        fill.getInputs()[0].getType() != element)
      return {};
    return {.writer = fill, .filled = fill.getInputs()[0]};
  }
  auto [source, target, map] = copied(before);
  // The whole of it, seen with fewer axes.
  if (auto view = buffer.getDefiningOp<memref::CollapseShapeOp>();
      view && source && view.getSrc() == target) {
    map = joinedMap(map, source, view.getReassociationIndices());
    target = map ? buffer : Value();
  }
  // The source is read after what stands in between, and after the first tiles
  // of the result have been written.
  Value base = source ? getViewRoot(source) : Value();
  if (!between.empty() && (!base || !(isConstant(base) || isPrivate(base)) ||
                           llvm::any_of(between, [&](Operation *other) {
                             return usesView(other, base);
                           })))
    return {};
  if (target != buffer || getElementTypeOrSelf(source) != element ||
      !isPrivate(getViewRoot(buffer)) || base == getViewRoot(buffer))
    return {};
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!plan.isAlongSum &&
      (map.getNumDims() == 0 ||
       !followsVectors(cast<MemRefType>(source.getType()), map)))
    return {};
  return {.writer = before, .copied = source, .map = map.compose(out)};
}

//===----------------------------------------------------------------------===//
// Behind
//===----------------------------------------------------------------------===//

/// So many operations are written out for each vector of a tile.
static constexpr int64_t kLightBody = 16;
/// Of shorter rows little is written at a time, where it is transposed.
static constexpr int64_t kLongRows = 32;
/// Sums of so many products are better computed by whole tiles of rows of open
/// length, and transposed behind: 0.8 of the time (512 channels of 7x7), 0.85
/// (256 of 14x14), 0.93 (96 of 30x45), 1.0 (64 of 56x56).
static constexpr int64_t kLongSum = 512;

/// True if `op` computes each element of its result from elements alone.
static bool isLightMap(linalg::GenericOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() != 0 ||
      !op.getRegionOutputArgs()[0].use_empty())
    return false;
  return isLightBody(*op.getBody(), kLightBody) &&
         llvm::all_of(op.getBody()->without_terminator(), isVectorOperation);
}

/// How axes of `wide` are those of `sums`, of which it is a view or the other
/// way round; null if they are not, or not all there.
static std::optional<SmallVector<ReassociationIndices>> groupsOf(Value wide,
                                                                 Value sums) {
  if (auto collapse = sums.getDefiningOp<memref::CollapseShapeOp>();
      collapse && collapse.getSrc() == wide)
    return collapse.getReassociationIndices();
  if (auto expand = wide.getDefiningOp<memref::ExpandShapeOp>();
      expand && expand.getSrc() == sums)
    return expand.getReassociationIndices();
  return std::nullopt;
}

/// True if what stands between `op` and `next` may stand before both: it does
/// not touch what `op` reads or writes. Collects what must stay behind.
static bool mayMoveDown(linalg::LinalgOp op, Operation *next,
                        ArrayRef<Value> bases,
                        SmallVectorImpl<Operation *> &behind) {
  Value written = getViewRoot(op.getDpsInits()[0]);
  for (Operation *between = op->getNextNode(); between != next;
       between = between->getNextNode()) {
    if (isMemoryEffectFree(between) ||
        isa<memref::AllocOp, loop::CheckOp>(between))
      continue;
    if (isa<memref::DeallocOp>(between)) {
      behind.push_back(between);
      continue;
    }
    auto other = dyn_cast<linalg::LinalgOp>(between);
    if (!other || !other.hasPureBufferSemantics())
      return false;
    for (OpOperand &operand : other->getOpOperands()) {
      Value base = getViewRoot(operand.get());
      bool isRead = llvm::any_of(
          bases, [&](Value read) { return mayBeOneBuffer(read, base); });
      if (mayBeOneBuffer(base, written) ||
          (other.isDpsInit(&operand) &&
           (!base.getDefiningOp<memref::AllocOp>() || isRead)))
        return false;
    }
  }
  return true;
}

/// The first operation behind `op` that takes what it writes, with which value;
/// null where one before it looks that up in its body.
static std::pair<linalg::GenericOp, OpOperand *> readerOf(linalg::LinalgOp op) {
  Value written = getViewRoot(op.getDpsInits()[0]);
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    if (isViewOp(next))
      continue;
    for (OpOperand &operand : next->getOpOperands())
      if (getViewRoot(operand.get()) == written) {
        auto generic = dyn_cast<linalg::GenericOp>(next);
        return {generic,
                generic && generic.isDpsInput(&operand) ? &operand : nullptr};
      }
    if (usesView(next, written) ||
        (next->getNumRegions() != 0 && !isa<linalg::LinalgOp>(next)))
      break;
  }
  return {};
}

/// True if `view` has all elements of the buffer that it is of.
static bool isWhole(Value view) {
  while (Operation *op = view.getDefiningOp()) {
    if (!isa<memref::CollapseShapeOp, memref::ExpandShapeOp, memref::CastOp>(
            op))
      return isa<memref::AllocOp>(op);
    view = op->getOperand(0);
  }
  return false;
}

/// True if nobody reads what `buffer` holds behind `last`: it ends there, or is
/// filled again for another product.
static bool isLastUse(Value buffer, Operation *last) {
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  if (!alloc || alloc->getBlock() != last->getBlock() || !isPrivate(buffer))
    return false;
  Operation *first = nullptr;
  bool areHere = allUsersOfViews(buffer, [&](Operation *user) {
    Operation *outer = alloc->getBlock()->findAncestorOpInBlock(*user);
    if (outer && !isa<memref::DimOp>(user) && last->isBeforeInBlock(outer) &&
        (!first || outer->isBeforeInBlock(first)))
      first = outer;
    return outer != nullptr;
  });
  auto fill = dyn_cast_or_null<linalg::FillOp>(first);
  return areHere && (!first || isa<memref::DeallocOp>(first) ||
                     (fill && isWhole(fill.getOutputs()[0])));
}

/// True if nobody but `op`, what its sums begin with and `last` reads or writes
/// what `buffer` holds then.
static bool isLastUse(Value buffer, linalg::LinalgOp op, const StartPlan &start,
                      Operation *last) {
  return isLastUse(buffer, last) ||
         (buffer.getDefiningOp<memref::AllocOp>() &&
          allUsersOfViews(buffer, [&](Operation *user) {
            return user == op || user == start.writer || user == last ||
                   isa<memref::DeallocOp, memref::DimOp>(user);
          }));
}

/// True if neighbours along `dim` are neighbours in `type`, read by `map`, or
/// one and the same.
static bool runsAlong(MemRefType type, AffineMap map, unsigned dim) {
  if (!map.isFunctionOfDim(dim))
    return true;
  SmallVector<int64_t> strides;
  int64_t offset;
  return map.getResults().back() == getAffineDimExpr(dim, map.getContext()) &&
         llvm::none_of(
             map.getResults().drop_back(),
             [&](AffineExpr expr) { return expr.isFunctionOfDim(dim); }) &&
         succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1;
}

/// True if sums are so long that what tiles of rows of open length leave empty
/// takes longer than to go through the result once more.
static bool areSumsLong(const ContractionPlan &plan) {
  int64_t products = plan.products();
  return plan.sumDims.size() > 1 && plan.isDynamic(*plan.rowDim) &&
         (ShapedType::isDynamic(products) || products >= kLongSum);
}

/// True if tiles are whole vectors, the rows of which can be brought together.
static bool canTurn(const ContractionPlan &plan, CpuModel cpu) {
  return plan.rowDim && plan.columnDim && !areSumsLong(plan) &&
         cpu.hasMasks() && !plan.isDynamic(*plan.columnDim) &&
         plan.extents[*plan.columnDim] % plan.lanes == 0 && plan.lanes > 1 &&
         (plan.isDynamic(*plan.rowDim) ||
          plan.extents[*plan.rowDim] >= kLongRows);
}

/// True if the sums of all tiles stay in registers until they are whole.
static bool keepsSums(const ContractionPlan &plan) {
  return !plan.isAlongSum && !plan.strip &&
         llvm::all_of(plan.versions,
                      [](const RowsPlan &rows) { return !rows.sumBlock; });
}

/// True if `next`, which reads the `sums` of `op` and writes `out`, may write
/// while `op` reads: nothing that is still read is written over.
static bool mayWriteThrough(linalg::LinalgOp op, const StartPlan &start,
                            linalg::GenericOp next, OpOperand &sums,
                            ArrayRef<Value> bases) {
  Value init = op.getDpsInits()[0], out = next.getDpsInits()[0];
  Value written = getViewRoot(init), target = getViewRoot(out);
  if (llvm::any_of(bases,
                   [&](Value base) { return mayBeOneBuffer(base, target); }))
    return false;
  if (target == written)
    return out == init || out == sums.get();
  return isLastUse(written, op, start, next) &&
         target.getDefiningOp<memref::AllocOp>();
}

/// Where the operands of `next` are, by the loops of the contraction; none
/// where one of them cannot be read, or written, by its tiles.
static std::optional<SmallVector<AffineMap>>
mapsByLoops(linalg::LinalgOp op, const EpiloguePlan &epilogue,
            const ContractionPlan &plan, CpuModel cpu) {
  linalg::GenericOp next = epilogue.op;
  OpOperand &sums = next->getOpOperand(epilogue.sums);
  AffineMap own = next.getMatchingIndexingMap(&sums);
  AffineMap here = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  Value written = getViewRoot(op.getDpsInits()[0]);
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : next->getOpOperands()) {
    AffineMap map = next.getMatchingIndexingMap(&operand);
    map = epilogue.groups ? joinedMap(map, operand.get(), *epilogue.groups)
                          : map.compose(inversePermutation(own));
    if (!map)
      return std::nullopt;
    map = map.compose(here);
    bool isResult = next.isDpsInit(&operand);
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    std::optional<unsigned> bits =
        type ? vectorBitsOf(type.getElementType()) : std::nullopt;
    if (!bits || (cpu.hasMasks() && !cpu.canMask(*bits)) ||
        (operand.get() != sums.get() && !isResult &&
         mayBeOneBuffer(operand.get(), written)))
      return std::nullopt;
    bool fits = epilogue.isTurned && isResult
                    ? map.getResults().back() ==
                              getAffineDimExpr(*plan.rowDim, op.getContext()) &&
                          type.isLastDimUnitStride()
                    : runsAlong(type, map, plan.laneDim);
    if (!fits)
      return std::nullopt;
    maps.push_back(map);
  }
  return maps;
}

EpiloguePlan loopc::findEpilogue(linalg::LinalgOp op,
                                 const ContractionPlan &plan, CpuModel cpu) {
  if (!keepsSums(plan))
    return {};
  auto [next, sums] = readerOf(op);
  if (!next || !sums || next->getBlock() != op->getBlock() || !isLightMap(next))
    return {};
  SmallVector<Value> bases;
  for (Value input : op.getDpsInputs())
    bases.push_back(getViewRoot(input));
  if (plan.start.copied)
    bases.push_back(getViewRoot(plan.start.copied));
  if (!mayWriteThrough(op, plan.start, next, *sums, bases))
    return {};
  Value init = op.getDpsInits()[0];
  AffineMap own = next.getMatchingIndexingMap(sums);
  AffineMap to = next.getMatchingIndexingMap(next.getDpsInitOperand(0));
  EpiloguePlan found{
      .op = next, .sums = sums->getOperandNumber(), .isTurned = to != own};
  if (!own.isPermutation() || !to.isPermutation() ||
      (found.isTurned &&
       (getViewRoot(next.getDpsInits()[0]) == getViewRoot(init) ||
        sums->get() != init || !canTurn(plan, cpu))))
    return {};
  if (sums->get() != init) {
    found.groups = groupsOf(sums->get(), init);
    if (!found.groups || !own.isIdentity())
      return {};
  }
  std::optional<SmallVector<AffineMap>> maps =
      mapsByLoops(op, found, plan, cpu);
  if (!maps || !mayMoveDown(op, next, bases, found.behind))
    return {};
  found.maps = *maps;
  return found;
}
