//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_CODEGEN_GPU_KERNELS_PASSES_TD
#define LOOPC_CODEGEN_GPU_KERNELS_PASSES_TD

include "mlir/Pass/PassBase.td"

// From regions to kernels, their launches, and the LLVM dialect.

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def OutlineKernels : Pass<"loopc-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "outline each device.region as a kernel for one thread";
  let description = [{
    The region's loop becomes the body of a `gpu.func`, as code that one thread
    could run: copies are nests, and nests over the same elements are one. What
    the loop results in comes back through memory that both reach: a scalar is
    loaded, a buffer is a `device.buffer`. The region names the kernel and what it
    is given, and keeps its body.

    Before: a `device.region` names no kernel, and touches no memory of the host.
    After: it names one, which its verifier looks up, and has no results. The
    kernel may not be launched yet: nothing in it is dealt out to threads.

    ```mlir
    device.region { scf.for %i = ... {loopc.parallel}; device.yield }
    // becomes
    device.region kernel @loopc_kernels::@main_0
        given(%x : memref<?xf32>) { scf.for %i = ... {loopc.parallel}; device.yield }
    gpu.module @loopc_kernels {
      gpu.func @main_0(%run: !llvm.ptr, %x: memref<?xf32>) kernel {
        scf.for %i = ... {loopc.parallel}
        gpu.return
      }
    }
    ```
  }];
  let statistics = [
    Statistic<"numKernels", "kernels", "kernels that were made">];
  let dependentDialects = ["::loopc::device::DeviceDialect",
    "::loopc::loop::LoopDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def SliceKernelLoops : Pass<"loopc-slice-kernel-loops", "::mlir::ModuleOp"> {
  let summary = "let threads or blocks run a sequential loop on their own "
                "slices of the data";
  let description = [{
    The loop of a kernel whose nests touch what it writes at their own element
    alone goes inside of them. One that falls into slices along some axes gets a
    loop over these around it, which blocks share (`loopc.slices`), where there
    are enough of them: the `device.region` has its grid then. Where only the run
    knows, there are two kernels, one for all slices and one of the whole.

    Before: kernels are code for one thread. After: the same; a loop over slices
    is the outermost one of its kernel.

    ```mlir
    device.region kernel @loopc_kernels::@main_0 given(%x : memref<64x8xf32>) {...}
    // becomes
    device.region kernel @loopc_kernels::@main_0 given(%x : memref<64x8xf32>)
        grid(%c64, %c32) {...}
    ```
  }];
  let statistics = [
    Statistic<"numSliced", "sliced", "loops whose slices blocks share">];
  let dependentDialects = ["::loopc::device::DeviceDialect",
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::scf::SCFDialect"];
}

def ProveKernelMarks : Pass<"loopc-prove-kernel-marks", "::mlir::ModuleOp"> {
  let summary = "prove, or retract, marks of parallel loops in kernels";
  let description = [{
    A loop in a kernel that is marked `loopc.parallel` is put to the dependence
    test that `nest-retract-unproved` uses, and the mark is taken back where that
    does not prove it: copies that have become nests, nests that were fused, and
    loops that went inside of their nests, are new in the kernel. Arguments that
    are views of one buffer of the host are one buffer. A loop over slices
    (`loopc.slices`) is put to it as well, and must not result in what differs
    from slice to slice; blocks share it already, so that it is an error where
    that is not proved. So it is where a kernel writes to a buffer that the loop
    of its region does not write to.

    Before: a `device.region` names a kernel that is code for one thread. After:
    the same; marks of loops in kernels are proved.

    ```mlir
    scf.for %i = ... { memref.store %a, %x[%c0] } {loopc.parallel}
    // becomes
    scf.for %i = ... { memref.store %a, %x[%c0] }
    ```
  }];
  let statistics = [
    Statistic<"numRetracted", "retracted", "marks that are not proved">];
}

def MakeLoopGraphs : Pass<"loopc-make-loop-graphs", "::mlir::ModuleOp"> {
  let summary = "run loops as CUDA graphs";
  let description = [{
    The kernel of a sequential loop that loopc-slice-kernel-loops did not slice
    is cut: a kernel for each nest, those for the scalars between them, and
    conditions (`device.graph`). This is done if the user asks for graphs, if the
    kernel would have more parameters than PTX allows, and (`loops` is "auto") if
    the sizes of its nests are very different. The kernels of a graph are
    distributed to threads already.

    Before: kernels are code for one thread. After: those that a `device.region`
    names are.

    ```mlir
    device.region kernel @loopc_kernels::@main_0 given(%x : memref<?xf32>) {...}
    // becomes
    device.graph [@loopc_kernels::@main_0_k0, @loopc_kernels::@main_0_k1]
        nodes [...] handles 1 words 9 blocks(%c1, %b) args(...)
    ```
  }];
  let statistics = [Statistic<"numGraphs", "graphs", "graphs that were made">];
  let dependentDialects = ["::loopc::device::DeviceDialect",
    "::loopc::loop::LoopDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def DistributeKernels : Pass<"loopc-distribute-kernels", "::mlir::ModuleOp"> {
  let summary = "distribute the work of kernels to the threads of a grid";
  let description = [{
    Code for one thread becomes code for all: each thread computes the scalars
    and takes the branches, and the threads share the elements of a nest. Products
    of matrices that are large enough are computed by tiles, of which blocks take
    their shares, by tensor cores where chip and element type allow; sums by
    threads, warps or blocks, as rows are long and many. Between nests that
    depend on each other all wait (`device.barrier`), in a loop over slices those
    of a block. Polls are moved apart.

    Before: the kernel of a `device.region` is code for one thread. After: it is
    code for any number of blocks of any number of threads, up to what its
    `known_block_size` says; the region's `shape` says what it asks of the launch.

    ```mlir
    scf.for %i = %c0 to %n step %c1 {...} {loopc.parallel}
    // becomes
    %thread = ... gpu.block_id x * gpu.block_dim x + gpu.thread_id x
    scf.for %i = %thread to %n step %threads {...}
    ```
  }];
  let dependentDialects = ["::loopc::device::DeviceDialect",
    "::loopc::loop::LoopDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def LaunchKernels : Pass<"loopc-launch-kernels", "::mlir::ModuleOp"> {
  let summary = "choose grids, and launch kernels";
  let description = [{
    Each `device.region` becomes a launch. Blocks and threads follow from what
    its body has to do. Where blocks wait for one another, little work is one
    block's; from sm_90 on more of it is that of a cluster of up to 8
    (`loopc.cluster` on the launch), and much the whole device's. What one block
    writes is in its shared memory where it fits. A product that cuBLAS may
    compute is a kernel where the library does not.

    Before: each `device.region` has a `shape`, and its kernel writes to nothing
    that its loop does not write to. After: there is none.

    ```mlir
    device.region kernel @loopc_kernels::@main_0 given(%x : memref<?xf32>)
        shape <barriers = false, tiles = false, splits = false> {...}
    // becomes
    gpu.launch_func @loopc_kernels::@main_0 blocks in (%blocks, %c1, %c1)
        threads in (%c256, %c1, %c1) args(%null : !llvm.ptr, %x : memref<?xf32>)
    ```
  }];
  let dependentDialects = ["::loopc::device::DeviceDialect",
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def InsertWaits : Pass<"loopc-insert-waits", "::mlir::func::FuncOp"> {
  let summary = "let the host wait before it uses what kernels may use";
  let description = [{
    A `device.wait` in front of what reads or writes memory that both reach,
    where something was begun on the GPU since the host last waited; and at the
    end. Then each `device.buffer` is read from its words.

    Before: kernels are launched. After: nothing of the `device` dialect is left.

    ```mlir
    gpu.launch_func @loopc_kernels::@main_0 ... args(%null : !llvm.ptr, %x : ...)
    %e = memref.load %x[%c0] : memref<?xf32>
    // becomes
    gpu.launch_func @loopc_kernels::@main_0 ... args(%null : !llvm.ptr, %x : ...)
    device.wait
    %e = memref.load %x[%c0] : memref<?xf32>
    ```
  }];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect"];
}

//===----------------------------------------------------------------------===//
// To LLVM
//===----------------------------------------------------------------------===//

def LowerKernels : Pass<"loopc-lower-kernels", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lower checks, polls and barriers in kernels";
  let description = [{
    After scf-to-cf. A check that fails leaves its number and values in the
    run's control (loopc-rt/cuda.h) and ends the kernel: at once where all
    threads compute it, behind the nest where only some do. A barrier is that of
    the block where there is one. Several blocks are counted, in device memory;
    with `loopc.clusters` on the module the kernel looks whether all of them are
    one cluster, which has a barrier.
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect"];
}

def ConvertLaunchesToLLVM
    : Pass<"convert-launches-to-llvm", "::mlir::ModuleOp"> {
  let summary = "lower launches and GPU memory to calls of loopc_rt_cuda";
  let description = [{
    After scf-to-cf: `gpu.launch_func`, `gpu.alloc`, `gpu.dealloc`,
    `gpu.memcpy`, `device.view`, `device.result` and
    `device.wait` become calls (loopc-rt/cuda.h) for the run, whose failure
    ends it. `loopc_cuda_program` stands for the device code.
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

#endif // LOOPC_CODEGEN_GPU_KERNELS_PASSES_TD
