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
      "before all passes whose code depends on the target: they read one "
      "attribute");
}

void loopc::populateONNXToLinalg(PassAdder manager,
                                 const PipelineOptions &options) {
  bool forVectors = options.optLevel > 0 && options.gpu.chip.empty();
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(
      createONNXSwitchOnRank(),
      "the lowerings need operands of known rank. A node on values of unknown "
      "rank is compiled for a small known rank that the operator allows, on "
      "reshaped views, or once for each rank, with a switch at run time");
  functions.addPass(createConvertONNXToLinalg({.channelsLast = forVectors,
                                               .dotProducts = forVectors}),
                    "types and ranks are known. Leaves linalg, arith and math "
                    "on tensors; loops and branches stay");
  functions.addPass(createLoopLowerScan(),
                    "all later passes know one loop operation, loop.loop");
  functions.addPass(
      createONNXLowerUnranked(),
      "no node reads a tensor of unknown rank any more; only loops, branches "
      "and the function's arguments and results have such types");
}

void loopc::populateFourierOnGPU(PassAdder manager, const PipelineOptions &) {
  manager.nest<func::FuncOp>().addPass(
      createTensorExpandFourier(),
      "the lowering leaves a Fourier transform as one operation, which only "
      "the host can compute, by a call of the runtime; as elementwise steps it "
      "is fused into kernels");
}

void loopc::populateScalars(PassAdder manager, const PipelineOptions &) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(createConvertElementwiseToLinalgPass(),
                    "arith and math on tensors become linalg.generic, so that "
                    "later passes see one form");
  functions.addPass(createLoopScalarize(),
                    "bodies are linalg. Leaves trip counts, conditions and "
                    "carried values of one element as scalars");
  addCleanup(functions, "removes tensors of one element, so that a condition "
                        "is a comparison of scalars");
}

void loopc::populateTripCounts(PassAdder manager, const PipelineOptions &) {
  manager.nest<func::FuncOp>().addPass(
      createLoopCountTrips(), "conditions are comparisons of scalars now; "
                              "later passes profit from known trip counts");
}

void loopc::populateSlices(PassAdder manager, const PipelineOptions &) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(
      createLoopLowerSlices(),
      "after trip counts are known: it checks once, before the loop, that "
      "there are as many slices. Leaves tensor.extract_slice");
  functions.addPass(createLoopHoistDims(),
                    "dimensions that are computed from the inits before the "
                    "loop make what depends on them loop-invariant");
  functions.addPass(createLoopFoldBounds(),
                    "offsets of slices and trip counts are known now; leaves "
                    "fewer dimensions that must be compared at run time");
  addCleanup(functions, "folds dimensions that are known now into types");
}

void loopc::populateVersions(PassAdder manager, const PipelineOptions &) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(
      createLoopVersionShapes(),
      "dimensions are computed before the loop, where the test of the version "
      "is; before all passes that ask whether two dimensions are equal");
  addCleanup(functions, "in the new version comparisons of dimensions fold");
}

void loopc::populateWeights(PassAdder manager, const PipelineOptions &options) {
  if (options.weights == WeightType::Model)
    return;
  manager.nest<func::FuncOp>().addPass(
      createTensorNarrowWeights(
          {.type = options.weights,
           .wide = options.optLevel == 0 || !options.gpu.chip.empty()}),
      "contractions are linalg; later passes see what a model with weights of "
      "fewer bits would have");
}

void loopc::populateLayouts(PassAdder manager, const PipelineOptions &options) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(createTensorChooseLayouts(),
                    "before constants are folded and operations are fused, "
                    "since both remove the transposes that it moves");
  functions.addPass(createTensorSinkExpansions(),
                    "weights have their final layout. A conversion (Cast, "
                    "DequantizeLinear) of a weight is folded by the next "
                    "phase, or it is moved behind the operations that only "
                    "move elements, towards the contraction that reads it");
  if (options.optLevel >= 2)
    functions.addPass(createTensorVersionExtents(),
                      "layouts are chosen once, for both versions; before all "
                      "fusions, which stop at branches");
}

void loopc::populateInvariants(PassAdder manager, const PipelineOptions &) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(createTensorFoldConstants(),
                    "constants have their final layout; what is constant need "
                    "not be hoisted");
  functions.addPass(createLoopHoistInvariants(),
                    "dimensions are hoisted already, and what depends on them "
                    "follows; before loops are fused or distributed");
  functions.addPass(createLoopHoistDims(),
                    "dimensions that follow from what was just hoisted");
  functions.addPass(createLoopFoldBounds(),
                    "slices of carried values whose dimensions are known now");
  functions.addPass(createLoopHoistChecks(),
                    "dimensions are hoisted; a body without checks can be "
                    "fused and vectorized");
  addCleanup(functions, "removes duplicates of what was hoisted, so that the "
                        "fusion of loops sees equal operands as equal");
  functions.addPass(createLoopFuseLoops(),
                    "before scan outputs get their storage: one that only the "
                    "next loop reads needs none");
  functions.addPass(createLoopCollectAppended(),
                    "sequences that are only appended to become scan outputs, "
                    "before these get their storage");
}

void loopc::populateRecurrences(PassAdder manager, const PipelineOptions &) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(
      createLoopDistributeStages(),
      "after the fusion of loops, which would undo it. Leaves contractions "
      "between the recurrences for loop-batch-slices");
  functions.addPass(createCanonicalizer(),
                    "removes from each loop what only the other one needs");
}

void loopc::populateCollected(PassAdder manager,
                              const PipelineOptions &options) {
  PassAdder functions = manager.nest<func::FuncOp>();
  if (options.gpu.chip.empty())
    functions.addPass(createTensorExpandRepeats(),
                      "equal dimensions are known to be equal; before "
                      "elementwise fusion, which then reads the original. Only "
                      "for CPUs: a kernel reads the copy as fast");
  functions.addPass(
      createLoopCollectInPlace(),
      "loops are final except for their bodies. Leaves tensor.insert_slice "
      "into a carried tensor, which bufferizes without a copy");
  addCleanup(functions, "folds dimensions and offsets of these insertions");
}

void loopc::populateFusion(PassAdder manager, const PipelineOptions &options) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(
      createLoopBatchSlices(),
      "before elementwise fusion, while contractions stand alone; computes "
      "them before the loop for all iterations at once");
  if (options.gpu.chip.empty())
    functions.addPass(createTensorScaleSubnormals(),
                      "constants are folded and contractions stand alone; its "
                      "scaling is then fused. Only for CPUs: GPUs compute "
                      "subnormal numbers at full speed");
  functions.addPass(
      createTensorFuseElementwise(),
      "no pass moves tensor operations any more. Leaves one linalg.generic for "
      "what can be computed in one pass over memory");
  functions.addPass(createTensorWidenFactors(),
                    "fusion is done, so that it sees which roundings to 16 "
                    "bits are stored to memory");
  if (options.gpu.chip.empty())
    functions.addPass(createTensorTabulateBytes(),
                      "a function of one byte is one fused operation now. Only "
                      "for CPUs: GPUs compute faster than they look up");
  functions.addPass(createLoopGrowInPlace(),
                    "after elementwise fusion, which would fuse a view of the "
                    "part of the buffer that is in use as any other operand");
}

void loopc::populateFusionOnGPU(PassAdder manager, const PipelineOptions &) {
  addCleanup(manager, "dimensions and views that loop-grow-in-place leaves; "
                      "for CPUs the next phase does it");
}

void loopc::populateInterchanges(PassAdder manager, const PipelineOptions &) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(
      createCpuInterchangeElements(),
      "bodies are fused, so that it sees whether a whole body is elementwise. "
      "Takes whole loops; the passes behind do not see them");
  functions.addPass(createLoopMergeLengths(),
                    "after loop-grow-in-place, which gives each buffer a "
                    "length of its own; before the next pass, whose loops over "
                    "batches could not compare these lengths");
  functions.addPass(
      createCpuInterchangeBatches(),
      "loops whose carried values have a batch axis (attention heads), if the "
      "pass above did not take them; before packing, since contractions are "
      "then of one element of the batch");
  addCleanup(
      manager,
      "removes what the interchanges leave, so that contractions are seen");
}

void loopc::populateRegisters(PassAdder manager, const PipelineOptions &) {
  manager.nest<func::FuncOp>().addPass(
      createLoopCarryPadded(),
      "bodies are fused: what computes the next field is one operation");
  manager.nest<func::FuncOp>().addPass(createCpuReduceColumns(),
                                       "loops have their final bodies; before "
                                       "packing, whose column axis it chooses");
  manager.nest<func::FuncOp>().addPass(
      createTensorSumClasses(),
      "before packing, which would bring the columns into panels");
  manager.addPass(createCpuPackContractions(),
                  "contractions have their final operands. Leaves operands in "
                  "panels of the tile's width, packed at compile time "
                  "(constants) or outside of loops");
  PassAdder bodies = manager.nest<func::FuncOp>();
  bodies.addPass(createCpuKeepInRegisters(),
                 "after packing, which needs linalg; makes vectors of the "
                 "small tensors that are left");
  bodies.addPass(createLoopUnrollSmall(),
                 "its cost model counts vector operations, which exist now");
  addCleanup(manager, "induction variables of unrolled loops are constants");
  PassAdder rows = manager.nest<func::FuncOp>();
  rows.addPass(createCpuFuseReductions(),
               "last of the fusions: no other pass knows an operation that "
               "yields rows and their reductions");
  rows.addPass(createLoopHoistInvariants(),
               "packing and unrolling leave loop-invariant operations");
  rows.addPass(createTensorVersionBroadcasts(),
               "after all fusions: it turns a copy into a branch, and fusion "
               "crosses neither");
  addCleanup(manager, "removes transposes that packing has absorbed, and "
                      "constants without users");
}

void loopc::populateLinalgEnd(PassAdder manager, const PipelineOptions &) {
  manager.nest<func::FuncOp>().addPass(
      createRetractPacked(), "operands that are marked as packed, by passes or "
                             "in hand-written IR, have their final definition");
  addVerifier(manager, Stage::Linalg);
}
