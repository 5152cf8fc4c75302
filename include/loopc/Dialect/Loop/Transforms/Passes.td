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
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def LoopExpandFourier
    : Pass<"loop-expand-fourier", "::mlir::func::FuncOp"> {
  let summary = "compute Fourier transforms element by element";
  let description = [{
    A `loop.fourier` of a tensor becomes passes that each compute a tensor of
    complex numbers from the one before, an element by itself: on a GPU they are
    kernels, in the middle of a loop too. Each takes a factor of the length off;
    where one of its prime factors is large, transforms whose length is a power
    of two convolve. Where only the run knows the length, the passes are a loop.

    ```mlir
    %y = loop.fourier %x : tensor<?x8x2xf64>
    // becomes
    %roots = linalg.generic ... -> tensor<8xcomplex<f64>>
    %a = linalg.generic ... { x[.., k], x[.., k + 2], ... } // radix 4
    %b = linalg.generic ... { a[.., k], a[.., k + 4] }      // radix 2
    %y = linalg.generic ... -> tensor<?x8x2xf64>
    ```
  }];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::complex::ComplexDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
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

def LoopVersionShapes : Pass<"loop-version-shapes", "::mlir::func::FuncOp"> {
  let summary = "a version of a loop for extents that agree";
  let description = [{
    Where only the run tells whether extents are equal, broadcasting needs
    branches, and a carried value may change its shape. Such a loop gets a
    second version, in which every comparison of extents that does not depend on
    an iteration holds, and every carried value keeps the extents of its init.
    That is decided before the loop: the extents of an iteration's results are
    computed from those of the inits. What is assumed of a carried value is an
    operation in the version until it is proved, or retracted.

    ```mlir
    %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%h = %init : tensor<?xf32>) {
      %d = tensor.dim %h, %c0 : tensor<?xf32>
      %same = arith.cmpi eq, %d, %e : index
      %x = scf.if %same -> (tensor<?xf32>) {
    // becomes
    %d = tensor.dim %init, %c0 : tensor<?xf32>
    %same = arith.cmpi eq, %d, %e : index
    %r = scf.if %same -> (tensor<?xf32>) {
      %fast = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%h = %init : tensor<?xf32>) {
      // no branch
    } else {
      // as it was
    ```
  }];
  let statistics = [Statistic<"numVersioned", "versioned",
                              "loops with a second version">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def LoopHoistInvariants
    : Pass<"loop-hoist-invariants", "::mlir::func::FuncOp"> {
  let summary = "compute before a loop what its iterations do not change";
  let description = [{
    As MLIR's loop-invariant-code-motion, but a loop that does not run at all
    must not fail (`loop_zero`): divisions stay where the divisor may be 0, new
    tensors where data say their size, and behind a check in the body what
    relies on it, since extents that differ or a view of more than there is
    let it go beyond its operands (Speculation.h has the table).

    ```mlir
    loop.loop (%i : i64, %c : i1) trips(%n : i64) ... {
      %same = arith.cmpi eq, %k, %l : index
      loop.check %same, "inner dimensions: {} and {} differ"(%k, %l : index, index)
      %p = linalg.generic ... ins(%x, %w : tensor<?x?xf32>, tensor<?x?xf32>) // stays
      %e = linalg.generic ... ins(%x : tensor<?x?xf32>)                      // moves
    ```
  }];
  let statistics = [Statistic<"numHoisted", "hoisted",
                              "operations moved before their loop">];
}

def LoopHoistChecks : Pass<"loop-hoist-checks", "::mlir::func::FuncOp"> {
  let summary = "check once that the iterations' numbers are valid indices";
  let description = [{
    A check that the number of the iteration is below an extent that the loop
    does not change becomes one before the loop, of the trip count, where the
    iterations do nothing else that is seen outside, and where each of them
    will run. Which check fails, and with which values, stays as it was
    (`loop_order`).

    ```mlir
    loop.loop (%i : i64, %c : i1) trips(%n : i64) ... {
      %ok = arith.cmpi ult, %i, %extent : i64
      loop.check %ok, "index {} is out of range for {}"(%i, %extent : i64, i64)
    // becomes
    %ok = arith.cmpi ule, %n, %extent : i64
    loop.check %ok, "index {} is out of range for {}"(%extent, %extent : i64, i64) iteration %extent : i64
    loop.loop (%i : i64, %c : i1) trips(%n : i64) ... {
    ```
  }];
  let statistics = [Statistic<"numHoisted", "hoisted",
                              "checks moved before their loop">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect"];
}

def LoopCollectInPlace : Pass<"loop-collect-in-place", "::mlir::func::FuncOp"> {
  let summary = "write collected values into their final place";
  let description = [{
    Where the trips and the shape of a collected value are known when the loop
    begins, the value is inserted into a carried tensor of the final shape, so
    that bufferization lets its producer write there. If a condition may end it
    before a constant number of trips, up to 1 MiB is set aside for as many rows.
  }];
  let statistics = [Statistic<"numInPlace", "collected-in-place",
                              "collected values written in place">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::complex::ComplexDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def LoopCountTrips : Pass<"loop-count-trips", "::mlir::func::FuncOp"> {
  let summary = "make loops whose condition counts counted loops";
  let description = [{
    A condition that compares a number which changes by a constant in every
    iteration with one that does not change (`<`, `<=`, `==` and their likes,
    with and without sign; not, and) says how often the loop runs. The loop gets
    that as its trip count, where the first condition holds, and loses the
    condition: what it collects gets its size when it begins. Numbers that wrap
    around are counted as the model would. The length of what a counted loop
    collects is its trip count, also for those that ask for it.

    ```mlir
    loop.loop (%i : i64, %c : i1) while(%c0 : i1) carried(%k = %k0 : i64) {
      %k1 = arith.addi %k, %c1 : i64
      %go = arith.cmpi slt, %k1, %n : i64
      loop.yield while(%go : i1) carried(%k1 : i64)
    }
    // becomes
    %trips = %c0 ? 1 + max(0, %n - (%k0 + 1)) : 0
    loop.loop (%i : i64, %c : i1) trips(%trips : i64) carried(%k = %k0 : i64) {
    ```
  }];
  let statistics = [
    Statistic<"numCounted", "counted", "conditions that became trip counts">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def LoopFuseLoops : Pass<"loop-fuse-loops", "::mlir::func::FuncOp"> {
  let summary = "make a loop and the one that reads its rows one loop";
  let description = [{
    A loop that runs as often as the one in front of it, and reads of that only
    the row of each iteration (and nothing but rows), is moved into it. Not where
    both can fail: all errors of the first loop come before those of the second
    (`loop_order`). Not where one of them has products of matrices: those are
    computed for all iterations at once, and two loops one behind the other have
    the cache for one set of weights at a time.

    ```mlir
    %y = loop.loop (%i ...) trips(%n : i64) collect(tensor<?x4xf32> axis 0) {
      loop.yield collect(%a : tensor<4xf32>)
    }
    %z = loop.loop (%i ...) trips(%n : i64) collect(tensor<?x4xf32> axis 0) {
      %b = tensor.extract_slice %y[%i, 0] [1, 4] [1, 1]
      ...
    // becomes
    %y, %z = loop.loop (%i ...) trips(%n : i64)
        collect(tensor<?x4xf32> axis 0, tensor<?x4xf32> axis 0) {
      ... // %b is %a
    ```
  }];
  let statistics = [Statistic<"numFused", "fused", "loops that were fused">];
  let dependentDialects = ["::loopc::loop::LoopDialect"];
}

def LoopUnrollSmall : Pass<"loop-unroll-small", "::mlir::func::FuncOp"> {
  let summary = "make loops of a few small iterations straight code";
  let description = [{
    A loop whose trip count is a small constant, and whose body is a few
    operations on scalars and vectors, becomes its iterations. Their numbers are
    constants, also in the messages of checks.

    ```mlir
    %r = loop.loop (%i : i64, %c : i1) trips(%c2 : i64) carried(%x = %x0 : f32) {
      %y = arith.mulf %x, %a : f32
      loop.yield while(%c : i1) carried(%y : f32)
    }
    // becomes
    %y = arith.mulf %x0, %a : f32
    %r = arith.mulf %y, %a : f32
    ```
  }];
  let options = [
    Option<"maxTrips", "max-trips", "int64_t", /*default=*/"8",
           "trips that a loop may have">,
    Option<"maxOps", "max-ops", "int64_t", /*default=*/"64",
           "operations that there may be afterwards">];
  let statistics = [
    Statistic<"numUnrolled", "unrolled", "loops that were unrolled">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def LoopDistributeStages
    : Pass<"loop-distribute-stages", "::mlir::func::FuncOp"> {
  let summary = "make a loop over recurrences behind one another a loop for each";
  let description = [{
    A product of matrices in a loop's body, one of which comes from outside,
    begins a new stage where the other factor depends on carried values none of
    which depends on the product: between the layers of a stacked recurrence.
    Each stage becomes a loop, which collects what later ones read; then
    `loop-batch-slices` computes the products between them for all iterations at
    once. Only where the number of iterations is known when the loop begins,
    what may fail is in one stage, shapes do not change from iteration to
    iteration, and the loop reads or writes something in each iteration beside
    which what is kept is not large.

    ```mlir
    loop.loop (%i ...) trips(%n : i64) carried(%h = ..., %g = ...) {
      %h1 = ...        // of %x[%i], %h
      %a = linalg.generic ... ins(%h1, %w) outs(%zero)
      %g1 = ...        // of %a, %g
    // becomes
    %h2, %hs = loop.loop (%i ...) trips(%n : i64) carried(%h = ...) collect(...) {
      %h1 = ...
    loop.loop (%i ...) trips(%n : i64) carried(%g = ...) {
      %h1 = tensor.extract_slice %hs[%i, 0, 0] [1, 1, 256] [1, 1, 1]
      %a = linalg.generic ... ins(%h1, %w) outs(%zero)
      %g1 = ...
    ```
  }];
  let options = [
    Option<"minWeight", "min-weight", "int64_t", /*default=*/"8192",
           "elements of the outer factor of a product of one row, at least; of "
           "r rows r * r / 2 times as many">];
  let statistics = [
    Statistic<"numLoops", "loops", "loops that there are more">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def LoopBatchSlices : Pass<"loop-batch-slices", "::mlir::func::FuncOp"> {
  let summary = "compute contractions of slices for all iterations at once";
  let description = [{
    A contraction in a loop's body of slices with values from outside, and what
    leads from the slices to it, is computed before the loop for all iterations:
    the product of a cell's inputs with its weights becomes one large one, which
    reads the weights once. Only where the number of iterations is known when
    the loop begins, for what cannot fail and does not rely on a check before it
    in the body, and where the result is not many times as large as the slices.

    ```mlir
    loop.loop (%i ...) trips(%n : i64) ... {
      %x = tensor.extract_slice %xs[%i, 0, 0] [1, 2, 256] [1, 1, 1]
      %a = linalg.generic ... ins(%x, %w) outs(%zero)   // x * w
    // becomes
    %all = linalg.generic ... ins(%xs, %w) outs(%zeros)
    loop.loop (%i ...) trips(%n : i64) ... {
      %a = tensor.extract_slice %all[%i, 0, 0] [1, 2, 1024] [1, 1, 1]
    ```
  }];
  let statistics = [
    Statistic<"numBatched", "batched", "contractions moved out of loops">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def LoopGrowInPlace : Pass<"loop-grow-in-place", "::mlir::func::FuncOp"> {
  let summary = "let values that grow by concatenation live in larger buffers";
  let description = [{
    A carried value that each iteration, a branch or a loop in it puts something
    before or behind, along one axis, or takes something off (queues, stacks,
    windows), becomes a view into a buffer with room: what is added is written
    into its place, and nothing else is copied. Where trips and additions are
    known when the loop begins, the buffer has the final size; otherwise one that
    is full gives way to a larger one (`loop.reserve`).

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

def LoopInterchangeElements
    : Pass<"loop-interchange-elements", "::mlir::func::FuncOp"> {
  let summary = "run all iterations of a tile of elements in registers";
  let description = [{
    A loop whose body computes each element of what it carries from the same
    element of the iteration before becomes loops over tiles of elements, and
    the iterations the loop inside: the tile, a few vectors, stays in registers.
    The loop must have a trip count and no condition, and what it computes must
    not be able to fail. A rest that is no whole tile is read and written under
    a mask.

    ```mlir
    %r = loop.loop ... trips(%n : i64) carried(%x = %x0 : tensor<?xf32>) {
      %y = linalg.generic ... ins(%x, %c : tensor<?xf32>, tensor<?xf32>)
    // becomes
    %r = scf.for %at = %c0 to %size step %c64 iter_args(%o = %empty) {
      %v0 = vector.transfer_read %x0[%at] : tensor<?xf32>, vector<64xf32>
      %w = vector.transfer_read %c[%at] : tensor<?xf32>, vector<64xf32>
      %v1 = loop.loop ... trips(%n : i64) carried(%v = %v0 : vector<64xf32>) {
      ...
      vector.transfer_write %v1, %o[%at] : vector<64xf32>, tensor<?xf32>
    ```
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", "128",
           "bits of a vector register">,
    Option<"registers", "registers", "unsigned", "16",
           "number of vector registers">];
  let statistics = [
    Statistic<"numInterchanged", "interchanged", "loops that were interchanged">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"];
}

def LoopInterchangeScans
    : Pass<"loop-interchange-scans", "::mlir::func::FuncOp"> {
  let summary = "run elementwise loops over columns on transposed tiles";
  let description = [{
    A loop whose body computes element by element, and whose iterations read or
    write successive columns (a scan over the last axis), runs on tiles of as
    many rows and iterations as a vector has elements: a tile is read row by
    row and transposed in registers, its iterations run on vectors of one
    element a row, and what they give is transposed back. Any direction, any
    number of operands; what lies along rows is read where it lies. What is no
    whole tile is read and written under masks. The loop must have a trip count
    and no condition, and what it computes must not be able to fail.

    ```mlir
    %r = loop.loop (%t ...) trips(%n : i64)
        carried(%s = %s0 : tensor<?xf32>, %acc = %e : tensor<?x?xf32>) {
      %x = tensor.extract_slice %xs[0, %t] [%rows, 1] [1, 1]
      %y = linalg.generic ... ins(%s, %x : tensor<?xf32>, tensor<?xf32>)
      %a = tensor.insert_slice %y into %acc[0, %t] [%rows, 1] [1, 1]
    // becomes
    scf.for %row = %c0 to %rows step %c16 {
      loop.loop ... carried(%s = ... : vector<16xf32>, %acc = ...) {
        vector.transfer_read %xs[%row, %t], ... %xs[%row + 15, %t]
        vector.shuffle ...
        scf.for %step = %c0 to %c16 step %c1 iter_args(%v = %s) { ... }
        vector.shuffle ...
        vector.transfer_write ...
    ```
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", "128",
           "bits of a vector register">];
  let statistics = [
    Statistic<"numInterchanged", "interchanged", "loops that were interchanged">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"];
}

def LoopFuseReductions
    : Pass<"loop-fuse-reductions", "::mlir::func::FuncOp"> {
  let summary = "reduce rows while they are computed";
  let description = [{
    A reduction of the last axis and what computes its operand element by
    element, or another operation that reads the same rows, become one
    `linalg.generic` with the elements and the rows' reductions as results.

    ```mlir
    %e = linalg.generic ... ins(%x, %m) { math.exp ... } -> tensor<8x?xf32>
    %s = linalg.generic ... ins(%e) outs(%zero) { arith.addf ... } -> tensor<8xf32>
    // becomes
    %e, %s = linalg.generic ... ins(%x, %m) { math.exp ... arith.addf ... }
    ```
  }];
  let statistics = [Statistic<"numMerged", "merged",
                              "operations merged into others">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def LoopKeepInRegisters
    : Pass<"loop-keep-in-registers", "::mlir::func::FuncOp"> {
  let summary = "small tensors of loop bodies live in vector registers";
  let description = [{
    Elementwise operations and reductions of a loop's body whose tensors have
    few elements, all known here, become operations on vectors; broadcasts and
    transposes are shuffles. A carried value that only they read and write is
    carried as a vector, and a slice that is inserted is one store.

    ```mlir
    loop.loop ... carried(%x = %x0 : tensor<8xf32>, %acc = %e : tensor<?x8xf32>) {
      %y = linalg.generic ... ins(%x, %a : tensor<8xf32>, tensor<8xf32>)
      %z = tensor.insert_slice %y into %acc[%i, 0] [1, 8] [1, 1]
    // becomes
    loop.loop ... carried(%x = %v0 : vector<8xf32>, %acc = %e : tensor<?x8xf32>) {
      %y = arith.mulf %x, %v : vector<8xf32>
      %z = vector.transfer_write %y, %acc[%i, %c0]
    ```
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", "128",
           "bits of a vector register">];
  let statistics = [
    Statistic<"numVectorized", "vectorized", "operations in registers">,
    Statistic<"numCarried", "carried", "carried values in registers">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"];
}

def LoopCollectAppended
    : Pass<"loop-collect-appended", "::mlir::func::FuncOp"> {
  let summary = "collect what is only appended to a sequence";
  let description = [{
    A carried sequence that begins empty and to which every iteration appends
    one tensor, whose shape no iteration changes, becomes a collected value:
    what is read of it behind the loop (`loop.seq_at`, `loop.seq_length`) are
    slices of the collected tensor and the number of iterations. A loop that
    joins them all in order (ConcatFromSequence) becomes a view.

    ```mlir
    %s = loop.loop ... carried(%l = %none : !onnx.seq<tensor<*xf32>>) {
      %n = loop.seq_length %l
      %m = loop.seq_insert %x, %shape into %l[%n]
      loop.yield carried(%m)
    }
    %e, %f = loop.seq_at %s[%k]
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

def LoopLowerCollected : Pass<"loop-lower-collected", "::mlir::func::FuncOp"> {
  let summary = "collect values of unknown number in buffers that grow";
  let description = [{
    After bufferization: `loop.reserve` becomes a test and an allocation. A
    collected value becomes a carried flat buffer with capacity, doubled when it
    is full, so that memory follows the trips that were run and never the trip
    count. That all iterations yield one shape is checked
    (`loop_collect_shape`). An axis other than 0 or a reversed direction is one
    permuting copy behind the loop.
  }];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::complex::ComplexDialect",
    "::mlir::linalg::LinalgDialect",
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
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

def LoopAssignStorage : Pass<"loop-assign-storage", "::mlir::func::FuncOp"> {
  let summary = "no allocation in loops whose shapes do not change";
  let description = [{
    A buffer, also of branches, that lives within one iteration and whose size
    does not change is allocated once, before the loop. One that is carried on
    while another of its size dies takes turns with it: a spare is carried along.
    Where an operation computes the new one from the dying one element by element
    it is written over it, outside of loops too if it holds no sums of products.
  }];
  let options = [
    Option<"straight", "straight", "bool", /*default=*/"true",
           "also write over buffers that die outside of loops">];
  let statistics = [
    Statistic<"numReused", "reused", "carried buffers written over">,
    Statistic<"numHoisted", "hoisted", "allocations moved out of loops">,
    Statistic<"numSpares", "spares", "carried buffers that take turns">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def LoopFuseOutermost : Pass<"loop-fuse-outermost", "::mlir::func::FuncOp"> {
  let summary = "let nests that read one after the other take turns";
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
  let dependentDialects = ["::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

def LoopFuseElementwise
    : Pass<"loop-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "make elementwise operations one loop over registers";
  let description = [{
    Elementwise producers are fused into consumers (reductions, too, that read
    each element once, in order) where nobody else needs them or where they are
    cheap; neighbours become one `linalg.generic` with several results.
  }];
  let statistics = [Statistic<"numMerged", "merged",
                              "neighbours merged into one operation">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
    "::mlir::affine::AffineDialect", "::mlir::tensor::TensorDialect"];
}

def LoopWidenFactors
    : Pass<"loop-widen-factors", "::mlir::func::FuncOp"> {
  let summary = "do not round factors of a sum of products to 16 bits";
  let description = [{
    A tensor of f16 or bf16 whose elements were computed in f32, and whose one
    reader multiplies and sums them in f32, becomes a tensor of f32:

    ```mlir
    %w = linalg.generic ... { ... %h = arith.truncf %x fastmath<contract> ... }
    %y = linalg.generic ins(%w, ...) { %x = arith.extf %h ... arith.mulf %x ... }
    ```

    What has two readers, or is compared, keeps its rounding, as does a Cast.
  }];
  let statistics = [Statistic<"numWidened", "widened", "factors widened">];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def LoopSettleViews : Pass<"loop-settle-views"> {
  let summary = "say of each view which axes it leaves out";
  let description = [{
    Where the strides are not known, and another axis has the extent 1 as well,
    MLIR's passes may take another axis of a `memref.subview` for the one that
    it leaves out than was left out of the tensor. Such views become
    `memref.reinterpret_cast`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def LoopPrivatizeEmpty
    : Pass<"loop-privatize-empty", "::mlir::func::FuncOp"> {
  let summary = "give every user of a tensor.empty its own";
  let description = [{
    CSE and hoisting share what is only a place for a result; shared, it would
    have to be copied when it is bufferized.

    A tensor.collapse_shape that merges an extent of 0 with one that is not known
    gives way to a tensor.empty, too: MLIR's memref.collapse_shape has no type
    for it.

    Where a branch yields what was computed before it, the place for that is
    allocated. eliminate-empty-tensors would make it a part of what the branch's
    result is inserted into, which has other extents where another is taken.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::tensor::TensorDialect"];
}

def LoopChooseLayouts
    : Pass<"loop-choose-layouts", "::mlir::func::FuncOp"> {
  let summary = "order the axes of tensors so that few are transposed";
  let description = [{
    Values of rank 3 and more that are computed from one another element by
    element, window by window or as slices share one order of axes in memory.
    Where transposes stand around them (the channels of a convolution come last)
    they take the order that leaves the fewest: a network of convolutions,
    activations, poolings and sums has its channels last throughout. What wants
    the order of the model (matrix products, reshapes, the function's border,
    loops) gets a transposed copy. Loops follow the order of memory.

    ```mlir
    %t = linalg.generic ... ins(%conv : tensor<1x8x8x64xf32>) // a transpose
           outs(%e : tensor<1x64x8x8xf32>)
    %r = linalg.generic ... ins(%t) ... { arith.maximumf }
    %n = linalg.generic ... ins(%r : tensor<1x64x8x8xf32>)    // and back
           outs(%f : tensor<1x8x8x64xf32>)
    // becomes
    %n = linalg.generic ... ins(%conv) ... { arith.maximumf } // 1x8x8x64
    ```
  }];
  let statistics = [Statistic<"numChosen", "chosen",
                              "classes of values in an order of their own">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def LoopFoldConstants
    : Pass<"loop-fold-constants", "::mlir::func::FuncOp"> {
  let summary = "constants that are put together of parts of constants";
  let description = [{
    Slices of constants that are inserted behind one another (as exporters write
    the gates of recurrent cells in another order) become one constant. Large
    ones do so only where that is all that the original is read for, so that no
    second copy is kept. So do linalg.transposes of constants, and what a
    linalg.generic computes of constants alone: weights less their zero points,
    sums of their columns. Of a chain of operations (a window) the last becomes
    a constant, up to 2 MiB, where loads cost less; sums of floats stay sums.
  }];
  let statistics = [Statistic<"numFolded", "folded", "constants made">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def LoopPackContractions
    : Pass<"loop-pack-contractions", "::mlir::ModuleOp"> {
  let summary = "bring operands of matrix products into panels, once";
  let description = [{
    The operand whose rows become vectors (the weights, most often) is copied
    into panels as wide as the registers that sum it up, behind one another as
    they are read: constants by the compiler, what a loop does not change before
    the loop, and large ones in front of their product. A product that reads
    panels is a `linalg.generic` as before, with `n floordiv W` and `n mod W` in
    its map. Small integers of which an instruction sums up G products at once
    (`dot-bits`) lie in groups of G along the sum, with `k floordiv G` and
    `k mod G` in the map; zeros pad the last one.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", "512",
           "width of the target's vectors">,
    Option<"registers", "registers", "unsigned", "32",
           "number of the target's vector registers">,
    Option<"maskBits", "mask-bits", "unsigned", "8",
           "bits of the narrowest element that masked memory accesses take; 0: "
           "there are none">,
    Option<"dotBits", "dot-bits", "unsigned", "0",
           "bits of integers that are multiplied and summed up in groups of 32 "
           "bits; 0: there is no instruction for it">];
  let statistics = [
    Statistic<"numConstants", "constants", "constants packed by the compiler">,
    Statistic<"numPacked", "packed", "operands packed at run time">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def LoopVectorizeContractions
    : Pass<"loop-vectorize-contractions", "::mlir::func::FuncOp"> {
  let summary = "matrix products in registers";
  let description = [{
    After bufferization: sums of products become loops over tiles whose sums
    stay in vector registers for all of the summation. Where neighbours of the
    result are neighbours in memory, vectors run along the result and every sum
    keeps its order; where only the summed elements are neighbours, vectors run
    along the sum. Remainders are masked, or done by narrower vectors where the
    target has no masks. Small integers in panels of groups are multiplied and
    summed up a group at a time (`dot-bits`); the copies into such panels
    interleave rows in registers. What is no such sum or copy is left alone.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", "512",
           "width of the target's vectors">,
    Option<"registers", "registers", "unsigned", "32",
           "number of the target's vector registers">,
    Option<"maskBits", "mask-bits", "unsigned", "8",
           "bits of the narrowest element that masked memory accesses take; 0: "
           "there are none">,
    Option<"dotBits", "dot-bits", "unsigned", "0",
           "bits of integers that are multiplied and summed up in groups of 32 "
           "bits; 0: there is no instruction for it">];
  let statistics = [Statistic<"numVectorized", "vectorized",
                              "operations that were vectorized">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def LoopVectorizeRows
    : Pass<"loop-vectorize-rows", "::mlir::func::FuncOp"> {
  let summary = "elementwise operations that broadcast, in masked vectors";
  let description = [{
    After bufferization: an operation over several axes that reads some
    operands with fewer of them, or reduces the last one, becomes a loop over
    rows of vectors. The rest of a row is one masked vector. Sums along a row
    are put together in a vector where their order may change. Axes that are
    reduced, or short, and lie one after the other, are one row. What is reduced
    along other axes than the last, windows of poolings among them, is held in
    registers, some vectors of the result at once, while all of it goes by.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", "512",
           "width of the target's vectors">,
    Option<"maskBits", "mask-bits", "unsigned", "8",
           "bits of the narrowest element that masked memory accesses take; 0: "
           "there are none">];
  let statistics = [Statistic<"numVectorized", "vectorized",
                              "operations that were vectorized">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

#endif // LOOPC_LOOP_TRANSFORMS_PASSES_TD
