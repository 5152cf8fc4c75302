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
    manager.addPass(createBufferStoreBooleans(),
                    "who owns buffers is settled, so that none has another "
                    "type than the one it is handed on as; before vectors");
  manager.nest<func::FuncOp>().addPass(
      createLowerBufferCopies(),
      "before vectors are made: a copy with strides is an operation of linalg "
      "like others");
}

void loopc::populateVectors(PassAdder manager, const PipelineOptions &options) {
  manager.nest<func::FuncOp>().addPass(
      createCpuTileChains(),
      "what an iteration of a loop allocates is hoisted where "
      "it can be; operations are linalg still");
  manager.addPass(createCpuCutSections(),
                  "passes from here on make most of the code; chains, which "
                  "have several products, are one already");
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(
      createCpuVectorizeContractions(
          {.compact = options.optLevel == 1, .inOrder = options.quickCode}),
      "takes sums of products, convolutions too, and what follows "
      "them in registers, before others take it apart");
  functions.addPass(createCpuVectorizeRows(),
                    "takes the rest that is worth vectors of our own; what it "
                    "leaves LLVM makes vectors of");
}

void loopc::populateNests(PassAdder manager, const PipelineOptions &options) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(createConvertLinalgToNests(),
                    "all that no pass before has taken; leaves loops that say "
                    "whether their iterations are independent");
  functions.addPass(
      createConvertLoopToSCF({.markIterations = options.profile}),
      "nothing that knows loop.loop comes behind it, and bodies "
      "are nests already, so that tight ones are polled in strips");
  functions.addPass(createEliminateCommon(),
                    "extents and places of elements are there many times; "
                    "before canonicalization, which goes through all of them");
  functions.addPass(createCanonicalizer(),
                    "loops of one iteration, carried values that do not "
                    "change, indices that are known");
}

void loopc::populateShortRecurrences(PassAdder manager,
                                     const PipelineOptions &) {
  manager.nest<func::FuncOp>().addPass(
      createNestShortenRecurrences(),
      "numbers that loops carry are values, and bodies are there as they stay");
}

void loopc::populateNestFusion(PassAdder manager, const PipelineOptions &) {
  manager.addPass(createCpuJoinSections(),
                  "nests of all sections may become one");
  manager.nest<func::FuncOp>().addPass(
      createNestFuseOutermost(),
      "wants nests whose bounds are equal as values: behind the cleanup");
  manager.nest<func::FuncOp>().addPass(createNestFuseStrips(),
                                       "within the nests that are one now");
  manager.nest<func::FuncOp>().addPass(
      createNestMakeSections(),
      "nests that are fused are one; what a loop holds is as it stays");
}

void loopc::populateIndependence(PassAdder manager,
                                 const PipelineOptions &options) {
  PassAdder functions = manager.nest<func::FuncOp>();
  if (options.optLevel > 0 && options.gpu.chip.empty())
    functions.addPass(
        createNestMarkIndependent(),
        "the bodies of loops of the model are nests as they stay");
  functions.addPass(
      createNestRetractUnproved(),
      "last of the passes that rewrite nests: marks that are left are proved");
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
        "all accesses are there: what comes later makes none of its "
        "own but copies of whole buffers");
}
