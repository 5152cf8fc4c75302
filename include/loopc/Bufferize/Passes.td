//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_BUFFERIZE_PASSES_TD
#define LOOPC_BUFFERIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def BufferizeEliminateEmpty
    : Pass<"loopc-eliminate-empty-tensors", "::mlir::ModuleOp"> {
  let summary = "compute results directly in the slice they are inserted into";
  let description = [{
    MLIR's `eliminate-empty-tensors`, with an analysis that takes time about
    linear in the size of functions (`lib/Bufferize/InPlaceAnalysis.cpp`).
    Checks come in front of what is computed without being seen. Behind a check
    that cannot, what is inserted has a place of its own: the check may be what
    holds the part to the result.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
    "::mlir::tensor::TensorDialect"];
}

def BufferizeTensors : Pass<"loopc-bufferize", "::mlir::ModuleOp"> {
  let summary = "replace tensors by buffers (One-Shot Bufferize)";
  let description = [{
    MLIR's `one-shot-bufferize` of whole functions, whose buffers have no
    layouts and may be yielded by loops, with the same analysis.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
    "::mlir::memref::MemRefDialect"];
}

def MarkInputsReadOnly
    : Pass<"loopc-mark-inputs-read-only", "::mlir::ModuleOp"> {
  let summary = "mark function arguments as not writable for bufferization";
  let description = [{
    A run never writes into its inputs: bufferization copies what it would have
    to change.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def BufferPrivatizeEmpty
    : Pass<"buffer-privatize-empty", "::mlir::func::FuncOp"> {
  let summary = "give every user of a tensor.empty its own";
  let description = [{
    CSE and hoisting share what is only a place for a result; shared, it would
    have to be copied when it is bufferized. The same is true of a place that is
    partly written before a loop and for the rest in each iteration: the
    iterations write that part again, which is less than a copy of all.

    A tensor.collapse_shape that merges an extent of 0 with one that is not known
    gives way to a tensor.empty, too: MLIR's memref.collapse_shape has no type
    for it.

    Where a branch yields what was computed before it, the place for that is
    allocated. eliminate-empty-tensors would make it a part of what the branch's
    result is inserted into, which has other extents where another is taken.

    Several results of one operation that are inserted into one tensor are given
    places in it. Rows and columns of a matrix that a loop carries are copied
    where an iteration computes all of the matrix from itself and from them: it
    stays in its place then. Sums whose rows are inserted with gaps between their
    elements (one phase of a transposed convolution) have a place of their own,
    where vectors can be stored.
  }];
  let options = [Option<"reportWork", "report-work", "bool", "false",
                        "say how many values branches were asked for">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::tensor::TensorDialect"];
}

def BufferWriteCarried : Pass<"buffer-write-carried", "::mlir::func::FuncOp"> {
  let summary = "store what is both carried and a scan output twice, without a "
                "copy";
  let description = [{
    A value that an iteration hands to the next one and stores in a row of what
    the loop collects would be computed in the row, and copied from there to the
    buffer of what is carried. Where a linalg.generic computes it element by
    element it gets a second result, which is carried. Behind sums it stays: the
    copy takes little beside them, and they are computed at one go with what
    follows.

    ```mlir
    %h = linalg.generic ... -> tensor<?xf32>
    %rows = tensor.insert_slice %h into %all[%i, 0] ...
    loop.yield ... carried(%h, %rows)
    // becomes
    %h:2 = linalg.generic ... -> tensor<?xf32>, tensor<?xf32>
    %rows = tensor.insert_slice %h#0 into %all[%i, 0] ...
    loop.yield ... carried(%h#1, %rows)
    ```
  }];
  let statistics = [Statistic<"numWritten", "written", "values written twice">];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def BufferResolveDroppedAxes : Pass<"buffer-resolve-dropped-axes"> {
  let summary = "make explicit which unit dimensions a subview drops";
  let description = [{
    Where the strides are not known, and another axis has the extent 1 as well,
    MLIR's passes may take another axis of a `memref.subview` for the one that
    it leaves out than was left out of the tensor. Such views become
    `memref.reinterpret_cast`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def BufferPlaceDeallocations
    : Pass<"buffer-place-deallocations", "::mlir::func::FuncOp"> {
  let summary = "decide who owns each buffer, and free it after its last use";
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
  let options = [Option<"reportWork", "report-work", "bool", "false",
                        "say how many uses of buffers were looked at">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

def BufferAssignStorage : Pass<"buffer-assign-storage", "::mlir::func::FuncOp"> {
  let summary = "update carried buffers in place or double-buffer them; hoist "
                "allocations";
  let description = [{
    A buffer, also of a branch, that is allocated and freed in one iteration, and
    whose size does not change, is allocated once, before the loop, unless an
    iteration has more than 1024 of them.

    A new value of a carried buffer is written into the buffer of an old value of
    the same size that the iteration frees, if all uses of the old value come
    before the first use of the new one. The last use of the old value and the
    first use of the new one may be one `linalg.generic` that computes the new
    value from the old one element by element. Outside of loops such a
    `linalg.generic` writes over an operand, too, if that holds no sums of
    products.

    Where the old value is used later, the two buffers alternate (double
    buffering): the loop carries one spare buffer more.

    ```mlir
    loop.loop ... carried(%x = %x0 : memref<8xf32>) {
      %y = memref.alloc() : memref<8xf32>
      linalg.generic ins(%x) outs(%y) ... // reverses %x
      memref.dealloc %x : memref<8xf32>
      loop.yield ... carried(%y : memref<8xf32>)
    }
    // becomes
    %s0 = memref.alloc() : memref<8xf32>
    %r:2 = loop.loop ... carried(%x = %x0, %s = %s0 : ...) {
      linalg.generic ins(%x) outs(%s) ...
      loop.yield ... carried(%s, %x : ...)
    }
    memref.dealloc %r#1 : memref<8xf32>
    ```
  }];
  let options = [
    Option<"straight", "straight", "bool", /*default=*/"true",
           "also write over buffers that die outside of loops">,
    Option<"reportWork", "report-work", "bool", "false",
           "say how many uses of buffers were followed">];
  let statistics = [
    Statistic<"numReused", "reused", "carried buffers written over">,
    Statistic<"numHoisted", "hoisted", "allocations moved out of loops">,
    Statistic<"numSpares", "spares", "carried buffers that take turns">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def LowerBufferCopies : Pass<"loopc-lower-buffer-copies"> {
  let summary = "lower strided copies of buffers to linalg";
  let description = [{
    `memref.copy` between buffers without gaps stays (a memcpy); others become
    `linalg.generic`.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def BufferStoreBooleans
    : Pass<"buffer-store-booleans", "::mlir::ModuleOp"> {
  let summary = "store i1 buffers as bytes";
  let description = [{
    Elements of type i1 take a byte each in memory, but lie in vectors as bits.
    As `i8` they are copied, combined and stored in vectors like other elements;
    computing with them stays in `i1`. What is read from a buffer is truncated,
    what is written extended; what a body of linalg hands on, or combines by
    `and`, `or` or `xor`, stays a byte.

    ```mlir
    %c = memref.load %m[%i] : memref<?xi1>
    memref.store %c, %n[%i] : memref<?xi1>
    // becomes
    %b = memref.load %m[%i] : memref<?xi8>
    %c = arith.trunci %b : i8 to i1
    %d = arith.extui %c : i1 to i8
    memref.store %d, %n[%i] : memref<?xi8>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // LOOPC_BUFFERIZE_PASSES_TD
