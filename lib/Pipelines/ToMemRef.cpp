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
                  "bufferization would write into what the caller owns");
  if (options.optLevel > 0)
    manager.nest<func::FuncOp>().addPass(
        createBufferWriteCarried(),
        "behind the last cleanup on tensors, which would join results that are "
        "equal");
  manager.nest<func::FuncOp>().addPass(
      createBufferPrivatizeEmpty(),
      "equal places for results were made one, which would have to be copied");
  manager.addPass(createBufferizeEliminateEmpty(),
                  "each place has one user: a result is computed where it is "
                  "inserted");
  manager.addPass(createBufferizeTensors(),
                  "tensors are as they shall be in memory; leaves buffers "
                  "without owners");
  manager.addPass(createBufferResolveDroppedAxes(),
                  "bufferized views may leave out another axis than the "
                  "tensor's did; before canonicalization folds them");
  addCleanup(manager, "casts and copies of bufferization");
}

void loopc::populateOwnership(PassAdder manager,
                              const PipelineOptions &options) {
  PassAdder functions = manager.nest<func::FuncOp>();
  functions.addPass(createLoopLowerCollected(),
                    "rows of an unknown number become a carried buffer, before "
                    "anybody asks who owns what is carried");
  functions.addPass(createCanonicalizer(),
                    "carried values that are not changed leave the loop");
  functions.addPass(createBufferPlaceDeallocations(),
                    "all buffers are there; leaves exactly one owner for each "
                    "on every path");
  BufferAssignStorageOptions storage;
  storage.straight = options.optLevel > 0 && options.gpu.chip.empty();
  functions.addPass(createBufferAssignStorage(storage),
                    "where a buffer ends is known; leaves carried buffers that "
                    "take turns, and no allocation in loops of fixed shapes");
  functions.addPass(createCanonicalizer(),
                    "flags and copies of owners that are known, and extents of "
                    "what is allocated before the loop now");
}

void loopc::populateMemRefEnd(PassAdder manager, const PipelineOptions &) {
  addVerifier(manager, Stage::MemRef);
}
