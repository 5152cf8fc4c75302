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
                  "before accesses are lowered: one through a collapsed view "
                  "would divide to find its element");
}

void loopc::populateViewsOnGPU(PassAdder manager, const PipelineOptions &) {
  manager.addPass(memref::createFoldMemRefAliasOpsPass(),
                  "kernels are given buffers, and dependences are seen where "
                  "accesses are of buffers");
}

void loopc::populateEntryPoint(PassAdder manager,
                               const PipelineOptions &options) {
  if (options.gpu.chip.empty())
    manager.nest<func::FuncOp>().addPass(
        createPlaceOutputs(),
        "no pass moves or shares buffers any more; results are still there. "
        "Those of a GPU are copied to the caller's memory");
  manager.addPass(createMakeEntryPoint(),
                  "ports are buffers; leaves one signature, and the run as the "
                  "argument that the runtime's functions want");
  manager.addPass(createExternalizeWeights(),
                  "behind all that looks into constants: what stays of them is "
                  "an address");
  bool inSections = options.optLevel > 0 && options.gpu.chip.empty();
  if (inSections)
    manager.addPass(createCpuCutSections({.anywhere = true}),
                    "all code of nests is there, and passes up to threads look "
                    "at no two nests together");
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(createExpandViews(),
                    "all views, those of the entry too, become descriptors and "
                    "arithmetic");
  addCleanup(functions, "arithmetic of views, which is known in most cases");
  functions.addPass(createLowerBufferCopies(),
                    "copies of what turned out to be strided views");
  functions.addPass(createConvertLinalgToNests(),
                    "what the pass before has made of copies");
  functions.addPass(createLowerTransfers(),
                    "vectors that go to elements apart from one another, while "
                    "there are still loops to make");
  if (inSections)
    manager.addPass(createCpuJoinSections(),
                    "threads are a matter of the whole function");
}

void loopc::populateThreads(PassAdder manager, const PipelineOptions &options) {
  manager.addPass(createParallelizeNests(
                      {.compact = options.optLevel == 1 || options.quickCode}),
                  "nests are final and their marks are proved; before they "
                  "become functions, of which it makes its own");
}

void loopc::populateProfile(PassAdder manager, const PipelineOptions &options) {
  if (options.profile)
    manager.addPass(createProfileParts(),
                    "nests are shared by threads, or are not: what the run's "
                    "own thread does is in one function");
}

void loopc::populateFunctions(PassAdder manager,
                              const PipelineOptions &options) {
  manager.addPass(
      createOutlineNests(),
      "no pass rewrites nests any more; LLVM takes the square of the "
      "loops of a function");
  manager.addPass(createDivideBlocks(), "of what is left between the nests");
  manager.addPass(createExpandMath(),
                  "behind the choice of functions, which counts elementary "
                  "functions and not what they become; leaves arithmetic of "
                  "vectors");
  // Side by side from here on; kernels are in a module of their own.
  PassAdder functions =
      options.gpu.chip.empty() ? manager.nest<func::FuncOp>() : manager;
  functions.addPass(createLowerAffinePass(),
                    "all that reads maps of accesses is done");
  functions.addPass(createLowerVectors(),
                    "behind the last pass that makes vectors; leaves those "
                    "that the LLVM dialect has an operation for");
  functions.addPass(createBranchesBackwards(),
                    "no pass wants loops any more; conversions to LLVM want "
                    "branches");
}

void loopc::populateLLVMDialect(PassAdder manager,
                                const PipelineOptions &options) {
  manager.addPass(createConvertLoopRuntimeToLLVM(),
                  "behind branches: a check that fails returns from the "
                  "function; before memref is lowered, whose allocations are "
                  "the run's");
  manager.addPass(createConvertDialectsToLLVM(),
                  "all dialects that are left, at once: each conversion goes "
                  "through the whole module. Of math there is what "
                  "loopc-expand-math has left: functions that LLVM has");
  PassAdder functions = manager.nest<LLVM::LLVMFuncOp>();
  // To find equal blocks, or dead ones, takes longer than LLVM's work on them,
  // and a second round finds next to nothing.
  functions.addPass(createCanonicalizerOf("llvm"),
                    "descriptors that are taken apart where they were made");
  functions.addPass(createEliminateCommon(),
                    "less for LLVM to read, and nests that are equal look it");
  PassAdder all = options.gpu.chip.empty() ? functions : manager;
  all.addPass(createReconcileUnrealizedCastsPass(),
              "casts between conversions have met their counterparts");
  manager.addPass(
      createShareNests(),
      "functions are final: those that are equal are compiled once");
}

void loopc::populateLLVMEnd(PassAdder manager, const PipelineOptions &) {
  addVerifier(manager, Stage::LLVM);
}
