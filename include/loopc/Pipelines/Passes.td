//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_PIPELINES_PASSES_TD
#define LOOPC_PIPELINES_PASSES_TD

include "mlir/Pass/PassBase.td"

def SetTarget : Pass<"loopc-set-target", "::mlir::ModuleOp"> {
  let summary = "set the target attribute of the module";
  let description = [{
    Sets `loopc.target` of the module, a `#loopc.target` (docs/Dialects/Loopc.md),
    which the passes read whose code depends on the target. What the module had
    before is replaced. The defaults are what every target has.

    ```mlir
    // loopc-opt --loopc-set-target="vector-bits=512 registers=32 mask-bits=8"
    module {
    }
    // becomes
    module attributes {loopc.target = #loopc.target<vector_bits = 512,
        registers = 32, mask_bits = 8>} {
    }
    ```
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", "::loopc::VectorUnit().bits",
           "bits of a vector register, a power of two, 64 at least">,
    Option<"registers", "registers", "unsigned",
           "::loopc::VectorUnit().registers", "number of vector registers">,
    Option<"maskBits", "mask-bits", "unsigned", "::loopc::VectorUnit().maskBits",
           "bits of the narrowest element that masked loads and stores take: 8, "
           "16, 32 or 64; 0: there are none">,
    Option<"dotBits", "dot-bits", "unsigned", "::loopc::VectorUnit().dotBits",
           "bits of integers that an instruction multiplies and sums up to 32 "
           "bits: 8 or 16; 0: there is none">,
    Option<"scales", "scales", "bool", "::loopc::VectorUnit().scales",
           "there is an instruction for x 2^n of vectors of f32">,
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "NVIDIA's name of the GPU that runs kernels, as sm_90">,
    Option<"minWork", "min-work", "unsigned", "::loopc::GPUTarget().minWork",
           "operations up to which a nest stays on the host, where it can">,
    Option<"tf32", "tf32", "bool", /*default=*/"false",
           "tensor cores may round what products of f32 multiply">,
    Option<"libdevice", "libdevice", "bool", /*default=*/"false",
           "functions of CUDA's libdevice may be called">,
    Option<"loops", "loops", "std::string",
           "::loopc::getName(::loopc::GPUTarget().loops).str()",
           "what loops become: auto, kernel, cluster, graph or host">,
    Option<"cublas", "cublas", "std::string",
           "::loopc::getName(::loopc::GPUTarget().cublas).str()",
           "products of matrices that cuBLAS may compute: auto, on or off">
  ];
  let dependentDialects = ["::loopc::LoopcDialect"];
}

def BranchesBackwards : Pass<"loopc-branches-backwards"> {
  let summary = "lower structured control flow to branches, in reverse order";
  let description = [{
    MLIR's `convert-scf-to-cf`. Each operation that becomes branches moves what
    stands behind it in its block into a new one: with the first one first that
    is the rest of the function each time, with the last one first what is up to
    the next one.
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect"];
}

def EliminateCommon : Pass<"loopc-eliminate-common"> {
  let summary = "CSE, also of equal ports of loop.loop";
  let description = [{
    MLIR's CSE, which hashes operations without their regions, and compares each
    of many branches on one condition with all others: from `min-branches` on
    they are told apart by what they yield. Ports of a `loop.loop` that are
    equal become one, too: carried values that begin and go on alike, and
    collected tensors of one value.

    ```mlir
    %r:2 = loop.loop (%i : i64, %c : i1) trips(%m : i64)
        carried(%x = %a : f32, %y = %a : f32) {
      %x1 = arith.addf %x, %b : f32
      %y1 = arith.addf %y, %b : f32
      loop.yield while(%c : i1) carried(%x1, %y1 : f32, f32)
    }
    ```

    becomes, with `%r` for both results,

    ```mlir
    %r = loop.loop (%i : i64, %c : i1) trips(%m : i64) carried(%x = %a : f32) {
      %x1 = arith.addf %x, %b : f32
      loop.yield while(%c : i1) carried(%x1 : f32)
    }
    ```
  }];
  let options = [Option<"minBranches", "min-branches", "unsigned",
                        /*default=*/"256",
                        "operations with regions and results (of linalg: on the "
                        "same inputs) that are worth numbers">,
                 Option<"reportWork", "report-work", "bool", "false",
                        "say how many operations were compared to make ports "
                        "of loops one, and how many had numbers">];
}

def RetractPacked : Pass<"loopc-retract-packed", "::mlir::func::FuncOp"> {
  let summary = "prove, or retract, marks of packed operands";
  let description = [{
    `loopc.packed` says of an operand that it is whole panels, with zeros behind
    the elements that there are; code that is made of it reads these. Here it is
    followed to the constant, or the copy into a place that is zero, that it is,
    on tensors and buffers, and taken away where it is neither: the operand is
    read element by element then. A text may say it of anything, and a pass may
    have changed where the operand comes from.

    ```mlir
    %r = linalg.generic {indexing_maps = [#x, #panels, #y], ...}
        ins(%x, %given : ...) outs(%y : ...) attrs = {loopc.packed} {...}
    ```

    becomes, for an argument `%given`,

    ```mlir
    %r = linalg.generic {indexing_maps = [#x, #panels, #y], ...}
        ins(%x, %given : ...) outs(%y : ...) {...}
    ```
  }];
  let statistics = [Statistic<"numRetracted", "retracted",
                              "operands that are not proved to be packed">];
}

def VerifyStage : Pass<"loopc-verify-stage", "::mlir::ModuleOp"> {
  let summary = "verify the invariants of a stage";
  let description = [{
    The last pass of each stage from `linalg` on, but for the bounds checks of
    `--check-accesses`. It changes nothing. An invariant that does not hold is an
    internal compiler error: the pass reports the operation, and the compilation
    ends. It also runs MLIR's verifier, which the pass manager does not run
    between passes when code is made. At the end of any stage no detached
    operation (one in no block) uses a value.

    | stage | what holds at its end |
    |---|---|
    | `linalg` | no operation and no type of the `onnx` dialect, and no `loop.scan`; no tensor of unknown rank; no `builtin.unrealized_conversion_cast`; loops have no scan inputs (slices are `tensor.extract_slice`); trip counts, conditions and lengths are scalars; an operand that is marked `loopc.packed` consists of whole panels, with zeros after its last column |
    | `memref` | no tensors; each buffer and each list has exactly one owner on every path, is freed once, and is not used after that (but for functions beyond the limits of the analysis, which `--remarks` counts); nothing writes to inputs and constants; loops have no scan outputs; a loop that is marked `loopc.fixed_storage` allocates nothing |
    | `scf` | no operation of the `linalg` dialect and no `loop.loop`; no function that is marked `loopc.section`, and no call of one; owners of buffers and lists as in the stage before; iterations of a loop that is marked `loopc.parallel` are proved to be independent (when code is made: by `nest-retract-unproved`, the pass before); what an iteration reads of a buffer that is marked `loopc.private` is proved to be written by the same iteration (the same) |
    | `llvm` | operations of the LLVM dialect, and of NVVM in a `gpu.module`; a function without a body is one of the runtime, with the type of the runtime's header, or of libm (in a `gpu.module`: of libdevice, or CUDA's); a function that is marked `loopc.outlined` is internal; a function that is marked `loopc.nest` calls no function of the runtime |

    ```mlir
    // loopc-opt --loopc-verify-stage=stage=linalg
    func.func @cast(%x: tensor<*xf32>) -> tensor<4xf32> {
      // error: LC0100: stage linalg: 'func.func' op has 'tensor<*xf32>', whose
      // rank is not known, as argument #0 of a block
      %y = tensor.cast %x : tensor<*xf32> to tensor<4xf32>
      return %y : tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"stage", "stage", "::loopc::Stage", "::loopc::Stage::Linalg",
           "The stage that ends here",
           [{::llvm::cl::values(
             clEnumValN(::loopc::Stage::Linalg, "linalg", "linalg on tensors"),
             clEnumValN(::loopc::Stage::MemRef, "memref", "buffers"),
             clEnumValN(::loopc::Stage::SCF, "scf", "structured loops"),
             clEnumValN(::loopc::Stage::LLVM, "llvm", "the LLVM dialect"))}]>,
    Option<"areMarksProved", "marks-proved", "bool", "false",
           "Marks of loops and buffers have been proved by the pass in front "
           "(nest-retract-unproved), and are not proved again">
  ];
  let statistics = [
    Statistic<"numImpossible", "impossible",
              "views in code that never runs, of extents that contradict">,
    Statistic<"numUnchecked", "unchecked",
              "buffers that values may be in too many ways to follow">
  ];
}

#endif // LOOPC_PIPELINES_PASSES_TD
