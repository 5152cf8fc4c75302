//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_NEST_TRANSFORMS_PASSES_TD
#define LOOPC_DIALECT_NEST_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

// Which loops are long loopc-parallelize-nests and loopc-outline-nests agree on.
def Nest_LongLoopOption
    : Option<"longLoop", "long-loop", "unsigned", /*default=*/"48",
             "nests and calls in an iteration from which on a call is nothing">;

def NestRetractUnproved : Pass<"nest-retract-unproved", "::mlir::func::FuncOp"> {
  let summary = "prove, or retract, marks of parallel loops and private "
                "buffers";
  let description = [{
    Passes that write a loop over a parallel dimension mark it with
    `loopc.parallel`; what later passes do to its body may make that wrong. Here
    each mark is put to the dependence test (`findParallelObstacle`). Where it
    fails the mark goes, and a remark says why. Behind this pass the stage
    verifier refuses a mark that cannot be proved. The same holds for buffers
    that are marked `loopc.private`: what an iteration reads of one must lie in
    what the same iteration has written before (`findPrivateObstacle`).
    What an iteration allocates is its own: threads of a run can allocate. Where
    code is made for a GPU (`#loopc.target`) such a loop loses its mark, as the
    threads of a kernel cannot.

    ```mlir
    // Window i reaches into the next one: the mark goes.
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        %k = arith.addi %i, %j : index
        memref.store %f, %x[%k] : memref<?xf32>
      }
    } {loopc.parallel}
    ```
  }];
  let statistics = [
    Statistic<"numRetracted", "retracted", "marks that were taken back">
  ];
}

def NestMarkIndependent
    : Pass<"nest-mark-independent", "::mlir::func::FuncOp"> {
  let summary = "mark loops of the model whose iterations are independent";
  let description = [{
    Passes mark the nests that they write. A loop of the model is marked here,
    if it yields nothing, has work for threads, and the dependence test
    (`findParallelObstacle`) finds its iterations independent: one that only
    collects, say. What it needs in each iteration is marked as that iteration's
    own (`loopc.private`) where that is proved. Loops in such a loop stay as
    they are, those in others are tried. Not for a GPU.

    ```mlir
    %row = memref.alloc() : memref<64xf32>
    scf.for %i = %c0 to %n step %c1 {
      // writes %row, reads it, and writes %y[%i, ...]
    }
    // becomes
    %row = memref.alloc() {loopc.private} : memref<64xf32>
    scf.for %i = %c0 to %n step %c1 {
    } {loopc.parallel}
    ```
  }];
  let statistics = [Statistic<"numMarked", "marked", "loops that were marked">];
}

def ConvertLinalgToNests : Pass<"convert-linalg-to-nests"> {
  let summary = "lower linalg on buffers to scf loops with marks of parallel "
                "ones";
  let description = [{
    As convert-linalg-to-loops; a loop whose iterations write different elements
    gets the attribute `loopc.parallel`, for loopc-parallelize-nests. Where code
    is made for a GPU (`#loopc.target`) these loops are outside of the others: an
    element is computed at one go. For a CPU, loops that look up elements of less
    than 32 bits, for which there are no gathers, tell LLVM to make no vectors of
    them (`llvm.loop_annotation`).
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
    "::mlir::affine::AffineDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

def NestFuseOutermost : Pass<"nest-fuse-outermost", "::mlir::func::FuncOp"> {
  let summary = "fuse the outermost loops of nests that read one another";
  let description = [{
    Nests over the same range whose iterations are independent become one, if
    one writes a large buffer that the next one reads, each iteration the part
    that it has written: that part is still in the cache.

    ```mlir
    scf.for %h = ... { // writes %scores[%h, ...]
    } {loopc.parallel}
    scf.for %h = ... { // reads %scores[%h, ...]
    } {loopc.parallel}
    // becomes
    scf.for %h = ... { // both
    } {loopc.parallel}
    ```
  }];
  let statistics = [Statistic<"numFused", "fused", "nests joined to another">];
  let options = [Option<"reportWork", "report-work", "bool", "false",
                        "say how many uses of buffers were looked at">];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

def NestFuseStrips : Pass<"nest-fuse-strips", "::mlir::func::FuncOp"> {
  let summary = "compute the rows that an iteration reads in that iteration";
  let description = [{
    A nest of which each iteration reads some rows that another nest has
    written, all of which are its own, computes these rows itself, if nobody
    else reads them and the buffer is too large for a cache: a convolution and
    the pooling behind it. The buffer becomes one of the rows of an iteration.

    ```mlir
    scf.for %i = %c0 to %c900 step %c1 { // writes %image[%i, ...]
    } {loopc.parallel}
    scf.for %i = %c0 to %c450 step %c1 { // reads %image[2 * %i + 0 and 1, ...]
    } {loopc.parallel}
    // becomes
    %rows = memref.alloc() {loopc.private} : memref<2x...>
    scf.for %i = %c0 to %c450 step %c1 {
      scf.for %r = %c0 to %c2 step %c1 { // computes row 2 * %i + %r
      } {loopc.parallel}
      ... // reads %rows[0 and 1, ...]
    } {loopc.parallel}
    ```

    Where it is not seen that an iteration writes all that it reads there, it
    allocates the rows itself. Nests in a loop of the model stay as they are.
  }];
  let statistics = [Statistic<"numFused", "fused", "nests joined to another">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

def NestContractBuffers
    : Pass<"nest-contract-buffers", "::mlir::func::FuncOp"> {
  let summary = "contract buffers to what one iteration accesses";
  let description = [{
    Array contraction: a large buffer that one nest alone accesses, each
    iteration of its outer loops a part of its own, becomes one such part, which
    stays in a cache. Where the loops are parallel it is seen that an iteration
    writes what it reads there, so that threads may have a part each.

    ```mlir
    %sums = memref.alloc(%n) : memref<?x128x144xf32>
    scf.for %i = %c0 to %n step %c1 {
      ... // writes %sums[%i, ...], and reads it
    } {loopc.parallel}
    // becomes
    %sums = memref.alloc() {loopc.private} : memref<1x128x144xf32>
    scf.for %i = %c0 to %n step %c1 {
      ... // writes %sums[0, ...], and reads it
    } {loopc.parallel}
    ```
  }];
  let statistics = [Statistic<"numContracted", "contracted",
                              "buffers that became those of an iteration">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect"];
}

def NestMakeSections : Pass<"nest-make-sections", "::mlir::func::FuncOp"> {
  let summary = "run independent loops on a thread each";
  let description = [{
    Loops whose iterations need one another, and which touch no memory that
    another one of them writes, become the iterations of a nest that is marked
    `loopc.parallel`, for loopc-parallelize-nests: the two directions of a
    recurrence. A thread that computes one of them meets the others once, where
    sharing out each step would make them meet after each. What lies between two
    of them, and does not need the first one, is computed before both. Loops in
    loops of the model stay as they are. (These are sections in the sense of
    OpenMP, not those of `cpu-cut-sections`.)

    ```mlir
    scf.for %t = %c0 to %n step %c1 { // a step, of %x
    }
    scf.for %t = %c0 to %n step %c1 { // another one, of %y
    }
    // becomes
    scf.for %k = %c0 to %c2 step %c1 {
      scf.index_switch %k
      case 0 {
        scf.for %t = %c0 to %n step %c1 { // a step, of %x
        }
      }
      default {
        scf.for %t = %c0 to %n step %c1 { // another one, of %y
        }
      }
    } {loopc.parallel}
    ```
  }];
  let statistics = [Statistic<"numMade", "made", "nests of such loops">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect"];
}

def NestShortenRecurrences
    : Pass<"nest-shorten-recurrences", "::mlir::func::FuncOp"> {
  let summary = "reassociate so that the carried value is combined last";
  let description = [{
    Of several numbers whose least or greatest one a loop carries on
    (arith.minimumf, arith.maximumf), those that are known before the iteration
    before has ended are combined first: an iteration waits for one operation
    instead of several. Numbers are the same; of zeros and of NaNs any.

    ```mlir
    scf.for ... iter_args(%x = %init) -> (f32) {
      %0 = arith.minimumf %x, %a : f32
      %1 = arith.minimumf %0, %b : f32
      // becomes
      %0 = arith.minimumf %a, %b : f32
      %1 = arith.minimumf %0, %x : f32
    ```
  }];
  let statistics = [Statistic<"numShortened", "shortened",
                              "recurrences that were shortened">];
}

def ParallelizeNests
    : Pass<"loopc-parallelize-nests", "::mlir::ModuleOp"> {
  let summary = "run independent iterations of large nests on threads";
  let description = [{
    The outermost loops with the attribute `loopc.parallel` (perfectly nested
    ones together) become a function of a range of iterations. The runtime calls
    it on several threads if the run has more than one, and if the nest has at
    least `min-shared-work` operations, an eighth of them if the threads are
    started already, a 64th in a loop. Reads of operands that no cache can hold
    count as work. If the amount of work is dynamic, the compiled code decides. A
    nest that is known to be smaller stays as it is. If the outermost loop may
    have one iteration, as a batch of dynamic extent, the nests in it are shared
    instead. Sums are not split: results are the same for every number of
    threads.

    ```mlir
    scf.for %i = %c0 to %n step %c1 {...} {loopc.parallel}
    // becomes
    scf.if %threads {
      call @main_shared(%run, %n, ...) // by the runtime, if it pays
      loop.poll
    } else {
      call @main_parallel(%run, %c0, %n, ...)
    }
    ```

    In a loop of few nests a call costs time. There the other branch holds the
    nest itself, not a call; with `compact`, which does not want the nest twice,
    the nest stays as it is. Outside of loops, and in a loop with `long-loop`
    nests and calls or more, both branches are calls. A nest whose iterations
    write to one place stays as it is, too. Each iteration owns what it
    allocates.
  }];
  let options = [
    Option<"minWork", "min-shared-work", "unsigned", /*default=*/"524288",
           "operations from which on threads pay; an 8th of it where they are there, in a loop a 64th">,
    Option<"minPiece", "min-piece", "unsigned", /*default=*/"32768",
           "operations of a piece, at least">,
    Nest_LongLoopOption,
    Option<"compact", "compact", "bool", /*default=*/"false",
           "nests that would be there twice stay as they are">];
  let statistics = [
    Statistic<"numParallel", "parallel", "nests that run on threads">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::loopc::rt::RTDialect", "::mlir::arith::ArithDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect"];
}

def OutlineNests : Pass<"loopc-outline-nests", "::mlir::ModuleOp"> {
  let summary = "outline the loop nests of a large function";
  let description = [{
    LLVM's analyses take time with the square of the loops in a function. In a
    function of at least `min-ops` operations (an elementary function counts as
    16, as it becomes more) every loop nest that runs at most once a run, or in
    a loop with `long-loop` of them, and neither allocates nor fails, becomes a
    function; equal ones become one. Memory that only one argument reaches is
    marked `llvm.noalias`. So does a loop that allocates or may fail, if it
    yields nothing and the function is given the run (`!rt.run`): it returns a
    status, and `loop.poll` behind the call asks for it.

    A function of the model that has no loop without its nests is code that a
    run passes through once, which LLVM need not optimise: of such, `min-straight`
    operations are enough.

    In all functions, a loop marked `loopc.parallel` that reads elements where
    others say (a Gather, with what is computed of it) is annotated for LLVM:
    its accesses are parallel, so that it becomes vectors without tests.
  }];
  let options = [Option<"minOps", "min-ops", "unsigned", /*default=*/"1500",
                        "functions with fewer operations stay whole">,
                 Option<"minStraight", "min-straight", "unsigned",
                        /*default=*/"300",
                        "the same of functions of the model that have no loop "
                        "without their nests">,
                 Nest_LongLoopOption,
                 Option<"reportWork", "report-work", "bool", "false",
                        "say how many uses of buffers were looked at">];
  let statistics = [
    Statistic<"numOutlined", "outlined", "nests that were moved">,
    Statistic<"numShared", "shared", "nests for which there was a function">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect"];
}

def DivideBlocks : Pass<"loopc-divide-blocks", "::mlir::ModuleOp"> {
  let summary = "outline pieces of a very large basic block";
  let description = [{
    LLVM's work on a function grows faster than the function. This pass divides a
    function that has the run as an argument and at least twice `min-size`
    operations. Each block with so many operations becomes a sequence of calls,
    innermost blocks first. A piece of the block, of at least `min-size`
    operations with their regions, becomes a function. It returns a status, if it
    may fail, and the values that are used after the piece; a `loop.poll` after
    the call asks for its error. A piece ends where few values are live. It is not
    outlined if more than `max-words` numbers and pointers would be returned, or
    more than `max-handed-words` passed. Equal pieces become one function. Waits
    for a GPU, and memory on the stack, stay in the block. A function without
    loops is divided only if at least half of its pieces have the same operations
    and types as another piece.

    ```mlir
    scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> (memref<?xf32>) {
      %t = ...
      %u = scf.if %p -> (memref<?xf32>) ...
      scf.yield %u : memref<?xf32>
    }
    // becomes
    scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> (memref<?xf32>) {
      %status:2 = func.call @main_section(%run, %i, %s)
        : (!llvm.ptr, index, memref<?xf32>) -> (i32, memref<?xf32>)
      loop.poll
      %status_0:2 = func.call @main_section_0(%run, %i, %status#1)
        : (!llvm.ptr, index, memref<?xf32>) -> (i32, memref<?xf32>)
      loop.poll
      scf.yield %status_0#1 : memref<?xf32>
    }
    ```
  }];
  let options = [Option<"minSize", "min-size", "unsigned", /*default=*/"1000",
                        "operations of a piece at least">,
                 Option<"maxWords", "max-words", "unsigned", /*default=*/"256",
                        "numbers and pointers that a piece returns at most">,
                 Option<"maxHandedWords", "max-handed-words", "unsigned",
                        /*default=*/"1000",
                        "numbers and pointers that it gets at most">];
  let statistics = [
    Statistic<"numSections", "sections", "pieces that were outlined">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect"];
}

def ShareNests : Pass<"loopc-share-nests", "::mlir::ModuleOp"> {
  let summary = "merge outlined functions that are equal but for constants";
  let description = [{
    In LLVM's dialect: internal functions marked `loopc.outlined`, which
    `loopc-outline-nests` and `loopc-parallelize-nests` make, lose the arguments
    that they do not read. Those that are equal but for numbers become one, which
    gets the numbers that differ as arguments, and keeps `llvm.noalias` at
    arguments that all of them have it at. Numbers of nodes, which count on from
    one layer to the next, are sums of one argument. Bounds below 16 stay
    constants, and so do the distances in an innermost loop where there are many
    of them: nests that differ in these are not shared.

    ```mlir
    llvm.call @nest(%x, %y) : (!llvm.ptr, !llvm.ptr) -> ()   // of 64 elements
    llvm.call @nest_0(%x, %y) : (!llvm.ptr, !llvm.ptr) -> () // of 96
    // ->
    llvm.call @nest(%x, %y, %c64) : (!llvm.ptr, !llvm.ptr, i64) -> ()
    llvm.call @nest(%x, %y, %c96) : (!llvm.ptr, !llvm.ptr, i64) -> ()
    ```
  }];
  let statistics = [
    Statistic<"numDropped", "dropped", "arguments that nobody read">,
    Statistic<"numShared", "shared", "nests that became calls of another">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // LOOPC_DIALECT_NEST_TRANSFORMS_PASSES_TD
