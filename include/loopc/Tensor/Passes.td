//===- Passes.td - Passes on linalg operations on tensors -----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_TENSOR_PASSES_TD
#define LOOPC_TENSOR_PASSES_TD

include "mlir/Pass/PassBase.td"

def TensorExpandFourier
    : Pass<"tensor-expand-fourier", "::mlir::func::FuncOp"> {
  let summary = "lower Fourier transforms to elementwise operations";
  let description = [{
    A `rt.fourier` of a tensor becomes passes that each compute a tensor of
    complex numbers from the one before, an element by itself: on a GPU they are
    kernels, in the middle of a loop too. Each takes a factor of the length off;
    where one of its prime factors is large, transforms whose length is a power
    of two convolve. Where only the run knows the length, the passes are a loop.

    ```mlir
    %y = rt.fourier %x : tensor<?x8x2xf64>
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

def TensorExpandRepeats
    : Pass<"tensor-expand-repeats", "::mlir::func::FuncOp"> {
  let summary = "read repeated operands of contractions without a copy";
  let description = [{
    Where several heads of attention share keys and values, models repeat these
    for each head (Unsqueeze, Expand, Reshape). The axis of heads becomes two, in
    the product, in what reads its result, and in views of its other operands:

    ```mlir
    %r = linalg.generic ins(%k : tensor<4x1x?x64xf32>) -> tensor<4x8x?x64xf32>
    %c = tensor.collapse_shape %r [[0, 1], [2], [3]]
    %y = linalg.generic ins(%q, %c : tensor<32x?x64xf32>, tensor<32x?x64xf32>)
    // becomes
    %e = tensor.expand_shape %q [[0, 1], [2], [3]]
    %z = linalg.generic ins(%e, %r : tensor<4x8x?x64xf32>, ...) // five loops
    %y = tensor.collapse_shape %z [[0, 1], [2], [3]]
    ```

    `tensor-fuse-elementwise` then reads `%k` in the place of `%r`. Only batches
    of products, axes that all operands have, are taken apart, and no last axis,
    which vectors are read along.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def TensorFuseElementwise
    : Pass<"tensor-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "fuse elementwise operations";
  let description = [{
    Elementwise producers are fused into consumers (reductions, too, that read
    each element once, in order) where nobody else needs them or where they are
    cheap. Not into products that would no longer have a loop along which their
    operands are contiguous, or that would compute each element several times:
    for each window that it is in, or, one by one, for each tile of columns.
    Neighbours become one `linalg.generic` with several results. A
    `linalg.transpose` is one of them, unless it is marked `loopc.stored`:

    ```mlir
    %t = linalg.transpose ins(%w) outs(%e) permutation = [1, 0] {loopc.stored}
    ```

    Last axes of two to four elements are unrolled: each element is an operand of
    its own, where it is reduced, and sums that are such rows are sums of their
    own. What is read for many rows is copied coordinate by coordinate:

    ```mlir
    %d = linalg.generic // (i, k), (j, k) -> (i, j)
           ins(%p, %q : tensor<64x3xf32>, tensor<64x3xf32>) { (p - q)^2 + out }
    // becomes
    %t = linalg.transpose ins(%q) permutation = [1, 0] {loopc.stored}
    %d = linalg.generic // (i), (i), (i), (j), (j), (j) -> (i, j)
           ins(%p[:, 0], ..., %t[2, :]) { (p0 - q0)^2 + ... }
    ```

    The first place of the extremum of each column is found in the pass that
    finds the extremum.

    What reads shifted fields, which are put together of two slices or of a slice
    and a padding, is split into pieces that read the fields themselves, where
    nearly all elements are in one piece. In loops this is done along open axes,
    too: where both parts are slices of one tensor, a run chooses the offset.
  }];
  let options = [
    Option<"reportWork", "report-work", "bool", "false",
           "say how many neighbours, and producers, were compared, and the "
           "size of the bodies that were looked at">,
  ];
  let statistics = [Statistic<"numMerged", "merged",
                              "neighbours merged into one operation">,
                    Statistic<"numSplit", "split",
                              "operations split into pieces">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
    "::mlir::affine::AffineDialect", "::mlir::tensor::TensorDialect"];
}

def TensorWidenFactors
    : Pass<"tensor-widen-factors", "::mlir::func::FuncOp"> {
  let summary = "skip roundings to 16 bits of factors in contractions";
  let description = [{
    A tensor of f16 or bf16 whose elements were computed in f32, and whose one
    reader multiplies and sums them in f32, becomes a tensor of f32:

    ```mlir
    %w = linalg.generic ... { ... %h = arith.truncf %x {loopc.may_skip} ... }
    %y = linalg.generic ins(%w, ...) { %x = arith.extf %h ... arith.mulf %x ... }
    ```

    What has two readers, or is compared, keeps its rounding, as does a Cast:
    only what is marked `loopc.may_skip` goes.

    Outside of loops, of other factors what rows are is widened in front of the
    product, in vectors, and constant weights of windows are constants of f32:

    ```mlir
    %x = linalg.generic ins(%h) { arith.extf %h ... }
    %y = linalg.generic ins(%x, %w) { arith.mulf %x, (arith.extf %w) ... }
    ```
  }];
  let statistics = [Statistic<"numWidened", "widened", "factors widened">];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def TensorTabulateBytes
    : Pass<"tensor-tabulate-bytes", "::mlir::func::FuncOp"> {
  let summary = "replace functions of one byte by table lookups";
  let description = [{
    An elementwise operation with elementary functions that makes a byte of a
    byte, and of what is the same for all elements, is computed for each of the
    256 bytes, and looked up for 1,024 elements and more, or for a number that
    only the run knows if it is outside of loops:

    ```mlir
    %y = linalg.generic ins(%x : tensor<?xi8>) { f(%x) }
    // becomes
    %t = linalg.generic outs(%e : tensor<256xi8>) { f(linalg.index 0) }
    %y = linalg.generic ins(%x : tensor<?xi8>) { tensor.extract %t[%x] }
    ```
  }];
  let statistics = [Statistic<"numTabulated", "tabulated",
                              "operations that look up their results">];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def TensorVersionBroadcasts
    : Pass<"tensor-version-broadcasts", "::mlir::func::FuncOp"> {
  let summary = "broadcast at run time without copies";
  let description = [{
    Operands of an elementwise operation that are copied out where they do not
    have its extents are read where they are instead: the operation becomes two
    versions, one for operands that all have the extents, and one that reads
    place 0 along the axes of one element.

    ```mlir
    %x1 = scf.if %same -> tensor<?xf32> { scf.yield %x }
    else { %c = linalg.generic { extract %x[select %one, 0, index 0] } ... }
    %y = linalg.generic ins(%x1, %z) ...
    // becomes
    %y = scf.if %same -> tensor<?xf32> { linalg.generic ins(%x, %z) ... }
    else { linalg.generic ins(%z) { extract %x[select %one, 0, index 0] } ... }
    ```

    Longer bodies stay one: there the copies cost less.
  }];
  let statistics = [Statistic<"numVersioned", "versioned",
                              "operations with two versions">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def TensorVersionExtents
    : Pass<"tensor-version-extents", "::mlir::func::FuncOp"> {
  let summary = "version elementwise operations for dimensions that are equal "
                "at run time";
  let description = [{
    Of extents that nothing says to be equal each elementwise operation gives
    others, as its operands broadcast, and what reads its result asks for them in
    a branch. Chains of such operations have a version for equal extents, in
    which no branch is between them, so that they are fused:

    ```mlir
    %a = linalg.generic ins(%x1, %y1) ...
    %a1 = scf.if %same -> tensor<?xf32> { scf.yield %a } else { ... }
    %b = linalg.generic ins(%a1, %z1) ...
    // becomes
    %b = scf.if %all -> tensor<?xf32> {
      %a = linalg.generic ins(%x, %y) ...
      linalg.generic ins(%a, %z) ...
    } else {
      ... // the operations as they were
    }
    ```

    A chain has slices, reshapes and what puts slices together, and is one
    version of all that is connected. It ends in front of what uses it and is
    something else, a reduction or a product. What follows a product
    stays with it, and what loops do has versions of its own
    (`loop-version-shapes`).
  }];
  let statistics = [Statistic<"numVersioned", "versioned",
                              "chains with two versions">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def TensorScaleSubnormals
    : Pass<"tensor-scale-subnormals", "::mlir::func::FuncOp"> {
  let summary = "scale subnormal weights, to compute with normal numbers";
  let description = [{
    Training with a decay leaves channels all of whose weights are next to
    nothing, and subnormal. Processors take some hundred cycles for a product
    with one. In a sum of products with a constant the weights of such channels
    are multiplied by a power of two, and what they are multiplied with by its
    inverse, which changes no product:

    ```mlir
    %y = linalg.generic ins(%x, %w) { ... x[i, k] * w[k, j] ... }
    // becomes
    %s = arith.constant dense<[1.0, 5.42101086E-20]> : tensor<2xf32>
    %z = linalg.generic ins(%x, %s) { x[i, k] * s[k] }
    %y = linalg.generic ins(%z, %v) { ... z[i, k] * v[k, j] ... }
    ```
  }];
  let statistics = [Statistic<"numScaled", "scaled", "products scaled">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def TensorChooseLayouts
    : Pass<"tensor-choose-layouts", "::mlir::func::FuncOp"> {
  let summary = "choose the order of axes so that few tensors are transposed";
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

def TensorNarrowWeights
    : Pass<"tensor-narrow-weights", "::mlir::func::FuncOp"> {
  let summary = "round constant f32 weights of contractions to fewer bits";
  let description = [{
    With `--weights`: constants of f32 that a product of matrices sums up, of
    more than 16 KiB, become constants of `type` behind an expansion, as if the
    model had stored them so. What reads such a constant besides reads the same
    numbers.

    ```mlir
    %w = arith.constant dense_resource<w> : tensor<256x1024xf32>
    // becomes, of int8,
    %q = arith.constant dense_resource<q> : tensor<256x1024xi8>
    %s = arith.constant dense_resource<s> : tensor<1024xf32>
    %w = linalg.generic // (d0, d1) -> (d0, d1), (d0, d1) -> (d1)
           ins(%q, %s) { arith.sitofp, arith.mulf }
    ```

    Weights that are not finite, or would not be as f16 or bf16, stay.
  }];
  let options = [
    Option<"type", "type", "::loopc::WeightType",
           /*default=*/"::loopc::WeightType::Model", "what they become",
           [{::llvm::cl::values(
               clEnumValN(::loopc::WeightType::Model, "model", "nothing else"),
               clEnumValN(::loopc::WeightType::BF16, "bf16", "bf16"),
               clEnumValN(::loopc::WeightType::F16, "f16", "f16"),
               clEnumValN(::loopc::WeightType::Int8, "int8",
                          "8 bits, with a scale for each output channel")) }]>,
    Option<"wide", "wide", "bool", /*default=*/"false",
           "rounded weights stay f32: no later pass reads expansions">];
  let statistics = [
    Statistic<"numNarrowed", "narrowed", "constants of fewer bits">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def TensorSinkExpansions
    : Pass<"tensor-sink-expansions", "::mlir::func::FuncOp"> {
  let summary = "fold conversions of weights, or sink them to where weights "
                "are read";
  let description = [{
    Weights that are stored as f16, bf16 or small integers are floats only
    behind a Cast or a DequantizeLinear: a `linalg.generic` of constants alone,
    an expansion. It goes behind transposes and reshapes, so that these are of
    the constant, and is merged with others that it reads; a scale of a block of
    elements is an operand (`d0 floordiv 32`) like others. Where elements of it
    are looked up, they are expanded one by one; where a product of matrices
    reads it, it stays (`cpu-pack-contractions` makes it a part of the product);
    for other sums (convolutions) and what moves elements it becomes a constant.

    ```mlir
    %w = linalg.generic ins(%c : tensor<64x32xf16>) { arith.extf }
    %t = linalg.transpose ins(%w) outs(%e : tensor<32x64xf32>) permutation = [1, 0]
    // becomes, read by a product,
    %t = linalg.generic // (d0, d1) -> (d1, d0)
           ins(%c : tensor<64x32xf16>) { arith.extf }
    ```
  }];
  let statistics = [
    Statistic<"numSunk", "sunk", "expansions behind transposes and reshapes">,
    Statistic<"numComputed", "computed", "expansions that became constants">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def TensorFoldConstants
    : Pass<"tensor-fold-constants", "::mlir::func::FuncOp"> {
  let summary = "fold operations on constant tensors";
  let description = [{
    Slices of constants that are inserted behind one another (as exporters write
    the gates of recurrent cells in another order) become one constant. Large
    ones do so only where that is all that the original is read for, so that no
    second copy is kept. So do linalg.transposes of constants, and what a
    linalg.generic computes of constants alone: weights less their zero points,
    sums of their columns. Of a chain of operations (a window) the last becomes
    a constant, up to 2 MiB, where loads cost less; of any size where it takes the
    place of what it is computed of (standardized weights). Sums of floats do if
    their order is left open, and so do least and largest elements: scalar
    operations that compute with them fold, too (weights that are quantized). What takes 64 instructions an element and more, as
    a product of matrices does, is stored beside what it is computed of: up to
    16 MiB each, and all of it up to a quarter of the constants, or 32 MiB.
  }];
  let statistics = [Statistic<"numFolded", "folded", "constants made">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def TensorSumClasses : Pass<"tensor-sum-classes", "::mlir::func::FuncOp"> {
  let summary = "compare classes in the sums over their elements";
  let description = [{
    A matrix that is one number where an element has the class of the row, and
    another elsewhere (a OneHot), is compared in the sums that read it, times at most
    eight columns or alone, and is not stored. The columns are turned, so that vectors run along the sum.

    ```mlir
    %hot = linalg.generic ins(%c) { arith.cmpi eq, arith.select } // (k, n)
    %sums = linalg.generic ins(%hot, %x) { arith.mulf, arith.addf } // (k, d, n)
    // becomes
    %sums = linalg.generic ins(%k, %c, %turned) {
      arith.cmpi eq, arith.select, arith.mulf, arith.addf }
    ```
  }];
  let statistics = [Statistic<"numSummed", "summed", "matrices of classes">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

#endif // LOOPC_TENSOR_PASSES_TD
