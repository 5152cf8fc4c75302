//===- Passes.td - The lowering of onnx.node ------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_CONVERSION_ONNXTOLINALG_PASSES_TD
#define LOOPC_CONVERSION_ONNXTOLINALG_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertONNXToLinalg
    : Pass<"convert-onnx-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "lower onnx.node to linalg, tensor, arith and math";
  let description = [{
    Each `onnx.node` is lowered by its row of the table of operators
    (lib/Conversion/ONNXToLinalg). Loops and branches stay. Integer types become
    signless; `loopc.type` on arguments and results keeps what they were. A node
    that cannot be lowered is an error that says why; all are reported.
    linalg.softmax of MLIR that is written by hand is decomposed.

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
           "that tensor-choose-layouts takes away">,
    Option<"dotProducts", "dot-products", "bool", "false",
           "products of small integers have the form that the target's "
           "instructions for them take (`dot_bits` of `#loopc.target`)">,
    Option<"reportWork", "report-work", "bool", "false",
           "say how many branches were followed for extents">];
  let dependentDialects = [
    "::loopc::list::ListDialect", "::loopc::loop::LoopDialect",
    "::loopc::rt::RTDialect", "::mlir::arith::ArithDialect",
    "::mlir::complex::ComplexDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"];
}

#endif // LOOPC_CONVERSION_ONNXTOLINALG_PASSES_TD
