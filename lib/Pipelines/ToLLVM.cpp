//===- ToLLVM.cpp - From nests of loops to the LLVM dialect ---------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommonPasses.h"
#include "loopc/Bufferize/Passes.h"
#include "loopc/Codegen/CPU/Passes.h"
#include "loopc/Conversion/ToLLVM/Passes.h"
#include "loopc/Dialect/Nest/Transforms/Passes.h"
#include "loopc/Instrument/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"

using namespace mlir;
using namespace loopc;

void loopc::populateViews(PassAdder manager, const PipelineOptions &) {
  manager.addPass(createExpandViews({.onlyCollapsed = true}),
                  "before accesses are lowered: an access through a collapsed "
                  "view would need a division");
}

void loopc::populateViewsOnGPU(PassAdder manager, const PipelineOptions &) {
  manager.addPass(memref::createFoldMemRefAliasOpsPass(),
                  "kernels get buffers as arguments, and dependence analysis "
                  "needs accesses of buffers, not of views");
}

void loopc::populateEntryPoint(PassAdder manager,
                               const PipelineOptions &options) {
  if (options.gpu.chip.empty())
    manager.nest<func::FuncOp>().addPass(
        createPlaceOutputs(),
        "no later pass moves or shares buffers, and the function still returns "
        "its results. Only for CPUs: a GPU's results are copied to the "
        "caller's memory");
  manager.addPass(createMakeEntryPoint(),
                  "inputs and outputs are buffers. Leaves one signature for "
                  "all models, and the run's context as an argument, which the "
                  "runtime's functions need");
  manager.addPass(
      createExternalizeWeights(),
      "after all passes that read constants: only their addresses are left");
  bool inSections = options.optLevel > 0 && options.gpu.chip.empty();
  if (inSections)
    manager.addPass(createCpuCutSections({.anywhere = true}),
                    "the passes up to threads look at one nest at a time, and "
                    "run on the sections in parallel. Only for CPUs, from -O1 "
                    "on");
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(createExpandViews(),
                    "all views, also those of the entry point, become "
                    "descriptors and arithmetic");
  addCleanup(functions, "folds the arithmetic of views");
  functions.addPass(
      createLowerBufferCopies(),
      "copies that turned out to be strided, for a moment as linalg");
  functions.addPass(createConvertLinalgToNests(), "lowers these copies");
  functions.addPass(createLowerTransfers(),
                    "transfers of vectors of several axes become loops, before "
                    "loops become branches");
  if (inSections)
    manager.addPass(createCpuJoinSections(),
                    "threads are decided for the whole function");
}

void loopc::populateThreads(PassAdder manager, const PipelineOptions &options) {
  manager.addPass(
      createParallelizeNests(
          {.compact = options.optLevel == 1 || options.quickCode}),
      "nests are final. It proves again what it relies on. Before nests are "
      "outlined, since it outlines the bodies that threads run");
}

void loopc::populateProfile(PassAdder manager, const PipelineOptions &options) {
  if (options.profile)
    manager.addPass(createProfileParts(),
                    "it is decided what runs on threads, and the code of the "
                    "calling thread is still one function");
}

void loopc::populateFunctions(PassAdder manager,
                              const PipelineOptions &options) {
  manager.addPass(createOutlineNests(),
                  "no later pass rewrites nests. Some of LLVM's passes need "
                  "time quadratic in the number of loops of a function");
  manager.addPass(createDivideBlocks(),
                  "takes straight code that is left between the nests");
  manager.addPass(createExpandMath(),
                  "after outlining, whose cost model counts elementary "
                  "functions and not their polynomials");
  // Side by side from here on; kernels are in a module of their own.
  PassAdder functions =
      options.gpu.chip.empty() ? manager.nest<func::FuncOp>() : manager;
  functions.addPass(createLowerAffinePass(), "no later pass reads affine maps");
  functions.addPass(createLowerVectors(),
                    "after the last pass that makes vectors. Leaves operations "
                    "that the LLVM dialect has");
  functions.addPass(
      createBranchesBackwards(),
      "no later pass needs loops; the conversions to LLVM need branches");
}

void loopc::populateLLVMDialect(PassAdder manager,
                                const PipelineOptions &options) {
  manager.addPass(
      createConvertLoopRuntimeToLLVM(),
      "after branches: a check that fails returns from the function. Before "
      "memref is lowered: its allocations are calls of the runtime");
  manager.addPass(createConvertDialectsToLLVM(),
                  "all dialects that are left in one conversion, which visits "
                  "the module once");
  PassAdder functions = manager.nest<LLVM::LLVMFuncOp>();
  // To find equal blocks, or dead ones, takes longer than LLVM's work on them,
  // and a second round finds next to nothing.
  functions.addPass(createCanonicalizerOf("llvm"),
                    "folds descriptors that are built and taken apart");
  functions.addPass(
      createEliminateCommon(),
      "less for LLVM to read, and equal functions become textually equal");
  PassAdder all = options.gpu.chip.empty() ? functions : manager;
  all.addPass(createReconcileUnrealizedCastsPass(),
              "casts of the conversions cancel out");
  manager.addPass(createShareNests(),
                  "functions are final; equal ones are compiled once");
}

void loopc::populateLLVMEnd(PassAdder manager, const PipelineOptions &) {
  addVerifier(manager, Stage::LLVM);
}
