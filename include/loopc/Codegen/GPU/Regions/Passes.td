//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_CODEGEN_GPU_REGIONS_PASSES_TD
#define LOOPC_CODEGEN_GPU_REGIONS_PASSES_TD

include "mlir/Pass/PassBase.td"

// From loops on buffers to a device.region for each part of the host's function
// that runs on the GPU.

//===----------------------------------------------------------------------===//
// Nests of the host's function
//===----------------------------------------------------------------------===//

def LiftGrowth : Pass<"loopc-lift-growth", "::mlir::func::FuncOp"> {
  let summary = "reallocate growing buffers between groups of iterations";
  let description = [{
    A loop whose body replaces a full buffer by a larger one (`loopc.grows`)
    becomes two: the outer loop allocates the larger buffer, the inner one
    iterates while there is room. It allocates nothing, so it can be a kernel.

    ```mlir
    scf.while ... { %r = scf.if %full { larger } else { as it is } ... }
    // becomes
    scf.while ... {
      %r = scf.if %full { larger } else { as it is }
      scf.while ... { iteration; scf.condition(goes on and not full) } ...
    }
    ```
  }];
  let statistics = [
    Statistic<"numLifted", "lifted", "loops that grow from outside">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def FoldKernelViews
    : Pass<"loopc-fold-kernel-views", "::mlir::func::FuncOp"> {
  let summary = "fold accesses of views into accesses of buffers";
  let description = [{
    Loads and stores of a `memref.reinterpret_cast` that takes rows of a buffer
    are of the buffer itself: an iteration that writes a row says which one. An
    extent of such a view is what the view was made with. Results of the run that
    are not in C order are copied.

    Before: loops and nests on buffers, nothing on the GPU. After: the same; a
    view that loads and stores go through takes no rows, and each result is in C
    order.

    ```mlir
    %row = memref.reinterpret_cast %x to offset: [%o], sizes: [8], strides: [1]
    memref.store %f, %row[%j]   // %o is affine.apply (i * 8)
    // becomes
    memref.store %f, %x[%i, %j]
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def HoistAllocations
    : Pass<"loopc-hoist-allocations", "::mlir::func::FuncOp"> {
  let summary = "allocate the memory of a loop before it begins";
  let description = [{
    A loop with parallel nests that could be a kernel but for its `memref.alloc`
    gets one allocation before it. It is as large as an iteration can need, if
    the sizes have bounds that are known before the loop, and has room for as
    many buffers as the loop carries. Other loops stay as they are, and a remark
    says why.

    Before: parallel nests are marked `loopc.parallel`. After: no allocation is
    in a loop that the pass has changed.

    ```mlir
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.alloc(%i) : memref<?xf32>
      ...
      memref.dealloc %a : memref<?xf32>
    }
    // becomes
    %all = memref.alloc(%bytes) : memref<?xi8>   // for %n elements
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.view %all[%c0][%i] : memref<?xi8> to memref<?xf32>
      ...
    }
    memref.dealloc %all : memref<?xi8>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

def SplitSums : Pass<"loopc-split-sums", "::mlir::func::FuncOp"> {
  let summary = "split long sums into nests of partial sums";
  let description = [{
    In a loop that can be a kernel each block would go through all of a sum that
    no nest computes, as the norm of a vector. A long one becomes a nest, whose
    elements are sums of parts, and the sum of these. Where only the run knows
    how long it is, it decides.

    Before: as behind loopc-hoist-allocations. After: the same; the nests that
    were added are marked `loopc.parallel` and write one element each.

    ```mlir
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%a = %zero) -> f32 { add }
    // becomes
    scf.for %p = %c0 to %c256 step %c1 {
      %t = scf.for ... iter_args(%a = %zero) -> f32 { add, of part %p }
      memref.store %t, %parts[%p] : memref<256xf32>
    } {loopc.parallel}
    %s = scf.for %p = %c0 to %c256 step %c1 ... { add %parts[%p] }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def MakeSingleIterationNests : Pass<"loopc-make-single-iteration-nests", "::mlir::func::FuncOp"> {
  let summary = "wrap scalar code between nests into nests of one iteration";
  let description = [{
    What the host would compute between kernels, of what they wrote: sums that
    stand alone, stores of scalars, checks of all elements. Each becomes a nest
    of one iteration, or a check of each element in a nest, so that
    loopc-select-kernels can choose it. Scalars that the host would load for a
    nest are loaded in it.

    Before: as behind loopc-split-sums. After: the same; nests of one iteration
    are there until loopc-select-kernels takes back those that it does not
    choose.

    ```mlir
    memref.store %mean, %m[] : memref<f32>
    // becomes
    scf.for %one = %c0 to %c1 step %c1 {
      memref.store %mean, %m[] : memref<f32>
    } {loopc.parallel}
    ```
  }];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

def FuseNests : Pass<"loopc-fuse-nests", "::mlir::func::FuncOp"> {
  let summary = "fuse adjacent nests over the same iteration space";
  let description = [{
    Nests are fused if each iteration reads, of the memory that the others write,
    its own element alone. Values stay in registers, and memory without a reader
    is not written. A product that cuBLAS may compute stays alone.

    Before and after: parallel nests are marked `loopc.parallel`.

    ```mlir
    scf.for %i = ... { memref.store %a, %t[%i] } {loopc.parallel}
    scf.for %i = ... { %b = memref.load %t[%i] ; ... } {loopc.parallel}
    // becomes
    scf.for %i = ... { memref.store %a, %t[%i] ; ... } {loopc.parallel}
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def SplitLibraryProducts
    : Pass<"loopc-split-library-products", "::mlir::func::FuncOp"> {
  let summary = "isolate contractions that cuBLAS may compute";
  let description = [{
    A nest that would be such a product but for what is computed of its factors,
    or of its sums, becomes several: factors and sums go through memory.

    Before and after: parallel nests are marked `loopc.parallel`.

    ```mlir
    scf.for %i ... { %s = sum of exp(x) * w; store tanh(%s) } {loopc.parallel}
    // becomes
    scf.for %i ... { store exp(x), %e } {loopc.parallel}
    scf.for %i ... { store (sum of %e * w), %t } {loopc.parallel}
    scf.for %i ... { store tanh(%t) } {loopc.parallel}
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

//===----------------------------------------------------------------------===//
// What runs where
//===----------------------------------------------------------------------===//

def SelectKernels : Pass<"loopc-select-kernels", "::mlir::func::FuncOp"> {
  let summary = "choose the nests and loops that run on the GPU";
  let description = [{
    A nest, or a whole loop around nests in which nothing allocates or calls the
    runtime, becomes a `device.region`. Little work stays on the host where none
    of what it touches is on the GPU. Nests of one iteration that are not chosen
    are the host's code again.

    Before: parallel nests are marked `loopc.parallel`, and nest-retract-unproved
    has proved the marks; nothing is on the GPU.
    After: what runs on the GPU is in a `device.region`, whose verifier holds
    that its body is one loop which neither allocates nor calls.

    ```mlir
    scf.for %i = %c0 to %n step %c1 {...} {loopc.parallel}
    // becomes
    device.region {
      scf.for %i = %c0 to %n step %c1 {...} {loopc.parallel}
      device.yield
    }
    ```
  }];
  let statistics = [
    Statistic<"numNests", "nests", "nests that run on the GPU">,
    Statistic<"numLoops", "loops", "sequential loops that run on the GPU">];
  let dependentDialects = ["::loopc::device::DeviceDialect",
                           "::mlir::scf::SCFDialect"];
}

def PlaceBuffers : Pass<"loopc-place-buffers", "::mlir::func::FuncOp"> {
  let summary = "choose the memory of buffers that kernels use";
  let description = [{
    Buffers that only a `device.region` touches are `gpu.alloc`, those that the
    host touches, too, `gpu.alloc host_shared`; inputs and weights are read
    through `device.view`, and elements of lists through a copy. Copies to,
    from and between such memory are `gpu.memcpy`; a result on the GPU comes back
    through `device.result`.

    Before: every buffer is the host's. After: a region uses no memory of the
    host.

    ```mlir
    %x = memref.alloc(%n) : memref<?xf32>
    device.region {... %x ...}
    // becomes
    %x = gpu.alloc (%n) : memref<?xf32>
    device.region {... %x ...}
    ```
  }];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect"];
}

def PromoteAccumulators
    : Pass<"loopc-promote-accumulators", "::mlir::func::FuncOp"> {
  let summary = "keep sums of a device.region in registers";
  let description = [{
    An element that every iteration of a sequential loop in a `device.region`
    reads and writes at one place becomes a value that the loop carries.

    Before and after: what runs on the GPU is in a `device.region`.

    ```mlir
    scf.for %k = ... { %a = memref.load %s[%i]; ... memref.store %b, %s[%i] }
    // becomes
    %first = memref.load %s[%i]
    %r = scf.for %k = ... iter_args(%a = %first) { ... scf.yield %b }
    memref.store %r, %s[%i]
    ```
  }];
  let dependentDialects = ["::loopc::device::DeviceDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

#endif // LOOPC_CODEGEN_GPU_REGIONS_PASSES_TD
