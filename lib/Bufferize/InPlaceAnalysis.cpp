//===- InPlaceAnalysis.cpp - Which operands share their buffer ------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// MLIR's analysis compares all reads with all writes of an alias set, once for
// each operand: the third power of a chain of updates. Here
//
// - an operand's decision compares only what it brings together: within an
//   alias set every read agreed with every write when the set was made, and
//   neither the rules nor their answers change while operands are decided;
// - a read can only be disturbed by a write between its definition and itself,
//   or in a loop around it. That is a range of positions in the function, which
//   is computed once for each read; other writes are passed over by two
//   comparisons of numbers;
// - whether a value goes back to a slice is asked only where there is a slice
//   of that place, and no further back than it stands.

#include "loopc/Bufferize/InPlaceAnalysis.h"

#include "Definitions.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SubsetOpInterface.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace loopc;

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

namespace {
/// Operations by number: each before what is in it, and in the order of blocks.
/// All regions have one block.
class Positions {
public:
  explicit Positions(Operation *root) { number(root, 0, 0, 0); }

  unsigned operator[](Operation *op) const { return numbers.at(op); }
  /// The number of the last operation in `op`.
  unsigned last(unsigned op) const { return nodes[op].last; }
  unsigned parent(unsigned op) const { return nodes[op].parent; }
  Operation *getOp(unsigned op) const { return nodes[op].op; }

  /// True if `a` is `b` or around it.
  bool contains(unsigned a, unsigned b) const {
    return a <= b && b <= nodes[a].last;
  }

  /// True if `a`, or what is around it, stands before `b`, or what is around
  /// that, in one block.
  bool happensBefore(unsigned a, unsigned b) const {
    if (a >= b || contains(a, b))
      return false;
    while (nodes[a].depth > nodes[b].depth)
      a = nodes[a].parent;
    while (nodes[b].depth > nodes[a].depth)
      b = nodes[b].parent;
    while (nodes[a].parent != nodes[b].parent) {
      a = nodes[a].parent;
      b = nodes[b].parent;
    }
    return nodes[a].region == nodes[b].region;
  }

private:
  struct Node {
    Operation *op;
    unsigned last, parent, region, depth;
  };

  void number(Operation *op, unsigned parent, unsigned region, unsigned depth) {
    unsigned own = nodes.size();
    numbers[op] = own;
    nodes.push_back({op, own, parent, region, depth});
    for (Region &inner : op->getRegions())
      for (Operation &nested : inner.getOps())
        number(&nested, own, inner.getRegionNumber(), depth + 1);
    nodes[own].last = nodes.size() - 1;
  }

  DenseMap<Operation *, unsigned> numbers;
  SmallVector<Node> nodes;
};

/// A use that reads, and where a write must stand to be in its way: it, or what
/// is in it, is one of the operations from `first` to `last`.
struct Read {
  OpOperand *use;
  unsigned first, last;
};

/// A use that writes in place, the number of its operation, and that of the
/// last one in it.
struct Write {
  OpOperand *use;
  unsigned first, last;
};

/// Values that may share memory.
struct AliasSet {
  SmallVector<Read> reads;
  SmallVector<Write> writes;
  bool isReadOnly = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Conflicts
//===----------------------------------------------------------------------===//

namespace {
/// MLIR's rules of when a write disturbs a read.
class Conflicts {
public:
  Conflicts(const Positions &positions, OneShotAnalysisState &state,
            InPlaceCounts &counts)
      : positions(positions), state(state), options(state.getOptions()),
        counts(counts), finder(state) {}
  ~Conflicts() { counts.steps += finder.getNumSteps(); }

  /// True if nothing made what `use` is handed.
  bool isUndefined(OpOperand &use) { return finder.of(use.get()).empty(); }

  /// The range of `use`, which reads; none if what it reads is undefined.
  std::optional<Read> makeRead(OpOperand &use);
  Write makeWrite(OpOperand &use) const {
    unsigned op = positions[use.getOwner()];
    return {&use, op, positions.last(op)};
  }

  bool areInConflict(const Read &read, const Write &write) {
    return write.first <= read.last && write.last >= read.first &&
           disturbs(read.use, write.use);
  }

private:
  bool disturbs(OpOperand *read, OpOperand *write);
  bool disturbsDefinition(OpOperand *write, Value definition);
  bool canUseOrder(OpOperand *read, OpOperand *write,
                   const Definitions::Values &definitions);
  Region *findLoop(OpOperand *read, Value definition);
  bool isElementwise(OpOperand *read, OpOperand *write);
  bool goesBackTo(OpOperand *use, Value other);
  Value findWhole(Value value);
  /// What findWhole() has found: from there on more may be in place by now.
  llvm::DenseMap<Value, Value> wholes;
  bool areOneBuffer(Value one, Value other);
  Operation *findPlace(OpOperand *use, bool isWrite);
  bool areDisjointSlices(OpOperand *read, OpOperand *write);
  bool areApart(OpOperand *read, OpOperand *write);
  bool isOfSamePlace(OpOperand *use, SubsetInsertionOpInterface insert);
  void extendBackwards(Read &range, unsigned read, Value definition);
  std::optional<unsigned> findFirstSlice(SubsetInsertionOpInterface insert);

  const Positions &positions;
  OneShotAnalysisState &state;
  const BufferizationOptions &options;
  InPlaceCounts &counts;
  Definitions finder;
};
} // namespace

/// The outermost loop around `read` that runs any number of times after
/// `definition`; null without one.
Region *Conflicts::findLoop(OpOperand *read, Value definition) {
  Region *region =
      state.getEnclosingRepetitiveRegion(read->getOwner(), options);
  Region *own = state.getEnclosingRepetitiveRegion(definition, options);
  if (region == own)
    return nullptr;
  while (region) {
    Region *next = getNextEnclosingRepetitiveRegion(region, options);
    if (next == own)
      return region;
    region = next;
  }
  return nullptr;
}

/// What stands before `definition` is overwritten by it, unless it is in
/// another region of an operation around it.
void Conflicts::extendBackwards(Read &range, unsigned read, Value definition) {
  Operation *defining = definition.getDefiningOp();
  if (!defining) {
    Operation *owner = definition.getParentBlock()->getParentOp();
    range.first = std::min(range.first, positions[owner]);
    return;
  }
  unsigned op = positions[defining];
  range.first = std::min(range.first, op);
  for (unsigned around = positions.parent(op);;
       around = positions.parent(around)) {
    Operation *parent = positions.getOp(around);
    bool hasOne = parent->getNumRegions() < 2 ||
                  (isBranch(parent) && positions.contains(around, read));
    if (!hasOne)
      range.first = std::min(range.first, around);
    if (around == 0)
      return;
  }
}

std::optional<Read> Conflicts::makeRead(OpOperand &use) {
  const Definitions::Values &definitions = finder.of(use.get());
  if (definitions.empty())
    return std::nullopt;
  unsigned read = positions[use.getOwner()];
  Read range{&use, read, positions.last(read)};
  for (Value definition : definitions) {
    extendBackwards(range, read, definition);
    // In a loop what stands behind the read runs before its next time.
    if (Region *loop = findLoop(&use, definition)) {
      unsigned op = positions[loop->getParentOp()];
      range.first = std::min(range.first, op);
      range.last = std::max(range.last, positions.last(op));
    }
  }
  for (unsigned around = read; around != 0;) {
    around = positions.parent(around);
    Operation *parent = positions.getOp(around);
    if (parent->getNumRegions() > 1 && !isBranch(parent)) {
      range.first = std::min(range.first, around);
      range.last = std::max(range.last, positions.last(around));
    }
  }
  return range;
}

/// Where a loop around `read` does not hold the definitions, but `write`, the
/// order of operations says nothing.
bool Conflicts::canUseOrder(OpOperand *read, OpOperand *write,
                            const Definitions::Values &definitions) {
  return llvm::none_of(definitions, [&](Value definition) {
    Region *loop = findLoop(read, definition);
    return loop && positions.contains(positions[loop->getParentOp()],
                                      positions[write->getOwner()]);
  });
}

/// True if `use` is `other` under another name: what lies between writes into
/// it, element by element.
bool Conflicts::goesBackTo(OpOperand *use, Value other) {
  TraversalConfig config;
  config.followEquivalentOnly = true;
  config.alwaysIncludeLeaves = false;
  config.followSameTypeOrCastsOnly = true;
  auto isOther = [&](Value value) {
    ++counts.steps;
    return value == other;
  };
  return !state.findValueInReverseUseDefChain(use, isOther, config).empty();
}

/// True if both are operands of one operation that reads each element before
/// it writes there.
bool Conflicts::isElementwise(OpOperand *read, OpOperand *write) {
  Operation *op = read->getOwner();
  if (op != write->getOwner())
    return false;
  auto bufferizable = options.dynCastBufferizableOp(op);
  return bufferizable &&
         bufferizable.bufferizesToElementwiseAccess(state, {read, write}) &&
         (goesBackTo(read, write->get()) || goesBackTo(write, read->get()));
}

/// The tensor whose buffer `value` is once insertions behind one another are in
/// place: users are decided before what they use.
Value Conflicts::findWhole(Value value) {
  SmallVector<Value> passed;
  while (true) {
    if (Value known = wholes.lookup(value)) {
      passed.push_back(std::exchange(value, known));
      continue;
    }
    auto insert = value.getDefiningOp<tensor::InsertSliceOp>();
    if (!insert)
      break;
    ++counts.steps;
    if (!state.isInPlace(insert.getDestMutable()))
      break;
    passed.push_back(std::exchange(value, insert.getDest()));
  }
  for (Value from : passed)
    wholes[from] = value;
  return value;
}

bool Conflicts::areOneBuffer(Value one, Value other) {
  return one == other || state.areEquivalentBufferizedValues(one, other) ||
         findWhole(one) == findWhole(other);
}

/// The first slice of the place that `insert` writes to; none if there is no
/// such slice. Slices go back to a tensor that the analysis knows to be the
/// one that is inserted into.
std::optional<unsigned>
Conflicts::findFirstSlice(SubsetInsertionOpInterface insert) {
  auto areEquivalent = [&](Value one, Value other) {
    return areOneBuffer(one, other);
  };
  std::optional<unsigned> first;
  Value whole = findWhole(insert.getDestinationOperand().get());
  state.applyOnEquivalenceClass(whole, [&](Value value) {
    for (Operation *user : value.getUsers()) {
      ++counts.steps;
      auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
      if (slice && insert.isEquivalentSubset(slice.getResult(), areEquivalent))
        first = std::min(first.value_or(positions[user]), positions[user]);
    }
  });
  return first;
}

/// True if all that `use` may be goes back to a slice of the place that
/// `insert` writes to.
bool Conflicts::isOfSamePlace(OpOperand *use,
                              SubsetInsertionOpInterface insert) {
  auto areEquivalent = [&](Value one, Value other) {
    return areOneBuffer(one, other);
  };
  unsigned first = 0;
  if (isa<tensor::InsertSliceOp>(insert)) {
    std::optional<unsigned> slice = findFirstSlice(insert);
    if (!slice)
      return false;
    first = *slice;
  }
  auto isSlice = [&](Value value) {
    auto result = dyn_cast<OpResult>(value);
    return result && insert.isEquivalentSubset(result, areEquivalent);
  };
  // What stands before all such slices is none, nor what it goes back to.
  auto isEnd = [&](Value value) {
    ++counts.steps;
    Operation *op = value.getDefiningOp();
    return (op && positions.last(positions[op]) < first) || isSlice(value);
  };
  return llvm::all_of(state.findValueInReverseUseDefChain(use, isEnd), isSlice);
}

/// Values between a read and the slice that it is of.
static constexpr unsigned kFarthestSlice = 8;

/// The slice that `use` reads or writes, of a tensor of the block that all of
/// it stands in; null if there is none. Places are compared within one
/// iteration: what others have written was there when it began.
Operation *Conflicts::findPlace(OpOperand *use, bool isWrite) {
  Operation *place = nullptr;
  Value whole;
  auto insert = dyn_cast<SubsetInsertionOpInterface>(use->getOwner());
  if (isWrite && insert && use == &insert.getDestinationOperand()) {
    place = insert;
    whole = use->get();
  } else {
    auto isSlice = [](Value value) {
      return value.getDefiningOp<tensor::ExtractSliceOp>() != nullptr;
    };
    // This is asked for each pair of a read and a write.
    unsigned steps = 0;
    auto slice = [&](Value value) {
      ++counts.steps;
      return isSlice(value) || ++steps > kFarthestSlice;
    };
    TraversalConfig config;
    config.followEquivalentOnly = true;
    llvm::SetVector<Value> found =
        state.findValueInReverseUseDefChain(use, slice, config);
    if (found.size() != 1 || !isSlice(found.front()))
      return nullptr;
    auto extract = found.front().getDefiningOp<tensor::ExtractSliceOp>();
    place = extract;
    whole = extract.getSource();
  }
  Block *block = whole.getParentBlock();
  return place->getBlock() == block && use->getOwner()->getBlock() == block
             ? place
             : nullptr;
}

/// True if `read` and `write` are of slices of one tensor that have no element
/// in common.
bool Conflicts::areDisjointSlices(OpOperand *read, OpOperand *write) {
  Operation *first = findPlace(read, /*isWrite=*/false);
  Operation *second = first ? findPlace(write, /*isWrite=*/true) : nullptr;
  return second && first->getBlock() == second->getBlock() &&
         cast<SubsetOpInterface>(first).operatesOnDisjointSubset(
             cast<SubsetOpInterface>(second),
             [&](Value a, Value b) { return areOneBuffer(a, b); });
}

/// True if `read` and `write` mean different places, or `write` stores what is
/// there, as parts that are taken out, changed and put back do.
bool Conflicts::areApart(OpOperand *read, OpOperand *write) {
  if (areDisjointSlices(read, write))
    return true;
  if (auto insert = dyn_cast<SubsetInsertionOpInterface>(read->getOwner())) {
    // What is written to is not read with the rest of the destination.
    if (read == &insert.getDestinationOperand() && isOfSamePlace(write, insert))
      return true;
    if (read == &insert.getSourceOperand() &&
        write == &insert.getDestinationOperand() && isOfSamePlace(read, insert))
      return true;
  }
  auto insert = dyn_cast<SubsetInsertionOpInterface>(write->getOwner());
  return insert && write == &insert.getDestinationOperand() &&
         state.areEquivalentBufferizedValues(read->get(),
                                             insert.getSourceOperand().get()) &&
         isOfSamePlace(&insert.getSourceOperand(), insert);
}

/// True if `write` may run between `definition` and what reads it.
bool Conflicts::disturbsDefinition(OpOperand *write, Value definition) {
  unsigned writing = positions[write->getOwner()];
  if (Operation *defining = definition.getDefiningOp()) {
    unsigned op = positions[defining];
    if (positions.happensBefore(writing, op) ||
        (op != writing && positions.contains(op, writing)))
      return false;
  } else if (!definition.getParentBlock()->findAncestorOpInBlock(
                 *write->getOwner())) {
    return false;
  }
  AliasingValueList aliases = state.getAliasingValues(*write);
  return aliases.getNumAliases() != 1 ||
         aliases.getAliases()[0].value != definition;
}

bool Conflicts::disturbs(OpOperand *read, OpOperand *write) {
  ++counts.pairs;
  const Definitions::Values &definitions = finder.of(read->get());
  Operation *reading = read->getOwner(), *writing = write->getOwner();
  if (canUseOrder(read, write, definitions) &&
      (positions.happensBefore(positions[reading], positions[writing]) ||
       read == write || insideMutuallyExclusiveRegions(reading, writing)))
    return false;
  if (isElementwise(read, write))
    return false;
  // The cheap question before the one that goes back through values.
  if (llvm::none_of(definitions, [&](Value definition) {
        return disturbsDefinition(write, definition);
      }))
    return false;
  if (areApart(read, write))
    return false;
  auto saysNo = [&](Operation *op) {
    auto bufferizable = options.dynCastBufferizableOp(op);
    return bufferizable && bufferizable.isNotConflicting(read, write, state);
  };
  return !saysNo(reading) && (reading == writing || !saysNo(writing));
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

namespace {
/// Decides for the operands of one function.
class FunctionAnalysis {
public:
  FunctionAnalysis(func::FuncOp function, InPlaceState &state,
                   InPlaceCounts &counts)
      : function(function), state(state), positions(function),
        conflicts(positions, state, counts) {}

  LogicalResult run();

private:
  void addValue(Value value);
  bool mayRead(OpOperand &use);
  unsigned findSet(Value value);
  void merge(unsigned into, unsigned from);
  LogicalResult checkGiven();
  SmallVector<unsigned> setsOf(OpOperand &operand);
  bool canBeInPlace(OpOperand &operand, ArrayRef<unsigned> sets, bool writes);
  void decide(OpOperand &operand);
  void findEquivalent(OpResult result, BufferizableOpInterface op);
  void findUndefinedUses();

  func::FuncOp function;
  InPlaceState &state;
  Positions positions;
  Conflicts conflicts;
  DenseMap<Value, unsigned> numbers;
  SmallVector<unsigned> leaders;
  SmallVector<AliasSet> sets;
};
} // namespace

/// True for what reads, and for what only gives another name to a value that
/// somebody reads.
bool FunctionAnalysis::mayRead(OpOperand &use) {
  if (state.bufferizesToMemoryRead(use))
    return true;
  return !state.bufferizesToMemoryWrite(use) &&
         llvm::any_of(state.getAliasingValues(use), [&](AliasingValue alias) {
           return state.isValueRead(alias.value);
         });
}

/// True if elements of `value`, a slice, may lie at one place: along an axis
/// with a stride of 0.
static bool mayRepeatElements(Value value) {
  auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
  return slice &&
         llvm::any_of(
             llvm::zip_equal(slice.getMixedStrides(), slice.getMixedSizes()),
             [](auto axis) {
               auto [stride, size] = axis;
               return getConstantIntValue(stride).value_or(0) == 0 &&
                      getConstantIntValue(size).value_or(2) > 1;
             });
}

void FunctionAnalysis::addValue(Value value) {
  if (!isa<TensorType>(value.getType()))
    return;
  numbers[value] = sets.size();
  leaders.push_back(sets.size());
  AliasSet &set = sets.emplace_back();
  set.isReadOnly = !state.isWritable(value) || mayRepeatElements(value);
  for (OpOperand &use : value.getUses()) {
    if (mayRead(use))
      if (std::optional<Read> read = conflicts.makeRead(use))
        set.reads.push_back(*read);
    if (state.isInPlace(use) && state.bufferizesToMemoryWrite(use))
      set.writes.push_back(conflicts.makeWrite(use));
  }
}

unsigned FunctionAnalysis::findSet(Value value) {
  unsigned set = numbers.at(value);
  while (leaders[set] != set)
    set = leaders[set] = leaders[leaders[set]];
  return set;
}

/// Moves what is in the smaller set.
void FunctionAnalysis::merge(unsigned into, unsigned from) {
  if (into == from)
    return;
  auto size = [&](unsigned k) {
    return sets[k].reads.size() + sets[k].writes.size();
  };
  if (size(into) < size(from))
    std::swap(into, from);
  leaders[from] = into;
  llvm::append_range(sets[into].reads, sets[from].reads);
  llvm::append_range(sets[into].writes, sets[from].writes);
  sets[into].isReadOnly |= sets[from].isReadOnly;
  sets[from] = AliasSet();
}

/// What must be in place is so from the beginning, and must agree.
LogicalResult FunctionAnalysis::checkGiven() {
  for (const AliasSet &set : sets)
    for (const Write &write : set.writes) {
      Operation *op = write.use->getOwner();
      if (set.isReadOnly)
        return op->emitOpError("not bufferizable under the given constraints: "
                               "would write to read-only buffer");
      for (const Read &read : set.reads)
        if (conflicts.areInConflict(read, write))
          return op->emitOpError("not bufferizable under the given "
                                 "constraints: cannot avoid RaW conflict");
    }
  return success();
}

/// The sets that become one where `operand` is in place.
SmallVector<unsigned> FunctionAnalysis::setsOf(OpOperand &operand) {
  SmallVector<unsigned> found = {findSet(operand.get())};
  for (AliasingValue alias : state.getAliasingValues(operand))
    if (unsigned set = findSet(alias.value); !llvm::is_contained(found, set))
      found.push_back(set);
  return found;
}

bool FunctionAnalysis::canBeInPlace(OpOperand &operand,
                                    ArrayRef<unsigned> together, bool writes) {
  bool isWritten = writes, isReadOnly = false;
  for (unsigned set : together) {
    isWritten |= !sets[set].writes.empty();
    isReadOnly |= sets[set].isReadOnly;
  }
  if (!isWritten)
    return true;
  if (isReadOnly)
    return false;
  Write own = conflicts.makeWrite(operand);
  for (unsigned reading : together)
    for (const Read &read : sets[reading].reads) {
      if (writes && conflicts.areInConflict(read, own))
        return false;
      for (unsigned writing : together)
        if (writing != reading)
          for (const Write &write : sets[writing].writes)
            if (conflicts.areInConflict(read, write))
              return false;
    }
  return true;
}

void FunctionAnalysis::decide(OpOperand &operand) {
  // What must be in place was so before.
  if (state.isInPlace(operand))
    return;
  SmallVector<unsigned> together = setsOf(operand);
  bool writes = state.bufferizesToMemoryWrite(operand);
  if (!canBeInPlace(operand, together, writes)) {
    state.bufferizeOutOfPlace(operand);
    return;
  }
  state.bufferizeInPlace(operand);
  for (unsigned set : ArrayRef(together).drop_front())
    merge(findSet(operand.get()), set);
  if (writes)
    sets[findSet(operand.get())].writes.push_back(conflicts.makeWrite(operand));
}

/// Says where `result` is exactly what an operand of `op` is.
void FunctionAnalysis::findEquivalent(OpResult result,
                                      BufferizableOpInterface op) {
  AliasingOpOperandList aliases = state.getAliasingOpOperands(result);
  if (aliases.getNumAliases() == 0)
    return;
  Value first = aliases.begin()->opOperand->get();
  bool areAll = true;
  for (const AliasingOpOperand &alias : aliases) {
    bool isEqual = alias.relation == BufferRelation::Equivalent &&
                   state.isInPlace(*alias.opOperand);
    Value operand = alias.opOperand->get();
    if (isEqual && alias.isDefinite) {
      state.unionEquivalenceClasses(result, operand);
      return;
    }
    areAll &= isEqual && state.areEquivalentBufferizedValues(operand, first);
  }
  // One of several that are one buffer.
  if (areAll && !op.bufferizesToAllocation(result))
    state.unionEquivalenceClasses(result, first);
}

/// What nothing made need not be copied.
void FunctionAnalysis::findUndefinedUses() {
  function->walk([&](Operation *op) {
    if (state.getOptions().dynCastBufferizableOp(op))
      for (OpOperand &use : op->getOpOperands())
        if (isa<TensorType>(use.get().getType()) && conflicts.isUndefined(use))
          state.addUndefinedUse(use);
  });
}

LogicalResult FunctionAnalysis::run() {
  SmallVector<Operation *> ops;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (BlockArgument arg : region.getArguments())
        addValue(arg);
    for (Value result : op->getResults())
      addValue(result);
  });
  function->walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    for (OpOperand &operand : op->getOpOperands())
      if (isa<TensorType>(operand.get().getType()) && state.isInPlace(operand))
        for (unsigned set : setsOf(operand))
          merge(findSet(operand.get()), set);
  if (failed(checkGiven()))
    return failure();
  // Backwards, and an operation before those of its body, as MLIR does: of two
  // uses the later one is in place.
  for (Operation *op : llvm::reverse(ops))
    for (OpOperand &operand : op->getOpOperands())
      if (isa<TensorType>(operand.get().getType()))
        decide(operand);
  for (Operation *op : ops)
    if (auto bufferizable = state.getOptions().dynCastBufferizableOp(op))
      for (OpResult result : op->getResults())
        if (isa<TensorType>(result.getType()))
          findEquivalent(result, bufferizable);
  findUndefinedUses();
  bool isValid = true;
  for (Operation *op : ops)
    if (auto bufferizable = state.getOptions().dynCastBufferizableOp(op))
      isValid &= succeeded(bufferizable.verifyAnalysis(state));
  return success(isValid);
}

/// True if no function with tensors is called, all regions have one block, none
/// runs in parallel, and no tensor is memory that others know.
static bool isStructured(ModuleOp module, const BufferizationOptions &options) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  WalkResult found = module.walk([&](Operation *op) {
    auto bufferizable = options.dynCastBufferizableOp(op);
    bool isOther = isa<ToTensorOp>(op) ||
                   (isa<CallOpInterface>(op) &&
                    (llvm::any_of(op->getOperandTypes(), isTensor) ||
                     llvm::any_of(op->getResultTypes(), isTensor)));
    for (Region &region : op->getRegions())
      isOther |= (!region.empty() && !region.hasOneBlock()) ||
                 (bufferizable &&
                  bufferizable.isParallelRegion(region.getRegionNumber()));
    return isOther ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !found.wasInterrupted();
}

LogicalResult loopc::analyzeInPlace(ModuleOp module, InPlaceState &state,
                                    InPlaceCounts *counts) {
  if (!isStructured(module, state.getOptions()))
    return analyzeModuleOp(module, state);
  InPlaceCounts ignored;
  auto &functions = state.addExtension<func_ext::FuncAnalysisState>();
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    functions.startFunctionAnalysis(function);
    if (failed(FunctionAnalysis(function, state, counts ? *counts : ignored)
                   .run()))
      return failure();
    functions.analyzedFuncOps[function] =
        func_ext::FuncOpAnalysisState::Analyzed;
  }
  return success();
}
