//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_ONNX_TRANSFORMS_PASSES_TD
#define LOOPC_ONNX_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ONNXInferTypes : Pass<"onnx-infer-types", "::mlir::func::FuncOp"> {
  let summary = "infer element types, ranks and dimensions through loops and "
                "branches";
  let description = [{
    Gives every value the type that follows from the function's arguments, from
    constants and from what shape computations (Shape, Gather, Concat, ...) are
    known to yield. Types that were there before are hints, which count for
    nothing: a wrong one does not survive, nor does a `tensor.cast` that was
    there to match one. Types of the arguments and of the results of operations
    of other dialects stay; such operations get `tensor.cast`s to what they had.

    A value carried by a loop starts with its init's type and is widened by what
    the body yields until nothing changes: a dimension that differs becomes `?`,
    a rank that differs `tensor<*xT>`. An inner loop goes on from where it was in
    the outer loop's last round, and only what has news from its operands is
    inferred again, so that the time is linear in the depth of nesting. Branches
    of an `scf.if` are joined in the same way; where its condition can be told
    (a question about dimensions that are known) the branch that is taken
    replaces it. `tensor.cast` (`onnx.cast` for
    sequences and optionals) is inserted where a loop or a branch wants types to
    be identical.

    Dimensions that contradict each other are an error, but not within a branch,
    which may be there to be avoided: there the result's shape is unknown.

    The types of a public function's results change with what is returned; a
    private function keeps its type, for its callers.

    A collected result has, after no iteration, the rank and the extents that the
    front end noted as declared (`loopc.declared_results`) where nothing else
    tells them, and 0 for extents that are not known. The attribute is used up.

    ```mlir
    func.func @f(%m: tensor<i64>, %c: tensor<i1>, %x: tensor<0xf32>) -> tensor<*xf32> {
      %r = loop.loop (%i : tensor<i64>, %d : tensor<i1>) trips(%m : tensor<i64>)
          carried(%a = %x : tensor<0xf32>) {
        %one = onnx.constant dense<1.0> : tensor<1xf32>
        %b = onnx.node "Concat"(%a, %one) since 13 {axis = 0 : i64}
            : (tensor<0xf32>, tensor<1xf32>) -> tensor<0xf32>
        loop.yield while(%d : tensor<i1>) carried(%b : tensor<0xf32>)
      }
      ...
    // becomes
      %x0 = tensor.cast %x : tensor<0xf32> to tensor<?xf32>
      %r = loop.loop (%i : tensor<i64>, %d : tensor<i1>) trips(%m : tensor<i64>)
          carried(%a = %x0 : tensor<?xf32>) {
        %one = onnx.constant dense<1.0> : tensor<1xf32>
        %b = onnx.node "Concat"(%a, %one) since 13 {axis = 0 : i64}
            : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
        loop.yield while(%d : tensor<i1>) carried(%b : tensor<?xf32>)
      }
    ```
  }];
  let statistics = [Statistic<"numRefined", "refined-values",
                              "values that got another type">];
  let options = [Option<"reportWork", "report-work", "bool", "false",
                        "say how many operations were inferred">];
  let dependentDialects = ["::loopc::onnx::ONNXDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // LOOPC_ONNX_TRANSFORMS_PASSES_TD
