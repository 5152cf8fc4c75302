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

def LoopLowerSlices : Pass<"loop-lower-slices", "::mlir::func::FuncOp"> {
  let summary = "lower scan inputs to tensor.extract_slice of captured tensors";
  let description = [{
    A slice becomes a `tensor.extract_slice` of its value, which the body
    captures (`loop_slice`): a view, no copy. Reading past the extent is an
    error of the run; it is checked once before the loop where the trip count is
    known there, and neither a condition nor another error can end the loop
    earlier.
  }];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def LoopScalarize : Pass<"loop-scalarize", "::mlir::func::FuncOp"> {
  let summary = "make carried tensors of one element scalars";
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
  let summary = "hoist dimensions of carried tensors that no iteration changes";
  let description = [{
    A dimension of a carried value that is the same in every iteration is read
    from the init, outside of the loop: what is computed from it can be hoisted.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def LoopFoldBounds : Pass<"loop-fold-bounds", "::mlir::func::FuncOp"> {
  let summary = "fold what follows from bounds of induction variables";
  let description = [{
    Minima, maxima, remainders and comparisons are folded that bounds of
    iteration numbers and extents decide: an iteration number is at least 0, and
    below the trip count. Numbers that are equal sums of others become one. A
    slice that moves with the iterations has an extent that is known before
    them, and no broadcast.

    ```mlir
    %trips = arith.subi %n, %c4 : i64 // n is the extent of %x
    loop.loop (%i : i64, %c : i1) trips(%trips : i64) {
      %behind = arith.addi %i, %c5 : i64
      %end = arith.minsi %behind, %n : i64
      %extent = arith.subi %end, %i : i64
    // becomes
      %extent = arith.constant 5 : i64
    ```
  }];
  let statistics = [
    Statistic<"numFolded", "folded", "values that are others">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def LoopVersionShapes : Pass<"loop-version-shapes", "::mlir::func::FuncOp"> {
  let summary = "version loops for dimensions that are equal at run time";
  let description = [{
    Where only the run tells whether extents are equal, broadcasting needs
    branches, and a carried value may change its shape. Such a loop gets a
    second version, in which every comparison of extents that does not depend on
    an iteration holds, and every carried value keeps the extents of its init.
    That is decided before the loop: the extents of an iteration's results are
    computed from those of the inits. What is assumed of a carried value is an
    operation in the version until it is proved, or retracted. Where its extent
    depends on slices between positions that count with the iterations, these
    are assumed to be within what is sliced, in the first and the last iteration.

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
  let summary = "hoist loop-invariant operations";
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
  let summary = "check bounds of indices once, before the loop";
  let description = [{
    A check that the number of the iteration is below an extent that the loop
    does not change becomes one before the loop, of the trip count, where the
    iterations do nothing else that is seen outside, and where each of them
    will run. Which check fails, and with which values, stays as it was
    (`loop_order`). Numbers of iterations, and sums of them and of extents, do
    not count from the end. Behind a check that stays, its index needs no bound
    where the extent is open; in kernels of a GPU it keeps one.

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

def LoopCountTrips : Pass<"loop-count-trips", "::mlir::func::FuncOp"> {
  let summary = "turn while loops whose condition is a counter into counted "
                "loops";
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
  let summary = "fuse a loop with the next one that reads its rows";
  let description = [{
    A loop that runs as often as the one in front of it, and reads of that only
    the row of each iteration (and nothing but rows), is moved into it. Not where
    both can fail: all errors of the first loop come before those of the second
    (`loop_order`). Not where one of them has products of matrices: those are
    computed for all iterations at once, and two loops one behind the other have
    the cache for one set of weights at a time. For a CPU, not where both compute
    elementary functions: each is a polynomial, and the constants of a few stay
    in registers.

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
  let summary = "fully unroll small loops";
  let description = [{
    A loop whose trip count is a small constant, and whose body is a few
    operations on scalars and vectors, becomes its iterations. Their numbers are
    constants, also in the messages of checks. So does an `scf.for` in a loop
    that carries numbers alone, over up to 16 elements: what sorts a short line
    in registers. An element of the line that is looked up behind that is chosen
    from those that are read already, so that LLVM can make vectors of the loop
    around it.

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
  let summary = "distribute a loop over several recurrences into a loop for "
                "each";
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

def LoopCarryPadded : Pass<"loop-carry-padded", "::mlir::func::FuncOp"> {
  let summary = "carry fields with their padding";
  let description = [{
    A carried tensor that each iteration puts into the same larger one (Pad), to
    read its neighbours, is carried as the larger one. Two of these take turns:
    iterations write the next field into the middle of the other one, and the
    borders of both are written once, in front of the loop. Only where the field
    and its padding are only read, and keep their extents.

    ```mlir
    loop.loop ... carried(%x = %x0 : tensor<64xf32>) {
      %p = tensor.insert_slice %x into %border[1] [64] [1] : tensor<64xf32> into tensor<66xf32>
      %y = linalg.generic ... ins(slices of %p) outs(%empty)
      loop.yield ... carried(%y : tensor<64xf32>)
    // becomes
    loop.loop ... carried(%p = %p0 : tensor<66xf32>, %other = %border : tensor<66xf32>) {
      %to = tensor.extract_slice %other[1] [64] [1] : tensor<66xf32> to tensor<64xf32>
      %y = linalg.generic ... ins(slices of %p) outs(%to)
      %next = tensor.insert_slice %y into %other[1] [64] [1] : tensor<64xf32> into tensor<66xf32>
      loop.yield ... carried(%next, %p : tensor<66xf32>, tensor<66xf32>)
    ```
  }];
  let statistics = [Statistic<"numPadded", "padded", "fields carried with their padding">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

#endif // LOOPC_LOOP_TRANSFORMS_PASSES_TD
