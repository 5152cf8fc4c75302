//===- ParallelizeNests.cpp - Loop nests on the threads of a run ----------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-parallelize-nests: the outermost loops of a nest whose iterations do
// not depend on one another become a function of a range of iterations, which
// loopc_rt_parallel_for calls where the run has threads and the nest has work
// for them.
//
// That iterations are independent is said by who wrote the nest (Parallel.h).
// It is held against the code (IterationPlaces.h): the places that a nest
// writes to must tell the iteration, and no other iteration may read them. Sums
// are never split, so that what comes out is the same for every number of
// threads.
//
// A nest over a batch of an open extent may have one iteration, and then work
// for one thread. So the nests in its body are shared out, too, which happens
// where the nest around them is not.

#include "Contexts.h"
#include "IterationNumbers.h"
#include "WorkEmitter.h"
#include "loopc-rt/runtime.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Nest/Analysis/Cost.h"
#include "loopc/Dialect/Nest/Analysis/Independence.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Dialect/Nest/Transforms/Outlining.h"
#include "loopc/Dialect/Nest/Transforms/Passes.h"
#include "loopc/Dialect/RT/IR/RT.h"
#include "loopc/Dialect/RT/IR/TypeConversion.h"
#include "loopc/Dialect/RT/RuntimeFunctions.h"
#include "loopc/Support/IndexEmitter.h"
#include "loopc/Support/Remarks.h"
#include "loopc/Support/Walk.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Threading.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace loopc {
#define GEN_PASS_DEF_PARALLELIZENESTS
#include "loopc/Dialect/Nest/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Iterations enough to share: more loops are not put together with.
static constexpr int64_t kManyTrips = 64;
/// Trips of a loop of which nothing is known.
static constexpr double kGuessedTrips = 8;
/// Operations, as far as can be guessed, beside which a call does not count.
static constexpr double kCallWork = 4096;
/// The same of nests that are shared out where what is around them turns out to
/// have one iteration: code for another function is compiled.
static constexpr double kMinFunctionWork = 12 * kCallWork;
/// In a loop the threads are awake from the iteration before: so many times
/// less work pays.
static constexpr double kAwakeShare = 64;
/// The same of what comes once, behind other nests: the threads may be awake.
static constexpr double kLaterShare = 8;
/// Ends of pieces lie at multiples of so many elements, so that the same ones
/// are computed in vectors whatever the number of threads.
static constexpr int64_t kVectorGrain = 64;
/// Of memory that threads have their own of, in bytes.
static constexpr int64_t kAlignment = 64;

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// What work is counted by: what the nest computes is guessed, what it is given
/// is asked for.
static constexpr WorkRules makeRules() {
  WorkRules rules = kCpuWork;
  rules.guessedTrips = kGuessedTrips;
  return rules;
}

//===----------------------------------------------------------------------===//
// What can run in parallel
//===----------------------------------------------------------------------===//

/// The loop that is all of `loop`'s body, if it is of one size.
static scf::ForOp findOnlyLoop(scf::ForOp loop) {
  scf::ForOp only = findOnlyParallelLoop(loop);
  bool isFixed =
      only &&
      llvm::all_of(
          ArrayRef<Value>{only.getLowerBound(), only.getUpperBound(),
                          only.getStep()},
          [&](Value bound) { return loop.isDefinedOutsideOfLoop(bound); });
  return isFixed ? only : scf::ForOp();
}

//===----------------------------------------------------------------------===//
// The code
//===----------------------------------------------------------------------===//

/// `run` as what functions of C are given.
static Value castRun(ImplicitLocOpBuilder &b, Value run) {
  return UnrealizedConversionCastOp::create(
             b, LLVM::LLVMPointerType::get(b.getContext()), run)
      .getResult(0);
}

/// Whether `run` has more than one thread.
static Value hasThreads(ImplicitLocOpBuilder &b, ModuleOp module, Value run) {
  auto call = LLVM::CallOp::create(
      b, declareRuntimeFunction(module, "loopc_rt_num_threads"),
      castRun(b, run));
  Value one = arith::ConstantIntOp::create(b, b.getI32Type(), 1);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, call.getResult(),
                               one);
}

namespace {
/// What the whole module shares.
struct ParallelFunctions {
  ModuleOp module;
  rt::TypeConverter converter;
  LLVM::LLVMPointerType pointer;
  rt::RunType run;
  /// Functions that were made, so that equal nests share one: of pieces, and
  /// those that share them out.
  SharedFunctions functions;
  /// Functions of nests that may have one iteration, and whether no loop comes
  /// to any of these again and again.
  llvm::MapVector<func::FuncOp, bool> ofOne;
  /// What is called for a piece, by its function.
  llvm::DenseMap<Operation *, LLVM::LLVMFuncOp> thunks;

  explicit ParallelFunctions(ModuleOp module)
      : module(module), converter(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())),
        run(rt::RunType::get(module.getContext())), functions(module) {}
};

/// Rewrites one nest.
class NestParallelizer : IndexEmitter {
public:
  NestParallelizer(ParallelFunctions &shared, scf::ForOp nest, Value threads,
                   bool isPieceOfOnce, double minWork, double minPiece)
      : IndexEmitter(nest.getLoc(), nest.getContext()), shared(shared),
        nest(nest), threads(threads),
        isInLoop(nest->getParentOfType<LoopLikeOpInterface>() != nullptr),
        isOnce(!isInLoop || (isPieceOfOnce &&
                             !nest->getParentOfType<LoopLikeOpInterface>()
                                  ->getParentOfType<LoopLikeOpInterface>())),
        largeWork(minWork),
        minWork(minWork / (isInLoop ? kAwakeShare : kLaterShare)),
        minPiece(minPiece / (isInLoop ? kAwakeShare : kLaterShare)),
        estimate(nest, makeRules()), work(estimate.of(nest)) {
    work.known += countStreaming(nest);
  }

  /// Looks at the nest. False where there is too little work, whatever the run
  /// brings, or where the nest would have to be there twice and `mayBeTwice` is
  /// not set. This and makeBody() change no code that is there, so that they
  /// may be done for several nests at the same time.
  bool analyze(bool isOneOfMany, bool mayBeTwice);
  /// Makes the numbers of iterations in front of the nest.
  void countAllTrips();
  /// Makes the function of a range of iterations.
  void makeBody();
  /// Puts what shares the nest out in its place.
  void finish();
  Location getLoc() { return nest.getLoc(); }

private:
  void collectLoops();
  bool mayBeOne() const;
  bool isOfNests();
  Value countTrips(scf::ForOp loop);
  func::FuncOp makeFunction(const Twine &suffix, TypeRange arguments,
                            Type result);
  LLVM::LLVMFuncOp makeThunk(func::FuncOp body);
  func::FuncOp makeSharer(func::FuncOp body, bool asksForThreads);
  func::FuncOp makeTrial(func::FuncOp body);
  void shareOrCall(func::FuncOp body, func::FuncOp sharer, Value count,
                   bool asksForThreads);
  void shareOrStay(func::FuncOp trial, Value count);
  Value makeFlag(bool value) {
    return arith::ConstantOp::create(b, b.getBoolAttr(value));
  }
  IRMapping beginFunction(func::FuncOp made);
  Value describe(Value found);
  Value tryToShare(func::FuncOp body, bool asksForThreads,
                   const IRMapping &mapping, ValueRange given);
  void fillIteration(size_t k, Value number, IRMapping &mapping);
  void fillPiece(Value begin, Value end, IRMapping &mapping);
  void makePrivateMemory(IRMapping &mapping);
  void dropPrivateMemory();
  template <typename Make> Value makeWhere(Value condition, Make make);
  Value isEnough(Value work, double least);
  Value chooseGrain(const IRMapping &mapping);
  LLVM::CallOp callInParallel(StringRef function, func::FuncOp body,
                              Value grain, ValueRange given,
                              Value description = {});
  bool isKnown() const { return work.open.empty(); }

  Value toLLVM(Value value) {
    Type type = shared.converter.convertType(value.getType());
    if (type == value.getType())
      return value;
    return UnrealizedConversionCastOp::create(b, type, value).getResult(0);
  }
  Value run() { return rt::findRun(nestFunction()); }
  /// The run in a function that is made.
  Value runOfFunction() { return b.getInsertionBlock()->getArgument(0); }
  func::FuncOp nestFunction() { return nest->getParentOfType<func::FuncOp>(); }

  ParallelFunctions &shared;
  scf::ForOp nest;
  Value threads;
  bool isInLoop;
  bool isOnce;      ///< no loop comes to it again and again
  double largeWork; ///< from which on it pays to have threads
  double minWork;   ///< from which on they pay here
  double minPiece;
  WorkEstimate estimate;
  Work work; ///< of the nest
  /// The loops that are shared out, put together as one.
  SmallVector<scf::ForOp> loops;
  SmallVector<Value> trips; ///< of each
  Value total;              ///< of all
  SmallVector<Value> captures;
  SmallVector<Operation *> constants;
  /// What each thread has its own of.
  SmallVector<Value> privates;
  bool canFail = false;
  /// The code asks for threads at the nest, as a call beside it is nothing.
  bool asksForThreads = false;
  /// It runs so long, or so seldom, that a call is nothing where a loop is
  /// around it.
  bool outweighsCall = false;
  /// Of a range of iterations; in no module until all nests are prepared.
  func::FuncOp body;
};
} // namespace

void NestParallelizer::collectLoops() {
  loops = {nest};
  auto isEnough = [](scf::ForOp loop) {
    std::optional<APInt> count = loop.getStaticTripCount();
    return count && count->sge(kManyTrips);
  };
  while (!isEnough(loops.back())) {
    scf::ForOp inner = findOnlyLoop(loops.back());
    if (!inner ||
        !llvm::all_of(
            ArrayRef<Value>{inner.getLowerBound(), inner.getUpperBound(),
                            inner.getStep()},
            [&](Value bound) { return nest.isDefinedOutsideOfLoop(bound); }))
      break;
    // Elements one behind the other stay in one loop for LLVM. Of what is
    // put together with the nest no two iterations may go to one place either.
    if (isOfScalars(inner) || !findParallelObstacle(inner).empty())
      break;
    loops.push_back(inner);
  }
}

/// Whether the loops that are shared out may have one iteration together, or
/// there may be fewer of them than threads.
bool NestParallelizer::mayBeOne() const {
  return findSections(nest) || llvm::all_of(loops, [](scf::ForOp loop) {
           std::optional<APInt> count = loop.getStaticTripCount();
           return !count || count->isOne();
         });
}

Value NestParallelizer::countTrips(scf::ForOp loop) {
  Value size =
      b.createOrFold<arith::SubIOp>(loop.getUpperBound(), loop.getLowerBound());
  size = b.createOrFold<arith::MaxSIOp>(size, index(0));
  return b.createOrFold<arith::CeilDivUIOp>(size, loop.getStep());
}

/// Iteration `number` of loop `k`, but for the next of the loops in it.
void NestParallelizer::fillIteration(size_t k, Value number,
                                     IRMapping &mapping) {
  scf::ForOp loop = loops[k];
  Value step = mapping.lookupOrDefault(loop.getStep());
  Value at = b.createOrFold<arith::MulIOp>(number, step);
  at = b.createOrFold<arith::AddIOp>(
      at, mapping.lookupOrDefault(loop.getLowerBound()));
  mapping.map(loop.getInductionVar(), at);
  for (Operation &op : loop.getBody()->without_terminator())
    if (k + 1 == loops.size() || &op != loops[k + 1])
      b.clone(op, mapping);
}

/// The iterations from `begin` to `end` of all the loops together. To divide by
/// constants is a multiplication; by other numbers it takes longer than a short
/// row, and the loops count on from where they begin.
void NestParallelizer::fillPiece(Value begin, Value end, IRMapping &mapping) {
  bool areKnown = llvm::all_of(ArrayRef(trips).drop_front(), [](Value count) {
    return getConstantIntValue(count).has_value();
  });
  // The count of the outermost loop is not asked for. What has no iterations is
  // not divided by.
  SmallVector<Value> counts{Value()};
  for (Value count : ArrayRef(trips).drop_front())
    counts.push_back(b.createOrFold<arith::MaxUIOp>(
        mapping.lookupOrDefault(count), index(1)));
  SmallVector<Value> start;
  if (!areKnown)
    start = splitNumber(b, begin, counts);
  auto all = scf::ForOp::create(b, begin, end, index(1), start);
  if (Attribute how = loops.back()->getAttr("llvm.loop_annotation"))
    all->setAttr("llvm.loop_annotation", how);
  b.setInsertionPointToStart(all.getBody());
  SmallVector<Value> numbers(all.getRegionIterArgs());
  if (areKnown) {
    numbers = splitNumber(b, all.getInductionVar(), counts);
  } else {
    scf::YieldOp::create(b, countOn(b, numbers, counts));
    b.setInsertionPointToStart(all.getBody());
  }
  for (auto [k, number] : llvm::enumerate(numbers))
    fillIteration(k, number, mapping);
}

/// A function of `arguments` and the captures.
func::FuncOp NestParallelizer::makeFunction(const Twine &suffix,
                                            TypeRange arguments, Type result) {
  SmallVector<Type> types(arguments);
  llvm::append_range(types, ValueRange(captures).getTypes());
  func::FuncOp made = makePrivateFunction(
      b.getLoc(), nestFunction().getName() + suffix,
      b.getFunctionType(types, result ? TypeRange(result) : TypeRange()));
  made.addEntryBlock();
  return made;
}

/// What the nest writes and only then reads, on the stack of the thread.
void NestParallelizer::makePrivateMemory(IRMapping &mapping) {
  for (Value buffer : privates) {
    auto alloca = memref::AllocaOp::create(
        b, cast<MemRefType>(buffer.getType()), b.getI64IntegerAttr(kAlignment));
    // Nests within may be shared out in turn.
    alloca->setAttr(kPrivateAttrName, b.getUnitAttr());
    mapping.map(buffer, alloca.getResult());
  }
}

/// Frees what nobody uses now that the nest is a function.
void NestParallelizer::dropPrivateMemory() {
  for (Value buffer : privates) {
    if (!llvm::all_of(buffer.getUsers(), llvm::IsaPred<memref::DeallocOp>))
      continue;
    for (Operation *user : llvm::make_early_inc_range(buffer.getUsers()))
      user->erase();
    buffer.getDefiningOp()->erase();
  }
}

/// func(run, begin, end, captures...) -> status.
void NestParallelizer::makeBody() {
  Captures found;
  found.addAll(nest.getOperation());
  // What the number of an iteration is divided by.
  for (Value count : ArrayRef(trips).drop_front())
    found.add(count);
  nest->walk([&](Operation *op) {
    if (Value buffer = findWrittenPrivately(op, nest);
        buffer && found.values.remove(buffer))
      privates.push_back(buffer);
  });
  captures.assign(found.values.begin(), found.values.end());
  constants.assign(found.constants.begin(), found.constants.end());
  Type index = b.getIndexType();
  func::FuncOp made =
      makeFunction("_parallel", {shared.run, index, index}, b.getI32Type());
  // Bodies are made side by side.
  ViewedBuffers buffers;
  markPrivateMemory(made, /*first=*/3, captures, nest.getOperation(), buffers);
  Block *entry = &made.getBody().front();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(entry);
  IRMapping mapping;
  mapping.map(captures, entry->getArguments().drop_front(3));
  for (Operation *constant : constants)
    b.clone(*constant, mapping);
  makePrivateMemory(mapping);
  Value ok = arith::ConstantIntOp::create(b, b.getI32Type(), 0);
  auto end = func::ReturnOp::create(b, ok);
  b.setInsertionPoint(end);
  fillPiece(entry->getArgument(1), entry->getArgument(2), mapping);
  // A section has the steps of a loop of the model.
  if (!findSections(nest))
    disableRuntimeUnrolling(made);
  body = made;
}

/// What loopc_rt_parallel_for calls: void(context, begin, end).
LLVM::LLVMFuncOp NestParallelizer::makeThunk(func::FuncOp body) {
  LLVM::LLVMFuncOp &made = shared.thunks[body];
  if (made)
    return made;
  std::string name = (body.getName() + "_piece").str();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(shared.module.getBody());
  Type none = LLVM::LLVMVoidType::get(b.getContext()), i64 = b.getI64Type();
  made = LLVM::LLVMFuncOp::create(
      b, name, LLVM::LLVMFunctionType::get(none, {shared.pointer, i64, i64}),
      LLVM::Linkage::Internal);
  Block *entry = made.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  TypeRange types = body.getFunctionType().getInputs();
  auto context =
      getContextType(shared.converter, shared.pointer, types.drop_front(3));
  SmallVector<Value> arguments;
  auto cast = [&](Value value, Type type) {
    return value.getType() == type
               ? value
               : UnrealizedConversionCastOp::create(b, type, value)
                     .getResult(0);
  };
  for (auto [k, type] : llvm::enumerate(context.getBody())) {
    Value place =
        LLVM::GEPOp::create(b, shared.pointer, context, entry->getArgument(0),
                            ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(k)});
    Value value = LLVM::LoadOp::create(b, type, place);
    if (k && isKnownButForPlace(types[k + 2]))
      value = MemRefDescriptor::fromStaticShape(
          b, b.getLoc(), shared.converter, llvm::cast<MemRefType>(types[k + 2]),
          value);
    arguments.push_back(cast(value, types[k ? k + 2 : 0]));
    if (k == 0)
      for (unsigned bound : {1, 2})
        arguments.push_back(cast(entry->getArgument(bound), b.getIndexType()));
  }
  func::CallOp::create(b, body, arguments);
  LLVM::ReturnOp::create(b, ValueRange());
  return made;
}

/// Whether `work` is so much.
Value NestParallelizer::isEnough(Value work, double least) {
  Value number = arith::ConstantOp::create(b, b.getF64FloatAttr(least));
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, work, number);
}

/// Iterations that are worth a piece.
Value NestParallelizer::chooseGrain(const IRMapping &mapping) {
  WorkEmitter emitter(b, estimate, mapping);
  Value each = emitter.emit(estimate.ofIteration(loops.back()));
  // Neither is without a number or a sign: one instruction.
  auto larger = [&](Value x, double y) {
    return arith::MaximumFOp::create(b, x, emitter.makeFloat(y),
                                     arith::FastMathFlags::nnan |
                                         arith::FastMathFlags::nsz);
  };
  Value pieces = arith::DivFOp::create(b, emitter.makeFloat(minPiece),
                                       larger(each, 1 / kCpuWork.lanes));
  Value grain = arith::FPToSIOp::create(b, b.getI64Type(), larger(pieces, 1));
  if (!isOfScalars(loops.back()))
    return grain;
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, b.getI64Type(), value);
  };
  static_assert(llvm::isPowerOf2_64(kVectorGrain));
  return arith::AndIOp::create(
      b, arith::AddIOp::create(b, grain, number(kVectorGrain - 1)),
      number(-kVectorGrain));
}

/// Calls `function` of the runtime; `given` are the run, the number of
/// iterations and the captures.
LLVM::CallOp NestParallelizer::callInParallel(StringRef function,
                                              func::FuncOp body, Value grain,
                                              ValueRange given,
                                              Value description) {
  auto context = getContextType(shared.converter, shared.pointer,
                                ValueRange(captures).getTypes());
  Value place;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(given[0].getParentBlock());
    Value one = LLVM::ConstantOp::create(b, b.getI64Type(), int64_t(1));
    place = LLVM::AllocaOp::create(b, shared.pointer, context, one);
  }
  Value run = castRun(b, given[0]);
  SmallVector<Value> values{run};
  llvm::append_range(values, given.drop_front(2));
  for (auto [k, value] : llvm::enumerate(values)) {
    Value field =
        LLVM::GEPOp::create(b, shared.pointer, context, place,
                            ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(k)});
    Value llvmValue = toLLVM(value);
    if (isKnownButForPlace(value.getType()))
      llvmValue = MemRefDescriptor(llvmValue).alignedPtr(b, b.getLoc());
    LLVM::StoreOp::create(b, llvmValue, field);
  }
  LLVM::LLVMFuncOp callee = declareRuntimeFunction(shared.module, function);
  Value thunk = LLVM::AddressOfOp::create(b, makeThunk(body));
  SmallVector<Value> arguments{run, toLLVM(given[1]), grain, thunk, place};
  if (description)
    arguments.push_back(description);
  return LLVM::CallOp::create(b, callee, arguments);
}

/// Whether sections have nests that may be shared out instead of them.
bool NestParallelizer::isOfNests() {
  auto outweighsThreads = [&](scf::ForOp inner) {
    Work found = estimate.of(inner);
    return inner->hasAttr(kParallelAttrName) &&
           (!found.open.empty() || found.known >= largeWork / kAwakeShare);
  };
  return findSections(nest) && anyNested(nest.getBody(), outweighsThreads);
}

/// What the runtime is told of the nest, a sum of loopc_rt_nest, with the work
/// that was `found`; null where it is known.
Value NestParallelizer::describe(Value found) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, b.getI32Type(), value);
  };
  int64_t rest = (isOnce ? LOOPC_RT_NEST_ONCE : 0) |
                 (isOfNests() ? LOOPC_RT_NEST_OF_NESTS : 0);
  Value small = number(rest), large = number(rest | LOOPC_RT_NEST_LARGE);
  if (!found)
    return work.known >= largeWork ? large : small;
  return arith::SelectOp::create(b, isEnough(found, largeWork), large, small);
}

/// What `make` makes, a flag, where `condition` holds; else false.
template <typename Make>
Value NestParallelizer::makeWhere(Value condition, Make make) {
  auto branch = scf::IfOp::create(b, b.getI1Type(), condition,
                                  /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, make());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, makeFlag(false));
  return branch.getResult(0);
}

/// Shares the body out where that pays, and where the run has not
/// seen that one thread is faster. \returns whether it did; else nothing was
/// computed.
Value NestParallelizer::tryToShare(func::FuncOp body, bool asksForThreads,
                                   const IRMapping &mapping, ValueRange given) {
  auto tryIt = [&](Value found) -> Value {
    Value description = describe(found);
    LLVM::CallOp call =
        callInParallel("loopc_rt_try_parallel_for", body, chooseGrain(mapping),
                       given, description);
    Value none = arith::ConstantIntOp::create(b, b.getI32Type(), 0);
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, call.getResult(),
                                 none);
  };
  auto tryWhereEnough = [&]() -> Value {
    if (isKnown())
      return tryIt(Value());
    // What it is made of is there for the size of pieces, too.
    Value found = WorkEmitter(b, estimate, mapping).emit(work);
    return makeWhere(isEnough(found, minWork), [&] { return tryIt(found); });
  };
  if (!asksForThreads)
    return tryWhereEnough();
  return makeWhere(hasThreads(b, shared.module, runOfFunction()),
                   tryWhereEnough);
}

/// The code of `made` begins, with what the nest captures.
IRMapping NestParallelizer::beginFunction(func::FuncOp made) {
  Block *entry = &made.getBody().front();
  b.setInsertionPointToStart(entry);
  IRMapping mapping;
  mapping.map(captures, entry->getArguments().drop_front(2));
  for (Operation *constant : constants)
    b.clone(*constant, mapping);
  return mapping;
}

/// func(run, iterations, captures...), or one that is there: shares the body
/// out where it has work for threads, and else calls it. A function, as each
/// place that shares a nest out would have this code.
func::FuncOp NestParallelizer::makeSharer(func::FuncOp body,
                                          bool asksForThreads) {
  func::FuncOp made =
      makeFunction("_shared", {shared.run, b.getIndexType()}, {});
  OpBuilder::InsertionGuard guard(b);
  IRMapping mapping = beginFunction(made);
  Block *entry = b.getInsertionBlock();
  auto callBody = [&] {
    SmallVector<Value> all{entry->getArgument(0), index(0)};
    llvm::append_range(all, entry->getArguments().drop_front());
    func::CallOp::create(b, body, all);
  };
  if (!isKnown() || work.known < largeWork || !isOnce || isOfNests()) {
    Value isDone =
        tryToShare(body, asksForThreads, mapping, entry->getArguments());
    auto left = scf::IfOp::create(
        b, arith::XOrIOp::create(b, isDone, makeFlag(true)).getResult());
    b.setInsertionPointToStart(left.thenBlock());
    callBody();
  } else {
    if (asksForThreads) {
      auto branch = scf::IfOp::create(
          b, hasThreads(b, shared.module, runOfFunction()), /*withElse=*/true);
      b.setInsertionPointToStart(branch.elseBlock());
      callBody();
      b.setInsertionPointToStart(branch.thenBlock());
    }
    callInParallel("loopc_rt_parallel_for", body, chooseGrain(mapping),
                   entry->getArguments());
  }
  b.setInsertionPointToEnd(entry);
  func::ReturnOp::create(b);
  return shared.functions.add(made);
}

/// func(run, iterations, captures...) -> i1, or one that is there: true if it
/// has shared the body out; else the caller computes the nest.
func::FuncOp NestParallelizer::makeTrial(func::FuncOp body) {
  func::FuncOp made =
      makeFunction("_tried", {shared.run, b.getIndexType()}, b.getI1Type());
  OpBuilder::InsertionGuard guard(b);
  IRMapping mapping = beginFunction(made);
  Block *entry = b.getInsertionBlock();
  func::ReturnOp::create(b, tryToShare(body, /*asksForThreads=*/false, mapping,
                                       entry->getArguments()));
  return shared.functions.add(made);
}

bool NestParallelizer::analyze(bool isOneOfMany, bool mayBeTwice) {
  if (isKnown() && work.known < minWork)
    return false;
  nest.walk([&](Operation *op) {
    canFail |= isa<loop::CheckOp, loop::PollOp, memref::AllocOp>(op);
  });
  outweighsCall = isKnown() || work.getTotal(kGuessedTrips) >= kCallWork ||
                  fillsNewMemory(nest);
  // In a small iteration the code knows whether there are threads.
  asksForThreads = !isInLoop || isOneOfMany;
  if (!mayBeTwice && !isKnown() &&
      work.getTotal(kGuessedTrips) < kMinFunctionWork)
    return false;
  collectLoops();
  return true;
}

void NestParallelizer::countAllTrips() {
  b.setInsertionPoint(nest);
  for (scf::ForOp loop : loops) {
    trips.push_back(countTrips(loop));
    total = total ? b.createOrFold<arith::MulIOp>(total, trips.back())
                  : trips.back();
  }
}

void NestParallelizer::finish() {
  body = shared.functions.add(body);
  if (mayBeOne())
    shared.ofOne.insert({body, true}).first->second &= outweighsCall;
  b.setInsertionPoint(nest);
  if (asksForThreads || outweighsCall) {
    func::FuncOp sharer = makeSharer(body, asksForThreads);
    shareOrCall(body, sharer, total, asksForThreads);
    nest.erase();
    dropPrivateMemory();
  } else {
    shareOrStay(makeTrial(body), total);
  }
}

/// In front of the nest what takes its place: so much work, or so seldom, that
/// a call is nothing. The code is there once.
void NestParallelizer::shareOrCall(func::FuncOp body, func::FuncOp sharer,
                                   Value count, bool asksForThreads) {
  SmallVector<Value> arguments{run(), count};
  llvm::append_range(arguments, captures);
  if (asksForThreads) {
    func::CallOp::create(b, sharer, arguments);
    loop::PollOp::create(b);
    return;
  }
  auto branch = scf::IfOp::create(b, TypeRange(), threads, /*withElse=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  func::CallOp::create(b, sharer, arguments);
  // Errors of the pieces, and the end of the run.
  loop::PollOp::create(b);
  b.setInsertionPointToStart(branch.elseBlock());
  arguments.insert(arguments.begin() + 1, index(0));
  func::CallOp::create(b, body, arguments);
  if (canFail)
    loop::PollOp::create(b);
}

/// The nest stays, for where it is not shared out: a call would count.
void NestParallelizer::shareOrStay(func::FuncOp trial, Value count) {
  SmallVector<Value> arguments{run(), count};
  llvm::append_range(arguments, captures);
  auto tried = scf::IfOp::create(b, b.getI1Type(), threads, /*withElse=*/true);
  Value isLeft = arith::XOrIOp::create(b, tried.getResult(0), makeFlag(true));
  auto left = scf::IfOp::create(b, isLeft);
  nest->moveBefore(left.thenBlock()->getTerminator());
  b.setInsertionPointToStart(tried.elseBlock());
  scf::YieldOp::create(b, makeFlag(false));
  b.setInsertionPointToStart(tried.thenBlock());
  Value isDone = func::CallOp::create(b, trial, arguments).getResult(0);
  // Errors of the pieces, and the end of the run.
  loop::PollOp::create(b);
  scf::YieldOp::create(b, isDone);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct ParallelizeNests : loopc::impl::ParallelizeNestsBase<ParallelizeNests> {
  using ParallelizeNestsBase::ParallelizeNestsBase;

  void runOnOperation() override {
    ParallelFunctions shared(getOperation());
    SmallVector<func::FuncOp> present(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : present)
      parallelize(shared, function, /*isPieceOfOnce=*/false,
                  /*mayBeTwice=*/!compact);
    // At the end: until then a function may be found to be equal.
    for (unsigned k = 0; k < shared.ofOne.size(); ++k) {
      auto [function, isPieceOfOnce] = *(shared.ofOne.begin() + k);
      parallelize(shared, function, isPieceOfOnce, /*mayBeTwice=*/false);
    }
  }

  void parallelize(ParallelFunctions &shared, func::FuncOp function,
                   bool isPieceOfOnce, bool mayBeTwice) {
    // Threads come from the run.
    if (!rt::findRun(function))
      return;
    SmallVector<scf::ForOp> nests = collectParallelNests(function);
    if (nests.empty())
      return;
    auto [asked, threads] = askForThreads(shared, function);
    auto longLoops = findLongLoops(function, longLoop);
    llvm::for_each(nests, hoistBounds);
    std::vector<std::unique_ptr<NestParallelizer>> found(nests.size());
    auto analyze = [&, threads = threads](size_t k) {
      scf::ForOp nest = nests[k];
      bool isOneOfMany = longLoops.contains(
          nest->getParentOfType<LoopLikeOpInterface>().getOperation());
      found[k] = std::make_unique<NestParallelizer>(
          shared, nest, threads, isPieceOfOnce, minWork, minPiece);
      if (!found[k]->analyze(isOneOfMany, mayBeTwice))
        found[k] = nullptr;
    };
    parallelFor(&getContext(), 0, nests.size(), analyze);
    llvm::erase(found, nullptr);
    for (auto &nest : found)
      nest->countAllTrips();
    parallelForEach(&getContext(), found, [](auto &nest) { nest->makeBody(); });
    for (auto &nest : found) {
      remarkDone(nest->getLoc(), "Parallelize",
                 "its iterations run on the threads of the run");
      nest->finish();
      ++numParallel;
    }
    if (threads.use_empty()) {
      threads.getDefiningOp()->erase();
      asked->erase();
    }
  }

  /// Whether the run has more than one thread, asked once.
  std::pair<Operation *, Value> askForThreads(ParallelFunctions &shared,
                                              func::FuncOp function) {
    auto b = ImplicitLocOpBuilder::atBlockBegin(function.getLoc(),
                                                &function.getBody().front());
    Value many = hasThreads(b, shared.module, rt::findRun(function));
    return {many.getDefiningOp()->getOperand(0).getDefiningOp(), many};
  }
};
} // namespace
