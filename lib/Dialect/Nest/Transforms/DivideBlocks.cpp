//===- DivideBlocks.cpp - Large blocks in sections ------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-divide-blocks: a block of very many operations becomes a sequence of
// calls, each of a function with a section of it.
//
// LLVM's work on a function grows faster than the function: live ranges cross
// all of it, and each loop is looked at with what dominates it. A body with
// hundreds of branches, or a model of hundreds of loops, was one function.
// Sections are so large that a call beside one is nothing, and what is within
// loops comes first: a loop that is small as a whole stays as it is. A section
// ends where few values are alive.
//
// Where layers repeat, a section is one of them or several, so that all
// sections look alike, and equal ones, but for numbers, become one function.
//
// What has no loops is not optimised (lib/Target/Parts.h), and takes time in
// proportion. It is divided where sections look alike, as loopc-share-nests
// makes one function of those.

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Nest/Analysis/Independence.h"
#include "loopc/Dialect/Nest/Transforms/Outlining.h"
#include "loopc/Dialect/Nest/Transforms/Passes.h"
#include "loopc/Dialect/RT/IR/RT.h"
#include "loopc/Support/Repeats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace loopc {
#define GEN_PASS_DEF_DIVIDEBLOCKS
#include "loopc/Dialect/Nest/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// True for a constant, which functions have of their own.
static bool isConstant(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() &&
         isa<arith::ArithDialect>(op->getDialect());
}

/// Numbers and pointers that a value of this type is.
static unsigned countWords(Type type) {
  auto buffer = dyn_cast<MemRefType>(type);
  return buffer ? 3 + 2 * buffer.getRank() : 1;
}

static unsigned countWords(ArrayRef<Value> values) {
  return llvm::sum_of(llvm::map_range(
      values, [](Value value) { return countWords(value.getType()); }));
}

/// True for what stays in its block: constants, what waits for a GPU, and
/// memory of the function's own, which ends with it.
static bool isFixed(Operation *op) {
  return isConstant(op) || op->hasTrait<OpTrait::IsTerminator>() ||
         isa<memref::AllocaOp, LLVM::AllocaOp>(op) || isForDevice(op);
}

/// True for an operation after which what a section's arguments reach may be
/// reached otherwise, too: lists hold buffers.
static bool mayReachMemory(Operation *op) {
  return !isPlainOp(op) &&
         !isa<memref::AllocOp, memref::DeallocOp, memref::CopyOp, loop::CheckOp,
              loop::PollOp, func::CallOp>(op);
}

/// Stretches of one block that are searched for layers: to search one takes
/// time in proportion, and what is found may be a small part of it.
static constexpr unsigned kMaxSearches = 16;

/// A number that is the same for operations of the same names and types.
static uint64_t hashNamesAndTypes(Operation *op) {
  llvm::hash_code kind(0);
  op->walk([&](Operation *nested) {
    kind =
        llvm::hash_combine(kind, nested->getName(),
                           llvm::hash_combine_range(nested->getResultTypes()));
  });
  return size_t(kind);
}

namespace {
/// Finds the sections of a block.
class SectionFinder {
public:
  /// `counts` says of each operation how many it is with those in it, and
  /// `alive` how many words are used behind it.
  SectionFinder(ArrayRef<Operation *> ops, ArrayRef<unsigned> counts,
                ArrayRef<unsigned> alive, unsigned size)
      : ops(ops), counts(counts), alive(alive), size(size) {
    for (Operation *op : ops)
      kinds.push_back(hashNamesAndTypes(op));
  }

  ArrayRef<ArrayRef<Operation *>> find() {
    split(0, ops.size());
    return sections;
  }

  /// True if most of the sections that were found have the operations and
  /// types of another one.
  bool lookAlike() const { return 2 * known.size() <= sections.size(); }

private:
  void split(size_t begin, size_t end);
  void cut(size_t begin, size_t end, bool isLayer);
  void add(size_t begin, size_t end);

  ArrayRef<Operation *> ops;
  ArrayRef<unsigned> counts, alive;
  unsigned size;
  SmallVector<uint64_t> kinds;
  SmallVector<ArrayRef<Operation *>> sections;
  llvm::DenseSet<uint64_t> known;
  unsigned numSearches = 0;
};

class Divider {
public:
  Divider(func::FuncOp function, SharedFunctions &functions, bool isStraight,
          unsigned size, unsigned maxWords, unsigned maxHandedWords)
      : function(function), b(function.getContext()), functions(functions),
        isStraight(isStraight), size(size), maxWords(maxWords),
        maxHandedWords(maxHandedWords) {}

  /// Makes functions of the sections of large blocks in `region`, the innermost
  /// first. Returns the number of operations that are left.
  unsigned divide(Region &region) {
    unsigned count = 0;
    for (Block &block : region)
      count += divide(block);
    return count;
  }

  unsigned getNumSections() const { return numSections; }

private:
  unsigned divide(Block &block);
  SmallVector<unsigned> countWordsAlive(Block &block);
  bool outline(ArrayRef<Operation *> ops);
  void findBorder(ArrayRef<Operation *> ops, Captures &found);
  func::FuncOp makeFunction(ArrayRef<Operation *> ops, const Captures &found,
                            bool reports);

  func::FuncOp function;
  OpBuilder b;
  SharedFunctions &functions;
  /// True if the function has no loops.
  bool isStraight;
  unsigned size, maxWords, maxHandedWords;
  unsigned numSections = 0;
  /// Of the section that is being moved.
  SmallVector<Value> captures, results;
};

struct DivideBlocks : loopc::impl::DivideBlocksBase<DivideBlocks> {
  using DivideBlocksBase::DivideBlocksBase;

  void runOnOperation() override {
    SharedFunctions functions(getOperation());
    SmallVector<func::FuncOp> present(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : present)
      if (canDivide(function)) {
        prepare(function);
        Divider divider(function, functions, !hasLoops(function), minSize,
                        maxWords, maxHandedWords);
        divider.divide(function.getBody());
        numSections += divider.getNumSections();
      }
  }

private:
  static bool hasLoops(func::FuncOp function) {
    auto find = [](LoopLikeOpInterface) { return WalkResult::interrupt(); };
    return function.walk(find).wasInterrupted();
  }

  /// True for a large function that is handed the run and returns a status.
  bool canDivide(func::FuncOp function) {
    if (!rt::findRun(function) || function.getNumResults() == 0 ||
        !function.getResultTypes().front().isInteger(32))
      return false;
    unsigned count = 0;
    function.walk([&](Operation *) { ++count; });
    return count >= 2 * minSize;
  }

  /// Constants go to the front, so that no section has one for others. What is
  /// released here may be released in another function then.
  void prepare(func::FuncOp function) {
    Block &entry = function.getBody().front();
    SmallVector<Operation *> constants;
    function.walk([&](Operation *op) {
      if (isConstant(op))
        constants.push_back(op);
      else if (auto release = dyn_cast<memref::DeallocOp>(op))
        if (auto alloc = release.getMemref().getDefiningOp<memref::AllocOp>())
          alloc->setAttr(kScratchAttrName, UnitAttr::get(&getContext()));
    });
    for (Operation *constant : llvm::reverse(constants))
      constant->moveBefore(&entry, entry.begin());
  }
};
} // namespace

/// For each operation of `block` the numbers and pointers that are made before
/// its end, and used behind it.
SmallVector<unsigned> Divider::countWordsAlive(Block &block) {
  llvm::DenseMap<Operation *, unsigned> places;
  for (Operation &op : block)
    places[&op] = places.size();
  SmallVector<int> changes(places.size() + 1);
  for (auto [place, op] : llvm::enumerate(block)) {
    for (Value result : op.getResults()) {
      unsigned last = place;
      for (Operation *user : result.getUsers())
        last = std::max(last, places.at(block.findAncestorOpInBlock(*user)));
      int words = countWords(result.getType());
      changes[place] += words;
      changes[last] -= words;
    }
  }
  SmallVector<unsigned> alive;
  int words = 0;
  for (int change : ArrayRef(changes).drop_back())
    alive.push_back(words += change);
  return alive;
}

void SectionFinder::add(size_t begin, size_t end) {
  sections.push_back(ops.slice(begin, end - begin));
  auto kind = static_cast<uint64_t>(size_t(
      llvm::hash_combine_range(ArrayRef(kinds).slice(begin, end - begin))));
  // The last bits are kept from a set's own keys.
  known.insert(kind >> 2);
}

/// Sections of layers, where these repeat, and of what is beside them.
void SectionFinder::split(size_t begin, size_t end) {
  std::optional<Repeat> repeat;
  // Two sections of layers are the least to be found.
  bool isLarge =
      llvm::sum_of(counts.slice(begin, end - begin), uint64_t(0)) >= 2 * size;
  if (isLarge && numSearches++ < kMaxSearches)
    repeat = findRepeat(kinds, counts, begin, end);
  if (!repeat)
    return cut(begin, end, /*isLayer=*/false);
  auto [first, last, period] = *repeat;
  uint64_t ofLayer = llvm::sum_of(counts.slice(first, period), uint64_t(0));
  size_t length = period * llvm::divideCeil(size, ofLayer);
  if (last - first < 2 * length)
    return cut(begin, end, /*isLayer=*/false);
  // The layers begin where the fewest words are alive at their ends.
  ArrayRef<unsigned> ends = alive.slice(first + period - 1, period);
  size_t at = first + (llvm::min_element(ends) - ends.begin());
  split(begin, at);
  for (; at + length <= last; at += length)
    cut(at, at + length, /*isLayer=*/true);
  split(at, end);
}

/// Sections from `begin` to `end`. What is left behind the last one is too
/// small for one of its own; in a layer it is part of that.
void SectionFinder::cut(size_t begin, size_t end, bool isLayer) {
  while (begin < end) {
    unsigned count = 0;
    size_t stop = begin, best = begin;
    for (; stop < end && !isFixed(ops[stop]); ++stop) {
      // The best place to end, where there is enough.
      if (count >= size + size / 2)
        break;
      count += counts[stop];
      if (count >= size && (best == begin || alive[stop] < alive[best - 1]))
        best = stop + 1;
    }
    if (best == begin) {
      begin = stop + 1;
      continue;
    }
    if (isLayer &&
        llvm::sum_of(counts.slice(best, end - best), uint64_t(0)) < size &&
        llvm::none_of(ops.slice(best, end - best), isFixed))
      best = end;
    add(begin, best);
    begin = best;
  }
}

unsigned Divider::divide(Block &block) {
  SmallVector<Operation *> ops;
  SmallVector<unsigned> counts;
  unsigned total = 0;
  for (Operation &op : block) {
    unsigned count = 1;
    for (Region &nested : op.getRegions())
      count += divide(nested);
    ops.push_back(&op);
    counts.push_back(count);
    total += count;
  }
  if (total < 2 * size)
    return total;
  SmallVector<unsigned> alive = countWordsAlive(block);
  SectionFinder finder(ops, counts, alive, size);
  ArrayRef<ArrayRef<Operation *>> sections = finder.find();
  if (isStraight && !finder.lookAlike())
    return total;
  // The last one first: what is before it is then still what it was.
  for (ArrayRef<Operation *> section : llvm::reverse(sections)) {
    size_t begin = section.begin() - ops.begin();
    unsigned count =
        llvm::sum_of(ArrayRef(counts).slice(begin, section.size()));
    if (outline(section))
      // What is left is a call, and the question for its errors.
      total = total - count + 2;
  }
  return total;
}

/// What `ops` are handed and what is used behind them: `captures` and
/// `results`.
void Divider::findBorder(ArrayRef<Operation *> ops, Captures &found) {
  found.addAll(ops);
  Value run = rt::findRun(function);
  captures = {run};
  for (Value value : found.values)
    if (value != run)
      captures.push_back(value);
  llvm::SmallPtrSet<Operation *, 16> inside(ops.begin(), ops.end());
  Block *block = ops.front()->getBlock();
  results.clear();
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !inside.contains(block->findAncestorOpInBlock(*user));
          }))
        results.push_back(result);
}

/// func(run, captures...) -> (status, results...): without the status if
/// nothing can fail.
func::FuncOp Divider::makeFunction(ArrayRef<Operation *> ops,
                                   const Captures &found, bool reports) {
  SmallVector<Type> types;
  if (reports)
    types.push_back(b.getI32Type());
  llvm::append_range(types, ValueRange(results).getTypes());
  Location loc = ops.front()->getLoc();
  func::FuncOp made = makePrivateFunction(
      loc, function.getName() + "_section",
      b.getFunctionType(ValueRange(captures).getTypes(), types));
  Block *entry = made.addEntryBlock();
  b.setInsertionPointToStart(entry);
  IRMapping mapping;
  mapping.map(captures, entry->getArguments());
  for (Operation *constant : found.constants)
    b.clone(*constant, mapping);
  for (Operation *op : ops)
    b.clone(*op, mapping);
  SmallVector<Value> returned;
  if (reports)
    returned.push_back(arith::ConstantIntOp::create(b, loc, b.getI32Type(), 0));
  for (Value result : results)
    returned.push_back(mapping.lookup(result));
  func::ReturnOp::create(b, loc, returned);
  return made;
}

/// Returns false, and does nothing, if more would be returned than `maxWords`:
/// LLVM's instruction selection takes time with the square of the results. Nor
/// if more than `maxHandedWords` would be handed over: to store and to load it
/// is as much code as what leaves the function.
bool Divider::outline(ArrayRef<Operation *> ops) {
  Captures found;
  findBorder(ops, found);
  if (countWords(results) > maxWords || countWords(captures) > maxHandedWords)
    return false;
  bool reports = !llvm::all_of(ops, isPlain);
  func::FuncOp made = makeFunction(ops, found, reports);
  bool mayReach = false;
  for (Operation *op : ops)
    op->walk([&](Operation *nested) { mayReach |= mayReachMemory(nested); });
  // What is divided is copied, so that no answer holds for the next section.
  ViewedBuffers buffers;
  if (!mayReach)
    markPrivateMemory(made, /*first=*/0, captures, ops, buffers);
  Location loc = ops.front()->getLoc();
  b.setInsertionPoint(ops.front());
  auto call = func::CallOp::create(b, loc, functions.add(made), captures);
  if (reports)
    loop::PollOp::create(b, loc);
  for (auto [result, value] :
       llvm::zip_equal(results, call.getResults().drop_front(reports ? 1 : 0)))
    result.replaceAllUsesWith(value);
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  ++numSections;
  return true;
}
