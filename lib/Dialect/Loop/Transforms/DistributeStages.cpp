//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-distribute-stages: a loop over recurrences behind one another, with
// products of matrices between them, becomes a loop for each, so that these
// products can be computed for all iterations at once (loop-batch-slices).
//
// What an iteration computes forms stages. A product with a value from outside
// that depends on carried values, none of which depends on the product, begins
// a new stage: its other factor is known for all iterations once the loop of
// the stage before has run. The cells of stacked layers in one body are such
// stages.

#include "loopc/Dialect/Loop/IR/LoopRewrite.h"
#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPDISTRIBUTESTAGES
#include "loopc/Dialect/Loop/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

/// What is kept for the next stages may be this many times as large as what the
/// iterations read and write anyway.
static constexpr int64_t kMaxGrowth = 8;

namespace {
/// The stage of a value, and whether it depends on what that stage carries.
struct Stage {
  unsigned number = 0;
  bool isCarried = false;

  void include(Stage other) {
    if (other.number > number)
      *this = other;
    else if (other.number == number)
      isCarried |= other.isCarried;
  }
  bool operator==(const Stage &other) const {
    return number == other.number && isCarried == other.isCarried;
  }
};

class Distribution {
public:
  Distribution(IRRewriter &rewriter, LoopOp loop, int64_t minWeight)
      : rewriter(rewriter), b(loop.getLoc(), rewriter), loop(loop),
        body(loop.getLoopBody()), minWeight(minWeight) {}

  /// The number of loops that there are now, 1 where it stays as it is.
  unsigned run();

private:
  bool isSimple();
  bool findProducts();
  bool readsOuterWeights(linalg::GenericOp op);
  void assignStages();
  bool findKept();
  bool isKept(Value value);
  bool holdsErrorsTogether();
  bool keepsLittle();
  int64_t elementsOf(Value value);
  std::optional<SmallVector<OpFoldResult>> sizesOf(Value value);
  /// Ports of a stage's loop: values of the whole one's body.
  struct Ports {
    SmallVector<Value> old; ///< results of the whole loop that they give
    SmallVector<Value> args, carried, collected;
    LoopSignature signature;
  };
  Ports choosePorts(unsigned stage);
  SmallVector<Operation *> findNeeded(unsigned stage, ArrayRef<Value> yielded);
  void readKept(IRMapping &mapping, LoopOp made, unsigned stage);
  RankedTensorType typeOfAll(RankedTensorType type);
  void makeLoop(unsigned stage);

  /// True for what the loop of `stage` reads rather than computes.
  bool isRead(Value value, unsigned stage) {
    return kept.contains(value) && stageOf(value).number < stage;
  }

  bool isOutside(Value value) { return loop.isDefinedOutsideOfLoop(value); }
  Stage stageOf(Value value);
  /// Calls `visit` with each value of the body, and argument, that `op` or an
  /// operation in it uses.
  void visitOperands(Operation &op, llvm::function_ref<void(Value)> visit);
  std::optional<unsigned> portOf(Value value);

  IRRewriter &rewriter;
  ImplicitLocOpBuilder b;
  LoopOp loop;
  Block *body;
  int64_t minWeight;
  OpFoldResult trips;
  llvm::SmallPtrSet<Operation *, 8> products; ///< that may begin a stage
  llvm::DenseMap<Operation *, Stage> stages;
  SmallVector<Stage> ports; ///< of carried values
  unsigned numStages = 1;
  llvm::SetVector<Value> kept; ///< that later stages read
  /// Of what is kept: its extents, and in which loop's result it stands.
  llvm::DenseMap<Value, SmallVector<OpFoldResult>> sizes;
  llvm::DenseMap<Value, Value> wholes;
};
} // namespace

//===----------------------------------------------------------------------===//
// What depends on what
//===----------------------------------------------------------------------===//

void Distribution::visitOperands(Operation &op,
                                 llvm::function_ref<void(Value)> visit) {
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      if (auto arg = dyn_cast<BlockArgument>(operand)) {
        if (arg.getOwner() == body)
          visit(operand);
      } else if (operand.getDefiningOp()->getBlock() == body) {
        visit(operand);
      }
    }
  });
}

/// The number of the carried value that `value` is the argument of.
std::optional<unsigned> Distribution::portOf(Value value) {
  auto arg = dyn_cast<BlockArgument>(value);
  if (!arg || arg.getOwner() != body || arg.getArgNumber() < 2 ||
      arg.getArgNumber() - 2 >= loop.getNumCarried())
    return std::nullopt;
  return arg.getArgNumber() - 2;
}

/// The rows that `op` multiplies with `weights`: its elements along dimensions
/// that these do not have, as far as they are known.
static int64_t countRows(linalg::GenericOp op, OpOperand *weights) {
  AffineMap map = op.getMatchingIndexingMap(weights);
  int64_t rows = 1;
  for (auto [dim, extent] : llvm::enumerate(op.getStaticLoopRanges()))
    if (!map.isFunctionOfDim(dim) && !ShapedType::isDynamic(extent))
      rows *= std::max<int64_t>(extent, 1);
  return rows;
}

/// A product with weights from outside, of which reading them once pays. The
/// more rows a product has by itself, the more it makes of what it reads.
bool Distribution::readsOuterWeights(linalg::GenericOp op) {
  return op.hasPureTensorSemantics() && op->getNumResults() == 1 &&
         op.getNumReductionLoops() > 0 &&
         llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
           auto type = dyn_cast<RankedTensorType>(input->get().getType());
           if (!type || type.getRank() < 2 || !isOutside(input->get()))
             return false;
           int64_t rows = countRows(op, input);
           return !type.hasStaticShape() ||
                  type.getNumElements() /
                          std::max<int64_t>(1, rows * rows / 2) >=
                      minWeight;
         });
}

/// Finds the products on which no carried value depends that they depend on.
bool Distribution::findProducts() {
  unsigned n = loop.getNumCarried();
  llvm::DenseMap<Operation *, llvm::BitVector> reads, feeds;
  for (Operation &op : body->without_terminator()) {
    llvm::BitVector own(n);
    visitOperands(op, [&](Value value) {
      if (std::optional<unsigned> port = portOf(value))
        own.set(*port);
      else if (Operation *def = value.getDefiningOp())
        own |= reads[def];
    });
    reads[&op] = std::move(own);
  }
  // What each carried value depends on, over any number of iterations.
  SmallVector<llvm::BitVector> reach(n, llvm::BitVector(n));
  for (auto [k, value] : llvm::enumerate(loop.getYield().getCarried())) {
    if (std::optional<unsigned> port = portOf(value))
      reach[k].set(*port);
    else if (Operation *def = value.getDefiningOp();
             def && def->getBlock() == body) {
      reach[k] = reads[def];
      feeds.try_emplace(def, n).first->second.set(k);
    }
  }
  for (unsigned via = 0; via < n; ++via)
    for (unsigned k = 0; k < n; ++k)
      if (reach[k].test(via))
        reach[k] |= reach[via];
  for (Operation &op : llvm::reverse(body->without_terminator())) {
    llvm::BitVector own = feeds.try_emplace(&op, n).first->second;
    visitOperands(op, [&](Value value) {
      if (Operation *def = value.getDefiningOp())
        feeds.try_emplace(def, n).first->second |= own;
    });
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || !readsOuterWeights(generic))
      continue;
    llvm::BitVector all = reads[&op];
    for (unsigned k : reads[&op].set_bits())
      all |= reach[k];
    if (all.any() && !all.anyCommon(own))
      products.insert(&op);
  }
  return !products.empty();
}

Stage Distribution::stageOf(Value value) {
  if (std::optional<unsigned> port = portOf(value))
    return ports[*port];
  Operation *def = value.getDefiningOp();
  return def ? stages.lookup(def) : Stage();
}

/// The earliest stages. Going on ends: a product that begins a stage is in no
/// cycle.
void Distribution::assignStages() {
  ports.assign(loop.getNumCarried(), {0, true});
  for (bool changed = true; std::exchange(changed, false);) {
    for (Operation &op : body->without_terminator()) {
      Stage stage;
      visitOperands(op, [&](Value value) { stage.include(stageOf(value)); });
      if (stage.isCarried && products.contains(&op))
        stage = {stage.number + 1, false};
      stages[&op] = stage;
      numStages = std::max(numStages, stage.number + 1);
    }
    for (auto [port, value] :
         llvm::zip_equal(ports, loop.getYield().getCarried())) {
      Stage next{isOutside(value) ? 0 : stageOf(value).number, true};
      changed |= !(next == port);
      port = next;
    }
  }
}

//===----------------------------------------------------------------------===//
// Whether to distribute
//===----------------------------------------------------------------------===//

/// True for a loop of scalars that is counted, whose number of iterations is
/// known when it begins.
bool Distribution::isSimple() {
  if (loop.getCondition() || !loop.getSlices().empty() ||
      !loop.getTripCount() || !loop.getCounter().getType().isIntOrIndex() ||
      !loop.getTripCount().getType().isIntOrIndex() ||
      !loop.getYield().getCondition().getType().isInteger(1))
    return false;
  b.setInsertionPoint(loop);
  trips = knownTrips(b, loop);
  return static_cast<bool>(trips);
}

/// True for what a stage keeps for later ones: what is computed from slices and
/// outer values by scalars and slices is rather computed again.
bool Distribution::isKept(Value value) {
  if (portOf(value))
    return true;
  Operation *def = value.getDefiningOp();
  if (!def || isOutside(value))
    return false;
  Stage stage = stages.lookup(def);
  if (stage.isCarried || stage.number > 0)
    return true;
  return isa<RankedTensorType>(value.getType()) && isa<linalg::LinalgOp>(def);
}

/// The extents of `value`, if they are known where the loop begins.
std::optional<SmallVector<OpFoldResult>> Distribution::sizesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return std::nullopt;
  // What it takes to find out is dead then.
  b.setInsertionPointAfterValue(value);
  SmallVector<OpFoldResult> found;
  for (int64_t axis : llvm::seq(type.getRank())) {
    OpFoldResult size =
        type.isDynamicDim(axis)
            ? knownDim(b, loop.getLoc(), value, axis)
            : OpFoldResult(b.getIndexAttr(type.getDimSize(axis)));
    if (!size)
      return std::nullopt;
    if (auto dim = dyn_cast<Value>(size); dim && !isOutside(dim))
      return std::nullopt;
    found.push_back(size);
  }
  return found;
}

/// Finds what is read by later stages; false where that cannot be kept.
bool Distribution::findKept() {
  auto read = [&](Value value, unsigned reader) {
    if (stageOf(value).number < reader && isKept(value))
      kept.insert(value);
  };
  for (Operation &op : body->without_terminator()) {
    unsigned reader = stages.lookup(&op).number;
    visitOperands(op, [&](Value value) { read(value, reader); });
  }
  for (Value value : kept) {
    auto own = sizesOf(value);
    if (!own)
      return false;
    sizes[value] = std::move(*own);
  }
  return true;
}

/// True where all that may fail, and all that has an effect, is in one stage:
/// then the order of that stays.
bool Distribution::holdsErrorsTogether() {
  std::optional<unsigned> only;
  auto mayBeIn = [&](unsigned stage) {
    bool fits = !only || *only == stage;
    only = stage;
    return fits;
  };
  for (Operation &op : body->without_terminator()) {
    unsigned stage = stages.lookup(&op).number;
    if (isSafeToSpeculate(&op)) {
      // Earlier stages do all of it before anything is checked.
      if (only && stage < *only && !mayRunBeforeChecks(&op))
        return false;
      continue;
    }
    // Copies of it that are in other loops must go.
    if (op.getNumResults() || !mayBeIn(stage))
      return false;
  }
  for (auto [k, value] : llvm::enumerate(loop.getYield().getCollected())) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    bool isConstant =
        (type && sizesOf(value)) || value.getType().isIntOrIndexOrFloat();
    if ((!isConstant || loop.getLengthOf(k)) && !mayBeIn(stageOf(value).number))
      return false;
  }
  return true;
}

/// Elements of `value`, where its shape does not say more.
int64_t Distribution::elementsOf(Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  int64_t elements = 1;
  if (type && type.hasRank())
    for (int64_t extent : type.getShape())
      elements *= ShapedType::isDynamic(extent) ? 1 : extent;
  return elements;
}

/// Memory that grows with the number of iterations is for loops that read or
/// write as much.
bool Distribution::keepsLittle() {
  int64_t moved = 0;
  for (auto slice : body->getOps<tensor::ExtractSliceOp>())
    if (isOutside(slice.getSource()) &&
        llvm::any_of(slice.getOffsets(),
                     [&](Value offset) { return !isOutside(offset); }))
      moved += elementsOf(slice.getResult());
  for (Value value : loop.getYield().getCollected())
    moved += elementsOf(value);
  SmallVector<int64_t> each(numStages, 0);
  for (Value value : kept)
    each[stageOf(value).number] += elementsOf(value);
  return moved > 0 && llvm::all_of(each, [&](int64_t elements) {
           return elements <= kMaxGrowth * moved;
         });
}

//===----------------------------------------------------------------------===//
// Distributing
//===----------------------------------------------------------------------===//

/// What the loop of `stage` computes: all that its ports and effects need and
/// that no earlier loop keeps, in the body's order.
SmallVector<Operation *> Distribution::findNeeded(unsigned stage,
                                                  ArrayRef<Value> yielded) {
  llvm::SmallPtrSet<Operation *, 32> needed;
  SmallVector<Operation *> open;
  auto need = [&](Value value) {
    Operation *def = value.getDefiningOp();
    if (def && def->getBlock() == body && !isRead(value, stage) &&
        needed.insert(def).second)
      open.push_back(def);
  };
  llvm::for_each(yielded, need);
  for (Operation &op : body->without_terminator())
    if (op.getNumResults() == 0 && stages.lookup(&op).number == stage &&
        needed.insert(&op).second)
      open.push_back(&op);
  while (!open.empty())
    visitOperands(*open.pop_back_val(), need);
  SmallVector<Operation *> ordered;
  for (Operation &op : body->without_terminator())
    if (needed.contains(&op))
      ordered.push_back(&op);
  return ordered;
}

/// In the loop of `stage`: what earlier ones kept is read.
void Distribution::readKept(IRMapping &mapping, LoopOp made, unsigned stage) {
  Value position = made.getCounter();
  if (!position.getType().isIndex())
    position =
        arith::IndexCastOp::create(b, b.getIndexType(), position).getResult();
  for (Value value : kept) {
    if (!isRead(value, stage))
      continue;
    SmallVector<OpFoldResult> extents{b.getIndexAttr(1)},
        offsets(sizes[value].size() + 1, b.getIndexAttr(0)),
        ones(sizes[value].size() + 1, b.getIndexAttr(1));
    llvm::append_range(extents, sizes[value]);
    offsets[0] = position;
    auto slice = tensor::ExtractSliceOp::create(
        b, cast<RankedTensorType>(value.getType()), wholes[value], offsets,
        extents, ones);
    mapping.map(value, slice.getResult());
  }
}

/// The type of all iterations' values of type `type`.
RankedTensorType Distribution::typeOfAll(RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(),
               getConstantIntValue(trips).value_or(ShapedType::kDynamic));
  return RankedTensorType::get(shape, type.getElementType());
}

/// What stays of the ports in the loop of `stage`.
Distribution::Ports Distribution::choosePorts(unsigned stage) {
  Ports chosen;
  LoopSignature all(loop);
  chosen.signature = all;
  chosen.signature.inits.clear();
  chosen.signature.collected.clear();
  YieldOp yield = loop.getYield();
  for (unsigned k : llvm::seq(loop.getNumCarried())) {
    if (ports[k].number != stage)
      continue;
    chosen.old.push_back(loop.getResult(k));
    chosen.args.push_back(loop.getCarriedArgs()[k]);
    chosen.signature.inits.push_back(all.inits[k]);
    chosen.carried.push_back(yield.getCarried()[k]);
  }
  auto collect = [&](Value value, const CollectedPort &port) {
    chosen.collected.push_back(value);
    chosen.signature.collected.push_back(port);
  };
  for (auto [k, value] : llvm::enumerate(yield.getCollected())) {
    if (stageOf(value).number != stage)
      continue;
    chosen.old.push_back(loop.getCollectedResults()[k]);
    collect(value, all.collected[k]);
  }
  for (Value value : kept)
    if (stageOf(value).number == stage)
      collect(value, {typeOfAll(cast<RankedTensorType>(value.getType()))});
  return chosen;
}

/// Makes the loop of `stage`, in front of the whole one, and gives its results
/// to those who read the whole one's.
void Distribution::makeLoop(unsigned stage) {
  Ports chosen = choosePorts(stage);
  SmallVector<Value> yielded(chosen.carried);
  yielded.append(chosen.collected);
  b.setInsertionPoint(loop);
  auto made = LoopOp::create(b, chosen.signature);
  b.setInsertionPointToStart(made.getLoopBody());
  IRMapping mapping;
  mapping.map(loop.getCounter(), made.getCounter());
  mapping.map(loop.getConditionArg(), made.getConditionArg());
  mapping.map(chosen.args, made.getCarriedArgs());
  readKept(mapping, made, stage);
  for (Operation *op : findNeeded(stage, yielded))
    b.clone(*op, mapping);
  // Nobody asks for it.
  Value goesOn = createIntegerConstant(
      b, loop.getLoc(), loop.getYield().getCondition().getType(), 1);
  auto mapped = [&](ArrayRef<Value> values) {
    return llvm::map_to_vector(
        values, [&](Value value) { return mapping.lookupOrDefault(value); });
  };
  YieldOp::create(b, goesOn, mapped(chosen.carried), mapped(chosen.collected));
  for (auto [old, result] : llvm::zip(chosen.old, made.getResults()))
    rewriter.replaceAllUsesWith(old, result);
  unsigned next = chosen.old.size();
  for (Value value : kept)
    if (stageOf(value).number == stage)
      wholes[value] = made.getResult(next++);
}

unsigned Distribution::run() {
  if (!isSimple() || !findProducts())
    return 1;
  assignStages();
  if (numStages == 1 || !findKept() || !holdsErrorsTogether() || !keepsLittle())
    return 1;
  for (unsigned stage : llvm::seq(numStages))
    makeLoop(stage);
  remarkDone(loop.getLoc(), "DistributeStages",
             std::to_string(numStages) +
                 " loops one after another: the products between them can be "
                 "computed for all iterations at once");
  rewriter.eraseOp(loop);
  return numStages;
}

namespace {
struct LoopDistributeStages
    : loopc::impl::LoopDistributeStagesBase<LoopDistributeStages> {
  using LoopDistributeStagesBase::LoopDistributeStagesBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    // Inner loops first: a loop that is distributed is copied.
    SmallVector<LoopOp> loops = collectLoops(getOperation());
    if (loops.empty())
      return markAllAnalysesPreserved();
    for (LoopOp loop : loops)
      numLoops += Distribution(rewriter, loop, minWeight).run() - 1;
  }
};
} // namespace
