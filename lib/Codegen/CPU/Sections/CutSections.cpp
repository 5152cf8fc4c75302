//===- CutSections.cpp - The parts of a large function side by side -------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// cpu-cut-sections: a large block becomes calls of functions, each with a
// section of it, until cpu-join-sections puts them back.
//
// MLIR's passes work on functions side by side, and a model is one function.
// What a section knows of values that others make is what the passes of the
// whole knew: their definitions are copied into it, as far as these have no
// effect but to allocate. A section returns what it is handed, or the copies
// that stand for that, so that nobody takes them for its own.
//
// Passes that join neighbouring operations shall find the same ones: a section
// ends between what is done with one product and what another one begins with.
//
// Layers of a network that look alike are sections of their own. Of those that
// are equal but for labels, one goes through the passes for all of them
// (EqualSections.h).

#include "EqualSections.h"
#include "Rows/Chain.h"
#include "loopc/Codegen/CPU/Passes.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Support/Contractions.h"
#include "loopc/Support/Repeats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace loopc {
#define GEN_PASS_DEF_CPUCUTSECTIONS
#include "loopc/Codegen/CPU/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Operations that a product and another operation of linalg become, about.
static constexpr unsigned kOpsOfProduct = 200, kOpsOfLinalg = 40;
/// Sections of a block at most: enough for the cores that one compiler has.
static constexpr size_t kMaxSections = 8;
/// Layers that look alike are as large as this part of a section, or larger: a
/// call of each is made and taken back.
static constexpr unsigned kLayersOfSection = 8;

static unsigned countOps(Operation &op) {
  unsigned count = 0;
  op.walk([&](Operation *nested) {
    auto linalg = dyn_cast<linalg::LinalgOp>(nested);
    count += !linalg                   ? 1
             : isMatrixProduct(linalg) ? kOpsOfProduct
                                       : kOpsOfLinalg;
  });
  return count;
}

static bool isConstant(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>();
}

namespace {
/// What an operation of a block is for those that join neighbours.
enum class Kind {
  None,    ///< makes, frees or views buffers, or computes on numbers
  Fill,    ///< gives a buffer its first elements: a number
  Copy,    ///< or those of another one
  Product, ///< a sum of products
  Wall,    ///< nothing is joined with it: a loop, a branch
  Other
};

/// Operations behind one another, by the places of the first and of what comes
/// behind the last.
struct PlaceRange {
  size_t begin, end;
};

/// A block, and where it may be cut.
class BlockCutter {
public:
  explicit BlockCutter(Block &block);

  /// The sections, in their order: layers that look alike, and of what is
  /// beside them such of about equal size; `minOps` are worth one.
  SmallVector<PlaceRange> findSections(unsigned minOps, bool anywhere);

  ArrayRef<Operation *> getOps() const { return ops; }

  /// How many uses of buffers were looked at.
  unsigned getWork() const { return work; }

private:
  /// A use of a buffer, or of a view of it, by what stands at a place; `number`
  /// is that of its finding.
  struct Use {
    size_t place, number;
    OpOperand *operand;
  };

  bool mayCut(size_t place) const;
  void split(PlaceRange range);
  SmallVector<PlaceRange> findLayers(PlaceRange range);
  void cutEvenly(PlaceRange range);
  bool endsProduct(size_t place) const;
  bool beginsProduct(size_t place, bool copies) const;
  SmallVector<Use> findUses(memref::AllocOp alloc);
  SmallVector<bool> findJoined();

  Block &block;
  SmallVector<Operation *> ops;
  SmallVector<Kind> kinds;
  SmallVector<unsigned> counts;
  llvm::DenseMap<Operation *, size_t> places;
  SmallVector<memref::AllocOp> allocs;
  /// Places where what uses a buffer behind may be joined with what uses it
  /// before.
  SmallVector<bool> joined;
  unsigned work = 0, minOps = 0;
  bool anywhere = false;
  SmallVector<uint64_t> looks; ///< equal for operations that look alike
  SmallVector<PlaceRange> sections;
};

/// Moves a section of a block into a function.
class Section {
public:
  explicit Section(ArrayRef<Operation *> ops)
      : ops(ops), block(ops.front()->getBlock()) {
    findBorder();
  }

  /// True if all buffers that it is handed are allocated, or arguments of the
  /// function itself: what a loop or a branch gives may be any buffer that was
  /// there before, and as an argument it would seem to be another one.
  bool knowsBuffers() const;

  /// Makes the function and calls it in the place of the operations.
  std::pair<CallSectionOp, func::FuncOp> outline(StringRef name,
                                                 SymbolTable &symbols);

private:
  bool isInside(Value value) const;
  void capture(Value value);
  void findBorder();

  ArrayRef<Operation *> ops;
  Block *block;
  llvm::SmallPtrSet<Operation *, 32> inside;
  llvm::SetVector<Operation *> constants;
  /// What is handed over, each behind those that it is made of.
  llvm::SetVector<Value> captures;
  SmallVector<Value> results;
};

struct CpuCutSections : loopc::impl::CpuCutSectionsBase<CpuCutSections> {
  using Base::Base;

  void runOnOperation() override {
    work = 0;
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> present(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : present)
      if (!function.isExternal())
        cut(function.getBody().front(), function, symbols);
    if (reportWork)
      getOperation().emitRemark() << work << " uses followed";
  }

private:
  /// Branches first, of which a model may have one around all of it.
  void cut(Block &block, func::FuncOp function, SymbolTable &symbols) {
    for (auto branch : block.getOps<scf::IfOp>())
      if (countOps(*branch) >= 2 * minOps)
        for (Region &region : branch->getRegions())
          if (!region.empty())
            cut(region.front(), function, symbols);
    BlockCutter cutter(block);
    SmallVector<PlaceRange> sections = cutter.findSections(minOps, anywhere);
    work += cutter.getWork();
    EqualSections equal(symbols);
    // The last one first: what makes the values that it is handed is then
    // still there.
    for (auto [begin, end] : llvm::reverse(sections)) {
      Section section(cutter.getOps().slice(begin, end - begin));
      if (!anywhere && !section.knowsBuffers())
        continue;
      auto [call, made] = section.outline(function.getName(), symbols);
      ++numSections;
      numShared += equal.share(call, made);
    }
  }

  unsigned work = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Where sections end
//===----------------------------------------------------------------------===//

/// True for a copy of elements as they are.
static bool isCopy(linalg::GenericOp op) {
  return op.getNumReductionLoops() == 0 && op.getNumDpsInputs() == 1 &&
         op.getNumDpsInits() == 1 &&
         op.getBody()->getTerminator()->getOperand(0) ==
             op.getBody()->getArgument(0);
}

static Kind kindOf(Operation *op) {
  if (isa<memref::AllocOp, memref::DeallocOp, loop::CheckOp>(op) ||
      isViewOp(op))
    return Kind::None;
  if (isa<linalg::FillOp>(op))
    return Kind::Fill;
  if (isa<memref::CopyOp>(op))
    return Kind::Copy;
  if (auto linalg = dyn_cast<linalg::LinalgOp>(op)) {
    if (isMatrixProduct(linalg))
      return Kind::Product;
    auto generic = dyn_cast<linalg::GenericOp>(op);
    return generic && isCopy(generic) ? Kind::Copy : Kind::Other;
  }
  if (op->getNumRegions() != 0)
    return Kind::Wall;
  return isMemoryEffectFree(op) ? Kind::None : Kind::Other;
}

BlockCutter::BlockCutter(Block &block) : block(block) {
  for (Operation &op : block.without_terminator()) {
    if (isConstant(&op))
      continue;
    places[&op] = ops.size();
    ops.push_back(&op);
    kinds.push_back(kindOf(&op));
    counts.push_back(countOps(op));
    if (auto alloc = dyn_cast<memref::AllocOp>(op))
      allocs.push_back(alloc);
  }
}

/// True if what is before `place` is a product, with what is done on its
/// elements, or a wall.
bool BlockCutter::endsProduct(size_t place) const {
  auto findBefore = [&](size_t from) {
    while (from > 0 && kinds[from - 1] == Kind::None)
      --from;
    return from;
  };
  size_t last = findBefore(place);
  if (last == 0)
    return false;
  Kind kind = kinds[last - 1];
  if (kind == Kind::Product || kind == Kind::Wall)
    return true;
  auto next = dyn_cast<linalg::GenericOp>(ops[last - 1]);
  if (!next || kind != Kind::Other || next.getNumReductionLoops() != 0)
    return false;
  size_t before = findBefore(last - 1);
  if (before == 0 || kinds[before - 1] != Kind::Product)
    return false;
  auto product = cast<linalg::LinalgOp>(ops[before - 1]);
  Value sums = getViewRoot(product.getDpsInits()[0]);
  return llvm::any_of(next.getDpsInputs(),
                      [&](Value input) { return getViewRoot(input) == sums; });
}

/// True if what comes from `place` on is a product, behind what its operands
/// are filled with, or a wall; with `copies` these may be copies.
bool BlockCutter::beginsProduct(size_t place, bool copies) const {
  while (place < ops.size() &&
         (kinds[place] == Kind::None || kinds[place] == Kind::Fill ||
          (copies && kinds[place] == Kind::Copy)))
    ++place;
  return place < ops.size() &&
         (kinds[place] == Kind::Product || kinds[place] == Kind::Wall);
}

static bool isWrite(OpOperand &use) {
  if (auto linalg = dyn_cast<linalg::LinalgOp>(use.getOwner()))
    return linalg.isDpsInit(&use);
  auto copy = dyn_cast<memref::CopyOp>(use.getOwner());
  return copy && &use == &copy.getTargetMutable();
}

/// True for what nothing is looked for beyond.
static bool stopsSearch(Operation *op) {
  return !isMemoryEffectFree(op) &&
         !isa<memref::AllocOp, memref::DeallocOp, linalg::LinalgOp, scf::ForOp>(
             op);
}

/// What uses `alloc` and its views but for their extents, in the order of the
/// block.
SmallVector<BlockCutter::Use> BlockCutter::findUses(memref::AllocOp alloc) {
  SmallVector<Use> uses;
  (void)allUsesOfViews(alloc.getResult(), [&](OpOperand &use) {
    ++work;
    Operation *op = block.findAncestorOpInBlock(*use.getOwner());
    auto found = op ? places.find(op) : places.end();
    if (found != places.end() &&
        !isa<memref::DeallocOp, memref::DimOp>(use.getOwner()))
      uses.push_back({found->second, uses.size(), &use});
    return true;
  });
  llvm::sort(uses, [](const Use &one, const Use &other) {
    return std::pair(one.place, one.number) <
           std::pair(other.place, other.number);
  });
  return uses;
}

/// For each place the first one from there on whose operation `isWanted`.
static SmallVector<size_t> findNext(size_t count,
                                    function_ref<bool(size_t)> isWanted) {
  SmallVector<size_t> next(count + 1, count);
  for (size_t place = count; place-- > 0;)
    next[place] = isWanted(place) ? place : next[place + 1];
  return next;
}

/// Between two uses of a buffer, one behind the other, the places up to what
/// separates them are those where the second may be joined with the first.
SmallVector<bool> BlockCutter::findJoined() {
  SmallVector<size_t> nextStop = findNext(
      ops.size(), [&](size_t place) { return stopsSearch(ops[place]); });
  SmallVector<size_t> nextWall = findNext(ops.size(), [&](size_t place) {
    return kinds[place] == Kind::Product || kinds[place] == Kind::Wall;
  });
  // How many intervals of such places begin at a place, less those that end.
  SmallVector<int> changes(ops.size() + 1, 0);
  for (memref::AllocOp alloc : allocs) {
    std::optional<size_t> lastWriter, lastReader;
    SmallVector<Use> uses = findUses(alloc);
    for (size_t k = 0; k < uses.size(); ++k) {
      auto [at, number, operand] = uses[k];
      size_t before = k > 0 ? uses[k - 1].place : at;
      // What is joined with the last use is so at places up to this one.
      size_t end = at + 1;
      auto user = dyn_cast<linalg::LinalgOp>(operand->getOwner());
      if (before == at ||
          llvm::is_contained({Kind::Wall, Kind::Fill, Kind::Copy}, kinds[at]))
        end = before + 1;
      else if (kinds[at] == Kind::Product)
        // What sums begin with is looked for up to an operation that is no part
        // of linalg.
        end = user && user.isDpsInput(operand)
                  ? before + 1
                  : std::min(end, nextStop[lastWriter.value_or(0)] + 1);
      else if (lastReader && (!lastWriter || *lastReader > *lastWriter))
        end = before + 1;
      else
        // Elements that others have read since, or a product stands between.
        end = std::min(end, nextWall[lastWriter.value_or(0) + 1] + 1);
      if (before + 1 < end) {
        ++changes[before + 1];
        --changes[end];
      }
      std::optional<size_t> &last = isWrite(*operand) ? lastWriter : lastReader;
      last = at;
    }
  }
  SmallVector<bool> found(ops.size(), false);
  int open = 0;
  for (size_t place = 0; place < ops.size(); ++place) {
    open += changes[place];
    found[place] = open > 0;
  }
  return found;
}

bool BlockCutter::mayCut(size_t place) const {
  if (anywhere || place == ops.size())
    return true;
  // Rows are joined with rows, and copies with them, but for those that stand
  // behind a product.
  if (!beginsProduct(place, /*copies=*/false) &&
      !(endsProduct(place) && beginsProduct(place, /*copies=*/true)))
    return false;
  // What frees the operands of the one stays behind it.
  if (isa<memref::DeallocOp>(ops[place]))
    return false;
  return !joined[place];
}

SmallVector<PlaceRange> BlockCutter::findSections(unsigned minimum,
                                                  bool maybeAnywhere) {
  minOps = std::max(minimum, 1U);
  anywhere = maybeAnywhere;
  if (llvm::sum_of(counts, uint64_t(0)) < minOps)
    return {};
  if (!anywhere)
    joined = findJoined();
  for (Operation *op : ops)
    looks.push_back(size_t(hashKind(*op)));
  split({0, ops.size()});
  return sections.size() < 2 ? SmallVector<PlaceRange>() : std::move(sections);
}

/// Divides a range into layers, and what is in front of them and behind them.
void BlockCutter::split(PlaceRange range) {
  SmallVector<PlaceRange> layers = findLayers(range);
  if (layers.empty())
    return cutEvenly(range);
  split({range.begin, layers.front().begin});
  sections.append(layers);
  split({layers.back().end, range.end});
}

/// Layers behind one another that look alike, two or more, and so large that
/// to have one for all of them spares half a section. A layer of few operations
/// is several times what repeats.
SmallVector<PlaceRange> BlockCutter::findLayers(PlaceRange range) {
  std::optional<Repeat> repeat =
      findRepeat(looks, counts, range.begin, range.end);
  if (!repeat)
    return {};
  auto [begin, end, period] = *repeat;
  uint64_t count = llvm::sum_of(ArrayRef(counts).slice(begin, period));
  size_t length =
      period * llvm::divideCeil(minOps / kLayersOfSection + 1, count + 1);
  SmallVector<PlaceRange> best;
  for (size_t from = begin; from < begin + period; ++from) {
    SmallVector<PlaceRange> layers;
    // The first one may begin with the range.
    if (from == range.begin || mayCut(from))
      for (size_t at = from; at + length <= end && mayCut(at + length);
           at += length)
        layers.push_back({at, at + length});
    if (layers.size() > best.size())
      best = std::move(layers);
  }
  uint64_t ofLayer = (length / period) * count;
  bool isWorth = best.size() > 1 && (best.size() - 1) * ofLayer >= minOps / 2;
  return isWorth ? best : SmallVector<PlaceRange>();
}

/// Sections of about equal size, or one.
void BlockCutter::cutEvenly(PlaceRange range) {
  if (range.begin == range.end)
    return;
  auto sizes = ArrayRef(counts).slice(range.begin, range.end - range.begin);
  uint64_t total = llvm::sum_of(sizes, uint64_t(0));
  size_t most = std::min<size_t>(total / minOps, kMaxSections);
  SmallVector<size_t> cuts{range.begin};
  uint64_t count = 0, sinceLast = 0;
  for (size_t place = range.begin; place < range.end && cuts.size() < most;
       ++place) {
    uint64_t left = most - cuts.size() + 1;
    uint64_t wanted = (total - (count - sinceLast)) / left;
    if (place > range.begin && sinceLast >= wanted && mayCut(place)) {
      cuts.push_back(place);
      sinceLast = 0;
    }
    count += counts[place];
    sinceLast += counts[place];
  }
  cuts.push_back(range.end);
  for (auto [begin, end] : llvm::zip(cuts, ArrayRef(cuts).drop_front()))
    sections.push_back({begin, end});
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

bool Section::isInside(Value value) const {
  Operation *owner = value.getDefiningOp();
  if (!owner)
    owner = value.getParentBlock()->getParentOp();
  Operation *ancestor = block->findAncestorOpInBlock(*owner);
  return ancestor && inside.contains(ancestor);
}

/// True for what may be there twice while sections are apart.
static bool canCopy(Operation *op) {
  return op->getNumRegions() == 0 &&
         (isa<memref::AllocOp>(op) || isMemoryEffectFree(op));
}

/// Adds `value`, of outside, behind what its copy is made of.
void Section::capture(Value value) {
  Operation *def = value.getDefiningOp();
  if (def && isConstant(def) && !isa<memref::GetGlobalOp>(def)) {
    constants.insert(def);
    return;
  }
  if (captures.contains(value))
    return;
  if (def && canCopy(def))
    for (Value operand : def->getOperands())
      capture(operand);
  captures.insert(value);
}

void Section::findBorder() {
  inside.insert(ops.begin(), ops.end());
  for (Operation *op : ops) {
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (!isInside(operand))
          capture(operand);
    });
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !inside.contains(block->findAncestorOpInBlock(*user));
          }))
        results.push_back(result);
  }
}

bool Section::knowsBuffers() const {
  return llvm::all_of(captures, [](Value value) {
    if (!isa<BaseMemRefType>(value.getType()))
      return true;
    if (Operation *def = value.getDefiningOp())
      return canCopy(def);
    return isa<func::FuncOp>(value.getParentBlock()->getParentOp());
  });
}

std::pair<CallSectionOp, func::FuncOp> Section::outline(StringRef name,
                                                        SymbolTable &symbols) {
  OpBuilder b(ops.front());
  Location loc = ops.front()->getLoc();
  SmallVector<Type> types(ValueRange(captures.getArrayRef()).getTypes());
  SmallVector<Type> returnedTypes = types;
  llvm::append_range(returnedTypes, ValueRange(results).getTypes());
  auto made = func::FuncOp::create(loc, (name + "_side").str(),
                                   b.getFunctionType(types, returnedTypes));
  made.setPrivate();
  made->setAttr(kSectionAttrName, b.getUnitAttr());
  symbols.insert(made);
  auto call = CallSectionOp::create(b, loc, returnedTypes, made.getName(),
                                    captures.getArrayRef(), b.getArrayAttr({}));
  Block *entry = made.addEntryBlock();
  b.setInsertionPointToStart(entry);
  IRMapping mapping;
  for (Operation *constant : constants)
    b.clone(*constant, mapping);
  for (auto [k, value] : llvm::enumerate(captures)) {
    Operation *def = value.getDefiningOp();
    if (!def || !canCopy(def))
      mapping.map(value, entry->getArgument(k));
    else if (!mapping.contains(value))
      b.clone(*def, mapping);
  }
  SmallVector<Value> returned;
  for (Value value : captures)
    returned.push_back(mapping.lookup(value));
  llvm::append_range(returned, results);
  for (Operation *op : ops) {
    op->moveBefore(entry, entry->end());
    op->walk([&](Operation *nested) {
      for (OpOperand &operand : nested->getOpOperands())
        if (Value known = mapping.lookupOrNull(operand.get()))
          operand.set(known);
    });
  }
  b.setInsertionPointToEnd(entry);
  func::ReturnOp::create(b, loc, returned);
  for (auto [k, result] : llvm::enumerate(results))
    result.replaceUsesWithIf(call.getResult(captures.size() + k),
                             [&](OpOperand &use) {
                               return !made->isProperAncestor(use.getOwner());
                             });
  return {call, made};
}
