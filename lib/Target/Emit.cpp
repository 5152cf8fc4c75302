//===- Emit.cpp - LLVM's passes and the objects they write ----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Translate.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Target/CodeGen.h"

#include "llvm/Analysis/LoopAccessAnalysis.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace loopc;

/// Fused elementwise loops read and write many buffers; whether two overlap is
/// checked before the vectorised loop, however many comparisons that takes.
static constexpr unsigned kRuntimeChecks = 128;

void loopc::optimizeModule(llvm::Module &module, llvm::TargetMachine &machine,
                           unsigned level) {
  static const llvm::OptimizationLevel kLevels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
      llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  llvm::VectorizerParams::RuntimeMemoryCheckThreshold = kRuntimeChecks;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = level >= 2;
  tuning.SLPVectorization = level >= 2;
  tuning.LoopInterleaving = level >= 2;
  tuning.LoopUnrolling = level >= 1;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager cgscc;
  llvm::ModuleAnalysisManager modules;
  llvm::TargetLibraryInfoImpl library(module.getTargetTriple());
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(cgscc);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, cgscc, modules);
  builder.buildPerModuleDefaultPipeline(kLevels[std::min(level, 3u)])
      .run(module, modules);
}

LogicalResult loopc::emitCode(LLVMModule &module, llvm::TargetMachine &machine,
                              llvm::CodeGenFileType kind,
                              llvm::raw_pwrite_stream &os, Location loc) {
  llvm::legacy::PassManager passes;
  llvm::TargetLibraryInfoImpl library(module.module->getTargetTriple());
  passes.add(new llvm::TargetLibraryInfoWrapperPass(library));
  if (machine.addPassesToEmitFile(passes, os, nullptr, kind))
    return emitError(loc, Diag::CodeGeneration)
           << "LLVM writes no such files for target '"
           << machine.getTargetTriple().str() << "'";
  passes.run(*module.module);
  return failure(*module.hasError);
}

/// Writes the weights to `path`.
static LogicalResult writeWeights(const WeightSet &weights, StringRef path,
                                  Location loc) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (!error) {
    weights.write(os);
    os.close();
    error = os.error();
    os.clear_error();
  }
  if (error)
    return emitError(loc, Diag::CannotWrite)
           << "cannot write the weights to '" << path
           << "': " << error.message();
  return success();
}

LogicalResult loopc::checkTarget(const TargetOptions &options, Location loc) {
  return createMachine(options, loc);
}

LogicalResult loopc::generateCode(ModuleOp module, const ModelInfo &info,
                                  const TargetOptions &options, CodeKind kind,
                                  llvm::raw_pwrite_stream &os,
                                  StringRef weightsFile) {
  Location loc = module.getLoc();
  FailureOr<Machine> machine = createMachine(
      options, loc, /*keepsInlineAssembly=*/kind == CodeKind::Assembly);
  if (failed(machine))
    return failure();
  FailureOr<WeightSet> weights = WeightSet::extract(module, info);
  if (failed(weights))
    return failure();
  FailureOr<LLVMModule> translated =
      translateModule(module, info, *machine, *weights, WeightPlace::Object);
  if (failed(translated))
    return failure();
  optimizeModule(*translated->module, *machine->llvm, options.optLevel);

  dropUnusedWeights(*translated->module, *weights);
  if (kind == CodeKind::Object) {
    addEmptyWeightSection(*translated->module, info, *weights);
    llvm::SmallVector<char, 0> object;
    llvm::raw_svector_ostream objectStream(object);
    if (failed(emitCode(*translated, *machine->llvm,
                        llvm::CodeGenFileType::ObjectFile, objectStream, loc)))
      return failure();
    return writeObject(object, info, *weights, os, loc);
  }

  if (!weightsFile.empty() && !weights->getWeights().empty() &&
      failed(writeWeights(*weights, weightsFile, loc)))
    return failure();
  addWeightSection(*translated->module, info, *weights,
                   weightsFile.empty() ? info.symbol + ".weights"
                                       : weightsFile.str());
  if (kind == CodeKind::LLVMIR) {
    translated->module->print(os, nullptr);
    return success();
  }
  return emitCode(*translated, *machine->llvm,
                  llvm::CodeGenFileType::AssemblyFile, os, loc);
}
