//===- Passes.td - Passes towards LLVM ------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_CONVERSION_TOLLVM_PASSES_TD
#define LOOPC_CONVERSION_TOLLVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def MakeEntryPoint : Pass<"loopc-make-entry-point", "::mlir::ModuleOp"> {
  let summary = "give the model's function the signature that the runtime "
                "calls";
  let description = [{
    `main` on memrefs becomes `loopc_entry(run, inputs, outputs) -> i32`, whose
    first argument is a `!rt.run` and the others pointers to descriptors; its
    ports are kept in the module's attributes `loopc.inputs`, `loopc.outputs`.
    Arguments and results with `loopc.state` are marked there; arguments with
    `loopc.state_flag` (whether a state was given) get slots, but are no ports.
  }];
  let dependentDialects = ["::loopc::rt::RTDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def PlaceOutputs : Pass<"loopc-place-outputs", "::mlir::func::FuncOp"> {
  let summary = "mark the buffers that become outputs";
  let description = [{
    A buffer that is all of an output, made at most once in a run, never
    released and in no list, gets `loopc.output`: the number of the output, and
    its extents as a map of the buffer's. The runtime can then take memory of the
    caller for it. The map holds where the output has elements. What a loop
    hands on, and parts of buffers, are not marked.

    ```mlir
    func.func @main(%n: index) -> memref<?x1xf32> {
      %m = memref.alloc(%n) : memref<?xf32>
      %y = memref.expand_shape %m [[0, 1]] output_shape [%n, 1]
          : memref<?xf32> into memref<?x1xf32>
      return %y : memref<?x1xf32>
    }
    // becomes
    func.func @main(%n: index) -> memref<?x1xf32> {
      %m = memref.alloc(%n)
          {loopc.output = [0, affine_map<(d0) -> (d0, 1)>]} : memref<?xf32>
      %y = memref.expand_shape %m [[0, 1]] output_shape [%n, 1]
          : memref<?xf32> into memref<?x1xf32>
      return %y : memref<?x1xf32>
    }
    ```
  }];
}

def ConvertLoopRuntimeToLLVM
    : Pass<"convert-loop-runtime-to-llvm", "::mlir::ModuleOp"> {
  let summary = "lower allocation, checks and polls to calls of loopc_rt";
  let description = [{
    After scf-to-cf: the run (`!rt.run`) and lists become pointers. Buffers come
    from `loopc_rt_alloc` of the run, those that are marked `loopc.output` from
    `loopc_rt_alloc_output`; a check that
    fails and a run that shall end return a status from the function. What is
    marked `loopc.nest` has none of these; what is marked `loopc.outlined` gets
    LLVM's `noinline`.
  }];
  let dependentDialects = ["::loopc::loop::LoopDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def ExternalizeWeights
    : Pass<"loopc-externalize-weights", "::mlir::ModuleOp"> {
  let summary = "keep large constants out of LLVM IR";
  let description = [{
    A constant above the threshold becomes an external global whose bytes stand
    in its attribute `loopc.weight`; the back end puts them into the object as
    raw bytes. One without elements becomes
    an address, whatever its other extents are.
  }];
  let options = [Option<"threshold", "threshold", "unsigned", "1024",
                        "bytes up to which a constant stays in the IR">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ExpandViews : Pass<"loopc-expand-views"> {
  let summary = "lower memref.expand_shape with several dynamic dimensions";
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

def LowerTransfers : Pass<"loopc-lower-transfers"> {
  let summary = "lower transfers of vectors of several axes to loops";
  let description = [{
    The patterns of convert-vector-to-scf, applied where there is a transfer.

    ```mlir
    vector.transfer_write %v, %x[%i, %j]
        : vector<4x8xf32>, memref<?x?xf32>
    // becomes a loop over %k from 0 to 4 with
    vector.transfer_write %w, %x[%ik, %j] : vector<8xf32>, memref<?x?xf32>
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def LowerVectors : Pass<"loopc-lower-vectors"> {
  let summary = "lower vector operations to what the LLVM dialect has";
  let description = [{
    The patterns that MLIR's convert-vector-to-llvm applies before it converts,
    applied where there is a vector: masks become comparisons, vectors of
    several axes those of one, slices shuffles.

    ```mlir
    %m = vector.create_mask %n : vector<16xi1>
    // becomes, with %s = dense<[0, 1, ... 15]>
    %w = vector.broadcast %n32 : i32 to vector<16xi32>
    %m = arith.cmpi sgt, %w, %s : vector<16xi32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::ub::UBDialect"];
}

def ConvertDialectsToLLVM
    : Pass<"convert-dialects-to-llvm", "::mlir::ModuleOp"> {
  let summary = "convert all remaining dialects to the LLVM dialect at once";
  let description = [{
    What MLIR's convert-to-llvm does, in the way that takes least time: operations
    are replaced at once, as no pattern is ever taken back, and a call finds its
    function in a symbol table.

    Arguments of functions keep `llvm.noalias`, at the pointer of the memref's
    descriptor that accesses go through:

    ```mlir
    func.func private @nest(%x: memref<?xf32> {llvm.noalias})
    // becomes
    llvm.func @nest(%allocated: !llvm.ptr, %aligned: !llvm.ptr {llvm.noalias},
                    %offset: i64, %size: i64, %stride: i64)
    ```

    Functions are converted side by side, by the threads of the context: they
    are dealt to modules of their own, and come back in their order.
  }];
  let options = [Option<"partOps", "part-ops", "unsigned", /*default=*/"4000",
                        "operations that are worth a module of their own">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ExpandMath : Pass<"loopc-expand-math", "::mlir::ModuleOp"> {
  let summary = "lower elementary functions to polynomials, or to calls of "
                "libm";
  let description = [{
    The numeric contract (docs/Numerics.md) allows 5 ulp: polynomial tanh, exp, erf,
    log, log1p, expm1, atan, asin and acos of f32, and of vectors sin, cos and
    pow of f32, exp, log, log1p, expm1, tanh, sin and cos of f64, keep it and
    vectorise; others become calls of libm. Vectors with an argument of sin or
    cos that is large (above 65536 in f32, 2^30 in f64) are computed by libm,
    element by element.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

#endif // LOOPC_CONVERSION_TOLLVM_PASSES_TD
