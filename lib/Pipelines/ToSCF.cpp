//===- ToSCF.cpp - From linalg on buffers to nests of loops ---------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommonPasses.h"
#include "loopc/Bufferize/Passes.h"
#include "loopc/Codegen/CPU/Passes.h"
#include "loopc/Conversion/LoopToSCF/Passes.h"
#include "loopc/Dialect/Nest/Transforms/Passes.h"
#include "loopc/Instrument/Passes.h"

using namespace mlir;
using namespace loopc;

void loopc::populateCopies(PassAdder manager, const PipelineOptions &options) {
  if (options.optLevel > 0 && options.gpu.chip.empty())
    manager.addPass(
        createBufferStoreBooleans(),
        "after ownership is decided: a buffer and the carried value that takes "
        "it over must have one element type; before vectorization. Only for "
        "CPUs, from -O1 on");
  manager.nest<func::FuncOp>().addPass(
      createLowerBufferCopies(),
      "before vectorization: a strided copy becomes a linalg operation, which "
      "is then vectorized");
}

void loopc::populateVectors(PassAdder manager, const PipelineOptions &options) {
  manager.nest<func::FuncOp>().addPass(
      createCpuTileChains(),
      "allocations are hoisted, and operations are still linalg");
  manager.addPass(createCpuCutSections(),
                  "the passes behind make most of the code, and run on the "
                  "sections in parallel; chains of contractions, which must "
                  "not be cut, are one operation already");
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(
      createCpuVectorizeContractions(
          {.compact = options.optLevel == 1, .inOrder = options.quickCode}),
      "before the passes that lower linalg otherwise: takes contractions, "
      "convolutions too, with their epilogues");
  functions.addPass(
      createCpuVectorizeRows(),
      "after contractions: vectorizes what LLVM would not vectorize as well; "
      "the rest is left to LLVM's vectorizers");
}

void loopc::populateNests(PassAdder manager, const PipelineOptions &options) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(createConvertLinalgToNests(),
                    "lowers what no pass has taken. Marks the loops over "
                    "parallel dimensions");
  functions.addPass(
      createConvertLoopToSCF({.markIterations = options.profile}),
      "no later pass knows loop.loop. Bodies are loop nests already, so that "
      "short ones poll for cancellation once in many iterations");
  functions.addPass(createEliminateCommon(),
                    "dimensions and indices are computed many times; before "
                    "canonicalization, which has less to visit then");
  functions.addPass(createCanonicalizer(),
                    "folds loops of one iteration, carried values that do not "
                    "change, and known indices");
}

void loopc::populateShortRecurrences(PassAdder manager,
                                     const PipelineOptions &) {
  manager.nest<func::FuncOp>().addPass(
      createNestShortenRecurrences(),
      "carried scalars are SSA values, and bodies are final");
}

void loopc::populateNestFusion(PassAdder manager, const PipelineOptions &) {
  manager.addPass(createCpuJoinSections(),
                  "the fusion of nests looks at the whole function");
  manager.nest<func::FuncOp>().addPass(
      createNestFuseOutermost(),
      "after cleanup, so that equal bounds are one SSA value");
  manager.nest<func::FuncOp>().addPass(createNestFuseStrips(),
                                       "after nests are fused, within these");
  manager.nest<func::FuncOp>().addPass(
      createNestContractBuffers(),
      "after fusion, which brings all accesses of a buffer into one nest");
  manager.nest<func::FuncOp>().addPass(
      createNestMakeSections(), "after fusion: no later pass moves nests");
}

void loopc::populateIndependence(PassAdder manager,
                                 const PipelineOptions &options) {
  PassAdder functions = manager.nest<func::FuncOp>();
  if (options.optLevel > 0 && options.gpu.chip.empty())
    functions.addPass(createNestMarkIndependent(),
                      "bodies of the model's loops are final. Only for CPUs, "
                      "from -O1 on");
  functions.addPass(createNestRetractUnproved(),
                    "last of the passes of this stage that rewrite nests: all "
                    "marks that stay are proved");
}

void loopc::populateSCFEnd(PassAdder manager, const PipelineOptions &) {
  // Nothing comes between the proof of the marks and the end of the stage.
  addVerifier(manager, Stage::SCF, /*areMarksProved=*/true);
}

void loopc::populateAccessChecks(PassAdder manager,
                                 const PipelineOptions &options) {
  if (options.checkAccesses)
    manager.addPass(
        createCheckAccesses(),
        "all accesses exist; later passes only add copies of whole buffers");
}
