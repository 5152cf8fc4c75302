//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_CONVERSION_PASSES_TD
#define LOOPC_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertONNXToLinalg
    : Pass<"convert-onnx-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "lower onnx.node to linalg, tensor, arith and math";
  let description = [{
    Each `onnx.node` is lowered by its row of the table of operators
    (lib/Conversion/ONNXToLinalg). Loops and branches stay. Integer types become
    signless; `loopc.type` on arguments and results keeps what they were. A node
    that cannot be lowered is an error that says why; all are reported.

    ```mlir
    %y = onnx.node "Add"(%x, %x) since 14 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // becomes
    %e = tensor.empty() : tensor<4xf32>
    %y = linalg.generic {...} ins(%x, %x : ...) outs(%e : ...) { arith.addf ... }
    ```
  }];
  let options = [
    Option<"channelsLast", "channels-last", "bool", "false",
           "convolutions of enough channels have them last, between transposes "
           "that loop-choose-layouts takes away">,
    Option<"forKernels", "for-kernels", "bool", "false",
           "forms that many threads share: integers of 8 bits are multiplied as "
           "they are, and what their zero points make of the product is taken "
           "off it; TopK by reductions, without a heap">,
    Option<"dotBits", "dot-bits", "unsigned", "0",
           "bits of integers that are multiplied and summed up in groups of 32 "
           "bits; 0: there is no instruction for it">];
  let dependentDialects = [
    "::loopc::loop::LoopDialect", "::mlir::arith::ArithDialect",
    "::mlir::complex::ComplexDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"];
}

def ConvertLoopToSCF : Pass<"convert-loop-to-scf", "::mlir::func::FuncOp"> {
  let summary = "lower loop.loop on memrefs and scalars to scf";
  let description = [{
    A loop whose trips are known on entry becomes `scf.for`, others `scf.while`
    with the test before the iteration (`loop_test`). Checks get the number of
    the iteration. Loops are polled for cancellation (`loop_cancel`), tight ones
    in strips.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def MakeEntryPoint : Pass<"loopc-make-entry-point", "::mlir::ModuleOp"> {
  let summary = "give the model's function the signature that the runtime calls";
  let description = [{
    `main` on memrefs becomes `loopc_entry(run, inputs, outputs) -> i32`; its
    ports are kept in the module's attributes `loopc.inputs`, `loopc.outputs`.
    Arguments and results with `loopc.state` are marked there; arguments with
    `loopc.state_flag` (whether a state was given) get slots, but are no ports.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ConvertLoopRuntimeToLLVM
    : Pass<"convert-loop-runtime-to-llvm", "::mlir::ModuleOp"> {
  let summary = "lower allocation, checks and polls to calls of loopc_rt";
  let description = [{
    After scf-to-cf: buffers come from `loopc_rt_alloc` of the run; a check that
    fails and a run that shall end return a status from the function.
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def ExternalizeWeights
    : Pass<"loopc-externalize-weights", "::mlir::ModuleOp"> {
  let summary = "keep large constants out of LLVM IR";
  let description = [{
    A constant above the threshold becomes an external global whose bytes stand
    in its attribute `loopc.weight`; the back end puts them into the object as
    raw bytes.
  }];
  let options = [Option<"threshold", "threshold", "unsigned", "1024",
                        "bytes up to which a constant stays in the IR">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ExpandViews : Pass<"loopc-expand-views"> {
  let summary = "lower memref.expand_shape with several run-time extents";
  let description = [{
    Each becomes a `memref.reinterpret_cast` with the sizes of its output shape.
    Then the patterns of expand-strided-metadata are applied where they match.
    With `only-collapsed` so does each memref.collapse_shape instead, followed by
    the patterns of fold-memref-alias-ops, which would divide to find an
    element's place in what was collapsed.
  }];
  let options = [
    Option<"onlyCollapsed", "only-collapsed", "bool", /*default=*/"false",
           "lower memref.collapse_shape, and nothing else">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def ConvertLinalgToNests : Pass<"convert-linalg-to-nests"> {
  let summary = "lower linalg on buffers to loops that say which are parallel";
  let description = [{
    As convert-linalg-to-loops; a loop whose iterations write different elements
    gets the attribute `loopc.parallel`, for loopc-parallelize-nests. With
    `parallel-first` these loops are outside of the others: an element is
    computed at one go.
  }];
  let options = [
    Option<"parallelFirst", "parallel-first", "bool", /*default=*/"false",
           "loops that are parallel are outside of others">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def ParallelizeNests
    : Pass<"loopc-parallelize-nests", "::mlir::ModuleOp"> {
  let summary = "run the independent iterations of large nests on threads";
  let description = [{
    The outermost loops with the attribute `loopc.parallel` (perfectly nested
    ones together) become a function of a range of iterations, where the run has
    more than one thread and the nest at least `min-work` operations: what is
    known here to be less stays as it is, what only the run knows is asked then.
    Sums are not split: results are the same for every number of threads.

    ```mlir
    scf.for %i = %c0 to %n step %c1 {...} {loopc.parallel}
    // becomes
    scf.if %threads {
      call @main_shared(%run, %n, ...) // loopc_rt_parallel_for, if it pays
      loop.poll
    } else {
      call @main_parallel(%run, %c0, %n, ...)
    }
    ```

    In a loop the nest itself is in the other branch where a call might count,
    unless it is one of `long-loop` there: then there is no branch either, as
    outside of loops.
    A nest whose iterations write to one place, or that allocates, stays.
  }];
  let options = [
    Option<"minWork", "min-work", "unsigned", /*default=*/"262144",
           "operations from which on threads pay; an eighth of it in a loop">,
    Option<"minPiece", "min-piece", "unsigned", /*default=*/"32768",
           "operations of a piece, at least">,
    Option<"longLoop", "long-loop", "unsigned", /*default=*/"48",
           "nests and calls in an iteration from which on a call is nothing">];
  let statistics = [
    Statistic<"numParallel", "parallel", "nests that run on threads">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
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

def LiftGrowth : Pass<"loopc-lift-growth", "::mlir::func::FuncOp"> {
  let summary = "grow buffers between runs of many iterations";
  let description = [{
    A loop whose body makes a buffer larger where it is full (`loopc.rare`)
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

def OutlineNests : Pass<"loopc-outline-nests", "::mlir::ModuleOp"> {
  let summary = "make the loop nests of a large function functions of their own";
  let description = [{
    LLVM's analyses take time with the square of the loops in a function. In a
    function of at least `min-ops` operations every loop nest that runs at most
    once a run, or in a loop with `long-loop` of them, and neither allocates nor
    fails, becomes a function; equal ones become one. Memory that only one
    argument reaches is marked `llvm.noalias`. So does a loop that allocates or
    may fail, if it yields nothing and the function's first argument is the run:
    it returns a status, and `loop.poll` behind the call asks for it.

    In all functions, a loop marked `loopc.parallel` that reads elements where
    others say (a Gather, with what is computed of it) is annotated for LLVM:
    its accesses are parallel, so that it becomes vectors without tests.
  }];
  let options = [Option<"minOps", "min-ops", "unsigned", /*default=*/"1500",
                        "functions with fewer operations stay whole">,
                 Option<"longLoop", "long-loop", "unsigned", /*default=*/"48",
                        "nests and calls in an iteration from which on a call "
                        "is nothing">];
  let statistics = [
    Statistic<"numOutlined", "outlined", "nests that were moved">,
    Statistic<"numShared", "shared", "nests for which there was a function">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect"];
}

def DivideBlocks : Pass<"loopc-divide-blocks", "::mlir::ModuleOp"> {
  let summary = "make the sections of a very large block functions of their own";
  let description = [{
    LLVM's work on a function grows faster than the function. In a function that
    is handed the run, has loops and at least twice `min-size` operations, each
    block with so many becomes a sequence of calls, the innermost blocks first:
    a section of at least `min-size` operations, and what is in them, becomes a
    function, which returns a status, where it may fail, and what is used behind
    the section. It ends where few values are alive, and stays where it is if more
    than `max-words` numbers and pointers would be returned. `loop.poll` behind a call
    asks for its errors. Sections that are equal become one function. What waits
    for a GPU, and memory on the stack, stays where it is.

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
                        "operations of a section at least">,
                 Option<"maxWords", "max-words", "unsigned", /*default=*/"256",
                        "numbers and pointers that a section returns at most">];
  let statistics = [
    Statistic<"numSections", "sections", "sections that were moved">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect"];
}

def ShareNests : Pass<"loopc-share-nests", "::mlir::ModuleOp"> {
  let summary = "one function for outlined nests that differ in numbers only";
  let description = [{
    In LLVM's dialect: internal functions that are never inlined, which
    `loopc-outline-nests` and `loopc-parallelize-nests` make, lose the arguments
    that they do not read. Those that are equal but for i64 constants become
    one, which gets the numbers that differ as arguments. Bounds below 16 stay constants, and so do the distances in an
    innermost loop where there are many of them: nests that differ in these are
    not shared.

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

def ExpandMath : Pass<"loopc-expand-math", "::mlir::ModuleOp"> {
  let summary = "polynomials for elementary functions, libm for the rest";
  let description = [{
    The numeric contract (docs/Numerics.md) allows 5 ulp: polynomial tanh, exp, erf,
    log, log1p, expm1, atan, asin and acos of f32, and of vectors sin, cos and
    pow of f32, exp, log, log1p, expm1, tanh, sin and cos of f64, keep it and
    vectorise; others become calls of libm. Vectors with an argument of sin or
    cos that is large (above 65536 in f32, 2^30 in f64) are computed by libm,
    element by element.
  }];
  let options = [Option<"scales", "scales", "bool", "false",
      "the target has an instruction for x 2^n">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def LowerBufferCopies : Pass<"loopc-lower-buffer-copies"> {
  let summary = "make strided copies of buffers loops";
  let description = [{
    `memref.copy` between buffers without gaps stays (a memcpy); others become
    `linalg.generic`.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def MarkInputsReadOnly
    : Pass<"loopc-mark-inputs-read-only", "::mlir::ModuleOp"> {
  let summary = "mark the arguments of functions as not writable";
  let description = [{
    A run never writes into its inputs: bufferization copies what it would have
    to change.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def ONNXSwitchOnRank : Pass<"onnx-switch-on-rank", "::mlir::func::FuncOp"> {
  let summary = "compile nodes on values whose rank is known at run time only";
  let description = [{
    A node with an operand `tensor<*xT>`, or with a result whose rank follows
    from values (Squeeze without axes, Reshape to a shape of unknown length),
    becomes nodes on views of known rank where its operator has such a form:
    elementwise operators work on the elements in C order, those along an axis
    on [before, axis, behind], and shapes are computed as tensors of rank 1.

    ```mlir
    %y = onnx.node "Neg"(%x) since 13 : (tensor<*xf32>) -> tensor<*xf32>
    // becomes
    %e, %s = builtin.unrealized_conversion_cast %x
        : tensor<*xf32> to tensor<?xf32>, tensor<?xi64>
    %n = onnx.node "Neg"(%e) since 13 : (tensor<?xf32>) -> tensor<?xf32>
    %y = builtin.unrealized_conversion_cast %n, %s
        : tensor<?xf32>, tensor<?xi64> to tensor<*xf32>
    ```

    Other nodes become the smallest `scf.index_switch` over the ranks that the
    operand can have (what casts, branches and loops lead to it tells; 0 to 8
    where nothing does). A rank that the operator does not take ends the run
    with an error.
  }];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def LoopLowerUnranked
    : Pass<"loop-lower-unranked", "::mlir::func::FuncOp"> {
  let summary = "make tensors of unknown rank pairs of elements and shape";
  let description = [{
    Behind convert-onnx-to-linalg only casts, branches, loops and the function's
    border have values `tensor<*xT>`: each becomes `tensor<?xT>`, its elements in
    C order, and `tensor<?xi64>`, its shape. A loop slices views of known rank;
    of a collected value it collects the elements and carries the shape, which
    every iteration is held to (`loop_collect_shape`).
  }];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

#endif // LOOPC_CONVERSION_PASSES_TD
