//===- ToMemRef.cpp - From tensors to buffers -----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommonPasses.h"
#include "loopc/Bufferize/Passes.h"
#include "loopc/Dialect/Loop/Growth/Passes.h"

using namespace mlir;
using namespace loopc;

void loopc::populateBuffers(PassAdder manager, const PipelineOptions &options) {
  manager.addPass(createMarkInputsReadOnly(),
                  "else bufferization would write into the caller's memory");
  if (options.optLevel > 0)
    manager.nest<func::FuncOp>().addPass(
        createBufferWriteCarried(),
        "after the last CSE on tensors, which would merge the two stores of a "
        "value that is carried and also a scan output");
  manager.nest<func::FuncOp>().addPass(
      createBufferPrivatizeEmpty(),
      "CSE has merged tensor.empty operations; a shared one would cost a copy");
  manager.addPass(createBufferizeEliminateEmpty(),
                  "each tensor.empty has one user now, and can be replaced by "
                  "the slice that the result is inserted into");
  manager.addPass(
      createBufferizeTensors(),
      "tensors have their final layout. Leaves buffers that nobody frees yet");
  manager.addPass(
      createBufferResolveDroppedAxes(),
      "a bufferized subview may drop another unit dimension than the tensor's "
      "slice did; before canonicalization, which folds such views");
  addCleanup(manager, "removes casts and copies of bufferization");
}

void loopc::populateOwnership(PassAdder manager,
                              const PipelineOptions &options) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(createLoopLowerCollected(),
                    "a scan output of unknown length becomes a carried buffer, "
                    "before the ownership of carried buffers is decided");
  functions.addPass(createCanonicalizer(),
                    "removes carried values that no iteration changes");
  functions.addPass(createBufferPlaceDeallocations(),
                    "all allocations exist. Leaves exactly one owner of each "
                    "buffer on every path");
  BufferAssignStorageOptions storage;
  storage.straight = options.optLevel > 0 && options.gpu.chip.empty();
  functions.addPass(createBufferAssignStorage(storage),
                    "lifetimes are known. Leaves carried buffers that are "
                    "updated in place or double-buffered, and no allocation in "
                    "loops whose shapes do not change");
  functions.addPass(
      createCanonicalizer(),
      "removes ownership flags and copies that are not needed, and folds "
      "dimensions of buffers that are allocated before the loop now");
}

void loopc::populateMemRefEnd(PassAdder manager, const PipelineOptions &) {
  addVerifier(manager, Stage::MemRef);
}
