//===- Passes.td - Passes on tensors of unknown rank ----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_CONVERSION_UNKNOWNRANK_PASSES_TD
#define LOOPC_CONVERSION_UNKNOWNRANK_PASSES_TD

include "mlir/Pass/PassBase.td"

def ONNXSwitchOnRank : Pass<"onnx-switch-on-rank", "::mlir::func::FuncOp"> {
  let summary = "compile nodes on values whose rank is known only at run time";
  let description = [{
    A node with an operand `tensor<*xT>`, or with a result whose rank follows
    from values (Squeeze without axes, Reshape to a shape of unknown length),
    becomes nodes on views of known rank where its operator has such a form:
    elementwise operators work on the elements in C order, those along an axis
    on [before, axis, behind], GatherND and ScatterND on [axes that a tuple
    names, behind], and shapes are computed as tensors of rank 1.

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
    where nothing does) and that the operator's definition leaves, given the
    ranks of the others. A rank that the operator does not take ends the run
    with an error; a node with more than 1,000 combinations is refused.
  }];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def ONNXLowerUnranked
    : Pass<"onnx-lower-unranked", "::mlir::func::FuncOp"> {
  let summary = "lower tensors of unknown rank to pairs of elements and shape";
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

#endif // LOOPC_CONVERSION_UNKNOWNRANK_PASSES_TD
