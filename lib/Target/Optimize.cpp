//===- Optimize.cpp - Which of LLVM's passes run --------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// loopc's own passes have made vectors of most nests. What they write wants to
// be cleaned up, and no more: unrolled, vectorized and simplified once more it
// runs as fast, and that is most of what LLVM's passes take. So all functions
// get a few passes, and those with loops that are still scalar get the rest: of
// -O1 what makes vectors of them, of higher levels all that LLVM has. In
// between are functions that have little of that, or loops to be written out.
//
//===----------------------------------------------------------------------===//

#include "LLVMPasses.h"
#include "Translate.h"

#include "llvm/Analysis/LoopAccessAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Vectorize/LoopVectorize.h"

using namespace mlir;
using namespace loopc;

/// Fused elementwise loops read and write many buffers; whether two overlap is
/// checked before the vectorised loop, however many comparisons that takes.
static constexpr unsigned kRuntimeChecks = 128;

/// The lane of a constant mask that is set, if it is one alone.
static std::optional<unsigned> findOnlyLane(const llvm::Value *mask) {
  auto *constant = dyn_cast<llvm::Constant>(mask);
  auto *type = dyn_cast<llvm::FixedVectorType>(mask->getType());
  std::optional<unsigned> found;
  for (unsigned lane = 0; constant && type && lane < type->getNumElements();
       ++lane) {
    llvm::Constant *element = constant->getAggregateElement(lane);
    if (!element || (!element->isNullValue() && found))
      return std::nullopt;
    if (!element->isNullValue())
      found = lane;
  }
  return found;
}

/// Masked stores of one element become stores of it. LLVM 22 does so as well,
/// but where the vector was truncated to the type that is stored, it stores an
/// element of the wider one, over what is behind it.
static void storeSingleElements(llvm::Module &module) {
  SmallVector<std::pair<llvm::IntrinsicInst *, unsigned>> stores;
  for (llvm::Function &function : module)
    for (llvm::Instruction &one : llvm::instructions(function))
      if (auto *call = dyn_cast<llvm::IntrinsicInst>(&one);
          call && call->getIntrinsicID() == llvm::Intrinsic::masked_store)
        if (auto lane = findOnlyLane(call->getArgOperand(2)))
          stores.emplace_back(call, *lane);
  for (auto [store, lane] : stores) {
    llvm::IRBuilder<> b(store);
    llvm::Value *vector = store->getArgOperand(0);
    llvm::Type *element = vector->getType()->getScalarType();
    llvm::Value *address = store->getArgOperand(1);
    if (lane != 0)
      address = b.CreateConstGEP1_64(element, address, lane);
    auto *single = b.CreateAlignedStore(b.CreateExtractElement(vector, lane),
                                        address, llvm::Align(1));
    single->copyMetadata(*store);
    store->eraseFromParent();
  }
}

/// True for memory of the function's own.
static bool isLocal(const llvm::Instruction &access) {
  const llvm::Value *address = llvm::getLoadStorePointerOperand(&access);
  return address && isa<llvm::AllocaInst>(llvm::getUnderlyingObject(address));
}

/// Iterations up to which LLVM writes a loop out, and simplifies what that
/// leaves.
static constexpr unsigned kShortLoop = 16;

/// A function, or its loops, are in vectors if loops that are not have no more
/// of its instructions than one in so many.
static constexpr unsigned kScalarShare = 10;

/// So many instructions outside of loops are simplified for one of a loop that
/// is not in vectors.
static constexpr unsigned kStraightShare = 100;

/// A loop that calls so many functions in an iteration hands them what they
/// need, and does no more: it is no loop that is not in vectors.
static constexpr unsigned kManyCalls = 16;

/// What LLVM may make faster in a function.
enum class Gain {
  Nothing,
  /// What loops of a few iterations are when they are written out, or vectors
  /// of what is small beside the rest.
  Little,
  /// That, and loops that are not in vectors, of little beside the rest: they
  /// may read what the iteration before has written.
  Scalars,
  /// Loops that are not in vectors, or whose vectors are in memory of the
  /// function's own, which they leave then.
  Much
};

/// What LLVM may make faster in the innermost loops of `function`.
static Gain findGain(const llvm::Function &function,
                     const llvm::LoopInfo &loops,
                     llvm::ScalarEvolution &evolution) {
  Gain gain = Gain::Nothing;
  uint64_t numScalar = 0, numLooped = 0;
  for (const llvm::Loop *loop : loops.getTopLevelLoops())
    for (const llvm::BasicBlock *block : loop->blocks())
      numLooped += block->size();
  for (const llvm::Loop *loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost())
      continue;
    bool isScalar = true;
    unsigned count = 0, numCalls = 0;
    for (const llvm::BasicBlock *block : loop->blocks())
      for (const llvm::Instruction &one : *block) {
        ++count;
        numCalls += isa<llvm::CallBase>(one) && !isa<llvm::IntrinsicInst>(one);
        isScalar &= !one.getType()->isVectorTy() && numCalls < kManyCalls;
        if (isLocal(one))
          return Gain::Much;
      }
    unsigned trips = evolution.getSmallConstantTripCount(loop);
    if (isScalar)
      numScalar += count;
    if (isScalar || (trips > 0 && trips <= kShortLoop))
      gain = Gain::Little;
  }
  uint64_t count = function.getInstructionCount();
  if (numScalar * kScalarShare > count)
    return Gain::Much;
  return numScalar * kScalarShare > numLooped &&
                 numScalar * kStraightShare > count - numLooped
             ? Gain::Scalars
             : gain;
}

static llvm::InstCombinePass combineInstructions() {
  return llvm::InstCombinePass(
      llvm::InstCombineOptions().setVerifyFixpoint(false));
}

/// Loops test at their end, and what they do not change is in front of them.
static void addRotation(llvm::FunctionPassManager &passes) {
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LoopRotatePass());
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops),
                                                       /*UseMemorySSA=*/true));
}

llvm::FunctionPassManager loopc::buildCleanup() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(combineInstructions());
  passes.addPass(llvm::SimplifyCFGPass());
  addRotation(passes);
  return passes;
}

/// What functions get that may gain a little: vectors for the loops that are
/// not in vectors, short loops written out, and what is constant and equal
/// then.
static llvm::FunctionPassManager buildLittle(unsigned level) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LoopVectorizePass());
  // LLVM 22 says that it keeps them, and takes the check in front of a vector
  // loop in a loop for poison.
  passes.addPass(llvm::InvalidateAnalysisPass<llvm::ScalarEvolutionAnalysis>());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::IndVarSimplifyPass());
  loops.addPass(llvm::LoopFullUnrollPass(static_cast<int>(level)));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops)));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(combineInstructions());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(
      llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                            /*UseMemorySSA=*/true));
  return passes;
}

/// True if an innermost loop of `function` may be what LLVM makes vectors of:
/// it has none, and calls nothing.
static bool hasScalarLoop(const llvm::LoopInfo &loops) {
  return llvm::any_of(loops.getLoopsInPreorder(), [](const llvm::Loop *loop) {
    if (!loop->isInnermost())
      return false;
    for (const llvm::BasicBlock *block : loop->blocks())
      for (const llvm::Instruction &one : *block)
        if (one.getType()->isVectorTy() ||
            (isa<llvm::CallBase>(one) && !isa<llvm::IntrinsicInst>(one)))
          return false;
    return true;
  });
}

/// What loops must have been through to become vectors.
static llvm::FunctionPassManager buildForVectors() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  addRotation(passes);
  return passes;
}

/// What simplifies what vectors of loops were made with.
static llvm::FunctionPassManager buildBehindVectors() {
  llvm::FunctionPassManager passes;
  passes.addPass(combineInstructions());
  passes.addPass(llvm::SimplifyCFGPass());
  return passes;
}

/// Attribute of functions that nothing is left to gain in, but by writing loops
/// out in part. Passes that replace a function copy it.
static constexpr llvm::StringLiteral kFinished = "loopc-finished";

namespace {
/// LLVM's passes, for one module and one machine.
class Optimizer {
public:
  Optimizer(llvm::Module &module, llvm::TargetMachine &machine, unsigned level);
  Optimizer(const Optimizer &) = delete;
  Optimizer &operator=(const Optimizer &) = delete;

  void run();

private:
  /// Makes vectors of scalar loops; all that -O1 does.
  void vectorize();
  /// Finishes functions that few passes more are enough for.
  void finish();

  llvm::Module &module;
  unsigned level;
  llvm::PassInstrumentationCallbacks callbacks;
  std::optional<llvm::PassBuilder> builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager cgscc;
  llvm::ModuleAnalysisManager modules;
};
} // namespace

Optimizer::Optimizer(llvm::Module &module, llvm::TargetMachine &machine,
                     unsigned level)
    : module(module), level(level) {
  // Once: threads get here.
  [[maybe_unused]] static const unsigned isSet =
      llvm::VectorizerParams::RuntimeMemoryCheckThreshold = kRuntimeChecks;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = level >= 2;
  tuning.SLPVectorization = level >= 2;
  tuning.LoopInterleaving = level >= 2;
  tuning.LoopUnrolling = level >= 1;
  skipSlowPasses(callbacks);
  callbacks.registerShouldRunOptionalPassCallback(
      [](StringRef pass, llvm::Any ir) {
        // Which functions a call by address may reach nobody asks here.
        if (pass == "CalledValuePropagationPass")
          return false;
        if (const auto *function = llvm::any_cast<const llvm::Function *>(&ir))
          return !(*function)->hasOptNone() &&
                 (pass == "LoopUnrollPass" ||
                  !(*function)->hasFnAttribute(kFinished));
        if (const auto *loop = llvm::any_cast<const llvm::Loop *>(&ir))
          return !(*loop)->getHeader()->getParent()->hasFnAttribute(kFinished);
        return true;
      });
  builder.emplace(&machine, tuning, std::nullopt, &callbacks);
  llvm::TargetLibraryInfoImpl library(module.getTargetTriple());
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder->registerModuleAnalyses(modules);
  builder->registerCGSCCAnalyses(cgscc);
  builder->registerFunctionAnalyses(functions);
  builder->registerLoopAnalyses(loops);
  builder->crossRegisterProxies(loops, functions, cgscc, modules);
}

void Optimizer::finish() {
  llvm::FunctionPassManager little = buildLittle(level);
  for (llvm::Function &function : module) {
    if (function.isDeclaration() || function.hasOptNone())
      continue;
    Gain gain =
        findGain(function, functions.getResult<llvm::LoopAnalysis>(function),
                 functions.getResult<llvm::ScalarEvolutionAnalysis>(function));
    if (gain == Gain::Much)
      continue;
    // What an iteration has written is a value of the next one.
    if (gain == Gain::Scalars)
      functions.invalidate(function, llvm::GVNPass().run(function, functions));
    if (gain == Gain::Little || gain == Gain::Scalars)
      functions.invalidate(function, little.run(function, functions));
    function.addFnAttr(kFinished);
  }
}

void Optimizer::vectorize() {
  llvm::FunctionPassManager before = buildForVectors(),
                            behind = buildBehindVectors();
  llvm::LoopVectorizePass vectorizer;
  auto run = [&](llvm::Function &function, auto &passes) {
    llvm::PreservedAnalyses kept = passes.run(function, functions);
    functions.invalidate(function, kept);
    return !kept.areAllPreserved();
  };
  for (llvm::Function &function : module) {
    if (function.isDeclaration() ||
        !hasScalarLoop(functions.getResult<llvm::LoopAnalysis>(function)))
      continue;
    run(function, before);
    if (run(function, vectorizer))
      run(function, behind);
  }
}

void Optimizer::run() {
  static const llvm::OptimizationLevel kLevels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
      llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  // Kernels have no loops in vectors.
  bool isForDevice = module.getTargetTriple().isNVPTX();
  if (level >= 1 && !isForDevice)
    settleArithmetic(module, functions);
  if (level == 1 && !isForDevice) {
    vectorize();
  } else {
    if (level >= 1 && !isForDevice) {
      llvm::ModulePassManager cleanup;
      cleanup.addPass(llvm::createModuleToFunctionPassAdaptor(buildCleanup()));
      cleanup.run(module, modules);
      finish();
    }
    builder->buildPerModuleDefaultPipeline(kLevels[std::min(level, 3u)])
        .run(module, modules);
  }
  for (llvm::Function &function : module)
    function.removeFnAttr(kFinished);
  storeSingleElements(module);
  if (level > 1 && !isForDevice)
    reduceStrength(module, functions);
}

void loopc::optimizeModule(llvm::Module &module, llvm::TargetMachine &machine,
                           unsigned level) {
  if (level > 1 && !module.getTargetTriple().isNVPTX())
    branchOnWraps(module);
  Optimizer(module, machine, level).run();
  if (level > 0)
    expandMinMax(module, machine);
}
