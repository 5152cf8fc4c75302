//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_CODEGEN_GPU_PASSES_TD
#define LOOPC_CODEGEN_GPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def LiftGrowth : Pass<"loopc-lift-growth", "::mlir::func::FuncOp"> {
  let summary = "grow buffers between runs of many iterations";
  let description = [{
    A loop whose body makes a buffer larger where it is full (`loopc.cold`)
    becomes two: the outer one makes room, the inner one iterates while there is
    some and allocates nothing, so that it can be a kernel.

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

def OutlineKernels : Pass<"loopc-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "run nests and whole loops as kernels of a GPU";
  let description = [{
    Loops marked `loopc.parallel` become kernels; a loop around them, with its
    condition and what it computes on scalars, becomes one kernel as a whole
    where nothing in it allocates or calls the runtime: every thread computes
    the scalars, the threads share the elements of a nest, and wait for one
    another (`loop.barrier`) between nests that depend on each other. Little work
    is one block's; from sm_90 on more of it is that of a cluster of up to 8
    (`loopc.cluster` on the launch), and much the whole device's. What is
    left runs on the host, which waits (`loop.device_wait`) before it reads what a
    kernel may have written.

    Such a loop may become a graph instead (`loop.device_graph`): a kernel for
    each nest, those for the scalars between them, and conditions.

    Nests over the same elements that follow one another are made one before.
    Products of matrices that are large enough are computed by tiles, of which
    blocks take their shares, by tensor cores where chip and element type allow;
    sums by threads, warps or blocks, as rows are long and many.

    Buffers that only kernels touch are `gpu.alloc`, those that the host touches
    too `gpu.alloc host_shared`; inputs and weights are read through
    `loop.device_view`.

    ```mlir
    scf.for %i = %c0 to %n step %c1 {...} {loopc.parallel}
    // becomes
    gpu.launch_func @kernels::@main_0 blocks in (%blocks, %c1, %c1)
        threads in (%c256, %c1, %c1) args(%null : !llvm.ptr, %x : memref<?xf32>)
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_80\"",
           "NVIDIA's name of the GPU">,
    Option<"minWork", "min-work", "unsigned", /*default=*/"2048",
           "operations up to which a nest stays on the host, where it can">,
    Option<"allowTf32", "allow-tf32", "bool", /*default=*/"false",
           "tensor cores may round what products of f32 multiply">,
    Option<"loops", "loops", "::loopc::DeviceLoops",
           /*default=*/"::loopc::DeviceLoops::Auto", "what loops become",
           [{::llvm::cl::values(
               clEnumValN(::loopc::DeviceLoops::Auto, "auto", "by cost"),
               clEnumValN(::loopc::DeviceLoops::Kernel, "kernel", "kernels"),
               clEnumValN(::loopc::DeviceLoops::Cluster, "cluster",
                          "kernels of one cluster each, where the chip has them"),
               clEnumValN(::loopc::DeviceLoops::Graph, "graph", "graphs"),
               clEnumValN(::loopc::DeviceLoops::Host, "host",
                          "the host's")) }]>,
    Option<"cublas", "cublas", "::loopc::Cublas",
           /*default=*/"::loopc::Cublas::Off",
           "products of matrices that cuBLAS may compute",
           [{::llvm::cl::values(
               clEnumValN(::loopc::Cublas::Auto, "auto", "large ones"),
               clEnumValN(::loopc::Cublas::On, "on", "all that it can"),
               clEnumValN(::loopc::Cublas::Off, "off", "none")) }]>,
    Option<"hasLibdevice", "libdevice", "bool", /*default=*/"false",
           "functions of CUDA's libdevice may be called">];
  let statistics = [
    Statistic<"numKernels", "kernels", "kernels that were made">,
    Statistic<"numLoops", "loops", "sequential loops that are a kernel">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

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
  let summary = "lower launches and memory of the GPU to calls of loopc_rt_cuda";
  let description = [{
    After scf-to-cf: `gpu.launch_func`, `gpu.alloc`, `gpu.dealloc`,
    `gpu.memcpy`, `loop.device_view`, `loop.device_result` and
    `loop.device_wait` become calls (loopc-rt/cuda.h) for the run, whose failure
    ends it. `loopc_cuda_program` stands for the device code.
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

#endif // LOOPC_CODEGEN_GPU_PASSES_TD
