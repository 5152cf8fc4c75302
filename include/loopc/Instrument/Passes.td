//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Passes that make a model watch itself: for finding faults of the compiler.

#ifndef LOOPC_INSTRUMENT_PASSES_TD
#define LOOPC_INSTRUMENT_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckAccesses : Pass<"loopc-check-accesses", "::mlir::ModuleOp"> {
  let summary = "check the bounds of every access at run time";
  let description = [{
    Puts a `loop.check` in front of everything that reads, writes or describes a
    buffer, so that code that would reach beyond one ends the run with an error
    that names the node, the position and the extents, where it would read
    anything or damage the heap.

    | operation | what must hold |
    |---|---|
    | `memref.load`, `memref.store` | each index is below the extent of its axis |
    | `vector.load`, `vector.store` | the same, of the last element along each axis |
    | `vector.maskedload`, `vector.maskedstore`, `vector.gather`, `vector.scatter`, `vector.expandload`, `vector.compressstore` | the same, of the elements that the mask names |
    | `vector.transfer_read`, `vector.transfer_write` | the same, along the axes that are said to be in bounds, and of the first element along axes that the vector does not cover |
    | `memref.copy` | both buffers have the same extents |
    | `memref.subview` | a view that is not empty lies within its source |
    | `memref.cast` | the extents and strides that the result's type names are the source's |
    | `memref.expand_shape` | the extents of a group have the product that they replace |
    | `memref.alloc` | no extent is negative |
    | `memref.reinterpret_cast`, `memref.view` | the view lies within the buffer that it is made of |

    A view is held against what it is a view of, so that accesses by way of any
    number of views stay within the allocation. Only `memref.reinterpret_cast`
    may go beyond its source: it is held against the allocation, and not checked
    where that came through a loop or a branch.

    The pass also marks the module with `loopc.guarded`. The runtime gives such a
    model each buffer a place of its own that ends where unreadable memory
    begins, and makes a buffer unreadable when it is freed (LOOPC_MODEL_GUARDED
    in loopc_rt.h): what this pass does not see, code of later passes included,
    is stopped there by a signal, as is the use of a buffer that was freed.

    ```mlir
    memref.store %v, %b[%i] : memref<?xf32>
    // becomes
    %n = memref.dim %b, %c0 : memref<?xf32>
    %in = arith.cmpi ult, %i, %n : index
    loop.check %in, "main/#3 Add 'a': memref.store at ..." (%i, %n : index, index)
    memref.store %v, %b[%i] : memref<?xf32>
    ```
  }];
  let statistics = [Statistic<"numChecks", "checks", "checks that were put in">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect"];
}

def ProfileParts : Pass<"loopc-profile-parts", "::mlir::ModuleOp"> {
  let summary = "measure nests, calls and loops of the model at run time";
  let description = [{
    Divides the model's function into parts: loops of the model (those that
    `convert-loop-to-scf` marked with `loopc.iterations`), and what became of one
    node elsewhere. Behind each part is a call of `loopc_rt_profile_mark`, which
    reads the time once; what takes less than a few hundred instructions is a part
    of what follows it. In a loop the calls are behind a test: the runtime says of
    each iteration whether it is measured, and lets as many go by that measuring
    takes a small part of the time. A loop whose iterations take no longer than
    the question is one part.

    Other functions are not changed: what threads share is one part.

    ```mlir
    scf.for %i = %c0 to %n step %c1 {
      func.call @main_nest(%x) : (memref<?xf32>) -> ()
    } {loopc.iterations = "each"}
    // becomes
    scf.if %on { llvm.call @loopc_rt_profile_enter(%run, %loop) }
    scf.for %i = %c0 to %n step %c1 {
      %measured = ... @loopc_rt_profile_iteration(%run, %loop)
      func.call @main_nest(%x) : (memref<?xf32>) -> ()
      scf.if %measured { llvm.call @loopc_rt_profile_mark(%run, %part) }
      scf.if %measured { llvm.call @loopc_rt_profile_next(%run, %loop) }
    }
    scf.if %on { llvm.call @loopc_rt_profile_leave(%run, %loop) }
    ```
  }];
  let statistics = [Statistic<"numParts", "parts", "parts that are told apart">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // LOOPC_INSTRUMENT_PASSES_TD
