//===- ToLinalg.cpp - From canonical loops to linalg ----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommonPasses.h"
#include "loopc/Codegen/CPU/Passes.h"
#include "loopc/Conversion/ONNXToLinalg/Passes.h"
#include "loopc/Conversion/UnknownRank/Passes.h"
#include "loopc/Dialect/Loop/Growth/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "loopc/Tensor/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"

using namespace mlir;
using namespace loopc;

void loopc::populateTarget(PassAdder manager, const PipelineOptions &options) {
  if (!options.vectors)
    return;
  manager.addPass(
      createSetTarget({.vectorBits = options.vectors->bits,
                       .registers = options.vectors->registers,
                       .maskBits = options.vectors->maskBits,
                       .dotBits = options.vectors->dotBits,
                       .scales = options.vectors->scales,
                       .chip = options.gpu.chip,
                       .minWork = options.gpu.minWork,
                       .tf32 = options.gpu.allowTf32,
                       .libdevice = options.gpu.hasLibdevice,
                       .loops = getName(options.gpu.loops).str(),
                       .cublas = getName(options.gpu.cublas).str()}),
      "before all passes whose code depends on the target, so that "
      "they agree on it");
}

void loopc::populateONNXToLinalg(PassAdder manager,
                                 const PipelineOptions &options) {
  bool forVectors = options.optLevel > 0 && options.gpu.chip.empty();
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(createONNXSwitchOnRank(),
                    "the lowerings of operators want operands of a known rank: "
                    "a node gets views of such, where its types have none");
  functions.addPass(createConvertONNXToLinalg({.channelsLast = forVectors,
                                               .dotProducts = forVectors}),
                    "types and ranks are known; leaves linalg, and arith and "
                    "math on tensors, in loops and branches that stay");
  functions.addPass(createLoopLowerScan(),
                    "from here on there is one kind of loop");
  functions.addPass(createONNXLowerUnranked(),
                    "no node is left that reads a tensor of unknown rank, only "
                    "loops, branches and the function's border do");
}

void loopc::populateFourierOnGPU(PassAdder manager, const PipelineOptions &) {
  manager.nest<func::FuncOp>().addPass(
      createTensorExpandFourier(),
      "the lowering leaves transforms whole, which only the host can call the "
      "runtime for; their passes are elementwise, and fused with the rest");
}

void loopc::populateScalars(PassAdder manager, const PipelineOptions &) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(createConvertElementwiseToLinalgPass(),
                    "arithmetic on tensors, of lowerings and of loops written "
                    "by hand, becomes linalg.generic as all else is");
  functions.addPass(createLoopScalarize(),
                    "all bodies are linalg; leaves trip counts, conditions and "
                    "carried values of one element as scalars");
  addCleanup(functions, "scalars go through tensors of one element no more: "
                        "conditions are comparisons that can be read");
}

void loopc::populateTripCounts(PassAdder manager, const PipelineOptions &) {
  manager.nest<func::FuncOp>().addPass(
      createLoopCountTrips(),
      "wants conditions as comparisons of scalars; all that comes behind knows "
      "the trips of more loops when they begin");
}

void loopc::populateSlices(PassAdder manager, const PipelineOptions &) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(createLoopLowerSlices(),
                    "behind the trip counts, by which it checks the extents "
                    "once; leaves tensor.extract_slice, which all passes read");
  functions.addPass(createLoopHoistDims(),
                    "extents of carried values are read outside of loops, so "
                    "that what follows from them is invariant");
  functions.addPass(createLoopFoldBounds(),
                    "slices have their offsets and extents, trip counts are "
                    "known; leaves fewer extents that a run has to compare");
  addCleanup(functions, "folds extents that are known now into types");
}

void loopc::populateVersions(PassAdder manager, const PipelineOptions &) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(createLoopVersionShapes(),
                    "extents are outside of loops, where the test is made; "
                    "before all that asks whether extents are equal");
  addCleanup(functions, "in the new version comparisons of extents are known");
}

void loopc::populateWeights(PassAdder manager, const PipelineOptions &options) {
  if (options.weights == WeightType::Model)
    return;
  manager.nest<func::FuncOp>().addPass(
      createTensorNarrowWeights(
          {.type = options.weights,
           .wide = options.optLevel == 0 || !options.gpu.chip.empty()}),
      "products are linalg; from here on weights are as in a model that stores "
      "them in few bits");
}

void loopc::populateLayouts(PassAdder manager, const PipelineOptions &options) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(
      createTensorChooseLayouts(),
      "before constants are folded and operations are fused: it moves "
      "transposes, which both then take up");
  functions.addPass(
      createTensorSinkExpansions(),
      "transposes of weights have their place; leaves them as constants, which "
      "are then folded, or behind what moves their elements");
  if (options.optLevel >= 2)
    functions.addPass(
        createTensorVersionExtents(),
        "orders of axes are chosen for one version; before all fusions, which "
        "end at branches");
}

void loopc::populateInvariants(PassAdder manager, const PipelineOptions &) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(
      createTensorFoldConstants(),
      "with their final order of axes; what is constant then need "
      "not be moved out of loops");
  functions.addPass(createLoopHoistInvariants(),
                    "extents are outside already, and what depends on them "
                    "alone follows; before loops are fused or cut");
  functions.addPass(createLoopHoistDims(),
                    "extents that only follow from what has been hoisted");
  functions.addPass(createLoopFoldBounds(),
                    "slices of carried values, whose extents are known now");
  functions.addPass(createLoopHoistChecks(),
                    "wants extents outside of loops; a body without checks may "
                    "be fused, and run in vectors");
  addCleanup(functions, "bodies have no copies of what was hoisted, so that "
                        "loops can be compared");
  functions.addPass(createLoopFuseLoops(),
                    "before collected values have places: what one loop "
                    "collects for another alone is not collected");
  functions.addPass(createLoopCollectAppended(),
                    "lists that are only appended to become collected values, "
                    "before these get their places");
}

void loopc::populateRecurrences(PassAdder manager, const PipelineOptions &) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(createLoopDistributeStages(),
                    "behind the fusion of loops, which would undo it; leaves "
                    "products between recurrences for loop-batch-slices");
  functions.addPass(createCanonicalizer(),
                    "each loop carries and computes what it reads alone");
}

void loopc::populateCollected(PassAdder manager,
                              const PipelineOptions &options) {
  PassAdder functions = manager.nest<func::FuncOp>();
  if (options.gpu.chip.empty())
    functions.addPass(createTensorExpandRepeats(),
                      "extents that are equal are known to be; before "
                      "elementwise operations are fused, which then reads what "
                      "was repeated where it is. Kernels read copies as well");
  functions.addPass(createLoopCollectInPlace(),
                    "loops are final but for their bodies; leaves insertions "
                    "into a carried tensor, which bufferize without copies");
  addCleanup(functions, "folds the extents of the places");
}

void loopc::populateFusion(PassAdder manager, const PipelineOptions &options) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(createLoopBatchSlices(),
                    "before operations are fused, while products stand alone; "
                    "takes them out of loops, for all iterations at once");
  if (options.gpu.chip.empty())
    functions.addPass(createTensorScaleSubnormals(),
                      "constants are folded and products stand alone; what it "
                      "multiplies is then fused. A GPU needs no more time for "
                      "subnormal numbers");
  functions.addPass(createTensorFuseElementwise(),
                    "all tensor code has its final place; leaves one "
                    "linalg.generic for what goes through memory once");
  functions.addPass(createTensorWidenFactors(),
                    "wants to see who reads a factor: fusing has left the "
                    "roundings to 16 bits that stay in memory");
  if (options.gpu.chip.empty())
    functions.addPass(createTensorTabulateBytes(),
                      "functions of bytes are one operation, from what is read "
                      "to what is stored; kernels compute faster than they "
                      "look up");
  functions.addPass(
      createLoopGrowInPlace(),
      "behind fusing, which would take a view of a buffer with room for an "
      "operand like any other");
}

void loopc::populateFusionOnGPU(PassAdder manager, const PipelineOptions &) {
  addCleanup(manager, "what loop-grow-in-place leaves of extents and views; "
                      "for a CPU the next phase does it");
}

void loopc::populateInterchanges(PassAdder manager, const PipelineOptions &) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(createCpuInterchangeElements(),
                    "bodies are fused, so that it sees whether all of one is "
                    "element by element; takes whole loops away from the rest");
  functions.addPass(createLoopMergeLengths(),
                    "behind loop-grow-in-place, which gives each buffer a "
                    "length; no part of a loop could check that they agree");
  functions.addPass(createCpuInterchangeBatches(),
                    "of the loops that are left, those of several heads; "
                    "before products are packed, which then are of one head");
  addCleanup(manager, "products are seen without what the tiles left behind");
}

void loopc::populateRegisters(PassAdder manager, const PipelineOptions &) {
  manager.nest<func::FuncOp>().addPass(
      createCpuReduceColumns(),
      "all loops have their final bodies; before products are packed, whose "
      "columns it chooses");
  manager.addPass(createCpuPackContractions(),
                  "products have their final operands; leaves panels in maps, "
                  "and packing where a loop does not repeat it");
  PassAdder bodies = manager.nest<func::FuncOp>();
  bodies.addPass(createCpuKeepInRegisters(),
                 "behind packing, which wants linalg: what is left of small "
                 "tensors becomes vectors");
  bodies.addPass(createLoopUnrollSmall(),
                 "counts the operations of bodies that are vectors already");
  addCleanup(manager, "numbers of iterations are constants now");
  PassAdder rows = manager.nest<func::FuncOp>();
  rows.addPass(createCpuFuseReductions(),
               "last of all fusions: an operation with rows and their "
               "sums is none that others know");
  rows.addPass(createLoopHoistInvariants(),
               "packing and unrolling have made what loops do not change");
  rows.addPass(createTensorVersionBroadcasts(),
               "behind all fusions: what takes a copy takes a branch no "
               "better");
  addCleanup(manager, "transposes that were packed through, constants that "
                      "nobody reads now");
}

void loopc::populateLinalgEnd(PassAdder manager, const PipelineOptions &) {
  manager.nest<func::FuncOp>().addPass(
      createRetractPacked(),
      "what has been packed, here or in the text, has its final source");
  addVerifier(manager, Stage::Linalg);
}
