//===- Parts.cpp - A module in parts --------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parts.h"

#include "loopc/Support/Diagnostics.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/ThreadPool.h"

using namespace mlir;
using namespace loopc;

/// Instructions that are worth a part of their own: a part costs the start of
/// LLVM's passes and the reading of its code, some milliseconds.
static constexpr unsigned kPartInstructions = 4000;
static constexpr unsigned kMaxParts = 16;

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
  size_t getNumParts() const { return kept.size(); }
  /// Those that another part than their own may call.
  llvm::ArrayRef<llvm::Function *> getShared() const { return shared; }

  /// True if part `number` holds what defines `name`. The main part holds all
  /// that was not moved.
  bool holds(size_t number, StringRef name) const {
    return number == 0 ? !movedNames.contains(name)
                       : kept[number].contains(name);
  }
  void recordNames();

private:
  /// A moved function with the helpers and tables that it uses.
  using Closure = llvm::SmallSetVector<llvm::GlobalValue *, 8>;
  bool close(llvm::Function &function, Closure &closure);

  llvm::Module &module;
  SmallVector<llvm::Function *> moved, shared;
  SmallVector<std::pair<Closure, size_t>> closures; ///< and their parts
  /// Functions that others than the main part's need beside them.
  llvm::SmallPtrSet<llvm::Function *, 8> needed;
  SmallVector<llvm::StringSet<>> kept;
  llvm::StringSet<> movedNames;
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

static bool isMovable(const llvm::Function &function) {
  return function.hasLocalLinkage() && !function.isDeclaration() &&
         function.hasFnAttribute(llvm::Attribute::NoInline) &&
         !function.hasAddressTaken();
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
    for (llvm::BasicBlock &block : *cast<llvm::Function>(closure[i]))
      for (llvm::Instruction &instruction : block)
        for (llvm::Value *operand : instruction.operands())
          if (auto *constant = dyn_cast<llvm::Constant>(operand))
            visitGlobals(constant, add);
  }
  return isClosed;
}

bool Division::choose() {
  uint64_t total = 0, movable = 0;
  SmallVector<std::pair<Closure, uint64_t>> found;
  for (llvm::Function &function : module) {
    uint64_t size = function.getInstructionCount();
    total += size;
    Closure closure;
    if (!isMovable(function) || !close(function, closure))
      continue;
    movable += size;
    found.emplace_back(std::move(closure), size);
  }
  // The main part keeps the rest, and is one of them.
  size_t parts =
      1 + std::min<uint64_t>(movable / kPartInstructions, kMaxParts - 1);
  if (parts == 1)
    return false;
  // The largest first, each to the part that has least.
  llvm::stable_sort(
      found, [](const auto &a, const auto &b) { return a.second > b.second; });
  SmallVector<uint64_t> load(parts);
  load[0] = total - movable;
  kept.resize(parts);
  for (auto &[closure, size] : found) {
    size_t part = std::distance(load.begin(), llvm::min_element(load));
    load[part] += size;
    auto *function = cast<llvm::Function>(closure.front());
    if (part != 0 || needed.contains(function))
      shared.push_back(function);
    if (part == 0)
      continue;
    moved.push_back(function);
    closures.emplace_back(std::move(closure), part);
  }
  return !moved.empty();
}

void Division::recordNames() {
  for (llvm::Function *function : moved)
    movedNames.insert(function->getName());
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

FailureOr<ModuleParts> ModuleParts::divide(LLVMModule whole, StringRef symbol,
                                           Location loc) {
  ModuleParts result;
  Division division(*whole.module);
  if (!division.choose()) {
    result.parts.push_back(std::move(whole));
    return result;
  }
  for (auto [k, function] : llvm::enumerate(division.getShared())) {
    function->setName(symbol + ".part" + std::to_string(k));
    function->setLinkage(llvm::GlobalValue::ExternalLinkage);
    function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  }
  unsigned number = 0;
  for (llvm::GlobalValue &global : whole.module->global_values())
    if (!global.hasName())
      global.setName(symbol + ".unnamed" + std::to_string(number++));
  // What a function that moved has in the main part too must not be external.
  division.recordNames();

  // Contexts cannot share code, so that it goes through LLVM's file format.
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream os(bitcode);
  llvm::WriteBitcodeToFile(*whole.module, os);
  llvm::MemoryBufferRef file(StringRef(bitcode.data(), bitcode.size()), symbol);
  for (size_t k = 0; k < division.getNumParts(); ++k) {
    LLVMModule part = LLVMModule::create();
    auto module = llvm::getLazyBitcodeModule(file, *part.context);
    llvm::Error error =
        module
            ? keepOnly(**module,
                       [&](StringRef name) { return division.holds(k, name); })
            : module.takeError();
    if (error)
      return emitError(loc, Diag::Internal) << "LLVM cannot read its own code: "
                                            << llvm::toString(std::move(error));
    part.module = std::move(*module);
    result.parts.push_back(std::move(part));
  }
  return result;
}

bool ModuleParts::usesGlobal(StringRef symbol) const {
  return llvm::any_of(parts, [&](const LLVMModule &part) {
    const llvm::GlobalVariable *global = part.module->getGlobalVariable(symbol);
    return global && !global->use_empty();
  });
}

//===----------------------------------------------------------------------===//
// Working on parts
//===----------------------------------------------------------------------===//

LogicalResult ModuleParts::forEach(
    const TargetOptions &options, Location loc,
    llvm::function_ref<bool(size_t, llvm::TargetMachine &)> work) {
  SmallVector<Machine> machines;
  for (size_t k = 0; k < parts.size(); ++k) {
    FailureOr<Machine> machine = createMachine(options, loc);
    if (failed(machine))
      return failure();
    machines.push_back(std::move(*machine));
  }
  SmallVector<char> done(parts.size(), false);
  auto run = [&](size_t k) { done[k] = work(k, *machines[k].llvm); };
  if (parts.size() == 1) {
    run(0);
  } else {
    llvm::DefaultThreadPool pool(llvm::hardware_concurrency(parts.size()));
    for (size_t k = 0; k < parts.size(); ++k)
      pool.async(run, k);
    pool.wait();
  }
  // In the order of the parts, whichever was first.
  LogicalResult result = success();
  for (auto [part, isDone] : llvm::zip_equal(parts, done)) {
    if (failed(part.report(loc)))
      return failure();
    if (!isDone)
      result = emitError(loc, Diag::CodeGeneration)
               << "LLVM writes no such files for target '"
               << part.module->getTargetTriple().str() << "'";
  }
  return result;
}

LogicalResult ModuleParts::optimize(const TargetOptions &options,
                                    Location loc) {
  return forEach(options, loc, [&](size_t k, llvm::TargetMachine &machine) {
    optimizeModule(*parts[k].module, machine, options.optLevel);
    return true;
  });
}

FailureOr<std::vector<ObjectBytes>>
ModuleParts::emitObjects(const TargetOptions &options, Location loc) {
  std::vector<ObjectBytes> objects(parts.size());
  if (failed(forEach(options, loc, [&](size_t k, llvm::TargetMachine &machine) {
        llvm::raw_svector_ostream os(objects[k]);
        return emitCode(*parts[k].module, machine,
                        llvm::CodeGenFileType::ObjectFile, os);
      })))
    return failure();
  return objects;
}
