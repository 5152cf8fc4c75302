//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LOOP_GROWTH_PASSES_TD
#define LOOPC_LOOP_GROWTH_PASSES_TD

include "mlir/Pass/PassBase.td"

def LoopCollectAppended
    : Pass<"loop-collect-appended", "::mlir::func::FuncOp"> {
  let summary = "make sequences that are only appended to scan outputs";
  let description = [{
    A carried sequence that begins empty and to which every iteration appends
    one tensor, whose shape no iteration changes, becomes a collected value:
    what is read of it behind the loop (`list.at`, `list.length`) are
    slices of the collected tensor and the number of iterations. A loop that
    joins them all in order (ConcatFromSequence) becomes a view.

    ```mlir
    %s = loop.loop ... carried(%l = %none : !onnx.seq<tensor<*xf32>>) {
      %n = list.length %l
      %m = list.insert %x, %shape into %l[%n]
      loop.yield carried(%m)
    }
    %e, %f = list.at %s[%k]
    // becomes
    %s = loop.loop ... collect(tensor<?x64xf32> axis 0) {
      loop.yield collect(%x)
    }
    %e = tensor.extract_slice %s[%k, 0] [1, 64] [1, 1]
    ```
  }];
  let statistics = [Statistic<"numCollected", "collected",
                              "sequences that became collected values">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def LoopCollectInPlace : Pass<"loop-collect-in-place", "::mlir::func::FuncOp"> {
  let summary = "write scan outputs to their final place";
  let description = [{
    If the trip count and the shape of a scan output's element are known before
    the loop, each element is inserted into a carried tensor of the final shape,
    so that bufferization lets its producer write there. If a condition may end
    the loop before a constant trip count, the tensor has room for all iterations,
    as long as that takes at most 1 MiB.
  }];
  let statistics = [Statistic<"numInPlace", "collected-in-place",
                              "collected values written in place">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::complex::ComplexDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def LoopGrowInPlace : Pass<"loop-grow-in-place", "::mlir::func::FuncOp"> {
  let summary = "keep tensors that grow by concatenation in larger buffers";
  let description = [{
    A carried tensor to which iterations, or branches and loops in them, append
    elements before or after the others, along one axis, or from which they
    remove some (queues, stacks, windows), becomes a view into a larger tensor:
    new elements are written into the free room, and nothing else is copied. If
    trip count and additions are known before the loop, the tensor has the final
    size. Otherwise a full one is replaced by a larger one: the pass makes
    `loop.reserve`, which `loop-lower-collected` lowers to a test and an
    allocation.

    ```mlir
    %r = loop.loop ... carried(%x = %x0 : tensor<8x?xf32>) {
      %n = tensor.dim %x, %c1 : tensor<8x?xf32>
      %e = tensor.empty(n + 1) : tensor<8x?xf32>
      %a = tensor.insert_slice %x into %e[0, 0] [8, %n] [1, 1]
      %y = tensor.insert_slice %new into %a[0, %n] [8, 1] [1, 1]
      loop.yield carried(%y : tensor<8x?xf32>)
    }
    // becomes
    %b, %l = loop.loop ... carried(%x = %x0 : tensor<8x?xf32>, %n = %n0 : index) {
      %room, %at = loop.reserve %x at %c0 used %n front %c0 back %c1 axis 1
      %y = tensor.insert_slice %new into %room[0, %n] [8, 1] [1, 1]
      loop.yield carried(%y, n + 1 : tensor<8x?xf32>, index)
    }
    %r = tensor.extract_slice %b[0, 0] [8, %l] [1, 1]
    ```
  }];
  let statistics = [
    Statistic<"numGrowing", "growing", "values that grow in a buffer">,
    Statistic<"numExact", "exact", "of these, in one of the final size">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def LoopMergeLengths : Pass<"loop-merge-lengths", "::mlir::func::FuncOp"> {
  let summary = "merge the equal lengths of buffers that grow together";
  let description = [{
    Each value that grows in a loop has its own length once
    `loop-grow-in-place` has given it a buffer with room. Where two values grow
    alike (keys and values of an attention) the lengths begin alike and go on
    alike: they become one carried value. What compares them, as broadcasting
    does, is known then, and so is that it cannot fail.

    Functions without a loop that carries several numbers and several matrices
    are left as they are; others are canonicalized.

    ```mlir
    loop.loop (...) carried(%k = %k0 : tensor<?x64xf32>, %v = %v0 : tensor<?x64xf32>,
                            %n = %c0 : index, %m = %c0 : index) {
      %same = arith.cmpi eq, %n, %m : index
      ...
      loop.yield while(%c : i1) carried(%k1, %v1, %n1, %m1 ...) // %n + 1, %m + 1
    // becomes
    loop.loop (...) carried(%k = ..., %v = ..., %n = %c0 : index) {
    ```
  }];
  let statistics = [
    Statistic<"numMerged", "merged", "loops some ports of which were merged">];
  let dependentDialects = ["::loopc::loop::LoopDialect"];
}

def LoopLowerCollected : Pass<"loop-lower-collected", "::mlir::func::FuncOp"> {
  let summary = "collect scan outputs of unknown length in growing buffers";
  let description = [{
    After bufferization. `loop.reserve` becomes a test whether there is room, and
    a branch (`loopc.grows`, `loopc.cold`) that allocates a larger buffer and
    copies the elements. A scan output becomes a carried flat buffer with
    capacity, doubled when it is full, so that memory follows the iterations that
    were executed and never the trip count. That all iterations yield one shape is checked
    (`loop_collect_shape`). An axis other than 0 or a reversed direction is one
    permuting copy behind the loop.
  }];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::complex::ComplexDialect",
    "::mlir::linalg::LinalgDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

#endif // LOOPC_LOOP_GROWTH_PASSES_TD
