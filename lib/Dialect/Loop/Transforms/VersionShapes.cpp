//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-version-shapes: a version of a loop for extents that agree.
//
// The version is made by trial. In a copy of the loop every carried value is
// assumed to keep the extents of its init; what follows from that, and from the
// run-time conditions that are added on the way, is simplified. An assumption
// is a fact only if the copy proves it: that what each iteration yields has the
// extent, too. The proof is an induction over the order in which the copy runs:
// at the end of an iteration everything that was simplified so far relied on
// earlier iterations, and on inner loops that have ended, alone.
//
// So nothing that has to be proved may get lost while the copy is simplified,
// though simplification is what makes it look superfluous: a carried value of
// which only the extent was read is dead once the extent is the init's. Two
// things see to that. Each assumption is an operation in the copy, its
// obligation, a loop.check before the yield that nothing folds: a loop in which
// something has to be proved is not dead. And the patterns that simplify the
// copy do not rebuild loops, so that a port stays the same port. What is not
// proved in the end is retracted, and the trial begins anew without it: what
// remains is the greatest set of assumptions that prove one another.

#include "DimPatterns.h"
#include "VersionConditions.h"
#include "VersionPositions.h"
#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPVERSIONSHAPES
#include "loopc/Dialect/Loop/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

/// Numbers the loops of a nest, so that those of a copy are known again.
static constexpr StringLiteral kNumber = "loopc.number";
/// Assumptions lead to others: how often that is followed.
static constexpr unsigned kMaxRounds = 12;
/// What is computed for a condition: more operations are not extents of one
/// operator.
static constexpr unsigned kMaxSlice = 64;

namespace {
/// A dimension of a carried value, assumed to be what it is in the init.
struct AssumedDim {
  LoopOp loop;
  unsigned port;
  int64_t axis;
  CheckOp obligation; ///< Of the init's extent; null where erased.

  /// The init's extent; null where that is unknown by now, which refutes it.
  OpFoldResult ofInit() const {
    if (!obligation)
      return {};
    Value extent = CheckOp(obligation).getValues().front();
    if (LoopOp(loop)->isAncestor(extent.getParentRegion()->getParentOp()) &&
        !getConstantIntValue(extent))
      return {};
    return getAsOpFoldResult(extent);
  }
};
/// One of what an inner loop that runs collects, as result `port`.
struct CollectedDim {
  LoopOp loop;
  unsigned port;
  int64_t axis;
  OpFoldResult extent; ///< Defined before the copy.
};
/// Loop number, port and axis of a dimension that iterations do change.
using Changed = std::tuple<int64_t, unsigned, int64_t>;

/// A copy of a loop in which extents agree, with what has to hold for that.
class ShapeVersion : public RewriterBase::Listener {
public:
  ShapeVersion(LoopOp loop, const FrozenRewritePatternSet &patterns)
      : rewriter(loop.getContext()), original(loop), patterns(patterns) {}

  /// Puts a branch in the place of the loop where fewer of its extents are
  /// unknown.
  bool run();

private:
  void notifyOperationErased(Operation *op) override;

  bool isOutside(OpFoldResult value) {
    auto v = dyn_cast<Value>(value);
    return !v || !copy->isAncestor(v.getParentRegion()->getParentOp());
  }
  bool isOfShapes(Value value);
  OpFoldResult dimOf(Value value, int64_t axis);
  void begin();
  void assumeCarried(LoopOp loop);
  void oblige(LoopOp loop, unsigned port, int64_t axis);
  OpFoldResult dimOfYielded(AssumedDim dim);
  bool findChanged();
  void hoistDims();
  std::optional<Value> evaluateOutside(Value value);
  bool assume();
  Value settle(Value extent);
  Value hoistExtent(Value extent);
  bool assumeBroadcasts();
  bool assumeDims(bool areSimple);
  bool assumeConditions(bool areSimple);
  bool assumeChecks();
  bool assumePositions();
  bool assumeRuns(LoopOp loop);
  void foldToTrue(Value condition);
  bool assumeEqual(OpFoldResult a, OpFoldResult b);
  bool assumeComparisons(Value condition, bool areSimple);
  void replaceInside(Value value, OpFoldResult by);
  void refineTypes();
  void refinePort(LoopOp loop, unsigned port, ArrayRef<AssumedDim> assumed);
  Value copyOf(Value value, ArrayRef<OpFoldResult> sizes);
  void refineOutside(Value tensor,
                     ArrayRef<std::pair<int64_t, OpFoldResult>> extents);
  OpFoldResult dimOfInit(LoopOp loop, unsigned port, int64_t axis);
  unsigned countUnknown(LoopOp loop);
  bool hasFewerUnknowns() {
    return countUnknown(copy) < countUnknown(original);
  }
  void makeBranch();
  void settleObligations();

  IRRewriter rewriter;
  LoopOp original, copy;
  const FrozenRewritePatternSet &patterns;
  SmallVector<AssumedDim> dims;
  SmallVector<CollectedDim> collected;
  llvm::SmallSetVector<Changed, 8> changed;
  VersionConditions conditions;
  /// What dimensions of tensors outside are under the conditions.
  llvm::MapVector<Value, SmallVector<std::pair<int64_t, OpFoldResult>>> known;
};
} // namespace

/// Simplification erases branches that are not taken, with the loops in them.
void ShapeVersion::notifyOperationErased(Operation *op) {
  if (!isa<CheckOp, LoopOp>(op))
    return;
  for (AssumedDim &dim : dims)
    if (dim.obligation == op)
      dim.obligation = {};
  llvm::erase_if(dims, [&](AssumedDim &dim) { return dim.loop == op; });
  llvm::erase_if(collected, [&](CollectedDim &dim) { return dim.loop == op; });
}

/// True if `value` is computed from extents of tensors and constants alone: a
/// guess on data would be no better than its opposite.
bool ShapeVersion::isOfShapes(Value value) {
  SmallVector<Value> worklist = {value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op)
      return false;
    if (!seen.insert(op).second || isa<tensor::DimOp>(op))
      continue;
    if (!isa<arith::ArithDialect>(op->getDialect()) || seen.size() > kMaxSlice)
      return false;
    llvm::append_range(worklist, op->getOperands());
  }
  return true;
}

/// A dimension of a value at the insertion point, by the assumptions.
OpFoldResult ShapeVersion::dimOf(Value value, int64_t axis) {
  OpFoldResult found = resolveDim(rewriter, value.getLoc(), value, axis);
  auto known = dyn_cast<Value>(found);
  auto op = known ? known.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  if (op && op.getConstantIndex())
    for (AssumedDim &dim : dims)
      if (dim.axis == *op.getConstantIndex() &&
          (op.getSource() == dim.loop.getCarriedArgs()[dim.port] ||
           (dim.loop != copy &&
            op.getSource() == dim.loop.getResult(dim.port))))
        if (OpFoldResult init = dim.ofInit())
          return init;
  for (CollectedDim &dim : collected)
    if (op && op.getSource() == dim.loop.getResult(dim.port) &&
        op.getConstantIndex() == dim.axis)
      return dim.extent;
  return found;
}

/// Makes the copy, with the extents of inits for those of carried values.
void ShapeVersion::begin() {
  conditions.clear();
  dims.clear();
  collected.clear();
  known.clear();
  rewriter.setInsertionPoint(original);
  copy = cast<LoopOp>(rewriter.clone(*original));
  SmallVector<LoopOp> loops;
  copy->walk<WalkOrder::PreOrder>([&](LoopOp loop) { loops.push_back(loop); });
  for (LoopOp loop : loops)
    assumeCarried(loop);
}

void ShapeVersion::assumeCarried(LoopOp loop) {
  int64_t number = loop->getAttrOfType<IntegerAttr>(kNumber).getInt();
  for (unsigned k = 0; k < loop.getNumCarried(); ++k) {
    auto type = dyn_cast<RankedTensorType>(loop.getInits()[k].getType());
    for (int64_t axis = 0; type && axis < type.getRank(); ++axis)
      if (type.isDynamicDim(axis) && !changed.contains({number, k, axis}))
        oblige(loop, k, axis);
  }
}

/// Dimension `axis` of carried value `port` is the init's, in the loop and, for
/// an inner loop, behind it, which the copy has to prove:
///
///   loop.check %false, "..."(%extent : index)
///   loop.yield ...
void ShapeVersion::oblige(LoopOp loop, unsigned port, int64_t axis) {
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  OpFoldResult init = dimOf(loop.getInits()[port], axis);
  rewriter.setInsertionPoint(loop.getYield());
  Value unproved =
      arith::ConstantIntOp::create(rewriter, loc, rewriter.getI1Type(), 0);
  Value extent = getValueOrCreateConstantIndexOp(rewriter, loc, init);
  auto obligation = CheckOp::create(
      rewriter, loc, unproved,
      rewriter.getStringAttr("it is not proved that the extent stays {}"),
      extent, Value());
  dims.push_back({loop, port, axis, obligation});
  replaceDims(rewriter, loop.getCarriedArgs()[port], axis, init);
  if (loop != copy)
    replaceDims(rewriter, loop.getResult(port), axis, init);
}

/// What is left to prove: that this is the extent of the init.
OpFoldResult ShapeVersion::dimOfYielded(AssumedDim dim) {
  YieldOp yield = dim.loop.getYield();
  rewriter.setInsertionPoint(yield);
  return dimOf(yield.getCarried()[dim.port], dim.axis);
}

/// Extents of tensors outside are computed outside.
void ShapeVersion::hoistDims() {
  copy.getBody().walk([&](tensor::DimOp op) {
    if (op.getConstantIndex() && isOutside(op.getSource()) &&
        isSafeToSpeculate(op)) {
      rewriter.setInsertionPoint(copy);
      rewriter.replaceAllUsesWith(op.getResult(),
                                  tensor::DimOp::create(rewriter, op.getLoc(),
                                                        op.getSource(),
                                                        *op.getConstantIndex())
                                      .getResult());
    }
  });
}

/// `value`, or its computation before the copy; none where that depends on an
/// iteration, or may fail.
std::optional<Value> ShapeVersion::evaluateOutside(Value value) {
  SetVector<Operation *> slice;
  SmallVector<Value> worklist = {value};
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (isOutside(next))
      continue;
    Operation *op = next.getDefiningOp();
    if (!op || !isa<arith::ArithDialect>(op->getDialect()) ||
        !isSafeToSpeculate(op) || slice.size() >= kMaxSlice)
      return std::nullopt;
    if (slice.insert(op))
      llvm::append_range(worklist, op->getOperands());
  }
  IRMapping mapping;
  rewriter.setInsertionPoint(copy);
  for (Operation *op : topologicalSort(slice))
    rewriter.clone(*op, mapping);
  return mapping.lookupOrDefault(value);
}

/// In the copy, `by`, which is defined outside, for `value`.
void ShapeVersion::replaceInside(Value value, OpFoldResult by) {
  rewriter.setInsertionPoint(copy);
  Value other = getValueOrCreateConstantIndexOp(rewriter, copy.getLoc(), by);
  value.replaceUsesWithIf(other, [&](OpOperand &use) {
    return copy->isProperAncestor(use.getOwner());
  });
  for (CollectedDim &dim : collected)
    if (dim.extent == OpFoldResult(value))
      dim.extent = by;
  for (auto &[tensor, extents] : known)
    for (auto &[axis, extent] : extents)
      if (extent == OpFoldResult(value))
        extent = by;
  if (auto dim = value.getDefiningOp<tensor::DimOp>())
    if (std::optional<int64_t> axis = dim.getConstantIndex())
      known[dim.getSource()].push_back({*axis, by});
}

/// In the copy, true for `condition`.
void ShapeVersion::foldToTrue(Value condition) {
  rewriter.setInsertionPoint(copy);
  Value holds = arith::ConstantIntOp::create(rewriter, condition.getLoc(),
                                             rewriter.getI1Type(), 1);
  condition.replaceUsesWithIf(holds, [&](OpOperand &use) {
    return copy->isProperAncestor(use.getOwner());
  });
}

/// Adds the condition that two extents are equal; false where they never are,
/// or an iteration decides.
bool ShapeVersion::assumeEqual(OpFoldResult a, OpFoldResult b) {
  // What stands for both is a constant, or what inits have.
  auto isInit = [&](OpFoldResult value) {
    return llvm::any_of(
        dims, [&](const AssumedDim &dim) { return dim.ofInit() == value; });
  };
  if (getConstantIntValue(a) || !isOutside(b) ||
      (isOutside(a) && !getConstantIntValue(b) && isInit(a)))
    std::swap(a, b);
  if (getConstantIntValue(a) || !isOutside(b))
    return false;
  std::optional<Value> value = evaluateOutside(cast<Value>(a));
  if (!value)
    return false;
  rewriter.setInsertionPoint(copy);
  Location loc = copy.getLoc();
  Value other = getValueOrCreateConstantIndexOp(rewriter, loc, b);
  Value same = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                                     *value, other);
  if (!conditions.addEquality(*value, b, same))
    return false;
  replaceInside(cast<Value>(a), b);
  return true;
}

/// Assumes that all comparisons of which `condition` is the conjunction hold;
/// false where it is something else. Simple ones are of values outside.
bool ShapeVersion::assumeComparisons(Value condition, bool areSimple) {
  SmallVector<Value> worklist = {condition};
  SmallVector<std::pair<OpFoldResult, OpFoldResult>> pairs;
  bool any = false;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (auto both = value.getDefiningOp<arith::AndIOp>()) {
      llvm::append_range(worklist, both->getOperands());
      continue;
    }
    auto [a, b] = comparedExtents(value);
    if (a && b && isEqualConstantIntOrValue(a, b)) {
      // Equal by now, but for conversions that nobody folds.
      foldToTrue(value);
      any = true;
      continue;
    }
    // What is compared with 0 or 1 is more often something else.
    auto isSpecial = [](OpFoldResult extent) {
      return isConstantIntValue(extent, 0) || isConstantIntValue(extent, 1);
    };
    if (!a || !isOfShapes(value) || isSpecial(a) || isSpecial(b) ||
        !(isOutside(a) || isOutside(b)) ||
        (areSimple && !(isOutside(a) && isOutside(b))))
      return any;
    pairs.push_back({a, b});
  }
  return any || llvm::any_of(pairs, [&](auto pair) {
           return assumeEqual(pair.first, pair.second);
         });
}

/// What is known of `extent`, a dimension in the copy, by the assumptions so
/// far: results of what has been seen in a walk need no simplification first.
Value ShapeVersion::settle(Value extent) {
  auto op = extent.getDefiningOp<tensor::DimOp>();
  if (!op || isOutside(extent) || !op.getConstantIndex())
    return extent;
  rewriter.setInsertionPoint(op);
  OpFoldResult known = dimOf(op.getSource(), *op.getConstantIndex());
  Value value = getValueOrCreateConstantIndexOp(rewriter, op.getLoc(), known);
  auto same = value.getDefiningOp<tensor::DimOp>();
  if (same && same.getSource() == op.getSource())
    return extent;
  rewriter.replaceAllUsesWith(extent, value);
  return settle(value);
}

/// `extent`, computed before the copy where it follows from extents outside, as
/// those of slices of what keeps its extents do.
Value ShapeVersion::hoistExtent(Value extent) {
  if (isOutside(extent) || !isOfShapes(extent) || isDivided(extent))
    return extent;
  std::optional<Value> outside = evaluateOutside(extent);
  if (!outside)
    return extent;
  rewriter.replaceAllUsesWith(extent, *outside);
  return *outside;
}

/// select(a == 1, b, a), which is what a and b broadcast to: a == b.
bool ShapeVersion::assumeBroadcasts() {
  bool any = false;
  copy.getBody().walk([&](arith::SelectOp op) {
    auto compare = op.getCondition().getDefiningOp<arith::CmpIOp>();
    if (!op.getType().isIndex() || !compare ||
        compare.getPredicate() != arith::CmpIPredicate::eq ||
        compare.getLhs() != op.getFalseValue() ||
        !matchPattern(compare.getRhs(), m_One()))
      return;
    Value extent = settle(op.getFalseValue());
    Value other = settle(op.getTrueValue());
    for (Value bounded : {extent, other})
      if (isAtMostOne(bounded))
        any |= assumeEqual(bounded, rewriter.getIndexAttr(1));
    // Conditions so far have replaced operands.
    extent = hoistExtent(op.getFalseValue());
    other = hoistExtent(op.getTrueValue());
    bool isDecided = extent == other || matchPattern(extent, m_One()) ||
                     matchPattern(other, m_One());
    if (!isDecided) {
      if (!isOutside(extent) || !isOutside(other) || !isOfShapes(extent) ||
          !isOfShapes(other) || !assumeEqual(extent, other))
        return;
      any = true;
    }
    // The next one, of the result, is seen in this walk.
    rewriter.replaceAllUsesWith(op.getResult(),
                                matchPattern(op.getTrueValue(), m_One())
                                    ? op.getFalseValue()
                                    : op.getTrueValue());
  });
  return any;
}

/// Yielded values have the extents of the inits.
bool ShapeVersion::assumeDims(bool areSimple) {
  bool any = false;
  for (unsigned k = 0; k < dims.size(); ++k) {
    OpFoldResult init = dims[k].ofInit(), next = dimOfYielded(dims[k]);
    if (!init || isEqualConstantIntOrValue(next, init) || !isOutside(init) ||
        (areSimple && !isOutside(next)))
      continue;
    // What grows does not stay as it is.
    auto value = dyn_cast<Value>(next);
    auto sum = value ? value.getDefiningOp<arith::AddIOp>() : arith::AddIOp();
    if (sum && (OpFoldResult(sum.getLhs()) == init ||
                OpFoldResult(sum.getRhs()) == init))
      continue;
    // The init's extent stands for both, unless it is the unknown one.
    bool holds = getConstantIntValue(next) ? assumeEqual(init, next)
                                           : assumeEqual(next, init);
    any |= holds;
  }
  return any;
}

/// Broadcasting finds extents that are equal already, and so do checks that
/// every iteration makes.
bool ShapeVersion::assumeConditions(bool areSimple) {
  bool any = false;
  copy.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto check = dyn_cast<CheckOp>(op))
      any |= assumeComparisons(check.getCondition(), areSimple);
    auto branch = dyn_cast<scf::IfOp>(op);
    if (branch && branch.getNumResults() &&
        assumeComparisons(branch.getCondition(), areSimple))
      any = true;
    return isa<scf::IfOp, scf::IndexSwitchOp>(op) ? WalkResult::skip()
                                                  : WalkResult::advance();
  });
  return any;
}

/// An inner loop runs: what it collects has the extents of an iteration's
/// values, which it does not know otherwise.
bool ShapeVersion::assumeRuns(LoopOp loop) {
  Value trips = loop.getTripCount();
  if (!trips || loop.getCondition() || isa<TensorType>(trips.getType()))
    return false;
  bool any = false;
  for (unsigned k = 0; k < loop.getCollectAxes().size(); ++k) {
    unsigned port = loop.getNumCarried() + k;
    int64_t along = loop.getCollectAxes()[k];
    auto type = cast<RankedTensorType>(loop.getResult(port).getType());
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      if (axis == along || !type.isDynamicDim(axis) ||
          llvm::any_of(collected, [&](const CollectedDim &dim) {
            return dim.loop == loop && dim.port == port && dim.axis == axis;
          }))
        continue;
      rewriter.setInsertionPoint(loop.getYield());
      OpFoldResult extent = dimOf(loop.getYield().getCollected()[k],
                                  axis < along ? axis : axis - 1);
      std::optional<Value> count = evaluateOutside(trips);
      if (!isOutside(extent) || !count)
        continue;
      rewriter.setInsertionPoint(copy);
      Value zero = arith::ConstantOp::create(
          rewriter, loop.getLoc(), rewriter.getZeroAttr(trips.getType()));
      Value runs = arith::CmpIOp::create(
          rewriter, loop.getLoc(), arith::CmpIPredicate::sgt, *count, zero);
      if (!conditions.add(runs))
        continue;
      collected.push_back({loop, port, axis, extent});
      replaceDims(rewriter, loop.getResult(port), axis, extent);
      any = true;
    }
  }
  return any;
}

/// Other checks of extents that every iteration makes hold.
bool ShapeVersion::assumeChecks() {
  bool any = false;
  copy.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto check = dyn_cast<CheckOp>(op);
    if (check && !getConstantIntValue(check.getCondition()) &&
        isOfShapes(check.getCondition()))
      if (auto holds = evaluateOutside(check.getCondition());
          holds && conditions.add(*holds)) {
        rewriter.setInsertionPoint(check);
        check.getConditionMutable().assign(arith::ConstantIntOp::create(
            rewriter, check.getLoc(), rewriter.getI1Type(), 1));
        any = true;
      }
    return isa<scf::IfOp, scf::IndexSwitchOp>(op) ? WalkResult::skip()
                                                  : WalkResult::advance();
  });
  return any;
}

/// Slices between positions that count with the iterations are not cut off
/// where the extent of a carried value would change by that.
bool ShapeVersion::assumePositions() {
  bool any = false;
  for (AssumedDim &dim : dims)
    if (OpFoldResult init = dim.ofInit();
        init && !isEqualConstantIntOrValue(dimOfYielded(dim), init))
      any |= assumePositionsKept(rewriter, copy, dim.loop,
                                 dim.loop.getYield().getCarried()[dim.port],
                                 conditions);
  return any;
}

/// One step; what follows is seen when the copy has been simplified.
bool ShapeVersion::assume() {
  if (assumeBroadcasts())
    return true;
  SmallVector<LoopOp> inner;
  copy.getBody().walk([&](LoopOp loop) { inner.push_back(loop); });
  bool anyRuns = false;
  for (LoopOp loop : inner)
    anyRuns |= assumeRuns(loop);
  if (anyRuns)
    return true;
  for (bool areSimple : {true, false}) {
    bool any = assumeConditions(areSimple);
    any |= assumeDims(areSimple);
    if (any)
      return true;
  }
  return assumePositions() || (hasFewerUnknowns() && assumeChecks());
}

/// True if obligations are left that nothing proves; these dimensions change.
bool ShapeVersion::findChanged() {
  size_t before = changed.size();
  for (AssumedDim &dim : dims) {
    OpFoldResult init = dim.ofInit();
    if (!init || !isEqualConstantIntOrValue(dimOfYielded(dim), init))
      changed.insert({dim.loop->getAttrOfType<IntegerAttr>(kNumber).getInt(),
                      dim.port, dim.axis});
  }
  return changed.size() > before;
}

/// The copy begins with tensors of the extents that stand for theirs, and types
/// say which of them are constants.
void ShapeVersion::refineTypes() {
  for (auto &[tensor, extents] : known)
    if (isa<RankedTensorType>(tensor.getType()) && isOutside(tensor))
      refineOutside(tensor, extents);
  llvm::MapVector<std::pair<Operation *, unsigned>, SmallVector<AssumedDim>>
      ports;
  for (const AssumedDim &dim : dims)
    ports[{dim.loop, dim.port}].push_back(dim);
  for (auto &[port, assumed] : ports)
    refinePort(cast<LoopOp>(port.first), port.second, assumed);
}

/// Port `port` of `loop` has the extents that are proved to stay the init's.
/// The init may have others that are known, which iterations change.
void ShapeVersion::refinePort(LoopOp loop, unsigned port,
                              ArrayRef<AssumedDim> assumed) {
  OpOperand &init = loop.getInitsMutable()[port];
  auto type = cast<RankedTensorType>(init.get().getType());
  rewriter.setInsertionPoint(loop);
  SmallVector<OpFoldResult> sizes =
      resolveDims(rewriter, loop.getLoc(), init.get());
  SmallVector<int64_t> shape(type.getShape());
  bool differs = false;
  for (const AssumedDim &dim : assumed) {
    OpFoldResult own = std::exchange(sizes[dim.axis], dim.ofInit());
    std::optional<int64_t> constant = getConstantIntValue(sizes[dim.axis]);
    differs |= !constant && !isEqualConstantIntOrValue(sizes[dim.axis], own);
    shape[dim.axis] = constant.value_or(ShapedType::kDynamic);
  }
  if (loop == copy && differs)
    init.set(copyOf(init.get(), sizes));
  if (ArrayRef(shape) != type.getShape())
    refineCarried(rewriter, loop, port,
                  RankedTensorType::get(shape, type.getElementType()));
}

/// A tensor of extents `sizes` that is equal to `value`.
Value ShapeVersion::copyOf(Value value, ArrayRef<OpFoldResult> sizes) {
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  Value place =
      tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
  Value same = tensor::CastOp::create(rewriter, loc, place.getType(), value);
  Value copied =
      linalg::CopyOp::create(rewriter, loc, same, place).getResult(0);
  return tensor::CastOp::create(rewriter, loc, type, copied);
}

/// In the copy, a slice of all of `tensor` that says what the extents are.
void ShapeVersion::refineOutside(
    Value tensor, ArrayRef<std::pair<int64_t, OpFoldResult>> extents) {
  rewriter.setInsertionPoint(copy);
  Location loc = copy.getLoc();
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> sizes = resolveDims(rewriter, loc, tensor);
  for (auto [axis, extent] : extents)
    sizes[axis] = extent;
  SmallVector<OpFoldResult> zeros(sizes.size(), rewriter.getIndexAttr(0)),
      ones(sizes.size(), rewriter.getIndexAttr(1));
  rewriter.setInsertionPoint(copy);
  Value better =
      tensor::ExtractSliceOp::create(rewriter, loc, tensor, zeros, sizes, ones);
  Value back = tensor::CastOp::create(rewriter, loc, type, better);
  tensor.replaceUsesWithIf(back, [&](OpOperand &use) {
    return copy->isProperAncestor(use.getOwner());
  });
}

/// scf.if %all { the copy } else { the loop as it was }; the copy alone where
/// nothing has to hold.
void ShapeVersion::makeBranch() {
  Location loc = original.getLoc();
  rewriter.setInsertionPoint(original);
  if (conditions.get().empty()) {
    rewriter.replaceAllUsesWith(original.getResults(), copy.getResults());
    rewriter.eraseOp(original);
    return settleObligations();
  }
  Value all = conditions.get().front();
  for (Value condition : conditions.get().drop_front())
    all = arith::AndIOp::create(rewriter, loc, all, condition);
  auto branch = scf::IfOp::create(rewriter, loc, original.getResultTypes(), all,
                                  /*withElseRegion=*/true);
  rewriter.replaceAllUsesWith(original.getResults(), branch.getResults());
  for (auto [block, loop] :
       {std::pair(branch.thenBlock(), copy), {branch.elseBlock(), original}}) {
    // Without results it ends with a yield already.
    if (!block->empty())
      rewriter.eraseOp(&block->back());
    rewriter.moveOpBefore(loop, block, block->end());
    rewriter.setInsertionPointToEnd(block);
    scf::YieldOp::create(rewriter, loc, loop.getResults());
  }
  settleObligations();
  original->setAttr(kColdAttrName, rewriter.getUnitAttr());
  locateInGeneralVersion(original);
  remarkDone(copy.getLoc(), "VersionShapes",
             "there is a version of it for extents that agree and stay what "
             "they are");
}

/// What was assumed is proved, and said by types.
void ShapeVersion::settleObligations() {
  refineTypes();
  for (AssumedDim &dim : std::exchange(dims, {}))
    rewriter.eraseOp(dim.obligation);
}

/// Dimension `axis` of what `loop` begins port `port` with.
OpFoldResult ShapeVersion::dimOfInit(LoopOp loop, unsigned port, int64_t axis) {
  for (AssumedDim &dim : dims)
    if (dim.loop == loop && dim.port == port && dim.axis == axis)
      if (OpFoldResult init = dim.ofInit())
        return init;
  rewriter.setInsertionPoint(loop);
  return dimOf(loop.getInits()[port], axis);
}

/// What makes `loop` slow: branches with results, carried dimensions that are
/// not those of the init for sure.
unsigned ShapeVersion::countUnknown(LoopOp loop) {
  unsigned count = 0;
  auto changes = [&](LoopOp inner, unsigned port, int64_t axis) {
    YieldOp yield = inner.getYield();
    rewriter.setInsertionPoint(yield);
    OpFoldResult next = dimOf(yield.getCarried()[port], axis);
    return !isEqualConstantIntOrValue(next, dimOfInit(inner, port, axis));
  };
  loop->walk([&](Operation *op) {
    count += isa<scf::IfOp>(op) && op->getNumResults();
    auto inner = dyn_cast<LoopOp>(op);
    for (unsigned k = 0; inner && k < inner.getNumCarried(); ++k) {
      auto type = dyn_cast<RankedTensorType>(inner.getInits()[k].getType());
      for (int64_t axis = 0; type && axis < type.getRank(); ++axis)
        count += type.isDynamicDim(axis) && changes(inner, k, axis);
    }
  });
  return count;
}

bool ShapeVersion::run() {
  OpBuilder b(original);
  int64_t count = 0;
  original->walk<WalkOrder::PreOrder>([&](LoopOp loop) {
    loop->setAttr(kNumber, b.getI64IntegerAttr(count++));
  });
  bool isKept = false;
  while (true) {
    begin();
    for (unsigned round = 0; round < kMaxRounds; ++round) {
      simplifyDims(copy, patterns, this);
      if (foldBounds(copy) != 0)
        simplifyDims(copy, patterns, this);
      hoistDims();
      if (!assume())
        break;
    }
    if (repeatAlongKnown(rewriter, copy, [&](Value value, int64_t axis) {
          return dimOf(value, axis);
        }))
      simplifyDims(copy, patterns, this);
    if (!findChanged()) {
      isKept = hasFewerUnknowns();
      break;
    }
    rewriter.eraseOp(copy);
  }
  for (LoopOp loop : {original, copy})
    loop->walk([](LoopOp inner) { inner->removeAttr(kNumber); });
  if (!isKept) {
    rewriter.eraseOp(copy);
    return false;
  }
  makeBranch();
  return true;
}

namespace {
struct LoopVersionShapes
    : loopc::impl::LoopVersionShapesBase<LoopVersionShapes> {
  void runOnOperation() override {
    SmallVector<LoopOp> outermost;
    getOperation().walk<WalkOrder::PreOrder>([&](LoopOp loop) {
      outermost.push_back(loop);
      return WalkResult::skip();
    });
    if (outermost.empty())
      return markAllAnalysesPreserved();
    auto patterns = getDimPatterns(&getContext(), /*keepPorts=*/true);
    for (LoopOp loop : outermost)
      numVersioned +=
          carriesUnknown(loop) && ShapeVersion(loop, patterns).run();
  }

private:
  /// Without such values no extent is in question.
  static bool carriesUnknown(LoopOp loop) {
    return llvm::any_of(loop.getInits().getTypes(), [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && !tensor.hasStaticShape();
    });
  }
};
} // namespace
