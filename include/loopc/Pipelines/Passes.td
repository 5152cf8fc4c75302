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

def VerifyStage : Pass<"loopc-verify-stage", "::mlir::ModuleOp"> {
  let summary = "check what holds at the end of a stage";
  let description = [{
    The last pass of each stage of the pipeline. It changes nothing: where an
    invariant of the stage does not hold, which is a fault of the compiler, it
    says so where it is, and the compilation ends. It runs MLIR's verifier, too,
    which the pass manager leaves out between passes where code is made.

    | stage | what holds at its end |
    |---|---|
    | `linalg` | no operation of the `onnx` dialect, no `loop.scan`; no tensor of unknown rank; no `builtin.unrealized_conversion_cast`; loops have no slices, and trip counts, conditions and lengths are scalars |
    | `memref` | no tensors; each buffer and each list has exactly one owner on every path until it ends, once, and is not used behind that; nothing is allocated in a loop that is marked `loopc.fixed_storage` |
    | `scf` | no operation of the `linalg` dialect, no `loop.loop`; iterations of a loop that is marked `loopc.parallel` are proved to be independent; what is read of a buffer that is marked `loopc.private` has been written in the same iteration |
    | `llvm` | operations of the LLVM dialect only (and NVVM in a `gpu.module`); of functions without a body those of the runtime, with the types of its header, and of libm |

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
             clEnumValN(::loopc::Stage::LLVM, "llvm", "the LLVM dialect"))}]>
  ];
  let statistics = [
    Statistic<"numImpossible", "impossible",
              "views in code that never runs, of extents that contradict">,
    Statistic<"numUnchecked", "unchecked",
              "buffers that values may be in too many ways to follow">
  ];
}

#endif // LOOPC_PIPELINES_PASSES_TD
