//===- Translate.cpp - From the LLVM dialect to LLVM IR -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Translate.h"
#include "DebugLines.h"
#include "Descriptor.h"
#include "Kernels.h"
#include "LLVMPasses.h"
#include "loopc/Dialect/RT/RuntimeFunctions.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/ReservedNames.h"
#include "loopc/Target/CodeGen.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"

using namespace mlir;
using namespace loopc;

void loopc::registerTargetTranslations(DialectRegistry &registry) {
  registerAllToLLVMIRTranslations(registry);
}

/// Keeps LLVM's messages, where its own handler ends the process.
namespace {
struct MessageCollector : llvm::DiagnosticHandler {
  explicit MessageCollector(std::vector<LLVMModule::Message> &messages)
      : messages(messages) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    bool isError = info.getSeverity() == llvm::DS_Error;
    if (!isError && info.getSeverity() != llvm::DS_Warning)
      return true;
    std::string text;
    llvm::raw_string_ostream os(text);
    llvm::DiagnosticPrinterRawOStream printer(os);
    info.print(printer);
    messages.push_back({isError, std::move(text)});
    return true;
  }
  std::vector<LLVMModule::Message> &messages;
};
} // namespace

LLVMModule LLVMModule::create() {
  LLVMModule result;
  result.messages = std::make_unique<std::vector<Message>>();
  result.context = std::make_unique<llvm::LLVMContext>();
  result.context->setDiagnosticHandler(
      std::make_unique<MessageCollector>(*result.messages));
  return result;
}

LogicalResult LLVMModule::report(Location loc) {
  LogicalResult result = success();
  for (const Message &message : std::exchange(*messages, {})) {
    if (message.isError)
      result = emitError(loc, Diag::CodeGeneration) << message.text;
    else
      emitWarning(loc, Diag::CodeGeneration) << message.text;
  }
  return result;
}

/// Declares what the functions of runtime.h do, so that LLVM keeps values in
/// registers and moves loads across them. The run itself is out of the code's
/// reach: it never looks behind that pointer.
static void annotateRuntimeFunction(llvm::Function &function) {
  function.addFnAttr(llvm::Attribute::NoUnwind);
  RuntimeEffects effects = getRuntimeEffects(function.getName());
  if (effects.memory == RuntimeEffects::Any)
    return;
  function.setMemoryEffects(
      effects.memory == RuntimeEffects::Arguments
          ? llvm::MemoryEffects::inaccessibleOrArgMemOnly()
          : llvm::MemoryEffects::inaccessibleMemOnly());
  function.addFnAttr(llvm::Attribute::WillReturn);
  function.addFnAttr(llvm::Attribute::NoCallback);
  if (effects.allocates && function.getReturnType()->isPointerTy()) {
    function.addRetAttr(llvm::Attribute::NoAlias);
    function.addRetAttr(llvm::Attribute::getWithAlignment(
        function.getContext(), llvm::Align(kWeightAlignment)));
  }
}

/// A function of numbers alone has no effect but errno, which nobody reads.
static void annotateMathFunction(llvm::Function &function) {
  llvm::FunctionType *type = function.getFunctionType();
  if (!type->getReturnType()->isFloatingPointTy() || type->isVarArg() ||
      type->getNumParams() == 0 ||
      !llvm::all_of(type->params(),
                    [](llvm::Type *t) { return t->isFloatingPointTy(); }))
    return;
  function.setDoesNotAccessMemory();
  function.addFnAttr(llvm::Attribute::NoUnwind);
  function.addFnAttr(llvm::Attribute::WillReturn);
}

/// Checks what the module calls: an object needs loopc_rt, libc and libm only.
static LogicalResult checkDeclarations(llvm::Module &module, Location loc) {
  llvm::TargetLibraryInfoImpl library(module.getTargetTriple());
  for (llvm::Function &function : module) {
    if (!function.isDeclaration() || function.isIntrinsic())
      continue;
    if (function.getName().starts_with("loopc_rt_")) {
      annotateRuntimeFunction(function);
      continue;
    }
    // LLVM knows what it optimises, and not all of libm.
    llvm::LibFunc known;
    if (!library.getLibFunc(function.getName(), known) &&
        !isMathFunction(function.getName()))
      return emitError(loc, Diag::BadModule)
             << "the code calls '" << function.getName()
             << "', which neither loopc_rt nor libc nor libm has";
    annotateMathFunction(function);
  }
  return success();
}

static LogicalResult checkEntry(llvm::Function *entry, Location loc) {
  auto isWanted = [](llvm::Function *f) {
    return f && !f->isDeclaration() && !f->isVarArg() &&
           f->getReturnType()->isIntegerTy(32) && f->arg_size() == 3 &&
           llvm::all_of(f->args(), [](llvm::Argument &argument) {
             return argument.getType()->isPointerTy();
           });
  };
  if (isWanted(entry))
    return success();
  return emitError(loc, Diag::BadModule)
         << "the module has no function '" << kEntryName
         << "' that takes three pointers and returns i32";
}

static void declareWeights(llvm::Module &module, const WeightSet &weights,
                           WeightPlace place) {
  for (const WeightSet::Weight &weight : weights.getWeights()) {
    llvm::GlobalVariable *global = module.getGlobalVariable(weight.symbol);
    // No code reads the default of an input: it comes from the border.
    if (!global)
      global = new llvm::GlobalVariable(
          module,
          llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()),
                               weight.size),
          /*isConstant=*/true, llvm::GlobalValue::ExternalLinkage,
          /*Initializer=*/nullptr, weight.symbol);
    global->setConstant(true);
    global->setLinkage(llvm::GlobalValue::ExternalLinkage);
    global->setAlignment(llvm::Align(kWeightAlignment));
    // Not hidden: the symbol is local, and in the process out of reach of
    // relative addresses, so that it goes through the offset table.
    global->setDSOLocal(place == WeightPlace::Object);
    if (place == WeightPlace::Object &&
        weights.isLarge(module.getTargetTriple()))
      global->setCodeModel(llvm::CodeModel::Large);
  }
}

/// Custom operators that whoever loads the code binds: their descriptions get
/// room in it, all zero.
static void makeRoomForOperators(llvm::Module &module,
                                 const TargetOptions &options) {
  for (const auto &[symbol, op] : options.customOperators)
    if (llvm::GlobalVariable *global = module.getGlobalVariable(symbol))
      global->setInitializer(
          llvm::ConstantAggregateZero::get(global->getValueType()));
}

/// Makes everything local to the module but the two functions.
static void internalize(llvm::Module &module, const ModelInfo &info) {
  for (llvm::GlobalValue &value : module.global_values()) {
    if (value.isDeclaration() || value.hasLocalLinkage() ||
        value.getName() == info.symbol + "_model" ||
        value.getName() == info.symbol + "_run")
      continue;
    value.setVisibility(llvm::GlobalValue::DefaultVisibility);
    value.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
}

static void setFunctionAttributes(llvm::Module &module,
                                  const llvm::TargetMachine &machine) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    if (!machine.getTargetFeatureString().empty())
      function.addFnAttr("target-features", machine.getTargetFeatureString());
    // Half of a register is LLVM's default on many CPUs; kernels use all of it.
    if (machine.getTargetTriple().isX86())
      function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr("no-trapping-math", "true");
    function.addFnAttr(llvm::Attribute::NoUnwind);
    // Backtraces and profilers go through models too.
    function.setUWTableKind(llvm::UWTableKind::Default);
  }
}

/// What a loop's annotation became: the branch that closes it carries it as a
/// discardable attribute, where the translation does not look.
static void moveLoopAnnotations(ModuleOp module) {
  module.walk([](LLVM::BrOp branch) {
    if (auto annotation = dyn_cast_or_null<LLVM::LoopAnnotationAttr>(
            branch->removeDiscardableAttr("llvm.loop_annotation")))
      branch.setLoopAnnotationAttr(annotation);
  });
}

/// Puts the accesses of loops whose iterations are said to be independent into
/// the loop's group: of the block that closes it, which is all of its body.
static void groupParallelAccesses(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function) {
      llvm::MDNode *loop = block.back().getMetadata(llvm::LLVMContext::MD_loop);
      llvm::MDNode *said =
          loop
              ? llvm::findOptionMDForLoopID(loop, "llvm.loop.parallel_accesses")
              : nullptr;
      if (!said)
        continue;
      auto *group = cast<llvm::MDNode>(said->getOperand(1));
      for (llvm::Instruction &one : block)
        if (isa<llvm::LoadInst, llvm::StoreInst>(one))
          one.setMetadata(llvm::LLVMContext::MD_access_group, group);
    }
}

/// Booleans lie in memory as bytes that are 0 or 1. LLVM makes no vectors of
/// loads and stores of i1, but it does of bytes.
static void storeBooleansAsBytes(llvm::Module &module) {
  llvm::Type *boolean = llvm::Type::getInt1Ty(module.getContext());
  llvm::Type *byte = llvm::Type::getInt8Ty(module.getContext());
  SmallVector<llvm::Instruction *> accesses;
  for (llvm::Function &function : module)
    for (llvm::Instruction &one : llvm::instructions(function))
      if (isa<llvm::LoadInst, llvm::StoreInst>(one) &&
          llvm::getLoadStoreType(&one) == boolean)
        accesses.push_back(&one);
  for (llvm::Instruction *one : accesses) {
    llvm::IRBuilder<> b(one);
    llvm::Value *address = llvm::getLoadStorePointerOperand(one);
    llvm::Align alignment = llvm::getLoadStoreAlignment(one);
    llvm::Instruction *access;
    if (auto *store = dyn_cast<llvm::StoreInst>(one)) {
      access = b.CreateAlignedStore(
          b.CreateZExt(store->getValueOperand(), byte), address, alignment);
    } else {
      access = b.CreateAlignedLoad(byte, address, alignment);
      one->replaceAllUsesWith(
          b.CreateTrunc(access, boolean, "", /*IsNUW=*/true));
    }
    access->copyMetadata(*one);
    one->eraseFromParent();
  }
}

FailureOr<LLVMModule>
loopc::translateModule(ModuleOp module, const ModelInfo &info,
                       const Machine &machine, const TargetOptions &options,
                       const WeightSet &weights, WeightPlace place) {
  Location loc = module.getLoc();
  if (isReservedModelName(info.symbol))
    return emitError(loc, Diag::BadModelName)
           << "the name '" << info.symbol
           << "' makes a name of the runtime's own: choose another";
  std::optional<DeviceCode> deviceCode;
  if (gpu::GPUModuleOp kernels = findKernels(module)) {
    FailureOr<DeviceCode> compiled = compileKernels(kernels, options);
    if (failed(compiled))
      return failure();
    deviceCode = std::move(*compiled);
    kernels.erase();
  }
  LLVMModule result = LLVMModule::create();
  moveLoopAnnotations(module);
  if (!options.nodesFile.empty()) {
    auto nodes = numberNodes(module, options.nodesFile);
    if (failed(nodes))
      return failure();
    result.nodes = std::move(*nodes);
  }
  // Verified when all else is in it.
  result.module = translateModuleToLLVMIR(module, *result.context, info.symbol,
                                          /*disableVerification=*/true);
  if (failed(result.report(loc)) || !result.module)
    return failure();
  llvm::Module &llvmModule = *result.module;
  llvmModule.setTargetTriple(machine.llvm->getTargetTriple());
  llvmModule.setDataLayout(machine.llvm->createDataLayout());
  llvmModule.setPICLevel(llvm::PICLevel::BigPIC);
  llvmModule.setUwtable(llvm::UWTableKind::Default);

  if (!options.chip.empty())
    addProgram(llvmModule, deviceCode ? *deviceCode : DeviceCode(),
               options.chip);
  llvm::Function *entry = llvmModule.getFunction(kEntryName);
  if (failed(checkEntry(entry, loc)) ||
      failed(checkDeclarations(llvmModule, loc)))
    return failure();
  for (StringRef suffix : {"_model", "_run"})
    if (llvm::GlobalValue *value =
            llvmModule.getNamedValue(info.symbol + suffix.str()))
      value->setName(value->getName() + ".local");
  declareWeights(llvmModule, weights, place);
  addModelTable(llvmModule, info, weights, entry, machine.requiredFeatures);
  internalize(llvmModule, info);
  if (options.bindsOperators)
    makeRoomForOperators(llvmModule, options);
  groupParallelAccesses(llvmModule);
  storeBooleansAsBytes(llvmModule);
  fuseProducts(llvmModule, options.fpContract);
  setFunctionAttributes(llvmModule, *machine.llvm);
  std::string problem;
  llvm::raw_string_ostream os(problem);
  if (llvm::verifyModule(llvmModule, &os))
    return emitError(loc, Diag::CodeGeneration) << problem;
  return result;
}
