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

// What several passes are told of the target and of what the user asked for.
def Kernel_ChipOption
    : Option<"chip", "chip", "std::string", /*default=*/"\"sm_80\"",
             "NVIDIA's name of the GPU">;
def Kernel_MinWorkOption
    : Option<"minWork", "min-work", "unsigned", /*default=*/"2048",
             "operations up to which a nest stays on the host, where it can">;
def Kernel_AllowTf32Option
    : Option<"allowTf32", "allow-tf32", "bool", /*default=*/"false",
             "tensor cores may round what products of f32 multiply">;
def Kernel_HostLoopsOption
    : Option<"hostLoops", "host-loops", "bool", /*default=*/"false",
             "the host drives the loops around nests">;
def Kernel_LoopsOption
    : Option<"loops", "loops", "::loopc::DeviceLoops",
             /*default=*/"::loopc::DeviceLoops::Auto", "what loops become",
             [{::llvm::cl::values(
                 clEnumValN(::loopc::DeviceLoops::Auto, "auto", "by cost"),
                 clEnumValN(::loopc::DeviceLoops::Kernel, "kernel", "kernels"),
                 clEnumValN(::loopc::DeviceLoops::Cluster, "cluster",
                            "kernels of one cluster each, where the chip has "
                            "them"),
                 clEnumValN(::loopc::DeviceLoops::Graph, "graph", "graphs"),
                 clEnumValN(::loopc::DeviceLoops::Host, "host",
                            "the host's")) }]>;
def Kernel_CublasOption
    : Option<"cublas", "cublas", "::loopc::Cublas",
             /*default=*/"::loopc::Cublas::Off",
             "products of matrices that cuBLAS may compute",
             [{::llvm::cl::values(
                 clEnumValN(::loopc::Cublas::Auto, "auto", "large ones"),
                 clEnumValN(::loopc::Cublas::On, "on", "all that it can"),
                 clEnumValN(::loopc::Cublas::Off, "off", "none")) }]>;
def Kernel_LibdeviceOption
    : Option<"hasLibdevice", "libdevice", "bool", /*default=*/"false",
             "functions of CUDA's libdevice may be called">;

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

//===----------------------------------------------------------------------===//
// Nests of the host's function
//===----------------------------------------------------------------------===//

def FoldKernelViews
    : Pass<"loopc-fold-kernel-views", "::mlir::func::FuncOp"> {
  let summary = "elements of views become elements of whole buffers";
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
    A loop with nests that could be a kernel but for its `memref.alloc` gets its
    memory in front of it: as much as an iteration can need, where that follows
    from what is known there, and places enough for what iterations hand on.
    Others stay as they are, and a remark says why.

    Before: nests are loops marked `loopc.parallel`. After: no allocation is in
    a loop that the pass has changed.

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
  let options = [Kernel_LibdeviceOption];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def SplitSums : Pass<"loopc-split-sums", "::mlir::func::FuncOp"> {
  let summary = "long sums beside nests become nests of parts";
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
  let options = [Kernel_LibdeviceOption];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def MakeLoneNests : Pass<"loopc-make-lone-nests", "::mlir::func::FuncOp"> {
  let summary = "sums and scalars between nests become nests of one iteration";
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
  let options = [Kernel_MinWorkOption, Kernel_LibdeviceOption,
                 Kernel_HostLoopsOption];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

def FuseNests : Pass<"loopc-fuse-nests", "::mlir::func::FuncOp"> {
  let summary = "nests over the same elements that follow one another are one";
  let description = [{
    Where each of them reads of the others' memory its own element alone. Values
    are handed on in registers, and memory that nobody reads then is not written.
    A product that cuBLAS may compute stays alone.

    Before and after: nests are loops marked `loopc.parallel`.

    ```mlir
    scf.for %i = ... { memref.store %a, %t[%i] } {loopc.parallel}
    scf.for %i = ... { %b = memref.load %t[%i] ; ... } {loopc.parallel}
    // becomes
    scf.for %i = ... { memref.store %a, %t[%i] ; ... } {loopc.parallel}
    ```
  }];
  let options = [Kernel_LibdeviceOption, Kernel_CublasOption,
                 Kernel_AllowTf32Option];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def SplitLibraryProducts
    : Pass<"loopc-split-library-products", "::mlir::func::FuncOp"> {
  let summary = "products of matrices that cuBLAS may compute stand alone";
  let description = [{
    A nest that would be such a product but for what is computed of its factors,
    or of its sums, becomes several: factors and sums go through memory.

    Before and after: nests are loops marked `loopc.parallel`.

    ```mlir
    scf.for %i ... { %s = sum of exp(x) * w; store tanh(%s) } {loopc.parallel}
    // becomes
    scf.for %i ... { store exp(x), %e } {loopc.parallel}
    scf.for %i ... { store (sum of %e * w), %t } {loopc.parallel}
    scf.for %i ... { store tanh(%t) } {loopc.parallel}
    ```
  }];
  let options = [Kernel_CublasOption, Kernel_AllowTf32Option,
                 Kernel_HostLoopsOption];
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

    Before: nests are loops marked `loopc.parallel`, which nest-retract-unproved
    has put to the dependence test; nothing is on the GPU.
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
  let options = [Kernel_MinWorkOption, Kernel_LibdeviceOption,
                 Kernel_HostLoopsOption];
  let statistics = [
    Statistic<"numNests", "nests", "nests that run on the GPU">,
    Statistic<"numLoops", "loops", "sequential loops that run on the GPU">];
  let dependentDialects = ["::loopc::device::DeviceDialect",
                           "::mlir::scf::SCFDialect"];
}

def PlaceBuffers : Pass<"loopc-place-buffers", "::mlir::func::FuncOp"> {
  let summary = "memory that kernels touch lies where they reach it";
  let description = [{
    Buffers that only a `device.region` touches are `gpu.alloc`, those that the
    host touches, too, `gpu.alloc host_shared`; inputs and weights are read
    through `loop.device_view`, and elements of lists through a copy. Copies to,
    from and between such memory are `gpu.memcpy`; a result on the GPU comes back
    through `loop.device_result`.

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

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def PromoteAccumulators
    : Pass<"loopc-promote-accumulators", "::mlir::func::FuncOp"> {
  let summary = "sums in a device.region are in registers";
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

def OutlineKernels : Pass<"loopc-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "make a kernel of each device.region, for one thread";
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
  let summary = "threads, or blocks, go through a loop by themselves";
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
  let options = [Kernel_ChipOption, Kernel_AllowTf32Option, Kernel_LoopsOption];
  let statistics = [
    Statistic<"numSliced", "sliced", "loops whose slices blocks share">];
  let dependentDialects = ["::loopc::device::DeviceDialect",
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::scf::SCFDialect"];
}

def MakeLoopGraphs : Pass<"loopc-make-loop-graphs", "::mlir::ModuleOp"> {
  let summary = "loops become graphs of kernels";
  let description = [{
    The kernel of a sequential loop is cut: a kernel for each nest, those for the
    scalars between them, and conditions (`loop.device_graph`). So where the user
    asks for graphs, where the kernel would be given too much, and where nests
    are of very different size. The kernels of a graph are dealt out to threads
    already.

    Before: kernels are code for one thread. After: those that a `device.region`
    names are.

    ```mlir
    device.region kernel @loopc_kernels::@main_0 given(%x : memref<?xf32>) {...}
    // becomes
    loop.device_graph [@loopc_kernels::@main_0_k0, @loopc_kernels::@main_0_k1]
        nodes [...] handles 1 words 9 blocks(%c1, %b) args(...)
    ```
  }];
  let options = [Kernel_ChipOption, Kernel_AllowTf32Option, Kernel_LoopsOption];
  let statistics = [Statistic<"numGraphs", "graphs", "graphs that were made">];
  let dependentDialects = ["::loopc::device::DeviceDialect",
    "::loopc::loop::LoopDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def DistributeKernels : Pass<"loopc-distribute-kernels", "::mlir::ModuleOp"> {
  let summary = "deal the work of kernels out to the threads of a grid";
  let description = [{
    Code for one thread becomes code for all: each thread computes the scalars
    and takes the branches, and the threads share the elements of a nest. Products
    of matrices that are large enough are computed by tiles, of which blocks take
    their shares, by tensor cores where chip and element type allow; sums by
    threads, warps or blocks, as rows are long and many. Between nests that
    depend on each other all wait (`loop.barrier`), in a loop over slices those
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
  let options = [Kernel_ChipOption, Kernel_AllowTf32Option];
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

    Before: each `device.region` has a `shape`. After: there is none.

    ```mlir
    device.region kernel @loopc_kernels::@main_0 given(%x : memref<?xf32>)
        shape <barriers = false, tiles = false, splits = false> {...}
    // becomes
    gpu.launch_func @loopc_kernels::@main_0 blocks in (%blocks, %c1, %c1)
        threads in (%c256, %c1, %c1) args(%null : !llvm.ptr, %x : memref<?xf32>)
    ```
  }];
  let options = [Kernel_ChipOption, Kernel_AllowTf32Option, Kernel_LoopsOption,
                 Kernel_CublasOption];
  let dependentDialects = ["::loopc::device::DeviceDialect",
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def InsertWaits : Pass<"loopc-insert-waits", "::mlir::func::FuncOp"> {
  let summary = "the host waits before it touches what kernels may touch";
  let description = [{
    A `loop.device_wait` in front of what reads or writes memory that both reach,
    where something was begun on the GPU since the host last waited; and at the
    end. Then each `device.buffer` is read from its words.

    Before: kernels are launched. After: nothing of the `device` dialect is left.

    ```mlir
    gpu.launch_func @loopc_kernels::@main_0 ... args(%null : !llvm.ptr, %x : ...)
    %e = memref.load %x[%c0] : memref<?xf32>
    // becomes
    gpu.launch_func @loopc_kernels::@main_0 ... args(%null : !llvm.ptr, %x : ...)
    loop.device_wait
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
