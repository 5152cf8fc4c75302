//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InferTypes.h"

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loopc/IR/Ports.h"
#include "loopc/Dialect/ONNX/IR/Schema.h"
#include "loopc/Dialect/ONNX/Transforms/Passes.h"
#include "loopc/Support/Walk.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

namespace loopc::onnx {
#define GEN_PASS_DEF_ONNXINFERTYPES
#include "loopc/Dialect/ONNX/Transforms/Passes.h.inc"
} // namespace loopc::onnx

using namespace mlir;
using namespace loopc::onnx;
using loopc::loop::LoopOp;
using loopc::loop::ScanOp;
using loopc::loop::YieldOp;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// True for types that say more or less of a value's shape.
static bool isShaped(Type type) {
  return isa<TensorType, SeqType, OptionalType>(type);
}

/// True for tensor.cast and onnx.cast, but those that touch an encoding.
static bool isShapeCast(Operation *op) {
  if (isa<CastOp>(op))
    return true;
  auto cast = dyn_cast<tensor::CastOp>(op);
  auto plain = [](Type type) {
    auto ranked = dyn_cast<RankedTensorType>(type);
    return !ranked || !ranked.getEncoding();
  };
  return cast && plain(cast.getSource().getType()) && plain(cast.getType());
}

//===----------------------------------------------------------------------===//
// TypeInference
//===----------------------------------------------------------------------===//

namespace {
/// Infers the types of one function, in place. In between, operands of loops
/// and branches do not have the types that these want, and operations of other
/// dialects not the ones that they had; insertCasts() settles that.
class TypeInference {
public:
  explicit TypeInference(func::FuncOp func) : func(func) {}

  LogicalResult run();
  unsigned getNumRefined();
  /// Leaves of every branch whose condition is known what is taken, to be done
  /// last; false where there is none. Then more can be inferred.
  bool inlineBranches();
  /// How many operations were inferred, each time counted.
  uint64_t getWork() const { return work; }

private:
  void dropCasts();
  void recordTypes();
  bool followsTypes(Operation *op);

  LogicalResult infer(Region &region);
  LogicalResult infer(Block &block);
  LogicalResult infer(Operation *op);
  LogicalResult inferNode(NodeOp node);
  void inferCollection(NodeOp node, SmallVectorImpl<Type> &types);
  bool readsNothing(Region &branch);
  LogicalResult inferIf(scf::IfOp op);
  LogicalResult inferLoop(LoopOp op);
  LogicalResult inferScan(ScanOp op);
  LogicalResult inferBody(Operation *op, Block &body, ArrayRef<Type> inits,
                          ArrayRef<bool> emptyInits,
                          Block::BlockArgListType args);
  LogicalResult setSlice(Operation *op, BlockArgument arg, Type type);
  LogicalResult setCollected(Operation *op, OpResult result, Type type);
  void setType(Value value, Type type);
  bool isEmpty(Value value) { return empty.contains(value); }
  void setEmpty(Value value, bool isEmpty);
  Type joinValues(Value a, Value b);
  void inferAgain(Operation *op);
  void inferUsersAgain(Value value);

  std::optional<int64_t> getTrips(LoopOp op);
  bool certainlyRuns(LoopOp op);

  LogicalResult insertCasts();
  LogicalResult castOperand(OpOperand &operand, Type type);
  LogicalResult setResults();

  func::FuncOp func;
  InferenceCache cache;
  /// What values had before.
  SmallVector<std::pair<Value, Type>> originalTypes;
  /// Operands whose types stay, or (of what counts iterations) their ranks.
  SmallVector<std::pair<OpOperand *, Type>> fixedOperands;
  /// Loops that were seen before: their arguments are widened from what they
  /// were then.
  llvm::DenseSet<Operation *> visited;
  /// Sequences and optionals that have no element, as far as is known by now:
  /// the element type says nothing of what is put in later.
  llvm::DenseSet<Value> empty;
  /// Operations for which nothing has changed since they were inferred, in
  /// their regions neither: what surrounds one that is not in here is not in
  /// here either. So a round of an outer loop does not go through inner loops
  /// again that it has no news for, and the work is linear in the depth.
  llvm::DenseSet<Operation *> settled;
  uint64_t work = 0;
  /// Branches whose condition is known, and what it is.
  llvm::DenseMap<Operation *, bool> decided;
  /// Number of branches, and of loops that may have no iteration, around the
  /// current operation; and one more in a function that others call, perhaps
  /// never.
  unsigned conditional = 0;
};
} // namespace

LogicalResult TypeInference::run() {
  if (func.isExternal())
    return success();
  dropCasts();
  recordTypes();
  conditional = func.isPublic() ? 0 : 1;
  if (failed(infer(func.getBody())))
    return failure();
  if (failed(insertCasts()))
    return failure();
  return setResults();
}

unsigned TypeInference::getNumRefined() {
  return llvm::count_if(originalTypes, [](const std::pair<Value, Type> &entry) {
    return entry.first.getType() != entry.second;
  });
}

//===----------------------------------------------------------------------===//
// Before
//===----------------------------------------------------------------------===//

/// True for operations that take what types their operands have.
bool TypeInference::followsTypes(Operation *op) {
  if (isa<NodeOp, LoopOp, ScanOp, YieldOp, func::ReturnOp>(op))
    return true;
  return isa<scf::YieldOp>(op) && isa<scf::IfOp>(op->getParentOp());
}

/// True for a use as the next state of a scan, by a cast that tells more than
/// its source. States keep their shape (scan_state_shape): such a cast is not
/// what somebody declared, a check proves it.
static bool isProvedState(OpOperand &use, Type source) {
  auto yield = dyn_cast<YieldOp>(use.getOwner());
  if (!yield || !isa<ScanOp>(yield->getParentOp()))
    return false;
  Type cast = use.get().getType();
  return joinTypes(source, cast) != cast;
}

/// Gives operations whose operands' types are inferred the values that were
/// cast to match a declared type.
void TypeInference::dropCasts() {
  auto casts =
      loopc::collectOps(func, [&](Operation *op) { return isShapeCast(op); });
  for (Operation *cast : casts) {
    Value source = cast->getOperand(0);
    while (Operation *before = source.getDefiningOp()) {
      if (!isShapeCast(before))
        break;
      source = before->getOperand(0);
    }
    cast->getResult(0).replaceUsesWithIf(source, [&](OpOperand &use) {
      return followsTypes(use.getOwner()) &&
             !isProvedState(use, source.getType());
    });
  }
  // From the last one on: a cast of a cast keeps the first one alive.
  for (Operation *cast : llvm::reverse(casts))
    if (cast->use_empty())
      cast->erase();
}

void TypeInference::recordTypes() {
  func.walk([&](Operation *op) {
    for (Value result : op->getResults())
      originalTypes.push_back({result, result.getType()});
    for (Region &region : op->getRegions())
      for (BlockArgument arg : region.getArguments())
        originalTypes.push_back({arg, arg.getType()});
    auto record = [&](MutableArrayRef<OpOperand> operands) {
      for (OpOperand &operand : operands)
        if (isShaped(operand.get().getType()))
          fixedOperands.push_back({&operand, operand.get().getType()});
    };
    if (auto loop = dyn_cast<LoopOp>(op))
      for (auto control :
           {loop.getTripCountMutable(), loop.getConditionMutable(),
            loop.getLengthsMutable()})
        record(control);
    else if (auto yield = dyn_cast<YieldOp>(op))
      record(yield.getConditionMutable());
    else if (!followsTypes(op))
      record(op->getOpOperands());
  });
}

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

void TypeInference::setType(Value value, Type type) {
  if (value.getType() == type)
    return;
  value.setType(type);
  inferUsersAgain(value);
}

void TypeInference::inferAgain(Operation *op) {
  while (op && settled.erase(op))
    op = op->getParentOp();
}

void TypeInference::inferUsersAgain(Value value) {
  for (Operation *user : value.getUsers())
    inferAgain(user);
}

void TypeInference::setEmpty(Value value, bool isEmpty) {
  if (isEmpty ? empty.insert(value).second : empty.erase(value))
    inferUsersAgain(value);
}

/// The type that holds both; one without elements says nothing. Null where
/// there is none.
Type TypeInference::joinValues(Value a, Value b) {
  Type joined = joinTypes(a.getType(), b.getType());
  if (joined && isEmpty(a) != isEmpty(b))
    return isEmpty(a) ? b.getType() : a.getType();
  return joined;
}

LogicalResult TypeInference::infer(Region &region) {
  if (region.empty())
    return success();
  if (region.hasOneBlock())
    return infer(region.front());
  for (Block *block : getBlocksSortedByDominance(region))
    if (failed(infer(*block)))
      return failure();
  return success();
}

LogicalResult TypeInference::infer(Block &block) {
  for (Operation &op : block)
    if (failed(infer(&op)))
      return failure();
  return success();
}

LogicalResult TypeInference::infer(Operation *op) {
  if (settled.contains(op))
    return success();
  ++work;
  LogicalResult result = success();
  if (auto node = dyn_cast<NodeOp>(op))
    result = inferNode(node);
  else if (auto branch = dyn_cast<scf::IfOp>(op))
    result = inferIf(branch);
  else if (auto loop = dyn_cast<LoopOp>(op))
    result = inferLoop(loop);
  else if (auto scan = dyn_cast<ScanOp>(op))
    result = inferScan(scan);
  else
    for (Region &region : op->getRegions())
      if (failed(infer(region)))
        return failure();
  // What is known of a result besides its type is derived anew, too: the values
  // of integers, and which dimensions are the same.
  if (!isa<scf::IfOp, LoopOp, ScanOp>(op))
    for (Value value : op->getResults()) {
      if (!isa<NodeOp>(op)) // inferNodeTypes() does it itself
        cache.forget(value);
      inferUsersAgain(value);
    }
  settled.insert(op);
  return result;
}

LogicalResult TypeInference::inferNode(NodeOp node) {
  SmallVector<Type> types;
  InferenceOptions options;
  options.cache = &cache;
  // if_lazy, and the same for iterations: what is wrong in code that may never
  // run is an error of the runs that come to it.
  options.lenient = conditional > 0;
  if (failed(inferNodeTypes(
          node, types, [&] { return emitNodeError(node); }, options)))
    return failure();
  if (node.getDomain().empty())
    inferCollection(node, types);
  for (auto [result, type] : llvm::zip_equal(node.getResults(), types))
    setType(result, type);
  return success();
}

/// What the library cannot know: that a list is empty, and what the type of one
/// is that gets its first element.
void TypeInference::inferCollection(NodeOp node, SmallVectorImpl<Type> &types) {
  StringRef op = node.getOpType();
  if (op == "SequenceEmpty" || (op == "Optional" && !node.getInputOrNull(0)))
    setEmpty(node.getResult(0), true);
  else if (op == "Identity" || op == "SequenceErase")
    setEmpty(node.getResult(0), isEmpty(node.getInputs()[0]));
  else if (op == "SequenceInsert" && isEmpty(node.getInputs()[0]))
    types[0] = SeqType::get(node.getInputs()[1].getType());
}

/// True for a branch that takes an element of a list or an optional that is
/// empty, as far as is known by now. It fails, or one that an enclosing loop
/// carries gets its elements, and the branch is looked at again.
bool TypeInference::readsNothing(Region &branch) {
  return llvm::any_of(branch.getOps<NodeOp>(), [&](NodeOp node) {
    StringRef op = node.getOpType();
    return node.getDomain().empty() &&
           (op == "SequenceAt" || op == "SequenceErase" ||
            op == "OptionalGetElement") &&
           isEmpty(node.getInputs()[0]);
  });
}

/// if_types: the branches' types, joined.
LogicalResult TypeInference::inferIf(scf::IfOp op) {
  ++conditional;
  LogicalResult inferred = success(succeeded(infer(op.getThenRegion())) &&
                                   succeeded(infer(op.getElseRegion())));
  --conditional;
  if (failed(inferred))
    return failure();
  // Where the condition can be told only one branch counts (in a loop: as far
  // as it is known by now; types only grow).
  std::optional<int64_t> taken = cache.getInteger(op.getCondition());
  if (taken)
    decided[op] = *taken != 0;
  else
    decided.erase(op);
  bool thenFails = readsNothing(op.getThenRegion());
  bool elseFails = readsNothing(op.getElseRegion());
  for (auto [k, result] : llvm::enumerate(op.getResults())) {
    Value ofThen = op.thenYield().getOperand(k);
    Value ofElse = op.elseYield().getOperand(k);
    Type joined = joinValues(ofThen, ofElse);
    bool isEmptyResult = isEmpty(ofThen) && isEmpty(ofElse);
    if (joined && taken) {
      joined = (*taken ? ofThen : ofElse).getType();
      isEmptyResult = isEmpty(*taken ? ofThen : ofElse);
    } else if (joined && thenFails != elseFails) {
      // The other type is all that can come out, if this one can be cast to it.
      Value one = thenFails ? ofElse : ofThen;
      Value failed = thenFails ? ofThen : ofElse;
      if (isEmpty(failed) ||
          tensor::CastOp::areCastCompatible(failed.getType(), one.getType())) {
        joined = one.getType();
        isEmptyResult = isEmpty(one);
      }
    }
    if (!joined)
      return op.emitOpError()
             << "result #" << k << " is " << ofThen.getType()
             << " in one branch but " << ofElse.getType() << " in the other";
    if (joined != result.getType())
      cache.forget(result);
    setType(result, joined);
    setEmpty(result, isEmptyResult);
  }
  return success();
}

/// Infers `body` until the types of `args`, which start as `inits`, hold what
/// it yields for them.
LogicalResult TypeInference::inferBody(Operation *op, Block &body,
                                       ArrayRef<Type> inits,
                                       ArrayRef<bool> emptyInits,
                                       Block::BlockArgListType args) {
  auto widen = [&](unsigned k, Type with, bool withEmpty,
                   bool *changed) -> LogicalResult {
    Type old = args[k].getType();
    bool wasEmpty = isEmpty(args[k]);
    Type joined = joinTypes(old, with);
    if (!joined)
      return op->emitOpError() << "carried value #" << k << " is " << old
                               << " but an iteration yields " << with;
    if (wasEmpty != withEmpty)
      joined = wasEmpty ? with : old;
    if (joined == old && (withEmpty || !wasEmpty))
      return success();
    cache.forget(args[k]);
    setType(args[k], joined);
    setEmpty(args[k], wasEmpty && withEmpty);
    if (changed)
      *changed = true;
    return success();
  };
  bool first = visited.insert(op).second;
  for (auto [k, type] : llvm::enumerate(inits)) {
    if (first) {
      cache.forget(args[k]);
      setType(args[k], type);
      setEmpty(args[k], emptyInits[k]);
    } else if (failed(widen(k, type, emptyInits[k], nullptr))) {
      return failure();
    }
  }
  auto yield = cast<YieldOp>(body.getTerminator());
  for (bool changed = true; changed;) {
    changed = false;
    if (failed(infer(body)))
      return failure();
    for (unsigned k = 0; k < inits.size(); ++k) {
      Value yielded = yield.getCarried()[k];
      if (failed(widen(k, yielded.getType(), isEmpty(yielded), &changed)))
        return failure();
    }
  }
  return success();
}

LogicalResult TypeInference::setSlice(Operation *op, BlockArgument arg,
                                      Type type) {
  if (!type)
    return op->emitOpError() << "slice argument #" << arg.getArgNumber()
                             << " has an axis that its value has not";
  // Scalars stay scalars.
  if (!isa<TensorType>(arg.getType()) || arg.getType() == type)
    return success();
  cache.forget(arg);
  setType(arg, type);
  return success();
}

LogicalResult TypeInference::setCollected(Operation *op, OpResult result,
                                          Type type) {
  if (!type)
    return op->emitOpError()
           << "result #" << result.getResultNumber()
           << " has an axis that its values have no place for";
  if (result.getType() != type)
    cache.forget(result);
  setType(result, type);
  return success();
}

/// What an Identity or a cast was given.
static Value stripIdentities(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto node = dyn_cast<NodeOp>(op);
    bool identity = node && node.getOpType() == "Identity" &&
                    node.getDomain().empty() && node.getInputs().size() == 1;
    if (!identity && !isShapeCast(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// The number of iterations, where it is known: the trip count is and no
/// condition ends the loop earlier.
std::optional<int64_t> TypeInference::getTrips(LoopOp op) {
  if (!op.getTripCount())
    return std::nullopt;
  std::optional<int64_t> trips = cache.getInteger(op.getTripCount());
  if (!trips)
    return std::nullopt;
  if (*trips <= 0)
    return 0;
  // Without a condition the yielded one is ignored (loop_cond_ignored).
  if (op.getCondition()) {
    if (cache.getInteger(op.getCondition()).value_or(0) == 0)
      return std::nullopt;
    Value yielded = stripIdentities(op.getYield().getCondition());
    if (yielded != op.getConditionArg() &&
        cache.getInteger(yielded).value_or(0) == 0)
      return std::nullopt;
  }
  return trips;
}

/// True for a loop with a first iteration, whatever ends it later.
bool TypeInference::certainlyRuns(LoopOp op) {
  auto isTrue = [&](Value value) {
    return cache.getInteger(value).value_or(0) > 0;
  };
  return (!op.getTripCount() || isTrue(op.getTripCount())) &&
         (!op.getCondition() || isTrue(op.getCondition()));
}

LogicalResult TypeInference::inferLoop(LoopOp op) {
  for (auto [value, axis, arg] :
       llvm::zip_equal(op.getSlices(), op.getSliceAxes(), op.getSliceArgs()))
    if (failed(setSlice(op, arg, dropAxis(value.getType(), axis))))
      return failure();
  SmallVector<bool> emptyInits;
  for (Value init : op.getInits())
    emptyInits.push_back(isEmpty(init));
  bool isConditional = !certainlyRuns(op);
  conditional += isConditional;
  LogicalResult inferred = inferBody(op, *op.getLoopBody(),
                                     llvm::to_vector(op.getInits().getTypes()),
                                     emptyInits, op.getCarriedArgs());
  conditional -= isConditional;
  if (failed(inferred))
    return failure();
  for (auto [arg, result] :
       llvm::zip_equal(op.getCarriedArgs(), op.getCarriedResults())) {
    if (arg.getType() != result.getType())
      cache.forget(result);
    setType(result, arg.getType());
    setEmpty(result, isEmpty(arg));
  }
  std::optional<int64_t> trips = getTrips(op);
  for (auto [k, value] : llvm::enumerate(op.getYield().getCollected())) {
    // Of buffers all is known that will be.
    if (isa<BaseMemRefType>(value.getType()))
      continue;
    std::optional<int64_t> length = trips;
    if (Value given = op.getLengthOf(k))
      length = cache.getInteger(given);
    if (length && *length < 0)
      length.reset();
    if (failed(setCollected(op, op->getResult(op.getNumCarried() + k),
                            insertAxis(value.getType(), op.getCollectAxes()[k],
                                       length.value_or(ShapedType::kDynamic)))))
      return failure();
  }
  return success();
}

LogicalResult TypeInference::inferScan(ScanOp op) {
  bool batched = op.getBatched();
  unsigned states = op.getNumStates();
  int64_t length = ShapedType::kDynamic, batch = ShapedType::kDynamic;
  // scan_lengths, scan8_batch: all inputs have one length, and one batch.
  auto learn = [](int64_t &known, int64_t extent) {
    if (ShapedType::isDynamic(known))
      known = extent;
  };
  for (auto [k, value, axis] :
       llvm::enumerate(op.getInputs(), op.getInputAxes())) {
    Type type = value.getType();
    learn(length, getExtent(type, axis));
    if (batched)
      learn(batch, getExtent(type, 0));
    Type slice = dropAxis(type, axis);
    if (batched && slice)
      slice = dropAxis(slice, 0);
    if (failed(setSlice(op, op.getScanBody()->getArgument(states + k), slice)))
      return failure();
  }
  SmallVector<Type> inits;
  for (Value init : op.getInits()) {
    Type type = init.getType();
    if (batched) {
      learn(batch, getExtent(type, 0));
      type = dropAxis(type, 0);
    }
    if (!type)
      return op.emitOpError()
             << "state #" << inits.size() << " has no axis for the batch";
    inits.push_back(type);
  }
  SmallVector<bool> emptyInits(states, false); // tensors only
  bool isConditional =
      ShapedType::isDynamic(length) || length == 0 ||
      (batched && (ShapedType::isDynamic(batch) || batch == 0));
  conditional += isConditional;
  LogicalResult inferred =
      inferBody(op, *op.getScanBody(), inits, emptyInits,
                op.getScanBody()->getArguments().take_front(states));
  conditional -= isConditional;
  if (failed(inferred))
    return failure();
  for (unsigned k = 0; k < states; ++k) {
    Type type = op.getScanBody()->getArgument(k).getType();
    if (batched)
      type = insertAxis(type, 0, getExtent(op.getInits()[k].getType(), 0));
    if (failed(setCollected(op, op->getResult(k), type)))
      return failure();
  }
  for (auto [k, value, axis] :
       llvm::enumerate(op.getYield().getCollected(), op.getOutputAxes())) {
    Type type = value.getType();
    // A batched scan's axis counts the batch's axis too.
    if (batched)
      type = insertAxis(type, 0, batch);
    if (failed(setCollected(op, op->getResult(states + k),
                            insertAxis(type, axis, length))))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// After
//===----------------------------------------------------------------------===//

/// scf.if %true { A } else { B }  ->  A
///
/// where inference has found the condition to be true, whatever computes it.
bool TypeInference::inlineBranches() {
  auto branches = loopc::collectOps(
      func, [&](scf::IfOp op) { return decided.contains(op); });
  IRRewriter rewriter(func.getContext());
  for (scf::IfOp op : branches) {
    Region &taken =
        decided.lookup(op) ? op.getThenRegion() : op.getElseRegion();
    if (taken.empty()) {
      rewriter.eraseOp(op);
      continue;
    }
    Block &block = taken.front();
    Operation *yield = block.getTerminator();
    SmallVector<Value> results(yield->getOperands());
    rewriter.eraseOp(yield);
    rewriter.inlineBlockBefore(&block, op);
    rewriter.replaceOp(op, results);
  }
  return !branches.empty();
}

/// Casts `operand` to `type` in front of its operation.
LogicalResult TypeInference::castOperand(OpOperand &operand, Type type) {
  Type from = operand.get().getType();
  if (from == type)
    return success();
  for (Operation *before = operand.getOwner()->getPrevNode();
       before && isShapeCast(before); before = before->getPrevNode())
    if (before->getOperand(0) == operand.get() &&
        before->getResult(0).getType() == type) {
      operand.set(before->getResult(0));
      return success();
    }
  OpBuilder builder(operand.getOwner());
  Location loc = operand.get().getLoc();
  if (tensor::CastOp::areCastCompatible(from, type))
    operand.set(tensor::CastOp::create(builder, loc, type, operand.get()));
  else if (CastOp::areCastCompatible(from, type))
    operand.set(CastOp::create(builder, loc, type, operand.get()));
  else
    return operand.getOwner()->emitOpError()
           << "operand #" << operand.getOperandNumber() << " has type " << type
           << " but is inferred to be " << from;
  return success();
}

LogicalResult TypeInference::insertCasts() {
  auto castAll = [&](MutableArrayRef<OpOperand> operands, TypeRange types) {
    for (auto [operand, type] : llvm::zip_equal(operands, types))
      if (failed(castOperand(operand, type)))
        return failure();
    return success();
  };
  WalkResult walked = func.walk([&](Operation *op) {
    LogicalResult result = success();
    if (auto loop = dyn_cast<LoopOp>(op)) {
      MutableOperandRange inits = loop.getInitsMutable(),
                          yielded = loop.getYield().getCarriedMutable();
      TypeRange types = loop.getCarriedResults().getTypes();
      result = success(succeeded(castAll(inits, types)) &&
                       succeeded(castAll(yielded, types)));
    } else if (auto scan = dyn_cast<ScanOp>(op)) {
      MutableOperandRange inits = scan.getInitsMutable(),
                          yielded = scan.getYield().getCarriedMutable();
      unsigned states = scan.getNumStates();
      auto outside = TypeRange(scan.getResultTypes()).take_front(states);
      auto inside =
          TypeRange(scan.getScanBody()->getArgumentTypes()).take_front(states);
      result = success(succeeded(castAll(inits, outside)) &&
                       succeeded(castAll(yielded, inside)));
    } else if (auto branch = dyn_cast<scf::IfOp>(op);
               branch && branch.getNumResults() && !decided.contains(op)) {
      TypeRange types = branch.getResultTypes();
      result = success(
          succeeded(castAll(branch.thenYield()->getOpOperands(), types)) &&
          succeeded(castAll(branch.elseYield()->getOpOperands(), types)));
    }
    return succeeded(result) ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (walked.wasInterrupted())
    return failure();
  for (auto [operand, type] : fixedOperands)
    if (isa<UnrankedTensorType>(operand->get().getType()) ||
        !followsTypes(operand->getOwner()))
      if (failed(castOperand(*operand, type)))
        return failure();
  return success();
}

/// What the function returns. Callers of a private function see its type; they
/// cannot be changed from here.
LogicalResult TypeInference::setResults() {
  SmallVector<func::ReturnOp> returns;
  for (Block &block : func.getBody())
    if (auto op = dyn_cast<func::ReturnOp>(block.getTerminator()))
      returns.push_back(op);
  SmallVector<Type> types(func.getResultTypes());
  if (func.isPublic() && !returns.empty()) {
    types.assign(returns.front().getOperandTypes().begin(),
                 returns.front().getOperandTypes().end());
    for (func::ReturnOp op : returns)
      for (auto [k, type] : llvm::enumerate(types)) {
        Type other = op.getOperand(k).getType();
        Type joined = joinTypes(type, other);
        if (!joined)
          return op.emitOpError() << "operand #" << k << " is " << other
                                  << " but " << type << " elsewhere";
        type = joined;
      }
    // A result whose axes have names does not lose its rank.
    for (auto [k, before] : llvm::enumerate(func.getResultTypes()))
      if (auto ranked = dyn_cast<RankedTensorType>(before);
          ranked && isa<UnrankedTensorType>(types[k]) &&
          func.getResultAttr(k, loopc::kDimsAttrName))
        types[k] = RankedTensorType::get(
            SmallVector<int64_t>(ranked.getRank(), ShapedType::kDynamic),
            ranked.getElementType());
    func.setFunctionType(
        FunctionType::get(func.getContext(), func.getArgumentTypes(), types));
    loopc::refreshPortTypes(func);
  }
  for (func::ReturnOp op : returns)
    for (auto [operand, type] : llvm::zip_equal(op->getOpOperands(), types))
      if (failed(castOperand(operand, type)))
        return failure();
  return success();
}

namespace {
struct InferTypesPass
    : public loopc::onnx::impl::ONNXInferTypesBase<InferTypesPass> {
  using ONNXInferTypesBase::ONNXInferTypesBase;
  void runOnOperation() override {
    uint64_t work = 0;
    for (bool again = true; again;) {
      TypeInference inference(getOperation());
      if (failed(inference.run()))
        return signalPassFailure();
      numRefined += inference.getNumRefined();
      work += inference.getWork();
      again = inference.inlineBranches();
    }
    applyDeclaredResults(getOperation());
    if (reportWork)
      getOperation().emitRemark() << work << " operations inferred";
  }
};
} // namespace
