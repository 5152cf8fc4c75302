//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// buffer-place-deallocations: static ownership of buffers and lists.
//
// A value is owned by the block that it is defined in: allocations, arguments
// that stand for carried buffers, results of loops, calls and branches that
// hand over buffers. Within its block an owned value ends in one of three ways:
// it is moved into an operand that wants an owner, it is handed to the branches
// of the operation that is its last use, or it is freed behind its last use.
// Where an owner is wanted of what cannot be moved a buffer is copied, a list
// held once more.
//
// A buffer that comes out of a list belongs to that list as well ("shared"): it
// is given up like any other, but whoever may write gets a copy.

#include "loopc/Bufferize/Passes.h"
#include "loopc/Dialect/List/IR/List.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Dialect/RT/IR/CustomOp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {
#define GEN_PASS_DEF_BUFFERPLACEDEALLOCATIONS
#include "loopc/Bufferize/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

static bool isBuffer(Value value) {
  return isa<BaseMemRefType>(value.getType());
}

/// True for what somebody must own.
static bool isOwnable(Value value) {
  return isBuffer(value) || isa<list::ListType>(value.getType());
}

namespace {
/// How a value is owned: by its block for sure, or where `flag` (i1) is true;
/// with a list where `shared`.
struct Ownership {
  Value flag;
  bool shared = false;
};

using Roots = llvm::SmallSetVector<Value, 2>;

class OwnershipPlacement {
public:
  OwnershipPlacement(func::FuncOp function, MLIRContext *context)
      : function(function), rewriter(context) {}

  void run() {
    function.walk([&](arith::SelectOp select) { branch(select); });
    // Ends that somebody has placed before, such as an earlier run.
    function.walk([&](Operation *op) {
      if (isa<memref::DeallocOp, list::ReleaseOp>(op))
        rewriter.eraseOp(op);
    });
    processBlock(function.getBody().front(), {});
  }
  unsigned copies = 0;
  /// Searches for last uses, and uses that were looked at.
  uint64_t work = 0;
  /// An error was given.
  bool hasFailed = false;

private:
  using Owned = llvm::MapVector<Value, Ownership>;

  /// A select between buffers becomes a branch: what dies at a branch is moved
  /// or freed in it.
  void branch(arith::SelectOp select) {
    if (!isOwnable(select.getResult()))
      return;
    Location loc = select.getLoc();
    rewriter.setInsertionPoint(select);
    auto made = scf::IfOp::create(rewriter, loc, TypeRange{select.getType()},
                                  select.getCondition(),
                                  /*withElseRegion=*/true);
    rewriter.setInsertionPointToStart(made.thenBlock());
    scf::YieldOp::create(rewriter, loc, select.getTrueValue());
    rewriter.setInsertionPointToStart(made.elseBlock());
    scf::YieldOp::create(rewriter, loc, select.getFalseValue());
    rewriter.replaceOp(select, made);
  }

  //===--------------------------------------------------------------------===//
  // Who a value belongs to
  //===--------------------------------------------------------------------===//

  /// The values that own the memory of `value`; none for memory that is never
  /// freed (arguments of the function, constants).
  Roots rootsOf(Value value) {
    Roots roots;
    SmallVector<Value> work{value};
    llvm::SmallPtrSet<Value, 8> seen;
    while (!work.empty()) {
      Value v = work.pop_back_val();
      if (!seen.insert(v).second)
        continue;
      if (everOwned.contains(v))
        roots.insert(v);
      if (auto it = borrowsFrom.find(v); it != borrowsFrom.end())
        llvm::append_range(work, it->second);
      if (Value source = getViewSource(v))
        work.push_back(source);
    }
    return roots;
  }

  /// The owner that `value` is a plain view of; null where it is somebody's
  /// memory for other reasons (a borrowed branch result).
  Value ownerOf(Value value) {
    while (value && !everOwned.contains(value))
      value = getViewSource(value);
    return value;
  }

  /// Calls `visit` on every operation that uses memory of `root`, once for each
  /// use, through views and through branch results that are known to borrow
  /// from it.
  void forEachUser(Value root, llvm::function_ref<void(Operation *)> visit) {
    SmallVector<Value> work{root};
    llvm::SmallPtrSet<Value, 8> seen;
    while (!work.empty()) {
      Value v = work.pop_back_val();
      if (!seen.insert(v).second)
        continue;
      for (Operation *user : v.getUsers()) {
        visit(user);
        for (Value result : user->getResults())
          if (isBuffer(result) && getViewSource(result) == v)
            work.push_back(result);
      }
      if (auto it = lenders.find(v); it != lenders.end())
        llvm::append_range(work, it->second);
    }
  }

  /// The last operation of `block` in which memory of `root` is used; null if
  /// there is none.
  Operation *lastUse(Value root, Block &block) {
    Operation *last = nullptr;
    ++work;
    forEachUser(root, [&](Operation *user) {
      ++work;
      Operation *here = block.findAncestorOpInBlock(*user);
      if (here && (!last || last->isBeforeInBlock(here)))
        last = here;
    });
    return last;
  }

  //===--------------------------------------------------------------------===//
  // Copies
  //===--------------------------------------------------------------------===//

  /// A buffer of its own with the contents of `value`, or one more handle of a
  /// list, made before `before`. An insertion copies a list that has other
  /// handles (seq_value). A list that ends at its insertion gets no other one,
  /// and grows in place (seq_append).
  Value copyOf(Value value, Operation *before) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(before);
    if (value.getDefiningOp<list::EmptyOp>())
      return value;
    if (isa<list::ListType>(value.getType()))
      return list::RetainOp::create(rewriter, before->getLoc(), value.getType(),
                                    value);
    ImplicitLocOpBuilder b(before->getLoc(), rewriter);
    auto type = dyn_cast<MemRefType>(value.getType());
    if (!type) {
      before->emitOpError("the rank of ")
          << value.getType() << " is not known: it cannot be copied";
      hasFailed = true;
      return value;
    }
    Value copy = allocateLike(b, value, type);
    memref::CopyOp::create(b, value, copy);
    ++copies;
    return copy;
  }

  /// A buffer of `type` with the extents of `value`. Where elements lie in a
  /// way that the type tells, as those of a part of a buffer do, they lie so.
  static Value allocateLike(ImplicitLocOpBuilder &b, Value value,
                            MemRefType type) {
    auto gapless = MemRefType::get(type.getShape(), type.getElementType());
    if (gapless == type || memref::CastOp::areCastCompatible(gapless, type)) {
      SmallVector<Value> sizes;
      for (int64_t axis = 0; axis < type.getRank(); ++axis)
        if (type.isDynamicDim(axis))
          sizes.push_back(memref::DimOp::create(b, value, axis));
      Value fresh = memref::AllocOp::create(b, gapless, sizes);
      return gapless == type
                 ? fresh
                 : memref::CastOp::create(b, type, fresh).getResult();
    }
    auto constant = [&](int64_t number) -> Value {
      return arith::ConstantIndexOp::create(b, number);
    };
    auto [strides, offset] = type.getStridesAndOffset();
    SmallVector<OpFoldResult> sizes =
        memref::getMixedSizes(b, b.getLoc(), value);
    SmallVector<OpFoldResult> steps(sizes.size());
    // How far elements lie behind the first one, and in front of it; a stride
    // that is open is behind all of the axes within.
    Value next = constant(1), behind = constant(0), before = constant(0);
    for (int64_t axis = type.getRank(); axis-- > 0;) {
      bool isKnown = ShapedType::isStatic(strides[axis]);
      Value size = getValueOrCreateConstantIndexOp(b, b.getLoc(), sizes[axis]);
      Value step = isKnown ? constant(strides[axis]) : next;
      steps[axis] = getAsOpFoldResult(step);
      Value &sum = isKnown && strides[axis] < 0 ? before : behind;
      Value last = b.createOrFold<arith::MaxSIOp>(
          b.createOrFold<arith::SubIOp>(size, constant(1)), constant(0));
      sum = b.createOrFold<arith::AddIOp>(
          sum, b.createOrFold<arith::MulIOp>(last, step));
      if (!isKnown || strides[axis] != 0)
        next = b.createOrFold<arith::MulIOp>(
            isKnown ? constant(std::abs(strides[axis])) : step, size);
    }
    Value begin = ShapedType::isStatic(offset)
                      ? constant(offset)
                      : b.createOrFold<arith::SubIOp>(constant(0), before);
    Value room = b.createOrFold<arith::AddIOp>(
        b.createOrFold<arith::AddIOp>(begin, behind), constant(1));
    Value fresh = memref::AllocOp::create(
        b, MemRefType::get({ShapedType::kDynamic}, type.getElementType()),
        room);
    return memref::ReinterpretCastOp::create(
        b, type, fresh, getAsOpFoldResult(begin), sizes, steps);
  }

  /// `value` where `flag` says that it is owned, else a copy.
  Value copyUnless(Value flag, Value value, Operation *before) {
    if (!flag)
      return value;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(before);
    auto branch = scf::IfOp::create(rewriter, before->getLoc(),
                                    TypeRange{value.getType()}, flag,
                                    /*withElseRegion=*/true);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(rewriter, before->getLoc(), value);
    rewriter.setInsertionPointToStart(branch.elseBlock());
    auto yield = scf::YieldOp::create(rewriter, before->getLoc(), value);
    yield->setOperand(0, copyOf(value, yield));
    return branch.getResult(0);
  }

  void freeAt(Value value, const Ownership &how) {
    OpBuilder::InsertionGuard guard(rewriter);
    if (how.flag) {
      auto branch = scf::IfOp::create(rewriter, value.getLoc(), how.flag,
                                      /*withElseRegion=*/false);
      rewriter.setInsertionPointToStart(branch.thenBlock());
    }
    if (isa<list::ListType>(value.getType()))
      list::ReleaseOp::create(rewriter, value.getLoc(), value);
    else
      memref::DeallocOp::create(rewriter, value.getLoc(), value);
  }

  //===--------------------------------------------------------------------===//
  // Moving
  //===--------------------------------------------------------------------===//

  /// The one owner of `value` where it ends at `at` and nobody else has taken
  /// it; null where it cannot be moved there.
  Value movableRoot(Value value, Operation *at, Owned &owned) {
    Value root = ownerOf(value);
    if (root && owned.contains(root) && lastUse(root, *at->getBlock()) == at &&
        usesIn(root, at) == 1)
      return root;
    return {};
  }

  /// Makes `operand` own its buffer or list alone: moves it where it can be,
  /// else copies.
  void takeOwnership(OpOperand &operand, Operation *at, Owned &owned) {
    Value value = operand.get();
    Value root = movableRoot(value, at, owned);
    if (!root || owned[root].shared) {
      operand.set(copyOf(value, at));
      return;
    }
    Value flag = owned[root].flag;
    owned.erase(root);
    operand.set(copyUnless(flag, value, at));
  }

  /// Gives the list the buffer of the element where it ends here, else a copy,
  /// or a share where it is a list's anyway: `element_owner` says which.
  void giveElement(list::InsertOp insert, Owned &owned) {
    Value elements = insert.getElement().front();
    auto type = dyn_cast<MemRefType>(elements.getType());
    StringRef how = "copy";
    if (!type) {
      takeOwnership(insert.getElementMutable()[0], insert, owned);
      how = "move";
    } else if (type.getLayout().isIdentity()) {
      Value root = movableRoot(elements, insert, owned);
      if (root && !owned[root].flag) {
        owned.erase(root);
        how = "move";
      } else if (Value owner = ownerOf(elements);
                 owner && owner.getDefiningOp<list::AtOp>()) {
        how = "share";
      }
    }
    insert.setElementOwner(how);
  }

  /// How often memory of `root` is used by `op` itself or within it.
  unsigned usesIn(Value root, Operation *op) {
    unsigned uses = 0;
    forEachUser(root, [&](Operation *user) { uses += op->isAncestor(user); });
    return uses;
  }

  //===--------------------------------------------------------------------===//
  // Blocks
  //===--------------------------------------------------------------------===//

  void own(Value value, Owned &owned, Ownership how = {}) {
    owned[value] = how;
    everOwned.insert(value);
  }

  void ownResults(ValueRange results, Owned &owned, bool shared = false) {
    for (Value result : results)
      if (isOwnable(result))
        own(result, owned, {{}, shared && isBuffer(result)});
  }

  /// Places the ends of everything that `block` owns: `owned` on entry and what
  /// is defined in it.
  void processBlock(Block &block, Owned owned) {
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
      processOp(op, owned);
    Operation *terminator = block.getTerminator();
    if (isa<func::ReturnOp>(terminator)) {
      for (OpOperand &operand : terminator->getOpOperands())
        if (isOwnable(operand.get()))
          takeOwnership(operand, terminator, owned);
    } else if (auto yield = dyn_cast<YieldOp>(terminator)) {
      for (OpOperand &operand : yield.getCarriedMutable())
        if (isOwnable(operand.get()))
          takeOwnership(operand, terminator, owned);
    } else if (isa<scf::ForOp, scf::WhileOp, scf::ExecuteRegionOp>(
                   terminator->getParentOp())) {
      for (OpOperand &operand : terminator->getOpOperands())
        if (isOwnable(operand.get()))
          takeOwnership(operand, terminator, owned);
    }
    freeAll(block, owned);
  }

  /// Frees what is left in `owned` behind its last use.
  void freeAll(Block &block, Owned &owned) {
    for (auto &[value, how] : owned) {
      Operation *last = lastUse(value, block);
      if (!last) {
        if (Operation *definition = value.getDefiningOp();
            definition && definition->getBlock() == &block)
          rewriter.setInsertionPointAfter(definition);
        else
          rewriter.setInsertionPointToStart(&block);
      } else if (last == block.getTerminator()) {
        rewriter.setInsertionPoint(last);
      } else {
        rewriter.setInsertionPointAfter(last);
      }
      freeAt(value, how);
    }
  }

  void processOp(Operation &op, Owned &owned) {
    if (isa<memref::AllocOp>(op))
      return own(op.getResult(0), owned);
    if (auto loop = dyn_cast<LoopOp>(op))
      return processLoop(op, loop.getInitsMutable(), loop.getCarriedArgs(),
                         loop.getCarriedResults(), owned);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return processLoop(op, loop.getInitArgsMutable(),
                         loop.getRegionIterArgs(), op.getResults(), owned);
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      processLoop(op, loop.getInitsMutable(), loop.getBeforeArguments(),
                  op.getResults(), owned);
      return processBody(*loop.getAfterBody(), loop.getAfterArguments());
    }
    if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
      return processBranches(op, owned);
    if (auto region = dyn_cast<scf::ExecuteRegionOp>(op)) {
      processBlock(region.getRegion().front(), {});
      return ownResults(op.getResults(), owned);
    }
    if (isa<func::CallOp, list::RetainOp, rt::CustomOp>(op))
      return ownResults(op.getResults(), owned);
    if (isa<list::AtOp>(op))
      return ownResults(op.getResults(), owned, /*shared=*/true);
    if (auto insert = dyn_cast<list::InsertOp>(op)) {
      giveElement(insert, owned);
      takeOwnership(insert.getListMutable(), &op, owned);
      return ownResults(op.getResults(), owned);
    }
    if (auto erase = dyn_cast<list::EraseOp>(op)) {
      takeOwnership(erase.getListMutable(), &op, owned);
      return ownResults(op.getResults(), owned);
    }
    for (Region &region : op.getRegions())
      for (Block &block : region)
        if (block.mightHaveTerminator())
          processBlock(block, {});
  }

  /// A loop owns its inits; its arguments own what they stand for, its results
  /// are owned by the block around it.
  void processLoop(Operation &op, MutableArrayRef<OpOperand> inits,
                   ValueRange args, ValueRange results, Owned &owned) {
    for (OpOperand &init : inits)
      if (isOwnable(init.get()))
        takeOwnership(init, &op, owned);
    processBody(op.getRegion(0).front(), args);
    ownResults(results, owned);
  }

  void processBody(Block &body, ValueRange args) {
    Owned inside;
    for (Value arg : args)
      if (isOwnable(arg))
        own(arg, inside);
    processBlock(body, inside);
  }

  //===--------------------------------------------------------------------===//
  // Branches
  //===--------------------------------------------------------------------===//

  /// What one branch's yield does with one result.
  struct Yielded {
    scf::YieldOp yield;
    Value flag;           ///< owned where this holds; null: see below
    bool isOwned = false; ///< owned for sure
    bool shared = false;  ///< with a list
    Roots lenders;        ///< whom it borrows from where it is not owned
  };

  /// Those of `owned` whose memory `op` or something in it uses, in the order
  /// of `owned`.
  SmallVector<Value> ownersUsedIn(Operation &op, const Owned &owned) {
    llvm::SmallDenseSet<Value> seen;
    llvm::SetVector<Value> roots;
    op.walk([&](Operation *user) {
      for (Value operand : user->getOperands())
        if (isOwnable(operand) && seen.insert(operand).second)
          roots.insert_range(rootsOf(operand));
    });
    SmallVector<std::pair<size_t, Value>> used;
    for (Value root : roots)
      if (auto it = owned.find(root); it != owned.end())
        used.push_back({it - owned.begin(), root});
    llvm::sort(used, llvm::less_first());
    return llvm::map_to_vector(used, [](auto &entry) { return entry.second; });
  }

  /// What dies at `op`, and is used within, ends in its branches: moved out by
  /// the yield or freed there.
  void processBranches(Operation &op, Owned &owned) {
    Owned handed;
    for (Value value : ownersUsedIn(op, owned))
      if (lastUse(value, *op.getBlock()) == &op)
        handed[value] = owned.lookup(value);
    owned.remove_if([&](auto &entry) { return handed.contains(entry.first); });
    unsigned results = op.getNumResults();
    SmallVector<SmallVector<Yielded>> table(results);
    for (Region &region : op.getRegions()) {
      if (region.empty()) {
        // No else branch: what was handed over ends there.
        continue;
      }
      processBranch(region.front(), handed, table);
    }
    if (auto branch = dyn_cast<scf::IfOp>(op);
        branch && branch.getElseRegion().empty() && !handed.empty())
      addElse(branch, handed);
    settleResults(op, table, owned);
  }

  void addElse(scf::IfOp branch, Owned &handed) {
    OpBuilder::InsertionGuard guard(rewriter);
    Block *block = rewriter.createBlock(&branch.getElseRegion());
    for (auto &[value, how] : handed)
      freeAt(value, how);
    rewriter.setInsertionPointToEnd(block);
    scf::YieldOp::create(rewriter, branch.getLoc());
  }

  void processBranch(Block &block, const Owned &handed,
                     SmallVector<SmallVector<Yielded>> &table) {
    Owned owned = handed;
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
      processOp(op, owned);
    auto yield = cast<scf::YieldOp>(block.getTerminator());
    for (OpOperand &operand : yield->getOpOperands()) {
      if (!isOwnable(operand.get()))
        continue;
      Yielded entry{yield, {}, false, false, {}};
      Roots roots = rootsOf(operand.get());
      bool ownedHere =
          llvm::any_of(roots, [&](Value root) { return owned.contains(root); });
      bool definedHere = llvm::any_of(
          roots, [&](Value root) { return root.getParentBlock() == &block; });
      Value owner = ownerOf(operand.get());
      if (operand.get().getDefiningOp<list::EmptyOp>()) {
        entry.isOwned = true;
      } else if (owner && owned.contains(owner) && usesIn(owner, yield) == 1) {
        entry.flag = owned[owner].flag;
        entry.shared = owned[owner].shared;
        if (entry.flag) {
          entry.lenders = lendersOf(owner);
          // What it may be borrowed from ends here too.
          if (llvm::any_of(entry.lenders, [&](Value lender) {
                return owned.contains(lender) ||
                       lender.getParentBlock() == &block;
              })) {
            operand.set(copyUnless(entry.flag, operand.get(), yield));
            entry.flag = {};
            entry.lenders.clear();
          }
        }
        entry.isOwned = !entry.flag;
        owned.erase(owner);
      } else if (ownedHere || definedHere) {
        operand.set(copyOf(operand.get(), yield));
        entry.isOwned = true;
      } else {
        entry.lenders = roots;
      }
      table[operand.getOperandNumber()].push_back(entry);
    }
    freeAll(block, owned);
  }

  Roots lendersOf(Value value) {
    Roots roots;
    if (auto it = borrowsFrom.find(value); it != borrowsFrom.end())
      for (Value lender : it->second)
        for (Value root : rootsOf(lender))
          roots.insert(root);
    return roots;
  }

  /// Decides for each result of a branching operation that is a buffer or a
  /// list who owns it.
  void settleResults(Operation &op, SmallVector<SmallVector<Yielded>> &table,
                     Owned &owned) {
    SmallVector<unsigned> flagged;
    for (auto [k, entries] : llvm::enumerate(table)) {
      if (entries.empty())
        continue;
      bool shared = llvm::any_of(entries, [](Yielded &y) { return y.shared; });
      if (llvm::all_of(entries, [](Yielded &y) { return y.isOwned; })) {
        own(op.getResult(k), owned, {{}, shared});
        continue;
      }
      for (Yielded &entry : entries)
        for (Value lender : entry.lenders) {
          borrowsFrom[op.getResult(k)].push_back(lender);
          lenders[lender].push_back(op.getResult(k));
        }
      if (llvm::any_of(entries, [](Yielded &y) { return y.isOwned || y.flag; }))
        flagged.push_back(k);
    }
    if (!flagged.empty())
      addFlags(op, table, flagged, owned);
  }

  /// Adds an i1 result for each of `flagged` that says whether the buffer is
  /// owned.
  void addFlags(Operation &op, SmallVector<SmallVector<Yielded>> &table,
                ArrayRef<unsigned> flagged, Owned &owned) {
    OpBuilder::InsertionGuard guard(rewriter);
    for (unsigned k : flagged)
      for (Yielded &entry : table[k]) {
        rewriter.setInsertionPoint(entry.yield);
        Value flag = entry.flag;
        if (!flag)
          flag = arith::ConstantOp::create(rewriter, op.getLoc(),
                                           rewriter.getBoolAttr(entry.isOwned));
        entry.yield->insertOperands(entry.yield->getNumOperands(), flag);
      }
    rewriter.setInsertionPoint(&op);
    SmallVector<Type> types(op.getResultTypes());
    types.append(flagged.size(), rewriter.getI1Type());
    OperationState state(op.getLoc(), op.getName(), op.getOperands(), types,
                         llvm::to_vector(op.getDiscardableAttrs()));
    state.propertiesAttr = op.getPropertiesAsAttribute();
    for (Region &region : op.getRegions())
      state.addRegion()->takeBody(region);
    Operation *made = rewriter.create(state);
    for (unsigned k = 0; k < op.getNumResults(); ++k)
      renameValue(op.getResult(k), made->getResult(k), owned);
    rewriter.replaceOp(&op, made->getResults().take_front(op.getNumResults()));
    for (auto [n, k] : llvm::enumerate(flagged)) {
      Value flag = made->getResult(types.size() - flagged.size() + n);
      bool shared = llvm::any_of(table[k], [](Yielded &y) { return y.shared; });
      own(made->getResult(k), owned, {flag, shared});
    }
  }

  /// `from` is going to be replaced by `to`, and its memory to be used again.
  void renameValue(Value from, Value to, Owned &owned) {
    everOwned.erase(from);
    if (auto it = owned.find(from); it != owned.end()) {
      Ownership how = it->second;
      owned.erase(from);
      own(to, owned, how);
    }
    if (auto it = borrowsFrom.find(from); it != borrowsFrom.end()) {
      SmallVector<Value> from_ = it->second;
      borrowsFrom.erase(from);
      for (Value lender : from_)
        llvm::replace(lenders[lender], from, to);
      borrowsFrom[to] = from_;
    }
  }

  func::FuncOp function;
  IRRewriter rewriter;
  /// Everything that was an owner at some time.
  llvm::DenseSet<Value> everOwned;
  /// Branch results and the owners that they may be views of, both ways.
  llvm::DenseMap<Value, SmallVector<Value>> borrowsFrom, lenders;
};

} // namespace

/// Stops, with an error, at what nobody can tell the owners of.
static WalkResult mustBeKnown(Operation *op) {
  if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>) ||
      llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>)) {
    op->emitOpError("tensors must be bufferized before "
                    "buffer-place-deallocations");
    return WalkResult::interrupt();
  }
  for (Region &region : op->getRegions())
    if (!region.empty() && !region.hasOneBlock()) {
      op->emitOpError("has branches between blocks, and only structured "
                      "control flow can be compiled");
      return WalkResult::interrupt();
    }
  for (Type type : op->getResultTypes())
    if (auto buffer = dyn_cast<MemRefType>(type);
        buffer && !buffer.isStrided()) {
      op->emitOpError("gives ") << type << ", whose layout is no strides";
      return WalkResult::interrupt();
    }
  if (isa<memref::ReallocOp>(op)) {
    op->emitOpError("ends a buffer that may be its result");
    return WalkResult::interrupt();
  }
  if (op->getNumRegions() > 0 && llvm::any_of(op->getResults(), isOwnable) &&
      !isa<LoopOp, scf::ForOp, scf::WhileOp, scf::IfOp, scf::IndexSwitchOp,
           scf::ExecuteRegionOp>(op)) {
    op->emitOpError("results in a buffer or list that nobody is known to own");
    return WalkResult::interrupt();
  }
  return WalkResult::advance();
}

namespace {
struct BufferPlaceDeallocations
    : loopc::impl::BufferPlaceDeallocationsBase<BufferPlaceDeallocations> {
  using BufferPlaceDeallocationsBase::BufferPlaceDeallocationsBase;
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    if (getOperation().walk(mustBeKnown).wasInterrupted())
      return signalPassFailure();
    OwnershipPlacement placement(getOperation(), &getContext());
    placement.run();
    if (placement.hasFailed)
      return signalPassFailure();
    numCopies += placement.copies;
    if (reportWork)
      getOperation().emitRemark() << placement.work << " uses followed";
  }
};
} // namespace
