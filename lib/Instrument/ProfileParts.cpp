//===- ProfileParts.cpp - Parts of a model that are measured --------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-profile-parts: calls of the runtime behind what a node has become, and
// around loops of the model.
//
// Time is read once for each part: what passes between two calls belongs to the
// part that the second one names. What a call would take a noticeable share of
// has none of its own.

#include "loopc/Dialect/Nest/Analysis/Cost.h"
#include "loopc/Dialect/Nest/IR/Iterations.h"
#include "loopc/Dialect/RT/IR/RT.h"
#include "loopc/Dialect/RT/RuntimeFunctions.h"
#include "loopc/Instrument/Passes.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/Walk.h"
#include "loopc/Target/ModelInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/xxhash.h"

namespace loopc {
#define GEN_PASS_DEF_PROFILEPARTS
#include "loopc/Instrument/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Simple instructions beside which reading the time does not count: a part has
/// at least so many. In a loop few iterations are measured where they are
/// short.
static constexpr double kPartWork = 256, kNestedPartWork = 64;
/// Of an iteration, beside which the question whether it is measured does not
/// count.
static constexpr double kIterationWork = 512;
/// Trips of a loop of which nothing is known.
static constexpr double kGuessedTrips = 8;

static double guessWork(Operation *op) {
  Work work = WorkEstimate(op, kCpuWork).of(op);
  return work.isUnbounded ? std::numeric_limits<double>::infinity()
                          : work.getTotal(kGuessedTrips);
}

/// The block that a loop runs once for each iteration.
static Block *findBody(Operation *loop) {
  if (auto counted = dyn_cast<scf::ForOp>(loop))
    return counted.getBody();
  return cast<scf::WhileOp>(loop).getAfterBody();
}

static bool hasIterations(Operation *op, StringRef which) {
  auto attr = op->getAttrOfType<StringAttr>(kIterationsAttrName);
  return attr && attr.getValue() == which && isa<scf::ForOp, scf::WhileOp>(op);
}

/// True for a loop whose iterations take long enough to be told apart.
static bool hasLongIterations(Operation *op) {
  if (!hasIterations(op, kEachIteration))
    return false;
  double work = 0;
  for (Operation &inner : findBody(op)->without_terminator())
    work += guessWork(&inner);
  return work >= kIterationWork;
}

/// True where such a loop is in `op`.
static bool holdsLoop(Operation *op) {
  return anyNested(op, [&](Operation *inner) {
    return inner != op && hasLongIterations(inner);
  });
}

namespace {
/// Measures the parts of one function.
class Profiler {
public:
  explicit Profiler(func::FuncOp function)
      : function(function), module(function->getParentOfType<ModuleOp>()),
        b(function.getLoc(), function.getContext()) {}

  void run();
  unsigned getNumParts() const { return parts.size() / 2; }

private:
  static constexpr int32_t kNone = -1;

  int32_t addPart(Location loc, int32_t loop, bool isLoop);
  int64_t makeKey() const;
  void visit(Block &block, int32_t loop, Value active);
  void visitLoop(Operation *op, int32_t loop, Value active);
  void visitIterations(Operation *op, int32_t part, Value active);
  void emitCall(StringRef callee, ArrayRef<int32_t> numbers, Value active);
  Value emitQuestion(StringRef callee, ArrayRef<Value> arguments);
  Value makeTable(StringRef name, Type type, Attribute value);
  Value number(int32_t value) {
    return arith::ConstantIntOp::create(b, b.getI32Type(), value);
  }
  /// The run as functions of C are given it.
  Value makeRun() {
    return UnrealizedConversionCastOp::create(
               b, LLVM::LLVMPointerType::get(b.getContext()),
               rt::findRun(function))
        .getResult(0);
  }

  func::FuncOp function;
  ModuleOp module;
  ImplicitLocOpBuilder b;
  std::string names;
  /// For each part the loop around it, and where its name begins.
  SmallVector<int32_t> parts;
  /// Parts of one name and loop are one, but for what moved out of a loop and
  /// the loop.
  std::map<std::tuple<std::string, int32_t, bool>, int32_t> numbers;
};
} // namespace

int32_t Profiler::addPart(Location loc, int32_t loop, bool isLoop) {
  // What follows a zero would be read as the next name.
  std::string name = locationPath(loc).c_str();
  auto [it, isNew] = numbers.try_emplace({name, loop, isLoop},
                                         static_cast<int32_t>(getNumParts()));
  if (isNew) {
    parts.append({loop, static_cast<int32_t>(names.size())});
    names += name;
    names.push_back('\0');
  }
  return it->second;
}

/// A hash of both tables, by which a reader knows the parts again; not 0.
int64_t Profiler::makeKey() const {
  std::string tables = names;
  tables.append(reinterpret_cast<const char *>(parts.data()),
                parts.size() * sizeof(int32_t));
  return static_cast<int64_t>(llvm::xxh3_64bits(tables) | 1);
}

/// A call that answers with a number; whether that is not 0.
Value Profiler::emitQuestion(StringRef callee, ArrayRef<Value> arguments) {
  SmallVector<Value> all{makeRun()};
  llvm::append_range(all, arguments);
  auto call =
      LLVM::CallOp::create(b, declareRuntimeFunction(module, callee), all);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, call.getResult(),
                               number(0));
}

/// A call with the run and these numbers, where it is measured.
void Profiler::emitCall(StringRef callee, ArrayRef<int32_t> numbers,
                        Value active) {
  auto branch = scf::IfOp::create(b, active, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> arguments{makeRun()};
  for (int32_t one : numbers)
    arguments.push_back(number(one));
  LLVM::CallOp::create(b, declareRuntimeFunction(module, callee), arguments);
}

void Profiler::visitIterations(Operation *op, int32_t part, Value active) {
  Block *body = findBody(op);
  b.setInsertionPointToStart(body);
  auto asked = scf::IfOp::create(b, b.getI1Type(), active, true);
  b.setInsertionPointToStart(asked.thenBlock());
  scf::YieldOp::create(
      b, emitQuestion("loopc_rt_profile_iteration", number(part)));
  b.setInsertionPointToStart(asked.elseBlock());
  scf::YieldOp::create(
      b, ValueRange{arith::ConstantIntOp::create(b, b.getI1Type(), 0)});
  Value measured = asked.getResult(0);
  visit(*body, part, measured);
  b.setInsertionPoint(body->getTerminator());
  emitCall("loopc_rt_profile_next", part, measured);
}

void Profiler::visitLoop(Operation *op, int32_t loop, Value active) {
  int32_t part = addPart(op->getLoc(), loop, /*isLoop=*/true);
  b.setInsertionPoint(op);
  emitCall("loopc_rt_profile_enter", part, active);
  if (hasIterations(op, kStrips))
    findBody(op)->walk([&](Operation *inner) {
      if (!hasLongIterations(inner))
        return WalkResult::advance();
      visitIterations(inner, part, active);
      return WalkResult::interrupt();
    });
  else
    visitIterations(op, part, active);
  b.setInsertionPointAfter(op);
  emitCall("loopc_rt_profile_leave", part, active);
}

void Profiler::visit(Block &block, int32_t loop, Value active) {
  double leastWork = loop == kNone ? kPartWork : kNestedPartWork;
  // What the next call will be about: the last operation of a part, so far.
  Operation *last = nullptr;
  llvm::SmallDenseSet<int32_t> seen;
  auto mark = [&] {
    if (!last)
      return;
    b.setInsertionPointAfter(last);
    int32_t part = addPart(last->getLoc(), loop, /*isLoop=*/false);
    emitCall("loopc_rt_profile_mark", {part, seen.insert(part).second}, active);
    last = nullptr;
  };
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    if (active.getParentBlock() != &block ||
        active.getDefiningOp()->isBeforeInBlock(&op))
      ops.push_back(&op);
  for (Operation *op : ops) {
    b.setLoc(op->getLoc());
    bool isStrips = hasIterations(op, kStrips) && holdsLoop(op);
    if (isStrips || hasLongIterations(op)) {
      mark();
      visitLoop(op, loop, active);
    } else if (holdsLoop(op)) {
      mark();
      for (Region &region : op->getRegions())
        for (Block &inner : region)
          visit(inner, loop, active);
    } else if (op->getLoc() != function.getLoc() &&
               guessWork(op) >= leastWork) {
      // What is the function's own, as the question how many threads there
      // are, belongs to no node.
      if (last && locationPath(last->getLoc()) != locationPath(op->getLoc()))
        mark();
      last = op;
    }
  }
  mark();
}

Value Profiler::makeTable(StringRef name, Type type, Attribute value) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  auto table = LLVM::GlobalOp::create(b, type, /*isConstant=*/true,
                                      LLVM::Linkage::Private, name, value);
  b.setInsertionPointToStart(&function.getBody().front());
  return LLVM::AddressOfOp::create(b, table);
}

void Profiler::run() {
  // The tables are known last, and the question comes first.
  Block &entry = function.getBody().front();
  b.setInsertionPointToStart(&entry);
  auto placeholder = arith::ConstantIntOp::create(b, b.getI1Type(), 0);
  visit(entry, kNone, placeholder);
  b.setLoc(function.getLoc());
  auto chars = LLVM::LLVMArrayType::get(b.getI8Type(), names.size());
  auto words = LLVM::LLVMArrayType::get(b.getI32Type(), parts.size());
  Value partTable =
      makeTable("loopc_profile_parts", words, b.getI32TensorAttr(parts));
  Value nameTable =
      makeTable("loopc_profile_names", chars, b.getStringAttr(names));
  b.setInsertionPoint(placeholder);
  nameTable.getDefiningOp()->moveBefore(placeholder);
  partTable.getDefiningOp()->moveBefore(placeholder);
  Value key = arith::ConstantIntOp::create(b, b.getI64Type(), makeKey());
  Value active =
      emitQuestion("loopc_rt_profile_begin",
                   {nameTable, partTable, number(getNumParts()), key});
  placeholder.replaceAllUsesWith(active);
  placeholder.erase();
}

namespace {
struct ProfileParts : loopc::impl::ProfilePartsBase<ProfileParts> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    module->setAttr(kProfiledAttr, UnitAttr::get(&getContext()));
    auto function = module.lookupSymbol<func::FuncOp>(kEntryName);
    if (!function || !rt::findRun(function))
      return;
    Profiler profiler(function);
    profiler.run();
    numParts += profiler.getNumParts();
  }
};
} // namespace
