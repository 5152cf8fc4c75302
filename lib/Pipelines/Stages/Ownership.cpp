//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ownership.h"
#include "loopc/Dialect/List/IR/List.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Dialect/RT/IR/CustomOp.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

/// True for what has an owner.
static bool isOwnable(Value value) {
  return isa<BaseMemRefType>(value.getType()) ||
         isa<list::ListType>(value.getType());
}

static StringRef nounFor(Type type) {
  return isa<list::ListType>(type) ? "list" : "buffer";
}

/// Operations have the numbers of the order in which they are visited.
void OwnershipChecker::number() {
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    ++numOps;
    for (Value operand : op->getOperands())
      if (isOwnable(operand))
        lastUses[operand] = numOps;
  });
}

void OwnershipChecker::run() {
  number();
  conditions.setMaxNodes(kNodesPerOp * (size_t(numOps) + kNodesPerOp));
  now = 1;
  Block &body = function.getBody().front();
  for (BlockArgument argument : body.getArguments())
    if (isOwnable(argument))
      lend(argument, kReadOnly);
  visitInScope(body, {});
}

//===----------------------------------------------------------------------===//
// Values and what they may be
//===----------------------------------------------------------------------===//

OwnershipChecker::Resource *
OwnershipChecker::resourceOf(const Alternative &alternative) {
  if (alternative.resource < kNumSpecial)
    return nullptr;
  Resource &resource = resources[alternative.resource - kNumSpecial];
  return resource.isUnchecked ? nullptr : &resource;
}

OwnershipChecker::Alternatives OwnershipChecker::alternativesOf(Value value) {
  auto it = values.find(value);
  return it == values.end() ? Alternatives{{kUnknown, Conditions::kAlways}}
                            : it->second;
}

void OwnershipChecker::add(Alternatives &to, Alternative alternative) {
  if (alternative.condition == Conditions::kNever)
    return;
  for (Alternative &other : to)
    if (other.resource == alternative.resource) {
      other.condition =
          conditions.either(other.condition, alternative.condition);
      return;
    }
  to.push_back(alternative);
}

void OwnershipChecker::alias(Value value, Alternatives alternatives) {
  unsigned lastUse = lastUses.lookup(value);
  bool areTooMany = alternatives.size() > kMaxAlternatives;
  for (const Alternative &each : alternatives)
    if (Resource *resource = resourceOf(each)) {
      resource->lastUse = std::max(resource->lastUse, lastUse);
      resource->isUnchecked = areTooMany;
      numUnchecked += areTooMany;
    }
  if (areTooMany)
    lend(value, kUnknown);
  else
    values[value] = std::move(alternatives);
}

void OwnershipChecker::own(ValueRange made, bool isShared) {
  for (Value value : made) {
    if (!isOwnable(value))
      continue;
    unsigned id = resources.size() + kNumSpecial;
    resources.push_back({value, scope, path, lastUses.lookup(value),
                         isShared && !isa<list::ListType>(value.getType())});
    values[value] = {{id, Conditions::kAlways}};
  }
}

//===----------------------------------------------------------------------===//
// Uses and ends
//===----------------------------------------------------------------------===//

void OwnershipChecker::fail(Resource &resource, Operation *op, StringRef what) {
  // One error says enough of it.
  resource.isUnchecked = true;
  if (conditions.isFull() || errors.areEnough())
    return;
  StringRef noun = nounFor(resource.origin.getType());
  InFlightDiagnostic error =
      (op ? errors.emit(op) : errors.emit(resource.origin.getLoc())) << what;
  if (op)
    error.attachNote(resource.origin.getLoc())
        << "the " << noun << " is allocated here";
  if (resource.end && resource.end != op)
    error.attachNote(resource.end->getLoc())
        << "it is freed or transferred here";
}

void OwnershipChecker::checkUses(Operation *op, ValueRange used) {
  for (Value value : used) {
    if (!isOwnable(value))
      continue;
    for (const Alternative &each : alternativesOf(value)) {
      Resource *resource = resourceOf(each);
      if (!resource || resource->ended == Conditions::kNever)
        continue;
      Ref when = conditions.both(path, each.condition);
      if (conditions.both(when, resource->ended) != Conditions::kNever)
        fail(*resource, op,
             isa<list::ListType>(value.getType())
                 ? "uses a list after it was freed or transferred"
                 : "uses a buffer after it was freed or transferred");
    }
  }
}

/// Inputs are the caller's, and a run leaves them as they are.
void OwnershipChecker::checkWrites(Operation *op) {
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects<MemoryEffects::Write>(effects);
  for (const MemoryEffects::EffectInstance &effect : effects) {
    Value buffer = effect.getValue();
    if (!buffer || !isa<BaseMemRefType>(buffer.getType()))
      continue;
    for (const Alternative &each : alternativesOf(buffer))
      if (each.resource == kReadOnly &&
          conditions.both(path, each.condition) != Conditions::kNever &&
          !conditions.isFull()) {
        errors.emit(op) << "writes to memory that is an input or a constant";
        return;
      }
  }
}

void OwnershipChecker::end(ValueRange ended, Operation *op, End how) {
  for (Value value : ended)
    if (isOwnable(value))
      for (const Alternative &each : alternativesOf(value))
        endOne(each, op, value.getType(), how);
}

void OwnershipChecker::endOne(Alternative alternative, Operation *op, Type type,
                              End how) {
  Ref when = conditions.both(path, alternative.condition);
  if (when == Conditions::kNever)
    return;
  if (alternative.resource == kBorrowed || alternative.resource == kReadOnly) {
    if (!conditions.isFull())
      errors.emit(op) << (how == End::Freed ? "frees" : "transfers") << " a "
                      << nounFor(type) << " that the function does not own";
    return;
  }
  Resource *resource = resourceOf(alternative);
  if (!resource)
    return;
  if (conditions.both(when, resource->ended) != Conditions::kNever)
    return fail(*resource, op,
                how == End::Freed
                    ? "frees what was freed or transferred before"
                    : "transfers what was freed or transferred before");
  if (resource->scope != scope)
    return fail(*resource, op,
                "frees or transfers in each iteration what was allocated once");
  if (!conditions.implies(when, resource->owned))
    return fail(*resource, op,
                "frees or transfers what is not allocated on some path");
  if (how == End::HandedOn && resource->isShared)
    return fail(*resource, op, "transfers a buffer that a list owns, too");
  resource->owned = conditions.both(resource->owned, conditions.negate(when));
  resource->ended = conditions.either(resource->ended, when);
  resource->end = op;
}

void OwnershipChecker::checkEnds(ArrayRef<Resource> all) {
  for (const Resource &each : all)
    if (each.owned != Conditions::kNever && !each.isUnchecked) {
      Resource resource = each;
      fail(resource, nullptr,
           each.ended == Conditions::kNever
               ? "what is allocated here is never freed"
               : "what is allocated here is not freed on every path");
    }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void OwnershipChecker::visitBlock(Block &block) {
  for (Operation &op : block)
    visit(&op);
}

/// A block that may run any number of times: what it makes, and `owned`, its
/// arguments, end in it.
void OwnershipChecker::visitInScope(Block &body, ValueRange owned) {
  unsigned outer = std::exchange(scope, ++numScopes);
  size_t first = resources.size();
  own(owned);
  visitBlock(body);
  checkEnds(ArrayRef(resources).drop_front(first));
  resources.truncate(first);
  scope = outer;
}

void OwnershipChecker::visit(Operation *op) {
  ++now;
  if (conditions.isFull())
    return;
  for (Region &region : op->getRegions())
    if (!region.empty() && !region.hasOneBlock()) {
      errors.emit(op) << "has branches between blocks";
      return;
    }
  checkWrites(op);
  if (isa<memref::DeallocOp, list::ReleaseOp>(op))
    return end(op->getOperands(), op, End::Freed);
  if (isa<memref::AllocOp>(op))
    return own(op->getResults());
  if (isa<list::EmptyOp, list::InsertOp, list::EraseOp, list::AtOp,
          list::RetainOp>(op))
    return visitListOp(op);
  if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
    return visitBranches(op);
  if (op->hasTrait<OpTrait::IsTerminator>())
    return visitEnd(op);
  if (op->getNumRegions())
    return visitRegions(op);
  visitOther(op);
}

/// True for a loop that only exchanges the buffers which it carries, and whose
/// results nobody uses: it has no need to own them, and who has made them knows
/// which is which by the number of iterations (nest-make-sections).
static bool onlyExchanges(scf::ForOp loop) {
  llvm::SmallDenseSet<Value> yielded;
  auto isExchanged = [&](auto pair) {
    auto [result, value] = pair;
    if (!isOwnable(value))
      return true;
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == loop.getBody() &&
           result.use_empty() && yielded.insert(value).second;
  };
  return llvm::any_of(loop.getInitArgs(), isOwnable) &&
         llvm::all_of(llvm::zip(loop.getResults(), loop.getYieldedValues()),
                      isExchanged);
}

/// Terminators of loops and functions hand on; those of branches say what a
/// result is.
void OwnershipChecker::visitEnd(Operation *op) {
  if (auto yield = dyn_cast<YieldOp>(op))
    return end(yield.getCarried(), op, End::HandedOn);
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  bool isOfLoop =
      loop ? !onlyExchanges(loop)
           : isa<scf::WhileOp, scf::ExecuteRegionOp>(op->getParentOp());
  if (isOfLoop || isa<func::ReturnOp>(op))
    return end(op->getOperands(), op, End::HandedOn);
  checkUses(op, op->getOperands());
}

void OwnershipChecker::visitListOp(Operation *op) {
  if (isa<list::EmptyOp>(op))
    return lend(op->getResult(0), kNothing);
  if (auto insert = dyn_cast<list::InsertOp>(op)) {
    ValueRange element = insert.getElement();
    checkUses(op, element);
    StringRef how = insert.getElementOwner().value_or("copy");
    if (how == "move")
      end(element.front(), op, End::Listed);
    end(insert.getList(), op, End::HandedOn);
  } else if (auto erase = dyn_cast<list::EraseOp>(op)) {
    end(erase.getList(), op, End::HandedOn);
  } else {
    checkUses(op, op->getOperands());
  }
  own(op->getResults(), /*isShared=*/isa<list::AtOp>(op));
}

void OwnershipChecker::visitOther(Operation *op) {
  checkUses(op, op->getOperands());
  if (llvm::none_of(op->getResults(), isOwnable))
    return;
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Ref condition = conditions.of(select.getCondition());
    Alternatives all;
    for (auto [resource, when] : alternativesOf(select.getTrueValue()))
      add(all, {resource, conditions.both(condition, when)});
    for (auto [resource, when] : alternativesOf(select.getFalseValue()))
      add(all, {resource, conditions.both(conditions.negate(condition), when)});
    return alias(select, std::move(all));
  }
  if (isa<func::CallOp, rt::CustomOp>(op))
    return own(op->getResults());
  for (Value result : llvm::make_filter_range(op->getResults(), isOwnable)) {
    if (Value source = getViewSource(result))
      alias(result, alternativesOf(source));
    else if (isa<memref::AllocaOp>(op))
      lend(result, kBorrowed);
    else if (isa<memref::GetGlobalOp>(op))
      lend(result, kReadOnly);
    else if (isa<ub::PoisonOp>(op))
      lend(result, kNothing);
    else
      errors.emit(op) << "gives a " << nounFor(result.getType())
                      << ", and no rule says who owns it";
  }
}

void OwnershipChecker::visitLoop(LoopOp loop) {
  if (loop.getNumCollected())
    errors.emit(loop) << "collects values, which is lowered here";
  end(loop.getInits(), loop, End::HandedOn);
  visitInScope(*loop.getLoopBody(), loop.getCarriedArgs());
  own(loop.getResults());
}

/// The loop uses what others own. Any of its buffers may be any of the inits.
void OwnershipChecker::visitExchange(scf::ForOp loop) {
  checkUses(loop, loop.getInitArgs());
  bool isReadOnly = llvm::any_of(loop.getInitArgs(), [&](Value init) {
    return isOwnable(init) &&
           llvm::any_of(alternativesOf(init), [](const Alternative &each) {
             return each.resource == kReadOnly;
           });
  });
  for (Value argument : loop.getRegionIterArgs())
    if (isOwnable(argument))
      lend(argument, isReadOnly ? kReadOnly : kBorrowed);
  visitInScope(*loop.getBody(), {});
}

void OwnershipChecker::visitRegions(Operation *op) {
  if (auto loop = dyn_cast<LoopOp>(op))
    return visitLoop(loop);
  if (auto loop = dyn_cast<scf::ForOp>(op); loop && onlyExchanges(loop))
    return visitExchange(loop);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    end(loop.getInitArgs(), op, End::HandedOn);
    visitInScope(*loop.getBody(), loop.getRegionIterArgs());
    return own(op->getResults());
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    end(loop.getInits(), op, End::HandedOn);
    visitInScope(*loop.getBeforeBody(), loop.getBeforeArguments());
    visitInScope(*loop.getAfterBody(), loop.getAfterArguments());
    return own(op->getResults());
  }
  if (auto once = dyn_cast<scf::ExecuteRegionOp>(op)) {
    visitBlock(once.getRegion().front());
    return own(op->getResults());
  }
  checkUses(op, op->getOperands());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      visitInScope(block, {});
  if (llvm::any_of(op->getResults(), isOwnable))
    errors.emit(op) << "gives a buffer or list, and no rule says who owns it";
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// When each region of `op` is the one that runs.
static SmallVector<Conditions::Ref> conditionsOf(Operation *op,
                                                 Conditions &conditions) {
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    Conditions::Ref then = conditions.of(branch.getCondition());
    return {then, conditions.negate(then)};
  }
  auto choice = cast<scf::IndexSwitchOp>(op);
  // The first region is the default's.
  SmallVector<Conditions::Ref> all{Conditions::kAlways};
  for (int64_t number : choice.getCases()) {
    Conditions::Ref is = conditions.isNumber(choice.getArg(), number);
    all.push_back(conditions.both(all.front(), is));
    all.front() = conditions.both(all.front(), conditions.negate(is));
  }
  return all;
}

void OwnershipChecker::visitBranches(Operation *op) {
  SmallVector<Ref> taken = conditionsOf(op, conditions);
  Ref before = path;
  SmallVector<Alternatives> joined(op->getNumResults());
  SmallVector<Ref> holds(op->getNumResults(), Conditions::kNever);
  for (auto [region, when] : llvm::zip_equal(op->getRegions(), taken)) {
    if (region.empty())
      continue;
    path = conditions.both(before, when);
    visitBlock(region.front());
    Operation *yield = region.front().getTerminator();
    for (auto [k, value] : llvm::enumerate(yield->getOperands())) {
      if (isOwnable(value))
        for (auto [resource, condition] : alternativesOf(value))
          add(joined[k], {resource, conditions.both(when, condition)});
      else if (value.getType().isInteger(1))
        holds[k] = conditions.either(
            holds[k], conditions.both(when, conditions.of(value)));
    }
  }
  path = before;
  for (OpResult result : op->getResults())
    if (result.getType().isInteger(1))
      conditions.set(result, holds[result.getResultNumber()]);
  settle(op, joined);
}

/// A result of a branch becomes a buffer of its own where those that it may be
/// are owned and known by no other value any more: else a chain of branches
/// would make more and more alternatives.
void OwnershipChecker::settle(Operation *op, ArrayRef<Alternatives> joined) {
  // What two results may be at a time.
  llvm::SmallDenseSet<unsigned> contended;
  llvm::SmallDenseMap<unsigned, Ref> claimed;
  for (const Alternatives &all : joined)
    for (auto [resource, condition] : all) {
      Ref &others = claimed[resource];
      if (conditions.both(others, condition) != Conditions::kNever)
        contended.insert(resource);
      others = conditions.either(others, condition);
    }
  for (OpResult result : op->getResults())
    if (isOwnable(result))
      alias(result,
            settleOne(result, joined[result.getResultNumber()], contended));
}

bool OwnershipChecker::mayMove(const Alternative &alternative,
                               const llvm::SmallDenseSet<unsigned> &contended) {
  Resource *resource = resourceOf(alternative);
  if (!resource || resource->scope != scope || resource->lastUse > now ||
      contended.contains(alternative.resource))
    return false;
  return conditions.implies(conditions.both(path, alternative.condition),
                            resource->owned);
}

OwnershipChecker::Alternatives
OwnershipChecker::settleOne(Value result, const Alternatives &all,
                            const llvm::SmallDenseSet<unsigned> &contended) {
  Alternatives kept;
  Ref moved = Conditions::kNever;
  bool isShared = false;
  for (const Alternative &each : all) {
    if (!mayMove(each, contended)) {
      kept.push_back(each);
      continue;
    }
    Resource *resource = resourceOf(each);
    Ref when = conditions.both(path, each.condition);
    resource->owned = conditions.both(resource->owned, conditions.negate(when));
    resource->ended = conditions.either(resource->ended, when);
    isShared |= resource->isShared;
    moved = conditions.either(moved, each.condition);
  }
  if (moved == Conditions::kNever)
    return kept;
  unsigned id = resources.size() + kNumSpecial;
  resources.push_back(
      {result, scope, conditions.both(path, moved), 0, isShared});
  kept.push_back({id, moved});
  return kept;
}

unsigned loopc::verifyOwnership(ModuleOp module, StageErrors &errors) {
  unsigned numUnchecked = 0;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (errors.any() || function.isExternal())
      continue;
    OwnershipChecker ownership(function, errors);
    ownership.run();
    numUnchecked += ownership.numUnchecked;
  }
  return numUnchecked;
}
