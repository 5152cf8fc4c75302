//===- Emit.cpp - Assembly, objects and other files -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "LLVMPasses.h"
#include "Parts.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/OutputFile.h"
#include "loopc/Target/CodeGen.h"
#include "loopc/Target/Cuda.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"

#include <mutex>

using namespace mlir;
using namespace loopc;

/// Instructions without a branch that are scheduled together.
static constexpr unsigned kRunInstructions = 500;

/// Divides long runs of instructions without a branch: the scheduler compares
/// each with those before it, up to a label. A label is no code.
static void divideLongRuns(llvm::Module &module) {
  auto *nothing = llvm::MDNode::get(module.getContext(), {});
  llvm::Value *note = llvm::MetadataAsValue::get(module.getContext(), nothing);
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function) {
      if (block.size() <= 2 * kRunInstructions)
        continue;
      SmallVector<llvm::Instruction *> places;
      for (auto [k, one] : llvm::enumerate(block))
        if (k % kRunInstructions == kRunInstructions - 1 &&
            !llvm::isa<llvm::PHINode>(one) && !one.isTerminator())
          places.push_back(&one);
      for (llvm::Instruction *place : places)
        llvm::IRBuilder<>(place).CreateIntrinsic(
            llvm::Intrinsic::codeview_annotation, {}, {note});
    }
}

/// Adds LLVM's passes that write code. Strength reduction is not one of them
/// for CPUs: optimizeModule() has run it where it pays.
static bool addPasses(llvm::legacy::PassManager &passes,
                      llvm::TargetMachine &machine, llvm::CodeGenFileType kind,
                      llvm::raw_pwrite_stream &os) {
  // LLVM reads an option for it here, which is one of the process, and others
  // may use LLVM in it.
  static std::mutex mutex;
  std::scoped_lock lock(mutex);
  static auto *isLeftOut = static_cast<llvm::cl::opt<bool> *>(
      llvm::cl::getRegisteredOptions().lookup("disable-lsr"));
  bool before = isLeftOut && isLeftOut->getValue();
  if (isLeftOut)
    isLeftOut->setValue(before || !machine.getTargetTriple().isNVPTX());
  llvm::scope_exit restore([&] {
    if (isLeftOut)
      isLeftOut->setValue(before);
  });
  return !machine.addPassesToEmitFile(passes, os, nullptr, kind,
                                      /*DisableVerify=*/true);
}

bool loopc::emitCode(llvm::Module &module, llvm::TargetMachine &machine,
                     llvm::CodeGenFileType kind, llvm::raw_pwrite_stream &os) {
  adaptCodeGenerators();
  if (machine.getOptLevel() == llvm::CodeGenOptLevel::Less)
    generateQuickly(module.getContext());
  divideLongRuns(module);
  llvm::legacy::PassManager passes;
  llvm::TargetLibraryInfoImpl library(module.getTargetTriple());
  passes.add(new llvm::TargetLibraryInfoWrapperPass(library));
  if (!addPasses(passes, machine, kind, os))
    return false;
  passes.run(module);
  return true;
}

/// Writes `what` to `path`, as `write` does.
static LogicalResult
writeFile(StringRef what, StringRef path, Location loc,
          llvm::function_ref<void(llvm::raw_ostream &)> write) {
  llvm::Expected<OutputFile> file = OutputFile::create(path);
  llvm::Error error = file.takeError();
  if (!error) {
    write(file->getStream());
    error = file->keep();
  }
  if (error)
    return emitError(loc, Diag::CannotWrite)
           << "cannot write the " << what << " to '" << path
           << "': " << llvm::toString(std::move(error));
  return success();
}

static LogicalResult writeWeights(const WeightSet &weights, StringRef path,
                                  Location loc) {
  return writeFile("weights", path, loc,
                   [&](llvm::raw_ostream &os) { weights.write(os); });
}

/// Writes the file that line tables refer to; nothing where there are none.
static LogicalResult writeNodes(ArrayRef<std::string> nodes, StringRef path,
                                Location loc) {
  if (path.empty())
    return success();
  return writeFile("nodes", path, loc, [&](llvm::raw_ostream &os) {
    for (StringRef node : nodes)
      os << node << '\n';
  });
}

LogicalResult loopc::checkTarget(const TargetOptions &options, Location loc) {
  if (failed(createMachine(options, loc)))
    return failure();
  return success(options.chip.empty() || succeeded(checkChip(options, loc)));
}

/// Writes `module`, whose code is one part, as text.
static LogicalResult writeText(LLVMModule module, const ModelInfo &info,
                               llvm::TargetMachine &machine,
                               const TargetOptions &options, CodeKind kind,
                               WeightSet &weights, llvm::raw_pwrite_stream &os,
                               StringRef weightsFile, Location loc) {
  markRunOnce(*module.module);
  optimizeModule(*module.module, machine, options.getCodeLevel());
  weights.keepOnly([&](StringRef symbol) {
    const llvm::GlobalVariable *global =
        module.module->getGlobalVariable(symbol);
    return global && !global->use_empty();
  });
  addWeightSection(*module.module, info, weights,
                   weightsFile.empty() ? info.symbol + ".weights"
                                       : weightsFile.str());
  if (kind == CodeKind::LLVMIR) {
    module.module->print(os, nullptr);
  } else if (!emitCode(*module.module, machine,
                       llvm::CodeGenFileType::AssemblyFile, os)) {
    return emitError(loc, Diag::CodeGeneration)
           << "LLVM writes no such files for target '"
           << machine.getTargetTriple().str() << "'";
  }
  if (failed(module.report(loc)))
    return failure();
  // Last: after an error the file of another run is what it was.
  if (weightsFile.empty() || weights.getWeights().empty())
    return success();
  return writeWeights(weights, weightsFile, loc);
}

static LogicalResult writePTX(ModuleOp module, const TargetOptions &options,
                              llvm::raw_ostream &os) {
  gpu::GPUModuleOp kernels = findKernels(module);
  if (!kernels)
    return emitError(module.getLoc(), Diag::CodeGeneration)
           << "there is no PTX: "
           << (options.chip.empty()
                   ? "the model is compiled for the CPU alone (--chip=sm_90)"
                   : "nothing in the model is for kernels");
  FailureOr<DeviceCode> code = compileKernels(kernels, options);
  if (failed(code))
    return failure();
  os << code->ptx;
  return success();
}

namespace {
/// A model as code whose weights are not in it yet.
struct ModelCode {
  /// The lines of TargetOptions::nodesFile.
  std::vector<std::string> nodes;
  ObjectBytes object;
};
} // namespace

/// Takes the weights out of `module` and translates what is left.
static FailureOr<std::pair<WeightSet, LLVMModule>>
translateWithoutWeights(ModuleOp module, const ModelInfo &info,
                        const TargetOptions &options, const Machine &machine,
                        TimingScope &timing) {
  FailureOr<WeightSet> weights = WeightSet::extract(module, info);
  if (failed(weights))
    return failure();
  TimingScope scope = timing.nest("Translate to LLVM");
  FailureOr<LLVMModule> translated = translateModule(
      module, info, machine, options, *weights, WeightPlace::Object);
  if (failed(translated))
    return failure();
  return std::make_pair(std::move(*weights), std::move(*translated));
}

/// Compiles `translated` to an object with a section for the weights that its
/// code uses.
static FailureOr<ModelCode>
compileObject(LLVMModule translated, WeightSet &weights, const ModelInfo &info,
              const TargetOptions &options, WeightBytes bytes,
              TimingScope &timing, Location loc) {
  ModelCode code;
  code.nodes = std::move(translated.nodes);
  TimingScope scope = timing.nest("Divide");
  ModuleParts parts = ModuleParts::divide(std::move(translated), info.symbol);
  scope.stop();
  auto addWeights = [&](llvm::Module &section) {
    weights.keepOnly(
        [&](StringRef symbol) { return parts.usesGlobal(symbol); });
    addEmptyWeightSection(section, info, weights, bytes,
                          /*isShared=*/parts.size() > 1);
  };
  llvm::function_ref<void(llvm::Module &)> complete = nullptr;
  if (!weights.getWeights().empty())
    complete = addWeights;
  FailureOr<std::vector<ObjectBytes>> objects =
      parts.compile(options, loc, complete, timing);
  if (failed(objects))
    return failure();
  scope = timing.nest("Join");
  FailureOr<ObjectBytes> object = joinObjects(std::move(*objects), loc);
  if (failed(object))
    return failure();
  code.object = std::move(*object);
  return code;
}

/// Writes `module` as LLVM IR or assembly; what else stands in the file that
/// line tables refer to comes back.
static FailureOr<std::vector<std::string>>
compileText(ModuleOp module, const ModelInfo &info,
            const TargetOptions &options, Machine &machine, CodeKind kind,
            llvm::raw_pwrite_stream &os, StringRef weightsFile,
            TimingScope &timing) {
  auto input = translateWithoutWeights(module, info, options, machine, timing);
  if (failed(input))
    return failure();
  auto &[weights, translated] = *input;
  std::vector<std::string> nodes = std::move(translated.nodes);
  if (failed(writeText(std::move(translated), info, *machine.llvm, options,
                       kind, weights, os, weightsFile, module.getLoc())))
    return failure();
  return nodes;
}

LogicalResult loopc::generateCode(ModuleOp module, const ModelInfo &info,
                                  const TargetOptions &options, CodeKind kind,
                                  llvm::raw_pwrite_stream &os,
                                  StringRef weightsFile, TimingScope timing) {
  Location loc = module.getLoc();
  if (kind == CodeKind::PTX)
    return writePTX(module, options, os);
  FailureOr<Machine> machine = createMachine(
      options, loc, /*keepsInlineAssembly=*/kind == CodeKind::Assembly);
  if (failed(machine))
    return failure();
  // The nodes are written last, as all that stands beside the output.
  if (kind != CodeKind::Object) {
    FailureOr<std::vector<std::string>> nodes = compileText(
        module, info, options, *machine, kind, os, weightsFile, timing);
    return success(succeeded(nodes) &&
                   succeeded(writeNodes(*nodes, options.nodesFile, loc)));
  }
  auto input = translateWithoutWeights(module, info, options, *machine, timing);
  if (failed(input))
    return failure();
  machine->llvm.reset(); // for one of the threads
  auto &[weights, translated] = *input;
  FailureOr<ModelCode> code =
      compileObject(std::move(translated), weights, info, options,
                    WeightBytes::Appended, timing, loc);
  return success(succeeded(code) &&
                 succeeded(appendWeights(code->object, weights, os, loc)) &&
                 succeeded(writeNodes(code->nodes, options.nodesFile, loc)));
}

LogicalResult loopc::generateShared(ModuleOp module, const ModelInfo &info,
                                    const TargetOptions &options,
                                    StringRef output, StringRef soname,
                                    TimingScope timing) {
  Location loc = module.getLoc();
  FailureOr<Machine> machine = createMachine(options, loc);
  if (failed(machine))
    return failure();
  auto input = translateWithoutWeights(module, info, options, *machine, timing);
  if (failed(input))
    return failure();
  machine->llvm.reset(); // for one of the threads
  auto &[weights, translated] = *input;
  FailureOr<ModelCode> code =
      compileObject(std::move(translated), weights, info, options,
                    WeightBytes::Reserved, timing, loc);
  if (failed(code))
    return failure();
  TimingScope scope = timing.nest("Link");
  // What may go wrong from here on has no place in the model.
  Location nowhere = UnknownLoc::get(loc.getContext());
  return success(succeeded(linkSharedObject(std::move(code->object),
                                            weights.getTotalSize(), output,
                                            soname, options, nowhere)) &&
                 succeeded(fillWeights(output, weights, nowhere)) &&
                 succeeded(writeNodes(code->nodes, options.nodesFile, loc)));
}
