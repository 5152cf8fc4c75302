//===- Parts.cpp - A module in parts --------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "LLVMPasses.h"

#include "loopc/Support/CompilerThread.h"
#include "loopc/Support/Diagnostics.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/Threading.h"

#include <atomic>
#include <map>

using namespace mlir;
using namespace loopc;

/// Instructions that are worth a part of their own. A part costs the start of
/// LLVM's passes and the reading of its code, some milliseconds: with parts of
/// this size LLVM takes 3 to 5% more than with twice as large ones, and its
/// threads are done at nearly the same time.
static constexpr unsigned kPartInstructions = 1000;
static constexpr unsigned kMaxParts = 16;

/// From so many on a small module is two parts beside code that is left as it
/// is: it takes LLVM four times as long as a part costs, and two threads half
/// of it.
static constexpr unsigned kTwoParts = 400;

/// What LLVM takes for an instruction of a scalar loop, in those of others: it
/// makes vectors of the loop, and a second one for what is left, and simplifies
/// both.
static constexpr unsigned kScalarCost = 5;

//===----------------------------------------------------------------------===//
// What goes where
//===----------------------------------------------------------------------===//

namespace {
/// Chooses the functions that leave the main part.
class Division {
public:
  explicit Division(llvm::Module &module) : module(module) {}

  /// False if the module is small, or nothing can be moved.
  bool choose();
  /// True if the main part is only what a run passes through once.
  bool isMainStraight() const { return !straight.empty(); }
  size_t getNumParts() const { return numParts; }
  /// Those that another part than their own may call.
  llvm::ArrayRef<llvm::Function *> getShared() const { return shared; }

  /// Fills `kept` with the names that each part but the main one defines, and
  /// `moved` with those that the main one does not.
  void recordNames(std::vector<llvm::StringSet<>> &kept,
                   llvm::StringSet<> &moved) const;

private:
  /// A moved function with the helpers and tables that it uses.
  using Closure = llvm::SmallSetVector<llvm::GlobalValue *, 8>;
  bool isMovable(const llvm::Function &function) const;
  bool close(llvm::Function &function, Closure &closure);
  void findStraight();
  size_t countMoved(uint64_t movable, size_t numFunctions) const;
  void deal(SmallVectorImpl<std::pair<Closure, uint64_t>> &found,
            SmallVectorImpl<uint64_t> &load);

  llvm::Module &module;
  /// What a run passes through once, where that is much and can be alone.
  llvm::SmallPtrSet<llvm::Function *, 16> straight;
  SmallVector<llvm::Function *> moved, shared;
  SmallVector<std::pair<Closure, size_t>> closures; ///< and their parts
  /// Functions that others than the main part's need beside them.
  llvm::SmallPtrSet<llvm::Function *, 8> needed;
  size_t numParts = 1;
};
} // namespace

/// Calls `visit` with the functions and variables that `constant` refers to.
static void visitGlobals(llvm::Constant *constant,
                         llvm::function_ref<void(llvm::GlobalValue *)> visit) {
  if (auto *global = dyn_cast<llvm::GlobalValue>(constant))
    return visit(global);
  for (llvm::Value *operand : constant->operands())
    if (auto *nested = dyn_cast<llvm::Constant>(operand))
      visitGlobals(nested, visit);
}

/// Calls `visit` with all that the code of `function` refers to.
static void visitGlobals(llvm::Function &function,
                         llvm::function_ref<void(llvm::GlobalValue *)> visit) {
  for (llvm::Instruction &instruction : llvm::instructions(function))
    for (llvm::Value *operand : instruction.operands())
      if (auto *constant = dyn_cast<llvm::Constant>(operand))
        visitGlobals(constant, visit);
}

/// What LLVM takes to compile `function`, in instructions of loops in vectors.
/// It makes vectors of no loop that calls anything.
static uint64_t estimateCost(const llvm::Function &function) {
  auto isNoCandidate = [](const llvm::Instruction &one) {
    return one.getType()->isVectorTy() ||
           (isa<llvm::CallBase>(one) && !isa<llvm::IntrinsicInst>(one));
  };
  bool isScalar = hasLoops(function) &&
                  llvm::none_of(llvm::instructions(function), isNoCandidate);
  return uint64_t(function.getInstructionCount()) *
         (isScalar ? kScalarCost : 1);
}

/// True for what only passes on what it is handed, to those that call it by its
/// address: each part has its own.
static bool isHandedOver(const llvm::Function &function) {
  return function.hasLocalLinkage() && function.hasAddressTaken() &&
         !hasLoops(function);
}

/// Fills `straight`: nothing if it is little, or if the rest cannot be moved.
void Division::findStraight() {
  straight = findRunOnce(module);
  auto canMove = [&](llvm::Function &function) {
    Closure closure;
    return function.isDeclaration() || straight.contains(&function) ||
           ((isMovable(function) || isHandedOver(function)) &&
            close(function, closure));
  };
  if (!llvm::all_of(module, canMove))
    straight.clear();
  for (llvm::Function *function : straight)
    allocateInFrame(*function);
  needed.clear();
}

/// Where the main part is left as it is nothing is inlined into it.
bool Division::isMovable(const llvm::Function &function) const {
  return function.hasLocalLinkage() && !function.isDeclaration() &&
         !straight.contains(&function) && !function.hasAddressTaken() &&
         (isMainStraight() ||
          function.hasFnAttribute(llvm::Attribute::NoInline));
}

/// Collects what `function` needs beside it. False where it uses memory that
/// there may be only once.
bool Division::close(llvm::Function &function, Closure &closure) {
  closure.insert(&function);
  bool isClosed = true;
  auto add = [&](llvm::GlobalValue *global) {
    if (global->isDeclaration())
      return;
    auto *callee = dyn_cast<llvm::Function>(global);
    if (callee && isMovable(*callee)) {
      if (callee != &function)
        needed.insert(callee);
      return;
    }
    auto *variable = dyn_cast<llvm::GlobalVariable>(global);
    isClosed &= global->hasLocalLinkage() &&
                (callee || (variable && variable->isConstant()));
    closure.insert(global);
  };
  for (size_t i = 0; i < closure.size() && isClosed; ++i) {
    if (auto *variable = dyn_cast<llvm::GlobalVariable>(closure[i])) {
      visitGlobals(variable->getInitializer(), add);
      continue;
    }
    visitGlobals(*cast<llvm::Function>(closure[i]), add);
  }
  return isClosed;
}

/// Deals `found` with their costs to the parts, which have `load` to begin
/// with: the largest first, each to the part that has least.
void Division::deal(SmallVectorImpl<std::pair<Closure, uint64_t>> &found,
                    SmallVectorImpl<uint64_t> &load) {
  llvm::stable_sort(
      found, [](const auto &a, const auto &b) { return a.second > b.second; });
  auto first = load.begin() + isMainStraight();
  for (auto &[closure, cost] : found) {
    auto least = std::min_element(first, load.end());
    size_t part = std::distance(load.begin(), least);
    *least += cost;
    auto *function = cast<llvm::Function>(closure.front());
    if (part != 0 || needed.contains(function))
      shared.push_back(function);
    if (part == 0)
      continue;
    moved.push_back(function);
    closures.emplace_back(std::move(closure), part);
  }
}

/// The parts beside the main one for `numFunctions` that cost `movable`.
size_t Division::countMoved(uint64_t movable, size_t numFunctions) const {
  uint64_t count = movable / kPartInstructions;
  // Beside a main part that takes next to nothing there is an even number: two
  // threads are done at the same time.
  if (isMainStraight())
    count = movable < kTwoParts
                ? 1
                : std::max<uint64_t>(2, llvm::alignDown(count, 2));
  else if (movable >= kTwoParts)
    count = std::max<uint64_t>(1, count);
  return std::min({count, uint64_t(numFunctions), uint64_t(kMaxParts - 1)});
}

bool Division::choose() {
  findStraight();
  uint64_t total = 0, movable = 0;
  SmallVector<std::pair<Closure, uint64_t>> found;
  for (llvm::Function &function : module) {
    uint64_t cost = estimateCost(function);
    total += cost;
    Closure closure;
    if (!isMovable(function) || !close(function, closure))
      continue;
    movable += cost;
    found.emplace_back(std::move(closure), cost);
  }
  // The main part keeps the rest, and is one of them.
  numParts = 1 + countMoved(movable, found.size());
  if (numParts == 1)
    return false;
  SmallVector<uint64_t> load(numParts);
  load[0] = total - movable;
  deal(found, load);
  return !moved.empty();
}

void Division::recordNames(std::vector<llvm::StringSet<>> &kept,
                           llvm::StringSet<> &names) const {
  kept.resize(numParts);
  for (llvm::Function *function : moved)
    names.insert(function->getName());
  for (auto &[closure, part] : closures)
    for (llvm::GlobalValue *global : closure)
      kept[part].insert(global->getName());
}

//===----------------------------------------------------------------------===//
// Dividing
//===----------------------------------------------------------------------===//

/// Makes of what `isHeld` does not know declarations, and drops those that
/// nobody needs.
static llvm::Error keepOnly(llvm::Module &module,
                            llvm::function_ref<bool(StringRef)> isHeld) {
  for (llvm::GlobalVariable &variable : module.globals()) {
    if (!variable.hasInitializer() || isHeld(variable.getName()))
      continue;
    variable.setInitializer(nullptr);
    variable.setLinkage(llvm::GlobalValue::ExternalLinkage);
  }
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    if (!isHeld(function.getName()))
      function.deleteBody();
    else if (llvm::Error error = function.materialize())
      return error;
  }
  if (llvm::Error error = module.materializeAll())
    return error;
  for (llvm::GlobalVariable &variable :
       llvm::make_early_inc_range(module.globals()))
    if (variable.isDeclaration() && variable.use_empty())
      variable.eraseFromParent();
  for (llvm::Function &function : llvm::make_early_inc_range(module))
    if (function.isDeclaration() && function.use_empty())
      function.eraseFromParent();
  return llvm::Error::success();
}

ModuleParts ModuleParts::divide(LLVMModule whole, StringRef symbol) {
  ModuleParts result;
  result.triple = whole.module->getTargetTriple();
  result.layout = whole.module->getDataLayout();
  Division division(*whole.module);
  bool isDivided = division.choose();
  if (!isDivided || !division.isMainStraight())
    markRunOnce(*whole.module);
  if (!isDivided) {
    result.parts.push_back(std::move(whole));
    return result;
  }
  for (auto [k, function] : llvm::enumerate(division.getShared())) {
    function->setName(symbol + ".part" + std::to_string(k));
    function->setLinkage(llvm::GlobalValue::ExternalLinkage);
    function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  }
  result.isMainStraight = division.isMainStraight();
  unsigned number = 0;
  for (llvm::GlobalValue &global : whole.module->global_values())
    if (!global.hasName())
      global.setName(symbol + ".unnamed" + std::to_string(number++));
  // What a function that moved has in the main part too must not be external.
  division.recordNames(result.kept, result.moved);

  // Contexts cannot share code, so that it goes through LLVM's file format.
  result.bitcode = std::make_unique<llvm::SmallVector<char, 0>>();
  llvm::raw_svector_ostream os(*result.bitcode);
  llvm::WriteBitcodeToFile(*whole.module, os);
  result.parts.push_back(std::move(whole));
  while (result.parts.size() < division.getNumParts())
    result.parts.push_back(LLVMModule::create());
  return result;
}

bool ModuleParts::usesGlobal(StringRef symbol) const {
  return llvm::any_of(used, [&](const llvm::StringSet<> &names) {
    return names.contains(symbol);
  });
}

//===----------------------------------------------------------------------===//
// Working on parts
//===----------------------------------------------------------------------===//

namespace {
/// The machines of one thread, one for each level that it works at: to describe
/// a CPU takes LLVM a millisecond or two.
class ThreadMachines {
public:
  ThreadMachines(const TargetOptions &options, Location loc)
      : options(options), loc(loc) {}

  /// Null where LLVM has none, which was said then.
  llvm::TargetMachine *get(unsigned level) {
    auto found = machines.find(level);
    if (found == machines.end()) {
      TargetOptions own = options;
      own.optLevel = level;
      own.quickCode = false;
      FailureOr<Machine> machine = createMachine(own, loc);
      found = machines
                  .emplace(level, succeeded(machine) ? std::move(machine->llvm)
                                                     : nullptr)
                  .first;
    }
    return found->second.get();
  }

private:
  const TargetOptions &options;
  Location loc;
  std::map<unsigned, std::shared_ptr<llvm::TargetMachine>> machines;
};
} // namespace

/// Calls `run` for each number below `count`, in this order, on up to `most`
/// threads, as there are cores and as the system gives; each has what `begin`
/// makes for it. This thread is one of them, and calls `note` behind each of
/// its calls.
static void runAll(size_t count, size_t most,
                   llvm::function_ref<ThreadMachines()> begin,
                   llvm::function_ref<void(size_t, ThreadMachines &)> run,
                   llvm::function_ref<void()> note) {
  std::atomic<size_t> next = 0;
  auto work = [&](llvm::function_ref<void()> after) {
    ThreadMachines machines = begin();
    for (size_t k; (k = next++) < count;) {
      run(k, machines);
      after();
    }
  };
  size_t cores = llvm::hardware_concurrency().compute_thread_count();
  std::vector<std::unique_ptr<CompilerThread>> others;
  while (others.size() + 1 < std::min(most, cores)) {
    others.push_back(CompilerThread::start([&] { work([] {}); }));
    if (!others.back())
      break;
  }
  work(note);
}

/// Takes what part `number` has out of the whole module.
llvm::Error ModuleParts::load(size_t number) {
  if (!bitcode)
    return llvm::Error::success();
  LLVMModule &part = parts[number];
  if (number == 0)
    return keepOnly(*part.module,
                    [&](StringRef name) { return !moved.contains(name); });
  llvm::MemoryBufferRef file(StringRef(bitcode->data(), bitcode->size()),
                             "part");
  auto module = llvm::getLazyBitcodeModule(file, *part.context);
  if (!module)
    return module.takeError();
  part.module = std::move(*module);
  return keepOnly(*part.module,
                  [&](StringRef name) { return kept[number].contains(name); });
}

void ModuleParts::optimize(size_t number, llvm::TargetMachine &machine,
                           unsigned level) {
  LLVMModule &part = parts[number];
  if (llvm::Error error = load(number)) {
    part.messages->push_back(
        {/*isError=*/true,
         "LLVM cannot read its own code: " + llvm::toString(std::move(error))});
    part.module = nullptr;
    return;
  }
  llvm::Module &module = *part.module;
  optimizeModule(module, machine, level);
  for (const llvm::GlobalVariable &variable : module.globals())
    if (!variable.use_empty())
      used[number].insert(variable.getName());
}

/// An empty module for the target of the parts.
LLVMModule ModuleParts::createBeside() const {
  LLVMModule result = LLVMModule::create();
  result.module = std::make_unique<llvm::Module>("beside", *result.context);
  result.module->setTargetTriple(triple);
  result.module->setDataLayout(layout);
  return result;
}

FailureOr<std::vector<ObjectBytes>>
ModuleParts::compile(const TargetOptions &options, Location loc,
                     llvm::function_ref<void(llvm::Module &)> complete,
                     TimingScope &timing) {
  used.resize(parts.size());
  size_t count = parts.size();
  if (complete && count > 1)
    parts.push_back(createBeside());
  std::vector<ObjectBytes> objects(parts.size());
  SmallVector<char> done(parts.size(), true);
  std::atomic<size_t> numLeft = count;
  std::atomic<bool> hasMachines = true;
  auto emit = [&](size_t k, llvm::TargetMachine &machine) {
    llvm::raw_svector_ostream os(objects[k]);
    if (std::unique_ptr<llvm::Module> module = std::move(parts[k].module))
      done[k] =
          emitCode(*module, machine, llvm::CodeGenFileType::ObjectFile, os);
  };
  auto run = [&](size_t k, ThreadMachines &machines) {
    unsigned level = levelOf(k, options.getCodeLevel());
    llvm::TargetMachine *machine = machines.get(level);
    if (!machine)
      hasMachines = false;
    else
      optimize(k, *machine, level);
    bool isLast = --numLeft == 0;
    if (isLast && complete && parts.back().module)
      complete(*parts.back().module);
    if (!machine)
      return;
    emit(k, *machine);
    if (isLast && count < parts.size())
      emit(count, *machine);
  };
  TimingScope scope = timing.nest("LLVM's passes");
  bool isWritten = false;
  auto begin = [&] { return ThreadMachines(options, loc); };
  runAll(count, count, begin, run, [&] {
    if (!std::exchange(isWritten, isWritten || numLeft == 0) && isWritten)
      scope = timing.nest("Machine code");
  });
  if (!hasMachines)
    return failure();
  // In the order of the parts, whichever was first.
  LogicalResult result = success();
  for (auto [part, isDone] : llvm::zip_equal(parts, done)) {
    if (failed(part.report(loc)))
      return failure();
    if (!isDone)
      result = emitError(loc, Diag::CodeGeneration)
               << "LLVM writes no such files for target '"
               << getTriple(options).str() << "'";
  }
  if (failed(result))
    return failure();
  return objects;
}
