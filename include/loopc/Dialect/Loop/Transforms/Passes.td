//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LOOP_TRANSFORMS_PASSES_TD
#define LOOPC_LOOP_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def LoopLowerScan : Pass<"loop-lower-scan", "::mlir::func::FuncOp"> {
  let summary = "lower loop.scan to loop.loop";
  let description = [{
    A scan becomes a loop over the length of its inputs, which are its slices;
    that all have one length is checked at run time where types do not tell
    (`scan_lengths`). A batched scan (Scan-8) becomes a loop over the batch
    around a loop over the sequence (`scan8_batch`, `scan8_lengths`).
  }];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def LoopLowerSlices : Pass<"loop-lower-slices", "::mlir::func::FuncOp"> {
  let summary = "read slices from captured values";
  let description = [{
    A slice becomes a `tensor.extract_slice` of its value, which the body
    captures (`loop_slice`): a view, no copy. Reading past the extent is an
    error of the run; it is checked once before the loop where the trip count is
    known there and no condition can end the loop earlier.
  }];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def LoopScalarize : Pass<"loop-scalarize", "::mlir::func::FuncOp"> {
  let summary = "make one-element loop values scalars";
  let description = [{
    Trip counts, conditions, iteration numbers and all carried and collected
    values that are tensors of one element become scalars, which stay in
    registers.

    ```mlir
    %r = loop.loop (%i : tensor<i64>, %c : tensor<i1>) carried(%x = %x0 : tensor<f32>) ...
    // becomes
    %s0 = tensor.extract %x0[] : tensor<f32>
    %s = loop.loop (%i : i64, %c : i1) carried(%x = %s0 : f32) ...
    %r = tensor.from_elements %s : tensor<f32>
    ```
  }];
  let statistics = [Statistic<"numScalars", "carried-scalars",
                              "carried values that became scalars">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def LoopHoistDims : Pass<"loop-hoist-dims", "::mlir::func::FuncOp"> {
  let summary = "take dimensions that iterations do not change from the inits";
  let description = [{
    A dimension of a carried value that is the same in every iteration is read
    from the init, outside of the loop: what is computed from it can be hoisted.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def LoopCollectInPlace : Pass<"loop-collect-in-place", "::mlir::func::FuncOp"> {
  let summary = "write collected values into their final place";
  let description = [{
    Where the trips and the shape of a collected value are known when the loop
    begins, the value is inserted into a carried tensor of the final shape, so
    that bufferization lets its producer write there. Others stay collected.
  }];
  let statistics = [Statistic<"numInPlace", "collected-in-place",
                              "collected values written in place">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def LoopLowerCollected : Pass<"loop-lower-collected", "::mlir::func::FuncOp"> {
  let summary = "collect values of unknown number in buffers that grow";
  let description = [{
    After bufferization: a collected value becomes a carried flat buffer with
    capacity, doubled when it is full, so that memory follows the trips that
    were run and never the trip count. That all iterations yield one shape is
    checked (`loop_collect_shape`). An axis other than 0 or a reversed direction
    is one permuting copy behind the loop.
  }];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def LoopPlaceDeallocations
    : Pass<"loop-place-deallocations", "::mlir::func::FuncOp"> {
  let summary = "settle who owns each buffer and free it after its last use";
  let description = [{
    Ownership is static: a loop owns its carried buffers, the last use of a
    buffer moves it where an owner is wanted (a loop's init, a yield, a
    function's result), and a copy is made only where a buffer that is still
    needed, or belongs to somebody else, would have to be given away. A result
    of a branch that is a fresh buffer on one side and an outer one on the other
    carries a flag.
  }];
  let statistics = [Statistic<"numCopies", "copies",
                              "copies inserted to own a buffer">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def LoopAssignStorage : Pass<"loop-assign-storage", "::mlir::func::FuncOp"> {
  let summary = "no allocation in loops whose shapes do not change";
  let description = [{
    A buffer that lives within one iteration and whose size does not change is
    allocated once, before the loop. A buffer that is carried to the next
    iteration while another one of its size dies takes turns with it: a spare
    buffer is carried along.
  }];
  let statistics = [
    Statistic<"numHoisted", "hoisted", "allocations moved out of loops">,
    Statistic<"numSpares", "spares", "carried buffers that take turns">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def LoopFuseElementwise
    : Pass<"loop-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "make elementwise operations one loop over registers";
  let description = [{
    Elementwise producers are fused into their consumers where nobody else needs
    them or where they are cheap to compute again; neighbours over the same
    elements become one `linalg.generic` with several results.
  }];
  let statistics = [Statistic<"numMerged", "merged",
                              "neighbours merged into one operation">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
    "::mlir::affine::AffineDialect", "::mlir::tensor::TensorDialect"];
}

def LoopPrivatizeEmpty
    : Pass<"loop-privatize-empty", "::mlir::func::FuncOp"> {
  let summary = "give every user of a tensor.empty its own";
  let description = [{
    CSE and hoisting share what is only a place for a result; shared, it would
    have to be copied when it is bufferized.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

#endif // LOOPC_LOOP_TRANSFORMS_PASSES_TD
