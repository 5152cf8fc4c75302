//===- CompiledModel.cpp - A model compiled in process --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Target/CompiledModel.h"
#include "Parts.h"
#include "loopc-rt/cuda.h"
#include "loopc/Support/Diagnostics.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/EHFrameRegistrationPlugin.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace loopc;
using namespace llvm::orc;

// Conversions that LLVM calls where the CPU has no instruction; in the object
// they come from libloopc_rt. Only their addresses are of interest here.
#define LOOPC_FLOAT_BUILTINS(X)                                                \
  X(__truncsfbf2)                                                              \
  X(__truncdfbf2)                                                              \
  X(__extendbfsf2) X(__truncsfhf2) X(__truncdfhf2) X(__extendhfsf2)
#define LOOPC_DECLARE(name) extern const char name##_address __asm__(#name);
extern "C" {
LOOPC_FLOAT_BUILTINS(LOOPC_DECLARE)
}
#undef LOOPC_DECLARE

/// Functions of the runtime that is linked to this program, by name.
static SymbolMap getRuntimeSymbols(ExecutionSession &session) {
  SymbolMap symbols;
  auto add = [&](StringRef name, const void *address) {
    symbols[session.intern(name)] = ExecutorSymbolDef(
        ExecutorAddr::fromPtr(address),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable);
  };
  add("loopc_model_run", reinterpret_cast<const void *>(&loopc_model_run));
// One line for each function of runtime.h and cuda.h, made by CMake.
#define LOOPC_RUNTIME_SYMBOL(name)                                             \
  add(#name, reinterpret_cast<const void *>(&name));
#include "RuntimeSymbols.inc"
#undef LOOPC_RUNTIME_SYMBOL
#define LOOPC_ADD(name) add(#name, &name##_address);
  LOOPC_FLOAT_BUILTINS(LOOPC_ADD)
#undef LOOPC_ADD
  return symbols;
}

struct CompiledModel::Linked {
  ~Linked() {
    // The session gives the code's memory back through the layer, which must
    // be there as long.
    if (session)
      llvm::consumeError(session->endSession());
    layer.reset();
  }

  llvm::Error link(std::vector<ObjectBytes> objects, StringRef name,
                   const TargetOptions &options);
  llvm::Expected<const loopc_model *> getModel(StringRef symbol);

  WeightSet weights;
  std::unique_ptr<ExecutionSession> session;
  std::unique_ptr<ObjectLinkingLayer> layer;
  JITDylib *library = nullptr;
};

llvm::Error CompiledModel::Linked::link(std::vector<ObjectBytes> objects,
                                        StringRef name,
                                        const TargetOptions &options) {
  auto control = SelfExecutorProcessControl::Create();
  if (!control)
    return control.takeError();
  session = std::make_unique<ExecutionSession>(std::move(*control));
  // Errors come back from lookup(); the session would print them too.
  session->setErrorReporter(
      [](llvm::Error error) { llvm::consumeError(std::move(error)); });
  library = &session->createBareJITDylib("model");
  layer = std::make_unique<ObjectLinkingLayer>(*session);
  if (auto frames = EHFrameRegistrationPlugin::Create(*session))
    layer->addPlugin(std::move(*frames));
  else
    return frames.takeError();

  SymbolMap symbols = getRuntimeSymbols(*session);
  for (const WeightSet::Weight &weight : weights.getWeights())
    symbols[session->intern(weight.symbol)] = ExecutorSymbolDef(
        ExecutorAddr::fromPtr(weight.data), llvm::JITSymbolFlags::Exported);
  for (const auto &[symbol, op] : options.customOperators)
    symbols[session->intern(symbol)] = ExecutorSymbolDef(
        ExecutorAddr::fromPtr(op), llvm::JITSymbolFlags::Exported);
  if (llvm::Error error = library->define(absoluteSymbols(std::move(symbols))))
    return error;
  // libm by name first: a program may have loaded it out of sight.
  if (auto libm = DynamicLibrarySearchGenerator::Load("libm.so.6", '\0'))
    library->addGenerator(std::move(*libm));
  else
    llvm::consumeError(libm.takeError());
  auto process = DynamicLibrarySearchGenerator::GetForCurrentProcess('\0');
  if (!process)
    return process.takeError();
  library->addGenerator(std::move(*process));
  for (auto [k, object] : llvm::enumerate(objects))
    if (llvm::Error error = layer->add(
            *library,
            std::make_unique<llvm::SmallVectorMemoryBuffer>(
                std::move(object), (name + "." + llvm::Twine(k)).str(),
                /*RequiresNullTerminator=*/false)))
      return error;
  return llvm::Error::success();
}

llvm::Expected<const loopc_model *>
CompiledModel::Linked::getModel(StringRef symbol) {
  auto found = session->lookup({library}, (symbol + "_model").str());
  if (!found)
    return found.takeError();
  return found->getAddress().toPtr<const loopc_model *(*)()>()();
}

CompiledModel::CompiledModel(std::unique_ptr<Linked> linked)
    : linked(std::move(linked)) {}

CompiledModel::~CompiledModel() {
  // What runs left on GPUs is found by way of the model's memory.
  if (model)
    loopc_rt_cuda_unload(
        static_cast<loopc_cuda_program *>(model->device_program));
}

FailureOr<std::unique_ptr<CompiledModel>>
CompiledModel::create(ModuleOp module, const ModelInfo &info,
                      const TargetOptions &options, TimingScope timing) {
  Location loc = module.getLoc();
  llvm::Triple host(llvm::sys::getProcessTriple());
  if (getTriple(options).getArch() != host.getArch())
    return emitError(loc, Diag::UnknownTarget)
           << "a model for target '" << getTriple(options).str()
           << "' cannot run in this process";
  FailureOr<Machine> machine = createMachine(options, loc);
  if (failed(machine))
    return failure();
  auto linked = std::make_unique<Linked>();
  FailureOr<WeightSet> weights = WeightSet::extract(module, info);
  if (failed(weights))
    return failure();
  linked->weights = std::move(*weights);
  TimingScope scope = timing.nest("Translate to LLVM");
  FailureOr<LLVMModule> translated = translateModule(
      module, info, *machine, options, linked->weights, WeightPlace::Process);
  if (failed(translated))
    return failure();
  scope = timing.nest("Divide");
  ModuleParts parts = ModuleParts::divide(std::move(*translated), info.symbol);
  scope.stop();
  FailureOr<std::vector<ObjectBytes>> objects =
      parts.compile(options, loc, /*complete=*/nullptr, timing);
  if (failed(objects))
    return failure();
  scope = timing.nest("Link");
  linked->weights.keepOnly(
      [&](StringRef symbol) { return parts.usesGlobal(symbol); });
  linked->weights.takeOver();
  auto fail = [&](llvm::Error error) {
    return emitError(loc, Diag::JitFailed)
           << "the model cannot be linked into this process: "
           << llvm::toString(std::move(error));
  };
  if (llvm::Error error =
          linked->link(std::move(*objects), info.symbol, options))
    return fail(std::move(error));
  llvm::Expected<const loopc_model *> model = linked->getModel(info.symbol);
  if (!model)
    return fail(model.takeError());
  std::unique_ptr<CompiledModel> result(new CompiledModel(std::move(linked)));
  result->model = *model;
  // A CPU that lacks what the options ask for would stop the process.
  loopc_error error;
  if (loopc_model_check(result->model, &error) != LOOPC_OK)
    return emitError(loc, Diag::JitFailed) << error.message;
  return result;
}
